//! `switchboard registry`: servers that others published, found, shown, and added to the configuration. Nothing of them is
//! started here, and nothing is written before a person has seen the exact command.

use std::path::Path;

use serde_json::{Value, json};
use switchboard_catalog::{Catalog, Search, Tool};
use switchboard_config::{EditError, ServerEntry, TrustLevel, add_server, load, write_replacing};
use switchboard_protocol::mgp::method;

use crate::Outcome;
use crate::arguments::{Common, RegistryAdd, RegistryCommand, RegistrySearch, RegistryServer};
use crate::control::Running;
use crate::failure::Failure;
use crate::local::raw;
use crate::registry::document::Document;
use crate::registry::entry::{Choice, Drafted, draft, kinds};
use crate::registry::reader::{ReadError, Reader, read_file};
use crate::registry::source::described;
use crate::{screen, server_builder, setup};

/// Characters of a description in a list.
const BRIEF: usize = 100;

pub(crate) async fn run(common: &Common, command: RegistryCommand) -> Outcome {
    match command {
        RegistryCommand::Search(options) => search(common, &options).await,
        RegistryCommand::Show(options) => show(common, &options).await,
        RegistryCommand::Add(options) => add(common, options).await,
        RegistryCommand::Registered => registered(common).await,
        RegistryCommand::Deregister { server } => deregister(common, &server).await,
    }
}

async fn search(common: &Common, options: &RegistrySearch) -> Outcome {
    let query = options.query.join(" ");
    let mut results = Vec::new();
    for reader in readers(common, options.registry.as_deref(), options.token.as_deref())? {
        let listed = reader.list().await?;
        if listed.cut {
            screen::note(format_args!(
                "warning: {} has more servers than the {} that were searched",
                reader.address(),
                listed.servers.len()
            ));
        }
        results.extend(found(&reader, &listed.servers, &query, options.top));
    }
    results.sort_by(|one, other| other.0.total_cmp(&one.0));
    results.truncate(options.top);
    if common.json {
        screen::json(&json!({"servers": results.into_iter().map(|(_, told)| told).collect::<Vec<_>>()}));
        return Ok(());
    }
    for (relevance, told) in &results {
        let text = |key: &str| screen::brief(told[key].as_str().unwrap_or_default(), BRIEF);
        screen::out(format_args!(
            "{:.2}  {}  {}\n      {}",
            relevance,
            text("name"),
            text("version"),
            text("description")
        ));
    }
    if results.is_empty() {
        screen::out("nothing fits");
    } else {
        screen::out(format_args!("add one with `{}`", common.again("registry add NAME")));
    }
    Ok(())
}

fn found(reader: &Reader, servers: &[Document], query: &str, top: usize) -> Vec<(f32, Value)> {
    let tool = |(number, server): (usize, &Document)| Tool {
        id: number.to_string(),
        server: server.name.clone(),
        name: server.name.rsplit('/').next().unwrap_or_default().to_owned(),
        description: described(server),
        ..Tool::default()
    };
    let mut catalog = Catalog::default();
    catalog.extend(servers.iter().enumerate().map(tool).collect());
    let hits = catalog.search(&Search::new(query).top(top), |_| true).hits;
    let told = |hit: &switchboard_catalog::Hit| {
        let server = servers.get(hit.id.parse::<usize>().ok()?)?;
        let told = json!({
            "name": server.name,
            "version": server.version,
            "description": described(server),
            "relevance": (f64::from(hit.relevance) * 100.0).round() / 100.0,
            "registry": reader.address(),
            "from": kinds(server),
        });
        Some((hit.relevance, told))
    };
    hits.iter().filter_map(told).collect()
}

async fn show(common: &Common, options: &RegistryServer) -> Outcome {
    let document = one(common, options).await?;
    let choice = choice(options, None, None);
    let drafted = draft(&document, &choice);
    if common.json {
        let line = drafted.as_ref().ok().map(|drafted| drafted.entry.exact_line());
        let problem = drafted.as_ref().err();
        screen::json(&json!({
            "name": document.name, "version": document.version, "description": document.description,
            "from": kinds(&document), "command": line, "problem": problem,
            "repository": document.repository.as_ref().map(|repository| &repository.url),
        }));
        return Ok(());
    }
    describe(&document);
    match drafted {
        Ok(drafted) => tell(&drafted),
        Err(why) => screen::out(format_args!("it cannot be added as it stands: {}", screen::plain(&why))),
    }
    Ok(())
}

async fn add(common: &Common, options: RegistryAdd) -> Outcome {
    let trust = options.trust.as_deref().map(|word| {
        let words = TrustLevel::WORDS.join(", ");
        TrustLevel::from_word(word).ok_or_else(|| Failure::usage(format!("--trust is one of {words}")))
    });
    let document = one(common, &options.server).await?;
    let choice = choice(&options.server, options.id, trust.transpose()?);
    let drafted = draft(&document, &choice).map_err(|why| Failure::usage(screen::plain(&why)))?;
    let entry = &drafted.entry;
    let file = setup::file_to_change(common, false)?;
    let before = setup::text_to_change(&file)?;
    let after = add_server(&file, before.as_deref().unwrap_or_default(), entry).map_err(|error| match error {
        EditError::Taken(reason) => {
            Failure::usage(format!("{}: {reason}; choose another name with --as", file.display()))
        }
        other => other.into(),
    })?;
    if !common.json {
        describe(&document);
        tell(&drafted);
    }
    if options.dry_run {
        report(common, &document, &drafted, &file, false);
        return Ok(());
    }
    if !options.yes {
        if !screen::can_ask() {
            return Err(Failure::usage("nothing was changed: there is no terminal to ask on; say --yes or --dry-run"));
        }
        if !screen::confirmed(&format!("Add it as \"{}\" to {}?", entry.id, file.display())) {
            return Err(Failure::failed("nothing was changed"));
        }
    }
    write_replacing(&file, before.as_deref(), &after, None)?;
    Running::all_take_over(common).await;
    report(common, &document, &drafted, &file, true);
    Ok(())
}

/// What kernels that run say of the servers that are not in their configuration, and what is kept.
async fn registered(common: &Common) -> Outcome {
    let loaded = setup::read(common)?;
    let mut rows = Vec::new();
    for kernel in Running::all(&loaded.data_dir).await {
        let all = raw(&json!({"filter": {"status": "all"}}));
        let Ok(answer) = kernel.ask(method::DISCOVERY_LIST, all).await? else { continue };
        let answer: Value = answer.view().unwrap_or_default();
        let servers = answer["servers"].as_array().cloned().unwrap_or_default();
        for server in servers.into_iter().filter(|server| server["origin"] != "configured") {
            rows.push(json!({
                "id": server["id"], "origin": server["origin"], "status": server["status"],
                "trust_level": server["trust_level"], "tools": server["tools"], "process": kernel.process,
            }));
        }
    }
    for kept in server_builder::kept(&loaded.data_dir) {
        if rows.iter().all(|row| row["id"] != kept.id) {
            rows.push(json!({"id": kept.id, "origin": "registered", "status": "kept", "trust_level": kept.trust}));
        }
    }
    if common.json {
        screen::json(&json!({"servers": rows}));
        return Ok(());
    }
    for row in &rows {
        let text = |key: &str| screen::brief(row[key].as_str().unwrap_or_default(), BRIEF);
        screen::out(format_args!("{}  {}  {}  {}", text("id"), text("origin"), text("status"), text("trust_level")));
    }
    if rows.is_empty() {
        screen::out("nothing is registered");
    }
    Ok(())
}

async fn deregister(common: &Common, id: &str) -> Outcome {
    let loaded = setup::read(common)?;
    let kept = server_builder::forget(&loaded.config.settings, &loaded.data_dir, id);
    let (mut ended, mut refusal) = (0, None);
    for kernel in Running::all(&loaded.data_dir).await {
        let params = raw(&json!({"id": id, "reason": "operator_request"}));
        match kernel.ask(method::DISCOVERY_DEREGISTER, params).await? {
            Ok(_) => ended += 1,
            Err(error) => refusal = Some(error),
        }
    }
    if ended == 0 && !kept {
        let why = refusal.map_or_else(
            || format!("there is no registered server \"{}\"", screen::plain_line(id)),
            |error| screen::plain(&error.message),
        );
        return Err(Failure::failed(why));
    }
    if common.json {
        screen::json(&json!({"id": id, "ended": ended, "forgotten": kept}));
    } else {
        screen::out(format_args!("\"{}\" is gone", screen::plain_line(id)));
    }
    Ok(())
}

fn report(common: &Common, document: &Document, drafted: &Drafted, file: &Path, written: bool) {
    let entry = &drafted.entry;
    if common.json {
        screen::json(&json!({
            "id": entry.id, "name": document.name, "version": document.version, "file": file, "written": written,
            "command": entry.exact_line(), "env": entry.env.keys().collect::<Vec<_>>(), "notes": drafted.notes,
        }));
    } else if written {
        screen::out(format_args!("added \"{}\" to {}", entry.id, file.display()));
        screen::out(format_args!("check it with `{}`", common.again("doctor")));
    }
}

fn describe(document: &Document) {
    let line = |text: &str| screen::plain_line(text);
    screen::out(format_args!("{} {}", line(&document.name), line(&document.version)));
    screen::out(format_args!("  {}", line(&described(document))));
    if let Some(repository) = document.repository.as_ref().filter(|repository| !repository.url.is_empty()) {
        screen::out(format_args!("  source: {}", line(&repository.url)));
    }
}

/// What would be run or reached, exactly.
fn tell(drafted: &Drafted) {
    let entry: &ServerEntry = &drafted.entry;
    let word = if entry.url.is_some() { "reaches" } else { "runs" };
    screen::out(format_args!("{word}: {}", entry.exact_line()));
    for (name, value) in entry.env.iter().chain(&entry.headers) {
        screen::out(format_args!("  with {}={}", screen::plain_line(name), screen::plain_line(value.reveal())));
    }
    for note in &drafted.notes {
        screen::out(format_args!("note: {}", screen::plain_line(note)));
    }
}

fn choice(options: &RegistryServer, id: Option<String>, trust: Option<TrustLevel>) -> Choice {
    Choice { id, from: options.from.clone(), values: options.set.iter().cloned().collect(), trust }
}

/// The server that is meant: of a file, or of the first registry that has it.
async fn one(common: &Common, options: &RegistryServer) -> Result<Document, Failure> {
    let path = Path::new(&options.server);
    if options.registry.is_none() && (options.server.ends_with(".json") || path.is_file()) {
        return Ok(read_file(path)?);
    }
    let mut last = None;
    for reader in readers(common, options.registry.as_deref(), options.token.as_deref())? {
        match reader.server(&options.server, options.version.as_deref()).await {
            Ok(document) => return Ok(document),
            Err(error) => last = Some(error),
        }
    }
    Err(last.map_or_else(|| Failure::failed("there is no registry to read"), Failure::from))
}

/// The registry that was named, or those of the configuration.
fn readers(common: &Common, named: Option<&str>, token: Option<&str>) -> Result<Vec<Reader>, Failure> {
    if let Some(address) = named {
        return Ok(vec![Reader::new(address)?.with_token(token)]);
    }
    let loaded = load(&setup::sources(common)?)?;
    let registries = &loaded.config.settings.discovery.registries;
    if registries.is_empty() {
        return Err(Failure::usage(
            "no registry is configured: name one with --registry URL, or with `registries` of `[discovery]`",
        ));
    }
    Ok(registries.iter().map(Reader::of).collect::<Result<_, _>>()?)
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Address(..) => Self::usage(error),
            other => Self::failed(screen::plain(&other.to_string())),
        }
    }
}
