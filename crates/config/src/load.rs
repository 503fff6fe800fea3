//! Finding the files, reading them, and making one configuration of them.
//!
//! Search order (MGP 15.2, with the merge decided here):
//! 1. A file named with `--config` is the operator's word and is read alone.
//! 2. Else, when `MGP_CONFIG_PATH` is set, the file it names is read alone.
//! 3. Else the user's file and `./mgp.toml` are both read; either may be missing. The project's file came with the project:
//!    only its servers count, not its settings; they start nothing until each was trusted; and where an id is in both
//!    files, the project's server takes the place of the user's only once it is trusted. A project file that cannot be
//!    read is reported and left out, so that it cannot take the user's own servers away.

use std::path::{Path, PathBuf};

use crate::error::{ConfigError, ErrorKind};
use crate::expand::Environment;
use crate::file::read_checked;
use crate::parse::{Config, Taken};
use crate::pins::keep_stricter;
use crate::places::{Platform, default_data_dir, user_config_file, with_home};
use crate::server::{Origin, Server};
use crate::trust::Trust;

/// What the search starts from.
#[derive(Debug, Clone)]
pub struct Sources {
    /// The path given with `--config`.
    pub explicit: Option<PathBuf>,
    /// The working folder, where `./mgp.toml` is looked for. Must be absolute.
    pub folder: PathBuf,
    /// The environment.
    pub environment: Environment,
}

/// A file that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadedFile {
    /// Its path.
    pub path: PathBuf,
    /// How it was found.
    pub origin: Origin,
    /// Why it was left out, if it was; only a project file can be.
    pub error: Option<ConfigError>,
}

/// What the search brought.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The one configuration.
    pub config: Config,
    /// The files found, in the order they were read.
    pub files: Vec<LoadedFile>,
    /// Paths whose appearance or change should lead to another load.
    pub watch: Vec<PathBuf>,
    /// What deserves a look, ready to print. Faults of single servers are in [`Config::errors`] instead.
    pub warnings: Vec<String>,
    /// Where state is kept.
    pub data_dir: PathBuf,
    /// Project servers that wait for an approval, also those that a user's server of the same id stands in for.
    pub untrusted: Vec<Server>,
}

/// Finds and reads the configuration. Without any file the result is the default one, with no server.
///
/// ```no_run
/// use switchboard_config::{Environment, Sources, load};
///
/// let sources = Sources { explicit: None, folder: std::env::current_dir()?, environment: Environment::of_process() };
/// let loaded = load(&sources)?;
/// for server in &loaded.config.servers {
///     match server.endpoint() {
///         Ok(_) => println!("{}: {}", server.id(), server.entry.safe_line()),
///         Err(problem) => println!("{problem}"),
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// When a file that the operator or the user wrote cannot be used, or a named one is missing.
pub fn load(sources: &Sources) -> Result<Loaded, ConfigError> {
    let environment = &sources.environment;
    let named = match (&sources.explicit, environment.filled("MGP_CONFIG_PATH")) {
        (Some(path), _) => Some((path.clone(), Origin::Explicit)),
        (None, Some(path)) => Some((PathBuf::from(with_home(path, environment)), Origin::Environment)),
        (None, None) => None,
    };
    if let Some((path, origin)) = named {
        let path = sources.folder.join(path);
        let (config, _) = read(origin, &path, environment)?;
        return Ok(Loaded::of(
            config,
            vec![LoadedFile { path: path.clone(), origin, error: None }],
            vec![path],
            environment,
        ));
    }

    let user = user_config_file(environment);
    let mut files = Vec::new();
    let mut config = Config::default();
    if let Some(path) = &user {
        match read(Origin::User, path, environment) {
            Ok((found, _)) => {
                config = found;
                files.push(LoadedFile { path: path.clone(), origin: Origin::User, error: None });
            }
            Err(error) if *error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    let project = sources.folder.join("mgp.toml");
    let watch = user.iter().cloned().chain([project.clone()]).collect();
    let mut loaded = Loaded::of(config, files, watch, environment);
    if !same_file(&project, user.as_deref()) {
        loaded.add_project(&project, environment);
    }
    Ok(loaded)
}

fn read(origin: Origin, path: &Path, environment: &Environment) -> Result<(Config, Vec<String>), ConfigError> {
    Config::parse_as(origin, path, &read_checked(path)?, environment)
}

fn same_file(project: &Path, user: Option<&Path>) -> bool {
    user.and_then(|user| Some(user.canonicalize().ok()? == project.canonicalize().ok()?)).unwrap_or(false)
}

impl Loaded {
    fn of(mut config: Config, files: Vec<LoadedFile>, watch: Vec<PathBuf>, environment: &Environment) -> Self {
        let data_dir = config.settings.data_dir.clone();
        let data_dir = data_dir.or_else(|| default_data_dir(environment, Platform::current()));
        // Without a home folder there is no better place than the one the kernel was started in.
        let data_dir = data_dir.unwrap_or_else(|| PathBuf::from(".switchboard"));
        let warnings = std::mem::take(&mut config.warnings);
        Self { config, files, watch, warnings, data_dir, untrusted: Vec::new() }
    }

    fn add_project(&mut self, path: &Path, environment: &Environment) {
        // The approval names the file, and a link must not let another file use it.
        let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let (found, settings) = match read(Origin::Project, path, environment) {
            Ok(found) => found,
            Err(error) if *error.kind() == ErrorKind::NotFound => return,
            Err(error) => {
                self.warnings.push(format!("the project's file was left out: {error}"));
                self.files.push(LoadedFile { path: path.clone(), origin: Origin::Project, error: Some(error) });
                return;
            }
        };
        self.files.push(LoadedFile { path: path.clone(), origin: Origin::Project, error: None });
        self.warnings.extend(found.warnings);
        self.config.rejected.extend(found.rejected);
        if !settings.is_empty() {
            let keys = settings.join("`, `");
            let path = path.display();
            self.warnings.push(format!(
                "{path}: `{keys}` of a project file is not used; name the file with `--config` to use all of it"
            ));
        }
        let trust = Trust::read(&self.data_dir).unwrap_or_else(|error| {
            self.warnings.push(format!("no project server counts as trusted: {error}"));
            Trust::empty(&self.data_dir)
        });
        let mut taken = Taken::default();
        for mine in &self.config.servers {
            // Those of one configuration never clash with each other.
            let _ = taken.claim(mine.id(), None);
        }
        for server in found.servers {
            self.add_project_server(server, &trust, &mut taken);
        }
        self.config.settle_aliases();
    }

    fn add_project_server(&mut self, mut server: Server, trust: &Trust, taken: &mut Taken) {
        let trusted = trust.trusted(&server);
        if !trusted && server.endpoint.as_ref().err().is_none_or(is_missing_variable) {
            self.untrusted.push(server.clone());
            server.endpoint = Err(fault(&server, ErrorKind::Untrusted));
        }
        if let Some(mine) = self.config.servers.iter_mut().find(|mine| mine.id() == server.id()) {
            let (id, file, line) = (server.id(), server.file.display(), server.line);
            if trusted && server.problem().is_none() {
                self.warnings.push(format!("{file}:{line}: server \"{id}\" takes the place of the user's own"));
                keep_stricter(&mut server.entry, &mine.entry);
                *mine = server;
            } else {
                self.warnings
                    .push(format!("{file}:{line}: server \"{id}\" is not used; the user's own of that name is"));
            }
            return;
        }
        match taken.claim(server.id(), None) {
            Ok(()) => self.config.servers.push(server),
            Err(kind) => self.config.rejected.push(fault(&server, kind)),
        }
    }
}

fn fault(server: &Server, kind: ErrorKind) -> ConfigError {
    ConfigError::new(&server.file, kind).in_server(Some(server.id())).at(server.line, 1, String::new())
}

/// A server that only lacks a variable can be approved all the same.
fn is_missing_variable(error: &ConfigError) -> bool {
    matches!(error.kind(), ErrorKind::MissingVariable { .. })
}
