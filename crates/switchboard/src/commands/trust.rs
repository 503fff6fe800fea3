//! `switchboard trust`: a person approves a server of a project's file, exactly as it is declared: what it runs, and
//! everything else that the file says of it.

use serde_json::json;
use switchboard_config::{Origin, Server, Trust as Approvals, approval, disclosed, load};

use crate::Outcome;
use crate::arguments::{Common, Trust};
use crate::control::Running;
use crate::failure::Failure;
use crate::{screen, setup};

pub(crate) async fn run(common: &Common, options: &Trust) -> Outcome {
    let loaded = load(&setup::sources(common)?)?;
    for warning in loaded.files.iter().filter_map(|file| file.error.as_ref()) {
        screen::note(format_args!("warning: {warning}"));
    }
    let mut approvals = Approvals::read(&loaded.data_dir)?;
    if options.revoke {
        let revoked = revoke(common, options, &loaded, &mut approvals);
        Running::all_take_over(common).await;
        return revoked;
    }
    let chosen = |server: &&Server| options.names.is_empty() || options.names.iter().any(|name| name == server.id());
    let waiting: Vec<&Server> = loaded.untrusted.iter().filter(chosen).collect();
    for name in &options.names {
        if !waiting.iter().any(|server| server.id() == name) {
            let known = loaded.config.server(name);
            return Err(match known {
                Some(server) if server.origin != Origin::Project => Failure::failed(format!(
                    "server \"{name}\" is in {}, which is your own file: it needs no approval",
                    server.file.display()
                )),
                Some(_) => Failure::failed(format!("server \"{name}\" does not wait for an approval")),
                None => {
                    Failure::failed(format!("no project file here declares a server \"{}\"", screen::plain_line(name)))
                }
            });
        }
    }
    if options.list || waiting.is_empty() {
        list(common, &waiting);
        return Ok(());
    }
    if !options.yes && !screen::can_ask() {
        list(common, &waiting);
        return Err(Failure::usage(
            "nothing was approved: there is no terminal to ask on; look at the commands, then say --yes",
        ));
    }
    let mut approved = Vec::new();
    for server in waiting {
        if !common.json {
            show(server);
        }
        if options.yes || screen::confirmed("Let this server start?") {
            approvals.trust(server)?;
            approved.push(server.id());
        }
    }
    if !approved.is_empty() {
        Running::all_take_over(common).await;
    }
    if common.json {
        screen::json(&json!({"approved": approved}));
    } else if approved.is_empty() {
        screen::out("nothing was approved");
    } else {
        screen::out(format_args!("approved: {}", approved.join(", ")));
    }
    Ok(())
}

fn revoke(common: &Common, options: &Trust, loaded: &switchboard_config::Loaded, approvals: &mut Approvals) -> Outcome {
    let Some(file) = loaded.files.iter().find(|file| file.origin == Origin::Project) else {
        return Err(Failure::failed("there is no project file here"));
    };
    let mut count = 0;
    for name in &options.names {
        count += approvals.revoke(&file.path, name)?;
    }
    if common.json {
        screen::json(&json!({"revoked": count}));
    } else {
        screen::out(format_args!("approvals taken back: {count}"));
    }
    if count == 0 { Err(Failure::said()) } else { Ok(()) }
}

fn list(common: &Common, waiting: &[&Server]) {
    if common.json {
        let servers: Vec<_> = waiting
            .iter()
            .map(|server| {
                json!({
                    "id": server.id(),
                    "file": server.file,
                    "line": server.line,
                    "command": server.entry.exact_line(),
                    "env": server.entry.env.keys().collect::<Vec<_>>(),
                    "pass_env": server.entry.pass_env,
                    "trust_level": server.trust_level().as_str(),
                    "approves": disclosed(&server.entry),
                })
            })
            .collect();
        screen::json(&json!({"waiting": servers}));
    } else if waiting.is_empty() {
        screen::out("no server waits for an approval");
    } else {
        waiting.iter().for_each(|server| show(server));
    }
}

fn show(server: &Server) {
    let entry = &server.entry;
    screen::out(format_args!("{} ({}:{})", server.id(), screen::path(&server.file), server.line));
    for line in approval(entry, !server.enabled()) {
        screen::out(format_args!("    {line}"));
    }
    if entry.mgp.as_ref().and_then(|mgp| mgp.trust_level).is_none() {
        screen::out(format_args!("    trust level: {} (nothing is said)", server.trust_level().as_str()));
    }
}
