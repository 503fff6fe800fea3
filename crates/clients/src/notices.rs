//! What a server says of itself or of its lists: who hears of it.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use switchboard_directory::ListKind;
use switchboard_gate::Presented;
use switchboard_gate::lists::{HeldList, HeldLists};
use switchboard_peer::{Context, Session};
use switchboard_protocol::mcp::method;
use switchboard_protocol::{mgp, proposals};
use switchboard_services::{EventService, ManifestService};
use switchboard_upstream::Server;
use switchboard_wire::Notification;
use tokio_util::sync::CancellationToken;

use crate::ClientHost;
use crate::session::ClientState;

/// How long changes of lists are gathered before clients are told of the first: where many servers come up, one follows the other.
const FIRST_NOTICE: Duration = Duration::from_millis(200);
/// How long they are gathered while more come.
const NEXT_NOTICE: Duration = Duration::from_secs(1);

/// Tells everybody that lists have changed: clients, streams, and who has read a manifest.
pub fn tell_changed<H: ClientHost>(host: &H, changed: &[ListKind]) {
    if !changed.is_empty() && !host.connected().is_empty() && host.connected().gather(changed) {
        let host = host.clone();
        host.clone().spawn(Box::pin(async move {
            let mut wait = FIRST_NOTICE;
            loop {
                tokio::time::sleep(wait).await;
                let changed = host.connected().take_gathered();
                if changed.is_empty() {
                    return;
                }
                tell_lists(&host, &changed).await;
                wait = NEXT_NOTICE;
            }
        }));
    }
    if changed.contains(&ListKind::Tools) {
        ManifestService::of(host).manifest_changed("tools");
    }
}

/// Tells clients that lists have changed: streams that asked for it, and sessions that would be listed something else now.
async fn tell_lists<H: ClientHost>(host: &H, changed: &HashSet<ListKind>) {
    for (name, kinds) in [
        (method::TOOLS_LIST_CHANGED, &[ListKind::Tools][..]),
        (method::PROMPTS_LIST_CHANGED, &[ListKind::Prompts]),
        (method::RESOURCES_LIST_CHANGED, &[ListKind::Resources, ListKind::Templates]),
    ] {
        let kinds: Vec<ListKind> = kinds.iter().copied().filter(|kind| changed.contains(kind)).collect();
        if kinds.is_empty() {
            continue;
        }
        let notification = Notification::new(name, None);
        for session in host.connected().introduced() {
            let (caller, remote) = (session.caller(), session.remote().clone());
            let cancel = CancellationToken::new();
            let context = Context { caller, remote, cancel, headers: None, open_owners: None, session };
            let state = ClientState::of(&context.session);
            if are_outdated(host, &context, &state.lists, &kinds).await {
                let _ = context.remote.notify(notification.clone());
            }
        }
        // A stream was asked for to hear of changes, and nobody knows what its client holds.
        for listener in host.connected().listeners.of_lists(&kinds) {
            listener.tell(&notification);
        }
    }
}

/// Whether any of these lists is another one than the client holds; it may be where nothing is known of them.
async fn are_outdated<H: ClientHost>(host: &H, context: &Context, lists: &HeldLists, kinds: &[ListKind]) -> bool {
    let held = lists.of(kinds);
    let mut outdated = held.is_empty();
    for (kind, held) in held.into_iter().filter(|(_, held)| *held != HeldList::Awaited) {
        outdated |= match host.list_now(context, kind).await {
            Ok(list) => lists.is_outdated(kind, held, HeldList::given(&list)),
            // Who asks is told why.
            Err(_) => true,
        };
    }
    outdated
}

/// Takes a notification that is the kernel's own business; `false` for one that is the clients'.
pub fn take_notice<H: ClientHost>(host: &H, server: &Arc<Server>, notification: &Notification) -> bool {
    let text = |key: &str| notification.params.as_ref().and_then(|params| params.member(key)?.as_text());
    match &*notification.method {
        method::TOOLS_LIST_CHANGED => server.refresh_said(ListKind::Tools),
        method::PROMPTS_LIST_CHANGED => server.refresh_said(ListKind::Prompts),
        method::RESOURCES_LIST_CHANGED => server.refresh_said(ListKind::Resources),
        method::RESOURCES_UPDATED => {
            if let Some(uri) = text("uri") {
                resource_updated(host, server, uri, notification);
            }
        }
        method::TASKS_STATUS => task_changed(host, server, &text("taskId").unwrap_or_default(), notification),
        // The modern form; nobody here asked for it.
        "notifications/tasks" => {}
        method::SUBSCRIPTIONS_ACKNOWLEDGED | method::CANCELLED => {}
        // The kernel tells of states as it sees them.
        mgp::method::LIFECYCLE => server.says_of_itself(notification),
        // A server's word about what happened is no record, and nobody shall take it for the kernel's.
        mgp::method::AUDIT => {}
        mgp::method::EVENT => EventService::of(host).take_event(server, notification),
        proposals::push::EVENT if server.pushes() => EventService::of(host).take_push(server, notification),
        _ => return false,
    }
    true
}

/// Tells the owner of a task of its state. With two owners of one id nobody can say whose it is.
fn task_changed<H: ClientHost>(host: &H, server: &Arc<Server>, task: &str, notification: &Notification) {
    let tables = host.gate().granted.latest();
    let (exchange, tokens) = (host.exchange(), Presented::default());
    let may_see = |session: &Session| exchange.may_see_task(session, &tokens, &tables, server, task);
    if let [owner] = exchange.owners_of_task(task, server.id()).as_slice() {
        let own = |session: &&Arc<Session>| session.principal == *owner && may_see(session);
        for session in host.connected().introduced().iter().filter(own) {
            let _ = session.remote().notify(notification.clone());
        }
    }
}

fn resource_updated<H: ClientHost>(host: &H, server: &Arc<Server>, uri: String, notification: &Notification) {
    let tell = |host: &H, server: &Arc<Server>, uri: &str, told: &Notification| {
        host.connected().tell_of_update((host.gate(), &host.offered()), server, uri, told);
    };
    if host.gate().granted.now().is_some() {
        return tell(host, server, &uri, notification);
    }
    // Nobody is told by what may have been taken back meanwhile.
    let (around, server, told) = (host.clone(), server.clone(), notification.clone());
    host.spawn(Box::pin(async move {
        if around.gate().tables().await.is_ok() {
            tell(&around, &server, &uri, &told);
        }
    }));
}
