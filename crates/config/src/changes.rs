//! What differs between two configurations, so that a reload touches only that.

use std::collections::HashMap;

use crate::parse::Config;
use crate::server::Server;

/// Ids of servers by what happened to them, each in the order of the new configuration (removed: of the old one).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Changes {
    /// Only in the new one.
    pub added: Vec<String>,
    /// Only in the old one.
    pub removed: Vec<String>,
    /// In both, but not the same: to be started anew. A changed value of a variable counts too.
    pub changed: Vec<String>,
    /// In both, and the same.
    pub unchanged: Vec<String>,
    /// Whether the settings differ.
    pub settings: bool,
}

impl Changes {
    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty() && !self.settings
    }
}

/// Compares two configurations. Comments, order and line numbers do not count.
///
/// ```
/// use std::path::Path;
/// use switchboard_config::{Config, Environment, changes};
///
/// let read = |text| Config::parse(Path::new("mgp.toml"), text, &Environment::default()).unwrap();
/// let old = read("servers = [{ id = 'a', command = 'x' }, { id = 'b', command = 'y' }]");
/// let new = read("servers = [{ id = 'b', command = 'z' }, { id = 'c', command = 'x' }]");
///
/// let changes = changes(&old, &new);
/// assert_eq!((changes.added, changes.removed, changes.changed), (vec!["c".to_owned()], vec!["a".to_owned()], vec!["b".to_owned()]));
/// ```
pub fn changes(old: &Config, new: &Config) -> Changes {
    let mut changes = Changes { settings: old.settings != new.settings, ..Changes::default() };
    let by_id = |config: &Config| -> HashMap<String, usize> {
        config.servers.iter().enumerate().map(|(index, server)| (server.id().to_owned(), index)).collect()
    };
    let (before, after) = (by_id(old), by_id(new));
    for server in &new.servers {
        let id = server.id().to_owned();
        match before.get(&id).and_then(|&index| old.servers.get(index)) {
            None => changes.added.push(id),
            Some(before) if same(before, server) => changes.unchanged.push(id),
            Some(_) => changes.changed.push(id),
        }
    }
    changes.removed =
        old.servers.iter().map(Server::id).filter(|id| !after.contains_key(*id)).map(str::to_owned).collect();
    changes
}

fn same(a: &Server, b: &Server) -> bool {
    let ready = match (&a.endpoint, &b.endpoint) {
        (Ok(a), Ok(b)) => a == b,
        // The place of a fault does not matter, only what it is.
        (Err(a), Err(b)) => a.kind() == b.kind(),
        _ => false,
    };
    ready && a.entry == b.entry && a.origin == b.origin && a.file == b.file
}
