//! The same contract on PostgreSQL, and what happens when the server goes away.
//!
//! The server is started from the machine's own binaries. Without them these tests are counted as ignored.

#[allow(dead_code, reason = "the tests of the kernel's store use more of it")]
#[path = "../../../store/tests/it/postgres/server.rs"]
mod server;

use std::sync::Arc;

use switchboard_contextgraph::store::{Batch, Storage, Stores};
use switchboard_contextgraph::{PostgresStores, Problem};
use tokio::runtime::Runtime;

use crate::stores::{CASES, known, lives_there};
use server::Server;

fn database(server: &Server, runtime: &Runtime, name: &str) -> String {
    runtime.block_on(server.create_database(name))
}

fn one(number: u128) -> Batch {
    let finding = Some((vec![1; 256], switchboard_contextgraph::vector::Sparse::default()));
    Batch { memories: vec![(known(number), finding)], ..Batch::default() }
}

fn commit(storage: &mut Box<dyn Storage>, number: u128) -> Result<i64, Problem> {
    storage.begin()?;
    storage.commit(&one(number))
}

fn count(storage: &mut Box<dyn Storage>) -> usize {
    storage.changes(0).unwrap().map_or(0, |changes| changes.memories.len())
}

#[test]
#[cfg_attr(not(postgres_installed), ignore = "no PostgreSQL here: install the Debian package postgresql")]
fn postgres_keeps_the_contract() {
    let (server, runtime) = (Server::start(), Runtime::new().unwrap());
    for (number, (name, case)) in CASES.iter().enumerate() {
        println!("{name}");
        case(&PostgresStores::open(&database(&server, &runtime, &format!("case_{number}"))).unwrap());
    }
    let url = database(&server, &runtime, "whole");
    lives_there(|| Arc::new(PostgresStores::open(&url).unwrap()));
}

#[test]
#[cfg_attr(not(postgres_installed), ignore = "no PostgreSQL here: install the Debian package postgresql")]
fn a_server_that_goes_away_loses_nothing() {
    let (mut server, runtime) = (Server::start(), Runtime::new().unwrap());
    let url = database(&server, &runtime, "x");
    let end_all = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'switchboard'";
    let stores = PostgresStores::open(&url).unwrap();
    let mut storage = stores.open("s").unwrap();
    assert_eq!(commit(&mut storage, 1).unwrap(), 1);

    // A connection that ended between two things is replaced.
    runtime.block_on(server.execute("x", end_all));
    assert_eq!(count(&mut storage), 1);
    runtime.block_on(server.execute("x", end_all));
    assert_eq!(commit(&mut storage, 2).unwrap(), 2);

    // One that ended in the middle of a change takes the change with it.
    storage.begin().unwrap();
    runtime.block_on(server.execute("x", end_all));
    let lost = storage.commit(&one(3)).unwrap_err();
    assert_eq!((lost.kind, lost.code.number()), ("STORE_UNAVAILABLE", Some(-32001)), "{lost}");
    storage.roll_back();
    assert_eq!(count(&mut storage), 2);

    // While the server is away, everything says so; then it goes on.
    server.stop();
    let lost = commit(&mut storage, 3).unwrap_err();
    assert_eq!(lost.kind, "STORE_UNAVAILABLE", "{lost}");
    assert!(lost.message.contains("try again"), "{lost}");
    server.start_again();
    assert_eq!(commit(&mut storage, 3).unwrap(), 3);
    assert_eq!(count(&mut storage), 3);
}

#[test]
#[cfg_attr(not(postgres_installed), ignore = "no PostgreSQL here: install the Debian package postgresql")]
fn what_cannot_be_used_is_told() {
    let (server, runtime) = (Server::start(), Runtime::new().unwrap());
    let url = database(&server, &runtime, "x");
    PostgresStores::open(&url).unwrap();
    runtime.block_on(server.execute("x", "UPDATE memory_schema SET version = 99"));
    let newer = PostgresStores::open(&url).unwrap_err();
    assert!(newer.message.contains("99"), "{newer}");
    for url in ["postgres://me:hidden@127.0.0.1:1/x", "postgres://me:hidden@127.0.0.1:x/y", &server.url("missing")] {
        let problem = PostgresStores::open(url).unwrap_err();
        assert!(!problem.message.contains("hidden"), "{problem}");
        assert_eq!(problem.code.number(), Some(-32001));
    }
    // Also from inside of a runtime, where commands are.
    let url = database(&server, &runtime, "inside");
    let inside = runtime.block_on(async move {
        let stores = PostgresStores::open(&url)?;
        stores.open("s")?.changes(0)
    });
    assert!(inside.unwrap().is_none());
}
