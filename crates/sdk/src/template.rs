//! URI templates: matching, and the names of the variables.
//!
//! Level 1 of RFC 6570, which is what resource templates use: literal text and `{name}`. A variable matches one or
//! more characters other than `/`, and its value is percent-decoded. Expansion is the client's business.

use indexmap::IndexMap;

/// A parsed template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Template {
    /// What stands in front of the first variable.
    head: String,
    /// Each variable with the text behind it.
    tail: Vec<(String, String)>,
}

/// Why a text is no template that can be matched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TemplateError {
    /// A `{` without its `}`, or the reverse.
    #[error("a brace of the template has no partner")]
    Brace,
    /// A name that is empty or holds an operator (level 2 and up).
    #[error("the template expression {{{0}}} is no plain variable name")]
    Name(String),
    /// Two variables without text between them, or one variable twice.
    #[error("the template variable {0:?} cannot be told apart")]
    Ambiguous(String),
}

impl Template {
    pub(crate) fn parse(text: &str) -> Result<Self, TemplateError> {
        let mut pieces = text.split('{');
        let head = pieces.next().unwrap_or_default().to_owned();
        if head.contains('}') {
            return Err(TemplateError::Brace);
        }
        let mut tail: Vec<(String, String)> = Vec::new();
        for piece in pieces {
            let (name, literal) = piece.split_once('}').ok_or(TemplateError::Brace)?;
            if literal.contains('}') {
                return Err(TemplateError::Brace);
            }
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
            if name.is_empty() || !name.chars().all(plain) {
                return Err(TemplateError::Name(name.to_owned()));
            }
            let adjacent = tail.last().is_some_and(|(_, literal)| literal.is_empty());
            if adjacent || tail.iter().any(|(known, _)| known == name) {
                return Err(TemplateError::Ambiguous(name.to_owned()));
            }
            tail.push((name.to_owned(), literal.to_owned()));
        }
        Ok(Self { head, tail })
    }

    /// The names of the variables.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.tail.iter().map(|(name, _)| name.as_str())
    }

    /// The values of the variables, if `uri` fits. Each variable but the last takes as little as it can.
    pub(crate) fn matches(&self, uri: &str) -> Option<IndexMap<String, String>> {
        let mut rest = uri.strip_prefix(self.head.as_str())?;
        let mut values = IndexMap::with_capacity(self.tail.len());
        for (index, (name, literal)) in self.tail.iter().enumerate() {
            let value = if index + 1 == self.tail.len() {
                let value = rest.strip_suffix(literal.as_str())?;
                rest = "";
                value
            } else {
                // At least one character belongs to the variable, so the text behind it is looked for after that.
                let first = rest.chars().next()?.len_utf8();
                let at = first + rest[first..].find(literal.as_str())?;
                let value = &rest[..at];
                rest = &rest[at + literal.len()..];
                value
            };
            if value.is_empty() || value.contains('/') {
                return None;
            }
            values.insert(name.clone(), decode(value)?);
        }
        rest.is_empty().then_some(values)
    }
}

/// Undoes percent-encoding; `None` where the result is no text.
fn decode(value: &str) -> Option<String> {
    if !value.contains('%') {
        return Some(value.to_owned());
    }
    let bytes = value.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b'%' {
            let digits = value.get(at + 1..at + 3).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
            out.push(u8::from_str_radix(digits, 16).ok()?);
            at += 3;
        } else {
            out.push(bytes[at]);
            at += 1;
        }
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matching() {
        for (template, uri, expected) in [
            ("test://template/{id}/data", "test://template/123/data", Some(vec![("id", "123")])),
            ("test://template/{id}/data", "test://template//data", None),
            ("test://template/{id}/data", "test://template/1/2/data", None),
            ("test://template/{id}/data", "test://template/1/data/more", None),
            ("a:{x}-{y}", "a:1-2-3", Some(vec![("x", "1"), ("y", "2-3")])),
            ("a:{x}-{y}", "a:-1-2", Some(vec![("x", "-1"), ("y", "2")])),
            ("a:{x}", "a:b%20c%2Fd", Some(vec![("x", "b c/d")])),
            ("a:{x}", "a:%zz", None),
            ("a:{x}", "a:%ff", None),
            ("a:{x}é", "a:öé", Some(vec![("x", "ö")])),
            ("a:b", "a:b", Some(vec![])),
            ("a:b", "a:bc", None),
        ] {
            let values = Template::parse(template).expect("a template").matches(uri);
            let expected = expected
                .map(|pairs| pairs.into_iter().map(|(k, v)| (k.to_owned(), v.to_owned())).collect::<IndexMap<_, _>>());
            assert_eq!(values, expected, "{template} on {uri}");
        }
    }

    #[test]
    fn refused() {
        for text in ["a{", "a}", "{a}}", "{}", "{+path}", "{a,b}", "{a}{b}", "{a}/{a}"] {
            assert!(Template::parse(text).is_err(), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn what_was_filled_in_is_found_again(a in "[a-z0-9]{1,8}", b in "[a-z0-9%-]{0,8}[a-z]") {
            let template = Template::parse("x://{a}/{b}.txt").expect("a template");
            let uri = format!("x://{a}/{}.txt", b.replace('%', "%25"));
            let values = template.matches(&uri).expect("it fits");
            proptest::prop_assert_eq!(&values["a"], &a);
            proptest::prop_assert_eq!(&values["b"], &b);
        }

        #[test]
        fn never_panics(template in ".{0,20}", uri in ".{0,20}") {
            if let Ok(template) = Template::parse(&template) {
                let _ = template.matches(&uri);
            }
        }
    }
}
