//! Starts the bench servers on free ports.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use switchboard_bench::connection::Target;

pub(crate) const UPSTREAM: &str = env!("CARGO_BIN_EXE_echo-upstream");
pub(crate) const PROXY: &str = env!("CARGO_BIN_EXE_null-proxy");
pub(crate) const COMPARE: &str = env!("CARGO_BIN_EXE_compare");

/// A server that ends with the test.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) url: String,
}

impl Server {
    pub(crate) fn start(program: &str, arguments: &[&str]) -> Self {
        let mut child = Command::new(program)
            .args(arguments)
            .arg("--until-stdin-closes")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("prints its address");
        let at = line.find("http://").expect("an address");
        Self { child, url: line[at..].trim().to_owned() }
    }

    pub(crate) fn target(&self) -> Target {
        Target { endpoint: self.url.parse().expect("an endpoint"), headers: Vec::new() }
    }

    pub(crate) fn authority(&self) -> String {
        self.target().endpoint.authority
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
