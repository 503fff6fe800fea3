//! What a peer says it can do.

use serde_json::Value;

use super::JsonObject;

view! {
    /// What a client can do.
    ClientCapabilities {
        ;
        /// Lists its roots.
        roots: RootsCapability,
        /// Asks a model.
        sampling: SamplingCapability,
        /// Asks a person.
        elicitation: ElicitationCapability,
        /// Runs server requests as tasks (2025-11-25).
        tasks: TasksCapability,
        /// Trials, by name. Any shape, as peers put many things here.
        experimental: Value,
        /// Extensions, by identifier. An object from 2026-07-28 on; other shapes exist and are kept.
        extensions: Value,
    }
}

view! {
    /// What a server can do.
    ServerCapabilities {
        ;
        /// Has tools.
        tools: ToolsCapability,
        /// Has resources.
        resources: ResourcesCapability,
        /// Has prompts.
        prompts: PromptsCapability,
        /// Completes arguments.
        completions: Value,
        /// Sends log messages.
        logging: Value,
        /// Runs requests as tasks (2025-11-25).
        tasks: TasksCapability,
        /// Trials, by name. Any shape, as peers put many things here.
        experimental: Value,
        /// Extensions, by identifier. An object from 2026-07-28 on; other shapes exist and are kept.
        extensions: Value,
    }
}

view! {
    /// About roots.
    RootsCapability {
        ;
        /// Says when they change (before 2026-07-28).
        list_changed: bool,
    }
}

view! {
    /// About asking a model.
    SamplingCapability {
        ;
        /// With tools.
        tools: Value,
        /// With context of servers.
        context: Value,
    }
}

view! {
    /// About asking a person.
    ElicitationCapability {
        ;
        /// By a form. A client that names no way at all can do this one.
        form: Value,
        /// By a page in a browser.
        url: Value,
    }
}

view! {
    /// About tasks (2025-11-25).
    TasksCapability {
        ;
        /// Lists them.
        list: Value,
        /// Cancels them.
        cancel: Value,
        /// Which requests may become tasks.
        requests: JsonObject,
    }
}

view! {
    /// About tools.
    ToolsCapability {
        ;
        /// Says when they change.
        list_changed: bool,
    }
}

view! {
    /// About resources.
    ResourcesCapability {
        ;
        /// Says when one changes.
        subscribe: bool,
        /// Says when the list changes.
        list_changed: bool,
    }
}

view! {
    /// About prompts.
    PromptsCapability {
        ;
        /// Says when they change.
        list_changed: bool,
    }
}

empty_by_default!(
    ClientCapabilities,
    ServerCapabilities,
    RootsCapability,
    SamplingCapability,
    ElicitationCapability,
    TasksCapability,
    ToolsCapability,
    ResourcesCapability,
    PromptsCapability
);

impl ClientCapabilities {
    /// The settings of an extension, where it is declared.
    #[must_use]
    pub fn extension(&self, id: &str) -> Option<&Value> {
        self.extensions.as_ref()?.get(id)
    }

    /// Whether forms can be shown to a person. Before 2025-11-25 the capability had no parts and meant forms.
    #[must_use]
    pub fn elicits_forms(&self) -> bool {
        self.elicitation.as_ref().is_some_and(|ways| ways.form.is_some() || ways.url.is_none())
    }

    /// Whether a page can be shown to a person.
    #[must_use]
    pub fn elicits_urls(&self) -> bool {
        self.elicitation.as_ref().is_some_and(|ways| ways.url.is_some())
    }
}

impl ServerCapabilities {
    /// The settings of an extension, where it is declared.
    #[must_use]
    pub fn extension(&self, id: &str) -> Option<&Value> {
        self.extensions.as_ref()?.get(id)
    }
}
