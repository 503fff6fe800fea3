//! The structured refusal of MGP 7.4, from which an agent can correct its program.

use serde_json::{Value, json};

use crate::Finding;
use crate::code::{self, Language, Level, MAX_BYTES, STRICT_IMPORTS, javascript, python};

/// Names in one list of hints.
const MOST_NAMES: usize = 32;

/// What a tool adds to the rules of a language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bounds {
    /// The most bytes.
    pub max_bytes: usize,
    /// What may not be imported besides what never may.
    pub blocked_imports: Vec<String>,
    /// What alone may be imported at the strict levels, within what those allow.
    pub allowed_imports: Option<Vec<String>>,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { max_bytes: MAX_BYTES, blocked_imports: Vec::new(), allowed_imports: None }
    }
}

impl Bounds {
    /// What would pass at a level, for the author of `source` (MGP 7.4): the size that holds, the imports that are let in
    /// where only some are, and of those that are not the ones that were tried or that the tool names itself.
    pub(crate) fn hints(&self, language: Language, level: Level, source: &str) -> Value {
        let mut hints = json!({ "max_code_size_bytes": self.max_bytes.min(MAX_BYTES) });
        if language == Language::Shell {
            return hints;
        }
        let never = |import: &str| match language {
            Language::Python => python::is_blocked(import),
            _ => javascript::is_blocked(import),
        };
        let named = |list: &[String], import: &str| names(list, import);
        let refused = |import: &String| never(import) || named(&self.blocked_imports, import);
        let tried = code::imports(language, source).into_iter().filter(refused);
        let mut blocked: Vec<String> = Vec::new();
        for import in tried.chain(self.blocked_imports.iter().cloned()) {
            if blocked.len() < MOST_NAMES && !blocked.contains(&import) {
                blocked.push(import);
            }
        }
        if !blocked.is_empty() {
            hints["blocked_imports"] = blocked.into();
        }
        if level >= Level::Strict {
            let listed: &[&str] =
                if language == Language::Python { &STRICT_IMPORTS } else { javascript::STRICT_MODULES };
            let passes = |import: &&&str| {
                !never(import)
                    && !named(&self.blocked_imports, import)
                    && self.allowed_imports.as_ref().is_none_or(|allowed| named(allowed, import))
            };
            hints["allowed_imports"] = listed.iter().filter(passes).copied().collect::<Vec<&str>>().into();
        }
        hints
    }
}

/// Whether a list names an import, or the package that it belongs to.
pub(crate) fn names(list: &[String], import: &str) -> bool {
    let root = import.split(['.', '/']).next().unwrap_or(import);
    list.iter().any(|name| name == import || name == root)
}

/// Why code is refused, and what would be accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    /// Everything that is wrong with it.
    pub violations: Vec<Violation>,
    hints: Value,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The line it stands in, counted from one, where there is such a place.
    pub line: Option<usize>,
    /// The rule: a short name that stays the same.
    pub rule: &'static str,
    /// What is wrong.
    pub message: String,
    /// What would be accepted instead.
    pub suggestion: Option<String>,
}

impl Rejection {
    pub(crate) fn new(findings: &[Finding], hints: Value) -> Self {
        let violation = |finding: &Finding| Violation {
            line: finding.place.map(|(line, _)| line),
            rule: finding.rule,
            message: finding.message.clone(),
            suggestion: finding.suggestion.clone(),
        };
        Self { violations: findings.iter().map(violation).collect(), hints }
    }

    /// The JSON of MGP 7.4. `violations` are sentences as there; `details` says the same in parts.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let details: Vec<Value> = self
            .violations
            .iter()
            .map(|violation| {
                json!({
                    "line": violation.line,
                    "rule": violation.rule,
                    "message": violation.message,
                    "suggestion": violation.suggestion,
                })
            })
            .collect();
        json!({
            "status": "rejected",
            "reason": "Code validation failed",
            "violations": self.violations.iter().map(Violation::sentence).collect::<Vec<_>>(),
            "details": details,
            "hints": self.hints,
        })
    }
}

impl Violation {
    fn sentence(&self) -> String {
        match self.line {
            Some(line) => format!("line {line}: {}", self.message),
            None => self.message.clone(),
        }
    }
}
