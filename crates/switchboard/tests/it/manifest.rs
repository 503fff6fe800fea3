//! `switchboard manifest`: of servers that are started for it, and of a kernel that runs.

use serde_json::{Value, json};

use crate::support::{Home, server};

fn tool<'a>(manifest: &'a Value, name: &str) -> &'a Value {
    let tools = manifest["tools"].as_array().unwrap();
    tools.iter().find(|tool| tool["call_name"] == name || tool["name"] == name).unwrap_or_else(|| panic!("no {name}"))
}

#[test]
fn a_manifest_shows_what_can_be_used_and_how() {
    let home = Home::new();
    home.configure(&format!("{}{}", server("one", &[]), server("two", &["--modern"])));
    let all = home.run(&["manifest", "--json"]).json();
    assert_eq!((&all["manifest_version"], &all["server"]["name"]), (&json!("0.1.0"), &json!("switchboard")));
    assert_eq!(tool(&all, "two__echo")["server_id"], "two");
    assert!(all["etag"].is_string() && all["manifest_ttl"].is_u64());
    let two = home.run(&["manifest", "two", "--json"]).json();
    assert_eq!(two["server"]["server_id"], "two");
    assert!(two["tools"].as_array().unwrap().iter().all(|tool| tool["server_id"] == "two"));
    let table = home.run(&["manifest", "--tool", "one__echo"]).ok();
    for word in ["switchboard", "TOOL", "LATENCY", "one__echo", "Gives the text back"] {
        assert!(table.contains(word), "{word}: {table}");
    }
    assert!(!table.contains("two__echo"));
    assert!(home.run(&["manifest", "three"]).err(1).contains("there is no server `three`"));
}

#[test]
fn a_kernel_that_runs_is_asked_because_it_has_measured() {
    let home = Home::new();
    home.configure(&format!("{}{}", server("one", &[]), server("two", &[])));
    let mut peer = home.connect();
    for _ in 0..6 {
        peer.call("one__echo", &json!({"text": "hi"})).unwrap();
    }
    let seen = home.run(&["manifest", "one", "--json"]).json();
    let echo = tool(&seen, "one__echo");
    assert_eq!((&echo["latency"], &echo["latency_basis"]["source"]), (&json!("instant"), &json!("measured")));
    assert_eq!(echo["latency_basis"]["calls"], 6);
    assert!(home.run(&["manifest", "one"]).ok().contains("instant (<= "));
    let fresh = home.run(&["manifest", "one", "--own", "--json"]).json();
    assert_eq!(tool(&fresh, "one__echo").get("latency"), None, "one that was started for it has measured nothing");
}
