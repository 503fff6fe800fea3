//! The part of server-sent events that a load needs: cutting a byte stream into the `data` of its events.

/// Collects bytes and hands out the data of each complete event.
#[derive(Debug, Default)]
pub struct EventReader {
    buffer: Vec<u8>,
}

impl EventReader {
    /// Adds bytes as they arrive.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// Bytes of the event that is not complete yet.
    pub fn pending(&self) -> usize {
        self.buffer.len()
    }

    /// The data of the next complete event that has any.
    pub fn next_data(&mut self) -> Option<String> {
        while let Some(end) = event_end(&self.buffer) {
            let event: Vec<u8> = self.buffer.drain(..end).collect();
            let data = String::from_utf8_lossy(&event)
                .lines()
                .filter_map(|line| line.strip_prefix("data:"))
                .map(|data| data.strip_prefix(' ').unwrap_or(data))
                .collect::<Vec<_>>()
                .join("\n");
            if !data.is_empty() {
                return Some(data);
            }
        }
        None
    }
}

/// Where the first event ends, its blank line included.
fn event_end(bytes: &[u8]) -> Option<usize> {
    let lf = bytes.windows(2).position(|window| window == b"\n\n").map(|at| at + 2);
    let crlf = bytes.windows(4).position(|window| window == b"\r\n\r\n").map(|at| at + 4);
    match (lf, crlf) {
        (Some(lf), Some(crlf)) => Some(lf.min(crlf)),
        (lf, crlf) => lf.or(crlf),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_survive_any_cut() {
        let stream =
            b"id: 1\ndata:\n\nevent: message\r\ndata: a\r\n\r\n: comment\n\ndata: b\ndata:c\n\ndata: never ends";
        for cut in 0..stream.len() {
            let mut reader = EventReader::default();
            let mut seen = Vec::new();
            for part in [&stream[..cut], &stream[cut..]] {
                reader.push(part);
                while let Some(data) = reader.next_data() {
                    seen.push(data);
                }
            }
            assert_eq!(seen, ["a", "b\nc"], "cut at {cut}");
        }
    }
}
