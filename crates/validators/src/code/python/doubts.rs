//! What may be harmless and may not: members that are known from modules which start programs, on objects that nobody
//! knows; variables that decide what runs; files that an import finds; functions of packages that start something. A
//! person is asked.

use ruff_text_size::TextSize;

use super::Checker;
use super::calls::Arguments;
use super::rules::watched;
use super::value::Val;
use crate::code::known;

/// Members of modules that start programs or load code, by names that nothing else has.
const TELLING: &[&str] = &[
    "CDLL",
    "CodeType",
    "LoadLibrary",
    "UnsafeLoader",
    "UnsafeConstructor",
    "WinDLL",
    "_getframe",
    "check_call",
    "dlopen",
    "execl",
    "execle",
    "execlp",
    "execlpe",
    "execv",
    "execve",
    "execvp",
    "execvpe",
    "forkpty",
    "get_objects",
    "get_type_hints",
    "getoutput",
    "import_module",
    "import_object",
    "import_string",
    "loadTestsFromName",
    "loadTestsFromNames",
    "memfd_create",
    "posix_spawnp",
    "resolve_name",
    "run_module",
    "run_path",
    "run_system_command",
    "settrace",
    "spawnl",
    "spawnle",
    "spawnlp",
    "spawnlpe",
    "spawnv",
    "spawnve",
    "spawnvp",
    "spawnvpe",
    "startfile",
    "symbol_by_name",
    "unsafe_load",
];
/// Members of such modules whose names other objects have too: only where the program holds such a module.
const SHARED: &[&str] =
    &["system", "fork", "kill", "killpg", "popen", "modules", "setuid", "setgid", "spawn", "loads", "dup2", "openpty"];
/// Modules with members that run something.
const HOLDERS: &[&str] = &["os", "posix", "nt", "sys", "subprocess", "pty", "builtins", "shutil", "platform"];
/// Endings of names of variables that say which program or file of settings a package uses.
const DECIDING_ENDS: &[&str] = &[
    "_BIN",
    "_BINARY",
    "_CMD",
    "_COMMAND",
    "_CONFIG",
    "_CONFIG_FILE",
    "_CREDENTIALS_FILE",
    "_EXE",
    "_EXECUTABLE",
    "_EXECUTABLES",
    "_PATH",
    "_PROGRAM",
];
/// Calls by which a file comes to be.
const WRITING: &[&str] = &[
    "write_text",
    "write_bytes",
    "rename",
    "replace",
    "copy",
    "copy2",
    "copyfile",
    "move",
    "symlink",
    "link",
    "symlink_to",
    "hardlink_to",
    "urlretrieve",
    "extract",
    "extractall",
    "link_to",
];
/// Extensions that come with the package.
const EXTENSIONS: &[&str] = &[
    "abbr",
    "admonition",
    "attr_list",
    "codehilite",
    "def_list",
    "extra",
    "fenced_code",
    "footnotes",
    "legacy_attrs",
    "legacy_em",
    "md_in_html",
    "meta",
    "nl2br",
    "sane_lists",
    "smarty",
    "tables",
    "toc",
    "wikilinks",
    "default",
    "json",
    "csv",
    "vegafusion",
    "html",
    "png",
    "svg",
    "mimetype",
];
/// Programs of Graphviz that lay out a graph.
const ENGINES: &[&str] = &["circo", "dot", "fdp", "neato", "osage", "patchwork", "sfdp", "twopi"];

impl Checker<'_> {
    /// A member of an object of which nothing is known.
    pub(super) fn doubt_attribute(&mut self, base: &Val, name: &str, at: TextSize) {
        if !self.judging || self.methods.contains(name) {
            return;
        }
        let of_call = matches!(base, Val::Path(path) if path.contains('('));
        let is_unknown = of_call || !matches!(base, Val::Path(_));
        // `AttributeError.obj` is whatever lacked the attribute, also a module.
        let caught = name == "obj" && self.catches && is_unknown;
        let entry = name == "entry_points" && self.packages.contains("importlib");
        // The interpreter of another language that windows are drawn by.
        let draws =
            name == "tk" && is_unknown && (self.packages.contains("tkinter") || self.packages.contains("turtle"));
        let draws = draws && !self.attributes.contains_key(name);
        // The connection beneath a client says whatever it is told.
        let beneath = name == "sock"
            && is_unknown
            && ["http", "urllib3", "smtplib", "ftplib"].iter().any(|p| self.packages.contains(*p));
        let beneath = beneath && !self.attributes.contains_key(name);
        if beneath || caught || entry || draws || is_unknown && TELLING.contains(&name) {
            self.doubt(at, name);
        }
    }

    /// A call, by the last name of what is called.
    pub(super) fn doubt_call(&mut self, base: Option<&Val>, name: &str, arguments: &Arguments, at: TextSize) {
        let path = base.and_then(Val::as_path);
        if WRITING.contains(&name) || matches!(path, Some("os")) && name == "chdir" {
            self.note_written(base, arguments);
        }
        if !self.judging {
            return;
        }
        let is_unknown = base.is_none_or(|base| !base.is_literal() && (path.is_none() || path.is_some_and(of_call)));
        let holds = || HOLDERS.iter().any(|holder| self.packages.contains(*holder));
        if base.is_some() && SHARED.contains(&name) && is_unknown && !self.methods.contains(name) {
            // `json.loads` of an unknown object is as likely as another.
            let named = name != "loads" || self.packages.contains("six") || self.packages.contains("pickle");
            let runs = name == "system" && !arguments.positional.is_empty();
            if runs || named && holds() && (name != "kill" || self.packages.contains("os")) {
                self.doubt(at, name);
            }
        }
        if matches!(path, Some("os.environ" | "os.environb")) {
            self.doubt_variables(name, arguments, at);
        }
        if matches!(path, Some("os")) && name == "putenv" {
            self.doubt_variable(arguments.get(0), at);
        }
        let is_endless = |depth: &Val| depth.as_int().is_some_and(|depth| depth > 1_000_000);
        if path == Some("sys") && name == "setrecursionlimit" && arguments.get(0).is_some_and(is_endless) {
            self.doubt(at, name);
        }
        if name == "setenv" && path != Some("os") {
            self.doubt_variable(arguments.get(0), at);
        }
        self.doubt_named(name, arguments, at);
        self.doubt_given(base, name, arguments, at);
        let root = path.map(|path| path.split('.').next().unwrap_or_default());
        let by_name = !self.methods.contains(name)
            && self.watched.iter().any(|line| root.is_none_or(|root| root == line.package()) && line.has_method(name));
        let by_keyword = arguments.keywords.iter().any(|(key, value)| {
            self.watched.iter().any(|line| line.has_argument(key))
                && !value.as_str().is_some_and(|text| ENGINES.contains(&text))
                && *value != Val::Int(0)
                && *value != Val::Plain
        });
        if by_name || by_keyword {
            self.doubt(at, name);
        }
        // What is asked of a database may start a program beside it.
        let leaves = |value: &Val| match value {
            Val::Text(text) => crate::arguments::leaves_database(text),
            Val::Partial(start, end) => crate::arguments::leaves_database(&format!("{start}x{end}")),
            _ => false,
        };
        if watched::TAKES_SQL.contains(&name) && arguments.all().flat_map(Val::each).any(leaves) {
            self.doubt(at, name);
        }
    }

    /// Arguments that name what is imported or started.
    fn doubt_named(&mut self, name: &str, arguments: &Arguments, at: TextSize) {
        let loads_pickles = arguments.keyword("allow_pickle").is_some_and(|value| *value != Val::Int(0));
        let is_own = |text: &str| {
            EXTENSIONS.contains(&text)
                || ["markdown.extensions.", "jinja2.ext.", "pymdownx."].iter().any(|own| text.starts_with(own))
        };
        let all_own = |value: &Val| {
            let elements = value.elements();
            elements.is_some_and(|all| all.iter().all(|one| one.as_str().map_or(matches!(one, Val::Path(_)), is_own)))
        };
        let takes_extensions = self.packages.contains("markdown") || self.packages.contains("jinja2");
        let extends = takes_extensions && arguments.keyword("extensions").is_some_and(|value| !all_own(value));
        let first = arguments.get(0);
        let by_text = match name {
            "enable" => self.packages.contains("altair") && !first.and_then(Val::as_str).is_some_and(is_own),
            "from_object" => self.packages.contains("flask") && matches!(first, Some(Val::Text(_) | Val::Opaque)),
            "use" | "switch_backend" => {
                self.packages.contains("matplotlib") && !matches!(first, Some(Val::Text(text)) if !text.contains(':'))
            }
            "apply" | "agg" | "aggregate" | "transform" | "pipe" => {
                matches!(first, Some(Val::Text(text)) if matches!(&**text, "eval" | "query" | "to_pickle"))
            }
            "main" => {
                let module =
                    arguments.keyword("module").or_else(|| first.filter(|_| self.packages.contains("unittest")));
                module.is_some_and(|module| module.as_str().is_some_and(|name| name != "__main__"))
            }
            _ => false,
        };
        let in_matplotlib = self.packages.contains("matplotlib");
        let sets = |value: &Val| {
            matches!(value, Val::Dict(_))
                && value.elements().is_some_and(|keys| keys.iter().filter_map(Val::as_str).any(names_program))
        };
        let in_duckdb = self.packages.contains("duckdb");
        let starts = |text: &str| {
            in_duckdb && text.trim_end().ends_with('|')
                || text.contains("-cmd-prefix")
                || text.contains("-launcher=")
                || text.contains("write18")
        };
        let by_option = arguments.all().any(|value| {
            value.as_str().is_some_and(starts)
                || in_matplotlib && sets(value)
                || matches!(value, Val::Seq(all) if all.iter().filter_map(Val::as_str).any(starts))
        });
        if loads_pickles || extends || by_text || by_option {
            self.doubt(at, name);
        }
    }

    /// A text that names a file which an import of this or a later program finds.
    pub(super) fn doubt_file(&mut self, text: &str, at: TextSize) {
        let name = text.rsplit(['/', '\\']).next().unwrap_or_default();
        let Some((stem, ending)) = name.split_once('.') else { return };
        let is_code = ending.ends_with("py") || ending.ends_with("pyc") || ending.ends_with("so") || ending == "pyd";
        let found =
            self.packages.contains(stem) || known::is_known(stem) || name == "__init__.py" && text.contains('/');
        let runs = matches!(stem, "sitecustomize" | "usercustomize") && is_code || ending == "pth" && stem != "model";
        let writes =
            ["write", "'w", "\"w", "'a", "\"a", "rename", "replace", "copy", "move", "link", "retrieve", "extract"];
        let in_project = stem == "__init__" && !self.imports_below(text);
        if (is_code && found && !in_project || runs && ending != "pth" || runs && text.contains("site-packages"))
            && writes.iter().any(|word| self.source.contains(word))
        {
            self.doubt(at, name);
        }
    }

    /// Whether the folder of a file is one that the program imports.
    fn imports_below(&self, path: &str) -> bool {
        path.split(['/', '\\']).any(|step| self.packages.contains(step) || !step.is_empty() && known::is_known(step))
    }

    /// Remembers that a file was written whose name is not known here.
    pub(super) fn note_written(&mut self, base: Option<&Val>, arguments: &Arguments) {
        let known_name = |value: &Val| value.each().iter().all(|value| matches!(value, Val::Text(_)));
        let named = match base {
            Some(Val::File(file)) => known_name(file),
            // What a path was made of is not remembered, and whither the folder leads is not known.
            Some(Val::Path(path)) if path.ends_with(')') || &**path == "os" => false,
            _ => arguments.get(0).is_none_or(known_name),
        };
        if let (false, Some(scope)) = (named, self.scopes.last()) {
            self.wrote.insert(scope.place);
        }
    }

    pub(super) fn doubt_variables(&mut self, method: &str, arguments: &Arguments, at: TextSize) {
        match method {
            "setdefault" | "__setitem__" => self.doubt_variable(arguments.get(0), at),
            "update" => {
                for (key, _) in &arguments.keywords {
                    self.doubt_variable(Some(&Val::text(key)), at);
                }
                match arguments.get(0) {
                    Some(Val::Dict(items)) => items.iter().for_each(|(key, _)| self.doubt_variable(Some(key), at)),
                    Some(_) => self.doubt_variable(None, at),
                    None => {}
                }
            }
            _ => {}
        }
    }

    /// A variable of the environment is set.
    pub(super) fn doubt_variable(&mut self, key: Option<&Val>, at: TextSize) {
        let decides = |key: &Val| match key {
            Val::Text(name) => {
                let upper = name.to_ascii_uppercase();
                crate::shell::decides(&upper) || DECIDING_ENDS.iter().any(|end| upper.ends_with(end))
            }
            _ => true,
        };
        if key.is_none_or(|key| key.each().iter().any(decides)) {
            self.doubt(at, "os.environ");
        }
    }

    /// A setting of a package: some name the programs that it starts.
    pub(super) fn doubt_setting(&mut self, key: Option<&Val>, at: TextSize) {
        if key
            .is_some_and(|key| key.each().iter().any(|key| key.as_str().is_some_and(super::given::is_setting_unknown)))
        {
            self.doubt(at, "rcParams");
        }
    }

    /// An attribute of a package is set.
    pub(super) fn doubt_stored(&mut self, at: TextSize, path: &str) {
        let last = path.rsplit('.').next().unwrap_or_default();
        if watched::STORED.contains(&last) && !path.starts_with("builtins.") {
            self.doubt(at, path);
        }
    }
}

/// Whether a setting of matplotlib may name a program or a module.
fn names_program(key: &str) -> bool {
    const GROUPS: [&str; 9] = ["text", "animation", "pgf", "ps", "pdf", "tk", "webagg", "docstring", "path"];
    let group = key.split_once('.').map(|(group, _)| group);
    key == "backend" || group.is_some_and(|group| GROUPS.contains(&group)) && super::given::is_setting_unknown(key)
}

fn of_call(path: &str) -> bool {
    path.contains('(')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_telling_only_if_nothing_refused_is_missing() {
        for name in TELLING {
            assert!(super::super::rules::telling(name).is_none(), "{name} is refused already");
        }
    }
}
