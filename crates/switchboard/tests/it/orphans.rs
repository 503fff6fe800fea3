//! No process of ours is left behind, however we end.

use crate::support::{Home, is_alive, server, until, wait};

/// A kernel whose server ignores the end of its input and has a child of its own; the numbers of both.
fn stubborn(home: &Home) -> (crate::support::Peer, [u32; 2]) {
    let file = home.path("pids");
    home.configure(&server("stubborn", &["--ignore-end", "--with-grandchild", file.to_str().unwrap()]));
    let peer = home.connect();
    let text = until(|| std::fs::read_to_string(&file).ok()).expect("the server's numbers");
    let pids: Vec<u32> = text.split(' ').map(|pid| pid.parse().unwrap()).collect();
    let pids = [pids[0], pids[1]];
    assert!(pids.iter().all(|pid| is_alive(*pid)));
    (peer, pids)
}

fn all_gone(pids: [u32; 2]) {
    until(|| pids.iter().all(|pid| !is_alive(*pid)).then_some(())).expect("no process is left");
}

#[test]
fn none_after_the_client_has_gone() {
    let home = Home::new();
    let (peer, pids) = stubborn(&home);
    assert_eq!(peer.end().0, Some(0));
    all_gone(pids);
}

#[test]
fn none_after_a_signal() {
    let home = Home::new();
    let (mut peer, pids) = stubborn(&home);
    let kernel = rustix::process::Pid::from_child(&peer.child);
    rustix::process::kill_process(kernel, rustix::process::Signal::TERM).unwrap();
    assert!(wait(&mut peer.child).success());
    all_gone(pids);
}

#[test]
fn none_after_kill_9() {
    let home = Home::new();
    let (mut peer, pids) = stubborn(&home);
    peer.child.kill().unwrap();
    wait(&mut peer.child);
    all_gone(pids);
}

#[test]
fn none_after_a_command() {
    let home = Home::new();
    let file = home.path("pids");
    home.configure(&server("stubborn", &["--ignore-end", "--with-grandchild", file.to_str().unwrap()]));
    home.run(&["tools"]).ok();
    let text = std::fs::read_to_string(&file).unwrap();
    let pids: Vec<u32> = text.split(' ').map(|pid| pid.parse().unwrap()).collect();
    all_gone([pids[0], pids[1]]);
}
