//! Edits keep the rest of a file.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use proptest::prelude::*;
use switchboard_config::{
    BreakerSettings, Client, Config, DefaultPolicy, EditError, Environment, Era, FlowEntry, IsolationEntry,
    IsolationMode, MgpEntry, Rates, Restart, RestartMode, Retry, Risk, Secret, ServerEntry, Sharing, ToolEntry,
    Transport, TrustLevel, ValidatorName, add_server, client_entry, init_text, remove_server,
};

fn file() -> &'static Path {
    Path::new("mgp.toml")
}

fn read(text: &str) -> Config {
    Config::parse(file(), text, &Environment::default()).unwrap()
}

fn simple(id: &str) -> ServerEntry {
    ServerEntry::stdio(id, "run", Vec::new())
}

fn full() -> ServerEntry {
    ServerEntry {
        pins: Some(switchboard_config::PinMode::Ask),
        id: "full".to_owned(),
        alias: Some("f".to_owned()),
        only_tools: Some(vec!["run".to_owned(), "a \"b\"".to_owned()]),
        description: Some("a \"quoted\"\nthing".to_owned()),
        enabled: Some(false),
        transport: Some(Transport::Stdio),
        command: Some("C:\\run.exe".to_owned()),
        args: vec!["a b".to_owned(), "\u{1b}".to_owned(), "${X:-y}".to_owned()],
        cwd: Some("sub".to_owned()),
        env: BTreeMap::from([("A B".to_owned(), Secret::new("\"")), ("é".to_owned(), Secret::new("'''"))]),
        pass_env: vec!["LANG".to_owned()],
        url: None,
        headers: BTreeMap::new(),
        token: None,
        oauth: None,
        sharing: Some(Sharing::Session),
        era: Some(Era::Modern),
        start_timeout: Some(Duration::from_millis(5)),
        call_timeout: Some(Duration::from_millis(6)),
        default_policy: Some(DefaultPolicy::OptIn),
        audit_sink: Some(true),
        isolation: Some(IsolationEntry {
            mode: Some(IsolationMode::Trust),
            memory_limit_mb: Some(64),
            filesystem_scope: Some("readonly".to_owned()),
            ..IsolationEntry::default()
        }),
        tools: [(
            "run".to_owned(),
            ToolEntry {
                pins: Some(switchboard_config::PinMode::Strict),
                enabled: Some(false),
                risk: Some(Risk::Dangerous),
                validator: Some(ValidatorName::Sandbox),
                confirm: Some(false),
                code_level: Some("strict".to_owned()),
                schema: Some(false),
                text_arguments: vec!["note".to_owned(), "a b".to_owned()],
                rates: Rates { calls: Some((3, Duration::from_secs(1), 2)), ..Rates::default() },
                name: Some("find".to_owned()),
                description: Some("Finds \"it\"".to_owned()),
                defaults: serde_json::json!({"limit": 10, "deep": {"a b": [1.5, true]}}).as_object().cloned().unwrap(),
                fixed: serde_json::json!({"repo": "x"}).as_object().cloned().unwrap(),
            },
        )]
        .into(),
        prompts: [(
            "greet".to_owned(),
            ToolEntry {
                enabled: Some(true),
                validator: Some(ValidatorName::None),
                text_arguments: vec!["who".to_owned()],
                ..ToolEntry::default()
            },
        )]
        .into(),
        flow: FlowEntry {
            stop_timeout: Some(Duration::from_millis(7)),
            drain_timeout: Some(Duration::from_millis(8)),
            health_every: Some(Duration::ZERO),
            sleep_after: Some(Duration::from_millis(9)),
            rates: Rates { concurrent: Some(4), quota: Some((5, Duration::from_secs(6))), ..Rates::default() },
            breaker: BreakerSettings {
                failures: Some(0),
                open: Some(Duration::from_millis(1)),
                ..BreakerSettings::default()
            },
            retry: Retry { most: Some(1), fallback: Some(false), ..Retry::default() },
        },
        mgp: Some(MgpEntry {
            extensions: vec!["security".to_owned()],
            permissions_required: vec!["camera".to_owned()],
            permissions_granted: [
                ("filesystem.read".to_owned(), None),
                ("filesystem.write".to_owned(), Some(serde_json::json!({"paths": ["/srv/**"]}))),
            ]
            .into(),
            trust_level: Some(TrustLevel::Untrusted),
            restart: Some(Restart { mode: RestartMode::Always, max_restarts: 1, ..Restart::default() }),
        }),
    }
}

#[test]
fn every_field_survives_the_way_through_the_file() {
    let remote = ServerEntry {
        transport: Some(Transport::Sse),
        headers: BTreeMap::from([("X-A".to_owned(), Secret::new("${B}"))]),
        token: Some(Secret::new("${T}")),
        ..ServerEntry::http("remote", "https://x.test/sse")
    };
    for base in ["", &init_text(true), "servers = [ { id = 'a', command = 'x' } ]\n"] {
        for entry in [&full(), &remote] {
            let text = add_server(file(), base, entry).unwrap();
            assert_eq!(read(&text).server(&entry.id).unwrap().entry, *entry, "{text}");
        }
    }
}

#[test]
fn refusals() {
    let text = "[[servers]]\nid = \"files\"\ncommand = \"x\"\n";
    for (entry, expected) in [
        (simple("files"), "the server id \"files\" is already taken (line 1); choose another id"),
        (simple("FILES"), "the server id \"FILES\" looks like \"files\" (line 1); choose another id"),
    ] {
        assert_eq!(add_server(file(), text, &entry).unwrap_err().to_string(), expected);
    }
    for bad in [
        simple("a b"),
        ServerEntry::http("web", "ftp://x"),
        ServerEntry::stdio("a", "npx -y x", Vec::new()),
        ServerEntry::default(),
    ] {
        assert!(matches!(add_server(file(), text, &bad), Err(EditError::Config(_))), "{bad:?}");
    }
    assert!(matches!(add_server(file(), "[[", &simple("a")), Err(EditError::Config(_))));
    assert!(matches!(remove_server(file(), text, "nope"), Err(EditError::NoSuchServer(_))));
    assert!(matches!(remove_server(file(), "", "nope"), Err(EditError::NoSuchServer(_))));
    for later in [
        ServerEntry::stdio("ok", "${LATER:-}", Vec::new()),
        ServerEntry::http("ok", "${LATER:-}/mcp"),
        ServerEntry::http("ok", "${LATER}"),
    ] {
        assert!(add_server(file(), text, &later).is_ok(), "{later:?}");
    }
}

#[test]
fn a_broken_neighbour_does_not_stop_an_edit() {
    let text = "[[servers]]\nid = \"broken\"\ncomand = \"x\"\n\n[[servers]]\ncommand = \"no id\"\n";
    let more = add_server(file(), text, &simple("new")).unwrap();
    assert!(more.starts_with(text));
    assert_eq!(remove_server(file(), text, "broken").unwrap(), "[[servers]]\ncommand = \"no id\"\n");
}

#[test]
fn removal_takes_the_block_and_its_comment_only() {
    let text = "# the file\n[[servers]]\nid = \"a\"\ncommand = \"x\"\n\n# about b\n[[servers]] # b\nid = \"b\"\ncommand = \"x\"\n[servers.env]\nA = \"1\"\n\n# about limits\n[limits]\ndepth = 64\n\n# more of b? no, of c\n[[servers]]\nid = \"c\"\ncommand = \"x\"\n";
    for (id, expected) in [
        ("a", text.replacen("[[servers]]\nid = \"a\"\ncommand = \"x\"\n\n", "", 1)),
        (
            "b",
            text.replacen(
                "# about b\n[[servers]] # b\nid = \"b\"\ncommand = \"x\"\n[servers.env]\nA = \"1\"\n\n",
                "",
                1,
            ),
        ),
        ("c", text.replacen("# more of b? no, of c\n[[servers]]\nid = \"c\"\ncommand = \"x\"\n", "", 1)),
    ] {
        assert_eq!(remove_server(file(), text, id).unwrap(), expected);
    }
    let inline = "servers = [\n  { id = 'a', command = 'x' }, # one\n  { id = 'b', command = 'y' },\n]\n# end\n";
    let left = remove_server(file(), inline, "a").unwrap();
    assert!(left.contains("{ id = 'b', command = 'y' }") && left.ends_with("# end\n"), "{left}");
}

#[test]
fn line_ends_stay() {
    let text = "# dos\r\n[[servers]]\r\nid = \"a\"\r\ncommand = \"x\"";
    let entry = ServerEntry { description: Some("two\nlines".to_owned()), ..simple("b") };
    let more = add_server(file(), text, &entry).unwrap();
    assert_eq!(
        more,
        format!("{text}\r\n\r\n[[servers]]\r\nid = \"b\"\r\ndescription = \"two\\nlines\"\r\ncommand = \"run\"\r\n")
    );
}

#[test]
fn entries_for_clients_are_valid_and_point_back() {
    for client in Client::ALL {
        let entry = client_entry(client, "/opt/my \"tools\"/switchboard");
        let found = switchboard_config::read_client_file(client, Path::new("f"), &entry).unwrap();
        assert_eq!(found.servers[0].entry.command.as_deref(), Some("/opt/my \"tools\"/switchboard"), "{client}");
        assert_eq!(found.servers[0].entry.args, ["stdio"]);
    }
    assert_eq!(
        client_entry(Client::VsCode, "sb"),
        "{\n  \"servers\": {\n    \"switchboard\": {\n      \"type\": \"stdio\",\n      \"command\": \"sb\",\n      \"args\": [\n        \"stdio\"\n      ]\n    }\n  }\n}\n"
    );
}

/// Pieces of valid files, in any order: comments, blank lines, odd spacing, tables of both kinds, multi-line strings.
fn pieces() -> impl Strategy<Value = String> {
    let piece = |n: usize| {
        prop_oneof![
            Just("# a comment = [not a table]\n".to_owned()),
            Just("\n".to_owned()),
            Just("  \t\n".to_owned()),
            Just(format!("[[servers]]\nid = \"s{n}x\"\ncommand = 'x' # why\n")),
            Just(format!(
                "  [[ servers ]]\n  id='s{n}x'\n  command = \"x\"\n  [servers.env]\n  \"A\"   = '''\n[[servers]]\n# no\n'''\n"
            )),
            Just(format!(
                "[[servers]]\nid = \"s{n}x\"\nurl = \"https://x.test\"\nmgp.trust_level = \"trusted\"\n[servers.headers]\nX = \"${{NOPE}}\"\n"
            )),
        ]
    };
    let tail = prop_oneof![Just(""), Just("[limits]\ndepth = 64\n"), Just("# last, no newline"), Just("[limits] # x")];
    let head = prop_oneof![Just(""), Just("\u{feff}# bom\n"), Just("listen = '127.0.0.1:1'\n\n")];
    let body = (0..6usize).prop_flat_map(move |count| (0..count).map(piece).collect::<Vec<_>>());
    (head, body, tail, any::<bool>()).prop_map(|(head, body, tail, dos)| {
        let text = format!("{head}{}{tail}", body.concat());
        if dos { text.replace('\n', "\r\n") } else { text }
    })
}

proptest! {
    #[test]
    fn adding_keeps_every_byte_and_removing_undoes_it(text in pieces()) {
        let more = add_server(file(), &text, &full()).unwrap();
        prop_assert!(more.starts_with(&text));
        prop_assert_eq!(read(&more).server("full").unwrap().entry.clone(), full());
        let less = remove_server(file(), &more, "full").unwrap();
        prop_assert!(less.starts_with(&text));
        prop_assert!(less[text.len()..].trim().is_empty());
    }

    #[test]
    fn removing_keeps_the_other_servers(text in pieces(), which in 0..6usize) {
        let before = read(&text);
        if let Some(server) = before.servers.get(which) {
            let after = read(&remove_server(file(), &text, server.id()).unwrap());
            let rest: Vec<_> = before.servers.iter().filter(|other| other.id() != server.id()).map(|other| &other.entry).collect();
            prop_assert_eq!(after.servers.iter().map(|server| &server.entry).collect::<Vec<_>>(), rest);
        }
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "[\\[\\]{}=\"'#.a-z0-9\\n $é-]{0,60}") {
        let _ = Config::parse(file(), &text, &Environment::default());
    }

    #[test]
    fn any_entry_that_is_accepted_reads_back(command in "\\PC{1,12}", args in proptest::collection::vec("(?s).{0,8}", 0..4)) {
        let entry = ServerEntry::stdio("x", command, args);
        if let Ok(text) = add_server(file(), "", &entry) {
            prop_assert_eq!(read(&text).server("x").unwrap().entry.clone(), entry);
        }
    }
}
