//! The giving of scopes (proposal 4): a principal asks for some, and gets those that its access covers.

use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;
use switchboard_peer::Context;
use switchboard_protocol::fault::{Fault, FaultKind, readable};
use switchboard_protocol::proposals::{DeniedScope, ScopeNegotiationParams, ScopeNegotiationResult, SessionToken};
use switchboard_upstream::Server;
use switchboard_wire::Raw;
use tokio::time::Instant;

use crate::audit::{self, event, result};
use crate::surroundings::{OfferedTool, Offers};
use crate::{Gate, Tables};

/// After how long without a call a token ends.
const IDLE: Duration = Duration::from_mins(15);
/// Scopes in one request, and bytes of one.
const MOST_SCOPES: usize = 256;
const LONGEST_SCOPE: usize = 256;
impl Gate<'_> {
    /// Gives a principal the scopes that it may have.
    ///
    /// # Errors
    /// The request is malformed, or there is no room for another token.
    pub async fn negotiate_scopes(&self, context: &Context, params: &Raw) -> Result<Raw, Fault> {
        let invalid = |text: String| Fault::new(FaultKind::InvalidParams, text);
        let asked: ScopeNegotiationParams = params.view().map_err(|error| invalid(readable(params, &error)))?;
        let longest = self.options().session_ttl;
        let life = asked.ttl_seconds.map_or(longest, |seconds| Duration::from_secs(seconds).min(longest));
        if life.is_zero() {
            return Err(invalid("`ttl_seconds` must be at least 1".to_owned()));
        }
        if asked.requested_scopes.len() > MOST_SCOPES
            || asked.requested_scopes.iter().any(|scope| scope.len() > LONGEST_SCOPE)
        {
            return Err(invalid(format!("at most {MOST_SCOPES} scopes of {LONGEST_SCOPE} bytes can be asked for")));
        }
        self.around.wait_for_servers().await;
        let tables = self.tables().await?;
        let offers = self.offers();
        let (mut granted, mut denied) = (Vec::new(), Vec::new());
        for scope in &asked.requested_scopes {
            if granted.contains(scope) || denied.contains(scope) {
                continue;
            }
            let may = may_have(self, context, &tables, &*offers, scope);
            if may { &mut granted } else { &mut denied }.push(scope.clone());
        }
        let idle = IDLE.min(life);
        let token = self.tokens.give(&context.session.principal, &granted, life, idle, Instant::now());
        let token =
            token.ok_or_else(|| Fault::new(FaultKind::ResourceExhausted, "too many session tokens are in use"))?;
        let outcome = if denied.is_empty() { result::SUCCESS } else { result::BLOCKED };
        let mut event = audit::event_of(event::SCOPES_NEGOTIATED, audit::principal(&context.session), outcome);
        if let Some(why) = &asked.justification {
            let why: String = why.chars().take(1_000).collect();
            event = audit::with(event, "justification", switchboard_policy::redact::value(&Raw::string(&why)));
        }
        let event = audit::with(event, "granted_scopes", granted.clone());
        self.audit.note(audit::with(event, "denied_scopes", denied.clone())).await;
        let now = self.granted.time();
        let life = SignedDuration::try_from(life).unwrap_or(SignedDuration::from_hours(1));
        let ends = now.checked_add(life).unwrap_or(now).to_string();
        let mut session = SessionToken::new(token, granted.clone(), ends);
        session.inactivity_timeout_seconds = Some(idle.as_secs().max(1));
        let mut answer = ScopeNegotiationResult::new(granted, session);
        let refused = |scope: String| {
            let mut refused = DeniedScope::new(scope);
            refused.reason = Some("you may use no server and no tool that goes by it".to_owned());
            refused
        };
        answer.denied_scopes = Some(denied.into_iter().map(refused).collect());
        Raw::from_value(&answer).map_err(Fault::internal)
    }
}

/// Whether a principal may have a scope: its access covers what the scope stands for.
fn may_have(gate: &Gate<'_>, context: &Context, tables: &Tables, offers: &dyn Offers, scope: &str) -> bool {
    let session = &context.session;
    let whole = |server: &Arc<Server>| gate.access(tables, session, server, None).allow;
    if let Some(id) = scope.strip_prefix("server:") {
        return offers.server(id).is_some_and(whole);
    }
    let is_usable =
        |tool: OfferedTool<'_>| gate.access(tables, session, tool.server, Some((tool.original, tool.exposed))).allow;
    if let Some(name) = scope.strip_prefix("tool:") {
        return offers.any_tool(&mut |tool| tool.exposed == name && is_usable(tool));
    }
    let needs = |tool: OfferedTool<'_>| {
        tool.policy.is_some_and(|policy| policy.assessment.scopes.iter().any(|needed| needed == scope))
    };
    offers.any_tool(&mut |tool| needs(tool) && is_usable(tool))
}
