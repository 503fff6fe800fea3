//! A line for a shell, or a program, in a value that nothing is known about.
//!
//! Every piece between operators counts whose first word is the name of a program and whose other words have the form of a
//! command: an option, a path. Names that are words of every sentence (`find`, `make`, `kill`) need an option. What the table of
//! the shell understands as harmless is none.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::LazyLock;

use crate::arguments::command_line;
use crate::shell;

/// Pieces of one value that are looked at.
const MAX_PIECES: usize = 128;
/// Lines of a pipeline that are looked at; longer ones than any are not.
const MAX_LINES: usize = 1_000;
/// What ends a command or begins another one.
const SEPARATORS: [char; 10] = [';', '|', '&', '\n', '\r', '(', ')', '<', '>', '`'];

/// Names of programs that are words of every text.
static COMMON: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    "as at bc cal cat cut date du expr file find fold go head host id install join kill last less link login look make man more \
     node paste pr read service set sort split stat strings sum tail tag test time top touch tree true type users wait watch \
     which who write yes convert import display compare dot open play say screen export env false get hash list local map mark \
     match message nice note pack page pass patch ping reset run script size sleep start state store task tools unit update up \
     view word words add all black build check clear column command common complete copy echo print move del net format at"
        .split_whitespace()
        .collect()
});
/// Programs that the table of what is harmless has no line for, and whose names begin no sentence.
static PLAINLY: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    "rm dd chmod chown sh bash zsh dash ksh curl wget nc ncat sudo doas su rmdir mv cp ln shred mkfs fdisk parted mount umount \
     shutdown reboot halt poweroff init crontab iptables ufw pkill killall powershell pwsh cmd osascript systemctl ssh scp rsync \
     sftp ftp telnet socat useradd userdel usermod passwd visudo insmod rmmod eval exec nohup xargs perl ruby php python python3 \
     kubectl helm terraform aws gcloud az psql mysql mongosh redis-cli sqlite3 apt apt-get yum dnf brew npm npx pip pip3 docker \
     podman git remove-item invoke-expression iex invoke-webrequest stop-computer restart-computer format-volume rd taskkill \
     schtasks reg certutil bitsadmin wmic truncate wipefs chattr tar unzip launchctl defaults diskutil"
        .split_whitespace()
        .collect()
});
/// Programs that run what is piped into them.
const INTERPRETERS: [&str; 9] = ["sh", "bash", "zsh", "dash", "ksh", "python", "python3", "perl", "node"];
/// Pieces of programs that reach for processes or delete, in lower case.
const REACHING: [&str; 24] = [
    "os.system(",
    "subprocess.",
    "child_process",
    "execsync(",
    "spawnsync(",
    "__import__(",
    "shutil.rmtree(",
    "os.remove(",
    "os.unlink(",
    "unlinksync(",
    "rmsync(",
    "shell_exec(",
    "passthru(",
    "proc_open(",
    "popen(",
    "getruntime().exec",
    "os.execute(",
    "do shell script",
    "dropdatabase(",
    "createobject(\"wscript.shell",
    "__subclasses__",
    "processbuilder(",
    "runtime.exec(",
    "invoke-expression",
];

/// Whether the name of a program is a word of every text as well.
pub(crate) fn is_word_of_texts(program: &str) -> bool {
    COMMON.contains(program)
}

/// What a text is, where it holds a command that is more than a look. A name may begin like one.
pub(super) fn within(text: &str, is_name: bool) -> Option<String> {
    // Nothing but a command in backquotes: a shell puts what it says in its place. In a sentence these are only marks.
    let quoted = text.trim().strip_prefix('`').and_then(|rest| rest.strip_suffix('`'));
    if let Some(inner) = quoted.filter(|inner| !inner.contains('`') && form(inner) == Some(Form::Sure)) {
        return Some(told(inner));
    }
    let mut piped = false;
    let mut begin = 0;
    for (count, piece) in text.split(SEPARATORS).enumerate().take(MAX_PIECES) {
        let bare = &*without_quotes(bare(piece));
        if piped && INTERPRETERS.contains(&bare) {
            return Some("it pipes something into an interpreter".to_owned());
        }
        if let Some(form) = form(bare).filter(|_| count > 0 || !is_name) {
            let operators = form == Form::Plain && bare.len() < text.trim().len();
            let judged = if count == 0 && (operators || form == Form::Sure) { text } else { bare };
            // Nobody writes a substitution where no shell reads it.
            let substituted = text[..begin].ends_with("$(");
            let acts = (form == Form::Sure || operators) && (substituted || shell::check(judged).is_err());
            if acts {
                return Some(told(bare));
            }
        }
        begin += piece.len();
        piped = text[begin..].starts_with('|');
        begin += text[begin..].chars().next().map_or(0, char::len_utf8);
    }
    None
}

/// The same of the lines of a pipeline or a hook: `- run: curl http://x | sh`.
pub(super) fn in_pipeline(text: &str) -> Option<String> {
    const KEYS: [&str; 9] =
        ["run:", "script:", "command:", "entrypoint:", "before_script:", "after_script:", "entry:", "bash:", "args:"];
    text.lines().take(MAX_LINES).find_map(|line| {
        let mut line = line.trim().trim_start_matches("- ").trim_start();
        if let Some(rest) = KEYS.iter().find_map(|key| line.strip_prefix(key)) {
            line = rest.trim().trim_start_matches(['|', '>']).trim_start_matches("- ").trim();
        }
        // What is secret there is handed to what sends it, or printed.
        let sends = line.contains("secrets.") && ["curl", "wget", "echo", "nc "].iter().any(|word| line.contains(word));
        if sends { Some("a secret of the pipeline leaves it".to_owned()) } else { within(line, false) }
    })
}

/// The same of words in a list.
pub(super) fn of_words(words: &[String]) -> Option<String> {
    let line = command_line(words);
    let acts = form(&line)? == Form::Sure && shell::check(&line).is_err();
    acts.then(|| told(&line))
}

/// What a text is, where it is a program that reaches for processes or deletes.
pub(super) fn in_code(text: &str) -> Option<String> {
    if !text.contains(['(', '_', '.']) && !text.contains("shell") {
        return None;
    }
    let lower = text.to_ascii_lowercase();
    REACHING
        .iter()
        .any(|piece| lower.contains(piece))
        .then(|| "it reads as a program that runs or deletes something".to_owned())
}

fn told(line: &str) -> String {
    format!("`{}` reads as a command", shown(line))
}

/// The beginning of a line, as it is shown in backquotes.
pub(super) fn shown(line: &str) -> String {
    let shown: String = line.chars().take(64).collect();
    shown.replace('`', "'")
}

/// A piece without quotes around it, and without the signs that editors and prompts have in front of a command.
fn bare(piece: &str) -> &str {
    let piece = piece.trim().trim_matches(['"', '\'']);
    timeless(piece.trim_start_matches(['$', '!', ':', '#', '%', ' ', '@']).trim())
}

/// A piece whose program is written without the quotes and backslashes that a shell takes out of it: `'rm' -rf x`.
fn without_quotes(piece: &str) -> Cow<'_, str> {
    let (program, rest) = piece.split_at(piece.find(char::is_whitespace).unwrap_or(piece.len()));
    if !program.contains(['"', '\'', '\\']) {
        return Cow::Borrowed(piece);
    }
    Cow::Owned(program.replace(['"', '\'', '\\'], "") + rest)
}

/// A line of a table of times without the times: `*/5 * * * * sh x`, `reboot sh x`.
fn timeless(line: &str) -> &str {
    let is_time = |word: &str| {
        !word.is_empty()
            && word.bytes().all(|byte| byte.is_ascii_digit() || b"*/,-".contains(&byte))
            && word.len() <= 16
    };
    let mut rest = line;
    for _ in 0..5 {
        match rest.split_once(' ') {
            Some((word, behind)) if is_time(word) => rest = behind.trim_start(),
            _ => return line,
        }
    }
    rest
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// A program with an option or a path.
    Sure,
    /// A program whose name begins no sentence, with other words.
    Plain,
}

/// The form of a command that a piece has.
fn form(piece: &str) -> Option<Form> {
    // Names of programs begin with a small letter or a path; those of PowerShell have a dash.
    let first = piece.split([' ', '\t']).next().unwrap_or_default();
    let begins = first.bytes().next()?;
    if first.len() > 64 || !(begins.is_ascii_alphabetic() || matches!(begins, b'/' | b'.' | b'~')) {
        return None;
    }
    // A blank may be written as a variable.
    let spread;
    let piece = if piece.contains("${IFS}") || piece.contains("$IFS") {
        spread = piece.replace("${IFS}", " ").replace("$IFS", " ");
        spread.as_str()
    } else {
        piece
    };
    let mut behind = piece.split_whitespace();
    let program = behind.next()?;
    let program = program.rsplit('/').next().unwrap_or(program).to_ascii_lowercase();
    let is_small = begins.is_ascii_lowercase() || program.contains('-') || !begins.is_ascii_alphabetic();
    let plainly = is_small && PLAINLY.contains(program.as_str());
    if !(plainly || begins.is_ascii_lowercase() && shell::is_known_program(&program)) {
        return None;
    }
    let is_common = COMMON.contains(program.as_str());
    let (mut option, mut path, mut words) = (false, false, 0_usize);
    let mut behind = behind.take(32).peekable();
    while let Some(word) = behind.next() {
        words += 1;
        // `set -5 degrees`, `nice --really`: behind words of every text numbers and dashes are only that.
        let is_last = behind.peek().is_none();
        let is_dash = |word: &str| {
            let is_number = word[1..].bytes().all(|byte| byte.is_ascii_digit());
            is_number || word.starts_with("--") && !word.contains('=') && is_last && words == 1
        };
        if is_common && word.starts_with('-') && is_dash(word) {
            continue;
        }
        let mut bytes = word.bytes();
        match (bytes.next(), bytes.next()) {
            (Some(b'-'), Some(next)) => option |= next.is_ascii_alphanumeric() || next == b'-' && word.len() > 3,
            (Some(b'/' | b'~'), Some(_)) => path = true,
            _ => {
                path |= word.starts_with("./")
                    || word.starts_with("../")
                    || word.contains("://")
                    || word.contains(['*', '='])
            }
        }
    }
    if option || path && plainly && !COMMON.contains(program.as_str()) {
        return Some(Form::Sure);
    }
    (plainly && words > 0 && !COMMON.contains(program.as_str())).then_some(Form::Plain)
}
