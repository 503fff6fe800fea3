//! The table of the kernel's own methods and tools: what holds for every row.

use std::collections::HashSet;
use std::path::PathBuf;

use serde_json::{Value, json};
use switchboard_kernel::{OwnName, ServerPolicy, own_names};
use switchboard_protocol::Era;
use switchboard_protocol::mgp::Extension;
use switchboard_protocol::mgp::method::tool_of;
use switchboard_protocol::proposals::Proposal;
use switchboard_wire::ErrorObject;

use super::world::{Client, ERAS, House, Script, open_house, shape, tool};

/// Everything that can be agreed on.
fn everything(era: Era) -> Value {
    let extensions: Vec<&str> = Extension::ALL.iter().map(|extension| extension.as_str()).collect();
    let mgp = json!({"version": "0.6.0", "extensions": extensions});
    // Errors of proposal 11 have another form for tools than for methods.
    let words = Proposal::WORDS.iter().filter(|word| **word != Proposal::StructuredErrors.as_str());
    let mut proposals: serde_json::Map<String, Value> = words.map(|word| ((*word).to_owned(), json!({}))).collect();
    if era == Era::Modern {
        proposals.insert("dev.cloto/mgp".to_owned(), mgp.clone());
    }
    match era {
        Era::Legacy => json!({"mgp": mgp, "extensions": proposals}),
        Era::Modern => json!({"extensions": proposals}),
    }
}

async fn house() -> House {
    House::with(&[("files", Script::new(Era::Legacy, vec![tool("read")]))], ServerPolicy::default, open_house).await
}

fn document() -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/names.md");
    std::fs::read_to_string(path).unwrap()
}

/// A row as the page shows it.
fn line(own: &OwnName) -> String {
    let code = |name: Option<&str>| name.map_or_else(String::new, |name| format!("`{name}`"));
    let sends = match own.method {
        None => "",
        Some(_) if own.method_for_admins => "operators",
        Some(_) => "everybody",
    };
    let calls = match own.tool {
        None => String::new(),
        Some(_) if own.tool_for_admins => format!("operators, {}", own.tool_needs),
        Some(_) => own.tool_needs.clone(),
    };
    let counts = if own.counts { "yes" } else { "no" };
    let about = own.about.split_once(". ").map_or(own.about, |(first, _)| first).trim_end_matches('.');
    format!("| {} | {sends} | {} | {calls} | {counts} | {about} |", code(own.method), code(own.tool))
}

#[test]
fn the_page_about_names_lists_every_row_and_no_other() {
    let page = document();
    let (_, section) = page.split_once("## The kernel's own methods and tools").expect("the section");
    let section = section.split("\n## ").next().unwrap();
    let written: Vec<&str> =
        section.lines().filter(|line| line.starts_with("| `") || line.starts_with("|  |")).collect();
    let rows: Vec<String> = own_names().iter().map(line).collect();
    assert_eq!(written, rows, "docs/names.md must have these lines:\n{}", rows.join("\n"));
}

#[test]
fn names_are_unique_and_tools_are_called_like_their_methods() {
    let mut seen = HashSet::new();
    for own in own_names() {
        for name in own.method.iter().chain(own.tool.iter().filter(|tool| own.method != Some(**tool))) {
            assert!(seen.insert(*name), "`{name}` stands twice");
        }
        if let (Some(method), Some(tool)) = (own.method, own.tool)
            && let Some(derived) = tool_of(method)
        {
            assert_eq!(derived, tool);
        }
        assert!(own.method.is_some() || own.tool.is_some());
        assert!(!own.about.is_empty());
    }
}

/// What stops, slows down or answers something is free, and the command line counts against nobody.
#[test]
fn all_rows_count_but_a_few() {
    let free: Vec<&str> = own_names().iter().filter(|own| !own.counts).filter_map(|own| own.method).collect();
    let expected = [
        "dev.switchboard/servers/list",
        "dev.switchboard/servers/order",
        "mgp/stream/cancel",
        "mgp/stream/pace",
        "mgp/events/unsubscribe",
        "mgp/callback/respond",
        "events/unsubscribe",
    ];
    assert_eq!(free, expected);
}

/// What a refusal or an answer looks like, without what differs from one moment to the next.
fn form(answer: &Result<Value, ErrorObject>) -> String {
    match answer {
        Err(error) => format!("{} {}", error.code, error.message),
        Ok(value) => {
            let mut keys: Vec<&String> = value.as_object().into_iter().flat_map(serde_json::Map::keys).collect();
            keys.retain(|key| *key != "resultType");
            keys.sort();
            format!("{keys:?}")
        }
    }
}

#[tokio::test]
async fn a_method_and_its_tool_answer_alike() {
    let house = house().await;
    for era in ERAS {
        let root = house.admin(era, everything(era)).await;
        for own in own_names() {
            let (Some(method), Some(tool)) = (own.method, own.tool) else { continue };
            // A model that changes rights needs a person, and a program does not. Nobody may register servers here: the
            // method says how that is changed, and there is no such tool.
            if ["mgp/access/grant", "mgp/access/revoke", "mgp/discovery/register"].contains(&method) {
                continue;
            }
            for given in [
                json!({}),
                json!({"server_id": "nope", "query": "read", "agent_id": "ann", "id": "nope", "reason": "operator_request"}),
            ] {
                let sent = root.request(method, given.clone()).await;
                for name in [tool.to_owned(), tool.replace('_', ".")] {
                    if name != tool && !tool.starts_with("mgp_") {
                        continue;
                    }
                    let called = root.call(&name, given.clone()).await;
                    let called = called.map(|result| result["structuredContent"].clone());
                    assert_eq!(form(&sent), form(&called), "{era:?} {method} {name} {given}");
                }
            }
        }
    }
}

/// What an unknown tool is answered, whatever it is called.
async fn unknown(client: &Client) -> (i64, String, String) {
    shape(&client.call("mgp_no_such_thing", json!({})).await.unwrap_err(), "mgp_no_such_thing")
}

#[tokio::test]
async fn a_tool_that_was_not_agreed_on_is_unknown() {
    let house = house().await;
    for era in ERAS {
        let plain = house.admin(era, json!({"sampling": {}})).await;
        for own in own_names().iter().filter(|own| !own.tool_needs.starts_with("everybody")) {
            let Some(tool) = own.tool else { continue };
            let refused = plain.call(tool, json!({})).await.unwrap_err();
            assert_eq!(shape(&refused, tool), unknown(&plain).await, "{era:?} {tool}");
        }
    }
}

#[tokio::test]
async fn what_is_for_operators_is_refused_to_others() {
    let house = house().await;
    for era in ERAS {
        let ann = house.client_with(era, "ann", everything(era)).await;
        for own in own_names() {
            if let Some(tool) = own.tool.filter(|_| own.tool_for_admins) {
                let refused = ann.call(tool, json!({})).await.unwrap_err();
                assert_eq!(shape(&refused, tool), unknown(&ann).await, "{era:?} {tool}");
            }
            if let Some(method) = own.method.filter(|_| own.method_for_admins) {
                // Whatever it says: who may is seen first.
                for given in [json!({}), json!({"server_id": "files"})] {
                    let refused = ann.request(method, given).await.unwrap_err();
                    assert!(refused.message.starts_with("you may not "), "{era:?} {method}: {refused:?}");
                }
            }
        }
    }
}
