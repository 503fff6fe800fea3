//! A streamed call from its admission to its end, and operations that outlive the connection they came on (proposal 8).
//!
//! Most streamed calls live and end with the client's request. A client that speaks proposal 8 gets an operation: its
//! call runs in a task of its own, and whoever holds a checkpoint token goes on reading where he stopped, on another
//! connection, or after a restart of the kernel. Arguments are not written down: who goes on after a restart makes the
//! same call again, with the token.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::value::RawValue;
use switchboard_flow::stream::{Checkpoint, Stream};
use switchboard_peer::{Context, Reply};
use switchboard_policy::risk::Effect;
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::proposals::streaming::{self, Resume};
use switchboard_store::{Operation, OperationState, StoreError};
use switchboard_wire::{Edit, Id, Limits, Object, Raw, Request};
use tokio::sync::oneshot;

use super::live::{Reader, ToReader};
use super::{Form, GoesOn, Live, StreamRequest};
use crate::directory::Route;
use crate::gate::{self, Attempt, Permit, Sent};
use crate::kernel::{Called, Kernel, View, readable, repeat};
use crate::server::Server;

/// How long an operation goes on without anybody who reads it.
const ALONE: Duration = Duration::from_secs(300);
/// How long an operation can be taken up again, over restarts.
const OPERATION_TTL: SignedDuration = SignedDuration::from_hours(1);
/// How long a result waits until it is written down.
const SOON: Duration = Duration::from_millis(250);
/// The largest result that is written down.
const LARGEST_KEPT: usize = 1 << 20;

/// A call that passed the gate, with everything that it takes to make it.
pub(crate) struct StreamedCall {
    pub(crate) context: Context,
    pub(crate) view: Arc<View>,
    pub(crate) server: Arc<Server>,
    pub(crate) route: Route,
    pub(crate) request: Request,
    pub(crate) params: Object,
    /// The tool as the client named it.
    pub(crate) name: String,
    pub(crate) trace: String,
    pub(crate) permit: Permit,
}

/// Takes a stream off the book, however its call ends.
struct OnBook<'a> {
    kernel: &'a Kernel,
    live: Option<Arc<Live>>,
}

impl Drop for OnBook<'_> {
    fn drop(&mut self) {
        if let Some(live) = self.live.take() {
            // Whoever still sends pieces of it has no reason to any more.
            live.cancel.cancel();
            self.kernel.streams().end(&live, 0);
        }
    }
}

impl Kernel {
    /// Makes a call whose result comes in pieces.
    pub(crate) async fn call_streamed(&self, mut underway: StreamedCall, wish: StreamRequest) -> Result<Reply, Fault> {
        let ledger = self.streams().ledger.clone();
        let stream = match &wish.goes_on {
            Some(goes_on) => {
                let begins = goes_on.inner.as_ref().map_or(0, |(next, _)| *next);
                Stream::resumed(ledger, goes_on.from, begins)
            }
            None => Stream::new(ledger),
        };
        let live = Live::new(self, &underway, &wish, stream)?;
        if !self.streams().add(&live) {
            // Pieces are a courtesy, the result is not.
            return self.carry_out(underway, None).await;
        }
        let mut book = OnBook { kernel: self, live: Some(live.clone()) };
        if !self.judge_stream(&live).await {
            let refused = Err(live.was_revoked().unwrap_or_else(gate::beyond_limits));
            self.gate().settle(underway.permit, &refused).await;
            return refused;
        }
        underway.request.params = Some(outbound(&live, &wish, underway.request.params.as_ref())?);
        let context = underway.context.clone();
        if !live.is_operation() {
            underway.context.cancel = live.cancel.clone();
            let outcome = self.carry_out(underway, Some(&live)).await;
            return concluded(&live, outcome);
        }
        let mut to_write = self.begun(&live, &underway);
        // What may change something is not begun unless it can be gone on with. Whoever only reads makes the call again.
        let policy = underway.route.policy.as_ref();
        let only_reads = policy.is_some_and(|policy| policy.assessment.effect == Effect::None);
        if let Some(operation) = to_write.take_if(|_| !only_reads)
            && let Err(fault) = self.write_begun(&operation).await
        {
            let refused = Err(fault);
            self.gate().settle(underway.permit, &refused).await;
            return refused;
        }
        book.live = None;
        underway.context =
            Context { remote: Arc::new(ToReader(live.clone())), cancel: live.cancel.clone(), ..underway.context };
        let (kernel, ours) = (self.clone(), live.clone());
        self.spawn(async move {
            let begun = async {
                match &to_write {
                    Some(operation) => kernel.write_begun(operation).await.inspect_err(|fault| {
                        tracing::warn!(%fault, "an operation that only reads cannot be gone on with after a restart");
                    }),
                    None => Ok(()),
                }
            };
            let (ended, outcome) = oneshot::channel();
            let remembering = async {
                // What could not be begun has no end.
                if let (Ok(()), Ok(outcome)) = tokio::join!(begun, outcome) {
                    kernel.write_ended(&ours, &outcome).await;
                }
            };
            let calling = async {
                let outcome = concluded(&ours, kernel.carry_out(underway, Some(&ours)).await);
                let _ = ended.send(outcome.clone());
                outcome
            };
            let mut remembering = pin!(remembering);
            let mut calling = pin!(calling);
            let mut is_remembered = false;
            let outcome = loop {
                tokio::select! {
                    outcome = &mut calling => break outcome,
                    () = &mut remembering, if !is_remembered => is_remembered = true,
                }
            };
            let bytes = match &outcome {
                Ok(Reply { outcome: Ok(result), .. }) => result.as_bytes().len(),
                _ => 0,
            };
            // A store that is locked or away does not hold up what it only remembers.
            if !is_remembered {
                is_remembered = tokio::time::timeout(SOON, &mut remembering).await.is_ok();
            }
            ours.end_with(outcome);
            if !is_remembered {
                remembering.await;
            }
            kernel.streams().end(&ours, bytes);
        });
        self.follow(&live, &context).await
    }

    /// Makes a call, judges what it brought, and puts on record how it ended.
    pub(crate) async fn carry_out(&self, underway: StreamedCall, live: Option<&Arc<Live>>) -> Result<Reply, Fault> {
        let StreamedCall { context, view, server, route, request, params, name, trace, permit } = underway;
        let metadata = gate::metadata_of(&request).ok();
        let called = Called { name: &name, trace: &trace };
        let mut outcome = self.execute(&context, &view, &server, &route, request, &params, called, live).await;
        if let (Ok(reply), Some(live)) = (&mut outcome, live)
            && let Ok(result) = &mut reply.outcome
        {
            *result = live.made_whole(std::mem::replace(result, Raw::empty_object()));
        }
        let mut outcome = self.gate().look_at_result(&server, outcome).await;
        if let Some(fault) = live.and_then(|live| live.was_revoked()) {
            outcome = Err(fault);
        }
        self.gate().settle(permit, &outcome).await;
        let reply = outcome.map_err(|fault| match (&route.policy, &metadata) {
            (Some(policy), Some(metadata)) => repeat::told_of_unknown(&server, policy, metadata, fault),
            _ => fault,
        })?;
        if let Some(policy) = route.policy.as_ref().filter(|policy| policy.may_ask()) {
            self.gate().remember_midway(&context, server.id(), &name, policy, &Sent::of_call(&params), &reply);
        }
        Ok(reply)
    }

    /// Waits for the end of an operation, as long as the client does.
    async fn follow(&self, live: &Arc<Live>, context: &Context) -> Result<Reply, Fault> {
        let mut outcome = live.outcome.subscribe();
        let _reading = Reading { kernel: self, live, context, reader: live.reader() };
        tokio::select! {
            biased;
            ended = outcome.wait_for(Option::is_some) => match ended {
                Ok(ended) => ended.clone().unwrap_or_else(|| Err(gone())),
                Err(_) => Err(gone()),
            },
            () = context.cancel.cancelled() => Err(Fault::new(FaultKind::Cancelled, "the call was cancelled")),
        }
    }

    /// Answers `operations/resume`: goes on with an operation that this kernel knows.
    pub(crate) async fn resume_operation(&self, context: &Context, request: &Id, params: &Raw) -> Result<Reply, Fault> {
        let said: Resume = params.view().map_err(|error| Fault::new(FaultKind::InvalidParams, readable(&error)))?;
        let claimed = Checkpoint::claimed(&said.checkpoint_token).map_err(|_| unknown_checkpoint())?;
        if claimed.operation != said.operation_id {
            return Err(unknown_checkpoint());
        }
        let principal = &context.session.principal;
        if let Some(live) = self.streams().operation(principal, &claimed.operation) {
            let checkpoint = Checkpoint::open(&said.checkpoint_token, &live.key).map_err(|_| unknown_checkpoint())?;
            self.gate().admit_continued(context, &live.continued(), streaming::RESUME, unknown_checkpoint).await?;
            self.gate().admit_within(context, &live.continued(), streaming::RESUME, &live.authority()).await?;
            let token = params.at(&["_meta", "progressToken"]);
            let reader = Reader::new(context, request, gate::tokens_of(context, Some(params)), token.as_ref());
            return self.take_up(&live, context, reader, checkpoint.next).await;
        }
        let kept = self.kept_operation(principal, &said.checkpoint_token).await?.ok_or_else(unknown_checkpoint)?;
        self.admit_kept(context, &kept.0).await?;
        match kept.0.result {
            Some(result) => written(&result),
            None => {
                Err(Fault::new(FaultKind::OutcomeUnknown, "this operation was interrupted with the kernel that ran it")
                    .suggest(
                        "make the same call again with the token as `_meta.checkpoint_token`: it goes on where it can",
                    ))
            }
        }
    }

    /// A call that is made again with a checkpoint. `None`: it has to be made, with what `wish` says then.
    pub(crate) async fn resume_call(
        &self,
        attempt: &Attempt<'_>,
        route: &Route,
        request: &Request,
        wish: &mut StreamRequest,
    ) -> Result<Option<Reply>, Fault> {
        // What is no token of ours is between the client and the server.
        let Some(token) = wish.resume.take() else { return Ok(None) };
        let Ok(claimed) = Checkpoint::claimed(&token) else { return Ok(None) };
        let (context, server) = (attempt.context, attempt.server);
        // With the arguments at hand it is judged as the call itself: by the limits that hold now.
        if let Some(refusal) = Box::pin(self.gate().check_rights(attempt)).await? {
            return Ok(Some(refusal));
        }
        let tokens = gate::tokens_of(context, request.params.as_ref());
        let principal = &context.session.principal;
        let arguments = Sent::of_call(attempt.params).digest().map_err(crate::forward::malformed)?;
        if let Some(live) = self.streams().operation(principal, &claimed.operation) {
            let checkpoint = Checkpoint::open(&token, &live.key).map_err(|_| unknown_checkpoint())?;
            let same = live.server.id() == server.id() && live.tool == route.original;
            if !same || live.arguments != Some(arguments) {
                return Err(of_another_call());
            }
            let reader = Reader::new(context, &request.id, tokens, wish.token.as_ref());
            return self.take_up(&live, context, reader, checkpoint.next).await.map(Some);
        }
        let (kept, checkpoint) = self.kept_operation(principal, &token).await?.ok_or_else(unknown_checkpoint)?;
        if kept.server != **server.id() || kept.tool != *route.original || kept.arguments != arguments {
            return Err(of_another_call());
        }
        if let Some(result) = &kept.result {
            self.record_resumed(context, &kept.server, &kept.tool, &kept.id).await?;
            return written(result).map(Some);
        }
        let reads = route.policy.as_ref().is_some_and(|policy| policy.assessment.effect == Effect::None);
        if checkpoint.inner.is_none() && !reads {
            return Err(Fault::new(
                FaultKind::OutcomeUnknown,
                "the call was interrupted, its server gives no checkpoints, and it may have changed something already",
            )
            .suggest("find out what it did before you make it again, without the checkpoint"));
        }
        wish.goes_on =
            Some(GoesOn { operation: kept.id, key: kept.key, from: checkpoint.next, inner: checkpoint.inner });
        Ok(None)
    }

    async fn take_up(&self, live: &Arc<Live>, context: &Context, reader: Reader, from: u64) -> Result<Reply, Fault> {
        self.record_resumed(context, live.server.id(), &live.tool, &live.operation).await?;
        let before = live.request_text();
        live.attach(reader, from);
        self.streams().rename(live, &before);
        live.caught_up(context).await;
        self.follow(live, context).await
    }

    /// What is written of an operation of this principal, if the token is of it.
    async fn kept_operation(&self, principal: &str, token: &str) -> Result<Option<(Operation, Checkpoint)>, Fault> {
        let Some(store) = self.gate().store() else { return Ok(None) };
        let Ok(claimed) = Checkpoint::claimed(token) else { return Ok(None) };
        let kept = store.operations().get(&claimed.operation).await.map_err(unkept)?;
        let now = self.gate().granted.time();
        let kept = kept.filter(|kept| kept.principal == principal && kept.expires_at > now);
        Ok(kept.and_then(|kept| Checkpoint::open(token, &kept.key).ok().map(|checkpoint| (kept, checkpoint))))
    }

    /// What is written of an operation when it begins.
    fn begun(&self, live: &Live, underway: &StreamedCall) -> Option<Operation> {
        let now = self.gate().granted.time();
        Some(Operation {
            id: live.operation.as_ref().to_owned(),
            principal: live.principal.as_ref().to_owned(),
            server: underway.server.id().as_ref().to_owned(),
            tool: underway.route.original.as_ref().to_owned(),
            arguments: live.arguments?,
            key: live.key.clone(),
            state: OperationState::Running,
            result: None,
            created_at: now,
            expires_at: later(now),
        })
    }

    async fn write_begun(&self, operation: &Operation) -> Result<(), Fault> {
        let Some(store) = self.gate().store() else { return Ok(()) };
        store.operations().begin(operation).await.map_err(unkept)
    }

    async fn write_ended(&self, live: &Live, outcome: &Result<Reply, Fault>) {
        let Some(store) = self.gate().store() else { return };
        let interrupted = matches!(outcome, Err(fault) if fault.kind() == FaultKind::Cancelled);
        if interrupted && self.closing().is_cancelled() {
            // The client may go on with it after the restart.
            return;
        }
        let (state, result) = match outcome {
            Ok(Reply { outcome: Ok(result), .. }) => (OperationState::Done, Some(result)),
            _ => (OperationState::Failed, None),
        };
        let result = result.filter(|result| result.as_bytes().len() <= LARGEST_KEPT);
        let result = result.and_then(|result| RawValue::from_string(result.as_str().to_owned()).ok());
        let end = later(self.gate().granted.time());
        if let Err(error) = store.operations().finish(&live.operation, state, result.as_deref(), end).await {
            tracing::warn!(%error, operation = %live.operation, "the end of an operation could not be written");
        }
    }
}

/// A client that reads an operation. When it goes, the operation waits for it a while.
struct Reading<'a> {
    kernel: &'a Kernel,
    live: &'a Arc<Live>,
    context: &'a Context,
    reader: Arc<Reader>,
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        if self.live.is_over() || !Arc::ptr_eq(&self.reader, &self.live.reader()) {
            return;
        }
        let session = &self.context.session;
        // On a connection that is there, only the client itself takes a request back. One that broke says nothing.
        if session.lasting && session.remote().can_request() {
            self.live.cancel.cancel();
            return;
        }
        let Some(alone) = self.kernel.streams().leave_alone(&self.live.principal) else {
            self.live.cancel.cancel();
            return;
        };
        let (live, reader, kernel) = (self.live.clone(), self.reader.clone(), self.kernel.clone());
        self.kernel.spawn(async move {
            let mut outcome = live.outcome.subscribe();
            tokio::select! {
                _ = outcome.wait_for(Option::is_some) => {}
                () = kernel.closing().cancelled() => {}
                () = live.attached() => {}
                () = tokio::time::sleep(ALONE) => {}
            }
            kernel.streams().no_longer_alone(&alone);
            if Arc::ptr_eq(&reader, &live.reader()) {
                live.cancel.cancel();
            }
        });
    }
}

/// The outcome of a streamed call as the client gets it.
fn concluded(live: &Arc<Live>, outcome: Result<Reply, Fault>) -> Result<Reply, Fault> {
    let mut reply = outcome?;
    reply.outcome = reply.outcome.map(|result| live.conclude(result));
    Ok(reply)
}

/// The parameters for the server: it is asked to stream where it can, and to report progress.
fn outbound(live: &Live, wish: &StreamRequest, params: Option<&Raw>) -> Result<Raw, Fault> {
    let mut edit = Edit::of_optional(params).map_err(crate::forward::malformed)?;
    let proposal = matches!(wish.form, Form::Proposal { pieces: true });
    if proposal && live.server.streams() {
        edit = edit.within("_mgp", |mgp| mgp.set("stream", Raw::boolean(true))).map_err(crate::forward::malformed)?;
    }
    let token = live.asks_for_progress();
    let checkpoint = wish.goes_on.as_ref().map(|goes_on| goes_on.inner.clone());
    if token.is_none() && checkpoint.is_none() {
        return Ok(edit.finish());
    }
    let edit = edit.within("_meta", |mut meta| {
        if let Some(token) = token {
            meta = meta.set("progressToken", token);
        }
        match checkpoint {
            Some(Some((_, theirs))) => meta.set("checkpoint_token", Raw::string(&theirs)).remove("operation_id"),
            // It is ours, and says nothing to the server.
            Some(None) => meta.remove("checkpoint_token").remove("operation_id"),
            None => meta,
        }
    });
    Ok(edit.map_err(crate::forward::malformed)?.finish())
}

fn written(result: &RawValue) -> Result<Reply, Fault> {
    Raw::parse(result.get().to_owned(), &Limits::default()).map(|raw| Ok(raw).into()).map_err(Fault::internal)
}

fn gone() -> Fault {
    Fault::new(FaultKind::OutcomeUnknown, "the operation ended without an outcome")
}

fn of_another_call() -> Fault {
    Fault::new(FaultKind::CheckpointNotFound, "this checkpoint is of another call")
}

pub(super) fn unknown_checkpoint() -> Fault {
    Fault::new(FaultKind::CheckpointNotFound, "this checkpoint is unknown, too old, or not yours")
}

fn unkept(error: StoreError) -> Fault {
    Fault::new(FaultKind::ResourceExhausted, "the operation cannot be written down now").with_source(error)
}

fn later(now: Timestamp) -> Timestamp {
    now.checked_add(OPERATION_TTL).unwrap_or(Timestamp::MAX)
}
