//! Limits of grants: what leads out of the allowed paths and hosts, in which spelling and under which key ever; and what
//! honest calls hold.

use serde_json::{Value, json};
use switchboard_protocol::mgp::ValidatorName;
use switchboard_validators::arguments::{self, Checks, NoWorld};
use switchboard_wire::{Limits, Raw};

use crate::common::{assert_cases, assert_honest, assert_hostile, check, checks_from, raw};

fn checks(scopes: &[Value]) -> Checks {
    checks_from(crate::common::BASE, &[], &json!({}), scopes)
}

/// A server opens what it likes of its arguments: a path outside is found under every key and in every spelling.
#[test]
fn no_key_and_no_spelling_leads_out_of_the_paths() {
    let checks = checks(&[json!({"paths": ["/srv/ok/**"]})]);
    for key in [
        "path", "source", "src", "from", "content", "note", "title", "subject", "message", "text", "body", "x", "name",
        "query", "url", "uri", "host", "pattern", "branch", "code", "sql", "input", "data", "template", "id",
    ] {
        for text in [
            "/etc/shadow",
            " /etc/shadow",
            "\u{feff}/etc/shadow",
            "'/etc/shadow'",
            "/etc/shadow\n",
            "\n/etc/shadow",
            "/etc/shadow\0.txt",
            "file:///etc/shadow",
            " file:///etc/shadow",
            "FILE:/etc/shadow",
            "file:///etc/shadow#/../../srv/ok/a",
            "notes:///etc/shadow",
            "notes:/etc/shadow",
            "http://a.example/?u=file:///etc/shadow",
            ".ssh/id_rsa",
            ".env",
            "./x",
            "a/../../x",
            "$HOME/.ssh/id_rsa",
            "${HOME}/x",
            "$home/x",
            "%USERPROFILE%\\x",
            "~",
            "~/x",
            "~root/x",
            "\u{2215}etc\u{2215}shadow",
            "\u{ff0f}etc\u{ff0f}shadow",
            "%2fetc%2fshadow",
            "C:\\x",
            "\\\\host\\share",
            "/srv/ok/a,/etc/shadow",
            "/srv/ok/a:/etc/shadow",
            "[\"/etc/shadow\"]",
            "{\"path\": \"/etc/shadow\"}",
        ] {
            let outcome = check(&checks, &json!({ key: text }));
            assert!(outcome.is_err(), "{key}: {text:?}");
        }
        for text in ["/srv/ok/a.txt", "file:///srv/ok/a.txt"] {
            let outcome = check(&checks, &json!({ key: text }));
            assert!(outcome.is_ok(), "{key}: {text:?} {outcome:?}");
        }
    }
    for arguments in [
        json!({"src": "secrets/key"}),
        json!({"x": "secrets/key"}),
        json!({"x": "salaries.txt"}),
        json!({"src": "id_rsa"}),
        json!({"source": "/srv/private/salaries.txt", "destination": "/srv/ok/stolen.txt"}),
        json!({"text": "/etc/shadow\n/etc/passwd"}),
        json!({"uri": "notes://etc/shadow"}),
        json!({"args": ["--file=/etc/shadow"]}),
        json!({"command": "cat .ssh/id_rsa"}),
        json!({"command": "/etc/shadow"}),
        json!({"executable": "/tmp/x", "args": ["a"]}),
        json!({"pattern": "a\n/etc/shadow"}),
        json!({"x": "view-source:file:///etc/shadow"}),
        json!({"command": "cat '/srv/ok/a' @/etc/shadow"}),
        json!({"code": "print(open('/etc/shadow').read())"}),
    ] {
        assert!(check(&checks, &arguments).is_err(), "{arguments}");
    }
}

/// A scheme in front, a blank that readers of URLs leave out, and what stands behind `?` and `#`: none of them hides a path.
#[test]
fn no_url_leads_out_of_the_paths() {
    for base in ["/srv", "/srv/ok"] {
        let checks = checks_from(base, &[], &json!({}), &[json!({"paths": ["/srv/ok/**", "/srv/ok"]})]);
        let mut passed = Vec::new();
        for key in ["path", "source", "image", "content", "x", "url", "name", "text"] {
            for text in [
                "http://../private/salaries.txt",
                "http://../../private/salaries.txt",
                "https://x/../../../private/salaries.txt",
                "HTTP://../../private/salaries.txt",
                "http:/../../private/s.txt",
                "http:x/../../private/s.txt",
                "https://..",
                "http://..",
                "urn:x/../private/x",
                "urn:../private/x",
                "mailto:x/../private/x",
                "tel:x/../private/x",
                "tel://../../private/x",
                "ssh://../../private/x",
                "ftp://../private/s",
                "data:a/../../private/x",
                "data:,/../../private/x",
                "http:%2f..%2fprivate",
                "http://x/%2e%2e/%2e%2e/private",
                "http://x/%zz/%2E%2e/%252e%252e/private",
                "notes://ok/../../private",
                "urn:///etc/shadow",
                "urn:/etc/shadow",
                "data:///etc/shadow",
                "geo:///etc/shadow",
                "about:///etc/shadow",
                "cid:///etc/shadow",
                "sftp:///etc/shadow",
                "fi\tle:///etc/shadow",
                "fil\ne:///etc/shadow",
                "file\r:///etc/shadow",
                "file:/\t//etc/shadow",
                "f\tile:/etc/shadow",
                "ur\tn:///etc/shadow",
                "no\ntes:///etc/shadow",
                "http:/\t/../\n../private/x",
                "app:///srv/ok/a.txt?file=%2Fsrv%2Fprivate%2Fx",
                "app:///srv/ok/a.txt?file=/etc/shadow",
                "app:///srv/ok/a.txt?file=../../private/x",
                "app:///srv/ok/a.txt?mode=r&file=..%2F..%2Fprivate%2Fx",
                "app:///srv/ok/a.txt#/etc/shadow",
                "app:///srv/ok/a.txt?/etc/shadow",
            ] {
                if check(&checks, &json!({ key: text })).is_ok() {
                    passed.push((key, text));
                }
            }
            if base == "/srv" {
                let text = "app:///srv/ok/a.txt?file=private/x";
                assert!(check(&checks, &json!({ key: text })).is_err(), "{key}: {text}");
            }
        }
        assert!(passed.is_empty(), "from {base}, {} passed:\n{passed:?}", passed.len());
        for (key, text) in [
            ("x", "app:///srv/ok/a.txt?mode=r&line=3#top"),
            ("url", "https://example.com/a/b?c=d"),
            ("url", "https://example.com/a...b/c..d"),
            ("image", "https://example.com/a.png"),
            ("image", "data:image/jpeg;base64,/9j/4AAQSkZJRg=="),
            ("x", "urn:isbn:0451450523"),
            ("url", "mailto:ann@example.com"),
            ("path", "/srv/ok/a.txt"),
            ("urls", "https://example.com/a\nhttps://example.com/b"),
        ] {
            let outcome = check(&checks, &json!({ key: text }));
            assert!(outcome.is_ok(), "{key}: {text:?} {outcome:?}");
        }
    }
    // A URL under a key for paths is the name of a file as well.
    let checks = checks(&[json!({"paths": ["/srv/ok/**"]})]);
    assert!(check(&checks, &json!({"path": "https://example.com/x"})).is_err());
}

/// What is honest passes: text is text, and the schema tells what is no path.
#[test]
fn limits_of_paths_leave_honest_calls_alone() {
    let schema = json!({"type": "object", "properties": {
        "path": {"type": "string"}, "content": {"type": "string", "description": "Content to write to the file"},
        "edits": {"type": "array", "items": {"type": "object", "properties": {
            "oldText": {"type": "string"}, "newText": {"type": "string"}}}},
        "pattern": {"type": "string"}, "excludePatterns": {"type": "array", "items": {"type": "string"}},
        "sortBy": {"type": "string", "enum": ["name", "size/desc"]},
        "day": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]},
        "mimeType": {"type": "string"}, "branch_name": {"type": "string"}, "query": {"type": "string"},
        "name": {"type": "string", "description": "Path of the thing to open"},
        "head": {"type": "integer"},
    }});
    let schema = std::sync::Arc::new(switchboard_policy::schema::Schema::read(&raw(&schema)));
    let checks = checks(&[json!({"paths": ["/srv/ok/**"]})]).with_schema(Some(schema));
    let path = "/srv/ok/a.txt";
    let prose = "Use and/or as you like; see https://example.com/a?b=c.\n/etc/hosts is a file\n  /etc/hosts\n../x\n";
    let refused = |pointer| Some(("scope", pointer));
    assert_cases(
        &checks,
        &[
            (json!({"path": path, "content": prose}), None),
            (json!({"path": path, "content": "hello"}), None),
            (json!({"path": path, "content": "a/b"}), None),
            (json!({"path": path, "content": "{\"main\": \"./index.js\", \"bin\": \"/usr/bin/x\"}"}), None),
            (json!({"path": path, "content": "// a comment"}), None),
            (json!({"path": path, "content": "/*! minified */var a=1;"}), None),
            (json!({"path": path, "content": "/**\n * Says hello.\n */\nint main() {}\n"}), None),
            (json!({"path": path, "content": "#!/bin/sh\n./configure && make\n"}), None),
            (json!({"path": path, "content": "/etc/shadow\n"}), refused("/content")),
            (json!({"path": path, "edits": [{"oldText": "a/b", "newText": "let x = 1; // and/or"}]}), None),
            (json!({"path": path, "pattern": "**/*.rs", "excludePatterns": ["target/**", ".git", "*.bak"]}), None),
            (
                json!({"path": path, "sortBy": "size/desc", "day": "2024-01-31", "mimeType": "text/plain", "head": 3}),
                None,
            ),
            (json!({"path": path, "branch_name": "feature/x", "query": "tcp/ip and more"}), None),
            (json!({"query": "what is tcp/ip", "head": 3}), None),
            (json!({"path": path, "pattern": "\\bfoo\\b"}), None),
            (json!({"path": path, "pattern": "\\d+"}), None),
            (json!({"path": path, "pattern": "\\.ts$"}), None),
            (json!({"path": path, "pattern": "\\etc\\shadow"}), refused("/pattern")),
            (json!({"path": "/srv/ok/(group)/x.ts"}), None),
            (json!({"path": "/srv/ok/(group)/../../x.ts"}), refused("/path")),
            // What is only a path is one, also as the body; and nothing that the schema does not name is a body.
            (json!({"path": path, "content": "/etc/shadow"}), refused("/content")),
            (json!({"path": path, "content": "~/.ssh/id_rsa"}), refused("/content")),
            (json!({"path": path, "edits": [{"oldText": "a", "newText": ".ssh/id_rsa"}]}), refused("/edits/0/newText")),
            (json!({"path": path, "text": "secrets/key"}), refused("/text")),
            (json!({"path": path, "pattern": "../../etc/*"}), refused("/pattern")),
            (json!({"path": path, "pattern": "/etc/*"}), refused("/pattern")),
            (json!({"path": path, "sortBy": "other/word"}), refused("/sortBy")),
            (json!({"path": path, "name": "salaries"}), refused("/name")),
            (json!({"pattern": "**/*.rs"}), refused("/pattern")),
            (json!({"content": "secrets/key"}), refused("/content")),
            (json!({"path": "/etc/shadow", "content": prose}), refused("/path")),
        ],
    );
    for text in [
        "/etc/hosts is where names are kept",
        "~5 minutes",
        "~",
        "~~old~~ new",
        "~~old~~",
        "\\section{Introduction}",
        "\\begin{a}\\end{a}",
        "//TODO fix",
        "//TODO",
        "$(document).ready(f)",
        "$(document).ready(function(){ a/b });",
        "/help",
        "/api/v1",
        "/users/:id",
        "/regex/gi.test(s)",
        "</div>",
        "./run.sh",
        ".env",
        "file:///etc/hosts is a URL",
        "C:\\Windows is a folder",
        "<a href=\"/about\">About</a>",
        "[link](./docs/readme.md)",
        "https://example.com/a/b",
        "export PATH=/usr/bin:$PATH",
        "/srv/ok/b.txt",
        "",
    ] {
        for arguments in [
            json!({"path": path, "content": text}),
            json!({"path": path, "edits": [{"oldText": text, "newText": "x"}]}),
            json!({"path": path, "edits": [{"oldText": "x", "newText": text}]}),
        ] {
            let outcome = check(&checks, &arguments);
            assert!(outcome.is_ok(), "{arguments} {outcome:?}");
        }
    }
    for text in [
        "/etc/passwd",
        " /etc/passwd\n",
        "'/etc/passwd'",
        "\\etc\\passwd",
        "\u{2215}etc\u{2215}passwd",
        "%2fetc%2fpasswd",
        "/srv/private/x",
        "/project/x",
        "/x/.ssh/id_rsa",
        "../private/x",
        "a/../../x",
        "~/.ssh/id_rsa",
        "~root/x",
        "$HOME/.ssh/id_rsa",
        "${HOME}/x",
        "%USERPROFILE%\\x",
        ".ssh/id_rsa",
        "C:\\Users\\x",
        "\\\\host\\share",
        "file:///etc/passwd",
        "fi\tle:///etc/passwd",
        "notes:///etc/passwd",
        "http://../private/x",
    ] {
        assert!(check(&checks, &json!({"path": path, "content": text})).is_err(), "{text:?}");
    }
}

/// Words, addresses of mail and codes are no paths where their key does not say so; quotes and marks hide none.
#[test]
fn keys_that_may_be_places_take_words() {
    for base in ["/srv", "/srv/ok"] {
        let checks = checks_from(base, &[], &json!({}), &[json!({"paths": ["/srv/ok/**", "/srv/ok"]})]);
        for arguments in [
            json!({"email": "a@b.co"}),
            json!({"to": "ann@example.com"}),
            json!({"to": ["ann@example.com", "bob@example.org"]}),
            json!({"contact": "ann@example.com"}),
            json!({"location": "Berlin"}),
            json!({"location": "New York, NY 10001"}),
            json!({"output": "json"}),
            json!({"from": "EUR", "to": "USD"}),
            json!({"tags": ["node.js"]}),
            json!({"package": "com.example.app"}),
            json!({"command": "gcc -O2 -Wall /srv/ok/a.c"}),
        ] {
            let outcome = check(&checks, &arguments);
            assert!(outcome.is_ok(), "{base}: {arguments} {outcome:?}");
        }
        for arguments in [
            json!({"to": "/etc/shadow"}),
            json!({"from": "~/x"}),
            json!({"from": "../private/x"}),
            json!({"to": ".."}),
            json!({"tags": ["/etc/shadow"]}),
            json!({"email": "../a@b.co"}),
            json!({"path": "\"/etc/shadow\""}),
            json!({"path": "'..'"}),
            json!({"path": "'../private/x'"}),
            json!({"path": "@/etc/shadow"}),
            json!({"path": "@~/.ssh/id_rsa"}),
            json!({"location": "@../private/x"}),
            json!({"source": "`/etc/shadow`"}),
            json!({"file": "\"file:///etc/shadow\""}),
            json!({"command": "grep -f/etc/shadow x"}),
            json!({"command": "tar -C/etc -cf /srv/ok/x.tar shadow"}),
            json!({"command": "tar -xf/etc/x.tar"}),
            json!({"command": "cc -I../../private/x"}),
            json!({"command": "cat -n~/x"}),
        ] {
            assert!(check(&checks, &arguments).is_err(), "{base}: {arguments}");
        }
    }
    let checks = checks(&[json!({"paths": ["/srv/ok/**"]})]);
    for arguments in [
        json!({"file_name": "salaries"}),
        json!({"fileName": "private"}),
        json!({"to": "salaries.txt"}),
        json!({"to": "my salaries.txt"}),
        json!({"to": "my private/salaries"}),
        json!({"x": "logo@2x.png"}),
        json!({"target": ".ssh/id_rsa"}),
        json!({"remote": ".ssh"}),
    ] {
        assert!(check(&checks, &arguments).is_err(), "{arguments}");
    }
}

#[test]
fn commands_and_lists_of_hosts_are_held_to_the_hosts() {
    let checks = checks(&[json!({"hosts": ["*.example.com", "example.com"]})]);
    let commands = [
        "curl evil.example",
        "curl evil.example/x",
        "timeout 5 wget evil.example",
        "ping -c1 evil.example",
        "ssh evil.example",
        "ssh -p 22 root@evil.example",
        "git clone git@evil.example:x/y",
        "dig @8.8.8.8 x.example.com",
        "curl 8.8.8.8/x",
        "curl https://api.example.com evil.example",
        "curl --url=evil.example",
        "ls; curl evil.example",
    ];
    let hosts = ["evil.example 80", "api.example.com evil.example", "api.example.com,evil.example"];
    let mut hostile: Vec<Value> = commands.iter().map(|command| json!({ "command": command })).collect();
    hostile.extend(hosts.iter().flat_map(|host| [json!({ "host": host }), json!({ "url": host })]));
    hostile.push(json!({"command": ["ping", "evil.example"]}));
    assert_hostile(&checks, &hostile);
    let honest = [
        "curl -s https://api.example.com/v1",
        "curl -o page.html https://example.com",
        "ping -c 1 api.example.com",
        "git clone https://git.example.com/a/b.git",
        "git commit -m 'v1.2 of app.js'",
        "git diff HEAD~1 -- src/main.rs",
        "ls -l report.txt",
        "python3 main.py",
        "cat notes.md",
    ];
    let mut honest: Vec<Value> = honest.iter().map(|command| json!({ "command": command })).collect();
    honest.push(json!({"host": "api.example.com 443"}));
    assert_honest(&checks, &honest);
}

#[test]
fn no_key_and_no_spelling_leads_to_another_host() {
    let checks = checks(&[json!({"hosts": ["*.example.com", "example.com"]})]);
    for key in ["url", "link", "address", "target", "site", "src", "page", "image", "x", "text", "message", "host"] {
        for text in [
            "http://evil.example/",
            "http:/evil.example/",
            "http:evil.example",
            "http:\\\\evil.example",
            "//evil.example/x",
            "\\\\evil.example\\x",
            "evil.example",
            "evil.example/path",
            "evil.example:8080",
            " evil.example ",
            "git@evil.example:a/b",
            "10.1.2.3",
            "10.1.2.3/x",
            "localhost/admin",
            "0xa9fea9fe",
            "HTTPS://EVIL.example",
            "evil\u{3002}example",
            "ht\ttp://evil.example",
            "h\nttp://evil.example/x",
            "http\r://evil.example",
            "http://ev\til.example/",
            "http://example.com\n.evil.example/",
            "evil.\texample",
            "tcp://evil.example:1",
            "nats://evil.example:4222",
            "s3://evil-bucket/x",
            "postgresql+psycopg2://evil.example/x",
            "smb:\\\\evil.example\\x",
            "user:pw@evil.example",
            "user:pw@evil.example/x",
        ] {
            assert!(check(&checks, &json!({ key: text })).is_err(), "{key}: {text:?}");
        }
        for text in ["https://example.com/x", "a.example.com", "https://a.example.com/?q=1"] {
            let outcome = check(&checks, &json!({ key: text }));
            assert!(outcome.is_ok(), "{key}: {text:?} {outcome:?}");
        }
    }
    assert_cases(
        &checks,
        &[
            (json!({"path": "src/main.rs", "version": "1.2.3", "text": "Version 2. Done. e.g. this", "n": "12"}), None),
            (json!({"host": "intranet"}), Some(("scope", "/host"))),
            (json!({"to": "ann@mail.example"}), None),
            (json!({"name": "readme.md"}), None),
            (json!({"output": "x.json"}), None),
            (json!({"package": "com.example.app"}), None),
            (json!({"lang": "node.js", "tags": ["node.js"]}), None),
            (json!({"x": "mailto:ann@mail.example"}), None),
            (json!({"x": "notes:///a"}), None),
            (json!({"x": "tcp://a.example.com:1"}), None),
            (json!({"name": "evil.example"}), Some(("scope", "/name"))),
            (json!({"host_name": "evil.md"}), Some(("scope", "/host_name"))),
            (json!({"package": "evil.example/x"}), Some(("scope", "/package"))),
            (json!({"output": "evil.md:80"}), Some(("scope", "/output"))),
        ],
    );
}

/// A server may begin relative paths in another folder than the one in which it was started.
#[test]
fn relative_paths_lie_inside_from_every_folder_of_the_server() {
    let limits = [json!({"paths": ["/srv/ok/**", "/srv/ok"]})];
    let only_cwd = checks_from("/srv/ok", &[], &json!({}), &limits);
    let elsewhere = only_cwd.clone().also_based_at(&["/srv/files".to_owned()]);
    let below = only_cwd.clone().also_based_at(&["/srv/ok/files".to_owned()]);
    for (arguments, cwd, files) in [
        (json!({"path": "a.txt"}), true, false),
        (json!({"path": "ok/a.txt"}), true, false),
        (json!({"path": "../ok/a.txt"}), true, true),
        (json!({"path": "."}), true, false),
        (json!({"path": "/srv/ok/a.txt"}), true, true),
        (json!({"path": "/srv/files/a.txt"}), false, false),
        (json!({"command": "cat a.txt"}), true, false),
        (json!({"query": "what is tcp/ip"}), true, true),
    ] {
        assert_eq!(check(&only_cwd, &arguments).is_ok(), cwd, "{arguments}");
        assert_eq!(check(&elsewhere, &arguments).is_ok(), files, "{arguments}");
    }
    assert!(check(&below, &json!({"path": "a.txt"})).is_ok());
    // A path that is denied from one of them is denied.
    let denies = [json!({"deny_paths": ["/srv/files/secret/**"]})];
    let denies = checks_from("/srv/ok", &[], &json!({}), &denies).also_based_at(&["/srv/files".to_owned()]);
    assert!(check(&denies, &json!({"path": "secret/x"})).is_err());
    assert!(check(&denies, &json!({"path": "public/x"})).is_ok());
}

/// The operator's word takes single arguments out of the limits of paths and hosts, and out of nothing else.
#[test]
fn text_arguments_are_neither_paths_nor_hosts() {
    let limits = [json!({"paths": ["/srv/ok/**"], "hosts": ["example.com"], "commands": ["ls"]})];
    let checks = checks_from("/project", &[ValidatorName::Sandbox], &json!({}), &limits);
    let checks = checks.with_text_arguments(&["note".to_owned(), "command".to_owned()]);
    assert_honest(
        &checks,
        &[
            json!({"note": "/etc/shadow"}),
            json!({"note": "http://evil.example/x"}),
            json!({"note": ["evil.example", {"path": "/etc/shadow"}]}),
            json!({"note": "{\"path\": \"/etc/shadow\"}"}),
            json!({"command": "ls /etc"}),
            json!({"note": "/etc/shadow", "path": "/srv/ok/a.txt"}),
        ],
    );
    assert_hostile(
        &checks,
        &[
            json!({"note": "/etc/shadow", "path": "/etc/shadow"}),
            json!({"title": "/etc/shadow"}),
            json!({"deep": {"note": "/etc/shadow"}}),
            json!({"Note": "/etc/shadow"}),
            json!({"note": "$(rm -rf /)"}),
            json!({"command": "rm -rf /"}),
            json!({"command": "cat /srv/ok/a"}),
        ],
    );
    let outcome = check(&checks, &json!({"note": "x", "deep": {"path": "/etc/shadow"}})).unwrap_err();
    assert_eq!((outcome.step, outcome.pointer.as_str()), ("scope", "/deep/path"));
    // What stands twice is refused, named or not.
    let twice = Raw::parse(r#"{"note": "a", "note": "/etc/shadow"}"#.to_owned(), &Limits::default()).unwrap();
    assert!(arguments::check(&checks, &twice, &NoWorld).is_err());
}

/// The path of an address of a server that may take nothing else of it.
#[test]
fn paths_of_urls_count_where_they_may_be_all_that_is_read() {
    let paths = json!({"paths": ["/srv/ok/**"]});
    let plain = checks(std::slice::from_ref(&paths));
    let addresses = plain.clone().with_paths_of_urls();
    let hosts = checks(&[paths, json!({"hosts": ["localhost", "a.example"]})]).with_paths_of_urls();
    for uri in [
        "http://localhost/etc/x",
        "https://a.example/etc/x?y=/srv/ok/a",
        "ws://a.example/etc/x#/srv/ok/a",
        "http://localhost",
        "http://localhost/",
        "http://localhost/%65tc/x",
        "http:localhost/etc/x",
        "ftp://a.example/etc/x",
    ] {
        assert!(check(&addresses, &json!({"uri": uri})).is_err(), "{uri}");
        assert!(check(&plain, &json!({"uri": uri})).is_ok(), "{uri}");
    }
    for uri in ["http://localhost/srv/ok/x", "file:///srv/ok/x", "mailto:ann@example.com", "urn:isbn:1", "data:,x"] {
        assert!(check(&addresses, &json!({"uri": uri})).is_ok(), "{uri}");
    }
    assert!(check(&hosts, &json!({"uri": "https://a.example/etc/x"})).is_ok());
}
