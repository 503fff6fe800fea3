//! Keys and passwords in a text, by their shape and by how random they are. Marks where they stand, never prints them.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    /// What it seems to be.
    pub kind: &'static str,
    /// Where it stands, in bytes.
    pub place: Range<usize>,
}

/// Shapes that are secrets by themselves.
const SHAPES: &[(&str, &str)] = &[
    ("private key", r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
    ("AWS access key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    ("GitHub token", r"\bgh[pousr]_[A-Za-z0-9]{36,}\b|\bgithub_pat_[A-Za-z0-9_]{22,}\b"),
    ("GitLab token", r"\bglpat-[A-Za-z0-9_-]{20,}"),
    ("Slack token", r"\bxox[abprs]-[A-Za-z0-9-]{10,}"),
    ("model provider key", r"\bsk-(?:ant-|proj-)?[A-Za-z0-9_-]{20,}"),
    ("Google API key", r"\bAIza[0-9A-Za-z_-]{35}\b"),
    ("Stripe key", r"\b[rs]k_(?:live|test)_[0-9A-Za-z]{16,}"),
    ("npm token", r"\bnpm_[A-Za-z0-9]{36}\b"),
    ("JSON web token", r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    ("password in a URL", r"\b[a-z][a-z0-9+.-]*://[^\s:/@]+:[^\s:/@]{3,}@"),
];

static PATTERNS: LazyLock<Vec<(&'static str, Regex)>> =
    LazyLock::new(|| SHAPES.iter().filter_map(|(kind, shape)| Some((*kind, Regex::new(shape).ok()?))).collect());

/// A name that promises a secret, and a value behind it.
static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?i)(?:api[_-]?key|secret|token|passw(?:or)?d|credential|private[_-]?key)["']?\s*[:=]\s*["']?([A-Za-z0-9+/_.=-]{16,})"#).ok()
});

/// The secrets in a text, by where they begin.
pub(super) fn find(text: &str) -> Vec<Secret> {
    let mut found: Vec<Secret> = Vec::new();
    let mut add = |kind, place: Range<usize>| {
        if !found.iter().any(|earlier| earlier.place.start < place.end && place.start < earlier.place.end) {
            found.push(Secret { kind, place });
        }
    };
    for (kind, pattern) in PATTERNS.iter() {
        pattern.find_iter(text).for_each(|hit| add(kind, hit.range()));
    }
    for hit in NAMED.iter().flat_map(|pattern| pattern.captures_iter(text)) {
        if let Some(value) = hit.get(1).filter(|value| entropy(value.as_str()) >= 3.2) {
            add("named secret", value.range());
        }
    }
    found.sort_by_key(|secret| secret.place.start);
    found
}

/// Bits per character, from how often each stands in the text.
fn entropy(text: &str) -> f64 {
    let mut counts = [0u32; 256];
    text.bytes().for_each(|byte| counts[usize::from(byte)] += 1);
    let length = f64::from(u32::try_from(text.len()).unwrap_or(u32::MAX));
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| f64::from(*count) / length)
        .map(|share| -share * share.log2())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_compiles() {
        assert_eq!(PATTERNS.len(), SHAPES.len());
        assert!(NAMED.is_some());
    }

    #[test]
    fn shapes() {
        let key = format!("AKIA{}", "ABCDEFGHIJKLMNOP");
        assert_eq!(find(&format!("id {key}."))[0], Secret { kind: "AWS access key", place: 3..23 });
        assert_eq!(find("-----BEGIN OPENSSH PRIVATE KEY-----").len(), 1);
        assert_eq!(find("postgres://app:hunter22@db/x").len(), 1);
        assert_eq!(find("api_key = 9fK2mQ7xT4bW8zR1").len(), 1);
        for harmless in [
            "api_key = aaaaaaaaaaaaaaaaaaaaaaaa",
            "the token is required",
            "sk-",
            "https://example.com/a:b",
            "password: ********",
        ] {
            assert!(find(harmless).is_empty(), "{harmless}");
        }
    }
}
