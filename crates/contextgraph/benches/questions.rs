//! How well memories are found, on the questions in eight languages: this memory, plain well-made keywords (BM25), and the official
//! memory server, in one run.
//!
//! `cargo bench -p switchboard-contextgraph --bench questions`. The official server is installed by npm into a folder of its own; without npm it
//! is left out, with a word. It finds what contains a text as it is written: asked with a question it finds nothing, so it is also asked word by
//! word, and what holds most of the words is taken first, which is more than it does by itself.

#![expect(clippy::print_stdout, reason = "figures are read by people")]

#[path = "../questions/set.rs"]
mod set;

use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Map, Value, json};
use set::{Score, Set};
use switchboard_contextgraph::server::MemoryCaller;
use switchboard_contextgraph::{MemoryOptions, MemoryServer, SqliteStores, text};

const OFFICIAL: &str = "@modelcontextprotocol/server-memory";
const VERSION: &str = "2026.8.31";

/// Something that memories are told to and asked of: the places of what it finds, best first.
trait Finder {
    fn find(&mut self, question: &str) -> Vec<usize>;
}

struct Ours {
    server: MemoryServer,
    now: Arc<AtomicU64>,
    places: HashMap<String, usize>,
    walk: bool,
}

impl Ours {
    fn told(set: &Set, folder: &Path, walk: bool) -> Self {
        let stores = SqliteStores::open(&folder.join(format!("{}-{walk}.db", set.language))).expect("a store");
        let now = Arc::new(AtomicU64::new(1_780_000_000_000));
        let clock = now.clone();
        let options = MemoryOptions {
            seed: Some(7),
            clock: Arc::new(move || clock.load(Ordering::Relaxed)),
            dreams: false,
            ..MemoryOptions::new(Arc::new(stores))
        };
        let server = MemoryServer::new(options).expect("a server");
        let mut ours = Self { server, now, places: HashMap::new(), walk };
        for (place, text) in set.memories.iter().enumerate() {
            let stored = ours.call("store_memory", json!({"content": text}));
            ours.places.insert(stored["fingerprintId"].as_str().unwrap_or_default().to_owned(), place);
        }
        ours
    }

    fn call(&self, tool: &str, arguments: Value) -> Value {
        self.now.fetch_add(60_000, Ordering::Relaxed);
        let Value::Object(arguments) = arguments else { return Value::Null };
        self.server.call(&MemoryCaller::default(), tool, &arguments).outcome.expect("an answer")
    }
}

impl Finder for Ours {
    fn find(&mut self, question: &str) -> Vec<usize> {
        let answer = self.call("search_graph", json!({"query": question, "topK": 5, "walk": self.walk}));
        let hits = answer["results"].as_array().cloned().unwrap_or_default();
        hits.iter().filter_map(|hit| self.places.get(hit["fingerprintId"].as_str()?).copied()).collect()
    }
}

struct Keywords<'a>(Vec<&'a str>);

impl Finder for Keywords<'_> {
    fn find(&mut self, question: &str) -> Vec<usize> {
        set::by_keywords(&self.0, question)
    }
}

/// The official server as a child process.
struct Official {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    id: u64,
    by_word: bool,
}

impl Drop for Official {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Official {
    /// Installs it. `None` where that cannot be done.
    fn install(folder: &Path) -> Option<()> {
        let done = Command::new("npm")
            .args(["install", "--silent", "--no-audit", "--no-fund", "--prefix"])
            .arg(folder)
            .arg(format!("{OFFICIAL}@{VERSION}"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        done.ok().filter(std::process::ExitStatus::success).map(|_| ())
    }

    fn told(set: &Set, folder: &Path, by_word: bool) -> Self {
        let program = folder.join("node_modules").join(OFFICIAL).join("dist/index.js");
        let mut child = Command::new("node")
            .arg(program)
            .env("MEMORY_FILE_PATH", folder.join(format!("{}-{by_word}.json", set.language)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("node");
        let input = child.stdin.take().expect("piped");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        let mut official = Self { child, input, output, id: 0, by_word };
        official.request(
            "initialize",
            &json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}),
        );
        official.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        let entities: Vec<Value> = set
            .memories
            .iter()
            .enumerate()
            .map(|(place, text)| json!({"name": format!("m{place}"), "entityType": "memory", "observations": [text]}))
            .collect();
        official.request("tools/call", &json!({"name": "create_entities", "arguments": {"entities": entities}}));
        official
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input, "{message}").expect("written");
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        self.id += 1;
        let id = self.id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        let mut line = String::new();
        while self.output.read_line(&mut line).expect("read") > 0 {
            let message: Value = serde_json::from_str(&line).unwrap_or_default();
            if message["id"] == id {
                return message;
            }
            line.clear();
        }
        Value::Null
    }

    fn nodes(&mut self, query: &str) -> Vec<usize> {
        let answer = self.request("tools/call", &json!({"name": "search_nodes", "arguments": {"query": query}}));
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or("{}");
        let found: Map<String, Value> = serde_json::from_str(text).unwrap_or_default();
        let entities = found.get("entities").and_then(Value::as_array).cloned().unwrap_or_default();
        entities.iter().filter_map(|one| one["name"].as_str()?.strip_prefix('m')?.parse().ok()).collect()
    }
}

impl Finder for Official {
    fn find(&mut self, question: &str) -> Vec<usize> {
        if !self.by_word {
            return self.nodes(question);
        }
        let mut words: Vec<String> = text::telling(question).into_iter().map(|(word, _)| word).collect();
        words.dedup();
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        for word in words {
            for place in self.nodes(&word) {
                *counts.entry(place).or_default() += 1;
            }
        }
        let mut found: Vec<(usize, usize)> = counts.into_iter().collect();
        found.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        found.into_iter().map(|(place, _)| place).collect()
    }
}

/// Scores by what is named, for each of the finders.
type Table = BTreeMap<String, Vec<Score>>;

fn print(title: &str, names: &[&str], table: &Table) {
    println!("\n{title}: answers at the first place / among five");
    println!("{:<22}{:>6}  {}", "", "asked", names.iter().map(|name| format!("{name:>24}")).collect::<String>());
    for (name, scores) in table {
        let cells: String =
            scores.iter().map(|score| format!("{:>24}", format!("{} / {}", score.first, score.five))).collect();
        println!("{name:<22}{:>6}  {cells}", scores.first().map_or(0, |score| score.asked));
    }
}

fn main() {
    let folder = tempfile::tempdir().expect("a folder");
    let official = Official::install(folder.path());
    if official.is_none() {
        println!("npm could not install {OFFICIAL}: it is left out");
    }
    let names = ["search_graph", "without walks", "BM25", "official, asked", "official, by word"];
    let names = if official.is_some() { &names[..] } else { &names[..3] };
    let (mut held_out, mut tuning) = ([Table::new(), Table::new()], [Table::new(), Table::new()]);
    // `QUESTIONS=more` asks the further ones, which say what they miss.
    let further = std::env::var("QUESTIONS").is_ok_and(|which| which == "more");
    for set in if further { set::more() } else { set::all() } {
        let texts: Vec<&str> = set.memories.iter().map(String::as_str).collect();
        let mut finders: Vec<Box<dyn Finder + '_>> = vec![
            Box::new(Ours::told(&set, folder.path(), true)),
            Box::new(Ours::told(&set, folder.path(), false)),
            Box::new(Keywords(texts)),
        ];
        if official.is_some() {
            finders.push(Box::new(Official::told(&set, folder.path(), false)));
            finders.push(Box::new(Official::told(&set, folder.path(), true)));
        }
        for (at, finder) in finders.iter_mut().enumerate() {
            for asked in &set.asked {
                let found = finder.find(&asked.question);
                if further && at == 0 && !asked.held_out && found.first() != Some(&asked.answer) {
                    let first = found.first().map_or("nothing", |place| set.memories[*place].as_str());
                    println!("{} {}: {} -> {first}", set.language, asked.kind, asked.question);
                }
                let part = if asked.held_out { &mut held_out } else { &mut tuning };
                for (table, key) in part.iter_mut().zip([set.language, asked.kind]) {
                    let scores = table.entry(key.to_owned()).or_insert_with(|| vec![Score::default(); names.len()]);
                    scores[at].add(&found, asked.answer);
                }
            }
        }
    }
    for (part, [languages, kinds]) in [("held out", &held_out), ("used for tuning", &tuning)] {
        print(&format!("Questions {part}, by language"), names, languages);
        print(&format!("Questions {part}, by kind"), names, kinds);
    }
}
