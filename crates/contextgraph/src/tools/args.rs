//! What tools take: one description of each parameter, from which its schema, its default and its check all come.
//!
//! This reads no JSON Schema: it writes one, and checks arguments by the same description, so that its refusals can name the
//! parameter that was meant. That schema and check say the same is tested against a validator.

use serde_json::{Map, Value, json};

use crate::Id;
use crate::error::{Outcome, Problem};

/// A parameter.
#[derive(Debug, Clone)]
pub struct Param {
    name: &'static str,
    about: &'static str,
    kind: EdgeKind,
    required: bool,
    default: Option<Value>,
    /// Other names that programs give it.
    also: &'static [&'static str],
}

#[derive(Debug, Clone)]
enum EdgeKind {
    Text { longest: usize },
    Word(&'static [&'static str]),
    Id,
    Number { least: f64, most: f64, clamped: bool },
    Whole { least: i64, most: i64 },
    Flag,
    Texts,
    Ids,
    Numbers(usize),
    Whole3,
    Object,
}

impl Param {
    const fn new(name: &'static str, about: &'static str, kind: EdgeKind) -> Self {
        Self { name, about, kind, required: false, default: None, also: &[] }
    }

    /// A text.
    #[must_use]
    pub const fn text(name: &'static str, about: &'static str) -> Self {
        Self::new(name, about, EdgeKind::Text { longest: usize::MAX })
    }

    /// A text of at most so many characters.
    #[must_use]
    pub const fn short(name: &'static str, about: &'static str, longest: usize) -> Self {
        Self::new(name, about, EdgeKind::Text { longest })
    }

    /// One of some words.
    #[must_use]
    pub const fn word(name: &'static str, about: &'static str, words: &'static [&'static str]) -> Self {
        Self::new(name, about, EdgeKind::Word(words))
    }

    /// A UUID.
    #[must_use]
    pub const fn id(name: &'static str, about: &'static str) -> Self {
        Self::new(name, about, EdgeKind::Id)
    }

    /// A number within bounds.
    #[must_use]
    pub const fn number(name: &'static str, about: &'static str, least: f64, most: f64) -> Self {
        Self::new(name, about, EdgeKind::Number { least, most, clamped: false })
    }

    /// A number that is held within bounds by the tool.
    #[must_use]
    pub const fn held(name: &'static str, about: &'static str, least: f64, most: f64) -> Self {
        Self::new(name, about, EdgeKind::Number { least, most, clamped: true })
    }

    /// A whole number within bounds.
    #[must_use]
    pub const fn whole(name: &'static str, about: &'static str, least: i64, most: i64) -> Self {
        Self::new(name, about, EdgeKind::Whole { least, most })
    }

    /// Yes or no.
    #[must_use]
    pub const fn flag(name: &'static str, about: &'static str) -> Self {
        Self::new(name, about, EdgeKind::Flag)
    }

    /// Texts.
    #[must_use]
    pub const fn texts(name: &'static str, about: &'static str) -> Self {
        Self::new(name, about, EdgeKind::Texts)
    }

    /// UUIDs.
    #[must_use]
    pub const fn ids(name: &'static str, about: &'static str) -> Self {
        Self::new(name, about, EdgeKind::Ids)
    }

    /// So many numbers.
    #[must_use]
    pub const fn numbers(name: &'static str, about: &'static str, count: usize) -> Self {
        Self::new(name, about, EdgeKind::Numbers(count))
    }

    /// Three whole numbers.
    #[must_use]
    pub const fn whole3(name: &'static str, about: &'static str) -> Self {
        Self::new(name, about, EdgeKind::Whole3)
    }

    /// An object.
    #[must_use]
    pub const fn object(name: &'static str, about: &'static str) -> Self {
        Self::new(name, about, EdgeKind::Object)
    }

    /// It must be given.
    #[must_use]
    pub const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// Other names that are taken for it. Both spellings (`topK`, `top_k`) always are.
    #[must_use]
    pub const fn also(mut self, names: &'static [&'static str]) -> Self {
        self.also = names;
        self
    }

    /// Its name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Whether a name means it, in whichever spelling.
    fn is_named(&self, name: &str) -> bool {
        std::iter::once(&self.name).chain(self.also).any(|own| same_name(own, name))
    }

    /// What holds if it is not given.
    #[must_use]
    pub fn default(mut self, value: impl Into<Value>) -> Self {
        self.default = Some(value.into());
        self
    }

    fn schema(&self) -> Value {
        let mut schema = match &self.kind {
            EdgeKind::Text { longest } if *longest == usize::MAX => json!({"type": "string"}),
            EdgeKind::Text { longest } => json!({"type": "string", "maxLength": longest}),
            EdgeKind::Word(words) => json!({"type": "string", "enum": words}),
            EdgeKind::Id => json!({"type": "string", "format": "uuid"}),
            EdgeKind::Number { clamped: true, .. } => json!({"type": "number"}),
            EdgeKind::Number { least, most, .. } if least.is_finite() => {
                json!({"type": "number", "minimum": least, "maximum": most})
            }
            EdgeKind::Number { .. } => json!({"type": "number"}),
            EdgeKind::Whole { least, most } => json!({"type": "integer", "minimum": least, "maximum": most}),
            EdgeKind::Flag => json!({"type": "boolean"}),
            EdgeKind::Texts => json!({"type": "array", "items": {"type": "string"}}),
            EdgeKind::Ids => json!({"type": "array", "items": {"type": "string", "format": "uuid"}}),
            EdgeKind::Numbers(count) => {
                json!({"type": "array", "items": {"type": "number"}, "minItems": count, "maxItems": count})
            }
            EdgeKind::Whole3 => {
                json!({"type": "array", "items": {"type": "integer", "minimum": 1}, "minItems": 3, "maxItems": 3})
            }
            EdgeKind::Object => json!({"type": "object"}),
        };
        schema["description"] = self.about.into();
        if let Some(default) = &self.default {
            schema["default"] = default.clone();
        }
        schema
    }

    fn check(&self, value: &Value) -> Outcome<()> {
        let name = self.name;
        let refuse = |what: String| Err(Problem::params(format!("`{name}` {what}")));
        let texts = || value.as_array().filter(|list| list.iter().all(Value::is_string));
        match &self.kind {
            EdgeKind::Text { longest } => match value.as_str() {
                None => refuse("is a text".to_owned()),
                Some(text) if text.chars().count() > *longest => refuse(format!("has at most {longest} characters")),
                Some(_) => Ok(()),
            },
            EdgeKind::Word(words) if !value.as_str().is_some_and(|word| words.contains(&word)) => {
                refuse(format!("is one of {}", words.join(", ")))
            }
            EdgeKind::Id if value.as_str().is_none_or(|text| text.parse::<Id>().is_err()) => {
                refuse("is a UUID (8-4-4-4-12 hexadecimal digits)".to_owned())
            }
            EdgeKind::Number { least, most, clamped } => match value.as_f64() {
                None => refuse("is a number".to_owned()),
                Some(number) if !clamped && !(*least..=*most).contains(&number) => {
                    refuse(format!("is a number from {least} to {most}, not {number}"))
                }
                Some(_) => Ok(()),
            },
            EdgeKind::Whole { least, most } => {
                match value.as_i64().or_else(|| value.as_f64().filter(|n| n.fract() == 0.0).map(|n| n as i64)) {
                    None => refuse("is a whole number".to_owned()),
                    Some(number) if !(*least..=*most).contains(&number) => {
                        refuse(format!("is a whole number from {least} to {most}, not {number}"))
                    }
                    Some(_) => Ok(()),
                }
            }
            EdgeKind::Flag if !value.is_boolean() => refuse("is true or false".to_owned()),
            EdgeKind::Texts if texts().is_none() => refuse("is a list of texts".to_owned()),
            EdgeKind::Ids
                if texts().is_none_or(|list| {
                    list.iter().any(|id| id.as_str().is_none_or(|text| text.parse::<Id>().is_err()))
                }) =>
            {
                refuse("is a list of UUIDs".to_owned())
            }
            EdgeKind::Numbers(count)
                if value
                    .as_array()
                    .is_none_or(|list| list.len() != *count || list.iter().any(|number| number.as_f64().is_none())) =>
            {
                refuse(format!("is a list of {count} numbers"))
            }
            EdgeKind::Whole3
                if value.as_array().is_none_or(|list| {
                    list.len() != 3
                        || list.iter().any(|number| number.as_f64().is_none_or(|n| n < 1.0 || n.fract() != 0.0))
                }) =>
            {
                refuse("is a list of three whole numbers above 0".to_owned())
            }
            EdgeKind::Object if !value.is_object() => refuse("is an object".to_owned()),
            _ => Ok(()),
        }
    }
}

/// Whether two names differ in spelling only: `topK`, `top_k`.
fn same_name(a: &str, b: &str) -> bool {
    let plain = |c: &char| *c != '_' && *c != '-';
    a == b
        || a.chars().filter(plain).flat_map(char::to_lowercase).eq(b.chars().filter(plain).flat_map(char::to_lowercase))
}

/// What to say of a name that no parameter has.
fn unknown(params: &[Param], name: &str) -> String {
    const MAX_SHOWN: usize = 64;
    let shown: String = name.chars().take(MAX_SHOWN).collect();
    let plain: String = shown.chars().filter(|c| *c != '_' && *c != '-').flat_map(char::to_lowercase).collect();
    let nearest = params
        .iter()
        .flat_map(|param| {
            std::iter::once(param.name).chain(param.also.iter().copied()).map(move |own| (param.name, own))
        })
        .map(|(name, own)| (distance(&plain, &own.replace('_', "").to_lowercase()), name))
        .min();
    match nearest {
        Some((away, near)) if away <= 2.max(plain.chars().count() / 3) => {
            format!("there is no parameter `{shown}`: did you mean `{near}`?")
        }
        Some(_) => {
            let names: Vec<&str> = params.iter().map(|param| param.name).collect();
            format!("there is no parameter `{shown}`; there are {}", names.join(", "))
        }
        None => format!("there is no parameter `{shown}`: this tool takes none but `space`"),
    }
}

/// How many letters have to be changed, added or taken away (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (line, left) in a.chars().enumerate() {
        let mut before = row[0];
        row[0] = line + 1;
        for (at, right) in b.iter().enumerate() {
            let replaced = before + usize::from(left != *right);
            before = row[at + 1];
            row[at + 1] = replaced.min(before + 1).min(row[at] + 1);
        }
    }
    row[b.len()]
}

/// The schema of what a tool takes.
#[must_use]
pub fn schema(params: &[Param]) -> Value {
    let properties: Map<String, Value> = params.iter().map(|param| (param.name.to_owned(), param.schema())).collect();
    let required: Vec<&str> = params.iter().filter(|param| param.required).map(|param| param.name).collect();
    json!({"type": "object", "properties": properties, "required": required})
}

/// Arguments that were checked. They are kept under the names of the schema.
#[derive(Debug, Clone, Default)]
pub struct Args(Map<String, Value>);

impl Args {
    /// Checks arguments and fills in what holds if nothing is given.
    ///
    /// # Errors
    /// One is missing or does not fit.
    pub fn check(params: &[Param], given: &Map<String, Value>) -> Outcome<Self> {
        let mut out = Map::new();
        for name in given.keys() {
            // The space is for whoever calls the tool.
            if name != "space" && !params.iter().any(|param| param.is_named(name)) {
                return Err(Problem::new(crate::Code::InvalidParams, "UNKNOWN_PARAMETER", unknown(params, name)));
            }
        }
        for param in params {
            let mut values = given.iter().filter(|(name, value)| param.is_named(name) && !value.is_null());
            let value = values.next();
            if let (Some((first, _)), Some((second, _))) = (value, values.next()) {
                return Err(Problem::params(format!("`{first}` and `{second}` are the same: give one of them")));
            }
            match value.map(|(_, value)| value) {
                Some(value) => {
                    param.check(value)?;
                    out.insert(param.name.to_owned(), value.clone());
                }
                None if param.required => return Err(Problem::params(format!("`{}` is missing", param.name))),
                None => {
                    if let Some(default) = &param.default {
                        out.insert(param.name.to_owned(), default.clone());
                    }
                }
            }
        }
        Ok(Self(out))
    }

    /// A value as it came.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// A text; empty if it was not given.
    #[must_use]
    pub fn text(&self, name: &str) -> &str {
        self.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// A text, if it was given.
    #[must_use]
    pub fn maybe_text(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(Value::as_str)
    }

    /// A number; 0 if it was not given and there is no default.
    #[must_use]
    pub fn number(&self, name: &str) -> f64 {
        self.maybe_number(name).unwrap_or_default()
    }

    /// A number, if it was given.
    #[must_use]
    pub fn maybe_number(&self, name: &str) -> Option<f64> {
        self.get(name).and_then(Value::as_f64)
    }

    /// A whole number; 0 if it was not given and there is no default.
    #[must_use]
    pub fn whole(&self, name: &str) -> usize {
        // Checked to be whole and within bounds that fit.
        self.maybe_number(name).map_or(0, |number| number as usize)
    }

    /// Yes or no; no if it was not given.
    #[must_use]
    pub fn flag(&self, name: &str) -> bool {
        self.get(name).and_then(Value::as_bool).unwrap_or_default()
    }

    /// An id, if it was given.
    #[must_use]
    pub fn maybe_id(&self, name: &str) -> Option<Id> {
        self.maybe_text(name).and_then(|text| text.parse().ok())
    }

    /// An id that must be there.
    ///
    /// # Errors
    /// It is not.
    pub fn id(&self, name: &str) -> Outcome<Id> {
        self.maybe_id(name).ok_or_else(|| Problem::params(format!("`{name}` is missing")))
    }

    /// Ids, if any were given.
    #[must_use]
    pub fn ids(&self, name: &str) -> Option<Vec<Id>> {
        let list = self.get(name)?.as_array()?;
        Some(list.iter().filter_map(|id| id.as_str()?.parse().ok()).collect())
    }

    /// Texts.
    #[must_use]
    pub fn texts(&self, name: &str) -> Vec<String> {
        let list = self.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        list.iter().filter_map(|text| text.as_str().map(ToOwned::to_owned)).collect()
    }

    /// Numbers, if any were given.
    #[must_use]
    pub fn numbers(&self, name: &str) -> Option<Vec<f64>> {
        Some(self.get(name)?.as_array()?.iter().filter_map(Value::as_f64).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_checked_by_what_the_schema_says() {
        let params = [
            Param::text("content", "").required(),
            Param::number("share", "", 0.0, 1.0).default(0.5),
            Param::whole("count", "", 1, 10).default(3),
            Param::word("word", "", &["a", "b"]),
            Param::id("id", ""),
            Param::held("free", "", 0.0, 10.0),
        ];
        let read = |value: Value| Args::check(&params, value.as_object().unwrap());
        let args = read(json!({"content": "x", "space": "s", "word": null})).unwrap();
        assert_eq!((args.number("share"), args.whole("count"), args.maybe_text("word")), (0.5, 3, None));
        for bad in [
            json!({}),
            json!({"content": 5}),
            json!({"content": "x", "share": 1.1}),
            json!({"content": "x", "share": "much"}),
            json!({"content": "x", "count": 0}),
            json!({"content": "x", "count": 1.5}),
            json!({"content": "x", "word": "c"}),
            json!({"content": "x", "id": "nonsense"}),
        ] {
            assert_eq!(read(bad.clone()).unwrap_err().code, crate::Code::InvalidParams, "{bad}");
        }
        assert_eq!(read(json!({"content": "x", "free": 99})).unwrap().number("free"), 99.0);
        for (given, near) in
            [("contnet", "did you mean `content`"), ("shares", "`share`"), ("zzzzzzzzzz", "there are content, share")]
        {
            let problem = read(json!({"content": "x", given: 1})).unwrap_err();
            assert!(problem.kind == "UNKNOWN_PARAMETER" && problem.message.contains(near), "{}", problem.message);
        }
        let params = [Param::whole("topK", "", 1, 10).also(&["limit"]), Param::flag("include_content", "")];
        let read = |value: Value| Args::check(&params, value.as_object().unwrap());
        for (given, count) in [(json!({"topK": 3}), 3), (json!({"top_k": 4}), 4), (json!({"limit": 5}), 5)] {
            assert_eq!(read(given).unwrap().whole("topK"), count);
        }
        assert!(read(json!({"includeContent": true})).unwrap().flag("include_content"));
        assert!(read(json!({"topK": 3, "top_k": 4})).unwrap_err().message.contains("are the same"));
        assert_eq!((distance("kitten", "sitting"), distance("", "ab"), distance("ab", "ab")), (3, 2, 0));
        let params = [Param::text("content", "").required(), Param::number("share", "", 0.0, 1.0).default(0.5)];
        assert_eq!(schema(&params)["required"], json!(["content"]));
        assert_eq!(schema(&params)["properties"]["share"]["default"], 0.5);
    }

    /// Whoever validates arguments by the published schema and whoever calls hear the same.
    #[test]
    fn the_schema_and_the_check_say_the_same() {
        let uuid = "6f9619ff-8b86-d011-b42d-00c04fc964ff";
        let values = [
            json!(true),
            json!(false),
            json!(0),
            json!(1),
            json!(1.0),
            json!(1.5),
            json!(-1),
            json!(3),
            json!(4),
            json!(u64::MAX),
            json!(1e300),
            json!(""),
            json!("a"),
            json!("abc"),
            json!("abcd"),
            json!("\u{1f600}\u{1f600}\u{1f600}"),
            json!("5"),
            json!(uuid),
            json!(uuid.to_uppercase()),
            json!(uuid.replace('-', "")),
            json!(format!("{{{uuid}}}")),
            json!(format!("urn:uuid:{uuid}")),
            json!([]),
            json!([1, 2]),
            json!([1.5, 2]),
            json!([1, "2"]),
            json!([1, 2, 3]),
            json!([1.0, 2, 3]),
            json!([1.5, 2, 3]),
            json!([0, 2, 3]),
            json!([-1, 2, 3]),
            json!(["a", "b"]),
            json!([uuid]),
            json!([uuid, "x"]),
            json!([null]),
            json!({}),
            json!({"a": 1}),
        ];
        for param in [
            Param::text("p", ""),
            Param::short("p", "", 3),
            Param::word("p", "", &["a", "b"]),
            Param::id("p", ""),
            Param::number("p", "", 0.0, 1.0),
            Param::number("p", "", f64::NEG_INFINITY, f64::INFINITY),
            Param::held("p", "", 0.0, 1.0),
            Param::whole("p", "", 1, 3),
            Param::flag("p", ""),
            Param::texts("p", ""),
            Param::ids("p", ""),
            Param::numbers("p", "", 2),
            Param::whole3("p", ""),
            Param::object("p", ""),
        ] {
            let kind = format!("{:?}", param.kind);
            let params = [param];
            let validator = jsonschema::options().should_validate_formats(true).build(&schema(&params)).unwrap();
            for value in &values {
                let given = json!({"p": value});
                let checked = Args::check(&params, given.as_object().unwrap()).is_ok();
                assert_eq!(checked, validator.is_valid(&given), "{kind}: {value}");
            }
        }
    }
}
