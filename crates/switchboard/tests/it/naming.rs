//! What tools are called, and which spellings commands and the configuration understand.

use serde_json::json;

use crate::support::{Home, server};

/// An entry with further keys behind its id.
fn with(id: &str, keys: &str) -> String {
    server(id, &[]).replacen("command", &format!("{keys}\ncommand"), 1)
}

#[test]
fn a_single_server_keeps_its_names_beside_the_memory() {
    let home = Home::new();
    home.configure(&format!("[memory]\nenabled = true\n{}", server("one", &[])));
    let mut peer = home.connect();
    let names = peer.tools();
    assert!(names.contains(&"echo".to_owned()) && !names.contains(&"one__echo".to_owned()), "{names:?}");
    assert!(names.iter().any(|name| name.starts_with("memory__")), "{names:?}");
    for name in ["echo", "one__echo"] {
        assert_eq!(peer.call(name, &json!({"text": "x"})).as_deref(), Ok("x"), "{name}");
    }
    assert_eq!(home.run(&["call", "one__echo", "text=y"]).ok().trim(), "y");
}

#[test]
fn an_alias_is_the_prefix_and_the_id_is_still_understood() {
    let home = Home::new();
    let long = "a-server-with-a-name-that-nobody-wants-to-read";
    home.configure(&format!("{}{}", with(long, "alias = 'a'"), server("two", &[])));
    let mut peer = home.connect();
    let names = peer.tools();
    assert!(names.contains(&"a__echo".to_owned()) && names.contains(&"two__echo".to_owned()), "{names:?}");
    assert_eq!(peer.call("a__echo", &json!({"text": "x"})).as_deref(), Ok("x"));
    home.run(&["tools", "disable", "a__echo"]).ok();
    let said = home.run(&["tools", "enable", "--server", long, "echo"]).ok();
    assert!(said.contains("echo of a-server"), "{said}");
    let granted = home.run(&["grant", "--principal", "ann", "--server", "a", "--json"]).json();
    assert_eq!(granted["server_id"], long, "{granted}");
    let gone = home.run(&["revoke", "--principal", "ann", "--server", "a", "--json"]).json();
    assert_eq!(gone["revoked"], 1, "{gone}");
    let unknown = home.run(&["grant", "--principal", "ann", "--server", "tow"]);
    assert!(unknown.stderr.contains("did you mean \"two\"?"), "{unknown:?}");
}

#[test]
fn every_command_takes_the_alias_of_a_server() {
    let home = Home::new();
    home.configure(&format!("{}{}", with("first", "alias = 'a'"), server("two", &[])));
    let listed = home.run(&["tools", "--server", "a", "--names"]).ok();
    assert!(listed.contains("a__echo") && !listed.contains("two__echo"), "{listed}");
    // What the tool takes is known in both spellings: a number for a text stays a text.
    for name in ["a__echo", "first__echo"] {
        assert_eq!(home.run(&["call", name, "text=1"]).ok().trim(), "1", "{name}");
        assert!(home.run(&["manifest", "--tool", name]).ok().contains("echo"), "{name}");
    }
    assert!(home.run(&["manifest", "a"]).ok().contains("echo"));
    assert!(home.run(&["manifest", "--tool", "first__nothing"]).err(1).contains("there is no tool first__nothing"));
    assert!(home.run(&["pins", "list", "a"]).ok().contains("echo"));
    assert!(home.run(&["pins", "show", "a", "a__echo"]).ok().contains("echo"));
    let found = home.run(&["audit", "query", "--server", "a", "--type", "TOOL_EXECUTED", "--json"]).json();
    assert_eq!(found["events"].as_array().map(Vec::len), Some(2), "{found}");
}

#[test]
fn people_are_told_how_much_each_client_is_listed() {
    let home = Home::new();
    home.configure(&format!("{}{}", server("one", &[]), server("two", &[])));
    let told = home.run(&["servers"]).ok();
    assert!(told.contains("Clients are listed all ") && told.contains("cursor"), "{told}");
    assert!(home.run(&["doctor"]).stdout.contains("lists of clients: all "));
    let none = "[tool_context.clients.cursor]\nlevel = 'discovery'\n";
    home.configure(&format!("{none}{}{}", server("one", &[]), server("two", &[])));
    let told = home.run(&["servers"]).ok();
    assert!(told.contains("3 tools, which find all the others by search (cursor)"), "{told}");
    let clients = home.run(&["servers", "--json"]).json()["clients"].clone();
    let cursor = clients.as_array().unwrap().iter().find(|one| one["client"] == "cursor").unwrap();
    assert_eq!((&cursor["listed"], &cursor["finds"]), (&json!(3), &json!(true)), "{clients}");
    // What each is really listed is that.
    let mut peer = crate::support::Peer::start(home.command(&["stdio"]));
    peer.ask(
        "initialize",
        &json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "cursor-vscode", "version": "1"}}),
    );
    peer.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    assert_eq!(peer.tools().len(), 3);
    let said = home.run(&["connect", "zed"]).ok();
    assert!(
        said.contains("Zed is listed all tools while they are at most 100 and worth 25000 tokens or less"),
        "{said}"
    );
}

#[test]
fn every_spelling_of_a_renamed_tool_is_understood() {
    let home = Home::new();
    let renamed = "[servers.tools.echo]\nname = 'say'\n";
    home.configure(&format!("{}{renamed}{}", with("first", "alias = 'a'"), server("two", &[])));
    for name in ["a__say", "first__say", "a__echo", "first__echo", "say"] {
        assert_eq!(home.run(&["call", name, "text=x"]).ok().trim(), "x", "{name}");
    }
}

#[test]
fn mistyped_names_of_tools_are_told() {
    let home = Home::new();
    let pinned = "[tool_context]\npinned = ['one__ehco']\n";
    home.configure(&format!("{pinned}{}[servers.tools.ecoh]\nenabled = false\n", server("one", &[])));
    for command in ["tools", "doctor"] {
        let ran = home.run(&[command]);
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(said.contains("no tool \"ecoh\"; did you mean \"echo\"?"), "{command}: {said}");
        assert!(said.contains("\"one__ehco\"; did you mean \"one__echo\"?"), "{command}: {said}");
    }
}

#[test]
fn scopes_and_queries_take_both_spellings() {
    let home = Home::new();
    home.configure(&format!("{}{}", server("one", &[]), server("two", &[])));
    home.run(&["call", "one__echo", "text=x"]).ok();
    home.run(&["tools"]).ok();
    let token = home.run(&["token", "create", "a", "--scope", "tool:one__echo", "--json"]).json();
    assert_eq!(token["scopes"], json!(["tool:one__echo"]), "{token}");
    let wrong = home.run(&["token", "create", "b", "--scope", "tool:one__ehco"]).err(2);
    assert!(wrong.contains("did you mean one__echo?"), "{wrong}");
    let wrong = home.run(&["token", "create", "c", "--scope", "tool:echo"]).err(2);
    assert!(wrong.contains("tool:one__echo or tool:two__echo"), "{wrong}");
    let wrong = home.run(&["token", "create", "d", "--scope", "server:oen"]).err(2);
    assert!(wrong.contains("did you mean one?"), "{wrong}");
    let unseen = home.run(&["token", "create", "e", "--scope", "server:elsewhere-entirely"]);
    assert!(unseen.stderr.contains("no such server is configured yet"), "{unseen:?}");
    for spelling in ["echo", "one__echo"] {
        let found = home.run(&["audit", "query", "--tool", spelling, "--type", "TOOL_EXECUTED", "--json"]).json();
        assert_eq!(found["events"].as_array().map(Vec::len), Some(1), "{spelling}: {found}");
    }
}

#[test]
fn access_says_which_permission_is_missing() {
    let home = Home::new();
    let needs = "[servers.mgp]\npermissions_required = ['shell.execute']\n";
    home.configure(&format!("{}{needs}", server("one", &[])));
    home.run(&["tools"]);
    let asked = ["access", "--principal", "ann", "--server", "one", "--tool", "echo", "--json"];
    home.run(&["grant", "--principal", "ann", "--server", "one"]).ok();
    let before = home.run(&asked).json();
    assert_eq!(before["usable"], false, "{before}");
    assert!(before["obstacle"].as_str().unwrap().contains("shell.execute"), "{before}");
    home.run(&["grant", "--server", "one", "--permission", "shell.execute"]).ok();
    let after = home.run(&asked).json();
    assert!(!after["obstacle"].to_string().contains("shell.execute"), "{after}");
}

#[test]
fn the_kernels_own_tools_can_be_called() {
    let home = Home::new();
    home.configure(&server("one", &[]));
    let found = home.run(&["call", "mgp_tools_discover", "query=say my words back"]).ok();
    assert!(found.contains("echo"), "{found}");
}

#[test]
fn a_known_client_is_shown_names_as_long_as_it_takes_them() {
    let home = Home::new();
    let long = "a-server-with-a-name-that-nobody-wants-to-read";
    home.configure(&format!("{}{}", server(long, &[]), server("two", &[])));
    let listed = |name: &str| {
        let mut peer = crate::support::Peer::start(home.command(&["stdio"]));
        let hello =
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": name, "version": "1"}});
        peer.ask("initialize", &hello);
        peer.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        let names = peer.tools();
        let own = names.iter().find(|name| name.starts_with("a-server") && name.ends_with("__echo")).unwrap().clone();
        // Both the name that this client was shown and the one of the others are understood.
        for name in [own.as_str(), &format!("{long}__echo")] {
            assert_eq!(peer.call(name, &json!({"text": "x"})).as_deref(), Ok("x"), "{name}");
        }
        own
    };
    let (desktop, cursor, other) = (listed("claude-ai"), listed("cursor-vscode"), listed("somebody"));
    assert_eq!((desktop, cursor.len(), other.len()), (format!("{long}__echo"), 48, 46));
    // What the operator says of one client holds for that one, and what is said of all for the others.
    let said = "[tool_context]\nmax_name_length = 40\n[tool_context.clients.cursor]\nmax_name_length = 30\n";
    home.configure(&format!("{said}{}{}", server(long, &[]), server("two", &[])));
    assert_eq!((listed("claude-ai").len(), listed("cursor").len(), listed("somebody").len()), (40, 30, 40));
}
