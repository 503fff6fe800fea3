//! Addresses that lead inside, under every key and in every spelling; and what honest calls hold under the same keys.

use serde_json::{Value, json};
use switchboard_protocol::mgp::ValidatorName::NetworkRestricted;

use crate::common::{assert_honest, assert_hostile, check, checks, checks_from};

fn passes(arguments: &Value) -> bool {
    check(&checks(&[NetworkRestricted], &json!({"name": "fetch"}), &[]), arguments).is_ok()
}

/// Keys under which a server finds what it shall fetch.
const KEYS: &[&str] = &[
    "url",
    "link",
    "address",
    "target",
    "site",
    "src",
    "page",
    "image",
    "website",
    "location",
    "server",
    "destination",
    "image_src",
    "homePage",
];

/// Each is refused under every key above.
const INSIDE: &[&str] = &[
    "http://169.254.169.254/latest",
    "http:/169.254.169.254/latest",
    "http:169.254.169.254/latest",
    "http:\\\\169.254.169.254\\latest",
    "http:\\169.254.169.254",
    "http:///169.254.169.254/",
    "https:/127.0.0.1",
    "HTTP:/127.0.0.1/",
    "ws:/127.0.0.1/socket",
    "//169.254.169.254/x",
    "\\\\169.254.169.254\\x",
    "/\\169.254.169.254/x",
    "127.0.0.1/admin",
    "127.0.0.1:8080/admin",
    "127.0.0.1",
    "127.0.0.1.",
    "localhost/admin",
    "localhost:3000",
    "localhost",
    "LOCALHOST/x",
    "localhost./x",
    "2852039166",
    "2130706433",
    "3232235777",
    "0xa9fea9fe",
    "0x7f000001",
    "0x7f.1",
    "017700000001",
    "127.1",
    "127.0.1",
    "10.1/x",
    "0251.0376.0251.0376",
    "0x7f.0.0.1",
    "192.168.257",
    "metadata.google.internal",
    "metadata.google.internal/computeMetadata/v1/",
    "metadata.google.internal.",
    "http:/metadata.google.internal/",
    "db.internal:5432",
    "printer.local/status",
    "x.localhost",
    "127.0.0.1.nip.io",
    "10-0-0-1.sslip.io/x",
    "localtest.me",
    "app.localtest.me/x",
    "svc.namespace.svc.cluster.local",
    "[::1]/x",
    "[::1]:8080",
    "::1",
    "[::ffff:127.0.0.1]/x",
    "[::ffff:7f00:1]",
    "http:/[::1]/",
    "user@127.0.0.1/x",
    "http:/user:pw@10.0.0.1/x",
    "１２７.0.0.1/x",
    "127。0。0。1/x",
    "①②⑦.0.0.1",
    "ⓛocalhost/x",
    "http:/%31%32%37.0.0.1/",
    "127.0.0.1?x=1",
    "127.0.0.1#x",
    "http:/0x7f.1/",
    "http:2130706433",
    "http:/2130706433/x",
    "//2130706433/x",
    "//localhost/x",
    "//metadata.google.internal/",
    "http:/localhost:9200/_all",
    "ftp:/10.0.0.1/x",
    "0/x",
    "0.0.0.0:80",
    "file:///etc/passwd",
    "gopher://10.0.0.1:25/",
    "redis://cache:6379",
    "http://user@127.0.0.1/",
    "  http:/127.0.0.1/ ",
    "ht\ttp://127.0.0.1/s",
    "h\nttp://127.0.0.1/s",
    "http\r://127.0.0.1/s",
    "http:\t//127.0.0.1/s",
    "http://12\t7.0.0.1/s",
    "http://localho\nst:80/s",
    "\u{1}ht\ttp://127.0.0.1/s\u{1}",
    "127.\t0.0.1/s",
];

/// Each is refused also under a key that says nothing.
const INSIDE_ANYWHERE: &[&str] = &[
    "http:/169.254.169.254/latest",
    "http:169.254.169.254",
    "http:\\\\169.254.169.254\\x",
    "//169.254.169.254/x",
    "127.0.0.1/admin",
    "localhost/admin",
    "127.0.0.1:80/x",
    "0251.0376.0251.0376/x",
    "0x7f.0.0.1",
    "metadata.google.internal",
    "metadata.google.internal/x",
    "http:/2852039166/",
    "http:/0xa9fea9fe/",
    "http:/127.1",
    "[::1]/x",
    "[::1]:80",
    "127.0.0.1.nip.io",
    "x.localhost/y",
    "http:/localhost",
    "see http:/127.0.0.1/ there",
    "open localhost/admin now",
    "１２７.0.0.1/x",
    "ht\ttp://127.0.0.1/s",
    "h\nttp://127.0.0.1/s",
    "http\r://127.0.0.1/s",
    "unix:/var/run/docker.sock",
    "unix:///var/run/docker.sock",
    "unix:./docker.sock",
    "unix:@abstract",
    "UNIX:/run/x.sock",
    "http+unix://%2Fvar%2Frun%2Fdocker.sock/info",
    "npipe:////./pipe/docker_engine",
    "see unix:/var/run/docker.sock there",
    "get http://metadata.google.internal/computeMetadata/v1/ now",
    "get metadata.google.internal/computeMetadata/v1/ now",
    "metadata.tencentyun.com/latest/meta-data",
    "instance-data.ec2.internal/latest",
    "metadata.azure.internal",
    "metadata.packet.net",
];

/// Names of metadata services, alone: what a server could fetch, whatever its key.
const METADATA: &[&str] = &[
    "metadata.google.internal",
    "metadata.google.internal.",
    "METADATA.google.internal",
    "metadata.goog",
    "metadata.azure.com",
    "metadata.azure.internal",
    "metadata.tencentyun.com",
    "metadata.packet.net",
    "metadata.platformequinix.com",
    "instance-data.ec2.internal",
];

/// Each passes, as the whole arguments of an honest call.
fn honest() -> Vec<Value> {
    let texts = [
        ("url", "https://example.com/x"),
        ("url", "/relative/path"),
        ("url", "#section"),
        ("url", "data:text/plain,hello"),
        ("url", "mailto:someone@example.com"),
        ("x", "https://example.com/a\nhttps://example.org\nhttps://example.net/b"),
        ("text", "10.\n0.0.1 is a version"),
        ("text", "metadata.google.internal is the name of the metadata service of Google"),
        ("text", "Block metadata.google.internal and metadata.azure.com in the firewall."),
        ("query", "what is metadata.google.internal used for"),
        ("title", "Why unix: sockets are fast"),
        ("text", "unix: a system, unix:es no word"),
        ("os", "unix"),
        ("platform", "unix:linux"),
        ("text", "metadata.json holds the metadata"),
        ("message", "internal"),
        ("text", "notes.internal.md"),
        ("link", "https://example.com/x?y=z"),
        ("link", "example.com/path"),
        ("link", "www.example.com"),
        ("link", "docs/guide.md"),
        ("link", "../up/there.html"),
        ("link", "#top"),
        ("link", "main"),
        ("site", "example.org"),
        ("site", "my-site"),
        ("site", "12345"),
        ("site", "en-US"),
        ("page", "2"),
        ("page", "0"),
        ("page", "about-us"),
        ("page", "index.html"),
        ("page", "Home"),
        ("image", "logo.png"),
        ("image", "images/logo@2x.png"),
        ("image", "nginx:1.25"),
        ("image", "ghcr.io/org/app:v1.2.3"),
        ("image", "python:3.11-slim"),
        ("image", "data:image/png;base64,iVBORw0KGgo="),
        ("src", "src/main.rs"),
        ("src", "app.js"),
        ("src", "EUR"),
        ("target", "main"),
        ("target", "origin/main"),
        ("target", "v1.2.3"),
        ("target", "es2020"),
        ("target", "x86_64-unknown-linux-gnu"),
        ("target", "HEAD~1"),
        ("target", "deploy:production"),
        ("address", "10 Downing Street, London"),
        ("address", "221B Baker Street"),
        ("address", "someone@example.com"),
        ("address", "0x742d35Cc6634C0532925a3b844Bc454e4438f44e"),
        ("address", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"),
        ("address", "8.8.8.8"),
        ("address", "A1:B7"),
        ("location", "Berlin"),
        ("location", "52.52,13.405"),
        ("location", "New York, NY 10001"),
        ("location", "us-east-1"),
        ("location", "Room 10.1"),
        ("server", "example.com"),
        ("server", "production"),
        ("server", "smtp.example.com:587"),
        ("destination", "TXL"),
        ("resource", "users/42"),
        ("icon", "star"),
        ("video", "dQw4w9WgXcQ"),
        ("node", "node-3"),
        ("id", "2852039166"),
        ("user_id", "2130706433"),
        ("order", "3232235777"),
        ("phone", "2130706433"),
        ("hash", "0xa9fea9fe"),
        ("color", "0x7f0000"),
        ("version", "127.1"),
        ("version", "10.15"),
        ("version", "10.0.19041.1"),
        ("version", "v10.1.2"),
        ("python", "3.11"),
        ("date", "10.1.2024"),
        ("date", "2024-01-12T15:00:58Z"),
        ("time", "12:30"),
        ("ratio", "16:9"),
        ("price", "10.50"),
        ("range", "1-10"),
        ("cidr", "10.0.0.0/8"),
        ("subnet", "192.168.1.0/24"),
        ("fraction", "1/2"),
        ("path", "src/lib.rs:10:5"),
        ("file", "settings.local"),
        ("name", ".env.local"),
        ("name", "settings.local.json"),
        ("name", "internal"),
        ("name", "internal/notes"),
        ("name", "foo.internal.md"),
        ("package", "@scope/name"),
        ("package", "lodash@4.17.21"),
        ("package", "com.example.internal.util"),
        ("import", "golang.org/x/internal/abi"),
        ("repo", "org/repo"),
        ("query", "how to open localhost in a browser"),
        ("query", "what is 127.1 in decimal"),
        ("query", "and/or TCP/IP n/a"),
        ("query", "price < 10.5 or 1/2 off"),
        ("text", "localhost is a word here"),
        ("text", "At 12:30 on 1.2.2024, version 1.2.3, src/main.rs:10, ratio 3:4"),
        ("text", "// a comment // another\n/* and */ 10/2 = 5"),
        ("text", "C:\\Users\\me\\file.txt"),
        ("text", "see https://example.com/a, and https://example.org."),
        ("text", "Room 10.1, floor 2; call 555-0100"),
        ("text", "the ratio is 2:1 and http: is a prefix"),
        ("content", "fn main() { let x = 10.0 / 3.0; } // done"),
        ("content", "a:b c:d e/f g\\h"),
        ("message", "über café naïve 日本語 テスト"),
        ("title", "Release 10.0.1 notes"),
        ("selector", "#main > .item:nth-child(2)"),
        ("selector", "div.local"),
        ("xpath", "//div[@id='x']/a"),
        ("xpath", "//a"),
        ("regex", "\\\\d+\\\\.\\\\d+"),
        ("glob", "**/*.rs"),
        ("script_name", "build:prod"),
        ("key", "user:1000:profile"),
        ("mime", "text/html"),
        ("cron", "0 0 * * 0"),
        ("arn", "arn:aws:s3:::bucket/key"),
        ("urn", "urn:isbn:0451450523"),
        ("doi", "10.1000/xyz123"),
        ("doi", "10.1038/s41586-020-2649-2"),
    ];
    let mut all: Vec<Value> = texts.iter().map(|(key, text)| json!({*key: text})).collect();
    all.extend([
        json!({"page": 2}),
        json!({"page": 0}),
        json!({"id": 2852039166_u64}),
        json!({"image": {"width": 1024, "height": 768, "id": 2130706433_u64}}),
        json!({"site": {"id": 167772161, "name": "Main"}}),
        json!({"pages": [1, 2, 3]}),
        json!({"link": {"text": "Example", "href": "https://example.com/"}}),
        json!({"target": {"branch": "main", "count": 5}}),
        json!({"timestamp": 1700000000, "limit": 16777217}),
    ]);
    all
}

#[test]
fn addresses_inside_are_refused_under_every_key() {
    let mut passed = Vec::new();
    for spelling in INSIDE {
        for key in KEYS {
            for arguments in [
                json!({*key: spelling}),
                json!({*key: ["https://example.com/", spelling]}),
                json!({"o": {*key: {"value": spelling}}}),
            ] {
                if passes(&arguments) {
                    passed.push(arguments.to_string());
                }
            }
        }
    }
    assert!(INSIDE.len() + INSIDE_ANYWHERE.len() >= 95);
    assert!(passed.is_empty(), "{} passed:\n{}", passed.len(), passed.join("\n"));
    let passed: Vec<&&str> = INSIDE_ANYWHERE.iter().filter(|text| passes(&json!({"anything": text}))).collect();
    assert!(passed.is_empty(), "{passed:?}");
    let keys = ["text", "message", "content", "prompt", "x", "query", "url", "name"];
    let all = METADATA.iter().flat_map(|name| keys.iter().map(move |key| json!({*key: name})));
    let passed: Vec<Value> = all.filter(passes).collect();
    assert!(passed.is_empty(), "{passed:?}");
}

#[test]
fn numbers_are_addresses_where_one_is_wanted() {
    for arguments in [
        json!({"host": 2130706433_u64}),
        json!({"url": 2852039166_u64}),
        json!({"address": 2852039166_u64}),
        json!({"link": {"value": 2130706433_u64}}),
        json!({"host": 127.1}),
    ] {
        assert!(!passes(&arguments), "passed: {arguments}");
    }
}

#[test]
fn honest_arguments_pass() {
    let table = honest();
    assert!(table.len() >= 100, "{}", table.len());
    let refused: Vec<String> = table.iter().filter(|arguments| !passes(arguments)).map(Value::to_string).collect();
    assert!(refused.is_empty(), "{} refused:\n{}", refused.len(), refused.join("\n"));
}

/// What stands behind the scheme of an address is its path, also behind a blank and without a slash.
#[test]
fn addresses_without_slashes_are_places() {
    let inside = checks_from("/srv/ok", &[], &json!({}), &[json!({"paths": ["/srv/ok/**"]})]);
    let outside = [
        "docs: /etc/passwd",
        "docs: ~/x",
        "docs: $HOME/x",
        "docs:\u{a0}/etc/passwd",
        "docs: file:///etc/passwd",
        "w: /etc/passwd",
        "docs:/etc/passwd",
        "docs:x?p=+/etc/passwd",
        "docs:x?p=%22/etc/passwd%22",
    ];
    assert_hostile(&inside, &outside.map(|uri| json!({"uri": uri})));
    assert_hostile(&inside, &[json!({"topic": "docs: file:///etc/passwd"})]);
    assert_honest(&inside, &["docs:intro", "docs:guide/one", "note: a sentence"].map(|uri| json!({"uri": uri})));
    assert_honest(&inside, &[json!({"topic": "docs: what is new"})]);
    let denied = checks_from("/srv/ok", &[], &json!({}), &[json!({"deny_paths": ["**/.env"]})]);
    assert_hostile(&denied, &["docs:.env", "docs:%2eenv", "docs:sub/.env"].map(|uri| json!({"uri": uri})));
}

#[test]
fn relative_paths_may_begin_at_folders_of_the_same_call() {
    let limited =
        checks(&[], &json!({}), &[json!({"paths": ["/project/**"], "deny_paths": ["/project/app/private/**"]})]);
    assert_hostile(
        &limited,
        &[
            json!({"repo_path": "/project", "file": "../etc/secret"}),
            json!({"repo_path": "/project/app", "file": "private/key"}),
            json!({"repo_path": "app", "file": "private/key"}),
            json!({"workspace": "./app", "file": "private/key"}),
            json!({"source": "/project/app", "file": "private/key"}),
            json!({"workspace": "sub/..", "file": "../../etc/secret"}),
            json!({"workspace": "/project/app", "command": "cat private/key"}),
            json!({"options": {"root": "file:///project/app"}, "file": "private/key"}),
        ],
    );
    let honest = [
        json!({"repo_path": "/project/app", "file": "src/key"}),
        json!({"repo_path": "/project/app", "file": "lib/../x.rs"}),
        json!({"source": "/project/a.txt", "destination": "/project/b.txt"}),
        json!({"old_path": "src/a.rs", "new_path": "src/b.rs"}),
        json!({"folder": "lib", "filename": "a.rs"}),
        json!({"paths": (0..40).map(|index| format!("/project/{index}.txt")).collect::<Vec<_>>()}),
        json!({"paths": (0..40).map(|index| format!("src/{index}.rs")).collect::<Vec<_>>()}),
    ];
    assert_honest(&limited, &honest);
}

#[test]
fn several_arguments_do_not_lead_outside_together() {
    let checks_of = |paths: &[&str]| checks_from("/r/me/projects/app", &[], &json!({}), &[json!({ "paths": paths })]);
    let limited = checks_of(&["/r/me/**"]);
    let fillers: Vec<String> = (0..16).map(|number| format!("/r/me/x/y/{number}.txt")).collect();
    assert_hostile(
        &limited,
        &[
            json!({"root": "/r/me/projects", "directory": "..", "filename": "../secret"}),
            json!({"parts": ["..", "..", "..", "secret"]}),
            json!({"repo_path": "a b/../../..", "file": "../secret"}),
            json!({"others": fillers, "workspace": "/r/me/x.git", "file": "../../secret"}),
            json!({"a": {"b": ["..", {"c": ".."}]}, "file": "../secret"}),
            json!({"root": "file://localhost/r/me", "file": "../secret"}),
            json!({"path": "/proc/self/cwd/x"}),
            json!({"source": "..", "query": "..", "file": "../secret"}),
            json!({"path": "/r/me/a.txt", "name": "../secret"}),
            json!({"vault": "../..", "title": "x y/../../secret"}),
            json!({"root": "../..", "files": "a.txt, ../secret"}),
        ],
    );
    assert_honest(
        &limited,
        &[
            json!({"files": ["../a", "../b", "../../c", "x/../../d"]}),
            json!({"root": "/r/me/projects", "directory": "..", "filename": "notes"}),
            json!({"old": "../lib/a.rs", "new": "../lib/b.rs"}),
            json!({"parts": ["..", "..", "notes"]}),
            json!({"others": fillers, "file": "src/a.rs"}),
            json!({"path": "src/a.rs", "message": "Moved up from the folder below"}),
        ],
    );
    // A limit to single files says nothing of what lies beside them.
    assert_honest(&checks_of(&["/r/me/projects/notes.txt"]), &[json!({"path": "../notes.txt"})]);
}
