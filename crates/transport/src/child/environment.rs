//! Which variables a child sees: a short list that programs need to work, and what the configuration names.
//!
//! Everything else stays here. Our own environment holds tokens of other servers and of the user's shell. Where a server does
//! not start for that reason, [`wanted`] finds which of them it may have needed.

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

/// What they need to reach the network where there is a proxy or a certificate authority of the company. Names of proxies are
/// written in both cases.
const NETWORK: &[&str] = &[
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "NODE_USE_SYSTEM_CA",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "AWS_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "DENO_CERT",
];

/// Beginnings of what the package runners read: `npm_config_registry`, `UV_INDEX_URL`, `PIP_INDEX_URL`.
const RUNNERS: &[&str] = &["NPM_CONFIG_", "UV_", "PIP_"];

/// Programs that fetch packages, which alone get the secrets among those.
const FETCHING: &[&str] =
    &["npx", "npm", "pnpm", "pnpx", "yarn", "bun", "bunx", "uv", "uvx", "pip", "pip3", "pipx", "poetry"];

/// More names are no help.
const MAX_WANTED: usize = 8;

/// Words in a name that say it holds a secret.
const SECRET: &[&str] = &["AUTH", "TOKEN", "PASS", "SECRET", "KEY", "CREDENTIALS", "OTP"];

/// Words in a name that say it holds an address or a proof, which often have a password inside.
const ADDRESSES: &[&str] = &["URL", "URI", "DSN", "CONNECTION", "COOKIE", "SESSION", "PRIVATE", "WEBHOOK"];

/// Programs that only interpret what they are given, by how their names begin.
const INTERPRETERS: &[&str] = &[
    "node", "python", "deno", "ruby", "perl", "php", "bash", "sh", "zsh", "java", "dotnet", "docker", "podman", "env",
];
/// What stands between a program that fetches and the package.
const SUBCOMMANDS: &[&str] = &["run", "exec", "dlx", "tool", "x", "start"];
/// Words that many packages and many variables have: they say nothing of one of them.
const COMMON: &[&str] = &[
    "SERVER",
    "MODELCONTEXTPROTOCOL",
    "LATEST",
    "NODE",
    "PYTHON",
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASS",
    "AUTH",
    "PATH",
    "FILE",
    "FILES",
    "HOST",
    "PORT",
    "USER",
    "HOME",
    "DATA",
    "DATABASE",
    "DEFAULT",
    "CONFIG",
    "CACHE",
    "ROOT",
    "ROOTS",
    "TEST",
    "DEBUG",
    "NAME",
    "CLIENT",
    "ACCESS",
    "SESSION",
    "LOCAL",
    "REMOTE",
    "SHELL",
    "MEMORY",
    "FETCH",
    "TIME",
    "INDEX",
    "MAIN",
    "DIST",
    "BUILD",
    "TOOL",
    "TOOLS",
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
    let mut all: BTreeMap<OsString, OsString> =
        ours.filter(|(name, _)| name.to_str().is_some_and(|name| is_passed(spec, name))).collect();
    if let Some(profile) = &spec.profile {
        all.extend(profile.environment.iter().map(|(name, value)| (name.into(), value.into())));
    }
    all.extend(spec.env.iter().map(|(name, value)| (name.into(), value.into())));
    all
}

/// Whether a variable of ours is passed on.
fn is_passed(spec: &CommandSpec, name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let of_runner = RUNNERS.iter().any(|front| upper.starts_with(front));
    let is_secret = upper.split('_').any(|part| SECRET.iter().any(|word| part.contains(word)));
    ALWAYS.contains(&name)
        || NETWORK.contains(&upper.as_str())
        || name.starts_with("LC_")
        || (cfg!(windows) && ALWAYS_WINDOWS.contains(&upper.as_str()))
        || of_runner && (!is_secret || fetches(&spec.program))
        || spec.pass_env.iter().any(|passed| passed == name)
}

/// Whether a program fetches packages before it runs them, which takes a while the first time.
#[must_use]
pub fn fetches(program: &str) -> bool {
    FETCHING.contains(&program_name(program))
}

/// The name of a program without its folder and its ending.
#[must_use]
pub fn program_name(program: &str) -> &str {
    let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
    name.trim_end_matches(".cmd").trim_end_matches(".exe")
}

/// Whether a variable of this name may hold what nobody is to see.
#[must_use]
pub fn may_be_secret(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    upper.split('_').any(|part| SECRET.iter().chain(ADDRESSES).any(|word| part.contains(word)))
}

/// Those of our variables that a child did not get and may have needed: its last words name them, or they are called as its
/// package is (`GITHUB_TOKEN` for `@modelcontextprotocol/server-github`).
///
/// ```
/// use switchboard_transport::child::{CommandSpec, wanted};
/// let spec = CommandSpec { program: "npx".into(), args: vec!["-y".into(), "@x/server-github".into()], ..CommandSpec::default() };
/// let ours = ["GITHUB_TOKEN", "OTHER_TOKEN", "API_BASE"].map(str::to_owned);
/// assert_eq!(wanted(&spec, "Error: set API_BASE first", ours.into_iter()), ["API_BASE", "GITHUB_TOKEN"]);
/// ```
#[must_use]
pub fn wanted(spec: &CommandSpec, said: &str, ours: impl Iterator<Item = String>) -> Vec<String> {
    let parts = |text: &str| -> Vec<String> {
        let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| word.len() > 3);
        words.map(str::to_ascii_uppercase).collect()
    };
    let own = parts(package(spec));
    let telling = |word: &&str| word.len() > 3 && !COMMON.contains(word);
    let is_set = |name: &str| spec.env.iter().any(|(set, _)| set == name);
    let mut found: Vec<String> = ours
        .filter(|name| !is_passed(spec, name) && !is_set(name))
        .filter(|name| {
            let is_said =
                said.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| word == name.as_str());
            is_said && name.len() > 3 || name.split('_').filter(telling).any(|part| own.iter().any(|word| word == part))
        })
        .collect();
    found.sort();
    found.truncate(MAX_WANTED);
    found
}

/// The word that names the package to a program that fetches one.
#[must_use]
pub fn fetched_package(args: &[String]) -> Option<&str> {
    let mut words = args.iter().map(String::as_str);
    let mut first = None;
    while let Some(word) = words.next() {
        match word {
            "--package" | "-p" | "--from" | "--spec" => return words.next(),
            _ if word.starts_with("--package=") || word.starts_with("--from=") => return Some(word.split_once('=')?.1),
            _ if SUBCOMMANDS.contains(&word) => {}
            _ if word.starts_with('-') => {}
            _ => {
                first = Some(word);
                break;
            }
        }
    }
    first
}

/// What is run: the package or the script, where the program only fetches or interprets it. Options and what they are given say
/// nothing of it.
fn package(spec: &CommandSpec) -> &str {
    let program = program_name(&spec.program);
    let only_runs = FETCHING.contains(&program) || INTERPRETERS.iter().any(|name| program.starts_with(name));
    if only_runs { fetched_package(&spec.args).unwrap_or_default() } else { program }
}

/// The names of our own variables.
pub fn names() -> impl Iterator<Item = String> {
    std::env::vars_os().filter_map(|(name, _)| name.into_string().ok())
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

    #[test]
    fn only_the_name_of_a_package_asks_for_variables() {
        let ours = ["GITHUB_TOKEN", "VAULT_TOKEN", "DATABASE_URL", "GRPC_SSL_ROOTS_FILE_PATH", "BRAVE_API_KEY"];
        let asked_for = |line: &str, said: &str| -> Vec<String> {
            let mut words = line.split(' ').map(str::to_owned);
            let program = words.next().unwrap();
            let spec = CommandSpec { program, args: words.collect(), ..CommandSpec::default() };
            wanted(&spec, said, ours.into_iter().map(str::to_owned))
        };
        assert_eq!(asked_for("weather.sh --token 12345", ""), [""; 0]);
        assert_eq!(asked_for("uvx mcp-server-sqlite --db-path x", "no attribute"), [""; 0]);
        assert_eq!(asked_for("npx -y @x/server-brave-search", ""), ["BRAVE_API_KEY"]);
        assert_eq!(asked_for("uv tool run github-mcp", ""), ["GITHUB_TOKEN"]);
        assert_eq!(asked_for("/usr/bin/github-mcp-server stdio", ""), ["GITHUB_TOKEN"]);
        assert_eq!(asked_for("node server.js --vault", "set DATABASE_URL"), ["DATABASE_URL"]);
        for (name, secret) in [
            ("GITHUB_TOKEN", true),
            ("DATABASE_URL", true),
            ("AWS_SESSION_TOKEN", true),
            ("SENTRY_DSN", true),
            ("JAVA_HOME", false),
            ("DISPLAY", false),
        ] {
            assert_eq!(may_be_secret(name), secret, "{name}");
        }
    }

    #[test]
    fn what_the_network_and_the_package_runners_need_is_passed_on() {
        let ours = [
            "https_proxy",
            "NO_PROXY",
            "SSL_CERT_FILE",
            "NODE_EXTRA_CA_CERTS",
            "npm_config_registry",
            "NPM_CONFIG__AUTHTOKEN",
            "UV_INDEX_URL",
            "UV_INDEX_CORP_PASSWORD",
            "PIP_INDEX_URL",
            "GITHUB_TOKEN",
        ];
        let passed = |program: &str| -> Vec<&str> {
            let spec = CommandSpec { program: program.into(), ..CommandSpec::default() };
            ours.into_iter().filter(|name| is_passed(&spec, name)).collect()
        };
        assert_eq!(passed("/usr/bin/npx"), ours[..9]);
        let plain = passed("node");
        assert!(plain.contains(&"UV_INDEX_URL") && plain.contains(&"https_proxy"));
        assert!(!plain.iter().any(|name| name.contains("AUTHTOKEN") || name.contains("PASSWORD")), "{plain:?}");
    }
}
