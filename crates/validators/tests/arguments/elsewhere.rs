//! Limits of paths where something else than a path of this machine begins as one: resources of a cluster, patches of JSON, pages,
//! expressions, programs, routes.

use std::sync::Arc;

use serde_json::{Value, json};
use switchboard_policy::schema::Schema;
use switchboard_validators::arguments::Checks;

use crate::common::{assert_honest, assert_hostile, checks_from, raw};

/// A tool of this name under a limit of paths, with a schema that declares nothing more than its members.
fn tool(name: &str, members: &[&str]) -> Checks {
    let properties: serde_json::Map<String, Value> = members.iter().map(|key| ((*key).to_owned(), json!({}))).collect();
    let schema = json!({"type": "object", "properties": properties});
    let scope = json!({"paths": ["/srv/ok/**"]});
    let checks = checks_from("/srv/ok", &[], &json!({"name": name, "inputSchema": schema}), &[scope]);
    checks.with_schema(Some(Arc::new(Schema::read(&raw(&schema)))))
}

const MANIFEST: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  containers:\n  - name: web\n    \
    image: ghcr.io/acme/web:1\n    command: [\"/bin/sh\", \"-c\", \"exec /app/server\"]\n    args:\n    - --config=/etc/app/x.yaml\n    \
    workingDir: /app\n    env:\n    - {name: CONF, value: /etc/app.conf}\n    livenessProbe:\n      httpGet: {path: /healthz}\n    \
    volumeMounts:\n    - mountPath: /etc/app\n      name: c\n";

fn pod(volume: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "spec": {
        "containers": [{"name": "x", "command": ["/bin/sh", "-c", "nginx -c /etc/nginx.conf"], "workingDir": "/app",
            "volumeMounts": [{"mountPath": "/data"}], "env": [{"name": "A", "value": "/etc/a"}]}],
        "volumes": [volume],
    }})
}

#[test]
fn the_paths_in_resources_of_a_cluster_are_those_of_containers() {
    let checks = tool("kubectl_apply", &["manifest", "resource", "namespace"]);
    assert_honest(
        &checks,
        &[
            json!({"manifest": MANIFEST}),
            json!({"manifest": pod(&json!({"emptyDir": {}}))}),
            json!({"manifest": pod(&json!({"hostPath": {"path": "/srv/ok/data"}}))}),
            json!({"manifest": pod(&json!({})).to_string()}),
            json!({"resource": {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress",
                "spec": {"rules": [{"host": "a.example", "http": {"paths": [{"path": "/api"}]}}]}}}),
        ],
    );
    assert_hostile(
        &checks,
        &[
            json!({"manifest": "/etc/shadow"}),
            json!({"manifest": ["/etc/shadow"]}),
            json!({"file": "/etc/x.yaml"}),
            json!({"resource": {"path": "/secret/x.yaml"}}),
            json!({"options": {"apiVersion": "v1", "kind": "Pod", "kubeconfig": "/secret/config"}}),
            json!({"apiVersion": "v1", "kind": "Pod", "kubeconfig": "/secret/config"}),
            json!({"manifest": format!("{MANIFEST}  volumes:\n  - name: h\n    hostPath:\n      path: /etc\n")}),
            json!({"manifest": format!("{MANIFEST}  volumes:\n  - {{name: h, hostPath: {{path: /etc}}}}\n")}),
            json!({"manifest": format!("{MANIFEST}resources:\n- ../../x\n")}),
            json!({"manifest": format!("{MANIFEST}files:\n- /etc/shadow\n")}),
            json!({"manifest": pod(&json!({"hostPath": {"path": "/etc"}}))}),
            json!({"manifest": pod(&json!({"local": {"path": "/etc"}}))}),
            json!({"manifest": pod(&json!({"hostPath": {"path": "/etc"}})).to_string()}),
            json!({"manifest": {"apiVersion": "v1", "kind": "Config", "users": [{"client-key": "/secret/x/key"}]}}),
            json!({"manifest": "apiVersion: v1\nkind: Config\nusers:\n- client-key: /secret/x/key\n"}),
            json!({"manifest": "apiVersion: x/v1\nkind: Kustomization\nresources:\n- /etc/x.yaml\n"}),
            json!({"manifest": {"apiVersion": "x/v1", "kind": "Kustomization", "resources": ["/etc/x.yaml"]}}),
            json!({"manifest": format!("{MANIFEST}a: &a {{path: /etc/x}}\nhostPath: *a\n")}),
        ],
    );
    // To any other tool the same text may be a list of what is to be done.
    assert_hostile(&tool("run", &["job"]), &[json!({"job": "apiVersion: v1\nkind: Job\nworkingDir: /etc/x\n"})]);
    let helm = tool("helm_upgrade", &["release", "chart", "values", "values_yaml"]);
    assert_honest(
        &helm,
        &[
            json!({"chart": "bitnami/nginx", "values": {"ingress": {"path": "/", "hosts": [{"paths": ["/api"]}]},
                "persistence": {"path": "/data", "mountPath": "/data"}}}),
            json!({"chart": "bitnami/nginx", "values_yaml": "persistence:\n  path: /data\ningress:\n  path: /\n"}),
        ],
    );
    assert_hostile(
        &helm,
        &[
            json!({"chart": "/etc/chart"}),
            json!({"chart": "x/y", "values": {"extraVolumes": [{"hostPath": {"path": "/etc"}}]}}),
            json!({"chart": "x/y", "values": {"persistence": {"hostPath": "/etc/x"}}}),
            json!({"chart": "x/y", "values": {"path": "../../etc"}}),
        ],
    );
}

#[test]
fn pointers_of_patches_of_json_lead_into_a_document() {
    let steps =
        json!([{"op": "replace", "path": "/spec/replicas", "value": 3}, {"op": "move", "from": "/a/b", "path": "/c"}]);
    assert_honest(
        &tool("update_document", &["id", "patch"]),
        &[json!({"id": "1", "patch": steps}), json!({"id": "1", "patch": steps.to_string()})],
    );
    let cluster = tool("kubectl_patch", &["name", "patchData"]);
    assert_honest(
        &cluster,
        &[
            json!({"name": "x", "patchData": [{"op": "replace", "path": "/data/key", "value": "x"}]}),
            json!({"name": "x", "patchData": {"spec": {"containers": [{"workingDir": "/app"}]}}}),
        ],
    );
    let add =
        |path: &str, value: Value| json!({"name": "x", "patchData": [{"op": "add", "path": path, "value": value}]});
    assert_hostile(
        &cluster,
        &[
            add("/spec/volumes/-", json!({"name": "h", "hostPath": {"path": "/etc"}})),
            add("/spec/volumes/0/hostPath/path", json!("/etc")),
            add("/spec/volumes/0/hostPath", json!({"path": "/etc/x"})),
        ],
    );
    let one = |op: &str, from: &str, path: &str| json!({"op": op, "from": from, "path": path});
    let list = |steps: &[Value]| json!({"patch": steps});
    assert_hostile(
        &tool("edit_files", &["patch", "operations"]),
        &[
            json!({"operations": [one("copy", "/secret/a", "/srv/ok/b")]}),
            list(&[one("copy", "/etc/shadow", "/srv/ok/b")]),
            list(&[one("copy", "/secret/a", "/srv/ok/b")]),
            list(&[one("read", "/secret/a", "/secret/b")]),
            list(&[json!({"op": "replace", "path": "/secret/a", "content": "x"})]),
            list(&[json!({"op": "replace", "path": "/secret/../etc", "value": "x"})]),
            list(&[json!({"op": "replace", "path": "/secret/a", "value": "x"})]),
            list(&[json!({"op": "add", "path": "/x", "value": {"path": "/etc/shadow"}})]),
        ],
    );
}

#[test]
fn paths_in_pages_are_routes() {
    let checks = tool("browser_evaluate", &["function", "script", "filename"]);
    let mut honest = Vec::new();
    for code in [
        "document.querySelector('a[href=\"/about\"]').href",
        "window.location = '/login'",
        "() => fetch('/api/users').then(r => r.json())",
        "document.evaluate('//div[@id=\"x\"]/a', document)",
    ] {
        honest.extend([json!({"function": code}), json!({"script": code})]);
    }
    assert_honest(&checks, &honest);
    assert_hostile(
        &checks,
        &[
            json!({"function": "() => fetch('file:///etc/passwd')"}),
            json!({"function": "() => open('/etc/passwd')"}),
            json!({"function": "() => open('..\\/..\\/x')"}),
            json!({"function": "() => 1", "filename": "/about"}),
            json!({"function": "() => 1", "save_as": "/secret/x"}),
            json!({"script": "/secret/x.js"}),
        ],
    );
    // What runs beside the browser opens files.
    assert_hostile(
        &tool("browser_run_code", &["code"]),
        &[json!({"code": "page.screenshot({path: '/secret/x.png'})"})],
    );
}

#[test]
fn programs_name_their_interpreter_and_comments_are_no_paths() {
    let checks = tool("format_code", &["code", "language"]);
    assert_honest(
        &checks,
        &[
            json!({"code": "#!/usr/bin/env python3\nprint(1)\n"}),
            json!({"code": "#!/bin/bash\nset -e\necho hi\n"}),
            json!({"code": "// @ts-check\nconst a = 1;\n"}),
            json!({"code": "/* eslint-disable */\nconst a = 1 / 2;\n"}),
        ],
    );
    assert_hostile(
        &checks,
        &[
            json!({"code": "#!/etc/shadow\nx\n"}),
            json!({"code": "#!/bin/sh\ncat /etc/shadow\n"}),
            json!({"code": "#!/usr/bin/env sh\n. ../../x\n"}),
            json!({"code": "a = 1\n\"/secret/x\"\n"}),
            json!({"code": "a = 1\nopen('/secret/x')\n"}),
            json!({"code": "/secret/x\n/secret/y\n"}),
            json!({"code": "#!/usr/bin/env /secret/x\na\n"}),
            json!({"code": "#!/usr/bin/env -S cat /etc/shadow\na\n"}),
            json!({"code": "a\nopen(\"$HOME/x\")\n"}),
        ],
    );
}

#[test]
fn expressions_and_routes_are_told_by_their_signs() {
    let checks = tool("grep", &["pattern", "note"]);
    let mut honest = Vec::new();
    for text in [
        "(\\w+)\\.(\\w+)\\(",
        "\"\\d+\\.\\d+\"",
        "\\bfoo\\b",
        "\\.ts$",
        "^\\s*import\\s+",
        "\\d{4}-\\d{2}",
        "\\$\\{\\w+\\}",
        "@\\w+/\\w+",
        "https?://[^\\s\"]+",
        "if \\(.*\\) \\{",
    ] {
        honest.extend([json!({"pattern": text}), json!({"regex": text}), json!({"query": text})]);
    }
    honest.extend([
        json!({"note": "/users/{id}"}),
        json!({"note": "~~old~~ new"}),
        json!({"image_name": "ghcr.io/a/b:1"}),
    ]);
    assert_honest(&checks, &honest);
    let mut hostile = Vec::new();
    for text in [
        "\\/etc\\/shadow+",
        "(a|\\/etc\\/x)",
        "{/secret/*,x\\(}",
        "x\\(|/secret/y",
        "\\.\\./x+",
        "\\\\\\\\host\\\\(share)",
        "\\data\\secrets",
        ".*/\\(x\\)",
        "file:\\/\\/\\/etc\\/x+",
        "..\\w+\\x",
        "a\\..\\..\\w+",
    ] {
        hostile.extend([json!({"pattern": text}), json!({"regex": text})]);
    }
    hostile.extend([json!({"note": "/etc/{id}"}), json!({"note": "/users/{id}/../x"}), json!({"note": "/secret/x"})]);
    assert_hostile(&checks, &hostile);
}

#[test]
fn a_line_of_a_file_is_no_label_of_a_build() {
    let scope = json!({"paths": ["/srv/ok/**"]});
    let checks = checks_from("/srv/ok", &[], &json!({}), &[scope]);
    assert_hostile(
        &checks,
        &[
            json!({"location": "//etc/passwd:1"}),
            json!({"input": "//srv/other/x.txt:12"}),
            json!({"target": "//etc/x:passwd"}),
            json!({"from": "//etc/passwd:1"}),
            json!({"from": "//home/ann/key:x"}),
            json!({"location": "//srv/other/x:y"}),
            json!({"target": "//x/.ssh/id_rsa:a"}),
        ],
    );
    assert_honest(&checks, &[json!({"target": "//pkg/sub:all"}), json!({"target": "//app:app_test"})]);
}

#[test]
fn what_a_step_of_a_patch_moves_to_the_machine_is_judged_as_there() {
    let checks = tool("kubectl_patch", &["patch", "resource", "namespace"]);
    let held = json!({"op": "add", "path": "/metadata/annotations/x", "value": {"path": "/etc"}});
    let moved = |op: &str| {
        let last = json!({"op": op, "from": "/metadata/annotations/x", "path": "/spec/volumes/0/hostPath"});
        json!({"patch": [held.clone(), last]})
    };
    assert_hostile(&checks, &[moved("move"), moved("copy")]);
    let replicas = json!({"op": "replace", "path": "/spec/replicas", "value": 3});
    let note = json!({"op": "add", "path": "/metadata/annotations/route", "value": "/api"});
    assert_honest(&checks, &[json!({"patch": [replicas, note]})]);
}

/// However a document says that it is for a client, it names files of this machine.
#[test]
fn a_document_for_a_client_is_known_however_it_is_written() {
    let checks = tool("kubectl_config", &["namespace"]);
    let begins = [
        "kind: Config",
        "kind : Config",
        "kind: Config # of ann",
        "kind: !!str Config",
        "kind: \"Config\"",
        "\"kind\": Config",
        "? kind\n: Config",
    ];
    let hostile: Vec<Value> = begins
        .iter()
        .map(|begin| json!({ "x": format!("apiVersion: v1\n{begin}\nusers:\n- client-key: /other/x/key\n") }))
        .collect();
    assert_hostile(&checks, &hostile);
    assert_honest(&checks, &[json!({"x": "apiVersion: v1\nkind: Service\nspec:\n  path: /other/x\n"})]);
}
