//! What a validator answers.

/// Nothing against it, or the reason to refuse.
pub type Verdict = Result<(), Finding>;

/// What follows from a finding.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Answer {
    /// It is not understood: a person is asked. Where nobody can be, it is refused.
    Ask,
    /// It is recognised as hostile, or breaks a rule: it is refused.
    #[default]
    Block,
}

/// Why something is refused or asked about, for the person or model that wants to do better.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Finding {
    /// The rule that was broken: a short name that stays the same.
    pub rule: &'static str,
    /// What is wrong, with the offending part named.
    pub message: String,
    /// What would be accepted instead, where that can be said.
    pub suggestion: Option<String>,
    /// Line and column of the offending part, counted from one, where there is such a place.
    pub place: Option<(usize, usize)>,
    /// What follows from it.
    pub answer: Answer,
}

impl Finding {
    /// A finding without suggestion and place.
    pub fn new(rule: &'static str, message: impl Into<String>) -> Self {
        Self { rule, message: message.into(), suggestion: None, place: None, answer: Answer::Block }
    }

    /// The same with a suggestion.
    #[must_use]
    pub fn suggest(mut self, suggestion: impl Into<String>) -> Self {
        self.suggestion = Some(suggestion.into());
        self
    }

    /// The same with a place.
    #[must_use]
    pub const fn at(mut self, line: usize, column: usize) -> Self {
        self.place = Some((line, column));
        self
    }

    /// The same for what is only not understood.
    #[must_use]
    pub const fn ask(mut self) -> Self {
        self.answer = Answer::Ask;
        self
    }

    /// Whether a person may agree to it.
    #[must_use]
    pub const fn asks(&self) -> bool {
        matches!(self.answer, Answer::Ask)
    }
}
