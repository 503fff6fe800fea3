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

/// A kernel whose server has a process in another session, which ignores what it is told; the numbers of both.
fn deserted(home: &Home, trust: &str) -> (crate::serve::Served, [u32; 2]) {
    let file = home.path("project/pid");
    let _old = std::fs::remove_file(&file);
    // Confined, the folder is writable by its name, and not as the one that the process is in.
    let script = "(setsid sh -c 'trap \"\" HUP TERM; cd \"$PWD\"; echo $$ > pid.half; mv pid.half pid; \
                  while :; do sleep 1000; done' </dev/null >/dev/null 2>&1 &); exec \"$0\" --ignore-end";
    let (program, folder) = (faulty_server(), home.path("project"));
    let entry =
        format!("id = \"deserted\"\ncwd = {folder:?}\ncommand = \"sh\"\nargs = [\"-c\", {script:?}, {program:?}]\n");
    home.configure(&format!("[[servers]]\n{entry}{trust}\n"));
    let served = crate::serve::Served::start(home, &["--no-auth"]);
    let deserter = until(|| std::fs::read_to_string(&file).ok()?.trim().parse().ok()).expect("the number");
    let (_, body) = served.http("POST", "/mcp", None, &pid_request());
    let answer: serde_json::Value = serde_json::from_str(&body).unwrap();
    let server = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).parse().unwrap();
    assert!(is_alive(deserter) && is_alive(server));
    (served, [server, deserter])
}

fn pid_request() -> String {
    let params = json!({"name": "pid", "arguments": {}, "_meta": crate::serve::modern_meta(&json!({}))});
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string()
}

#[test]
fn none_that_moved_to_another_session() {
    let home = Home::new();
    let (served, pids) = deserted(&home, "");
    served.kill();
    all_gone(pids);
    let (served, pids) = deserted(&home, "");
    served.end();
    all_gone(pids);
    let (served, pids) = deserted(&home, "");
    home.run(&["servers", "stop", "deserted"]).ok();
    all_gone(pids);
    served.end();
    let (served, pids) = deserted(&home, "");
    home.run(&["servers", "restart", "deserted"]).ok();
    all_gone(pids);
    served.kill();
}

#[test]
#[cfg(target_os = "linux")]
fn none_of_a_confined_server_that_moved_to_another_session() {
    let home = Home::new();
    let (project, programs) = (home.path("project"), faulty_server().parent().unwrap().to_owned());
    let confined = format!(
        "isolation = {{ mode = \"trust\" }}\n[servers.mgp.permissions_granted]\n\
         \"filesystem.write\" = {{ paths = [{project:?}] }}\n\"filesystem.read\" = {{ paths = [{programs:?}] }}\n"
    );
    let start = || {
        let (served, pids) = deserted(&home, &confined);
        for pid in pids {
            let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
            assert!(status.contains("Seccomp:\t2"), "it is confined: {status}");
        }
        (served, pids)
    };
    let (served, pids) = start();
    served.kill();
    all_gone(pids);
    let (served, pids) = start();
    served.end();
    all_gone(pids);
    let (served, pids) = start();
    home.run(&["servers", "stop", "deserted"]).ok();
    all_gone(pids);
    served.end();
}

#[test]
fn none_where_a_guardian_is_lost_and_a_new_one_takes_its_place() {
    let home = Home::new();
    let (served, pids) = deserted(&home, "");
    let parent = |pid: u32| -> u32 {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        stat.rsplit_once(')').unwrap().1.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    let guardian = parent(pids[0]);
    assert_ne!(guardian, served.pid());
    let process = rustix::process::Pid::from_raw(i32::try_from(guardian).unwrap()).unwrap();
    rustix::process::kill_process(process, rustix::process::Signal::KILL).unwrap();
    all_gone(pids);
    // The server is started again, below a new one.
    let again = until(|| {
        let (_, body) = served.http("POST", "/mcp", None, &pid_request());
        let answer: serde_json::Value = serde_json::from_str(&body).ok()?;
        answer["result"]["content"][0]["text"].as_str()?.parse::<u32>().ok()
    });
    let again = again.expect("the server is back");
    assert!(again != pids[0] && parent(again) != served.pid());
    served.kill();
    all_gone([again, again]);
}

/// A helper of the server holds its pipes open, so that only its guardian sees it end.
#[test]
fn none_of_a_server_that_is_killed_while_a_child_holds_its_pipes() {
    let home = Home::new();
    let helper = home.path("helper");
    let script = format!("sleep 1000 & echo $! > {}; exec \"$0\"", helper.display());
    let entry = format!("id = \"one\"\ncommand = \"sh\"\nargs = [\"-c\", {script:?}, {:?}]\n", faulty_server());
    home.configure(&format!("[[servers]]\n{entry}"));
    let mut peer = home.connect();
    let pid: u32 = peer.call("pid", &json!({})).unwrap().parse().unwrap();
    let first: u32 = std::fs::read_to_string(&helper).unwrap().trim().parse().unwrap();
    let process = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    rustix::process::kill_process(process, rustix::process::Signal::KILL).unwrap();
    let again = until(|| peer.call("pid", &json!({})).ok()).expect("the server is back");
    assert_ne!(again, pid.to_string());
    all_gone([pid, first]);
    assert_eq!(peer.end().0, Some(0));
}
