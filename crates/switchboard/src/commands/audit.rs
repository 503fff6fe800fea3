//! `switchboard audit`: read, check, export and keep the log of everything that was done.
//!
//! What only reads opens the store for reading alone, so that it works beside a running kernel and over a log that
//! somebody broke.

pub(crate) mod export;
mod form;
mod server;

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};
use switchboard_config::Config;
use switchboard_store::{AuditFilter, AuditRecord, Head, Store};

use super::operator_session::{OperatorSession, minute};
use super::restore;
use crate::Outcome;
use crate::arguments::{AuditCommand, Common, Prune, Query, Stats, Tail, Verify};
use crate::failure::Failure;
use crate::known::KnownTools;
use crate::screen::{self, Tone};
use crate::setup;
use crate::storage::{LOG_BEGUN_ANEW, open_to_read};
use crate::waiting::Waiting;

/// How often a tail looks for more.
const TAIL_POLL_INTERVAL: Duration = Duration::from_millis(300);
/// The most records that one look takes.
const PAGE: usize = 1_000;
/// The most looks back for records that are worth showing.
const MAX_TAIL_PAGES: usize = 100;

pub(crate) async fn run(common: &Common, command: &AuditCommand) -> Outcome {
    match command {
        AuditCommand::Verify(options) => return verify(common, options).await,
        AuditCommand::Seal => return seal(common).await,
        AuditCommand::Prune(options) => return prune(common, options).await,
        _ => {}
    }
    let loaded = setup::read(common)?;
    let store = open_to_read(&loaded, Vec::new()).await?;
    let outcome = match command {
        AuditCommand::Tail(options) => tail(common, &store, options).await,
        AuditCommand::Query(options) => query(common, &loaded.config, &store, options).await,
        AuditCommand::Export(options) => export::run(common, &store, options).await,
        AuditCommand::Stats(options) => stats(common, &store, options).await,
        AuditCommand::Serve => server::run(store.clone()).await,
        AuditCommand::Verify(_) | AuditCommand::Seal | AuditCommand::Prune(_) => Ok(()),
    };
    let _ = store.close().await;
    outcome
}

fn show(common: &Common, record: &AuditRecord) {
    if common.json {
        screen::json_line(&event_of(record));
    } else {
        screen::out(form::line(record));
    }
}

/// An event as a value; what cannot be read is shown as it stands.
fn event_of(record: &AuditRecord) -> Value {
    serde_json::from_str(&record.event).unwrap_or_else(|_| json!({"seq": record.seq, "unreadable": record.event}))
}

async fn tail(common: &Common, store: &Store, options: &Tail) -> Outcome {
    // Programs are given everything.
    let all = options.all || common.json;
    let mut last = store.audit().end().await?.seq;
    let (records, passed_over) = newest(store, options.lines, all, last).await?;
    records.iter().for_each(|record| show(common, record));
    if passed_over > 0 {
        screen::note(format_args!(
            "{passed_over} events of servers that came up or ended are left out; --all shows them"
        ));
    }
    if !options.follow {
        return Ok(());
    }
    loop {
        let filter = AuditFilter { after: Some(last), ..AuditFilter::default() };
        for record in store.audit().query(&filter, PAGE).await? {
            if all || !form::is_routine(&record) {
                show(common, &record);
            }
            last = record.seq;
        }
        tokio::time::sleep(TAIL_POLL_INTERVAL).await;
    }
}

/// The newest records up to a place, the oldest of them first, and how many were passed over between them.
async fn newest(
    store: &Store,
    count: usize,
    all: bool,
    mut through: u64,
) -> Result<(Vec<AuditRecord>, usize), Failure> {
    let (mut found, mut passed_over) = (Vec::new(), 0);
    for _ in 0..MAX_TAIL_PAGES {
        let filter = AuditFilter { newest_first: true, through: Some(through), ..AuditFilter::default() };
        let page = store.audit().query(&filter, PAGE).await?;
        let (is_last, end) = (page.len() < PAGE, page.last().map_or(0, |record| record.seq));
        for record in page {
            if found.len() == count {
                break;
            }
            match all || !form::is_routine(&record) {
                true => found.push(record),
                false => passed_over += 1,
            }
        }
        if is_last || found.len() == count || end <= 1 {
            break;
        }
        through = end - 1;
    }
    found.reverse();
    Ok((found, passed_over))
}

/// The log has the server's own name of a tool; a person may write it as clients see it.
/// It has the server's id, and a person may name a server by its alias.
async fn meant(config: &Config, store: &Store, filter: AuditFilter) -> Result<AuditFilter, Failure> {
    let named = filter.server.as_deref().and_then(|name| setup::server_named(config, name));
    let filter = match named.map(|server| server.id().to_owned()) {
        Some(id) => AuditFilter { server: Some(id), ..filter },
        None => filter,
    };
    let Some(tool) = &filter.tool else { return Ok(filter) };
    let known = KnownTools::read(store).await?;
    let mut found = known.called(config, tool);
    found.retain(|(server, _)| filter.server.as_deref().is_none_or(|wanted| wanted == *server));
    let [(server, own)] = found[..] else { return Ok(filter) };
    // The server's own name may be that of a server which is gone, too.
    if own == tool {
        return Ok(filter);
    }
    Ok(AuditFilter { server: Some(server.to_owned()), tool: Some(own.to_owned()), ..filter })
}

async fn query(common: &Common, config: &Config, store: &Store, options: &Query) -> Outcome {
    let filter = meant(config, store, form::filter(&options.chosen, Timestamp::now())?).await?;
    let filter = AuditFilter { newest_first: true, ..filter };
    let limit = usize::try_from(options.limit).unwrap_or(usize::MAX);
    let mut records = store.audit().query(&filter, limit).await?;
    records.reverse();
    if common.json {
        let events: Vec<Value> = records.iter().filter_map(|record| serde_json::from_str(&record.event).ok()).collect();
        screen::json(&json!({"events": events}));
    } else {
        records.iter().for_each(|record| show(common, record));
        if records.len() == limit {
            screen::note(format_args!("the newest {limit}; there may be more: --limit, --until"));
        }
    }
    Ok(())
}

async fn verify(common: &Common, options: &Verify) -> Outcome {
    let heads = heads(options)?;
    // Whoever handed a head in vouches for its key: a folder that was swapped, key and all, must still fit it.
    let mut keys: Vec<String> = heads.iter().map(|head| head.key.clone()).collect();
    keys.dedup();
    let loaded = setup::read(common)?;
    let store = open_to_read(&loaded, keys).await?;
    let waiting = Waiting::begin("reading the whole log");
    let report = store.audit().verify(&heads).await.map_err(Failure::from);
    drop(waiting);
    let anew = AuditFilter { event_types: vec![LOG_BEGUN_ANEW.to_owned()], ..AuditFilter::default() };
    let anew = store.audit().query(&anew, PAGE).await.unwrap_or_default();
    let key = store.audit_key().to_owned();
    let mut breaks = Vec::new();
    for restored in report.iter().flat_map(|report| &report.restores) {
        breaks.push((*restored, restore::acceptance(&store, restored).await.unwrap_or_default()));
    }
    let _ = store.close().await;
    let report = report?;
    if common.json {
        screen::json(&json!({
            "whole": report.is_whole(),
            "first": report.first,
            "last": report.last,
            "records": report.records,
            "heads": report.heads,
            "unsealed": report.unsealed,
            "key": key,
            "restores": breaks.iter().map(|(restored, accepted)| json!({
                "from": restored.from,
                "reached": restored.reached,
                "continues_after": restored.seq,
                "accepted_at": restored.time.to_string(),
                "accepted_by": accepted.as_ref().map(|accepted| &accepted.by),
                "reason": accepted.as_ref().and_then(|accepted| accepted.reason.as_deref()),
            })).collect::<Vec<_>>(),
            "begun_anew": anew.iter().map(|record| record.seq).collect::<Vec<_>>(),
            "breach": report.breach.as_ref().map(|breach| json!({"seq": breach.seq, "why": breach.to_string()})),
        }));
    } else if report.is_whole() {
        let whole = screen::toned("the log is whole", Tone::Good);
        screen::out(format_args!(
            "{whole}: {} records (up to {}), {} signed heads agree, {} records after the last one",
            report.records, report.last, report.heads, report.unsealed
        ));
        for (restored, accepted) in &breaks {
            screen::out(restore::told(restored, accepted.as_ref()));
        }
        if let Some(record) = anew.last() {
            screen::note(format_args!(
                "warning: at record {} a new log was begun beside the key of an earlier one: that log was moved or removed",
                record.seq
            ));
        }
        if heads.is_empty() {
            screen::out("an older copy of the whole folder would look the same; heads kept elsewhere tell: see --help");
        }
    }
    match &report.breach {
        Some(_) if common.json => Err(Failure::said()),
        Some(breach) => Err(Failure::failed(format!("the log was touched: {breach}"))),
        None => Ok(()),
    }
}

/// The heads that somebody kept elsewhere.
fn heads(options: &Verify) -> Result<Vec<Head>, Failure> {
    let mut heads = Vec::new();
    for path in &options.head {
        let text = std::fs::read_to_string(path)
            .map_err(|error| Failure::usage(format!("{} cannot be read: {error}", path.display())))?;
        let before = heads.len();
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let head = Head::parse(line).filter(Head::is_genuine).ok_or_else(|| {
                let place = format!("{}:{}", path.display(), number + 1);
                Failure::usage(format!("{place}: this is no signed head as `switchboard audit seal` prints it"))
            })?;
            heads.push(head);
        }
        if heads.len() == before {
            return Err(Failure::usage(format!("{} holds no head", path.display())));
        }
    }
    Ok(heads)
}

async fn seal(common: &Common) -> Outcome {
    let desk = OperatorSession::open(common).await?;
    let head = desk.office.store().audit().seal(Timestamp::now()).await.map_err(Failure::from);
    desk.close().await;
    let line = head?.line();
    if common.json {
        let head: Value = serde_json::from_str(&line).unwrap_or_default();
        screen::json(&json!({"head": head, "line": line}));
        return Ok(());
    }
    screen::out(line);
    screen::note("keep this line on another machine; `switchboard audit verify --head FILE` checks the log against it");
    Ok(())
}

async fn prune(common: &Common, options: &Prune) -> Outcome {
    let until = options.before.past(Timestamp::now())?;
    let desk = OperatorSession::open(common).await?;
    let outcome = prune_before(common, options, &desk, until).await;
    desk.close().await;
    outcome
}

async fn prune_before(common: &Common, options: &Prune, desk: &OperatorSession, until: Timestamp) -> Outcome {
    let log = desk.office.store().audit();
    let old = AuditFilter { until: Some(until), ..AuditFilter::default() };
    let counts = log.count(&old, switchboard_store::Group::Result).await?;
    let count: u64 = counts.iter().map(|(_, count)| count).sum();
    if count == 0 {
        if common.json {
            screen::json(&json!({"removed_through": null}));
        } else {
            screen::out(format_args!("nothing is older than {}", minute(until)));
        }
        return Ok(());
    }
    if !options.yes {
        if !screen::can_ask() {
            return Err(Failure::usage("nothing was removed: there is no terminal to ask on; say --yes"));
        }
        let question = format!("Remove up to {count} events before {} for good?", minute(until));
        if !screen::confirmed(&question) {
            screen::out("nothing was removed");
            return Ok(());
        }
    }
    let head = desk.office.prune_audit(until).await?;
    let through = head.map(|head| head.seq);
    if common.json {
        screen::json(&json!({"removed_through": through}));
    } else {
        match through {
            Some(seq) => screen::out(format_args!("removed everything up to record {seq}; the rest can be verified")),
            None => screen::out("nothing was removed: an older event stands behind a younger one"),
        }
    }
    Ok(())
}

async fn stats(common: &Common, store: &Store, options: &Stats) -> Outcome {
    let filter = form::filter(&options.chosen, Timestamp::now())?;
    let counted = form::count(store, &filter, options.by).await?;
    if common.json {
        screen::json(&form::stats_json(&filter, &counted));
        return Ok(());
    }
    let total: u64 = counted.iter().map(|(_, count)| count).sum();
    let mut rows: Vec<Vec<String>> = counted
        .iter()
        .map(|(key, count)| {
            vec![count.to_string(), super::operator_session::cell(if key.is_empty() { "-" } else { key })]
        })
        .collect();
    rows.push(vec![total.to_string(), "in all".to_owned()]);
    screen::out(screen::table(&rows).trim_end());
    Ok(())
}
