//! Tools that the operator shows under another name or description, or with arguments that are given already.
//!
//! What is judged, pinned and screened is the server's own definition; what clients see and what they leave out is this. The
//! arguments are put in before the gate looks at the call, so that it judges what is sent.

use serde_json::{Map, Value};
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_wire::{Edit, Raw, Request};

/// How a tool is shown and called, where the operator says so.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Curated {
    /// What it is called in the place of the server's own name.
    pub name: Option<String>,
    /// What it is said to do.
    pub description: Option<String>,
    /// Arguments that a call has unless it says otherwise.
    pub defaults: Map<String, Value>,
    /// Arguments that every call has; clients do not see them.
    pub fixed: Map<String, Value>,
}

impl Curated {
    /// Whether nothing is said.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The definition as clients see it.
    pub fn shown(&self, definition: &Raw) -> Raw {
        let Ok(mut edit) = Edit::of(definition) else { return definition.clone() };
        if let Some(description) = &self.description {
            edit = edit.set("description", Raw::string(description));
        }
        if let Some(schema) = definition.member("inputSchema").and_then(|schema| self.schema(&schema)) {
            edit = edit.set("inputSchema", schema);
        }
        edit.finish()
    }

    fn schema(&self, schema: &Raw) -> Option<Raw> {
        if self.defaults.is_empty() && self.fixed.is_empty() {
            return None;
        }
        let mut schema: Map<String, Value> = schema.view().ok()?;
        if let Some(Value::Object(properties)) = schema.get_mut("properties") {
            properties.retain(|name, _| !self.fixed.contains_key(name));
            for (name, value) in &self.defaults {
                if let Some(Value::Object(property)) = properties.get_mut(name) {
                    property.insert("default".to_owned(), value.clone());
                }
            }
        }
        if let Some(Value::Array(required)) = schema.get_mut("required") {
            let given = |name: &str| self.defaults.contains_key(name) || self.fixed.contains_key(name);
            required.retain(|name| !name.as_str().is_some_and(given));
        }
        Raw::from_value(&Value::Object(schema)).ok()
    }

    /// The call with the arguments that are given already.
    ///
    /// # Errors
    /// Its arguments are no object.
    pub fn filled(&self, request: Request) -> Result<Request, Fault> {
        if self.defaults.is_empty() && self.fixed.is_empty() {
            return Ok(request);
        }
        let edit = Edit::of_optional(request.params.as_ref()).map_err(Fault::malformed)?;
        let arguments = edit.object().get("arguments");
        let mut inner = Edit::of_optional(arguments.as_ref()).map_err(Fault::malformed)?;
        let missing = |name: &String, inner: &Edit| !inner.object().has(name);
        for (name, value) in &self.defaults {
            if missing(name, &inner) {
                inner = inner.set(name, written(value)?);
            }
        }
        for (name, value) in &self.fixed {
            inner = inner.set(name, written(value)?);
        }
        Ok(Request { params: Some(edit.set("arguments", inner.finish()).finish()), ..request })
    }
}

fn written(value: &Value) -> Result<Raw, Fault> {
    Raw::from_value(value).map_err(|error| Fault::new(FaultKind::Internal, error.to_string()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use switchboard_wire::{Id, Limits};

    use super::*;

    fn raw(value: &Value) -> Raw {
        Raw::parse(value.to_string(), &Limits::default()).unwrap()
    }

    fn curated() -> Curated {
        let map = |value: Value| value.as_object().cloned().unwrap();
        Curated {
            name: Some("find".to_owned()),
            description: Some("Finds issues of ours".to_owned()),
            defaults: map(json!({"limit": 10})),
            fixed: map(json!({"repo": "acme/app"})),
        }
    }

    #[test]
    fn what_is_given_is_not_asked_for() {
        let definition = raw(&json!({
            "name": "search_issues",
            "description": "Searches",
            "inputSchema": {"type": "object", "required": ["repo", "query", "limit"], "properties": {
                "repo": {"type": "string"}, "query": {"type": "string"}, "limit": {"type": "integer"}}},
        }));
        let shown: Value = curated().shown(&definition).view().unwrap();
        assert_eq!(
            shown,
            json!({
                "name": "search_issues",
                "description": "Finds issues of ours",
                "inputSchema": {"type": "object", "required": ["query"], "properties": {
                    "query": {"type": "string"}, "limit": {"type": "integer", "default": 10}}},
            })
        );
    }

    #[test]
    fn a_call_has_what_is_given() {
        for (arguments, wanted) in [
            (json!({"query": "x"}), json!({"query": "x", "limit": 10, "repo": "acme/app"})),
            (json!({"limit": 3, "repo": "evil/app"}), json!({"limit": 3, "repo": "acme/app"})),
        ] {
            let params = raw(&json!({"name": "find", "arguments": arguments}));
            let filled = curated().filled(Request::new(Id::number(1), "tools/call", Some(params))).unwrap();
            let filled: Value = filled.params.unwrap().view().unwrap();
            assert_eq!(filled["arguments"], wanted);
        }
        let none = Request::new(Id::number(1), "tools/call", Some(raw(&json!({"name": "find"}))));
        let filled: Value = curated().filled(none).unwrap().params.unwrap().view().unwrap();
        assert_eq!(filled["arguments"], json!({"limit": 10, "repo": "acme/app"}));
        let odd = raw(&json!({"name": "find", "arguments": [1]}));
        assert!(curated().filled(Request::new(Id::number(1), "tools/call", Some(odd))).is_err());
    }
}
