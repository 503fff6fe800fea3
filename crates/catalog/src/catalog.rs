//! The index over all tools, and how it changes.
//!
//! It decides what is added, what is left as it is and what is dropped when a server's list changes. It does not know how
//! a list is got, nor who may see what: a search is given that.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::thread;

use switchboard_embed::Quantized;

use crate::deed::Deed;
use crate::keyword::{Field, Keywords};
use crate::tool::Tool;
use crate::vectors::{self, Vectors};

/// Stands before a category in the inverted index. No term begins with it.
pub(crate) const CATEGORY: &str = "#";
/// Stands before a whole name.
pub(crate) const NAME: &str = "=";

/// Tools that have gone are dropped when they are this share of those that are there, and more than a few.
const DROP_SHARE: usize = 4;
const DROP_LEAST: usize = 256;

/// Fewer tools than this are not worth a thread.
const WORTH_A_THREAD: usize = 256;

/// A tool in the index.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) id: Arc<str>,
    pub(crate) server: Arc<str>,
    fingerprint: u64,
    pub(crate) alive: bool,
    /// What it does, by its name.
    pub(crate) deed: Deed,
}

/// The index over the tools of all servers. See the crate's page for what a search computes.
#[derive(Debug, Default)]
pub struct Catalog {
    pub(crate) entries: Vec<Entry>,
    numbers: HashMap<Arc<str>, u32>,
    servers: HashSet<Arc<str>>,
    pub(crate) keywords: Keywords,
    pub(crate) vectors: Vectors,
}

impl Catalog {
    /// How many tools there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Whether there is a tool with this id.
    #[must_use]
    pub fn contains(&self, id: &str) -> bool {
        self.numbers.contains_key(id)
    }

    /// Adds tools. One with the id of another takes its place; one that has not changed costs nothing.
    pub fn extend(&mut self, tools: Vec<Tool>) {
        let mut seen = HashSet::new();
        let fresh: Vec<(u64, Tool)> = tools.into_iter().map(|tool| (tool.fingerprint(), tool)).collect();
        // The last of several with one id counts, as if they had come one after the other.
        let mut fresh: Vec<(u64, Tool)> =
            fresh.into_iter().rev().filter(|(_, tool)| seen.insert(tool.id.clone())).collect();
        fresh.reverse();
        fresh.retain(|(fingerprint, tool)| {
            let known = self.numbers.get(tool.id.as_str()).map(|number| &self.entries[*number as usize]);
            known.is_none_or(|entry| entry.fingerprint != *fingerprint)
        });
        // Words on this thread, vectors on the others: each is about half of the work.
        let workers = thread::available_parallelism().map_or(1, |count| count.get().saturating_sub(1).max(1));
        let chunk = fresh.len().div_ceil(workers).max(WORTH_A_THREAD);
        let vectors: Vec<Quantized> = thread::scope(|scope| {
            let handles: Vec<_> = if fresh.len() < WORTH_A_THREAD {
                Vec::new()
            } else {
                let work = |part: &[(u64, Tool)]| part.iter().map(|(_, tool)| vector(tool)).collect::<Vec<_>>();
                fresh.chunks(chunk).map(|part| scope.spawn(move || work(part))).collect()
            };
            fresh.iter().for_each(|(fingerprint, tool)| self.add_words(tool, *fingerprint));
            let done: Vec<_> = handles.into_iter().map(|handle| handle.join().unwrap_or_default()).collect();
            done.into_iter().flatten().collect()
        });
        if vectors.len() == fresh.len() {
            vectors.iter().for_each(|vector| self.vectors.push(vector));
        } else {
            // Few tools, or a worker that could not finish: done here, so that words and vectors stay in step.
            fresh.iter().for_each(|(_, tool)| self.vectors.push(&vector(tool)));
        }
        self.drop_gone();
    }

    /// Makes the tools of a server these and no others.
    pub fn replace_server(&mut self, server: &str, tools: Vec<Tool>) {
        let kept: HashSet<&str> = tools.iter().map(|tool| tool.id.as_str()).collect();
        let gone: Vec<Arc<str>> = self
            .entries
            .iter()
            .filter(|entry| entry.alive && &*entry.server == server && !kept.contains(&*entry.id))
            .map(|entry| Arc::clone(&entry.id))
            .collect();
        gone.iter().for_each(|id| self.forget(id));
        self.extend(tools);
    }

    /// Makes the tools of the index these and no others. What has not changed costs little.
    pub fn replace(&mut self, tools: Vec<Tool>) {
        let kept: HashSet<&str> = tools.iter().map(|tool| tool.id.as_str()).collect();
        let gone: Vec<Arc<str>> = self.numbers.keys().filter(|id| !kept.contains(&***id)).cloned().collect();
        gone.iter().for_each(|id| self.forget(id));
        self.extend(tools);
    }

    /// Takes a tool out.
    pub fn remove(&mut self, id: &str) {
        self.forget(id);
        self.drop_gone();
    }

    /// The categories of the tools that may be seen, each with their number, in order.
    #[must_use]
    pub fn categories(&self, visible: impl Fn(&str) -> bool) -> Vec<(String, usize)> {
        let seen: Vec<bool> = self.entries.iter().map(|entry| entry.alive && visible(&entry.id)).collect();
        let count = |mark: &str| self.keywords.marked(mark).filter(|number| seen[*number]).count();
        let all = self.keywords.marks(CATEGORY).map(|mark| (mark[CATEGORY.len()..].to_owned(), count(mark)));
        let mut found: Vec<(String, usize)> = all.filter(|(_, count)| *count > 0).collect();
        found.sort_unstable();
        found
    }

    /// Whether a tool is in a category.
    pub(crate) fn is_in_category(&self, number: usize, category: &str) -> bool {
        self.keywords.has_mark(&category_mark(category), number)
    }

    /// The numbers of the tools in a category, and in those below it.
    pub(crate) fn in_category(&self, category: &str) -> impl Iterator<Item = usize> + '_ {
        let marked = self.keywords.marked(&category_mark(category));
        marked.filter(|number| self.entries[*number].alive)
    }

    fn add_words(&mut self, tool: &Tool, fingerprint: u64) {
        self.forget(&tool.id);
        let number = self.entries.len() as u32;
        let id: Arc<str> = tool.id.as_str().into();
        let server = match self.servers.get(tool.server.as_str()) {
            Some(server) => Arc::clone(server),
            None => {
                let server: Arc<str> = tool.server.as_str().into();
                self.servers.insert(Arc::clone(&server));
                server
            }
        };
        self.numbers.insert(Arc::clone(&id), number);
        self.entries.push(Entry { id, server, fingerprint, alive: true, deed: Deed::of_tool(&tool.name) });
        let extra = tool.keywords.join(" ");
        let called = format!("{} {}", tool.server, tool.server_title);
        let fields = [
            (Field::Name, tool.name.as_str()),
            (Field::Description, tool.description.as_str()),
            (Field::Server, called.as_str()),
            (Field::Schema, tool.schema.as_str()),
            (Field::Keyword, extra.as_str()),
        ];
        let categories = tool.all_categories().into_iter().map(|category| format!("{CATEGORY}{category}"));
        let names = [whole_name(&tool.name), whole_name(&tool.id)].into_iter().flatten();
        self.keywords.push(&fields, categories.chain(names));
    }

    fn forget(&mut self, id: &str) {
        if let Some(number) = self.numbers.remove(id) {
            self.entries[number as usize].alive = false;
        }
    }

    /// Gives back what tools that have gone still hold, once there are many.
    fn drop_gone(&mut self) {
        let gone = self.entries.len() - self.numbers.len();
        if gone > DROP_LEAST && gone * DROP_SHARE > self.numbers.len() {
            self.compact();
        }
    }

    /// Gives back what tools that have gone still hold. Done by itself once there are many.
    pub fn compact(&mut self) {
        let mut next = 0;
        let numbers: Vec<Option<u32>> = self
            .entries
            .iter()
            .map(|entry| {
                let number = next;
                next += u32::from(entry.alive);
                entry.alive.then_some(number)
            })
            .collect();
        self.entries.retain(|entry| entry.alive);
        for (number, entry) in self.entries.iter().enumerate() {
            self.numbers.insert(Arc::clone(&entry.id), number as u32);
        }
        self.keywords.compact(&numbers);
        self.vectors.compact(&numbers);
    }
}

fn category_mark(category: &str) -> String {
    format!("{CATEGORY}{}", category.trim().to_lowercase())
}

fn vector(tool: &Tool) -> Quantized {
    vectors::of_tool(&tool.about(), &tool.schema)
}

/// A name as it is looked up whole: small letters and digits only. None for a text that is no name.
pub(crate) fn whole_name(name: &str) -> Option<String> {
    const MAX_WHOLE_NAME_BYTES: usize = 128;
    if name.len() > MAX_WHOLE_NAME_BYTES {
        return None;
    }
    let letters: String = name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    (!letters.is_empty()).then(|| format!("{NAME}{letters}"))
}
