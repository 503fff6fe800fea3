//! Typed reading of one TOML table, where every refusal knows its place in the text.
//!
//! Knows TOML and nothing about what the keys mean.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use toml_edit::{Item, TableLike, Value};

use crate::error::{ConfigError, ErrorKind};
use crate::nearest;
use crate::secret::Secret;
use crate::source::Source;

/// A string value and its place.
pub(crate) struct Text<'a> {
    pub(crate) value: &'a str,
    pub(crate) span: Option<Range<usize>>,
}

/// Names, values, and the places of the values.
pub(crate) type Pairs = BTreeMap<String, (Secret, Option<Range<usize>>)>;

/// One table, with the keys it may have.
pub(crate) struct Keys<'a> {
    pub(crate) source: Source<'a>,
    pub(crate) table: &'a dyn TableLike,
    /// The server the table belongs to, for errors.
    pub(crate) server: Option<&'a str>,
    /// The section, for errors; empty for the top level and for a server itself.
    pub(crate) place: &'static str,
    pub(crate) known: &'static [&'static str],
}

impl<'a> Keys<'a> {
    /// Refuses the first key that is not known.
    pub(crate) fn refuse_unknown(&self) -> Result<(), ConfigError> {
        let unknown = self.table.iter().map(|(key, _)| key).find(|key| !self.known.contains(key));
        unknown.map_or(Ok(()), |key| {
            let kind = ErrorKind::UnknownKey {
                key: key.to_owned(),
                place: self.place,
                closest: nearest(key, self.known),
                known: self.known,
            };
            Err(self.error(self.key_span(key), kind))
        })
    }

    pub(crate) fn error(&self, span: Option<Range<usize>>, kind: ErrorKind) -> ConfigError {
        self.source.error(span, self.server, kind)
    }

    /// A value that is refused for what it says.
    pub(crate) fn bad_value(&self, key: &str, reason: impl Into<String>, help: impl Into<String>) -> ConfigError {
        let kind = ErrorKind::BadValue { key: key.to_owned(), reason: reason.into(), help: help.into() };
        self.error(self.value_span(key), kind)
    }

    pub(crate) fn key_span(&self, key: &str) -> Option<Range<usize>> {
        self.table.key(key).and_then(toml_edit::Key::span)
    }

    pub(crate) fn value_span(&self, key: &str) -> Option<Range<usize>> {
        self.table.get(key).and_then(Item::span).or_else(|| self.key_span(key))
    }

    pub(crate) fn wrong_type(&self, key: &str, item: &Item, expected: &'static str) -> ConfigError {
        self.wrong(key, item.type_name(), item.span(), expected)
    }

    fn wrong(&self, key: &str, found: &'static str, span: Option<Range<usize>>, expected: &'static str) -> ConfigError {
        let kind = ErrorKind::WrongType { key: key.to_owned(), expected, found };
        self.error(span.or_else(|| self.key_span(key)), kind)
    }

    pub(crate) fn text(&self, key: &str) -> Result<Option<Text<'a>>, ConfigError> {
        let Some(item) = self.table.get(key) else { return Ok(None) };
        let value = item.as_str().ok_or_else(|| self.wrong_type(key, item, "a string"))?;
        if value.contains('\0') {
            return Err(self.bad_value(key, "contains a NUL character", "remove it"));
        }
        Ok(Some(Text { value, span: item.span() }))
    }

    pub(crate) fn string(&self, key: &str) -> Result<Option<String>, ConfigError> {
        Ok(self.text(key)?.map(|text| text.value.to_owned()))
    }

    pub(crate) fn boolean(&self, key: &str) -> Result<Option<bool>, ConfigError> {
        let Some(item) = self.table.get(key) else { return Ok(None) };
        item.as_bool().map(Some).ok_or_else(|| self.wrong_type(key, item, "true or false"))
    }

    pub(crate) fn number(&self, key: &str, from: u64, to: u64) -> Result<Option<u64>, ConfigError> {
        let Some(item) = self.table.get(key) else { return Ok(None) };
        let value = item.as_integer().ok_or_else(|| self.wrong_type(key, item, "a whole number"))?;
        match u64::try_from(value) {
            Ok(value) if (from..=to).contains(&value) => Ok(Some(value)),
            _ => Err(self.bad_value(
                key,
                format!("is {value}, out of range"),
                format!("write a number from {from} to {to}"),
            )),
        }
    }

    /// A time in milliseconds, at most a day.
    pub(crate) fn milliseconds(&self, key: &str) -> Result<Option<Duration>, ConfigError> {
        Ok(self.number(key, 1, 86_400_000)?.map(Duration::from_millis))
    }

    pub(crate) fn texts(&self, key: &str) -> Result<Vec<Text<'a>>, ConfigError> {
        let Some(item) = self.table.get(key) else { return Ok(Vec::new()) };
        let array = item.as_array().ok_or_else(|| self.wrong_type(key, item, "an array of strings"))?;
        let text = |value: &'a Value| match value.as_str() {
            Some(text) if text.contains('\0') => Err(self.bad_value(key, "contains a NUL character", "remove it")),
            Some(text) => Ok(Text { value: text, span: value.span() }),
            None => Err(self.wrong(key, value.type_name(), value.span(), "an array of strings")),
        };
        array.iter().map(text).collect()
    }

    pub(crate) fn strings(&self, key: &str) -> Result<Vec<String>, ConfigError> {
        Ok(self.texts(key)?.into_iter().map(|text| text.value.to_owned()).collect())
    }

    /// A table of strings, as `env` and `headers` are.
    pub(crate) fn map(&self, key: &str) -> Result<Pairs, ConfigError> {
        let Some(item) = self.table.get(key) else { return Ok(BTreeMap::new()) };
        let table = item.as_table_like().ok_or_else(|| self.wrong_type(key, item, "a table of strings"))?;
        let pair = |(name, item): (&str, &Item)| {
            let path = format!("{key}.{name}");
            let value = item.as_str().ok_or_else(|| self.wrong_type(&path, item, "a string"))?;
            if value.contains('\0') {
                let (key, reason) = (path, "contains a NUL character".to_owned());
                return Err(self.error(item.span(), ErrorKind::BadValue { key, reason, help: "remove it".to_owned() }));
            }
            Ok((name.to_owned(), (Secret::new(value), item.span())))
        };
        table.iter().map(pair).collect()
    }

    /// A table of lists of strings.
    pub(crate) fn lists(&self, key: &str) -> Result<Option<BTreeMap<String, Vec<String>>>, ConfigError> {
        let Some(item) = self.table.get(key) else { return Ok(None) };
        let expected = "a table of arrays of strings";
        let table = item.as_table_like().ok_or_else(|| self.wrong_type(key, item, expected))?;
        let list = |(name, item): (&str, &Item)| {
            let wrong = || self.wrong_type(&format!("{key}.{name}"), item, expected);
            let values = item.as_array().ok_or_else(wrong)?.iter();
            let texts: Result<_, _> = values.map(|value| value.as_str().map(str::to_owned).ok_or_else(wrong)).collect();
            Ok((name.to_owned(), texts?))
        };
        table.iter().map(list).collect::<Result<_, _>>().map(Some)
    }

    /// One of a few words.
    pub(crate) fn word<T>(
        &self,
        key: &str,
        words: &'static [&'static str],
        from: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, ConfigError> {
        let Some(text) = self.text(key)? else { return Ok(None) };
        from(text.value).map(Some).ok_or_else(|| {
            let help = match nearest(text.value, words) {
                Some(word) => format!("did you mean \"{word}\"?"),
                None => format!("write one of \"{}\"", words.join("\", \"")),
            };
            self.bad_value(key, format!("cannot be {:?}", text.value), help)
        })
    }

    /// A table inside this one.
    pub(crate) fn section(
        &self,
        key: &str,
        place: &'static str,
        known: &'static [&'static str],
    ) -> Result<Option<Self>, ConfigError> {
        let Some(item) = self.table.get(key) else { return Ok(None) };
        let table = item.as_table_like().ok_or_else(|| self.wrong_type(key, item, "a table"))?;
        let section = Self { source: self.source, table, server: self.server, place, known };
        section.refuse_unknown()?;
        Ok(Some(section))
    }
}
