//! Which variables a child sees: a short list that programs need to work, and what the configuration names.
//!
//! Everything else stays here. Our own environment holds tokens of other servers and of the user's shell.

use std::collections::BTreeMap;
use std::ffi::OsString;

use super::CommandSpec;

/// What programs need to find themselves and the user, and to print and name things right.
const ALWAYS: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "LANGUAGE",
    "TMPDIR",
    "TERM",
    "TZ",
    "XDG_RUNTIME_DIR",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
];

/// The same for Windows, where little starts without these.
const ALWAYS_WINDOWS: &[&str] = &[
    "APPDATA",
    "LOCALAPPDATA",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "USERNAME",
    "USERPROFILE",
    "PATHEXT",
    "COMSPEC",
    "HOMEDRIVE",
    "HOMEPATH",
];

/// The whole environment of a child.
pub(super) fn of(spec: &CommandSpec, ours: impl Iterator<Item = (OsString, OsString)>) -> BTreeMap<OsString, OsString> {
    let wanted = |name: &str| {
        ALWAYS.contains(&name)
            || name.starts_with("LC_")
            || (cfg!(windows) && ALWAYS_WINDOWS.contains(&name.to_ascii_uppercase().as_str()))
            || spec.pass_env.iter().any(|passed| passed == name)
    };
    let mut all: BTreeMap<OsString, OsString> = ours.filter(|(name, _)| name.to_str().is_some_and(wanted)).collect();
    if let Some(profile) = &spec.profile {
        all.extend(profile.environment.iter().map(|(name, value)| (name.into(), value.into())));
    }
    all.extend(spec.env.iter().map(|(name, value)| (name.into(), value.into())));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_short_list_and_what_is_named_is_passed_on() {
        let spec = CommandSpec {
            env: vec![("TOKEN".into(), "a".into()), ("LANG".into(), "de".into())],
            pass_env: vec!["PASSED".into(), "ABSENT".into()],
            ..CommandSpec::default()
        };
        let ours = [("PATH", "/bin"), ("LANG", "en"), ("LC_ALL", "C"), ("PASSED", "p"), ("AWS_SECRET_KEY", "s")];
        let all = of(&spec, ours.iter().map(|(name, value)| (name.into(), value.into())));
        let all: Vec<(&str, &str)> =
            all.iter().map(|(name, value)| (name.to_str().unwrap(), value.to_str().unwrap())).collect();
        assert_eq!(all, [("LANG", "de"), ("LC_ALL", "C"), ("PASSED", "p"), ("PATH", "/bin"), ("TOKEN", "a")]);
    }
}
