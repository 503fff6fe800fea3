//! The kernel as the surroundings of calls on their way: which servers there are, what is kept of clients, who may go on with
//! what, and where that is put on record.

use std::sync::Arc;

use jiff::Timestamp;
use switchboard_audit::Auditor;
use switchboard_exchange::{Clients, ContinuedCall, OpenRecord, Records, Rights, SentCall, Servers, SessionTokens};
use switchboard_peer::client::Connected;
use switchboard_peer::{BoxFuture, Context, Reply, Session};
use switchboard_policy::authority::CallAuthority;
use switchboard_protocol::fault::Fault;
use switchboard_protocol::mgp::ApprovalPolicy;
use switchboard_store::{Digest, Store};
use switchboard_wire::{Edit, Extra, Id, Notification, Object, Raw, Refusal, Request};

use super::Kernel;
use crate::bridge;
use crate::clients::ClientState;
use crate::gate::request::Asking;
use crate::gate::scopes::Wanted;
use crate::gate::{self, Continued, Continuing, Permit, Presented, RunningCall, Sent, Subject, Tables, answers};
use crate::server::Server;

impl Servers for Kernel {
    fn servers(&self) -> Vec<Arc<Server>> {
        self.view().servers.clone()
    }

    fn server(&self, id: &str) -> Option<Arc<Server>> {
        Self::server(self, id)
    }

    fn only_server(&self) -> Option<Arc<Server>> {
        let view = self.view();
        view.directory.only().and_then(|index| view.servers.get(index).cloned())
    }

    async fn wait_for_servers(&self) {
        Self::wait_for_servers(self).await;
    }

    fn is_draining(&self) -> bool {
        Self::is_draining(self)
    }

    fn takes_calls(&self, server: &Server) -> Result<(), Fault> {
        Self::takes_calls(self, server)
    }

    fn take_notice(&self, server: &Arc<Server>, notification: &Notification) -> bool {
        Self::take_notice(self, server, notification)
    }
}

impl Clients for Kernel {
    fn owner(&self, session: &Session) -> u64 {
        ClientState::of(session).owner
    }

    fn session_log_level(&self, session: &Session) -> Option<&'static str> {
        ClientState::of(session).level()
    }

    fn link_now(&self, session: &Session, server: &Arc<Server>) -> Option<Arc<Connected>> {
        ClientState::of(session).link_now(server)
    }

    async fn link(&self, context: &Context, server: &Arc<Server>) -> Result<Arc<Connected>, Fault> {
        ClientState::of(&context.session).link(self, server, &context.session, &context.caller).await
    }
}

/// The tool whose call goes on, as the gate knows it.
const fn continued<'a>(call: &ContinuedCall<'a>) -> Continued<'a> {
    Continued { server: call.server, tool: call.tool, exposed: call.exposed, chain: call.chain }
}

/// The tokens that were shown, as the gate knows them.
fn presented(tokens: &SessionTokens) -> Presented {
    Presented::again(tokens.0.clone())
}

impl Rights for Kernel {
    type Tables = Tables;

    async fn tables(&self) -> Result<Arc<Tables>, Fault> {
        Self::tables(self).await
    }

    fn latest_tables(&self) -> Arc<Tables> {
        self.gate().granted.latest()
    }

    fn may_use(&self, tables: &Tables, session: &Session, server: &Server) -> bool {
        self.access(tables, session, server, None).allow
    }

    fn may_use_within(&self, tables: &Tables, context: &Context, tokens: &SessionTokens, server: &Server) -> bool {
        let wanted = Wanted { server: server.id(), tool: None };
        self.access(tables, &context.session, server, None).allow
            && self.is_in_scope(context, &presented(tokens), wanted)
    }

    fn knows_within(&self, tables: &Tables, session: &Session, tokens: &SessionTokens, server: &Server) -> bool {
        Self::knows_within(self, tables, session, &presented(tokens), server)
    }

    fn has_permissions(&self, tables: &Tables, server: &Server) -> bool {
        self.standing(tables, server, None).missing.is_empty()
    }

    fn may_continue(
        &self,
        tables: &Tables,
        session: &Session,
        tokens: &SessionTokens,
        call: &ContinuedCall<'_>,
    ) -> bool {
        let who = Continuing { session, tokens: &presented(tokens) };
        Self::may_continue(self, tables, &who, &continued(call))
    }

    async fn admit_continued(
        &self,
        context: &Context,
        call: &ContinuedCall<'_>,
        what: &str,
        unknown: impl FnOnce() -> Fault + Send,
    ) -> Result<(), Fault> {
        Self::admit_continued(self, context, &continued(call), what, unknown).await
    }

    async fn admit_within(
        &self,
        context: &Context,
        call: &ContinuedCall<'_>,
        what: &str,
        authority: &CallAuthority,
    ) -> Result<(), Fault> {
        Self::admit_within(self, context, &continued(call), what, authority).await
    }

    async fn admit_answer_for(
        &self,
        context: &Context,
        server: &Server,
        tool: Option<&str>,
        answer: &Raw,
    ) -> Result<(), Fault> {
        Self::admit_answer_for(self, context, server, tool, answer).await
    }

    async fn record_answer(&self, session: &Session, server: &Server, answer: &Raw) -> Result<(), Fault> {
        answers::record(&self.gate().audit, session, server, None, answer).await
    }

    async fn admit_task_of_any_tool(
        &self,
        context: &Context,
        server: &Arc<Server>,
        task: &str,
        what: &str,
        unknown: impl Fn() -> Fault + Send + Sync,
    ) -> Result<(), Fault> {
        let view = self.view();
        let index = view.servers.iter().position(|known| Arc::ptr_eq(known, server));
        let policy = index.and_then(|index| view.directory.plain_policy(index)).ok_or_else(&unknown)?;
        let params = Edit::empty().set("taskId", Raw::string(task)).finish();
        let request = Request::new(Id::number(0), what, Some(params));
        Asking::other(context, server, Subject::Task, &policy, task, &request)?.pass(self).await?;
        for (_, exposed, route) in view.directory.tools().filter(|(id, ..)| *id == server.id()) {
            let tool = Continued { server, tool: &route.original, exposed, chain: &[] };
            Self::admit_continued(self, context, &tool, what, &unknown).await?;
        }
        Ok(())
    }

    async fn admit_task_list(&self, context: &Context, server: &Arc<Server>, request: &Request) -> Result<(), Fault> {
        let view = self.view();
        let index = view.servers.iter().position(|known| Arc::ptr_eq(known, server));
        let policy = index.and_then(|index| view.directory.plain_policy(index));
        let policy = policy.ok_or_else(|| switchboard_exchange::unknown_task(""))?;
        Asking::other(context, server, Subject::Task, &policy, "", request)?.pass(self).await.map(drop)
    }

    fn while_allowed(
        &self,
        context: &Context,
        server: &Arc<Server>,
        sent: SentCall,
        call: impl Future<Output = Result<Reply, Fault>> + Send,
    ) -> impl Future<Output = Result<Reply, Fault>> + Send {
        let SentCall { called, extra, tokens } = sent;
        RunningCall::of(self, context, server, (called, extra), Presented::again(tokens.0)).outcome(call)
    }

    fn authority_of(
        &self,
        session: &Session,
        call: ContinuedCall<'_>,
        chain: Arc<[String]>,
        params: Option<Object>,
    ) -> CallAuthority {
        Self::authority_of(self, session, continued(&call), chain, params)
    }

    fn limits_on(&self, tables: &Tables, session: &Session, call: &ContinuedCall<'_>) -> String {
        Self::limits_on(self, tables, session, &continued(call))
    }

    async fn is_within_limits(
        &self,
        tables: &Tables,
        context: &Context,
        call: &ContinuedCall<'_>,
        authority: &CallAuthority,
    ) -> bool {
        Self::is_within_limits(self, tables, context, &continued(call), authority).await
    }

    fn beyond_limits(&self) -> Fault {
        gate::beyond_limits()
    }

    fn tokens_of(&self, context: &Context, params: Option<&Raw>) -> SessionTokens {
        SessionTokens(gate::tokens_of(context, params).into_vec())
    }

    fn chain_said(&self, session: &Session, params: &Object, extra: &Extra) -> Arc<[String]> {
        gate::chain_said(session, params, extra)
    }

    fn digest_of_call(&self, params: &Object) -> Result<Digest, Refusal> {
        Sent::of_call(params).digest()
    }

    async fn look_at_result(&self, server: &Server, outcome: Result<Reply, Fault>) -> Result<Reply, Fault> {
        Self::look_at_result(self, server, outcome).await
    }

    fn watch_soon(&self) {
        self.exchange_state().wake_watcher();
    }
}

impl Records for Kernel {
    fn audit(&self) -> &Auditor {
        &self.gate().audit
    }

    fn store(&self) -> Option<&Store> {
        self.gate().store()
    }

    fn time(&self) -> Timestamp {
        self.gate().granted.time()
    }

    fn reads_without_record(&self) -> bool {
        self.gate().options().reads_without_record
    }

    fn approval_policy(&self) -> ApprovalPolicy {
        self.gate().options().approval_policy
    }
}

/// A request on record that was answered with a question.
struct PermitOfParked {
    kernel: Kernel,
    permit: Permit,
}

impl OpenRecord for PermitOfParked {
    fn settle(self: Box<Self>) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let asked = Ok(Ok(bridge::input_required(&[], None)).into());
            self.kernel.settle(self.permit, &asked).await;
        })
    }
}

/// Keeps a call on record as one that runs while it waits for its client to come back with this token. The permit again
/// where none waits so.
pub(crate) fn keep_open(kernel: &Kernel, token: &str, permit: Permit) -> Option<Permit> {
    let mut permit = Some(permit);
    kernel.exchange_state().keep_open(token, || {
        // Asked for once at most, and there until then.
        permit
            .take()
            .map(|permit| -> Box<dyn OpenRecord> { Box::new(PermitOfParked { kernel: kernel.clone(), permit }) })
    });
    permit
}
