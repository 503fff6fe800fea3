//! What the gate costs a call before anything is written or anybody is asked: all its pure steps, one after another,
//! for a call of 2 KB with 1,000 grants.
#![allow(missing_docs, reason = "criterion's macros make undocumented items")]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use jiff::Timestamp;
use serde_json::json;
use switchboard_directory::{Directory, ListedServer, Listing, Lists};
use switchboard_kernel::ToolPolicy;
use switchboard_policy::access::{AccessTable, Rule};
use switchboard_policy::permission::{self, Decided, Decision, Policy};
use switchboard_policy::risk::{self, OperatorWord};
use switchboard_protocol::mgp::security::ToolSecurity;
use switchboard_protocol::mgp::{ApprovalPolicy, DefaultPolicy, Metadata, TrustLevel};
use switchboard_store::{Actor, AuditEvent, Digest, Target};
use switchboard_validators::arguments::{self, NoWorld};
use switchboard_wire::{Extra, Limits, Object, Raw};

/// A call with about 2 KB of arguments, a dozen strings among them.
fn call(first: &str) -> Raw {
    let lines: Vec<String> = (0..12)
        .map(|line| format!("line {line}: plain words of a text, as an agent writes them {}", "x".repeat(92)))
        .collect();
    let arguments =
        json!({"command": first, "text": lines, "options": {"recursive": true, "limit": 10, "label": "nightly"}});
    let meta = json!({"trace_id": "550e8400-e29b-41d4-a716-446655440000", "progressToken": 7});
    let call = json!({"name": "tools17__run", "arguments": arguments, "_meta": meta});
    let raw = Raw::from_value(&call).expect("JSON");
    assert!((1_900..2_400).contains(&raw.as_bytes().len()), "{} bytes", raw.as_bytes().len());
    raw
}

fn grants() -> AccessTable {
    let rule = |index: usize| Rule {
        principal: format!("agent.{}", index % 50),
        server: format!("tools{}", index % 40),
        tool: (!index.is_multiple_of(3)).then(|| format!("tool{}", index % 7)),
        allow: !index.is_multiple_of(5),
        expires_at: index.is_multiple_of(4).then_some(Timestamp::MAX),
    };
    let mut rules: Vec<_> = (0..999).map(rule).collect();
    let allowed =
        Rule { principal: "ann".to_owned(), server: "tools17".to_owned(), tool: None, allow: true, expires_at: None };
    rules.push(allowed);
    AccessTable::new(rules)
}

/// Forty servers with fifty tools each.
fn directory(tool: &serde_json::Value) -> Directory {
    let sources: Vec<_> = (0..40)
        .map(|server| {
            let mut items: Vec<_> = (0..50)
                .map(|index| json!({"name": format!("tool{index}"), "inputSchema": {"type": "object"}}))
                .collect();
            items.push(tool.clone());
            let items = items.iter().map(|item| Raw::from_value(item).expect("JSON")).collect();
            let lists = Lists { tools: Listing { items, ..Listing::default() }, ..Lists::default() };
            ListedServer::new(format!("tools{server}"), lists.into())
        })
        .collect();
    Directory::build(&sources)
}

/// Everything that the gate does to one call and that touches nothing outside.
fn judge(directory: &Directory, grants: &AccessTable, decided: &[Decided], policy: &Policy, params: &Raw) -> usize {
    let now = Timestamp::now();
    let object = Object::open(params).expect("an object");
    let name = object.text("name").expect("a name");
    let metadata = Metadata::of(Some(params), &Extra::default()).expect("metadata");
    let route = directory.tool(&name).expect("a tool");
    let tool: &ToolPolicy = route.policy.as_ref().expect("a policy");
    let access = grants.decide("ann", "tools17", Some(&route.original), DefaultPolicy::OptIn, now);
    assert!(access.allow);
    let standing = permission::standing(&["shell.execute", "filesystem.read"], policy, decided, now);
    assert!(standing.missing.is_empty());
    assert!(metadata.delegation().expect("none").is_none());
    let arguments = object.get("arguments").expect("arguments");
    if !tool.checks.is_empty() {
        assert!(arguments::check(&tool.checks, &arguments, &NoWorld).is_ok());
    }
    assert!(metadata.confirmation().token.is_none());
    let mut intent = AuditEvent {
        timestamp: now,
        trace_id: metadata.trace_id().map(Into::into),
        event_type: "dev.switchboard.tool_intent".into(),
        actor: Actor { kind: "agent".into(), id: "ann".into() },
        target: Target { server_id: Some("tools17".into()), tool_name: Some(route.original.to_string().into()) },
        result: "PENDING".into(),
        details: switchboard_store::Details::default(),
    };
    intent.details.insert("arguments_sha256", Digest::of(arguments.as_bytes()).to_string());
    intent.details.insert("risk_level", tool.assessment.risk.as_str());
    let outcome = AuditEvent { event_type: "TOOL_EXECUTED".into(), result: "SUCCESS".into(), ..intent.clone() };
    intent.canonical().len() + outcome.canonical().len()
}

fn gate(criterion: &mut Criterion) {
    let grants = grants();
    let decided = |permission: &str| Decided {
        permission: permission.to_owned(),
        decision: Decision::Approved,
        scope: None,
        expires_at: None,
    };
    let decided = [decided("shell.execute"), decided("filesystem.read")];
    let policy = Policy::new(ApprovalPolicy::Interactive);
    let plain = json!({"name": "run", "inputSchema": {"type": "object"}});
    let shell = json!({"name": "run", "inputSchema": {"type": "object"}, "security": {"validator": "sandbox", "permissions_required": ["shell.execute"]}});
    for (name, tool) in [("gate/plain 2 KB", plain), ("gate/shell 2 KB", shell)] {
        let directory = directory(&tool);
        let call = call("git status --short");
        criterion.bench_function(name, |bencher| {
            bencher.iter(|| judge(black_box(&directory), &grants, &decided, &policy, black_box(&call)));
        });
    }
    let definition =
        Raw::parse(r#"{"name":"run","inputSchema":{"type":"object"}}"#.to_owned(), &Limits::default()).expect("JSON");
    criterion.bench_function("gate/assess a definition", |bencher| {
        bencher.iter(|| {
            let said = ToolSecurity::of(black_box(&definition));
            let word = OperatorWord::default();
            risk::assess(&said, "run", &word, TrustLevel::Standard, true)
        });
    });
}

criterion_group!(benches, gate);
criterion_main!(benches);
