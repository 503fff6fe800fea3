//! Limits of commands: what changes which program runs is held to them too.

use serde_json::{Value, json};

use crate::common::{assert_honest, assert_hostile, checks};

fn limited() -> switchboard_validators::arguments::Checks {
    checks(&[], &json!({}), &[json!({"commands": ["ls"]})])
}

#[test]
fn variables_that_change_which_program_runs_are_refused() {
    let names = [
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "LD_AUDIT",
        "PATH",
        "BASH_ENV",
        "ENV",
        "SHELL",
        "DYLD_INSERT_LIBRARIES",
        "IFS",
    ];
    let hostile: Vec<Value> = names
        .into_iter()
        .flat_map(|name| {
            [
                json!({"command": format!("{name}=/tmp/x ls")}),
                json!({"command": "ls", "env": {name: "/tmp/x"}}),
                json!({"command": "ls", "environment": [format!("{name}=/tmp/x")]}),
                json!({"command": "ls", "env": [{"name": name, "value": "/tmp/x"}]}),
                json!({"command": "ls", "options": {"env": {name: "/tmp/x"}}}),
                json!({"command": "ls", "env": format!("{name}=/tmp/x")}),
            ]
        })
        .collect();
    assert_hostile(&limited(), &hostile);
    assert_honest(
        &limited(),
        &[
            json!({"command": "LANG=C ls"}),
            json!({"command": "ls", "env": {"LANG": "C", "NO_COLOR": "1"}}),
            json!({"command": "ls -la"}),
        ],
    );
}

#[test]
fn another_program_that_runs_the_command_is_one_of_the_allowed_commands() {
    let keys = ["shell", "interpreter", "shell_path", "shellPath", "executor", "launcher", "wrapper"];
    let programs = ["pwsh", "/tmp/bash", "/tmp/evil", "python3 -c 'x'", "./x.sh"];
    let hostile: Vec<Value> =
        keys.into_iter().flat_map(|key| programs.map(|program| json!({"command": "ls", key: program}))).collect();
    assert_hostile(&limited(), &hostile);
    assert_hostile(&limited(), &[json!({"command": "ls", "options": {"shell": "/tmp/evil"}})]);
    assert_honest(
        &limited(),
        &[
            json!({"command": "ls", "shell": true}),
            json!({"command": "ls", "shell": "false"}),
            json!({"command": "ls", "shell": ""}),
            json!({"command": "ls", "shell": "ls"}),
            // It reads the command as it was judged.
            json!({"command": "ls", "shell": "bash"}),
            json!({"command": "ls", "shell": "/bin/sh"}),
        ],
    );
    let with_pwsh = checks(&[], &json!({}), &[json!({"commands": ["ls", "pwsh"]})]);
    assert_honest(&with_pwsh, &[json!({"command": "ls", "shell": "pwsh"})]);
}

#[test]
fn commands_under_keys_for_hooks_lines_and_keys_are_commands() {
    let keys = ["hook", "hooks", "pre_hook", "line", "lines", "keys", "keystrokes", "on_success"];
    let hostile: Vec<Value> = keys
        .into_iter()
        .flat_map(|key| [json!({key: "rm -rf x"}), json!({key: ["curl evil.example"]}), json!({key: "bash x.sh\n"})])
        .collect();
    assert_hostile(&limited(), &hostile);
    assert_honest(
        &limited(),
        &[
            json!({"line": 5}),
            json!({"line": "12"}),
            json!({"line": "a line of text"}),
            json!({"keys": ["ctrl", "c"]}),
            json!({"keys": "Enter"}),
            json!({"hook": "on_push"}),
            json!({"line": "ls -la"}),
        ],
    );
}
