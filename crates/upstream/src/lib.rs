//! One server: its process or connection, its supervision, its health and its lists.
//!
//! A [`Server`] is led by one task, [`Server::run`], from its first start to its end: what follows on what is decided in
//! `switchboard-flow`, and done here. What a server has to ask stands in [`Gatekeeper`], what it has to tell in [`Holder`];
//! what all servers of a holder share is one [`ServerContext`]. This crate deliberately knows no store and no route, and a
//! client only as the owner of a call: who may call what, and what becomes of a call, is for others to say.

mod context;
mod curated;
mod fetch;
mod holder;
mod inspection;
mod isolation;
mod lists;
mod log_level;
pub mod names;
mod package;
mod roots;
mod server;
mod spec;
mod timings;
mod turns;

pub use context::ServerContext;
pub use curated::Curated;
pub use holder::{Gatekeeper, Holder, ServerEvent};
pub use inspection::{INSTRUCTIONS, Inspection, Marked, PresentedDefinitions, Quarantine};
pub use isolation::Isolation;
pub use lists::{ListKind, Listing, Lists};
pub use log_level::{LEVEL_WAIT, send_level};
pub use roots::{ClientRoots, MAX_BASES};
pub use server::{
    Activity, Attribution, CallOutcome, CallTicket, Health, InFlightCall, InFlightCalls, Latency, OpenQuestion, Order,
    Phase, RequestStates, Server, SharedConnection, StateOwnership, StatefulRequest, Stats, ToolNeeds, Trial,
    WatchedResources, chance, millis, next_pause, speaks_of_life,
};
pub use spec::{PinPolicy, PressurePolicy, PromptPolicy, Restart, ServerPolicy, ServerSpec, Sharing, Upkeep};
pub use timings::Timings;
pub use turns::{StartTurns, starts_for};
