//! Erasing: a memory goes for good, with its text, its vectors, its words, its history, and everything on record that names it.
//!
//! A memory that others were merged into holds their texts: whoever erases it erases them. One that was merged into another is
//! taken out of that by undoing the merge: the others come back.

use std::collections::BTreeSet;

use serde_json::json;

use super::Space;
use super::remember::key_words;
use crate::autonomy::goals::Goal;
use crate::error::{Code, Outcome, Problem};
use crate::fingerprint::Packed;
use crate::graph::Memory;
use crate::mind::Doc;
use crate::{Id, text};

/// How long to wait before the files are tried again, in milliseconds.
const RETRY_MS: u64 = 60_000;

impl Space {
    /// Erases memories. All that were erased: those that were merged into them as well. `may` says whether whoever asks may
    /// erase one.
    ///
    /// # Errors
    /// One is not there, or may not be erased; then none is.
    pub fn erase(&mut self, ids: &[Id], may: &dyn Fn(&Memory) -> bool, now: u64) -> Outcome<Vec<Id>> {
        let (mut going, mut dissolved): (BTreeSet<Id>, BTreeSet<Id>) = (BTreeSet::new(), BTreeSet::new());
        let mut queue: Vec<Id> = ids.to_vec();
        while let Some(id) = queue.pop() {
            if self.erased.contains(&id) || !going.insert(id) {
                continue;
            }
            let memory = self.graph.get_any(id).ok_or_else(|| Problem::no_memory(id))?;
            if !may(memory) {
                let message =
                    format!("memory {id} was stored by {:?}: only they or the owner may erase it", memory.agent);
                return Err(Problem::new(Code::InvalidParams, "MEMORY_NOT_YOURS", message));
            }
            let mut above = memory.merged_into;
            while let Some(into) = above.filter(|into| dissolved.insert(*into)) {
                above = self.graph.get_any(into).and_then(|memory| memory.merged_into);
            }
            queue.extend(self.merged_into(id));
        }
        dissolved.retain(|id| !going.contains(id) && !self.erased.contains(id));
        let siblings: Vec<Id> = dissolved
            .iter()
            .flat_map(|into| self.merged_into(*into))
            .filter(|id| !going.contains(id) && !dissolved.contains(id))
            .collect();
        for id in siblings {
            self.bring_back(id, now)?;
        }
        let all: Vec<Id> = going.into_iter().chain(dissolved).collect();
        let texts: Vec<String> = self.storage.bodies(&all)?.into_iter().map(|body| body.content).collect();
        for id in &all {
            self.drop_erased(*id);
            self.batch.memories.retain(|(memory, _)| memory.id != *id);
            self.batch.bodies.retain(|body| body.id != *id);
            self.batch.erased.push(*id);
        }
        self.asked.clear();
        for doc in [Doc::Gwt, Doc::Dreams, Doc::Teleology, Doc::Judged, Doc::Calibration] {
            self.touch(doc);
        }
        self.reword_goals(&all, &texts, now)?;
        if !all.is_empty() {
            self.remains = true;
            self.record("erased", &json!({"count": all.len()}), now);
            self.tell("memory.erased", json!({"memory_ids": all}));
        }
        Ok(all)
    }

    fn merged_into(&self, id: Id) -> Vec<Id> {
        self.graph.everything().filter(|memory| memory.merged_into == Some(id)).map(|memory| memory.id).collect()
    }

    /// Drops everything that is held of a memory here.
    pub(super) fn drop_erased(&mut self, id: Id) {
        self.detach(id);
        self.mind.judged.forget(id);
        self.mind.calibration.forget(id);
        self.graph.erase(id);
        self.cache.remove(&id);
        self.cached.retain(|cached| *cached != id);
        self.erased.insert(id);
    }

    /// Lets go of a memory where it is at work.
    pub(super) fn detach(&mut self, id: Id) {
        self.recent.retain(|(recent, _)| *recent != id);
        self.mind.gwt.workspace.forget(id);
        self.mind.dreams.paths.forget(id);
        self.mind.teleology.fused.remove(&id);
    }

    /// The descriptions of goals are made of words of memories: they are made again without those that went.
    fn reword_goals(&mut self, ids: &[Id], texts: &[String], now: u64) -> Outcome<()> {
        let gone: BTreeSet<String> = texts.iter().flat_map(|text| text::words(text)).collect();
        let star = self.mind.autonomy.north_star.take();
        let goals = std::mem::take(&mut self.mind.autonomy.goals);
        let had_star = star.is_some();
        self.mind.autonomy.goals =
            goals.into_iter().filter_map(|goal| self.reworded(goal, ids, &gone).transpose()).collect::<Outcome<_>>()?;
        self.mind.autonomy.north_star =
            star.and_then(|goal| self.reworded(goal, ids, &gone).transpose()).transpose()?;
        self.touch(Doc::Autonomy);
        if had_star && self.mind.autonomy.north_star.is_none() {
            self.realign(now)?;
        }
        Ok(())
    }

    fn reworded(&mut self, mut goal: Goal, ids: &[Id], gone: &BTreeSet<String>) -> Outcome<Option<Goal>> {
        let before = goal.member_ids.len();
        goal.member_ids.retain(|id| !ids.contains(id));
        let holds = text::words(&goal.description).any(|word| gone.contains(&word));
        if before == goal.member_ids.len() && !holds {
            return Ok(Some(goal));
        }
        if before > 0 && goal.member_ids.is_empty() {
            return Ok(None);
        }
        let there = goal.member_ids.clone();
        let known = self.texts(&there)?;
        let views: Vec<&str> = there.iter().filter_map(|id| known.get(id).map(String::as_str)).collect();
        if views.is_empty() {
            // One of an earlier version does not know its members.
            let words: Vec<String> = text::words(goal.description.trim_start_matches("Theme:"))
                .filter(|word| !gone.contains(word))
                .collect();
            goal.description = format!("Theme: {}", words.join(", "));
            return Ok(Some(goal));
        }
        goal.description = format!("Theme: {}", key_words(&views, 5).join(", "));
        goal.members = goal.member_ids.len();
        let packed = self.packed_many(&there)?;
        let all: Vec<(&Packed, f32)> = packed.iter().map(|(_, packed)| (&**packed, 1.0)).collect();
        if let Some(centre) = Packed::mean(&all) {
            goal.centre = centre.to_bytes();
        }
        Ok(Some(goal))
    }

    /// Overwrites what erased memories left in the files of the store.
    pub(super) fn scrub(&mut self) {
        if !self.remains {
            return;
        }
        match self.storage.scrub() {
            Ok(done) => self.remains = !done,
            Err(problem) => tracing::warn!(error = %problem, "what was erased could not be overwritten yet"),
        }
    }

    /// Tries again to overwrite what erased memories left, if it is time.
    pub(super) fn scrub_due(&mut self, now: u64) {
        if self.remains && now.saturating_sub(self.scrubbed_at) >= RETRY_MS {
            self.scrubbed_at = now;
            self.scrub();
        }
    }

    /// Whether nothing of erased memories is left in the files of the store.
    #[must_use]
    pub const fn is_scrubbed(&self) -> bool {
        !self.remains
    }
}
