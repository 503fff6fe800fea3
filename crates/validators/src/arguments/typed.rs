//! What is typed into something that runs: a process, a terminal, a session. Each line of it may be a command there.

use switchboard_wire::{Kind, Object, Raw};

use super::MAX_DEPTH;
use crate::{Finding, Verdict};

/// Names of keys, as programs that type them have them.
const KEYS: [&str; 34] = [
    "tab",
    "escape",
    "esc",
    "space",
    "bspace",
    "backspace",
    "delete",
    "del",
    "insert",
    "up",
    "down",
    "left",
    "right",
    "home",
    "end",
    "pgup",
    "pgdn",
    "pageup",
    "pagedown",
    "ppage",
    "npage",
    "f1",
    "f2",
    "f3",
    "f4",
    "f5",
    "f6",
    "f7",
    "f8",
    "f9",
    "f10",
    "f11",
    "f12",
    "btab",
];
/// The same of keys that end a line, and how some write them in a text.
const ENDS: [&str; 7] = ["enter", "return", "c-m", "c-j", "kpenter", "ctrl+m", "ctrl+j"];
const MARKED_ENDS: [&str; 8] = ["<enter>", "<return>", "<cr>", "{enter}", "{return}", "[enter]", "<c-m>", "<newline>"];
/// Words that answer a question.
const ANSWERS: [&str; 14] =
    ["y", "n", "q", "yes", "no", "true", "false", "on", "off", "ok", "auto", "quit", "exit", ":q"];
/// Signs between commands.
const SEPARATORS: [char; 14] = [';', '|', '&', '(', ')', '<', '>', '{', '}', ',', '[', ']', ':', '`'];

/// The lines that are typed: each that is no key and no answer, in every way that keys may be read.
pub(super) fn lines(value: &Raw) -> Result<Vec<String>, Finding> {
    let mut found = Vec::new();
    collect(value, &mut found, 0);
    found.retain(|line| !is_harmless(line));
    match found.iter().find(|line| line.chars().any(char::is_control)) {
        // Such keys change what was typed before them, or put there what nobody sees.
        Some(_) => Err(Finding::new("typed-keys", "a key in the middle of a line may change what is typed")
            .suggest("send the line without tabs and control characters")),
        None => Ok(found),
    }
}

fn collect(value: &Raw, found: &mut Vec<String>, depth: usize) {
    if depth > MAX_DEPTH {
        return;
    }
    match value.kind() {
        Kind::String => of_text(&value.as_text().unwrap_or_default(), found),
        Kind::Array => {
            let elements = value.elements().unwrap_or_default();
            let texts: Vec<String> = elements.iter().filter_map(Raw::as_text).collect();
            let is_key = |text: &String| text.chars().count() == 1 || key(text).is_some();
            // Keys one by one, or lines.
            if !texts.iter().all(is_key) {
                elements.iter().for_each(|element| collect(element, found, depth + 1));
            }
            let typed: String = texts.iter().map(|text| key(text).unwrap_or(text)).collect();
            of_text(&typed, found);
        }
        Kind::Object => {
            let members = Object::open(value).ok();
            members.iter().flat_map(Object::iter).for_each(|(_, member)| collect(&member, found, depth + 1));
        }
        Kind::Number | Kind::Bool | Kind::Null => {}
    }
}

/// What a key puts there, by its name.
fn key(name: &str) -> Option<&'static str> {
    let lower = name.to_lowercase();
    let lower = lower.trim_matches(['<', '>', '{', '}']);
    if ENDS.contains(&lower) {
        return Some("\n");
    }
    let held = ["c-", "m-", "s-", "^", "ctrl+", "ctrl-", "alt+", "meta+", "shift+", "cmd+"];
    let is_held = held.iter().any(|front| lower.strip_prefix(front).is_some_and(|rest| rest.chars().count() == 1));
    match lower {
        "space" => Some(" "),
        _ if KEYS.contains(&lower) || is_held => Some(""),
        _ => None,
    }
}

fn of_text(text: &str, found: &mut Vec<String>) {
    let text = without_sequences(text);
    let mut text = text.replace(['\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'], "\n");
    let lower = text.to_ascii_lowercase();
    for end in MARKED_ENDS.iter().filter(|end| lower.contains(**end)) {
        while let Some(at) = text.to_ascii_lowercase().find(end) {
            text.replace_range(at..at + end.len(), "\n");
        }
    }
    let mut add = |line: &str| {
        // Blanks and keys in front of a line, and those that end it. A tab behind a word completes it.
        let line = line.trim_start_matches(|c: char| c.is_whitespace() || c.is_control());
        let line = line.trim_end_matches(|c: char| c != '\t' && (c.is_whitespace() || c.is_control()));
        if !line.is_empty() && !found.iter().any(|known| known == line) {
            found.push(line.to_owned());
        }
    };
    text.lines().for_each(&mut add);
    if text.contains(['"', '\'']) {
        return;
    }
    // `ls Enter rm x Enter`, and `\n` in letters.
    let words: Vec<&str> = text.split(' ').collect();
    let is_typed = words.iter().all(|word| word.chars().count() < 2 || key(word).is_some());
    let (parts, joint) = if is_typed { (true, "") } else { (words.iter().any(|word| key(word) == Some("\n")), " ") };
    if parts {
        let read: Vec<&str> =
            words.iter().map(|word| key(word).filter(|key| is_typed || *key == "\n").unwrap_or(word)).collect();
        read.join(joint).lines().for_each(&mut add);
    }
    if text.contains("\\n") || text.contains("\\r") {
        text.replace("\\r", "\n").replace("\\n", "\n").lines().for_each(&mut add);
    }
}

/// A text without the sequences by which terminals send keys: `ESC [ A`.
fn without_sequences(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(c) = letters.next() {
        match letters.next_if(|next| c == '\u{1b}' && matches!(next, '[' | 'O')) {
            Some(_) => {
                while letters.next_if(|c| c.is_ascii_digit() || *c == ';').is_some() {}
                letters.next();
                plain.push('\u{1b}');
            }
            None => plain.push(c),
        }
    }
    plain
}

/// Whether a line is an answer, a number or names of keys.
fn is_harmless(line: &str) -> bool {
    let is_key = |word: &str| key(word).is_some();
    ANSWERS.iter().any(|answer| line.eq_ignore_ascii_case(answer))
        || line.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b':'))
        || line.split(' ').all(is_key)
}

/// Whether nothing in a line is put there only when it runs.
pub(super) fn sees_all(line: &str) -> Verdict {
    let mut behind = line.split('$').skip(1);
    let is_variable =
        |rest: &str| rest.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '(' | '{' | '\''));
    if line.contains('`') || line.contains("<(") || behind.any(is_variable) {
        return Err(Finding::new("path-computed", "what is put into the line is only known when it runs")
            .suggest("write the path itself"));
    }
    Ok(())
}

/// The words of each piece of a line, as they stand and without their quotes.
pub(super) fn pieces(line: &str) -> Vec<Vec<String>> {
    let bare = line.replace(['"', '\'', '\\'], "");
    let readings = [line, bare.as_str()];
    let pieces = readings.iter().flat_map(|reading| reading.split(SEPARATORS));
    let words = pieces.map(|piece| piece.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
    words.filter(|words| !words.is_empty()).collect()
}
