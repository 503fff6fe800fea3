//! Files that matter by their place: where secrets are kept, and what decides who logs in or what runs.

use super::argument::Arguments;
use super::lexer::Word;
use super::program::TEXT_PROGRAMS;
use crate::{Finding, Verdict};

/// Programs that look at the entry of a file but not into it, or that use a key for what it is for.
const NO_CONTENT: &[&str] = &[
    "ls",
    "stat",
    "test",
    "[",
    "realpath",
    "readlink",
    "ssh-keygen",
    "ssh-add",
    "ssh-copy-id",
    "chmod",
    "mkdir",
    "touch",
    "cd",
    "pushd",
    "tree",
    "du",
    "eza",
    "exa",
    "lsattr",
    "getfacl",
];

/// Programs whose first operand is a pattern or text.
const PATTERN_FIRST: &[&str] =
    &["grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "sed", "awk", "gawk", "mawk", "jq", "yq", "git"];

/// Ends of paths at which secrets are kept.
const CREDENTIAL_ENDS: &[&str] = &[
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/passwd",
    "/etc/passwd-",
    "/etc/sudoers",
    "/etc/master.passwd",
    "/etc/security/opasswd",
    "/etc/krb5.keytab",
    "/.aws/credentials",
    "/.netrc",
    "/_netrc",
    "/.git-credentials",
    "/.pgpass",
    "/.my.cnf",
    "/.docker/config.json",
    "/.dockercfg",
    "/.kube/config",
    "/.npmrc",
    "/.pypirc",
    "/.cargo/credentials",
    "/.cargo/credentials.toml",
    "/.config/gh/hosts.yml",
    "/.config/gcloud/credentials.db",
    "/.config/gcloud/application_default_credentials.json",
    "/.azure/accesstokens.json",
    "/.azure/msal_token_cache.json",
    "/.bash_history",
    "/.zsh_history",
    "/.mysql_history",
    "/.psql_history",
    "/.python_history",
    "/.rediscli_history",
    "/.vault-token",
    "/.terraform.d/credentials.tfrc.json",
    "/.gem/credentials",
    "/.s3cfg",
    "/.boto",
    "/.config/rclone/rclone.conf",
    "/etc/kubernetes/admin.conf",
    "/logins.json",
    "/key4.db",
    "/login data",
    "/cookies.sqlite",
    "/.htpasswd",
    "/.password-store",
    "/wallet.dat",
];

/// Directories of secrets.
const CREDENTIAL_PLACES: &[&str] = &[
    "/.ssh/",
    "/.gnupg/",
    "/etc/ssl/private/",
    "/etc/sudoers.d/",
    "/.password-store/",
    "/run/secrets/",
    "/etc/shadow/",
    "/.aws/sso/",
    "/keychains/",
    "/.local/share/keyrings/",
    "/etc/ssh/ssh_host_",
];

/// Names of secrets wherever they are.
const CREDENTIAL_NAMES: &[&str] = &[
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    ".netrc",
    ".pgpass",
    ".git-credentials",
    ".env",
    ".htpasswd",
    ".vault-token",
];

pub(super) fn check(program: &str, arguments: &[Word]) -> Verdict {
    if TEXT_PROGRAMS.contains(&program) {
        return Ok(());
    }
    check_written(program, arguments)?;
    check_output_option(program, arguments)?;
    check_secrets_tool(program, arguments)?;
    if NO_CONTENT.contains(&program) && !reads_names(arguments) {
        return Ok(());
    }
    let mut skip_pattern = PATTERN_FIRST.contains(&program);
    let copies = ["cp", "mv", "ln", "install"].contains(&program);
    let last = arguments.len().saturating_sub(1);
    for (index, word) in arguments.iter().enumerate() {
        let text = word.text.as_str();
        if skip_pattern && !text.starts_with('-') {
            skip_pattern = false;
            continue;
        }
        let path = text
            .split_once('=')
            .filter(|(key, _)| key.starts_with("--") || *key == "if")
            .map_or(text, |(_, value)| value);
        let path = path.trim_start_matches('@');
        // A target such as `.env` is written from a template; what is read is the source.
        if copies && index == last && arguments.len() > 1 {
            continue;
        }
        let private = super::readers::is_file_reader(program) && is_private_key(path);
        if private || is_credential(path) || (word.glob && glob_meets_credential(path)) {
            return Err(credential(path));
        }
    }
    Ok(())
}

/// Whether a program looks at the entries of files and not into them.
pub(super) fn looks_at_entries(program: &str, arguments: &[Word]) -> bool {
    NO_CONTENT.contains(&program) && !reads_names(arguments)
}

/// Whether names are read out of a file: what is in it is shown, as names that are not there.
fn reads_names(arguments: &[Word]) -> bool {
    let options = ["--files0-from", "--files-from", "--from", "--gitfile", "--infofile"];
    arguments.iter().any(|word| options.iter().any(|option| word.text.starts_with(option)))
}

/// The finding for reading a secret.
pub(super) fn credential(path: &str) -> Finding {
    Finding::new("shell-credential", format!("`{path}` holds secrets"))
}

/// Whether a path leads to a secret.
pub(super) fn is_credential(path: &str) -> bool {
    if path.len() < 4 || path.contains(char::is_whitespace) && !path.starts_with('/') {
        return false;
    }
    let lower = tidy(path).to_ascii_lowercase();
    let rooted = if lower.starts_with('/') { lower } else { format!("/{lower}") };
    let name = rooted.rsplit('/').next().unwrap_or_default();
    let process = rooted.starts_with("/proc/")
        && ["environ", "mem", "maps", "cmdline", "root"].contains(&name)
        && !rooted.starts_with("/proc/sys");
    let public = rooted.ends_with(".pub") || rooted.ends_with("/known_hosts") || rooted.ends_with("/.ssh/config");
    let process = process && rooted != "/proc/cmdline";
    !public
        && (process
            || CREDENTIAL_NAMES.contains(&name)
            || name.starts_with(".env.prod")
            || [".ssh", ".aws", ".gnupg", ".kube"].contains(&name)
            || CREDENTIAL_ENDS.iter().any(|end| rooted.ends_with(end))
            || CREDENTIAL_PLACES.iter().any(|place| rooted.contains(place)))
}

/// A private key by the usual names of such files; certificates have others.
fn is_private_key(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    name.starts_with("privkey")
        || ["private.key", "private.pem", "private_key.pem", "private-key.pem"].contains(&name.as_str())
        || name.ends_with(".kdbx")
}

/// Searching everything for the words that secrets stand next to.
fn is_secret_hunt(texts: &[&str]) -> bool {
    let recursive = texts.iter().any(|text| {
        *text == "--recursive" || (text.starts_with('-') && !text.starts_with("--") && text.contains(['r', 'R']))
    });
    let wide = texts.iter().any(|text| {
        matches!(*text, "/" | "~" | "~/" | "/home" | "/etc" | "/root" | "/home/" | "/etc/" | "/var" | "/opt")
    });
    let words = ["password", "passwd", "secret", "token", "akia", "private key", "api_key", "apikey", "credential"];
    recursive && wide && texts.iter().any(|text| words.iter().any(|word| text.to_ascii_lowercase().contains(word)))
}

/// Whether a pattern such as `/e*/sha*w` can mean a file of secrets in a fixed place.
fn glob_meets_credential(pattern: &str) -> bool {
    let pattern = tidy(pattern);
    let fixed = [
        "/etc/shadow",
        "/etc/passwd",
        "/etc/sudoers",
        "/etc/gshadow",
        "~/.ssh/id_rsa",
        "~/.aws/credentials",
        "/proc/self/environ",
    ];
    pattern.len() > 3 && pattern.starts_with(['/', '~']) && fixed.iter().any(|path| glob_matches(&pattern, path))
}

fn glob_matches(pattern: &str, path: &str) -> bool {
    let simple: String = {
        // A bracket stands for one character; which one does not matter here.
        let mut out = String::new();
        let mut inside = false;
        for c in pattern.chars() {
            match c {
                '[' => inside = true,
                ']' if inside => {
                    inside = false;
                    out.push('?');
                }
                c if !inside => out.push(c),
                _ => {}
            }
        }
        out
    };
    let glob = switchboard_policy::path::Glob::new(&simple);
    let names: Vec<String> = path.split('/').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    glob.matches(&names)
}

/// A path without empty and `.` names, and with `name/..` taken out.
fn tidy(path: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." if names.last().is_some_and(|last| *last != "..") => {
                names.pop();
            }
            name => names.push(name),
        }
    }
    let slash = if path.starts_with('/') { "/" } else { "" };
    format!("{slash}{}", names.join("/"))
}

/// The home directory itself, or all of it.
pub(super) fn is_home(path: &str) -> bool {
    let tidy = tidy(path);
    matches!(tidy.as_str(), "~" | "~/*" | "/home" | "/home/*" | "/Users" | "/Users/*" | "/root" | "/root/*")
}

/// The root, and the directories that belong to the system.
pub(super) fn is_system_path(path: &str) -> bool {
    if !path.starts_with('/') {
        return false;
    }
    let tidy = tidy(path);
    let harmless = [
        "/dev/null",
        "/dev/stdout",
        "/dev/stderr",
        "/dev/tty",
        "/dev/stdin",
        "/dev/fd",
        "/dev/zero",
        "/dev/urandom",
        "/dev/random",
    ];
    if harmless.contains(&tidy.as_str()) {
        return false;
    }
    let top = tidy.trim_start_matches('/').split('/').next().unwrap_or_default();
    let under_local =
        tidy.starts_with("/usr/local/src/") || tidy.starts_with("/var/tmp/") || tidy.starts_with("/var/www/");
    !under_local
        && (matches!(
            top,
            "" | "*"
                | "etc"
                | "usr"
                | "bin"
                | "sbin"
                | "lib"
                | "lib32"
                | "lib64"
                | "boot"
                | "dev"
                | "proc"
                | "sys"
                | "root"
                | "var"
                | "run"
                | "System"
                | "Library"
        ) || matches!(
            tidy.as_str(),
            "/home" | "/opt" | "/srv" | "/mnt" | "/media" | "/Users" | "/Applications" | "/home/*"
        ))
}

/// What decides who may log in or what runs next: start-up files, keys, hooks, schedules.
pub(super) fn is_decisive(path: &str) -> bool {
    let tidy = tidy(path).to_ascii_lowercase();
    let rooted = format!("/{}", tidy.trim_start_matches('/'));
    let name = rooted.rsplit('/').next().unwrap_or_default();
    let startup = [
        ".bashrc",
        ".bash_profile",
        ".bash_login",
        ".bash_logout",
        ".profile",
        ".zshrc",
        ".zshenv",
        ".zprofile",
        ".zlogin",
        ".cshrc",
        ".tcshrc",
        ".kshrc",
        ".vimrc",
        ".exrc",
        ".gitconfig",
        ".npmrc",
        ".netrc",
        ".inputrc",
        ".xinitrc",
        ".xprofile",
        ".pam_environment",
        ".lessfilter",
        "authorized_keys",
        ".rhosts",
        ".shosts",
        ".forward",
        ".procmailrc",
        ".envrc",
        ".screenrc",
        ".tmux.conf",
        ".wgetrc",
        ".curlrc",
    ];
    startup.contains(&name)
        || [
            "/.ssh/",
            "/.git/hooks/",
            "/.config/autostart/",
            "/.config/systemd/",
            "/.config/fish/",
            "/launchagents/",
            "/cron.",
            "/crontabs/",
            "/.gnupg/",
        ]
        .iter()
        .any(|place| rooted.contains(place))
        || rooted.ends_with("/.git/config")
        || rooted.ends_with("/.ssh")
}

/// Files that a program would write, as far as its arguments say so.
fn check_written(program: &str, arguments: &[Word]) -> Verdict {
    let read = |with_value: &str| Arguments::read(arguments, with_value);
    let written: Vec<&str> = match program {
        "tee" | "sponge" | "touch" | "truncate" | "mkfifo" | "mknod" | "ed" => read("s").operands,
        "cp" | "mv" | "ln" | "link" | "install" | "rsync" | "scp" => {
            let read = read("tSmogeTfBMPiFoclJ");
            let named = read.values('t').chain(read.long_values("target-directory"));
            named.chain(read.operands.last().copied()).collect()
        }
        "sed" | "gsed" | "perl" => {
            let read = read("efl");
            if read.has("i") || read.has_long(&["in-place"]) { read.operands } else { Vec::new() }
        }
        "curl" => {
            let read = read("oHdXuAbceFTKxmrw");
            read.values('o').chain(read.long_values("output")).chain(after(arguments, "--output")).collect()
        }
        "wget" => {
            let read = read("OoPaUeiQTtw");
            let long = read.long_values("output-document").chain(read.long_values("directory-prefix"));
            read.values('O').chain(read.values('P')).chain(long).chain(after(arguments, "--output-document")).collect()
        }
        "tar" | "bsdtar" | "gtar" => {
            let read = read("CfTX");
            let old = arguments.first().is_some_and(|word| word.text.contains('x') && !word.text.starts_with("--"));
            let extracts = old || read.has("x") || read.has_long(&["extract", "get"]);
            if extracts && (read.has("P") || read.has_long(&["absolute-names"])) {
                return Err(sensitive("/"));
            }
            if extracts {
                read.values('C').chain(after(arguments, "-C")).chain(read.long_values("directory")).collect()
            } else {
                Vec::new()
            }
        }
        "unzip" => read("dxP").values('d').collect(),
        "dd" => arguments.iter().filter_map(|word| word.text.strip_prefix("of=")).collect(),
        "openssl" | "gpg" | "sort" | "gcc" | "cc" | "clang" => {
            read("o").values('o').chain(after(arguments, "-out")).chain(read("o").long_values("output")).collect()
        }
        "git" => {
            let texts: Vec<&str> = arguments.iter().map(|word| word.text.as_str()).collect();
            if texts.first() == Some(&"clone") { texts.last().copied().into_iter().collect() } else { Vec::new() }
        }
        "patch" => read("dipo").operands.into_iter().take(1).collect(),
        "vi" | "vim" | "nvim" | "nano" | "emacs" | "pico" | "micro" => {
            read("ctTuSw").operands.into_iter().filter(|path| is_system_path(path)).collect()
        }
        "mkdir" | "rmdir" => return Ok(()),
        "rm" | "unlink" => {
            read("").operands.into_iter().filter(|path| path.contains("/.ssh/") || is_system_path(path)).collect()
        }
        _ => Vec::new(),
    };
    match written
        .into_iter()
        .find(|path| is_system_path(path) || (is_decisive(path) && program != "touch" && program != "git"))
    {
        Some(path) => Err(sensitive(path)),
        None => Ok(()),
    }
}

/// Options that name an output file in most programs.
fn check_output_option(program: &str, arguments: &[Word]) -> Verdict {
    let names = [
        "-o",
        "-O",
        "-w",
        "-out",
        "--out",
        "--output",
        "--output-file",
        "--outfile",
        "--outFile",
        "--output-document",
        "--log-file",
        "--dest",
        "--target",
        "-Logfile",
        "-D",
    ];
    if super::readers::is_file_reader(program) {
        return Ok(());
    }
    let separate =
        arguments.windows(2).filter(|pair| names.contains(&pair[0].text.as_str())).map(|pair| pair[1].text.as_str());
    let attached = arguments
        .iter()
        .filter_map(|word| word.text.split_once('='))
        .filter(|(name, _)| names.contains(name))
        .map(|(_, path)| path);
    match separate.chain(attached).find(|path| is_system_path(path) || is_decisive(path)) {
        Some(path) => Err(sensitive(path)),
        None => Ok(()),
    }
}

/// Whether writing there decides who may log in or what runs.
pub(super) fn is_sensitive_target(path: &str) -> bool {
    is_system_path(path) || is_decisive(path)
}

fn sensitive(path: &str) -> Finding {
    Finding::new("shell-sensitive-write", format!("`{path}` decides who may log in or what runs"))
}

fn after<'a>(arguments: &'a [Word], option: &'a str) -> impl Iterator<Item = &'a str> {
    arguments.windows(2).filter(move |pair| pair[0].text == option).map(|pair| pair[1].text.as_str())
}

/// Programs that print secrets from a store of their own.
fn check_secrets_tool(program: &str, arguments: &[Word]) -> Verdict {
    let texts: Vec<&str> = arguments.iter().map(|word| word.text.as_str()).collect();
    let any = |words: &[&str]| texts.iter().any(|text| words.contains(text));
    let prints = match program {
        "gpg" | "gpg2" => {
            texts.iter().any(|text| text.starts_with("--export-secret") || text.starts_with("--export-options=secret"))
        }
        "gh" | "glab" => any(&["auth"]) && (any(&["token"]) || any(&["--show-token", "-t"])),
        "gcloud" => {
            any(&["print-access-token", "print-identity-token", "application-default"])
                || (any(&["secrets"]) && any(&["access"]))
        }
        "aws" => {
            any(&[
                "get-secret-value",
                "get-session-token",
                "get-federation-token",
                "get-login-password",
                "export-credentials",
                "create-access-key",
                "assume-role",
                "get-parameters-by-path",
            ]) || (any(&["configure"]) && any(&["get", "export-credentials"]))
                || any(&["--with-decryption"])
        }
        "az" => {
            any(&["get-access-token"]) || (any(&["secret"]) && any(&["show"])) || (any(&["keys"]) && any(&["list"]))
        }
        "security" => texts.iter().any(|text| text.starts_with("find-") || text.starts_with("dump-")),
        "secret-tool" => any(&["lookup", "search"]),
        "pass" | "gopass" => {
            !texts.is_empty()
                && !any(&[
                    "ls",
                    "list",
                    "help",
                    "version",
                    "git",
                    "generate",
                    "insert",
                    "init",
                    "edit",
                    "find",
                    "--help",
                    "--version",
                ])
        }
        "op" => any(&["read"]) || (any(&["item"]) && any(&["get"])),
        "lpass" | "bw" => any(&["show", "get", "export"]),
        "vault" => any(&["read", "print"]) || (any(&["kv"]) && any(&["get"])),
        "kubectl" | "oc" => {
            any(&["get", "describe", "view"])
                && texts.iter().any(|text| text.starts_with("secret"))
                && any(&["-o", "yaml", "json", "-oyaml", "-ojson", "describe"])
                || any(&["--raw"]) && any(&["view"])
        }
        "git" => any(&["credential"]) && any(&["fill"]),
        "grep" | "egrep" | "zgrep" | "rg" | "ag" => {
            is_secret_hunt(&texts) || (program != "grep" && is_secret_hunt(&[texts.as_slice(), &["-r"]].concat()))
        }
        "export" => texts == ["-p"],
        "declare" | "typeset" => any(&["-x", "-p", "-xp", "-px"]) && texts.len() == 1,
        "getent" => any(&["shadow", "gshadow"]),
        "printenv" => {
            texts.is_empty() || texts.iter().any(|text| super::variables::check_expansion(text, true).is_err())
        }
        "find" | "locate" | "fd" | "mlocate" => texts.iter().any(|text| {
            let name = text.trim_matches('*').trim_start_matches('/');
            is_credential(text) && *text != "/"
                || CREDENTIAL_NAMES.contains(&name)
                || ["shadow", "credentials", ".aws", ".ssh", "id_*", ".pem"].contains(&name)
        }),
        "mimikatz" | "lazagne" | "unshadow" | "hydra" | "secretsdump.py" | "gcore" | "procdump" => true,
        _ => false,
    };
    if prints { Err(Finding::new("shell-credential", format!("`{program}` would print secrets"))) } else { Ok(()) }
}
