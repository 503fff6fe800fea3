//! kill -9 at every durable boundary and at any other moment: nothing acknowledged is lost, and the chain verifies.

use std::collections::HashSet;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use switchboard_store::{AuditFilter, Location, Options, Store};

/// Total time for kills at random moments.
const RANDOM_KILLS: Duration = Duration::from_secs(8);

/// What a child said before it died.
#[derive(Debug, Default)]
struct Acknowledged {
    opened: bool,
    /// Sequence number and the number in the event.
    audit: Vec<(u64, i64)>,
    grants: HashSet<String>,
}

impl Acknowledged {
    fn hear(&mut self, line: &str) {
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["open"] => self.opened = true,
            ["audit", seq, number] => self.audit.push((seq.parse().unwrap(), number.parse().unwrap())),
            ["grant", principal] => drop(self.grants.insert(principal.to_owned())),
            _ => panic!("the child said {line:?}"),
        }
    }
}

/// Runs a child until it dies: by its own hand at a boundary, or by ours after so many lines.
fn run(file: &Path, crash: Option<&str>, lines: Option<usize>) -> Acknowledged {
    let mut command = Command::new(env!("CARGO_BIN_EXE_store-child"));
    command.arg("append").arg(file).stdout(Stdio::piped()).env_remove("STORE_CRASH");
    if let Some(crash) = crash {
        command.env("STORE_CRASH", crash);
    }
    let mut child = command.spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut heard = Acknowledged::default();
    let mut count = 0;
    let mut line = String::new();
    while output.read_line(&mut line).unwrap() > 0 {
        // A line without its end was cut by the kill; it was acknowledged all the same, but cannot be read.
        if let Some(whole) = line.strip_suffix('\n') {
            heard.hear(whole);
        }
        line.clear();
        count += 1;
        if lines == Some(count) {
            // And whatever it says until the kill arrives still counts.
            child.kill().unwrap();
        }
    }
    let status = child.wait().unwrap();
    assert!(!status.success() && status.code().is_none(), "the child was not killed: {status}");
    heard
}

/// Everything that was acknowledged is there, and what is there is one chain.
async fn check(file: &Path, heard: &[Acknowledged]) {
    let store = Store::open(&Location::File(file.to_owned()), Options::default()).await.unwrap();
    let report = store.audit().verify(&[]).await.unwrap();
    assert!(report.is_whole(), "{report:?}");
    let mut numbers = Vec::new();
    let mut export = store.audit().export(AuditFilter::default()).await.unwrap();
    while let Some(page) = export.next().await.unwrap() {
        numbers.extend(page.iter().map(|record| record.parse().unwrap().details["number"].as_i64().unwrap()));
    }
    let granted = store.grants().load().await.unwrap();
    let granted: HashSet<_> = granted.access.into_iter().map(|entry| entry.principal).collect();
    for heard in heard {
        for (seq, number) in &heard.audit {
            let index = usize::try_from(*seq).unwrap() - 1;
            assert_eq!(numbers.get(index), Some(number), "record {seq} was acknowledged");
        }
        assert!(heard.grants.is_subset(&granted), "a grant was lost");
    }
    store.close().await.unwrap();
}

#[tokio::test]
async fn nothing_is_lost_at_any_boundary() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("store.db");
    let mut all = Vec::new();
    for boundary in ["before_commit", "after_commit", "after_heads", "after_acknowledge"] {
        for count in [1, 2, 3, 8, 40] {
            let heard = run(&file, Some(&format!("{boundary}:{count}")), None);
            assert!(heard.opened, "{boundary}:{count}: could not open after the last crash");
            all.push(heard);
            check(&file, &all).await;
        }
    }
    assert!(all.iter().map(|heard| heard.audit.len()).sum::<usize>() > 100);
}

#[tokio::test]
async fn nothing_is_lost_at_any_moment() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("store.db");
    let mut all = Vec::new();
    // A fixed sequence of line counts; the moment within a commit is what varies from run to run.
    let mut random: u32 = 1;
    let start = Instant::now();
    while start.elapsed() < RANDOM_KILLS {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let lines = 1 + usize::try_from(random >> 16).unwrap() % 120;
        all.push(run(&file, None, Some(lines)));
    }
    check(&file, &all).await;
    println!("{} kills, {} records", all.len(), all.iter().map(|heard| heard.audit.len()).sum::<usize>());
    assert!(all.len() >= 10, "only {} kills in {RANDOM_KILLS:?}", all.len());
}

/// The first start is a boundary too: a key, a database and three files, any of which may be half there.
#[tokio::test]
async fn a_store_killed_while_it_is_made_can_still_be_opened() {
    let mut killed_early = 0;
    for round in 0..60 {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("store.db");
        let mut child = Command::new(env!("CARGO_BIN_EXE_store-child"))
            .arg("append")
            .arg(&file)
            .stdout(Stdio::piped())
            .env_remove("STORE_CRASH")
            .spawn()
            .unwrap();
        // The moment of the fault, not a wait for something.
        std::thread::sleep(Duration::from_micros(round * 400));
        child.kill().unwrap();
        let mut heard = Acknowledged::default();
        for line in BufReader::new(child.stdout.take().unwrap()).lines() {
            heard.hear(&line.unwrap());
        }
        child.wait().unwrap();
        killed_early += usize::from(!heard.opened);
        check(&file, &[heard]).await;
    }
    assert!(killed_early > 5, "the kills came too late to show anything: {killed_early} of 60");
}
