//! What a call on its way needs of its surroundings. The kernel gives it; a test may give as little as it likes.
//!
//! These are generic bounds and not objects: a call passes through them several times, and nothing is allocated for it.

use std::sync::Arc;

use jiff::Timestamp;
use switchboard_audit::Auditor;
use switchboard_peer::client::Connected;
use switchboard_peer::{BoxFuture, Context, Reply, Session};
use switchboard_policy::authority::CallAuthority;
use switchboard_protocol::fault::Fault;
use switchboard_protocol::mgp::ApprovalPolicy;
use switchboard_store::{Digest, Store};
use switchboard_upstream::{Holder, Server};
use switchboard_wire::{Extra, Notification, Object, Raw, Refusal, Request};

/// The session tokens that a caller shows.
#[derive(Debug, Clone, Default)]
pub struct SessionTokens(pub Vec<String>);

impl SessionTokens {
    /// Whether the caller shows none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The tool whose call goes on.
#[derive(Debug, Clone, Copy)]
pub struct ContinuedCall<'a> {
    /// Where it is.
    pub server: &'a Server,
    /// As the server calls it.
    pub tool: &'a str,
    /// As the client called it; it may have another name by now.
    pub exposed: &'a str,
    /// Those on whose behalf the call is made, the caller last; nobody where it is the caller's own.
    pub chain: &'a [String],
}

/// A request as its server gets it, as far as the right to it goes.
#[derive(Debug)]
pub struct SentCall {
    /// The parameters of a call of a tool, in the server's own names; nothing for what is no such call.
    pub called: Option<Raw>,
    /// What stood beside them.
    pub extra: Extra,
    /// The session tokens that it was made with.
    pub tokens: SessionTokens,
}

/// The servers there are.
pub trait Servers: Send + Sync {
    /// All of them, in their order.
    fn servers(&self) -> Vec<Arc<Server>>;

    /// One of them.
    fn server(&self, id: &str) -> Option<Arc<Server>>;

    /// The server, where there is just one.
    fn only_server(&self) -> Option<Arc<Server>>;

    /// Gives those that are just starting a moment.
    fn wait_for_servers(&self) -> impl Future<Output = ()> + Send;

    /// Whether the kernel ends, and new calls are not taken.
    fn is_draining(&self) -> bool;

    /// Whether a server takes new calls.
    ///
    /// # Errors
    /// It does not, and when to come again.
    fn takes_calls(&self, server: &Server) -> Result<(), Fault>;

    /// Takes a notification of a server that is for no client; `false` for one that is the clients'.
    fn take_notice(&self, server: &Arc<Server>, notification: &Notification) -> bool;
}

/// What is kept of clients.
pub trait Clients: Send + Sync {
    /// Whose calls a session's are on a shared connection.
    fn owner(&self, session: &Session) -> u64;

    /// The level from which on a session wants log messages, where it said so.
    fn session_log_level(&self, session: &Session) -> Option<&'static str>;

    /// A session's own connection to a server, if it was made and holds.
    fn link_now(&self, session: &Session, server: &Arc<Server>) -> Option<Arc<Connected>>;

    /// The same, made where there is none.
    ///
    /// # Errors
    /// It cannot be made.
    fn link(
        &self,
        context: &Context,
        server: &Arc<Server>,
    ) -> impl Future<Output = Result<Arc<Connected>, Fault>> + Send;
}

/// Who may go on with what. What begins is judged before it comes here.
pub trait Rights: Send + Sync {
    /// What is granted.
    type Tables: Send + Sync;

    /// What is granted now.
    ///
    /// # Errors
    /// It cannot be known now.
    fn tables(&self) -> impl Future<Output = Result<Arc<Self::Tables>, Fault>> + Send;

    /// What was granted when that was last read.
    fn latest_tables(&self) -> Arc<Self::Tables>;

    /// Whether a session may use a server.
    fn may_use(&self, tables: &Self::Tables, session: &Session, server: &Server) -> bool;

    /// Whether a session may use a server within the tokens that it shows.
    fn may_use_within(&self, tables: &Self::Tables, context: &Context, tokens: &SessionTokens, server: &Server)
    -> bool;

    /// Whether a session may use anything of a server within the tokens that it shows.
    fn knows_within(&self, tables: &Self::Tables, session: &Session, tokens: &SessionTokens, server: &Server) -> bool;

    /// Whether a server has the permissions that it needs.
    fn has_permissions(&self, tables: &Self::Tables, server: &Server) -> bool;

    /// Whether a call may go on, by what is known at this moment.
    fn may_continue(
        &self,
        tables: &Self::Tables,
        session: &Session,
        tokens: &SessionTokens,
        call: &ContinuedCall<'_>,
    ) -> bool;

    /// Judges a request that goes on with a call. A refusal is put on record.
    ///
    /// # Errors
    /// `unknown` where the tool may not be used, as if there were nothing; else what is lacking.
    fn admit_continued(
        &self,
        context: &Context,
        call: &ContinuedCall<'_>,
        what: &str,
        unknown: impl FnOnce() -> Fault + Send,
    ) -> impl Future<Output = Result<(), Fault>> + Send;

    /// Refuses to go on with a call that the limits which hold now do not cover.
    ///
    /// # Errors
    /// It is such a call.
    fn admit_within(
        &self,
        context: &Context,
        call: &ContinuedCall<'_>,
        what: &str,
        authority: &CallAuthority,
    ) -> impl Future<Output = Result<(), Fault>> + Send;

    /// Judges an answer in the middle of a call, and puts it on record before its server gets it.
    ///
    /// # Errors
    /// It may not be given, or cannot be put on record.
    fn admit_answer_for(
        &self,
        context: &Context,
        server: &Server,
        tool: Option<&str>,
        answer: &Raw,
    ) -> impl Future<Output = Result<(), Fault>> + Send;

    /// Puts the answer to a question outside of any call on record, before its server gets it.
    ///
    /// # Errors
    /// It cannot be.
    fn record_answer(
        &self,
        session: &Session,
        server: &Server,
        answer: &Raw,
    ) -> impl Future<Output = Result<(), Fault>> + Send;

    /// Judges a request about a task of which nobody knows the tool: it is for those who may use all tools of its server.
    ///
    /// # Errors
    /// `unknown` where the caller may not use one of them.
    fn admit_task_of_any_tool(
        &self,
        context: &Context,
        server: &Arc<Server>,
        task: &str,
        what: &str,
        unknown: impl Fn() -> Fault + Send + Sync,
    ) -> impl Future<Output = Result<(), Fault>> + Send;

    /// Judges a request for the list of a server's tasks.
    ///
    /// # Errors
    /// It is refused.
    fn admit_task_list(
        &self,
        context: &Context,
        server: &Arc<Server>,
        request: &Request,
    ) -> impl Future<Output = Result<(), Fault>> + Send;

    /// Makes a call; ends it when the right to it is taken back before it has an outcome.
    fn while_allowed(
        &self,
        context: &Context,
        server: &Arc<Server>,
        sent: SentCall,
        call: impl Future<Output = Result<Reply, Fault>> + Send,
    ) -> impl Future<Output = Result<Reply, Fault>> + Send;

    /// What the right to a call that is judged now rests on.
    fn authority_of(
        &self,
        session: &Session,
        call: ContinuedCall<'_>,
        chain: Arc<[String]>,
        params: Option<Object>,
    ) -> CallAuthority;

    /// Names the limits that hold for a tool and its caller now; nothing where there are none.
    fn limits_on(&self, tables: &Self::Tables, session: &Session, call: &ContinuedCall<'_>) -> String;

    /// Whether a call is within the limits that hold now.
    fn is_within_limits(
        &self,
        tables: &Self::Tables,
        context: &Context,
        call: &ContinuedCall<'_>,
        authority: &CallAuthority,
    ) -> impl Future<Output = bool> + Send;

    /// That what was called is beyond what may be called now.
    fn beyond_limits(&self) -> Fault;

    /// The session tokens that a request shows.
    fn tokens_of(&self, context: &Context, params: Option<&Raw>) -> SessionTokens;

    /// All who a call says that it passed through, the caller last; nobody where it says nothing of it.
    fn chain_said(&self, session: &Session, params: &Object, extra: &Extra) -> Arc<[String]>;

    /// What names all that a call of a tool sends its server to act upon.
    ///
    /// # Errors
    /// A member stands twice somewhere.
    fn digest_of_call(&self, params: &Object) -> Result<Digest, Refusal>;

    /// Judges what a server gave: its size, its shape, and what it may say to the model.
    fn look_at_result(
        &self,
        server: &Server,
        outcome: Result<Reply, Fault>,
    ) -> impl Future<Output = Result<Reply, Fault>> + Send;

    /// Looks after the right to what has just begun to go on.
    fn watch_soon(&self);
}

/// Where things are put on record and kept.
pub trait Records: Send + Sync {
    /// The audit log.
    fn audit(&self) -> &Auditor;

    /// The store, where there is one.
    fn store(&self) -> Option<&Store>;

    /// The time by which what is kept there ends.
    fn time(&self) -> Timestamp;

    /// Whether reads go on that cannot be put on record.
    fn reads_without_record(&self) -> bool;

    /// What the operator wants of questions.
    fn approval_policy(&self) -> ApprovalPolicy;
}

/// What is on record of a request that was answered with a question: its call has not ended. Dropped, nobody knows how
/// the call ended.
pub trait OpenRecord: Send {
    /// The client is back: another request tells how the call ends.
    fn settle(self: Box<Self>) -> BoxFuture<'static, ()>;
}

/// Everything that a call on its way needs.
pub trait Host: Servers + Clients + Rights + Records + Holder + Clone + 'static {}

impl<T: Servers + Clients + Rights + Records + Holder + Clone + 'static> Host for T {}
