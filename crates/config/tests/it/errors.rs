//! The exact words of every refusal.

use std::path::Path;

use switchboard_config::{Config, Environment};

const GOOD: &str = "\n[[servers]]\nid = \"good\"\ncommand = \"true\"\n";

/// Faults that refuse the file.
const FILE: &[(&str, &str)] = &[
    (
        "listen = \"127.0.0.1:7420\n",
        r#"mgp.toml:1:25: not valid TOML: invalid basic string, expected `"`
  |
1 | listen = "127.0.0.1:7420
  |                         ^
  = help: correct this line; `switchboard doctor` checks the file again"#,
    ),
    (
        "[[servers]\nid = \"a\"\n",
        r#"mgp.toml:1:11: not valid TOML: unclosed array table, expected `]`
  |
1 | [[servers]
  |           ^
  = help: correct this line; `switchboard doctor` checks the file again"#,
    ),
    (
        "[servers.env]\nAPI_KEY = \"hunter2\n",
        r#"mgp.toml:2:19: not valid TOML: invalid basic string, expected `"`
  |
2 | API_KEY = "*******
  |                   ^
  = help: correct this line; `switchboard doctor` checks the file again"#,
    ),
    (
        "listen = \"a\"\nlisten = \"b\"\n",
        r#"mgp.toml:2:1: not valid TOML: duplicate key
  |
2 | listen = "b"
  | ^^^^^^
  = help: correct this line; `switchboard doctor` checks the file again"#,
    ),
    (
        "lisen = \"127.0.0.1:7420\"\n",
        r#"mgp.toml:1:1: unknown key `lisen`
  |
1 | lisen = "127.0.0.1:7420"
  | ^^^^^
  = help: did you mean `listen`?"#,
    ),
    (
        "bananas = 1\n",
        r#"mgp.toml:1:1: unknown key `bananas`
  |
1 | bananas = 1
  | ^^^^^^^
  = help: the keys known here are servers, listen, allowed_hosts, allowed_origins, data_dir, pass_env, approval_policy, default_policy, store, bus, limits, auth, gate, isolation, rates, breaker, retry, memory, profiles, tool_context, discovery"#,
    ),
    (
        "listen = 7420\n",
        r#"mgp.toml:1:10: `listen` must be a string, found integer
  |
1 | listen = 7420
  |          ^^^^
  = help: write `listen = "..."`, with the quotes"#,
    ),
    (
        "listen = \"7420\"\n",
        r#"mgp.toml:1:10: `listen` is "7420", not an address and a port
  |
1 | listen = "7420"
  |          ^^^^^^
  = help: write `listen = "127.0.0.1:7420"`"#,
    ),
    (
        "approval_policy = \"autoapprove\"\n",
        r#"mgp.toml:1:19: `approval_policy` cannot be "autoapprove"
  |
1 | approval_policy = "autoapprove"
  |                   ^^^^^^^^^^^^^
  = help: did you mean "auto_approve"?"#,
    ),
    (
        "default_policy = \"maybe\"\n",
        r#"mgp.toml:1:18: `default_policy` cannot be "maybe"
  |
1 | default_policy = "maybe"
  |                  ^^^^^^^
  = help: write one of "opt-in", "opt-out""#,
    ),
    (
        "[limits]\nmesage_bytes = 1\n",
        r#"mgp.toml:2:1: unknown key `mesage_bytes` in [limits]
  |
2 | mesage_bytes = 1
  | ^^^^^^^^^^^^
  = help: did you mean `message_bytes`?"#,
    ),
    (
        "[limits]\ndepth = 1\n",
        r#"mgp.toml:2:9: `depth` is 1, out of range
  |
2 | depth = 1
  |         ^
  = help: write a number from 8 to 512"#,
    ),
    (
        "[limits]\ncall_timeout_ms = \"60s\"\n",
        r#"mgp.toml:2:19: `call_timeout_ms` must be a whole number, found string
  |
2 | call_timeout_ms = "60s"
  |                   ^^^^^
  = help: write `call_timeout_ms = 1000`, without quotes or unit"#,
    ),
    (
        "limits = 3\n",
        r#"mgp.toml:1:10: `limits` must be a table, found integer
  |
1 | limits = 3
  |          ^
  = help: write a table"#,
    ),
    (
        "allowed_origins = [\"null\"]\n",
        r#"mgp.toml:1:19: `allowed_origins` has "null", which is not an origin
  |
1 | allowed_origins = ["null"]
  |                   ^^^^^^^^
  = help: write origins such as "https://app.example", without a path"#,
    ),
    (
        "allowed_hosts = [\"http://x\"]\n",
        r#"mgp.toml:1:17: `allowed_hosts` has "http://x", which is not a host name
  |
1 | allowed_hosts = ["http://x"]
  |                 ^^^^^^^^^^^^
  = help: write names such as "switchboard.example" or "10.0.0.5:7420""#,
    ),
    (
        "store = \"${DATABASE_URL}\"\n",
        r#"mgp.toml:1:9: the variable `DATABASE_URL`, used in `store`, is not set
  |
1 | store = "${DATABASE_URL}"
  |         ^^^^^^^^^^^^^^^^^
  = help: set DATABASE_URL in the environment of switchboard, or write `${DATABASE_URL:-default}`"#,
    ),
    (
        "[servers]\nid = \"a\"\n",
        r#"mgp.toml:1:1: `servers` must be an array of tables, each headed `[[servers]]`, found table
  |
1 | [servers]
  | ^^^^^^^^^
  = help: write an array of tables, each headed `[[servers]]`"#,
    ),
    (
        "servers = [1]\n",
        r#"mgp.toml:1:11: `servers` must be an array of tables, each headed `[[servers]]`, found array
  |
1 | servers = [1]
  |           ^^^
  = help: write an array of tables, each headed `[[servers]]`"#,
    ),
];

/// Faults that refuse one server.
const SERVER: &[(&str, &str)] = &[
    (
        "[[servers]]\nid = \"files\"\ncomand = \"npx\"\n",
        r#"mgp.toml:3:1: server "files": unknown key `comand`
  |
3 | comand = "npx"
  | ^^^^^^
  = help: did you mean `command`?"#,
    ),
    (
        "[[servers]]\nid = \"files\"\ncommand = \"npx\"\nzebra = 1\n",
        r#"mgp.toml:4:1: server "files": unknown key `zebra`
  |
4 | zebra = 1
  | ^^^^^
  = help: the keys known here are id, alias, description, enabled, transport, command, args, cwd, env, pass_env, url, headers, token, oauth, sharing, era, start_timeout_ms, call_timeout_ms, default_policy, audit_sink, pins, only_tools, tools, prompts, isolation, stop_timeout_ms, drain_timeout_ms, health_every_ms, sleep_after_ms, rates, breaker, retry, mgp"#,
    ),
    (
        "[[servers]]\nid = \"files\"\n",
        r#"mgp.toml:2:6: server "files": `command` is missing
  |
2 | id = "files"
  |      ^^^^^^^
  = help: add `command = "..."` for a local server, or `url = "https://..."` for a remote one"#,
    ),
    (
        "[[servers]]\nid = \"files\"\ntransport = \"stdio\"\nurl = \"https://x.test/mcp\"\n",
        r#"mgp.toml:3:13: server "files": `command` is missing
  |
3 | transport = "stdio"
  |             ^^^^^^^
  = help: add `command = "..."` for a local server, or `url = "https://..."` for a remote one"#,
    ),
    (
        "[[servers]]\nid = \"web\"\ntransport = \"http\"\n",
        r#"mgp.toml:3:13: server "web": `url` is missing
  |
3 | transport = "http"
  |             ^^^^^^
  = help: add `url = "https://..."`"#,
    ),
    (
        "[[servers]]\nid = \"web\"\ncommand = \"npx\"\nurl = \"https://x.test/mcp\"\n",
        r#"mgp.toml:4:1: server "web": both `command` and `url` are given
  |
4 | url = "https://x.test/mcp"
  | ^^^
  = help: keep `command` for a local server or `url` for a remote one"#,
    ),
    (
        "[[servers]]\nid = \"web\"\nurl = \"ftp://x.test/mcp\"\n",
        r#"mgp.toml:3:7: server "web": `url` has the scheme `ftp`, not http or https
  |
3 | url = "ftp://x.test/mcp"
  |       ^^^^^^^^^^^^^^^^^^
  = help: write an address such as "https://host.example/mcp""#,
    ),
    (
        "[[servers]]\nid = \"web\"\nurl = \"x.test/mcp\"\n",
        r#"mgp.toml:3:7: server "web": `url` is not an address: relative URL without a base
  |
3 | url = "x.test/mcp"
  |       ^^^^^^^^^^^^
  = help: write an address such as "https://host.example/mcp""#,
    ),
    (
        "[[servers]]\nid = \"web\"\nurl = \"https://me:hunter2@x.test/mcp\"\n",
        r#"mgp.toml:3:7: server "web": `url` holds a user name or password
  |
3 | url = "*****://**:*******@*.****/***"
  |       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  = help: use `token` or `headers` for credentials"#,
    ),
    (
        "[[servers]]\nid = \"web\"\nurl = \"https://x.test/mcp\"\ntransport = \"websocket\"\n",
        r#"mgp.toml:4:13: server "web": `transport` cannot be "websocket"
  |
4 | transport = "websocket"
  |             ^^^^^^^^^^^
  = help: write one of "stdio", "streamable-http", "sse", "address""#,
    ),
    (
        "[[servers]]\nid = \"web\"\nurl = \"https://x.test/mcp\"\ntoken = \"two words\"\n",
        r#"mgp.toml:4:9: server "web": `token` is empty or has characters that a header cannot carry
  |
4 | token = "*** *****"
  |         ^^^^^^^^^^^
  = help: write the bare token, without `Bearer `"#,
    ),
    (
        "[[servers]]\nid = \"web\"\nurl = \"https://x.test/mcp\"\ntoken = \"abc\"\n[servers.headers]\nAuthorization = \"Bearer hunter2\"\n",
        r#"mgp.toml:6:17: server "web": `headers.Authorization` is given together with `token`
  |
6 | Authorization = "****** *******"
  |                 ^^^^^^^^^^^^^^^^
  = help: keep one of the two"#,
    ),
    (
        "[[servers]]\nid = \"web\"\nurl = \"https://x.test/mcp\"\nheaders = { Mcp-Session-Id = \"1\" }\n",
        r#"mgp.toml:4:30: server "web": `headers.Mcp-Session-Id` is set by switchboard itself
  |
4 | headers = { ***-*******-** = "*" }
  |                              ^^^
  = help: remove it"#,
    ),
    (
        "[[servers]]\nid = \"web\"\nurl = \"https://x.test/mcp\"\nheaders = { \"a b\" = \"1\" }\n",
        r#"mgp.toml:4:21: server "web": `headers.a b` is not the name of a header
  |
4 | headers = { "* *" = "*" }
  |                     ^^^
  = help: use letters, digits and `-`"#,
    ),
    (
        "[[servers]]\nid = \"files\"\ncommand = \"npx -y server\"\n",
        r#"mgp.toml:3:11: server "files": `command` contains spaces
  |
3 | command = "npx -y server"
  |           ^^^^^^^^^^^^^^^
  = help: put the program in `command` and each argument in `args`; no shell is involved"#,
    ),
    (
        "[[servers]]\nid = \"files\"\ncommand = \"\"\n",
        r#"mgp.toml:3:11: server "files": `command` is empty
  |
3 | command = ""
  |           ^^
  = help: name the program to start"#,
    ),
    (
        "[[servers]]\nid = \"files\"\ncommand = [\"npx\"]\n",
        r#"mgp.toml:3:11: server "files": `command` must be a string, found array
  |
3 | command = ["npx"]
  |           ^^^^^^^
  = help: write `command = "..."`, with the quotes"#,
    ),
    (
        "[[servers]]\nid = \"files\"\ncommand = \"npx\"\nargs = \"-y\"\n",
        r#"mgp.toml:4:8: server "files": `args` must be an array of strings, found string
  |
4 | args = "-y"
  |        ^^^^
  = help: write `args = ["...", "..."]`"#,
    ),
    (
        "[[servers]]\nid = \"files\"\ncommand = \"npx\"\nargs = [\"-y\", 7]\n",
        r#"mgp.toml:4:15: server "files": `args` must be an array of strings, found integer
  |
4 | args = ["-y", 7]
  |               ^
  = help: write `args = ["...", "..."]`"#,
    ),
    (
        "[[servers]]\nid = \"files\"\ncommand = \"npx\"\n[servers.env]\nPORT = 8080\n",
        r#"mgp.toml:5:8: server "files": `env.PORT` must be a string, found integer
  |
5 | PORT = ****
  |        ^^^^
  = help: write `PORT = "..."`, with the quotes"#,
    ),
    (
        "[[servers]]\nid = \"files\"\ncommand = \"npx\"\nenabled = \"no\"\n",
        r#"mgp.toml:4:11: server "files": `enabled` must be true or false, found string
  |
4 | enabled = "no"
  |           ^^^^
  = help: write `enabled = true` or `enabled = false`, without quotes"#,
    ),
    (
        "[[servers]]\nid = \"files\"\ncommand = \"npx\"\ncall_timeout_ms = 0\n",
        r#"mgp.toml:4:19: server "files": `call_timeout_ms` is 0, out of range
  |
4 | call_timeout_ms = 0
  |                   ^
  = help: write a number from 1 to 86400000"#,
    ),
    (
        "[[servers]]\nid = \"files\"\ncommand = \"npx\"\npass_env = [\"A=b\"]\n",
        r#"mgp.toml:4:12: server "files": `pass_env` has "A=b", which is not the name of a variable
  |
4 | pass_env = ["A=b"]
  |            ^^^^^^^
  = help: list names such as "HTTPS_PROXY", without `$` or value"#,
    ),
    (
        "[[servers]]\nid = \"files\"\ncommand = \"npx\"\nargs = [\"-y\", \"${DOCS}\"]\n",
        r#"mgp.toml:4:15: server "files": the variable `DOCS`, used in `args`, is not set
  |
4 | args = ["-y", "${DOCS}"]
  |               ^^^^^^^^^
  = help: set DOCS in the environment of switchboard, or write `${DOCS:-default}`"#,
    ),
    (
        "[[servers]]\nid = \"files\"\ncommand = \"npx\"\nenv = { A = \"${TOKEN\" }\n",
        r#"mgp.toml:4:13: server "files": `env.A` has a malformed reference: `${` without `}`
  |
4 | env = { * = "${*****" }
  |             ^^^^^^^^^
  = help: write `${NAME}` or `${NAME:-default}`; `$${` stands for a plain `${`"#,
    ),
    (
        "[[servers]]\nid = \"files\"\ncommand = \"npx\"\nmgp = { trust_level = \"trust\" }\n",
        r#"mgp.toml:4:23: server "files": `trust_level` cannot be "trust"
  |
4 | mgp = { trust_level = "trust" }
  |                       ^^^^^^^
  = help: did you mean "trusted"?"#,
    ),
    (
        "[[servers]]\nid = \"files\"\ncommand = \"npx\"\n[servers.mgp]\ntrustlevel = \"trusted\"\n",
        r#"mgp.toml:5:1: server "files": unknown key `trustlevel` in [servers.mgp]
  |
5 | trustlevel = "trusted"
  | ^^^^^^^^^^
  = help: did you mean `trust_level`?"#,
    ),
    (
        "[[servers]]\nid = \"files\"\ncommand = \"npx\"\n[servers.mgp]\nrestart_policy = \"sometimes\"\n",
        r#"mgp.toml:5:18: server "files": `restart_policy` cannot be "sometimes"
  |
5 | restart_policy = "sometimes"
  |                  ^^^^^^^^^^^
  = help: write one of "never", "on_failure", "always""#,
    ),
    (
        "[[servers]]\nid = \"files\"\ncommand = \"npx\"\n[servers.mgp.restart_policy]\npolicy = \"always\"\nmax_restart = 3\n",
        r#"mgp.toml:6:1: server "files": unknown key `max_restart` in `restart_policy`
  |
6 | max_restart = 3
  | ^^^^^^^^^^^
  = help: did you mean `max_restarts`?"#,
    ),
    (
        "[[servers]]\nid = \"files\"\ncommand = \"npx\"\n[servers.mgp]\nbackoff_base_ms = 60000\n",
        r#"mgp.toml:5:19: server "files": `backoff_base_ms` makes the longest pause shorter than the first
  |
5 | backoff_base_ms = 60000
  |                   ^^^^^
  = help: raise `backoff_max_ms`"#,
    ),
    (
        "[[servers]]\ncommand = \"npx\"\n",
        r#"mgp.toml:1:1: a server without `id`
  |
1 | [[servers]]
  | ^^^^^^^^^^^
  = help: add a line such as `id = "files"` below `[[servers]]`"#,
    ),
    (
        "[[servers]]\nid = 3\ncommand = \"npx\"\n",
        r#"mgp.toml:2:6: `id` must be a string, found integer
  |
2 | id = 3
  |      ^
  = help: write `id = "..."`, with the quotes"#,
    ),
    (
        "[[servers]]\nid = \"my files\"\ncommand = \"npx\"\n",
        r#"mgp.toml:2:6: the server id "my files" has characters that are not allowed
  |
2 | id = "my files"
  |      ^^^^^^^^^^
  = help: use 1 to 64 of A-Z a-z 0-9 _ . -, starting with a letter or a digit"#,
    ),
    (
        "[[servers]]\nid = \"mgp.tools\"\ncommand = \"npx\"\n",
        r#"mgp.toml:2:6: the server id "mgp.tools" is reserved for the kernel
  |
2 | id = "mgp.tools"
  |      ^^^^^^^^^^^
  = help: choose an id other than `mgp` and `mgp.*`"#,
    ),
    (
        "[[servers]]\nid = \"a\"\ncommand = \"x\"\n\n[[servers]]\nid = \"a\"\ncommand = \"y\"\n",
        r#"mgp.toml:6:6: the server id "a" is already taken (line 1)
  |
6 | id = "a"
  |      ^^^
  = help: rename or remove one of the two"#,
    ),
    (
        "[[servers]]\nid = \"files\"\ncommand = \"x\"\n\n[[servers]]\nid = \"Files\"\ncommand = \"y\"\n",
        r#"mgp.toml:6:6: the server id "Files" looks like "files" (line 1)
  |
6 | id = "Files"
  |      ^^^^^^^
  = help: give it an id that cannot be mistaken for the other"#,
    ),
    (
        "[[servers]]\nid = \"a\\u001b[2Jb\"\ncommand = \"x\"\n",
        r#"mgp.toml:2:6: the server id "a\u{1b}[2Jb" has characters that are not allowed
  |
2 | id = "a\u001b[2Jb"
  |      ^^^^^^^^^^^^^
  = help: use 1 to 64 of A-Z a-z 0-9 _ . -, starting with a letter or a digit"#,
    ),
];

#[test]
fn a_fault_of_the_file() {
    for (text, expected) in FILE {
        let error = Config::parse(Path::new("mgp.toml"), text, &Environment::default()).unwrap_err();
        assert_eq!(error.to_string(), *expected, "\n{error}");
        assert_eq!(error.server(), None);
    }
}

#[test]
fn a_fault_of_one_server_leaves_the_others_working() {
    for (text, expected) in SERVER {
        let text = format!("{text}{GOOD}");
        let config = Config::parse(Path::new("mgp.toml"), &text, &Environment::default()).unwrap();
        let errors: Vec<String> = config.errors().map(ToString::to_string).collect();
        assert_eq!(errors, [*expected], "\n{}", errors.join("\n"));
        assert!(config.server("good").unwrap().endpoint().is_ok());
    }
}

#[test]
fn no_refusal_repeats_a_secret() {
    for (text, expected) in FILE.iter().chain(SERVER) {
        assert!(!expected.contains("hunter2"), "{text}");
    }
    assert!(FILE.iter().chain(SERVER).filter(|(text, _)| text.contains("hunter2")).count() >= 3);
}
