//! Commands that a grant denies: they count wherever a program would run them.
//!
//! Programs run their words, shells the text that they are given, and many others have an option for the command of another.
//! So a denied command is looked for in every word, and in the text of each that has several, but for what is known to be only
//! text: a message, a pattern, what `echo` prints. Where a shell surely reads a text, each command in it is looked at by itself,
//! and what cannot be seen there is not let through. What a script holds is not known here.

use super::connect::words::{SHELLS, WRAPPERS};
use crate::shell::{self, base_name};
use crate::{Finding, Verdict};

/// How often one command may stand in another.
const MAX_DEPTH: usize = 6;
/// More commands in one text are not looked at one by one.
const MAX_PIECES: usize = 512;
/// Programs that print or compare their words, or search for them.
const PRINTING: [&str; 14] = [
    "echo", "printf", "true", "false", "which", "type", "whereis", "basename", "dirname", "expr", "curl", "jq", "tr",
    "cowsay",
];
const SEARCHING: [&str; 9] = ["grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "pgrep", "look"];
/// Options of these that start a program.
const SEARCH_RUNS: [&str; 5] = ["--pre", "--pager", "--hostname-bin", "--open-files-in-pager", "-O"];
/// Long options whose value is text, and one of a letter for the programs that have it.
const TEXT_OPTIONS: [&str; 25] = [
    "message",
    "title",
    "body",
    "description",
    "notes",
    "subject",
    "author",
    "grep",
    "format",
    "pretty",
    "header",
    "data",
    "comment",
    "label",
    "reason",
    "summary",
    "regexp",
    "pattern",
    "text",
    "query",
    "caption",
    "trailer",
    "committer",
    "annotation",
    "commit-message",
];
const WITH_MESSAGES: [&str; 9] = ["git", "hg", "svn", "jj", "gh", "glab", "bzr", "fossil", "cvs"];
/// Programs that read the text in one of their words as a shell does.
const READING_LINES: [&str; 24] = [
    "ssh",
    "watch",
    "script",
    "flock",
    "parallel",
    "xargs",
    "nix-shell",
    "tmux",
    "screen",
    "entr",
    "at",
    "batch",
    "env",
    "sudo",
    "timeout",
    "nohup",
    "su",
    "eval",
    "exec",
    "adb",
    "mosh",
    "doas",
    "runuser",
    "trap",
];
/// Programs that run code in one of their words, and what in code starts a program, or may hide which.
const INTERPRETERS: [&str; 22] = [
    "python",
    "python3",
    "pypy",
    "perl",
    "ruby",
    "node",
    "nodejs",
    "php",
    "lua",
    "deno",
    "bun",
    "awk",
    "gawk",
    "mawk",
    "osascript",
    "tclsh",
    "expect",
    "groovy",
    "julia",
    "elixir",
    "irb",
    "rscript",
];
const STARTING: [&str; 21] = [
    "system",
    "popen",
    "exec(",
    "exec ",
    "execv",
    "execl",
    "execs",
    "execf",
    "spawn",
    "subprocess",
    "child_process",
    "%x",
    "qx",
    "`",
    "pty",
    "shell",
    "eval",
    "import__",
    "getattr",
    "import_module",
    "globals",
];
const HIDING: [&str; 32] = [
    "+", "chr", "decode", "base64", "hex", "join", "revers", "[::", "\\x", "\\u", "\\0", "\\1", "eval", "import__",
    "getattr", "argv", "env", "input", "stdin", "format", "f'", "f\"", "\" \"", "' '", "\".\"", "'.'", "replace", "${",
    "%s", "read", "compile", "tolower",
];
/// Words of a shell's grammar in front of a command.
const GRAMMAR: [&str; 12] =
    ["then", "do", "else", "elif", "if", "while", "until", "!", "{", "time", "coproc", "function"];

/// Whether none of these denied commands is run by a command.
pub(super) fn check(denied: &[String], words: &[String]) -> Verdict {
    if denied.is_empty() {
        return Ok(());
    }
    let denied: Vec<Vec<&str>> = denied.iter().map(|one| one.split_whitespace().collect()).collect();
    Denied { commands: &denied }.words(words, false, 0)
}

/// The commands in the words of a command that a shell reads as a text: what stands behind `-c`, what `eval` is given.
pub(super) fn lines_in(words: &[String]) -> Vec<String> {
    let reads = |word: &String| {
        let name = base_name(word);
        SHELLS.contains(&name.as_str()) || READING_LINES.contains(&name.as_str())
    };
    let Some(at) = words.iter().position(reads) else { return Vec::new() };
    words[at + 1..].iter().filter(|word| is_text(word)).flat_map(|word| pieces(word)).map(|piece| piece.text).collect()
}

struct Denied<'d> {
    commands: &'d [Vec<&'d str>],
}

/// What a word is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Text, which nobody runs.
    Text,
    /// Commands, which a shell reads.
    Line,
    /// A program in the language of an interpreter.
    Code,
    /// A word, or a text that may be run.
    Perhaps,
}

impl Denied<'_> {
    fn words(&self, words: &[String], is_piped: bool, depth: usize) -> Verdict {
        if depth > MAX_DEPTH {
            return Err(hidden("commands stand in each other too often to look into all of them"));
        }
        let Some((program, arguments)) = words.split_first() else { return Ok(()) };
        if program.contains(char::is_whitespace) && depth > 0 {
            return self.line(program, depth + 1);
        }
        if hides(program) {
            return Err(hidden(&format!("which program `{program}` is")));
        }
        let name = base_name(program);
        let runs = |name: &str| SHELLS.contains(&name) || WRAPPERS.contains(&name) || READING_LINES.contains(&name);
        if runs(&name) || matches!(name.as_str(), "." | "source") {
            let is_known = |word: &&String| !word.starts_with('-') && shell::is_known_program(&base_name(word));
            let mut front = arguments.iter().take_while(|word| !is_known(word)).filter(|word| !is_text(word));
            let reads_file = SHELLS.contains(&name.as_str()) && name != "su" || matches!(name.as_str(), "." | "source");
            let is_input = |word: &str| depth > 0 && reads_file && (word == "-" || word.starts_with("/dev/"));
            if let Some(word) = front.find(|word| word.contains(['$', '`']) || is_input(word)) {
                return Err(hidden(&format!("what `{name}` makes of `{word}`")));
            }
        }
        let reads_input = SHELLS.contains(&name.as_str()) || INTERPRETERS.contains(&name.as_str());
        if is_piped && reads_input && arguments.iter().all(|word| word.starts_with('-')) {
            return Err(hidden(&format!("what `{name}` is sent")));
        }
        self.each(&name, words, depth)?;
        // A program that runs another one: what that makes of its words.
        let inner = arguments.iter().position(|word| {
            let name = base_name(word);
            !word.starts_with('-') && (SHELLS.contains(&name.as_str()) || INTERPRETERS.contains(&name.as_str()))
        });
        match inner.filter(|at| self.part(&name, words, at + 1) != Part::Text) {
            Some(at) => self.words(&arguments[at..], false, depth + 1),
            None => Ok(()),
        }
    }

    fn each(&self, name: &str, words: &[String], depth: usize) -> Verdict {
        let mut seen: Vec<String> = Vec::new();
        for (at, word) in words.iter().enumerate() {
            let part = if at == 0 { Part::Perhaps } else { self.part(name, words, at) };
            if part == Part::Text {
                continue;
            }
            seen.push(word.clone());
            if let Some((_, line)) = word.split_once("=!") {
                self.line(line, depth + 1)?;
            }
            match part {
                Part::Line if is_text(word) => {
                    self.line(word, depth + 1)?;
                    // `-o ProxyCommand='rm x'`
                    let value = shell::assignment(word).map(|(_, value)| value);
                    value.map_or(Ok(()), |line| self.line(line, depth + 1))?;
                }
                Part::Code => {
                    check_code(name, word)?;
                    tokens(word, &mut seen);
                }
                _ if is_text(word) || word.contains('=') => tokens(word, &mut seen),
                _ => {}
            }
        }
        let found = self.commands.iter().find(|denied| is_among(denied, &seen));
        found.map_or(Ok(()), |denied| {
            Err(Finding::new("command-denied", format!("the command `{}` is denied", denied.join(" "))))
        })
    }

    /// Each command of a text that a shell reads.
    fn line(&self, text: &str, depth: usize) -> Verdict {
        let pieces = pieces(text);
        if pieces.len() > MAX_PIECES || depth > MAX_DEPTH {
            return Err(hidden("there are too many commands to look at all of them"));
        }
        pieces.iter().try_for_each(|piece| {
            let words = shell::plain_words(&piece.text).unwrap_or_else(|_| loose(&piece.text));
            let begins = words.iter().take_while(|word| GRAMMAR.contains(&word.as_str())).count();
            self.words(&words[begins..], piece.is_piped, depth + 1)
        })
    }

    /// What a word behind a program is.
    fn part(&self, name: &str, words: &[String], at: usize) -> Part {
        let word = words[at].as_str();
        let before = if at > 1 { words[at - 1].as_str() } else { "" };
        if PRINTING.contains(&name) {
            return Part::Text;
        }
        let searches =
            SEARCHING.contains(&name) || name == "git" && words.get(1).is_some_and(|verb| verb == "grep") && at > 1;
        if searches {
            let runs = |option: &str| SEARCH_RUNS.iter().any(|run| option.starts_with(run));
            return if runs(word) || runs(before) { Part::Line } else { Part::Text };
        }
        let has_message = WITH_MESSAGES.contains(&name);
        let names_text = |option: &str| {
            let long = option.strip_prefix("--").map(|option| option.split('=').next().unwrap_or_default());
            let short = option.strip_prefix('-').filter(|rest| rest.bytes().all(|byte| byte.is_ascii_alphabetic()));
            long.is_some_and(|long| TEXT_OPTIONS.contains(&long))
                || has_message && short.is_some_and(|letters| letters.len() < 4 && letters.ends_with(['m', 'S', 'G']))
        };
        let is_glued = has_message && word.starts_with("-m") && word.len() > 2;
        if is_glued || names_text(before) && !before.contains('=') || word.contains('=') && names_text(word) {
            return Part::Text;
        }
        if INTERPRETERS.contains(&name) {
            return if is_text(word) { Part::Code } else { Part::Perhaps };
        }
        if SHELLS.contains(&name) || READING_LINES.contains(&name) { Part::Line } else { Part::Perhaps }
    }
}

/// Whether the words of a denied command stand among these, in their order.
fn is_among(denied: &[&str], words: &[String]) -> bool {
    let Some((program, rest)) = denied.split_first() else { return false };
    words.iter().enumerate().any(|(at, word)| {
        let follows = || {
            let mut behind = words[at + 1..].iter();
            rest.iter().all(|wanted| behind.any(|word| word == wanted))
        };
        (word == program || word.rsplit('/').next() == Some(program) || base_name(word) == *program) && follows()
    })
}

/// Code that starts a program and may hide which.
fn check_code(name: &str, code: &str) -> Verdict {
    let lower = code.to_ascii_lowercase();
    let has = |list: &[&str]| list.iter().any(|sign| lower.contains(sign));
    let of_awk =
        name.ends_with("awk") && ["system(", "| \"", "|\"", "|&", "getline"].iter().any(|sign| lower.contains(sign));
    if of_awk || has(&STARTING) && has(&HIDING) {
        return Err(hidden(&format!("which programs the code for `{name}` starts")));
    }
    Ok(())
}

/// Whether a word is more than one, or has signs of a shell in it.
fn is_text(word: &str) -> bool {
    word.contains(|c: char| c.is_whitespace() || ";|&()`<>\"'^!".contains(c))
        || word.contains('{') && word.contains(',')
}

/// Whether it cannot be seen which program a word is.
fn hides(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or_default();
    !matches!(name, "[" | "[[" | "{" | "}" | "?") && name.contains(['$', '`', '*', '?', '[', '{', '\\'])
}

/// The words in a text, as they stand and without what a shell takes away.
fn tokens(text: &str, seen: &mut Vec<String>) {
    let ends = |c: char| !(c.is_alphanumeric() || "_.+-/@%:~".contains(c));
    let bare = text.replace(['"', '\'', '\\'], "");
    let readings = [text, bare.as_str()];
    let readings = &readings[..if bare.len() < text.len() { 2 } else { 1 }];
    for token in readings.iter().flat_map(|reading| reading.split(ends)).filter(|token| !token.is_empty()) {
        seen.push(token.to_owned());
        // The first may be glued to the letter of its option: `-crm x`.
        let letters = token.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
        seen.extend((1..4).filter_map(|at| letters?.get(at..)).filter(|rest| !rest.is_empty()).map(str::to_owned));
    }
}

/// One command of a text.
struct Piece {
    text: String,
    /// Whether another one sends it something.
    is_piped: bool,
}

/// The commands of a text, as a shell parts them: not at signs in quotes. What is put in the place of a substitution is one too.
fn pieces(text: &str) -> Vec<Piece> {
    let mut found: Vec<Piece> = Vec::new();
    let (mut piece, mut quote, mut is_piped, mut in_backquotes) = (String::new(), None, false, false);
    let mut letters = text.chars().peekable();
    while let Some(c) = letters.next() {
        let substitutes = c == '`' || c == '$' && letters.peek() == Some(&'(');
        let parts = match quote {
            Some('\'') => false,
            Some(_) => substitutes,
            None => {
                substitutes
                    || ";|&\n\r()<>".contains(c)
                    || c == '{' && letters.peek().is_some_and(|c| c.is_whitespace())
            }
        };
        if parts {
            // What is left of a word tells that something is put in there.
            let opens = substitutes && !(c == '`' && in_backquotes);
            in_backquotes ^= c == '`';
            if opens && (!piece.ends_with(char::is_whitespace) || piece.trim().is_empty()) {
                piece.push('$');
            }
            if c == '<' && letters.peek() == Some(&'(') {
                piece.push_str(" $");
            }
            found.push(Piece { text: std::mem::take(&mut piece), is_piped });
            is_piped = c == '|';
            if substitutes && quote.is_some() {
                quote = None;
            }
            continue;
        }
        match c {
            '\'' | '"' if quote.is_none() => quote = Some(c),
            c if quote == Some(c) => quote = None,
            '\\' if quote != Some('\'') => {
                piece.push(c);
                piece.extend(letters.next());
                continue;
            }
            _ => {}
        }
        piece.push(c);
    }
    found.push(Piece { text: piece, is_piped });
    found.retain(|piece| !piece.text.trim().is_empty());
    found
}

/// The words of what no shell reads as one simple command.
fn loose(text: &str) -> Vec<String> {
    let bare = text.replace(['"', '\'', '\\'], "");
    let is_set = |word: &&str| shell::assignment(word).is_some();
    bare.split_whitespace().skip_while(is_set).map(str::to_owned).collect()
}

fn hidden(what: &str) -> Finding {
    Finding::new("command-denied", format!("{what} cannot be seen, and the grant denies commands"))
}
