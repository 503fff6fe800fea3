//! One set of servers for all clients: `stdio` joins a kernel that runs, or starts one that ends after the last client.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::json;

use crate::live::kill;
use crate::support::{Home, Peer, faulty_server, until, wait};

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

#[test]
fn a_kernel_that_serves_takes_the_place_of_the_shared_one() {
    let home = Home::new();
    home.configure(&format!("[limits]\nlinger_ms = 300\n{}", noting(&home, "s")));
    let mut peer = join(&home);
    assert!(peer.tools().contains(&"echo".to_owned()));
    let serve = || {
        let mut served = Peer::start(home.command(&["serve", "--json", "--listen", "127.0.0.1:0"]));
        assert!(served.next_line().contains("127.0.0.1"), "it serves");
        served
    };
    let serving = serve();
    assert_eq!(peer.call("echo", &json!({"text": "on"})).as_deref(), Ok("on"));
    assert_eq!((starts(&home), sockets(&home)), (2, 1), "one set of servers after the other");
    let mut second = join(&home);
    assert!(second.tools().contains(&"echo".to_owned()));
    assert_eq!(starts(&home), 2);
    // A second of its kind is nobody's to end, and says so.
    let words = format!("(process {}) serves the same configuration", serving.child.id());
    for (served, told) in [(serve(), words.as_str()), (serving, "has ended; its clients go on here")] {
        end(served.child.id());
        let (code, errors) = served.end();
        assert!(code == Some(0) && errors.contains(told), "{errors}");
    }
    // Without it the clients share a kernel again.
    assert_eq!(peer.call("echo", &json!({"text": "again"})).as_deref(), Ok("again"));
}

#[test]
fn commands_look_at_the_kernel_that_runs() {
    let home = Home::new();
    // Clients of it are given little; a person at the command line sees all.
    let little = "[tool_context]\nlevel = 'discovery'\n";
    home.configure(&format!("[limits]\nlinger_ms = 300\n{little}{}{}", noting(&home, "s"), noting(&home, "t")));
    let mut peer = join(&home);
    let listed = peer.ask("tools/list", &json!({}));
    let run = |words: &[&str]| home.run(words);
    let tools = run(&["tools", "--json"]).json();
    let names: Vec<&str> = tools["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert!(names.contains(&"s__echo") && names.contains(&"t__echo"), "{names:?}");
    assert!(listed["result"]["tools"].as_array().unwrap().len() < names.len());
    let servers = run(&["servers", "--json"]).json();
    assert_eq!(servers["servers"][1]["state"], "ready", "{servers}");
    assert!(servers["process"].is_u64(), "{servers}");
    let doctor = run(&["doctor"]).ok();
    assert!(doctor.contains("its servers are looked at") && doctor.contains("runs, speaks"), "{doctor}");
    let found = run(&["tools", "search", "give me back my text", "--json"]).json();
    assert!(!found["tools"].as_array().unwrap().is_empty(), "{found}");
    assert_eq!(starts(&home), 2, "no server was started for a command");
}

#[test]
fn a_call_starts_the_servers_that_have_shown_such_a_tool() {
    let home = Home::new();
    let named = |id: &str, name: &str| format!("{}[servers.tools.echo]\nname = '{name}'\n", noting(&home, id));
    home.configure(&format!("{}{}{}", noting(&home, "a"), named("b", "say"), named("c", "shout")));
    home.run(&["tools", "--names"]).ok();
    let started = |tool: &str, code: i32| {
        std::fs::remove_file(home.path("starts")).unwrap();
        let ran = home.run(&["call", tool, "text=hello"]);
        assert_eq!(ran.code, Some(code), "{ran:?}");
        let text = std::fs::read_to_string(home.path("starts")).unwrap();
        let mut ids: Vec<&str> = text.lines().collect();
        ids.sort_unstable();
        (ran, ids.concat())
    };
    assert_eq!(started("say", 0).1, "b", "the configuration says whose it is");
    assert_eq!(started("echo", 0).1, "abc", "all have shown it, under one name or another");
    // What was remembered is no longer so: the others are started too.
    let off = format!("{}[servers.tools.echo]\nenabled = false\n", noting(&home, "a"));
    home.configure(&format!("{off}{}", noting(&home, "d")));
    let (ran, ids) = started("echo", 0);
    assert_eq!((ran.stdout.as_str(), ids.as_str()), ("hello\n", "ad"));
    std::fs::remove_file(home.path("starts")).unwrap();
    assert!(home.run(&["call", "nope"]).err(1).contains("there is no tool"));
    assert_eq!(starts(&home), 2, "it may be anybody's");
}

#[test]
fn a_long_start_is_told_line_by_line() {
    let home = Home::new();
    let program = faulty_server();
    let script = format!("sleep 1.5; exec {}", program.display());
    let slow = format!("[[servers]]\nid = 'slow'\nera = 'legacy'\ncommand = '/bin/sh'\nargs = ['-c', {script:?}]\n");
    home.configure(&format!("{slow}{}", noting(&home, "quick")));
    let ran = home.run(&["servers"]);
    let told = &ran.stderr;
    assert!(told.contains("1 of 2 servers have started; waiting for slow"), "{told}");
    assert!(told.contains("slow is ready: "), "{told}");
}

#[test]
fn a_client_goes_on_when_its_kernel_is_killed() {
    let home = Home::new();
    home.configure(&format!("[limits]\nlinger_ms = 300\n{}", noting(&home, "s")));
    let mut peer = join(&home);
    assert!(peer.tools().contains(&"echo".to_owned()));
    let folder = home.path(".local/share/switchboard/run");
    let kernel = std::fs::read_dir(&folder).unwrap().flatten().find_map(|entry| {
        let path = entry.path();
        (path.extension()? == "clients").then(|| path.file_stem()?.to_str().map(str::to_owned))?
    });
    let kernel = kernel.expect("a kernel").parse().unwrap();
    // What runs is answered, and what comes later goes to another kernel.
    let call = json!({"name": "slow", "arguments": {}});
    peer.send(&json!({"jsonrpc": "2.0", "id": 900, "method": "tools/call", "params": call}));
    std::thread::sleep(std::time::Duration::from_millis(300));
    kill(kernel);
    let refused = peer.answer_to(900);
    assert!(refused["error"]["message"].as_str().unwrap().contains("unknown"), "{refused}");
    assert_eq!(peer.call("echo", &json!({"text": "again"})).unwrap(), "again");
    assert_eq!(starts(&home), 2);
}

#[test]
fn a_kernel_that_ends_in_good_order_keeps_no_client_waiting() {
    let home = Home::new();
    home.configure(&format!("[limits]\nlinger_ms = 300\nshutdown_grace_ms = 1500\n{}", noting(&home, "s")));
    let (mut busy, mut other) = (join(&home), join(&home));
    assert!(busy.tools().contains(&"slow".to_owned()) && other.tools().contains(&"echo".to_owned()));
    let folder = home.path(".local/share/switchboard/run");
    let process = || -> Option<u32> {
        let paths = std::fs::read_dir(&folder).unwrap().flatten().map(|entry| entry.path());
        let mut kernels = paths.filter(|path| path.extension().is_some_and(|end| end == "clients"));
        kernels.next()?.file_stem()?.to_str()?.parse().ok()
    };
    let kernel = process().expect("a kernel");
    let call = json!({"name": "slow", "arguments": {}});
    busy.send(&json!({"jsonrpc": "2.0", "id": 900, "method": "tools/call", "params": call}));
    // An answer after it on the same stream: the call has arrived.
    busy.tools();
    end(kernel);
    until(|| (process() != Some(kernel)).then_some(())).expect("nobody joins it any more");
    for word in ["one", "two", "three"] {
        assert_eq!(other.call("echo", &json!({"text": word})).as_deref(), Ok(word), "at another kernel");
    }
    assert_ne!(process(), Some(kernel));
    // What ran is answered as what it is, and its client goes on as well.
    let answer = busy.answer_to(900);
    assert!(answer["error"]["message"].as_str().unwrap().contains("unknown"), "{answer}");
    assert_eq!(busy.call("echo", &json!({"text": "on"})).as_deref(), Ok("on"));
    assert_eq!(starts(&home), 2);
}

/// The same of `switchboard serve`, which takes nobody any more while it ends: none of its clients is given up, and none goes back to it.
#[test]
fn clients_of_a_kernel_that_serves_go_on_at_another_one_while_it_ends() {
    let home = Home::new();
    home.configure(&format!("[limits]\nlinger_ms = 300\nshutdown_grace_ms = 6000\n{}", noting(&home, "s")));
    let mut served = Peer::start(home.command(&["serve", "--json", "--listen", "127.0.0.1:0"]));
    assert!(served.next_line().contains("127.0.0.1"), "it serves");
    let mut peers: Vec<Peer> = (0..3).map(|_| join(&home)).collect();
    for peer in &mut peers {
        assert!(peer.tools().contains(&"slow".to_owned()));
    }
    assert_eq!((starts(&home), sockets(&home)), (1, 1));
    // It has something to finish, so that it stays there while others call.
    let call = json!({"name": "slow", "arguments": {}});
    peers[0].send(&json!({"jsonrpc": "2.0", "id": 900, "method": "tools/call", "params": call}));
    peers[0].tools();
    let began = std::time::Instant::now();
    end(served.child.id());
    until(|| (sockets(&home) == 0).then_some(())).expect("nobody joins it any more");
    for peer in &mut peers[1..] {
        for word in ["one", "two", "three", "four", "five"] {
            assert_eq!(peer.call("echo", &json!({"text": word})).as_deref(), Ok(word), "at another kernel");
        }
    }
    assert!(began.elapsed().as_secs() < 5 && served.child.try_wait().unwrap().is_none(), "while it was ending");
    // Whoever serves next meets the kernel that they share now, and none that ends.
    let mut second = Peer::start(home.command(&["serve", "--json", "--listen", "127.0.0.1:0"]));
    assert!(second.next_line().contains("127.0.0.1"), "it serves");
    end(second.child.id());
    let (_, errors) = second.end();
    assert!(errors.contains("its clients go on here") && !errors.contains("runs twice"), "{errors}");
    let answer = peers[0].answer_to(900);
    assert!(answer["error"]["message"].is_string(), "{answer}");
    for peer in &mut peers {
        assert_eq!(peer.call("echo", &json!({"text": "on"})).as_deref(), Ok("on"));
    }
    assert_eq!(served.end().0, Some(0));
}

/// What is said of a tool is no reason to start its server anew, and counts when the command that says it has ended.
#[test]
fn a_tool_is_switched_off_at_once_and_its_server_goes_on() {
    let home = Home::new();
    home.configure(&format!("[limits]\nlinger_ms = 300\n{}", noting(&home, "s")));
    let mut peer = join(&home);
    assert!(peer.tools().contains(&"echo".to_owned()));
    home.run(&["tools", "disable", "echo"]).ok();
    assert!(!peer.tools().contains(&"echo".to_owned()), "it is off when the command ends");
    home.run(&["tools", "enable", "echo"]).ok();
    assert_eq!(peer.call("echo", &json!({"text": "on"})).as_deref(), Ok("on"));
    assert_eq!(starts(&home), 1, "its server was not started anew");
}

/// Clients whose `PATH` differs have the same servers where both find them in the usual folders; who finds a program that a kernel does
/// not find gets a kernel that does.
#[test]
fn the_path_of_the_first_client_does_not_decide_for_all() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new();
    let program = faulty_server();
    for folder in [".local/bin", "elsewhere"] {
        std::fs::create_dir_all(home.path(folder)).unwrap();
    }
    let script = format!("#!/bin/sh\nexec {}\n", program.display());
    for file in [".local/bin/usual-server", "elsewhere/other-server"] {
        std::fs::write(home.path(file), &script).unwrap();
        std::fs::set_permissions(home.path(file), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let entry = |id: &str, command: &str| format!("[[servers]]\nid = '{id}'\nera = 'legacy'\ncommand = '{command}'\n");
    let (usual, other) = (entry("usual", "usual-server"), entry("other", "other-server"));
    home.configure(&format!("[limits]\nlinger_ms = 300\n{usual}{other}"));
    let with_path = |path: &str| {
        let mut command = home.command(&["stdio"]);
        command.env_remove("SWITCHBOARD_OWN_KERNEL").env("PATH", path);
        let mut peer = Peer::start(command);
        peer.initialize();
        peer
    };
    let shell = format!("{}:/usr/bin:/bin", home.path("elsewhere").display());
    let mut desktop = with_path("/usr/bin:/bin");
    assert_eq!(desktop.call("usual__echo", &json!({"text": "on"})).as_deref(), Ok("on"));
    let missing = desktop.call("other__echo", &json!({"text": "on"})).unwrap_err();
    assert!(missing.contains("`other-server` was not found"), "{missing}");
    let mut terminal = with_path(&shell);
    assert_eq!(terminal.call("other__echo", &json!({"text": "on"})).as_deref(), Ok("on"));
    assert_eq!(sockets(&home), 2);
    // The other way round nobody lacks anything, and one kernel is enough.
    drop((desktop, terminal));
    until(|| (sockets(&home) == 0).then_some(())).expect("they end");
    let mut terminal = with_path(&shell);
    let mut desktop = with_path("/usr/bin:/bin");
    for peer in [&mut terminal, &mut desktop] {
        assert_eq!(peer.call("other__echo", &json!({"text": "on"})).as_deref(), Ok("on"));
    }
    assert_eq!(sockets(&home), 1);
}

/// Who looks from a shell with other variables is shown the kernel that runs, and told what its clients lack.
#[test]
fn a_kernel_with_other_variables_is_shown_and_not_passed_over() {
    let home = Home::new();
    let program = faulty_server();
    let keyed = format!("[[servers]]\nid = 'keyed'\ncommand = {program:?}\nenv = {{ KEY = '${{KEY}}' }}\n");
    home.configure(&format!("[limits]\nlinger_ms = 300\n{}{keyed}", noting(&home, "s")));
    let mut peer = join(&home);
    peer.tools();
    for command in [&["servers", "--json"][..], &["doctor"]] {
        let mut command = home.command(command);
        let ran = command.env("KEY", "1").output().unwrap();
        let told = String::from_utf8_lossy(&ran.stdout).into_owned();
        for part in ["started where other variables", "start them again", "`KEY`", "is not set"] {
            assert!(told.contains(part), "{part}: {told}");
        }
    }
    assert_eq!(starts(&home), 1, "no second set was started to look at");
    let mut with_key = home.command(&["stdio"]);
    with_key.env_remove("SWITCHBOARD_OWN_KERNEL").env("KEY", "1");
    let mut with_key = Peer::start(with_key);
    with_key.initialize();
    assert_eq!(with_key.call("keyed__echo", &json!({"text": "on"})).as_deref(), Ok("on"));
}

/// A server that was just added is there when the command that adds it has ended, and when somebody comes who has read the file.
#[test]
fn a_server_that_was_just_added_can_be_called() {
    let home = Home::new();
    home.configure(&format!("[limits]\nlinger_ms = 300\n{}", noting(&home, "s")));
    let mut peer = join(&home);
    assert!(peer.tools().contains(&"echo".to_owned()));
    let program = faulty_server();
    for id in ["t", "u", "v"] {
        home.run(&["add", id, "--", program.to_str().unwrap()]).ok();
        let said = home.run(&["call", &format!("{id}__echo"), "text=on"]).ok();
        assert_eq!(said.trim(), "on");
        assert_eq!(peer.call(&format!("{id}__echo"), &json!({"text": "on"})).as_deref(), Ok("on"));
    }
    home.run(&["remove", "t"]).ok();
    home.run(&["call", "t__echo", "text=on"]).err(1);
    // The same where a person writes the file.
    for id in ["w", "x"] {
        let mut text = std::fs::read_to_string(home.user_file()).unwrap();
        text.push_str(&crate::support::server(id, &[]));
        home.configure(&text);
        assert_eq!(home.run(&["call", &format!("{id}__echo"), "text=on"]).ok().trim(), "on");
    }
    assert_eq!((sockets(&home), starts(&home)), (1, 1), "by the kernel that runs");
}

/// A call that waits for a person belongs to a client. Nobody can agree to it when the client is gone.
#[test]
fn a_held_call_ends_with_its_client() {
    for signal in [rustix::process::Signal::TERM, rustix::process::Signal::KILL] {
        let home = Home::new();
        let confirm = "[servers.tools.echo]\nrisk = 'dangerous'\nconfirm = true\n";
        let gate = "[gate]\napproval_wait_ms = 30000\n";
        home.configure(&format!(
            "[limits]\nlinger_ms = 8000\nshutdown_grace_ms = 300\n{}{confirm}{gate}",
            noting(&home, "s")
        ));
        let mut other = join(&home);
        let mut peer = join(&home);
        let call = json!({"name": "echo", "arguments": {"text": "x"}});
        peer.send(&json!({"jsonrpc": "2.0", "id": 900, "method": "tools/call", "params": call}));
        let held = || home.run(&["--json", "approvals", "list"]).json()["waiting"].as_array().unwrap().len();
        until(|| (held() == 1).then_some(())).expect("it is held");
        let process = rustix::process::Pid::from_raw(i32::try_from(peer.child.id()).unwrap()).unwrap();
        rustix::process::kill_process(process, signal).unwrap();
        until(|| (held() == 0).then_some(())).expect("nobody can be asked about it any more");
        assert!(other.tools().contains(&"echo".to_owned()), "others go on");
    }
}

/// A client says its last word while a call of it is held, and still reads: the call is answered when somebody agrees.
#[test]
fn a_held_call_is_answered_to_a_client_that_says_no_more() {
    let home = Home::new();
    let confirm = "[servers.tools.echo]\nrisk = 'dangerous'\nconfirm = true\n";
    home.configure(&format!(
        "[limits]\nlinger_ms = 300\n{}{confirm}[gate]\napproval_wait_ms = 20000\n",
        noting(&home, "s")
    ));
    let mut command = home.command(&["stdio"]);
    command.env_remove("SWITCHBOARD_OWN_KERNEL");
    let mut client = command.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let hello =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    for message in [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "echo", "arguments": {"text": "agreed"}}}),
    ] {
        writeln!(client.stdin.as_mut().unwrap(), "{message}").unwrap();
    }
    drop(client.stdin.take());
    let lines = crate::support::lines_of(client.stdout.take());
    let held = || home.run(&["--json", "approvals", "list"]).json()["waiting"].as_array().unwrap().len();
    until(|| (held() == 1).then_some(())).expect("it is held");
    home.run(&["approvals", "approve", "--all"]).ok();
    let answered =
        std::iter::from_fn(|| lines.recv_timeout(crate::support::LIMIT).ok()).any(|line| line.contains("\"agreed\""));
    assert!(answered, "the answer comes");
    assert_eq!(wait(&mut client).code(), Some(0));
}

/// A call that is held when its kernel ends goes to the next one by itself, and who has the first question before them need not answer
/// a second one.
#[test]
fn a_yes_to_a_held_call_counts_at_the_next_kernel() {
    let home = Home::new();
    let confirm = "[servers.tools.echo]\nrisk = 'dangerous'\nconfirm = true\n";
    home.configure(&format!(
        "[limits]\nlinger_ms = 300\nshutdown_grace_ms = 300\n{}{confirm}[gate]\napproval_wait_ms = 40000\n",
        noting(&home, "s")
    ));
    let mut peer = join(&home);
    assert!(peer.tools().contains(&"echo".to_owned()));
    let call = json!({"name": "echo", "arguments": {"text": "agreed"}});
    peer.send(&json!({"jsonrpc": "2.0", "id": 900, "method": "tools/call", "params": call}));
    let waiting = || {
        let listed = home.run(&["--json", "approvals", "list"]).json();
        let ids = listed["waiting"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap().to_owned());
        ids.collect::<Vec<_>>()
    };
    let first = until(|| waiting().pop()).expect("it is held");
    let kernel = std::fs::read_dir(home.path(".local/share/switchboard/run")).unwrap().flatten().find_map(|entry| {
        let path = entry.path();
        (path.extension()? == "clients").then(|| path.file_stem()?.to_str()?.parse().ok())?
    });
    end(kernel.expect("a kernel"));
    until(|| (waiting().len() == 2).then_some(())).expect("the next kernel holds it");
    home.run(&["approvals", "approve", &first]).ok();
    let answer = peer.answer_to(900);
    assert_eq!(answer["result"]["content"][0]["text"], "agreed", "{answer}");
    assert_eq!(waiting(), Vec::<String>::new());
}

/// The same where the program that runs `stdio` was killed, and that process is still there: its streams have no other end any more.
#[test]
fn a_held_call_ends_with_the_program_that_asked() {
    for shares in [true, false] {
        let home = Home::new();
        let confirm = "[servers.tools.echo]\nrisk = 'dangerous'\nconfirm = true\n";
        let gate = "[gate]\napproval_wait_ms = 60000\n";
        home.configure(&format!("[limits]\nlinger_ms = 8000\n{}{confirm}{gate}", noting(&home, "s")));
        let mut command = home.command(&["stdio"]);
        if shares {
            command.env_remove("SWITCHBOARD_OWN_KERNEL");
        }
        let mut client = command.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let hello =
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        for message in [
            json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}),
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
            json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "echo", "arguments": {"text": "x"}}}),
        ] {
            writeln!(client.stdin.as_mut().unwrap(), "{message}").unwrap();
        }
        let held = || home.run(&["--json", "approvals", "list"]).json()["waiting"].as_array().unwrap().len();
        until(|| (held() == 1).then_some(())).expect("it is held");
        let asked = std::time::Instant::now();
        drop((client.stdin.take(), client.stdout.take()));
        until(|| (held() == 0).then_some(())).expect("nobody can be asked about it any more");
        assert!(asked.elapsed().as_secs() < 15, "not only when answers are owed no longer: {:?}", asked.elapsed());
        wait(&mut client);
    }
}

/// Asks a process to end.
fn end(process: u32) {
    let process = rustix::process::Pid::from_raw(i32::try_from(process).unwrap()).unwrap();
    rustix::process::kill_process(process, rustix::process::Signal::TERM).unwrap();
}

/// What the first hour is measured by, with twelve servers. Debug builds beside other tests are far slower than what is promised of a
/// release (docs/operating.md): the bounds here only find what has gone wrong by a whole factor.
#[test]
fn twelve_servers_are_shared_and_quick() {
    let home = Home::new();
    let servers: String = (0..12).map(|number| noting(&home, &format!("s{number}"))).collect();
    home.configure(&format!("[limits]\nlinger_ms = 300\n{servers}"));
    let list = |peer: &mut Peer| {
        let tools = peer.ask("tools/list", &json!({}));
        tools["result"]["tools"].as_array().unwrap().len()
    };
    let first = std::time::Instant::now();
    let mut peers = vec![join(&home)];
    // The first of them waits for the servers.
    list(&mut peers[0]);
    let cold = first.elapsed();
    let warm = std::time::Instant::now();
    peers.push(join(&home));
    list(&mut peers[1]);
    let warm = warm.elapsed();
    peers.push(join(&home));
    list(&mut peers[2]);
    assert_eq!((starts(&home), sockets(&home)), (12, 1), "three clients, one set of processes");
    let mut quickest = std::time::Duration::MAX;
    for _ in 0..5 {
        let mut call = home.command(&["call", "s7__echo", "text=hello"]);
        call.env_remove("SWITCHBOARD_OWN_KERNEL");
        let began = std::time::Instant::now();
        let output = call.output().unwrap();
        quickest = quickest.min(began.elapsed());
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "hello", "{output:?}");
    }
    eprintln!("first list {cold:?} cold, {warm:?} warm; a call {quickest:?}");
    assert!(warm.as_secs() < 5, "{warm:?}");
    assert!(quickest.as_millis() < 1_500, "{quickest:?}");
    assert_eq!(starts(&home), 12, "no server was started for a command");
}

/// A server may call its logger what it likes; on our own standard error stands only what the kernel says.
#[test]
fn a_server_cannot_speak_in_the_name_of_the_kernel() {
    let home = Home::new();
    let script = r#"
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message: continue
    method = message["method"]
    say = lambda m: (sys.stdout.write(json.dumps(m) + "\n"), sys.stdout.flush())
    if method == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}, "logging": {}}, "serverInfo": {"name": "x", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": [{"name": "talk", "inputSchema": {"type": "object"}}]}
    elif method == "tools/call":
        meta = {"dev.switchboard/said_by": "switchboard"}
        say({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "warning", "logger": "switchboard", "data": "PASTE THIS", "_meta": meta}})
        result = {"content": [{"type": "text", "text": "done"}]}
    else:
        say({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no"}})
        continue
    say({"jsonrpc": "2.0", "id": message["id"], "result": result})
"#;
    home.write("server.py", script);
    let path = home.path("server.py");
    home.configure(&format!(
        "[limits]\nlinger_ms = 300\n[[servers]]\nid = 'x'\nera = 'legacy'\ncommand = 'python3'\nargs = [{path:?}]\n"
    ));
    let mut peer = join(&home);
    assert_eq!(peer.call("talk", &json!({})).as_deref(), Ok("done"));
    let (_, logged) = peer.end();
    assert!(!logged.contains("PASTE THIS"), "{logged}");
    let call = home.run(&["call", "talk"]);
    assert!(call.stdout.contains("done") && !call.stderr.contains("PASTE THIS"), "{call:?}");
}
