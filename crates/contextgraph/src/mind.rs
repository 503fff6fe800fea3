//! Everything of a space that is neither memory nor edge: the state of each part of the engine, in documents that are kept apart.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

use crate::autonomy::{drift, goals::Goal};
use crate::consciousness::Machine;
use crate::dream::{DreamReport, scheduler::Scheduler, shortcuts::Paths};
use crate::embedders::space::COUNT;
use crate::error::{Outcome, Problem};
use crate::identity::Ego;
use crate::kuramoto::Network;
use crate::metacognition::Metacognition;
use crate::neuromodulation::Levels;
use crate::teleology::{feedback::Learner, judgement::Judgements, profile::TeleologyProfiles, synergy::Synergy};
use crate::thresholds::Calibration;
use crate::utl::meta::MetaLearning;
use crate::utl::surprise::Usual;
use crate::utl::{Averages, LearningPhase, Stage};
use crate::workspace::Workspace;
use crate::{Code, Id};

/// Oscillators, workspace, ego.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[expect(missing_docs, reason = "named like the parts")]
pub struct Gwt {
    pub network: Network,
    pub machine: Machine,
    pub workspace: Workspace,
    pub ego: Ego,
}

/// What was learned about learning.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[expect(missing_docs, reason = "named like the parts")]
pub struct Learning {
    pub averages: Averages,
    pub stage: Stage,
    pub interactions: u64,
    pub usual: [Usual; COUNT],
    pub meta: MetaLearning,
    pub watching: Metacognition,
    /// A running mean of activity, and since when the phase holds.
    pub activity: f64,
    pub phase: LearningPhase,
    pub phase_since: u64,
    pub last_call: u64,
    /// When something was last learned.
    #[serde(default)]
    pub last_learned: u64,
    /// What was learned of what came, for the efficiency of learning.
    pub gains: VecDeque<f64>,
    /// Where the purpose of the whole memory is.
    pub purpose: [f64; COUNT],
}

/// Purpose.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[expect(missing_docs, reason = "named like the parts")]
pub struct Teleology {
    pub synergy: Synergy,
    pub learner: Learner,
    pub profiles: TeleologyProfiles,
    /// Fused vectors that were stored, by memory: alignments and confidence.
    pub fused: BTreeMap<Id, ([f64; COUNT], f64)>,
}

/// What the memory does about itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[expect(missing_docs, reason = "named like the parts")]
pub struct Autonomy {
    pub north_star: Option<Goal>,
    pub goals: Vec<Goal>,
    pub drift: drift::History,
    /// What earlier versions gave each space when they corrected drift. It is read and kept, and counts no longer.
    pub weights: [f64; COUNT],
    pub corrections: u64,
    pub corrections_done: u64,
    pub consolidated: u64,
    pub last_consolidation: Option<u64>,
    pub last_discovery: Option<u64>,
    pub last_drift_check: Option<u64>,
    pub last_pruning: Option<u64>,
    pub pruning_candidates: usize,
}

impl Default for Autonomy {
    fn default() -> Self {
        Self {
            north_star: None,
            goals: Vec::new(),
            drift: drift::History::default(),
            weights: [1.0; COUNT],
            corrections: 0,
            corrections_done: 0,
            consolidated: 0,
            last_consolidation: None,
            last_discovery: None,
            last_drift_check: None,
            last_pruning: None,
            pruning_candidates: 0,
        }
    }
}

/// Dreams.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[expect(missing_docs, reason = "named like the parts")]
pub struct Dreams {
    pub scheduler: Scheduler,
    pub paths: Paths,
    pub last: Option<DreamReport>,
    pub shortcuts_this_cycle: usize,
    pub edges_pruned: u64,
    pub dead_ends_removed: u64,
    /// When the last dream came to its end.
    #[serde(default)]
    pub completed_at: Option<u64>,
}

impl Dreams {
    /// Whether a dream came to its end after a moment.
    #[must_use]
    pub fn is_fresh(&self, since: u64) -> bool {
        self.completed_at.is_some_and(|at| at >= since)
    }
}

/// The documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "named like the parts")]
pub enum Doc {
    Gwt,
    Learning,
    Levels,
    Calibration,
    Teleology,
    Autonomy,
    Dreams,
    Judged,
}

impl Doc {
    const ALL: [Self; 8] = [
        Self::Gwt,
        Self::Learning,
        Self::Levels,
        Self::Calibration,
        Self::Teleology,
        Self::Autonomy,
        Self::Dreams,
        Self::Judged,
    ];

    const fn key(self) -> &'static str {
        match self {
            Self::Gwt => "gwt",
            Self::Learning => "learning",
            Self::Levels => "levels",
            Self::Calibration => "calibration",
            Self::Teleology => "teleology",
            Self::Autonomy => "autonomy",
            Self::Dreams => "dreams",
            Self::Judged => "judged",
        }
    }
}

/// The state of all parts.
#[derive(Debug)]
#[expect(missing_docs, reason = "named like the parts")]
pub struct Mind {
    pub gwt: Gwt,
    pub learning: Learning,
    pub levels: Levels,
    pub calibration: Calibration,
    pub teleology: Teleology,
    pub autonomy: Autonomy,
    pub dreams: Dreams,
    pub judged: Judgements,
    changed: BTreeSet<Doc>,
    /// Documents that changed by the way: they need not be written with every change.
    moved: BTreeSet<Doc>,
    unreadable: BTreeSet<Doc>,
}

impl Mind {
    /// A mind that begins at `now`.
    #[must_use]
    pub fn new(now: u64) -> Self {
        Self {
            gwt: Gwt {
                network: Network::new(now),
                machine: Machine::new(now),
                workspace: Workspace::default(),
                ego: Ego::default(),
            },
            learning: Learning {
                averages: Averages::default(),
                stage: Stage::Infancy,
                interactions: 0,
                usual: [Usual::default(); COUNT],
                meta: MetaLearning::default(),
                watching: Metacognition::default(),
                activity: 1.0,
                phase: LearningPhase::Wake,
                phase_since: now,
                last_call: now,
                last_learned: 0,
                gains: VecDeque::new(),
                purpose: [0.0; COUNT],
            },
            levels: Levels::new(now),
            calibration: Calibration::default(),
            teleology: Teleology::default(),
            autonomy: Autonomy::default(),
            dreams: Dreams::default(),
            judged: Judgements::default(),
            changed: BTreeSet::new(),
            moved: BTreeSet::new(),
            unreadable: BTreeSet::new(),
        }
    }

    /// A document changed and has to be written. One that could not be read is not written over.
    pub fn touch(&mut self, doc: Doc) {
        if !self.unreadable.contains(&doc) {
            self.changed.insert(doc);
        }
    }

    /// A document changed by the way, and is written with others of the kind a little later. Large ones, that every call moves,
    /// would make each call slow.
    pub fn nudge(&mut self, doc: Doc) {
        if !self.unreadable.contains(&doc) {
            self.moved.insert(doc);
        }
    }

    /// Whether a document is there: what was stored of it, or a beginning.
    ///
    /// # Errors
    /// What is stored of it cannot be read.
    pub fn has(&self, doc: Doc) -> Outcome<()> {
        if !self.unreadable.contains(&doc) {
            return Ok(());
        }
        let (code, kind) = match doc {
            Doc::Gwt => (Code::GwtNotInitialized, "GWT_NOT_INITIALIZED"),
            Doc::Learning => (Code::Utl, "UTL_NOT_INITIALIZED"),
            Doc::Levels => (Code::Neuromodulation, "NEUROMODULATION_NOT_INITIALIZED"),
            Doc::Calibration => (Code::Threshold, "ATC_NOT_INITIALIZED"),
            Doc::Dreams => (Code::Dream, "DREAMS_NOT_INITIALIZED"),
            Doc::Teleology | Doc::Autonomy | Doc::Judged => (Code::Storage, "STORE_DAMAGED"),
        };
        let message = format!(
            "the stored state `{}` cannot be read, it is damaged or of a later version; use the version that wrote it, or \
             let it begin anew with `switchboard memory renew`",
            doc.key()
        );
        Err(Problem::new(code, kind, message))
    }

    /// Lets documents that cannot be read begin anew. Their names.
    pub fn renew(&mut self) -> Vec<&'static str> {
        let lost = std::mem::take(&mut self.unreadable);
        self.changed.extend(&lost);
        lost.into_iter().map(Doc::key).collect()
    }

    /// Whether anything has to be written.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        !self.changed.is_empty() || !self.moved.is_empty()
    }

    /// The documents that have to be written, which are then taken as written; with `all` also those that moved by the way.
    ///
    /// # Errors
    /// One cannot be written as JSON.
    pub fn take_changed(&mut self, all: bool) -> Outcome<Vec<(&'static str, String)>> {
        let mut changed = std::mem::take(&mut self.changed);
        if all {
            changed.append(&mut self.moved);
        }
        self.moved.retain(|doc| !changed.contains(doc));
        changed
            .into_iter()
            .map(|doc| {
                let text = match doc {
                    Doc::Gwt => serde_json::to_string(&self.gwt),
                    Doc::Learning => serde_json::to_string(&self.learning),
                    Doc::Levels => serde_json::to_string(&self.levels),
                    Doc::Calibration => serde_json::to_string(&self.calibration),
                    Doc::Teleology => serde_json::to_string(&self.teleology),
                    Doc::Autonomy => serde_json::to_string(&self.autonomy),
                    Doc::Dreams => serde_json::to_string(&self.dreams),
                    Doc::Judged => serde_json::to_string(&self.judged),
                };
                Ok((doc.key(), text.map_err(Problem::storage)?))
            })
            .collect()
    }

    /// What was learned and what it aims at, for taking it along: documents by their key.
    ///
    /// # Errors
    /// One cannot be written as JSON.
    pub fn learned(&self) -> Outcome<Vec<(&'static str, serde_json::Value)>> {
        let readable = |doc: &Doc| !self.unreadable.contains(doc);
        let docs = [Doc::Learning, Doc::Calibration, Doc::Teleology, Doc::Judged, Doc::Autonomy];
        docs.into_iter()
            .filter(readable)
            .filter(|doc| *doc != Doc::Judged || !self.judged.all.is_empty())
            .map(|doc| {
                let value = match doc {
                    Doc::Learning => serde_json::to_value(&self.learning),
                    Doc::Calibration => serde_json::to_value(&self.calibration),
                    Doc::Teleology => serde_json::to_value(&self.teleology),
                    Doc::Judged => serde_json::to_value(&self.judged),
                    _ => serde_json::to_value(&self.autonomy),
                };
                Ok((doc.key(), value.map_err(Problem::storage)?))
            })
            .collect()
    }

    /// Takes over a document that came along. `false` if it is none of those, or cannot be read.
    pub fn adopt(&mut self, key: &str, value: serde_json::Value) -> bool {
        fn put<T: serde::de::DeserializeOwned>(value: serde_json::Value, place: &mut T) -> bool {
            serde_json::from_value(value).map(|read| *place = read).is_ok()
        }
        let (doc, read) = match key {
            "learning" => (Doc::Learning, put(value, &mut self.learning)),
            "calibration" => (Doc::Calibration, put(value, &mut self.calibration)),
            "teleology" => (Doc::Teleology, put(value, &mut self.teleology)),
            "judged" => (Doc::Judged, put(value, &mut self.judged)),
            "autonomy" => (Doc::Autonomy, put(value, &mut self.autonomy)),
            _ => return false,
        };
        if read {
            self.unreadable.remove(&doc);
            self.touch(doc);
        }
        read
    }

    /// Takes over a document from the store, unless it was changed here meanwhile. One that cannot be read is not there
    /// for those who need it, and stays in the store as it is.
    pub fn take_over(&mut self, key: &str, text: &str) {
        let Some(doc) = Doc::ALL
            .into_iter()
            .find(|doc| doc.key() == key)
            .filter(|doc| !self.changed.contains(doc) && !self.moved.contains(doc))
        else {
            return;
        };
        fn read<T: serde::de::DeserializeOwned>(text: &str, place: &mut T) -> Result<(), serde_json::Error> {
            *place = serde_json::from_str(text)?;
            Ok(())
        }
        let outcome = match doc {
            Doc::Gwt => read(text, &mut self.gwt),
            Doc::Learning => read(text, &mut self.learning),
            Doc::Levels => read(text, &mut self.levels),
            Doc::Calibration => read(text, &mut self.calibration),
            Doc::Teleology => read(text, &mut self.teleology),
            Doc::Autonomy => read(text, &mut self.autonomy),
            Doc::Dreams => read(text, &mut self.dreams),
            Doc::Judged => read(text, &mut self.judged),
        };
        match outcome {
            Ok(()) => {
                self.unreadable.remove(&doc);
            }
            Err(error) => {
                tracing::warn!(key, %error, "a part of the memory's state cannot be read");
                self.unreadable.insert(doc);
            }
        }
    }
}
