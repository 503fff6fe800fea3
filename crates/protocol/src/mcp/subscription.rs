//! Listening for changes (2026-07-28).

use switchboard_wire::Raw;

use super::{JsonObject, RequestMeta};

view! {
    /// The parameters of `subscriptions/listen`.
    ListenParams {
        /// What to hear of.
        notifications: SubscriptionFilter,
        ;
        /// Metadata.
        #[serde(rename = "_meta")]
        meta: RequestMeta,
    }
}

view! {
    /// What to hear of.
    SubscriptionFilter {
        ;
        /// Changes of the list of tools.
        tools_list_changed: bool,
        /// Changes of the list of prompts.
        prompts_list_changed: bool,
        /// Changes of the list of resources.
        resources_list_changed: bool,
        /// Changes of these resources.
        resource_subscriptions: Vec<String>,
        /// Changes of these tasks (tasks extension).
        task_ids: Vec<String>,
    }
}
empty_by_default!(SubscriptionFilter);

view! {
    /// The parameters of `notifications/subscriptions/acknowledged`: what the server will tell.
    SubscriptionsAcknowledgedParams {
        /// The part of the wish that is granted.
        notifications: SubscriptionFilter,
        ;
        /// Metadata, with the subscription.
        #[serde(rename = "_meta")]
        meta: JsonObject,
    }
}

view! {
    /// The result of `subscriptions/listen`, which ends it.
    ListenResult {
        ;
        /// `complete`.
        result_type: String,
        /// Metadata, with the subscription.
        #[serde(rename = "_meta")]
        meta: JsonObject,
    }
}
empty_by_default!(ListenResult);

impl SubscriptionFilter {
    /// Whether it asks for nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let wants = |flag: Option<bool>| flag == Some(true);
        let names = |list: &Option<Vec<String>>| list.as_ref().is_some_and(|list| !list.is_empty());
        !(wants(self.tools_list_changed)
            || wants(self.prompts_list_changed)
            || wants(self.resources_list_changed)
            || names(&self.resource_subscriptions)
            || names(&self.task_ids))
    }

    /// The id of the subscription that a notification belongs to, from its raw parameters.
    #[must_use]
    pub fn subscription_of(params: &Raw) -> Option<Raw> {
        params.at(&["_meta", super::meta::SUBSCRIPTION_ID])
    }
}
