//! The check before a call (proposal 4): which step of the gate would refuse it. Nothing is held, asked or written down.

use crate::checks::schema;
use crate::{arguments, scopes};
use switchboard_peer::Context;
use switchboard_policy::scope::missing_scopes;
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mgp::Metadata;
use switchboard_wire::{Edit, Object, Raw};

use super::Attempt;
use super::scopes::{Presented, ScopeTarget};
use crate::Gate;
use crate::surroundings::Destination;

impl Gate<'_> {
    /// Whether a call could pass, and what is missing (proposal 4). Nothing is held, asked or written down.
    pub async fn check_permissions(&self, context: &Context, params: &Raw) -> Result<Raw, Fault> {
        let object = Object::open(params).map_err(Fault::malformed)?;
        let missing = || Fault::new(FaultKind::InvalidParams, "`tool` is missing or no string");
        let name = object.text("tool").ok_or_else(missing)?;
        let tables = self.tables().await?;
        let allowed = |place: &Destination| {
            self.access(&tables, &context.session, &place.server, Some((&place.original, &name))).allow
        };
        let Some(place) = self.offers().tool(&name).filter(allowed) else {
            return Ok(preflight::<&str>(
                false,
                &[],
                Some(&format!("there is no tool `{name}` that you may use")),
                false,
            ));
        };
        let Destination { server, original, .. } = &place;
        let Some(policy) = &place.policy else { return Ok(preflight::<&str>(true, &[], None, false)) };
        let standing = self.standing(&tables, server, Some(policy));
        if !standing.missing.is_empty() {
            let reason = format!("server `{}` lacks permissions", server.id());
            let missing: Vec<_> = standing.missing.iter().map(|missing| missing.permission.as_str()).collect();
            return Ok(preflight(false, &missing, Some(&reason), false));
        }
        // `scopes_held` is a claim. What is held is known from the session, and goes first.
        let presented = Presented::of(context, object.get("_meta").as_ref());
        let wanted = ScopeTarget { server: server.id(), tool: Some((&name, policy)) };
        if let Err(fault) = scopes::hold_to_scopes(self, &context.session.principal, &presented, wanted) {
            let missing = fault.details().and_then(|details| details.member("missing_scopes")?.elements());
            let missing: Vec<_> = missing.iter().flatten().filter_map(Raw::as_text).collect();
            return Ok(preflight(false, &missing, Some(fault.message()), false));
        }
        // Without a token a claim can narrow: who asks what a session with these scopes could do is told what it would lack.
        if presented.is_empty()
            && let Some(claimed) = object.get("scopes_held").and_then(|held| held.elements())
        {
            let held: Vec<String> = claimed.iter().filter_map(Raw::as_text).collect();
            let missing = missing_scopes(&policy.assessment.scopes, &held);
            if !missing.is_empty() {
                let reason = format!("`scopes_held` lacks {}", missing.join(", "));
                return Ok(preflight(false, &missing, Some(&reason), false));
            }
        }
        let call = Edit::empty()
            .set("name", Raw::string(&name))
            .set("arguments", object.get("parameters").unwrap_or_else(Raw::empty_object))
            .finish();
        let (metadata, params) = (Metadata::default(), Object::open(&call).map_err(Fault::malformed)?);
        let attempt = Attempt {
            subject: super::Subject::Tool,
            context,
            server,
            exposed: &name,
            tool: original,
            policy,
            params: &params,
            raw: &call,
            sent: None,
            within: None,
            metadata: &metadata,
            trace: "",
            request: None,
        };
        if let Some(mismatch) = schema::mismatch(self, &attempt) {
            return Ok(preflight::<&str>(false, &[], Some(&schema::told(&mismatch)), false));
        }
        let held = self.held_permissions(&tables, server);
        let mut scopes: Vec<_> = held.into_iter().filter_map(|granted| granted.scope).collect();
        let access = self.access(&tables, &context.session, server, Some((original, &name)));
        scopes.extend(tables.limits(&access).cloned());
        let violation = arguments::violation(self, &attempt, &scopes).await;
        let is_doubtful = violation.as_ref().is_some_and(|violation| violation.finding.asks());
        if let Some(violation) = violation.filter(|_| !is_doubtful) {
            return Ok(preflight::<&str>(false, &[], Some(&violation.finding.message), false));
        }
        let confirm = is_doubtful || attempt.asks_about().is_some_and(|reason| self.options().asks_for(reason));
        Ok(preflight::<&str>(true, &[], confirm.then_some("a person will be asked first"), confirm))
    }
}

fn preflight<S: AsRef<str>>(allowed: bool, missing: &[S], reason: Option<&str>, confirm: bool) -> Raw {
    let missing: Vec<Raw> = missing.iter().map(|missing| Raw::string(missing.as_ref())).collect();
    Edit::empty()
        .set("allowed", Raw::boolean(allowed))
        .set("missing_scopes", Raw::array(&missing))
        .set_optional("reason", reason.map(Raw::string))
        .set("requires_confirmation", Raw::boolean(confirm))
        .finish()
}
