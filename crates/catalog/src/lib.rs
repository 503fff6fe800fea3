//! The tool index: the right tool among a million, inside a token budget (MGP 16).
//!
//! It decides which tools fit a request and how well ([`Catalog::search`]), why ([`Reason`]), and which tools a model is
//! given within a number of tokens ([`ToolSession`]). It has no clock, no file and no network: definitions, permissions and
//! time are given to it.
//!
//! # The mathematics
//!
//! A query `q` has two scores for each tool `d`: words, by BM25 over weighted fields (`keyword.rs`), and meaning, the
//! cosine of the two vectors (`vectors.rs`). Their units have nothing to do with each other, so each is standardised over
//! its own best hundred tools before they are added:
//!
//! ```text
//! z(x)    = (x - mean of the best 100) / deviation of the best 100
//! f(q,d)  = z(words(q,d)) + 1.2 * z(meaning(q,d))
//! s(q,d)  = f(q,d) + 0.5 * max over clauses c of q  f(c,d)
//! ```
//!
//! On top of that, a tool that reads, makes, changes or removes gains where the request wants that, and loses where it wants
//! something else (`deed.rs`). Words that people say stand for those that tools say as well (`synonyms.rs`), and what a request
//! implies is looked for with it: a file, a count, a sum (`implied.rs`).
//!
//! The best hundred and not all of them: most tools share no word with a query, and the more of them there are, the
//! smaller the deviation and the louder the words would be. So a query means the same among 200 tools and among a million.
//! Ranks instead of scores were tried and are worse: a rank forgets how sure each side is. The clauses find the tools
//! for each step of a request that has several.
//!
//! Up to 20,000 tools everything is computed for every tool. Beyond that, words are still exact; meaning is first computed
//! over the leading 64 of 256 dimensions, which are the principal ones, and in full for the best of those.
//!
//! # Use
//!
//! ```
//! use switchboard_catalog::{Catalog, Search, Tool};
//!
//! let mut catalog = Catalog::default();
//! catalog.extend(vec![
//!     Tool { id: "fs.read_file".into(), server: "fs".into(), name: "read_file".into(),
//!            description: "Read the contents of a file".into(), ..Tool::default() },
//!     Tool { id: "time.convert".into(), server: "time".into(), name: "convert_time".into(),
//!            description: "Convert a time between time zones".into(), ..Tool::default() },
//! ]);
//! let found = catalog.search(&Search::new("what is 9:00 in Tokyo in another zone"), |_| true);
//! assert_eq!(&*found.hits[0].id, "time.convert");
//! ```

mod best;
mod brief;
mod catalog;
mod clauses;
mod deed;
mod implied;
mod judge;
mod keyword;
mod schema;
mod search;
mod session;
mod stem;
mod synonyms;
mod tokens;
mod tool;
mod vectors;
mod words;

pub use crate::brief::{Detail, cut, fitted, shortened, signature};
pub use crate::catalog::Catalog;
pub use crate::judge::Judge;
pub use crate::schema::schema_text;
pub use crate::search::{Hit, RESCORED, Reason, Search, SearchResult, Strategy};
pub use crate::session::{Budget, Evicted, Level, LoadOutcome, Shown, ToolSession};
pub use crate::tokens::count_tokens;
pub use crate::tool::Tool;
