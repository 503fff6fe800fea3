//! Who dials: what follows from an address in the arguments that is not public.
//!
//! A tool on this machine that opens pages may open one of this machine too, if somebody said so: the operator by a grant
//! that names the host, or a person who is asked. What a service elsewhere fetches is looked up there and not here. And a
//! link that is stored, shown or sent is only data. Metadata services and misleading spellings are refused whoever dials,
//! and files fall under the rules for paths. What a definition tells is computed once for it ([`Dialing::of`]).

use std::net::IpAddr;

use switchboard_policy::permission::Scope;
use switchboard_policy::risk::fallback::words;
use switchboard_protocol::mgp::security::ToolSecurity;
use url::{Host, Url};

use super::reach::Target;
use super::role::{self, Role};
use super::{Checks, World, uri};
use crate::network::{self, inside};
use crate::{Finding, Verdict, percent};

/// Verbs for keeping or showing a link.
const STORING: &[&str] = &[
    "create", "add", "insert", "update", "set", "edit", "manage", "append", "save", "bookmark", "write", "link",
    "unlink", "delete", "remove", "attach", "put", "upsert", "store", "record", "log", "comment", "reply", "post",
    "send", "share",
];
/// What has a link as one of its parts.
const LINKED: &[&str] = &[
    "link",
    "links",
    "hyperlink",
    "hyperlinks",
    "bookmark",
    "bookmarks",
    "issue",
    "issues",
    "ticket",
    "task",
    "tasks",
    "todo",
    "card",
    "note",
    "notes",
    "comment",
    "contact",
    "contacts",
    "event",
    "row",
    "rows",
    "entry",
    "reference",
    "citation",
    "reminder",
    "message",
    "cell",
    "paragraph",
    "button",
    "shortcut",
    "redirect",
    "footnote",
];
/// Words that say that something is fetched from where a link leads, at once or later.
const DIALING: &[&str] = &[
    "fetch",
    "fetches",
    "fetched",
    "download",
    "downloads",
    "downloaded",
    "open",
    "opens",
    "visit",
    "visits",
    "navigate",
    "navigates",
    "crawl",
    "crawls",
    "scrape",
    "scrapes",
    "load",
    "loads",
    "import",
    "imports",
    "retrieve",
    "retrieves",
    "preview",
    "previews",
    "screenshot",
    "render",
    "renders",
    "extract",
    "extracts",
    "ping",
    "request",
    "requests",
    "unfurl",
    "snapshot",
    "archive",
    "archives",
    "webhook",
    "webhooks",
    "feed",
    "rss",
    "subscribe",
    "monitor",
    "check",
    "checks",
    "validate",
    "validates",
    "verify",
    "proxy",
    "callback",
    "call",
    "calls",
    "connect",
    "connects",
    "browse",
    "browser",
    "http",
    "parse",
    "parses",
    "pull",
    "clone",
    "sync",
    "upload",
    "uploads",
    "ingest",
    "index",
    "image",
    "images",
    "from",
    "endpoint",
    "resolve",
    "resolves",
    "follow",
    "follows",
    "enrich",
    "thumbnail",
    "favicon",
    "summarize",
    "read",
];
/// The same in whatever sentence they stand.
const SURELY_DIALING: &[&str] = &[
    "fetch",
    "fetches",
    "fetched",
    "fetching",
    "download",
    "downloads",
    "downloaded",
    "downloading",
    "crawl",
    "crawls",
    "crawled",
    "scrape",
    "scrapes",
    "scraped",
    "preview",
    "previews",
    "screenshot",
    "unfurl",
    "unfurls",
    "webhook",
    "webhooks",
    "thumbnail",
    "favicon",
    "snapshot",
    "archived",
];
/// Folders of a system, and no place for documents.
pub(super) const SYSTEM: &[&str] = &["etc", "proc", "sys", "dev", "root", "boot", "run", "var"];

/// Who connects to what the arguments name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Dialer {
    /// Nobody knows: a name without an address is refused.
    #[default]
    Unknown,
    /// A program on this machine. A name that has no address here leads it nowhere either, or by way of a proxy.
    ThisMachine,
    /// A service elsewhere: what names mean there, is not known here.
    Elsewhere,
}

/// What the links in the arguments of a tool are, by its definition.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Links {
    /// All may be dialed.
    #[default]
    Dialed,
    /// Those in text are data, since there is another argument for those that are dialed.
    OutsideOfText,
    /// All are data.
    Data,
}

/// How addresses in the arguments of a tool are judged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Dialing {
    dialer: Dialer,
    /// Whether a person is asked about hosts that people work with, where they would be refused.
    asks: bool,
    links: Links,
    /// Whether the tool says that it takes `file:` URLs.
    files: bool,
}

impl Dialing {
    /// What the definition of a tool tells.
    #[must_use]
    pub fn of(declared: &ToolSecurity, dialer: Dialer, asks: bool) -> Self {
        let takes_address = |key: &String| matches!(role::of(key), Role::Url | Role::Link | Role::Host);
        let links = if only_stores(declared) {
            Links::Data
        } else if declared.properties.iter().any(takes_address) {
            Links::OutsideOfText
        } else {
            Links::Dialed
        };
        let speaks = |text: &str| text.contains("file:") || text.contains("file URI") || text.contains("file URL");
        let files = speaks(&declared.subject) || declared.arguments.iter().any(|one| speaks(&one.says));
        Self { dialer, asks, links, files }
    }

    /// The same for names that somebody is still typing: one without an address is not finished.
    pub(super) fn unfinished(self) -> Self {
        let dialer = if self.dialer == Dialer::Unknown { Dialer::ThisMachine } else { self.dialer };
        Self { dialer, ..self }
    }

    /// Whether names are looked up.
    pub(super) fn looks_up(self) -> bool {
        self.dialer != Dialer::Elsewhere
    }

    /// Whether a person is asked where a host would be refused.
    #[must_use]
    pub const fn asks(self) -> bool {
        self.asks
    }

    /// Whether the addresses in a string are only data.
    pub(super) fn is_data(self, role: Role, text: &str) -> bool {
        let is_text = || matches!(role, Role::Prose | Role::Content) && text.trim().contains(char::is_whitespace);
        match self.links {
            Links::Dialed => false,
            Links::OutsideOfText => is_text(),
            Links::Data => true,
        }
    }
}

/// Whether a tool keeps or shows links and says nothing of going where they lead.
fn only_stores(declared: &ToolSecurity) -> bool {
    let name = words(declared.subject.split('\n').next().unwrap_or_default());
    let has = |words: &[String], list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let described = declared.subject.split('\n').nth(2).unwrap_or_default();
    // What a tool does stands in the first sentence; further ones speak of people who open what is kept.
    let first = words(described.split(". ").next().unwrap_or_default());
    has(&name, STORING)
        && has(&name, LINKED)
        && ![&name, &first].iter().any(|words| has(words, DIALING))
        && !has(&words(described), SURELY_DIALING)
}

/// A refusal, and the host that it is about.
pub(super) struct Refusal {
    pub(super) finding: Finding,
    pub(super) host: Option<String>,
}

/// Whether a target may be dialed.
pub(super) fn check(
    checks: &Checks,
    role: Role,
    text: &str,
    target: &Target,
    world: &dyn World,
) -> Result<(), Box<Refusal>> {
    let refuse = |finding: Finding, host: Option<String>| Err(Box::new(Refusal { finding, host }));
    let dialing = checks.dialing;
    if uri::is_file(&target.url) {
        return check_file(checks, &target.url).or_else(|finding| refuse(finding, None));
    }
    let data = dialing.is_data(role, text);
    let host = match network::host(&target.url) {
        Ok(host) => host,
        Err(_) if data && !is_lenient_metadata(&target.url) => return Ok(()),
        // An address in a scheme of the server's own, of which nothing is known.
        Err(finding) if dialing.asks && super::is_opaque(&target.url) && !is_code(&target.url) => {
            return refuse(finding.ask(), None);
        }
        Err(finding) => return refuse(finding, None),
    };
    let resolved = resolved(dialing, target, &host, world);
    let Err(finding) = network::check(&target.url, resolved.as_deref()) else { return Ok(()) };
    let shown = shown(&host);
    // `lib.js:12` is a place in a file, `page.html` one beside this page.
    let like_file = target.guess || !text.contains("//") && super::place::has_ending(&shown);
    if like_file && resolved.is_none() && network::is_only_unknown(&host) {
        return Ok(());
    }
    let metadata = inside::is_metadata(&host, resolved.as_deref());
    if is_granted(&checks.scopes, &shown, metadata) || data && !metadata {
        return Ok(());
    }
    // Who writes an address in another way than everybody does hides it.
    let plain = text.to_ascii_lowercase().contains(&shown);
    if !(dialing.asks && plain && inside::is_worked_with(&host, resolved.as_deref())) {
        return refuse(finding, Some(shown));
    }
    if world.is_agreed(&shown) {
        return Ok(());
    }
    let message = format!("{finding}; a yes lets this server reach `{shown}` from now on");
    refuse(Finding { message, ..finding }.ask(), Some(shown))
}

/// Whether what stands behind a scheme is run.
fn is_code(url: &str) -> bool {
    const RUN: [&str; 3] = ["javascript", "vbscript", "view-source"];
    uri::scheme_of(url.trim()).is_some_and(|(scheme, _)| RUN.iter().any(|known| scheme.eq_ignore_ascii_case(known)))
}

/// What a resolver answered, as far as it counts.
fn resolved(dialing: Dialing, target: &Target, host: &Host<String>, world: &dyn World) -> Option<Vec<IpAddr>> {
    let Host::Domain(name) = host else { return None };
    let resolved = world.addresses(name).filter(|_| target.asked && dialing.looks_up())?;
    // What only looks like a name need not be one, and a name that is nothing here may be something to a proxy: then
    // the spelling decides.
    let by_spelling = target.guess || dialing.dialer == Dialer::ThisMachine;
    Some(resolved).filter(|addresses| !(by_spelling && addresses.is_empty()))
}

/// The host, as a limit names it.
fn shown(host: &Host<String>) -> String {
    match host {
        Host::Domain(name) => name.clone(),
        Host::Ipv4(address) => address.to_string(),
        Host::Ipv6(address) => address.to_string(),
    }
}

/// Whether a grant names a host that is not public: `*` names none, and a metadata service only who spells it out.
fn is_granted(scopes: &[Scope], host: &str, metadata: bool) -> bool {
    let names = |pattern: &String| {
        let exact = !pattern.contains('*');
        pattern != "*" && (exact || !metadata) && super::reach::matches(pattern, host)
    };
    let by_name = |scope: &Scope| scope.hosts.as_ref().is_some_and(|hosts| hosts.iter().any(names));
    // A name that leads to a metadata service is not the same as the service.
    let is_itself = host.parse::<IpAddr>().is_ok_and(inside::is_metadata_address) || network::is_metadata_name(host);
    (!metadata || is_itself) && scopes.iter().any(by_name)
}

/// Whether a host gives the keys of a machine to whoever asks.
pub(super) fn is_metadata(host: &str) -> bool {
    let read = network::host(&format!("http://{}/", host.trim()));
    read.is_ok_and(|read| inside::is_metadata(&read, None))
}

/// Why no tool may be given a metadata service as a host. One that a grant spells out may be.
///
/// # Errors
/// No grant does.
pub fn check_metadata(host: &str, scopes: &[Scope]) -> Verdict {
    if is_granted(scopes, host, true) {
        return Ok(());
    }
    Err(Finding::new("network-metadata", format!("`{host}` is a metadata service of a cloud"))
        .suggest("an operator who means it spells the host out in a grant (`switchboard grant --host`)"))
}

/// Whether readers that repair a URL would find a metadata service in it.
fn is_lenient_metadata(url: &str) -> bool {
    let host = Url::parse(url).ok().and_then(|url| url.host().map(|host| host.to_owned()));
    host.is_some_and(|host| inside::is_metadata(&host, None))
}

/// A file by its URL, where no limit of paths covers it: documents are what a tool that takes files is there for.
fn check_file(checks: &Checks, url: &str) -> Verdict {
    let outside = !checks.places.is_empty();
    let Some(path) = plain_file(url).filter(|_| !outside) else {
        return Err(Finding::new("url-file", "a `file:` URL leads to a file of this machine")
            .suggest("name the file inside of the paths that are granted"));
    };
    let mut names = path.split('/').filter(|name| !name.is_empty());
    let system = names.clone().next().is_none_or(|first| SYSTEM.contains(&first));
    if checks.dialing.files && !system && !names.any(|name| name.starts_with('.')) {
        return Ok(());
    }
    let finding = Finding::new("url-file", format!("`{path}` is a file of this machine"));
    Err(if checks.dialing.asks { finding.ask() } else { finding })
}

/// The path of a `file:` URL that everybody reads in the same way.
fn plain_file(url: &str) -> Option<String> {
    let rest = url.trim().get("file:".len()..)?;
    let local = match rest.strip_prefix("//") {
        Some(after) => after.strip_prefix("localhost").unwrap_or(after),
        None => rest,
    };
    let path = percent::decoded(local).unwrap_or_else(|| local.to_owned());
    let odd = |c: char| c.is_control() || matches!(c, '%' | '\\' | '?' | '#' | '*' | '$' | '`');
    let climbs = path.split('/').any(|name| name == "..");
    (path.starts_with('/') && !path.starts_with("//") && !path.contains(odd) && !climbs).then_some(path)
}
