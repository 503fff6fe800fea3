//! Whether a call that failed is made again (MGP 14.6), after which wait, and what is tried when it is not.
//!
//! Decides from what the failure says of itself, what is known of the tool, and what was spent already. It does not
//! make calls. A call that may have had its effect is repeated only where repeating it does no harm.

use std::time::Duration;

use crate::restart::jittered;

/// How the kernel repeats calls by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Tries after the first one. Zero repeats nothing.
    pub most: u32,
    /// The first wait, where the failure names none.
    pub first: Duration,
    /// The longest single wait. A failure that wants more is the caller's to repeat.
    pub longest: Duration,
    /// Whether another tool that the server names may be tried in the end.
    pub fallback: bool,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { most: 2, first: Duration::from_millis(200), longest: Duration::from_secs(5), fallback: true }
    }
}

/// How waits are spaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Spacing {
    /// None.
    Immediate,
    /// Always the same.
    Fixed,
    /// Twice as long each time.
    #[default]
    Exponential,
}

impl Spacing {
    /// What a word on the wire means: those of the specification, and those that are in use.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        match word {
            "immediate" => Some(Self::Immediate),
            "fixed_delay" | "fixed" => Some(Self::Fixed),
            "exponential_backoff" | "exponential" => Some(Self::Exponential),
            _ => None,
        }
    }
}

/// What a failure says of trying again.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Failure {
    /// Whether trying again can help.
    pub retryable: bool,
    /// The least wait.
    pub after: Option<Duration>,
    /// How to space the waits.
    pub spacing: Spacing,
    /// How often at most.
    pub most: Option<u32>,
    /// Another tool that may be tried in the end.
    pub fallback: Option<String>,
    /// Whether the call certainly had no effect: it was never sent.
    pub untouched: bool,
}

/// What a repetition of the call would do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Repeating {
    /// Nothing: it only reads, or doing it twice is doing it once, or it carries a key by which the server knows it.
    Harmless,
    /// Perhaps its effect a second time.
    Harmful,
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RetryDecision {
    /// Once more, after a wait.
    Again(Duration),
    /// Another tool, through everything that any call passes.
    FallBack(String),
    /// Nothing: the caller gets the failure.
    Report,
}

/// Decides about a call that has failed; `tries` were made, at least one. `left` is the time that is left for all of
/// it, and `chance` any number.
#[must_use]
pub fn decide(
    policy: &RetryPolicy,
    failure: &Failure,
    repeating: Repeating,
    tries: u32,
    left: Duration,
    chance: u64,
) -> RetryDecision {
    let safe = repeating == Repeating::Harmless || failure.untouched;
    if !safe || !failure.retryable {
        return RetryDecision::Report;
    }
    let most = failure.most.unwrap_or(u32::MAX).min(policy.most);
    if tries <= most {
        let wait = wait_before(policy, failure, tries, chance);
        if wait <= policy.longest && wait < left {
            return RetryDecision::Again(wait);
        }
    }
    match &failure.fallback {
        Some(tool) if policy.fallback && policy.most > 0 => RetryDecision::FallBack(tool.clone()),
        _ => RetryDecision::Report,
    }
}

fn wait_before(policy: &RetryPolicy, failure: &Failure, tries: u32, chance: u64) -> Duration {
    let base = match (failure.spacing, failure.after) {
        (Spacing::Immediate, None) => Duration::ZERO,
        (_, after) => after.unwrap_or(policy.first),
    };
    let factor = match failure.spacing {
        Spacing::Immediate | Spacing::Fixed => 1,
        Spacing::Exponential => 1_u32.checked_shl(tries.saturating_sub(1).min(31)).unwrap_or(u32::MAX),
    };
    let wait = base.saturating_mul(factor);
    // Spread, but never below what was asked for.
    jittered(wait, chance).max(wait)
}

/// What is saved at the beginning, and at most: hundredths of a repetition. So many may follow one another.
pub const FULL_BUDGET: u32 = 1_000;
/// What each call adds.
const EARNED: u32 = 20;
/// What a repetition costs.
const COST: u32 = 100;

/// What is saved after one more call. Repetitions are a share of the calls, and a few at any time: they must not make a
/// bad day worse. A plain number, so that many callers can share it without waiting for one another.
#[must_use]
pub const fn earned(saved: u32) -> u32 {
    let more = saved.saturating_add(EARNED);
    if more < FULL_BUDGET { more } else { FULL_BUDGET }
}

/// What is saved after one more repetition; `None` if there is not enough for one.
#[must_use]
pub const fn spent(saved: u32) -> Option<u32> {
    saved.checked_sub(COST)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn failure() -> Failure {
        Failure { retryable: true, after: Some(millis(100)), ..Failure::default() }
    }

    #[test]
    fn decisions() {
        let policy = RetryPolicy::default();
        let hour = Duration::from_secs(3_600);
        let fallback = Some("other".to_owned());
        let (harmless, harmful) = (Repeating::Harmless, Repeating::Harmful);
        let again = |wait| RetryDecision::Again(millis(wait));
        for (name, failure, repeating, tries, left, expected) in [
            ("first", failure(), harmless, 1, hour, again(100)),
            ("twice the wait", failure(), harmless, 2, hour, again(200)),
            ("enough", failure(), harmless, 3, hour, RetryDecision::Report),
            ("harmful", failure(), harmful, 1, hour, RetryDecision::Report),
            ("harmful, never sent", Failure { untouched: true, ..failure() }, harmful, 1, hour, again(100)),
            ("no use", Failure { retryable: false, ..failure() }, harmless, 1, hour, RetryDecision::Report),
            ("the server says once", Failure { most: Some(1), ..failure() }, harmless, 2, hour, RetryDecision::Report),
            ("no time", failure(), harmless, 1, millis(100), RetryDecision::Report),
            ("too long", Failure { after: Some(millis(5_001)), ..failure() }, harmless, 1, hour, RetryDecision::Report),
            ("fixed", Failure { spacing: Spacing::Fixed, ..failure() }, harmless, 2, hour, again(100)),
            ("at once", Failure { spacing: Spacing::Immediate, after: None, ..failure() }, harmless, 2, hour, again(0)),
            ("our own wait", Failure { after: None, ..failure() }, harmless, 1, hour, again(200)),
            (
                "another tool in the end",
                Failure { fallback: fallback.clone(), ..failure() },
                harmless,
                3,
                hour,
                RetryDecision::FallBack("other".to_owned()),
            ),
            ("but not before", Failure { fallback: fallback.clone(), ..failure() }, harmless, 1, hour, again(100)),
            (
                "nor where it is of no use",
                Failure { fallback: fallback.clone(), retryable: false, ..failure() },
                harmless,
                3,
                hour,
                RetryDecision::Report,
            ),
            ("nor after an effect", Failure { fallback, ..failure() }, harmful, 3, hour, RetryDecision::Report),
        ] {
            assert_eq!(decide(&policy, &failure, repeating, tries, left, 250), expected, "{name}");
        }
        let off = RetryPolicy { most: 0, ..policy };
        assert_eq!(decide(&off, &failure(), harmless, 1, hour, 0), RetryDecision::Report);
    }

    #[test]
    fn nobody_is_asked_earlier_than_he_said() {
        for chance in 0..1_000 {
            let RetryDecision::Again(wait) =
                decide(&RetryPolicy::default(), &failure(), Repeating::Harmless, 1, millis(10_000), chance)
            else {
                panic!("again")
            };
            assert!(wait >= millis(100) && wait < millis(126), "{wait:?}");
        }
    }

    #[test]
    fn repetitions_are_a_share_of_the_calls() {
        let mut saved = FULL_BUDGET;
        let spend = |saved: &mut u32| spent(*saved).map(|left| *saved = left).is_some();
        assert_eq!((0..100).filter(|_| spend(&mut saved)).count(), 10);
        let repeated = (0..1_000).filter(|_| {
            saved = earned(saved);
            spend(&mut saved)
        });
        assert_eq!(repeated.count(), 200);
    }
}
