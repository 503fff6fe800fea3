//! Which crates touch the outside: clocks, environment, files, processes, tasks of their own.
//!
//! A decision that reads a clock can only be tested by waiting, and one that reads a variable only by setting it. So each kind
//! of effect has a table of the places that may have it, with the reason; everywhere else the value is an argument. The
//! sentences of ARCHITECTURE.md that begin with "It knows no" rest on these tables and on those of the edges.

use std::path::Path;

/// One kind of effect.
struct Effect {
    /// What it is called in a refusal.
    name: &'static str,
    /// How it is written; the letter before must not belong to a longer name.
    calls: &'static [&'static str],
    /// Whole crates (`crates/peer/`) and single files that may have it.
    allowed: &'static [(&'static str, &'static str)],
    /// What to do instead.
    instead: &'static str,
}

const EFFECTS: &[Effect] = &[
    Effect {
        name: "reads a clock",
        calls: &["Instant::now(", "SystemTime::now(", "Timestamp::now(", "Zoned::now("],
        allowed: &[
            ("crates/audit/", "events have a time, and the writer waits"),
            ("crates/contextgraph/", "memories have a time"),
            ("crates/identity/", "tokens expire"),
            ("crates/gate/", "the edge of decisions: they take `now` from here"),
            ("crates/upstream/", "supervision waits and measures"),
            ("crates/exchange/", "calls have deadlines"),
            ("crates/services/", "answers carry times"),
            ("crates/kernel/", "assembly; what decides there is on its way to `flow`"),
            ("crates/peer/", "deadlines of requests"),
            ("crates/sdk/", "deadlines of handlers"),
            ("crates/transport/", "deadlines of connections"),
            ("crates/switchboard/", "commands"),
        ],
        instead: "take the time as an argument",
    },
    Effect {
        name: "reads the environment",
        calls: &["env::var(", "env::var_os(", "env::vars(", "env::vars_os(", "env::set_var(", "env::remove_var("],
        allowed: &[
            ("crates/config/src/expand.rs", "the one reader of variables for configurations"),
            ("crates/upstream/src/isolation.rs", "the search path of programs that are confined"),
            ("crates/upstream/src/package.rs", "where package runners keep what they installed"),
            ("crates/transport/src/child/", "what a child process is given"),
            ("crates/transport/src/confine/", "what a confined process is given"),
            ("crates/validators/src/screen/intent/fit.rs", "a measurement that is run by hand"),
            ("crates/switchboard/", "the program's own settings"),
        ],
        instead: "take the value as an argument, or read it in the binary",
    },
    Effect {
        name: "touches files",
        calls: &["fs::", "File::open(", "File::create(", "OpenOptions::new("],
        allowed: &[
            ("crates/audit/", "the journal"),
            ("crates/config/src/file.rs", "configuration files are read and replaced there"),
            ("crates/contextgraph/", "its database"),
            ("crates/identity/", "keys and the vault"),
            ("crates/gate/", "links in paths are followed where the file system is"),
            ("crates/store/", "the database"),
            ("crates/transport/", "sandboxes are made of files"),
            ("crates/upstream/src/package.rs", "what package runners installed"),
            ("crates/validators/src/screen/intent/fit.rs", "a measurement that is run by hand"),
            ("crates/switchboard/", "commands"),
        ],
        instead: "take the content as an argument",
    },
    Effect {
        name: "starts a process",
        calls: &["Command::new("],
        allowed: &[
            ("crates/transport/src/child/", "the one place that starts servers"),
            ("crates/transport/src/confine/", "the launcher of confined servers"),
            ("crates/switchboard/src/attach.rs", "the shared kernel of several clients"),
            ("crates/switchboard/src/commands/login.rs", "a browser for a login"),
        ],
        instead: "start it through `switchboard_transport::child`",
    },
    Effect {
        name: "starts a task or a thread",
        calls: &["tokio::spawn(", "thread::spawn(", "task::spawn_blocking(", "thread::Builder::new("],
        allowed: &[
            ("crates/audit/", "the writer of the log"),
            ("crates/bus/", "delivery"),
            ("crates/contextgraph/", "work beside calls"),
            ("crates/identity/", "keys are fetched beside requests"),
            ("crates/gate/", "questions outlive the request that asked them"),
            ("crates/upstream/", "one task leads each server"),
            ("crates/exchange/", "a parked call runs on"),
            ("crates/services/", "streams of events"),
            ("crates/kernel/", "its own set of tasks"),
            ("crates/peer/", "connections"),
            ("crates/store/", "databases block"),
            ("crates/transport/", "connections and children"),
            ("crates/switchboard/", "start-up"),
        ],
        instead: "return a future and let the caller spawn it",
    },
];

/// What a source file does to the outside without being in the table, one sentence a place.
pub(super) fn check(path: &Path, text: &str) -> Vec<String> {
    let shown = path.display().to_string();
    let is_source = shown.starts_with("crates/") && shown.contains("/src/") && shown.ends_with(".rs");
    if !is_source || shown.contains("/tests/") || shown.ends_with("/tests.rs") {
        return Vec::new();
    }
    // Tests stand at the end of a file.
    let lines = text.lines().enumerate().take_while(|(_, line)| line.trim() != "#[cfg(test)]");
    let code = lines.filter(|(_, line)| !line.trim_start().starts_with("//"));
    let mut found = Vec::new();
    for (number, line) in code {
        for effect in EFFECTS.iter().filter(|effect| !is_allowed(effect, &shown)) {
            if effect.calls.iter().any(|call| is_called(line, call)) {
                found.push(format!("{shown}:{}: {}; {}", number + 1, effect.name, effect.instead));
            }
        }
    }
    found
}

fn is_allowed(effect: &Effect, shown: &str) -> bool {
    effect.allowed.iter().any(|(place, _)| shown.starts_with(place))
}

fn is_called(line: &str, call: &str) -> bool {
    let is_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    line.match_indices(call).any(|(at, _)| !line[..at].ends_with(is_name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn effects_are_seen_where_they_have_no_place() {
        let cases = [
            ("crates/flow/src/a.rs", "let now = Instant::now();", 1),
            ("crates/flow/src/a.rs", "// Instant::now() is not called", 0),
            ("crates/peer/src/a.rs", "let now = Instant::now();", 0),
            ("crates/policy/src/a.rs", "std::env::var(\"HOME\")", 1),
            ("crates/validators/src/a.rs", "fs::read_to_string(path)", 1),
            ("crates/validators/src/a.rs", "let landlock_fs::x;", 0),
            ("crates/store/src/a.rs", "fs::read(path)", 0),
            ("crates/kernel/src/a.rs", "Command::new(\"sh\")", 1),
            ("crates/catalog/src/a.rs", "tokio::spawn(async {})", 1),
            ("crates/flow/src/a/tests.rs", "Instant::now()", 0),
            ("crates/flow/src/a.rs", "#[cfg(test)]\nInstant::now()", 0),
        ];
        for (path, text, expected) in cases {
            assert_eq!(check(Path::new(path), text).len(), expected, "{path}: {text}");
        }
    }

    #[test]
    fn every_place_in_the_tables_has_a_reason() {
        let places = EFFECTS.iter().flat_map(|effect| effect.allowed);
        assert!(places.clone().all(|(place, reason)| place.starts_with("crates/") && reason.len() > 5));
    }
}
