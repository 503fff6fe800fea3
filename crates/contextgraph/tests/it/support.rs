//! A memory in a folder of its own, with a clock that the test turns, and a connection to it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Map, Value, json};
use switchboard_contextgraph::server::{MemoryAnswer, MemoryCaller};
use switchboard_contextgraph::store::Stores;
use switchboard_contextgraph::{MemoryOptions, MemoryServer, Problem, SqliteStores};
use switchboard_peer::duplex;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf};

pub(crate) const START: u64 = 1_780_000_000_000;
const LIMIT: Duration = Duration::from_secs(30);

/// A memory and the time it believes in.
pub(crate) struct Memory {
    pub(crate) folder: Arc<TempDir>,
    pub(crate) server: MemoryServer,
    now: Arc<AtomicU64>,
}

impl Memory {
    pub(crate) fn new() -> Self {
        Self::at(Arc::new(tempfile::tempdir().unwrap()), START)
    }

    pub(crate) fn at(folder: Arc<TempDir>, now: u64) -> Self {
        let stores = Arc::new(SqliteStores::open(&folder.path().join("memory.db")).unwrap());
        Self { folder, ..Self::on(stores, now) }
    }

    /// On a store of the test's own.
    pub(crate) fn on(stores: Arc<dyn Stores>, now: u64) -> Self {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        let now = Arc::new(AtomicU64::new(now));
        let clock = now.clone();
        let options = MemoryOptions {
            seed: Some(7),
            clock: Arc::new(move || clock.load(Ordering::Relaxed)),
            dreams: false,
            ..MemoryOptions::new(stores)
        };
        Self { folder, server: MemoryServer::new(options).unwrap(), now }
    }

    /// The same folder, opened again.
    pub(crate) fn again(&self) -> Self {
        Self::at(self.folder.clone(), self.now.load(Ordering::Relaxed))
    }

    pub(crate) fn pass(&self, milliseconds: u64) {
        self.now.fetch_add(milliseconds, Ordering::Relaxed);
    }

    pub(crate) fn answer(&self, tool: &str, arguments: Value) -> MemoryAnswer {
        self.pass(100);
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        self.server.call(&MemoryCaller { principal: "tester".to_owned(), ..MemoryCaller::default() }, tool, &arguments)
    }

    /// The answer of a call that must succeed.
    pub(crate) fn call(&self, tool: &str, arguments: Value) -> Value {
        let answer = self.answer(tool, arguments.clone());
        assert!(answer.pulse.is_some());
        answer.outcome.unwrap_or_else(|problem| panic!("{tool} {arguments}: {problem:?}"))
    }

    /// The problem of a call that must fail.
    pub(crate) fn problem(&self, tool: &str, arguments: Value) -> Problem {
        let answer = self.answer(tool, arguments.clone());
        assert!(answer.pulse.is_some());
        answer.outcome.expect_err(&format!("{tool} {arguments}"))
    }

    pub(crate) fn store(&self, content: &str) -> String {
        self.call("store_memory", json!({"content": content}))["fingerprintId"].as_str().unwrap().to_owned()
    }

    pub(crate) fn inject(&self, content: &str) -> Value {
        self.call("inject_context", json!({"content": content, "rationale": "for a test"}))
    }

    /// The texts that a search finds, best first.
    pub(crate) fn search(&self, query: &str, most: usize) -> Vec<String> {
        let found = self.call("search_graph", json!({"query": query, "topK": most, "includeContent": true}));
        found["results"].as_array().unwrap().iter().map(|hit| hit["content"].as_str().unwrap().to_owned()).collect()
    }

    /// A client of the legacy era.
    pub(crate) async fn connect(&self) -> Client {
        Client::of(&self.server).await
    }
}

/// One end of a connection.
pub(crate) struct Client {
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: WriteHalf<DuplexStream>,
    id: u64,
    pub(crate) notices: Vec<Value>,
    _started: duplex::Started,
}

impl Client {
    /// A client of the legacy era, in the name of the owner.
    pub(crate) async fn of(server: &MemoryServer) -> Self {
        Self::speaking(server, "local", json!({})).await
    }

    /// A client of the legacy era that says this of itself.
    pub(crate) async fn speaking(server: &MemoryServer, principal: &str, capabilities: Value) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (reader, writer) = tokio::io::split(theirs);
        let handler = server.server().unwrap().into_handler();
        let options =
            duplex::DuplexOptions { principal: principal.into(), ..duplex::DuplexOptions::new(duplex::Role::Server) };
        let started = duplex::start(reader, writer, options, handler);
        let (reader, writer) = tokio::io::split(ours);
        let mut client = Self { reader: BufReader::new(reader), writer, id: 0, notices: Vec::new(), _started: started };
        let welcome = client
            .request(
                "initialize",
                json!({"protocolVersion": "2024-11-05", "capabilities": capabilities, "clientInfo": {"name": "test", "version": "1"}}),
            )
            .await;
        assert_eq!(welcome["result"]["protocolVersion"], "2024-11-05", "{welcome}");
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        client
    }

    /// What comes back for a line that may be no message.
    pub(crate) async fn raw(&mut self, line: &str) -> Value {
        self.writer.write_all(format!("{line}\n").as_bytes()).await.unwrap();
        self.next().await
    }

    /// What comes next.
    pub(crate) async fn next(&mut self) -> Value {
        let mut line = String::new();
        tokio::time::timeout(LIMIT, self.reader.read_line(&mut line)).await.expect("a line in time").unwrap();
        serde_json::from_str(&line).unwrap()
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        self.writer.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    pub(crate) async fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.id += 1;
        let message = json!({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params});
        self.send(&message).await;
        self.id
    }

    pub(crate) async fn answer_to(&mut self, id: u64) -> Value {
        loop {
            let mut line = String::new();
            tokio::time::timeout(LIMIT, self.reader.read_line(&mut line)).await.expect("an answer in time").unwrap();
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == id {
                return message;
            }
            self.notices.push(message);
        }
    }

    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params).await;
        self.answer_to(id).await
    }

    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.request("tools/call", json!({"name": tool, "arguments": arguments})).await
    }
}

/// Texts about three topics.
pub(crate) const TOPICS: [&str; 18] = [
    "The database server ran out of disk space during the nightly backup",
    "The disk of the database server is almost full again",
    "Nightly backups of the database need twice the disk space they had",
    "We moved the database backups to a larger disk",
    "The backup job of the database failed because the disk was full",
    "A full disk leads to failed database backups",
    "Grandmother's apple pie needs cinnamon and butter",
    "The pie crust gets crisp if the butter is cold",
    "Bake the apple pie at two hundred degrees for forty minutes",
    "Cinnamon and sugar go on the apples before baking",
    "Apple pie tastes best with vanilla ice cream",
    "The recipe for pie crust is flour, butter and a little water",
    "The football team trains on Tuesday evenings",
    "Our team won the football match three to one",
    "The coach of the football team wants a new goalkeeper",
    "The goalkeeper saved a penalty in the football match",
    "The football season ends with a match in May",
    "Training of the team begins with running two laps",
];

pub(crate) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        other => panic!("no object: {other}"),
    }
}
