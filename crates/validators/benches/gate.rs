//! Time of the pure steps of the gate for one call: a thousand grants, two kilobytes of arguments, every check.
#![allow(missing_docs, reason = "criterion's macros make undocumented items")]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use switchboard_policy::access::{AccessTable, Rule};
use switchboard_policy::permission::{Decided, Decision, Policy, Scope, standing};
use switchboard_policy::risk::{OperatorWord, assess};
use switchboard_policy::scope::missing_scopes;
use switchboard_protocol::mgp::security::ToolSecurity;
use switchboard_protocol::mgp::{ApprovalPolicy, DefaultPolicy, TrustLevel, ValidatorName};
use switchboard_validators::acting::Outlook;
use switchboard_validators::arguments::{self, Checks, NoWorld};
use switchboard_wire::{Limits, Raw};

const PROSE: &str = "Reads the report of last week, sums up what changed since then and names the three points that need \
    a decision; it's fine to leave out what is only a detail. ";

fn raw(text: String) -> Raw {
    Raw::parse(text, &Limits::default()).expect("valid JSON")
}

fn gate(criterion: &mut Criterion) {
    let now = "2026-03-01T00:00:00Z".parse().expect("a valid time");
    let rules = (0..1000).map(|index| Rule {
        principal: format!("agent-{}", index % 50),
        server: format!("server-{}", index % 20),
        tool: (index % 3 > 0).then(|| format!("tool-{}", index % 7)),
        allow: index % 5 > 0,
        expires_at: None,
    });
    let table = AccessTable::new(rules.collect());
    let call = raw(format!(
        r#"{{"command":"git log --oneline -20 src/main.rs","cwd":"/project/src","path":"src/lib.rs",
            "url":"https://api.example.com/v1/items?page=2&size=50","options":{{"depth":3,"follow":true,"tags":["a","b","c"]}},
            "message":"{}","files":[{{"path":"docs/a.md","text":"{}"}},{{"path":"docs/b.md","text":"{}"}}],"note":"{}"}}"#,
        PROSE.repeat(3),
        PROSE.repeat(3),
        PROSE.repeat(2),
        PROSE.repeat(3)
    ));
    let tool = raw(
        r#"{"name":"run_command","inputSchema":{"type":"object","properties":{"command":{"type":"string"},"cwd":{"type":"string"}}},
            "annotations":{"destructiveHint":true},"security":{"risk_level":"dangerous","permissions_required":["shell.execute","filesystem.read"],
            "side_effects":["process"],"validator":"sandbox"}}"#.to_owned(),
    );
    let scope = raw(r#"{"paths":["/project/**","/tmp/**"],"deny_paths":["**/.env","**/secrets/**"],"hosts":["*.example.com"],"commands":["git","ls"]}"#.to_owned());
    let scope = Scope::read(&scope).expect("a valid scope");
    let declared = ToolSecurity::of(&tool);
    let checks = Checks::new(
        &[ValidatorName::Sandbox, ValidatorName::NetworkRestricted],
        &declared,
        std::slice::from_ref(&scope),
        "/project",
    );
    let policy = Policy::new(ApprovalPolicy::Interactive);
    let decided = ["shell.execute", "filesystem.read"].map(|permission| Decided {
        permission: permission.to_owned(),
        decision: Decision::Approved,
        scope: Some(scope.clone()),
        expires_at: None,
    });
    let required = ["shell.execute".to_owned(), "filesystem.read".to_owned()];
    assert!(arguments::check(&checks, &call, &NoWorld).is_ok(), "{:?}", arguments::check(&checks, &call, &NoWorld));
    assert!((1900..2300).contains(&call.as_bytes().len()), "{} bytes", call.as_bytes().len());

    let mut group = criterion.benchmark_group("gate");
    let decide = || {
        table.decide(black_box("agent-7"), black_box("server-7"), Some(black_box("tool-0")), DefaultPolicy::OptIn, now)
    };
    group.bench_function("access", |bencher| bencher.iter(decide));
    group.bench_function("permissions", |bencher| {
        bencher.iter(|| standing(black_box(&required), &policy, &decided, now))
    });
    group.bench_function("arguments", |bencher| bencher.iter(|| arguments::check(&checks, black_box(&call), &NoWorld)));
    for (name, validators, scopes) in [
        ("arguments, no check", &[][..], &[][..]),
        ("arguments, sandbox", &[ValidatorName::Sandbox], &[]),
        ("arguments, network", &[ValidatorName::NetworkRestricted], &[]),
        ("arguments, grants", &[], std::slice::from_ref(&scope)),
    ] {
        let checks = Checks::new(validators, &declared, scopes, "/project");
        group.bench_function(name, |bencher| {
            bencher.iter(|| arguments::check(&checks, black_box(&call), &NoWorld));
        });
    }
    group.bench_function("whole call", |bencher| {
        bencher.iter(|| {
            let access = decide();
            let standing = standing(black_box(&required), &policy, &decided, now);
            let scopes = missing_scopes(&["repo"], black_box(&["repo", "read:org"])).len();
            (access, standing, scopes, arguments::check(&checks, black_box(&call), &NoWorld))
        });
    });
    let operator = OperatorWord::default();
    // What every call of a tool pays that nothing else is checked of.
    let plain = ToolSecurity::of(&raw(r#"{"name":"save_thing","inputSchema":{"type":"object"}}"#.to_owned()));
    let found = assess(&plain, "save_thing", &operator, TrustLevel::Standard, false);
    let outlook = Outlook::of(&plain, "save_thing", &found, &operator, TrustLevel::Standard).expect("looked at");
    let small =
        raw(r#"{"owner":"octo","repo":"hello","path":"src/lib.rs","page":2,"label":"good first issue","draft":false}"#
            .to_owned());
    group.bench_function("values of a small call", |bencher| bencher.iter(|| outlook.question(&[], black_box(&small))));
    group.bench_function("values of two kilobytes", |bencher| bencher.iter(|| outlook.question(&[], black_box(&call))));
    group.bench_function("one definition", |bencher| {
        bencher
            .iter(|| assess(&ToolSecurity::of(black_box(&tool)), "run_command", &operator, TrustLevel::Standard, true));
    });
    group.finish();
}

criterion_group!(benches, gate);
criterion_main!(benches);
