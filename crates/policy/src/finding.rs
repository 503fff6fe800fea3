//! What a validator answers.

/// Nothing against it, or the reason to refuse.
pub type Verdict = Result<(), Finding>;

/// Longer messages are cut in the middle: they name what is wrong, and what is wrong may be the whole of a large argument.
const MAX_MESSAGE_BYTES: usize = 1_024;
/// What is kept of the end of such a message: there stands what is said of the part that is named.
const KEPT_END_BYTES: usize = 256;

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
        Self { rule, message: bounded(message.into()), suggestion: None, place: None, answer: Answer::Block }
    }

    /// The same with a suggestion.
    #[must_use]
    pub fn suggest(mut self, suggestion: impl Into<String>) -> Self {
        self.suggestion = Some(bounded(suggestion.into()));
        self
    }

    /// The same, telling in which part of something it was found.
    #[must_use]
    pub fn inside(mut self, part: &str) -> Self {
        self.message = bounded(format!("{} (in {part})", self.message));
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

/// A message without its middle, if it is long. It is cut between words where one ends near.
fn bounded(message: String) -> String {
    if message.len() <= MAX_MESSAGE_BYTES {
        return message;
    }
    let front = message.floor_char_boundary(MAX_MESSAGE_BYTES - KEPT_END_BYTES - 64);
    let front = message[..front].rfind(char::is_whitespace).filter(|at| front - at < 64).unwrap_or(front);
    let back = message.ceil_char_boundary(message.len() - KEPT_END_BYTES);
    let left_out = message[front..back].chars().count();
    format!("{}[.. {left_out} characters ..]{}", &message[..front], &message[back..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_bounded_however_long_what_it_names_is() {
        for part in ["x".repeat(1 << 20), "\u{1f600}".repeat(1 << 18), "a word ".repeat(1 << 17)] {
            let finding = Finding::new("rule", format!("the program `{part}` is not known")).suggest(part.clone());
            assert!(finding.message.len() <= MAX_MESSAGE_BYTES, "{}", finding.message.len());
            assert!(finding.message.starts_with("the program `") && finding.message.ends_with("` is not known"));
            assert!(finding.message.contains(" characters ..]"));
            assert!(finding.suggestion.is_some_and(|suggestion| suggestion.len() <= MAX_MESSAGE_BYTES));
        }
        let finding = Finding::new("rule", "an order").inside(&"x".repeat(1 << 20));
        assert!(finding.message.len() <= MAX_MESSAGE_BYTES, "{}", finding.message.len());
        let short = "x".repeat(MAX_MESSAGE_BYTES);
        assert_eq!(Finding::new("rule", short.as_str()).message, short);
    }
}
