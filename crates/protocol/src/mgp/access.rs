//! The messages of access control (MGP 5.4), of the methods and of the kernel tools that later versions use instead.
//!
//! `agent_id` and `granted_by` are what the message says. Who really calls is known from the connection.

#[cfg(test)]
mod tests;

use std::fmt;

use switchboard_wire::Raw;

use crate::Fault;
use crate::fault::FaultKind;

words! {
    /// Whether something is allowed.
    Permission {
        /// It is.
        Allow = "allow",
        /// It is not.
        Deny = "deny",
    }
}

words! {
    /// What an entry is about (MGP 5.3).
    EntryType {
        /// All tools of a server.
        ServerGrant = "server_grant",
        /// One tool.
        ToolGrant = "tool_grant",
    }
}

words! {
    /// What decided (MGP 5.2).
    Source {
        /// Nothing was said: the policy.
        DefaultPolicy = "default_policy",
        /// An entry for the server.
        ServerGrant = "server_grant",
        /// An entry for the tool.
        ToolGrant = "tool_grant",
    }
}
words_on_wire!(Permission, EntryType, Source);

view! { "snake_case";
    /// The parameters of `mgp/access/query`.
    AccessQueryParams {
        /// About whom.
        agent_id: String,
        /// About which server.
        server_id: String,
        ;
        /// About which tool; about all entries where there is none.
        tool_name: String,
    }
}

view! { "snake_case";
    /// The result of `mgp/access/query`, and what decided it. Members without a value are `null`.
    AccessQueryResult {
        /// Whether the tool may be called.
        permission: Permission,
        /// What decided.
        source: Source,
        /// Who said so.
        granted_by: Option<String>,
        /// When, in RFC 3339.
        granted_at: Option<String>,
        /// Until when.
        expires_at: Option<String>,
        ;
    }
}

view! { "snake_case";
    /// The result of the tool `mgp_access_query` about one tool.
    AccessToolPermission {
        /// About whom.
        agent_id: String,
        /// About which server.
        server_id: String,
        /// About which tool.
        tool_name: String,
        /// Whether it may be called.
        permission: Permission,
        ;
    }
}

view! { "snake_case";
    /// The result of a query about all entries of a server.
    AccessEntries {
        /// About whom.
        agent_id: String,
        /// About which server.
        server_id: String,
        /// The entries.
        entries: Vec<AccessEntry>,
        ;
    }
}

view! { "snake_case";
    /// One entry. Members without a value are `null`.
    AccessEntry {
        /// What it is about.
        entry_type: EntryType,
        /// The server.
        server_id: String,
        /// The tool, of a tool grant.
        tool_name: Option<String>,
        /// What it says.
        permission: Permission,
        /// Who said so.
        granted_by: Option<String>,
        /// When, in RFC 3339.
        granted_at: Option<String>,
        ;
        /// Until when.
        expires_at: String,
    }
}

view! { "snake_case";
    /// The parameters of `mgp/access/grant`.
    AccessGrantParams {
        /// What the entry is about.
        entry_type: EntryType,
        /// Whom it lets.
        agent_id: String,
        /// The server.
        server_id: String,
        /// What it says.
        permission: Permission,
        ;
        /// The tool, of a tool grant.
        tool_name: String,
        /// Who says so. A claim: who calls is who grants.
        granted_by: String,
        /// Why.
        justification: String,
        /// Until when, in RFC 3339.
        expires_at: String,
        /// What narrows it: an object with `paths`, `commands`, `hosts` and the like, as permissions have it.
        scopes: Raw,
    }
}

view! { "snake_case";
    /// The result of `mgp/access/grant`.
    AccessGrantResult {
        /// `granted`
        status: String,
        /// What names the entry.
        id: Raw,
        /// Whom it lets.
        agent_id: String,
        /// The server.
        server_id: String,
        /// What it is about.
        entry_type: EntryType,
        /// What it says.
        permission: Permission,
        ;
    }
}

view! { "snake_case";
    /// The parameters of `mgp/access/revoke`.
    AccessRevokeParams {
        /// Whose entry.
        agent_id: String,
        /// The server.
        server_id: String,
        /// What the entry is about.
        entry_type: EntryType,
        ;
        /// The tool, of a tool grant.
        tool_name: String,
    }
}

view! { "snake_case";
    /// The result of `mgp/access/revoke`.
    AccessRevokeResult {
        /// `revoked`
        status: String,
        /// How many entries are gone.
        deleted_count: u64,
        /// Whose.
        agent_id: String,
        /// The server.
        server_id: String,
        /// What they were about.
        entry_type: EntryType,
        ;
    }
}

impl AccessGrantParams {
    /// The tool that the entry is about; none for a whole server.
    ///
    /// # Errors
    /// The entry's type and its tool contradict each other.
    pub fn tool(&self) -> Result<Option<&str>, Fault> {
        tool_of_entry(self.entry_type, self.tool_name.as_deref())
    }

    /// The answer when it was done.
    #[must_use]
    pub fn granted(&self, id: Raw) -> AccessGrantResult {
        let Self { agent_id, server_id, .. } = self.clone();
        AccessGrantResult::new("granted", id, agent_id, server_id, self.entry_type, self.permission)
    }
}

impl AccessRevokeParams {
    /// The tool that the entry is about; none for a whole server.
    ///
    /// # Errors
    /// The entry's type and its tool contradict each other.
    pub fn tool(&self) -> Result<Option<&str>, Fault> {
        tool_of_entry(self.entry_type, self.tool_name.as_deref())
    }

    /// The answer when it was done.
    #[must_use]
    pub fn revoked(&self, deleted_count: u64) -> AccessRevokeResult {
        let Self { agent_id, server_id, .. } = self.clone();
        AccessRevokeResult::new("revoked", deleted_count, agent_id, server_id, self.entry_type)
    }
}

/// A server grant that names a tool is refused: who wrote it may have meant less than it would give.
fn tool_of_entry(entry_type: EntryType, tool: Option<&str>) -> Result<Option<&str>, Fault> {
    match (entry_type, tool.filter(|tool| !tool.is_empty())) {
        (EntryType::ToolGrant, None) => Err(Fault::new(FaultKind::InvalidParams, "a `tool_grant` needs a `tool_name`")),
        (EntryType::ServerGrant, Some(_)) => {
            Err(Fault::new(FaultKind::InvalidParams, "a `server_grant` has no `tool_name`"))
        }
        (_, tool) => Ok(tool),
    }
}
