//! The inverted index: which terms stand in which tools, and how much that says.
//!
//! It decides the keyword score. The formula is BM25 over weighted fields. For a term `t` and a tool `d`:
//!
//! ```text
//! f(t,d)  = sum over fields of  weight(field) * occurrences of t in that field of d
//! len(d)  = sum over fields of  weight(field) * terms in that field of d
//! idf(t)  = ln(1 + (N - n(t) + 0.5) / (n(t) + 0.5))
//! s(q,d)  = sum over distinct t of q  idf(t) * f(t,d) * (k1 + 1) / (f(t,d) + k1 * (1 - b + b * len(d) / average len))
//! ```
//!
//! It does not know vectors, and not who asks. Postings only grow: a tool that has gone is skipped by whoever reads the
//! scores, until [`Keywords::compact`] drops it.

use std::collections::HashMap;

use crate::synonyms;
use crate::words::terms;

/// How fast a repeated term stops counting.
const SATURATION: f32 = 1.2;
/// How much long tools are held back.
const LENGTH_WEIGHT: f32 = 0.4;
/// Weighted occurrences are kept in steps of this size.
const STEP: f32 = 0.1;
const MOST_STEPS: u16 = (1 << 11) - 1;
/// A query is read to this many distinct terms.
const MOST_TERMS: usize = 64;
/// Corrected words are looked for when a term is unknown and at least this long.
const SHORTEST_FUZZY: usize = 4;
/// A corrected word counts this much of a right one.
const FUZZY_WEIGHT: f32 = 0.7;
/// What a word that means the same counts of the one that was said.
const SYNONYM_WEIGHT: f32 = 0.7;
const MOST_FUZZY: usize = 3;

/// Where a term stood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field {
    Name,
    Description,
    Server,
    Schema,
    Keyword,
}

impl Field {
    pub(crate) const ALL: [Self; 5] = [Self::Name, Self::Description, Self::Server, Self::Schema, Self::Keyword];

    /// What one occurrence counts.
    fn weight(self) -> f32 {
        match self {
            Self::Name => 2.0,
            Self::Description => 1.0,
            // Who names a product means its server, however little its tools say.
            Self::Server => 1.5,
            Self::Schema => 0.3,
            Self::Keyword => 0.5,
        }
    }

    fn bit(self) -> u16 {
        1 << (self as u16)
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Description => "description",
            Self::Server => "server",
            Self::Schema => "parameters",
            Self::Keyword => "keywords",
        }
    }
}

/// One term in one tool, in six bytes: a million tools have tens of millions of these.
#[derive(Debug, Clone, Copy)]
struct Posting {
    tool: [u16; 2],
    /// Five bits of fields, eleven bits of weighted occurrences.
    detail: u16,
}

impl Posting {
    fn new(tool: u32, steps: u16, fields: u16) -> Self {
        Self { tool: [(tool >> 16) as u16, tool as u16], detail: (steps << 5) | fields }
    }

    fn tool(self) -> usize {
        ((u32::from(self.tool[0]) << 16) | u32::from(self.tool[1])) as usize
    }

    fn frequency(self) -> f32 {
        f32::from(self.detail >> 5) * STEP
    }

    fn has(self, field: Field) -> bool {
        self.detail & field.bit() != 0
    }
}

/// A term of a query: what it counts, and the words of the index it stands for.
#[derive(Debug, Clone)]
pub(crate) struct QueryTerm {
    /// As it stands in the index.
    term: String,
    /// As the person wrote it.
    pub(crate) source: String,
    /// What it says, by how rare it is.
    pub(crate) weight: f32,
    ids: Vec<(u32, f32)>,
}

/// The first letter and the length of a term.
type Shape = (u8, usize);

/// The inverted index.
#[derive(Debug, Default)]
pub(crate) struct Keywords {
    ids: HashMap<Box<str>, u32>,
    postings: Vec<Vec<Posting>>,
    /// Weighted length of each tool.
    lengths: Vec<f32>,
    total: f64,
    /// Terms by first letter and length, for corrections.
    shapes: HashMap<Shape, Vec<(Box<str>, u32)>>,
}

impl Keywords {
    /// Adds the next tool; its number is the count of those before it. `marks` are terms that are looked up whole and
    /// never scored, such as categories.
    pub(crate) fn push(&mut self, fields: &[(Field, &str)], marks: impl Iterator<Item = String>) {
        let tool = self.lengths.len() as u32;
        let mut occurrences: Vec<(u32, Field)> = Vec::with_capacity(64);
        let mut length = 0.0_f32;
        for (field, text) in fields {
            terms(text, |term, _| {
                length += field.weight();
                occurrences.push((self.intern(term), *field));
            });
        }
        occurrences.sort_unstable_by_key(|(term, _)| *term);
        for same in occurrences.chunk_by(|one, other| one.0 == other.0) {
            let frequency: f32 = same.iter().map(|(_, field)| field.weight()).sum();
            let fields = same.iter().fold(0, |bits, (_, field)| bits | field.bit());
            let steps = ((frequency / STEP).round() as u16).clamp(1, MOST_STEPS);
            self.postings[same[0].0 as usize].push(Posting::new(tool, steps, fields));
        }
        for mark in marks {
            let term = self.intern(&mark) as usize;
            let last = self.postings[term].last().map(|posting| posting.tool());
            if last != Some(tool as usize) {
                self.postings[term].push(Posting::new(tool, 0, 0));
            }
        }
        self.lengths.push(length);
        self.total += f64::from(length);
    }

    fn intern(&mut self, term: &str) -> u32 {
        if let Some(id) = self.ids.get(term) {
            return *id;
        }
        let id = self.postings.len() as u32;
        self.ids.insert(term.into(), id);
        self.postings.push(Vec::new());
        if let Some(first) = term.bytes().next().filter(u8::is_ascii_lowercase) {
            self.shapes.entry((first, term.len())).or_default().push((term.into(), id));
        }
        id
    }

    /// The tools with a mark, in order.
    pub(crate) fn marked(&self, mark: &str) -> impl Iterator<Item = usize> + use<'_> {
        self.with_mark(mark).iter().map(|posting| posting.tool())
    }

    /// Whether a tool has a mark.
    pub(crate) fn has_mark(&self, mark: &str, tool: usize) -> bool {
        self.with_mark(mark).binary_search_by_key(&tool, |posting| posting.tool()).is_ok()
    }

    fn with_mark(&self, mark: &str) -> &[Posting] {
        self.ids.get(mark).map(|id| self.postings[*id as usize].as_slice()).unwrap_or_default()
    }

    /// All marks with this beginning.
    pub(crate) fn marks<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = &'a str> + 'a {
        self.ids.keys().map(AsRef::as_ref).filter(move |term: &&str| term.starts_with(prefix))
    }

    /// Reads a query. Unknown words stand for the known ones that one typing error makes of them.
    pub(crate) fn query(&self, text: &str) -> Vec<QueryTerm> {
        let mut found: Vec<QueryTerm> = Vec::new();
        terms(text, |term, source| {
            if found.len() >= MOST_TERMS || found.iter().any(|other| other.term == term) {
                return;
            }
            let source = source.to_lowercase();
            let meant = self.meant(&source);
            let mut ids = match self.ids.get(term) {
                Some(id) => vec![(*id, 1.0)],
                // A word that is understood is no typing error.
                None if meant.is_empty() => self.corrections(term),
                None => Vec::new(),
            };
            let tools = |ids: &[(u32, f32)]| ids.iter().map(|(id, _)| self.postings[*id as usize].len()).max();
            let weight = self.rarity(tools(&ids).or_else(|| tools(&meant)).unwrap_or(0));
            // Each counts by how rare it is itself.
            let share = |id: u32| SYNONYM_WEIGHT * self.rarity(self.postings[id as usize].len()) / weight;
            ids.extend(meant.iter().filter(|_| weight > 0.0).map(|(id, _)| (*id, share(*id))));
            found.push(QueryTerm { term: term.to_owned(), source, weight, ids });
        });
        found
    }

    /// The words of the index that mean the same as one that somebody said.
    fn meant(&self, source: &str) -> Vec<(u32, f32)> {
        let mut ids = Vec::new();
        for word in synonyms::of(source) {
            terms(word, |term, _| ids.extend(self.ids.get(term).map(|id| (*id, 1.0))));
        }
        ids
    }

    /// What a term says that stands in so many tools.
    fn rarity(&self, tools: usize) -> f32 {
        let (all, tools) = (self.lengths.len() as f32, tools as f32);
        (1.0 + (all - tools + 0.5).max(0.0) / (tools + 0.5)).ln()
    }

    /// Adds the scores of a query to one number for each tool.
    pub(crate) fn score(&self, query: &[QueryTerm], scores: &mut [f32]) {
        let average = (self.total / self.lengths.len().max(1) as f64).max(1.0) as f32;
        for term in query {
            for (id, share) in &term.ids {
                let weight = term.weight * share * (SATURATION + 1.0);
                for posting in &self.postings[*id as usize] {
                    let (tool, frequency) = (posting.tool(), posting.frequency());
                    let length = 1.0 - LENGTH_WEIGHT + LENGTH_WEIGHT * self.lengths[tool] / average;
                    scores[tool] += weight * frequency / (frequency + SATURATION * length);
                }
            }
        }
    }

    /// For one tool: which terms of the query it has, what they say, and in which fields they stand.
    pub(crate) fn explain<'a>(
        &'a self,
        query: &'a [QueryTerm],
        tool: usize,
    ) -> impl Iterator<Item = (&'a QueryTerm, f32, Vec<Field>)> + 'a {
        query.iter().filter_map(move |term| {
            term.ids.iter().find_map(|(id, share)| {
                let postings = &self.postings[*id as usize];
                let at = postings.binary_search_by_key(&tool, |posting| posting.tool()).ok()?;
                let fields = Field::ALL.into_iter().filter(|field| postings[at].has(*field)).collect();
                Some((term, term.weight * share, fields))
            })
        })
    }

    fn corrections(&self, term: &str) -> Vec<(u32, f32)> {
        let Some(first) = term.bytes().next().filter(|_| term.is_ascii() && term.len() >= SHORTEST_FUZZY) else {
            return Vec::new();
        };
        let shapes = (term.len() - 1..=term.len() + 1).filter_map(|length| self.shapes.get(&(first, length)));
        let near = shapes.flatten().filter(|(known, _)| one_error(known.as_bytes(), term.as_bytes()));
        let mut near: Vec<u32> = near.map(|(_, id)| *id).collect();
        // The common ones are the likely ones.
        near.sort_by_key(|id| (std::cmp::Reverse(self.postings[*id as usize].len()), *id));
        near.into_iter().take(MOST_FUZZY).map(|id| (id, FUZZY_WEIGHT)).collect()
    }

    /// Drops tools that have gone. `numbers` has the new number of each tool, or none.
    pub(crate) fn compact(&mut self, numbers: &[Option<u32>]) {
        for postings in &mut self.postings {
            postings.retain_mut(|posting| match numbers[posting.tool()] {
                Some(number) => {
                    posting.tool = [(number >> 16) as u16, number as u16];
                    true
                }
                None => false,
            });
        }
        let mut at = 0;
        self.lengths.retain(|_| {
            at += 1;
            numbers[at - 1].is_some()
        });
        self.total = self.lengths.iter().map(|length| f64::from(*length)).sum();
    }
}

/// Whether one letter too many, too few or wrong, or two letters exchanged, make one word of the other.
fn one_error(one: &[u8], other: &[u8]) -> bool {
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    let same = short.iter().zip(long).take_while(|(a, b)| a == b).count();
    match long.len() - short.len() {
        0 if same == long.len() => false,
        0 => {
            let exchanged = same + 1 < long.len()
                && (short[same], short[same + 1]) == (long[same + 1], long[same])
                && short[same + 2..] == long[same + 2..];
            exchanged || short[same + 1..] == long[same + 1..]
        }
        1 => short[same..] == long[same + 1..],
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(descriptions: &[&str]) -> Keywords {
        let mut keywords = Keywords::default();
        for text in descriptions {
            keywords.push(&[(Field::Description, text)], std::iter::once("#all".to_owned()));
        }
        keywords
    }

    fn scores(keywords: &Keywords, query: &str) -> Vec<f32> {
        let mut scores = vec![0.0; keywords.lengths.len()];
        keywords.score(&keywords.query(query), &mut scores);
        scores
    }

    /// Computed by hand from the formula in the head of this file.
    #[test]
    fn the_score_is_the_formula() {
        let keywords = index(&["apple pear", "apple apple plum cherry"]);
        let found = scores(&keywords, "pear apple");
        let (average, rare, common) = (3.0_f32, (1.0_f32 + 1.5 / 1.5).ln(), (1.0_f32 + 0.5 / 2.5).ln());
        let part = |frequency: f32, length: f32| frequency * 2.2 / (frequency + 1.2 * (0.6 + 0.4 * length / average));
        assert!((found[0] - (rare + common) * part(1.0, 2.0)).abs() < 1e-4, "{found:?}");
        assert!((found[1] - common * part(2.0, 4.0)).abs() < 1e-4, "{found:?}");
    }

    #[test]
    fn a_typing_error_finds_the_word_and_counts_less() {
        let keywords = index(&["translate a sentence", "weather forecast"]);
        let (right, wrong) = (scores(&keywords, "weather"), scores(&keywords, "wether"));
        assert!(wrong[1] > 0.0 && wrong[1] < right[1] && wrong[0] == 0.0);
        for (one, other, expected) in [
            ("weather", "wether", true),
            ("weather", "waether", true),
            ("weather", "weathar", true),
            ("weather", "weatherr", true),
            ("weather", "weather", false),
            ("weather", "whether", false),
            ("weather", "we", false),
        ] {
            assert_eq!(one_error(one.as_bytes(), other.as_bytes()), expected, "{one} {other}");
        }
    }

    #[test]
    fn marks_are_found_and_never_scored() {
        let keywords = index(&["apple", "pear"]);
        assert_eq!(keywords.marked("#all").collect::<Vec<_>>(), [0, 1]);
        assert_eq!(keywords.marks("#").collect::<Vec<_>>(), ["#all"]);
        assert!(keywords.has_mark("#all", 1) && !keywords.has_mark("#all", 2) && !keywords.has_mark("#none", 0));
        assert_eq!(scores(&keywords, "all #all"), [0.0, 0.0]);
    }

    #[test]
    fn postings_keep_what_they_are_given() {
        let posting = Posting::new(0xDEAD_BEEF, 2047, Field::Schema.bit());
        assert_eq!(posting.tool(), 0xDEAD_BEEF);
        assert!((posting.frequency() - 204.7).abs() < 1e-3);
        assert!(posting.has(Field::Schema) && !posting.has(Field::Name));
        assert_eq!(size_of::<Posting>(), 6);
    }
}
