//! What a resource is read by, however its address is spelled.
//!
//! A server takes an address apart in its own way: `EXEC://id`, ` exec://id` and `ex<tab>ec://id` are one to a parser of
//! URLs, some servers leave out what follows `?`, some take nothing but the path, some take a template for a regular
//! expression, and two templates may both fit. Nobody here can know them all. So what holds for an address that is not
//! listed is the strictest of the templates that make it as it stands, and of all guarded ones that a server may find by
//! it: those that begin as it does, letter by letter, and where no template makes it also those that only may. What stands
//! for the variables is judged in every way to read it.

use std::borrow::Cow;
use std::sync::Arc;

use switchboard_gate::{Reading, ToolPolicy};
use switchboard_validators::percent;
use switchboard_validators::uri_template::{self as template, Variables};
use unicode_normalization::UnicodeNormalization as _;

use super::judge::Plain;
use super::{Directory, Route, apart};

/// Schemes whose addresses have rules of their own.
const WEB: [&str; 6] = ["http", "https", "ws", "wss", "ftp", "file"];

/// More ways to read one address are not judged: it is none that anybody writes.
const MAX_READINGS: usize = 256;
/// Parts of an address that may each be what a variable takes, where it is not known how a server reads it.
const MAX_PARTS: usize = 16;

impl Directory {
    /// What a resource of a server is read by, under the server's own URI for it: what is said of it where it is listed,
    /// else of all templates that may be meant. `None` where that could be anything.
    #[must_use]
    pub fn reading(&self, server: usize, uri: &str) -> Option<Reading> {
        let plain = self.plain.get(server)?;
        if let Some(route) = self.listed(server, uri) {
            let policy = route.policy.clone().unwrap_or_else(|| plain.listed.clone());
            return Some(Reading { policy, variables: Vec::new() });
        }
        self.unlisted(server, uri, plain)
    }

    fn listed(&self, server: usize, uri: &str) -> Option<&Route> {
        let of_server = |route: &&Route| route.server == server && &*route.original == uri;
        let apart = || self.resources.get(&apart(self.ids.get(server)?, uri));
        self.resources.get(uri).filter(of_server).or_else(|| apart().filter(of_server))
    }

    fn unlisted(&self, server: usize, uri: &str, plain: &Plain) -> Option<Reading> {
        // A listed resource that says something of itself says it in every spelling.
        let speaking = || self.resources.values().filter(|route| route.server == server && route.policy.is_some());
        let spellings = Spellings::of(uri);
        let templates: Vec<_> = self.templates_of(server, plain).collect();
        // What is guarded under the same scheme could be meant by it.
        let guarded = templates.iter().filter(|(_, policy)| !policy.is_plain());
        let mut guarded = guarded.map(|(template, _)| *template).chain(speaking().map(|route| &*route.original));
        if is_twisted(uri) && guarded.any(|guarded| spellings.shares_scheme(guarded)) {
            return None;
        }
        let is_made = templates.iter().any(|(template, _)| template::makes(template, uri));
        let mut policies = Vec::new();
        let mut variables: Vec<Variables> = Vec::new();
        for (template, policy) in templates {
            let makes = template::makes(template, uri);
            let may_be_meant = || spellings.may_mean(template, is_made);
            if !makes && (policy.is_plain() || !may_be_meant()) {
                continue;
            }
            policies.push(policy);
            let before = variables.len();
            variables.extend(spellings.all().flat_map(|spelling| template::readings(template, spelling)));
            if variables.len() == before {
                let names = template::variables(template);
                let reading = |part: &str| names.iter().map(|name| (name.clone(), part.to_owned())).collect();
                variables.extend(spellings.parts().iter().map(|part| reading(part)));
            }
            variables.retain(|reading| !reading.is_empty());
            variables.sort_unstable();
            variables.dedup();
            if variables.len() > MAX_READINGS {
                return None;
            }
        }
        let same = speaking().filter(|route| spellings.may_be(&route.original));
        policies.extend(same.filter_map(|route| route.policy.clone()));
        let policy = ToolPolicy::strictest(&policies).unwrap_or_else(|| plain.named.clone());
        Some(Reading { policy, variables })
    }

    fn templates_of<'a>(
        &'a self,
        server: usize,
        plain: &'a Plain,
    ) -> impl Iterator<Item = (&'a str, Arc<ToolPolicy>)> + 'a {
        let own = self.templates.iter().filter(move |(_, route)| route.server == server);
        own.map(|(_, route)| (&*route.original, route.policy.clone().unwrap_or_else(|| plain.named.clone())))
    }

    /// Whether a resource of a server is held back, or is known only by a template that is.
    #[must_use]
    pub fn is_held(&self, server: usize, uri: &str) -> bool {
        if self.held.is_empty() && self.held_templates.is_empty() {
            return false;
        }
        if self.held.contains(&(server, uri.to_owned())) {
            return true;
        }
        let of_server = |(whose, _): &&(usize, String)| *whose == server;
        let mut held = self.held.iter().filter(of_server).peekable();
        let mut templates = self.held_templates.iter().filter(of_server).peekable();
        if held.peek().is_none() && templates.peek().is_none() || self.listed(server, uri).is_some() {
            return false;
        }
        let spellings = Spellings::of(uri);
        let shares = |(_, written): &(usize, String)| spellings.shares_scheme(written);
        if is_twisted(uri) && (held.clone().any(shares) || templates.clone().any(shares)) {
            return true;
        }
        let own = self.templates.iter().filter(|(_, route)| route.server == server);
        let is_made = own.map(|(_, route)| &*route.original).any(|template| template::makes(template, uri));
        let may_be_meant = |template: &str| spellings.may_mean(template, is_made);
        held.any(|(_, held)| spellings.may_be(held))
            || templates.any(|(_, template)| template == uri || may_be_meant(template))
    }
}

/// An address as it was written, and in every form that lenient readers make of it.
struct Spellings<'a> {
    uri: &'a str,
    loose: Vec<String>,
    /// Each of them taken apart.
    addresses: Vec<Address>,
}

impl<'a> Spellings<'a> {
    fn of(uri: &'a str) -> Self {
        let loose = loosened(uri);
        let addresses = std::iter::once(uri).chain(loose.iter().map(String::as_str)).flat_map(Address::forms).collect();
        Self { uri, loose, addresses }
    }

    fn all(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.uri).chain(self.loose.iter().map(String::as_str))
    }

    /// Whether some server may find this template by the address.
    fn may_come_from(&self, template: &str) -> bool {
        let beginning = template::beginning(template);
        let Some((scheme, rest)) = beginning.split_once(':') else {
            let beginning = letters(beginning);
            return self.all().any(|spelling| letters(spelling).starts_with(&beginning));
        };
        // Behind a whole part of the path another one begins, unless a mark cut it short.
        let is_whole = rest.ends_with('/') && template.as_bytes().get(beginning.len()) == Some(&b'{');
        self.all().filter_map(|spelling| spelling.split_once(':')).any(|(other, address)| {
            letters(other) == letters(scheme)
                && if is_whole {
                    let mut given = steps(address).into_iter();
                    steps(rest).into_iter().all(|step| given.next().is_some_and(|given| given == step))
                } else {
                    letters(address).starts_with(&letters(rest))
                }
        })
    }

    /// Whether a server may take it for an address of a template, where another one makes it as it stands or none does.
    fn may_mean(&self, template: &str, is_made: bool) -> bool {
        // To a server that takes its templates for regular expressions marks in them are no letters.
        let first = template.split('{').next().unwrap_or_default();
        let marks = ['+', '*', '?', '(', ')', '[', ']', '|', '\\', '^', '$'];
        let behind = first.rsplit(marks).next().unwrap_or_default();
        let as_expression = behind.len() < first.len()
            && self.all().any(|spelling| letters(spelling).contains(&letters(behind)))
            && self.may_come_from(template);
        self.begins_as(template)
            || as_expression
            || self.all().any(|spelling| !template::readings(template, spelling).is_empty())
            || !is_made && self.may_come_from(template)
    }

    /// Whether the scheme of an address or template is the same, or is no word.
    fn shares_scheme(&self, written: &str) -> bool {
        let scheme = written.split_once(':').map(|(scheme, _)| scheme).filter(|scheme| !scheme.contains('{'));
        scheme.is_none_or(|scheme| self.addresses.iter().any(|given| given.scheme == letters(scheme)))
    }

    /// Whether it begins as everything that a template makes, step by step: with the host, or to a server that takes
    /// nothing but the path.
    fn begins_as(&self, template: &str) -> bool {
        let first = template.split('{').next().unwrap_or_default();
        if !first.contains(':') {
            return self.may_come_from(template);
        }
        let [written, _] = Address::forms(first);
        let is_open = !first.ends_with(['/', '?', '#']);
        let by_path = written.host.is_empty() || !written.path.is_empty();
        self.addresses.iter().any(|given| {
            given.scheme == written.scheme
                && (written.query.is_empty() || given.query.contains(&written.query))
                && (leads(&written.whole(), &given.whole(), is_open)
                    || by_path && leads(&written.path, &given.path, is_open))
        })
    }

    /// Whether it may lead to the same as another address. What follows the path tells no two apart, and neither does the
    /// host to a server that takes nothing but the path.
    fn may_be(&self, written: &str) -> bool {
        let bare = |address: &str| letters(address.split(['?', '#']).next().unwrap_or_default());
        let forms: Vec<String> = std::iter::once(written.to_owned()).chain(loosened(written)).collect();
        let bares: Vec<String> = forms.iter().map(|form| bare(form)).collect();
        let by_path = |form: &String| {
            let [held, _] = Address::forms(form);
            let telling = held.host.is_empty() && !held.path.is_empty() || held.path.len() > 1;
            telling && self.addresses.iter().any(|given| given.scheme == held.scheme && given.path == held.path)
        };
        self.all().any(|spelling| bares.contains(&bare(spelling))) || forms.iter().any(by_path)
    }

    /// What may stand for a variable where nobody knows which: all behind the scheme, and from each mark on.
    fn parts(&self) -> Vec<&str> {
        let form = self.loose.first().map_or(self.uri, String::as_str);
        let rest = form.split_once(':').map_or(form, |(_, rest)| rest).trim_matches('/');
        let marks = rest.match_indices(['/', '?', '=', '&', '#', ':', ';']);
        let behind = marks.map(|(at, mark)| &rest[at + mark.len()..]).filter(|part| !part.is_empty());
        std::iter::once(rest).chain(behind).take(MAX_PARTS).collect()
    }
}

/// The parts of an address, in the letters that all readers agree on.
struct Address {
    scheme: String,
    host: String,
    path: Vec<String>,
    query: String,
}

impl Address {
    /// As a lenient reader has it, and as a parser of URLs does, which reads escapes only behind the host.
    fn forms(written: &str) -> [Self; 2] {
        let form = by_hand(written).into_iter().next().unwrap_or_default();
        let plain: String = written.trim().chars().filter(|c| !c.is_control()).collect();
        [Self::of(&form), Self::of(&plain)]
    }

    fn of(form: &str) -> Self {
        let (scheme, rest) = form.split_once(':').unwrap_or(("", form));
        let (rest, query) = rest.split_once(['?', '#']).unwrap_or((rest, ""));
        let (host, path) = match rest.strip_prefix("//") {
            Some(rest) => rest.split_once('/').unwrap_or((rest, "")),
            None => ("", rest),
        };
        let host = host.rsplit('@').next().unwrap_or_default();
        Self { scheme: letters(scheme), host: letters(host), path: steps(path), query: letters(query) }
    }

    /// The host and the steps of the path.
    fn whole(&self) -> Vec<String> {
        let host = Some(&self.host).filter(|host| !host.is_empty());
        host.into_iter().chain(&self.path).cloned().collect()
    }
}

/// Whether steps begin with others. The last of those may go on where it is open.
fn leads(written: &[String], given: &[String], is_open: bool) -> bool {
    let last = written.len().saturating_sub(1);
    written.len() <= given.len()
        && written.iter().zip(given).enumerate().all(|(at, (written, given))| {
            written == given || is_open && at == last && given.starts_with(written.as_str())
        })
}

/// The letters and digits of a text with its escapes read, which is what all readers agree on. Accents are left out: an
/// accent that stands apart may belong to the letter in front of it, or to what follows.
fn letters(text: &str) -> String {
    unescaped(text).nfkd().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The letters of each part of a path that has some.
fn steps(path: &str) -> Vec<String> {
    let path = unescaped(path);
    path.split(['/', '\\']).map(letters).filter(|step| !step.is_empty()).collect()
}

fn unescaped(text: &str) -> String {
    percent::stages(text).pop().map(Cow::into_owned).unwrap_or_default()
}

/// Whether an address is written in a way that readers are known to differ about: steps through `.` and `..`, in any
/// escape, and a name in front of the host that holds marks. Nobody writes resources so.
fn is_twisted(uri: &str) -> bool {
    let skips = |c: &char| !c.is_control();
    let front: String = uri.split(['?', '#']).next().unwrap_or_default().chars().filter(skips).collect();
    // Some leave out what follows `;` in a step.
    let name_of = |step: &str| step.split(';').next().unwrap_or_default().trim().to_owned();
    let has_steps = |text: &str| text.split(['/', '\\', ':']).any(|step| matches!(&*name_of(step), "." | ".."));
    if front.to_ascii_lowercase().contains("%u00") {
        return true;
    }
    if percent::stages(&front).iter().any(|read| has_steps(read)) {
        return true;
    }
    let rest = front.split_once(':').map_or("", |(_, rest)| rest).trim_start_matches(['/', '\\']);
    let authority = rest.split('/').next().unwrap_or_default();
    let name = authority.rsplit_once('@').map(|(name, _)| name);
    name.is_some_and(|name| name.contains(['%', '\\'])) || authority.contains('\\') && authority.contains('@')
}

/// An address as lenient readers take it: without blanks and breaks that parsers skip, escapes read, nobody's name and no
/// port in front of the path, and steps through `.` and `..` taken. There are further forms where such steps leave the path
/// (some readers take them through the host), and where the rules of browsers for addresses of the web and of files say
/// more: `http:x`, `file:/x`, hosts in other letters or as numbers.
fn loosened(uri: &str) -> Vec<String> {
    let mut forms = by_hand(uri);
    let given: Vec<String> = std::iter::once(uri.to_owned()).chain(forms.iter().cloned()).collect();
    let is_of_web = |address: &url::Url| WEB.contains(&address.scheme());
    for address in given.iter().filter_map(|form| url::Url::parse(form).ok()).filter(is_of_web) {
        for form in by_hand(address.as_str()) {
            if !forms.contains(&form) {
                forms.push(form);
            }
        }
    }
    forms
}

fn by_hand(uri: &str) -> Vec<String> {
    let is_skipped = |c: char| c.is_control() || matches!(c, '\u{200b}'..='\u{200f}' | '\u{feff}' | '\u{2060}');
    let text: String = uri.trim().chars().filter(|c| !is_skipped(*c)).collect();
    let text = unescaped(&text).trim().replace('\\', "/");
    let Some((scheme, rest)) = text.split_once(':') else { return vec![text] };
    let Some(rest) = rest.strip_prefix("//") else { return vec![format!("{scheme}:{}", walked(rest, 1))] };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = match host.rsplit_once(':') {
        Some((host, port)) if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => host,
    };
    // `fetch://https://x/y`: what follows is an address of its own.
    if host.ends_with(':') {
        return vec![format!("{scheme}://{host}{path}")];
    }
    // A dot behind the last name says the same.
    let host = host.strip_suffix('.').unwrap_or(host);
    let mut forms = vec![format!("{scheme}://{host}{}", walked(path, 1))];
    let through = format!("{scheme}://{}", walked(&format!("{host}{path}"), 0));
    if through != forms[0] {
        forms.push(through);
    }
    forms
}

/// A path with its steps taken, the first `kept` of which are not stepped out of. What follows it stays as it is.
fn walked(path: &str, kept: usize) -> String {
    let end = path.find(['?', '#']).unwrap_or(path.len());
    let (path, rest) = path.split_at(end);
    let mut steps: Vec<&str> = Vec::new();
    let last = path.split('/').count() - 1;
    for (at, step) in path.split('/').enumerate() {
        match step {
            "." => {}
            ".." if steps.len() > kept => drop(steps.pop()),
            ".." => {}
            "" if at > 0 && at < last && !steps.last().is_some_and(|step| step.ends_with(':')) => {}
            step => steps.push(step),
        }
    }
    format!("{}{rest}", steps.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_address() {
        for (written, loose) in [
            ("exec://id", "exec://id"),
            ("  exec://id", "exec://id"),
            ("ex\tec://i\nd", "exec://id"),
            ("exec://id;echo%20pwned", "exec://id;echo pwned"),
            ("exec://id%253Becho", "exec://id;echo"),
            ("app://host/x/../run/ls", "app://host/run/ls"),
            ("app://host/./run//ls", "app://host/run/ls"),
            ("app://@host/run/ls", "app://host/run/ls"),
            ("app://me:secret@host:80/run", "app://host/run"),
            ("app:\\\\host\\run", "app://host/run"),
            ("notes:evil", "notes:evil"),
            ("no scheme", "no scheme"),
        ] {
            assert!(loosened(written).contains(&loose.to_owned()), "{written:?}: {:?}", loosened(written));
        }
        assert_eq!(loosened("doc://x/../run/ls"), ["doc://x/run/ls", "doc://run/ls"]);
        for (held, spellings) in [
            ("file:///srv/evil.txt", &["file:/srv/evil.txt", "file://localhost/srv/evil.txt", "file:srv/evil.txt"][..]),
            (
                "https://docs.local/evil",
                &[
                    "https:docs.local/evil",
                    "https:/docs.local/evil",
                    "https:///docs.local/evil",
                    "https://docs\u{3002}local/evil",
                    "https://\u{ff44}ocs.local/evil",
                    "https://docs\u{ad}.local/evil",
                    "https://docs.local./evil",
                    "https://docs.local:443/evil",
                ],
            ),
            ("https://1.1.1.1/run", &["https://16843009/run", "https://0x1010101/run", "https://1.1.257/run"]),
        ] {
            for spelling in spellings {
                assert!(Spellings::of(spelling).may_be(held), "{held}: {spelling}: {:?}", loosened(spelling));
            }
        }
        for (written, other) in [("notes://evil", "NOTES://Evil"), ("notes://evil", "notes://evil/?x=1#y")] {
            assert!(Spellings::of(other).may_be(written), "{other}");
        }
        assert!(!Spellings::of("notes://evil/more").may_be("notes://evil"));
        // Some servers take nothing but the path.
        for (held, spelling, same) in [
            ("note:///2", "note://x/2", true),
            ("note:///2", "note://u@localhost:80/2", true),
            ("note:///2", "note://x%3F/2", true),
            ("note:///2", "note://x%253F/2", true),
            ("note:///2", "note://x%2Fy/2", true),
            ("note:///2", "note://x/3", false),
            ("note:///2", "notes://x/2", false),
            ("db://users/2", "db://orders/2", false),
            ("docs://a/b/evil", "docs://x/b/evil", true),
        ] {
            assert_eq!(Spellings::of(spelling).may_be(held), same, "{held} {spelling}");
        }
    }

    #[test]
    fn an_address_begins_as_a_template_step_by_step() {
        for (template, address, begins) in [
            ("ops:///run/{command}", "ops://x/run/id", true),
            ("ops:///run/{command}", "ops://u@x/run/rm%20-rf%20%2F", true),
            ("ops:///run/{command}", "ops://x%3F/run/rm%20-rf%20%2F", true),
            ("ops:///run/{command}", "ops://x%23/run/id", true),
            ("ops:///run/{command}", "ops://x%2Fy/run/id", true),
            ("ops:///run/{command}", "ops://x%5Cy/run/id", true),
            ("file:///run/{command}", "file://127.0.0.1/run/ls", true),
            ("ops:///run/{command}", "OPS:/r%75n/ls", true),
            ("exec://{command}", "exec://anything/at/all", true),
            ("cmd://do{command}", "cmd://dols", true),
            ("app://host:80/run/{c}", "app://host:80/run/x", true),
            ("app://host:80/run/{c}", "app://host:80/docs/intro", false),
            ("ops://v1.2/run/{c}", "ops://v1.3/docs/intro", false),
            ("k8s.io://exec/{c}", "k8s.io://pods/web-0", false),
            ("net://api.example.com/fetch/{+url}", "net://api.example.com/users/42", false),
            ("https://api.example.com/run/{c}", "https://api.example.com/v1/items?limit=5#top", false),
            ("apx://x/search?command={c}", "apx://x/search?term=foo", false),
            ("apx://x/search?command={c}", "apx://x/search?term=foo&command=id", true),
            ("db://users/{id}", "db://orders/5", false),
        ] {
            assert_eq!(Spellings::of(address).begins_as(template), begins, "{template} {address}");
        }
        // Where another template makes the address, a server may still take this one for a regular expression.
        for (template, address, means) in [
            ("apx://x/search?command={c}", "apx://x/searchcommand=id", true),
            ("apx://x/search?command={c}", "apx://x/searccommand=id", true),
            ("apx://x/search?command={c}", "apx://x/search?term=foo", false),
            ("svc://api.local/{command}", "svc://apiXlocal/id", true),
            ("e4://x/[run]/{command}", "e4://x/r/id", true),
            ("net://api.example.com/fetch/{+url}", "net://api.example.com/users/42", false),
        ] {
            assert_eq!(Spellings::of(address).may_mean(template, true), means, "{template} {address}");
        }
    }

    #[test]
    fn twisted_addresses_are_told_from_others() {
        for twisted in [
            "app://host/q%2Fy/../run/x",
            "app://host/q/%3F/../../run/x",
            "app://host/q\\..\\run",
            "app://host/q/%252e%252e/run",
            "https://ci/run/x;%252f%252e%252e%252f",
            "app://u%2Fx@host/run/x",
            "app://u\\@host/run/x",
            "app://host/./run",
            "app://host/..;/run/x",
            "app://host/%u002e%u002e/run",
        ] {
            assert!(is_twisted(twisted), "{twisted}");
        }
        for plain in [
            "notes://a..b/c.d",
            "file:///home/me/.config/x",
            "postgres://user@host/db",
            "web://https://x.example/a//b",
            "docs://x?path=../y",
            "app://host/v1.2/...",
        ] {
            assert!(!is_twisted(plain), "{plain}");
        }
    }

    #[test]
    fn an_address_is_held_to_every_template_that_begins_as_it_does() {
        for (template, addresses) in [
            ("exec://{command}/run", &["exec://ls/run?x", "EXEC:ls", "ex%65c://ls#run", " exec:///x"][..]),
            (
                "doc://run/{command}",
                &["doc://run/ls", "doc://x/../run/ls", "DOC://r%75n/ls", "doc:run/x", "doc:///run//ls"],
            ),
            ("cmd://do{command}", &["cmd://dols", "cmd://do%CC%81;rm"]),
            ("app://host:80/run/{x}", &["app://host:080/run/ls", "app://host:/run/ls#://", "app://u@host/run/ls"]),
            ("notes://caf%C3%A9/{x}", &["notes://caf%c3%a9/x", "notes://cafe\u{301}/x"]),
            ("git+ssh://h/run/{c}", &["gitssh://h/run/id", "gittssh://h/run/id"]),
            ("wiki://Foo_(bar)/{c}", &["wiki://Foo_bar/id"]),
            ("api://x/search?command={c}", &["api://x/searchcommand=id", "api://x/searccommand=id"]),
            ("https://1.1.1.1/run/{c}", &["https://16843009/run/id"]),
            ("{+all}", &["any://thing"]),
        ] {
            for address in addresses {
                assert!(Spellings::of(address).may_come_from(template), "{template} {address}");
            }
        }
        for (template, address) in [
            ("doc://run/{command}", "doc://guide/one"),
            ("doc://run/{command}", "docs://run/one"),
            ("sh://{command}", "shop://42"),
            ("ops://run/{command}", "ops://runbooks/restart-db"),
            ("cmd://{command}", "notes://\u{65e5}\u{672c}\u{8a9e}"),
            ("file:///run/{command}", "file:///home/My Documents/a.txt"),
        ] {
            assert!(!Spellings::of(address).may_come_from(template), "{template} {address}");
        }
    }
}
