//! Pins: the hash of each tool definition that was accepted, and what a server shows instead.

use jiff::Timestamp;
use serde_json::value::RawValue;

use crate::grants::words;
use crate::sql::{Row, Statement, Value};
use crate::store::Tables;
use crate::{Answer, Digest, Pins, StoreError};

/// Whether a tool may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PinState {
    /// What the server shows is what was accepted.
    Accepted,
    /// The server shows something else that needs nobody's word: it means the same, or is followed by policy.
    Passed,
    /// The server shows something that nobody accepted.
    Quarantined,
}

words!(PinState { Accepted = "accepted", Passed = "passed", Quarantined = "quarantined" });

/// What is known about the definition of one tool.
#[derive(Debug, Clone)]
pub struct Pin {
    /// The server.
    pub server: String,
    /// The tool; a name of the caller's choice for what belongs to the whole server, such as its instructions.
    pub tool: String,
    /// Whether it may be used.
    pub state: PinState,
    /// The hash and definition that were accepted last, if one was ever accepted.
    pub accepted: Option<(Digest, Box<RawValue>)>,
    /// The hash of what the server shows.
    pub shown_hash: Digest,
    /// What the server shows: with the accepted definition, the two sides of the difference for a human.
    pub shown: Box<RawValue>,
    /// When the tool was first seen.
    pub first_seen: Timestamp,
    /// When the shown definition last changed.
    pub changed_at: Timestamp,
    /// Who accepted, `None` for trust at first use.
    pub accepted_by: Option<String>,
    /// When it was accepted.
    pub accepted_at: Option<Timestamp>,
    /// Which version of itself the server told when it showed this.
    pub server_version: Option<String>,
}

/// What was said of one definition of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VersionState {
    /// It may be used whenever it is shown, also after another one.
    Accepted,
    /// It waits for a person.
    HeldCall,
    /// A person has seen it and does not want it.
    Refused,
}

words!(VersionState { Accepted = "accepted", HeldCall = "held", Refused = "refused" });

/// One of the definitions of a tool that somebody decided on, or has to.
#[derive(Debug, Clone)]
pub struct PinVersion {
    /// The server.
    pub server: String,
    /// The tool.
    pub tool: String,
    /// The hash of the definition.
    pub hash: Digest,
    /// The definition.
    pub definition: Box<RawValue>,
    /// Which version of itself the server told when it last showed this.
    pub server_version: Option<String>,
    /// What was said of it.
    pub state: VersionState,
    /// When it was last seen to differ from the one before.
    pub seen_at: Timestamp,
    /// Who decided; `None` for trust at first use.
    pub decided_by: Option<String>,
    /// When.
    pub decided_at: Option<Timestamp>,
}

/// A definition that a server shows.
#[derive(Debug, Clone)]
pub struct Observation {
    /// The server.
    pub server: String,
    /// The tool.
    pub tool: String,
    /// The hash of the definition.
    pub hash: Digest,
    /// The definition.
    pub definition: Box<RawValue>,
    /// The state of a tool that was never seen before.
    pub at_first: PinState,
    /// The state of a tool that was seen before, unless exactly this definition was accepted.
    pub later: PinState,
    /// Which version of itself the server tells.
    pub server_version: Option<String>,
    /// The present time.
    pub now: Timestamp,
}

/// What an observation led to.
#[derive(Debug, Clone)]
pub struct Observed {
    /// The pin as it is now.
    pub pin: Pin,
    /// The state before; `None` for a tool that was never seen. An audit event is due when it differs from the new one.
    pub before: Option<PinState>,
}

/// Definitions of one tool that are remembered as accepted, and as many that wait or were refused. Beyond, the oldest
/// are forgotten: what is shown then is asked about again.
pub const MAX_PIN_VERSIONS: usize = 8;

const COLUMNS: &str = "server, tool, state, accepted_hash, accepted, shown_hash, shown, first_seen, changed_at, \
                       accepted_by, accepted_at, server_version";
const VERSION_COLUMNS: &str = "server, tool, hash, definition, server_version, state, seen_at, decided_by, decided_at";

impl Pins for Tables {
    fn list<'a>(&'a self, server: Option<&'a str>) -> Answer<'a, Vec<Pin>> {
        let condition = if server.is_some() { " WHERE server = $1" } else { "" };
        let sql = format!("SELECT {COLUMNS} FROM pins{condition} ORDER BY server, tool");
        let statement = Statement::new(sql, server.map(Value::from));
        Box::pin(async move { self.engine.read(statement).await?.into_iter().map(read).collect() })
    }

    fn versions<'a>(&'a self, server: Option<&'a str>) -> Answer<'a, Vec<PinVersion>> {
        let condition = if server.is_some() { " WHERE server = $1" } else { "" };
        let sql =
            format!("SELECT {VERSION_COLUMNS} FROM pin_versions{condition} ORDER BY server, tool, seen_at DESC, hash");
        let statement = Statement::new(sql, server.map(Value::from));
        Box::pin(async move { self.engine.read(statement).await?.into_iter().map(read_version).collect() })
    }

    fn observe<'a>(&'a self, observation: &'a Observation) -> Answer<'a, Observed> {
        let Observation { server, tool, hash, definition, at_first, later, server_version, now } = observation;
        let before =
            Statement::new("SELECT state FROM pins WHERE server = $1 AND tool = $2", [server.into(), tool.into()]);
        let accepted = *at_first == PinState::Accepted;
        let observe = Statement::new(
            format!(
                "INSERT INTO pins ({COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8, NULL, $9, $10) \
                 ON CONFLICT (server, tool) DO UPDATE SET \
                 state = CASE WHEN EXISTS (SELECT 1 FROM pin_versions AS v WHERE v.server = excluded.server \
                   AND v.tool = excluded.tool AND v.hash = excluded.shown_hash AND v.state = 'accepted') \
                   THEN 'accepted' ELSE '{}' END, \
                 changed_at = CASE WHEN pins.shown_hash = excluded.shown_hash \
                              THEN pins.changed_at ELSE excluded.changed_at END, \
                 shown_hash = excluded.shown_hash, shown = excluded.shown, \
                 server_version = excluded.server_version RETURNING {COLUMNS}",
                later.as_str()
            ),
            [
                server.into(),
                tool.into(),
                at_first.as_str().into(),
                accepted.then_some(*hash).into(),
                accepted.then_some(&**definition).into(),
                (*hash).into(),
                (&**definition).into(),
                (*now).into(),
                accepted.then_some(*now).into(),
                server_version.as_ref().into(),
            ],
        );
        // At first sight it is accepted by nobody; what waits is kept beside what another kernel is shown.
        let keep = |state: VersionState, of: PinState, decided_at: &str| {
            Statement::new(
                format!(
                    "INSERT INTO pin_versions (server, tool, hash, definition, server_version, state, seen_at, decided_at) \
                     SELECT server, tool, shown_hash, shown, server_version, '{}', changed_at, {decided_at} \
                     FROM pins WHERE server = $1 AND tool = $2 AND state = '{}' \
                     ON CONFLICT (server, tool, hash) DO UPDATE SET server_version = excluded.server_version, \
                     seen_at = excluded.seen_at",
                    state.as_str(),
                    of.as_str()
                ),
                [server.into(), tool.into()],
            )
        };
        let statements = vec![
            before,
            observe,
            keep(VersionState::Accepted, PinState::Accepted, "accepted_at"),
            keep(VersionState::HeldCall, PinState::Quarantined, "NULL"),
            trim(server, tool, "state <> 'accepted'", "seen_at"),
        ];
        Box::pin(async move {
            let mut answers = self.engine.write(statements).await?.into_iter();
            let before = answers.next().and_then(|rows| rows.into_iter().next());
            let before = before.map(|mut row| row.word(PinState::from_word)).transpose()?;
            let row = answers.next().and_then(|rows| rows.into_iter().next());
            let pin = read(row.ok_or_else(|| StoreError::Corrupt("a pin was not kept".to_owned()))?)?;
            Ok(Observed { pin, before })
        })
    }

    fn accept<'a>(
        &'a self,
        server: &'a str,
        tool: &'a str,
        hash: Digest,
        by: &'a str,
        now: Timestamp,
    ) -> Answer<'a, Option<Pin>> {
        // What passes without a person's word is not kept by itself, but can be accepted.
        let shown = Statement::new(
            "INSERT INTO pin_versions (server, tool, hash, definition, server_version, state, seen_at) \
             SELECT server, tool, shown_hash, shown, server_version, 'held', changed_at \
             FROM pins WHERE server = $1 AND tool = $2 AND shown_hash = $3 \
             ON CONFLICT (server, tool, hash) DO NOTHING",
            [server.into(), tool.into(), hash.into()],
        );
        let accept = Statement::new(
            "UPDATE pin_versions SET state = 'accepted', decided_by = $1, decided_at = $2 \
             WHERE server = $3 AND tool = $4 AND hash = $5",
            [by.into(), now.into(), server.into(), tool.into(), hash.into()],
        );
        let pinned = Statement::new(
            format!(
                "UPDATE pins SET accepted_hash = v.hash, accepted = v.definition, accepted_by = v.decided_by, \
                 accepted_at = v.decided_at, \
                 state = CASE WHEN pins.shown_hash = v.hash THEN 'accepted' ELSE pins.state END \
                 FROM pin_versions AS v WHERE pins.server = v.server AND pins.tool = v.tool AND v.server = $1 \
                 AND v.tool = $2 AND v.hash = $3 AND v.state = 'accepted' RETURNING {}",
                qualified()
            ),
            [server.into(), tool.into(), hash.into()],
        );
        let trim = trim(server, tool, "state = 'accepted'", "decided_at");
        Box::pin(async move {
            let answers = self.engine.write(vec![shown, accept, pinned, trim]).await?;
            answers.into_iter().nth(2).and_then(|rows| rows.into_iter().next()).map(read).transpose()
        })
    }

    fn refuse<'a>(
        &'a self,
        server: &'a str,
        tool: &'a str,
        hash: Digest,
        by: &'a str,
        now: Timestamp,
    ) -> Answer<'a, bool> {
        let refuse = Statement::new(
            "UPDATE pin_versions SET state = 'refused', decided_by = $1, decided_at = $2 \
             WHERE server = $3 AND tool = $4 AND hash = $5 AND state = 'held' RETURNING hash",
            [by.into(), now.into(), server.into(), tool.into(), hash.into()],
        );
        Box::pin(async move { Ok(self.engine.write(vec![refuse]).await?.iter().any(|rows| !rows.is_empty())) })
    }

    fn forget<'a>(&'a self, server: &'a str, tool: Option<&'a str>) -> Answer<'a, usize> {
        let condition = if tool.is_some() { " AND tool = $2" } else { "" };
        let values = || [server].into_iter().chain(tool).map(Value::from);
        let forget = Statement::new(format!("DELETE FROM pins WHERE server = $1{condition} RETURNING tool"), values());
        let versions = Statement::new(format!("DELETE FROM pin_versions WHERE server = $1{condition}"), values());
        Box::pin(async move {
            let answers = self.engine.write(vec![forget, versions]).await?;
            Ok(answers.first().map_or(0, Vec::len))
        })
    }
}

/// Forgets the oldest of the versions that a condition is about.
fn trim(server: &str, tool: &str, condition: &str, by: &str) -> Statement {
    Statement::new(
        format!(
            "DELETE FROM pin_versions WHERE server = $1 AND tool = $2 AND {condition} AND hash NOT IN \
             (SELECT hash FROM pin_versions WHERE server = $1 AND tool = $2 AND {condition} \
             ORDER BY {by} DESC, hash LIMIT {MAX_PIN_VERSIONS})"
        ),
        [server.into(), tool.into()],
    )
}

/// The columns of a pin where two tables are named.
fn qualified() -> String {
    COLUMNS.split(", ").map(|column| format!("pins.{}", column.trim())).collect::<Vec<_>>().join(", ")
}

fn read_version(mut row: Row) -> Result<PinVersion, StoreError> {
    Ok(PinVersion {
        server: row.text()?,
        tool: row.text()?,
        hash: row.digest()?,
        definition: row.json()?.ok_or_else(|| StoreError::Corrupt("a pin has no definition".to_owned()))?,
        server_version: row.optional_text()?,
        state: row.word(VersionState::from_word)?,
        seen_at: row.time()?,
        decided_by: row.optional_text()?,
        decided_at: row.optional_time()?,
    })
}

fn read(mut row: Row) -> Result<Pin, StoreError> {
    let (server, tool, state) = (row.text()?, row.text()?, row.word(PinState::from_word)?);
    let accepted = row.optional_digest()?.zip(row.json()?);
    let shown_hash = row.digest()?;
    let shown = row.json()?.ok_or_else(|| StoreError::Corrupt("a pin has no definition".to_owned()))?;
    Ok(Pin {
        server,
        tool,
        state,
        accepted,
        shown_hash,
        shown,
        first_seen: row.time()?,
        changed_at: row.time()?,
        accepted_by: row.optional_text()?,
        accepted_at: row.optional_time()?,
        server_version: row.optional_text()?,
    })
}
