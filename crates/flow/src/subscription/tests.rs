//! Tables for patterns and filters, and the laws of the book.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn raw(value: &serde_json::Value) -> Raw {
    Raw::from_value(value).expect("JSON")
}

#[test]
fn patterns() {
    for (pattern, yes, no) in [
        ("model.*", vec!["model.token_usage", "model.a.b"], vec!["model", "models.a", "system.model.x"]),
        ("*", vec!["a", "a.b.c"], vec![]),
        ("*.failed", vec!["tool.failed"], vec!["tool.a.failed", "failed", "tool.failed.x"]),
        ("a.*.c", vec!["a.b.c"], vec!["a.c", "a.b.b.c"]),
        ("system.error", vec!["system.error"], vec!["system", "system.errors", "system.error.x"]),
    ] {
        let read = Pattern::read(pattern).expect("a pattern");
        assert!(yes.iter().all(|channel| read.matches(channel)), "{pattern}");
        assert!(!no.iter().any(|channel| read.matches(channel)), "{pattern}");
    }
    for bad in ["", ".", "a..b", "a b", "a.*b", "mo*del", &"x".repeat(300)] {
        assert!(Pattern::read(bad).is_none(), "{bad}");
    }
}

#[test]
fn filters() {
    let data = raw(&json!({"repository": "app", "size": 1.0, "deep": {"n": [1]}}));
    for (filter, severity, passes) in [
        (json!({}), Severity::Info, true),
        (json!({"min_severity": "warning"}), Severity::Info, false),
        (json!({"min_severity": "warning"}), Severity::Error, true),
        (json!({"repository": "app"}), Severity::Info, true),
        (json!({"repository": "other"}), Severity::Info, false),
        (json!({"repository": ["other", "app"]}), Severity::Info, true),
        (json!({"size": 1.0}), Severity::Info, true),
        (json!({"deep.n": [1]}), Severity::Info, true),
        (json!({"deep.m": 1}), Severity::Info, false),
        (json!({"repository": "app", "missing": null}), Severity::Info, false),
    ] {
        let read = Filter::read(Some(&raw(&filter))).expect("a filter");
        assert_eq!(read.passes(severity, &data), passes, "{filter}");
    }
    for bad in [json!([]), json!({"min_severity": "loud"}), json!("x")] {
        assert!(Filter::read(Some(&raw(&bad))).is_err(), "{bad}");
    }
    assert!(Filter::read(None).expect("none").passes(Severity::Info, &data));
}

fn wanted(principal: &str, patterns: &[&str]) -> WantedEvents {
    WantedEvents {
        principal: principal.into(),
        owner: None,
        patterns: patterns.iter().filter_map(|pattern| Pattern::read(pattern)).collect(),
        filter: Filter::default(),
        server: None,
        life: None,
    }
}

fn offer(book: &mut Book<u32>, channel: &str, via: Option<&str>, event: u32) -> Vec<(String, u64)> {
    let nothing = Raw::empty_object();
    let offered = Offered { channel, severity: Severity::Info, server: None, via, data: &nothing };
    let told = book.offer(&offered, &Arc::new(event), 10, |_, _| true);
    told.into_iter().map(|delivery| (delivery.id.as_ref().to_owned(), delivery.seq)).collect()
}

fn told(pairs: &[(&str, u64)]) -> Vec<(String, u64)> {
    pairs.iter().map(|(id, seq)| ((*id).to_owned(), *seq)).collect()
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test begins somewhere")]
fn each_counts_its_own() {
    let (mut book, now) = (Book::new(SubscriptionLimits::default()), Instant::now());
    book.subscribe("one".into(), wanted("ann", &["tool.*"]), now).expect("room");
    book.subscribe("two".into(), wanted("bob", &["*"]), now).expect("room");
    assert_eq!(offer(&mut book, "system.x", None, 1), told(&[("two", 1)]));
    assert_eq!(offer(&mut book, "tool.x", None, 2), told(&[("one", 1), ("two", 2)]));
    assert!(book.unsubscribe("two", "ann").is_none(), "not hers");
    assert!(book.unsubscribe("two", "bob").is_some());
    assert_eq!(offer(&mut book, "tool.x", None, 3), told(&[("one", 2)]));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test begins somewhere")]
fn an_event_that_was_asked_for_by_two_patterns_comes_once() {
    let (mut book, now) = (Book::new(SubscriptionLimits::default()), Instant::now());
    book.subscribe("one".into(), wanted("ann", &["model.*", "model.a"]), now).expect("room");
    book.subscribe("two".into(), wanted("ann", &["model.a"]), now).expect("room");
    assert_eq!(offer(&mut book, "model.a", Some("model.*"), 1), told(&[("one", 1)]));
    assert_eq!(offer(&mut book, "model.a", Some("model.a"), 1), told(&[("two", 1)]));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test begins somewhere")]
fn what_was_missed_can_be_had_again_as_far_as_it_is_kept() {
    let limits = SubscriptionLimits { events: 3, ..SubscriptionLimits::default() };
    let (mut book, now) = (Book::new(limits), Instant::now());
    book.subscribe("one".into(), wanted("ann", &["a"]), now).expect("room");
    (1..=5).for_each(|event| drop(offer(&mut book, "a", None, event)));
    let mut replay = |after: u64, limit: usize| {
        let replayed = book.replay("one", "ann", after, limit, now).expect("a subscription");
        let numbers: Vec<u64> = replayed.events.iter().map(|(seq, _)| *seq).collect();
        (numbers, replayed.has_more, replayed.truncated)
    };
    assert_eq!(replay(0, 10), (vec![3, 4, 5], false, true));
    assert_eq!(replay(1, 1), (vec![3], true, true));
    assert_eq!(replay(2, 10), (vec![3, 4, 5], false, false));
    assert_eq!(replay(4, 10), (vec![5], false, false));
    assert_eq!(replay(5, 10), (vec![], false, false));
    assert!(book.replay("one", "bob", 0, 10, now).is_none());
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test begins somewhere")]
fn lives_end_and_asking_prolongs_them() {
    let (mut book, now) = (Book::<u32>::new(SubscriptionLimits::default()), Instant::now());
    let short = WantedEvents { life: Some(Duration::from_secs(10)), ..wanted("ann", &["a"]) };
    let forever = WantedEvents { life: Some(Duration::from_secs(1 << 40)), ..wanted("ann", &["a"]) };
    book.subscribe("short".into(), short.clone(), now).expect("room");
    book.subscribe("asked".into(), short, now).expect("room");
    let life = book.subscribe("long".into(), forever, now).expect("room");
    assert_eq!(life, Some(Duration::from_secs(24 * 3600)));
    assert_eq!(book.next_end(), Some(now + Duration::from_secs(10)));
    let later = now + Duration::from_secs(9);
    let _ = book.replay("asked", "ann", 0, 1, later);
    let ended: Vec<_> = book.expire(now + Duration::from_secs(10)).into_iter().map(|(id, _)| id).collect();
    assert_eq!(ended, ["short".into()]);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test begins somewhere")]
fn nobody_takes_all_the_room() {
    let limits = SubscriptionLimits { subscriptions: 3, of_one: 2, patterns: 1, ..SubscriptionLimits::default() };
    let (mut book, now) = (Book::<u32>::new(limits), Instant::now());
    assert_eq!(book.subscribe("0".into(), wanted("ann", &["a", "b"]), now), Err(Refused::TooManyPatterns));
    for id in ["1", "2"] {
        book.subscribe(id.into(), wanted("ann", &["a"]), now).expect("room");
    }
    assert_eq!(book.subscribe("3".into(), wanted("ann", &["a"]), now), Err(Refused::TooManyOfYours));
    book.subscribe("4".into(), wanted("bob", &["a"]), now).expect("room");
    assert_eq!(book.subscribe("5".into(), wanted("eve", &["a"]), now), Err(Refused::TooMany));
}

proptest! {
    /// Numbers grow by one, what is kept stays within bounds, and the books are even when all have gone.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test begins somewhere")]
    fn laws(steps in proptest::collection::vec((0u8..4, 0usize..6), 0..200)) {
        let limits = SubscriptionLimits { events: 5, bytes: 200, subscriptions: 6, ..SubscriptionLimits::default() };
        let (mut book, now) = (Book::new(limits), Instant::now());
        let mut last: HashMap<String, u64> = HashMap::new();
        for (step, which) in steps {
            let id = format!("s{which}");
            match step {
                0 if !book.has(&id) => {
                    let _ = book.subscribe(id.as_str().into(), wanted("ann", &["a.*"]), now);
                    last.insert(id, 0);
                }
                1 => drop(book.unsubscribe(&id, "ann")),
                _ => for (id, seq) in offer(&mut book, "a.x", None, 1) {
                    let before = last.insert(id, seq).unwrap_or_default();
                    prop_assert_eq!(seq, before + 1);
                },
            }
            prop_assert!(book.bytes() <= limits.bytes);
        }
        for which in 0..6 {
            let _ = book.unsubscribe(&format!("s{which}"), "ann");
        }
        prop_assert_eq!(book.bytes(), 0);
        prop_assert!(book.is_empty() && book.by_head.is_empty());
    }
}
