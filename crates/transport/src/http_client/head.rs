//! The head of an answer. No I/O.

use std::fmt;
use std::mem::MaybeUninit;
use std::time::Duration;

use http::{HeaderName, StatusCode};
use httparse::{Header, ParserConfig, Response, Status};

use super::framing::Framing;

/// The longest head.
const MAX_HEAD_BYTES: usize = 64 << 10;
/// Header lines of one answer.
const MOST_LINES: usize = 100;

/// What the head of an answer says, as far as it decides how the rest is read.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) status: StatusCode,
    pub(super) framing: Framing,
    /// Whether the connection can be used again.
    pub(super) is_kept: bool,
    /// How long the server promises to keep it.
    pub(super) kept_for: Option<Duration>,
    /// Whether the body is a stream of events.
    pub(super) is_events: bool,
    pub(super) headers: Headers,
}

/// The headers of an answer as they came. They are looked through when somebody asks, which is rare.
pub struct Headers(Box<[u8]>);

impl fmt::Debug for Headers {
    /// They may carry a session or a token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Headers").finish_non_exhaustive()
    }
}

impl Headers {
    /// The first value of a header.
    #[must_use]
    pub fn get(&self, name: &HeaderName) -> Option<&[u8]> {
        let mut lines = [const { MaybeUninit::uninit() }; MOST_LINES];
        let response = parse(&self.0, &mut lines).ok()??.0;
        let line = response.headers.iter().find(|line| line.name.eq_ignore_ascii_case(name.as_str()))?;
        Some(line.value.trim_ascii())
    }
}

impl Head {
    /// Reads a head, and says how many bytes it takes; none where more has to come.
    pub(super) fn read(input: &[u8]) -> Result<Option<(Self, usize)>, &'static str> {
        let mut lines = [const { MaybeUninit::uninit() }; MOST_LINES];
        let (response, length) = match parse(input, &mut lines) {
            Ok(Some(parsed)) => parsed,
            Ok(None) if input.len() < MAX_HEAD_BYTES => return Ok(None),
            Ok(None) | Err(httparse::Error::TooManyHeaders) => return Err("the head of the answer is too long"),
            Err(_) => return Err("the answer is not HTTP"),
        };
        let status =
            response.code.and_then(|code| StatusCode::from_u16(code).ok()).ok_or("the answer has no status")?;
        let is_1_1 = response.version == Some(1);
        let mut marks = Marks { is_kept: is_1_1, ..Marks::default() };
        for line in response.headers.iter() {
            marks.note(line)?;
        }
        let (framing, is_kept) = marks.framing(status, is_1_1)?;
        let headers = Headers(input.get(..length).unwrap_or_default().into());
        let Marks { kept_for, is_events, .. } = marks;
        Ok(Some((Self { status, framing, is_kept, kept_for, is_events, headers }, length)))
    }
}

fn parse<'lines, 'text>(
    text: &'text [u8],
    lines: &'lines mut [MaybeUninit<Header<'text>>],
) -> Result<Option<(Response<'lines, 'text>, usize)>, httparse::Error> {
    let mut response = Response::new(&mut []);
    match ParserConfig::default().parse_response_with_uninit_headers(&mut response, text, lines)? {
        Status::Complete(length) => Ok(Some((response, length))),
        Status::Partial => Ok(None),
    }
}

/// What the header lines say about the body and the connection.
#[derive(Default)]
struct Marks {
    length: Option<u64>,
    is_chunked: bool,
    is_kept: bool,
    /// Whatever else is said of it.
    is_closing: bool,
    kept_for: Option<Duration>,
    is_events: bool,
}

impl Marks {
    fn note(&mut self, line: &Header<'_>) -> Result<(), &'static str> {
        let value = line.value.trim_ascii();
        let is = |name: &str| line.name.eq_ignore_ascii_case(name);
        if is("content-length") {
            // One that stands there twice was joined on the way.
            for number in value.split(|&byte| byte == b',') {
                let length = whole_number(number.trim_ascii()).ok_or("the answer has a length that is no number")?;
                if self.length.is_some_and(|before| before != length) {
                    return Err("the answer has two lengths");
                }
                self.length = Some(length);
            }
        } else if is("transfer-encoding") {
            // We ask for no other coding, and two of them would hide where the answer ends.
            if self.is_chunked || !value.eq_ignore_ascii_case(b"chunked") {
                return Err("the answer has a transfer encoding that was not asked for");
            }
            self.is_chunked = true;
        } else if is("connection") {
            for word in value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii) {
                if word.eq_ignore_ascii_case(b"close") {
                    self.is_closing = true;
                } else if word.eq_ignore_ascii_case(b"keep-alive") {
                    self.is_kept = true;
                }
            }
        } else if is("keep-alive") {
            self.kept_for = self.kept_for.or_else(|| promised(value));
        } else if is("content-type") {
            const EVENTS: &[u8] = b"text/event-stream";
            self.is_events = value.get(..EVENTS.len()).is_some_and(|start| start.eq_ignore_ascii_case(EVENTS));
        }
        Ok(())
    }

    /// How the body ends, and whether the connection can be used after it.
    fn framing(&self, status: StatusCode, knows_chunks: bool) -> Result<(Framing, bool), &'static str> {
        let is_kept = self.is_kept && !self.is_closing;
        if status.is_informational() || matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED) {
            return Ok((Framing::End, is_kept));
        }
        match (self.is_chunked, self.length) {
            (true, _) if !knows_chunks => Err("the answer has chunks, which HTTP/1.0 does not know"),
            // Someone on the way may have gone by the length: what comes after is not to be trusted.
            (true, length) => Ok((Framing::CHUNKS, is_kept && length.is_none())),
            (false, Some(length)) => Ok((Framing::Length(length), is_kept)),
            (false, None) => Ok((Framing::UntilClose, false)),
        }
    }
}

fn whole_number(text: &[u8]) -> Option<u64> {
    // Rust's reader would also take a sign.
    let text = std::str::from_utf8(text).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))?;
    text.parse().ok()
}

/// The time a server promises to keep the connection, less a second, so that we are the first to give it up.
fn promised(value: &[u8]) -> Option<Duration> {
    let text = std::str::from_utf8(value).ok()?;
    let seconds = text.split(',').find_map(|part| part.trim().strip_prefix("timeout=")?.parse::<u64>().ok())?;
    Some(Duration::from_secs(seconds.saturating_sub(1)))
}

#[cfg(test)]
mod tests {
    use http::header::{CONTENT_TYPE, LOCATION};
    use proptest::{prop_assert, proptest};

    use super::*;

    fn read(head: &str) -> Result<Option<Head>, &'static str> {
        let whole = format!("{head}\r\n\r\nbody");
        let found = Head::read(whole.as_bytes())?;
        Ok(found.map(|(found, length)| {
            assert_eq!(length, head.len() + 4, "{head}");
            found
        }))
    }

    #[test]
    fn fuzz_heads() {
        switchboard_testkit::fuzzing::fuzz("http_head", |bytes| {
            if let Ok(Some((_, length))) = Head::read(bytes) {
                assert!(length <= bytes.len());
                // A head that is complete needs nothing of what follows it.
                assert!(matches!(Head::read(&bytes[..length]), Ok(Some((_, again))) if again == length));
            }
        });
    }

    #[test]
    fn the_head_says_where_the_body_ends_and_whether_the_connection_is_kept() {
        let cases = [
            ("HTTP/1.1 200 OK\r\nContent-Length: 5", Framing::Length(5), true),
            ("HTTP/1.1 200\r\ncontent-length:5\r\ncontent-length: 5", Framing::Length(5), true),
            ("HTTP/1.1 200 OK\r\ncontent-length: 5, 5", Framing::Length(5), true),
            ("HTTP/1.1 200 OK\r\nConnection: close, keep-alive\r\nContent-Length: 5", Framing::Length(5), false),
            ("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5", Framing::Length(5), false),
            ("HTTP/1.1 200 OK\r\nConnection: x, Close\r\nContent-Length: 5", Framing::Length(5), false),
            ("HTTP/1.0 200 OK\r\nContent-Length: 5", Framing::Length(5), false),
            ("HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 5", Framing::Length(5), true),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked", Framing::CHUNKS, true),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5", Framing::CHUNKS, false),
            ("HTTP/1.1 200 OK\r\nContent-Type: text/plain", Framing::UntilClose, false),
            ("HTTP/1.1 204 No Content\r\nContent-Length: 5", Framing::End, true),
            ("HTTP/1.1 304 Not Modified\r\nContent-Length: 5", Framing::End, true),
            ("HTTP/1.1 100 Continue\r\nX: y", Framing::End, true),
        ];
        for (head, framing, is_kept) in cases {
            let found = read(head).ok().flatten();
            assert_eq!(found.map(|found| (found.framing, found.is_kept)), Some((framing, is_kept)), "{head}");
        }
    }

    #[test]
    fn heads_that_leave_the_end_of_the_body_open_are_refused() {
        for head in [
            "HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6",
            "HTTP/1.1 200 OK\r\ncontent-length: 5, 6",
            "HTTP/1.1 200 OK\r\ncontent-length: 5,",
            "HTTP/1.1 200 OK\r\ncontent-length: +5",
            "HTTP/1.1 200 OK\r\ncontent-length: -1",
            "HTTP/1.1 200 OK\r\ncontent-length: 99999999999999999999",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntransfer-encoding: chunked",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: identity",
            "HTTP/1.0 200 OK\r\ntransfer-encoding: chunked",
            "HTTP/1.1 200 OK\r\ncontent-length : 5",
            "HTTP/1.1 200 OK\r\nx: y\r\n content-length: 5",
            "HTTP/2 200",
            "SSH-2.0-x",
            "{\"jsonrpc\":\"2.0\"}",
        ] {
            assert!(read(head).is_err(), "{head}");
        }
        let many = format!("HTTP/1.1 200 OK{}", "\r\na: b".repeat(MOST_LINES + 1));
        assert!(read(&many).is_err());
        let long = format!("HTTP/1.1 200 OK\r\na: {}", "b".repeat(MAX_HEAD_BYTES));
        assert!(Head::read(long.as_bytes()).is_err());
    }

    #[test]
    fn a_head_that_has_not_come_whole_is_waited_for() {
        let whole = "HTTP/1.1 200 OK\r\ncontent-type: Text/Event-Stream;charset=utf-8\r\n\r\n";
        for length in 0..whole.len() {
            assert!(matches!(Head::read(&whole.as_bytes()[..length]), Ok(None)), "{length}");
        }
        let head = Head::read(whole.as_bytes()).ok().flatten().map(|(head, _)| head);
        assert!(head.is_some_and(|head| head.is_events));
    }

    #[test]
    fn headers_can_be_asked_for_and_are_not_shown() {
        let head = read("HTTP/1.1 307 T\r\nLOCATION:  /secret \r\nlocation: /other\r\nkeep-alive: timeout=5, max=9");
        let head = head.ok().flatten();
        let found = head.as_ref().map(|head| (head.headers.get(&LOCATION), head.headers.get(&CONTENT_TYPE)));
        assert_eq!(found, Some((Some(&b"/secret"[..]), None)));
        assert_eq!(head.as_ref().and_then(|head| head.kept_for), Some(Duration::from_secs(4)));
        assert!(!format!("{head:?}").contains("secret"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(start in "(HTTP/1\\.[01] [0-9]{3} ?[a-z]{0,3}\r\n)?", rest: Vec<u8>) {
            let text = [start.as_bytes(), &rest].concat();
            if let Ok(Some((head, length))) = Head::read(&text) {
                prop_assert!(length <= text.len());
                let _found = head.headers.get(&CONTENT_TYPE);
            }
        }
    }
}
