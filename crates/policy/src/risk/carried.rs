//! What the arguments of a tool carry: commands, code, statements for a database, or what is typed into something that runs.
//!
//! A key may be called anything (`what`, `payload`, `input`). Its title and description say what is meant by it, and so do
//! the name and the description of the tool. Computed once per definition; a call is judged by what was found here.

use std::collections::HashSet;

use switchboard_protocol::mgp::security::{Argument, ToolSecurity};

use super::fallback::{self, RiskClass, words};
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
    /// Words for giving the value of something.
    EVALUATING = "evaluate evaluates evaluated evaluating eval evals";
    /// Names of tools that do it to programs: nobody calls arithmetic so.
    EVALUATING_NAMES = "eval repl";
    /// Signs that an expression is part of a program, and not of arithmetic.
    OF_PROGRAMS = "debug debugger debugging breakpoint javascript js typescript python program node repl lisp ruby lua groovy \
     clojure scheme console devtools jvm jdb gdb lldb";
    /// Signs that code is run where nobody says so.
    OF_NOTEBOOKS = "notebook notebooks cell cells jupyter pandas dataframe dataframes sandbox interpreter";
    /// Nouns for a program.
    CODES = "code javascript js typescript python script snippet program lua ruby perl php groovy kotlin golang rust \
     source código codigo codice код programm skript bpy";
    /// Languages of programs: beside them `function` and `expression` are code too.
    LANGUAGES = "javascript js typescript ts python node nodejs lua ruby perl php groovy powershell applescript jxa \
     bpy gdscript csharp java kotlin r julia";
    /// Languages that are written for nothing but to run in a program.
    EMBEDDED = "bpy applescript jxa osascript apex vba gdscript autohotkey autolisp extendscript userscript";
    /// Words for making something run, in several languages.
    RUNNING = "run runs running execute executes executed executing exec eval evaluate evaluated evaluates evaluating launch \
     launches invoke invokes spawn spawns ejecutar exécuter executer ausführen ausfuehren ausgeführt eseguire executar выполнить выполнения uitvoeren \
     run_in start";
    /// Words of a language for databases.
    pub(super) DATABASES = "sql partiql cypher tsql plsql mysql postgres postgresql sqlite duckdb clickhouse bigquery snowflake redshift \
     mariadb mssql psql gremlin sparql cql aql hive trino presto databricks neo4j memgraph ddl dml motherduck sqlserver tidb \
     cockroachdb timescale timescaledb questdb doris starrocks vertica teradata db2 firebird sybase singlestore oceanbase \
     yugabyte spanner athena dremio impala hana surrealdb arangodb influxql cassandra scylla n1ql prisma libsql";
    /// Words for giving input to something.
    TYPING = "type write send input interact paste stuff stuffs feed enter press keys sendkeys submit respond answer reply";
    /// What runs whatever is typed into it.
    RUNNERS = "terminal console process subprocess shell tmux pty tty stdin repl ssh screen interpreter serial pane \
     debugger gdb lldb iterm telnet zellij kitty wezterm";
    /// Arguments that name something that runs.
    RUNNER_ARGUMENTS = "pid process_id terminal_id pane pane_id pty tty shell_id session_name";
    /// Arguments that may hold what is typed.
    INPUTS = "input text data keys key stdin chars characters content line lines keystrokes send_text value payload \
     message string msg buf buffer bytes clip command_text send_ascii send_specials special_keys sequence";
    /// Words for keys that go to whatever has the keyboard.
    KEYS = "keystrokes keystroke hotkey shortcut sendkeys key_sequence key_combination";
    /// Signs that what is typed goes to a page or an app, and not to something that runs it.
    PAGES = "browser page pages element elements selector ref uid tab web puppeteer playwright chrome xpath css locator \
     form field focused dom website app webpage ui pageid page_id input_field textbox tabid";
    /// Arguments that are something else, whatever is said of them: `the directory in which the command runs`.
    OTHERS = "cwd dir directory workdir working_directory path file filename timeout session session_id user username \
     host hostname container namespace pod env environment description reason title label format encoding language lang name id \
     server server_name server_id target explanation url uri tool_name tool node region profile account database db schema \
     table collection index branch repo repository project cluster context shell interpreter image tag role prompt";
    /// Words that end what a description begins with.
    ENDING = "to for of in that which where when used from on with by as is will must should can into if inside within \
     e.g eg i.e ie example and or against about";
    /// Words of keys that hold a command.
    COMMAND_WORDS = "command commands cmd cmds cmdline commandline entrypoint";
    /// Last words of such keys that are no command after all.
    ABOUT_COMMANDS = "type kind mode status output count group category prefix history index version help description";
    /// Keys that hold a line for a shell.
    SHELL_KEYS = "bash powershell pwsh ps_script shell_script bash_script powershell_script";
    /// Programs whose words are a command, where a tool is called like one of them.
    PROGRAMS_NAMED = "kubectl gcloud git docker podman helm terraform tofu ansible aws az gh glab npm pnpm yarn pip uv cargo make \
     ssh adb ffmpeg nmap curl wget psql mysql mongosh systemctl gradle mvn dotnet flyctl heroku vercel wrangler supabase \
     firebase eksctl oc istioctl vault consul nomad pulumi argocd flux kustomize minikube";
    /// Names of tools that tell about commands, and what they call these.
    EXPLAINING = "explain help describe documentation docs doc man manual syntax usage parse lint suggest complete";
    EXPLAINED = "command commands cmd cli";
    /// What is had of a command only by running it.
    OUTCOMES = "output outputs result results stdout";
    /// Names of tools that edit, where `command` is what the editor does.
    EDITING = "edit editor replace memory file notebook text";
    /// Nouns that add nothing.
    GENERIC = "string text content body lines line block value";
    /// What a program is called beside its language.
    PROGRAMS = "code script function expression snippet program statement javascript js typescript python source";
    /// What is called a statement beside the language of a database.
    STATEMENTS = "query queries statement statements script command commands code batch";
    /// The last word of keys that hold a text.
    TEXTS = "text string body input stmt content batch raw";
    /// The last word of keys that name or count something.
    NAMING = "id ids path file dir directory timeout name url";
    /// Keys that can only be a statement.
    STATEMENT_KEYS = "sql sqls sql_query query_sql cypher cypher_query raw_sql raw_query";
    /// Keys that are a statement where something speaks of a database.
    LIKELY_STATEMENTS = "statement statements stmt query queries q text command script dml ddl";
    /// Last words of keys that hold a piece of a statement, in tools that speak of databases.
    PIECES = "where by orderby groupby order sort having filter filters condition conditions clause clauses columns column fields \
        select limit offset join joins table tables from values predicate expression statement statements";
    /// Keys that hold a clause of a statement, in tools that speak of tables.
    CLAUSES = "where where_clause having order_by orderby group_by groupby clause sql_where sql_filter";
    /// Names of tools that start a program, what they start, and other arguments for its words.
    STARTING = "run exec execute spawn launch start open invoke";
    STARTED = "process subprocess program binary executable application app command";
    WORDS_STARTING = "params parameters options";
    /// What a clause is called.
    CLAUSES_SAID = "where clause clauses condition having";
    /// Words of tools that look something up in texts about databases.
    TEXTS_ABOUT = "search docs documentation doc help knowledge guide guides tutorial articles best practices";
    /// What statements are about.
    DATA = "data query queries";
    ROWS = "table tables rows row records database databases";
    /// Keys that hold code where the tool runs something.
    CODE_KEYS = "code script source_code python_code javascript js function program snippet javascript_code js_code \
        python_script page_function";
    /// Arguments beside a command: its words.
    WORDS_BESIDE = "args argv arguments cmd_args command_args flags parameters";
    /// What can only be handed to a program behind its own words.
    WORDS_MORE = "additional_args extra_args additional_arguments extra_arguments additional_flags extra_flags cli_args cli_flags \
        raw_args custom_args additional_options extra_options module_args command_line_args command_line_arguments";
    /// What takes lines and runs them, as the description of an argument says; how it comes to it; and what only speaks of one.
    RUNS_LINES = "sh bash zsh dash shell powershell pwsh subprocess interpreter popen";
    HANDED = "handed passed given piped fed run runs executed interpreted evaluated spawned via through";
    /// What a shell is given, as the first sentence of a tool says: `a shell task`.
    OF_SHELLS = "task tasks job jobs line lines snippet snippets payload one hook hooks";
    /// Names that consist of nothing but such words.
    ONLY_RUNNING = "run exec execute launch spawn invoke do start tool mcp the a it ejecutar executer ausführen";
    /// What something that runs everything may call what it is given.
    GIVEN = "what payload input line instruction instructions task text";
    /// What is typed, as a description begins.
    TYPED = "input text keys characters keystrokes data line lines stdin";
    /// What it is typed into, as a description says.
    TYPED_INTO = "process terminal session pane pty repl stdin console tmux subprocess shell program";
    /// What can only be a place where lines are run, as the description of a tool says.
    TERMINALS = "terminal terminals tmux pty tty repl ssh shell stdin interpreter";
    /// What input is sent to, as the description of a tool says.
    FED = "terminal console process subprocess shell tmux pty tty stdin repl ssh interpreter command commands running program \
        session";
    /// Words in front of what a description is about.
    IN_FRONT = "the a an this your execute run evaluate raw full complete optional required";
    /// Shells, in a description.
    SHELLS = "shell bash terminal powershell";
    /// Where statements are read only, as a name says.
    READING_NAMES = "read readonly select";
    /// Signs of a page in the description of a tool, and arguments that bear them out.
    ON_PAGES = "ref element uid by locator xpath css url tab tab_id index backend_node_id node_id frame";
    PAGES_SAID = "browser page element webpage";
    /// Languages of statements that a description may name.
    SPOKEN = "sql cypher database databases select";
    /// Languages in which nothing but questions can be asked.
    ONLY_ASKING = "promql logql kql jql nrql lucene traceql metricsql dsl elasticsearch splunk spl jmespath xpath";
    /// Names of tools that run what they are given.
    EXECUTING = "execute run exec";
    /// Names of tools that pass a statement on.
    ASKING = "execute run exec query sql db database";
    /// What keeps a program and runs it later, as names and descriptions say.
    KEEPING = "function functions lambda lambdas worker workers trigger triggers hook hooks webhook procedure procedures apex \
        edge automation automations cron macro macros workflow workflows userscript plugin bot handler udf job jobs serverless";
    /// Last words of keys that hold a program beside such a word.
    KEPT = "code script source body definition handler";
    /// Names of tools that put code into a file and do not run it.
    WRITING_NAMES = "write edit update insert add append create save format lint";
    /// Keys that hold stages or filters, the stores that take them, and what is said of them.
    STAGES = "pipeline stages aggregation aggregate filter query";
    DOCUMENT_STORES = "mongo mongodb documentdb cosmosdb firestore";
    /// Arguments that name where documents or rows are kept.
    COLLECTIONS = "collection collection_name";
    TABLES = "table tables table_name tablename";
    STAGED = "aggregation stages mongo mongodb";
    /// Names of statements.
    STATEMENTS_NAMED = "query queries sql statement statements cypher";
    /// Codes that are no programs.
    OTHER_CODES = "country language zip postal status error";
}

/// What a statement is called where nobody says.
const UNSAID: [&str; 3] = ["query", "sql", "statement"];
/// Words that say that a list of words is meant.
const LISTING: &[&str] =
    &["allowed options", "one of", "allowed values", "possible values", "available commands", "valid commands"];
/// Words that say that a database is written to, and words that take that back.
const WRITING: &[&str] =
    &["insert", "update", "delete", "ddl", "dml", "write", "modif", "mutat", "any sql", "arbitrary"];
const DENYING: &[&str] = &[
    "not ", "n't", "no ", "only", "never", "without", "reject", "block", "forbid", "prohibit", "disallow", "prevent",
    "refus",
];
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
    /// Whether it is given stages or filters of a document store, one of which may write or run code.
    pub(super) stages: bool,
    /// Whether it puts a statement together of what it is given.
    pub(super) pieces: bool,
}

impl Cargo {
    pub(super) fn has(&self, what: Carries) -> Option<&str> {
        self.carried.iter().find(|carried| carried.what == what).map(|carried| &*carried.key)
    }

    /// The class that follows from it.
    pub(super) fn class(&self) -> Option<RiskClass> {
        if self.has(Carries::Command).or_else(|| self.has(Carries::Input)).is_some() {
            Some(RiskClass::Shell)
        } else {
            self.has(Carries::Code).map(|_| RiskClass::Code)
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
    let stages = |argument: &Argument| {
        let key = words(&argument.name).join("_");
        let said = || words(&argument.says).iter().any(|word| STAGED.contains(word.as_str()));
        let stored = tool.says(&DOCUMENT_STORES) || tool.has_argument(&COLLECTIONS);
        STAGES.contains(key.as_str()) && (stored || key != "query" && said())
    };
    cargo.stages = declared.arguments.iter().any(stages);
    let speaks_sql = tool.says(&DATABASES) || tool.has_name(&DATABASES);
    let is_piece = |argument: &Argument| {
        let key = words(&argument.name);
        !argument.closed && key.last().is_some_and(|last| PIECES.contains(last.as_str()))
    };
    let clauses =
        || declared.arguments.iter().filter(|argument| !argument.closed && tool.is_clause(argument, speaks_sql));
    // What lists rows of a table may hand what it is given to a database, whether it says so or not.
    let of_rows = speaks_sql || tool.has_argument(&TABLES) || tool.says(&ROWS) && tool.has_argument(&PIECES);
    cargo.pieces = of_rows && declared.arguments.iter().any(is_piece) || clauses().next().is_some();
    // Where it writes anyway, what it is given of a statement decides how much.
    if !looks {
        let more = clauses().map(|argument| Carried { key: argument.name.as_str().into(), what: Carries::Statement });
        let more: Vec<Carried> = more.filter(|one| !cargo.carried.iter().any(|known| known.key == one.key)).collect();
        cargo.carried.extend(more);
    }
    if cargo.carried.is_empty() {
        cargo.carried = tool.said_to_run(declared);
    }
    // A name alone tells enough where the schema tells nothing.
    let bare = declared.arguments.is_empty() && tool.has_name(&EXECUTING) && tool.has_name(&STATEMENTS_NAMED);
    if bare {
        cargo.carried.extend(UNSAID.map(|key| Carried { key: key.into(), what: Carries::Statement }));
    }
    cargo.reads = declared.hints.read_only == Some(true)
        || tool.has_name(&READING_NAMES)
        || std::iter::once(lower).chain(of_statement).any(|text| says_reading(&text));
    cargo
}

/// Whether a text says that statements only read, and does not speak of others that write.
fn says_reading(text: &str) -> bool {
    let has = |list: &[&str]| list.iter().any(|phrase| text.contains(phrase));
    // `read-only` denies nothing by its last half.
    let denied = || DENYING.iter().any(|word| text.replace("read-only", "").replace("read only", "").contains(word));
    has(READING) && (!has(WRITING) || denied())
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

    /// Whether it is a clause of a statement.
    fn is_clause(&self, argument: &Argument, speaks_sql: bool) -> bool {
        let key = words(&argument.name).join("_");
        let said = words(&argument.says);
        let says = |list: &Set| said.iter().any(|word| list.contains(word.as_str()));
        CLAUSES.contains(key.as_str()) && (speaks_sql || self.says(&ROWS)) || says(&DATABASES) && says(&CLAUSES_SAID)
    }

    /// What a tool is given that says of itself that it runs commands or code, where no key tells which it is: everything that
    /// may be it.
    fn said_to_run(&self, declared: &ToolSecurity) -> Vec<Carried> {
        let described = declared.subject.split('\n').nth(2).unwrap_or_default();
        let first = described.split(['.', ';', '\n']).next().unwrap_or_default();
        let sentence: Vec<String> = words(first).into_iter().take(14).collect();
        let of_shell =
            sentence.windows(2).any(|pair| SHELLS.contains(pair[0].as_str()) && OF_SHELLS.contains(pair[1].as_str()));
        let at = match sentence.iter().take(6).position(|word| RUNNING.contains(word.as_str())) {
            Some(at) => at,
            None if of_shell && !self.looks => 0,
            None => return Vec::new(),
        };
        let object = |list: &Set| sentence[at + 1..].iter().take(6).any(|word| list.contains(word.as_str()));
        let evaluates = EVALUATING.contains(sentence[at].as_str());
        let what = if !evaluates && (object(&COMMANDS) || of_shell) {
            Carries::Command
        } else if !evaluates && object(&CODES) || evaluates && (object(&CODES) || self.says(&OF_PROGRAMS)) {
            Carries::Code
        } else {
            return Vec::new();
        };
        let may_be_it = |argument: &&Argument| {
            let key = words(&argument.name).join("_");
            let last = key.rsplit('_').next().unwrap_or_default();
            !argument.closed
                && !OTHERS.contains(key.as_str())
                && !NAMING.contains(last)
                && !ABOUT_COMMANDS.contains(last)
        };
        let found = declared.arguments.iter().filter(may_be_it);
        found.map(|argument| Carried { key: argument.name.as_str().into(), what }).collect()
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
        if self.is_started(&key) {
            return Some(Carries::Command);
        }
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
        let handed = all.windows(4).any(|near| {
            let at = near.iter().position(|word| HANDED.contains(word.as_str()));
            at.is_some_and(|at| near[at + 1..].iter().any(|word| RUNS_LINES.contains(word.as_str())))
        });
        if !lists && (starts(&COMMANDS) && (says(&RUNNING) || says(&SHELLS)) || asian || handed) {
            return Some(Carries::Command);
        }
        if self.is_typed(&key, last, begins(&TYPED), &all) {
            return Some(Carries::Input);
        }
        let embedded = begins(&EMBEDDED) && CODE_KEYS.contains(key.as_str()) && !self.looks;
        let language = embedded || begins(&LANGUAGES) && starts(&PROGRAMS) && (says(&RUNNING) || self.says(&RUNNING));
        let code = starts(&CODES) && says(&RUNNING) && !OTHER_CODES.contains(key.as_str());
        if language || code || self.is_code_by_key(&key) || self.is_kept(&key, last, starts(&CODES)) {
            return Some(Carries::Code);
        }
        self.is_command_by_key(&key).then_some(Carries::Command)
    }

    fn is_statement(&self, key: &str, last: &str, all: &[String], starts: bool) -> bool {
        let of_sql = key.split('_').any(|word| matches!(word, "sql" | "cypher" | "tsql" | "plsql"))
            && (TEXTS.contains(last) || STATEMENTS.contains(last));
        if STATEMENT_KEYS.contains(key) || last == "sql" || of_sql {
            return true;
        }
        let named = LIKELY_STATEMENTS.contains(last) || starts;
        let asked = matches!(key, "query" | "q" | "queries") && self.says(&DATABASES) && !self.says(&TEXTS_ABOUT);
        asked
            || named
                && (all.iter().any(|word| DATABASES.contains(word.as_str()))
                    || self.has_name(&DATABASES) && last != "text")
            || matches!(last, "statement" | "statements" | "stmt")
                && (self.says(&DATABASES) || self.says(&ROWS) || self.says(&DATA))
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
            || self.said.iter().take(20).any(|word| PAGES_SAID.contains(word.as_str())) && self.has_argument(&ON_PAGES);
        // `process_image` does something to an image.
        let nouns = &self.name[usize::from(self.name.first().is_some_and(|first| first == "process"))..];
        let said = self.has_name(&TYPING) && self.said.iter().take(12).any(|word| TERMINALS.contains(word.as_str()));
        let runner =
            said || nouns.iter().any(|word| RUNNERS.contains(word.as_str())) || self.has_argument(&RUNNER_ARGUMENTS);
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
        // What is typed is typed, also where the name tells only what comes of it.
        let sure = matches!(key, "stdin" | "keystrokes") || holds && self.has_argument(&RUNNER_ARGUMENTS);
        (!self.looks || sure)
            && (feeds && holds && !page
                || runner && holds && types
                || described
                || sure && self.looks
                || !page && (keys || sends_keys && holds))
    }

    fn is_code_by_key(&self, key: &str) -> bool {
        let runs = self.has_name(&RUNNING) || self.said.iter().take(10).any(|word| RUNNING.contains(word.as_str()));
        let last = key.rsplit('_').next().unwrap_or_default();
        // Beside its words, a program is one that is started.
        let known = CODE_KEYS.contains(key) && !(key == "program" && self.has_argument(&WORDS_BESIDE))
            || matches!(last, "code" | "script" | "snippet");
        let embedded = matches!(last, "groovy" | "applescript" | "osascript" | "jenkinsfile");
        let known = known && !OTHER_CODES.contains(key.split('_').next().unwrap_or_default());
        let expression =
            matches!(last, "expression" | "expr") && (self.says(&OF_PROGRAMS) || self.has_name(&EVALUATING_NAMES));
        // A script is there to be run, unless it is what the tool is about.
        let script = key == "script" && !self.name.iter().any(|word| matches!(word.as_str(), "script" | "scripts"));
        let in_notebook = matches!(last, "code" | "source") && (self.says(&OF_NOTEBOOKS) || runs && key == "source");
        known && runs || embedded || expression || script || in_notebook && (runs || !self.has_name(&WRITING_NAMES))
    }

    /// Whether it is a program that something keeps and runs later: the code of a cloud function, the body of a trigger.
    fn is_kept(&self, key: &str, last: &str, says_code: bool) -> bool {
        let keeps = self.has_name(&KEEPING) || self.said.iter().take(12).any(|word| KEEPING.contains(word.as_str()));
        let sure = CODE_KEYS.contains(key) && last != "function" || says_code && KEPT.contains(last);
        keeps && sure && !self.looks && !OTHER_CODES.contains(key)
    }

    /// Whether it says that something is run.
    fn runs(&self) -> bool {
        self.says(&RUNNING) || self.says(&OUTCOMES)
    }

    /// Whether its name is nothing but a word for running something.
    fn only_runs(&self) -> bool {
        !self.name.is_empty() && self.name.iter().all(|word| ONLY_RUNNING.contains(word.as_str()))
    }

    /// Whether it is the file of a program that is started with the words beside it: `process_start` of `file` and `args`.
    fn is_started(&self, key: &str) -> bool {
        let starts = self.only_runs() || self.has_name(&STARTING) && self.has_name(&STARTED);
        starts && !self.looks && self.has_argument(&WORDS_BESIDE) && matches!(key, "file" | "path" | "app" | "name")
    }

    fn is_command_by_key(&self, key: &str) -> bool {
        // A name that looks tells what comes of it, not what is done: `status` of `command`.
        let parts = || key.split('_');
        let last = parts().next_back().unwrap_or_default();
        if parts().any(|word| COMMAND_WORDS.contains(word)) && !ABOUT_COMMANDS.contains(last) {
            return self.runs()
                || !(key == "command" && self.has_name(&EDITING)
                    || self.has_name(&EXPLAINING) && self.has_name(&EXPLAINED));
        }
        if SHELL_KEYS.contains(key) || key == "cli" && (self.runs() || self.says(&COMMANDS)) {
            return true;
        }
        if WORDS_BESIDE.contains(key) && self.has_name(&PROGRAMS_NAMED) && (self.runs() || self.name.len() == 1) {
            return true;
        }
        if WORDS_MORE.contains(key) {
            return self.runs() || !self.looks;
        }
        if self.looks {
            return false;
        }
        let arguments = self.has_argument(&WORDS_BESIDE);
        if matches!(
            key,
            "verb" | "subcommand" | "sub_command" | "executable" | "exe" | "binary" | "program" | "application"
        ) {
            return arguments || self.has_argument(&WORDS_STARTING) && self.has_name(&STARTING);
        }
        // A tool that is called `run` and nothing more runs what it is given.
        let only_runs = self.only_runs();
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
pub(super) fn class(declared: &ToolSecurity, name: &str, cargo: &Cargo) -> Option<RiskClass> {
    let by_name = fallback::classify(name, &declared.properties);
    // A closed list of words is no command, whatever it is called.
    let closed = |key: &str| declared.arguments.iter().any(|argument| argument.name == key && argument.closed);
    let names_language = |key: &str| matches!(key, "language" | "lang");
    let open: Vec<String> =
        declared.properties.iter().filter(|key| !closed(key) || names_language(key)).cloned().collect();
    let by_name = if open.len() == declared.properties.len() { by_name } else { fallback::classify(name, &open) };
    match (by_name, cargo.class()) {
        (Some(RiskClass::Shell), _) | (_, Some(RiskClass::Shell)) => Some(RiskClass::Shell),
        (Some(RiskClass::Code), _) | (_, Some(RiskClass::Code)) => Some(RiskClass::Code),
        (by_name, _) => by_name,
    }
}
