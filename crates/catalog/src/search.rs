//! One search: candidates, scores, reasons.
//!
//! It decides which tools answer a query, in which order, and what is said about why. The formula is on the crate's page.
//! It does not know permissions: a function says of each tool whether it may be seen, and what it hides is as if it were
//! not there.

use std::fmt;
use std::sync::Arc;

use switchboard_embed::Quantized;

use crate::best::{Best, falling, spread};
use crate::catalog::{Catalog, whole_name};
use crate::clauses::clauses;
use crate::deed::Deed;
use crate::keyword::QueryTerm;
use crate::{implied, synonyms, vectors};

/// What meaning counts against words.
const MEANING: f32 = 1.2;
/// What the best clause adds.
const CLAUSE: f32 = 0.5;
/// Scores are standardised over this many of the best: of a few hundred tools, more would be all of them.
const SPREAD: usize = 100;
/// How many candidates words bring among very many tools.
const BY_WORDS: usize = 1000;
/// What a better judge of meaning counts.
const JUDGE: f32 = 2.0;
/// How many tools such a judge looks at.
pub const RESCORED: usize = 50;
/// A tool whose name was asked for stands above all others.
const EXACT: f32 = 100.0;

/// With more tools than this, meaning is first computed over the heads of the vectors.
const EXACT_SCAN: usize = 20_000;
/// How many the first scan keeps for the exact one.
const BY_HEAD: usize = 3000;
/// How many candidates each clause adds.
const BY_CLAUSE: usize = 200;
/// Clauses are counted up to this many among very many tools.
const MOST_CLAUSES: usize = 4;

/// A query is read to this length.
const LONGEST_QUERY: usize = 4096;

/// The cosine at which the meaning of a short text is as good as the same.
const SAME_MEANING: f32 = 0.7;

/// By what a tool is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Strategy {
    /// Words and meaning together.
    #[default]
    Fused,
    /// Words: precise names, with typing errors.
    Keyword,
    /// Meaning: natural language.
    Semantic,
    /// Everything in the given categories.
    Category,
}

impl Strategy {
    /// The word in MGP's methods. `hybrid` is the one that MGP does not name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fused => "hybrid",
            Self::Keyword => "keyword",
            Self::Semantic => "semantic",
            Self::Category => "category",
        }
    }

    /// Whether it matters what a text means, so that a better judge of that is of use.
    #[must_use]
    pub const fn is_by_meaning(self) -> bool {
        matches!(self, Self::Fused | Self::Semantic)
    }

    /// Reads the word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Fused, Self::Keyword, Self::Semantic, Self::Category].into_iter().find(|one| one.as_str() == word)
    }
}

/// What is looked for.
#[derive(Debug, Clone, Default)]
pub struct Search {
    /// What the tool must do, in any words.
    pub query: String,
    /// By what it is found.
    pub strategy: Strategy,
    /// How many are wanted.
    pub top: usize,
    /// Only tools in one of these; all when empty.
    pub categories: Vec<String>,
}

impl Search {
    /// The five best by words and meaning.
    #[must_use]
    pub fn new(query: impl Into<String>) -> Self {
        Self { query: query.into(), top: 5, ..Self::default() }
    }

    /// Another number of results.
    #[must_use]
    pub fn top(mut self, top: usize) -> Self {
        self.top = top;
        self
    }

    /// Another way of finding.
    #[must_use]
    pub fn by(mut self, strategy: Strategy) -> Self {
        self.strategy = strategy;
        self
    }

    /// Only in these categories.
    #[must_use]
    pub fn within(mut self, categories: Vec<String>) -> Self {
        self.categories = categories;
        self
    }
}

/// Why a tool was found.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Reason {
    /// The query is its name.
    Name,
    /// It has a word of the query, in these fields.
    Word {
        /// The word as it was asked for.
        word: String,
        /// Where it stands.
        fields: Vec<&'static str>,
    },
    /// Its meaning is near, by this cosine.
    Meaning(f32),
    /// It is in a category that was asked for.
    Category(String),
}

impl fmt::Display for Reason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name => out.write_str("its name"),
            Self::Word { word, fields } => write!(out, "\"{word}\" in {}", fields.join(", ")),
            Self::Meaning(cosine) => write!(out, "meaning {cosine:.2}"),
            Self::Category(category) => write!(out, "category {category}"),
        }
    }
}

/// A tool that was found.
#[derive(Debug, Clone)]
pub struct Hit {
    /// The tool's id.
    pub id: Arc<str>,
    /// Its server.
    pub server: Arc<str>,
    /// What the order is by. Comparable within one search only.
    pub score: f32,
    /// How well it fits, from 0 to 1; falls with the order.
    pub relevance: f32,
    /// Why it was found, the strongest first.
    pub reasons: Vec<Reason>,
}

/// What a search found.
#[derive(Debug, Clone, Default)]
pub struct SearchResult {
    /// The best, in order.
    pub hits: Vec<Hit>,
    /// How many tools were scored. Among very many these are those that had a chance.
    pub considered: usize,
}

impl SearchResult {
    /// Orders the first [`RESCORED`] anew by a better judge of meaning, and keeps the best `top` of all.
    ///
    /// `nearness` is the cosine between the query and a tool as that judge sees it. It is standardised over those tools and
    /// added to their scores with the weight two, which is what it is worth beside words and table together.
    pub fn rescore(&mut self, top: usize, nearness: impl FnMut(&Hit) -> f32) {
        let count = self.hits.len().min(RESCORED);
        let first = &mut self.hits[..count];
        let near: Vec<f32> = first.iter().map(nearness).collect();
        let (middle, wide) = spread(&near, RESCORED);
        let relevance: Vec<f32> = first.iter().map(|hit| hit.relevance).collect();
        for (hit, near) in first.iter_mut().zip(&near) {
            // A name that was asked for stays first, whatever it means.
            hit.score += JUDGE * (near - middle) / wide;
            hit.reasons.retain(|reason| !matches!(reason, Reason::Meaning(_)));
            hit.reasons.push(Reason::Meaning(*near));
        }
        first.sort_by(|one, other| other.score.total_cmp(&one.score));
        // How well the list fits as a whole has not changed.
        first.iter_mut().zip(relevance).for_each(|(hit, relevance)| hit.relevance = relevance);
        self.hits.truncate(top);
    }
}

/// A query or a clause of it, read once.
struct Question {
    terms: Vec<QueryTerm>,
    vector: Quantized,
    /// The score of every tool by words; empty where words do not count.
    words: Vec<f32>,
    /// What is to be done.
    deed: Deed,
}

impl Catalog {
    /// Finds tools. `visible` says of an id whether the asking principal may see it.
    #[must_use]
    pub fn search(&self, search: &Search, visible: impl Fn(&str) -> bool) -> SearchResult {
        let query = cut(&search.query);
        let implied = if search.strategy == Strategy::Fused { implied::words(query) } else { Vec::new() };
        let whole = match implied.is_empty() {
            true => self.question(search.strategy, query),
            false => self.question(search.strategy, &format!("{query} {}", implied.join(" "))),
        };
        let many = self.entries.len() > EXACT_SCAN;
        let steps = if search.strategy == Strategy::Category { Vec::new() } else { clauses(query) };
        let steps = steps.into_iter().take(if many { MOST_CLAUSES } else { usize::MAX });
        let steps: Vec<Question> = steps.map(|step| self.question(search.strategy, step)).collect();
        let exact: Vec<usize> = match whole_name(query) {
            Some(name) if search.strategy != Strategy::Semantic => self.keywords.marked(&name).collect(),
            _ => Vec::new(),
        };
        let rank = |candidates| self.rank(search.strategy, &whole, &steps, candidates, &exact);
        let alive = |number: &usize| self.entries[*number].alive;
        let seen = |number: &usize| visible(&self.entries[*number].id);
        let mut ranked;
        if !search.categories.is_empty() || search.strategy == Strategy::Category {
            let mut within: Vec<usize> = search.categories.iter().flat_map(|name| self.in_category(name)).collect();
            within.sort_unstable();
            within.dedup();
            ranked = rank(within);
        } else if !many {
            ranked = rank((0..self.entries.len()).filter(alive).collect());
        } else {
            ranked = rank(self.candidates(search, &whole, &steps, &exact));
            // Candidates were chosen without regard to who may see them. Where too few may be seen, look at those that may.
            let enough = ranked.iter().filter(|(_, number)| seen(&(*number as usize))).take(search.top).count();
            if enough < search.top {
                ranked = rank((0..self.entries.len()).filter(alive).filter(seen).collect());
            }
        }
        let mut best: Vec<(f32, u32)> = Vec::with_capacity(search.top.min(ranked.len()));
        best.extend(
            first_sorted(&mut ranked, search.top).iter().filter(|one| seen(&(one.1 as usize))).take(search.top),
        );
        if best.len() < search.top {
            ranked.sort_unstable_by(falling);
            best = ranked.iter().filter(|one| seen(&(one.1 as usize))).take(search.top).copied().collect();
        }
        let hits = self.hits(search, &whole, &best, &exact);
        SearchResult { hits, considered: ranked.len() }
    }

    fn question(&self, strategy: Strategy, text: &str) -> Question {
        let terms = self.keywords.query(text);
        let mut words = Vec::new();
        if strategy != Strategy::Semantic {
            words.resize(self.entries.len(), 0.0);
            self.keywords.score(&terms, &mut words);
        }
        // Alone, meaning is better off with the words as they were said.
        let meant = if strategy == Strategy::Fused { synonyms::of_text(text) } else { Vec::new() };
        let vector = match meant.is_empty() {
            true => vectors::of_query(text),
            false => vectors::of_query(&format!("{text} {}", meant.join(" "))),
        };
        Question { terms, vector, words, deed: Deed::of_query(text) }
    }

    /// Among very many tools: those that may be among the best.
    fn candidates(&self, search: &Search, whole: &Question, steps: &[Question], exact: &[usize]) -> Vec<usize> {
        let mut found: Vec<u32> = exact.iter().map(|number| *number as u32).collect();
        found.extend(best_by_words(whole, BY_WORDS.max(search.top)));
        steps.iter().for_each(|step| found.extend(best_by_words(step, BY_CLAUSE)));
        if search.strategy != Strategy::Keyword {
            let mut best = Best::new(BY_HEAD.max(search.top * 2));
            self.vectors.each_head(&whole.vector, |score, number| best.offer(score, number));
            found.extend(best.into_kept().into_iter().map(|(_, number)| number));
        }
        found.sort_unstable();
        found.dedup();
        found.into_iter().map(|number| number as usize).filter(|number| self.entries[*number].alive).collect()
    }

    /// Scores candidates, which come in the order of their numbers.
    fn rank(
        &self,
        strategy: Strategy,
        whole: &Question,
        steps: &[Question],
        candidates: Vec<usize>,
        exact: &[usize],
    ) -> Vec<(f32, u32)> {
        let mut scores = self.fused(strategy, whole, &candidates);
        if !steps.is_empty() {
            let mut best = vec![f32::NEG_INFINITY; scores.len()];
            for step in steps {
                let step = self.fused(strategy, step, &candidates);
                best.iter_mut().zip(step).for_each(|(best, score)| *best = best.max(score));
            }
            scores.iter_mut().zip(best).for_each(|(score, best)| *score += CLAUSE * best);
        }
        if strategy == Strategy::Fused && whole.deed != Deed::Unknown {
            let done = candidates.iter().map(|number| self.entries[*number].deed);
            scores.iter_mut().zip(done).for_each(|(score, done)| *score += whole.deed.agreement(done));
        }
        for number in exact {
            if let Ok(at) = candidates.binary_search(number) {
                scores[at] += EXACT;
            }
        }
        scores.into_iter().zip(candidates).map(|(score, number)| (score, number as u32)).collect()
    }

    /// Words and meaning of one question, standardised and added.
    fn fused(&self, strategy: Strategy, question: &Question, candidates: &[usize]) -> Vec<f32> {
        let words = || candidates.iter().map(|number| question.words[*number]).collect::<Vec<f32>>();
        let meaning =
            || candidates.iter().map(|number| self.vectors.near(&question.vector, *number)).collect::<Vec<f32>>();
        match strategy {
            Strategy::Keyword => words(),
            Strategy::Semantic => meaning(),
            Strategy::Fused | Strategy::Category => {
                let (words, meaning) = (words(), meaning());
                let ((middle, wide), (centre, width)) = (spread(&words, SPREAD), spread(&meaning, SPREAD));
                let both = words.iter().zip(&meaning);
                both.map(|(word, near)| (word - middle) / wide + MEANING * (near - centre) / width).collect()
            }
        }
    }

    fn hits(&self, search: &Search, whole: &Question, best: &[(f32, u32)], exact: &[usize]) -> Vec<Hit> {
        let asked: f32 = whole.terms.iter().map(|term| term.weight).sum();
        let mut hits: Vec<Hit> = Vec::with_capacity(best.len());
        for (score, number) in best {
            let number = *number as usize;
            let named = exact.contains(&number);
            let cosine = self.vectors.near(&whole.vector, number);
            let (reasons, covered) = self.reasons(search, whole, number, named, cosine);
            let words = if asked > 0.0 { covered / asked } else { 0.0 };
            let meaning = (cosine / SAME_MEANING).clamp(0.0, 1.0);
            let own = match search.strategy {
                _ if named => 1.0,
                Strategy::Keyword => words,
                Strategy::Semantic => meaning,
                Strategy::Fused | Strategy::Category => 0.55 * words + 0.45 * meaning,
            };
            let entry = &self.entries[number];
            let (id, server) = (Arc::clone(&entry.id), Arc::clone(&entry.server));
            hits.push(Hit { id, server, score: *score, relevance: own, reasons });
        }
        // The list is as good as its best; each tool has the share of it that its score has. So relevance falls with the
        // order, and a list without a good tool says so. A tool that was asked for by name fits whatever the others are.
        let named = |hit: &Hit| hit.reasons.first() == Some(&Reason::Name);
        let quality = hits.iter().filter(|hit| !named(hit)).map(|hit| hit.relevance).fold(0.0, f32::max);
        let first = hits.iter().find(|hit| !named(hit)).map_or(1.0, |hit| hit.score);
        for hit in hits.iter_mut().filter(|hit| !named(hit)) {
            // Where there is one tool alone its score is nought: it differs from nothing.
            let share = if hit.score >= first { 1.0 } else { hit.score / first.max(f32::EPSILON) };
            hit.relevance = quality * share.clamp(0.01, 1.0);
        }
        hits
    }

    /// Why a tool was found, and the weight of the words it has.
    fn reasons(
        &self,
        search: &Search,
        whole: &Question,
        number: usize,
        named: bool,
        cosine: f32,
    ) -> (Vec<Reason>, f32) {
        let mut reasons = Vec::new();
        let mut covered = 0.0;
        if named {
            reasons.push(Reason::Name);
        }
        for category in &search.categories {
            if self.is_in_category(number, category) {
                reasons.push(Reason::Category(category.clone()));
            }
        }
        if search.strategy != Strategy::Semantic {
            let mut words: Vec<_> = self.keywords.explain(&whole.terms, number).collect();
            covered = words.iter().map(|(_, weight, _)| weight).sum();
            words.sort_by(|one, other| other.1.total_cmp(&one.1));
            reasons.extend(words.into_iter().take(5).map(|(term, _, fields)| Reason::Word {
                word: term.source.clone(),
                fields: fields.into_iter().map(|field| field.word()).collect(),
            }));
        }
        if search.strategy != Strategy::Keyword && cosine > 0.0 {
            reasons.push(Reason::Meaning(cosine));
        }
        (reasons, covered)
    }
}

/// The tools with the best words, in no order.
fn best_by_words(question: &Question, most: usize) -> impl Iterator<Item = u32> {
    let mut best = Best::new(most);
    for (number, score) in question.words.iter().enumerate().filter(|(_, score)| **score > 0.0) {
        best.offer(*score, number as u32);
    }
    best.into_kept().into_iter().map(|(_, number)| number)
}

/// Sorts the first few, leaves the rest, and returns more than asked for, because some may not be seen.
fn first_sorted(ranked: &mut [(f32, u32)], top: usize) -> &[(f32, u32)] {
    let first = (top.saturating_mul(4)).min(ranked.len());
    if first < ranked.len() && first > 0 {
        ranked.select_nth_unstable_by(first - 1, falling);
    }
    ranked[..first].sort_unstable_by(falling);
    &ranked[..first]
}

fn cut(query: &str) -> &str {
    let end = (0..=query.len().min(LONGEST_QUERY)).rev().find(|end| query.is_char_boundary(*end)).unwrap_or(0);
    &query[..end]
}

#[cfg(test)]
mod tests;
