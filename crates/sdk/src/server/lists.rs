//! Lists, subscriptions and streams of changes.

use std::sync::Arc;

use indexmap::IndexMap;
use switchboard_peer::Context;
use switchboard_protocol::Era;
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mcp::{ListenParams, PaginatedParams, SubscribeParams, SubscriptionFilter, method};
use switchboard_wire::{Edit, Notification, Raw, Request};

use super::Server;
use super::handle::{method_not_found, view};
use crate::Error;
use crate::feed::{MAX_WATCHED, SessionState, tag};
use crate::page::page;

impl Server {
    pub(super) fn list_tools(&self, context: &Context, params: Option<&Raw>) -> Result<Raw, Error> {
        if !self.has_tools() {
            return Err(method_not_found(method::TOOLS_LIST));
        }
        let revision = context.caller.revision;
        let registry = self.0.registry.read();
        self.list(context, params, "tools", &registry.tools, |entry| Ok(entry.listed(revision).clone()))
    }

    pub(super) fn list_prompts(&self, context: &Context, params: Option<&Raw>) -> Result<Raw, Error> {
        if !self.has_prompts() {
            return Err(method_not_found(method::PROMPTS_LIST));
        }
        let registry = self.0.registry.read();
        self.list(context, params, "prompts", &registry.prompts, |prompt| Raw::from_value(&prompt.definition))
    }

    pub(super) fn list_resources(&self, context: &Context, params: Option<&Raw>) -> Result<Raw, Error> {
        if !self.has_resources() {
            return Err(method_not_found(method::RESOURCES_LIST));
        }
        let registry = self.0.registry.read();
        self.list(context, params, "resources", &registry.resources, |entry| Raw::from_value(&entry.definition))
    }

    pub(super) fn list_templates(&self, context: &Context, params: Option<&Raw>) -> Result<Raw, Error> {
        if !self.has_resources() {
            return Err(method_not_found(method::RESOURCES_TEMPLATES_LIST));
        }
        let registry = self.0.registry.read();
        self.list(context, params, "resourceTemplates", &registry.templates, |entry| {
            Raw::from_value(&entry.template.definition)
        })
    }

    fn list<T>(
        &self,
        context: &Context,
        params: Option<&Raw>,
        key: &str,
        entries: &IndexMap<String, Arc<T>>,
        write: impl Fn(&T) -> Result<Raw, serde_json::Error>,
    ) -> Result<Raw, Error> {
        let params: PaginatedParams = view(params)?;
        let (entries, next) = page(entries, params.cursor.as_deref(), self.options().page_size)
            .ok_or_else(|| Error::invalid_params("the cursor was not issued by this server"))?;
        let written = entries.into_iter().map(|entry| write(entry)).collect::<Result<Vec<_>, _>>()?;
        let result = Edit::empty().set(key, Raw::array(&written));
        let result = result.set_optional("nextCursor", next.as_deref().map(Raw::string)).finish();
        if context.caller.era() == Era::Modern { self.cached(&result, self.options().list_cache) } else { Ok(result) }
    }

    /// Whether there is a resource at that address, fixed or by a template.
    fn knows_resource(&self, uri: &str) -> bool {
        let registry = self.0.registry.read();
        registry.resources.contains_key(uri)
            || registry.templates.values().any(|entry| entry.pattern.matches(uri).is_some())
    }

    pub(super) fn subscribe(&self, context: &Context, params: Option<&Raw>) -> Result<Raw, Error> {
        if !self.has_resources() {
            return Err(method_not_found(method::RESOURCES_SUBSCRIBE));
        }
        let params: SubscribeParams = view(params)?;
        if !self.knows_resource(&params.uri) {
            return Err(Error::resource_not_found(&params.uri));
        }
        if !SessionState::of(&context.session).watch(params.uri) {
            return Err(Error::fault(Fault::new(FaultKind::ResourceExhausted, "too many subscriptions")));
        }
        Ok(Raw::empty_object())
    }

    pub(super) fn unsubscribe(&self, context: &Context, params: Option<&Raw>) -> Result<Raw, Error> {
        if !self.has_resources() {
            return Err(method_not_found(method::RESOURCES_UNSUBSCRIBE));
        }
        let params: SubscribeParams = view(params)?;
        SessionState::of(&context.session).unwatch(&params.uri);
        Ok(Raw::empty_object())
    }

    /// The part of a wish that can be granted.
    fn grant(&self, context: &Context, wanted: SubscriptionFilter) -> SubscriptionFilter {
        let flag = |wanted: Option<bool>, offered: bool| (wanted == Some(true) && offered).then_some(true);
        let mut granted = SubscriptionFilter::new();
        granted.tools_list_changed = flag(wanted.tools_list_changed, self.has_tools());
        granted.prompts_list_changed = flag(wanted.prompts_list_changed, self.has_prompts());
        granted.resources_list_changed = flag(wanted.resources_list_changed, self.has_resources());
        granted.resource_subscriptions = wanted
            .resource_subscriptions
            .filter(|_| self.has_resources())
            .map(|uris| uris.into_iter().filter(|uri| self.knows_resource(uri)).take(MAX_WATCHED).collect());
        let principal = &context.session.principal;
        granted.task_ids = wanted.task_ids.filter(|_| self.has_tasks()).map(|ids| {
            let known = |id: &String| self.0.tasks.find(id, principal, Era::Modern).is_ok();
            ids.into_iter().filter(known).take(MAX_WATCHED).collect()
        });
        granted
    }

    pub(super) async fn listen(&self, context: &Context, request: &Request) -> Result<Raw, Error> {
        let params: ListenParams = view(request.params.as_ref())?;
        if params.notifications.task_ids.is_some() {
            Self::require_tasks(context)?;
        }
        let id = request.id.to_raw();
        let granted = self.grant(context, params.notifications);
        let acknowledged = Edit::empty().set("notifications", Raw::from_value(&granted)?).finish();
        let acknowledged = tag(Some(&acknowledged), &id);
        let acknowledge = || {
            let notice = Notification::new(method::SUBSCRIPTIONS_ACKNOWLEDGED, Some(acknowledged));
            if let Err(error) = context.remote.notify(notice) {
                tracing::debug!(%error, "a stream could not be acknowledged");
            }
        };
        let stream = self.0.feed.listen(id.clone(), granted, context.remote.clone(), acknowledge);
        let Some(_stream) = stream else {
            return Err(Error::fault(Fault::new(FaultKind::ResourceExhausted, "too many streams are open")));
        };
        tokio::select! {
            () = self.0.closing.cancelled() => {}
            () = context.cancel.cancelled() => {}
        }
        Ok(tag(None, &id))
    }
}
