//! What has to be looked up for a check of arguments: where links lead, and the addresses of names.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use switchboard_guard::Finding;
use switchboard_guard::arguments::{self, Checks, Violation, World};
use switchboard_guard::shell::Understood;
use switchboard_wire::Raw;

/// How long everything that is looked up for one call may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// This machine, as far as it was asked.
struct Machine {
    addresses: HashMap<String, Vec<IpAddr>>,
}

impl World for Machine {
    fn link(&self, path: &str) -> Option<String> {
        std::fs::read_link(path).ok().map(|target| target.to_string_lossy().into_owned())
    }

    fn addresses(&self, host: &str) -> Option<Vec<IpAddr>> {
        self.addresses.get(host).cloned()
    }
}

/// Checks arguments, with everything looked up that the checks want to know.
pub(super) async fn check(checks: Arc<Checks>, arguments: Raw, understood: &Understood) -> Option<Violation> {
    let mut machine = Machine { addresses: HashMap::new() };
    if checks.looks_outside() {
        let hosts = arguments::hosts(&arguments);
        if hosts.len() > arguments::MAX_HOSTS {
            return Some(unchecked("more hosts are named than are looked up for one call"));
        }
        let looked = futures_util::future::join_all(hosts.iter().map(|host| look_up(host))).await;
        machine.addresses = hosts.into_iter().zip(looked).collect();
    }
    if !checks.looks_at_places() {
        return arguments::check_with(&checks, &arguments, &machine, understood).err().map(|violation| *violation);
    }
    // Links are read from disks that may be slow.
    let understood = understood.clone();
    let checking =
        tokio::task::spawn_blocking(move || arguments::check_with(&checks, &arguments, &machine, &understood));
    match tokio::time::timeout(PATIENCE, checking).await {
        Ok(Ok(checked)) => checked.err().map(|violation| *violation),
        _ => Some(unchecked("the arguments could not be checked in time")),
    }
}

fn unchecked(why: &str) -> Violation {
    Violation { step: "arguments", pointer: String::new(), finding: Finding::new("unchecked", why), rejection: None }
}

/// The addresses of a name; none where it has none or nobody knows: what cannot be looked up is not let through.
async fn look_up(host: &str) -> Vec<IpAddr> {
    let looked = tokio::time::timeout(PATIENCE, tokio::net::lookup_host((host, 0))).await;
    looked.ok().and_then(Result::ok).map(|found| found.map(|address| address.ip()).collect()).unwrap_or_default()
}
