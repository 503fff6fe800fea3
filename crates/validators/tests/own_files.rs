//! Switchboard's own files are found in arguments in every spelling, and what is only near them is not.

use serde_json::{Value, json};
use switchboard_validators::arguments::{OwnFiles, Place};
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
    touched_by(&arguments.to_string(), false)
}

fn touched_by(arguments: &str, only_reads: bool) -> bool {
    let raw = Raw::parse(arguments.to_owned(), &Limits::default()).expect("valid JSON");
    let own = own();
    if !own.glance(&raw).concerns_own {
        return false;
    }
    let suspects = own.suspects(&raw, &["/homes/ann/project".to_owned()], only_reads);
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
fn signs_that_cannot_be_seen_hide_nothing() {
    let path = "/homes/ann/project/mgp.toml";
    let signs = ["\0", "\u{1}", "\u{7}", "\u{202e}", "\u{2066}", "\u{7f}", "%00", "%07"];
    for sign in signs {
        let all = [
            format!("{path}{sign}"),
            format!("{path}{sign}.txt"),
            format!("{sign}{path}"),
            path.replace("mgp.", &format!("mgp.{sign}")),
            path.replace("/mgp", &format!("/{sign}mgp")),
            path.replace("project", &format!("pro{sign}ject")),
            format!("mgp.toml{sign}"),
            format!("{sign}mgp.toml"),
            format!("mgp.{sign}toml"),
            format!("./mgp.toml{sign}.txt"),
            format!("/homes/ann/.local/share/switchboard{sign}/x"),
        ];
        for text in all {
            for key in ["path", "x", "file", "name"] {
                assert!(touches(&json!({key: text})), "{key} {text:?}");
            }
        }
    }
    for text in ["a\0b", "\0", "docs/x\0.toml", "one\u{7}two", "/homes/ann/project/src\0/mgp.rs"] {
        assert!(!touches(&json!({"path": text, "x": text})), "{text:?}");
    }
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
    let paths: Vec<String> = (0..2_100).map(|number| format!("/data/{number}")).collect();
    assert!(touches(&json!({ "paths": paths })));
    let few: Vec<String> = (0..100).map(|number| format!("/data/{number}")).collect();
    assert!(!touches(&json!({ "paths": few })));
}

#[test]
fn without_places_nothing_is_looked_at() {
    let raw = Raw::parse("{\"path\": \"/x\"}".to_owned(), &Limits::default()).expect("valid JSON");
    let suspects = OwnFiles::default().suspects(&raw, &[], false);
    assert!(suspects.touched.is_none() && suspects.follow.is_empty());
}

#[test]
fn a_place_that_is_made_of_several_arguments_is_found() {
    let fillers: Vec<String> = (0..40).map(|number| format!("/srv/x/{number}.txt")).collect();
    let all = [
        json!({"root": "/homes/ann", "directory": ".config/switchboard", "filename": "mgp.toml"}),
        json!({"root": "/homes", "directory": "ann", "folder": "project", "name": "mgp", "extension": ".toml"}),
        json!({"root": "/homes", "directory": "ann", "folder": "project", "name": "mgp", "extension": "toml"}),
        json!({"parts": ["/", "homes", "ann", ".config", "switchboard", "mgp.toml"]}),
        json!({"parts": ["..", ".config", "switchboard", "mgp.toml"]}),
        json!({"repo_path": "/a b/../homes/ann/project", "file": "mgp.toml"}),
        json!({"others": fillers, "workspace": "/homes/ann/project", "file": "mgp.toml"}),
        json!({"source": "/x/mgp.toml", "destination": "/homes/ann/project"}),
        json!({"source": "docs/mgp.toml", "destination": "."}),
        json!({"url": "https://example.com/mgp.toml", "directory": "/homes/ann/project"}),
        json!({"root": "/srv", "directory": "state", "name": "gate.audit-key"}),
        json!({"root": "/homes/ann/.local", "directory": "share", "name": "switchboard"}),
        json!({"command": "cp -t /homes/ann/project mgp.toml"}),
        json!({"command": "tar -C /homes/ann -cf x.tar project/mgp.toml"}),
        json!({"path": "/proc/self/cwd/x/mgp.toml"}),
        json!({"path": "/proc/1/root/homes/x"}),
        json!({"name": "mgp", "extension": ".toml"}),
        json!({"directory": "../.config", "folder": "switchboard", "file": "mgp.toml"}),
        // What a server makes of a path before it opens it.
        json!({"path": format!("/{}homes/ann/project/mgp.toml", "./".repeat(2_100))}),
        json!({"path": "/homes/ann/project/x.txt", "new_name": "mgp.toml"}),
        json!({"path": "/homes/ann/project/mgp", "format": "toml"}),
        json!({"path": "/homes/ann/project/mgp.txt", "format": "toml"}),
        json!({"path": "/homes/ann/project/mgp.toml#servers"}),
        json!({"uri": "file:///homes/ann/project/mgp.toml?x"}),
        json!({"uri": "file://LOCALHOST/homes/ann/project/mgp.toml"}),
        json!({"uri": "file://127.0.0.1/homes/ann/project/mgp.toml"}),
        json!({"root": "/homes/ann/project/home", "path": "/../mgp.toml"}),
        json!({"root": "/homes/ann", "directory": "project", "files": "a.txt,mgp.toml"}),
        json!({"root": "/homes/ann", "directory": "project", "file": "\"mgp.toml\""}),
        json!({"root": "/homes/ann", "directory": "project", "file": "@mgp.toml"}),
        json!({"root": "/homes/ann", "directory": "project", "file": "mgp.toml:3"}),
        json!({"path": "[/homes/ann/project/mgp.toml]"}),
        json!({"path": "$PWD/mgp.toml"}),
    ];
    let missed: Vec<_> = all.iter().filter(|arguments| !touches(arguments)).collect();
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn many_files_and_folders_of_a_project_are_left_alone() {
    let files: Vec<String> = (0..300).map(|number| format!("src/module{number}.rs")).collect();
    let absolute: Vec<String> = files.iter().map(|file| format!("/homes/ann/project/{file}")).collect();
    for arguments in [
        json!({"repo_path": "/homes/ann/project", "files": files}),
        json!({"paths": absolute}),
        json!({"paths": files}),
        json!({"root": "/homes/ann", "directory": "project", "filename": "main.rs"}),
        json!({"repo_path": "/homes/ann/project", "file": "Cargo.toml", "message": "Add mgp.toml"}),
        json!({"source": "/srv/state/other.db", "destination": "/homes/ann/project"}),
        json!({"path": "/homes/ann/other/mgp.toml"}),
        json!({"name": "switchboard", "directory": "/homes/ann/project"}),
        json!({"directory": "..", "file": "readme.md"}),
        json!({"path": "/proc/cpuinfo"}),
        json!({"pattern": "*.{ts,tsx}"}),
        json!({"pattern": "*"}),
        json!({"pattern": "[a-z]*.json", "path": "/srv/other/src"}),
        json!({"path": "app/[id].tsx"}),
        json!({"revision": "HEAD@{1}"}),
        json!({"ref": "stash@{0}"}),
        json!({"files": ["*"]}),
        json!({"content": "x".repeat(10_000), "path": "src/a.txt"}),
        json!({"path": "/proc/self/status"}),
        json!({"command": "cargo build --manifest-path /homes/ann/project/Cargo.toml"}),
    ] {
        assert!(!touches(&arguments), "{}", arguments.to_string().chars().take(200).collect::<String>());
    }
}

#[test]
fn what_cannot_be_seen_is_asked_about_and_patterns_for_finding_are_not() {
    assert!(touched_by(r#"{"path":"/tmp/x","path":"/homes/ann/project/mgp.toml"}"#, false));
    assert!(touched_by(r#"{"a":[{"kind":"a","kind":"b"}]}"#, true));
    let deep = format!("{}\"/x\"{}", "[".repeat(100), "]".repeat(100));
    assert!(touched_by(&format!("{{\"a\":{deep}}}"), false));
    assert!(touched_by(r#"{"pattern":"*.toml"}"#, false));
    assert!(!touched_by(r#"{"pattern":"*.toml"}"#, true));
    assert!(touched_by(r#"{"command":"cat *.toml"}"#, true));
}

/// Choices, ranges and classes are what they stand for, and code in cells of notebooks is code.
#[test]
fn what_a_pattern_or_a_cell_names_is_found() {
    let config = "/homes/ann/.config/switchboard/mgp.toml";
    let all = [
        json!({"path": "/homes/ann/project/{l..n}gp.toml"}),
        json!({"x": "/homes/ann/project/{l..n}gp.toml"}),
        json!({"path": "{l..n}gp.toml"}),
        json!({"path": "/homes/ann/project{-..0}mgp.toml"}),
        json!({"path": "/homes/ann/project/mgp{-..0}toml"}),
        json!({"path": "/homes/{a..c}nn/project/mgp.toml"}),
        json!({"path": "/homes/ann/project/{x,m}gp.{t..t}oml"}),
        json!({"path": "/homes/ann/project/@(m|x)gp.toml"}),
        json!({"path": "/homes/ann/project/docs/[.][.]/mgp.toml"}),
        json!({"path": "/homes/ann/project/docs/{..,x}/mgp.toml"}),
        json!({"path": "/homes/ann/project/docs/{.}{.}/mgp.toml"}),
        json!({"path": "docs/.[.]/mgp.toml"}),
        json!({"path": format!("/homes/ann/project/{}mgp.toml", "{a,}".repeat(9))}),
        json!({"notebook_path": "a.ipynb", "new_source": format!("open('{config}','w').write('a b')")}),
        json!({"notebook_path": "a.ipynb", "new_source": format!("x = 1\nopen('{config}', 'w').write('a b')\n")}),
        json!({"source": format!("import shutil\nshutil.copy('x', '{config}')")}),
        json!({"source": ["import os\n", format!("os.remove('{config}')\n")]}),
        json!({"cell_source": format!("!cp x {config}")}),
        json!({"cells": [{"cell_type": "code", "source": format!("%cd /tmp\n!rm {config}")}]}),
        json!({"notebook": {"cells": [{"cellSource": [format!("open('{config}', 'w')\n")]}]}}),
        json!({"cell_index": 1, "content": format!("print(1)\nopen('{config}', 'w')")}),
        json!({"notebook": "a", "text": "import os\nos.remove('/homes/ann/project/mgp.toml')"}),
        json!({"edit": format!("{{\"new_source\": \"open('{config}', 'w').write(a, b)\"}}")}),
    ];
    let missed: Vec<_> = all.iter().filter(|arguments| !touches(arguments)).collect();
    assert!(missed.is_empty(), "{missed:#?}");
    let honest = [
        json!({"path": "/homes/ann/project/{a..c}x.toml"}),
        json!({"path": "/homes/ann/project/src/[id]/page.tsx"}),
        json!({"path": "/homes/ann/project/src/{a,b}/{c,d}.ts"}),
        json!({"path": "app/@modal/(..)photo/[id]/page.tsx"}),
        json!({"notebook_path": "a.ipynb", "new_source": "import pandas as pd\ndf = pd.read_csv('data/x.csv')\ndf.head()"}),
        json!({"notebook_path": "a.ipynb", "new_source": "df = df[df['a'] > 1].groupby(['b', 'c']).agg({'d': 'sum'})"}),
        json!({"cell_source": "%matplotlib inline\nplt.plot(x, y)\nplt.savefig('out/plot.png')"}),
        json!({"source": "# Title\n\nSome *markdown* with a [link](https://example.com/a/b)."}),
        json!({"source": "The New York Times, 2024"}),
        json!({"source": "src/main.rs", "destination": "src/lib.rs"}),
        json!({"cell": "A1", "text": "Reads ~/.config/other/mgp.toml at the start"}),
        json!({"body": "Edit mgp.toml by hand, see the docs", "title": "x"}),
    ];
    let found: Vec<_> = honest.iter().filter(|arguments| touches(arguments)).collect();
    assert!(found.is_empty(), "{found:#?}");
}

/// A place is one by any name that leads there, also inside of a query, a patch or a document.
#[test]
fn links_inside_of_texts_are_followed() {
    for arguments in [
        json!({"query": "attach '/tmp/innocent/switchboard.db' as x; update x.tokens set principal = 'local'"}),
        json!({"patch": "--- /tmp/innocent/switchboard.db\n+++ /tmp/innocent/switchboard.db\n@@ -1 +1 @@\n-a\n+b\n"}),
        json!({"patch": "--- link.toml\n+++ ./link.toml\n@@ -1 +1 @@\n-a\n+b\n"}),
        json!({"config": "kind: File\npath: /tmp/innocent/switchboard.db\n"}),
        json!({"content": "--- a/../../../tmp/innocent/x\n+++ b/../../../tmp/innocent/x\n@@ -1 +1 @@\n-a\n+b\n"}),
    ] {
        assert!(touches(&arguments), "{arguments}");
    }
    for arguments in [
        json!({"query": "select * from switchboard.db where path = '/tmp/other/x'"}),
        json!({"text": "The store is /tmp/innocent/switchboard.db, as said."}),
        json!({"patch": "--- a/src/main.rs\n+++ b/src/main.rs\n@@ -1 +1 @@\n-a\n+b\n"}),
    ] {
        assert!(!touches(&arguments), "{arguments}");
    }
}
