//! Text to vectors, with nothing to download: a tokenizer and a static table inside the binary.
//!
//! It decides which pieces a text is made of ([`Tokenizer`]), which vector a piece has ([`Table`]), and how near two
//! vectors are ([`cosine`], [`quantize`], [`dot`]). The table was distilled from all-MiniLM-L6-v2; `data/README.md` says
//! how, and under which licence. A [`Transformer`] from weights of one's own is better and slower.
//!
//! # The mathematics
//!
//! A text `x` of the pieces `t1 .. tn` has the vector
//!
//! ```text
//! e(x) = m / |m|     with  m = (1/n) * sum_i row(t_i)
//! ```
//!
//! Each row already carries the weight `a / (a + p(t))` of its piece (`a = 1e-5`, `p` by Zipf's law over the order of the
//! vocabulary), so words that stand everywhere hardly move the mean. The nearness of two texts is `e(x) . e(y)`, from -1
//! to 1. Rows are principal components in falling order: a prefix of a vector is the best shorter vector.
//!
//! **It knows no** tool, memory, file or network. It makes the same vector of the same text on every machine. Table and
//! vocabulary know English; other languages are cut into letters and say little.
//!
//! ```
//! use switchboard_embed::{Table, cosine};
//!
//! let table = Table::shared();
//! let (read, near, far) =
//!     (table.embed("read a file"), table.embed("show the contents of a document"), table.embed("weather in Paris"));
//! assert!(cosine(&read, &near) > cosine(&read, &far));
//! ```

mod quantized;
mod table;
mod tokenizer;
mod transformer;
mod vocabulary;

pub use crate::quantized::{Quantized, dot, quantize};
pub use crate::table::{DIMENSIONS, Table, cosine, normalize};
pub use crate::tokenizer::Tokenizer;
pub use crate::transformer::{Transformer, TransformerError};
pub use crate::vocabulary::{Vocabulary, VocabularyError};
