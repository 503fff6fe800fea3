//! Requests that are no calls of tools, on their way through the gate: what of them is judged, and in which spelling.
//!
//! A prompt, a resource, a completion passes the same list as a tool. Judged is what the server will be sent, under the
//! server's own names, and for a resource of a template also what stands for its variables.

use std::sync::Arc;

use switchboard_peer::{Context, Reply};
use switchboard_policy::risk::ConfirmReason;
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mgp::metadata::Metadata;
use switchboard_store::Digest;
use switchboard_validators::arguments::{self, Violation};
use switchboard_validators::percent;
use switchboard_wire::{Edit, Id, Object, Raw, Refusal, Request};

use super::dialect::rendered_for;
use super::passage::Subject;
use super::unknown::{no_such_method, no_such_prompt, no_such_task, no_such_tool, unknown_resource};
use super::{Admission, Attempt, Gate, Permit, ToolPolicy, canonical, metadata_of, trace_of};
use switchboard_upstream::Server;
use switchboard_validators::uri_template::{Variables, made_of, variables as variables_of};

/// Members of parameters that are about the request and not for the server's work.
const ABOUT: [&str; 5] = ["_meta", "_mgp", "requestState", "inputResponses", "task"];

/// Members of parameters that the dialects know as being about the request, and that may be others when it is made again.
const ALSO_ABOUT: [&str; 13] = [
    "checkpoint_token",
    "confirmation_token",
    "delegation",
    "idempotency_key",
    "idempotency_ttl_seconds",
    "intent",
    "operation_id",
    "step_id",
    "stream",
    "trace_id",
    "traceparent",
    "transaction_id",
    "user_confirmed",
];

/// Members of `task` that say how long it is kept and how often it is asked about.
const ABOUT_TASK: [&str; 3] = ["ttl", "pollInterval", "_meta"];

/// What a URL begins with that leads to a host.
const URL_BEGINNINGS: [&str; 4] = ["https://", "http://", "wss://", "ws://"];

/// All that a server is sent to act upon: the arguments, and beside them what no dialect knows, since the server may.
pub struct Sent {
    pub(super) arguments: Raw,
    pub(super) beside: Option<Raw>,
}

impl std::fmt::Debug for Sent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sent").finish_non_exhaustive()
    }
}

impl Sent {
    /// Of a call of a tool.
    pub fn of_call(params: &Object) -> Self {
        let arguments = params.get("arguments").unwrap_or_else(Raw::empty_object);
        Self { arguments, beside: unknown_of(Subject::Tool, params) }
    }

    /// One value that shows all of it: the arguments, where there is nothing else.
    pub(super) fn whole(self) -> Raw {
        match &self.beside {
            Some(beside) => match Edit::of(beside) {
                Ok(edit) => edit.set("arguments", self.arguments).finish(),
                Err(_) => self.arguments,
            },
            None => self.arguments,
        }
    }

    /// What names all of it. Arguments that look like the whole of something else have another name.
    ///
    /// # Errors
    /// A member stands twice somewhere.
    pub fn digest(&self) -> Result<Digest, Refusal> {
        let Some(beside) = &self.beside else { return canonical::digest(&self.arguments) };
        // No such text has a line break in it.
        Ok(Digest::of(format!("{}\n{}", canonical::text(&self.arguments)?, canonical::text(beside)?).as_bytes()))
    }
}

/// What a resource is read by.
#[derive(Debug, Clone)]
pub struct Reading {
    /// What the gate knows of it.
    pub policy: Arc<ToolPolicy>,
    /// What stands for the variables of the templates that it may come from, in each way to read it. Each is judged.
    pub variables: Vec<Variables>,
}

/// A request that is no call of a tool.
pub struct Asking<'a> {
    context: &'a Context,
    server: &'a Arc<Server>,
    subject: Subject,
    policy: &'a ToolPolicy,
    /// What the client calls it.
    known: String,
    /// What the server calls it, with the subject in front: no tool has such a name.
    named: String,
    params: Object,
    raw: Raw,
    /// What is judged.
    sent: Raw,
    /// What is held to the limits of grants, where that is not the same: the address as a whole, not its parts.
    within: Option<Raw>,
    metadata: Metadata,
    trace: String,
    id: Id,
}

impl std::fmt::Debug for Asking<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Asking").field("subject", &self.subject).field("named", &self.named).finish_non_exhaustive()
    }
}

impl<'a> Asking<'a> {
    fn of(
        context: &'a Context,
        server: &'a Arc<Server>,
        subject: Subject,
        policy: &'a ToolPolicy,
        (known, original): (&str, &str),
        request: &Request,
        sent: Raw,
    ) -> Result<Self, Fault> {
        let raw = request.params.clone().unwrap_or_else(Raw::empty_object);
        let metadata = metadata_of(request)?;
        Ok(Self {
            context,
            server,
            subject,
            policy,
            known: known.to_owned(),
            named: format!("{}:{original}", subject.word()),
            params: Object::open(&raw).map_err(Fault::malformed)?,
            raw,
            sent,
            within: None,
            trace: trace_of(&metadata),
            metadata,
            id: request.id.clone(),
        })
    }

    /// A prompt, with its arguments.
    pub fn prompt(
        context: &'a Context,
        server: &'a Arc<Server>,
        policy: &'a ToolPolicy,
        names: (&str, &str),
        request: &Request,
    ) -> Result<Self, Fault> {
        let arguments = request.params.as_ref().and_then(|params| params.member("arguments"));
        let sent = arguments.unwrap_or_else(Raw::empty_object);
        Self::of(context, server, Subject::Prompt, policy, names, request, sent)
    }

    /// A resource that is read or watched.
    pub fn resource(
        context: &'a Context,
        server: &'a Arc<Server>,
        subject: Subject,
        reading: &'a Reading,
        names: (&str, &str),
        request: &Request,
    ) -> Result<Self, Fault> {
        let within = without_meta(request.params.as_ref())?.set("uri", Raw::string(names.1)).finish();
        let sent = without_meta(request.params.as_ref())?.remove("uri");
        let sent = match &reading.variables[..] {
            [] => sent.set("uri", Raw::string(names.1)),
            // What leads somewhere is what stands for the variables: the rest is the server's.
            [only] => sent.set("resource", Raw::string(names.1)).set("variables", values_of(only)),
            // Each way to read the address for itself.
            several => {
                let readings: Vec<Raw> = several.iter().map(|variables| values_of(variables)).collect();
                sent.set("resource", Raw::string(names.1)).set("readings", Raw::array(&readings))
            }
        };
        let asking = Self::of(context, server, subject, &reading.policy, names, request, sent.finish())?;
        Ok(Self { within: Some(within), ..asking })
    }

    /// Values for an argument. The name of the prompt or template is judged only where no list has it.
    pub fn completion(
        context: &'a Context,
        server: &'a Arc<Server>,
        policy: &'a ToolPolicy,
        names: (&str, &str),
        is_listed: bool,
        request: &Request,
    ) -> Result<Self, Fault> {
        // What nobody has begun to write is neither a command nor a place.
        let is_begun = |value: &Raw| value.as_text().is_none_or(|text| !text.is_empty());
        let sent = completed(request.params.as_ref(), |_, value| is_begun(value) && !is_beginning_of_url(value))?;
        // Under the limits of grants, text is no place either.
        let counts =
            |name: &str, value: &Raw| !policy.text_arguments().iter().any(|text| text == name) && is_begun(value);
        let reference = request.params.as_ref().and_then(|params| params.member("ref")?.member("type")?.as_text());
        let within = if reference.as_deref() != Some("ref/resource") {
            completed(request.params.as_ref(), counts)?.finish()
        } else {
            // What is written so far counts as the address that it makes. Under the name that is completed a server may
            // take what was chosen before.
            let params = request.params.as_ref();
            let written_first = made_of(names.1, |name| typed(params, name).or_else(|| chosen(params, name)));
            let chosen_first = made_of(names.1, |name| chosen(params, name).or_else(|| typed(params, name)));
            let mut addresses = vec![Raw::string(&written_first), Raw::string(&chosen_first)];
            addresses.dedup();
            let variables = variables_of(names.1);
            let written = |name: &String| [typed(params, name), chosen(params, name)].into_iter().flatten();
            if !variables.iter().flat_map(written).any(|text| !text.is_empty()) {
                addresses.clear();
            }
            // What the template has no place for counts by itself.
            let has_no_place =
                |name: &str, value: &Raw| value.as_text().is_none() || !variables.iter().any(|own| own == name);
            let counts = |name: &str, value: &Raw| counts(name, value) && has_no_place(name, value);
            completed(params, counts)?.set("uri", Raw::array(&addresses)).finish()
        };
        let sent = if is_listed { sent } else { sent.set("uri", Raw::string(names.1)) }.finish();
        let asking = Self::of(context, server, Subject::Completion, policy, names, request, sent)?;
        Ok(Self { within: Some(within), ..asking })
    }

    /// A task, or a method that nobody here knows.
    pub fn other(
        context: &'a Context,
        server: &'a Arc<Server>,
        subject: Subject,
        policy: &'a ToolPolicy,
        name: &str,
        request: &Request,
    ) -> Result<Self, Fault> {
        let sent = match &request.params {
            // Of a method that nobody knows, nobody knows which members are about the request either.
            Some(params) if Object::open(params).is_ok() && subject == Subject::Unknown => {
                Edit::of(params).map_err(Fault::malformed)?.remove("_meta").finish()
            }
            Some(params) if Object::open(params).is_ok() => without_meta(Some(params))?.finish(),
            // What is no object is judged as it is.
            params => params.clone().unwrap_or_else(Raw::empty_object),
        };
        let params =
            Request { params: request.params.clone().filter(|raw| Object::open(raw).is_ok()), ..request.clone() };
        Self::of(context, server, subject, policy, (name, name), &params, sent)
    }

    /// Takes it through the gate.
    pub async fn admit(&self, gate: Gate<'_>) -> Result<Admission, Fault> {
        gate.admit(self.attempt()).await
    }

    /// The same where nobody is asked: the permit, or why not.
    pub async fn pass(&self, gate: Gate<'_>) -> Result<Permit, Fault> {
        match self.admit(gate).await? {
            Admission::Go(permit, _) => Ok(permit),
            Admission::Answer(Reply { outcome: Err(error), .. }) => Err(Fault::upstream("", false, error)),
            Admission::Answer(_) => Err(Fault::new(FaultKind::ConfirmationRequired, "a person has to agree to this")),
        }
    }

    /// What the gate knows of what it is about.
    #[must_use]
    pub fn policy(&self) -> &ToolPolicy {
        self.policy
    }

    /// What it says of itself.
    #[must_use]
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// Whether a person may have been asked about it, which takes a while.
    pub fn asks(&self) -> bool {
        self.policy.may_ask()
    }

    /// Remembers it where a person agreed to it and its server wants more.
    pub fn remember(&self, gate: Gate<'_>, reply: &Reply) {
        if self.asks() {
            let sent = Sent { arguments: self.sent.clone(), beside: unknown_of(self.subject, &self.params) };
            gate.remember_midway(self.context, self.server.id(), &self.named, self.policy, &sent, reply);
        }
    }

    fn attempt(&self) -> Attempt<'_> {
        Attempt {
            subject: self.subject,
            context: self.context,
            server: self.server,
            exposed: &self.known,
            tool: &self.named,
            policy: self.policy,
            params: &self.params,
            raw: &self.raw,
            sent: Some(&self.sent),
            within: self.within.as_ref(),
            metadata: &self.metadata,
            trace: &self.trace,
            request: Some(&self.id),
        }
    }
}

impl Attempt<'_> {
    /// The tool it calls, by the server's name for it and the client's; nothing for what is no tool: that takes access to
    /// the whole server.
    pub(super) fn called(&self) -> Option<(&str, &str)> {
        (self.subject == Subject::Tool).then_some((self.tool, self.exposed))
    }

    /// The name under which a person's answer holds.
    pub(super) fn asked_as(&self) -> &str {
        if self.subject == Subject::Tool { self.exposed } else { self.tool }
    }

    /// That there is no such thing.
    pub(super) fn unknown(&self) -> Fault {
        let name = self.exposed;
        match self.subject {
            Subject::Tool => no_such_tool(name),
            Subject::Prompt => no_such_prompt(name),
            Subject::Resource | Subject::Subscription => unknown_resource(name),
            Subject::Completion if name.contains(':') => unknown_resource(name),
            Subject::Completion => no_such_prompt(name),
            Subject::Task => no_such_task(name),
            Subject::Unknown => no_such_method(name),
        }
    }

    /// What a client is told where the request is refused for what it is: for a tool a result that its model reads, for
    /// everything else an error, since a result of that form would be none.
    pub(super) fn refusal(&self, fault: &Fault) -> Reply {
        match self.subject {
            Subject::Tool => super::refused::refusal(self.context, fault),
            _ => Err(rendered_for(self.context, self.method(), fault)).into(),
        }
    }

    fn method(&self) -> &'static str {
        self.subject.passage().methods.first().copied().unwrap_or_default()
    }

    /// Members of the parameters that are sent beside the arguments.
    pub(super) fn beside(&self) -> Option<Raw> {
        beside_of(self.subject, self.params, &[])
    }

    /// Members of the parameters that are sent beside the address of a resource.
    pub(super) fn beside_address(&self) -> Option<Raw> {
        rest_of(self.params, |key| key == "uri" || ABOUT.contains(&key))
    }

    /// Those of them that no dialect knows.
    pub(super) fn unknown_beside(&self) -> Option<Raw> {
        unknown_of(self.subject, self.params)
    }

    /// Why a person is to be asked about exactly this.
    pub(super) fn asks_about(&self) -> Option<ConfirmReason> {
        let ToolPolicy { assessment, security, .. } = self.policy;
        // What stands beside the arguments is not looked at for that.
        if assessment.easing.is_none() || self.unknown_beside().is_some() {
            return assessment.confirm;
        }
        assessment.asks_about(security, &self.arguments(), arguments::only_reads)
    }

    /// What of it acts though nothing about its tool, prompt or template says so: a person is asked.
    pub(super) fn acting(&self) -> Option<Violation> {
        let outlook = self.policy.outlook()?;
        let is_address = match self.subject {
            Subject::Tool | Subject::Prompt => false,
            Subject::Resource | Subject::Subscription => true,
            // What somebody has begun to write acts on nothing, and of the rest nobody knows what is what.
            Subject::Completion | Subject::Task | Subject::Unknown => return None,
        };
        let arguments = self.arguments();
        let of_arguments = outlook.question(self.policy.text_arguments(), &arguments);
        // A server may act upon what stands beside the arguments as well.
        let beside = || outlook.question(&[], &self.unknown_beside()?);
        // Many servers take what stands behind the scheme for a path.
        let as_path = || outlook.question(&[], &path_of(&arguments)?);
        of_arguments.or_else(beside).or_else(|| if is_address { as_path() } else { None })
    }

    /// All that the server would act upon: what a person agrees to, and what is put on record.
    pub(super) fn sent_to_server(&self) -> Sent {
        Sent { arguments: self.arguments(), beside: self.unknown_beside() }
    }
}

/// What stands behind the scheme of an address, its escapes read, as the path that it may be.
fn path_of(sent: &Raw) -> Option<Raw> {
    let address = sent.member("resource").or_else(|| sent.member("uri"))?.as_text()?;
    let (scheme, rest) = address.split_once(':')?;
    // What lies at another machine's address is that machine's.
    if URL_BEGINNINGS.iter().any(|begin| begin.starts_with(&format!("{}:", scheme.trim().to_ascii_lowercase()))) {
        return None;
    }
    let rest = rest.strip_prefix("//").unwrap_or(rest);
    let read = percent::stages(rest).pop()?.into_owned();
    Some(Edit::empty().set("path", Raw::string(&read)).finish())
}

/// What stands beside the arguments and is known to no dialect.
fn unknown_of(subject: Subject, params: &Object) -> Option<Raw> {
    beside_of(subject, params, &ALSO_ABOUT)
}

fn beside_of(subject: Subject, params: &Object, except: &[&str]) -> Option<Raw> {
    // Of everything else all parameters are judged anyway.
    if !matches!(subject, Subject::Tool | Subject::Prompt) {
        return None;
    }
    // Most calls have nothing else.
    if params.len() == ["name", "arguments", "_meta"].iter().filter(|key| params.has(key)).count() {
        return None;
    }
    let is_known = |key: &str| ["name", "arguments"].contains(&key) || ABOUT.contains(&key) || except.contains(&key);
    let rest = rest_of(params, is_known);
    // What is said of the task, and more than that.
    match params.get("task").and_then(|task| beyond_task(&task)) {
        Some(more) => Edit::of_optional(rest.as_ref()).ok().map(|edit| edit.set("task", more).finish()),
        None => rest,
    }
}

/// What is judged of a completion: the argument and the others under their names, as far as they count, and every member
/// that no dialect knows. What names the prompt or the template is left out.
fn completed(params: Option<&Raw>, counts: impl Fn(&str, &Raw) -> bool) -> Result<Edit, Fault> {
    let params = without_meta(params)?;
    let object = params.object().clone();
    let reference = Object::open(&object.get("ref").unwrap_or_else(Raw::empty_object)).map_err(Fault::malformed)?;
    let name = if reference.text("type").as_deref() == Some("ref/prompt") { "name" } else { "uri" };
    let params = match rest_of(&reference, |key| key == "type" || key == name) {
        Some(beside) => params.set("ref", beside),
        None => params.remove("ref"),
    };
    let params = match object.get("argument") {
        Some(argument) => params.set("argument", argument_of(&argument, &counts)),
        None => params,
    };
    let others = object.get("context").and_then(|context| context.member("arguments"));
    let Some(others) = others.and_then(|others| Object::open(&others).ok()) else { return Ok(params) };
    let counted = others.iter().filter(|(name, value)| counts(name, value));
    let counted = counted.fold(Edit::empty(), |edit, (name, value)| edit.set(&name, value)).finish();
    params.within("context", |context| context.set("arguments", counted)).map_err(Fault::malformed)
}

/// What is being written for a variable of a template.
fn typed(params: Option<&Raw>, name: &str) -> Option<String> {
    let argument = params?.member("argument")?;
    argument.member("name")?.as_text().filter(|own| own == name)?;
    argument.member("value")?.as_text()
}

/// What was chosen for a variable before.
fn chosen(params: Option<&Raw>, name: &str) -> Option<String> {
    params?.member("context")?.member("arguments")?.member(name)?.as_text()
}

/// The argument of a completion under its own name, where it has one, and what stands beside name and value.
fn argument_of(argument: &Raw, counts: &impl Fn(&str, &Raw) -> bool) -> Raw {
    let Ok(object) = Object::open(argument) else { return argument.clone() };
    let (Some(name), Some(value)) = (object.text("name"), object.get("value")) else { return argument.clone() };
    let under_name = if counts(&name, &value) { Edit::empty().set(&name, value) } else { Edit::empty() };
    // In a list, so that no name hides another.
    match rest_of(&object, |key| matches!(key, "name" | "value")) {
        Some(beside) => Raw::array(&[under_name.finish(), beside]),
        None => under_name.finish(),
    }
}

/// The members of an object without those that are known; nothing where no other is left.
fn rest_of(object: &Object, is_known: impl Fn(&str) -> bool) -> Option<Raw> {
    if object.iter().all(|(key, _)| is_known(&key)) {
        return None;
    }
    let rest = object.iter().filter(|(key, _)| !is_known(key));
    Some(rest.fold(Edit::empty(), |edit, (key, value)| edit.set(&key, value)).finish())
}

/// What stands for the variables of a template.
fn values_of(variables: &[(String, String)]) -> Raw {
    variables.iter().fold(Edit::empty(), |edit, (name, value)| edit.set(name, Raw::string(value))).finish()
}

/// Whether somebody has begun to write a URL, and has not come to its host yet.
fn is_beginning_of_url(value: &Raw) -> bool {
    value.as_text().is_some_and(|text| URL_BEGINNINGS.iter().any(|begin| begin.starts_with(&text.to_ascii_lowercase())))
}

fn without_meta(params: Option<&Raw>) -> Result<Edit, Fault> {
    let edit = Edit::of_optional(params).map_err(Fault::malformed)?;
    let more = edit.object().get("task").and_then(|task| beyond_task(&task));
    let edit = ABOUT.iter().fold(edit, |edit, key| edit.remove(key));
    Ok(edit.set_optional("task", more))
}

/// What stands in `task` beyond what is said of the task: the server may act upon it.
fn beyond_task(task: &Raw) -> Option<Raw> {
    match Object::open(task) {
        Ok(task) => rest_of(&task, |key| ABOUT_TASK.contains(&key)),
        Err(_) => Some(task.clone()),
    }
}
