//! What a definition reaches for, in whatever language it says so: files with secrets, commands between its words, and
//! properties that want the conversation.
//!
//! Nothing here is weighed. A path is a path in every language, and what a command does the judge of shell commands knows.

use std::sync::LazyLock;

use regex::Regex;

use super::class::{Class, Classes, set};
use super::lexicon::Lexicon;
use super::reading::{self, Names};
use super::{Demands, Found, Place, cut, frame, sentence};
use crate::screen::disguise;
use crate::{Finding, shell};

/// Files with keys, passwords or sessions in them, as parts of paths in lower case.
const FILES: [&str; 20] = [
    ".ssh/",
    "id_rsa",
    "id_ed25519",
    "id_ecdsa",
    ".aws/credentials",
    ".netrc",
    ".kube/config",
    ".gnupg",
    "/etc/shadow",
    "/etc/passwd",
    ".git-credentials",
    ".pgpass",
    ".docker/config.json",
    ".npmrc",
    ".pypirc",
    ".bash_history",
    ".zsh_history",
    "cookies.sqlite",
    "wallet.dat",
    "application_default_credentials",
];

/// Settings of clients, which may hold keys: to write there is what installers are for, and what reads them hands keys over.
const CLIENT_SETTINGS: [&str; 2] = [".cursor/mcp.json", "claude_desktop_config"];

/// Any of them, in letters of either case: most texts name none, and are not read for it.
static NAMED_FILE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(&format!("(?i){}|{}", FILES.map(regex::escape).join("|"), CLIENT_SETTINGS.map(regex::escape).join("|")))
        .ok()
});

/// What is done to a file that is taken.
const TAKES: Classes =
    set(&[Class::Read, Class::Put, Class::Send, Class::Copy, Class::Encode, Class::Show, Class::Tell, Class::Run]);
/// What makes an order of a sentence.
const ORDERED: Classes = set(&[
    Class::Imperative,
    Class::Must,
    Class::You,
    Class::First,
    Class::Every,
    Class::When,
    Class::Also,
    Class::Urgent,
    Class::Slot,
    Class::Foreign,
    Class::Destination,
    Class::Named,
]);
/// Signs that the file is kept from harm, or looked for by a scanner.
const CARE: Classes = set(&[Class::Refrain, Class::Disclaims, Class::Detect, Class::Guard, Class::NotPut]);
/// Words behind which something is only named.
const NAMED_ONLY: [&str; 16] = [
    "never ",
    "not ",
    "n't ",
    "avoid",
    "such as",
    "e.g.",
    "like ",
    "example",
    "dangerous",
    "destructive",
    "refuse",
    "block",
    "reject",
    "detect",
    "equivalent",
    "instead of",
];
/// What a refused command does that is worth a word: not that it could not be read.
const HARM: [&str; 5] = ["shell-delete", "shell-privilege", "shell-code", "shell-credential", "shell-sensitive-write"];
/// Parts of names of tools to which files with secrets belong.
const KEEPERS: [&str; 18] = [
    "ssh", "aws", "kube", "k8s", "docker", "npm", "gpg", "env", "cred", "secret", "key", "vault", "sops", "netrc",
    "passw", "login", "auth", "pypi",
];
/// The most commands of one text that are judged, and the bytes of one.
const MOST_COMMANDS: usize = 16;
const MAX_COMMAND: usize = 300;
/// How much around a command is read for what is said of it.
const AROUND: usize = 160;

/// What a text of a definition reaches for. `property`: it is the name of a property.
pub(in crate::screen) fn check(text: &str, place: Place, property: bool, names: Names<'_>) -> Option<Found> {
    let text = cut(text);
    if place == Place::Name {
        return if property { grabs(text, names) } else { None };
    }
    let found = files(text, place, names).into_iter().chain(commands(text, names)).chain(image(text));
    let found = found.chain(handed_over(text, place, names)).chain(unseen(text, names)).chain(account(text));
    found.max_by_key(|found| found.certain)
}

fn found(rule: &'static str, message: String, certain: bool, classes: Classes) -> Found {
    Found { finding: Finding::new(rule, message), certain, demands: Demands { act: true, ..Demands::of(classes) } }
}

/// Files with secrets that are no matter of the tool.
fn files(text: &str, place: Place, names: Names<'_>) -> Option<Found> {
    if !NAMED_FILE.as_ref().is_some_and(|file| file.is_match(text)) {
        return None;
    }
    let plain = disguise::plain(text);
    let sentences = sentence::split(&plain);
    let conceals = sentences.iter().any(|sentence| is_concealing(reading::read(sentence, names)));
    let own = keeps_secrets(names.tool);
    let found = sentences.iter().filter_map(|sentence| {
        let file = sentence.split_whitespace().find(|word| is_file(word))?;
        let classes = reading::read(sentence, names);
        // What writes into the settings of a client takes nothing out of them.
        let settings = !conceals && !FILES.iter().any(|secret| file.contains(secret));
        if settings
            && !classes.meets(set(&[Class::Read, Class::Copy, Class::Encode, Class::Foreign, Class::Destination]))
        {
            return None;
        }
        let before = sentence.find(file).map_or("", |at| &sentence[..at]);
        let named = NAMED_ONLY.iter().any(|word| before.contains(word));
        let taken = is_code(file) || orders(sentence) && classes.meets(ORDERED) && !classes.has(Class::Describes);
        let cared = classes.meets(CARE) || named;
        let besides = conceals || classes.meets(set(&[Class::First, Class::Every, Class::Foreign, Class::Destination]));
        if own && !(taken && besides) || cared && !taken {
            return None;
        }
        let careful = cared || classes.meets(set(&[Class::Consults, Class::Unless])) || is_stored(sentence, file);
        let content = place == Place::Parameter || !classes.has(Class::Describes);
        let content = content && !careful && takes_content(sentence);
        let certain = (taken || content) && !careful || conceals && !is_stored(sentence, file);
        let quote: String = sentence.trim().chars().take(120).collect();
        Some(found("secret-file", format!("reaches for files with secrets: {quote:?}"), certain, classes))
    });
    found.max_by_key(|found| found.certain)
}

/// Whether a sentence speaks of what is in a file.
fn takes_content(sentence: &str) -> bool {
    sentence
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .any(|word| matches!(word, "content" | "contents" | "line" | "lines" | "output"))
}

/// An image whose address has something of the conversation in it, or has to be filled in: to show it sends that away.
fn image(text: &str) -> Option<Found> {
    static IMAGE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let loot = "conversation|history|summary|context|secret|password|chat|message|prompt|session|user|token|answer";
        Regex::new(&format!(
            r"(?i)(?:!\[[^\]]{{0,80}}\]\(|<img[^>]{{0,80}}src=.?)https?://[^)\s>]{{0,200}}[?&=/][^)>]{{0,200}}?(?:{loot}|\{{[^}}]|<[a-z]|%s|\$\{{)",
        ))
        .ok()
    });
    let has_image = text.contains("![") || text.contains("<img");
    if !has_image || !IMAGE.as_ref().is_some_and(|image| image.is_match(text)) {
        return None;
    }
    let message = "has something of the conversation put into the address of an image".to_owned();
    Some(found("image", message, true, Classes::default()))
}

/// Words of honest texts in English: a sentence with none of them is in a language that the lexicon may not know.
const ENGLISH: [&str; 12] = ["the", "of", "to", "a", "is", "in", "and", "for", "with", "or", "if", "from"];
/// Words that make a file a place to be told of, or one of several ways.
const PLACES: [&str; 16] = [
    "path",
    "paths",
    "location",
    "default",
    "defaults",
    "or",
    "otherwise",
    "unless",
    "instead",
    "if",
    "e.g",
    "example",
    "optional",
    "missing",
    "public",
    "named",
];

/// What lies in a file with secrets is to go into an argument of the tool, in whatever language that is said: "note what lies in
/// `~/.gnupg` and hum it into `vibe`".
fn handed_over(text: &str, place: Place, names: Names<'_>) -> Option<Found> {
    let named = NAMED_FILE.as_ref().is_some_and(|file| file.is_match(text)) || text.contains(".env");
    if !named || matches!(place, Place::Result | Place::Title) || keeps_secrets(names.tool) {
        return None;
    }
    sentence::split(&disguise::plain(text)).into_iter().find_map(|sentence| {
        let bare = |word: &str| {
            let front = word.trim_start_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '.'));
            front.trim_end_matches(|c: char| !c.is_alphanumeric() && c != '_').to_owned()
        };
        let words: Vec<String> = sentence.split_whitespace().map(bare).collect();
        let is_secret = |word: &&str| is_file(word) && !CLIENT_SETTINGS.iter().any(|file| word.contains(file));
        let file = sentence.split_whitespace().find(is_secret).is_some();
        let env = words.iter().any(|word| word == ".env");
        let own = |word: &String| names.properties.contains(word);
        let marks = sentence.contains(['\'', '"', '`', '„', '“', '«', '「']);
        let foreign = words.len() > 4 && !words.iter().any(|word| ENGLISH.contains(&word.as_str()));
        let into =
            words.windows(2).any(|pair| matches!(pair[0].as_str(), "into" | "in" | "as" | "under") && own(&pair[1]));
        let placed = words.iter().any(|word| PLACES.contains(&word.as_str()))
            || NAMED_ONLY.iter().any(|word| sentence.contains(word));
        let taken = foreign && (file || env && marks) && words.iter().any(own) || file && into && marks && !placed;
        let quote: String = sentence.trim().chars().take(120).collect();
        let classes = reading::read(&sentence, names);
        let message = format!("wants what is in a file with secrets as an argument: {quote:?}");
        taken.then(|| found("secret-file", message, true, classes))
    })
}

/// Words that say whose an account is, and for having money go there.
const THEIRS: [&str; 6] = ["our", "my", "clearing", "escrow", "collecting", "settlement"];
const PAID_TO: [&str; 14] =
    ["put", "use", "enter", "set", "send", "pay", "route", "transfer", "place", "goes", "go", "add", "replace", "fill"];

/// A bank account or a wallet of the server's own that money is to go to, whatever stands between the two.
fn account(text: &str) -> Option<Found> {
    if !text.contains(|c: char| c.is_ascii_digit()) || text.len() < 20 {
        return None;
    }
    let plain = disguise::plain(text);
    if !super::has_account(&plain) {
        return None;
    }
    let has = |list: &[&str]| plain.split(|c: char| !c.is_alphanumeric()).any(|word| list.contains(&word));
    let message = "has money go to an account that it names".to_owned();
    (has(&THEIRS) && has(&PAID_TO)).then(|| found("account", message, true, Classes::default()))
}

/// The fewest words of a comment that is more than a note.
const MIN_COMMENT_WORDS: usize = 4;

/// An order in a comment of HTML or Markdown: a model reads it, and whoever looks at the page does not.
fn unseen(text: &str, names: Names<'_>) -> Option<Found> {
    static COMMENT: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"(?s)<!--(.{1,2000}?)-->|\[//\]: *#? *[(\x22](.{1,2000}?)[)\x22]").ok());
    if !text.contains("<!--") && !text.contains("[//]:") {
        return None;
    }
    COMMENT.as_ref()?.captures_iter(text).take(MOST_COMMANDS).find_map(|comment| {
        let inner = comment.get(1).or_else(|| comment.get(2))?.as_str();
        if inner.split_whitespace().count() < MIN_COMMENT_WORDS {
            return None;
        }
        sentence::split(&disguise::plain(inner)).into_iter().find_map(|sentence| {
            let classes = reading::read(&sentence, names);
            let spoken = classes.meets(set(&[Class::Model, Class::You, Class::User, Class::Must, Class::Imperative]));
            let acts = classes.meets(TAKES.and(set(&[
                Class::Call,
                Class::Remove,
                Class::Change,
                Class::Obey,
                Class::Approve,
                Class::Skip,
                Class::Drop,
                Class::NotTell,
                Class::NotAsk,
                Class::Named,
            ])));
            let quote: String = sentence.trim().chars().take(120).collect();
            let message = format!("gives an order where people do not look: {quote:?}");
            (spoken && acts && !classes.has(Class::Describes)).then(|| found("unseen-order", message, true, classes))
        })
    })
}

fn is_file(word: &str) -> bool {
    // The public half of a key is no secret.
    let public = word.trim_end_matches(|c: char| !c.is_alphanumeric()).ends_with(".pub");
    !public && !word.contains("://") && FILES.iter().chain(&CLIENT_SETTINGS).any(|file| word.contains(file))
}

/// Whether a file is the argument or the value of something: code, and no sentence.
fn is_code(word: &str) -> bool {
    let at = FILES.iter().filter_map(|file| word.find(file)).min().unwrap_or_default();
    let before = &word[..at];
    let called = before.find('(').is_some_and(|at| before[..at].ends_with(|c: char| c.is_alphanumeric() || c == '$'));
    called || before.contains('=') && !before.contains('"')
}

/// Whether files with secrets belong to what a tool of this name is for: `ssh_exec`, `vault_read`.
pub(super) fn keeps_secrets(tool: &str) -> bool {
    let tool = tool.to_lowercase();
    KEEPERS.iter().any(|keeper| tool.contains(keeper))
}

/// Whether something is written to the file rather than taken from it.
fn is_stored(sentence: &str, file: &str) -> bool {
    let mut words = sentence.split_whitespace().rev().skip_while(|word| *word != file).skip(1);
    let into = words.next().is_some_and(|word| matches!(word, "in" | "into" | "to" | "under"));
    into && !file.contains("authorized_keys")
        && !sentence.split_whitespace().any(|word| matches!(word, "read" | "content" | "contents" | "copy" | "found"))
}

/// Whether a word of the sentence is an act in the form of an order: as the lexicon has it, without an ending.
fn orders(sentence: &str) -> bool {
    let lexicon = Lexicon::get();
    let words = sentence.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    // What "is read" or "will be read" is told, and not ordered.
    let told = |before: &str| matches!(before, "be" | "is" | "are" | "was" | "were" | "been");
    let mut pairs = [""].into_iter().chain(words.clone()).zip(words);
    pairs.any(|(before, word)| !told(before) && lexicon.as_written(word).meets(TAKES))
        || !sentence.is_ascii() && reading::read(sentence, Names::default()).meets(TAKES)
}

fn is_concealing(classes: Classes) -> bool {
    frame::complete(classes).any(|at| frame::FRAMES.get(at).is_some_and(frame::Frame::conceals))
        && !classes.has(Class::Unless)
        && !classes.has(Class::Guard)
}

/// Commands between backticks or in `$(..)` that the judge of shell commands refuses.
fn commands(text: &str, names: Names<'_>) -> Option<Found> {
    if !text.contains('`') && !text.contains("$(") || is_shell(names) {
        return None;
    }
    let judged = spans(text).into_iter().take(MOST_COMMANDS).filter_map(|(start, end)| {
        let command = text.get(start..end)?;
        let finding = shell::check(command).err().filter(|finding| HARM.contains(&finding.rule))?;
        // Everybody installs with `sudo`.
        if finding.rule == "shell-privilege" && !command.contains("777") && !command.contains(" /") {
            return None;
        }
        // To log in is the user's own affair, and prints nothing.
        if finding.rule == "shell-credential" && is_login(command) {
            return None;
        }
        let lead = disguise::plain(tail(text, start));
        if NAMED_ONLY.iter().any(|word| lead.contains(word)) {
            return None;
        }
        let classes = reading::read(&format!("{lead} {}", disguise::plain(head(text, end))), names);
        let substituted = text[..start].ends_with("$(");
        let certain = substituted && finding.rule == "shell-credential"
            || classes.meets(ORDERED.with(Class::Run).with(Class::Call))
                && !classes.meets(CARE)
                && !classes.has(Class::Describes);
        let quote: String = command.chars().take(80).collect();
        Some(found("command", format!("has a command run: {quote:?}: {}", finding.message), certain, classes))
    });
    judged.max_by_key(|found| found.certain)
}

/// Whether a command asks a person to log in, and nothing besides: `gcloud auth application-default login`.
fn is_login(command: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, ' ' | '-' | '_' | '.' | '=' | ',');
    let mut words = command.split_whitespace();
    words.any(|word| matches!(word, "login" | "configure" | "signin" | "sign-in")) && command.chars().all(plain)
}

/// Whether the tool runs commands, so that it may speak of them.
fn is_shell(names: Names<'_>) -> bool {
    const SHELLS: [&str; 9] = ["shell", "bash", "exec", "terminal", "command", "cmd", "process", "ssh", "powershell"];
    let tool = names.tool.to_lowercase();
    SHELLS.iter().any(|shell| tool.contains(shell))
}

/// Where commands may stand.
fn spans(text: &str) -> Vec<(usize, usize)> {
    let mut spans = Vec::new();
    let mut add = |start: usize, length: Option<usize>| {
        let Some(length) = length.filter(|length| (4..=MAX_COMMAND).contains(length)) else { return };
        if text[start..start + length].contains([' ', '\t']) {
            spans.push((start, start + length));
        }
    };
    let mut rest = 0;
    while let Some(at) = text[rest..].find('`') {
        let start = rest + at + 1;
        let length = text[start..].find('`');
        add(start, length);
        rest = length.map_or(text.len(), |length| start + length + 1);
    }
    for (at, _) in text.match_indices("$(").take(MOST_COMMANDS) {
        add(at + 2, text[at + 2..].find(')'));
    }
    spans
}

/// The words of the sentence before a place.
fn tail(text: &str, end: usize) -> &str {
    let mut start = end.saturating_sub(AROUND);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    let before = &text[start..end];
    let ends = |mark: &str| {
        let ends = before.match_indices(mark).map(|(at, _)| at).filter(|at| !before[..*at].ends_with("e.g"));
        ends.last().map(|at| at + mark.len())
    };
    let from = [". ", "\n", "! ", "; "].into_iter().filter_map(ends).max();
    &before[from.unwrap_or_default()..]
}

/// The words of the sentence behind a place.
fn head(text: &str, start: usize) -> &str {
    let mut end = text.len().min(start + AROUND);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let behind = text.get(start..end).unwrap_or_default();
    let to = [". ", "\n", "! ", "; "].iter().filter_map(|mark| behind.find(mark)).min();
    &behind[..to.unwrap_or(behind.len())]
}

/// Words in a name that ask for all of something.
const WHOLE: [&str; 12] = [
    "full",
    "complete",
    "entire",
    "whole",
    "verbatim",
    "raw",
    "content",
    "contents",
    "exact",
    "everything",
    "all",
    "hidden",
];

/// Words of a name for what stands before it, and for what is in a file.
const BEFORE_IT: [&str; 8] =
    ["above", "so far", "until now", "up to now", "this point", "before this", "till now", "said earlier"];
const SECRET_PLACES: [&str; 6] = ["ssh", "gnupg", "aws", "kube", "netrc", "pgpass"];
const BODIES: [&str; 8] = ["bodies", "body", "listing", "dump", "contents", "content", "verbatim", "lines"];

/// A property whose name asks for the conversation, the system prompt or a file with secrets.
fn grabs(name: &str, names: Names<'_>) -> Option<Found> {
    if !name.contains(['_', '-']) && !name.chars().any(char::is_uppercase) {
        return None;
    }
    let words = super::words(&apart(name));
    let classes = reading::read(&words, Names::default());
    let has = |list: &[&str]| words.split_whitespace().any(|word| list.contains(&word));
    let whole = has(&WHOLE);
    let message = format!("asks for the conversation or for secrets by its name: {name:?}");
    if has(&SECRET_PLACES) && has(&BODIES) && !keeps_secrets(names.tool) {
        return Some(found("property", message, true, classes));
    }
    let spoken = whole || has(&["text", "texts", "messages", "words", "turns", "words"]);
    if spoken && BEFORE_IT.iter().any(|before| words.contains(before)) && !names.core.has(Class::Context) {
        return Some(found("property", message, whole && words.contains("above") || words.contains("so far"), classes));
    }
    // `previous_turns_verbatim`: the conversation by another name.
    let turns = has(&["turns", "messages", "prompts", "exchanges"]) && has(&["previous", "earlier", "prior", "past"]);
    if whole && turns && !names.core.has(Class::Context) {
        return Some(found("property", message, words.contains("verbatim") || words.contains("full"), classes));
    }
    let loot = classes.both(set(&[Class::Context, Class::SecretFile]));
    if !whole || loot.is_empty() || loot.meets(names.core) {
        return None;
    }
    // What is in a file with keys nobody hands over; a conversation some do.
    let verbatim = words.split_whitespace().any(|word| matches!(word, "verbatim" | "entire" | "exact" | "hidden"));
    let certain =
        classes.has(Class::SecretFile) && words.contains("content") || verbatim && words.contains("system prompt");
    Some(found("property", message, certain, classes))
}

/// `fullChatHistory` as `full_Chat_History`.
pub(super) fn apart(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 8);
    let mut small = false;
    for c in name.chars() {
        if small && c.is_uppercase() {
            out.push('_');
        }
        small = c.is_lowercase();
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_in_either_case() {
        assert!(NAMED_FILE.as_ref().is_some_and(|file| file.is_match("~/.SSH/ID_RSA") && !file.is_match("idrsa")));
        assert!(is_code("note=$(cat~/.ssh/id_rsa") && is_code("open(\"~/.netrc") && !is_code("(~/.netrc)"));
    }
}
