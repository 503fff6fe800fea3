//! Tokens while a connection lives.

use std::sync::Arc;

use serde_json::json;
use switchboard_peer::Call;
use switchboard_peer::client::{ConnectOptions, Connected, Target, connect};
use switchboard_peer::oauth::{MemoryVault, OAuth};
use switchboard_peer::{BoxFuture, Context, Handler, Reply};
use switchboard_wire::{ErrorObject, Notification, Raw, Request, code};

use crate::world::{World, oauth, person, refused, simple};

struct Silent;

impl Handler for Silent {
    fn request(&self, _context: Context, _request: Request) -> BoxFuture<'_, Reply> {
        Box::pin(async { Err(ErrorObject::new(code::METHOD_NOT_FOUND, "not offered")).into() })
    }

    fn notification(&self, _context: Context, _notification: Notification) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }
}

async fn connected(world: &World, oauth: OAuth) -> Connected {
    let raw = |value| Raw::from_value(&value).unwrap();
    let mut options = ConnectOptions::new(raw(json!({"name": "test", "version": "1"})), raw(json!({})));
    options.authorizer = Some(Arc::new(oauth));
    connect(Target::Http { url: world.server(), headers: Vec::new() }, options, Arc::new(Silent)).await.unwrap()
}

async fn list(connected: &Connected) {
    connected.remote.request(Call::new("tools/list", None)).await.unwrap().outcome.unwrap();
}

#[tokio::test]
async fn a_person_is_asked_once_and_refresh_tokens_do_the_rest() {
    let world = World::new().await;
    world.rules.lock().challenge_scope = Some("files:read");
    let vault = Arc::new(MemoryVault::default());
    let connected = connected(&world, oauth(&world, person().await, vault)).await;
    list(&connected).await;
    let visits = world.asked("/authorize");
    assert_eq!(visits.len(), 1);
    let query = &visits[0].query;
    assert_eq!(query["resource"], world.server());
    assert_eq!(query["scope"], "files:read offline_access");
    assert_eq!(world.asked("/token")[0].form()["resource"], world.server());
    let registration: serde_json::Value = serde_json::from_str(&world.asked("/register")[0].body).unwrap();
    assert_eq!(registration["application_type"], "native");
    assert_eq!(registration["redirect_uris"][0], query["redirect_uri"]);

    // Each refresh uses the token that the one before it brought.
    for _ in 0..2 {
        world.revoke();
        list(&connected).await;
    }
    assert_eq!(world.asked("/authorize").len(), 1);
    let grants: Vec<String> = world.asked("/token").iter().map(|asked| asked.form()["grant_type"].clone()).collect();
    assert_eq!(grants, ["authorization_code", "refresh_token", "refresh_token"]);

    // When it is not taken any more, the person is asked again, by a client that is still registered.
    world.rules.lock().refresh = false;
    world.revoke();
    list(&connected).await;
    assert_eq!(world.asked("/authorize").len(), 2);
    assert_eq!(world.asked("/register").len(), 1);
    connected.stop().await;
}

#[tokio::test]
async fn many_calls_that_are_refused_at_once_ask_one_person_once() {
    let world = World::new().await;
    world.rules.lock().refresh = false;
    let connected = connected(&world, oauth(&world, person().await, Arc::new(MemoryVault::default()))).await;
    world.revoke();
    let calls = (0..16).map(|_| list(&connected));
    futures_util::future::join_all(calls).await;
    assert_eq!(world.asked("/authorize").len(), 2);
    connected.stop().await;
}

#[tokio::test]
async fn a_second_connection_finds_the_token_of_the_first() {
    let world = World::new().await;
    let vault = Arc::new(MemoryVault::default());
    let first = connected(&world, oauth(&world, person().await, vault.clone())).await;
    let second = connected(&world, oauth(&world, person().await, vault)).await;
    list(&first).await;
    list(&second).await;
    assert_eq!(world.asked("/authorize").len(), 1);
    assert_eq!(world.asked("/token").len(), 1);
}

fn grants(world: &World) -> Vec<String> {
    world.asked("/token").iter().map(|asked| asked.form()["grant_type"].clone()).collect()
}

#[tokio::test]
async fn a_refresh_token_that_is_not_replaced_is_used_again() {
    let world = World::new().await;
    world.rules.lock().rotate = false;
    let oauth = simple(&world).await;
    for _ in 0..3 {
        world.revoke();
        oauth.token(refused(&oauth, 401, "Bearer")).await.unwrap();
    }
    assert_eq!(grants(&world), ["authorization_code", "refresh_token", "refresh_token"]);
}

#[tokio::test]
async fn a_refresh_token_that_was_refused_is_not_tried_again() {
    let world = World::new().await;
    let oauth = simple(&world).await;
    oauth.token(refused(&oauth, 401, "Bearer")).await.unwrap();
    world.revoke();
    world.rules.lock().refresh = false;
    world.rules.lock().metadata = json!({"code_challenge_methods_supported": null});
    for _ in 0..3 {
        oauth.token(refused(&oauth, 401, "Bearer")).await.unwrap_err();
    }
    assert_eq!(grants(&world), ["authorization_code", "refresh_token"]);
}

#[tokio::test]
async fn a_client_that_the_authorization_server_forgot_registers_again() {
    let world = World::new().await;
    let oauth = simple(&world).await;
    oauth.token(refused(&oauth, 401, "Bearer")).await.unwrap();
    world.revoke();
    world.rules.lock().clients.clear();
    oauth.token(refused(&oauth, 401, "Bearer")).await.unwrap();
    assert!(world.takes(&oauth));
    assert_eq!(world.asked("/register").len(), 2);
}

#[tokio::test]
async fn a_registration_for_another_redirect_address_is_not_used() {
    let world = World::new().await;
    let vault = Arc::new(MemoryVault::default());
    for registrations in 1..=2 {
        let oauth = oauth(&world, person().await, vault.clone());
        world.revoke();
        world.rules.lock().refresh = false;
        let mut refusal = refused(&oauth, 401, "Bearer");
        // As if the token that is kept had been refused.
        refusal.used = world.last_header();
        oauth.token(refusal).await.unwrap();
        assert_eq!(world.asked("/register").len(), registrations);
        assert_eq!(world.asked("/authorize").len(), registrations);
    }
}
