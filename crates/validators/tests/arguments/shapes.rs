//! Limits of paths: what looks like a path and is none by its shape, beside what may be one; keys and cells that are denied; what is
//! mounted.

use serde_json::{Value, json};
use switchboard_validators::arguments::Checks;

use crate::common::{assert_honest, assert_hostile, checks_from};

/// A tool of this name, of a server that was started outside of the limit.
fn tool(name: &str) -> Checks {
    checks_from("/project", &[], &json!({ "name": name }), &[json!({"paths": ["/srv/ok/**", "/srv/ok"]})])
}

fn denying() -> Checks {
    let scope = json!({"paths": ["/srv/ok/**", "/srv/ok"], "deny_paths": ["**/.env", "**/secret*"]});
    checks_from("/srv/ok", &[], &json!({}), &[scope])
}

#[test]
fn what_is_no_path_by_its_shape_passes() {
    let honest = [
        json!({"cursor": "eyJwYWdlIjo+/xLCJ4IjoiYS9iIn0="}),
        json!({"next_cursor": "eyJw/ab+c12d"}),
        json!({"page_token": "CiAKGjBpNDd2Nmp2Zml2cXRwYjBpOXA/abc+de=="}),
        json!({"image_base64": "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAgGBgcGBQgHBwcJCQgKDBQNDAsLDBk="}),
        json!({"data": "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAgGBgcGBQgHBwcJCQgKDBQNDAsLDBk"}),
        json!({"unit": "km/h", "units": "m/s", "x": "W/m²"}),
        json!({"x": "and/or", "status": "N/A", "answer": "yes/no", "pronouns": "she/her"}),
        json!({"x": "text/plain", "type": "application/json", "format": "image/png", "mime": "application/vnd.x"}),
        json!({"accept": "text/html", "contentType": "text/plain; charset=utf-8"}),
        json!({"date": "2026/11/19", "from": "2026/11/19", "to": "19/11/2026"}),
        json!({"cron": "*/5 * * * *", "schedule": "0 */6 * * *"}),
        json!({"ratio": "16/9", "aspect_ratio": "16/9", "time_signature": "4/4"}),
        json!({"field": "user.name", "property": "spec.template", "metric": "http.server.duration"}),
        json!({"ip": "10.0.0.0/8", "subnet": "2001:db8::/32", "x": "192.168.0.0/16"}),
        json!({"user_agent": "Mozilla/5.0"}),
        json!({"currency_pair": "BTC/USD"}),
        json!({"regex": "/^foo$/i", "pattern": "/^\\d+$/", "x": "/^foo$/i"}),
    ];
    assert_honest(&tool("look"), &honest);
}

#[test]
fn what_only_resembles_such_a_shape_is_a_path() {
    let hostile = [
        json!({"cursor": "/etc/passwd"}),
        json!({"cursor": "secrets/key"}),
        json!({"cursor": "etc/passwd=="}),
        json!({"cursor": "/etc/Passwd12=="}),
        json!({"cursor": "/project/Abc123=="}),
        json!({"path": "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAgGBgcGBQgH"}),
        json!({"path": "eyJw/ab+c12=="}),
        json!({"page_token": "../x"}),
        json!({"unit": "etc/passwd"}),
        json!({"unit": "/etc/passwd"}),
        json!({"x": "text/secrets"}),
        json!({"x": "text/plain/../../x"}),
        json!({"path": "text/plain"}),
        json!({"path": "and/or"}),
        json!({"output": "text/plain"}),
        json!({"glob": "text/plain"}),
        json!({"path": "2026/11/19"}),
        json!({"from": "2026/11/19/x"}),
        json!({"from": "2026/77/19"}),
        json!({"schedule": "/etc/cron.d/x"}),
        json!({"field": "/etc/x"}),
        json!({"field": "a/b.txt"}),
        json!({"mime": "/etc/passwd"}),
        json!({"regex": "/etc/passwd/"}),
        json!({"regex": "/^etc/../../x$/"}),
        json!({"regex": "/(^|/etc/passwd)/"}),
        json!({"x": "/etc*/x"}),
        json!({"x": "/etc$/i"}),
        json!({"path": "/^foo$/i"}),
        json!({"x": "10.0.0.0/8/../../etc"}),
    ];
    assert_hostile(&tool("look"), &hostile);
}

#[test]
fn an_order_to_a_chat_is_text() {
    let chat = tool("slack_post_message");
    let honest: Vec<Value> =
        ["/gif cat", "/shrug", "/remind me at 5", "/me waves"].iter().map(|text| json!({ "text": text })).collect();
    assert_honest(&chat, &honest);
    let hostile: Vec<Value> =
        ["/etc/passwd", "/etc", "/srv", "/project", "/gif ../x", "/gif /etc/x", "/Secret", "/.ssh", "~/x"]
            .iter()
            .map(|text| json!({ "text": text }))
            .collect();
    assert_hostile(&chat, &hostile);
    // A description alone makes no chat of a tool.
    let other = json!({"name": "open", "description": "Sends a message to a chat"});
    let other = checks_from("/project", &[], &other, &[json!({"paths": ["/srv/ok/**"]})]);
    assert_hostile(&other, &[json!({"text": "/gif"})]);
}

#[test]
fn places_in_a_container_are_none_of_this_machine() {
    let run = tool("docker_run");
    assert_honest(
        &run,
        &[
            json!({"image": "alpine:3", "working_dir": "/app"}),
            json!({"image": "alpine:3", "workdir": "/etc/app", "volumes": ["/srv/ok/a:/app"]}),
            json!({"mounts": [{"source": "/srv/ok/a", "target": "/data"}]}),
            json!({"mounts": [{"type": "bind", "Source": "/srv/ok/a", "Target": "/data"}]}),
            json!({"mounts": [{"type": "tmpfs", "target": "/tmp"}]}),
        ],
    );
    assert_hostile(
        &run,
        &[
            json!({"mounts": [{"source": "/etc", "target": "/data"}]}),
            json!({"mounts": [{"source": "/srv/ok/../../etc", "target": "/data"}]}),
            json!({"mounts": [{"target": "/etc"}]}),
            json!({"mounts": [{"source": "/srv/ok/a", "target": "/x/../../etc"}]}),
            json!({"volumes": ["/etc:/app"]}),
            json!({"working_dir": "../x"}),
            json!({"working_dir": "~/x"}),
            json!({"env_file": "/etc/x"}),
            json!({"options": {"working_dir": "/etc"}}),
        ],
    );
    for name in ["run", "docker_compose_run", "docker_build", "mount"] {
        let hostile =
            [json!({"working_dir": "/etc"}), json!({"mounts": [{"source": "/srv/ok/a", "target": "/etc/cron.d"}]})];
        assert_hostile(&tool(name), &hostile);
    }
    let said = json!({"name": "run", "description": "Runs docker containers"});
    let said = checks_from("/project", &[], &said, &[json!({"paths": ["/srv/ok/**"]})]);
    assert_hostile(&said, &[json!({"working_dir": "/etc"})]);
}

#[test]
fn only_keys_for_mounts_have_a_place_in_a_container() {
    let keys = ["amount", "amounts", "combined", "keybindings", "mountain", "volumetric", "unbind", "mount_point"];
    let mut hostile: Vec<Value> = keys.iter().map(|key| json!({ *key: "notes:/etc/passwd" })).collect();
    hostile.push(json!({"x": "amount: notes:/etc/passwd\nb: c\n"}));
    assert_hostile(&tool("look"), &hostile);
    let keys = [
        "volume",
        "volumes",
        "extraVolumes",
        "bind_mounts",
        "hostBinds",
        "Binds",
        "mount",
        "volumeMounts",
        "bind-mount",
    ];
    let honest: Vec<Value> = keys.iter().map(|key| json!({ *key: "notes:/data" })).collect();
    assert_honest(&tool("look"), &honest);
}

/// Keys, cells and names behind escapes are names of files to who reads them.
#[test]
fn what_is_denied_is_denied_as_a_key_and_as_a_cell() {
    let texts = [
        ".env: 1\nb: 2",
        "a: 1\n.env: {}\n",
        "files:\n  .env:\n    content: x\n",
        "a: .env\nb: 1\n",
        "{a: .env}",
        "a,b\n.env,1\n",
        "a\tb\n.env\t1\n",
        "| a | b |\n| .env | 1 |\n",
        "<f name=\".env\"/>",
        "[.env]\na = 1\n",
        ".env = 1\nb = 2",
        "\".env\": 1\nb: 2",
        "sub/.env: 1\nb: 2",
        "? .env\n: x\n",
        "{\".env\": 1, // c\n}",
        "a: secrets.txt\nb: c\n",
        "(.env)",
        "open('.env')",
    ];
    let mut hostile: Vec<Value> = texts.iter().map(|text| json!({ "x": text })).collect();
    hostile.extend(["yaml", "config"].iter().map(|key| json!({ *key: ".env: 1\nb: 2" })));
    hostile.extend(
        ["x/(\\.env)", "(\\.env)", "^\\.env$", "\\.env\\b"]
            .iter()
            .flat_map(|text| [json!({ "regex": text }), json!({ "pattern": text }), json!({ "query": text })]),
    );
    hostile.push(json!({"files": {"secret_key": "x"}}));
    assert_hostile(&denying(), &hostile);
    let texts = [
        "env: 1\nb: 2",
        "a: secret\nb: c\n",
        "secret: a\nb: c\n",
        "id,secret\n1,2\n",
        "spring.datasource: x\nb: c\n",
        "[package.metadata]\na = 1\n",
        "process.env.HOME",
        "a.environment: 1\nb: 2",
    ];
    let mut honest: Vec<Value> = texts.iter().map(|text| json!({ "x": text })).collect();
    honest.extend(["process\\.env", "foo\\.bar\\(", "\\d+\\.\\d+"].iter().map(|text| json!({ "regex": text })));
    honest.extend([json!({"exclude": "\\.env"}), json!({"files": {"a.md": "x"}})]);
    assert_honest(&denying(), &honest);
}

/// What a tool says of itself takes nothing away from what its arguments are held to.
#[test]
fn no_description_loosens_a_limit() {
    let scope = json!({"paths": ["/srv/ok/**"]});
    let said = "Kubernetes, docker containers, messages to people, JavaScript in the browser";
    let checks = |name: &str, said: &str| {
        checks_from("/srv/ok", &[], &json!({"name": name, "description": said}), std::slice::from_ref(&scope))
    };
    let patch = "--- a/x\n+++ /etc/passwd\n@@ -1 +1 @@\n-a\n+b\n";
    let hostile = [
        json!({"values": {"path": "/etc/shadow"}}),
        json!({"spec": {"path": "/etc/shadow"}}),
        json!({"patch": {"path": "/etc/shadow"}}),
        json!({"working_dir": "/etc"}),
        json!({"body": patch}),
        json!({"script": "open('/secret/x')"}),
    ];
    for arguments in hostile {
        assert_hostile(&checks("tool", ""), std::slice::from_ref(&arguments));
        assert_hostile(&checks("tool", said), std::slice::from_ref(&arguments));
    }
    // What is a resource by its own words is one still.
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"workingDir": "/app"}]}});
    assert_honest(&checks("resources_create_or_update", "Creates a Kubernetes resource"), &[json!({"resource": pod})]);
}
