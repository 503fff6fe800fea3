//! The tools: what each takes, gives and does. One row of the [registry](all) is all there is to a tool; how it is called is not
//! known here.

pub mod aliases;
pub mod args;
mod autonomous;
mod core;
mod dream;
mod gwt;
mod living;
mod modulation;
mod reasoning;
mod relations;
pub mod schema;
mod shown;
mod status;
mod teleological;
mod thresholds;
mod utl;
pub(crate) mod when;

use serde_json::Value;

use crate::dream::DreamState;
use crate::engine::{Comparing, Space};
use crate::error::Outcome;
use crate::mind::Doc;
use args::{Args, Param};
pub(crate) use autonomous::comparing;
pub(crate) use core::MODALITIES;

/// How a tool uses a space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Changes nothing that counts.
    Read,
    /// Is named like one that reads, and changes something.
    HiddenWrite,
    /// Changes something that can be put back.
    Write,
    /// Starts or ends something that takes long.
    LongRunning,
    /// Takes something away, and keeps it for undoing.
    Destructive,
    /// Takes something away for good.
    Erase,
}

/// A call of a tool.
pub struct ToolCall<'a> {
    /// The space.
    pub space: &'a mut Space,
    /// The arguments, checked.
    pub args: &'a Args,
    /// The time, in milliseconds since 1970.
    pub now: u64,
    /// Who calls.
    pub agent: &'a str,
    /// Whether that is the owner of the machine.
    pub is_owner: bool,
    /// Milliseconds since the call came in.
    pub elapsed_ms: &'a dyn Fn() -> u64,
    /// Whether the caller has given up.
    pub stopped: &'a dyn Fn() -> bool,
    /// Tells how far it is, of all.
    pub progress: &'a dyn Fn(f64, f64),
    /// The dream of this space.
    pub dream: &'a dyn DreamView,
    /// What was compared before the space was held for this call, for consolidation.
    pub compared: Option<Comparing>,
}

impl std::fmt::Debug for ToolCall<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Call").field("space", &self.space.name()).field("agent", &self.agent).finish_non_exhaustive()
    }
}

/// What a tool may know and ask of a dream that runs beside it.
pub trait DreamView {
    /// Where the dream is.
    fn state(&self) -> DreamState;
    /// The share of one processor that it takes, in `[0, 1]`.
    fn load(&self) -> f64;
    /// Asks for a dream; it begins when the call has ended. `false` if one is going on or was asked for.
    fn request(&self) -> bool;
    /// Ends a dream and waits until it has. How long that took, in milliseconds; `None` if it takes too long.
    fn abort(&self) -> Option<f64>;
}

/// A tool.
pub struct Spec {
    /// Its name.
    pub name: &'static str,
    /// A name for people.
    pub title: &'static str,
    /// What it does, for the model.
    pub description: &'static str,
    /// The part of the memory it belongs to.
    pub category: &'static str,
    /// How it uses the space.
    pub class: Class,
    /// Whether a second equal call changes nothing more.
    pub idempotent: bool,
    /// What it takes.
    pub params: Vec<Param>,
    /// What it gives, as a JSON Schema.
    pub output: Value,
    /// What it does.
    pub run: fn(&mut ToolCall<'_>) -> Outcome<Value>,
}

impl std::fmt::Debug for Spec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Spec").field("name", &self.name).field("class", &self.class).finish_non_exhaustive()
    }
}

impl Spec {
    /// Whether it changes the space.
    #[must_use]
    pub const fn writes(&self) -> bool {
        !matches!(self.class, Class::Read)
    }

    /// The state without which it cannot answer.
    #[must_use]
    pub fn needs(&self) -> Option<Doc> {
        match self.category {
            "gwt" if self.name != "get_johari_classification" => Some(Doc::Gwt),
            "atc" => Some(Doc::Calibration),
            "dream" => Some(Doc::Dreams),
            "neuromodulation" => Some(Doc::Levels),
            "teleological" => Some(Doc::Teleology),
            "autonomous" => Some(Doc::Autonomy),
            _ => matches!(self.name, "utl_status" | "inject_context").then_some(Doc::Learning),
        }
    }
}

/// All tools, in the order they are listed.
#[must_use]
pub fn all() -> Vec<Spec> {
    [
        core::tools(),
        living::tools(),
        relations::tools(),
        status::tools(),
        gwt::tools(),
        thresholds::tools(),
        dream::tools(),
        modulation::tools(),
        reasoning::tools(),
        teleological::tools(),
        autonomous::tools(),
        utl::tools(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn all_tools_of_the_specification_are_there() {
        let specs = all();
        let names: BTreeSet<&str> = specs.iter().map(|spec| spec.name).collect();
        assert_eq!((specs.len(), names.len()), (46, 46));
        let specified = [
            "abort_dream",
            "adjust_coupling",
            "adjust_neuromodulator",
            "auto_bootstrap_north_star",
            "compute_delta_sc",
            "compute_teleological_vector",
            "discover_sub_goals",
            "fuse_embeddings",
            "get_alignment_drift",
            "get_amortized_shortcuts",
            "get_autonomous_status",
            "get_calibration_metrics",
            "get_consciousness_state",
            "get_dream_status",
            "get_ego_state",
            "get_graph_manifest",
            "get_johari_classification",
            "get_kuramoto_sync",
            "get_memetic_status",
            "get_neuromodulation_state",
            "get_pruning_candidates",
            "get_steering_feedback",
            "get_threshold_status",
            "get_workspace_status",
            "inject_context",
            "manage_teleological_profile",
            "omni_infer",
            "search_graph",
            "search_teleological",
            "store_memory",
            "trigger_consolidation",
            "trigger_dream",
            "trigger_drift_correction",
            "trigger_recalibration",
            "trigger_workspace_broadcast",
            "update_synergy_matrix",
            "utl_status",
        ];
        assert_eq!(BTreeSet::from(specified).len(), 37);
        assert!(BTreeSet::from(specified).is_subset(&names));
        let of = |category: &str| specs.iter().filter(|spec| spec.category == category).count();
        for (category, count) in [
            ("core_memory", 3),
            ("memory", 9),
            ("core_status", 3),
            ("gwt", 7),
            ("atc", 3),
            ("dream", 4),
            ("neuromodulation", 2),
            ("steering", 1),
            ("causal", 1),
            ("teleological", 5),
            ("autonomous", 7),
            ("utl", 1),
        ] {
            assert_eq!(of(category), count, "{category}");
        }
        assert!(specs.iter().all(|spec| !spec.description.is_empty() && spec.output["type"] == "object"));
    }
}
