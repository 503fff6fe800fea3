//! Documents in a text under a key that nothing is known of, zero bytes, and what only looks like a path.

use serde_json::{Value, json};
use switchboard_validators::arguments::Checks;

use crate::common::{BASE, assert_honest, assert_hostile, checks_from};

fn limited(base: &str, scope: &Value) -> Checks {
    checks_from(base, &[], &json!({}), std::slice::from_ref(scope))
}

fn paths() -> Value {
    json!({"paths": ["/srv/ok/**"]})
}

#[test]
fn values_of_documents_are_held_to_the_limits() {
    for base in [BASE, "/srv/ok"] {
        assert_hostile(
            &limited(base, &paths()),
            &[
                json!({"x": "a: 1\nfile: /etc/shadow\n"}),
                json!({"x": "- /etc/shadow\n- /etc/passwd"}),
                json!({"x": "[main]\nfile = \"/etc/shadow\""}),
                json!({"x": "{path: /etc/shadow}"}),
                json!({"x": "<file>/etc/shadow</file>"}),
                json!({"x": "<a path=\"/etc/shadow\"/>"}),
                json!({"x": "<?xml version='1.0'?>\n<r><f>&#47;etc/shadow</f></r>"}),
                json!({"x": "<!DOCTYPE r [<!ENTITY e SYSTEM \"file:///etc/shadow\">]><r>&e;</r>"}),
                json!({"x": "a\u{0}/etc/shadow"}),
                json!({"x": "/srv/ok/a\u{0}/etc/shadow"}),
                json!({"x": "a: 1\ncommand: cat /etc/shadow"}),
            ],
        );
    }
    assert_hostile(
        &limited(BASE, &json!({"hosts": ["ok.example"]})),
        &[
            json!({"x": "a: 1\nserver: db1"}),
            json!({"x": "<s host='db1'/>"}),
            json!({"x": "a: 1\nhost: evil.example\nport: 22"}),
            json!({"x": "ok.example\u{0}evil.example"}),
        ],
    );
    assert_hostile(
        &limited(BASE, &json!({"commands": ["ls"]})),
        &[
            json!({"x": "command: rm -rf /tmp/x"}),
            json!({"x": "steps:\n  - run: rm -rf /tmp/x\n"}),
            json!({"x": "run:\n  - rm -rf /tmp/x\n"}),
            json!({"x": "<exec command=\"rm -rf /\"/>"}),
            json!({"x": "<command>rm -rf /</command>"}),
            json!({"command": "ls -l\u{0}rm -rf /"}),
        ],
    );
}

#[test]
fn what_only_looks_like_a_path_passes() {
    for base in [BASE, "/srv/ok"] {
        let checks = limited(base, &paths());
        assert_honest(
            &checks,
            &[
                json!({"image": "ghcr.io/org/x:1"}),
                json!({"image": "docker.io/library/nginx:latest"}),
                json!({"image": format!("localhost:5000/a/b@sha256:{}", "0123456789abcdef".repeat(4))}),
                json!({"xpath": "//div/a"}),
                json!({"xpath": "//div[@class='x']/a/text()"}),
                json!({"selector": "//button[1]"}),
                json!({"xpath": "/html/body/div"}),
                json!({"x": "~5 minutes"}),
                json!({"estimate": "~10s"}),
                json!({"x": "name: Ann\ncity: Berlin"}),
                json!({"x": "<a href=\"/about\">About</a>"}),
                json!({"x": "Dear all,\nthe meeting is at 5: see you"}),
            ],
        );
        assert_hostile(
            &checks,
            &[
                json!({"image": "/etc/shadow"}),
                json!({"image": "a/../../etc/shadow"}),
                json!({"image": "ghcr.io/../../etc/x:1"}),
                json!({"xpath": "/etc/shadow"}),
                json!({"xpath": "//etc/shadow"}),
                json!({"selector": "../x"}),
                json!({"x": "~5/x"}),
                json!({"x": "~root"}),
            ],
        );
    }
    assert_honest(
        &limited(BASE, &json!({"commands": ["ls"]})),
        &[json!({"x": "note: remove it"}), json!({"x": "name: Ann\ncity: Berlin"}), json!({"x": "<b>bold</b>"})],
    );
    assert_honest(
        &limited(BASE, &json!({"hosts": ["ok.example"]})),
        &[json!({"x": "name: Ann\ncity: Berlin"}), json!({"x": "note: see the docs"}), json!({"x": "<b>bold</b>"})],
    );
}

/// A mark in front does not make a word of `argv` another file.
#[test]
fn single_words_of_argv_hide_no_path() {
    for base in [BASE, "/srv/ok"] {
        let words = ["+/etc/x", "#/etc/x", "--/etc/x", "@/etc/x"];
        let lists = words.iter().chain(&["-f\\etc\\x"]).map(|word| json!({"argv": [word]}));
        // In a line, a shell takes the marks away that stand before letters.
        let cases: Vec<Value> = lists.chain(words.iter().map(|word| json!({"argv": word}))).collect();
        assert_hostile(&limited(base, &paths()), &cases);
    }
}

/// Each line is read by itself: an odd one hides nothing, and neither does the length of a text.
#[test]
fn no_line_makes_a_document_unread() {
    let file = [
        "my path: /etc/passwd\nb: 1\n",
        "a: 1\nnäme: x\npath: /etc/passwd\n",
        "; c\npath=/etc/passwd\nb=1\n",
        "; c\npath=../x y\nb=1\n",
        "%YAML 1.2\n---\na: 1\npath: /etc/passwd\n",
        "%TAG ! x\n---\n!!map\npath: /etc/passwd\na: b\n",
        "a: 1\n<<: *d\npath: /etc/passwd\n",
        "export FILE=/etc/passwd\nexport A=b\n",
        "a: 1\n? path\n: /etc/passwd\n",
        "a: 1\nb: {file: /etc/passwd}\n",
        "{a: {path: /etc/passwd}}",
        "a: 1\nb: [ /etc/passwd ]\n",
        "a = 1\nx = { path = \"/etc/passwd\" }\n",
        "paths = [\n  \"/etc/passwd\",\n]\n",
        "// x\n{\"path\":\"/etc/passwd\"}",
        "{\"a\":1, /* c */ \"path\":\"/etc/passwd\"}",
        "{\"a\":1}\n{\"path\":\"/etc/passwd\"}",
        "{\"path\": \"/etc/passwd\",}",
        "{path:'/etc/passwd'}",
        "{a:1,b:{path:'/etc/passwd'}}",
        "{a: 1, b: [/etc/passwd]}",
        "root /etc;\ninclude /etc/passwd;\n",
        "source_file => \"/etc/passwd\"\na => 1\n",
        "path := /etc/passwd\na := b\n",
        "'my path': /etc/passwd\nb: 1\n",
        "a: 1\n\"path\" : /etc/passwd\n",
        "a: 1\n- b\npath: /etc/passwd\n--- # x\nc: d",
        "a: 'x\n  y'\npath: /etc/passwd\n",
        "a: [b,\n c]\npath: /etc/passwd\n",
        "a: {b: c,\nd: e}\npath: /etc/passwd\n",
        "a: 1\npath: /etc/passwd # note\n",
        "a: 1\npath: !!str /etc/passwd\n",
        "a: 1\npath: &x \"/etc/passwd\"\n",
        "a: 1\npath:\n  /etc/passwd\n",
        "a: 1\nfiles:\n- x\n- /etc/passwd\n",
        "a: 1\npath: \"\\x2fetc\\u002fpasswd\"\n",
        "a: 1\nx: ../../secret\n",
        "a: 1\nx: ~/.ssh/id\n",
        "a: 1\nx: file:///etc/passwd\n",
        "apiVersion: v1\nkind: Pod\nspec:\n  volumes:\n  - name: x\n    hostPath:\n      path: /\n",
        "apiVersion: v1\nkind: Pod\nspec:\n  volumes:\n  - hostPath: {path: /opt2}\n",
        "apiVersion: v1\nkind: Pod\npath: /etc/passwd\n",
        "services:\n  a:\n    volumes:\n      - /etc:/x:ro\n",
        "services:\n  a:\n    volumes:\n      - ../../x:/x\n",
        "<file>&#x002f;etc/passwd</file>",
        "<file>&#0047;etc/passwd</file>",
        "\u{feff}<file>/etc/passwd</file>",
        "<a path=/etc/passwd />",
        "<a><b>path: /etc/passwd\nc: d</b></a>",
        "a: 1\n<file>/etc/passwd</file>\n",
    ];
    let long =
        |key: &str, count: usize| (0..count).fold(String::new(), |text, at| text + &format!("{key}{at}: v{at}\n"));
    for base in [BASE, "/srv/ok"] {
        let cases = file.iter().flat_map(|text| [json!({"config": text}), json!({"x": {"value": text}})]);
        assert_hostile(&limited(base, &paths()), &cases.collect::<Vec<_>>());
        assert_hostile(
            &limited(base, &paths()),
            &[
                json!({"value": long("k", 1_030) + "file: /etc/passwd\n"}),
                json!({"value": long("some_longer_key_", 20_000) + "file: /etc/passwd\n"}),
                json!({"value": long("k", 70_000)}),
            ],
        );
    }
    assert_hostile(
        &limited(BASE, &json!({"hosts": ["ok.example"]})),
        &[
            json!({"config": "my key: 1\nserver: evil\n"}),
            json!({"config": "{a: {server: evil}}"}),
            json!({"config": "{\"server\": \"evil\",}"}),
            json!({"config": "a: 1\nb: {host: evil}\n"}),
        ],
    );
    assert_hostile(
        &limited(BASE, &json!({"commands": ["ls"]})),
        &[
            json!({"config": "my key: 1\ncommand: rm -rf x\n"}),
            json!({"config": "{\"command\": \"rm -rf x\",}"}),
            json!({"config": "{a: {command: rm -rf x}}"}),
            json!({"config": "a: 1\n<<: *d\nrun: rm -rf x\n"}),
            json!({"programs": ["rm"]}),
        ],
    );
}

/// Documents of real life.
#[test]
fn documents_that_name_no_place_outside_pass() {
    let anywhere = [
        "apiVersion: networking.k8s.io/v1\nkind: Ingress\nspec:\n  rules:\n  - host: a.example\n    http:\n      paths:\n      - path: /\n        pathType: Prefix\n      - path: /healthz\n        pathType: Exact\n",
        "apiVersion: apps/v1\nkind: Deployment\nspec:\n  template:\n    spec:\n      containers:\n      - name: x\n        image: nginx:1.25\n        livenessProbe:\n          httpGet:\n            path: /healthz\n            port: 80\n        volumeMounts:\n        - name: v\n          mountPath: /cache\n",
        "apiVersion: v1\nkind: ConfigMap\ndata:\n  a.conf: |\n    listen 80;\n    index x;\n",
        "kind: ConfigMap\ndata:\n  a.conf: |\n    location x;\n",
        "openapi: 3.0.0\ninfo:\n  title: x\npaths:\n  /users/{id}:\n    get:\n      parameters:\n      - $ref: '#/components/parameters/id'\n",
        "services:\n  web:\n    image: nginx:1\n    ports:\n      - 80:80\n      - \"8080:80\"\n    environment:\n      - A=b\n    depends_on: [db]\n",
        "services:\n  db:\n    image: postgres:16\n    volumes:\n      - data:/var/lib/postgresql/data\nvolumes:\n  data:\n",
        "name: CI\non:\n  push:\n    branches: [main]\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: actions/checkout@v4\n      - run: npm test\n      - name: Build\n        run: |\n          npm ci\n          npm run build\n",
        "[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\nserde = { version = \"1\", features = [\"derive\"] }\n",
        "[project]\nname = \"x\"\nrequires-python = \">=3.11\"\ndependencies = [\n  \"httpx>=0.27\",\n  \"rich\",\n]\n\n[tool.ruff]\nline-length = 100\n",
        "# settings\nDEBUG=true\nPORT=8080\nDATABASE_URL=postgres://u:p@db/x\nSECRET_KEY='a b'\n",
        "[main]\nname = x\n; a comment\nlevel = 3\n",
        "files:\n\nname: x\n",
        "directory:\n  owner: ann\nsize: 1\n",
        "output:\n  format: json\nname: x\n",
        "path: {}\nname: x\n",
        "<a href=\"/about\">About</a>",
        "<html><head><link href=\"/static/x.css\" rel=\"stylesheet\"></head><body><img src=\"/logo.png\"></body></html>",
        "<project><modelVersion>4.0.0</modelVersion><groupId>org.x</groupId><artifactId>y</artifactId></project>",
        "Dear all,\nthe meeting is at 5: see you\nAnn",
        "Plan:\n1. Read the code\n2. Write tests (unit, \"it\")\n3. Done = shipped\n",
        "## Notes\n\n- a: b\n- [link](/about)\n- `cat /etc/hosts` shows it\n",
        "function f(a) {\n  return a / 2;\n}\nconst x = f(4);\n",
        "a,b,c\n1,2,3\n4,5,6\n",
        "SELECT a,\n  b\nFROM t\nWHERE c = 'x'\n",
        "{\n  // comment\n  \"name\": \"x\",\n  \"version\": \"1.0.0\",\n}",
        "colors = { red = \"#f00\", blue = \"#00f\" }\nsizes = [1, 2, 3]\n",
    ];
    for base in [BASE, "/srv/ok"] {
        assert_honest(&limited(base, &paths()), &anywhere.map(|text| json!({"config": text})));
    }
    // Relative names lie inside where their server does.
    let relative = [
        "on:\n  push:\n    paths:\n      - src/a.ts\n      - 'docs/**'\n      - '!docs/x.md'\njobs:\n  a:\n    runs-on: ubuntu-latest\n",
        "files:\n  - src/a.ts\nname: x\n",
        "apiVersion: v1\nkind: Pod\nspec:\n  volumes:\n  - name: x\n    hostPath:\n      path: /srv/ok/data\n",
        "services:\n  web:\n    build: ./web\n    volumes:\n      - ./data:/app/data\n      - ./x.conf:/etc/x.conf:ro\n",
        "[[bin]]\nname = \"x\"\npath = \"src/main.rs\"\n",
        "[tool.pytest.ini_options]\ntestpaths = [\"tests\"]\npythonpath = \".\"\n",
        "{\n  \"name\": \"x\",\n  \"files\": [\"dist\"],\n  \"main\": \"dist/index.js\",\n}",
        "path: src\nfile: my file.txt\nb: 1\n",
    ];
    assert_honest(&limited("/srv/ok", &paths()), &relative.map(|text| json!({"config": text})));
}

/// What has a colon in it is no drive.
#[test]
fn addresses_images_and_tests_are_no_drives() {
    for base in [BASE, "/srv/ok"] {
        assert_honest(
            &limited(base, &paths()),
            &[
                json!({"repository": "git@github.com:a/b.git"}),
                json!({"repo": "git@gitlab.example:group/sub/b.git"}),
                json!({"image": "org/app:1.0"}),
                json!({"tag": "org/app:1.0"}),
                json!({"image": format!("library/postgres@sha256:{}", "0123456789abcdef".repeat(4))}),
                json!({"target": "//pkg:all"}),
                json!({"output": "custom-columns=A:.metadata.name"}),
            ],
        );
        assert_hostile(
            &limited(base, &paths()),
            &[
                json!({"repository": "git@host.example:../../x"}),
                json!({"repository": "git@host.example:/etc/x"}),
                json!({"target": "../a.py::test_x"}),
                json!({"target": "/etc/a.py::test_x"}),
                json!({"target": "//etc/passwd"}),
                json!({"target": "//../x:all"}),
                json!({"image": "../x:1.0"}),
                json!({"xpath": "document('/etc/x.xml')//a"}),
            ],
        );
    }
    let tests = [json!({"target": "tests/a.py::test_x"}), json!({"target": "tests/a.py::A::test_x[1-b]"})];
    assert_honest(&limited("/srv/ok", &paths()), &tests);
}

#[test]
fn what_is_denied_stays_so_in_a_revision_and_behind_signs() {
    let scope = json!({
        "paths": ["/srv/ok", "/srv/ok/**"],
        "deny_paths": ["**/.env", "**/secret*", "/srv/ok/private/**"],
    });
    let checks = limited("/srv/ok", &scope);
    let files = [
        "HEAD:.env",
        "main:.env",
        ":.env",
        ":0:.env",
        "HEAD:./.env",
        "HEAD:secret.txt",
        "HEAD~2:private/x.txt",
        "0123abc:.env",
    ];
    let cases = files.iter().flat_map(|file| [json!({"revision": file}), json!({"target": file}), json!({"x": file})]);
    assert_hostile(&checks, &cases.collect::<Vec<_>>());
    assert_hostile(
        &checks,
        &[
            json!({"x": "a=.env"}),
            json!({"opts": "-f.env"}),
            json!({"opts": "--file=.env"}),
            json!({"rev": "feature/x:.env"}),
        ],
    );
    let git = json!({"name": "git_show", "description": "Shows a commit of a git repository"});
    assert_hostile(&checks_from("/srv/ok", &[], &git, &[scope]), &[json!({"x": "feature/x:.env"})]);
    assert_honest(
        &checks,
        &[
            json!({"revision": "HEAD:src/main.rs"}),
            json!({"revision": "HEAD"}),
            json!({"revision": "main..feature/x"}),
            json!({"x": "a=b"}),
            json!({"opts": "-v"}),
            json!({"x": "note: .env"}),
        ],
    );
}

/// Of a mount the place on this machine counts, and not the one in the container.
#[test]
fn mounts_are_judged_by_the_place_that_they_mount() {
    let limited = limited("/srv/ok", &json!({"paths": ["/srv/ok", "/srv/ok/**"], "deny_paths": ["**/.env"]}));
    assert_honest(
        &limited,
        &[
            json!({"image": "node:20", "volumes": ["/srv/ok:/app", "/srv/ok/data:/data:ro"]}),
            json!({"volumes": ["./src:/app/src", "cache:/var/cache/npm"]}),
            json!({"binds": "/srv/ok/a:/etc/a.conf"}),
        ],
    );
    assert_hostile(
        &limited,
        &[
            json!({"volumes": ["/etc:/app"]}),
            json!({"volumes": ["/srv/ok:/app", "/var/run/docker.sock:/var/run/docker.sock"]}),
            json!({"volumes": ["../x:/app"]}),
            json!({"volumes": ["/srv/ok/../../etc:/app"]}),
            json!({"volumes": ["~/.ssh:/keys:ro"]}),
            json!({"volumes": ["/srv/ok/.env:/app/.env"]}),
            json!({"volumes": ["/etc"]}),
            json!({"volumes": ["/srv/ok:/../etc"]}),
            json!({"volumes": ["file:/etc/shadow"]}),
            json!({"volumes": ["FILE:///etc/shadow"]}),
            json!({"x": "/srv/ok:/etc/shadow"}),
            json!({"config": "{\"paths\": {\"@/*\": [\"./../x/*\"]}}"}),
        ],
    );
}

/// Names of what is done stand in keys, in the cells of tables, and under keys that say which document it is.
#[test]
fn keys_cells_and_named_documents_are_read() {
    let checks = limited("/srv/ok", &paths());
    let mut hostile = Vec::new();
    for key in ["../x", "/etc/passwd", "~/.ssh/id", "..", "a/../../x", "C:\\x", "$HOME/x", "%2e%2e/x"] {
        hostile.push(json!({"doc": format!("{key}: 1\nb: 2\n")}));
        hostile.push(json!({"doc": format!("\"{key}\": {{mode: read}}\nb: 2\n")}));
        hostile.push(json!({"doc": format!("[{key}]\nmode = 1\n")}));
    }
    for table in [
        "action,file\nread,/etc/shadow",
        "a;b\n1;../x",
        "a|b\n1|~/.ssh/id_rsa",
        "name\tvalue\nx\t/etc/shadow",
        "name,value\nx,\"/etc/shadow\"",
        "op,path\nread,/secret/x",
    ] {
        hostile.extend([json!({"csv": table}), json!({"rows": table}), json!({"x": table}), json!({"input": table})]);
    }
    for text in [
        "import \"/etc/shadow\"",
        "{{ file '/etc/shadow' }}",
        "@import url(/etc/shadow)",
        "#include </etc/shadow>",
        "a::/etc/shadow\nb::/etc/x",
        "(/etc/shadow)\n(x)",
        "k,v\n\"a\nb\",/etc/shadow\n",
        "# c\na,/etc/shadow\nb,x\n",
        "a: <%= File.read('/etc/shadow') %>\nb: c",
    ] {
        hostile.extend([json!({"config": text}), json!({"x": text})]);
    }
    for text in
        ["- /etc/shadow\n- x", "a: !include /etc/shadow\nb: c", "a => /etc/shadow\nb => x", "<a>/etc/shadow</a>\n<b/>"]
    {
        hostile.extend([json!({"input": text}), json!({"source": text}), json!({"x": text})]);
    }
    for document in [
        "services:\n  x:\n    env_file: ../private/.env\n",
        "services:\n  x:\n    volumes:\n      - /etc:/e\n",
        "volumes:\n  d:\n    driver_opts:\n      device: /etc\n",
        "secrets:\n  s:\n    file: /etc/shadow\n",
    ] {
        let keys = ["compose", "compose_yaml", "yaml", "json", "toml"].into_iter();
        hostile.extend(keys.map(|key| json!({ key: document })));
    }
    assert_hostile(&checks, &hostile);
    assert_honest(
        &checks,
        &[
            json!({"observation": "It reads '/etc/app.conf' (and \"/var/log/x\")."}),
            json!({"task": "look at /etc/app.conf, then restart"}),
            json!({"csv": "date,route,ms\n2026-11-19,/api/login,12\n"}),
            json!({"csv": "name,email\nAnn,ann@example.org\n"}),
            json!({"rows": "a;b\n1;2/3\n"}),
            json!({"csv": "file,size\na.txt,12\nsub/b.txt,9\n"}),
            json!({"table": "| Route | What |\n|---|---|\n| /users | list |\n"}),
            json!({"doc": "openapi: 3.0.0\npaths:\n  /users/{id}:\n    get:\n      summary: x\n"}),
            json!({"yaml": "name: x\npath: sub/dir\n"}),
        ],
    );
}

/// One line is a document where its key says so, or where it is written as one.
#[test]
fn documents_of_one_line_are_read() {
    for base in [BASE, "/srv/ok"] {
        let limits = limited(base, &paths());
        for key in ["yaml", "config", "values", "spec", "manifest", "compose", "settings", "definition", "x"] {
            assert_hostile(
                &limits,
                &[
                    json!({key: "volumes: [/etc:/x]"}),
                    json!({key: "a: 1\nvolumes: [/etc:/x]"}),
                    json!({key: "hostPath: {path: /etc}"}),
                    json!({key: "a: !include /etc/x"}),
                    json!({key: "path: !!str /etc/x"}),
                    json!({key: "path: &a /etc/x"}),
                    json!({key: "- /etc/x"}),
                    json!({key: "path: \"\\x2fetc\\x2fx\""}),
                    json!({key: "a: {/etc/x: b}"}),
                ],
            );
        }
        assert_hostile(
            &limits,
            &[
                json!({"yaml": "path: /etc/x"}),
                json!({"yaml": "path: file:///etc/x"}),
                json!({"yaml": "path: ~/x"}),
                json!({"toml": "file = /etc/x"}),
            ],
        );
        assert_honest(
            &limits,
            &[
                json!({"yaml": "name: build"}),
                json!({"yaml": "path: /srv/ok/x"}),
                json!({"config": "volumes: [/srv/ok/a]"}),
                json!({"note": "Note: \"see above\""}),
                json!({"x": "title: [draft] notes"}),
                json!({"x": "status: \"open\""}),
                json!({"x": "- \"quoted\" item"}),
                json!({"query": "label:\"needs review\" is:open"}),
                json!({"x": "range: [0, 5]"}),
                json!({"x": "time: {\"from\": \"10:30\", \"to\": \"11:00\"}"}),
            ],
        );
    }
    assert_hostile(
        &limited(BASE, &json!({"hosts": ["ok.example"]})),
        &[json!({"yaml": "host: evil.example"}), json!({"config": "a: [\"https://evil.example/x\"]"})],
    );
}

/// What a template includes is held to the limits, under whatever key it stands.
#[test]
fn what_templates_include_is_held_to_the_limits() {
    let limits = limited(BASE, &json!({"paths": ["/srv/ok/**"], "deny_paths": ["**/.env"]}));
    for key in ["template", "page_template", "formula", "x"] {
        assert_hostile(
            &limits,
            &[
                json!({key: "{{ file '/etc/shadow' }}"}),
                json!({key: "{% include '/etc/shadow' %}"}),
                json!({key: "{% include 'file:///etc/shadow' %}"}),
                json!({key: "{% include \"~/.ssh/id_rsa\" %}"}),
                json!({key: "Hello\n<%= File.read('../../etc/shadow') %>"}),
                json!({key: "{% include './.env' %}"}),
            ],
        );
        assert_honest(
            &limits,
            &[
                json!({key: "{% include '/srv/ok/header.html' %}"}),
                json!({key: "Hello {{ name | default('you') }}, {{ date 'YYYY' }}"}),
                json!({key: "{% if a == 'b' %}it's{% endif %}"}),
            ],
        );
    }
}
