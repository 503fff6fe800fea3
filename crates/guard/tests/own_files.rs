//! Switchboard's own files are found in arguments in every spelling, and what is only near them is not.

use serde_json::{Value, json};
use switchboard_guard::arguments::{OwnFiles, Place};
use switchboard_wire::{Limits, Raw};

fn own() -> OwnFiles {
    let places = [
        ("/homes/ann/.local/share/switchboard", Place::Folder),
        ("/srv/state/gate.db", Place::Family),
        ("/homes/ann/.config/switchboard/mgp.toml", Place::File),
        ("/homes/ann/project/mgp.toml", Place::File),
    ];
    let places: Vec<_> = places.iter().map(|(path, place)| ((*path).to_owned(), *place)).collect();
    OwnFiles::new(&places, Some("/homes/ann"))
}

fn links(path: &str) -> Option<String> {
    match path {
        "/tmp/innocent" => Some("/homes/ann/.local/share/switchboard".to_owned()),
        "/homes/ann/project/link.toml" => Some("../.config/switchboard/mgp.toml".to_owned()),
        "/tmp/loop" => Some("/tmp/loop".to_owned()),
        _ => None,
    }
}

fn touches(arguments: &Value) -> bool {
    let raw = Raw::parse(arguments.to_string(), &Limits::default()).expect("valid JSON");
    let own = own();
    let suspects = own.suspects(&raw, &["/homes/ann/project".to_owned()]);
    suspects.touched.is_some() || suspects.too_many || own.leading_inside(&suspects.follow, &links).is_some()
}

#[test]
fn every_spelling_is_found() {
    let data = "/homes/ann/.local/share/switchboard";
    let all = [
        json!({"path": data}),
        json!({"path": format!("{data}/")}),
        json!({"path": format!("{data}/switchboard.db")}),
        json!({"path": format!("{data}/switchboard.audit-key")}),
        json!({"anything": format!("{data}/trust.json")}),
        json!({"deep": [{"er": [format!("{data}/x")]}]}),
        json!({format!("{data}/x"): 1}),
        json!({"path": "~/.local/share/switchboard/switchboard.db"}),
        json!({"path": "~ann/.local/share/switchboard/switchboard.db"}),
        json!({"path": "$HOME/.local/share/switchboard/x"}),
        json!({"path": "${HOME}/.local/share/switchboard/x"}),
        json!({"path": "$XDG_DATA_HOME/switchboard/x"}),
        json!({"path": "/homes/ann/.local/share/../share/./switchboard//x"}),
        json!({"path": "/homes/ann/project/../.local/share/switchboard/x"}),
        json!({"path": "../.local/share/switchboard/x"}),
        json!({"path": "/homes/ann/%2elocal/share/switchboard/x"}),
        json!({"path": "%2Fhomes%2Fann%2F.local%2Fshare%2Fswitchboard%2Fx"}),
        json!({"path": "/homes/ann/.local/share/switch\\board/x"}),
        json!({"path": "\\homes\\ann\\.local\\share\\switchboard\\x"}),
        json!({"path": "/homes/ann/.local/share/SWITCHBOARD/x"}),
        json!({"path": "/homes/ann/.local/share/\u{ff53}witchboard/x"}),
        json!({"uri": "file:///homes/ann/.local/share/switchboard/x"}),
        json!({"uri": "file://localhost/homes/ann/.local/share/switchboard/x"}),
        json!({"uri": "FILE:/homes/ann/.local/share/switchboard/x"}),
        json!({"path": "/homes/ann/.local/share/switch*/x"}),
        json!({"path": "/homes/*/.local/share/switchboard/x"}),
        json!({"path": "/homes/ann/.local/share/switchboar?/x"}),
        json!({"path": "/homes/ann/.local/share/switchboar[d]/x"}),
        json!({"path": "/tmp/innocent/switchboard.db"}),
        json!({"path": "link.toml"}),
        json!({"path": "/tmp/loop/x"}),
        json!({"path": "mgp.toml"}),
        json!({"path": "./mgp.toml"}),
        json!({"path": "~/.config/switchboard/mgp.toml"}),
        json!({"path": "/srv/state/gate.db"}),
        json!({"path": "/srv/state/gate.db-wal"}),
        json!({"path": "/srv/state/gate.audit-key"}),
        json!({"content": format!("{data}/x")}),
        json!({"command": format!("cat {data}/switchboard.db")}),
        json!({"command": "cat ~/.local/share/switchboard/switchboard.db"}),
        json!({"command": "cat ~/.local/sh\"\"are/switchboard/x"}),
        json!({"command": "cat ~/.local/share/'switchboard'/x"}),
        json!({"command": "tar -C/homes/ann/.local/share/switchboard -cf x ."}),
        json!({"command": "cp --target-directory=/homes/ann/.local/share/switchboard x"}),
        json!({"command": "sqlite3 /tmp/innocent/switchboard.db"}),
        json!({"command": "cat", "args": ["/homes/ann/.local/share/switchboard/x"]}),
        json!({"command": "cat switchboard/x", "cwd": "/homes/ann/.local/share"}),
        json!({"command": "ls", "cwd": "~/.local/share/switchboard"}),
        json!({"code": "open('/homes/ann/.local/share/switchboard/trust.json', 'w')"}),
        json!({"code": "import os\nos.remove(os.path.expanduser('~/.local/share/switchboard/x'))"}),
        json!({"sql": "attach '/homes/ann/.local/share/switchboard/switchboard.db' as s"}),
        json!({"url": "sqlite:////homes/ann/.local/share/switchboard/switchboard.db"}),
        json!({"options": "{\"path\": \"/homes/ann/.local/share/switchboard/x\"}"}),
    ];
    let missed: Vec<_> = all.iter().filter(|arguments| !touches(arguments)).collect();
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn what_is_only_near_or_spoken_of_is_left_alone() {
    for arguments in [
        json!({}),
        json!({"path": "/homes/ann/.local/share"}),
        json!({"path": "/homes/ann"}),
        json!({"path": "~"}),
        json!({"path": "/homes/ann/.local/share/switchboard2/x"}),
        json!({"path": "/homes/ann/.local/share/other/mgp.toml"}),
        json!({"path": "/homes/bob/.local/share/switchboard/x"}),
        json!({"path": "src/main.rs"}),
        json!({"path": "docs/mgp.toml"}),
        json!({"path": "/srv/state/other.db"}),
        json!({"pattern": "**/*.rs"}),
        json!({"query": "what is switchboard"}),
        json!({"name": "switchboard"}),
        json!({"url": "https://example.com/homes/ann/switchboard"}),
        json!({"text": "The store lies in /homes/ann/.local/share/switchboard and is yours."}),
        json!({"path": "README.md", "content": "Edit `mgp.toml`, see ~/.config/switchboard/mgp.toml."}),
        json!({"command": "ls -la src"}),
        json!({"command": "git log --oneline -5"}),
        json!({"command": "cargo test -p switchboard-kernel"}),
        json!({"code": "print('switchboard')"}),
        json!({"data": "aGVsbG8/d29ybGQ/".repeat(500)}),
        json!({"n": 5, "b": true, "z": null}),
    ] {
        assert!(!touches(&arguments), "{arguments}");
    }
}

#[test]
fn more_paths_than_are_followed_are_asked_about() {
    let paths: Vec<String> = (0..600).map(|number| format!("/data/{number}")).collect();
    assert!(touches(&json!({ "paths": paths })));
    let few: Vec<String> = (0..100).map(|number| format!("/data/{number}")).collect();
    assert!(!touches(&json!({ "paths": few })));
}

#[test]
fn without_places_nothing_is_looked_at() {
    let raw = Raw::parse("{\"path\": \"/x\"}".to_owned(), &Limits::default()).expect("valid JSON");
    let suspects = OwnFiles::default().suspects(&raw, &[]);
    assert!(suspects.touched.is_none() && suspects.follow.is_empty());
}
