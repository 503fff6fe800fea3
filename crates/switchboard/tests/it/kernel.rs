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
    assert!(served.next_line().contains("127.0.0.1"));
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
