//! What texts, paths and answers are made of: the parts of a name that is put together, and whether something private is in
//! it.

use oxc_ast::ast::TemplateLiteral;

use super::rules::{self, effects, effects::FileEffect};
use super::scope::{Source, Thing, Things};

/// Ways in which a text that is put together may begin and end, at most.
const MOST_WAYS: usize = 8;
/// Bytes of a text that are followed.
const MAX_CONTENT_BYTES: usize = 2_048;
/// Where the program lies: one folder below the project at most, as scripts do.
const HERE: &str = "\u{1}";

/// A text, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    Whole(String),
    /// Its beginning and its end.
    Ends(String, String),
    /// A name found in this folder.
    Listed(String),
    /// Decoded, or put together out of codes.
    Opaque,
    Hole,
}

impl Piece {
    fn into_thing(self) -> Option<Thing> {
        Some(match self {
            Self::Whole(text) => Thing::Text(text),
            Self::Ends(start, end) => Thing::Partial(start, end),
            Self::Listed(folder) => Thing::Listed(folder),
            Self::Opaque => Thing::Opaque,
            Self::Hole => return None,
        })
    }

    fn with(self, next: Self) -> Self {
        use Piece::{Ends, Hole, Listed, Opaque, Whole};
        let joined = match (self, next) {
            (Whole(start), Whole(end)) => Whole(start + &end),
            (Whole(start), Ends(more, end)) => Ends(start + &more, end),
            (Whole(start), Listed(folder)) if start.is_empty() || folder.is_empty() || same_folder(&start, &folder) => {
                Listed(folder)
            }
            (Whole(start), Opaque) if start.is_empty() => Opaque,
            (Whole(start), Listed(_) | Opaque | Hole) => Ends(start, String::new()),
            (Ends(start, end), Whole(more)) => Ends(start, end + &more),
            (Ends(start, _), Ends(_, end)) => Ends(start, end),
            (Ends(start, _), _) => Ends(start, String::new()),
            (Opaque, _) => Opaque,
            (Listed(_) | Hole, Whole(end)) => Ends(String::new(), end),
            (Listed(_) | Hole, Ends(_, end)) => Ends(String::new(), end),
            (Listed(_) | Hole, _) => Ends(String::new(), String::new()),
        };
        match &joined {
            Whole(text) if text.len() > MAX_CONTENT_BYTES => Hole,
            Ends(start, end) if start.len() + end.len() > MAX_CONTENT_BYTES => Hole,
            _ => joined,
        }
    }
}

fn same_folder(start: &str, folder: &str) -> bool {
    let bare = |path: &str| path.trim_start_matches("./").trim_end_matches('/').to_owned();
    let (start, folder) = (bare(start), bare(folder));
    start == folder || matches!((start.as_str(), folder.as_str()), ("", ".") | (".", ""))
}

/// What a value is as a text; a hole where that is not known.
pub(super) fn pieces(things: &Things) -> Vec<Piece> {
    let known: Vec<Piece> = things.known.iter().filter_map(piece).collect();
    if known.is_empty() { vec![Piece::Hole] } else { known }
}

fn piece(thing: &Thing) -> Option<Piece> {
    Some(match thing {
        Thing::Text(text) => Piece::Whole(text.clone()),
        Thing::Partial(start, end) => Piece::Ends(start.clone(), end.clone()),
        Thing::Listed(folder) => Piece::Listed(folder.clone()),
        Thing::Opaque => Piece::Opaque,
        Thing::Path(path) => Piece::Whole(place(path)?.to_owned()),
        _ => return None,
    })
}

/// Where values that are known by their name lie.
fn place(path: &str) -> Option<&'static str> {
    Some(match path {
        "__dirname" | "import.meta.dirname" | "import.meta.dir" => HERE,
        "__filename" | "import.meta.filename" | "import.meta.url" | "import.meta.path" => "\u{1}/file",
        "process.cwd()" | "Deno.cwd()" | "process.env.PWD" | "process.env.INIT_CWD" => ".",
        "node:os.tmpdir()" | "os.tmpdir()" | "process.env.TMPDIR" => "/tmp",
        "node:os.homedir()" | "os.homedir()" | "process.env.HOME" | "process.env.USERPROFILE" => "~",
        _ if effects::is_temporary(path) => "/tmp/made",
        _ => return None,
    })
}

/// Puts texts together that stand behind each other.
fn together(parts: impl IntoIterator<Item = Vec<Piece>>) -> Vec<Piece> {
    let mut ways = vec![Piece::Whole(String::new())];
    for part in parts {
        if ways.len() * part.len() > MOST_WAYS {
            return vec![Piece::Opaque];
        }
        ways = ways.iter().flat_map(|way| part.iter().map(|next| way.clone().with(next.clone()))).collect();
    }
    ways.dedup();
    ways
}

fn things_of(pieces: Vec<Piece>) -> Things {
    let mut things = Things::unknown();
    for thing in pieces.into_iter().filter_map(Piece::into_thing) {
        things.push(thing);
    }
    things
}

/// A text with values in it.
pub(super) fn template(template: &TemplateLiteral<'_>, parts: &[Things]) -> Things {
    let mut all = Vec::with_capacity(parts.len() * 2 + 1);
    for (at, text) in template.quasis.iter().enumerate() {
        let text = text.value.cooked.as_ref().map_or("", |text| text.as_str());
        all.push(vec![Piece::Whole(text.to_owned())]);
        all.extend(parts.get(at).map(pieces));
    }
    let mut things = things_of(together(all));
    parts.iter().for_each(|part| things.add_private(part));
    // What whoever sent the link chose is so in a text too.
    for path in parts.iter().flat_map(Things::paths).filter(|path| rules::is_of_address(path)) {
        things.push(Thing::Path(path.to_owned()));
    }
    things.open = false;
    things
}

/// A sum; of numbers nothing is known.
pub(super) fn sum(left: &Things, right: &Things) -> Things {
    let is_text =
        |things: &Things| things.known.iter().any(|thing| thing.is_text() || matches!(thing, Thing::Listed(_)));
    let of_place = |things: &Things| things.paths().any(|path| place(path).is_some());
    let mut things = if is_text(left) || is_text(right) || of_place(left) || of_place(right) {
        Things { open: false, ..things_of(together([pieces(left), pieces(right)])) }
    } else {
        Things::unknown()
    };
    things.add_private(left);
    things.add_private(right);
    things
}

/// What a call answers besides being the answer of that function.
pub(super) fn answer(path: &str, arguments: &[Things]) -> Things {
    let mut things = Things::default();
    let first = || arguments.first().map_or_else(|| vec![Piece::Hole], pieces);
    if let Some(method) = path.strip_prefix("node:path.").or_else(|| path.strip_prefix("path.")) {
        things.add(of_path(method.trim_start_matches("posix.").trim_start_matches("win32."), arguments));
        return things;
    }
    match path {
        "node:url.fileURLToPath"
        | "node:url.pathToFileURL"
        | "Bun.fileURLToPath"
        | "node:fs.realpathSync"
        | "String" => {
            things.add(things_of(first()));
        }
        "Buffer.from" | "node:buffer.Buffer.from" => match arguments.get(1).map(|encoding| encoding.text()) {
            None | Some(Some("utf8" | "utf-8" | "ascii" | "latin1")) => things.add(things_of(first())),
            Some(_) => things.push(Thing::Opaque),
        },
        "atob" | "String.fromCharCode" | "String.fromCodePoint" => things.push(Thing::Opaque),
        "Object.values" | "Object.keys" | "Object.entries" | "Array.from" | "Promise.all" | "Promise.resolve"
        | "structuredClone" => arguments.iter().for_each(|argument| things.add(held(argument))),
        // What the page that is shown may ask for is for it alone.
        "fetch"
            if first()
                .iter()
                .any(|piece| matches!(piece, Piece::Whole(text) | Piece::Ends(text, _) if text.starts_with('/'))) =>
        {
            things.push(Thing::Private(Source::Page));
        }
        "require.resolve" | "import.meta.resolve" => {
            let module = |piece: Piece| Piece::Whole("node_modules/".to_owned()).with(piece);
            things.add(things_of(first().into_iter().map(module).collect()));
        }
        "Bun.file" => things.add(things_of(first())),
        "Deno.env.get" => {
            let name = arguments.first().and_then(Things::text);
            things.push(Thing::Private(name.map_or(Source::Environment, |name| Source::Variable(name.to_owned()))));
        }
        _ => {}
    }
    // Packages read files too.
    let last = path.rsplit('.').next().unwrap_or_default();
    if matches!(
        last,
        "readFile" | "readFileSync" | "fromFile" | "parseFile" | "readJson" | "readJsonSync" | "extractRawText"
    ) && rules::is_of_package(path)
    {
        things.push(Thing::Private(Source::File));
    }
    match effects::of_function(path) {
        Some((FileEffect::Read, _)) => things.push(Thing::Private(Source::File)),
        Some((FileEffect::List, _)) => {
            for folder in first() {
                things.push(Thing::Listed(match folder {
                    Piece::Whole(folder) | Piece::Ends(folder, _) => folder,
                    _ => String::new(),
                }));
            }
        }
        Some((FileEffect::Find, _)) => things.push(Thing::Listed(String::new())),
        _ => {}
    }
    if let Some(source) = source_of(&format!("{path}()")) {
        things.push(Thing::Private(source));
    }
    things
}

/// What is handed on with a value, besides what it is called.
pub(super) fn held(things: &Things) -> Things {
    let mut held = Things::unknown();
    for thing in &things.known {
        if !matches!(thing, Thing::Path(_) | Thing::Function(_) | Thing::Chosen | Thing::Made) {
            held.push(thing.clone());
        }
    }
    held
}

/// What `new` makes besides one of that class.
pub(super) fn made(path: &str, arguments: &[Things]) -> Things {
    let mut things = Things::default();
    match path {
        "URL" | "node:url.URL" => {
            let base = arguments.get(1).map(pieces);
            for first in arguments.first().map_or_else(Vec::new, pieces) {
                let of_file = base
                    .as_ref()
                    .is_some_and(|base| matches!(base.as_slice(), [Piece::Whole(at)] if at.starts_with(HERE)));
                let joined = match first {
                    Piece::Whole(text) if of_file && !text.contains("://") => {
                        Piece::Whole(tidied(&format!("{HERE}/{text}")))
                    }
                    other => other,
                };
                things.add(things_of(vec![joined]));
            }
        }
        "Map" | "Set" | "Array" => arguments.iter().for_each(|argument| things.add(held(argument))),
        "FormData" if !arguments.is_empty() => things.push(Thing::Private(Source::Page)),
        _ => {}
    }
    things
}

/// What functions of paths answer.
fn of_path(method: &str, arguments: &[Things]) -> Things {
    match method {
        "join" | "resolve" | "normalize" => {
            let mut parts: Vec<Vec<Piece>> = Vec::new();
            for argument in arguments {
                let argument = pieces(argument);
                let absolute = |piece: &Piece| matches!(piece, Piece::Whole(text) | Piece::Ends(text, _) if text.starts_with(['/', '~']));
                if method == "resolve" && argument.iter().any(absolute) {
                    parts.clear();
                } else if !parts.is_empty() {
                    parts.push(vec![Piece::Whole("/".to_owned())]);
                }
                parts.push(argument);
            }
            let joined = together(parts).into_iter().map(|piece| match piece {
                Piece::Whole(text) => Piece::Whole(tidied(&text)),
                Piece::Ends(start, end) if start.contains("..") => Piece::Ends(tidied(&start) + "/", end),
                other => other,
            });
            things_of(joined.collect())
        }
        "dirname" => {
            let parent = |piece: Piece| match piece {
                Piece::Whole(text) => Piece::Whole(text.rsplit_once('/').map_or(".", |(parent, _)| parent).to_owned()),
                Piece::Ends(start, _) => Piece::Ends(start, String::new()),
                other => other,
            };
            things_of(arguments.first().map_or_else(Vec::new, pieces).into_iter().map(parent).collect())
        }
        "basename" => things_of(vec![Piece::Ends(String::new(), String::new())]),
        _ => Things::unknown(),
    }
}

/// A path without the steps that lead back.
pub(super) fn tidied(path: &str) -> String {
    let absolute = path.starts_with('/');
    let mut steps: Vec<&str> = Vec::new();
    for step in path.split('/') {
        match step {
            "" | "." => {}
            ".." if steps.last().is_some_and(|last| *last != "..") => {
                steps.pop();
            }
            step => steps.push(step),
        }
    }
    let mut out = if absolute { "/".to_owned() } else { String::new() };
    // The folder of the program is in the project.
    let steps = steps.strip_prefix(&[HERE]).filter(|rest| !rest.is_empty()).unwrap_or(&steps);
    out.push_str(&steps.join("/"));
    if out.is_empty() { ".".to_owned() } else { out }
}

/// What is private by its name.
pub(super) fn source_of(path: &str) -> Option<Source> {
    if let Some(name) = path
        .strip_prefix("process.env.")
        .or_else(|| path.strip_prefix("Bun.env."))
        .or_else(|| path.strip_prefix("import.meta.env."))
    {
        return (!name.contains(['.', '('])).then(|| Source::Variable(name.to_owned()));
    }
    if matches!(path, "node:dotenv.config()" | "node:dotenv.parse()") {
        return Some(Source::Environment);
    }
    effects::is_of_page(path).then_some(Source::Page)
}

/// Whether it is the environment as a whole.
pub(super) fn is_environment(path: &str) -> bool {
    matches!(path, "process.env" | "Bun.env" | "Deno.env" | "import.meta.env")
}

/// Members and methods that tell nothing of what something says.
pub(super) fn tells_nothing(name: &str) -> bool {
    matches!(
        name,
        "length"
            | "size"
            | "byteLength"
            | "includes"
            | "startsWith"
            | "endsWith"
            | "indexOf"
            | "has"
            | "test"
            | "some"
            | "every"
            | "status"
            | "statusCode"
            | "ok"
            | "isDirectory"
            | "isFile"
    )
}

/// Methods that answer what they are called on, or part of it.
pub(super) fn keeps(method: &str) -> bool {
    matches!(
        method,
        "filter"
            | "sort"
            | "reverse"
            | "slice"
            | "flat"
            | "values"
            | "keys"
            | "entries"
            | "toString"
            | "trim"
            | "toSorted"
            | "toReversed"
            | "normalize"
            | "valueOf"
            | "catch"
            | "finally"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Things {
        Thing::Text(text.to_owned()).into()
    }

    #[test]
    fn paths_are_put_together() {
        let join = |parts: &[Things]| pieces(&of_path("join", parts));
        let whole = |text: &str| vec![Piece::Whole(text.to_owned())];
        assert_eq!(join(&[text("a"), text("../b")]), whole("b"));
        assert_eq!(join(&[Things::path("__dirname"), text(".."), text("dist")]), whole("dist"));
        assert_eq!(join(&[Things::path("__dirname"), text("../.."), text("x")]), whole("../x"));
        assert_eq!(join(&[Things::path("node:os.homedir()"), text(".x")]), whole("~/.x"));
        assert_eq!(join(&[text("src"), Thing::Listed("src".into()).into()]), vec![Piece::Listed("src".into())]);
        let other = join(&[text("thumbs"), Thing::Listed("src".into()).into()]);
        assert_eq!(other, vec![Piece::Ends("thumbs/".into(), String::new())]);
    }

    #[test]
    fn sums_of_texts_know_their_ends() {
        assert_eq!(pieces(&sum(&text("a/"), &Things::unknown())), vec![Piece::Ends("a/".into(), String::new())]);
        assert_eq!(sum(&Things::unknown(), &Things::unknown()), Things::unknown());
    }
}
