//! Results in pieces (MGP 12), with the pace and the gaps of later versions.
//!
//! Views of the messages only. Which pieces are kept, sent again or held back is decided elsewhere.

#[cfg(test)]
mod tests;

use std::time::Duration;

use switchboard_wire::{Edit, Kind, Raw};

view! { "snake_case";
    /// One piece of a result (MGP 12.4).
    StreamChunk {
        /// The id of the request that it belongs to.
        request_id: Raw,
        /// Its number. The first is 0.
        index: u64,
        ;
        /// What it holds: a content block. A piece that is lost has none.
        content: Raw,
        /// Whether it is the last one.
        done: bool,
        /// Whether it stands for a piece that nobody has any more.
        gap_unrecoverable: bool,
    }
}

view! { "snake_case";
    /// How far a long operation is (MGP 12.6).
    StreamProgress {
        /// The id of the request that it belongs to.
        request_id: Raw,
        /// From 0 to 1.
        progress: f64,
        ;
        /// In words.
        message: String,
        /// How long it may still take.
        estimated_remaining_ms: u64,
    }
}

view! { "snake_case";
    /// Asks for pieces that did not arrive.
    StreamGap {
        /// The id of the request that they belong to.
        request_id: Raw,
        /// Their numbers.
        missing_indices: Vec<u64>,
        ;
    }
}

view! { "snake_case";
    /// How fast pieces may come.
    StreamPace {
        /// How many in a second; 0 for none until further notice.
        max_chunks_per_second: f64,
        ;
        /// The id of the request that they belong to.
        request_id: Raw,
        /// The operation that they belong to, for who does not know the id (proposal 8).
        operation_id: String,
        /// `client_busy`, `rendering` or `user_paused`.
        reason: String,
    }
}

view! { "snake_case";
    /// Takes a request back (MGP 12.7).
    StreamCancelParams {
        ;
        /// The id of the request.
        request_id: Raw,
        /// The operation, for who does not know the id (proposal 8).
        operation_id: String,
        /// Why.
        reason: String,
    }
}
empty_by_default!(StreamCancelParams);

view! { "snake_case";
    /// What became of it.
    StreamCancelResult {
        /// Whether it was under way.
        cancelled: bool,
        ;
        /// What had come so far: a result.
        partial_result: Raw,
    }
}

view! { "snake_case";
    /// What the final result says about its pieces, in `_mgp` (MGP 12.5).
    Streamed {
        /// Whether there were any.
        streamed: bool,
        ;
        /// How many.
        chunks_sent: u64,
        /// How long it all took.
        duration_ms: u64,
    }
}

/// The final result of a call, with what is to be said about its pieces (MGP 12.5) beside what its server says there. A
/// server knows better than who passes its result on how long it took.
#[must_use]
pub fn with_pieces(result: Raw, sent: u64, took: Duration) -> Raw {
    let took = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    let told = |mgp: Edit| {
        let mgp = mgp.set("streamed", Raw::boolean(true)).set("chunks_sent", Raw::number(sent));
        if mgp.object().has("duration_ms") { mgp } else { mgp.set("duration_ms", Raw::number(took)) }
    };
    Edit::of(&result).and_then(|edit| edit.within("_mgp", told)).map_or(result, Edit::finish)
}

/// The text of a content block that is text.
#[must_use]
pub fn text_of(content: &Raw) -> Option<String> {
    if content.kind() != Kind::Object || content.member("type")?.as_text()? != "text" {
        return None;
    }
    content.member("text")?.as_text()
}
