//! Limits of hosts: names of machines without a dot, under keys that name something to connect to.

use std::sync::Arc;

use serde_json::{Value, json};
use switchboard_policy::schema::Schema;
use switchboard_validators::arguments::Checks;

use crate::common::{assert_honest, assert_hostile, checks, raw};

fn limited() -> Checks {
    checks(&[], &json!({}), &[json!({"hosts": ["ok.example.com", "*.good.example", "db2"]})])
}

fn with_schema(properties: &Value) -> Checks {
    let schema = json!({"type": "object", "properties": properties});
    limited().with_schema(Some(Arc::new(Schema::read(&raw(&schema)))))
}

#[test]
fn a_name_without_a_dot_is_a_host_where_the_key_names_a_machine() {
    let keys = [
        "server",
        "servers",
        "address",
        "addresses",
        "remote",
        "broker",
        "brokers",
        "gateway",
        "target",
        "targets",
        "connection",
        "endpoint",
        "node",
        "nodes",
        "peer",
        "upstream",
        "backend",
        "proxy",
        "relay",
        "resolver",
        "nameserver",
        "machine",
        "site",
        "bootstrap_servers",
        "bootstrapServers",
        "bootstrap-server",
        "contact_points",
        "server_name",
        "serverName",
        "host_name",
        "host1",
        "server_2",
        "dbhost",
        "remoteHost",
        "remotehost",
        "smtpserver",
        "ipaddress",
        "server_address",
        "redis_server",
        "primary_server",
        "server_primary",
        "broker_list",
        "connect_to",
        "Server",
        "NODE",
    ];
    let hostile: Vec<Value> = keys
        .into_iter()
        .flat_map(|key| ["db1", "db1:5432", "metadata", "vm-7", "root@db1"].map(|value| json!({key: value})))
        .collect();
    assert_hostile(&limited(), &hostile);
    assert_honest(&limited(), &keys.map(|key| json!({key: "db2"})));
    assert_honest(&limited(), &keys.map(|key| json!({key: "ok.example.com"})));
}

#[test]
fn lists_and_objects_hide_no_machine() {
    assert_hostile(
        &limited(),
        &[
            json!({"servers": ["db2", "db1"]}),
            json!({"servers": "db2,db1"}),
            json!({"servers": "db2, db1"}),
            json!({"servers": "db2 db1"}),
            json!({"nodes": "db2, db1"}),
            json!({"nodes": "db2:1, db1:1"}),
            json!({"nodes": "db2:1 db1:1"}),
            json!({"bootstrap_servers": "db2:9092;db1:9092"}),
            json!({"server": {"name": "db1"}}),
            json!({"server": {"address": "db1"}}),
            json!({"target": {"value": "db1"}}),
            json!({"peers": [{"name": "db1", "port": 1}]}),
            json!({"config": {"broker": "db1"}}),
            json!({"config": "{\"broker\": \"db1\"}"}),
            json!({"server": " db1 "}),
            json!({"server": "'db1'"}),
            json!({"server": "db1/status"}),
            json!({"server": "ann:pw@db1"}),
            json!({"server": "root@evil.example"}),
            json!({"remote": "root@evil.example"}),
            json!({"target": "ann@db1:/srv"}),
            json!({"remote": "db1:backup"}),
            json!({"node": "ｄｂ１"}),
            json!({"server": "db%31"}),
        ],
    );
}

#[test]
fn what_is_plainly_no_host_passes_under_such_keys() {
    assert_honest(
        &limited(),
        &[
            json!({"node": 18, "target": 5, "address": 1024}),
            json!({"node": "18", "target": "5", "server": "3"}),
            json!({"node": "18.2.0"}),
            json!({"target": "#submit"}),
            json!({"target": "_blank"}),
            json!({"target": "the second button from above"}),
            json!({"address": "12 Main Street, Springfield"}),
            json!({"address": "ann@mail.example"}),
            json!({"email_address": "ann"}),
            json!({"street_address": "Broadway"}),
            json!({"wallet_address": "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"}),
            json!({"address": ""}),
            json!({"observer": "ann"}),
            json!({"peer_review": "done"}),
            json!({"target_language": "de"}),
            json!({"server_id": "abc"}),
            json!({"node_type": "worker"}),
            json!({"connection_timeout": "none"}),
            json!({"k": "db1"}),
        ],
    );
}

#[test]
fn the_schema_tells_what_is_no_host_and_what_is_one() {
    let listed = with_schema(&json!({
        "server": {"type": "string", "enum": ["production", "staging"]},
        "servers": {"type": "array", "items": {"enum": ["eu", "us"]}},
        "node": {"type": "string", "format": "uuid"},
    }));
    let uuid = "0e3f1ab4-1f0e-4c1d-8a68-0e2a7a3b8f11";
    assert_honest(&listed, &[json!({"server": "production"}), json!({"servers": ["eu"]}), json!({"node": uuid})]);
    assert_hostile(&listed, &[json!({"server": "db1"}), json!({"servers": ["eu", "db1"]})]);
    let git = with_schema(&json!({
        "repo_path": {"type": "string"}, "remote": {"type": "string"}, "branch": {"type": "string"},
        "target": {"type": "string"},
    }));
    assert_honest(
        &git,
        &[json!({"repo_path": "a", "remote": "origin", "branch": "main"}), json!({"target": "main", "branch": "x"})],
    );
    assert_hostile(&git, &[json!({"remote": "git@db1:x"}), json!({"remote": "db1:x"}), json!({"server": "db1"})]);
    // The call may add a key, the schema decides.
    assert_hostile(&limited(), &[json!({"remote": "db1", "branch": "main"})]);
    let described = with_schema(&json!({
        "db": {"type": "string", "description": "Hostname of the database"},
        "cache": {"type": "string", "format": "hostname"},
        "where": {"type": "string", "description": "IP address or host name to look at"},
    }));
    assert_hostile(&described, &[json!({"db": "db1"}), json!({"cache": "db1"}), json!({"where": "db1"})]);
    assert_honest(&described, &[json!({"db": "db2"}), json!({"cache": "db2"})]);
}
