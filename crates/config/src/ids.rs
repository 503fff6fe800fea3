//! Server ids: which are allowed, which could be mistaken for one another, and how a foreign name becomes one.

/// The reason given for ids that belong to the kernel.
pub(crate) const RESERVED: &str = "is reserved for the kernel";

/// Why an id is refused, or `None` when it is fine.
pub(crate) fn refusal(id: &str) -> Option<&'static str> {
    if id.is_empty() {
        return Some("is empty");
    }
    if id.len() > 64 {
        return Some("is longer than 64 characters");
    }
    if !id.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return Some("does not start with a letter or a digit");
    }
    if !id.chars().all(allowed) {
        return Some("has characters that are not allowed");
    }
    // `mgp.` is the prefix of the kernel's own tools; an id in it could pose as the kernel.
    let lower = id.to_ascii_lowercase();
    (lower == "mgp" || lower.starts_with("mgp.")).then_some(RESERVED)
}

fn allowed(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-')
}

/// The two forms under which two ids count as the same to a person: without case, and by the shape of the letters.
pub(crate) fn folded(id: &str) -> [String; 2] {
    let separators = |c: char| if matches!(c, '_' | '.') { '-' } else { c };
    let cased: String = id.chars().map(|c| separators(c.to_ascii_lowercase())).collect();
    let shape: String = id
        .chars()
        .map(|c| match c {
            // Capital I, one and small l share a shape in many fonts; so do zero and O.
            'I' | '1' => 'l',
            '0' => 'o',
            c => separators(c.to_ascii_lowercase()),
        })
        .collect();
    [cased, format!("~{}", shape.replace("rn", "m").replace("vv", "w"))]
}

/// A valid id made of a foreign name.
pub(crate) fn sanitized(name: &str) -> String {
    let mut id = String::new();
    for c in name.trim().chars() {
        if c.is_ascii_alphanumeric() || (matches!(c, '_' | '.' | '-') && !id.is_empty()) {
            id.push(c);
        } else if !id.is_empty() && !id.ends_with('-') {
            id.push('-');
        }
        if id.len() == 64 {
            break;
        }
    }
    id.truncate(id.trim_end_matches(['-', '.', '_']).len());
    match refusal(&id) {
        None => id,
        Some(_) if id.is_empty() => "server".to_owned(),
        Some(_) => format!("server-{}", id.replace('.', "-").chars().take(57).collect::<String>()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals() {
        for id in ["a", "mind.cerebras", "A-1_b", "9lives", "mgpx", "0"] {
            assert_eq!(refusal(id), None, "{id}");
        }
        for id in ["", ".a", "-a", "a b", "a/b", "naïve", "mgp", "MGP", "mgp.x", "Mgp.x"] {
            assert!(refusal(id).is_some(), "{id}");
        }
        assert_eq!(refusal(&"a".repeat(64)), None);
        assert!(refusal(&"a".repeat(65)).is_some());
    }

    #[test]
    fn look_alikes() {
        let alike = |a: &str, b: &str| folded(a).iter().any(|form| folded(b).contains(form));
        for (a, b) in [
            ("files", "Files"),
            ("a-b", "a_b"),
            ("a.b", "a_b"),
            ("AI", "Al"),
            ("g00gle", "google"),
            ("modem", "modern"),
            ("srv1", "srvl"),
        ] {
            assert!(alike(a, b), "{a} {b}");
        }
        for (a, b) in [("ai", "al"), ("srv1", "srv2"), ("git", "github"), ("time", "tune")] {
            assert!(!alike(a, b), "{a} {b}");
        }
    }

    #[test]
    fn foreign_names() {
        for (name, id) in [
            ("github", "github"),
            ("My Server (prod)", "My-Server-prod"),
            ("@scope/pkg", "scope-pkg"),
            ("mgp.tools", "server-mgp-tools"),
            ("mgp", "server-mgp"),
            ("日本", "server"),
            ("", "server"),
            ("--x", "x"),
        ] {
            assert_eq!(sanitized(name), id, "{name}");
            assert_eq!(refusal(&sanitized(name)), None, "{name}");
        }
        assert_eq!(refusal(&sanitized(&"é-x".repeat(200))), None);
    }
}
