//! What a program does unasked to files: those that it deletes, overwrites or reads. Results written into the folder in
//! which it runs, temporary files and what it made itself are left alone; about the rest a person is asked.

use oxc_ast::ast::{Argument, Expression};
use oxc_span::Span;

use super::content::{self, Piece};
use super::options::{Found, property};
use super::rules::effects::{self, FileEffect};
use super::scope::{Thing, Things};
use super::{Pass, Place, Reader, fold};
use crate::code::places::{self, Place as Folder};
use crate::code::verbs;

/// Files that a program may make itself.
const MOST_MADE: usize = 256;
/// Values in objects and lists that a call is given, at most.
const MOST_HELD: usize = 64;

/// A call, as its effects are judged.
pub(super) struct Call<'e, 'a> {
    pub(super) span: Span,
    /// What it is called on.
    pub(super) object: Option<&'e Things>,
    pub(super) callee: &'e Things,
    /// The last name of what is called.
    pub(super) name: &'e str,
    pub(super) arguments: &'e [Argument<'a>],
    /// What the arguments stand for.
    pub(super) given: &'e [Things],
}

impl<'e, 'a> Call<'e, 'a> {
    pub(super) fn argument(&self, at: usize) -> Option<&'e Expression<'a>> {
        self.arguments.get(at).and_then(Argument::as_expression).map(fold::bare)
    }

    /// The objects that are written down as arguments.
    pub(super) fn objects(&self) -> impl Iterator<Item = &'e oxc_ast::ast::ObjectExpression<'a>> {
        self.arguments.iter().filter_map(|argument| match argument.as_expression().map(fold::bare) {
            Some(Expression::ObjectExpression(object)) => Some(&**object),
            _ => None,
        })
    }

    /// What an option is, if an argument has it.
    pub(super) fn option(&self, name: &str) -> Found<'e, 'a> {
        for object in self.objects() {
            if let found @ (Found::Value(_) | Found::Unknown) = property(object, name) {
                return found;
            }
        }
        Found::None
    }
}

/// What is known of the file that a value names.
enum Target {
    Known(String),
    /// It was found in this folder.
    Found(String),
    Opaque,
    Unknown,
}

/// The files that a value may name. What is not known counts only where nothing else is.
fn targets(file: Option<&Things>) -> Vec<Target> {
    let Some(file) = file else { return Vec::new() };
    let mut found: Vec<Target> = content::pieces(file)
        .into_iter()
        .map(|piece| match piece {
            Piece::Whole(text) => Target::Known(place_of(&text)),
            Piece::Ends(start, end) if start.is_empty() && end.is_empty() => Target::Unknown,
            Piece::Ends(start, end) => Target::Known(place_of(&format!("{start}x{end}"))),
            Piece::Listed(folder) => Target::Found(place_of(&folder)),
            Piece::Opaque => Target::Opaque,
            Piece::Hole => Target::Unknown,
        })
        .collect();
    if found.iter().any(|target| !matches!(target, Target::Unknown)) {
        found.retain(|target| !matches!(target, Target::Unknown));
    }
    found
}

/// A path as its place is judged: without the folder of the program, and without `file:`.
fn place_of(path: &str) -> String {
    let path = path.strip_prefix("file://").unwrap_or(path);
    if path.contains('\u{1}') { content::tidied(path) } else { path.to_owned() }
}

/// Modules of Node, whose functions on files are known.
fn is_own_module(package: &str) -> bool {
    matches!(
        package.split('/').next().unwrap_or(package),
        "path"
            | "fs"
            | "url"
            | "os"
            | "util"
            | "test"
            | "assert"
            | "events"
            | "module"
            | "worker_threads"
            | "child_process"
            | "readline"
            | "stream"
            | "crypto"
            | "http"
            | "https"
            | "console"
    )
}

/// Whether a name of a file is chosen by whoever starts the program.
fn is_chosen(file: &Things) -> bool {
    let asked = [
        "process.argv",
        "Bun.argv",
        "Deno.args",
        "node:commander",
        "node:yargs",
        "node:inquirer",
        "node:minimist",
        "node:util.parseArgs",
    ];
    file.paths().any(|path| asked.iter().any(|start| path.starts_with(start)) || effects::is_temporary(path))
}

/// A path as it is remembered.
fn tidy(path: &str) -> &str {
    path.trim_start_matches("./").trim_end_matches('/')
}

impl Reader<'_> {
    /// A call does something to files.
    pub(super) fn file_call(&mut self, call: &Call<'_, '_>) {
        let by_path = call.callee.paths().find_map(effects::of_function);
        let named = || {
            let unknown = call.object.is_some() && !call.callee.paths().any(|path| path.starts_with("node:"));
            effects::of_method(call.name)
                .filter(|_| unknown && !self.own.contains(call.name))
                .map(|effect| (effect, call.name))
        };
        let Some((effect, name)) = by_path.or_else(named) else { return };
        let name = name.to_owned();
        self.file_effect(effect, &name, call);
    }

    fn file_effect(&mut self, effect: FileEffect, name: &str, call: &Call<'_, '_>) {
        let (first, second) = (call.given.first(), call.given.get(1));
        let span = call.span;
        match effect {
            FileEffect::Delete => self.deletes(span, name, first, false),
            FileEffect::DeleteTree => {
                let tree = !matches!(name, "rm" | "rmdir" | "remove") || self.is_recursive(call.arguments.get(1));
                self.deletes(span, name, first, tree);
            }
            FileEffect::Move => self.moves(span, name, first, second),
            FileEffect::Folder => self.writes(span, name, first, FileEffect::Folder),
            FileEffect::Write | FileEffect::Overwrite => {
                let mode = match call.argument(1) {
                    Some(Expression::NumericLiteral(mode)) if name.ends_with("chmod") => mode.value,
                    _ => 0.0,
                };
                if mode >= 512.0 || name.contains("chown") || (mode / 2.0).floor() % 2.0 == 1.0 {
                    self.ask(span, "code-rights", format!("`{name}` gives rights, or takes them"));
                }
                let appends = matches!(call.option("flag"), Found::Value(Expression::StringLiteral(flag)) if flag.value.starts_with('a'))
                    || matches!(call.option("flags"), Found::Value(Expression::StringLiteral(flag)) if flag.value.starts_with('a'));
                self.writes(span, name, first, if appends { FileEffect::Write } else { effect });
                let empty = matches!(call.argument(1), Some(Expression::StringLiteral(text)) if text.value.is_empty());
                if effect == FileEffect::Overwrite && empty && !appends {
                    self.empties(span, name, first);
                }
            }
            FileEffect::Copy => {
                self.reads(span, name, first);
                self.copies(span, name, first);
                if targets(second).iter().any(|target| self.is_kept_target(target)) {
                    self.ask(span, "code-delete", format!("`{name}` writes over a document or a store"));
                }
                let tree = name == "cp" && call.option("recursive").is_on() || name == "copy";
                self.writes(span, name, second, if tree { FileEffect::Copy } else { FileEffect::Overwrite });
            }
            FileEffect::Link => {
                self.writes(span, name, second, FileEffect::Write);
                self.writes(span, name, first, FileEffect::Write);
            }
            FileEffect::Read | FileEffect::List => self.reads(span, name, first),
            FileEffect::Find => {}
            FileEffect::Open => self.opens(span, name, call),
        }
    }

    fn opens(&mut self, span: Span, name: &str, call: &Call<'_, '_>) {
        let first = call.given.first();
        let options = call.objects().next();
        let (writes, whole) = match call.argument(1) {
            None | Some(Expression::ArrowFunctionExpression(_) | Expression::FunctionExpression(_)) => (false, false),
            Some(Expression::StringLiteral(mode)) => {
                (mode.value.contains(['w', 'a', '+', 'x']), mode.value.contains('w'))
            }
            Some(_) => {
                let on = |name: &str| options.is_none_or(|options| property(options, name).is_on());
                (on("write") || on("append") || on("create"), on("truncate"))
            }
        };
        let kept = |target: &Target| matches!(target, Target::Known(path) if places::is_kept(path) && !self.made.contains(tidy(path)));
        let in_place = matches!(call.argument(1), Some(Expression::StringLiteral(mode)) if mode.value.contains('+') && !mode.value.contains('a'));
        if writes && (in_place || whole && !name.contains("Stream")) && targets(first).iter().any(kept) {
            self.ask(span, "code-delete", format!("`{name}` changes a document or a store in place"));
        }
        if writes {
            self.writes(span, name, first, if whole { FileEffect::Overwrite } else { FileEffect::Write });
        } else {
            self.reads(span, name, first);
        }
    }

    fn moves(&mut self, span: Span, name: &str, first: Option<&Things>, second: Option<&Things>) {
        let inside = |target: &Target| match target {
            Target::Known(path) => places::of(path) == Folder::Inside && !places::decides(path),
            Target::Found(folder) => places::of(folder) == Folder::Inside,
            Target::Opaque => false,
            Target::Unknown => true,
        };
        let temporary =
            |target: &Target| matches!(target, Target::Known(path) if places::of(path) == Folder::Temporary);
        let replaces =
            |target: &Target| matches!(target, Target::Known(path) if places::decides(path) || places::is_store(path));
        let (from, to) = (targets(first), targets(second));
        let listed = |target: &Target| matches!(target, Target::Found(folder) if !places::is_generated(folder) && places::of(&format!("{folder}/x")) != Folder::Temporary);
        let made = |target: &Target| {
            matches!(target, Target::Known(path) if self.made.contains(tidy(path)) || places::is_generated(path)
                || ["new", "tmp", "temp", "part"].iter().any(|word| path.contains(word)))
        };
        let replaced = to.iter().any(|target| matches!(target, Target::Known(path) if places::is_replaced(path)));
        let takes_place = !from.iter().all(made) && to.iter().any(|target| self.is_kept_target(target));
        let fine = from.iter().all(temporary)
            && !to.iter().any(replaces)
            && to.iter().all(|target| inside(target) || temporary(target))
            || from.iter().chain(&to).all(inside) && !to.iter().any(replaces);
        if !fine || takes_place || from.iter().any(listed) {
            self.ask(span, "code-delete", format!("`{name}` moves away what is not known to be the program's own"));
        } else if let Some(to) = second
            && !replaced
        {
            self.note_made(to);
        }
    }

    fn deletes(&mut self, span: Span, name: &str, file: Option<&Things>, tree: bool) {
        let own = |target: &Target| match target {
            Target::Known(path) => {
                places::of(path) == Folder::Temporary
                    || places::of(path) == Folder::Inside
                        && (places::is_generated(path) || !tree && self.made.contains(tidy(path)))
            }
            Target::Found(folder) => {
                let inside = format!("{folder}/x");
                places::of(&inside) == Folder::Temporary
                    || places::of(&inside) == Folder::Inside && places::is_generated(&inside)
            }
            Target::Opaque | Target::Unknown => false,
        };
        let found = targets(file);
        let whole = |target: &Target| matches!(target, Target::Known(path) if places::of(path) == Folder::Outside);
        if tree && !found.is_empty() && found.iter().any(whole) {
            self.refuse(span, "code-delete", format!("`{name}` of everything in a folder outside of the project"));
        } else if found.is_empty() || !found.iter().all(own) {
            self.ask(span, "code-delete", format!("`{name}` deletes what is not known to be the program's own"));
        }
    }

    /// Whether a file that takes the place of another is put over a document, a store or data.
    fn is_kept_target(&self, target: &Target) -> bool {
        matches!(target, Target::Known(path) if !self.made.contains(tidy(path)) && places::is_replaced(path))
    }

    /// Whether a value may name a file that the program did not make and no tool makes again.
    pub(super) fn names_kept(&self, file: &Things) -> bool {
        let made = |target: &Target| match target {
            Target::Known(path) => {
                places::of(path) == Folder::Temporary || places::is_generated(path) || self.made.contains(tidy(path))
            }
            _ => false,
        };
        !targets(Some(file)).iter().all(made)
    }

    /// A file is left with nothing in it.
    fn empties(&mut self, span: Span, name: &str, file: Option<&Things>) {
        let kept = |target: &Target| match target {
            Target::Known(path) => places::of(path) != Folder::Temporary && !places::is_generated(path),
            _ => true,
        };
        if targets(file).iter().any(kept) {
            self.ask(span, "code-delete", format!("`{name}` empties a file"));
        }
    }

    /// Notes a file that the program makes.
    fn note_made(&mut self, file: &Things) {
        for target in targets(Some(file)) {
            let Target::Known(path) = target else { continue };
            if places::of(&path) == Folder::Inside && !places::decides(&path) && self.made.len() < MOST_MADE {
                self.made.insert(tidy(&path).to_owned());
            }
        }
    }

    fn writes(&mut self, span: Span, name: &str, file: Option<&Things>, how: FileEffect) {
        if let Some(file) = file
            && how == FileEffect::Overwrite
            && !name.starts_with("copy")
            && name != "cp"
        {
            self.note_made(file);
        }
        if self.pass != Pass::Judge {
            return;
        }
        let ask = |path: &str, why: &str| format!("`{name}` {why}: `{path}`");
        for target in targets(file) {
            match target {
                Target::Known(path) if places::is_device(&path) => {
                    self.refuse(span, "code-delete", ask(&path, "writes to a device"));
                }
                Target::Known(path) if places::of(&path) == Folder::Outside => {
                    self.ask(span, "code-reach", ask(&path, "writes outside of the project"));
                }
                Target::Known(path) if how != FileEffect::Folder && places::decides(&path) => {
                    self.ask(span, "code-reach", ask(&path, "writes what decides what runs later"));
                }
                Target::Known(path) if how != FileEffect::Folder && places::is_bundle_shown(&path) => {
                    self.ask(span, "code-reach", ask(&path, "puts an archive where everybody sees it"));
                }
                Target::Known(path) if how == FileEffect::Overwrite && places::is_store(&path) => {
                    self.ask(span, "code-delete", ask(&path, "overwrites a database"));
                }
                Target::Known(path)
                    if how == FileEffect::Copy
                        && places::of(&path) == Folder::Inside
                        && !places::is_generated(&path)
                        && (!path.contains('.') || matches!(path.as_str(), "." | "./")) =>
                {
                    self.ask(span, "code-delete", ask(&path, "writes over what lies in a folder"));
                }
                Target::Found(folder) if how != FileEffect::Folder => {
                    let inside = format!("{folder}/x");
                    let temporary = places::of(&inside) == Folder::Temporary || places::is_generated(&inside);
                    if !temporary {
                        self.ask(span, "code-delete", format!("`{name}` changes files that were found in a folder"));
                    }
                }
                Target::Opaque => {
                    self.ask(span, "code-reach", format!("`{name}` writes a file whose name is put together"));
                }
                Target::Unknown if how != FileEffect::Folder && !file.is_some_and(is_chosen) => {
                    self.ask(span, "code-reach", format!("`{name}` writes a file whose name is not known"));
                }
                Target::Known(path) if how == FileEffect::Overwrite && self.is_written_over(&path) => {
                    self.ask(span, "code-delete", ask(&path, "writes over what was read"));
                }
                Target::Known(path)
                    if how == FileEffect::Overwrite && places::is_kept(&path) && !self.made.contains(tidy(&path)) =>
                {
                    self.ask(span, "code-delete", ask(&path, "writes over a document or a store"));
                }
                Target::Known(path) if how != FileEffect::Folder && !places::is_result(&path) => {
                    self.ask(span, "code-reach", ask(&path, "writes what is not plainly a result"));
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
            && places::of(path) != Folder::Temporary
            && !places::is_generated(path)
    }

    fn reads(&mut self, span: Span, name: &str, file: Option<&Things>) {
        for target in targets(file) {
            if let (Target::Known(path), true) = (&target, self.pass == Pass::Judge && self.opened.len() < MOST_MADE) {
                self.opened.insert(tidy(path).to_owned());
            }
            let secret = match &target {
                Target::Known(path) => {
                    places::is_secret(path) || places::is_credential(path) || places::is_of_others(path)
                }
                Target::Found(folder) => {
                    places::is_credential(&format!("{folder}/x")) || places::is_secret(&format!("{folder}/x"))
                }
                Target::Opaque => true,
                Target::Unknown => false,
            };
            if secret {
                self.ask(span, "code-reach", format!("`{name}` reads what may be secret"));
            }
        }
    }

    /// What lies outside of the project is brought into it.
    fn copies(&mut self, span: Span, name: &str, file: Option<&Things>) {
        let outside = |target: &Target| matches!(target, Target::Known(path) if places::of(path) == Folder::Outside || path.starts_with("/dev/"));
        if targets(file).iter().any(outside) {
            self.ask(span, "code-reach", format!("`{name}` copies what lies outside of the project"));
        }
    }

    /// Where the program goes on.
    pub(super) fn changes_folder(&mut self, call: &Call<'_, '_>) {
        if !call.callee.paths().any(|path| matches!(path, "process.chdir" | "Deno.chdir")) {
            return;
        }
        let inside = |target: &Target| matches!(target, Target::Known(path) if places::of(path) != Folder::Outside);
        let all = targets(call.given.first());
        if all.is_empty() || !all.iter().all(inside) {
            self.ask(call.span, "code-reach", "the program goes on in another folder".to_owned());
        }
    }

    /// Files that are named to functions of packages, and addresses.
    pub(super) fn named_files(&mut self, call: &Call<'_, '_>) {
        let of_files = call.callee.paths().any(|path| effects::of_function(path).is_some());
        if of_files || effects::only_looks(call.name) || call.callee.functions().next().is_some() {
            return;
        }
        let name = verbs::snake(call.name).into_owned();
        if name.starts_with("extract") || name.starts_with("unzip") || name.starts_with("unpack") {
            self.extracts(call);
        }
        self.names_source(call, &name);
        for target in self.held_texts(call.given).iter().flat_map(|things| targets(Some(things))) {
            if let Target::Known(text) = target {
                self.named_file(call.span, &name, &text);
            }
        }
    }

    /// A package that is named a source and is not known to read it writes it.
    fn names_source(&mut self, call: &Call<'_, '_>, name: &str) {
        let foreign = |path: &str| {
            effects::package(path).is_some_and(|package| !effects::takes_sources(package) && !is_own_module(package))
        };
        let reads =
            ["read", "load", "parse", "import", "glob", "watch", "lint", "get", "require", "from", "resolve", "find"];
        if !call.callee.paths().any(foreign) || reads.iter().any(|start| name.starts_with(start)) {
            return;
        }
        let mut named = targets(call.given.first());
        for key in ["filename", "file", "dest", "destination", "output", "out", "outputPath", "outFile", "logFile"] {
            if let Found::Value(value) = call.option(key) {
                named.extend(targets(Some(&self.things(value))));
            }
        }
        for target in named {
            let Target::Known(text) = target else { continue };
            let is_path =
                text.contains('/') && !text.contains("://") && !text.contains(['*', ' ', '\n', '<', '{', '@']);
            if is_path && !text.starts_with('/') && text.len() < 300 && places::decides(&text) {
                self.ask(call.span, "code-reach", format!("`{name}` may write over `{text}`"));
            }
        }
    }

    /// What a call is given, and what the objects and lists hold that it is given.
    pub(super) fn held_texts(&self, given: &[Things]) -> Vec<Things> {
        let mut all = given.to_vec();
        let mut at = 0;
        while at < all.len() && all.len() < MOST_HELD {
            let starts: Vec<u32> = all[at]
                .known
                .iter()
                .filter_map(|thing| match thing {
                    Thing::Object(start) => Some(*start),
                    _ => None,
                })
                .collect();
            for start in starts {
                all.extend(self.objects.get(&start).into_iter().flatten().map(|(_, things)| things.clone()));
            }
            at += 1;
        }
        all
    }

    fn named_file(&mut self, span: Span, name: &str, text: &str) {
        if text.len() > 300 || text.contains(['\n', '<', '{', ' ']) || text.contains("://") {
            return;
        }
        let name = name.strip_prefix("node:").unwrap_or(name);
        let reads =
            ["read", "load", "open", "from", "parse", "attach", "append", "add", "file", "path", "sharp", "jimp"]
                .iter()
                .any(|start| name.starts_with(start));
        if reads && text.contains('.') && self.opened.len() < MOST_MADE {
            self.opened.insert(tidy(text).to_owned());
        } else if effects::writes(name) && self.is_written_over(text) {
            self.ask(span, "code-delete", format!("`{name}` writes over what was read: `{text}`"));
        }
        if places::is_credential(text) && !text.starts_with("/api")
            || (reads || effects::uploads(name) || effects::sends(name))
                && text.contains('.')
                && places::is_secret(text)
        {
            self.ask(span, "code-reach", format!("`{name}` is given a file that may hold secrets: `{text}`"));
        } else if places::is_decisive(text) && !reads {
            self.ask(span, "code-reach", format!("`{name}` is given a file that decides what runs later: `{text}`"));
        } else if effects::writes(name) && text.len() > 1 && text.contains(['/', '.', '~']) && !text.starts_with("//") {
            let outside = places::of(text) == Folder::Outside;
            if outside || places::decides(text) {
                let message =
                    format!("`{name}` is given what lies outside of the project, or decides what runs later: `{text}`");
                self.ask(span, "code-reach", message);
            }
        }
    }

    /// Of archives, what lies in the folder itself may be anything.
    fn extracts(&mut self, call: &Call<'_, '_>) {
        let mut all = targets(call.given.first());
        for key in ["path", "dir", "cwd", "C"] {
            if let Found::Value(value) = call.option(key) {
                all.extend(targets(Some(&self.things(value))));
            }
        }
        let whole =
            |target: &Target| matches!(target, Target::Known(path) if matches!(path.trim_end_matches('/'), "" | "."));
        if all.iter().any(whole) {
            self.ask(call.span, "code-reach", "an archive is written over what lies in the project".to_owned());
        }
    }

    /// A function on files that is handed on: what is done with it is not seen.
    pub(super) fn hands_on_files(&mut self, span: Span, path: &str, place: Place) {
        let is_files = effects::is_files(path) || effects::of_function(path).is_some();
        if place == Place::Value && !path.ends_with(')') && is_files {
            self.ask(span, "code-handed-on", format!("`{path}` is handed on, and what is done with it is not seen"));
        }
    }

    pub(super) fn is_recursive(&self, options: Option<&Argument<'_>>) -> bool {
        let Some(options) = options else { return false };
        let Some(options) = options.as_expression() else { return true };
        match fold::bare(options) {
            Expression::ObjectExpression(object) => property(object, "recursive").is_on(),
            Expression::ArrowFunctionExpression(_) | Expression::FunctionExpression(_) => false,
            _ => true,
        }
    }
}
