//! Whether a URI could have come from a URI template (RFC 6570), well enough to find the server to ask, and what stands in
//! it for the variables, in every way that a server may read it.

use std::ops::Range;

use crate::percent;

/// What stands for the variables of a template, in one way to read an address.
pub type Variables = Vec<(String, String)>;

/// Marks of regular expressions, of which a server may take its template for one, and of what comes in several spellings
/// in an address: a port, a name in front of the host.
const MARKS: [char; 12] = ['.', '+', '*', '?', '(', '[', '|', '\\', '^', '$', ':', '@'];

/// Whether `uri` fits `template`: its literal parts stand in order, the first at the start and the last at the end.
#[must_use]
pub fn matches(template: &str, uri: &str) -> bool {
    let Some(parts) = parts(template) else { return false };
    match parts.literals.first() {
        None => template == uri,
        // A template that begins with a variable would claim every URI there is.
        Some(&"") => false,
        Some(_) => spans(&parts, uri, Expansion { greedy: false, loose: false }).is_some(),
    }
}

/// Whether a template makes an address as it stands (RFC 6570): what stands for a variable has no marks that the variable
/// could not have brought.
#[must_use]
pub fn makes(template: &str, uri: &str) -> bool {
    let Some(parts) = parts(template) else { return false };
    if parts.literals.first().is_some_and(|first| !first.contains(':')) {
        return false;
    }
    [false, true].into_iter().any(|greedy| {
        let Some(spans) = spans(&parts, uri, Expansion { greedy, loose: false }) else { return false };
        let values = spans.into_iter().filter_map(|span| uri.get(span));
        parts.expressions.iter().zip(values).all(|(expression, value)| may_be(expression, value))
    })
}

/// Whether an expression can make this text.
fn may_be(expression: &str, value: &str) -> bool {
    let holds_none = |marks: &[char]| !value.contains(marks);
    match expression.chars().next() {
        Some('+' | '#') => true,
        Some('?' | '&') => {
            let pairs = value.trim_start_matches(['?', '&']).split('&').filter(|pair| !pair.is_empty());
            let mut keys = pairs.map(|pair| pair.split('=').next().unwrap_or_default());
            holds_none(&['#', '/', '\\']) && keys.all(|key| names(expression).any(|name| name == key))
        }
        Some('/') => holds_none(&['?', '#', '\\']),
        _ => holds_none(&['/', '?', '#', '\\', '@']),
    }
}

/// The names of the variables in a template.
#[must_use]
pub fn variables(template: &str) -> Vec<String> {
    let inside = template.split('{').skip(1).filter_map(|part| part.split_once('}'));
    inside.flat_map(|(expression, _)| names(expression).map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// The address that a template makes of these values. Variables that have none stay empty.
#[must_use]
pub fn made_of(template: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let Some(parts) = parts(template) else { return template.to_owned() };
    let mut made = String::new();
    for (literal, expression) in parts.literals.iter().zip(&parts.expressions) {
        made.push_str(literal);
        let values = names(expression).filter_map(|name| Some((name, value(name)?)));
        let values = values.filter(|(_, value)| !value.is_empty());
        match operator(expression) {
            Some(mark @ ('?' | '&' | ';')) => {
                let join = if mark == ';' { ";" } else { "&" };
                let pairs: Vec<String> = values.map(|(name, value)| format!("{name}={value}")).collect();
                if !pairs.is_empty() {
                    made.push(mark);
                    made.push_str(&pairs.join(join));
                }
            }
            mark => {
                let values: Vec<String> = values.map(|(_, value)| value).collect();
                made.extend(mark.filter(|_| !values.is_empty()));
                made.push_str(&values.join(if mark == Some('/') { "/" } else { "," }));
            }
        }
    }
    made.push_str(parts.end);
    made
}

/// What every address that comes from a template begins with, to every server: its first literal part, up to where servers
/// may differ in what they take for the same.
#[must_use]
pub fn beginning(template: &str) -> &str {
    let first = template.split('{').next().unwrap_or_default();
    let (scheme, after) = first.split_once(':').map_or(("", first), |(scheme, _)| first.split_at(scheme.len() + 1));
    let end = |text: &str| {
        let at = text.find(MARKS)?;
        // Some marks say how often what stands in front of them comes.
        let counts = text[at..].starts_with(['+', '*', '?']);
        let before = text[..at].char_indices().next_back().map_or(0, |(start, _)| start);
        Some(if counts { before } else { at })
    };
    match (end(scheme.trim_end_matches(':')), end(after)) {
        (Some(at), _) => &first[..at],
        (None, Some(at)) => &first[..scheme.len() + at],
        (None, None) => first,
    }
}

/// What stands for the variables where the address fits, with escapes read: for each way to split it, for readers that
/// leave out what follows `?` or `#`, that take the first or the last of two values of one name, that read `+` as a blank,
/// and that leave out the mark of an operator or keep it.
#[must_use]
pub fn readings(template: &str, uri: &str) -> Vec<Variables> {
    let Some(parts) = parts(template) else { return Vec::new() };
    let mut texts = vec![uri];
    texts.extend(['#', '?'].iter().filter_map(|mark| uri.split_once(*mark)).map(|(front, _)| front));
    let ways = [(false, false), (true, false), (false, true), (true, true)];
    let mut found: Vec<Variables> = Vec::new();
    for text in texts {
        for (greedy, loose) in ways {
            let Some(spans) = spans(&parts, text, Expansion { greedy, loose }) else { continue };
            let values = spans.into_iter().filter_map(|span| text.get(span));
            let values: Vec<(&str, &str)> = parts.expressions.iter().copied().zip(values).collect();
            found.extend(named(&values));
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The values under their names, in every way to read them.
fn named(values: &[(&str, &str)]) -> Vec<Variables> {
    let has_mark = values.iter().any(|(expression, value)| value.starts_with(operator(expression).unwrap_or('\0')));
    let has_plus = values.iter().any(|(_, value)| value.contains('+'));
    let has_question = values.iter().any(|(_, value)| value.trim_start_matches('?').contains('?'));
    let both = |needed: bool| if needed { &[false, true][..] } else { &[false][..] };
    let mut found = Vec::new();
    for keeps_mark in both(has_mark) {
        for reads_plus in both(has_plus) {
            for parts_at_question in both(has_question) {
                let read =
                    |text: &str| percent::lenient(&if *reads_plus { text.replace('+', " ") } else { text.to_owned() });
                let pairs: Variables = values
                    .iter()
                    .flat_map(|(expression, value)| pairs(expression, value, *keeps_mark, *parts_at_question, &read))
                    .collect();
                found.push(unique(pairs.iter()));
                found.push(unique(pairs.iter().rev()));
            }
        }
    }
    found
}

/// Each name once, with the value that comes first.
fn unique<'a>(pairs: impl Iterator<Item = &'a (String, String)>) -> Variables {
    let mut found: Variables = Vec::new();
    for (name, value) in pairs {
        if !found.iter().any(|(known, _)| known == name) {
            found.push((name.clone(), value.clone()));
        }
    }
    found.sort_unstable();
    found
}

fn pairs(
    expression: &str,
    value: &str,
    keeps_mark: bool,
    parts_at_question: bool,
    read: &impl Fn(&str) -> String,
) -> Variables {
    let marks: &[char] = match operator(expression) {
        // `?a=1&b=2` and `;a=1;b=2` name their variables themselves.
        Some('?' | '&') if parts_at_question => &['?', '&'],
        Some('?' | '&') => &['&'],
        Some(';') => &[';'],
        mark => {
            let bare = mark.filter(|_| !keeps_mark).and_then(|mark| value.strip_prefix(mark)).unwrap_or(value);
            return names(expression).map(|name| (name.to_owned(), read(bare))).collect();
        }
    };
    let pairs = value.trim_start_matches('?').split(marks).filter(|pair| !pair.is_empty());
    let pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    pairs.map(|(name, value)| (read(name), read(value))).collect()
}

/// The operator of an expression that stands in the address as well.
fn operator(expression: &str) -> Option<char> {
    expression.chars().next().filter(|mark| "#./;?&".contains(*mark))
}

/// The names in one expression, without operators and modifiers.
fn names(expression: &str) -> impl Iterator<Item = &str> {
    let plain = expression.trim_start_matches(['+', '#', '.', '/', ';', '?', '&']);
    plain.split(',').map(|name| name.split([':', '*']).next().unwrap_or_default()).filter(|name| !name.is_empty())
}

/// A template taken apart.
struct Parts<'a> {
    /// The literal parts in front of each expression.
    literals: Vec<&'a str>,
    expressions: Vec<&'a str>,
    /// What follows the last expression.
    end: &'a str,
}

fn parts(template: &str) -> Option<Parts<'_>> {
    let (mut literals, mut expressions) = (Vec::new(), Vec::new());
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        let close = rest[open..].find('}').map(|at| at + open)?;
        literals.push(&rest[..open]);
        expressions.push(&rest[open + 1..close]);
        rest = &rest[close + 1..];
    }
    Some(Parts { literals, expressions, end: rest })
}

/// How an address is compared with a template.
#[derive(Clone, Copy)]
struct Expansion {
    /// Whether each variable takes as much as it can, as the expressions of most servers do.
    greedy: bool,
    /// Whether the case of letters does not count, and a dot of the template stands for any letter, as in the regular
    /// expressions that some servers take their templates for.
    loose: bool,
}

/// Where the expressions stand between the literal parts, the first of which begins the URI.
fn spans(parts: &Parts<'_>, uri: &str, way: Expansion) -> Option<Vec<Range<usize>>> {
    let text = uri.as_bytes();
    let stands = |literal: &str, at: usize| {
        let piece = at.checked_add(literal.len()).and_then(|end| text.get(at..end));
        piece.is_some_and(|piece| {
            piece
                .iter()
                .zip(literal.bytes())
                .all(|(have, want)| *have == want || way.loose && (have.eq_ignore_ascii_case(&want) || want == b'.'))
        })
    };
    let Some((first, others)) = parts.literals.split_first() else {
        return (parts.end.len() == text.len() && stands(parts.end, 0)).then(Vec::new);
    };
    let end = text.len().checked_sub(parts.end.len()).filter(|at| stands(parts.end, *at))?;
    if !stands(first, 0) || first.len() > end {
        return None;
    }
    // Where each literal part begins and ends, the first and the last of them fixed.
    let mut bounds: Vec<Range<usize>> = Vec::with_capacity(parts.literals.len());
    bounds.push(0..first.len());
    if way.greedy {
        let mut last = end;
        let mut behind = Vec::with_capacity(others.len());
        for literal in others.iter().rev() {
            let at = (first.len()..=last.checked_sub(literal.len())?).rev().find(|at| stands(literal, *at))?;
            behind.push(at..at + literal.len());
            last = at;
        }
        bounds.extend(behind.into_iter().rev());
    } else {
        let mut from = first.len();
        for literal in others {
            let at = (from..=end.checked_sub(literal.len())?).find(|at| stands(literal, *at))?;
            from = at + literal.len();
            bounds.push(at..from);
        }
    }
    let ends = bounds.iter().skip(1).map(|bound| bound.start).chain([end]);
    Some(bounds.iter().zip(ends).map(|(bound, end)| bound.end..end).collect())
}

#[cfg(test)]
mod tests {
    use super::{Variables, beginning, made_of, makes, matches, readings, variables};

    #[test]
    fn templates_fit_what_they_make() {
        for (template, uri, expected) in [
            ("test://a/{id}/data", "test://a/7/data", true),
            ("test://a/{id}/data", "test://a/7/other", false),
            ("file:///{+path}", "file:///a/b/c.txt", true),
            ("file:///{+path}", "http://a", false),
            ("x://{a}/{b}", "x://1/2", true),
            ("x://{a}/{b}", "x://1", false),
            ("x://{a}-end", "x://-en", false),
            ("{+everything}", "file:///etc/passwd", false),
            ("plain://no", "plain://no", true),
            ("plain://no", "plain://nope", false),
            ("broken://{", "broken://x", false),
        ] {
            assert_eq!(matches(template, uri), expected, "{template} {uri}");
        }
    }

    #[test]
    fn templates_make_what_their_variables_can_hold() {
        for (template, uri, expected) in [
            ("net://api.example.com/users/{id}", "net://api.example.com/users/42", true),
            ("net://api.example.com/users/{id}", "net://api.example.com/users/ann@example.org", false),
            ("net://api.example.com/users/{+id}", "net://api.example.com/users/ann@example.org", true),
            ("x://{host}/{+rest}", "x://a/b/c", true),
            ("x://{a}", "x://a/b", false),
            ("x://y{?term}", "x://y?term=1", true),
            ("x://y{?term}", "x://y?term=1&command=2", false),
            ("x://y{/path*}", "x://y/a/b", true),
            ("{+all}", "x://y", false),
            ("x://{a}", "X://a", false),
        ] {
            assert_eq!(makes(template, uri), expected, "{template} {uri}");
        }
    }

    #[test]
    fn values_make_an_address() {
        let value = |name: &str| {
            Some(match name {
                "a" => "x/y".to_owned(),
                "b" => "z".to_owned(),
                _ => return None,
            })
        };
        for (template, expected) in [
            ("file:///{+a}", "file:///x/y"),
            ("disk:///{b}/{a}", "disk:///z/x/y"),
            ("q://h{?a,b,c}", "q://h?a=x/y&b=z"),
            ("p://h{/b,a}.txt", "p://h/z/x/y.txt"),
            ("n://{c}", "n://"),
            ("plain://no", "plain://no"),
        ] {
            assert_eq!(made_of(template, value), expected);
        }
    }

    #[test]
    fn what_stands_for_variables_is_told_in_every_reading() {
        assert_eq!(variables("x://{a}/{+b,c*}{?d}"), ["a", "b", "c", "d"]);
        for (template, uri, expected) in [
            ("x://{a}/{b}", "x://1/rm%20-rf", &[&[("a", "1"), ("b", "rm -rf")][..]][..]),
            ("x://{a}/{b}", "X://1/rm%20-rf", &[&[("a", "1"), ("b", "rm -rf")]]),
            ("x://no", "x://no", &[&[]]),
            ("x://no", "x://yes", &[]),
            ("{+all}", "x://y", &[&[("all", "x://y")]]),
            ("x://{a}/{b}", "x://1/2/3", &[&[("a", "1"), ("b", "2/3")], &[("a", "1/2"), ("b", "3")]]),
            // Some servers leave out what follows the path.
            ("x://{a}/run", "x://ls/run?x=1", &[&[("a", "ls")]]),
            ("x://{a}/run", "x://ls/run#x", &[&[("a", "ls")]]),
            (
                "x://y{?url,depth}",
                "x://y?url=http:/10.0.0.1&depth=1&other",
                &[&[("depth", "1"), ("other", ""), ("url", "http:/10.0.0.1")]],
            ),
            // Who has two values of one name may take either.
            ("x://y{?c}", "x://y?c=rm&c=ls", &[&[("c", "ls")], &[("c", "rm")]]),
            ("x://y{?c}", "x://y?c=rm?c=ls", &[&[("c", "ls")], &[("c", "rm")], &[("c", "rm?c=ls")]]),
            ("x://y{?c}", "x://y?c=rm+x", &[&[("c", "rm x")], &[("c", "rm+x")]]),
            // The mark of an operator is left out by most.
            ("x://y{/u}", "x://y/127.0.0.1", &[&[("u", "/127.0.0.1")], &[("u", "127.0.0.1")]]),
            ("x://y{.u}", "x://y.sudo%20id", &[&[("u", ".sudo id")], &[("u", "sudo id")]]),
        ] {
            let found = readings(template, uri);
            for reading in expected {
                let wanted: Variables = reading.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
                assert!(found.contains(&wanted), "{template} {uri}: {wanted:?} in {found:?}");
            }
            assert_eq!(found.is_empty(), expected.is_empty(), "{template} {uri}: {found:?}");
        }
    }

    #[test]
    fn a_beginning_ends_where_servers_may_differ() {
        for (template, expected) in [
            ("doc://run/{command}", "doc://run/"),
            ("svc://api.local/run/{command}", "svc://api"),
            ("git+ssh://h/run/{c}", "gi"),
            ("x.exec://{command}", "x"),
            ("app://host:80/run/{x}", "app://host"),
            ("api://x/search?command={command}", "api://x/searc"),
            ("wiki://Foo_(bar)/{c}", "wiki://Foo_"),
            ("{+all}", ""),
            ("plain://no", "plain://no"),
        ] {
            assert_eq!(beginning(template), expected, "{template}");
        }
    }
}
