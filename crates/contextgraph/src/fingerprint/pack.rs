//! What is kept of a memory's vectors: small steps in place of numbers. The likeness of two is computed on the steps, as the
//! scale of each vector falls out of a cosine.

use crate::embedders::causal::Direction;
use crate::embedders::hdc::{self, Sketch};
use crate::embedders::space::COUNT;
use crate::embedders::temporal;
use crate::fingerprint::Content;
use crate::vector::{QuantizedVector, Sparse, dot_i8};

/// Entries that the mean of several sparse vectors keeps.
const MEAN_ENTRIES: usize = 128;

/// A vector in eight bits each, with its length.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Row {
    pub(super) steps: Vec<i8>,
    /// The length of the steps, not of the numbers.
    length: f32,
}

impl Row {
    fn of(values: &[f32]) -> Self {
        Self::of_steps(QuantizedVector::of(values).steps)
    }

    pub(super) fn of_steps(steps: Vec<i8>) -> Self {
        let length = (dot_i8(&steps, &steps) as f32).sqrt();
        Self { steps, length }
    }

    /// The numbers, at length 1.
    fn values(&self) -> Vec<f32> {
        let mut values: Vec<f32> = self.steps.iter().map(|&step| f32::from(step)).collect();
        crate::vector::normalize(&mut values);
        values
    }

    pub(super) fn cosine(&self, other: &Self) -> f32 {
        part_cosine(&self.steps, self.length, &other.steps, other.length)
    }

    /// The mean of words, by which memories are compared where there are many.
    pub(super) fn mean_of(tokens: &[Self]) -> Self {
        let values: Vec<Vec<f32>> = tokens.iter().map(Self::values).collect();
        Self::of(&super::mean_token(&values))
    }
}

fn part_cosine(a: &[i8], a_length: f32, b: &[i8], b_length: f32) -> f32 {
    let lengths = a_length * b_length;
    if lengths > 0.0 && a.len() == b.len() { (dot_i8(a, b) as f32 / lengths).clamp(-1.0, 1.0) } else { 0.0 }
}

fn steps_cosine(a: &[i8], b: &[i8]) -> f32 {
    let length = |steps: &[i8]| (dot_i8(steps, steps) as f32).sqrt();
    part_cosine(a, length(a), b, length(b))
}

/// The vectors of a memory as they are kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Packed {
    pub(super) e1: Row,
    pub(super) e5: Row,
    pub(super) e7: Row,
    pub(super) e10: Row,
    pub(super) e11: Row,
    pub(super) tokens: Vec<Row>,
    pub(super) token_mean: Row,
    /// E6.
    pub e6: Sparse,
    /// E13.
    pub e13: Sparse,
    /// A tenth of the bits of E9; the text gives all of them again.
    pub(super) e9: Sketch,
    /// Which end of a causal relation it tells about.
    pub direction: Direction,
}

impl Packed {
    /// Packs content, to what is left of it after keeping: a memory is the same before and after a restart.
    #[must_use]
    pub fn of(content: &Content) -> Self {
        let tokens: Vec<Row> = content.e12.iter().map(|token| Row::of(token)).collect();
        let exact = Self {
            e1: Row::of(&content.e1),
            e5: Row::of(&content.e5),
            e7: Row::of(&content.e7),
            e10: Row::of(&content.e10),
            e11: Row::of(&content.e11),
            token_mean: Row::mean_of(&tokens),
            tokens,
            e6: content.e6.clone(),
            e13: content.e13.clone(),
            e9: content.e9.sketch(),
            direction: content.direction,
        };
        exact.into_kept()
    }

    /// What is left of it after writing and reading.
    fn into_kept(self) -> Self {
        let mut kept = self;
        // A stretch may be written in another way once it was rounded; the second time nothing changes any more, or the third.
        for _ in 0..3 {
            match Self::from_bytes(&kept.to_bytes()) {
                Some(read) if read != kept => kept = read,
                _ => break,
            }
        }
        kept
    }

    /// Back to numbers; `text` is what they were made of.
    #[must_use]
    pub fn content(&self, text: &str) -> Content {
        Content {
            e1: self.e1.values(),
            e5: self.e5.values(),
            direction: self.direction,
            e6: self.e6.clone(),
            e7: self.e7.values(),
            e9: hdc::embed(text),
            e10: self.e10.values(),
            e11: self.e11.values(),
            e12: self.tokens.iter().map(Row::values).collect(),
            e13: self.e13.clone(),
        }
    }

    /// The part of E1 that searching scans: 256 steps scaled to a length of 127.
    #[must_use]
    pub fn scan_row(&self) -> [i8; 256] {
        let values: Vec<f32> = self.e1.steps.iter().take(256).map(|&step| f32::from(step)).collect();
        let length = crate::vector::norm(&values).max(1e-6);
        // Each part of a vector of length 127 is at most 127.
        std::array::from_fn(|at| values.get(at).map_or(0, |value| (value / length * 127.0).round() as i8))
    }

    /// Whether it is of a text in a language that the table of meanings does not know: most of E1 is then spelling.
    #[must_use]
    pub fn is_foreign(&self) -> bool {
        let meaning = self.e1.steps.get(..256).unwrap_or_default();
        dot_i8(meaning, meaning) as f32 * 2.0 < self.e1.length * self.e1.length
    }

    /// Likeness in each space. `times` are those of the two memories and of the looking, in seconds; `e8` is the
    /// likeness of their places in the graph, which is not kept here. With `pooled`, words are compared by their mean,
    /// which is quick enough for comparing many with many.
    #[must_use]
    pub fn likenesses(&self, other: &Self, times: (f64, f64, f64), e8: f32, pooled: bool) -> [f32; COUNT] {
        let (a, b, now) = times;
        let words = if pooled { self.token_mean.cosine(&other.token_mean) } else { self.max_sim(other) };
        [
            self.e1.cosine(&other.e1),
            temporal::recent_cosine(a, b, now) as f32,
            temporal::periodic_cosine(a, b) as f32,
            temporal::positional_cosine(a, b) as f32,
            self.e5.cosine(&other.e5),
            self.e6.likeness(&other.e6),
            self.e7.cosine(&other.e7),
            e8,
            self.e9.likeness(&other.e9),
            self.e10.cosine(&other.e10),
            self.e11.cosine(&other.e11),
            words,
            self.e13.likeness(&other.e13),
        ]
        .map(|value| value.clamp(0.0, 1.0))
    }

    fn max_sim(&self, other: &Self) -> f32 {
        if self.tokens.is_empty() || other.tokens.is_empty() {
            return 0.0;
        }
        let best = |word: &Row| other.tokens.iter().map(|token| word.cosine(token)).fold(0f32, f32::max);
        self.tokens.iter().map(best).sum::<f32>() / self.tokens.len() as f32
    }

    /// How far what this memory names as its effect is what the other names as its cause, in `[0, 1]`.
    #[must_use]
    pub fn leads_to(&self, other: &Self) -> f32 {
        let half = |row: &Row| row.steps.len() / 2;
        let effect = &self.e5.steps[half(&self.e5)..];
        let cause = &other.e5.steps[..half(&other.e5)];
        steps_cosine(effect, cause).max(0.0)
    }

    /// The likeness of meaning alone.
    #[must_use]
    pub fn semantic(&self, other: &Self) -> f32 {
        self.e1.cosine(&other.e1).max(0.0)
    }

    /// The mean of several with weights: dense vectors by mean, bits by majority, words of the heaviest.
    #[must_use]
    pub fn mean(all: &[(&Self, f32)]) -> Option<Self> {
        let (heaviest, _) = all.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        let row = |get: fn(&Self) -> &Row| {
            let mut sum = vec![0f32; get(heaviest).steps.len()];
            for (packed, weight) in all {
                let row = get(packed);
                let scale = weight / row.length.max(1e-6);
                sum.iter_mut().zip(&row.steps).for_each(|(sum, &step)| *sum += f32::from(step) * scale);
            }
            Row::of(&sum)
        };
        let sparse = |get: fn(&Self) -> &Sparse| {
            let total: f32 = all.iter().map(|(_, weight)| weight).sum();
            let entries = all.iter().flat_map(|(packed, weight)| {
                get(packed).iter().map(move |(index, value)| (index, value * weight / total.max(1e-6)))
            });
            let mut entries: Vec<(u16, f32)> = Sparse::from_entries(entries.collect()).iter().collect();
            entries.sort_by(|a, b| b.1.total_cmp(&a.1));
            entries.truncate(MEAN_ENTRIES);
            Sparse::from_entries(entries)
        };
        let direction =
            |wanted| all.iter().filter(|(packed, _)| packed.direction == wanted).map(|(_, w)| w).sum::<f32>();
        let (cause, effect) = (direction(Direction::Cause), direction(Direction::Effect));
        let exact = Self {
            e1: row(|packed| &packed.e1),
            e5: row(|packed| &packed.e5),
            e7: row(|packed| &packed.e7),
            e10: row(|packed| &packed.e10),
            e11: row(|packed| &packed.e11),
            token_mean: row(|packed| &packed.token_mean),
            tokens: heaviest.tokens.clone(),
            e6: sparse(|packed| &packed.e6),
            e13: sparse(|packed| &packed.e13),
            e9: Sketch::majority(all.iter().map(|(packed, _)| &packed.e9)),
            direction: if cause > effect {
                Direction::Cause
            } else if effect > cause {
                Direction::Effect
            } else {
                Direction::Unknown
            },
        };
        Some(exact.into_kept())
    }

    /// The length of the vector of each space before it was scaled, for finding the spaces that a mean is firm in: the
    /// mean of vectors that agree is long, that of vectors that do not is short.
    #[must_use]
    pub fn firmness(all: &[&Self]) -> [f32; COUNT] {
        let n = all.len().max(1) as f32;
        let length = |get: fn(&Self) -> &Row| {
            let mut sum: Vec<f32> = Vec::new();
            for packed in all {
                let row = get(packed);
                sum.resize(row.steps.len(), 0.0);
                let scale = 1.0 / (row.length.max(1e-6) * n);
                sum.iter_mut().zip(&row.steps).for_each(|(sum, &step)| *sum += f32::from(step) * scale);
            }
            crate::vector::norm(&sum)
        };
        let sparse = |get: fn(&Self) -> &Sparse| {
            let entries = all.iter().flat_map(|packed| {
                let length = get(packed).norm().max(1e-6) * n;
                get(packed).iter().map(move |(index, value)| (index, value / length))
            });
            Sparse::from_entries(entries.collect()).norm()
        };
        let majority = Sketch::majority(all.iter().map(|packed| &packed.e9));
        let bits = all.iter().map(|packed| packed.e9.likeness(&majority)).sum::<f32>() / n;
        [
            length(|packed| &packed.e1),
            0.0,
            0.0,
            0.0,
            length(|packed| &packed.e5),
            sparse(|packed| &packed.e6),
            length(|packed| &packed.e7),
            0.0,
            bits,
            length(|packed| &packed.e10),
            length(|packed| &packed.e11),
            length(|packed| &packed.token_mean),
            sparse(|packed| &packed.e13),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedders::{Embedders, Modality, lexical::Unknown};
    use crate::testing::Spelling;
    use std::sync::Arc;

    fn packed(text: &str) -> Packed {
        Packed::of(&Embedders::new(Arc::new(Spelling)).content(text, Modality::Text, &Unknown).unwrap())
    }

    #[test]
    fn packing_keeps_what_is_near() {
        let a = packed("The disk of the database server is full");
        assert_eq!(Packed::from_bytes(&a.to_bytes()).as_ref(), Some(&a));
        assert_eq!(Packed::from_bytes(&a.to_bytes()[..100]), None);
        assert_eq!(Packed::from_bytes(b"?"), None);
        let b = packed("The disk of the database server is empty");
        let c = packed("Whales sing in the deep ocean");
        let times = (10.0, 10.0, 10.0);
        let near = a.likenesses(&b, times, 0.0, false);
        let far = a.likenesses(&c, times, 0.0, false);
        for (space, value) in near.iter().enumerate() {
            assert!(
                (0.0..=1.0).contains(value) && *value >= far[space] - 0.02,
                "E{} {value} {}",
                space + 1,
                far[space]
            );
        }
        let same = a.likenesses(&a, times, 1.0, false);
        assert!(same.iter().all(|value| *value > 0.99), "{same:?}");
        let text = "The disk of the database server is full";
        let exact = Embedders::new(Arc::new(Spelling)).content(text, Modality::Text, &Unknown).unwrap();
        let unpacked = a.content(text);
        let pairs = [
            (&unpacked.e1, &exact.e1),
            (&unpacked.e5, &exact.e5),
            (&unpacked.e7, &exact.e7),
            (&unpacked.e10, &exact.e10),
            (&unpacked.e11, &exact.e11),
        ];
        for (kept, exact) in pairs.into_iter().chain(unpacked.e12.iter().zip(&exact.e12)) {
            assert!(crate::vector::cosine(kept, exact) > 0.985, "{}", crate::vector::cosine(kept, exact));
        }
        assert_eq!(unpacked.e9, exact.e9);
    }

    #[test]
    fn effects_lead_to_causes_and_not_back() {
        let rain = packed("heavy rain leads to river floods");
        let floods = packed("river floods leads to closed roads");
        assert!(rain.leads_to(&floods) > 0.8, "{}", rain.leads_to(&floods));
        assert!(floods.leads_to(&rain) < 0.3, "{}", floods.leads_to(&rain));
    }

    #[test]
    fn the_mean_of_one_is_itself() {
        let a = packed("one and the same");
        let mean = Packed::mean(&[(&a, 2.0)]).unwrap();
        assert!(mean.semantic(&a) > 0.99);
        assert!(Packed::mean(&[]).is_none());
        let firm = Packed::firmness(&[&a, &a]);
        assert!(firm[0] > 0.99 && firm[8] > 0.99, "{firm:?}");
    }
}
