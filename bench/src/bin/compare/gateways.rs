//! How each kind of gateway is started in front of the upstream.

use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use switchboard_bench::endpoint::Endpoint;
use switchboard_bench::{Error, Result};

use crate::options::Subjects;
use crate::processes::{Running, free_ports, on_path, sibling};

/// The name whose figures are checked against the targets.
pub(crate) const SWITCHBOARD: &str = "switchboard";

/// A gateway that runs already: `NAME=URL,PID[,TOOL]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Given {
    pub(crate) name: String,
    pub(crate) endpoint: Endpoint,
    pub(crate) pid: u32,
    pub(crate) tool: String,
}

impl FromStr for Given {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        const SHAPE: &str = "expected NAME=URL,PID[,TOOL]";
        let (name, rest) = text.split_once('=').ok_or(SHAPE)?;
        let mut parts = rest.split(',');
        let endpoint = parts.next().ok_or(SHAPE)?.parse().map_err(|error: Error| error.to_string())?;
        let pid = parts.next().and_then(|pid| pid.parse().ok()).ok_or(SHAPE)?;
        let tool = parts.next().unwrap_or("echo").to_owned();
        if name.is_empty() || parts.next().is_some() {
            return Err(SHAPE.to_owned());
        }
        Ok(Self { name: name.to_owned(), endpoint, pid, tool })
    }
}

/// What a gateway is to put itself in front of.
pub(crate) enum Behind<'a> {
    Http(&'a Endpoint),
    Stdio(&'a Path),
}

/// The switchboard binary to start: the one named, else the one next to this program, else none.
pub(crate) fn switchboard_binary(subjects: &Subjects) -> Result<Option<PathBuf>> {
    if subjects.gateway.iter().any(|given| given.name == SWITCHBOARD) {
        return Ok(None);
    }
    let Some(path) = &subjects.switchboard else { return Ok(sibling(SWITCHBOARD).ok()) };
    let absolute = fs::canonicalize(path).map_err(Error::io(format!("finding {}", path.display())))?;
    Ok(Some(absolute))
}

/// Starts Switchboard with a configuration of one server.
pub(crate) async fn start_switchboard(
    binary: &Path,
    behind: &Behind<'_>,
    era: &str,
    home: &Path,
) -> Result<(Running, Endpoint)> {
    let config = home.join("mgp.toml");
    let server = match behind {
        Behind::Http(endpoint) => format!("transport = \"streamable-http\"\nurl = \"{endpoint}\"\n"),
        Behind::Stdio(program) => {
            // A JSON string is a valid TOML basic string for any path.
            let command = serde_json::to_string(&program.to_string_lossy())?;
            format!("transport = \"stdio\"\ncommand = {command}\nargs = [\"--stdio\", \"--era\", \"{era}\"]\n")
        }
    };
    fs::write(&config, format!("data_dir = \"data\"\n[[servers]]\nid = \"echo\"\n{server}"))
        .map_err(Error::io("writing mgp.toml"))?;
    let config = config.to_string_lossy();
    let arguments = ["serve", "--config", &config, "--listen", "127.0.0.1:0", "--no-auth"];
    let mut running = Running::start(SWITCHBOARD, binary, &arguments, home)?;
    let endpoint = running.address().await?;
    Ok((running, endpoint))
}

/// Starts agentgateway if it is on PATH. Its access log is off, as in its own published runs.
pub(crate) fn start_agentgateway(upstream: &Endpoint, home: &Path) -> Result<Option<(Running, Endpoint)>> {
    let Some(binary) = on_path("agentgateway") else { return Ok(None) };
    let [port, admin, stats, readiness] = free_ports()?;
    let config = home.join("agentgateway.yaml");
    let text = format!(
        r#"config: {{logging: {{filter: "false"}}, adminAddr: "127.0.0.1:{admin}", statsAddr: "127.0.0.1:{stats}", readinessAddr: "127.0.0.1:{readiness}"}}
mcp:
  port: {port}
  targets:
  - name: up
    mcp: {{host: "{upstream}"}}
"#
    );
    fs::write(&config, text).map_err(Error::io("writing the agentgateway configuration"))?;
    let running = Running::start("agentgateway", &binary, &["-f", &config.to_string_lossy()], home)?;
    let endpoint = format!("http://127.0.0.1:{port}/mcp").parse()?;
    Ok(Some((running, endpoint)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn given_gateways() {
        let given: Given = "other=http://127.0.0.1:9207/mcp,42,up_echo".parse().expect("complete");
        assert_eq!((given.name.as_str(), given.pid, given.tool.as_str()), ("other", 42, "up_echo"));
        assert_eq!(given.endpoint.to_string(), "http://127.0.0.1:9207/mcp");
        for bad in [
            "other",
            "=http://127.0.0.1:1/mcp,1",
            "a=http://127.0.0.1:1/mcp",
            "a=http://h/mcp,1",
            "a=http://127.0.0.1:1/,x",
        ] {
            assert!(bad.parse::<Given>().is_err(), "{bad}");
        }
    }
}
