//! The permissions that a server asks for (MGP 3): put before the operator, and the answer told to the server.
//!
//! A server is told what was decided; it decides nothing. What it lacks stays closed until the operator says yes.

use std::time::Duration;

use switchboard_guard::permission::{Granted, Missing, Standing, Why};
use switchboard_peer::Call;
use switchboard_peer::client::Target;
use switchboard_protocol::mgp::permission::PermissionNames;
use switchboard_protocol::mgp::{ApprovalPolicy, Extension};
use switchboard_store::{PermissionDecision, ServerPermission};
use switchboard_transport::confine::ExitCause;
use switchboard_wire::{Edit, Raw};

use super::{Hub, Server};
use crate::gate::audit;
use crate::kernel::Kernel;

/// How often it is looked whether the operator has decided.
const LOOK: Duration = Duration::from_secs(1);
/// How long a server may take to hear of a decision.
const TELL: Duration = Duration::from_secs(5);

/// How long a process whose output has ended may take to end itself. It is not started again before.
const LAST_BREATH: Duration = Duration::from_millis(500);

impl Server {
    /// Tells a server that speaks of permissions to wait for those it lacks; what was decided by then.
    pub(super) async fn ask_for_permissions(&self, hub: &Hub, kernel: &Kernel) -> Option<Standing> {
        let standing = self.standing(kernel).await?;
        if !standing.missing.is_empty() && speaks_of_permissions(hub) {
            self.tell(hub, Word::Wait, &standing, kernel).await;
        }
        Some(without_news(standing))
    }

    /// Puts what the server lacks before the operator, so that whoever sees it ready finds the question.
    pub(super) async fn put_open_before_operator(&self, kernel: &Kernel) {
        if let Some(standing) = self.standing(kernel).await {
            self.put_before_operator(&standing, kernel).await;
        }
    }

    /// Writes down what nobody has decided about, or whose time is over, for the operator to find.
    async fn put_before_operator(&self, standing: &Standing, kernel: &Kernel) {
        let asks = kernel.gate().options().approval_policy == ApprovalPolicy::Interactive || kernel.approves_all();
        let open = |missing: &&Missing| matches!(missing.why, Why::Undecided | Why::Expired);
        let Some(store) = kernel.gate().store().filter(|_| asks && standing.missing.iter().any(|one| open(&one)))
        else {
            return;
        };
        let now = kernel.gate().granted.time();
        // Somebody may have decided a moment ago: an answer must not be undone by the question.
        let decided = match store.grants().load().await {
            Ok(snapshot) => snapshot.permissions,
            Err(error) => return tracing::error!(%error, "permission requests cannot be kept"),
        };
        let in_force = |permission: &str| {
            let about = |one: &&ServerPermission| one.server == **self.id() && one.permission == permission;
            decided.iter().filter(about).any(|one| one.expires_at.is_none_or(|end| now < end))
        };
        for missing in standing.missing.iter().filter(open).filter(|missing| !in_force(&missing.permission)) {
            tracing::warn!(
                server = %self.id(),
                permission = %missing.permission,
                "the server asks for a permission; answer with `switchboard approvals`"
            );
            let asked = ServerPermission {
                server: self.id().as_ref().to_owned(),
                permission: missing.permission.clone(),
                decision: PermissionDecision::Deferred,
                granted_by: audit::kernel().id.into(),
                granted_at: now,
                expires_at: None,
                justification: None,
                scopes: None,
            };
            // One that was decided before, until a time that has come, is written over; a fresh one is not, because
            // somebody may be answering right now.
            let kept = match missing.why {
                Why::Expired => store.grants().put_permission(&asked).await,
                _ => store.grants().ask_permission(&asked).await,
            };
            if let Err(error) = kept {
                tracing::error!(%error, "a permission request cannot be kept");
            }
        }
    }

    /// Tells the server when the operator has decided. Ends when the server must be started anew, because its process
    /// is confined to what it had before.
    pub(super) async fn watch_permissions(&self, hub: &Hub, kernel: &Kernel, mut told: Option<Standing>) {
        let confined = self.is_confined();
        if self.permissions_required().is_empty() && !confined {
            return std::future::pending().await;
        }
        let began_with = self.began_with.lock().clone();
        loop {
            if let (true, Some(before), Some(now)) = (confined, &began_with, self.held(kernel).await)
                && *before != now
            {
                return;
            }
            let now = self.standing(kernel).await.map(without_news);
            if now == told {
                tokio::time::sleep(LOOK).await;
                continue;
            }
            if let Some(standing) = now.as_ref().filter(|_| speaks_of_permissions(hub)) {
                self.tell(hub, Word::Decided, standing, kernel).await;
            }
            if let Some(standing) = &now {
                self.put_before_operator(standing, kernel).await;
            }
            told = now;
            kernel.grants_changed();
        }
    }

    /// Whether its process is confined.
    fn is_confined(&self) -> bool {
        let process = matches!(self.spec.target, Target::Command(_));
        process && self.spec.isolation.as_ref().is_some_and(|isolation| isolation.applies(self.policy().trust))
    }

    /// Where to connect to, with a process held to what it may do.
    ///
    /// # Errors
    /// It cannot be known what it may do.
    pub(super) async fn confined_target(&self, kernel: &Kernel) -> Result<Target, String> {
        let mut target = self.spec.target.clone();
        if let (true, Target::Command(command), Some(isolation)) =
            (self.is_confined(), &mut target, &self.spec.isolation)
        {
            let held = self.held(kernel).await.ok_or("its permissions cannot be read")?;
            let (profile, notes) = isolation.decide(command, self.policy().trust, &held);
            for note in notes {
                tracing::warn!(server = %self.id(), "{note}");
            }
            command.profile = Some(profile);
            *self.began_with.lock() = Some(held);
        }
        Ok(target)
    }

    /// Every permission that it has, asked for or not.
    async fn held(&self, kernel: &Kernel) -> Option<Vec<Granted>> {
        let tables = kernel.tables().await.ok()?;
        Some(kernel.held_permissions(&tables, self))
    }

    /// How its process ended; written down where that was for doing what it may not do.
    pub(super) async fn note_violation(&self, hub: &Hub, kernel: &Kernel) -> Option<ExitCause> {
        let oversight = hub.connected.oversight()?;
        let cause = tokio::time::timeout(LAST_BREATH, oversight.ended()).await.ok().flatten()?;
        if !cause.is_violation() {
            return Some(cause);
        }
        tracing::warn!(server = %self.id(), ?cause, "the server was ended for what it did");
        let event = audit::event_of(audit::event::ISOLATION_VIOLATION, audit::kernel(), audit::result::BLOCKED);
        let event = audit::with(audit::about(event, self.id(), None), "cause", format!("{cause:?}"));
        kernel.gate().audit.note(audit::with(event, "code", cause.code())).await;
        Some(cause)
    }

    async fn standing(&self, kernel: &Kernel) -> Option<Standing> {
        let tables = kernel.tables().await.ok()?;
        Some(kernel.standing(&tables, self, None)).filter(|standing| *standing != Standing::default())
    }

    async fn tell(&self, hub: &Hub, word: Word, standing: &Standing, kernel: &Kernel) {
        let Some(agreement) = &hub.agreement else { return };
        let names = PermissionNames::of_version(agreement.peer_version());
        let request = Edit::empty().set("request_id", Raw::string(&format!("perm-{}", self.id())));
        let (method, params) = match word {
            Word::Wait => {
                let missing: Vec<_> = standing.missing.iter().map(|missing| Raw::string(&missing.permission)).collect();
                let request = request
                    .set("permissions", Raw::array(&missing))
                    .set("policy", Raw::string(kernel.gate().options().approval_policy.as_str()))
                    .set("message", Raw::string("Waiting for operator approval"));
                (names.wait(), request)
            }
            Word::Decided => {
                let granted = standing.granted.iter().map(|granted| (&granted.permission, "approved"));
                let missing = standing.missing.iter().map(|missing| {
                    (&missing.permission, if missing.why == Why::Denied { "denied" } else { "deferred" })
                });
                let grants = granted
                    .chain(missing)
                    .fold(Edit::empty(), |edit, (permission, word)| edit.set(permission, Raw::string(word)));
                (names.decided(), request.set("grants", grants.finish()).set("approved_by", Raw::string("operator")))
            }
        };
        // A server that does not know the method is none the worse for it.
        let _ = hub.remote().request(Call::new(method, Some(params.finish())).within(TELL)).await;
    }
}

/// Without a difference between what was not asked yet and what waits for an answer: neither is news to a server.
fn without_news(mut standing: Standing) -> Standing {
    for missing in standing.missing.iter_mut().filter(|missing| missing.why == Why::Undecided) {
        missing.why = Why::Deferred;
    }
    standing
}

/// What a server is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    Wait,
    Decided,
}

fn speaks_of_permissions(hub: &Hub) -> bool {
    hub.agreement.as_ref().is_some_and(|agreement| agreement.has(Extension::Permissions))
}
