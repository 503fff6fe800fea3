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
    /// The server shows something that nobody accepted.
    Quarantined,
}

words!(PinState { Accepted = "accepted", Quarantined = "quarantined" });

/// What is known about the definition of one tool.
#[derive(Debug, Clone)]
pub struct Pin {
    /// The server.
    pub server: String,
    /// The tool; a name of the caller's choice for what belongs to the whole server, such as its instructions.
    pub tool: String,
    /// Whether it may be used.
    pub state: PinState,
    /// The accepted hash and definition, if one was ever accepted.
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

const COLUMNS: &str = "server, tool, state, accepted_hash, accepted, shown_hash, shown, first_seen, changed_at, \
                       accepted_by, accepted_at";

impl Pins for Tables {
    fn list<'a>(&'a self, server: Option<&'a str>) -> Answer<'a, Vec<Pin>> {
        let condition = if server.is_some() { " WHERE server = $1" } else { "" };
        let sql = format!("SELECT {COLUMNS} FROM pins{condition} ORDER BY server, tool");
        let statement = Statement::new(sql, server.map(Value::from));
        Box::pin(async move { self.engine.read(statement).await?.into_iter().map(read).collect() })
    }

    fn observe<'a>(&'a self, observation: &'a Observation) -> Answer<'a, Observed> {
        let Observation { server, tool, hash, definition, at_first, now } = observation;
        let before =
            Statement::new("SELECT state FROM pins WHERE server = $1 AND tool = $2", [server.into(), tool.into()]);
        let accepted = *at_first == PinState::Accepted;
        let observe = Statement::new(
            format!(
                "INSERT INTO pins ({COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8, NULL, $9) \
                 ON CONFLICT (server, tool) DO UPDATE SET \
                 state = CASE WHEN pins.accepted_hash = excluded.shown_hash THEN 'accepted' ELSE 'quarantined' END, \
                 changed_at = CASE WHEN pins.shown_hash = excluded.shown_hash \
                              THEN pins.changed_at ELSE excluded.changed_at END, \
                 shown_hash = excluded.shown_hash, shown = excluded.shown RETURNING {COLUMNS}"
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
            ],
        );
        Box::pin(async move {
            let mut answers = self.engine.write(vec![before, observe]).await?.into_iter();
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
        let accept = Statement::new(
            format!(
                "UPDATE pins SET state = 'accepted', accepted_hash = shown_hash, accepted = shown, accepted_by = $1, \
                 accepted_at = $2 WHERE server = $3 AND tool = $4 AND shown_hash = $5 RETURNING {COLUMNS}"
            ),
            [by.into(), now.into(), server.into(), tool.into(), hash.into()],
        );
        Box::pin(async move {
            let answers = self.engine.write(vec![accept]).await?;
            answers.into_iter().flatten().next().map(read).transpose()
        })
    }

    fn forget<'a>(&'a self, server: &'a str, tool: Option<&'a str>) -> Answer<'a, usize> {
        let condition = if tool.is_some() { " AND tool = $2" } else { "" };
        let sql = format!("DELETE FROM pins WHERE server = $1{condition} RETURNING tool");
        let forget = Statement::new(sql, [server].into_iter().chain(tool).map(Value::from));
        Box::pin(async move { Ok(self.engine.write(vec![forget]).await?.iter().map(Vec::len).sum()) })
    }
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
    })
}
