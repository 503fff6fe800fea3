//! Which profile a server gets, from how far it is trusted, what it was granted and what the operator says of it.
//!
//! Pure. The table is that of MGP's isolation profiles. Grants and the operator's settings widen a profile only up to
//! the cap of its trust level; what goes beyond is cut, and the cut is told in the notes.

use std::path::{Path, PathBuf};

use switchboard_protocol::mgp::TrustLevel;

use super::host::HostRule;
use super::places::Places;
use super::profile::{ConfinementProfile, FileAccess, NetworkAccess, Scratch, Violation};

/// Which servers are confined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ConfinementMode {
    /// None. Said of one server it holds for that one whatever its trust; said of all, those that are not trusted
    /// stay confined.
    Off,
    /// Those that are experimental or not trusted.
    #[default]
    Untrusted,
    /// All but those at the level of the kernel itself.
    Trust,
}

/// Whether a server is to be confined, by what is said of all servers and of this one.
#[must_use]
pub fn confined(trust: TrustLevel, of_all: ConfinementMode, of_this: Option<ConfinementMode>) -> bool {
    let doubtful = trust <= TrustLevel::Experimental;
    match of_this {
        Some(ConfinementMode::Off) => false,
        Some(ConfinementMode::Trust) => trust < TrustLevel::Core,
        Some(ConfinementMode::Untrusted) => doubtful,
        None => doubtful || (of_all == ConfinementMode::Trust && trust < TrustLevel::Core),
    }
}

/// How much of the file system a server sees. Later ones are wider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FilesystemScope {
    /// What a program needs to run, and the program itself.
    None,
    /// Also its working folder and what it was granted, to be read.
    Readonly,
    /// Also a folder of its own and what it was granted, to be changed.
    Sandbox,
    /// Everything its user sees.
    Unrestricted,
}

/// How much of the network a server sees. Later ones are wider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NetworkScope {
    /// Nothing.
    None,
    /// The hosts it was granted, through the proxy.
    ProxyOnly,
    /// Everything.
    Unrestricted,
}

/// What the operator's configuration says of one server (`[servers.isolation]`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overrides {
    /// `memory_limit_mb`
    pub memory_limit_mb: Option<u64>,
    /// `cpu_time_limit_secs`
    pub cpu_time_limit_secs: Option<u64>,
    /// `filesystem_scope`
    pub filesystem_scope: Option<FilesystemScope>,
    /// `network_scope`
    pub network_scope: Option<NetworkScope>,
    /// `max_child_processes`
    pub max_child_processes: Option<u32>,
}

/// One granted permission with what it is limited to; without a scope it is not limited by the grant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfinementGrant {
    /// Such as `network.outbound`.
    pub permission: String,
    /// Hosts or paths, according to the permission.
    pub scope: Vec<String>,
}

/// A profile, and what could not be given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// What the process is held to.
    pub profile: ConfinementProfile,
    /// What was asked for and cut, in words for the operator.
    pub notes: Vec<String>,
}

/// The columns of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Level {
    memory_mb: u64,
    cpu_seconds: u64,
    files: FilesystemScope,
    network: NetworkScope,
    children: u32,
}

const STANDARD: Level = Level {
    memory_mb: 512,
    cpu_seconds: 60,
    files: FilesystemScope::Sandbox,
    network: NetworkScope::ProxyOnly,
    // The table says 1, its reference implementation 5. A package runner alone needs three: itself, a shell, the server.
    children: 5,
};
const EXPERIMENTAL: Level = Level {
    memory_mb: 256,
    cpu_seconds: 30,
    files: FilesystemScope::Readonly,
    network: NetworkScope::None,
    children: 0,
};
const UNTRUSTED: Level =
    Level { memory_mb: 128, cpu_seconds: 10, files: FilesystemScope::None, network: NetworkScope::None, children: 0 };
/// What the operator may give to a standard server: anything that is still a bound.
const STANDARD_CAP: Level = Level { memory_mb: 1 << 20, cpu_seconds: 86_400, children: 1_000, ..STANDARD };

impl Decision {
    /// The profile of a server at this level of trust.
    #[must_use]
    pub fn of(trust: TrustLevel, grants: &[ConfinementGrant], overrides: &Overrides, places: &Places) -> Self {
        let (start, cap) = match trust {
            TrustLevel::Core => return Self::of_core(overrides),
            TrustLevel::Standard => (STANDARD, STANDARD_CAP),
            TrustLevel::Experimental => (EXPERIMENTAL, STANDARD),
            TrustLevel::Untrusted => (UNTRUSTED, UNTRUSTED),
        };
        let mut notes = Vec::new();
        let level = overridden(widened(start, cap, grants), cap, overrides, trust, &mut notes);
        let strict = trust < TrustLevel::Standard;
        let mut decision = Self {
            profile: ConfinementProfile {
                memory_bytes: Some(level.memory_mb << 20),
                cpu_seconds: Some(level.cpu_seconds),
                processes: Some(level.children),
                open_files: Some(if strict { 256 } else { 4_096 }),
                files: files(level.files, strict, grants, places, &mut notes),
                network: network(level.network, grants, &mut notes),
                scratch: Some(Scratch {
                    at: places.sandbox.join("tmp"),
                    bytes: if strict { 16 << 20 } else { 256 << 20 },
                }),
                violation: if strict { Violation::Kill } else { Violation::Refuse },
                environment: environment(level, places),
                folders: vec![places.sandbox.clone(), places.sandbox.join("tmp"), places.sandbox.join("home")],
            },
            notes,
        };
        decision.notes.sort();
        decision.notes.dedup();
        decision
    }

    /// The kernel's own level has no bounds but those that the operator sets.
    fn of_core(overrides: &Overrides) -> Self {
        let mut notes = Vec::new();
        if overrides.filesystem_scope.is_some_and(|scope| scope < FilesystemScope::Unrestricted)
            || overrides.network_scope.is_some_and(|scope| scope < NetworkScope::Unrestricted)
        {
            notes.push("a trusted server has no scope of files or network: set its trust level to standard".to_owned());
        }
        let profile = ConfinementProfile {
            memory_bytes: overrides.memory_limit_mb.map(|mb| mb.saturating_mul(1 << 20)),
            cpu_seconds: overrides.cpu_time_limit_secs,
            processes: overrides.max_child_processes,
            ..ConfinementProfile::unrestricted()
        };
        Self { profile, notes }
    }
}

fn granted<'a>(grants: &'a [ConfinementGrant], permission: &'a str) -> impl Iterator<Item = &'a ConfinementGrant> {
    grants.iter().filter(move |grant| grant.permission == permission)
}

fn widened(mut level: Level, cap: Level, grants: &[ConfinementGrant]) -> Level {
    let has = |permission| granted(grants, permission).next().is_some();
    if has("network.outbound") {
        level.network = level.network.max(NetworkScope::ProxyOnly);
    }
    if has("filesystem.read") {
        level.files = level.files.max(FilesystemScope::Readonly);
    }
    if has("filesystem.write") {
        level.files = level.files.max(FilesystemScope::Sandbox);
    }
    if has("shell.execute") {
        level.children = level.children.max(1);
    }
    Level {
        files: level.files.min(cap.files),
        network: level.network.min(cap.network),
        children: level.children.min(cap.children),
        ..level
    }
}

fn overridden(level: Level, cap: Level, wish: &Overrides, trust: TrustLevel, notes: &mut Vec<String>) -> Level {
    fn within<T: PartialOrd + Copy + std::fmt::Debug>(
        wish: Option<T>,
        now: T,
        cap: T,
        (key, trust): (&str, TrustLevel),
        notes: &mut Vec<String>,
    ) -> T {
        match wish {
            Some(wish) if wish > cap => {
                notes.push(format!(
                    "{key} = {wish:?} is more than a server of trust `{trust}` may get: {cap:?} is used"
                ));
                cap
            }
            wish => wish.unwrap_or(now),
        }
    }
    let mut one = |wish, now, cap, key| within(wish, now, cap, (key, trust), notes);
    let memory_mb = one(wish.memory_limit_mb.map(|mb| mb.max(1)), level.memory_mb, cap.memory_mb, "memory_limit_mb");
    let seconds = wish.cpu_time_limit_secs.map(|seconds| seconds.max(1));
    let cpu_seconds = one(seconds, level.cpu_seconds, cap.cpu_seconds, "cpu_time_limit_secs");
    let children = wish.max_child_processes.map(u64::from);
    let children = one(children, level.children.into(), cap.children.into(), "max_child_processes");
    Level {
        memory_mb,
        cpu_seconds,
        children: u32::try_from(children).unwrap_or(cap.children),
        files: within(wish.filesystem_scope, level.files, cap.files, ("filesystem_scope", trust), notes),
        network: within(wish.network_scope, level.network, cap.network, ("network_scope", trust), notes),
    }
}

fn files(
    scope: FilesystemScope,
    strict: bool,
    grants: &[ConfinementGrant],
    places: &Places,
    notes: &mut Vec<String>,
) -> FileAccess {
    let (common, telling): (Vec<&PathBuf>, Vec<&PathBuf>) =
        places.runtime.iter().partition(|path| !places.holds_secrets(path));
    for path in telling {
        notes.push(format!(
            "{} is not given: it holds the home folder or Switchboard's own files, which should be elsewhere",
            path.display()
        ));
    }
    let mut read: Vec<PathBuf> = common.into_iter().chain(&places.program).cloned().collect();
    let mut write = Vec::new();
    if scope >= FilesystemScope::Readonly {
        read.extend(places.cwd.iter().filter(|cwd| places.may_give(cwd)).cloned());
        read.push(places.sandbox.clone());
        read.extend(scoped(grants, "filesystem.read", places, notes));
    }
    if scope >= FilesystemScope::Sandbox {
        write.push(places.sandbox.clone());
        write.extend(scoped(grants, "filesystem.write", places, notes));
        // A grant that names no path means the folder the server works in.
        if granted(grants, "filesystem.write").any(|grant| grant.scope.is_empty()) {
            write.extend(places.cwd.iter().filter(|cwd| places.may_give(cwd)).cloned());
        }
    }
    // Whoever can change a link chooses what it leads to.
    let fixed = |place: &PathBuf| !write.iter().any(|folder: &PathBuf| place.starts_with(folder));
    let linked = places.linked.iter().filter(|(links, _)| links.iter().all(fixed));
    read.extend(linked.map(|(_, target)| target.clone()));
    for list in [&mut read, &mut write] {
        list.sort();
        list.dedup();
    }
    FileAccess::Paths { read, write, run_written: !strict }
}

/// The folders that grants name and that may be given.
fn scoped(grants: &[ConfinementGrant], permission: &str, places: &Places, notes: &mut Vec<String>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for text in granted(grants, permission).flat_map(|grant| &grant.scope) {
        let plain = text.strip_suffix("/**").or_else(|| text.strip_suffix("/*")).unwrap_or(text);
        let path = match (plain.strip_prefix("~/"), &places.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => places.without_alias(Path::new(plain)),
        };
        if plain.contains(['*', '?', '[']) {
            notes.push(format!("{permission} for `{text}` is not given: only whole folders can be enforced"));
        } else if places.may_give(&path) {
            found.push(path);
        } else {
            notes.push(format!(
                "{permission} for `{text}` is not given: it is no absolute path, or it covers the home folder or \
                 Switchboard's own files"
            ));
        }
    }
    found
}

fn network(scope: NetworkScope, grants: &[ConfinementGrant], notes: &mut Vec<String>) -> NetworkAccess {
    if scope == NetworkScope::None {
        return NetworkAccess::None;
    }
    let mut hosts = Vec::new();
    for grant in granted(grants, "network.outbound") {
        if grant.scope.is_empty() {
            hosts.push(HostRule::anywhere());
        }
        for text in &grant.scope {
            match text.parse() {
                Ok(rule) => hosts.push(rule),
                Err(error) => notes.push(format!("network.outbound: {error}")),
            }
        }
    }
    // Without a host there is nothing to let through.
    if hosts.is_empty() { NetworkAccess::None } else { NetworkAccess::Hosts(hosts) }
}

/// Leads programs to the folders they may write, and engines to the memory they may use.
fn environment(level: Level, places: &Places) -> Vec<(String, String)> {
    let place = |name: &str| places.sandbox.join(name).display().to_string();
    let mut all = vec![
        ("HOME", place("home")),
        ("TMPDIR", place("tmp")),
        ("XDG_CACHE_HOME", place("home/.cache")),
        ("XDG_CONFIG_HOME", place("home/.config")),
        ("XDG_DATA_HOME", place("home/.local/share")),
        ("XDG_RUNTIME_DIR", place("tmp")),
        ("npm_config_cache", place("home/.npm")),
        ("UV_CACHE_DIR", place("home/.cache/uv")),
        // Links between its own folders are the only ones it could make.
        ("UV_LINK_MODE", "copy".to_owned()),
        // .NET keeps its code in shared memory, which has no bound and is not given.
        ("DOTNET_EnableWriteXorExecute", "0".to_owned()),
        // V8 sizes its heap by the machine's memory, and would meet the bound only by dying of it.
        ("NODE_OPTIONS", format!("--max-old-space-size={}", (level.memory_mb / 4 * 3).max(64))),
    ];
    if let Some(pythons) = places.home.as_deref().map(|home| home.join(".local/share/uv/python"))
        && places.runtime.iter().any(|known| pythons.starts_with(known))
    {
        all.push(("UV_PYTHON_INSTALL_DIR", pythons.display().to_string()));
    }
    all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

impl Places {
    /// Whether a folder may be given to a server at all. Nothing can be taken out of a folder that was given, so one
    /// that holds the home folder or our own files cannot be.
    #[must_use]
    pub fn may_give(&self, path: &Path) -> bool {
        let plain = path.is_absolute()
            && path.components().count() > 1
            && !path.components().any(|part| matches!(part, std::path::Component::ParentDir));
        let own = path.starts_with(&self.sandbox);
        let inside = self.private.iter().any(|private| path.starts_with(private));
        plain && !self.holds_secrets(path) && (own || !inside)
    }

    /// Whether the home folder or files of ours are in it.
    fn holds_secrets(&self, path: &Path) -> bool {
        self.home.iter().chain(&self.private).any(|other| other.starts_with(path))
    }
}

#[cfg(test)]
#[path = "decide/tests.rs"]
mod tests;
