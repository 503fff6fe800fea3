//! Taking secrets and control characters out of what people and logs are shown.

use serde_json::Value;
use switchboard_wire::Raw;

use crate::screen;

/// What stands in place of a secret.
pub const REDACTED: &str = "[redacted]";

/// Parts of a key's name that promise a secret.
const SECRET_NAMES: [&str; 12] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "apikey",
    "credential",
    "privatekey",
    "authorization",
    "cookie",
    "accesskey",
    "sessionkey",
];

/// A value without the secrets in it: what stands under a telling name, and what looks like one by itself.
#[must_use]
pub fn value(raw: &Raw) -> Value {
    let mut value = raw.view().unwrap_or(Value::Null);
    clean(&mut value);
    value
}

fn clean(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Some(clean) = without_secrets(text) {
                *text = clean;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(clean),
        Value::Object(members) => {
            for (key, value) in members.iter_mut() {
                if names_secret(key) && !matches!(value, Value::Null | Value::Bool(_)) {
                    *value = Value::from(REDACTED);
                } else {
                    clean(value);
                }
            }
        }
        _ => {}
    }
}

fn names_secret(key: &str) -> bool {
    let plain: String = key.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    // Numbers of tokens are no secrets.
    let counts = ["maxtokens", "tokencount", "tokens", "tokenbudget"].contains(&plain.as_str());
    !counts && SECRET_NAMES.iter().any(|name| plain.contains(name))
}

/// A text without the secrets in it; `None` where there are none.
fn without_secrets(text: &str) -> Option<String> {
    let secrets = screen::secrets_in(text);
    if secrets.is_empty() {
        return None;
    }
    let mut clean = String::with_capacity(text.len());
    let mut at = 0;
    for secret in secrets {
        clean.push_str(text.get(at..secret.place.start)?);
        clean.push_str(REDACTED);
        at = secret.place.end;
    }
    clean.push_str(text.get(at..)?);
    Some(clean)
}

/// A text in which every character can be seen: control and hidden characters stand as their numbers.
#[must_use]
pub fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        let hidden = c.is_control() && c != '\n' && c != '\t'
            || matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}' | '\u{fe00}'..='\u{fe0f}');
        if hidden {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use switchboard_wire::Limits;

    use super::*;

    #[test]
    fn secrets_go_by_name_and_by_shape() {
        for (given, expected) in [
            (r#"{"api_key":"abc","n":1}"#, r#"{"api_key":"[redacted]","n":1}"#),
            (r#"{"a":{"Authorization":["x"]}}"#, r#"{"a":{"Authorization":"[redacted]"}}"#),
            (r#"{"max_tokens":5,"has_token":true}"#, r#"{"max_tokens":5,"has_token":true}"#),
            (r#"{"url":"postgres://app:hunter22@db/x"}"#, r#"{"url":"[redacted]db/x"}"#),
            (r#"{"text":"nothing here"}"#, r#"{"text":"nothing here"}"#),
        ] {
            let raw = Raw::parse(given.to_owned(), &Limits::default()).unwrap();
            assert_eq!(value(&raw).to_string(), expected);
        }
    }

    #[test]
    fn what_cannot_be_seen_is_written_out() {
        assert_eq!(printable("a\u{1b}[2J\u{202e}b\n"), "a\\u{1b}[2J\\u{202e}b\n");
    }
}
