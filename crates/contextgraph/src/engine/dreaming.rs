//! A dream, slice by slice: replay, shortcuts, exploring. Each slice is one short transaction, so that a dream can be left at any
//! moment with everything done so far in place.

use std::collections::HashSet;

use serde_json::json;

use super::Space;
use crate::Id;
use crate::dream::{DreamReport, DreamState, NREM_MS, REM_MS, nrem, rem};
use crate::error::Outcome;
use crate::graph::Slot;
use crate::graph::edges::{Edge, EdgeKind};
use crate::johari::Quadrant;
use crate::mind::Doc;

/// Edges of one slice of replay.
const EDGES: usize = 200;
/// Known points that a walk is held against.
const KNOWN: usize = 96;
/// How far what a dream links stands out from what is usual, in deviations.
const LEAP: f64 = 2.25;
/// How much farther than usual a blind spot is.
const FARTHER: f64 = 1.25;
/// What an edge gains that was walked since the last dream, of what is missing to 1.
const USED: f64 = 0.1;
/// What is left of an edge that a dream made and nobody walked since.
const UNUSED: f64 = 0.7;
/// The same for one that was made when the memory was stored; it is not weakened below the floor.
const UNWALKED: (f64, f64) = (0.98, 0.3);

/// A dream that is going on. It holds slots, not memories: what is removed meanwhile is passed over.
#[derive(Debug)]
pub struct Dreaming {
    /// Where it is.
    pub state: DreamState,
    /// What it did so far.
    pub report: DreamReport,
    started: u64,
    phase_started: u64,
    replay: Vec<(Slot, f64)>,
    /// Slots whose edges are still to be gone through.
    sources: Vec<Slot>,
    walks: Vec<Slot>,
    /// Pairs that a search or an inference walked since the last dream.
    used: HashSet<(Id, Id)>,
    /// When the last dream ended; what was made since had no time to be walked.
    before: u64,
    total: usize,
}

/// What a slice came to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Slice {
    /// There is more to do; this far, of all.
    More(usize, usize),
    /// It is over.
    Done,
}

impl Space {
    /// Begins a dream.
    #[must_use]
    pub fn begin_dream(&mut self, now: u64) -> Dreaming {
        let waiting = self.mind.gwt.workspace.take_replay();
        let mut replay: Vec<(Slot, f64, f64)> = self
            .graph
            .memories()
            .map(|(slot, memory)| {
                let recency = nrem::recency(now.saturating_sub(memory.last_access));
                let mut activation = nrem::activation(f64::from(memory.importance), memory.access_count, recency);
                if waiting.contains(&memory.id) {
                    activation = (activation + 0.3).min(1.0);
                }
                (slot, activation, nrem::score(recency, activation))
            })
            .collect();
        replay.sort_by(|a, b| b.2.total_cmp(&a.2).then(a.0.cmp(&b.0)));
        replay.truncate(nrem::REPLAYED);
        let replay: Vec<(Slot, f64)> = replay.into_iter().map(|(slot, activation, _)| (slot, activation)).collect();
        let mut sources = self.graph.edges.sources();
        sources.reverse();
        let mut walks: Vec<Slot> = Vec::new();
        if self.graph.len() > 2 {
            let all: Vec<Slot> = self.graph.memories().map(|(slot, _)| slot).collect();
            for _ in 0..rem::QUERIES.min(all.len()) {
                walks.push(all[self.rng.below(all.len())]);
            }
        }
        let before = self.mind.dreams.scheduler.last_dream.unwrap_or(0);
        let used = self.mind.dreams.paths.pairs_since(before);
        let total = sources.len() + walks.len() + 1;
        self.tell("system.dream.started", json!({"memories": self.graph.len()}));
        Dreaming {
            state: DreamState::Nrem,
            report: DreamReport { memories_replayed: replay.len(), ..DreamReport::default() },
            started: now,
            phase_started: now,
            replay,
            sources,
            walks,
            used,
            before,
            total,
        }
    }

    /// Dreams on for one slice. `stop` is asked often.
    ///
    /// # Errors
    /// A number is none, or the store failed.
    pub fn dream_on(&mut self, dream: &mut Dreaming, now: u64, stop: &dyn Fn() -> bool) -> Outcome<Slice> {
        match dream.state {
            DreamState::Nrem if now.saturating_sub(dream.phase_started) > NREM_MS || dream.sources.is_empty() => {
                self.associate(dream, now);
                self.make_shortcuts(dream, now);
                dream.state = DreamState::Rem;
                dream.phase_started = now;
            }
            DreamState::Nrem => self.replay(dream, now)?,
            DreamState::Rem if now.saturating_sub(dream.phase_started) > REM_MS || dream.walks.is_empty() => {
                return Ok(Slice::Done);
            }
            DreamState::Rem => self.explore(dream, now, stop)?,
            _ => return Ok(Slice::Done),
        }
        Ok(Slice::More(dream.total - dream.sources.len() - dream.walks.len(), dream.total))
    }

    /// Ends a dream.
    pub fn end_dream(&mut self, dream: &mut Dreaming, completed: bool, now: u64) {
        dream.state = DreamState::Awake;
        dream.report.completed = completed;
        dream.report.duration_ms = now.saturating_sub(dream.started);
        let dreams = &mut self.mind.dreams;
        dreams.scheduler.ended(now, completed);
        if completed {
            dreams.completed_at = Some(now);
        }
        dreams.shortcuts_this_cycle = dream.report.shortcuts_created;
        dreams.edges_pruned += dream.report.edges_pruned as u64;
        dreams.dead_ends_removed += dream.report.dead_ends_removed as u64;
        dreams.last = Some(dream.report.clone());
        if completed {
            self.count_windows();
        }
        self.touch(Doc::Dreams);
        self.touch(Doc::Gwt);
        self.touch(Doc::Learning);
        let data = json!(dream.report);
        self.record("dream", &data, now);
        self.tell(if completed { "system.dream.completed" } else { "system.dream.aborted" }, data);
    }

    fn replay(&mut self, dream: &mut Dreaming, now: u64) -> Outcome<()> {
        let activation = |slot: Slot| dream.replay.iter().find(|one| one.0 == slot).map_or(0.0, |one| one.1);
        let mut done = 0;
        while let Some(source) = dream.sources.pop() {
            // What somebody stated is not for dreams to weaken.
            let links: Vec<_> = self.graph.edges.from(source).filter(|link| !link.kind.is_stated()).copied().collect();
            done += links.len();
            for link in links {
                // Edges of what was forgotten are kept as they are: it may be restored.
                let living = |slot: Slot| self.graph.at(slot).map(|memory| memory.id);
                let (Some(from), Some(to)) = (living(source), living(link.target)) else { continue };
                let weight = f64::from(link.weight);
                let hebb = nrem::hebb(weight, activation(source), activation(link.target))?;
                let used = dream.used.contains(&(from, to)) || dream.used.contains(&(to, from));
                match hebb.and_then(|next| tended(next, link.kind, used, link.created_at <= dream.before)) {
                    None => {
                        self.unlink(from, to, link.kind);
                        dream.report.edges_pruned += 1;
                        dream.report.dead_ends_removed += usize::from(self.graph.edges.degree(link.target) == 0);
                    }
                    Some(next) if (next - weight).abs() > 1e-9 => {
                        let edge = Edge {
                            created_at: link.created_at,
                            path: self.graph.edges.path(source, link.target).map(<[Id]>::to_vec).unwrap_or_default(),
                            ..Edge::new(from, to, link.kind, next, f64::from(link.confidence), now)
                        };
                        self.link(edge);
                        if next > weight {
                            dream.report.edges_strengthened += 1;
                        } else {
                            dream.report.edges_weakened += 1;
                        }
                    }
                    Some(_) => {}
                }
            }
            if done >= EDGES {
                break;
            }
        }
        Ok(())
    }

    /// Links memories that were replayed next to each other and are alike.
    fn associate(&mut self, dream: &mut Dreaming, now: u64) {
        let least = self.mind.calibration.value("theta_memory_sim", crate::thresholds::Domain::General) as f32;
        for pair in dream.replay.windows(2) {
            let (a, b) = (pair[0].0, pair[1].0);
            let (Some(from), Some(to)) = (self.graph.at(a).map(|m| m.id), self.graph.at(b).map(|m| m.id)) else {
                continue;
            };
            let likeness = self.graph.index.likeness(a, b);
            if likeness >= least && self.graph.edges.between(a, b).is_none() {
                let weight = f64::from(likeness) * pair[0].1.max(pair[1].1);
                self.link(Edge::new(from, to, EdgeKind::Associated, weight.max(0.1), f64::from(likeness), now));
                dream.report.edges_associated += 1;
            }
        }
    }

    fn make_shortcuts(&mut self, dream: &mut Dreaming, now: u64) {
        let sure = self.mind.calibration.value("theta_shortcut_conf", crate::thresholds::Domain::General);
        let found: Vec<_> =
            self.mind.dreams.paths.candidates(sure.min(crate::dream::shortcuts::SURE)).into_iter().cloned().collect();
        for walked in found.into_iter().filter(crate::dream::shortcuts::Walked::qualifies) {
            let (Some(first), Some(last)) = (walked.path.first(), walked.path.last()) else { continue };
            if walked.path.iter().any(|id| self.graph.get(*id).is_none()) {
                continue;
            }
            let (Some(a), Some(b)) = (self.graph.slot(*first), self.graph.slot(*last)) else { continue };
            if self.graph.edges.from(a).any(|link| link.target == b && link.kind == EdgeKind::Shortcut) {
                continue;
            }
            let edge = Edge {
                path: walked.path.clone(),
                ..Edge::new(*first, *last, EdgeKind::Shortcut, walked.weight, walked.confidence, now)
            };
            self.link(edge);
            dream.report.shortcuts_created += 1;
        }
    }

    fn explore(&mut self, dream: &mut Dreaming, now: u64, stop: &dyn Fn() -> bool) -> Outcome<()> {
        let Some(start) = dream.walks.pop().filter(|slot| self.graph.at(*slot).is_some()) else { return Ok(()) };
        let all: Vec<Slot> = self.graph.memories().map(|(slot, _)| slot).collect();
        let mut known: Vec<Slot> =
            if all.len() <= KNOWN { all } else { (0..KNOWN).map(|_| all[self.rng.below(all.len())]).collect() };
        known.retain(|slot| *slot != start);
        let point = |slot: Slot| {
            self.graph
                .index
                .row(slot)
                .map_or([0.0; rem::DIMENSIONS], |row| rem::point(row, self.graph.edges.degree(slot)))
        };
        let points: Vec<rem::Point> = known.iter().map(|slot| point(*slot)).collect();
        let from = point(start);
        let Some(found) = rem::walk(&from, &points, &mut self.rng, stop)? else { return Ok(()) };
        dream.report.queries_explored += 1;
        // Points without edges are all far from each other: far is what is farther than usual here.
        let usual = rem::usual_distance(&points);
        let blind = found.distance >= usual * FARTHER && found.blind;
        dream.report.blind_spots_found += usize::from(blind);
        let Some(id) = self.graph.at(start).map(|memory| memory.id) else { return Ok(()) };
        if !blind && self.graph.edges.degree(start) > 1 {
            return Ok(());
        }
        let packed = self.packed(id)?;
        let least = self.usual_around(start, packed.is_foreign()).above(LEAP);
        let meant = self.meant_like(start, &packed);
        let other = self.nearest_to(start, &packed, &meant).into_iter().find(|(slot, affinity)| {
            *affinity >= least
                && self.share_a_word(start, *slot)
                && self.graph.at(*slot).is_some()
                && self.graph.edges.between(start, *slot).is_none()
        });
        if let Some(other) = other.and_then(|(slot, _)| self.graph.id(slot)) {
            let (weight, confidence) = rem::DISCOVERED;
            self.link(Edge::new(id, other, EdgeKind::Discovered, f64::from(weight), f64::from(confidence), now));
            dream.report.edges_discovered += 1;
        }
        Ok(())
    }

    /// Counts again where memories stand: what was new and fitted nowhere, and is linked now, fits.
    fn count_windows(&mut self) {
        let at = self.mind.calibration.value("theta_johari", crate::thresholds::Domain::General);
        let mut counts = [0u64; 4];
        for (slot, memory) in self.graph.memories() {
            let surprise = memory.delta_s.iter().map(|one| f64::from(*one)).sum::<f64>() / memory.delta_s.len() as f64;
            let mut quadrant = Quadrant::of(surprise, f64::from(memory.delta_c), at);
            if self.graph.edges.around(slot).next().is_some() {
                quadrant = match quadrant {
                    Quadrant::Blind => Quadrant::Unknown,
                    Quadrant::Hidden => Quadrant::Open,
                    fits => fits,
                };
            }
            counts[quadrant.index()] += 1;
        }
        self.mind.learning.averages.quadrants = counts;
    }
}

/// What becomes of the weight of an edge by its use; `None` for one that goes. Edges that a person or an agent could mean (causes,
/// contradictions, shortcuts) are left to replay alone.
fn tended(weight: f64, kind: EdgeKind, used: bool, had_time: bool) -> Option<f64> {
    if used {
        return Some((weight + USED * (1.0 - weight)).min(1.0));
    }
    match kind {
        EdgeKind::Discovered | EdgeKind::Associated if had_time => {
            Some(weight * UNUSED).filter(|next| *next > nrem::FLOOR)
        }
        EdgeKind::Similar | EdgeKind::Shared if had_time && weight > UNWALKED.1 => {
            Some((weight * UNWALKED.0).max(UNWALKED.1))
        }
        _ => Some(weight),
    }
}
