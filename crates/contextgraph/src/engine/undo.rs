//! Taking back what was done, by what is on record of it.

use serde_json::{Value, json};

use super::Space;
use crate::Id;
use crate::error::{Code, Outcome, Problem};
use crate::graph::edges::{Edge, EdgeKind};
use crate::mind::Doc;
use crate::neuromodulation::Modulator;
use crate::store::Record;

/// The id of what undoing a record is on record as.
const fn undoing(record: Id) -> Id {
    Id(record.0 ^ 0x5555)
}

impl Space {
    /// Takes back what a record tells of. What was done, in words.
    ///
    /// # Errors
    /// There is no such record, or it cannot be taken back.
    pub fn undo(&mut self, record: Id, now: u64) -> Outcome<String> {
        let found = self
            .storage
            .record(record)?
            .ok_or_else(|| Problem::new(Code::Refused, "NOTHING_TO_UNDO", format!("there is no record {record}")))?;
        let data: Value = serde_json::from_str(&found.data).map_err(Problem::storage)?;
        let id = |value: &Value| value.as_str().and_then(|text| text.parse::<Id>().ok());
        let undoing = undoing(record);
        if self.storage.record(undoing)?.is_some() {
            return Err(Problem::new(Code::Refused, "ALREADY_UNDONE", format!("{record} was undone before")));
        }
        let done = match found.kind.as_str() {
            "forgotten" => {
                let ids: Vec<Id> = data["memories"].as_array().into_iter().flatten().filter_map(id).collect();
                let restored = self.restore(&ids, now)?;
                format!("{restored} forgotten memories are back")
            }
            "updated" => {
                let memory = id(&data["memory"]).ok_or_else(|| Problem::storage("a record without its memory"))?;
                let revision = data["revision"].as_u64().unwrap_or_default();
                self.revert(memory, revision, now)?;
                format!("memory {memory} is what it was at version {revision}")
            }
            "related" | "unrelated" => {
                let kind = data["kind"].as_str().and_then(EdgeKind::from_word);
                let ends = id(&data["source"]).zip(id(&data["target"]));
                let ((source, target), kind) =
                    ends.zip(kind).ok_or_else(|| Problem::storage("a record without its edge"))?;
                if found.kind == "related" {
                    self.unlink(source, target, kind);
                    "the edge is gone".to_owned()
                } else {
                    let number = |key: &str| data[key].as_f64().unwrap_or(1.0);
                    self.link(Edge::new(source, target, kind, number("weight"), number("confidence"), now));
                    "the edge is back".to_owned()
                }
            }
            "repeated" => {
                let memory = id(&data["memory"]).ok_or_else(|| Problem::storage("a record without its memory"))?;
                self.change(memory, |memory| {
                    memory.provenance.count = memory.provenance.count.saturating_sub(1).max(1);
                    memory.provenance.sources.pop();
                })?;
                format!("memory {memory} counts once less")
            }
            "stored" => {
                let memory = id(&data["memory"]).ok_or_else(|| Problem::storage("a record without its memory"))?;
                self.remove(memory, None, now)?;
                format!("memory {memory} was taken out")
            }
            "consolidation" => {
                let merges = data["merges"].as_array().cloned().unwrap_or_default();
                for merge in &merges {
                    if let Some(target) = id(&merge["target_id"]).filter(|target| self.graph.get(*target).is_some()) {
                        self.remove(target, None, now)?;
                    }
                    for source in merge["source_ids"].as_array().into_iter().flatten().filter_map(id) {
                        self.bring_back(source, now)?;
                    }
                }
                format!("{} merges were undone and their sources are back", merges.len())
            }
            "synergy" => {
                let values: Vec<f64> =
                    data["values"].as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
                self.mind.teleology.synergy.restore(&values, data["updates"].as_u64().unwrap_or_default());
                self.mind.judged.take_back(record);
                self.touch(Doc::Teleology);
                self.touch(Doc::Judged);
                "the synergy matrix is as it was".to_owned()
            }
            "correction" => {
                let restored = self.take_correction_back(&data)?;
                format!("{restored} memories have their standing again")
            }
            "coupling" => {
                let old = data["old_K"].as_f64().unwrap_or(2.0);
                self.mind.gwt.network.couple(old);
                self.touch(Doc::Gwt);
                format!("the coupling is {old} again")
            }
            "modulator" => {
                let name = data["modulator"].as_str().unwrap_or_default();
                let modulator = Modulator::from_word(name)?;
                let delta = data["old_level"].as_f64().unwrap_or_default() - self.mind.levels.level(modulator);
                self.mind.levels.adjust(modulator, delta, "undone", now);
                self.touch(Doc::Levels);
                format!("{name} is back at its level")
            }
            "north_star" => {
                self.mind.autonomy.north_star = None;
                self.touch(Doc::Autonomy);
                self.realign(now)?;
                "there is no north star any more".to_owned()
            }
            "profile_deleted" => {
                let profile = data["profile_id"].as_str().unwrap_or_default().to_owned();
                if !self.mind.teleology.profiles.restore(&profile) {
                    return Err(Problem::new(Code::Refused, "NOTHING_TO_UNDO", "the profile is not kept any more"));
                }
                self.touch(Doc::Teleology);
                format!("the profile {profile:?} is back")
            }
            "undo" => return Err(Problem::new(Code::Refused, "NOTHING_TO_UNDO", "an undoing is not undone")),
            other => return Err(Problem::new(Code::Refused, "NOTHING_TO_UNDO", format!("{other} cannot be undone"))),
        };
        // Under an id that follows from the record's own, so that a second undoing is noticed.
        let data = json!({"record": record, "done": done}).to_string();
        self.batch.records.push(Record { id: undoing, at: now, kind: "undo".to_owned(), data });
        Ok(done)
    }

    /// Takes a memory out of the graph, with its edges. It can be brought back.
    ///
    /// # Errors
    /// There is none.
    pub fn remove(&mut self, id: Id, merged_into: Option<Id>, now: u64) -> Outcome<()> {
        self.memory(id)?;
        self.change(id, |memory| {
            memory.removed_at = Some(now);
            memory.updated_at = now;
            memory.merged_into = merged_into;
        })?;
        self.detach(id);
        // What was said of a source of a merge is there again when the merge is undone.
        if merged_into.is_none() {
            self.mind.judged.forget(id);
            self.touch(Doc::Judged);
        }
        for doc in [Doc::Gwt, Doc::Dreams, Doc::Teleology] {
            self.touch(doc);
        }
        self.tell("memory.removed", json!({"memory_id": id, "merged_into": merged_into}));
        Ok(())
    }

    /// Brings a memory back that was taken out. Its edges were kept.
    ///
    /// # Errors
    /// There never was one.
    pub fn bring_back(&mut self, id: Id, now: u64) -> Outcome<()> {
        self.change(id, |memory| {
            memory.removed_at = None;
            memory.merged_into = None;
            memory.updated_at = now;
        })?;
        self.tell("memory.restored", json!({"memory_id": id}));
        Ok(())
    }

    /// Copies the edges of one memory to another, those between the two left out.
    pub(super) fn inherit_edges(&mut self, from: Id, to: Id, now: u64) {
        for (other, kind, weight, confidence, forth) in self.neighbourhood(from) {
            if other == to {
                continue;
            }
            let (source, target) = if forth { (to, other) } else { (other, to) };
            let known = self
                .graph
                .slot(source)
                .zip(self.graph.slot(target))
                .is_some_and(|(a, b)| self.graph.edges.from(a).any(|link| link.target == b && link.kind == kind));
            if !known {
                self.link(Edge::new(source, target, kind, f64::from(weight), f64::from(confidence), now));
            }
        }
    }
}
