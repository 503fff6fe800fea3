//! `switchboard init`: a commented file to start from.

use serde_json::json;
use switchboard_config::{init_text, project_init_text, user_config_file, write_replacing};

use crate::Outcome;
use crate::arguments::{Common, Init};
use crate::failure::Failure;
use crate::{screen, setup};

pub(crate) fn run(common: &Common, options: &Init) -> Outcome {
    let sources = setup::sources(common)?;
    let (file, project) = match (&sources.explicit, options.project) {
        (Some(file), _) => (sources.folder.join(file), false),
        (None, true) => (sources.folder.join("mgp.toml"), true),
        (None, false) => {
            let file = user_config_file(&sources.environment);
            (file.ok_or_else(|| Failure::usage("there is no home folder; name a file with --config"))?, false)
        }
    };
    if file.symlink_metadata().is_ok() {
        return Err(Failure::failed(format!("{} is there already; it was left as it is", file.display())));
    }
    let text = if project { project_init_text() } else { init_text(true) };
    write_replacing(&file, None, &text, None)?;
    if common.json {
        screen::json(&json!({"file": file}));
        return Ok(());
    }
    screen::out(format_args!("wrote {}", file.display()));
    if project {
        screen::out(
            "Servers in it start only after `switchboard trust`, because the file may travel with the project.",
        );
        screen::out("For servers of your own, `switchboard add` and `switchboard import` use your user's file.");
    }
    Ok(())
}
