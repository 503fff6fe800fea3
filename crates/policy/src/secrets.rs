//! Keys and passwords in a text, by their shape and by how random they are. Marks where they stand, never prints them.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretMatch {
    /// What it seems to be.
    pub kind: &'static str,
    /// Where it stands, in bytes.
    pub place: Range<usize>,
}

/// Shapes that are secrets by themselves. Each is bounded, and none of them can hold code: a mask in their place hides
/// nothing else. What stands in a group is the secret, where not all of it is.
const SHAPES: &[(&str, &str)] = &[
    ("AWS access key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    ("GitHub token", r"\bgh[pousr]_[A-Za-z0-9]{36,255}\b|\bgithub_pat_[A-Za-z0-9_]{22,255}\b"),
    ("GitLab token", r"\bglpat-[A-Za-z0-9_-]{20,255}"),
    ("Slack token", r"\bxox[abprs]-[A-Za-z0-9-]{10,255}"),
    ("model provider key", r"\bsk-(?:ant-|proj-)?[A-Za-z0-9_-]{20,255}"),
    ("Google API key", r"\bAIza[0-9A-Za-z_-]{35}\b"),
    ("Stripe key", r"\b[rs]k_(?:live|test)_[0-9A-Za-z]{16,255}"),
    ("npm token", r"\bnpm_[A-Za-z0-9]{36}\b"),
    ("JSON web token", r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    // The user information of a URL, and nothing that merely ends with an @: no quote, bracket, blank or semicolon.
    (
        "password in a URL",
        r"\b[A-Za-z][A-Za-z0-9+.-]{0,31}://[A-Za-z0-9._~%!$&*+,=-]{0,64}:([A-Za-z0-9._~%!$&*+,=-]{3,128})@[A-Za-z0-9\[]",
    ),
];

/// How the text of a private key begins.
const KEY_BEGINS: &str = r"-----BEGIN [A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?-----";
/// How it ends.
const KEY_ENDS: &str = r"-----END [A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?-----";
/// Bytes of a private key that are looked through for its end.
const MAX_KEY_BYTES: usize = 16 << 10;
/// Characters that a word of a key has at least, where its end is missing.
const MIN_KEY_WORD: usize = 40;

static PATTERNS: LazyLock<Vec<(&'static str, Regex)>> =
    LazyLock::new(|| SHAPES.iter().filter_map(|(kind, shape)| Some((*kind, Regex::new(shape).ok()?))).collect());

static KEY: LazyLock<Option<(Regex, Regex)>> =
    LazyLock::new(|| Some((Regex::new(KEY_BEGINS).ok()?, Regex::new(KEY_ENDS).ok()?)));

/// A name that promises a secret, and a value behind it.
static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?i)(?:api[_-]?key|secret|token|passw(?:or)?d|credential|private[_-]?key)["']?\s*[:=]\s*["']?([A-Za-z0-9+_=-][A-Za-z0-9+/_.=-]{15,511})"#).ok()
});

/// The secrets in a text, by where they begin.
#[must_use]
pub fn find(text: &str) -> Vec<SecretMatch> {
    let mut found: Vec<SecretMatch> = Vec::new();
    let mut add = |kind, place: Range<usize>| {
        if !found.iter().any(|earlier| earlier.place.start < place.end && place.start < earlier.place.end) {
            found.push(SecretMatch { kind, place });
        }
    };
    for place in private_keys(text) {
        add("private key", place);
    }
    for (kind, pattern) in PATTERNS.iter() {
        for hit in pattern.captures_iter(text) {
            if let Some(secret) = hit.get(1).or_else(|| hit.get(0)) {
                add(kind, secret.range());
            }
        }
    }
    for hit in NAMED.iter().flat_map(|pattern| pattern.captures_iter(text)) {
        if let Some(value) = hit.get(1).filter(|value| entropy(value.as_str()) >= 3.2) {
            add("named secret", value.range());
        }
    }
    found.sort_by_key(|secret| secret.place.start);
    found
}

/// Where private keys stand, with their whole bodies.
fn private_keys(text: &str) -> Vec<Range<usize>> {
    let Some((begins, ends)) = KEY.as_ref() else { return Vec::new() };
    let mut keys: Vec<Range<usize>> = Vec::new();
    for begin in begins.find_iter(text) {
        if keys.last().is_some_and(|key| key.end > begin.start()) {
            continue;
        }
        let longest = begin.end().saturating_add(MAX_KEY_BYTES).min(text.len());
        let longest = (0..=longest).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_else(|| begin.end());
        let rest = text.get(begin.end()..longest).unwrap_or_default();
        // Headers such as `Proc-Type: 4,ENCRYPTED`, and line breaks that were written as `\n`.
        let of_key = |c: char| c.is_ascii_alphanumeric() || c.is_ascii_whitespace() || "+/=:,.\\-".contains(c);
        let length = match ends.find(rest) {
            Some(end) if rest.get(..end.start()).is_some_and(|body| body.chars().all(of_key)) => end.end(),
            _ => cut_short(rest),
        };
        keys.push(begin.start()..begin.end() + length);
    }
    keys
}

/// How much of a text is the body of a key whose end is missing: the long words that follow.
fn cut_short(text: &str) -> usize {
    let (mut at, mut end) = (0, 0);
    loop {
        let rest = text.get(at..).unwrap_or_default();
        if rest.starts_with("\\n") || rest.starts_with("\\r") {
            at += 2;
        } else if rest.starts_with(|c: char| c.is_ascii_whitespace()) {
            at += 1;
        } else {
            let word = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "+/=".contains(c))).unwrap_or(rest.len());
            if word < MIN_KEY_WORD {
                return end;
            }
            at += word;
            end = at;
        }
    }
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
    fn a_private_key_is_found_with_its_body() {
        let line = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW";
        let pem = |begin: &str, end: &str, gap: &str| format!("{begin}{gap}{line}{gap}{line}{gap}c2hvcnQ={gap}{end}");
        let (begin, end) = ("-----BEGIN OPENSSH PRIVATE KEY-----", "-----END OPENSSH PRIVATE KEY-----");
        for gap in ["\n", "\r\n", " ", "\\n"] {
            let key = pem(begin, end, gap);
            let text = format!("key: {key} and {key}.");
            let places: Vec<_> = find(&text).into_iter().map(|secret| secret.place).collect();
            assert_eq!(places, [5..5 + key.len(), 10 + key.len()..10 + 2 * key.len()], "{gap:?}");
        }
        // Cut off: as much of it as there is.
        let cut = format!("{begin}\n{line}\n{line}");
        assert_eq!(find(&format!("{cut} and words"))[0].place, 0..cut.len());
        assert_eq!(find(&format!("{begin} and words"))[0].place, 0..begin.len());
        // Code between the two is no key.
        let code = format!("{begin}\"; rm -rf ~; \"{end}");
        assert_eq!(find(&code)[0].place, 0..begin.len());
        let encrypted = format!(
            "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A\n\n{line}\n-----END RSA PRIVATE KEY-----"
        );
        assert_eq!(find(&encrypted)[0].place, 0..encrypted.len());
    }

    #[test]
    fn a_password_in_a_url_is_only_the_password() {
        let text = "see postgres://app:hunter22@db/x";
        assert_eq!(&text[find(text)[0].place.clone()], "hunter22");
        for harmless in [
            r#"const p="http://a:";require("fs").rmSync(process.env.HOME);globalThis.q="@""#,
            r#"p="x://a:";open(chr(47)+"home","a").write("evil");q="@""#,
            "http://a:');system('id');x='@h",
            "http://a:b@ c",
            "x://a:$(id)@h",
        ] {
            assert!(find(harmless).is_empty(), "{harmless}");
        }
        let long = format!("http://a:{}@h", "x".repeat(200));
        assert!(find(&long).is_empty(), "nothing that long is a password");
    }

    #[test]
    fn shapes() {
        let key = format!("AKIA{}", "ABCDEFGHIJKLMNOP");
        assert_eq!(find(&format!("id {key}."))[0], SecretMatch { kind: "AWS access key", place: 3..23 });
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
