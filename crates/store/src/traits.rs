//! The traits: one per noun, usable as objects, so that a test can put a double in their place.

use jiff::Timestamp;
use serde_json::value::RawValue;

use crate::{
    AccessEntry, AccessSelector, Answer, Appended, Approval, AuditEvent, AuditExport, AuditFilter, AuditRecord, Claim,
    Claimed, Credential, Decision, Digest, Group, Head, HeldCall, NewToken, Observation, Observed, Operation,
    OperationState, Pin, PinVersion, Prepared, Report, ServerPermission, Snapshot, StoreError, StoredCallback, Token,
};

/// The append-only log of what happened (MGP 6).
pub trait AuditLog: Send + Sync {
    /// Appends events, in order and together. When this returns they are durable.
    fn append<'a>(&'a self, events: &'a [AuditEvent]) -> Answer<'a, Vec<Appended>>;

    /// Bytes that the text of an event may have.
    fn longest_event(&self) -> usize;

    /// Makes the text of an event, for [`AuditLog::append_prepared`].
    ///
    /// # Errors
    /// The event is too large.
    fn prepare(&self, event: &AuditEvent) -> Result<Prepared, StoreError>;

    /// As [`AuditLog::append`], for events whose text is made already.
    fn append_prepared(&self, events: Vec<Prepared>) -> Answer<'_, Vec<Appended>>;

    /// As [`AuditLog::append_prepared`], for events that may have been offered before: those that stand after this record
    /// already, whether the offer was acknowledged or not, are not added again. Returns where each of them stands.
    fn append_once(&self, events: Vec<Prepared>, after: u64) -> Answer<'_, Vec<Appended>>;

    /// Records that match, at most `limit` (and at most 10,000) of them.
    fn query<'a>(&'a self, filter: &'a AuditFilter, limit: usize) -> Answer<'a, Vec<AuditRecord>>;

    /// How many records match, by a key.
    fn count<'a>(&'a self, filter: &'a AuditFilter, group: Group) -> Answer<'a, Vec<(String, u64)>>;

    /// The newest `limit` records, oldest first.
    fn tail(&self, limit: usize) -> Answer<'_, Vec<AuditRecord>>;

    /// All records that match and are there now, page by page, oldest first.
    fn export(&self, filter: AuditFilter) -> Answer<'_, AuditExport<'_>>;

    /// Where the chain ends; sequence number 0 while it is empty.
    fn end(&self) -> Answer<'_, Appended>;

    /// Reads the whole chain and names the first bad record, if there is one.
    ///
    /// Whoever puts back an older database together with the older files beside it is found out by heads that were kept
    /// somewhere else: hand them in. Without any, pass none.
    fn verify<'a>(&'a self, elsewhere: &'a [Head]) -> Answer<'a, Report>;

    /// Signs a head for the present end, to be kept elsewhere. Call it now and then and before closing.
    fn seal(&self, now: Timestamp) -> Answer<'_, Head>;

    /// Removes the records before `until`, at most up to the newest one that is older, and signs what the rest follows.
    /// `None` if there was nothing to remove.
    fn prune(&self, until: Timestamp, now: Timestamp) -> Answer<'_, Option<Head>>;
}

/// Permission decisions: of servers (MGP 3) and of principals (MGP 5).
///
/// Expiry is stored and not applied: what is expired is the evaluator's to say, with its own clock.
pub trait Grants: Send + Sync {
    /// Everything, for an evaluator in memory.
    fn load(&self) -> Answer<'_, Snapshot>;

    /// A number that grows with every change, by this process or another. Cheap.
    fn revision(&self) -> Answer<'_, u64>;

    /// Records the decision about one permission of a server, over an earlier one. Returns the new revision.
    fn put_permission<'a>(&'a self, permission: &'a ServerPermission) -> Answer<'a, u64>;

    /// Puts a permission before the operator: records it unless something was decided about it already, also at this
    /// very moment by somebody else. Returns the new revision.
    fn ask_permission<'a>(&'a self, permission: &'a ServerPermission) -> Answer<'a, u64>;

    /// Forgets decisions about a server: of one permission, or of all. Returns what was forgotten.
    fn revoke_permission<'a>(
        &'a self,
        server: &'a str,
        permission: Option<&'a str>,
    ) -> Answer<'a, Vec<ServerPermission>>;

    /// Records an access entry, over an earlier one of the same kind for the same principal, server, tool and verdict.
    /// Returns the new revision.
    fn put_access<'a>(&'a self, entry: &'a AccessEntry) -> Answer<'a, u64>;

    /// Removes access entries and returns them. Once this returns, [`Grants::load`] anywhere does not show them.
    fn revoke_access<'a>(&'a self, selector: &'a AccessSelector) -> Answer<'a, Vec<AccessEntry>>;
}

/// Definitions of tools that a human accepted.
pub trait Pins: Send + Sync {
    /// All pins, or those of one server.
    fn list<'a>(&'a self, server: Option<&'a str>) -> Answer<'a, Vec<Pin>>;

    /// The definitions that somebody decided on or has to, of one server or of all: several of each tool.
    fn versions<'a>(&'a self, server: Option<&'a str>) -> Answer<'a, Vec<PinVersion>>;

    /// Records what a server shows now. The first definition of a tool is accepted or quarantined as the observation
    /// says; a later one that nobody accepted gets the state that the observation says, and going back to one that was
    /// accepted ends that.
    fn observe<'a>(&'a self, observation: &'a Observation) -> Answer<'a, Observed>;

    /// Accepts the definition with this hash beside those accepted before, if it was ever shown: what a human saw is what
    /// is accepted. The pin that is returned tells whether it is still the one that is shown.
    fn accept<'a>(
        &'a self,
        server: &'a str,
        tool: &'a str,
        hash: Digest,
        by: &'a str,
        now: Timestamp,
    ) -> Answer<'a, Option<Pin>>;

    /// Refuses a definition that waits: it stays held back, and waits no longer. `false` if none waits.
    fn refuse<'a>(
        &'a self,
        server: &'a str,
        tool: &'a str,
        hash: Digest,
        by: &'a str,
        now: Timestamp,
    ) -> Answer<'a, bool>;

    /// Forgets one pin, or all of a server. Returns how many.
    fn forget<'a>(&'a self, server: &'a str, tool: Option<&'a str>) -> Answer<'a, usize>;
}

/// Calls that wait for a human, and what the human said.
pub trait Approvals: Send + Sync {
    /// Puts a call on hold.
    fn hold<'a>(&'a self, held: &'a HeldCall) -> Answer<'a, Approval>;

    /// One approval.
    fn get<'a>(&'a self, id: &'a str) -> Answer<'a, Option<Approval>>;

    /// What waits for a decision at this time, oldest first, at most `limit`.
    fn pending(&self, now: Timestamp, limit: usize) -> Answer<'_, Vec<Approval>>;

    /// Decides, together: those that still waited are returned as they are now, the others are left out.
    fn decide<'a>(&'a self, ids: &'a [String], decision: &'a Decision) -> Answer<'a, Vec<Approval>>;

    /// Uses an approval for exactly the call it was given for. An approval for one use passes once, however many ask at
    /// the same time.
    fn claim<'a>(&'a self, claim: &'a Claim) -> Answer<'a, Claimed>;

    /// What people agreed to for more than one call and still holds, the oldest first, at most `limit`.
    fn standing(&self, now: Timestamp, limit: usize) -> Answer<'_, Vec<Approval>>;

    /// Marks what is past its time as expired, and returns it.
    fn expire(&self, now: Timestamp) -> Answer<'_, Vec<Approval>>;

    /// Shows something else of a held call that nobody has decided about. `false` where somebody has.
    fn show<'a>(&'a self, id: &'a str, shown: &'a RawValue) -> Answer<'a, bool>;

    /// Takes back a yes that is not used up, or ends the wait of a held call. `None` if there was neither.
    fn withdraw<'a>(&'a self, id: &'a str, by: &'a str, now: Timestamp) -> Answer<'a, Option<Approval>>;

    /// The same for all calls of a principal at a server, or of one tool there: they are returned.
    fn withdraw_of<'a>(
        &'a self,
        principal: &'a str,
        server: &'a str,
        tool: Option<&'a str>,
        by: &'a str,
        now: Timestamp,
    ) -> Answer<'a, Vec<Approval>>;
}

/// Bearer tokens, by their hash.
pub trait Tokens: Send + Sync {
    /// Records a token. A name that is taken by a token that was not revoked is a conflict.
    fn issue<'a>(&'a self, token: &'a NewToken) -> Answer<'a, Token>;

    /// The token with this hash, whatever its state: see [`Token::is_valid`].
    fn find(&self, hash: Digest) -> Answer<'_, Option<Token>>;

    /// All tokens.
    fn list(&self) -> Answer<'_, Vec<Token>>;

    /// Records that a token was used. Callers do this now and then, not at each call.
    fn touch(&self, hash: Digest, now: Timestamp) -> Answer<'_, ()>;

    /// A number that grows whenever a token is issued or revoked, by this process or another. Cheap.
    fn revision(&self) -> Answer<'_, u64>;

    /// Revokes by name. `None` if there is no such token, or it was revoked before.
    fn revoke<'a>(&'a self, name: &'a str, now: Timestamp) -> Answer<'a, Option<Token>>;
}

/// Credentials for other people's servers, sealed.
pub trait Credentials: Send + Sync {
    /// Keeps a credential, over an earlier one in the same slot.
    fn put<'a>(&'a self, credential: &'a Credential) -> Answer<'a, ()>;

    /// A number that grows with every change, by this process or another. Cheap.
    fn revision(&self) -> Answer<'_, u64>;

    /// Those of one principal for one server.
    fn of<'a>(&'a self, server: &'a str, principal: &'a str) -> Answer<'a, Vec<Credential>>;

    /// All of them.
    fn list(&self) -> Answer<'_, Vec<Credential>>;

    /// Removes one. Says whether it was there.
    fn remove<'a>(&'a self, server: &'a str, principal: &'a str, slot: &'a str) -> Answer<'a, bool>;

    /// Removes those of one principal for a server, or of all. Returns how many.
    fn forget<'a>(&'a self, server: &'a str, principal: Option<&'a str>) -> Answer<'a, usize>;
}

/// Operations that a client can go on with (proposal 8).
pub trait Operations: Send + Sync {
    /// Records that an operation has begun, or begins again. When this returns it is durable.
    fn begin<'a>(&'a self, operation: &'a Operation) -> Answer<'a, ()>;

    /// Records how it ended, and until when that is kept.
    fn finish<'a>(
        &'a self,
        id: &'a str,
        state: OperationState,
        result: Option<&'a RawValue>,
        expires_at: Timestamp,
    ) -> Answer<'a, ()>;

    /// One operation, expired or not.
    fn get<'a>(&'a self, id: &'a str) -> Answer<'a, Option<Operation>>;

    /// Forgets what is past its time. Returns how many.
    fn expire(&self, now: Timestamp) -> Answer<'_, usize>;
}

/// Questions of servers that wait for somebody (MGP 13.4).
pub trait Callbacks: Send + Sync {
    /// Records a question.
    fn open<'a>(&'a self, callback: &'a StoredCallback) -> Answer<'a, ()>;

    /// One question.
    fn get<'a>(&'a self, id: &'a str) -> Answer<'a, Option<StoredCallback>>;

    /// What waits for an answer at this time, oldest first, at most `limit`.
    fn pending(&self, now: Timestamp, limit: usize) -> Answer<'_, Vec<StoredCallback>>;

    /// Answers. The first answer in time stands: `None` for a later one.
    fn answer<'a>(
        &'a self,
        id: &'a str,
        answer: &'a RawValue,
        by: &'a str,
        now: Timestamp,
    ) -> Answer<'a, Option<StoredCallback>>;

    /// Ends a question that nobody need answer any more.
    fn close<'a>(&'a self, id: &'a str) -> Answer<'a, ()>;

    /// Forgets questions whose time was over before then. Returns how many.
    fn expire(&self, before: Timestamp) -> Answer<'_, usize>;
}
