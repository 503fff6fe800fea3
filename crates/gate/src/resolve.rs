//! What has to be looked up for a check of arguments: where links lead, and the addresses of names.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use switchboard_policy::Finding;
use switchboard_validators::arguments::{self, Checks, Violation, World};
use switchboard_validators::shell::Understood;
use switchboard_wire::Raw;

use super::agreed_hosts::Hosts;

/// How long everything that is looked up for one call may take.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(5);

/// This machine, as far as it was asked.
struct Machine {
    addresses: HashMap<String, Vec<IpAddr>>,
    agreed: Hosts,
}

impl World for Machine {
    fn link(&self, path: &str) -> Option<String> {
        std::fs::read_link(path).ok().map(|target| target.to_string_lossy().into_owned())
    }

    fn addresses(&self, host: &str) -> Option<Vec<IpAddr>> {
        self.addresses.get(host).cloned()
    }

    fn is_agreed(&self, host: &str) -> bool {
        self.agreed.contains(host)
    }
}

/// Checks arguments, with everything looked up that the checks want to know. `agreed` are hosts that a person agreed to.
pub(super) async fn check(
    checks: Arc<Checks>,
    arguments: Raw,
    understood: &Understood,
    agreed: &Hosts,
) -> Option<Violation> {
    let mut machine = Machine { addresses: HashMap::new(), agreed: agreed.clone() };
    let hosts = checks.hosts(&arguments);
    if hosts.len() > arguments::MAX_HOSTS {
        let many = unchecked("more hosts are named than are looked up for one call");
        return if checks.dialing().asks() {
            // Nobody is asked about what is refused anyway.
            let hostile = judged(checks, arguments, machine, understood).await.filter(|found| !found.finding.asks());
            hostile.or(Some(Violation { finding: many.finding.ask(), ..many }))
        } else {
            Some(many)
        };
    }
    let looked = futures_util::future::join_all(hosts.iter().map(|host| look_up(host))).await;
    machine.addresses = hosts.into_iter().zip(looked).collect();
    judged(checks, arguments, machine, understood).await
}

async fn judged(checks: Arc<Checks>, arguments: Raw, machine: Machine, understood: &Understood) -> Option<Violation> {
    if !checks.looks_at_places() {
        return arguments::check_with(&checks, &arguments, &machine, understood).err().map(|violation| *violation);
    }
    // Links are read from disks that may be slow.
    let understood = understood.clone();
    let checking =
        tokio::task::spawn_blocking(move || arguments::check_with(&checks, &arguments, &machine, &understood));
    match tokio::time::timeout(LOOKUP_TIMEOUT, checking).await {
        Ok(Ok(checked)) => checked.err().map(|violation| *violation),
        _ => Some(unchecked("the arguments could not be checked in time")),
    }
}

fn unchecked(why: &str) -> Violation {
    let finding = Finding::new("unchecked", why);
    Violation { step: "arguments", pointer: String::new(), finding, rejection: None, host: None }
}

/// The addresses of a name; none where it has none or nobody knows: what cannot be looked up is not let through.
async fn look_up(host: &str) -> Vec<IpAddr> {
    let looked = tokio::time::timeout(LOOKUP_TIMEOUT, tokio::net::lookup_host((host, 0))).await;
    looked.ok().and_then(Result::ok).map(|found| found.map(|address| address.ip()).collect()).unwrap_or_default()
}
