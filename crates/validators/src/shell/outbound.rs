//! Sending data out, opening a channel to somewhere else, or letting others in.

use super::argument::Arguments;
use super::code;
use super::files;
use super::lexer::Word;
use crate::network::inside::is_metadata_address;
use crate::{Finding, Verdict};
use url::Host;

/// Programs that exist to open a channel or to serve one.
const CHANNELS: &[&str] = &[
    "socat",
    "cryptcat",
    "pwncat",
    "socket",
    "telnet",
    "rlogin",
    "rsh",
    "rexec",
    "ngrok",
    "cloudflared",
    "chisel",
    "frpc",
    "frps",
    "bore",
    "localtunnel",
    "lt",
    "ligolo",
    "gost",
    "iodine",
    "dnscat",
    "dnscat2",
    "ptunnel",
    "croc",
    "wormhole",
    "transfer",
    "tftp",
    "sshd",
    "webfsd",
    "darkhttpd",
    "sendmail",
    "ssmtp",
    "msmtp",
    "swaks",
];

pub(super) fn check(program: &str, arguments: &[Word]) -> Verdict {
    let texts: Vec<&str> = arguments.iter().map(|word| word.text.as_str()).collect();
    let any = |words: &[&str]| texts.iter().any(|text| words.contains(text));
    let only_asks = !texts.is_empty()
        && texts.iter().all(|text| matches!(*text, "-h" | "--help" | "-V" | "--version" | "version" | "help"));
    if only_asks {
        return Ok(());
    }
    let read = |with_value: &str| Arguments::read(arguments, with_value);
    let sends = match program {
        _ if CHANNELS.contains(&program) => true,
        "nc" | "ncat" | "netcat" | "nc.openbsd" | "nc.traditional" | "gnetcat" => {
            let read = read("ecgGiIMmOpPqsTVwXxo");
            !read.has("z") || read.has("ec") || read.has_long(&["exec", "sh-exec", "lua-exec"])
        }
        "curl" | "curlie" | "xh" | "http" | "https" | "httpie" | "wget2" | "wget" => {
            return check_http(program, arguments);
        }
        "scp" | "rcp" | "pscp" => {
            let read = read("cDFiJloPSX");
            read.operands.last().is_some_and(|target| is_remote(target))
        }
        "rsync" => {
            let read = read("eTfBMp");
            read.operands.len() > 1 && read.operands.last().is_some_and(|target| is_remote(target))
        }
        "ftp" | "tnftp" => !texts.is_empty(),
        "sftp" | "lftp" | "ncftpput" | "psftp" | "smbclient" => {
            program == "ncftpput"
                || texts.iter().any(|text| text.contains("put ") || text.contains("mirror -R") || text.contains('!'))
                || any(&["-b", "-c", "-e"])
        }
        "aws" => any(&["s3"]) && any(&["cp", "mv", "sync"]) && is_upload(&texts, &["s3://"]),
        "gsutil" | "gcloud" => any(&["cp", "mv", "rsync"]) && is_upload(&texts, &["gs://", "s3://"]),
        "az" => any(&["upload", "upload-batch"]),
        "azcopy" => any(&["copy", "cp", "sync"]) && is_upload(&texts, &["https://"]),
        "s3cmd" => any(&["put", "sync"]),
        "mc" => any(&["cp", "mirror", "pipe", "put"]),
        "rclone" => {
            let operands = read("").operands;
            operands.first().is_some_and(|verb| ["copy", "copyto", "move", "rcat", "serve", "sync"].contains(verb))
                && (operands.first() == Some(&"serve") || operands.last().is_some_and(|target| target.contains(':')))
        }
        "gh" => any(&["gist"]) && any(&["create"]),
        "mail" | "mailx" | "mutt" | "s-nail" | "nail" | "neomutt" => {
            texts.iter().any(|text| text.contains('@')) || any(&["-a", "-A", "--attach"])
        }
        "git" => is_git_upload(&texts),
        "python" | "php" | "ruby" => false,
        "busybox" => any(&["httpd", "telnetd", "ftpd"]),
        "httpd" | "telnetd" | "vsftpd" | "in.telnetd" => true,
        "kubectl" => {
            any(&["proxy"]) && texts.iter().any(|text| text.starts_with("--address") || text.starts_with("--www"))
        }
        "tailscale" => any(&["serve", "funnel", "file"]),
        "code" | "code-server" | "code-insiders" => any(&["tunnel", "serve-web"]),
        "ab" => any(&["-p", "-u"]),
        "whois" => any(&["-p", "--port"]),
        "finger" => texts.iter().any(|text| text.contains('@')),
        "lp" | "lpr" | "cancel" => any(&["-h", "-H"]),
        "restic" | "borg" => {
            any(&["backup", "create"])
                && texts.iter().any(|text| {
                    text.contains("http:") || text.contains("https:") || text.contains("sftp:") || text.contains('@')
                })
        }
        "openssl" => any(&["s_server"]),
        "nslookup" | "dig" | "host" | "drill" => false,
        "logger" => any(&["-n", "--server"]),
        "ipfs" => any(&["add"]),
        "ssh-keyscan" => false,
        "hping3" | "nping" | "fping" => {
            texts.iter().any(|text| text.starts_with("--file") || text.starts_with("--data"))
        }
        _ => false,
    };
    if sends {
        return Err(refused(program));
    }
    match texts.iter().find(|text| text.starts_with("/dev/tcp/") || text.starts_with("/dev/udp/")) {
        Some(_) => Err(refused("a network device file")),
        None => Ok(()),
    }
}

/// A shell elsewhere: the settings must not start programs here, and the command there is judged like one here.
pub(super) fn check_remote_shell(program: &str, arguments: &[Word], inner: impl Fn(&[Word]) -> Verdict) -> Verdict {
    let (read, rest) = Arguments::leading(arguments, "BbcDEeFIiJLlmOopQRSWw");
    let starts_program =
        read.values('o').any(code::is_ssh_program_option) || read.has_long(&["ssh", "server", "client"]);
    if starts_program {
        return Err(code::runs(program));
    }
    if read.has("RwF") || read.values('D').any(|bind| bind.starts_with("0.0.0.0") || bind.starts_with('*')) {
        return Err(refused(program));
    }
    // Options may also stand behind the host.
    let [_, command @ ..] = rest else { return Ok(()) };
    let (later, command) = Arguments::leading(command, "BbcDEeFIiJLlmOopQRSWw");
    if later.values('o').any(code::is_ssh_program_option) {
        return Err(code::runs(program));
    }
    if later.has("RwF") {
        return Err(refused(program));
    }
    if command.is_empty() { Ok(()) } else { inner(command) }
}

fn check_http(program: &str, arguments: &[Word]) -> Verdict {
    let curl = program == "curl" || program == "curlie";
    let read = Arguments::read(arguments, if curl { "AbcCdDeEFhHKmoPQrtTuUwxXyYz" } else { "aAeDiIlnoOPQStTUwXBR" });
    let mut texts = arguments.iter().map(|word| word.text.as_str());
    let from_file =
        |value: &str| value.starts_with('@') || value.contains("=@") || value.contains("=<") || value.contains("@/");
    let long = |names: &[&str]| {
        names.iter().any(|name| {
            read.long_values(name).any(from_file)
                || arguments
                    .windows(2)
                    .any(|pair| pair[0].text.strip_prefix("--") == Some(name) && from_file(&pair[1].text))
        })
    };
    let sends = match program {
        "curl" | "curlie" => {
            read.has("TKQ")
                || read.values('d').any(from_file)
                || read.values('F').any(from_file)
                || read.values('H').any(|value| value.starts_with('@'))
                || read.long_values("data-urlencode").chain(following(arguments, "--data-urlencode")).any(names_file)
                || long(&[
                    "data",
                    "data-binary",
                    "data-ascii",
                    "data-raw",
                    "data-urlencode",
                    "form",
                    "json",
                    "url-query",
                    "header",
                    "variable",
                ])
                || read.has_long(&[
                    "upload-file",
                    "config",
                    "engine",
                    "unix-socket",
                    "abstract-unix-socket",
                    "quote",
                    "mail-from",
                    "mail-rcpt",
                    "telnet-option",
                ])
        }
        "wget" | "wget2" => {
            read.has("e") || read.has_long(&["post-file", "body-file", "execute", "use-askpass", "config", "warc-file"])
        }
        _ => texts.clone().any(|text| {
            text.contains("=@")
                || text.contains(":=@")
                || text.starts_with('@')
                || (text.contains('@') && text.contains("@/"))
        }),
    };
    if sends {
        return Err(refused(program).suggest("fetch without sending files"));
    }
    let bad = texts.find(|text| {
        let lower = text.to_ascii_lowercase();
        [
            "gopher:", "dict:", "telnet:", "ldap:", "tftp:", "smtp:", "smtps:", "imap:", "pop3:", "rtsp:", "scp:",
            "sftp:", "smb:", "mqtt:",
        ]
        .iter()
        .any(|scheme| lower.starts_with(scheme) && lower.contains("://"))
            || is_metadata(text)
            || lower.strip_prefix("file://").is_some_and(files::is_credential)
    });
    match bad {
        Some(text) => Err(Finding::new("shell-outbound", format!("`{text}` is not an ordinary web address"))),
        None => Ok(()),
    }
}

/// `name@file`: what comes before the sign is a name, not an address.
fn names_file(value: &str) -> bool {
    value.split_once('@').is_some_and(|(name, _)| !name.contains(['=', ' ']))
}

fn following<'a>(arguments: &'a [Word], option: &'a str) -> impl Iterator<Item = &'a str> {
    arguments.windows(2).filter(move |pair| pair[0].text == option).map(|pair| pair[1].text.as_str())
}

/// The addresses at which clouds hand out credentials.
fn is_metadata(text: &str) -> bool {
    let (scheme, rest) = text.split_once("://").unwrap_or(("http", text));
    // Who is said to come there makes no difference.
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let rest = authority.rfind('@').map_or(rest, |at| &rest[at + 1..]);
    match crate::network::host(&format!("{scheme}://{rest}")) {
        Ok(Host::Ipv4(address)) => is_metadata_address(address.into()),
        Ok(Host::Ipv6(address)) => is_metadata_address(address.into()),
        Ok(Host::Domain(name)) => {
            let spells = |zone: &str| name.contains("169.254.") && name.ends_with(zone);
            crate::network::is_metadata_name(&name)
                || matches!(name.as_str(), "instance-data" | "metadata")
                || [".nip.io", ".sslip.io", ".xip.io"].into_iter().any(spells)
        }
        Err(_) => false,
    }
}

/// Whether a word of any program names such an address.
pub(super) fn names_metadata(word: &str) -> bool {
    let value = word.split_once('=').filter(|_| word.starts_with('-')).map_or(word, |(_, value)| value);
    let may_be = value.contains("://") || value.starts_with("169.254.") || value.starts_with("metadata.");
    may_be && value.split(',').any(is_metadata)
}

/// `host:path`, but not a path with a colon behind a slash.
fn is_remote(target: &str) -> bool {
    if target.contains("://") {
        return true;
    }
    target.split_once(':').is_some_and(|(host, _)| !host.is_empty() && !host.contains('/') && !host.starts_with('.'))
}

/// The last operand is far away, and the one before it is not.
fn is_upload(texts: &[&str], schemes: &[&str]) -> bool {
    let far = |text: &str| schemes.iter().any(|scheme| text.starts_with(scheme));
    let ends: Vec<&str> = texts.iter().copied().filter(|text| !text.starts_with('-')).collect();
    let Some(first_far) = ends.iter().position(|text| far(text)) else { return false };
    let before =
        ends[..first_far].iter().rfind(|text| !["s3", "cp", "mv", "sync", "copy", "storage", "rsync"].contains(text));
    before.is_some()
}

/// Pushing to a remote by its name is everyday; pushing to an address is not.
fn is_git_upload(texts: &[&str]) -> bool {
    let Some((verb, rest)) = code::git_verb(texts) else { return false };
    match verb {
        "push" | "send-pack" => {
            let operands = || rest.iter().filter(|text| !text.starts_with('-'));
            // `host:path` is an address where a remote is named.
            operands().next().is_some_and(|remote| remote.contains(':'))
                || operands().any(|text| {
                    text.contains("://") || (is_remote(text) && text.contains('@')) || text.starts_with('/')
                })
        }
        "send-email" | "daemon" | "imap-send" => true,
        _ => false,
    }
}

fn refused(what: &str) -> Finding {
    Finding::new("shell-outbound", format!("{what}: data or a shell would leave this machine"))
}
