//! Arguments against the `inputSchema` of their tool: is this a call that the server could want?
//!
//! The answer is no only where every reader of the schema would say so. What servers are known to take beside the
//! letter of their schema passes: a number or a list in a string, a member that has a default, members beside those
//! that are named (libraries publish `additionalProperties: false` and then drop such members). Keywords whose
//! reading differs between languages (`pattern`, `format`, `not`, conditions) are left to the server, and so is all
//! that cannot be resolved, is too large or too deep. Numbers are compared such that rounding never refuses.
//!
//! A schema is read once and asked on every call. It is not judged here: `switchboard-validators` does that.

mod check;
mod evidence;
mod read;

use serde_json::Value;
use switchboard_wire::Raw;

use crate::Finding;
pub use evidence::Evidence;

/// Schemas that are longer are not read.
pub const MOST_BYTES: usize = 512 << 10;

/// A schema that was read.
#[derive(Debug, Default)]
pub struct Schema {
    nodes: Vec<Node>,
    notes: Vec<&'static str>,
}

/// Where arguments do not fit, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// A JSON pointer into the arguments.
    pub pointer: String,
    /// What is wrong; its rule is the keyword of the schema.
    pub finding: Finding,
}

impl Schema {
    /// Reads a schema. What is not understood is not checked.
    #[must_use]
    pub fn read(raw: &Raw) -> Self {
        read::schema(raw)
    }

    /// What of the schema is not checked, beside keywords that never are.
    #[must_use]
    pub fn notes(&self) -> &[&'static str] {
        &self.notes
    }

    /// Whether nothing is checked at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.iter().all(Node::is_empty)
    }

    /// Holds arguments against the schema.
    ///
    /// # Errors
    /// The first place where they do not fit.
    pub fn check(&self, arguments: &Raw) -> Result<(), Box<Mismatch>> {
        check::arguments(self, arguments)
    }
}

/// One schema within the schema; others are named by their place in the list.
#[derive(Debug, Default)]
struct Node {
    /// The schema `false`.
    never: bool,
    types: Types,
    /// Lists of which each has the value: `enum`, and `const` as a list of one.
    values: Vec<Vec<Value>>,
    required: Vec<String>,
    /// Sorted by name.
    properties: Vec<(String, usize)>,
    /// What members beside the named ones must be.
    additional: Option<usize>,
    prefix: Vec<usize>,
    items: Option<usize>,
    items_count: Bounds<usize>,
    members_count: Bounds<usize>,
    length: Bounds<usize>,
    number: Bounds<f64>,
    /// Bounds that are not part of the range.
    beyond: Bounds<f64>,
    all: Vec<usize>,
    /// Groups of which one must fit.
    any: Vec<Vec<usize>>,
    reference: Option<usize>,
    /// What `format` says. It is not checked, but it tells what a string is.
    format: Option<Box<str>>,
    /// Whether the description or the title speaks of a place in a file system.
    speaks_of_place: bool,
    /// Whether it says that the value is a host.
    speaks_of_host: bool,
}

impl Node {
    fn property(&self, name: &str) -> Option<usize> {
        let found = if self.properties.len() <= 8 {
            self.properties.iter().position(|(known, _)| known == name)
        } else {
            self.properties.binary_search_by(|(known, _)| known.as_str().cmp(name)).ok()
        };
        found.map(|at| self.properties[at].1)
    }

    fn is_empty(&self) -> bool {
        !self.never
            && self.types == Types::ANY
            && self.values.is_empty()
            && self.required.is_empty()
            && self.properties.is_empty()
            && self.additional.is_none()
            && self.prefix.is_empty()
            && self.items.is_none()
            && self.items_count.is_empty()
            && self.members_count.is_empty()
            && self.length.is_empty()
            && self.number.is_empty()
            && self.beyond.is_empty()
            && self.all.is_empty()
            && self.any.is_empty()
            && self.reference.is_none()
    }
}

#[derive(Debug, Clone, Copy)]
struct Bounds<T> {
    least: Option<T>,
    most: Option<T>,
}

impl<T> Default for Bounds<T> {
    fn default() -> Self {
        Self { least: None, most: None }
    }
}

impl<T> Bounds<T> {
    const fn is_empty(&self) -> bool {
        self.least.is_none() && self.most.is_none()
    }
}

/// A set of types; empty for any.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Types(u8);

impl Types {
    const ANY: Self = Self(0);
    const NULL: Self = Self(1);
    const BOOLEAN: Self = Self(2);
    const INTEGER: Self = Self(4);
    const NUMBER: Self = Self(8);
    const STRING: Self = Self(16);
    const ARRAY: Self = Self(32);
    const OBJECT: Self = Self(64);
    const NAMED: [(&'static str, Self); 7] = [
        ("null", Self::NULL),
        ("boolean", Self::BOOLEAN),
        ("integer", Self::INTEGER),
        ("number", Self::NUMBER),
        ("string", Self::STRING),
        ("array", Self::ARRAY),
        ("object", Self::OBJECT),
    ];

    const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn named(name: &str) -> Option<Self> {
        Self::NAMED.iter().find(|(known, _)| *known == name).map(|(_, one)| *one)
    }

    fn names(self) -> String {
        let names: Vec<_> = Self::NAMED.iter().filter(|(_, one)| self.has(*one)).map(|(name, _)| *name).collect();
        names.join(" or ")
    }
}

#[cfg(test)]
mod tests;
