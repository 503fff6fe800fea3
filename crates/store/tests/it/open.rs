//! Opening: files, schemas, modes, damage.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::time::Duration;

use switchboard_store::{Location, Mode, Options, Store, StoreError};

use crate::sample::{Fixture, at, events};

#[tokio::test]
async fn every_file_is_private() {
    let directory = tempfile::tempdir().unwrap();
    let inner = directory.path().join("new").join("folder");
    let location = Location::File(inner.join("store.db"));
    let store = Store::open(&location, Options::default()).await.unwrap();
    store.audit().append(&events(0..3)).await.unwrap();
    assert_eq!(fs::metadata(&inner).unwrap().mode() & 0o777, 0o700);
    let mut names = Vec::new();
    for entry in fs::read_dir(&inner).unwrap() {
        let entry = entry.unwrap();
        assert_eq!(entry.metadata().unwrap().mode() & 0o777, 0o600, "{:?}", entry.path());
        names.push(entry.file_name().into_string().unwrap());
    }
    names.sort_unstable();
    let expected =
        ["store.audit-heads", "store.audit-key", "store.audit-tip", "store.db", "store.db-shm", "store.db-wal"];
    assert_eq!(names, expected);
}

#[tokio::test]
async fn files_that_others_can_write_are_refused() {
    for name in ["store.db", "store.audit-key", "store.audit-heads", "store.audit-tip", ""] {
        let fixture = Fixture::sqlite(Options::default()).await;
        fixture.store.audit().append(&events(0..3)).await.unwrap();
        fixture.store.close().await.unwrap();
        let path = fixture.directory.path().join(name);
        let mode = if name.is_empty() { 0o770 } else { 0o620 };
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let refused = Store::open(&fixture.location, Options::default()).await;
        assert!(matches!(refused, Err(StoreError::NotPrivate { .. })), "{name}: {refused:?}");
    }
}

#[tokio::test]
async fn a_schema_of_a_later_version_is_refused() {
    let fixture = Fixture::sqlite(Options::default()).await;
    fixture.store.close().await.unwrap();
    let Location::File(path) = &fixture.location else { unreachable!() };
    let connection = rusqlite::Connection::open(path).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    drop(connection);
    for mode in [Mode::ReadWrite, Mode::ReadOnly, Mode::Restore { now: at(0) }] {
        let error = Store::open(&fixture.location, Options { mode, ..Options::default() }).await.unwrap_err();
        assert!(matches!(error, StoreError::NewerSchema { found: 99, .. }), "{error:?}");
        assert!(error.to_string().contains("99"), "{error}");
    }
}

#[tokio::test]
async fn a_damaged_database_is_refused_with_a_clear_word() {
    let fixture = Fixture::sqlite(Options::default()).await;
    fixture.store.audit().append(&events(0..100)).await.unwrap();
    fixture.store.close().await.unwrap();
    let Location::File(path) = &fixture.location else { unreachable!() };
    fs::write(path, b"not a database at all, but long enough to look like one".repeat(100)).unwrap();
    let error = Store::open(&fixture.location, Options::default()).await.unwrap_err();
    assert!(matches!(error, StoreError::Corrupt(_)), "{error:?}");
}

#[tokio::test]
async fn reading_only_changes_nothing() {
    let missing = Location::File(tempfile::tempdir().unwrap().path().join("store.db"));
    let read_only = || Options { mode: Mode::ReadOnly, ..Options::default() };
    assert!(Store::open(&missing, read_only()).await.is_err());
    let fixture = Fixture::sqlite(Options::default()).await;
    fixture.store.audit().append(&events(0..20)).await.unwrap();
    // Beside a writer that is still there.
    let reader = Store::open(&fixture.location, read_only()).await.unwrap();
    assert_eq!(reader.audit().tail(5).await.unwrap().len(), 5);
    assert!(reader.audit().verify(&[]).await.unwrap().is_whole());
    assert!(matches!(reader.audit().append(&events(0..1)).await, Err(StoreError::ReadOnly)));
    assert!(matches!(reader.tokens().touch(crate::sample::digest("x"), at(0)).await, Err(StoreError::ReadOnly)));
    fixture.store.audit().append(&events(20..30)).await.unwrap();
    assert_eq!(reader.audit().end().await.unwrap().seq, 30);
}

#[tokio::test]
async fn two_processes_can_append_to_one_chain() {
    let one = Fixture::sqlite(Options::default()).await;
    let two = Store::open(&one.location, Options::default()).await.unwrap();
    for round in 0..10 {
        one.store.audit().append(&events(round..round + 2)).await.unwrap();
        two.audit().append(&events(round..round + 3)).await.unwrap();
    }
    let report = one.store.audit().verify(&[]).await.unwrap();
    assert!(report.is_whole(), "{report:?}");
    assert_eq!(report.records, 50);
}

#[tokio::test]
async fn a_closed_store_takes_no_more() {
    let fixture = Fixture::sqlite(Options::default()).await;
    fixture.store.close().await.unwrap();
    fixture.store.close().await.unwrap();
    assert!(matches!(fixture.store.audit().append(&events(0..1)).await, Err(StoreError::Closed)));
    assert!(matches!(fixture.store.audit().tail(1).await, Err(StoreError::Closed)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn opening_beside_one_that_appends_is_no_breach() {
    let one = Fixture::sqlite(Options::default()).await;
    let store = one.store.clone();
    let appending = tokio::spawn(async move {
        for round in 0..60 {
            store.audit().append(&events(round..round + 2)).await.unwrap();
        }
    });
    let mut opened = 0;
    while !appending.is_finished() || opened < 5 {
        let beside = Store::open(&one.location, Options::default()).await.unwrap();
        beside.audit().append(&events(opened..opened + 1)).await.unwrap();
        beside.close().await.unwrap();
        opened += 1;
    }
    appending.await.unwrap();
    let report = one.store.audit().verify(&[]).await.unwrap();
    assert!(report.is_whole(), "{report:?}");
}

/// A store of an earlier version goes on with the pages that it has.
#[tokio::test]
async fn a_store_with_other_pages_goes_on() {
    let mut fixture = Fixture::sqlite(Options::default()).await;
    fixture.store.audit().append(&events(0..30)).await.unwrap();
    fixture.store.close().await.unwrap();
    let Location::File(path) = fixture.location.clone() else { unreachable!() };
    let connection = rusqlite::Connection::open(&path).unwrap();
    // Nothing but a copy without the log gets other pages.
    connection.execute_batch("PRAGMA journal_mode = delete; PRAGMA page_size = 4096; VACUUM").unwrap();
    drop(connection);
    fixture.reopen().await;
    fixture.store.audit().append(&events(30..90)).await.unwrap();
    let report = fixture.store.audit().verify(&[]).await.unwrap();
    assert!(report.is_whole(), "{report:?}");
    assert_eq!(report.records, 90);
    let connection = rusqlite::Connection::open(&path).unwrap();
    let size: i64 = connection.pragma_query_value(None, "page_size", |row| row.get(0)).unwrap();
    assert_eq!(size, 4096);
}

/// An auditor's copy, which may not be written: it is read as it is, without a log beside it.
#[tokio::test]
async fn a_copy_that_may_not_be_written_is_read() {
    let fixture = Fixture::sqlite(Options::default()).await;
    fixture.store.audit().append(&events(0..30)).await.unwrap();
    fixture.store.close().await.unwrap();
    let Location::File(path) = &fixture.location else { unreachable!() };
    let folder = fixture.directory.path();
    let allow = |path: &std::path::Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    // What may be written is no question for root; a name with odd letters must be found all the same.
    let odd = folder.join("a?b#c%20.db");
    fs::copy(path, &odd).unwrap();
    for end in ["key", "heads", "tip"] {
        let name = |stem: &str| folder.join(format!("{stem}.audit-{end}"));
        fs::copy(name("store"), name("a?b#c%20")).unwrap();
    }
    for file in fs::read_dir(folder).unwrap() {
        allow(&file.unwrap().path(), 0o400);
    }
    allow(folder, 0o500);
    for path in [path, &odd] {
        let options = Options { mode: Mode::ReadOnly, ..Options::default() };
        let store = Store::open(&Location::File(path.clone()), options).await.unwrap();
        let report = store.audit().verify(&[]).await.unwrap();
        assert!(report.is_whole() && report.records == 30, "{report:?}");
        store.close().await.unwrap();
    }
    allow(folder, 0o700);
}

/// A file that is removed or replaced while the store is open takes nothing more.
#[tokio::test]
async fn a_file_that_was_removed_or_replaced_takes_nothing() {
    for replaced in [false, true] {
        let fixture = Fixture::sqlite(Options::default()).await;
        fixture.store.audit().append(&events(0..3)).await.unwrap();
        let Location::File(path) = &fixture.location else { unreachable!() };
        let bytes = fs::read(path).unwrap();
        fs::remove_file(path).unwrap();
        if replaced {
            fs::write(path, bytes).unwrap();
        }
        let refused = fixture.store.audit().append(&events(3..4)).await.unwrap_err();
        assert!(matches!(refused, StoreError::Gone(_)), "{refused:?}");
        assert!(fixture.store.latest_time(at(1)).await.is_err());
    }
}

/// Damaged pages are found when the store is opened, or, in a large one, soon after.
#[tokio::test]
async fn damaged_pages_are_found() {
    for limit in [Duration::from_secs(10), Duration::ZERO] {
        let fixture = Fixture::sqlite(Options::default()).await;
        for round in 0..10 {
            fixture.store.audit().append(&events(round * 1_000..(round + 1) * 1_000)).await.unwrap();
        }
        fixture.store.close().await.unwrap();
        let Location::File(path) = &fixture.location else { unreachable!() };
        let mut bytes = fs::read(path).unwrap();
        let middle = bytes.len() / 2 / 8192 * 8192;
        bytes[middle..middle + 3 * 8192].fill(0x5a);
        fs::write(path, bytes).unwrap();
        let opened = Store::open(&fixture.location, Options { check: Some(limit), ..Options::default() }).await;
        let error = match opened {
            Err(error) => error,
            Ok(store) => {
                assert_eq!(limit, Duration::ZERO, "there was time to look");
                let began = std::time::Instant::now();
                loop {
                    if let Err(error @ StoreError::Corrupt(_)) = store.latest_time(at(1)).await {
                        break error;
                    }
                    assert!(began.elapsed() < Duration::from_secs(10), "it is found behind the opening");
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
            }
        };
        assert!(matches!(error, StoreError::Corrupt(_)), "{error:?}");
    }
}
