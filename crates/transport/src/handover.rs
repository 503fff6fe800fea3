//! Messages between our own processes over a socket, each with the open files that go with it.
//!
//! A message is its length in four bytes and its text. The files travel with the length, so that they arrive before the
//! text that names them.

use std::io::{self, IoSlice, IoSliceMut, Read as _, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
};

/// The longest message.
pub(crate) const MAX_MESSAGE_BYTES: usize = 8 << 20;

/// Sends a message with at most three open files.
pub(crate) fn send(stream: &mut UnixStream, message: &[u8], files: &[BorrowedFd<'_>]) -> io::Result<()> {
    let length = u32::try_from(message.len()).map_err(io::Error::other)?.to_be_bytes();
    if files.is_empty() {
        stream.write_all(&length)?;
        return stream.write_all(message);
    }
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut extra = SendAncillaryBuffer::new(&mut space);
    if !extra.push(SendAncillaryMessage::ScmRights(files)) {
        return Err(io::Error::other("too many files for one message"));
    }
    rustix::io::retry_on_intr(|| {
        rustix::net::sendmsg(&*stream, &[IoSlice::new(&length)], &mut extra, SendFlags::NOSIGNAL)
    })?;
    stream.write_all(message)
}

/// One message, with the files that came with it; nothing at the end.
pub(crate) fn receive(stream: &mut UnixStream) -> io::Result<Option<(Vec<u8>, Vec<OwnedFd>)>> {
    let mut length = [0; 4];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
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
    let mut files = Vec::new();
    for message in extra.drain() {
        if let RecvAncillaryMessage::ScmRights(sent) = message {
            files.extend(sent);
        }
    }
    let length = usize::try_from(u32::from_be_bytes(length)).map_err(io::Error::other)?;
    if length > MAX_MESSAGE_BYTES {
        return Err(io::Error::other("a message is too long"));
    }
    let mut message = vec![0; length];
    stream.read_exact(&mut message)?;
    Ok(Some((message, files)))
}
