//! `switchboard connect` and `switchboard disconnect`: the entry of Switchboard in a client's own configuration, in the place of
//! the servers that both have.

mod kept;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use switchboard_config::{
    Client, Config, Endpoint, Imported, KnownServer, Platform, Replaced, Server, WITHOUT_ROOTS, default_data_dir,
    has_no_roots_here, user_config_file, write_replacing,
};

use super::import::{self, own_command};
use super::login::has_own_credentials;
use crate::Outcome;
use crate::arguments::{ClientFile, Common, Connect};
use crate::failure::Failure;
use crate::{listing, screen, setup, specs, storage};
use kept::TakenEntries;

pub(crate) async fn run(common: &Common, options: &Connect) -> Outcome {
    if options.replace && common.config.is_some() {
        return Err(Failure::usage("--replace goes by the user's file, which the entry uses; leave --config out"));
    }
    let (client, file) = place(common, &options.file)?;
    let profile = options.profile.as_deref();
    if profile.is_some() {
        setup::profile(&setup::read(common)?, profile)?;
    }
    let users = UserFile::read(common)?;
    let reached = Reached::read(common).await?;
    let before = setup::text_to_change(&file)?;
    let command = own_command();
    let unreadable = |error| unchanged(&file, &error);
    let text = before.as_deref().unwrap_or_default();
    let own: Vec<String> = client
        .other_entries(text, is_this_program)
        .into_iter()
        .filter_map(|(name, served)| (served.as_deref() == profile).then_some(name))
        .collect();
    let rest = client.without(text, own.iter().map(String::as_str)).map_err(unreadable)?;
    let connected = client.connected(&rest, &command, profile).map_err(unreadable)?;
    let environment = setup::sources(common)?.environment;
    let complete = |servers: &mut [Imported]| import::complete(servers, &environment);
    let listen = users.config.settings.listen;
    let replaced = client.replaced(&file, &connected, &users.known(profile, &reached), listen, &complete);
    let replaced = match replaced {
        Ok(replaced) => replaced,
        Err(error) if options.replace => return Err(unchanged(&file, &error)),
        // What cannot be read as servers is nothing that could be taken out.
        Err(_) => Replaced { text: connected.clone(), taken: Vec::new(), served: Vec::new(), staying: Vec::new() },
    };
    let asks = !options.replace && !options.file.dry_run && !common.json && !replaced.taken.is_empty();
    let replaces = options.replace || asks && screen::can_ask() && asked(client, &file, &replaced);
    let after = if replaces { &replaced.text } else { &connected };
    let told = |backup: Option<PathBuf>| {
        let staying: Vec<Value> =
            replaced.staying.iter().map(|(name, why)| json!({"name": name, "reason": why})).collect();
        json!({
            "client": client.as_str(), "file": file, "backup": backup, "replaced": names(&replaced, replaces),
            "replaceable": names(&replaced, !replaces), "staying": staying, "own": own,
        })
    };
    if options.file.dry_run {
        if common.json {
            let mut told = told(None);
            told["text"] = json!(after);
            screen::json(&told);
        } else {
            screen::out(after.trim_end());
            tell_staying(&replaced, replaces);
        }
        return Ok(());
    }
    let taken = if replaces { replaced.taken.as_slice() } else { &[] };
    if !taken.is_empty() {
        // First kept, then taken out: what is in both is put back by nobody.
        TakenEntries::read(&users.data_dir, client)?.add(taken)?;
    }
    let backup = if before.as_ref() == Some(after) {
        None
    } else {
        write_replacing(&file, before.as_deref(), after, before.is_some().then(setup::stamp).as_deref())?
    };
    if common.json {
        screen::json(&told(backup));
        return Ok(());
    }
    let within = profile.map(|name| format!(" --profile {name}")).unwrap_or_default();
    screen::out(format_args!("{client} runs `{command} stdio{within}` now: {}", file.display()));
    if let Some(backup) = backup {
        screen::out(format_args!("the file as it was: {}", backup.display()));
    }
    if !own.is_empty() {
        let named = screen::plain_line(&own.join(", "));
        screen::out(format_args!("took {} out of it that did the same: {named}", entries(own.len())));
    }
    tell(common, client, profile, &replaced, replaces);
    if profile.is_none() {
        listing::bounds(&specs::tool_context(&users.config.settings.tools), client).iter().for_each(screen::out);
        // Of what other clients brought, this one has lost nothing.
        let servers = replaced.served.iter().filter_map(|id| users.config.server(id));
        let rooted: Vec<&str> = servers.filter(|server| has_no_roots_here(&server.entry)).map(Server::id).collect();
        if !rooted.is_empty() {
            let rooted = screen::plain_line(&rooted.join(", "));
            screen::note(format_args!("{rooted}: {WITHOUT_ROOTS} (docs/eras.md, Roots)"));
        }
    }
    screen::out(format_args!("Start {client} again."));
    Ok(())
}

/// What became of the servers that the client has itself.
fn tell(common: &Common, client: Client, profile: Option<&str>, replaced: &Replaced, replaces: bool) {
    let taken = screen::plain_line(&names(replaced, true).join(", "));
    match (replaced.taken.len(), replaces) {
        (0, _) => {}
        (count, true) => screen::out(format_args!(
            "took {} out of its file that Switchboard serves: {taken}; undo with `{}`",
            servers(count),
            common.again(&format!("disconnect {}", client.as_str()))
        )),
        (count, false) => {
            let within = profile.map(|name| format!(" --profile {name}")).unwrap_or_default();
            screen::out(format_args!(
                "{} of its file would run twice, once past the gate: {taken}; take them out with `{}`",
                servers(count),
                common.again(&format!("connect {}{within} --replace", client.as_str()))
            ));
        }
    }
    tell_staying(replaced, true);
    if replaced.staying.iter().any(|(_, why)| why.starts_with("Switchboard does not have it")) {
        screen::out(format_args!("`{}` takes over what Switchboard does not have.", common.again("import")));
    }
}

fn tell_staying(replaced: &Replaced, tells: bool) {
    for (name, why) in replaced.staying.iter().filter(|_| tells) {
        screen::note(format_args!("{} stays in its file: {}", screen::plain_line(name), screen::plain_line(why)));
    }
}

fn asked(client: Client, file: &Path, replaced: &Replaced) -> bool {
    screen::out(format_args!(
        "{} of {client} would run twice, once past the gate: {}",
        servers(replaced.taken.len()),
        screen::plain_line(&names(replaced, true).join(", "))
    ));
    screen::confirmed(&format!("Take them out of {}? `disconnect` puts them back.", file.display()))
}

fn entries(count: usize) -> String {
    if count == 1 { "an entry".to_owned() } else { format!("{count} entries") }
}

/// Whether a command starts the program that runs here, under whatever name.
fn is_this_program(command: &str) -> bool {
    let own = std::env::current_exe().and_then(std::fs::canonicalize);
    own.is_ok_and(|own| std::fs::canonicalize(command).is_ok_and(|path| path == own))
}

fn servers(count: usize) -> String {
    format!("{count} server{}", if count == 1 { "" } else { "s" })
}

fn names(replaced: &Replaced, wanted: bool) -> Vec<&str> {
    replaced.taken.iter().filter(|_| wanted).map(|taken| taken.name.as_str()).collect()
}

/// What was done to a client's file, or would be.
pub(crate) struct Undone {
    pub(crate) file: PathBuf,
    pub(crate) backup: Option<PathBuf>,
    /// Entries that were put back, and those that were not because the file has others of their names.
    pub(crate) back: Vec<String>,
    pub(crate) left: Vec<String>,
    text: String,
}

impl Undone {
    /// Says it.
    pub(crate) fn tell(&self) {
        screen::out(format_args!("took Switchboard out of {}", self.file.display()));
        if let Some(backup) = &self.backup {
            screen::out(format_args!("the file as it was: {}", backup.display()));
        }
        if !self.back.is_empty() {
            let named = screen::plain_line(&self.back.join(", "));
            screen::out(format_args!("put back {}: {named}", servers(self.back.len())));
        }
        for name in &self.left {
            screen::note(format_args!("{} was not put back: the file has one of that name", screen::plain_line(name)));
        }
    }
}

/// Takes Switchboard out of a client's file; `None` where it is not in there.
///
/// # Errors
/// The file cannot be read or written.
pub(crate) fn take_out(common: &Common, client: Client, file: &Path, dry_run: bool) -> Result<Option<Undone>, Failure> {
    let kept = TakenEntries::read(&UserFile::read(common)?.data_dir, client)?;
    let before = setup::text_to_change(file)?;
    let failed = |error| unchanged(file, &error);
    let text = before.as_deref().unwrap_or_default();
    let without = client.disconnected(text).map_err(failed)?;
    let own = client.other_entries(text, is_this_program);
    if without.is_none() && own.is_empty() && kept.entries.is_empty() {
        return Ok(None);
    }
    let without = without.as_deref().unwrap_or(text);
    let without = client.without(without, own.iter().map(|(name, _)| name.as_str())).map_err(failed)?;
    let (after, left) = client.restored(&without, &kept.entries).map_err(failed)?;
    let stays = |name: &&str| !left.iter().any(|left| left == name);
    let back = kept.entries.iter().map(|entry| entry.name.as_str()).filter(stays).map(str::to_owned).collect();
    let mut undone = Undone { file: file.to_owned(), backup: None, back, left, text: after };
    if !dry_run {
        let stamp = before.is_some().then(setup::stamp);
        undone.backup = write_replacing(file, before.as_deref(), &undone.text, stamp.as_deref())?;
        kept.forget();
    }
    Ok(Some(undone))
}

pub(crate) fn undo(common: &Common, options: &ClientFile) -> Outcome {
    let (client, file) = place(common, options)?;
    let Some(undone) = take_out(common, client, &file, options.dry_run)? else {
        return Err(Failure::failed(format!("{} has no entry of Switchboard", file.display())));
    };
    let Undone { file, backup, back, left, text } = &undone;
    let client = client.as_str();
    match (options.dry_run, common.json) {
        (true, true) => screen::json(&json!({"client": client, "file": file, "text": text, "left": left})),
        (true, false) => screen::out(text.trim_end()),
        (false, true) => screen::json(&json!({
            "client": client, "file": file, "backup": backup, "restored": back, "left": left,
        })),
        (false, false) => undone.tell(),
    }
    Ok(())
}

/// The configuration that a client is served, wherever it is started: the user's, without any project's.
struct UserFile {
    config: Config,
    data_dir: PathBuf,
}

impl UserFile {
    fn read(common: &Common) -> Result<Self, Failure> {
        let environment = setup::sources(common)?.environment;
        let file = user_config_file(&environment);
        let text = file.as_deref().map(setup::text_to_change).transpose()?.flatten();
        let config = match (file, text) {
            (Some(file), Some(text)) => Config::parse(&file, &text, &environment)?,
            _ => Config::default(),
        };
        let data_dir = config.settings.data_dir.clone();
        let data_dir = data_dir.or_else(|| default_data_dir(&environment, Platform::current()));
        let none = || Failure::usage("there is no home folder to keep what is taken out of the client's file");
        Ok(Self { config, data_dir: data_dir.ok_or_else(none)? })
    }

    /// Its servers, and why one of them would not be served.
    fn known(&self, profile: Option<&str>, reached: &Reached) -> Vec<KnownServer<'_>> {
        let profile = profile.and_then(|name| Some((name, self.config.settings.profiles.get(name)?)));
        let why = |server: &Server| {
            if !server.enabled() {
                return Some("it is switched off in Switchboard".to_owned());
            }
            if let Some(problem) = server.problem() {
                return Some(format!("Switchboard cannot start it: {}", problem.kind()));
            }
            if self.config.settings.gate.pin_definitions && !reached.may_reach(server) {
                let id = server.id();
                return Some(format!(
                    "Switchboard has not reached it so far: log in with `switchboard login {id}` if it wants that, and see with \
                     `switchboard servers` whether it is ready"
                ));
            }
            if self.config.settings.gate.pin_definitions && !reached.may_start(server, &self.config) {
                return Some(
                    "it was not ready so far, where others that Switchboard has were; `switchboard doctor` starts it and says why"
                        .to_owned(),
                );
            }
            let (name, profile) = profile?;
            (!profile.has_server(server.id())).then(|| format!("the profile \"{name}\" does not have it whole"))
        };
        self.config.servers.iter().map(|server| (&server.entry, why(server))).collect()
    }
}

/// The servers that were ready here before, and those that somebody has logged in at.
struct Reached(Vec<String>);

impl Reached {
    async fn read(common: &Common) -> Result<Self, Failure> {
        let loaded = switchboard_config::load(&setup::sources(common)?)?;
        if !storage::exists(&loaded) {
            return Ok(Self(Vec::new()));
        }
        let store = storage::open_store(&loaded).await?;
        let (pins, credentials) = (store.pins().list(None).await?, store.credentials().list().await?);
        let _ = store.close().await;
        let ids = pins.into_iter().map(|pin| pin.server).chain(credentials.into_iter().map(|one| one.server));
        Ok(Self(ids.collect()))
    }

    /// Whether nothing speaks against it. What is far away may want a login that nobody has made here, while its client has one.
    fn may_reach(&self, server: &Server) -> bool {
        let is_far = matches!(server.endpoint(), Ok(Endpoint::Http(http)) if !has_own_credentials(http));
        !is_far || self.has(server)
    }

    /// Whether it was ready before, or nothing tells that it was ever started: not even another one was ready.
    fn may_start(&self, server: &Server, config: &Config) -> bool {
        self.has(server) || !config.servers.iter().any(|server| self.has(server))
    }

    fn has(&self, server: &Server) -> bool {
        self.0.iter().any(|id| id == server.id())
    }
}

fn place(common: &Common, options: &ClientFile) -> Result<(Client, PathBuf), Failure> {
    let client: Client = options.client.parse().map_err(Failure::usage)?;
    let sources = setup::sources(common)?;
    let files = client.files(&sources.environment, Platform::current());
    let file = files.iter().find(|file| file.is_file()).or_else(|| files.first()).cloned();
    let file = file.ok_or_else(|| Failure::usage("there is no home folder in which the client could have its file"))?;
    Ok((client, file))
}

fn unchanged(file: &Path, error: &dyn std::fmt::Display) -> Failure {
    Failure::failed(format!("{}: {error}; it was left as it is", file.display()))
}
