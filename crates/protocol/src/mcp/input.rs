//! Results that ask for more before there is a real one (2026-07-28).

use indexmap::IndexMap;
use switchboard_wire::Raw;

use super::JsonObject;

/// What sort of result a `resultType` announces.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResultKind {
    /// The answer. Also where no type is named, as in the legacy era.
    Complete,
    /// More is needed: see [`InputRequiredResult`].
    InputRequired,
    /// A task was made (tasks extension).
    Task,
    /// A type that no extension we know defines.
    Other(String),
}

impl ResultKind {
    /// The word of an answer.
    pub const COMPLETE: &'static str = "complete";
    /// The word of a result that asks for more.
    pub const INPUT_REQUIRED: &'static str = "input_required";
    /// The word of a new task.
    pub const TASK: &'static str = "task";

    /// What a raw result announces.
    #[must_use]
    pub fn of(result: &Raw) -> Self {
        match result.member("resultType").and_then(|kind| kind.as_text()).as_deref() {
            None | Some(Self::COMPLETE) => Self::Complete,
            Some(Self::INPUT_REQUIRED) => Self::InputRequired,
            Some(Self::TASK) => Self::Task,
            Some(other) => Self::Other(other.to_owned()),
        }
    }
}

view! {
    /// A result that asks the client for more. The client sends the same request again, with the answers under the
    /// same keys and the state as it was.
    InputRequiredResult {
        /// `input_required`.
        result_type: String,
        ;
        /// What is asked, by keys of the server's choice.
        input_requests: IndexMap<String, InputRequest>,
        /// To be given back exactly.
        request_state: String,
        /// Metadata.
        #[serde(rename = "_meta")]
        meta: JsonObject,
    }
}

impl InputRequiredResult {
    /// Asks for these.
    #[must_use]
    pub fn asking(requests: IndexMap<String, InputRequest>) -> Self {
        Self::new(ResultKind::INPUT_REQUIRED).input_requests(requests)
    }
}

view! {
    /// One thing that is asked: a request without an id.
    InputRequest {
        /// `elicitation/create`, `sampling/createMessage` or `roots/list`.
        method: String,
        ;
        /// Its parameters.
        params: Raw,
    }
}
