//! Scopes (proposal 4, the step `scopes` of the gate): a principal asks for some, gets those that its access covers, and
//! is held to them in every call that shows the token it got for them.
//!
//! A scope is `server:ID`, `tool:NAME` by the name that clients see, or one that tools name in `required_scopes`.
//! Access is asked again in every call: a token narrows and never widens, so what is revoked is gone with it or
//! without. Names of scopes that servers made up are compared exactly, and none contains another.

use std::sync::{Arc, LazyLock};

use http::{HeaderMap, HeaderValue};
use memchr::memmem::Finder;
use switchboard_peer::Context;
use switchboard_policy::scope::missing_scopes;
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mgp::EXTENSION_ID;
use switchboard_protocol::proposals::{self, SESSION_TOKEN_HEADER};
use switchboard_wire::{Edit, Kind, Object, Raw, Request};
use tokio::time::Instant;

use super::audit::step;
use crate::attempt::{Attempt, Stop};
use crate::{Gate, ToolPolicy, tokens};

/// The member that carries a token beside the parameters. Under our own name it is always ours.
const MEMBER: &str = "session_token";
const OWN_MEMBER: &str = "dev.switchboard/session_token";

/// What a call is about, as far as scopes go.
#[derive(Debug, Clone, Copy)]
pub struct ScopeTarget<'a> {
    /// The server that it goes to.
    pub server: &'a str,
    /// What clients call the tool, and what is known of it; `None` for what is no tool.
    pub tool: Option<(&'a str, &'a ToolPolicy)>,
}

impl ScopeTarget<'_> {
    /// What is missing of the scopes that this needs.
    fn missing(&self, held: &[String]) -> Vec<String> {
        let has = |kind: &str, name: &str| {
            held.iter().any(|scope| scope.strip_prefix(kind).is_some_and(|named| named == name))
        };
        let required: &[String] = self.tool.map_or(&[], |(_, policy)| &policy.assessment.scopes);
        if !required.is_empty() {
            return missing_scopes(required, held).into_iter().map(str::to_owned).collect();
        }
        match self.tool {
            Some((name, _)) if has("tool:", name) => Vec::new(),
            _ if has("server:", self.server) => Vec::new(),
            Some((name, _)) => vec![format!("tool:{name}")],
            None => vec![format!("server:{}", self.server)],
        }
    }
}

/// The tokens that a caller shows.
#[derive(Clone, Default)]
pub struct Presented(Vec<String>);

impl std::fmt::Debug for Presented {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Presented").field("tokens", &self.0.len()).finish_non_exhaustive()
    }
}

impl Presented {
    /// Those of a request, and those in the members beside its parameters.
    pub fn of(context: &Context, meta: Option<&Raw>) -> Self {
        let shown = context.headers.as_deref().map(Self::of_headers).unwrap_or_default().0.into_iter();
        Self(shown.chain(meta.into_iter().flat_map(|meta| in_meta(meta, Others::AreTheirs))).collect())
    }

    /// Those in some headers. What is no text is a token that nobody knows.
    pub fn of_headers(headers: &HeaderMap) -> Self {
        let shown = headers.get_all(SESSION_TOKEN_HEADER).into_iter();
        Self(shown.map(|value| value.to_str().unwrap_or_default().to_owned()).collect())
    }

    /// The same as texts.
    #[must_use]
    pub fn into_texts(self) -> Vec<String> {
        self.0
    }

    /// Whether it shows none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<&[String]> for Presented {
    fn from(tokens: &[String]) -> Self {
        Self(tokens.to_vec())
    }
}

/// What a token under the common name is that is none of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Others {
    /// A server gives tokens of its own: it is the server's business.
    AreTheirs,
    /// Nobody gives any: whoever shows it means it to narrow the request, and it is good for nothing.
    AreNobodys,
}

/// The tokens among the members of a `_meta` that a request is held to. What is no text is a token that nobody knows.
fn in_meta(meta: &Raw, others: Others) -> Vec<String> {
    let Ok(object) = Object::open(meta) else { return Vec::new() };
    // Several may stand under our own name.
    let ours = object.get(OWN_MEMBER).into_iter().flat_map(|own| own.elements().unwrap_or_else(|| vec![own]));
    let ours = ours.map(|token| token.as_text().unwrap_or_default());
    let nested = object.get(EXTENSION_ID).filter(|own| own.kind() == Kind::Object);
    let nested = nested.and_then(|own| own.member(MEMBER));
    let bare = [object.get(MEMBER), object.get(&format!("{EXTENSION_ID}/{MEMBER}")), nested];
    let bare = bare.into_iter().flatten().filter(|token| token.kind() != Kind::Null);
    let bare = bare.map(|token| token.as_text().unwrap_or_default());
    let counts = |token: &String| others == Others::AreNobodys || token.starts_with(tokens::PREFIX);
    ours.chain(bare.filter(counts)).collect()
}

/// The parameters without our tokens: no server has any use for them. `None` where there are none.
pub fn without_token(params: &Raw) -> Option<Raw> {
    if !may_show_token(params) {
        return None;
    }
    let meta = params.member("_meta").filter(|meta| !in_meta(meta, Others::AreTheirs).is_empty())?;
    let is_ours = |value: Raw| value.as_text().is_some_and(|token| token.starts_with(tokens::PREFIX));
    let clean = |edit: Edit| {
        [MEMBER, &format!("{EXTENSION_ID}/{MEMBER}")].into_iter().fold(edit, |edit, key| {
            let ours = edit.object().get(key).is_some_and(is_ours);
            if ours { edit.remove(key) } else { edit }
        })
    };
    let mut edit = clean(Edit::of(&meta).ok()?).remove(OWN_MEMBER);
    if let Some(own) = edit.object().get(EXTENSION_ID).filter(|own| own.kind() == Kind::Object) {
        edit = edit.set(EXTENSION_ID, clean(Edit::of(&own).ok()?).finish());
    }
    Some(Edit::of(params).ok()?.set("_meta", edit.finish()).finish())
}

/// A request that is no call of a tool, with a token from its `_meta` where those from headers are.
pub fn lifted(mut context: Context, mut request: Request, others: impl FnOnce() -> Others) -> (Context, Request) {
    let Some(params) = request.params.as_ref().filter(|params| may_show_token(params)) else {
        return (context, request);
    };
    let shown = params.member("_meta").map(|meta| in_meta(&meta, others())).unwrap_or_default();
    if shown.is_empty() {
        return (context, request);
    }
    let mut headers = context.headers.as_deref().cloned().unwrap_or_else(HeaderMap::new);
    for token in shown {
        let token = HeaderValue::from_str(&token).unwrap_or_else(|_| HeaderValue::from_static(""));
        headers.append(SESSION_TOKEN_HEADER, token);
    }
    context.headers = Some(Arc::new(headers));
    if let Some(cleaned) = without_token(params) {
        request.params = Some(cleaned);
    }
    (context, request)
}

/// A request that is made under another name, without the headers that came along: what they show of tokens stands beside
/// its parameters instead.
///
/// # Errors
/// The parameters, or their `_meta`, cannot be read.
pub fn lowered(context: &Context, request: Request) -> Result<Request, Fault> {
    let Presented(shown) = Presented::of(context, None);
    if shown.is_empty() {
        return Ok(request);
    }
    let within = |meta: Edit| {
        let beside = meta.object().get(OWN_MEMBER);
        let beside = beside.into_iter().flat_map(|own| own.elements().unwrap_or_else(|| vec![own]));
        let all: Vec<Raw> = shown.iter().map(|token| Raw::string(token)).chain(beside).collect();
        meta.set(OWN_MEMBER, Raw::array(&all))
    };
    let edit = Edit::of_optional(request.params.as_ref()).map_err(Fault::malformed)?;
    let edit = edit.within("_meta", within).map_err(Fault::malformed)?;
    Ok(Request { params: Some(edit.finish()), ..request })
}

/// Whether the member is there at all, which is seldom.
fn may_show_token(params: &Raw) -> bool {
    static NAME: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(MEMBER));
    NAME.find(params.as_bytes()).is_some()
}

impl Attempt<'_> {
    /// The session tokens that it shows.
    pub(crate) fn tokens(&self, gate: &Gate<'_>) -> Presented {
        let mut presented = Presented::of(self.context, None);
        if let Some(meta) = self.params.get("_meta").filter(may_show_token) {
            presented.0.extend(in_meta(&meta, gate.others_tokens()));
        }
        presented
    }

    /// What it is about, as far as scopes go.
    pub(super) fn wanted(&self) -> ScopeTarget<'_> {
        let tool = self.called().map(|(_, exposed)| (exposed, self.policy));
        ScopeTarget { server: self.server.id(), tool }
    }
}

impl Gate<'_> {
    /// What tokens under the common name are that are none of ours.
    pub fn others_tokens(&self) -> Others {
        let gives = self.offers().any_tool(&mut |tool| &**tool.original == proposals::NEGOTIATE_SCOPES);
        if gives { Others::AreTheirs } else { Others::AreNobodys }
    }

    /// Whether the tokens that a caller shows cover something of a server; without any, whether none is demanded.
    pub fn is_in_scope(&self, context: &Context, presented: &Presented, wanted: ScopeTarget<'_>) -> bool {
        hold_to_scopes(self, &context.session.principal, presented, wanted).is_ok()
    }
}

/// Holds a call to the scopes of the tokens it shows, and to those that are demanded without any.
///
/// # Errors
/// A token that is no good, or the scopes that are missing.
pub(crate) fn hold_to_scopes(
    gate: &Gate<'_>,
    principal: &str,
    presented: &Presented,
    wanted: ScopeTarget<'_>,
) -> Result<(), Fault> {
    if presented.is_empty() {
        let demanded = gate.options().demand_scopes;
        let declared = wanted.tool.is_some_and(|(_, policy)| !policy.assessment.scopes.is_empty());
        return if demanded && declared { insufficient(&wanted.missing(&[])) } else { Ok(()) };
    }
    let now = Instant::now();
    for token in &presented.0 {
        let held = gate.tokens.use_scopes(token, principal, now).ok_or_else(|| {
            Fault::new(FaultKind::AuthExpired, "the session token is unknown or has ended")
                .suggest(format!("ask for a new one with `{}`", proposals::NEGOTIATE_SCOPES))
        })?;
        insufficient(&wanted.missing(&held))?;
    }
    Ok(())
}

/// Whether the tokens cover something. It is looked up without anybody having asked for it, so it keeps no token alive.
pub fn covers_quietly(gate: &Gate<'_>, principal: &str, presented: &Presented, wanted: ScopeTarget<'_>) -> bool {
    let now = Instant::now();
    presented.0.iter().all(|token| {
        let held = gate.tokens.scopes(token, principal, now);
        held.is_some_and(|held| wanted.missing(&held).is_empty())
    })
}

/// The same for one request.
pub(crate) async fn check_scopes(gate: &Gate<'_>, attempt: &Attempt<'_>) -> Result<(), Stop> {
    let presented = attempt.tokens(gate);
    let held = hold_to_scopes(gate, &attempt.context.session.principal, &presented, attempt.wanted());
    let Err(fault) = held else { return Ok(()) };
    Err(attempt.refuse_at(gate, step::SCOPES, &fault).await)
}

fn insufficient(missing: &[String]) -> Result<(), Fault> {
    if missing.is_empty() {
        return Ok(());
    }
    let names: Vec<Raw> = missing.iter().map(|scope| Raw::string(scope)).collect();
    let details = Edit::empty().set("missing_scopes", Raw::array(&names)).finish();
    let text = format!("the session lacks the scope {}", missing.join(", "));
    Err(Fault::new(FaultKind::ScopeInsufficient, text)
        .with_details(details)
        .suggest(format!("ask for it with `{}`", proposals::NEGOTIATE_SCOPES)))
}

#[cfg(test)]
mod tests {
    use switchboard_wire::Limits;

    use super::*;

    fn raw(text: &str) -> Raw {
        Raw::parse(text.to_owned(), &Limits::default()).unwrap()
    }

    #[test]
    fn only_our_tokens_are_taken_out() {
        for (params, cleaned) in [
            (r#"{"name":"a","_meta":{"session_token":"sbs_1","k":1.0}}"#, Some(r#"{"name":"a","_meta":{"k":1.0}}"#)),
            (r#"{"_meta":{"dev.switchboard/session_token":"x"}}"#, Some(r#"{"_meta":{}}"#)),
            (
                r#"{"_meta":{"dev.cloto/mgp":{"session_token":"sbs_1","trace_id":"t"}}}"#,
                Some(r#"{"_meta":{"dev.cloto/mgp":{"trace_id":"t"}}}"#),
            ),
            // Of a server, an argument, or none at all.
            (r#"{"_meta":{"session_token":"theirs"}}"#, None),
            (r#"{"arguments":{"session_token":"sbs_1"}}"#, None),
            (r#"{"name":"a","_meta":{"k":1}}"#, None),
        ] {
            assert_eq!(without_token(&raw(params)).as_ref().map(Raw::as_str), cleaned, "{params}");
        }
    }
}
