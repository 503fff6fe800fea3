//! Who dials: tables of whole calls, honest and hostile, as a gate judges them for a server on this machine whose names
//! nobody here can resolve.

use std::net::IpAddr;

use serde_json::{Value, json};
use switchboard_policy::permission::Scope;
use switchboard_policy::risk::{self, OperatorWord};
use switchboard_protocol::mgp::TrustLevel;
use switchboard_protocol::mgp::security::ToolSecurity;
use switchboard_validators::arguments::{self, Checks, Dialer, Dialing, Violation, World};
use switchboard_wire::{Limits, Raw};

const HONEST: &str = include_str!("tables/calls-honest.txt");
const HOSTILE: &str = include_str!("tables/calls-hostile.txt");

/// A machine without a resolver, on which these hosts were agreed to.
struct Offline(&'static [&'static str]);

impl World for Offline {
    fn link(&self, _: &str) -> Option<String> {
        None
    }

    fn addresses(&self, host: &str) -> Option<Vec<IpAddr>> {
        match host {
            "wiki.corp.example.com" => Some(vec![IpAddr::from([10, 0, 0, 9])]),
            "evil.example.com" => Some(vec![IpAddr::from([169, 254, 169, 254])]),
            _ => Some(Vec::new()),
        }
    }

    fn is_agreed(&self, host: &str) -> bool {
        self.0.contains(&host)
    }
}

fn raw(value: &Value) -> Raw {
    Raw::parse(value.to_string(), &Limits::default()).expect("valid JSON")
}

struct Tool {
    definition: Value,
    name: String,
}

impl Tool {
    /// `name key key :: description`
    fn read(line: &str) -> Self {
        let (front, description) = line.split_once(" :: ").expect("a description");
        let mut words = front.split_whitespace();
        let name = words.next().expect("a name").to_owned();
        let properties: serde_json::Map<String, Value> = words.map(|key| (key.to_owned(), json!({}))).collect();
        let schema = json!({"type": "object", "properties": properties});
        Self { definition: json!({"name": name, "description": description, "inputSchema": schema}), name }
    }

    fn checks(&self, trust: TrustLevel, dialer: Dialer, scopes: &[Value]) -> Checks {
        let declared = ToolSecurity::of(&raw(&self.definition));
        let assessment = risk::assess(&declared, &self.name, &OperatorWord::default(), trust, false);
        let scopes: Vec<Scope> = scopes.iter().map(|scope| Scope::read(&raw(scope)).expect("a scope")).collect();
        let dialing = Dialing::of(&declared, dialer, trust >= TrustLevel::Standard);
        let checks = Checks::new(&assessment.validators, &declared, &scopes, "/project");
        checks.with_carried(&assessment.carried).with_dialing(dialing)
    }
}

fn judged(checks: &Checks, arguments: &Value) -> &'static str {
    answer(&arguments::check(checks, &raw(arguments), &Offline(&[])))
}

fn answer(outcome: &Result<(), Box<Violation>>) -> &'static str {
    match outcome {
        Ok(()) => "allow",
        Err(violation) if violation.finding.asks() => "ask",
        Err(_) => "block",
    }
}

/// Every call of a table: the line and what is answered.
fn calls(table: &'static str, trust: TrustLevel) -> Vec<(String, &'static str, &'static str)> {
    let mut tool = None;
    let mut found = Vec::new();
    for line in table.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        if let Some(definition) = line.strip_prefix('@') {
            tool = Some(Tool::read(definition));
            continue;
        }
        let tool = tool.as_ref().expect("a tool in front of its calls");
        let arguments = serde_json::from_str(line.trim_start_matches('?')).expect(line);
        let checks = tool.checks(trust, Dialer::ThisMachine, &[]);
        found.push((tool.name.clone(), line, judged(&checks, &arguments)));
    }
    found
}

#[test]
fn honest_calls_are_not_refused_and_few_are_asked_about() {
    let calls = calls(HONEST, TrustLevel::Standard);
    assert!(calls.len() >= 211, "{}", calls.len());
    let wrong: Vec<_> = calls
        .iter()
        .filter(|(_, line, answer)| *answer == "block" || *answer == "ask" && !line.starts_with('?'))
        .collect();
    assert!(wrong.is_empty(), "{} of {}: {wrong:#?}", wrong.len(), calls.len());
}

#[test]
fn hostile_calls_are_never_allowed() {
    for trust in [TrustLevel::Standard, TrustLevel::Core, TrustLevel::Experimental] {
        let calls = calls(HOSTILE, trust);
        assert!(calls.len() >= 150, "{}", calls.len());
        let wrong: Vec<_> = calls.iter().filter(|(_, _, answer)| *answer == "allow").collect();
        assert!(wrong.is_empty(), "{} of {}: {wrong:#?}", wrong.len(), calls.len());
    }
}

#[test]
fn a_metadata_service_is_refused_and_nobody_is_asked() {
    let calls = calls(HOSTILE, TrustLevel::Core);
    let metadata = |line: &str| ["169.254", "a9fe", "2852039166", "metadata"].iter().any(|word| line.contains(word));
    let wrong: Vec<_> = calls.iter().filter(|(_, line, answer)| metadata(line) && *answer != "block").collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

const NAVIGATE: &str = "browser_navigate url :: Navigate to a URL";

#[test]
fn a_host_that_is_not_public_is_asked_about_refused_or_granted() {
    let tool = Tool::read(NAVIGATE);
    let named = |hosts: Value| vec![json!({ "hosts": hosts })];
    let (ask, block, allow) = ("ask", "block", "allow");
    for (url, trust, scopes, expected) in [
        ("http://localhost:3000/", TrustLevel::Core, vec![], ask),
        ("http://localhost:3000/", TrustLevel::Standard, vec![], ask),
        ("http://localhost:3000/", TrustLevel::Experimental, vec![], block),
        ("http://localhost:3000/", TrustLevel::Standard, named(json!(["localhost"])), allow),
        ("http://localhost:3000/", TrustLevel::Experimental, named(json!(["*", "localhost"])), allow),
        ("http://localhost:3000/", TrustLevel::Standard, named(json!(["*"])), ask),
        ("http://localhost:3000/", TrustLevel::Standard, named(json!(["example.com"])), block),
        ("https://example.com/", TrustLevel::Standard, named(json!(["*", "localhost"])), allow),
        ("https://example.com/", TrustLevel::Standard, named(json!(["localhost"])), block),
        ("http://10.0.0.9/", TrustLevel::Standard, named(json!(["10.0.0.9"])), allow),
        ("http://10.0.0.8/", TrustLevel::Standard, named(json!(["*", "10.0.0.9"])), ask),
        ("http://wiki.corp.example.com/", TrustLevel::Standard, vec![], ask),
        ("http://wiki.corp.example.com/", TrustLevel::Standard, named(json!(["*.corp.example.com"])), allow),
        ("http://evil.example.com/", TrustLevel::Core, named(json!(["*.example.com", "evil.example.com"])), block),
        ("http://169.254.169.254/", TrustLevel::Core, named(json!(["*"])), block),
        ("http://169.254.169.254/", TrustLevel::Standard, named(json!(["169.254.169.254"])), allow),
        ("http://2130706433/", TrustLevel::Core, vec![], block),
        ("http://gone.example.com/", TrustLevel::Standard, vec![], allow),
    ] {
        let checks = tool.checks(trust, Dialer::ThisMachine, &scopes);
        let found = judged(&checks, &json!({ "url": url }));
        assert_eq!(found, expected, "{url} {trust:?} {scopes:?}");
    }
}

#[test]
fn a_yes_counts_for_its_host() {
    let checks = Tool::read(NAVIGATE).checks(TrustLevel::Core, Dialer::ThisMachine, &[]);
    let world = Offline(&["localhost"]);
    for (url, expected) in [
        ("http://localhost:3000/a", "allow"),
        ("http://127.0.0.1:3000/a", "ask"),
        ("http://localhost.evil.internal/", "ask"),
        ("http://2130706433/", "block"),
    ] {
        let outcome = arguments::check(&checks, &raw(&json!({ "url": url })), &world);
        assert_eq!(answer(&outcome), expected, "{url}");
    }
    let two = json!({"url": "http://localhost/", "also": "http://10.0.0.1/"});
    let outcome = arguments::check(&checks, &raw(&two), &world);
    assert_eq!(outcome.unwrap_err().host.as_deref(), Some("10.0.0.1"));
}

#[test]
fn what_a_service_elsewhere_fetches_is_not_looked_up_here() {
    let tool = Tool::read("fetch url :: Fetches a URL");
    for (url, here, elsewhere) in [
        ("http://wiki.corp.example.com/", "ask", "allow"),
        ("http://gone.example.com/", "allow", "allow"),
        ("http://localhost/", "ask", "ask"),
        ("http://169.254.169.254/", "block", "block"),
    ] {
        let arguments = json!({ "url": url });
        for (dialer, expected) in [(Dialer::ThisMachine, here), (Dialer::Elsewhere, elsewhere)] {
            assert_eq!(judged(&tool.checks(TrustLevel::Standard, dialer, &[]), &arguments), expected, "{url}");
        }
    }
    let checks = tool.checks(TrustLevel::Standard, Dialer::Elsewhere, &[]);
    assert!(checks.hosts(&raw(&json!({"url": "https://example.com/"}))).is_empty());
}
