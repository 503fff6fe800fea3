//! Risk (MGP 4): how dangerous is a tool really, which checks does it need, and is a person to be asked?
//!
//! The server's word can only make things stricter. The operator's word is final, in both directions. Where neither
//! says enough, the name of the tool and of its arguments tell what it is (MGP 8.2). Asked once per definition, not
//! per call; it knows nothing of a call's arguments or of who makes it.

pub mod fallback;

use switchboard_protocol::mgp::security::{Effective, ToolSecurity};
use switchboard_protocol::mgp::{Risk, TrustLevel, ValidatorName};

use crate::permission::name;
use fallback::Class;

/// What the operator's configuration says of a tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OperatorWord {
    /// Its risk, whatever the server says.
    pub risk: Option<Risk>,
    /// The one check that is made of its arguments, in place of all that would be.
    pub validator: Option<ValidatorName>,
    /// Whether a person is asked before each call.
    pub confirm: Option<bool>,
}

/// What holds for a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assessment {
    /// Its risk.
    pub risk: Risk,
    /// The risk that the server claims.
    pub declared_risk: Option<Risk>,
    /// Whether the server named a risk and another one holds.
    pub overridden: bool,
    /// Whether its effects can be undone.
    pub reversible: Option<bool>,
    /// The permissions without which it is not called, declared or implied. Canonical names, each once; a name that
    /// is no permission stays as it was written, so that nobody can hold it.
    pub permissions: Vec<String>,
    /// The checks that are made of its arguments, each once. Never `none`: that is the empty list.
    pub validators: Vec<ValidatorName>,
    /// Why a person is to be asked before each call.
    pub confirm: Option<ConfirmReason>,
    /// Whether a call changes anything, as far as the words of somebody trusted go.
    pub effect: Effect,
    /// The scopes that a caller must hold.
    pub scopes: Vec<String>,
}

impl Assessment {
    /// What holds where this holds and another one too.
    #[must_use]
    pub fn and(mut self, other: &Self) -> Self {
        self.risk = self.risk.max(other.risk);
        self.reversible = if self.reversible == Some(false) { self.reversible } else { other.reversible };
        self.confirm = self.confirm.or(other.confirm);
        self.effect = self.effect.max(other.effect);
        add(&mut self.permissions, &other.permissions);
        add(&mut self.validators, &other.validators);
        add(&mut self.scopes, &other.scopes);
        self
    }

    /// What holds, in the form that is written into lists.
    #[must_use]
    pub fn effective(&self) -> Effective<'_> {
        Effective {
            risk: self.risk,
            permissions: &self.permissions,
            validators: &self.validators,
            reversible: self.reversible,
            confirmation_required: self.confirm.is_some(),
        }
    }
}

fn add<T: PartialEq + Clone>(to: &mut Vec<T>, more: &[T]) {
    for one in more {
        if !to.contains(one) {
            to.push(one.clone());
        }
    }
}

/// Whether a call changes anything, the least of it first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// Nothing.
    None,
    /// Nobody says. It may.
    Unsaid,
    /// Somebody says so, or what it needs or what it is says so.
    Said,
}

/// Why a person is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ConfirmReason {
    /// The operator wants it.
    Operator,
    /// The server demands it (`requires_confirmation`).
    RequiresConfirmation,
    /// The server wishes it (`confirmation_required`).
    ConfirmationRequired,
    /// It costs something.
    Cost,
    /// A server that is not trusted says that it may destroy.
    DestructiveHint,
    /// It is dangerous.
    Dangerous,
    /// What it is called with is not understood.
    NotUnderstood,
}

impl ConfirmReason {
    /// A short name that stays the same.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::RequiresConfirmation => "requires_confirmation",
            Self::ConfirmationRequired => "confirmation_required",
            Self::Cost => "cost_requires_approval",
            Self::DestructiveHint => "destructive_hint",
            Self::Dangerous => "dangerous",
            Self::NotUnderstood => "not_understood",
        }
    }
}

/// Weighs everything that is said of a tool. `mgp` is whether its server speaks MGP.
#[must_use]
pub fn assess(
    declared: &ToolSecurity,
    tool_name: &str,
    operator: &OperatorWord,
    trust: TrustLevel,
    mgp: bool,
) -> Assessment {
    assess_content(declared, fallback::classify(tool_name, &declared.properties), operator, trust, mgp)
}

/// Weighs what is said of a resource. Reading is no danger by itself, so a server that is not trusted does not make it
/// one; what its template runs does.
#[must_use]
pub fn assess_read(declared: &ToolSecurity, class: Option<Class>, trust: TrustLevel, mgp: bool) -> Assessment {
    assess_content(declared, class, &OperatorWord::default(), trust.max(TrustLevel::Standard), mgp)
}

/// Weighs what is said of a prompt, whose class its name, description and arguments tell. A prompt may do anything before
/// it answers, as a tool may.
#[must_use]
pub fn assess_content(
    declared: &ToolSecurity,
    class: Option<Class>,
    operator: &OperatorWord,
    trust: TrustLevel,
    mgp: bool,
) -> Assessment {
    let permissions = permissions(declared, class);
    let validators = validators(declared, &permissions, operator, mgp);
    let risk = operator.risk.unwrap_or_else(|| effective_risk(declared, &permissions, &validators, operator, trust));
    // A hint is no risk level of its own (MCP calls it advisory), but it says that something is lost.
    let reversible = match (declared.reversible, declared.hints.destructive) {
        (Some(false), _) | (_, Some(true)) => Some(false),
        (said, _) => said,
    };
    let confirm = confirm(declared, operator, risk, trust);
    Assessment {
        risk,
        declared_risk: declared_risk(declared),
        overridden: declared.risk.is_some_and(|said| said != risk),
        reversible,
        confirm,
        effect: effect(declared, &permissions, operator, trust, risk == Risk::Dangerous || confirm.is_some()),
        permissions,
        validators,
        scopes: declared.required_scopes.clone(),
    }
}

fn permissions(declared: &ToolSecurity, class: Option<Class>) -> Vec<String> {
    let mut permissions: Vec<String> = Vec::new();
    let implied = class.map(Class::permission);
    for word in declared.permissions.iter().map(String::as_str).chain(implied) {
        let canonical = name::read(word).map_or_else(|_| word.to_owned(), |known| known.canonical.into_owned());
        if !permissions.contains(&canonical) {
            permissions.push(canonical);
        }
    }
    permissions
}

fn validators(
    declared: &ToolSecurity,
    permissions: &[String],
    operator: &OperatorWord,
    mgp: bool,
) -> Vec<ValidatorName> {
    match operator.validator {
        Some(ValidatorName::None) => return Vec::new(),
        Some(validator) => return vec![validator],
        None => {}
    }
    let mut validators: Vec<ValidatorName> =
        declared.validators.iter().copied().filter(|validator| *validator != ValidatorName::None).collect();
    let said = mgp && !validators.is_empty();
    for class in [Class::Shell, Class::Code, Class::Network] {
        // A server that knows about validators may have its reasons to reach a private network. That it runs commands
        // or code without a check is not for it to say.
        let guessed = class != Class::Network || !said;
        if guessed && permissions.iter().any(|permission| permission == class.permission()) {
            validators.push(class.validator());
        }
    }
    validators.sort_unstable();
    validators.dedup();
    validators
}

fn declared_risk(declared: &ToolSecurity) -> Option<Risk> {
    let hints = declared.hints;
    let hinted = match (hints.destructive, hints.read_only) {
        (Some(true), _) => Some(Risk::Moderate),
        (_, Some(true)) => Some(Risk::Safe),
        _ => None,
    };
    declared.risk.max(hinted)
}

fn effective_risk(
    declared: &ToolSecurity,
    permissions: &[String],
    validators: &[ValidatorName],
    operator: &OperatorWord,
    trust: TrustLevel,
) -> Risk {
    let of_trust = match trust {
        TrustLevel::Core => Risk::Safe,
        TrustLevel::Standard => Risk::Moderate,
        TrustLevel::Experimental | TrustLevel::Untrusted => Risk::Dangerous,
    };
    let of_permissions = permissions.iter().map(|permission| name::risk(permission));
    let of_validators = validators.iter().map(|validator| validator_risk(*validator));
    // Where the operator switched all checks off without naming a risk, nothing stands between agent and tool.
    let of_none = (operator.validator == Some(ValidatorName::None)).then_some(Risk::Dangerous);
    let all = of_permissions.chain(of_validators).chain(of_none).chain(declared_risk(declared));
    all.fold(of_trust, Risk::max)
}

const fn validator_risk(validator: ValidatorName) -> Risk {
    match validator {
        ValidatorName::Readonly => Risk::Safe,
        ValidatorName::Sandbox | ValidatorName::NetworkRestricted | ValidatorName::CodeSafety => Risk::Moderate,
        ValidatorName::None => Risk::Dangerous,
    }
}

fn confirm(declared: &ToolSecurity, operator: &OperatorWord, risk: Risk, trust: TrustLevel) -> Option<ConfirmReason> {
    match operator.confirm {
        Some(true) => return Some(ConfirmReason::Operator),
        Some(false) => return None,
        None => {}
    }
    let destructive = declared.hints.destructive == Some(true) && trust < TrustLevel::Standard;
    [
        (declared.requires_confirmation, ConfirmReason::RequiresConfirmation),
        (declared.confirmation_required, ConfirmReason::ConfirmationRequired),
        (declared.cost_requires_approval, ConfirmReason::Cost),
        (destructive, ConfirmReason::DestructiveHint),
        (risk == Risk::Dangerous, ConfirmReason::Dangerous),
    ]
    .into_iter()
    .find_map(|(holds, reason)| holds.then_some(reason))
}

fn effect(
    declared: &ToolSecurity,
    permissions: &[String],
    operator: &OperatorWord,
    trust: TrustLevel,
    grave: bool,
) -> Effect {
    let server = declared.hints.read_only == Some(true) || declared.risk == Some(Risk::Safe);
    let claimed = operator.risk == Some(Risk::Safe) || (server && trust >= TrustLevel::Standard);
    let said = declared.unreadable
        || declared.hints.read_only == Some(false)
        || declared.hints.destructive == Some(true)
        || declared.risk > Some(Risk::Safe)
        || declared.side_effects.as_ref().is_some_and(|effects| !effects.is_empty())
        || permissions.iter().any(|permission| name::changes_something(permission));
    match (said, claimed) {
        (true, _) => Effect::Said,
        (false, true) => Effect::None,
        // What is grave enough to ask a person about is treated as if it said so.
        (false, false) if grave || declared.reversible == Some(false) => Effect::Said,
        (false, false) => Effect::Unsaid,
    }
}
