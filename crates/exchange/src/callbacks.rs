//! Questions of servers in the middle of a call (MGP 13.4), and who answers them.
//!
//! Policy answers where the operator wants nobody asked. Else the question is put to the one whose call it is: as an
//! MGP callback, as an elicitation, or to its model; and beside that before the operator, through the store, from
//! whatever process he answers. The first answer stands, for this question of this call alone, and is put on record
//! before the server gets it. Where nobody answers, the server learns that as well.

mod forms;
mod questions;
mod record;
mod rights;
mod scope;

use record::QuestionRecord;
pub(crate) use scope::EndOfQuestions;
pub use scope::{CallNames, CallQuestions, ConnectionQuestions};

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;
use serde_json::json;
use serde_json::value::RawValue;
use switchboard_flow::callback::{CallbackLimits, CallbackOrigin, CallbackTable, Came, Due, NoAnswer, verdict};
use switchboard_gate::agreed_with;
use switchboard_peer::{Call, Context, Handler, Remote};
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mgp::callback::{CallbackRequest, CallbackResponse, CallbackType};
use switchboard_protocol::mgp::{ApprovalPolicy, Extension, method};
use switchboard_store::{CallbackState, StoredCallback};
use switchboard_upstream::Server;
use switchboard_wire::{Edit, Id, Limits as JsonLimits, Notification, Raw, Request};
use tokio::sync::oneshot;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use self::rights::Concerns;
use crate::asker;
use crate::exchange::Exchange;
use crate::host::Host;

/// How often it is looked whether the operator has answered.
const ANSWER_POLL_INTERVAL: Duration = Duration::from_millis(250);
/// How long a server may take to take an answer.
const DELIVERY: Duration = Duration::from_secs(10);
/// Who may answer where no call says it.
const NOBODY: &str = "";

/// What is open.
pub(crate) struct Callbacks {
    table: Mutex<CallbackTable>,
    waiting: Mutex<HashMap<Arc<str>, Waiting>>,
}

/// What waits for the answer to one question.
struct Waiting {
    answer: oneshot::Sender<Answer>,
    concerns: Concerns,
}

/// An answer, and who gave it.
#[derive(Debug, Clone)]
struct Answer {
    said: Raw,
    by: By,
}

/// Who answered.
#[derive(Debug, Clone)]
enum By {
    /// The operator's settings.
    Policy,
    /// A client of the principal, by `mgp/callback/respond`.
    Client(Arc<str>),
    /// The person or the model behind the client that made the call, asked in the words of MCP.
    Asked(Arc<str>),
    /// The operator, by this name.
    Operator(String),
}

/// How a question ended.
enum Ending {
    Answered(Answer),
    /// Nobody answered, and the server is told so.
    Unanswered,
    /// What was answered is none of what the server offered. It is told at once.
    Unfit,
    /// Nobody waits for an answer any more: the call is over, or the server asks something else in its place.
    Void,
}

impl Callbacks {
    /// A call, or a connection, has ended: so have its questions.
    fn end(&self, scope: u64) {
        let ended = self.table.lock().end(scope);
        self.forget(&ended);
    }

    /// What an open question is about.
    fn concerns(&self, id: &str) -> Option<Concerns> {
        self.waiting.lock().get(id).map(|waiting| waiting.concerns.clone())
    }

    /// Whoever waits for the answers to these learns that there will be none.
    fn forget(&self, ids: &[Arc<str>]) {
        let mut waiting = self.waiting.lock();
        for id in ids {
            waiting.remove(id);
        }
    }
}

impl Default for Callbacks {
    fn default() -> Self {
        Self { table: Mutex::new(CallbackTable::new(CallbackLimits::default())), waiting: Mutex::default() }
    }
}

/// The call that a question is about.
pub struct About {
    /// The client that made it.
    pub client: Context,
    /// Puts questions of the base protocol to that client.
    pub asker: Arc<dyn Handler>,
    /// The client's own id of it.
    pub request: Option<Id>,
    /// What names it on the record.
    pub call: Option<Arc<CallNames>>,
}

impl std::fmt::Debug for About {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("About").field("request", &self.request).field("call", &self.call).finish_non_exhaustive()
    }
}

impl<H: Host> Exchange<H> {
    /// Takes a question of a server, about one call or on one connection: `scope` says which. `back` leads to the server.
    pub fn take_callback(
        &self,
        server: &Arc<Server>,
        scope: u64,
        about: Option<About>,
        back: &Arc<dyn Remote>,
        params: Option<&Raw>,
    ) {
        if !server.agreed_on(Extension::Callbacks) {
            return;
        }
        let Some(request) = params.and_then(|params| params.view::<CallbackRequest>().ok()) else {
            tracing::debug!(server = %server.id(), "a callback that cannot be read");
            return;
        };
        if request.kind == CallbackType::Notification {
            return self.pass_notice(server, about.as_ref(), &request);
        }
        let principal = about.as_ref().map_or_else(|| NOBODY.into(), |about| about.client.session.principal.clone());
        let origin = CallbackOrigin { server: server.id().clone(), principal, scope, connection: connection_of(back) };
        let id = self.callback_name();
        let came = self.callbacks().table.lock().ask(&id, origin.clone(), request.clone(), now());
        match came {
            Came::New { id, replaces } => {
                self.callbacks().forget(replaces.as_slice());
                let (sender, answered) = oneshot::channel();
                let concerns = Concerns {
                    call: about.as_ref().and_then(|about| about.call.clone()),
                    session: about.as_ref().map(|about| about.client.session.id.clone()),
                    request: about.as_ref().and_then(|about| about.request.as_ref().map(Id::detach)),
                };
                self.callbacks().waiting.lock().insert(id.clone(), Waiting { answer: sender, concerns });
                let (exchange, server, back) = (self.clone(), server.clone(), back.clone());
                self.spawn(async move { exchange.see_to(id, server, about, (origin, back), request, answered).await });
            }
            Came::Open => {}
            Came::Answered(answer) => self.give_back(back, &request.callback_id, answer, None),
            Came::Ambiguous { ended } => {
                tracing::warn!(
                    server = %server.id(), callback_id = %request.callback_id,
                    "two calls ask under one id: neither question is answered with yes"
                );
                QuestionRecord(self.host.gate().audit()).ambiguous(server, about.as_ref(), &request);
                let names: Vec<Arc<str>> = ended.iter().map(|(name, _)| name.clone()).collect();
                self.callbacks().forget(&names);
                // One for each: nobody knows which of them the server takes it for.
                for asked in ended.iter().map(|(_, open)| &open.request).chain([&request]) {
                    self.give_back(back, &request.callback_id, without_answer(asked, "callback_id_in_use"), None);
                }
            }
            Came::TooMany { bound, is_first } => {
                tracing::warn!(server = %server.id(), bound = bound.as_str(), "too many questions are open");
                if is_first {
                    QuestionRecord(self.host.gate().audit()).too_many(server, about.as_ref(), &request, bound);
                }
                self.give_back(back, &request.callback_id, without_answer(&request, "too_many_questions"), None);
            }
        }
    }

    /// Information for the client that needs no answer.
    fn pass_notice(&self, server: &Server, about: Option<&About>, request: &CallbackRequest) {
        let Some(about) = about else { return };
        let (id, client) = (about.request.as_ref(), &about.client);
        let told = if speaks_callbacks(client) {
            Notification::new(
                method::CALLBACK_REQUEST,
                Some(forms::callback(&request.callback_id, (server.id(), &asker::known_as(server)), id, request, 1)),
            )
        } else {
            forms::log_message(server.id(), request)
        };
        let _ = client.remote.notify(told);
    }

    /// Finds somebody who answers, and tells the server.
    async fn see_to(
        &self,
        id: Arc<str>,
        server: Arc<Server>,
        about: Option<About>,
        (origin, back): (CallbackOrigin, Arc<dyn Remote>),
        request: CallbackRequest,
        answered: oneshot::Receiver<Answer>,
    ) {
        let ending = match self.by_policy(&request) {
            Some(said) => {
                let said = Raw::string(&said);
                let open = self.callbacks().table.lock().close(&id, &said).is_some();
                if open { Ending::Answered(Answer { said, by: By::Policy }) } else { Ending::Void }
            }
            None => self.wait_for_callback(&id, &server, about.as_ref(), &request, answered).await,
        };
        self.callbacks().waiting.lock().remove(&id);
        let said = match &ending {
            Ending::Answered(answer) => {
                match QuestionRecord(self.host.gate().audit())
                    .answer(&id, &server, about.as_ref(), &request, answer)
                    .await
                {
                    Ok(()) => Some(answer.said.clone()),
                    Err(fault) => {
                        tracing::error!(callback = %id, %fault, "an answer is withheld: it cannot be put on record");
                        Some(without_answer(&request, "not_recorded"))
                    }
                }
            }
            Ending::Unfit => {
                let said = without_answer(&request, "invalid_response");
                let open = self.callbacks().table.lock().close(&id, &said);
                if open.is_some() {
                    QuestionRecord(self.host.gate().audit()).unfit(&server, about.as_ref(), &request).await;
                }
                open.map(|_| said)
            }
            Ending::Unanswered => {
                let said = unanswered(&request);
                let open = self.callbacks().table.lock().close(&id, &said);
                let cancelled = about.as_ref().is_some_and(|about| about.client.cancel.is_cancelled());
                if open.is_some() && !cancelled {
                    QuestionRecord(self.host.gate().audit()).unanswered(&server, about.as_ref(), &request).await;
                }
                // Who waits for no answer might take it for one to its next question.
                open.map(|_| said)
            }
            Ending::Void => None,
        };
        match said {
            Some(said) => self.give_back(&back, &request.callback_id, said, Some(origin)),
            None => self.callbacks().table.lock().delivered(&origin, &request.callback_id),
        }
        // Last: a store that is locked does not hold up the server's answer.
        if let Some(store) = self.host.gate().store() {
            let _ = store.callbacks().close(&id).await;
        }
    }

    /// What the operator's policy says without anybody being asked.
    fn by_policy(&self, request: &CallbackRequest) -> Option<String> {
        let yes = match self.host.gate().options().approval_policy {
            ApprovalPolicy::AutoApprove => true,
            ApprovalPolicy::DenyAll => false,
            _ => return None,
        };
        (request.kind == CallbackType::Confirmation).then(|| verdict(request, yes))
    }

    async fn wait_for_callback(
        &self,
        id: &Arc<str>,
        server: &Server,
        about: Option<&About>,
        request: &CallbackRequest,
        mut answered: oneshot::Receiver<Answer>,
    ) -> Ending {
        let by_callback = about.is_some_and(|about| speaks_callbacks(&about.client));
        if let Some(about) = about.filter(|_| by_callback) {
            self.put_to_client(id, server, about, request, 1);
        }
        let mut asking = std::pin::pin!(async {
            match about.filter(|_| !by_callback) {
                Some(about) => forms::ask(about, request).await,
                None => None,
            }
        });
        let over = about.map_or_else(CancellationToken::new, |about| about.client.cancel.clone());
        let mut asked = false;
        // Beside the client: a store that is locked holds up neither the question nor its answer.
        let mut by_operator = std::pin::pin!(async {
            if !self.put_before_operator(id, server, about, request).await {
                return std::future::pending().await;
            }
            loop {
                tokio::time::sleep(ANSWER_POLL_INTERVAL).await;
                if let Some(answer) = self.operator_answer(id).await {
                    return answer;
                }
            }
        });
        loop {
            let due = self.callbacks().table.lock().due(id, now());
            let Some(due) = due else {
                // The client has answered just now, and what it said is on its way; or nobody waits any more.
                let answer = tokio::time::timeout(ANSWER_POLL_INTERVAL, answered).await;
                return answer.ok().and_then(Result::ok).map_or(Ending::Void, Ending::Answered);
            };
            let wait = match due {
                Due::TimedOut => return Ending::Unanswered,
                Due::Again(attempt) => {
                    if let Some(about) = about.filter(|_| by_callback) {
                        self.put_to_client(id, server, about, request, attempt);
                    }
                    continue;
                }
                Due::Wait(until) => Instant::from_std(until),
            };
            tokio::select! {
                answer = &mut answered => return answer.map_or(Ending::Void, Ending::Answered),
                said = &mut asking, if !asked => {
                    asked = true;
                    if let Some((said, about)) = said.zip(about) {
                        let by = By::Asked(about.client.session.principal.clone());
                        let taken = self.callbacks().table.lock().answer(id, None, &said);
                        match taken {
                            Ok(_) => return Ending::Answered(Answer { said, by }),
                            Err(NoAnswer::Unknown) => {}
                            // A form is filled in once: nobody else comes.
                            Err(_) => return Ending::Unfit,
                        }
                    }
                }
                answer = &mut by_operator => {
                    let taken = self.callbacks().table.lock().answer(id, None, &answer.said);
                    return match taken {
                        Ok(_) => Ending::Answered(answer),
                        Err(NoAnswer::Unknown) => Ending::Void,
                        // It stands in the store, and nobody can give another one.
                        Err(_) => Ending::Unfit,
                    };
                }
                () = tokio::time::sleep_until(wait) => {}
                () = self.closing().cancelled() => return Ending::Unanswered,
                // The client has taken its call back: nobody will answer.
                () = over.cancelled() => return Ending::Unanswered,
            }
        }
    }

    fn put_to_client(&self, id: &str, server: &Server, about: &About, request: &CallbackRequest, attempt: u32) {
        let params =
            forms::callback(id, (server.id(), &asker::known_as(server)), about.request.as_ref(), request, attempt);
        let _ = about.client.remote.notify(Notification::new(method::CALLBACK_REQUEST, Some(params)));
    }

    /// Puts a question where the operator sees it; `false` where he cannot.
    async fn put_before_operator(
        &self,
        id: &str,
        server: &Server,
        about: Option<&About>,
        request: &CallbackRequest,
    ) -> bool {
        let Some(store) = self.host.gate().store().filter(|_| request.kind != CallbackType::LlmCompletion) else {
            return false;
        };
        let message = asker::named(&asker::known_as(server), request.message.as_deref().unwrap_or_default());
        let message = switchboard_policy::redact::printable(&message);
        let shown = json!({"message": message, "options": request.options});
        let Ok(shown) = RawValue::from_string(shown.to_string()) else { return false };
        let created = self.host.gate().granted.time();
        let left = self.callbacks().table.lock().open_until(id).map(|until| until.saturating_duration_since(now()));
        let left = SignedDuration::try_from(left.unwrap_or_default()).unwrap_or(SignedDuration::from_mins(2));
        let callback = StoredCallback {
            id: id.to_owned(),
            principal: about.map_or_else(String::new, |about| about.client.session.principal.as_ref().to_owned()),
            server: server.id().as_ref().to_owned(),
            kind: request.kind.as_str().to_owned(),
            shown,
            state: CallbackState::Open,
            answer: None,
            answered_by: None,
            created_at: created,
            expires_at: created.checked_add(left).unwrap_or(Timestamp::MAX),
        };
        let kept = store.callbacks().open(&callback).await;
        if let Err(error) = &kept {
            tracing::warn!(%error, "a question could not be put before the operator");
        }
        kept.is_ok()
    }

    async fn operator_answer(&self, id: &str) -> Option<Answer> {
        let kept = self.host.gate().store()?.callbacks().get(id).await.ok()??;
        let said = Raw::parse(kept.answer?.get().to_owned(), &JsonLimits::default()).ok()?;
        Some(Answer { said, by: By::Operator(kept.answered_by.unwrap_or_default()) })
    }

    /// Gives a server the answer to its question. `origin`: where the question that is closed by it came from.
    fn give_back(&self, back: &Arc<dyn Remote>, callback: &str, answer: Raw, origin: Option<CallbackOrigin>) {
        // What nobody answered says so beside the answer.
        let unanswered = answer.member("unanswered").is_some();
        let (response, more) =
            if unanswered { (answer.member("response"), answer.member("_mgp")) } else { (Some(answer), None) };
        let params = Edit::empty()
            .set("callback_id", Raw::string(callback))
            .set_optional("response", response)
            .set_optional("_mgp", more)
            .finish();
        let (state, back, callback) = (self.state.clone(), back.clone(), callback.to_owned());
        self.spawn(async move {
            let mut call = Call::new(method::CALLBACK_RESPOND, Some(params)).within(DELIVERY);
            call.max_timeout = DELIVERY;
            if let Err(error) = back.request(call).await {
                tracing::debug!(%error, "a server did not take the answer to its question");
            }
            if let Some(origin) = origin {
                state.callbacks.table.lock().delivered(&origin, &callback);
            }
        });
    }

    /// Takes the answer of a client; `None` where no server of ours asked that.
    async fn answer_callback(&self, context: &Context, params: &Raw, by_model: bool) -> Option<Result<Raw, Fault>> {
        let said: CallbackResponse = params.view().ok()?;
        let kind = self.callbacks().table.lock().get(&said.callback_id).map(|open| open.request.kind)?;
        if by_model && is_for_people(kind) {
            return Some(Err(questions::for_people()));
        }
        Some(self.take_answer(context, params, said).await)
    }

    async fn take_answer(&self, context: &Context, params: &Raw, said: CallbackResponse) -> Result<Raw, Fault> {
        let unknown = || Fault::new(FaultKind::UnknownResource, NoAnswer::Unknown.to_string());
        let principal = &context.session.principal;
        // Who may not make the call any more, or not with this token, has no say in it.
        let server = self.callbacks().table.lock().get(&said.callback_id).map(|open| open.origin.server.clone());
        let server = server.and_then(|id| self.server(&id)).ok_or_else(unknown)?;
        let concerns = self.callbacks().concerns(&said.callback_id).ok_or_else(unknown)?;
        self.admit_answer(context, &server, &concerns, unknown).await?;
        let tool = concerns.call.as_ref().map(|call| &*call.tool);
        self.host.gate().admit_answer_for(context, &server, tool, params).await?;
        let taken = self.callbacks().table.lock().answer(&said.callback_id, Some(principal), &said.response);
        match taken {
            Ok(_) => {
                let waiting = self.callbacks().waiting.lock().remove(said.callback_id.as_str());
                let answer = Answer { said: said.response, by: By::Client(principal.clone()) };
                if let Some(waiting) = waiting {
                    let _ = waiting.answer.send(answer);
                }
                Ok(Edit::empty().set("status", Raw::string("accepted")).finish())
            }
            Err(NoAnswer::Unknown) => Err(unknown()),
            Err(why) => Err(Fault::new(FaultKind::InvalidParams, why.to_string())),
        }
    }
}

/// Whether a person answers such a question: who agrees or chooses is no model.
const fn is_for_people(kind: CallbackType) -> bool {
    matches!(kind, CallbackType::Confirmation | CallbackType::Selection)
}

/// Whether a client takes questions of MGP.
pub(crate) fn speaks_callbacks(client: &Context) -> bool {
    let agreed = agreed_with(&client.caller.capabilities);
    agreed.is_some_and(|agreed| agreed.has(Extension::Callbacks))
}

/// What a server is told where nobody answered: no to a confirmation, nothing to the rest.
fn unanswered(request: &CallbackRequest) -> Raw {
    without_answer(request, "timeout")
}

/// The same, and why there is none.
fn without_answer(request: &CallbackRequest, status: &str) -> Raw {
    let said = Edit::empty().set("code", Raw::number(3003)).set("status", Raw::string(status)).finish();
    let response = match request.kind {
        CallbackType::Confirmation => Raw::string(&verdict(request, false)),
        _ => Raw::from_value(&json!(null)).unwrap_or_else(|_| Raw::string("")),
    };
    Edit::empty().set("unanswered", Raw::boolean(true)).set("response", response).set("_mgp", said).finish()
}

/// What tells the connection of a question from others: it is held for as long as the question is open.
fn connection_of(back: &Arc<dyn Remote>) -> u64 {
    Arc::as_ptr(back).cast::<()>().addr() as u64
}

fn now() -> std::time::Instant {
    Instant::now().into_std()
}

/// A request of the base protocol, made for somebody else.
fn own_request(method: &str, params: Raw) -> Request {
    Request::new(Id::number(0), method, Some(params))
}
