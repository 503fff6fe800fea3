//! Held calls and their answers.

use serde_json::json;
use switchboard_store::{ApprovalState, Claim, Claimed, Decision, HeldCall, Refusal, Reuse, Ticket, Verdict};

use crate::sample::{Fixture, at, digest, json_text};

fn held(id: &str) -> HeldCall {
    HeldCall {
        id: id.to_owned(),
        principal: "agent".to_owned(),
        session: Some("s1".to_owned()),
        server: "terminal".to_owned(),
        tool: "run".to_owned(),
        arguments: digest("rm -r build"),
        shown: Some(json_text(&json!({"command": "rm -r build"}))),
        reason: "dangerous".to_owned(),
        token: Some(digest(&format!("token of {id}"))),
        created_at: at(0),
        expires_at: at(300),
    }
}

fn yes(reuse: Reuse) -> Decision {
    Decision {
        verdict: Verdict::Approve(reuse),
        by: "operator".to_owned(),
        reason: None,
        now: at(10),
        expires_at: at(300),
    }
}

fn claim(ticket: Ticket) -> Claim {
    let HeldCall { principal, session, server, tool, arguments, .. } = held("");
    Claim { ticket, principal, session, server, tool, arguments, now: at(20) }
}

/// What is shown of a call that waits can change; of one that was decided nothing is shown any more.
pub(crate) async fn shown_again(fixture: &Fixture) {
    let approvals = fixture.store.approvals();
    approvals.hold(&held("shown")).await.unwrap();
    let other = json_text(&json!({"caller": "gone"}));
    assert!(approvals.show("shown", &other).await.unwrap());
    let kept = approvals.get("shown").await.unwrap().unwrap().held.shown.unwrap();
    assert_eq!(kept.get(), other.get());
    approvals.decide(&["shown".to_owned()], &yes(Reuse::Once)).await.unwrap();
    assert!(!approvals.show("shown", &other).await.unwrap() && !approvals.show("none", &other).await.unwrap());
    assert!(approvals.get("shown").await.unwrap().unwrap().held.shown.is_none());
}

fn by_id(id: &str) -> Claim {
    claim(Ticket::Id(id.to_owned()))
}

fn refusal(claimed: &Claimed) -> Option<Refusal> {
    match claimed {
        Claimed::Granted(_) => None,
        Claimed::Refused(refusal) => Some(*refusal),
    }
}

pub(crate) async fn what_stands_is_listed_until_it_ends_or_is_taken_back(fixture: &mut Fixture) {
    let approvals = fixture.store.approvals();
    for (id, reuse) in [("once", Reuse::Once), ("session", Reuse::Session), ("always", Reuse::Always)] {
        approvals.hold(&HeldCall { tool: id.to_owned(), ..held(id) }).await.unwrap();
        approvals.decide(&[id.to_owned()], &yes(reuse)).await.unwrap();
    }
    approvals.hold(&HeldCall { tool: "open".to_owned(), ..held("open") }).await.unwrap();
    let ids = |found: Vec<switchboard_store::Approval>| -> Vec<String> {
        found.into_iter().map(|approval| approval.held.id).collect()
    };
    assert_eq!(ids(approvals.standing(at(20), 10).await.unwrap()), ["always", "session"]);
    assert_eq!(approvals.standing(at(20), 1).await.unwrap().len(), 1);
    approvals.withdraw("session", "operator", at(30)).await.unwrap().unwrap();
    assert_eq!(ids(approvals.standing(at(40), 10).await.unwrap()), ["always"]);
    assert!(approvals.standing(at(301), 10).await.unwrap().is_empty());
}

pub(crate) async fn one_use_passes_once(fixture: &mut Fixture) {
    let approvals = fixture.store.approvals();
    approvals.hold(&held("one")).await.unwrap();
    assert_eq!(refusal(&approvals.claim(&by_id("one")).await.unwrap()), Some(Refusal::Pending));
    assert_eq!(approvals.pending(at(1), 10).await.unwrap().len(), 1);
    assert_eq!(approvals.decide(&["one".to_owned()], &yes(Reuse::Once)).await.unwrap().len(), 1);
    assert!(approvals.pending(at(1), 10).await.unwrap().is_empty());
    let mut askers = tokio::task::JoinSet::new();
    for _ in 0..64 {
        let store = fixture.store.clone();
        let token = digest("token of one");
        askers.spawn(async move { store.approvals().claim(&claim(Ticket::Token(token))).await.unwrap() });
    }
    let outcomes = askers.join_all().await;
    let granted = outcomes.iter().filter(|outcome| refusal(outcome).is_none()).count();
    assert_eq!(granted, 1);
    assert!(outcomes.iter().filter_map(refusal).all(|refusal| refusal == Refusal::Used));
    fixture.reopen().await;
    let approvals = fixture.store.approvals();
    assert_eq!(refusal(&approvals.claim(&by_id("one")).await.unwrap()), Some(Refusal::Used));
    let used = approvals.get("one").await.unwrap().unwrap();
    assert_eq!((used.state, used.uses, used.used_at), (ApprovalState::Used, 1, Some(at(20))));
    assert!(used.held.shown.is_none(), "what was shown is kept only while it waits");
}

pub(crate) async fn bound_to_the_call(fixture: &mut Fixture) {
    let approvals = fixture.store.approvals();
    approvals.hold(&held("one")).await.unwrap();
    approvals.decide(&["one".to_owned()], &yes(Reuse::Once)).await.unwrap();
    let text = str::to_owned;
    let others = [
        Claim { principal: text("mallory"), ..by_id("one") },
        Claim { server: text("other"), ..by_id("one") },
        Claim { tool: text("other"), ..by_id("one") },
        Claim { arguments: digest("rm -r /"), ..by_id("one") },
        Claim { principal: text("mallory"), ..claim(Ticket::Token(digest("token of one"))) },
    ];
    for other in others {
        assert_eq!(refusal(&approvals.claim(&other).await.unwrap()), Some(Refusal::OtherCall), "{other:?}");
    }
    let elsewhere = Claim { arguments: digest("rm -r /"), ..claim(Ticket::Reusable) };
    for unknown in [by_id("two"), claim(Ticket::Token(digest("guess"))), elsewhere] {
        assert_eq!(refusal(&approvals.claim(&unknown).await.unwrap()), Some(Refusal::Unknown), "{unknown:?}");
    }
    assert_eq!(refusal(&approvals.claim(&by_id("one")).await.unwrap()), None);
}

pub(crate) async fn expiry_is_to_the_instant(fixture: &mut Fixture) {
    let approvals = fixture.store.approvals();
    for id in ["late", "in time", "undecided"] {
        approvals.hold(&held(id)).await.unwrap();
    }
    let late = Decision { now: at(300), ..yes(Reuse::Once) };
    assert!(approvals.decide(&["late".to_owned()], &late).await.unwrap().is_empty());
    let until = Decision { expires_at: at(50), ..yes(Reuse::Once) };
    approvals.decide(&["in time".to_owned()], &until).await.unwrap();
    let then = Claim { now: at(50), ..by_id("in time") };
    assert_eq!(refusal(&approvals.claim(&then).await.unwrap()), Some(Refusal::Expired));
    assert_eq!(approvals.pending(at(300), 10).await.unwrap().len(), 0);
    let ids = async |second| {
        let mut ids: Vec<_> = approvals.expire(at(second)).await.unwrap().into_iter().map(|it| it.held.id).collect();
        ids.sort_unstable();
        ids
    };
    assert_eq!(ids(49).await, Vec::<String>::new());
    assert_eq!(ids(50).await, ["in time"]);
    assert_eq!(ids(300).await, ["late", "undecided"]);
    assert_eq!(ids(300).await, Vec::<String>::new());
    // A clock that goes back revives nothing.
    assert_eq!(refusal(&approvals.claim(&by_id("in time")).await.unwrap()), Some(Refusal::Expired));
}

pub(crate) async fn standing_ones_serve_their_session_or_all(fixture: &mut Fixture) {
    let approvals = fixture.store.approvals();
    let standing = || claim(Ticket::Reusable);
    let elsewhere = || Claim { session: Some("s2".to_owned()), ..standing() };
    approvals.hold(&held("session")).await.unwrap();
    approvals.decide(&["session".to_owned()], &yes(Reuse::Session)).await.unwrap();
    for _ in 0..3 {
        assert_eq!(refusal(&approvals.claim(&standing()).await.unwrap()), None);
    }
    assert_eq!(refusal(&approvals.claim(&elsewhere()).await.unwrap()), Some(Refusal::Unknown));
    let nowhere = Claim { session: None, ..by_id("session") };
    assert_eq!(refusal(&approvals.claim(&nowhere).await.unwrap()), Some(Refusal::OtherCall));
    approvals.hold(&held("always")).await.unwrap();
    approvals.decide(&["always".to_owned()], &yes(Reuse::Always)).await.unwrap();
    assert_eq!(refusal(&approvals.claim(&elsewhere()).await.unwrap()), None);
    let other = Claim { arguments: digest("other"), ..elsewhere() };
    assert_eq!(refusal(&approvals.claim(&other).await.unwrap()), Some(Refusal::Unknown));
    assert_eq!(approvals.get("session").await.unwrap().unwrap().uses, 3);
    assert!(approvals.withdraw("always", "operator", at(30)).await.unwrap().is_some());
    assert!(approvals.withdraw("always", "operator", at(30)).await.unwrap().is_none());
    assert_eq!(refusal(&approvals.claim(&elsewhere()).await.unwrap()), Some(Refusal::Unknown));
    assert_eq!(refusal(&approvals.claim(&by_id("always")).await.unwrap()), Some(Refusal::Withdrawn));
}

pub(crate) async fn are_decided_together_and_only_once(fixture: &mut Fixture) {
    let approvals = fixture.store.approvals();
    let ids: Vec<_> = (0..5).map(|number| format!("call-{number}")).collect();
    for id in &ids {
        approvals.hold(&held(id)).await.unwrap();
    }
    assert!(approvals.hold(&held("call-0")).await.is_err(), "ids are unique");
    let no = Decision { verdict: Verdict::Deny, reason: Some("not now".to_owned()), ..yes(Reuse::Once) };
    let denied = approvals.decide(&ids[..2], &no).await.unwrap();
    assert!(
        denied.iter().all(|it| it.state == ApprovalState::Denied && it.decision_reason.as_deref() == Some("not now"))
    );
    // A later yes to all does not overrule the no.
    let approved = approvals.decide(&ids, &yes(Reuse::Once)).await.unwrap();
    assert_eq!(approved.iter().map(|it| it.held.id.as_str()).collect::<Vec<_>>(), ["call-2", "call-3", "call-4"]);
    assert_eq!(refusal(&approvals.claim(&by_id("call-0")).await.unwrap()), Some(Refusal::Denied));
}
