//! `switchboard add` and `switchboard remove`: one server more or less in a file, the rest of it untouched.

use std::path::{Path, PathBuf};

use serde_json::json;
use switchboard_config::{
    EditError, Secret, ServerEntry, Sources, Transport, Trust, add_server, load, remove_server, write_replacing,
};
use switchboard_store::PinState;

use crate::Outcome;
use crate::arguments::{Add, Common, Remove};
use crate::commands::operator_session::OperatorSession;
use crate::control::Running;
use crate::failure::Failure;
use crate::{screen, setup, specs, storage};

pub(crate) async fn run(common: &Common, options: Add) -> Outcome {
    let project = options.project;
    let file = setup::file_to_change(common, project)?;
    let before = setup::text_to_change(&file)?;
    let entry = entry(options)?;
    let text = before.as_deref().unwrap_or_else(|| setup::beginning(project));
    let after = add_server(&file, text, &entry).map_err(|error| match error {
        EditError::Taken(reason) => Failure::usage(format!(
            "{}: {reason}; choose another name, or `{}` first",
            file.display(),
            common.again(&format!("remove {}", entry.id))
        )),
        other => other.into(),
    })?;
    write_replacing(&file, before.as_deref(), &after, None)?;
    if project {
        approve(common, &file, &entry.id)?;
    }
    Running::all_take_over(common).await;
    if common.json {
        screen::json(&json!({"id": entry.id, "file": file}));
    } else {
        screen::out(format_args!("added \"{}\" to {}: {}", entry.id, file.display(), entry.safe_line()));
        screen::out(format_args!("check it with `{}`", common.again("doctor")));
    }
    Ok(())
}

pub(crate) async fn remove(common: &Common, options: &Remove) -> Outcome {
    let file = setup::file_to_change(common, options.project)?;
    let missing = |name: &str| {
        Failure::failed(format!(
            "there is no server \"{}\" in {}; `{}` shows those there are",
            screen::plain_line(name),
            file.display(),
            common.again("servers")
        ))
    };
    let mut names: Vec<&String> = Vec::new();
    for name in &options.names {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let before = setup::text_to_change(&file)?;
    let mut after = before.clone().unwrap_or_default();
    // All of them or none.
    for name in &names {
        after = remove_server(&file, &after, name).map_err(|error| match error {
            EditError::NoSuchServer(_) => missing(name),
            other => other.into(),
        })?;
    }
    let backup = write_replacing(&file, before.as_deref(), &after, Some(&setup::stamp()))?;
    Running::all_take_over(common).await;
    let mut removed = Vec::new();
    for name in names {
        let left = work_folder_left(common, name)?;
        removed.push((name, left, forget_held(common, name).await?));
    }
    if common.json {
        let servers: Vec<_> = removed
            .iter()
            .map(|(id, left, forgotten)| json!({"id": id, "folder_left": left, "definitions_forgotten": forgotten}))
            .collect();
        let mut told = json!({"file": file, "backup": backup});
        if let ([one], Some(members)) = (servers.as_slice(), told.as_object_mut()) {
            members.extend(one.as_object().cloned().unwrap_or_default());
        }
        told["servers"] = servers.into();
        screen::json(&told);
        return Ok(());
    }
    for (name, _, _) in &removed {
        screen::out(format_args!("removed \"{name}\" from {}", file.display()));
    }
    if let Some(backup) = backup {
        screen::out(format_args!("the file as it was: {}", backup.display()));
    }
    let several = removed.len() > 1;
    for (name, left, forgotten) in &removed {
        let it = if several { format!("\"{name}\"") } else { "it".to_owned() };
        match forgotten {
            0 => {}
            1 => screen::out(format_args!("a definition of {it} that was held back is forgotten")),
            several => screen::out(format_args!("{several} definitions of {it} that were held back are forgotten")),
        }
        if let Some(folder) = left {
            screen::out(format_args!("{it} left files in {}; remove them if nobody needs them", folder.display()));
        }
    }
    Ok(())
}

/// Nobody is asked any more about definitions of a server that is declared nowhere: those that are held back are forgotten. What was
/// accepted is remembered for the day when it comes back.
async fn forget_held(common: &Common, name: &str) -> Result<usize, Failure> {
    let loaded = load(&setup::sources(common)?)?;
    if loaded.config.server(name).is_some() || !storage::exists(&loaded) {
        return Ok(0);
    }
    let desk = OperatorSession::open(common).await?;
    let forgotten = async {
        let pins = desk.office.store().pins().list(Some(name)).await?;
        let mut count = 0;
        for pin in pins.iter().filter(|pin| pin.state == PinState::Quarantined) {
            count += desk.office.forget_definitions(name, Some(&pin.tool)).await?;
        }
        Ok(count)
    };
    let forgotten = forgotten.await;
    desk.close().await;
    forgotten
}

/// Takes the working folder of a server away that is declared nowhere any more, where it is empty. One in which it left files is given
/// back: they may be somebody's work.
fn work_folder_left(common: &Common, name: &str) -> Result<Option<PathBuf>, Failure> {
    let loaded = load(&setup::sources(common)?)?;
    if loaded.config.server(name).is_some() {
        return Ok(None);
    }
    // What is no id has no folder.
    if !name.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_.".contains(letter)) || name.starts_with('.') {
        return Ok(None);
    }
    let folder = specs::work_folder(&loaded.data_dir, name);
    match std::fs::remove_dir(&folder) {
        Err(error) if error.kind() == std::io::ErrorKind::DirectoryNotEmpty => Ok(Some(folder)),
        _ => Ok(None),
    }
}

fn entry(options: Add) -> Result<ServerEntry, Failure> {
    let secrets =
        |pairs: Vec<(String, String)>| pairs.into_iter().map(|(name, value)| (name, Secret::new(value))).collect();
    let mut entry = match options.url {
        Some(url) => ServerEntry::http(options.name, url),
        None => {
            let mut words = options.command.into_iter();
            let program = words.next().ok_or_else(|| Failure::usage("write the command after `--`"))?;
            ServerEntry::stdio(options.name, program, words.collect())
        }
    };
    if options.sse {
        entry.transport = Some(Transport::Sse);
    }
    entry.headers = secrets(options.header);
    entry.env = secrets(options.env);
    entry.pass_env = options.pass_env;
    entry.token = options.token.map(Secret::new);
    entry.cwd = options.cwd;
    Ok(entry)
}

/// Whoever typed the command has seen it.
fn approve(common: &Common, file: &Path, id: &str) -> Result<(), Failure> {
    let sources: Sources = setup::sources(common)?;
    let loaded = load(&sources)?;
    let file = file.canonicalize()?;
    let mut trust = Trust::read(&loaded.data_dir)?;
    for server in loaded.untrusted.iter().filter(|server| server.id() == id && server.file == file) {
        trust.trust(server)?;
    }
    Ok(())
}
