//! Where a server's program lives and what it needs to run. Looks at the disk, decides nothing.
//!
//! Programs are seldom alone: a script needs its interpreter, a package the folder of its dependencies, a virtual
//! environment its interpreter elsewhere. Found here are the folders that hold code; none of them holds secrets.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The places that matter for one server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places {
    /// What any program needs: the system's libraries and tools, and tool chains below the home folder.
    pub runtime: Vec<PathBuf>,
    /// The server's own program.
    pub program: Vec<PathBuf>,
    /// What links on the way to its program lead to, each with the places of the links. Given only if the server
    /// cannot change any of those.
    pub linked: Vec<(Vec<PathBuf>, PathBuf)>,
    /// Where it runs.
    pub cwd: Option<PathBuf>,
    /// The user's home folder.
    pub home: Option<PathBuf>,
    /// The folder that is its own.
    pub sandbox: PathBuf,
    /// Our own files, which no server may see.
    pub private: Vec<PathBuf>,
    /// Links in the root folder, such as from `/home` to `/var/home`. No other link in a granted path is followed: a
    /// server may have made it.
    pub aliases: Vec<(PathBuf, PathBuf)>,
}

/// What is known of a server before its places are found.
#[derive(Debug, Clone, Copy)]
pub struct ConfinedServer<'a> {
    /// The program as configured: a path or a name.
    pub program: &'a str,
    /// Its arguments.
    pub args: &'a [String],
    /// The configured folder, or our own.
    pub cwd: &'a Path,
    /// The `PATH` it gets.
    pub path: &'a OsStr,
    /// The user's home folder.
    pub home: Option<&'a Path>,
    /// The folder that is to be its own. It need not exist.
    pub sandbox: &'a Path,
    /// Our own files.
    pub private: &'a [PathBuf],
}

/// The parts of a system that hold programs and what they read. `/etc` as a whole holds secrets, so only files that
/// every user of a machine may read are named.
const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/opt",
    "/nix/store",
    "/run/current-system",
    "/snap",
    // The one home folder that is the same on every machine that has it.
    concat!("/home", "/linuxbrew/.linuxbrew"),
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/crypto-policies",
    "/etc/fonts",
    "/etc/gai.conf",
    "/etc/group",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/java",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/passwd",
    "/etc/pki/ca-trust",
    "/etc/pki/tls/certs",
    "/etc/protocols",
    "/etc/python3",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/ssl/cert.pem",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/timezone",
    "/run/systemd/resolve",
    "/sys/devices/system/cpu",
    "/sys/fs/cgroup",
    "/sys/kernel/mm/transparent_hugepage",
    "/proc/cpuinfo",
    "/proc/filesystems",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/sys/crypto",
    "/proc/sys/kernel/cap_last_cap",
    "/proc/sys/kernel/ngroups_max",
    "/proc/sys/kernel/osrelease",
    "/proc/sys/vm",
    "/proc/uptime",
    "/proc/version",
];

/// Tool chains that people keep below their home folder: code that was fetched, no settings and no keys.
const TOOLS: &[&str] = &[
    ".asdf",
    ".bun/bin",
    ".bun/install",
    ".cargo/bin",
    ".deno/bin",
    ".dotnet",
    ".fnm",
    ".local/bin",
    ".local/lib",
    ".local/pipx",
    ".local/share/fnm",
    ".local/share/mise",
    ".local/share/pipx",
    ".local/share/pnpm",
    ".local/share/uv",
    ".npm-global",
    ".nvm",
    ".proto",
    ".pyenv",
    ".rbenv",
    ".rustup/toolchains",
    ".sdkman/candidates",
    ".volta",
    "go/bin",
    "miniconda3",
    "miniforge3",
];

/// What marks the folder of a package or environment.
const MARKS: &[&str] = &["package.json", "pyproject.toml", "setup.py", "pyvenv.cfg", "deno.json", "Gemfile", "go.mod"];

/// Arguments that name a program, by their ending.
const SCRIPTS: &[&str] =
    &["js", "mjs", "cjs", "ts", "mts", "py", "pyz", "pex", "jar", "rb", "sh", "php", "dll", "wasm"];

impl Places {
    /// Looks for everything that one server needs to run.
    #[must_use]
    pub fn find(server: &ConfinedServer<'_>) -> Self {
        let mut places = Self {
            runtime: SYSTEM.iter().map(Path::new).filter(|path| path.exists()).map(real).collect(),
            program: Vec::new(),
            linked: Vec::new(),
            cwd: Some(real(server.cwd)),
            home: server.home.map(real),
            sandbox: real(server.sandbox),
            private: server.private.iter().map(|path| real(path)).collect(),
            aliases: aliases(),
        };
        if let Some(home) = places.home.clone() {
            places
                .runtime
                .extend(TOOLS.iter().map(|name| home.join(name)).filter(|path| path.exists()).map(|path| real(&path)));
        }
        let mut code = Vec::new();
        code.extend(located(server));
        code.extend(server.args.iter().filter_map(|arg| script(&server.cwd.join(arg))));
        for file in code {
            // Both where it stands and where it leads: an environment is found by the one, its libraries by the other.
            let hops = hops(&file);
            if let Some(stands) = hops.first().and_then(|file| places.code_around(file)) {
                places.program.push(stands);
            }
            if let Some(library) = hops.last().and_then(|file| library(file)).map(|folder| real(&folder))
                && !places.runtime.iter().any(|known| library.starts_with(known))
                && places.may_give(&library)
                && !places.hides(&library)
            {
                places.program.push(library);
            }
            if let [links @ .., last] = hops.as_slice()
                && !links.is_empty()
                && let Some(leads) = places.code_around(last)
            {
                places.linked.push((links.to_vec(), leads));
            }
        }
        places.runtime.sort();
        places.runtime.dedup();
        places.program.sort();
        places.program.dedup();
        places
    }

    /// The path without a link in the root folder.
    #[must_use]
    pub fn without_alias(&self, path: &Path) -> PathBuf {
        let known = self.aliases.iter().find_map(|(from, to)| Some((to, path.strip_prefix(from).ok()?)));
        known.map_or_else(|| path.to_path_buf(), |(to, rest)| to.join(rest))
    }

    /// What has to be given so that a file of code can be used; nothing if everybody has it.
    fn code_around(&self, file: &Path) -> Option<PathBuf> {
        if self.runtime.iter().any(|known| file.starts_with(known)) {
            return None;
        }
        // Relative imports reach no further than the package; without one only the file itself is surely code.
        let given =
            package(file).map(|folder| real(&folder)).filter(|folder| self.may_give(folder) && !self.hides(folder));
        Some(given.unwrap_or_else(|| file.to_path_buf()))
    }

    /// Whether this is one of the folders of the home in which programs keep settings and keys.
    fn hides(&self, path: &Path) -> bool {
        let below = self.home.as_deref().and_then(|home| path.strip_prefix(home).ok());
        let first = below.and_then(|below| below.components().next());
        first.is_some_and(|name| name.as_os_str().as_encoded_bytes().starts_with(b"."))
    }
}

fn aliases() -> Vec<(PathBuf, PathBuf)> {
    let links = std::fs::read_dir("/").into_iter().flatten().flatten();
    let links = links.map(|entry| entry.path()).filter(|path| path.is_symlink());
    links.filter_map(|path| Some((path.clone(), path.canonicalize().ok()?))).collect()
}

/// The places of the links on the way to a file, and of the file itself: first where it was looked for, last where it
/// is. Only the last part of a path is a link in what is returned.
fn hops(file: &Path) -> Vec<PathBuf> {
    let mut hops = Vec::new();
    let mut next = file.to_path_buf();
    while hops.len() < 16 {
        let (Some(parent), Some(name)) = (next.parent(), next.file_name()) else { break };
        let place = real(parent).join(name);
        let target = std::fs::read_link(&place).ok().map(|target| real(parent).join(target));
        hops.push(place);
        match target {
            Some(target) => next = target,
            None => break,
        }
    }
    hops
}

/// The program as it will be found.
fn located(server: &ConfinedServer<'_>) -> Option<PathBuf> {
    if server.program.contains(std::path::MAIN_SEPARATOR) {
        return Some(server.cwd.join(server.program)).filter(|path| path.is_file());
    }
    std::env::split_paths(server.path).map(|folder| folder.join(server.program)).find(|path| path.is_file())
}

fn script(path: &Path) -> Option<PathBuf> {
    let known = path.extension().and_then(OsStr::to_str).is_some_and(|ending| SCRIPTS.contains(&ending));
    (known && path.is_file()).then(|| path.to_path_buf())
}

/// The folder of the package or environment that a file belongs to, else the folder it is in.
fn package(file: &Path) -> Option<PathBuf> {
    // Dependencies stand beside each other in the outermost of these.
    let mut above = PathBuf::new();
    for part in file.components() {
        above.push(part);
        if part.as_os_str() == "node_modules" || part.as_os_str() == "site-packages" {
            return Some(above);
        }
    }
    let marked = file.ancestors().skip(1).take(6).find(|folder| MARKS.iter().any(|mark| folder.join(mark).exists()));
    marked.or_else(|| file.parent()).map(Path::to_path_buf)
}

/// The library of an interpreter, which stands beside its `bin` and is called like it: those of version managers are neither
/// the system's nor, where they were put elsewhere, below the home folder.
fn library(file: &Path) -> Option<PathBuf> {
    let bin = file.parent().filter(|folder| folder.file_name() == Some(OsStr::new("bin")))?;
    let name = file.file_name()?.to_str()?;
    let stem = name.split(|letter: char| !letter.is_ascii_alphabetic()).next().filter(|stem| !stem.is_empty())?;
    let library = bin.parent()?.join("lib");
    let called_like_it = |name: &OsStr| name.to_str().is_some_and(|name| name.starts_with(stem));
    let mut inside = std::fs::read_dir(&library).ok()?.flatten();
    inside.any(|entry| called_like_it(&entry.file_name()) && entry.path().is_dir()).then_some(library)
}

/// The path without links, as far as it exists.
fn real(path: &Path) -> PathBuf {
    for ancestor in path.ancestors() {
        if let (Ok(found), Ok(rest)) = (ancestor.canonicalize(), path.strip_prefix(ancestor)) {
            return if rest.as_os_str().is_empty() { found } else { found.join(rest) };
        }
    }
    path.to_path_buf()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_with_their_packages() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().canonicalize().unwrap().join(name);
        for file in [
            "app/package.json",
            "app/dist/index.js",
            "hoisted/node_modules/pkg/package.json",
            "hoisted/node_modules/pkg/cli.js",
            "venv/pyvenv.cfg",
            "venv/bin/server",
            "alone/tool.py",
            "bare.py",
            ".nvm/v/bin/node",
            ".ssh/id",
            "chains/3.11/bin/python3",
            "chains/3.11/lib/python3.11/os.py",
            "other/bin/python3",
            "other/lib/ruby/x.rb",
            ".hidden/bin/python3",
            ".hidden/lib/python3.11/os.py",
        ] {
            std::fs::create_dir_all(at(file).parent().unwrap()).unwrap();
            std::fs::write(at(file), "").unwrap();
        }
        let find = |program: &str, args: &[&str]| {
            let args: Vec<String> = args.iter().map(|arg| at(arg).display().to_string()).collect();
            let (path, cwd, sandbox) = (at(".nvm/v/bin"), at("alone"), at("data/sandboxes/s"));
            let program = if program.contains('/') { at(program).display().to_string() } else { program.to_owned() };
            Places::find(&ConfinedServer {
                program: &program,
                args: &args,
                cwd: &cwd,
                path: path.as_os_str(),
                home: Some(home.path()),
                sandbox: &sandbox,
                private: &[at("data")],
            })
        };
        for (program, args, expected) in [
            ("node", &["app/dist/index.js"][..], "app"),
            ("node", &["hoisted/node_modules/pkg/cli.js"], "hoisted/node_modules"),
            ("venv/bin/server", &[], "venv"),
            ("node", &["alone/tool.py"], "alone"),
            // Its folder is the home folder, which holds more than code.
            ("node", &["bare.py"], "bare.py"),
        ] {
            assert_eq!(find(program, args).program, [at(expected)], "{program} {args:?}");
        }
        // An interpreter comes with its library, and with nothing that only stands beside it.
        assert_eq!(find("chains/3.11/bin/python3", &[]).program, [at("chains/3.11/bin"), at("chains/3.11/lib")]);
        assert_eq!(find("other/bin/python3", &[]).program, [at("other/bin")]);
        assert!(!find(".hidden/bin/python3", &[]).program.contains(&at(".hidden/lib")));
        // What is no script gives nothing, and a tool chain is there for everybody.
        let plain = find("node", &[".ssh/id"]);
        assert_eq!(plain.program, Vec::<PathBuf>::new());
        assert!(plain.runtime.contains(&at(".nvm")));
        assert_eq!(plain.sandbox, at("data/sandboxes/s"));
    }
}
