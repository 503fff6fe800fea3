//! The kernel that clients share: what of a changed configuration it takes over, what it does not and how that is said, and its end.

use serde_json::json;

use crate::support::{Home, Peer, server, until};

fn join(home: &Home) -> Peer {
    let mut command = home.command(&["stdio"]);
    command.env_remove("SWITCHBOARD_OWN_KERNEL");
    let mut peer = Peer::start(command);
    peer.initialize();
    peer
}

fn configure(home: &Home, more: &str) {
    let servers = format!("{}{}", server("s", &[]), server("t", &[]));
    home.configure(&format!("{more}\n{servers}"));
}

#[test]
fn lists_and_the_memory_change_in_the_kernel_that_runs() {
    let home = Home::new();
    configure(&home, "limits.linger_ms = 300\n[tool_context]\nlevel = 'discovery'");
    let mut peer = join(&home);
    assert!(!peer.tools().contains(&"s__echo".to_owned()));
    let with_memory = "limits.linger_ms = 300\nmemory.enabled = true\n[tool_context]\nlevel = 'all'";
    configure(&home, with_memory);
    let state = home.run(&["kernel", "--json"]).json();
    assert_eq!(state["kernels"][0]["next_start"], json!([]), "{state}");
    assert_eq!(
        (state["kernels"][0]["kind"].as_str(), state["kernels"][0]["clients"].as_u64()),
        (Some("shared"), Some(1))
    );
    let has = |peer: &mut Peer, tool: &str| until(|| peer.tools().contains(&tool.to_owned()).then_some(())).is_some();
    assert!(has(&mut peer, "s__echo") && has(&mut peer, "memory__store_memory"), "{:?}", peer.tools());
    configure(&home, &with_memory.replace("memory.enabled = true", "memory.enabled = false"));
    home.run(&["kernel"]).ok();
    let gone = until(|| (!peer.tools().iter().any(|tool| tool.starts_with("memory__"))).then_some(()));
    assert!(gone.is_some() && has(&mut peer, "s__echo"));
    configure(&home, with_memory);
    home.run(&["kernel"]).ok();
    assert!(has(&mut peer, "memory__store_memory"), "the same memory again");
    peer.call("memory__store_memory", &json!({"content": "the key is under the mat"})).unwrap();
}

#[test]
fn what_waits_for_the_next_start_is_said_and_a_command_starts_the_kernel_again() {
    let home = Home::new();
    configure(&home, "limits.linger_ms = 300");
    assert!(home.run(&["kernel", "stop"]).err(1).contains("no kernel runs"));
    let mut peer = join(&home);
    assert_eq!(peer.call("s__echo", &json!({"text": "one"})).as_deref(), Ok("one"));
    let before = home.run(&["kernel", "status", "--json"]).json()["kernels"][0]["process"].clone();
    configure(&home, "[limits]\nlinger_ms = 300\nmessage_bytes = 200000");
    let doctor = home.run(&["doctor"]).stdout;
    assert!(doctor.contains("older setting than the file of: [limits]"), "{doctor}");
    assert!(doctor.contains("`switchboard kernel restart`"), "{doctor}");
    let status = home.run(&["kernel"]).ok();
    assert!(status.contains("does not have yet what was changed in: [limits]"), "{status}");
    let refused = home.run(&["kernel", "stop"]).err(1);
    assert!(refused.contains("has a client") && refused.contains("switchboard kernel restart"), "{refused}");
    let told = home.run(&["kernel", "restart"]).ok();
    assert!(told.contains("its clients go on at process"), "{told}");
    assert_eq!(peer.call("s__echo", &json!({"text": "two"})).as_deref(), Ok("two"), "the client stays connected");
    let after = home.run(&["kernel", "status", "--json"]).json();
    assert_ne!(after["kernels"][0]["process"], before);
    assert_eq!(after["kernels"][0]["next_start"], json!([]), "{after}");
}

#[test]
fn a_kernel_that_somebody_started_is_theirs_to_end() {
    let home = Home::new();
    configure(&home, "");
    let mut served = Peer::start(home.command(&["serve", "--json", "--listen", "127.0.0.1:0"]));
    let greeting: serde_json::Value = serde_json::from_str(&served.next_line()).unwrap();
    assert!(greeting["url"].as_str().unwrap().contains("127.0.0.1"));
    assert_eq!(greeting["schema_version"], 1, "{greeting}");
    let refused = home.run(&["kernel", "restart"]).err(1);
    assert!(refused.contains("`serve` on 127.0.0.1") && refused.contains("end it where it was started"), "{refused}");
    assert_eq!(home.run(&["kernel", "--json"]).json()["kernels"][0]["kind"], "serve");
}

#[test]
fn a_stopped_server_answers_nothing_once_the_command_has_returned() {
    let home = Home::new();
    configure(&home, "limits.linger_ms = 300");
    let mut peer = join(&home);
    for _ in 0..3 {
        assert_eq!(peer.call("s__echo", &json!({"text": "on"})).as_deref(), Ok("on"));
        home.run(&["servers", "stop", "s"]).ok();
        let refused = peer.call("s__echo", &json!({"text": "off"}));
        assert!(refused.is_err() || refused.as_deref().is_ok_and(|text| text != "off"), "{refused:?}");
        home.run(&["servers", "start", "s"]).ok();
    }
}

#[test]
fn an_entry_that_became_faulty_is_a_problem_while_the_kernel_keeps_what_it_had() {
    let home = Home::new();
    configure(&home, "limits.linger_ms = 300");
    let mut peer = join(&home);
    assert!(peer.tools().contains(&"t__echo".to_owned()));
    home.configure(&format!("limits.linger_ms = 300\n{}{}commnd = 'x'\n", server("s", &[]), server("t", &[])));
    home.run(&["kernel"]).ok();
    let servers = home.run(&["servers", "--json"]).json();
    let problem = servers["servers"][1]["problem"].as_str().unwrap_or_default();
    assert!(problem.contains("was not taken over") && servers["servers"][1]["state"] == "ready", "{servers}");
    let doctor = home.run(&["doctor"]);
    assert_eq!(doctor.code, Some(1), "{doctor:?}");
    assert!(doctor.stdout.contains("what runs is the entry as it was before"), "{doctor:?}");
    assert!(peer.tools().contains(&"t__echo".to_owned()), "it goes on as it was");
}

#[test]
fn an_accepted_definition_can_be_used_when_the_command_returns() {
    let home = Home::new();
    let with = |text: &str| {
        let changed = format!("{}pins = 'ask'\n", server("s", &["--description", text]));
        home.configure(&format!("limits.linger_ms = 300\n{changed}{}", server("t", &[])));
    };
    with("Gives the text back.");
    home.run(&["tools"]).ok();
    with("Gives the text back. Adds a line.");
    let mut peer = join(&home);
    until(|| (!peer.tools().contains(&"s__echo".to_owned())).then_some(())).expect("it is held back");
    assert!(home.run(&["pins", "accept", "s", "--yes"]).ok().contains("they can be used"));
    assert!(home.run(&["tools", "--names"]).ok().contains("s__echo"));
    assert!(until(|| peer.tools().contains(&"s__echo".to_owned()).then_some(())).is_some());
    // Of a server that is removed nothing waits any more.
    with("Gives the text back. Adds two lines.");
    let waits = || home.run(&["approvals", "list"]).stdout.contains("definition:s/echo");
    until(|| waits().then_some(())).expect("it waits");
    assert!(home.run(&["remove", "s"]).ok().contains("held back is forgotten"));
    assert!(!waits());
}
