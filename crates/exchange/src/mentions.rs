//! Resources that servers mention in their answers without listing them: which server to ask for one.
//!
//! Kept apart by principal, so that nothing one of them is told decides where another one reads.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;
use switchboard_wire::Raw;

/// Resources remembered at once; the one mentioned longest ago is forgotten first.
const MAX_MENTIONS: usize = 10_000;
/// Of one answer.
const MOST_OF_ONE: usize = 100;
/// A longer URI is not remembered.
const MAX_URI_BYTES: usize = 2_048;

/// What was mentioned.
#[derive(Default)]
pub(crate) struct Mentions(Mutex<Known>);

/// The principal and the URI.
type Key = (Arc<str>, String);

#[derive(Default)]
struct Known {
    servers: HashMap<Key, Arc<str>>,
    order: VecDeque<Key>,
}

impl Mentions {
    /// Notes the resources that a server's answer to somebody links to.
    pub(crate) fn note(&self, principal: &Arc<str>, server: &Arc<str>, result: &Raw) {
        // Most answers have none, and looking for a word is much cheaper than looking at every member.
        if memchr::memmem::find(result.as_bytes(), b"resource_link").is_none() {
            return;
        }
        let uris = linked(result);
        let mut known = self.0.lock();
        for uri in uris {
            let key = (principal.clone(), uri);
            if known.servers.insert(key.clone(), server.clone()).is_none() {
                known.order.push_back(key);
            }
            if known.order.len() > MAX_MENTIONS
                && let Some(oldest) = known.order.pop_front()
            {
                known.servers.remove(&oldest);
            }
        }
    }

    /// The server that mentioned a resource to somebody.
    pub(crate) fn server(&self, principal: &str, uri: &str) -> Option<Arc<str>> {
        self.0.lock().servers.get(&(principal.into(), uri.to_owned())).cloned()
    }
}

/// The URIs of links in the answer of a tool or a prompt.
fn linked(result: &Raw) -> Vec<String> {
    let contents = result.member("content").and_then(|raw| raw.elements()).unwrap_or_default();
    let messages = result.member("messages").and_then(|raw| raw.elements()).unwrap_or_default();
    let of_messages = messages.iter().filter_map(|message| message.member("content"));
    let link = |content: Raw| {
        let is_link = content.member("type")?.as_text()? == "resource_link";
        content.member("uri").filter(|uri| is_link && uri.as_bytes().len() <= MAX_URI_BYTES)?.as_text()
    };
    contents.into_iter().chain(of_messages).filter_map(link).take(MOST_OF_ONE).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use switchboard_wire::Limits;

    fn links(uri: &str) -> Raw {
        let text = format!(r#"{{"content":[{{"type":"resource_link","uri":"{uri}"}},{{"type":"text","text":"x"}}]}}"#);
        Raw::parse(text, &Limits::default()).unwrap()
    }

    #[test]
    fn a_link_leads_back_to_who_made_it_and_is_nobody_elses() {
        let mentions = Mentions::default();
        mentions.note(&"ada".into(), &"git".into(), &links("deep://1"));
        assert_eq!(mentions.server("ada", "deep://1").as_deref(), Some("git"));
        assert_eq!(mentions.server("eve", "deep://1"), None);
        mentions.note(&"ada".into(), &"files".into(), &links("deep://1"));
        assert_eq!(mentions.server("ada", "deep://1").as_deref(), Some("files"), "the last one counts");
    }

    #[test]
    fn the_memory_is_bounded() {
        let mentions = Mentions::default();
        for index in 0..=MAX_MENTIONS {
            mentions.note(&"ada".into(), &"git".into(), &links(&format!("deep://{index}")));
        }
        assert_eq!(mentions.server("ada", "deep://0"), None);
        assert!(mentions.server("ada", "deep://1").is_some());
        assert_eq!(mentions.0.lock().servers.len(), MAX_MENTIONS);
    }
}
