//! What is known about Python's modules: which of them, and which of their members, lead where a program may not go.
//!
//! Only knowledge: no syntax, no flow. Names are qualified as Python would, and the result of a call ends in `()`.

mod asked;
pub(super) mod effects;
mod modules;
pub(super) mod watched;

pub(super) use asked::{Asked, asked};
use modules::{BLOCKED, CALLS, MEMBERS};

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use crate::code::{Level, known};

/// Where something leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Route {
    /// Starts or steers a process.
    Process,
    /// Runs text or data as code.
    Code,
    /// Runs or reaches native code.
    Native,
    /// Opens a raw or listening socket.
    Socket,
    /// Imports by name, changes what an import finds, or walks the interpreter's own structures.
    Loader,
    /// On the list of blocked modules.
    Blocked,
    /// Changes something, at `readonly`.
    Write,
}

impl Route {
    pub(super) const fn rule(self) -> &'static str {
        match self {
            Self::Process => "code-process",
            Self::Code => "code-dynamic",
            Self::Native => "code-native",
            Self::Socket => "code-socket",
            Self::Loader => "code-loader",
            Self::Blocked => "code-import",
            Self::Write => "code-write",
        }
    }

    pub(super) const fn says(self) -> &'static str {
        match self {
            Self::Process => "leads to another process",
            Self::Code => "runs text or data as code",
            Self::Native => "leads to native code",
            Self::Socket => "leads to a raw or listening socket",
            Self::Loader => "reaches modules or the interpreter by the back door",
            Self::Blocked => "is a blocked module",
            Self::Write => "changes something, which readonly code may not",
        }
    }

    /// What an author does instead; at the strict levels only what may be imported there is named.
    pub(super) fn advice(self, level: Level) -> Option<&'static str> {
        match self {
            Self::Code if level >= Level::Strict => {
                Some("parse data with json, and call functions by name from a dictionary")
            }
            Self::Process => Some("do the work in Python itself, or ask for a tool that does it"),
            Self::Code => {
                Some("parse data with json or ast.literal_eval, and call functions by name from a dictionary")
            }
            Self::Socket => Some("use an HTTP client such as httpx"),
            Self::Loader => Some("import the module with an import statement and name its members directly"),
            Self::Write => Some("return the data instead of writing it"),
            Self::Native | Self::Blocked => None,
        }
    }
}

/// Members of `os` and others that change something, for `readonly`.
const WRITES: &[&str] = &[
    "httpx.AsyncHTTPTransport",
    "httpx.delete",
    "httpx.patch",
    "httpx.post",
    "httpx.put",
    "json.dump",
    "os.chdir",
    "os.chflags",
    "os.chmod",
    "os.chown",
    "os.copy_file_range",
    "os.fchdir",
    "os.fchmod",
    "os.fchown",
    "os.ftruncate",
    "os.lchflags",
    "os.lchmod",
    "os.lchown",
    "os.link",
    "os.lockf",
    "os.makedirs",
    "os.mkdir",
    "os.mkfifo",
    "os.mknod",
    "os.nice",
    "os.posix_fallocate",
    "os.putenv",
    "os.pwrite*",
    "os.remove*",
    "os.rename*",
    "os.replace",
    "os.rmdir",
    "os.sendfile",
    "os.setpriority",
    "os.setxattr",
    "os.splice",
    "os.symlink",
    "os.sync",
    "os.truncate",
    "os.umask",
    "os.unlink",
    "os.unsetenv",
    "os.utime",
    "os.write*",
    "urllib.request.FancyURLopener",
    "urllib.request.Request",
    "urllib.request.URLopener",
    "urllib.request.urlretrieve",
];

/// Modules that others carry around and of which no member is judged by itself, or which are known under a second name.
const CARRIED: &[&str] = &[
    "_posixsubprocess",
    "asyncio",
    "builtins",
    "ctypes",
    "fcntl",
    "gc",
    "imp",
    "importlib",
    "marshal",
    "multiprocessing",
    "nt",
    "os",
    "pdb",
    "pickle",
    "posix",
    "pty",
    "pydoc",
    "runpy",
    "shutil",
    "socket",
    "socketserver",
    "subprocess",
    "sys",
    "webbrowser",
];

/// Names of blocked modules that are ordinary words, and mean something else inside other modules: `boto3.resource`,
/// `scipy.signal`.
const ORDINARY: &[&str] = &[
    "capnp",
    "code",
    "commands",
    "cython",
    "dl",
    "dragonfly",
    "envoy",
    "fabric",
    "invoke",
    "readline",
    "resource",
    "sh",
    "signal",
    "site",
    "test",
];

/// Attributes that lead from any object into the interpreter.
const INNER: &[&str] = &[
    "__builtins__",
    "__closure__",
    "__code__",
    "__defaults_globals__",
    "__getattribute__",
    "__globals__",
    "__import__",
    "__loader__",
    "__objclass__",
    "__reduce__",
    "__reduce_ex__",
    "__self__",
    "__self_class__",
    "__subclasses__",
    "__thisclass__",
    "_module",
    "ag_code",
    "ag_frame",
    "co_code",
    "cr_code",
    "cr_frame",
    "create_module",
    "exec_module",
    "f_back",
    "f_builtins",
    "f_code",
    "f_globals",
    "f_locals",
    "func_code",
    "func_globals",
    "gi_code",
    "gi_frame",
    "gi_yieldfrom",
    "load_module",
    "tb_frame",
];

/// Attributes so particular that they mean the same on any object.
const TELLING: &[(&str, Route)] = {
    use Route::{Native, Process, Socket};
    &[
        ("Popen", Process),
        ("check_output", Process),
        ("create_connection", Socket),
        ("create_datagram_endpoint", Socket),
        ("create_server", Socket),
        ("create_subprocess_exec", Process),
        ("create_subprocess_shell", Process),
        ("create_unix_connection", Socket),
        ("create_unix_server", Socket),
        ("enable_load_extension", Native),
        ("getstatusoutput", Process),
        ("load_extension", Native),
        ("popen", Process),
        ("posix_spawn", Process),
        ("serve_forever", Socket),
        ("setconfig", Native),
        ("sock_accept", Socket),
        ("start_server", Socket),
        ("subprocess_exec", Process),
        ("subprocess_shell", Process),
    ]
};

type Lines = Vec<(&'static str, Route)>;

/// What is known of the modules with one first part of their names.
#[derive(Default)]
struct OfRoot {
    blocked: Lines,
    /// Members that are judged, by their second part, where they can be known by it.
    members: HashMap<&'static str, Lines>,
    /// The others: patterns, and names of packages that keep one thing under several modules.
    loose: Lines,
}

static INDEX: LazyLock<HashMap<&'static str, OfRoot>> = LazyLock::new(|| {
    let mut index: HashMap<&'static str, OfRoot> = HashMap::new();
    for line in BLOCKED {
        index.entry(root(line.0)).or_default().blocked.push(*line);
    }
    for line in MEMBERS {
        let first = root(line.0);
        let of_root = index.entry(first).or_default();
        match second(line.0) {
            Some(second) if !line.0.ends_with('*') && known::is_of_library(first) => {
                of_root.members.entry(second).or_default().push(*line);
            }
            _ => of_root.loose.push(*line),
        }
    }
    for (call, _) in CALLS {
        index.entry(root(call)).or_default();
    }
    index
});

/// The second part of a name.
fn second(path: &str) -> Option<&str> {
    path.split(['.', '(']).nth(1)
}

/// The first part of a name.
fn root(path: &str) -> &str {
    path.split(['.', '(']).next().unwrap_or(path)
}

/// Where a module, or one above it, leads.
pub(super) fn module(name: &str) -> Option<Route> {
    let covers =
        |blocked: &str| name.strip_prefix(blocked).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    let blocked = INDEX.get(root(name)).and_then(|of_root| of_root.blocked.iter().find(|(blocked, _)| covers(blocked)));
    if let Some((_, route)) = blocked {
        return Some(*route);
    }
    // The two parts of importlib that only read; everything else of it imports by name.
    let importing = name == "importlib" || name.starts_with("importlib.");
    let reading = ["importlib.metadata", "importlib.resources"];
    let read_only =
        reading.iter().any(|part| name.strip_prefix(part).is_some_and(|r| r.is_empty() || r.starts_with('.')))
            && !name.contains("import_module");
    (importing && !read_only).then_some(Route::Loader)
}

/// Where a member leads wherever it is named.
pub(super) fn member(path: &str) -> Option<Route> {
    let of_root = INDEX.get(root(path))?;
    let members = second(path).and_then(|second| of_root.members.get(second));
    let found = members.and_then(|lines| lines.iter().find(|(pattern, _)| matches(pattern, path)));
    let loose = || of_root.loose.iter().find(|(pattern, _)| matches(pattern, path) || is_alias(pattern, path));
    found.or_else(loose).map(|(_, route)| *route)
}

/// Whether a path is another way to what a pattern names: packages keep one class under several modules, as
/// `yaml.UnsafeLoader` and `yaml.loader.UnsafeLoader`.
pub(super) fn is_alias(pattern: &str, path: &str) -> bool {
    let Some((package, name)) = pattern.split_once('.') else { return false };
    let Some(inside) = path.strip_prefix(package).and_then(|rest| rest.strip_suffix(name)) else { return false };
    inside.len() > 1
        && inside.starts_with('.')
        && inside.ends_with('.')
        && !inside.contains('(')
        && !name.ends_with('*')
        && !known::is_of_library(package)
}

/// Where a member may lead when called.
pub(super) fn call(path: &str) -> Option<Route> {
    static BY_NAME: LazyLock<HashMap<&str, Route>> = LazyLock::new(|| CALLS.iter().copied().collect());
    BY_NAME.get(path).copied()
}

/// Whether a member changes something.
pub(super) fn writes(path: &str) -> bool {
    WRITES.iter().any(|pattern| matches(pattern, path))
        || path.starts_with("httpx.")
            && ["().post", "().put", "().patch", "().delete"].iter().any(|end| path.ends_with(end))
}

fn matches(pattern: &str, path: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(prefix) => path.starts_with(prefix),
        None => path
            .strip_prefix(pattern)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.') || rest.starts_with('(')),
    }
}

/// The module with members that are judged, or that is blocked, which a name inside another module may be.
pub(super) fn carried(name: &str) -> Option<&'static str> {
    let bare = name.trim_start_matches('_');
    if let Some(module) = CARRIED.iter().find(|module| **module == bare || **module == name) {
        return Some(module);
    }
    let (module, _) = INDEX.get_key_value(bare)?;
    (!ORDINARY.contains(&bare)).then_some(*module)
}

/// The modules of which a name on any object is taken for the module itself.
pub(super) fn telling_module(name: &str) -> Option<&'static str> {
    let bare = name.trim_start_matches('_');
    ["os", "sys", "builtins", "subprocess", "importlib", "posix", "pkgutil", "ctypes", "runpy"]
        .into_iter()
        .find(|module| *module == bare)
}

/// Whether some members of a module are refused, so that a member chosen at run time must be.
pub(super) fn is_guarded(path: &str) -> bool {
    if path.contains('(') {
        return false;
    }
    const GUARDED: [&str; 14] = [
        "asyncio",
        "builtins",
        "gc",
        "importlib",
        "inspect",
        "marshal",
        "os",
        "pickle",
        "pkgutil",
        "ssl",
        "sys",
        "sys.modules",
        "types",
        "yaml",
    ];
    GUARDED.contains(&path) || module(path).is_some()
}

/// The names of the members that are refused in a guarded module.
pub(super) fn refused_members(path: &str) -> impl Iterator<Item = &'static str> {
    let prefix = format!("{path}.");
    MEMBERS.iter().filter_map(move |(pattern, _)| pattern.strip_prefix(&prefix).map(|rest| rest.trim_end_matches('*')))
}

/// Whether an attribute leads into the interpreter from any object.
pub(super) fn is_inner(name: &str) -> bool {
    static NAMES: LazyLock<HashSet<&str>> = LazyLock::new(|| INNER.iter().copied().collect());
    NAMES.contains(name)
}

/// Whether an attribute walks from an object to the classes above its own.
pub(super) fn is_ancestry(name: &str) -> bool {
    matches!(name, "__base__" | "__bases__" | "__mro__" | "mro")
}

/// Where an attribute leads on any object.
pub(super) fn telling(name: &str) -> Option<Route> {
    static BY_NAME: LazyLock<HashMap<&str, Route>> = LazyLock::new(|| TELLING.iter().copied().collect());
    BY_NAME.get(name).copied()
}

/// The last names of members that are worth hiding, for accessors that take a name.
pub(super) fn is_telling_member(name: &str) -> bool {
    is_inner(name)
        || telling(name).is_some()
        || matches!(name, "system" | "eval" | "exec" | "compile" | "fork" | "modules")
        || MEMBERS.iter().any(|(pattern, _)| {
            ["os.", "builtins."].iter().any(|module| {
                pattern.strip_prefix(module).is_some_and(|member| match member.strip_suffix('*') {
                    Some(start) => name.starts_with(start) && name.len() > start.len() || name == start,
                    None => member == name,
                })
            })
        })
}

/// Methods that change a file or remote state, when the object is not known.
pub(super) fn writing_method(name: &str) -> bool {
    matches!(
        name,
        "write"
            | "writelines"
            | "write_text"
            | "write_bytes"
            | "unlink"
            | "mkdir"
            | "rmdir"
            | "touch"
            | "rename"
            | "symlink_to"
            | "hardlink_to"
            | "chmod"
            | "truncate"
            | "post"
            | "put"
            | "patch"
            | "delete"
            | "to_csv"
            | "to_json"
            | "to_parquet"
            | "to_excel"
            | "to_sql"
            | "to_pickle"
            | "commit"
            | "executemany"
            | "executescript"
            | "savefig"
            | "upload"
    )
}

/// The names that Python finds without an import.
pub(super) fn is_builtin(name: &str) -> bool {
    const NAMES: &str = "__build_class__ __import__ abs aiter all anext any ascii bin bool breakpoint bytearray bytes \
        callable chr classmethod compile complex copyright credits delattr dict dir divmod enumerate eval exec execfile exit filter \
        float format frozenset getattr globals hasattr hash help hex id input int isinstance issubclass iter len \
        license list locals map max memoryview min next object oct open ord pow print property quit range reload repr reversed \
        round set setattr slice sorted staticmethod str sum super tuple type vars zip";
    static BUILTINS: LazyLock<HashSet<&str>> = LazyLock::new(|| NAMES.split_ascii_whitespace().collect());
    BUILTINS.contains(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_and_members() {
        for (name, blocked) in [
            ("subprocess", true),
            ("subprocess.run", true),
            ("subprocesses", false),
            ("http.server", true),
            ("http", false),
            ("importlib", true),
            ("importlib.metadata", false),
            ("importlib.metadata.version", false),
            ("os", false),
        ] {
            assert_eq!(module(name).is_some(), blocked, "{name}");
        }
        for (name, refused) in [
            ("os.system", true),
            ("os.systematic", false),
            ("os.execvp", true),
            ("os.path", false),
            ("flask.Flask().run", true),
            ("flask.Flask()", false),
            ("yaml.safe_load", false),
            ("yaml.load", false),
        ] {
            assert_eq!(member(name).is_some(), refused, "{name}");
        }
        assert!(is_builtin("eval") && !is_builtin("evaluate"));
    }
}
