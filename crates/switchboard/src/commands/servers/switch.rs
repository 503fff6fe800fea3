//! `switchboard servers disable` and `enable`: a server that stands in its file and is not started, until somebody switches it on.

use serde_json::json;
use switchboard_config::{switch_server, write_replacing};

use crate::Outcome;
use crate::arguments::Common;
use crate::control::Running;
use crate::failure::Failure;
use crate::{memory, screen, setup};

pub(super) async fn run(common: &Common, name: &str, on: bool) -> Outcome {
    let loaded = setup::read(common)?;
    let shown = screen::plain_line(name);
    let Some(server) = setup::server_named(&loaded.config, name) else {
        if name == memory::ID {
            return Err(Failure::usage(format!(
                "the built-in memory stands in no entry: write `enabled = {on}` under `[memory]`"
            )));
        }
        let again = common.again("servers");
        return Err(Failure::failed(format!("there is no server \"{shown}\"; `{again}` shows those there are")));
    };
    let Some(before) = setup::text_to_change(&server.file)? else {
        return Err(Failure::failed(format!("{} is not there any more", server.file.display())));
    };
    let after = switch_server(&server.file, &before, server.id(), on)?;
    let is_news = after != before;
    if is_news {
        write_replacing(&server.file, Some(&before), &after, None)?;
    }
    // Kernels that run take it over before this says that it is so.
    Running::all_take_over(common).await;
    let (id, file, word) = (server.id(), server.file.display(), if on { "on" } else { "off" });
    if common.json {
        screen::json(&json!({"id": id, "file": server.file, "enabled": on, "changed": is_news}));
    } else if is_news {
        screen::out(format_args!("{} is switched {word} in {file}", screen::plain_line(id)));
    } else {
        screen::out(format_args!("{} was switched {word} in {file} before", screen::plain_line(id)));
    }
    Ok(())
}
