//! Scopes and session tokens (proposal 4).

use switchboard_kernel::{GateOptions, ServerPolicy};
use switchboard_policy::risk::OperatorWord;
use switchboard_protocol::Era;
use switchboard_wire::Raw;

use super::world::{Tools, call, gate, policy, text, world};
use crate::world::{Client, client, raw};

const READ: &str =
    r#"{"name":"read","inputSchema":{"type":"object"},"risk_level":"safe","required_scopes":["read:tickets"]}"#;
const DELETE: &str = r#"{"name":"delete","inputSchema":{"type":"object"},"risk_level":"safe","required_scopes":["read:tickets","delete:tickets"]}"#;
const PLAIN: &str = r#"{"name":"plain","inputSchema":{"type":"object"},"risk_level":"safe"}"#;

fn tools() -> Tools {
    Tools::new(&[READ, DELETE, PLAIN])
}

async fn negotiate(client: &Client, scopes: &str, rest: &str) -> Raw {
    client.ask("negotiate_scopes", &format!(r#"{{"requested_scopes":{scopes}{rest}}}"#)).await.expect("scopes")
}

fn shown(answer: &Raw) -> String {
    let token = answer.at(&["session", "token"]).expect("a token");
    format!(r#","_meta":{{"session_token":{token},"k":1.10}}"#, token = token.as_str())
}

/// The kind of fault that a refusal names for programs.
fn kind(refused: &Raw) -> String {
    refused.at(&["_meta", "dev.cloto/mgp", "details", "kind"]).and_then(|kind| kind.as_text()).expect("a kind")
}

#[tokio::test]
async fn a_call_is_held_to_the_scopes_of_its_token() {
    for era in [Era::Legacy, Era::Modern] {
        // The person is not asked here: this is about scopes.
        let unasked = OperatorWord { confirm: Some(false), ..OperatorWord::default() };
        let policy = ServerPolicy { tools: [("delete".to_owned(), unasked)].into(), ..policy() };
        let world = world(tools(), policy, gate()).await;
        let client = client(&world.url, era).await;
        let asked = r#"["read:tickets","tool:plain","tool:other","server:box2","made:up"]"#;
        let answer = negotiate(&client, asked, r#","ttl_seconds":60,"justification":"tidy up""#).await;
        assert_eq!(answer.member("granted_scopes").unwrap().as_str(), r#"["read:tickets","tool:plain"]"#, "{era:?}");
        let denied = answer.member("denied_scopes").unwrap();
        assert_eq!(denied.elements().unwrap().len(), 3, "{denied:?}");
        assert!(denied.elements().unwrap().iter().all(|one| one.member("reason").is_some()));
        assert_eq!(answer.at(&["session", "inactivity_timeout_seconds"]).unwrap().as_str(), "60");
        let token = shown(&answer);
        assert_eq!(text(&call(&client, "read", &token).await), "done");
        assert_eq!(text(&call(&client, "plain", &token).await), "done");
        let refused = call(&client, "delete", &token).await;
        assert!(text(&refused).contains("delete:tickets") && kind(&refused) == "scope_insufficient", "{refused:?}");
        // Without a token the principal's access decides.
        assert_eq!(text(&call(&client, "delete", "").await), "done");
        let seen = world.tools.calls.lock().clone();
        assert_eq!(seen.len(), 3);
        for seen in &seen[..2] {
            assert!(!seen.as_str().contains("sbs_"), "the token is none of the server's business");
            assert_eq!(seen.at(&["_meta", "k"]).unwrap().as_str(), "1.10");
        }
        let record = world.record().await;
        let negotiated =
            record.iter().find(|event| event["event_type"] == "dev.switchboard.scopes_negotiated").unwrap();
        assert_eq!(negotiated["details"]["justification"], "tidy up");
        assert!(record.iter().any(|event| event["details"]["step"] == "scopes"));
    }
}

#[tokio::test]
async fn a_token_that_nobody_knows_is_refused_and_one_of_the_server_passes() {
    let world = world(tools(), policy(), gate()).await;
    let client = client(&world.url, Era::Legacy).await;
    let refused = call(&client, "plain", r#","_meta":{"session_token":"sbs_0000"}"#).await;
    assert_eq!(kind(&refused), "auth_expired", "{refused:?}");
    // One that nobody gave is good for nothing; where a server gives tokens of its own, it may be that server's.
    let refused = call(&client, "read", r#","_meta":{"session_token":"theirs"}"#).await;
    assert_eq!(kind(&refused), "auth_expired", "{refused:?}");
    let own = r#"{"name":"negotiate_scopes","inputSchema":{"type":"object"},"risk_level":"safe"}"#;
    let world = self::world(Tools::new(&[PLAIN, own]), policy(), gate()).await;
    let client = self::client(&world.url, Era::Legacy).await;
    assert_eq!(text(&call(&client, "plain", r#","_meta":{"session_token":"theirs"}"#).await), "done");
    assert_eq!(world.tools.calls.lock()[0].at(&["_meta", "session_token"]).unwrap().as_str(), r#""theirs""#);
}

#[tokio::test]
async fn lists_and_checks_go_by_the_token() {
    let world = world(tools(), policy(), gate()).await;
    let client = client(&world.url, Era::Legacy).await;
    let token = shown(&negotiate(&client, r#"["read:tickets"]"#, "").await);
    let list = client.ask("tools/list", &format!("{{{}}}", &token[1..])).await.unwrap();
    let names = |list: &Raw| {
        let tools = list.member("tools").unwrap().elements().unwrap();
        tools.iter().map(|tool| tool.member("name").unwrap().as_text().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(names(&list), ["read"]);
    assert_eq!(names(&client.ask("tools/list", "{}").await.unwrap()), ["read", "delete", "plain"]);
    // What the caller says that it holds is a claim.
    let claim = format!(r#"{{"tool":"delete","scopes_held":["read:tickets","delete:tickets"]{token}}}"#);
    let checked = client.ask("check_permissions", &claim).await.unwrap();
    assert_eq!(checked.member("allowed").unwrap().as_str(), "false");
    assert_eq!(checked.member("missing_scopes").unwrap().as_str(), r#"["delete:tickets"]"#);
    let as_tool = format!(r#","arguments":{{"tool":"read","scopes_held":[]}}{token}"#);
    let checked = call(&client, "check_permissions", &as_tool).await;
    assert_eq!(checked.at(&["structuredContent", "allowed"]).unwrap().as_str(), "true");
    let asked = call(&client, "negotiate_scopes", r#","arguments":{"requested_scopes":["server:box"]}"#).await;
    let token = shown(&asked.member("structuredContent").unwrap());
    // A server as a whole is no scope that it made up.
    assert_eq!(text(&call(&client, "plain", &token).await), "done");
    assert!(text(&call(&client, "read", &token).await).contains("read:tickets"));
}

#[tokio::test]
async fn the_operator_can_demand_scopes() {
    let world = world(tools(), policy(), GateOptions { demand_scopes: true, ..gate() }).await;
    let client = client(&world.url, Era::Legacy).await;
    assert_eq!(kind(&call(&client, "read", "").await), "scope_insufficient");
    assert_eq!(text(&call(&client, "plain", "").await), "done");
    let token = shown(&negotiate(&client, r#"["read:tickets"]"#, "").await);
    assert_eq!(text(&call(&client, "read", &token).await), "done");
}

#[tokio::test]
async fn malformed_requests_for_scopes_are_refused() {
    let world = world(tools(), policy(), gate()).await;
    let client = client(&world.url, Era::Legacy).await;
    let many = format!(r#"{{"requested_scopes":[{}"x"]}}"#, r#""x","#.repeat(300));
    for params in [r"{}", r#"{"requested_scopes":"x"}"#, r#"{"requested_scopes":[],"ttl_seconds":0}"#, many.as_str()] {
        assert_eq!(client.once("negotiate_scopes", raw(params)).await.unwrap_err().code, -32602, "{params}");
    }
}

/// Who asks what a session with these scopes could do is told what it would lack, also where no token is demanded.
#[tokio::test]
async fn a_check_without_a_token_answers_for_the_scopes_that_are_claimed() {
    let world = world(tools(), policy(), gate()).await;
    let client = client(&world.url, Era::Legacy).await;
    for (claimed, allowed, missing) in [
        ("[]", "false", r#"["read:tickets"]"#),
        (r#"["read:tickets"]"#, "true", "[]"),
        (r#"["x"]"#, "false", r#"["read:tickets"]"#),
    ] {
        let params = format!(r#"{{"tool":"read","scopes_held":{claimed}}}"#);
        let checked = client.ask("check_permissions", &params).await.unwrap();
        assert_eq!(checked.member("allowed").unwrap().as_str(), allowed, "{claimed}");
        assert_eq!(checked.member("missing_scopes").unwrap().as_str(), missing, "{claimed}");
    }
}
