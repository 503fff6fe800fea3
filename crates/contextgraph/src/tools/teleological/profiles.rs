//! Profiles: how much each space counts for a kind of task.

use serde_json::{Value, json};

use super::super::ToolCall;
use super::GROUP_NAMES;
use crate::embedders::space::COUNT;
use crate::error::{Outcome, Problem};
use crate::mind::Doc;
use crate::teleology::GROUPS;
use crate::teleology::profile::{MAX_PROFILES, TeleologyProfile, shares};

fn shown(action: &str, profile: &TeleologyProfile) -> Value {
    json!({
        "success": true,
        "action": action,
        "profile_id": profile.profile_id,
        "name": profile.name,
        "task_type": profile.task_type,
        "weights": profile.embedder_weights,
        "group_priorities": profile.group_priorities,
        "fusion_strategy": profile.fusion_strategy,
        "built_in": profile.built_in,
    })
}

pub(super) fn manage_teleological_profile(call: &mut ToolCall<'_>) -> Outcome<Value> {
    let args = call.args;
    let action = args.text("action");
    let id = || {
        let id = args.text("profile_id").trim();
        if id.is_empty() {
            Err(Problem::params(format!("`profile_id` is needed to {action}")))
        } else {
            Ok(id.to_owned())
        }
    };
    let custom = args.numbers("embedder_weights").map(|weights| shares(&weights)).transpose()?;
    let priorities = match args.get("group_priorities").and_then(Value::as_object) {
        None => None,
        Some(given) => {
            let mut out = std::collections::BTreeMap::new();
            for (group, value) in given {
                let value = value.as_f64().filter(|value| *value >= 0.0);
                match value.filter(|_| GROUP_NAMES.contains(&group.as_str())) {
                    Some(value) => out.insert(group.clone(), value),
                    None => {
                        return Err(Problem::params(
                            "`group_priorities` are numbers that are not negative, by the names of groups",
                        ));
                    }
                };
            }
            Some(out)
        }
    };
    // Priorities of groups are weights of their spaces.
    let by_groups = |weights: [f64; COUNT]| -> Outcome<[f64; COUNT]> {
        let Some(priorities) = &priorities else { return Ok(weights) };
        let factor = |space: usize| {
            let group = GROUPS.iter().find(|(_, members)| members.contains(&space)).map_or("", |group| group.0);
            priorities.get(group).copied().unwrap_or(1.0)
        };
        shares(&std::array::from_fn::<f64, COUNT, _>(|space| weights[space] * factor(space)))
    };
    match action {
        "list" => {
            let profiles: Vec<Value> =
                call.space.mind.teleology.profiles.iter().map(|profile| shown("list", profile)).collect();
            Ok(
                json!({"success": true, "action": action, "count": profiles.len(), "most": MAX_PROFILES, "profiles": profiles}),
            )
        }
        "read" | "get" => Ok(shown(action, call.space.mind.teleology.profiles.get(&id()?)?)),
        "find_best" => {
            let text = format!("{} {}", args.text("name"), args.text("task_type").replace('_', " "));
            let Some((profile, similarity)) = call.space.mind.teleology.profiles.best(&text) else {
                return Err(Problem::params("there is no profile"));
            };
            let mut answer = shown(action, profile);
            answer["similarity"] = json!(similarity);
            answer["reason"] =
                if similarity > 0.1 { "words of the task fit" } else { "nothing fits: this one is the default" }.into();
            Ok(answer)
        }
        "create" => {
            let id = id()?;
            let profile = TeleologyProfile {
                name: args.maybe_text("name").unwrap_or(&id).to_owned(),
                task_type: args.maybe_text("task_type").unwrap_or("custom").to_owned(),
                embedder_weights: by_groups(custom.unwrap_or(crate::teleology::profile::UNIFORM))?,
                group_priorities: priorities.clone().unwrap_or_default(),
                fusion_strategy: args.maybe_text("fusion_strategy").unwrap_or("hierarchical").to_owned(),
                built_in: false,
                profile_id: id,
            };
            let answer = shown(action, call.space.mind.teleology.profiles.create(profile)?);
            call.space.touch(Doc::Teleology);
            Ok(answer)
        }
        "update" => {
            let id = id()?;
            let base = custom.unwrap_or(call.space.mind.teleology.profiles.get(&id)?.embedder_weights);
            let weights = by_groups(base)?;
            let updated = call.space.mind.teleology.profiles.update(&id, |profile| {
                profile.embedder_weights = weights;
                if let Some(priorities) = &priorities {
                    profile.group_priorities.clone_from(priorities);
                }
                for (place, value) in [
                    (&mut profile.name, args.maybe_text("name")),
                    (&mut profile.task_type, args.maybe_text("task_type")),
                    (&mut profile.fusion_strategy, args.maybe_text("fusion_strategy")),
                ] {
                    if let Some(value) = value {
                        value.clone_into(place);
                    }
                }
            })?;
            let answer = shown(action, updated);
            call.space.touch(Doc::Teleology);
            Ok(answer)
        }
        _ => {
            let id = id()?;
            call.space.mind.teleology.profiles.delete(&id)?;
            call.space.touch(Doc::Teleology);
            let record = call.space.record("profile_deleted", &json!({"profile_id": id}), call.now);
            Ok(json!({"success": true, "action": action, "profile_id": id, "undo": record}))
        }
    }
}
