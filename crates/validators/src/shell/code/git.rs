//! Git runs programs named in its settings, its options and its addresses.

use super::runs;
use crate::Verdict;

/// Parts of the names of settings whose value is a command, or a place where commands are found.
const DECIDING_SETTINGS: &[&str] = &[
    "alias.",
    "core.pager",
    "core.editor",
    "core.sshcommand",
    "core.fsmonitor",
    "core.hookspath",
    "core.gitproxy",
    "core.askpass",
    "core.alternaterefscommand",
    "diff.external",
    ".textconv",
    ".command",
    ".cmd",
    ".driver",
    "filter.",
    "gpg.program",
    "credential.",
    "sequence.editor",
    "packobjectshook",
    "protocol.",
    "pager.",
    "difffilter",
    "insteadof",
    "browser.",
    "difftool.",
    "mergetool.",
    "man.",
    "templatedir",
    "include",
    "web.browser",
    ".uploadpack",
    ".receivepack",
    ".vcs",
    "http.proxy",
];

/// The subcommand and what follows it.
pub(in crate::shell) fn verb<'a, 'b>(texts: &'b [&'a str]) -> Option<(&'a str, &'b [&'a str])> {
    let mut at = 0;
    while let Some(text) = texts.get(at) {
        if !text.starts_with('-') {
            return Some((text, &texts[at + 1..]));
        }
        let separate = matches!(
            *text,
            "-c" | "-C"
                | "--git-dir"
                | "--work-tree"
                | "--namespace"
                | "--super-prefix"
                | "--config-env"
                | "--attr-source"
        );
        at += 1 + usize::from(separate);
    }
    None
}

pub(super) fn check(texts: &[&str]) -> Verdict {
    let refuse = |condition: bool, what: &str| if condition { Err(runs(what)) } else { Ok(()) };
    let Some((verb, rest)) = verb(texts) else {
        let front = texts.iter().any(|text| text.starts_with("--exec-path="));
        return refuse(front || has_setting(texts), "git settings");
    };
    let front = &texts[..texts.len() - rest.len() - 1];
    let from_elsewhere = front.iter().any(|text| text.starts_with("--exec-path=") || text.starts_with("--config-env"));
    refuse(from_elsewhere || has_setting(front), "git with settings for this call")?;
    refuse(rest.iter().any(|text| text.starts_with("ext::") || text.starts_with("fd::")), "git over a command")?;
    refuse(rest.iter().any(|text| text.starts_with('-') && text.contains("ProxyCommand")), "git with a proxy command")?;
    let long = |names: &[&str]| {
        rest.iter().any(|text| {
            let name = text.split('=').next().unwrap_or_default();
            name.starts_with("--") && names.iter().any(|full| name.len() > 5 && full.starts_with(name))
        })
    };
    let short = |letters: &[char]| {
        rest.iter().any(|text| text.starts_with('-') && !text.starts_with("--") && text[1..].starts_with(letters))
    };
    match verb {
        "config" => check_config(rest),
        "clone" | "init" => refuse(
            has_setting(rest)
                || long(&["--upload-pack", "--template", "--config"]) && has_setting_value(rest)
                || long(&["--upload-pack", "--template"])
                || short(&['u']),
            "git clone with a program",
        ),
        "fetch" | "pull" | "ls-remote" | "fetch-pack" | "push" | "archive" | "send-pack" => {
            refuse(long(&["--upload-pack", "--receive-pack", "--exec"]), "git with a program for the other side")
        }
        "rebase" => refuse(long(&["--exec"]) || short(&['x']), "git rebase --exec"),
        "bisect" => refuse(rest.first() == Some(&"run"), "git bisect run"),
        "submodule" => refuse(rest.contains(&"foreach"), "git submodule foreach"),
        "for-each-repo" | "filter-branch" | "instaweb" | "daemon" | "shell" | "hook" | "upload-pack"
        | "receive-pack" | "send-email" | "cvsserver" | "http-backend" | "remote-ext" | "web--browse" => {
            refuse(true, verb)
        }
        "difftool" | "mergetool" => refuse(long(&["--extcmd"]) || short(&['x']), "git difftool with a program"),
        "grep" => refuse(long(&["--open-files-in-pager"]) || short(&['O']), "git grep in a pager"),
        "maintenance" => refuse(rest.first() == Some(&"start"), "git maintenance start"),
        "remote" => refuse(long(&["--exec"]), "git remote"),
        _ => Ok(()),
    }
}

/// `-c key=value` with a key that names a command.
fn has_setting(texts: &[&str]) -> bool {
    texts.windows(2).any(|pair| matches!(pair[0], "-c" | "--config") && decides(pair[1]))
        || texts
            .iter()
            .any(|text| text.strip_prefix("-c").is_some_and(|setting| setting.contains('=') && decides(setting)))
        || has_setting_value(texts)
}

fn has_setting_value(texts: &[&str]) -> bool {
    texts.iter().any(|text| text.strip_prefix("--config=").is_some_and(decides))
}

fn decides(setting: &str) -> bool {
    let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
    key.to_ascii_lowercase().starts_with("protocol.")
        || is_deciding_key(key)
            && !matches!(value, "cat" | "" | "true" | "false" | "never" | "always" | "less" | "store" | "cache")
}

fn is_deciding_key(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    DECIDING_SETTINGS.iter().any(|part| {
        if part.starts_with('.') { key.ends_with(part) } else { key.starts_with(part) || key.ends_with(part) }
    })
}

/// Reading settings is harmless; so is writing one that names no command.
fn check_config(rest: &[&str]) -> Verdict {
    let operands: Vec<&str> = rest.iter().copied().filter(|text| !text.starts_with('-')).collect();
    let (key, value) = match operands.as_slice() {
        ["set", key, value, ..] | [key, value, ..] => (*key, *value),
        _ => return Ok(()),
    };
    // Short names for git's own commands are everyday; one that starts with `!` runs a program.
    let own_alias = key.to_ascii_lowercase().starts_with("alias.") && !value.starts_with('!');
    let usual = matches!(
        value,
        "cat"
            | "less"
            | "vim"
            | "vi"
            | "nano"
            | "emacs"
            | "code --wait"
            | "true"
            | "false"
            | "store"
            | "cache"
            | "osxkeychain"
            | "manager"
    );
    let usual = usual || value.starts_with("cache --timeout") || value.starts_with("store --file");
    let reading = rest
        .iter()
        .any(|text| text.starts_with("--get") || text.starts_with("--unset") || *text == "get" || *text == "unset");
    if is_deciding_key(key) && !own_alias && !usual && !reading { Err(runs("git config")) } else { Ok(()) }
}
