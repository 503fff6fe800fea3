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
/// kept as `<name>.bak-<stamp>`, whose path is returned.
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
            let path = with_suffix(&target, &format!(".bak-{stamp}"));
            write_new(&path, &bytes).map_err(|source| WriteError::Io { path: path.clone(), source })?;
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
