//! Landlock: which files can be opened, which ports connected to, and who can be signalled.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, NetPort, PathBeneath, Ruleset,
    RulesetAttr as _, RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope,
};

use super::given::{Given, Place};
use super::profile::{ConfinementProfile, FileAccess, NetworkAccess};

/// The first version that also guards truncation: with less, a file that may be read could be emptied.
pub(super) const LEAST: u32 = 3;
/// The first version that guards ports.
pub(super) const PORTS: u32 = 4;
/// The first version that keeps signals and abstract sockets inside.
pub(super) const SCOPES: u32 = 6;

const KNOWN: &[(u32, ABI)] = &[(6, ABI::V6), (5, ABI::V5), (4, ABI::V4), (3, ABI::V3), (2, ABI::V2), (1, ABI::V1)];

/// The newest version that this system has, of those that are known here.
pub(super) fn version() -> u32 {
    let has = |version: &(u32, ABI)| {
        let mut rules = Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_all(version.1))?;
        if version.0 >= PORTS {
            rules = rules.handle_access(AccessNet::from_all(version.1))?;
        }
        if version.0 >= SCOPES {
            rules = rules.scope(Scope::from_all(version.1))?;
        }
        rules.create().map(drop)
    };
    KNOWN.iter().find(|version| has(version).is_ok()).map_or(0, |(version, _)| *version)
}

/// What everybody may open to write to.
const DEVICES: &[&str] = &["/dev/null"];
/// What everybody may read. `/dev/zero` is missing: mapped, it is memory that nobody counts.
const SOURCES: &[&str] = &["/dev/null", "/dev/random", "/dev/urandom"];

/// Restricts this process to its profile. `scratch` is where its temporary files are.
pub(super) fn restrict(
    profile: &ConfinementProfile,
    version: u32,
    given: &Given,
    scratch: &[PathBuf],
    proxy_port: Option<u16>,
) -> Result<(), RulesetError> {
    let abi = KNOWN.iter().find(|(known, _)| *known <= version).map_or(ABI::V1, |(_, abi)| *abi);
    let mut rules = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    let files = matches!(profile.files, FileAccess::Paths { .. });
    let ports = version >= PORTS && profile.network != NetworkAccess::Unrestricted;
    if files {
        rules = rules.handle_access(AccessFs::from_all(abi))?;
    }
    if ports {
        rules = rules.handle_access(AccessNet::from_all(abi))?;
    }
    if version >= SCOPES {
        rules = rules.scope(Scope::from_all(abi))?;
    }
    if !files && !ports && version < SCOPES {
        return Ok(());
    }
    let mut rules = rules.create()?;
    if let FileAccess::Paths { run_written, .. } = &profile.files {
        let reading = AccessFs::from_read(abi);
        let look = AccessFs::ReadFile | AccessFs::ReadDir;
        let mut writing = AccessFs::from_all(abi);
        // Neither devices nor sockets are anything a server has to make, and no device is driven.
        writing &= !(AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::MakeSock | AccessFs::IoctlDev);
        let unrun = writing & !BitFlags::from(AccessFs::Execute);
        let own = PathBuf::from(format!("/proc/{}", std::process::id()));
        let writing = if *run_written { writing } else { unrun };
        rules = add(rules, &given.read, reading)?;
        rules = add(rules, &given.write, writing)?;
        rules = add(rules, &opened(scratch), writing)?;
        rules = add(rules, &opened(&[own]), look)?;
        rules = add(rules, &opened(SOURCES), AccessFs::ReadFile.into())?;
        rules = add(rules, &opened(DEVICES), AccessFs::ReadFile | AccessFs::WriteFile)?;
    }
    if let Some(port) = proxy_port.filter(|_| ports) {
        rules = rules.add_rule(NetPort::new(port, AccessNet::ConnectTcp))?;
    }
    let status = rules.restrict_self()?;
    // The hard requirement above leaves nothing else.
    debug_assert_eq!(status.ruleset, RulesetStatus::FullyEnforced);
    Ok(())
}

type Created = landlock::RulesetCreated;

fn opened(paths: &[impl AsRef<Path>]) -> Vec<Place> {
    paths.iter().filter_map(|path| Place::open(path.as_ref())).collect()
}

fn add(mut rules: Created, places: &[Place], access: BitFlags<AccessFs>) -> Result<Created, RulesetError> {
    let of_files = AccessFs::from_file(ABI::V6);
    for place in places {
        let access = if place.is_folder { access } else { access & of_files };
        rules = rules.add_rule(PathBeneath::new(place, access))?;
    }
    Ok(rules)
}
