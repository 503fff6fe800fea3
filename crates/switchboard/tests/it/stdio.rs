//! The kernel on standard streams, and the commands that use one inside their own process.

use serde_json::json;

use crate::support::{Home, Peer, server, until};

#[test]
fn two_servers_behind_one_door() {
    let home = Home::new();
    home.configure(&format!("{}{}", server("one", &[]), server("two", &["--modern"])));
    let mut peer = home.connect();
    let tools = peer.tools();
    assert!(tools.contains(&"one__echo".to_owned()) && tools.contains(&"two__echo".to_owned()), "{tools:?}");
    assert_eq!(peer.call("one__echo", &json!({"text": "a"})), Ok("a".to_owned()));
    assert_eq!(peer.call("two__echo", &json!({"text": "b"})), Ok("b".to_owned()));
    let (code, log) = peer.end();
    assert_eq!((code, log.as_str()), (Some(0), ""));
}

#[test]
fn one_server_is_transparent() {
    let home = Home::new();
    home.configure(&server("one", &[]));
    let mut peer = home.connect();
    assert_eq!(peer.call("echo", &json!({"text": "a"})), Ok("a".to_owned()));
}

#[test]
fn without_servers_it_answers_all_the_same() {
    let home = Home::new();
    home.configure("");
    let mut peer = home.connect();
    assert_eq!(peer.tools(), Vec::<String>::new());
    let (code, log) = peer.end();
    assert!(code == Some(0) && log.contains("switchboard import"), "{log}");
}

#[test]
fn a_line_that_is_no_message_is_answered_with_an_error() {
    let home = Home::new();
    let mut peer = Peer::start(home.command(&["stdio"]));
    peer.send(&json!("not a message"));
    peer.initialize();
}

#[test]
fn a_changed_file_is_taken_over_and_a_broken_one_is_not() {
    let home = Home::new();
    home.configure(&server("one", &[]));
    let mut peer = home.connect();
    assert!(peer.tools().contains(&"echo".to_owned()));
    home.configure(&format!("{}{}", server("one", &[]), server("two", &[])));
    until(|| peer.tools().contains(&"two__echo".to_owned()).then_some(())).expect("the second server");
    let pid = peer.call("one__pid", &json!({})).unwrap();

    home.configure("[[servers]\n");
    // The next good file tells that the broken one has been seen or skipped; either way nothing was lost.
    home.configure(&format!("{}{}", server("one", &[]), server("three", &[])));
    until(|| peer.tools().contains(&"three__echo".to_owned()).then_some(())).expect("the third server");
    assert!(!peer.tools().contains(&"two__echo".to_owned()));
    assert_eq!(peer.call("one__pid", &json!({})), Ok(pid), "an unchanged server is left alone");
}

#[test]
fn tools_and_call_show_what_clients_get() {
    let home = Home::new();
    home.configure(&format!("{}{}", server("one", &[]), server("two", &["--modern"])));
    let names = home.run(&["tools", "--server", "two", "--names"]).ok();
    assert!(names.lines().all(|name| name.starts_with("two__")) && names.contains("two__echo"), "{names}");
    assert!(home.run(&["tools"]).ok().contains("Gives the text back"));
    assert_eq!(home.run(&["tools", "--json"]).json()["tools"][0]["inputSchema"]["type"], "object");
    assert!(home.run(&["tools", "--server", "three"]).err(2).contains("one, two"));

    assert_eq!(home.run(&["call", "one__echo", "text=5 = five"]).ok(), "5 = five\n");
    assert_eq!(home.run(&["call", "two__echo", r#"{"text": "b"}"#]).ok(), "b\n");
    assert_eq!(home.run(&["call", "one__echo", "text=x", "--json"]).json()["content"][0]["text"], "x");
    assert!(home.run(&["call", "one__fail"]).err(1).contains("it went wrong"));
    assert!(home.run(&["call", "echo", "text=x"]).err(1).contains("did you mean one__echo, two__echo?"));
    assert!(home.run(&["call", "one__echo", "word"]).err(2).contains("text=<string>"));
    assert!(home.run(&["call", "one__echo", "{"]).err(2).contains("not valid JSON"));
    let ran = home.run(&["call", "one__progress", "--progress"]);
    assert!(ran.stderr.contains("progress 3/3 working"), "{ran:?}");
    assert_eq!(ran.ok(), "done\n");
}

#[test]
fn a_question_that_nobody_can_answer_does_not_hold_the_call_up() {
    let home = Home::new();
    home.configure(&server("one", &["--elicits"]));
    assert_eq!(home.run(&["call", "echo", "text=x"]).ok(), "x refused\n");
}

#[test]
fn doctor_finds_nothing_wrong_where_nothing_is() {
    let home = Home::new();
    home.configure(&format!("listen = \"127.0.0.1:0\"\n{}", server("one", &["--modern"])));
    let said = home.run(&["doctor"]).ok();
    assert!(said.contains("speaks modern 2026-07-28") && said.contains("no problem was found"), "{said}");
    assert_eq!(home.run(&["doctor", "--json"]).json()["problems"], 0);
}

/// What may be a secret is not given away on trial, whoever asks for it; nor anything to what a project brings.
#[test]
fn a_failing_server_gets_no_secret_on_trial() {
    let home = Home::new();
    let (got, project) = (home.path("got"), home.path("work"));
    let script = format!("env >> {}; echo 'set GITHUB_TOKEN, DATABASE_URL and MY_MODE' >&2; exit 1", got.display());
    let entry = format!("[[servers]]\nid = \"w\"\ncommand = \"sh\"\nargs = [\"-c\", {script:?}, \"--token\"]\n");
    let variables = [("GITHUB_TOKEN", "s1"), ("VAULT_TOKEN", "s2"), ("DATABASE_URL", "s3"), ("MY_MODE", "m1")];
    home.configure(&entry);
    let said = home.command(&["doctor"]).envs(variables).output().unwrap();
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(said.contains("it may need DATABASE_URL, GITHUB_TOKEN") && !said.contains("VAULT_TOKEN"), "{said}");
    let text = std::fs::read_to_string(&got).unwrap();
    assert!(text.contains("MY_MODE=m1"), "what is no secret is tried");
    assert!(!["s1", "s2", "s3"].iter().any(|value| text.contains(&format!("={value}\n"))), "{text}");
    // What came with a project gets nothing at all.
    home.configure("");
    std::fs::remove_file(&got).unwrap();
    std::fs::create_dir_all(&project).unwrap();
    std::fs::write(project.join("mgp.toml"), &entry).unwrap();
    home.command(&["trust", "--yes"]).current_dir(&project).output().unwrap();
    home.command(&["doctor"]).current_dir(&project).envs(variables).output().unwrap();
    let text = std::fs::read_to_string(&got).unwrap();
    assert!(!text.contains("MY_MODE=m1") && !text.contains("=s1"), "{text}");
}

#[test]
fn a_server_that_lacks_a_variable_is_told_of_and_tried_with_it() {
    let home = Home::new();
    let program = crate::support::faulty_server();
    let script = "test -n \"$WIDGET_MODE\" || { echo 'set WIDGET_MODE first' >&2; exit 1; }; exec \"$0\"";
    home.configure(&format!("[[servers]]\nid = \"w\"\ncommand = \"sh\"\nargs = [\"-c\", {script:?}, {program:?}]\n"));
    let mut doctor = home.command(&["doctor"]);
    let said = doctor.env("WIDGET_MODE", "k").env("UNRELATED", "x").output().unwrap();
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(said.contains("it starts with WIDGET_MODE: add `pass_env = [\"WIDGET_MODE\"]`"), "{said}");
    assert!(!said.contains("UNRELATED"), "{said}");
    home.run(&["remove", "w"]).ok();
    let words = ["add", "w", "--pass-env", "WIDGET_MODE", "--", "sh", "-c", script, program.to_str().unwrap()];
    home.run(&words).ok();
    let mut doctor = home.command(&["doctor"]);
    let said = doctor.env("WIDGET_MODE", "k").output().unwrap();
    assert!(String::from_utf8_lossy(&said.stdout).contains("server \"w\": starts"), "{said:?}");
}

/// A log that cannot be written, as on a full disk, costs the log and nothing else.
#[test]
fn a_log_that_cannot_be_written_ends_nothing() {
    let home = Home::new();
    home.configure(&server("one", &[]));
    let mut command = home.command(&["--log", "trace", "stdio"]);
    command.stderr(std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
    let mut peer = Peer::start(command);
    peer.initialize();
    for _ in 0..2 {
        assert_eq!(peer.call("echo", &json!({"text": "x"})), Ok("x".to_owned()));
    }
    peer.child.kill().unwrap();
}
