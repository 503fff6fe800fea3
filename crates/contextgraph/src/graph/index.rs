//! Finding: vectors of meaning in one row of bytes, and postings of words. Exact: every memory is looked at.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

use super::Slot;
use crate::rng::splitmix;
use crate::vector::{Sparse, dot_i8};

const WIDTH: usize = 256;
/// Memories that are looked at to find the companions of a term.
const LOOKED_AT: usize = 64;

/// The index of one space.
#[derive(Debug, Default)]
pub struct Index {
    rows: Vec<i8>,
    alive: Vec<bool>,
    words: Vec<Sparse>,
    postings: HashMap<u16, Vec<(Slot, f32)>, Mixing>,
    /// Entries of all words, for the mean length.
    terms: usize,
}

/// How soon more words of a memory count less (BM25).
const LENGTH: (f32, f32) = (1.2, 0.75);

/// Tables by numbers that are spread by a hash already, or are made here: mixed once, which is quicker than what withstands an attack.
pub(super) type Mixing = BuildHasherDefault<Mixed>;

/// One number, mixed.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Mixed(u64);

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u16(&mut self, value: u16) {
        self.write_u64(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        let mut state = self.0 ^ value;
        self.0 = splitmix(&mut state);
    }

    fn write_u128(&mut self, value: u128) {
        self.write_u64(value as u64);
        self.write_u64((value >> 64) as u64);
    }
}

impl Index {
    /// Makes room for so many more.
    pub(super) fn expect(&mut self, more: usize) {
        self.rows.reserve(more * WIDTH);
        self.alive.reserve(more);
        self.words.reserve(more);
    }

    pub(super) fn put(&mut self, slot: Slot, row: &[i8; WIDTH], words: Sparse, living: bool) {
        let at = slot as usize;
        if at < self.alive.len() {
            let before = std::mem::take(&mut self.words[at]);
            self.terms -= before.indices.len();
            for (term, _) in before.iter() {
                if let Some(list) = self.postings.get_mut(&term) {
                    list.retain(|(other, _)| *other != slot);
                }
            }
        } else {
            self.rows.resize((at + 1) * WIDTH, 0);
            self.alive.resize(at + 1, false);
            self.words.resize(at + 1, Sparse::default());
        }
        self.rows[at * WIDTH..(at + 1) * WIDTH].copy_from_slice(row);
        self.alive[at] = living;
        let length = words.norm().max(1e-6);
        for (term, weight) in words.iter() {
            self.postings.entry(term).or_default().push((slot, weight / length));
        }
        self.terms += words.indices.len();
        self.words[at] = words;
    }

    pub(super) fn set_alive(&mut self, slot: Slot, living: bool) {
        if let Some(place) = self.alive.get_mut(slot as usize) {
            *place = living;
        }
    }

    fn is_alive(&self, slot: Slot) -> bool {
        self.alive.get(slot as usize).copied().unwrap_or(false)
    }

    /// The row of meaning of a slot.
    #[must_use]
    pub fn row(&self, slot: Slot) -> Option<&[i8]> {
        self.rows.get(slot as usize * WIDTH..(slot as usize + 1) * WIDTH)
    }

    /// The words of a slot.
    #[must_use]
    pub fn words(&self, slot: Slot) -> Option<&Sparse> {
        self.words.get(slot as usize)
    }

    /// The likeness of meaning of two slots, in `[0, 1]`.
    #[must_use]
    pub fn likeness(&self, a: Slot, b: Slot) -> f32 {
        match (self.row(a), self.row(b)) {
            (Some(a), Some(b)) => likeness(a, b),
            _ => 0.0,
        }
    }

    /// The nearest by meaning, with their likeness.
    #[must_use]
    pub fn by_meaning(&self, query: &[i8; WIDTH], most: usize, keep: impl Fn(Slot) -> bool) -> Vec<(Slot, f32)> {
        let mut best = Best::new(most);
        for (slot, row) in self.rows.chunks_exact(WIDTH).enumerate() {
            let score = dot_i8(row, query);
            // A score that would not be kept need not be looked at further.
            if score > best.least() && self.alive[slot] && keep(slot as Slot) {
                best.add(score, slot as Slot);
            }
        }
        best.sorted().into_iter().map(|(score, slot)| (slot, share(score))).collect()
    }

    /// The nearest by words, with their likeness.
    #[must_use]
    pub fn by_words(&self, query: &Sparse, most: usize, keep: impl Fn(Slot) -> bool) -> Vec<(Slot, f32)> {
        let length = query.norm().max(1e-6);
        // A word may be in every memory: one place for each is quicker than a table of those that were met.
        let mut scores = vec![0f32; self.alive.len()];
        let mut met: Vec<Slot> = Vec::new();
        for (term, weight) in query.iter() {
            for (slot, value) in self.postings.get(&term).map(Vec::as_slice).unwrap_or_default() {
                let score = &mut scores[*slot as usize];
                if *score == 0.0 {
                    met.push(*slot);
                }
                *score += weight / length * value;
            }
        }
        let mut out: Vec<(Slot, f32)> = met
            .into_iter()
            .filter(|slot| self.is_alive(*slot) && keep(*slot))
            .map(|slot| (slot, scores[slot as usize]))
            .collect();
        if out.len() > most {
            out.select_nth_unstable_by(most, |a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            out.truncate(most);
        }
        out.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        out.truncate(most);
        out
    }

    /// What each word of a query counts: `ln(1 + (N - df + 0.5) / (df + 0.5))`, next to nothing for what nearly all memories hold.
    #[must_use]
    pub fn counting(&self, query: &Sparse) -> Vec<(u16, f32)> {
        let all = self.alive.len() as f32;
        let weight = |held: f32| (1.0 + ((all - held).max(0.0) + 0.5) / (held + 0.5)).ln();
        query.indices.iter().map(|term| (*term, weight(self.holding(*term) as f32))).collect()
    }

    /// The share of a query's words that a memory has, each by [what it counts](Self::counting), and less in a long memory than in a
    /// short one: BM25 over the most that there could be.
    #[must_use]
    pub fn share_of_words(&self, counting: &[(u16, f32)], slot: Slot) -> f32 {
        let all: f32 = counting.iter().map(|(_, weight)| weight).sum();
        let Some(words) = self.words(slot).filter(|_| all > 0.0) else { return 0.0 };
        let (k, b) = LENGTH;
        let mean = self.terms as f32 / self.alive.len().max(1) as f32;
        let length = 1.0 - b + b * words.indices.len() as f32 / mean.max(1.0);
        let held = |term: &u16| words.indices.binary_search(term).is_ok();
        let shared: f32 = counting.iter().filter(|(term, _)| held(term)).map(|(_, weight)| weight).sum();
        // At a length of nothing the factor is the greatest.
        let factor = (k + 1.0) / k.mul_add(length, 1.0);
        let most = (k + 1.0) / k.mul_add(1.0 - b, 1.0);
        (shared / all * factor / most).clamp(0.0, 1.0)
    }

    /// The share of a query's words, each by [what it counts](Self::counting), that one memory has and another lacks.
    #[must_use]
    pub fn brings_in(&self, counting: &[(u16, f32)], lacks: Slot, has: Slot) -> f32 {
        let (Some(lacks), Some(has)) = (self.words(lacks), self.words(has)) else { return 0.0 };
        let all: f32 = counting.iter().map(|(_, weight)| weight).sum();
        let holds = |words: &Sparse, term: &u16| words.indices.binary_search(term).is_ok();
        let brought: f32 =
            counting.iter().filter(|(term, _)| holds(has, term) && !holds(lacks, term)).map(|(_, weight)| weight).sum();
        if all > 0.0 { brought / all } else { 0.0 }
    }

    /// The memories that hold a term.
    #[must_use]
    pub fn holders(&self, term: u16) -> &[(Slot, f32)] {
        self.postings.get(&term).map(Vec::as_slice).unwrap_or_default()
    }

    pub(super) fn holding(&self, term: u16) -> usize {
        self.postings.get(&term).map_or(0, Vec::len)
    }

    pub(super) fn companions(&self, term: u16, most: usize) -> Vec<(u16, f32)> {
        let Some(list) = self.postings.get(&term).filter(|list| list.len() > 1) else { return Vec::new() };
        // The newest tell most about how the word is used now.
        let newest: Vec<Slot> = list.iter().rev().map(|(slot, _)| *slot).take(LOOKED_AT).collect();
        let mut counts: HashMap<u16, u32> = HashMap::new();
        for slot in &newest {
            for (other, _) in self.words[*slot as usize].iter().filter(|(other, _)| *other != term) {
                *counts.entry(other).or_default() += 1;
            }
        }
        let all = self.alive.len().max(1) as f32;
        let mut out: Vec<(u16, f32)> = counts
            .into_iter()
            .filter(|(_, count)| *count > 1)
            .map(|(other, count)| (other, count as f32 / newest.len() as f32))
            // More often together than chance would have it.
            .filter(|(other, share)| *share > 2.0 * self.holding(*other) as f32 / all)
            .collect();
        out.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        out.truncate(most);
        out
    }
}

/// The likeness of two rows of length 127.
#[must_use]
pub fn likeness(a: &[i8], b: &[i8]) -> f32 {
    share(dot_i8(a, b))
}

fn share(score: i32) -> f32 {
    (score as f32 / (127.0 * 127.0)).clamp(0.0, 1.0)
}

/// The best so far, at most so many.
struct Best {
    most: usize,
    heap: BinaryHeap<Reverse<(i32, Reverse<Slot>)>>,
}

impl Best {
    fn new(most: usize) -> Self {
        Self { most, heap: BinaryHeap::with_capacity(most + 1) }
    }

    fn least(&self) -> i32 {
        if self.heap.len() < self.most { i32::MIN } else { self.heap.peek().map_or(i32::MIN, |least| least.0.0) }
    }

    fn add(&mut self, score: i32, slot: Slot) {
        self.heap.push(Reverse((score, Reverse(slot))));
        if self.heap.len() > self.most {
            self.heap.pop();
        }
    }

    fn sorted(self) -> Vec<(i32, Slot)> {
        self.heap.into_sorted_vec().into_iter().map(|Reverse((score, Reverse(slot)))| (score, slot)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    fn row(rng: &mut Rng) -> [i8; WIDTH] {
        let mut values: Vec<f32> = (0..WIDTH).map(|_| rng.normal() as f32).collect();
        crate::vector::normalize(&mut values);
        std::array::from_fn(|at| (values[at] * 127.0).round() as i8)
    }

    #[test]
    fn the_nearest_come_first_and_the_removed_not_at_all() {
        let mut rng = Rng::new(4);
        let mut index = Index::default();
        let rows: Vec<_> = (0..50).map(|_| row(&mut rng)).collect();
        for (slot, row) in rows.iter().enumerate() {
            let words = Sparse::from_entries(vec![(slot as u16 % 7, 1.0), (100, 0.5)]);
            index.put(slot as Slot, row, words, true);
        }
        let found = index.by_meaning(&rows[17], 5, |_| true);
        assert_eq!(found.len(), 5);
        assert!(found[0].0 == 17 && found[0].1 > 0.9 && found.is_sorted_by(|a, b| a.1 >= b.1));
        index.set_alive(17, false);
        assert_ne!(index.by_meaning(&rows[17], 5, |_| true)[0].0, 17);
        assert_eq!(index.by_meaning(&rows[17], 5, |slot| slot == 3), [(3, likeness(&rows[3], &rows[17]))]);
        let words = index.by_words(&Sparse::from_entries(vec![(3, 1.0)]), 100, |_| true);
        assert!(words.iter().all(|(slot, _)| slot % 7 == 3) && !words.is_empty());
        assert!(!words.iter().any(|(slot, _)| *slot == 17));
    }
}
