//! Scopes: labels that an action carries (MCPL 7) and names that a caller must hold (proposal 4).
//!
//! A label is matched by the patterns of the host: a path by the rules for paths, anything else as one name or as
//! names between slashes, with `*` for a part of a name and `**` for any number of names. The blacklist wins. A label
//! is what the server says that it will do, so where the payload says something else, the answer is no: what is
//! matched has to be what is done.

use switchboard_wire::{Kind, Object, Raw};

use crate::path::{self, Glob};
use crate::{Finding, Verdict};

/// Longer labels are refused.
pub const MAX_LABEL_BYTES: usize = 4096;

/// Members of a payload that say what is acted upon. If they are there, they have to say what the label says.
const ACTED_UPON: &[&str] =
    &["path", "file", "filename", "channel", "target", "resource", "uri", "url", "name", "label", "repo", "repository"];

/// The patterns of a host for one feature set (MCPL 7.2).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Labels {
    whitelist: Vec<Pattern>,
    blacklist: Vec<Pattern>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Pattern {
    text: String,
    glob: Glob,
}

/// What the patterns say of a label (MCPL 7.6).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LabelVerdict {
    /// On the whitelist, and not on the blacklist.
    Approved,
    /// On the blacklist, or not to be judged at all.
    Denied(Finding),
    /// On neither list: somebody has to be asked.
    Ask,
}

impl Labels {
    /// The patterns as an operator writes them.
    pub fn new<P: AsRef<str>>(whitelist: &[P], blacklist: &[P]) -> Self {
        let patterns = |list: &[P]| {
            list.iter().map(|text| Pattern { text: text.as_ref().to_owned(), glob: Glob::new(text.as_ref()) }).collect()
        };
        Self { whitelist: patterns(whitelist), blacklist: patterns(blacklist) }
    }

    /// Whether an action with this label and payload is covered. `links` gives the target of a symbolic link, for
    /// labels that are paths.
    pub fn judge(&self, label: &str, payload: Option<&Raw>, links: &impl Fn(&str) -> Option<String>) -> LabelVerdict {
        if let Err(finding) = check_text(label).and_then(|()| check_payload(label, payload)) {
            return LabelVerdict::Denied(finding);
        }
        if label.starts_with('/') { self.judge_path(label, links) } else { self.judge_name(label) }
    }

    /// Every way to read the path has to be covered, and none may be denied.
    fn judge_path(&self, label: &str, links: &impl Fn(&str) -> Option<String>) -> LabelVerdict {
        let globs = |patterns: &[Pattern]| patterns.iter().map(|pattern| pattern.glob.clone()).collect();
        let scope = path::Scope { allow: globs(&self.whitelist), deny: globs(&self.blacklist), base: "/".to_owned() };
        match path::check(&scope, label, links) {
            Ok(()) => LabelVerdict::Approved,
            Err(finding) if finding.rule == "path-outside" => LabelVerdict::Ask,
            Err(finding) => LabelVerdict::Denied(finding),
        }
    }

    fn judge_name(&self, label: &str) -> LabelVerdict {
        let names: Vec<String> = label.split('/').map(str::to_owned).collect();
        if names.iter().any(|name| name.is_empty() || name == "." || name == "..") {
            return LabelVerdict::Denied(Finding::new("scope-label", "the label has an empty or relative part"));
        }
        let folded: Vec<String> = names.iter().map(|name| name.to_lowercase()).collect();
        let denies = |pattern: &&Pattern| {
            pattern.glob.matches(&names) || Glob::new(&pattern.text.to_lowercase()).matches(&folded)
        };
        if let Some(pattern) = self.blacklist.iter().find(denies) {
            let message = format!("`{label}` is denied by `{}`", pattern.text);
            return LabelVerdict::Denied(Finding::new("scope-denied", message));
        }
        // A pattern that may match at any depth would let `evil/#general` pass for `#general`.
        let allows =
            |pattern: &Pattern| Glob::new(&format!("/{}", pattern.text.trim_start_matches('/'))).matches(&names);
        if self.whitelist.iter().any(allows) { LabelVerdict::Approved } else { LabelVerdict::Ask }
    }
}

fn check_text(label: &str) -> Verdict {
    let refuse = |what: &str| Err(Finding::new("scope-label", what));
    if label.is_empty() || label.trim() != label {
        return refuse("the label is empty or has blanks around it");
    }
    if label.len() > MAX_LABEL_BYTES {
        return refuse("the label is too long");
    }
    // A person reads the label before saying yes: it has to be what it looks like.
    let misleading = |c: char| {
        c.is_control()
            || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}'
                | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
    };
    if label.contains(misleading) { refuse("the label holds characters that cannot be seen") } else { Ok(()) }
}

fn check_payload(label: &str, payload: Option<&Raw>) -> Verdict {
    let Some(payload) = payload.filter(|payload| payload.kind() != Kind::Null) else { return Ok(()) };
    let Ok(payload) = Object::open(payload) else {
        return Err(Finding::new("scope-payload", "the payload is no object that names each member once"));
    };
    for (key, value) in payload.iter() {
        if ACTED_UPON.contains(&key.as_ref()) && value.as_text().as_deref() != Some(label) {
            let message = format!("the label says `{label}`, the payload's `{key}` says something else");
            return Err(Finding::new("scope-mismatch", message));
        }
    }
    Ok(())
}

/// The scopes of `required` that are not among those `held` (proposal 4). Names are compared exactly: there is no
/// common vocabulary of scopes, so none of them contains another.
pub fn missing_scopes<'r, R: AsRef<str>, H: AsRef<str>>(required: &'r [R], held: &[H]) -> Vec<&'r str> {
    let mut missing = Vec::new();
    for scope in required.iter().map(AsRef::as_ref) {
        if !held.iter().any(|held| held.as_ref() == scope) && !missing.contains(&scope) {
            missing.push(scope);
        }
    }
    missing
}
