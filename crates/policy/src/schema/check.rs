//! Arguments, value by value, against the nodes of a schema.

use serde_json::Value;
use switchboard_wire::{Kind, Object, Raw};

use super::{Mismatch, Node, Schema, Types};
use crate::Finding;

/// Values that are looked at in one call. Whatever comes after passes.
const MOST_WORK: usize = 50_000;
/// How deep references and values may lead.
const DEEPEST: usize = 128;
/// Bytes of a pointer that are told.
const LONGEST_POINTER: usize = 256;
/// Allowed values that are told.
const MOST_TOLD: usize = 10;

/// `Err(None)` where nobody wants to know why.
type Answer = Result<(), Option<Box<Mismatch>>>;

pub(super) fn arguments(schema: &Schema, arguments: &Raw) -> Result<(), Box<Mismatch>> {
    if schema.nodes.is_empty() {
        return Ok(());
    }
    let mut check = Check { schema, work: 0, quiet: false };
    // What was asked for quietly is never the last word.
    check.value(0, arguments, 0).map_err(Option::unwrap_or_default)
}

impl Default for Box<Mismatch> {
    fn default() -> Self {
        Self::new(Mismatch { pointer: String::new(), finding: Finding::new("schema", "the arguments do not fit") })
    }
}

struct Check<'a> {
    schema: &'a Schema,
    work: usize,
    /// Whether alternatives are being tried: then nobody wants to know why one does not fit.
    quiet: bool,
}

impl Check<'_> {
    fn value(&mut self, index: usize, value: &Raw, depth: usize) -> Answer {
        self.work += 1;
        let Some(node) = self.schema.nodes.get(index) else { return Ok(()) };
        if self.work > MOST_WORK || depth > DEEPEST {
            return Ok(());
        }
        if let Some(target) = node.reference {
            return self.value(target, value, depth + 1);
        }
        if node.never {
            return self.refuse("false", || "nothing is allowed here".to_owned());
        }
        let kind = value.kind();
        if node.types != Types::ANY && !node.types.has(types_of(value, kind)) {
            if could_be_read_as(node.types, value, kind) {
                return Ok(());
            }
            return self.refuse("type", || format!("must be {}, not {}", node.types.names(), name_of(kind)));
        }
        if let Some(values) =
            node.values.iter().find(|values| !values.iter().any(|allowed| may_equal(allowed, value, kind)))
        {
            return self.refuse("enum", || {
                let told: Vec<_> = values.iter().take(MOST_TOLD).map(Value::to_string).collect();
                let more = if values.len() > MOST_TOLD { ", ..." } else { "" };
                format!("must be one of {}{more}", told.join(", "))
            });
        }
        match kind {
            Kind::Object => self.object(node, value, depth)?,
            Kind::Array => self.array(node, value, depth)?,
            Kind::String => self.string(node, value)?,
            Kind::Number => self.number(node, value)?,
            Kind::Bool | Kind::Null => {}
        }
        node.all.iter().try_for_each(|part| self.value(*part, value, depth + 1))?;
        node.any.iter().try_for_each(|group| self.group(group, value, depth))
    }

    fn group(&mut self, group: &[usize], value: &Raw, depth: usize) -> Answer {
        if let [only] = group {
            return self.value(*only, value, depth + 1);
        }
        let quiet = std::mem::replace(&mut self.quiet, true);
        let fits = group.iter().any(|part| self.value(*part, value, depth + 1).is_ok());
        self.quiet = quiet;
        if fits { Ok(()) } else { self.refuse("anyOf", || "fits none of the allowed forms".to_owned()) }
    }

    fn object(&mut self, node: &Node, value: &Raw, depth: usize) -> Answer {
        let plain = node.required.is_empty()
            && node.properties.is_empty()
            && node.additional.is_none()
            && node.members_count.is_empty();
        if plain {
            return Ok(());
        }
        // A member that stands twice is somebody else's business.
        let Ok(object) = Object::open(value) else { return Ok(()) };
        if let Some(missing) = node.required.iter().find(|name| !object.has(name)) {
            return self.refuse("required", || format!("`{missing}` is missing"));
        }
        let count = object.len();
        if node.members_count.least.is_some_and(|least| count < least) {
            return self.refuse("minProperties", || "has too few members".to_owned());
        }
        if node.members_count.most.is_some_and(|most| count > most) {
            return self.refuse("maxProperties", || "has too many members".to_owned());
        }
        if node.properties.is_empty() && node.additional.is_none() {
            return Ok(());
        }
        for (key, member) in object.iter() {
            let Some(index) = node.property(&key).or(node.additional) else { continue };
            self.value(index, &member, depth + 1).map_err(|why| below(&key, why))?;
        }
        Ok(())
    }

    fn array(&mut self, node: &Node, value: &Raw, depth: usize) -> Answer {
        if node.prefix.is_empty() && node.items.is_none() && node.items_count.is_empty() {
            return Ok(());
        }
        let elements = value.elements().unwrap_or_default();
        if node.items_count.least.is_some_and(|least| elements.len() < least) {
            return self.refuse("minItems", || "has too few elements".to_owned());
        }
        if node.items_count.most.is_some_and(|most| elements.len() > most) {
            return self.refuse("maxItems", || "has too many elements".to_owned());
        }
        for (at, element) in elements.iter().enumerate() {
            let Some(index) = node.prefix.get(at).copied().or(node.items) else { break };
            self.value(index, element, depth + 1).map_err(|why| below(&at.to_string(), why))?;
        }
        Ok(())
    }

    /// Some count characters and some units of UTF-16, which are more: both must agree that it is too much or little.
    fn string(&self, node: &Node, value: &Raw) -> Answer {
        if node.length.is_empty() {
            return Ok(());
        }
        let Some(text) = value.as_text() else { return Ok(()) };
        if node.length.most.is_some_and(|most| text.len() > most && text.chars().count() > most) {
            return self.refuse("maxLength", || "is too long".to_owned());
        }
        if node.length.least.is_some_and(|least| text.encode_utf16().count() < least) {
            return self.refuse("minLength", || "is too short".to_owned());
        }
        Ok(())
    }

    /// Reading a number may round it, always in the same direction as its neighbours: less stays less or becomes
    /// equal. So what is less after reading was less before.
    fn number(&self, node: &Node, value: &Raw) -> Answer {
        if node.number.is_empty() && node.beyond.is_empty() {
            return Ok(());
        }
        let Ok(number) = value.as_str().parse::<f64>() else { return Ok(()) };
        // With few digits nothing is rounded.
        let exact = value.as_str().len() <= 15;
        if node.number.least.is_some_and(|least| number < least) {
            return self.refuse("minimum", || "is too small".to_owned());
        }
        if node.number.most.is_some_and(|most| number > most) {
            return self.refuse("maximum", || "is too large".to_owned());
        }
        #[expect(clippy::float_cmp, reason = "both are what was written, to the bit")]
        if node.beyond.least.is_some_and(|least| number < least || exact && number == least) {
            return self.refuse("exclusiveMinimum", || "is too small".to_owned());
        }
        #[expect(clippy::float_cmp, reason = "both are what was written, to the bit")]
        if node.beyond.most.is_some_and(|most| number > most || exact && number == most) {
            return self.refuse("exclusiveMaximum", || "is too large".to_owned());
        }
        Ok(())
    }

    fn refuse(&self, rule: &'static str, message: impl FnOnce() -> String) -> Answer {
        if self.quiet {
            return Err(None);
        }
        Err(Some(Box::new(Mismatch { pointer: String::new(), finding: Finding::new(rule, message()) })))
    }
}

/// The same, seen from above the part in which it was found. Of a long pointer the end is left out.
fn below(part: &str, why: Option<Box<Mismatch>>) -> Option<Box<Mismatch>> {
    why.map(|mut why| {
        why.pointer.insert_str(0, &part.replace('~', "~0").replace('/', "~1"));
        why.pointer.insert(0, '/');
        let end = (0..=LONGEST_POINTER.min(why.pointer.len())).rev().find(|end| why.pointer.is_char_boundary(*end));
        why.pointer.truncate(end.unwrap_or(0));
        why
    })
}

fn types_of(value: &Raw, kind: Kind) -> Types {
    match kind {
        Kind::Null => Types::NULL,
        Kind::Bool => Types::BOOLEAN,
        Kind::String => Types::STRING,
        Kind::Array => Types::ARRAY,
        Kind::Object => Types::OBJECT,
        // `1.0` is an integer to all but the oldest, and what has no fraction after rounding may have had none before.
        Kind::Number if value.as_bytes().iter().all(u8::is_ascii_digit) => Types::NUMBER.with(Types::INTEGER),
        Kind::Number => match value.as_str().parse::<f64>() {
            Ok(number) if number.is_finite() && number.fract() != 0.0 => Types::NUMBER,
            _ => Types::NUMBER.with(Types::INTEGER),
        },
    }
}

/// Whether a server might read the value as one of these types: many read numbers, flags and whole structures from
/// texts, because models write them so.
fn could_be_read_as(types: Types, value: &Raw, kind: Kind) -> bool {
    if kind == Kind::Number {
        return types.has(Types::BOOLEAN) && matches!(value.as_str(), "0" | "1");
    }
    let Some(text) = (kind == Kind::String).then(|| value.as_text()).flatten() else { return false };
    let text = text.trim();
    let number = || text.parse::<f64>().is_ok();
    let flag = || {
        let words = ["true", "false", "1", "0", "yes", "no", "on", "off", "y", "n", "t", "f"];
        words.iter().any(|word| text.eq_ignore_ascii_case(word))
    };
    types.has(Types::INTEGER.with(Types::NUMBER)) && number()
        || types.has(Types::BOOLEAN) && flag()
        || types.has(Types::ARRAY) && text.starts_with('[')
        || types.has(Types::OBJECT) && text.starts_with('{')
        || types.has(Types::NULL) && text == "null"
}

/// Whether a value is, or for all that rounding tells may be, the allowed one.
fn may_equal(allowed: &Value, value: &Raw, kind: Kind) -> bool {
    match (allowed, kind) {
        (Value::String(allowed), Kind::String) => value.as_text().is_none_or(|text| text == *allowed),
        (Value::Number(allowed), Kind::Number) => allowed
            .as_f64()
            .zip(value.as_str().parse::<f64>().ok())
            .is_none_or(|(allowed, number)| allowed.total_cmp(&number).is_eq() || allowed == 0.0 && number == 0.0),
        (Value::Null, Kind::Null) => true,
        (Value::Bool(allowed), Kind::Bool) => value.as_str() == if *allowed { "true" } else { "false" },
        (Value::Array(allowed), Kind::Array) => value.elements().is_none_or(|elements| {
            elements.len() == allowed.len()
                && allowed.iter().zip(&elements).all(|(allowed, element)| may_equal(allowed, element, element.kind()))
        }),
        (Value::Object(allowed), Kind::Object) => Object::open(value).ok().is_none_or(|object| {
            object.len() == allowed.len()
                && allowed.iter().all(|(key, allowed)| {
                    object.get(key).is_some_and(|member| may_equal(allowed, &member, member.kind()))
                })
        }),
        _ => false,
    }
}

const fn name_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Null => "null",
        Kind::Bool => "boolean",
        Kind::Number => "number",
        Kind::String => "string",
        Kind::Array => "array",
        Kind::Object => "object",
    }
}
