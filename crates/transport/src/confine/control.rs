//! The private socket between us and the launcher: who is at the other end is checked, messages are bounded.
//!
//! The socket has an abstract name with random digits, so nothing is left on disk. The name is no secret: whoever
//! connects must be the very process that we started.

use std::io::{self, Read as _};
use std::net::TcpListener;
use std::os::fd::AsFd as _;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::time::Duration;

use super::order::{ConfinementReport, Order, Refusal, Word};
use crate::handover;

/// The launcher has this long to apply a profile.
const APPLY_TIMEOUT: Duration = Duration::from_secs(20);

/// Our end before the launcher has come.
#[derive(Debug)]
pub(crate) struct Control {
    listener: tokio::net::UnixListener,
    name: String,
}

/// What became of an order.
#[derive(Debug)]
pub(crate) enum HandedOver {
    /// The program runs. The socket belongs to its network, for the proxy.
    Started(Option<TcpListener>),
    /// The system would not start the program.
    NotStarted(io::Error),
    /// Not everything could be enforced.
    Refused(Refusal),
    /// The answer to a probe.
    Able(ConfinementReport),
}

impl Control {
    pub(crate) fn open() -> io::Result<Self> {
        let name = format!("switchboard-confine-{}-{:032x}", std::process::id(), random()?);
        let listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name)?)?;
        listener.set_nonblocking(true)?;
        Ok(Self { listener: tokio::net::UnixListener::from_std(listener)?, name })
    }

    /// The word that leads the launcher here.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Gives the order to the process that was started for it, and waits for what comes of it.
    pub(crate) async fn hand_over(self, pid: u32, order: Order) -> io::Result<HandedOver> {
        let work = async {
            let stream = loop {
                let (stream, _) = self.listener.accept().await?;
                // Anybody can connect to a name; only the process we started gets the order.
                let peer = stream.peer_cred()?;
                if peer.pid().and_then(|peer| u32::try_from(peer).ok()) == Some(pid) {
                    break stream.into_std()?;
                }
            };
            stream.set_nonblocking(false)?;
            stream.set_read_timeout(Some(APPLY_TIMEOUT))?;
            stream.set_write_timeout(Some(APPLY_TIMEOUT))?;
            tokio::task::spawn_blocking(move || converse(stream, &order)).await.map_err(io::Error::other)?
        };
        tokio::time::timeout(APPLY_TIMEOUT, work)
            .await
            .unwrap_or_else(|_| Err(io::Error::new(io::ErrorKind::TimedOut, "the launcher did not answer in time")))
    }
}

fn random() -> io::Result<u128> {
    let mut bytes = [0; 16];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(u128::from_ne_bytes(bytes))
}

fn converse(mut stream: UnixStream, order: &Order) -> io::Result<HandedOver> {
    handover::send(&mut stream, &serde_json::to_vec(order)?, &[])?;
    let mut listener = None;
    let mut ready = false;
    loop {
        let Some((message, mut sockets)) = handover::receive(&mut stream)? else {
            // The socket closes by itself when the launcher becomes the program.
            if ready {
                return Ok(HandedOver::Started(listener));
            }
            return Err(io::Error::new(io::ErrorKind::BrokenPipe, "the launcher ended before it was ready"));
        };
        match serde_json::from_slice(&message)? {
            Word::Listener => listener = sockets.pop().map(TcpListener::from),
            Word::Ready => ready = true,
            Word::NotStarted { code } => return Ok(HandedOver::NotStarted(io::Error::from_raw_os_error(code))),
            Word::Refused(refusal) => return Ok(HandedOver::Refused(refusal)),
            Word::Able(report) => return Ok(HandedOver::Able(report)),
        }
    }
}

/// The launcher's end.
#[derive(Debug)]
pub(super) struct Line(UnixStream);

impl Line {
    pub(super) fn connect(name: &str) -> io::Result<Self> {
        let stream = UnixStream::connect_addr(&SocketAddr::from_abstract_name(name)?)?;
        stream.set_read_timeout(Some(APPLY_TIMEOUT))?;
        stream.set_write_timeout(Some(APPLY_TIMEOUT))?;
        Ok(Self(stream))
    }

    pub(super) fn order(&mut self) -> io::Result<Order> {
        let (message, _) = handover::receive(&mut self.0)?.ok_or(io::ErrorKind::UnexpectedEof)?;
        Ok(serde_json::from_slice(&message)?)
    }

    pub(super) fn say(&mut self, word: &Word) -> io::Result<()> {
        handover::send(&mut self.0, &serde_json::to_vec(word)?, &[])
    }

    /// Gives a listening socket away.
    pub(super) fn give(&mut self, listener: &TcpListener) -> io::Result<()> {
        handover::send(&mut self.0, &serde_json::to_vec(&Word::Listener)?, &[listener.as_fd()])
    }
}
