//! `${NAME}` and `${NAME:-default}` in values, from an environment that is handed in.
//!
//! A default is taken as it stands; references do not nest. `$${` is a plain `${`; a `$` before anything else is itself.

use std::collections::BTreeMap;
use std::fmt;

use crate::error::ErrorKind;

/// The variables that references are looked up in. Its `Debug` shows no value.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    /// The variables of this process; those that are not UTF-8 are left out.
    pub fn of_process() -> Self {
        std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect()
    }

    /// The value of a variable.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The value of a variable that is set and not empty.
    pub(crate) fn filled(&self, name: &str) -> Option<&str> {
        self.get(name).filter(|value| !value.is_empty())
    }
}

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(variables: I) -> Self {
        Self(variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Environment({} variables)", self.0.len())
    }
}

/// The text with its references replaced. `key` is only for the error.
pub(crate) fn expand(text: &str, key: &str, environment: &Environment) -> Result<String, ErrorKind> {
    let malformed = |reason: String| ErrorKind::BadReference { key: key.to_owned(), reason };
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        let before = &rest[..at];
        if let Some(escaped) = before.strip_suffix('$') {
            out.push_str(escaped);
            out.push_str("${");
            rest = &rest[at + 2..];
            continue;
        }
        out.push_str(before);
        let inner = &rest[at + 2..];
        let end = inner.find('}').ok_or_else(|| malformed("`${` without `}`".to_owned()))?;
        let (name, default) = match inner[..end].split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (&inner[..end], None),
        };
        if !is_variable_name(name) {
            return Err(malformed(format!("`{name}` is not the name of a variable")));
        }
        // As in a shell, the default also stands in for a variable that is set but empty.
        match (environment.get(name), default) {
            (Some(value), None) => out.push_str(value),
            (Some(value), Some(_)) if !value.is_empty() => out.push_str(value),
            (_, Some(default)) => out.push_str(default),
            (None, None) => return Err(ErrorKind::MissingVariable { name: name.to_owned(), key: key.to_owned() }),
        }
        rest = &inner[end + 1..];
    }
    out.push_str(rest);
    Ok(out)
}

/// The text written so that [`expand`] gives it back.
pub(crate) fn escaped(text: &str) -> String {
    text.replace("${", "$${")
}

/// Names of the variables a text refers to.
pub(crate) fn references(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        let plain = rest[..at].ends_with('$');
        rest = &rest[at + 2..];
        if let (false, Some(end)) = (plain, rest.find('}')) {
            let name = rest[..end].split(":-").next().unwrap_or_default();
            if is_variable_name(name) {
                names.push(name);
            }
        }
    }
    names
}

pub(crate) fn is_variable_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn environment() -> Environment {
        [("A", "1"), ("B", "two"), ("EMPTY", ""), ("NESTED", "${A}")].into_iter().collect()
    }

    #[test]
    fn table() {
        for (text, expected) in [
            ("", Ok("")),
            ("plain $A $ {A}", Ok("plain $A $ {A}")),
            ("${A}", Ok("1")),
            ("x${A}y${B}z", Ok("x1ytwoz")),
            ("${EMPTY}", Ok("")),
            ("${EMPTY:-d}", Ok("d")),
            ("${A:-d}", Ok("1")),
            ("${NO:-}", Ok("")),
            ("${NO:-a b:-c}", Ok("a b:-c")),
            ("$${A}", Ok("${A}")),
            ("$$${A}", Ok("$${A}")),
            ("${NESTED}", Ok("${A}")),
            ("${NO}", Err("the variable `NO`, used in `k`, is not set")),
            ("${A", Err("`k` has a malformed reference: `${` without `}`")),
            ("${}", Err("`k` has a malformed reference: `` is not the name of a variable")),
            ("${input:x}", Err("`k` has a malformed reference: `input:x` is not the name of a variable")),
            ("${1A}", Err("`k` has a malformed reference: `1A` is not the name of a variable")),
        ] {
            let found = expand(text, "k", &environment()).map_err(|kind| kind.to_string());
            assert_eq!(found.as_deref().map_err(String::as_str), expected, "{text}");
        }
    }

    #[test]
    fn names_found() {
        assert_eq!(references("${A} $${B} ${C:-x} ${bad-name}"), ["A", "C"]);
    }

    #[test]
    fn debug_shows_no_value() {
        assert_eq!(format!("{:?}", environment()), "Environment(4 variables)");
    }

    proptest! {
        #[test]
        fn escaping_is_undone(text in "[a${}:-]{0,20}") {
            prop_assert_eq!(expand(&escaped(&text), "k", &Environment::default()), Ok(text));
        }
    }
}
