//! E9: hyperdimensional computing. A text as 10,000 bits that hold its runs of three characters and where they stand.
//!
//! Each character has a pseudo-random vector (a linear congruential generator, multiplier 6364136223846793005, increment 1,
//! started at seed plus key; each bit is the top bit of a state). A run of three is the exclusive or of its characters,
//! each rotated by its place in the run, and of a vector for its position. All runs are bundled by majority; a tie takes
//! the bit of the first. Distance is the share of different bits: about one half for texts that have nothing in common.

use std::collections::HashMap;
use std::sync::OnceLock;

use parking_lot::RwLock;

/// Bits of a vector.
pub const BITS: usize = 10_000;
const WORDS: usize = BITS.div_ceil(64);
const SEED: u64 = 0xDEAD_BEEF_CAFE_BABE;
/// Runs that are bundled: positions beyond are not told apart any more and cost time.
const RUNS: usize = 1_024;
/// Vectors of characters that are kept: enough for any script in use, and bounded.
const KEPT: usize = 4_096;

/// A vector of bits.
#[derive(Clone, PartialEq, Eq)]
pub struct Bits(Box<[u64; WORDS]>);

impl std::fmt::Debug for Bits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Bits({} of {BITS})", self.ones())
    }
}

impl Default for Bits {
    fn default() -> Self {
        Self(Box::new([0; WORDS]))
    }
}

impl Bits {
    fn random(key: u64) -> Self {
        let mut state = SEED.wrapping_add(key);
        let mut bits = Self::default();
        for at in 0..BITS {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            bits.0[at / 64] |= (state >> 63) << (at % 64);
        }
        bits
    }

    /// Whether the bit is set.
    #[must_use]
    pub fn get(&self, at: usize) -> bool {
        self.0.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 == 1)
    }

    fn rotated(&self, by: usize) -> Self {
        let mut out = Self::default();
        for at in 0..BITS {
            let from = (at + BITS - by) % BITS;
            out.0[at / 64] |= (self.0[from / 64] >> (from % 64) & 1) << (at % 64);
        }
        out
    }

    fn xor(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0.iter()).for_each(|(a, b)| *a ^= b);
    }

    /// How many bits are set.
    #[must_use]
    pub fn ones(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// How many bits differ.
    #[must_use]
    pub fn hamming(&self, other: &Self) -> u32 {
        self.0.iter().zip(other.0.iter()).map(|(a, b)| (a ^ b).count_ones()).sum()
    }

    /// The cosine of the two as vectors of -1 and 1, not below 0: nothing in common is 0.
    #[must_use]
    pub fn likeness(&self, other: &Self) -> f32 {
        (1.0 - 2.0 * self.hamming(other) as f32 / BITS as f32).max(0.0)
    }

    /// The dense form: 1,024 stretches of equal length, each `2 ones / length - 1`, scaled to length 1.
    #[must_use]
    pub fn dense(&self) -> Vec<f32> {
        let bound = |stretch: usize| stretch * BITS / 1_024;
        let mut out: Vec<f32> = (0..1_024)
            .map(|stretch| {
                let (from, to) = (bound(stretch), bound(stretch + 1));
                let ones = (from..to).filter(|&at| self.get(at)).count();
                2.0 * ones as f32 / (to - from) as f32 - 1.0
            })
            .collect();
        crate::vector::normalize(&mut out);
        out
    }

    /// What is kept of it: bits at fixed places.
    #[must_use]
    pub fn sketch(&self) -> Sketch {
        let mut sketch = Sketch::default();
        for at in 0..SKETCHED {
            sketch.0[at / 64] |= u64::from(self.get(at * BITS / SKETCHED)) << (at % 64);
        }
        sketch
    }

    /// From the bytes that earlier versions kept.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let words: Vec<u64> =
            bytes.chunks_exact(8).filter_map(|word| Some(u64::from_le_bytes(word.try_into().ok()?))).collect();
        Some(Self(words.into_boxed_slice().try_into().ok()?))
    }

    /// The length of what earlier versions kept.
    pub const BYTES: usize = WORDS * 8;

    /// The majority of several; a tie takes the bit of the first.
    #[must_use]
    pub fn majority<'a>(mut all: impl Iterator<Item = &'a Self>) -> Self {
        let Some(first) = all.next() else { return Self::default() };
        let mut counter = Counter::default();
        counter.add(first);
        all.for_each(|bits| counter.add(bits));
        counter.majority(first)
    }
}

/// Counts bits at all places at once: plane `p` holds bit `p` of every count.
#[derive(Default)]
struct Counter {
    planes: Vec<Bits>,
    added: u32,
}

impl Counter {
    fn add(&mut self, bits: &Bits) {
        self.added += 1;
        let mut carry = bits.clone();
        let mut plane = 0;
        while carry.0.iter().any(|word| *word != 0) {
            if plane == self.planes.len() {
                self.planes.push(Bits::default());
            }
            for (sum, carry) in self.planes[plane].0.iter_mut().zip(carry.0.iter_mut()) {
                let both = *sum & *carry;
                *sum ^= *carry;
                *carry = both;
            }
            plane += 1;
        }
    }

    /// The bits that more than half have; a tie takes the bit of the first. All places of a word are counted at once, from the highest
    /// plane down: `more` and `tied` say how the count compares with the half so far.
    fn majority(&self, first: &Bits) -> Bits {
        let half = self.added / 2;
        let mut out = Bits::default();
        if half >> self.planes.len() > 0 {
            return out;
        }
        for word in 0..WORDS {
            let (mut more, mut tied) = (0u64, u64::MAX);
            for (plane, bits) in self.planes.iter().enumerate().rev() {
                let counted = bits.0[word];
                if half >> plane & 1 == 1 {
                    tied &= counted;
                } else {
                    more |= tied & counted;
                    tied &= !counted;
                }
            }
            let even = if self.added.is_multiple_of(2) { tied & first.0[word] } else { 0 };
            out.0[word] = more | even;
        }
        // Places behind the last bit are always zero.
        out.0[WORDS - 1] &= u64::MAX >> (WORDS * 64 - BITS);
        out
    }
}

/// Bits of a sketch.
const SKETCHED: usize = 1_024;
const SKETCH_WORDS: usize = SKETCHED / 64;

/// Bits of a vector at fixed places, about one of ten: the share of those that differ is nearly that of all (within 0.03 of a likeness, two
/// times of three).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sketch([u64; SKETCH_WORDS]);

impl Sketch {
    /// The length of [`Self::to_bytes`].
    pub const BYTES: usize = SKETCH_WORDS * 8;

    /// The likeness, as [`Bits::likeness`].
    #[must_use]
    pub fn likeness(&self, other: &Self) -> f32 {
        let apart: u32 = self.0.iter().zip(&other.0).map(|(a, b)| (a ^ b).count_ones()).sum();
        (1.0 - 2.0 * apart as f32 / SKETCHED as f32).max(0.0)
    }

    /// The majority of several; a tie takes the bit of the first.
    #[must_use]
    pub fn majority<'a>(all: impl Iterator<Item = &'a Self>) -> Self {
        let all: Vec<&Self> = all.collect();
        let mut out = Self::default();
        for at in 0..SKETCHED {
            let get = |sketch: &Self| sketch.0[at / 64] >> (at % 64) & 1;
            let set = all.iter().filter(|sketch| get(sketch) == 1).count();
            let bit = match (2 * set).cmp(&all.len()) {
                std::cmp::Ordering::Greater => 1,
                std::cmp::Ordering::Less => 0,
                std::cmp::Ordering::Equal => all.first().map_or(0, |first| get(first)),
            };
            out.0[at / 64] |= bit << (at % 64);
        }
        out
    }

    /// The bytes, for the database.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// From the bytes of the database.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let words: Vec<u64> =
            bytes.chunks_exact(8).filter_map(|word| Some(u64::from_le_bytes(word.try_into().ok()?))).collect();
        Some(Self(words.try_into().ok()?))
    }
}

/// The vectors that were needed so far.
#[derive(Default)]
struct Book {
    characters: HashMap<char, [Bits; 3]>,
    positions: HashMap<usize, Bits>,
}

fn book() -> &'static RwLock<Book> {
    static BOOK: OnceLock<RwLock<Book>> = OnceLock::new();
    BOOK.get_or_init(RwLock::default)
}

fn character(c: char) -> [Bits; 3] {
    let plain = Bits::random(u64::from(u32::from(c)));
    [plain.clone(), plain.rotated(1), plain.rotated(2)]
}

/// E9 of a text.
#[must_use]
pub fn embed(text: &str) -> Bits {
    let mut characters: Vec<char> = text.chars().flat_map(char::to_lowercase).take(RUNS + 2).collect();
    while !characters.is_empty() && characters.len() < 3 {
        characters.push(' ');
    }
    let runs = characters.len().saturating_sub(2);
    let known = {
        let book = book().read();
        runs.checked_sub(1).is_none_or(|last| book.positions.contains_key(&last))
            && (book.characters.len() >= KEPT || characters.iter().all(|c| book.characters.contains_key(c)))
    };
    if !known {
        let mut book = book().write();
        for &c in &characters {
            if book.characters.len() < KEPT {
                book.characters.entry(c).or_insert_with(|| character(c));
            }
        }
        for position in 0..runs {
            // Bit 63 keeps keys of positions apart from keys of characters.
            book.positions.entry(position).or_insert_with(|| Bits::random(1 << 63 | position as u64));
        }
    }
    let book = book().read();
    let mut counter = Counter::default();
    let mut first = None;
    for (position, run) in characters.windows(3).enumerate() {
        let mut bound = book.positions.get(&position).cloned().unwrap_or_default();
        for (offset, c) in run.iter().enumerate() {
            match book.characters.get(c) {
                Some(vectors) => bound.xor(&vectors[offset]),
                None => bound.xor(&character(*c)[offset]),
            }
        }
        counter.add(&bound);
        first.get_or_insert(bound);
    }
    first.map_or_else(Bits::default, |first| counter.majority(&first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn like_texts_are_near_and_others_are_half_apart() {
        let a = embed("the deployment failed because the disk was full");
        let b = embed("the deployment failed because the disk was fine");
        let c = embed("bananas are an excellent source of potassium!!!");
        assert_eq!(a.hamming(&a), 0);
        assert!(a.hamming(&b) < a.hamming(&c));
        assert!((a.hamming(&c) as f64 / BITS as f64 - 0.5).abs() < 0.03);
        assert!((0.0..=1.0).contains(&a.likeness(&c)));
        assert_eq!(a.dense().len(), 1_024);
        for (x, y) in [(&a, &b), (&a, &c), (&a, &a)] {
            let (all, some) = (x.likeness(y), x.sketch().likeness(&y.sketch()));
            assert!((all - some).abs() < 0.1, "{all} {some}");
        }
        assert_eq!(Sketch::from_bytes(&a.sketch().to_bytes()), Some(a.sketch()));
        assert_eq!(a.sketch().to_bytes().len(), Sketch::BYTES);
        assert_eq!(embed(""), Bits::default());
    }

    #[test]
    fn majority_counts_and_ties_go_to_the_first() {
        let (a, b) = (Bits::random(1), Bits::random(2));
        assert_eq!(Bits::majority([&a, &b].into_iter()), a);
        assert_eq!(Bits::majority([&a, &b, &b].into_iter()), b);
        let many: Vec<Bits> = (0..37).map(Bits::random).collect();
        for count in [1, 2, 3, 8, 21, 36, 37] {
            let all = &many[..count];
            let found = Bits::majority(all.iter());
            for at in 0..BITS {
                let set = all.iter().filter(|bits| bits.get(at)).count();
                let expected = 2 * set > count || (2 * set == count && all[0].get(at));
                assert_eq!(found.get(at), expected, "{at} of {count}");
            }
            let sketches: Vec<Sketch> = all.iter().map(Bits::sketch).collect();
            assert_eq!(Sketch::majority(sketches.iter()), found.sketch());
        }
    }
}
