//! Credentials for other people's servers.

use switchboard_store::Credential;

use crate::sample::{Fixture, at};

fn credential(server: &str, principal: &str, slot: &str, sealed: &[u8]) -> Credential {
    Credential {
        server: server.to_owned(),
        principal: principal.to_owned(),
        slot: slot.to_owned(),
        sealed: sealed.to_vec(),
        updated_at: at(1),
    }
}

pub(crate) async fn are_kept_per_server_and_principal(fixture: &mut Fixture) {
    let store = fixture.store.credentials();
    let first = credential("tracker", "ann", "tokens", &[0, 255, 1]);
    let before = store.revision().await.unwrap();
    store.put(&first).await.unwrap();
    let after = store.revision().await.unwrap();
    assert!(after > before);
    store.put(&credential("tracker", "bob", "tokens", b"bob")).await.unwrap();
    store.put(&credential("wiki", "ann", "tokens", b"wiki")).await.unwrap();
    assert_eq!(store.of("tracker", "ann").await.unwrap(), [first]);
    let second = credential("tracker", "ann", "tokens", b"rotated");
    store.put(&second).await.unwrap();
    store.put(&credential("tracker", "ann", "client", b"client")).await.unwrap();
    fixture.reopen().await;
    let store = fixture.store.credentials();
    assert_eq!(store.of("tracker", "ann").await.unwrap()[1], second);
    assert!(store.remove("tracker", "ann", "client").await.unwrap());
    assert!(!store.remove("tracker", "ann", "client").await.unwrap());
    assert_eq!(store.list().await.unwrap().len(), 3);
    assert!(store.revision().await.unwrap() > after);
    assert_eq!(store.forget("tracker", Some("bob")).await.unwrap(), 1);
    assert_eq!(store.forget("tracker", None).await.unwrap(), 1);
    assert_eq!(store.list().await.unwrap().len(), 1);
    let large = credential("wiki", "ann", "tokens", &vec![0; 300 * 1024]);
    assert!(store.put(&large).await.is_err());
}
