//! Build tools, package managers and debuggers: hooks, wrappers and plug-ins.

use super::{NONE, Rule};

pub(super) const RULES: &[Rule] = &[
    Rule { programs: &["cargo"], long: &["config"], words: &["-Clinker*", "linker=*"], ..NONE },
    Rule {
        programs: &["rustc", "rustdoc"],
        words: &["-Clinker*", "linker=*", "--test-builder*", "--runtool*"],
        ..NONE
    },
    Rule {
        programs: &["go"],
        words: &[
            "-exec",
            "-exec=*",
            "-toolexec*",
            "-vettool*",
            "--exec*",
            "--toolexec*",
            "CC=*",
            "CXX=*",
            "GOFLAGS=*",
            "http://*",
            "https://*",
        ],
        ..NONE
    },
    Rule {
        programs: &["gcc", "g++", "cc", "c++", "clang", "clang++", "cpp", "gfortran", "tcc"],
        words: &["-wrapper*", "-B*", "-fplugin*", "-specs*", "-Xclang", "-run"],
        ..NONE
    },
    Rule {
        programs: &["ld", "ld.so", "ld.gold", "ld-linux-x86-64.so.2", "ld-linux.so.2", "lld"],
        words: &["-plugin*", "--plugin*", "/*"],
        ..NONE
    },
    Rule { programs: &["cmake"], words: &["-E env*", "env", "time", "chdir"], ..NONE },
    Rule { programs: &["cobc"], short: "jx", values: "", ..NONE },
    Rule {
        programs: &["npm", "pnpm", "yarn"],
        long: &["script-shell", "node-options", "shell", "ignore-scripts=false"],
        words: &["script-shell*", "node-options*", "http://*", "git+http*", "https://*.tgz", "https://*.tar.gz"],
        ..NONE
    },
    Rule {
        programs: &["pip", "pip2", "pip3", "easy_install", "pipx"],
        long: &["editor", "trusted-host", "python"],
        words: &[
            "http://*",
            "https://*.tar.gz",
            "https://*.zip",
            "https://*.whl",
            "https://*.tgz",
            "--index-url=http:*",
            "--extra-index-url=http:*",
        ],
        ..NONE
    },
    Rule {
        programs: &["gem", "bundle"],
        short: "e",
        values: "",
        long: &["file"],
        words: &["exec", "console", "http://*"],
        ..NONE
    },
    Rule { programs: &["composer"], words: &["exec"], ..NONE },
    Rule {
        programs: &["apt", "apt-get", "aptitude", "apt-cache"],
        short: "oc",
        values: "",
        long: &["option", "config-file"],
        ..NONE
    },
    Rule { programs: &["dnf", "yum"], words: &["localinstall", "*.rpm", "http://*", "--setopt*"], ..NONE },
    Rule { programs: &["snap"], words: &["--dangerous", "--devmode"], ..NONE },
    Rule { programs: &["opkg", "apk", "pkg"], words: &["--allow-untrusted", "http://*", "./*"], ..NONE },
    Rule {
        programs: &["rpm", "rpmquery", "rpmdb", "rpmverify", "rpmbuild"],
        short: "E",
        values: "",
        long: &["eval", "pipe", "define", "load"],
        ..NONE
    },
    Rule {
        programs: &[
            "nodemon",
            "onchange",
            "chokidar",
            "watchman",
            "watchexec",
            "cargo-watch",
            "concurrently",
            "npm-run-all",
            "supervisor",
        ],
        short: "xcs",
        values: "wi",
        long: &["exec", "command", "shell", "on-change-only"],
        ..NONE
    },
    Rule {
        programs: &["certbot"],
        long: &["pre-hook", "post-hook", "deploy-hook", "renew-hook", "manual-auth-hook", "manual-cleanup-hook"],
        ..NONE
    },
    Rule {
        programs: &["gdb", "cgdb", "gdbserver", "rust-gdb", "crash"],
        short: "x",
        values: "",
        long: &["eval-command", "init-eval-command", "command", "batch", "args"],
        words: &["-ex", "-iex", "-x", "-ix", "-eval-command", "-batch", "-h"],
        ..NONE
    },
    Rule {
        programs: &["lldb", "rust-lldb"],
        short: "osOkK",
        values: "",
        long: &["one-line", "source", "one-line-before-file"],
        ..NONE
    },
    Rule { programs: &["bpftrace", "stap", "dtrace", "sysdig"], short: "ecn", values: "", long: &["unsafe"], ..NONE },
    Rule { programs: &["pidstat", "scrot", "plymouth"], short: "e", values: "", long: &["command", "exec"], ..NONE },
    Rule { programs: &["byebug", "rdbg", "pdb", "ipdb"], words: &["*"], ..NONE },
    Rule { programs: &["tcpdump"], short: "z", values: "iwrcsCGWFyBm", long: &["postrotate-command"], ..NONE },
    Rule { programs: &["tshark", "wireshark", "dumpcap"], words: &["-Xlua*", "-X", "lua_script*"], ..NONE },
    Rule {
        programs: &["nmap"],
        long: &["interactive"],
        words: &["--script=*/*", "--script=*.nse", "*.nse", "--datadir*", "--resume"],
        ..NONE
    },
    Rule { programs: &["sqlmap"], long: &["eval", "os-shell", "os-cmd", "os-pwn"], ..NONE },
];
