//! The same contract on PostgreSQL, and what happens when the server goes away.
//!
//! The server is started from the machine's own binaries. Without them these tests are counted as ignored.

mod proxy;
mod server;
mod tls;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use switchboard_store::{Boundary, Location, Mode, Options, Store, StoreError};

use crate::contract::CASES;
use crate::sample::{Fixture, at, event, events};
use proxy::Proxy;
use server::Server;

fn options(directory: &tempfile::TempDir) -> Options {
    Options { audit_directory: Some(directory.path().to_owned()), readers: 4, ..Options::default() }
}

async fn fixture(server: &Server, database: &str) -> Fixture {
    let directory = tempfile::tempdir().unwrap();
    let location = Location::Postgres(server.create_database(database).await);
    let options = options(&directory);
    Fixture::open(location, options, directory).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(postgres_installed), ignore = "no PostgreSQL here: install the Debian package postgresql")]
async fn postgres_keeps_the_contract() {
    let server = Server::start();
    for (number, (name, case)) in CASES.iter().enumerate() {
        println!("{name}");
        let mut fixture = fixture(&server, &format!("case_{number}")).await;
        case(&mut fixture).await;
        fixture.store.close().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(postgres_installed), ignore = "no PostgreSQL here: install the Debian package postgresql")]
async fn postgres_faults() {
    let mut server = Server::start();
    newer_schemas_are_refused(&server).await;
    replicas_take_turns(&server).await;
    cut_tails_are_found(&server).await;
    ended_connections_lose_nothing(&server).await;
    a_commit_that_did_not_happen_is_done_again(&server).await;
    a_commit_whose_answer_was_lost_is_not_done_again(&server).await;
    restarts_lose_nothing(&mut server).await;
}

async fn newer_schemas_are_refused(server: &Server) {
    let fixture = fixture(server, "newer").await;
    server.execute("newer", "INSERT INTO switchboard_schema VALUES (99)").await;
    let error = Store::open(&fixture.location, fixture.options.clone()).await.unwrap_err();
    assert!(matches!(error, StoreError::NewerSchema { found: 99, .. }), "{error:?}");
    let nowhere = Options { audit_directory: None, ..fixture.options.clone() };
    assert!(matches!(Store::open(&fixture.location, nowhere).await, Err(StoreError::Address(_))));
}

/// Two replicas, each with a key of its own, one chain.
async fn replicas_take_turns(server: &Server) {
    let one = fixture(server, "replicas").await;
    one.store.audit().append(&events(0..5)).await.unwrap();
    let place = tempfile::tempdir().unwrap();
    let trusting = Options { trusted_keys: vec![one.store.audit_key().to_owned()], ..options(&place) };
    let two = Store::open(&one.location, trusting).await.unwrap();
    let mut callers = tokio::task::JoinSet::new();
    for store in [one.store.clone(), two.clone()] {
        for caller in 0..8 {
            let store = store.clone();
            callers.spawn(async move {
                for round in 0..10 {
                    store.audit().append(&[event(caller), event(round)]).await.unwrap();
                }
            });
        }
    }
    callers.join_all().await;
    two.audit().seal(at(5)).await.unwrap();
    let (report, other) = (one.store.audit().verify(&[]).await.unwrap(), two.audit().verify(&[]).await.unwrap());
    assert!(report.is_whole() && other.is_whole(), "{report:?} {other:?}");
    assert_eq!(report.records, 325);
    assert!(report.foreign > 0, "the heads of the other replica are not trusted here");
    assert_eq!(other.foreign, 0);
}

async fn cut_tails_are_found(server: &Server) {
    let fixture = fixture(server, "cut").await;
    fixture.store.audit().append(&events(0..20)).await.unwrap();
    fixture.store.close().await.unwrap();
    let cut = "DELETE FROM audit WHERE seq > 15; DELETE FROM audit_heads; \
               UPDATE audit_tip SET seq = 15, hash = (SELECT hash FROM audit WHERE seq = 15)";
    server.execute("cut", cut).await;
    let error = Store::open(&fixture.location, fixture.options.clone()).await.unwrap_err();
    assert!(matches!(&error, StoreError::ChainBroken(breach) if breach.seq == 16), "{error:?}");
    let reader = Options { mode: Mode::ReadOnly, ..fixture.options.clone() };
    let store = Store::open(&fixture.location, reader).await.unwrap();
    assert_eq!(store.audit().verify(&[]).await.unwrap().breach.unwrap().seq, 16);
}

/// Callers that append while every connection is ended again and again. What was acknowledged is there; what failed
/// failed with an error that says whether it may be there.
async fn ended_connections_lose_nothing(server: &Server) {
    let fixture = fixture(server, "ended").await;
    let mut callers = tokio::task::JoinSet::new();
    for caller in 0..4 {
        let store = fixture.store.clone();
        callers.spawn(async move {
            let mut acknowledged = Vec::new();
            for round in 0..150 {
                let number = caller * 1000 + round;
                match store.audit().append(&[event(number)]).await {
                    Ok(appended) => acknowledged.push((appended[0].seq, number)),
                    Err(error) => {
                        assert!(error.is_transient() || matches!(error, StoreError::Undetermined), "{error:?}")
                    }
                }
            }
            acknowledged
        });
    }
    let mut ended = 0;
    while !callers.is_empty() && ended < 40 {
        let sql = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'ended'";
        server.execute("postgres", sql).await;
        ended += 1;
        tokio::task::yield_now().await;
    }
    let acknowledged: Vec<_> = callers.join_all().await.into_iter().flatten().collect();
    assert!(acknowledged.len() > 100, "{} of 600", acknowledged.len());
    let report = fixture.store.audit().verify(&[]).await.unwrap();
    assert!(report.is_whole(), "{report:?}");
    let mut numbers = std::collections::HashMap::new();
    let mut export = fixture.store.audit().export(switchboard_store::AuditFilter::default()).await.unwrap();
    while let Some(page) = export.next().await.unwrap() {
        for record in page {
            numbers.insert(record.seq, record.parse().unwrap().details["number"].as_i64().unwrap());
        }
    }
    let distinct: std::collections::HashSet<_> = numbers.values().collect();
    assert_eq!(distinct.len(), numbers.len(), "nothing was written twice");
    for (seq, number) in acknowledged {
        assert_eq!(numbers.get(&seq), Some(&number));
    }
}

/// The server ends the connection right before the commit: it is known to have left nothing.
async fn a_commit_that_did_not_happen_is_done_again(server: &Server) {
    let directory = tempfile::tempdir().unwrap();
    let location = Location::Postgres(server.create_database("before").await);
    let admin = server.url("postgres");
    let armed = Arc::new(AtomicBool::new(false));
    let trigger = armed.clone();
    let watcher: switchboard_store::Watcher = Arc::new(move |boundary| {
        if boundary == Boundary::BeforeCommit && trigger.swap(false, Ordering::SeqCst) {
            let admin = admin.clone();
            // The writer's thread is inside its own runtime.
            let ending = std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                let sql = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity \
                           WHERE datname = 'before' AND state = 'idle in transaction'";
                runtime.block_on(server::execute(&admin, sql));
            });
            ending.join().unwrap();
        }
    });
    let options = Options { watcher: Some(watcher), ..options(&directory) };
    let fixture = Fixture::open(location, options, directory).await;
    let audit = fixture.store.audit();
    audit.append(&events(0..3)).await.unwrap();
    armed.store(true, Ordering::SeqCst);
    assert_eq!(audit.append(&[event(3)]).await.unwrap()[0].seq, 4);
    assert!(!armed.load(Ordering::SeqCst), "the connection was ended");
    assert_eq!(audit.verify(&[]).await.unwrap().records, 4);
}

/// The server commits and the answer gets lost on the way: asked about, not written again.
async fn a_commit_whose_answer_was_lost_is_not_done_again(server: &Server) {
    server.create_database("lost").await;
    let proxy = Proxy::start(server);
    let directory = tempfile::tempdir().unwrap();
    let options = options(&directory);
    let fixture = Fixture::open(Location::Postgres(proxy.url("lost")), options, directory).await;
    let audit = fixture.store.audit();
    audit.append(&events(0..3)).await.unwrap();
    proxy.lose_next_commit();
    assert_eq!(audit.append(&[event(3)]).await.unwrap()[0].seq, 4);
    assert!(proxy.has_lost(), "the answer was lost");
    assert_eq!(audit.append(&[event(4)]).await.unwrap()[0].seq, 5);
    let report = audit.verify(&[]).await.unwrap();
    assert!(report.is_whole() && report.records == 5, "{report:?}");
}

async fn restarts_lose_nothing(server: &mut Server) {
    let quick = Duration::from_secs(2);
    let directory = tempfile::tempdir().unwrap();
    let location = Location::Postgres(server.create_database("restarted").await);
    let options = Options { busy: quick, write_deadline: quick, read_deadline: quick, ..options(&directory) };
    let fixture = Fixture::open(location, options, directory).await;
    let audit = fixture.store.audit();
    audit.append(&events(0..10)).await.unwrap();
    server.stop();
    let refused = audit.append(&[event(10)]).await.unwrap_err();
    assert!(refused.is_transient(), "{refused:?}");
    assert!(audit.tail(1).await.unwrap_err().is_transient());
    server.start_again();
    assert_eq!(audit.append(&[event(10)]).await.unwrap()[0].seq, 11);
    assert!(audit.verify(&[]).await.unwrap().is_whole());
}
