//! Merging what says the same. Two memories are merged if they are alike enough and aligned alike (within 0.05); by the strategy also
//! only if they were stored within a day of each other (temporal), or if both are aligned to at least one half or there is no goal
//! (semantic). The merged alignment is `sum a^3 / sum a^2`: what is aligned well counts more.

/// How to choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the words say it")]
pub enum ConsolidationStrategy {
    Similarity,
    Temporal,
    Semantic,
}

impl ConsolidationStrategy {
    /// The words, in order.
    pub const WORDS: [&'static str; 3] = ["similarity", "temporal", "semantic"];

    /// The strategy of a word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        let all = [Self::Similarity, Self::Temporal, Self::Semantic];
        Self::WORDS.iter().position(|known| *known == word).map(|at| all[at])
    }
}

/// One of two memories.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(missing_docs, reason = "the words say it")]
pub struct MergeSide {
    pub created_at: u64,
    pub theta: f64,
}

const DAY_MS: u64 = 24 * 3_600_000;

/// Whether two memories are merged.
#[must_use]
pub fn merges(
    a: MergeSide,
    b: MergeSide,
    similarity: f64,
    least: f64,
    strategy: ConsolidationStrategy,
    has_goal: bool,
) -> bool {
    if similarity < least || (a.theta - b.theta).abs() > 0.05 {
        return false;
    }
    match strategy {
        ConsolidationStrategy::Similarity => true,
        ConsolidationStrategy::Temporal => a.created_at.abs_diff(b.created_at) <= DAY_MS,
        ConsolidationStrategy::Semantic => !has_goal || (a.theta >= 0.5 && b.theta >= 0.5),
    }
}

/// The alignment of what was merged.
#[must_use]
pub fn merged_alignment(alignments: &[f64]) -> f64 {
    let squares: f64 = alignments.iter().map(|a| a * a).sum();
    if squares > 1e-12 { alignments.iter().map(|a| a.powi(3)).sum::<f64>() / squares } else { 0.0 }
}

/// The texts of what was merged, each once. A text that another holds already adds nothing.
#[must_use]
pub fn merged_text(texts: &[&str]) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for text in texts.iter().map(|text| text.trim()).filter(|text| !text.is_empty()) {
        if kept.iter().any(|other| other.contains(text)) {
            continue;
        }
        kept.retain(|other| !text.contains(*other));
        kept.push(text);
    }
    kept.join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strategies_differ() {
        let a = MergeSide { created_at: 0, theta: 0.6 };
        let late = MergeSide { created_at: DAY_MS + 1, theta: 0.6 };
        let low = MergeSide { created_at: 0, theta: 0.3 };
        assert!(merges(a, late, 0.9, 0.85, ConsolidationStrategy::Similarity, true));
        assert!(!merges(a, late, 0.84, 0.85, ConsolidationStrategy::Similarity, true));
        assert!(!merges(a, late, 0.9, 0.85, ConsolidationStrategy::Temporal, true));
        assert!(!merges(a, low, 0.9, 0.85, ConsolidationStrategy::Similarity, true), "aligned differently");
        assert!(!merges(low, low, 0.9, 0.85, ConsolidationStrategy::Semantic, true));
        assert!(merges(low, low, 0.9, 0.85, ConsolidationStrategy::Semantic, false));
    }

    #[test]
    fn what_is_merged_keeps_all_that_was_said() {
        assert_eq!(merged_text(&["a b", "a b c", "d", "a b c"]), "a b c\n\nd");
        assert!((merged_alignment(&[0.5, 0.5]) - 0.5).abs() < 1e-12);
        assert!(merged_alignment(&[0.9, 0.1]) > 0.85);
        assert_eq!(merged_alignment(&[0.0]), 0.0);
    }
}
