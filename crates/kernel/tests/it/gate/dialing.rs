//! Hosts that are not public: who is asked, how long a yes counts, and what a refusal says.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};
use switchboard_kernel::ServerPolicy;
use switchboard_protocol::Era;
use switchboard_protocol::mgp::TrustLevel;

use super::world::{House, Script, entry, everything_of, kind_of, open_house, parsed, ran, rejection, tool_with};

async fn house(policy: fn() -> ServerPolicy) -> House {
    let schema = json!({"inputSchema": {"type": "object", "properties": {"url": {"type": "string"}}}});
    let script = Script::new(Era::Legacy, vec![tool_with("browser_navigate", &schema)]);
    House::with(&[("web", script)], policy, |gate| {
        open_house(gate);
        gate.approval_wait = Duration::from_millis(200);
    })
    .await
}

fn at(trust: TrustLevel) -> ServerPolicy {
    ServerPolicy { trust, ..ServerPolicy::default() }
}

fn open(url: &str) -> Value {
    json!({ "url": url })
}

#[tokio::test]
async fn a_host_of_this_machine_is_asked_about_once() {
    for policy in [|| at(TrustLevel::Standard), || at(TrustLevel::Core)] {
        let house = house(policy).await;
        let asks = json!({"elicitation": {"form": {}}});
        let ann = house.client_with(Era::Legacy, "ann", asks.clone()).await;
        ann.ear.answers.lock().push_back(json!({"action": "accept", "content": {"decision": "once"}}));
        assert!(ran(&ann.call("browser_navigate", open("http://localhost:3000/")).await));
        let question = ann.ear.asked.lock()[0].1.clone();
        let message = question["message"].as_str().unwrap();
        assert!(message.contains("from now on"), "{question}");
        let asked = message.lines().next().unwrap();
        assert!(asked.ends_with(": it names a host of this machine or network)"), "{asked}");
        // Another page of the same host, also in another session, asks nobody.
        assert!(ran(&ann.call("browser_navigate", open("http://localhost:3000/other")).await));
        let later = house.client(Era::Legacy, "ann").await;
        assert!(ran(&later.call("browser_navigate", open("http://localhost:8080/")).await));
        assert_eq!(ann.ear.asked.lock().len(), 1);
        // Another host, and another principal, are asked about.
        let other = later.call("browser_navigate", open("http://10.0.0.1/")).await;
        assert_eq!(kind_of(&other), "confirmation_required");
        let bob = house.client(Era::Legacy, "bob").await;
        let bobs = bob.call("browser_navigate", open("http://localhost:3000/")).await;
        assert_eq!(kind_of(&bobs), "confirmation_required");
        // Nobody is asked about a metadata service.
        let metadata = ann.call("browser_navigate", open("http://169.254.169.254/latest")).await;
        assert_eq!(kind_of(&metadata), "validation_blocked");
        assert_eq!(ann.ear.asked.lock().len(), 1);
    }
}

/// A yes that goes on is among those that an operator sees and takes back, however far its server is trusted.
#[tokio::test]
async fn a_yes_to_a_host_is_shown_and_taken_back() {
    for policy in [|| at(TrustLevel::Standard), || at(TrustLevel::Core)] {
        let house = house(policy).await;
        let ann = house.client_with(Era::Legacy, "ann", json!({"elicitation": {"form": {}}})).await;
        ann.ear.answers.lock().push_back(json!({"action": "accept", "content": {"decision": "once"}}));
        assert!(ran(&ann.call("browser_navigate", open("http://localhost:3000/")).await));
        let standing = house.store.approvals().standing(Timestamp::now(), 10).await.unwrap();
        let hosts: Vec<&str> = standing.iter().map(|approval| approval.held.tool.as_str()).collect();
        assert_eq!(hosts, [" host localhost"]);
        house.operator_actions().withdraw_answer(&standing[0].held.id).await.unwrap().unwrap();
        assert!(!ran(&ann.call("browser_navigate", open("http://localhost:3000/")).await));
        assert_eq!(ann.ear.asked.lock().len(), 2, "it is asked about again");
    }
}

/// Who gets a right back is asked anew.
#[tokio::test]
async fn a_yes_to_a_host_ends_with_the_right_to_the_server() {
    for policy in [|| at(TrustLevel::Standard), || at(TrustLevel::Core)] {
        let house = house(policy).await;
        let ann = house.client_with(Era::Legacy, "ann", json!({"elicitation": {"form": {}}})).await;
        ann.ear.answers.lock().push_back(json!({"action": "accept", "content": {"decision": "once"}}));
        assert!(ran(&ann.call("browser_navigate", open("http://localhost:3000/")).await));
        house.operator_actions().grant_access(entry("ann", "web", None, false)).await.unwrap();
        house.operator_actions().revoke_access(&everything_of("ann")).await.unwrap();
        tokio::time::sleep(Duration::from_millis(250)).await;
        let later = house.client(Era::Legacy, "ann").await;
        let asked = later.call("browser_navigate", open("http://localhost:3000/")).await;
        assert_eq!(kind_of(&asked), "confirmation_required");
    }
}

#[tokio::test]
async fn a_no_is_not_remembered_as_a_yes() {
    let house = house(|| at(TrustLevel::Core)).await;
    let ann = house.client_with(Era::Legacy, "ann", json!({"elicitation": {"form": {}}})).await;
    ann.ear.answers.lock().extend([json!({"action": "decline"}), json!({"action": "decline"})]);
    for _ in 0..2 {
        assert!(!ran(&ann.call("browser_navigate", open("http://localhost:3000/")).await));
    }
    assert_eq!(ann.ear.asked.lock().len(), 2);
}

#[tokio::test]
async fn a_refusal_says_what_would_permit_it_and_that_does() {
    let house = house(|| at(TrustLevel::Experimental)).await;
    let ann = house.client(Era::Legacy, "ann").await;
    let refused = ann.call("browser_navigate", open("http://localhost:3000/")).await;
    assert_eq!(kind_of(&refused), "validation_blocked");
    let hint = rejection(&refused)["remediation_hint"].to_string();
    assert!(
        hint.contains("hosts = [\\\"*\\\", \\\"localhost\\\"]") && hint.contains("switchboard grant --server web"),
        "{hint}"
    );
    let granted = || {
        let scope = parsed("{\"hosts\": [\"*\", \"localhost\"]}");
        let permissions_granted = vec![("network.outbound".to_owned(), Some(scope))];
        ServerPolicy { permissions_granted, ..ServerPolicy::default() }
    };
    let house = self::house(granted).await;
    let ann = house.client(Era::Legacy, "ann").await;
    assert!(ran(&ann.call("browser_navigate", open("http://localhost:3000/")).await));
    assert!(!ran(&ann.call("browser_navigate", open("http://10.0.0.1/")).await));
}
