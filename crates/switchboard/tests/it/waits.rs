//! Nothing is silent for longer than a second, and nothing of what is said meanwhile is on standard output.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{Home, faulty_server, lines_of, server, wait};

/// Between the start of a command and its first word, at most: a second, and the start of a process on a busy machine.
const FIRST_WORD: Duration = Duration::from_secs(6);

/// Runs a command; when the first line came on standard error that has this word, and what was on standard output.
fn first_word(home: &Home, args: &[&str], word: &str) -> (Duration, String) {
    let began = Instant::now();
    let mut child = home.command(args).spawn().unwrap();
    let lines = lines_of(child.stderr.take());
    let mut said = Vec::new();
    let at = loop {
        let line = lines.recv_timeout(Duration::from_secs(60)).unwrap_or_else(|_| panic!("{args:?}: {said:?}"));
        if line.contains(word) {
            break began.elapsed();
        }
        said.push(line);
    };
    let mut stdout = String::new();
    std::io::Read::read_to_string(&mut child.stdout.take().unwrap(), &mut stdout).unwrap();
    wait(&mut child);
    (at, stdout)
}

#[test]
fn commands_that_wait_for_a_slow_server_say_so() {
    let home = Home::new();
    let late = format!("sleep 4; exec {}", faulty_server().display());
    let slow = format!("[[servers]]\nid = \"slow\"\ncommand = \"sh\"\nargs = [\"-c\", {late:?}]\n");
    home.configure(&format!("{slow}{}", server("quick", &[])));
    for args in [&["servers"][..], &["doctor"], &["tools"], &["call", "slow__echo", "text=x"]] {
        let (at, _) = first_word(&home, args, "waiting for slow");
        assert!(at < FIRST_WORD, "{args:?}: {at:?}");
    }
    let (_, stdout) = first_word(&home, &["servers", "--json"], "waiting for slow");
    let answer: Value = serde_json::from_str(&stdout).expect("only the answer is on standard output");
    assert_eq!(answer["servers"][0]["state"], "ready");
}

#[test]
fn a_call_that_takes_long_says_that_it_is_waited_for() {
    let home = Home::new();
    home.configure(&format!("{}call_timeout_ms = 3000\n", server("one", &[])));
    let (at, _) = first_word(&home, &["call", "slow"], "waiting for the answer of slow");
    assert!(at < FIRST_WORD, "{at:?}");
}

/// The log has what servers do all day; a person wants to see what was done with them.
#[test]
fn the_end_of_the_log_has_calls_and_no_comings_and_goings() {
    let home = Home::new();
    home.configure(&server("one", &[]));
    for number in 0..3 {
        home.run(&["call", "echo", &format!("text={number}")]).ok();
    }
    let ran = home.run(&["audit", "tail"]);
    assert!(ran.stdout.contains("TOOL_EXECUTED") && !ran.stdout.contains("SERVER_CONNECTED"), "{ran:?}");
    assert!(!ran.stdout.contains("server_state") && ran.stderr.contains("--all shows them"), "{ran:?}");
    let all = home.run(&["audit", "tail", "--all"]);
    assert!(all.stdout.contains("SERVER_CONNECTED") && all.stderr.is_empty(), "{all:?}");
    let few = home.run(&["audit", "tail", "-n", "2"]).ok();
    assert_eq!(few.lines().count(), 2, "{few}");
    let json = home.run(&["audit", "tail", "--json", "-n", "500"]).ok();
    assert!(json.contains("SERVER_CONNECTED"), "programs are given everything");
}

#[test]
fn a_tool_that_is_not_there_takes_no_arguments_that_anybody_knows() {
    let home = Home::new();
    home.configure(&format!("{}{}", server("one", &[]), server("two", &[])));
    let said = home.run(&["call", "nope"]).err(1);
    assert!(said.contains("no tool \"nope\"") && !said.contains("no arguments"), "{said}");
}

#[test]
fn a_call_of_a_server_that_cannot_be_used_starts_no_other() {
    let home = Home::new();
    let faulty = "[[servers]]\nid = 'time'\ncommand = '${NO_SUCH_PROGRAM}'\n";
    let off = "[[servers]]\nid = 'off'\ncommand = 'x'\nenabled = false\n";
    home.configure(&format!("{}{}{faulty}{off}", server("one", &[]), server("two", &[])));
    let said = home.run(&["call", "time__now"]).err(1);
    assert!(said.contains("\"time__now\" cannot be called: the server \"time\" cannot be used"), "{said}");
    assert!(said.contains("NO_SUCH_PROGRAM") && !said.contains("did you mean"), "{said}");
    let said = home.run(&["call", "off__now"]).err(1);
    assert!(said.contains("is switched off; `switchboard servers enable off`"), "{said}");
    let work = home.path(".local/share/switchboard/work");
    assert!(!work.join("one").exists() && !work.join("two").exists(), "nothing was started");
}

#[test]
fn the_folder_of_a_server_goes_with_it_unless_there_is_something_in_it() {
    let home = Home::new();
    home.configure(&format!("{}{}", server("one", &[]), server("two", &[])));
    home.run(&["tools"]).ok();
    let folder = |id: &str| home.path(".local/share/switchboard/work").join(id);
    assert!(folder("one").is_dir() && folder("two").is_dir());
    std::fs::write(folder("two").join("notes.txt"), "mine").unwrap();
    let said = home.run(&["remove", "one"]).ok();
    assert!(!folder("one").exists() && !said.contains("left files"), "{said}");
    let said = home.run(&["remove", "two"]).ok();
    assert!(folder("two").join("notes.txt").exists() && said.contains("it left files in"), "{said}");
}
