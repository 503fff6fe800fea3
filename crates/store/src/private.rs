//! Files that only their owner may read or write, and the refusal of any other kind.
//!
//! A database that someone else can write is not a record of anything. Files are made 0600 and directories 0700; what
//! exists already must belong to the user of this process and be writable by nobody else.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use crate::StoreError;

const GROUP_OR_WORLD_WRITES: u32 = 0o022;
const GROUP_OR_WORLD: u32 = 0o077;

/// Makes the directory if it is missing, and checks it.
pub(crate) fn directory(path: &Path) -> Result<(), StoreError> {
    // An empty path is the parent of a bare file name.
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(failed("create the directory", path))?;
    let metadata = fs::metadata(path).map_err(failed("look at", path))?;
    if !metadata.is_dir() {
        return Err(StoreError::NotPrivate { path: path.to_owned(), problem: "it is not a directory".to_owned() });
    }
    owned(path, &metadata)?;
    if metadata.mode() & GROUP_OR_WORLD_WRITES != 0 {
        let problem = format!("others may write to it; run: chmod go-w {}", path.display());
        return Err(StoreError::NotPrivate { path: path.to_owned(), problem });
    }
    Ok(())
}

/// Checks a file that must exist.
pub(crate) fn file(path: &Path) -> Result<(), StoreError> {
    let metadata = fs::symlink_metadata(path).map_err(failed("look at", path))?;
    if !metadata.is_file() {
        // A link would let whoever owns its directory swap the database.
        return Err(StoreError::NotPrivate { path: path.to_owned(), problem: "it is not a regular file".to_owned() });
    }
    owned(path, &metadata)?;
    if metadata.mode() & GROUP_OR_WORLD != 0 {
        let problem = format!("others may use it; run: chmod 600 {}", path.display());
        return Err(StoreError::NotPrivate { path: path.to_owned(), problem });
    }
    Ok(())
}

/// Makes the file with mode 0600 if it is missing, and checks it otherwise. Says whether it was made.
pub(crate) fn file_or_new(path: &Path) -> Result<bool, StoreError> {
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => file(path).map(|()| false),
        Err(source) => Err(failed("create", path)(source)),
    }
}

/// Makes a directory entry durable, after a file was created or renamed in it.
pub(crate) fn sync_directory(path: &Path) -> Result<(), StoreError> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    File::open(path).and_then(|directory| directory.sync_all()).map_err(failed("sync", path))
}

pub(crate) fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> StoreError {
    move |source| StoreError::File { action, path: path.to_owned(), source }
}

fn owned(path: &Path, metadata: &fs::Metadata) -> Result<(), StoreError> {
    let me = rustix::process::geteuid().as_raw();
    if metadata.uid() == me {
        return Ok(());
    }
    let problem = format!("it belongs to user {}, this process runs as user {me}", metadata.uid());
    Err(StoreError::NotPrivate { path: path.to_owned(), problem })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn makes_private_files_and_refuses_open_ones() {
        let dir = tempfile::tempdir().unwrap();
        let inner = dir.path().join("deep").join("er");
        directory(&inner).unwrap();
        assert_eq!(fs::metadata(&inner).unwrap().mode() & 0o777, 0o700);
        let path = inner.join("file");
        assert!(file_or_new(&path).unwrap());
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert!(!file_or_new(&path).unwrap());
        for mode in [0o604, 0o620, 0o660, 0o666] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            assert!(matches!(file_or_new(&path), Err(StoreError::NotPrivate { .. })), "{mode:o}");
        }
        for mode in [0o720, 0o702, 0o777] {
            fs::set_permissions(&inner, fs::Permissions::from_mode(mode)).unwrap();
            assert!(matches!(directory(&inner), Err(StoreError::NotPrivate { .. })), "{mode:o}");
        }
    }

    #[test]
    fn refuses_links_and_directories() {
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().join("real");
        file_or_new(&real).unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&real, &link).unwrap();
        assert!(matches!(file_or_new(&link), Err(StoreError::NotPrivate { .. })));
        assert!(matches!(file(dir.path()), Err(StoreError::NotPrivate { .. })));
    }

    #[test]
    fn refuses_files_of_another_user() {
        // Only the superuser can give a file away; anyone else sees files of the superuser in plenty.
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        file_or_new(&path).unwrap();
        let foreign = match std::os::unix::fs::chown(&path, Some(65_534), None) {
            Ok(()) => path.as_path(),
            Err(_) => Path::new("/etc/passwd"),
        };
        let metadata = fs::metadata(foreign).unwrap();
        assert!(matches!(owned(foreign, &metadata), Err(StoreError::NotPrivate { .. })));
    }
}
