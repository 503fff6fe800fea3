//! Too much, too slow, too full: refused with a clear error, and working again afterwards.

use std::process::Command;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use switchboard_store::{AuditFilter, Boundary, Location, Options, StoreError};

use crate::sample::{Fixture, at, event, events};

/// A writer that stops before each commit until it is let through; dropping the gate opens it for good.
fn gate(options: Options) -> (mpsc::Sender<()>, mpsc::Receiver<()>, Options) {
    let (open, passes) = mpsc::channel::<()>();
    let (arrive, arrivals) = mpsc::channel();
    let ends = Mutex::new((passes, arrive));
    let watcher = Arc::new(move |boundary| {
        if boundary == Boundary::BeforeCommit {
            let (passes, arrive) = &*ends.lock().unwrap();
            let _ = arrive.send(());
            let _ = passes.recv();
        }
    });
    (open, arrivals, Options { watcher: Some(watcher), ..options })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_queue_refuses_at_once_and_the_rest_shares_one_commit() {
    let (open, arrivals, options) = gate(Options { queue: 4, ..Options::default() });
    let fixture = Fixture::sqlite(options).await;
    let append = |number| {
        let store = fixture.store.clone();
        tokio::spawn(async move { store.audit().append(&[event(number)]).await })
    };
    let first = append(0);
    tokio::task::block_in_place(|| arrivals.recv()).unwrap();
    // The writer stands before its commit: four more wait, whoever comes then is refused.
    let mut waiting = Vec::new();
    let mut refused = 0;
    for number in 1..=20 {
        let store = fixture.store.clone();
        let mut call = Box::pin(async move { store.audit().append(&[event(number)]).await });
        match futures_poll(&mut call).await {
            Some(result) => {
                assert!(matches!(result, Err(StoreError::Overloaded { waiting: 4 })), "{result:?}");
                refused += 1;
            }
            None => waiting.push(call),
        }
    }
    assert_eq!((waiting.len(), refused), (4, 16));
    open.send(()).unwrap();
    first.await.unwrap().unwrap();
    tokio::task::block_in_place(|| arrivals.recv()).unwrap();
    open.send(()).unwrap();
    for call in waiting {
        call.await.unwrap();
    }
    // One commit for the first, one for the four that waited.
    assert!(arrivals.try_recv().is_err());
    drop(open);
    fixture.store.audit().append(&events(0..3)).await.unwrap();
    assert_eq!(fixture.store.audit().verify(&[]).await.unwrap().records, 8);
}

/// Appends that share a commit are written together, also around other work: each caller hears of its own records.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn callers_of_one_commit_hear_of_their_own_records() {
    let (open, arrivals, options) = gate(Options::default());
    let fixture = Fixture::sqlite(options).await;
    let first = tokio::spawn({
        let store = fixture.store.clone();
        async move { store.audit().append(&[event(0)]).await }
    });
    tokio::task::block_in_place(|| arrivals.recv()).unwrap();
    let append = |numbers: std::ops::Range<i64>| {
        let store = fixture.store.clone();
        Box::pin(async move { (numbers.clone(), store.audit().append(&events(numbers)).await) })
    };
    let mut before = [append(1..2), append(2..22), append(22..24)];
    let mut other = Box::pin(fixture.store.latest_time(at(7)));
    let mut after = [append(24..60), append(60..61)];
    for call in &mut before {
        assert!(futures_poll(call).await.is_none());
    }
    assert!(futures_poll(&mut other).await.is_none());
    for call in &mut after {
        assert!(futures_poll(call).await.is_none());
    }
    drop(open);
    first.await.unwrap().unwrap();
    for call in before.into_iter().chain(after) {
        let (numbers, appended) = call.await;
        let appended = appended.unwrap();
        let filter = AuditFilter { after: numbers.start.try_into().ok(), ..AuditFilter::default() };
        let records = fixture.store.audit().query(&filter, appended.len()).await.unwrap();
        assert_eq!(records.len(), numbers.clone().count());
        for ((record, link), number) in records.iter().zip(&appended).zip(numbers) {
            assert_eq!((record.seq, record.hash), (link.seq, link.hash));
            assert_eq!(record.parse().unwrap(), event(number));
        }
    }
    assert_eq!(other.await.unwrap(), at(7));
    assert!(arrivals.try_recv().is_ok() && arrivals.try_recv().is_err(), "one commit for all that waited");
    assert!(fixture.store.audit().verify(&[]).await.unwrap().is_whole());
}

/// The result, if it is there without waiting.
async fn futures_poll<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    std::future::poll_fn(|context| match std::pin::Pin::new(&mut *future).poll(context) {
        std::task::Poll::Ready(output) => std::task::Poll::Ready(Some(output)),
        std::task::Poll::Pending => std::task::Poll::Ready(None),
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_past_its_deadline_has_an_unknown_fate() {
    let (open, arrivals, options) = gate(Options { write_deadline: Duration::from_millis(500), ..Options::default() });
    let fixture = Fixture::sqlite(options).await;
    let late = fixture.store.audit().append(&[event(0)]).await;
    assert!(matches!(late, Err(StoreError::Undetermined)), "{late:?}");
    tokio::task::block_in_place(|| arrivals.recv()).unwrap();
    drop(open);
    // It was written in the end, which is why nobody said that it was not.
    assert_eq!(fixture.store.audit().append(&[event(1)]).await.unwrap()[0].seq, 2);
}

#[tokio::test]
async fn a_database_locked_by_another_process_is_busy_and_then_not() {
    let fixture = Fixture::sqlite(Options { busy: Duration::from_millis(50), ..Options::default() }).await;
    let Location::File(path) = &fixture.location else { unreachable!() };
    let other = rusqlite::Connection::open(path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let refused = fixture.store.audit().append(&[event(0)]).await.unwrap_err();
    assert!(matches!(refused, StoreError::Busy(_)) && refused.is_transient(), "{refused:?}");
    assert!(fixture.store.audit().tail(1).await.unwrap().is_empty(), "reading goes on");
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(fixture.store.audit().append(&[event(0)]).await.unwrap()[0].seq, 1);
}

#[tokio::test]
async fn what_is_too_large_is_refused() {
    let fixture = Fixture::sqlite(Options { event_bytes: 1000, group: 10, ..Options::default() }).await;
    let audit = fixture.store.audit();
    let mut large = event(0);
    large.result = "x".repeat(1000).into();
    assert!(matches!(audit.append(&[large]).await, Err(StoreError::TooLarge { .. })));
    assert!(matches!(audit.append(&events(0..11)).await, Err(StoreError::TooLarge { size: 11, limit: 10, .. })));
    assert_eq!(audit.append(&events(0..10)).await.unwrap().len(), 10);
}

/// Fault row 14, on a real file system of 4 MB. Needs a mount namespace; where there is none, that is what fails.
#[test]
fn a_full_disk_refuses_and_recovers() {
    let directory = tempfile::tempdir().unwrap();
    let script = "mount -t tmpfs -o size=4m,mode=700 none \"$1\" && head -c 1000000 /dev/zero > \"$1/ballast\" \
                  && \"$2\" fill \"$1/store.db\" \"$1/ballast\"";
    let output = Command::new("unshare")
        .args(["--map-root-user", "--mount", "sh", "-c", script, "sh"])
        .arg(directory.path())
        .arg(env!("CARGO_BIN_EXE_store-child"))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.starts_with("recovered after "), "{text}");
}
