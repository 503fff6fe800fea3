//! Paths of files: what functions and objects make of them, what is found in folders, and variables that are read.

use super::Checker;
use super::calls::Arguments;
use super::fold;
use super::value::{Source, Val};

impl Checker<'_> {
    /// What a function on paths makes of them.
    pub(super) fn path_function(&mut self, path: &str, arguments: &Arguments) -> Option<Val> {
        let first = || arguments.get(0).cloned().unwrap_or(Val::Unknown);
        let joined = || {
            arguments
                .positional
                .iter()
                .skip(1)
                .fold(fold::path_text(&first()), |left, right| fold::path_join(&left, right))
        };
        Some(match path {
            "os.path.join" => joined(),
            "os.path.expanduser" | "os.path.expandvars" | "os.path.abspath" | "os.path.realpath"
            | "os.path.normpath" | "os.fspath" | "os.fsdecode" => fold::path_text(&first()),
            "os.path.dirname" => fold::parent(&fold::path_text(&first())),
            "os.path.basename" => first().map(last),
            "os.getcwd" | "os.getcwdb" => Val::text("."),
            "pathlib.Path"
            | "pathlib.PurePath"
            | "pathlib.PosixPath"
            | "pathlib.PurePosixPath"
            | "pathlib.WindowsPath"
            | "anyio.Path" => {
                let text = if arguments.positional.is_empty() && !arguments.open { Val::text(".") } else { joined() };
                Val::File(text.into())
            }
            "pathlib.Path.home" => Val::File(Val::text("~").into()),
            "pathlib.Path.cwd" => Val::File(Val::text(".").into()),
            "tempfile.gettempdir" => Val::text("/tmp/made"),
            "os.getenv" | "os.environ.get" | "os.environ.pop" | "os.environ.setdefault" => {
                let default = arguments.get(1).cloned().unwrap_or(Val::Unknown);
                first().map(variable).or(default)
            }
            "os.environ.copy" | "os.environ.items" | "os.environ.values" => {
                Val::Many(Val::Private(Source::Environment).into())
            }
            "decouple.config" | "decouple.AutoConfig()" | "decouple.Config()" => {
                first().map(variable).or(arguments.keyword("default").cloned().unwrap_or(Val::Unknown))
            }
            "dotenv.get_key" => arguments.get(1).map_or(Val::Unknown, |name| name.map(variable)),
            "environs.Env().dump" | "environs.env.dump" => Val::Private(Source::Environment),
            path if path.starts_with("environs.Env()") || path.starts_with("environs.env") => match arguments.get(0) {
                Some(name @ Val::Text(_)) if !path.ends_with("read_env") => variable(name),
                _ => Val::path(format!("{path}()")),
            },
            "dotenv.dotenv_values" => Val::Private(Source::Environment),
            "netrc.netrc" => Val::Private(Source::File),
            "getpass.getpass" => Val::Private(Source::Part).or(Val::Private(Source::Variable("password".into()))),
            "glob.glob" | "glob.iglob" => {
                let folder = |pattern: &Val| {
                    pattern.as_str().map(|pattern| {
                        pattern
                            .split(['*', '?', '['])
                            .next()
                            .unwrap_or_default()
                            .rsplit_once('/')
                            .map_or("", |(folder, _)| folder)
                            .to_owned()
                    })
                };
                let pattern = fold::path_text(&first());
                let folder = pattern.each().iter().find_map(folder).unwrap_or_default();
                Val::Many(Val::Listed(folder.into()).into())
            }
            "os.listdir" | "os.scandir" => Val::Many(found_in(&first()).into()),
            "os.walk" | "os.fwalk" => {
                let entry = found_in(&first());
                let many = Val::Many(entry.clone().into());
                Val::Many(Val::seq(vec![entry, many.clone(), many]).into())
            }
            _ => return None,
        })
    }

    /// What a method of a path answers.
    pub(super) fn file_method(&self, file: &Val, name: &str, arguments: &Arguments) -> Val {
        let first = || arguments.get(0).cloned().unwrap_or(Val::Unknown);
        match name {
            "joinpath" => {
                let joined =
                    arguments.positional.iter().fold(file.clone(), |left, right| fold::path_join(&left, right));
                Val::File(joined.into())
            }
            // Of a text.
            "replace" if arguments.positional.len() == 2 => match arguments.get(1) {
                Some(Val::Text(end)) if !end.is_empty() => Val::Partial("".into(), end.clone()),
                _ => Val::Unknown,
            },
            "resolve" | "absolute" | "expanduser" | "rename" | "replace" | "readlink" => Val::File(file.clone().into()),
            "as_posix" | "__str__" | "as_uri" => file.clone(),
            "with_name" => Val::File(fold::path_join(&fold::parent(file), &first()).into()),
            "with_suffix" | "with_stem" => {
                let suffix = first();
                let changed = file.map(|file| match (file, suffix.as_str()) {
                    (Val::Text(text), Some(suffix)) if name == "with_suffix" => {
                        Val::text(format!("{}{suffix}", text.rsplit_once('.').map_or(&**text, |(stem, _)| stem)))
                    }
                    (Val::Text(text), _) => fold::path_join(&fold::parent(&Val::text(text)), &Val::Unknown),
                    (_, Some(suffix)) => Val::Partial("".into(), suffix.into()),
                    _ => Val::Unknown,
                });
                Val::File(changed.into())
            }
            "relative_to" => Val::File(Val::Unknown.into()),
            "iterdir" | "glob" | "rglob" => {
                let entry = found_in(file);
                Val::Many(Val::File(entry.into()).into())
            }
            "read_text" | "read_bytes" => Val::Private(Source::File),
            "open" => Val::path("builtins.open()"),
            "exists" | "is_file" | "is_dir" | "match" | "is_absolute" => Val::Plain,
            _ => Val::Unknown,
        }
    }

    /// What an attribute of a path is.
    pub(super) fn file_attribute(file: &Val, name: &str) -> Option<Val> {
        Some(match name {
            "parent" => Val::File(fold::parent(file).into()),
            "parents" => Val::Many(Val::File(Val::text("..").into()).into()),
            "name" | "path" if matches!(file, Val::Listed(_)) => file.clone(),
            "name" => file.map(last),
            "stem" | "suffix" => Val::Unknown,
            _ => return None,
        })
    }
}

fn variable(name: &Val) -> Val {
    match name {
        Val::Text(name) if matches!(&**name, "HOME" | "USERPROFILE") => Val::text("~"),
        Val::Text(name) if matches!(&**name, "PWD") => Val::text("."),
        Val::Text(name) => Val::Unknown.or(Val::Private(Source::Variable(name.clone()))),
        _ => Val::Unknown.or(Val::Private(Source::Environment)),
    }
}

/// A variable of the environment by its name.
pub(super) fn environment(key: &Val) -> Val {
    key.map(variable)
}

/// Something that lies in a folder.
fn found_in(folder: &Val) -> Val {
    fold::path_text(folder).map(|folder| match folder {
        Val::Text(text) => Val::Listed(text.trim_end_matches('/').into()),
        Val::Partial(start, _) => Val::Listed(start.clone()),
        Val::Listed(_) => folder.clone(),
        _ => Val::Listed("".into()),
    })
}

fn last(path: &Val) -> Val {
    match path {
        Val::Text(text) => Val::text(text.trim_end_matches('/').rsplit('/').next().unwrap_or_default()),
        Val::File(inner) => last(inner),
        Val::Listed(_) => path.clone(),
        _ => Val::Unknown,
    }
}
