//! One thing that waits for a decision, and how a person is shown it: everything that matters, and nothing hidden.

use jiff::Timestamp;
use serde_json::{Value, json};
use switchboard_policy::permission::name;
use switchboard_policy::redact;
use switchboard_store::{Approval, Pin, ServerPermission};
use switchboard_wire::{Limits, Raw};

use crate::commands::operator_session::{age, cell, until, visible};
use crate::commands::pins;

/// Letters of an id or a hash that are shown to people.
const SHORT: usize = 12;

/// What waits.
#[derive(Debug)]
pub(super) enum Item {
    /// A call that a kernel holds.
    Call(Box<Approval>),
    /// A permission that a server asks for.
    Permission(ServerPermission),
    /// A definition that nobody has accepted.
    Definition(Box<Pin>),
}

impl Item {
    /// The name under which it is answered. That of a definition says which one was seen.
    pub(super) fn id(&self) -> String {
        match self {
            Self::Call(call) => call.held.id.clone(),
            Self::Permission(asked) => format!("permission:{}/{}", asked.server, asked.permission),
            Self::Definition(pin) => {
                let hash = pin.shown_hash.to_string();
                format!("definition:{}/{}@{}", pin.server, pin.tool, &hash[..SHORT])
            }
        }
    }

    /// The same, no longer than a person needs.
    pub(super) fn short(&self) -> String {
        let id = self.id();
        match self {
            Self::Call(_) => id.get(..SHORT).map(str::to_owned).unwrap_or(id),
            _ => id,
        }
    }

    fn shown(&self) -> Option<Raw> {
        let Self::Call(call) = self else { return None };
        // What was taken as arguments can be shown, with what stands around it.
        let limits = Limits { bytes: usize::MAX, depth: 1_024, keys: usize::MAX, ..Limits::default() };
        Raw::parse(call.held.shown.as_ref()?.get().to_owned(), &limits).ok()
    }

    /// Everything that a person has to know to decide.
    pub(super) fn text(&self, now: Timestamp) -> String {
        let id = cell(&self.short());
        match self {
            Self::Call(call) => {
                let (held, shown) = (&call.held, self.shown());
                let member = |key: &str| shown.as_ref().and_then(|shown| shown.member(key));
                let word = |key: &str| member(key).and_then(|word| word.as_text());
                let word = |key: &str| word(key).map_or_else(|| "unknown".to_owned(), |word| cell(&word));
                let indented = |text: &str| text.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n");
                // All of it, to the last character: what is left out is not agreed to.
                let arguments = match member("arguments").and_then(|arguments| redact::shown(&arguments)) {
                    None => "  (not kept)".to_owned(),
                    Some(text) => indented(&text),
                };
                // Of what was held by an earlier version only the short name of the reason is known.
                let because = member("because").and_then(|because| because.as_text());
                let because = because.map_or_else(|| format!("of: {}", cell(&held.reason)), |because| cell(&because));
                let said = member("server_says").and_then(|said| said.as_text());
                let said = said
                    .map_or_else(String::new, |said| format!("\n  the server says:\n{}", indented(&visible(&said))));
                let less = member("ask_less").and_then(|less| less.as_text());
                let less =
                    less.map_or_else(String::new, |less| format!("\n  to be asked less about it: `{}`", cell(&less)));
                format!(
                    "{id}  call of {} at {}\n  by {} with {}; risk {}; held {} ago because {}; can be answered {}\n{arguments}{said}{less}",
                    cell(&held.tool),
                    cell(&held.server),
                    cell(&held.principal),
                    word("client"),
                    word("risk_level"),
                    age(held.created_at, now),
                    because,
                    until(Some(held.expires_at)),
                )
            }
            Self::Permission(asked) => format!(
                "{id}  server {} asks for {} (risk {}){}, {} ago",
                cell(&asked.server),
                cell(&asked.permission),
                name::risk(&asked.permission).as_str(),
                asked.justification.as_deref().map_or_else(String::new, |why| format!(" {}", cell(why))),
                age(asked.granted_at, now),
            ),
            Self::Definition(pin) => {
                let why = match pins::screened(pin) {
                    Some(finding) if pin.accepted.is_none() => format!("it is suspicious: {}", cell(&finding)),
                    Some(finding) => format!("it changed, and it is suspicious: {}", cell(&finding)),
                    None => "it changed".to_owned(),
                };
                format!(
                    "{id}  definition of {} of {} is held back: {why}\n  see it with `switchboard pins show {} {}`",
                    cell(&pin.tool),
                    cell(&pin.server),
                    cell(&pin.server),
                    cell(&pin.tool),
                )
            }
        }
    }

    pub(super) fn json(&self) -> Value {
        match self {
            Self::Call(call) => {
                let (held, shown) = (&call.held, self.shown());
                let shown: Value = shown.and_then(|shown| shown.view().ok()).unwrap_or_default();
                json!({
                    "id": self.id(),
                    "kind": "call",
                    "agent_id": held.principal,
                    "client": shown["client"],
                    "server_id": held.server,
                    "tool_name": held.tool,
                    "risk_level": shown["risk_level"],
                    "reason": held.reason,
                    "because": shown["because"],
                    "arguments": shown["arguments"],
                    "arguments_sha256": shown["arguments_sha256"],
                    "definition_sha256": shown["definition_sha256"],
                    "server_says": shown["server_says"],
                    "ask_less": shown["ask_less"],
                    "session": held.session.is_some(),
                    "created_at": held.created_at.to_string(),
                    "expires_at": held.expires_at.to_string(),
                })
            }
            Self::Permission(asked) => json!({
                "id": self.id(),
                "kind": "permission",
                "server_id": asked.server,
                "permission": asked.permission,
                "risk_level": name::risk(&asked.permission).as_str(),
                "why": asked.justification,
                "created_at": asked.granted_at.to_string(),
            }),
            Self::Definition(pin) => {
                let mut shown = pins::pin_json(pin, true);
                shown["id"] = json!(self.id());
                shown["kind"] = json!("definition");
                shown
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;
    use switchboard_store::{ApprovalState, Digest, HeldCall, Reuse};

    use super::*;

    #[test]
    fn a_held_call_hides_nothing_and_drives_no_terminal() {
        let shown = json!({"arguments": {"command": "ls\u{1b}[2J\u{202e}"}, "client": "evil\u{7}\nname", "risk_level": "dangerous", "ask_less": "switchboard tools confirm run never"});
        let call = Approval {
            held: HeldCall {
                id: "0123456789abcdef".to_owned(),
                principal: "ann".to_owned(),
                session: None,
                server: "shell".to_owned(),
                tool: "run".to_owned(),
                arguments: Digest::of(b"x"),
                shown: Some(RawValue::from_string(shown.to_string()).unwrap()),
                reason: "dangerous".to_owned(),
                token: None,
                created_at: Timestamp::UNIX_EPOCH,
                expires_at: Timestamp::from_second(300).unwrap(),
            },
            state: ApprovalState::Pending,
            reuse: Reuse::Once,
            decided_by: None,
            decided_at: None,
            decision_reason: None,
            uses: 0,
            used_at: None,
        };
        let item = Item::Call(Box::new(call));
        let text = item.text(Timestamp::from_second(5).unwrap());
        assert!(
            text.starts_with(
                "0123456789ab  call of run at shell\n  by ann with evil\\u{7}\\nname; risk dangerous; held 5 s ago"
            ),
            "{text}"
        );
        assert!(text.contains("ls\\u001b[2J\\u{202e}"), "{text}");
        assert!(text.ends_with("\n  to be asked less about it: `switchboard tools confirm run never`"), "{text}");
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
    }
}
