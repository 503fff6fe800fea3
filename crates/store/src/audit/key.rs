//! The key that signs heads: Ed25519, made at first use, kept in a file of mode 0600.

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _};

use crate::digest::encode_hex;
use crate::{StoreError, private};

/// A signing key. Its private half is never shown.
pub(crate) struct AuditKey {
    pair: Ed25519KeyPair,
    public: String,
}

impl AuditKey {
    /// Reads the key.
    pub(crate) fn load(path: &Path) -> Result<Self, StoreError> {
        private::file(path)?;
        let document = fs::read(path).map_err(private::failed("read the audit key", path))?;
        let pair = Ed25519KeyPair::from_pkcs8(&document)
            .map_err(|_| StoreError::Corrupt(format!("{} is not an Ed25519 key", path.display())))?;
        let public = encode_hex(pair.public_key().as_ref());
        Ok(Self { pair, public })
    }

    /// Reads the key, or makes one. A crash in between leaves none or a whole one.
    pub(crate) fn load_or_new(path: &Path) -> Result<Self, StoreError> {
        if !path.try_exists().map_err(private::failed("look at", path))? {
            let document = Ed25519KeyPair::generate()
                .and_then(|pair| pair.to_pkcs8())
                .map_err(|error| StoreError::Engine(std::sync::Arc::new(error)))?;
            let draft = path.with_extension(format!("draft-{}", std::process::id()));
            OpenOptions::new()
                .write(true)
                .create(true)
                .truncate(true)
                .mode(0o600)
                .open(&draft)
                .and_then(|mut file| file.write_all(document.as_ref()).and_then(|()| file.sync_all()))
                .map_err(private::failed("write the audit key", &draft))?;
            // A link, not a rename: of two processes that start together the first wins, and both read its key.
            match fs::hard_link(&draft, path) {
                Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                    return Err(private::failed("create the audit key", path)(error));
                }
                _ => fs::remove_file(&draft).map_err(private::failed("remove", &draft))?,
            }
            private::sync_directory(path.parent().unwrap_or(path))?;
        }
        Self::load(path)
    }

    pub(crate) fn public(&self) -> &str {
        &self.public
    }

    pub(crate) fn sign(&self, message: &[u8]) -> Vec<u8> {
        self.pair.sign(message).as_ref().to_vec()
    }
}

impl fmt::Debug for AuditKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "AuditKey({})", self.public)
    }
}
