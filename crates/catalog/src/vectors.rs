//! The vectors of the tools, as bytes, and the scan over them.
//!
//! It decides how near a query is to each tool. A tool has one vector: the mean of the vector of "name: description" and of
//! the vector of the same text with the parameters. It does not know words.
//!
//! Heads and tails are kept apart. The dimensions are principal components, so the head alone says most of it, and a scan
//! over heads reads a quarter of the memory.

use switchboard_embed::{DIMENSIONS, Quantized, Table, dot, normalize, quantize};

/// How many dimensions the first scan reads.
const HEAD: usize = 64;
const TAIL: usize = DIMENSIONS - HEAD;

/// The vectors, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Vectors {
    heads: Vec<i8>,
    tails: Vec<i8>,
    scales: Vec<f32>,
}

/// The vector of a tool, from what it is and does, and from the words of its parameters.
pub(crate) fn of_tool(about: &str, schema: &str) -> Quantized {
    let table = Table::shared();
    let mut brief = vec![0.0_f32; DIMENSIONS];
    table.add(about, &mut brief);
    let mut full = brief.clone();
    table.add(schema, &mut full);
    normalize(&mut brief);
    normalize(&mut full);
    for (one, other) in brief.iter_mut().zip(&full) {
        *one = (*one + other) / 2.0;
    }
    quantize(&brief)
}

/// The vector of a query.
pub(crate) fn of_query(text: &str) -> Quantized {
    quantize(&Table::shared().embed(text))
}

impl Vectors {
    /// Adds the next vector, of [`DIMENSIONS`] places.
    pub(crate) fn push(&mut self, vector: &Quantized) {
        self.heads.extend_from_slice(&vector.bytes[..HEAD]);
        self.tails.extend_from_slice(&vector.bytes[HEAD..DIMENSIONS]);
        self.scales.push(vector.scale);
    }

    /// How near a query is to one tool.
    pub(crate) fn near(&self, query: &Quantized, tool: usize) -> f32 {
        let head = dot(&self.heads[tool * HEAD..(tool + 1) * HEAD], &query.bytes[..HEAD]);
        let tail = dot(&self.tails[tool * TAIL..(tool + 1) * TAIL], &query.bytes[HEAD..]);
        (head + tail) as f32 * self.scales[tool] * query.scale
    }

    /// Hands out how near a query is to each tool by the head of its vector, in units of no meaning.
    pub(crate) fn each_head(&self, query: &Quantized, mut take: impl FnMut(f32, u32)) {
        let Some(query) = query.bytes.first_chunk::<HEAD>() else { return };
        for (number, (head, scale)) in self.heads.as_chunks::<HEAD>().0.iter().zip(&self.scales).enumerate() {
            take(dot(head, query) as f32 * scale, number as u32);
        }
    }

    /// Drops tools that have gone. `numbers` has the new number of each tool, or none.
    pub(crate) fn compact(&mut self, numbers: &[Option<u32>]) {
        let mut at = 0;
        for (old, number) in numbers.iter().enumerate() {
            if number.is_none() {
                continue;
            }
            self.heads.copy_within(old * HEAD..(old + 1) * HEAD, at * HEAD);
            self.tails.copy_within(old * TAIL..(old + 1) * TAIL, at * TAIL);
            self.scales[at] = self.scales[old];
            at += 1;
        }
        self.heads.truncate(at * HEAD);
        self.tails.truncate(at * TAIL);
        self.scales.truncate(at);
    }
}
