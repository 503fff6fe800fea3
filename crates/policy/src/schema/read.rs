//! A schema as it was published, as nodes.

use std::collections::HashMap;

use serde_json::{Map, Value};
use switchboard_wire::Raw;

use super::{Bounds, MOST_BYTES, Node, Schema, Types};

/// Schemas within one schema.
const MOST_NODES: usize = 20_000;
/// How deep they may be nested.
const DEEPEST: usize = 64;
/// Values of one `enum`.
const MOST_VALUES: usize = 5_000;

pub(super) fn schema(raw: &Raw) -> Schema {
    let unread = |note| Schema { nodes: Vec::new(), notes: vec![note] };
    if raw.as_bytes().len() > MOST_BYTES {
        return unread("the schema is too large");
    }
    let Ok(root) = raw.view::<Value>() else { return unread("the schema cannot be read") };
    // An inner `$id` changes what references beside it mean.
    let simple = !renames(&root, true, 0);
    let mut reader = Reader { root: &root, simple, nodes: Vec::new(), known: HashMap::new(), notes: Vec::new() };
    reader.known.insert(String::new(), 0);
    if reader.node(&root, 0).is_none() {
        return unread("the schema is too large or too deep");
    }
    Schema { nodes: reader.nodes, notes: reader.notes }
}

fn renames(value: &Value, top: bool, depth: usize) -> bool {
    match value {
        _ if depth > 2 * DEEPEST => true,
        Value::Object(members) => {
            !top && members.get("$id").is_some_and(Value::is_string)
                || members.values().any(|value| renames(value, false, depth + 1))
        }
        Value::Array(values) => values.iter().any(|value| renames(value, false, depth + 1)),
        _ => false,
    }
}

struct Reader<'a> {
    root: &'a Value,
    simple: bool,
    nodes: Vec<Node>,
    /// Nodes that references point to, by the pointer.
    known: HashMap<String, usize>,
    notes: Vec<&'static str>,
}

impl Reader<'_> {
    /// The node of a schema; `None` where there are too many.
    fn node(&mut self, schema: &Value, depth: usize) -> Option<usize> {
        if depth > DEEPEST || self.nodes.len() >= MOST_NODES {
            return None;
        }
        let index = self.nodes.len();
        self.nodes.push(Node::default());
        let node = match schema {
            Value::Bool(allowed) => Node { never: !allowed, ..Node::default() },
            Value::Object(members) => self.members(members, depth)?,
            _ => Node::default(),
        };
        self.nodes[index] = node;
        Some(index)
    }

    fn members(&mut self, members: &Map<String, Value>, depth: usize) -> Option<Node> {
        if let Some(reference) = members.get("$ref") {
            // What stands beside a reference counts in some drafts and not in others.
            return Some(Node { reference: self.reference(reference, depth)?, ..Node::default() });
        }
        for key in ["$dynamicRef", "$recursiveRef"] {
            if members.contains_key(key) {
                self.note("a dynamic reference is not followed");
            }
        }
        let mut node = Node {
            types: types(members),
            values: values(members),
            format: members.get("format").and_then(Value::as_str).map(|name| name.to_ascii_lowercase().into()),
            speaks_of_place: super::evidence::speaks_of_place(members),
            speaks_of_host: super::evidence::speaks_of_host(members),
            ..Node::default()
        };
        self.of_objects(&mut node, members, depth)?;
        self.of_arrays(&mut node, members, depth)?;
        let count = |key: &str| members.get(key).and_then(Value::as_f64).and_then(whole);
        node.items_count = Bounds { least: count("minItems"), most: count("maxItems") };
        node.members_count = Bounds { least: count("minProperties"), most: count("maxProperties") };
        node.length = Bounds { least: count("minLength"), most: count("maxLength") };
        let number = |key: &str| members.get(key).and_then(Value::as_f64);
        let (mut within, mut beyond) = (
            Bounds { least: number("minimum"), most: number("maximum") },
            Bounds { least: number("exclusiveMinimum"), most: number("exclusiveMaximum") },
        );
        // The oldest draft has flags there.
        if members.get("exclusiveMinimum") == Some(&Value::Bool(true)) {
            beyond.least = within.least.take();
        }
        if members.get("exclusiveMaximum") == Some(&Value::Bool(true)) {
            beyond.most = within.most.take();
        }
        (node.number, node.beyond) = (within, beyond);
        if let Some(Value::Array(parts)) = members.get("allOf") {
            node.all = self.list(parts, depth)?;
        }
        for key in ["anyOf", "oneOf"] {
            // Where some keywords are not checked, more than one may seem to fit: that is no fault.
            if let Some(Value::Array(parts)) = members.get(key) {
                let group = self.list(parts, depth)?;
                node.any.push(group);
            }
        }
        node.any.retain(|group| !group.is_empty());
        Some(node)
    }

    fn of_objects(&mut self, node: &mut Node, members: &Map<String, Value>, depth: usize) -> Option<()> {
        let properties = members.get("properties").and_then(Value::as_object);
        for (name, schema) in properties.into_iter().flatten() {
            let index = self.node(schema, depth + 1)?;
            node.properties.push((name.clone(), index));
        }
        node.properties.sort();
        let patterns = members.get("patternProperties").and_then(Value::as_object).is_some_and(|all| !all.is_empty());
        match members.get("additionalProperties") {
            Some(schema @ Value::Object(_)) if !patterns => node.additional = Some(self.node(schema, depth + 1)?),
            _ => {}
        }
        let has_default = |name: &str| properties.and_then(|all| all.get(name)?.get("default")).is_some();
        let required = members.get("required").and_then(Value::as_array).into_iter().flatten();
        // Some libraries list what has a default, and fill it in all the same.
        let required = required.filter_map(Value::as_str).filter(|name| !has_default(name));
        node.required = required.map(str::to_owned).collect();
        Some(())
    }

    fn of_arrays(&mut self, node: &mut Node, members: &Map<String, Value>, depth: usize) -> Option<()> {
        if let Some(Value::Array(parts)) = members.get("prefixItems") {
            node.prefix = self.list(parts, depth)?;
        }
        match members.get("items") {
            // Until 2019 a list was what `prefixItems` is now.
            Some(Value::Array(parts)) => node.prefix = self.list(parts, depth)?,
            Some(schema @ Value::Object(_)) => node.items = Some(self.node(schema, depth + 1)?),
            _ => {}
        }
        Some(())
    }

    fn list(&mut self, parts: &[Value], depth: usize) -> Option<Vec<usize>> {
        parts.iter().map(|part| self.node(part, depth + 1)).collect()
    }

    /// The node that a reference means: within `None` where it cannot be followed.
    fn reference(&mut self, reference: &Value, depth: usize) -> Option<Option<usize>> {
        let pointer = reference.as_str().and_then(|text| text.strip_prefix('#')).filter(|_| self.simple);
        let target = pointer.and_then(|pointer| Some((pointer, self.root.pointer(&plain(pointer))?)));
        let Some((pointer, target)) = target else {
            self.note("a reference leads out of the schema or nowhere");
            return Some(None);
        };
        if let Some(known) = self.known.get(pointer) {
            return Some(Some(*known));
        }
        // Known before it is read: it may refer to itself.
        self.known.insert(pointer.to_owned(), self.nodes.len());
        self.node(target, depth + 1).map(Some)
    }

    fn note(&mut self, note: &'static str) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

/// A pointer in a fragment may be percent-encoded. The few that are not plain are left alone.
fn plain(pointer: &str) -> String {
    pointer.replace("%24", "$").replace("%25", "%").replace("%20", " ")
}

fn types(members: &Map<String, Value>) -> Types {
    let all = match members.get("type") {
        Some(Value::String(name)) => Types::named(name),
        Some(Value::Array(names)) => {
            names.iter().try_fold(Types::ANY, |all, name| Some(all.with(Types::named(name.as_str()?)?)))
        }
        _ => None,
    };
    // A word that nobody knows may mean anything.
    let all = all.unwrap_or_default();
    let nullable = all != Types::ANY && members.get("nullable") == Some(&Value::Bool(true));
    if nullable { all.with(Types::NULL) } else { all }
}

fn values(members: &Map<String, Value>) -> Vec<Vec<Value>> {
    let listed = members.get("enum").and_then(Value::as_array).filter(|values| values.len() <= MOST_VALUES);
    let mut lists: Vec<Vec<Value>> = listed.cloned().into_iter().collect();
    if members.get("nullable") == Some(&Value::Bool(true)) {
        lists.iter_mut().for_each(|values| values.push(Value::Null));
    }
    lists.extend(members.get("const").map(|value| vec![value.clone()]));
    lists
}

/// A count, where it is one.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole, positive and small, as just seen")]
fn whole(number: f64) -> Option<usize> {
    (number >= 0.0 && number.fract() == 0.0 && number < 4e9).then_some(number as usize)
}
