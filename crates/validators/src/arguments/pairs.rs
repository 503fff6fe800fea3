//! Names with values in one string, as connection strings have them: `host=x port=5432`, `Server=x;Database=y`.

/// More pairs in one string are not looked at.
const MAX_PAIRS: usize = 256;
/// Longer names are no names.
const MAX_NAME: usize = 40;

/// The pairs of a text that is nothing but pairs, values without their quotes; empty for every other text.
pub(super) fn of(text: &str) -> Vec<(&str, &str)> {
    if !text.contains('=') {
        return Vec::new();
    }
    let trimmed = text.trim();
    let by =
        |parts: &mut dyn Iterator<Item = &'_ str>| -> usize { parts.filter(|part| !part.trim().is_empty()).count() };
    let parted = if trimmed.contains(';') { pairs(trimmed.split(';'), by(&mut trimmed.split(';'))) } else { None };
    parted.or_else(|| pairs(trimmed.split_whitespace(), by(&mut trimmed.split_whitespace()))).unwrap_or_default()
}

fn pairs<'a>(parts: impl Iterator<Item = &'a str>, count: usize) -> Option<Vec<(&'a str, &'a str)>> {
    if count > MAX_PAIRS {
        return None;
    }
    parts
        .filter(|part| !part.trim().is_empty())
        .map(|part| {
            let (name, value) = part.split_once('=')?;
            let name = name.trim();
            let named = (1..=MAX_NAME).contains(&name.len())
                && name.starts_with(|c: char| c.is_ascii_alphabetic())
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b" _-.".contains(&byte));
            named.then(|| (name, value.trim().trim_matches(['\'', '"'])))
        })
        .collect()
}
