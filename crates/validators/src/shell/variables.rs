//! Environment variables: which ones a command may set because they do not decide what runs, and which ones it may
//! use because they hide neither a secret nor a command.

use crate::{Finding, Verdict};

/// Variables that an unquoted word may use: their values are known to be plain.
const EXPANDABLE: &[&str] = &[
    "HOME",
    "PWD",
    "OLDPWD",
    "USER",
    "LOGNAME",
    "HOSTNAME",
    "SHELL",
    "LANG",
    "LC_ALL",
    "TERM",
    "TMPDIR",
    "EDITOR",
    "VISUAL",
    "PATH",
    "DISPLAY",
    "UID",
    "COLUMNS",
    "LINES",
    "GOPATH",
    "CARGO_HOME",
    "JAVA_HOME",
    "VIRTUAL_ENV",
    "RANDOM",
];

/// Words in a name that say it holds a secret.
const SECRET_PARTS: &[&str] = &["KEY", "TOKEN", "SECRET", "PASS", "PASSWORD", "PASSWD", "CREDENTIALS", "AUTH"];

/// Names that decide which program, library, start-up file or option is used.
const DECIDING: &str = "PATH IFS ENV BASH_ENV SHELL SHELLOPTS BASHOPTS PROMPT_COMMAND PS0 PS1 PS2 PS4 CDPATH FPATH ZDOTDIR INPUTRC \
     EXINIT VIMINIT GVIMINIT MYVIMRC VIMRUNTIME LESS LESSOPEN LESSCLOSE LESSKEY LESSSECURE EDITOR VISUAL BROWSER \
     FCEDIT HOME XDG_CONFIG_HOME XDG_DATA_DIRS XDG_CONFIG_DIRS TERMINFO TERMCAP TERMINFO_DIRS LOCPATH NLSPATH \
     HOSTALIASES RES_OPTIONS PERL5DB PERL5LIB PERLLIB RUBYLIB RUBYOPT PYTHONHOME PYTHONSTARTUP PYTHONINSPECT \
     PYTHONBREAKPOINT PYTHONWARNINGS PYTHONUSERBASE PYTHONEXECUTABLE LUA_INIT PHPRC PHP_INI_SCAN_DIR R_PROFILE \
     R_PROFILE_USER R_ENVIRON R_LIBS CLASSPATH MAVEN_ARGS MAKEFILES MAKEFLAGS GNUMAKEFLAGS CC CXX CPP LD AR AS NM \
     LINKER RUSTC RUSTDOC RUSTFLAGS GOFLAGS CGO_CFLAGS CGO_LDFLAGS GOROOT GOPROXY GCC_EXEC_PREFIX COMPILER_PATH GZIP \
     ZIPOPT UNZIP BZIP2 XZ_OPT HISTFILE HISTCONTROL MANOPT MAIL SSLKEYLOGFILE COMSPEC PATHEXT BUNDLE_GEMFILE";

/// Beginnings of such names.
const DECIDING_STARTS: &[&str] = &[
    "LD_",
    "DYLD_",
    "BASH_FUNC",
    "GCONV",
    "GIT_",
    "SSH_ASKPASS",
    "SUDO_",
    "NPM_CONFIG_",
    "YARN_",
    "PIP_",
    "UV_INDEX",
    "CORECLR_",
    "COR_",
    "DOTNET_",
    "ANSIBLE_",
    "HELM_PLUGIN",
    "PYTHONPYCACHE",
    "ERL_",
    "ELIXIR_ERL",
    "JULIA_",
    "LDAP",
    "OPENSSL_",
];

/// Endings of such names.
const DECIDING_ENDS: &[&str] = &[
    "PATH",
    "_OPTIONS",
    "_OPTS",
    "_OPT",
    "5OPT",
    "PAGER",
    "EDITOR",
    "_SSH",
    "_RSH",
    "_ASKPASS",
    "_COMMAND",
    "_CMD",
    "_SHELL",
    "_EXEC",
    "_HOOK",
    "_HOOKS",
    "_WRAPPER",
    "_RUNNER",
    "_LINKER",
    "_COMPILER",
    "_LAUNCHER",
    "_PRELOAD",
    "_PROFILER",
    "_RC",
    "_REGISTRY",
    "_INDEX_URL",
    "_PROXY",
    "_BINARY",
    "_EXECUTABLE",
    "_INIT",
    "_PLUGIN",
    "_PLUGINS",
    "LIB",
];

/// What one of the lists above would catch although it only describes: authors, dates, levels, switches.
const HARMLESS: &[&str] = &[
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_DATE",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_DATE",
    "GIT_TERMINAL_PROMPT",
    "GIT_TRACE",
    "GIT_PAGER_IN_USE",
    "GIT_OPTIONAL_LOCKS",
    "GIT_MERGE_AUTOEDIT",
    "GIT_DEPTH",
    "NO_PROXY",
    "GIT_CURL_VERBOSE",
    "DOTNET_CLI_TELEMETRY_OPTOUT",
    "DOTNET_NOLOGO",
];

/// Whether a command may run with this variable set.
pub(super) fn check_assignment(name: &str, value: &str) -> Verdict {
    let upper = name.to_ascii_uppercase();
    let name_decides = crate::listed(DECIDING, upper.as_str())
        || DECIDING_STARTS.iter().any(|start| upper.starts_with(start))
        || DECIDING_ENDS.iter().any(|end| upper.ends_with(end));
    // A pager of `cat` or nothing is the usual way to ask for plain output.
    let switched_off =
        upper.ends_with("PAGER") && matches!(value, "" | "cat") || value.is_empty() && holds_options(&upper);
    // Modules of the project itself: a person may agree.
    let is_own = matches!(upper.as_str(), "PYTHONPATH" | "NODE_PATH") && value.split(':').all(is_of_project);
    let is_own = is_own
        || upper == "NODE_OPTIONS" && is_plain_node_option(value)
        || matches!(upper.as_str(), "CC" | "CXX") && is_compiler(value);
    if (name_decides && !is_own && !HARMLESS.contains(&upper.as_str()) && !switched_off) || value.starts_with("() {") {
        return Err(Finding::new("shell-environment", format!("the variable `{name}` decides what runs"))
            .suggest("leave the assignment out"));
    }
    Ok(())
}

/// Whether a variable holds options of a program: empty it takes them away.
pub(super) fn holds_options(name: &str) -> bool {
    ["FLAGS", "OPTIONS", "OPTS"].iter().any(|end| name.ends_with(end))
}

/// Options of Node that say how it runs and not what.
pub(super) fn is_plain_node_option(value: &str) -> bool {
    const PLAIN: [&str; 9] = [
        "--enable-source-maps",
        "--experimental-vm-modules",
        "--max-http-header-size",
        "--max-old-space-size",
        "--no-deprecation",
        "--no-warnings",
        "--openssl-legacy-provider",
        "--trace-deprecation",
        "--trace-warnings",
    ];
    let is_plain = |option: &str| {
        let (name, number) = option.split_once('=').unwrap_or((option, "0"));
        PLAIN.contains(&name) && number.bytes().all(|byte| byte.is_ascii_digit())
    };
    value.split_whitespace().all(is_plain)
}

/// A compiler by its usual name, perhaps with a version.
pub(super) fn is_compiler(value: &str) -> bool {
    let name = value.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').trim_end_matches('-');
    matches!(name, "cc" | "c++" | "gcc" | "g++" | "clang" | "clang++" | "musl-gcc")
}

/// A folder below the one where the command runs.
pub(super) fn is_of_project(path: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    !path.is_empty()
        && !path.starts_with('/')
        && path.chars().all(is_plain)
        && path.split('/').all(|step| !step.is_empty() && step != "..")
        && !super::known::comes_from_elsewhere(path)
}

/// Whether a word may use the value of this variable.
pub(super) fn check_expansion(name: &str, quoted: bool) -> Verdict {
    let upper = name.to_ascii_uppercase();
    if upper.split('_').any(|part| SECRET_PARTS.contains(&part) || part.ends_with("KEY") || part.ends_with("TOKEN")) {
        return Err(Finding::new("shell-credential", format!("the variable `{name}` seems to hold a secret")));
    }
    if name == "IFS" || (!quoted && !EXPANDABLE.contains(&name)) {
        return Err(Finding::new("shell-substitution", format!("the value of `${name}` is not known here"))
            .suggest("write the value itself"));
    }
    Ok(())
}
