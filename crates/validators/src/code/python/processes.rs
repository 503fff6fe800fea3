//! Calls that a person is asked about, unless what they are given is hostile by itself: commands that are started, files
//! and folders that are copied or deleted, modules that are imported by name, data that is unpickled.

use ruff_text_size::TextSize;

use super::Checker;
use super::calls::Arguments;
use super::rules::{self, Route};
use super::value::Val;
use crate::shell;

/// Functions that start a program.
const STARTS: &[&str] = &[
    "asyncio.create_subprocess_exec",
    "asyncio.create_subprocess_shell",
    "asyncio.subprocess.create_subprocess_exec",
    "asyncio.subprocess.create_subprocess_shell",
    "subprocess.Popen",
    "subprocess.call",
    "subprocess.check_call",
    "subprocess.check_output",
    "subprocess.getoutput",
    "subprocess.getstatusoutput",
    "subprocess.run",
];
/// Folders of the system, and files that decide what runs later.
const SYSTEM: &[&str] =
    &["/bin", "/boot", "/dev", "/etc", "/lib", "/opt", "/proc", "/root", "/sbin", "/sys", "/usr", "/var"];
const PROFILE: &[&str] =
    &[".bashrc", ".profile", ".zshrc", ".bash_profile", "authorized_keys", "crontab", ".ssh/", ".config/autostart"];
const SHELLS: &[&str] = &["sh", "bash", "zsh", "dash", "ksh", "cmd", "cmd.exe", "powershell", "pwsh"];

impl Checker<'_> {
    /// Looks at what such a call is given.
    pub(super) fn judge_started(&mut self, path: &str, arguments: &Arguments, at: TextSize) {
        if !self.judging {
            return;
        }
        if STARTS.contains(&path) {
            // This one takes the words of the command one by one.
            let words = path.ends_with("create_subprocess_exec").then(|| Val::seq(arguments.positional.clone()));
            let given = words.as_ref().or_else(|| arguments.get(0)).or_else(|| arguments.keyword("args"));
            for command in given.into_iter().flat_map(Val::each).filter_map(command) {
                self.judge_command(path, &command, at);
            }
        } else if path.starts_with("shutil.") {
            self.judge_files(path, arguments, at);
        } else if matches!(path, "pickle.loads" | "dill.loads" | "cloudpickle.loads") {
            if arguments.get(0).is_some_and(|data| matches!(data, Val::Bytes(_) | Val::Text(_))) {
                self.refuse_route(at, path, Route::Code);
            }
        } else if matches!(path, "os.chmod" | "os.chown" | "os.lchown" | "os.fchmod" | "os.nice" | "os.setpriority") {
            let gives = match (path, arguments.get(1).or_else(|| arguments.keyword("mode"))) {
                ("os.chmod" | "os.fchmod", Some(Val::Int(mode))) => mode & 0o6002 != 0,
                ("os.chmod" | "os.fchmod", _) => false,
                _ => !matches!(arguments.get(0), Some(Val::Int(0..))) || path != "os.nice",
            };
            if gives {
                self.ask_effect(at, "code-rights", format!("`{path}` gives rights, or takes them"));
            }
        } else if path == "importlib.import_module" {
            let named = arguments.get(0).into_iter().flat_map(Val::each);
            for module in named.filter_map(Val::as_str) {
                if rules::module(module).is_some() {
                    self.refuse_route(at, module, Route::Loader);
                }
            }
        }
    }

    fn judge_command(&mut self, path: &str, command: &str, at: TextSize) {
        let program = command.split([' ', '\'']).find(|word| !word.is_empty()).unwrap_or_default();
        let name = program.rsplit('/').next().unwrap_or_default();
        // A shell, and a connection for it.
        let reversed = SHELLS.contains(&name) && self.packages.contains("socket");
        match shell::check(command) {
            Err(finding) if !finding.asks() => {
                let message = format!("`{path}` starts a hostile command: {}", finding.message);
                self.refuse(at, Route::Process.rule(), message, None);
            }
            _ if reversed => self.refuse_route(at, path, Route::Process),
            _ => {}
        }
    }

    fn judge_files(&mut self, path: &str, arguments: &Arguments, at: TextSize) {
        let texts = || arguments.all().flat_map(Val::each).filter_map(Val::as_str);
        let of_system =
            |text: &str| SYSTEM.iter().any(|folder| is_below(text, folder)) || PROFILE.iter().any(|f| text.contains(f));
        let deletes = |text: &str| {
            let text = text.trim_end_matches('/');
            matches!(text, "" | "." | ".." | "~" | "*")
                || text.starts_with('/') && !text.starts_with("/tmp/")
                || text.starts_with("~")
                || text.starts_with("..")
        };
        let hostile = match path {
            "shutil.rmtree" => texts().any(deletes),
            "shutil.disk_usage" | "shutil.which" => false,
            _ => texts().skip(usize::from(path != "shutil.move")).any(of_system),
        };
        if hostile {
            self.refuse_route(at, path, Route::Blocked);
        }
    }
}

/// The command as a shell would be given it; words that are not known stand as `x`.
fn command(given: &Val) -> Option<String> {
    match given {
        Val::Text(text) => Some(text.to_string()),
        Val::Partial(start, end) => Some(format!("{start}x{end}")),
        Val::Seq(words) => {
            let quoted = words.iter().map(|word| match word {
                Val::Text(text) => format!("'{}'", text.replace('\'', r"'\''")),
                Val::Path(path) if &**path == "sys.executable" => "python3".to_owned(),
                _ => "x".to_owned(),
            });
            Some(quoted.collect::<Vec<_>>().join(" "))
        }
        _ => None,
    }
}

fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
