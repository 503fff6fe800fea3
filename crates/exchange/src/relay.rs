//! What a server sends on behalf of one call, passed to the client that made the call.

use std::sync::Arc;
use std::time::Duration;

use switchboard_gate::{CallAuthority, Continued, agreed_with, audit, chain_said};
use switchboard_peer::{BoxFuture, Call, CallError, Caller, Context, Handler, Remote, Reply, Session};
use switchboard_protocol::fault::{Fault, FaultKind, Rendering};
use switchboard_protocol::mcp::{LoggingLevel, meta, method, strict};
use switchboard_protocol::mgp::Extension;
use switchboard_protocol::{Era, Revision, bridge, mgp, provenance};
use switchboard_upstream::Server;
use switchboard_wire::{Edit, ErrorObject, Extra, Id, Notification, Object, Raw, Request, code};

use crate::asker;
use crate::callbacks::{About, CallQuestions};
use crate::exchange::Exchange;
use crate::host::Host;
use crate::streams::Live;

/// Passes messages of one call to a client that may be asked, and notifications to any client.
#[derive(Clone)]
pub struct Relay<H> {
    pub(crate) exchange: Exchange<H>,
    pub(crate) server: Arc<Server>,
    pub(crate) client: Context,
    /// From which level on the client wants log messages of this call.
    pub(crate) logs: LogFilter,
    /// What takes the pieces of the call's result, where they are wanted.
    pub(crate) live: Option<Arc<Live>>,
    /// The client's own id of the call.
    pub(crate) id: Option<Id>,
    /// What the server asks about the call.
    pub(crate) questions: CallQuestions,
    /// The tool that is called, as the server calls it: in these parameters. Nothing for what is no call of a tool.
    pub(crate) called: Option<Raw>,
    /// What stood beside its parameters.
    pub(crate) extra: Extra,
}

impl<H> Relay<H> {
    /// What takes messages of a server to the client of a session, outside of any call.
    pub fn outside(exchange: Exchange<H>, server: Arc<Server>, client: Context) -> Self {
        Self {
            exchange,
            server,
            client,
            logs: LogFilter::Session,
            live: None,
            id: None,
            questions: CallQuestions::default(),
            called: None,
            extra: Extra::default(),
        }
    }
}

impl<H> std::fmt::Debug for Relay<H> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Relay").field("server", self.server.id()).field("id", &self.id).finish_non_exhaustive()
    }
}

/// A call in whose middle something was asked.
pub(crate) struct AskedIn<'a> {
    pub(crate) client: &'a Context,
    pub(crate) server: &'a Arc<Server>,
    /// The parameters of a call of a tool, as its server got them. Nothing for what is no such call.
    pub(crate) called: Option<&'a Raw>,
    /// What stood beside the parameters.
    pub(crate) extra: &'a Extra,
}

impl AskedIn<'_> {
    /// Whether the client may still make the call that it answers a question about, with these arguments.
    ///
    /// # Errors
    /// It may not: the answer must not reach the server.
    pub(crate) async fn may_go_on(&self, host: &impl Host) -> Result<(), Fault> {
        let lost = || Fault::new(FaultKind::AccessDenied, "the right to make this call was taken back");
        let params = self.called.and_then(|params| Object::open(params).ok());
        match params.as_ref().and_then(|params| Some((params, params.text("name")?))) {
            Some((params, tool)) => {
                let chain = chain_said(&self.client.session, params, self.extra);
                let call = Continued { server: self.server, tool: &tool, exposed: &tool, chain: &chain };
                host.gate().admit_continued(self.client, &call, "answer", lost).await?;
                // Where limits hold now, its arguments are judged by them.
                let authority =
                    CallAuthority { chain: chain.clone(), params: Some(params.clone()), ..Default::default() };
                host.gate().admit_within(self.client, &call, "answer", &authority).await
            }
            None => {
                let tables = host.gate().tables().await?;
                if host.gate().access(&tables, &self.client.session, self.server, None).allow {
                    Ok(())
                } else {
                    Err(lost())
                }
            }
        }
    }

    /// Whether an answer may be given: where it says that it is given on somebody's behalf, they are judged as at a call.
    ///
    /// # Errors
    /// It may not, or what it says of that cannot be read.
    pub(crate) async fn admit_answer(&self, host: &impl Host, answer: &Raw) -> Result<(), Fault> {
        host.gate().admit_answer_for(self.client, self.server, self.tool().as_deref(), answer).await
    }

    /// The same of what comes as an answer where no question is known.
    ///
    /// # Errors
    /// As [`AskedIn::admit_answer`].
    pub(crate) async fn admit_unasked(&self, host: &impl Host, answer: &Raw) -> Result<(), Fault> {
        host.gate().admit_unasked_answer(self.client, self.server, self.tool().as_deref(), answer).await
    }

    fn tool(&self) -> Option<String> {
        self.called.and_then(|params| params.member("name")?.as_text())
    }
}

/// Which log messages of a call reach the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogFilter {
    /// What the session asked for.
    Session,
    /// At least this level: what a modern request asked for.
    Level(String),
    /// None: a modern request that did not ask.
    Nothing,
}

impl LogFilter {
    /// What the sender of a request wants.
    #[must_use]
    pub fn of(context: &Context, params: Option<&Raw>) -> Self {
        match context.caller.era() {
            Era::Legacy => Self::Session,
            Era::Modern => {
                let level = params.and_then(|params| params.at(&["_meta", meta::LOG_LEVEL])?.as_text());
                level.map_or(Self::Nothing, Self::Level)
            }
        }
    }

    /// Whether a notification reaches the client; `level` is the one that its session asked for.
    pub fn admits(&self, level: impl FnOnce() -> Option<&'static str>, notification: &Notification) -> bool {
        if &*notification.method != method::LOG_MESSAGE {
            return true;
        }
        match self {
            Self::Session => wants_log(level(), notification),
            Self::Level(level) => wants_log(Some(level), notification),
            Self::Nothing => false,
        }
    }
}

/// The place of a level name among all of them.
#[must_use]
pub fn level_index(level: &str) -> Option<u8> {
    LoggingLevel::parse(level).map(|level| level as u8)
}

/// The name of a level.
#[must_use]
pub fn level_name(index: u8) -> Option<&'static str> {
    LoggingLevel::ALL.get(usize::from(index)).map(|level| level.as_str())
}

/// Whether a log message is at least as serious as `level`.
#[must_use]
pub fn wants_log(level: Option<&str>, notification: &Notification) -> bool {
    let Some(least) = level.and_then(level_index) else { return true };
    let said = notification.params.as_ref().and_then(|params| params.member("level")?.as_text());
    said.as_deref().and_then(level_index).is_none_or(|level| level >= least)
}

impl<H: Host> Handler for Relay<H> {
    fn request(&self, context: Context, request: Request) -> BoxFuture<'_, Reply> {
        Box::pin(async move {
            if &*request.method == method::PING {
                return Ok(Raw::empty_object()).into();
            }
            let exchange = &self.exchange;
            let _asking = self.server.asks(exchange.host.owner(&self.client.session), &request.method);
            let client = AskedClient { remote: &self.client.remote, caller: &self.client.caller };
            let reply = tokio::select! {
                reply = exchange.ask_client(&client, &self.server, request, Some(context.remote)) => reply,
                // With the call, its questions have no meaning any more.
                () = self.client.cancel.cancelled() => {
                    return Err(ErrorObject::new(code::INTERNAL_ERROR, "the call that this belongs to has ended")).into();
                }
            };
            // It may have taken a while.
            let (client, server, extra) = (&self.client, &self.server, &self.extra);
            let asked = AskedIn { client, server, called: self.called.as_ref(), extra };
            let may_answer = async {
                asked.may_go_on(&exchange.host).await?;
                match &reply.outcome {
                    Ok(answer) => asked.admit_answer(&exchange.host, answer).await,
                    Err(_) => Ok(()),
                }
            };
            match may_answer.await {
                Ok(()) => reply,
                Err(fault) => Err(ErrorObject::new(code::INTERNAL_ERROR, fault.message())).into(),
            }
        })
    }

    fn notification(&self, context: Context, notification: Notification) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let about = AboutCall {
                exchange: &self.exchange,
                server: &self.server,
                client: &self.client,
                live: self.live.as_ref(),
                id: self.id.as_ref(),
                questions: &self.questions,
            };
            if let Some(notification) = about.left(self, &context, notification).await
                && self.logs.admits(|| self.exchange.host.session_log_level(&self.client.session), &notification)
            {
                let _ = self.client.remote.notify(notification);
            }
        })
    }
}

/// A call that a server says something about.
pub(crate) struct AboutCall<'a, H> {
    pub(crate) exchange: &'a Exchange<H>,
    pub(crate) server: &'a Arc<Server>,
    /// Who made it.
    pub(crate) client: &'a Context,
    /// What takes the pieces of its result, where they are wanted.
    pub(crate) live: Option<&'a Arc<Live>>,
    /// The client's own id of it.
    pub(crate) id: Option<&'a Id>,
    /// What the server asks about it.
    pub(crate) questions: &'a CallQuestions,
}

impl<H: Host> AboutCall<'_, H> {
    /// What is left for the client of what the server says, once everybody else has had his part. `asker` puts questions
    /// to the client.
    pub(crate) async fn left(
        &self,
        asker: &(impl Handler + Clone),
        context: &Context,
        notification: Notification,
    ) -> Option<Notification> {
        let notification = of_server(notification)?;
        // A log is bounded also while a call runs; what else is said about the call is the call's own.
        if &*notification.method == method::LOG_MESSAGE
            && !self.server.hears(self.exchange.options().notification_rate).await
        {
            return None;
        }
        let taken = match self.live {
            Some(live) => live.take(&context.remote, &notification),
            None if &*notification.method == mgp::method::STREAM_PROGRESS => return self.progress(notification),
            // Where the client wants no pieces, nobody hears of them.
            None => notification.method.starts_with(mgp::method::OF_STREAMS),
        };
        if taken {
            return None;
        }
        if &*notification.method == mgp::method::CALLBACK_REQUEST {
            let scope = self.questions.scope();
            let about = About {
                client: self.client.clone(),
                asker: Arc::new(asker.clone()),
                request: self.id.cloned(),
                call: self.questions.call.clone(),
            };
            let params = notification.params.as_ref();
            self.exchange.take_callback(self.server, scope, Some(about), &context.remote, params);
            return None;
        }
        (!self.exchange.host.take_notice(self.server, &notification)).then_some(notification)
    }

    /// How far a call is that does not stream (MGP 12.6), under the client's own id, where the client speaks of it.
    fn progress(&self, notification: Notification) -> Option<Notification> {
        let id = self.id?;
        let agreed = agreed_with(&self.client.caller.capabilities)?;
        if !agreed.has(Extension::Streaming) && !agreed.has(Extension::Progress) {
            return None;
        }
        let edit = Edit::of(notification.params.as_ref()?).ok()?.set("request_id", id.to_raw());
        Some(Notification { params: Some(edit.finish()), ..notification })
    }
}

impl<H: Host> Exchange<H> {
    /// Puts a server's question to a client, if the client can answer it. The client's progress on it goes back.
    pub(crate) async fn ask_client(
        &self,
        client: &AskedClient<'_>,
        server: &Server,
        request: Request,
        back: Option<Arc<dyn Remote>>,
    ) -> Reply {
        if let Some(error) = cannot_answer(client.caller, &request) {
            tracing::debug!(server = %server.id(), method = %request.method, "the client cannot be asked this");
            return Err(error).into();
        }
        // Only the kernel's own questions may look like the kernel's.
        let params = match request.params.map(provenance::cleaned) {
            Some(None) => {
                let text = "a member of the request stands twice";
                return Err(ErrorObject::new(code::INVALID_PARAMS, text)).into();
            }
            params => params.flatten(),
        };
        let strictly = |params: &Raw| strict::question(&request.method, params, client.caller.revision);
        let params = params.map(|params| strictly(&params).unwrap_or(params));
        // Also one that says nothing: its client would ask a person all the same.
        let said = params.clone().unwrap_or_else(Raw::empty_object);
        let params = asker::question_of(&asker::known_as(server), &request.method, &said).or(params);
        let mut call = Call::new(request.method, params).within(self.options().question_timeout);
        call.extra = request.extra;
        call.related = back.map(|remote| Arc::new(Back(remote)) as Arc<dyn Handler>);
        let asked = call.method.clone();
        match client.remote.request(call).await {
            Ok(reply) => {
                let reply = of_client(reply);
                if let (method::ROOTS_LIST, Ok(answer)) = (&*asked, &reply.outcome) {
                    server.roots.note(answer);
                }
                reply
            }
            Err(CallError::Timeout(wait)) => Err(self.unanswered_by_client(server, &asked, wait).await).into(),
            Err(error) => {
                Err(ErrorObject::new(code::INTERNAL_ERROR, format!("the client did not answer: {error}"))).into()
            }
        }
    }

    /// Puts a question that a server asks outside of any call to the client that it is for. The answer is on record before
    /// the server gets it.
    pub async fn ask_outside(
        &self,
        session: &Session,
        server: &Server,
        request: Request,
        back: Arc<dyn Remote>,
    ) -> Reply {
        let caller = session.caller();
        let client = AskedClient { remote: session.remote(), caller: &caller };
        let reply = self.ask_client(&client, server, request, Some(back)).await;
        let Ok(answer) = &reply.outcome else { return reply };
        match self.host.gate().note_answer(session, server, None, answer).await {
            Ok(()) => reply,
            Err(fault) => Err(ErrorObject::new(code::INTERNAL_ERROR, fault.message())).into(),
        }
    }

    /// The error of a question that no client answered in time, for the server that asked it.
    async fn unanswered_by_client(&self, server: &Server, asked: &str, wait: Duration) -> ErrorObject {
        let text = format!("the client did not answer within {} s", wait.as_secs_f32());
        let fault = Fault::new(FaultKind::Timeout, text);
        let event = audit::event_of(audit::event::CALLBACK_TIMEOUT, audit::kernel(), audit::result::FAILURE);
        let event = audit::with(audit::about(event, server.id(), None), "asked_by", asked);
        let waited = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        self.host.gate().audit().note(audit::with(event, "timeout_ms", waited)).await;
        fault.render(&Rendering::new(Revision::LATEST_LEGACY, asked).with_mgp(server.speaks_mgp()))
    }
}

/// A client's answer without what only the kernel says. One that readers would disagree about is none.
pub(crate) fn of_client(reply: Reply) -> Reply {
    let ambiguous = || ErrorObject::new(code::INTERNAL_ERROR, "in the client's answer a member stands twice");
    let outcome = match reply.outcome {
        Ok(result) => provenance::cleaned(result).ok_or_else(ambiguous),
        Err(error) => Err(provenance::error_of_peer(error)),
    };
    Reply { outcome, ..reply }
}

/// A server's notification without what only the kernel says; `None` for one that readers would disagree about.
#[must_use]
pub fn of_server(notification: Notification) -> Option<Notification> {
    let params = match notification.params {
        Some(params) => Some(provenance::cleaned(params)?),
        None => None,
    };
    Some(Notification { params, ..notification })
}

/// A client that is asked something.
pub(crate) struct AskedClient<'a> {
    pub(crate) remote: &'a Arc<dyn Remote>,
    pub(crate) caller: &'a Caller,
}

/// Passes what a client sends while it works on a server's question back to that server.
struct Back(Arc<dyn Remote>);

impl Handler for Back {
    fn request(&self, _context: Context, _request: Request) -> BoxFuture<'_, Reply> {
        let error = ErrorObject::new(code::METHOD_NOT_FOUND, "a question cannot be answered with a question");
        Box::pin(std::future::ready(Err(error).into()))
    }

    fn notification(&self, _context: Context, notification: Notification) -> BoxFuture<'_, ()> {
        if let Some(notification) = of_server(notification) {
            let _ = self.0.notify(notification);
        }
        Box::pin(std::future::ready(()))
    }
}

/// Why a client that said this of itself is not asked that.
pub(crate) fn cannot_answer(caller: &Caller, asked: &Request) -> Option<ErrorObject> {
    let needed = bridge::needed_capability(&asked.method)?;
    if !caller.can(&[needed]) {
        let text = format!("the client did not declare the `{needed}` capability");
        return Some(ErrorObject::new(code::METHOD_NOT_FOUND, text));
    }
    let has = |key: &str| asked.params.as_ref().is_some_and(|params| params.member(key).is_some());
    let is_url = || {
        asked
            .params
            .as_ref()
            .is_some_and(|params| params.member("mode").is_some_and(|mode| mode.as_text().as_deref() == Some("url")))
    };
    // `elicitation: {}` means forms.
    let missing = match &*asked.method {
        method::ELICIT if is_url() => (!caller.can(&["elicitation", "url"])).then_some("elicitation.url"),
        method::ELICIT => {
            (caller.can(&["elicitation", "url"]) && !caller.can(&["elicitation", "form"])).then_some("elicitation.form")
        }
        method::CREATE_MESSAGE if has("tools") || has("toolChoice") => {
            (!caller.can(&["sampling", "tools"])).then_some("sampling.tools")
        }
        _ => None,
    };
    missing.map(|missing| {
        ErrorObject::new(code::INVALID_PARAMS, format!("the client did not declare the `{missing}` capability"))
    })
}
