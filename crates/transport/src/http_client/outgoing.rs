//! Messages on their way to a server.

use std::io::Write as _;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{HeaderMap, Method, Uri};

/// A message that is ready to be sent.
#[derive(Debug, Clone)]
pub struct Outgoing {
    method: Method,
    path: Uri,
    headers: Arc<HeaderMap>,
    body: Bytes,
    tag: u64,
}

impl Outgoing {
    pub(super) const fn new(method: Method, path: Uri, headers: Arc<HeaderMap>, body: Bytes) -> Self {
        Self { method, path, headers, body, tag: 0 }
    }

    /// The same message under a number by which its sender knows it; 0 is none.
    #[must_use]
    pub const fn tagged(mut self, tag: u64) -> Self {
        self.tag = tag;
        self
    }

    pub(super) const fn tag(&self) -> u64 {
        self.tag
    }

    /// The headers it is sent with.
    pub fn headers_mut(&mut self) -> &mut HeaderMap {
        Arc::make_mut(&mut self.headers)
    }

    pub(super) const fn body(&self) -> &Bytes {
        &self.body
    }

    /// Writes everything before the body. How long the body is, is for nobody else to say.
    pub(super) fn write_head(&self, to: &mut Vec<u8>) {
        to.extend_from_slice(self.method.as_str().as_bytes());
        to.push(b' ');
        to.extend_from_slice(self.path.path().as_bytes());
        if let Some(query) = self.path.query() {
            to.push(b'?');
            to.extend_from_slice(query.as_bytes());
        }
        to.extend_from_slice(b" HTTP/1.1\r\n");
        for (name, value) in &*self.headers {
            if name == CONTENT_LENGTH || name == TRANSFER_ENCODING {
                continue;
            }
            to.extend_from_slice(name.as_str().as_bytes());
            to.extend_from_slice(b": ");
            to.extend_from_slice(value.as_bytes());
            to.extend_from_slice(b"\r\n");
        }
        if self.method == Method::POST || !self.body.is_empty() {
            // Writing to memory cannot fail.
            let _ = write!(to, "content-length: {}\r\n", self.body.len());
        }
        to.extend_from_slice(b"\r\n");
    }
}

#[cfg(test)]
mod tests {
    use http::header::{HOST, HeaderValue};

    use super::*;

    #[test]
    fn the_length_is_that_of_the_body_whatever_the_configuration_says() {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::from_static("h:1"));
        headers.insert(CONTENT_LENGTH, HeaderValue::from_static("99"));
        headers.insert(TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
        let headers = Arc::new(headers);
        let text = |method: Method, path: &'static str, body: &'static str| {
            let mut to = Vec::new();
            let path = Uri::from_static(path);
            Outgoing::new(method, path, headers.clone(), Bytes::from_static(body.as_bytes())).write_head(&mut to);
            String::from_utf8(to).unwrap_or_default()
        };
        assert_eq!(
            text(Method::POST, "/a?b=c", "four"),
            "POST /a?b=c HTTP/1.1\r\nhost: h:1\r\ncontent-length: 4\r\n\r\n"
        );
        assert_eq!(text(Method::POST, "/", ""), "POST / HTTP/1.1\r\nhost: h:1\r\ncontent-length: 0\r\n\r\n");
        assert_eq!(text(Method::GET, "/", ""), "GET / HTTP/1.1\r\nhost: h:1\r\n\r\n");
    }
}
