//! What the tasks tell the person in front of the terminal, and the count of checks.
//!
//! The one place that prints; everything else returns values.

use std::io::Write as _;
use std::time::Duration;

/// How many checks of outside peers passed and failed.
#[derive(Debug, Default, Clone)]
pub(crate) struct Tally {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    /// One line per failed check, repeated at the end so that nobody has to scroll.
    pub(crate) failures: Vec<String>,
}

impl Tally {
    pub(crate) fn pass(&mut self) {
        self.passed += 1;
    }

    pub(crate) fn fail(&mut self, what: impl Into<String>) {
        self.failed += 1;
        self.failures.push(what.into());
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.failures.extend(other.failures);
    }

    /// The plain last line that scripts read.
    pub(crate) fn line(&self) -> String {
        format!("{} passed, {} failed", self.passed, self.failed)
    }
}

/// Prints one line at once, also when the output is a pipe. A closed pipe is no reason to stop:
/// the exit code still tells the result.
pub(crate) fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// The same on standard error, for what ends the run.
pub(crate) fn complain(line: &str) {
    let mut out = std::io::stderr().lock();
    let _ = writeln!(out, "{line}");
}

/// Seconds with one decimal, for the summaries.
pub(crate) fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

/// The first `limit` characters of a text on one line.
pub(crate) fn brief(text: &str, limit: usize) -> String {
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match one_line.char_indices().nth(limit) {
        Some((end, _)) => format!("{} ...", &one_line[..end]),
        None => one_line,
    }
}

/// The last `limit` characters of a text on one line: programs say at the end why they stop.
pub(crate) fn tail(text: &str, limit: usize) -> String {
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let skipped = one_line.chars().count().saturating_sub(limit);
    if skipped == 0 { one_line } else { format!("... {}", one_line.chars().skip(skipped).collect::<String>()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brief_cuts_at_characters_and_joins_lines() {
        assert_eq!(brief("a\n  b", 10), "a b");
        assert_eq!(brief("äöü", 2), "äö ...");
        assert_eq!(tail("äöü", 2), "... öü");
        assert_eq!(tail("a\n  b", 10), "a b");
    }

    #[test]
    fn tallies_add_up() {
        let mut one = Tally::default();
        one.pass();
        let mut two = Tally::default();
        two.fail("x");
        one.add(two);
        assert_eq!(one.line(), "1 passed, 1 failed");
        assert_eq!(one.failures, ["x"]);
    }
}
