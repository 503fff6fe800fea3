//! The servers of kernels that run: how they are from moment to moment, and orders to them.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use switchboard_kernel::{Latency, SERVERS_LIST, SERVERS_ORDER};

use crate::Outcome;
use crate::arguments::{Common, Order, ServerOrder, Servers};
use crate::control::Running;
use crate::failure::Failure;
use crate::local::{raw, refused};
use crate::screen::{self, Tone};
use crate::setup;
use crate::waiting::MOMENT;

/// How often an order is looked after.
const ORDER_POLL_INTERVAL: Duration = Duration::from_millis(50);
/// What an order may take beyond the time for draining.
const BEYOND: Duration = Duration::from_secs(30);
/// How often it is said again that an order is not carried out yet.
const AGAIN: Duration = Duration::from_secs(5);
/// After so many failed starts it is said that a server does not come up, though it is tried again.
const FAILED_STARTS: u64 = 2;
/// Characters of a reason in the table; `--json` has all of it.
const BRIEF: usize = 60;
/// The same where it is said alone.
const LONG: usize = 240;

/// Counters of one server at one look.
#[derive(Debug, Clone, Default)]
struct Earlier {
    calls: u64,
    errors: u64,
    latency: Vec<u64>,
}

/// Shows the servers again and again.
pub(super) async fn watch(common: &Common, options: &Servers) -> Outcome {
    let loaded = setup::read(common)?;
    let redraw = std::io::stdout().is_terminal() && !common.json;
    let mut earlier: HashMap<(u32, String), Earlier> = HashMap::new();
    let mut looks = 0;
    loop {
        let began = Instant::now();
        let seen = look(&loaded.data_dir).await;
        if seen.is_empty() && looks == 0 && options.count.is_some() {
            return Err(no_kernel(&loaded.data_dir));
        }
        if common.json {
            let kernels: Vec<_> = seen
                .iter()
                .map(|(process, answer)| json!({"process": process, "servers": answer["servers"]}))
                .collect();
            screen::json_line(&json!({"kernels": kernels}));
        } else {
            let mut text = String::new();
            if redraw {
                // Home, and nothing below.
                text.push_str("\u{1b}[H\u{1b}[J");
            }
            let _ = write!(text, "{}", table(&seen, &mut earlier, options.every));
            screen::out(text.trim_end());
        }
        looks += 1;
        if options.count.is_some_and(|count| looks >= count) {
            return Ok(());
        }
        tokio::time::sleep(options.every.saturating_sub(began.elapsed())).await;
    }
}

/// What each kernel says of its servers.
async fn look(data_dir: &std::path::Path) -> Vec<(u32, Value)> {
    let mut seen = Vec::new();
    for kernel in Running::all(data_dir).await {
        if let Ok(Ok(answer)) = kernel.ask(SERVERS_LIST, raw(&json!({}))).await {
            seen.push((kernel.process, answer.view().unwrap_or(Value::Null)));
        }
    }
    seen
}

fn no_kernel(data_dir: &std::path::Path) -> Failure {
    Failure::failed(format!(
        "no kernel runs with the data folder {}; start one with `switchboard serve`",
        data_dir.display()
    ))
}

fn table(seen: &[(u32, Value)], earlier: &mut HashMap<(u32, String), Earlier>, every: Duration) -> String {
    if seen.is_empty() {
        return "no kernel runs; start one with `switchboard serve`\n".to_owned();
    }
    let head =
        ["KERNEL", "SERVER", "STATE", "UP", "RESTARTS", "RUNNING", "CALLS/S", "ERRORS", "P50", "P99", "BREAKER", "WHY"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    let mut now = HashMap::new();
    for (process, answer) in seen {
        for server in answer["servers"].as_array().into_iter().flatten() {
            let id = server["id"].as_str().unwrap_or_default().to_owned();
            let counts = Earlier {
                calls: server["calls"].as_u64().unwrap_or_default(),
                errors: server["errors"].as_u64().unwrap_or_default(),
                latency: server["latency_counts"].as_array().into_iter().flatten().filter_map(Value::as_u64).collect(),
            };
            let key = (*process, id);
            rows.push(row(*process, &key.1, server, &counts, earlier.get(&key), every));
            now.insert(key, counts);
        }
    }
    *earlier = now;
    screen::table(&rows)
}

fn row(
    process: u32,
    id: &str,
    server: &Value,
    counts: &Earlier,
    before: Option<&Earlier>,
    every: Duration,
) -> Vec<String> {
    let state = server["state"].as_str().unwrap_or("?");
    let asleep = server["asleep"].as_bool().unwrap_or_default();
    let tone = match state {
        "connected" => Tone::Good,
        "error" => Tone::Bad,
        _ => Tone::Doubtful,
    };
    // What happened since the last look, or altogether at the first one.
    let latency = Latency::from(counts.latency.clone());
    let latency = before.map_or_else(|| latency.clone(), |before| latency.since(&before.latency));
    let millis = |share| {
        let time = latency.quantile(share);
        time.map_or_else(|| "-".to_owned(), |time| format!("{:.1} ms", time.as_secs_f64() * 1_000.0))
    };
    let rate = before.map_or_else(
        || "-".to_owned(),
        |before| {
            let calls = counts.calls.saturating_sub(before.calls);
            #[expect(clippy::cast_precision_loss, reason = "a number for people")]
            let rate = calls as f64 / every.as_secs_f64().max(0.001);
            format!("{rate:.0}")
        },
    );
    let why = server["why"].as_str().or_else(|| server["last_error"].as_str()).unwrap_or_default();
    let number = |key: &str| server[key].as_u64().unwrap_or_default();
    vec![
        process.to_string(),
        screen::plain_line(id),
        screen::toned(if asleep { "asleep" } else { state }, tone),
        span(number("uptime_secs")),
        number("restarts").to_string(),
        number("pending").to_string(),
        rate,
        counts.errors.to_string(),
        millis(0.5),
        millis(0.99),
        screen::plain_line(server["breaker"].as_str().unwrap_or("-")),
        screen::brief(why, BRIEF),
    ]
}

fn span(seconds: u64) -> String {
    match seconds {
        0..=119 => format!("{seconds} s"),
        120..=7_199 => format!("{} min", seconds / 60),
        7_200..=172_799 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// Gives an order to every kernel that has the server, and waits until it is carried out.
pub(super) async fn order(common: &Common, order: &Order, what: &ServerOrder) -> Outcome {
    let loaded = setup::read(common)?;
    let word = order.word();
    let mut params = json!({"server_id": what.server, "order": word});
    let limits = &loaded.config.settings.limits;
    let drain = what.timeout.unwrap_or(limits.drain_timeout);
    if let Some(timeout) = what.timeout {
        params["timeout_ms"] = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX).into();
    }
    let kernels = Running::all(&loaded.data_dir).await;
    if kernels.is_empty() {
        return Err(no_kernel(&loaded.data_dir));
    }
    let mut done = Vec::new();
    let (mut refusal, mut reason) = (None, None);
    for kernel in &kernels {
        let began = Instant::now();
        match kernel.ask(SERVERS_ORDER, raw(&params)).await? {
            Ok(_) => {
                let (state, why) = carried_out(kernel, order, &what.server, began, drain + BEYOND).await?;
                if state != order.goal() {
                    reason = why.or(reason);
                }
                done.push(json!({"process": kernel.process, "server": what.server, "order": word, "state": state}));
                if common.json {
                    continue;
                }
                screen::note(format_args!(
                    "process {}: {} is {state}",
                    kernel.process,
                    screen::plain_line(&what.server)
                ));
            }
            Err(error) => refusal = Some(error),
        }
    }
    if let (true, Some(error)) = (done.is_empty(), refusal) {
        return Err(refused(&error));
    }
    let failed = done.iter().any(|one| one["state"] != order.goal());
    if common.json {
        screen::json(&json!({"orders": done}));
    }
    if !failed {
        return Ok(());
    }
    let why = reason.map(|why| format!(": {why}\n`switchboard doctor` tells more")).unwrap_or_default();
    Err(Failure::failed(format!("not every kernel has carried out `{word}`{why}")))
}

/// What is said of a server that is not yet where the order wants it.
fn still(process: u32, id: &str, server: &Value, elapsed: Duration) -> String {
    let state = screen::plain_line(server["state"].as_str().unwrap_or("?"));
    let calls = match server["pending"].as_u64().unwrap_or_default() {
        0 => String::new(),
        1 => ", 1 call runs".to_owned(),
        calls => format!(", {calls} calls run"),
    };
    let why = why_not(server).map(|why| format!(": {why}")).unwrap_or_default();
    format!("process {process}: {} is {state}{calls} ({} s){why}", screen::plain_line(id), elapsed.as_secs())
}

/// Why a server is not there.
fn why_not(server: &Value) -> Option<String> {
    let said =
        server["why"].as_str().or_else(|| server["last_error"].as_str().filter(|_| server["state"] != "connected"));
    said.filter(|why| !why.is_empty()).map(|why| screen::brief(why, LONG))
}

/// Waits until a server is where the order wants it; where it is then, and why.
async fn carried_out(
    kernel: &Running,
    order: &Order,
    id: &str,
    began: Instant,
    patience: Duration,
) -> Result<(String, Option<String>), Failure> {
    let (mut state, mut why) = (String::new(), None);
    let mut told: Option<Duration> = None;
    let mut restarts_at_first = None;
    while began.elapsed() < patience {
        tokio::time::sleep(ORDER_POLL_INTERVAL).await;
        let answer = kernel.ask(SERVERS_LIST, raw(&json!({}))).await?.map_err(|error| refused(&error))?;
        let answer: Value = answer.view().unwrap_or(Value::Null);
        let servers = answer["servers"].as_array().cloned().unwrap_or_default();
        let Some(server) = servers.into_iter().find(|server| server["id"] == id) else { break };
        state = server["state"].as_str().unwrap_or_default().to_owned();
        why = why_not(&server);
        // A server that is to be started again was up before: what counts is that it came up since.
        let fresh = server["uptime_ms"].as_u64().is_none_or(|up| Duration::from_millis(up) <= began.elapsed());
        let there = state == order.goal() && (!matches!(order, Order::Restart(_)) || fresh);
        let restarts = server["restarts"].as_u64().unwrap_or_default();
        let failed = restarts.saturating_sub(*restarts_at_first.get_or_insert(restarts));
        // One that ends as soon as it is started will not come up by waiting, and it has said why.
        if there || state == "error" || failed >= FAILED_STARTS && why.is_some() {
            break;
        }
        let elapsed = began.elapsed();
        if elapsed >= told.map_or(MOMENT, |told| told + AGAIN) {
            told = Some(elapsed);
            screen::note(still(kernel.process, id, &server, elapsed));
        }
    }
    Ok((state, why))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_that_takes_a_while_says_how_far_it_is() {
        let at = Duration::from_secs(3);
        for (server, expected) in [
            (json!({"state": "draining", "pending": 2}), "process 7: git is draining, 2 calls run (3 s)"),
            (json!({"state": "draining", "pending": 1}), "process 7: git is draining, 1 call runs (3 s)"),
            (json!({"state": "connecting"}), "process 7: git is connecting (3 s)"),
            (
                json!({"state": "connecting", "last_error": "the process ended: AttributeError"}),
                "process 7: git is connecting (3 s): the process ended: AttributeError",
            ),
        ] {
            assert_eq!(still(7, "git", &server, at), expected);
        }
    }
}
