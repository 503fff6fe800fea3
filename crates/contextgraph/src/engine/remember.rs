//! Storing a memory: its vectors, its place among others, what there is to learn from it.

use std::sync::Arc;

use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::Space;
use crate::causal;
use crate::embedders::Modality;
use crate::embedders::space::COUNT;
use crate::embedders::temporal;
use crate::error::{Code, Outcome, Problem};
use crate::fingerprint::{Embedding, Fingerprint, Packed};
use crate::graph::edges::{Edge, EdgeKind};
use crate::graph::{Memory, Provenance, Slot};
use crate::johari::Quadrant;
use crate::mind::Doc;
use crate::store::RecordBody;
use crate::utl::coherence::{self, Coherence};
use crate::utl::surprise::{self, Against, Surprise};
use crate::utl::{self, Mood};
use crate::{Id, text};

/// The longest text of a memory, in bytes.
pub(super) const MAX_MEMORY_BYTES: usize = 1 << 20;
/// Memories that a new one is linked with, at most.
const LINKS: usize = 5;
/// Memories that are looked at.
pub(super) const NEAR: usize = 16;
/// Gains that are remembered.
const GAINS: usize = 100;

/// A memory to be stored.
#[derive(Debug, Clone)]
pub struct NewMemory {
    /// The text.
    pub text: String,
    /// Why it is stored.
    pub rationale: Option<String>,
    /// How important it is, in `[0, 1]`.
    pub importance: f64,
    /// What kind of thing it is about.
    pub modality: Modality,
    /// Words to mark it with.
    pub tags: Vec<String>,
    /// Who stores it.
    pub agent: String,
    /// Since when it holds, if not from now.
    pub valid_from: Option<u64>,
}

/// What became of it.
#[derive(Debug, Clone)]
pub struct Remembered {
    /// Its id.
    pub id: Id,
    /// Surprise in each space.
    pub surprise: [Surprise; COUNT],
    /// The mean of that.
    pub entropy: f64,
    /// How well it fits.
    pub coherence: Coherence,
    /// How much was learned; 0 where that was not asked for.
    pub learning: f64,
    /// Where it stands.
    pub quadrant: Quadrant,
    /// What was taken off for haste.
    pub penalty: f64,
    /// Edges that were made.
    pub edges: usize,
    /// Memories that say the contrary.
    pub contradicts: Vec<Id>,
    /// Memories that it replaces: they held until now.
    pub supersedes: Vec<Id>,
    /// How often the same was said, with this time.
    pub count: u64,
    /// What it is on record as, for taking it back.
    pub record: Id,
}

/// Checks a text before anything is done with it.
///
/// # Errors
/// It is empty or too long.
pub(super) fn check(text: &str) -> Outcome<()> {
    if text.trim().is_empty() {
        return Err(Problem::params("`content` must not be empty"));
    }
    if text.len() > MAX_MEMORY_BYTES {
        let message = format!("`content` has {} bytes, at most {MAX_MEMORY_BYTES} are stored: split it", text.len());
        return Err(Problem::new(Code::InvalidParams, "PAYLOAD_TOO_LARGE", message));
    }
    Ok(())
}

impl Space {
    /// Stores a memory. With `learn`, what there is to learn from it moves the state of the mind.
    ///
    /// # Errors
    /// The text cannot be stored.
    pub fn remember(&mut self, new: NewMemory, learn: bool, now: u64) -> Outcome<Remembered> {
        check(&new.text)?;
        super::living::check_marks(&new.tags, new.rationale.as_deref())?;
        let content = self.embedders.content(&new.text, new.modality, &self.graph)?;
        let packed = Arc::new(Packed::of(&content));
        let id = self.new_id(now);
        let threshold = self.mind.calibration.value("theta_memory_sim", crate::thresholds::Domain::General);
        let row = packed.scan_row();
        let near = self.graph.index.by_meaning(&row, NEAR, |_| true);
        let fingerprint = Fingerprint::at(content, now, now, self.graph.place_near(&near[..near.len().min(LINKS)]));
        let surprise = self.surprise(&fingerprint, now)?;
        let entropy = surprise.iter().map(|one| one.value).sum::<f64>() / COUNT as f64;
        let contradicted = self.contradictions(&new.text, &near)?;
        let strongest = contradicted.iter().map(|one| one.1).fold(0.0, f64::max);
        let own = self.cluster_near(&near, threshold);
        let coherence = self.fit(&near, own, 1.0 - strongest);
        let purpose = self.alignments(&packed, now, now)?.unwrap_or([0.0; COUNT]);
        let theta = purpose.iter().sum::<f64>() / COUNT as f64;
        let quadrant_at = self.mind.calibration.value("theta_johari", crate::thresholds::Domain::General);
        let quadrant = Quadrant::of(entropy, coherence.value, quadrant_at);
        if let Some(same) = self.said_before(&new.text, &near)? {
            let record = self.repeat(same, &new, now)?;
            let count = self.memory(same)?.provenance.count;
            let mut remembered = Remembered {
                id: same,
                surprise,
                entropy,
                coherence,
                learning: 0.0,
                quadrant,
                penalty: 0.0,
                edges: 0,
                contradicts: contradicted.iter().map(|one| one.0).filter(|id| *id != same).collect(),
                supersedes: Vec::new(),
                count,
                record,
            };
            if learn {
                let bare = new.rationale.as_deref().is_none_or(|rationale| rationale.trim().is_empty());
                remembered.penalty = if bare { 0.9 } else { 0.4 };
                self.learn(&mut remembered, &new.text, &purpose, now)?;
            }
            return Ok(remembered);
        }
        let memory = Memory {
            id,
            created_at: now,
            updated_at: now,
            last_access: now,
            access_count: 0,
            importance: new.importance as f32,
            modality: new.modality,
            tags: new.tags,
            hash: digest(&new.text),
            bytes: new.text.len() as u64,
            purpose: purpose.map(|value| value as f32),
            theta: theta as f32,
            delta_s: surprise.map(|one| one.value as f32),
            delta_c: coherence.value as f32,
            cluster: own.unwrap_or(id),
            agent: new.agent,
            merged_into: None,
            removed_at: None,
            provenance: Provenance {
                names: Some(crate::names::named(&new.text)),
                valid_from: new.valid_from,
                ..Provenance::default()
            },
        };
        self.graph.put(memory.clone(), &row, packed.e6.clone());
        self.batch.memories.push((memory, Some((row.to_vec(), packed.e6.clone()))));
        let body = RecordBody {
            id,
            content: new.text.clone(),
            rationale: new.rationale.clone(),
            fingerprint: packed.to_bytes(),
        };
        self.batch.bodies.push(body);
        self.keep(id, packed.clone());
        let edges = self.link_new(id, &new.text, &packed, &near, now)?;
        for (other, strength) in &contradicted {
            self.link(Edge::new(id, *other, EdgeKind::Contradicts, *strength, *strength, now));
        }
        let supersedes = self.link_superseded(id, &new.text, &packed, now)?;
        self.mind.calibration.observe("theta_edge", near.first().map_or(0.0, |(_, likeness)| f64::from(*likeness)));
        self.nudge(Doc::Calibration);
        let record = self.record("stored", &json!({"memory": id}), now);
        let mut remembered = Remembered {
            id,
            surprise,
            entropy,
            coherence,
            learning: 0.0,
            quadrant,
            penalty: 0.0,
            edges,
            contradicts: contradicted.iter().map(|one| one.0).collect(),
            supersedes,
            count: 1,
            record,
        };
        if learn {
            let duplicate = near.first().is_some_and(|(_, likeness)| *likeness > 0.9);
            let bare = new.rationale.as_deref().is_none_or(|rationale| rationale.trim().is_empty());
            remembered.penalty = if bare { 0.5 } else { 0.0 } + if duplicate { 0.4 } else { 0.0 };
            self.learn(&mut remembered, &new.text, &purpose, now)?;
        }
        self.push_recent(id, &packed, &new.text, now);
        self.tell("memory.stored", json!({"memory_id": id, "space": self.name}));
        Ok(remembered)
    }

    /// Links a memory by what its text says: with what is alike, with what it denies.
    pub(super) fn link_by_text(&mut self, id: Id, content: &str, packed: &Packed, now: u64) -> Outcome<()> {
        let own = self.graph.slot(id);
        let near = self.graph.index.by_meaning(&packed.scan_row(), NEAR, |slot| Some(slot) != own);
        self.link_new(id, content, packed, &near, now)?;
        for (other, strength) in self.contradictions(content, &near)? {
            self.link(Edge::new(id, other, EdgeKind::Contradicts, strength, strength, now));
        }
        self.link_superseded(id, content, packed, now)?;
        Ok(())
    }

    /// The fingerprint that a text would have if it were stored now.
    ///
    /// # Errors
    /// The text cannot be embedded.
    pub fn fingerprint_of(&mut self, content: &str, now: u64) -> Outcome<Fingerprint> {
        check(content)?;
        let vectors = self.embedders.content(content, Modality::default(), &self.graph)?;
        // As it is kept: two fingerprints of one text are the same, whether it was stored or not.
        let packed = Packed::of(&vectors);
        let near = self.graph.index.by_meaning(&packed.scan_row(), LINKS, |_| true);
        Ok(Fingerprint::at(packed.content(content), now, now, self.graph.place_near(&near)))
    }

    /// Surprise of a fingerprint against what came last.
    ///
    /// # Errors
    /// A vector is missing or no number.
    pub fn surprise(&mut self, fingerprint: &Fingerprint, now: u64) -> Outcome<[Surprise; COUNT]> {
        for (id, recent) in &mut self.recent {
            let created = self.graph.get_any(*id).map_or(now, |memory| memory.created_at);
            recent.spaces[1] = Some(Embedding::Dense(temporal::recent(created as f64 / 1e3, now as f64 / 1e3)));
        }
        let seen: Vec<&Fingerprint> = self.recent.iter().map(|(_, recent)| recent).collect();
        let graph = &self.graph;
        let telling = |term: u16| Self::telling(graph, term);
        let against = Against { seen: &seen, usual: &self.mind.learning.usual, telling: &telling };
        surprise::all(fingerprint, against)
    }

    /// Coherence among neighbours: `own` is the cluster it would belong to.
    fn fit(&self, near: &[(Slot, f32)], own: Option<Id>, consistency: f64) -> Coherence {
        let likenesses: Vec<f64> = near.iter().map(|(_, likeness)| f64::from(*likeness)).collect();
        let connectivity = coherence::connectivity(&likenesses);
        let of_cluster = |same: bool| -> Vec<f64> {
            near.iter()
                .filter(|(slot, _)| self.graph.at(*slot).is_some_and(|memory| (Some(memory.cluster) == own) == same))
                .map(|(_, likeness)| 1.0 - f64::from(*likeness))
                .collect()
        };
        let silhouette =
            if own.is_some() { coherence::silhouette(&of_cluster(true), &of_cluster(false)) } else { None };
        coherence::coherence((!near.is_empty()).then_some(connectivity), silhouette, consistency)
    }

    fn cluster_near(&self, near: &[(Slot, f32)], threshold: f64) -> Option<Id> {
        let (slot, likeness) = near.first()?;
        (f64::from(*likeness) >= threshold).then(|| self.graph.at(*slot).map(|memory| memory.cluster))?
    }

    fn contradictions(&mut self, content: &str, near: &[(Slot, f32)]) -> Outcome<Vec<(Id, f64)>> {
        let close: Vec<(Id, f32)> = near
            .iter()
            .filter(|(_, likeness)| *likeness > 0.5)
            .take(LINKS)
            .filter_map(|(slot, likeness)| Some((self.graph.id(*slot)?, *likeness)))
            .collect();
        let ids: Vec<Id> = close.iter().map(|(id, _)| *id).collect();
        let texts = self.texts(&ids)?;
        Ok(close
            .into_iter()
            .filter_map(|(id, likeness)| {
                let strength = coherence::contradiction(content, texts.get(&id)?, f64::from(likeness));
                (strength > 0.0).then_some((id, strength))
            })
            .collect())
    }

    /// How strongly one memory leads to another.
    pub(crate) fn causal_strength(&self, source: Id, target: Id, from: &Packed, to: &Packed) -> f64 {
        let (a, b) = (self.graph.get(source), self.graph.get(target));
        let empty = (from.e6.is_empty(), to.e6.is_empty());
        let jaccard = (!empty.0 && !empty.1).then(|| f64::from(from.e6.jaccard(&to.e6)));
        let same = |what: fn(&Memory, &Memory) -> bool| a.zip(b).is_some_and(|(a, b)| what(a, b));
        let overlap = causal::overlap(
            jaccard,
            empty.0 != empty.1,
            same(|a, b| a.tags.iter().any(|tag| b.tags.contains(tag))),
            same(|a, b| a.cluster == b.cluster),
        );
        causal::strength(f64::from(from.leads_to(to)), from.direction, to.direction, overlap)
    }

    /// Moves the state of the mind by what came.
    fn learn(&mut self, remembered: &mut Remembered, content: &str, purpose: &[f64; COUNT], now: u64) -> Outcome<()> {
        let (r, _, _) = self.order();
        let mood = match () {
            () if self.mind.levels.is_alert() => Mood::Stressed,
            () if remembered.entropy > 0.7 => Mood::Curious,
            () => Mood::Neutral,
        };
        let learning = &mut self.mind.learning;
        let stage = learning.meta.weights.unwrap_or_else(|| learning.stage.weights());
        let emotion = utl::emotion(content, mood);
        // The angle of learning is 0: a memory that is stored is learned now, whatever the rhythm of sleep.
        let full = utl::learning_at(stage, remembered.entropy, remembered.coherence.value, emotion, 0.0)?;
        let low_prior = if learning.meta.prediction() < 0.1 { 0.3 } else { 0.0 };
        remembered.penalty += low_prior;
        remembered.learning = (full * (1.0 - remembered.penalty)).clamp(0.0, 1.0);
        let step = learning.meta.observe(remembered.learning, stage, learning.watching.acetylcholine);
        let dream = learning.watching.observe(step.predicted, remembered.learning);
        for (usual, one) in learning.usual.iter_mut().zip(&remembered.surprise) {
            usual.add(one.distance);
        }
        learning.averages.add(remembered.entropy, remembered.coherence.value, remembered.learning, remembered.quadrant);
        learning.interactions += 1;
        learning.last_learned = now;
        learning.stage = learning.stage.after(learning.interactions);
        let possible = remembered.entropy.min(remembered.coherence.value).max(1e-6);
        learning.gains.push_back((remembered.learning / possible).min(1.0));
        if learning.gains.len() > GAINS {
            learning.gains.pop_front();
        }
        // Without a goal the purpose of the whole is what it keeps coming back to.
        let towards: [f64; COUNT] = if purpose.iter().any(|value| *value > 0.0) {
            *purpose
        } else {
            std::array::from_fn(|space| 1.0 - remembered.surprise[space].value)
        };
        let first = learning.interactions == 1;
        for (place, value) in learning.purpose.iter_mut().zip(towards) {
            *place += if first { 1.0 } else { 0.1 } * (value - *place);
        }
        let whole = learning.purpose;
        let entropy = learning.averages.entropy;
        self.mind.dreams.scheduler.entropy(entropy, now)?;
        let detection = self.mind.gwt.ego.observe(whole, r, now);
        if detection.entering_critical && detection.can_emit_event {
            self.tell("system.identity.critical", json!({"identity_coherence": detection.identity_coherence}));
        }
        if dream {
            self.tell("system.dream.suggested", json!({"reason": "learning is badly predicted"}));
        }
        if remembered.contradicts.len() > 1 {
            self.mind.levels.threat(now);
        }
        self.touch(Doc::Learning);
        self.touch(Doc::Levels);
        // These hold long histories.
        self.nudge(Doc::Gwt);
        self.nudge(Doc::Dreams);
        Ok(())
    }
}

impl Edge {
    /// A new edge.
    #[must_use]
    pub fn new(source: Id, target: Id, kind: EdgeKind, weight: f64, confidence: f64, now: u64) -> Self {
        let share = |value: f64| value.clamp(0.0, 1.0) as f32;
        Self {
            source,
            target,
            kind,
            weight: share(weight),
            confidence: share(confidence),
            created_at: now,
            updated_at: now,
            path: Vec::new(),
        }
    }
}

/// The digest of a text, in hexadecimal digits.
pub(super) fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Words that a text is about, for descriptions: those that tell most, in the order they stand.
#[must_use]
pub(super) fn key_words(texts: &[&str], most: usize) -> Vec<String> {
    let mut counts: Vec<(String, String, usize)> = Vec::new();
    for word in texts.iter().flat_map(|text| text::words(text)).filter(|word| word.len() > 2 && !text::is_stop(word)) {
        let stem = text::stem(&word);
        match counts.iter_mut().find(|known| known.0 == stem) {
            Some(known) => known.2 += 1,
            None => counts.push((stem, word, 1)),
        }
    }
    let mut order: Vec<usize> = (0..counts.len()).collect();
    order.sort_by(|&a, &b| counts[b].2.cmp(&counts[a].2).then(a.cmp(&b)));
    order.into_iter().take(most).map(|at| counts[at].1.clone()).collect()
}
