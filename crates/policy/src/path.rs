//! Paths and scopes (MCPL 7): does this path stay inside what the operator allowed, however a server may read it?
//!
//! A server may decode the path, expand it, fold look-alike characters or follow links before it opens anything. So
//! one path has several readings, and every one of them must stay inside the allowed patterns and outside the denied
//! ones. The module touches no file system: the caller says where links lead. What happens to the links between this
//! check and the use is beyond it; only the isolation of the server closes that gap.

mod glob;
mod pattern;
mod reading;
mod resolve;

pub use glob::Glob;
pub use pattern::{Choices, choices, may_climb, readings};
pub use reading::fold_look_alikes;

use crate::{Finding, Verdict};

/// Longer paths are refused: no system opens them.
pub const MAX_PATH_BYTES: usize = 4096;

/// Where a path may lead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    /// Patterns of which one must match the final path.
    pub allow: Vec<Glob>,
    /// Patterns of which none may match, neither before nor after links are followed; they win over `allow`.
    pub deny: Vec<Glob>,
    /// The absolute directory at which a relative path starts.
    pub base: String,
}

impl Scope {
    /// A scope from patterns as an operator writes them.
    pub fn new<P: AsRef<str>>(allow: &[P], deny: &[P], base: impl Into<String>) -> Self {
        let globs = |patterns: &[P]| patterns.iter().map(|pattern| Glob::new(pattern.as_ref())).collect();
        Self { allow: globs(allow), deny: globs(deny), base: base.into() }
    }
}

/// Whether every reading of `path` stays inside `scope`. `links` gives the target of a symbolic link, if the absolute
/// path it is asked about is one.
pub fn check(scope: &Scope, path: &str, links: &impl Fn(&str) -> Option<String>) -> Verdict {
    for reading in reading::all(path)? {
        check_reading(scope, &reading, links)?;
    }
    Ok(())
}

/// The same for a path that arrived as bytes.
pub fn check_bytes(scope: &Scope, path: &[u8], links: &impl Fn(&str) -> Option<String>) -> Verdict {
    match std::str::from_utf8(path) {
        Ok(path) => check(scope, path, links),
        Err(_) => Err(Finding::new("path-encoding", "the path is not valid UTF-8")),
    }
}

/// The names of an absolute path, with `.` and `..` taken out as its text says.
#[must_use]
pub fn lexical(path: &str) -> Vec<String> {
    resolve::normalise(path)
}

/// A pattern with `?` for each class of letters.
#[must_use]
pub fn plain_classes(pattern: &str) -> String {
    let mut plain = String::new();
    let mut rest = pattern;
    while let Some((front, behind)) = rest.split_once('[') {
        let Some((_, behind)) = behind.split_once(']') else { break };
        plain.push_str(front);
        plain.push('?');
        rest = behind;
    }
    plain.push_str(rest);
    plain
}

/// Whether a pattern for names, from the base of a scope, may find what the scope denies. `finds_hidden` is whether a sign in
/// front of a name may stand for a dot: to a shell it does not.
pub fn check_pattern(scope: &Scope, pattern: &str, finds_hidden: bool) -> Verdict {
    if scope.deny.is_empty() {
        return Ok(());
    }
    let bare = pattern.replace(['\'', '"', '\\'], "");
    for choice in choices(&bare).texts {
        let absolute = if choice.starts_with('/') { choice } else { format!("{}/{choice}", scope.base) };
        let path: Vec<_> =
            lexical(&absolute).iter().map(|name| glob::Spread::new(&glob::plain_groups(&fold(name)))).collect();
        if let Some(glob) = scope.deny.iter().find(|glob| glob.may_find(&path, finds_hidden)) {
            return Err(Finding::new("path-denied", format!("the pattern `{pattern}` may find what `{glob}` denies")));
        }
    }
    Ok(())
}

/// The names of an absolute path behind all links; `None` where these do not end.
#[must_use]
pub fn followed(path: &str, links: &impl Fn(&str) -> Option<String>) -> Option<Vec<String>> {
    resolve::follow(path, links).ok()
}

fn check_reading(scope: &Scope, reading: &str, links: &impl Fn(&str) -> Option<String>) -> Verdict {
    let absolute = if reading.starts_with('/') { reading.to_owned() } else { format!("{}/{reading}", scope.base) };
    let lexical = resolve::normalise(&absolute);
    check_denied(scope, &lexical)?;
    // A server that tidies `..` away before it opens the file and one that lets the kernel walk may end elsewhere.
    let walks = [resolve::join(&lexical), absolute];
    let different = if walks[1].contains("..") { &walks[..] } else { &walks[..1] };
    for start in different {
        let real = resolve::follow(start, links)?;
        if real != lexical {
            check_denied(scope, &real)?;
        }
        if !scope.allow.iter().any(|glob| glob.matches(&real)) {
            let shown = resolve::join(&real);
            return Err(Finding::new("path-outside", format!("`{shown}` is outside the allowed paths")));
        }
    }
    Ok(())
}

fn check_denied(scope: &Scope, path: &[String]) -> Verdict {
    if scope.deny.is_empty() {
        return Ok(());
    }
    // A denied name must not come back in another case or with the trailing dots and blanks that some systems drop.
    let is_folded = |name: &String| name.bytes().all(is_settled) && !name.ends_with(['.', ' ']);
    let folded: Option<Vec<String>> =
        (!path.iter().all(is_folded)).then(|| path.iter().map(|name| fold(name)).collect());
    let denies = |glob: &&Glob| match &folded {
        Some(folded) => glob.matches(path) || glob.matches_folded(folded),
        None => glob.matches(path) || (!glob.is_folded() && glob.matches_folded(path)),
    };
    let others = if path.iter().any(|name| name.contains(DOUBTFUL)) { expanded(path) } else { Vec::new() };
    let spread = |glob: &&Glob| others.iter().any(|path| glob.may_match_folded(path));
    let denied = scope.deny.iter().find(denies).or_else(|| scope.deny.iter().find(spread));
    denied.map_or(Ok(()), |glob| {
        let shown = resolve::join(path);
        Err(Finding::new("path-denied", format!("`{shown}` is denied by `{glob}`")))
    })
}

/// What shells and libraries for patterns take for something else than a letter of a name.
const DOUBTFUL: [char; 15] = ['[', '(', '{', '\'', '"', '#', '|', '<', '>', '&', ';', ',', '@', '+', '!'];

/// What a path stands for where a server takes it for a pattern or puts it into a command. Names with such letters are
/// ordinary, so this counts only against what is denied: `.en[v]`, `@(.env)`, `.e'n'v` and `.env#x` are `.env` to some.
fn expanded(path: &[String]) -> Vec<Vec<glob::Spread>> {
    let spread = |change: &dyn Fn(&str) -> String| {
        path.iter().map(|name| glob::Spread::new(&fold(&change(name)))).collect::<Vec<_>>()
    };
    let kept = |dropped: &'static [char]| move |name: &str| name.replace(dropped, "");
    let ends: &[char] = &['#', '|', '<', '>', '&', ';', ',', '@'];
    let front = |name: &str| match name.split(ends).next() {
        Some(front) if !front.is_empty() => front.to_owned(),
        _ => name.to_owned(),
    };
    let back = |name: &str| match name.rsplit(ends).next() {
        Some(back) if !back.is_empty() => back.to_owned(),
        _ => name.to_owned(),
    };
    vec![
        spread(&str::to_owned),
        spread(&kept(&['\'', '"', '{', '}'])),
        spread(&kept(&['@', '+', '!', '(', ')'])),
        spread(&front),
        spread(&back),
    ]
}

/// Whether folding leaves this byte alone wherever it stands, the end of a name aside.
const fn is_settled(byte: u8) -> bool {
    byte.is_ascii() && !byte.is_ascii_uppercase()
}

fn fold(name: &str) -> String {
    name.trim_end_matches(['.', ' ']).to_lowercase()
}
