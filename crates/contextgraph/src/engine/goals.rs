//! Memories measured by one goal that was found.

use super::Space;
use crate::Id;
use crate::autonomy::goals::Goal;
use crate::embedders::space::COUNT;
use crate::error::{Code, Outcome, Problem};

/// Memories that are measured, the newest.
const SAMPLE: usize = 500;

impl Space {
    /// The north star or another goal that was found.
    ///
    /// # Errors
    /// There is none.
    pub fn goal(&self, id: Id) -> Outcome<Goal> {
        let autonomy = &self.mind.autonomy;
        let found = autonomy.north_star.iter().chain(&autonomy.goals).find(|goal| goal.id == id).cloned();
        found.ok_or_else(|| {
            let message = format!("there is no goal {id}; get_autonomous_status shows the goals that were found");
            Problem::new(Code::Refused, "GOAL_NOT_FOUND", message)
        })
    }

    /// The mean likeness of memories to one goal in each space, and how many there are.
    ///
    /// # Errors
    /// There is no such goal or memory, or the store failed.
    pub fn drift_from(&mut self, goal: Id, only: Option<&[Id]>, now: u64) -> Outcome<([f64; COUNT], usize)> {
        let goal = self.goal(goal)?;
        let ids: Vec<Id> = match only {
            Some(ids) => ids.to_vec(),
            None => self.graph.memories().rev().take(SAMPLE).map(|(_, memory)| memory.id).collect(),
        };
        let mut sums = [0.0; COUNT];
        for id in &ids {
            let created = self.memory(*id)?.created_at;
            let packed = self.packed(*id)?;
            let near = self.near_goal(&packed, &goal, created, 0.0, now)?;
            sums.iter_mut().zip(near).for_each(|(sum, value)| *sum += value / ids.len() as f64);
        }
        Ok((sums, ids.len()))
    }
}
