//! How much of something may be used: calls in a time (GCRA), calls in a period (a quota), calls at once.
//!
//! Decides whether one more may begin, and when it is worth asking again. It does not know what is counted: the caller
//! gives each counter a key. Counters are bounded in number; one that says nothing any more is dropped first.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::Duration;

/// So many in that time, evenly, with so many at once after a rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// How many. At least one.
    pub count: u32,
    /// In that time.
    pub window: Duration,
    /// How many may come at once. At least one.
    pub burst: u32,
}

impl Rate {
    /// The time that one takes up.
    fn interval(&self) -> Duration {
        self.window / self.count.max(1)
    }

    /// How far ahead of its time a caller may be.
    fn tolerance(&self) -> Duration {
        self.interval().saturating_mul(self.burst.max(1) - 1)
    }
}

/// So many in each period, however they are spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    /// How many.
    pub count: u64,
    /// How long the period is. It begins with the first.
    pub period: Duration,
}

/// What one counter is held to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Allowance {
    /// Calls in a time.
    pub rate: Option<Rate>,
    /// Calls in a period.
    pub quota: Option<Quota>,
    /// Calls at once.
    pub concurrent: Option<u32>,
}

impl Allowance {
    /// Whether it holds to anything.
    #[must_use]
    pub const fn is_unlimited(&self) -> bool {
        self.rate.is_none() && self.quota.is_none() && self.concurrent.is_none()
    }
}

/// What was exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exceeded {
    /// Calls in a time.
    Rate {
        /// The rate.
        rate: Rate,
        /// When there is room for one more.
        after: Duration,
    },
    /// Calls in a period.
    Quota {
        /// The quota.
        quota: Quota,
        /// When the next period begins.
        after: Duration,
    },
    /// Calls at once.
    Concurrent {
        /// How many there may be.
        most: u32,
    },
    /// There are too many counters.
    Counters,
}

/// What is left of an allowance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Left {
    /// How many more may come now.
    pub remaining: u64,
    /// In which time there will be as many as ever.
    pub after: Duration,
}

/// What is remembered of a rate (GCRA): when the caller would be on time again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Bucket {
    due: Duration,
}

impl Bucket {
    /// Whether one more may come; else how long until one may.
    fn check(self, rate: &Rate, now: Duration) -> Result<(), Duration> {
        let early = self.due.saturating_sub(now);
        early.checked_sub(rate.tolerance()).filter(|over| !over.is_zero()).map_or(Ok(()), Err)
    }

    fn add(&mut self, rate: &Rate, now: Duration) {
        self.due = self.due.max(now) + rate.interval();
    }

    /// One that was taken was none.
    fn give_back(&mut self, rate: &Rate) {
        self.due = self.due.saturating_sub(rate.interval());
    }

    /// Takes one, if it may come now.
    ///
    /// # Errors
    /// How long until one may.
    pub fn take(&mut self, rate: &Rate, now: Duration) -> Result<(), Duration> {
        self.check(rate, now)?;
        self.add(rate, now);
        Ok(())
    }
}

/// One counter.
#[derive(Debug, Clone, Copy, Default)]
struct Meter {
    bucket: Bucket,
    period_began: Duration,
    used: u64,
    running: u32,
}

impl Meter {
    fn check(&self, allowance: &Allowance, now: Duration) -> Result<(), Exceeded> {
        if let Some(most) = allowance.concurrent
            && self.running >= most
        {
            return Err(Exceeded::Concurrent { most });
        }
        if let Some(quota) = allowance.quota
            && self.used >= quota.count
            && now.saturating_sub(self.period_began) < quota.period
        {
            let after = (self.period_began + quota.period).saturating_sub(now);
            return Err(Exceeded::Quota { quota, after });
        }
        match allowance.rate {
            Some(rate) => self.bucket.check(&rate, now).map_err(|after| Exceeded::Rate { rate, after }),
            None => Ok(()),
        }
    }

    fn take(&mut self, allowance: &Allowance, now: Duration) {
        if let Some(rate) = allowance.rate {
            self.bucket.add(&rate, now);
        }
        if let Some(quota) = allowance.quota {
            if self.used == 0 || now.saturating_sub(self.period_began) >= quota.period {
                (self.period_began, self.used) = (now, 0);
            }
            self.used += 1;
        }
        if allowance.concurrent.is_some() {
            self.running = self.running.saturating_add(1);
        }
    }

    /// How many more may come now, and when there will be more.
    fn left(&self, allowance: &Allowance, now: Duration) -> Option<Left> {
        let by_quota = allowance.quota.map(|quota| {
            let goes_on = self.used > 0 && now.saturating_sub(self.period_began) < quota.period;
            let used = if goes_on { self.used } else { 0 };
            let after = if goes_on { (self.period_began + quota.period).saturating_sub(now) } else { quota.period };
            Left { remaining: quota.count.saturating_sub(used), after }
        });
        let by_rate = allowance.rate.map(|rate| {
            let early = self.bucket.due.saturating_sub(now);
            let interval = rate.interval().max(Duration::from_nanos(1));
            let taken = u64::try_from(early.as_nanos().div_ceil(interval.as_nanos())).unwrap_or(u64::MAX);
            Left { remaining: u64::from(rate.burst.max(1)).saturating_sub(taken), after: early }
        });
        match (by_quota, by_rate) {
            (Some(quota), Some(rate)) if rate.remaining < quota.remaining => Some(rate),
            (quota, rate) => quota.or(rate),
        }
    }

    /// Whether a new counter would say the same.
    fn is_idle(&self, longest: Duration, now: Duration) -> bool {
        self.running == 0
            && self.bucket.due <= now
            && (self.used == 0 || now.saturating_sub(self.period_began) >= longest)
    }
}

/// Many counters.
#[derive(Debug)]
pub struct Meters<K> {
    meters: HashMap<K, Meter>,
    most: usize,
    /// The longest period of any quota that was seen.
    longest: Duration,
}

impl<K: Eq + Hash + Clone> Meters<K> {
    /// No counters yet, and never more than that many.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self { meters: HashMap::new(), most, longest: Duration::ZERO }
    }

    /// Begins a call that is counted under all these keys: under all or, where one is exceeded, under none. The index
    /// of the one that is exceeded comes with what it is.
    ///
    /// # Errors
    /// What is exceeded.
    pub fn begin(&mut self, wanted: &[(K, Allowance)], now: Duration) -> Result<(), (usize, Exceeded)> {
        for (at, (key, allowance)) in wanted.iter().enumerate() {
            let meter = self.meters.get(key).copied().unwrap_or_default();
            meter.check(allowance, now).map_err(|exceeded| (at, exceeded))?;
        }
        for (at, (key, _)) in wanted.iter().enumerate() {
            if !self.meters.contains_key(key) {
                self.make_room(now).map_err(|exceeded| (at, exceeded))?;
                self.meters.insert(key.clone(), Meter::default());
            }
        }
        for (key, allowance) in wanted {
            if let Some(quota) = allowance.quota {
                self.longest = self.longest.max(quota.period);
            }
            if let Some(meter) = self.meters.get_mut(key) {
                meter.take(allowance, now);
            }
        }
        Ok(())
    }

    /// A call that was begun under this key, with a bound on calls at once, has ended.
    pub fn end(&mut self, key: &K) {
        if let Some(meter) = self.meters.get_mut(key) {
            meter.running = meter.running.saturating_sub(1);
        }
    }

    /// A call that was begun under this key is not to count for the rate.
    pub fn give_back(&mut self, key: &K, allowance: &Allowance) {
        if let (Some(meter), Some(rate)) = (self.meters.get_mut(key), &allowance.rate) {
            meter.bucket.give_back(rate);
        }
    }

    /// What is left of an allowance, for who counts under this key; nothing where neither rate nor quota is set.
    #[must_use]
    pub fn left(&self, key: &K, allowance: &Allowance, now: Duration) -> Option<Left> {
        self.meters.get(key).copied().unwrap_or_default().left(allowance, now)
    }

    /// How many counters there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.meters.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.meters.is_empty()
    }

    fn make_room(&mut self, now: Duration) -> Result<(), Exceeded> {
        if self.meters.len() < self.most {
            return Ok(());
        }
        let longest = self.longest;
        self.meters.retain(|_, meter| !meter.is_idle(longest, now));
        if self.meters.len() < self.most { Ok(()) } else { Err(Exceeded::Counters) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn rate(count: u32, window: u64, burst: u32) -> Allowance {
        Allowance { rate: Some(Rate { count, window: at(window), burst }), ..Allowance::default() }
    }

    #[test]
    fn what_is_left() {
        let mut meters = Meters::new(8);
        let quota = Allowance { quota: Some(Quota { count: 3, period: at(10_000) }), ..Allowance::default() };
        let rate = rate(10, 1_000, 2);
        let left = |meters: &Meters<&str>, key, allowance: &Allowance, now: u64| {
            meters.left(&key, allowance, at(now)).map(|left| (left.remaining, left.after))
        };
        assert_eq!(left(&meters, "q", &quota, 0), Some((3, at(10_000))));
        assert_eq!(left(&meters, "none", &Allowance::default(), 0), None);
        for now in [1_000, 2_000] {
            assert!(meters.begin(&[("q", quota)], at(now)).is_ok());
        }
        assert_eq!(left(&meters, "q", &quota, 3_000), Some((1, at(8_000))));
        assert_eq!(left(&meters, "q", &quota, 11_000), Some((3, at(10_000))), "the next period");
        assert!(meters.begin(&[("r", rate)], at(0)).is_ok());
        assert_eq!(left(&meters, "r", &rate, 0), Some((1, at(100))));
        assert_eq!(left(&meters, "r", &rate, 100), Some((2, at(0))));
        let both = Allowance { quota: quota.quota, ..rate };
        assert!(meters.begin(&[("b", both)], at(0)).is_ok());
        assert_eq!(left(&meters, "b", &both, 0), Some((1, at(100))), "the one that has less");
    }

    #[test]
    fn a_rate_lets_its_burst_pass_and_then_one_at_a_time() {
        let mut meters = Meters::new(8);
        let ten_a_second = rate(10, 1_000, 3);
        let mut take = |now| meters.begin(&[("a", ten_a_second)], at(now));
        assert!(take(0).is_ok() && take(0).is_ok() && take(0).is_ok());
        let Err((0, Exceeded::Rate { after, .. })) = take(0) else { panic!("too fast") };
        assert_eq!(after, at(100));
        assert!(take(99).is_err() && take(100).is_ok() && take(100).is_err());
        assert!(take(1_000).is_ok() && take(1_000).is_ok() && take(1_000).is_ok() && take(1_000).is_err());
    }

    #[test]
    fn a_quota_begins_with_the_first_use_and_ends_with_its_period() {
        let mut meters = Meters::new(8);
        let two = Allowance { quota: Some(Quota { count: 2, period: at(1_000) }), ..Allowance::default() };
        let mut take = |now| meters.begin(&[("a", two)], at(now));
        assert!(take(500).is_ok() && take(900).is_ok());
        let Err((0, Exceeded::Quota { after, .. })) = take(1_400) else { panic!("used up") };
        assert_eq!(after, at(100));
        assert!(take(1_500).is_ok() && take(1_500).is_ok() && take(1_500).is_err());
    }

    #[test]
    fn calls_at_once_end() {
        let mut meters = Meters::new(8);
        let one = Allowance { concurrent: Some(1), ..Allowance::default() };
        assert!(meters.begin(&[("a", one)], at(0)).is_ok());
        assert_eq!(meters.begin(&[("a", one)], at(0)), Err((0, Exceeded::Concurrent { most: 1 })));
        assert!(meters.begin(&[("b", one)], at(0)).is_ok(), "others are others");
        meters.end(&"a");
        assert!(meters.begin(&[("a", one)], at(0)).is_ok());
    }

    #[test]
    fn what_is_refused_by_one_counter_is_counted_by_none() {
        let mut meters = Meters::new(8);
        let (one, many) = (rate(1, 1_000, 1), rate(100, 1_000, 2));
        assert!(meters.begin(&[("many", many), ("one", one)], at(0)).is_ok());
        for _ in 0..10 {
            assert!(matches!(meters.begin(&[("many", many), ("one", one)], at(0)), Err((1, _))));
        }
        assert!(meters.begin(&[("many", many)], at(0)).is_ok());
    }

    #[test]
    fn counters_are_bounded_and_idle_ones_make_room() {
        let mut meters = Meters::new(2);
        let slow = rate(1, 1_000, 1);
        assert!(meters.begin(&[("a", slow)], at(0)).is_ok() && meters.begin(&[("b", slow)], at(0)).is_ok());
        assert_eq!(meters.begin(&[("c", slow)], at(500)), Err((0, Exceeded::Counters)), "nobody is forgotten");
        assert!(meters.begin(&[("c", slow)], at(1_000)).is_ok());
        assert_eq!(meters.len(), 1);
    }
}
