//! The tokens that let clients in over HTTP. Only their SHA-256 is kept; a token itself is shown once, when it is made.

use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use switchboard_config::{ErrorKind, read_checked, write_replacing};
use switchboard_peer::random_token;

use crate::failure::Failure;

const HEADER: &str = "# SHA-256 of each token that lets a client in. Delete a line to take its token back.\n";
/// Tokens at most: each is compared at every request.
const MOST: usize = 1_000;

/// The tokens of one data folder.
#[derive(Debug)]
pub(crate) struct Tokens {
    path: PathBuf,
    text: Option<String>,
    hashes: Vec<[u8; 32]>,
}

impl Tokens {
    /// Reads the list; a missing one is empty.
    pub(crate) fn read(data_dir: &Path) -> Result<Self, Failure> {
        let path = data_dir.join("tokens");
        let text = match read_checked(&path) {
            Ok(text) => Some(text),
            Err(error) if *error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error.into()),
        };
        let mut hashes = Vec::new();
        for (index, line) in text.iter().flat_map(|text| text.lines()).enumerate() {
            let word = line.split_whitespace().next().unwrap_or_default();
            if word.is_empty() || word.starts_with('#') {
                continue;
            }
            hashes.push(from_hex(word).ok_or_else(|| {
                let place = format!("{}:{}", path.display(), index + 1);
                Failure::usage(format!(
                    "{place}: not the SHA-256 of a token; delete the line, then run `switchboard serve --new-token`"
                ))
            })?);
        }
        if hashes.len() > MOST {
            return Err(Failure::usage(format!("{}: more than {MOST} tokens; delete some lines", path.display())));
        }
        Ok(Self { path, text, hashes })
    }

    /// Whether there is none.
    pub(crate) const fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// Makes a token, keeps its hash, and gives it out for the only time.
    pub(crate) fn make(&mut self) -> Result<String, Failure> {
        let token = format!("sb_{}", random_token());
        let hash = Sha256::digest(&token);
        let line: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut text = self.text.clone().unwrap_or_else(|| HEADER.to_owned());
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&line);
        text.push('\n');
        write_replacing(&self.path, self.text.as_deref(), &text, None)?;
        self.text = Some(text);
        self.hashes.push(hash.into());
        Ok(token)
    }

    /// Who has this token. Takes as long for a wrong one as for a right one.
    pub(crate) fn principal(&self, token: &str) -> Option<String> {
        let presented: [u8; 32] = Sha256::digest(token).into();
        let mut found = None;
        for hash in &self.hashes {
            if bool::from(hash.ct_eq(&presented)) {
                found = Some(hash);
            }
        }
        let name = |hash: &[u8; 32]| hash.iter().take(4).map(|byte| format!("{byte:02x}")).collect::<String>();
        found.map(|hash| format!("token-{}", name(hash)))
    }
}

fn from_hex(text: &str) -> Option<[u8; 32]> {
    let digits = text.as_bytes();
    if digits.len() != 64 {
        return None;
    }
    let mut bytes = [0; 32];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_kept_as_its_hash_and_works_after_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let mut tokens = Tokens::read(folder.path()).unwrap();
        assert!(tokens.is_empty());
        let (first, second) = (tokens.make().unwrap(), tokens.make().unwrap());
        let text = std::fs::read_to_string(folder.path().join("tokens")).unwrap();
        assert!(!text.contains(&first) && !text.contains(&second), "{text}");

        let again = Tokens::read(folder.path()).unwrap();
        let (a, b) = (again.principal(&first).unwrap(), again.principal(&second).unwrap());
        assert_ne!(a, b);
        for wrong in ["", "sb_", &first[..first.len() - 1], &format!("{first} ")] {
            assert_eq!(again.principal(wrong), None, "{wrong}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn the_list_is_for_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        Tokens::read(folder.path()).unwrap().make().unwrap();
        let mode = std::fs::metadata(folder.path().join("tokens")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_broken_list_lets_nobody_in_and_says_where() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("tokens"), "# fine\nnonsense\n").unwrap();
        let error = Tokens::read(folder.path()).unwrap_err();
        assert!(error.message().unwrap().contains("tokens:2:"), "{error:?}");
        assert_eq!(error.code(), 2);
    }
}
