//! Hosts that people agreed to while this process runs, by who dials and the grants under which it was agreed.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use parking_lot::Mutex;
use switchboard_store::Digest;

/// Principals and servers whose hosts are remembered, and hosts of each.
const MAX_PAIRS: usize = 4_096;
const MAX_HOSTS: usize = 256;

/// The hosts that were agreed to.
pub(crate) type Hosts = Arc<HashSet<String>>;

/// What people agreed to, by principal and server.
#[derive(Debug, Default)]
pub(crate) struct AgreedHosts(Mutex<Agreed>);

#[derive(Debug, Default)]
struct Agreed {
    /// The grants under which it was agreed to. With them it ends: who gets a right back is asked anew.
    revision: u64,
    hosts: HashMap<Digest, Hosts>,
}

impl AgreedHosts {
    /// The hosts that a server may dial for a principal, under the grants of this revision.
    pub(crate) fn of(&self, who: Digest, revision: u64) -> Hosts {
        let agreed = self.0.lock();
        if agreed.hosts.is_empty() || agreed.revision != revision {
            return Hosts::default();
        }
        agreed.hosts.get(&who).cloned().unwrap_or_default()
    }

    pub(crate) fn add(&self, who: Digest, revision: u64, host: &str) {
        let mut agreed = self.0.lock();
        if agreed.revision != revision || agreed.hosts.len() >= MAX_PAIRS {
            *agreed = Agreed { revision, ..Agreed::default() };
        }
        let hosts = Arc::make_mut(agreed.hosts.entry(who).or_default());
        if hosts.len() >= MAX_HOSTS {
            hosts.clear();
        }
        hosts.insert(host.to_owned());
    }

    /// Forgets everything: the configuration changed.
    pub(crate) fn clear(&self) {
        self.0.lock().hosts.clear();
    }
}
