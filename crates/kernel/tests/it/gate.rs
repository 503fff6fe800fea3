//! The gate: what it refuses, whom it asks, and what it puts on record.
#![allow(clippy::unwrap_used, reason = "a test that finds nothing to unwrap has failed")]

mod acting;
mod answers_for;
mod apps;
mod audit;
mod confirm;
mod crash;
mod decide;
mod decisions;
mod dialing;
mod discovery;
mod first_list;
mod life;
mod lists;
mod narrowed;
mod negotiation;
mod operator_words;
mod outage;
mod own_files;
mod passages;
mod permissions;
mod pin_versions;
mod pins;
mod pressure;
mod profiles;
mod registry;
mod revoke;
mod revoke_running;
mod settings;
mod stopping;
mod tasks_on_record;
mod traps;
mod validators;
pub(crate) mod world;
