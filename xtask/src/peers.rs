//! Installs the outside peers under target/peers, once per set of versions.
//!
//! All pinned versions stand in the tables of this file. Packages come through the npm and pip
//! clients as they are configured on the machine; this file knows no registry.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::layout::Layout;
use crate::process;
use crate::tally::{brief, say};

/// The suites need Node 22; this package carries the program itself.
const NODE_PACKAGE: &str = "node@22.23.3";

/// One folder of npm packages.
struct NodeFolder {
    name: &'static str,
    packages: &'static [&'static str],
}

const NODE_FOLDERS: &[NodeFolder] = &[
    NodeFolder {
        name: "npm",
        packages: &[
            NODE_PACKAGE,
            "@modelcontextprotocol/conformance@0.2.0-alpha.12",
            "@modelcontextprotocol/sdk@1.32.2",
            "@modelcontextprotocol/client@2.4.0",
            "@modelcontextprotocol/server-everything@2026.8.31",
            "@modelcontextprotocol/server-filesystem@2026.8.31",
            "@modelcontextprotocol/server-memory@2026.8.31",
            "@modelcontextprotocol/server-sequential-thinking@2026.8.31",
        ],
    },
    // Apart from the others, because it brings its own copies of many of them.
    NodeFolder { name: "inspector", packages: &["@modelcontextprotocol/inspector@2.12.0"] },
    NodeFolder { name: "agents", packages: &["@anthropic-ai/claude-code@2.1.197", "@openai/codex@0.169.0"] },
];

/// One Python virtual environment.
struct PythonFolder {
    name: &'static str,
    packages: &'static [&'static str],
}

const PYTHON_FOLDERS: &[PythonFolder] = &[
    PythonFolder {
        name: "py2",
        packages: &[
            "mcp==2.3.0",
            "fastmcp==4.1.2",
            "mcp-server-time==2026.10.19",
            "mcp-server-git==2026.10.19",
            "mcp-server-fetch==2026.10.24",
        ],
    },
    // The sqlite server does not start with the 2.x library.
    PythonFolder { name: "py1", packages: &["mcp==1.30.0", "mcp-server-sqlite==2025.4.25"] },
];

const ATTEMPTS: u32 = 4;
const INSTALL_LIMIT: Duration = Duration::from_secs(900);
const STAMP: &str = "installed-versions";

/// Where the installed peers are.
#[derive(Debug, Clone)]
pub(crate) struct Peers {
    folder: PathBuf,
    node: PathBuf,
}

impl Peers {
    /// The Node program the suites run on.
    pub(crate) fn node(&self) -> &Path {
        &self.node
    }

    pub(crate) fn node_modules(&self) -> PathBuf {
        self.folder.join("npm/node_modules")
    }

    /// The entry file of one of the official servers or of the suite.
    pub(crate) fn official(&self, package: &str) -> PathBuf {
        self.node_modules().join("@modelcontextprotocol").join(package).join("dist/index.js")
    }

    pub(crate) fn inspector(&self) -> PathBuf {
        self.folder.join("inspector/node_modules/.bin/mcp-inspector")
    }

    /// The program of an agent.
    pub(crate) fn agent(&self, program: &str) -> PathBuf {
        self.folder.join("agents/node_modules/.bin").join(program)
    }

    /// A program of the environment with the 2.x library.
    pub(crate) fn python2(&self, program: &str) -> PathBuf {
        self.folder.join("py2/bin").join(program)
    }

    /// A program of the environment with the 1.x library.
    pub(crate) fn python1(&self, program: &str) -> PathBuf {
        self.folder.join("py1/bin").join(program)
    }
}

/// Installs whatever is missing or has another version than the tables say.
pub(crate) fn install(layout: &Layout) -> Result<Peers> {
    let folder = layout.peers();
    for node in NODE_FOLDERS {
        once(&folder.join(node.name), node.packages, |place| install_node(place, node.packages))?;
    }
    for python in PYTHON_FOLDERS {
        once(&folder.join(python.name), python.packages, |place| install_python(place, python.packages))?;
    }
    let node = node_program(&folder.join("npm/node_modules"))?;
    Ok(Peers { folder, node })
}

/// Runs `install` in an empty folder unless the stamp says that it already happened.
pub(crate) fn once(place: &Path, packages: &[&str], install: impl Fn(&Path) -> Result<()>) -> Result<()> {
    let wanted = packages.join("\n");
    let stamp = place.join(STAMP);
    if fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
        return Ok(());
    }
    say(&format!("installing into {}: {}", place.display(), packages.join(" ")));
    if place.exists() {
        fs::remove_dir_all(place).with_context(|| format!("clearing {}", place.display()))?;
    }
    fs::create_dir_all(place).with_context(|| format!("creating {}", place.display()))?;
    install(place)?;
    fs::write(&stamp, wanted).with_context(|| format!("writing {}", stamp.display()))
}

fn install_node(place: &Path, packages: &[&str]) -> Result<()> {
    install_npm(place, packages, &[])
}

/// The same without running what packages bring for their installation: they are strangers, and only list their tools.
pub(crate) fn install_scriptless(place: &Path, packages: &[&str]) -> Result<()> {
    install_npm(place, packages, &["--ignore-scripts"])
}

fn install_npm(place: &Path, packages: &[&str], options: &[&str]) -> Result<()> {
    require("node", &["--version"], "nodejs")?;
    require("npm", &["--version"], "npm")?;
    fs::write(place.join("package.json"), "{\"private\": true}\n")?;
    let arguments = ["install", "--no-audit", "--no-fund", "--save-exact", "--loglevel=error"];
    patiently(|| {
        let mut npm = Command::new("npm");
        npm.args(arguments).args(options).args(packages).current_dir(place);
        npm
    })
}

pub(crate) fn install_python(place: &Path, packages: &[&str]) -> Result<()> {
    require("python3", &["--version"], "python3")?;
    require("python3", &["-m", "venv", "--help"], "python3-venv")?;
    let made = process::quiet(Command::new("python3").args(["-m", "venv"]).arg(place), INSTALL_LIMIT)?;
    if !made.success {
        // Debian ships the venv module without what it needs to make one.
        bail!(
            "python3 -m venv failed (on Debian: apt-get install python3-venv): {}{}",
            made.stdout.trim(),
            made.stderr.trim()
        );
    }
    patiently(|| {
        let mut pip = Command::new(place.join("bin/python"));
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]).args(packages);
        pip
    })
}

/// Package indexes answer with an error now and then; a few tries with growing pauses get through.
fn patiently(command: impl Fn() -> Command) -> Result<()> {
    let mut pause = Duration::from_secs(5);
    let mut last = String::new();
    for attempt in 1..=ATTEMPTS {
        match process::quiet(&mut command(), INSTALL_LIMIT) {
            Ok(output) if output.success => return Ok(()),
            Ok(output) => last = format!("{}\n{}", output.stdout.trim(), output.stderr.trim()),
            Err(error) => last = format!("{error:#}"),
        }
        if attempt < ATTEMPTS {
            say(&format!("  attempt {attempt} failed, again in {} s: {}", pause.as_secs(), brief(&last, 200)));
            thread::sleep(pause);
            pause *= 3;
        }
    }
    bail!("installing failed {ATTEMPTS} times, the last time with:\n{last}")
}

fn require(program: &str, arguments: &[&str], package: &str) -> Result<()> {
    let found = process::quiet(Command::new(program).args(arguments), Duration::from_secs(60));
    if found.is_ok_and(|output| output.success) {
        return Ok(());
    }
    bail!("`{program} {}` does not work; on Debian: apt-get install {package}", arguments.join(" "))
}

fn node_program(modules: &Path) -> Result<PathBuf> {
    let own = modules.join("node/bin/node");
    if own.is_file() {
        return Ok(own);
    }
    // An npm client that runs no install scripts leaves the package empty; a Node of the machine
    // that is new enough does as well.
    let version = process::quiet(Command::new("node").arg("--version"), Duration::from_secs(60));
    let version = version.map(|output| output.stdout.trim().to_owned()).unwrap_or_default();
    let major: u32 = version.trim_start_matches('v').split('.').next().unwrap_or_default().parse().unwrap_or(0);
    if major >= 22 {
        return Ok(PathBuf::from("node"));
    }
    bail!("{NODE_PACKAGE} brought no program (install scripts may be switched off) and node {version} is older than 22")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_version_is_pinned() {
        for package in NODE_FOLDERS.iter().flat_map(|folder| folder.packages) {
            let (_, version) = package.rsplit_once('@').unwrap();
            assert_eq!(version.split(['.', '-']).count().max(3), version.split(['.', '-']).count(), "{package}");
        }
        for package in PYTHON_FOLDERS.iter().flat_map(|folder| folder.packages) {
            assert!(package.contains("=="), "{package}");
        }
    }
}
