//! The entry that puts Switchboard into a client's configuration.

use crate::import::Client;

/// The one entry a client needs, which runs `switchboard stdio`: a whole JSON document, or a TOML table. `command` is the
/// path of the program.
///
/// ```
/// use switchboard_config::{Client, client_entry};
///
/// let entry = client_entry(Client::Codex, "/usr/local/bin/switchboard");
/// assert_eq!(entry, "[mcp_servers.switchboard]\ncommand = \"/usr/local/bin/switchboard\"\nargs = [\"stdio\"]\n");
/// ```
pub fn client_entry(client: Client, command: &str) -> String {
    client.fresh(command)
}
