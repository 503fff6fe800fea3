//! The kernel over HTTP: address, token, probes, reload, end.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Child;

use serde_json::{Value, json};

use crate::support::{Home, LIMIT, Peer, lines_of, server, until, wait};

/// What a client of the modern era says with each request.
pub(crate) fn modern_meta(capabilities: &Value) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    })
}

/// A running `serve`, and what it printed at its start.
pub(crate) struct Served {
    child: Child,
    pub(crate) address: String,
    pub(crate) token: Option<String>,
    entry: Value,
}

impl Served {
    pub(crate) fn start(home: &Home, args: &[&str]) -> Self {
        let mut all = vec!["serve", "--json", "--listen", "127.0.0.1:0"];
        all.extend(args);
        let mut child = home.command(&all).spawn().unwrap();
        let line = lines_of(child.stdout.take()).recv_timeout(LIMIT).expect("the address");
        let said: Value = serde_json::from_str(&line).unwrap();
        let url = said["url"].as_str().unwrap();
        let address = url.strip_prefix("http://").and_then(|rest| rest.strip_suffix("/mcp")).unwrap().to_owned();
        Self { child, address, token: said["token"].as_str().map(str::to_owned), entry: said["entry"].clone() }
    }

    pub(crate) fn http(&self, method: &str, path: &str, token: Option<&str>, body: &str) -> (u16, String) {
        let mut text = String::new();
        self.send(method, path, token, body).read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
    }

    /// Sends a request with the headers of the modern era; the answer is to be read.
    pub(crate) fn send(&self, method: &str, path: &str, token: Option<&str>, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        let token = token.map_or_else(String::new, |token| format!("Authorization: Bearer {token}\r\n"));
        let message: Value = serde_json::from_str(body).unwrap_or_default();
        let name = message["params"]["name"].as_str().or_else(|| message["params"]["uri"].as_str());
        let name = name.map_or_else(String::new, |name| format!("Mcp-Name: {name}\r\n"));
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{token}Content-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {}\r\n\
             {name}Content-Length: {}\r\n\r\n{body}",
            self.address,
            message["method"].as_str().unwrap_or_default(),
            body.len(),
        )
        .unwrap();
        stream
    }

    /// The names of all tools, asked for in the modern way.
    pub(crate) fn tools(&self, token: Option<&str>) -> Result<Vec<String>, (u16, String)> {
        let params = json!({"_meta": modern_meta(&json!({}))});
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params});
        let (status, body) = self.http("POST", "/mcp", token, &request.to_string());
        let tools =
            serde_json::from_str::<Value>(&body).ok().and_then(|answer| answer["result"]["tools"].as_array().cloned());
        let Some(tools) = tools else { return Err((status, body)) };
        Ok(tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect())
    }

    /// The text that a tool answers with, called in the modern way.
    pub(crate) fn call(&self, tool: &str, token: &str) -> String {
        let params = json!({"name": tool, "arguments": {}, "_meta": modern_meta(&json!({}))});
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let (_, body) = self.http("POST", "/mcp", Some(token), &request.to_string());
        let answer: Value = serde_json::from_str(&body).unwrap_or_else(|error| panic!("{error}: {body}"));
        answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    /// A stream that stays open, whose first event has come.
    pub(crate) fn listen(&self, token: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        let head = format!(
            "Host: {}\r\nConnection: close\r\nAuthorization: Bearer {token}\r\nAccept: text/event-stream",
            self.address
        );
        write!(stream, "GET /sse HTTP/1.1\r\n{head}\r\n\r\n").unwrap();
        let mut seen = Vec::new();
        while !seen.windows(8).any(|window| window == b"endpoint") {
            let mut chunk = [0; 1024];
            let read = stream.read(&mut chunk).unwrap();
            assert_ne!(read, 0, "{}", String::from_utf8_lossy(&seen));
            seen.extend_from_slice(&chunk[..read]);
        }
        stream
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        rustix::process::kill_process(rustix::process::Pid::from_child(&self.child), signal).unwrap();
    }

    /// Ends it without a word.
    pub(crate) fn kill(mut self) {
        self.signal(rustix::process::Signal::KILL);
        let _ = wait(&mut self.child);
    }

    pub(crate) fn end(self) {
        self.signal(rustix::process::Signal::TERM);
        assert!(self.ended().success());
    }

    /// Waits for the end of the process.
    pub(crate) fn ended(mut self) -> std::process::ExitStatus {
        wait(&mut self.child)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_token_is_shown_once_and_is_needed() {
    let home = Home::new();
    home.configure(&server("one", &[]));
    let served = Served::start(&home, &[]);
    let token = served.token.clone().expect("a first token");
    let header = served.entry["mcpServers"]["switchboard"]["headers"]["Authorization"].clone();
    assert_eq!(header, format!("Bearer {token}"));
    assert!(served.tools(Some(&token)).unwrap().contains(&"echo".to_owned()));
    for wrong in [None, Some("sb_wrong")] {
        assert_eq!(served.tools(wrong).unwrap_err().0, 401);
    }
    served.end();

    let kept = std::fs::read(home.path(".local/share/switchboard/switchboard.db")).unwrap();
    assert!(!kept.windows(token.len()).any(|window| window == token.as_bytes()));
    let again = Served::start(&home, &[]);
    assert_eq!(again.token, None);
    again.tools(Some(&token)).unwrap();
    again.end();
    let more = Served::start(&home, &["--new-token"]);
    let second = more.token.clone().unwrap();
    more.tools(Some(&token)).unwrap();
    more.tools(Some(&second)).unwrap();
}

#[test]
fn probes_and_metrics() {
    let home = Home::new();
    home.configure(&format!("{}{}", server("one", &[]), server("two", &["--exit-in-handshake"])));
    let served = Served::start(&home, &[]);
    let token = served.token.clone().unwrap();
    assert_eq!(served.http("GET", "/healthz", None, ""), (200, "ok\n".to_owned()));
    let ready = until(|| Some(served.http("GET", "/readyz", Some(&token), "")).filter(|(status, _)| *status == 200));
    let ready = ready.expect("ready");
    assert!(ready.1.contains("\"connected\":1"), "{ready:?}");
    assert_eq!(served.http("GET", "/readyz", None, ""), (200, "{\"ready\":true}\n".to_owned()));
    assert_eq!(served.http("GET", "/metrics", None, "").0, 401);
    let (status, metrics) = served.http("GET", "/metrics", Some(&token), "");
    assert_eq!(status, 200);
    assert!(metrics.contains("switchboard_server_up{server=\"one\",state=\"ready\"} 1"), "{metrics}");
    assert!(metrics.contains("switchboard_server_tools{server=\"one\"} 7"), "{metrics}");
    assert!(metrics.contains("switchboard_server_request_duration_seconds_count{server=\"one\"} "), "{metrics}");
    assert!(metrics.contains("switchboard_server_restarts_total{server=\"one\"} 0"), "{metrics}");
    assert!(metrics.contains("switchboard_records_kept 1") && metrics.ends_with("# EOF\n"), "{metrics}");
    assert_eq!(served.http("POST", "/healthz", None, "").0, 405);
    assert_eq!(served.http("GET", "/elsewhere", Some(&token), "").0, 404);
}

/// What a principal may not use does not exist for it, in numbers either.
#[test]
fn metrics_show_a_principal_only_what_it_may_use() {
    let home = Home::new();
    home.configure(&format!("{}{}", server("one", &[]), server("two", &[])));
    let served = Served::start(&home, &[]);
    let owner = served.token.clone().unwrap();
    until(|| Some(served.http("GET", "/readyz", None, "")).filter(|(status, _)| *status == 200)).expect("ready");
    let token = |words: &[&str]| {
        let words = [&["token", "create"], words, &["--json"]].concat();
        home.run(&words).json()["token"].as_str().unwrap().to_owned()
    };
    home.run(&["grant", "--agent", "ann", "--server", "one"]).ok();
    let ann = token(&["ann"]);
    let bob = token(&["bob"]);
    let narrow = token(&["narrow", "--principal", "local", "--scope", "server:two"]);
    let admin = token(&["boss", "--scope", "admin"]);
    let sees = |token: &str| {
        let metrics = until(|| {
            let (status, metrics) = served.http("GET", "/metrics", Some(token), "");
            (status == 200).then_some(metrics)
        });
        let metrics = metrics.expect("a new token counts within a moment");
        ["server=\"one\"", "server=\"two\"", "switchboard_requests_total"].map(|part| metrics.contains(part))
    };
    assert_eq!(sees(&owner), [true, true, true]);
    assert_eq!(sees(&admin), [true, true, true]);
    assert_eq!(sees(&ann), [true, false, false]);
    assert_eq!(sees(&bob), [false, false, false]);
    assert_eq!(sees(&narrow), [false, true, false]);
}

#[test]
fn readiness_names_what_is_missing_to_who_may_know_it() {
    let home = Home::new();
    let broken = |id: &str| format!("[[servers]]\nid = '{id}'\ncommand = 'false'\n");
    home.configure(&format!("{}{}{}", server("one", &[]), broken("two"), broken("three")));
    let served = Served::start(&home, &[]);
    until(|| Some(served.http("GET", "/readyz", None, "")).filter(|(status, _)| *status == 200)).expect("ready");
    home.run(&["grant", "--agent", "ann", "--server", "two"]).ok();
    let ann = home.run(&["token", "create", "ann", "--json"]).json()["token"].as_str().unwrap().to_owned();
    let entry = home.run(&["token", "create", "eve", "--json"]).json()["entry"].to_string();
    assert!(entry.contains(&format!("http://{}/mcp", served.address)), "the address that is served: {entry}");
    let owner = served.token.clone().unwrap();
    let asks =
        |token: Option<&str>| -> Value { serde_json::from_str(&served.http("GET", "/readyz", token, "").1).unwrap() };
    let missing = |token: &str, names: &[&str]| {
        let told = until(|| (asks(Some(token))["missing"] == json!(names)).then_some(()));
        assert!(told.is_some(), "{names:?}: {}", asks(Some(token)));
    };
    missing(&owner, &["two", "three"]);
    missing(&ann, &["two"]);
    assert_eq!(asks(Some(&ann))["servers"], 1, "what it may not use does not exist for it");
    assert_eq!(asks(None), json!({"ready": true}), "a stranger hears nothing of the servers");
}

/// A server that cannot be started as it is declared is missing like one that fails, and says why where it is missed.
#[test]
fn a_server_that_lacks_a_variable_is_missing_and_not_forgotten() {
    let home = Home::new();
    let lacking = "[[servers]]\nid = 'acme'\ncommand = 'acme-mcp'\nenv = { TOKEN = '${ACME_TOKEN}' }\n";
    home.configure(&format!("[tool_context]\nlevel = 'hybrid'\n{}{lacking}", server("one", &[])));
    let served = Served::start(&home, &[]);
    until(|| Some(served.http("GET", "/readyz", None, "")).filter(|(status, _)| *status == 200)).expect("ready");
    let ready = served.http("GET", "/readyz", served.token.as_deref(), "").1;
    let ready: Value = serde_json::from_str(&ready).unwrap();
    assert_eq!((&ready["missing"], &ready["servers"]), (&json!(["acme"]), &json!(2)), "{ready}");

    let mut peer = Peer::start(home.command(&["stdio"]));
    let hello =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let greeting = peer.ask("initialize", &hello);
    let instructions = greeting["result"]["instructions"].as_str().unwrap();
    assert!(instructions.contains("tools are missing") && instructions.contains("`acme`"), "{instructions}");
    peer.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    peer.tools();
    let asked = json!({"name": "mgp_tools_discover", "arguments": {"query": "echo a text"}});
    let found = peer.ask("tools/call", &asked);
    assert_eq!(found["result"]["structuredContent"]["servers_missing"], json!(["acme"]), "{found}");
    let refused = peer.ask("tools/call", &json!({"name": "acme__ping", "arguments": {}})).to_string();
    for part in ["`acme` is not connected", "`ACME_TOKEN`", "not set", "start the client again", "doctor"] {
        assert!(refused.contains(part), "{part}: {refused}");
    }
    // Commands say the same of it as without a kernel, and once it has all it needs nothing is missing.
    let servers = home.run(&["servers", "--json"]).json();
    let acme = servers["servers"].as_array().unwrap().iter().find(|one| one["id"] == "acme").unwrap().clone();
    assert_eq!(acme["state"], "faulty", "{servers}");
    home.configure(&format!("[tool_context]\nlevel = 'hybrid'\n{}", server("one", &[])));
    let told = until(|| {
        let ready = served.http("GET", "/readyz", served.token.as_deref(), "").1;
        ready.contains("\"missing\":[]").then_some(())
    });
    assert!(told.is_some(), "what is declared no more is not missing");
}

#[test]
fn without_auth_everyone_on_this_machine_is_let_in() {
    let home = Home::new();
    home.configure(&server("one", &[]));
    let served = Served::start(&home, &["--no-auth"]);
    assert_eq!(served.token, None);
    assert!(served.tools(None).unwrap().contains(&"echo".to_owned()));
}

#[test]
fn a_broken_file_keeps_the_servers_and_a_good_one_changes_them() {
    let home = Home::new();
    home.configure(&server("one", &[]));
    let served = Served::start(&home, &["--no-auth"]);
    until(|| served.tools(None).ok().filter(|tools| tools.contains(&"echo".to_owned()))).expect("the first server");

    home.configure("[[servers]\n");
    let refused = |served: &Served| {
        // Metrics count what was refused, so that the test need not guess how long to wait.
        served.http("GET", "/metrics", None, "").1.contains("switchboard_reloads_refused_total 1").then_some(())
    };
    until(|| refused(&served)).expect("the broken file is seen");
    assert!(served.tools(None).unwrap().contains(&"echo".to_owned()));

    home.configure(&format!("{}{}", server("one", &[]), server("two", &[])));
    until(|| served.tools(None).ok().filter(|tools| tools.contains(&"two__echo".to_owned())))
        .expect("the second server");

    // A fault in one entry keeps that server as it was.
    home.configure(&format!("{}oops = 1\n{}", server("one", &[]), server("three", &[])));
    let tools =
        until(|| served.tools(None).ok().filter(|tools| tools.contains(&"three__echo".to_owned()))).expect("the third");
    assert!(tools.contains(&"one__echo".to_owned()) && !tools.contains(&"two__echo".to_owned()), "{tools:?}");
    served.end();
}

#[test]
fn a_project_server_starts_when_it_is_trusted_meanwhile() {
    let home = Home::new();
    home.write("project/mgp.toml", &server("build", &[]));
    let served = Served::start(&home, &["--no-auth"]);
    assert_eq!(served.tools(None), Ok(Vec::new()));
    home.run(&["trust", "build", "--yes"]).ok();
    until(|| served.tools(None).ok().filter(|tools| tools.contains(&"echo".to_owned()))).expect("the trusted server");
}

#[test]
fn an_address_that_is_taken_is_named() {
    let home = Home::new();
    let served = Served::start(&home, &["--no-auth"]);
    let said = home.run(&["serve", "--no-auth", "--listen", &served.address]).err(1);
    assert!(said.contains(&served.address) && said.contains("--listen"), "{said}");
}

#[test]
fn the_default_command_serves_and_prints_for_people() {
    let home = Home::new();
    home.configure("listen = \"127.0.0.1:0\"\n");
    let mut child = home.command(&[]).spawn().unwrap();
    let lines = lines_of(child.stdout.take());
    let first = lines.recv_timeout(LIMIT).unwrap();
    assert!(first.contains("http://127.0.0.1:") && first.ends_with("/mcp"), "{first}");
    assert!(lines.recv_timeout(LIMIT).unwrap().contains("switchboard import"));
    assert!(lines.recv_timeout(LIMIT).unwrap().starts_with("token (shown only now): sb_"));
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::INT).unwrap();
    assert!(wait(&mut child).success());
}

#[test]
fn a_second_signal_does_not_wait_for_calls_that_run() {
    let home = Home::new();
    home.configure(&server("one", &[]));
    let mut served = Served::start(&home, &["--no-auth"]);
    until(|| served.tools(None).ok().filter(|tools| !tools.is_empty())).expect("the server");
    // An open request keeps the drain from ending early.
    let params = json!({"name": "slow", "arguments": {}, "_meta": modern_meta(&json!({}))});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let _stream = served.send("POST", "/mcp", None, &body.to_string());
    let runs = |metrics: &str| metrics.contains("switchboard_server_running{server=\"one\"} 1");
    until(|| runs(&served.http("GET", "/metrics", None, "").1).then_some(())).expect("the call runs");
    served.signal(rustix::process::Signal::TERM);
    until(|| (served.http("GET", "/readyz", None, "").0 == 503).then_some(())).expect("no longer ready");
    let began = std::time::Instant::now();
    served.signal(rustix::process::Signal::TERM);
    wait(&mut served.child);
    assert!(began.elapsed() < std::time::Duration::from_secs(4), "{:?}", began.elapsed());
}
