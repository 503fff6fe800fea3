//! Editors, pagers, archivers, converters and databases: all of them can start programs.

use super::{NONE, Rule};

pub(super) const RULES: &[Rule] = &[
    Rule {
        programs: &[
            "vim",
            "vi",
            "nvim",
            "ex",
            "view",
            "vimdiff",
            "gvim",
            "rvim",
            "rview",
            "evim",
            "vimx",
            "vim.basic",
            "vim.tiny",
            "nvi",
            "neovide",
        ],
        short: "cSsuWw",
        values: "tT",
        long: &["cmd", "headless", "listen", "remote-expr", "remote-send", "startuptime"],
        words: &["+!*", "+:*", "+py*", "+lua*", "+call*", "+exe*", "+term*", "+sh*", "+so*", "+r*", "+w*", "-es", "-E"],
        ..NONE
    },
    Rule {
        programs: &["emacs", "emacsclient", "xemacs", "mg", "jove", "zile"],
        short: "felL",
        values: "dsT",
        long: &["eval", "funcall", "load", "script", "batch", "execute", "insert"],
        words: &["-eval", "-execute", "-load", "-script", "-batch", "-f", "-l"],
        ..NONE
    },
    Rule {
        programs: &["nano", "pico", "rnano", "micro", "joe", "kak", "hx"],
        short: "se",
        values: "",
        long: &["speller"],
        words: &["-e", "-E"],
        ..NONE
    },
    Rule {
        programs: &["less", "more", "most", "pg", "zless", "lv"],
        words: &["+!*", "+:*", "-k*", "+v*", "--lesskey*"],
        ..NONE
    },
    Rule {
        programs: &["man", "mandoc", "apropos"],
        short: "PH",
        values: "CLmMSseErRT",
        long: &["pager", "html"],
        ..NONE
    },
    Rule { programs: &["zip"], words: &["-TT*", "--unzip-command*"], ..NONE },
    Rule { programs: &["cpio", "rmt", "dump", "restore"], long: &["rsh-command"], ..NONE },
    Rule { programs: &["split", "csplit"], long: &["filter"], ..NONE },
    Rule { programs: &["sort"], long: &["compress-program"], ..NONE },
    Rule { programs: &["install"], long: &["strip-program"], ..NONE },
    Rule {
        programs: &["rg", "ripgrep", "ag", "ack", "ugrep", "bat", "batcat", "delta"],
        long: &["pre", "hostname-bin", "pager", "filter"],
        ..NONE
    },
    Rule { programs: &["enscript", "a2ps"], short: "I", values: "", ..NONE },
    Rule {
        programs: &["convert", "magick", "mogrify", "identify", "composite", "montage"],
        words: &["|*", "msl:*", "ephemeral:*", "mvg:*", "*.msl"],
        ..NONE
    },
    Rule {
        programs: &["gs", "ghostscript"],
        words: &["-c", "-sOutputFile=%pipe*", "-sOutputFile=|*", "-dNOSAFER"],
        ..NONE
    },
    Rule {
        programs: &["tex", "latex", "pdftex", "pdflatex", "xetex", "xelatex", "luatex", "lualatex", "latexmk", "etex"],
        words: &[
            "-shell-escape*",
            "--shell-escape*",
            "-enable-write18*",
            "--enable-write18*",
            "-e",
            "-pdflatex=*",
            "-latex=*",
            "*write18*",
            "*directlua*",
            "-usepretex=*",
        ],
        ..NONE
    },
    Rule { programs: &["dvips"], words: &["-R0"], ..NONE },
    Rule { programs: &["pandoc"], short: "FL", values: "fto", long: &["lua-filter"], ..NONE },
    Rule { programs: &["exiftool"], words: &["-config", "*system*(*", "*`*", "*exec *", "*eval *", "*qx*"], ..NONE },
    Rule { programs: &["jq", "yq", "gojq"], words: &["*input_filename|@sh*", "*@sh*|*system*"], ..NONE },
    Rule { programs: &["csvtool"], words: &["call"], ..NONE },
    Rule { programs: &["msgfilter", "msgexec", "recode-sr-latin"], words: &["*"], ..NONE },
    Rule { programs: &["cowsay", "cowthink"], short: "f", values: "", words: &["/*"], ..NONE },
    Rule {
        programs: &["run-mailcap", "see", "run-parts", "procmail", "runscript", "xdg-user-dir", "bashbug", "perlbug"],
        words: &["*"],
        ..NONE
    },
    Rule {
        programs: &["mysql", "mariadb", "mycli"],
        long: &["pager", "default-auth", "plugin-dir", "init-command"],
        words: &[
            "*\\!*",
            "*system *",
            "--pager*",
            "*into outfile*",
            "*INTO OUTFILE*",
            "*into dumpfile*",
            "*load_file(*",
            "*LOAD_FILE(*",
        ],
        ..NONE
    },
    Rule {
        programs: &["chrome", "google-chrome", "chromium", "chromium-browser", "electron", "brave", "code", "msedge"],
        long: &[
            "gpu-launcher",
            "renderer-cmd-prefix",
            "utility-cmd-prefix",
            "ppapi-plugin-launcher",
            "browser-subprocess-path",
            "load-extension",
        ],
        ..NONE
    },
    Rule {
        programs: &["psql", "pgcli"],
        words: &[
            "|*",
            "-o|*",
            "*\\!*",
            "*PROGRAM*",
            "*program '*",
            "*\\o*|*",
            "*\\copy*program*",
            "*pg_read_file*",
            "*lo_import*",
            "*CREATE EXTENSION*",
            "*LANGUAGE plp*",
            "*language plp*",
        ],
        ..NONE
    },
    Rule {
        programs: &["sqlite3", "sqlite", "litecli", "duckdb"],
        words: &[
            ".shell*",
            ".system*",
            ".load*",
            ".import |*",
            ".output |*",
            ".once |*",
            "*load_extension(*",
            "*writefile(*",
            "*edit(*",
            "*fts3_tokenizer(*",
            "*.shell *",
            "*.system *",
            "*shellfs*",
        ],
        ..NONE
    },
    Rule { programs: &["mongo", "mongosh"], long: &["eval", "shell"], ..NONE },
    Rule {
        programs: &["redis-cli"],
        long: &["eval"],
        words: &["eval", "EVAL", "evalsha", "EVALSHA", "script"],
        ..NONE
    },
    Rule { programs: &["sqlplus", "isql", "tsql", "osql"], words: &["!*", "host *"], ..NONE },
];
