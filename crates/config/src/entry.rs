//! One server as a file declares it: nothing expanded, nothing resolved.
//!
//! The same type is read from `mgp.toml`, written back by the editor, made by the importers and hashed for trust.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use switchboard_protocol::address::has_own_transport;
use switchboard_protocol::mgp::{DefaultPolicy, RestartMode, TrustLevel};

use crate::disclosure::masked_address;
use crate::expand::{is_variable_name, references as variables};
use crate::flow::FlowEntry;
use crate::oauth::OAuthClient;
use crate::pins::PinMode;
use crate::policy::{IsolationEntry, Permissions, ToolEntry};
use crate::secret::{Secret, names_secret, printable};

/// Declares an enum of configuration words with the words themselves.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$word_doc:meta])* $word:ident = $text:literal $(| $alias:literal)*),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$word_doc])* $word),+ }

        impl $name {
            pub(crate) const WORDS: &'static [&'static str] = &[$($text),+];

            /// The word as it stands in a file.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$word => $text),+ }
            }

            pub(crate) fn from_word(word: &str) -> Option<Self> {
                match word { $($text $(| $alias)* => Some(Self::$word),)+ _ => None }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

words! {
    /// How a server is reached.
    Transport {
        /// A child process that speaks on its standard streams.
        Stdio = "stdio",
        /// Streamable HTTP, the current transport for remote servers.
        StreamableHttp = "streamable-http" | "http",
        /// HTTP+SSE of 2024-11-05.
        Sse = "sse",
        /// A Unix socket, or whatever else the scheme of its address stands for.
        Address = "address",
    }
}

words! {
    /// Whether client sessions share one connection to the server.
    Sharing {
        /// One connection for all sessions.
        Shared = "shared",
        /// One connection for each session.
        Session = "session",
    }
}

words! {
    /// Which handshake to use.
    Era {
        /// Ask the server.
        Auto = "auto",
        /// Only `initialize`.
        Legacy = "legacy",
        /// Only `server/discover`.
        Modern = "modern",
    }
}

/// When and how fast a server is started again (MGP 11.5).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restart {
    /// When.
    pub mode: RestartMode,
    /// Restarts allowed inside the window before the server is given up.
    pub max_restarts: u32,
    /// The window.
    pub window: Duration,
    /// The first pause.
    pub backoff_base: Duration,
    /// The longest pause.
    pub backoff_max: Duration,
}

impl Default for Restart {
    fn default() -> Self {
        Self {
            mode: RestartMode::OnFailure,
            max_restarts: 5,
            window: Duration::from_secs(300),
            backoff_base: Duration::from_millis(1_000),
            backoff_max: Duration::from_millis(30_000),
        }
    }
}

/// The `[servers.mgp]` section.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MgpEntry {
    /// Extensions the server is said to speak.
    pub extensions: Vec<String>,
    /// Permissions the server needs.
    pub permissions_required: Vec<String>,
    /// Permissions it has by configuration.
    pub permissions_granted: Permissions,
    /// Trust given to the server.
    pub trust_level: Option<TrustLevel>,
    /// Restart policy.
    pub restart: Option<Restart>,
}

/// One server as declared; `${VAR}` references are still in the text. `Debug` shows [`ServerEntry::safe_line`].
#[derive(Clone, PartialEq, Eq, Default)]
pub struct ServerEntry {
    /// Unique name.
    pub id: String,
    /// What stands before the names of its tools, in the place of the id.
    pub alias: Option<String>,
    /// For people.
    pub description: Option<String>,
    /// `false` keeps the entry without starting it. Default `true`.
    pub enabled: Option<bool>,
    /// Taken from `command` or `url` when absent.
    pub transport: Option<Transport>,
    /// Program of a stdio server.
    pub command: Option<String>,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its working directory, relative to the file.
    pub cwd: Option<String>,
    /// Variables it gets.
    pub env: BTreeMap<String, Secret>,
    /// Variables of the kernel's own environment that are let through to it.
    pub pass_env: Vec<String>,
    /// Address of a remote server.
    pub url: Option<String>,
    /// Headers sent to it.
    pub headers: BTreeMap<String, Secret>,
    /// Bearer token sent to it.
    pub token: Option<Secret>,
    /// The client that gets tokens for it.
    pub oauth: Option<OAuthClient>,
    /// Sharing of the connection.
    pub sharing: Option<Sharing>,
    /// Era.
    pub era: Option<Era>,
    /// Time for start and handshake.
    pub start_timeout: Option<Duration>,
    /// Time for one call without progress.
    pub call_timeout: Option<Duration>,
    /// Policy for agents without a grant.
    pub default_policy: Option<DefaultPolicy>,
    /// Whether it hears of the audit events of all servers.
    pub audit_sink: Option<bool>,
    /// When a person is asked about a definition that changed; what holds for all servers if absent.
    pub pins: Option<PinMode>,
    /// The only tools that can be used, by the server's own names; all of them if absent.
    pub only_tools: Option<Vec<String>>,
    /// What is said of single tools.
    pub tools: BTreeMap<String, ToolEntry>,
    /// What is said of single prompts.
    pub prompts: BTreeMap<String, ToolEntry>,
    /// How its process is confined.
    pub isolation: Option<IsolationEntry>,
    /// How it is kept up, and how much it may be used.
    pub flow: FlowEntry,
    /// The MGP section.
    pub mgp: Option<MgpEntry>,
}

impl ServerEntry {
    /// The times that the file names, as keys and values.
    pub(crate) fn times(&self) -> Vec<(&'static str, String)> {
        let millis = |time: Duration| time.as_millis().to_string();
        let own =
            [("start_timeout_ms", self.start_timeout.map(millis)), ("call_timeout_ms", self.call_timeout.map(millis))];
        own.into_iter().chain(self.flow.keys()).filter_map(|(key, time)| Some((key, time?))).collect()
    }

    /// A local server.
    pub fn stdio(id: impl Into<String>, command: impl Into<String>, args: Vec<String>) -> Self {
        Self { id: id.into(), command: Some(command.into()), args, ..Self::default() }
    }

    /// A remote server.
    pub fn http(id: impl Into<String>, url: impl Into<String>) -> Self {
        Self { id: id.into(), url: Some(url.into()), ..Self::default() }
    }

    /// The transport, given or taken from what else is there.
    pub fn effective_transport(&self) -> Transport {
        let usual = match &self.url {
            None => Transport::Stdio,
            Some(url) if has_own_transport(url) => Transport::Address,
            Some(_) => Transport::StreamableHttp,
        };
        self.transport.unwrap_or(usual)
    }

    /// What it runs or reaches, on one line, exactly as declared but with control characters made visible.
    /// This is what a person approves; it may hold secrets that were written into arguments.
    pub fn exact_line(&self) -> String {
        self.line(false)
    }

    /// As [`ServerEntry::exact_line`], with likely secrets in arguments and address hidden; for lists and logs.
    pub fn safe_line(&self) -> String {
        self.line(true)
    }

    /// What a person is shown who decides whether it may run: of a command every word counts, so that none is masked; in an
    /// address what can be nothing but a secret is.
    pub fn shown_line(&self) -> String {
        self.url.as_ref().map_or_else(|| self.exact_line(), |url| printable(&masked_address(url)))
    }

    fn line(&self, hide: bool) -> String {
        if let Some(url) = &self.url {
            return if hide { safe_address(url) } else { printable(url) };
        }
        let mut words = vec![quoted(self.command.as_deref().unwrap_or("?"))];
        let mut hide_next = false;
        for arg in &self.args {
            let (flag, value) = arg.split_once('=').map_or((arg.as_str(), None), |(flag, value)| (flag, Some(value)));
            let is_name = flag.starts_with('-') || value.is_some() && is_variable_name(flag);
            let secret_flag =
                is_name && (names_secret(flag) || value.is_some_and(crate::secret::looks_like_credential));
            if hide && (hide_next || crate::secret::looks_like_credential(arg)) && !arg.starts_with('-') {
                words.push("[redacted]".to_owned());
            } else if hide && secret_flag && value.is_some() {
                words.push(format!("{}=[redacted]", quoted(flag)));
            } else {
                words.push(quoted(arg));
            }
            hide_next = secret_flag && value.is_none();
        }
        words.join(" ")
    }

    /// Whether this configured server connects to what another entry does, in the same way, whatever they are called. A
    /// value that has become a reference since it was taken over, or a variable that is passed on, is still the same.
    pub(crate) fn stands_for(&self, other: &Self) -> bool {
        let same = |own: &Secret, theirs: &Secret| own == theirs || !variables(own.reveal()).is_empty();
        let has = |own: &BTreeMap<String, Secret>, (name, theirs): (&String, &Secret)| {
            own.get(name).is_some_and(|own| same(own, theirs))
        };
        self.effective_transport() == other.effective_transport()
            && self.command == other.command
            && self.args == other.args
            && self.cwd == other.cwd
            && self.url == other.url
            && other.env.iter().all(|pair| has(&self.env, pair) || self.pass_env.contains(pair.0))
            && other.headers.iter().all(|pair| has(&self.headers, pair))
            && match (&self.token, &other.token) {
                (Some(own), Some(theirs)) => same(own, theirs),
                (own, theirs) => own == theirs,
            }
    }
}

impl ServerEntry {
    /// Whether a tool, by the server's own name, can be used.
    pub fn allows_tool(&self, tool: &str) -> bool {
        let is_off = self.tools.get(tool).is_some_and(|said| said.enabled == Some(false));
        !is_off && self.only_tools.as_ref().is_none_or(|only| only.iter().any(|name| name == tool))
    }

    /// Whether every tool that can be used here could be used by way of the other entry, too.
    pub(crate) fn restricts_tools_like(&self, other: &Self) -> bool {
        let within = match (&self.only_tools, &other.only_tools) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(own), Some(theirs)) => own.iter().all(|tool| theirs.contains(tool) || !self.allows_tool(tool)),
        };
        let mut off = other.tools.iter().filter(|(_, said)| said.enabled == Some(false));
        within && off.all(|(tool, _)| !self.allows_tool(tool))
    }

    /// Which tools can be used, in words and keys of the file; `None` where all can.
    pub(crate) fn tool_restriction(&self) -> Option<String> {
        let names = |names: &[&str]| names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
        let only = self.only_tools.as_ref().map(|only| {
            let only: Vec<&str> = only.iter().map(String::as_str).collect();
            format!("`only_tools = [{}]`", names(&only))
        });
        let is_off = |(tool, said): (&String, &ToolEntry)| {
            (said.enabled == Some(false)).then(|| format!("`[servers.tools.{tool:?}] enabled = false`"))
        };
        let said: Vec<String> = only.into_iter().chain(self.tools.iter().filter_map(is_off)).collect();
        (!said.is_empty()).then(|| said.join(", "))
    }

    /// What to do so that no tool can be used here that the other entry keeps from being used.
    pub(crate) fn restriction_remedy(&self, other: &Self) -> Option<String> {
        let said = other.tool_restriction()?;
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
        let off = other.tools.iter().filter(|(_, said)| said.enabled == Some(false)).map(|(tool, _)| tool.as_str());
        let off: Vec<&str> = off.filter(|tool| self.allows_tool(tool)).collect();
        let is_plain = |tool: &&str| !tool.starts_with('-') && tool.chars().all(plain);
        Some(if other.only_tools.is_none() && !off.is_empty() && off.iter().all(is_plain) {
            format!("switch them off with `switchboard tools disable --server {} {}`", self.id, off.join(" "))
        } else {
            format!("write {said} into the entry of \"{}\"", self.id)
        })
    }

    /// Switches a tool off.
    pub(crate) fn switch_off(&mut self, tool: &str) {
        self.tools.entry(tool.to_owned()).or_default().enabled = Some(false);
    }

    /// Whether it runs or reaches the same, be it with other variables.
    pub(crate) fn is_nearly(&self, other: &Self) -> bool {
        self.command == other.command && self.args == other.args && self.url == other.url
    }
}

impl fmt::Debug for ServerEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerEntry")
            .field("id", &self.id)
            .field("enabled", &self.enabled)
            .field("target", &self.safe_line())
            .field("env", &self.env)
            .field("headers", &self.headers)
            .finish_non_exhaustive()
    }
}

/// An address without what may be a secret in it: user information, query and fragment.
fn safe_address(url: &str) -> String {
    let url = &url[..url.find(['?', '#']).unwrap_or(url.len())];
    let start = url.find("://").map_or(0, |at| at + 3);
    let end = url[start..].find('/').map_or(url.len(), |at| start + at);
    let host = url[start..end].rfind('@').map_or(start, |at| start + at + 1);
    printable(&format!("{}{}", &url[..start], &url[host..]))
}

/// A word as a shell would want it, so that spaces inside an argument can be seen.
fn quoted(word: &str) -> String {
    let shown = printable(word);
    let plain = |c: char| c.is_alphanumeric() || "-_./:=@,+%${}".contains(c);
    if !shown.is_empty() && shown.chars().all(plain) { shown } else { format!("'{}'", shown.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        let entry = |args: &[&str]| ServerEntry::stdio("a", "npx", args.iter().map(|&arg| arg.to_owned()).collect());
        for (args, exact, safe) in [
            (&["-y", "pkg@1", "a b"][..], "npx -y pkg@1 'a b'", "npx -y pkg@1 'a b'"),
            (&["--api-key", "hunter2"], "npx --api-key hunter2", "npx --api-key [redacted]"),
            (&["--token=hunter2", "x"], "npx --token=hunter2 x", "npx --token=[redacted] x"),
            (&["sk-aaaaaaaaaaaaaaaaaaaaaa"], "npx sk-aaaaaaaaaaaaaaaaaaaaaa", "npx [redacted]"),
            (&["-e", "A_TOKEN=x1"], "npx -e A_TOKEN=x1", "npx -e A_TOKEN=[redacted]"),
            (&["\x1b[2J", "it's"], "npx '\\u{1b}[2J' 'it'\\''s'", "npx '\\u{1b}[2J' 'it'\\''s'"),
        ] {
            assert_eq!(entry(args).exact_line(), exact);
            assert_eq!(entry(args).safe_line(), safe);
        }
        for (args, shown) in [
            (&["--api-key", "hunter2222"][..], "npx --api-key hunter2222"),
            (&["-y", "--password", "evilpkg1"], "npx -y --password evilpkg1"),
            (&["--token=hunter2222", "x"], "npx --token=hunter2222 x"),
            (&["-e", "NOTION_TOKEN=ntn_1234567890", "img"], "npx -e NOTION_TOKEN=ntn_1234567890 img"),
            (&["--token", "rm -rf /"], "npx --token 'rm -rf /'"),
        ] {
            assert_eq!(entry(args).shown_line(), shown);
        }
        let url = ServerEntry::http("a", "https://x.test/mcp?key=hunter2&page=2");
        assert_eq!(url.shown_line(), "https://x.test/mcp?key=[7 characters masked]&page=2");
        for url in ["https://x.test/mcp?key=hunter2", "https://me:hunter2@x.test/mcp", "https://hunter2@x.test/mcp#a@b"]
        {
            assert_eq!(ServerEntry::http("a", url).safe_line(), "https://x.test/mcp");
        }
        assert_eq!(ServerEntry::http("a", "https://x.test/a@b").safe_line(), "https://x.test/a@b");
    }
}
