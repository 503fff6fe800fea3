//! What an operator says about work over time: `[rates]`, `[breaker]`, `[retry]`, the same of single servers and tools,
//! and how servers are kept up.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::error::ConfigError;
use crate::table::Keys;

const RATES: &[&str] = &["calls", "window_ms", "burst", "concurrent", "quota", "quota_period_ms"];
const OF_ALL: &[&str] = &[
    "calls",
    "window_ms",
    "burst",
    "concurrent",
    "quota",
    "quota_period_ms",
    "principals",
    "parked_calls",
    "notifications_per_second",
];
const BREAKER: &[&str] = &["failures", "open_ms", "open_max_ms"];
const RETRY: &[&str] = &["most", "first_ms", "longest_ms", "fallback"];
/// A day.
const MAX_DURATION_MS: u64 = 86_400_000;

/// How many calls may be made: in a time, in a period, at once. What is absent has no bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rates {
    /// Calls in `window` (`calls`), and how many of them at once after a rest (`burst`).
    pub calls: Option<(u32, Duration, u32)>,
    /// Calls that run at once (`concurrent`).
    pub concurrent: Option<u32>,
    /// Calls in a period (`quota`, `quota_period_ms`).
    pub quota: Option<(u64, Duration)>,
}

/// The `[rates]` section.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RateSettings {
    /// For each principal.
    pub each: Rates,
    /// For these principals instead (`[rates.principals.NAME]`).
    pub principals: BTreeMap<String, Rates>,
    /// Calls of one principal that may wait for input at a time (`parked_calls`).
    pub parked_calls: Option<usize>,
    /// Notifications that one server may send in a second (`notifications_per_second`).
    pub notifications: Option<u32>,
}

/// The `[breaker]` and `[servers.breaker]` sections; absent keys are as usual.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BreakerSettings {
    /// Failures in a row that stop calls to a server for a while; 0 for never (`failures`).
    pub failures: Option<u32>,
    /// How long, the first time (`open_ms`).
    pub open: Option<Duration>,
    /// How long at most (`open_max_ms`).
    pub open_max: Option<Duration>,
}

/// The `[retry]` and `[servers.retry]` sections; absent keys are as usual.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Retry {
    /// How often a call that failed is made again; 0 for never (`most`).
    pub most: Option<u32>,
    /// The first wait, where the failure names none (`first_ms`).
    pub first: Option<Duration>,
    /// The longest wait (`longest_ms`).
    pub longest: Option<Duration>,
    /// Whether a tool that the server names may be tried instead (`fallback`).
    pub fallback: Option<bool>,
}

/// How one server is kept up, and how much it may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FlowEntry {
    /// Time between the request to end and the kill (`stop_timeout_ms`).
    pub stop_timeout: Option<Duration>,
    /// How long calls that run may take when the server is to end (`drain_timeout_ms`).
    pub drain_timeout: Option<Duration>,
    /// How often it is asked whether it lives; zero for never (`health_every_ms`).
    pub health_every: Option<Duration>,
    /// After how long without a call it is put to sleep (`sleep_after_ms`).
    pub sleep_after: Option<Duration>,
    /// Calls to it, of everybody together.
    pub rates: Rates,
    /// When calls to it stop for a while.
    pub breaker: BreakerSettings,
    /// How calls to it are made again.
    pub retry: Retry,
}

pub(crate) fn read_entry(server: &Keys<'_>) -> Result<FlowEntry, ConfigError> {
    let rates = server.section("rates", "[servers.rates]", RATES)?;
    Ok(FlowEntry {
        stop_timeout: server.milliseconds("stop_timeout_ms")?,
        drain_timeout: server.milliseconds("drain_timeout_ms")?,
        health_every: from_zero(server, "health_every_ms")?,
        sleep_after: server.milliseconds("sleep_after_ms")?,
        rates: rates.map(|rates| read_rates(&rates)).transpose()?.unwrap_or_default(),
        breaker: read_breaker(server, "[servers.breaker]")?,
        retry: read_retry(server, "[servers.retry]")?,
    })
}

pub(crate) fn read_settings(top: &Keys<'_>) -> Result<RateSettings, ConfigError> {
    let Some(keys) = top.section("rates", "[rates]", OF_ALL)? else { return Ok(RateSettings::default()) };
    let mut principals = BTreeMap::new();
    if let Some(item) = keys.table.get("principals") {
        let table = item.as_table_like().ok_or_else(|| keys.wrong_type("principals", item, "a table of principals"))?;
        for (name, item) in table.iter() {
            let wrong = || keys.wrong_type(&format!("principals.{name}"), item, "a table");
            let table = item.as_table_like().ok_or_else(wrong)?;
            let of_one = Keys { table, place: "[rates.principals]", known: RATES, ..keys };
            of_one.refuse_unknown()?;
            principals.insert(name.to_owned(), read_rates(&of_one)?);
        }
    }
    let parked = keys.number("parked_calls", 1, 1_000_000)?;
    Ok(RateSettings {
        each: read_rates(&keys)?,
        principals,
        parked_calls: parked.and_then(|count| usize::try_from(count).ok()),
        notifications: small(&keys, "notifications_per_second", 1)?,
    })
}

/// The rates of one tool, of everybody together.
pub(crate) fn read_tool_rates(tool: &Keys<'_>) -> Result<Rates, ConfigError> {
    let rates = tool.section("rates", "[servers.tools]", RATES)?;
    Ok(rates.map(|rates| read_rates(&rates)).transpose()?.unwrap_or_default())
}

fn read_rates(keys: &Keys<'_>) -> Result<Rates, ConfigError> {
    let calls = small(keys, "calls", 1)?;
    let window = keys.milliseconds("window_ms")?;
    let burst = small(keys, "burst", 1)?;
    for key in ["window_ms", "burst"] {
        if calls.is_none() && keys.table.contains_key(key) {
            return Err(keys.bad_value(key, "says nothing without `calls`", "add `calls`, or remove it"));
        }
    }
    let quota = keys.number("quota", 1, 1 << 53)?;
    let period = keys.number("quota_period_ms", 1, MAX_DURATION_MS * 366)?.map(Duration::from_millis);
    if quota.is_none() && period.is_some() {
        return Err(keys.bad_value("quota_period_ms", "says nothing without `quota`", "add `quota`, or remove it"));
    }
    Ok(Rates {
        calls: calls.map(|calls| {
            let window = window.unwrap_or(Duration::from_secs(60));
            (calls, window, burst.unwrap_or(calls))
        }),
        concurrent: small(keys, "concurrent", 1)?,
        quota: quota.map(|quota| (quota, period.unwrap_or(Duration::from_millis(MAX_DURATION_MS)))),
    })
}

pub(crate) fn read_breaker(outer: &Keys<'_>, place: &'static str) -> Result<BreakerSettings, ConfigError> {
    let Some(keys) = outer.section("breaker", place, BREAKER)? else { return Ok(BreakerSettings::default()) };
    Ok(BreakerSettings {
        failures: small(&keys, "failures", 0)?,
        open: keys.milliseconds("open_ms")?,
        open_max: keys.milliseconds("open_max_ms")?,
    })
}

pub(crate) fn read_retry(outer: &Keys<'_>, place: &'static str) -> Result<Retry, ConfigError> {
    let Some(keys) = outer.section("retry", place, RETRY)? else { return Ok(Retry::default()) };
    let most = keys.number("most", 0, 10)?;
    Ok(Retry {
        most: most.and_then(|most| u32::try_from(most).ok()),
        first: keys.milliseconds("first_ms")?,
        longest: keys.milliseconds("longest_ms")?,
        fallback: keys.boolean("fallback")?,
    })
}

/// A time that may be nothing.
pub(crate) fn from_zero(keys: &Keys<'_>, key: &str) -> Result<Option<Duration>, ConfigError> {
    Ok(keys.number(key, 0, MAX_DURATION_MS)?.map(Duration::from_millis))
}

fn small(keys: &Keys<'_>, key: &str, from: u64) -> Result<Option<u32>, ConfigError> {
    Ok(keys.number(key, from, 1_000_000_000)?.and_then(|number| u32::try_from(number).ok()))
}

impl FlowEntry {
    /// The plain keys of a server, to be written back.
    pub(crate) fn keys(&self) -> [(&'static str, Option<String>); 4] {
        // Every member is named, so that a new one is not forgotten; those that are tables stand below.
        let Self { stop_timeout, drain_timeout, health_every, sleep_after, rates: _, breaker: _, retry: _ } = *self;
        [
            ("stop_timeout_ms", millis(stop_timeout)),
            ("drain_timeout_ms", millis(drain_timeout)),
            ("health_every_ms", millis(health_every)),
            ("sleep_after_ms", millis(sleep_after)),
        ]
    }

    /// Its tables, to be written back: those that say something.
    pub(crate) fn tables(&self) -> Vec<(&'static str, Vec<(&'static str, String)>)> {
        let text = |number: Option<u32>| number.map(|number| number.to_string());
        // Here as well: what has no table stands among the plain keys.
        let Self { stop_timeout: _, drain_timeout: _, health_every: _, sleep_after: _, rates, breaker, retry } = self;
        let BreakerSettings { failures, open, open_max } = *breaker;
        let Retry { most, first, longest, fallback } = *retry;
        let breaker = [("failures", text(failures)), ("open_ms", millis(open)), ("open_max_ms", millis(open_max))];
        let retry = [
            ("most", text(most)),
            ("first_ms", millis(first)),
            ("longest_ms", millis(longest)),
            ("fallback", fallback.map(|flag| flag.to_string())),
        ];
        let said = |pairs: Vec<(&'static str, Option<String>)>| -> Vec<_> {
            pairs.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
        };
        let tables = [("rates", rates.keys()), ("breaker", breaker.to_vec()), ("retry", retry.to_vec())];
        let tables = tables.into_iter().map(|(name, pairs)| (name, said(pairs)));
        tables.filter(|(_, pairs)| !pairs.is_empty()).collect()
    }
}

impl Rates {
    fn keys(&self) -> Vec<(&'static str, Option<String>)> {
        vec![
            ("calls", self.calls.map(|(calls, ..)| calls.to_string())),
            ("window_ms", millis(self.calls.map(|(_, window, _)| window))),
            ("burst", self.calls.map(|(.., burst)| burst.to_string())),
            ("concurrent", self.concurrent.map(|most| most.to_string())),
            ("quota", self.quota.map(|(quota, _)| quota.to_string())),
            ("quota_period_ms", millis(self.quota.map(|(_, period)| period))),
        ]
    }

    /// The same as an inline table, to be written back.
    pub(crate) fn written(&self) -> Option<String> {
        let pairs: Vec<_> =
            self.keys().into_iter().filter_map(|(key, value)| Some(format!("{key} = {}", value?))).collect();
        (!pairs.is_empty()).then(|| format!("{{ {} }}", pairs.join(", ")))
    }
}

fn millis(time: Option<Duration>) -> Option<String> {
    time.map(|time| time.as_millis().to_string())
}
