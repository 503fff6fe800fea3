//! What a `WWW-Authenticate` header asks for.

/// The parameters of the `Bearer` challenge that MCP uses.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Challenge {
    pub(super) resource_metadata: Option<String>,
    pub(super) scope: Option<String>,
    pub(super) error: Option<String>,
}

impl Challenge {
    /// Reads the header. What it does not understand it leaves out.
    pub(super) fn parse(header: &str) -> Self {
        let mut challenge = Self::default();
        let mut rest = header.trim_start();
        // Skip the scheme, unless the header begins with a parameter at once.
        if let Some((scheme, parameters)) = rest.split_once(' ')
            && !scheme.contains('=')
        {
            rest = parameters;
        }
        while let Some((name, after)) = rest.split_once('=') {
            let (value, remaining) = value(after.trim_start());
            let place = match name.trim().trim_start_matches(',').trim().to_ascii_lowercase().as_str() {
                "resource_metadata" => Some(&mut challenge.resource_metadata),
                "scope" => Some(&mut challenge.scope),
                "error" => Some(&mut challenge.error),
                _ => None,
            };
            if let Some(place) = place {
                place.get_or_insert(value);
            }
            rest = remaining.trim_start().trim_start_matches(',');
        }
        challenge
    }
}

/// A token or a quoted string, and what follows it.
fn value(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find([',', ' ']).unwrap_or(text.len());
        return (text[..end].to_owned(), &text[end..]);
    };
    let mut out = String::new();
    let mut characters = quoted.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return (out, &quoted[at + 1..]),
            '\\' => out.extend(characters.next().map(|(_, escaped)| escaped)),
            other => out.push(other),
        }
    }
    (out, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_found_in_any_order_and_quoting() {
        let some = |text: &str| Some(text.to_owned());
        let cases = [
            ("Bearer", Challenge::default()),
            ("", Challenge::default()),
            (
                r#"Bearer error="insufficient_scope", scope="a b", resource_metadata="http://h/x?a=b,c""#,
                Challenge {
                    error: some("insufficient_scope"),
                    scope: some("a b"),
                    resource_metadata: some("http://h/x?a=b,c"),
                },
            ),
            ("bearer scope=one,error=e", Challenge { scope: some("one"), error: some("e"), ..Challenge::default() }),
            (r#"Bearer realm="x \"scope=evil\"", scope="s""#, Challenge { scope: some("s"), ..Challenge::default() }),
            (r#"scope="s""#, Challenge { scope: some("s"), ..Challenge::default() }),
            (r#"Bearer scope="open"#, Challenge { scope: some("open"), ..Challenge::default() }),
        ];
        for (header, expected) in cases {
            assert_eq!(Challenge::parse(header), expected, "{header}");
        }
    }
}
