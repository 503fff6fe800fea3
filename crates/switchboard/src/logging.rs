//! Logs, on standard error only: standard output belongs to the protocol and to results.
//!
//! Names, messages and errors of servers and clients end up in fields of log events. Every field is therefore escaped
//! here, where all of them pass: one line of the log is one event, and no field drives the terminal that shows it.

use std::fmt;
use std::io::IsTerminal as _;

use switchboard_policy::redact;
use tracing::field::{Field, Visit};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::field::RecordFields;
use tracing_subscriber::fmt::FormatFields;
use tracing_subscriber::fmt::format::Writer;

use crate::arguments::Common;
use crate::failure::Failure;

/// Starts logging at the level that was asked for, or else at `usual`.
pub(crate) fn start(common: &Common, usual: &str) -> Result<(), Failure> {
    let wanted = common.log.as_deref().filter(|level| !level.trim().is_empty()).unwrap_or(usual);
    let filter = EnvFilter::try_new(wanted).map_err(|error| {
        Failure::usage(format!(
            "the log level {wanted:?} cannot be read ({error}); write error, warn, info, debug or trace"
        ))
    })?;
    let logs = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_target(false)
        .fmt_fields(EscapedFields)
        // A line that cannot be written, as on a full disk, would else be complained of on standard error, in a way that panics
        // where that cannot be written either.
        .log_internal_errors(false)
        .finish();
    // Only a second start in one process could fail, and there is none.
    let _ = tracing::subscriber::set_global_default(logs);
    Ok(())
}

/// Writes fields as `name=value`, and the message without its name, with every character of both made harmless.
struct EscapedFields;

impl<'writer> FormatFields<'writer> for EscapedFields {
    fn format_fields<R: RecordFields>(&self, writer: Writer<'writer>, fields: R) -> fmt::Result {
        let mut visitor = EscapingVisitor { writer, first: true, outcome: Ok(()) };
        fields.record(&mut visitor);
        visitor.outcome
    }
}

struct EscapingVisitor<'writer> {
    writer: Writer<'writer>,
    first: bool,
    outcome: fmt::Result,
}

impl EscapingVisitor<'_> {
    fn write(&mut self, field: &Field, value: &str) -> fmt::Result {
        if !std::mem::take(&mut self.first) {
            self.writer.write_char(' ')?;
        }
        let value = redact::one_line(value);
        match field.name() {
            "message" => self.writer.write_str(&value),
            name if self.writer.has_ansi_escapes() => write!(self.writer, "\u{1b}[3m{name}\u{1b}[0m={value}"),
            name => write!(self.writer, "{name}={value}"),
        }
    }
}

impl Visit for EscapingVisitor<'_> {
    // Every other kind of value comes here too, by the defaults of the trait.
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if self.outcome.is_ok() {
            self.outcome = self.write(field, &format!("{value:?}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex, PoisonError};

    use super::*;

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn logged(ansi: bool, tell: impl FnOnce()) -> String {
        let written = Written::default();
        let writer = written.clone();
        let logs = tracing_subscriber::fmt()
            .with_max_level(tracing::Level::TRACE)
            .with_writer(move || writer.clone())
            .with_ansi(ansi)
            .with_target(false)
            .without_time()
            .fmt_fields(EscapedFields)
            .finish();
        tracing::subscriber::with_default(logs, tell);
        String::from_utf8(written.0.lock().unwrap_or_else(PoisonError::into_inner).clone()).unwrap()
    }

    #[test]
    fn nothing_that_is_logged_drives_a_terminal_or_forges_a_line() {
        let name = "p\u{1b}]0;PWNED\u{7}\u{1b}[2J\u{9b}31m\r\n2026-01-01 ERROR FAKE LINE\u{202e}\t";
        let text = logged(false, || {
            let span = tracing::info_span!("call", tool = %name, method = ?name);
            let _entered = span.enter();
            tracing::warn!(server = "esc", tool = %name, why = name, error = ?Some(name), "held back: {name}");
            tracing::trace!(text = name, number = 5, "{}", name);
        });
        assert_eq!(text.lines().count(), 2, "{text:?}");
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
        assert!(!text.contains('\u{202e}'), "{text:?}");
        assert!(text.contains("server=\"esc\" tool=p\\u{1b}]0;PWNED\\u{7}"), "{text:?}");
        assert!(text.contains("number=5"), "{text:?}");
    }

    #[test]
    fn our_own_colours_stay() {
        let text = logged(true, || tracing::warn!(tool = %"a\u{1b}[2J", "words"));
        assert!(text.contains("\u{1b}[3mtool\u{1b}[0m=a\\u{1b}[2J") && text.contains("words"), "{text:?}");
    }
}
