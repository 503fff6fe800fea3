//! Reading a configuration file that nobody else can change, and replacing one without ever leaving half of it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::error::{ConfigError, ErrorKind};

/// Bytes of a configuration file at most.
pub(crate) const MAX_BYTES: u64 = 4 << 20;

/// Reads a configuration file after checking that only its owner, who is this user or root, can change it.
///
/// # Errors
/// When it is missing, not a plain file, too large, not UTF-8, or others may write to it.
pub fn read_checked(path: &Path) -> Result<String, ConfigError> {
    let fail = |kind| ConfigError::new(path, kind);
    let broken = |error: &io::Error| match error.kind() {
        io::ErrorKind::NotFound => fail(ErrorKind::NotFound),
        _ => fail(ErrorKind::Unreadable(error.to_string())),
    };
    // Opening a pipe would wait for its other end, so the kind is asked before; the rights are asked of the open file.
    if !fs::metadata(path).map_err(|error| broken(&error))?.is_file() {
        return Err(fail(ErrorKind::NotAFile));
    }
    let file = File::open(path).map_err(|error| broken(&error))?;
    let metadata = file.metadata().map_err(|error| broken(&error))?;
    check_rights(&metadata).map_err(fail)?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| broken(&error))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(fail(ErrorKind::TooLarge { limit: MAX_BYTES }));
    }
    String::from_utf8(bytes).map_err(|error| {
        let line =
            error.as_bytes()[..error.utf8_error().valid_up_to()].iter().filter(|&&byte| byte == b'\n').count() + 1;
        fail(ErrorKind::Unreadable(format!("line {line} is not UTF-8")))
    })
}

#[cfg(unix)]
fn check_rights(metadata: &fs::Metadata) -> Result<(), ErrorKind> {
    use std::os::unix::fs::MetadataExt;
    let (owner, mode) = (metadata.uid(), metadata.mode() & 0o7777);
    // Root can change every file anyway, and mounted configuration is often root's.
    if owner != 0 && owner != rustix::process::geteuid().as_raw() {
        return Err(ErrorKind::OwnedByAnother { owner });
    }
    if mode & 0o022 != 0 {
        return Err(ErrorKind::WritableByOthers { mode });
    }
    Ok(())
}

#[cfg(not(unix))]
fn check_rights(_: &fs::Metadata) -> Result<(), ErrorKind> {
    Ok(())
}

/// Why a file could not be replaced.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The file is not what it was when it was read.
    #[error("{0} was changed by someone else meanwhile; nothing was written. Run the command again")]
    Changed(PathBuf),
    /// The disk said no.
    #[error("{path} could not be written")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// Replaces `path` by `text` in one step, with the rights that the file had; a new one is readable only by its owner. `before` is the text that was read (`None` for a file
/// that was not there): when the file no longer says that, nothing is written. With `stamp`, the old file is first
/// kept as `<name>.bak-<stamp>`, readable only by its owner, and its path is returned. Of earlier ones the newest few stay, and the
/// first: that is the file as it was before anything was changed.
///
/// # Errors
/// When the file changed meanwhile or cannot be written.
pub fn write_replacing(
    path: &Path,
    before: Option<&str>,
    text: &str,
    stamp: Option<&str>,
) -> Result<Option<PathBuf>, WriteError> {
    // A link is followed, so that a file kept elsewhere stays a link.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let failed = |source| WriteError::Io { path: target.clone(), source };
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    create_private_folder(folder).map_err(failed)?;
    let now = match fs::read(&target) {
        Ok(bytes) => Some(bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(failed(error)),
    };
    if now.as_deref() != before.map(str::as_bytes) {
        return Err(WriteError::Changed(target));
    }
    let backup = match (stamp, now) {
        (Some(stamp), Some(bytes)) => {
            let path = with_suffix(&target, &format!("{BACKUP}{stamp}"));
            write_new(&path, &bytes).map_err(|source| WriteError::Io { path: path.clone(), source })?;
            // One too many does no harm.
            for old in superfluous(backups_of(&target)) {
                let _ = fs::remove_file(old);
            }
            Some(path)
        }
        _ => None,
    };
    let temporary = new_neighbour(&target, text.as_bytes()).map_err(failed)?;
    // Who could read it can still read it: a client may run as somebody else.
    if let Ok(metadata) = fs::metadata(&target) {
        let _ = fs::set_permissions(&temporary, metadata.permissions());
    }
    let written = fs::rename(&temporary, &target);
    if let Err(error) = written {
        // Best effort: the first error is the one to report.
        let _ = fs::remove_file(&temporary);
        return Err(failed(error));
    }
    // The rename itself is durable only once the folder is; some file systems refuse to sync a folder, which is no loss.
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
    Ok(backup)
}

/// Backups of one file that stay, beside the first.
const KEPT_BACKUPS: usize = 5;
/// What stands between the name of a file and the time at which it was kept.
const BACKUP: &str = ".bak-";

/// The backups of a file that were made here, the oldest first.
#[must_use]
pub fn backups_of(path: &Path) -> Vec<PathBuf> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let (Some(folder), Some(name)) = (target.parent(), target.file_name().and_then(|name| name.to_str())) else {
        return Vec::new();
    };
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let stamp = |path: &Path| -> Option<(u64, u64)> {
        let stamp = path.file_name()?.to_str()?.strip_prefix(name)?.strip_prefix(BACKUP)?;
        let (seconds, millis) = stamp.split_once('-')?;
        let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?;
        Some((number(seconds)?, number(millis)?))
    };
    let paths = entries.flatten().map(|entry| entry.path());
    let mut backups: Vec<_> = paths.filter_map(|path| Some((stamp(&path)?, path))).collect();
    backups.sort();
    backups.into_iter().map(|(_, path)| path).collect()
}

/// Those between the first and the newest few.
fn superfluous(backups: Vec<PathBuf>) -> impl Iterator<Item = PathBuf> {
    let most = backups.len().saturating_sub(KEPT_BACKUPS);
    backups.into_iter().take(most).skip(1)
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(suffix);
    path.with_file_name(name)
}

/// Writes a file beside the target under a name that is free; one left by a crash stands in nobody's way.
fn new_neighbour(target: &Path, bytes: &[u8]) -> io::Result<PathBuf> {
    const ATTEMPTS: u32 = 16;
    let mut attempt = 0;
    loop {
        let path = with_suffix(target, &format!(".new-{}-{attempt}", std::process::id()));
        match write_new(&path, bytes) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < ATTEMPTS => attempt += 1,
            Err(error) => {
                if error.kind() != io::ErrorKind::AlreadyExists {
                    // Best effort: a half-written file is of no use to anyone.
                    let _ = fs::remove_file(&path);
                }
                return Err(error);
            }
        }
    }
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Creates a folder and those above it, only for this user; an existing one is left as it is.
pub(crate) fn create_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_backups_the_first_and_the_newest_few_stay() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("servers.toml");
        let others = ["servers.toml.bak-mine", "servers.toml.bak-1-2-3", "other.toml.bak-1-001", "servers.toml.bak"];
        others.iter().for_each(|name| fs::write(folder.path().join(name), "mine").unwrap());
        fs::write(&file, "0").unwrap();
        for number in 1..=20 {
            let (before, after) = ((number - 1).to_string(), number.to_string());
            let stamp = format!("{}-{:03}", 1_700_000_000 + number * 7, number % 3);
            let kept = write_replacing(&file, Some(&before), &after, Some(&stamp)).unwrap().unwrap();
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt as _;
                assert_eq!(fs::metadata(&kept).unwrap().permissions().mode() & 0o777, 0o600);
            }
        }
        let said: Vec<String> = backups_of(&file).iter().map(|path| fs::read_to_string(path).unwrap()).collect();
        assert_eq!(said, ["0", "15", "16", "17", "18", "19"]);
        assert!(others.iter().all(|name| folder.path().join(name).is_file()), "what is not ours stays");
    }
}
