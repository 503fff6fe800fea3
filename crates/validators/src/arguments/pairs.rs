//! Names with values in one string, as connection strings have them: `host=x port=5432`, `Server=x;Database=y`.

/// More pairs in one string are not looked at.
const MAX_PAIRS: usize = 256;
/// Longer names are no names.
const MAX_NAME: usize = 40;
/// A name of more words is a sentence.
const MAX_WORDS: usize = 4;

/// The pairs of a text that is nothing but pairs, values without their quotes; empty for every other text.
pub(super) fn of(text: &str) -> Vec<(&str, &str)> {
    if !text.contains('=') {
        return Vec::new();
    }
    let trimmed = text.trim();
    let by =
        |parts: &mut dyn Iterator<Item = &'_ str>| -> usize { parts.filter(|part| !part.trim().is_empty()).count() };
    let parted = if trimmed.contains(';') { pairs(trimmed.split(';'), by(&mut trimmed.split(';'))) } else { None };
    parted
        .or_else(|| pairs(trimmed.split_whitespace(), by(&mut trimmed.split_whitespace())))
        .or_else(|| spoken(trimmed))
        .unwrap_or_default()
}

/// Pairs whose names may be several words, without a sign between them: `Data Source=/x Version = 3`. Behind a value of one word
/// begins the next name; the last value goes on to the end, and counts with and without its further words.
fn spoken(text: &str) -> Option<Vec<(&str, &str)>> {
    // Attributes of markup are no pairs, nor is what a statement compares or sets.
    let is_statement = |verb: &&str| text.get(..verb.len()).is_some_and(|front| front.eq_ignore_ascii_case(verb));
    if ["select ", "update ", "delete "].iter().any(is_statement) {
        return None;
    }
    if text.contains('<') && text.contains('>') {
        return None;
    }
    let mut parts = text.split('=');
    let mut name = named(parts.next()?)?;
    let parts: Vec<&str> = parts.collect();
    let (last, middle) = parts.split_last()?;
    if parts.len() > MAX_PAIRS {
        return None;
    }
    let mut found = Vec::new();
    for part in middle {
        let (value, next) = part.trim_start().split_once(char::is_whitespace)?;
        found.push((name, bare(value)));
        name = named(next)?;
    }
    found.push((name, bare(last)));
    found.extend(last.split_whitespace().next().map(|first| (name, bare(first))));
    Some(found)
}

/// A name of at most a few words.
fn named(text: &str) -> Option<&str> {
    let name = text.trim();
    let is_name = (1..=MAX_NAME).contains(&name.len())
        && name.split_whitespace().count() <= MAX_WORDS
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b" _-.".contains(&byte));
    is_name.then_some(name)
}

fn bare(value: &str) -> &str {
    value.trim().trim_matches(['\'', '"'])
}

fn pairs<'a>(parts: impl Iterator<Item = &'a str>, count: usize) -> Option<Vec<(&'a str, &'a str)>> {
    if count > MAX_PAIRS {
        return None;
    }
    parts
        .filter(|part| !part.trim().is_empty())
        .map(|part| {
            let (name, value) = part.split_once('=')?;
            Some((named(name)?, bare(value)))
        })
        .collect()
}
