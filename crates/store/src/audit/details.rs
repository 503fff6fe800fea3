//! What an event says beside its fixed parts.

use std::cmp::Ordering;
use std::ops::Index;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::event::Text;
use switchboard_wire::canonical::order;

/// A few members, always in canonical order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Details(Vec<(Text, Value)>);

impl Details {
    /// None yet, with room for so many.
    #[must_use]
    pub fn with_capacity(members: usize) -> Self {
        Self(Vec::with_capacity(members))
    }

    /// Says something, in place of what was said under the same key.
    pub fn insert(&mut self, key: impl AsRef<str>, value: impl Into<Value>) {
        let (key, value) = (key.as_ref(), value.into());
        match self.find(key) {
            Ok(at) => self.0[at].1 = value,
            Err(at) => self.0.insert(at, (key.into(), value)),
        }
    }

    /// What is said under a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(self.find(key).ok()?).map(|(_, value)| value)
    }

    /// Whether anything is said under a key.
    #[must_use]
    pub fn contains_key(&self, key: &str) -> bool {
        self.find(key).is_ok()
    }

    /// Whether nothing is said.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of it, in canonical order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value))
    }

    fn find(&self, key: &str) -> Result<usize, usize> {
        // There are few.
        for (at, (known, _)) in self.0.iter().enumerate() {
            match order(known, key) {
                Ordering::Less => {}
                Ordering::Equal => return Ok(at),
                Ordering::Greater => return Err(at),
            }
        }
        Err(self.0.len())
    }
}

impl Index<&str> for Details {
    type Output = Value;

    /// What is said under a key, `null` where nothing is.
    fn index(&self, key: &str) -> &Value {
        self.get(key).unwrap_or(&Value::Null)
    }
}

impl<K: AsRef<str>, V: Into<Value>> Extend<(K, V)> for Details {
    fn extend<T: IntoIterator<Item = (K, V)>>(&mut self, members: T) {
        for (key, value) in members {
            self.insert(key, value);
        }
    }
}

impl<K: AsRef<str>, V: Into<Value>> FromIterator<(K, V)> for Details {
    fn from_iter<T: IntoIterator<Item = (K, V)>>(members: T) -> Self {
        let mut details = Self::default();
        details.extend(members);
        details
    }
}

impl From<Details> for Value {
    fn from(details: Details) -> Self {
        Self::Object(details.0.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }
}

impl Serialize for Details {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Details {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Map::<String, Value>::deserialize(deserializer).map(|map| map.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    proptest! {
        /// Whatever is inserted, in whatever order: the same as a map, in the order of its canonical text.
        #[test]
        fn are_a_map_in_canonical_order(members in proptest::collection::vec(("[a-c\u{e9}\u{ff5e}\u{10000}]{0,3}", any::<u8>()), 0..12)) {
            let details: Details = members.iter().map(|(key, value)| (key, *value)).collect();
            let map: Map<String, Value> = members.into_iter().map(|(key, value)| (key, json!(value))).collect();
            for (key, value) in &map {
                prop_assert_eq!(details.get(key), Some(value));
                prop_assert!(details.contains_key(key));
            }
            prop_assert_eq!(details.iter().count(), map.len());
            let value = Value::Object(map);
            prop_assert_eq!(serde_json::to_string(&details).unwrap(), switchboard_wire::canonical::of_value(&value));
            prop_assert_eq!(&serde_json::from_value::<Details>(value.clone()).unwrap(), &details);
            prop_assert_eq!(Value::from(details), value);
        }
    }
}
