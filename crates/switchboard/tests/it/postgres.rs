//! The memory, and the kernel's own records, in PostgreSQL.
//!
//! The server is started from the machine's own binaries. Without them this test is counted as ignored.

#[allow(dead_code, reason = "the tests of the kernel's store use more of it")]
#[path = "../../../store/tests/it/postgres/server.rs"]
mod server;

use server::Server;

use crate::memory::{connect, found, store};
use crate::support::Home;

#[test]
#[cfg_attr(not(postgres_installed), ignore = "no PostgreSQL here: install the Debian package postgresql")]
fn a_memory_in_postgres_is_shared_by_all_who_name_it() {
    let server = Server::start();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let url = runtime.block_on(server.create_database("memory"));
    let home = Home::new();
    let mut alone = connect(&home, &["memory", "--store", &url]);
    store(&mut alone, "The spare key is under the blue flowerpot");
    assert_eq!(alone.end().0, Some(0));
    // Another home, whose kernel keeps everything in the same database.
    let other = Home::new();
    other.configure(&format!("store = '{url}'\n[memory]\nenabled = true\n"));
    let mut kernel = other.connect();
    assert_eq!(found(&mut kernel, "where is the key"), ["The spare key is under the blue flowerpot"]);
    store(&mut kernel, "The ladder is in the garage");
    assert_eq!(kernel.end().0, Some(0));
    let mut again = connect(&home, &["memory", "--store", &url]);
    assert_eq!(found(&mut again, "ladder")[0], "The ladder is in the garage");
    assert_eq!(again.end().0, Some(0));
    other.run(&["audit", "verify"]).ok();
    let log = other.run(&["--json", "audit", "query"]).ok();
    assert!(log.contains("search_graph") && log.contains("inject_context"), "{log}");
}
