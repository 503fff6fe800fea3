//! What the gate knows of a tool, and of a principal before anybody said something of it.

use std::sync::{Arc, OnceLock};

use switchboard_flow::latency::Durations;
use switchboard_policy::permission;
use switchboard_policy::risk::Assessment;
use switchboard_policy::schema::Schema;
use switchboard_protocol::mgp::DefaultPolicy;
use switchboard_protocol::mgp::security::ToolSecurity;
use switchboard_store::Digest;
use switchboard_validators::acting::Outlook;
use switchboard_validators::arguments::{Checks, Dialing};
use switchboard_validators::code::Level;
use switchboard_wire::Raw;

use super::bases::Bases;
use super::pins::definition_hash;
use switchboard_upstream::ListKind;
use switchboard_upstream::Timings;

pub use switchboard_policy::access::OWNER;

/// What a principal without a grant may do at a server: what was said for the server, else for all servers, else
/// everything for the owner of this machine and nothing for others.
#[must_use]
pub fn default_policy(
    principal: &str,
    of_server: Option<DefaultPolicy>,
    of_all: Option<DefaultPolicy>,
) -> DefaultPolicy {
    let own = if principal == OWNER { DefaultPolicy::OptOut } else { DefaultPolicy::OptIn };
    of_server.or(of_all).unwrap_or(own)
}

/// What the gate knows of a tool, a prompt or a resource.
#[derive(Debug)]
pub struct ToolPolicy {
    /// What follows from everything that is said of it.
    pub assessment: Assessment,
    /// What the server says of it.
    pub security: ToolSecurity,
    /// The checks of its arguments, while no grant narrows them.
    pub checks: Arc<Checks>,
    /// How its calls are looked at for values that act, where they are.
    outlook: Option<Outlook>,
    code_level: Option<Level>,
    /// Who dials the addresses in its arguments.
    dialing: Dialing,
    /// The name of its server, where that may say what it runs.
    server: Box<str>,
    /// Its arguments that are text, as the operator says.
    text_arguments: Vec<String>,
    input_schema: Option<Raw>,
    /// The most bytes that its arguments may have, as it says itself (proposal 10).
    longest_input: Option<u64>,
    schema: OnceLock<Arc<Schema>>,
    listed: bool,
    timings: Option<(Box<str>, Arc<Timings>)>,
    times: OnceLock<Arc<Durations>>,
    definition: Option<(ListKind, Raw)>,
    definition_hash: OnceLock<Option<Digest>>,
}

impl ToolPolicy {
    /// What holds for a tool, by everything that is said of it.
    #[must_use]
    pub fn new(security: ToolSecurity, assessment: Assessment) -> Self {
        let checks = Checks::new(&assessment.validators, &security, &[], "/").with_carried(&assessment.carried);
        let checks = Arc::new(checks);
        Self {
            assessment,
            security,
            checks,
            outlook: None,
            code_level: None,
            dialing: Dialing::default(),
            server: "".into(),
            text_arguments: Vec::new(),
            input_schema: None,
            longest_input: None,
            schema: OnceLock::new(),
            listed: false,
            timings: None,
            times: OnceLock::new(),
            definition: None,
            definition_hash: OnceLock::new(),
        }
    }

    /// The same of a tool of the server of this name, which may say what the tool runs.
    #[must_use]
    pub fn of_server(self, server: &str) -> Self {
        let checks = Arc::new(self.checks.as_ref().clone().of_server(&self.security, server));
        Self { server: server.into(), checks, ..self }
    }

    /// Whether a person may be asked about its calls.
    pub fn may_ask(&self) -> bool {
        self.assessment.confirm.is_some() || !self.checks.is_empty() || self.outlook.is_some()
    }

    /// Whether nothing about it is guarded: nobody is asked, nothing is checked, no right of its own is needed. That its
    /// values are looked at guards nothing: they are looked at everywhere.
    pub fn is_plain(&self) -> bool {
        let Assessment { confirm, permissions, scopes, .. } = &self.assessment;
        confirm.is_none() && self.checks.is_empty() && permissions.is_empty() && scopes.is_empty()
    }

    /// The same with who dials the addresses in its arguments.
    #[must_use]
    pub fn with_dialing(self, dialing: Dialing) -> Self {
        let checks = Arc::new(self.checks.as_ref().clone().with_dialing(dialing));
        Self { dialing, checks, ..self }
    }

    /// The same with how its calls are looked at for values that act.
    #[must_use]
    pub fn with_outlook(self, outlook: Option<Outlook>) -> Self {
        Self { outlook, ..self }
    }

    /// How its calls are looked at for values that act, where they are.
    pub(super) const fn outlook(&self) -> Option<&Outlook> {
        self.outlook.as_ref()
    }

    /// The same with the level of code safety that the operator says.
    #[must_use]
    pub fn with_code_level(self, level: Option<Level>) -> Self {
        if level.is_none() {
            return self;
        }
        let policy = Self { code_level: level, ..self };
        Self { checks: Arc::new(policy.checks_within(&[], &Bases::default())), ..policy }
    }

    /// The same with the arguments of which the operator says that they are neither paths nor hosts.
    #[must_use]
    pub fn with_text_arguments(self, names: Option<&Vec<String>>) -> Self {
        Self { text_arguments: names.cloned().unwrap_or_default(), ..self }
    }

    /// The arguments that are neither paths nor hosts, as the operator says.
    pub(super) fn text_arguments(&self) -> &[String] {
        &self.text_arguments
    }

    /// What holds where all of these may: the strictest of each. Its definition is another one as soon as one of theirs is.
    pub fn strictest(policies: &[Arc<Self>]) -> Option<Arc<Self>> {
        if let [only] = policies {
            return Some(only.clone());
        }
        let rank = |policy: &Arc<Self>| (policy.assessment.confirm.is_some(), policy.assessment.risk);
        let strictest = policies.iter().max_by_key(|policy| rank(policy))?;
        let assessments = policies.iter().map(|policy| &policy.assessment);
        let assessment = assessments.fold(strictest.assessment.clone(), Assessment::and);
        let policy = Self::new(strictest.security.clone(), assessment);
        let hashes: Vec<String> = policies.iter().filter_map(|policy| Some(policy.definition()?.to_string())).collect();
        let hash = (!hashes.is_empty()).then(|| Digest::of(hashes.join("\n").as_bytes()));
        let outlook = policies.iter().find_map(|policy| policy.outlook.clone());
        Some(Arc::new(Self { outlook, definition_hash: OnceLock::from(hash), ..policy }))
    }

    /// The checks of its arguments within the scopes of grants.
    pub(super) fn checks_within(&self, scopes: &[permission::Scope], bases: &Bases) -> Checks {
        let checks = Checks::new(&self.assessment.validators, &self.security, scopes, bases.first());
        let checks = checks.also_based_at(bases.others()).with_schema(self.schema().cloned());
        let checks = checks.with_text_arguments(&self.text_arguments).with_carried(&self.assessment.carried);
        let checks = checks.with_dialing(self.dialing).of_server(&self.security, &self.server);
        match self.code_level {
            Some(level) => checks.at_code_level(level),
            None => checks,
        }
    }

    /// The same with the schema of its arguments, as it was published.
    #[must_use]
    pub fn with_schema(self, schema: Option<Raw>) -> Self {
        Self { input_schema: schema, ..self }
    }

    /// The same with the most bytes that its arguments may have.
    #[must_use]
    pub fn with_longest_input(self, longest: Option<u64>) -> Self {
        Self { longest_input: longest, ..self }
    }

    /// The most bytes that its arguments may have, where it says so.
    pub(super) const fn longest_input(&self) -> Option<u64> {
        self.longest_input
    }

    /// The same of a resource that its server lists.
    #[must_use]
    pub fn listed(self) -> Self {
        Self { listed: true, ..self }
    }

    /// Whether it is a resource that its server lists.
    pub(super) const fn is_listed(&self) -> bool {
        self.listed
    }

    /// The same with the definition that all of this was read from.
    #[must_use]
    pub fn with_definition(self, kind: ListKind, definition: Raw) -> Self {
        Self { definition: Some((kind, definition)), ..self }
    }

    /// The hash of its definition, by which a changed one is told; computed when somebody has to be asked about it.
    pub fn definition(&self) -> Option<Digest> {
        *self.definition_hash.get_or_init(|| {
            let (kind, raw) = self.definition.as_ref()?;
            definition_hash(*kind, raw)
        })
    }

    /// The same with the counters of its server's tools, and its name among them.
    #[must_use]
    pub fn timed_by(self, name: &str, timings: &Arc<Timings>) -> Self {
        Self { timings: Some((name.into(), timings.clone())), ..self }
    }

    /// What counts how long its calls take.
    pub fn times(&self) -> Option<Arc<Durations>> {
        let (name, timings) = self.timings.as_ref()?;
        Some(self.times.get_or_init(|| timings.of(name)).clone())
    }

    /// The schema, read when it is first asked for.
    pub(super) fn schema(&self) -> Option<&Arc<Schema>> {
        let raw = self.input_schema.as_ref()?;
        Some(self.schema.get_or_init(|| {
            let schema = Schema::read(raw);
            for note in schema.notes() {
                tracing::debug!(note, "part of a tool's schema is not checked");
            }
            Arc::new(schema)
        }))
    }
}
