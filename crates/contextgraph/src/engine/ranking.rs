//! In which order what was found is shown: what each space counts, what words count beside them, and what feedback, modulators
//! and the graph change about it. All of it is bounded; at rest, without feedback and edges, only spaces and words count.
//!
//! * The likeness of a memory is a mean of the thirteen spaces, weighted: what the table of meanings says counts little in
//!   languages that it does not know. **Serotonin** shifts weight between meaning and the rest (0.5 is even), **feedback** lowers
//!   or raises each space by at most a half, **dopamine** is the power of the mean (3 is an even one): above, what stands out in
//!   a few spaces comes first, below, what is alike in all.
//! * The share of the query's words that a memory has, each counting by how telling it is (BM25), is mixed in.
//! * To a query that denies something ("who does not") what denies something is nearer, the rest farther.
//! * What somebody judged for a query that is nearly the same rises or falls by at most [`JUDGED`].
//! * Three at most of what is linked with what was found rise towards it, if they bring in a word of the query that it lacks: a walk of
//!   one edge answers questions of two hops. What shares a rare word with the best result that the query does not have, and brings in what
//!   that result lacks, is the answer and comes before it.
//! * **Noradrenaline** is breadth: above 1 what repeats something shown already waits, below 1 what is like the best comes first.

use std::collections::HashMap;

use super::Space;
use super::recall::MemoryHit;
use crate::Id;
use crate::embedders::space::{COUNT, TIME};
use crate::error::Outcome;
use crate::fingerprint::Packed;
use crate::graph::Slot;
use crate::graph::edges::EdgeKind;
use crate::neuromodulation::Modulator;

/// How much each space tells about whether a memory is what a query asks for: meaning and words most, time little.
pub(super) const RELEVANCE: [f64; COUNT] = [5.0, 0.2, 0.05, 0.05, 0.5, 2.0, 0.3, 0.3, 0.2, 0.8, 0.6, 2.5, 1.5];
/// The same for languages that the table of meanings does not know.
const FOREIGN: [f64; COUNT] = [0.5, 0.2, 0.05, 0.05, 0.1, 3.0, 0.1, 0.05, 0.05, 0.1, 0.4, 4.0, 2.0];
/// What the share of words counts beside the spaces.
const WORDS: (f64, f64) = (0.2, 0.5);
/// The spaces of meaning, which serotonin weighs against the rest.
const MEANING: [usize; 3] = [0, 4, 9];
/// How far judgements move a result, at most.
pub const JUDGED: f64 = 0.2;
/// What a judgement must have in common with a query to count for it.
const SAME_QUERY: f32 = 0.6;
/// Results whose edges are walked, and edges of each.
const WALKED: (usize, usize) = (3, 8);
/// Results that walks draw up, at most: the others keep their places.
const RAISED: usize = 3;
/// What a likeness counts as an edge to walk: it tells little that the query did not.
const ALIKE: f32 = 0.2;
/// The least share of the query's words that what is linked must bring in.
const BROUGHT: f32 = 0.1;
/// How far a result draws up what is linked with it.
const DRAWN: f64 = 0.6;
/// The farthest that what is linked comes behind what it is linked with.
const BEHIND: f64 = 0.75;
/// How far breadth moves a result.
const BREADTH: f64 = 0.25;
/// What importance adds or takes away, at most.
const STANDING: f64 = 0.1;

/// What a query that denies something adds to what denies something, and takes from what does not.
const DENIED: f64 = 0.15;
/// How far an answer of two hops comes before the result that names the link.
const ANSWERS: f64 = 1.01;
/// The least share of the query's words that such an answer brings in.
const ASKED_FOR: f32 = 0.15;
/// Memories that hold the name of a link, at most.
const LINK_HOLDERS: usize = 6;

/// What one search goes by.
#[derive(Debug, Clone)]
pub(super) struct Ranking {
    weights: [f64; COUNT],
    power: f64,
    words: f64,
}

impl Ranking {
    /// The likeness in all spaces and words together, in `[0, 1]`.
    pub(super) fn similarity(&self, spaces: &[f32; COUNT], words: f64) -> f64 {
        let mean: f64 = spaces
            .iter()
            .zip(self.weights)
            .map(|(likeness, weight)| f64::from(*likeness).powf(self.power) * weight)
            .sum::<f64>()
            .powf(1.0 / self.power);
        ((1.0 - self.words) * mean + self.words * words).clamp(0.0, 1.0)
    }

    /// The space in which a result stands out most from the others that were compared.
    pub(super) fn dominant(&self, spaces: &[f32; COUNT], usual: &[f64; COUNT]) -> usize {
        let lead = |space: usize| self.weights[space] * (f64::from(spaces[space]) - usual[space]);
        (0..COUNT)
            .filter(|space| !TIME.contains(space))
            .fold(0, |best, space| if lead(space) > lead(best) { space } else { best })
    }
}

/// What a query that denies something makes of a likeness.
pub(super) fn by_negation(similarity: f64, denied: bool, denies: bool) -> f64 {
    let factor = match (denied, denies) {
        (false, _) => 1.0,
        (true, true) => 1.0 + DENIED,
        (true, false) => 1.0 - DENIED,
    };
    (similarity * factor).clamp(0.0, 1.0)
}

impl Space {
    /// What each space weighs in searching, as shares that sum to one.
    #[must_use]
    pub fn search_weights(&self) -> [f64; COUNT] {
        self.shares(&RELEVANCE)
    }

    fn shares(&self, relevance: &[f64; COUNT]) -> [f64; COUNT] {
        let balance = self.mind.levels.level(Modulator::Serotonin);
        let learned = &self.mind.teleology.learner.adjustments;
        let weighted: [f64; COUNT] = std::array::from_fn(|space| {
            let shift = if MEANING.contains(&space) { 0.5 + balance } else { 1.5 - balance };
            relevance[space] * shift * (1.0 + 0.5 * learned[space].clamp(-1.0, 1.0))
        });
        let total: f64 = weighted.iter().sum();
        weighted.map(|weight| weight / total.max(1e-12))
    }

    /// What a search with these vectors goes by.
    pub(super) fn ranking(&self, query: &Packed) -> Ranking {
        let (relevance, words) = if query.is_foreign() { (&FOREIGN, WORDS.1) } else { (&RELEVANCE, WORDS.0) };
        let power = self.mind.levels.level(Modulator::Dopamine) / 3.0;
        Ranking { weights: self.shares(relevance), power: power.clamp(1.0 / 3.0, 5.0 / 3.0), words }
    }

    /// What somebody said about results of queries that are nearly this one: by how much each rises or falls.
    pub(super) fn judged(&self, query: &Packed) -> HashMap<Id, f64> {
        let mut sums: HashMap<Id, f64> = HashMap::new();
        for judged in &self.mind.judged.all {
            let alike = judged.likeness(query);
            if alike >= SAME_QUERY {
                *sums.entry(judged.result).or_default() += f64::from(alike * alike) * (judged.right - 0.5) * 2.0;
            }
        }
        sums.into_iter().map(|(id, sum)| (id, JUDGED * sum.tanh())).collect()
    }

    /// What importance makes of a likeness: a tenth more or less at most, nothing at one half.
    pub(super) fn by_standing(similarity: f64, importance: f32) -> f64 {
        (similarity * (1.0 + 2.0 * STANDING * (f64::from(importance) - 0.5))).clamp(0.0, 1.0)
    }

    /// Lets what was found draw up what it is linked with. Best first, as it comes and as it goes.
    ///
    /// # Errors
    /// The store failed.
    pub(super) fn walk_from(&mut self, hits: &mut Vec<MemoryHit>, compare: &mut Compare<'_>) -> Outcome<()> {
        let mut drawn: HashMap<Slot, (f64, f64, Id)> = HashMap::new();
        for hit in hits.iter().take(WALKED.0) {
            let Some(slot) = self.graph.slot(hit.id) else { continue };
            let mut linked: Vec<(Slot, f32)> = self.linked(slot);
            linked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            // Only what brings in a word of the query that the result lacks is a step on the way to an answer.
            linked.retain(|(other, _)| self.graph.index.brings_in(&compare.counting, slot, *other) >= BROUGHT);
            for (other, weight) in linked.into_iter().take(WALKED.1) {
                let gain = DRAWN * hit.similarity * f64::from(weight);
                let known = drawn.entry(other).or_insert((0.0, 0.0, hit.id));
                if gain > known.0 {
                    *known = (gain, BEHIND * hit.similarity, hit.id);
                }
            }
        }
        let answer = hits.first().and_then(|hit| {
            let slot = self.graph.slot(hit.id)?;
            Some((self.answer_behind(slot, compare)?, hit.similarity, hit.id))
        });
        if let Some((slot, similarity, via)) = answer {
            let before = (ANSWERS * similarity).min(1.0);
            drawn.insert(slot, (before, before, via));
        }
        let missing: Vec<Slot> = drawn
            .keys()
            .copied()
            .filter(|slot| self.graph.id(*slot).is_some_and(|id| hits.iter().all(|hit| hit.id != id)))
            .collect();
        let mut found = self.compared(&missing, compare)?;
        hits.append(&mut found);
        // What is linked comes near what it is linked with, and not before it.
        let raised = |hit: &MemoryHit| {
            let (gain, most, via) = self.graph.slot(hit.id).and_then(|slot| drawn.get(&slot))?;
            Some(((hit.similarity + gain).min(*most), *via)).filter(|raised| raised.0 > hit.similarity)
        };
        let mut risen: Vec<(usize, f64, Id)> =
            hits.iter().enumerate().filter_map(|(at, hit)| raised(hit).map(|(to, via)| (at, to, via))).collect();
        risen.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        for (at, to, via) in risen.into_iter().take(RAISED) {
            hits[at].similarity = to;
            hits[at].via = Some(via);
        }
        sort(hits);
        Ok(())
    }

    /// What answers a question of two hops, if the best result only names the link: it is linked with that result by a rare word that the query
    /// does not have ("Ingrid"), and brings in words of the query that the result lacks ("works").
    fn answer_behind(&self, best: Slot, compare: &Compare<'_>) -> Option<Slot> {
        let index = &self.graph.index;
        let own = index.words(best)?;
        let is_asked = |term: &u16| compare.packed.e6.indices.binary_search(term).is_ok();
        let links = own
            .indices
            .iter()
            .filter(|term| !is_asked(term))
            .filter(|term| index.holders(**term).len() <= LINK_HOLDERS);
        let mut found: Option<(f32, Slot)> = None;
        for term in links {
            for (other, _) in index.holders(*term) {
                if *other == best || self.graph.at(*other).is_none() || self.supersedes_either(best, *other) {
                    continue;
                }
                let brought = index.brings_in(&compare.counting, best, *other);
                // What has as much of the query as the best brings it in by itself, and not by the link.
                let lacking = index.brings_in(&compare.counting, *other, best);
                if brought >= ASKED_FOR && lacking >= brought && found.is_none_or(|(most, _)| brought > most) {
                    found = Some((brought, *other));
                }
            }
        }
        found.map(|(_, slot)| slot)
    }

    fn supersedes_either(&self, a: Slot, b: Slot) -> bool {
        let between = |from: Slot, to: Slot| {
            self.graph.edges.from(from).any(|link| link.target == to && link.kind == EdgeKind::Supersedes)
        };
        between(a, b) || between(b, a)
    }

    /// Those that an edge of any kind but contradiction leads to, with the weight of the strongest.
    fn linked(&self, slot: Slot) -> Vec<(Slot, f32)> {
        let mut out: HashMap<Slot, f32> = HashMap::new();
        let forth = self.graph.edges.from(slot).map(|link| (link.target, link));
        for (other, link) in forth.chain(self.graph.edges.to(slot)) {
            if link.kind != EdgeKind::Contradicts && self.graph.at(other).is_some() {
                let weight = out.entry(other).or_default();
                let kind = if link.kind == EdgeKind::Similar { ALIKE } else { 1.0 };
                *weight = weight.max(kind * link.weight);
            }
        }
        out.into_iter().collect()
    }

    /// Puts results in the order of breadth; the first stays the first.
    pub(super) fn broadened(&self, hits: Vec<MemoryHit>, most: usize) -> Vec<MemoryHit> {
        let breadth = BREADTH * (self.mind.levels.level(Modulator::Noradrenaline) - 1.0).clamp(-0.5, 1.0);
        if breadth.abs() < 1e-3 || hits.len() < 3 {
            return hits;
        }
        let mut left = hits;
        left.truncate(3 * most.max(1));
        let mut shown: Vec<MemoryHit> = vec![left.remove(0)];
        let like = |a: &MemoryHit, b: &MemoryHit| match (self.graph.slot(a.id), self.graph.slot(b.id)) {
            (Some(a), Some(b)) => f64::from(self.graph.index.likeness(a, b)),
            _ => 0.0,
        };
        while shown.len() < most && !left.is_empty() {
            let worth = |hit: &MemoryHit| {
                let repeats = shown.iter().map(|other| like(hit, other)).fold(0.0, f64::max);
                hit.similarity - breadth * repeats
            };
            let values: Vec<f64> = left.iter().map(worth).collect();
            let best = (0..left.len()).fold(0, |best, at| if values[at] > values[best] { at } else { best });
            shown.push(left.remove(best));
        }
        shown
    }
}

/// What a comparison of a query with memories needs.
pub(super) struct Compare<'a> {
    pub(super) packed: &'a Packed,
    pub(super) ranking: Ranking,
    /// The place of the query in the graph.
    pub(super) place: Vec<f32>,
    /// What each of its words counts.
    pub(super) counting: Vec<(u16, f32)>,
    pub(super) judged: HashMap<Id, f64>,
    pub(super) now: u64,
    /// What is usual in each space among what was compared first.
    pub(super) usual: Option<[f64; COUNT]>,
}

/// Best first; of equals the older.
pub(super) fn sort(hits: &mut [MemoryHit]) {
    hits.sort_by(|a, b| b.similarity.total_cmp(&a.similarity).then(a.id.cmp(&b.id)));
}
