//! Which arguments fit which schemas.

use switchboard_wire::Limits;

use super::*;

fn raw(text: &str) -> Raw {
    Raw::parse(text.to_owned(), &Limits::default()).unwrap()
}

/// What is wrong, as `pointer rule`.
fn check(schema: &str, arguments: &str) -> Option<String> {
    let mismatch = Schema::read(&raw(schema)).check(&raw(arguments)).err()?;
    assert!(!mismatch.finding.message.is_empty());
    Some(format!("{} {}", mismatch.pointer, mismatch.finding.rule))
}

#[test]
fn what_no_reader_would_take_is_refused() {
    for (schema, arguments, expected) in [
        (r#"{"type":"object"}"#, "[]", " type"),
        (r#"{"required":["a"]}"#, "{}", " required"),
        (r#"{"properties":{"a":{"type":"string"}}}"#, r#"{"a":5}"#, "/a type"),
        (r#"{"properties":{"a":{"type":"integer"}}}"#, r#"{"a":1.5}"#, "/a type"),
        (r#"{"properties":{"a":{"type":"integer"}}}"#, r#"{"a":"five"}"#, "/a type"),
        (r#"{"properties":{"a":{"type":["integer","null"]}}}"#, r#"{"a":true}"#, "/a type"),
        (r#"{"properties":{"a":{"enum":["x","y"]}}}"#, r#"{"a":"z"}"#, "/a enum"),
        (r#"{"properties":{"a":{"const":1}}}"#, r#"{"a":2}"#, "/a enum"),
        (r#"{"properties":{"a":{"const":1,"enum":[2]}}}"#, r#"{"a":1}"#, "/a enum"),
        (r#"{"properties":{"a":{"const":{"b":[1]}}}}"#, r#"{"a":{"b":[2]}}"#, "/a enum"),
        (
            r#"{"properties":{"a":{"items":{"type":"object","required":["n"]}}}}"#,
            r#"{"a":[{"n":1},{}]}"#,
            "/a/1 required",
        ),
        (r#"{"properties":{"a":{"prefixItems":[{"type":"array"}]}}}"#, r#"{"a":[{}]}"#, "/a/0 type"),
        (r#"{"properties":{"a":{"minItems":1}}}"#, r#"{"a":[]}"#, "/a minItems"),
        (r#"{"properties":{"a":{"maxItems":1}}}"#, r#"{"a":[1,2]}"#, "/a maxItems"),
        (r#"{"properties":{"a":{"minLength":2}}}"#, r#"{"a":"x"}"#, "/a minLength"),
        (r#"{"properties":{"a":{"maxLength":2}}}"#, r#"{"a":"xyz"}"#, "/a maxLength"),
        (r#"{"properties":{"a":{"minimum":1}}}"#, r#"{"a":0.5}"#, "/a minimum"),
        (r#"{"properties":{"a":{"maximum":1}}}"#, r#"{"a":1e400}"#, "/a maximum"),
        (r#"{"properties":{"a":{"exclusiveMinimum":1}}}"#, r#"{"a":1}"#, "/a exclusiveMinimum"),
        (r#"{"properties":{"a":{"maximum":9,"exclusiveMaximum":true}}}"#, r#"{"a":9.0}"#, "/a exclusiveMaximum"),
        (r#"{"minProperties":1}"#, "{}", " minProperties"),
        (r#"{"maxProperties":0}"#, r#"{"a":1}"#, " maxProperties"),
        (r#"{"properties":{"a":false}}"#, r#"{"a":1}"#, "/a false"),
        (r#"{"additionalProperties":{"type":"string"}}"#, r#"{"x":{}}"#, "/x type"),
        (r##"{"properties":{"a":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"number"}}}"##, r#"{"a":{}}"#, "/a type"),
        (r##"{"type":"object","properties":{"next":{"$ref":"#"}}}"##, r#"{"next":{"next":5}}"#, "/next/next type"),
        (r#"{"properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]}}}"#, r#"{"a":5}"#, "/a anyOf"),
        (r#"{"allOf":[{"required":["a"]},{"required":["b"]}]}"#, r#"{"a":1}"#, " required"),
        (r#"{"properties":{"a/b":{"type":"object"}}}"#, r#"{"a\/b":[]}"#, "/a~1b type"),
    ] {
        assert_eq!(check(schema, arguments).as_deref(), Some(expected), "{schema} {arguments}");
    }
}

#[test]
fn what_some_server_takes_passes() {
    for (schema, arguments) in [
        (r#"{"type":"object"}"#, "{}"),
        (r#"{"properties":{"a":{"type":"integer"}}}"#, r#"{"a":1.0,"b":2}"#),
        (r#"{"properties":{"a":{"type":"integer"}}}"#, r#"{"a":12345678901234567890123}"#),
        (r#"{"properties":{"a":{"type":"integer"}}}"#, r#"{"a":1e400}"#),
        // Models write structures into strings, and servers read them.
        (r#"{"properties":{"a":{"type":"integer"}}}"#, r#"{"a":" 5 "}"#),
        (r#"{"properties":{"a":{"type":"array","items":{"type":"number"}}}}"#, r#"{"a":"[1,2]"}"#),
        (r#"{"properties":{"a":{"type":"object"}}}"#, r#"{"a":"{}"}"#),
        (r#"{"properties":{"a":{"type":"boolean"}}}"#, r#"{"a":"True"}"#),
        // Libraries publish this and drop what is beside.
        (r#"{"properties":{},"additionalProperties":false}"#, r#"{"random_string":"x"}"#),
        (r#"{"properties":{"a":{"default":1}},"required":["a"]}"#, "{}"),
        (r#"{"properties":{"a":{"type":"string","nullable":true}}}"#, r#"{"a":null}"#),
        (r#"{"properties":{"a":{"enum":[1,2]}}}"#, r#"{"a":1.0}"#),
        (r#"{"properties":{"a":{"enum":[9007199254740993]}}}"#, r#"{"a":9007199254740993}"#),
        (r#"{"properties":{"a":{"exclusiveMinimum":1}}}"#, r#"{"a":1.000000000000000000001}"#),
        (r#"{"properties":{"a":{"maximum":9007199254740992}}}"#, r#"{"a":9007199254740993}"#),
        // Two characters to some, four units to others.
        (r#"{"properties":{"a":{"minLength":4}}}"#, "{\"a\":\"\u{1f600}\u{1f600}\"}"),
        (r#"{"properties":{"a":{"maxLength":2}}}"#, "{\"a\":\"\u{1f600}\u{1f600}\"}"),
        // Read differently by different libraries, or not at all.
        (r#"{"properties":{"a":{"pattern":"^x$","format":"uri","not":{},"multipleOf":2}}}"#, r#"{"a":"y"}"#),
        (r#"{"if":{},"then":{"required":["a"]}}"#, "{}"),
        (r#"{"oneOf":[{"type":"object"},{"properties":{}}]}"#, "{}"),
        (r#"{"properties":{"a":{"$ref":"https://example.org/s"}}}"#, r#"{"a":1}"#),
        (r##"{"properties":{"a":{"$ref":"#/$defs/no"}}}"##, r#"{"a":1}"#),
        (r##"{"properties":{"a":{"$ref":"#/$defs/n","type":"object"}},"$defs":{"n":{}}}"##, r#"{"a":1}"#),
        (r##"{"$defs":{"x":{"$id":"y","type":"object"}},"properties":{"a":{"$ref":"#/$defs/x"}}}"##, r#"{"a":1}"#),
        (r#"{"type":"any"}"#, "[]"),
        (r#"{"type":5,"properties":[],"required":"a","items":7}"#, "{}"),
        ("true", "[]"),
        (r#"{"properties":{"a":{"anyOf":[{"type":"object","required":["b"]},{"type":"array"}]}}}"#, r#"{"a":[]}"#),
    ] {
        assert_eq!(check(schema, arguments), None, "{schema} {arguments}");
    }
}

#[test]
fn what_is_not_checked_is_noted() {
    let notes = |schema: &str| Schema::read(&raw(schema)).notes().to_vec();
    assert_eq!(notes(r#"{"type":"object"}"#), [""; 0]);
    assert_eq!(notes(r#"{"items":{"$ref":"other.json"}}"#), ["a reference leads out of the schema or nowhere"]);
    let deep = format!("{}true{}", r#"{"items":"#.repeat(100), "}".repeat(100));
    let schema = Schema::read(&raw(&deep));
    assert_eq!(schema.notes(), ["the schema is too large or too deep"]);
    assert!(schema.is_empty() && schema.check(&raw("[]")).is_ok());
    let large = format!(r#"{{"type":"object","description":"{}"}}"#, "x".repeat(MOST_BYTES));
    assert_eq!(notes(&large), ["the schema is too large"]);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test measures how long it takes")]
fn hostile_schemas_come_to_an_end() {
    for schema in [
        r##"{"$ref":"#"}"##.to_owned(),
        r##"{"allOf":[{"$ref":"#"},{"$ref":"#"}]}"##.to_owned(),
        r##"{"anyOf":[{"$ref":"#"},{"$ref":"#"},{"type":"null"}],"properties":{"a":{"$ref":"#"}}}"##.to_owned(),
        format!(r#"{{"allOf":[{}true]}}"#, r#"{"anyOf":[true,false]},"#.repeat(5_000)),
    ] {
        let began = std::time::Instant::now();
        let _ = Schema::read(&raw(&schema)).check(&raw(r#"{"a":{"a":{}}}"#));
        assert!(began.elapsed() < std::time::Duration::from_secs(5), "{}", &schema[..40]);
    }
}

/// Prints what a check costs: `cargo test --release -p switchboard-policy schema::tests::cost -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
#[expect(clippy::disallowed_methods, reason = "a test measures how long it takes")]
fn cost() {
    let schema = Schema::read(&raw(
        r#"{"type":"object","properties":{"path":{"type":"string"},"edits":{"type":"array","items":{"type":"object","properties":{"old":{"type":"string"},"new":{"type":"string"},"n":{"type":"integer"}},"required":["old","new"]}},"dry":{"type":"boolean"}},"required":["path"]}"#,
    ));
    let edit = r#"{"old":"let a = compute(the, arguments);","new":"let b = compute(other, arguments);","n":7},"#;
    let many = format!(
        r#"{{"path":"/srv/project/src/main.rs","edits":[{}],"dry":true}}"#,
        edit.repeat(20).trim_end_matches(',')
    );
    let flat = format!(r#"{{"path":"{}","edits":[],"dry":true}}"#, "x".repeat(2_000));
    for (name, text) in [("twenty objects", many), ("one long text", flat)] {
        let arguments = raw(&text);
        let rounds = 20_000;
        let began = std::time::Instant::now();
        for _ in 0..rounds {
            assert!(schema.check(&arguments).is_ok());
        }
        eprintln!("{name}, {} bytes: {:?}", text.len(), began.elapsed() / rounds);
    }
}
