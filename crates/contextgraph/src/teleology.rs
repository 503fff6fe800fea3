//! Purpose: what a memory is for, as a vector over the thirteen spaces, and how spaces work together.
//!
//! A [`Vector`](vector::Vector) has an alignment for each space, 78 correlations of pairs and 6 of groups. Which pairs go together
//! is the [synergy] matrix, which learns from [feedback]; how much each space counts for a task is a [profile].
//! [Fusion](fusion) makes one vector of a memory, [compare](mod@compare) says how alike two are, and [tucker] takes their tensor apart.

pub mod compare;
pub mod feedback;
pub mod fusion;
pub mod judgement;
pub mod profile;
pub mod synergy;
pub mod tucker;
pub mod vector;

/// The six groups of spaces, by index from 0.
pub const GROUPS: [(&str, &[usize]); 6] = [
    ("factual", &[0, 5, 10, 11, 12]),
    ("temporal", &[1, 2, 3]),
    ("causal", &[4]),
    ("relational", &[7, 8]),
    ("qualitative", &[9]),
    ("implementation", &[6]),
];

/// Pairs of spaces, row by row of the upper triangle.
pub const PAIRS: usize = 78;

/// The pairs in order.
pub fn pairs() -> impl Iterator<Item = (usize, usize)> {
    use crate::embedders::space::COUNT;
    (0..COUNT).flat_map(|i| (i + 1..COUNT).map(move |j| (i, j)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_space_has_one_group_and_every_pair_one_place() {
        let mut all: Vec<usize> = GROUPS.iter().flat_map(|group| group.1.iter().copied()).collect();
        all.sort_unstable();
        assert_eq!(all, (0..13).collect::<Vec<_>>());
        assert_eq!(pairs().count(), PAIRS);
    }
}
