//! The table of the thirteen spaces: names, lengths, frequencies.

/// How many embedders there are.
pub const COUNT: usize = 13;

/// The spaces of time: they tell when, not what.
pub(crate) const TIME: std::ops::RangeInclusive<usize> = 1..=3;

/// What kind of vector a space has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the words say it")]
pub enum EmbeddingShape {
    Dense(usize),
    Sparse(usize),
    Bits { bits: usize, dense: usize },
    Tokens(usize),
}

/// One space.
#[derive(Debug, Clone, Copy)]
pub struct EmbeddingSpace {
    /// The short name, `E1` to `E13`.
    pub id: &'static str,
    /// The name on the wire of a fingerprint.
    pub key: &'static str,
    /// The name for people.
    pub name: &'static str,
    /// The label of its oscillator.
    pub label: &'static str,
    /// What vectors it has.
    pub shape: EmbeddingShape,
    /// The frequency of its oscillator in Hz, as the specification gives it.
    pub hertz: f64,
    /// Default temperature of its confidence and the range it may be calibrated in.
    pub temperature: (f64, f64, f64),
    /// How its surprise is computed.
    pub method: &'static str,
    /// Its axis of purpose.
    pub axis: &'static str,
}

#[expect(clippy::too_many_arguments, reason = "one row of the table below")]
const fn space(
    id: &'static str,
    key: &'static str,
    name: &'static str,
    label: &'static str,
    shape: EmbeddingShape,
    hertz: f64,
    temperature: (f64, f64, f64),
    method: &'static str,
    axis: &'static str,
) -> EmbeddingSpace {
    EmbeddingSpace { id, key, name, label, shape, hertz, temperature, method, axis }
}

const ONE: (f64, f64, f64) = (1.0, 0.5, 2.0);

/// The thirteen spaces, in order.
#[rustfmt::skip]
pub const SPACES: [EmbeddingSpace; COUNT] = [
    space("E1", "e1_semantic", "Semantic", "E1_semantic", EmbeddingShape::Dense(1024), 40.0, ONE, "gmm", "V_meaning"),
    space("E2", "e2_temporal_recent", "Temporal_Recent", "E2_temporal_recent", EmbeddingShape::Dense(512), 8.0, ONE, "knn", "V_freshness"),
    space("E3", "e3_temporal_periodic", "Temporal_Periodic", "E3_temporal_periodic", EmbeddingShape::Dense(512), 8.0, ONE, "knn", "V_periodicity"),
    space("E4", "e4_temporal_positional", "Temporal_Positional", "E4_temporal_positional", EmbeddingShape::Dense(512), 8.0, ONE, "knn", "V_ordering"),
    space("E5", "e5_causal", "Causal", "E5_causal", EmbeddingShape::Dense(768), 25.0, (1.2, 0.8, 2.5), "asymmetric_knn", "V_causality"),
    space("E6", "e6_sparse", "Sparse_Lexical", "E6_sparse", EmbeddingShape::Sparse(30_522), 4.0, ONE, "idf", "V_selectivity"),
    space("E7", "e7_code", "Code", "E7_code", EmbeddingShape::Dense(1536), 25.0, (0.9, 0.5, 1.5), "gmm_knn", "V_correctness"),
    space("E8", "e8_graph", "Graph", "E8_graph", EmbeddingShape::Dense(384), 12.0, ONE, "knn", "V_connectivity"),
    space("E9", "e9_hdc", "HDC", "E9_hdc", EmbeddingShape::Bits { bits: 10_000, dense: 1024 }, 80.0, (1.5, 1.0, 3.0), "hamming", "V_robustness"),
    space("E10", "e10_multimodal", "Multimodal", "E10_multimodal", EmbeddingShape::Dense(768), 40.0, ONE, "cross_modal_knn", "V_multimodality"),
    space("E11", "e11_entity", "Entity", "E11_entity", EmbeddingShape::Dense(384), 15.0, ONE, "transe", "V_factuality"),
    space("E12", "e12_late_interaction", "Late_Interaction", "E12_late_interaction", EmbeddingShape::Tokens(128), 60.0, ONE, "max_sim", "V_precision"),
    space("E13", "e13_splade", "SPLADE", "E13_splade", EmbeddingShape::Sparse(30_522), 4.0, (1.1, 0.7, 2.0), "jaccard", "V_keyword_precision"),
];

/// The mean of the frequencies, by which they are divided.
#[must_use]
pub fn mean_hertz() -> f64 {
    SPACES.iter().map(|space| space.hertz).sum::<f64>() / COUNT as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequencies_are_those_of_the_specification() {
        assert!((mean_hertz() - 25.31).abs() < 0.01);
        let expected = [1.58, 0.32, 0.32, 0.32, 0.99, 0.16, 0.99, 0.47, 3.16, 1.58, 0.59, 2.37, 0.16];
        for (space, expected) in SPACES.iter().zip(expected) {
            assert!((space.hertz / mean_hertz() - expected).abs() < 0.006, "{}", space.id);
        }
    }
}
