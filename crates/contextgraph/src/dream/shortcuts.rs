//! Shortcuts: a path of at least three edges that was walked five times, each edge sure to at least 0.7, becomes one edge. Its
//! weight is the product of the path's, its confidence the least.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::Id;

/// Edges of a path that is worth it.
pub const HOPS: usize = 3;
/// How often it must be walked.
pub const TIMES: u64 = 5;
/// How sure each edge must be.
pub const SURE: f64 = 0.7;
/// Paths that are remembered.
const REMEMBERED: usize = 1_000;

/// A path that was walked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the words say it")]
pub struct Walked {
    pub path: Vec<Id>,
    pub count: u64,
    pub weight: f64,
    pub confidence: f64,
    pub last: u64,
}

impl Walked {
    /// How many edges it has.
    #[must_use]
    pub const fn hops(&self) -> usize {
        self.path.len().saturating_sub(1)
    }

    /// Whether it becomes a shortcut.
    #[must_use]
    pub fn qualifies(&self) -> bool {
        self.hops() >= HOPS && self.count >= TIMES && self.confidence >= SURE
    }
}

/// The paths that were walked.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Paths {
    walked: BTreeMap<String, Walked>,
}

impl Paths {
    /// A path was walked: its memories, and weight and confidence of each edge.
    pub fn record(&mut self, path: &[Id], edges: &[(f64, f64)], now: u64) {
        if path.len() < 2 || edges.len() + 1 != path.len() {
            return;
        }
        let key = path.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        let weight = edges.iter().map(|edge| edge.0).product();
        let least = edges.iter().map(|edge| edge.1).fold(1.0, f64::min);
        let walked = self.walked.entry(key).or_insert_with(|| Walked {
            path: path.to_vec(),
            count: 0,
            weight,
            confidence: least,
            last: now,
        });
        walked.count += 1;
        walked.weight = weight;
        walked.confidence = walked.confidence.min(least);
        walked.last = now;
        if self.walked.len() > REMEMBERED
            && let Some(oldest) = self.walked.iter().min_by_key(|entry| entry.1.last).map(|entry| entry.0.clone())
        {
            self.walked.remove(&oldest);
        }
    }

    /// The paths that are candidates, the most walked first.
    #[must_use]
    pub fn candidates(&self, confidence: f64) -> Vec<&Walked> {
        let mut all: Vec<&Walked> = self
            .walked
            .values()
            .filter(|walked| walked.hops() >= HOPS && walked.count >= TIMES && walked.confidence >= confidence)
            .collect();
        all.sort_by(|a, b| b.count.cmp(&a.count).then(b.confidence.total_cmp(&a.confidence)).then(a.path.cmp(&b.path)));
        all
    }

    /// The pairs of neighbours on paths that were walked after a moment.
    #[must_use]
    pub fn pairs_since(&self, moment: u64) -> HashSet<(Id, Id)> {
        let recent = self.walked.values().filter(|walked| walked.last >= moment);
        recent.flat_map(|walked| walked.path.windows(2).map(|pair| (pair[0], pair[1]))).collect()
    }

    /// Forgets paths through a memory.
    pub fn forget(&mut self, memory: Id) {
        self.walked.retain(|_, walked| !walked.path.contains(&memory));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_sure_paths_walked_five_times_qualify() {
        let mut paths = Paths::default();
        let path = [Id(1), Id(2), Id(3), Id(4)];
        let edges = [(0.9, 0.9), (0.8, 0.75), (0.5, 0.9)];
        for time in 0..5 {
            assert!(paths.candidates(0.7).is_empty(), "{time}");
            paths.record(&path, &edges, time);
        }
        let found = paths.candidates(0.7)[0].clone();
        assert!(found.qualifies() && found.hops() == 3);
        assert!((found.weight - 0.36).abs() < 1e-9 && (found.confidence - 0.75).abs() < 1e-9);
        assert!(paths.candidates(0.8).is_empty());
        paths.record(&path[..3], &edges[..2], 9);
        paths.record(&path[..1], &[], 9);
        assert_eq!(paths.walked.len(), 2);
        paths.forget(Id(4));
        assert!(paths.candidates(0.0).is_empty());
        (0..1_100u128).for_each(|at| paths.record(&[Id(at), Id(at + 1)], &[(1.0, 1.0)], at as u64));
        assert_eq!(paths.walked.len(), REMEMBERED);
    }
}
