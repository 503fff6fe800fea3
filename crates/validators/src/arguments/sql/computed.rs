//! Files and machines that a query names by something else than a string: `load_file(0x2f..)`, `pg_read_file(chr(47) || ..)`,
//! a column, a variable, a statement that is put together first. A limit can be held to a string only, so whoever asks for one
//! refuses the rest.
//!
//! Looked at are the places where a file or a machine is named; what a query makes elsewhere (`select chr(47)`) is data.

use std::collections::HashSet;

use super::lexer::{self, DIALECTS, Token};
use super::words::FILE_READERS;
use super::{MAX_ARGUMENT_TOKENS, fragment};

/// Statements in strings that are looked into, and how many times as long as the query they may be together.
const MAX_TEXTS: usize = 256;
const MAX_SHARE: usize = 4;
/// Calls of such functions in one statement; one with more is refused.
const MAX_CALLS: usize = 256;
/// Functions whose first argument is a file or a folder, beside those that read data.
const OF_FILES: [&str; 24] = [
    "load_file",
    "lo_import",
    "pg_read_file",
    "pg_read_binary_file",
    "pg_stat_file",
    "pg_ls_dir",
    "pg_file_write",
    "pg_file_read",
    "pg_file_rename",
    "pg_file_unlink",
    "pg_file_sync",
    "readfile",
    "writefile",
    "edit",
    "fsdir",
    "zipfile",
    "load_extension",
    "read_text",
    "read_blob",
    "glob",
    "sqlite_attach",
    "fn_xe_file_target_read_file",
    "fn_get_audit_file",
    "fn_trace_gettable",
];
/// The same of their first two arguments, or of the second one.
const OF_TWO: [&str; 6] = ["lo_export", "fopen", "fcopy", "frename", "fremove", "bfilename"];
/// Functions that connect to what their first argument says.
pub(super) const OF_HOSTS: [&str; 42] = [
    "dblink",
    "dblink_connect",
    "dblink_connect_u",
    "dblink_exec",
    "url",
    "urlcluster",
    "remote",
    "remotesecure",
    "mysql",
    "postgresql",
    "mongodb",
    "redis",
    "s3",
    "s3cluster",
    "hdfs",
    "postgres_scan",
    "postgres_attach",
    "mysql_scan",
    "http_get",
    "http_post",
    "httpuritype",
    "opendatasource",
    "openrowset",
    "openquery",
    "cluster",
    "clusterallreplicas",
    "distributed",
    "kafka",
    "rabbitmq",
    "nats",
    "azureblobstorage",
    "azureblobstoragecluster",
    "hdfscluster",
    "gcs",
    "oss",
    "cosn",
    "jdbc",
    "odbc",
    "iceberg",
    "deltalake",
    "hudi",
    "postgres_scan_pushdown",
];
/// Functions and procedures that start a program.
const PROGRAMS: [&str; 6] = ["xp_cmdshell", "sys_exec", "sys_eval", "sys_bineval", "sp_oacreate", "sp_oamethod"];
/// Functions that run the statement in a string.
const RUNNING: [&str; 12] = [
    "query_to_xml",
    "query_to_xmlschema",
    "query_to_xml_and_xmlschema",
    "dblink",
    "dblink_exec",
    "dblink_open",
    "openquery",
    "postgres_query",
    "postgres_execute",
    "mysql_query",
    "mysql_execute",
    "eval",
];
/// Statements whose strings are run, now or later.
const BODIES: [&str; 7] = ["do", "create", "prepare", "exec", "execute", "declare", "begin"];
/// Words that name no function in front of a bracket: a table or a column that is called like one.
pub(super) const NAMING: [&str; 8] = ["into", "table", "exists", "on", "update", "as", "index", "references"];
/// Words in front of the `file(..)` that is read, and no table or column.
const SOURCES: [&str; 5] = ["from", "join", "lateral", "function", "select"];
/// What procedures of Cypher load and import, by their last word.
const LOADED: [&str; 12] = [
    "json",
    "jsonarray",
    "jsonparams",
    "csv",
    "csvparams",
    "xml",
    "html",
    "xls",
    "arrow",
    "directory",
    "graphml",
    "file",
];
/// Functions that put a text together.
const COMPOSING: [&str; 20] = [
    "format",
    "concat",
    "concat_ws",
    "replace",
    "quote_literal",
    "quote_ident",
    "chr",
    "char",
    "nchar",
    "convert",
    "convert_from",
    "decode",
    "unhex",
    "reverse",
    "translate",
    "lower",
    "upper",
    "substr",
    "substring",
    "cast",
];
/// Ends of names of settings that hold a place.
const PLACES: [&str; 4] = ["_file", "_dir", "_directory", "_filename"];

/// What is named in a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::arguments) enum Named {
    /// Files of the machine.
    Files,
    /// Other machines.
    Hosts,
}

/// What in a query names a file or a machine and cannot be seen, if anything does.
pub(in crate::arguments) fn computed(text: &str, what: Named) -> Option<String> {
    let texts = texts(text);
    let found = texts.all.iter().enumerate().find_map(|(at, text)| {
        let about = About::of(text);
        each_statement(text, &mut |statement| Look { about: &about, statement, what, is_inner: at > 0 }.computed())
    });
    found.or_else(|| (!texts.are_whole).then(|| "the query holds more statements than are looked into".to_owned()))
}

/// The first thing that is found in a statement of a query, or of one that it runs.
pub(super) fn find<T>(text: &str, look: &mut dyn FnMut(&Look<'_>) -> Option<T>) -> Option<T> {
    texts(text).all.iter().find_map(|text| {
        let about = About::of(text);
        each_statement(text, &mut |statement| {
            look(&Look { about: &about, statement, what: Named::Hosts, is_inner: false })
        })
    })
}

/// A query, and the statements in its strings that are run.
pub(super) struct Texts {
    pub(super) all: Vec<String>,
    /// Whether these are all of them.
    are_whole: bool,
}

pub(super) fn texts(text: &str) -> Texts {
    let mut texts = Texts { all: vec![text.to_owned()], are_whole: true };
    let (mut at, mut left) = (0, text.len().saturating_mul(MAX_SHARE));
    while let Some(text) = texts.all.get(at) {
        for inner in inner(text) {
            if inner.len() > left || texts.all.len() >= MAX_TEXTS {
                texts.are_whole = false;
                return texts;
            }
            left -= inner.len();
            if !texts.all.contains(&inner) {
                texts.all.push(inner);
            }
        }
        at += 1;
    }
    texts
}

/// The first thing that is found in a statement, as any dialect reads them.
fn each_statement<T>(text: &str, look: &mut dyn FnMut(&[Token]) -> Option<T>) -> Option<T> {
    let dialects = if lexer::is_ambiguous(text) { &DIALECTS[..] } else { &DIALECTS[..1] };
    dialects.iter().find_map(|dialect| {
        let tokens = lexer::tokens(text, *dialect);
        tokens.split(|token| token.is(';')).find_map(&mut *look)
    })
}

/// The statements in the strings of a query that are run.
fn inner(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    if !text.contains(['\'', '"', '$', '`']) {
        return found;
    }
    let about = About::of(text);
    each_statement(text, &mut |statement| {
        let look = Look { about: &about, statement, what: Named::Files, is_inner: false };
        if look.calls_more() {
            return None;
        }
        let bodies = (0..statement.len()).flat_map(|at| look.run(at)).filter(|body| body.len() < text.len());
        for body in bodies.map(undoubled) {
            if !found.contains(&body) {
                found.push(body);
            }
            if found.len() > MAX_TEXTS {
                return Some(());
            }
        }
        None
    });
    found
}

/// What is asked of the text of a query as a whole.
struct About<'t> {
    /// What stands in quotes that may be those of a column.
    names: HashSet<&'t str>,
    /// Whether it has a number that may be a text in hexadecimal.
    has_coded_number: bool,
}

impl<'t> About<'t> {
    fn of(text: &'t str) -> Self {
        let mut names = HashSet::new();
        for (at, open) in text.char_indices().filter(|(_, c)| matches!(c, '"' | '`' | '[')) {
            let behind = &text[at + 1..];
            let end = behind.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(behind.len());
            let close = if open == '[' { ']' } else { open };
            if end > 0 && behind[end..].starts_with(close) {
                names.insert(&behind[..end]);
            }
        }
        let is_coded = |digits: &[u8]| matches!(digits, [b'0', b'x' | b'X' | b'b' | b'B']);
        Self { names, has_coded_number: text.as_bytes().windows(2).any(is_coded) }
    }
}

/// A string with a quote where two stand.
fn undoubled(text: &str) -> String {
    text.replace("''", "'")
}

pub(super) struct Look<'a> {
    about: &'a About<'a>,
    pub(super) statement: &'a [Token],
    what: Named,
    /// Whether it stands in a string.
    is_inner: bool,
}

impl Look<'_> {
    fn computed(&self) -> Option<String> {
        if self.calls_more() {
            return Some("a statement has more calls than are looked at".to_owned());
        }
        let begins = self.word(0).unwrap_or_default();
        (0..self.statement.len()).find_map(|at| {
            let named = || match self.what {
                Named::Files => self.named(at, begins),
                Named::Hosts => None,
            };
            let word = self.called(at).or_else(|| self.composed(at)).or_else(named)?;
            let starts = PROGRAMS.contains(&&*word) || word == "program";
            Some(match starts {
                true => format!("`{word}` starts a program"),
                false => format!("what `{word}` is given is no string as it stands"),
            })
        })
    }

    pub(super) fn word(&self, at: usize) -> Option<&str> {
        self.statement.get(at)?.word()
    }

    pub(super) fn is(&self, at: usize, symbol: char) -> bool {
        self.statement.get(at).is_some_and(|token| token.is(symbol))
    }

    /// The call of a function whose file or machine is not written out, at this place.
    fn called(&self, at: usize) -> Option<String> {
        let token = self.statement.get(at)?;
        if !self.is(at + 1, '(') {
            return None;
        }
        let name = fragment::name(token)?;
        // A name in escapes may be any.
        if token.quoted().is_some() && name.contains('\\') {
            return Some(name.into_owned());
        }
        let name = &*name;
        let before = at.checked_sub(1).and_then(|before| self.word(before)).unwrap_or_default();
        if NAMING.contains(&before) {
            return None;
        }
        let of_files = self.what == Named::Files;
        if of_files && PROGRAMS.contains(&name) {
            return Some(name.to_owned());
        }
        // `glob` compares texts as well, and a `file` with two names of columns is a table.
        let one = if of_files {
            OF_FILES.contains(&name) && (name != "glob" || matches!(before, "from" | "join"))
                || FILE_READERS.contains(&name)
                || name.starts_with("pg_ls_")
                || name == "file" && SOURCES.contains(&before)
                || self.is_loaded(at)
        } else {
            OF_HOSTS.contains(&name) || self.is_loaded(at)
        };
        let two = of_files && OF_TWO.contains(&name);
        let is_run = RUNNING.contains(&name);
        let arguments = if one || two || is_run { self.arguments(at + 1) } else { return None };
        let is_seen = |index: usize| arguments.get(index).is_none_or(|argument| self.is_written_out(argument));
        if one && !is_seen(0) || two && !(is_seen(1) && (name == "lo_export" || is_seen(0))) {
            return Some(name.to_owned());
        }
        (is_run && arguments.iter().any(|argument| self.is_put_together(argument))).then(|| name.to_owned())
    }

    /// Whether a statement calls such functions more often than is looked at.
    fn calls_more(&self) -> bool {
        let opens = |pair: &&[Token]| pair.get(1).is_some_and(|token| token.is('('));
        let calls = self.statement.windows(2).filter(opens).filter_map(|pair| fragment::name(&pair[0]));
        let is_named = |name: &str| {
            [&OF_FILES[..], &OF_TWO, &OF_HOSTS, &RUNNING].iter().any(|list| list.contains(&name))
                || FILE_READERS.contains(&name)
                || name.starts_with("pg_ls_")
                || matches!(name, "file" | "exec" | "execute")
                || LOADED.contains(&name)
        };
        calls.filter(|name| is_named(name)).nth(MAX_CALLS).is_some()
    }

    /// The strings that are run at this place.
    fn run(&self, at: usize) -> Vec<&str> {
        let is_statement = at == 0 && self.word(0).is_some_and(|word| BODIES.contains(&word));
        if is_statement {
            return self.statement.iter().filter_map(Token::quoted).filter(|inner| inner.contains(' ')).collect();
        }
        let name = self.statement.get(at).and_then(fragment::name);
        if !(name.is_some_and(|name| RUNNING.contains(&&*name)) && self.is(at + 1, '(')) {
            return Vec::new();
        }
        self.arguments(at + 1).into_iter().flatten().filter_map(Token::quoted).collect()
    }

    /// Whether a procedure of Cypher reads what it is given: `apoc.load.json(..)`.
    fn is_loaded(&self, at: usize) -> bool {
        let is_known = self.word(at).is_some_and(|word| LOADED.contains(&word));
        let is_procedure = |at: usize| matches!(self.word(at), Some("load" | "import" | "export"));
        is_known && at > 3 && self.is(at - 1, '.') && is_procedure(at - 2) && self.word(at - 4) == Some("apoc")
    }

    /// A statement that is put together before it runs.
    fn composed(&self, at: usize) -> Option<String> {
        let word = self.word(at)?;
        let begins = self.word(0).unwrap_or_default();
        let next = at + 1;
        let behind = |at: usize| self.is(at, '|') || self.is(at, '+') || self.is(at, '.');
        let is_string = |at: usize| self.statement.get(at).is_some_and(|token| token.quoted().is_some());
        let runs_text = |at: usize| {
            let at = if matches!(self.word(at), Some("n" | "e")) { at + 1 } else { at };
            is_string(at) && !behind(at + 1) && !is_string(at + 1)
        };
        let is_computed = match word {
            "exec" | "execute" => match self.word(next) {
                Some("immediate") => !runs_text(next + 1),
                Some(name) if COMPOSING.contains(&name) => self.is(next + 1, '('),
                // In the body of a function it is a variable.
                Some("function" | "procedure" | "on" | "as") => false,
                Some("n" | "e") => is_string(next + 1) && behind(next + 2),
                Some(_) => self.is_inner && !self.is(next + 1, '(') && !self.is(next + 1, '.'),
                None if self.is(next, '(') => {
                    self.arguments(next).first().is_some_and(|argument| !self.is_written_out(argument))
                }
                None => self.is(next, '@') || is_string(next) && behind(next + 1),
            },
            "sp_executesql" => !runs_text(next),
            "from" if begins == "prepare" && at == 2 => !runs_text(next),
            _ => false,
        };
        is_computed.then(|| word.to_owned())
    }

    /// A word of a statement behind which a file stands that is not written out.
    fn named(&self, at: usize, begins: &str) -> Option<String> {
        let word = self.word(at)?;
        let next = at + 1;
        let is_computed = match word {
            "infile" | "outfile" | "dumpfile" => !self.is_string_alone(next),
            "into" if begins == "vacuum" => !self.is_string_alone(next),
            "from" if at > 0 && matches!(self.word(at - 1), Some("csv" | "headers")) => !self.is_string_alone(next),
            "disk" if self.is(next, '=') => !self.is_string_alone(next + 1),
            "program" if matches!(begins, "copy" | "create" | "alter") => {
                self.statement.get(next).is_some_and(|token| token.quoted().is_some())
            }
            "to" | "from" if begins == "copy" && self.depth_at(at) == 0 => {
                let is_sign = ['(', ':', '$', '?'].iter().any(|sign| self.is(next, *sign));
                let is_string = self.statement.get(next).is_some_and(|token| token.quoted().is_some());
                let is_number = matches!(self.statement.get(next), Some(Token::Number(_)));
                let is_coded = matches!(self.word(next), Some("x" | "b" | "u"))
                    && (self.is(next + 1, '&')
                        || self.statement.get(next + 1).is_some_and(|token| token.quoted().is_some()));
                is_sign || is_number || is_string && !self.is_string_alone(next) || is_coded
            }
            "attach" if at == 0 => !self.attaches_string(),
            _ if begins == "set" && PLACES.iter().any(|end| word.ends_with(end)) => {
                let assigned = self.is(next, '=') || self.word(next) == Some("to");
                let is_call = self.word(next + 1).is_some() && self.is(next + 2, '(');
                assigned
                    && (is_call
                        || self.is(next + 1, '@')
                        || matches!(self.statement.get(next + 1), Some(Token::Number(_))))
            }
            _ if word.starts_with("xp_") || PROGRAMS.contains(&word) => {
                self.is_procedure(at) && !self.is_plain_call(at)
            }
            _ => false,
        };
        is_computed.then(|| word.to_owned())
    }

    /// Whether a word is a procedure that is run here, and no column of such a name.
    fn is_procedure(&self, at: usize) -> bool {
        let mut front = at;
        while front > 0 && (self.is(front - 1, '.') || self.is(front, '.')) {
            front -= 1;
        }
        front == 0 || matches!(self.word(front - 1), Some("exec" | "execute" | "call"))
    }

    /// Whether the words behind a procedure are strings and numbers as they are written, and it starts no program.
    fn is_plain_call(&self, at: usize) -> bool {
        let rest = self.statement.get(at + 1..).unwrap_or_default();
        let starts = self.word(at).is_some_and(|word| PROGRAMS.contains(&word));
        !starts
            && rest.split(|token| token.is(',')).all(|argument| {
                // `@name = ..`
                let named =
                    argument.iter().position(|token| token.is('=')).filter(|at| *at == 2 && argument[0].is('@'));
                let value = named.map_or(argument, |at| &argument[at + 1..]);
                match value {
                    [] | [Token::Quoted(_)] => true,
                    [Token::Word(word, _)] => matches!(word.as_str(), "null" | "default" | "output" | "out"),
                    [Token::Word(word, _), Token::Quoted(_)] => word == "n",
                    [Token::Number(number)] => *number > 0 || !self.about.has_coded_number,
                    _ => false,
                }
            })
    }

    /// `attach database 'x' as y`. Some take a bare name for a string.
    fn attaches_string(&self) -> bool {
        let mut at = 1;
        while self.word(at).is_some_and(|word| matches!(word, "database" | "if" | "not" | "exists" | "or" | "replace"))
        {
            at += 1;
        }
        match self.statement.get(at) {
            // `attach partition`, `attach table`, and a name that is one.
            Some(Token::Word(..)) => {
                !(self.is(at + 1, '(') || self.statement.get(at + 1).is_some_and(|t| t.quoted().is_some()))
            }
            None => true,
            Some(_) => self.is_string_alone(at),
        }
    }

    /// Whether a string stands here, with nothing that is added to it.
    fn is_string_alone(&self, at: usize) -> bool {
        let at = if matches!(self.word(at), Some("n" | "e")) { at + 1 } else { at };
        let Some(Token::Quoted(_)) = self.statement.get(at) else { return false };
        let adds = ['|', '+', '.'].iter().any(|sign| self.is(at + 1, *sign))
            || self.statement.get(at + 1).is_some_and(|token| token.quoted().is_some());
        !adds && self.is_written_out(&self.statement[at..=at])
    }

    /// The arguments of the call whose bracket opens here, as far as is looked.
    pub(super) fn arguments(&self, open: usize) -> Vec<&[Token]> {
        let rest = self.statement.get(open + 1..).unwrap_or_default();
        let rest = &rest[..rest.len().min(MAX_ARGUMENT_TOKENS)];
        let (mut depth, mut start, mut found) = (0_usize, 0, Vec::new());
        for (at, token) in rest.iter().enumerate() {
            match token {
                Token::Symbol(')') if depth == 0 => {
                    found.extend((at > start).then(|| &rest[start..at]));
                    return found;
                }
                Token::Symbol('(' | '[' | '{') => depth += 1,
                Token::Symbol(')' | ']' | '}') => depth = depth.saturating_sub(1),
                Token::Symbol(',') if depth == 0 => {
                    found.push(&rest[start..at]);
                    start = at + 1;
                }
                _ => {}
            }
        }
        found.extend((start < rest.len()).then(|| &rest[start..]));
        found
    }

    /// Whether an argument is a string as it is written, or a list of such.
    fn is_written_out(&self, argument: &[Token]) -> bool {
        let mut rest = argument;
        // `path => 'x'`, `path := 'x'`, `path = 'x'`
        if let [Token::Word(..), Token::Symbol('=' | ':'), behind @ ..] = rest {
            rest = match behind {
                [Token::Symbol('>' | '='), behind @ ..] => behind,
                behind => behind,
            };
        }
        // `'x'::text`
        while let [front @ .., Token::Symbol(':'), Token::Symbol(':'), Token::Word(..)] = rest {
            rest = front;
        }
        if let [Token::Symbol('('), inner @ .., Token::Symbol(')')] = rest {
            return self.is_written_out(inner);
        }
        let rest = match rest {
            [Token::Word(word, _), behind @ ..] if word == "array" => behind,
            rest => rest,
        };
        if let [Token::Symbol('['), inner @ .., Token::Symbol(']')] = rest {
            return inner.split(|token| token.is(',')).all(|one| self.is_written_out(one));
        }
        match rest {
            [Token::Quoted(text)] => !self.about.names.contains(text.as_str()) && !is_escaped(text),
            [Token::Word(word, _), Token::Quoted(text)] => match word.as_str() {
                "n" => true,
                "e" => !is_escaped(text),
                // What stands for itself: no backslash is read.
                "r" => true,
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether an argument is more than one text, or none.
    fn is_put_together(&self, argument: &[Token]) -> bool {
        let joins = |token: &Token| token.is('|') || token.is('+');
        argument.iter().any(joins)
            || argument.iter().enumerate().any(|(at, token)| {
                token.word().is_some_and(|word| COMPOSING.contains(&word))
                    && argument.get(at + 1).is_some_and(|token| token.is('('))
            })
    }

    /// How many brackets are open here, as far as is looked.
    fn depth_at(&self, at: usize) -> usize {
        self.statement[..at].iter().take(MAX_ARGUMENT_TOKENS).fold(0, |depth: usize, token| match token {
            Token::Symbol('(') => depth + 1,
            Token::Symbol(')') => depth.saturating_sub(1),
            _ => depth,
        })
    }
}

/// Whether a string has an escape that some dialect reads as another letter.
fn is_escaped(text: &str) -> bool {
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter == '\\'
            && letters.next().is_some_and(|next| next.is_ascii_digit() || matches!(next, 'x' | 'u' | 'U' | '+'))
        {
            return true;
        }
    }
    false
}
