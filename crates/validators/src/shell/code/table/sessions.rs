//! Terminals, desktops and network tools: what they run for a session, a download or a connection.

use super::{NONE, Rule};

pub(super) const RULES: &[Rule] = &[
    Rule {
        programs: &["script", "scriptreplay", "asciinema"],
        short: "cI",
        values: "",
        long: &["command"],
        words: &["/dev/null"],
        ..NONE
    },
    Rule {
        programs: &["tmux"],
        short: "fcS",
        values: "L",
        words: &[
            "run-shell",
            "run",
            "if-shell",
            "if",
            "pipe-pane",
            "send-keys",
            "send",
            "source-file",
            "respawn-pane",
            "respawn-window",
            "display-popup",
        ],
        ..NONE
    },
    Rule { programs: &["screen"], short: "Xc", values: "StTehp", ..NONE },
    Rule { programs: &["byobu", "tmate", "zellij"], short: "c", values: "", words: &["run", "action"], ..NONE },
    Rule {
        programs: &[
            "xterm",
            "gnome-terminal",
            "konsole",
            "urxvt",
            "rxvt",
            "alacritty",
            "kitty",
            "xfce4-terminal",
            "terminator",
            "foot",
            "wezterm",
            "lxterminal",
            "st",
        ],
        short: "ex",
        values: "",
        long: &["command", "execute"],
        words: &["--", "start"],
        ..NONE
    },
    Rule { programs: &["xdotool", "ydotool", "wmctrl"], words: &["exec", "key", "type", "behave"], ..NONE },
    Rule { programs: &["fzf", "sk", "peco"], long: &["bind", "listen", "preview", "execute"], ..NONE },
    Rule {
        programs: &["busctl", "gdbus", "dbus-send", "qdbus"],
        words: &["call", "set-property", "emit", "--address*", "--type=method_call"],
        ..NONE
    },
    Rule { programs: &["ncdu"], short: "e", values: "of", ..NONE },
    Rule { programs: &["mail", "mailx"], words: &["--exec*", "-E*"], ..NONE },
    Rule {
        programs: &["gimp", "inkscape", "blender", "soffice", "libreoffice", "lowriter"],
        short: "b",
        values: "",
        long: &["batch", "batch-interpreter", "python-expr", "python", "actions"],
        words: &["macro:*", "vnd.sun.star.script:*", "-b", "--python-expr*"],
        ..NONE
    },
    Rule {
        programs: &["openvpn"],
        long: &[
            "up",
            "down",
            "script-security",
            "route-up",
            "ipchange",
            "tls-verify",
            "auth-user-pass-verify",
            "client-connect",
            "learn-address",
            "plugin",
            "config",
        ],
        ..NONE
    },
    Rule { programs: &["dnsmasq", "dhclient", "pppd", "udhcpc", "hostapd"], words: &["*"], ..NONE },
    Rule {
        programs: &["aria2c"],
        long: &[
            "on-download-complete",
            "on-download-start",
            "on-download-error",
            "on-bt-download-complete",
            "on-download-pause",
            "on-download-stop",
            "conf-path",
        ],
        ..NONE
    },
    Rule {
        programs: &["yt-dlp", "youtube-dl", "gallery-dl"],
        long: &[
            "exec",
            "exec-before-download",
            "external-downloader",
            "downloader",
            "config-location",
            "config-locations",
            "postprocessor-args",
            "plugin-dirs",
        ],
        ..NONE
    },
    Rule {
        programs: &["restic", "borg", "duplicity", "rclone"],
        long: &["password-command", "rsh", "ssh-backend", "password-file-command"],
        ..NONE
    },
    Rule { programs: &["sshfs"], words: &["*ssh_command*", "*ProxyCommand*", "*sftp_server=*"], ..NONE },
    Rule { programs: &["sshuttle"], short: "e", values: "rx", long: &["ssh-cmd"], ..NONE },
    Rule { programs: &["ssh-keygen", "ssh-add", "ssh-agent"], short: "DsP", values: "fCtbNOmY", ..NONE },
    Rule { programs: &["openssl"], words: &["-engine", "-provider", "-provider-path", "engine", "-config"], ..NONE },
    Rule { programs: &["hg"], long: &["config"], words: &["--config*", "--debugger"], ..NONE },
    Rule { programs: &["svn"], long: &["config-option", "editor-cmd", "diff-cmd", "diff3-cmd"], ..NONE },
    Rule {
        programs: &["consul", "nomad", "task", "opencode", "codex"],
        words: &["exec", "execute", "monitor"],
        ..NONE
    },
    Rule { programs: &["helm"], long: &["post-renderer"], words: &["plugin"], ..NONE },
    Rule { programs: &["minicom"], short: "DS", values: "", ..NONE },
    Rule {
        programs: &["neofetch", "fastfetch", "screenfetch", "needrestart", "rtorrent", "logrotate", "bee", "easyrsa"],
        short: "cn",
        values: "",
        long: &["config", "vars", "source"],
        words: &["eval"],
        ..NONE
    },
    Rule {
        programs: &["asterisk", "ncftp", "msfconsole", "msfvenom", "bconsole", "volatility", "tasksh", "scanmem"],
        words: &["*"],
        ..NONE
    },
];
