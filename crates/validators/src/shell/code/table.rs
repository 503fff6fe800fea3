//! Which options of which programs run code, load code or open a way to do so.

mod building;
mod files;
mod languages;
mod sessions;

use crate::shell::argument::Arguments;
use crate::shell::lexer::Word;

/// What makes one family of programs run code.
struct Rule {
    programs: &'static [&'static str],
    /// Short options that do.
    short: &'static str,
    /// Short options that take a value, so that the value is not read as options.
    values: &'static str,
    /// Long options that do.
    long: &'static [&'static str],
    /// Whole arguments that do; one that ends in `*` stands for all that begin so.
    words: &'static [&'static str],
    /// The options count only in front of the first operand: what follows belongs to a script.
    leading: bool,
}

const NONE: Rule = Rule { programs: &[], short: "", values: "", long: &[], words: &[], leading: false };

const TABLES: [&[Rule]; 4] = [building::RULES, files::RULES, languages::RULES, sessions::RULES];

/// Whether the arguments make this program run code.
pub(super) fn denies(program: &str, arguments: &[Word]) -> bool {
    special(program, arguments)
        || TABLES
            .into_iter()
            .flatten()
            .filter(|rule| rule.programs.contains(&program))
            .any(|rule| breaks(rule, arguments))
}

/// Whether what follows the options is a script with arguments of its own.
pub(super) fn is_interpreter(program: &str) -> bool {
    TABLES.into_iter().flatten().any(|rule| rule.leading && rule.programs.contains(&program))
}

fn breaks(rule: &Rule, arguments: &[Word]) -> bool {
    let values = format!("{}{}", rule.short, rule.values);
    let (read, rest) = if rule.leading {
        Arguments::leading(arguments, rule.values)
    } else {
        (Arguments::read(arguments, &values), arguments)
    };
    // Behind the options of an interpreter comes its script, and then words that are none of our business.
    let words =
        if rule.leading { &arguments[..(arguments.len() - rest.len() + 1).min(arguments.len())] } else { arguments };
    read.has(rule.short)
        || read.has_long(rule.long)
        || words.iter().any(|word| rule.words.iter().any(|pattern| fits(pattern, &word.text)))
}

/// `a*`, `*a`, `*a*b*`: every part between the stars, in order.
fn fits(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(start) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let end = parts.pop().unwrap_or_default();
    for part in parts {
        let Some((_, after)) = text.split_once(part) else { return false };
        text = after;
    }
    text.ends_with(end)
}

/// Programs whose options are harmless or not by their value.
fn special(program: &str, arguments: &[Word]) -> bool {
    match program {
        "python" | "pypy" | "ipython" => {
            let (read, rest) = Arguments::leading(arguments, "mWXQ");
            let module = read.values('m').any(|module| {
                matches!(module, "SimpleHTTPServer" | "pty" | "code" | "timeit" | "smtpd" | "pdb" | "cProfile")
            });
            module || rest.first().is_some_and(|script| !read.has("m") && !super::is_plain_script(&script.text))
        }
        "perl" => {
            let (read, rest) = Arguments::leading(arguments, "I:iMmxFCD");
            let code = |value: &str| value.contains(|c: char| !c.is_ascii_alphanumeric() && !":,=_-'\"()".contains(c));
            read.values('M').chain(read.values('m')).any(code)
                || rest.first().is_some_and(|script| !super::is_plain_script(&script.text))
        }
        "node" | "nodejs" | "ruby" | "php" | "lua" | "tclsh" | "expect" | "rscript" | "julia" => arguments
            .iter()
            .find(|word| !word.text.starts_with('-'))
            .is_some_and(|script| !super::is_plain_script(&script.text)),
        "tar" | "gtar" | "bsdtar" | "star" => {
            let read = Arguments::read(arguments, "CfTXFIbLgHKNVs");
            let compress = read
                .values('I')
                .chain(read.long_values("use-compress-program"))
                .chain(following(arguments, "--use-compress-program"));
            read.has("F")
                || read.has_long(&["to-command", "rsh-command", "rmt-command", "info-script", "new-volume-script"])
                || read
                    .long_names()
                    .any(|name| name.len() > 10 && "checkpoint-action".starts_with(name) && name != "checkpoint")
                || compress.into_iter().any(|value| !is_compressor(value))
        }
        "rsync" => {
            let read = Arguments::read(arguments, "eTfBM");
            let remote = read.values('e').chain(read.long_values("rsh")).chain(following(arguments, "--rsh"));
            let with_program = read.has_long(&["rsync-path", "daemon", "config"]) || read.has("M");
            with_program || remote.into_iter().any(|value| !is_plain_ssh(value))
        }
        "scp" | "sftp" | "rsh" | "rlogin" => {
            let read = Arguments::read(arguments, "cDFiJloPSXbBRs");
            read.has("SDF") || read.values('o').any(is_ssh_program_option)
        }
        "cmake" => following(arguments, "-P").any(|script| !super::is_plain_script(script)),
        "vagrant" => arguments.iter().any(|word| matches!(word.text.as_str(), "-c" | "--command")),
        "gh" | "glab" => {
            let any = |words: &[&str]| arguments.iter().any(|word| words.contains(&word.text.as_str()));
            any(&["alias"]) && (any(&["--shell", "-s"]) || arguments.iter().any(|word| word.text.starts_with('!')))
        }
        _ => false,
    }
}

fn following<'a>(arguments: &'a [Word], option: &'a str) -> impl Iterator<Item = &'a str> {
    arguments.windows(2).filter(move |pair| pair[0].text == option).map(|pair| pair[1].text.as_str())
}

fn is_compressor(value: &str) -> bool {
    let mut words = value.split_whitespace();
    let known = [
        "gzip", "pigz", "bzip2", "pbzip2", "lbzip2", "xz", "pixz", "zstd", "zstdmt", "pzstd", "unzstd", "lz4", "lzip",
        "plzip", "lzma", "brotli", "lzop", "compress",
    ];
    words.next().is_some_and(|name| known.contains(&name))
        && words.all(|option| option.starts_with('-') || option.bytes().all(|b| b.is_ascii_digit()))
}

fn is_plain_ssh(value: &str) -> bool {
    let mut words = value.split_whitespace();
    words.next() == Some("ssh") && !value.contains(['\'', '"', ';', '|', '$', '`']) && !words.any(is_ssh_program_option)
}

/// `ProxyCommand=..` and its like: settings of ssh whose value is a program.
pub(in crate::shell) fn is_ssh_program_option(option: &str) -> bool {
    let lower = option.to_ascii_lowercase();
    let lower = lower.trim_start_matches("-o").trim_start();
    [
        "proxycommand",
        "localcommand",
        "permitlocalcommand",
        "knownhostscommand",
        "pkcs11provider",
        "securitykeyprovider",
        "xauthlocation",
        "remotecommand",
        "include",
        "match",
    ]
    .iter()
    .any(|name| lower.starts_with(name))
        && !lower.ends_with("=no")
        && !lower.ends_with("=none")
}

/// Names of long options that, in any program, announce code or a program to run.
pub(super) fn is_code_option(name: &str) -> bool {
    matches!(
        name,
        "exec"
            | "eval"
            | "shell-escape"
            | "pre-hook"
            | "post-hook"
            | "hook"
            | "rsh"
            | "rsh-command"
            | "ssh-command"
            | "ssh-cmd"
            | "use-compress-program"
            | "compress-program"
            | "password-command"
            | "post-command"
            | "pre-command"
            | "on-complete"
            | "os-shell"
            | "init-command"
            | "external-command"
            | "script-shell"
            | "to-command"
            | "checkpoint-action"
            | "filter-command"
            | "preprocessor"
            | "load-extension"
            | "on-success"
            | "on-error"
            | "on-failure"
            | "run-command"
            | "exec-command"
            | "exec-batch"
            | "startup-command"
    )
}

/// Programs for which such a name means something else, or is judged elsewhere.
pub(super) fn is_known_harmless(program: &str, name: &str) -> bool {
    matches!(
        (program, name),
        ("fd" | "fdfind", "exec" | "exec-batch")
            | ("tar" | "bsdtar" | "gtar", "use-compress-program")
            | ("rsync", "rsh")
            | ("cargo" | "docker" | "kubectl" | "nix" | "nix-instantiate" | "nix-env", _)
    )
}
