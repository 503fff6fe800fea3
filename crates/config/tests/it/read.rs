//! What a valid file means, and what a reload sees.

use std::path::Path;
use std::time::Duration;

use switchboard_config::{
    ApprovalPolicy, Changes, Config, DefaultPolicy, Endpoint, Environment, Era, RemoteEndpoint, RestartMode, Secret,
    Sharing, StdioEndpoint, Transport, TrustLevel, changes, fingerprint, init_text, project_init_text,
};

fn read(text: &str) -> Config {
    let environment: Environment =
        [("HOME", "/home/me"), ("CEREBRAS_API_KEY", "hunter2"), ("REGION", "eu")].into_iter().collect();
    Config::parse(Path::new("/cfg/mgp.toml"), text, &environment).unwrap()
}

fn stdio<'a>(config: &'a Config, id: &str) -> &'a StdioEndpoint {
    match config.server(id).unwrap().endpoint() {
        Ok(Endpoint::Stdio(endpoint)) => endpoint,
        other => panic!("{other:?}"),
    }
}

fn http<'a>(config: &'a Config, id: &str) -> &'a RemoteEndpoint {
    match config.server(id).unwrap().endpoint() {
        Ok(Endpoint::Http(endpoint)) => endpoint,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_example_of_the_specification() {
    let config = read(
        r#"
[[servers]]
id = "mind.cerebras"
command = "python"
args = ["mcp-servers/cerebras/server.py"]
transport = "stdio"

[servers.mgp]
extensions = ["security", "lifecycle", "streaming"]
permissions_required = ["network.outbound"]
trust_level = "standard"
restart_policy = "on_failure"

[servers.env]
CEREBRAS_API_KEY = "${CEREBRAS_API_KEY}"
"#,
    );
    let server = config.server("mind.cerebras").unwrap();
    let endpoint = stdio(&config, "mind.cerebras");
    assert_eq!((endpoint.program.as_str(), endpoint.args.len()), ("python", 1));
    assert_eq!(endpoint.env["CEREBRAS_API_KEY"].reveal(), "hunter2");
    assert_eq!(server.line, 2);
    assert_eq!(server.entry.mgp.as_ref().unwrap().extensions.len(), 3);
    assert_eq!(server.trust_level(), TrustLevel::Standard);
    assert_eq!(server.restart().mode, RestartMode::OnFailure);
    assert_eq!((server.sharing(), server.era(), server.enabled()), (Sharing::Shared, Era::Auto, true));
    assert_eq!(config.errors().count(), 0);
    assert!(config.warnings.is_empty());
}

#[test]
fn no_debug_text_holds_a_secret() {
    let config = read(
        r#"
store = "postgres://u:hunter2@db/x"
[[servers]]
id = "a"
command = "x"
args = ["--key", "${CEREBRAS_API_KEY}", "--token=hunter2"]
env = { A = "hunter2" }
[[servers]]
id = "b"
url = "https://x.test/mcp?k=${CEREBRAS_API_KEY}"
token = "hunter2"
headers = { X-Other = "hunter2" }
"#,
    );
    assert_eq!(config.errors().count(), 0);
    assert!(!format!("{config:?} {config:#?}").contains("hunter2"));
    assert_eq!(http(&config, "b").url, "https://x.test/mcp?k=hunter2");
}

#[test]
fn our_own_keys() {
    let config = read(
        r#"
listen = "localhost:9000"
allowed_hosts = ["switchboard.example", "[::1]:9000"]
allowed_origins = ["https://app.example"]
data_dir = "~/state"
approval_policy = "deny_all"
default_policy = "opt-in"
bus = "nats://127.0.0.1"

[limits]
message_bytes = 2048
call_timeout_ms = 3600000

[[servers]]
id = "local"
description = "Local files"
command = "~/bin/files"
cwd = "sub/${REGION}"
pass_env = ["HTTPS_PROXY"]
sharing = "session"
era = "legacy"
start_timeout_ms = 100
call_timeout_ms = 200
default_policy = "opt-out"
enabled = false
[servers.mgp]
trust_level = "sandboxed"
restart_policy = { policy = "always", max_restarts = 0, restart_window_secs = 60, backoff_base_ms = 10, backoff_max_ms = 20 }

[[servers]]
id = "remote"
url = "https://${REGION}.x.test/mcp"
token = "${CEREBRAS_API_KEY}"
headers = { X-Region = "${REGION}" }

[[servers]]
id = "old"
url = "http://127.0.0.1:1/sse"
transport = "sse"

[[servers]]
id = "socket"
url = "unix:/run/${REGION}/mcp.sock"

[[servers]]
id = "seed"
command = "x"
[servers.mgp]
restart_policy = "never"
max_restarts = 9
"#,
    );
    assert_eq!(config.errors().map(ToString::to_string).collect::<Vec<_>>(), [""; 0]);
    let settings = &config.settings;
    assert_eq!(settings.listen.to_string(), "127.0.0.1:9000");
    assert_eq!(settings.data_dir.as_deref(), Some(Path::new("/home/me/state")));
    assert_eq!(settings.approval_policy, ApprovalPolicy::DenyAll);
    assert_eq!(settings.default_policy, Some(DefaultPolicy::OptIn));
    assert_eq!(settings.bus.as_ref().map(Secret::reveal), Some("nats://127.0.0.1"));
    assert_eq!((settings.limits.message_bytes, settings.limits.depth), (2048, 128));
    assert_eq!(settings.limits.call_timeout_max, Duration::from_secs(3600));

    let local = config.server("local").unwrap();
    let endpoint = stdio(&config, "local");
    assert_eq!(endpoint.program, "/home/me/bin/files");
    assert_eq!(endpoint.cwd.as_deref(), Some(Path::new("/cfg/sub/eu")));
    assert_eq!(endpoint.pass_env, ["HTTPS_PROXY"]);
    assert_eq!((local.sharing(), local.era(), local.enabled()), (Sharing::Session, Era::Legacy, false));
    assert_eq!(local.start_timeout(&settings.limits), Duration::from_millis(100));
    assert_eq!(local.call_timeout(&settings.limits), Duration::from_millis(200));
    let restart = local.restart();
    assert_eq!((restart.mode, restart.max_restarts), (RestartMode::Always, 0));
    assert_eq!((restart.window, restart.backoff_max), (Duration::from_secs(60), Duration::from_millis(20)));

    let socket = config.server("socket").unwrap();
    assert_eq!(socket.transport(), Transport::Address);
    assert_eq!(socket.endpoint(), Ok(&Endpoint::Address("unix:/run/eu/mcp.sock".to_owned())));

    let remote = http(&config, "remote");
    assert_eq!(remote.url, "https://eu.x.test/mcp");
    assert_eq!(remote.token.as_ref().map(Secret::reveal), Some("hunter2"));
    assert_eq!(remote.headers["X-Region"].reveal(), "eu");
    assert_eq!(config.server("remote").unwrap().sharing(), Sharing::Session);
    assert_eq!(config.server("old").unwrap().transport(), Transport::Sse);
    assert!(http(&config, "old").legacy_sse && !remote.legacy_sse);
    assert_eq!(config.server("remote").unwrap().call_timeout(&settings.limits), Duration::from_secs(3600));
    let seed = config.server("seed").unwrap().restart();
    assert_eq!((seed.mode, seed.max_restarts), (RestartMode::Never, 9));
}

#[test]
fn what_deserves_a_look() {
    let config = read(
        r#"
[[servers]]
id = "a"
command = "x"
args = ["${CEREBRAS_API_KEY}"]
token = "t"
[servers.mgp]
permissions_required = ["shell", "network.outbond", "com.example.thing"]
[[servers]]
id = "b"
url = "http://far.test/mcp"
args = []
headers = { Authorization = "Bearer t" }
"#,
    );
    assert_eq!(
        config.warnings,
        [
            "/cfg/mgp.toml:6: server \"a\": `token`: has no effect on a stdio server",
            "/cfg/mgp.toml:5: server \"a\": `args`: `CEREBRAS_API_KEY` becomes visible to other users in the list of processes; pass it in `env`",
            "/cfg/mgp.toml:7: server \"a\": `mgp`: \"shell\" is not a standard permission",
            "/cfg/mgp.toml:7: server \"a\": `mgp`: \"network.outbond\" is not a standard permission; did you mean \"network.outbound\"?",
            "/cfg/mgp.toml:12: server \"b\": `args`: has no effect on a streamable-http server",
            "/cfg/mgp.toml:11: server \"b\": `url`: credentials go over plain http; use https",
        ]
    );
}

#[test]
fn other_layouts() {
    let config = read(
        "\u{feff}servers = [\r\n  { id = 'a', command = 'x', env.A = '1' }, # one\r\n  { id = 'b', url = 'https://x.test' },\r\n]\r\n",
    );
    assert_eq!(stdio(&config, "a").env["A"].reveal(), "1");
    assert_eq!(http(&config, "b").url, "https://x.test/");
    assert_eq!(config.servers[1].line, 3);
    for empty in ["", "# nothing\n", &init_text(false)] {
        assert_eq!(read(empty), Config::default());
    }
}

#[test]
fn the_starter_is_valid_with_its_comments_removed() {
    for starter in [init_text(false), project_init_text()] {
        let text: String = starter
            .lines()
            .filter_map(|line| line.strip_prefix("# "))
            .filter(|line| line.starts_with('[') || line.split_once(" = ").is_some_and(|(key, _)| !key.contains(' ')))
            .map(|line| format!("{line}\n"))
            .collect();
        let config = read(&text);
        assert_eq!(config.servers.len(), 2, "{text}");
        let errors: Vec<_> = config.errors().map(|error| error.summary()).collect();
        assert_eq!(errors.len(), 1, "only the token is missing: {errors:?}");
    }
    assert_eq!(read(&project_init_text()), Config::default());
}

#[test]
fn one_missing_variable_spares_the_rest() {
    let config = read("[[servers]]\nid='a'\ncommand='x'\nargs=['${NOPE}']\n[[servers]]\nid='b'\ncommand='y'\n");
    assert_eq!(
        config.server("a").unwrap().problem().unwrap().summary(),
        "/cfg/mgp.toml:4:7: server \"a\": the variable `NOPE`, used in `args`, is not set"
    );
    assert_eq!(config.server("a").unwrap().entry.exact_line(), "x ${NOPE}");
    assert_eq!(stdio(&config, "b").program, "y");
}

#[test]
fn a_reload_sees_only_what_matters() {
    let old = "[[servers]]\nid='a'\ncommand='x'\n[[servers]]\nid='b'\ncommand='${REGION}'\n[[servers]]\nid='c'\ncommand='${NOPE}'\n";
    let before = read(old);
    let moved = read(&format!(
        "# comment\n\n[[servers]]\nid='c'\ncommand='${{NOPE}}'\n{}",
        &old[..old.find("[[servers]]\nid='c'").unwrap()]
    ));
    let found = changes(&before, &moved);
    assert!(found.is_empty(), "{found:?}");
    assert_eq!(found.unchanged, ["c", "a", "b"]);

    let other: Environment = [("REGION", "us")].into_iter().collect();
    let found = changes(&before, &Config::parse(Path::new("/cfg/mgp.toml"), old, &other).unwrap());
    assert_eq!(found.changed, ["b"], "a changed variable restarts its server");

    let found = changes(
        &before,
        &read(
            "listen='127.0.0.1:1'\n[[servers]]\nid='a'\ncommand='x'\nenabled=false\n[[servers]]\nid='d'\ncommand='x'\n",
        ),
    );
    let ids = |ids: &[&str]| ids.iter().map(|&id| id.to_owned()).collect::<Vec<_>>();
    let expected = Changes {
        added: ids(&["d"]),
        removed: ids(&["b", "c"]),
        changed: ids(&["a"]),
        unchanged: vec![],
        settings: true,
    };
    assert_eq!(found, expected);
}

#[test]
fn thousands_of_servers_are_read_and_compared() {
    let text: String = (0..5_000).map(|n| format!("[[servers]]\nid = \"s-{n}-x\"\ncommand = \"x\"\n")).collect();
    let config = read(&text);
    assert_eq!((config.servers.len(), config.servers[4_999].line), (5_000, 14_998));
    assert_eq!(changes(&config, &config).unchanged.len(), 5_000);
}

#[test]
fn rates_breakers_and_retries() {
    use std::time::Duration;
    use switchboard_config::Rates;
    let seconds = Duration::from_secs;
    let text = "
[limits]
drain_timeout_ms = 1000
shutdown_grace_ms = 2000
health_every_ms = 0
[rates]
calls = 10
concurrent = 4
parked_calls = 7
notifications_per_second = 9
[rates.principals.ada]
calls = 100
window_ms = 1000
burst = 5
quota = 1000
[breaker]
failures = 3
open_ms = 4000
[retry]
most = 0
[[servers]]
id = 'a'
command = 'x'
sleep_after_ms = 5000
health_every_ms = 1000
rates = { concurrent = 2 }
breaker = { failures = 0 }
retry = { most = 1, fallback = false }
[servers.tools.slow]
rates = { quota = 5, quota_period_ms = 2000 }
";
    let config = read(text);
    let settings = &config.settings;
    assert_eq!((settings.limits.drain_timeout, settings.limits.shutdown_grace), (seconds(1), seconds(2)));
    assert!(settings.limits.health_every.is_zero());
    let each = Rates { calls: Some((10, seconds(60), 10)), concurrent: Some(4), quota: None };
    assert_eq!(settings.rates.each, each);
    assert_eq!((settings.rates.parked_calls, settings.rates.notifications), (Some(7), Some(9)));
    let ada = Rates { calls: Some((100, seconds(1), 5)), concurrent: None, quota: Some((1000, seconds(86_400))) };
    assert_eq!(settings.rates.principals["ada"], ada);
    assert_eq!((settings.breaker.failures, settings.breaker.open), (Some(3), Some(seconds(4))));
    assert_eq!(settings.retry.most, Some(0));
    let entry = &config.server("a").unwrap().entry;
    assert_eq!((entry.flow.sleep_after, entry.flow.health_every), (Some(seconds(5)), Some(seconds(1))));
    assert_eq!(entry.flow.rates.concurrent, Some(2));
    assert_eq!((entry.flow.breaker.failures, entry.flow.retry.most), (Some(0), Some(1)));
    assert_eq!(entry.tools["slow"].rates.quota, Some((5, seconds(2))));
    for (text, word) in [
        ("[rates]\nburst = 3\n", "says nothing without `calls`"),
        ("[rates]\nquota_period_ms = 3\n", "says nothing without `quota`"),
        ("[rates]\ncalls = 0\n", "out of range"),
        ("[rates]\nprincipals = 1\n", "a table of principals"),
        ("[rates.principals.ada]\nparked_calls = 1\n", "unknown key"),
        ("[retry]\nmost = 11\n", "out of range"),
    ] {
        let error = Config::parse(Path::new("mgp.toml"), text, &Environment::default()).unwrap_err();
        assert!(error.to_string().contains(word), "{error}");
    }
}

#[test]
fn what_is_said_of_arguments_and_prompts_is_read_and_covered_by_an_approval() {
    let base = "[[servers]]\nid = 'a'\ncommand = 'x'\n";
    let config = read(&format!(
        "{base}[servers.tools.remember]\ntext_arguments = ['note']\n\
         [servers.prompts.fetch]\nenabled = false\nrisk = 'moderate'\nvalidator = 'none'\nconfirm = true\ntext_arguments = ['b']\n"
    ));
    let entry = &config.server("a").unwrap().entry;
    assert_eq!(entry.tools["remember"].text_arguments, ["note"]);
    let fetch = &entry.prompts["fetch"];
    assert_eq!((fetch.enabled, fetch.confirm, fetch.text_arguments.len()), (Some(false), Some(true), 1));
    // Each of them can open a hole, so each of them asks anew.
    let mut seen = std::collections::HashSet::new();
    for more in [
        "",
        "[servers.tools.t]\n",
        "[servers.tools.t]\ntext_arguments = ['note']\n",
        "[servers.tools.t]\ntext_arguments = ['note', 'path']\n",
        "[servers.prompts.t]\n",
        "[servers.prompts.t]\ntext_arguments = ['note']\n",
        "[servers.prompts.t]\nvalidator = 'none'\n",
        "[servers.prompts.t]\nrisk = 'safe'\n",
        "[servers.prompts.t]\nconfirm = false\n",
    ] {
        let config = read(&format!("{base}{more}"));
        assert!(seen.insert(fingerprint(config.server("a").unwrap())), "{more}");
    }
    for (text, word) in [
        ("[servers.tools.t]\ntext_arguments = 'note'\n", "an array of strings"),
        ("[servers.tools.t]\ntext_argument = ['note']\n", "text_arguments"),
        ("[servers.prompts.t]\nschema = false\n", "schema"),
        ("[servers.prompts.t]\ncode_level = 'strict'\n", "code_level"),
        ("[servers.prompts]\nt = 1\n", "a table"),
    ] {
        let text = format!("{base}{text}");
        let errors: Vec<String> = read(&text).errors().map(ToString::to_string).collect();
        assert!(errors.len() == 1 && errors[0].contains(word), "{text}: {errors:?}");
    }
}

#[test]
fn a_socket_is_named_by_its_whole_path() {
    for (url, good) in [
        ("unix:/run/mcp.sock", true),
        ("unix:///run/mcp.sock", true),
        ("unix:mcp.sock", false),
        ("unix://host/mcp.sock", false),
        ("unix:", false),
        ("unix:/", false),
    ] {
        let config = read(&format!("[[servers]]\nid = \"s\"\nurl = \"{url}\"\n"));
        assert_eq!(config.server("s").unwrap().endpoint().is_ok(), good, "{url}");
    }
}
