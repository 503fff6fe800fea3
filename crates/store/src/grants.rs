//! Grants: permission decisions about servers (MGP 3) and access entries of principals (MGP 5).

use jiff::Timestamp;
use serde_json::value::RawValue;

use crate::sql::{Row, Statement, Value};
use crate::store::Tables;
use crate::{Answer, Grants, StoreError};

// The words of the protocol are the words of the store: one list, in one place.
pub use switchboard_protocol::mgp::access::{EntryType, Permission};
pub use switchboard_protocol::mgp::permission::Decision as PermissionDecision;

/// Gives an enum of words its two directions.
macro_rules! words {
    ($name:ty { $($variant:ident = $word:literal),+ $(,)? }) => {
        impl $name {
            /// The word of the protocol.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            /// From the word of the protocol.
            pub fn from_word(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}
pub(crate) use words;

/// An access entry: what one principal may do with one server or tool.
///
/// Allow and deny are separate entries, so that a deny with an end does not erase the allow beneath it.
#[derive(Debug, Clone)]
pub struct AccessEntry {
    /// The principal; MGP's agent.
    pub principal: String,
    /// The server.
    pub server: String,
    /// The tool; `None` makes this a server grant.
    pub tool: Option<String>,
    /// Allow or deny.
    pub permission: Permission,
    /// Who granted it: from authentication, never from a parameter.
    pub granted_by: String,
    /// When.
    pub granted_at: Timestamp,
    /// Until when; the entry does not count at this instant any more.
    pub expires_at: Option<Timestamp>,
    /// Why.
    pub justification: Option<String>,
    /// What narrows it, as it was given: an object with `paths`, `commands`, `hosts` and the like.
    pub scopes: Option<Box<RawValue>>,
}

impl AccessEntry {
    /// What the entry covers.
    pub const fn entry_type(&self) -> EntryType {
        if self.tool.is_some() { EntryType::ToolGrant } else { EntryType::ServerGrant }
    }
}

/// The decision about one permission of a server.
#[derive(Debug, Clone)]
pub struct ServerPermission {
    /// The server.
    pub server: String,
    /// `shell.execute` and the like, or a reverse-domain name.
    pub permission: String,
    /// What was decided.
    pub decision: PermissionDecision,
    /// By whom.
    pub granted_by: String,
    /// When.
    pub granted_at: Timestamp,
    /// Until when.
    pub expires_at: Option<Timestamp>,
    /// Why.
    pub justification: Option<String>,
    /// Scopes that narrow it, as they were given.
    pub scopes: Option<Box<RawValue>>,
}

/// Everything that was granted, at one revision.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// The revision.
    pub revision: u64,
    /// Decisions about servers.
    pub permissions: Vec<ServerPermission>,
    /// Access entries.
    pub access: Vec<AccessEntry>,
}

/// Which access entries are meant. An empty part means any; all empty is refused.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AccessSelector {
    /// Of this principal.
    pub principal: Option<String>,
    /// On this server.
    pub server: Option<String>,
    /// Of this kind. Without it a revoke takes the server grant and the tool grants beneath it.
    pub entry_type: Option<EntryType>,
    /// For this tool.
    pub tool: Option<String>,
    /// Saying this.
    pub permission: Option<Permission>,
}

impl AccessSelector {
    /// Whether it means this entry.
    #[must_use]
    pub fn takes(&self, entry: &AccessEntry) -> bool {
        self.principal.as_ref().is_none_or(|principal| *principal == entry.principal)
            && self.server.as_ref().is_none_or(|server| *server == entry.server)
            && self.entry_type.is_none_or(|kind| kind == entry.entry_type())
            && self.tool.as_ref().is_none_or(|tool| entry.tool.as_ref() == Some(tool))
            && self.permission.is_none_or(|permission| permission == entry.permission)
    }
}

const ACCESS: &str = "principal, server, tool, permission, granted_by, granted_at, expires_at, justification, scopes";
const PERMISSION: &str = "server, permission, decision, granted_by, granted_at, expires_at, justification, scopes";

fn insert_permission(permission: &ServerPermission, otherwise: &str) -> Statement {
    Statement::new(
        format!(
            "INSERT INTO permissions ({PERMISSION}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) \
             ON CONFLICT (server, permission) {otherwise}"
        ),
        [
            Value::from(&permission.server),
            Value::from(&permission.permission),
            permission.decision.as_str().into(),
            Value::from(&permission.granted_by),
            permission.granted_at.into(),
            permission.expires_at.into(),
            permission.justification.as_ref().into(),
            permission.scopes.as_deref().into(),
        ],
    )
}

impl Grants for Tables {
    fn load(&self) -> Answer<'_, Snapshot> {
        Box::pin(async move {
            // The revision first: a change in between makes the snapshot look older than it is, and it is loaded again.
            let revision = self.revision().await?;
            let permissions =
                self.engine.read(Statement::new(format!("SELECT {PERMISSION} FROM permissions"), [])).await?;
            let access = self.engine.read(Statement::new(format!("SELECT {ACCESS} FROM access"), [])).await?;
            Ok(Snapshot {
                revision,
                permissions: permissions.into_iter().map(read_permission).collect::<Result<_, _>>()?,
                access: access.into_iter().map(read_access).collect::<Result<_, _>>()?,
            })
        })
    }

    fn revision(&self) -> Answer<'_, u64> {
        Box::pin(async move {
            let rows =
                self.engine.read(Statement::new("SELECT number FROM counters WHERE name = 'grants'", [])).await?;
            rows.into_iter().next().map_or(Ok(0), |mut row| row.sequence())
        })
    }

    fn put_permission<'a>(&'a self, permission: &'a ServerPermission) -> Answer<'a, u64> {
        let put = insert_permission(
            permission,
            "DO UPDATE SET decision = excluded.decision, granted_by = excluded.granted_by, \
             granted_at = excluded.granted_at, expires_at = excluded.expires_at, \
             justification = excluded.justification, scopes = excluded.scopes",
        );
        Box::pin(async move { revision_of(self.engine.write(vec![put, bump()]).await?) })
    }

    fn ask_permission<'a>(&'a self, permission: &'a ServerPermission) -> Answer<'a, u64> {
        let ask = insert_permission(permission, "DO NOTHING");
        Box::pin(async move { revision_of(self.engine.write(vec![ask, bump()]).await?) })
    }

    fn revoke_permission<'a>(
        &'a self,
        server: &'a str,
        permission: Option<&'a str>,
    ) -> Answer<'a, Vec<ServerPermission>> {
        let mut sql = "DELETE FROM permissions WHERE server = $1".to_owned();
        let mut values = vec![Value::from(server)];
        if let Some(permission) = permission {
            sql.push_str(" AND permission = $2");
            values.push(permission.into());
        }
        let delete = Statement::new(format!("{sql} RETURNING {PERMISSION}"), values);
        Box::pin(async move {
            let mut answers = self.engine.write(vec![delete, bump()]).await?;
            answers.swap_remove(0).into_iter().map(read_permission).collect()
        })
    }

    fn put_access<'a>(&'a self, entry: &'a AccessEntry) -> Answer<'a, u64> {
        let put = Statement::new(
            format!(
                "INSERT INTO access (slot, {ACCESS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) \
                 ON CONFLICT (principal, server, slot, permission) DO UPDATE SET \
                 granted_by = excluded.granted_by, granted_at = excluded.granted_at, expires_at = excluded.expires_at, \
                 justification = excluded.justification, scopes = excluded.scopes"
            ),
            [
                Value::Text(slot(entry.tool.as_deref())),
                Value::from(&entry.principal),
                Value::from(&entry.server),
                entry.tool.as_ref().into(),
                entry.permission.as_str().into(),
                Value::from(&entry.granted_by),
                entry.granted_at.into(),
                entry.expires_at.into(),
                entry.justification.as_ref().into(),
                entry.scopes.as_deref().into(),
            ],
        );
        Box::pin(async move { revision_of(self.engine.write(vec![put, bump()]).await?) })
    }

    fn revoke_access<'a>(&'a self, selector: &'a AccessSelector) -> Answer<'a, Vec<AccessEntry>> {
        Box::pin(async move {
            let delete = selector
                .delete()
                .ok_or_else(|| StoreError::Conflict("a revoke must name a principal, a server or a tool".to_owned()))?;
            let mut answers = self.engine.write(vec![delete, bump()]).await?;
            answers.swap_remove(0).into_iter().map(read_access).collect()
        })
    }
}

impl AccessSelector {
    fn delete(&self) -> Option<Statement> {
        if self.principal.is_none() && self.server.is_none() && self.tool.is_none() {
            return None;
        }
        let mut parts = Vec::new();
        let mut values: Vec<Value> = Vec::new();
        let permission = self.permission.map(|permission| Value::from(permission.as_str()));
        let named = [("principal", &self.principal), ("server", &self.server), ("tool", &self.tool)];
        let named = named.into_iter().map(|(column, value)| (column, value.as_ref().map(Value::from)));
        for (column, value) in named.chain([("permission", permission)]) {
            if let Some(value) = value {
                values.push(value);
                parts.push(format!("{column} = ${}", values.len()));
            }
        }
        match self.entry_type {
            Some(EntryType::ServerGrant) => parts.push("tool IS NULL".to_owned()),
            Some(EntryType::ToolGrant) => parts.push("tool IS NOT NULL".to_owned()),
            None => {}
        }
        Some(Statement::new(format!("DELETE FROM access WHERE {} RETURNING {ACCESS}", parts.join(" AND ")), values))
    }
}

/// What keeps entries apart: a server grant and the grant of a tool with an empty name are not the same.
fn slot(tool: Option<&str>) -> String {
    tool.map_or_else(|| "server".to_owned(), |tool| format!("tool:{tool}"))
}

fn bump() -> Statement {
    Statement::new(
        "INSERT INTO counters (name, number) VALUES ('grants', 1) \
         ON CONFLICT (name) DO UPDATE SET number = counters.number + 1 RETURNING number",
        [],
    )
}

fn revision_of(answers: Vec<Vec<Row>>) -> Result<u64, StoreError> {
    answers.into_iter().flatten().next_back().map_or(Ok(0), |mut row| row.sequence())
}

fn read_access(mut row: Row) -> Result<AccessEntry, StoreError> {
    Ok(AccessEntry {
        principal: row.text()?,
        server: row.text()?,
        tool: row.optional_text()?,
        permission: row.word(Permission::from_word)?,
        granted_by: row.text()?,
        granted_at: row.time()?,
        expires_at: row.optional_time()?,
        justification: row.optional_text()?,
        scopes: row.json()?,
    })
}

fn read_permission(mut row: Row) -> Result<ServerPermission, StoreError> {
    Ok(ServerPermission {
        server: row.text()?,
        permission: row.text()?,
        decision: row.word(PermissionDecision::from_word)?,
        granted_by: row.text()?,
        granted_at: row.time()?,
        expires_at: row.optional_time()?,
        justification: row.optional_text()?,
        scopes: row.json()?,
    })
}
