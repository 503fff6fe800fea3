//! `switchboard connect` and `switchboard disconnect`: the entry of Switchboard in a client's own configuration.

use std::path::PathBuf;

use serde_json::json;
use switchboard_config::{ClientProgram, Platform, write_replacing};

use super::import::own_command;
use crate::Outcome;
use crate::arguments::{Common, Connect};
use crate::failure::Failure;
use crate::{screen, setup};

pub(crate) fn run(common: &Common, options: &Connect) -> Outcome {
    let (client, file) = place(common, options)?;
    let before = setup::text_to_change(&file)?;
    let command = own_command();
    let unreadable = |error| unchanged(&file, &error);
    let after = client.connected(before.as_deref().unwrap_or_default(), &command).map_err(unreadable)?;
    if options.dry_run {
        screen::out(after.trim_end());
        return Ok(());
    }
    let backup = if before.as_deref() == Some(&after) {
        None
    } else {
        write_replacing(&file, before.as_deref(), &after, before.is_some().then(setup::stamp).as_deref())?
    };
    if common.json {
        screen::json(&json!({"client": client.as_str(), "file": file, "backup": backup}));
        return Ok(());
    }
    screen::out(format_args!("{} runs `{command} stdio` now: {}", client.name(), file.display()));
    if let Some(backup) = backup {
        screen::out(format_args!("the file as it was: {}", backup.display()));
    }
    screen::out(format_args!(
        "Start {} again. Servers that it has itself stay there: `{}` takes them over.",
        client.name(),
        common.again("import")
    ));
    Ok(())
}

pub(crate) fn undo(common: &Common, options: &Connect) -> Outcome {
    let (client, file) = place(common, options)?;
    let before = setup::text_to_change(&file)?;
    let after = match &before {
        Some(before) => client.disconnected(before).map_err(|error| unchanged(&file, &error))?,
        None => None,
    };
    let (Some(before), Some(after)) = (before, after) else {
        return Err(Failure::failed(format!("{} has no entry of Switchboard", file.display())));
    };
    if options.dry_run {
        screen::out(after.trim_end());
        return Ok(());
    }
    let backup = write_replacing(&file, Some(&before), &after, Some(&setup::stamp()))?;
    if common.json {
        screen::json(&json!({"client": client.as_str(), "file": file, "backup": backup}));
        return Ok(());
    }
    screen::out(format_args!("took Switchboard out of {}", file.display()));
    if let Some(backup) = backup {
        screen::out(format_args!("the file as it was: {}", backup.display()));
    }
    Ok(())
}

fn place(common: &Common, options: &Connect) -> Result<(ClientProgram, PathBuf), Failure> {
    let client: ClientProgram = options.client.parse().map_err(Failure::usage)?;
    let sources = setup::sources(common)?;
    let file = client.file(&sources.environment, Platform::current());
    let file = file.ok_or_else(|| Failure::usage("there is no home folder in which the client could have its file"))?;
    Ok((client, file))
}

fn unchanged(file: &std::path::Path, error: &dyn std::fmt::Display) -> Failure {
    Failure::failed(format!("{}: {error}; it was left as it is", file.display()))
}
