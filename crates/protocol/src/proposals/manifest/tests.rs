//! The examples of proposals 1, 3, 6 and 10, and what is read of what cannot be read.

use switchboard_wire::{Limits, Object, Raw};

use super::declared::{DeclaredManifest, Operational};
use super::*;
use crate::proposals::Proposal;

fn raw(text: &str) -> Raw {
    Raw::parse(text.to_owned(), &Limits::default()).expect("valid JSON")
}

fn of(text: &str) -> Operational {
    Operational::of(&Object::open(&raw(text)).expect("an object"))
}

#[test]
fn the_cost_of_proposal_3() {
    let said = of(r#"{"tool":"export_analytics","cost":{"category":"metered","estimated_units":5},
        "latency":"minutes","quota":{"remaining":12,"resets_at":"2026-03-16T00:00:00Z"}}"#);
    assert_eq!(said.cost, Some(Cost::new().category(CostCategory::Metered).estimated_units(5)));
    assert_eq!(said.latency, Some(LatencyClass::Minutes));
    assert_eq!(said.quota, Some(Quota::new().remaining(12_u64).resets_at("2026-03-16T00:00:00Z")));
}

#[test]
fn the_signature_of_proposal_10() {
    let said = of(r#"{"tool":"analyze_image","input_types":["image/png","image/jpeg"],
        "output_types":["application/json"],"max_input_size_bytes":10485760,"binary_transport":"multipart"}"#);
    assert_eq!(said.input_types, ["image/png", "image/jpeg"]);
    assert_eq!(said.output_types, ["application/json"]);
    assert_eq!(said.max_input_size_bytes, Some(10_485_760));
    assert_eq!(said.binary_transport.as_deref(), Some("multipart"));
}

#[test]
fn the_confirmation_of_proposal_6() {
    let said = of(r#"{"tool":"delete_repository","requires_confirmation":true,"risk_level":"destructive",
        "confirmation_message":"This will permanently delete the repository and all its contents. Proceed?"}"#);
    assert!(said.requires_confirmation);
    assert_eq!(said.risk_level, Some(Consequence::Destructive));
    assert!(said.confirmation_message.is_some_and(|text| text.starts_with("This will")));
}

#[test]
fn what_cannot_be_read_costs_nothing_else() {
    let said = of(r#"{"cost":"much","latency":"soon","quota":[],"input_types":["png","image/png",7],
        "max_input_size_bytes":-1,"idempotent":"yes","supports_streaming":true,"risk_level":"none"}"#);
    let expected = Operational {
        input_types: vec!["image/png".to_owned()],
        supports_streaming: Some(true),
        ..Operational::default()
    };
    assert_eq!(said, expected);
    assert_eq!(Operational::of_tool(&raw("[]")), Operational::default());
}

#[test]
fn definitions_say_it_at_their_top_before_their_meta() {
    let said = Operational::of_tool(&raw(
        r#"{"name":"a","latency":"seconds","required_scopes":["x"],"_meta":{"latency":"minutes","cost":{"category":"free"},
        "required_scopes":["y"],"dev.switchboard":{"output_types":["text/csv"],"cost":{"category":"metered"}}},
        "inputSchema":{"properties":{"picture":{"type":"string","contentMediaType":"image/png"}}}}"#,
    ));
    assert_eq!(said.latency, Some(LatencyClass::Seconds));
    assert_eq!(said.cost, Some(Cost::new().category(CostCategory::Free)));
    assert_eq!((said.input_types, said.output_types), (vec!["image/png".to_owned()], vec!["text/csv".to_owned()]));
    assert_eq!(said.required_scopes, ["x", "y"], "demands of both count");
}

#[test]
fn manifests_of_servers_in_each_place() {
    let manifest = r#"{"manifest_version":"0.1.0","server":{"name":"a","version":"1.0.0","mcp_spec_version":"2025-11-25",
        "homepage":"http://plain.example"},"tools":[{"name":"get_it","latency":"minutes"},{"odd":1},7],
        "supported_extensions":["intent_hints","tomorrow"],"rate_limits":{"requests_per_minute":60},"manifest_ttl":90,
        "auth":{"methods":["api_key","magic"],"scopes":[{"name":"repo","description":"All","grants":["get_it"]},{}]}}"#;
    let quoted = Raw::string(manifest);
    for result in [
        format!(r#"{{"structuredContent":{manifest}}}"#),
        format!(r#"{{"structuredContent":{{"manifest":{manifest}}}}}"#),
        format!(r#"{{"content":[{{"type":"text","text":{}}}]}}"#, quoted.as_str()),
        manifest.to_owned(),
    ] {
        let read = DeclaredManifest::in_result(&raw(&result), &Limits::default()).expect("a manifest");
        assert_eq!(read.extensions, [Proposal::IntentHints]);
        assert_eq!(read.tool("get_it").and_then(|tool| tool.latency), Some(LatencyClass::Minutes));
        assert!(read.tool("getIt").is_some(), "its list may write the name in another way");
        assert_eq!(read.rate_limits, Some(RateLimits::new().requests_per_minute(60_u64)));
        assert_eq!((read.ttl_seconds, read.homepage), (Some(90), None));
        let auth = read.auth.expect("auth");
        assert_eq!(auth.methods, Some(vec![AuthMethod::ApiKey]));
        assert_eq!(auth.scopes.map(|scopes| scopes.len()), Some(1));
    }
    for none in ["{}", r#"{"content":[{"type":"text","text":"no JSON"}]}"#, r#"{"tools":[],"server":1}"#] {
        assert_eq!(DeclaredManifest::in_result(&raw(none), &Limits::default()), None, "{none}");
    }
}

#[test]
fn names_have_the_form_of_the_schema() {
    for (name, written) in [
        ("search_issues", "search_issues"),
        ("mgp.access.query", "mgp_access_query"),
        ("gwt/compute_delta_sc", "gwt_compute_delta_sc"),
        ("getIssue2Times", "get_issue2_times"),
        ("HTTPGet", "httpget"),
        ("git__git-status", "git__git_status"),
        ("2fa", "t_2fa"),
        ("_x", "t__x"),
        ("\u{e9}", "t__"),
    ] {
        assert_eq!(manifest_name(name), written);
    }
    let mut names = ManifestNames::default();
    let given: Vec<String> = ["a.b", "a_b", "a/b", "a_b_2"].map(|name| names.give(name)).into();
    assert_eq!(given, ["a_b", "a_b_2", "a_b_3", "a_b_2_2"]);
}

#[test]
fn versions_begin_with_three_numbers() {
    for (written, version) in [
        ("1.2.3", "1.2.3"),
        ("1.2.3-rc.1+build", "1.2.3-rc.1+build"),
        ("v2.0", "2.0.0"),
        ("7", "7.0.0"),
        ("2026-03-01", "2026.0.0"),
        ("1.2b.3", "1.2.3"),
        ("dev", "0.0.0"),
        ("", "0.0.0"),
    ] {
        assert_eq!(manifest_version_of(written), version, "{written}");
    }
}

#[test]
fn the_narrower_limit_counts() {
    let own = RateLimits::new().requests_per_minute(60_u64).remaining(5_u64).resets_at("a");
    let other = RateLimits::new().requests_per_minute(90_u64).requests_per_day(10_u64).remaining(3_u64).resets_at("b");
    let both = own.narrower(other);
    assert_eq!(
        both,
        RateLimits::new().requests_per_minute(60_u64).requests_per_day(10_u64).remaining(3_u64).resets_at("b")
    );
}

proptest::proptest! {
    #[test]
    fn names_always_have_the_form_and_are_never_given_twice(
        names in proptest::collection::vec("[A-Za-z0-9_.é/ -]{0,12}", 0..20)
    ) {
        let mut given = ManifestNames::default();
        let written: Vec<String> = names.iter().map(|name| given.give(name)).collect();
        for name in &written {
            proptest::prop_assert!(name.starts_with(|first: char| first.is_ascii_lowercase()), "{name}");
            let legal = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
            proptest::prop_assert!(name.bytes().all(legal), "{name}");
        }
        let distinct: HashSet<_> = written.iter().collect();
        proptest::prop_assert_eq!(distinct.len(), written.len());
    }

    #[test]
    fn versions_always_begin_with_three_numbers(written in "[v0-9a-z.+ -]{0,16}") {
        let version = manifest_version_of(&written);
        let parts: Vec<&str> = version.splitn(3, '.').collect();
        proptest::prop_assert_eq!(parts.len(), 3);
        proptest::prop_assert!(parts[..2].iter().all(|part| part.parse::<u128>().is_ok()), "{version}");
        proptest::prop_assert!(parts[2].starts_with(|first: char| first.is_ascii_digit()), "{version}");
    }
}
