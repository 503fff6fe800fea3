//! The guardian itself. It has two threads: one waits for the ends of processes, one for our word.

use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::process::Stdio;
use std::sync::mpsc;
use std::time::Duration;

use rustix::process::{Signal, WaitOptions};
use tokio::io::AsyncReadExt as _;
use tokio::signal::unix::{SignalKind, signal};

use super::line::{Report, TERM};
use crate::child::running::Start;
use crate::child::{pre_exec, tree};
use crate::handover;

/// How long processes that cannot be ended are tried to be ended.
const GIVE_UP: Duration = Duration::from_secs(10);
/// Between two looks for processes that are left.
const REAP_POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Runs a guardian: gets an order over its standard input, starts what it names, and stays until nothing is left of it.
///
/// # Errors
/// The standard input is no socket of ours, or the order cannot be followed. Whoever gave it was told as well.
pub fn run() -> io::Result<()> {
    let mut control = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let Some((order, streams)) = handover::receive(&mut control)? else { return Ok(()) };
    let order: Start = serde_json::from_slice(&order)?;
    let Ok([input, output, errors]) = <[_; 3]>::try_from(streams) else {
        return Err(io::Error::other("there are no streams for the server"));
    };
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    listen(control.try_clone()?)?;

    let mut command = order.command();
    command.stdin(Stdio::from(input)).stdout(Stdio::from(output)).stderr(Stdio::from(errors));
    pre_exec::prepare(&mut command);
    let leader = match command.spawn() {
        Ok(leader) => leader.id(),
        Err(error) => {
            let code = error.raw_os_error().unwrap_or(libc::ENOENT);
            return report(&mut control, Report::NotStarted { code });
        }
    };
    // Our copies of the server's streams must not keep them open.
    drop(command);
    report(&mut control, Report::Started { pid: leader })?;
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid.as_raw_pid().unsigned_abs() == leader => {
                // Nobody is left to hear it if this fails; then the other thread ends everything.
                let _unheard = report(&mut control, Report::Ended { status: status.as_raw() });
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            // Nobody is left.
            Err(_) => return Ok(()),
        }
    }
}

fn report(control: &mut UnixStream, report: Report) -> io::Result<()> {
    handover::send(control, &serde_json::to_vec(&report)?, &[])
}

/// Waits for orders in a thread of its own, and for signals: those that are meant for all processes of a service must not
/// end the one that ends the others.
fn listen(control: UnixStream) -> io::Result<()> {
    let (ready, is_ready) = mpsc::sync_channel(1);
    std::thread::Builder::new().name("orders".to_owned()).spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        match runtime {
            Ok(runtime) => runtime.block_on(orders(control, ready)),
            Err(error) => drop(ready.send(Err(error))),
        }
    })?;
    is_ready.recv().map_err(io::Error::other)?
}

async fn orders(control: UnixStream, ready: mpsc::SyncSender<io::Result<()>>) {
    let prepared = (|| {
        let kinds = [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup(), SignalKind::quit()];
        let unheeded = kinds.into_iter().map(signal).collect::<io::Result<Vec<_>>>()?;
        control.set_nonblocking(true)?;
        Ok((tokio::net::UnixStream::from_std(control)?, unheeded))
    })();
    let (mut control, _unheeded) = match prepared {
        Ok(prepared) => prepared,
        Err(error) => return drop(ready.send(Err(error))),
    };
    let _waiting = ready.send(Ok(()));
    // The end of the socket is the end of the kernel, whatever came before it.
    while let Ok(TERM) = control.read_u8().await {
        tree::signal_descendants(Signal::TERM);
    }
    // Until the other thread has seen the end of the last one, which ends this process.
    let began = tokio::time::Instant::now();
    while began.elapsed() < GIVE_UP {
        tree::kill_descendants();
        tokio::time::sleep(REAP_POLL_INTERVAL).await;
    }
    let _end = rustix::process::kill_process(rustix::process::getpid(), Signal::KILL);
}
