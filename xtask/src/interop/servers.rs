//! The servers of the matrix: how each starts, what it is asked, and which answer is right.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::page::{Page, WORDS};
use crate::layout::Layout;
use crate::peers::Peers;
use crate::process;

/// One server, ready to be started by whoever gets it.
#[derive(Debug, Clone)]
pub(super) struct Server {
    pub(super) id: &'static str,
    /// Which of several servers of its kind it is.
    number: u8,
    pub(super) command: String,
    pub(super) args: Vec<String>,
    pub(super) env: Vec<(String, String)>,
    asks: Vec<Ask>,
}

/// What a server is asked; the same for every client.
#[derive(Debug, Clone)]
enum Ask {
    Tool {
        name: &'static str,
        arguments: Value,
        contains: &'static str,
    },
    /// A tool that asks the client back (sampling, elicitation, roots).
    Back {
        name: &'static str,
        arguments: Value,
        contains: &'static str,
    },
    Resource {
        uri: &'static str,
        contains: &'static str,
    },
    Prompt {
        name: &'static str,
        arguments: Value,
        contains: &'static str,
    },
}

/// One step of a job as the clients understand it, with what its answer must contain.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub(super) id: String,
    /// The JSON for the client.
    pub(super) request: Value,
    pub(super) contains: String,
    /// What the answer must not contain.
    lacks: Option<String>,
}

/// What a client said about one step.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    pub(super) value: Value,
    pub(super) error: Option<String>,
}

impl Step {
    pub(super) fn new(id: String, mut request: Value, contains: &str) -> Self {
        request["id"] = Value::from(id.clone());
        Self { id, request, contains: contains.to_owned(), lacks: None }
    }

    pub(super) fn lacks(self, words: &str) -> Self {
        Self { lacks: Some(words.to_owned()), ..self }
    }

    /// The answer as text if it is the right one, otherwise what is wrong with it.
    pub(super) fn judge(&self, answer: Option<&Answer>) -> Result<String, String> {
        let Some(answer) = answer else { return Err("the client did not get to this step".to_owned()) };
        if let Some(error) = &answer.error {
            return Err(error.clone());
        }
        let mut text = String::new();
        flatten(&answer.value, &mut text);
        if answer.value["isError"] == true {
            return Err(format!("the tool failed: {text}"));
        }
        if let Some(words) = self.lacks.as_ref().filter(|words| text.contains(*words)) {
            return Err(format!("{words:?} is in: {text}"));
        }
        if text.contains(&self.contains) { Ok(text) } else { Err(format!("{:?} is not in: {text}", self.contains)) }
    }
}

/// All strings and numbers of a JSON value, one per line: escapes would hide what is looked for.
fn flatten(value: &Value, text: &mut String) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| flatten(item, text)),
        Value::Object(fields) => fields.values().for_each(|item| flatten(item, text)),
        Value::String(words) => {
            text.push_str(words);
            text.push('\n');
        }
        other => {
            text.push_str(&other.to_string());
            text.push('\n');
        }
    }
}

impl Server {
    /// The steps for this server; `prefix` stands before every tool and prompt name, and tools that
    /// ask back are left out for a client that cannot answer.
    pub(super) fn steps(&self, prefix: &str, client_answers: bool) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut listed = BTreeMap::new();
        for ask in &self.asks {
            let (kind, request, contains) = match ask {
                Ask::Back { .. } if !client_answers => continue,
                Ask::Tool { name, arguments, contains } | Ask::Back { name, arguments, contains } => {
                    let name = format!("{prefix}{name}");
                    listed.entry("list_tools").or_insert_with(|| name.clone());
                    (name.clone(), json!({"op": "call", "name": name, "arguments": arguments}), contains)
                }
                Ask::Resource { uri, contains } => {
                    listed.entry("list_resources").or_insert_with(|| (*uri).to_owned());
                    ((*uri).to_owned(), json!({"op": "read", "uri": uri}), contains)
                }
                Ask::Prompt { name, arguments, contains } => {
                    let name = format!("{prefix}{name}");
                    listed.entry("list_prompts").or_insert_with(|| name.clone());
                    (format!("prompt {name}"), json!({"op": "prompt", "name": name, "arguments": arguments}), contains)
                }
            };
            steps.push(Step::new(kind, request, contains));
        }
        let lists = listed.into_iter().map(|(op, name)| {
            // Addresses may be encoded when several servers share a door; reading them is the real check.
            let contains = if op == "list_resources" && !prefix.is_empty() { String::new() } else { name };
            Step::new(format!("{op} {}", self.id), json!({"op": op}), &contains)
        });
        lists.chain(steps).collect()
    }

    /// The same server under another name.
    pub(super) fn again(&self) -> Self {
        Self { number: 2, ..self.clone() }
    }

    /// This server as an entry of the kernel's configuration file.
    pub(super) fn config(&self) -> String {
        let quote = |text: &str| Value::from(text).to_string();
        let args = self.args.iter().map(|arg| quote(arg)).collect::<Vec<_>>().join(", ");
        let mut text = format!(
            "[[servers]]\nid = {}\ntransport = \"stdio\"\ncommand = {}\nargs = [{args}]\n",
            quote(&if self.number == 1 { self.id.to_owned() } else { format!("{}-{}", self.id, self.number) }),
            quote(&self.command)
        );
        if !self.env.is_empty() {
            text.push_str("[servers.env]\n");
        }
        for (name, value) in &self.env {
            text.push_str(&format!("{name} = {}\n", quote(value)));
        }
        if self.id == "fetch" {
            // The page it gets is on this machine, where the kernel lets nothing reach without the operator's word.
            for kind in ["tools", "prompts"] {
                text.push_str(&format!("[servers.{kind}.fetch]\nvalidator = \"none\"\nrisk = \"moderate\"\n"));
            }
        }
        text.push('\n');
        text
    }
}

/// Makes the files the servers work on, in a folder of their own, and returns the servers.
pub(super) fn prepare(layout: &Layout, peers: &Peers, page: &Page, place: &Path) -> Result<Vec<Server>> {
    let files = place.join("files");
    let repository = place.join("repository");
    for folder in [&files, &repository] {
        fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
    }
    for id in IDS {
        fs::create_dir_all(place.join(id))?;
    }
    fs::write(files.join("hello.txt"), "hello from the filesystem")?;
    commit(&repository)?;
    let shown = |path: &Path| path.display().to_string();
    let node = |package: &str, extra: &[String]| {
        let mut args = vec![shown(&peers.official(package))];
        args.extend_from_slice(extra);
        (shown(peers.node()), args)
    };
    let path = std::env::var("PATH").unwrap_or_default();
    let file = shown(&files.join("hello.txt"));
    let mut servers = Vec::new();
    let mut add = |id, (command, args): (String, Vec<String>), env: &[(&str, String)], asks| {
        let env = env.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        servers.push(Server { id, number: 1, command, args, env, asks });
    };
    add("everything", node("server-everything", &[]), &[], everything());
    add("filesystem", node("server-filesystem", &[shown(&files)]), &[], filesystem(&file));
    let memory = [("MEMORY_FILE_PATH", shown(&place.join("memory.jsonl")))];
    add("memory", node("server-memory", &[]), &memory, memory_asks());
    add("thinking", node("server-sequential-thinking", &[]), &[], thinking());
    add("time", (shown(&peers.python2("mcp-server-time")), Vec::new()), &[], time());
    let git = (shown(&peers.python2("mcp-server-git")), vec!["--repository".to_owned(), shown(&repository)]);
    add("git", git, &[("PATH", path)], git_asks(&shown(&repository)));
    let fetch_args = vec!["--allow-private-ips".to_owned(), "--ignore-robots-txt".to_owned()];
    let fetch = (shown(&peers.python2("mcp-server-fetch")), fetch_args);
    // A proxy of the machine must not be asked for a page of this machine.
    add("fetch", fetch, &[("NO_PROXY", "127.0.0.1".to_owned())], fetch_asks(&page.url));
    let database = shown(&place.join("interop.db"));
    let sqlite = (shown(&peers.python1("mcp-server-sqlite")), vec!["--db-path".to_owned(), database]);
    add("sqlite", sqlite, &[], sqlite_asks());
    let rmcp = (shown(&layout.rmcp_peer()?), vec!["server".to_owned(), "--stdio".to_owned()]);
    add("rmcp", rmcp, &[], rmcp_asks());
    Ok(servers)
}

/// A server whose definitions and results clients refuse, beside good ones that they must get behind the kernel.
pub(super) fn odd(layout: &Layout, peers: &Peers) -> Server {
    let script = layout.root.join("interop/servers/odd.mjs");
    let asks = vec![
        Ask::Tool { name: "fine", arguments: json!({}), contains: "all is fine" },
        Ask::Tool { name: "typeless", arguments: json!({}), contains: "all is fine" },
        Ask::Tool { name: "blocks", arguments: json!({}), contains: "a bare string" },
        Ask::Resource { uri: "odd:fine", contains: "a fine resource" },
        Ask::Prompt { name: "fine", arguments: json!({"a": "b"}), contains: "a fine prompt" },
    ];
    let args = vec![script.display().to_string()];
    Server { id: "odd", number: 1, command: peers.node().display().to_string(), args, env: Vec::new(), asks }
}

const IDS: &[&str] = &["everything", "filesystem", "memory", "thinking", "time", "git", "fetch", "sqlite", "rmcp"];

fn commit(repository: &Path) -> Result<()> {
    let identity =
        ["-c", "user.name=Interop", "-c", "user.email=interop@example.invalid", "-c", "commit.gpgsign=false"];
    let steps: [&[&str]; 2] =
        [&["init", "--quiet"], &["commit", "--quiet", "--allow-empty", "-m", "a commit of the harness"]];
    for step in steps {
        let mut git = Command::new("git");
        git.args(identity).args(step).current_dir(repository);
        let output = process::quiet(&mut git, Duration::from_secs(30))?;
        if !output.success {
            bail!("git {} failed (on Debian: apt-get install git): {}", step.join(" "), output.stderr.trim());
        }
    }
    Ok(())
}

fn everything() -> Vec<Ask> {
    vec![
        Ask::Tool { name: "echo", arguments: json!({"message": "interop"}), contains: "Echo: interop" },
        Ask::Tool { name: "get-sum", arguments: json!({"a": 19, "b": 23}), contains: "is 42." },
        Ask::Back {
            name: "trigger-sampling-request",
            arguments: json!({"prompt": "say something"}),
            contains: "sampled by the interop client",
        },
        Ask::Back { name: "trigger-elicitation-request", arguments: json!({}), contains: "Interop Tester" },
        Ask::Back { name: "get-roots-list", arguments: json!({}), contains: "interop-root" },
        Ask::Resource { uri: "demo://resource/static/document/features.md", contains: "Everything Server" },
        Ask::Prompt { name: "args-prompt", arguments: json!({"city": "Bonn"}), contains: "weather in Bonn" },
    ]
}

fn filesystem(file: &str) -> Vec<Ask> {
    vec![Ask::Tool { name: "read_text_file", arguments: json!({"path": file}), contains: "hello from the filesystem" }]
}

fn memory_asks() -> Vec<Ask> {
    let entity = json!({"name": "interop-entity", "entityType": "test", "observations": ["seen"]});
    vec![
        Ask::Tool { name: "create_entities", arguments: json!({"entities": [entity]}), contains: "" },
        Ask::Tool { name: "read_graph", arguments: json!({}), contains: "interop-entity" },
        Ask::Resource { uri: "memory://knowledge-graph", contains: "interop-entity" },
    ]
}

fn thinking() -> Vec<Ask> {
    let thought = json!({"thought": "one", "nextThoughtNeeded": false, "thoughtNumber": 1, "totalThoughts": 1});
    vec![Ask::Tool { name: "sequentialthinking", arguments: thought, contains: "thoughtHistoryLength" }]
}

fn time() -> Vec<Ask> {
    let arguments = json!({"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"});
    vec![Ask::Tool { name: "convert_time", arguments, contains: "T21:00:00" }]
}

fn git_asks(repository: &str) -> Vec<Ask> {
    vec![Ask::Tool {
        name: "git_log",
        arguments: json!({"repo_path": repository, "max_count": 1}),
        contains: "a commit of the harness",
    }]
}

fn fetch_asks(url: &str) -> Vec<Ask> {
    vec![
        Ask::Tool { name: "fetch", arguments: json!({"url": url}), contains: WORDS },
        Ask::Prompt { name: "fetch", arguments: json!({"url": url}), contains: WORDS },
    ]
}

fn sqlite_asks() -> Vec<Ask> {
    vec![
        Ask::Tool { name: "read_query", arguments: json!({"query": "SELECT 6 * 7 AS answer"}), contains: "42" },
        Ask::Resource { uri: "memo://insights", contains: "insights" },
        Ask::Prompt { name: "mcp-demo", arguments: json!({"topic": "tea"}), contains: "tea" },
    ]
}

fn rmcp_asks() -> Vec<Ask> {
    vec![
        Ask::Tool { name: "echo", arguments: json!({"message": "interop"}), contains: "rmcp echo: interop" },
        Ask::Back { name: "ask_name", arguments: json!({}), contains: "rmcp greets Interop Tester" },
        Ask::Resource { uri: "rmcp://note", contains: "a note kept by rmcp" },
        Ask::Prompt { name: "greet", arguments: json!({}), contains: "a greeting from rmcp" },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server() -> Server {
        Server {
            id: "rmcp",
            number: 1,
            command: "x\"y".to_owned(),
            args: vec!["a b".to_owned()],
            env: Vec::new(),
            asks: rmcp_asks(),
        }
    }

    #[test]
    fn steps_carry_the_prefix_and_leave_out_what_the_client_cannot_answer() {
        let ids = |steps: Vec<Step>| steps.into_iter().map(|step| step.id).collect::<Vec<_>>();
        assert_eq!(
            ids(server().steps("rmcp__", false)),
            [
                "list_prompts rmcp",
                "list_resources rmcp",
                "list_tools rmcp",
                "rmcp__echo",
                "rmcp://note",
                "prompt rmcp__greet"
            ]
        );
        assert!(ids(server().steps("", true)).contains(&"ask_name".to_owned()));
    }

    #[test]
    fn answers_are_judged_by_what_they_contain() {
        let step = Step::new("s".to_owned(), json!({"op": "call"}), "in \"quotes\"");
        let judged = |value: Value, error: Option<&str>| {
            step.judge(Some(&Answer { value, error: error.map(str::to_owned) })).is_ok()
        };
        assert!(judged(json!({"content": [{"text": "words in \"quotes\""}]}), None));
        assert!(!judged(json!({"content": [{"text": "words"}]}), None));
        assert!(!judged(json!({"isError": true, "content": [{"text": "in \"quotes\""}]}), None));
        assert!(!judged(json!({"content": [{"text": "in \"quotes\""}]}), Some("late")));
        assert!(step.judge(None).is_err());
        let answer = Answer { value: json!("in \"quotes\""), error: None };
        assert!(step.clone().lacks("words").judge(Some(&answer)).is_ok());
        assert!(step.lacks("quotes").judge(Some(&answer)).is_err());
    }

    #[test]
    fn configuration_entries_are_quoted() {
        let text = server().config();
        assert!(text.contains("command = \"x\\\"y\""), "{text}");
        assert!(text.contains("args = [\"a b\"]"), "{text}");
    }
}
