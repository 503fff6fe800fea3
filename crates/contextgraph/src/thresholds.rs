//! Thresholds that adapt: what holds for a domain, and four levels of calibration by what turned out to be right.
//!
//! Every result of a search is a prediction: its likeness is a confidence that it is what was wanted. Feedback is the
//! truth. From both come the [measures](metrics) and the four levels: [drift](drift) of each threshold, a
//! [temperature](temperature) for each space, a [bandit](bandit) over candidates, and a [search](bayes) over all three
//! thresholds of alignment together.

pub mod bandit;
pub mod bayes;
pub mod drift;
pub mod metrics;
pub mod temperature;

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use crate::Id;
use crate::embedders::space::{COUNT, SPACES};

/// A domain, which says how strict to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the words say it")]
pub enum Domain {
    Code,
    Medical,
    Legal,
    Creative,
    Research,
    #[default]
    General,
}

impl Domain {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Code, Self::Medical, Self::Legal, Self::Creative, Self::Research, Self::General];

    /// The domain of a word, in any case; General for one that is not known, with a word in the log.
    #[must_use]
    pub fn from_word(word: &str) -> Self {
        Self::ALL.into_iter().find(|domain| domain.name().eq_ignore_ascii_case(word)).unwrap_or_else(|| {
            tracing::warn!(domain = word, "unknown domain: General is used");
            Self::General
        })
    }

    /// The name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Code => "Code",
            Self::Medical => "Medical",
            Self::Legal => "Legal",
            Self::Creative => "Creative",
            Self::Research => "Research",
            Self::General => "General",
        }
    }

    /// How strict it is, in `[0, 1]`.
    #[must_use]
    pub const fn strictness(self) -> f64 {
        match self {
            Self::Code => 0.9,
            Self::Medical => 1.0,
            Self::Legal => 0.8,
            Self::Creative => 0.2,
            Self::Research | Self::General => 0.5,
        }
    }

    /// The domain that is most like it, from which calibration can be taken over.
    #[must_use]
    pub const fn similar(self) -> Option<Self> {
        match self {
            Self::Code | Self::Creative => Some(Self::Research),
            Self::Medical => Some(Self::Legal),
            Self::Legal => Some(Self::Medical),
            Self::Research => Some(Self::General),
            Self::General => None,
        }
    }
}

/// A named threshold: its value at strictness 0, what strictness adds, least, most.
pub const NAMED: [(&str, f64, f64, f64, f64); 20] = [
    ("theta_opt", 0.75, 0.1, 0.60, 0.90),
    ("theta_acc", 0.70, 0.08, 0.55, 0.85),
    ("theta_warn", 0.55, 0.05, 0.40, 0.70),
    ("theta_dup", 0.90, 0.0, 0.80, 0.98),
    ("theta_edge", 0.70, 0.0, 0.50, 0.85),
    ("theta_gate", 0.75, 0.15, 0.65, 0.95),
    ("theta_hypersync", 0.93, 0.04, 0.90, 0.99),
    ("theta_fragmentation", 0.5, -0.1, 0.35, 0.65),
    ("theta_memory_sim", 0.5, 0.15, 0.35, 0.75),
    ("theta_reflex_hit", 0.8, 0.1, 0.70, 0.95),
    ("theta_consolidation", 0.1, 0.1, 0.05, 0.30),
    ("theta_dream_activity", 0.15, -0.05, 0.05, 0.30),
    ("theta_semantic_leap", 0.7, -0.1, 0.50, 0.90),
    ("theta_shortcut_conf", 0.7, 0.1, 0.50, 0.85),
    ("theta_johari", 0.5, 0.0, 0.35, 0.65),
    ("theta_blind_spot", 0.5, 0.0, 0.35, 0.65),
    ("theta_obsolescence_low", 0.3, 0.1, 0.20, 0.50),
    ("theta_obsolescence_mid", 0.525, 0.1, 0.45, 0.75),
    ("theta_obsolescence_high", 0.75, 0.1, 0.65, 0.90),
    ("theta_drift_slope", 0.01, -0.009, 0.001, 0.01),
];

/// The value of a named threshold in a domain before any calibration; one half, with a word in the log, for a name that is
/// not known.
#[must_use]
pub fn given(name: &str, domain: Domain) -> f64 {
    match NAMED.iter().find(|row| row.0 == name) {
        Some((_, base, slope, least, most)) => (base + slope * domain.strictness()).clamp(*least, *most),
        None => {
            tracing::warn!(name, "unknown threshold: one half is used");
            0.5
        }
    }
}

/// One prediction, and what turned out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// When.
    pub at: u64,
    /// The query.
    pub query: Id,
    /// The result.
    pub result: Id,
    /// How alike it was as a whole, before any calibration.
    pub confidence: f64,
    /// How sure each space was.
    pub spaces: [f32; COUNT],
    /// How right it was, in `[0, 1]`, once somebody has told.
    pub label: Option<f64>,
}

/// Predictions that are remembered.
pub const REMEMBERED: usize = 2_000;
const HOUR_MS: u64 = 3_600_000;
const WEEK_MS: u64 = 7 * 24 * HOUR_MS;

/// The state of calibration.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Calibration {
    /// Drift of each threshold that is observed.
    pub drift: BTreeMap<String, drift::Drift>,
    /// Temperature and loss of each space, where calibrated.
    pub temperatures: BTreeMap<usize, temperature::Scaled>,
    /// Candidates for `theta_opt`, by domain.
    pub bandits: BTreeMap<Domain, bandit::Bandit>,
    /// What calibration changed, by domain and name.
    pub changed: BTreeMap<Domain, BTreeMap<String, f64>>,
    /// What was predicted, newest last.
    pub predictions: VecDeque<Prediction>,
    /// How the likeness of a result becomes the confidence that is shown; as it is before the first calibration.
    #[serde(default)]
    pub whole: Option<temperature::Whole>,
    last_level2: Option<u64>,
    last_level4: Option<u64>,
}

impl Calibration {
    /// The value of a named threshold in a domain. What a similar domain has learned counts for three tenths where this
    /// one has learned nothing itself.
    #[must_use]
    pub fn value(&self, name: &str, domain: Domain) -> f64 {
        const TRANSFER: f64 = 0.3;
        let own = self.changed.get(&domain).and_then(|changed| changed.get(name));
        if let Some(own) = own {
            return *own;
        }
        let given = given(name, domain);
        let similar = domain.similar().and_then(|similar| self.changed.get(&similar)?.get(name));
        similar.map_or(given, |similar| TRANSFER * similar + (1.0 - TRANSFER) * given)
    }

    /// The confidence of a space after its temperature: `s(logit(p) / T)`; 0 and 1 stay.
    #[must_use]
    pub fn confidence(&self, space: usize, p: f64) -> f64 {
        let temperature =
            self.temperatures.get(&space).map_or(SPACES[space].temperature.0, |scaled| scaled.temperature);
        temperature::scaled(p, temperature)
    }

    /// The confidence that a likeness stands for: `s(a logit(p) + b)` where level 2 has fitted it, else the likeness.
    #[must_use]
    pub fn calibrated(&self, likeness: f64) -> f64 {
        self.whole.map_or(likeness, |whole| whole.apply(likeness)).clamp(0.0, 1.0)
    }

    /// The word for a confidence, by the calibrated thresholds: `sure` from `theta_opt`, `likely` from `theta_acc`, `possible` from
    /// `theta_warn`, below that `doubtful`.
    #[must_use]
    pub fn standing(&self, confidence: f64) -> &'static str {
        let of = |name| self.value(name, Domain::General);
        match confidence {
            c if c >= of("theta_opt") => "sure",
            c if c >= of("theta_acc") => "likely",
            c if c >= of("theta_warn") => "possible",
            _ => "doubtful",
        }
    }

    /// Remembers a prediction.
    pub fn predict(&mut self, prediction: Prediction) {
        if self.predictions.len() >= REMEMBERED {
            self.predictions.pop_front();
        }
        self.predictions.push_back(prediction);
    }

    /// Forgets what was predicted of a memory.
    pub fn forget(&mut self, memory: Id) {
        self.predictions.retain(|made| made.result != memory);
    }

    /// What turned out about a result of a query; the newest prediction of it. Whether there was one.
    pub fn label(&mut self, query: Id, result: Id, label: f64) -> bool {
        let found = self.predictions.iter_mut().rev().find(|made| made.query == query && made.result == result);
        let Some(found) = found else { return false };
        found.label = Some(label.clamp(0.0, 1.0));
        true
    }

    /// Takes in the value that a threshold was compared with, for its drift.
    pub fn observe(&mut self, name: &str, value: f64) {
        let baseline = given(name, Domain::General);
        self.drift.entry(name.to_owned()).or_insert_with(|| drift::Drift::new(baseline)).observe(value);
    }

    /// Confidence, as it is calibrated now, and truth of the predictions since a moment.
    #[must_use]
    pub fn samples(&self, since: u64) -> Vec<(f64, f64)> {
        let told = self.predictions.iter().filter(|made| made.at >= since);
        told.filter_map(|made| Some((self.calibrated(made.confidence), made.label?))).collect()
    }

    /// Confidence of one space and truth, of all predictions.
    #[must_use]
    pub fn samples_of(&self, space: usize) -> Vec<(f64, f64)> {
        self.predictions.iter().filter_map(|made| Some((f64::from(made.spaces[space]), made.label?))).collect()
    }

    /// The spaces that are badly calibrated.
    #[must_use]
    pub fn poor_spaces(&self) -> Vec<usize> {
        (0..COUNT).filter(|&space| self.temperatures.get(&space).is_some_and(temperature::Scaled::is_poor)).collect()
    }

    /// Whether level 2 is due: an hour since the last time.
    #[must_use]
    pub fn due_level2(&self, now: u64) -> bool {
        self.last_level2.is_none_or(|last| now.saturating_sub(last) > HOUR_MS)
    }

    /// Whether level 4 is due: a week since the last time.
    #[must_use]
    pub fn due_level4(&self, now: u64) -> bool {
        self.last_level4.is_none_or(|last| now.saturating_sub(last) > WEEK_MS)
    }

    /// Level 2: a temperature for each space with enough samples, and what the likeness as a whole stands for. Spaces that were calibrated, with their loss.
    pub fn calibrate_temperatures(&mut self, now: u64) -> Vec<(usize, temperature::Scaled)> {
        let mut done = Vec::new();
        for (space, row) in SPACES.iter().enumerate() {
            let (_, least, most) = row.temperature;
            if let Some(scaled) = temperature::fit(&self.samples_of(space), least, most) {
                self.temperatures.insert(space, scaled);
                done.push((space, scaled));
            }
        }
        let raw: Vec<(f64, f64)> =
            self.predictions.iter().filter_map(|made| Some((made.confidence, made.label?))).collect();
        if let Some(whole) = temperature::Whole::fit(&raw) {
            self.whole = Some(whole);
        }
        if !done.is_empty() {
            self.last_level2 = Some(now);
        }
        done
    }

    /// Level 3: plays the bandit on every prediction whose truth is known, and takes the arm it draws.
    pub fn explore(&mut self, domain: Domain, rng: &mut crate::Rng) -> Option<(Vec<bandit::Arm>, f64)> {
        let samples = self.samples(0);
        if samples.is_empty() {
            return None;
        }
        let bandit = self.bandits.entry(domain).or_default();
        bandit.learn(&samples);
        let chosen = bandit.draw(rng);
        self.set(domain, "theta_opt", chosen);
        Some((self.bandits.get(&domain)?.arms.clone(), chosen))
    }

    /// Level 4: looks for the three thresholds of alignment that fit what turned out. `None` for too few samples.
    pub fn optimize(&mut self, domain: Domain, now: u64) -> Option<bayes::ThresholdOptimum> {
        let current = ["theta_opt", "theta_acc", "theta_warn"].map(|name| self.value(name, domain));
        let found = bayes::search(&self.samples(0), current)?;
        self.last_level4 = Some(now);
        if found.improved {
            let [opt, acc, warn] = found.thresholds;
            self.set(domain, "theta_opt", opt);
            self.set(domain, "theta_acc", acc);
            self.set(domain, "theta_warn", warn);
        }
        Some(found)
    }

    /// Sets a threshold, held within its range, and keeps `opt > acc > warn`.
    pub fn set(&mut self, domain: Domain, name: &str, value: f64) {
        let Some((_, _, _, least, most)) = NAMED.iter().find(|row| row.0 == name) else { return };
        self.changed.entry(domain).or_default().insert(name.to_owned(), value.clamp(*least, *most));
        let ordered = |above: f64, below: f64| below.min(above - 0.01);
        let opt = self.value("theta_opt", domain);
        let acc = ordered(opt, self.value("theta_acc", domain));
        let warn = ordered(acc, self.value("theta_warn", domain));
        let changed = self.changed.entry(domain).or_default();
        changed.insert("theta_acc".to_owned(), acc);
        changed.insert("theta_warn".to_owned(), warn);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    #[test]
    fn every_threshold_is_in_its_range_and_in_order() {
        for domain in Domain::ALL {
            for (name, _, _, least, most) in NAMED {
                let value = given(name, domain);
                assert!((least..=most).contains(&value), "{name} {domain:?} {value}");
            }
            assert!(given("theta_opt", domain) > given("theta_acc", domain));
            assert!(given("theta_acc", domain) > given("theta_warn", domain));
            let [low, mid, high] =
                ["low", "mid", "high"].map(|end| given(&format!("theta_obsolescence_{end}"), domain));
            assert!(low < mid && mid < high);
        }
        assert!((given("theta_opt", Domain::Medical) - 0.85).abs() < 1e-12);
        assert!((given("theta_gate", Domain::Code) - 0.885).abs() < 1e-12);
        assert_eq!(given("theta_nothing", Domain::Code), 0.5);
        assert_eq!(Domain::from_word("astrology"), Domain::General);
        assert_eq!(Domain::from_word("code"), Domain::Code);
    }

    fn fed(right: impl Fn(f64) -> f64) -> Calibration {
        let mut calibration = Calibration::default();
        let mut rng = Rng::new(5);
        for at in 0..200 {
            let confidence = rng.unit();
            let id = Id(at);
            calibration.predict(Prediction {
                at: at as u64,
                query: Id(1_000),
                result: id,
                confidence,
                spaces: [confidence as f32; COUNT],
                label: None,
            });
            let label = f64::from(u8::from(rng.unit() < right(confidence)));
            assert!(calibration.label(Id(1_000), id, label));
        }
        calibration
    }

    #[test]
    fn feedback_moves_all_levels() {
        // What is said to be at p is right less often than that.
        let mut calibration = fed(|p| p.powi(3));
        assert!(metrics::measure(&calibration.samples(0)).ece > 0.1);
        let done = calibration.calibrate_temperatures(10);
        assert_eq!(done.len(), COUNT);
        assert!(!calibration.due_level2(10) && calibration.due_level2(HOUR_MS + 11));
        let (arms, chosen) = calibration.explore(Domain::Code, &mut Rng::new(1)).unwrap();
        assert!(arms.iter().any(|arm| (arm.threshold - chosen).abs() < 1e-12));
        assert!(calibration.value("theta_opt", Domain::Code) > calibration.value("theta_acc", Domain::Code));
        let found = calibration.optimize(Domain::General, 10).unwrap();
        assert!(found.score >= found.score_before);
        let [opt, acc, warn] =
            ["theta_opt", "theta_acc", "theta_warn"].map(|name| calibration.value(name, Domain::General));
        assert!(opt > acc && acc > warn);
        assert!(!calibration.label(Id(9), Id(9), 1.0));
    }

    #[test]
    fn predictions_are_bounded() {
        let mut calibration = Calibration::default();
        for at in 0..(REMEMBERED + 10) {
            let id = Id(at as u128);
            calibration.predict(Prediction {
                at: 0,
                query: id,
                result: id,
                confidence: 0.5,
                spaces: [0.5; COUNT],
                label: None,
            });
        }
        assert_eq!(calibration.predictions.len(), REMEMBERED);
    }
}
