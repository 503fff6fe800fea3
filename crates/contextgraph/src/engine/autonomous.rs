//! What the memory does about itself: finding goals, measuring and correcting drift, merging what says the same.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::json;

use super::Space;
use super::remember::{MAX_MEMORY_BYTES, key_words};
use crate::Id;
use crate::autonomy::clusters::{self, Cluster};
use crate::autonomy::consolidation;
use crate::autonomy::drift::{self, Correction, Severity, Trend};
use crate::autonomy::goals::{self, Goal, GoalLevel};
use crate::embedders::space::COUNT;
use crate::error::Outcome;
use crate::fingerprint::Packed;
use crate::graph::{Memory, MemorySource, Provenance};
use crate::mind::Doc;
use crate::store::RecordBody;

/// Memories that goals are looked for in.
const SAMPLE: usize = 500;
/// Memories of the smallest cluster that counts.
const SMALLEST: usize = 3;
/// The least coherence of a cluster that counts.
const FIRM: f64 = 0.5;
/// Goals that are kept.
const GOALS: usize = 50;

/// A goal and the memories it stands for.
#[derive(Debug, Clone)]
pub struct GoalFound {
    /// The goal.
    pub goal: Goal,
    /// Its memories.
    pub members: Vec<Id>,
}

/// One merge.
#[derive(Debug, Clone, serde::Serialize)]
#[expect(missing_docs, reason = "the words say it")]
pub struct Merge {
    pub source_ids: Vec<Id>,
    pub target_id: Id,
    pub similarity: f64,
    pub combined_alignment: f64,
}

/// What consolidation came to.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the words say it")]
pub struct Consolidated {
    pub merges: Vec<Merge>,
    pub pairs_evaluated: usize,
    pub analyzed: usize,
    pub limited: bool,
    pub record: Option<Id>,
}

/// What a correction of drift came to.
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "the words say it")]
pub struct Corrected {
    pub correction: Correction,
    pub before: f64,
    pub after: f64,
    pub moved: usize,
    pub record: Id,
}

struct Item {
    id: Id,
    packed: Arc<Packed>,
    created: f64,
}

struct Centre {
    packed: Packed,
    created: f64,
}

impl Space {
    fn items(&mut self, ids: &[Id]) -> Outcome<Vec<Item>> {
        let mut items = Vec::with_capacity(ids.len());
        for (id, packed) in self.packed_many(ids)? {
            let created = self.memory(id)?.created_at as f64 / 1e3;
            items.push(Item { id, packed, created });
        }
        Ok(items)
    }

    /// How alike two are, with times left out: what searching measures. The graph counts as alike.
    pub(super) fn alike(weights: &[f64; COUNT], a: &Packed, b: &Packed) -> f64 {
        let spaces = a.likenesses(b, (0.0, 0.0, 0.0), 1.0, true);
        spaces.iter().zip(weights).map(|(likeness, weight)| f64::from(*likeness) * weight).sum()
    }

    /// Goals in the memories: of these, or of all (a sample of the newest). Highest confidence first. `stop` is asked now and then.
    ///
    /// # Errors
    /// A memory is not there, or the store failed.
    pub fn discover(
        &mut self,
        only: Option<&[Id]>,
        now: u64,
        stop: &dyn Fn() -> bool,
    ) -> Outcome<(usize, usize, Vec<GoalFound>)> {
        let ids: Vec<Id> = match only {
            Some(ids) => ids.to_vec(),
            None => self.graph.memories().rev().take(SAMPLE).map(|(_, memory)| memory.id).collect(),
        };
        for id in only.unwrap_or_default() {
            self.memory(*id)?;
        }
        let items = self.items(&ids)?;
        if items.len() < SMALLEST {
            return Ok((items.len(), 0, Vec::new()));
        }
        let weights = self.search_weights();
        let found: Vec<Cluster<Centre>> = clusters::cluster(
            &items,
            clusters::count(items.len(), SMALLEST),
            |item, centre: &Centre| Self::alike(&weights, &item.packed, &centre.packed),
            |members| {
                let all: Vec<(&Packed, f32)> = members.iter().map(|item| (&*item.packed, 1.0)).collect();
                let times: Vec<f64> = members.iter().map(|item| item.created).collect();
                Some(Centre { packed: Packed::mean(&all)?, created: crate::vector::mean(&times) })
            },
            stop,
        );
        let count = found.len();
        let mut out = Vec::new();
        for cluster in
            found.into_iter().filter(|cluster| cluster.members.len() >= SMALLEST && cluster.coherence >= FIRM)
        {
            let members: Vec<Id> = cluster.members.iter().map(|&at| items[at].id).collect();
            let views: Vec<&Packed> = cluster.members.iter().map(|&at| &*items[at].packed).collect();
            let dominant = goals::firm_spaces(&Packed::firmness(&views));
            let texts = self.texts(&members)?;
            let views: Vec<&str> = members.iter().filter_map(|id| texts.get(id).map(String::as_str)).collect();
            let goal = Goal {
                id: self.new_id(now),
                description: format!("Theme: {}", key_words(&views, 5).join(", ")),
                level: GoalLevel::of(members.len(), cluster.coherence),
                confidence: goals::confidence(cluster.coherence, members.len(), dominant.len()),
                coherence: cluster.coherence,
                members: members.len(),
                member_ids: members.clone(),
                dominant,
                parent: None,
                created_at: (cluster.centre.created * 1e3) as u64,
                centre: cluster.centre.packed.to_bytes(),
            };
            out.push(GoalFound { goal, members });
        }
        out.sort_by(|a, b| b.goal.confidence.total_cmp(&a.goal.confidence).then(b.goal.members.cmp(&a.goal.members)));
        self.mind.autonomy.last_discovery = Some(now);
        self.touch(Doc::Autonomy);
        Ok((items.len(), count, out))
    }

    /// The best parent of a goal among those of a higher level, with how alike they are.
    ///
    /// # Errors
    /// A goal cannot be read.
    pub fn parent_of(&mut self, goal: &Goal, among: &[Goal]) -> Outcome<Option<(Id, f64)>> {
        let weights = self.search_weights();
        let own = self.goal_vectors(goal)?;
        let mut best: Option<(Id, f64)> = None;
        for other in among.iter().filter(|other| other.level > goal.level && other.id != goal.id) {
            let theirs = self.goal_vectors(other)?;
            let alike = Self::alike(&weights, &own, &theirs);
            if alike >= 0.5 && best.is_none_or(|best| alike > best.1) {
                best = Some((other.id, alike));
            }
        }
        Ok(best)
    }

    /// Keeps goals that were found.
    pub fn keep_goals(&mut self, found: &[Goal]) {
        let goals = &mut self.mind.autonomy.goals;
        for goal in found {
            goals.retain(|known| known.description != goal.description);
            goals.push(goal.clone());
        }
        let extra = goals.len().saturating_sub(GOALS);
        goals.drain(..extra);
        self.touch(Doc::Autonomy);
    }

    /// Makes a goal the north star and measures everything by it. The record by which it can be undone.
    ///
    /// # Errors
    /// The store failed.
    pub fn follow(&mut self, goal: Goal, now: u64) -> Outcome<Id> {
        let id = goal.id;
        self.mind.autonomy.north_star = Some(Goal { level: GoalLevel::NorthStar, ..goal });
        self.touch(Doc::Autonomy);
        self.realign(now)?;
        self.begin_drift(now)?;
        let record = self.record("north_star", &json!({"goal_id": id}), now);
        self.tell("system.north_star.set", json!({"goal_id": id}));
        Ok(record)
    }

    /// The mean likeness of memories to the north star in each space, or without one to their own middle. How many there are.
    ///
    /// # Errors
    /// A memory is not there, or the store failed.
    pub fn drift_now(&mut self, only: Option<&[Id]>, now: u64) -> Outcome<([f64; COUNT], usize)> {
        let ids: Vec<Id> = match only {
            Some(ids) => ids.to_vec(),
            None => self.graph.memories().rev().take(SAMPLE).map(|(_, memory)| memory.id).collect(),
        };
        for id in only.unwrap_or_default() {
            self.memory(*id)?;
        }
        if self.mind.autonomy.north_star.is_some() {
            let mut sums = [0.0; COUNT];
            let total: f64 = ids.iter().map(|id| self.standing(*id)).sum();
            for id in &ids {
                let (aligned, share) = (self.memory_alignments(*id, now)?, self.standing(*id) / total.max(1e-9));
                sums.iter_mut().zip(aligned).for_each(|(sum, value)| *sum += value * share);
            }
            return Ok((sums, ids.len()));
        }
        let items = self.items(&ids)?;
        let all: Vec<(&Packed, f32)> = items.iter().map(|item| (&*item.packed, 1.0)).collect();
        let Some(centre) = Packed::mean(&all) else { return Ok(([0.0; COUNT], 0)) };
        let middle = crate::vector::mean(&items.iter().map(|item| item.created).collect::<Vec<_>>());
        let mut sums = [0.0; COUNT];
        let total: f64 = items.iter().map(|item| self.standing(item.id)).sum();
        for item in &items {
            let times = (item.created, middle, now as f64 / 1e3);
            let near = item.packed.likenesses(&centre, times, self.connected(item.id), true);
            let share = self.standing(item.id) / total.max(1e-9);
            sums.iter_mut().zip(near).for_each(|(sum, value)| *sum += f64::from(value) * share);
        }
        Ok((sums, items.len()))
    }

    /// Without a goal, a place in the graph is near the middle if it is connected at all.
    fn connected(&self, id: Id) -> f32 {
        let degree = self.graph.slot(id).map_or(0, |slot| self.graph.edges.degree(slot));
        (degree as f32 / 5.0).min(1.0)
    }

    /// What a memory counts in the mean: how important it is.
    fn standing(&self, id: Id) -> f64 {
        self.graph.get(id).map_or(0.0, |memory| f64::from(memory.importance).max(0.05))
    }

    /// The alignment of likenesses: their mean over the spaces.
    #[must_use]
    pub fn aligned(&self, similarities: &[f64; COUNT]) -> f64 {
        drift::alignment(similarities, &[1.0; COUNT])
    }

    /// Takes alignment as it is now as what later looks are measured against.
    ///
    /// # Errors
    /// The store failed.
    pub fn begin_drift(&mut self, now: u64) -> Outcome<()> {
        let (similarities, analyzed) = self.drift_now(None, now)?;
        if analyzed > 0 {
            let overall = self.aligned(&similarities);
            self.mind.autonomy.drift.begin(now, overall, similarities);
            self.touch(Doc::Autonomy);
        }
        Ok(())
    }

    /// Corrects drift: memories near the goal gain importance, others lose some; what is measured with stays. What was done, alignment
    /// before and after, how many memories moved, and the record by which it can be undone.
    ///
    /// # Errors
    /// The store failed.
    pub fn correct(&mut self, severity: Severity, trend: Trend, force: bool, now: u64) -> Outcome<Corrected> {
        let (similarities, _) = self.drift_now(None, now)?;
        let before = self.aligned(&similarities);
        let mut correction = Correction::of(severity, trend);
        if force && correction == Correction::NoAction {
            correction = Correction::Reinforce(1.1);
        }
        let domain = crate::thresholds::Domain::General;
        let accepted = self.mind.calibration.value("theta_acc", domain);
        let step = match correction {
            Correction::NoAction => 0.0,
            Correction::Reinforce(factor) => (factor - 1.0) / 2.0,
            Correction::Threshold(shift) => {
                // What counts as likely is held higher from now on, beside what memories count.
                let history = &mut self.mind.autonomy.drift;
                history.threshold_shift = (history.threshold_shift + shift).clamp(-0.2, 0.2);
                self.mind.calibration.set(domain, "theta_acc", accepted + shift);
                self.touch(Doc::Calibration);
                shift
            }
            Correction::EmergencyIntervention => {
                // A person is told: this is not something to be turned at quietly.
                self.tell("system.drift.severe", json!({"alignment": before}));
                0.25
            }
        };
        let moved = self.reinforce(step, now)?;
        let (similarities, _) = self.drift_now(None, now)?;
        let after = self.aligned(&similarities);
        self.mind.autonomy.corrections += 1;
        self.mind.autonomy.corrections_done += u64::from(after - before >= 0.01);
        self.mind.autonomy.drift.add(now, after);
        self.touch(Doc::Autonomy);
        let told = json!({
            "strategy": correction.name(), "before": before, "after": after, "theta_acc": accepted, "importance": moved,
            "shift": match correction { Correction::Threshold(shift) => shift, _ => 0.0 },
        });
        let record = self.record("correction", &told, now);
        Ok(Corrected { correction, before, after, moved: moved.len(), record })
    }

    /// Moves what memories count by how near they are to the goal. Those that moved, with what they counted before.
    fn reinforce(&mut self, step: f64, now: u64) -> Outcome<Vec<(Id, f32)>> {
        if step <= 0.0 {
            return Ok(Vec::new());
        }
        let ids: Vec<Id> = self.graph.memories().rev().take(SAMPLE).map(|(_, memory)| memory.id).collect();
        let mut memories = Vec::with_capacity(ids.len());
        for id in &ids {
            let aligned = crate::vector::mean(&self.memory_alignments(*id, now)?);
            memories.push((f64::from(self.memory(*id)?.importance), aligned));
        }
        let mut moved = Vec::new();
        for ((id, (old, _)), new) in ids.iter().zip(&memories).zip(drift::reinforced(&memories, step)) {
            if (new - old).abs() > 1e-9 {
                moved.push((*id, *old as f32));
                self.change(*id, |memory| memory.importance = new as f32)?;
            }
        }
        Ok(moved)
    }

    /// Takes a correction back. How many memories it had moved.
    ///
    /// # Errors
    /// What is on record cannot be read.
    pub(super) fn take_correction_back(&mut self, data: &serde_json::Value) -> Outcome<usize> {
        let moved: Vec<(Id, f32)> = serde_json::from_value(data["importance"].clone()).unwrap_or_default();
        let mut restored = 0;
        for (id, old) in moved {
            if self.graph.get_any(id).is_some() {
                self.change(id, |memory| memory.importance = old)?;
                restored += 1;
            }
        }
        if let (Some(shift), Some(accepted)) =
            (data["shift"].as_f64().filter(|s| *s != 0.0), data["theta_acc"].as_f64())
        {
            self.mind.autonomy.drift.threshold_shift -= shift;
            self.mind.calibration.set(crate::thresholds::Domain::General, "theta_acc", accepted);
            self.touch(Doc::Calibration);
        }
        self.touch(Doc::Autonomy);
        Ok(restored)
    }

    /// Makes one memory of several. The others are taken out and can be brought back.
    pub(super) fn merge(&mut self, members: &[Id], similarity: f64, now: u64) -> Outcome<Option<Merge>> {
        let mut known: Vec<Memory> = members.iter().map(|id| self.memory(*id).cloned()).collect::<Outcome<_>>()?;
        known.sort_by_key(|memory| memory.created_at);
        let texts = self.texts(members)?;
        let views: Vec<&str> = known.iter().filter_map(|memory| texts.get(&memory.id).map(String::as_str)).collect();
        let content = consolidation::merged_text(&views);
        let Some(first) = known.first().cloned().filter(|_| content.len() <= MAX_MEMORY_BYTES) else { return Ok(None) };
        let vectors = self.packed_many(&known.iter().map(|memory| memory.id).collect::<Vec<_>>())?;
        let weighted: Vec<(&Packed, f32)> = vectors
            .iter()
            .zip(&known)
            .map(|((_, packed), memory)| (&**packed, memory.access_count as f32 + 1.0))
            .collect();
        let Some(packed) = Packed::mean(&weighted).map(Arc::new) else { return Ok(None) };
        let alignments: Vec<f64> = known.iter().map(|memory| f64::from(memory.theta)).collect();
        let combined = consolidation::merged_alignment(&alignments);
        let id = self.new_id(now);
        let mut tags: Vec<String> = known.iter().flat_map(|memory| memory.tags.clone()).collect();
        tags.sort();
        tags.dedup();
        let digest: String = {
            use sha2::Digest as _;
            sha2::Sha256::digest(content.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
        };
        let memory = Memory {
            id,
            updated_at: now,
            last_access: known.iter().map(|memory| memory.last_access).max().unwrap_or(now),
            access_count: known.iter().map(|memory| memory.access_count).sum(),
            importance: known.iter().map(|memory| memory.importance).fold(0.0, f32::max),
            tags,
            hash: digest,
            bytes: content.len() as u64,
            theta: combined as f32,
            provenance: merged_provenance(&known, &content),
            ..first
        };
        let row = packed.scan_row();
        self.graph.put(memory.clone(), &row, packed.e6.clone());
        self.batch.memories.push((memory, Some((row.to_vec(), packed.e6.clone()))));
        let rationale = Some(format!("merged from {} memories", known.len()));
        let fingerprint = packed.to_bytes();
        self.batch.bodies.push(RecordBody { id, content: content.clone(), rationale, fingerprint });
        self.keep(id, packed.clone());
        for source in &known {
            self.inherit_edges(source.id, id, now);
            self.remove(source.id, Some(id), now)?;
        }
        self.push_recent(id, &packed, &content, now);
        let source_ids = known.iter().map(|memory| memory.id).collect();
        Ok(Some(Merge { source_ids, target_id: id, similarity, combined_alignment: combined }))
    }
}

/// Where a merged memory comes from: all of its sources with their dates, and how often all of them were said.
fn merged_provenance(known: &[Memory], content: &str) -> Provenance {
    let mut provenance = Provenance {
        count: known.iter().map(|memory| memory.provenance.count).sum(),
        valid_from: known.iter().filter_map(|memory| memory.provenance.valid_from).min(),
        valid_to: known.iter().filter_map(|memory| memory.provenance.valid_to).max(),
        names: Some(crate::names::named(content)),
        ..Provenance::default()
    };
    for memory in known {
        provenance.add_source(MemorySource { id: Some(memory.id), at: memory.created_at, agent: memory.agent.clone() });
        memory.provenance.sources.iter().cloned().for_each(|source| provenance.add_source(source));
    }
    provenance
}

/// Pairs as groups: who is in a pair with one of a group belongs to it. With each group its lowest similarity.
pub(super) fn grouped(pairs: &[(f64, Id, Id)]) -> Vec<(Vec<Id>, f64)> {
    let mut owner: BTreeMap<Id, usize> = BTreeMap::new();
    let mut groups: Vec<(Vec<Id>, f64)> = Vec::new();
    for (similarity, a, b) in pairs {
        match (owner.get(a).copied(), owner.get(b).copied()) {
            (None, None) => {
                owner.insert(*a, groups.len());
                owner.insert(*b, groups.len());
                groups.push((vec![*a, *b], *similarity));
            }
            (Some(group), None) | (None, Some(group)) => {
                let new = if owner.contains_key(a) { b } else { a };
                owner.insert(*new, group);
                groups[group].0.push(*new);
                groups[group].1 = groups[group].1.min(*similarity);
            }
            (Some(x), Some(y)) if x != y => {
                let (moved, lowest) = std::mem::take(&mut groups[y]);
                for id in &moved {
                    owner.insert(*id, x);
                }
                groups[x].0.extend(moved);
                groups[x].1 = groups[x].1.min(lowest).min(*similarity);
            }
            (Some(_), Some(_)) => {}
        }
    }
    groups.retain(|group| !group.0.is_empty());
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_become_groups() {
        let pairs = [
            (0.9, Id(1), Id(2)),
            (0.95, Id(3), Id(4)),
            (0.88, Id(2), Id(3)),
            (0.97, Id(8), Id(9)),
            (0.9, Id(1), Id(3)),
        ];
        let mut found: Vec<(Vec<Id>, f64)> = grouped(&pairs);
        found.iter_mut().for_each(|group| group.0.sort());
        assert_eq!(found, [(vec![Id(1), Id(2), Id(3), Id(4)], 0.88), (vec![Id(8), Id(9)], 0.97)]);
    }
}
