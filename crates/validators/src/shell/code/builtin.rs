//! What the shell itself does: its own commands that run text, or change what later words mean.

use super::runs;
use crate::shell::lexer::Word;
use crate::shell::variables;
use crate::{Finding, Verdict};

pub(super) fn check(program: &str, arguments: &[Word]) -> Verdict {
    let texts: Vec<&str> = arguments.iter().map(|word| word.text.as_str()).collect();
    match program {
        "eval" | "trap" | "bind" | "enable" | "complete" | "zmodload" | "fc" | "compgen" => {
            let lists = program == "fc" && texts.iter().any(|text| text.starts_with("-l"))
                || program == "compgen" && !texts.iter().any(|text| matches!(*text, "-C" | "-F" | "-W"));
            if texts.is_empty() || lists { Ok(()) } else { Err(runs(program)) }
        }
        "source" | "." => match texts.first() {
            Some(script) if super::is_plain_script(script) => Ok(()),
            _ => Err(runs(program)),
        },
        "alias" => {
            if texts.iter().any(|text| text.contains('=')) {
                Err(runs("alias"))
            } else {
                Ok(())
            }
        }
        "hash" => {
            if texts.contains(&"-p") {
                Err(runs("hash -p"))
            } else {
                Ok(())
            }
        }
        "mapfile" | "readarray" => {
            if texts.iter().any(|text| text.starts_with("-C")) {
                Err(runs(program))
            } else {
                Ok(())
            }
        }
        "export" | "declare" | "typeset" | "readonly" | "local" | "setenv" | "set" => {
            if program == "setenv" && texts.len() > 1 {
                variables::check_assignment(texts[0], texts[1])?;
            }
            texts.iter().try_for_each(|text| match text.split_once('=') {
                Some((name, value)) => variables::check_assignment(name, value),
                None => Ok(()),
            })?;
            no_hidden_substitution(program, &texts)
        }
        "let" | "test" | "[" | "printf" | "read" | "unset" | "wait" | "((" => {
            // Their operands may be subscripts, and a subscript is expanded once more.
            if program == "printf" && !texts.contains(&"-v") {
                return Ok(());
            }
            no_hidden_substitution(program, &texts)
        }
        _ => Ok(()),
    }
}

fn no_hidden_substitution(program: &str, texts: &[&str]) -> Verdict {
    match texts.iter().find(|text| text.contains("[$(") || text.contains("[`") || text.contains("[${")) {
        Some(text) => Err(Finding::new("shell-substitution", format!("`{program}` would expand `{text}`"))),
        None => Ok(()),
    }
}
