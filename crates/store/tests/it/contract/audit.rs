//! The audit log.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use switchboard_store::{AuditFilter, Boundary, Breach, Fault, Group, HeadKind, Mode, Options, Store, StoreError};

use crate::sample::{Fixture, at, event, events};

pub(crate) async fn numbers_and_links_what_is_appended(fixture: &mut Fixture) {
    let audit = fixture.store.audit();
    assert_eq!(audit.end().await.unwrap().seq, 0);
    assert!(audit.append(&[]).await.unwrap().is_empty());
    let first = audit.append(&events(0..3)).await.unwrap();
    let second = audit.append(&events(3..5)).await.unwrap();
    assert_eq!(first.iter().chain(&second).map(|link| link.seq).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    let records = audit.query(&AuditFilter::default(), 10).await.unwrap();
    for (pair, number) in records.windows(2).zip(0..) {
        assert_eq!(pair[1].previous, pair[0].hash);
        assert_eq!(pair[0].parse().unwrap(), event(number));
        assert_eq!(pair[0].time, at(number));
    }
    assert_eq!(records[4].hash, second[1].hash);
    let report = audit.verify(&[]).await.unwrap();
    assert_eq!((report.first, report.last, report.records, report.unsealed), (1, 5, 5, 0));
    assert!(report.is_whole(), "{report:?}");
    // What is exported can be checked without this crate: hash over the hash before and the text.
    let line: serde_json::Value = serde_json::from_str(&records[1].line()).unwrap();
    let text = format!("{{\"event\":{},\"seq\":2,\"time\":{}}}", records[1].event, line["time"]);
    let bytes = [records[0].hash.as_bytes().as_slice(), text.as_bytes()].concat();
    assert_eq!(line["hash"], switchboard_store::Digest::of(&bytes).to_string());
}

pub(crate) async fn finds_by_every_filter(fixture: &mut Fixture) {
    let audit = fixture.store.audit();
    let all = events(0..60);
    audit.append(&all).await.unwrap();
    let any = AuditFilter::default;
    let text = |text: &str| Some(text.to_owned());
    // The same question, asked of the events themselves.
    type Wanted = fn(i64) -> bool;
    let cases: [(AuditFilter, Wanted); 12] = [
        (any(), |_| true),
        (AuditFilter { since: Some(at(20)), until: Some(at(30)), ..any() }, |n| (20..30).contains(&n)),
        (AuditFilter { event_types: vec!["TOOL_BLOCKED".to_owned()], ..any() }, |n| n % 2 == 1),
        (AuditFilter { event_types: vec!["TOOL_BLOCKED".to_owned(), "TOOL_EXECUTED".to_owned()], ..any() }, |_| true),
        (AuditFilter { event_types: vec!["OTHER".to_owned()], ..any() }, |_| false),
        (AuditFilter { actor: text("agent-1"), ..any() }, |n| n % 3 == 1),
        (AuditFilter { server: text("server-2"), ..any() }, |n| n % 5 == 2),
        (AuditFilter { tool: text("run"), ..any() }, |n| n % 5 > 1),
        (AuditFilter { trace_id: text("trace-4"), ..any() }, |n| n % 7 == 4),
        (AuditFilter { result: text("BLOCKED"), ..any() }, |n| n % 2 == 1),
        (AuditFilter { after: Some(10), through: Some(20), ..any() }, |n| (10..20).contains(&n)),
        (AuditFilter { server: text("server-2"), result: text("SUCCESS"), since: Some(at(30)), ..any() }, |n| {
            n % 5 == 2 && n % 2 == 0 && n >= 30
        }),
    ];
    for (filter, wanted) in cases {
        let found = audit.query(&filter, 100).await.unwrap();
        let found: Vec<_> = found.iter().map(|record| record.parse().unwrap()).collect();
        let expected: Vec<_> = (0..60).filter(|number| wanted(*number)).map(event).collect();
        assert_eq!(found, expected, "{filter:?}");
    }
}

pub(crate) async fn pages_tails_and_exports(fixture: &mut Fixture) {
    let audit = fixture.store.audit();
    audit.append(&events(0..1500)).await.unwrap();
    audit.append(&events(1500..2500)).await.unwrap();
    let newest = AuditFilter { newest_first: true, ..AuditFilter::default() };
    let seq = |records: &[switchboard_store::AuditRecord]| records.iter().map(|record| record.seq).collect::<Vec<_>>();
    assert_eq!(seq(&audit.query(&newest, 3).await.unwrap()), [2500, 2499, 2498]);
    assert_eq!(seq(&audit.tail(3).await.unwrap()), [2498, 2499, 2500]);
    assert_eq!(audit.query(&AuditFilter::default(), 0).await.unwrap().len(), 0);
    let mut export = audit.export(AuditFilter { after: Some(10), ..AuditFilter::default() }).await.unwrap();
    // What comes later is not part of it.
    audit.append(&events(2500..2510)).await.unwrap();
    let mut exported = Vec::new();
    while let Some(page) = export.next().await.unwrap() {
        exported.extend(seq(&page));
    }
    assert_eq!(exported, (11..=2500).collect::<Vec<_>>());
}

pub(crate) async fn counts_by_group(fixture: &mut Fixture) {
    let audit = fixture.store.audit();
    audit.append(&events(0..30)).await.unwrap();
    let pairs =
        |pairs: &[(&str, u64)]| pairs.iter().map(|(key, count)| ((*key).to_owned(), *count)).collect::<Vec<_>>();
    let cases = [
        (Group::EventType, pairs(&[("TOOL_BLOCKED", 15), ("TOOL_EXECUTED", 15)])),
        (Group::Actor, pairs(&[("agent-0", 10), ("agent-1", 10), ("agent-2", 10)])),
        (Group::Server, pairs(&[("", 6), ("server-1", 6), ("server-2", 6), ("server-3", 6), ("server-4", 6)])),
        (Group::Result, pairs(&[("BLOCKED", 15), ("SUCCESS", 15)])),
    ];
    for (group, expected) in cases {
        assert_eq!(audit.count(&AuditFilter::default(), group).await.unwrap(), expected, "{group:?}");
    }
    let hours = audit.count(&AuditFilter::default(), Group::Hour).await.unwrap();
    assert_eq!(hours.iter().map(|(_, count)| count).sum::<u64>(), 30);
    let (hour, _) = &hours[0];
    assert_eq!(hour.parse::<i64>().unwrap() % 3_600_000_000, 0);
}

pub(crate) async fn many_callers_share_one_chain(fixture: &mut Fixture) {
    let mut callers = tokio::task::JoinSet::new();
    for caller in 0..32 {
        let store = fixture.store.clone();
        callers.spawn(async move {
            let mut numbers = Vec::new();
            for round in 0..8 {
                let appended = store.audit().append(&[event(caller * 100 + round), event(round)]).await.unwrap();
                // One call's events stay together.
                assert_eq!(appended[0].seq + 1, appended[1].seq);
                numbers.extend(appended.iter().map(|link| link.seq));
            }
            numbers
        });
    }
    let mut numbers: Vec<_> = callers.join_all().await.into_iter().flatten().collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=512).collect::<Vec<_>>());
    assert!(fixture.store.audit().verify(&[]).await.unwrap().is_whole());
}

pub(crate) async fn heads_are_signed_by_count_and_by_time(fixture: &mut Fixture) {
    fixture.options.heads = switchboard_store::HeadPolicy { records: 10, interval: Duration::from_secs(60) };
    fixture.reopen().await;
    let audit = fixture.store.audit();
    let heads = async || audit.verify(&[]).await.unwrap().heads;
    // The tip agrees as well, and so does each head once on file and once in the database.
    let empty = heads().await;
    audit.append(&[event(0)]).await.unwrap();
    let first = heads().await;
    assert!(first > empty, "the first record is sealed at once");
    audit.append(&events(1..9)).await.unwrap();
    assert_eq!(heads().await, first, "neither count nor time is due");
    audit.append(&events(9..12)).await.unwrap();
    let counted = heads().await;
    assert_eq!(counted, first + 2, "eleven records");
    audit.append(&[event(100)]).await.unwrap();
    assert_eq!(heads().await, counted + 2, "a minute and more");
    let head = audit.seal(at(101)).await.unwrap();
    assert!(head.is_genuine());
    assert_eq!((head.kind, head.seq, head.key.as_str()), (HeadKind::Grown, 13, fixture.store.audit_key()));
    assert_eq!(head.hash, audit.end().await.unwrap().hash);
}

pub(crate) async fn old_records_can_be_removed_and_the_rest_verifies(fixture: &mut Fixture) {
    {
        let audit = fixture.store.audit();
        audit.append(&events(0..50)).await.unwrap();
        assert_eq!(audit.prune(at(0), at(60)).await.unwrap(), None);
        let head = audit.prune(at(20), at(60)).await.unwrap().unwrap();
        assert_eq!((head.kind, head.seq), (HeadKind::Pruned, 20));
        let report = audit.verify(&[]).await.unwrap();
        assert!(report.is_whole(), "{report:?}");
        assert_eq!((report.first, report.last, report.records), (21, 50, 30));
    }
    fixture.reopen().await;
    let audit = fixture.store.audit();
    audit.append(&events(50..52)).await.unwrap();
    assert!(audit.verify(&[]).await.unwrap().is_whole());
    // Everything may go, and the chain goes on.
    assert_eq!(audit.prune(at(1000), at(61)).await.unwrap().unwrap().seq, 52);
    assert_eq!(audit.append(&events(52..53)).await.unwrap()[0].seq, 53);
    fixture.reopen().await;
    let report = fixture.store.audit().verify(&[]).await.unwrap();
    assert!(report.is_whole(), "{report:?}");
    assert_eq!((report.first, report.last), (53, 53));
}

/// Long appends are written in blocks: whichever length they have and whatever was before them, it is one chain.
pub(crate) async fn appends_of_any_length_are_one_chain(fixture: &mut Fixture) {
    let audit = fixture.store.audit();
    let mut count = 0;
    for everything_goes in [false, true] {
        for length in [1, 2, 15, 16, 17, 18, 32, 33, 34, 100] {
            if everything_goes {
                audit.prune(at(i64::from(u16::MAX)), at(count)).await.unwrap();
            }
            let appended = audit.append(&events(count..count + length)).await.unwrap();
            let expected: Vec<u64> = (count + 1..=count + length).map(|seq| seq.try_into().unwrap()).collect();
            assert_eq!(appended.iter().map(|link| link.seq).collect::<Vec<_>>(), expected);
            let after = Some(u64::try_from(count).unwrap());
            let records = audit.query(&AuditFilter { after, ..AuditFilter::default() }, 1000).await.unwrap();
            assert_eq!(records.len(), appended.len());
            for ((record, link), number) in records.iter().zip(&appended).zip(count..) {
                assert_eq!((record.seq, record.hash), (link.seq, link.hash));
                assert_eq!(record.parse().unwrap(), event(number));
            }
            count += length;
            let report = audit.verify(&[]).await.unwrap();
            assert!(report.is_whole(), "{length}: {report:?}");
        }
    }
}

pub(crate) async fn odd_text_is_kept_and_found(fixture: &mut Fixture) {
    let audit = fixture.store.audit();
    let mut odd = event(1);
    odd.trace_id = Some(format!("a\0b{}", "é".repeat(3000)).into());
    odd.actor.id = "'; DROP TABLE audit; --".into();
    odd.result = String::new().into();
    audit.append(&[odd.clone(), event(2)]).await.unwrap();
    let filter = AuditFilter { trace_id: odd.trace_id.as_deref().map(ToOwned::to_owned), ..AuditFilter::default() };
    let found = audit.query(&filter, 10).await.unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].parse().unwrap(), odd);
    let filter = AuditFilter { actor: Some(odd.actor.id.to_string()), ..AuditFilter::default() };
    assert_eq!(audit.query(&filter, 10).await.unwrap().len(), 1);
    assert!(audit.verify(&[]).await.unwrap().is_whole());
}

/// Whatever became of an offer: made again, each event stands in the log as often as it was offered.
pub(crate) async fn what_is_offered_again_is_added_once(fixture: &mut Fixture) {
    let log = fixture.store.audit();
    let prepared = |numbers: &[i64]| numbers.iter().map(|number| log.prepare(&event(*number)).unwrap()).collect();
    log.append(&events(0..3)).await.unwrap();
    let first = log.append_prepared(prepared(&[3, 4, 4])).await.unwrap();
    // Some are there, one of them twice; some are not; and what stands before the mark does not count.
    let again = log.append_once(prepared(&[3, 5, 4, 0, 4, 4]), 3).await.unwrap();
    assert_eq!(again.iter().map(|one| one.seq).collect::<Vec<_>>(), [4, 7, 5, 8, 6, 9]);
    assert_eq!(again[0], first[0]);
    // All are there, beyond one page of records.
    let many: Vec<i64> = (10..1_500).collect();
    log.append_prepared(prepared(&many)).await.unwrap();
    let found = log.append_once(prepared(&many), 9).await.unwrap();
    assert_eq!((found.len(), found.last().unwrap().seq), (1_490, 1_499));
    assert_eq!(log.end().await.unwrap().seq, 1_499);
    assert!(log.append_once(Vec::new(), 0).await.unwrap().is_empty());
    assert!(log.verify(&[]).await.unwrap().is_whole());
}

pub(crate) async fn a_refused_group_leaves_nothing_and_an_unknown_one_is_recognised(fixture: &mut Fixture) {
    let at_boundary = Arc::new(Mutex::new(None));
    let asked = at_boundary.clone();
    fixture.options.faults =
        Some(Arc::new(
            move |boundary| {
                if *asked.lock().unwrap() == Some(boundary) { Err(StoreError::Undetermined) } else { Ok(()) }
            },
        ));
    fixture.reopen().await;
    let log = fixture.store.audit();
    let offer = || vec![log.prepare(&event(1)).unwrap()];
    for (boundary, stands) in [(Boundary::BeforeCommit, 0), (Boundary::AfterCommit, 1)] {
        let end = log.end().await.unwrap().seq;
        *at_boundary.lock().unwrap() = Some(boundary);
        assert!(matches!(log.append_prepared(offer()).await, Err(StoreError::Undetermined)));
        *at_boundary.lock().unwrap() = None;
        assert_eq!(log.end().await.unwrap().seq, end + stands, "{boundary:?}");
        assert_eq!(log.append_once(offer(), end).await.unwrap()[0].seq, end + 1);
        assert_eq!(log.end().await.unwrap().seq, end + 1);
    }
    assert!(log.verify(&[]).await.unwrap().is_whole());
}

/// The database is put back behind what this writer wrote: it takes nothing, until what is there goes on from it again.
pub(crate) async fn a_chain_that_fell_back_takes_nothing(fixture: &mut Fixture) {
    fixture.store.audit().append(&events(0..10)).await.unwrap();
    let other = Store::open(&fixture.location, fixture.options.clone()).await.unwrap();
    fixture.store.audit().append(&events(10..20)).await.unwrap();
    // Others may add to the chain.
    other.audit().append(&events(20..22)).await.unwrap();
    fixture.store.audit().append(&events(22..23)).await.unwrap();
    fixture.cut_after(12).await;
    let refused = fixture.store.audit().append(&events(30..31)).await.unwrap_err();
    let expected = Breach { seq: 13, fault: Fault::Cut { reached: 23 } };
    assert!(matches!(&refused, StoreError::ChainBroken(breach) if *breach == expected), "{refused:?}");
    // Also where somebody else has written on beyond what was cut. `other` saw the chain up to its own last record.
    assert!(other.audit().append(&events(31..32)).await.is_err());
    other.close().await.unwrap();
}

/// All rows of the log, or its first ones, are removed and the rest is left as it was: nothing is added to it, by whoever has it open
/// nor by whoever opens it, until the operator accepts that. What retention removes is no such thing.
pub(crate) async fn an_emptied_log_takes_nothing_until_it_is_accepted(fixture: &mut Fixture) {
    for retained in [0, 20] {
        let first = fixture.store.audit().end().await.unwrap().seq;
        fixture.store.audit().append(&events(0..30)).await.unwrap();
        let end = first + 30;
        if retained > 0 {
            fixture.store.audit().prune(at(retained), at(60)).await.unwrap().unwrap();
            // One that retention has cut opens as ever.
            fixture.reopen().await;
        }
        fixture.execute("CREATE TABLE kept AS SELECT * FROM audit").await;
        fixture.execute(&format!("DELETE FROM audit WHERE seq <= {}", end - 5)).await;
        let began = fixture.store.audit().verify(&[]).await.unwrap().breach.unwrap();
        assert_eq!(began.fault, Fault::Missing, "{began:?}");
        let refused = Store::open(&fixture.location, fixture.options.clone()).await.unwrap_err();
        assert!(matches!(&refused, StoreError::ChainBroken(breach) if *breach == began), "{refused:?}");
        fixture.execute("DELETE FROM audit").await;
        let breach = fixture.store.audit().verify(&[]).await.unwrap().breach.unwrap();
        assert_eq!(breach, Breach { seq: began.seq, fault: Fault::Cut { reached: end } });
        let refused = Store::open(&fixture.location, fixture.options.clone()).await.unwrap_err();
        assert!(matches!(&refused, StoreError::ChainBroken(found) if *found == breach), "{refused:?}");
        let running = fixture.store.audit().append(&events(30..31)).await;
        assert!(matches!(running, Err(StoreError::ChainBroken(_))), "{running:?}");
        // With the rows back all goes on by itself.
        fixture.execute("INSERT INTO audit SELECT * FROM kept; DROP TABLE kept").await;
        fixture.store.audit().append(&events(30..31)).await.unwrap();
        assert!(fixture.store.audit().verify(&[]).await.unwrap().is_whole());
        fixture.execute("DELETE FROM audit").await;
        fixture.store.close().await.unwrap();
        let restore = Options { mode: Mode::Restore { now: at(200) }, ..fixture.options.clone() };
        fixture.store = Store::open(&fixture.location, restore).await.unwrap();
        assert_eq!(fixture.store.audit().append(&events(40..42)).await.unwrap()[0].seq, breach.seq);
        fixture.reopen().await;
        fixture.store.audit().append(&events(42..44)).await.unwrap();
        let report = fixture.store.audit().verify(&[]).await.unwrap();
        assert!(report.is_whole(), "{report:?}");
        assert_eq!(report.restores.last().unwrap().reached, end + 1, "{report:?}");
        // A log of its own for the next round.
        fixture.store.audit().prune(at(u16::MAX.into()), at(300)).await.unwrap();
        fixture.reopen().await;
    }
}

/// A backup from before retention removed its first records is put in place, and accepted.
pub(crate) async fn a_copy_from_before_a_retention_can_be_accepted(fixture: &mut Fixture) {
    fixture.store.audit().append(&events(0..30)).await.unwrap();
    fixture
        .execute(
            "CREATE TABLE old AS SELECT * FROM audit; CREATE TABLE old_heads AS SELECT * FROM audit_heads; \
             CREATE TABLE old_tip AS SELECT * FROM audit_tip",
        )
        .await;
    fixture.store.audit().append(&events(30..40)).await.unwrap();
    fixture.store.audit().prune(at(20), at(60)).await.unwrap().unwrap();
    fixture.store.close().await.unwrap();
    fixture
        .execute(
            "DELETE FROM audit; INSERT INTO audit SELECT * FROM old; \
             DELETE FROM audit_heads; INSERT INTO audit_heads SELECT * FROM old_heads; \
             DELETE FROM audit_tip; INSERT INTO audit_tip SELECT * FROM old_tip",
        )
        .await;
    let refused = Store::open(&fixture.location, fixture.options.clone()).await.unwrap_err();
    assert!(matches!(&refused, StoreError::ChainBroken(_)), "{refused:?}");
    let restore = Options { mode: Mode::Restore { now: at(200) }, ..fixture.options.clone() };
    fixture.store = Store::open(&fixture.location, restore).await.unwrap();
    fixture.store.audit().append(&events(50..52)).await.unwrap();
    fixture.reopen().await;
    let report = fixture.store.audit().verify(&[]).await.unwrap();
    assert!(report.is_whole(), "{report:?}");
    // The rest of it is retained as ever.
    fixture.store.audit().prune(at(25), at(300)).await.unwrap().unwrap();
    fixture.reopen().await;
    let report = fixture.store.audit().verify(&[]).await.unwrap();
    assert!(report.is_whole(), "{report:?}");
}
