//! The heart of Switchboard: servers and their connections, client sessions, and the way of a call between them.
//!
//! The kernel answers clients of either era as one [`Handler`](switchboard_peer::Handler), whatever the eras of the
//! servers behind it. It forwards raw JSON: what it does not understand reaches the far side unchanged.

mod access;
mod holder;
mod house;
mod kernel;
mod spec;
mod surroundings;

pub use access::stored_access;
pub use gate::pins::{pin_name, screen_definition};
pub use gate::rates::PrincipalRates;
pub use gate::results::MARKS;
pub use gate::{Confirm, OWNER, PASSAGES, Passage, Profile, Profiles, Subject, ToolName, ToolPolicy, default_policy};
pub use kernel::{Kernel, ServerStatus};
pub use spec::{
    GateOptions, KernelOptions, PinPolicy, PressurePolicy, PromptPolicy, Restart, ServerPolicy, ServerSpec, Sharing,
    Upkeep,
};
pub use switchboard_audit::EventCounts;
pub use switchboard_catalog::{Budget, Judge, Level, Shown};
use switchboard_clients as clients;
use switchboard_directory as directory;
pub use switchboard_flow::breaker::BreakerPolicy;
pub use switchboard_flow::lifecycle::State;
pub use switchboard_flow::meter::{Allowance, Quota, Rate};
pub use switchboard_flow::retry::RetryPolicy;
use switchboard_gate as gate;
pub use switchboard_gate::SAID_BY;
use switchboard_protocol::bridge;
use switchboard_services as services;
pub use switchboard_services::registry::{
    Asker, Builder, Creating, KnownServer, Lifetime, OfferedServer, Registering, Run, ServerOffer, ServerOffers,
    ServerRegistration, ServerSource,
};
pub use switchboard_services::table::{OwnName, own_names};
pub use switchboard_services::{
    AgentTools, COMMAND_LINE, ClientBounds, ClientList, ClientTools, Clients, ListableTool, OperatorActions,
    SERVERS_LIST, SERVERS_ORDER, ToolContext,
};
// What is said of one server is said there.
use switchboard_upstream as server;
pub use switchboard_upstream::{Activity, Curated, Health, INSTRUCTIONS, Isolation, Latency, Phase, names, starts_for};
