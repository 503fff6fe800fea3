//! Appending events that may be in the log already: which of them are, and which are missing.
//!
//! An event is recognised by its text, which names its call and its time. Two events with the very same text are two:
//! as many as are offered must stand there. Who reads the records, and who writes the missing ones, is not known here.

use std::collections::HashMap;

use super::{Link, Prepared, tables};
use crate::StoreError;
use crate::sql::{Row, Statement};

/// Records that are looked at together.
const PAGE: usize = 1_000;

/// Events on their way into the log, some of which may be in it.
#[derive(Debug)]
pub(crate) struct Once<'e> {
    events: &'e [Prepared],
    /// Where each of them stands, once that is known.
    links: Vec<Option<Link>>,
    /// The events that were not found, by their text. Of equal ones the last is found first.
    wanted: HashMap<&'e str, Vec<usize>>,
    /// Up to where the log was looked at.
    after: u64,
}

impl<'e> Once<'e> {
    pub(crate) fn new(events: &'e [Prepared], after: u64) -> Self {
        let mut wanted: HashMap<&str, Vec<usize>> = HashMap::with_capacity(events.len());
        for (place, event) in events.iter().enumerate().rev() {
            wanted.entry(event.text()).or_default().push(place);
        }
        Self { events, links: vec![None; events.len()], wanted, after }
    }

    /// The next records to look at; `None` when all events were found.
    pub(crate) fn page(&self) -> Option<Statement> {
        (!self.wanted.is_empty()).then(|| tables::texts_after(self.after, PAGE))
    }

    /// Looks at records. `false` when they were the last.
    pub(crate) fn look(&mut self, rows: Vec<Row>) -> Result<bool, StoreError> {
        let full = rows.len() == PAGE;
        for mut row in rows {
            let link = Link { seq: row.sequence()?, hash: row.digest()? };
            self.after = link.seq;
            let text = row.text()?;
            let Some(places) = self.wanted.get_mut(text.as_str()) else { continue };
            if let Some(place) = places.pop() {
                self.links[place] = Some(link);
            }
            if places.is_empty() {
                self.wanted.remove(text.as_str());
            }
        }
        Ok(full)
    }

    /// The events that are not in the log, in their order.
    pub(crate) fn missing(&self) -> Vec<&'e Prepared> {
        let missing = self.events.iter().zip(&self.links).filter(|(_, link)| link.is_none());
        missing.map(|(event, _)| event).collect()
    }

    /// Where each event stands, now that the missing ones were added with these links.
    pub(crate) fn finish(self, added: Vec<Link>) -> Result<Vec<Link>, StoreError> {
        let mut added = added.into_iter();
        let links: Option<Vec<Link>> = self.links.into_iter().map(|link| link.or_else(|| added.next())).collect();
        links.ok_or(StoreError::Undetermined)
    }
}
