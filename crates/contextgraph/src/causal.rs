//! What leads to what: paths of causal edges, in five directions.
//!
//! An edge from `a` to `b` is as strong as what `a` names as its effect is what `b` names as its cause, times the factor of their
//! directions and `0.7 + 0.3 overlap`; or as strong as it was stored. Edges below 0.3 are none. A path is as strong as the
//! product of its edges and as sure as the weakest, times 0.9 for each further edge. Where there is no path, there is no
//! result: nothing is invented.

use std::collections::{BTreeMap, BinaryHeap};

use crate::Id;
use crate::embedders::causal::Direction;

/// Edges below this strength are none.
pub const LEAST: f64 = 0.3;
/// The least confidence of a result.
pub const CONFIDENT: f64 = 0.5;
/// Edges of the longest path.
pub const MAX_PATH_EDGES: usize = 5;

/// How far two memories are about the same things, in `[0, 1]`: `0.8 Jaccard` of their terms, 0.1 for the same tag, 0.1 for the
/// same cluster; one half where neither has terms, a tenth where one has none.
#[must_use]
pub fn overlap(jaccard: Option<f64>, one_is_empty: bool, same_domain: bool, same_mechanism: bool) -> f64 {
    match jaccard {
        None if one_is_empty => 0.1,
        None => 0.5,
        Some(jaccard) => {
            (0.8 * jaccard + 0.1 * f64::from(u8::from(same_domain)) + 0.1 * f64::from(u8::from(same_mechanism)))
                .min(1.0)
        }
    }
}

/// The strength of an edge.
#[must_use]
pub fn strength(leads: f64, from: Direction, to: Direction, overlap: f64) -> f64 {
    (leads * from.factor(to) * (0.7 + 0.3 * overlap)).clamp(0.0, 1.0)
}

/// A path and how much it holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    /// The memories, from cause to effect.
    pub nodes: Vec<Id>,
    /// The strength of each edge.
    pub strengths: Vec<f64>,
}

impl Path {
    /// The product of the strengths.
    #[must_use]
    pub fn strength(&self) -> f64 {
        self.strengths.iter().product()
    }

    /// The weakest edge, times 0.9 for each further one.
    #[must_use]
    pub fn confidence(&self) -> f64 {
        let hops = i32::try_from(self.strengths.len()).unwrap_or(i32::MAX);
        self.strengths.iter().copied().fold(1.0, f64::min) * 0.9f64.powi((hops - 1).max(0))
    }
}

/// The strongest path from `start` to each memory that can be reached, with at most [`MAX_PATH_EDGES`] edges. `next` gives the edges
/// from a memory.
pub fn paths(start: Id, next: &mut dyn FnMut(Id) -> Vec<(Id, f64)>) -> BTreeMap<Id, Path> {
    #[derive(PartialEq)]
    struct Reached {
        strength: f64,
        path: Path,
    }
    impl Eq for Reached {}
    impl PartialOrd for Reached {
        fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
            Some(self.cmp(other))
        }
    }
    impl Ord for Reached {
        fn cmp(&self, other: &Self) -> std::cmp::Ordering {
            self.strength.total_cmp(&other.strength).then_with(|| other.path.nodes.cmp(&self.path.nodes))
        }
    }
    let mut best: BTreeMap<Id, Path> = BTreeMap::new();
    let mut heap =
        BinaryHeap::from([Reached { strength: 1.0, path: Path { nodes: vec![start], strengths: Vec::new() } }]);
    // Strengths never grow along a path, so the first time a memory comes up is by its strongest path.
    while let Some(Reached { strength, path }) = heap.pop() {
        let Some(&end) = path.nodes.last() else { continue };
        if best.contains_key(&end) {
            continue;
        }
        if path.strengths.len() < MAX_PATH_EDGES {
            for (other, weight) in next(end).into_iter().filter(|(_, weight)| *weight >= LEAST) {
                if !best.contains_key(&other) && !path.nodes.contains(&other) {
                    let mut further = path.clone();
                    further.nodes.push(other);
                    further.strengths.push(weight);
                    heap.push(Reached { strength: strength * weight, path: further });
                }
            }
        }
        best.insert(end, path);
    }
    best.remove(&start);
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn graph(edges: &[(u128, u128, f64)]) -> impl FnMut(Id) -> Vec<(Id, f64)> {
        let edges = edges.to_vec();
        move |from| edges.iter().filter(|edge| Id(edge.0) == from).map(|edge| (Id(edge.1), edge.2)).collect()
    }

    #[test]
    fn the_strongest_path_is_found_and_none_is_invented() {
        let mut next = graph(&[(1, 2, 0.9), (2, 3, 0.9), (1, 3, 0.5), (3, 4, 0.2), (3, 1, 0.9)]);
        let found = paths(Id(1), &mut next);
        assert_eq!(found[&Id(3)].nodes, [Id(1), Id(2), Id(3)], "0.81 beats 0.5");
        assert!((found[&Id(3)].confidence() - 0.81).abs() < 1e-12);
        assert!(!found.contains_key(&Id(4)), "an edge of 0.2 is none");
        assert!(!found.contains_key(&Id(1)));
        let chain: Vec<(u128, u128, f64)> = (0..10).map(|at| (at, at + 1, 1.0)).collect();
        assert_eq!(paths(Id(0), &mut graph(&chain)).len(), MAX_PATH_EDGES);
        assert!(paths(Id(9), &mut graph(&[])).is_empty());
    }

    proptest! {
        #[test]
        fn strengths_are_shares(l in 0.0..=1.0f64, o in 0.0..=1.0f64) {
            for (from, to) in [(Direction::Cause, Direction::Effect), (Direction::Effect, Direction::Cause), (Direction::Unknown, Direction::Cause)] {
                prop_assert!((0.0..=1.0).contains(&strength(l, from, to, o)));
            }
            prop_assert!((0.0..=1.0).contains(&overlap(Some(o), false, true, true)));
        }
    }

    #[test]
    fn direction_counts() {
        let forth = strength(0.6, Direction::Cause, Direction::Effect, 0.5);
        let back = strength(0.6, Direction::Effect, Direction::Cause, 0.5);
        assert!((forth / back - 1.5).abs() < 1e-9);
        assert_eq!(overlap(None, true, false, false), 0.1);
        assert_eq!(overlap(None, false, false, false), 0.5);
    }
}
