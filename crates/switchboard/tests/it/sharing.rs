//! One set of servers for all clients: `stdio` joins a kernel that runs, or starts one that ends after the last client.

use serde_json::json;

use crate::support::{Home, Peer, faulty_server, until};

/// A server that notes each of its starts in a file.
fn noting(home: &Home, id: &str) -> String {
    let (notes, program) = (home.path("starts"), faulty_server());
    let script = format!("echo {id} >> {}; exec {}", notes.display(), program.display());
    format!("[[servers]]\nid = {id:?}\nera = 'legacy'\ncommand = '/bin/sh'\nargs = ['-c', {script:?}]\n")
}

fn starts(home: &Home) -> usize {
    std::fs::read_to_string(home.path("starts")).map_or(0, |text| text.lines().count())
}

/// A client that shares.
fn join(home: &Home) -> Peer {
    let mut command = home.command(&["stdio"]);
    command.env_remove("SWITCHBOARD_OWN_KERNEL");
    let mut peer = Peer::start(command);
    peer.initialize();
    peer
}

fn sockets(home: &Home) -> usize {
    let folder = home.path(".local/share/switchboard/run");
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    entries.flatten().filter(|entry| entry.path().extension().is_some_and(|end| end == "clients")).count()
}

#[test]
fn three_clients_have_one_set_of_servers_which_ends_after_them() {
    let home = Home::new();
    home.configure(&format!("[limits]\nlinger_ms = 300\n{}", noting(&home, "s")));
    let mut peers: Vec<Peer> = (0..3).map(|_| join(&home)).collect();
    for peer in &mut peers {
        let tools = peer.ask("tools/list", &json!({}));
        assert!(!tools["result"]["tools"].as_array().unwrap().is_empty(), "{tools}");
    }
    assert_eq!((starts(&home), sockets(&home)), (1, 1));
    // Commands use it as well.
    let mut call = home.command(&["call", "echo", "text=hello"]);
    call.env_remove("SWITCHBOARD_OWN_KERNEL");
    let _ = call.output().unwrap();
    assert_eq!(starts(&home), 1);
    // One that goes takes nothing from the others.
    drop(peers.pop());
    let tools = peers[0].ask("tools/list", &json!({}));
    assert!(!tools["result"]["tools"].as_array().unwrap().is_empty(), "{tools}");
    drop(peers);
    assert!(until(|| (sockets(&home) == 0).then_some(())).is_some(), "the kernel outlives its clients");
}

#[test]
fn another_configuration_has_another_kernel() {
    let home = Home::new();
    home.configure(&format!("[limits]\nlinger_ms = 300\n{}", noting(&home, "s")));
    let _first = join(&home);
    home.configure(&format!("[limits]\nlinger_ms = 300\n{}\nenv = {{ A = '1' }}\n", noting(&home, "s")));
    let mut command = home.command(&["stdio", "--own"]);
    command.env_remove("SWITCHBOARD_OWN_KERNEL");
    let mut own = Peer::start(command);
    own.initialize();
    own.ask("tools/list", &json!({}));
    assert_eq!(sockets(&home), 1, "one that wants servers of its own takes nobody");
    assert!(starts(&home) >= 2);
}
