//! Requests that are no calls of tools, on their way through the gate: what of them is judged, and in which spelling.
//!
//! A prompt, a resource, a completion passes the same list as a tool. Judged is what the server will be sent, under the
//! server's own names, and for a resource of a template also what stands for its variables.

use std::sync::Arc;

use switchboard_peer::{Context, Reply};
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mgp::metadata::Metadata;
use switchboard_wire::{Edit, Id, Object, Raw, Request};

use super::passage::Subject;
use super::sent::{ABOUT, ALSO_ABOUT, Sent, URL_BEGINNINGS, beyond_task, rest_of, unknown_of, with_reserved};
use super::{Admission, Attempt, Gate, Permit, ToolPolicy, metadata_of, trace_of};
use switchboard_upstream::Server;
use switchboard_validators::uri_template::{Variables, made_of, variables as variables_of};

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
    let reserved = with_reserved(None, edit.object(), &ALSO_ABOUT);
    let edit = ABOUT.iter().fold(edit, |edit, key| edit.remove(key)).set_optional("task", more);
    let reserved = reserved.and_then(|reserved| Object::open(&reserved).ok());
    Ok(reserved.iter().flat_map(Object::iter).fold(edit, |edit, (key, value)| edit.set(&key, value)))
}
