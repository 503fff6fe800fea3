//! Many clients at once: that come back together, or that read nothing.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::serve::Served;
use crate::support::{Home, LIMIT, server, until};

/// Clients of a storm.
const CLIENTS: usize = 5_000;
/// Clients that read nothing.
const STALLED: usize = 1_000;

/// As many as are wanted, or as this process may have files: each is one.
fn as_many_as(wanted: usize) -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let maximum = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).unwrap();
    let most = maximum.map_or(usize::MAX, |most| usize::try_from(most).unwrap());
    wanted.min(most.saturating_sub(300))
}

fn ready(served: &Served) {
    until(|| (served.http("GET", "/readyz", None, "").0 == 200).then_some(())).expect("ready");
}

/// Writes the first request of a session, and leaves the answer to be read.
fn begin(address: &str) -> TcpStream {
    let hello =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "storm", "version": "1"}});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}).to_string();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    stream
}

/// The status of an answer, whose head must come.
fn status(stream: &mut TcpStream) -> u16 {
    let mut head = [0; 12];
    stream.read_exact(&mut head).expect("an answer");
    std::str::from_utf8(&head[9..]).unwrap().parse().unwrap()
}

/// The stream of a session of its own, from which nothing was read.
fn stall(address: &str) -> TcpStream {
    let mut stream = begin(address);
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).unwrap();
        head.extend(byte);
    }
    let head = String::from_utf8(head).unwrap().to_lowercase();
    let id = head.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).expect("a session").to_owned();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    write!(stream, "GET /mcp HTTP/1.1\r\nHost: {address}\r\nAccept: text/event-stream\r\nMcp-Session-Id: {id}\r\n\r\n")
        .unwrap();
    stream
}

/// So many come at once; how long until the last one has its answer.
fn storm(served: &Served, many: usize) -> (Vec<TcpStream>, Duration) {
    let began = Instant::now();
    let mut clients: Vec<TcpStream> = (0..as_many_as(many)).map(|_| begin(&served.address)).collect();
    for client in &mut clients {
        assert_eq!(status(client), 200);
    }
    (clients, began.elapsed())
}

#[test]
fn clients_that_all_come_back_at_once_are_served_and_start_nothing_twice() {
    let home = Home::new();
    let starts = home.path("starts");
    let flags = ["--note-start", starts.to_str().unwrap()];
    let servers: String = (0..6).map(|number| server(&format!("s{number}"), &flags)).collect();
    // Sessions outlive connections, and here come two for each client.
    home.configure(&format!("[limits]\nsessions = 20000\n{servers}"));
    let count = || std::fs::read_to_string(&starts).unwrap_or_default().lines().count();
    let served = Served::start(&home, &["--no-auth"]);
    ready(&served);
    let before = count();
    let (clients, few) = storm(&served, CLIENTS / 10);
    drop(clients);
    // Quick enough, or, where others keep the machine busy, not slower for each of them than a tenth of them.
    let is_steady = |time: Duration| time < Duration::from_secs(20) || time < 30 * few;
    let (clients, _) = storm(&served, CLIENTS);
    drop(clients);
    let (clients, time) = storm(&served, CLIENTS);
    assert!(is_steady(time), "{time:?}, and {few:?} for a tenth");
    assert_eq!(count(), before, "clients that come start no servers");
    // The kernel goes as well, and they all stand before the door when it comes back.
    served.signal(rustix::process::Signal::KILL);
    served.ended();
    drop(clients);
    let served = Served::start(&home, &["--no-auth"]);
    let (_clients, time) = storm(&served, CLIENTS);
    assert!(is_steady(time), "{time:?}, and {few:?} for a tenth");
    ready(&served);
    served.call("s0__pid", "x");
    assert_eq!(count(), 2 * before, "each server was started as often as the first time");
    served.end();
}

/// What the process has in memory, in kilobytes.
fn resident(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
#[cfg(target_os = "linux")]
fn a_thousand_clients_that_read_nothing_hold_up_nobody() {
    let home = Home::new();
    // Six hundred events for each of them: five times what a stream may keep.
    let loud = server("loud", &["--flood", "100", "--flood-bytes", "2000"]);
    home.configure(&format!("{}\n{loud}", server("good", &[])));
    let served = Served::start(&home, &["--no-auth"]);
    ready(&served);
    let mut stalled: Vec<TcpStream> = (0..as_many_as(STALLED)).map(|_| stall(&served.address)).collect();
    let mut witness = stalled.pop().unwrap();
    let mut heard = Vec::new();
    while !heard.windows(21).any(|window| window == b"notifications/message") {
        let mut piece = [0; 4096];
        let read = witness.read(&mut piece).unwrap();
        if read == 0 {
            // While the others came it was too slow, and was given up as they will be.
            witness = stall(&served.address);
        }
        heard.extend_from_slice(&piece[..read]);
    }
    let began = Instant::now();
    let mut slowest = Duration::ZERO;
    let mut most = 0;
    let mut calls = 0;
    while began.elapsed() < Duration::from_secs(6) {
        let call = Instant::now();
        served.call("good__pid", "x");
        slowest = slowest.max(call.elapsed());
        most = most.max(resident(served.pid()));
        calls += 1;
    }
    eprintln!("{calls} calls, the slowest in {slowest:?}, {} MiB", most >> 10);
    assert!(calls > 10 && slowest < Duration::from_secs(3), "{calls} calls, the slowest in {slowest:?}");
    // Each stream keeps 128 events, a quarter of a megabyte here; all of them together what one principal may have.
    assert!(most < 200 << 10, "{} MiB", most >> 10);
    drop(stalled);
    served.end();
}

/// Announces a message of so many bytes, and sends all but the last `kept`.
fn post(address: &str, length: usize, kept: usize) -> std::io::Result<TcpStream> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(LIMIT))?;
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: {length}\r\n\r\n"
    )?;
    stream.write_all(&vec![b' '; length - kept])?;
    Ok(stream)
}

#[test]
#[cfg(target_os = "linux")]
fn large_bodies_that_find_no_room_are_told_so_and_hold_up_nobody() {
    let home = Home::new();
    home.configure(&server("good", &[]));
    let served = Served::start(&home, &["--no-auth"]);
    ready(&served);
    let length = 15 << 20;
    // Three fill what one principal may have, and stay.
    let held: Vec<TcpStream> = (0..3).map(|_| post(&served.address, length, 1).unwrap()).collect();
    let mut most = 0;
    std::thread::scope(|scope| {
        let more: Vec<_> = (0..8).map(|_| scope.spawn(|| post(&served.address, length, 0))).collect();
        while !more.iter().all(std::thread::ScopedJoinHandle::is_finished) {
            served.call("good__pid", "x");
            most = most.max(resident(served.pid()));
        }
        for client in more {
            let mut client = client.join().unwrap().expect("all of it is taken");
            assert_eq!(status(&mut client), 503);
        }
    });
    assert!(most < 200 << 10, "{} MiB", most >> 10);
    drop(held);
    served.call("good__pid", "x");
    served.end();
}
