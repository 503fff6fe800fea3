//! Permissions (MGP 3): of what a server asks for, what does it have?
//!
//! Decisions are the operator's: what is configured and what was decided later. A stored denial beats configuration,
//! and what has expired is as if it had never been decided. A server that speaks of grants is not asked here at all.
//! This module knows neither where decisions are kept nor how a person is asked.

pub mod name;
mod scope;

use jiff::Timestamp;
use switchboard_protocol::mgp::{ApprovalPolicy, Risk};

pub use scope::{Scope, ScopeFault};

/// What `auto_approve` leaves to a person, unless the configuration names other exceptions.
pub const DEFAULT_EXCEPTIONS: [&str; 2] = [name::FILESYSTEM_WRITE, name::NETWORK_OUTBOUND];

/// How the operator wants permissions to be decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// Who decides about what is not configured.
    pub approval: ApprovalPolicy,
    /// What is granted by configuration.
    pub configured: Vec<Granted>,
    /// What `auto_approve` leaves to a person.
    pub exceptions: Vec<String>,
    /// Whether `auto_approve` also covers dangerous permissions.
    pub auto_dangerous: bool,
}

impl Policy {
    /// The policy with nothing configured and the default exceptions.
    #[must_use]
    pub fn new(approval: ApprovalPolicy) -> Self {
        let exceptions = DEFAULT_EXCEPTIONS.map(str::to_owned).to_vec();
        Self { approval, configured: Vec::new(), exceptions, auto_dangerous: false }
    }

    /// Whether nobody need be asked about a permission that is neither configured nor decided.
    fn approves(&self, permission: &str) -> bool {
        self.approval == ApprovalPolicy::AutoApprove
            && !self.exceptions.iter().any(|exception| same(exception, permission))
            && (self.auto_dangerous || name::risk(permission) < Risk::Dangerous)
    }
}

/// What an operator decided about one permission (MGP 3.6).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    /// The permission.
    pub permission: String,
    /// The decision.
    pub decision: Decision,
    /// What an approval is limited to.
    pub scope: Option<Scope>,
    /// The first instant at which it no longer counts.
    pub expires_at: Option<Timestamp>,
}

/// The words of a decision (MGP 3.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Decision {
    /// Granted.
    Approved,
    /// Refused.
    Denied,
    /// Not yet.
    Deferred,
}

impl Decision {
    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Denied => "denied",
            Self::Deferred => "deferred",
        }
    }

    /// The decision of a word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Approved, Self::Denied, Self::Deferred].into_iter().find(|decision| decision.as_str() == word)
    }
}

/// What a server has and lacks of what it asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PermissionStatus {
    /// What it has.
    pub granted: Vec<Granted>,
    /// What it lacks.
    pub missing: Vec<Missing>,
}

/// A permission that is held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Granted {
    /// The permission, by its canonical name.
    pub permission: String,
    /// What it is limited to.
    pub scope: Option<Scope>,
}

/// A permission that is not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// The permission, by its canonical name where it has one.
    pub permission: String,
    /// Why not.
    pub why: Why,
}

/// Why a permission is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Why {
    /// Refused by the operator, or by a policy that asks nobody.
    Denied,
    /// The operator put it off.
    Deferred,
    /// The operator has not been asked or has not answered.
    Undecided,
    /// It was approved until a time that has come.
    Expired,
    /// There is no such permission, so nobody can grant it.
    Unknown,
}

impl Why {
    /// A short name that stays the same.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Denied => "denied",
            Self::Deferred => "deferred",
            Self::Undecided => "undecided",
            Self::Expired => "expired",
            Self::Unknown => "unknown",
        }
    }
}

/// Which of the `required` permissions are held. Each is answered once, by its canonical name. Where several decisions
/// about one permission are in force, a denial wins, and of approvals the last.
#[must_use]
pub fn standing<R: AsRef<str>>(
    required: &[R],
    policy: &Policy,
    decided: &[Decided],
    now: Timestamp,
) -> PermissionStatus {
    let mut standing = PermissionStatus::default();
    let mut seen: Vec<String> = Vec::new();
    for word in required {
        let (permission, known) = match name::read(word.as_ref()) {
            Ok(known) => (known.canonical.into_owned(), true),
            Err(_) => (word.as_ref().to_owned(), false),
        };
        if seen.contains(&permission) {
            continue;
        }
        let answer = if known { decide(&permission, policy, decided, now) } else { Err(Why::Unknown) };
        match answer {
            Ok(scope) => standing.granted.push(Granted { permission: permission.clone(), scope }),
            Err(why) => standing.missing.push(Missing { permission: permission.clone(), why }),
        }
        seen.push(permission);
    }
    standing
}

/// Whether the policy alone decided about a permission, the way it stands: nobody configured it, and nobody said a word
/// that counts.
#[must_use]
pub fn is_by_policy(permission: &str, policy: &Policy, decided: &[Decided], now: Timestamp) -> bool {
    let asks_nobody = matches!(policy.approval, ApprovalPolicy::DenyAll | ApprovalPolicy::ConfigOnly);
    let counts = |decided: &&Decided| {
        same(&decided.permission, permission)
            && decided.expires_at.is_none_or(|end| now < end)
            && (decided.decision == Decision::Denied || decided.decision == Decision::Approved && !asks_nobody)
    };
    let configured = policy.configured.iter().any(|granted| same(&granted.permission, permission));
    let said = configured || decided.iter().any(|one| counts(&one));
    !said && name::read(permission).is_ok() && (asks_nobody || policy.approves(permission))
}

fn decide(permission: &str, policy: &Policy, decided: &[Decided], now: Timestamp) -> Result<Option<Scope>, Why> {
    let about = || decided.iter().filter(|decided| same(&decided.permission, permission));
    let in_force = |decision| {
        about()
            .rev()
            .find(move |decided| decided.decision == decision && decided.expires_at.is_none_or(|end| now < end))
    };
    if in_force(Decision::Denied).is_some() {
        return Err(Why::Denied);
    }
    let configured = policy.configured.iter().find(|granted| same(&granted.permission, permission));
    let asks_nobody = matches!(policy.approval, ApprovalPolicy::DenyAll | ApprovalPolicy::ConfigOnly);
    let approved = in_force(Decision::Approved).filter(|_| !asks_nobody);
    if approved.is_some() || configured.is_some() {
        let later = approved.and_then(|decided| decided.scope.clone());
        // A plain yes to a question does not widen what the configuration had narrowed.
        return Ok(later.or_else(|| configured.and_then(|granted| granted.scope.clone())));
    }
    if asks_nobody {
        return Err(Why::Denied);
    }
    if in_force(Decision::Deferred).is_some() {
        return Err(Why::Deferred);
    }
    if policy.approves(permission) {
        return Ok(None);
    }
    let was_approved = about().any(|decided| decided.decision == Decision::Approved);
    Err(if was_approved { Why::Expired } else { Why::Undecided })
}

/// Whether a stored or configured name stands for this canonical one.
fn same(word: &str, canonical: &str) -> bool {
    word == canonical || name::read(word).is_ok_and(|known| known.canonical == canonical)
}
