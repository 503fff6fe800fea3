//! Interpreters: a script file may run, a text in the arguments may not.

use super::{NONE, Rule};

pub(super) const RULES: &[Rule] = &[
    Rule {
        programs: &["python", "pypy", "python2", "ipython", "jython", "micropython", "bpython"],
        short: "c",
        values: "mWXQ",
        long: &["command"],
        words: &["-"],
        leading: true,
    },
    Rule {
        programs: &["node", "nodejs", "iojs"],
        short: "epri",
        values: "C",
        long: &["eval", "print", "require", "import", "loader", "experimental-loader", "interactive"],
        words: &["-"],
        leading: true,
    },
    Rule {
        programs: &["ts-node", "tsx", "bun"],
        short: "ep",
        values: "C",
        long: &["eval", "print", "require", "preload"],
        words: &[],
        leading: true,
    },
    Rule { programs: &["deno"], words: &["eval", "http://*", "https://*", "--eval*"], ..NONE },
    Rule {
        programs: &["perl", "raku", "cperl"],
        short: "eEd",
        values: "I:iMmxFCD",
        words: &["-"],
        leading: true,
        ..NONE
    },
    Rule {
        programs: &["ruby", "jruby", "irb", "pry", "mruby", "truffleruby", "crystal"],
        short: "er",
        values: "CEI:iFKTWx",
        long: &["require", "exec", "eval"],
        words: &["-", "eval"],
        leading: true,
    },
    Rule {
        programs: &["rake", "thor"],
        short: "eprE",
        values: "fIC",
        long: &["execute", "execute-print", "execute-continue", "require"],
        ..NONE
    },
    Rule { programs: &["rails", "bin/rails"], words: &["runner", "r"], ..NONE },
    Rule {
        programs: &["php", "hhvm", "php-cgi"],
        short: "rRBES",
        values: "cfdztF",
        long: &["run", "process-code", "process-begin", "process-end", "server"],
        words: &["auto_prepend_file*", "-dauto*", "-dextension*", "extension=*"],
        leading: true,
    },
    Rule { programs: &["lua", "luajit", "texlua", "luau", "lua5"], short: "eli", values: "", leading: true, ..NONE },
    Rule { programs: &["r", "rscript", "littler"], short: "e", values: "fg", ..NONE },
    Rule {
        programs: &["julia"],
        short: "eELi",
        values: "CJptHOg",
        long: &["eval", "print", "load"],
        leading: true,
        ..NONE
    },
    Rule {
        programs: &["octave", "octave-cli", "matlab", "scilab", "maxima", "gp", "sage"],
        long: &["eval", "batch-string", "run-tests"],
        words: &["-batch", "-r", "-e", "-c"],
        ..NONE
    },
    Rule {
        programs: &["ghc", "ghci", "runghc", "runhaskell", "stack", "ocaml", "coqtop"],
        words: &["-pgmF*", "-e"],
        ..NONE
    },
    Rule {
        programs: &["sbcl", "ecl", "ccl", "clisp", "abcl"],
        short: "x",
        values: "",
        long: &["eval", "load", "non-interactive"],
        words: &["-eval", "-x", "-e", "-i"],
        ..NONE
    },
    Rule {
        programs: &[
            "guile", "racket", "csi", "scheme", "chicken", "gosh", "gsi", "chez", "bb", "clojure", "clj", "lein", "hy",
            "janet", "fennel",
        ],
        long: &["eval", "expr"],
        words: &["-c", "-e", "-r"],
        ..NONE
    },
    Rule {
        programs: &[
            "groovy",
            "scala",
            "kotlin",
            "kotlinc",
            "jrunscript",
            "amm",
            "scala-cli",
            "swift",
            "dart",
            "v",
            "io",
        ],
        long: &["eval"],
        words: &["-e", "-pe", "-ne"],
        ..NONE
    },
    Rule {
        programs: &["erl", "elixir", "iex", "mix", "escript", "gleam"],
        short: "er",
        values: "",
        long: &["eval", "rpc-eval"],
        words: &["-eval", "-s", "-run", "-e"],
        ..NONE
    },
    Rule {
        programs: &["java", "javaw"],
        words: &[
            "-javaagent*",
            "-agentpath*",
            "-agentlib*",
            "-XX:OnError*",
            "-XX:OnOutOfMemoryError*",
            "-XX:Flags*",
            "@*",
        ],
        ..NONE
    },
    Rule {
        programs: &["mvn", "mvnw", "gradle", "gradlew", "ant", "sbt"],
        words: &["exec:*", "-Dexec.*", "-I", "--init-script*", "-Dmaven.ext.class.path*", "-Dorg.gradle.jvmargs*"],
        ..NONE
    },
    Rule { programs: &["dotnet"], words: &["fsi", "script"], ..NONE },
    Rule {
        programs: &["tclsh", "wish", "expect", "tclsh8", "jimsh"],
        short: "ci",
        values: "",
        words: &["-", "-c"],
        leading: true,
        ..NONE
    },
    Rule { programs: &["osascript"], short: "ei", values: "ls", ..NONE },
    Rule { programs: &["dc"], short: "e", values: "f", long: &["expression"], ..NONE },
    Rule { programs: &["gnuplot", "slsh", "ginsh", "yorick"], short: "e", values: "", ..NONE },
    Rule { programs: &["m4"], words: &["-"], ..NONE },
    Rule {
        programs: &["puppet", "facter", "chef-apply", "chef-client", "knife", "salt", "salt-call", "cdist", "bolt"],
        short: "eE",
        values: "",
        long: &["execute", "custom-dir", "external-dir", "exec"],
        words: &["cmd.run*", "exec", "ssh", "shell", "command"],
        ..NONE
    },
    Rule {
        programs: &["ansible", "ansible-console"],
        words: &[
            "shell",
            "command",
            "raw",
            "script",
            "-mshell",
            "-mcommand",
            "-mraw",
            "ansible.builtin.shell",
            "ansible.builtin.command",
            "expect",
        ],
        ..NONE
    },
    Rule { programs: &["ansible-test", "ansible-pull"], words: &["shell", "-U*"], ..NONE },
];
