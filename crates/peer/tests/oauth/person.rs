//! How often a person is asked, and for what.

use std::sync::Arc;

use switchboard_peer::client::Authorizer as _;
use switchboard_peer::oauth::{MemoryVault, OAuthError};
use tokio::sync::Semaphore;

use crate::world::{Slow, World, oauth, person, refused, simple};

#[tokio::test]
async fn more_scopes_are_asked_for_on_top_of_the_old_ones_and_not_in_circles() {
    let world = World::new().await;
    let oauth = simple(&world).await;
    oauth.token(refused(&oauth, 401, r#"Bearer scope="read""#)).await.unwrap();
    oauth.token(refused(&oauth, 403, r#"Bearer error="insufficient_scope", scope="write""#)).await.unwrap();
    // The same once more may help a person who had not agreed to all of it; a third time does not.
    oauth.token(refused(&oauth, 403, r#"Bearer error="insufficient_scope", scope="write""#)).await.unwrap();
    let error = oauth.token(refused(&oauth, 403, r#"Bearer error="insufficient_scope", scope="write""#)).await;
    assert!(matches!(*error.unwrap_err(), OAuthError::Forbidden(_)));
    let scopes: Vec<String> = world.asked("/authorize").iter().map(|asked| asked.query["scope"].clone()).collect();
    assert_eq!(scopes, ["offline_access read", "offline_access read write", "offline_access read write"]);
}

#[tokio::test]
async fn a_refusal_that_no_token_can_change_asks_nobody() {
    let world = World::new().await;
    let oauth = simple(&world).await;
    for challenge in ["", "Bearer", r#"Bearer error="invalid_token""#, r#"Basic error="insufficient_scope""#] {
        let error = oauth.token(refused(&oauth, 403, challenge)).await.unwrap_err();
        assert!(matches!(*error, OAuthError::Forbidden(_)), "{challenge} {error}");
    }
    assert!(world.everything_asked().is_empty());
}

#[tokio::test]
async fn a_server_that_takes_no_token_cannot_keep_a_person_busy() {
    let world = World::new().await;
    world.rules.lock().locked = true;
    world.rules.lock().refresh = false;
    let oauth = simple(&world).await;
    let mut given = 0;
    let error = loop {
        match oauth.token(refused(&oauth, 401, "Bearer")).await {
            Ok(_) => given += 1,
            Err(error) => break error,
        }
        assert!(given < 20);
    };
    assert!(matches!(*error, OAuthError::TooOften), "{error}");
    assert_eq!(world.asked("/authorize").len(), given);
}

#[tokio::test]
async fn a_person_in_the_middle_of_it_is_not_forgotten_when_the_call_gives_up() {
    let world = World::new().await;
    let browser = Arc::new(Slow { inner: person().await, arrived: Semaphore::new(0), go: Semaphore::new(0) });
    let oauth = Arc::new(oauth(&world, browser.clone(), Arc::new(MemoryVault::default())));
    let refusal = refused(&oauth, 401, "Bearer");
    let impatient = tokio::spawn({
        let (oauth, refusal) = (oauth.clone(), refusal.clone());
        async move { oauth.challenged(refusal).await }
    });
    browser.arrived.acquire().await.unwrap().forget();
    impatient.abort();
    assert!(impatient.await.unwrap_err().is_cancelled());
    let patient = tokio::spawn({
        let oauth = oauth.clone();
        async move { oauth.challenged(refusal).await }
    });
    browser.go.add_permits(1);
    patient.await.unwrap().unwrap();
    assert!(world.takes(&oauth));
    assert_eq!(world.asked("/authorize").len(), 1);
}

#[tokio::test]
async fn a_refusal_that_comes_after_its_token_was_replaced_asks_nobody() {
    let world = World::new().await;
    let oauth = simple(&world).await;
    oauth.token(refused(&oauth, 401, r#"Bearer scope="read""#)).await.unwrap();
    let late = refused(&oauth, 403, r#"Bearer error="insufficient_scope", scope="write""#);
    let new = oauth.token(late.clone()).await.unwrap();
    assert_eq!(oauth.token(late).await.unwrap(), new);
    assert_eq!(world.asked("/authorize").len(), 2);
}
