//! Where things are: the workspace root, the target folder, the binaries under test.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::process;

/// A build of everything on two cores from nothing takes minutes; an hour means it hangs.
const BUILD_LIMIT: Duration = Duration::from_secs(3600);

/// The folders the tasks work in.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    pub(crate) root: PathBuf,
    pub(crate) target: PathBuf,
}

impl Layout {
    pub(crate) fn find() -> Result<Self> {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = manifest.parent().context("xtask has no parent folder")?.to_owned();
        let target = match std::env::var_os("CARGO_TARGET_DIR") {
            Some(folder) => root.join(folder),
            None => root.join("target"),
        };
        Ok(Self { root, target })
    }

    pub(crate) fn peers(&self) -> PathBuf {
        self.target.join("peers")
    }

    /// A fresh folder for the files of one run, under target/ so that nothing is left elsewhere.
    pub(crate) fn scratch(&self, name: &str) -> Result<PathBuf> {
        let folder = self.target.join("xtask").join(name);
        if folder.exists() {
            std::fs::remove_dir_all(&folder).with_context(|| format!("clearing {}", folder.display()))?;
        }
        std::fs::create_dir_all(&folder).with_context(|| format!("creating {}", folder.display()))?;
        Ok(folder)
    }

    pub(crate) fn kernel(&self) -> Result<PathBuf> {
        self.built("switchboard")
    }

    pub(crate) fn rmcp_peer(&self) -> Result<PathBuf> {
        self.built("rmcp-peer")
    }

    pub(crate) fn fixture_server(&self) -> Result<PathBuf> {
        self.built("examples/conformance-server")
    }

    pub(crate) fn fixture_client(&self) -> Result<PathBuf> {
        self.built("examples/conformance-client")
    }

    pub(crate) fn built(&self, name: &str) -> Result<PathBuf> {
        let path = self.target.join("debug").join(name);
        if !path.is_file() {
            bail!("{} is not built", path.display());
        }
        Ok(path)
    }

    /// Builds what the suites start, in the dev profile because it compiles fast.
    pub(crate) fn build_binaries(&self) -> Result<()> {
        // The whole workspace at once: some crates alone would have their dependencies built again with other features.
        self.cargo(&["build", "--locked", "--workspace", "--bins", "--examples"])
    }

    pub(crate) fn build_rmcp_peer(&self) -> Result<()> {
        self.cargo(&["build", "-p", "interop-rmcp"])
    }

    pub(crate) fn cargo(&self, arguments: &[&str]) -> Result<()> {
        self.cargo_with(arguments, &[])
    }

    /// The same, with variables of its own.
    pub(crate) fn cargo_with(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Result<()> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = std::process::Command::new(cargo);
        command.args(arguments).envs(variables.iter().copied()).current_dir(&self.root);
        process::visible(&mut command, BUILD_LIMIT)
    }
}
