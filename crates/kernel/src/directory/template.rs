//! Whether a URI could have come from a URI template (RFC 6570), well enough to find the server to ask, and what stands in
//! it for the variables.

use std::ops::Range;

use switchboard_guard::percent;

/// Whether `uri` fits `template`: its literal parts stand in order, the first at the start and the last at the end.
pub(crate) fn matches(template: &str, uri: &str) -> bool {
    values(template, uri).is_some()
}

/// The names of the variables in a template.
pub(super) fn variables(template: &str) -> Vec<String> {
    let inside = template.split('{').skip(1).filter_map(|part| part.split_once('}'));
    inside.flat_map(|(expression, _)| names(expression).map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// What stands for each variable, with escapes read, where the URI fits. Where one expression has several variables, all
/// have the whole.
pub(super) fn captures(template: &str, uri: &str) -> Option<Vec<(String, String)>> {
    Some(named(values(template, uri)?))
}

/// The same where each variable takes as much as it can, as the expressions of most servers do.
pub(super) fn captures_greedily(template: &str, uri: &str) -> Option<Vec<(String, String)>> {
    let (literals, expressions, end) = parts(template)?;
    let (first, others) = literals.split_first()?;
    let mut last = uri.len().checked_sub(end.len()).filter(|_| uri.ends_with(end))?;
    if !uri.starts_with(first) {
        return None;
    }
    let mut found = Vec::with_capacity(expressions.len());
    for (literal, expression) in others.iter().zip(expressions.iter().skip(1)).rev() {
        let at = uri.get(first.len()..last)?.rfind(literal)? + first.len();
        found.push((*expression, uri.get(at + literal.len()..last)?));
        last = at;
    }
    found.push((expressions.first()?, uri.get(first.len()..last)?));
    Some(named(found))
}

/// The same whatever the case of the letters in the template, and also for one that begins with a variable.
pub(super) fn captures_loosely(template: &str, uri: &str) -> Option<Vec<(String, String)>> {
    let (literals, expressions, end) = parts(template)?;
    if literals.is_empty() {
        return template.eq_ignore_ascii_case(uri).then(Vec::new);
    }
    // Letters of ASCII keep their place when they are made small.
    let small: Vec<String> = literals.iter().map(|literal| literal.to_ascii_lowercase()).collect();
    let small: Vec<&str> = small.iter().map(String::as_str).collect();
    let (whole, end) = (uri.to_ascii_lowercase(), end.to_ascii_lowercase());
    // Some servers take a template for a regular expression: there a dot stands for any letter.
    let dotted = |literal: &str, from: usize| {
        let fits = |at: &usize| {
            let piece = whole.as_bytes().get(*at..at + literal.len());
            piece.is_some_and(|piece| {
                piece.iter().zip(literal.bytes()).all(|(have, want)| *have == want || want == b'.')
            })
        };
        (from..=whole.len()).find(fits)
    };
    let spans = spans(&small, &end, &whole).or_else(|| {
        let (first, others) = small.split_first()?;
        let last = whole.len().checked_sub(end.len()).filter(|last| dotted(&end, *last) == Some(*last))?;
        let mut at = (dotted(first, 0) == Some(0)).then_some(first.len())?;
        let mut found = Vec::new();
        for literal in others {
            let next = dotted(literal, at).filter(|next| *next <= last)?;
            found.push(at..next);
            at = next + literal.len();
        }
        found.push(at..last.max(at));
        (at <= last).then_some(found)
    })?;
    Some(named(expressions.into_iter().zip(spans.into_iter().filter_map(|span| uri.get(span))).collect()))
}

fn named(values: Vec<(&str, &str)>) -> Vec<(String, String)> {
    let named = |(expression, value): (&str, &str)| {
        let read = percent::lenient;
        let marks: &[char] = match expression.as_bytes().first() {
            // `?a=1&b=2` and `;a=1;b=2` name their variables themselves.
            Some(b'?' | b'&') => &['?', '&'],
            Some(b';') => &[';'],
            _ => return names(expression).map(|name| (name.to_owned(), read(value))).collect::<Vec<_>>(),
        };
        let pairs = value.split(marks).filter(|pair| !pair.is_empty());
        pairs
            .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
            .map(|(name, value)| (read(name), read(value)))
            .collect()
    };
    values.into_iter().flat_map(named).collect()
}

/// The names in one expression, without operators and modifiers.
fn names(expression: &str) -> impl Iterator<Item = &str> {
    let plain = expression.trim_start_matches(['+', '#', '.', '/', ';', '?', '&']);
    plain.split(',').map(|name| name.split([':', '*']).next().unwrap_or_default()).filter(|name| !name.is_empty())
}

/// The literal parts in front of each expression, the expressions, and what follows the last one.
fn parts(template: &str) -> Option<(Vec<&str>, Vec<&str>, &str)> {
    let (mut literals, mut expressions) = (Vec::new(), Vec::new());
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        let close = rest[open..].find('}').map(|at| at + open)?;
        literals.push(&rest[..open]);
        expressions.push(&rest[open + 1..close]);
        rest = &rest[close + 1..];
    }
    Some((literals, expressions, rest))
}

/// The expressions of a template, each with what stands for it in a URI that fits.
fn values<'a>(template: &'a str, uri: &'a str) -> Option<Vec<(&'a str, &'a str)>> {
    let (literals, expressions, end) = parts(template)?;
    match literals.first() {
        None => (template == uri).then(Vec::new),
        // A template that begins with a variable would claim every URI there is.
        Some(&"") => None,
        Some(_) => {
            let spans = spans(&literals, end, uri)?;
            Some(expressions.into_iter().zip(spans.into_iter().filter_map(|span| uri.get(span))).collect())
        }
    }
}

/// Where the expressions stand between the literal parts, the first of which begins the URI.
fn spans(literals: &[&str], end: &str, uri: &str) -> Option<Vec<Range<usize>>> {
    let (first, others) = literals.split_first()?;
    let last = uri.len().checked_sub(end.len()).filter(|_| uri.ends_with(end))?;
    let mut at = if uri.starts_with(first) { first.len() } else { return None };
    let mut found = Vec::with_capacity(literals.len());
    for literal in others {
        let next = at + uri.get(at..last)?.find(literal)?;
        found.push(at..next);
        at = next + literal.len();
    }
    found.push(at..last.max(at));
    (at <= last).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::{captures, captures_loosely, matches, variables};

    #[test]
    fn templates_fit_what_they_make() {
        for (template, uri, expected) in [
            ("test://a/{id}/data", "test://a/7/data", true),
            ("test://a/{id}/data", "test://a/7/other", false),
            ("file:///{+path}", "file:///a/b/c.txt", true),
            ("file:///{+path}", "http://a", false),
            ("x://{a}/{b}", "x://1/2", true),
            ("x://{a}/{b}", "x://1", false),
            ("{+everything}", "file:///etc/passwd", false),
            ("plain://no", "plain://no", true),
            ("plain://no", "plain://nope", false),
            ("broken://{", "broken://x", false),
        ] {
            assert_eq!(matches(template, uri), expected, "{template} {uri}");
        }
    }

    #[test]
    fn what_stands_for_variables_is_told() {
        assert_eq!(variables("x://{a}/{+b,c*}{?d}"), ["a", "b", "c", "d"]);
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let both = vec![pair("a", "1"), pair("b", "rm -rf")];
        assert_eq!(captures("x://{a}/{b}", "x://1/rm%20-rf"), Some(both.clone()));
        assert_eq!(captures("x://no", "x://no"), Some(Vec::new()));
        let query = vec![pair("url", "http:/10.0.0.1"), pair("depth", "1"), pair("other", "")];
        assert_eq!(captures("x://y{?url,depth}", "x://y?url=http:/10.0.0.1&depth=1&other"), Some(query));
        assert_eq!(captures("x://{a}/{b}", "X://1/rm%20-rf"), None);
        assert_eq!(captures_loosely("x://{a}/{b}", "X://1/rm%20-rf"), Some(both));
        assert_eq!(captures("{+all}", "x://y"), None);
        assert_eq!(captures_loosely("{+all}", "x://y"), Some(vec![pair("all", "x://y")]));
        assert_eq!(captures_loosely("x://{a}-end", "x://-en"), None);
    }
}
