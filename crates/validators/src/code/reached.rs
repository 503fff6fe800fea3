//! What a program reaches beyond this machine, as far as its source shows it: for limits of hosts.
//!
//! Every address that a program gives to something that connects is named here, or that it cannot be seen. A module that
//! reaches nothing adds nothing; which of the known modules connect is a closed list, since a module that nobody knows is
//! not understood at all.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::{Language, Level};
use crate::Finding;

/// More of it in one program is not told apart.
const MOST_REACHED: usize = 128;

/// Something that a program reaches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reached {
    /// An address with a scheme or two slashes, at least as far as its host.
    Url(String),
    /// A host, a connection string, or a URL.
    Host(String, Option<u16>),
    /// Markup that it shows.
    Markup(String),
    /// The line of a program that it starts.
    Command(String),
    /// What connects to something that cannot be seen.
    Unseen(String),
}

/// Everything that a program reaches, in its order.
#[derive(Debug, Default)]
pub(super) struct Reaches {
    found: Vec<Reached>,
}

impl Reaches {
    pub(super) fn add(&mut self, reached: Reached) {
        if self.found.contains(&reached) {
            return;
        }
        match self.found.len() {
            MOST_REACHED => self.found.push(Reached::Unseen("more than is looked at".to_owned())),
            more if more > MOST_REACHED => {}
            _ => self.found.push(reached),
        }
    }

    pub(super) fn unseen(&mut self, what: &str) {
        self.add(Reached::Unseen(format!("where `{what}` connects to")));
    }

    /// A text that is an address of a page: nothing where it is relative, or names nothing.
    pub(super) fn url(&mut self, text: &str) {
        if is_absolute(text) {
            self.add(Reached::Url(text.trim().to_owned()));
        }
    }

    /// A text that is a host, perhaps as a URL.
    pub(super) fn host(&mut self, text: &str, port: Option<u16>) {
        let text = text.trim();
        if text.is_empty() || text.starts_with('/') && !is_absolute(text) {
            return;
        }
        self.add(Reached::Host(text.to_owned(), port));
    }

    /// A text of which only the beginning is known: it has to show the host, or that there is none.
    pub(super) fn beginning(&mut self, start: &str, what: &str) {
        let text = start.trim_start();
        if is_absolute(text) {
            let rest = text.find("//").map_or("", |at| &text[at + 2..]);
            return match rest.find(['/', '?', '#']) {
                Some(end) if end > 0 => self.url(text),
                _ => self.unseen(what),
            };
        }
        // Behind one of these stands no host any more.
        let relative = text.len() > 1 && text.starts_with('/') && !text.starts_with("/\\")
            || text.starts_with(['?', '#'])
            || text.starts_with("./")
            || text.starts_with("data:")
            || text.starts_with("blob:");
        if !relative {
            self.unseen(what);
        }
    }

    /// The same of the name of a file that may be an address as well.
    pub(super) fn place(&mut self, start: &str, what: &str) {
        let plain = start.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')));
        match plain.map(|at| &start[at..at + 1]) {
            // A sign that no scheme has says that none begins here.
            Some(sign) if sign != ":" && !start.starts_with("//") => {}
            _ => self.beginning(start, what),
        }
    }

    pub(super) fn into_found(self) -> Vec<Reached> {
        self.found
    }
}

/// Whether a text is an address by itself, as browsers and clients read it.
pub(super) fn is_absolute(text: &str) -> bool {
    let text = text.trim_start();
    let is_slash = |c: char| matches!(c, '/' | '\\');
    let schemed = text.split_once(':').is_some_and(|(scheme, rest)| {
        let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
        is_scheme && rest.starts_with(is_slash)
    });
    schemed || text.starts_with(is_slash) && text[1..].starts_with(is_slash)
}

/// Everything that a program reaches, and what is not understood of it or hostile.
pub(crate) fn of(language: Language, source: &str) -> (Vec<Finding>, Vec<Reached>) {
    if let Some(finding) = super::refused_unread(source) {
        return (vec![finding], Vec::new());
    }
    let read = || match language {
        Language::Python => super::python::reached(source),
        Language::JavaScript => super::javascript::reached(source, false),
        Language::TypeScript => super::javascript::reached(source, true),
        Language::Shell => (Vec::new(), vec![Reached::Command(source.to_owned())]),
    };
    let (mut findings, reached) = stacker::grow(super::DEEP_STACK, read);
    findings.retain(|finding| hides(finding.rule));
    (findings, reached)
}

/// Whether a finding of [`Level::Standard`] says that a program may do something that its text does not show. What it does to
/// files and services is seen.
fn hides(rule: &str) -> bool {
    debug_assert!(Level::Standard < Level::Strict);
    !matches!(
        rule,
        "code-delete"
            | "code-write"
            | "code-reach"
            | "code-remote"
            | "code-rights"
            | "code-send"
            | "code-server"
            | "code-endless"
            | "code-statement"
            | "code-socket"
            | "code-memory"
            | "code-page"
    )
}

/// How a module of Python takes what it connects to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dials {
    /// Addresses of pages, at each request.
    Urls,
    /// A host, where its object is made.
    Hosts,
    /// Addresses of its own, where it is not told others.
    Own,
}

/// Modules of Python that connect, by how.
const PYTHON: &[(Dials, &str)] = &[
    (
        Dials::Urls,
        "requests httpx aiohttp urllib.request urllib.robotparser urllib3 httpcore httplib2 websockets websocket tornado.httpclient \
         tornado.websocket feedparser gql treq asks pycurl requests_oauthlib requests_toolbelt socketio mcp webbrowser",
    ),
    (
        Dials::Hosts,
        "socket ssl http.client smtplib aiosmtplib imaplib poplib ftplib nntplib telnetlib xmlrpc.client paramiko asyncssh redis \
         aioredis pymongo motor psycopg psycopg2 asyncpg pymysql aiomysql mysql MySQLdb oracledb pyodbc ldap3 paho pika kafka \
         aiokafka confluent_kafka nats elasticsearch neo4j influxdb_client clickhouse_connect dns grpc zmq qdrant_client chromadb \
         sqlalchemy sqlmodel peewee beanie tornado.tcpclient minio celery",
    ),
    (
        Dials::Own,
        "anthropic azure boto3 botocore discord docker dropbox geopy github gitlab google googleapiclient huggingface_hub kubernetes \
         langchain_anthropic langchain_openai openai opentelemetry pinecone playwright praw selenium sendgrid sentence_transformers \
         sentry_sdk slack_sdk snowflake stripe telegram tweepy twilio vega_datasets wandb wikipedia yfinance s3fs gcsfs mlflow \
         comet_ml neptune nltk.downloader gensim.downloader torch.hub scipy.datasets",
    ),
];
/// Parts of these that connect to nothing.
const STILL: &[&str] =
    &["google.protobuf", "aiohttp.web", "azure.core.exceptions", "redis.exceptions", "requests.utils"];

/// How the module of a qualified name connects, if it does.
pub(super) fn dials(path: &str) -> Option<Dials> {
    let below =
        |module: &str| path.strip_prefix(module).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '(']));
    if STILL.iter().any(|module| below(module)) {
        return None;
    }
    PYTHON.iter().find(|(_, modules)| modules.split_ascii_whitespace().any(below)).map(|(how, _)| *how)
}

/// Names of arguments and options that hold what is connected to.
pub(super) fn is_address(key: &str) -> bool {
    static KEYS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
        "url urls base_url baseurl baseURL baseUrl host hosts hostname server servers address addr endpoint endpoint_url api_base \
         azure_endpoint uri dsn conninfo proxy proxies proxy_url bootstrap_servers bootstrap.servers brokers broker nodes remote_host \
         connection_string connectionString connection_url sockaddr contact_points mailhost service_url server_hostname servername \
         api_url root_url prefixUrl origin remoteAddress target_host server_uri"
            .split_ascii_whitespace()
            .collect()
    });
    KEYS.contains(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginnings_show_their_host_or_that_there_is_none() {
        for (start, seen) in [
            ("https://ok.example.com/x", true),
            ("https://ok.example.com/", true),
            ("https://ok.example.com?", true),
            ("https://ok.example.com", false),
            ("https://", false),
            ("//", false),
            ("/api/", true),
            ("/", false),
            ("", false),
            ("ht", false),
            ("?x=", true),
        ] {
            let mut reaches = Reaches::default();
            reaches.beginning(start, "x");
            let unseen = reaches.into_found().iter().any(|one| matches!(one, Reached::Unseen(_)));
            assert_eq!(!unseen, seen, "{start}");
        }
        for (start, seen) in
            [("data/", true), ("./", true), ("sales_", true), ("http", false), ("", false), ("s3:", false)]
        {
            let mut reaches = Reaches::default();
            reaches.place(start, "x");
            let unseen = reaches.into_found().iter().any(|one| matches!(one, Reached::Unseen(_)));
            assert_eq!(!unseen, seen, "{start}");
        }
    }
}
