//! A server's question, put to the person at the terminal.
//!
//! Everything the server wrote is made harmless before it is shown, and the person can always say no.

use std::io::{BufRead, Write};

use serde_json::{Map, Value, json};

use crate::screen::{plain, plain_line};

/// How often a value that does not fit may be given again.
const TRIES: usize = 3;

/// Puts a question and gives back the result of `elicitation/create`.
pub(super) fn ask(params: &Value, input: &mut dyn BufRead, output: &mut dyn Write) -> Value {
    let mut person = Person { input, output };
    person.conversation(params).unwrap_or_else(|| json!({"action": "cancel"}))
}

struct Person<'a> {
    input: &'a mut dyn BufRead,
    output: &'a mut dyn Write,
}

impl Person<'_> {
    /// `None` when the person has gone.
    fn conversation(&mut self, params: &Value) -> Option<Value> {
        let message = params.get("message").and_then(Value::as_str).unwrap_or_default();
        // No server can write that: the kernel takes it out of what they send.
        let ours = params.pointer("/_meta/dev.switchboard~1asked_by").is_some();
        let who = if ours { "Switchboard" } else { "The server" };
        self.say(&format!("{who} asks: {}\n", plain(message)))?;
        if params.get("mode").and_then(Value::as_str) == Some("url") {
            let url = params.get("url").and_then(Value::as_str).unwrap_or_default();
            self.say(&format!("It wants you to open this address: {}\n", plain_line(url)))?;
            let agreed = self.yes("Did you open it?")?;
            return Some(json!({"action": if agreed { "accept" } else { "decline" }}));
        }
        // Our own question has a no among its answers, and need not be asked twice.
        if !ours && !self.yes("Answer?")? {
            return Some(json!({"action": "decline"}));
        }
        let schema = params.get("requestedSchema");
        let required: Vec<&str> = schema
            .and_then(|schema| schema.get("required")?.as_array())
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let mut content = Map::new();
        let empty = Map::new();
        let properties = schema.and_then(|schema| schema.get("properties")?.as_object()).unwrap_or(&empty);
        for (key, property) in properties {
            if let Some(value) = self.value(key, property, required.contains(&key.as_str()))? {
                content.insert(key.clone(), value);
            }
        }
        Some(json!({"action": "accept", "content": content}))
    }

    /// One value; the inner `None` leaves it out.
    fn value(&mut self, key: &str, property: &Value, required: bool) -> Option<Option<Value>> {
        let text = |name: &str| property.get(name).and_then(Value::as_str).map(plain_line);
        let default = property.get("default");
        let mut prompt = text("title").unwrap_or_else(|| plain_line(key));
        if let Some(description) = text("description") {
            prompt.push_str(&format!(" - {description}"));
        }
        if let Some(options) = options(property) {
            prompt.push_str(&format!(" ({})", plain_line(&options.join(" | "))));
        }
        if let Some(default) = default {
            prompt.push_str(&format!(" [{}]", plain_line(&default.to_string())));
        } else if !required {
            prompt.push_str(" [may be empty]");
        }
        for _ in 0..TRIES {
            self.say(&format!("{prompt}: "))?;
            let line = self.line()?;
            if line.is_empty() {
                match default {
                    Some(default) => return Some(Some(default.clone())),
                    None if !required => return Some(None),
                    None => continue,
                }
            }
            match read(&line, property) {
                Ok(value) => return Some(Some(value)),
                Err(why) => self.say(&format!("{why}\n"))?,
            }
        }
        None
    }

    fn yes(&mut self, question: &str) -> Option<bool> {
        self.say(&format!("{question} [y/N] "))?;
        Some(matches!(self.line()?.to_ascii_lowercase().as_str(), "y" | "yes"))
    }

    fn say(&mut self, text: &str) -> Option<()> {
        self.output.write_all(text.as_bytes()).and_then(|()| self.output.flush()).ok()
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        match self.input.read_line(&mut line) {
            Ok(length) if length > 0 => Some(line.trim().to_owned()),
            _ => None,
        }
    }
}

/// The values that may be chosen from, in every form that a schema has for them.
fn options(property: &Value) -> Option<Vec<String>> {
    let source = property.get("items").unwrap_or(property);
    if let Some(values) = source.get("enum").and_then(Value::as_array) {
        return Some(values.iter().filter_map(Value::as_str).map(str::to_owned).collect());
    }
    let titled = source.get("oneOf").or_else(|| source.get("anyOf"))?.as_array()?;
    Some(titled.iter().filter_map(|option| option.get("const")?.as_str()).map(str::to_owned).collect())
}

fn read(line: &str, property: &Value) -> Result<Value, String> {
    let choice = |word: &str| match options(property) {
        Some(options) if !options.iter().any(|option| option == word) => {
            if let Some(meant) = meant(word, &options) {
                return Ok(Value::String(meant));
            }
            Err(format!("choose one of: {}", plain_line(&options.join(", "))))
        }
        _ => Ok(Value::String(word.to_owned())),
    };
    match property.get("type").and_then(Value::as_str) {
        Some("integer") => line.parse::<i64>().map(Value::from).map_err(|_| "write a whole number".to_owned()),
        Some("number") => {
            serde_json::from_str::<serde_json::Number>(line).map(Value::Number).map_err(|_| "write a number".to_owned())
        }
        Some("boolean") => match line.to_ascii_lowercase().as_str() {
            "y" | "yes" | "true" => Ok(Value::Bool(true)),
            "n" | "no" | "false" => Ok(Value::Bool(false)),
            _ => Err("write yes or no".to_owned()),
        },
        Some("array") => {
            line.split(',').map(|word| choice(word.trim())).collect::<Result<Vec<_>, _>>().map(Value::Array)
        }
        _ => choice(line),
    }
}

/// The answer that a person means who writes its beginning, or yes or no where one of the answers is that.
fn meant(word: &str, options: &[String]) -> Option<String> {
    let word = word.to_ascii_lowercase();
    let known = |option: &str| options.iter().find(|known| *known == option).cloned();
    match word.as_str() {
        "y" | "yes" => return known("once").or_else(|| known("yes")),
        "n" | "no" => return known("deny").or_else(|| known("no")),
        _ => {}
    }
    let mut begin = options.iter().filter(|option| !word.is_empty() && option.to_ascii_lowercase().starts_with(&word));
    begin.next().filter(|_| begin.next().is_none()).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_can_be_written_short() {
        let options = ["once", "session", "deny"].map(str::to_owned);
        for (word, expected) in [
            ("y", Some("once")),
            ("YES", Some("once")),
            ("n", Some("deny")),
            ("o", Some("once")),
            ("sess", Some("session")),
            ("d", Some("deny")),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(meant(word, &options).as_deref(), expected, "{word}");
        }
    }

    fn talk(params: &Value, typed: &str) -> (Value, String) {
        let mut output = Vec::new();
        let answer = ask(params, &mut typed.as_bytes(), &mut output);
        (answer, String::from_utf8(output).unwrap())
    }

    #[test]
    fn forms() {
        let params = json!({"message": "who?\u{1b}[2J", "requestedSchema": {
            "properties": {
                "name": {"type": "string", "title": "Name"},
                "age": {"type": "integer"},
                "sure": {"type": "boolean", "default": true},
                "colour": {"type": "string", "enum": ["red", "blue"]},
                "tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
            },
            "required": ["name", "colour"],
        }});
        let all = json!({"action": "accept", "content": {"name": "Ann", "age": 7, "sure": false, "colour": "blue", "tags": ["a", "b"]}});
        let few = json!({"action": "accept", "content": {"name": "Ann", "sure": true, "colour": "red"}});
        for (typed, expected) in [
            ("y\nAnn\nold\n7\nno\ngreen\nblue\na, b\n", &all),
            ("y\n\nAnn\n\n\nred\n\n", &few),
            ("n\n", &json!({"action": "decline"})),
            ("\n", &json!({"action": "decline"})),
            ("", &json!({"action": "cancel"})),
            ("y\nAnn\n", &json!({"action": "cancel"})),
            ("y\n\n\n\n", &json!({"action": "cancel"})),
        ] {
            let (answer, shown) = talk(&params, typed);
            assert_eq!(&answer, expected, "{typed:?}");
            assert!(!shown.contains('\u{1b}'), "{shown:?}");
        }
    }

    #[test]
    fn addresses() {
        let params = json!({"mode": "url", "message": "log in", "url": "https://x.test/login", "elicitationId": "1"});
        let (answer, shown) = talk(&params, "y\n");
        assert_eq!(answer, json!({"action": "accept"}));
        assert!(shown.contains("https://x.test/login"), "{shown}");
        assert_eq!(talk(&params, "n\n").0, json!({"action": "decline"}));
    }
}
