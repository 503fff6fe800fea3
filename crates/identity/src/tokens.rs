//! The tokens that let clients in over HTTP: how one is made, and how those of the old list are taken over. Only their
//! SHA-256 is kept; a token itself is given out once, when it is made.

use std::path::Path;

use jiff::Timestamp;
use serde_json::value::RawValue;
use switchboard_config::{ErrorKind, read_checked};
use switchboard_peer::{Scopes, random_token};
use switchboard_store::{Digest, NewToken, Store, StoreError, Token};

use crate::IdentityError;

/// Every token begins with it, so that a leaked one can be found by those who look for them.
pub const PREFIX: &str = "sb_";
/// Tokens at most, revoked ones included: all of them are read at every change.
const MAX_TOKENS: usize = 10_000;
/// The list that earlier versions kept in the data folder.
const OLD_LIST: &str = "tokens";

/// A token that is to be made.
#[derive(Debug)]
pub struct TokenRequest<'a> {
    /// A name for people.
    pub name: &'a str,
    /// Whom it stands for.
    pub principal: &'a str,
    /// What it is limited to; none means nothing but the principal's own rights.
    pub scopes: &'a [String],
    /// Until when it is good.
    pub expires_at: Option<Timestamp>,
}

/// Makes a token, keeps its hash, and gives it out for the only time.
///
/// # Errors
/// The name, the principal or a scope cannot be used, the name is taken, or the store takes nothing.
pub async fn issue(
    store: &Store,
    request: &TokenRequest<'_>,
    now: Timestamp,
) -> Result<(Token, String), IdentityError> {
    for (what, text) in [("a name", request.name), ("a principal", request.principal)] {
        if !is_name(text) {
            return Err(IdentityError::InvalidName { what, text: text.to_owned() });
        }
    }
    Scopes::parse(request.scopes.iter().map(String::as_str))?;
    if store.tokens().list().await?.len() >= MAX_TOKENS {
        return Err(IdentityError::TooManyTokens(MAX_TOKENS));
    }
    let secret = format!("{PREFIX}{}", random_token());
    let new = NewToken {
        hash: Digest::of(secret.as_bytes()),
        name: request.name.to_owned(),
        principal: request.principal.to_owned(),
        scopes: raw(request.scopes)?,
        created_at: now,
        expires_at: request.expires_at,
    };
    match store.tokens().issue(&new).await {
        Ok(token) => Ok((token, secret)),
        Err(StoreError::Conflict(_)) => Err(IdentityError::NameTaken(request.name.to_owned())),
        Err(error) => Err(error.into()),
    }
}

/// Takes over the list that earlier versions kept, and puts it out of the way. Says how many tokens came. They stand for
/// `owner`, because such tokens were good for everything that the owner of the kernel may do.
///
/// # Errors
/// The list cannot be read, a line of it is no hash, or the store takes nothing.
pub async fn adopt_old_list(
    store: &Store,
    data_dir: &Path,
    owner: &str,
    now: Timestamp,
) -> Result<usize, IdentityError> {
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
        let hash = Digest::from_hex(word)
            .ok_or_else(|| IdentityError::OldList { place: format!("{}:{}", path.display(), index + 1) })?;
        // It was taken over by a start that did not get to the end.
        if store.tokens().find(hash).await?.is_some() {
            continue;
        }
        let name = format!("token-{}", word.get(..8).unwrap_or(word).to_ascii_lowercase());
        let principal = owner.to_owned();
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
#[must_use]
pub fn scope_words(token: &Token) -> Option<Vec<String>> {
    token.scopes.as_ref().map(|raw| serde_json::from_str(raw.get()).unwrap_or_default())
}

fn raw(scopes: &[String]) -> Result<Option<Box<RawValue>>, IdentityError> {
    if scopes.is_empty() {
        return Ok(None);
    }
    Ok(Some(serde_json::value::to_raw_value(scopes)?))
}

/// Whether a text can name a token or a principal. Names end in audit records, in listings and on terminals.
#[must_use]
pub fn is_name(text: &str) -> bool {
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
    async fn a_token_is_kept_as_its_hash() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path()).await;
        let request = TokenRequest { name: "laptop", principal: "ann", scopes: &[], expires_at: None };
        let (token, secret) = issue(&store, &request, Timestamp::now()).await.unwrap();
        assert!(secret.starts_with(PREFIX) && secret.len() >= PREFIX.len() + 32);
        assert_eq!(token.hash, Digest::of(secret.as_bytes()));
        let again = issue(&store, &request, Timestamp::now()).await;
        assert!(matches!(again, Err(IdentityError::NameTaken(_))), "{again:?}");
        store.close().await.unwrap();
        for entry in std::fs::read_dir(folder.path()).unwrap() {
            let bytes = std::fs::read(entry.unwrap().path()).unwrap();
            let secret = &secret.as_bytes()[PREFIX.len()..];
            assert!(!bytes.windows(secret.len()).any(|window| window == secret));
        }
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
            let request = TokenRequest { name, principal, scopes: &scopes, expires_at: None };
            assert_eq!(issue(&store, &request, Timestamp::now()).await.is_ok(), good, "{name} {principal} {scope}");
        }
    }

    #[tokio::test]
    async fn the_old_list_is_taken_over_once() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (Digest::of(b"sb_one"), Digest::of(b"sb_two"));
        std::fs::write(folder.path().join("tokens"), format!("# old\n{one}\n\n{two}\n")).unwrap();
        let store = store(folder.path()).await;
        let now = Timestamp::now();
        assert_eq!(adopt_old_list(&store, folder.path(), "local", now).await.unwrap(), 2);
        assert!(!folder.path().join("tokens").exists());
        let found = store.tokens().find(one).await.unwrap().unwrap();
        assert_eq!((&found.name, &*found.principal), (&format!("token-{}", &one.to_string()[..8]), "local"));
        assert!(found.is_valid(now) && found.scopes.is_none());
        assert_eq!(adopt_old_list(&store, folder.path(), "local", now).await.unwrap(), 0);
    }

    #[tokio::test]
    async fn a_broken_old_list_lets_nobody_in_and_says_where() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("tokens"), "# fine\nnonsense\n").unwrap();
        let store = store(folder.path()).await;
        let error = adopt_old_list(&store, folder.path(), "local", Timestamp::now()).await.unwrap_err();
        assert!(error.to_string().contains("tokens:2:"), "{error:?}");
        assert!(error.is_usage());
    }
}
