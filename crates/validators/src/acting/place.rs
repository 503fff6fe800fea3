//! What a key lets a value be, which tools store texts, and where a path leads.

use std::collections::HashSet;
use std::sync::LazyLock;

use switchboard_policy::key_role::{self, Role};
use switchboard_policy::keys::{self, Key, Mark};
use switchboard_policy::risk::fallback::words;
use switchboard_protocol::mgp::security::ToolSecurity;

use super::is_path;

type Set = LazyLock<HashSet<&'static str>>;

macro_rules! tables {
    ($($(#[$about:meta])* $name:ident = $words:expr;)*) => {
        $($(#[$about])* static $name: Set = LazyLock::new(|| $words.split_whitespace().collect());)*
    };
}

tables! {
    /// What a tool stores or shows, in its name or in the first words of its description.
    STORED = "note notes memo memory memories file files document documents doc docs page pages comment comments issue issues \
        ticket tickets message messages email emails mail draft drafts snippet snippets post posts wiki card cards todo todos \
        thread threads reply review reviews journal knowledge entity entities observation observations gist \
        gists template templates prompt prompts thinking thought thoughts reminder reminders cell cells sheet slide slides block \
        blocks paragraph text texts diagram chart bookmark bookmarks article articles blog readme changelog report reports diary daily";
    /// Variables of the environment that make programs load code.
    LOADING = "LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES NODE_OPTIONS PYTHONSTARTUP PYTHONPATH PERL5OPT RUBYOPT \
        BASH_ENV PROMPT_COMMAND GIT_SSH_COMMAND GIT_SSH GIT_EXTERNAL_DIFF GIT_PAGER JAVA_TOOL_OPTIONS _JAVA_OPTIONS";
    /// Words for everybody.
    EVERYBODY = "public world everyone anyone anyone_with_link anonymous public-read public-read-write allusers";
    /// Words for all who could be written to.
    ALL_OF_THEM = "all external_only externalonly everyone";
}

/// Words of a description that tell what a tool is about.
const MAX_SAID: usize = 8;

/// How much a key lets a value be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// What is run.
    Command,
    /// A text.
    Text,
    /// A name: what stands behind an operator counts.
    Name,
    /// Nothing is known.
    Other,
}

/// What a key says.
pub(super) fn of(key: &str) -> Place {
    let last = Key::of(key).said_last();
    match key_role::of(key) {
        _ if last.has(Mark::Run) => Place::Command,
        Role::Command | Role::Commands | Role::CommandWords | Role::Script => Place::Command,
        _ if last.has(Mark::Text) => Place::Text,
        Role::Prose | Role::Content | Role::Code | Role::Query => Place::Text,
        _ if last.has(Mark::Name) => Place::Name,
        _ => Place::Other,
    }
}

/// Whether a yes under this key throws something away: `dropTarget`, `wipe_disk`.
/// In a tool that `looks`, `force` is more often about how it looks.
pub(super) fn takes_away(key: &str, looks: bool) -> bool {
    let begins = |word: &str| key.get(..word.len()).is_some_and(|front| front.eq_ignore_ascii_case(word));
    let said = Key::of(key);
    let harms = || said.whole() == key && said.said().has(Mark::Harms);
    if ["wipe", "purge", "destroy", "truncate"].iter().any(|word| begins(word)) || !looks && harms() {
        return true;
    }
    begins("drop") && said.words().nth(1).is_some_and(|what| keys::of_word(what).has(Mark::Dropped))
}

/// Whether a key is a variable of the environment that makes programs load code.
pub(super) fn loads_code(key: &str) -> bool {
    key.starts_with(|c: char| c.is_ascii_uppercase() || c == '_') && LOADING.contains(key)
}

/// Whether a key is for variables of the environment.
pub(super) fn is_environment(key: &str) -> bool {
    Key::of(key).has(Mark::Variables)
}

/// Whether a key names who gets copies from now on.
pub(super) fn forwards(key: &str) -> bool {
    Key::of(key).said().has(Mark::Forwards)
}

/// What a yes under this key, or this word, does to others: something is shown to everybody, or people are written to.
pub(super) fn reaches_others(key: &str, said: Option<&str>) -> Option<&'static str> {
    let is = |list: &HashSet<&str>, word: &str| {
        let lower = word.to_ascii_lowercase();
        list.contains(lower.as_str()) || list.contains(Key::of(&lower).whole())
    };
    let read = Key::of(key);
    if read.said().has(Mark::Shows) && said.is_none_or(|word| is(&EVERYBODY, word)) {
        // `visibility` and the like say who, not whether.
        let whether = said.is_some() || key.to_ascii_lowercase().contains("public");
        return whether.then_some("it has something shown to everybody");
    }
    let all = read.said().has(Mark::WritesTo) && said.is_none_or(|word| is(&ALL_OF_THEM, word));
    all.then_some("it has people written to")
}

/// Whether a key chooses what is done.
pub(super) fn chooses(key: &str) -> bool {
    Key::of(key).said_last().has(Mark::Chooses)
}

/// Words of names of tools that keep what they are given.
const KEEPING: [&str; 8] = ["append", "add", "write", "save", "insert", "log", "store", "record"];

/// Whether a tool stores or shows texts: its name says so, or its description where its name or an argument bears it out.
pub(super) fn stores_texts(name: &str, declared: &ToolSecurity) -> bool {
    let described = declared.subject.split('\n').nth(2).unwrap_or_default();
    let said: Vec<String> = words(described).into_iter().take(MAX_SAID).collect();
    let name = words(name);
    // A task that is created or changed is a text for people; one that is scheduled or registered may be run.
    let has = |list: &[&str]| name.iter().any(|word| list.contains(&word.as_str()));
    let is_todo = has(&["task", "tasks"]) && has(&["create", "update", "add", "edit"]);
    let takes_text = has(&KEEPING) || declared.properties.iter().any(|key| of(key) == Place::Text);
    is_todo
        || name.into_iter().any(|word| STORED.contains(word.as_str()))
        || takes_text && said.into_iter().any(|word| STORED.contains(word.as_str()))
}

/// Whether the strings under a key are names of files, or find such below a folder that another key names.
pub(super) fn names_file(key: &str) -> bool {
    is_path(key) || Key::of(key).said_last().has(Mark::Finds) && !leaves_out(key)
}

/// Whether a key is for what is not to be found.
fn leaves_out(key: &str) -> bool {
    Key::of(key).words().any(|word| word.starts_with("exclude") || word.starts_with("ignore"))
}

/// Whether a key says that a tool writes to what stands there.
pub(super) fn is_written(key: &str) -> bool {
    Key::of(key).has(Mark::Written)
}

/// Whether a string under a key may be a path or a piece of one: no text, no sort of something, nothing that is left out.
pub(super) fn may_name(key: &str) -> bool {
    let last = Key::of(key).said_last();
    let is_title = last.has(Mark::Finds) || last.has(Mark::Title);
    !last.has(Mark::Sort) && (of(key) != Place::Text || is_title) && !leaves_out(key)
}
