//! Patterns under a limit that denies: what they may find counts, with a slash in them or without.

use serde_json::{Value, json};
use switchboard_validators::arguments::Checks;

use crate::common::{assert_honest, assert_hostile, checks_from};

fn limited() -> Checks {
    let scope =
        json!({"paths": ["/srv/ok/**", "/srv/ok"], "deny_paths": ["**/.env", "**/secret*", "/srv/ok/private/**"]});
    checks_from("/srv/ok", &[], &json!({}), &[scope])
}

const FINDING: [&str; 18] = [
    ".e*",
    ".[e]nv",
    ".[!a]nv",
    ".[a-f]nv",
    ".en?",
    ".{e,x}nv",
    ".{a..z}nv",
    "./.e*",
    "sub/.e*",
    "**/.e*",
    "secret*",
    "sec*",
    "s*",
    "p*",
    "p*/x",
    "@(.env|x)",
    ".@(env|x)",
    "{x,y,.e*}",
];

#[test]
fn a_pattern_that_may_find_what_is_denied_is_refused() {
    let hostile: Vec<Value> = FINDING
        .iter()
        .flat_map(|pattern| {
            [
                json!({"command": ["cat", pattern]}),
                json!({"command": "cat", "args": [pattern]}),
                json!({"command": "head", "args": ["-n", "1", pattern]}),
                json!({"glob": pattern}),
                json!({"pattern": pattern}),
                json!({"x": pattern}),
                json!({"path": pattern}),
                json!({"files": ["a.txt", pattern]}),
                json!({"deep": [{"x": pattern}]}),
            ]
        })
        .collect();
    assert_hostile(&limited(), &hostile);
    assert_hostile(
        &limited(),
        &[
            json!({"command": "cat .e*"}),
            json!({"command": "cat .[e]nv"}),
            json!({"command": "cat .en?"}),
            json!({"command": "cat .{e,x}nv"}),
            json!({"command": "grep -r x --include=.e*"}),
            json!({"command": "cat a.txt,.e*"}),
            json!({"command": "cat *"}),
            json!({"glob": "*"}),
            json!({"glob": "**/*"}),
            json!({"x": "*env"}),
            json!({"include": ["*.rs", ".e*"]}),
        ],
    );
}

#[test]
fn a_pattern_that_finds_nothing_denied_passes() {
    let scope = json!({"paths": ["/srv/ok/**", "/srv/ok"], "deny_paths": ["**/.env", "/srv/ok/private/**"]});
    let limited = checks_from("/srv/ok", &[], &json!({}), &[scope]);
    let patterns = ["*.rs", "*.{rs,toml}", "src*", "a?.txt", "[a-c]*", "Makefile*"];
    let honest: Vec<Value> = patterns
        .iter()
        .flat_map(|pattern| {
            [
                json!({"command": ["cat", pattern]}),
                json!({"command": format!("ls -la {pattern}")}),
                json!({"glob": pattern}),
                json!({"pattern": pattern}),
            ]
        })
        .collect();
    assert_honest(&limited, &honest);
    assert_honest(
        &limited,
        &[
            json!({"command": "cat src/*.rs"}),
            json!({"command": "ls src/*"}),
            json!({"x": "*"}),
            json!({"columns": ["*"]}),
            json!({"text": "what is .e*?"}),
            json!({"query": "which one?"}),
            json!({"title": "secret?"}),
            json!({"version": "^1.*"}),
            json!({"regex": "foo.*bar"}),
            json!({"regex": "^[a-z]+$"}),
            json!({"url": "https://a.example/?q=*"}),
            json!({"x": "env?"}),
            json!({"x": "[id]"}),
        ],
    );
}
