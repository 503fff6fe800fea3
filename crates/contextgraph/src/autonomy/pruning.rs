//! What can go. Only what is old enough and has fewer than three connections; the first reason that holds is named: Redundant (the same
//! text as one that is aligned better), Orphaned (no connection), LowAlignment, Stale (not found for 90 days), LowQuality. Orphaned, Stale and
//! LowQuality hold only for what was called less important than usual (below 0.5) and never found: nothing goes only because it is old. Priority is
//! `0.5 (1 - alignment) + 0.3 min(age / 365 days, 1) + 0.2 / (connections + 1)`.

/// What is looked at.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(missing_docs, reason = "the words say it")]
pub struct PruningCandidate {
    pub age_days: f64,
    pub idle_days: f64,
    pub alignment: f64,
    pub has_goal: bool,
    pub connections: usize,
    pub quality: f64,
    pub redundant: bool,
    /// Whether whoever stored it called it less important than usual, and nobody ever found it.
    pub unwanted: bool,
}

/// The rules.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(missing_docs, reason = "the words say it")]
pub struct Rules {
    pub min_age_days: f64,
    pub min_alignment: f64,
}

/// Connections from which a memory stays.
pub const CONNECTED: usize = 3;
const STALE_DAYS: f64 = 90.0;
const QUALITY: f64 = 0.30;

/// Why a memory can go; `None` if it stays.
#[must_use]
pub fn reason(candidate: &PruningCandidate, rules: &Rules) -> Option<&'static str> {
    if candidate.age_days < rules.min_age_days || candidate.connections >= CONNECTED {
        return None;
    }
    if candidate.redundant {
        Some("Redundant")
    } else if candidate.connections == 0 && candidate.unwanted {
        Some("Orphaned")
    } else if candidate.has_goal && candidate.alignment < rules.min_alignment {
        Some("LowAlignment")
    } else if candidate.idle_days >= STALE_DAYS && candidate.unwanted {
        Some("Stale")
    } else if candidate.quality < QUALITY && candidate.unwanted {
        Some("LowQuality")
    } else {
        None
    }
}

/// How pressing it is.
#[must_use]
pub fn priority(candidate: &PruningCandidate) -> f64 {
    0.5 * (1.0 - candidate.alignment)
        + 0.3 * (candidate.age_days / 365.0).min(1.0)
        + 0.2 / (candidate.connections as f64 + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_come_in_their_order() {
        let base = PruningCandidate {
            age_days: 40.0,
            idle_days: 5.0,
            alignment: 0.9,
            has_goal: true,
            connections: 1,
            quality: 0.9,
            redundant: false,
            unwanted: true,
        };
        let rules = Rules { min_age_days: 30.0, min_alignment: 0.4 };
        for (candidate, expected) in [
            (base, None),
            (PruningCandidate { age_days: 29.0, redundant: true, ..base }, None),
            (PruningCandidate { connections: 3, redundant: true, ..base }, None),
            (PruningCandidate { redundant: true, connections: 0, ..base }, Some("Redundant")),
            (PruningCandidate { connections: 0, alignment: 0.1, ..base }, Some("Orphaned")),
            (PruningCandidate { alignment: 0.39, idle_days: 100.0, ..base }, Some("LowAlignment")),
            (PruningCandidate { alignment: 0.0, has_goal: false, ..base }, None),
            (PruningCandidate { idle_days: 90.0, quality: 0.1, ..base }, Some("Stale")),
            (PruningCandidate { quality: 0.29, ..base }, Some("LowQuality")),
            (PruningCandidate { age_days: 4_000.0, idle_days: 4_000.0, connections: 0, unwanted: false, ..base }, None),
            (PruningCandidate { quality: 0.1, unwanted: false, ..base }, None),
        ] {
            assert_eq!(reason(&candidate, &rules), expected, "{candidate:?}");
        }
        assert!(
            (priority(&PruningCandidate { age_days: 365.0, alignment: 0.0, connections: 0, ..base }) - 1.0).abs()
                < 1e-12
        );
    }
}
