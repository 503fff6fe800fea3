//! Every command and every key that README and docs show is read here as the program would read it.

use std::path::{Path, PathBuf};

use clap::Parser as _;
use clap::error::ErrorKind;
use switchboard_config::{Config, Environment};

use super::Arguments;

/// A block of code in a document.
struct Block {
    place: String,
    language: String,
    lines: Vec<String>,
}

fn documents() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let docs = std::fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> = docs.filter(|path| path.extension().is_some_and(|end| end == "md")).collect();
    found.extend(["README.md", "SECURITY.md", "interop/README.md"].map(|name| root.join(name)));
    found.sort();
    found
}

/// The blocks of code and the other lines of a document, each with its number.
fn parts(path: &Path) -> (Vec<Block>, Vec<(usize, String)>) {
    let text = std::fs::read_to_string(path).unwrap();
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let (mut blocks, mut others) = (Vec::new(), Vec::new());
    let mut open: Option<Block> = None;
    for (number, line) in text.lines().enumerate() {
        match (line.trim_start().strip_prefix("```"), &mut open) {
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(language), None) => {
                let place = format!("{name}:{}", number + 1);
                open = Some(Block { place, language: language.trim().to_owned(), lines: Vec::new() });
            }
            (None, Some(block)) => block.lines.push(line.to_owned()),
            (None, None) => others.push((number + 1, line.to_owned())),
        }
    }
    assert!(open.is_none(), "{name}: a block has no end");
    (blocks, others)
}

/// The commands of a line as a shell would see them, each as its words.
fn commands(line: &str) -> Vec<Vec<String>> {
    let mut all = vec![Vec::new()];
    let mut letters = line.chars().peekable();
    let mut word: Option<String> = None;
    while let Some(letter) = letters.next() {
        match letter {
            '\'' | '"' => {
                let inside: String = letters.by_ref().take_while(|other| *other != letter).collect();
                word.get_or_insert_default().push_str(&inside);
            }
            '#' if word.is_none() => break,
            '|' | ';' | '&' | '<' | '>' => {
                all.last_mut().unwrap().extend(word.take());
                // What follows a redirection is a file, and no command; it is looked at as one that is none of ours.
                all.push(Vec::new());
            }
            letter if letter.is_whitespace() => all.last_mut().unwrap().extend(word.take()),
            letter => word.get_or_insert_default().push(letter),
        }
    }
    all.last_mut().unwrap().extend(word);
    all.retain(|words| !words.is_empty());
    all
}

/// Why a command of ours cannot be read, if it cannot. One that is only named in a sentence need not have all its words.
fn refusal(words: &[String], is_named: bool) -> Option<String> {
    if words.first().map(String::as_str) != Some("switchboard") {
        return None;
    }
    match Arguments::try_parse_from(words) {
        Err(error) if is_named && is_short(error.kind()) => None,
        Err(error) if error.use_stderr() => Some(format!("{}: {error}", words.join(" "))),
        _ => None,
    }
}

const fn is_short(kind: ErrorKind) -> bool {
    use ErrorKind::{DisplayHelpOnMissingArgumentOrSubcommand, MissingRequiredArgument, MissingSubcommand};
    matches!(kind, MissingRequiredArgument | MissingSubcommand | DisplayHelpOnMissingArgumentOrSubcommand)
}

#[test]
fn every_command_in_the_documents_can_be_typed() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for path in documents() {
        let (blocks, others) = parts(&path);
        for block in blocks.iter().filter(|block| matches!(&*block.language, "sh" | "console")) {
            let joined = block.lines.join("\n").replace("\\\n", " ");
            for words in joined.lines().flat_map(commands) {
                count += usize::from(words[0] == "switchboard");
                wrong.extend(refusal(&words, false).map(|why| format!("{}: {why}", block.place)));
            }
        }
        for (number, line) in others {
            for code in line.split('`').skip(1).step_by(2).filter(|code| code.starts_with("switchboard ")) {
                // A form with its options in brackets is no command.
                if code.contains('[') {
                    continue;
                }

                for words in commands(code) {
                    count += 1;
                    let place = format!("{}:{number}", path.file_name().unwrap().to_string_lossy());
                    wrong.extend(refusal(&words, true).map(|why| format!("{place}: {why}")));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 100, "{count} commands were found");
}

#[test]
fn every_configuration_in_the_documents_is_understood() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for path in documents() {
        for block in parts(&path).0 {
            let text = block.lines.join("\n");
            let read = match &*block.language {
                "toml" => {
                    let parse = |text: &str| {
                        let config = Config::parse(Path::new("mgp.toml"), text, &Environment::default());
                        let config = config.map_err(|error| error.to_string())?;
                        let missing = |why: &String| why.contains("variable `");
                        let servers = config.servers.iter().filter_map(|server| server.problem());
                        let mut all = config.rejected.iter().chain(servers).map(ToString::to_string);
                        all.find(|why| !missing(why)).map_or(Ok(()), Err)
                    };
                    // A part of a server's entry stands behind the rest of it, of either kind.
                    let behind = |entry: &str| format!("[[servers]]\nid = \"it\"\n{entry}\n{text}");
                    parse(&text)
                        .or_else(|why| parse(&behind("command = \"x\"")).map_err(|_| why))
                        .or_else(|why| parse(&behind("url = \"https://a.example/mcp\"")).map_err(|_| why))
                }
                "json" => serde_json::from_str::<serde_json::Value>(&text).map(drop).map_err(|error| error.to_string()),
                _ => continue,
            };
            count += 1;
            wrong.extend(read.err().map(|why| format!("{}: {why}\n{text}", block.place)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(count > 20, "{count} blocks were found");
}

#[test]
fn one_word_is_used_for_one_thing() {
    fn look(command: &clap::Command, path: &str, wrong: &mut Vec<String>) {
        let path = format!("{path} {}", command.get_name());
        for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
            // The words that other programs, and earlier versions, have for these.
            let instead = match argument.get_long() {
                Some("agent" | "user" | "identity") if !path.contains(" memory ") => Some("principal"),
                Some("why" | "because" | "justification") => Some("reason"),
                Some("expires" | "ttl" | "lifetime" | "until-when") => Some("for"),
                Some("force" | "assume-yes") => Some("yes"),
                Some("format-json" | "as-json") => Some("json"),
                _ => None,
            };
            wrong.extend(instead.map(|word| format!("{path}: --{} is called --{word}", argument.get_id())));
        }
        command.get_subcommands().for_each(|below| look(below, &path, wrong));
    }
    let mut wrong = Vec::new();
    look(&<Arguments as clap::CommandFactory>::command(), "", &mut wrong);
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn lines_are_split_as_a_shell_does() {
    for (line, expected) in [
        ("switchboard add a -- x 'b c' \"d\" # why", &[&["switchboard", "add", "a", "--", "x", "b c", "d"][..]][..]),
        (
            "echo '{\"a\": 1}' | switchboard check shell > f",
            &[&["echo", "{\"a\": 1}"], &["switchboard", "check", "shell"], &["f"]],
        ),
        ("# nothing", &[]),
        ("switchboard call t a='' b=c#d", &[&["switchboard", "call", "t", "a=", "b=c#d"]]),
    ] {
        assert_eq!(commands(line), expected, "{line}");
    }
}
