//! Answers of the tools for finding as a text to be read. Pure.
//!
//! Some clients show a model the text of a result, some its structure, few both. Whoever reads either can call what was
//! found: the structure has the schemas, the text has a line for each tool. Nothing is sent twice in full.

use std::fmt::Write as _;

use serde_json::Value;
use switchboard_catalog::{cut, signature};

use crate::instructions::quoted;

/// Characters of the arguments and of the description of a tool: of the first ones, and of the others.
const FIRST: usize = 3;
const ARGUMENT_CHARS: [usize; 2] = [1_200, 300];
const DESCRIPTION_CHARS: [usize; 2] = [400, 160];

/// An answer as a text.
pub(super) fn readable(answer: &Value) -> Option<String> {
    let found = answer["tools"].as_array().or_else(|| answer["tools_loaded"].as_array())?;
    let mut text = String::new();
    if let Some(status) = answer["status"].as_str() {
        let _ = writeln!(text, "{status}");
    }
    match found.len() {
        0 => text.push_str("No tool was found.\n"),
        _ => text.push_str("Call one of these by its name, or through mgp_tools_call with its name and arguments:\n"),
    }
    for (rank, tool) in found.iter().enumerate() {
        text.push_str(&line(rank, tool));
    }
    notes(answer, &mut text);
    Some(text)
}

fn line(rank: usize, tool: &Value) -> String {
    let share = usize::from(rank >= FIRST);
    let name = tool["name"].as_str().unwrap_or_default();
    let arguments = signature(&tool["inputSchema"], ARGUMENT_CHARS[share]);
    let about = cut(tool["description"].as_str().unwrap_or_default(), DESCRIPTION_CHARS[share]);
    let risk = tool["security"]["risk_level"].as_str().map(|risk| format!(" [{risk}]")).unwrap_or_default();
    format!("\n{}. {name}({arguments}){risk}\n   {about}\n", rank + 1)
}

/// What else the answer says.
fn notes(answer: &Value, text: &mut String) {
    let names = |list: &Value| -> Option<String> {
        let names: Vec<String> =
            list.as_array()?.iter().filter_map(|name| Some(format!("`{}`", name.as_str()?))).collect();
        (!names.is_empty()).then(|| names.join(", "))
    };
    if let Some(omitted) = answer["truncated"]["omitted"].as_u64() {
        let _ = write!(text, "\n{omitted} more did not fit: ask more narrowly.\n");
    }
    if let Some(servers) = names(&answer["servers_starting"]) {
        let _ = write!(text, "\nStill starting, so not searched yet: {servers}. Ask again in a moment.\n");
    }
    if let Some(servers) = names(&answer["servers_missing"]) {
        let _ = write!(
            text,
            "\nNot there, or unable to list their tools, so not searched: {servers}. `switchboard doctor` says why.\n"
        );
    }
    if let Some(missing) = names(&answer["tools_unavailable"]) {
        let _ = write!(text, "\nThere is no tool for: {missing}.\n");
    }
    if let Some(beyond) = names(&answer["tools_not_loaded"]["names"]) {
        let _ = write!(text, "\nFound, callable through mgp_tools_call, and not loaded for lack of room: {beyond}.\n");
    }
    for pending in answer["tools_pending"].as_array().into_iter().flatten() {
        let name = pending["name"].as_str().unwrap_or_default();
        let lacks = names(&pending["permissions_missing"]).unwrap_or_default();
        let _ = write!(text, "\n`{name}` waits for the operator to grant {lacks}.\n");
    }
    if let Some(how) = answer["creation"]["instructions"].as_str() {
        let _ = write!(text, "\n{how}\n");
    }
    for said in answer["server_instructions"].as_array().into_iter().flatten() {
        let (server, words) = (said["server_id"].as_str().unwrap_or_default(), said["instructions"].as_str());
        let _ = write!(text, "\n{}\n", quoted(server, words.unwrap_or_default()));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_text_has_what_is_needed_to_call_a_tool_and_what_is_missing() {
        let schema = json!({"type": "object", "properties": {"zone": {"type": "string", "description": "Where"}},
            "required": ["zone"]});
        let answer = json!({
            "tools": [{"name": "clock__now", "description": "The time\n in a zone", "inputSchema": schema,
                "security": {"risk_level": "safe"}}],
            "truncated": {"omitted": 2}, "servers_starting": ["excel"], "servers_missing": ["linear"],
            "server_instructions": [{"server_id": "clock", "instructions": "Say\nwhere."}],
        });
        let text = readable(&answer).unwrap();
        for part in [
            "1. clock__now(zone: string \"Where\") [safe]\n",
            "2 more did not fit",
            "not searched yet: `excel`",
            "unable to list their tools, so not searched: `linear`",
            "Server `clock` says of its tools, in its own words:\n> Say\n> where.",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(readable(&json!({"tools": []})).unwrap().starts_with("No tool was found."));
        assert_eq!(readable(&json!({"pinned": []})), None, "others are short as they are");
    }
}
