//! One stream of pieces: what of it is kept, what is due to be sent, what is missing (MGP 12, proposal 8).
//!
//! A stream serves all dialects: pieces have numbers, and whoever writes them for a peer gives the number its name.
//! Pieces pass as they come, and of those that wait the first goes first. One that is missing is asked for, and nothing waits for it: the final
//! result is complete whatever became of the pieces. A piece stays until there is no room for it, for whoever did not
//! get it. What is kept is bounded for each stream and, by a [`Ledger`], for all of them together.

mod checkpoint;
mod pace;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use switchboard_protocol::mgp::stream::text_of;
use switchboard_wire::{Edit, Raw};

pub use checkpoint::{Checkpoint, CheckpointError, LONGEST_TOKEN};
pub use pace::Pace;

/// Numbers of missing pieces that are asked for, or answered, at once.
pub const MOST_MISSING: usize = 256;
/// How far ahead of the others a piece may be. One that is farther is not believed.
const FARTHEST: u64 = 10_000;
/// What keeping a piece costs beside its bytes.
const OVERHEAD: usize = 64;

/// How much may be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamBounds {
    /// Bytes of one stream.
    pub bytes: usize,
    /// Pieces of one stream.
    pub pieces: usize,
    /// Bytes of all streams together.
    pub total: usize,
}

impl Default for StreamBounds {
    fn default() -> Self {
        Self { bytes: 1 << 20, pieces: 4_096, total: 64 << 20 }
    }
}

/// Counts what all streams keep together.
#[derive(Debug)]
pub struct Ledger {
    bounds: StreamBounds,
    kept: AtomicUsize,
}

impl Ledger {
    /// An empty one.
    #[must_use]
    pub const fn new(bounds: StreamBounds) -> Self {
        Self { bounds, kept: AtomicUsize::new(0) }
    }

    /// Bytes that are kept now.
    #[must_use]
    pub fn kept(&self) -> usize {
        self.kept.load(Ordering::Relaxed)
    }

    fn take(&self, bytes: usize) -> bool {
        let before = self.kept.fetch_add(bytes, Ordering::Relaxed);
        let fits = before.saturating_add(bytes) <= self.bounds.total;
        if !fits {
            self.kept.fetch_sub(bytes, Ordering::Relaxed);
        }
        fits
    }

    fn give_back(&self, bytes: usize) {
        self.kept.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// A piece that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Its number.
    pub index: u64,
    /// What it holds: a content block.
    pub content: Raw,
    /// Everything that was said with it, where that is more than its content and its number.
    pub said: Option<Raw>,
    /// The server's own checkpoint, for going on after this piece.
    pub checkpoint: Option<String>,
}

impl Piece {
    /// One that holds only this.
    #[must_use]
    pub const fn new(index: u64, content: Raw) -> Self {
        Self { index, content, said: None, checkpoint: None }
    }

    fn weight(&self) -> usize {
        let said = self.said.as_ref().map_or(0, |said| said.as_bytes().len());
        self.content.as_bytes().len() + said + self.checkpoint.as_ref().map_or(0, String::len) + OVERHEAD
    }

    /// The same without the message that it came in, which may be much larger.
    fn detached(mut self) -> Self {
        self.content = self.content.detach();
        self.said = self.said.map(|said| said.detach());
        self
    }
}

/// What became of a piece that came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TakenPiece {
    /// It is due to be sent, and these before it are missing and were not asked for yet.
    New {
        /// The missing ones.
        missing: Vec<u64>,
    },
    /// It was here before.
    Again,
    /// Its number is too far ahead to be believed.
    TooFar,
}

/// A piece that somebody did not get.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MissedPiece {
    /// Here it is.
    Piece(Piece),
    /// It is gone.
    Lost(u64),
}

/// One stream.
#[derive(Debug)]
pub struct Stream {
    ledger: Arc<Ledger>,
    kept: VecDeque<Piece>,
    bytes: usize,
    /// Every piece before this number has come.
    whole: u64,
    /// Those after it that have come.
    ahead: BTreeSet<u64>,
    /// Those before the farthest that were asked for.
    asked: u64,
    /// Numbers of pieces that wait to be sent.
    due: BTreeSet<u64>,
    /// Pieces before this number are not wanted: the reader has them.
    from: u64,
    /// Pieces before this number came in an earlier life.
    begins: u64,
    sent: u64,
    dropped: u64,
    /// The first piece that was let go before the reader got it, and that nobody told it of.
    first_dropped: Option<u64>,
    pace: Pace,
    progress: Option<f64>,
    checkpoint: Option<(u64, String)>,
}

impl Stream {
    /// One that has just begun.
    #[must_use]
    pub const fn new(ledger: Arc<Ledger>) -> Self {
        Self {
            ledger,
            kept: VecDeque::new(),
            bytes: 0,
            whole: 0,
            ahead: BTreeSet::new(),
            asked: 0,
            due: BTreeSet::new(),
            from: 0,
            begins: 0,
            sent: 0,
            dropped: 0,
            first_dropped: None,
            pace: Pace::free(),
            progress: None,
            checkpoint: None,
        }
    }

    /// One whose reader has everything before `from` already, and whose first piece will be that with the number
    /// `begins`.
    #[must_use]
    pub const fn resumed(ledger: Arc<Ledger>, from: u64, begins: u64) -> Self {
        let mut stream = Self::new(ledger);
        stream.from = from;
        stream.whole = begins;
        stream.asked = begins;
        stream.begins = begins;
        stream
    }

    /// The number that a piece without one gets.
    #[must_use]
    pub fn next_index(&self) -> u64 {
        self.ahead.last().map_or(self.whole, |last| last + 1)
    }

    /// Every piece before this number has come: from here one can go on.
    #[must_use]
    pub const fn whole(&self) -> u64 {
        self.whole
    }

    /// The number of the first piece that the reader was not sent: from here it can go on without missing anything.
    #[must_use]
    pub fn unsent(&self) -> u64 {
        let unsent = self.due.first().map_or(self.whole, |first| self.whole.min(*first));
        self.first_dropped.map_or(unsent, |dropped| unsent.min(dropped)).max(self.from)
    }

    /// The server's own checkpoint for a reader who has everything before `next`, with the number of the first piece
    /// after it: never one behind pieces that the reader lacks.
    #[must_use]
    pub fn checkpoint(&self, next: u64) -> Option<(u64, &str)> {
        // Where the server gave none at all, none need be looked for.
        let (after, token) = self.checkpoint.as_ref()?;
        if *after <= next {
            return Some((*after, token));
        }
        let before = self.kept.iter().rev().filter(|piece| piece.index < next);
        before.filter_map(|piece| Some((piece.index + 1, piece.checkpoint.as_deref()?))).max()
    }

    /// How many pieces were sent.
    #[must_use]
    pub const fn sent(&self) -> u64 {
        self.sent
    }

    /// How many pieces were let go before anybody got them.
    #[must_use]
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }

    /// How many pieces have come.
    #[must_use]
    pub fn came(&self) -> u64 {
        self.whole - self.begins + u64::try_from(self.ahead.len()).unwrap_or(u64::MAX)
    }

    /// Bytes that are kept.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Takes a piece.
    pub fn take(&mut self, piece: Piece) -> TakenPiece {
        let index = piece.index;
        if index < self.whole || self.ahead.contains(&index) {
            return TakenPiece::Again;
        }
        if index > self.whole.saturating_add(FARTHEST) {
            return TakenPiece::TooFar;
        }
        let missing = self.missing_before(index);
        if index == self.whole {
            self.whole += 1;
            while self.ahead.remove(&self.whole) {
                self.whole += 1;
            }
        } else {
            self.ahead.insert(index);
        }
        if let Some(token) = &piece.checkpoint
            && self.checkpoint.as_ref().is_none_or(|(next, _)| *next <= index)
        {
            self.checkpoint = Some((index + 1, token.clone()));
        }
        self.keep(piece.detached());
        TakenPiece::New { missing }
    }

    fn missing_before(&mut self, index: u64) -> Vec<u64> {
        let first = self.asked.max(self.whole);
        self.asked = self.asked.max(index);
        (first..index).filter(|number| !self.ahead.contains(number)).take(MOST_MISSING).collect()
    }

    fn keep(&mut self, piece: Piece) {
        let weight = piece.weight();
        let bounds = self.ledger.bounds;
        while !self.kept.is_empty()
            && (self.bytes.saturating_add(weight) > bounds.bytes || self.kept.len() >= bounds.pieces)
        {
            self.let_go();
        }
        let mut room = weight <= bounds.bytes && self.ledger.take(weight);
        // Where all streams together are full, one makes room by what is its own.
        while !room && weight <= bounds.bytes && !self.kept.is_empty() {
            self.let_go();
            room = self.ledger.take(weight);
        }
        if !room {
            // Nobody keeps it, but it can pass now.
            self.ledger.kept.fetch_add(weight, Ordering::Relaxed);
        }
        self.bytes += weight;
        if piece.index >= self.from {
            self.due.insert(piece.index);
        }
        self.kept.push_back(piece);
    }

    /// Lets the oldest piece go, sent or not.
    fn let_go(&mut self) {
        let Some(piece) = self.kept.pop_front() else { return };
        let weight = piece.weight();
        self.bytes -= weight;
        self.ledger.give_back(weight);
        if self.due.remove(&piece.index) {
            self.dropped += 1;
            self.first_dropped = Some(self.first_dropped.map_or(piece.index, |first| first.min(piece.index)));
        }
    }

    /// The next piece that may be sent now. It counts as sent unless it is put back.
    pub fn next_due(&mut self, now: Instant) -> Option<Piece> {
        let index = *self.due.first()?;
        if !self.pace.passes(now) {
            return None;
        }
        self.due.pop_first();
        // Who is behind wants the oldest, who is not the newest.
        let oldest = self.kept.front().filter(|piece| piece.index == index);
        let piece = oldest.or_else(|| self.kept.iter().rev().find(|piece| piece.index == index))?.clone();
        self.sent += 1;
        Some(piece)
    }

    /// Takes back a piece that could not be sent: it comes next.
    pub fn put_back(&mut self, index: u64) {
        self.due.insert(index);
        self.sent = self.sent.saturating_sub(1);
    }

    /// What is kept only for sending is let go: a piece that was sent and did not fit into the bounds of all streams.
    pub fn settle(&mut self) {
        let bounds = self.ledger.bounds;
        while (self.ledger.kept() > bounds.total || self.bytes > bounds.bytes) && !self.kept.is_empty() {
            self.let_go();
        }
    }

    /// When the next piece may be sent, if one waits and it is not now; `None` where nothing waits, or all wait for
    /// the reader.
    #[must_use]
    pub fn wait(&self, now: Instant) -> Option<Duration> {
        self.due.first()?;
        self.pace.wait(now)
    }

    /// Whether pieces wait.
    #[must_use]
    pub fn is_behind(&self) -> bool {
        !self.due.is_empty()
    }

    /// Sets how fast pieces may go.
    pub fn set_pace(&mut self, per_second: f64, now: Instant) {
        self.pace = Pace::of(per_second, now);
    }

    /// A reader begins, or begins again, with the piece of this number. Says which pieces it cannot get any more.
    pub fn read_from(&mut self, from: u64) -> Vec<u64> {
        self.from = from;
        self.first_dropped = None;
        self.due.clear();
        self.due.extend(self.kept.iter().map(|piece| piece.index).filter(|index| *index >= from));
        (from..self.whole).filter(|index| !self.due.contains(index)).take(MOST_MISSING).collect()
    }

    /// Pieces that somebody did not get. Those that have not come yet are left out.
    #[must_use]
    pub fn find(&self, indices: &[u64]) -> Vec<MissedPiece> {
        let come = |index: &&u64| **index < self.whole || self.ahead.contains(index);
        let found = |index: &u64| {
            let kept = self.kept.iter().find(|piece| piece.index == *index);
            kept.map_or(MissedPiece::Lost(*index), |piece| MissedPiece::Piece(piece.clone()))
        };
        indices.iter().filter(come).take(MOST_MISSING).map(found).collect()
    }

    /// Notes how far the work is, from 0 to 1; `None` for what is no step forward.
    pub fn advance(&mut self, progress: f64) -> Option<f64> {
        if !progress.is_finite() {
            return None;
        }
        let progress = progress.clamp(0.0, 1.0);
        let forward = self.progress.is_none_or(|before| progress > before);
        if forward {
            self.progress = Some(progress);
        }
        forward.then_some(progress)
    }

    /// How far the work is known to be.
    #[must_use]
    pub const fn progress(&self) -> Option<f64> {
        self.progress
    }

    /// What has come so far, as content blocks: texts that follow each other are one block. The second value says
    /// whether something of it is gone.
    #[must_use]
    pub fn partial(&self) -> (Vec<Raw>, bool) {
        let mut pieces: Vec<&Piece> = self.kept.iter().collect();
        pieces.sort_by_key(|piece| piece.index);
        let mut blocks: Vec<Raw> = Vec::new();
        let mut text = String::new();
        let block = |text: &str| Edit::empty().set("type", Raw::string("text")).set("text", Raw::string(text)).finish();
        for piece in &pieces {
            match text_of(&piece.content) {
                Some(more) => text.push_str(&more),
                None => {
                    if !text.is_empty() {
                        blocks.push(block(&std::mem::take(&mut text)));
                    }
                    blocks.push(piece.content.clone());
                }
            }
        }
        if !text.is_empty() {
            blocks.push(block(&text));
        }
        let whole = u64::try_from(pieces.len()).unwrap_or(u64::MAX) == self.next_index();
        (blocks, !whole)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.ledger.give_back(self.bytes);
    }
}
