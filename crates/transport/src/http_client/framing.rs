//! Where the body of an answer ends: by its length, in chunks, or with the connection. No I/O.

use bytes::{Buf as _, BytesMut};
use httparse::Status;

/// The longest line that gives the size of a chunk.
const LONGEST_SIZE: usize = 4096;
/// Bytes of fields after the last chunk. Nobody reads them.
const MOST_TRAILERS: usize = 16 << 10;

const NO_SIZE: &str = "a chunk of the answer has no size that can be read";
const TOO_MUCH: &str = "too much follows the last chunk of the answer";

/// How what is left of a body is marked off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Framing {
    /// So many bytes.
    Length(u64),
    /// In pieces that each say how long they are.
    Chunks(Chunk),
    /// All that comes before the server closes the connection.
    UntilClose,
    /// There is no more.
    End,
}

/// What comes next in a body of chunks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Chunk {
    Size,
    Data(u64),
    DataEnd,
    /// Fields after the last chunk, of which so many bytes may still come.
    Trailers(usize),
}

/// What a look at the bytes that came leads to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The first so many bytes belong to the body, and are the caller's to take off.
    Data(usize),
    /// More has to come.
    More,
    End,
}

impl Framing {
    pub(super) const CHUNKS: Self = Self::Chunks(Chunk::Size);

    /// Goes on to the next bytes of the body.
    pub(super) fn next(&mut self, input: &mut BytesMut) -> Result<Next, &'static str> {
        match self {
            Self::Length(0) | Self::End => {
                *self = Self::End;
                Ok(Next::End)
            }
            Self::Length(left) => Ok(take(left, input)),
            Self::UntilClose if input.is_empty() => Ok(Next::More),
            Self::UntilClose => Ok(Next::Data(input.len())),
            Self::Chunks(chunk) => {
                let next = chunk.next(input)?;
                if next == Next::End {
                    *self = Self::End;
                }
                Ok(next)
            }
        }
    }

    /// Notes that the server sends nothing more. Whether the body is whole.
    pub(super) fn close(&mut self) -> bool {
        let whole = matches!(self, Self::UntilClose | Self::End | Self::Length(0));
        if whole {
            *self = Self::End;
        }
        whole
    }
}

impl Chunk {
    fn next(&mut self, input: &mut BytesMut) -> Result<Next, &'static str> {
        loop {
            match self {
                // The reader of sizes takes an empty line for 0.
                Self::Size if input.first().is_some_and(|first| !first.is_ascii_hexdigit()) => {
                    return Err(NO_SIZE);
                }
                Self::Size => match httparse::parse_chunk_size(input) {
                    // The same bound however much has come: what is too long in pieces is too long in one.
                    Ok(Status::Complete((length, size))) if length <= LONGEST_SIZE => {
                        input.advance(length);
                        *self = if size == 0 { Self::Trailers(MOST_TRAILERS) } else { Self::Data(size) };
                    }
                    Ok(Status::Partial) if input.len() < LONGEST_SIZE => return Ok(Next::More),
                    _ => return Err(NO_SIZE),
                },
                Self::Data(0) => *self = Self::DataEnd,
                Self::Data(left) => return Ok(take(left, input)),
                Self::DataEnd if input.len() < 2 => return Ok(Next::More),
                Self::DataEnd if input.starts_with(b"\r\n") => {
                    input.advance(2);
                    *self = Self::Size;
                }
                Self::DataEnd => return Err("a chunk of the answer is longer than it says"),
                Self::Trailers(left) => {
                    let Some(line) = input.iter().position(|&byte| byte == b'\n').map(|at| at + 1) else {
                        if input.len() > *left {
                            return Err(TOO_MUCH);
                        }
                        return Ok(Next::More);
                    };
                    let is_last = input.get(..line) == Some(b"\r\n");
                    *left = left.checked_sub(line).ok_or(TOO_MUCH)?;
                    input.advance(line);
                    if is_last {
                        return Ok(Next::End);
                    }
                }
            }
        }
    }
}

/// Takes as much of `left` as has come.
fn take(left: &mut u64, input: &BytesMut) -> Next {
    let come = input.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
    if come == 0 {
        return Next::More;
    }
    *left -= come as u64;
    Next::Data(come)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::{prop_assert_eq, proptest};

    use super::*;

    /// Reads `text`, which comes in pieces of `size` bytes; the body, and what is left behind it.
    fn read(mut framing: Framing, text: &[u8], size: usize) -> Result<(Vec<u8>, Vec<u8>), String> {
        let (mut input, mut body) = (BytesMut::new(), Vec::new());
        let mut pieces = text.chunks(size);
        loop {
            match framing.next(&mut input)? {
                Next::Data(length) => body.extend_from_slice(&input.split_to(length)),
                Next::More => match pieces.next() {
                    Some(piece) => input.extend_from_slice(piece),
                    None if framing.close() => {}
                    None => return Err("cut off".to_owned()),
                },
                Next::End => {
                    input.extend(pieces.flatten());
                    return Ok((body, input.to_vec()));
                }
            }
        }
    }

    #[test]
    fn bodies_come_whole_however_they_are_cut() {
        let cases = [
            (Framing::Length(5), "hello", "hello", ""),
            (Framing::Length(5), "hello, more", "hello", ", more"),
            (Framing::Length(0), "x", "", "x"),
            (Framing::UntilClose, "all of it", "all of it", ""),
            (Framing::CHUNKS, "5\r\nhello\r\n0\r\n\r\n", "hello", ""),
            (Framing::CHUNKS, "5;x=\"y\"\r\nhello\r\nB \r\n, all of it\r\n000\r\n\r\nHTTP", "hello, all of it", "HTTP"),
            (Framing::CHUNKS, "2\r\nab\r\n0\r\nA: b\r\nC: d\r\n\r\n", "ab", ""),
            (Framing::CHUNKS, "0\r\n\r\n", "", ""),
        ];
        for (framing, text, body, rest) in cases {
            for size in 1..=text.len() {
                let found = read(framing.clone(), text.as_bytes(), size);
                assert_eq!(found, Ok((body.into(), rest.into())), "{text:?} by {size}");
            }
        }
    }

    #[test]
    fn bodies_that_are_cut_off_or_malformed_are_refused() {
        let long = format!("1;{}", "x".repeat(LONGEST_SIZE));
        let trailers = format!("0\r\n{}\r\n", "A: b\r\n".repeat(MOST_TRAILERS / 5));
        let cases = [
            (Framing::Length(5), "hell"),
            (Framing::CHUNKS, ""),
            (Framing::CHUNKS, "5\r\nhello"),
            (Framing::CHUNKS, "5\r\nhello\r\n"),
            (Framing::CHUNKS, "5\r\nhello\r\n0\r\n"),
            (Framing::CHUNKS, "5\r\nhello, more\r\n0\r\n\r\n"),
            (Framing::CHUNKS, "x\r\nhello\r\n0\r\n\r\n"),
            (Framing::CHUNKS, "-5\r\nhello\r\n0\r\n\r\n"),
            (Framing::CHUNKS, "fffffffffffffffff\r\nx"),
            (Framing::CHUNKS, "\r\n\r\n"),
            (Framing::CHUNKS, long.as_str()),
            (Framing::CHUNKS, trailers.as_str()),
        ];
        for (framing, text) in cases {
            for size in [1, 7, text.len().max(1)] {
                assert!(read(framing.clone(), text.as_bytes(), size).is_err(), "{text:?} by {size}");
            }
        }
    }

    #[test]
    fn fuzz_chunks() {
        switchboard_testkit::fuzzing::fuzz("http_chunks", |bytes| {
            let Some((&size, text)) = bytes.split_first() else { return };
            let whole = read(Framing::CHUNKS, text, text.len().max(1));
            let pieces = read(Framing::CHUNKS, text, usize::from(size).max(1));
            assert_eq!(whole.ok(), pieces.ok());
        });
    }

    proptest! {
        /// Whatever comes, in whatever pieces, leads to the same end.
        #[test]
        fn pieces_make_no_difference(text in "([0-9a-f]{1,2}(;[a-z]{0,3})?\r\n)?[a-z0-9\r\n]{0,40}", size in 1usize..9) {
            let whole = read(Framing::CHUNKS, text.as_bytes(), text.len().max(1));
            let pieces = read(Framing::CHUNKS, text.as_bytes(), size);
            prop_assert_eq!(whole.ok(), pieces.ok());
        }

        #[test]
        fn chunks_of_any_sizes_come_whole(body: Vec<u8>, sizes in vec(1usize..40, 1..9), size in 1usize..50) {
            let (mut text, mut left, mut sizes) = (Vec::new(), body.as_slice(), sizes.into_iter().cycle());
            while let Some((chunk, rest)) = left.split_at_checked(sizes.next().unwrap_or(1).min(left.len())) {
                if chunk.is_empty() {
                    break;
                }
                text.extend_from_slice(format!("{:X}\r\n", chunk.len()).as_bytes());
                text.extend_from_slice(chunk);
                text.extend_from_slice(b"\r\n");
                left = rest;
            }
            text.extend_from_slice(b"0\r\n\r\n");
            prop_assert_eq!(read(Framing::CHUNKS, &text, size), Ok((body, Vec::new())));
        }
    }
}
