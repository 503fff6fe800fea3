//! Where files are looked for, from an environment that is handed in. Touches no disk.

use std::path::{Path, PathBuf};

use crate::expand::Environment;

/// The family of operating systems, which decides about folders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Platform {
    /// Linux and the like.
    Linux,
    /// macOS.
    MacOs,
    /// Windows.
    Windows,
}

impl Platform {
    /// The one this program was built for.
    pub fn current() -> Self {
        if cfg!(target_os = "windows") {
            Self::Windows
        } else if cfg!(target_os = "macos") {
            Self::MacOs
        } else {
            Self::Linux
        }
    }
}

/// The user's home folder.
pub(crate) fn home(environment: &Environment) -> Option<PathBuf> {
    environment.filled("HOME").or_else(|| environment.filled("USERPROFILE")).map(PathBuf::from)
}

/// The folder named by a variable; per the XDG rules a relative one does not count.
pub(crate) fn absolute(environment: &Environment, name: &str) -> Option<PathBuf> {
    environment.filled(name).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// The user-level configuration, `~/.config/mgp/servers.toml` (MGP 15.2), moved by `XDG_CONFIG_HOME`.
pub fn user_config_file(environment: &Environment) -> Option<PathBuf> {
    let folder = absolute(environment, "XDG_CONFIG_HOME").or_else(|| Some(home(environment)?.join(".config")))?;
    Some(folder.join("mgp").join("servers.toml"))
}

/// Where state is kept when no file says so.
pub fn default_data_dir(environment: &Environment, platform: Platform) -> Option<PathBuf> {
    let home = || home(environment);
    let folder = match platform {
        Platform::Linux => {
            absolute(environment, "XDG_DATA_HOME").or_else(|| Some(home()?.join(".local").join("share")))?
        }
        Platform::MacOs => home()?.join("Library").join("Application Support"),
        Platform::Windows => environment
            .filled("LOCALAPPDATA")
            .map(PathBuf::from)
            .or_else(|| Some(home()?.join("AppData").join("Local")))?,
    };
    Some(folder.join("switchboard"))
}

/// The text with a leading `~` replaced by the home folder.
pub(crate) fn with_home(text: &str, environment: &Environment) -> String {
    let rest = match text.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with(['/', '\\']) => rest,
        _ => return text.to_owned(),
    };
    match home(environment) {
        Some(home) => format!("{}{rest}", home.display()),
        None => text.to_owned(),
    }
}

/// A path as meant by a configuration file: `~` is the home folder, a relative one starts at the file's own folder.
pub(crate) fn beside(file: &Path, text: &str, environment: &Environment) -> PathBuf {
    file.parent().unwrap_or_else(|| Path::new("")).join(with_home(text, environment))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders() {
        let environment = |pairs: &[(&str, &str)]| pairs.iter().copied().collect::<Environment>();
        let plain = environment(&[("HOME", "/h")]);
        let moved = environment(&[("HOME", "/h"), ("XDG_CONFIG_HOME", "/c"), ("XDG_DATA_HOME", "/d")]);
        let odd = environment(&[("HOME", "/h"), ("XDG_CONFIG_HOME", "relative"), ("XDG_DATA_HOME", "")]);
        let nothing = Environment::default();
        for (environment, config, data) in [
            (&plain, Some("/h/.config/mgp/servers.toml"), Some("/h/.local/share/switchboard")),
            (&moved, Some("/c/mgp/servers.toml"), Some("/d/switchboard")),
            (&odd, Some("/h/.config/mgp/servers.toml"), Some("/h/.local/share/switchboard")),
            (&nothing, None, None),
        ] {
            assert_eq!(user_config_file(environment).as_deref(), config.map(Path::new));
            assert_eq!(default_data_dir(environment, Platform::Linux).as_deref(), data.map(Path::new));
        }
        assert_eq!(with_home("~/x", &plain), "/h/x");
        assert_eq!(with_home("~root/x", &plain), "~root/x");
        assert_eq!(beside(Path::new("/p/mgp.toml"), "sub", &plain), Path::new("/p/sub"));
        assert_eq!(beside(Path::new("/p/mgp.toml"), "/abs", &plain), Path::new("/abs"));
    }
}
