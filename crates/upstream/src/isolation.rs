//! How the process of a server is confined: from its trust, its grants and the operator's settings.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use switchboard_policy::permission::{Granted, Scope};
use switchboard_protocol::mgp::TrustLevel;
use switchboard_transport::child::{self, CommandSpec};
use switchboard_transport::confine::{
    ConfinedServer, ConfinementGrant, ConfinementMode, ConfinementProfile, Decision, Overrides, Places, confined,
};

/// What the operator says about the confinement of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Isolation {
    /// Which servers are confined.
    pub of_all: ConfinementMode,
    /// What is said of this one.
    pub of_this: Option<ConfinementMode>,
    /// Its bounds.
    pub overrides: Overrides,
    /// The user's home folder.
    pub home: Option<PathBuf>,
    /// The folder that is to be the server's own.
    pub sandbox: PathBuf,
    /// Our own files, which no server may see.
    pub private: Vec<PathBuf>,
}

impl Isolation {
    /// Whether a server that is trusted so far is confined.
    pub fn applies(&self, trust: TrustLevel) -> bool {
        confined(trust, self.of_all, self.of_this)
    }

    /// What its process is held to, and what could not be given.
    pub fn decide(
        &self,
        command: &CommandSpec,
        trust: TrustLevel,
        granted: &[Granted],
    ) -> (Arc<ConfinementProfile>, Vec<String>) {
        let given = command.env.iter().find(|(name, _)| name == "PATH").map(|(_, path)| OsString::from(path));
        let path = given.unwrap_or_else(child::search_path);
        let cwd = command.cwd.clone().or_else(|| std::env::current_dir().ok()).unwrap_or_else(|| "/".into());
        let places = Places::find(&ConfinedServer {
            program: &command.program,
            args: &command.args,
            cwd: &cwd,
            path: &path,
            home: self.home.as_deref(),
            sandbox: &self.sandbox,
            private: &self.private,
        });
        let grants: Vec<ConfinementGrant> = granted.iter().filter_map(grant).collect();
        let Decision { profile, notes } = Decision::of(trust, &grants, &self.overrides, &places);
        (Arc::new(profile), notes)
    }
}

/// A permission in the terms of confinement; `None` for one whose limits a process cannot be held to. Its calls are
/// held to them all the same.
fn grant(granted: &Granted) -> Option<ConfinementGrant> {
    let permission = granted.permission.clone();
    let Some(scope) = &granted.scope else { return Some(ConfinementGrant { permission, scope: Vec::new() }) };
    let scope = limits(&permission, scope)?;
    // No limits would mean everything.
    (!scope.is_empty()).then_some(ConfinementGrant { permission, scope })
}

fn limits(permission: &str, scope: &Scope) -> Option<Vec<String>> {
    if permission.starts_with("filesystem.") {
        return scope.paths.clone().filter(|_| scope.deny_paths.is_empty());
    }
    if !permission.starts_with("network.") {
        return Some(vec![permission.to_owned()]);
    }
    let hosts = scope.hosts.clone().filter(|_| scope.deny_hosts.is_empty())?;
    Some(match &scope.ports {
        None => hosts,
        Some(ports) => hosts.iter().flat_map(|host| ports.iter().map(move |port| format!("{host}:{port}"))).collect(),
    })
}
