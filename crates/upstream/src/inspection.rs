//! What a server shows, and what came of looking at it.
//!
//! Who looks, and by which rules, is for the holder to say; a server keeps the answer.

use std::collections::HashMap;

use switchboard_policy::Finding;
use switchboard_validators::screen::Screening;
use switchboard_wire::{Object, Raw};

use crate::lists::Lists;

/// Under this name the instructions of a server are remembered: no tool can have it.
pub const INSTRUCTIONS: &str = "(instructions)";

/// Characters of a server's version that are remembered.
const MAX_VERSION_CHARS: usize = 64;

/// What a server shows, and which version of itself it tells.
#[derive(Debug, Clone, Copy)]
pub struct PresentedDefinitions<'a> {
    /// Its lists.
    pub lists: &'a Lists,
    /// Its instructions for the model.
    pub instructions: Option<&'a str>,
    /// Its `serverInfo`.
    pub info: Option<&'a Raw>,
    /// The version of the package it was started from, where that is known.
    pub package: Option<&'a str>,
}

impl PresentedDefinitions<'_> {
    /// Its version: of its package, or as it says itself.
    pub fn version(&self) -> Option<String> {
        let told = || Object::open(self.info?).ok()?.text("version");
        let version = self.package.map(str::to_owned).or_else(told)?;
        Some(version.chars().take(MAX_VERSION_CHARS).collect())
    }
}

/// What is held back of a server, by name, and why.
pub type Quarantine = HashMap<String, String>;

/// Findings by the name of what they were found in.
pub type Marked = HashMap<String, Finding>;

/// What came of looking at what a server shows.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Inspection {
    /// What is held back.
    pub held: Quarantine,
    /// What is shown with a mark, and what was found in it.
    pub marked: Marked,
}

impl Inspection {
    /// Notes what is to be shown with a mark, if screening says so.
    pub fn mark(&mut self, name: &str, screening: &Screening) {
        if let Screening::Marked(finding) = screening {
            self.marked.insert(name.to_owned(), finding.clone());
        }
    }
}
