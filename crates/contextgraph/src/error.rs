//! What can go wrong, with the codes of the specification.
//!
//! Each problem has a code (section 4 of the specification), a finer class for programs, and a message that says what
//! to do. How it is put into an answer is decided by the server.

/// What can go wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Problem {
    /// The class, which has the code.
    pub code: Code,
    /// The finer class, for programs.
    pub kind: &'static str,
    /// What is wrong and what to do about it.
    pub message: String,
}

/// The codes of the specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// The arguments do not fit.
    InvalidParams,
    /// Something that should never fail did.
    Internal,
    /// The store failed, or has no such memory.
    Storage,
    /// A text cannot be embedded.
    Embedding,
    /// A measure of learning cannot be computed.
    Utl,
    /// No tool of that name.
    ToolNotFound,
    /// The workspace, the oscillators or the ego are not there yet.
    GwtNotInitialized,
    /// The workspace refuses.
    Workspace,
    /// C(t) cannot be computed.
    Consciousness,
    /// Dreaming failed or is refused.
    Dream,
    /// A modulator cannot be changed.
    Neuromodulation,
    /// Thresholds cannot be computed or changed.
    Threshold,
    /// An embedding that must be there is missing.
    InvalidFingerprint,
    /// A difference cannot be computed.
    Computation,
    /// An embedding has the wrong length.
    DimensionMismatch,
    /// What was asked for is not there, where the specification wants an answer that the model reads.
    Refused,
}

impl Code {
    /// The number on the wire; `None` where the answer is a result with `isError`.
    #[must_use]
    pub const fn number(self) -> Option<i64> {
        Some(match self {
            Self::InvalidParams => -32602,
            Self::Internal => -32603,
            Self::Storage => -32001,
            Self::Embedding => -32002,
            Self::Utl => -32003,
            Self::ToolNotFound => -32004,
            Self::GwtNotInitialized => -32005,
            Self::Workspace => -32006,
            Self::Consciousness => -32007,
            Self::Dream => -32008,
            Self::Neuromodulation => -32009,
            Self::Threshold => -32010,
            Self::InvalidFingerprint => -32801,
            Self::Computation => -32802,
            Self::DimensionMismatch => -32803,
            Self::Refused => return None,
        })
    }

    /// The name in the specification.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::InvalidParams => "INVALID_PARAMS",
            Self::Internal => "INTERNAL_ERROR",
            Self::Storage => "STORAGE_ERROR",
            Self::Embedding => "EMBEDDING_ERROR",
            Self::Utl => "UTL_ERROR",
            Self::ToolNotFound => "TOOL_NOT_FOUND",
            Self::GwtNotInitialized => "GWT_NOT_INITIALIZED",
            Self::Workspace => "WORKSPACE_ERROR",
            Self::Consciousness => "CONSCIOUSNESS_COMPUTATION_FAILED",
            Self::Dream => "DREAM_ERROR",
            Self::Neuromodulation => "NEUROMOD_ERROR",
            Self::Threshold => "THRESHOLD_ERROR",
            Self::InvalidFingerprint => "INVALID_FINGERPRINT",
            Self::Computation => "COMPUTATION_ERROR",
            Self::DimensionMismatch => "DIMENSION_MISMATCH",
            Self::Refused => "REFUSED",
        }
    }
}

/// A result of the engine.
pub type Outcome<T> = Result<T, Problem>;

impl Problem {
    /// A problem of a class.
    pub fn new(code: Code, kind: &'static str, message: impl Into<String>) -> Self {
        Self { code, kind, message: message.into() }
    }

    /// Arguments that do not fit.
    pub fn params(message: impl Into<String>) -> Self {
        Self::new(Code::InvalidParams, "INVALID_PARAMS", message)
    }

    /// There is no such memory.
    #[must_use]
    pub fn no_memory(id: crate::Id) -> Self {
        let message = format!("memory not found: {id}; search_graph gives the ids of memories that exist");
        Self::new(Code::Storage, "NODE_NOT_FOUND", message)
    }

    /// The store failed.
    pub fn storage(error: impl std::fmt::Display) -> Self {
        Self::new(Code::Storage, "STORAGE_ERROR", format!("the memory store failed: {error}"))
    }

    /// A number that is none.
    #[must_use]
    pub fn not_finite(what: &str) -> Self {
        Self::new(Code::Computation, "NOT_FINITE", format!("{what} holds NaN or infinity"))
    }
}
