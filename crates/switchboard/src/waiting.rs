//! A word for whoever waits: what takes longer than a moment is named on standard error, and again from time to time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use crate::screen;

/// A wait that needs no word.
pub(crate) const MOMENT: Duration = Duration::from_secs(1);
/// How long it is until the next word, and until each one after that.
const NEXT: Duration = Duration::from_secs(4);
const AFTERWARDS: Duration = Duration::from_secs(10);

/// Tells what is waited for until it is dropped.
#[derive(Debug)]
pub(crate) struct Waiting {
    /// Nothing is ever sent: its end is the signal.
    _ended: mpsc::Sender<()>,
}

impl Waiting {
    /// Begins to wait for something that a sentence names: "reading the log".
    pub(crate) fn begin(what: impl Into<String>) -> Self {
        Self::unless(what, Arc::default())
    }

    /// The same, silent while `silenced` is set: a person who is asked something knows why nothing happens.
    pub(crate) fn unless(what: impl Into<String>, silenced: Arc<AtomicBool>) -> Self {
        let (sender, ended) = mpsc::channel::<()>();
        let (what, began) = (what.into(), Instant::now());
        // A thread and no task: what is waited for may keep the runtime busy. Without one, nothing is told.
        let _ = thread::Builder::new().name("waiting".to_owned()).spawn(move || {
            for word in 0_u32.. {
                if ended.recv_timeout(pause(word)) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
                if !silenced.load(Ordering::Relaxed) {
                    screen::note(format_args!("{what} ({} s)", began.elapsed().as_secs()));
                }
            }
        });
        Self { _ended: sender }
    }
}

/// How long it is silent before a word.
const fn pause(word: u32) -> Duration {
    match word {
        0 => MOMENT,
        1 => NEXT,
        _ => AFTERWARDS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_word_comes_after_a_second_and_the_others_ever_more_seldom() {
        let words: Vec<u64> = (0..4).map(|word| pause(word).as_secs()).collect();
        assert_eq!(words, [1, 4, 10, 10]);
    }
}
