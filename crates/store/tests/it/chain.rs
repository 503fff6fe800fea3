//! A log that someone edits behind the store's back: every kind is found, and the first bad record named.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use switchboard_store::{
    Breach, Digest, Fault, HeadPolicy, Location, Mode, Options, Report, Restored, Store, StoreError,
};

use crate::sample::{Fixture, at, events};

const RECORDS: i64 = 30;

fn options() -> Options {
    // Few heads, so that the chain itself has to tell and not the nearest head.
    Options { heads: HeadPolicy { records: 1000, ..HeadPolicy::default() }, ..Options::default() }
}

/// A closed store with thirty records, and nothing left in its log.
async fn written() -> Fixture {
    let fixture = Fixture::sqlite(options()).await;
    fixture.store.audit().append(&events(0..RECORDS)).await.unwrap();
    fixture.store.close().await.unwrap();
    fixture
}

fn path(fixture: &Fixture) -> PathBuf {
    let Location::File(path) = &fixture.location else { unreachable!() };
    path.clone()
}

async fn verify(fixture: &Fixture) -> Report {
    let options = Options { mode: Mode::ReadOnly, ..options() };
    let store = Store::open(&fixture.location, options).await.unwrap();
    let report = store.audit().verify(&[]).await.unwrap();
    store.close().await.unwrap();
    report
}

async fn breach_after(tamper: impl FnOnce(&Connection)) -> (Fixture, Breach) {
    let fixture = written().await;
    assert!(verify(&fixture).await.is_whole());
    tamper(&Connection::open(path(&fixture)).unwrap());
    let breach = verify(&fixture).await.breach.expect("the breach is found");
    (fixture, breach)
}

fn execute(connection: &Connection, sql: &str) {
    connection.execute_batch(sql).unwrap();
}

/// Fault row 26, 1.
#[tokio::test]
async fn a_flipped_bit_is_found_in_every_part_of_a_record() {
    let cases = [
        ("UPDATE audit SET event = replace(event, 'agent-1', 'agent-3') WHERE seq = 14", Fault::Altered),
        ("UPDATE audit SET time = time + 1 WHERE seq = 14", Fault::Altered),
        ("UPDATE audit SET hash = zeroblob(32) WHERE seq = 14", Fault::Altered),
        ("UPDATE audit SET previous = zeroblob(32) WHERE seq = 14", Fault::Unlinked),
        ("UPDATE audit SET actor = 'nobody' WHERE seq = 14", Fault::Disagrees),
        ("UPDATE audit SET server = NULL WHERE seq = 14", Fault::Disagrees),
        ("UPDATE audit SET tool = 'x' WHERE seq = 14", Fault::Disagrees),
        ("UPDATE audit SET trace = 'x' WHERE seq = 14", Fault::Disagrees),
        ("UPDATE audit SET event_type = 'x' WHERE seq = 14", Fault::Disagrees),
        ("UPDATE audit SET result = 'x' WHERE seq = 14", Fault::Disagrees),
    ];
    for (sql, fault) in cases {
        let (_, breach) = breach_after(|connection| execute(connection, sql)).await;
        assert_eq!(breach, Breach { seq: 14, fault }, "{sql}");
    }
}

/// The same in the file itself, under the feet of the engine.
#[tokio::test]
async fn a_flipped_bit_on_disk_is_found() {
    let fixture = written().await;
    let mut bytes = fs::read(path(&fixture)).unwrap();
    // The text of one event; the number occurs nowhere else, but a page that was divided may hold an old copy.
    let needle = b"{\"number\":17,";
    let places: Vec<_> = (0..=bytes.len() - needle.len()).filter(|at| bytes[*at..].starts_with(needle)).collect();
    assert!(!places.is_empty());
    for place in places {
        bytes[place + needle.len() - 2] ^= 1;
    }
    fs::write(path(&fixture), bytes).unwrap();
    let breach = verify(&fixture).await.breach;
    assert_eq!(breach, Some(Breach { seq: 18, fault: Fault::Altered }));
}

/// Fault row 26, 2.
#[tokio::test]
async fn a_removed_row_is_found() {
    let (_, breach) = breach_after(|connection| execute(connection, "DELETE FROM audit WHERE seq = 9")).await;
    assert_eq!(breach, Breach { seq: 9, fault: Fault::Missing });
    let (_, breach) = breach_after(|connection| execute(connection, "DELETE FROM audit WHERE seq = 1")).await;
    assert_eq!(breach, Breach { seq: 1, fault: Fault::Missing });
    // With the gap closed by renumbering.
    let sql = "DELETE FROM audit WHERE seq = 9; UPDATE audit SET seq = seq - 1 WHERE seq > 9";
    let (_, breach) = breach_after(|connection| execute(connection, sql)).await;
    assert_eq!(breach, Breach { seq: 9, fault: Fault::Unlinked });
}

/// Fault row 26, 3. The tail after the last head is found too, because the tip is signed.
#[tokio::test]
async fn a_cut_tail_is_found_and_nothing_is_appended_to_it() {
    let cuts = [
        "DELETE FROM audit WHERE seq > 29",
        // With the tip of the database made to fit.
        "DELETE FROM audit WHERE seq > 20; \
         UPDATE audit_tip SET seq = 20, hash = (SELECT hash FROM audit WHERE seq = 20); \
         DELETE FROM audit_heads",
        "DELETE FROM audit; UPDATE audit_tip SET seq = 0, hash = zeroblob(32); DELETE FROM audit_heads",
    ];
    for (sql, seq) in cuts.into_iter().zip([30, 21, 1]) {
        let (fixture, breach) = breach_after(|connection| execute(connection, sql)).await;
        let expected = Breach { seq, fault: Fault::Cut { reached: 30 } };
        assert_eq!(breach, expected, "{sql}");
        let refused = Store::open(&fixture.location, options()).await.unwrap_err();
        assert!(matches!(&refused, StoreError::ChainBroken(breach) if *breach == expected), "{refused:?}");
    }
}

/// Fault row 26, 4.
#[tokio::test]
async fn swapped_rows_are_found() {
    let swap = "UPDATE audit SET seq = -1 WHERE seq = 11; UPDATE audit SET seq = 11 WHERE seq = 12; \
                UPDATE audit SET seq = 12 WHERE seq = -1";
    let (_, breach) = breach_after(|connection| execute(connection, swap)).await;
    assert_eq!(breach, Breach { seq: 11, fault: Fault::Unlinked });
}

fn copy(from: &Path, to: &Path, names: &[&str]) {
    for name in names {
        fs::copy(from.join(name), to.join(name)).unwrap();
    }
}

/// Fault row 26, 5.
#[tokio::test]
async fn an_older_copy_is_found() {
    let kept = tempfile::tempdir().unwrap();
    let mut fixture = written().await;
    let place = fixture.directory.path().to_owned();
    copy(&place, kept.path(), &["store.db", "store.audit-tip"]);
    fixture.reopen().await;
    fixture.store.audit().append(&events(30..40)).await.unwrap();
    fixture.store.audit().seal(at(100)).await.unwrap();
    fixture.store.close().await.unwrap();
    // The older database, with the older tip to go with it: the file of heads still knows.
    for names in [&["store.db"][..], &["store.db", "store.audit-tip"]] {
        copy(kept.path(), &place, names);
        let expected = Breach { seq: 31, fault: Fault::Cut { reached: 40 } };
        assert_eq!(verify(&fixture).await.breach, Some(expected.clone()));
        let refused = Store::open(&fixture.location, options()).await.unwrap_err();
        assert!(matches!(&refused, StoreError::ChainBroken(breach) if *breach == expected), "{refused:?}");
    }
    // An operator who restored it on purpose says so, and that is on record.
    let restore = Options { mode: Mode::Restore { now: at(200) }, ..options() };
    let store = Store::open(&fixture.location, restore).await.unwrap();
    assert_eq!(store.audit().append(&events(50..52)).await.unwrap()[0].seq, 31);
    store.close().await.unwrap();
    let report = verify(&fixture).await;
    assert!(report.is_whole(), "{report:?}");
    assert!(fs::read_to_string(place.join("store.audit-heads")).unwrap().contains("\"kind\":\"restored\""));
    assert_eq!(report.restores, [Restored { seq: 30, from: 31, reached: 40, time: at(200) }], "the break is named");
    // What was accepted vouches for all before it.
    execute(&Connection::open(path(&fixture)).unwrap(), "UPDATE audit SET actor = 'nobody' WHERE seq = 14");
    assert_eq!(verify(&fixture).await.breach, Some(Breach { seq: 14, fault: Fault::Disagrees }));
    execute(&Connection::open(path(&fixture)).unwrap(), "UPDATE audit SET actor = 'agent-1' WHERE seq = 14");
    Store::open(&fixture.location, options()).await.unwrap().close().await.unwrap();
}

/// Somebody went on writing where an older copy ended, and the log forked: that too can be accepted, and is named.
#[tokio::test]
async fn a_fork_that_was_accepted_is_named_and_nothing_else_is() {
    let other = tempfile::tempdir().unwrap();
    let mut fixture = written().await;
    let place = fixture.directory.path().to_owned();
    let everything = ["store.db", "store.audit-tip", "store.audit-heads", "store.audit-key"];
    copy(&place, other.path(), &everything);
    fixture.reopen().await;
    fixture.store.audit().append(&events(30..40)).await.unwrap();
    fixture.store.audit().seal(at(100)).await.unwrap();
    fixture.store.close().await.unwrap();
    let elsewhere = Location::File(other.path().join("store.db"));
    let forked = Store::open(&elsewhere, options()).await.unwrap();
    forked.audit().append(&events(60..80)).await.unwrap();
    forked.audit().seal(at(110)).await.unwrap();
    forked.close().await.unwrap();
    copy(other.path(), &place, &["store.db", "store.audit-tip"]);
    let (heads, more) = (place.join("store.audit-heads"), other.path().join("store.audit-heads"));
    let more = fs::read_to_string(more).unwrap().lines().last().unwrap().to_owned();
    fs::write(&heads, format!("{}{more}\n", fs::read_to_string(&heads).unwrap())).unwrap();
    let breach = verify(&fixture).await.breach.unwrap();
    assert_eq!(breach.fault, Fault::Rewritten { head: 40 });
    let restore = Options { mode: Mode::Restore { now: at(200) }, ..options() };
    Store::open(&fixture.location, restore).await.unwrap().close().await.unwrap();
    let report = verify(&fixture).await;
    assert!(report.is_whole(), "{report:?}");
    assert_eq!(report.restores, [Restored { seq: 50, from: breach.seq, reached: 50, time: at(200) }]);
    execute(&Connection::open(path(&fixture)).unwrap(), "DELETE FROM audit WHERE seq > 45");
    assert_eq!(verify(&fixture).await.breach, Some(Breach { seq: 46, fault: Fault::Cut { reached: 50 } }));
}

/// All of it put back to one moment: only a head that was kept elsewhere can tell.
#[tokio::test]
async fn an_older_copy_of_everything_is_found_by_a_head_kept_elsewhere() {
    let kept = tempfile::tempdir().unwrap();
    let everything = ["store.db", "store.audit-tip", "store.audit-heads"];
    let mut fixture = written().await;
    copy(fixture.directory.path(), kept.path(), &everything);
    fixture.reopen().await;
    fixture.store.audit().append(&events(30..40)).await.unwrap();
    let head = fixture.store.audit().seal(at(100)).await.unwrap();
    fixture.store.close().await.unwrap();
    copy(kept.path(), fixture.directory.path(), &everything);
    assert!(verify(&fixture).await.is_whole());
    fixture.store = Store::open(&fixture.location, options()).await.unwrap();
    let report = fixture.store.audit().verify(&[head]).await.unwrap();
    assert_eq!(report.breach, Some(Breach { seq: 31, fault: Fault::Cut { reached: 40 } }));
}

/// Whoever can write the database but not sign recomputes every hash.
#[tokio::test]
async fn a_rewritten_chain_is_found() {
    let (_, breach) = breach_after(|connection| {
        let text: String =
            connection.query_row("SELECT event FROM audit WHERE seq = 14", [], |row| row.get(0)).unwrap();
        let text = text.replace("BLOCKED", "SUCCESS");
        connection
            .execute(
                "UPDATE audit SET event = ?1, result = 'SUCCESS', event_type = 'TOOL_SUCCESS' WHERE seq = 14",
                [&text],
            )
            .unwrap();
        let mut previous: Vec<u8> =
            connection.query_row("SELECT hash FROM audit WHERE seq = 13", [], |row| row.get(0)).unwrap();
        for seq in 14..=RECORDS {
            let (time, event): (i64, String) = connection
                .query_row("SELECT time, event FROM audit WHERE seq = ?1", [seq], |row| Ok((row.get(0)?, row.get(1)?)))
                .unwrap();
            let text = format!("{{\"event\":{event},\"seq\":{seq},\"time\":{time}}}");
            let hash = Digest::of(&[&previous, text.as_bytes()].concat()).as_bytes().to_vec();
            connection
                .execute(
                    "UPDATE audit SET previous = ?1, hash = ?2 WHERE seq = ?3",
                    rusqlite::params![previous, hash, seq],
                )
                .unwrap();
            previous = hash;
        }
        connection.execute("UPDATE audit_tip SET hash = ?1", [&previous]).unwrap();
    })
    .await;
    // Everything after the last head that agreed (the one of the empty log) is in doubt.
    assert_eq!(breach, Breach { seq: 1, fault: Fault::Rewritten { head: 30 } });
}

#[tokio::test]
async fn evidence_that_was_touched_is_found() {
    let edit = |name: &'static str, change: fn(String) -> Option<String>| {
        move |place: &Path| {
            let path = place.join(name);
            match change(fs::read_to_string(&path).unwrap()) {
                Some(text) => fs::write(&path, text).unwrap(),
                None => fs::remove_file(&path).unwrap(),
            }
        }
    };
    type Edit = Box<dyn Fn(&Path)>;
    let cases: Vec<(Edit, Fault)> = vec![
        (Box::new(edit("store.audit-tip", |_| None)), Fault::NoHeads),
        (Box::new(edit("store.audit-tip", |_| Some("nonsense".to_owned()))), Fault::Unreadable { line: 0 }),
        (Box::new(edit("store.audit-tip", |text| Some(text.replace("\"seq\":30", "\"seq\":29")))), Fault::Forged),
        (Box::new(edit("store.audit-heads", |_| None)), Fault::NoHeads),
        (Box::new(edit("store.audit-heads", |_| Some(String::new()))), Fault::NoHeads),
        (Box::new(edit("store.audit-heads", |text| Some(text.replace("\"seq\":30", "\"seq\":29")))), Fault::Forged),
        (Box::new(edit("store.audit-heads", |text| Some(format!("nonsense\n{text}")))), Fault::Unreadable { line: 1 }),
    ];
    for (edit, fault) in cases {
        let fixture = written().await;
        edit(fixture.directory.path());
        assert_eq!(verify(&fixture).await.breach.map(|breach| breach.fault), Some(fault.clone()));
        let opened = Store::open(&fixture.location, options()).await;
        let refused = matches!(opened, Err(StoreError::ChainBroken(_) | StoreError::File { .. }));
        assert!(refused, "{fault:?}: {opened:?}");
    }
    // Without its key nothing can be vouched for, and a new key would hide that.
    let fixture = written().await;
    fs::remove_file(fixture.directory.path().join("store.audit-key")).unwrap();
    assert!(matches!(Store::open(&fixture.location, options()).await, Err(StoreError::File { .. })));
}

/// A start looks at the heads on file, wherever the damage is; once the operator has accepted the log, it is no hindrance.
#[tokio::test]
async fn damaged_heads_are_found_at_the_start_until_they_are_accepted() {
    type Damage = fn(&mut Vec<String>);
    let damages: [(Damage, Fault); 3] = [
        (|lines| lines[1] = "nonsense".to_owned(), Fault::Unreadable { line: 2 }),
        (|lines| lines[3].truncate(20), Fault::Unreadable { line: 4 }),
        (|lines| lines[2] = lines[2].replacen("\"seq\":", "\"seq\":1", 1), Fault::Forged),
    ];
    for (damage, fault) in damages {
        let few = Options { heads: HeadPolicy { records: 1, ..HeadPolicy::default() }, ..Options::default() };
        let fixture = Fixture::sqlite(few.clone()).await;
        for record in 0..6 {
            fixture.store.audit().append(&events(record..record + 1)).await.unwrap();
        }
        fixture.store.close().await.unwrap();
        let path = fixture.directory.path().join("store.audit-heads");
        let mut lines: Vec<String> = fs::read_to_string(&path).unwrap().lines().map(str::to_owned).collect();
        assert!(lines.len() >= 6, "{lines:?}");
        damage(&mut lines);
        fs::write(&path, lines.join("\n") + "\n").unwrap();
        let opened = Store::open(&fixture.location, few.clone()).await;
        assert!(
            matches!(&opened, Err(StoreError::ChainBroken(breach)) if breach.fault == fault),
            "{fault:?}: {opened:?}"
        );
        let restore = Options { mode: Mode::Restore { now: at(1_000) }, ..few.clone() };
        Store::open(&fixture.location, restore).await.unwrap().close().await.unwrap();
        let store = Store::open(&fixture.location, few).await.unwrap();
        store.audit().append(&events(6..8)).await.unwrap();
        let report = store.audit().verify(&[]).await.unwrap();
        assert!(report.is_whole() && report.restores.len() == 1, "{fault:?}: {report:?}");
    }
}

/// A crash can leave half a line; that is no breach.
#[tokio::test]
async fn a_half_written_head_is_mended() {
    let mut fixture = written().await;
    let path = fixture.directory.path().join("store.audit-heads");
    let whole = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{whole}{}", &whole[..40])).unwrap();
    assert!(verify(&fixture).await.is_whole());
    fixture.reopen().await;
    fixture.store.audit().append(&events(0..3)).await.unwrap();
    assert!(fixture.store.audit().verify(&[]).await.unwrap().is_whole());
    assert!(fs::read_to_string(&path).unwrap().starts_with(&whole));
}

/// A record that someone put after the end is in the way of an append: it fails, and leaves nothing behind.
#[tokio::test]
async fn records_after_the_end_are_in_the_way() {
    for beyond in [1, 2, 20, 1_000] {
        let fixture = Fixture::sqlite(options()).await;
        let audit = fixture.store.audit();
        audit.append(&events(0..RECORDS)).await.unwrap();
        let connection = Connection::open(path(&fixture)).unwrap();
        let rogue = RECORDS + beyond;
        let copied = "time, event, previous, hash, event_type, actor, server, tool, trace, result";
        execute(&connection, &format!("INSERT INTO audit SELECT {rogue}, {copied} FROM audit WHERE seq = 7"));
        let refused = audit.append(&events(RECORDS..RECORDS + 40)).await;
        assert!(matches!(refused, Err(StoreError::Conflict(_) | StoreError::Corrupt(_))), "{beyond}: {refused:?}");
        execute(&connection, &format!("DELETE FROM audit WHERE seq = {rogue}"));
        audit.append(&events(RECORDS..RECORDS + 40)).await.unwrap();
        let report = audit.verify(&[]).await.unwrap();
        assert!(report.is_whole(), "{report:?}");
        assert_eq!(report.records, u64::try_from(RECORDS).unwrap() + 40);
        fixture.store.close().await.unwrap();
    }
}
