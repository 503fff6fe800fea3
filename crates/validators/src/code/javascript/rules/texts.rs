//! Texts that say where a program reaches: files, environment variables, markup.

/// Files that hold credentials or are run by others, and addresses that give credentials away.
pub(in crate::code::javascript) fn is_telling_text(text: &str) -> bool {
    const PARTS: &str = ".ssh .aws .gnupg .kube .netrc .git-credentials .bashrc .bash_profile .profile .zshrc .zprofile \
         .bash_history authorized_keys id_rsa id_dsa id_ecdsa id_ed25519 cron.d crontab crontabs sudoers sudoers.d \
         docker.sock containerd.sock podman.sock .pgpass .npmrc .pypirc LaunchAgents LaunchDaemons";
    const STARTS: &str = "/etc/passwd /etc/shadow /etc/sudoers /etc/cron /etc/ld.so /etc/init /etc/systemd /proc/self \
         /proc/1 /dev/mem /dev/kmem /dev/sd /dev/nvme /boot /root /var/run/docker";
    const HOSTS: &str = "169.254. metadata.google.internal 100.100.100.200 fd00:ec2";
    if text.len() > 300 || text.contains(['\n', '<']) {
        return false;
    }
    let bare = text.strip_prefix("file://").unwrap_or(text);
    // Sockets of this machine in place of a host.
    if ["http+unix:", "unix:", "npipe:"].iter().any(|scheme| text.starts_with(scheme)) || text.contains("://unix:") {
        return true;
    }
    STARTS.split_ascii_whitespace().any(|start| bare.starts_with(start))
        || HOSTS.split_ascii_whitespace().any(|host| text.contains(host))
        || !text.contains(' ')
            && text.split(['/', '\\', ':']).any(|part| PARTS.split_ascii_whitespace().any(|known| known == part))
}

/// Whether a text is markup or an address that runs code where it is shown.
pub(in crate::code::javascript) fn is_active(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    if lower.trim_start().starts_with("javascript:")
        || lower.contains("=javascript:")
        || lower.contains("=\"javascript:")
    {
        return true;
    }
    lower.contains("<script") || lower.contains('<') && has_handler(&lower)
}

/// Whether a tag has an attribute like `onerror=`.
fn has_handler(lower: &str) -> bool {
    lower.match_indices("on").any(|(at, _)| {
        let before = lower[..at].chars().next_back();
        let rest = lower[at + 2..].trim_start_matches(|c: char| c.is_ascii_lowercase());
        let named = lower.len() - at - 2 - rest.len() > 2;
        named && before.is_some_and(|c| c.is_whitespace() || c == '/' || c == '"') && rest.trim_start().starts_with('=')
    })
}

/// Whether an environment variable chooses programs, libraries or options of what is started later.
pub(in crate::code::javascript) fn is_named_environment(name: &str) -> bool {
    const NAMES: &str = "PATH EDITOR VISUAL PAGER BROWSER SHELL IFS ENV BASH_ENV HOME PS1 PROMPT_COMMAND TMPDIR";
    const STARTS: &str = "LD_ DYLD_ GIT_ PYTHON PERL RUBY JAVA npm_ NPM_ BUN_ DENO_ SSH_ DOCKER_ AWS_";
    const ENDS: &str = "_PATH _OPTIONS _OPTS _COMMAND _CMD _EDITOR _PROXY _proxy _SHELL _BINARY _HOME _PRELOAD";
    let starts = |list: &str| list.split_ascii_whitespace().any(|start| name.starts_with(start));
    let ends = |list: &str| list.split_ascii_whitespace().any(|end| name.ends_with(end));
    NAMES.split_ascii_whitespace().any(|known| known.eq_ignore_ascii_case(name))
        || starts(STARTS)
        || ends(ENDS)
        || name.starts_with("NODE_") && name != "NODE_ENV"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_that_runs_code_is_seen() {
        for text in
            ["<img src=x onerror=alert(1)>", "javascript:alert(1)", "<SCRIPT src=x>", "<a href=\"javascript:x\">"]
        {
            assert!(is_active(text), "{text}");
        }
        for text in ["<li>on time = good</li>", "<p>hello</p>", "a on b=c", "learn javascript: now"] {
            assert!(!is_active(text), "{text}");
        }
    }
}
