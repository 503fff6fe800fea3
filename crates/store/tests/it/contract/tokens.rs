//! Bearer tokens.

use serde_json::json;
use switchboard_store::{NewToken, StoreError};

use crate::sample::{Fixture, at, digest, json_text};

fn token(name: &str, secret: &str) -> NewToken {
    NewToken {
        hash: digest(secret),
        name: name.to_owned(),
        principal: "alice".to_owned(),
        scopes: Some(json_text(&json!(["tools:call"]))),
        created_at: at(0),
        expires_at: Some(at(100)),
    }
}

pub(crate) async fn live_and_die(fixture: &mut Fixture) {
    let tokens = fixture.store.tokens();
    let before = tokens.revision().await.unwrap();
    tokens.issue(&token("laptop", "secret")).await.unwrap();
    let issued = tokens.revision().await.unwrap();
    assert!(issued > before);
    assert!(tokens.find(digest("guess")).await.unwrap().is_none());
    let found = tokens.find(digest("secret")).await.unwrap().unwrap();
    assert_eq!((found.name.as_str(), found.principal.as_str()), ("laptop", "alice"));
    assert_eq!(found.scopes.as_ref().unwrap().get(), "[\"tools:call\"]");
    assert!(found.is_valid(at(99)) && !found.is_valid(at(100)));
    assert_eq!(found.last_used_at, None);
    tokens.touch(digest("secret"), at(7)).await.unwrap();
    assert_eq!(tokens.revision().await.unwrap(), issued);
    fixture.reopen().await;
    let tokens = fixture.store.tokens();
    assert_eq!(tokens.find(digest("secret")).await.unwrap().unwrap().last_used_at, Some(at(7)));
    let revoked = tokens.revoke("laptop", at(8)).await.unwrap().unwrap();
    assert!(!revoked.is_valid(at(9)));
    assert!(tokens.revision().await.unwrap() > issued);
    assert!(tokens.revoke("laptop", at(9)).await.unwrap().is_none());
    assert!(!tokens.find(digest("secret")).await.unwrap().unwrap().is_valid(at(9)));
    assert_eq!(tokens.list().await.unwrap().len(), 1);
}

pub(crate) async fn names_are_unique_among_the_living(fixture: &mut Fixture) {
    let tokens = fixture.store.tokens();
    tokens.issue(&token("ci", "one")).await.unwrap();
    // A refused write takes nothing else of its group down.
    let (refused, fine) = {
        let (same, other) = (token("ci", "two"), token("other", "three"));
        tokio::join!(tokens.issue(&same), tokens.issue(&other))
    };
    assert!(matches!(refused, Err(StoreError::Conflict(_))), "{refused:?}");
    fine.unwrap();
    tokens.revoke("ci", at(1)).await.unwrap().unwrap();
    tokens.issue(&token("ci", "two")).await.unwrap();
    assert_eq!(tokens.list().await.unwrap().len(), 3);
}
