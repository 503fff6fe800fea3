//! The tables of the specification, and what a hostile peer could try.

use super::*;
use switchboard_wire::Limits;

fn raw(text: &str) -> Raw {
    Raw::parse(text.as_bytes().to_vec(), &Limits::default()).expect("valid JSON")
}

fn lookup<'h>(headers: &'h [(&'h str, &'h [u8])]) -> impl Fn(&str) -> Vec<&'h [u8]> {
    |name| headers.iter().filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| *value).collect()
}

#[test]
fn values() {
    for (text, value) in [
        ("us-west1", "us-west1"),
        ("us west 1", "us west 1"),
        ("", ""),
        ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
        (" padded ", "=?base64?IHBhZGRlZCA=?="),
        ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
        ("\tindented", "=?base64?CWluZGVudGVk?="),
        ("a\tb", "=?base64?YQli?="),
        ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        ("=?base64?half", "=?base64?half"),
    ] {
        assert_eq!(encode(text), value);
        assert_eq!(decode(value.as_bytes()).as_deref(), Some(text));
    }
    assert_eq!(decode(b"  padded\t").as_deref(), Some("padded"));
    assert_eq!(decode(b"=?base64??=").as_deref(), Some(""));
    assert_eq!(decode(b"=?base64?=").as_deref(), Some("=?base64?="), "too short to be both markers");
    assert_eq!(decode(b"=?BASE64?SGk=?=").as_deref(), Some("=?BASE64?SGk=?="), "markers are lower case");
    for broken in [
        &b"=?base64?SGVsbG8?="[..],
        b"=?base64?SGVs!!!bG8=?=",
        b"=?base64?/w==?=",
        b"caf\xc3\xa9",
        b"a\x00b",
        b"a\r\nX: y",
    ] {
        assert_eq!(decode(broken), None, "{}", String::from_utf8_lossy(broken));
    }
}

#[test]
fn standard() {
    let call = raw(r#"{"name":"search_files","arguments":{}}"#);
    assert_eq!(
        standard_headers("tools/call", Some(&call)),
        [(METHOD, "tools/call".to_owned()), (NAME, "search_files".to_owned())]
    );
    let read = raw(r#"{"uri":"file:///caf\u00e9"}"#);
    assert_eq!(standard_headers("resources/read", Some(&read))[1].1, "=?base64?ZmlsZTovLy9jYWbDqQ==?=");
    assert_eq!(standard_headers("tasks/get", Some(&raw(r#"{"taskId":"t1"}"#)))[1].1, "t1");
    assert_eq!(standard_headers("tools/list", Some(&call)).len(), 1);
    assert_eq!(standard_headers("tools/list", None).len(), 1);
}

#[test]
fn standard_checks() {
    let version = ("mcp-protocol-version", &b"2026-07-28"[..]);
    let call = raw(r#"{"name":"add","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#);
    let twice = raw(r#"{"name":"add","name":"rm"}"#);
    let method = |value: &'static str| ("Mcp-Method", value.as_bytes());
    let name = |value: &'static str| ("MCP-NAME", value.as_bytes());
    let ok = None;
    let bad = Some(FaultKind::HeaderMismatch);
    let table = [
        ("all there", vec![version, method("tools/call"), name("add")], &call, ok),
        ("white space around", vec![version, method("tools/call"), name("  add\t")], &call, ok),
        ("encoded", vec![version, method("tools/call"), name("=?base64?YWRk?=")], &call, ok),
        ("no version", vec![method("tools/call"), name("add")], &call, bad),
        ("other version", vec![("mcp-protocol-version", b"2025-11-25"), method("tools/call"), name("add")], &call, bad),
        ("no method", vec![version, name("add")], &call, bad),
        ("other method", vec![version, method("prompts/list"), name("add")], &call, bad),
        ("method in capitals", vec![version, method("TOOLS/CALL"), name("add")], &call, bad),
        ("no name", vec![version, method("tools/call")], &call, bad),
        ("other name", vec![version, method("tools/call"), name("rm")], &call, bad),
        ("name twice", vec![version, method("tools/call"), name("add"), name("add")], &call, bad),
        ("broken name", vec![version, method("tools/call"), name("=?base64?YWR?=")], &call, bad),
        ("not ASCII", vec![version, method("tools/call"), ("mcp-name", b"add\xff")], &call, bad),
        (
            "body says two things",
            vec![version, method("tools/call"), name("add")],
            &twice,
            Some(FaultKind::InvalidParams),
        ),
    ];
    for (case, headers, params, expected) in table {
        let found = check(lookup(&headers), "tools/call", Some(params)).err().map(|fault| fault.kind());
        assert_eq!(found, expected, "{case}");
    }
    let headers = [version, method("tools/list")];
    assert!(check(lookup(&headers), "tools/list", None).is_ok());
}

#[test]
fn annotations() {
    let property = |schema: &str| raw(&format!(r#"{{"type":"object","properties":{{"value":{schema}}}}}"#));
    let fine = |schema: &Raw| ParamHeaders::of(schema).map(|found| !found.is_empty());
    for kind in ["string", "integer", "boolean"] {
        assert_eq!(fine(&property(&format!(r#"{{"type":"{kind}","x-mcp-header":"V"}}"#))), Ok(true));
    }
    assert_eq!(fine(&property(r#"{"type":["string","null"],"x-mcp-header":"V"}"#)), Ok(true));
    assert_eq!(fine(&property(r#"{"type":"string","x-mcp-h\u0065ader":"V"}"#)), Ok(true), "a key may be escaped");
    for kind in [r#""number""#, r#""object""#, r#""array""#, r#""null""#, r#"["string","number"]"#, "7"] {
        let found = ParamHeaders::of(&property(&format!(r#"{{"type":{kind},"x-mcp-header":"V"}}"#)));
        assert_eq!(found, Err(AnnotationError::NotPrimitive("V".to_owned())), "{kind}");
    }
    assert_eq!(fine(&property(r#"{"x-mcp-header":"V"}"#)), Err(AnnotationError::NotPrimitive("V".to_owned())));
    assert_eq!(fine(&property(r#"{"type":"string","x-mcp-header":""}"#)), Err(AnnotationError::Empty));
    assert_eq!(fine(&property(r#"{"type":"string","x-mcp-header":1}"#)), Err(AnnotationError::NotText));
    for name in ["My Region", "Region:Primary", "Région", "Region\\t1", "a\\r\\nX-Evil", "(x)"] {
        let found = fine(&property(&format!(r#"{{"type":"string","x-mcp-header":"{name}"}}"#)));
        assert!(matches!(found, Err(AnnotationError::NotToken(_))), "{name}: {found:?}");
    }
    for (first, second) in [("Region", "Region"), ("MyField", "myfield")] {
        let schema = raw(&format!(
            r#"{{"properties":{{"a":{{"type":"string","x-mcp-header":"{first}"}},"b":{{"type":"string","x-mcp-header":"{second}"}}}}}}"#
        ));
        assert_eq!(fine(&schema), Err(AnnotationError::Duplicate(second.to_owned())));
    }
}

#[test]
fn annotations_only_where_an_argument_can_be_found() {
    let leaf = r#"{"type":"string","x-mcp-header":"V"}"#;
    let parse = |text: String| ParamHeaders::of(&raw(&text)).map(|found| !found.is_empty());
    assert_eq!(parse(format!(r#"{{"properties":{{"a":{{"properties":{{"b":{leaf}}}}}}}}}"#)), Ok(true));
    for schema in [
        leaf.to_owned(),
        format!(r#"{{"items":{leaf}}}"#),
        format!(r#"{{"properties":{{"a":{{"items":{leaf}}}}}}}"#),
        format!(r#"{{"properties":{{"a":{{"items":{{"properties":{{"b":{leaf}}}}}}}}}}}"#),
        format!(r#"{{"anyOf":[{{"properties":{{"a":{leaf}}}}}]}}"#),
        format!(r#"{{"if":{{"properties":{{"a":{leaf}}}}}}}"#),
        format!(r#"{{"$defs":{{"a":{leaf}}}}}"#),
        format!(r#"{{"patternProperties":{{"a":{leaf}}}}}"#),
        format!(r#"{{"additionalProperties":{leaf}}}"#),
    ] {
        assert_eq!(parse(schema.clone()), Err(AnnotationError::Unreachable), "{schema}");
    }
    // Data and names that only look like annotations.
    assert_eq!(parse(r#"{"properties":{"a":{"default":{"x-mcp-header":""}}}}"#.to_owned()), Ok(false));
    assert_eq!(parse(r#"{"properties":{"x-mcp-header":{"type":"string"}}}"#.to_owned()), Ok(false));
}

const SCHEMA: &str = r#"{"type":"object","properties":{
    "region":{"type":"string","x-mcp-header":"Region"},
    "priority":{"type":"integer","x-mcp-header":"Priority"},
    "verbose":{"type":"boolean","x-mcp-header":"Verbose"},
    "place":{"type":"object","properties":{"city":{"type":"string","x-mcp-header":"City"}}},
    "query":{"type":"string"}}}"#;

#[test]
fn headers_of_arguments() {
    let headers = |arguments: &str| {
        let headers = param_headers(&raw(SCHEMA), Some(&raw(arguments)));
        headers.map(|headers| headers.into_iter().map(|(name, value)| format!("{name}: {value}")).collect::<Vec<_>>())
    };
    assert_eq!(
        headers(r#"{"region":"us-west1","priority":42,"verbose":false,"place":{"city":"Köln"},"query":"x"}"#).ok(),
        Some(vec![
            "Mcp-Param-Region: us-west1".to_owned(),
            "Mcp-Param-Priority: 42".to_owned(),
            "Mcp-Param-Verbose: false".to_owned(),
            "Mcp-Param-City: =?base64?S8O2bG4=?=".to_owned(),
        ])
    );
    assert_eq!(headers(r#"{"region":null,"place":7}"#).ok(), Some(vec![]));
    assert_eq!(headers(r#"{"priority":42.0}"#).ok(), Some(vec!["Mcp-Param-Priority: 42".to_owned()]));
    assert_eq!(headers(r#"{"priority":-9007199254740991}"#).ok().map(|headers| headers.len()), Some(1));
    for unfit in [r#"{"priority":1.5}"#, r#"{"priority":9007199254740992}"#, r#"{"region":[]}"#, r#"{"region":{}}"#] {
        assert_eq!(headers(unfit).err().map(|fault| fault.kind()), Some(FaultKind::InvalidArguments), "{unfit}");
    }
    assert_eq!(param_headers(&raw(SCHEMA), None).ok(), Some(vec![]));
}

#[test]
fn checks_of_arguments() {
    let region = |value: &'static str| ("mcp-param-region", value.as_bytes());
    let priority = |value: &'static str| ("mcp-param-priority", value.as_bytes());
    let ok = None;
    let bad = Some(FaultKind::HeaderMismatch);
    let table = [
        (vec![region("Hello")], r#"{"region":"Hello"}"#, ok),
        (vec![region("=?base64?SGVsbG8=?=")], r#"{"region":"Hello"}"#, ok),
        (vec![region("=?base64?SGVsbG8?=")], r#"{"region":"Hello"}"#, bad),
        (vec![region("=?base64?SGVs!!!bG8=?=")], r#"{"region":"Hello"}"#, bad),
        (vec![region("SGVsbG8=")], r#"{"region":"SGVsbG8="}"#, ok),
        (vec![region("=?base64?SGVsbG8=")], r#"{"region":"=?base64?SGVsbG8="}"#, ok),
        (vec![region("hello")], r#"{"region":"Hello"}"#, bad),
        (vec![], r#"{"region":"Hello"}"#, bad),
        (vec![], r#"{"region":null}"#, ok),
        (vec![], "{}", ok),
        (vec![region("Hello")], "{}", bad),
        (vec![region("a"), region("a")], r#"{"region":"a"}"#, bad),
        (vec![priority("42")], r#"{"priority":42}"#, ok),
        (vec![priority("42.0")], r#"{"priority":42}"#, ok),
        (vec![priority("42")], r#"{"priority":4.2e1}"#, ok),
        (vec![priority("43")], r#"{"priority":42}"#, bad),
        (vec![priority("inf")], r#"{"priority":42}"#, bad),
        (vec![region("042")], r#"{"region":"42"}"#, bad),
        (vec![region("a")], r#"{"region":"a","region":"b"}"#, Some(FaultKind::InvalidParams)),
        (vec![("mcp-param-other", b"x")], "{}", ok),
    ];
    for (headers, arguments, expected) in table {
        let found = check_params(lookup(&headers), &raw(SCHEMA), Some(&raw(arguments)));
        assert_eq!(found.err().map(|fault| fault.kind()), expected, "{headers:?} {arguments}");
    }
}
