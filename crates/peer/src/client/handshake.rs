//! What the answers to the first requests mean: which era, which revision, who the server is.

use switchboard_protocol::Revision;
use switchboard_protocol::mcp::meta;
use switchboard_wire::{ErrorObject, Object, Raw};

use super::{ConnectError, ServerProfile};
use crate::Caller;

/// Codes that only a modern server gives: header mismatch, missing capability, unsupported version.
const MODERN_CODES: std::ops::RangeInclusive<i64> = -32022..=-32020;
const UNSUPPORTED_VERSION: i64 = -32022;

/// What the answer to `server/discover` shows.
#[derive(Debug)]
pub(super) enum Probe {
    /// The server speaks our modern revision.
    Modern(ServerProfile),
    /// The server is modern, rejected this request, and names our revision among those it speaks: ask again.
    AskAgain(ErrorObject),
    /// The server is modern, and there is nothing to agree on.
    Impossible(ConnectError),
    /// Anything else: a legacy server, or none.
    Legacy,
}

/// Judges the answer to `server/discover`. No single code means "legacy": everything that is not modern does.
pub(super) fn judge_discover(outcome: Result<Raw, ErrorObject>) -> Probe {
    match outcome {
        Ok(result) => {
            let Some(supported) = result.member("supportedVersions").as_ref().and_then(texts) else {
                return Probe::Legacy;
            };
            if supported.iter().any(|version| version == Revision::LATEST.as_str()) {
                return Probe::Modern(profile_of_discover(&result));
            }
            // The server answered `server/discover`, so it is not to be initialized, whatever else it lists.
            Probe::Impossible(ConnectError::NoCommonRevision { supported })
        }
        Err(error) if MODERN_CODES.contains(&error.code) => {
            let supported = error.data.as_ref().and_then(|data| texts(&data.member("supported")?));
            match supported {
                Some(supported) if supported.iter().any(|version| version == Revision::LATEST.as_str()) => {
                    Probe::AskAgain(error)
                }
                Some(supported) if error.code == UNSUPPORTED_VERSION => {
                    Probe::Impossible(ConnectError::NoCommonRevision { supported })
                }
                // A code in this range without the data that goes with it may be a legacy server's own.
                None if error.code == UNSUPPORTED_VERSION => Probe::Legacy,
                _ => Probe::Impossible(ConnectError::Refused { step: "server/discover", error }),
            }
        }
        Err(_) => Probe::Legacy,
    }
}

/// Reads the result of `initialize`.
pub(super) fn judge_initialize(outcome: Result<Raw, ErrorObject>) -> Result<(Revision, ServerProfile), ConnectError> {
    const STEP: &str = "initialize";
    let result = outcome.map_err(|error| ConnectError::Refused { step: STEP, error })?;
    let bad = |why: &str| ConnectError::BadAnswer { step: STEP, why: why.to_owned() };
    let object = Object::open(&result).map_err(|refusal| bad(&refusal.to_string()))?;
    let version = object.text("protocolVersion").ok_or_else(|| bad("it names no protocolVersion"))?;
    let revision = Revision::parse(&version)
        .filter(|revision| revision.era() == switchboard_protocol::Era::Legacy)
        .ok_or_else(|| ConnectError::NoCommonRevision { supported: vec![version] })?;
    let profile = ServerProfile {
        info: object.get("serverInfo").map(|info| info.detach()),
        capabilities: object.get("capabilities").map_or_else(Raw::empty_object, |capabilities| capabilities.detach()),
        instructions: object.text("instructions"),
        result: result.detach(),
    };
    Ok((revision, profile))
}

fn profile_of_discover(result: &Raw) -> ServerProfile {
    ServerProfile {
        // Early servers put it at the top.
        info: result
            .at(&["_meta", meta::SERVER_INFO])
            .or_else(|| result.member("serverInfo"))
            .map(|info| info.detach()),
        capabilities: result
            .member("capabilities")
            .map_or_else(Raw::empty_object, |capabilities| capabilities.detach()),
        instructions: result.member("instructions").and_then(|text| text.as_text()),
        result: result.detach(),
    }
}

/// A modern server that does not offer `server/discover` has said nothing of itself.
pub(super) const fn silent_profile() -> ServerProfile {
    ServerProfile { info: None, capabilities: Raw::empty_object(), instructions: None, result: Raw::empty_object() }
}

/// The far side as the caller of what it sends to us.
pub(super) fn as_caller(revision: Revision, profile: &ServerProfile) -> Caller {
    Caller { revision, info: profile.info.clone(), capabilities: profile.capabilities.clone() }
}

fn texts(raw: &Raw) -> Option<Vec<String>> {
    Some(raw.elements()?.iter().filter_map(Raw::as_text).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use switchboard_wire::Limits;

    fn raw(text: &str) -> Raw {
        Raw::parse(text.as_bytes().to_vec(), &Limits::default()).unwrap()
    }

    fn error(code: i64, data: Option<&str>) -> Result<Raw, ErrorObject> {
        Err(ErrorObject { data: data.map(raw), ..ErrorObject::new(code, "no") })
    }

    #[test]
    fn only_modern_answers_are_taken_for_modern() {
        let cases: &[(&str, Result<Raw, ErrorObject>)] = &[
            ("modern", Ok(raw(r#"{"supportedVersions":["2025-11-25","2026-07-28"],"capabilities":{}}"#))),
            ("impossible", Ok(raw(r#"{"supportedVersions":["2025-11-25"]}"#))),
            ("impossible", Ok(raw(r#"{"supportedVersions":["2031-01-01"]}"#))),
            ("legacy", Ok(raw("{}"))),
            ("legacy", error(-32601, None)),
            ("legacy", error(-32602, None)),
            ("legacy", error(-32000, None)),
            ("legacy", error(-32022, None)),
            ("again", error(-32022, Some(r#"{"supported":["2026-07-28"],"requested":"x"}"#))),
            ("impossible", error(-32022, Some(r#"{"supported":["2031-01-01"],"requested":"x"}"#))),
            ("impossible", error(-32021, Some(r#"{"requiredCapabilities":{}}"#))),
            ("impossible", error(-32020, None)),
        ];
        for (expected, outcome) in cases {
            let found = match judge_discover(outcome.clone()) {
                Probe::Modern(_) => "modern",
                Probe::AskAgain(_) => "again",
                Probe::Impossible(_) => "impossible",
                Probe::Legacy => "legacy",
            };
            assert_eq!(found, *expected, "{outcome:?}");
        }
    }

    #[test]
    fn initialize_is_only_accepted_with_a_legacy_revision() {
        let good = raw(r#"{"protocolVersion":"2024-11-05","capabilities":{"x":1},"serverInfo":{"name":"s"},"y":2}"#);
        let (revision, profile) = judge_initialize(Ok(good.clone())).unwrap();
        assert_eq!(revision, Revision::V2024_11_05);
        assert_eq!(profile.capabilities.as_str(), r#"{"x":1}"#);
        assert_eq!(profile.result, good);
        for bad in [r#"{"protocolVersion":"2026-07-28"}"#, r#"{"protocolVersion":"1"}"#, "{}", "[]"] {
            assert!(judge_initialize(Ok(raw(bad))).is_err(), "{bad}");
        }
    }
}
