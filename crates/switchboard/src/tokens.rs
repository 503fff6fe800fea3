//! Tokens with their line on the audit log: what `serve` shows at the first start, and what `switchboard token` makes.

use std::path::Path;

use jiff::Timestamp;
use switchboard_identity::tokens::{self, TokenRequest, adopt_old_list, scope_words};
use switchboard_kernel::OWNER;
use switchboard_store::{Store, Token};

use crate::failure::Failure;
use crate::identity_audit;

/// Makes a token, puts it on the audit log, and gives it out for the only time.
pub(crate) async fn issue(
    store: &Store,
    request: &TokenRequest<'_>,
    now: Timestamp,
) -> Result<(Token, String), Failure> {
    let (token, secret) = tokens::issue(store, request, now).await?;
    let details = [
        ("name", token.name.clone().into()),
        ("agent_id", token.principal.clone().into()),
        ("scopes", scope_words(&token).into()),
        ("expires_at", token.expires_at.map(|end| end.to_string()).into()),
    ];
    if let Err(failure) = identity_audit::write(store, identity_audit::TOKEN_ISSUED, None, &details).await {
        // Nobody has seen it yet: a token that nobody can find on the log shall not be good.
        store.tokens().revoke(&token.name, now).await?;
        return Err(failure);
    }
    Ok((token, secret))
}

/// A token for `serve` to show: at the very first start, or when another one is wanted.
pub(crate) async fn for_start(store: &Store, another: bool, now: Timestamp) -> Result<Option<String>, Failure> {
    let known = store.tokens().list().await?;
    if !another && !known.is_empty() {
        return Ok(None);
    }
    let name = if known.is_empty() { "first".to_owned() } else { format!("serve-{}", now.as_millisecond()) };
    // Shown to whoever started the kernel, and good for what that person may do, but not to decide for others.
    let request = TokenRequest { name: &name, principal: OWNER, scopes: &[], expires_at: None };
    issue(store, &request, now).await.map(|(_, secret)| Some(secret))
}

/// Takes over the list that earlier versions kept. Says how many tokens came.
pub(crate) async fn adopt(store: &Store, data_dir: &Path, now: Timestamp) -> Result<usize, Failure> {
    Ok(adopt_old_list(store, data_dir, OWNER, now).await?)
}

#[cfg(test)]
mod tests {
    use switchboard_store::{Location, Options};

    use super::*;

    async fn store(folder: &Path) -> Store {
        Store::open(&Location::File(folder.join("switchboard.db")), Options::default()).await.unwrap()
    }

    #[tokio::test]
    async fn the_first_start_shows_a_token_and_the_next_one_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path()).await;
        let now = Timestamp::now();
        let first = for_start(&store, false, now).await.unwrap().unwrap();
        assert_eq!(for_start(&store, false, now).await.unwrap(), None);
        let second = for_start(&store, true, now).await.unwrap().unwrap();
        assert_ne!(first, second);
    }

    #[tokio::test]
    async fn a_token_is_on_the_log_and_its_secret_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path()).await;
        let scopes = ["server:git".to_owned()];
        let request = TokenRequest { name: "laptop", principal: "ann", scopes: &scopes, expires_at: None };
        let (_, secret) = issue(&store, &request, Timestamp::now()).await.unwrap();
        let again = issue(&store, &request, Timestamp::now()).await.unwrap_err();
        assert_eq!(again.code(), 1, "the name is taken: {again:?}");
        let records = store.audit().tail(10).await.unwrap();
        let [record] = records.as_slice() else { panic!("one event: {records:?}") };
        let event: serde_json::Value = serde_json::from_str(&record.event).unwrap();
        assert_eq!(event["event_type"], identity_audit::TOKEN_ISSUED);
        assert_eq!(event["actor"]["type"], "operator");
        assert_eq!(event["details"]["agent_id"], "ann");
        assert_eq!(event["details"]["scopes"][0], "server:git");
        assert!(!record.event.contains(&secret));
    }

    #[tokio::test]
    async fn an_old_list_is_adopted_for_the_owner() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("tokens"), "nonsense\n").unwrap();
        let store = store(folder.path()).await;
        let failure = adopt(&store, folder.path(), Timestamp::now()).await.unwrap_err();
        assert_eq!(failure.code(), 2, "{failure:?}");
    }
}
