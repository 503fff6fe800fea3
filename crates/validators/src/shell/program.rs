//! Which program runs, looked through everything that runs another one, and whether it may.

use super::argument::Arguments;
use super::lexer::Word;
use super::{check_at, check_words, code, damage, delete, files, outbound, privilege, variables};
use crate::{Finding, Verdict};

/// Words that open a compound command when they stand in front.
const RESERVED: &[&str] = &[
    "if", "then", "else", "elif", "fi", "do", "done", "case", "esac", "while", "until", "for", "in", "function",
    "select", "coproc", "{", "}", "[[",
];

/// Interpreters and tools that come with a version in their name.
const VERSIONED: &[&str] = &[
    "python", "perl", "ruby", "php", "lua", "luajit", "node", "nodejs", "gcc", "g++", "clang", "clang++", "pip",
    "tclsh", "wish", "java", "irb", "gdb", "awk", "pypy",
];

/// Programs that only print or compare their arguments, so these are never code or files to open.
pub(super) const TEXT_PROGRAMS: &[&str] =
    &["echo", "printf", "which", "type", "whereis", "man", "tldr", "expr", "basename", "dirname", "true", "false"];

/// Judges one simple command.
pub(super) fn check(name: &Word, arguments: &[Word], depth: usize) -> Verdict {
    let text = name.text.as_str();
    if name.dynamic || (name.glob && text != "[") || (!name.quoted && (text.contains('{') || RESERVED.contains(&text)))
    {
        return Err(Finding::new("shell-command-word", format!("`{text}` does not name a program by itself"))
            .suggest("write the name of the program"));
    }
    if name.disguised
        || name.escaped
        || name.is_patchwork()
        || !text.is_ascii()
        || text.bytes().any(|b| b.is_ascii_whitespace() && b != b' ')
    {
        return Err(Finding::new("shell-disguise", format!("the name of the program `{text}` is disguised")));
    }
    if let Some(argument) = arguments.iter().find(|word| word.disguised || (word.escaped && word.text.contains('/'))) {
        return Err(Finding::new("shell-disguise", format!("quotes hide the argument `{}`", argument.text)));
    }
    check_location(text)?;
    let program = base_name(text);
    if arguments.len() == 1 && matches!(arguments[0].text.as_str(), "--help" | "--version") {
        return Ok(());
    }
    if let Some(verdict) = look_through(&program, arguments, depth) {
        return verdict;
    }
    privilege::check(&program, arguments)?;
    damage::check(&program, arguments)?;
    delete::check(&program, arguments)?;
    code::check(&program, arguments)?;
    outbound::check(&program, arguments)?;
    files::check(&program, arguments)
}

/// Where a program may stand and still be the one that is meant by its bare name.
const SYSTEM_FOLDERS: [&str; 5] = ["/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/"];

/// Whether a program is named by its place in a folder of the system.
pub(crate) fn is_of_system(text: &str) -> bool {
    SYSTEM_FOLDERS.iter().any(|folder| text.strip_prefix(folder).is_some_and(|name| !name.contains('/')))
}

/// The name under which a program is known, without its directory and version.
pub(crate) fn base_name(text: &str) -> String {
    let name = text.rsplit(['/', '\\']).next().unwrap_or_default().to_ascii_lowercase();
    let name = name.strip_suffix(".exe").unwrap_or(&name);
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').trim_end_matches('-');
    if VERSIONED.contains(&bare) { bare.to_owned() } else { name.to_owned() }
}

fn check_location(text: &str) -> Verdict {
    let writable = ["/tmp/", "/var/tmp/", "/dev/", "/proc/", "/run/user/"].iter().any(|place| text.starts_with(place));
    let indirect = text.starts_with('/') && (text.contains("/../") || text.contains("/./") || text.contains("//"));
    if writable || indirect || text.starts_with('-') || text.starts_with("~+") {
        return Err(Finding::new("shell-command-word", format!("`{text}` is not a trusted place for a program")));
    }
    Ok(())
}

/// Programs that run what their arguments name: the verdict is that of the program inside.
fn look_through(program: &str, arguments: &[Word], depth: usize) -> Option<Verdict> {
    let inner = |words: &[Word]| {
        Some(match words {
            [] => Ok(()),
            [name, rest @ ..] if depth < super::MAX_DEPTH => check(name, rest, depth + 1),
            _ => Err(Finding::new("shell-nesting", "too many programs that run other programs")),
        })
    };
    // Which options take a value differs between systems: both readings must be harmless.
    let behind = |with_value: &str, skip: usize| {
        let mut starts = Vec::new();
        for with_value in [with_value, ""] {
            let (options, rest) = Arguments::leading(arguments, with_value);
            starts.push(rest.get(skip..).unwrap_or_default());
            if options.has_open_long() {
                let (_, rest) = Arguments::leading(rest.get(1..).unwrap_or_default(), with_value);
                starts.push(rest.get(skip..).unwrap_or_default());
            }
        }
        starts.into_iter().map(inner).find(|verdict| !matches!(verdict, Some(Ok(())))).unwrap_or(Some(Ok(())))
    };
    match program {
        "nohup" | "setsid" | "time" | "command" | "builtin" | "exec" | "unbuffer" | "catchsegv" | "torify"
        | "torsocks" | "proxychains" | "proxychains4" | "fakeroot" | "eatmydata" | "aoss" | "multitime" | "rlwrap"
        | "chronic" | "dbus-launch" | "dbus-run-session" | "xvfb-run" | "winpty" | "aa-exec" | "pexec" | "grc"
        | "setarch" | "linux64" | "linux32" | "i386" | "x86_64" | "ssh-agent" | "softlimit" | "cpulimit"
        | "caffeinate" | "heaptrack" | "ltrace" | "gosh" | "systemd-inhibit" | "distcc" | "ccache" | "sccache"
        | "noglob" | "nocorrect" => {
            // `command -v ls` only asks where a program is.
            let asks = program == "command" && Arguments::leading(arguments, "").0.has("vV");
            if asks { Some(Ok(())) } else { behind("afonpcueslwt", 0) }
        }
        "nice" | "ionice" | "choom" => behind("ncpP", 0),
        "stdbuf" => behind("ioe", 0),
        // An output file that begins so is a command to which the output is piped.
        "strace"
            if arguments.iter().any(|word| {
                let name = word.text.trim_start_matches("--output=").trim_start_matches("-o");
                name.starts_with(['|', '!'])
            }) =>
        {
            Some(Err(code::runs("strace -o")))
        }
        "strace" => behind("eoapsuEISPbOX", 0),
        "valgrind" | "sshpass" => behind("fpdPeoFgtc", 0),
        "perf" => match arguments {
            [verb, rest @ ..] if matches!(verb.text.as_str(), "stat" | "record" | "trace" | "top" | "mem" | "lock") => {
                inner(Arguments::leading(rest, "eFgopCtc").1)
            }
            _ => None,
        },
        "timeout" | "gtimeout" => behind("ks", 1),
        "chrt" | "taskset" | "flock" | "setlock" | "faketime" | "logsave" => {
            let (options, words) = Arguments::leading(arguments, "ewETPD");
            if program == "flock" && (options.has("c") || words.get(1).is_some_and(|word| word.text == "-c")) {
                return Some(Err(code::runs("flock -c")));
            }
            behind("ecwEpTPD", 1)
        }
        "busybox" | "toybox" | "shx" | "watchexec" | "rush" => behind("", 0),
        "env" | "cross-env" => Some(check_env(arguments, depth)),
        "xargs" => Some(check_xargs(arguments, depth)),
        "parallel" => Some(check_parallel(arguments, depth)),
        "watch" | "hyperfine" | "entr" | "viddy" | "gwatch" => Some(check_shell_words(program, arguments, depth)),
        "npx" | "bunx" | "pnpx" | "uvx" | "pipx" | "npm" | "pnpm" | "yarn" | "bun" | "uv" | "poetry" | "pipenv"
        | "rye" | "hatch" | "pdm" | "bundle" | "conda" | "mamba" | "micromamba" | "cabal" | "stack" | "dotenv"
        | "direnv" | "nix" | "nix-shell" | "mise" | "asdf" | "volta" | "fnm" | "nvm" | "opam" | "rustup" | "pixi" => {
            check_runner(program, arguments, depth)
        }
        "docker" | "podman" | "nerdctl" | "kubectl" | "oc" | "docker-compose" | "podman-compose" | "lxc" | "ctr"
        | "k3s" | "crictl" | "incus" | "minikube" | "distrobox" | "toolbox" | "apptainer" | "singularity"
        | "flatpak" | "flatpak-spawn" | "wsl" | "adb" => check_container(program, arguments, depth),
        "ssh" | "mosh" | "autossh" | "slogin" | "dbclient" => {
            let there = |words: &[Word]| {
                let line = words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
                check_at(&line, depth + 1)
            };
            let rights = privilege::check(program, arguments);
            Some(rights.and_then(|()| outbound::check_remote_shell(program, arguments, there)))
        }
        _ => {
            // `tool run .. -- program`, `tool exec name -- program`: whatever the tool, the program counts.
            let dashes = arguments.iter().position(|word| word.text == "--")?;
            let verb = |word: &Word| matches!(word.text.as_str(), "run" | "exec" | "shell" | "ssh");
            // `cargo run -- --port 80` gives options to the project's own program.
            let names_program = arguments.get(dashes + 1).is_none_or(|word| !word.text.starts_with('-'));
            if names_program && arguments[..dashes].iter().any(verb) { inner(&arguments[dashes + 1..]) } else { None }
        }
    }
}

fn check_env(arguments: &[Word], depth: usize) -> Verdict {
    let (options, mut rest) = Arguments::leading(arguments, "uCSP");
    if options.has("SP") || options.has_long(&["split-string"]) {
        return Err(code::runs("env -S"));
    }
    if arguments.is_empty() {
        return Err(files::credential("the whole environment").suggest("print the one variable that is needed"));
    }
    // The value of a long option may stand apart from it.
    if options.has_open_long() && rest.len() > 1 {
        run_nested(&rest[1..], depth)?;
    }
    if rest.first().is_some_and(|word| word.text == "-") {
        rest = &rest[1..];
    }
    while let [first, more @ ..] = rest {
        let Some((name, value)) = first.text.split_once('=') else { break };
        variables::check_assignment(name, value)?;
        rest = more;
    }
    if rest.is_empty() { Ok(()) } else { run_nested(rest, depth) }
}

/// The program gets more arguments than we see, so it must be one that does no harm with any.
fn check_xargs(arguments: &[Word], depth: usize) -> Verdict {
    let (options, rest) = Arguments::leading(arguments, "adEeIiLlnPsSRJ");
    if let Some(file) = options.values('a').find(|file| files::is_credential(file)) {
        return Err(files::credential(file));
    }
    match rest {
        [] => Ok(()),
        [name, ..] => {
            let program = base_name(&name.text);
            let harmless = super::readers::is_reader(&program)
                || ["mkdir", "touch", "cp", "mv", "gzip", "gunzip", "open", "code"].contains(&program.as_str());
            if !harmless {
                return Err(code::runs(&format!("xargs {program}")));
            }
            run_nested(rest, depth)
        }
    }
}

fn check_parallel(arguments: &[Word], depth: usize) -> Verdict {
    let (_, rest) = Arguments::leading(arguments, "jaSICNnLdEPX");
    let end = rest.iter().position(|word| word.text.starts_with(":::")).unwrap_or(rest.len());
    if end == 0 {
        return Err(code::runs("parallel without a command"));
    }
    check_xargs(&rest[..end], depth)
}

/// The arguments are joined and given to a shell.
fn check_shell_words(program: &str, arguments: &[Word], depth: usize) -> Verdict {
    let with_value = match program {
        "watch" | "gwatch" | "viddy" => "nq",
        "hyperfine" => "wrmMpcPDLSnis",
        _ => "",
    };
    if program == "hyperfine" {
        let arguments = Arguments::read(arguments, with_value);
        let hooks = ["prepare", "setup", "cleanup", "conclude"];
        let texts = ['p', 's', 'c'].into_iter().flat_map(|letter| arguments.values(letter));
        let texts = texts.chain(hooks.into_iter().flat_map(|name| arguments.long_values(name)));
        if arguments.has_long(&["shell"]) || arguments.has("S") {
            return Err(code::runs("hyperfine --shell"));
        }
        return texts
            .chain(arguments.operands.iter().copied().filter(|text| text.parse::<f64>().is_err()))
            .try_for_each(|text| check_at(text, depth + 1));
    }
    let (_, rest) = Arguments::leading(arguments, with_value);
    if rest.is_empty() {
        return Ok(());
    }
    if program == "entr" {
        return run_nested(rest, depth);
    }
    let line = rest.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
    check_at(&line, depth + 1)
}

/// Package managers that also run programs: `npx tool`, `uv run tool`, `bundle exec tool`.
fn check_runner(program: &str, arguments: &[Word], depth: usize) -> Option<Verdict> {
    let (options, rest) = Arguments::leading(arguments, "pnC");
    if ["npx", "bunx", "pnpx", "uvx", "nix-shell"].contains(&program) {
        if options.has("c") || options.has_long(&["call", "run", "command", "shell-auto-fallback"]) {
            return Some(Err(code::runs(&format!("{program} with a command line"))));
        }
        return Some(check_package(rest, depth));
    }
    if program == "bun" && options.has("ep") {
        return Some(Err(code::runs("bun -e")));
    }
    let verb = rest.iter().position(|word| {
        matches!(
            word.text.as_str(),
            "exec" | "x" | "dlx" | "run" | "explore" | "shell" | "develop" | "env" | "runx" | "tool"
        )
    })?;
    if verb > 2 {
        return None;
    }
    let scripts = matches!(program, "npm" | "pnpm" | "yarn" | "bun") && rest[verb].text == "run";
    let settings = matches!(rest[verb].text.as_str(), "env" | "tool" | "shell") && !matches!(program, "nix");
    if scripts || settings {
        return None;
    }
    let (options, inner) = Arguments::leading(&rest[verb + 1..], "pnw");
    if options.has("c") || options.has_long(&["call", "command", "shell-mode"]) {
        return Some(Err(code::runs(&format!("{program} with a command line"))));
    }
    let inner = match (program, rest[verb].text.as_str()) {
        ("npm", "explore") | ("mise" | "asdf" | "rustup" | "direnv" | "opam" | "volta" | "fnm" | "nvm", _) => {
            inner.get(1..).unwrap_or_default()
        }
        _ => inner,
    };
    let inner = inner.iter().position(|word| word.text == "--").map_or(inner, |at| &inner[at + 1..]);
    Some(check_package(inner, depth))
}

/// A package may be named like a program; one from an address is code from anywhere.
fn check_package(words: &[Word], depth: usize) -> Verdict {
    let [name, ..] = words else { return Ok(()) };
    // Nix names its packages `source#package`.
    if name.text.contains('#') {
        return Ok(());
    }
    if name.text.contains("://") || name.text.starts_with("git+") || name.text.starts_with("github:") {
        return Err(code::runs("a package from an address"));
    }
    if name.text.starts_with('-') || name.text.contains('@') {
        return Ok(());
    }
    run_nested(words, depth)
}

/// `docker run image program`, `kubectl exec pod -- program`: the program inside counts, and so does what of the host
/// the container gets.
fn check_container(program: &str, arguments: &[Word], depth: usize) -> Option<Verdict> {
    let kubernetes = matches!(program, "kubectl" | "oc" | "k3s" | "minikube");
    let verb = arguments.iter().position(|word| {
        matches!(word.text.as_str(), "run" | "exec" | "create" | "debug" | "enter" | "shell" | "ssh")
    })?;
    let before = &arguments[..verb];
    if before.iter().filter(|word| !word.text.starts_with('-')).count() > 2 {
        return None;
    }
    let rest = &arguments[verb + 1..];
    if let Some(word) = rest.iter().find(|word| gives_host(&word.text)) {
        return Some(Err(Finding::new("shell-privilege", format!("`{}` gives the container the host", word.text))));
    }
    if let Some(pair) = rest.windows(2).find(|pair| {
        matches!(
            pair[0].text.as_str(),
            "-v" | "--volume"
                | "--mount"
                | "--device"
                | "--pid"
                | "--net"
                | "--network"
                | "--ipc"
                | "--userns"
                | "--uts"
                | "--cap-add"
                | "--security-opt"
        ) && gives_host(&format!("{}={}", pair[0].text, pair[1].text))
    }) {
        return Some(Err(Finding::new("shell-privilege", format!("`{}` gives the container the host", pair[1].text))));
    }
    if let Some(at) = rest.iter().position(|word| word.text == "--") {
        return Some(check_inside(&rest[at + 1..], depth));
    }
    if kubernetes {
        return None;
    }
    // Options with a separate value cannot all be known: the first word after the image that names a shell or
    // interpreter with code is what counts, so each possible start is judged.
    let mut at = 0;
    while let Some(word) = rest.get(at) {
        if !word.text.starts_with('-') {
            break;
        }
        at += 1 + usize::from(takes_value(&word.text));
    }
    Some(check_inside(rest.get(at + 1..).unwrap_or_default(), depth))
}

/// A bare shell inside a container is the usual way to look around in it.
fn check_inside(words: &[Word], depth: usize) -> Verdict {
    match words {
        [] => Ok(()),
        [only] if code::SHELLS.contains(&base_name(&only.text).as_str()) => Ok(()),
        words if words[0].text.starts_with('-') => Ok(()),
        words => run_nested(words, depth),
    }
}

fn takes_value(option: &str) -> bool {
    let switches = [
        "--rm",
        "--interactive",
        "--tty",
        "--detach",
        "--init",
        "--privileged",
        "--read-only",
        "--publish-all",
        "--quiet",
        "--no-deps",
        "--service-ports",
        "--oom-kill-disable",
        "--sig-proxy",
        "--build",
        "--remove-orphans",
        "--help",
    ];
    if option.starts_with("--") {
        return !option.contains('=') && !switches.contains(&option);
    }
    let last = option.chars().next_back().unwrap_or(' ');
    option.len() == 2 && "vpewuhlmcna".contains(last)
        || (option.len() > 2 && "vpewuh".contains(last) && option.len() < 5)
}

fn gives_host(option: &str) -> bool {
    let (name, value) = option.split_once('=').unwrap_or((option, ""));
    match name {
        "--privileged" => value != "false",
        "--pid" | "--net" | "--network" | "--ipc" | "--userns" | "--uts" => value == "host",
        "--cap-add" => !value.is_empty(),
        "--security-opt" => value.contains("unconfined"),
        "--device" => !value.is_empty(),
        "-v" | "--volume" => {
            value.split(':').next().is_some_and(files::is_system_path) || value.contains("docker.sock")
        }
        "--mount" => value.split(',').any(|part| {
            part.split_once('=').is_some_and(|(key, path)| {
                matches!(key, "src" | "source") && (files::is_system_path(path) || path.contains("docker.sock"))
            })
        }),
        _ => option.starts_with("-v/:") || option.contains("docker.sock"),
    }
}

fn run_nested(words: &[Word], depth: usize) -> Verdict {
    check_words(words, depth + 1)
}
