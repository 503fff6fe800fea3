//! The risk of a tool as the strongest of the reasons for one, so that whoever asks is told which it was.

use switchboard_protocol::mgp::security::ToolSecurity;
use switchboard_protocol::mgp::{Risk, TrustLevel, ValidatorName};

use super::fallback::RiskClass;
use super::nature::Told;
use super::verbs::Kind;
use super::{Carries, Found, OperatorWord, validator_risk};
use crate::permission::name;

/// The risk that holds, and why. Of several reasons for the same risk the first counts.
pub(super) fn strongest(
    declared: &ToolSecurity,
    found: &Found,
    reads: bool,
    permissions: &[String],
    validators: &[ValidatorName],
    operator: &OperatorWord,
    trust: TrustLevel,
) -> (Risk, String) {
    let mut all: Vec<(Risk, String)> = Vec::new();
    all.extend(of_arguments(found));
    // Who is trusted as the kernel is and names a risk has thought of the name and the arguments that are guessed by.
    let is_named = trust == TrustLevel::Core && declared.risk.is_some();
    let guessed = of_nature(declared, found).filter(|_| !is_named);
    all.extend(guessed.filter(|(risk, _)| !reads || *risk == Risk::Dangerous));
    all.extend(of_server(declared, found));
    // Where a server asks for nothing and only reads, that it opens URLs is what it is checked for, and no more.
    let guessed = |is_network: bool, said: bool| reads && is_network && !said;
    for permission in permissions {
        let said =
            declared.permissions.iter().any(|word| name::read(word).is_ok_and(|known| known.canonical == *permission));
        if !guessed(permission == RiskClass::Network.permission(), said) {
            let needs = match name::read(permission) {
                Ok(known) => format!("it needs `{}`", known.canonical),
                Err(_) => "it needs something that is no permission".to_owned(),
            };
            all.push((name::risk(permission), needs));
        }
    }
    for validator in validators {
        let said = declared.validators.contains(validator);
        if !guessed(*validator == ValidatorName::NetworkRestricted, said) {
            all.push((validator_risk(*validator), format!("its arguments need the check `{}`", validator.as_str())));
        }
    }
    // Where the operator switched all checks off without naming a risk, nothing stands between agent and tool.
    if operator.validator == Some(ValidatorName::None) {
        all.push((Risk::Dangerous, "the operator switched its checks off".to_owned()));
    }
    all.push(of_trust(declared, found, reads, trust));
    let mut strongest = (Risk::Safe, String::new());
    for (risk, reason) in all {
        if risk > strongest.0 || strongest.1.is_empty() {
            strongest = (risk, reason);
        }
    }
    strongest
}

fn of_arguments(found: &Found) -> Option<(Risk, String)> {
    let carried = [Carries::Command, Carries::Input, Carries::Code];
    let of_class = carried.iter().find_map(|what| Some((found.cargo.has(*what)?, *what)));
    if let Some((key, what)) = of_class.filter(|_| matches!(found.class, Some(RiskClass::Shell | RiskClass::Code))) {
        return Some((Risk::Dangerous, format!("{} carries {}", argument(key), what.as_str())));
    }
    match found.class {
        Some(RiskClass::Shell) => {
            Some((Risk::Dangerous, "its name and arguments say that it runs commands".to_owned()))
        }
        Some(RiskClass::Code) => Some((Risk::Dangerous, "its name and arguments say that it runs code".to_owned())),
        _ => {
            let (key, what) = found.writes_statements()?;
            Some((Risk::Dangerous, format!("{} carries {}, which may write", argument(key), what.as_str())))
        }
    }
}

/// An argument by its name, where that is one and not text that somebody put there to be read.
fn argument(key: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if key.len() <= 48 && key.bytes().all(plain) { format!("its argument `{key}`") } else { "an argument".to_owned() }
}

fn of_nature(declared: &ToolSecurity, found: &Found) -> Option<(Risk, String)> {
    let nature = found.nature?;
    let kind = nature.kind.filter(|kind| *kind != Kind::Look)?;
    let risk = if kind.is_grave() { Risk::Dangerous } else { Risk::Moderate };
    let reason = match nature.told_by {
        Told::Nowhere if kind == Kind::Unknown => "nothing says what it does".to_owned(),
        Told::Nowhere => return None,
        Told::Argument(at) => {
            let key = declared.arguments.get(at).map(|argument| argument.name.as_str()).unwrap_or_default();
            format!("{} says that it {}", argument(key), kind.does())
        }
        Told::Name => format!("its name says that it {}", kind.does()),
        Told::Description => format!("its description says that it {}", kind.does()),
        Told::Choice(at) => {
            let key = declared.arguments.get(at).map(|argument| argument.name.as_str()).unwrap_or_default();
            match kind {
                Kind::Unknown => format!("{} tells it what to do", argument(key)),
                _ => format!("{} can make it one that {}", argument(key), kind.does()),
            }
        }
    };
    Some((risk, reason))
}

fn of_server(declared: &ToolSecurity, found: &Found) -> Vec<(Risk, String)> {
    let mut said = Vec::new();
    if let Some(risk) = declared.risk {
        said.push((risk, format!("its server says `{}`", risk.as_str())));
    }
    if declared.hints.destructive == Some(true) {
        // What is clicked and typed on a page in a browser is asked about by the page; servers give the hint to all of it.
        let mild = found.nature.is_some_and(|nature| nature.on_page && nature.grave().is_none());
        let risk = if mild { Risk::Moderate } else { Risk::Dangerous };
        said.push((risk, "its server says that it may destroy (`destructiveHint`)".to_owned()));
    }
    said
}

fn of_trust(declared: &ToolSecurity, found: &Found, reads: bool, trust: TrustLevel) -> (Risk, String) {
    match trust {
        TrustLevel::Core => (Risk::Safe, "its server is trusted".to_owned()),
        TrustLevel::Standard if reads => {
            let says = match found.nature.map(|nature| (nature.looks(), nature.told_by)) {
                Some((true, Told::Name)) => "its name says that it only reads",
                Some((true, _)) => "its description says that it only reads",
                _ => "its server says that it only reads (`readOnlyHint`)",
            };
            (Risk::Safe, says.to_owned())
        }
        TrustLevel::Standard if declared.hints.read_only == Some(true) => (
            Risk::Moderate,
            "its server says that it only reads, and something else in its definition does not".to_owned(),
        ),
        TrustLevel::Standard => (Risk::Moderate, "nothing says that it only reads".to_owned()),
        TrustLevel::Experimental | TrustLevel::Untrusted => (Risk::Dangerous, "its server is not trusted".to_owned()),
    }
}
