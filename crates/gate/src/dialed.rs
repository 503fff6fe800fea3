//! Hosts that are not public and that a person let a server dial: asked about once, and remembered.
//!
//! Remembered for one principal and one server, as it is configured, in the store beside the other answers of people, where the
//! operator finds it and can take it back; without a store, while this process runs.

use crate::rights;
use jiff::SignedDuration;
use switchboard_peer::client::Target;
use switchboard_protocol::mgp::TrustLevel;
use switchboard_store::{Claim, Claimed, Decision, Digest, HeldCall, Reuse, Store, StoreError, Ticket, Verdict};
use switchboard_validators::arguments::{Dialer, Violation};
use switchboard_validators::network;

use super::{Attempt, Subject};
use crate::Gate;
use crate::agreed_hosts::Hosts;

/// How long a yes is good for a server that is trusted, as one for always is.
const REMEMBERED_OF_TRUSTED: SignedDuration = SignedDuration::from_hours(30 * 24);
/// How long it is good for another one.
const REMEMBERED: SignedDuration = SignedDuration::from_hours(24);
/// What stands in place of a tool in what is stored. No tool has a blank in front.
const HOST: &str = " host ";

/// The hosts that the server of an attempt may dial for its principal, under the grants of this revision.
pub(crate) fn agreed(gate: &Gate<'_>, attempt: &Attempt<'_>, revision: u64) -> Hosts {
    gate.agreed.of(pair(attempt), revision)
}

/// Who dials with what. A server that is configured in another way is another one.
fn pair(attempt: &Attempt<'_>) -> Digest {
    let session = &attempt.context.session;
    let text = format!("{}\n{}\n{}", session.principal, attempt.server.id(), attempt.server.spec.fingerprint);
    Digest::of(text.as_bytes())
}

/// Who connects to the addresses that a server is given: this machine, or a service of which nothing is known here.
pub fn dialer_of(target: &Target) -> Dialer {
    match target {
        Target::Http { url, .. } | Target::Sse { url, .. } if network::check(url, None).is_ok() => Dialer::Elsewhere,
        _ => Dialer::ThisMachine,
    }
}

/// The host of a doubt, where a person agreed to it before as the store remembers it.
pub(crate) async fn recall_host(gate: &Gate<'_>, attempt: &Attempt<'_>, doubt: &Violation) -> Option<String> {
    let host = doubt.host.as_ref().filter(|_| doubt.finding.asks())?;
    let store = gate.store()?;
    let claim = Claim {
        ticket: Ticket::Reusable,
        principal: attempt.context.session.principal.as_ref().to_owned(),
        session: None,
        server: attempt.server.id().as_ref().to_owned(),
        tool: format!("{HOST}{host}"),
        arguments: pair(attempt),
        now: gate.granted.time(),
    };
    let Ok(Claimed::Granted(approval)) = store.approvals().claim(&claim).await else { return None };
    let is_good = matches!(rights::has_outlived_its_grant(gate, &approval, claim.now).await, Ok(false));
    is_good.then(|| host.clone())
}

/// Remembers that a person agreed to the host of a doubt.
pub(crate) async fn remember_host(gate: &Gate<'_>, attempt: &Attempt<'_>, doubt: &Violation) {
    let Some(host) = doubt.host.as_ref().filter(|_| attempt.subject == Subject::Tool) else { return };
    match gate.store() {
        None => gate.agreed.add(pair(attempt), gate.granted.latest().revision, host),
        Some(store) => {
            if let Err(error) = store_host(gate, attempt, host, store).await {
                tracing::warn!(%error, host, "a yes to a host could not be kept");
            }
        }
    }
}

async fn store_host(gate: &Gate<'_>, attempt: &Attempt<'_>, host: &str, store: &Store) -> Result<(), StoreError> {
    let (approvals, now) = (store.approvals(), gate.granted.time());
    let expires_at = now.saturating_add(remembered_for(attempt).0).unwrap_or(now);
    let held = HeldCall {
        id: switchboard_peer::random_token(),
        principal: attempt.context.session.principal.as_ref().to_owned(),
        session: None,
        server: attempt.server.id().as_ref().to_owned(),
        tool: format!("{HOST}{host}"),
        arguments: pair(attempt),
        shown: None,
        reason: "host".to_owned(),
        token: None,
        created_at: now,
        expires_at,
    };
    let id = approvals.hold(&held).await?.held.id;
    let decision = Decision {
        verdict: Verdict::Approve(Reuse::Always),
        by: "whoever agreed to the call".to_owned(),
        reason: None,
        now,
        expires_at,
    };
    approvals.decide(&[id], &decision).await.map(drop)
}

/// How long a yes to a host is good, also in words.
pub(crate) fn remembered_for(attempt: &Attempt<'_>) -> (SignedDuration, &'static str) {
    match attempt.server.trust() >= TrustLevel::Core {
        true => (REMEMBERED_OF_TRUSTED, "30 days"),
        false => (REMEMBERED, "a day"),
    }
}

/// What would permit what was refused, as somebody can paste it.
pub(super) fn remedy(attempt: &Attempt<'_>, violation: &Violation) -> Option<String> {
    let id = attempt.server.id();
    match (&violation.host, violation.step) {
        (Some(host), "network_restricted" | "scope") => Some(format!(
            "if {host} is meant to be reached, the operator names it in `[servers.mgp.permissions_granted]` of server `{id}`: \
             \"network.outbound\" = {{ hosts = [\"*\", \"{host}\"] }}; or runs: switchboard grant --server {id} --permission \
             network.outbound --host '*' --host {host}"
        )),
        _ => None,
    }
}
