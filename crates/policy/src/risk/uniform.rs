//! Hints that a server gives to every tool alike, as the default of its library: they tell one tool from another no more than
//! none would.
//!
//! Servers that are written with some libraries say `readOnlyHint: false` and `destructiveHint: true` of whatever they list, unless
//! their author says something else. What is left out here is judged as the same server without hints is, and so never as less.

use switchboard_protocol::mgp::security::{Hints, ToolSecurity};
use switchboard_protocol::mgp::{Risk, TrustLevel};

use super::{OperatorWord, assess};

/// Fewer tools may well be destructive, every one of them.
const MIN_TOOLS: usize = 3;

/// Whether the hints of a server's tools tell nothing: each of at least three tools has the same, that it may destroy and does not
/// only read, and of at least one of them everything else that is said of it says that it does only read.
#[must_use]
pub fn hints_tell_nothing<'a>(
    tools: impl Iterator<Item = (&'a str, &'a ToolSecurity)>,
    trust: TrustLevel,
    mgp: bool,
) -> bool {
    let (mut count, mut contradicted, mut common) = (0_usize, false, None);
    for (name, declared) in tools {
        let hints = declared.hints;
        if (hints.read_only, hints.destructive) != (Some(false), Some(true)) || *common.get_or_insert(hints) != hints {
            return false;
        }
        count += 1;
        // That an operator trusts a server says nothing of what its tools do.
        contradicted = contradicted || {
            let trust = trust.min(TrustLevel::Standard);
            assess(&without_hints(declared), name, &OperatorWord::default(), trust, mgp).risk == Risk::Safe
        };
    }
    contradicted && count >= MIN_TOOLS
}

/// What a server says of a tool, but its hints.
#[must_use]
pub fn without_hints(declared: &ToolSecurity) -> ToolSecurity {
    ToolSecurity { hints: Hints::default(), ..declared.clone() }
}

#[cfg(test)]
mod tests {
    use switchboard_wire::{Limits, Raw};

    use super::*;

    const DEFAULT: &str =
        r#"{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":true}"#;
    const NAMES: [&str; 4] =
        ["excel_read_sheet", "excel_describe_sheets", "excel_write_to_sheet", "excel_delete_sheet"];

    fn said(name: &str, hints: &str) -> (String, ToolSecurity) {
        let does = match name {
            "excel_read_sheet" => "Read values of a sheet",
            "excel_describe_sheets" => "List the sheets of a file",
            "excel_delete_sheet" => "Delete a sheet",
            _ => "Write values to a sheet",
        };
        let text = format!(
            r#"{{"name":"{name}","description":"{does}","annotations":{hints},
            "inputSchema":{{"type":"object","properties":{{"sheet":{{"type":"string"}}}}}}}}"#
        );
        (name.to_owned(), ToolSecurity::of(&Raw::parse(text, &Limits::default()).unwrap()))
    }

    fn tell_nothing(tools: &[(String, ToolSecurity)], trust: TrustLevel) -> bool {
        hints_tell_nothing(tools.iter().map(|(name, said)| (name.as_str(), said)), trust, false)
    }

    #[test]
    fn hints_that_every_tool_has_tell_nothing_where_one_of_them_only_reads() {
        let all = NAMES.map(|name| said(name, DEFAULT));
        assert!(tell_nothing(&all, TrustLevel::Standard));
        assert!(tell_nothing(&all, TrustLevel::Core));
        assert!(!tell_nothing(&all, TrustLevel::Untrusted), "nothing of such a server is safe");
        assert!(!tell_nothing(&all[..2], TrustLevel::Standard), "two are too few");
        let grave = ["excel_write_to_sheet", "excel_delete_sheet", "excel_delete_rows"].map(|name| said(name, DEFAULT));
        assert!(!tell_nothing(&grave, TrustLevel::Core), "nothing speaks against the hint");
        assert!(!tell_nothing(&[], TrustLevel::Standard));
    }

    #[test]
    fn a_hint_counts_where_a_server_tells_its_tools_apart() {
        let others = [
            "{}",
            r#"{"readOnlyHint":true}"#,
            r#"{"destructiveHint":true}"#,
            r#"{"readOnlyHint":false,"destructiveHint":false,"idempotentHint":false,"openWorldHint":true}"#,
            r#"{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":true,"openWorldHint":true}"#,
        ];
        for other in others {
            for at in 0..NAMES.len() {
                let mut all = NAMES.map(|name| said(name, DEFAULT));
                all[at] = said(NAMES[at], other);
                assert!(!tell_nothing(&all, TrustLevel::Standard), "{other} at {at}");
            }
            let all = NAMES.map(|name| said(name, other));
            assert_eq!(tell_nothing(&all, TrustLevel::Standard), other.contains("\"idempotentHint\":true"), "{other}");
        }
    }

    /// Without its hints a tool is what the same tool of a server that gives none is.
    #[test]
    fn a_tool_is_never_less_than_without_hints() {
        for name in NAMES {
            let (hinted, plain) = (said(name, DEFAULT).1, said(name, "{}").1);
            for trust in [TrustLevel::Core, TrustLevel::Standard, TrustLevel::Untrusted] {
                let weigh = |said: &ToolSecurity| assess(said, name, &OperatorWord::default(), trust, false);
                assert_eq!(weigh(&without_hints(&hinted)), weigh(&plain), "{name}");
            }
        }
    }
}
