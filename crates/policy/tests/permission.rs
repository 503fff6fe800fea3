//! What a server has of what it asks for.

use jiff::{SignedDuration, Timestamp};
use switchboard_policy::permission::{
    Decided, Decision, Granted, PermissionStatus, Policy, Scope, ScopeFault, Why, standing,
};
use switchboard_protocol::mgp::ApprovalPolicy::{self, AutoApprove, ConfigOnly, DenyAll, Interactive};
use switchboard_wire::{Limits, Raw};

fn now() -> Timestamp {
    "2026-03-01T00:00:00Z".parse().expect("a valid time")
}

fn scope(text: &str) -> Result<Scope, ScopeFault> {
    Scope::read(&Raw::parse(text.to_owned(), &Limits::default()).expect("valid JSON"))
}

fn decided(permission: &str, decision: Decision) -> Decided {
    Decided { permission: permission.to_owned(), decision, scope: None, expires_at: None }
}

fn until(mut decided: Decided, nanoseconds: i64) -> Decided {
    decided.expires_at = Some(now() + SignedDuration::from_nanos(nanoseconds));
    decided
}

fn policy(approval: ApprovalPolicy, configured: &[&str]) -> Policy {
    let granted = |permission: &&str| Granted { permission: (*permission).to_owned(), scope: None };
    Policy { configured: configured.iter().map(granted).collect(), ..Policy::new(approval) }
}

/// The answer about one permission.
fn about(permission: &str, policy: &Policy, decided: &[Decided]) -> Result<Option<Scope>, Why> {
    let PermissionStatus { mut granted, mut missing } = standing(&[permission], policy, decided, now());
    assert_eq!(granted.len() + missing.len(), 1);
    granted.pop().map(|granted| granted.scope).ok_or_else(|| missing.pop().expect("one answer").why)
}

#[test]
fn policies() {
    use Decision::{Approved, Deferred, Denied};
    let shell = "shell.execute";
    let memory = "memory.read";
    for (permission, approval, configured, decisions, expected) in [
        (shell, Interactive, false, vec![], Err(Why::Undecided)),
        (shell, Interactive, true, vec![], Ok(())),
        (shell, Interactive, false, vec![decided(shell, Approved)], Ok(())),
        (shell, Interactive, false, vec![decided("shell", Approved)], Ok(())),
        (shell, Interactive, false, vec![decided(memory, Approved)], Err(Why::Undecided)),
        (shell, Interactive, false, vec![decided(shell, Denied)], Err(Why::Denied)),
        (shell, Interactive, true, vec![decided(shell, Denied)], Err(Why::Denied)),
        (shell, Interactive, false, vec![decided(shell, Deferred)], Err(Why::Deferred)),
        (shell, Interactive, true, vec![decided(shell, Deferred)], Ok(())),
        (shell, Interactive, false, vec![until(decided(shell, Approved), 1)], Ok(())),
        (shell, Interactive, false, vec![until(decided(shell, Approved), 0)], Err(Why::Expired)),
        (shell, Interactive, true, vec![until(decided(shell, Approved), 0)], Ok(())),
        (shell, Interactive, false, vec![until(decided(shell, Denied), 0)], Err(Why::Undecided)),
        (shell, Interactive, true, vec![until(decided(shell, Denied), 0)], Ok(())),
        (shell, Interactive, false, vec![decided(shell, Denied), decided(shell, Approved)], Err(Why::Denied)),
        (shell, Interactive, false, vec![decided(shell, Deferred), decided(shell, Approved)], Ok(())),
        (memory, AutoApprove, false, vec![], Ok(())),
        (memory, AutoApprove, false, vec![decided(memory, Denied)], Err(Why::Denied)),
        (memory, AutoApprove, false, vec![decided(memory, Deferred)], Err(Why::Deferred)),
        (memory, AutoApprove, false, vec![until(decided(memory, Approved), 0)], Ok(())),
        ("filesystem.write", AutoApprove, false, vec![], Err(Why::Undecided)),
        ("network.outbound", AutoApprove, false, vec![], Err(Why::Undecided)),
        ("network", AutoApprove, false, vec![], Err(Why::Undecided)),
        ("network.outbound", AutoApprove, true, vec![], Ok(())),
        (shell, AutoApprove, false, vec![], Err(Why::Undecided)),
        (shell, AutoApprove, false, vec![decided(shell, Approved)], Ok(())),
        ("com.example.thing", AutoApprove, false, vec![], Ok(())),
        ("root", AutoApprove, false, vec![], Err(Why::Unknown)),
        ("root", Interactive, true, vec![decided("root", Approved)], Err(Why::Unknown)),
        (memory, DenyAll, false, vec![], Err(Why::Denied)),
        (memory, DenyAll, true, vec![], Ok(())),
        (memory, DenyAll, false, vec![decided(memory, Approved)], Err(Why::Denied)),
        (memory, ConfigOnly, false, vec![decided(memory, Approved)], Err(Why::Denied)),
        (memory, ConfigOnly, true, vec![], Ok(())),
        (memory, ConfigOnly, true, vec![decided(memory, Denied)], Err(Why::Denied)),
    ] {
        let configured = if configured { vec![permission] } else { vec![] };
        let answer = about(permission, &policy(approval, &configured), &decisions).map(|_| ());
        assert_eq!(answer, expected, "{permission} {approval} {configured:?} {decisions:?}");
    }
    let loud = Policy { auto_dangerous: true, ..Policy::new(AutoApprove) };
    assert_eq!(about(shell, &loud, &[]), Ok(None), "dangerous ones only where that is set");
    assert_eq!(about("filesystem.write", &loud, &[]), Err(Why::Undecided), "an exception stays one");
}

#[test]
fn each_is_answered_once_by_its_canonical_name() {
    let standing = standing(
        &["shell", "shell.execute", "memory.read", "root"],
        &policy(Interactive, &["memory.read"]),
        &[],
        now(),
    );
    assert_eq!(standing.granted, [Granted { permission: "memory.read".to_owned(), scope: None }]);
    let missing: Vec<(&str, Why)> =
        standing.missing.iter().map(|missing| (missing.permission.as_str(), missing.why)).collect();
    assert_eq!(missing, [("shell.execute", Why::Undecided), ("root", Why::Unknown)]);
}

#[test]
fn a_later_yes_does_not_widen_the_configured_scope() {
    let narrow = scope(r#"{"paths":["/srv/**"]}"#).unwrap();
    let other = scope(r#"{"paths":["/tmp/**"]}"#).unwrap();
    let configured = Granted { permission: "filesystem".to_owned(), scope: Some(narrow.clone()) };
    let policy = Policy { configured: vec![configured], ..Policy::new(Interactive) };
    let read = "filesystem.read";
    assert_eq!(about(read, &policy, &[]), Ok(Some(narrow.clone())));
    assert_eq!(about(read, &policy, &[decided(read, Decision::Approved)]), Ok(Some(narrow)));
    let scoped = Decided { scope: Some(other.clone()), ..decided(read, Decision::Approved) };
    assert_eq!(about(read, &policy, &[scoped]), Ok(Some(other)));
}

#[test]
fn scopes_are_read_whole_or_not_at_all() {
    let full = scope(
        r#"{"paths":["/a/**"],"deny_paths":["**/.env"],"commands":["git"],"deny_commands":["git push"],"allow_sudo":true,
            "hosts":["*.example.com"],"deny_hosts":["x.example.com"],"ports":[443],"languages":["python"],"max_execution_time_ms":1000}"#,
    )
    .unwrap();
    assert_eq!((full.ports, full.allow_sudo, full.max_execution_time_ms), (Some(vec![443]), true, Some(1000)));
    assert_eq!(scope("{}"), Ok(Scope::default()));
    for (text, fault) in [
        ("[]", ScopeFault::Shape),
        (r#"{"paths":["/a"],"paths":["/"]}"#, ScopeFault::Shape),
        (r#"{"path":["/a"]}"#, ScopeFault::Member("path".to_owned())),
        (r#"{"paths":"/a"}"#, ScopeFault::Type("paths")),
        (r#"{"paths":null}"#, ScopeFault::Type("paths")),
        (r#"{"ports":[70000]}"#, ScopeFault::Type("ports")),
        (r#"{"allow_sudo":"no"}"#, ScopeFault::Type("allow_sudo")),
    ] {
        assert_eq!(scope(text), Err(fault), "{text}");
    }
}
