//! What `connect --replace` took out of a client's file, kept for `disconnect`: in the data folder, for the owner alone, since
//! entries hold secrets.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use switchboard_config::{Client, Taken, read_checked, write_replacing};

use crate::failure::Failure;

/// The entries of one client.
pub(crate) struct TakenEntries {
    path: PathBuf,
    /// The text that was read; `None` where nothing is kept.
    before: Option<String>,
    pub(crate) entries: Vec<Taken>,
}

impl TakenEntries {
    /// Reads what is kept of a client.
    ///
    /// # Errors
    /// It cannot be read, or somebody else could have written it.
    pub(crate) fn read(data_dir: &Path, client: Client) -> Result<Self, Failure> {
        let path = data_dir.join("replaced").join(format!("{}.json", client.as_str()));
        let before = match read_checked(&path) {
            Ok(text) => Some(text),
            Err(error) if *error.kind() == switchboard_config::ErrorKind::NotFound => None,
            Err(error) => return Err(error.into()),
        };
        let entries = before.as_deref().map_or(Some(Vec::new()), entries_of);
        let entries = entries.ok_or_else(|| Failure::failed(format!("{} is damaged; the entries that `connect --replace` took out are also in the backups beside the client's file", path.display())))?;
        Ok(Self { path, before, entries })
    }

    /// Keeps more entries; a newer one of a name takes the place of the older.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn add(&self, taken: &[Taken]) -> Result<(), Failure> {
        let is_old = |entry: &&Taken| !taken.iter().any(|new| new.name == entry.name);
        let all: Vec<Value> = self
            .entries
            .iter()
            .filter(is_old)
            .chain(taken)
            .map(|entry| json!({"name": entry.name, "text": entry.text}))
            .collect();
        write_replacing(&self.path, self.before.as_deref(), &format!("{:#}\n", json!({"entries": all})), None)?;
        Ok(())
    }

    /// Forgets them, once they are back. One that is left over does no harm: what is in the client's file again is left alone.
    pub(crate) fn forget(&self) {
        if self.before.is_some() {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn entries_of(text: &str) -> Option<Vec<Taken>> {
    let value: Value = serde_json::from_str(text).ok()?;
    let word = |entry: &Value, key: &str| entry.get(key)?.as_str().map(str::to_owned);
    let entry = |entry: &Value| Some(Taken { name: word(entry, "name")?, text: word(entry, "text")? });
    value.get("entries")?.as_array()?.iter().map(entry).collect()
}
