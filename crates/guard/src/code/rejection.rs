//! The structured refusal of MGP 7.4, from which an agent can correct its program.

use serde_json::{Value, json};

use crate::Finding;
use crate::code::{Language, Level, MAX_BYTES, STRICT_IMPORTS, python};

/// Why code is refused, and what would be accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    /// Everything that is wrong with it.
    pub violations: Vec<Violation>,
    level: Level,
    language: Language,
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
    pub(crate) fn new(language: Language, level: Level, findings: &[Finding]) -> Self {
        let violation = |finding: &Finding| Violation {
            line: finding.place.map(|(line, _)| line),
            rule: finding.rule,
            message: finding.message.clone(),
            suggestion: finding.suggestion.clone(),
        };
        Self { violations: findings.iter().map(violation).collect(), level, language }
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
        let mut hints = json!({ "max_code_size_bytes": MAX_BYTES });
        if self.language == Language::Python {
            hints["blocked_imports"] = python::blocked_imports().collect::<Vec<_>>().into();
            if self.level >= Level::Strict {
                hints["allowed_imports"] = STRICT_IMPORTS.to_vec().into();
            }
        }
        json!({
            "status": "rejected",
            "reason": "Code validation failed",
            "violations": self.violations.iter().map(Violation::sentence).collect::<Vec<_>>(),
            "details": details,
            "hints": hints,
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
