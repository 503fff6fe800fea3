//! Work that outlives its request: the tasks of 2025-11-25, and the tasks extension of 2026-07-28.
//!
//! The two do not understand each other. What they share is the life of a task, so each form can be made from the
//! other; everything around it (how a task is asked for, and how its result is fetched) is bridged elsewhere.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use switchboard_wire::Raw;

use super::{InputRequest, JsonObject, RequestMeta, ResultKind};

/// Where a task is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TaskStatus {
    /// At work.
    Working,
    /// Waits for the client.
    InputRequired,
    /// Done.
    Completed,
    /// Done, with an error.
    Failed,
    /// Taken back.
    Cancelled,
}

impl TaskStatus {
    /// Whether nothing more will happen.
    #[must_use]
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

view! {
    /// A task of 2025-11-25. Also the result of `tasks/get` and `tasks/cancel`, and the parameters of
    /// `notifications/tasks/status`.
    LegacyTask {
        /// Its name.
        task_id: String,
        /// Where it is.
        status: TaskStatus,
        /// When it was made, in ISO 8601.
        created_at: String,
        /// When it last changed, in ISO 8601.
        last_updated_at: String,
        /// How long it is kept from its making, in milliseconds; `null` for as long as the server likes.
        ttl: Option<u64>,
        ;
        /// How often to ask, in milliseconds.
        poll_interval: u64,
        /// Where it is, for people.
        status_message: String,
        /// Metadata.
        #[serde(rename = "_meta")]
        meta: JsonObject,
    }
}

view! {
    /// A task of the 2026-07-28 extension. Also the result of a request that became a task (`resultType` "task") and
    /// of `tasks/get`, and the parameters of `notifications/tasks`.
    Task {
        /// Its name.
        task_id: String,
        /// Where it is.
        status: TaskStatus,
        /// When it was made, in ISO 8601.
        created_at: String,
        /// When it last changed, in ISO 8601.
        last_updated_at: String,
        /// How long it is kept from its making, in milliseconds; `null` for as long as the server likes.
        ttl_ms: Option<u64>,
        ;
        /// `task` where a request became one, `complete` in an answer to `tasks/get`.
        result_type: String,
        /// How often to ask, in milliseconds.
        poll_interval_ms: u64,
        /// Where it is, for people.
        status_message: String,
        /// What it waits for, where it waits.
        input_requests: IndexMap<String, InputRequest>,
        /// What the request would have given, where it is done.
        result: Raw,
        /// The JSON-RPC error, where it failed.
        error: Raw,
        /// Metadata.
        #[serde(rename = "_meta")]
        meta: JsonObject,
    }
}

view! {
    /// The member `task` of a request that is to become one (2025-11-25).
    TaskMetadata {
        ;
        /// How long to keep it, in milliseconds.
        ttl: u64,
    }
}
empty_by_default!(TaskMetadata);

view! {
    /// The task a message belongs to, in its `_meta` (2025-11-25).
    RelatedTask {
        /// Its name.
        task_id: String,
        ;
    }
}

view! {
    /// The result of a request that became a task (2025-11-25).
    CreateTaskResult {
        /// The task.
        task: LegacyTask,
        ;
        /// Metadata.
        #[serde(rename = "_meta")]
        meta: JsonObject,
    }
}

view! {
    /// The result of `tasks/list` (2025-11-25).
    ListTasksResult {
        /// The tasks.
        tasks: Vec<LegacyTask>,
        ;
        /// Where the next page begins.
        next_cursor: String,
        /// Metadata.
        #[serde(rename = "_meta")]
        meta: JsonObject,
    }
}

view! {
    /// The parameters of `tasks/get`, `tasks/result` and `tasks/cancel`.
    TaskIdParams {
        /// The task.
        task_id: String,
        ;
        /// Metadata.
        #[serde(rename = "_meta")]
        meta: RequestMeta,
    }
}

view! {
    /// The parameters of `tasks/update` (tasks extension): answers to what the task waits for.
    UpdateTaskParams {
        /// The task.
        task_id: String,
        /// The answers, by the keys of the questions.
        input_responses: IndexMap<String, Raw>,
        ;
        /// Metadata.
        #[serde(rename = "_meta")]
        meta: RequestMeta,
    }
}

impl From<LegacyTask> for Task {
    fn from(task: LegacyTask) -> Self {
        let LegacyTask {
            task_id,
            status,
            created_at,
            last_updated_at,
            ttl,
            poll_interval,
            status_message,
            meta,
            extra,
        } = task;
        Self {
            task_id,
            status,
            created_at,
            last_updated_at,
            ttl_ms: ttl,
            result_type: None,
            poll_interval_ms: poll_interval,
            status_message,
            input_requests: None,
            result: None,
            error: None,
            meta,
            extra,
        }
    }
}

impl From<Task> for LegacyTask {
    /// What the legacy form has no place for (the result, the error, the questions) is fetched by other requests there.
    fn from(task: Task) -> Self {
        let Task {
            task_id,
            status,
            created_at,
            last_updated_at,
            ttl_ms,
            poll_interval_ms,
            status_message,
            meta,
            extra,
            ..
        } = task;
        Self {
            task_id,
            status,
            created_at,
            last_updated_at,
            ttl: ttl_ms,
            poll_interval: poll_interval_ms,
            status_message,
            meta,
            extra,
        }
    }
}

impl Task {
    /// The same task as the result of the request that became it.
    #[must_use]
    pub fn created(self) -> Self {
        self.result_type(ResultKind::TASK)
    }
}
