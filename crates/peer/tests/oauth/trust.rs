//! Whom we believe, and what we tell whom.

use std::sync::Arc;

use serde_json::{Value, json};
use switchboard_peer::oauth::{MemoryVault, OAuth, OAuthError, OAuthGrant, OAuthOptions};
use url::Url;

use crate::world::{World, person, refused, registered, simple};

#[tokio::test]
async fn a_new_authorization_server_gets_a_new_registration_and_nothing_of_the_old() {
    let (old, new) = (World::new().await, World::new().await);
    let oauth = simple(&old).await;
    oauth.token(refused(&oauth, 401, "Bearer")).await.unwrap();
    old.rules.lock().issuer = new.origin.clone();
    old.revoke();
    oauth.token(refused(&oauth, 401, "Bearer")).await.unwrap();
    assert!(new.takes(&oauth));
    assert_eq!(new.asked("/register").len(), 1);
    let told = format!("{:?}", new.everything_asked());
    let kept = [format!("{}#client", old.origin), old.refresh_token()];
    for secret in kept {
        assert!(!told.contains(&secret), "{secret} in {told}");
    }
}

#[tokio::test]
async fn a_configured_client_id_is_shown_only_to_its_own_authorization_server() {
    let (old, new) = (World::new().await, World::new().await);
    for bound in [Some(old.origin.as_str()), None] {
        old.rules.lock().issuer = old.origin.clone();
        let vault = Arc::new(MemoryVault::default());
        let machine = OAuth::new(&old.server(), OAuthGrant::Machine, registered(bound), vault).unwrap();
        machine.token(refused(&machine, 401, "Bearer")).await.unwrap();
        assert!(old.takes(&machine));
        old.rules.lock().issuer = new.origin.clone();
        let error = machine.token(refused(&machine, 401, "Bearer")).await.unwrap_err();
        assert!(matches!(*error, OAuthError::OtherIssuer { .. }), "{error}");
    }
    assert!(new.everything_asked().is_empty());
    let header = &old.asked("/token")[0].headers["authorization"];
    // base64 of `configured:password`
    assert_eq!(header, "Basic Y29uZmlndXJlZDpwYXNzd29yZA==");
    assert_eq!(old.asked("/token")[0].form()["grant_type"], "client_credentials");
}

#[tokio::test]
async fn metadata_that_is_not_consistent_stops_everything() {
    let cases: [(&str, Option<&str>, Value); 6] = [
        ("another resource", Some("https://evil.example/mcp"), json!({})),
        ("another issuer", None, json!({"issuer": "https://evil.example"})),
        ("no PKCE", None, json!({"code_challenge_methods_supported": null})),
        ("only plain PKCE", None, json!({"code_challenge_methods_supported": ["plain"]})),
        ("an unencrypted page", None, json!({"authorization_endpoint": "http://auth.example/authorize"})),
        ("no page", None, json!({"authorization_endpoint": null})),
    ];
    for (what, resource, metadata) in cases {
        let world = World::new().await;
        world.rules.lock().resource = resource.map(str::to_owned);
        world.rules.lock().metadata = metadata;
        let oauth = simple(&world).await;
        let outcome = oauth.token(refused(&oauth, 401, "Bearer")).await;
        assert!(outcome.is_err(), "{what}");
        assert!(world.asked("/authorize").is_empty() && world.asked("/token").is_empty(), "{what}");
    }
}

#[tokio::test]
async fn a_server_without_a_way_to_register_says_what_to_configure() {
    let world = World::new().await;
    world.rules.lock().metadata = json!({"registration_endpoint": null});
    let oauth = simple(&world).await;
    let error = oauth.token(refused(&oauth, 401, "Bearer")).await.unwrap_err();
    assert!(error.to_string().contains("configure a client id"), "{error}");
}

#[tokio::test]
async fn a_server_that_has_no_login_is_said_to_have_none() {
    let world = World::new().await;
    world.rules.lock().has_no_login = true;
    let oauth = simple(&world).await;
    let error = oauth.token(refused(&oauth, 401, "Bearer")).await.unwrap_err();
    assert!(error.to_string().contains("offers no login"), "{error}");
}

#[tokio::test]
async fn a_machine_is_registered_by_its_owner_or_not_at_all() {
    let world = World::new().await;
    let vault = Arc::new(MemoryVault::default());
    let oauth = OAuth::new(&world.server(), OAuthGrant::Machine, OAuthOptions::new("test"), vault).unwrap();
    let error = oauth.token(refused(&oauth, 401, "Bearer")).await.unwrap_err();
    assert!(matches!(*error, OAuthError::NoClient { .. }), "{error}");
    assert!(world.asked("/register").is_empty() && world.asked("/token").is_empty());
}

#[tokio::test]
async fn our_own_document_goes_before_registration() {
    let world = World::new().await;
    world.rules.lock().metadata = json!({"client_id_metadata_document_supported": true});
    let mut options = OAuthOptions::new("test");
    options.client_metadata_url = Some(Url::parse("https://client.example/me.json").unwrap());
    let grant = OAuthGrant::Person(person().await);
    let oauth = OAuth::new(&world.server(), grant, options, Arc::new(MemoryVault::default())).unwrap();
    oauth.token(refused(&oauth, 401, "Bearer")).await.unwrap();
    assert!(world.asked("/register").is_empty());
    assert_eq!(world.asked("/authorize")[0].query["client_id"], "https://client.example/me.json");
}

#[tokio::test]
async fn documents_may_move_within_a_server_but_not_to_another() {
    let (world, other) = (World::new().await, World::new().await);
    world.rules.lock().moved_to = Some("/moved".to_owned());
    let oauth = simple(&world).await;
    oauth.token(refused(&oauth, 401, "Bearer")).await.unwrap();

    world.revoke();
    world.rules.lock().refresh = false;
    world.rules.lock().moved_to = Some(format!("{}/moved", other.origin));
    assert!(oauth.token(refused(&oauth, 401, "Bearer")).await.is_err());
    assert!(other.everything_asked().is_empty());

    // A circle ends.
    world.rules.lock().moved_to = Some("/.well-known/oauth-protected-resource/mcp".to_owned());
    assert!(oauth.token(refused(&oauth, 401, "Bearer")).await.is_err());
}

#[tokio::test]
async fn addresses_that_cannot_be_safe_are_refused_at_once() {
    let document = |text: &str| {
        let mut options = OAuthOptions::new("test");
        options.client_metadata_url = Some(Url::parse(text).unwrap());
        options
    };
    let cases = [
        ("https://mcp.example/mcp", OAuthOptions::new("test"), true),
        ("http://127.0.0.1:9/mcp", OAuthOptions::new("test"), true),
        ("http://mcp.example/mcp", OAuthOptions::new("test"), false),
        ("ftp://mcp.example/mcp", OAuthOptions::new("test"), false),
        ("mcp.example", OAuthOptions::new("test"), false),
        ("https://mcp.example/mcp", document("https://client.example/me.json"), true),
        ("https://mcp.example/mcp", document("https://client.example/"), false),
        ("https://mcp.example/mcp", document("http://client.example/me.json"), false),
    ];
    for (server, options, expected) in cases {
        let said = format!("{server} {:?}", options.client_metadata_url);
        let made = OAuth::new(server, OAuthGrant::Machine, options, Arc::new(MemoryVault::default()));
        assert_eq!(made.is_ok(), expected, "{said}");
    }
}
