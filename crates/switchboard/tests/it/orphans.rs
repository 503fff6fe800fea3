//! No process of ours is left behind, however we end.

use serde_json::json;

use crate::support::{Home, faulty_server, is_alive, server, until, wait};

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
fn none_that_ignores_the_signal_to_end() {
    let home = Home::new();
    // What is ignored stays so in the program that takes the shell's place.
    let script = "trap '' TERM; exec \"$0\" --ignore-end";
    let entry = format!("id = \"deaf\"\ncommand = \"sh\"\nargs = [\"-c\", {script:?}, {:?}]\n", faulty_server());
    home.configure(&format!("[limits]\nstop_timeout_ms = 600\n[[servers]]\n{entry}"));
    let mut peer = home.connect();
    let pid: u32 = peer.call("pid", &json!({})).unwrap().parse().unwrap();
    let process = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    rustix::process::kill_process(process, rustix::process::Signal::TERM).unwrap();
    assert_eq!(peer.call("pid", &json!({})), Ok(pid.to_string()), "it does not care");
    assert_eq!(peer.end().0, Some(0));
    until(|| (!is_alive(pid)).then_some(())).expect("no process is left");
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
