//! Code in arguments.

use switchboard_protocol::mgp::security::CodeSafety;

use super::role::Role;
use super::walk::{Doubts, Reason, Refused, refused};
use super::{Checks, SCOPE};
use crate::code::{self, Bounds, Language, Level, MAX_BYTES, Rejection};
use crate::{Answer, Finding};

/// How code is judged for one tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeRules {
    /// How much it may do.
    pub level: Level,
    /// The language, where the tool runs only one.
    pub language: Option<Language>,
    /// The size, and what may be imported.
    pub bounds: Bounds,
    /// Text that may not occur.
    pub blocked_patterns: Vec<String>,
}

impl Default for CodeRules {
    fn default() -> Self {
        Self::new(None)
    }
}

impl CodeRules {
    /// The rules that a server declares, as far as they are stricter than the kernel's own: `unrestricted` is not for
    /// a server to say, and neither is a greater size.
    #[must_use]
    pub fn new(declared: Option<&CodeSafety>) -> Self {
        let level = declared.and_then(|declared| declared.level.as_deref()).map_or(Level::Standard, Level::from_name);
        let size = declared.and_then(|declared| declared.max_code_size_bytes);
        let size = size.and_then(|size| usize::try_from(size).ok()).unwrap_or(MAX_BYTES);
        Self {
            level: level.max(Level::Standard),
            language: declared.and_then(|declared| declared.language.as_deref()).and_then(Language::from_name),
            bounds: Bounds {
                max_bytes: size.min(MAX_BYTES),
                blocked_imports: declared.map(|declared| declared.blocked_imports.clone()).unwrap_or_default(),
                allowed_imports: declared.and_then(|declared| declared.allowed_imports.clone()),
            },
            blocked_patterns: declared.map(|declared| declared.blocked_patterns.clone()).unwrap_or_default(),
        }
    }

    /// What these rules add to those of the language.
    fn findings(&self, language: Language, level: Level, source: &str) -> Vec<Finding> {
        let mut findings = Vec::new();
        let most = self.bounds.max_bytes;
        if source.len() > most {
            let message = format!("{} bytes of code, of which at most {most} are read", source.len());
            findings.push(Finding::new("code-size", message).suggest("split the program into smaller ones"));
        }
        for pattern in self.blocked_patterns.iter().filter(|pattern| !pattern.is_empty()) {
            if source.contains(pattern.as_str()) {
                findings.push(Finding::new("blocked-pattern", format!("Blocked pattern: '{pattern}'")));
            }
        }
        let limited = self.bounds.allowed_imports.as_ref().filter(|_| level >= Level::Strict);
        if self.bounds.blocked_imports.is_empty() && limited.is_none() {
            return findings;
        }
        for import in code::imports(language, source) {
            let listed = |list: &[String]| code::names(list, &import);
            if listed(&self.bounds.blocked_imports) || limited.is_some_and(|allowed| !listed(allowed)) {
                findings.push(Finding::new("blocked-import", format!("Blocked import: '{import}'")));
            }
        }
        findings
    }
}

/// `language` is what stands beside the code in the arguments.
pub(super) fn check(
    checks: &Checks,
    role: Role,
    text: &str,
    language: Option<&str>,
    doubts: Doubts<'_>,
) -> Result<(), Refused> {
    // What is called content may be data for the code: it is code for certain only where its language is named.
    let is_code = matches!(role, Role::Code | Role::Script) || (role == Role::Content && language.is_some());
    let judged = checks.code || (checks.readonly && !checks.sandbox);
    if is_code {
        let language = known_language(checks, language)?;
        allowed_language(checks, language)?;
        if judged { whole_program(checks, text, language, doubts) } else { Ok(()) }
    } else if checks.code && !matches!(role, Role::Command | Role::Commands) {
        hidden_program(checks, role, text, known_language(checks, language)?)
    } else {
        Ok(())
    }
}

fn known_language(checks: &Checks, beside: Option<&str>) -> Result<Option<Language>, Refused> {
    let Some(name) = beside else {
        let only =
            checks.scopes.iter().filter_map(|scope| scope.languages.as_deref()).find_map(|languages| match languages {
                [only] => Language::from_name(only),
                _ => None,
            });
        return Ok(checks.rules.language.or(only));
    };
    let unknown = |message: String| Err(refused("code_safety", Finding::new("code-language", message)));
    match (Language::from_name(name), checks.rules.language) {
        (None, _) if !checks.code => Ok(None),
        (None, _) => unknown(format!("code in `{}` cannot be judged", name.chars().take(32).collect::<String>())),
        (Some(said), Some(runs)) if said != runs => unknown(format!("the tool runs {runs:?}, not {said:?}")),
        (said, _) => Ok(said),
    }
}

fn allowed_language(checks: &Checks, language: Option<Language>) -> Result<(), Refused> {
    for languages in checks.scopes.iter().filter_map(|scope| scope.languages.as_ref()) {
        let allowed = language
            .is_some_and(|language| languages.iter().any(|allowed| Language::from_name(allowed) == Some(language)));
        if !allowed {
            let finding = Finding::new("language-outside", "the language of the code is not among the allowed ones")
                .suggest(format!("say which of these it is: {}", languages.join(", ")));
            return Err(refused(SCOPE, finding));
        }
    }
    Ok(())
}

/// A string that is a program. In an unknown language it has to be accepted in one, and refused in none that can read
/// it at all.
fn whole_program(checks: &Checks, text: &str, language: Option<Language>, doubts: Doubts<'_>) -> Result<(), Refused> {
    let languages = candidates(language);
    let mut accepted = false;
    let mut doubt = None;
    let mut unreadable = None;
    for language in languages {
        let findings = findings(checks, *language, text);
        if let Some(first) = findings.first().filter(|_| findings.iter().all(Finding::asks)) {
            accepted = true;
            doubt.get_or_insert_with(|| first.clone());
        } else if findings.is_empty() {
            accepted = true;
        } else if languages.len() == 1 || findings.iter().any(|finding| finding.rule != "code-syntax") {
            return Err(rejected(checks, *language, text, findings));
        } else if unreadable.is_none() {
            unreadable = Some((*language, findings));
        }
    }
    match (unreadable, doubt) {
        (Some((language, findings)), _) if !accepted => Err(rejected(checks, language, text, findings)),
        // Where only little is let in, nobody is asked about the rest.
        (_, Some(doubt)) if level(checks) >= Level::Strict => {
            Err(refused("code_safety", Finding { answer: Answer::Block, ..doubt }))
        }
        (_, Some(doubt)) => doubts.weigh(Err(doubt)).map_err(|doubt| refused("code_safety", doubt)),
        _ => Ok(()),
    }
}

/// A string that is something else, unless it happens to be a program that breaks a rule.
fn hidden_program(checks: &Checks, role: Role, text: &str, language: Option<Language>) -> Result<(), Refused> {
    if !text.contains('(') && !text.contains("import") {
        return Ok(());
    }
    if role == Role::Prose && text.len() > MAX_BYTES {
        return Ok(());
    }
    let program = without_fence(text);
    for language in candidates(language).iter().filter(|language| **language != Language::Shell) {
        let findings = findings(checks, *language, program);
        // What only asks because honest programs do it too is no part of a text.
        let breaks =
            |finding: &Finding| finding.rule != "code-syntax" && (!finding.asks() || finding.rule != "code-unknown");
        if findings.iter().any(breaks) {
            return Err(rejected(checks, *language, text, findings));
        }
    }
    Ok(())
}

/// The code in a Markdown fence, as models write it.
fn without_fence(text: &str) -> &str {
    let text = text.trim();
    let Some(inner) = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```")) else { return text };
    inner.split_once('\n').map_or(inner, |(_, code)| code)
}

const fn candidates(language: Option<Language>) -> &'static [Language] {
    match language {
        Some(Language::Python) => &[Language::Python],
        Some(Language::JavaScript) => &[Language::JavaScript],
        Some(Language::TypeScript) => &[Language::TypeScript],
        Some(Language::Shell) => &[Language::Shell],
        // Every JavaScript program that can be written is one in TypeScript, nearly.
        None => &[Language::Python, Language::TypeScript],
    }
}

fn level(checks: &Checks) -> Level {
    if checks.readonly { Level::Readonly } else { checks.rules.level }
}

fn findings(checks: &Checks, language: Language, text: &str) -> Vec<Finding> {
    let level = level(checks);
    let mut findings = code::findings(language, level, text);
    findings.extend(checks.rules.findings(language, level, text));
    findings
}

fn rejected(checks: &Checks, language: Language, text: &str, mut findings: Vec<Finding>) -> Refused {
    let hints = checks.rules.bounds.hints(language, level(checks), text);
    if let Some(allowed) = hints["allowed_imports"].as_array() {
        // The rules of the language know nothing of what a tool allows besides.
        let names: Vec<&str> = allowed.iter().filter_map(serde_json::Value::as_str).collect();
        let advice = if names.is_empty() {
            "import nothing".to_owned()
        } else {
            format!("import only from {}", names.join(", "))
        };
        for finding in findings.iter_mut().filter(|finding| matches!(finding.rule, "code-import" | "blocked-import")) {
            finding.suggestion = Some(advice.clone());
        }
    }
    let rejection = Rejection::new(&findings, hints);
    let finding = findings.swap_remove(0);
    let rejection = Some(Box::new(rejection));
    Box::new(Reason { step: "code_safety", pointer: String::new(), finding, rejection, host: None })
}
