//! Profiles from outside: an address of their own, `--profile`, and a file that changes.

use serde_json::{Value, json};

use crate::serve::{Served, modern_meta};
use crate::support::{Home, Peer, server, until};

const WORK: &str = "[profiles.work]\nservers = ['one']\nwithout = ['one__pid']\n";

fn configured() -> Home {
    let home = Home::new();
    home.configure(&format!("[memory]\nenabled = false\n{WORK}{}{}", server("one", &[]), server("two", &[])));
    home
}

fn list_at(served: &Served, path: &str) -> (u16, Value) {
    let request =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": modern_meta(&json!({}))}});
    let (status, body) = served.http("POST", path, None, &request.to_string());
    (status, serde_json::from_str(&body).unwrap_or_default())
}

fn names(answer: &Value) -> Vec<&str> {
    let tools = answer["result"]["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
    tools.iter().filter_map(|tool| tool["name"].as_str()).collect()
}

#[test]
fn a_profile_has_an_address() {
    let home = configured();
    let served = Served::start(&home, &["--no-auth"]);
    until(|| names(&list_at(&served, "/mcp").1).contains(&"two__echo").then_some(())).expect("both servers");
    let (status, answer) = list_at(&served, "/mcp/work");
    let listed = names(&answer);
    assert_eq!(status, 200, "{answer}");
    assert!(
        listed.contains(&"one__echo") && !listed.contains(&"one__pid") && !listed.contains(&"two__echo"),
        "{listed:?}"
    );
    for (path, status) in [("/mcp/wrok", 404), ("/mcp/", 404), ("/mcp/work/x", 404), ("/mcpwork", 404)] {
        assert_eq!(list_at(&served, path).0, status, "{path}");
    }
    served.end();
}

#[test]
fn clients_of_stdio_choose_a_profile() {
    let home = configured();
    for share in [true, false] {
        let mut command = home.command(&["stdio", "--profile", "work"]);
        if share {
            command.env_remove("SWITCHBOARD_OWN_KERNEL");
        }
        let mut peer = Peer::start(command);
        peer.initialize();
        let listed = until(|| Some(peer.tools()).filter(|tools| tools.iter().any(|name| name == "one__echo")));
        let listed = listed.expect("the tools of the profile");
        assert!(!listed.iter().any(|name| name == "one__pid" || name.starts_with("two__")), "{listed:?}");
        assert_eq!(peer.call("one__echo", &json!({"text": "x"})).unwrap(), "x");
        assert!(peer.call("two__echo", &json!({"text": "x"})).is_err());
    }
}

#[test]
fn commands_take_a_profile_and_say_which_there_are() {
    let home = configured();
    let names = home.run(&["tools", "--profile", "work", "--names"]).ok();
    assert!(names.contains("one__echo") && !names.contains("two__"), "{names}");
    assert!(home.run(&["call", "--profile", "work", "one__echo", "text=hello"]).ok().contains("hello"));
    home.run(&["call", "--profile", "work", "two__echo", "text=hello"]).err(1);
    for command in [&["tools"][..], &["stdio"], &["connect", "cursor"]] {
        let said = home.run(&[command, &["--profile", "wrok"]].concat()).err(2);
        assert!(said.contains("did you mean \"work\"?"), "{said}");
    }
    let entry = home.run(&["connect", "cursor", "--profile", "work", "--dry-run"]).ok();
    assert!(entry.contains("\"--profile\"") && entry.contains("\"work\""), "{entry}");
    home.configure(&format!("[profiles.work]\nservers = ['gone']\n{}", server("one", &[])));
    let said = home.run(&["doctor"]);
    let said = format!("{}{}", said.stdout, said.stderr);
    assert!(said.contains("the profile \"work\" names the server \"gone\""), "{said}");
}

#[test]
fn a_profile_that_is_written_while_the_kernel_runs_is_there() {
    let home = configured();
    let served = Served::start(&home, &["--no-auth"]);
    assert_eq!(list_at(&served, "/mcp/late").0, 404);
    let text = std::fs::read_to_string(home.user_file()).unwrap();
    home.configure(&format!("[profiles.late]\ntools = ['two__echo']\n{text}"));
    let listed = until(|| {
        Some(list_at(&served, "/mcp/late")).filter(|(status, answer)| *status == 200 && !names(answer).is_empty())
    });
    assert_eq!(names(&listed.expect("the profile").1), ["two__echo"]);
    served.end();
}

/// A server whose entry lacks a variable is missing in every profile that names it, and there in each once the entry has what it needs.
#[test]
fn a_profile_gets_a_server_when_its_variable_comes() {
    let home = Home::new();
    let program = crate::support::faulty_server();
    let written = |key: &str| {
        let keyed =
            format!("[[servers]]\nid = 'keyed'\nera = 'legacy'\ncommand = {program:?}\nenv = {{ KEY = '{key}' }}\n");
        format!("[memory]\nenabled = false\n[profiles.work]\nservers = ['keyed']\n{}{keyed}", server("one", &[]))
    };
    home.configure(&written("${SOME_KEY}"));
    let served = Served::start(&home, &["--no-auth"]);
    until(|| names(&list_at(&served, "/mcp").1).contains(&"one__echo").then_some(())).expect("the other server");
    assert_eq!(names(&list_at(&served, "/mcp/work").1), Vec::<&str>::new());
    let call = |path: &str, tool: &str| {
        let params = json!({"name": tool, "arguments": {"text": "x"}, "_meta": modern_meta(&json!({}))});
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        served.http("POST", path, None, &request.to_string()).1
    };
    let missing = call("/mcp/work", "keyed__echo");
    assert!(missing.contains("SOME_KEY") && missing.contains("not set"), "{missing}");
    assert!(!call("/mcp/work", "one__echo").contains("\"x\""), "what the profile leaves out is not there instead");
    home.configure(&written("${SOME_KEY:-now}"));
    let listed = until(|| {
        let answer = list_at(&served, "/mcp/work").1;
        names(&answer).contains(&"keyed__echo").then(|| names(&answer).iter().any(|name| name.starts_with("one__")))
    });
    assert_eq!(listed, Some(false));
    assert!(call("/mcp/work", "keyed__echo").contains("\"x\""));
    // Back again: what works is not taken away by an entry that does not.
    home.configure(&written("${OTHER_KEY}"));
    until(|| (served.http("GET", "/metrics", None, "").1.contains("switchboard_reloads_total 2")).then_some(()));
    assert!(call("/mcp/work", "keyed__echo").contains("\"x\""));
    served.end();
}

/// What a server has at all comes first: a profile opens nothing that `only_tools` of the server closes, and neither depends on the
/// name before the tools, which may change under clients that are there.
#[test]
fn a_profile_and_the_only_tools_of_a_server_both_count_under_any_alias() {
    let home = Home::new();
    let written = |alias: &str, only: &str| {
        let (head, rest) = server("one", &[]).split_once("command").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
        let profile = "[profiles.work]\ntools = ['one__echo', 'one__pid']\n";
        let off = "[memory]\nenabled = false\n";
        format!("{off}{profile}{head}alias = '{alias}'\nonly_tools = [{only}]\ncommand{rest}{}", server("two", &[]))
    };
    home.configure(&written("x", "'echo', 'slow'"));
    let mut peer = Peer::start(home.command(&["stdio", "--profile", "work"]));
    peer.initialize();
    let pid = |peer: &mut Peer| peer.call("one__pid", &json!({"text": ""}));
    assert_eq!(until(|| Some(peer.tools()).filter(|tools| !tools.is_empty())).unwrap(), ["x__echo"]);
    assert!(peer.call("x__slow", &json!({})).is_err() && pid(&mut peer).is_err());

    home.configure(&written("y", "'echo', 'pid'"));
    until(|| (peer.tools() == ["y__echo", "y__pid"]).then_some(())).expect("the new names, and what is open now");
    for name in ["y__echo", "one__echo"] {
        assert_eq!(peer.call(name, &json!({"text": "on"})).as_deref(), Ok("on"), "{name}");
    }
    assert!(peer.call("x__echo", &json!({"text": "x"})).is_err(), "nobody's name any more");
    let before = pid(&mut peer).expect("it is open now");
    home.configure(&written("z", "'echo', 'pid'"));
    until(|| (peer.tools() == ["z__echo", "z__pid"]).then_some(())).expect("the next name");
    assert_eq!(pid(&mut peer), Ok(before), "the server was not started anew");
}
