//! What a key lets a value be, which tools store texts, and where a path leads.

use std::collections::HashSet;
use std::sync::LazyLock;

use switchboard_policy::key_role::{self, Role};
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
    /// Last words of keys that hold a text or what is searched for: a command in it is spoken of.
    TEXTS = "content contents body text texts message messages description title summary comment comments note notes prompt prompts \
        question questions query queries q pattern patterns regex search keyword keywords term terms phrase markdown md html css \
        json xml csv yaml diff patch document documents doc docs subject reason explanation thought thoughts caption label labels \
        string str replacement answer answers observations observation facts fact memory memories rationale instructions prose email \
        template blob edits code source snippet example examples readme changelog find replace needle filter filters topic \
        transcript details detail sample samples reply caption headline bio quote story footer header headers";
    /// Last words of keys for what is run.
    COMMANDS = "command commands cmd cmds cmdline commandline exec run script shell args argv arg entrypoint hook hooks \
        arguments flags bash powershell";
    /// Last words of keys that name something: it may begin like a command.
    NAMES = "name names column columns field fields key keys title tag tags category artist track album";
    /// Last words of keys for names of files and for patterns that find them.
    FILES = "name names file files filename pattern patterns glob globs include includes mask";
    /// What a tool stores or shows, in its name or in the first words of its description.
    STORED = "note notes memo memory memories file files document documents doc docs page pages comment comments issue issues \
        ticket tickets message messages email emails mail draft drafts snippet snippets post posts wiki card cards todo todos \
        thread threads reply review reviews journal knowledge entity entities observation observations gist \
        gists template templates prompt prompts thinking thought thoughts reminder reminders cell cells sheet slide slides block \
        blocks paragraph text texts diagram chart bookmark bookmarks article articles blog readme changelog report reports";
    /// What is dropped as a whole.
    DROPPED = "target existing table tables database databases schema schemas collection collections all";
    /// Keys that throw something away where they are said yes to.
    HARMING = "force forced cascade overwrite hard no_verify auto_approve skip_confirmation delete_existing remove_existing \
        replace_existing delete_source recursive_delete permanently permanent hard_delete";
    /// Variables of the environment that make programs load code.
    LOADING = "LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES NODE_OPTIONS PYTHONSTARTUP PYTHONPATH PERL5OPT RUBYOPT \
        BASH_ENV PROMPT_COMMAND GIT_SSH_COMMAND GIT_SSH GIT_EXTERNAL_DIFF GIT_PAGER JAVA_TOOL_OPTIONS _JAVA_OPTIONS";
    /// Keys that name who gets copies from now on.
    FORWARDING = "forward forward_to forwarding forwarding_address auto_forward auto_forward_to redirect_to";
    /// Keys that say who gets to see something, and words for everybody.
    SHOWING = "visibility access_level sharing privacy general_access link_access is_public make_public public publicly_visible";
    EVERYBODY = "public world everyone anyone anyone_with_link anonymous public-read public-read-write allusers";
    /// Keys that have people written to, and words for all of them.
    WRITING = "send_updates send_notifications send_invitations send_invites send_email send_emails notify_attendees notify_users \
        notify_members notify_all email_attendees";
    ALL_OF_THEM = "all external_only externalonly everyone";
    /// Keys that choose what is done.
    CHOOSING = "action actions operation operations op ops service subcommand verb event function fn fun tool type state method \
        methods";
    /// Last words of keys for texts that name files as well.
    TITLES = "title document documents doc docs template";
    /// Words of keys for what a tool writes, also one that otherwise only looks: it converts or unpacks something.
    WRITTEN = "output out outfile outdir outpath dest destination save saved saves export";
    /// Last words of keys that say what sort something is: what stands there is nobody's path.
    SORTS = "tag tags category categories column columns field fields language languages package packages module modules dependency \
        dependencies type types kind kinds format formats event events";
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
    let last = last_word(key, |last| (TEXTS.contains(last), COMMANDS.contains(last)));
    match (last, key_role::of(key)) {
        ((_, true), _) | (_, Role::Command | Role::Commands | Role::CommandWords | Role::Script) => Place::Command,
        ((true, _), _) | (_, Role::Prose | Role::Content | Role::Code | Role::Query) => Place::Text,
        _ if last_word(key, |last| NAMES.contains(last)) => Place::Name,
        _ => Place::Other,
    }
}

/// Whether a yes under this key throws something away: `dropTarget`, `wipe_disk`.
/// In a tool that `looks`, `force` is more often about how it looks.
pub(super) fn takes_away(key: &str, looks: bool) -> bool {
    let begins = |word: &str| key.get(..word.len()).is_some_and(|front| front.eq_ignore_ascii_case(word));
    if ["wipe", "purge", "destroy", "truncate"].iter().any(|word| begins(word)) || !looks && HARMING.contains(key) {
        return true;
    }
    begins("drop") && words(key).get(1).is_some_and(|what| DROPPED.contains(what.as_str()))
}

/// Whether a key is a variable of the environment that makes programs load code.
pub(super) fn loads_code(key: &str) -> bool {
    key.starts_with(|c: char| c.is_ascii_uppercase() || c == '_') && LOADING.contains(key)
}

/// Whether a key is for variables of the environment.
pub(super) fn is_environment(key: &str) -> bool {
    key.len() >= 3
        && words(key).iter().any(|word| matches!(word.as_str(), "env" | "envs" | "environ" | "environment" | "envvars"))
}

/// Whether a key names who gets copies from now on.
pub(super) fn forwards(key: &str) -> bool {
    FORWARDING.contains(words(key).join("_").as_str())
}

/// What a yes under this key, or this word, does to others: something is shown to everybody, or people are written to.
pub(super) fn reaches_others(key: &str, said: Option<&str>) -> Option<&'static str> {
    // Most keys are spelled as they stand in the table, or are too long for it.
    let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    let is = |list: &HashSet<&str>, text: &str| {
        text.len() <= 24 && (list.contains(text) || !plain(text) && list.contains(words(text).join("_").as_str()))
    };
    if is(&SHOWING, key) && said.is_none_or(|word| is(&EVERYBODY, &word.to_ascii_lowercase())) {
        // `visibility` and the like say who, not whether.
        let whether = said.is_some() || key.to_ascii_lowercase().contains("public");
        return whether.then_some("it has something shown to everybody");
    }
    let all = is(&WRITING, key) && said.is_none_or(|word| is(&ALL_OF_THEM, &word.to_ascii_lowercase()));
    all.then_some("it has people written to")
}

/// Whether a key chooses what is done.
pub(super) fn chooses(key: &str) -> bool {
    last_word(key, |last| CHOOSING.contains(last))
}

fn last_word<T>(key: &str, is: impl Fn(&str) -> T) -> T {
    if key.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_') {
        return is(key.rsplit('_').next().unwrap_or_default());
    }
    is(words(key).last().map(String::as_str).unwrap_or_default())
}

/// Whether a tool stores or shows texts.
pub(super) fn stores_texts(name: &str, declared: &ToolSecurity) -> bool {
    let described = declared.subject.split('\n').nth(2).unwrap_or_default();
    let said = words(described).into_iter().take(MAX_SAID);
    let name = words(name);
    // A task that is created or changed is a text for people; one that is scheduled or registered may be run.
    let has = |list: &[&str]| name.iter().any(|word| list.contains(&word.as_str()));
    let is_todo = has(&["task", "tasks"]) && has(&["create", "update", "add", "edit"]);
    is_todo || name.into_iter().chain(said).any(|word| STORED.contains(word.as_str()))
}

/// Whether the strings under a key are names of files, or find such below a folder that another key names.
pub(super) fn names_file(key: &str) -> bool {
    let excludes = |word: &String| word.starts_with("exclude") || word.starts_with("ignore");
    is_path(key) || last_word(key, |last| FILES.contains(last)) && !words(key).iter().any(excludes)
}

/// Whether a key says that a tool writes to what stands there.
pub(super) fn is_written(key: &str) -> bool {
    key.len() > 2 && words(key).iter().any(|word| WRITTEN.contains(word.as_str()))
}

/// Whether a string under a key may be a path or a piece of one: no text, no sort of something, nothing that is left out.
pub(super) fn may_name(key: &str) -> bool {
    let leaves_out = |word: &String| word.starts_with("exclude") || word.starts_with("ignore");
    let is_title = || last_word(key, |last| FILES.contains(last) || TITLES.contains(last));
    !last_word(key, |last| SORTS.contains(last))
        && (of(key) != Place::Text || is_title())
        && !((key.contains("xclude") || key.contains("gnore")) && words(key).iter().any(leaves_out))
}
