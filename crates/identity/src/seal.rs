//! Secrets at rest: AES-256-GCM with a key of this data folder. Whoever has the database and not the key has nothing;
//! whoever has the folder has both.

use std::io::Write as _;
use std::path::Path;

use aws_lc_rs::aead::{AES_256_GCM, Aad, NONCE_LEN, Nonce, RandomizedNonceKey};
use switchboard_config::{ErrorKind, read_checked};

use crate::IdentityError;

/// The key, 64 hexadecimal digits.
const KEY_FILE: &str = "credentials.key";
const KEY_BYTES: usize = 32;

/// Seals and opens.
pub(crate) struct Seal(RandomizedNonceKey);

impl Seal {
    /// Reads the key of a data folder, or makes it at first use.
    pub(crate) fn open(data_dir: &Path) -> Result<Self, IdentityError> {
        let path = data_dir.join(KEY_FILE);
        let text = match read_checked(&path) {
            Ok(text) => text,
            Err(error) if *error.kind() == ErrorKind::NotFound => make(&path)?,
            Err(error) => return Err(error.into()),
        };
        only_owner(&path)?;
        let damaged = || IdentityError::DamagedKey { path: path.display().to_string() };
        let key = from_hex(text.trim()).ok_or_else(damaged)?;
        RandomizedNonceKey::new(&AES_256_GCM, &key).map(Self).map_err(|_| damaged())
    }

    /// Seals a text for one place: it cannot be opened as what stands elsewhere. `None` if the system has no randomness.
    pub(crate) fn seal(&self, place: &str, text: &str) -> Option<Vec<u8>> {
        let mut sealed = text.as_bytes().to_vec();
        let nonce = self.0.seal_in_place_append_tag(Aad::from(place.as_bytes()), &mut sealed).ok()?;
        Some([&nonce.as_ref()[..], &sealed].concat())
    }

    /// Opens what was sealed for this place; `None` if it was not, or was touched.
    pub(crate) fn unseal(&self, place: &str, sealed: &[u8]) -> Option<String> {
        let (nonce, rest) = sealed.split_at_checked(NONCE_LEN)?;
        let mut rest = rest.to_vec();
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let text = self.0.open_in_place(nonce, Aad::from(place.as_bytes()), &mut rest).ok()?;
        String::from_utf8(text.to_vec()).ok()
    }
}

impl std::fmt::Debug for Seal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Seal")
    }
}

/// Makes the key. Where another process is quicker, its key counts.
fn make(path: &Path) -> Result<String, IdentityError> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let text = format!("{}{}\n", switchboard_peer::random_token(), switchboard_peer::random_token());
    // Written beside and linked into place, so that nobody ever reads half a key.
    let half = path.with_extension(format!("key.{}", switchboard_peer::random_token()));
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&half)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    let placed = std::fs::hard_link(&half, path);
    std::fs::remove_file(&half)?;
    match placed {
        Ok(()) => Ok(text),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(read_checked(path)?),
        Err(error) => Err(error.into()),
    }
}

fn only_owner(path: &Path) -> Result<(), IdentityError> {
    use std::os::unix::fs::PermissionsExt as _;
    if std::fs::metadata(path)?.permissions().mode() & 0o077 == 0 {
        return Ok(());
    }
    Err(IdentityError::ExposedKey { path: path.display().to_string() })
}

fn from_hex(text: &str) -> Option<[u8; KEY_BYTES]> {
    let digits = text.as_bytes();
    let mut bytes = [0; KEY_BYTES];
    if digits.len() != KEY_BYTES * 2 || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn what_is_sealed_opens_in_its_place_only() {
        let folder = tempfile::tempdir().unwrap();
        let seal = Seal::open(folder.path()).unwrap();
        let sealed = seal.seal("here", "secret").unwrap();
        assert!(!sealed.windows(6).any(|window| window == b"secret"));
        assert_ne!(sealed, seal.seal("here", "secret").unwrap());
        let again = Seal::open(folder.path()).unwrap();
        assert_eq!(again.unseal("here", &sealed).as_deref(), Some("secret"));
        assert_eq!(again.unseal("there", &sealed), None);
        for index in 0..sealed.len() {
            let mut touched = sealed.clone();
            touched[index] ^= 1;
            assert_eq!(again.unseal("here", &touched), None, "{index}");
        }
        assert_eq!(again.unseal("here", &sealed[..5]), None);
        let other = tempfile::tempdir().unwrap();
        assert_eq!(Seal::open(other.path()).unwrap().unseal("here", &sealed), None);
    }

    #[test]
    fn a_key_that_others_may_read_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        Seal::open(folder.path()).unwrap();
        let path = folder.path().join(KEY_FILE);
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        assert!(Seal::open(folder.path()).unwrap_err().to_string().contains("chmod 600"));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        std::fs::write(&path, "short").unwrap();
        assert!(Seal::open(folder.path()).is_err());
    }
}
