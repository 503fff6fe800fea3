//! Whether a URI could have come from a URI template (RFC 6570), well enough to find the server to ask.

/// Whether `uri` fits `template`: its literal parts stand in order, the first at the start and the last at the end.
pub(crate) fn matches(template: &str, uri: &str) -> bool {
    let mut literals = Vec::new();
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        let Some(close) = rest[open..].find('}').map(|at| at + open) else { return false };
        literals.push(&rest[..open]);
        rest = &rest[close + 1..];
    }
    if literals.is_empty() {
        return template == uri;
    }
    // A template that begins with a variable would claim every URI there is.
    if literals[0].is_empty() {
        return false;
    }
    let Some(middle) = uri.strip_prefix(literals[0]) else { return false };
    let Some(mut middle) = middle.strip_suffix(rest) else { return false };
    for literal in &literals[1..] {
        let Some(at) = middle.find(literal) else { return false };
        middle = &middle[at + literal.len()..];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::matches;

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
}
