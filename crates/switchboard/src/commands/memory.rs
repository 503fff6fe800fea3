//! `switchboard memory`: the memory alone, for one client or over HTTP; and taking a space along.

mod living;

use std::io::{BufRead as _, Write as _};

use serde_json::json;
use switchboard_contextgraph::server::{MemoryCaller, ToolExposure};
use switchboard_contextgraph::{MemoryServer, Problem};
use switchboard_kernel::OWNER;
use switchboard_sdk::HttpOptions;
use tokio_util::sync::CancellationToken;

use crate::Outcome;
use crate::arguments::{Common, Memory, MemoryCommand, MemoryTools, Serve};
use crate::failure::{Failure, chain};
use crate::screen::{self, note, out};
use crate::signals::Signals;
use crate::waiting::Waiting;
use crate::{memory, serve, setup, storage};

pub(crate) async fn run(common: &Common, options: &Memory) -> Outcome {
    let loaded = setup::read(common)?;
    let mut behaviour = memory::options(&loaded, options.store.as_deref())?;
    if let Some(space) = &options.space {
        behaviour.default_space.clone_from(space);
    }
    if options.per_principal {
        behaviour.sharing = memory::principals(&loaded);
    }
    behaviour.dreams &= !options.no_dreams;
    if options.tools == MemoryTools::Everyday {
        behaviour.shown = ToolExposure::Everyday;
    }
    // A question about erasing is asked without it.
    let waiting = options.command.as_ref().map(|_| Waiting::begin("reading the memory"));
    let server = MemoryServer::new(behaviour).map_err(|error| Failure::failed(chain(&error)))?;
    let _waiting = waiting.filter(|_| !matches!(options.command, Some(MemoryCommand::Erase { yes: false, .. })));
    match &options.command {
        Some(command) => {
            let (server, common_json) = (server.clone(), common.json);
            let outcome = match command {
                command if !command.makes_spaces() && is_unknown(&server, options)? => {
                    let names = server.spaces().map_err(|problem| refused(&problem))?;
                    let space = options.space.as_deref().unwrap_or_default();
                    Err(Failure::usage(format!("there is no space {space:?}; there are {}", names.join(", "))))
                }
                MemoryCommand::List(listed) => living::list(&server, listed, common_json),
                MemoryCommand::Show { id } => living::show(&server, id, common_json),
                MemoryCommand::Search(search) => living::search(&server, search, common_json),
                MemoryCommand::Edit(edit) => living::edit(&server, edit, common_json),
                MemoryCommand::Forget { ids, restore } => living::forget(&server, ids, *restore, common_json),
                MemoryCommand::Erase { ids, yes } => living::erase(&server, ids, *yes, common_json),
                MemoryCommand::Stats => living::stats(&server, common_json),
                MemoryCommand::Export => export(&server, common_json),
                MemoryCommand::Import => import(&server, common_json),
                MemoryCommand::Spaces => spaces(&server, common_json),
                MemoryCommand::Renew => renew(&server, common_json),
                MemoryCommand::Undo { id } => undo(&server, id, common_json),
            };
            server.close().await;
            outcome
        }
        None => {
            server.look_after();
            let outcome = match options.listen {
                None => over_stdio(&server).await,
                Some(_) => over_http(common, options, &loaded, &server).await,
            };
            server.close().await;
            outcome
        }
    }
}

fn offered(server: &MemoryServer) -> Result<switchboard_sdk::Server, Failure> {
    server.server().map_err(|error| Failure::failed(chain(&error)))
}

async fn over_stdio(server: &MemoryServer) -> Outcome {
    let mut signals = Signals::take()?;
    let offered = offered(server)?;
    tokio::select! {
        ended = offered.clone().run_stdio() => Ok(ended?),
        () = signals.next() => {
            offered.shutdown();
            Ok(())
        }
    }
}

async fn over_http(
    common: &Common,
    options: &Memory,
    loaded: &switchboard_config::Loaded,
    server: &MemoryServer,
) -> Outcome {
    let Some(wanted) = options.listen else { return Ok(()) };
    if !wanted.ip().is_loopback() && !options.allow_remote {
        return Err(Failure::usage(format!(
            "{wanted} can be reached from other machines. Listen on 127.0.0.1, or say --allow-remote if that is what you want"
        )));
    }
    let mut signals = Signals::take()?;
    let offered = offered(server)?;
    let bound = offered.clone().bind_http(wanted, HttpOptions::default()).await;
    let bound = bound.map_err(|error| Failure::failed(format!("cannot listen on {wanted}: {error}")))?;
    let (address, url) = (bound.address(), bound.url());
    let ended = CancellationToken::new();
    let store = storage::open_store(loaded).await?;
    let (door, fresh) = if options.no_auth {
        note("warning: --no-auth: every program and every user of this machine can use the memory");
        (None, None)
    } else {
        serve::admit(loaded, &Serve::default(), &store, address, &ended).await?
    };
    let bound = bound.with_access(serve::access(&loaded.config.settings, address, door)?);
    if common.json {
        screen::json_line(&json!({"url": url, "token": fresh}));
    } else {
        out(format_args!("ContextGraph on {url}"));
        if let Some(token) = &fresh {
            out(format_args!("token (shown only now): {token}"));
        } else if !options.no_auth {
            out("token: one that was shown when it was made; `switchboard token create NAME` makes another");
        }
    }
    let serving = bound.run();
    tokio::pin!(serving);
    tokio::select! {
        () = &mut serving => {}
        () = signals.next() => {
            offered.shutdown();
            signals.unless_again(serving).await;
        }
    }
    ended.cancel();
    let _ = store.close().await;
    Ok(())
}

fn refused(problem: &Problem) -> Failure {
    Failure::failed(problem.to_string())
}

/// Whoever runs a command is the owner of this machine's memory.
fn operator() -> MemoryCaller {
    MemoryCaller { principal: OWNER.to_owned(), ..MemoryCaller::default() }
}

/// Whether a space was named that is not there: who only reads does not make it.
fn is_unknown(server: &MemoryServer, options: &Memory) -> Result<bool, Failure> {
    let Some(space) = &options.space else { return Ok(false) };
    Ok(!server.spaces().map_err(|problem| refused(&problem))?.contains(space))
}

impl MemoryCommand {
    /// Whether a space that is not there is made for it.
    const fn makes_spaces(&self) -> bool {
        matches!(self, Self::Import | Self::Spaces)
    }
}

fn spaces(server: &MemoryServer, as_json: bool) -> Outcome {
    let names = server.spaces().map_err(|problem| refused(&problem))?;
    if as_json {
        screen::json(&json!({"spaces": names}));
    } else {
        names.iter().for_each(out);
    }
    Ok(())
}

fn renew(server: &MemoryServer, as_json: bool) -> Outcome {
    let renewed = server.renew(&operator()).map_err(|problem| refused(&problem))?;
    if as_json {
        screen::json(&json!({"renewed": renewed}));
    } else if renewed.is_empty() {
        out("everything can be read");
    } else {
        out(format_args!("begun anew: {}", renewed.join(", ")));
    }
    Ok(())
}

/// The lines of an export are the same for programs, each with the version of the shape; `import` takes both.
fn export(server: &MemoryServer, as_json: bool) -> Outcome {
    let mut output = std::io::BufWriter::new(std::io::stdout().lock());
    let mut broken = None;
    let written = server.with_space(&operator(), |space, _| {
        space.export(|line| {
            let line = if as_json { screen::shaped(line).to_string() } else { line.to_string() };
            writeln!(output, "{line}").map_err(|error| {
                let problem = Problem::storage(&error);
                broken = Some(error);
                problem
            })
        })
    });
    match broken {
        Some(error) => return Err(error.into()),
        None => written.map_err(|problem| refused(&problem))?,
    }
    Ok(output.flush()?)
}

fn import(server: &MemoryServer, as_json: bool) -> Outcome {
    let lines: Vec<String> = std::io::stdin().lock().lines().collect::<Result<_, _>>()?;
    let taken = server.with_space(&operator(), |space, now| space.import(lines.into_iter(), now));
    let (memories, edges) = taken.map_err(|problem| refused(&problem))?;
    if as_json {
        screen::json(&json!({"memories": memories, "edges": edges}));
    } else {
        out(format_args!("{memories} memories and {edges} edges were taken in"));
    }
    Ok(())
}

fn undo(server: &MemoryServer, id: &str, as_json: bool) -> Outcome {
    let id = id.parse().map_err(|error| Failure::usage(format!("{id:?}: {error}")))?;
    let done = server.with_space(&operator(), |space, now| space.undo(id, now));
    let done = done.map_err(|problem| refused(&problem))?;
    if as_json {
        screen::json(&json!({"done": done}));
    } else {
        out(done);
    }
    Ok(())
}
