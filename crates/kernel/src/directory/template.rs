//! Whether a URI could have come from a URI template (RFC 6570), well enough to find the server to ask, and what stands in
//! it for the variables.

/// Whether `uri` fits `template`: its literal parts stand in order, the first at the start and the last at the end.
pub(crate) fn matches(template: &str, uri: &str) -> bool {
    values(template, uri).is_some()
}

/// The names of the variables in a template.
pub(super) fn variables(template: &str) -> Vec<String> {
    let inside = template.split('{').skip(1).filter_map(|part| part.split_once('}'));
    inside.flat_map(|(expression, _)| names(expression).map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// What stands for each variable, with escapes read. Where one expression has several variables, all have the whole.
pub(super) fn captures(template: &str, uri: &str) -> Vec<(String, String)> {
    let named = |(expression, value): (&str, &str)| {
        let value = switchboard_guard::arguments::unescaped(value);
        names(expression).map(|name| (name.to_owned(), value.clone())).collect::<Vec<_>>()
    };
    values(template, uri).unwrap_or_default().into_iter().flat_map(named).collect()
}

/// The names in one expression, without operators and modifiers.
fn names(expression: &str) -> impl Iterator<Item = &str> {
    let plain = expression.trim_start_matches(['+', '#', '.', '/', ';', '?', '&']);
    plain.split(',').map(|name| name.split([':', '*']).next().unwrap_or_default()).filter(|name| !name.is_empty())
}

/// The expressions of a template, each with what stands for it in a URI that fits.
fn values<'a>(template: &'a str, uri: &'a str) -> Option<Vec<(&'a str, &'a str)>> {
    let (mut literals, mut expressions) = (Vec::new(), Vec::new());
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        let close = rest[open..].find('}').map(|at| at + open)?;
        literals.push(&rest[..open]);
        expressions.push(&rest[open + 1..close]);
        rest = &rest[close + 1..];
    }
    if literals.is_empty() {
        return (template == uri).then(Vec::new);
    }
    // A template that begins with a variable would claim every URI there is.
    if literals[0].is_empty() {
        return None;
    }
    let mut middle = uri.strip_prefix(literals[0])?.strip_suffix(rest)?;
    let mut found = Vec::with_capacity(expressions.len());
    for (literal, expression) in literals[1..].iter().zip(&expressions) {
        let at = middle.find(literal)?;
        found.push((*expression, &middle[..at]));
        middle = &middle[at + literal.len()..];
    }
    found.push((expressions[expressions.len() - 1], middle));
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::{captures, matches, variables};

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
        assert_eq!(captures("x://{a}/{b}", "x://1/rm%20-rf"), [pair("a", "1"), pair("b", "rm -rf")]);
        assert_eq!(captures("x://no", "x://no"), []);
    }
}
