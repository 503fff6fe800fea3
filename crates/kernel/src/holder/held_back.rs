//! What clients that are connected hear when something of a server begins to be held back: once, as a log message.
//!
//! Their instructions were told when they connected, and a tool that is missing without a word is broken.

use crate::clients::ClientState;
use crate::gate::pins::accept_command;
use crate::kernel::Kernel;
use crate::server::{Quarantine, Server};

/// Tells clients that may use a server what is held back of it since `before`.
pub(crate) fn notify_held(kernel: &Kernel, server: &Server, before: &Quarantine, now: &Quarantine) {
    let Some(message) = message(server.id(), before, now) else { return };
    tracing::warn!("{message}");
    let notification = crate::initialize::own_log(&message);
    let tables = kernel.gate().granted.latest();
    for session in kernel.clients() {
        if kernel.gate().knows_of(&tables, &session, server) && ClientState::of(&session).wants_log(&notification) {
            let _ = session.remote().notify(notification.clone());
        }
    }
}

fn message(server: &str, before: &Quarantine, now: &Quarantine) -> Option<String> {
    let fresh = now.keys().filter(|name| !before.contains_key(*name)).count();
    if fresh == 0 {
        return None;
    }
    let (definitions, are) = if now.len() == 1 { ("definition", "is") } else { ("definitions", "are") };
    Some(format!(
        "{} {definitions} of server `{server}` {are} held back until a person has looked at them: `{}`",
        now.len(),
        accept_command(server, None)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_told_of_once() {
        let held =
            |names: &[&str]| -> Quarantine { names.iter().map(|name| ((*name).to_owned(), String::new())).collect() };
        let told = message("s", &held(&[]), &held(&["a", "b"])).unwrap();
        assert!(
            told.starts_with("2 definitions of server `s` are") && told.ends_with("`switchboard pins accept s`"),
            "{told}"
        );
        assert_eq!(message("s", &held(&["a", "b"]), &held(&["a", "b"])), None);
        assert_eq!(message("s", &held(&["a", "b"]), &held(&["a"])), None);
        assert!(message("s", &held(&["a"]), &held(&["b"])).is_some());
    }
}
