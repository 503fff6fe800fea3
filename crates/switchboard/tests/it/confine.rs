//! The hidden command that confines itself: the binary as the launcher of confined servers.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use switchboard_protocol::mgp::TrustLevel;
use switchboard_transport::child::{Child, CommandSpec, StopGrace};
use switchboard_transport::confine::{self, ConfinedServer, Decision, ExitCause, Overrides, Places};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

use crate::support::{Home, server};

#[test]
fn run_by_hand_it_says_that_nobody_is_there() {
    let home = Home::new();
    let said = home.run(&["confine", "no-such-socket"]).err(1);
    assert!(said.contains("the start cannot be enforced"), "{said}");
    assert!(!home.run(&["--help"]).ok().contains("confine"));
}

#[tokio::test]
async fn servers_are_confined_by_this_binary() {
    confine::install(env!("CARGO_BIN_EXE_switchboard").into(), &["confine"], |address| !address.is_loopback());
    let home = Home::new();
    home.write("secret", "hidden words");
    // Its folder is readable, and what is beside it is not.
    let server = home.path("server/answer.sh");
    std::fs::create_dir_all(server.parent().unwrap()).unwrap();
    let mut file = std::fs::File::create(&server).unwrap();
    write!(file, "#!/bin/sh\nwhile read line; do echo \"$line $(cat \"$1\" 2>&1) $HOME\"; done\n").unwrap();
    drop(file);
    std::fs::set_permissions(&server, std::fs::Permissions::from_mode(0o700)).unwrap();
    let (program, sandbox) = (server.display().to_string(), home.path("data/sandboxes/s"));
    let args = vec![home.path("secret").display().to_string()];
    let places = Places::find(&ConfinedServer {
        program: &program,
        args: &args,
        cwd: &home.path("project"),
        path: &std::env::var_os("PATH").unwrap(),
        home: Some(&home.path("")),
        sandbox: &sandbox,
        private: &[home.path("data")],
    });
    let decision = Decision::of(TrustLevel::Standard, &[], &Overrides::default(), &places);
    assert_eq!(decision.notes, Vec::<String>::new());
    let spec = CommandSpec {
        program,
        args,
        cwd: Some(home.path("project")),
        profile: Some(decision.profile.into()),
        ..CommandSpec::default()
    };
    let mut child = Child::spawn(&spec).await.unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    child.stdin.as_mut().unwrap().write_all(b"hello\n").await.unwrap();
    let answer = tokio::time::timeout(Duration::from_secs(20), lines.next_line()).await.unwrap().unwrap().unwrap();
    assert!(answer.starts_with("hello ") && answer.contains("ermission denied"), "{answer}");
    assert!(answer.ends_with(&sandbox.join("home").display().to_string()), "{answer}");
    drop(child.stdin.take());
    child.wait().await;
    assert_eq!(child.exit_cause(), Some(ExitCause::Finished));
    child.stop(StopGrace::default()).await;

    let report = confine::ability().await.unwrap();
    assert!(report.can_confine(), "{report:?}");
}

#[test]
fn a_confined_server_writes_to_the_folder_it_works_in_by_relative_paths() {
    let home = Home::new();
    for (granted, writes) in [("[]", false), ("[\"filesystem.write\"]", true)] {
        let entry = server("s", &["--note-start", "started.txt"]);
        let rights = format!("[servers.mgp]\npermissions_granted = {granted}\n");
        home.configure(&format!("isolation = \"trust\"\n{entry}{rights}"));
        let ran = home.run(&["call", "echo", "text=x"]);
        assert_eq!(ran.code == Some(0), writes, "{granted}: {ran:?}");
        assert_eq!(home.path("project/started.txt").is_file(), writes, "{granted}: {ran:?}");
    }
}
