//! Which server an error came from: its name stands in the error's data from here on.

use switchboard_peer::Reply;
use switchboard_protocol::provenance;
use switchboard_upstream::Server;
use switchboard_wire::{Edit, Kind, Raw};

/// Where the data of a server's error stands that nothing can be added to.
const SERVER_DATA: &str = "server_data";
/// The dialect of a server that agreed on MGP.
pub const MGP_DIALECT: &str = "mgp";

/// The data of a server's error as an object. What is none, or has a member twice, stands in it as it came; `null` is
/// nothing.
fn opened(data: Option<&Raw>) -> Edit {
    let Some(data) = data.filter(|data| data.kind() != Kind::Null) else { return Edit::empty() };
    let Some(data) = provenance::of_error(data.clone()) else {
        // Readers would disagree about whose its members are: it stands there as a text.
        return Edit::empty().set(SERVER_DATA, Raw::string(data.as_str()));
    };
    Edit::of(&data).unwrap_or_else(|_| Edit::empty().set(SERVER_DATA, data))
}

/// The answer of a server, with its name in its error.
#[must_use]
pub fn stamped(reply: Reply, server: &Server) -> Reply {
    let Err(mut error) = reply.outcome else { return reply };
    let data = opened(error.data.as_ref());
    let dialect = if server.speaks_mgp() { MGP_DIALECT } else { "mcp" };
    let origin = Edit::empty()
        .set("server_id", Raw::string(server.id()))
        .set("dialect", Raw::string(dialect))
        // Another kernel may stand between.
        .set_optional("origin", data.object().get("origin"))
        .finish();
    error.data = Some(data.set("origin", origin).finish());
    Reply { outcome: Err(error), ..reply }
}
