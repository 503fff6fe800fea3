//! What Claude Code may not use by its user's settings, which stand beside its servers in a file of their own.
//!
//! A rule is `mcp__server`, `mcp__server__*` or `mcp__server__tool`. Rules about other tools than those of servers are none of ours.

use std::path::Path;

use serde_json::Value;

use super::{Client, ImportError, Imported, json};

/// Switches off what `permissions.deny` of the user's `settings.json` keeps Claude Code from using.
///
/// # Errors
/// When the text is not JSON.
pub fn switch_denied_off(file: &Path, text: &str, servers: &mut [Imported]) -> Result<(), ImportError> {
    let settings = json::value(file, text)?.unwrap_or_default();
    let rules = settings.get("permissions").and_then(|permissions| permissions.get("deny")).and_then(Value::as_array);
    for rule in rules.into_iter().flatten().filter_map(Value::as_str) {
        for server in servers.iter_mut().filter(|server| server.client == Client::ClaudeCode) {
            if let Some(tool) = denied(rule, &server.name) {
                deny(server, rule, tool);
            }
        }
    }
    Ok(())
}

/// What a rule denies of a server: a tool, or all of it, which is the empty name.
fn denied<'r>(rule: &'r str, server: &str) -> Option<&'r str> {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
    let prefix: String = "mcp__".chars().chain(server.chars().map(plain)).collect();
    let rest = rule.strip_prefix(&prefix)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix("__").filter(|tool| !tool.is_empty()) }
}

fn deny(server: &mut Imported, rule: &str, tool: &str) {
    match tool {
        "" | "*" => {
            server.entry.enabled = Some(false);
            server.notes.push(format!("Claude Code denies all of it with {rule:?}, and so it is switched off here"));
        }
        pattern if pattern.contains('*') => {
            let note = format!("Claude Code denies {rule:?}, and a pattern of tools has no counterpart here");
            server.notes.push(note.clone());
            server.untranslated = Some(note);
        }
        tool => server.entry.switch_off(tool),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_denied_is_switched_off() {
        let text = r#"{"mcpServers": {"git hub": {"command": "a"}, "git": {"command": "b"}, "c": {"command": "c"}, "d": {"command": "d"}}}"#;
        let file = Path::new("/h/.claude.json");
        let mut servers = super::super::read_user_file(Client::ClaudeCode, file, text).unwrap().servers;
        let rules = r#"// mine
            {"permissions": {"deny": ["mcp__git_hub__delete", "mcp__git_hub__drop_all", "Bash(rm:*)", "mcp__c", "mcp__d__write_*", 5]}}"#;
        switch_denied_off(Path::new("/h/.claude/settings.json"), rules, &mut servers).unwrap();
        let off = |name: &str| {
            let server = servers.iter().find(|server| server.name == name).unwrap();
            let tools: Vec<&str> = server.entry.tools.keys().map(String::as_str).collect();
            (tools, server.entry.enabled, server.untranslated.is_some())
        };
        assert_eq!(off("git hub"), (vec!["delete", "drop_all"], None, false));
        assert_eq!(off("git"), (vec![], None, false));
        assert_eq!(off("c"), (vec![], Some(false), false));
        assert_eq!(off("d"), (vec![], None, true));
        assert!(switch_denied_off(Path::new("s.json"), "{", &mut servers).is_err());
        assert!(switch_denied_off(Path::new("s.json"), "", &mut servers).is_ok());
    }
}
