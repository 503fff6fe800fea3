//! The files of other clients, from fixtures that look like theirs.

use std::path::Path;
use std::time::Duration;

use switchboard_config::{
    Client, ClientFile, Config, Environment, Imported, Secret, Transport, plan, read_client_file,
};

fn desktop() -> ClientFile {
    read(Client::ClaudeDesktop, "/h/claude_desktop_config.json", include_str!("fixtures/claude_desktop_config.json"))
}

fn project() -> ClientFile {
    read(Client::ClaudeCode, "/p/.mcp.json", include_str!("fixtures/dot_mcp.json"))
}

fn code() -> ClientFile {
    read(Client::ClaudeCode, "/h/.claude.json", include_str!("fixtures/dot_claude.json"))
}

fn cursor() -> ClientFile {
    read(Client::Cursor, "/p/.cursor/mcp.json", include_str!("fixtures/cursor_mcp.json"))
}

fn vscode() -> ClientFile {
    read(Client::VsCode, "/p/.vscode/mcp.json", include_str!("fixtures/vscode_mcp.json"))
}

fn codex() -> ClientFile {
    read(Client::Codex, "/h/.codex/config.toml", include_str!("fixtures/codex_config.toml"))
}

fn read(client: Client, file: &str, text: &str) -> ClientFile {
    read_client_file(client, Path::new(file), text).unwrap()
}

fn named<'a>(found: &'a ClientFile, name: &str) -> &'a Imported {
    found.servers.iter().find(|server| server.name == name).unwrap()
}

fn names(found: &ClientFile) -> Vec<&str> {
    found.servers.iter().map(|server| server.name.as_str()).collect()
}

#[test]
fn claude_desktop() {
    let found = desktop();
    assert_eq!(names(&found), ["filesystem", "Brave Search", "switchboard", "off"]);
    assert_eq!(
        found.warnings,
        [
            "/h/claude_desktop_config.json: `mcpServers.nonsense` has neither `command` nor `url`; it was left out",
            "/h/claude_desktop_config.json: `mcpServers.text` is not an object; it was left out",
        ]
    );
    let brave = named(&found, "Brave Search");
    assert_eq!(brave.entry.id, "Brave-Search");
    assert_eq!(brave.entry.env["BRAVE_API_KEY"].reveal(), "BSAhunter2");
    assert_eq!(brave.entry.env["LITERAL"].reveal(), "$${HOME}", "this client expands nothing");
    assert_eq!(
        brave.notes,
        ["`env.BRAVE_API_KEY` holds a secret in plain text; a reference such as `${NAME}` is safer"]
    );
    let off = named(&found, "off");
    assert_eq!((off.entry.enabled, off.entry.args[1].as_str()), (Some(false), "5"));
}

#[test]
fn claude_code_project_file() {
    let found = project();
    let github = named(&found, "github");
    assert_eq!(github.entry.url.as_deref(), Some("${GITHUB_URL:-https://api.github.example/mcp/}"));
    assert_eq!(github.entry.headers["Authorization"].reveal(), "Bearer ${GITHUB_TOKEN}");
    assert_eq!(github.entry.call_timeout, Some(Duration::from_secs(90)));
    assert_eq!(github.notes, ["`headers.Accept` is set by switchboard itself and was not taken over"]);
    assert_eq!(named(&found, "events").entry.transport, Some(Transport::Sse));
    assert_eq!(named(&found, "local").entry.exact_line(), "/p/bin/serve --db ${DB:-dev}");
    assert_eq!(
        found.warnings,
        ["/p/.mcp.json: `mcpServers.socket` uses the transport \"ws\", which is not supported; it was left out"]
    );
}

#[test]
fn claude_code_user_file_with_projects() {
    let found = code();
    assert_eq!(names(&found), ["time", "time", "db"]);
    assert_eq!(found.servers[1].entry.cwd.as_deref(), Some("/home/me/app"));
    assert_eq!(found.servers[1].notes, ["was only used in the project /home/me/app; here it is used everywhere"]);
    assert_eq!((found.servers[2].entry.cwd.as_deref(), found.servers[2].entry.enabled), (Some("/srv"), Some(false)));
}

#[test]
fn cursor_file() {
    let found = cursor();
    let notes = named(&found, "notes");
    assert_eq!(notes.entry.exact_line(), "/p/bin/notes --home ${HOME}/notes");
    assert_eq!(notes.entry.env["NOTES_TOKEN"].reveal(), "${NOTES_TOKEN}");
    assert!(notes.env_file.is_some() && notes.notes.is_empty(), "{notes:?}");
    assert_eq!(named(&found, "legacy").entry.transport, Some(Transport::Sse));
    assert_eq!(named(&found, "remote").entry.transport, None);
    assert_eq!(named(&found, "remote").notes.len(), 1, "a key in plain text");
}

#[test]
fn vscode_file_and_settings() {
    let found = vscode();
    assert_eq!(names(&found), ["perplexity", "docs", "here"]);
    let perplexity = named(&found, "perplexity");
    assert_eq!(perplexity.entry.env["PERPLEXITY_API_KEY"].reveal(), "${PERPLEXITY_KEY}");
    assert_eq!(perplexity.entry.env.len(), 1);
    assert_eq!(
        perplexity.notes,
        ["the client asks for the input `perplexity-key`; set the variable PERPLEXITY_KEY instead"]
    );
    assert_eq!(named(&found, "docs").entry.url.as_deref(), Some("https://docs.example/mcp?a=//b"));
    assert_eq!(named(&found, "here").entry.args, ["/p/s.py", "$${config:python.x}"]);
    assert_eq!(named(&found, "here").notes.len(), 2);

    for settings in [
        "{ \"editor.x\": 1, \"mcp\": { \"servers\": { \"a\": { \"command\": \"x\", }, }, }, } // end",
        "{ \"mcp.servers\": { \"a\": { \"command\": \"x\" } } }",
    ] {
        assert_eq!(names(&read(Client::VsCode, "/h/settings.json", settings)), ["a"]);
    }
}

#[test]
fn codex_file() {
    let found = codex();
    let context = &named(&found, "context7").entry;
    assert_eq!(context.args[2], "$${NOT_EXPANDED}");
    assert_eq!(context.env["MY_ENV_VAR"].reveal(), "MY_ENV_VALUE");
    assert_eq!(context.pass_env, ["LOCAL_TOKEN"]);
    assert_eq!(context.start_timeout, Some(Duration::from_secs(20)));
    assert_eq!(context.call_timeout, Some(Duration::from_millis(1_500)));
    let figma = named(&found, "figma");
    assert_eq!(figma.entry.token.as_ref().map(Secret::reveal), Some("${FIGMA_OAUTH_TOKEN}"));
    assert_eq!(figma.entry.headers["X-Trace"].reveal(), "${TRACE_ID}");
    assert_eq!(figma.entry.only_tools.as_deref(), Some(&["a".to_owned()][..]));
    assert_eq!(figma.notes, [""; 0]);
    assert_eq!(named(&found, "off").entry.enabled, Some(false));
    assert_eq!(
        found.warnings,
        [
            "/h/.codex/config.toml: `mcp_servers.broken` has `bearer_token_env_var` with \"not a name\", which is not the name of a variable; it was left out"
        ]
    );
}

#[test]
fn tools_that_a_client_switches_off_stay_off() {
    let codex = "[mcp_servers.files]\ncommand = 'x'\nenabled_tools = ['read', 'write']\ndisabled_tools = ['write']\n";
    let gemini = r#"{"mcpServers": {"files": {"command": "x", "includeTools": ["read", "write(*)"], "excludeTools": ["write"]}}}"#;
    let windsurf = r#"{"mcpServers": {"files": {"command": "x", "disabledTools": ["write"]}}}"#;
    let copilot = r#"{"servers": {"files": {"command": "x", "tools": ["*"]}}}"#;
    let opencode = r#"{"mcp": {"files": {"type": "local", "command": ["x"]}, "web": {"type": "local", "command": ["y"]},
        "some": {"type": "local", "command": ["z"]}}, "tools": {"files_write": false, "web_*": false, "bash": false, "some_get*": false}}"#;
    for (client, text, only, off) in [
        (Client::Codex, codex, Some(2), true),
        (Client::Gemini, gemini, Some(2), true),
        (Client::Windsurf, windsurf, None, true),
        (Client::VsCode, copilot, None, false),
        (Client::OpenCode, opencode, None, true),
    ] {
        let found = read(client, "/h/f", text);
        let files = named(&found, "files");
        assert_eq!(files.entry.only_tools.as_ref().map(Vec::len), only, "{client}");
        assert_eq!(files.entry.allows_tool("write"), !off, "{client}");
        assert!(files.entry.allows_tool("read"), "{client}");
        let plan = plan(Path::new("mgp.toml"), "", &found.servers).unwrap();
        let config = Config::parse(Path::new("mgp.toml"), plan.apply(), &Environment::default()).unwrap();
        assert_eq!(config.server("files").map(|server| &server.entry), Some(&files.entry), "{}", plan.apply());
        // Where the server is there already, with all its tools, that is said.
        let there = "[[servers]]\nid = 'f'\ncommand = 'x'\n";
        let plan = switchboard_config::plan(Path::new("mgp.toml"), there, &found.servers).unwrap().to_string();
        assert_eq!(plan.contains("keeps from being used"), off, "{plan}");
    }
    let found = read(Client::OpenCode, "/h/f", opencode);
    assert_eq!(named(&found, "web").entry.enabled, Some(false));
    assert!(named(&found, "some").untranslated.is_some() && named(&found, "files").untranslated.is_none());
}

#[test]
fn files_that_are_not_what_they_should_be() {
    for (client, text, expected) in [
        (Client::Cursor, "{\n  \"mcpServers\": {\"a\"}\n}", "f:2:21: not valid JSON: expected `:`"),
        (
            Client::VsCode,
            "{ \"servers\": [] }",
            "f:1:1: `servers` must be an object whose keys are the names of servers",
        ),
        (Client::Codex, "[mcp_servers\n", "f:1:13: not valid TOML: unclosed table, expected `]`"),
        (Client::Codex, "x = 1\nmcp_servers = 3\n", "f:2:15: `mcp_servers` must be a table of servers"),
    ] {
        let error = read_client_file(client, Path::new("f"), text).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
    for client in Client::ALL {
        assert_eq!(read_client_file(client, Path::new("f"), "").unwrap(), ClientFile::default(), "{client}");
    }
    assert_eq!(read(Client::Cursor, "f", "{}"), ClientFile::default());
    let comments = "{ // mine\n \"mcpServers\": {\"a\": {\"command\": \"x\"}, } }";
    for client in [Client::Cursor, Client::ClaudeDesktop, Client::ClaudeCode, Client::Gemini, Client::Windsurf] {
        assert_eq!(
            names(&read(client, "f", comments)),
            ["a"],
            "{client} is connected with comments, and read with them"
        );
    }
    assert!(read_client_file(Client::Cursor, Path::new("f"), &"[".repeat(100_000)).is_err());
}

#[test]
fn a_plan_says_what_it_will_do_and_does_it() {
    let existing = "# mine\n[[servers]]\nid = \"filesystem\"\ncommand = \"other\"\n";
    let found: Vec<Imported> =
        [desktop(), project(), code(), cursor(), vscode(), codex()].into_iter().flat_map(|file| file.servers).collect();
    let plan = plan(Path::new("mgp.toml"), existing, &found).unwrap();
    assert_eq!(plan.to_string(), include_str!("fixtures/plan.txt"));
    assert!(!plan.to_string().contains("hunter2"));

    assert!(plan.apply().starts_with(existing));
    let config = Config::parse(Path::new("mgp.toml"), plan.apply(), &Environment::default()).unwrap();
    assert_eq!(config.servers.len(), 1 + plan.additions().count());
    assert!(config.rejected.is_empty());
    for (server, entry) in config.servers[1..].iter().zip(plan.additions()) {
        assert_eq!(server.entry, *entry);
    }

    let again = switchboard_config::plan(Path::new("mgp.toml"), plan.apply(), &found).unwrap();
    assert_eq!(again.additions().count(), 0, "{again}");
    assert_eq!(again.apply(), plan.apply());
}

#[test]
fn what_our_own_rules_refuse_is_skipped_with_the_reason() {
    let text = r#"{"mcpServers": {
        "bad": {"url": "https://me:hunter2@x.example/mcp"}, "spaces": {"command": "npx -y 'a b'"}, "mgp": {"command": "x"}}}"#;
    let plan = plan(Path::new("mgp.toml"), "", &read(Client::Cursor, "f", text).servers).unwrap();
    assert_eq!(
        plan.to_string(),
        "1 server to add:\n  + server-mgp: x (Cursor, f)\n      note: its name \"mgp\" became the id \"server-mgp\"\n2 servers not taken over:\n  - bad: `url` holds a user name or password (Cursor, f)\n  - spaces: `command` contains spaces (Cursor, f)\n"
    );
}

#[test]
fn a_whole_line_in_command_is_split_where_only_blanks_separate_its_words() {
    for (command, expected) in [
        ("npx @playwright/mcp@latest --headless", Some(("npx", &["@playwright/mcp@latest", "--headless"][..]))),
        ("uvx  mcp-server-git --repository /srv/x", Some(("uvx", &["mcp-server-git", "--repository", "/srv/x"]))),
        ("npx -y x && rm -rf y", None),
        ("node -e \"a b\"", None),
        ("/opt/my tools/server", None),
        ("npx", None),
    ] {
        let text = serde_json::json!({"mcpServers": {"a": {"command": command, "args": ["last"]}}}).to_string();
        let found = read(Client::ClaudeDesktop, "f", &text);
        let entry = &found.servers[0].entry;
        let (program, args) = expected.unwrap_or((command, &[]));
        assert_eq!(entry.command.as_deref(), Some(program), "{command}");
        assert_eq!(entry.args, args.iter().copied().chain(["last"]).collect::<Vec<_>>(), "{command}");
        assert_eq!(found.servers[0].notes.len(), usize::from(expected.is_some()), "{command}");
    }
}

#[test]
fn files_of_other_clients() {
    let gemini = r#"{"mcpServers": {"a": {"httpUrl": "https://a.example/mcp", "headers": {"X": "$KEY"}},
        "b": {"url": "https://b.example/events"}, "c": {"command": "c", "cwd": "/srv", "trust": true, "timeout": 90000}}}"#;
    let found = read(Client::Gemini, "/h/.gemini/settings.json", gemini);
    assert_eq!(named(&found, "c").entry.call_timeout, Some(Duration::from_secs(90)));
    assert_eq!(named(&found, "a").entry.headers["X"].reveal(), "${KEY}");
    assert_eq!((named(&found, "a").entry.transport, named(&found, "b").entry.transport), (None, Some(Transport::Sse)));
    assert_eq!(named(&found, "c").notes, ["`trust` has no counterpart here and was not taken over"]);
    let windsurf = r#"{"mcpServers": {"a": {"serverUrl": "https://a.example/mcp", "disabled": true}}}"#;
    let found = read(Client::Windsurf, "f", windsurf);
    assert_eq!(found.servers[0].entry.url.as_deref(), Some("https://a.example/mcp"));
    assert_eq!(found.servers[0].entry.enabled, Some(false));
    let zed = r#"{"context_servers": {"a": {"source": "custom", "command": "a", "args": ["b"], "env": {"C": "d"}},
        "b": {"command": {"path": "p", "args": ["q"]}}}}"#;
    let found = read(Client::Zed, "f", zed);
    assert_eq!(found.servers[0].entry.exact_line(), "a b");
    assert_eq!(found.servers[1].entry.exact_line(), "p q");
    assert!(found.servers.iter().all(|server| server.notes.is_empty()), "{found:?}");
    let opencode = r#"{"mcp": {"a": {"type": "local", "command": ["bun", "x"], "environment": {"K": "{env:KEY}"}},
        "b": {"type": "remote", "url": "https://b.example/mcp", "enabled": false}}}"#;
    let found = read(Client::OpenCode, "f", opencode);
    assert_eq!(
        (found.servers[0].entry.exact_line(), found.servers[0].entry.env["K"].reveal()),
        ("bun x".to_owned(), "${KEY}")
    );
    assert_eq!(found.servers[1].entry.enabled, Some(false));
}

#[test]
fn a_foreign_memory_does_not_take_the_place_of_the_built_in_one() {
    let text = r#"{"mcpServers": {"memory": {"command": "npx", "args": ["-y", "other-memory"]}}}"#;
    let found = read(Client::Cursor, "f", text).servers;
    let first = plan(Path::new("mgp.toml"), "", &found).unwrap();
    assert_eq!(first.additions().next().unwrap().id, "memory-server");
    let shown = first.to_string();
    assert!(
        shown.contains("its name \"memory\" became the id \"memory-server\"; \"memory\" is the built-in"),
        "{shown}"
    );
    let taken = "[[servers]]\nid = \"memory-server\"\ncommand = \"x\"\n";
    let second = plan(Path::new("mgp.toml"), taken, &found).unwrap();
    assert_eq!(second.additions().next().unwrap().id, "memory-server-cursor");
}

#[test]
fn a_server_whose_secret_became_a_reference_is_still_the_same() {
    let text = r#"{"mcpServers": {"notion": {"command": "n", "env": {"NOTION_TOKEN": "ntn_sekrit"}}}}"#;
    let found = read(Client::Cursor, "f", text).servers;
    let entry = |env: &str| format!("[[servers]]\nid = \"notes\"\ncommand = \"n\"\n{env}");
    for (env, added) in [
        ("env = { NOTION_TOKEN = \"${NOTION_TOKEN}\" }", 0),
        ("pass_env = [\"NOTION_TOKEN\"]", 0),
        ("env = { NOTION_TOKEN = \"ntn_other\" }", 1),
        ("", 1),
    ] {
        let plan = plan(Path::new("mgp.toml"), &entry(env), &found).unwrap();
        assert_eq!(plan.additions().count(), added, "{env}");
        assert!(!plan.to_string().contains("sekrit"), "{plan}");
    }
}
