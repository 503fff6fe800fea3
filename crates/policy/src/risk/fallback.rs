//! What a tool is, told from its name and the names of its arguments (MGP 8.2).
//!
//! Most servers say nothing about what their tools need. A tool that runs commands, runs code or opens URLs is called
//! so, because a model has to find it. Names are taken apart into words; a word decides only together with another
//! one or as the whole name, since `get_shell_history` runs nothing. Wrong guesses are possible in both directions:
//! the operator's configuration corrects them.

use switchboard_protocol::mgp::ValidatorName;

use crate::permission::name::{CODE_EXECUTION, NETWORK_OUTBOUND, SHELL_EXECUTE};

/// What kind of tool it is, as far as its arguments have to be checked for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RiskClass {
    /// It runs shell commands.
    Shell,
    /// It runs code.
    Code,
    /// It opens URLs.
    Network,
}

impl RiskClass {
    /// The permission that such a tool needs.
    #[must_use]
    pub const fn permission(self) -> &'static str {
        match self {
            Self::Shell => SHELL_EXECUTE,
            Self::Code => CODE_EXECUTION,
            Self::Network => NETWORK_OUTBOUND,
        }
    }

    /// The check that its arguments need.
    #[must_use]
    pub const fn validator(self) -> ValidatorName {
        match self {
            Self::Shell => ValidatorName::Sandbox,
            Self::Code => ValidatorName::CodeSafety,
            Self::Network => ValidatorName::NetworkRestricted,
        }
    }
}

/// A first word that says that the rest is looked at, not done.
const LOOKING: &[&str] = &["get", "list", "read", "search", "count", "describe", "show", "find", "explain", "check"];
/// Words for making something run.
const RUNNING: &[&str] = &["run", "exec", "execute", "invoke", "spawn", "launch", "start", "eval"];
/// What runs is a command: together with a word for running, or with an argument that takes a command.
const COMMANDS: &[&str] = &[
    "command",
    "commands",
    "cmd",
    "shell",
    "bash",
    "zsh",
    "sh",
    "terminal",
    "console",
    "powershell",
    "pwsh",
    "process",
    "subprocess",
];
/// Names that consist of nothing but such a word: the names of the tool in many coding agents.
const COMMANDS_ALONE: &[&str] = &["shell", "bash", "zsh", "sh", "terminal", "cmd", "powershell", "pwsh", "exec"];
/// Words that add nothing to a name.
const FILLERS: &[&str] = &["tool", "mcp", "a", "the", "in", "on"];
/// Arguments that can only be a command line.
const COMMAND_ARGUMENTS: &[&str] =
    &["command_line", "commandline", "shell_command", "bash_command", "cli_command", "terminal_command"];
/// Arguments that are a command line if the name speaks of running or of a shell; elsewhere `command` may be the name
/// of an action, as in editors.
const LIKELY_COMMAND_ARGUMENTS: &[&str] = &["command", "commands", "cmd", "argv"];
/// Beside an argument of the kind above: the words of that command.
const WORDS_OF_COMMAND: &[&str] = &["args", "argv", "arguments", "cmd_args", "command_args"];
/// Arguments that name a program to start, where its words stand beside.
const PROGRAM_ARGUMENTS: &[&str] = &["program", "executable", "exe", "binary", "application"];
/// Words for giving input to something.
const TYPING: &[&str] = &["type", "write", "send", "input", "interact", "paste"];
/// What runs whatever is typed into it; and arguments that name one. A browser takes keys as well, and runs nothing.
const TERMINALS: &[&str] = &["terminal", "console", "process", "subprocess", "shell", "tmux", "pty", "tty", "stdin"];
const TERMINAL_ARGUMENTS: &[&str] = &["pid", "process_id", "terminal_id", "pane", "pane_id", "pty", "tty"];
/// What runs is code: together with a word for running.
const CODES: &[&str] = &[
    "code",
    "python",
    "javascript",
    "js",
    "typescript",
    "ts",
    "node",
    "nodejs",
    "script",
    "snippet",
    "cell",
    "repl",
    "ipython",
    "jupyter",
    "program",
];
/// Names that consist of nothing but such a word.
const CODES_ALONE: &[&str] = &["python", "javascript", "node", "eval", "repl", "ipython"];
/// Words that stand for running code in one of the arguments below: browsers `evaluate`, calculators do so too.
const EVALUATING: &[&str] = &["evaluate", "eval"];
/// Arguments that hold code.
const CODE_ARGUMENTS: &[&str] =
    &["code", "script", "source_code", "python_code", "javascript", "js", "function", "program", "snippet"];
/// Arguments that can only be code: nobody names the language of a text that is looked at.
const SURE_CODE_ARGUMENTS: &[&str] = &["python_code", "javascript_code", "js_code", "typescript_code", "python_script"];
/// Words for opening what a URL names.
const FETCHING: &[&str] =
    &["fetch", "browse", "download", "crawl", "scrape", "navigate", "curl", "wget", "http", "https", "webhook", "goto"];
/// Arguments that hold a URL.
const URL_ARGUMENTS: &[&str] =
    &["url", "urls", "uri", "uris", "href", "base_url", "webhook_url", "target_url", "endpoint"];

/// The class of a tool, if it has one. The most dangerous of several.
#[must_use]
pub fn classify(tool: &str, arguments: &[String]) -> Option<RiskClass> {
    let words = words(tool);
    let arguments: Vec<String> = arguments.iter().map(|argument| self::words(argument).join("_")).collect();
    if runs_commands(&words, &arguments) {
        Some(RiskClass::Shell)
    } else if runs_code(&words, &arguments) {
        Some(RiskClass::Code)
    } else if has(&words, FETCHING) || has(&arguments, URL_ARGUMENTS) {
        Some(RiskClass::Network)
    } else {
        None
    }
}

/// The same of a prompt or a template, whose description tells as well: there is no schema that would.
#[must_use]
pub fn classify_described(name: &str, description: Option<&str>, arguments: &[String]) -> Option<RiskClass> {
    let by_name = classify(name, arguments);
    if by_name.is_some_and(|class| class != RiskClass::Network) {
        return by_name;
    }
    let first = description.unwrap_or_default().split(['.', '\n']).next().unwrap_or_default();
    let words: Vec<String> = words(first).iter().map(|word| stem(word)).collect();
    let begins = words.first().is_some_and(|word| RUNNING.contains(&word.as_str()));
    if begins && has(&words, COMMANDS) {
        Some(RiskClass::Shell)
    } else if begins && has(&words, CODES) {
        Some(RiskClass::Code)
    } else {
        by_name
    }
}

/// A verb without the ending of the third person.
fn stem(word: &str) -> String {
    let bare = word.strip_suffix('s').unwrap_or(word);
    if RUNNING.contains(&bare) { bare.to_owned() } else { word.to_owned() }
}

fn runs_commands(words: &[String], arguments: &[String]) -> bool {
    if has(arguments, COMMAND_ARGUMENTS) || is_only(words, COMMANDS_ALONE) {
        return true;
    }
    let (runs, commands) = (has(words, RUNNING), has(words, COMMANDS));
    let takes_command = has(arguments, LIKELY_COMMAND_ARGUMENTS);
    let takes_words = takes_command && has(arguments, WORDS_OF_COMMAND);
    // A program that is started with its words.
    let starts = has(arguments, PROGRAM_ARGUMENTS) && has(arguments, WORDS_OF_COMMAND);
    let types = has(words, TYPING) && (has(words, TERMINALS) || has(arguments, TERMINAL_ARGUMENTS));
    !looks(words) && (runs && commands || takes_command && (runs || commands) || takes_words || starts || types)
}

fn runs_code(words: &[String], arguments: &[String]) -> bool {
    // Creating a server is running what it is made of (MGP 7.3).
    let makes_server = has(words, &["create"]) && has(words, &["mcp", "mgp"]) && has(words, &["server"]);
    if makes_server || is_only(words, CODES_ALONE) {
        return true;
    }
    let evaluates = has(words, EVALUATING) && (has(words, CODES) || has(arguments, CODE_ARGUMENTS));
    let runs = has(words, RUNNING) && (has(words, CODES) || has(arguments, CODE_ARGUMENTS));
    let interprets = has(words, &["repl", "interpreter"]) || has(arguments, &["code"]) && has(arguments, &["language"]);
    let takes_code = has(arguments, SURE_CODE_ARGUMENTS);
    !looks(words) && (evaluates || runs || interprets || takes_code)
}

fn looks(words: &[String]) -> bool {
    words.first().is_some_and(|first| LOOKING.contains(&first.as_str()))
}

fn has(words: &[String], list: &[&str]) -> bool {
    words.iter().any(|word| list.contains(&word.as_str()))
}

/// Whether nothing but one word of the list is left of the name.
fn is_only(words: &[String], list: &[&str]) -> bool {
    let mut telling = words.iter().filter(|word| !FILLERS.contains(&word.as_str()));
    let first = telling.next();
    telling.next().is_none() && first.is_some_and(|word| list.contains(&word.as_str()))
}

/// The words of a name in snake, kebab, camel or dotted spelling, in lower case.
#[must_use]
pub fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    // Whether the last word ended in the middle of a spelling.
    let mut humped = false;
    let mut word = String::new();
    let mut letters = name.chars().peekable();
    let mut before: Option<char> = None;
    while let Some(letter) = letters.next() {
        let next_is_small = letters.peek().is_some_and(|next| next.is_lowercase());
        // `runShell` parts before the `S`; `HTTPRequest` before the `R`.
        let hump = letter.is_uppercase()
            && before.is_some_and(|before| {
                before.is_lowercase() || before.is_numeric() || before.is_uppercase() && next_is_small
            });
        if (hump || !letter.is_alphanumeric()) && !word.is_empty() {
            join(&mut words, std::mem::take(&mut word), humped);
            humped = hump;
        }
        if letter.is_alphanumeric() {
            word.extend(letter.to_lowercase());
        }
        before = Some(letter);
    }
    if !word.is_empty() {
        join(&mut words, word, humped);
    }
    words
}

/// Names that are spelled with a hump and are one word all the same: nobody clicks in ClickHouse.
const ONE_WORD: &[(&str, &str)] = &[
    ("big", "query"),
    ("click", "house"),
    ("click", "up"),
    ("arango", "db"),
    ("cockroach", "db"),
    ("cosmos", "db"),
    ("couch", "db"),
    ("duck", "db"),
    ("dynamo", "db"),
    ("git", "hub"),
    ("git", "lab"),
    ("graph", "ql"),
    ("influx", "ql"),
    ("java", "script"),
    ("linked", "in"),
    ("maria", "db"),
    ("mongo", "db"),
    ("ms", "sql"),
    ("my", "sql"),
    ("log", "ql"),
    ("metrics", "ql"),
    ("parti", "ql"),
    ("prom", "ql"),
    ("trace", "ql"),
    ("pg", "sql"),
    ("postgre", "sql"),
    ("quest", "db"),
    ("scylla", "db"),
    ("sq", "lite"),
    ("surreal", "db"),
    ("timescale", "db"),
    ("ti", "db"),
    ("mother", "duck"),
    ("open", "search"),
    ("post", "hog"),
    ("power", "point"),
    ("power", "shell"),
    ("push", "over"),
    ("single", "store"),
    ("type", "script"),
    ("whats", "app"),
    ("you", "tube"),
];

/// Adds a word, or joins it to the one in front where both are one name.
fn join(words: &mut Vec<String>, word: String, humped: bool) {
    match words.last_mut() {
        Some(last) if humped && ONE_WORD.contains(&(last.as_str(), word.as_str())) => last.push_str(&word),
        _ => words.push(word),
    }
}
