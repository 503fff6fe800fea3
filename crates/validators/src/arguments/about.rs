//! What the name and description of a tool tell about the texts that it takes.
//!
//! A description may add to what is judged. It takes nothing away by itself: where less is judged, the name of the tool says so, or
//! its arguments do.

use switchboard_policy::risk::fallback::words;

/// Words of tools whose texts are read by people.
const FOR_PEOPLE: [&str; 26] = [
    "issue",
    "issues",
    "comment",
    "comments",
    "mail",
    "email",
    "emails",
    "message",
    "messages",
    "post",
    "posts",
    "reply",
    "discussion",
    "chat",
    "channel",
    "ticket",
    "tickets",
    "review",
    "release",
    "announcement",
    "note",
    "notes",
    "commit",
    "pull",
    "slack",
    "send",
];
/// Words of tools that change files: what they are given as a text may be a patch.
const FOR_FILES: [&str; 14] = [
    "patch",
    "patches",
    "diff",
    "diffs",
    "apply",
    "applies",
    "edit",
    "edits",
    "hunk",
    "replace",
    "rewrite",
    "workspace",
    "filesystem",
    "files",
];
/// Words of tools that work on files.
const OF_FILES: [&str; 8] = ["file", "files", "filesystem", "directory", "directories", "folder", "folders", "disk"];
/// Words of tools to which `x:y` may be a file in a revision.
const OF_GIT: [&str; 7] = ["git", "commit", "commits", "revision", "revisions", "repository", "blame"];

/// Words of tools that give resources to a cluster.
const OF_CLUSTERS: [&str; 8] =
    ["kubernetes", "kubectl", "k8s", "helm", "openshift", "argocd", "kustomize", "kubeconfig"];
/// Words in names of tools that run a program in a page, and words of those that have pages.
const EVALUATES: [&str; 4] = ["evaluate", "eval", "javascript", "js"];
const PROGRAMS: [&str; 3] = ["script", "javascript", "js"];
const OF_BROWSERS: [&str; 9] =
    ["browser", "puppeteer", "playwright", "chrome", "chromium", "devtools", "selenium", "webdriver", "dom"];
/// Words in names of tools that work in containers, and what they do there; and of those that work on a folder of such.
const OF_CONTAINERS: [&str; 4] = ["docker", "podman", "container", "containers"];
const IN_CONTAINERS: [&str; 5] = ["run", "exec", "execute", "create", "start"];
const COMPOSED: [&str; 2] = ["compose", "build"];
/// Words in names of tools that apply patches.
const APPLIES: [&str; 6] = ["patch", "patches", "apply", "am", "diff", "mbox"];

/// Shells that are no POSIX ones, in names of tools.
const OTHER_SHELLS: [&str; 6] = ["powershell", "pwsh", "nushell", "fish", "tcsh", "csh"];

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct About {
    /// Its texts are for people, and no patch in them is applied.
    pub(super) is_for_people: bool,
    /// It works on a repository of git.
    pub(super) speaks_of_git: bool,
    /// It works on files.
    pub(super) speaks_of_files: bool,
    /// It gives resources to a cluster, as its name says: the paths in them are those of containers.
    pub(super) is_for_clusters: bool,
    /// The same as its description says: then only what is a resource by its own words counts as one.
    pub(super) speaks_of_clusters: bool,
    /// It works in containers, as its name says.
    pub(super) is_for_containers: bool,
    /// The code that it is given runs in a page, where paths are routes.
    pub(super) evaluates_in_page: bool,
    /// It applies patches.
    pub(super) applies_patches: bool,
    /// Its commands go to a shell that reads quotes and escapes in its own way, as its name says.
    pub(super) is_other_shell: bool,
}

impl About {
    pub(super) fn of(subject: &str) -> Self {
        let (all, name) = (words(subject), words(subject.lines().next().unwrap_or_default()));
        let has = |list: &[&str]| all.iter().any(|word| list.contains(&word.as_str()));
        let is_called = |list: &[&str]| name.iter().any(|word| list.contains(&word.as_str()));
        Self {
            is_for_people: is_called(&FOR_PEOPLE) && !has(&FOR_FILES),
            speaks_of_git: has(&OF_GIT),
            speaks_of_files: has(&OF_FILES),
            is_for_clusters: is_called(&OF_CLUSTERS),
            speaks_of_clusters: has(&OF_CLUSTERS),
            is_for_containers: is_called(&OF_CONTAINERS) && is_called(&IN_CONTAINERS) && !is_called(&COMPOSED),
            evaluates_in_page: is_called(&EVALUATES)
                && (is_called(&OF_BROWSERS) || has(&OF_BROWSERS) && is_called(&PROGRAMS)),
            applies_patches: is_called(&APPLIES),
            is_other_shell: is_called(&OTHER_SHELLS)
                || is_called(&["cmd", "batch"]) && has(&["windows", "exe", "powershell"]),
        }
    }
}
