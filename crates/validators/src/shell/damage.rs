//! Stopping or damaging the machine, its storage, its services or its network.

use super::files;
use super::lexer::Word;
use crate::{Finding, Verdict};

/// Programs whose ordinary use is the damage.
const ALWAYS: &str = "shutdown reboot halt poweroff init telinit mke2fs mkswap mkntfs mkdosfs wipefs sfdisk cfdisk gdisk sgdisk cgdisk \
     blkdiscard shred srm wipe scrub nwipe lvremove vgremove pvremove lvreduce pvcreate vgcreate lvcreate mdadm \
     cryptsetup debugfs resize2fs tune2fs swapoff swapon losetup umount pivot_root switch_root kexec insmod modprobe \
     rmmod depmod killall5 ifdown ifup ebtables arptables ipset pfctl arpspoof ettercap hping3 macchanger slowloris \
     stress stress-ng grub-install update-grub efibootmgr flashrom fdformat format csrutil spctl nvram macof \
     aireplay-ng mdk3 mdk4 t50 diskpart sdelete wevtutil invoke-expression set-executionpolicy stop-computer \
     restart-computer format-volume clear-disk clear-eventlog set-mppreference psexec installutil regasm \
     invoke-webrequest iwr start-process invoke-command update-rc.d chkconfig update-initramfs xfs_growfs dropdb";

pub(super) fn check(program: &str, arguments: &[Word]) -> Verdict {
    if crate::listed(ALWAYS, program) || program.starts_with("mkfs") || program.starts_with("fsck.") {
        return Err(refused(&format!("`{program}` can damage or stop this machine")));
    }
    let texts: Vec<&str> = arguments.iter().map(|word| word.text.as_str()).collect();
    let any = |words: &[&str]| texts.iter().any(|text| words.contains(text));
    let verb = texts.iter().find(|text| !text.starts_with('-')).copied().unwrap_or_default();
    let bad = match program {
        "dd" => texts.iter().any(|text| {
            text.strip_prefix("of=").is_some_and(|path| files::is_system_path(path) && !is_harmless_device(path))
                || text.strip_prefix("if=").is_some_and(is_disk)
        }),
        "fdisk" | "parted" | "gparted" | "hdparm" | "nvme" | "badblocks" | "smartctl" => !any(&[
            "-l",
            "--list",
            "list",
            "-i",
            "-a",
            "-I",
            "-V",
            "--version",
            "--help",
            "-h",
            "-H",
            "--scan",
            "print",
        ]),
        "zpool" | "zfs" | "btrfs" => any(&[
            "destroy",
            "create",
            "labelclear",
            "offline",
            "detach",
            "remove",
            "rollback",
            "delete",
            "del",
            "export",
            "format",
        ]),
        "mount" => verb.starts_with('/') || texts.len() > 1,
        "systemctl" | "launchctl" | "rc-service" | "sv" | "initctl" | "loginctl" | "service" => {
            !is_service_query(program, &texts)
        }
        "ip" => any(&["set", "add", "del", "delete", "flush", "change", "replace", "append", "exec"]),
        "ifconfig" => texts.iter().filter(|text| !text.starts_with('-')).count() > 1,
        "route" => any(&["add", "del", "delete", "flush", "change"]),
        "arp" => any(&["-d", "-s", "--delete", "--set"]),
        "iptables" | "ip6tables" | "iptables-save" | "iptables-legacy" | "iptables-nft" => {
            !any(&["-L", "-S", "--list", "--list-rules", "-V", "--version", "-nL", "-vnL", "-nvL", "-vL", "-Ln"])
                && program != "iptables-save"
        }
        "iptables-restore" | "ip6tables-restore" => true,
        "nft" => verb != "list",
        "ufw" => verb != "status" && verb != "version",
        "firewall-cmd" => !texts.iter().all(|text| {
            text.starts_with("--list") || text.starts_with("--get") || *text == "--state" || text.starts_with("--zone")
        }),
        "nmcli" | "netsh" | "networksetup" => {
            any(&["down", "off", "delete", "disconnect", "modify", "add", "set", "edit", "reset", "-setwebproxy"])
        }
        "ethtool" => any(&["-s", "-K", "-A", "-G", "-C", "--change", "-E"]),
        "sysctl" => any(&["-w", "--write", "-p", "--load", "--system"]) || texts.iter().any(|text| text.contains('=')),
        "date" => texts.iter().any(|text| *text == "-s" || text.starts_with("--set")),
        "hwclock" => any(&["-w", "-s", "--systohc", "--hctosys", "--set"]),
        "hostnamectl" | "timedatectl" | "localectl" => verb.starts_with("set-"),
        "fuser" => texts.iter().any(|text| text.starts_with("-k") || *text == "--kill"),
        "tc" => !any(&["show", "ls", "list"]),
        "iwconfig" => texts.len() > 1,
        "rfkill" => any(&["block"]),
        "kill" => is_kill_all(&texts),
        "killall" | "pkill" | "skill" => is_broad_kill(program, &texts),
        "crontab" => !any(&["-l"]) || any(&["-r", "-e"]),
        "history" => any(&["-c", "-d"]),
        "unset" => any(&["HISTFILE", "PATH", "HISTSIZE"]),
        "fallocate" | "truncate" => texts.iter().any(|text| files::is_system_path(text) || is_huge(text)),
        "journalctl" => texts.iter().any(|text| text.starts_with("--vacuum") || text.starts_with("--rotate")),
        "ping" => any(&["-f", "--flood"]),
        "diskutil" => !matches!(verb, "list" | "info" | "activity"),
        "mknod" => any(&["b", "c", "u"]),
        "update-alternatives" => any(&["--install", "--set", "--config", "--remove", "--remove-all"]),
        "ipmitool" => any(&["power", "chassis", "reset", "off"]),
        "fsutil" | "tmutil" => any(&["delete", "deletelocalsnapshots", "disable", "setzerodata", "usn"]),
        "terraform" | "tofu" | "pulumi" | "terragrunt" | "cdk" => {
            any(&["destroy", "-destroy", "--destroy"])
                && any(&[
                    "-auto-approve",
                    "--auto-approve",
                    "-auto-approve=true",
                    "--yes",
                    "-y",
                    "--force",
                    "--skip-preview",
                    "-f",
                ])
        }
        "kubectl" | "oc" => {
            any(&["delete"])
                && any(&[
                    "--all",
                    "-A",
                    "--all-namespaces",
                    "namespace",
                    "namespaces",
                    "ns",
                    "node",
                    "nodes",
                    "pv",
                    "pvc",
                    "crd",
                ])
        }
        "docker" | "podman" | "nerdctl" => {
            any(&["prune"])
                && (any(&["--volumes", "volume"]) || (any(&["system"]) && any(&["-a", "--all", "-af", "-fa"])))
                || any(&["kill", "stop", "rm"]) && texts.contains(&"--all")
        }
        "redis-cli" => {
            texts.iter().any(|text| {
                ["flushall", "flushdb", "shutdown", "debug", "slaveof", "replicaof", "module"]
                    .contains(&text.to_ascii_lowercase().as_str())
            }) || (any(&["config", "CONFIG"]) && any(&["set", "SET"]))
        }
        "mysqladmin" => any(&["drop", "shutdown", "kill"]),
        "mysql" | "mariadb" | "psql" | "sqlite3" | "sqlcmd" | "clickhouse-client" | "mongosh" | "mongo" | "duckdb" => {
            texts.iter().any(|text| is_destructive_sql(text))
        }
        "virsh" => any(&["destroy", "undefine", "shutdown", "vol-delete", "vol-wipe"]),
        "mv" => {
            is_overwriting_device(&texts)
                || texts.iter().any(|text| files::is_system_path(text) || files::is_home(text))
        }
        "cp" | "ln" | "install" => is_overwriting_device(&texts),
        "apt" | "apt-get" | "aptitude" | "dnf" | "yum" | "zypper" | "apk" => {
            any(&["remove", "purge", "autoremove", "erase", "del", "rm", "dist-upgrade"])
        }
        "dpkg" => any(&["-r", "-P", "--remove", "--purge", "-i", "--install", "--force-all", "--unpack"]),
        "rpm" => any(&["-e", "--erase", "-i", "-ivh", "-U", "-Uvh", "--install", "--upgrade"]),
        "pacman" => texts.iter().any(|text| text.starts_with("-R")),
        "swapctl" | "setenforce" | "aa-disable" | "aa-teardown" | "auditctl" | "setsebool" | "semanage" => true,
        "xset" | "xinput" => any(&["disable"]),
        "tee" => texts.iter().any(|text| is_disk(text)),
        "screen" | "tmux" => any(&["kill-server"]),
        "bcdedit" | "vssadmin" | "wbadmin" | "cipher" | "reg" | "schtasks" | "wmic" | "taskkill" | "netsh.exe"
        | "sc" | "icacls" | "takeown" | "net" | "bitsadmin" | "certutil" | "mshta" | "rundll32" | "regsvr32"
        | "cscript" | "wscript" | "cmd" | "powershell" | "pwsh" | "forfiles" | "msiexec" | "attrib" | "rmdir.exe"
        | "del" | "erase" | "rd" | "deltree" => is_windows_change(program, &texts),
        _ => false,
    };
    if bad {
        return Err(refused(&format!("`{program}` with these arguments can damage or stop something")));
    }
    let reads_disk =
        ["ls", "lsblk", "blkid", "file", "stat", "df", "du", "udevadm", "echo", "fdisk", "smartctl", "findmnt", "test"];
    if !reads_disk.contains(&program) && texts.iter().any(|text| is_disk(text)) {
        return Err(refused("a raw disk as argument"));
    }
    Ok(())
}

fn is_disk(path: &str) -> bool {
    let Some(device) = path.strip_prefix("/dev/") else { return false };
    ["sd", "hd", "vd", "xvd", "nvme", "mmcblk", "mapper/", "disk", "dm-", "md", "loop", "rdisk", "mem", "kmem", "port"]
        .iter()
        .any(|start| device.starts_with(start))
}

fn is_harmless_device(path: &str) -> bool {
    matches!(path, "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty")
}

fn is_service_query(program: &str, texts: &[&str]) -> bool {
    let verbs: Vec<&str> = texts.iter().copied().filter(|text| !text.starts_with('-')).collect();
    let Some(verb) = verbs.first() else { return !texts.contains(&"--force") };
    if program == "service" || program == "sv" || program == "rc-service" {
        return texts.contains(&"--status-all")
            || (verbs.len() == 2 && verbs[1] == "status" && !verb.contains('/'))
            || *verb == "status";
    }
    verb.starts_with("list")
        || verb.starts_with("is-")
        || [
            "status",
            "show",
            "cat",
            "help",
            "print",
            "session-status",
            "user-status",
            "get-default",
            "show-environment",
        ]
        .contains(verb)
}

fn is_kill_all(texts: &[&str]) -> bool {
    let mut targets = texts;
    if let Some(first) = texts.first().filter(|first| first.starts_with('-')) {
        let separate = matches!(*first, "-s" | "-n" | "--signal");
        if matches!(*first, "-l" | "-L" | "--list") {
            return false;
        }
        targets = texts.get(1 + usize::from(separate)..).unwrap_or_default();
        if targets.is_empty() && *first == "-1" {
            return true;
        }
    }
    targets.iter().any(|target| matches!(*target, "-1" | "1" | "0"))
}

fn is_broad_kill(program: &str, texts: &[&str]) -> bool {
    let vital = [
        "init",
        "systemd",
        "sshd",
        "dbus-daemon",
        "dockerd",
        "containerd",
        "kubelet",
        "login",
        "xorg",
        "gdm",
        "networkmanager",
        ".",
        ".*",
        "",
        "-1",
        "root",
        "rsyslogd",
        "auditd",
        "falco",
    ];
    texts.iter().any(|text| vital.contains(&text.to_ascii_lowercase().as_str()))
        || (program == "pkill" && texts.contains(&"-v"))
        || texts.iter().any(|text| matches!(*text, "-u" | "-U" | "--user" | "--euid" | "--uid" | "--inverse"))
}

/// Sizes from a hundred gigabytes on: only good to fill a disk.
fn is_huge(text: &str) -> bool {
    let size = text.trim_start_matches(|c: char| !c.is_ascii_digit());
    let digits = size.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let Ok(number) = digits.parse::<u64>() else { return false };
    match size[digits.len()..].to_ascii_uppercase().chars().next() {
        Some('T' | 'P' | 'E') => true,
        Some('G') => number >= 100,
        _ => number >= 100_000_000_000,
    }
}

fn is_destructive_sql(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty()).collect();
    words.windows(2).any(|pair| {
        (pair[0] == "drop" && ["database", "table", "schema", "user", "role"].contains(&pair[1]))
            || (pair[0] == "truncate" && pair[1] == "table")
    }) || lower.contains("dropdatabase(")
}

/// Moving files into nothing, or something over a device.
fn is_overwriting_device(texts: &[&str]) -> bool {
    let target = texts.iter().rfind(|text| !text.starts_with('-')).copied().unwrap_or_default();
    let first = texts.iter().find(|text| !text.starts_with('-')).copied().unwrap_or_default();
    target.starts_with("/dev/") || first == "/dev/null" || texts.contains(&"/")
}

fn is_windows_change(program: &str, texts: &[&str]) -> bool {
    match program {
        "net" | "sc" | "reg" | "wmic" | "schtasks" => !matches!(
            texts.first().map(|text| text.to_ascii_lowercase()).as_deref(),
            Some("query" | "view" | "/query" | "statistics")
        ),
        "cmd" | "powershell" | "pwsh" => {
            !texts.iter().any(|text| matches!(*text, "--version" | "-Version" | "-v" | "--help" | "-File"))
                && !texts.is_empty()
        }
        "certutil" => texts.iter().any(|text| {
            let lower = text.to_ascii_lowercase();
            lower.contains("urlcache") || lower.contains("decode") || lower.contains("encode") || lower.contains("://")
        }),
        "attrib" | "icacls" => texts.len() > 1,
        "cipher" => texts.iter().any(|text| text.to_ascii_lowercase().starts_with("/w")),
        "cscript" | "wscript" | "format" => true,
        _ => true,
    }
}

fn refused(what: &str) -> Finding {
    Finding::new("shell-damage", what)
}
