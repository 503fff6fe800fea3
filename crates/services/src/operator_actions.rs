//! The operator's desk: grants, revocations, answers to held calls, acceptance of definitions. One implementation for
//! the command line and for the methods of MGP 5, whether a kernel runs in this process or in others.
//!
//! Every decision is on the audit log with who made it. Who decides comes from authentication, never from a parameter.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use serde_json::value::RawValue;
use switchboard_audit::{self as audit, event, result};
use switchboard_policy::access::SETTLED;
use switchboard_protocol::mgp::ApprovalPolicy;
use switchboard_store::{
    AccessEntry, AccessSelector, Actor, Approval, AuditEvent, Decision, Digest, Head, Permission, PermissionDecision,
    Pin, Reuse, ServerPermission, Store, StoreError, StoredCallback, Target, Verdict,
};

/// Decides in somebody's name.
#[derive(Debug, Clone)]
pub struct OperatorActions {
    store: Store,
    actor: Actor,
    /// How long a store that is away for a moment is waited for.
    patience: Duration,
}

/// How often a store that is away is tried.
const RETRY_INTERVAL: Duration = Duration::from_millis(250);

impl OperatorActions {
    /// How long a grant lasts where nobody says how long.
    pub const USUAL_GRANT: SignedDuration = SignedDuration::from_hours(30 * 24);

    /// For the operator of this machine, or for whoever was authenticated.
    #[must_use]
    pub fn new(store: Store, actor: Actor) -> Self {
        Self { store, actor, patience: Duration::ZERO }
    }

    /// The same for somebody who waits while the store is away, such as a database that is restarted: each step of what takes
    /// something back waits no longer than that.
    #[must_use]
    pub fn waiting(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// In the name of the person at the command line.
    #[must_use]
    pub fn of_operator(store: Store, name: &str) -> Self {
        Self::new(store, Actor { kind: "operator".into(), id: name.into() })
    }

    /// For what the kernel does by itself because the configuration says so.
    #[must_use]
    pub fn of_kernel(store: Store) -> Self {
        Self::new(store, audit::kernel())
    }

    /// How long a yes to a held call is good unless somebody says otherwise: nothing lasts for ever by default.
    #[must_use]
    pub const fn life(reuse: Reuse) -> SignedDuration {
        match reuse {
            Reuse::Once => SignedDuration::from_mins(5),
            Reuse::Session => SignedDuration::from_hours(12),
            Reuse::Always => SignedDuration::from_hours(30 * 24),
        }
    }

    /// The store.
    #[must_use]
    pub const fn store(&self) -> &Store {
        &self.store
    }

    /// Who decides.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.actor.id
    }

    async fn write(&self, event_type: &str, target: Target, details: &[(&str, Value)]) -> Result<(), StoreError> {
        let mut event = AuditEvent { target, ..audit::event_of(event_type, self.actor.clone(), result::SUCCESS) };
        event.details.extend(details.iter().map(|(key, value)| (*key, value.clone())));
        if self.patience.is_zero() {
            return self.store.audit().append(std::slice::from_ref(&event)).await.map(drop);
        }
        let log = self.store.audit();
        let after = self.patiently(|| log.end()).await?.seq;
        // Nobody knows of an offer that failed whether it stands: it is looked for before it is made again.
        let prepared = log.prepare(&event)?;
        self.patiently(|| log.append_once(vec![prepared.clone()], after)).await.map(drop)
    }

    /// Does something that may be done again, again while the store is away.
    async fn patiently<T, F>(&self, work: impl Fn() -> F) -> Result<T, StoreError>
    where
        F: Future<Output = Result<T, StoreError>>,
    {
        let is_away = |error: &StoreError| error.is_transient() || matches!(error, StoreError::Undetermined);
        let first = match work().await {
            Err(error) if is_away(&error) && !self.patience.is_zero() => error,
            done => return done,
        };
        tracing::warn!(error = %first, "the store is away; it is waited for, at most {} s", self.patience.as_secs());
        let again = async {
            loop {
                tokio::time::sleep(RETRY_INTERVAL).await;
                match work().await {
                    Err(error) if is_away(&error) => {}
                    done => return done,
                }
            }
        };
        tokio::time::timeout(self.patience, again).await.unwrap_or(Err(first))
    }

    /// Puts on record what was done in this name outside of the kernel: who may come in, and in whose name servers are
    /// used.
    ///
    /// # Errors
    /// The store takes nothing.
    pub async fn note(
        &self,
        event_type: &str,
        server: Option<&str>,
        details: &[(&str, Value)],
    ) -> Result<(), StoreError> {
        let target = Target { server_id: server.map(Into::into), tool_name: None };
        self.write(event_type, target, details).await
    }

    /// Answers a question of a server. `None` if it was answered before, or is over. It is put on record by the kernel that
    /// asks, before the server gets the answer.
    ///
    /// # Errors
    /// The answer cannot be kept.
    pub async fn answer_callback(&self, id: &str, answer: &RawValue) -> Result<Option<StoredCallback>, StoreError> {
        self.store.callbacks().answer(id, answer, self.name(), Timestamp::now()).await
    }

    /// Grants or denies a principal the use of a server or tool. `granted_by` and `granted_at` are set here. When this
    /// returns, it counts in every process on this store.
    ///
    /// # Errors
    /// The store takes nothing.
    pub async fn grant_access(&self, mut entry: AccessEntry) -> Result<AccessEntry, StoreError> {
        entry.granted_by = self.actor.id.to_string();
        entry.granted_at = Timestamp::now();
        let target =
            Target { server_id: Some(entry.server.clone().into()), tool_name: entry.tool.as_deref().map(Into::into) };
        let shown = entry.scopes.as_ref().and_then(|scope| serde_json::from_str(scope.get()).ok());
        let details = [
            ("agent_id", entry.principal.clone().into()),
            ("permission", entry.permission.as_str().into()),
            ("entry_type", entry.entry_type().as_str().into()),
            ("scope", shown.unwrap_or(Value::Null)),
            ("expires_at", entry.expires_at.map(|end| end.to_string()).into()),
            ("justification", entry.justification.clone().into()),
        ];
        // On record before it counts: nothing is ever granted that nobody can find.
        self.write(event::ACCESS_GRANTED, target, &details).await?;
        if self.follows_ended_grant(&entry).await? {
            // What was agreed to under the one that has ended does not come again with the new one.
            self.end_approvals(&entry).await?;
        }
        self.store.grants().put_access(&entry).await?;
        tokio::time::sleep(SETTLED).await;
        if entry.permission == Permission::Deny {
            self.end_approvals(&entry).await?;
        }
        Ok(entry)
    }

    /// Takes access entries back. When this returns, no later call passes by them, in any process on this store.
    ///
    /// # Errors
    /// The store takes nothing.
    pub async fn revoke_access(&self, selector: &AccessSelector) -> Result<Vec<AccessEntry>, StoreError> {
        let revoked = self.take_back(selector).await?;
        for entry in &revoked {
            let target = Target {
                server_id: Some(entry.server.clone().into()),
                tool_name: entry.tool.as_deref().map(Into::into),
            };
            let details = [
                ("agent_id", entry.principal.clone().into()),
                ("permission", entry.permission.as_str().into()),
                ("entry_type", entry.entry_type().as_str().into()),
            ];
            self.write(event::ACCESS_REVOKED, target, &details).await?;
        }
        tokio::time::sleep(SETTLED).await;
        for entry in revoked.iter().filter(|entry| entry.permission == Permission::Allow) {
            self.end_approvals(entry).await?;
        }
        Ok(revoked)
    }

    /// Removes entries. Where nobody knew in between whether they were removed, they are those that are not there any more.
    async fn take_back(&self, selector: &AccessSelector) -> Result<Vec<AccessEntry>, StoreError> {
        let grants = self.store.grants();
        if self.patience.is_zero() {
            return grants.revoke_access(selector).await;
        }
        let known = self.patiently(|| grants.load()).await?.access;
        let revoked = self.patiently(|| grants.revoke_access(selector)).await?;
        if !revoked.is_empty() {
            return Ok(revoked);
        }
        let left = self.patiently(|| grants.load()).await?.access;
        let is_left = |entry: &AccessEntry| {
            let of = |entry: &AccessEntry| {
                (entry.principal.clone(), entry.server.clone(), entry.tool.clone(), entry.permission)
            };
            left.iter().any(|other| of(other) == of(entry))
        };
        Ok(known.into_iter().filter(|entry| selector.takes(entry) && !is_left(entry)).collect())
    }

    /// Whether an entry takes the place of a grant that has ended by itself.
    async fn follows_ended_grant(&self, entry: &AccessEntry) -> Result<bool, StoreError> {
        let entries = self.store.grants().load().await?.access;
        let is_same = |known: &AccessEntry| {
            known.principal == entry.principal && known.server == entry.server && known.tool == entry.tool
        };
        let mut ends = entries.iter().filter(|known| known.permission == Permission::Allow && is_same(known));
        let Some(end) = ends.find_map(|known| known.expires_at) else { return Ok(false) };
        Ok(end <= self.store.latest_time(Timestamp::now()).await?)
    }

    /// With the right to calls, the questions about them end, and what was agreed to of them: who gets the right back is
    /// asked anew.
    async fn end_approvals(&self, entry: &AccessEntry) -> Result<(), StoreError> {
        let now = self.patiently(|| self.store.latest_time(Timestamp::now())).await?;
        let (approvals, tool) = (self.store.approvals(), entry.tool.as_deref());
        self.patiently(|| approvals.withdraw_of(&entry.principal, &entry.server, tool, self.name(), now))
            .await
            .map(drop)
    }

    /// Decides about a permission that a server needs.
    ///
    /// # Errors
    /// The store takes nothing.
    pub async fn decide_permission(
        &self,
        server: &str,
        permission: &str,
        decision: PermissionDecision,
        scope: Option<Box<RawValue>>,
        expires_at: Option<Timestamp>,
        justification: Option<String>,
    ) -> Result<(), StoreError> {
        let granted = decision == PermissionDecision::Approved;
        // A narrower yes takes something back as well.
        let narrows = !granted || scope.is_some() || expires_at.is_some();
        let event_type = if granted { event::PERMISSION_GRANTED } else { event::PERMISSION_DENIED };
        let target = Target { server_id: Some(server.into()), tool_name: None };
        let shown = scope.as_ref().and_then(|scope| serde_json::from_str(scope.get()).ok()).unwrap_or(Value::Null);
        let details = [
            ("permission", permission.into()),
            ("decision", decision.as_str().into()),
            ("scope", shown),
            ("expires_at", expires_at.map(|end| end.to_string()).into()),
        ];
        self.write(event_type, target, &details).await?;
        let decided = ServerPermission {
            server: server.to_owned(),
            permission: permission.to_owned(),
            decision,
            granted_by: self.actor.id.to_string(),
            granted_at: Timestamp::now(),
            expires_at,
            justification,
            scopes: scope,
        };
        self.store.grants().put_permission(&decided).await?;
        if narrows {
            tokio::time::sleep(SETTLED).await;
        }
        Ok(())
    }

    /// Puts on record what a policy decided about a permission that a server needs. It stands in no table: another
    /// policy decides otherwise.
    ///
    /// # Errors
    /// The store takes nothing.
    pub async fn note_permission(
        &self,
        server: &str,
        permission: &str,
        approved: bool,
        policy: ApprovalPolicy,
    ) -> Result<(), StoreError> {
        let event_type = if approved { event::PERMISSION_GRANTED } else { event::PERMISSION_DENIED };
        let decision = if approved { PermissionDecision::Approved } else { PermissionDecision::Denied };
        let target = Target { server_id: Some(server.into()), tool_name: None };
        let details = [
            ("permission", permission.into()),
            ("decision", decision.as_str().into()),
            ("policy", policy.as_str().into()),
        ];
        self.write(event_type, target, &details).await
    }

    /// Forgets what was decided about the permissions of a server: one, or all.
    ///
    /// # Errors
    /// The store takes nothing.
    pub async fn revoke_permission(
        &self,
        server: &str,
        permission: Option<&str>,
    ) -> Result<Vec<ServerPermission>, StoreError> {
        let grants = self.store.grants();
        let revoked = if self.patience.is_zero() {
            grants.revoke_permission(server, permission).await?
        } else {
            let is_meant = |one: &ServerPermission| {
                one.server == server && permission.is_none_or(|permission| one.permission == permission)
            };
            // As with entries: what was there and is not any more.
            let known = self.patiently(|| grants.load()).await?.permissions;
            match self.patiently(|| grants.revoke_permission(server, permission)).await? {
                gone if gone.is_empty() => {
                    let left = self.patiently(|| grants.load()).await?.permissions;
                    let is_left = |one: &ServerPermission| {
                        left.iter().any(|other| other.server == one.server && other.permission == one.permission)
                    };
                    known.into_iter().filter(|one| is_meant(one) && !is_left(one)).collect()
                }
                gone => gone,
            }
        };
        for permission in &revoked {
            let target = Target { server_id: Some(server.into()), tool_name: None };
            let details = [("permission", permission.permission.clone().into())];
            self.write(event::PERMISSION_REVOKED, target, &details).await?;
        }
        tokio::time::sleep(SETTLED).await;
        Ok(revoked)
    }

    /// Answers held calls. Those that still waited are returned.
    ///
    /// # Errors
    /// The store takes nothing.
    pub async fn answer(
        &self,
        ids: &[String],
        verdict: Verdict,
        reason: Option<String>,
        expires_at: Timestamp,
    ) -> Result<Vec<Approval>, StoreError> {
        let decision = Decision { verdict, by: self.actor.id.to_string(), reason, now: Timestamp::now(), expires_at };
        let decided = self.store.approvals().decide(ids, &decision).await?;
        for approval in &decided {
            let target = Target {
                server_id: Some(approval.held.server.clone().into()),
                tool_name: Some(approval.held.tool.clone().into()),
            };
            let event_type = match verdict {
                Verdict::Approve(_) => event::PERMISSION_GRANTED,
                Verdict::Deny => event::PERMISSION_DENIED,
            };
            let details = [
                ("approval", approval.held.id.clone().into()),
                ("agent_id", approval.held.principal.clone().into()),
                ("arguments", approval.held.arguments.to_string().into()),
                ("reuse", approval.reuse.as_str().into()),
                ("reason", approval.decision_reason.clone().into()),
            ];
            self.write(event_type, target, &details).await?;
        }
        Ok(decided)
    }

    /// Takes back what somebody agreed to for more than one call. `None` where it does not hold any more.
    ///
    /// # Errors
    /// The store takes nothing.
    pub async fn withdraw_answer(&self, id: &str) -> Result<Option<Approval>, StoreError> {
        let withdrawn = self.store.approvals().withdraw(id, &self.actor.id, Timestamp::now()).await?;
        if let Some(approval) = &withdrawn {
            let target = Target {
                server_id: Some(approval.held.server.clone().into()),
                tool_name: Some(approval.held.tool.clone().into()),
            };
            let details =
                [("approval", approval.held.id.clone().into()), ("agent_id", approval.held.principal.clone().into())];
            self.write(event::PERMISSION_REVOKED, target, &details).await?;
        }
        Ok(withdrawn)
    }

    /// Accepts the definition of a tool that a person has seen: the one with this hash and no other.
    ///
    /// # Errors
    /// The store takes nothing.
    pub async fn accept_definition(&self, server: &str, tool: &str, hash: Digest) -> Result<Option<Pin>, StoreError> {
        let accepted = self.store.pins().accept(server, tool, hash, &self.actor.id, Timestamp::now()).await?;
        if accepted.is_some() {
            let target = Target { server_id: Some(server.into()), tool_name: Some(tool.into()) };
            let details = [("definition_sha256", hash.to_string().into())];
            self.write(event::DEFINITION_ACCEPTED, target, &details).await?;
        }
        Ok(accepted)
    }

    /// Refuses a definition that waits for a person: it stays held back. `false` if it waits no longer.
    ///
    /// # Errors
    /// The store takes nothing.
    pub async fn refuse_definition(&self, server: &str, tool: &str, hash: Digest) -> Result<bool, StoreError> {
        let refused = self.store.pins().refuse(server, tool, hash, &self.actor.id, Timestamp::now()).await?;
        if refused {
            let target = Target { server_id: Some(server.into()), tool_name: Some(tool.into()) };
            let details = [("definition_sha256", hash.to_string().into())];
            self.write(event::DEFINITION_REFUSED, target, &details).await?;
        }
        Ok(refused)
    }

    /// Forgets the definitions of a server, or of one tool: what is shown next is taken as at first sight.
    ///
    /// # Errors
    /// The store takes nothing.
    pub async fn forget_definitions(&self, server: &str, tool: Option<&str>) -> Result<usize, StoreError> {
        let target = Target { server_id: Some(server.into()), tool_name: tool.map(Into::into) };
        let count = self.store.pins().forget(server, tool).await?;
        if count > 0 {
            self.write(event::DEFINITION_FORGOTTEN, target, &[("count", count.into())]).await?;
        }
        Ok(count)
    }

    /// Removes audit records that are older than `until`; `None` if there are none.
    ///
    /// # Errors
    /// The store takes nothing.
    pub async fn prune_audit(&self, until: Timestamp) -> Result<Option<Head>, StoreError> {
        let pruned = self.store.audit().prune(until, Timestamp::now()).await?;
        if let Some(head) = &pruned {
            let details = [("before", until.to_string().into()), ("through", head.seq.into())];
            self.write(event::AUDIT_PRUNED, Target::default(), &details).await?;
        }
        Ok(pruned)
    }
}
