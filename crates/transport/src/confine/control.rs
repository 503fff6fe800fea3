//! The private socket between us and the launcher: who is at the other end is checked, messages are bounded.
//!
//! The socket has an abstract name with random digits, so nothing is left on disk. The name is no secret: whoever
//! connects must be the very process that we started.

use std::io::{self, IoSlice, IoSliceMut, Read as _, Write as _};
use std::mem::MaybeUninit;
use std::net::TcpListener;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::time::Duration;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
};

use super::order::{LONGEST, Order, Refusal, Report, Word};

/// The launcher has this long to apply a profile.
const PATIENCE: Duration = Duration::from_secs(20);

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
    Able(Report),
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
            stream.set_read_timeout(Some(PATIENCE))?;
            stream.set_write_timeout(Some(PATIENCE))?;
            tokio::task::spawn_blocking(move || converse(stream, &order)).await.map_err(io::Error::other)?
        };
        tokio::time::timeout(PATIENCE, work)
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
    write(&mut stream, &serde_json::to_vec(order)?)?;
    let mut listener = None;
    let mut ready = false;
    loop {
        let Some((message, socket)) = receive(&mut stream)? else {
            // The socket closes by itself when the launcher becomes the program.
            if ready {
                return Ok(HandedOver::Started(listener));
            }
            return Err(io::Error::new(io::ErrorKind::BrokenPipe, "the launcher ended before it was ready"));
        };
        match serde_json::from_slice(&message)? {
            Word::Listener => listener = socket.map(TcpListener::from),
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
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Self(stream))
    }

    pub(super) fn order(&mut self) -> io::Result<Order> {
        let (message, _) = receive(&mut self.0)?.ok_or(io::ErrorKind::UnexpectedEof)?;
        Ok(serde_json::from_slice(&message)?)
    }

    pub(super) fn say(&mut self, word: &Word) -> io::Result<()> {
        write(&mut self.0, &serde_json::to_vec(word)?)
    }

    /// Gives a listening socket away.
    pub(super) fn give(&mut self, listener: &TcpListener) -> io::Result<()> {
        let message = serde_json::to_vec(&Word::Listener)?;
        let length = u32::try_from(message.len()).map_err(io::Error::other)?.to_be_bytes();
        let sockets = [listener.as_fd()];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut extra = SendAncillaryBuffer::new(&mut space);
        extra.push(SendAncillaryMessage::ScmRights(&sockets));
        rustix::io::retry_on_intr(|| {
            rustix::net::sendmsg(&self.0, &[IoSlice::new(&length)], &mut extra, SendFlags::NOSIGNAL)
        })?;
        self.0.write_all(&message)
    }
}

fn write(stream: &mut UnixStream, message: &[u8]) -> io::Result<()> {
    let length = u32::try_from(message.len()).map_err(io::Error::other)?;
    stream.write_all(&length.to_be_bytes())?;
    stream.write_all(message)
}

/// One message, with the socket that came with it; nothing at the end.
fn receive(stream: &mut UnixStream) -> io::Result<Option<(Vec<u8>, Option<OwnedFd>)>> {
    let mut length = [0; 4];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut extra = RecvAncillaryBuffer::new(&mut space);
    // Calls with a deadline are not taken up again by the system after a signal, such as the end of another child.
    let head = rustix::io::retry_on_intr(|| {
        let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::WAITALL;
        rustix::net::recvmsg(&*stream, &mut [IoSliceMut::new(&mut length)], &mut extra, flags)
    })?;
    if head.bytes == 0 {
        return Ok(None);
    }
    if head.bytes != length.len() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let socket = extra.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut sockets) => sockets.next(),
        _ => None,
    });
    let length = usize::try_from(u32::from_be_bytes(length)).map_err(io::Error::other)?;
    if length > LONGEST {
        return Err(io::Error::other("a message is too long"));
    }
    let mut message = vec![0; length];
    stream.read_exact(&mut message)?;
    Ok(Some((message, socket)))
}
