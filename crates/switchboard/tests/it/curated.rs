//! Tools in the form that the operator gives them.

use serde_json::{Value, json};

use crate::support::{Home, server, until};

fn tool(peer: &mut crate::support::Peer, name: &str) -> Option<Value> {
    let listed = peer.ask("tools/list", &json!({}));
    listed["result"]["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == name).cloned()
}

#[test]
fn a_tool_has_another_name_and_arguments_that_are_given() {
    let home = Home::new();
    let said =
        "[servers.tools.echo]\nname = 'say'\ndescription = 'Says what we always say'\nfixed = { text = 'ours' }\n";
    home.configure(&format!("{}{said}", server("one", &[])));
    let mut peer = home.connect();
    let shown = tool(&mut peer, "say").expect("the tool under its new name");
    assert_eq!(shown["description"], "Says what we always say");
    assert!(shown["inputSchema"]["properties"].get("text").is_none(), "{shown}");
    assert!(tool(&mut peer, "echo").is_none());
    for arguments in [json!({}), json!({"text": "theirs"})] {
        assert_eq!(peer.call("say", &arguments).unwrap(), "ours");
    }
    for nobodys in ["echo", "one__echo"] {
        assert!(peer.call(nobodys, &json!({"text": "x"})).is_err(), "{nobodys} is nobody's");
    }
    assert_eq!(peer.call("one__say", &json!({})).unwrap(), "ours");
    // Commands take either name, and grants have the server's.
    home.run(&["grant", "--principal", "ann", "--server", "one", "--tool", "say"]).ok();
    let access = home.run(&["access", "--json"]).json().to_string();
    assert!(access.contains("\"echo\"") && !access.contains("\"say\""), "{access}");
}

#[test]
fn a_kernel_that_runs_takes_another_name_and_a_switch_over() {
    let home = Home::new();
    let text = server("one", &[]);
    home.configure(&text);
    let mut peer = home.connect();
    assert!(tool(&mut peer, "echo").is_some());
    home.configure(&format!("{text}[servers.tools.echo]\nname = 'say'\n"));
    assert!(until(|| tool(&mut peer, "say")).is_some(), "the new name");
    home.run(&["tools", "disable", "say"]).ok();
    assert!(until(|| tool(&mut peer, "say").is_none().then_some(())).is_some(), "it is switched off");
}

#[test]
fn a_name_that_was_cut_is_understood_cut_and_whole() {
    let home = Home::new();
    let id = "a-server-whose-name-leaves-no-room-for-its-tools";
    home.configure(&format!("{}{}", server(id, &[]), server("two", &[])));
    let tools = home.run(&["tools", "--json"]).json();
    let names: Vec<String> =
        tools["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
    let cut = names.iter().find(|name| name.starts_with("a-server") && name.ends_with("__echo")).unwrap();
    assert!(!cut.starts_with(id), "{cut}");
    for name in [cut, &format!("{id}__echo")] {
        for (word, state) in [("disable", "off"), ("enable", "on")] {
            let said = home.run(&["tools", word, name]).ok();
            assert!(said.contains(&format!("echo of {id} is switched {state}")), "{said}");
        }
        assert_eq!(home.run(&["call", name, "text=hello"]).ok().trim(), "hello");
    }
}

#[test]
fn only_the_tools_that_are_named_can_be_used() {
    let home = Home::new();
    let (head, rest) = server("one", &[]).split_once("command").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    home.configure(&format!("{head}only_tools = ['slow']\ncommand{rest}"));
    let mut peer = home.connect();
    assert!(tool(&mut peer, "echo").is_none() && tool(&mut peer, "slow").is_some());
    let refused = peer.call("echo", &json!({"text": "x"})).unwrap_err();
    assert!(refused.contains("switched off in the configuration"), "{refused}");
    home.run(&["tools", "enable", "echo"]).ok();
    assert!(until(|| tool(&mut peer, "echo")).is_some(), "it is in the list now");
    let text = std::fs::read_to_string(home.user_file()).unwrap();
    assert!(text.contains("only_tools = ['slow', \"echo\"]"), "{text}");
}

#[test]
fn tools_are_switched_off_and_on_in_the_file() {
    let home = Home::new();
    home.configure(&format!("# mine\n{}{}", server("one", &[]), server("two", &[])));
    home.run(&["tools", "--names"]).ok();
    let said = home.run(&["tools", "disable", "one__echo"]).ok();
    assert!(said.contains("echo of one is switched off"), "{said}");
    let names = home.run(&["tools", "--names"]).ok();
    assert!(!names.contains("one__echo") && names.contains("two__echo"), "{names}");
    let text = std::fs::read_to_string(home.user_file()).unwrap();
    assert!(text.starts_with("# mine\n") && text.contains("[servers.tools.echo]\nenabled = false\n"), "{text}");
    assert!(home.run(&["tools", "disable", "one__eco"]).err(2).contains("did you mean echo?"));
    assert!(home.run(&["tools", "disable", "nope"]).err(2).contains("--server"));
    home.run(&["tools", "--server", "one", "enable", "echo"]).ok();
    assert!(home.run(&["tools", "--names"]).ok().contains("one__echo"));
}
