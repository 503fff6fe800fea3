//! The tokens that let clients in over HTTP: how one is made, and how those of the old list are taken over. Only their
//! SHA-256 is kept; a token itself is shown once, when it is made.

use std::path::Path;

use jiff::Timestamp;
use serde_json::value::RawValue;
use switchboard_config::{ErrorKind, read_checked};
use switchboard_kernel::OWNER;
use switchboard_peer::{Scopes, random_token};
use switchboard_store::{Digest, NewToken, Store, StoreError, Token};

use crate::failure::{Failure, chain};
use crate::ledger;

/// Every token begins with it, so that a leaked one can be found by those who look for them.
pub(crate) const PREFIX: &str = "sb_";
/// Tokens at most, revoked ones included: all of them are read at every change.
const MOST: usize = 10_000;
/// The list that earlier versions kept in the data folder.
const OLD_LIST: &str = "tokens";

/// A token that is wanted.
#[derive(Debug)]
pub(crate) struct Wanted<'a> {
    /// A name for people.
    pub(crate) name: &'a str,
    /// Whom it stands for.
    pub(crate) principal: &'a str,
    /// What it is limited to; none means nothing but the principal's own rights.
    pub(crate) scopes: &'a [String],
    /// Until when it is good.
    pub(crate) expires_at: Option<Timestamp>,
}

/// Makes a token, keeps its hash, and gives it out for the only time.
pub(crate) async fn issue(store: &Store, wanted: &Wanted<'_>, now: Timestamp) -> Result<(Token, String), Failure> {
    for (what, text) in [("a name", wanted.name), ("a principal", wanted.principal)] {
        if !is_name(text) {
            let why = "up to 128 letters, digits and the signs - _ . @ : / + =";
            return Err(Failure::usage(format!("`{text}` cannot be {what}: {why}")));
        }
    }
    Scopes::parse(wanted.scopes.iter().map(String::as_str)).map_err(Failure::usage)?;
    if store.tokens().list().await?.len() >= MOST {
        return Err(Failure::failed(format!("there are {MOST} tokens already")));
    }
    let secret = format!("{PREFIX}{}", random_token());
    let new = NewToken {
        hash: Digest::of(secret.as_bytes()),
        name: wanted.name.to_owned(),
        principal: wanted.principal.to_owned(),
        scopes: raw(wanted.scopes)?,
        created_at: now,
        expires_at: wanted.expires_at,
    };
    match store.tokens().issue(&new).await {
        Ok(token) => {
            let details = [
                ("name", token.name.clone().into()),
                ("agent_id", token.principal.clone().into()),
                ("scopes", words(&token).into()),
                ("expires_at", token.expires_at.map(|end| end.to_string()).into()),
            ];
            if let Err(failure) = ledger::write(store, ledger::TOKEN_ISSUED, None, &details).await {
                // Nobody has seen it yet: a token that nobody can find on the log shall not be good.
                store.tokens().revoke(&token.name, now).await?;
                return Err(failure);
            }
            Ok((token, secret))
        }
        Err(StoreError::Conflict(_)) => Err(Failure::failed(format!(
            "there is a token called {} already; choose another name, or revoke it first",
            wanted.name
        ))),
        Err(error) => Err(Failure::failed(format!("the token could not be kept: {}", chain(&error)))),
    }
}

/// A token for `serve` to show: at the very first start, or when another one is wanted.
pub(crate) async fn for_start(store: &Store, another: bool, now: Timestamp) -> Result<Option<String>, Failure> {
    let known = store.tokens().list().await?;
    if !another && !known.is_empty() {
        return Ok(None);
    }
    let name = if known.is_empty() { "first".to_owned() } else { format!("serve-{}", now.as_millisecond()) };
    // Shown to whoever started the kernel, and good for what that person may do, but not to decide for others.
    let wanted = Wanted { name: &name, principal: OWNER, scopes: &[], expires_at: None };
    issue(store, &wanted, now).await.map(|(_, secret)| Some(secret))
}

/// Takes over the list that earlier versions kept, and puts it out of the way. Says how many tokens came.
pub(crate) async fn adopt(store: &Store, data_dir: &Path, now: Timestamp) -> Result<usize, Failure> {
    let path = data_dir.join(OLD_LIST);
    let text = match read_checked(&path) {
        Ok(text) => text,
        Err(error) if *error.kind() == ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(error.into()),
    };
    let mut adopted = 0;
    for (index, line) in text.lines().enumerate() {
        let word = line.split_whitespace().next().unwrap_or_default();
        if word.is_empty() || word.starts_with('#') {
            continue;
        }
        let hash = Digest::from_hex(word).ok_or_else(|| {
            let place = format!("{}:{}", path.display(), index + 1);
            Failure::usage(format!("{place}: not the SHA-256 of a token; delete the line"))
        })?;
        // It was taken over by a start that did not get to the end.
        if store.tokens().find(hash).await?.is_some() {
            continue;
        }
        // Such tokens were good for everything that the owner of the kernel may do.
        let name = format!("token-{}", word.get(..8).unwrap_or(word).to_ascii_lowercase());
        let principal = OWNER.to_owned();
        let mut new = NewToken { hash, name, principal, scopes: None, created_at: now, expires_at: None };
        let mut kept = store.tokens().issue(&new).await;
        if matches!(kept, Err(StoreError::Conflict(_))) {
            new.name = format!("token-{hash}");
            kept = store.tokens().issue(&new).await;
        }
        kept?;
        adopted += 1;
    }
    std::fs::rename(&path, path.with_extension("migrated"))?;
    Ok(adopted)
}

/// The scopes that a token carries, as words.
pub(crate) fn words(token: &Token) -> Option<Vec<String>> {
    token.scopes.as_ref().map(|raw| serde_json::from_str(raw.get()).unwrap_or_default())
}

fn raw(scopes: &[String]) -> Result<Option<Box<RawValue>>, Failure> {
    if scopes.is_empty() {
        return Ok(None);
    }
    serde_json::value::to_raw_value(scopes).map(Some).map_err(Failure::failed)
}

/// Names end in audit records, in listings and on terminals.
pub(crate) fn is_name(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.@:/+=|".contains(&byte);
    !text.is_empty() && text.len() <= 128 && text.bytes().all(plain)
}

#[cfg(test)]
pub(crate) mod tests {
    use switchboard_store::{Location, Options};

    use super::*;

    pub(crate) async fn store(folder: &Path) -> Store {
        Store::open(&Location::File(folder.join("switchboard.db")), Options::default()).await.unwrap()
    }

    #[tokio::test]
    async fn a_token_is_kept_as_its_hash_and_shown_once() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path()).await;
        let now = Timestamp::now();
        let first = for_start(&store, false, now).await.unwrap().unwrap();
        assert!(first.starts_with(PREFIX) && first.len() >= PREFIX.len() + 32);
        assert_eq!(for_start(&store, false, now).await.unwrap(), None);
        let second = for_start(&store, true, now).await.unwrap().unwrap();
        assert_ne!(first, second);
        store.close().await.unwrap();
        for entry in std::fs::read_dir(folder.path()).unwrap() {
            let bytes = std::fs::read(entry.unwrap().path()).unwrap();
            let secret = &first.as_bytes()[PREFIX.len()..];
            assert!(!bytes.windows(secret.len()).any(|window| window == secret));
        }
    }

    #[tokio::test]
    async fn a_token_is_on_the_log_and_its_secret_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path()).await;
        let scopes = ["server:git".to_owned()];
        let wanted = Wanted { name: "laptop", principal: "ann", scopes: &scopes, expires_at: None };
        let (_, secret) = issue(&store, &wanted, Timestamp::now()).await.unwrap();
        assert!(issue(&store, &wanted, Timestamp::now()).await.is_err(), "the name is taken");
        let records = store.audit().tail(10).await.unwrap();
        let [record] = records.as_slice() else { panic!("one event: {records:?}") };
        let event: serde_json::Value = serde_json::from_str(&record.event).unwrap();
        assert_eq!(event["event_type"], ledger::TOKEN_ISSUED);
        assert_eq!(event["actor"]["type"], "operator");
        assert_eq!(event["details"]["agent_id"], "ann");
        assert_eq!(event["details"]["scopes"][0], "server:git");
        assert!(!record.event.contains(&secret));
    }

    #[tokio::test]
    async fn names_and_scopes_are_checked_before_anything_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path()).await;
        for (name, principal, scope, good) in [
            ("laptop", "ann@example.com", "server:git", true),
            ("laptop", "ann", "admin", false),
            ("", "ann", "admin", false),
            ("a b", "ann", "admin", false),
            ("other", "\u{1b}[31m", "admin", false),
            ("other", "ann", "everything", false),
        ] {
            let scopes = [scope.to_owned()];
            let wanted = Wanted { name, principal, scopes: &scopes, expires_at: None };
            assert_eq!(issue(&store, &wanted, Timestamp::now()).await.is_ok(), good, "{name} {principal} {scope}");
        }
    }

    #[tokio::test]
    async fn the_old_list_is_taken_over_once() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (Digest::of(b"sb_one"), Digest::of(b"sb_two"));
        std::fs::write(folder.path().join("tokens"), format!("# old\n{one}\n\n{two}\n")).unwrap();
        let store = store(folder.path()).await;
        let now = Timestamp::now();
        assert_eq!(adopt(&store, folder.path(), now).await.unwrap(), 2);
        assert!(!folder.path().join("tokens").exists());
        let found = store.tokens().find(one).await.unwrap().unwrap();
        assert_eq!((&found.name, &*found.principal), (&format!("token-{}", &one.to_string()[..8]), OWNER));
        assert!(found.is_valid(now) && found.scopes.is_none());
        assert_eq!(adopt(&store, folder.path(), now).await.unwrap(), 0);
        assert_eq!(for_start(&store, false, now).await.unwrap(), None);
    }

    #[tokio::test]
    async fn a_broken_old_list_lets_nobody_in_and_says_where() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("tokens"), "# fine\nnonsense\n").unwrap();
        let store = store(folder.path()).await;
        let error = adopt(&store, folder.path(), Timestamp::now()).await.unwrap_err();
        assert!(error.message().unwrap().contains("tokens:2:"), "{error:?}");
        assert_eq!(error.code(), 2);
    }
}
