//! What a resource is read by, however its address is spelled.
//!
//! A server takes an address apart in its own way: `EXEC://id`, ` exec://id` and `ex<tab>ec://id` are one to a parser of
//! URLs, and two templates may both fit. So what holds for an address is the strictest of all that it may lead to. One
//! that fits nothing in any spelling is held to what the server's templates of that scheme are held to, and one that is not
//! written as everybody writes it to all templates of the server.

use std::sync::Arc;

use switchboard_guard::percent;

use super::judge::Plain;
use super::{Directory, Route, apart, template, template_matches};
use crate::gate::ToolPolicy;

/// How often an address may be escaped: readers that read twice are not rare.
const ROUNDS: usize = 3;

/// Schemes whose addresses have rules of their own.
const WEB: [&str; 6] = ["http", "https", "ws", "wss", "ftp", "file"];

/// What a resource is read by.
#[derive(Debug, Clone)]
pub struct Reading {
    /// What the gate knows of it.
    pub policy: Arc<ToolPolicy>,
    /// What stands for the variables of the templates that it may come from, in each way to read it. Each is judged.
    pub variables: Vec<Vec<(String, String)>>,
}

impl Directory {
    /// What a resource of a server is read by, under the server's own URI for it: what is said of it where it is listed,
    /// else of all templates that fit.
    #[must_use]
    pub fn reading(&self, server: usize, uri: &str) -> Option<Reading> {
        let plain = self.plain.get(server)?;
        if let Some(route) = self.listed(server, uri) {
            let policy = route.policy.clone().unwrap_or_else(|| plain.listed.clone());
            return Some(Reading { policy, variables: Vec::new() });
        }
        Some(self.unlisted(server, uri, plain))
    }

    fn listed(&self, server: usize, uri: &str) -> Option<&Route> {
        let of_server = |route: &&Route| route.server == server && &*route.original == uri;
        let apart = || self.resources.get(&apart(self.ids.get(server)?, uri));
        self.resources.get(uri).filter(of_server).or_else(|| apart().filter(of_server))
    }

    fn unlisted(&self, server: usize, uri: &str, plain: &Plain) -> Reading {
        let loose = loosened(uri);
        let mut policies = Vec::new();
        let mut variables = Vec::new();
        for (template, policy) in self.templates_of(server, plain) {
            let loosely = loose.iter().filter_map(|form| template::captures_loosely(template, form));
            let before = variables.len();
            let exactly =
                template::captures(template, uri).into_iter().chain(template::captures_greedily(template, uri));
            variables.extend(exactly.chain(loosely));
            if variables.len() > before {
                policies.push(policy);
            }
        }
        // A listed resource that says something of itself says it in every spelling.
        let speaking = self.resources.values().filter(|route| route.server == server && route.policy.is_some());
        policies
            .extend(speaking.filter(|route| is_same(&route.original, &loose)).filter_map(|route| route.policy.clone()));
        // Of an address in an odd spelling nobody here can say what every server makes of it.
        if policies.is_empty() || !is_plain(uri) {
            let form = loose.first().map_or(uri, String::as_str);
            for (template, policy) in self.templates_of(server, plain) {
                if !is_plain(uri) || same_scheme(template, form) {
                    policies.push(policy);
                    let rest = form.split_once(':').map_or(form, |(_, rest)| rest).trim_matches('/');
                    variables
                        .push(template::variables(template).into_iter().map(|name| (name, rest.to_owned())).collect());
                }
            }
        }
        variables.retain(|reading: &Vec<_>| !reading.is_empty());
        variables.sort_unstable();
        variables.dedup();
        let policy = ToolPolicy::strictest(&policies).unwrap_or_else(|| plain.named.clone());
        Reading { policy, variables }
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
        let has_held =
            self.held.iter().map(|(whose, _)| whose).chain(self.held_templates.iter().map(|(whose, _)| whose));
        if !is_plain(uri) && has_held.into_iter().any(|whose| *whose == server) && self.listed(server, uri).is_none() {
            return true;
        }
        let loose = loosened(uri);
        let of_template = |(whose, template): &(usize, String)| {
            *whose == server
                && (template == uri
                    || template_matches(template, uri)
                    || loose.iter().any(|form| template::captures_loosely(template, form).is_some()))
        };
        let of_resource = |(whose, held): &(usize, String)| *whose == server && is_same(held, &loose);
        (self.held.iter().any(of_resource) || self.held_templates.iter().any(of_template))
            && self.listed(server, uri).is_none()
    }
}

/// Whether an address as it was written is what another one, loosened, leads to. What follows the path tells no two apart.
fn is_same(written: &str, loose: &[String]) -> bool {
    let bare = |address: &str| {
        let path = address.split(['?', '#']).next().unwrap_or_default();
        path.trim_end_matches('/').to_ascii_lowercase()
    };
    let written = loosened(written);
    loose.iter().any(|loose| written.iter().any(|written| bare(written) == bare(loose)))
}

/// Whether an address is written as everybody writes it: what parsers of URLs change, or read in different ways, is not in
/// it.
fn is_plain(uri: &str) -> bool {
    let Some((scheme, rest)) = uri.split_once(':') else { return false };
    let is_scheme = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"+.-".contains(&byte);
    let authority = rest.strip_prefix("//").map(|rest| rest.split(['/', '?', '#']).next().unwrap_or_default());
    let escapes = uri.split('%').skip(1).all(|part| {
        let code = part.get(..2).and_then(|code| u8::from_str_radix(code, 16).ok());
        // Nobody has a reason to escape letters, digits and dots.
        code.is_some_and(|byte| !(byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)))
    });
    // Letters of other languages are escaped by everybody; half of one is by nobody.
    let escapes = escapes && !percent::lenient(uri).contains(char::REPLACEMENT_CHARACTER);
    let is_canonical =
        || url::Url::parse(uri).is_ok_and(|url| url.as_str().trim_end_matches('/') == uri.trim_end_matches('/'));
    scheme.bytes().all(is_scheme)
        && uri.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\')
        && !rest.split(['/', '?', '#']).any(|step| step == "." || step == "..")
        && authority.is_none_or(|host| !host.contains(['[', '@']) && !host.ends_with('.'))
        // A port of no digits, unless an address follows: `fetch://https://x`.
        && !authority.is_some_and(|host| host.ends_with(':') && !rest.contains("://"))
        && escapes
        && (!WEB.contains(&scheme) || is_canonical())
}

fn same_scheme(template: &str, loose: &str) -> bool {
    match (template.split_once(':'), loose.split_once(':')) {
        // A dot stands for any letter where a server takes its template for a regular expression.
        (Some((one, _)), Some((other, _))) => one.contains(['{', '.']) || one.eq_ignore_ascii_case(other),
        (template, _) => template.is_none(),
    }
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
    let mut text: String = uri.trim().chars().filter(|c| !is_skipped(*c)).collect();
    for _ in 0..ROUNDS {
        let read = percent::lenient(&text);
        if read == text {
            break;
        }
        text = read;
    }
    let text = text.trim().replace('\\', "/");
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
                assert!(is_same(held, &loosened(spelling)), "{held}: {spelling}: {:?}", loosened(spelling));
            }
        }
        for (written, other) in [("notes://evil", "NOTES://Evil"), ("notes://evil", "notes://evil/?x=1#y")] {
            assert!(is_same(written, &loosened(other)), "{other}");
        }
        assert!(!is_same("notes://evil", &loosened("notes://evil/more")));
    }

    #[test]
    fn what_everybody_writes_is_told_from_odd_spellings() {
        for plain in
            ["docs://guide", "notes://%C3%A4rger/%E4%B8%AD", "web://https%3A%2F%2Fx", "https://x.example/a?b=1"]
        {
            assert!(is_plain(plain), "{plain}");
        }
        for odd in
            ["Docs://guide", "docs://g%75ide", "docs://a/../b", "docs://a:/b", "docs://x%ff", "docs://x%", "http:x"]
        {
            assert!(!is_plain(odd), "{odd}");
        }
    }
}
