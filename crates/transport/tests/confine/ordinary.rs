//! What ordinary programs can still do.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::time::{Duration, Instant};

use switchboard_protocol::mgp::TrustLevel;
use switchboard_transport::child::{Child, StopGrace};
use switchboard_transport::confine::{ConfinementGrant, ConfinementProfile, ExitCause};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

use crate::scene::{Ran, Scene, TOKEN, install};

/// Whether a program is there and runs; says so where it is not.
fn there(program: &str) -> bool {
    let found = std::process::Command::new(program).arg("--version").output().is_ok_and(|out| out.status.success());
    if !found {
        println!("skipped: {program} is not installed");
    }
    found
}

fn network(scope: &str) -> ConfinementGrant {
    ConfinementGrant { permission: "network.outbound".to_owned(), scope: vec![scope.to_owned()] }
}

/// Asks a server that answers each line with one line.
async fn ask(scene: &Scene, program: &str, args: &[&str], profile: ConfinementProfile) -> (String, ExitCause) {
    let mut child = Child::spawn(&scene.spec(program, args, profile)).await.unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    child.stdin.as_mut().unwrap().write_all(b"ping\n").await.unwrap();
    let answer = tokio::time::timeout(Duration::from_secs(30), answers.next_line()).await;
    let answer = answer.expect("no answer in time").unwrap();
    drop(child.stdin.take());
    let ended = tokio::time::timeout(Duration::from_secs(10), child.wait()).await;
    assert!(ended.is_ok(), "it did not end with its input: {}", child.stderr_tail().text());
    let cause = child.exit_cause().unwrap();
    (answer.unwrap_or_else(|| child.stderr_tail().text()), cause)
}

const NODE: &str = r"
const fs = require('fs'), os = require('os'), path = require('path');
const { Worker } = require('worker_threads');
const crypto = require('crypto');
const note = path.join(os.homedir(), 'note'), temporary = path.join(os.tmpdir(), 'x');
fs.writeFileSync(note, 'a'); fs.writeFileSync(temporary, 'b'); fs.chmodSync(note, 0o600);
os.cpus(); os.networkInterfaces(); os.freemem(); crypto.randomBytes(8);
require('readline').createInterface({ input: process.stdin }).on('line', line => {
  const worker = new Worker('require(\'worker_threads\').parentPort.postMessage(2)', { eval: true });
  worker.on('message', two => require('child_process').execFile(process.execPath, ['-p', '1+' + two], (error, out) =>
    console.log(line + ' ' + (error || out.trim()) + fs.readFileSync(note) + fs.readFileSync(temporary))));
});
";

const PYTHON: &str = r"
import json, os, random, ssl, subprocess, sys, tempfile, threading, asyncio
async def nothing(): await asyncio.sleep(0)
asyncio.run(nothing())
with open(os.path.expanduser('~/note'), 'w') as file: file.write('a')
with tempfile.NamedTemporaryFile() as file: file.write(b'b')
for line in sys.stdin:
    out = subprocess.run([sys.executable, '-c', 'print(3)'], capture_output=True, text=True)
    found = []
    thread = threading.Thread(target=lambda: found.append(ssl.create_default_context() is not None))
    thread.start(); thread.join()
    print(line.strip(), out.stdout.strip() or out.stderr, found[0], flush=True)
";

#[tokio::test]
async fn a_node_server_runs_under_the_standard_profile() {
    install();
    if !there("node") {
        return;
    }
    let scene = Scene::new();
    let script = scene.path("work/server.js").display().to_string();
    std::fs::write(&script, NODE).unwrap();
    for grants in [&[][..], &[network("example.com")]] {
        let profile = scene.decide(TrustLevel::Standard, grants, "node", &[&script]);
        assert_eq!(ask(&scene, "node", &[&script], profile).await, ("ping 3ab".to_owned(), ExitCause::Finished));
    }
}

#[tokio::test]
async fn a_python_server_runs_under_the_standard_profile() {
    install();
    if !there("python3") {
        return;
    }
    let scene = Scene::new();
    let script = scene.path("work/server.py").display().to_string();
    std::fs::write(&script, PYTHON).unwrap();
    let profile = scene.decide(TrustLevel::Standard, &[], "python3", &[&script]);
    assert_eq!(ask(&scene, "python3", &[&script], profile).await, ("ping 3 True".to_owned(), ExitCause::Finished));
}

#[tokio::test]
async fn plain_servers_run_without_trust() {
    install();
    let scene = Scene::new();
    for trust in [TrustLevel::Untrusted, TrustLevel::Experimental] {
        if there("node") {
            let script = scene.path("program/server.js").display().to_string();
            let text = "require('readline').createInterface({ input: process.stdin }).on('line', l => console.log(l));";
            std::fs::write(&script, text).unwrap();
            let profile = scene.decide(trust, &[], "node", &[&script]);
            assert_eq!(ask(&scene, "node", &[&script], profile).await, ("ping".to_owned(), ExitCause::Finished));
        }
        let profile = scene.decide(trust, &[], "/bin/sh", &[]);
        let echo = ["-c", "while read line; do echo got $line; done"];
        assert_eq!(ask(&scene, "/bin/sh", &echo, profile).await, ("got ping".to_owned(), ExitCause::Finished));
    }
}

/// Answers every connection with an HTTP response, and tells how many there were.
fn web() -> (u16, std::sync::mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            let mut request = [0; 1024];
            let length = stream.read(&mut request).unwrap_or_default();
            let _gone = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\ndata");
            if tell.send(String::from_utf8_lossy(&request[..length]).into_owned()).is_err() {
                return;
            }
        }
    });
    (port, told)
}

const FETCH: &str = r"
import socket, sys, urllib.request
for line in sys.stdin:
    try: found = urllib.request.urlopen(sys.argv[1], timeout=10).read().decode()
    except Exception as error: found = str(error)
    try: direct = socket.create_connection(('127.0.0.1', int(sys.argv[2])), 5) and 'connected'
    except OSError as error: direct = 'refused'
    print(found, '|', direct, flush=True)
";

#[tokio::test]
async fn granted_hosts_are_reached_through_the_proxy_and_no_others() {
    install();
    if !there("python3") {
        return;
    }
    let scene = Scene::new();
    let script = scene.path("work/fetch.py").display().to_string();
    std::fs::write(&script, FETCH).unwrap();
    let (port, requests) = web();
    let (url, number) = (format!("http://127.0.0.1:{port}/x"), port.to_string());
    let args = [script.as_str(), &url, &number];
    for (grant, expected) in [
        (format!("127.0.0.1:{port}"), "data | refused"),
        ("example.com".to_owned(), "HTTP Error 403: Forbidden | refused"),
        // Any public host is not this machine.
        ("*:*".to_owned(), "HTTP Error 403: Forbidden | refused"),
    ] {
        let profile = scene.decide(TrustLevel::Standard, &[network(&grant)], "python3", &args);
        assert_eq!(ask(&scene, "python3", &args, profile).await.0, expected, "{grant}");
    }
    assert!(requests.recv_timeout(Duration::from_secs(5)).unwrap().starts_with("GET /x HTTP/1.1\r\n"));
    assert!(requests.try_recv().is_err(), "somebody else came through");
}

#[tokio::test]
async fn who_needs_more_memory_than_it_has_is_said_to_have_died_of_it() {
    install();
    if !there("python3") {
        return;
    }
    let scene = Scene::new();
    let profile = scene.decide(TrustLevel::Standard, &[], "python3", &[]);
    let script = "x = bytearray(600 << 20)\nprint('had it')";
    let child = Child::spawn(&scene.spec("python3", &["-c", script], profile)).await.unwrap();
    let ran = Ran::of(child).await;
    assert_eq!((ran.cause.code(), ran.stdout.as_str()), (Some(3001), ""), "{ran:?}");
    assert!(ran.stderr.contains("MemoryError"), "{ran:?}");
}

#[tokio::test]
async fn granted_folders_can_be_used_and_others_not() {
    install();
    let scene = Scene::new();
    let outside = scene.path("outside").display().to_string();
    let grant = |permission: &str| ConfinementGrant { permission: permission.to_owned(), scope: vec![outside.clone()] };
    let script = "read line; cat \"$0/file\" 2>/dev/null; (echo x > \"$0/new\") 2>/dev/null && echo -n written; echo";
    for (grants, expected) in [
        (&[][..], String::new()),
        (&[grant("filesystem.read")], TOKEN.to_owned()),
        (&[grant("filesystem.write")], format!("{TOKEN}written")),
    ] {
        let profile = scene.decide(TrustLevel::Standard, grants, "/bin/sh", &[]);
        assert_eq!(ask(&scene, "/bin/sh", &["-c", script, &outside], profile).await.0, expected, "{grants:?}");
    }
}

#[tokio::test]
async fn a_stop_reaches_processes_that_have_left_the_group() {
    install();
    if !there("setsid") {
        return;
    }
    let scene = Scene::new();
    let profile = scene.decide(TrustLevel::Standard, &[], "/bin/sh", &[]);
    let script = "setsid sh -c 'echo $$; trap \"\" TERM HUP; while :; do sleep 1000; done'";
    let mut child = Child::spawn(&scene.spec("/bin/sh", &["-c", script], profile)).await.unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let stray: u32 = lines.next_line().await.unwrap().unwrap().parse().unwrap();
    let quick = StopGrace { after_eof: Duration::from_millis(50), after_term: Duration::from_millis(50) };
    child.stop(quick).await;
    let start = Instant::now();
    let lives = || {
        let stat = std::fs::read_to_string(format!("/proc/{stray}/stat")).unwrap_or_default();
        !stat.is_empty() && !stat.rsplit(')').next().unwrap_or_default().trim_start().starts_with('Z')
    };
    while lives() {
        assert!(start.elapsed() < Duration::from_secs(10), "{stray} is left");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_renewed_budget_counts_from_there() {
    install();
    let scene = Scene::new();
    let mut profile = scene.decide(TrustLevel::Standard, &[], "/bin/sh", &[]);
    profile.cpu_seconds = Some(2);
    // Each line costs some tenths of a second; together they cost more than the budget.
    let script = "while read line; do i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done; echo done; done";
    let mut child = Child::spawn(&scene.spec("/bin/sh", &["-c", script], profile)).await.unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let start = Instant::now();
    let mut stdin = child.stdin.take().unwrap();
    while start.elapsed() < Duration::from_secs(5) {
        child.renew_cpu();
        stdin.write_all(b"go\n").await.unwrap();
        assert_eq!(lines.next_line().await.unwrap().as_deref(), Some("done"), "{:?}", child.exit_cause());
    }
    drop(stdin);
    child.wait().await;
    assert_eq!(child.exit_cause(), Some(ExitCause::Finished));
}

#[tokio::test]
async fn temporary_files_are_seen_by_nobody_else_and_end_with_the_server() {
    install();
    // Elsewhere than in the usual folder, so that the usual folder can be hidden.
    let place = std::path::Path::new("/var/tmp");
    if !place.is_dir() {
        println!("skipped: there is no /var/tmp");
        return;
    }
    let scene = Scene::below(place);
    let name = format!("switchboard-test-{}", std::process::id());
    let (own, outer) = (format!("/tmp/{name}-own"), format!("/tmp/{name}-outer"));
    std::fs::write(&outer, TOKEN).unwrap();
    let script =
        "read line; echo x > \"$0\" && cat \"$0\" \"$TMPDIR/${0##*/}\" \"$1\" 2>/dev/null | tr '\\n' ' '; echo";
    for trust in [TrustLevel::Standard, TrustLevel::Untrusted] {
        // Without children there is no pipe: the shell's own commands have to do.
        let script = if trust == TrustLevel::Standard {
            script
        } else {
            "read line; echo x > \"$0\" && read a < \"$0\" && read b < \"$TMPDIR/${0##*/}\" && echo \"$a $b \"; read c < \"$1\""
        };
        let profile = scene.decide(trust, &[], "/bin/sh", &[]);
        let answer = ask(&scene, "/bin/sh", &["-c", script, &own, &outer], profile).await.0;
        assert_eq!(answer, "x x ", "{trust}");
        assert!(!std::path::Path::new(&own).exists());
        assert_eq!(std::fs::read_dir(scene.path("data/sandboxes/s/tmp")).unwrap().count(), 0);
    }
    std::fs::remove_file(outer).unwrap();
}
