//! The risk of tools of public servers, against what a person said of them.
//!
//! The tables hold names and arguments; the figures for whole definitions are in `docs/security.md`.

use std::fmt::Write as _;
use std::path::Path;

use switchboard_policy::risk::{Assessment, OperatorWord, assess};
use switchboard_protocol::mgp::security::ToolSecurity;
use switchboard_protocol::mgp::{Risk, TrustLevel, ValidatorName};
use switchboard_wire::{Limits, Raw};

fn quoted(text: &str) -> String {
    Raw::string(text).as_str().to_owned()
}

/// The definition that a line of a table stands for.
fn definition(name: &str, says: &str, arguments: &str, hints: &str) -> Raw {
    let properties = arguments.split_whitespace().map(|argument| {
        if let Some((name, words)) = argument.split_once('=') {
            let words: Vec<String> = words.split('/').map(quoted).collect();
            return format!("{}:{{\"enum\":[{}]}}", quoted(name), words.join(","));
        }
        match argument.strip_suffix('#') {
            Some(name) => format!("{}:{{\"type\":\"integer\"}}", quoted(name)),
            None => format!("{}:{{\"type\":\"string\"}}", quoted(argument)),
        }
    });
    let hints = hints.split_whitespace().map(|hint| format!("{}:true", quoted(hint)));
    let text = format!(
        "{{\"name\":{},\"description\":{},\"inputSchema\":{{\"type\":\"object\",\"properties\":{{{}}}}},\"annotations\":{{{}}}}}",
        quoted(name),
        quoted(says),
        properties.collect::<Vec<_>>().join(","),
        hints.collect::<Vec<_>>().join(","),
    );
    Raw::parse(text, &Limits::default()).expect("valid JSON")
}

fn weighed(name: &str, definition: &Raw) -> Assessment {
    assess(&ToolSecurity::of(definition), name, &OperatorWord::default(), TrustLevel::Standard, false)
}

/// How many lines of a table are as wanted, and which are not.
fn measured(table: &str, wanted: impl Fn(&Assessment) -> bool) -> (usize, Vec<String>) {
    let lines: Vec<&str> = table.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()).collect();
    let mut wrong = Vec::new();
    for line in &lines {
        let parts: Vec<&str> = line.split('|').map(str::trim).collect();
        let part = |at: usize| parts.get(at).copied().unwrap_or_default();
        let found = weighed(part(1), &definition(part(1), part(2), part(3), part(4)));
        if !wanted(&found) {
            wrong.push(format!("{} {}: {}, {}", part(0), part(1), found.risk.as_str(), found.reason));
        }
    }
    (lines.len(), wrong)
}

#[test]
fn dangerous_tools_are_asked_about_or_judged() {
    let judging = [ValidatorName::Sandbox, ValidatorName::CodeSafety, ValidatorName::Readonly];
    let (all, wrong) = measured(include_str!("tables/tools-dangerous.txt"), |found| {
        found.confirm.is_some() || found.validators.iter().any(|one| judging.contains(one))
    });
    assert!(all >= 150 && wrong.len() * 50 <= all, "{} of {all}: {wrong:#?}", wrong.len());
}

#[test]
fn what_changes_grave_things_and_what_nobody_has_a_word_for_is_asked_about() {
    let judging = [ValidatorName::Sandbox, ValidatorName::CodeSafety, ValidatorName::Readonly];
    let (all, wrong) = measured(include_str!("tables/tools-grave.txt"), |found| {
        found.confirm.is_some() || found.validators.iter().any(|one| judging.contains(one))
    });
    assert!(all >= 300 && wrong.len() * 50 <= all, "{} of {all}: {wrong:#?}", wrong.len());
}

#[test]
fn nobody_is_asked_about_the_tools_of_a_working_day() {
    let (all, wrong) = measured(include_str!("tables/tools-unasked.txt"), |found| found.confirm.is_none());
    assert!(all >= 75 && wrong.is_empty(), "{} of {all}: {wrong:#?}", wrong.len());
}

/// The definition that a line of the table with described arguments stands for.
fn described(line: &str) -> (String, Raw) {
    let parts: Vec<&str> = line.split('|').map(str::trim).collect();
    let part = |at: usize| parts.get(at).copied().unwrap_or_default();
    let arguments = part(2).split("; ").filter_map(|argument| argument.split_once(": "));
    let properties = arguments
        .map(|(key, says)| format!("{}:{{\"type\":\"string\",\"description\":{}}}", quoted(key), quoted(says)));
    let text = format!(
        "{{\"name\":{},\"description\":{},\"inputSchema\":{{\"type\":\"object\",\"properties\":{{{}}}}},\"annotations\":{{{}}}}}",
        quoted(part(0)),
        quoted(part(1)),
        properties.collect::<Vec<_>>().join(","),
        if part(3).is_empty() { String::new() } else { format!("{}:true", quoted(part(3))) },
    );
    (part(0).to_owned(), Raw::parse(text, &Limits::default()).expect("valid JSON"))
}

#[test]
fn whatever_carries_statements_code_or_rights_is_asked_about_or_judged() {
    let judging = [ValidatorName::Sandbox, ValidatorName::CodeSafety, ValidatorName::Readonly];
    let table = include_str!("tables/tools-carrying.txt");
    let wrong: Vec<String> = table
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .filter_map(|line| {
            let (name, definition) = described(line);
            let found = weighed(&name, &definition);
            let held = found.confirm.is_some() || found.validators.iter().any(|one| judging.contains(one));
            (!held).then(|| format!("{name}: {}, {}", found.risk.as_str(), found.reason))
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_tool_that_says_it_selects_is_held_to_that() {
    let says = "Execute SELECT queries and data retrieval operations - operation=\"select/count/exists\" with query";
    let (name, definition) = described(&format!("pg_execute_query | {says} | query: SQL SELECT query to execute"));
    assert_eq!(weighed(&name, &definition).validators, [ValidatorName::Readonly]);
    // One that speaks of writing as well is asked about.
    let says = "Run statements. Use read-only mode for SELECT; INSERT and DDL work too";
    let (name, definition) = described(&format!("pg_run | {says} | query: SQL"));
    let found = weighed(&name, &definition);
    assert!(found.validators.is_empty() && found.confirm.is_some() && found.easing.is_some(), "{found:?}");
    // Names with a hump are one word: nobody clicks in ClickHouse, and GraphQL changes things.
    let (name, definition) = described("ask | ClickHouse | q: SQL for ClickHouse");
    assert!(weighed(&name, &definition).confirm.is_some());
    let (name, definition) = described("shop | Shop | query: GraphQL query or mutation");
    assert!(weighed(&name, &definition).confirm.is_some());
}

#[test]
fn a_hint_that_something_is_destroyed_is_asked_about() {
    for (name, asked) in [("create_thing", true), ("get_thing", true), ("add_row", true), ("browser_click", false)] {
        let (name, definition) = described(&format!("{name} | Does it | id: which one | destructiveHint"));
        assert_eq!(weighed(&name, &definition).confirm.is_some(), asked, "{name}");
    }
}

#[test]
fn reading_tools_are_safe() {
    let (all, wrong) = measured(include_str!("tables/tools-reading.txt"), |found| found.risk == Risk::Safe);
    assert!(all >= 300 && wrong.len() * 10 <= all, "{} of {all}: {wrong:#?}", wrong.len());
}

#[test]
#[ignore = "prints what holds for the definitions in a folder: one file with a `tools/list` result for each server"]
#[expect(clippy::disallowed_methods, reason = "a run by hand is given what it works on")]
fn definitions_in_a_folder() {
    let folder = std::env::var("RISK_DEFINITIONS").expect("a folder");
    let mut out = String::new();
    let mut files: Vec<_> = std::fs::read_dir(Path::new(&folder)).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    for file in files.iter().filter(|file| file.extension().is_some_and(|ending| ending == "json")) {
        let text = std::fs::read_to_string(file).unwrap();
        let limits = Limits { bytes: 64 << 20, keys: 10_000_000, ..Limits::default() };
        let raw = Raw::parse(text, &limits).unwrap();
        let tools = raw.member("tools").or_else(|| raw.at(&["result", "tools"])).and_then(|tools| tools.elements());
        for tool in tools.unwrap_or_default() {
            let name = tool.member("name").and_then(|name| name.as_text()).unwrap_or_default();
            let found = weighed(&name, &tool);
            let checks: Vec<_> = found.validators.iter().map(|one| one.as_str()).collect();
            let server = file.file_stem().unwrap().to_string_lossy();
            let asks = if found.confirm.is_some() { "asks" } else { "-" };
            let (risk, checks) = (found.risk.as_str(), checks.join(","));
            writeln!(out, "{server}\t{name}\t{risk}\t{asks}\t{checks}\t{}", found.reason).unwrap();
        }
    }
    std::fs::write(std::env::var("RISK_OUT").expect("a file"), out).unwrap();
}

/// A server says of itself what it likes: where its name or an argument speaks of something grave, no sentence takes that back.
#[test]
fn no_description_takes_back_what_name_and_arguments_say() {
    let soothing = [
        "Get the details of an item.",
        "Lists all items.",
        "Retrieve the current state.",
        "Search for items.",
        "Shows a list of available commands.",
        "Read-only view of items. Never changes anything.",
        "Gets the page in a browser.",
        "Returns information.",
        "State of a thing",
    ];
    let judging = [ValidatorName::Sandbox, ValidatorName::CodeSafety, ValidatorName::Readonly];
    let mut lowered = Vec::new();
    for table in [include_str!("tables/tools-dangerous.txt"), include_str!("tables/tools-grave.txt")] {
        for line in table.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
            let parts: Vec<&str> = line.split('|').map(str::trim).collect();
            let part = |at: usize| parts.get(at).copied().unwrap_or_default();
            let bare = weighed(part(1), &definition(part(1), "", part(3), part(4)));
            // Where nothing is said, a sentence tells what it is.
            let is_said = bare.reason.contains("its name") || bare.reason.contains("its argument");
            if bare.confirm.is_none() || !is_said {
                continue;
            }
            for says in soothing {
                let found = weighed(part(1), &definition(part(1), says, part(3), part(4)));
                let is_judged = found.validators.iter().any(|one| judging.contains(one));
                if found.confirm.is_none() && !is_judged {
                    lowered.push(format!("{} {says}: {} -> {}", part(1), bare.reason, found.reason));
                }
            }
        }
    }
    assert!(lowered.is_empty(), "{}: {lowered:#?}", lowered.len());
}

/// What the arguments carry is told by their names, whatever is said of them.
#[test]
fn no_description_of_an_argument_makes_a_command_a_word() {
    for (name, key, says) in [
        ("compute", "command", "One of the allowed options"),
        ("kubectl_generic", "command", "Possible values: get, describe"),
        ("tool", "shell_command", "One of the available commands"),
    ] {
        let line = format!("{name} | Returns information. | {key}: {says}");
        let (name, definition) = described(&line);
        let found = weighed(&name, &definition);
        assert!(found.validators.contains(&ValidatorName::Sandbox), "{line}: {}", found.reason);
    }
}

/// A name that is one of a thing gives way to a sentence that looks.
#[test]
fn names_of_things_are_no_deeds() {
    for name in [
        "swap_quote",
        "train_alerts",
        "app-store-privacy",
        "flow_blockNumber",
        "order_status",
        "transfer_history",
        "block_info",
        "share_price",
        "message_history",
        "mint_info",
        "stop_times",
        "lock_status",
        "latest_block",
        "charge_state",
        "email_thread",
        "transfer_fees",
    ] {
        let found = weighed(name, &definition(name, "Get the details of an item.", "id", ""));
        assert!(found.confirm.is_none(), "{name}: {}", found.reason);
    }
    for name in
        ["reset_status", "set_price", "clear_history", "push_events", "close_comments", "drop_index", "git_push"]
    {
        let found = weighed(name, &definition(name, "Get the details of an item.", "id", ""));
        let bare = weighed(name, &definition(name, "", "id", ""));
        assert_eq!(found.confirm, bare.confirm, "{name}: {}", found.reason);
    }
}
