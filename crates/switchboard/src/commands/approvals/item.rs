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

/// Who would go on after a yes to a held call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallerNow {
    /// It waits for the answer, until then.
    Waits(Timestamp),
    /// It has got the question as its answer, and calls again with what its user says.
    ComesBack,
    /// It has got another answer meanwhile, or its kernel was killed.
    Gone,
}

impl CallerNow {
    const fn word(self) -> &'static str {
        match self {
            Self::Waits(_) => "waits",
            Self::ComesBack => "comes_back",
            Self::Gone => "gone",
        }
    }

    fn told(self, now: Timestamp) -> String {
        match self {
            Self::Waits(until) => format!("its caller waits for the answer, {} more", age(now, until)),
            Self::ComesBack => "its client asks its own user, and calls again with the answer".to_owned(),
            Self::Gone => "its caller waits no longer: after a yes the same call has to be made again".to_owned(),
        }
    }

    /// What follows on a yes.
    pub(super) const fn after_a_yes(self) -> &'static str {
        match self {
            Self::Waits(_) => "its caller waits, and goes on",
            Self::ComesBack => "it counts when its client makes the same call again",
            Self::Gone => "its caller waits no longer: it counts when the same call is made again",
        }
    }
}

impl Item {
    /// Where the caller of a held call is; `None` where that is not known.
    pub(super) fn caller(&self, now: Timestamp) -> Option<CallerNow> {
        let shown = self.shown()?;
        let word = |key: &str| shown.member(key).and_then(|word| word.as_text());
        let until = word("caller_waits_until").and_then(|until| until.parse::<Timestamp>().ok());
        match (word("caller")?.as_str(), until) {
            ("waits", Some(until)) if until > now => Some(CallerNow::Waits(until)),
            ("waits" | "gone", _) => Some(CallerNow::Gone),
            ("comes_back", _) => Some(CallerNow::ComesBack),
            _ => None,
        }
    }

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
                let caller = self.caller(now).map_or_else(String::new, |caller| format!("\n  {}", caller.told(now)));
                let less = member("ask_less").and_then(|less| less.as_text());
                let less =
                    less.map_or_else(String::new, |less| format!("\n  to be asked less about it: `{}`", cell(&less)));
                format!(
                    "{id}  call of {} at {}\n  by {} with {}; risk {}; held {} ago because {}; can be answered {}{caller}\n{arguments}{said}{less}",
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
                    "caller": self.caller(Timestamp::now()).map(CallerNow::word),
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

    fn held(shown: &Value) -> Item {
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
        Item::Call(Box::new(call))
    }

    #[test]
    fn who_decides_sees_whether_anybody_waits_for_it() {
        let until = "1970-01-01T00:00:45Z";
        for (shown, at, word, told) in [
            (
                json!({"caller": "waits", "caller_waits_until": until}),
                5,
                Some("waits"),
                "waits for the answer, 40 s more",
            ),
            (json!({"caller": "waits", "caller_waits_until": until}), 46, Some("gone"), "has to be made again"),
            (json!({"caller": "gone", "caller_waits_until": until}), 5, Some("gone"), "has to be made again"),
            (json!({"caller": "comes_back"}), 200, Some("comes_back"), "calls again with the answer"),
            (json!({}), 5, None, "can be answered"),
            (json!({"caller": "else"}), 5, None, "can be answered"),
        ] {
            let (item, now) = (held(&shown), Timestamp::from_second(at).unwrap());
            assert_eq!(item.caller(now).map(CallerNow::word), word, "{shown}");
            assert!(item.text(now).contains(told), "{shown}: {}", item.text(now));
        }
    }

    #[test]
    fn a_held_call_hides_nothing_and_drives_no_terminal() {
        let shown = json!({"arguments": {"command": "ls\u{1b}[2J\u{202e}"}, "client": "evil\u{7}\nname", "risk_level": "dangerous", "ask_less": "switchboard tools confirm run never"});
        let item = held(&shown);
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
