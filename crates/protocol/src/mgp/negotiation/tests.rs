//! Offers and answers, by table.

use super::*;
use proptest::prelude::*;
use switchboard_wire::Limits;

fn raw(text: &str) -> Raw {
    Raw::parse(text.as_bytes().to_vec(), &Limits::default()).expect("valid JSON")
}

const SEED_CLIENT: &str = r#"{"mgp":{"version":"0.1.0","extensions":["security","access_control","audit"]}}"#;
const SEED_SERVER: &str = r#"{"tools":{},"mgp":{"version":"0.1.0","extensions":["security","audit"],
    "permissions_required":["shell","network"],"server_id":"mind.cerebras","trust_level":"standard"}}"#;

#[test]
fn the_offer_of_the_specification() {
    let offer = Offer::of(&raw(SEED_CLIENT)).expect("an offer");
    assert_eq!((offer.version(), offer.places()), ("0.1.0", &[NegotiationPlace::Own][..]));
    assert_eq!(offer.names(), ["security", "access_control", "audit"]);
    let all = [Extension::ToolSecurity, Extension::Permissions, Extension::AccessControl, Extension::Audit];
    assert_eq!(offer.extensions(), all.into_iter().collect());
}

#[test]
fn the_answer_of_the_specification() {
    let offer = Offer::of(&raw(SEED_CLIENT)).expect("an offer");
    let ours = [Extension::ToolSecurity, Extension::Permissions, Extension::Audit, Extension::Lifecycle];
    let agreement = Agreement::between(&offer, &ours, "0.1.0").expect("an agreement");
    let needs = Raw::array(&[Raw::string("shell"), Raw::string("network")]);
    let more = [
        ("permissions_required", needs),
        ("server_id", Raw::string("mind.cerebras")),
        ("trust_level", Raw::string("standard")),
    ];
    let written = agreement.declare_in(&raw(r#"{"tools":{}}"#), more).expect("capabilities");
    let expected: serde_json::Value = raw(SEED_SERVER).view().expect("a value");
    assert_eq!(written.view::<serde_json::Value>().expect("a value"), expected);
}

#[test]
fn the_declaration_of_the_specification() {
    let declaration = ServerDeclaration::of(&raw(SEED_SERVER)).expect("a declaration");
    assert_eq!(declaration.permissions_required, ["shell", "network"]);
    assert_eq!(declaration.server_id.as_deref(), Some("mind.cerebras"));
    assert_eq!(declaration.trust_level, Some(TrustLevel::Standard));
    let agreement = Agreement::with_server(&declaration, &Extension::ALL).expect("an agreement");
    assert!(agreement.has(Extension::Permissions) && agreement.has(Extension::Audit));
    assert!(!agreement.has(Extension::AccessControl), "the server did not list it");
    assert_eq!(agreement.compatibility(), Compatibility::OtherDraft);
}

#[test]
fn a_server_gets_nothing_that_was_not_offered() {
    let declaration = ServerDeclaration::of(&raw(SEED_SERVER)).expect("a declaration");
    let agreement = Agreement::with_server(&declaration, &[Extension::Permissions]).expect("an agreement");
    assert_eq!(agreement.extensions(), [Extension::Permissions].into_iter().collect());
    assert_eq!(agreement.names(), ["permissions"]);
}

#[test]
fn where_offers_stand() {
    let one = r#"{"version":"0.6.0","extensions":["events"]}"#;
    let other = r#"{"version":"0.6.0","extensions":["audit"]}"#;
    for (capabilities, places, name) in [
        (format!(r#"{{"mgp":{one}}}"#), &[NegotiationPlace::Own][..], "events"),
        (format!(r#"{{"experimental":{{"mgp":{one}}}}}"#), &[NegotiationPlace::Experimental], "events"),
        (format!(r#"{{"extensions":{{"dev.cloto/mgp":{one}}}}}"#), &[NegotiationPlace::Extensions], "events"),
        (
            format!(r#"{{"mgp":{one},"experimental":{{"mgp":{one}}}}}"#),
            &[NegotiationPlace::Own, NegotiationPlace::Experimental],
            "events",
        ),
        (format!(r#"{{"experimental":{{"mgp":{other}}},"mgp":{one}}}"#), &[NegotiationPlace::Own], "events"),
        (
            format!(r#"{{"mgp":{{}},"extensions":{{"dev.cloto/mgp":{other}}}}}"#),
            &[NegotiationPlace::Extensions],
            "audit",
        ),
    ] {
        let offer = Offer::of(&raw(&capabilities)).expect("an offer");
        assert_eq!((offer.places(), offer.names()), (places, &[name.to_owned()][..]), "{capabilities}");
        let answer = Agreement::between(&offer, &Extension::ALL, VERSION).expect("an agreement");
        let answer = answer.declare_in(&Raw::empty_object(), []).expect("capabilities");
        for place in NegotiationPlace::ALL {
            assert_eq!(answer.at(place.path()).is_some(), places.contains(&place), "{place:?} for {capabilities}");
        }
    }
}

#[test]
fn what_is_no_offer() {
    for capabilities in [
        "{}",
        "[]",
        r#"{"mgp":null}"#,
        r#"{"mgp":true}"#,
        r#"{"mgp":{}}"#,
        r#"{"mgp":{"version":"0.1.0"}}"#,
        r#"{"mgp":{"extensions":["audit"]}}"#,
        r#"{"mgp":{"version":1,"extensions":["audit"]}}"#,
        r#"{"mgp":{"version":"0.1.0","extensions":"audit"}}"#,
        r#"{"mgp":{"version":"0.1.0","extensions":["audit",1]}}"#,
        r#"{"mgp":{"version":"0.1.0","version":"0.2.0","extensions":[]}}"#,
        r#"{"extensions":["dev.cloto/mgp"]}"#,
        r#"{"experimental":"mgp"}"#,
    ] {
        assert_eq!(Offer::of(&raw(capabilities)), None, "{capabilities}");
        assert_eq!(ServerDeclaration::of(&raw(capabilities)), None, "{capabilities}");
    }
    let bad = r#"{"mgp":{"version":"0.1.0","extensions":[],"permissions_required":["shell",7]}}"#;
    assert_eq!(ServerDeclaration::of(&raw(bad)), None, "permissions that cannot be read");
}

#[test]
fn claims_of_trust() {
    for (claim, trust) in [
        ("", None),
        (r#","trust_level":null"#, None),
        (r#","trust_level":"trusted""#, Some(TrustLevel::Core)),
        (r#","trust_level":"experimental""#, Some(TrustLevel::Experimental)),
        (r#","trust_level":"sandboxed""#, Some(TrustLevel::Untrusted)),
        (r#","trust_level":"root""#, Some(TrustLevel::Untrusted)),
        (r#","trust_level":7"#, Some(TrustLevel::Untrusted)),
    ] {
        let capabilities = format!(r#"{{"mgp":{{"version":"0.1.0","extensions":[]{claim}}}}}"#);
        let declaration = ServerDeclaration::of(&raw(&capabilities)).expect("a declaration");
        assert_eq!(declaration.trust_level, trust, "{claim}");
    }
}

#[test]
fn names_of_the_peer_come_back() {
    use Extension as E;
    for (asked, ours, told) in [
        (vec!["security"], vec![E::ToolSecurity, E::Permissions], vec!["security"]),
        (vec!["security"], vec![E::Permissions], vec!["permissions"]),
        (vec!["security", "permissions"], vec![E::Permissions], vec!["permissions"]),
        (
            vec!["permissions", "tool_security"],
            vec![E::ToolSecurity, E::Permissions],
            vec!["permissions", "tool_security"],
        ),
        (vec!["events", "x.y/z"], vec![E::Events, E::Callbacks], vec!["events"]),
        (vec!["bidirectional", "events"], vec![E::Events, E::Callbacks], vec!["bidirectional", "events"]),
        (vec!["audit", "audit"], vec![E::Audit], vec!["audit"]),
        (vec!["Audit", "SECURITY"], E::ALL.to_vec(), vec![]),
        (vec![], E::ALL.to_vec(), vec![]),
    ] {
        let names: Vec<Raw> = asked.iter().map(|name| Raw::string(name)).collect();
        let offer = format!(r#"{{"mgp":{{"version":"0.3.0","extensions":{:?}}}}}"#, Raw::array(&names));
        let offer = Offer::of(&raw(&offer)).expect("an offer");
        assert_eq!(offer.names(), asked, "names that nobody knows stay in the offer");
        assert_eq!(Agreement::between(&offer, &ours, VERSION).expect("an agreement").names(), told, "{asked:?}");
    }
}

#[test]
fn versions() {
    use Compatibility as C;
    for (one, other, expected) in [
        ("0.3.0", "0.3.0", C::Full),
        ("0.3.0", "0.3.9", C::Full),
        ("0.3.0", "0.3", C::Full),
        ("0.3.0", "0.8.0-draft", C::OtherDraft),
        ("0.3.0", "0.3.0+build.7", C::Full),
        ("1.0.0", "1.9.3", C::Full),
        ("1.0.0", "2.0.0", C::None),
        ("0.9.0", "1.0.0", C::None),
        ("0.3.0", "draft", C::Unreadable),
        ("0.3.0", "", C::Unreadable),
        ("0.3.0", "0", C::Unreadable),
        ("0.3.0", "0.+3", C::Unreadable),
        ("0.3.0", "0.3.0.1", C::Unreadable),
        ("0.3.0", "0.99999999999", C::Unreadable),
    ] {
        assert_eq!(Compatibility::between(one, other), expected, "{one} and {other}");
        assert_eq!(Compatibility::between(other, one), expected, "{other} and {one}");
    }
    let offer = Offer::of(&raw(r#"{"mgp":{"version":"2.0.0","extensions":["audit"]}}"#)).expect("an offer");
    assert_eq!(Agreement::between(&offer, &Extension::ALL, "1.0.0"), None);
}

#[test]
fn our_own_offer() {
    let ours = [Extension::Permissions, Extension::ToolSecurity, Extension::Audit, Extension::Events];
    let capabilities = raw(r#"{"roots":{},"experimental":{"x":1}}"#);
    let legacy = offer_in(&capabilities, &ours, Era::Legacy).expect("capabilities");
    insta::assert_snapshot!(legacy.as_str(), @r#"{"roots":{},"experimental":{"x":1,"mgp":{"version":"0.3.0","extensions":["security","tool_security","permissions","audit","events"]}},"mgp":{"version":"0.3.0","extensions":["security","tool_security","permissions","audit","events"]}}"#);
    let modern = offer_in(&raw("{}"), &ours, Era::Modern).expect("capabilities");
    insta::assert_snapshot!(modern.as_str(), @r#"{"extensions":{"dev.cloto/mgp":{"version":"0.3.0","extensions":["security","tool_security","permissions","audit","events"]}},"experimental":{"mgp":{"version":"0.3.0","extensions":["security","tool_security","permissions","audit","events"]}}}"#);
    assert!(offer_in(&raw(r#"{"experimental":[]}"#), &ours, Era::Legacy).is_err());
    for written in [legacy, modern] {
        assert_eq!(Offer::of(&written).expect("an offer").extensions(), ours.as_slice().into());
    }
}

#[test]
fn all_names() {
    assert_eq!(Extension::WORDS.len(), Extension::ALL.len());
    assert_eq!(
        ExtensionSet::named("security").names().collect::<Vec<_>>(),
        ["security", "tool_security", "permissions"]
    );
    let all: Vec<&str> = ExtensionSet::from(&Extension::ALL[..]).names().collect();
    assert_eq!(all.len(), 16, "the fourteen and the two that stand for several");
    for seed in [
        "security",
        "access_control",
        "audit",
        "code_safety",
        "lifecycle",
        "streaming",
        "bidirectional",
        "discovery",
        "tool_discovery",
    ] {
        assert!(all.contains(&seed), "{seed}");
    }
}

fn any_names() -> impl Strategy<Value = Vec<String>> {
    let known = ExtensionSet::from(&Extension::ALL[..]).names().map(str::to_owned).collect::<Vec<_>>();
    let name = prop_oneof![4 => proptest::sample::select(known), 1 => "[a-z./]{1,8}"];
    proptest::collection::vec(name, 0..8)
}

proptest! {
    /// Nothing is agreed that one side did not name, and the answer means exactly what was agreed.
    #[test]
    fn an_agreement_is_the_intersection(asked in any_names(), ours in any_names()) {
        let names: Vec<Raw> = asked.iter().map(|name| Raw::string(name)).collect();
        let offer = format!(r#"{{"mgp":{{"version":"0.3.0","extensions":{:?}}}}}"#, Raw::array(&names));
        let offer = Offer::of(&raw(&offer)).expect("an offer");
        let ours: Vec<Extension> = ExtensionSet::of_names(ours.iter().map(String::as_str)).iter().collect();
        let agreement = Agreement::between(&offer, &ours, VERSION).expect("an agreement");
        for extension in Extension::ALL {
            let expected = ours.contains(&extension) && offer.extensions().has(extension);
            prop_assert_eq!(agreement.has(extension), expected);
        }
        prop_assert_eq!(ExtensionSet::of_names(agreement.names().iter().map(String::as_str)), agreement.extensions());
        let written = agreement.declare_in(&Raw::empty_object(), []).expect("capabilities");
        let read = ServerDeclaration::of(&written).expect("a declaration");
        prop_assert_eq!(read.extensions(), agreement.extensions());
    }
}
