//! The lines of a patch: which are headers, which are text of the files that it changes, and which are neither.
//!
//! The lines of a hunk are counted, as `git apply` and `patch` count them, and are text whatever they look like. Some readers do
//! not count: where the counts of a hunk do not work out, and where a hunk has none, a pair of `---` and `+++` is a header in it
//! too. In front of a further `@@` it always is.

use super::name;
use super::{Patch, Problem, Prose};

/// Where the reader stands.
#[derive(Debug, Clone, PartialEq, Eq)]
enum State {
    /// Between headers and hunks.
    Outside,
    /// In a hunk with so many lines left of each old file and of the new one. `start` is its first line.
    Hunk { olds: Vec<usize>, new: usize, start: usize },
    /// In a hunk without counts, or in the body of an action of `*** Begin Patch`.
    Loose,
    /// In a hunk of a context diff.
    Context,
    /// In a hunk of a diff of commands (`1c1`).
    Commands,
    /// Between the marks of a block of search and replace, which begins at this line.
    Block(usize),
    /// In the letters of a binary file.
    Binary,
}

/// More old files of one hunk are none of a merge.
const MAX_PARENTS: usize = 16;

/// More names of one link are none that a patch has.
const MAX_LINK_NAMES: usize = 16;

pub(super) struct Reader<'t> {
    lines: Vec<&'t str>,
    is_named: bool,
    state: State,
    /// What stands in front of each line of a hunk, where all of the patch is moved to the right or quoted.
    indent: &'t str,
    /// The text above a message of a commit has nothing that names a file.
    in_mail: bool,
    /// Whether the file whose lines come next is a link.
    is_link: bool,
    /// The names of that file.
    current: Vec<String>,
    /// Whether some line has the stars of a context diff.
    has_stars: bool,
    /// Whether some line begins with `+`, and another with anything.
    adds: bool,
    patch: Patch,
}

impl<'t> Reader<'t> {
    pub(super) fn new(text: &'t str, is_named: bool) -> Self {
        let end = if text.contains('\n') { '\n' } else { '\r' };
        let lines: Vec<&str> = text.split(end).map(|line| line.strip_suffix('\r').unwrap_or(line)).collect();
        let has_stars = lines.iter().any(|line| line.starts_with("****"));
        let several = lines.iter().filter(|line| !line.trim().is_empty()).nth(1).is_some();
        let adds = several && lines.iter().any(|line| line.starts_with('+'));
        Self {
            lines,
            is_named,
            state: State::Outside,
            indent: "",
            in_mail: false,
            is_link: false,
            current: Vec::new(),
            has_stars,
            adds,
            patch: Patch::default(),
        }
    }

    pub(super) fn read(mut self) -> Patch {
        for at in 0..self.lines.len() {
            self.line(at);
        }
        match self.state {
            State::Hunk { start, .. } => self.look_back(start, self.lines.len()),
            State::Block(start) if self.is_named || self.patch.is_sure => self.patch.fail(Problem::Open(start + 1)),
            _ => {}
        }
        self.patch
    }

    fn line(&mut self, at: usize) {
        let line = self.lines[at];
        match self.state.clone() {
            State::Hunk { olds, new, start } => {
                let body = line.strip_prefix(self.indent).unwrap_or(line);
                match counted(body, olds, new) {
                    Some((olds, new)) => {
                        self.in_hunk(body);
                        let is_done = new == 0 && olds.iter().all(|old| *old == 0);
                        self.state = if is_done { State::Outside } else { State::Hunk { olds, new, start } };
                    }
                    None => {
                        // The counts are wrong: to who counts nothing, names may stand among these lines.
                        self.look_back(start, at);
                        self.state = State::Loose;
                        self.line(at);
                    }
                }
            }
            State::Outside => self.outside(at),
            State::Loose => self.in_loose(at, line.strip_prefix(self.indent).unwrap_or(line)),
            State::Context => {
                let mut marks = line.chars();
                let (mark, next) = (marks.next(), marks.next());
                let is_text =
                    matches!(mark, None | Some(' ' | '!' | '+' | '-' | '\\')) && matches!(next, None | Some(' '));
                if !is_text || self.is_header(at) {
                    self.outside(at);
                } else if let Some(name) = name::bare(line).strip_prefix("*** ") {
                    // The same diff moved to the right.
                    name::written(name).iter().for_each(|name| self.patch.add(name));
                }
            }
            State::Commands => {
                let is_text = ["<", ">", "\\"].iter().any(|mark| line.starts_with(mark)) || line.trim() == "---";
                if !is_text {
                    self.outside(at);
                } else if let Some(text) = line.strip_prefix("> ").filter(|_| self.is_header(at)) {
                    self.header(at, text);
                }
            }
            State::Block(_) => self.in_block(at),
            State::Binary => {
                let is_letters = line.starts_with(|c: char| c.is_ascii_alphabetic())
                    && !line.contains(char::is_whitespace)
                    && line.len() <= 66
                    && name::in_header(line, true).is_none();
                if !(is_letters || line.is_empty()) {
                    self.outside(at);
                }
            }
        }
    }

    /// A line of a hunk without counts: text of a file, unless it is a header to somebody.
    fn in_loose(&mut self, at: usize, body: &str) {
        let is_text = body.is_empty() || body.starts_with([' ', '\t', '+', '-', '\\']);
        if !is_text || self.is_header(at) || body == "-- " {
            return self.outside(at);
        }
        if body.starts_with([' ', '\t']) {
            // Some readers move a whole patch to the left.
            let names = name::in_header(name::bare(body), false);
            names.into_iter().flatten().for_each(|name| self.patch.add(&name));
        }
        self.in_hunk(body);
    }

    /// A line of a hunk: text of a file, but a link says in it where it leads. Who ends lines at other signs may find a header
    /// behind one.
    fn in_hunk(&mut self, body: &str) {
        let mut pieces = body.split(name::ends_line);
        if let Some(target) = pieces.next().and_then(|first| first.strip_prefix('+')).filter(|_| self.is_link) {
            let below: Vec<String> = self.current.iter().map(|link| name::beside(link, target)).collect();
            below.iter().for_each(|name| self.patch.add_link(name));
        }
        for piece in pieces {
            name::in_header(piece.trim(), true).into_iter().flatten().for_each(|name| self.patch.add(&name));
        }
    }

    /// Names among the lines of a hunk whose counts are wrong.
    fn look_back(&mut self, start: usize, end: usize) {
        for at in start..end {
            if self.is_pair(at) {
                self.header(at, name::bare(self.lines[at]));
                self.header(at + 1, name::bare(self.lines[at + 1]));
            }
        }
    }

    /// Whether a `---` and a `+++` stand here and in the next line.
    fn is_pair(&self, at: usize) -> bool {
        let is = |at: usize, mark: &str| {
            let bare = self.lines.get(at).map(|line| name::bare(line)).unwrap_or_default();
            bare.strip_prefix(mark).is_some_and(|rest| rest.starts_with(char::is_whitespace))
        };
        is(at, "---") && is(at + 1, "+++")
    }

    /// Whether a line of a hunk without counts is a header: one of a pair, or in front of a further hunk.
    fn is_header(&self, at: usize) -> bool {
        let next = self.lines.get(at + 1).map(|line| name::bare(line)).unwrap_or_default();
        let bare = name::bare(self.lines[at]);
        let is_named = name::in_header(bare, false).is_some() && bare.starts_with(['-', '+']);
        self.is_pair(at) || at > 0 && self.is_pair(at - 1) || is_named && next.starts_with("@@")
    }

    /// A line of a block of search and replace: text, but to who reads other patches it may be a header.
    fn in_block(&mut self, at: usize) {
        let bare = name::bare(self.lines[at]);
        if name::is_mark(bare) {
            return self.mark(at, bare);
        }
        let is_sure = bare.starts_with("diff --git ") || name::is_action(bare);
        if is_sure || self.is_pair(at) || at > 0 && self.is_pair(at - 1) {
            self.header(at, bare);
        }
    }

    fn outside(&mut self, at: usize) {
        if self.state != State::Loose {
            self.state = State::Outside;
        }
        for piece in self.lines[at].split(name::ends_line).filter(|piece| !piece.trim().is_empty()) {
            self.piece(at, piece);
        }
    }

    fn piece(&mut self, at: usize, piece: &'t str) {
        let bare = name::bare(piece);
        if bare.starts_with("@@") || bare.starts_with("## -") && ranges(bare).is_some() {
            return self.hunk(at, piece, bare);
        }
        if name::is_mark(bare) {
            return self.mark(at, bare);
        }
        if name::in_header(bare, self.is_named).is_some() {
            return self.header(at, bare);
        }
        if name::is_frame(bare) {
            self.patch.is_patch = true;
            self.patch.is_sure |= bare.starts_with("*** Begin");
            self.state = State::Outside;
            return;
        }
        if let Some(rest) = bare.strip_prefix("***") {
            // The header of a context diff, its ranges, or a line between two of its hunks.
            let next = self.lines[at + 1..].iter().map(|line| name::bare(line)).find(|line| !line.is_empty());
            let is_range = rest.trim_start().starts_with(|c: char| c.is_ascii_digit()) && rest.ends_with("***");
            if is_range || rest.bytes().all(|byte| byte == b'*') && rest.len() > 8 {
                self.patch.is_patch = true;
                self.state = State::Context;
            } else if next.is_some_and(|next| next.starts_with("---")) || self.is_named && rest.starts_with([' ', '\t'])
            {
                self.patch.is_sure |= self.has_stars;
                self.patch.is_patch = true;
                self.current = name::written(rest);
                self.current.clone().iter().for_each(|name| self.patch.add(name));
            } else {
                self.prose(at, piece);
            }
            return;
        }
        if bare.starts_with("--- ") && bare.ends_with("----") {
            self.state = State::Context;
        } else if name::is_command_of_diff(bare) {
            self.patch.is_patch = true;
            self.state = State::Commands;
        } else if bare.starts_with("GIT binary patch") || bare.starts_with("literal ") || bare.starts_with("delta ") {
            if self.is_link {
                self.patch.fail(Problem::Link(at + 1));
            }
            self.state = State::Binary;
        } else if name::says_of_file(bare) {
            self.in_mail = false;
            self.is_link |= bare.trim_end().ends_with("120000");
        } else if bare.starts_with(['+', '-', '\\']) || bare.starts_with("===") {
            // Without a line that is added, these may be options.
            self.patch.is_patch |= self.is_named && self.adds;
        } else {
            self.prose(at, piece);
        }
    }

    /// A hunk begins.
    fn hunk(&mut self, at: usize, piece: &'t str, bare: &str) {
        self.patch.is_patch = true;
        self.in_mail = false;
        if at > 1 && self.is_pair(at - 2) {
            self.look_back(at - 2, at - 1);
            self.patch.is_sure = true;
        }
        self.indent = &piece[..piece.len() - bare.len()];
        self.state = match ranges(bare) {
            Some((olds, new)) if olds.len() <= MAX_PARENTS => {
                let is_empty = new == 0 && olds.iter().all(|old| *old == 0);
                if is_empty { State::Outside } else { State::Hunk { olds, new, start: at + 1 } }
            }
            _ => State::Loose,
        };
    }

    /// A line that names files.
    fn header(&mut self, at: usize, bare: &str) {
        let Some(names) = name::in_header(bare, true) else { return };
        let is_action = name::is_action(bare);
        let next = self.lines.get(at + 1).map(|line| name::bare(line)).unwrap_or_default();
        let follows = if bare.starts_with("Index") { next.starts_with("===") } else { next.starts_with("rename to ") };
        let is_sure = name::acts_on_file(bare)
            || follows
            || bare.starts_with("diff --git ")
            || self.is_pair(at)
            || bare.starts_with("diff -r ") && next.starts_with("@@");
        self.patch.is_sure |= is_sure;
        self.patch.is_patch = true;
        self.in_mail = false;
        let begins_file = is_action || bare.starts_with("diff") || bare.starts_with("Index");
        if begins_file {
            self.current.clear();
            self.is_link = false;
        }
        for name in names {
            if self.is_link && !self.current.contains(&name) && !name::is_nothing(&name) {
                if self.current.len() >= MAX_LINK_NAMES {
                    self.patch.fail(Problem::Link(at + 1));
                } else {
                    self.current.push(name.clone());
                }
            }
            self.patch.add(&name);
        }
        if !matches!(self.state, State::Block(_)) {
            self.state = if is_action { State::Loose } else { State::Outside };
            self.indent = "";
        }
    }

    /// A mark of a block of search and replace, or of a conflict.
    fn mark(&mut self, at: usize, bare: &str) {
        let word = bare.trim_start_matches(['<', '>', '=', '-', '+']).trim();
        let opens = bare.starts_with("<<<<<") || bare.starts_with("-------");
        self.patch.is_patch = true;
        let behind = word.trim_start_matches(|c: char| c.is_ascii_uppercase());
        let words = if behind.is_empty() || behind.starts_with(char::is_whitespace) { behind } else { word };
        name::decorated(words).iter().for_each(|name| self.patch.add(name));
        if opens {
            self.patch.is_sure |= word.starts_with("SEARCH");
            if let Some(line) = self.above(at) {
                let from = self.patch.prose.partition_point(|prose| prose.line <= line);
                let to = self.patch.prose.partition_point(|prose| prose.line <= line + 1);
                self.patch.prose.drain(from..to);
                name::decorated(self.lines[line]).iter().for_each(|name| self.patch.add(name));
            }
            self.state = State::Block(at);
        } else {
            self.state = State::Outside;
        }
    }

    /// The line above a block: its name stands there, and there may be a fence or an empty line between.
    fn above(&self, at: usize) -> Option<usize> {
        let is_passed = |line: &str| {
            let bare = line.trim();
            let info = bare.trim_start_matches(['`', '~']);
            bare.is_empty() || info.len() + 3 <= bare.len() && !info.contains(['/', '\\', '.'])
        };
        let line = (0..at).rev().find(|at| !is_passed(self.lines[*at]))?;
        (!name::is_mark(name::bare(self.lines[line]))).then_some(line)
    }

    fn prose(&mut self, at: usize, piece: &str) {
        let bare = piece.trim();
        let is_mail = bare.strip_prefix("From ").is_some_and(|rest| {
            rest.split(' ')
                .next()
                .is_some_and(|hash| hash.len() >= 4 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()))
        });
        self.in_mail |= is_mail || bare.starts_with("Subject:") || bare.starts_with("commit ");
        self.patch.prose.push(Prose { line: at + 1, text: piece.to_owned(), is_mail: self.in_mail });
    }
}

/// What is left to be read of a hunk behind one of its lines; nothing where the line is none of it.
fn counted(body: &str, mut olds: Vec<usize>, mut new: usize) -> Option<(Vec<usize>, usize)> {
    if body.starts_with('\\') {
        return Some((olds, new));
    }
    let count = olds.len();
    // Blanks at the end of a line are lost on the way.
    let marks: Vec<u8> = body.bytes().chain(std::iter::repeat(b' ')).take(count).collect();
    let marks: Vec<u8> =
        marks.into_iter().map(|mark| if matches!(mark, b'\t' | b'\r') { b' ' } else { mark }).collect();
    if !marks.iter().all(|mark| matches!(mark, b' ' | b'+' | b'-')) {
        return None;
    }
    let is_removed = marks.contains(&b'-');
    for (old, mark) in olds.iter_mut().zip(&marks) {
        if if is_removed { *mark == b'-' } else { *mark == b' ' } {
            *old = old.checked_sub(1)?;
        }
    }
    if !is_removed {
        new = new.checked_sub(1)?;
    }
    Some((olds, new))
}

/// The counts of lines in `@@ -1,2 +3 @@`, for each old file and for the new one.
fn ranges(bare: &str) -> Option<(Vec<usize>, usize)> {
    let inner = bare.trim_start_matches(['@', '#']).trim_start();
    let marks = bare.len() - bare.trim_start_matches(['@', '#']).len();
    let count = |range: &str| match range.split_once(',') {
        Some((at, count)) => at.parse::<usize>().ok().and_then(|_| count.parse().ok()),
        None => range.parse::<usize>().ok().map(|_| 1),
    };
    let mut olds = Vec::new();
    for word in inner.split_whitespace() {
        if let Some(range) = word.strip_prefix('-') {
            olds.push(count(range)?);
        } else {
            let new = count(word.strip_prefix('+')?)?;
            return (olds.len() + 1 == marks || olds.len() == 1)
                .then_some((olds, new))
                .filter(|(olds, _)| !olds.is_empty());
        }
    }
    None
}
