//! Servers that come while the kernel runs, on this machine: how they are started, and where those are kept that stay.
//!
//! All of them are confined, whatever the configuration says of others. A tool that an agent wrote gets less than any
//! other server: no folder, no network, no process beside its own.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use switchboard_config::{IsolationMode, RegistrySettings, Settings};
use switchboard_kernel::{
    Builder, Creating, Isolation, Lifetime, Registering, Restart, Run, ServerOffers, ServerPolicy, ServerRegistration,
    ServerSource, ServerSpec, Sharing, Upkeep,
};
use switchboard_peer::client::{EraChoice, Target};
use switchboard_transport::child::CommandSpec;
use switchboard_transport::confine::{ConfinementMode, FilesystemScope, NetworkScope, Overrides};
use switchboard_validators::code::{Language, Level};

use crate::registry::reader::Reader;
use crate::registry::source::Registry;

/// The file of those that stay, in the data folder.
const FILE: &str = "registered.json";
/// Where the folders of servers are, in the data folder.
const SANDBOXES: &str = "sandboxes";
/// What the folder of written tools begins with, before the number of the process. No id of a server has an `@`.
const WRITTEN: &str = "written@";

/// What the kernel is told of servers that may come.
pub(crate) fn offers(settings: &Settings, data_dir: &Path) -> ServerOffers {
    let said = &settings.discovery;
    let register = said.register.enabled.then(|| Registering {
        principals: said.register.principals.clone(),
        trust: said.register.trust,
        programs: said.register.programs.clone(),
        approved: said.register.approved.clone(),
        most: said.register.most,
    });
    let create = said.create.enabled.then(|| Creating {
        principals: said.create.principals.clone(),
        trust: said.create.trust,
        level: Level::from_name(&said.create.level),
        most: said.create.most,
        idle: said.create.idle,
    });
    let source = |registry: &RegistrySettings| -> Option<Arc<dyn ServerSource>> {
        match Reader::of(registry) {
            Ok(reader) => Some(Arc::new(Registry::new(reader))),
            Err(error) => {
                tracing::warn!("{error}");
                None
            }
        }
    };
    if create.is_some() {
        remove_left_behind(data_dir);
    }
    let server_builder =
        Workshop { settings: settings.clone(), data_dir: data_dir.to_owned(), writing: Mutex::default() };
    ServerOffers {
        register,
        create,
        builder: Some(Arc::new(server_builder)),
        sources: said.registries.iter().filter_map(source).collect(),
    }
}

/// Removes the folders of written tools whose process is gone.
fn remove_left_behind(data_dir: &Path) {
    let Ok(folders) = std::fs::read_dir(data_dir.join(SANDBOXES)) else { return };
    for folder in folders.filter_map(Result::ok) {
        let name = folder.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix(WRITTEN)?.parse().ok());
        let Some(process) = number.and_then(rustix::process::Pid::from_raw) else { continue };
        if rustix::process::test_kill_process(process) == Err(rustix::io::Errno::SRCH) {
            let _ = std::fs::remove_dir_all(folder.path());
        }
    }
}

/// Those that were registered to stay.
pub(crate) fn kept(data_dir: &Path) -> Vec<ServerRegistration> {
    let file = data_dir.join(FILE);
    let Ok(text) = std::fs::read_to_string(&file) else { return Vec::new() };
    serde_json::from_str(&text).unwrap_or_else(|error| {
        tracing::warn!(file = %file.display(), %error, "registered servers are left out: their file cannot be read");
        Vec::new()
    })
}

/// Forgets one that was registered to stay; `false` if there is none.
pub(crate) fn forget(settings: &Settings, data_dir: &Path, id: &str) -> bool {
    let server_builder =
        Workshop { settings: settings.clone(), data_dir: data_dir.to_owned(), writing: Mutex::default() };
    let known = kept(data_dir).iter().any(|kept| kept.id == id);
    if known {
        server_builder.change(|all| all.retain(|other| other.id != id));
    }
    known
}

/// Builds servers on this machine.
#[derive(Debug)]
struct Workshop {
    settings: Settings,
    data_dir: PathBuf,
    /// Keeps changes of the file in order.
    writing: Mutex<()>,
}

impl Workshop {
    /// The program that runs a language, with what goes before the code around it.
    fn interpreter(&self, language: Language) -> Result<(PathBuf, &'static [&'static str]), String> {
        let said = &self.settings.discovery.create;
        let (name, key, flags): (_, _, &[&str]) = match language {
            Language::Python => (&said.python, "python", &["-I", "-B", "-c"]),
            Language::JavaScript => (&said.javascript, "javascript", &["-e"]),
            _ => return Err("only Python and JavaScript can be run".to_owned()),
        };
        if name.is_empty() {
            return Err(format!("the operator wants no {key} here"));
        }
        let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.parent().is_some());
        let found = find(name, &std::env::var_os("PATH").unwrap_or_default(), home.as_deref());
        let found = found.ok_or_else(|| {
            format!("there is no program `{name}` for {key} on this machine; the operator names one with `{key}` of `[discovery.create]`")
        })?;
        Ok((found, flags))
    }

    /// The folder of a server. Those of tools that were written are this process's own, because nobody needs them later.
    fn sandbox(&self, registration: &ServerRegistration) -> PathBuf {
        let all = self.data_dir.join(SANDBOXES);
        match registration.run {
            Run::Command(_) => all.join(&registration.id),
            Run::Code { .. } => all.join(format!("{WRITTEN}{}", std::process::id())).join(&registration.id),
        }
    }

    fn isolation(&self, registration: &ServerRegistration) -> Isolation {
        let overrides = match registration.run {
            Run::Command(_) => Overrides::default(),
            Run::Code { .. } => Overrides {
                filesystem_scope: Some(FilesystemScope::None),
                network_scope: Some(NetworkScope::None),
                max_child_processes: Some(0),
                ..Overrides::default()
            },
        };
        let environment = switchboard_config::Environment::of_process();
        let user = switchboard_config::user_config_file(&environment);
        let mut private = vec![self.data_dir.clone()];
        private.extend(user.and_then(|file| file.parent().map(Path::to_owned)));
        Isolation {
            of_all: match self.settings.isolation {
                IsolationMode::Off => ConfinementMode::Off,
                IsolationMode::Untrusted => ConfinementMode::Untrusted,
                IsolationMode::Trust => ConfinementMode::Trust,
            },
            of_this: Some(ConfinementMode::Trust),
            overrides,
            home: std::env::var_os("HOME").map(PathBuf::from),
            sandbox: self.sandbox(registration),
            private,
        }
    }

    fn change(&self, change: impl FnOnce(&mut Vec<ServerRegistration>)) {
        let _writing = self.writing.lock();
        let mut all = kept(&self.data_dir);
        change(&mut all);
        let write = || -> std::io::Result<()> {
            use std::os::unix::fs::OpenOptionsExt as _;
            let text = serde_json::to_string_pretty(&all)?;
            let new = self.data_dir.join(format!("{FILE}.{}", std::process::id()));
            let mut file =
                std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
            std::io::Write::write_all(&mut file, text.as_bytes())?;
            file.sync_all()?;
            std::fs::rename(new, self.data_dir.join(FILE))
        };
        if let Err(error) = write() {
            tracing::error!(%error, "which servers are registered to stay could not be kept");
        }
    }
}

impl Builder for Workshop {
    fn build(&self, registration: &ServerRegistration) -> Result<ServerSpec, String> {
        let (program, args, env) = match &registration.run {
            Run::Command(words) => {
                let (program, args) = words.split_first().ok_or("there is no command")?;
                (program.clone(), args.to_vec(), Vec::new())
            }
            Run::Code { harness, tool, .. } => {
                let language = registration.language().ok_or("its language is not known")?;
                let (program, flags) = self.interpreter(language)?;
                let args = flags.iter().copied().chain([harness.as_str()]).map(str::to_owned).collect();
                (program.display().to_string(), args, vec![(Run::TOOL.to_owned(), tool.clone())])
            }
        };
        let limits = &self.settings.limits;
        let fingerprint = format!("{:?}", (&registration.id, &registration.run, switchboard_peer::random_token()));
        Ok(ServerSpec {
            id: registration.id.as_str().into(),
            target: Target::Command(CommandSpec { program, args, env, ..CommandSpec::default() }),
            // What is around a tool that was written is our own, and we know what it speaks.
            era: if registration.language().is_some() { EraChoice::Legacy } else { EraChoice::Auto },
            sharing: Sharing::Shared,
            start_timeout: limits.start_timeout,
            call_timeout: limits.call_timeout,
            restart: Restart::OnFailure,
            upkeep: Upkeep { stop_timeout: limits.stop_timeout, ..Upkeep::default() },
            fingerprint,
            isolation: Some(self.isolation(registration)),
            policy: Arc::new(ServerPolicy::default()),
        })
    }

    fn runs(&self, language: Language) -> Result<(), String> {
        self.interpreter(language).map(drop)
    }

    fn keep(&self, registration: &ServerRegistration) {
        self.change(|all| {
            all.retain(|other| other.id != registration.id);
            all.push(registration.clone());
        });
    }

    fn retired(&self, registration: &ServerRegistration) {
        if registration.lifetime == Lifetime::Persistent {
            self.change(|all| all.retain(|other| other.id != registration.id));
        }
        if let Run::Code { .. } = registration.run {
            // What cannot be removed now goes with the rest at the next start.
            let _ = std::fs::remove_dir_all(self.sandbox(registration));
        }
    }
}

/// A program by its name or path. One that is a script is passed over: what version managers put in the way of an
/// interpreter starts other programs first, and a confined server may start none.
fn find(name: &str, path: &std::ffi::OsStr, home: Option<&Path>) -> Option<PathBuf> {
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(|file| file.is_file());
    }
    // One in the home folder, where version managers keep theirs, has its library there too, which a confined server
    // does not see: it is taken only where there is no other.
    let in_home = |file: &PathBuf| {
        let real = std::fs::canonicalize(file).unwrap_or_else(|_| file.clone());
        home.is_some_and(|home| real.starts_with(home) || file.starts_with(home))
    };
    let usual = ["/usr/local/bin", "/usr/bin", "/bin"].map(PathBuf::from);
    let mut found: Vec<PathBuf> = std::env::split_paths(path)
        .chain(usual)
        .map(|folder| folder.join(name))
        .filter(|file| file.is_file() && !is_script(file))
        .collect();
    found.sort_by_key(in_home);
    found.into_iter().next()
}

fn is_script(file: &Path) -> bool {
    use std::io::Read as _;
    let mut first = [0; 2];
    std::fs::File::open(file).and_then(|mut file| file.read_exact(&mut first)).is_ok_and(|()| &first == b"#!")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_no_interpreters() {
        let folder = tempfile::tempdir().unwrap();
        let (shims, real) = (folder.path().join("shims"), folder.path().join("real"));
        for (place, text) in [(&shims, "#!/bin/sh\n"), (&real, "\x7fELF")] {
            std::fs::create_dir(place).unwrap();
            std::fs::write(place.join("tongue"), text).unwrap();
        }
        let path = std::env::join_paths([&shims, &real]).unwrap();
        assert_eq!(find("tongue", &path, None), Some(real.join("tongue")));
        assert_eq!(find("other", &path, None), None);
        // What stands in the home folder gives way to what does not, whatever comes first.
        let system = folder.path().join("system");
        std::fs::create_dir(&system).unwrap();
        std::fs::write(system.join("tongue"), "\x7fELF").unwrap();
        let both = std::env::join_paths([&real, &system]).unwrap();
        let home = std::fs::canonicalize(&real).unwrap();
        assert_eq!(find("tongue", &both, Some(&home)), Some(system.join("tongue")));
        assert_eq!(find("tongue", &both, None), Some(real.join("tongue")));
        assert_eq!(find("tongue", &path, Some(&home)), Some(real.join("tongue")), "better than none");
    }

    #[test]
    fn what_is_to_stay_is_kept_and_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let server_builder =
            Workshop { settings: Settings::default(), data_dir: folder.path().to_owned(), writing: Mutex::default() };
        let registration = |id: &str| ServerRegistration {
            id: id.to_owned(),
            run: Run::Command(vec!["x".to_owned()]),
            principal: "bot".to_owned(),
            trust: "sandboxed".to_owned(),
            permissions_required: Vec::new(),
            justification: None,
            lifetime: Lifetime::Persistent,
        };
        server_builder.keep(&registration("a"));
        server_builder.keep(&registration("b"));
        server_builder.keep(&registration("a"));
        assert_eq!(kept(folder.path()).len(), 2);
        server_builder.retired(&registration("a"));
        assert_eq!(kept(folder.path()), [registration("b")]);
        std::fs::write(folder.path().join(FILE), "{").unwrap();
        assert_eq!(kept(folder.path()), []);
    }

    #[test]
    fn folders_of_processes_that_are_gone_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: String| folder.path().join(SANDBOXES).join(name);
        let (own, gone, server) = (
            place(format!("{WRITTEN}{}", std::process::id())),
            place(format!("{WRITTEN}999999999")),
            place("a".to_owned()),
        );
        for place in [&own, &gone, &server] {
            std::fs::create_dir_all(place.join("tmp")).unwrap();
        }
        remove_left_behind(folder.path());
        assert!(own.is_dir() && server.is_dir() && !gone.exists());
    }

    #[test]
    fn nothing_that_comes_later_runs_unconfined() {
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings { isolation: IsolationMode::Off, ..Settings::default() };
        let server_builder = Workshop { settings, data_dir: folder.path().to_owned(), writing: Mutex::default() };
        let registration = ServerRegistration {
            id: "a".to_owned(),
            run: Run::Command(vec!["x".to_owned()]),
            principal: "bot".to_owned(),
            trust: "standard".to_owned(),
            permissions_required: Vec::new(),
            justification: None,
            lifetime: Lifetime::Session,
        };
        let spec = server_builder.build(&registration).unwrap();
        assert_eq!(spec.isolation.unwrap().of_this, Some(ConfinementMode::Trust));
    }
}
