//! Which crates touch the outside: clocks, environment, files, processes, tasks of their own.
//!
//! A decision that reads a clock can only be tested by waiting, and one that reads a variable only by setting it. So each kind
//! of effect has a table of the places that may have it, with the reason; everywhere else the value is an argument. The
//! sentences of ARCHITECTURE.md that begin with "It knows no" rest on these tables and on those of the edges.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::code::{code, is_source};

/// One kind of effect.
struct Effect {
    /// What it is called in a refusal.
    name: &'static str,
    /// How it is written; where that begins with a name, the letter before must not belong to a longer one.
    calls: &'static [&'static str],
    /// Who may have it.
    allowed: &'static [Place],
    /// What to do instead.
    instead: &'static str,
}

/// Files of one crate that may have an effect.
struct Place {
    name: &'static str,
    /// Paths below `src`, or their beginnings; the whole crate where there are none.
    files: &'static [&'static str],
    why: &'static str,
}

const fn files(name: &'static str, files: &'static [&'static str], why: &'static str) -> Place {
    Place { name, files, why }
}

const fn all(name: &'static str, why: &'static str) -> Place {
    files(name, &[], why)
}

const EFFECTS: &[Effect] = &[
    Effect {
        name: "reads a clock",
        calls: &["Instant::now", "SystemTime::now", "Timestamp::now", "Zoned::now", ".elapsed()"],
        allowed: &[
            files("audit", &["events.rs", "recovery.rs", "trace.rs"], "events and traces have a time"),
            files("contextgraph", &["server.rs", "server/room.rs", "tools/utl.rs"], "memories have a time"),
            files("contextgraph", &["tools/gwt.rs"], "the time of a network of oscillators, which no clock tells"),
            files("identity", &["oidc.rs", "token_cache.rs", "vault.rs"], "tokens expire"),
            files("gate", &["attempt.rs", "permit.rs", "record.rs"], "what is put on record has a time, and took some"),
            files("gate", &["progress.rs"], "a client that hears of its call is told at intervals"),
            files(
                "gate",
                &["confirm.rs", "confirm/callback.rs", "confirm/ending.rs", "pending_confirmations.rs"],
                "a person is waited for",
            ),
            files(
                "gate",
                &["meters.rs", "negotiation.rs", "scopes.rs", "tables.rs"],
                "the edge of meters, tokens and grants: they take `now` from here",
            ),
            files(
                "upstream",
                &["server.rs", "server/pressure.rs", "server/supervisor.rs"],
                "the edge of machines: they take `now` from here",
            ),
            files("upstream", &["server/connection.rs", "server/health.rs", "server/watching.rs"], "supervision waits"),
            files(
                "upstream",
                &["server/confinement.rs", "server/in_flight.rs", "server/personal.rs", "server/states.rs"],
                "who called lately",
            ),
            files(
                "exchange",
                &["callbacks.rs", "parked.rs", "repeat_offender.rs", "tasks/", "streams/"],
                "the edge of machines and tables: they take `now` from here",
            ),
            files("exchange", &["forward.rs", "repeat.rs"], "calls are measured, and have deadlines"),
            files("exchange", &["rights_watch.rs"], "the watch over rights"),
            files("services", &["access.rs", "operator_actions.rs"], "decisions of operators have a time"),
            files(
                "services",
                &[
                    "discovery/methods.rs",
                    "events.rs",
                    "events/",
                    "lifecycle.rs",
                    "manifest.rs",
                    "manifest/upstream.rs",
                ],
                "answers carry times",
            ),
            files("services", &["registry/register.rs"], "a start is waited for"),
            files("clients", &["link.rs"], "a lost connection is not made again at once"),
            files("kernel", &["access.rs"], "read for a command"),
            files("kernel", &["house.rs"], "how long it has been up"),
            files(
                "kernel",
                &["kernel.rs", "kernel/housekeeping.rs", "kernel/waiting.rs"],
                "work beside calls, and waits for servers",
            ),
            files(
                "peer",
                &["client/http/timer.rs", "client/stdio.rs", "duplex.rs", "duplex/pending.rs", "server/http/"],
                "deadlines of requests and sessions",
            ),
            files("peer", &["oauth/"], "tokens expire"),
            files("sdk", &["clock.rs", "pieces.rs"], "deadlines of handlers"),
            files(
                "transport",
                &["child/guardian/process.rs", "http_client/pool.rs", "http_server/"],
                "deadlines of connections and processes",
            ),
            all("switchboard", "commands"),
        ],
        instead: "take the time as an argument",
    },
    Effect {
        name: "reads the environment",
        calls: &[
            "env::var",
            "env::set_var",
            "env::remove_var",
            "env::{",
            "env::current_dir",
            "env::set_current_dir",
            "env::home_dir",
        ],
        allowed: &[
            files("config", &["expand.rs"], "the one reader of variables for configurations"),
            files("gate", &["bases.rs", "own_files.rs"], "the folder and the home that paths are relative to"),
            files("services", &["registry/register.rs"], "the folder that a new server is asked about with"),
            files("transport", &["confine/launcher.rs"], "the folder that a confined server starts in"),
            files("upstream", &["isolation.rs"], "the folder that a confined server starts in"),
            files("upstream", &["package.rs"], "where package runners keep what they installed"),
            files(
                "transport",
                &["child/environment.rs", "child/search_path.rs", "child/spawn.rs"],
                "what a child process is given",
            ),
            all("switchboard", "the program's own settings"),
        ],
        instead: "take the value as an argument, or read it in the binary",
    },
    Effect {
        name: "touches files",
        calls: &["fs::", "File::open(", "File::create(", "OpenOptions::new(", "canonicalize("],
        allowed: &[
            files("audit", &["journal.rs", "journal/", "open_calls.rs", "recovery.rs"], "the journal"),
            files("config", &["file.rs"], "configuration files are read and replaced there"),
            files("config", &["load.rs"], "two paths may be one file"),
            files("contextgraph", &["store/sqlite.rs"], "its database"),
            files("identity", &["seal.rs", "tokens.rs"], "keys and the vault"),
            files(
                "gate",
                &["bases.rs", "own_files.rs", "resolve.rs"],
                "links in paths are followed where the file system is",
            ),
            files(
                "store",
                &["audit/evidence.rs", "audit/key.rs", "private.rs", "sqlite/"],
                "the database and its keys",
            ),
            files("transport", &["child/", "confine/"], "sandboxes are made of files"),
            files("upstream", &["package.rs"], "what package runners installed"),
            all("switchboard", "commands"),
        ],
        instead: "take the content as an argument",
    },
    Effect {
        name: "looks up names of hosts",
        calls: &["lookup_host", "to_socket_addrs"],
        allowed: &[
            files("gate", &["resolve.rs"], "hosts that a call names, before it is made"),
            files("peer", &["oauth/fetch.rs"], "an address is judged before it is fetched"),
            files("transport", &["confine/proxy.rs"], "the hosts that a confined server may reach"),
        ],
        instead: "take the addresses as an argument",
    },
    Effect {
        name: "starts a process",
        calls: &["Command::new("],
        allowed: &[
            files("transport", &["child/"], "the one place that starts servers"),
            files("transport", &["confine/"], "the launcher of confined servers"),
            files("switchboard", &["attach.rs"], "the shared kernel of several clients"),
            files("switchboard", &["commands/login.rs"], "a browser for a login"),
        ],
        instead: "start it through `switchboard_transport::child`",
    },
    Effect {
        name: "starts a task or a thread",
        calls: &["tokio::spawn(", "thread::spawn(", "task::spawn_blocking(", "thread::Builder::new(", "JoinSet::new("],
        allowed: &[
            files("audit", &["recovery.rs"], "files are read beside tasks"),
            files("audit", &["auditor.rs"], "an outcome is kept though its caller goes away"),
            all("contextgraph", "work beside calls"),
            files(
                "identity",
                &["token_cache.rs", "upstream_credentials.rs", "vault.rs"],
                "keys are fetched beside requests",
            ),
            files("gate", &["bases.rs", "own_files.rs", "resolve.rs"], "the file system blocks"),
            files(
                "gate",
                &["record.rs", "results.rs"],
                "an outcome is on record though nobody waits; long texts block",
            ),
            files(
                "services",
                &["discovery/index.rs", "registry/"],
                "an index is built beside requests; a caller may give up",
            ),
            files(
                "kernel",
                &["kernel.rs", "kernel/housekeeping.rs"],
                "the writer of the audit log, and notes of open calls",
            ),
            all("peer", "connections"),
            files("store", &["postgres/", "sql/", "sqlite.rs", "sqlite/"], "databases block"),
            files("transport", &["child/", "confine/", "http_client/pool.rs"], "connections and children"),
            files("upstream", &["package.rs"], "the file system blocks"),
            all("switchboard", "start-up"),
        ],
        instead: "return a future and let the caller spawn it, or use the tasks that end with the kernel",
    },
];

/// Whether a crate may have an effect anywhere.
pub(super) fn is_allowed_in(effect: &str, name: &str) -> bool {
    let effects = EFFECTS.iter().filter(|known| known.name == effect);
    effects.flat_map(|effect| effect.allowed).any(|place| place.name == name)
}

/// Crates whose `clippy.toml` does not say what the table says: one of its own, without the bans of the root, for who has effects
/// anywhere, and none for the rest.
pub(super) fn wrong_bans(files: &[PathBuf]) -> Vec<String> {
    let mut wrong = Vec::new();
    let crates: BTreeSet<&str> = files
        .iter()
        .filter_map(|path| path.strip_prefix("crates").ok()?.components().next()?.as_os_str().to_str())
        .collect();
    for name in crates {
        let has_effects = EFFECTS.iter().flat_map(|effect| effect.allowed).any(|place| place.name == name);
        let opts_out = files.contains(&PathBuf::from(format!("crates/{name}/clippy.toml")));
        match (has_effects, opts_out) {
            (true, false) => {
                wrong.push(format!("crate `{name}` has effects in effects.rs, and no clippy.toml that lets it"));
            }
            (false, true) => {
                wrong.push(format!("crate `{name}` has no effects in effects.rs: its clippy.toml lifts the bans"));
            }
            _ => {}
        }
    }
    wrong
}

/// What a source file does to the outside without being in the table, one sentence a place.
pub(super) fn check(path: &Path, text: &str) -> Vec<String> {
    if !is_source(path) {
        return Vec::new();
    }
    let shown = path.display().to_string();
    let mut found = Vec::new();
    for (number, line) in code(text) {
        for effect in EFFECTS.iter().filter(|effect| !is_allowed(effect, &shown)) {
            if effect.calls.iter().any(|call| is_called(line, call)) {
                found.push(format!("{shown}:{}: {}; {}", number + 1, effect.name, effect.instead));
            }
        }
    }
    found
}

/// Places of the tables that have nothing of what they may have: the tables say no more than is true.
pub(super) fn idle(sources: &[(&Path, &str)]) -> Vec<String> {
    let mut idle = Vec::new();
    for effect in EFFECTS {
        let has = |(_, text): &&(&Path, &str)| {
            code(text).any(|(_, line)| effect.calls.iter().any(|call| is_called(line, call)))
        };
        let with: Vec<String> = sources
            .iter()
            .filter(|(path, _)| is_source(path))
            .filter(has)
            .map(|(path, _)| path.display().to_string())
            .collect();
        for Place { name, files, why } in effect.allowed {
            let root = format!("crates/{name}/src/");
            let begins = |file: &&str| with.iter().any(|path| path.starts_with(&format!("{root}{file}")));
            let whole = [""];
            let files = if files.is_empty() { &whole[..] } else { files };
            let none = files.iter().filter(|file| !begins(file));
            idle.extend(
                none.map(|file| {
                    format!("{root}{file}: nothing there {} ({why}); take it out of effects.rs", effect.name)
                }),
            );
        }
    }
    idle
}

fn is_allowed(effect: &Effect, shown: &str) -> bool {
    effect.allowed.iter().any(|Place { name, files, .. }| {
        let inner = shown.strip_prefix("crates/").and_then(|rest| rest.strip_prefix(name));
        let inner = inner.and_then(|rest| rest.strip_prefix("/src/"));
        inner.is_some_and(|inner| files.is_empty() || files.iter().any(|file| inner.starts_with(file)))
    })
}

fn is_called(line: &str, call: &str) -> bool {
    let is_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    line.match_indices(call).any(|(at, _)| !call.starts_with(is_name) || !line[..at].ends_with(is_name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn effects_are_seen_where_they_have_no_place() {
        let cases = [
            ("crates/flow/src/a.rs", "let now = Instant::now();", 1),
            ("crates/flow/src/a.rs", "// Instant::now() is not called", 0),
            ("crates/peer/src/oauth/a.rs", "let now = Instant::now();", 0),
            ("crates/gate/src/meters.rs", "let now = Instant::now();", 0),
            ("crates/gate/src/rights.rs", "let now = Instant::now();", 1),
            ("crates/flow/src/a.rs", "began.unwrap_or_else(Instant::now)", 1),
            ("crates/flow/src/a.rs", "self.began.elapsed() > LIMIT", 1),
            ("crates/policy/src/a.rs", "std::env::var(\"HOME\")", 1),
            ("crates/policy/src/a.rs", "use std::env::var;", 1),
            ("crates/policy/src/a.rs", "use std::env::{self, var};", 1),
            ("crates/policy/src/a.rs", "std::env::current_dir()", 1),
            ("crates/policy/src/a.rs", "command.current_dir(folder)", 0),
            ("crates/policy/src/a.rs", "path.canonicalize()", 1),
            ("crates/policy/src/a.rs", "tokio::net::lookup_host(host)", 1),
            ("crates/validators/src/a.rs", "fs::read_to_string(path)", 1),
            ("crates/validators/src/a.rs", "let landlock_fs::x;", 0),
            ("crates/store/src/sqlite/a.rs", "fs::read(path)", 0),
            ("crates/kernel/src/a.rs", "Command::new(\"sh\")", 1),
            ("crates/catalog/src/a.rs", "tokio::spawn(async {})", 1),
            ("crates/flow/src/a/tests.rs", "Instant::now()", 0),
            ("crates/flow/src/a.rs", "#[cfg(test)]\nmod tests { Instant::now() }", 0),
            ("crates/flow/src/a.rs", "#[cfg(test)]\nmod tests;\n\nfn a() { Instant::now() }", 1),
        ];
        for (path, text, expected) in cases {
            assert_eq!(check(Path::new(path), text).len(), expected, "{path}: {text}");
        }
    }

    #[test]
    fn every_place_in_the_tables_has_a_reason() {
        assert!(EFFECTS.iter().flat_map(|effect| effect.allowed).all(|place| place.why.len() > 5));
        assert!(is_allowed_in("reads a clock", "gate") && !is_allowed_in("reads a clock", "flow"));
    }

    #[test]
    fn the_bans_of_clippy_are_lifted_for_who_has_effects() {
        let files = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<Vec<_>>();
        assert!(
            wrong_bans(&files(&["crates/gate/src/lib.rs", "crates/gate/clippy.toml", "crates/flow/src/lib.rs"]))
                .is_empty()
        );
        assert_eq!(wrong_bans(&files(&["crates/gate/src/lib.rs"])).len(), 1);
        assert_eq!(wrong_bans(&files(&["crates/flow/src/lib.rs", "crates/flow/clippy.toml"])).len(), 1);
    }

    #[test]
    fn a_place_that_needs_nothing_is_seen() {
        let rates = (Path::new("crates/gate/src/meters.rs"), "Instant::now()");
        let about = |found: &[String]| found.iter().any(|one| one.contains("gate/src/meters.rs"));
        assert!(!about(&idle(&[rates])) && about(&idle(&[])));
    }
}
