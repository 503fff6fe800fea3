//! `switchboard import`: the servers of other clients, shown before anything is written.

use std::path::{Path, PathBuf};

use serde_json::json;
use switchboard_config::{
    Candidate, Client, Environment, Imported, Plan, Platform, ServerEntry, candidates, claude_settings, client_entry,
    disclosed, plan, read_client_file, read_user_file, switch_denied_off, take_env_files, write_replacing,
};
use switchboard_transport::child;

use crate::Outcome;
use crate::arguments::{Common, Import};
use crate::control::Running;
use crate::failure::Failure;
use crate::waiting::Waiting;
use crate::{listing, screen, setup};

/// Bytes of a client's file at most: some clients keep their history in the same file.
const MAX_CLIENT_FILE_BYTES: u64 = 64 << 20;
/// Bytes of a file of variables at most.
const MAX_ENV_FILE_BYTES: u64 = 1 << 20;

pub(crate) async fn run(common: &Common, options: &Import) -> Outcome {
    let mut found = {
        let _waiting = Waiting::begin("reading the files of clients");
        find(common, options)?
    };
    complete(&mut found.servers, &setup::sources(common)?.environment);
    found.servers.iter_mut().for_each(known_as_ourselves);
    for warning in &found.warnings {
        screen::note(format_args!("warning: {}", screen::plain(warning)));
    }
    let file = setup::file_to_change(common, false)?;
    let before = setup::text_to_change(&file)?;
    let plan = plan(&file, before.as_deref().unwrap_or_else(|| setup::beginning(false)), &found.servers)?;
    let additions = plan.additions().count();
    let projects: Vec<&Path> = found.project_files.iter().map(PathBuf::as_path).collect();
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
        report(common, &plan, &file, &projects, (None, false));
        if !options.dry_run && !common.json {
            lead_on(common, &plan, &projects);
        }
        if additions == 0 && found.files.is_empty() {
            if found.unreadable {
                return Err(Failure::said());
            }
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
    Running::all_take_over(common).await;
    report(common, &plan, &file, &projects, (backup.as_deref(), true));
    Ok(())
}

fn report(
    common: &Common,
    plan: &Plan,
    file: &Path,
    project_files: &[&Path],
    (backup, written): (Option<&Path>, bool),
) {
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
                    "target": item.action.as_ref().ok().map(ServerEntry::shown_line),
                    "approves": item.action.as_ref().ok().map(disclosed),
                    "notes": item.notes,
                })
            })
            .collect();
        let client = plan.items.first().map_or(Client::ClaudeCode, |item| item.client);
        screen::json(
            &json!({"file": file, "written": written, "backup": backup, "servers": items, "entry": client_entry(client, &own_command())}),
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
    lead_on(common, plan, project_files);
}

/// What comes next: Switchboard in the place of the servers that the clients have themselves.
fn lead_on(common: &Common, plan: &Plan, project_files: &[&Path]) {
    let mut clients: Vec<Client> = Vec::new();
    for item in &plan.items {
        if !clients.contains(&item.client) {
            clients.push(item.client);
        }
    }
    for client in &clients {
        let client = *client;
        let items = plan.items.iter().filter(|item| item.client == client);
        let (ways, others): (Vec<_>, Vec<_>) = items.partition(|item| item.is_switchboard());
        let files: Vec<&Path> = others.iter().map(|item| item.file.as_path()).collect();
        let connect = format!("connect {}", client.as_str());
        if let Some(way) = ways.iter().find(|way| !project_files.contains(&way.file.as_path())) {
            let has_others = files.contains(&way.file.as_path());
            screen::out(format_args!("\n{client} is connected to Switchboard already, in {}", way.file.display()));
            if has_others {
                screen::out(format_args!(
                    "What it has beside that can go: `{}`",
                    common.again(&format!("{connect} --replace"))
                ));
            }
            continue;
        }
        match files.iter().find(|file| !project_files.contains(file)) {
            Some(file) => screen::out(format_args!(
                "\n{client} still has its servers in {}. Put Switchboard in their place with\n  {}\nor by hand with this entry:\n{}",
                file.display(),
                common.again(&format!("{connect} --replace")),
                client_entry(client, &own_command()).trim_end()
            )),
            None => screen::out(format_args!(
                "\n{} stays as it is; `{}` puts Switchboard into the user's file of {client}",
                files.first().map(|file| file.display().to_string()).unwrap_or_default(),
                common.again(&connect)
            )),
        }
    }
    if !clients.is_empty() {
        screen::out(format_args!("\n{} `{}` says it for each client.", listing::IN_SHORT, common.again("servers")));
    }
}

/// This very program is Switchboard, whatever it is called here.
fn known_as_ourselves(server: &mut Imported) {
    let Some(command) = &server.entry.command else { return };
    let own = std::env::current_exe().ok().and_then(|path| path.canonicalize().ok());
    let meant = if command.contains(std::path::MAIN_SEPARATOR) {
        Some(PathBuf::from(command))
    } else {
        child::place_of(command)
    };
    if own.is_some() && meant.and_then(|path| path.canonicalize().ok()) == own {
        server.entry.command = Some("switchboard".to_owned());
    }
}

/// The path of this program, as a client should call it.
pub(crate) fn own_command() -> String {
    std::env::current_exe().map_or_else(|_| "switchboard".to_owned(), |path| path.display().to_string())
}

#[derive(Default)]
struct ImportSources {
    servers: Vec<Imported>,
    files: Vec<PathBuf>,
    /// Those of them that belong to a project.
    project_files: Vec<PathBuf>,
    left_out: Vec<PathBuf>,
    /// Whether there was one that could not be read.
    unreadable: bool,
    warnings: Vec<String>,
}

fn find(common: &Common, options: &Import) -> Result<ImportSources, Failure> {
    let sources = setup::sources(common)?;
    let mut list = candidates(&sources.environment, Some(&sources.folder), Platform::current());
    let mut found = ImportSources::default();
    if let Some(from) = &options.from {
        match from.parse::<Client>() {
            Ok(client) => list.retain(|candidate| candidate.client == client),
            Err(_) => {
                let path = sources.folder.join(from);
                let text = read(&path).map_err(|error| {
                    Failure::usage(format!("{}: {error}; --from takes {} or a file", path.display(), words()))
                })?;
                // A file in its usual place is what it is there; elsewhere the name tells.
                let usual = list.iter().find(|candidate| candidate.path == path).cloned();
                let is_user = usual.as_ref().is_some_and(|candidate| !candidate.project);
                let client = usual.map_or_else(|| guess(&path, &text), |candidate| candidate.client);
                take(&mut found, &Candidate { client, path, project: !is_user }, &text)?;
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
                    found.unreadable = true;
                    found.warnings.extend(error.message().map(str::to_owned));
                }
            }
            Err(error) => {
                found.unreadable = true;
                found.warnings.push(format!("{}: {error}", candidate.path.display()));
            }
        }
    }
    if let Some(settings) = claude_settings(&sources.environment).filter(|path| path.is_file())
        && found.servers.iter().any(|server| server.client == Client::ClaudeCode)
    {
        let denied = read(&settings).and_then(|text| {
            switch_denied_off(&settings, &text, &mut found.servers).map_err(|error| error.to_string())
        });
        match denied {
            Ok(()) => found.files.push(settings),
            Err(error) => {
                let text = format!("{}: {error}; what Claude Code denies is not switched off", settings.display());
                found.warnings.push(text);
            }
        }
    }
    Ok(found)
}

fn take(found: &mut ImportSources, candidate: &Candidate, text: &str) -> Result<(), Failure> {
    let read = if candidate.project { read_client_file } else { read_user_file };
    let read = read(candidate.client, &candidate.path, text).map_err(Failure::usage)?;
    found.files.push(candidate.path.clone());
    found.project_files.extend(candidate.project.then(|| candidate.path.clone()));
    found.servers.extend(read.servers);
    found.warnings.extend(read.warnings);
    Ok(())
}

/// Takes over what entries have in files of variables beside them.
pub(crate) fn complete(servers: &mut [Imported], environment: &Environment) {
    take_env_files(servers, environment, &|path| read_within(path, MAX_ENV_FILE_BYTES));
}

fn read(path: &Path) -> Result<String, String> {
    read_within(path, MAX_CLIENT_FILE_BYTES)
}

fn read_within(path: &Path, most: u64) -> Result<String, String> {
    let metadata = std::fs::metadata(path).map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        return Err("not a regular file".to_owned());
    }
    if metadata.len() > most {
        return Err(format!("larger than {most} bytes"));
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
        "mcp_config.json" => Client::Windsurf,
        "opencode.json" | "opencode.jsonc" => Client::OpenCode,
        "settings.json" if folder == ".gemini" => Client::Gemini,
        "settings.json" if folder == "zed" => Client::Zed,
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
            ("/x/.gemini/settings.json", "{}", Client::Gemini),
            ("/x/zed/settings.json", "{}", Client::Zed),
            ("/x/opencode.json", "{}", Client::OpenCode),
            ("/x/servers.json", r#"{"mcpServers": {}}"#, Client::ClaudeDesktop),
            ("/x/servers.json", r#"{"servers": {}}"#, Client::VsCode),
        ] {
            assert_eq!(guess(Path::new(path), text), client, "{path}");
        }
    }
}
