//! JSON with comments and trailing commas, made plain JSON of the same length so that places stay right.

/// The text with comments and trailing commas replaced by spaces.
pub(crate) fn plain(text: &str) -> String {
    let mut out: Vec<u8> = text.bytes().collect();
    if out.starts_with("\u{feff}".as_bytes()) {
        out[..3].fill(b' ');
    }
    let mut at = 0;
    let mut comma = None;
    while at < out.len() {
        match out[at] {
            b'"' => {
                comma = None;
                at = end_of_string(&out, at);
                continue;
            }
            b'/' if out.get(at + 1) == Some(&b'/') => {
                while at < out.len() && out[at] != b'\n' {
                    out[at] = b' ';
                    at += 1;
                }
                continue;
            }
            b'/' if out.get(at + 1) == Some(&b'*') => {
                let end =
                    out[at + 2..].windows(2).position(|pair| pair == b"*/").map_or(out.len(), |end| at + 2 + end + 2);
                for byte in &mut out[at..end] {
                    if *byte != b'\n' {
                        *byte = b' ';
                    }
                }
                at = end;
                continue;
            }
            b',' => comma = Some(at),
            b'}' | b']' => {
                if let Some(comma) = comma.take() {
                    out[comma] = b' ';
                }
            }
            byte if byte.is_ascii_whitespace() => {}
            _ => comma = None,
        }
        at += 1;
    }
    // Only whole comments and ASCII signs were replaced, by ASCII, so this is UTF-8 still.
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}

fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn table() {
        for (text, expected) in [
            (r#"{"a": 1, /* x, } */ "b": [1, 2, ], }"#, r#"{"a":1,"b":[1,2]}"#),
            ("{// c\n\"a\": \"//no, ]\" // d\n}", r#"{"a":"//no, ]"}"#),
            ("\u{feff}{\"é\": \"\\\" /*\",}", "{\"é\":\"\\\" /*\"}"),
            ("[1 /* é */ , /* z */ ]", "[1]"),
        ] {
            let value: serde_json::Value = serde_json::from_str(&plain(text)).unwrap();
            assert_eq!(value.to_string(), expected);
            assert_eq!(plain(text).len(), text.len());
        }
        for broken in ["/* no end", "\"no end", "[1,,]", "{\"a\" 1}"] {
            assert!(serde_json::from_str::<serde_json::Value>(&plain(broken)).is_err(), "{broken}");
        }
    }

    proptest! {
        #[test]
        fn any_text_keeps_its_length_and_lines(text in "[\\[\\]{},:/*\"\\\\\\na é]{0,40}") {
            let out = plain(&text);
            prop_assert_eq!(out.len(), text.len());
            let lines = |text: &str| text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at).collect::<Vec<_>>();
            prop_assert_eq!(lines(&out), lines(&text));
        }
    }
}
