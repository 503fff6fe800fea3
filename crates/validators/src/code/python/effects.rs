//! What a program does unasked: files that it deletes, overwrites or reads, what it sends away, what it tells services and
//! databases to destroy. Results written into the folder in which it runs, temporary files, what it made itself, and
//! requests that ask for something are left alone; about the rest a person is asked.

use ruff_text_size::TextSize;

use super::Checker;
use super::calls::Arguments;
use super::fold;
use super::rules::effects::{self, FileEffect};
use super::value::{Source, Val};
use crate::code::places::{self, Place};
use crate::code::{known, statements, verbs};

/// Functions that only look at what they are given.
const LOOKS: &str = "add_argument append basename dirname endswith exists expanduser expandvars fspath fnmatch is_dir is_file isabs \
     isdir isfile islink join joinpath match normpath print relpath samefile search split splitext startswith stat \
     lstat getsize getmtime access abspath realpath load_dotenv dotenv_values find_dotenv SettingsConfigDict info \
     debug warning error exception critical log echo len str repr isinstance sorted list set tuple index count \
     replace format removeprefix removesuffix remove discard compile sub findall ValueError FileNotFoundError";

/// What is known of the file that a value names.
enum Target {
    Known(String),
    /// It was found in this folder.
    Found(String),
    /// Read out of a file or fetched, or answered by what nobody can say.
    Told,
    /// Chosen by whoever starts the program, or made up for the time being.
    Chosen,
    Opaque,
    Unknown,
}

impl Checker<'_> {
    /// A function is called by its qualified name.
    pub(super) fn judge_function(&mut self, path: &str, arguments: &Arguments, at: TextSize) {
        let Some(effect) = effects::of_function(path) else { return };
        let file = arguments.get(0).or_else(|| {
            ["file", "path", "filename", "src", "name", "database", "fd"]
                .iter()
                .find_map(|name| arguments.keyword(name))
        });
        let second = arguments.get(1).or_else(|| arguments.keyword("dst"));
        self.file_effect(path, effect, file, second, arguments, at);
    }

    /// A method of a path.
    pub(super) fn judge_file_method(&mut self, file: &Val, name: &str, arguments: &Arguments, at: TextSize) {
        let Some(effect) = effects::of_method(name) else { return };
        let file = Val::File(file.clone().into());
        self.file_effect(name, effect, Some(&file), arguments.get(0), arguments, at);
    }

    fn file_effect(
        &mut self,
        name: &str,
        effect: FileEffect,
        file: Option<&Val>,
        second: Option<&Val>,
        arguments: &Arguments,
        at: TextSize,
    ) {
        match effect {
            FileEffect::Delete => self.deletes(name, file, at),
            FileEffect::Move => {
                let from = targets(file);
                let to = targets(second);
                let to_kept =
                    to.iter().any(|target| matches!(target, Target::Known(path) if places::is_replaced(path)));
                let inside = |target: &Target| match target {
                    Target::Known(path) => places::of(path) == Place::Inside && !places::decides(path),
                    Target::Found(folder) => places::of(folder) == Place::Inside,
                    Target::Opaque | Target::Told | Target::Unknown => false,
                    Target::Chosen => true,
                };
                let temporary =
                    |target: &Target| matches!(target, Target::Known(path) if places::of(path) == Place::Temporary);
                let replaces = |target: &Target| matches!(target, Target::Known(path) if places::decides(path) || places::is_store(path));
                let fine = from.iter().all(temporary)
                    && !to.iter().any(replaces)
                    && to.iter().all(|t| inside(t) || temporary(t))
                    || from.iter().chain(&to).all(inside);
                // `replace` of a text has two.
                let of_text = name == "replace" && arguments.positional.len() > 1;
                let fine = fine && !(self.judging && !of_text && self.takes_place(file, second));
                if !fine && self.judging {
                    self.ask_effect(
                        at,
                        "code-delete",
                        format!("`{name}` moves away what is not known to be the program's own"),
                    );
                }
                if let (true, Some(to)) = (fine, second)
                    && !to_kept
                {
                    self.note_made(to);
                }
            }
            FileEffect::Write => self.writes(name, file, false, at),
            FileEffect::Copy => {
                self.reads(name, file, at);
                self.writes(name, second, false, at);
            }
            FileEffect::Link => {
                self.writes(name, second, false, at);
                self.writes(name, file, false, at);
            }
            FileEffect::Read => {
                let code = |target: &Target| matches!(target, Target::Known(path) if places::decides(path));
                // A database is written into the file that it is told to use.
                if name.ends_with(".connect") && self.judging && targets(file).iter().any(code) {
                    self.ask_effect(at, "code-reach", format!("`{name}` writes over what decides what runs later"));
                }
                let hidden = |value: &Val| {
                    let last = value.as_str().map(|text| text.rsplit('/').next().unwrap_or(text));
                    last.is_some_and(|last| last.starts_with('.') && last.contains(['*', '?', '[']))
                };
                if name.contains("glob") && self.judging && arguments.positional.iter().any(hidden) {
                    self.ask_effect(at, "code-reach", format!("`{name}` looks for hidden files"));
                }
                self.reads(name, file, at);
            }
            FileEffect::Open => {
                let of_method = matches!(file, Some(Val::File(_))) && name == "open";
                let mode = if of_method { arguments.get(0) } else { arguments.get(1) };
                let mode = mode.or_else(|| arguments.keyword("mode")).or_else(|| arguments.keyword("flags"));
                let has = |letters: &[char]| {
                    mode.is_some_and(|mode| {
                        mode.each().iter().any(|mode| match mode {
                            Val::Text(mode) => mode.contains(letters),
                            Val::Path(flags) => !flags.ends_with("O_RDONLY"),
                            Val::Int(flags) => *flags != 0,
                            _ => true,
                        })
                    })
                };
                if has(&['w', 'a', 'x', '+']) {
                    self.writes(name, file, has(&['w']), at);
                }
                let by_flags = name == "os.open" && has(&['w']);
                let kept = |target: &Target| matches!(target, Target::Known(path) if places::is_kept(path) && (by_flags || !self.made.contains(tidy(path))));
                let in_place = by_flags || has(&['+']) && !has(&['w', 'x', 'a']);
                let others = |target: &Target| matches!(target, Target::Known(path) if places::of(path) != Place::Temporary && !self.made.contains(tidy(path)));
                let changed = || targets(file).iter().any(|target| kept(target) || !by_flags && others(target));
                if in_place && self.judging && changed() {
                    self.ask_effect(at, "code-delete", format!("`{name}` changes a document or a store in place"));
                }
                if !has(&['w', 'a', 'x']) {
                    self.reads(name, file, at);
                }
            }
        }
    }

    pub(super) fn ask_effect(&mut self, at: TextSize, rule: &'static str, message: String) {
        self.ask(at, rule, message, Some("a person has to agree"));
    }

    fn deletes(&mut self, name: &str, file: Option<&Val>, at: TextSize) {
        if !self.judging {
            return;
        }
        let own = |target: &Target| match target {
            Target::Known(path) => {
                places::of(path) == Place::Temporary
                    || places::of(path) == Place::Inside
                        && (places::is_generated(path) || self.made.contains(tidy(path)))
            }
            Target::Found(folder) => places::of(&format!("{folder}/x")) == Place::Temporary,
            Target::Opaque | Target::Told | Target::Chosen | Target::Unknown => false,
        };
        let found = targets(file);
        if found.is_empty() || !found.iter().all(own) {
            self.ask_effect(at, "code-delete", format!("`{name}` deletes what is not known to be the program's own"));
        }
    }

    /// Notes a file that the program makes.
    fn note_made(&mut self, file: &Val) {
        for path in fold::path_text(file).each().iter().filter_map(Val::as_str) {
            if places::of(path) == Place::Inside && !places::decides(path) && self.made.len() < 256 {
                self.made.insert(tidy(path).to_owned());
            }
        }
    }

    fn writes(&mut self, name: &str, file: Option<&Val>, whole: bool, at: TextSize) {
        if let Some(file) = file
            && (whole
                || matches!(name, "write_text" | "write_bytes" | "mkdir" | "os.mkdir" | "os.makedirs" | "shutil.copy"))
        {
            self.note_made(file);
        }
        if !self.judging {
            return;
        }
        let makes_folder = name.ends_with("mkdir") || name.ends_with("makedirs");
        for target in targets(file) {
            match target {
                Target::Known(path) if places::is_device(&path) => {
                    self.refuse(at, "code-delete", format!("`{name}` writes to the device `{path}`"), None);
                }
                Target::Known(path)
                    if path.contains("://") && !path.starts_with("file:") && !path.starts_with("memory:") =>
                {
                    self.ask_effect(at, "code-send", format!("`{name}` writes to another machine: `{path}`"));
                }
                Target::Known(path) if places::of(&path) == Place::Outside => {
                    self.ask_effect(at, "code-reach", format!("`{name}` writes outside of the project: `{path}`"));
                }
                Target::Known(path) if places::decides(&path) && !makes_folder => {
                    self.ask_effect(
                        at,
                        "code-reach",
                        format!("`{name}` writes what decides what runs later: `{path}`"),
                    );
                }
                Target::Known(path) if places::is_bundle_shown(&path) && !makes_folder => {
                    self.ask_effect(
                        at,
                        "code-reach",
                        format!("`{name}` puts an archive where everybody sees it: `{path}`"),
                    );
                }
                Target::Known(path) if whole && places::is_store(&path) => {
                    self.ask_effect(at, "code-delete", format!("`{name}` overwrites a database: `{path}`"));
                }
                Target::Found(folder) if places::of(&format!("{folder}/x")) != Place::Temporary => {
                    self.ask_effect(
                        at,
                        "code-delete",
                        format!("`{name}` overwrites files that were found in a folder"),
                    );
                }
                Target::Opaque => {
                    self.ask_effect(at, "code-reach", format!("`{name}` writes a file whose name is put together"));
                }
                Target::Told | Target::Unknown if !makes_folder => {
                    self.ask_effect(at, "code-reach", format!("`{name}` writes a file whose name is not known"));
                }
                Target::Known(path) if whole && self.is_written_over(&path) => {
                    self.ask_effect(at, "code-delete", format!("`{name}` writes over what was read: `{path}`"));
                }
                Target::Known(path) if whole && places::is_kept(&path) && !self.made.contains(tidy(&path)) => {
                    self.ask_effect(at, "code-delete", format!("`{name}` writes over a document or a store: `{path}`"));
                }
                Target::Known(path) if !makes_folder && !places::is_result(&path) && !is_address(&path) => {
                    self.ask_effect(
                        at,
                        "code-reach",
                        format!("`{name}` writes what is not plainly a result: `{path}`"),
                    );
                }
                _ => {}
            }
        }
    }

    /// Whether a table, a picture or a document is written over that the program has read.
    fn is_written_over(&self, path: &str) -> bool {
        let ends = [".json", ".jsonl", ".log", ".db"];
        self.opened.contains(tidy(path))
            && !ends.iter().any(|end| path.ends_with(end))
            && places::of(path) != Place::Temporary
            && !places::is_generated(path)
    }

    /// Notes a file that is read.
    fn note_opened(&mut self, path: &str) {
        if self.opened.len() < 256 {
            self.opened.insert(tidy(path).to_owned());
        }
    }

    fn reads(&mut self, name: &str, file: Option<&Val>, at: TextSize) {
        if !self.judging {
            return;
        }
        for target in targets(file) {
            if let Target::Known(path) = target {
                self.note_opened(&path);
            }
        }
        for target in targets(file) {
            let secret = match &target {
                Target::Known(path) => {
                    places::is_secret(path)
                        || places::is_credential(path)
                        || is_mail(path)
                        || places::is_of_others(path)
                }
                Target::Found(folder) => {
                    places::is_credential(&format!("{folder}/x")) || places::is_secret(&format!("{folder}/x"))
                }
                Target::Opaque => true,
                Target::Told | Target::Chosen | Target::Unknown => false,
            };
            let by_variable =
                file.is_some_and(|file| file.private().iter().any(|source| matches!(source, Source::Variable(_))));
            if secret || by_variable && matches!(target, Target::Unknown) {
                self.ask_effect(at, "code-reach", format!("`{name}` reads what may be secret"));
            }
        }
    }

    /// A call, by the last name of what is called: packages and objects that are not known.
    pub(super) fn judge_call_effect(&mut self, base: Option<&Val>, name: &str, arguments: &Arguments, at: TextSize) {
        if !self.judging || base.is_some_and(|base| base.is_literal() || matches!(base, Val::Names(_))) {
            return;
        }
        let path = base.and_then(Val::as_path);
        let root = path.map(|path| path.split(['.', '(']).next().unwrap_or_default());
        let own = self.methods.contains(name);
        let unknown = root.is_none() && !own && !matches!(base, Some(Val::Func(_) | Val::Class(_)));
        let of_path = matches!(base, Some(Val::File(_) | Val::Listed(_)));
        if let (Some(Val::File(file)), _) = (base, ()) {
            self.judge_file_method(file, name, arguments, at);
        }
        if let (Some(listed @ Val::Listed(_)), _) = (base, ()) {
            self.judge_file_method(listed, name, arguments, at);
        }
        if !of_path && !own && effects::DELETES.contains(&name) && effects::of_function(&whole(path, name)).is_none() {
            self.deletes(name, arguments.get(0).filter(|_| root.is_some()), at);
        }
        // A class of the program may be one of a table.
        let is_table = matches!(base, Some(Val::Class(_))) && !own && verbs::plainly_empties(name);
        if is_table && self.packages.iter().any(|package| effects::is_store(package)) {
            self.ask_effect(at, "code-remote", format!("`{name}` empties a store"));
        }
        self.judge_service(path, unknown, name, arguments, at);
        self.judge_sent(base, root, unknown, name, arguments, at);
        self.judge_named_files(path, root, name, arguments, at);
        if statements::takes(name) {
            let destroys = |value: &Val| match value {
                Val::Text(text) => statements::destroys(text) || statements::writes_code(text),
                Val::Partial(start, end) => statements::destroys(&format!("{start}x{end}")),
                _ => false,
            };
            let mutates = |value: &Val| value.as_str().is_some_and(statements::mutates);
            if arguments.all().flat_map(Val::each).any(|value| destroys(value) || mutates(value)) {
                self.ask_effect(at, "code-statement", format!("`{name}` is given a statement that destroys"));
            }
        }
    }

    /// Files that are named to functions of packages, and addresses.
    fn judge_named_files(
        &mut self,
        path: Option<&str>,
        root: Option<&str>,
        name: &str,
        arguments: &Arguments,
        at: TextSize,
    ) {
        let library = matches!(root, Some("os" | "pathlib" | "re" | "logging" | "argparse"))
            && effects::of_function(&whole(path, name)).is_none()
            && !effects::writes(name);
        if crate::listed(LOOKS, name) || library || matches!(root, Some("builtins")) || path == Some("os.path") {
            return;
        }
        // Of archives, what lies in the folder itself may be anything.
        if name == "extractall" {
            let into = arguments.get(0).or_else(|| arguments.keyword("path"));
            let all = targets(into);
            let plain = |target: &Target| matches!(target, Target::Known(path) if !matches!(path.trim_end_matches('/'), "" | "."));
            let is_plain = |target: &Target| plain(target) || matches!(target, Target::Unknown);
            if all.is_empty() || !all.iter().all(is_plain) {
                self.ask_effect(at, "code-reach", "`extractall` writes over what lies in the project".to_owned());
            }
            self.writes(name, into, false, at);
        }
        // A package that is named a source and is not known to read it writes it.
        let opens = name.contains("output") || name.contains("write");
        let found = |value: &Val| match value {
            Val::Listed(folder) => {
                places::of(&format!("{folder}/x")) != Place::Temporary && !places::is_generated(folder)
            }
            Val::File(inner) => matches!(&**inner, Val::Listed(folder) if !places::is_generated(folder)),
            _ => false,
        };
        if effects::writes(name) && arguments.all().flat_map(deep).any(found) {
            self.ask_effect(at, "code-delete", format!("`{name}` overwrites files that were found in a folder"));
        }
        let is_foreign = root.is_some_and(|root| !known::is_of_library(root) && !effects::takes_sources(root))
            && (opens || !effects::only_reads(name) && !effects::reads_sources(name));
        for value in arguments.all().flat_map(deep) {
            let text = match value {
                Val::Text(text) => text.to_string(),
                Val::Partial(start, end) => format!("{start}x{end}"),
                Val::File(inner) => match &**inner {
                    Val::Text(text) => text.to_string(),
                    Val::Partial(start, end) => format!("{start}x{end}"),
                    _ => continue,
                },
                _ => continue,
            };
            if text.len() > 2_000 {
                continue;
            }
            let is_host = text.contains("://") || root == Some("http") && name.ends_with("Connection");
            if places::is_metadata(&text) && is_host {
                self.ask_effect(at, "code-reach", "an address that gives credentials away".to_owned());
            }
            let is_request = root.is_some_and(|root| {
                matches!(root, "requests" | "httpx" | "urllib" | "aiohttp" | "urllib3" | "playwright" | "http")
            });
            if (is_request || name == "goto") && places::steers(&text) {
                self.ask_effect(at, "code-reach", format!("a service on this machine is steered: `{text}`"));
            }
            let elsewhere =
                ["s3://", "s3a://", "gs://", "gcs://", "az://", "abfs://", "hdfs://", "ftp://", "sftp://", "ssh://"];
            if effects::writes(name) && elsewhere.iter().any(|scheme| text.starts_with(scheme)) {
                self.ask_effect(at, "code-send", format!("`{name}` writes to another machine: `{text}`"));
            }
            if text.contains("://") && !text.starts_with("file://") {
                continue;
            }
            let reads = effects::reads(name) || effects::uploads(name);
            if effects::writes(name) && self.is_written_over(&text) {
                self.ask_effect(at, "code-delete", format!("`{name}` writes over what was read: `{text}`"));
            } else if reads && text.contains('.') && effects::of_function(&whole(path, name)).is_none() {
                self.note_opened(&text);
            }
            let names_file =
                is_foreign && text.len() > 1 && !text.contains([' ', '\n', '<', '{']) && places::decides(&text);
            let secret = places::is_credential(&text)
                || reads
                    && root != Some("fastapi")
                    && !text.starts_with("/api")
                    && places::is_secret(&text)
                    && !is_route(name, &text);
            if secret {
                self.ask_effect(at, "code-reach", format!("`{name}` is given a file that may hold secrets: `{text}`"));
            } else if places::is_decisive(&text) && !effects::only_reads(name) {
                self.ask_effect(
                    at,
                    "code-reach",
                    format!("`{name}` is given a file that decides what runs later: `{text}`"),
                );
            } else if names_file && !effects::writes(name) {
                self.ask_effect(at, "code-reach", format!("`{name}` may write over `{text}`"));
            } else if effects::writes(name) && !text.contains(['\n', '<', '{']) {
                let is_path = text.len() > 2
                    && (text.contains('/') || text.contains('.') || text.starts_with('~'))
                    && !text.contains(' ')
                    || root.is_some() && places::decides(&text);
                if is_path && (places::of(&text) == Place::Outside || places::decides(&text)) && !text.starts_with("//")
                {
                    self.ask_effect(
                        at,
                        "code-reach",
                        format!("`{name}` writes outside of the project or what decides what runs later: `{text}`"),
                    );
                }
            }
        }
    }
}

/// The files that a value may name. What is not known counts only where nothing else is.
fn targets(file: Option<&Val>) -> Vec<Target> {
    let Some(file) = file else { return Vec::new() };
    let text = fold::path_text(file);
    let mut found: Vec<Target> = text
        .each()
        .iter()
        .map(|value| match value {
            Val::Text(text) => Target::Known(text.to_string()),
            Val::Partial(start, end) if start.is_empty() && end.is_empty() => Target::Unknown,
            Val::Partial(start, end) => Target::Known(format!("{start}x{end}")),
            Val::Listed(folder) => Target::Found(folder.to_string()),
            Val::Opaque => Target::Opaque,
            Val::Private(Source::File | Source::Part) => Target::Told,
            Val::Path(path) if path.starts_with("sys.argv") => Target::Chosen,
            // Folders of the interpreter.
            Val::Path(path) if ["sysconfig.", "site.", "certifi."].iter().any(|module| path.starts_with(module)) => {
                Target::Opaque
            }
            _ => Target::Unknown,
        })
        .collect();
    // What is made up or asked for beside what nobody knows.
    let asked = |value: &Val| {
        let value = if let Val::File(inner) = value { inner } else { value };
        value.each().iter().any(|value| value.as_path().is_some_and(is_asked_for))
    };
    if found.iter().all(|target| matches!(target, Target::Unknown)) && file.each().iter().any(asked) {
        return vec![Target::Chosen];
    }
    if found.iter().any(|target| !matches!(target, Target::Unknown)) {
        found.retain(|target| !matches!(target, Target::Unknown));
    }
    // Of a name below a folder that is written down the folder tells.
    if found.iter().any(|target| matches!(target, Target::Known(_) | Target::Found(_))) {
        found.retain(|target| !matches!(target, Target::Told));
    }
    found
}

/// Whether something was answered by a call that asks whoever starts the program, or makes names.
fn is_asked_for(path: &str) -> bool {
    const ASKS: [&str; 14] = [
        "argparse", "builtins", "click", "datetime", "docopt", "os", "pathlib", "secrets", "string", "sys", "tempfile",
        "time", "typer", "uuid",
    ];
    path.starts_with("sys.argv")
        || path.contains('(')
            && (ASKS.contains(&path.split(['.', '(']).next().unwrap_or_default())
                || path.starts_with("tkinter.filedialog"))
}

/// Whether a text names a place by an address, or a store in memory.
fn is_address(path: &str) -> bool {
    path.contains("://") || path.starts_with(':') || path.starts_with("memory:")
}

/// A value and what a list or a dictionary holds.
fn deep(value: &Val) -> Vec<&Val> {
    let mut all = Vec::new();
    for value in value.each() {
        match value {
            Val::Seq(values) if values.len() <= 32 => all.extend(values.iter().flat_map(Val::each)),
            Val::Dict(items) if items.len() <= 32 => all.extend(items.iter().flat_map(|(_, value)| value.each())),
            Val::Many(inner) => all.extend(inner.each()),
            one => all.push(one),
        }
    }
    all
}

/// Whether a text is the way to something on a server: those are no files.
fn is_route(name: &str, text: &str) -> bool {
    matches!(name, "get" | "add" | "goto" | "attach")
        && text.starts_with('/')
        && !text.contains("/.")
        && text.matches('/').count() < 4
}

fn is_mail(path: &str) -> bool {
    ["/var/mail", "/var/spool/mail"].iter().any(|folder| path.starts_with(folder))
}

/// A path as it is remembered.
fn tidy(path: &str) -> &str {
    path.trim_start_matches("./").trim_end_matches('/')
}

/// The qualified name of a member.
fn whole(path: Option<&str>, name: &str) -> String {
    path.map_or_else(|| name.to_owned(), |path| format!("{path}.{name}"))
}
