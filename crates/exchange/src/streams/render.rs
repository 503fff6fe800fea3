//! What a piece, or progress, is in the words of the client. Pure.

use switchboard_flow::stream::Piece;
use switchboard_protocol::mcp::method;
use switchboard_protocol::{mgp, proposals};
use switchboard_wire::{Edit, Notification, Raw};

/// A piece for a client that speaks MGP. What the server said beside it passes along.
pub(super) fn mgp_chunk(request: &Raw, piece: &Piece) -> Notification {
    let edit = piece.said.as_ref().and_then(|said| Edit::of(said).ok()).unwrap_or_else(Edit::empty);
    let edit = edit.set("request_id", request.clone()).set("index", Raw::number(piece.index));
    let edit = edit.set("content", piece.content.clone());
    let edit = if edit.object().has("done") { edit } else { edit.set("done", Raw::boolean(false)) };
    Notification::new(mgp::method::STREAM_CHUNK, Some(edit.finish()))
}

/// A piece that nobody has any more.
pub(super) fn lost_chunk(request: &Raw, index: u64) -> Notification {
    let params = Edit::empty()
        .set("request_id", request.clone())
        .set("index", Raw::number(index))
        .set("gap_unrecoverable", Raw::boolean(true))
        .set("done", Raw::boolean(false));
    Notification::new(mgp::method::STREAM_CHUNK, Some(params.finish()))
}

/// A piece for a client that speaks proposal 8; without one, the end.
pub(super) fn proposal_chunk(
    operation: &str,
    sequence: u64,
    data: Option<&Raw>,
    checkpoint: Option<&str>,
) -> Notification {
    let params = Edit::empty()
        .set("type", Raw::string("stream_chunk"))
        .set("operation_id", Raw::string(operation))
        .set("sequence", Raw::number(sequence))
        .set_optional("data", data.cloned())
        .set("is_final", Raw::boolean(data.is_none()))
        .set_optional("checkpoint_token", checkpoint.map(Raw::string));
    Notification::new(proposals::streaming::STREAM_CHUNK, Some(params.finish()))
}

/// How far a call is.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Progress {
    /// From 0 to 1.
    pub(super) value: f64,
    pub(super) message: Option<String>,
    /// How long it may still take, in milliseconds.
    pub(super) remaining_ms: Option<u64>,
}

fn number(value: f64) -> Raw {
    // Finite by construction; a number that is none would not be written.
    Raw::from_value(&value).unwrap_or_else(|_| Raw::number(0))
}

/// A piece that is not kept any more, in the words of proposal 8, which has none for it: those of MGP.
pub(super) fn lost_piece(operation: &str, sequence: u64) -> Notification {
    let params = Edit::empty()
        .set("type", Raw::string("stream_chunk"))
        .set("operation_id", Raw::string(operation))
        .set("sequence", Raw::number(sequence))
        .set("is_final", Raw::boolean(false))
        .set("gap_unrecoverable", Raw::boolean(true));
    Notification::new(proposals::streaming::STREAM_CHUNK, Some(params.finish()))
}

/// Progress for a client that speaks MGP.
pub(super) fn mgp_progress(request: &Raw, progress: &Progress) -> Notification {
    let params = Edit::empty()
        .set("request_id", request.clone())
        .set("progress", number(progress.value))
        .set_optional("message", progress.message.as_deref().map(Raw::string))
        .set_optional("estimated_remaining_ms", progress.remaining_ms.map(Raw::number));
    Notification::new(mgp::method::STREAM_PROGRESS, Some(params.finish()))
}

/// Progress for a client that gave a token, with the members of proposal 8 for one that speaks it.
pub(super) fn mcp_progress(
    token: Option<&Raw>,
    progress: &Progress,
    operation: Option<(&str, Option<&str>)>,
) -> Notification {
    let mut params = Edit::empty()
        .set_optional("progressToken", token.cloned())
        .set("progress", number(progress.value))
        .set("total", Raw::number(1))
        .set_optional("message", progress.message.as_deref().map(Raw::string));
    if let Some((operation, checkpoint)) = operation {
        let seconds = progress.remaining_ms.map(|ms| Raw::number(ms.div_ceil(1_000)));
        params = params
            .set("type", Raw::string("progress"))
            .set("operation_id", Raw::string(operation))
            .set_optional("estimated_remaining_seconds", seconds)
            .set_optional("checkpoint_token", checkpoint.map(Raw::string));
    }
    Notification::new(method::PROGRESS, Some(params.finish()))
}

/// A count of pieces as progress, for a client that gave a token and hears nothing else.
pub(super) fn counted(token: &Raw, count: u64) -> Notification {
    let params = Edit::empty().set("progressToken", token.clone()).set("progress", Raw::number(count));
    Notification::new(method::PROGRESS, Some(params.finish()))
}

#[cfg(test)]
mod tests {
    use switchboard_wire::Limits;

    use super::*;

    fn raw(text: &str) -> Raw {
        Raw::parse(text.to_owned(), &Limits::default()).unwrap()
    }

    fn said(notification: &Notification) -> (&str, &str) {
        (&notification.method, notification.params.as_ref().unwrap().as_str())
    }

    #[test]
    fn one_piece_in_two_dialects() {
        let text = raw(r#"{"type":"text","text":"a"}"#);
        let plain = Piece::new(3, text.clone());
        assert_eq!(
            said(&mgp_chunk(&raw("20"), &plain)),
            (
                "notifications/mgp.stream.chunk",
                r#"{"request_id":20,"index":3,"content":{"type":"text","text":"a"},"done":false}"#
            )
        );
        let more = Piece {
            said: Some(raw(r#"{"request_id":9,"index":3,"content":{"type":"text","text":"a"},"done":false,"x":1.10}"#)),
            ..plain
        };
        assert_eq!(
            said(&mgp_chunk(&raw(r#""r""#), &more)).1,
            r#"{"request_id":"r","index":3,"content":{"type":"text","text":"a"},"done":false,"x":1.10}"#
        );
        assert_eq!(
            said(&proposal_chunk("op-1", 3, Some(&text), Some("t"))),
            (
                "notifications/stream_chunk",
                r#"{"type":"stream_chunk","operation_id":"op-1","sequence":3,"data":{"type":"text","text":"a"},"is_final":false,"checkpoint_token":"t"}"#
            )
        );
        assert_eq!(
            said(&proposal_chunk("op-1", 4, None, None)).1,
            r#"{"type":"stream_chunk","operation_id":"op-1","sequence":4,"is_final":true}"#
        );
    }

    #[test]
    fn one_progress_in_three_dialects() {
        let progress = Progress { value: 0.65, message: Some("13/20".to_owned()), remaining_ms: Some(4_500) };
        assert_eq!(
            said(&mgp_progress(&raw("21"), &progress)),
            (
                "notifications/mgp.stream.progress",
                r#"{"request_id":21,"progress":0.65,"message":"13/20","estimated_remaining_ms":4500}"#
            )
        );
        assert_eq!(
            said(&mcp_progress(Some(&raw("7")), &progress, None)),
            ("notifications/progress", r#"{"progressToken":7,"progress":0.65,"total":1,"message":"13/20"}"#)
        );
        assert_eq!(
            said(&mcp_progress(None, &progress, Some(("op-1", None)))).1,
            r#"{"progress":0.65,"total":1,"message":"13/20","type":"progress","operation_id":"op-1","estimated_remaining_seconds":5}"#
        );
    }
}
