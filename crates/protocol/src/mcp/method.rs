//! Method names of every revision, in one place.

macro_rules! methods {
    ($($(#[$doc:meta])* $name:ident = $text:literal;)*) => {
        $($(#[$doc])* #[doc = concat!("`", $text, "`")] pub const $name: &str = $text;)*
    };
}

methods! {
    INITIALIZE = "initialize";
    INITIALIZED = "notifications/initialized";
    DISCOVER = "server/discover";
    PING = "ping";
    CANCELLED = "notifications/cancelled";
    PROGRESS = "notifications/progress";
    TOOLS_LIST = "tools/list";
    TOOLS_CALL = "tools/call";
    TOOLS_LIST_CHANGED = "notifications/tools/list_changed";
    RESOURCES_LIST = "resources/list";
    RESOURCES_TEMPLATES_LIST = "resources/templates/list";
    RESOURCES_READ = "resources/read";
    RESOURCES_SUBSCRIBE = "resources/subscribe";
    RESOURCES_UNSUBSCRIBE = "resources/unsubscribe";
    RESOURCES_LIST_CHANGED = "notifications/resources/list_changed";
    RESOURCES_UPDATED = "notifications/resources/updated";
    PROMPTS_LIST = "prompts/list";
    PROMPTS_GET = "prompts/get";
    PROMPTS_LIST_CHANGED = "notifications/prompts/list_changed";
    COMPLETE = "completion/complete";
    SET_LEVEL = "logging/setLevel";
    LOG_MESSAGE = "notifications/message";
    ROOTS_LIST = "roots/list";
    ROOTS_LIST_CHANGED = "notifications/roots/list_changed";
    CREATE_MESSAGE = "sampling/createMessage";
    ELICIT = "elicitation/create";
    ELICITATION_COMPLETE = "notifications/elicitation/complete";
    TASKS_GET = "tasks/get";
    TASKS_RESULT = "tasks/result";
    TASKS_LIST = "tasks/list";
    TASKS_CANCEL = "tasks/cancel";
    TASKS_UPDATE = "tasks/update";
    TASKS_STATUS = "notifications/tasks/status";
    /// The tasks extension of 2026-07-28:
    TASKS_CHANGED = "notifications/tasks";
    SUBSCRIPTIONS_LISTEN = "subscriptions/listen";
    SUBSCRIPTIONS_ACKNOWLEDGED = "notifications/subscriptions/acknowledged";
}
