//! The gate: the one ordered list of checks that every call passes before it reaches a server.
//!
//! Who may use what (access, token scopes, server permissions), whether the arguments are fit to be sent (validators),
//! whether a person has to agree (confirmation), and what is put on record (intent before, outcome after). The
//! decisions themselves are pure and live in `switchboard-policy` and `switchboard-validators`; here they are asked in order.

pub(crate) mod audit;
pub(crate) mod audit_sinks;
mod authority;
mod bases;
pub(crate) mod canonical;
mod confirm;
mod continued;
mod dialed;
pub(crate) mod lists;
mod notices;
mod ongoing;
pub(crate) mod outbound;
mod own_files;
pub(crate) mod passage;
pub(crate) mod pins;
mod policy;
mod preflight;
pub(crate) mod rates;
mod record;
mod refused;
pub(crate) mod request;
mod resolve;
pub(crate) mod results;
pub(crate) mod rights;
mod schema;
pub(crate) mod scopes;
mod tables;
mod tokens;
mod trace;

use std::sync::Arc;

use arc_swap::{ArcSwap, Guard};
use jiff::Timestamp;
use switchboard_peer::{Context, Reply};
use switchboard_policy::permission;
use switchboard_policy::risk::ConfirmReason;
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mgp::ApprovalPolicy;
use switchboard_protocol::mgp::metadata::{Delegation, Metadata};
use switchboard_protocol::mgp::security::ToolSecurity;
use switchboard_store::{Actor, AuditEvent, Details, Store, Target};
use switchboard_validators::arguments::{self, Checks, Violation};
use switchboard_wire::{Edit, Id, Object, Raw, Request};

use crate::kernel::Kernel;
use crate::server::Server;
use crate::spec::GateOptions;
use audit::{Auditor, event, result};
pub(crate) use authority::{CallAuthority, chain_said, with_delegation_beside};
use bases::Bases;
pub(crate) use continued::{Continued, Continuing, beyond_limits, tokens_of};
pub(crate) use dialed::dialer_of;
use ongoing::RightsChanges;
pub(crate) use ongoing::RunningCall;
pub use passage::{PASSAGES, Passage, Subject};
pub use policy::{OWNER, ToolPolicy, default_policy};
pub(crate) use record::Permit;
pub(crate) use refused::{blocked, unavailable};
use refused::{refusal, refused};
pub(crate) use request::Sent;
pub(crate) use scopes::Presented;
pub(crate) use switchboard_protocol::provenance;
pub(crate) use tables::{EXPIRED, Tables, access_table};
pub(crate) use trace::{trace_of, within as within_trace};

/// Letters of an intent that are written to the audit log.
const LONGEST_INTENT: usize = 1_000;

/// The gate's own state.
pub(crate) struct Gate {
    options: ArcSwap<GateOptions>,
    store: Option<Store>,
    pub(crate) audit: Auditor,
    /// Servers that hear of events.
    pub(crate) server_sinks: Arc<audit_sinks::ServerSinks>,
    pub(crate) granted: tables::Granted,
    pub(crate) desk: confirm::PendingConfirmations,
    pub(crate) approvals_watched: confirm::ApprovalWatcher,
    pub(crate) rights: RightsChanges,
    pub(crate) pins: pins::Pins,
    pub(crate) lists: lists::Cache,
    tokens: tokens::Tokens,
    told: notices::SentNotices,
    agreed: dialed::AgreedHosts,
    pub(crate) rates: rates::Rates,
}

impl Gate {
    /// The gate, and work that must run beside it.
    pub(crate) fn new(options: GateOptions) -> (Self, impl Future<Output = ()> + Send + 'static) {
        let (audit, writing) = Auditor::new(options.store.clone());
        let gate = Self {
            audit,
            server_sinks: Arc::default(),
            granted: tables::Granted::new(options.store.clone()),
            desk: confirm::PendingConfirmations::default(),
            approvals_watched: confirm::ApprovalWatcher::default(),
            rights: RightsChanges::default(),
            pins: pins::Pins::default(),
            lists: lists::Cache::default(),
            tokens: tokens::Tokens::default(),
            told: notices::SentNotices::default(),
            agreed: dialed::AgreedHosts::default(),
            rates: rates::Rates::default(),
            store: options.store.clone(),
            options: ArcSwap::from_pointee(options),
        };
        (gate, writing)
    }

    pub(crate) fn store(&self) -> Option<&Store> {
        self.store.as_ref()
    }

    /// Whether any right ends by itself: a grant, a permission, a session token.
    pub(crate) fn anything_ends(&self) -> bool {
        self.granted.latest().anything_expires || !self.tokens.is_empty()
    }

    /// How calls are judged at the moment.
    pub(crate) fn options(&self) -> Guard<Arc<GateOptions>> {
        self.options.load()
    }
}

/// One request that wants to pass: a call of a tool, or anything else that reaches a server.
pub(crate) struct Attempt<'a> {
    pub(crate) subject: Subject,
    pub(crate) context: &'a Context,
    pub(crate) server: &'a Arc<Server>,
    /// The tool, prompt or resource as the client named it.
    pub(crate) exposed: &'a str,
    /// The tool as the server calls it; of anything else with its subject in front, which no tool has.
    pub(crate) tool: &'a str,
    pub(crate) policy: &'a ToolPolicy,
    pub(crate) params: &'a Object,
    /// The same, as they came.
    pub(crate) raw: &'a Raw,
    /// What is judged, in the server's spelling, where that is not the `arguments` of the parameters.
    pub(crate) sent: Option<&'a Raw>,
    /// What is held to the limits of grants, where that is something else.
    pub(crate) within: Option<&'a Raw>,
    pub(crate) metadata: &'a Metadata,
    pub(crate) trace: &'a str,
    /// The client's own id of the call; none where it is only asked about.
    pub(crate) request: Option<&'a Id>,
}

impl Attempt<'_> {
    /// The parameters as they came.
    fn params_raw(&self) -> Raw {
        self.raw.clone()
    }

    pub(crate) fn arguments(&self) -> Raw {
        let sent = self.sent.cloned().or_else(|| self.params.get("arguments"));
        sent.unwrap_or_else(Raw::empty_object)
    }

    fn event(&self, event_type: &str, outcome: &str) -> AuditEvent {
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

    fn actor(&self) -> Actor {
        audit::principal(&self.context.session)
    }
}

/// What is found of an attempt before anybody is asked.
pub(crate) enum Judged {
    /// Nothing.
    Fit,
    /// Something is not understood: a person has to agree.
    Doubtful(Box<Violation>),
    /// It is refused for what it is: this is the client's answer.
    Refused(Reply),
}

/// What became of an attempt.
pub(crate) enum Admission {
    /// It may go on, with other parameters where those of the client held something for the gate.
    Go(Permit, Option<Raw>),
    /// The client has to do something first, or must not go on: this is its answer.
    Answer(Reply),
}

impl Kernel {
    /// Judges calls in another way from now on, without a new start. The store stays, and so does the bound on
    /// results, which belongs to the limits. What is under way is judged anew at its next step.
    pub fn judge_by(&self, options: GateOptions) {
        let before = self.gate().options.load_full();
        let next = GateOptions { store: before.store.clone(), result_bytes: before.result_bytes, ..options };
        let definitions = (before.pin_definitions, before.screen_definitions);
        let inspects = definitions != (next.pin_definitions, next.screen_definitions);
        self.gate().options.store(Arc::new(next));
        self.gate().agreed.clear();
        if inspects {
            // What is held back depends on it.
            self.view().servers.iter().for_each(|server| server.refresh_soon());
        }
        // Lists that were put together before show what held then.
        self.rebuild();
        self.grants_changed();
    }

    /// Takes a request through the gate: the one list for tools, prompts, resources and all that reaches a server.
    pub(crate) async fn admit(&self, attempt: Attempt<'_>) -> Result<Admission, Fault> {
        let doubt = match self.check_rights(&attempt).await? {
            Judged::Fit => None,
            // What somebody has begun to write is not run, and understood only when it is whole.
            Judged::Doubtful(_) if attempt.subject == Subject::Completion => None,
            Judged::Doubtful(doubt) => Some(doubt),
            Judged::Refused(refusal) => return Ok(Admission::Answer(refusal)),
        };
        let metered = self.meter(&attempt)?;
        let passage = attempt.subject.passage();
        let by_profile = self.profile_asks(&attempt.context.session, attempt.policy).then_some(ConfirmReason::Operator);
        let confirm = attempt.asks_about().filter(|reason| self.asks_for(*reason)).or(by_profile);
        // What is not understood is asked about also where asking was switched off.
        let confirm = confirm.or_else(|| doubt.as_ref().map(|_| ConfirmReason::NotUnderstood));
        if confirm.is_some() && !passage.asks && (doubt.is_some() || attempt.subject == Subject::Subscription) {
            let text = match &doubt {
                Some(doubt) => format!("{}; nobody can be asked about it here", doubt.finding.message),
                None => {
                    format!("a person has to agree to `{}`, and nobody is asked about what is watched", attempt.tool)
                }
            };
            let fault = Fault::new(FaultKind::ConfirmationRequired, text).suggest("read it instead");
            let event = audit::with(attempt.event(event::TOOL_REJECTED, result::BLOCKED), "step", "confirmation");
            self.gate().audit.note(refused(event, &fault)).await;
            return Err(fault);
        }
        let confirm = confirm.filter(|_| passage.asks);
        let mut cleaned = None;
        let mut approval = None;
        if let Some(reason) = confirm {
            match Box::pin(self.confirm(&attempt, reason, doubt.as_deref())).await? {
                confirm::Confirmed::Go(id, params) => (approval, cleaned) = (Some(id), params),
                confirm::Confirmed::Answer(reply) => return Ok(Admission::Answer(reply)),
            }
            if let Some(doubt) = &doubt {
                self.remember_host(&attempt, doubt).await;
            }
            // A person takes a while to answer. What was taken back or changed meanwhile is not to be used.
            let current = match Box::pin(self.look_up_again(&attempt)).await? {
                Ok(current) => current,
                Err(refusal) => return Ok(Admission::Answer(refusal)),
            };
            let attempt = match &current {
                Some(current) => Attempt { server: &current.server, policy: &current.policy, ..attempt },
                None => Attempt { ..attempt },
            };
            // The person has seen what is not understood.
            if let Judged::Refused(refusal) = Box::pin(self.check_rights(&attempt)).await? {
                return Ok(Admission::Answer(refusal));
            }
        }
        let permit = self.put_on_record(&attempt, approval).await?;
        Ok(Admission::Go(permit.counted(metered), cleaned))
    }

    /// Judges who calls what, with what: everything that needs no person.
    pub(crate) async fn check_rights(&self, attempt: &Attempt<'_>) -> Result<Judged, Fault> {
        let tables = self.tables().await?;
        let Attempt { context, server, policy, .. } = attempt;
        let access = self.access(&tables, &context.session, server, attempt.called());
        if !access.allow || !self.profile_bears(&context.session, policy) {
            let event = audit::with(attempt.event(event::TOOL_BLOCKED, result::BLOCKED), "step", "access");
            self.gate().audit.note(audit::with(event, "source", access.source.as_str())).await;
            return Err(attempt.unknown());
        }
        let standing = match self.has_permissions(&tables, server, Some(policy)) {
            Ok(standing) => standing,
            Err(fault) => {
                let event = audit::with(attempt.event(event::TOOL_BLOCKED, result::BLOCKED), "step", "permissions");
                self.gate().audit.note(refused(audit::with(event, "reason", fault.message()), &fault)).await;
                return Err(fault);
            }
        };
        let mut scopes: Vec<_> = standing.granted.into_iter().filter_map(|granted| granted.scope).collect();
        scopes.extend(tables.limits(&access).cloned());
        if let Some(delegation) = attempt.metadata.delegation()?
            && let Some(refusal) = Box::pin(self.check_delegation(attempt, &delegation, &tables, &mut scopes)).await
        {
            return Ok(Judged::Refused(refusal));
        }
        Ok(self.check_arguments(attempt, &scopes).await)
    }

    /// Whether a person is asked for this reason: with `auto_approve` only where the operator said so of the tool.
    pub(crate) fn asks_for(&self, reason: ConfirmReason) -> bool {
        !self.approves_all() || reason == ConfirmReason::Operator
    }

    /// Whether the operator wants nobody asked.
    pub(crate) fn approves_all(&self) -> bool {
        self.gate().options().approval_policy == ApprovalPolicy::AutoApprove
    }

    /// Judges the arguments.
    async fn check_arguments(&self, attempt: &Attempt<'_>, scopes: &[permission::Scope]) -> Judged {
        if let Some(refusal) = self.check_scopes(attempt).await {
            return Judged::Refused(refusal);
        }
        if let Some(refusal) = self.check_schema(attempt).await {
            return Judged::Refused(refusal);
        }
        let Some(violation) = self.violation(attempt, scopes).await else { return Judged::Fit };
        if violation.finding.asks() {
            return Judged::Doubtful(Box::new(violation));
        }
        let code = violation.rejection.is_some();
        let event_type = if code { event::CODE_REJECTED } else { event::VALIDATION_FAILED };
        let event = audit::with(attempt.event(event_type, result::BLOCKED), "step", "validators");
        let event = audit::with(event, "validator_applied", violation.step);
        let event = audit::with(event, "rule", violation.finding.rule);
        let event = audit::with(event, "at", violation.pointer.clone());
        let kind = if code { FaultKind::CodeSafetyViolation } else { FaultKind::ValidationBlocked };
        let text = refused_by(&violation);
        let mut fault = Fault::new(kind, text);
        if let Some(suggestion) = remedy(attempt, &violation) {
            fault = fault.suggest(suggestion);
        }
        let details = violation.rejection.clone().unwrap_or_else(|| {
            Edit::empty()
                .set("validator", Raw::string(violation.step))
                .set("rule", Raw::string(violation.finding.rule))
                .set("at", Raw::string(&violation.pointer))
                .set("violations", Raw::array(&[Raw::string(&violation.finding.message)]))
                .finish()
        });
        let fault = fault.with_details(details);
        self.gate().audit.note(refused(event, &fault)).await;
        Judged::Refused(attempt.refusal(&fault))
    }

    /// What is wrong with the arguments of a call, or not understood of them, within the scopes of the permissions it uses.
    pub(crate) async fn violation(&self, attempt: &Attempt<'_>, scopes: &[permission::Scope]) -> Option<Violation> {
        let found = self.violation_of_rules(attempt, scopes).await;
        if found.as_ref().is_some_and(|violation| !violation.finding.asks()) {
            return found;
        }
        // A person who is asked has to know this first.
        let own = self.gate().options().own_files.clone();
        own_files::touched(&own, attempt, scopes).await.or(found).or_else(|| attempt.acting())
    }

    /// The same by validators and limits.
    async fn violation_of_rules(&self, attempt: &Attempt<'_>, scopes: &[permission::Scope]) -> Option<Violation> {
        // Most calls: nothing about them is checked.
        if scopes.is_empty() && attempt.policy.checks.is_empty() {
            return None;
        }
        let mut agreed = self.gate().agreed.of(attempt, self.gate().granted.latest().revision);
        // Each round knows one host more that somebody agreed to.
        for _ in 0..arguments::MAX_HOSTS {
            let violation = self.violation_but(attempt, scopes, &agreed).await?;
            let recalled = self.recall_host(attempt, &violation).await;
            if !recalled.is_some_and(|host| Arc::make_mut(&mut agreed).insert(host)) {
                return Some(violation);
            }
        }
        self.violation_but(attempt, scopes, &agreed).await
    }

    /// The same where these hosts were agreed to.
    async fn violation_but(
        &self,
        attempt: &Attempt<'_>,
        scopes: &[permission::Scope],
        agreed: &dialed::Hosts,
    ) -> Option<Violation> {
        let policy = attempt.policy;
        // A resource that its server lists under a name of its own is no place that a grant could speak of.
        let opaque = matches!(attempt.subject, Subject::Resource | Subject::Subscription)
            && policy.is_listed()
            && attempt.tool.split_once(':').is_some_and(|(_, uri)| arguments::is_opaque(uri));
        if scopes.is_empty() || opaque {
            let checks = policy.checks.clone();
            let found = if checks.is_empty() { None } else { Box::pin(self.checked(checks, attempt, agreed)).await };
            let is_refused = found.as_ref().is_some_and(|violation| !violation.finding.asks());
            let Some(beside) = attempt.beside_address().filter(|_| !scopes.is_empty() && !is_refused) else {
                return found;
            };
            // Only the address itself is no place.
            let bases = Bases::of(attempt.server, scopes).await;
            let limits = Checks::new(&[], &ToolSecurity::default(), scopes, bases.first());
            let limits = Arc::new(limits.also_based_at(bases.others()));
            return Box::pin(resolve::check(limits, beside, &self.gate().options().understood, agreed)).await.or(found);
        }
        let bases = Bases::of(attempt.server, scopes).await;
        let mut doubt = None;
        let (checks, rest) = match attempt.within {
            Some(within) => {
                // Parts of an address are no places by themselves, but a server may dial what stands in one. What is
                // completed is judged as a whole.
                let is_completed = attempt.subject == Subject::Completion && within.member("uri").is_none();
                let part = |scope: &permission::Scope| {
                    if is_completed { scope.without_places() } else { scope.without_paths() }
                };
                let parts: Vec<_> = scopes.iter().map(part).collect();
                (Arc::new(policy.checks_within(&parts, &bases)), Some(within.clone()))
            }
            None => (Arc::new(policy.checks_within(scopes, &bases)), attempt.beside()),
        };
        if !checks.is_empty()
            && let Some(violation) = Box::pin(self.checked(checks, attempt, agreed)).await
        {
            if !violation.finding.asks() {
                return Some(violation);
            }
            doubt = Some(violation);
        }
        let Some(rest) = rest else { return doubt };
        let limits = Checks::new(&[], &ToolSecurity::default(), scopes, bases.first()).also_based_at(bases.others());
        let has_parts = attempt.within.is_some_and(|within| within.member("uri").is_some());
        if has_parts && let Some(parts) = arguments::absolute_among(&attempt.arguments()) {
            let limits = Arc::new(limits.clone());
            let found = Box::pin(resolve::check(limits, parts, &self.gate().options().understood, agreed)).await;
            if found.is_some() {
                return found;
            }
        }
        // Some servers take nothing of a URL but its path, whatever its scheme and host. One that has a permission for the
        // network opens URLs as what they are.
        let is_address = matches!(attempt.subject, Subject::Resource | Subject::Subscription);
        let limits =
            if is_address && !self.may_reach_network(attempt.server) { limits.with_paths_of_urls() } else { limits };
        Box::pin(resolve::check(Arc::new(limits), rest, &self.gate().options().understood, agreed)).await.or(doubt)
    }

    /// What is wrong with what the server would be sent, or not understood of it: with the arguments, or with what nobody
    /// knows beside them.
    async fn checked(&self, checks: Arc<Checks>, attempt: &Attempt<'_>, agreed: &dialed::Hosts) -> Option<Violation> {
        let understood = self.gate().options().understood.clone();
        let is_typed = attempt.subject == Subject::Completion;
        let checks = if is_typed { Arc::new(checks.unfinished()) } else { checks };
        let of_arguments = resolve::check(checks.clone(), attempt.arguments(), &understood, agreed).await;
        match (of_arguments, attempt.unknown_beside()) {
            (Some(violation), _) if !violation.finding.asks() => Some(violation),
            (doubt, Some(beside)) => resolve::check(checks, beside, &understood, agreed).await.or(doubt),
            (doubt, None) => doubt,
        }
    }

    /// Whether a server has a permission for the network, by configuration or decision.
    fn may_reach_network(&self, server: &Server) -> bool {
        let tables: &Tables = &self.gate().granted.latest();
        let held = self.held_permissions(tables, server);
        held.iter().any(|granted| granted.permission == "network.outbound")
    }

    /// A call on somebody's behalf has no more rights than each of those it passed through. What narrows theirs is
    /// added to `scopes`.
    async fn check_delegation(
        &self,
        attempt: &Attempt<'_>,
        delegation: &Delegation,
        tables: &Tables,
        scopes: &mut Vec<permission::Scope>,
    ) -> Option<Reply> {
        let session = &attempt.context.session;
        let judged = if delegation.delegated_via == *session.principal {
            let tool = attempt.called().map(|(tool, _)| tool);
            self.chain_limits(tables, attempt.server, tool, &authority::chain_of(delegation, session))
        } else {
            let text = "the call says that it was passed on by somebody who is not calling";
            Err(Fault::new(FaultKind::AccessDenied, text))
        };
        let fault = match judged {
            Ok(limits) => {
                scopes.extend(limits);
                return None;
            }
            Err(fault) => fault,
        };
        let event = audit::with(attempt.event(event::TOOL_BLOCKED, result::BLOCKED), "step", "delegation");
        let event = audit::with(event, "reason", fault.message());
        self.gate().audit.note(refused(event, &fault)).await;
        Some(attempt.refusal(&fault))
    }
}

/// What would be accepted, and what would permit what was refused.
fn remedy(attempt: &Attempt<'_>, violation: &Violation) -> Option<String> {
    let said = violation.finding.suggestion.clone();
    let permitted = dialed::remedy(attempt, violation);
    let both: Vec<String> = said.into_iter().chain(permitted).collect();
    (!both.is_empty()).then(|| both.join("; "))
}

/// What a check refused, where, and why.
fn refused_by(violation: &Violation) -> String {
    let Violation { step, pointer, finding, .. } = violation;
    let place = if pointer.is_empty() { String::new() } else { format!(" at {pointer}") };
    format!("refused by `{step}`{place}: {}", finding.message)
}

/// The metadata of a request whose parameters are open.
pub(crate) fn metadata_beside(params: &Object, request: &Request) -> Result<Metadata, Fault> {
    Metadata::of_open(Some(params.clone()), &request.extra).map_err(crate::forward::malformed)
}

/// The metadata of a request.
pub(crate) fn metadata_of(request: &Request) -> Result<Metadata, Fault> {
    Metadata::of(request.params.as_ref(), &request.extra).map_err(crate::forward::malformed)
}
