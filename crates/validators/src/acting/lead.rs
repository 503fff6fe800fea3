//! Where the strings of a call lead, alone and together: to a place of the table, or to secrets.
//!
//! Nobody knows which of its arguments a server takes for a folder and which for a name. So every word of a call is both, under
//! whatever key it stands, in every spelling that a server may read; text is none of them.

use std::collections::HashSet;

use switchboard_policy::path;

use super::table::{self, Kind, Row};
use crate::{percent, shell};

/// Longer strings are no paths.
pub(super) const MAX_TEXT: usize = 1_024;
/// Readings of one string that are looked at; one that has more is asked about.
pub(super) const MAX_READINGS: usize = 128;
/// Readings of the patterns of one call; a call with more is asked about.
const MAX_READ: usize = 4_096;
/// Steps of a pattern that are looked up.
const MAX_STEPS: usize = 32;
/// Parts of one call that are kept.
const MAX_PARTS: usize = 256;
/// Parts that hold a name of a place and are joined in threes; more are joined in twos.
const MAX_THREES: usize = 16;
/// The same in twos; a call with more of them is asked about.
const MAX_TWOS: usize = 64;
/// Folders and names that are held against the places of secrets, in twos.
const MAX_SECRETS: usize = 16;
/// Variables and signs that stand for somebody's home, in small letters.
const HOMES: [&str; 16] = [
    "~",
    "$home",
    "${home}",
    "$env:home",
    "$env:userprofile",
    "$env:appdata",
    "%home%",
    "%homepath%",
    "%userprofile%",
    "%appdata%",
    "$userprofile",
    "${userprofile}",
    "$xdg_config_home",
    "${xdg_config_home}",
    "$xdg_data_home",
    "${xdg_data_home}",
];

/// What a string may be of a path, in one of its readings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    /// Its names, in small letters, without steps that lead nowhere.
    pub(super) names: Vec<String>,
    /// Whether it is named from the root, a home or a step up.
    pub(super) rooted: bool,
}

impl Part {
    /// The readings of a string that may be a path; none for a text. A pattern with too many of them has [`MAX_READINGS`].
    pub(super) fn of(text: &str) -> Vec<Self> {
        let text = text.trim().trim_matches(['"', '\'', '`', '<', '>']);
        // Of what holds blanks only what begins at a root is a path.
        let begins = || {
            text.starts_with(['/', '\\', '~', '$', '%', '.'])
                || text.get(1..2) == Some(":")
                || text.starts_with("file:")
        };
        let is_text = text.contains(char::is_whitespace) && !begins();
        if text.is_empty() || text.len() > MAX_TEXT || is_text || text.contains('\n') {
            return Vec::new();
        }
        if is_plain(text) {
            return Self::read(text).into_iter().collect();
        }
        let mut parts = Vec::new();
        for stage in percent::stages(text) {
            // Some readers end a text at a zero byte, some leave it out.
            let cut = stage.split('\0').next().unwrap_or_default().to_owned();
            let bare: String = stage.chars().filter(|c| !c.is_control()).collect();
            let folded = path::fold_look_alikes(&bare);
            let mut readings = vec![bare.replace('\\', ""), bare.replace('\\', "/"), folded, cut];
            readings.dedup();
            for reading in readings {
                let choices = path::readings(&reading);
                let read = choices.texts.iter().flat_map(|choice| found(choice));
                for part in read.filter_map(|choice| Self::read(&choice)) {
                    if !parts.contains(&part) {
                        parts.push(part);
                    }
                    if parts.len() >= MAX_READINGS {
                        return parts;
                    }
                }
                // What is not put apart is no path of code, but may be any other.
                if !choices.whole && reading.contains('/') && !reading.contains(['"', '\'', ';', '=']) {
                    parts.resize(MAX_READINGS, Self { names: Vec::new(), rooted: true });
                    return parts;
                }
            }
        }
        parts
    }

    fn read(text: &str) -> Option<Self> {
        let lower = text.trim().to_ascii_lowercase();
        let local = without_scheme(&lower)?;
        let home = HOMES
            .iter()
            .find_map(|home| local.strip_prefix(home).filter(|rest| rest.is_empty() || rest.starts_with('/')));
        let user = || local.strip_prefix('~').and_then(|rest| rest.split_once('/')).map(|(_, rest)| rest);
        let drive = || {
            let rest = local.strip_prefix(|c: char| c.is_ascii_alphabetic())?.strip_prefix(':')?;
            (rest.is_empty() || rest.starts_with('/')).then_some(rest)
        };
        let root = home.or_else(user).or_else(drive).or_else(|| local.strip_prefix('/'));
        let (rest, mut rooted) = (root.unwrap_or(local), root.is_some());
        // A sentence may hold a slash; what begins at a root may hold blanks.
        if !rooted && rest.contains(char::is_whitespace) {
            return None;
        }
        let in_home = if local.contains("xdg_config_home") {
            ".config/"
        } else if local.contains("xdg_data_home") {
            ".local/share/"
        } else {
            ""
        };
        let mut names: Vec<String> = Vec::new();
        for name in in_home.split('/').chain(rest.split('/')) {
            match name.trim() {
                "" | "." => {}
                ".." => rooted |= names.pop().is_none(),
                name => names.push(name.trim_end_matches(['.', ' ']).to_owned()),
            }
        }
        Some(Self { names, rooted })
    }

    /// Whether it has a name of a place.
    fn is_known(&self) -> bool {
        self.names.iter().any(|name| table::has_name(name))
    }

    /// Whether it may be a folder: its last name has no ending.
    fn may_be_folder(&self) -> bool {
        let ending = |name: &String| name.rfind('.').is_some_and(|at| at > 0);
        !self.names.last().is_some_and(ending)
    }

    fn text(&self) -> String {
        let text = self.names.join("/");
        if self.rooted { format!("/{text}") } else { text }
    }
}

/// Whether everybody reads a string in the same way.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'_' | b'-'))
}

/// Whether a string is one plain word that no place has in it, as most are.
pub(super) fn is_no_piece(raw: &str) -> bool {
    raw.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-'))
        && !table::has_name(raw)
}

/// What stands behind `file:`; nothing for an address of another scheme.
fn without_scheme(text: &str) -> Option<&str> {
    let Some((scheme, rest)) = text.split_once(':').filter(|(scheme, _)| scheme.len() > 1) else { return Some(text) };
    if scheme == "file" {
        let local = rest.strip_prefix("//").unwrap_or(rest);
        // What stands behind is for readers of addresses, and no part of the name.
        let local = local.split(['?', '#']).next().unwrap_or_default();
        let behind = local.strip_prefix("localhost").unwrap_or(local);
        return Some(if behind.starts_with('/') { behind } else { local });
    }
    let is_scheme = scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+.-".contains(&byte));
    if is_scheme && rest.starts_with('/') || scheme == "data" { None } else { Some(text) }
}

/// A pattern with the names of places in the place of the steps that find them.
fn found(choice: &str) -> Vec<String> {
    if !choice.contains(['*', '?', '[']) {
        return vec![choice.to_owned()];
    }
    let mut paths = vec![String::new()];
    for (at, step) in choice.split('/').enumerate() {
        let plain = path::plain_classes(&step.to_ascii_lowercase());
        let mut names: Vec<String> = Vec::new();
        if at < MAX_STEPS && plain.contains(['*', '?']) && !plain.starts_with(['*', '?']) {
            names.extend(table::found_by(&plain).into_iter().map(str::to_owned));
        }
        if names.is_empty() || paths.len() * names.len() > MAX_TWOS {
            names = vec![step.to_owned()];
        }
        let between = if at > 0 { "/" } else { "" };
        paths = paths.iter().flat_map(|path| names.iter().map(move |name| format!("{path}{between}{name}"))).collect();
    }
    paths
}

/// A string of a call, with what its key says.
#[derive(Debug)]
pub(super) struct Named {
    pub(super) part: Part,
    /// Whether its key is for paths.
    pub(super) is_path: bool,
    /// Whether its key is for names of files.
    pub(super) is_name: bool,
}

/// What strings of one call have been seen.
#[derive(Debug, Default)]
pub(super) struct Parts {
    all: Vec<Named>,
    /// Readings of patterns among them.
    read: usize,
}

impl Parts {
    /// Whether more patterns have been read than are.
    pub(super) const fn is_full(&self) -> bool {
        self.read > MAX_READ
    }

    pub(super) fn add(&mut self, parts: Vec<Part>, is_path: bool, is_name: bool) {
        self.read += parts.len().saturating_sub(1);
        for part in parts {
            let is_known = part.is_known();
            let matters = is_known || part.rooted || is_path || is_name;
            let is_kept = matters && (self.all.len() < MAX_PARTS || is_known);
            if is_kept && self.all.len() < 2 * MAX_PARTS && !self.all.iter().any(|one| one.part == part) {
                self.all.push(Named { part, is_path, is_name });
            }
        }
    }

    /// The place to which strings lead together, where none does by itself.
    pub(super) fn together(&self) -> Option<String> {
        let known: Vec<&Part> = self.all.iter().map(|one| &one.part).filter(|part| part.is_known()).collect();
        if known.is_empty() {
            return None;
        }
        // What is joined begins at any folder of the call; a place has its own names in what follows.
        let begins_rooted = self.all.iter().any(|one| one.part.rooted && one.part.may_be_folder());
        let rooted = begins_rooted || known.iter().any(|part| part.rooted);
        let names: HashSet<&String> = known.iter().flat_map(|part| &part.names).collect();
        let counts = |row: &&Row| row.kind == Kind::Project || row.kind == Kind::Machine && rooted;
        let rows = table::keyed(names.iter().copied()).filter(counts).filter(|row| row.is_covered(&names));
        let rows: Vec<&'static Row> = rows.collect();
        if rows.is_empty() {
            return None;
        }
        if known.len() > MAX_TWOS || self.all.len() >= MAX_PARTS {
            return Some("more names of such places than can be joined".to_owned());
        }
        let lead = |parts: &[&Part]| {
            let names: Vec<String> = parts.iter().flat_map(|part| part.names.iter().cloned()).collect();
            let rooted = parts.first().is_some_and(|part| part.rooted) || begins_rooted;
            rows.iter()
                .any(|row| row.is_met(&names, rooted))
                .then(|| format!("`{}` decides what runs later or who may come in", names.join("/")))
        };
        let follows = |part: &&&Part| !part.rooted;
        for first in &known {
            if let Some(found) = lead(&[first]) {
                return Some(found);
            }
            for second in known.iter().filter(follows).filter(|second| *second != first) {
                if let Some(found) = lead(&[first, second]) {
                    return Some(found);
                }
                let thirds = known.iter().filter(follows).filter(|third| *third != first && *third != second);
                let mut thirds = thirds.take(if known.len() <= MAX_THREES { MAX_THREES } else { 0 });
                if let Some(found) = thirds.find_map(|third| lead(&[first, second, third])) {
                    return Some(found);
                }
            }
        }
        None
    }

    /// The secrets to which a folder and a name lead together.
    pub(super) fn secrets(&self) -> Option<String> {
        let folders = self.all.iter().filter(|one| one.is_path && one.part.may_be_folder()).take(MAX_SECRETS);
        folders.into_iter().find_map(|folder| {
            let names =
                self.all.iter().filter(|one| (one.is_name || one.is_path) && !one.part.rooted).take(MAX_SECRETS);
            let mut paths = names
                .filter(|name| name.part != folder.part)
                .map(|name| format!("{}/{}", folder.part.text().trim_end_matches('/'), name.part.text()));
            paths.find_map(|path| secret(&path))
        })
    }
}

/// What a path to secrets is.
pub(super) fn secret(text: &str) -> Option<String> {
    // Everybody reads the list of users.
    (shell::holds_secrets(text) && !text.ends_with("/etc/passwd")).then(|| format!("`{text}` holds secrets"))
}

/// The place to which one string leads, in a tool that may write there.
pub(super) fn place(parts: &[Part], text: &str) -> Option<String> {
    if parts.len() >= MAX_READINGS {
        return Some("it has more readings than are looked at".to_owned());
    }
    let rows = parts.iter().filter_map(|part| table::place_of(&part.names, part.rooted));
    match rows.map(|row| row.kind).find(|kind| *kind != Kind::Pipeline)? {
        Kind::Machine => Some(format!("`{text}` decides what runs later or who may come in")),
        Kind::Project | Kind::Pipeline => Some(format!("what is written to `{text}` decides what runs later")),
    }
}

/// Whether what is written to a path runs on other machines or at every commit.
pub(super) fn is_pipeline(text: &str) -> bool {
    let rows = || Part::of(text).into_iter().find_map(|part| table::place_of(&part.names, part.rooted));
    rows().is_some_and(|row| row.kind == Kind::Pipeline)
}
