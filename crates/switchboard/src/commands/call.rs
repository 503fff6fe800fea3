//! `switchboard call`: one call of one tool, as a client would make it.

pub(crate) mod answers;
mod questions;
mod words;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde_json::Value;
use switchboard_config::{Config, Loaded};
use switchboard_kernel::names;
use switchboard_protocol::mcp::method;
use switchboard_wire::{Edit, Raw, code};

use crate::Outcome;
use crate::arguments::{Call, Common};
use crate::attach::{self, Attached};
use crate::failure::Failure;
use crate::local::{Client, Local, object, raw, refused};
use crate::waiting::Waiting;
use crate::{memory, screen, setup};
use answers::Answers;

pub(crate) async fn run(common: &Common, options: &Call) -> Outcome {
    let loaded = setup::read(common)?;
    let profile = setup::profile(&loaded, options.profile.as_deref())?;
    match attach::running(&setup::sources(common)?, &loaded, profile.as_deref()).await {
        Some(attached) => tell(common, options, &through(&loaded, attached, options).await?),
        None => {
            let mut local = Local::for_tool(loaded, &options.tool).await?;
            let outcome = alone(&mut local, profile, options).await;
            // Told before the servers are ended, which may take longer than the call.
            let outcome = outcome.and_then(|result| tell(common, options, &result));
            local.end().await;
            outcome
        }
    }
}

/// Makes the call at a kernel of our own.
async fn alone(local: &mut Local, profile: Option<Arc<str>>, options: &Call) -> Result<Raw, Failure> {
    local.settle().await;
    let mut answer = call(local, profile.clone(), options).await?;
    // The server that had it may have it no more, and another one have it now.
    if answer.is_err() && local.start_the_rest()? {
        local.settle().await;
        answer = call(local, profile, options).await?;
    }
    answer.map_err(|names| unknown(local, &options.tool, &names))
}

/// Prints what came of a call.
fn tell(common: &Common, options: &Call, result: &Raw) -> Outcome {
    let failed = result.member("isError").is_some_and(|value| value.as_str() == "true");
    if common.json {
        // The result as it came, with the version of the shape beside its members.
        let shaped =
            Edit::of(result).map(|edit| edit.set("schema_version", Raw::number(screen::SCHEMA_VERSION)).finish());
        screen::out(screen::printable_json(shaped.as_ref().unwrap_or(result).as_str()));
    } else {
        show(result, failed);
        if failed && options.arguments.iter().any(|argument| is_relative_path(argument)) {
            screen::note(
                "note: a relative path means the server's own working folder, and not this one; say the whole path",
            );
        }
    }
    if failed { Err(Failure::said()) } else { Ok(()) }
}

/// Whether an argument is given a path that means another place in another folder.
fn is_relative_path(argument: &str) -> bool {
    let value = argument.split_once('=').map_or(argument, |(_, value)| value);
    matches!(value, "." | "..") || value.starts_with("./") || value.starts_with("../")
}

/// Makes the call at a kernel that runs. It may list only some of its tools, so that one which is not there is called all the
/// same.
async fn through(loaded: &Loaded, attached: Attached, options: &Call) -> Result<Raw, Failure> {
    let answers = Answers::new(options.progress);
    let (capabilities, asking) = (answers.capabilities(), answers.asking());
    let Attached { reader, writer, .. } = attached;
    let _waiting = waiting(options, asking);
    let client = Client::greet(reader, writer, loaded, capabilities, Arc::new(answers)).await?;
    let tools = client.tools().await?;
    let listed: Vec<String> = tools.iter().filter_map(name_of).collect();
    let servers = with_built_in(loaded.config.servers.iter().map(switchboard_config::Server::id));
    let wanted = renamed(loaded, &options.tool);
    let found = meant(&loaded.config, &listed, &servers, &wanted);
    let called = found.unwrap_or(&wanted);
    let tool = tools.iter().find(|tool| name_of(tool).as_deref() == Some(called));
    match make(&client, tool, called, options).await {
        // It was called all the same, and is not there.
        Err(Wrong::Unknown) => Err(setup::unusable(loaded, &options.tool).unwrap_or_else(|| {
            let shown = screen::plain_line(&options.tool);
            Failure::failed(format!("there is no tool \"{shown}\"; {}", suggestion(&wanted, &listed)))
        })),
        outcome => outcome.map_err(Failure::from),
    }
}

/// Tells a person that the answer takes a while, unless it is the person who is waited for.
fn waiting(options: &Call, asking: Arc<AtomicBool>) -> Waiting {
    Waiting::unless(format!("waiting for the answer of {}", screen::plain_line(&options.tool)), asking)
}

fn name_of(tool: &Raw) -> Option<String> {
    tool.member("name").and_then(|name| name.as_text())
}

/// The answer; the names of all tools where there is none of that name.
async fn call(local: &Local, profile: Option<Arc<str>>, options: &Call) -> Result<Result<Raw, Vec<String>>, Failure> {
    let answers = Answers::new(options.progress);
    let _waiting = waiting(options, answers.asking());
    let client = local.connect(profile, answers.capabilities(), Arc::new(answers)).await?;
    let tools = client.tools().await?;
    let names: Vec<String> = tools.iter().filter_map(name_of).collect();
    let servers = with_built_in(local.specs.iter().map(|spec| &*spec.id));
    let wanted = renamed(&local.loaded, &options.tool);
    let found = meant(&local.loaded.config, &names, &servers, &wanted);
    if names::is_reserved(&wanted) {
        // The kernel's own tools are not listed where everything is, and answer all the same.
        let own = tools.iter().find(|tool| name_of(tool).as_deref() == Some(&*wanted));
        return Ok(Ok(make(&client, own, &wanted, options).await?));
    }
    let Some(tool) = tools.iter().find(|tool| found.is_some() && name_of(tool).as_deref() == found) else {
        return Ok(Err(names));
    };
    Ok(Ok(make(&client, Some(tool), found.unwrap_or(&options.tool), options).await?))
}

/// Why a call came to nothing.
enum Wrong {
    /// There is no such tool.
    Unknown,
    Other(Failure),
}

impl From<Failure> for Wrong {
    fn from(failure: Failure) -> Self {
        Self::Other(failure)
    }
}

impl From<Wrong> for Failure {
    fn from(wrong: Wrong) -> Self {
        match wrong {
            Wrong::Unknown => Self::failed("there is no such tool; `switchboard tools` lists those there are"),
            Wrong::Other(failure) => failure,
        }
    }
}

async fn make(client: &Client, tool: Option<&Raw>, called: &str, options: &Call) -> Result<Raw, Wrong> {
    let schema = tool.and_then(|tool| tool.member("inputSchema"));
    let schema: Value = schema.and_then(|schema| schema.view().ok()).unwrap_or_default();
    let arguments = words::arguments(&options.arguments, &schema).map_err(Failure::usage)?;
    let mut members = vec![("name", Raw::string(called)), ("arguments", raw(&arguments))];
    if options.progress {
        members.push(("_meta", object(&[("progressToken", Raw::number(1))])));
    }
    match client.ask(method::TOOLS_CALL, Some(object(&members))).await? {
        Ok(result) => Ok(result),
        Err(error) if tool.is_none() && error.message.starts_with("Unknown tool") => Err(Wrong::Unknown),
        Err(error) if error.code == code::INVALID_PARAMS => {
            // Of a tool that is not listed nobody knows what it takes.
            let hint = tool.map(|_| format!("; the tool takes: {}", words::usage(&schema))).unwrap_or_default();
            let text = screen::plain(&format!("{} (code {}){hint}", error.message, error.code));
            Err(Failure::failed(text).into())
        }
        Err(error) => Err(refused(&error).into()),
    }
}

/// The name that the operator gave a tool which is called by the name of its server; else the name itself.
fn renamed(loaded: &Loaded, wanted: &str) -> String {
    let servers = loaded.config.servers.iter();
    let mut given = servers.flat_map(|server| {
        let tools = server.entry.tools.iter().filter_map(|(own, said)| Some((own, said.name.as_deref()?)));
        tools.map(move |(own, name)| (server.id(), own, name))
    });
    let found = given.find(|(server, own, _)| *own == wanted || setup::is_exposed(&loaded.config, server, own, wanted));
    found.map_or_else(|| wanted.to_owned(), |(_, _, name)| name.to_owned())
}

/// What a person may have meant.
fn suggestion(wanted: &str, names: &[String]) -> String {
    let own = |name: &str| name.split_once(names::SEPARATOR).map_or(name, |(_, own)| own).to_owned();
    let tools: Vec<(String, String)> = names.iter().map(|name| (name.clone(), own(name))).collect();
    let meant: Vec<String> = names::meant_among(wanted, &tools).iter().map(|name| screen::plain_line(name)).collect();
    if meant.is_empty() {
        "`switchboard tools` lists those there are".to_owned()
    } else {
        format!("did you mean {}?", meant.join(", "))
    }
}

/// The servers whose tools may be meant: those that are configured, and the memory that is there without being.
fn with_built_in<'a>(configured: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    configured.chain([memory::ID]).collect()
}

/// The name in the list of the tool that a person means: that name itself, its long form where the list has the short ones,
/// or the server's own name where one tool alone has it.
fn meant<'n>(config: &Config, names: &'n [String], servers: &[&str], wanted: &str) -> Option<&'n str> {
    let listed = names.iter().find(|name| *name == wanted);
    let long = || {
        // The list may have the server's own name, or the one with an alias or cut.
        let is_long = |name: &&String| {
            servers.iter().any(|server| {
                let own = setup::own_part(config, server, wanted);
                let listed = own.map(|own| setup::naming(config, server).expose(own));
                setup::is_exposed(config, server, name, wanted) || listed.as_ref() == Some(*name)
            })
        };
        names.iter().find(is_long)
    };
    let short = || {
        let is_of = |name: &&String| servers.iter().any(|server| setup::own_part(config, server, name) == Some(wanted));
        let mut found = names.iter().filter(is_of);
        found.next().filter(|_| found.next().is_none())
    };
    listed.or_else(long).or_else(short).map(String::as_str)
}

/// No such tool: what is near, and what may be the reason.
fn unknown(local: &Local, tool: &str, names: &[String]) -> Failure {
    let shown = screen::plain_line(tool);
    if local.loaded.config.servers.is_empty() {
        // The memory may be all there is.
        let hint = if names.is_empty() { String::new() } else { format!("{}; ", suggestion(tool, names)) };
        return Failure::usage(format!("there is no tool \"{shown}\"; {hint}{}", setup::NO_SERVERS));
    }
    let seen = local.seen();
    let lines = local.loaded.config.servers.iter().map(|server| super::servers::Line::of(server, &seen));
    let missing: Vec<String> = lines
        // Those that were not started for this call say nothing.
        .filter(|line| !line.is_fine() && line.state != "unknown")
        .map(|line| {
            format!(
                "\n  server \"{}\" {}: {}",
                line.id,
                line.state,
                line.problem.as_deref().unwrap_or("no reason is known")
            )
        })
        .collect();
    let hint = suggestion(tool, names);
    Failure::failed(format!("there is no tool \"{shown}\"; {hint}{}", missing.concat()))
}

/// Prints what a person can read of a result.
fn show(result: &Raw, failed: bool) {
    let blocks = result.member("content").and_then(|content| content.elements()).unwrap_or_default();
    let print = |text: &str| if failed { screen::note(text) } else { screen::out(text) };
    for block in &blocks {
        let text = readable(block);
        let text = if failed { rejection(&text).unwrap_or(text) } else { text };
        print(screen::plain(&text).trim_end_matches('\n'));
    }
    let structured = result.member("structuredContent").and_then(|value| value.view::<Value>().ok());
    match structured {
        Some(value) if blocks.is_empty() => print(&screen::plain(&format!("{value:#}"))),
        _ if blocks.is_empty() && failed => screen::note("the tool failed and did not say why"),
        _ => {}
    }
}

/// What a refusal of the kernel says, which is JSON for models, in words for people.
fn rejection(text: &str) -> Option<String> {
    let said: Value = serde_json::from_str(text).ok()?;
    let word = |key: &str| said.get(key).and_then(Value::as_str);
    let status = word("status").filter(|status| matches!(*status, "rejected" | "denied" | "confirmation_required"))?;
    let reason = word("reason").or_else(|| word("confirmation_message"))?;
    let hint = word("remediation_hint").map(|hint| format!("\nwhat to do: {hint}")).unwrap_or_default();
    Some(format!("{}: {reason}{hint}", status.replace('_', " ")))
}

fn readable(block: &Raw) -> String {
    let text = |path: &[&str]| block.at(path).and_then(|value| value.as_text());
    let size = |path: &[&str]| text(path).map_or(0, |data| data.len() / 4 * 3);
    match text(&["type"]).as_deref() {
        Some("text") => text(&["text"]).unwrap_or_default(),
        Some(kind @ ("image" | "audio")) => {
            format!(
                "[{kind}, {}, about {} bytes; --json has it]",
                text(&["mimeType"]).unwrap_or_default(),
                size(&["data"])
            )
        }
        Some("resource_link") => format!("[resource {}]", text(&["uri"]).unwrap_or_default()),
        Some("resource") => text(&["resource", "text"])
            .unwrap_or_else(|| format!("[resource {}; --json has it]", text(&["resource", "uri"]).unwrap_or_default())),
        _ => block.as_str().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use switchboard_wire::Limits;

    use super::*;

    #[test]
    fn a_tool_is_found_by_its_long_and_its_short_name() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let alone = names(&["status", "read/text"]);
        let several = names(&["git__status", "svn__status", "git__log"]);
        let remembering = names(&["git__status", "memory__store_memory"]);
        for (names, servers, wanted, expected) in [
            (&alone, &["git"][..], "status", Some("status")),
            (&alone, &["git"], "git__status", Some("status")),
            (&alone, &["git"], "git__read_text", Some("read/text")),
            (&alone, &["git"], "svn__status", None),
            (&several, &["git", "svn"], "git__status", Some("git__status")),
            (&several, &["git", "svn"], "log", Some("git__log")),
            (&remembering, &with_built_in(["git"].into_iter()), "store_memory", Some("memory__store_memory")),
            (&remembering, &with_built_in(["git"].into_iter()), "status", Some("git__status")),
            // Two have it.
            (&several, &["git", "svn"], "status", None),
        ] {
            assert_eq!(meant(&Config::default(), names, servers, wanted), expected, "{wanted}");
        }
    }

    #[test]
    fn a_tool_behind_an_alias_is_found_by_the_id_and_a_cut_one_by_its_whole_name() {
        let id = "a-server-with-a-name-that-is-far-too-long-for-clients";
        let text =
            format!("[[servers]]\nid = 'git'\nalias = 'g'\ncommand = 'git'\n[[servers]]\nid = '{id}'\ncommand = 'x'\n");
        let config =
            Config::parse(std::path::Path::new("mgp.toml"), &text, &switchboard_config::Environment::default())
                .unwrap();
        let cut = setup::naming(&config, id).expose("search_code");
        assert!(cut.len() <= 46, "{cut}");
        let names = ["g__git_show".to_owned(), cut.clone()];
        for (wanted, expected) in [
            ("g__git_show", "g__git_show"),
            ("git__git_show", "g__git_show"),
            (&*cut, &*cut),
            (&*format!("{id}__search_code"), &*cut),
        ] {
            assert_eq!(meant(&config, &names, &["git", id], wanted), Some(expected), "{wanted}");
        }
    }

    #[test]
    fn what_is_proposed_is_near() {
        let names = ["filesystem__read_text_file", "word__get_document_text", "git__git_status", "memory__x_ray"];
        let names = names.map(str::to_owned);
        for (wanted, expected) in [
            ("nosuch__x", "`switchboard tools` lists those there are"),
            ("svn__status", "did you mean git__git_status?"),
            ("filesystem__read_text_fle", "did you mean filesystem__read_text_file?"),
            ("git__git_status", "did you mean git__git_status?"),
        ] {
            assert_eq!(suggestion(wanted, &names), expected, "{wanted}");
        }
    }

    #[test]
    fn relative_paths_are_seen() {
        for (argument, expected) in [
            ("repo_path=.", true),
            ("path=./a", true),
            ("path=../a", true),
            ("path=/a/.", false),
            ("text=...", false),
            ("revision=HEAD", false),
        ] {
            assert_eq!(is_relative_path(argument), expected, "{argument}");
        }
    }

    #[test]
    fn blocks_become_text() {
        for (block, expected) in [
            (r#"{"type":"text","text":"hello"}"#, "hello"),
            (
                r#"{"type":"image","mimeType":"image/png","data":"AAAA"}"#,
                "[image, image/png, about 3 bytes; --json has it]",
            ),
            (r#"{"type":"resource_link","uri":"a:b"}"#, "[resource a:b]"),
            (r#"{"type":"resource","resource":{"uri":"a:b","text":"inside"}}"#, "inside"),
            (r#"{"type":"resource","resource":{"uri":"a:b","blob":"AA"}}"#, "[resource a:b; --json has it]"),
            (r#"{"type":"new"}"#, r#"{"type":"new"}"#),
        ] {
            assert_eq!(readable(&Raw::parse(block.to_owned(), &Limits::default()).unwrap()), expected);
        }
    }
}
