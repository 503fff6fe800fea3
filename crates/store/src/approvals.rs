//! Approvals: calls that wait for a human, and the answer, bound to exactly one call.
//!
//! What is agreed to is known by its hash. What a human is shown is everything that would be sent, secrets as well, so it
//! is kept only while the question waits: whatever ends it removes it. Whether a call needs an approval is decided
//! elsewhere.

use jiff::Timestamp;
use serde_json::value::RawValue;

use crate::grants::words;
use crate::sql::{Row, Statement, Value};
use crate::store::Tables;
use crate::{Answer, Approvals, Digest, StoreError};

/// Where an approval stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ApprovalState {
    /// Waits for a human.
    Pending,
    /// A human said yes.
    Approved,
    /// A human said no.
    Denied,
    /// Said yes to once, and used.
    Used,
    /// Past its time.
    Expired,
    /// Taken back, by a human or because the caller went away.
    Withdrawn,
}

words!(ApprovalState {
    Pending = "pending",
    Approved = "approved",
    Denied = "denied",
    Used = "used",
    Expired = "expired",
    Withdrawn = "withdrawn",
});

/// How often an approval can be used. Always for the same principal, tool and arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reuse {
    /// Once.
    Once,
    /// In the session of the held call, until it expires. Of a call without a session: once.
    Session,
    /// Until it expires.
    Always,
}

words!(Reuse { Once = "once", Session = "session", Always = "always" });

/// A call to be put on hold.
#[derive(Debug, Clone)]
pub struct HeldCall {
    /// A random id.
    pub id: String,
    /// Who calls.
    pub principal: String,
    /// In which session.
    pub session: Option<String>,
    /// Which server.
    pub server: String,
    /// Which tool.
    pub tool: String,
    /// The hash of what is agreed to: the canonical arguments, with the definition that they are shown for.
    pub arguments: Digest,
    /// What a human is shown. Gone once the question is over.
    pub shown: Option<Box<RawValue>>,
    /// Why it is held.
    pub reason: String,
    /// SHA-256 of a confirmation token, if the client got one.
    pub token: Option<Digest>,
    /// The present time.
    pub created_at: Timestamp,
    /// Until when it can be decided.
    pub expires_at: Timestamp,
}

/// What a human says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Yes, this often.
    Approve(Reuse),
    /// No.
    Deny,
}

/// An answer, with who gave it.
#[derive(Debug, Clone)]
pub struct Decision {
    /// The answer.
    pub verdict: Verdict,
    /// Who decided.
    pub by: String,
    /// Why.
    pub reason: Option<String>,
    /// The present time.
    pub now: Timestamp,
    /// Until when a yes is good.
    pub expires_at: Timestamp,
}

/// A held call with everything that is known about it.
#[derive(Debug, Clone)]
pub struct Approval {
    /// What was held.
    pub held: HeldCall,
    /// Where it stands.
    pub state: ApprovalState,
    /// How often it can be used.
    pub reuse: Reuse,
    /// Who decided.
    pub decided_by: Option<String>,
    /// When.
    pub decided_at: Option<Timestamp>,
    /// Why.
    pub decision_reason: Option<String>,
    /// How often it was used.
    pub uses: u64,
    /// When it was last used.
    pub used_at: Option<Timestamp>,
}

/// By what an approval is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ticket {
    /// Its id: the held call goes on.
    Id(String),
    /// The hash of the confirmation token: the client calls again.
    Token(Digest),
    /// Any that was given for this very call, also one for a single use that came too late for the call it was for.
    Reusable,
}

/// A call that wants to use an approval.
#[derive(Debug, Clone)]
pub struct Claim {
    /// By what the approval is found.
    pub ticket: Ticket,
    /// Who calls.
    pub principal: String,
    /// In which session.
    pub session: Option<String>,
    /// Which server.
    pub server: String,
    /// Which tool.
    pub tool: String,
    /// The hash of what has to be agreed to, as in [`HeldCall`].
    pub arguments: Digest,
    /// The present time.
    pub now: Timestamp,
}

/// Why a claim was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// There is no such approval.
    Unknown,
    /// Nobody has decided yet.
    Pending,
    /// A human said no.
    Denied,
    /// Past its time.
    Expired,
    /// It was used before.
    Used,
    /// It was given for another principal, session, server, tool or other arguments.
    OtherCall,
    /// It was taken back.
    Withdrawn,
}

/// What came of a claim.
#[derive(Debug, Clone)]
pub enum Claimed {
    /// The call may go on, under this approval.
    Granted(Box<Approval>),
    /// It may not.
    Refused(Refusal),
}

const COLUMNS: &str = "id, principal, session, server, tool, arguments, shown, reason, token, created_at, expires_at, \
                       state, reuse, decided_by, decided_at, decision_reason, uses, used_at";

impl Approvals for Tables {
    fn hold<'a>(&'a self, held: &'a HeldCall) -> Answer<'a, Approval> {
        let hold = Statement::new(
            format!(
                "INSERT INTO approvals ({COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, \
                 'pending', 'once', NULL, NULL, NULL, 0, NULL) RETURNING {COLUMNS}"
            ),
            [
                Value::from(&held.id),
                Value::from(&held.principal),
                held.session.as_ref().into(),
                Value::from(&held.server),
                Value::from(&held.tool),
                held.arguments.into(),
                held.shown.as_deref().into(),
                Value::from(&held.reason),
                held.token.into(),
                held.created_at.into(),
                held.expires_at.into(),
            ],
        );
        Box::pin(async move {
            let row = self.engine.write(vec![hold]).await?.into_iter().flatten().next();
            read(row.ok_or_else(|| StoreError::Corrupt("a held call was not kept".to_owned()))?)
        })
    }

    fn get<'a>(&'a self, id: &'a str) -> Answer<'a, Option<Approval>> {
        let get = Statement::new(format!("SELECT {COLUMNS} FROM approvals WHERE id = $1"), [id.into()]);
        Box::pin(async move { self.engine.read(get).await?.into_iter().next().map(read).transpose() })
    }

    fn pending(&self, now: Timestamp, limit: usize) -> Answer<'_, Vec<Approval>> {
        let pending = Statement::new(
            format!(
                "SELECT {COLUMNS} FROM approvals WHERE state = 'pending' AND expires_at > $1 \
                 ORDER BY created_at, id LIMIT $2"
            ),
            [now.into(), i64::try_from(limit).unwrap_or(i64::MAX).into()],
        );
        Box::pin(async move { self.engine.read(pending).await?.into_iter().map(read).collect() })
    }

    fn standing(&self, now: Timestamp, limit: usize) -> Answer<'_, Vec<Approval>> {
        let standing = Statement::new(
            format!(
                "SELECT {COLUMNS} FROM approvals WHERE state = 'approved' AND reuse <> 'once' AND expires_at > $1 \
                 ORDER BY created_at, id LIMIT $2"
            ),
            [now.into(), i64::try_from(limit).unwrap_or(i64::MAX).into()],
        );
        Box::pin(async move { self.engine.read(standing).await?.into_iter().map(read).collect() })
    }

    fn decide<'a>(&'a self, ids: &'a [String], decision: &'a Decision) -> Answer<'a, Vec<Approval>> {
        let (state, reuse) = match decision.verdict {
            Verdict::Approve(reuse) => (ApprovalState::Approved, reuse),
            Verdict::Deny => (ApprovalState::Denied, Reuse::Once),
        };
        let sql = format!(
            "UPDATE approvals SET state = $1, \
             reuse = CASE WHEN session IS NULL AND $2 = 'session' THEN 'once' ELSE $2 END, decided_by = $3, decided_at = $4, decision_reason = $5, \
             expires_at = $6, shown = NULL WHERE id = $7 AND state = 'pending' AND expires_at > $4 RETURNING {COLUMNS}"
        );
        let decide = ids.iter().map(|id| {
            let values = [
                state.as_str().into(),
                reuse.as_str().into(),
                Value::from(&decision.by),
                decision.now.into(),
                decision.reason.as_ref().into(),
                decision.expires_at.into(),
                id.into(),
            ];
            Statement::new(sql.clone(), values)
        });
        let decide = decide.collect();
        Box::pin(async move { self.engine.write(decide).await?.into_iter().flatten().map(read).collect() })
    }

    fn claim<'a>(&'a self, claim: &'a Claim) -> Answer<'a, Claimed> {
        Box::pin(async move {
            let mut answers = self.engine.write(vec![claim.take(), claim.explain()]).await?.into_iter();
            if let Some(row) = answers.next().and_then(|rows| rows.into_iter().next()) {
                return Ok(Claimed::Granted(Box::new(read(row)?)));
            }
            let found = answers.next().and_then(|rows| rows.into_iter().next()).map(read).transpose()?;
            Ok(Claimed::Refused(found.map_or(Refusal::Unknown, |approval| claim.refusal(&approval))))
        })
    }

    fn expire(&self, now: Timestamp) -> Answer<'_, Vec<Approval>> {
        let expire = Statement::new(
            format!(
                "UPDATE approvals SET state = 'expired', shown = NULL WHERE state IN ('pending', 'approved') AND expires_at <= $1 \
                 RETURNING {COLUMNS}"
            ),
            [now.into()],
        );
        Box::pin(async move { self.engine.write(vec![expire]).await?.into_iter().flatten().map(read).collect() })
    }

    fn show<'a>(&'a self, id: &'a str, shown: &'a RawValue) -> Answer<'a, bool> {
        let show = Statement::new(
            "UPDATE approvals SET shown = $1 WHERE id = $2 AND state = 'pending' RETURNING id",
            [Some(shown).into(), id.into()],
        );
        Box::pin(async move { Ok(self.engine.write(vec![show]).await?.into_iter().flatten().next().is_some()) })
    }

    fn withdraw<'a>(&'a self, id: &'a str, by: &'a str, now: Timestamp) -> Answer<'a, Option<Approval>> {
        let withdraw = Statement::new(
            format!(
                "UPDATE approvals SET state = 'withdrawn', shown = NULL, decided_by = $1, decided_at = $2 \
                 WHERE id = $3 AND state IN ('pending', 'approved') RETURNING {COLUMNS}"
            ),
            [by.into(), now.into(), id.into()],
        );
        Box::pin(
            async move { self.engine.write(vec![withdraw]).await?.into_iter().flatten().next().map(read).transpose() },
        )
    }

    fn withdraw_of<'a>(
        &'a self,
        principal: &'a str,
        server: &'a str,
        tool: Option<&'a str>,
        by: &'a str,
        now: Timestamp,
    ) -> Answer<'a, Vec<Approval>> {
        let mut values = vec![Value::from(by), now.into(), principal.into(), server.into()];
        let of_tool = tool.map_or("", |tool| {
            values.push(tool.into());
            " AND tool = $5"
        });
        let withdraw = Statement::new(
            format!(
                "UPDATE approvals SET state = 'withdrawn', shown = NULL, decided_by = $1, decided_at = $2 \
                 WHERE principal = $3 AND server = $4{of_tool} AND state IN ('pending', 'approved') RETURNING {COLUMNS}"
            ),
            values,
        );
        Box::pin(async move { self.engine.write(vec![withdraw]).await?.into_iter().flatten().map(read).collect() })
    }
}

impl Claim {
    /// One statement finds and uses: of two that ask at once, the second finds it used.
    fn take(&self) -> Statement {
        let mut values = vec![
            self.now.into(),
            Value::from(&self.principal),
            Value::from(&self.server),
            Value::from(&self.tool),
            self.arguments.into(),
            self.session.as_ref().into(),
        ];
        let fits = "principal = $2 AND server = $3 AND tool = $4 AND arguments = $5 AND state = 'approved' \
                    AND expires_at > $1 AND (reuse <> 'session' OR session = $6)";
        let which = match &self.ticket {
            Ticket::Reusable => {
                // One that is good for many uses before one that is used up by this one.
                format!("id = (SELECT id FROM approvals WHERE {fits} ORDER BY reuse = 'once', id LIMIT 1)")
            }
            Ticket::Id(id) => {
                values.push(id.into());
                "id = $7".to_owned()
            }
            Ticket::Token(token) => {
                values.push((*token).into());
                "token = $7".to_owned()
            }
        };
        Statement::new(
            format!(
                "UPDATE approvals SET uses = uses + 1, used_at = $1, \
                 state = CASE WHEN reuse = 'once' THEN 'used' ELSE state END WHERE {which} AND {fits} \
                 RETURNING {COLUMNS}"
            ),
            values,
        )
    }

    fn explain(&self) -> Statement {
        let (column, value) = match &self.ticket {
            Ticket::Id(id) => ("id", Value::from(id)),
            Ticket::Token(token) => ("token", Value::from(*token)),
            // A standing approval that does not fit is one that does not exist.
            Ticket::Reusable => ("id", Value::from("")),
        };
        Statement::new(format!("SELECT {COLUMNS} FROM approvals WHERE {column} = $1"), [value])
    }

    fn refusal(&self, found: &Approval) -> Refusal {
        let held = &found.held;
        let same = held.principal == self.principal
            && held.server == self.server
            && held.tool == self.tool
            && held.arguments == self.arguments
            && (found.reuse != Reuse::Session || held.session == self.session);
        if !same {
            return Refusal::OtherCall;
        }
        match found.state {
            ApprovalState::Denied => Refusal::Denied,
            ApprovalState::Used => Refusal::Used,
            ApprovalState::Withdrawn => Refusal::Withdrawn,
            ApprovalState::Expired => Refusal::Expired,
            ApprovalState::Pending | ApprovalState::Approved if held.expires_at <= self.now => Refusal::Expired,
            ApprovalState::Pending => Refusal::Pending,
            // Approved, in time and fitting would have been granted: only a session that nobody named is left.
            ApprovalState::Approved => Refusal::OtherCall,
        }
    }
}

fn read(mut row: Row) -> Result<Approval, StoreError> {
    Ok(Approval {
        held: HeldCall {
            id: row.text()?,
            principal: row.text()?,
            session: row.optional_text()?,
            server: row.text()?,
            tool: row.text()?,
            arguments: row.digest()?,
            shown: row.json()?,
            reason: row.text()?,
            token: row.optional_digest()?,
            created_at: row.time()?,
            expires_at: row.time()?,
        },
        state: row.word(ApprovalState::from_word)?,
        reuse: row.word(Reuse::from_word)?,
        decided_by: row.optional_text()?,
        decided_at: row.optional_time()?,
        decision_reason: row.optional_text()?,
        uses: row.sequence()?,
        used_at: row.optional_time()?,
    })
}
