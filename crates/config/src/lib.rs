//! The configuration of Switchboard: `mgp.toml` (MGP 15.2) and what surrounds it.
//!
//! * [`load`] finds and reads the files; [`Config::parse`] reads one text.
//! * [`Trust`] keeps which servers of project files a person has approved.
//! * [`changes`] compares two configurations, for a reload.
//! * [`add_server`], [`remove_server`] and [`write_replacing`] change a file and keep the rest of it.
//! * [`read_client_file`] and [`plan`] import the servers of other clients; [`client_entry`] prints the way back.
//!
//! Parsing, comparing, editing and importing are pure functions of text and an [`Environment`]; only [`load`], [`Trust`],
//! [`read_checked`] and [`write_replacing`] touch the disk. Nothing here starts a server or opens a connection, and
//! secrets ([`Secret`]) are never part of what is printed.

mod auth;
mod changes;
mod client;
mod connect;
mod disclosure;
mod discovery;
mod edit;
mod entry;
mod error;
mod expand;
mod file;
mod flow;
mod ids;
mod import;
mod load;
mod memory;
mod oauth;
mod parse;
mod pins;
mod places;
mod policy;
mod profiles;
mod secret;
mod server;
mod settings;
mod source;
mod table;
mod tools;
mod trust;

pub use auth::Auth;
pub use changes::{Changes, changes};
pub use client::client_entry;
pub use connect::{ConnectEditError, KnownServer, Replaced, Taken};
pub use disclosure::{approval, disclosed};
pub use discovery::{CreateSettings, Discovery, RegisterSettings, RegistrySettings};
pub use edit::{
    EditError, add_server, confirm_tool, init_text, project_init_text, remove_server, switch_server, switch_tool,
    validate_tool,
};
pub use entry::{Era, MgpEntry, Restart, ServerEntry, Sharing, Transport};
pub use error::{ConfigError, ErrorKind};
pub use expand::Environment;
pub use file::{WriteError, backups_of, read_checked, write_replacing};
pub use flow::{BreakerSettings, FlowEntry, RateSettings, Rates, Retry};
pub use import::{
    Candidate, Client, ClientFile, ImportError, Imported, Plan, PlanItem, WITHOUT_ROOTS, candidates, claude_settings,
    has_no_roots_here, plan, read_client_file, read_user_file, relative_paths, switch_denied_off, take_env_files,
};
pub use load::{Loaded, LoadedFile, Sources, load};
pub use memory::{MemorySettings, MemorySharing};
pub use oauth::OAuthClient;
pub use parse::Config;
pub use pins::PinMode;
pub use places::{Platform, default_data_dir, user_config_file};
pub use policy::{GateSettings, IsolationEntry, IsolationMode, Permissions, ToolEntry};
pub use profiles::{ProfileConfirm, ProfileSettings};
pub use secret::Secret;
pub use server::{Endpoint, Origin, RemoteEndpoint, Server, StdioEndpoint};
pub use settings::{Limits, Settings};
pub use switchboard_protocol::mgp::{ApprovalPolicy, DefaultPolicy, RestartMode, Risk, TrustLevel, ValidatorName};
pub use switchboard_protocol::nearest;
pub use tools::{AgentSettings, ClientSettings, ToolLevel, ToolSettings};
pub use trust::{Trust, fingerprint};
