//! What an address says besides where something is: that something is done there, what is kept there of a query or a header, and
//! hosts that nobody knows.

/// Whether an option of a program that fetches tells the other side more than how it is asked.
pub(super) fn tells_more(option: &str, value: &str) -> bool {
    const HEADERS: [&str; 14] = [
        "accept",
        "accept-encoding",
        "accept-language",
        "cache-control",
        "connection",
        "content-type",
        "dnt",
        "if-modified-since",
        "if-none-match",
        "origin",
        "pragma",
        "range",
        "x-github-api-version",
        "x-requested-with",
    ];
    match option {
        "-H" | "--header" => {
            let name = value.split(':').next().unwrap_or_default().trim().to_ascii_lowercase();
            let is_agent =
                name == "user-agent" && is_agent(value.split_once(':').map_or("", |(_, value)| value.trim()));
            !HEADERS.contains(&name.as_str()) && !is_agent || value.len() > 200
        }
        "-A" | "--user-agent" | "-U" => !is_agent(value),
        "-e" | "--referer" => !value.starts_with("http"),
        _ => false,
    }
}

/// The name of a browser or of a tool.
fn is_agent(value: &str) -> bool {
    value.is_empty() || ["Mozilla/", "curl/", "Wget/", "Googlebot"].iter().any(|front| value.starts_with(front))
}

/// Whether an address has a query for a host that is not widely known: what it says is kept there.
pub(super) fn asks_elsewhere(text: &str) -> bool {
    const HOSTS: [&str; 40] = [
        "api.github.com",
        "api.open-meteo.com",
        "api.openweathermap.org",
        "api.stackexchange.com",
        "api.weather.gov",
        "arxiv.org",
        "bing.com",
        "clinicaltrials.gov",
        "crates.io",
        "developer.mozilla.org",
        "duckduckgo.com",
        "ebi.ac.uk",
        "en.wikipedia.org",
        "example.com",
        "example.net",
        "example.org",
        "export.arxiv.org",
        "geocoding-api.open-meteo.com",
        "github.com",
        "gitlab.com",
        "google.com",
        "googleapis.com",
        "hacker-news.firebaseio.com",
        "hn.algolia.com",
        "httpbin.org",
        "huggingface.co",
        "jsonplaceholder.typicode.com",
        "ncbi.nlm.nih.gov",
        "nist.gov",
        "nominatim.openstreetmap.org",
        "npmjs.com",
        "npmjs.org",
        "openlibrary.org",
        "packagist.org",
        "pypi.org",
        "rubygems.org",
        "stackoverflow.com",
        "usgs.gov",
        "wikipedia.org",
        "wttr.in",
    ];
    let Some((_, rest)) = text.split_once("://") else { return false };
    let (host, path) = rest.split_once(['/', '?']).unwrap_or((rest, ""));
    let query = rest.split_once('?').map_or("", |(_, query)| query);
    let host = host.split(':').next().unwrap_or_default();
    let known =
        HOSTS.iter().any(|known| host == *known || host.strip_suffix(known).is_some_and(|front| front.ends_with('.')));
    let is_plain = |value: &str| {
        let of_page = ["page", "limit", "per_page", "format", "v", "q", "lang", "size", "sort", "raw", "dl"];
        let (name, value) = value.split_once('=').unwrap_or((value, ""));
        of_page.contains(&name) && value.len() < 24 || value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
    };
    !known && (!query.is_empty() && !query.split('&').all(is_plain) || path.split('/').any(|step| step.len() > 80))
}

/// Whether a name that is looked up has more in front than what hosts are called.
pub(super) fn looks_up_more(text: &str) -> bool {
    const LABELS: [&str; 60] = [
        "_acme-challenge",
        "_dmarc",
        "_domainkey",
        "_imaps",
        "_sip",
        "_submission",
        "_tcp",
        "_xmpp-client",
        "account",
        "accounts",
        "admin",
        "api",
        "app",
        "assets",
        "auth",
        "beta",
        "blog",
        "cdn",
        "cloud",
        "console",
        "dashboard",
        "data",
        "default",
        "demo",
        "dev",
        "developer",
        "dns",
        "docs",
        "download",
        "email",
        "en",
        "files",
        "forum",
        "ftp",
        "git",
        "help",
        "images",
        "imap",
        "img",
        "login",
        "m",
        "mail",
        "media",
        "mx",
        "news",
        "portal",
        "pypi",
        "raw",
        "registry",
        "remote",
        "shop",
        "smtp",
        "staging",
        "static",
        "status",
        "store",
        "support",
        "test",
        "web",
        "www",
    ];
    let name = text.split_once("://").map_or(text, |(_, rest)| rest).trim_end_matches('.');
    let labels: Vec<&str> = name.split('.').collect();
    let is_name = labels.len() > 1 && !name.contains(['/', ':', '=', '@', '+']) && !text.starts_with('-');
    let is_address = labels.iter().all(|label| label.bytes().all(|byte| byte.is_ascii_digit()));
    // `co.uk`, `com.au`: the name is in front of both.
    let suffix = if labels.len() > 2 && labels[labels.len() - 2].len() <= 3 && labels[labels.len() - 1].len() == 2 {
        3
    } else {
        2
    };
    is_name
        && !is_address
        && labels.len() > suffix
        && labels[..labels.len() - suffix].iter().any(|label| {
            let bare = label.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('-');
            !LABELS.contains(&bare)
                && !matches!(bare, "ns" | "mx" | "us-east" | "us-west" | "eu-west" | "s3" | "in-addr" | "ip6")
        })
}

/// Whether an address is of something that is done there, or of what rules containers and machines.
pub(super) fn acts_by_address(text: &str) -> bool {
    const ACTS: [&str; 26] = [
        "delete",
        "destroy",
        "disable",
        "drop",
        "erase",
        "flush",
        "kill",
        "logout",
        "pay",
        "purge",
        "reboot",
        "remove",
        "reset",
        "restart",
        "revoke",
        "rollback",
        "shutdown",
        "stop",
        "terminate",
        "transfer",
        "trigger",
        "truncate",
        "uninstall",
        "unsubscribe",
        "webhook",
        "wipe",
    ];
    const PORTS: [&str; 6] = [":2375", ":2376", ":2379", ":4243", ":10250", ":10255"];
    let Some((_, rest)) = text.split_once("://") else { return false };
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    PORTS.iter().any(|port| host.ends_with(port))
        || path.split(|c: char| !c.is_ascii_alphabetic()).any(|word| ACTS.contains(&word.to_ascii_lowercase().as_str()))
}

/// `host/owner/name`, to which tokens would be sent.
pub(super) fn names_other_host(text: &str) -> bool {
    let is_url = text.contains("://");
    let text = text.split_once("://").map_or(text, |(_, rest)| rest);
    let mut steps = text.split('/');
    let host = steps.next().unwrap_or_default();
    (is_url || steps.count() == 2)
        && host.contains('.')
        && !host.starts_with('.')
        && !matches!(host, "github.com" | "gitlab.com" | "api.github.com")
}

/// A module of Go at a host that is not one of those where most of them are.
pub(super) fn is_module_of_other_host(text: &str) -> bool {
    const HOSTS: [&str; 20] = [
        "github.com",
        "golang.org",
        "gitlab.com",
        "bitbucket.org",
        "gopkg.in",
        "google.golang.org",
        "go.uber.org",
        "k8s.io",
        "sigs.k8s.io",
        "go.opentelemetry.io",
        "cloud.google.com",
        "honnef.co",
        "mvdan.cc",
        "go.mongodb.org",
        "modernc.org",
        "gorm.io",
        "entgo.io",
        "codeberg.org",
        "filippo.io",
        "gonum.org",
    ];
    let host = text.split(['/', '@']).next().unwrap_or_default();
    !text.starts_with(['-', '.', '/']) && host.contains('.') && !HOSTS.contains(&host)
}

/// Whether a word names a machine that is not this one.
pub(super) fn names_host(text: &str) -> bool {
    let files = [".sql", ".db", ".rdb", ".dump", ".gz", ".json", ".csv", ".bson", ".tar"];
    text.trim_start_matches("-h").split([' ', '=', '@', '/', ':', ',']).any(|part| {
        part.contains('.')
            && !part.starts_with('.')
            && !part.starts_with("127.")
            && !files.iter().any(|end| part.ends_with(end))
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte))
    })
}
