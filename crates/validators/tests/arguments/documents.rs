//! Documents in a text under a key that nothing is known of, zero bytes, and what only looks like a path.

use serde_json::{Value, json};
use switchboard_validators::arguments::Checks;

use crate::common::{BASE, assert_honest, assert_hostile, checks_from};

fn limited(base: &str, scope: &Value) -> Checks {
    checks_from(base, &[], &json!({}), std::slice::from_ref(scope))
}

fn paths() -> Value {
    json!({"paths": ["/srv/ok/**"]})
}

#[test]
fn values_of_documents_are_held_to_the_limits() {
    for base in [BASE, "/srv/ok"] {
        assert_hostile(
            &limited(base, &paths()),
            &[
                json!({"x": "a: 1\nfile: /etc/shadow\n"}),
                json!({"x": "- /etc/shadow\n- /etc/passwd"}),
                json!({"x": "[main]\nfile = \"/etc/shadow\""}),
                json!({"x": "{path: /etc/shadow}"}),
                json!({"x": "<file>/etc/shadow</file>"}),
                json!({"x": "<a path=\"/etc/shadow\"/>"}),
                json!({"x": "<?xml version='1.0'?>\n<r><f>&#47;etc/shadow</f></r>"}),
                json!({"x": "<!DOCTYPE r [<!ENTITY e SYSTEM \"file:///etc/shadow\">]><r>&e;</r>"}),
                json!({"x": "a\u{0}/etc/shadow"}),
                json!({"x": "/srv/ok/a\u{0}/etc/shadow"}),
                json!({"x": "a: 1\ncommand: cat /etc/shadow"}),
            ],
        );
    }
    assert_hostile(
        &limited(BASE, &json!({"hosts": ["ok.example"]})),
        &[
            json!({"x": "a: 1\nserver: db1"}),
            json!({"x": "<s host='db1'/>"}),
            json!({"x": "a: 1\nhost: evil.example\nport: 22"}),
            json!({"x": "ok.example\u{0}evil.example"}),
        ],
    );
    assert_hostile(
        &limited(BASE, &json!({"commands": ["ls"]})),
        &[
            json!({"x": "command: rm -rf /tmp/x"}),
            json!({"x": "steps:\n  - run: rm -rf /tmp/x\n"}),
            json!({"x": "run:\n  - rm -rf /tmp/x\n"}),
            json!({"x": "<exec command=\"rm -rf /\"/>"}),
            json!({"x": "<command>rm -rf /</command>"}),
            json!({"command": "ls -l\u{0}rm -rf /"}),
        ],
    );
}

#[test]
fn what_only_looks_like_a_path_passes() {
    for base in [BASE, "/srv/ok"] {
        let checks = limited(base, &paths());
        assert_honest(
            &checks,
            &[
                json!({"image": "ghcr.io/org/x:1"}),
                json!({"image": "docker.io/library/nginx:latest"}),
                json!({"image": format!("localhost:5000/a/b@sha256:{}", "0123456789abcdef".repeat(4))}),
                json!({"xpath": "//div/a"}),
                json!({"xpath": "//div[@class='x']/a/text()"}),
                json!({"selector": "//button[1]"}),
                json!({"xpath": "/html/body/div"}),
                json!({"x": "~5 minutes"}),
                json!({"estimate": "~10s"}),
                json!({"x": "name: Ann\ncity: Berlin"}),
                json!({"x": "<a href=\"/about\">About</a>"}),
                json!({"x": "Dear all,\nthe meeting is at 5: see you"}),
            ],
        );
        assert_hostile(
            &checks,
            &[
                json!({"image": "/etc/shadow"}),
                json!({"image": "a/../../etc/shadow"}),
                json!({"image": "ghcr.io/../../etc/x:1"}),
                json!({"xpath": "/etc/shadow"}),
                json!({"xpath": "//etc/shadow"}),
                json!({"selector": "../x"}),
                json!({"x": "~5/x"}),
                json!({"x": "~root"}),
            ],
        );
    }
    assert_honest(
        &limited(BASE, &json!({"commands": ["ls"]})),
        &[json!({"x": "note: remove it"}), json!({"x": "name: Ann\ncity: Berlin"}), json!({"x": "<b>bold</b>"})],
    );
    assert_honest(
        &limited(BASE, &json!({"hosts": ["ok.example"]})),
        &[json!({"x": "name: Ann\ncity: Berlin"}), json!({"x": "note: see the docs"}), json!({"x": "<b>bold</b>"})],
    );
}

/// A mark in front does not make a word of `argv` another file.
#[test]
fn single_words_of_argv_hide_no_path() {
    for base in [BASE, "/srv/ok"] {
        let words = ["+/etc/x", "#/etc/x", "--/etc/x", "@/etc/x"];
        let lists = words.iter().chain(&["-f\\etc\\x"]).map(|word| json!({"argv": [word]}));
        // In a line, a shell takes the marks away that stand before letters.
        let cases: Vec<Value> = lists.chain(words.iter().map(|word| json!({"argv": word}))).collect();
        assert_hostile(&limited(base, &paths()), &cases);
    }
}
