//! Risk (MGP 4): how dangerous is a tool really, which checks does it need, and is a person to be asked?
//!
//! The operator's word is final, in both directions. The server's word always counts where it is the stricter one; that
//! a tool only reads is believed where its name, its description and its arguments say nothing else. Where nobody says
//! enough, these tell what it is (MGP 8.2). Asked once per definition, not per call; it knows nothing of a call's
//! arguments or of who makes it.

mod carried;
mod choice;
mod content;
mod easing;
pub mod fallback;
mod nature;
mod phrase;
mod reasons;
mod senses;
mod sentence;
mod uniform;
mod verbs;
mod weight;

use switchboard_protocol::mgp::security::{Effective, ToolSecurity};
use switchboard_protocol::mgp::{Risk, TrustLevel, ValidatorName};
use switchboard_wire::Raw;

use crate::permission::name;
use carried::Cargo;
use easing::Choice;
use fallback::RiskClass;
use nature::{Nature, Told};
use verbs::Kind;

pub use carried::{Carried, Carries};
pub use easing::{Easing, OnlyReads};
pub use uniform::{hints_tell_nothing, without_hints};

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
    /// Why this risk holds, in half a sentence.
    pub reason: String,
    /// The arguments that carry commands, code or statements, whatever they are called.
    pub carried: Vec<Carried>,
    /// Where the tool is dangerous only because of what an argument may hold: which calls of it are not.
    pub easing: Option<Easing>,
}

impl Assessment {
    /// Why a person is to be asked before a call with these arguments. `declared` is what was weighed.
    #[must_use]
    pub fn asks_about(&self, declared: &ToolSecurity, arguments: &Raw, only_reads: OnlyReads) -> Option<ConfirmReason> {
        let eased = |easing: &Easing| easing.lets(&self.carried, declared, arguments, only_reads);
        self.confirm.filter(|reason| *reason != ConfirmReason::Dangerous || !self.easing.as_ref().is_some_and(eased))
    }

    /// What holds where this holds and another one too.
    #[must_use]
    pub fn and(mut self, other: &Self) -> Self {
        if other.risk > self.risk {
            self.risk = other.risk;
            self.reason.clone_from(&other.reason);
        }
        self.reversible = if self.reversible == Some(false) { self.reversible } else { other.reversible };
        self.confirm = self.confirm.or(other.confirm);
        self.effect = self.effect.max(other.effect);
        add(&mut self.permissions, &other.permissions);
        add(&mut self.validators, &other.validators);
        add(&mut self.scopes, &other.scopes);
        add(&mut self.carried, &other.carried);
        // What eases one does not ease the other.
        self.easing = None;
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
            reason: &self.reason,
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
    /// The profile of the client wants it.
    Profile,
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
            Self::Profile => "profile",
            Self::RequiresConfirmation => "requires_confirmation",
            Self::ConfirmationRequired => "confirmation_required",
            Self::Cost => "cost_requires_approval",
            Self::DestructiveHint => "destructive_hint",
            Self::Dangerous => "dangerous",
            Self::NotUnderstood => "not_understood",
        }
    }
}

/// What a definition tells beside what it says of its dangers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Found {
    class: Option<RiskClass>,
    nature: Option<Nature>,
    cargo: Cargo,
    /// The same without what an argument may hold, where that changes it.
    bare: Option<Box<Self>>,
}

impl Found {
    fn of(declared: &ToolSecurity, name: &str) -> Self {
        let nature = nature::of(declared, name);
        let cargo = carried::of(declared, name, nature.looks());
        // What runs a statement is judged by the statement.
        let judged = cargo.has(Carries::Statement).or_else(|| cargo.has(Carries::Query)).is_some();
        let by_statement = |nature: Nature| if judged { nature.without_running() } else { nature };
        let nature = by_statement(nature);
        let class = carried::class(declared, name, &cargo);
        let found = Self { class, nature: Some(nature), cargo, bare: None };
        let holds = |key: &&String| !found.cargo.carried.iter().any(|carried| *carried.key == ***key);
        let others: Vec<String> = declared.properties.iter().filter(holds).cloned().collect();
        let class = fallback::classify(name, &others);
        // Only a choice can be made otherwise.
        let unchosen = match nature.told_by {
            Told::Choice(_) => by_statement(nature::without_choice(declared, name)),
            _ => nature,
        };
        let bare = Self { class, nature: Some(unchosen), ..Self::default() };
        let eased = Some(Box::new(bare))
            .filter(|bare| bare.class != found.class || bare.nature != found.nature || !found.cargo.carried.is_empty());
        Self { bare: eased, ..found }
    }

    /// The same of a tool, where nothing tells what it does: that is no sign of harmlessness. What arguments carry is judged.
    fn or_unknown(self, declared: &ToolSecurity, name: &str) -> Self {
        let judged = !self.cargo.carried.is_empty() || matches!(self.class, Some(RiskClass::Shell | RiskClass::Code));
        let Some((found, (told_by, kind))) = self
            .nature
            .filter(|_| !judged)
            .and_then(|found| Some((found, weight::unknown(declared, &fallback::words(name), found)?)))
        else {
            return self;
        };
        // Where an argument chooses what is done, the choice tells of each call.
        let chosen = matches!(told_by, Told::Choice(_));
        let bare = chosen.then(|| Box::new(Self { bare: None, ..self.clone() }));
        Self { nature: Some(Nature { kind: Some(kind), told_by, ..found }), bare, ..self }
    }

    /// The risk that follows from this alone.
    fn risk(&self, declared: &ToolSecurity, operator: &OperatorWord, trust: TrustLevel, mgp: bool) -> Risk {
        let reads = only_reads(declared, self);
        let permissions = permissions(declared, self.class);
        let validators = validators(declared, self, reads, &permissions, operator, mgp);
        reasons::strongest(declared, self, reads, &permissions, &validators, operator, trust).0
    }

    /// The argument that chooses something grave.
    fn choice(&self, declared: &ToolSecurity) -> Option<Choice> {
        let nature = self.nature?;
        let Told::Choice(at) = nature.told_by else { return None };
        let key = declared.arguments.get(at)?.name.as_str().into();
        Some(Choice { key, is_method: nature.kind == Some(Kind::Request) })
    }

    /// Whether a statement that it is given may write.
    fn writes_statements(&self) -> Option<(&str, Carries)> {
        let carried = |what: Carries| Some((self.cargo.has(what)?, what));
        // Nothing holds a query for an API to reading but the look at each call.
        carried(Carries::Statement).filter(|_| !self.cargo.reads).or_else(|| carried(Carries::Query))
    }
}

/// Whether a word that chooses what is done chooses something grave: `delete`, `unlock`, not `run` or `update`.
#[must_use]
pub fn is_grave_choice(word: &str) -> bool {
    nature::chooses_grave(&fallback::words(word))
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
    weigh(declared, Found::of(declared, tool_name).or_unknown(declared, tool_name), operator, trust, mgp)
}

/// Weighs what is said of a resource. Reading is no danger by itself, so a server that is not trusted does not make it one.
#[must_use]
pub fn assess_read(declared: &ToolSecurity, trust: TrustLevel, mgp: bool) -> Assessment {
    weigh(declared, Found::default(), &OperatorWord::default(), trust.max(TrustLevel::Standard), mgp)
}

/// Weighs what is said of a template, whose variables are what a tool has for arguments.
#[must_use]
pub fn assess_template(
    declared: &ToolSecurity,
    name: &str,
    class: Option<RiskClass>,
    trust: TrustLevel,
    mgp: bool,
) -> Assessment {
    assess_content(declared, name, class, &OperatorWord::default(), trust.max(TrustLevel::Standard), mgp)
}

/// Weighs what is said of a prompt, whose class its name, description and arguments tell. A prompt may do anything before
/// it answers, as a tool may.
#[must_use]
pub fn assess_content(
    declared: &ToolSecurity,
    name: &str,
    class: Option<RiskClass>,
    operator: &OperatorWord,
    trust: TrustLevel,
    mgp: bool,
) -> Assessment {
    let found = Found::of(declared, name);
    let nature = found.nature.map(|nature| content::nature(nature, declared, name));
    weigh(declared, Found { class: found.class.or(class), nature, bare: None, ..found }, operator, trust, mgp)
}

fn weigh(declared: &ToolSecurity, found: Found, operator: &OperatorWord, trust: TrustLevel, mgp: bool) -> Assessment {
    let reads = only_reads(declared, &found);
    let permissions = permissions(declared, found.class);
    let validators = validators(declared, &found, reads, &permissions, operator, mgp);
    let (risk, reason) = match operator.risk {
        Some(risk) => (risk, "the operator says so".to_owned()),
        None => reasons::strongest(declared, &found, reads, &permissions, &validators, operator, trust),
    };
    // A hint is no risk level of its own (MCP calls it advisory), but it says that something is lost.
    let reversible = match (declared.reversible, declared.hints.destructive) {
        (Some(false), _) | (_, Some(true)) => Some(false),
        (said, _) => said,
    };
    let confirm = confirm(declared, operator, risk, trust);
    let easing = found.bare.as_deref().filter(|_| confirm == Some(ConfirmReason::Dangerous) && operator.risk.is_none());
    let easing = easing.filter(|bare| bare.risk(declared, operator, trust, mgp) < Risk::Dangerous);
    let easing = easing.map(|_| Easing { choice: found.choice(declared) });
    let grave = risk == Risk::Dangerous || confirm.is_some();
    Assessment {
        risk,
        declared_risk: declared_risk(declared),
        overridden: declared.risk.is_some_and(|said| said != risk),
        reversible,
        confirm,
        effect: effect(declared, &found, &permissions, operator, trust, grave),
        permissions,
        validators,
        scopes: declared.required_scopes.clone(),
        reason,
        easing,
        carried: found.cargo.carried,
    }
}

/// Whether a tool only reads: its name, its description and its arguments say so, or its server does and none of them
/// says anything else.
fn only_reads(declared: &ToolSecurity, found: &Found) -> bool {
    let hints = declared.hints;
    let contradicted = hints.read_only == Some(false)
        || hints.destructive == Some(true)
        || declared.side_effects.as_ref().is_some_and(|effects| !effects.is_empty())
        || declared.risk > Some(Risk::Safe)
        || declared.reversible == Some(false)
        || matches!(found.class, Some(RiskClass::Shell | RiskClass::Code))
        || nature::writes_by_argument(declared)
        || found.writes_statements().is_some();
    let Some(nature) = found.nature.filter(|_| !contradicted) else { return false };
    let hinted = hints.read_only == Some(true);
    // A word that may be a noun does not speak against the server, and neither does one that nobody knows.
    let mut said = declared.subject.split('\n');
    let (name, described) = (said.next().unwrap_or_default(), said.nth(1).unwrap_or_default());
    let silent = match nature.kind {
        Some(kind) => !kind.is_grave() && !nature.sure && !phrase::is_deed(&fallback::words(name), described),
        None => declared.subject.split('\n').nth(2).is_some_and(|described| !described.is_empty()),
    };
    // What reaches into the open world is not believed on the strength of a sentence alone.
    let vague = nature.told_by == Told::Description && hints.open_world == Some(true);
    nature.looks() && (hinted || !vague) || hinted && silent
}

fn permissions(declared: &ToolSecurity, class: Option<RiskClass>) -> Vec<String> {
    let mut permissions: Vec<String> = Vec::new();
    let implied = class.map(RiskClass::permission);
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
    found: &Found,
    reads: bool,
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
    for class in [RiskClass::Shell, RiskClass::Code, RiskClass::Network] {
        // A server that knows about validators may have its reasons to reach a private network. That it runs commands
        // or code without a check is not for it to say.
        let guessed = class != RiskClass::Network || !said;
        if guessed && permissions.iter().any(|permission| permission == class.permission()) {
            validators.push(class.validator());
        }
    }
    // Statements of a tool that says it only reads are held to that, whatever else its words say of it.
    let stated = found.cargo.has(Carries::Statement).is_some();
    if (reads || found.cargo.reads) && stated || reads && (found.cargo.stages || found.cargo.pieces) {
        validators.push(ValidatorName::Readonly);
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
    found: &Found,
    permissions: &[String],
    operator: &OperatorWord,
    trust: TrustLevel,
    grave: bool,
) -> Effect {
    let server = declared.hints.read_only == Some(true) || declared.risk == Some(Risk::Safe);
    // A server's word that nothing is changed is not believed against the name of its own tool.
    let belied = found.nature.is_some_and(|nature| nature.sure && !nature.looks() || nature.grave().is_some());
    let claimed = operator.risk == Some(Risk::Safe) || (server && trust >= TrustLevel::Standard && !belied);
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
