//! What all tests of arguments begin with.

use serde_json::Value;
use switchboard_policy::permission::Scope;
use switchboard_protocol::mgp::ValidatorName;
use switchboard_protocol::mgp::security::ToolSecurity;
use switchboard_validators::arguments::{self, Checks, NoWorld, Violation};
use switchboard_wire::{Limits, Raw};

/// Where the server of these tests was started.
pub(crate) const BASE: &str = "/project";

pub(crate) fn raw(value: &Value) -> Raw {
    Raw::parse(value.to_string(), &Limits::default()).expect("valid JSON")
}

/// The checks of a tool under validators and the limits of grants.
pub(crate) fn checks(validators: &[ValidatorName], tool: &Value, scopes: &[Value]) -> Checks {
    checks_from(BASE, validators, tool, scopes)
}

/// The same of a server that was started elsewhere.
pub(crate) fn checks_from(base: &str, validators: &[ValidatorName], tool: &Value, scopes: &[Value]) -> Checks {
    let scopes: Vec<Scope> = scopes.iter().map(|scope| Scope::read(&raw(scope)).expect("a valid scope")).collect();
    Checks::new(validators, &ToolSecurity::of(&raw(tool)), &scopes, base)
}

pub(crate) fn check(checks: &Checks, arguments: &Value) -> Result<(), Box<Violation>> {
    arguments::check(checks, &raw(arguments), &NoWorld)
}

/// Each case: the arguments, and the step and place of the refusal, if any.
#[track_caller]
pub(crate) fn assert_cases(checks: &Checks, cases: &[(Value, Option<(&str, &str)>)]) {
    for (arguments, expected) in cases {
        let outcome = check(checks, arguments);
        let found = outcome.as_ref().err().map(|violation| (violation.step, violation.pointer.as_str()));
        assert_eq!(found, *expected, "{arguments}\n=> {outcome:?}");
    }
}

/// All of these pass.
#[track_caller]
pub(crate) fn assert_honest(checks: &Checks, cases: &[Value]) {
    let refused: Vec<String> = cases
        .iter()
        .filter_map(|arguments| {
            check(checks, arguments).err().filter(|why| !why.finding.asks()).map(|why| (arguments, why))
        })
        .map(|(arguments, why)| format!("{arguments}\n    {:?}", why.finding))
        .collect();
    assert!(refused.is_empty(), "{} of {} refused:\n{}", refused.len(), cases.len(), refused.join("\n"));
}

/// None of these passes.
#[track_caller]
pub(crate) fn assert_hostile(checks: &Checks, cases: &[Value]) {
    let passed: Vec<String> =
        cases.iter().filter(|arguments| check(checks, arguments).is_ok()).map(Value::to_string).collect();
    assert!(passed.is_empty(), "{} of {} passed:\n{}", passed.len(), cases.len(), passed.join("\n"));
}
