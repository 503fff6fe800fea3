//! `switchboard audit export`: events to a file or to standard output, page by page.

use std::borrow::Cow;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt as _;

use jiff::Timestamp;
use serde_json::{Value, json};
use switchboard_store::{AuditFilter, AuditRecord, Store, StoreError};

use super::form;
use crate::Outcome;
use crate::arguments::{Common, Export, Format};
use crate::failure::Failure;
use crate::screen;

pub(super) async fn run(common: &Common, store: &Store, options: &Export) -> Outcome {
    if options.chain && options.format != Format::Jsonl {
        return Err(Failure::usage("--chain goes with --format jsonl"));
    }
    if common.json && options.output.is_none() && (options.chain || options.format == Format::Csv) {
        return Err(Failure::usage("with --json the export is printed as objects; --output FILE writes another form"));
    }
    let filter = form::filter(&options.chosen, Timestamp::now())?;
    let Some(path) = &options.output else {
        let mut output = io::stdout().lock();
        return match write(store, filter, options, Some(common.json), &mut output).await {
            // A reader that has gone is no error of ours.
            Err(Broken::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            outcome => outcome.map(drop).map_err(Failure::from),
        };
    };
    let failed = |error: &io::Error| Failure::failed(format!("{} cannot be written: {error}", path.display()));
    let file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let mut output = BufWriter::new(file.map_err(|error| failed(&error))?);
    let count = write(store, filter, options, None, &mut output).await.map_err(Failure::from)?;
    output.flush().and_then(|()| output.get_ref().sync_all()).map_err(|error| failed(&error))?;
    if common.json {
        screen::json(&json!({"file": path, "events": count}));
    } else {
        screen::note(format_args!("{count} events in {}", path.display()));
    }
    Ok(())
}

/// Why an export ended early.
enum Broken {
    Store(StoreError),
    Output(io::Error),
}

impl From<Broken> for Failure {
    fn from(broken: Broken) -> Self {
        match broken {
            Broken::Store(error) => Self::from(error),
            Broken::Output(error) => Self::failed(format!("the export cannot be written: {error}")),
        }
    }
}

/// Writes an export. `printed` is whether it goes to standard output, and there in the shape of `--json`.
async fn write(
    store: &Store,
    filter: AuditFilter,
    options: &Export,
    printed: Option<bool>,
    output: &mut (impl Write + ?Sized),
) -> Result<u64, Broken> {
    let mut export = store.audit().export(filter).await.map_err(Broken::Store)?;
    let mut text = Text { shaped: printed == Some(true), ..Text::new(options.format, options.chain) };
    loop {
        let page = export.next().await.map_err(Broken::Store)?;
        let ended = page.is_none();
        let piece = text.page(page.as_deref()).map_err(Broken::Store)?;
        let piece =
            if printed.is_some() && options.format != Format::Csv { screen::printable_json(&piece) } else { piece };
        output.write_all(piece.as_bytes()).map_err(Broken::Output)?;
        if ended {
            return Ok(text.count);
        }
    }
}

/// An export as it grows.
pub(super) struct Text {
    format: Format,
    chain: bool,
    begun: bool,
    /// Whether each object names the version of its shape.
    shaped: bool,
    pub(super) count: u64,
}

impl Text {
    pub(super) const fn new(format: Format, chain: bool) -> Self {
        Self { format, chain, begun: false, shaped: false, count: 0 }
    }

    /// One event, in the shape of `--json` where that was asked for.
    fn event<'r>(&self, record: &'r AuditRecord) -> Cow<'r, str> {
        let shaped = || {
            let event: Value = serde_json::from_str(&record.event).unwrap_or_default();
            screen::shaped(&event).to_string()
        };
        if self.shaped { Cow::Owned(shaped()) } else { Cow::Borrowed(&record.event) }
    }

    /// The text of the next page; without one, what ends the export.
    pub(super) fn page(&mut self, page: Option<&[AuditRecord]>) -> Result<String, StoreError> {
        let mut text = String::new();
        if !self.begun {
            match self.format {
                Format::Json if self.shaped => {
                    text = format!("{{\"schema_version\": {}, \"events\": [", screen::SCHEMA_VERSION);
                }
                Format::Json => text.push('['),
                Format::Csv => text = format!("{}\r\n", form::COLUMNS),
                Format::Jsonl => {}
            }
        }
        self.begun = true;
        for record in page.unwrap_or_default() {
            match self.format {
                Format::Json => {
                    text.push_str(if self.count == 0 { "\n" } else { ",\n" });
                    text.push_str(&self.event(record));
                }
                Format::Csv => text.push_str(&format!("{}\r\n", form::row(record)?)),
                Format::Jsonl if self.chain => text.push_str(&format!("{}\n", record.line())),
                Format::Jsonl => text.push_str(&format!("{}\n", self.event(record))),
            }
            self.count += 1;
        }
        if page.is_none() && self.format == Format::Json {
            text.push_str(if self.shaped { "\n]}\n" } else { "\n]\n" });
        }
        Ok(text)
    }
}
