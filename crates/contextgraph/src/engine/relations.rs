//! Edges that an agent states, and takes back.

use serde_json::json;

use super::Space;
use crate::Id;
use crate::error::{Outcome, Problem};
use crate::graph::edges::{Edge, EdgeKind};

/// Memories that a chain of superseding is followed through.
const MAX_CHAIN: usize = 10_000;

impl Space {
    /// Links two memories. The record for taking that back.
    ///
    /// # Errors
    /// One is not there, both are the same, or superseding would go in a circle.
    pub fn relate(&mut self, source: Id, target: Id, kind: EdgeKind, now: u64) -> Outcome<Id> {
        self.memory(source)?;
        self.memory(target)?;
        if source == target {
            return Err(Problem::params("`source` and `target` are the same memory"));
        }
        if kind == EdgeKind::Supersedes && self.supersedes_already(target, source) {
            return Err(Problem::new(
                crate::Code::InvalidParams,
                "SUPERSEDES_LOOP",
                format!("{target} already supersedes {source}, directly or through others: take that back first"),
            ));
        }
        self.link(Edge::new(source, target, kind, 1.0, 1.0, now));
        Ok(self.record("related", &json!({"source": source, "target": target, "kind": kind}), now))
    }

    /// Takes an edge away. The record for bringing it back.
    ///
    /// # Errors
    /// There is no such edge.
    pub fn unrelate(&mut self, source: Id, target: Id, kind: EdgeKind, now: u64) -> Outcome<Id> {
        let known =
            self.graph.slot(source).zip(self.graph.slot(target)).and_then(|(a, b)| {
                self.graph.edges.from(a).find(|link| link.target == b && link.kind == kind).copied()
            });
        let Some(link) = known else {
            let message = format!("there is no edge {} from {source} to {target}", kind.word());
            return Err(Problem::new(crate::Code::Storage, "EDGE_NOT_FOUND", message));
        };
        self.unlink(source, target, kind);
        let (weight, confidence) = (link.weight, link.confidence);
        let data =
            json!({"source": source, "target": target, "kind": kind, "weight": weight, "confidence": confidence});
        Ok(self.record("unrelated", &data, now))
    }

    /// Whether one memory supersedes another, directly or through others.
    #[must_use]
    pub fn supersedes_already(&self, newer: Id, older: Id) -> bool {
        let (Some(start), Some(end)) = (self.graph.slot(newer), self.graph.slot(older)) else { return false };
        let mut seen = std::collections::HashSet::from([start]);
        let mut queue = vec![start];
        while let Some(slot) = queue.pop() {
            if slot == end {
                return true;
            }
            for link in self.graph.edges.from(slot).filter(|link| link.kind == EdgeKind::Supersedes) {
                // A chain that is longer than anybody makes is taken for a circle rather than followed.
                if seen.len() >= MAX_CHAIN {
                    return true;
                }
                if seen.insert(link.target) {
                    queue.push(link.target);
                }
            }
        }
        false
    }
}
