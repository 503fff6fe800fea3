//! The permissions that a server asks for (MGP 3): put before the operator, and the answer told to the server.
//!
//! A server is told what was decided; it decides nothing. What it lacks stays closed until the operator says yes.

use std::time::Duration;

use jiff::Timestamp;
use switchboard_guard::permission::{Standing, Why};
use switchboard_peer::Call;
use switchboard_protocol::mgp::permission::PermissionNames;
use switchboard_protocol::mgp::{ApprovalPolicy, Extension};
use switchboard_store::{PermissionDecision, ServerPermission};
use switchboard_wire::{Edit, Raw};

use super::{Hub, Server};
use crate::gate::audit;
use crate::kernel::Kernel;

/// How often it is looked whether the operator has decided.
const LOOK: Duration = Duration::from_secs(1);
/// How long a server may take to hear of a decision.
const TELL: Duration = Duration::from_secs(5);

impl Server {
    /// Puts what the server lacks before the operator; what was decided by then.
    pub(super) async fn ask_for_permissions(&self, hub: &Hub, kernel: &Kernel) -> Option<Standing> {
        let standing = self.standing(kernel).await?;
        let undecided: Vec<_> = standing.missing.iter().filter(|missing| missing.why == Why::Undecided).collect();
        let asks = kernel.gate().options.approval_policy == ApprovalPolicy::Interactive || kernel.approves_all();
        if let (Some(store), true) = (kernel.gate().store(), asks) {
            for missing in &undecided {
                tracing::warn!(
                    server = %self.id(),
                    permission = %missing.permission,
                    "the server asks for a permission; answer with `switchboard approvals`"
                );
                let asked = ServerPermission {
                    server: self.id().as_ref().to_owned(),
                    permission: missing.permission.clone(),
                    decision: PermissionDecision::Deferred,
                    granted_by: audit::kernel().id,
                    granted_at: Timestamp::now(),
                    expires_at: None,
                    justification: None,
                    scopes: None,
                };
                if let Err(error) = store.grants().ask_permission(&asked).await {
                    tracing::error!(%error, "a permission request cannot be kept");
                }
            }
        }
        if !standing.missing.is_empty() && speaks_of_permissions(hub) {
            self.tell(hub, Word::Wait, &standing, kernel).await;
        }
        Some(without_news(standing))
    }

    /// Tells the server when the operator has decided, for as long as it is connected.
    pub(super) async fn watch_permissions(&self, hub: &Hub, kernel: &Kernel, mut told: Option<Standing>) {
        if self.permissions_required().is_empty() {
            return std::future::pending().await;
        }
        loop {
            let now = self.standing(kernel).await.map(without_news);
            if now == told {
                tokio::time::sleep(LOOK).await;
                continue;
            }
            if let Some(standing) = now.as_ref().filter(|_| speaks_of_permissions(hub)) {
                self.tell(hub, Word::Decided, standing, kernel).await;
            }
            told = now;
            kernel.grants_changed();
        }
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
                    .set("policy", Raw::string(kernel.gate().options.approval_policy.as_str()))
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
