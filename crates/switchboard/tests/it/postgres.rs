//! The memory, and the kernel's own records, in PostgreSQL.
//!
//! The server is started from the machine's own binaries. Without them this test is counted as ignored.

#[allow(dead_code, reason = "the tests of the kernel's store use more of it")]
#[path = "../../../store/tests/it/postgres/server.rs"]
mod server;

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde_json::{Value, json};
use server::Server;

use crate::memory::{connect, found, store};
use crate::serve::{Served, modern_meta};
use crate::support::{Home, server as entry, until};

#[test]
#[cfg_attr(not(postgres_installed), ignore = "no PostgreSQL here: install the Debian package postgresql")]
fn a_memory_in_postgres_is_shared_by_all_who_name_it() {
    let server = Server::start();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let url = runtime.block_on(server.create_database("memory"));
    let home = Home::new();
    let mut alone = connect(&home, &["memory", "--store", &url]);
    store(&mut alone, "The spare key is under the blue flowerpot");
    assert_eq!(alone.end().0, Some(0));
    // Another home, whose kernel keeps everything in the same database.
    let other = Home::new();
    other.configure(&format!("store = '{url}'\n[memory]\nenabled = true\n"));
    let mut kernel = other.connect();
    assert_eq!(found(&mut kernel, "where is the key"), ["The spare key is under the blue flowerpot"]);
    store(&mut kernel, "The ladder is in the garage");
    assert_eq!(kernel.end().0, Some(0));
    let mut again = connect(&home, &["memory", "--store", &url]);
    assert_eq!(found(&mut again, "ladder")[0], "The ladder is in the garage");
    assert_eq!(again.end().0, Some(0));
    other.run(&["audit", "verify"]).ok();
    let log = other.run(&["--json", "audit", "query"]).ok();
    assert!(log.contains("search_graph") && log.contains("inject_context"), "{log}");
}

/// Two kernels, each with a home of its own, on one database: what is taken back at one of them is taken back at the other when the
/// command has ended, from what runs there as well.
#[test]
#[cfg_attr(not(postgres_installed), ignore = "no PostgreSQL here: install the Debian package postgresql")]
fn what_is_revoked_at_one_kernel_is_revoked_at_the_other() {
    let database = Server::start();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let url = runtime.block_on(database.create_database("two"));
    let homes = [Home::new(), Home::new()];
    for home in &homes {
        let unasked = "[servers.tools.slow]\nconfirm = false\n";
        home.configure(&format!("store = '{url}'\n{}{unasked}", entry("one", &[])));
    }
    homes[0].run(&["grant", "--principal", "ann", "--server", "one"]).ok();
    let made: Value = serde_json::from_str(&homes[0].run(&["token", "create", "ann", "--json"]).ok()).unwrap();
    let token = made["token"].as_str().unwrap();
    let served = [Served::start(&homes[0], &[]), Served::start(&homes[1], &[])];
    let call = |served: &Served, tool: &str| {
        let arguments = if tool == "echo" { json!({"text": "x"}) } else { json!({}) };
        let params = json!({"name": tool, "arguments": arguments, "_meta": modern_meta(&json!({}))});
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        served.http("POST", "/mcp", Some(token), &request.to_string()).1
    };
    for served in &served {
        until(|| call(served, "echo").contains("\"x\"").then_some(())).expect("both let her in");
    }
    let ended = std::thread::scope(|scope| {
        let running = scope.spawn(|| call(&served[1], "slow"));
        until(|| homes[1].run(&["--json", "audit", "query"]).ok().contains("\"slow\"").then_some(()))
            .expect("it runs at the second");
        homes[0].run(&["revoke", "--principal", "ann", "--server", "one"]).ok();
        for served in &served {
            let refused = call(served, "echo");
            assert!(refused.contains("\"error\""), "{refused}");
        }
        running.join().unwrap()
    });
    assert!(ended.contains("taken back"), "{ended}");
    // With the token nobody gets in at either of them.
    homes[1].run(&["token", "revoke", "ann"]).ok();
    for served in served {
        until(|| (served.tools(Some(token)).err()?.0 == 401).then_some(())).expect("the token has ended");
        served.end();
    }
}

/// What is revoked while the database is restarted is revoked when that is there again, and the person hears what is waited for.
#[test]
#[cfg_attr(not(postgres_installed), ignore = "no PostgreSQL here: install the Debian package postgresql")]
fn a_revoke_waits_for_a_database_that_is_restarted() {
    let mut database = Server::start();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let url = runtime.block_on(database.create_database("revoked"));
    let home = Home::new();
    home.configure(&format!("store = '{url}'\n{}", entry("one", &[])));
    home.run(&["grant", "--principal", "ann", "--server", "one"]).ok();
    home.run(&["grant", "--server", "one", "--permission", "network.outbound"]).ok();
    for words in [
        &["revoke", "--principal", "ann", "--server", "one"][..],
        &["revoke", "--server", "one", "--permission", "all"],
    ] {
        database.stop();
        let revoked = std::thread::scope(|scope| {
            let revoking = scope.spawn(|| home.run(words));
            // It has found nobody there by then.
            std::thread::sleep(std::time::Duration::from_millis(1_500));
            database.start_again();
            revoking.join().unwrap()
        });
        assert!(revoked.stderr.contains("it is waited for, at most 20 s"), "{revoked:?}");
        assert!(revoked.ok().contains("revoked"), "{words:?}");
    }
    let log = home.run(&["--json", "audit", "query"]).ok();
    assert!(log.contains("ACCESS_REVOKED") && log.contains("PERMISSION_REVOKED"), "{log}");
    let access = home.run(&["--json", "access"]).ok();
    assert!(!access.contains("\"ann\""), "{access}");
}

/// The database is restarted while calls are made: all that was acknowledged is on record, once, and nothing was done
/// that is not.
#[test]
#[cfg_attr(not(postgres_installed), ignore = "no PostgreSQL here: install the Debian package postgresql")]
fn a_restart_of_the_database_under_load_loses_nothing() {
    let mut database = Server::start();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let url = runtime.block_on(database.create_database("load"));
    let home = Home::new();
    let ledger = home.path("ledger").display().to_string();
    let configuration =
        format!("store = '{url}'\n[gate]\naudit_arguments = true\n{}", entry("one", &["--ledger", &ledger]));
    home.configure(&configuration);
    let served = Served::start(&home, &["--no-auth"]);
    until(|| (served.http("GET", "/readyz", None, "").0 == 200).then_some(())).expect("ready");
    let (stop, next, acknowledged) = (AtomicBool::new(false), AtomicU64::new(0), Mutex::new(Vec::new()));
    let call = || {
        let text = format!("key-{}", next.fetch_add(1, Ordering::Relaxed));
        let params = json!({"name": "echo", "arguments": {"text": text}, "_meta": modern_meta(&json!({}))});
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let answer = served.http("POST", "/mcp", None, &request.to_string()).1;
        let answer: Value = serde_json::from_str(&answer).unwrap_or_default();
        let done = answer["result"]["content"][0]["text"] == text.as_str();
        if done {
            acknowledged.lock().unwrap().push(text);
        }
        done
    };
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    call();
                }
            });
        }
        for _ in 0..2 {
            let before = acknowledged.lock().unwrap().len();
            until(|| (acknowledged.lock().unwrap().len() > before + 50).then_some(())).expect("calls are made");
            database.stop();
            until(|| (served.http("GET", "/readyz", None, "").0 == 503).then_some(())).expect("it says so");
            database.start_again();
        }
        let before = acknowledged.lock().unwrap().len();
        until(|| (acknowledged.lock().unwrap().len() > before + 50).then_some(())).expect("calls are made again");
        stop.store(true, Ordering::Relaxed);
    });
    served.end();
    home.run(&["audit", "verify"]).ok();
    let log = home.run(&["audit", "export", "--format", "jsonl"]).ok();
    let mut outcomes: HashMap<String, Vec<String>> = HashMap::new();
    for line in log.lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        let Some(key) = event["details"]["arguments"]["text"].as_str() else { continue };
        if event["event_type"] != "dev.switchboard.tool_intent" {
            outcomes.entry(key.to_owned()).or_default().push(event["result"].as_str().unwrap().to_owned());
        }
    }
    let acknowledged = acknowledged.into_inner().unwrap();
    let once = |key: &&String| outcomes.get(*key).is_some_and(|ends| *ends == ["SUCCESS"]);
    let lost: Vec<_> = acknowledged.iter().filter(|key| !once(key)).map(|key| (key, outcomes.get(key))).collect();
    assert!(lost.is_empty(), "{} of {}: {lost:?}", lost.len(), acknowledged.len());
    let done = std::fs::read_to_string(&ledger).unwrap();
    let done: HashSet<&str> = done.lines().collect();
    let unrecorded: Vec<_> = done.iter().filter(|key| !outcomes.contains_key(**key)).collect();
    assert!(unrecorded.is_empty(), "done and not on record: {unrecorded:?}");
}
