//! What stands around a command: its variables, its folder, what it is sent.

use serde_json::{Value, json};
use switchboard_policy::Finding;
use switchboard_protocol::mgp::ValidatorName::Sandbox;
use switchboard_validators::shell::{Around, Understood, check_around};

use crate::common::{assert_hostile, checks};

/// Refused whatever anybody answers.
#[test]
fn what_stands_around_a_command_can_be_hostile() {
    let hostile = [
        json!({"command": "ls", "env": {"LD_PRELOAD": "/tmp/x.so"}}),
        json!({"command": "git log", "environment": ["GIT_SSH_COMMAND=curl example.com"]}),
        json!({"command": "git log", "env": [{"name": "GIT_EXTERNAL_DIFF", "value": "id"}]}),
        json!({"command": "npm test", "env": "NODE_OPTIONS=--require=/tmp/x.js\nCI=1"}),
        json!({"command": "ls", "envVars": {"BASH_ENV": "/tmp/x"}}),
        json!({"command": "cat shadow", "cwd": "/etc"}),
        json!({"command": "cat", "args": ["shadow"], "working_directory": "/etc/"}),
        json!({"command": "cat ./id_rsa", "cwd": "~/.ssh"}),
        json!({"command": "rm passwd", "workdir": "/etc"}),
        json!({"command": "xargs cat", "stdin": "/etc/shadow"}),
        json!({"command": "xargs rm", "stdin": "-rf /"}),
        json!({"command": "python -", "stdin": "import os; os.system('id')"}),
    ];
    assert_hostile(&checks(&[Sandbox], &json!({}), &[]), &hostile);
    // Whichever of several a server takes, wherever they stand, and however many there are.
    let many: Vec<String> = (0..300).map(|_| "CI=1".to_owned()).chain(["LD_PRELOAD=/tmp/x.so".to_owned()]).collect();
    let hidden = [
        json!({"command": "cat shadow", "cwd": "/etc", "path": "."}),
        json!({"command": "cat shadow", "path": ".", "cwd": "/etc"}),
        json!({"command": "ls", "env": many}),
        json!({"command": "cat shadow", "options": {"cwd": "/etc"}}),
        json!({"command": "ls", "options": {"env": {"LD_PRELOAD": "/tmp/x.so"}}}),
        json!({"env": {"LD_PRELOAD": "/tmp/x.so"}, "run": {"command": "ls", "cwd": "."}}),
        json!({"command": "x", "argv": ["cat", "shadow"], "cwd": "/etc"}),
        json!({"command": "xargs cat", "stdin": "a.txt", "input": "/etc/shadow"}),
        // Servers that expect an object read one that stands in a string.
        json!({"command": "ls", "env": "{\"LD_PRELOAD\": \"/tmp/x.so\"}"}),
        json!({"command": "ls", "options": "{\"env\": {\"LD_PRELOAD\": \"/tmp/x.so\"}}"}),
        json!({"command": "cat shadow", "options": "{\"cwd\": \"/etc\"}"}),
        // By other names.
        json!({"command": "ls", "env_overrides": {"LD_PRELOAD": "/tmp/x.so"}}),
        json!({"command": "ls", "variables": [["LD_PRELOAD", "/tmp/x.so"]]}),
        json!({"command": "cat shadow", "workspace": "/etc"}),
        json!({"command": "cat shadow", "repo_path": "/etc"}),
        json!({"command": "cat shadow", "workingFolder": "/etc"}),
        json!({"command": "cat shadow", "currentDirectory": "/etc"}),
        // In lists and objects, and with blanks.
        json!({"command": "cat shadow", "cwd": ["/etc"]}),
        json!({"command": "cat shadow", "cwd": {"path": "/etc"}}),
        json!({"command": "cat shadow", "cwd": " /etc"}),
        json!({"command": "cat shadow", "options": [{"cwd": "/etc"}]}),
        json!({"command": "cat {shadow,x}", "cwd": "/etc"}),
        json!({"command": "ls", "options": [{"env": {"LD_PRELOAD": "/tmp/x.so"}}]}),
        json!({"command": "ls", "options": {"variables": {"LD_PRELOAD": "/tmp/x.so"}}}),
    ];
    assert_hostile(&checks(&[Sandbox], &json!({}), &[]), &hidden);
}

/// The answer for a command with its surroundings: `allow`, `ask` or `block`.
fn answer(command: &str, around: &Value) -> &'static str {
    let text = |key: &str| around[key].as_str().map(str::to_owned);
    let variables = around["env"].as_object().into_iter().flatten();
    let variables = variables.map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned()));
    let (folders, inputs) = (text("cwd").into_iter().collect(), text("stdin").into_iter().collect());
    let around = Around { variables: variables.collect(), folders, inputs };
    match check_around(command, &around, &Understood::default()) {
        Ok(()) => "allow",
        Err(finding) if Finding::asks(&finding) => "ask",
        Err(_) => "block",
    }
}

#[test]
fn what_stands_around_a_command_is_understood_or_asked_about() {
    for (command, around, wanted) in [
        ("npm test", json!({"env": {"CI": "1", "NODE_ENV": "test"}}), "allow"),
        ("npm test", json!({"env": {"SOMETHING": "1"}}), "ask"),
        ("npm test", json!({"cwd": "/srv/project"}), "allow"),
        ("npm test", json!({"cwd": "packages/web"}), "allow"),
        ("npm test", json!({"cwd": "/tmp/elsewhere"}), "ask"),
        ("npm test", json!({"cwd": "../elsewhere"}), "ask"),
        ("ls -la", json!({"cwd": "/tmp"}), "allow"),
        ("git log --oneline", json!({"cwd": "/srv/project"}), "allow"),
        ("cat hosts", json!({"cwd": "/etc"}), "allow"),
        ("cp a b", json!({"cwd": "/etc/cron.d"}), "block"),
        ("touch a", json!({"cwd": "/opt/app"}), "ask"),
        ("jq .name", json!({"stdin": "{\"name\": 1}"}), "allow"),
        ("sort", json!({"stdin": "b\na"}), "allow"),
        ("psql app", json!({"stdin": "select 1"}), "ask"),
        ("python -", json!({"stdin": "print(1)"}), "ask"),
        ("python app.py", json!({"stdin": "1"}), "ask"),
        ("wc -l", json!({"stdin": ""}), "allow"),
        // What a program takes where it names nothing.
        ("grep -r todo", json!({"cwd": "~/.ssh"}), "ask"),
        ("rg token", json!({"cwd": "~/.config/gh"}), "ask"),
        ("grep -r todo", json!({"cwd": "~/app"}), "allow"),
    ] {
        assert_eq!(answer(command, &around), wanted, "{command} in {around}");
    }
}
