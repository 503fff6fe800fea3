//! Progress, pieces of results, and going on from a checkpoint (proposal 8).
//!
//! The proposal fixes the objects and leaves their envelope open. Here each is the `params` of a notification with the
//! name of its type: `notifications/progress` and `notifications/stream_chunk`.

use switchboard_wire::Raw;

/// The notification that carries a piece.
pub const STREAM_CHUNK: &str = "notifications/stream_chunk";
/// Goes on with an operation.
pub const RESUME: &str = "operations/resume";
/// The tool that does the same.
pub const RESUME_TOOL: &str = "resume_operation";

view! { "snake_case";
    /// How far an operation is.
    OperationProgress {
        /// `progress`
        #[serde(rename = "type")]
        kind: String,
        /// What names the operation.
        operation_id: String,
        ;
        /// From 0 to 1.
        progress: f64,
        /// In words.
        message: String,
        /// How long it may still take.
        estimated_remaining_seconds: f64,
        /// What there is so far.
        partial_result: Raw,
        /// From where one can go on.
        checkpoint_token: String,
    }
}

view! { "snake_case";
    /// One piece of a result.
    OperationChunk {
        /// `stream_chunk`
        #[serde(rename = "type")]
        kind: String,
        /// What names the operation.
        operation_id: String,
        /// Its number. The first is 0.
        sequence: u64,
        ;
        /// What it holds.
        data: Raw,
        /// Whether it is the last one.
        is_final: bool,
        /// From where one can go on.
        checkpoint_token: String,
    }
}

view! { "snake_case";
    /// Goes on with an operation.
    Resume {
        /// What names the operation.
        operation_id: String,
        /// From where.
        checkpoint_token: String,
        ;
    }
}
