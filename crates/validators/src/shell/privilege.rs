//! Asking for other rights, or preparing to.

use super::argument::Arguments;
use super::files;
use super::lexer::Word;
use crate::{Finding, Verdict};

/// Programs that exist to run something with other rights, or to change accounts and what they may do.
const CHANGERS: &[&str] = &[
    "sudo",
    // Whoever may run it on this machine decides for its operator.
    "switchboard",
    "su",
    "doas",
    "pkexec",
    "run0",
    "runuser",
    "setpriv",
    "sudoedit",
    "visudo",
    "newgrp",
    "sg",
    "gosu",
    "su-exec",
    "setuidgid",
    "chpst",
    "chroot",
    "unshare",
    "nsenter",
    "capsh",
    "setcap",
    "machinectl",
    "passwd",
    "chpasswd",
    "useradd",
    "adduser",
    "usermod",
    "userdel",
    "deluser",
    "groupadd",
    "addgroup",
    "groupmod",
    "groupdel",
    "delgroup",
    "gpasswd",
    "chsh",
    "chfn",
    "chage",
    "vipw",
    "vigr",
    "dzdo",
    "sux",
    "ksu",
    "calife",
    "super",
    "gksu",
    "gksudo",
    "kdesu",
    "kdesudo",
    "sudo-rs",
    "please",
    "login",
    "agetty",
    "newuidmap",
    "newgidmap",
    "newusers",
    "pwck",
    "pwconv",
    "dscl",
    "runas",
    "bwrap",
    "systemd-nspawn",
    "arch-chroot",
    "pam_tally2",
    "setuid",
    "new-localuser",
    "add-localgroupmember",
];

pub(super) fn check(program: &str, arguments: &[Word]) -> Verdict {
    if CHANGERS.contains(&program) {
        return Err(refused(&format!("`{program}` changes rights")));
    }
    match program {
        "chmod" => check_chmod(arguments),
        "chown" | "chgrp" => {
            let read = Arguments::read(arguments, "");
            let owner = read.operands.first().copied().unwrap_or_default();
            let root = owner.split([':', '.']).any(|part| part == "root" || part == "0");
            let system = read.operands.iter().skip(1).any(|path| files::is_system_path(path));
            if root || system { Err(refused("the owner of system files or a privileged owner")) } else { Ok(()) }
        }
        "install" => {
            let read = Arguments::read(arguments, "mogtS");
            let mode = read.values('m').chain(read.long_values("mode")).any(is_set_id)
                || read.values('o').chain(read.long_values("owner")).any(|owner| owner == "root" || owner == "0");
            if mode { Err(refused("a set-user-ID mode")) } else { Ok(()) }
        }
        "setfacl" => {
            let read = Arguments::read(arguments, "mxMX");
            if read.operands.iter().any(|path| files::is_system_path(path)) {
                return Err(refused("rights on system files"));
            }
            Ok(())
        }
        "ssh" | "slogin" => {
            let local = ["root@localhost", "root@127.0.0.1", "root@::1"];
            if arguments.iter().any(|word| local.contains(&word.text.as_str())) {
                Err(refused("root on this machine"))
            } else {
                Ok(())
            }
        }
        "kubectl" | "oc" => {
            if arguments.iter().any(|word| word.text == "--as" || word.text.starts_with("--as=")) {
                Err(refused("another identity"))
            } else {
                Ok(())
            }
        }
        "chattr" => Err(refused("`chattr` locks or unlocks files")),
        "systemd-run" | "start-stop-daemon" | "at" | "batch" | "cron" | "anacron" | "openvt" | "atd" => {
            Err(refused(&format!("`{program}` lets another service run the command")))
        }
        _ => Ok(()),
    }
}

fn check_chmod(arguments: &[Word]) -> Verdict {
    let read = Arguments::read(arguments, "");
    // A mode such as `-x` looks like an option.
    let mut modes = arguments.iter().map(|word| word.text.as_str());
    if modes.any(|text| !text.starts_with("--") && is_set_id(text)) {
        return Err(refused("a set-user-ID mode"));
    }
    let recursive = read.has("R") || read.has_long(&["recursive"]);
    let open = read.operands.iter().any(|mode| {
        matches!(
            mode.trim_start_matches('0'),
            "777" | "666" | "a+rwx" | "a=rwx" | "ugo+rwx" | "+rwx" | "o+w" | "a+w" | "o+rwx" | "ugo=rwx"
        )
    });
    let system = read.operands.iter().any(|path| files::is_system_path(path));
    if system || (recursive && open) {
        return Err(refused("the rights of system files or of a whole tree"));
    }
    Ok(())
}

/// `4755`, `u+s`, `g=rxs`: the file then runs with the rights of its owner.
fn is_set_id(mode: &str) -> bool {
    let octal = mode.len() >= 4
        && mode.bytes().all(|b| (b'0'..=b'7').contains(&b))
        && mode.len() <= 6
        && u32::from_str_radix(mode, 8).is_ok_and(|bits| bits & 0o6000 != 0);
    let symbolic = mode.split(',').any(|clause| {
        clause.find(['+', '=']).is_some_and(|at| {
            clause[..at].bytes().all(|b| b"ugoa".contains(&b))
                && clause[at + 1..].bytes().all(|b| b"rwxXst+=".contains(&b))
                && clause[at..].contains('s')
        })
    });
    octal || symbolic
}

fn refused(what: &str) -> Finding {
    Finding::new("shell-privilege", format!("{what}: not allowed"))
}
