//! Servers that come back by themselves as something else, or that would only be killed again.

use std::fs;

use serde_json::json;

use crate::live::kill;
use crate::support::{Home, faulty_server, until};

/// The `[[servers]]` entry of a server that is started by a script.
fn scripted(home: &Home, script: &str) -> String {
    home.write("server/run.sh", script);
    format!("[[servers]]\nid = \"one\"\ncommand = \"/bin/sh\"\nargs = [{:?}]\n", home.path("server/run.sh"))
}

fn waiting(home: &Home) -> Option<String> {
    let item = home.run(&["approvals", "list", "--json"]).json()["waiting"][0].clone();
    item["approval_id"].as_str().or_else(|| item["id"].as_str()).map(str::to_owned)
}

/// A yes is for the definition that a person saw, also where the server died and came back meanwhile.
#[test]
fn a_server_that_comes_back_with_another_definition_gets_no_call_that_was_approved_before() {
    for changes in [true, false] {
        let home = Home::new();
        let (ledger, sign, program) = (home.path("ledger"), home.path("changed"), faulty_server());
        let entry = scripted(
            &home,
            &format!(
                "if [ -e {sign:?} ]; then exec {program:?} --ledger {ledger:?} --description 'Gives it to others'; fi\n\
                 exec {program:?} --ledger {ledger:?}\n"
            ),
        );
        let confirm = "[servers.tools.echo]\nrisk = 'dangerous'\nconfirm = true\n";
        home.configure(&format!("{entry}{confirm}[gate]\napproval_wait_ms = 30000\n"));
        let mut peer = home.connect();
        let pid = peer.call("pid", &json!({})).unwrap();
        let params = json!({"name": "echo", "arguments": {"text": "x"}});
        peer.send(&json!({"jsonrpc": "2.0", "id": 900, "method": "tools/call", "params": params}));
        let id = until(|| waiting(&home)).expect("the call is held");
        if changes {
            fs::write(&sign, "").unwrap();
        }
        kill(pid.parse().unwrap());
        until(|| peer.call("pid", &json!({})).ok().filter(|now| *now != pid)).expect("it is back");
        let decided = home.run(&["approvals", "approve", &id]);
        // A call whose tool has changed may have been refused before anybody could answer.
        assert!(changes || decided.code == Some(0), "{decided:?}");
        let answer = peer.answer_to(900);
        let done = fs::read_to_string(&ledger).unwrap_or_default().lines().count();
        assert_eq!(done, usize::from(!changes), "{answer}");
        if changes {
            assert_eq!(answer["result"]["isError"], true, "{answer}");
            assert!(answer.to_string().contains("definition_held"), "{answer}");
        }
    }
}

/// What got its server killed would get the next one killed as well, though the tool says that it only reads.
#[cfg(target_os = "linux")]
#[test]
fn a_call_whose_server_was_killed_by_the_sandbox_is_not_made_again() {
    let home = Home::new();
    let script = r#"while read -r line; do
  id=${line#*\"id\":}; id=${id%%[,\}]*}
  case $line in
    *'"initialize"'*) result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}';;
    *'"tools/list"'*) result='{"tools":[{"name":"look","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object"}}]}';;
    *'"tools/call"'*) while :; do :; done;;
    *'"id"'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}\n' "$id"; continue;;
    *) continue;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
"#;
    let more = "[servers.isolation]\ncpu_time_limit_secs = 1\n[servers.mgp]\ntrust_level = 'sandboxed'\n\
        [servers.tools.look]\nrisk = 'safe'\nconfirm = false\n";
    home.configure(&format!("{}{more}", scripted(&home, script)));
    let mut peer = home.connect();
    let answer = peer.ask("tools/call", &json!({"name": "look", "arguments": {}}));
    assert!(answer["error"]["message"].as_str().unwrap_or_default().contains("went away"), "{answer}");
    let events =
        |kind: &str| home.run(&["audit", "query", "--type", kind, "--json"]).json()["events"].as_array().unwrap().len();
    until(|| (events("ISOLATION_VIOLATION") > 0).then_some(())).expect("it was noticed");
    assert_eq!(peer.end().0, Some(0));
    assert_eq!(events("ISOLATION_VIOLATION"), 1, "one kill");
    assert_eq!(events("dev.switchboard.call_retried"), 0, "and no second try");
}
