//! The sentences of ARCHITECTURE.md that begin with "It knows no": each thing that one names is looked for, in the crate that
//! it is about.
//!
//! A thing is an edge that the drawing must not have, an effect that the crate must not be allowed, or names that its sources must
//! not have. A sentence that names something which nothing here looks for is refused: it would only be believed.

use std::path::Path;

use super::code::{code, is_source};
use super::drawing::Room;
use super::effects;

/// How something is looked for.
enum Rule {
    /// None of these crates is used.
    Edge(&'static [&'static str]),
    /// Not allowed anywhere in the crate.
    Effect(&'static str),
    /// None of this stands in its sources.
    Text(&'static [&'static str]),
}

use Rule::{Edge, Effect, Text};

const SOCKETS: Rule =
    Text(&["TcpStream", "TcpListener", "UdpSocket", "UnixStream", "UnixListener", "ToSocketAddrs", "lookup_host"]);

const RULES: &[(&str, Rule)] = &[
    ("audit log", Edge(&["audit"])),
    ("chance", Text(&["getrandom", "rand::", "RandomState"])),
    ("client", Edge(&["peer", "clients", "exchange"])),
    ("clock", Effect("reads a clock")),
    ("command", Edge(&["switchboard"])),
    ("command line", Edge(&["switchboard"])),
    ("configuration", Edge(&["config"])),
    ("connection", Edge(&["peer", "transport"])),
    ("connection of a client", Edge(&["clients"])),
    ("directory", Edge(&["directory"])),
    ("file", Effect("touches files")),
    ("file format", Edge(&["config"])),
    ("file system", Effect("touches files")),
    ("gate", Edge(&["gate"])),
    ("id", Text(&["wire::Id", "RequestId"])),
    ("kernel", Edge(&["kernel"])),
    ("meaning of what it keeps", Edge(&["policy", "gate", "audit", "upstream"])),
    ("message", Text(&["wire::Incoming", "Notification", "wire::Request", "wire::Response"])),
    ("method", Text(&["mcp::method", "mgp::method", "proposals::method"])),
    ("network", SOCKETS),
    ("other server", Edge(&["upstream"])),
    ("parked call", Edge(&["exchange"])),
    ("permission", Edge(&["policy"])),
    ("policy", Edge(&["policy"])),
    ("revision", Edge(&["protocol"])),
    ("right", Edge(&["policy", "gate"])),
    ("route", Edge(&["directory"])),
    ("runtime", Text(&["tokio"])),
    ("server", Edge(&["upstream"])),
    ("server name", Edge(&["upstream", "config"])),
    ("session", Text(&["Session", "SessionId"])),
    ("socket", SOCKETS),
    ("store", Edge(&["store"])),
    ("stream", Edge(&["exchange"])),
    ("transport", Edge(&["transport"])),
];

/// What a page says that crates do not know: the crates, and the things.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Absence {
    crates: Vec<String>,
    thing: String,
}

/// The absences that the part of a page about crates names.
pub(super) fn read(page: &str) -> Vec<Absence> {
    let part = page.split_once("## The crates").map_or("", |(_, rest)| rest);
    let part = part.split("\n## ").next().unwrap_or_default();
    // Behind the drawing come the paragraphs.
    let part = part.rsplit("```").next().unwrap_or_default();
    let mut absences = Vec::new();
    for paragraph in part.split("\n\n") {
        let text = paragraph.replace('\n', " ");
        let mut crates: Vec<String> = Vec::new();
        for sentence in text.split_inclusive(". ") {
            let named: Vec<String> = names(sentence).collect();
            let Some((_, things)) = ["knows no ", "know no "].iter().find_map(|words| sentence.split_once(words))
            else {
                crates.extend(named);
                continue;
            };
            crates.extend(named);
            let of_all = ["Both know no", "They know no"].iter().any(|words| sentence.contains(words));
            let about: Vec<String> = if of_all { crates.clone() } else { crates.last().cloned().into_iter().collect() };
            let things = things.split([';', ':']).next().unwrap_or_default().trim_end_matches(['.', ' ']);
            for thing in things.replace(" or ", ", ").split(", ").filter(|thing| !thing.starts_with("and ")) {
                absences.push(Absence { crates: about.clone(), thing: thing.trim().to_owned() });
            }
        }
    }
    absences
}

/// The crates that a sentence is about, in bold.
fn names(sentence: &str) -> impl Iterator<Item = String> + '_ {
    sentence.split("**`").skip(1).filter_map(|rest| Some(rest.split_once("`**")?.0.to_owned()))
}

/// What is wrong with the absences: things that are there, and those that nothing looks for.
pub(super) fn check(absences: &[Absence], rooms: &[Room], sources: &[(&Path, &str)]) -> Vec<String> {
    let mut refusals = Vec::new();
    for Absence { crates, thing } in absences {
        let Some((_, rule)) = RULES.iter().find(|(known, _)| known == thing) else {
            refusals
                .push(format!("ARCHITECTURE.md: nothing looks for `{thing}` in {crates:?}: say how in absences.rs"));
            continue;
        };
        for name in crates {
            let found = match rule {
                Edge(others) => rooms.iter().find(|room| room.name == *name).and_then(|room| {
                    let used = others.iter().find(|other| room.uses.contains(**other))?;
                    Some(format!("uses `{used}`"))
                }),
                Effect(effect) => effects::is_allowed_in(effect, name).then(|| format!("{effect}, by effects.rs")),
                Text(words) => of_crate(sources, name).find_map(|(path, text)| {
                    let word = words.iter().find(|word| text.contains(**word))?;
                    Some(format!("has `{word}` in {}", path.display()))
                }),
            };
            if let Some(found) = found {
                refusals.push(format!("ARCHITECTURE.md says that `{name}` knows no {thing}, and it {found}"));
            }
        }
    }
    refusals
}

fn of_crate<'a>(sources: &'a [(&'a Path, &'a str)], name: &str) -> impl Iterator<Item = (&'a Path, String)> {
    let folder = format!("crates/{name}/src/");
    let own = sources.iter().filter(move |(path, _)| is_source(path) && path.starts_with(&folder));
    own.map(|(path, text)| (*path, code(text).map(|(_, line)| line).collect::<Vec<_>>().join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "## The crates\n\n```text\nwire:\n```\n\n**`wire`** decides. `a.rs`. It knows no socket or\n\
                        clock. More.\n\n**`x`** is one. **`y`** another. Both know no store.\n\n\
                        **`z`** decides; it knows no route, kernel or store: why. **`w`** is more.\n\n## Next\n\nIt knows no end.\n";

    #[test]
    fn sentences_are_read() {
        let about = |crates: &[&str], thing: &str| Absence {
            crates: crates.iter().map(|name| (*name).to_owned()).collect(),
            thing: thing.to_owned(),
        };
        assert_eq!(
            read(PAGE),
            [
                about(&["wire"], "socket"),
                about(&["wire"], "clock"),
                about(&["x", "y"], "store"),
                about(&["z"], "route"),
                about(&["z"], "kernel"),
                about(&["z"], "store"),
            ]
        );
    }

    #[test]
    fn what_is_there_or_not_looked_for_is_refused() {
        let absence = |name: &str, thing: &str| [Absence { crates: vec![name.to_owned()], thing: thing.to_owned() }];
        let (rooms, _) = super::super::drawing::read(&format!(
            "{}\n```text\nstore:\ngate: store\n```\n",
            super::super::drawing::MARK
        ));
        let sources = [(Path::new("crates/gate/src/a.rs"), "// TcpStream\nlet a = TcpListener::bind();\n")];
        assert!(check(&absence("gate", "kernel"), &rooms, &sources).is_empty());
        for thing in ["store", "socket", "clock", "unicorn"] {
            assert_eq!(check(&absence("gate", thing), &rooms, &sources).len(), 1, "{thing}");
        }
        assert!(check(&absence("flow", "clock"), &rooms, &sources).is_empty());
    }
}
