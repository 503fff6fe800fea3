//! Switchboard's own files: store, keys, configuration and trust. Whoever can change them decides in the operator's place, so a
//! call that names one is asked about, whatever its tool may do.
//!
//! Where they lie is given as data, computed once at the start. Every string counts that could be a path, in every spelling that
//! the rules for paths know, and the words of commands and code. A text that only speaks of them (prose of more than one word)
//! does not. Which links lead there has to be looked up: this module says for which paths.

mod cells;
mod parts;

use switchboard_policy::path;
use switchboard_wire::Raw;

use parts::Parts;

use super::role::Role;
use super::{dial, patch, uri, walk};
use crate::{Finding, percent};

/// Paths of one call whose links are followed; a call that names more is asked about.
const MAX_FOLLOWED: usize = 2_048;
/// In longer commands only words count that have a sign of a path.
const MAX_BARE_BYTES: usize = 1_024;
/// Paths that are made of relative folders, at most.
const MAX_JOINED: usize = 256;
/// Pieces of one text between signs that cannot be seen.
const MAX_PIECES: usize = 64;
/// Folders of one call from which the links of its relative paths are followed.
const MAX_FOLDERS: usize = 64;

/// Bytes of a pattern that are put apart.
const MAX_PATTERN: usize = 512;
/// Spellings of one call that are put apart as patterns; a call with more is asked about.
const MAX_PATTERNS: usize = 1_024;

/// Ends of files that lie beside a store and belong to it.
const BESIDE_STORE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// What kind of place it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A folder, with everything in it.
    Folder,
    /// One file.
    File,
    /// A file, and those beside it that have the same name up to its ending.
    Family,
}

/// Where Switchboard's own files lie.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnFiles {
    places: Vec<(Vec<String>, Place)>,
    /// Folders inside of them that are the servers'.
    lent: Vec<Vec<String>>,
    /// What a text must hold to be about one of them by a relative name, in lower case.
    names: Vec<String>,
    home: Option<String>,
}

/// What a first look at the arguments of a call shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Glance {
    /// Whether anything in them could be a path that is worth a look, or could not be seen. Most calls have none.
    pub concerns_own: bool,
    /// A metadata service that they name as a host.
    pub metadata: Option<String>,
}

/// What a call may touch, as far as no link was followed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Suspects {
    /// A path that lies in or at a place.
    pub touched: Option<String>,
    /// Paths whose links have to be followed to know.
    pub follow: Vec<String>,
    /// Whether there are more of them than anybody follows.
    pub too_many: bool,
    /// Spellings that were put apart as patterns.
    patterns: usize,
}

impl OwnFiles {
    /// The places by their absolute paths, and the home of whoever runs the servers.
    #[must_use]
    pub fn new(places: &[(String, Place)], home: Option<&str>) -> Self {
        let named = |(path, place): &(String, Place)| (path::lexical(path), *place);
        let places: Vec<_> = places.iter().map(named).filter(|(names, _)| !names.is_empty()).collect();
        let names = places.iter().filter_map(|(names, _)| Some(names.last()?.to_lowercase())).collect();
        Self { places, lent: Vec::new(), names, home: home.map(str::to_owned) }
    }

    /// The same without folders inside of them that are the servers' own.
    #[must_use]
    pub fn without(mut self, folders: &[String]) -> Self {
        self.lent = folders.iter().map(|folder| path::lexical(folder)).collect();
        self
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// A first look at the arguments of any call, in one walk.
    #[must_use]
    pub fn glance(&self, arguments: &Raw) -> Glance {
        let mut glance = Glance::default();
        let all = walk::each_leaf(arguments, &mut |role, text| {
            glance.concerns_own = glance.concerns_own || self.counts(role, text);
            if role == Role::Host && glance.metadata.is_none() && dial::is_metadata(text) {
                glance.metadata = Some(text.trim().to_owned());
            }
        });
        cells::each(arguments, &mut |text| glance.concerns_own = glance.concerns_own || self.counts(Role::Code, text));
        glance.concerns_own |= !all;
        glance
    }

    /// What these arguments may touch. `bases` are the folders at which relative paths may begin. Patterns of a tool that `only_reads`
    /// are for finding files, and touch none.
    #[must_use]
    pub fn suspects(&self, arguments: &Raw, bases: &[String], only_reads: bool) -> Suspects {
        let mut suspects = Suspects::default();
        if self.places.is_empty() {
            return suspects;
        }
        let (mut named, mut relative, mut words) = (Vec::new(), Vec::new(), 0_usize);
        let (mut parts, mut is_long) = (Parts::default(), false);
        let all = walk::each_leaf(arguments, &mut |role, text| {
            let text = text.trim();
            let is_word = !text.contains(char::is_whitespace);
            if text.len() > path::MAX_PATH_BYTES {
                // Programs shorten `/./././x` before they open it.
                is_long |= role == Role::Path || text.starts_with(['/', '~', '.', '$']) && !is_text(role);
                return;
            }
            if text.is_empty() || is_text(role) && !is_word && !patch::begins(text) {
                return;
            }
            let pieces = pieces(role, text);
            for reading in pieces.iter().flat_map(|piece| self.readings(piece)) {
                parts.add(&reading);
                if reading.starts_with('/') && named.len() <= MAX_FOLDERS && !named.contains(&reading) {
                    named.push(reading);
                }
            }
            words += usize::from(!text.starts_with('/'));
            if role == Role::Path || text.starts_with("..") || text.starts_with("./") {
                relative.extend(bases.first().filter(|_| !text.starts_with('/')).map(|base| format!("{base}/{text}")));
            }
        });
        let starts: Vec<Vec<String>> = bases.iter().map(|base| path::lexical(base)).collect();
        if let Some((place, _)) = self.places.iter().find(|(place, kind)| parts.make(place, *kind, &starts)) {
            suspects.touched = Some(format!("/{}", place.join("/")));
            return suspects;
        }
        suspects.too_many = !all || is_long || named.len() > MAX_FOLDERS && named.len() * words > MAX_FOLLOWED;
        let mut folders: Vec<String> = bases.iter().cloned().chain(named.into_iter().take(MAX_FOLDERS)).collect();
        // What relative folders lead to by their text was seen above; links in them are followed as far as there is room.
        let room = (MAX_JOINED / words.max(1)).saturating_sub(folders.len());
        folders.extend(relative.into_iter().take(room));
        walk::each_leaf(arguments, &mut |role, text| {
            if suspects.touched.is_none() && !suspects.too_many {
                self.look_at(role, text, &folders, only_reads, &mut suspects);
            }
        });
        cells::each(arguments, &mut |text| {
            if suspects.touched.is_none() && !suspects.too_many {
                self.look_at(Role::Code, text, &folders, only_reads, &mut suspects);
            }
        });
        suspects
    }

    /// Whether a string may name a path.
    fn counts(&self, role: Role, text: &str) -> bool {
        let is_command = is_command(role);
        let is_word = !text.trim().contains(char::is_whitespace);
        if is_text(role) && !is_word {
            return patch::begins(text);
        }
        any_name(role, text)
            || patch::begins(text) && !is_word
            || self.may_name(text) && (is_word || is_command || self.speaks_of_place(text))
    }

    /// Looks at one string.
    fn look_at(&self, role: Role, text: &str, folders: &[String], only_reads: bool, suspects: &mut Suspects) {
        if !self.counts(role, text) {
            return;
        }
        let finds = |path: &str| only_reads && !is_command(role) && path.contains(['*', '?', '[', '{', '(']);
        let words = pieces(role, text);
        let (is_command, any_name) = (is_command(role), any_name(role, text));
        let is_word = !text.trim().contains(char::is_whitespace);
        for word in words.iter().filter(|word| word.len() <= path::MAX_PATH_BYTES && (any_name || self.may_name(word)))
        {
            let mut readings = self.readings(word);
            if !finds(word) && word.contains(['{', '(', '[']) {
                let Some(found) = put_apart(&readings, word, suspects) else { return };
                readings.extend(found);
            }
            for reading in readings {
                let absolute = reading.starts_with('/');
                let joined = folders.iter().filter(|_| !absolute).map(|folder| format!("{folder}/{reading}"));
                for path in absolute.then(|| reading.clone()).into_iter().chain(joined) {
                    if !finds(&path) && self.has(&path::lexical(&path)) {
                        suspects.touched = Some(path);
                        return;
                    }
                    // In a text that is not all a path, only what has a folder in front of it is one that a link leads to.
                    let follows = (is_word || is_command || word.contains('/')) && !path.contains(['*', '?']);
                    if follows && !suspects.follow.contains(&path) {
                        suspects.follow.push(path);
                    }
                }
            }
            if suspects.follow.len() > MAX_FOLLOWED {
                // Nobody looks at that many, and what was not looked at is not let through.
                suspects.too_many = true;
                return;
            }
        }
    }

    /// The first of these paths that leads to a place by a link.
    pub fn leading_inside(&self, follow: &[String], links: &impl Fn(&str) -> Option<String>) -> Option<String> {
        let leads = |path: &&String| path::followed(path, links).is_none_or(|names| self.has(&names));
        follow.iter().find(leads).cloned()
    }

    /// Why a person is asked.
    #[must_use]
    pub fn question(path: &str) -> Finding {
        let shown: String = path.chars().take(256).collect();
        let message = format!("`{shown}` belongs to Switchboard itself: its store, keys, configuration or trust");
        Finding::new("own-files", message).ask()
    }

    /// The same where nobody could look.
    #[must_use]
    pub fn question_unread() -> Finding {
        let message = "not all paths in it could be held against the files of Switchboard itself";
        Finding::new("own-files", message).ask()
    }

    /// Whether a text is worth taking apart: most hold no sign of a path.
    fn may_name(&self, text: &str) -> bool {
        let is_sign = |byte: u8| {
            matches!(byte, b'/' | b'\\' | b'~' | b'$' | b'%' | b'*' | b'?')
                || !byte.is_ascii()
                || byte.is_ascii_control()
        };
        let is_stem =
            |name: &String| name.split_once('.').is_some_and(|(stem, _)| stem.eq_ignore_ascii_case(text.trim()));
        let names = |name: &String| holds(text.as_bytes(), name.as_bytes()) || is_stem(name);
        text.bytes().any(is_sign)
            || self.names.iter().any(names)
            || text.contains(['[', '{', '(']) && text.split_whitespace().any(|word| self.is_found_by(word))
    }

    /// Whether a word is a pattern that finds the name of a place: `mgp.t[o]ml`.
    fn is_found_by(&self, word: &str) -> bool {
        let word = word.trim_matches(['"', '\'', '`', ',', ';']);
        let Some(front) = word.find(['[', '{', '(']).map(|at| word[..at].trim_end_matches(['@', '+', '!'])) else {
            return false;
        };
        let begins = |name: &&String| name.get(..front.len()).is_some_and(|start| start.eq_ignore_ascii_case(front));
        word.len() <= path::MAX_PATH_BYTES && self.names.iter().filter(begins).any(|name| matches(word, name))
    }

    /// Whether a longer text has the name of a place in it, in any escape.
    fn speaks_of_place(&self, text: &str) -> bool {
        let has = |text: &str| {
            let lower = text.to_lowercase().replace(['"', '\'', '\\'], "");
            self.names.iter().any(|name| lower.contains(name))
        };
        has(text)
            || text.contains('%') && percent::stages(text).iter().any(|read| has(read))
            || !text.is_ascii() && has(&path::fold_look_alikes(text))
    }

    /// Every path that a word may be read as.
    fn readings(&self, word: &str) -> Vec<String> {
        let mut readings = Vec::new();
        let stages = percent::stages(word);
        for stage in stages.iter().flat_map(|stage| without_controls(stage)) {
            let folded = path::fold_look_alikes(&stage);
            // What stands behind is left out by readers of addresses, and what stands around by others.
            let bare = stage.split(['#', '?']).next().unwrap_or_default().to_owned();
            let around = stage.trim_matches(|c: char| "[](){}<>+!@,;:\"'`".contains(c)).to_owned();
            for text in [stage.clone(), stage.replace('\\', ""), folded, bare, around] {
                let local = without_scheme(text.trim());
                let expanded = self.expanded(local);
                if !expanded.is_empty() && expanded.len() <= path::MAX_PATH_BYTES && !readings.contains(&expanded) {
                    readings.push(expanded);
                }
            }
        }
        readings
    }

    /// A path with the home folder put in, as shells and many servers do.
    fn expanded(&self, text: &str) -> String {
        let Some(home) = &self.home else { return text.to_owned() };
        let user = home.rsplit('/').next().unwrap_or_default();
        let here = ["$PWD/", "${PWD}/", "$(pwd)/"].iter().find_map(|front| text.strip_prefix(front));
        if let Some(rest) = here {
            return rest.to_owned();
        }
        let fronts = ["~", "$HOME", "${HOME}", "$env:HOME", "%HOME%", "%USERPROFILE%"];
        let own = format!("~{user}");
        let behind = |front: &str| text.strip_prefix(front).filter(|rest| rest.is_empty() || rest.starts_with('/'));
        let rest = fronts.iter().copied().chain([own.as_str()]).find_map(behind);
        let xdg = [
            ("$XDG_DATA_HOME", "/.local/share"),
            ("${XDG_DATA_HOME}", "/.local/share"),
            ("$XDG_CONFIG_HOME", "/.config"),
            ("${XDG_CONFIG_HOME}", "/.config"),
        ];
        let under = xdg.iter().find_map(|(front, folder)| Some(format!("{folder}{}", text.strip_prefix(front)?)));
        match rest.map(str::to_owned).or(under) {
            Some(rest) => format!("{home}{rest}"),
            None => text.to_owned(),
        }
    }

    /// Whether a path lies in or at a place; its names may be patterns.
    fn has(&self, names: &[String]) -> bool {
        // The folder of all servers is none of one of them.
        if self.lent.iter().any(|folder| names.len() > folder.len() && names.starts_with(folder)) {
            return false;
        }
        self.places.iter().any(|(place, kind)| {
            let fits = |at: usize| names.get(at).zip(place.get(at)).is_some_and(|(name, own)| matches(name, own));
            let last = place.len() - 1;
            match kind {
                Place::Folder => names.len() >= place.len() && (0..=last).all(fits),
                // What stands for every file names none.
                Place::File => {
                    let is_named = |name: &String| name.contains(|c: char| c.is_alphanumeric());
                    names.len() == place.len() && names.last().is_some_and(is_named) && (0..=last).all(fits)
                }
                Place::Family => {
                    let stem = place[last].rsplit_once('.').map_or(place[last].as_str(), |(stem, _)| stem);
                    names.len() == place.len()
                        && (0..last).all(fits)
                        && (fits(last)
                            || names[last].to_lowercase().starts_with(&stem.to_lowercase())
                            || BESIDE_STORE.iter().any(|end| matches(&names[last], &format!("{}{end}", place[last]))))
                }
            }
        })
    }
}

/// What the spellings of a word stand for as patterns. One that cannot be put apart, and is no code, may name anything: then it
/// is too many.
fn put_apart(spellings: &[String], word: &str, suspects: &mut Suspects) -> Option<Vec<String>> {
    let mut found = Vec::new();
    let is_code = word.contains(|c: char| c.is_whitespace() || "\"'=;:<>".contains(c));
    for spelling in spellings.iter().filter(|spelling| spelling.contains(['{', '(', '['])) {
        suspects.patterns += usize::from(spelling.contains(['{', '(']));
        let choices = path::readings(spelling.get(..MAX_PATTERN).unwrap_or(spelling));
        let is_whole = choices.whole && spelling.len() <= MAX_PATTERN;
        suspects.too_many |= suspects.patterns > MAX_PATTERNS || !is_whole && !is_code;
        if suspects.too_many {
            return None;
        }
        found.extend(choices.texts);
    }
    Some(found)
}

/// Whether a text holds a name, whatever the case of its letters.
fn holds(text: &[u8], name: &[u8]) -> bool {
    let Some((first, rest)) = name.split_first() else { return true };
    let begins = |byte: &u8| byte.eq_ignore_ascii_case(first);
    let mut at = 0;
    while let Some(found) = text.get(at..).and_then(|text| text.iter().position(begins)) {
        at += found + 1;
        if text.get(at..at + rest.len()).is_some_and(|behind| behind.eq_ignore_ascii_case(rest)) {
            return true;
        }
    }
    false
}

const fn is_command(role: Role) -> bool {
    matches!(role, Role::Command | Role::Commands | Role::CommandWords | Role::Script)
}

const fn is_text(role: Role) -> bool {
    matches!(role, Role::Prose | Role::Content)
}

/// Whether a mere name counts: it may be a link, where a path or a command is meant.
fn any_name(role: Role, text: &str) -> bool {
    let is_word = !text.trim().contains(char::is_whitespace);
    is_command(role) && text.len() <= MAX_BARE_BYTES || is_word && matches!(role, Role::Path | Role::Reference)
}

/// What a string may name: its words, or all of a text, and the files of a patch.
fn pieces(role: Role, text: &str) -> Vec<String> {
    let mut pieces = if is_text(role) { vec![text.trim().to_owned()] } else { words_in(is_command(role), text) };
    pieces.extend(patch::read(text, false).into_iter().flat_map(|patch| patch.names));
    pieces
}

/// The words of a text, in every way that a shell or a program may part them.
fn words_in(is_command: bool, text: &str) -> Vec<String> {
    let mut found = vec![text.trim().to_owned()];
    if is_command && let Ok(words) = crate::shell::plain_words(text) {
        found.extend(words);
    }
    let parts = |c: char| {
        c.is_whitespace()
            || matches!(c, '"' | '\'' | '`' | '=' | ',' | ';' | ':' | '(' | ')' | '|' | '<' | '>' | '&' | '@')
    };
    // Quotes in the middle of a word are left out by shells.
    let bare = text.replace(['"', '\''], "");
    found.extend(text.split(parts).chain(bare.split(parts)).filter(|word| word.len() > 1).map(str::to_owned));
    // What is glued to an option: `-C/path`, `-xf~/x`.
    let glue = |word: &String| Some(word[word.find(['/', '~', '$']).filter(|_| word.starts_with('-'))?..].to_owned());
    let glued: Vec<String> = found.iter().filter_map(glue).collect();
    found.extend(glued);
    found
}

/// A text, and what is left of it where readers stop at a sign that cannot be seen, or leave it out: the whole without them, and
/// each piece between them.
fn without_controls(text: &str) -> Vec<String> {
    let is_hidden = |c: char| c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let mut found = vec![text.to_owned()];
    if text.contains(is_hidden) {
        found.push(text.replace(is_hidden, ""));
        found.extend(text.split(is_hidden).filter(|piece| !piece.is_empty()).take(MAX_PIECES).map(str::to_owned));
    }
    found
}

fn without_scheme(text: &str) -> &str {
    let Some((_, rest)) = uri::scheme_of(text).filter(|(scheme, _)| scheme.len() > 1) else { return text };
    let is_host = |host: &str| ["localhost", "127.0.0.1", "file"].iter().any(|own| host.eq_ignore_ascii_case(own));
    let local = rest.strip_prefix("//").map_or(rest, |after| {
        after.split_once('/').filter(|(host, _)| is_host(host)).map_or(after, |(host, _)| &after[host.len()..])
    });
    if local.starts_with('/') { local } else { text }
}

/// Whether a name, or a pattern for names, fits. Some file systems do not look at case.
fn matches(pattern: &str, name: &str) -> bool {
    if !pattern.contains(['*', '?', '[', '{', '(']) {
        return pattern.trim_end_matches(['.', ' ']).eq_ignore_ascii_case(name) || pattern == name;
    }
    let name = name.to_lowercase();
    path::choices(&pattern.to_lowercase()).texts.iter().any(|pattern| {
        // A class of letters counts as any of them.
        path::Glob::new(&path::plain_classes(pattern)).matches(std::slice::from_ref(&name))
    })
}

/// Whether a text names the program or the file of Switchboard. It may be JSON as it is written, with a letter of an escape before a name.
#[must_use]
pub fn names_switchboard(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let mut words = text.split(|c| !is_part(c));
    words.any(|word| ["switchboard", "mgp.toml"].iter().any(|own| word.to_ascii_lowercase().ends_with(own)))
}
