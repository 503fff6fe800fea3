//! Programs that connect: which of their words are hosts. Data, as their manuals have it.

/// Which operands of a program are hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operands {
    /// All of them.
    All,
    /// The first one; a number behind it is the port, and the rest is for the other side.
    First,
    /// Those with a colon behind a host, as copies between machines have it.
    Copies,
    /// Those that look like a URL, a host with a path, or a connection string.
    Addresses,
    /// `TCP:host:port`.
    Transports,
}

/// A program, or several that take the same options.
#[derive(Debug, Clone, Copy)]
pub(super) struct Program {
    pub(super) names: &'static [&'static str],
    /// Verbs of which one must stand first for the program to connect; empty for any.
    pub(super) verbs: &'static [&'static str],
    pub(super) operands: Operands,
    /// Options of one letter with a value that is no host.
    pub(super) values: &'static str,
    /// Options of one letter with a value that is one.
    pub(super) hosts: &'static str,
    /// Options of one letter with a value that is a list of hosts, if it has a comma.
    pub(super) lists: &'static str,
    /// Long options with a value in the next word that is no host.
    pub(super) long_values: &'static [&'static str],
    /// Long options with a value that is one.
    pub(super) long_hosts: &'static [&'static str],
    /// The option of one letter for the port.
    pub(super) port_option: Option<char>,
    /// The port where none is named.
    pub(super) port: Option<u16>,
    /// Whether options with one dash are words: `-connect host:port`.
    pub(super) one_dash: bool,
}

const ANY: Program = Program {
    names: &[],
    verbs: &[],
    operands: Operands::All,
    values: "",
    hosts: "",
    lists: "",
    long_values: &[],
    long_hosts: &[],
    port_option: None,
    port: None,
    one_dash: false,
};

pub(super) const PROGRAMS: &[Program] = &[
    Program {
        names: &["curl"],
        values: "AbcCdDeEFHKmoPQrtTuUwXyYz",
        hosts: "x",
        long_values: &[
            "abstract-unix-socket",
            "alt-svc",
            "aws-sigv4",
            "cacert",
            "capath",
            "cert",
            "cert-type",
            "ciphers",
            "config",
            "connect-timeout",
            "continue-at",
            "cookie",
            "cookie-jar",
            "create-file-mode",
            "crlfile",
            "curves",
            "data",
            "data-ascii",
            "data-binary",
            "data-raw",
            "data-urlencode",
            "json",
            "delegation",
            "dns-interface",
            "dump-header",
            "engine",
            "etag-compare",
            "etag-save",
            "expect100-timeout",
            "form",
            "form-string",
            "ftp-method",
            "header",
            "hostpubmd5",
            "hsts",
            "interface",
            "keepalive-time",
            "key",
            "key-type",
            "libcurl",
            "limit-rate",
            "local-port",
            "login-options",
            "mail-auth",
            "mail-from",
            "mail-rcpt",
            "max-filesize",
            "max-redirs",
            "max-time",
            "netrc-file",
            "noproxy",
            "oauth2-bearer",
            "output",
            "output-dir",
            "parallel-max",
            "pass",
            "pinnedpubkey",
            "proto",
            "proto-default",
            "proto-redir",
            "proxy-user",
            "proxy-header",
            "proxy-cacert",
            "quote",
            "range",
            "rate",
            "referer",
            "request",
            "request-target",
            "retry",
            "retry-delay",
            "retry-max-time",
            "service-name",
            "speed-limit",
            "speed-time",
            "stderr",
            "time-cond",
            "tls-max",
            "tls13-ciphers",
            "trace",
            "trace-ascii",
            "unix-socket",
            "upload-file",
            "url-query",
            "user",
            "user-agent",
            "variable",
            "write-out",
        ],
        long_hosts: &[
            "url",
            "proxy",
            "preproxy",
            "socks4",
            "socks4a",
            "socks5",
            "socks5-hostname",
            "proxy1.0",
            "doh-url",
            "dns-servers",
            "ipfs-gateway",
        ],
        ..ANY
    },
    Program {
        names: &["wget", "wget2"],
        values: "aoOPietTwQUlARDIX",
        hosts: "B",
        long_values: &[
            "output-document",
            "output-file",
            "append-output",
            "directory-prefix",
            "input-file",
            "tries",
            "timeout",
            "wait",
            "waitretry",
            "limit-rate",
            "quota",
            "user",
            "password",
            "header",
            "user-agent",
            "referer",
            "post-data",
            "post-file",
            "method",
            "body-data",
            "body-file",
            "load-cookies",
            "save-cookies",
            "level",
            "accept",
            "reject",
            "domains",
            "exclude-domains",
            "execute",
            "ca-certificate",
            "certificate",
            "private-key",
            "cut-dirs",
        ],
        long_hosts: &["base"],
        ..ANY
    },
    Program {
        names: &["aria2c", "axel", "lynx", "links", "elinks", "w3m", "websocat", "youtube-dl", "yt-dlp"],
        values: "doOjxskUnfT",
        long_values: &["dir", "out", "output", "user-agent", "format", "split", "header", "input-file"],
        ..ANY
    },
    Program {
        names: &["http", "https", "xh", "xhs"],
        operands: Operands::First,
        values: "oaApsA",
        long_values: &[
            "output",
            "auth",
            "auth-type",
            "print",
            "pretty",
            "style",
            "timeout",
            "session",
            "verify",
            "cert",
        ],
        ..ANY
    },
    Program {
        names: &["wscat"],
        values: "HoPs",
        hosts: "c",
        long_hosts: &["connect"],
        long_values: &["header", "auth"],
        ..ANY
    },
    Program {
        names: &["ping", "ping6", "ping4", "fping", "arping", "hping3"],
        values: "cilmMpQsStTwWI",
        long_values: &["count", "interval", "timeout", "ttl", "size", "period"],
        ..ANY
    },
    Program {
        names: &["traceroute", "traceroute6", "tracepath", "tracepath6", "mtr", "tracert"],
        values: "fgimNpqstwzcI",
        long_values: &["report-cycles", "max-hops", "port", "queries", "wait", "interface"],
        operands: Operands::First,
        ..ANY
    },
    Program {
        names: &["nmap"],
        values: "pToe",
        long_values: &["script", "top-ports", "max-retries", "min-rate", "exclude", "dns-servers"],
        ..ANY
    },
    Program { names: &["dig", "kdig", "drill", "delv"], values: "bcfkptyT", hosts: "xq", ..ANY },
    Program { names: &["host", "nslookup"], values: "ctmNRWp", one_dash: false, ..ANY },
    Program { names: &["whois"], values: "pgits", hosts: "h", long_hosts: &["host"], ..ANY },
    Program {
        names: &["ssh", "autossh", "mosh", "slogin"],
        operands: Operands::First,
        values: "BbcDEeFIilmoOQSwM",
        hosts: "JW",
        long_values: &["ssh", "server", "predict", "port"],
        port_option: Some('p'),
        port: Some(22),
        ..ANY
    },
    Program {
        names: &["sftp"],
        operands: Operands::First,
        values: "BbcDFiloRSsX",
        hosts: "J",
        port_option: Some('P'),
        port: Some(22),
        ..ANY
    },
    Program {
        names: &["scp"],
        operands: Operands::Copies,
        values: "cDFiloSX",
        hosts: "J",
        port_option: Some('P'),
        port: Some(22),
        ..ANY
    },
    Program {
        names: &["rsync", "sshfs", "rdiff-backup", "unison"],
        operands: Operands::Copies,
        values: "efTBMo",
        long_values: &[
            "exclude",
            "include",
            "exclude-from",
            "include-from",
            "files-from",
            "filter",
            "rsh",
            "rsync-path",
            "bwlimit",
            "backup-dir",
            "suffix",
            "log-file",
            "chmod",
            "chown",
            "password-file",
            "temp-dir",
            "timeout",
        ],
        ..ANY
    },
    Program {
        names: &["rclone"],
        operands: Operands::Addresses,
        long_values: &["config", "exclude", "include", "log-file"],
        ..ANY
    },
    Program {
        names: &["telnet", "rlogin", "rsh", "tftp", "ftp", "rexec"],
        operands: Operands::First,
        values: "beklnSX",
        ..ANY
    },
    Program {
        names: &["mount", "mount.nfs", "mount.nfs4", "mount.cifs", "mount.smb3", "mount_nfs", "mount_smbfs", "autofs"],
        operands: Operands::Copies,
        values: "toLUTONp",
        long_values: &["types", "options", "source", "target", "label", "uuid"],
        ..ANY
    },
    Program { names: &["showmount", "rpcinfo", "nfsstat", "rup", "rusers", "finger"], values: "mtun", ..ANY },
    Program {
        names: &["gpg", "gpg2", "dirmngr-client", "sq", "hkt"],
        operands: Operands::Addresses,
        values: "oruN",
        long_values: &["output", "recipient", "local-user", "homedir", "passphrase-file", "keyserver-options"],
        long_hosts: &["keyserver"],
        ..ANY
    },
    Program {
        names: &["ansible", "ansible-playbook", "ansible-inventory", "ansible-console", "ansible-pull"],
        operands: Operands::Addresses,
        values: "maeutlfcMoTU",
        lists: "i",
        long_values: &[
            "extra-vars",
            "user",
            "limit",
            "tags",
            "skip-tags",
            "module-name",
            "args",
            "vault-password-file",
        ],
        ..ANY
    },
    Program { names: &["lftp"], values: "ecfups", ..ANY },
    Program {
        names: &["nc", "ncat", "netcat"],
        operands: Operands::First,
        values: "cegGiIMmoOpPqsTVwX",
        hosts: "x",
        long_values: &["wait", "source-port", "output", "exec", "sh-exec"],
        long_hosts: &["proxy"],
        ..ANY
    },
    Program { names: &["socat"], operands: Operands::Transports, values: "lLtTbOW", ..ANY },
    Program {
        names: &["openssl"],
        verbs: &["s_client", "s_time"],
        operands: Operands::Addresses,
        long_values: &["CAfile", "CApath", "cert", "key", "servername", "starttls", "alpn"],
        long_hosts: &["connect", "proxy", "host"],
        one_dash: true,
        ..ANY
    },
    Program {
        names: &["psql", "pg_dump", "pg_restore", "pg_isready", "createdb", "dropdb", "pgbench"],
        operands: Operands::Addresses,
        values: "cUfovFRTPLtnCE",
        hosts: "h",
        long_values: &["username", "command", "file", "output", "format"],
        long_hosts: &["host", "dbname"],
        port_option: Some('p'),
        port: Some(5432),
        ..ANY
    },
    Program {
        names: &["mysql", "mariadb", "mysqldump", "mysqladmin", "mysqlimport", "mysqlsh"],
        operands: Operands::Addresses,
        values: "ueDS",
        hosts: "h",
        long_values: &["user", "execute", "database", "socket"],
        long_hosts: &["host", "uri"],
        port_option: Some('P'),
        port: Some(3306),
        ..ANY
    },
    Program {
        names: &["redis-cli", "valkey-cli"],
        operands: Operands::Addresses,
        values: "anrix",
        hosts: "hu",
        port_option: Some('p'),
        port: Some(6379),
        ..ANY
    },
    Program {
        names: &["mongo", "mongosh", "mongodump", "mongoimport", "mongoexport", "mongorestore"],
        operands: Operands::Addresses,
        values: "updcofq",
        hosts: "h",
        long_values: &["username", "password", "eval", "collection", "db", "out", "file"],
        long_hosts: &["host", "uri"],
        ..ANY
    },
    Program {
        names: &["sqlcmd", "bcp", "tsql", "isql"],
        operands: Operands::Addresses,
        values: "UPdQiopq",
        hosts: "SH",
        ..ANY
    },
    Program {
        names: &["clickhouse-client", "cqlsh", "influx", "snowsql"],
        operands: Operands::Addresses,
        values: "udq",
        hosts: "h",
        long_hosts: &["host"],
        ..ANY
    },
    Program {
        names: &["smbclient", "smbmap", "rpcclient"],
        operands: Operands::First,
        values: "UNWcpmn",
        hosts: "IL",
        long_values: &["user", "command"],
        ..ANY
    },
    Program {
        names: &["ldapsearch", "ldapmodify", "ldapadd", "ldapwhoami"],
        operands: Operands::Addresses,
        values: "DwbsfyYU",
        hosts: "hH",
        port_option: Some('p'),
        ..ANY
    },
    Program {
        names: &["iperf", "iperf3"],
        operands: Operands::Addresses,
        values: "tipPbwn",
        hosts: "c",
        long_hosts: &["client"],
        ..ANY
    },
    Program {
        names: &["snmpget", "snmpwalk", "snmpset", "snmpbulkwalk", "snmptrap"],
        operands: Operands::First,
        values: "cvulaAxXrtm",
        ..ANY
    },
    Program { names: &["ntpdate", "sntp", "chronyd"], values: "atov", ..ANY },
    Program { names: &["rdesktop", "vncviewer", "xfreerdp", "x11vnc", "remmina"], values: "udpgakrT", ..ANY },
    Program {
        names: &["mosquitto_pub", "mosquitto_sub", "mosquitto_rr"],
        operands: Operands::Addresses,
        values: "tmuPqif",
        hosts: "hL",
        long_hosts: &["host", "url"],
        port_option: Some('p'),
        port: Some(1883),
        ..ANY
    },
    Program {
        names: &["kafka-console-producer", "kafka-console-consumer", "kafka-topics", "kcat", "kafkacat"],
        operands: Operands::Addresses,
        values: "tpoGX",
        hosts: "b",
        long_hosts: &["bootstrap-server", "broker-list"],
        long_values: &["topic", "group"],
        ..ANY
    },
    Program {
        names: &["grpcurl", "evans"],
        operands: Operands::First,
        values: "dH",
        one_dash: true,
        long_values: &["d", "H", "proto", "import-path", "max-time"],
        ..ANY
    },
    Program {
        names: &["docker", "podman", "nerdctl", "buildah", "skopeo", "crane"],
        verbs: &["pull", "push", "run", "create", "login", "copy", "search"],
        operands: Operands::Addresses,
        values: "vpewuhlm",
        hosts: "H",
        long_values: &[
            "name",
            "volume",
            "publish",
            "env",
            "env-file",
            "workdir",
            "user",
            "network",
            "label",
            "entrypoint",
            "platform",
            "memory",
            "cpus",
            "mount",
            "restart",
            "username",
            "password",
            "tag",
        ],
        long_hosts: &["host"],
        ..ANY
    },
    Program {
        names: &["npm", "pnpm", "yarn", "npx", "bun"],
        operands: Operands::Addresses,
        values: "C",
        long_values: &["prefix", "workspace", "tag", "loglevel", "cache"],
        long_hosts: &["registry", "proxy", "https-proxy"],
        ..ANY
    },
    Program {
        names: &["pip", "pip3", "pipx", "uv", "poetry"],
        operands: Operands::Addresses,
        values: "rctedw",
        hosts: "if",
        long_values: &[
            "requirement",
            "constraint",
            "target",
            "editable",
            "prefix",
            "root",
            "python",
            "log",
            "cache-dir",
        ],
        long_hosts: &["index-url", "extra-index-url", "index", "default-index", "find-links", "proxy", "trusted-host"],
        ..ANY
    },
    Program {
        names: &["go"],
        verbs: &["get", "install", "run", "mod"],
        operands: Operands::Addresses,
        one_dash: true,
        long_values: &["tags", "ldflags", "o", "C", "p"],
        ..ANY
    },
    Program {
        names: &["cargo"],
        verbs: &["install", "add", "search", "publish"],
        operands: Operands::Addresses,
        values: "pjFCZ",
        long_values: &["version", "features", "bin", "branch", "tag", "rev", "path", "root", "package"],
        long_hosts: &["git", "index"],
        ..ANY
    },
    Program {
        names: &["gem", "bundle", "composer", "brew", "helm", "conda", "mamba", "apt", "apt-get", "dnf", "apk"],
        operands: Operands::Addresses,
        values: "ntfvc",
        long_values: &["version", "name", "namespace", "values", "set", "file"],
        long_hosts: &["source", "repo", "repository", "clear-sources"],
        ..ANY
    },
    Program {
        names: &["svn", "hg", "bzr", "darcs", "fossil", "gh", "glab"],
        operands: Operands::Addresses,
        values: "mrbRuFHfXtB",
        long_values: &[
            "message", "body", "title", "branch", "base", "head", "label", "assignee", "repo", "jq", "field", "method",
        ],
        long_hosts: &["hostname"],
        ..ANY
    },
    Program {
        names: &["mail", "mailx", "sendmail", "mutt", "msmtp", "swaks"],
        operands: Operands::Addresses,
        values: "sabcfrtF",
        long_values: &["to", "from", "body", "header"],
        long_hosts: &["server", "host"],
        ..ANY
    },
    Program {
        names: &["iwr", "irm", "invoke-webrequest", "invoke-restmethod"],
        one_dash: true,
        long_values: &["outfile", "method", "headers", "body", "useragent", "contenttype", "timeoutsec"],
        long_hosts: &["uri", "proxy"],
        ..ANY
    },
    Program { names: &["ssh-keyscan", "fping", "tracepath", "nbtscan"], values: "pTtfcOiw", ..ANY },
];
