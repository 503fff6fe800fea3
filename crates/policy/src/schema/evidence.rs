//! What a schema tells of one value in the arguments: whether it is one of a few words, a date, a place in a file system.
//!
//! It only ever adds to what the value itself and its key say. What a schema leaves open stays open.

use serde_json::{Map, Value};

use super::{Node, Schema};

/// Schemas that may speak of one value: references, `allOf` and alternatives taken together.
const MAX_READINGS: usize = 64;
/// Words of a description that name a place.
const PLACES: [&str; 9] =
    ["path", "paths", "filepath", "filename", "filenames", "directory", "directories", "folder", "folders"];

/// What a description calls a host. The word alone may be a verb, or somebody who has guests.
const HOSTS: [&str; 8] =
    ["hostname", "host name", "fqdn", "ip address", "host or ip", "host:port", "host and port", "server address"];

/// What a schema says of one value. Nothing, where there is no schema or it does not know the value.
#[derive(Debug, Clone, Default)]
pub struct Evidence<'a> {
    schema: Option<&'a Schema>,
    nodes: Vec<usize>,
}

impl<'a> Evidence<'a> {
    /// Nothing is known.
    #[must_use]
    pub const fn none() -> Self {
        Self { schema: None, nodes: Vec::new() }
    }

    /// What a schema says of the arguments as a whole.
    #[must_use]
    pub fn of(schema: Option<&'a Schema>) -> Self {
        schema.map_or_else(Self::default, |schema| Self { schema: Some(schema), nodes: vec![0] }.resolved())
    }

    /// The same of one member. Members that the schema does not name have no evidence.
    #[must_use]
    pub fn member(&self, name: &str) -> Self {
        self.step(|node| node.property(name))
    }

    /// The same of the elements of a list.
    #[must_use]
    pub fn element(&self) -> Self {
        self.step(|node| node.items)
    }

    /// Whether the schema names the value at all.
    #[must_use]
    pub fn is_declared(&self) -> bool {
        !self.nodes.is_empty()
    }

    /// Whether the value is one of the words that the schema lists.
    #[must_use]
    pub fn lists(&self, text: &str) -> bool {
        self.nodes().any(|node| node.values.iter().flatten().any(|value| value.as_str() == Some(text)))
    }

    /// Whether the schema says of a format, and one of these.
    #[must_use]
    pub fn has_format(&self, formats: &[&str]) -> bool {
        self.nodes().any(|node| node.format.as_deref().is_some_and(|format| formats.contains(&format)))
    }

    /// Whether the description speaks of a place in a file system.
    #[must_use]
    pub fn speaks_of_place(&self) -> bool {
        self.nodes().any(|node| node.speaks_of_place)
    }

    /// Whether the description says that the value is a host.
    #[must_use]
    pub fn speaks_of_host(&self) -> bool {
        self.nodes().any(|node| node.speaks_of_host)
    }

    fn nodes(&self) -> impl Iterator<Item = &'a Node> {
        let schema = self.schema;
        self.nodes.iter().filter_map(move |index| schema?.nodes.get(*index))
    }

    fn step(&self, next: impl Fn(&Node) -> Option<usize>) -> Self {
        Self { schema: self.schema, nodes: self.nodes().filter_map(next).collect() }.resolved()
    }

    /// With everything that references, `allOf` and alternatives add.
    fn resolved(mut self) -> Self {
        let mut at = 0;
        while at < self.nodes.len() && self.nodes.len() < MAX_READINGS {
            let node = self.schema.and_then(|schema| schema.nodes.get(self.nodes[at]));
            let more = node.into_iter().flat_map(|node| {
                let all = node.all.iter().chain(node.any.iter().flatten()).chain(&node.reference);
                all.copied()
            });
            let more: Vec<usize> = more.filter(|index| !self.nodes.contains(index)).collect();
            self.nodes.extend(more);
            at += 1;
        }
        self
    }
}

/// Whether the description or the title of a schema names a place.
pub(super) fn speaks_of_place(members: &Map<String, Value>) -> bool {
    ["description", "title"].iter().filter_map(|key| members.get(*key)?.as_str()).any(|text| {
        let lower = text.to_ascii_lowercase();
        let mut words = lower.split(|c: char| !c.is_alphanumeric());
        words.any(|word| PLACES.contains(&word)) || lower.contains("file to ") || lower.contains("name of the file")
    })
}

/// Whether the description or the title of a schema says that its value is a host.
pub(super) fn speaks_of_host(members: &Map<String, Value>) -> bool {
    ["description", "title"].iter().filter_map(|key| members.get(*key)?.as_str()).any(|text| {
        let lower = text.to_ascii_lowercase();
        HOSTS.iter().any(|host| lower.contains(host))
    })
}
