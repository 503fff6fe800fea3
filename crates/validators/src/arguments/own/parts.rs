//! Whether the parts of one call make up a place together, however a server joins them: `{"root": "/home", "folder": "ann",
//! "name": "x", "extension": ".db"}`.
//!
//! Joins are not tried one by one. A place can be made of a folder at which a path may begin, of as many steps up as the call
//! has, and of the names that lead down from there, if all of them stand somewhere in the call.

use std::collections::HashSet;

use switchboard_policy::path;

use super::super::climb::Climb;
use super::Place;

/// What a call has to make paths of.
#[derive(Debug, Default)]
pub(super) struct Parts {
    /// Folders that it names by absolute paths.
    named: HashSet<Vec<String>>,
    /// Every name in it, in lower case.
    names: HashSet<String>,
    /// Those at which a relative path of it begins.
    first: HashSet<String>,
    climb: Climb,
    /// Whether it names the folder where it is.
    here: bool,
}

impl Parts {
    /// Takes a reading of one string.
    pub(super) fn add(&mut self, reading: &str) {
        let text = reading.trim();
        let steps = || text.split(['/', '\\']).map(str::trim).filter(|step| !matches!(*step, "" | "." | ".."));
        if text.starts_with('/') {
            let mut names = path::lexical(text);
            self.named.insert(names.clone());
            // The folder of a file, where a server puts others beside it or gives it another name.
            if let Some(last) = names.pop() {
                self.names.extend(last.rsplit_once('.').map(|(stem, _)| stem.to_lowercase()));
                self.named.insert(names);
            }
            // Servers that join paths take it for a relative one.
            if text.split('/').any(|step| step == "..") {
                self.climb.add(text);
            }
        } else {
            self.climb.add(text);
            self.first.extend(steps().next().map(str::to_lowercase));
            self.here |= matches!(text, "." | "./");
        }
        self.names.extend(steps().map(str::to_lowercase));
    }

    /// Whether a place can be made of them, from a folder of the call or from one of `bases`.
    pub(super) fn make(&self, place: &[String], kind: Place, bases: &[Vec<String>]) -> bool {
        let from = |base: &Vec<String>, is_named: bool| {
            let shared = base.iter().zip(place).take_while(|(name, own)| name.eq_ignore_ascii_case(own)).count();
            let up = base.len() - shared;
            // Of a base that nobody named, what leads down is a path of its own, which was looked at.
            let begins = || is_named || up > 0 || self.here || self.begin_with(place, shared, kind);
            up <= self.climb.worst() && shared < place.len() && begins() && self.lead_down(place, shared, kind)
        };
        self.named.iter().any(|base| from(base, true)) || bases.iter().any(|base| from(base, false))
    }

    /// Whether a relative path begins with the name of a place at this depth, or with a piece of it.
    fn begin_with(&self, place: &[String], depth: usize, kind: Place) -> bool {
        let Some(own) = place.get(depth) else { return false };
        let lower = own.to_lowercase();
        let is_stem = |name: &str| lower.strip_prefix(name).is_some_and(|ending| ending.starts_with('.'));
        self.first.iter().any(|name| fits(name, own, kind, depth + 1 == place.len()) || is_stem(name))
    }

    /// Whether all names of a place below this depth are there.
    fn lead_down(&self, place: &[String], depth: usize, kind: Place) -> bool {
        let last = place.len() - 1;
        place.iter().enumerate().skip(depth).all(|(at, own)| {
            self.names.iter().any(|name| fits(name, own, kind, at == last)) || at == last && self.has_in_pieces(own)
        })
    }

    /// Whether a name is there as its stem and its ending.
    fn has_in_pieces(&self, own: &str) -> bool {
        let own = own.to_lowercase();
        own.match_indices('.').any(|(at, _)| {
            let (stem, ending) = own.split_at(at);
            self.names.contains(stem) && (self.names.contains(ending) || self.names.contains(&ending[1..]))
        })
    }
}

/// Whether a name is one of a place. Patterns are none: one by itself is looked at as the path that it is.
fn fits(name: &str, own: &str, kind: Place, is_last: bool) -> bool {
    let stem = own.rsplit_once('.').map_or(own, |(stem, _)| stem);
    let begins = || name.get(..stem.len()).is_some_and(|front| front.eq_ignore_ascii_case(stem));
    name.trim_end_matches(['.', ' ']).eq_ignore_ascii_case(own) || kind == Place::Family && is_last && begins()
}
