//! What a `WWW-Authenticate` header asks for.

/// The parameters of the `Bearer` challenge that matter here (RFC 6750, RFC 9728).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Challenge {
    pub(super) resource_metadata: Option<String>,
    pub(super) scope: Option<String>,
    pub(super) error: Option<String>,
}

impl Challenge {
    /// Reads the first `Bearer` challenge of a header. What cannot be understood is left out: the server's well-known
    /// addresses are asked then.
    pub(super) fn parse(header: &str) -> Self {
        let mut challenge = Self::default();
        let mut bearer = false;
        let mut rest = header;
        loop {
            rest = rest.trim_start_matches([' ', '\t', ',']);
            let (word, after) = token(rest);
            if word.is_empty() {
                return challenge;
            }
            let Some(given) = parameter(after) else {
                // No parameter, so a scheme begins. The first challenge for us is complete when the next one starts.
                if bearer {
                    return challenge;
                }
                bearer = word.eq_ignore_ascii_case("bearer");
                rest = skip_token68(after);
                continue;
            };
            let (value, remaining) = value(given);
            rest = remaining;
            if !bearer {
                continue;
            }
            let place = match word.to_ascii_lowercase().as_str() {
                "resource_metadata" => &mut challenge.resource_metadata,
                "scope" => &mut challenge.scope,
                "error" => &mut challenge.error,
                _ => continue,
            };
            place.get_or_insert(value);
        }
    }
}

fn token(text: &str) -> (&str, &str) {
    let end =
        text.find(|character: char| !(character.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(character)));
    text.split_at(end.unwrap_or(text.len()))
}

/// What follows the `=` of a parameter.
fn parameter(after: &str) -> Option<&str> {
    let value = after.trim_start_matches([' ', '\t']).strip_prefix('=')?.trim_start_matches([' ', '\t']);
    // `abc=` and `abc==` are credentials in base64, not parameters.
    (!value.is_empty() && !value.starts_with(['=', ','])).then_some(value)
}

/// Leaves out the one opaque word that some schemes have in place of parameters.
fn skip_token68(after_scheme: &str) -> &str {
    let opaque = after_scheme.trim_start_matches([' ', '\t']);
    let end = opaque.find([' ', '\t', ',']).unwrap_or(opaque.len());
    let (word, rest) = opaque.split_at(end);
    let is_opaque = !word.is_empty()
        && parameter(token(opaque).1).is_none()
        && (rest.is_empty() || rest.trim_start_matches([' ', '\t']).starts_with(','));
    if is_opaque { rest } else { opaque }
}

/// A token or a quoted string, and what follows it.
fn value(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find([',', ' ', '\t']).unwrap_or(text.len());
        let (value, rest) = text.split_at(end);
        return (value.to_owned(), rest);
    };
    let mut out = String::new();
    let mut characters = quoted.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => return (out, characters.as_str()),
            '\\' => out.extend(characters.next()),
            other => out.push(other),
        }
    }
    (out, "")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_bearer_challenge_is_found_whatever_stands_around_it() {
        let bearer = |metadata: &str, scope: &str, error: &str| {
            let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
            Challenge { resource_metadata: some(metadata), scope: some(scope), error: some(error) }
        };
        let cases = [
            ("", bearer("", "", "")),
            ("Bearer", bearer("", "", "")),
            (r#"Bearer resource_metadata="https://h/x?a=b,c""#, bearer("https://h/x?a=b,c", "", "")),
            (
                r#"Bearer error="insufficient_scope", scope="a b", resource_metadata="https://h/m""#,
                bearer("https://h/m", "a b", "insufficient_scope"),
            ),
            ("bearer scope=one,error=e", bearer("", "one", "e")),
            ("BEARER  scope = \"one\" ,\terror=e", bearer("", "one", "e")),
            (r#"Bearer realm="x \"scope=evil\", y", scope="s""#, bearer("", "s", "")),
            (r#"Bearer scope="first", scope="second""#, bearer("", "first", "")),
            (r#"Bearer scope="open"#, bearer("", "open", "")),
            (r#"Basic realm="x", scope="no", Bearer scope="yes""#, bearer("", "yes", "")),
            (r#"Negotiate oYGzMA==, Bearer scope="yes""#, bearer("", "yes", "")),
            (r#"Negotiate, Bearer scope="yes""#, bearer("", "yes", "")),
            (r#"Bearer scope="yes", DPoP scope="no", error="no""#, bearer("", "yes", "")),
            (r#"DPoP algs="ES256", scope="no""#, bearer("", "", "")),
            (r#"scope="no scheme""#, bearer("", "", "")),
            ("Bearer \u{e4}\u{f6}=x, scope=s", bearer("", "s", "")),
        ];
        for (header, expected) in cases {
            assert_eq!(Challenge::parse(header), expected, "{header}");
        }
    }

    proptest! {
        #[test]
        fn any_header_is_read_to_its_end(header in ".{0,200}") {
            drop(Challenge::parse(&header));
        }

        #[test]
        fn a_quoted_scope_comes_back(scope in "[ -~]{1,40}") {
            let quoted = scope.replace('\\', "\\\\").replace('"', "\\\"");
            let header = format!("Basic realm=\"a\", Bearer error=x, scope=\"{quoted}\"");
            prop_assert_eq!(Challenge::parse(&header).scope, Some(scope));
        }
    }
}
