//! What the kernel is told of a server that cannot be started as it is declared.

use switchboard_config::{ErrorKind, Server};
use switchboard_kernel::{Restart, ServerSpec};
use switchboard_peer::client::Target;

use super::{Surroundings, spec_at};

/// What the kernel is told of a server whose entry cannot be used, so that clients hear that it is missing and why. `None` for
/// one that can be used, or is not meant to be.
pub(crate) fn unusable(server: &Server, surroundings: &Surroundings<'_>) -> Option<ServerSpec> {
    let problem = server.problem().filter(|_| server.enabled())?;
    let why = match problem.kind() {
        ErrorKind::Untrusted => return None,
        ErrorKind::MissingVariable { name, .. } => format!(
            "{}; set {name} where the client is started (`env` of its entry for Switchboard) and start the client again, or \
             write `${{{name}:-default}}` in {}",
            problem.kind(),
            server.file.display()
        ),
        // What stands there may be a secret.
        ErrorKind::BadReference { key, .. } | ErrorKind::BadValue { key, .. } => {
            format!("`{key}` of its entry in {} cannot be used", server.file.display())
        }
        kind => format!("{kind}; {}", problem.help()),
    };
    let spec = spec_at(server, surroundings, |print| {
        print.word(&why);
        Target::Nowhere(why)
    });
    Some(ServerSpec { restart: Restart::Never, ..spec })
}
