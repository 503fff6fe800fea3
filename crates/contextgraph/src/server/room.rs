//! A space that is open, and the dream that may run beside its calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use tokio::sync::watch;

use crate::dream::scheduler::DreamDecision;
use crate::dream::{DreamReport, DreamState, WAKE_MS};
use crate::engine::{Slice, Space, SpaceEvent};
use crate::error::Problem;
use crate::identity::CRITICAL;
use crate::tools::DreamView;

use super::bell::Chime;

/// How long an end of a dream is waited for. More than it may take, to be able to tell.
const DREAM_END_TIMEOUT: Duration = Duration::from_secs(5);
/// A dream works for this share of the time: three tenths.
const REST: f64 = 7.0 / 3.0;

/// Events of dreams that wait for an answer to tell them.
const LATE: usize = 100;

type Clock = Arc<dyn Fn() -> u64 + Send + Sync>;

/// How far a dream is.
#[derive(Debug, Clone, Default)]
pub(super) struct Progress {
    pub(super) done: f64,
    pub(super) total: f64,
    /// The report and, if it failed, why.
    pub(super) over: Option<(DreamReport, Option<Problem>)>,
}

/// A space that is open.
pub(super) struct Room {
    pub(super) space: Mutex<Space>,
    clock: Clock,
    state: Mutex<DreamState>,
    changed: Condvar,
    stop: AtomicBool,
    requested: AtomicBool,
    /// The share of one processor that the dream takes, as the bits of a double.
    load: AtomicU64,
    progress: watch::Sender<Progress>,
    /// Tells those who subscribed.
    pub(super) chime: Chime,
    /// What happened in dreams and no answer has told yet.
    late: Mutex<Vec<SpaceEvent>>,
    /// When somebody last came for it.
    entered: AtomicU64,
}

impl Room {
    pub(super) fn new(space: Space, chime: Chime, clock: Clock) -> Arc<Self> {
        Arc::new(Self {
            space: Mutex::new(space),
            clock,
            state: Mutex::new(DreamState::Awake),
            changed: Condvar::new(),
            stop: AtomicBool::new(false),
            requested: AtomicBool::new(false),
            load: AtomicU64::new(0),
            progress: watch::Sender::new(Progress::default()),
            chime,
            late: Mutex::default(),
            entered: AtomicU64::new(0),
        })
    }

    /// Somebody comes for it.
    pub(super) fn entered(&self, now: u64) {
        self.entered.store(now, Ordering::Relaxed);
    }

    /// When somebody last came.
    pub(super) fn last_entered(&self) -> u64 {
        self.entered.load(Ordering::Relaxed)
    }

    pub(super) fn is_dreaming(&self) -> bool {
        self.state.lock().is_dreaming()
    }

    /// How far the dream is, as it goes on.
    pub(super) fn watch(&self) -> watch::Receiver<Progress> {
        self.progress.subscribe()
    }

    fn set(&self, state: DreamState) {
        *self.state.lock() = state;
        self.changed.notify_all();
    }

    /// Begins the dream that was asked for, unless the call that asked failed.
    pub(super) fn start_if_requested(self: &Arc<Self>, wanted: bool) {
        if !self.requested.swap(false, Ordering::AcqRel) {
            return;
        }
        if !wanted {
            self.set(DreamState::Awake);
            return;
        }
        self.start();
    }

    fn start(self: &Arc<Self>) {
        self.stop.store(false, Ordering::Release);
        let room = self.clone();
        let thread = std::thread::Builder::new().name("dream".to_owned()).spawn(move || room.dream());
        if let Err(error) = thread {
            tracing::warn!(%error, "no dream: there is no thread for it");
            self.set(DreamState::Awake);
        }
    }

    /// What happened in dreams, for the next answer.
    pub(super) fn take_late(&self) -> Vec<SpaceEvent> {
        std::mem::take(&mut self.late.lock())
    }

    /// Tells of what happened in a dream.
    fn tell(&self, space: &mut Space) {
        let events = space.take_events();
        self.chime.ring(&events, (self.clock)());
        let mut late = self.late.lock();
        late.extend(events);
        let more = late.len().saturating_sub(LATE);
        late.drain(..more);
    }

    /// The dream, slice by slice. Calls get in between.
    fn dream(&self) {
        let began = Instant::now();
        let mut busy = Duration::ZERO;
        let now = || (self.clock)();
        let mut dreaming = {
            let mut space = self.space.lock();
            let dreaming = space.begin_dream(now());
            self.tell(&mut space);
            dreaming
        };
        self.progress.send_replace(Progress::default());
        let mut problem = None;
        let mut completed = false;
        loop {
            if self.stop.load(Ordering::Acquire) {
                break;
            }
            self.set(dreaming.state);
            let slice_began = Instant::now();
            let mut space = self.space.lock();
            let stop = || self.stop.load(Ordering::Acquire);
            let slice = space.write_beside(now(), |space| {
                let at = now();
                space.dream_on(&mut dreaming, at, &stop)
            });
            parking_lot::MutexGuard::unlock_fair(space);
            match slice {
                Ok(Slice::Done) => {
                    completed = true;
                    break;
                }
                Ok(Slice::More(done, total)) => {
                    self.progress.send_replace(Progress { done: done as f64, total: total as f64, over: None });
                }
                Err(failed) => {
                    tracing::warn!(error = %failed, "the dream ended early");
                    problem = Some(failed);
                    break;
                }
            }
            let worked = slice_began.elapsed();
            busy += worked;
            self.load
                .store((busy.as_secs_f64() / began.elapsed().as_secs_f64().max(1e-9)).to_bits(), Ordering::Relaxed);
            let mut state = self.state.lock();
            if !self.stop.load(Ordering::Acquire) {
                self.changed.wait_for(&mut state, worked.mul_f64(REST).min(Duration::from_millis(200)));
            }
        }
        self.set(DreamState::Waking);
        let ended = {
            let mut space = self.space.lock();
            let ended = space.write_beside(now(), |space| {
                space.end_dream(&mut dreaming, completed, now());
                Ok(())
            });
            self.tell(&mut space);
            ended
        };
        if let Err(failed) = ended {
            tracing::warn!(error = %failed, "the end of a dream could not be written");
            problem.get_or_insert(failed);
        }
        self.load.store(0, Ordering::Relaxed);
        self.set(DreamState::Awake);
        self.progress.send_replace(Progress { done: 1.0, total: 1.0, over: Some((dreaming.report, problem)) });
    }

    /// Ends the dream and waits until it has. How long that took.
    pub(super) fn wake(&self) -> Option<f64> {
        let began = Instant::now();
        self.stop.store(true, Ordering::Release);
        let mut state = self.state.lock();
        self.changed.notify_all();
        while state.is_dreaming() {
            if self.changed.wait_until(&mut state, began + DREAM_END_TIMEOUT).timed_out() {
                return None;
            }
        }
        let took = began.elapsed().as_secs_f64() * 1e3;
        if took > WAKE_MS as f64 {
            tracing::warn!(took_ms = took, "waking took longer than it may");
        }
        Some(took)
    }

    /// Writes what was changed by the way, and dreams if it is time.
    pub(super) fn look_after(self: &Arc<Self>, now: u64, dreams: bool) {
        let Some(mut space) = self.space.try_lock() else { return };
        if let Err(problem) = space.flush_due(now) {
            tracing::warn!(error = %problem, "changes by the way could not be written");
        }
        space.tick(now, false);
        let critical = space.mind.gwt.ego.continuity() < CRITICAL && space.mind.gwt.ego.trajectory_len() > 1;
        let decision = space.mind.dreams.scheduler.decide(now, self.is_dreaming(), critical);
        let enough = space.graph.len() > 2;
        drop(space);
        if let (DreamDecision::Trigger(reason), true, true) = (decision, dreams, enough)
            && self.request()
        {
            tracing::info!(?reason, "the memory dreams");
            self.start_if_requested(true);
        }
    }

    pub(super) fn close(&self) {
        self.wake();
        if let Err(problem) = self.space.lock().flush() {
            tracing::warn!(error = %problem, "the last changes of the memory could not be written");
        }
    }
}

impl DreamView for Room {
    fn state(&self) -> DreamState {
        *self.state.lock()
    }

    fn load(&self) -> f64 {
        f64::from_bits(self.load.load(Ordering::Relaxed))
    }

    fn request(&self) -> bool {
        let mut state = self.state.lock();
        if state.is_dreaming() {
            return false;
        }
        *state = DreamState::EnteringDream;
        self.requested.store(true, Ordering::Release);
        true
    }

    fn abort(&self) -> Option<f64> {
        self.wake()
    }
}

/// A dream that was ended before the call that asked for it took the space.
pub(super) struct Aborted {
    state: DreamState,
    latency: Option<f64>,
}

impl Aborted {
    pub(super) fn of(room: &Room) -> Self {
        let state = *room.state.lock();
        let latency = match state {
            DreamState::Awake | DreamState::Waking => Some(0.0),
            _ => room.wake(),
        };
        Self { state, latency }
    }
}

impl DreamView for Aborted {
    fn state(&self) -> DreamState {
        self.state
    }

    fn load(&self) -> f64 {
        0.0
    }

    fn request(&self) -> bool {
        false
    }

    fn abort(&self) -> Option<f64> {
        self.latency
    }
}
