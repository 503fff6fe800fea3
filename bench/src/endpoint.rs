//! Where a load goes: a plain `http://host:port/path`. TLS and names are out of scope; all runs stay on loopback.

use std::str::FromStr;

use crate::error::Error;

/// The address and path of an MCP endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// `host:port`, used for the connection and the Host header.
    pub authority: String,
    /// The path, with its leading slash.
    pub path: String,
}

impl FromStr for Endpoint {
    type Err = Error;

    fn from_str(url: &str) -> Result<Self, Error> {
        let Some(rest) = url.strip_prefix("http://") else {
            return Err(Error::Usage(format!("{url}: only http:// endpoints are measured")));
        };
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let port = authority.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok());
        if port.is_none() {
            return Err(Error::Usage(format!("{url}: the port is missing")));
        }
        Ok(Self { authority: authority.to_owned(), path: format!("/{path}") })
    }
}

impl std::fmt::Display for Endpoint {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "http://{}{}", self.authority, self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls() {
        let table = [
            ("http://127.0.0.1:9100/mcp", Some(("127.0.0.1:9100", "/mcp"))),
            ("http://127.0.0.1:9100", Some(("127.0.0.1:9100", "/"))),
            ("http://[::1]:80/a/b?c=d", Some(("[::1]:80", "/a/b?c=d"))),
            ("https://127.0.0.1:1/mcp", None),
            ("http://localhost/mcp", None),
            ("http://localhost:http/mcp", None),
        ];
        for (url, expected) in table {
            let parsed = url.parse::<Endpoint>().ok();
            let seen = parsed.as_ref().map(|e| (e.authority.as_str(), e.path.as_str()));
            assert_eq!(seen, expected, "{url}");
        }
    }
}
