//! A request on its way through the gate.

use std::sync::Arc;

use jiff::Timestamp;
use switchboard_peer::{Context, Reply};
use switchboard_policy::risk::ConfirmReason;
use switchboard_protocol::fault::Fault;
use switchboard_protocol::mgp::TrustLevel;
use switchboard_protocol::mgp::metadata::Metadata;
use switchboard_store::{Actor, AuditEvent, Details, Target};
use switchboard_upstream::Server;
use switchboard_validators::arguments::{self, Violation};
use switchboard_wire::{Id, Object, Raw, Request};

use crate::audit::{self, event, result, step};
use crate::dialect::rendered_for;
use crate::refused::{refusal, refused};
use crate::sent::{ABOUT, ALSO_ABOUT, Sent, beside_of, path_of, rest_of, unknown_of, with_reserved};
use crate::unknown::{no_such_method, no_such_prompt, no_such_task, no_such_tool, unknown_resource};
use crate::{Gate, Subject, ToolPolicy};

/// Letters of an intent that are written to the audit log.
const LONGEST_INTENT: usize = 1_000;

/// One request that wants to pass: a call of a tool, or anything else that reaches a server.
pub struct Attempt<'a> {
    /// What it is about.
    pub subject: Subject,
    /// Who makes it, and how.
    pub context: &'a Context,
    /// Where it goes.
    pub server: &'a Arc<Server>,
    /// The tool, prompt or resource as the client named it.
    pub exposed: &'a str,
    /// The tool as the server calls it; of anything else with its subject in front, which no tool has.
    pub tool: &'a str,
    /// What is known of it.
    pub policy: &'a ToolPolicy,
    /// Its parameters.
    pub params: &'a Object,
    /// The same, as they came.
    pub raw: &'a Raw,
    /// What is judged, in the server's spelling, where that is not the `arguments` of the parameters.
    pub sent: Option<&'a Raw>,
    /// What is held to the limits of grants, where that is something else.
    pub within: Option<&'a Raw>,
    /// What it says of itself.
    pub metadata: &'a Metadata,
    /// What ties its events together.
    pub trace: &'a str,
    /// The client's own id of the call; none where it is only asked about.
    pub request: Option<&'a Id>,
}

impl std::fmt::Debug for Attempt<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Attempt")
            .field("subject", &self.subject)
            .field("server", self.server.id())
            .field("tool", &self.tool)
            .finish_non_exhaustive()
    }
}

impl Attempt<'_> {
    /// The parameters as they came.
    pub(crate) fn params_raw(&self) -> Raw {
        self.raw.clone()
    }

    /// What its server is sent to act upon.
    #[must_use]
    pub fn arguments(&self) -> Raw {
        let sent = self.sent.cloned().or_else(|| self.params.get("arguments"));
        sent.unwrap_or_else(Raw::empty_object)
    }

    pub(crate) fn event(&self, event_type: &str, outcome: &str) -> AuditEvent {
        // Room for what a call says of itself in the end.
        let mut details = Details::with_capacity(8);
        details.insert("risk_level", self.policy.assessment.risk.as_str());
        if let Some(intent) = self.metadata.intent() {
            // A model's words: secrets are taken out.
            let intent: String = intent.chars().take(LONGEST_INTENT).collect();
            details.insert("intent", switchboard_policy::redact::value(&Raw::string(&intent)));
        }
        let tool_name = self.called().map(|(tool, _)| tool.into());
        let event = AuditEvent {
            timestamp: Timestamp::now(),
            trace_id: Some(self.trace.into()),
            event_type: event_type.into(),
            actor: self.actor(),
            target: Target { server_id: Some(self.server.id().as_ref().into()), tool_name },
            result: outcome.into(),
            details,
        };
        match self.subject {
            Subject::Tool => event,
            subject => {
                let event = audit::with(event, "what", subject.word());
                let event = if event_type == event::READ { audit::with(event, "kind", subject.word()) } else { event };
                let key = if subject == Subject::Unknown { "method" } else { "name" };
                audit::with(event, key, switchboard_policy::redact::value(&Raw::string(self.exposed)))
            }
        }
    }

    pub(crate) fn actor(&self) -> Actor {
        audit::principal(&self.context.session)
    }
}

impl Attempt<'_> {
    /// The tool it calls, by the server's name for it and the client's; nothing for what is no tool: that takes access to
    /// the whole server.
    pub(crate) fn called(&self) -> Option<(&str, &str)> {
        (self.subject == Subject::Tool).then_some((self.tool, self.exposed))
    }

    /// The name under which commands say something of this tool, where they can: with its server in front, whatever it is called
    /// beside others.
    pub(crate) fn configurable(&self) -> Option<String> {
        // What is built in stands in no file, and a name that a shell would read otherwise is in no command.
        let is_configured = self.subject == Subject::Tool && self.server.trust() < TrustLevel::Core;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
        let is_plain = !self.tool.starts_with('-') && self.tool.chars().all(is_plain);
        (is_configured && is_plain).then(|| format!("{}__{}", self.server.id(), self.tool))
    }

    /// The name under which a person's answer holds.
    pub(crate) fn asked_as(&self) -> &str {
        if self.subject == Subject::Tool { self.exposed } else { self.tool }
    }

    /// That there is no such thing.
    pub(crate) fn unknown(&self) -> Fault {
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
    pub(crate) fn refusal(&self, fault: &Fault) -> Reply {
        match self.subject {
            Subject::Tool => refusal(self.context, fault),
            _ => Err(rendered_for(self.context, self.method(), fault)).into(),
        }
    }

    /// Puts on record that a step refused it; what stops it then.
    pub(crate) async fn refuse_at(&self, gate: &Gate<'_>, step: &'static str, fault: &Fault) -> Stop {
        let event = audit::with(self.event(event::TOOL_BLOCKED, result::BLOCKED), step::KEY, step);
        gate.audit.note(refused(audit::with(event, "reason", fault.message()), fault)).await;
        self.refusal(fault).into()
    }

    fn method(&self) -> &'static str {
        self.subject.passage().methods.first().copied().unwrap_or_default()
    }

    /// Members of the parameters that are sent beside the arguments.
    pub(crate) fn beside(&self) -> Option<Raw> {
        beside_of(self.subject, self.params, &[])
    }

    /// Members of the parameters that are sent beside the address of a resource.
    pub(crate) fn beside_address(&self) -> Option<Raw> {
        with_reserved(rest_of(self.params, |key| key == "uri" || ABOUT.contains(&key)), self.params, &ALSO_ABOUT)
    }

    /// Those of them that no dialect knows.
    pub(crate) fn unknown_beside(&self) -> Option<Raw> {
        unknown_of(self.subject, self.params)
    }

    /// Why a person is to be asked about exactly this.
    pub(crate) fn asks_about(&self) -> Option<ConfirmReason> {
        let ToolPolicy { assessment, security, .. } = self.policy;
        // What stands beside the arguments is not looked at for that.
        if assessment.easing.is_none() || self.unknown_beside().is_some() {
            return assessment.confirm;
        }
        assessment.asks_about(security, &self.arguments(), arguments::only_reads)
    }

    /// What of it acts though nothing about its tool, prompt or template says so: a person is asked.
    pub(crate) fn acting(&self) -> Option<Violation> {
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
    pub(crate) fn sent_to_server(&self) -> Sent {
        Sent { arguments: self.arguments(), beside: self.unknown_beside() }
    }
}

/// Why an attempt does not pass.
pub(crate) enum Stop {
    /// An error.
    Fault(Fault),
    /// The client's answer.
    Answer(Box<Reply>),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<Reply> for Stop {
    fn from(reply: Reply) -> Self {
        Self::Answer(Box::new(reply))
    }
}

/// The metadata of a request whose parameters are open.
pub fn metadata_beside(params: &Object, request: &Request) -> Result<Metadata, Fault> {
    Metadata::of_open(Some(params.clone()), &request.extra).map_err(Fault::malformed)
}

/// The metadata of a request.
pub fn metadata_of(request: &Request) -> Result<Metadata, Fault> {
    Metadata::of(request.params.as_ref(), &request.extra).map_err(Fault::malformed)
}
