//! The real binary in folders of its own: what it prints, how it ends, and how it stands servers that misbehave.

#![expect(clippy::unwrap_used, reason = "the lint knows tests, but not the functions they share")]

mod auth;
#[cfg(target_os = "linux")]
mod confine;
mod crashed;
mod curated;
mod discovery;
mod ending;
mod faults;
mod files;
mod flow;
mod frames;
mod gate;
mod https;
mod kernel;
mod live;
mod login;
mod manifest;
mod memory;
mod naming;
mod odd;
mod orphans;
mod postgres;
mod profiles;
mod programs;
mod record;
mod restart;
mod search;
mod serve;
mod sharing;
mod stdio;
mod storm;
mod strays;
mod support;
mod survive;
mod text;
mod token;
mod tracker;
mod waits;
