//! Hostile spellings that strangers found, beside honest calls of the same form.

use serde_json::{Value, json};
use switchboard_protocol::mgp::ValidatorName::NetworkRestricted;
use switchboard_validators::arguments::Checks;

use crate::common::{assert_honest, assert_hostile, checks_from, raw};

/// A limit of paths, and a server that was started inside of it: relative names lie inside.
fn inside() -> Checks {
    checks_from("/srv/ok", &[], &json!({}), &[json!({"paths": ["/srv/ok/**", "/srv/ok"]})])
}

/// The same of a server that was started elsewhere, with the schema of its tool.
fn outside(schema: &Value) -> Checks {
    let schema = std::sync::Arc::new(switchboard_policy::schema::Schema::read(&raw(schema)));
    let checks = checks_from("/project", &[], &json!({}), &[json!({"paths": ["/srv/ok/**", "/srv/ok"]})]);
    checks.with_schema(Some(schema))
}

#[test]
fn marks_around_a_path_hide_it_under_no_key_for_places() {
    let mut hostile = Vec::new();
    for key in ["path", "file", "source", "destination", "output", "to"] {
        for text in [
            "+/etc/x",
            "[/etc/x]",
            "{/etc/x}",
            "[ /etc/x ]",
            "{{/etc/x}}",
            "!/etc/x",
            "^/etc/x",
            "&/etc/x",
            "=/etc/x",
            ":/etc/x",
            ">/etc/x",
            "+~/.ssh/id_rsa",
            "[~/x]",
            "[file:///etc/x]",
            "++/etc/x",
            "[[/etc/x]]",
            "{\"/etc/x\"}",
        ] {
            hostile.push(json!({ key: text }));
        }
    }
    assert_hostile(&inside(), &hostile);
    assert_honest(
        &inside(),
        &[
            json!({"path": "/srv/ok/[id]/page.tsx"}),
            json!({"path": "/srv/ok/app/[...slug]/page.tsx"}),
            json!({"path": "/srv/ok/c++/main.cc"}),
            json!({"path": "/srv/ok/+page.svelte"}),
            json!({"path": "+page.svelte"}),
            json!({"path": "routes/+layout.ts"}),
            json!({"path": "[id]/page.tsx"}),
            json!({"path": "[...slug].astro"}),
            json!({"path": "{name}.txt"}),
            json!({"path": "!important.txt"}),
            json!({"path": "(group)/page.tsx"}),
            json!({"path": "[draft] notes.md"}),
            json!({"path": "+1.txt"}),
            json!({"path": "[/srv/ok/a.txt]"}),
            json!({"path": "+/srv/ok/a.txt"}),
            json!({"paths": ["a.txt", "[b].txt"]}),
            json!({"output": "json"}),
            json!({"to": "[team] ann"}),
        ],
    );
}

#[test]
fn a_target_beside_a_path_is_a_place_where_it_ends_as_files_do() {
    let link = json!({"type": "object", "properties": {
        "path": {"type": "string"}, "target": {"type": "string"}, "branch": {"type": "string"}}});
    assert_hostile(
        &outside(&link),
        &[
            json!({"path": "/srv/ok/a.txt", "target": "private/x.txt"}),
            json!({"path": "/srv/ok/a.txt", "target": "private/x.json"}),
            json!({"path": "/srv/ok/a.txt", "target": "/srv/private/x"}),
            json!({"path": "/srv/ok/a.txt", "target": ".ssh/id_rsa"}),
        ],
    );
    let told = json!({"type": "object", "properties": {
        "path": {"type": "string"}, "target": {"type": "string", "description": "Path that the link points to"}}});
    assert_hostile(&outside(&told), &[json!({"path": "/srv/ok/a.txt", "target": "private/x"})]);
    assert_honest(
        &outside(&link),
        &[
            json!({"path": "/srv/ok", "target": "main"}),
            json!({"path": "/srv/ok", "target": "origin/main"}),
            json!({"path": "/srv/ok", "target": "feature/v1.2"}),
            json!({"path": "/srv/ok", "target": "release/1.x"}),
            json!({"path": "/srv/ok", "target": "HEAD~1"}),
            json!({"path": "/srv/ok", "target": "v1.2.3"}),
            json!({"path": "/srv/ok", "target": "x86_64-unknown-linux-gnu"}),
            json!({"path": "/srv/ok", "branch": "fix/login"}),
            json!({"path": "/srv/ok/a", "target": "/srv/ok/b.txt"}),
        ],
    );
}

#[test]
fn commands_are_read_in_every_form() {
    let checks = checks_from("/project", &[], &json!({}), &[json!({"paths": ["/srv/ok/**"]})]);
    assert_hostile(
        &checks,
        &[
            json!({"command": {"program": "cat", "args": ["/etc/x"]}}),
            json!({"command": {"line": "cat /etc/x"}}),
            json!({"command": {"line": "cat private/x.txt"}}),
            json!({"command": {"name": "cat", "words": "salaries.txt private/x"}}),
            json!({"command": {"run": {"line": "cat ~/x"}}}),
            json!({"commands": [{"line": "cat /etc/x"}]}),
            json!({"commands": [{"exec": "cat", "args": "private/x.txt -n"}]}),
            json!({"commands": [["cat", "salaries.txt"]]}),
            json!({"args": "show /etc/x"}),
            json!({"args": "show private/x.txt"}),
            json!({"args": "--file=/etc/x now"}),
            json!({"arguments": "-f /etc/x -n"}),
            json!({"options": {"args": "-C /etc show"}}),
        ],
    );
    assert_honest(
        &checks,
        &[
            json!({"command": {"program": "ls", "args": ["-l"]}}),
            json!({"command": {"line": "ls -l /srv/ok/a"}}),
            json!({"command": {"line": "/usr/bin/ls -l"}}),
            json!({"command": {"type": "shell", "value": "date", "description": "Shows the date and/or time"}}),
            json!({"commands": ["ls", "date -u"]}),
            json!({"commands": [["ls", "-l", "/srv/ok/a"]]}),
            json!({"args": "hello world"}),
            json!({"args": "--verbose -n 5 status"}),
            json!({"args": "-f /srv/ok/a.txt"}),
            json!({"args": ["--since", "1/2/2024"]}),
            json!({"parameters": "and/or more words"}),
            json!({"command": "git", "args": "log -5"}),
        ],
    );
}

#[test]
fn long_json_is_walked_like_short() {
    let checks = checks_from("/project", &[], &json!({}), &[json!({"paths": ["/srv/ok/**"]})]);
    let filler = "x".repeat(300 << 10);
    let hostile = json!({"filler": filler, "path": "/etc/x"}).to_string();
    let honest = json!({"filler": filler, "path": "/srv/ok/x"}).to_string();
    assert_hostile(&checks, &[json!({"x": hostile}), json!({"data": hostile}), json!({"text": hostile})]);
    assert_honest(&checks, &[json!({"x": honest}), json!({"data": honest})]);
    // What is too large to be read is not let through either.
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    assert_hostile(&checks, &[json!({"x": deep})]);
}

#[test]
fn every_scheme_counts_in_the_middle_of_text_under_a_limit_of_hosts() {
    let checks = checks_from("/project", &[], &json!({}), &[json!({"hosts": ["example.com", "*.example.com"]})]);
    let mut hostile = Vec::new();
    for key in ["text", "message", "x", "query", "content"] {
        for text in [
            "please open nats://evil.example:4222 now",
            "use s3://evil-bucket/x for it",
            "see (tcp://evil.example) there",
            "clickhouse+native://evil.example/db is the database",
            "connect to user:pw@x over amq://evil.example",
            "see https://evil.example/x there",
        ] {
            hostile.push(json!({ key: text }));
        }
    }
    assert_hostile(&checks, &hostile);
    assert_honest(
        &checks,
        &[
            json!({"text": "see nats://a.example.com:4222 there"}),
            json!({"text": "the ratio is 2:1, and/or more // nothing"}),
            json!({"text": "a scheme such as foo:// has two slashes"}),
            json!({"text": "write {scheme}://{host}/path"}),
            json!({"text": "write ${PROTO}://$HOST"}),
            json!({"text": "C://Users is a folder"}),
            json!({"text": "see https://example.com/a, https://a.example.com/b?c=d."}),
            json!({"text": "mailto:ann@mail.example or tel:+1-555 works"}),
            json!({"text": "At 12:30, see section 3.1://"}),
        ],
    );
}

#[test]
fn a_file_inside_of_the_grant_may_be_a_uri() {
    let tool = json!({"name": "convert_to_markdown"});
    for scopes in
        [vec![json!({"paths": ["/srv/ok/**"]})], vec![json!({"paths": ["/srv/ok/**"], "hosts": ["example.com"]})]]
    {
        let checks = checks_from("/project", &[NetworkRestricted], &tool, &scopes);
        assert_honest(
            &checks,
            &[
                json!({"uri": "file:///srv/ok/a.txt"}),
                json!({"uri": "file:/srv/ok/a.txt"}),
                json!({"url": "file:///srv/ok/a%20b.txt"}),
                json!({"uris": ["file:///srv/ok/a.txt", "file:///srv/ok/b.txt"]}),
                json!({"x": "file:///srv/ok/a.txt"}),
            ],
        );
        assert_hostile(
            &checks,
            &[
                json!({"uri": "file:///etc/x"}),
                json!({"uri": "file:///srv/ok/../private/x"}),
                json!({"uri": "file://evil.example/srv/ok/a.txt"}),
                json!({"uri": "http://127.0.0.1/srv/ok/a.txt"}),
                json!({"x": "file:///srv/private/x"}),
            ],
        );
    }
    // Where no grant names paths, a tool for the network opens no files.
    let checks = checks_from("/project", &[NetworkRestricted], &tool, &[]);
    assert_hostile(&checks, &[json!({"uri": "file:///srv/ok/a.txt"})]);
}

#[test]
fn honest_text_passes_a_limit_of_paths_and_hosts() {
    let schema = json!({"type": "object", "properties": {
        "path": {"type": "string"}, "text": {"type": "string"}, "pattern": {"type": "string"},
        "mimeType": {"type": "string"}, "description": {"type": "string"}}});
    let path = "/srv/ok/a.txt";
    assert_honest(
        &outside(&schema),
        &[
            json!({"description": "Either and/or both; see https://example.com/docs/a?b=c for more"}),
            json!({"description": "Paid on 1/2/2024, half (1/2) of it in cash"}),
            json!({"date": "1/2/2024"}),
            json!({"date": "2024/01/31"}),
            json!({"fraction": "3/4"}),
            json!({"amount": "1/2"}),
            json!({"mimeType": "application/vnd.api+json"}),
            json!({"content_type": "text/html"}),
            json!({"timezone": "Europe/Berlin"}),
            json!({"cron": "*/5 * * * *"}),
            json!({"schedule": "0 0 1 1 *"}),
            json!({"path": path, "pattern": "^\\d+/\\d+$"}),
            json!({"path": path, "pattern": "src/**/*.{ts,tsx}"}),
            json!({"path": path, "pattern": "[a-z]+/[0-9]+"}),
            json!({"path": path, "text": "[link](./a.md) and {x}/{y}"}),
            json!({"path": path, "text": "+/- 5 percent"}),
            json!({"description": "km/h, m/s and n/a"}),
            json!({"note": "He/she said: yes/no"}),
            json!({"expression": "(a + b) / 2"}),
            json!({"score": "7.5/10"}),
            json!({"url": "https://example.com/a/b?c=/d"}),
            json!({"message": "see [the docs](https://example.com/docs)"}),
        ],
    );
    let hosts = checks_from("/project", &[], &json!({}), &[json!({"hosts": ["example.com"]})]);
    assert_honest(
        &hosts,
        &[
            json!({"description": "Paid on 1/2/2024, and/or later"}),
            json!({"cron": "*/5 * * * *"}),
            json!({"pattern": "^[a-z]+://"}),
            json!({"text": "HTTP/2 and TCP/IP are protocols"}),
            json!({"path": "src/a.rs", "text": "use std::fmt; // done"}),
        ],
    );
}

#[test]
fn a_file_url_in_the_query_of_another_counts_in_every_escape() {
    assert_hostile(
        &inside(),
        &[
            json!({"url": "https://proxy.example/?u=file%3A%2F%2F%2Fetc%2Fshadow"}),
            json!({"note": "https://proxy.example/?u=file%3a///etc/shadow"}),
            json!({"link": "https://proxy.example/?u=f%69le%253A%252F%252F%252Fetc%252Fshadow"}),
        ],
    );
    assert_honest(
        &inside(),
        &[
            json!({"url": "https://proxy.example/?u=https%3A%2F%2Fexample.org%2Fetc%2Fx"}),
            json!({"url": "https://example.org/?q=100%25&profile=a%2Fb"}),
        ],
    );
}

#[test]
fn a_list_of_paths_counts_whatever_ends_its_lines() {
    for end in ["\n", "\r", "\r\n", "\u{b}", "\u{c}", "\u{85}", "\u{2028}", "\u{2029}"] {
        assert_hostile(&inside(), &[json!({"note": format!("first{end}/etc/shadow")})]);
        assert_honest(&inside(), &[json!({"note": format!("first{end}second line{end}/srv/ok/a.txt")})]);
    }
}

#[test]
fn an_address_with_blanks_or_many_values_is_a_path_like_others() {
    let many = format!("docs:///srv/ok/a?{}path=%2Fetc%2Fhostname", "a=b&".repeat(300));
    assert_hostile(
        &inside(),
        &[
            json!({"uri": "files:///etc/hostname?x=a b"}),
            json!({"uri": "files:///etc/hostname#a b"}),
            json!({"note": "vault://etc/hostname?a\u{a0}b"}),
            json!({"uri": "files:///srv/no pe/s.txt"}),
            json!({"uri": "vault:a b/../../../etc/x"}),
            json!({ "uri": many }),
        ],
    );
    assert_honest(
        &inside(),
        &[
            json!({"note": "see: /etc is where settings live"}),
            json!({"note": "todo: look at ../lib"}),
            json!({"uri": "files:///srv/ok/My Documents/a b.txt"}),
        ],
    );
}

#[test]
fn a_host_under_a_scheme_of_its_own_is_held_to_the_limit_of_hosts() {
    let checks = checks_from("/srv/ok", &[], &json!({}), &[json!({"hosts": ["my-bucket", "ok.example.com"]})]);
    assert_honest(&checks, &[json!({"uri": "s3://my-bucket/a.txt"}), json!({"uri": "vault://ok.example.com/x"})]);
    assert_hostile(&checks, &[json!({"uri": "s3://other/a.txt"}), json!({"uri": "vault://evil.example.com/x"})]);
}

#[test]
fn names_of_a_servers_own_scheme_are_told_from_paths() {
    use switchboard_validators::arguments::is_opaque;
    for name in [
        "notes://42",
        "notes://Einkauf%20Mai",
        "notes://\u{65e5}\u{672c}",
        "docs://search?q=hello%20world",
        "figma://file?node-id=1%3A2",
        "log://2026-11-16T08:00:00Z",
        "x-custom.app+v1://thing",
    ] {
        assert!(is_opaque(name), "{name}");
    }
    for place in [
        "notes:///etc/x",
        "notes://%2Fetc/x",
        "notes://a/%252e%252e/b",
        "cache://file:///etc/x",
        "git+https://x.example/y",
        "notes://x?f=%2Fetc%2Fx",
    ] {
        assert!(!is_opaque(place), "{place}");
    }
}
