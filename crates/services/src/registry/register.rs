//! `mgp/discovery/register` and `deregister` (MGP 15.4, 15.5): servers that somebody adds while the kernel runs.
//!
//! A registration runs a command on the operator's machine. So it is off by default, only for whom the operator names,
//! and started only after a person agreed to exactly this command, or the configuration did. What a request claims of
//! trust can only lower what the operator says. Every step is on record before it is taken.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use switchboard_audit::{self as audit, event, result};
use switchboard_peer::{Context, Session};
use switchboard_policy::permission::Decision;
use switchboard_protocol::fault::{Fault, FaultKind, readable};
use switchboard_protocol::mgp::{TrustLevel, method};
use switchboard_protocol::spoken::NAME;
use switchboard_store::{AccessSelector, Actor, Permission, StoreError};
use switchboard_upstream::{Phase, ServerSpec, names};
use switchboard_wire::Raw;

use super::approval::Approvals;
use super::approval::{Agreed, ApprovalRequest, how_to_go_on};
use super::{Entry, Lifetime, Registering, Registrar, Run, ServerRegistration};
use crate::house::{AccessRights, RegistryHouse, Setup};
use crate::operator_actions::OperatorActions;
use crate::principal;

/// Words of one command, and bytes of one word.
const MOST_WORDS: usize = 64;
const LONGEST_WORD: usize = 4_096;
/// Characters of an id.
const LONGEST_ID: usize = 64;
/// Permissions that one registration may name.
const MOST_PERMISSIONS: usize = 64;
/// Beyond its own time to start, how long somebody waits for a server.
const GRACE: Duration = Duration::from_secs(2);

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RegisterParams {
    id: String,
    command: String,
    args: Vec<String>,
    transport: Option<String>,
    mgp: Claims,
    justification: Option<String>,
    lifetime: Option<Lifetime>,
}

/// What a request claims of its server. `created_by` is not read: who asks is known.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Claims {
    permissions_required: Vec<String>,
    trust_level: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Gone {
    id: String,
    reason: Option<String>,
}

impl<'a, H: AccessRights + Setup + ?Sized> Registrar<'a, H> {
    /// Whether somebody may register servers, and under which rules.
    pub(super) fn registering(&self, context: &Context) -> Option<&'a Registering> {
        let offers = self.house.server_offers();
        let rules = offers.register.as_ref().filter(|_| offers.builder.is_some())?;
        self.may(context, &rules.principals).then_some(rules)
    }
}

impl<H: RegistryHouse + ?Sized> Registrar<'_, H> {
    pub(super) async fn register_server(&self, context: &Context, params: &Raw) -> Result<Value, Fault> {
        let Some(rules) = self.registering(context) else {
            let fault = Fault::new(FaultKind::PermissionDenied, "you may not register servers here")
                .suggest("the operator allows it with `[discovery.register]` in the configuration");
            self.note_refused(context, method::DISCOVERY_REGISTER, None, &fault).await;
            return Err(fault);
        };
        let asked: RegisterParams = params.view().map_err(|error| invalid(readable(params, &error)))?;
        let registration = registration(asked, rules, &context.session)?;
        let registered = |registration: &ServerRegistration| matches!(registration.run, Run::Command(_));
        if self.registry.is_taken(&registration.id) {
            let text = format!("there is a server `{}`, or one whose name looks like it", registration.id);
            return Err(Fault::new(FaultKind::ServerAlreadyRegistered, text));
        }
        if self.registry.count(registered) >= rules.most {
            let text = format!("{} servers are registered, and no more may be", rules.most);
            return Err(Fault::new(FaultKind::ResourceExhausted, text).suggest("deregister one that is not needed"));
        }
        self.begins_with_nothing(&registration.id).await?;
        let Run::Command(words) = &registration.run else {
            return Err(Fault::new(FaultKind::Internal, "a registration without a command"));
        };
        let approval = if rules.approved.contains(words) {
            None
        } else {
            if !rules.programs.contains(&words[0]) {
                let text = format!("`{}` is none of the programs that may be started here", words[0]);
                let fault = Fault::new(FaultKind::PermissionDenied, text)
                    .suggest("the operator names it under `programs` of `[discovery.register]`");
                self.note_refused(context, method::DISCOVERY_REGISTER, Some(&registration.id), &fault).await;
                return Err(fault);
            }
            // The id and the trust are part of what is agreed to: a grant for one server is not for another.
            let exact = json!({
                "id": registration.id, "command": words, "trust_level": registration.trust,
                "permissions_required": registration.permissions_required, "lifetime": registration.lifetime,
            });
            let exact = Raw::from_value(&exact).map_err(Fault::internal)?;
            // Exactly as it is: nobody agrees to a command that is hidden from him in part.
            let mut arguments: Value = exact.view().map_err(Fault::internal)?;
            arguments["folder"] = std::env::current_dir().ok().map(|folder| folder.display().to_string()).into();
            arguments["justification"] = registration.justification.clone().into();
            let client = context.caller.info.as_ref().and_then(|info| info.member("name")?.as_text());
            let message = format!("Start a server `{}` with this command?", registration.id);
            let shown = json!({
                "tool": "mgp_discovery_register", "arguments": arguments, "risk_level": "dangerous",
                "client": client, "message": message,
            });
            let wish = ApprovalRequest { tool: "mgp_discovery_register", exact: &exact, shown, message };
            match Approvals::of(self.house).agreed(context, wish).await {
                Ok(Agreed::Yes(approval)) => approval,
                Ok(Agreed::Pending(id)) => {
                    return Ok(json!({
                        "id": registration.id,
                        "status": "pending_approval",
                        "approval": id,
                        "message": how_to_go_on(&id),
                    }));
                }
                Err(fault) => {
                    self.note_refused(context, method::DISCOVERY_REGISTER, Some(&registration.id), &fault).await;
                    return Err(fault);
                }
            }
        };
        let (id, trust) = (registration.id.clone(), registration.trust.clone());
        let started = self.start_registered(context, registration, approval, rules.most).await?;
        Ok(match started {
            Ok(()) => json!({
                "id": id, "status": "connected", "trust_level": trust,
                "message": "its tools are listed from now on",
            }),
            Err(why) => json!({"id": id, "status": "error", "message": why}),
        })
    }

    /// Starts a server that may be started. The inner error is why it did not come up; then it is gone again.
    pub(super) async fn start_registered(
        &self,
        context: &Context,
        registration: ServerRegistration,
        approval: Option<String>,
        most: usize,
    ) -> Result<Result<(), String>, Fault> {
        let Some(builder) = self.house.server_offers().builder.as_ref() else {
            return Err(Fault::new(FaultKind::Internal, "nothing can be started here"));
        };
        let mut spec = match builder.build(&registration) {
            Ok(spec) => spec,
            Err(why) => return Ok(Err(why)),
        };
        hold(&mut spec, &registration);
        let session = &context.session;
        let bound = registration.lifetime == Lifetime::Session;
        let entry = Entry {
            registration: registration.clone(),
            spec,
            session: (bound && session.lasting).then(|| session.id.clone()),
        };
        // On record before it runs: nothing is ever started that nobody can find.
        let event = audit::event_of(event::SERVER_REGISTERED, principal(session), result::SUCCESS);
        let event = audit::about(event, &registration.id, None);
        let event = audit::with(event, "trust_level", registration.trust.as_str());
        let event = audit::with(event, "command", told(&registration));
        let event = audit::with(event, "lifetime", json!(registration.lifetime));
        let event = audit::with(event, "justification", registration.justification.clone());
        self.house.audit().record(audit::with(event, "approval", approval)).await?;
        if let Err(why) = self.registry.add(entry, most) {
            return Ok(Err(why.to_owned()));
        }
        // In a task of its own: a client that goes away now leaves nothing half done.
        let (house, session) = (self.house.shared(), session.clone());
        let bringing = tokio::spawn(async move { Registrar::of(&*house).bring_up(registration, session).await });
        Ok(bringing.await.unwrap_or_else(|_| Err("the kernel is ending".to_owned())))
    }

    /// Waits for a server that was just added, and takes it away again if it does not come up.
    async fn bring_up(&self, registration: ServerRegistration, session: Arc<Session>) -> Result<(), String> {
        self.house.servers_changed();
        let id = registration.id.as_str();
        let Some(server) = self.house.server(id) else { return Err("the kernel is ending".to_owned()) };
        server.settled(tokio::time::Instant::now() + server.spec.start_timeout + GRACE).await;
        if server.phase() != Phase::Ready {
            let why = server.phase().why().unwrap_or("it did not come up in time").to_owned();
            self.retire(id, audit::kernel(), "not_started").await;
            return Err(why);
        }
        match (registration.lifetime, session.lasting) {
            (Lifetime::Persistent, _) => {
                if let Some(builder) = &self.house.server_offers().builder {
                    builder.keep(&registration);
                }
            }
            // Its end may have come before there was anything to take away.
            (Lifetime::Session, true) if !self.house.is_open(&session.id) => {
                self.retire(id, audit::kernel(), "session_ended").await;
                return Err("its session has ended".to_owned());
            }
            (Lifetime::Session, true) => {}
            (Lifetime::Session, false) => self.retire_when_idle(registration.id),
        }
        Ok(())
    }

    /// Refuses a name under which something was granted before: who comes next must not have it.
    async fn begins_with_nothing(&self, id: &str) -> Result<(), Fault> {
        let entitlements = self.house.entitlements().await?;
        let allowed =
            entitlements.entries().iter().any(|entry| entry.server == id && entry.permission == Permission::Allow);
        let granted = entitlements.permissions(id).iter().any(|decided| decided.decision == Decision::Approved);
        if !allowed && !granted {
            return Ok(());
        }
        let text = format!("a server `{id}` was granted something before, which this one must not have");
        Err(Fault::new(FaultKind::ServerAlreadyRegistered, text).suggest("choose another id"))
    }

    /// Takes back what was granted to a server, and for it, while it was there.
    async fn take_back(&self, id: &str) -> Result<(), StoreError> {
        let (Some(store), Ok(entitlements)) = (self.house.store(), self.house.entitlements().await) else {
            return Ok(());
        };
        let operator_actions = OperatorActions::of_kernel(store.clone());
        let granted = entitlements.permissions(id).iter().filter(|decided| decided.decision == Decision::Approved);
        for decided in granted {
            operator_actions.revoke_permission(id, Some(&decided.permission)).await?;
        }
        if entitlements.entries().iter().any(|entry| entry.server == id && entry.permission == Permission::Allow) {
            let selector = AccessSelector {
                server: Some(id.to_owned()),
                permission: Some(Permission::Allow),
                ..AccessSelector::default()
            };
            operator_actions.revoke_access(&selector).await?;
        }
        // Another server of this name is another server.
        store.pins().forget(id, None).await.map(drop)
    }

    pub(super) async fn deregister_server(&self, context: &Context, params: &Raw) -> Result<Value, Fault> {
        let asked: Gone = params.view().map_err(|error| invalid(readable(params, &error)))?;
        let (session, who) = (&context.session, self.house.requester(context));
        let unknown = || Fault::new(FaultKind::UnknownResource, format!("there is no server `{}`", asked.id));
        let Some(registration) = self.registry.find(&asked.id) else {
            let entitlements = self.house.entitlements().await?;
            let known = self.house.server(&asked.id);
            let known = known.filter(|server| self.house.sees(&*entitlements, &who, server));
            return Err(known.map_or_else(unknown, |_| {
                let text = format!("server `{}` is in the configuration, and stays", asked.id);
                Fault::new(FaultKind::CannotDeregister, text).suggest("the operator removes it from the configuration")
            }));
        };
        let is_own = registration.principal == *session.principal && self.house.tokens_cover(&who, &asked.id);
        let is_covered = self.house.is_covered(&who, Some(&asked.id), None);
        if !(is_own || self.house.decides_for_others(context) && is_covered) {
            return Err(unknown());
        }
        let reason = asked.reason.unwrap_or_else(|| "deregistered".to_owned());
        self.retire(&asked.id, principal(session), &reason).await;
        Ok(
            json!({"id": asked.id, "status": "deregistered", "message": "the server was stopped and its tools are gone"}),
        )
    }

    /// Ends a registered server: its process, its tools, and what was remembered of it.
    pub(super) async fn retire(&self, id: &str, by: Actor, reason: &str) {
        let Some(registration) = self.registry.remove(id) else { return };
        self.house.servers_changed();
        if let Some(builder) = &self.house.server_offers().builder {
            builder.retired(&registration);
        }
        if let Err(error) = self.take_back(id).await {
            tracing::warn!(server = id, %error, "what was granted to it is still in the store");
        }
        let event = audit::event_of(event::SERVER_DEREGISTERED, by, result::SUCCESS);
        let event = audit::with(audit::about(event, id, None), "reason", reason);
        self.house.audit().note(audit::with(event, "registered_by", registration.principal)).await;
    }

    /// Retires a server that no session keeps, when nobody has used it for a while.
    fn retire_when_idle(&self, id: String) {
        let idle = self.house.server_offers().create.as_ref().map_or(Duration::from_hours(1), |rules| rules.idle);
        let house = self.house.shared();
        self.house.spawn(Box::pin(async move {
            let mut before = 0;
            loop {
                tokio::select! {
                    () = house.closing().cancelled() => return,
                    () = tokio::time::sleep(idle) => {}
                }
                let Some(server) = house.server(&id) else { return };
                let calls = server.stats.snapshot().calls;
                if calls == before && server.using.pending() == 0 {
                    return Registrar::of(&*house).retire(&id, audit::kernel(), "idle_timeout").await;
                }
                before = calls;
            }
        }));
    }

    /// Starts the servers that were registered to stay, as far as they still may be.
    pub fn restore(&self, registrations: Vec<ServerRegistration>) {
        let offers = self.house.server_offers();
        let (Some(rules), Some(builder)) = (&offers.register, &offers.builder) else { return };
        let may_run = |registration: &ServerRegistration| match &registration.run {
            Run::Command(words) => {
                rules.approved.contains(words) || words.first().is_some_and(|program| rules.programs.contains(program))
            }
            Run::Code { .. } => false,
        };
        for mut registration in registrations.into_iter().filter(may_run).take(rules.most) {
            let trust = registration.trust_level().min(rules.trust);
            registration.trust = trust.as_str().to_owned();
            match builder.build(&registration) {
                Ok(mut spec) => {
                    hold(&mut spec, &registration);
                    let id = registration.id.clone();
                    if let Err(why) = self.registry.add(Entry { registration, spec, session: None }, rules.most) {
                        tracing::warn!(server = id, why, "a registered server is left out");
                    }
                }
                Err(why) => tracing::warn!(server = registration.id, why, "a registered server cannot be started"),
            }
        }
        self.house.servers_changed();
    }

    pub(super) async fn note_refused(&self, context: &Context, method: &str, id: Option<&str>, fault: &Fault) {
        let event = audit::event_of(event::REGISTRATION_REFUSED, principal(&context.session), result::BLOCKED);
        let event = id.map_or_else(|| event.clone(), |id| audit::about(event.clone(), id, None));
        let event = audit::with(audit::with(event, "method", method), "reason", fault.message());
        self.house.audit().note(audit::with(event, "kind", fault.kind().as_str())).await;
    }
}

/// Holds a server to what its registration says, whatever its builder thought.
fn hold(spec: &mut ServerSpec, registration: &ServerRegistration) {
    let mut policy = spec.policy.as_ref().clone();
    policy.trust = registration.trust_level();
    policy.only_for = Some(registration.principal.as_str().into());
    policy.permissions_required.clone_from(&registration.permissions_required);
    spec.policy = Arc::new(policy);
}

/// A request as a registration: what it says, within what it may.
fn registration(asked: RegisterParams, rules: &Registering, session: &Session) -> Result<ServerRegistration, Fault> {
    if asked.transport.as_deref().is_some_and(|transport| transport != "stdio") {
        return Err(invalid(
            "`transport` can only be \"stdio\": other servers belong into the configuration".to_owned(),
        ));
    }
    let good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let begins = asked.id.starts_with(|c: char| c.is_ascii_alphanumeric());
    if !begins || asked.id.len() > LONGEST_ID || !asked.id.chars().all(good) {
        return Err(invalid(format!("`id` is 1 to {LONGEST_ID} characters of A-Z a-z 0-9 . _ -")));
    }
    // A server of this name could pose as the kernel.
    let lower = format!("{}.", asked.id.to_ascii_lowercase());
    if names::is_reserved(&lower) || lower.starts_with(&format!("{}.", NAME)) {
        return Err(invalid(format!("the id `{}` belongs to the kernel", asked.id)));
    }
    let words: Vec<String> = std::iter::once(asked.command).chain(asked.args).collect();
    let fits = |word: &String| word.len() <= LONGEST_WORD && !word.contains('\0');
    if words[0].is_empty() || words.len() > MOST_WORDS || !words.iter().all(fits) {
        let text = format!("`command` and `args` are 1 to {MOST_WORDS} words of at most {LONGEST_WORD} bytes");
        return Err(invalid(text));
    }
    if asked.mgp.permissions_required.len() > MOST_PERMISSIONS {
        return Err(invalid(format!("`mgp.permissions_required` has more than {MOST_PERMISSIONS} entries")));
    }
    let claimed = asked.mgp.trust_level.as_deref().map_or(TrustLevel::Core, TrustLevel::claimed);
    Ok(ServerRegistration {
        id: asked.id,
        run: Run::Command(words),
        principal: session.principal.as_ref().to_owned(),
        trust: rules.trust.min(claimed).as_str().to_owned(),
        permissions_required: asked.mgp.permissions_required,
        justification: asked.justification,
        lifetime: asked.lifetime.unwrap_or(Lifetime::Session),
    })
}

/// The command as it may stand on record.
fn told(registration: &ServerRegistration) -> Value {
    match &registration.run {
        Run::Command(words) => {
            let words: Vec<Raw> = words.iter().map(|word| Raw::string(word)).collect();
            switchboard_policy::redact::value(&Raw::array(&words))
        }
        Run::Code { language, .. } => format!("code in {language}").into(),
    }
}

pub(super) fn invalid(text: String) -> Fault {
    Fault::new(FaultKind::InvalidParams, text)
}
