//! Tools that take words for one program: `run_git {args: "push --force"}`, `kubectl {command: "exec .. "}`.
//!
//! The program stands in the name of the tool, or in that of its server where the tool's name only says that something runs.
//! What the arguments have for its words is judged with it in front: the words alone are no command that anybody knows.

use switchboard_policy::key_role::{self, Role};
use switchboard_policy::keys::{self, Mark};
use switchboard_policy::risk::fallback::words;
use switchboard_policy::risk::is_grave_choice;
use switchboard_protocol::mgp::security::ToolSecurity;
use switchboard_wire::{Kind, Object, Raw};

use super::words::beside_command;
use crate::shell::{self, Understood};
use crate::{Answer, Verdict, listed};

/// Programs that tools are called after, beside those whose names they shorten.
const PROGRAMS: &str = "git terraform tofu kubectl docker podman helm npm pnpm yarn npx pip pip3 uv cargo gh glab aws az gcloud ansible \
     brew apt systemctl psql mysql ssh rsync curl wget nmap ffmpeg gradle mvn dotnet flyctl heroku vercel wrangler supabase eksctl oc \
     istioctl vault consul nomad pulumi argocd flux kustomize minikube openssl adb sqlite3 nerdctl crictl svn rclone";
const SHORTENED: [(&str, &str); 4] =
    [("tf", "terraform"), ("kubernetes", "kubectl"), ("k8s", "kubectl"), ("kube", "kubectl")];
/// Programs whose names are words of every text: they have to be nearly all that a name says.
const WORDS: [&str; 5] = ["make", "go", "node", "find", "just"];
/// What names say around a program without saying what it does.
const AROUND: &str =
    "run exec execute call invoke command commands cmd cli tool raw generic any the a mcp server local do perform use";
/// Subcommands that act, beside words that choose something grave.
const ACTING: &str = "push apply destroy exec run rm rmi delete prune publish import taint replace rollout drain cordon scale patch edit \
     create cp attach reset rebase merge checkout clean filter-branch gc config init install uninstall upgrade rollback login logout \
     set-url add commit stash switch restore am cherry-pick revert tag update-ref submodule worktree kill stop restart build load \
     port-forward proxy debug label annotate expose autoscale taint untaint state force-unlock workspace console deploy eval ssh start";
/// Keys for the subcommand.
const VERBS: [&str; 6] = ["verb", "action", "operation", "command", "cmd", "subcommand"];

/// The program that a tool is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OwnProgram {
    program: &'static str,
    /// What the name of the tool says behind the program: `log` of `git_log`.
    said: String,
}

impl OwnProgram {
    /// By what a tool is called.
    pub(crate) fn of(declared: &ToolSecurity) -> Option<Self> {
        let name = words(declared.subject.lines().next().unwrap_or_default());
        Self::named(&name)
    }

    /// The same where the name says only that something runs, and its server is called like a program.
    pub(crate) fn of_server(declared: &ToolSecurity, server: &str) -> Option<Self> {
        let name = words(declared.subject.lines().next().unwrap_or_default());
        if !name.iter().all(|word| listed(AROUND, word)) {
            return None;
        }
        Self::named(&words(server)).map(|own| Self { said: String::new(), ..own })
    }

    fn named(name: &[String]) -> Option<Self> {
        let alone = name.iter().all(|word| WORDS.contains(&word.as_str()) || listed(AROUND, word));
        let found = name.iter().enumerate().find_map(|(at, word)| {
            let short = SHORTENED.iter().find(|(short, _)| short == word).map(|(_, program)| *program);
            let known = PROGRAMS.split_ascii_whitespace().find(|program| program == word);
            let common = WORDS.into_iter().find(|program| program == word).filter(|_| alone);
            Some((at, short.or(known).or(common)?))
        });
        let (at, program) = found?;
        let behind: Vec<&str> = name[at + 1..].iter().map(String::as_str).collect();
        let only_runs =
            |word: &&str| matches!(*word, "command" | "commands" | "cmd" | "cli" | "tool" | "raw" | "generic" | "any");
        let said = if behind.iter().any(only_runs) { String::new() } else { behind.join(" ") };
        Some(Self { program, said })
    }

    /// The commands that an object has the words of: with the program in front alone, and with what the name says behind it.
    pub(crate) fn lines(&self, object: &Object) -> Vec<OwnLine> {
        let is_verb =
            |key: &str| VERBS.contains(&key.to_ascii_lowercase().as_str()) || key_role::of(key) == Role::Command;
        let holds = |key: &str, value: &Raw| {
            let plain = match value.kind() {
                Kind::String => true,
                Kind::Array => value
                    .elements()
                    .unwrap_or_default()
                    .iter()
                    .all(|one| matches!(one.kind(), Kind::String | Kind::Number)),
                _ => false,
            };
            plain && (is_verb(key) || keys::Key::of(key).has(Mark::Words))
        };
        if !object.iter().any(|(key, value)| holds(&key, &value)) {
            return Vec::new();
        }
        let verbs = object.iter().filter(|(key, value)| is_verb(key) && holds(key, value));
        let verb = verbs.map(|(_, value)| beside_command::line_of(&value)).find(|line| !line.trim().is_empty());
        let words =
            |front: &str| beside_command::lines(object, &|key, value| is_verb(key) || !holds(key, value), front);
        let front = verb.unwrap_or_default();
        let bare = front.trim();
        let is_whole = bare.split_whitespace().next().is_some_and(|first| shell::base_name(first) == self.program);
        if is_whole {
            return Vec::new();
        }
        let join = |head: &str| -> Vec<String> {
            let head = if bare.is_empty() { head.to_owned() } else { format!("{head} {bare}") };
            words(&head)
        };
        let mut lines: Vec<OwnLine> =
            join(self.program).into_iter().map(|line| OwnLine { line, with_said: false }).collect();
        if !self.said.is_empty() {
            let head = format!("{} {}", self.program, self.said);
            lines.extend(join(&head).into_iter().map(|line| OwnLine { line, with_said: true }));
        }
        lines.retain(|line| line.line != self.program);
        lines
    }

    /// What the shell says of these commands: what is hostile in one is refused; where the name says what the program does, the
    /// words may go behind that, unless they begin with something else that acts.
    pub(crate) fn check(&self, lines: &[OwnLine], understood: &Understood) -> Verdict {
        let verdicts: Vec<(&OwnLine, Verdict)> =
            lines.iter().map(|line| (line, shell::check_for_person(&line.line, understood))).collect();
        if let Some((_, refused)) = verdicts.iter().find(|(_, verdict)| is_refused(verdict)) {
            return refused.clone();
        }
        let counts = |line: &OwnLine| self.said.is_empty() || !line.with_said && self.acts(&line.line);
        if let Some((_, doubt)) = verdicts.iter().find(|(line, verdict)| counts(line) && verdict.is_err()) {
            return doubt.clone();
        }
        match verdicts.iter().any(|(_, verdict)| verdict.is_ok()) {
            true => Ok(()),
            false => verdicts.into_iter().next_back().map_or(Ok(()), |(_, verdict)| verdict),
        }
    }

    /// Whether a line counts for limits of commands and places: as [`Self::check`] has it.
    pub(crate) fn is_meant(&self, line: &OwnLine) -> bool {
        self.said.is_empty() || line.with_said || self.acts(&line.line)
    }

    /// Whether the words behind the program begin with a subcommand that acts, or set how it runs in front of one.
    fn acts(&self, line: &str) -> bool {
        let mut words = line.split_whitespace().skip(1);
        let first = words.next().unwrap_or_default();
        let bare = |word: &str| word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
        let acts = |word: &str| bare(word) && (listed(ACTING, word) || is_grave_choice(word));
        // `-c x=y push`: behind options of the program itself.
        acts(first) && !self.said.split(' ').any(|said| said == first)
            || first.starts_with('-')
                && words.take(4).any(|word| acts(word) && listed("push apply destroy exec delete config", word))
    }
}

fn is_refused(verdict: &Verdict) -> bool {
    verdict.as_ref().is_err_and(|finding| finding.answer == Answer::Block)
}

/// A command that arguments make with the program of their tool.
pub(crate) struct OwnLine {
    pub(crate) line: String,
    /// Whether what the name of the tool says stands in front of the words.
    with_said: bool,
}
