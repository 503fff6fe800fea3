//! `switchboard import`: the servers of other clients, shown before anything is written.

use std::path::{Path, PathBuf};

use serde_json::json;
use switchboard_config::{
    Candidate, Client, Imported, Plan, Platform, ServerEntry, candidates, client_entry, disclosed, plan,
    read_client_file, write_replacing,
};

use crate::Outcome;
use crate::arguments::{Common, Import};
use crate::failure::Failure;
use crate::{screen, setup};

/// Bytes of a client's file at most: some clients keep their history in the same file.
const LONGEST: u64 = 64 << 20;

pub(crate) fn run(common: &Common, options: &Import) -> Outcome {
    let found = find(common, options)?;
    for warning in &found.warnings {
        screen::note(format_args!("warning: {}", screen::plain(warning)));
    }
    let file = setup::file_to_change(common, false)?;
    let before = setup::text_to_change(&file)?;
    let plan = plan(&file, before.as_deref().unwrap_or_default(), &found.servers)?;
    let additions = plan.additions().count();
    if !common.json {
        for path in &found.files {
            screen::out(format_args!("read {}", path.display()));
        }
        screen::out(screen::plain(plan.to_string().trim_end()));
        for path in &found.left_out {
            screen::out(format_args!("not read: {} (it belongs to the project here; use --project)", path.display()));
        }
    }
    if options.dry_run || additions == 0 {
        report(common, &plan, &file, None, false);
        if additions == 0 && found.files.is_empty() {
            screen::note("no client's file was found; name one with --from FILE");
        }
        return Ok(());
    }
    if !options.yes {
        if !screen::can_ask() {
            return Err(Failure::usage("nothing was changed: there is no terminal to ask on; say --yes or --dry-run"));
        }
        if !screen::confirmed(&format!("Add to {}?", file.display())) {
            return Err(Failure::failed("nothing was changed"));
        }
    }
    let backup = write_replacing(&file, before.as_deref(), plan.apply(), Some(&setup::stamp()))?;
    report(common, &plan, &file, backup.as_deref(), true);
    Ok(())
}

fn report(common: &Common, plan: &Plan, file: &Path, backup: Option<&Path>, written: bool) {
    let command = own_command();
    let mut clients: Vec<Client> = Vec::new();
    for item in &plan.items {
        if !clients.contains(&item.client) {
            clients.push(item.client);
        }
    }
    if clients.is_empty() {
        clients.push(Client::ClaudeCode);
    }
    let entries: Vec<_> = clients.iter().map(|client| (*client, client_entry(*client, &command))).collect();
    if common.json {
        let items: Vec<_> = plan
            .items
            .iter()
            .map(|item| {
                json!({
                    "name": item.name,
                    "client": item.client.as_str(),
                    "file": item.file,
                    "added": item.action.as_ref().ok().map(|entry| &entry.id),
                    "reason": item.action.as_ref().err(),
                    "target": item.action.as_ref().ok().map(ServerEntry::masked_line),
                    "approves": item.action.as_ref().ok().map(disclosed),
                    "notes": item.notes,
                })
            })
            .collect();
        screen::json(
            &json!({"file": file, "written": written, "backup": backup, "servers": items, "entry": entries[0].1.text}),
        );
        return;
    }
    if !written {
        return;
    }
    screen::out(format_args!("wrote {}", file.display()));
    if let Some(backup) = backup {
        screen::out(format_args!("the file as it was: {}", backup.display()));
    }
    for (client, entry) in &entries {
        screen::out(format_args!(
            "\nPut this in place of the servers in {} ({client}); `switchboard connect {}` adds it to the user's file:\n{}",
            entry.file,
            client.as_str(),
            entry.text.trim_end()
        ));
    }
}

/// The path of this program, as a client should call it.
pub(crate) fn own_command() -> String {
    std::env::current_exe().map_or_else(|_| "switchboard".to_owned(), |path| path.display().to_string())
}

#[derive(Default)]
struct Found {
    servers: Vec<Imported>,
    files: Vec<PathBuf>,
    left_out: Vec<PathBuf>,
    warnings: Vec<String>,
}

fn find(common: &Common, options: &Import) -> Result<Found, Failure> {
    let sources = setup::sources(common)?;
    let mut list = candidates(&sources.environment, Some(&sources.folder), Platform::current());
    let mut found = Found::default();
    if let Some(from) = &options.from {
        match from.parse::<Client>() {
            Ok(client) => list.retain(|candidate| candidate.client == client),
            Err(_) => {
                let path = sources.folder.join(from);
                let text = read(&path).map_err(|error| {
                    Failure::usage(format!("{}: {error}; --from takes {} or a file", path.display(), words()))
                })?;
                let client = guess(&path, &text);
                take(&mut found, &Candidate { client, path, project: false }, &text)?;
                return Ok(found);
            }
        }
    }
    for candidate in &list {
        if !candidate.path.is_file() {
            continue;
        }
        if candidate.project && !options.project {
            found.left_out.push(candidate.path.clone());
            continue;
        }
        match read(&candidate.path) {
            // One client's broken file must not keep the servers of the others away.
            Ok(text) => {
                if let Err(error) = take(&mut found, candidate, &text) {
                    found.warnings.extend(error.message().map(str::to_owned));
                }
            }
            Err(error) => found.warnings.push(format!("{}: {error}", candidate.path.display())),
        }
    }
    Ok(found)
}

fn take(found: &mut Found, candidate: &Candidate, text: &str) -> Result<(), Failure> {
    let read = read_client_file(candidate.client, &candidate.path, text).map_err(Failure::usage)?;
    found.files.push(candidate.path.clone());
    found.servers.extend(read.servers);
    found.warnings.extend(read.warnings);
    Ok(())
}

fn read(path: &Path) -> Result<String, String> {
    let metadata = std::fs::metadata(path).map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        return Err("not a regular file".to_owned());
    }
    if metadata.len() > LONGEST {
        return Err(format!("larger than {LONGEST} bytes"));
    }
    std::fs::read_to_string(path).map_err(|error| error.to_string())
}

fn words() -> String {
    Client::ALL.map(Client::as_str).join(", ")
}

/// Whose file this is, by its name and what is in it.
fn guess(path: &Path, text: &str) -> Client {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let folder = path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    match name.as_str() {
        "claude_desktop_config.json" => Client::ClaudeDesktop,
        ".mcp.json" | ".claude.json" => Client::ClaudeCode,
        "settings.json" => Client::VsCode,
        name if name.ends_with(".toml") => Client::Codex,
        "mcp.json" if folder == ".vscode" => Client::VsCode,
        "mcp.json" if folder == ".cursor" => Client::Cursor,
        _ if text.contains("\"mcpServers\"") => Client::ClaudeDesktop,
        _ => Client::VsCode,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_apart() {
        for (path, text, client) in [
            ("/x/claude_desktop_config.json", "{}", Client::ClaudeDesktop),
            ("/x/.mcp.json", "{}", Client::ClaudeCode),
            ("/x/.vscode/mcp.json", "{}", Client::VsCode),
            ("/x/.cursor/mcp.json", "{}", Client::Cursor),
            ("/x/config.toml", "", Client::Codex),
            ("/x/servers.json", r#"{"mcpServers": {}}"#, Client::ClaudeDesktop),
            ("/x/servers.json", r#"{"servers": {}}"#, Client::VsCode),
        ] {
            assert_eq!(guess(Path::new(path), text), client, "{path}");
        }
    }
}
