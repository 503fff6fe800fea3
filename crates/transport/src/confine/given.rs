//! The files that a profile gives, opened before anything is changed.
//!
//! A server that may write somewhere can put a link there and wait for its next start. So no link is followed on the
//! way to what is given: a path that has one gives nothing. Everything later works on what was opened here.

use std::fs::File;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};

use super::profile::{ConfinementProfile, FileAccess};

/// What a profile gives.
#[derive(Debug, Default)]
pub(super) struct Given {
    pub(super) read: Vec<Place>,
    pub(super) write: Vec<Place>,
}

/// One file or folder.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) path: PathBuf,
    file: OwnedFd,
    pub(super) is_folder: bool,
}

impl Given {
    /// Opens everything that is there.
    pub(super) fn open(profile: &ConfinementProfile) -> Self {
        let FileAccess::Paths { read, write, .. } = &profile.files else { return Self::default() };
        let open = |paths: &[PathBuf]| paths.iter().filter_map(|path| Place::open(path)).collect();
        Self { read: open(read), write: open(write) }
    }
}

impl Place {
    /// Nothing, if it is not there or is reached by a link.
    pub(super) fn open(path: &Path) -> Option<Self> {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let file = rustix::fs::openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS).ok()?;
        let file = File::from(file);
        let is_folder = file.metadata().is_ok_and(|metadata| metadata.is_dir());
        Some(Self { path: path.to_path_buf(), file: file.into(), is_folder })
    }

    /// A name that leads to exactly this, whatever has happened to its path since.
    pub(super) fn name(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.file.as_raw_fd()))
    }
}

impl AsFd for Place {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
