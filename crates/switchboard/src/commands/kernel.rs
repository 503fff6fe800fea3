//! `switchboard kernel`: which kernels run, which changed settings they do not have yet, and the end of the one that clients share.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_config::{Limits, Loaded};
use tokio::time::Instant;

use crate::Outcome;
use crate::arguments::{Common, KernelCommand};
use crate::attach::is_alive;
use crate::control::{KernelKind, KernelState, Running};
use crate::failure::Failure;
use crate::screen;
use crate::setup;
use crate::waiting::Waiting;

/// How often it is looked whether a kernel has ended, and whether another is there.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// What the end of a kernel may take beyond its calls and servers.
const BEYOND: Duration = Duration::from_secs(10);
/// How long clients may take to start another kernel.
const NEXT_KERNEL: Duration = Duration::from_secs(15);

pub(crate) async fn run(common: &Common, command: Option<KernelCommand>) -> Outcome {
    let loaded = setup::read(common)?;
    match command {
        None | Some(KernelCommand::Status | KernelCommand::Run) => status(common, &loaded).await,
        Some(KernelCommand::Stop) => end(common, &loaded, Wish::Stop).await,
        Some(KernelCommand::Restart) => end(common, &loaded, Wish::Restart).await,
    }
}

/// What is wanted of the kernel that clients share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wish {
    Stop,
    Restart,
}

async fn status(common: &Common, loaded: &Loaded) -> Outcome {
    let mut seen = Vec::new();
    for kernel in Running::all(&loaded.data_dir).await {
        let later = kernel.next_start().await;
        seen.push((kernel.process, kernel.state().await, later));
    }
    if common.json {
        let kernels: Vec<Value> =
            seen.iter().map(|(process, state, later)| told(*process, state.as_ref(), later)).collect();
        screen::json(&json!({"kernels": kernels}));
        return Ok(());
    }
    if seen.is_empty() {
        screen::out(
            "no kernel runs; the next client of `switchboard stdio` starts one, and so does `switchboard serve`",
        );
        return Ok(());
    }
    for (process, state, later) in &seen {
        screen::out(line(*process, state.as_ref()));
        if !later.is_empty() {
            let keys = screen::plain_line(&later.join(", "));
            let next = to_take_effect(state.as_ref().map(|state| state.kind));
            screen::out(format_args!("  it does not have yet what was changed in: {keys}; {next}"));
        }
    }
    Ok(())
}

fn told(process: u32, state: Option<&KernelState>, later: &[String]) -> Value {
    json!({
        "process": process,
        "kind": state.map(|state| state.kind.word()),
        "version": state.map(|state| &state.version),
        "clients": state.map(|state| state.clients),
        "uptime_secs": state.map(|state| state.uptime.as_secs()),
        "address": state.and_then(|state| state.address.as_ref()),
        "next_start": later,
    })
}

/// One kernel on one line.
fn line(process: u32, state: Option<&KernelState>) -> String {
    let Some(state) = state else {
        return format!("process {process}: a kernel of another version, which says nothing of itself");
    };
    let clients = match state.clients {
        1 => "1 client of `stdio`".to_owned(),
        clients => format!("{clients} clients of `stdio`"),
    };
    let what = match state.kind {
        KernelKind::Shared => "the kernel that clients share".to_owned(),
        KernelKind::Serve => {
            format!("`serve` on {}", state.address.as_deref().map_or_else(|| "?".to_owned(), screen::plain_line))
        }
        KernelKind::Own => return format!("process {process}: one client's own kernel; up for {}", up(state.uptime)),
    };
    format!("process {process}: {what}; {clients}; up for {}", up(state.uptime))
}

fn up(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..=119 => format!("{seconds} s"),
        seconds @ 120..=7_199 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3_600),
    }
}

/// What to do so that a kernel has the settings that wait for its next start.
pub(crate) const fn to_take_effect(kind: Option<KernelKind>) -> &'static str {
    match kind {
        Some(KernelKind::Shared) => "`switchboard kernel restart` starts it again with them",
        Some(KernelKind::Serve) => "end `switchboard serve` and start it again to use them",
        Some(KernelKind::Own) => "start that client again to use them",
        None => "end that kernel and start it again to use them",
    }
}

/// Ends every kernel that clients share, and says what became of each.
async fn end(common: &Common, loaded: &Loaded, wish: Wish) -> Outcome {
    let kernels = Running::all(&loaded.data_dir).await;
    let before: Vec<u32> = kernels.iter().map(|kernel| kernel.process).collect();
    let (mut ended, mut stays) = (Vec::new(), Vec::new());
    for kernel in &kernels {
        match kernel.state().await {
            Some(state) if state.kind == KernelKind::Shared => {
                ended.push(end_one(common, loaded, (kernel, &before), &state, wish).await?);
            }
            state => stays.push(line(kernel.process, state.as_ref())),
        }
    }
    for line in &stays {
        screen::note(format_args!("{line}: it stays, end it where it was started"));
    }
    if ended.is_empty() {
        let there = if stays.is_empty() { "no kernel runs" } else { "no kernel that clients share runs" };
        return Err(Failure::failed(format!("{there} with the data folder {}", loaded.data_dir.display())));
    }
    if common.json {
        screen::json(&json!({"ended": ended}));
    }
    Ok(())
}

async fn end_one(
    common: &Common,
    loaded: &Loaded,
    (kernel, before): (&Running, &[u32]),
    state: &KernelState,
    wish: Wish,
) -> Result<Value, Failure> {
    let process = kernel.process;
    if wish == Wish::Stop && state.clients > 0 {
        return Err(Failure::failed(format!(
            "process {process} has {}, which would start another kernel at once: end the clients first, or run `{}`",
            if state.clients == 1 { "a client".to_owned() } else { format!("{} clients", state.clients) },
            common.again("kernel restart"),
        )));
    }
    if !kernel.end().await? {
        return Err(Failure::failed(format!("the kernel of process {process} does not take this order")));
    }
    let Limits { shutdown_grace, stop_timeout, .. } = loaded.config.settings.limits;
    {
        let _waiting = Waiting::begin(format!("waiting until process {process} has finished what runs, and has ended"));
        if !until(shutdown_grace + stop_timeout + BEYOND, || !is_alive(process)).await {
            return Err(Failure::failed(format!(
                "process {process} has not ended in time; `kill {process}` ends it at once"
            )));
        }
    }
    let next = if state.clients > 0 { next_kernel(&loaded.data_dir, before).await } else { None };
    if !common.json {
        screen::out(match (state.clients, next) {
            (0, _) => {
                format!("process {process} has ended; the next client starts a kernel with the files as they are then")
            }
            (_, Some(next)) => format!(
                "process {process} has ended; its clients go on at process {next}, with the configuration as it is now"
            ),
            (_, None) => format!(
                "process {process} has ended; its clients have not started another kernel within {} s, and do so with their next \
                 message",
                NEXT_KERNEL.as_secs()
            ),
        });
    }
    Ok(json!({"process": process, "clients": state.clients, "next": next}))
}

/// The kernel that clients go on at: none of those that ran before.
async fn next_kernel(data_dir: &Path, before: &[u32]) -> Option<u32> {
    let _waiting = Waiting::begin("waiting for the next kernel");
    let deadline = Instant::now() + NEXT_KERNEL;
    while Instant::now() < deadline {
        for kernel in Running::all(data_dir).await.into_iter().filter(|kernel| !before.contains(&kernel.process)) {
            if kernel.state().await.is_some_and(|state| state.clients > 0) {
                return Some(kernel.process);
            }
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    None
}

async fn until(patience: Duration, holds: impl Fn() -> bool) -> bool {
    let deadline = Instant::now() + patience;
    while !holds() {
        if Instant::now() > deadline {
            return false;
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_says_what_it_is_for() {
        let state = |kind, clients, address: Option<&str>| KernelState {
            kind,
            version: "0.1.0".to_owned(),
            clients,
            uptime: Duration::from_secs(130),
            address: address.map(str::to_owned),
        };
        for (state, expected) in [
            (
                state(KernelKind::Shared, 2, None),
                "process 7: the kernel that clients share; 2 clients of `stdio`; up for 2 min",
            ),
            (
                state(KernelKind::Serve, 1, Some("127.0.0.1:7420")),
                "process 7: `serve` on 127.0.0.1:7420; 1 client of `stdio`; up for 2 min",
            ),
            (state(KernelKind::Own, 0, None), "process 7: one client's own kernel; up for 2 min"),
        ] {
            assert_eq!(line(7, Some(&state)), expected);
        }
        assert!(line(7, None).contains("another version"));
    }
}
