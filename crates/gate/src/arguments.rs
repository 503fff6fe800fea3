//! The step `validators` of the gate: what a call is made with, held to validators and to the limits of grants.
//!
//! What is judged is what will be sent, in the server's own spelling. A validator allows, asks or blocks: what is not
//! understood is for a person to agree to.

use std::sync::Arc;

use switchboard_policy::permission;
use switchboard_policy::risk::ConfirmReason;
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mgp::security::ToolSecurity;
use switchboard_protocol::mgp::{Risk, ValidatorName};
use switchboard_upstream::Server;
use switchboard_validators::arguments::{self, Checks, Violation};
use switchboard_wire::{Edit, Raw};

use crate::agreed_hosts::Hosts;
use crate::attempt::{Attempt, Stop};
use crate::audit::{self, event, result, step};
use crate::bases::Bases;
use crate::refused::refused;
use crate::tables::Tables;
use crate::{Gate, Subject, dialed, own_files, resolve};

/// Judges the arguments within the limits of grants; what is not understood of them is given back.
pub(crate) async fn check_arguments(
    gate: &Gate<'_>,
    attempt: &Attempt<'_>,
    limits: &[permission::Scope],
) -> Result<Option<Box<Violation>>, Stop> {
    let Some(violation) = violation(gate, attempt, limits).await else { return Ok(None) };
    if violation.finding.asks() {
        return Ok(Some(Box::new(violation)));
    }
    let code = violation.rejection.is_some();
    let event_type = if code { event::CODE_REJECTED } else { event::VALIDATION_FAILED };
    let event = audit::with(attempt.event(event_type, result::BLOCKED), step::KEY, step::VALIDATORS);
    let event = audit::with(event, "validator_applied", violation.step);
    let event = audit::with(event, "rule", violation.finding.rule);
    let event = audit::with(event, "at", violation.pointer.clone());
    let kind = if code { FaultKind::CodeSafetyViolation } else { FaultKind::ValidationBlocked };
    let text = refused_by(&violation);
    let mut fault = Fault::new(kind, text);
    if let Some(suggestion) = remedy(gate, attempt, &violation) {
        fault = fault.suggest(suggestion);
    }
    let details = violation.rejection.clone().unwrap_or_else(|| {
        Edit::empty()
            .set("validator", Raw::string(violation.step))
            .set("rule", Raw::string(violation.finding.rule))
            .set("at", Raw::string(&violation.pointer))
            .set("violations", Raw::array(&[Raw::string(&violation.finding.message)]))
            .finish()
    });
    let fault = fault.with_details(details);
    gate.audit.note(refused(event, &fault)).await;
    Err(attempt.refusal(&fault).into())
}

/// What is wrong with the arguments of a call, or not understood of them, within the scopes of the permissions it uses.
pub(crate) async fn violation(
    gate: &Gate<'_>,
    attempt: &Attempt<'_>,
    scopes: &[permission::Scope],
) -> Option<Violation> {
    let found = violation_of_rules(gate, attempt, scopes).await;
    if found.as_ref().is_some_and(|violation| !violation.finding.asks()) {
        return found;
    }
    // A person who is asked has to know this first.
    let own = gate.options().own_files.clone();
    own_files::touched(&own, attempt, scopes).await.or(found).or_else(|| attempt.acting())
}

/// The same by validators and limits.
async fn violation_of_rules(gate: &Gate<'_>, attempt: &Attempt<'_>, scopes: &[permission::Scope]) -> Option<Violation> {
    // Most calls: nothing about them is checked.
    if scopes.is_empty() && attempt.policy.checks.is_empty() {
        return None;
    }
    let mut agreed = dialed::agreed(gate, attempt, gate.granted.latest().revision);
    // Each round knows one host more that somebody agreed to.
    for _ in 0..arguments::MAX_HOSTS {
        let violation = violation_but(gate, attempt, scopes, &agreed).await?;
        let recalled = dialed::recall_host(gate, attempt, &violation).await;
        if !recalled.is_some_and(|host| Arc::make_mut(&mut agreed).insert(host)) {
            return Some(violation);
        }
    }
    violation_but(gate, attempt, scopes, &agreed).await
}

/// The same where these hosts were agreed to.
async fn violation_but(
    gate: &Gate<'_>,
    attempt: &Attempt<'_>,
    scopes: &[permission::Scope],
    agreed: &Hosts,
) -> Option<Violation> {
    let policy = attempt.policy;
    // A resource that its server lists under a name of its own is no place that a grant could speak of.
    let opaque = matches!(attempt.subject, Subject::Resource | Subject::Subscription)
        && policy.is_listed()
        && attempt.tool.split_once(':').is_some_and(|(_, uri)| arguments::is_opaque(uri));
    if scopes.is_empty() || opaque {
        let checks = policy.checks.clone();
        let found = if checks.is_empty() { None } else { Box::pin(checked(gate, checks, attempt, agreed)).await };
        let is_refused = found.as_ref().is_some_and(|violation| !violation.finding.asks());
        let Some(beside) = attempt.beside_address().filter(|_| !scopes.is_empty() && !is_refused) else {
            return found;
        };
        // Only the address itself is no place.
        let bases = Bases::of(attempt.server, scopes).await;
        let limits = Checks::new(&[], &ToolSecurity::default(), scopes, bases.first());
        let limits = Arc::new(limits.also_based_at(bases.others()));
        return Box::pin(resolve::check(limits, beside, &gate.options().understood, agreed)).await.or(found);
    }
    let bases = Bases::of(attempt.server, scopes).await;
    let mut doubt = None;
    let (checks, rest) = match attempt.within {
        Some(within) => {
            // Parts of an address are no places by themselves, but a server may dial what stands in one. What is
            // completed is judged as a whole.
            let is_completed = attempt.subject == Subject::Completion && within.member("uri").is_none();
            let part = |scope: &permission::Scope| {
                if is_completed { scope.without_places() } else { scope.without_paths() }
            };
            let parts: Vec<_> = scopes.iter().map(part).collect();
            (Arc::new(policy.checks_within(&parts, &bases)), Some(within.clone()))
        }
        None => (Arc::new(policy.checks_within(scopes, &bases)), attempt.beside()),
    };
    if !checks.is_empty()
        && let Some(violation) = Box::pin(checked(gate, checks, attempt, agreed)).await
    {
        if !violation.finding.asks() {
            return Some(violation);
        }
        doubt = Some(violation);
    }
    let Some(rest) = rest else { return doubt };
    let limits = Checks::new(&[], &ToolSecurity::default(), scopes, bases.first()).also_based_at(bases.others());
    let has_parts = attempt.within.is_some_and(|within| within.member("uri").is_some());
    if has_parts && let Some(parts) = arguments::absolute_among(&attempt.arguments()) {
        let limits = Arc::new(limits.clone());
        let found = Box::pin(resolve::check(limits, parts, &gate.options().understood, agreed)).await;
        if found.is_some() {
            return found;
        }
    }
    // Some servers take nothing of a URL but its path, whatever its scheme and host. One that has a permission for the
    // network opens URLs as what they are.
    let is_address = matches!(attempt.subject, Subject::Resource | Subject::Subscription);
    let limits =
        if is_address && !may_reach_network(gate, attempt.server) { limits.with_paths_of_urls() } else { limits };
    Box::pin(resolve::check(Arc::new(limits), rest, &gate.options().understood, agreed)).await.or(doubt)
}

/// What is wrong with what the server would be sent, or not understood of it: with the arguments, or with what nobody
/// knows beside them.
async fn checked(gate: &Gate<'_>, checks: Arc<Checks>, attempt: &Attempt<'_>, agreed: &Hosts) -> Option<Violation> {
    let understood = gate.options().understood.clone();
    let is_typed = attempt.subject == Subject::Completion;
    let checks = if is_typed { Arc::new(checks.unfinished()) } else { checks };
    let of_arguments = resolve::check(checks.clone(), attempt.arguments(), &understood, agreed).await;
    match (of_arguments, attempt.unknown_beside()) {
        (Some(violation), _) if !violation.finding.asks() => Some(violation),
        (doubt, Some(beside)) => resolve::check(checks, beside, &understood, agreed).await.or(doubt),
        (doubt, None) => doubt,
    }
}

/// Whether a server has a permission for the network, by configuration or decision.
fn may_reach_network(gate: &Gate<'_>, server: &Server) -> bool {
    let tables: &Tables = &gate.granted.latest();
    let held = gate.held_permissions(tables, server);
    held.iter().any(|granted| granted.permission == "network.outbound")
}

/// What would be accepted, and what would permit what was refused.
fn remedy(gate: &Gate<'_>, attempt: &Attempt<'_>, violation: &Violation) -> Option<String> {
    let said = violation.finding.suggestion.clone();
    let permitted = dialed::remedy(attempt, violation);
    let unchecked = uncheck(gate, attempt, violation);
    let all: Vec<String> = said.into_iter().chain(permitted).chain(unchecked).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

/// The command after which this check is not made of the tool, where it would end this refusal, and who is asked then.
fn uncheck(gate: &Gate<'_>, attempt: &Attempt<'_>, violation: &Violation) -> Option<String> {
    // Limits of grants hold whatever is checked, and so does the look for metadata services.
    let is_check = ValidatorName::from_word(violation.step).is_some() && violation.finding.rule != "network-metadata";
    // Whoever wants to change what Switchboard allows is not told how.
    let is_own = arguments::names_switchboard(attempt.arguments().as_str());
    let name = attempt.configurable().filter(|_| is_check && !is_own && violation.host.is_none())?;
    let word = attempt.server.policy().tools.get(attempt.tool).copied().unwrap_or_default();
    let is_asked = match (word.confirm, word.risk) {
        (Some(confirm), _) => confirm,
        (None, risk) => {
            gate.options().asks_for(ConfirmReason::Dangerous) && risk.is_none_or(|risk| risk == Risk::Dangerous)
        }
    };
    let then =
        if is_asked { "a person is asked about each call instead" } else { "nobody is asked about its calls then" };
    Some(format!(
        "an operator can switch this check off for the tool ({then}): switchboard tools validator {name} none"
    ))
}

/// What a check refused, where, and why.
fn refused_by(violation: &Violation) -> String {
    let Violation { step, pointer, finding, .. } = violation;
    let place = if pointer.is_empty() { String::new() } else { format!(" at {pointer}") };
    format!("refused by `{step}`{place}: {}", finding.message)
}
