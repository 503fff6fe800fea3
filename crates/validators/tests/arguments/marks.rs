//! Paths, hosts and commands behind marks, in other encodings, and in shapes that only some servers read.

use serde_json::json;
use switchboard_protocol::mgp::ValidatorName;
use switchboard_validators::arguments::Checks;

use crate::common::{assert_honest, assert_hostile, check, checks_from};

fn limited() -> Checks {
    let scope = json!({"paths": ["/srv/ok/**", "/srv/ok"], "deny_paths": ["**/.env"]});
    checks_from("/srv/ok", &[], &json!({}), &[scope])
}

fn hosts() -> Checks {
    checks_from("/srv/ok", &[], &json!({}), &[json!({"hosts": ["api.example.com"]})])
}

#[test]
fn marks_in_front_of_a_path_do_not_hide_it() {
    for mark in ["+", "#", "--", "-", "=", "@", "!", ":", "%", "^", "[", "{"] {
        let word = format!("{mark}/etc/x");
        assert_hostile(
            &limited(),
            &[
                json!({"args": [word]}),
                json!({"argv": ["cat", word]}),
                json!({"command": "cat", "args": [word]}),
                json!({"command": "cat", "args": ["a.txt", word]}),
                json!({"options": [word]}),
            ],
        );
    }
    assert_hostile(
        &limited(),
        &[
            json!({"args": ["-f\\etc\\x"]}),
            json!({"command": "cat", "args": ["-f\\etc\\x"]}),
            json!({"argv": ["cat", "-f\\etc\\x"]}),
            json!({"argv": ["cat", "+~/x"]}),
            json!({"uri": "docs:x%3D/etc/passwd"}),
            json!({"path": "docs:x%3D/etc/passwd"}),
            json!({"uri": "docs:'.env'"}),
            json!({"uri": "docs:\".env\""}),
            json!({"uri": "docs:~/x"}),
            json!({"uri": "docs://~/x"}),
            json!({"name": "~"}),
            json!({"cwd": "file://localhost/etc", "command": "ls"}),
        ],
    );
    assert_honest(
        &limited(),
        &[
            json!({"args": ["a:b.txt"]}),
            json!({"command": "cat", "args": ["a:b.txt"]}),
            json!({"name": "a:b.txt"}),
            json!({"command": "awk", "args": ["NR>1 {print $2; n++}", "x.csv"]}),
            json!({"argv": ["awk", "NR>1 {print $2; n++}", "x.csv"]}),
            json!({"command": "cut", "args": ["-d\\t", "-f2", "x.tsv"]}),
            json!({"args": ["#channel", "+1", "--verbose", "-v"]}),
            json!({"command": "grep", "args": ["-n", "a/b", "x.txt"]}),
            json!({"text": "see #/components/x of the schema"}),
        ],
    );
}

#[test]
fn words_of_a_script_are_no_command_of_their_own() {
    let sandbox = checks_from("/srv/ok", &[ValidatorName::Sandbox], &json!({}), &[]);
    assert_honest(
        &sandbox,
        &[
            json!({"command": "awk", "args": ["NR>1 {print $2; n++}", "x.csv"]}),
            json!({"command": "awk", "args": ["$3 > 10 {print $1}", "x.csv"]}),
        ],
    );
    assert_hostile(
        &sandbox,
        &[json!({"command": "echo", "args": ["a; rm -rf / $2"]}), json!({"args": ["a; rm -rf / $2"]})],
    );
}

#[test]
fn what_is_json_twice_is_read_twice() {
    let twice = |value: serde_json::Value| json!(json!(value.to_string()).to_string());
    assert_hostile(
        &limited(),
        &[
            json!({"x": twice(json!({"path": "/etc/x"}))}),
            json!({"x": twice(json!(["/etc/x"]))}),
            json!({"x": json!(twice(json!({"path": "/etc/x"})).to_string())}),
            json!({"x": "\"\\u002fetc\\u002fpasswd\""}),
        ],
    );
    let sandbox = checks_from("/srv/ok", &[ValidatorName::Sandbox], &json!({}), &[]);
    assert_hostile(&sandbox, &[json!({"x": twice(json!({"command": "rm -rf /"}))})]);
    assert_honest(&limited(), &[json!({"text": "\"quoted\""}), json!({"title": "\"a\" and \"b\""})]);
}

#[test]
fn hosts_stand_behind_one_slash_and_behind_the_sign_of_a_server() {
    assert_hostile(
        &hosts(),
        &[
            json!({"url": "/evil.zip"}),
            json!({"url": "/evil.zip/x"}),
            json!({"query": "@evil.example.net"}),
            json!({"text": "@evil.com"}),
            json!({"query": "dig @203.0.113.9 example.com"}),
            json!({"base_url": "https://api.example.com", "prefix": "@evil", "path": ".com/x"}),
        ],
    );
    assert_honest(
        &hosts(),
        &[
            json!({"text": "thanks @ann and @john.doe"}),
            json!({"query": "@types/node"}),
            json!({"text": "write to me@example.org"}),
            json!({"url": "https://api.example.com/a.zip"}),
            json!({"url": "/v1/report.zip"}),
        ],
    );
}

#[test]
fn a_list_of_words_without_a_command_begins_with_its_program() {
    let git = checks_from("/srv/ok", &[], &json!({}), &[json!({"commands": ["git"]})]);
    assert_hostile(
        &git,
        &[
            json!({"args": ["rm", "x"]}),
            json!({"arguments": ["curl", "https://example.com"]}),
            json!({"args": ["/bin/rm", "x"]}),
            json!({"args": ["sudo", "reboot"]}),
        ],
    );
    assert_honest(&git, &[json!({"args": ["git", "status"]}), json!({"args": ["--oneline", "-5"]})]);
}

#[test]
fn folders_have_many_shapes() {
    let sandbox = checks_from("/srv/ok", &[ValidatorName::Sandbox], &json!({}), &[]);
    assert_hostile(
        &sandbox,
        &[
            json!({"command": "cat shadow", "cwd": {"path": "/etc"}}),
            json!({"command": "cat shadow", "cwd": ["/etc"]}),
            json!({"command": "cat shadow", "cwd": ["/", "etc"]}),
            json!({"command": "cat shadow", "cwd": ["", "etc"]}),
            json!({"command": "cat shadow", "cwd": {"root": "/", "sub": "etc"}}),
            json!({"command": "cat shadow", "options": [{"cwd": "/etc"}]}),
            json!({"command": "cat shadow", "options": "[{\"cwd\": \"/etc\"}]"}),
            json!({"command": "cat shadow", "cwd": "file:///etc"}),
            json!({"command": "cat shadow", "cwd": "file://localhost/etc"}),
            json!({"command": "cat shadow", "cwd": "/etc/"}),
            json!({"command": "cat shadow", "cwd": "/srv/../etc"}),
            json!({"command": "cat {shadow,x}", "cwd": "/etc"}),
            json!({"command": "cat", "args": ["{shadow,x}"], "cwd": "/etc", "shell": true}),
        ],
    );
    assert_honest(&sandbox, &[json!({"command": "cat README.md", "cwd": ["/srv", "ok"]})]);
}

#[test]
fn a_refusal_repeats_no_megabyte() {
    let long = "x".repeat(1 << 20);
    let sandbox = checks_from("/srv/ok", &[ValidatorName::Sandbox], &json!({}), &[]);
    let mut key = serde_json::Map::new();
    key.insert(format!("{long}/../../etc"), json!("a; rm -rf /"));
    for (checks, arguments) in [
        (&limited(), json!({"path": format!("/etc/{long}")})),
        (&limited(), json!({"x": format!("/etc/{long}")})),
        (&hosts(), json!({"url": format!("https://{long}.example/x")})),
        (&sandbox, json!({"command": format!("rm -rf /{long}")})),
        (&sandbox, json!({"command": long})),
        (&sandbox, serde_json::Value::Object(key)),
    ] {
        let refused = check(checks, &arguments).expect_err("it is refused");
        let said = refused.finding.message.len() + refused.pointer.len();
        assert!(said < 4_096, "{said} bytes");
    }
}

#[test]
fn words_of_a_tool_of_its_own_are_no_command() {
    let sandbox = checks_from("/srv/ok", &[ValidatorName::Sandbox], &json!({}), &[]);
    for honest in [
        json!({"argv": ["-vf", "scale=1280:-2", "-crf", "23"]}),
        json!({"flags": ["-o", "wide"]}),
        json!({"command": "wc -w", "stdin": "rm -rf is two words and an option"}),
        json!({"command": "go", "args": ["vet", "./..."], "env": {"GOFLAGS": ""}}),
    ] {
        assert!(check(&sandbox, &honest).is_ok(), "{honest}: {:?}", check(&sandbox, &honest));
    }
    assert_hostile(
        &sandbox,
        &[
            json!({"command": "bash", "stdin": "rm -rf /"}),
            json!({"command": "go", "args": ["vet", "./..."], "env": {"GOFLAGS": "-toolexec=/x"}}),
        ],
    );
}
