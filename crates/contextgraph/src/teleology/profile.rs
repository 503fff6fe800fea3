//! Profiles: how much each space counts for a kind of task. Three come with the memory and stay.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::embedders::space::COUNT;
use crate::error::{Code, Outcome, Problem};

/// Profiles there may be.
pub const MAX_PROFILES: usize = 100;
/// All spaces alike.
pub const UNIFORM: [f64; COUNT] = [1.0 / COUNT as f64; COUNT];
/// Kinds of task.
pub const TASKS: [&str; 7] =
    ["code_implementation", "research", "creative", "analysis", "debugging", "documentation", "custom"];

/// A profile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the words say it")]
pub struct TeleologyProfile {
    pub profile_id: String,
    pub name: String,
    pub task_type: String,
    pub embedder_weights: [f64; COUNT],
    #[serde(default)]
    pub group_priorities: BTreeMap<String, f64>,
    pub fusion_strategy: String,
    pub built_in: bool,
}

/// The profiles of a space.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TeleologyProfiles {
    all: BTreeMap<String, TeleologyProfile>,
    /// Those that were deleted last, to be brought back.
    deleted: Vec<TeleologyProfile>,
}

/// Weights as shares that sum to one.
///
/// # Errors
/// One is negative or no number, or all are zero.
pub fn shares(weights: &[f64]) -> Outcome<[f64; COUNT]> {
    let weights: [f64; COUNT] =
        weights.try_into().map_err(|_| Problem::params(format!("13 weights are needed, not {}", weights.len())))?;
    if weights.iter().any(|weight| !weight.is_finite() || *weight < 0.0) {
        return Err(Problem::params("weights are numbers that are not negative"));
    }
    let sum: f64 = weights.iter().sum();
    if sum <= 0.0 {
        return Err(Problem::params("at least one weight must be above zero"));
    }
    Ok(weights.map(|weight| weight / sum))
}

impl Default for TeleologyProfiles {
    fn default() -> Self {
        // E1 E2 E3 E4 E5 E6 E7 E8 E9 E10 E11 E12 E13
        const BUILT_IN: [(&str, &str, &str, [f64; COUNT]); 3] = [
            (
                "code_implementation",
                "Code implementation",
                "code_implementation",
                [0.10, 0.02, 0.02, 0.05, 0.15, 0.08, 0.25, 0.05, 0.03, 0.02, 0.05, 0.13, 0.05],
            ),
            (
                "research_analysis",
                "Research and analysis",
                "research",
                [0.20, 0.05, 0.02, 0.06, 0.18, 0.05, 0.03, 0.10, 0.02, 0.03, 0.12, 0.10, 0.04],
            ),
            (
                "creative_writing",
                "Creative writing",
                "creative",
                [0.22, 0.05, 0.03, 0.04, 0.05, 0.04, 0.02, 0.12, 0.10, 0.20, 0.06, 0.04, 0.03],
            ),
        ];
        let all = BUILT_IN.map(|(id, name, task, weights)| {
            let sum: f64 = weights.iter().sum();
            let profile = TeleologyProfile {
                profile_id: id.to_owned(),
                name: name.to_owned(),
                task_type: task.to_owned(),
                embedder_weights: weights.map(|weight| weight / sum),
                group_priorities: BTreeMap::new(),
                fusion_strategy: "hierarchical".to_owned(),
                built_in: true,
            };
            (id.to_owned(), profile)
        });
        Self { all: all.into(), deleted: Vec::new() }
    }
}

impl TeleologyProfiles {
    /// A profile.
    ///
    /// # Errors
    /// There is none of that id.
    pub fn get(&self, id: &str) -> Outcome<&TeleologyProfile> {
        self.all.get(id).ok_or_else(|| {
            let known: Vec<&str> = self.all.keys().map(String::as_str).collect();
            let message = format!("there is no profile {id:?}; there are {}", known.join(", "));
            Problem::new(Code::Refused, "PROFILE_NOT_FOUND", message)
        })
    }

    /// All of them, by id.
    pub fn iter(&self) -> impl Iterator<Item = &TeleologyProfile> {
        self.all.values()
    }

    /// Adds a profile.
    ///
    /// # Errors
    /// There is one already, or there are too many.
    pub fn create(&mut self, profile: TeleologyProfile) -> Outcome<&TeleologyProfile> {
        let refuse = |kind, message| Err(Problem::new(Code::Refused, kind, message));
        let id = profile.profile_id.clone();
        if self.all.contains_key(&id) {
            return refuse("PROFILE_EXISTS", format!("there is a profile {id:?} already: update it"));
        }
        if self.all.len() >= MAX_PROFILES {
            return refuse("TOO_MANY_PROFILES", format!("there are {MAX_PROFILES} profiles already: delete one"));
        }
        Ok(self.all.entry(id).or_insert(profile))
    }

    /// Changes a profile.
    ///
    /// # Errors
    /// There is none of that id.
    pub fn update(&mut self, id: &str, change: impl FnOnce(&mut TeleologyProfile)) -> Outcome<&TeleologyProfile> {
        self.get(id)?;
        match self.all.get_mut(id) {
            Some(profile) => {
                change(profile);
                Ok(profile)
            }
            None => Err(Problem::new(Code::Internal, "INTERNAL_ERROR", "the profile is gone")),
        }
    }

    /// Deletes a profile. It can be brought back until twenty others were deleted.
    ///
    /// # Errors
    /// There is none of that id, or it came with the memory.
    pub fn delete(&mut self, id: &str) -> Outcome<()> {
        if self.get(id)?.built_in {
            let message = format!("{id:?} came with the memory and cannot be deleted; it can be updated");
            return Err(Problem::new(Code::Refused, "PROFILE_BUILT_IN", message));
        }
        if let Some(profile) = self.all.remove(id) {
            self.deleted.push(profile);
            if self.deleted.len() > 20 {
                self.deleted.remove(0);
            }
        }
        Ok(())
    }

    /// Brings a deleted profile back. Whether there was one.
    pub fn restore(&mut self, id: &str) -> bool {
        let found = self.deleted.iter().rposition(|profile| profile.profile_id == id);
        let Some(profile) = found.map(|at| self.deleted.remove(at)) else { return false };
        self.all.entry(profile.profile_id.clone()).or_insert(profile);
        true
    }

    /// The profile that fits a text best: 0.2 for each of its words in name, task or id, at most 1; the first of the built-in
    /// ones with 0.1 where nothing fits.
    #[must_use]
    pub fn best(&self, text: &str) -> Option<(&TeleologyProfile, f64)> {
        let stems = crate::text::stems(text);
        let score = |profile: &TeleologyProfile| {
            let own = crate::text::stems(&format!(
                "{} {} {}",
                profile.name,
                profile.task_type.replace('_', " "),
                hints(&profile.task_type)
            ));
            (0.2 * stems.iter().filter(|stem| own.contains(stem)).count() as f64).min(1.0)
        };
        let best = self.all.values().map(|profile| (profile, score(profile))).fold(
            None,
            |best: Option<(&TeleologyProfile, f64)>, next| {
                if best.is_none_or(|best| next.1 > best.1) { Some(next) } else { best }
            },
        )?;
        if best.1 > 0.0 { Some(best) } else { Some((self.all.get("code_implementation")?, 0.1)) }
    }
}

/// Words that tell of a kind of task.
fn hints(task: &str) -> &'static str {
    match task {
        "code_implementation" => "implement function bug compile refactor api class test code",
        "research" => "study paper evidence source compare investigate question why analysis",
        "creative" => "story poem write idea design imagine style",
        "analysis" => "data measure metric report trend statistics",
        "debugging" => "error crash fix trace stack fail bug debug",
        "documentation" => "document guide readme explain manual",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_profiles_stay_and_others_come_and_go() {
        let mut profiles = TeleologyProfiles::default();
        assert_eq!(profiles.iter().count(), 3);
        for profile in profiles.iter() {
            assert!((profile.embedder_weights.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        }
        assert_eq!(profiles.delete("creative_writing").unwrap_err().kind, "PROFILE_BUILT_IN");
        let own = TeleologyProfile {
            profile_id: "own".to_owned(),
            built_in: false,
            ..profiles.get("creative_writing").unwrap().clone()
        };
        profiles.create(own.clone()).unwrap();
        assert_eq!(profiles.create(own).unwrap_err().kind, "PROFILE_EXISTS");
        profiles.delete("own").unwrap();
        assert_eq!(profiles.delete("own").unwrap_err().kind, "PROFILE_NOT_FOUND");
        assert!(profiles.restore("own") && !profiles.restore("own"));
        assert_eq!(
            profiles.best("fix the failing function and refactor the api").unwrap().0.profile_id,
            "code_implementation"
        );
        assert_eq!(profiles.best("zzz").unwrap().1, 0.1);
    }

    #[test]
    fn weights_become_shares() {
        assert_eq!(shares(&[2.0; 13]).unwrap(), UNIFORM);
        for bad in [
            vec![1.0; 12],
            vec![0.0; 13],
            [vec![-1.0], vec![1.0; 12]].concat(),
            [vec![f64::NAN], vec![1.0; 12]].concat(),
        ] {
            assert_eq!(shares(&bad).unwrap_err().code, Code::InvalidParams);
        }
    }
}
