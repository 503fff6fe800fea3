//! Arguments from the words of a command line, typed by the tool's schema. Pure.

use serde_json::{Map, Value};

/// One JSON object, or `key=value` and `key:=JSON` words.
pub(super) fn arguments(words: &[String], schema: &Value) -> Result<Value, String> {
    if let [text] = words
        && text.trim_start().starts_with('{')
    {
        return serde_json::from_str(text).map_err(|error| format!("the arguments are not valid JSON: {error}"));
    }
    let mut object = Map::new();
    for word in words {
        let (key, value) = word.split_once('=').ok_or_else(|| {
            format!("{word:?} is neither key=value nor a JSON object; the tool takes: {}", usage(schema))
        })?;
        let (key, value) = match key.strip_suffix(':') {
            Some(key) => {
                let value = serde_json::from_str(value).map_err(|error| format!("{key}: not valid JSON: {error}"))?;
                (key, value)
            }
            None => (key, typed(key, value, schema)?),
        };
        if key.is_empty() {
            return Err(format!("{word:?} has no key"));
        }
        if object.insert(key.to_owned(), value).is_some() {
            return Err(format!("{key} is given twice; write a list as {key}:='[1, 2]'"));
        }
    }
    Ok(Value::Object(object))
}

/// What a tool takes, on one line.
pub(super) fn usage(schema: &Value) -> String {
    let required: Vec<&str> =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let Some(properties) = schema.get("properties").and_then(Value::as_object).filter(|map| !map.is_empty()) else {
        return "no arguments".to_owned();
    };
    let word = |(key, property): (&String, &Value)| {
        let kind = property.get("type").and_then(Value::as_str).unwrap_or("value");
        if required.contains(&key.as_str()) { format!("{key}=<{kind}>") } else { format!("[{key}=<{kind}>]") }
    };
    properties.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// The value as the schema wants it: text stays text unless something else is asked for.
fn typed(key: &str, value: &str, schema: &Value) -> Result<Value, String> {
    let property = schema.get("properties").and_then(|properties| properties.get(key));
    let kinds: Vec<&str> = match property.and_then(|property| property.get("type")) {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if kinds.contains(&"string") {
        return Ok(Value::String(value.to_owned()));
    }
    match serde_json::from_str(value) {
        Ok(parsed) => Ok(parsed),
        // Without a type the word may mean itself.
        Err(_) if kinds.is_empty() => Ok(Value::String(value.to_owned())),
        Err(_) => Err(format!("{key} must be a JSON {}, not {value:?}", kinds.join(" or "))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn table() {
        let schema = json!({
            "properties": {"s": {"type": "string"}, "n": {"type": "number"}, "l": {"type": "array"}, "any": {}},
            "required": ["s"],
        });
        for (words, expected) in [
            (&[][..], Ok(json!({}))),
            (&[r#"{"a": [1]}"#], Ok(json!({"a": [1]}))),
            (&["s=5", "n=5", "any=5"], Ok(json!({"s": "5", "n": 5, "any": 5}))),
            (&["s=a=b", "any=word"], Ok(json!({"s": "a=b", "any": "word"}))),
            (&["s:=5", "l=[1,2]"], Ok(json!({"s": 5, "l": [1, 2]}))),
            (&["s="], Ok(json!({"s": ""}))),
            (&["n=many"], Err("n must be a JSON number, not \"many\"")),
            (&["s=1", "s=2"], Err("s is given twice; write a list as s:='[1, 2]'")),
            (&["=1"], Err("\"=1\" has no key")),
            (&["l:=["], Err("l: not valid JSON: EOF while parsing a list at line 1 column 1")),
            (
                &["word"],
                Err(
                    "\"word\" is neither key=value nor a JSON object; the tool takes: s=<string> [n=<number>] [l=<array>] [any=<value>]",
                ),
            ),
        ] {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            assert_eq!(arguments(&words, &schema), expected.map_err(str::to_owned), "{words:?}");
        }
        assert!(arguments(&["{".to_owned()], &schema).unwrap_err().contains("not valid JSON"));
        assert_eq!(usage(&json!({})), "no arguments");
    }
}
