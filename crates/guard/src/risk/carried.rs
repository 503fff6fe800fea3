//! What the arguments of a tool carry: commands, code, statements for a database, or what is typed into something that runs.
//!
//! A key may be called anything (`what`, `payload`, `input`). Its title and description say what is meant by it, and so do
//! the name and the description of the tool. Computed once per definition; a call is judged by what was found here.

use std::collections::HashSet;

use switchboard_protocol::mgp::security::{Argument, ToolSecurity};

use super::fallback::{self, Class, words};
use super::verbs::{Set, tables};

/// What an argument carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Carries {
    /// A command line.
    Command,
    /// What is typed into something that was started before.
    Input,
    /// A program.
    Code,
    /// A statement for a database.
    Statement,
    /// A query in the language of an API, which may be one that changes something.
    Query,
}

impl Carries {
    /// What it carries, in a sentence.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Command => "a command",
            Self::Input => "what is typed into something that runs",
            Self::Code => "code",
            Self::Statement => "a statement for a database",
            Self::Query => "a query for an API",
        }
    }
}

/// An argument that carries something, at any depth of the arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Carried {
    /// Its name.
    pub key: Box<str>,
    /// What it carries.
    pub what: Carries,
}

/// Words of a name that are looked at.
const MOST_WORDS: usize = 32;

tables! {
    /// Nouns for a command, in several languages.
    COMMANDS = "command commands cmd cmds commandline shell bash zsh terminal powershell pwsh console cli comando \
     comandos commande commandes befehl befehle kommando команда команды opdracht polecenie";
    /// Nouns for a program.
    CODES = "code javascript js typescript python script snippet program lua ruby perl php groovy kotlin golang rust \
     source código codigo codice код programm skript bpy";
    /// Languages of programs: beside them `function` and `expression` are code too.
    LANGUAGES = "javascript js typescript ts python node nodejs lua ruby perl php groovy powershell applescript jxa \
     bpy gdscript csharp java kotlin r julia";
    /// Words for making something run, in several languages.
    RUNNING = "run runs running execute executes executed executing exec eval evaluate evaluated evaluates launch \
     invoke spawn ejecutar exécuter executer ausführen ausfuehren ausgeführt eseguire executar выполнить выполнения uitvoeren \
     run_in start";
    /// Words of a language for databases.
    DATABASES = "sql cypher tsql plsql mysql postgres postgresql sqlite duckdb clickhouse bigquery snowflake redshift \
     mariadb mssql psql gremlin sparql cql aql hive trino presto databricks neo4j memgraph ddl dml motherduck";
    /// Words for giving input to something.
    TYPING = "type write send input interact paste feed enter press keys sendkeys submit respond answer reply";
    /// What runs whatever is typed into it.
    RUNNERS = "terminal console process subprocess shell tmux pty tty stdin repl ssh screen interpreter serial pane \
     debugger gdb lldb iterm telnet";
    /// Arguments that name something that runs.
    RUNNER_ARGUMENTS = "pid process_id terminal_id pane pane_id pty tty shell_id session_name";
    /// Arguments that may hold what is typed.
    INPUTS = "input text data keys key stdin chars characters content line lines keystrokes send_text value payload \
     message string command_text send_ascii send_specials special_keys sequence";
    /// Words for keys that go to whatever has the keyboard.
    KEYS = "keystrokes keystroke hotkey shortcut sendkeys key_sequence key_combination";
    /// Signs that what is typed goes to a page or an app, and not to something that runs it.
    PAGES = "browser page pages element elements selector ref uid tab web puppeteer playwright chrome xpath css locator \
     form field focused dom website mobile android ios device app webpage ui phone pageid page_id input_field textbox tabid";
    /// Arguments that are something else, whatever is said of them: `the directory in which the command runs`.
    OTHERS = "cwd dir directory workdir working_directory path file filename timeout session session_id user username \
     host hostname container namespace pod env environment description reason title label format encoding language lang name id \
     server server_name server_id target explanation url uri tool_name tool node region profile account database db schema \
     table collection index branch repo repository project cluster context shell interpreter image tag role prompt";
    /// Words that end what a description begins with.
    ENDING = "to for of in that which where when used from on with by as is will must should can into if inside within \
     e.g eg i.e ie example and or against about";
    /// Names of tools that edit, where `command` is what the editor does.
    EDITING = "edit editor replace memory file notebook text";
    /// Nouns that add nothing.
    GENERIC = "string text content body lines line block value";
    /// What a program is called beside its language.
    PROGRAMS = "code script function expression snippet program statement javascript js typescript python source";
    /// What is called a statement beside the language of a database.
    STATEMENTS = "query queries statement statements script command commands code";
    /// The last word of keys that name or count something.
    NAMING = "id ids path file dir directory timeout name url";
    /// Keys that can only be a statement.
    STATEMENT_KEYS = "sql sqls sql_query query_sql cypher cypher_query raw_sql";
    /// Keys that are a statement where something speaks of a database.
    LIKELY_STATEMENTS = "statement statements stmt query queries text command script dml ddl";
    /// Keys that hold code where the tool runs something.
    CODE_KEYS = "code script source_code python_code javascript js function program snippet javascript_code js_code \
        python_script page_function";
    /// Arguments beside a command: its words.
    WORDS_BESIDE = "args argv arguments cmd_args command_args flags parameters";
    /// Names that consist of nothing but such words.
    ONLY_RUNNING = "run exec execute launch spawn invoke do start tool mcp the a it ejecutar executer ausführen";
    /// What something that runs everything may call what it is given.
    GIVEN = "what payload input line instruction instructions task text";
    /// What is typed, as a description begins.
    TYPED = "input text keys characters keystrokes data line lines stdin";
    /// What it is typed into, as a description says.
    TYPED_INTO = "process terminal session pane pty repl stdin console tmux subprocess shell program";
    /// What input is sent to, as the description of a tool says.
    FED = "terminal console process subprocess shell tmux pty tty stdin repl ssh interpreter command commands running program \
        session";
    /// Words in front of what a description is about.
    IN_FRONT = "the a an this your execute run evaluate raw full complete optional required";
    /// Shells, in a description.
    SHELLS = "shell bash terminal powershell";
    /// Where statements are read only, as a name says.
    READING_NAMES = "read readonly select";
    /// Signs of a page in the description of a tool.
    PAGES_SAID = "browser page element webpage";
    /// Languages of statements that a description may name.
    SPOKEN = "sql cypher database databases select";
    /// Languages in which nothing but questions can be asked.
    ONLY_ASKING = "promql logql kql jql nrql lucene traceql metricsql dsl elasticsearch splunk spl jmespath xpath";
    /// Names of tools that run what they are given.
    EXECUTING = "execute run exec";
    /// Names of tools that pass a statement on.
    ASKING = "execute run exec query sql db database";
    /// Codes that are no programs.
    OTHER_CODES = "country language zip postal status error";
}

/// Words that say that a list of words is meant.
const LISTING: &[&str] =
    &["allowed options", "one of", "allowed values", "possible values", "available commands", "valid commands"];
/// Words that say that a database is only read.
const READING: &[&str] = &[
    "read-only",
    "readonly",
    "read only",
    "only select",
    "select only",
    "select quer",
    "select statement",
    "must be a select",
];

/// What a definition tells of its arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Cargo {
    pub(super) carried: Vec<Carried>,
    /// Whether statements that it is given are to read only, as it says itself.
    pub(super) reads: bool,
}

impl Cargo {
    pub(super) fn has(&self, what: Carries) -> Option<&str> {
        self.carried.iter().find(|carried| carried.what == what).map(|carried| &*carried.key)
    }

    /// The class that follows from it.
    pub(super) fn class(&self) -> Option<Class> {
        if self.has(Carries::Command).or_else(|| self.has(Carries::Input)).is_some() {
            Some(Class::Shell)
        } else {
            self.has(Carries::Code).map(|_| Class::Code)
        }
    }
}

/// What is known of the tool around an argument.
struct Tool<'a> {
    name: Vec<String>,
    said: Vec<String>,
    /// The names of its arguments, in one spelling.
    keys: HashSet<String>,
    arguments: &'a [Argument],
    looks: bool,
}

/// What the arguments of a tool carry. `looks` is whether it only looks, by its name and description.
pub(super) fn of(declared: &ToolSecurity, name: &str, looks: bool) -> Cargo {
    let said = words(&declared.subject);
    let keys = declared.arguments.iter().map(|argument| words(&argument.name).join("_")).collect();
    let name = words(name).into_iter().take(MOST_WORDS).collect();
    let tool = Tool { name, said, keys, arguments: &declared.arguments, looks };
    let mut cargo = Cargo::default();
    for argument in declared.arguments.iter().filter(|argument| !argument.closed) {
        let Some(what) = tool.carries(argument) else { continue };
        let key: Box<str> = argument.name.as_str().into();
        if !cargo.carried.iter().any(|carried| carried.key == key) {
            cargo.carried.push(Carried { key, what });
        }
    }
    let lower = declared.subject.to_lowercase();
    let of_statement = declared.arguments.iter().map(|argument| argument.says.to_lowercase());
    cargo.reads = declared.hints.read_only == Some(true)
        || tool.has_name(&READING_NAMES)
        || std::iter::once(lower).chain(of_statement).any(|text| READING.iter().any(|phrase| text.contains(phrase)));
    cargo
}

impl Tool<'_> {
    fn has_name(&self, list: &Set) -> bool {
        self.name.iter().any(|word| list.contains(word.as_str()))
    }

    fn says(&self, list: &Set) -> bool {
        self.said.iter().any(|word| list.contains(word.as_str()))
    }

    fn has_argument(&self, list: &Set) -> bool {
        self.keys.iter().any(|key| list.contains(key.as_str()))
    }

    fn carries(&self, argument: &Argument) -> Option<Carries> {
        let key = words(&argument.name).join("_");
        let (heads, all) = read(&argument.says);
        // What it is stands last in front of the explanation: `the SQL mode` is a mode.
        let noun = |head: &'_ Vec<String>| head.iter().rev().find(|word| !GENERIC.contains(word.as_str())).cloned();
        let starts = |list: &Set| heads.iter().filter_map(noun).any(|noun| list.contains(noun.as_str()));
        let begins = |list: &Set| heads.iter().flatten().any(|word| list.contains(word.as_str()));
        let says = |list: &Set| all.iter().any(|word| list.contains(word.as_str()));
        let last = key.rsplit('_').next().unwrap_or_default();
        if OTHERS.contains(key.as_str()) || NAMING.contains(last) {
            return None;
        }
        let graph = |words: &[String]| words.iter().any(|word| word == "graphql" || word == "gql");
        if matches!(last, "query" | "mutation" | "document" | "graphql") && (graph(&all) || graph(&self.said)) {
            return Some(Carries::Query);
        }
        if self.is_statement(&key, last, &all, starts(&DATABASES) || begins(&DATABASES) && starts(&STATEMENTS)) {
            return Some(Carries::Statement);
        }
        let lists = LISTING.iter().any(|phrase| argument.says.to_lowercase().contains(phrase));
        let asian = ["命令", "コマンド", "명령"].iter().any(|word| argument.says.contains(word))
            && ["执行", "运行", "実行", "실행", "運行"].iter().any(|word| argument.says.contains(word));
        if !lists && (starts(&COMMANDS) && (says(&RUNNING) || says(&SHELLS)) || asian) {
            return Some(Carries::Command);
        }
        if self.is_typed(&key, last, begins(&TYPED), &all) {
            return Some(Carries::Input);
        }
        let language = begins(&LANGUAGES) && starts(&PROGRAMS) && (says(&RUNNING) || self.says(&RUNNING));
        let code = starts(&CODES) && says(&RUNNING) && !OTHER_CODES.contains(key.as_str());
        if language || code || self.is_code_by_key(&key) {
            return Some(Carries::Code);
        }
        self.is_command_by_key(&key, lists).then_some(Carries::Command)
    }

    fn is_statement(&self, key: &str, last: &str, all: &[String], starts: bool) -> bool {
        if STATEMENT_KEYS.contains(key) || last == "sql" {
            return true;
        }
        let named = LIKELY_STATEMENTS.contains(last) || starts;
        named
            && (all.iter().any(|word| DATABASES.contains(word.as_str())) || self.has_name(&DATABASES) && last != "text")
            || matches!(last, "statement" | "statements" | "stmt") && self.says(&DATABASES)
            || matches!(key, "query" | "statement") && self.has_name(&ASKING) && self.says(&SPOKEN)
            || matches!(key, "query" | "statement")
                && self.has_name(&EXECUTING)
                && self.name.iter().any(|word| matches!(word.as_str(), "query" | "statement"))
                && !self.says(&ONLY_ASKING)
    }

    /// Whether it is typed into something that was started before.
    fn is_typed(&self, key: &str, last: &str, begins: bool, all: &[String]) -> bool {
        let says = |list: &Set| all.iter().any(|word| list.contains(word.as_str()));
        let page = self.has_name(&PAGES)
            || self.has_argument(&PAGES)
            || self.said.iter().take(20).any(|word| PAGES_SAID.contains(word.as_str()));
        // `process_image` does something to an image.
        let nouns = &self.name[usize::from(self.name.first().is_some_and(|first| first == "process"))..];
        let runner = nouns.iter().any(|word| RUNNERS.contains(word.as_str())) || self.has_argument(&RUNNER_ARGUMENTS);
        let holds = INPUTS.contains(key) || INPUTS.contains(last);
        let is_typing =
            |word: &String| TYPING.contains(word.strip_suffix('s').unwrap_or(word)) || TYPING.contains(word.as_str());
        let types = self.name.iter().chain(self.said.iter().take(12)).any(is_typing)
            || matches!(key, "keys" | "input" | "stdin" | "chars" | "keystrokes");
        let described = begins && says(&TYPING) && says(&TYPED_INTO);
        let keys = KEYS.contains(key) || key == "keys" && self.has_name(&TYPING) || self.has_name(&KEYS) && holds;
        let sends_keys =
            self.name.windows(2).any(|pair| pair[0] == "send" && matches!(pair[1].as_str(), "keys" | "key"));
        let feeds = self.has_name(&TYPING)
            && self.name.iter().any(|word| matches!(word.as_str(), "input" | "stdin" | "keystrokes"))
            && self.says(&FED);
        !self.looks
            && (feeds && holds && !page
                || runner && holds && types
                || described
                || !page && (keys || sends_keys && holds))
    }

    fn is_code_by_key(&self, key: &str) -> bool {
        let runs = self.has_name(&RUNNING) || self.said.iter().take(10).any(|word| RUNNING.contains(word.as_str()));
        let known = CODE_KEYS.contains(key);
        known && runs && !self.looks
    }

    fn is_command_by_key(&self, key: &str, lists: bool) -> bool {
        if self.looks || lists {
            return false;
        }
        let arguments = self.has_argument(&WORDS_BESIDE);
        if matches!(key, "verb" | "subcommand" | "sub_command" | "executable" | "binary" | "program") {
            return arguments;
        }
        if matches!(key, "command" | "commands" | "cmd" | "cmds") {
            return !self.has_name(&EDITING);
        }
        // A tool that is called `run` and nothing more runs what it is given.
        let only_runs = !self.name.is_empty() && self.name.iter().all(|word| ONLY_RUNNING.contains(word.as_str()));
        let open = self.arguments.iter().filter(|argument| !argument.closed).count();
        only_runs && (open == 1 || GIVEN.contains(key))
    }
}

/// What title and description begin with, up to the first word that only explains; and all of their words.
fn read(says: &str) -> (Vec<Vec<String>>, Vec<String>) {
    let all: Vec<String> = words(says).into_iter().take(40).collect();
    let heads = says.lines().filter(|line| !line.trim().is_empty()).take(2).map(|line| {
        let line = line.trim_start_matches(|c: char| !c.is_alphanumeric());
        let words = words(line.split([',', ';', ':', '(', '.']).next().unwrap_or_default());
        let start = words.iter().take_while(|word| IN_FRONT.contains(word.as_str())).count();
        words[start..].iter().take(6).take_while(|word| !ENDING.contains(word.as_str())).cloned().collect()
    });
    (heads.collect(), all)
}

/// The class of a tool: by the names that everybody uses, and by what its definition says of its arguments.
pub(super) fn class(declared: &ToolSecurity, name: &str, cargo: &Cargo) -> Option<Class> {
    let by_name = fallback::classify(name, &declared.properties);
    // A closed list of words is no command, whatever it is called.
    let closed = |key: &str| declared.arguments.iter().any(|argument| argument.name == key && argument.closed);
    let names_language = |key: &str| matches!(key, "language" | "lang");
    let open: Vec<String> =
        declared.properties.iter().filter(|key| !closed(key) || names_language(key)).cloned().collect();
    let by_name = if open.len() == declared.properties.len() { by_name } else { fallback::classify(name, &open) };
    match (by_name, cargo.class()) {
        (Some(Class::Shell), _) | (_, Some(Class::Shell)) => Some(Class::Shell),
        (Some(Class::Code), _) | (_, Some(Class::Code)) => Some(Class::Code),
        (by_name, _) => by_name,
    }
}
