//! What the token and the profile of a session cover, as the servers and settings are now.

use switchboard_peer::Session;
use switchboard_protocol::mgp::Risk;
use switchboard_upstream::names;

use crate::{Gate, Profile, ToolPolicy};

/// Whether the token and the profile of a session cover a tool of a server, given by the server's name and the one that
/// clients see; without a tool, the server as a whole.
pub(crate) fn covers(gate: &Gate<'_>, session: &Session, server: &str, tool: Option<(&str, &str)>) -> bool {
    let identity = &session.identity;
    if !identity.is_limited() {
        return true;
    }
    let options = gate.options();
    let Some((original, exposed)) = tool else {
        let by_profile = options.profile_of(session).map(|profile| profile.map(|profile| profile.has_server(server)));
        // A token for single tools opens nothing else of their server.
        return identity.covers_whole_server(server) && by_profile.is_none_or(Option::unwrap_or_default);
    };
    // By its own name, its alias and its id: what was said before there was an alias, or a second server, still counts.
    let (long, by_id) = (naming_of(gate, server).expose(original), names::expose(server, original));
    let called = [exposed, &long, &by_id];
    let by_token = called.iter().any(|name| identity.covers_tool(server, name));
    let has_tool = |profile: &Profile| {
        profile.has_tool(server, original, called)
            && (profile.max_risk.is_none() || risk_of(gate, exposed).is_none_or(|risk| profile.bears(risk)))
    };
    let by_profile = options.profile_of(session).map(|profile| profile.map(has_tool));
    by_token && by_profile.is_none_or(Option::unwrap_or_default)
}

/// How the tools of a server are called; by its id, where it is not there.
pub(crate) fn naming_of(gate: &Gate<'_>, server: &str) -> names::Naming {
    let found = gate.server(server);
    found.map_or_else(|| names::Naming::of(server), |found| found.naming())
}

fn risk_of(gate: &Gate<'_>, exposed: &str) -> Option<Risk> {
    Some(gate.offers().tool(exposed)?.policy?.assessment.risk)
}

/// Whether the profile of a session bears what is about to be done.
pub(crate) fn profile_bears(gate: &Gate<'_>, session: &Session, policy: &ToolPolicy) -> bool {
    let options = gate.options();
    options.profile_of(session).is_none_or(|profile| profile.is_some_and(|one| one.bears(policy.assessment.risk)))
}

/// Whether a person is asked before something because of the profile of the session.
pub(crate) fn profile_asks(gate: &Gate<'_>, session: &Session, policy: &ToolPolicy) -> bool {
    gate.options().profile_of(session).flatten().is_some_and(|one| one.asks_about(policy.assessment.risk))
}
