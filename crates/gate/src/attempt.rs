//! A request on its way through the gate, and what may become of it.

use std::sync::Arc;

use jiff::Timestamp;
use switchboard_peer::{Context, Reply};
use switchboard_protocol::fault::Fault;
use switchboard_protocol::mgp::metadata::Metadata;
use switchboard_store::{Actor, AuditEvent, Details, Target};
use switchboard_upstream::Server;
use switchboard_wire::{Id, Object, Raw, Request};

use crate::audit::{self, event};
use crate::{Permit, Subject, ToolPolicy};

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

/// What became of an attempt.
#[derive(Debug)]
pub enum Admission {
    /// It may go on, with other parameters where those of the client held something for the gate.
    Go(Permit, Option<Raw>),
    /// The client has to do something first, or must not go on: this is its answer.
    Answer(Reply),
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
