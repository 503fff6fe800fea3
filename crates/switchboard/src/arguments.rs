//! The command line: what can be written, and the help that explains it. Decides nothing else.

#[cfg(test)]
mod documents;
mod gate;
mod help;
mod kernel;
mod memory;
mod registry;
mod servers;
mod tokens;
mod tools;

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub(crate) use gate::*;
pub(crate) use kernel::*;
pub(crate) use memory::*;
pub(crate) use registry::*;
pub(crate) use servers::*;
pub(crate) use tokens::*;
pub(crate) use tools::*;

const ABOUT: &str = "One door between AI clients and their MCP servers";

const AFTER: &str = "\
Without a command, `serve` is run.

Files: --config FILE, else the one named by MGP_CONFIG_PATH, else ~/.config/mgp/servers.toml and ./mgp.toml together.
Exit codes: 0 all is well, 1 what was asked for failed, 2 the command line or the configuration is wrong.

Examples:
  switchboard import
  switchboard connect claude-code --replace
  switchboard servers";

/// Everything that can be said on the command line.
#[derive(Debug, Parser)]
#[command(name = "switchboard", version, about = ABOUT, after_help = AFTER, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// What every command understands.
#[derive(Debug, Clone, Args)]
pub(crate) struct Common {
    /// The configuration file to use instead of those that are searched for
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Print JSON on standard output
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// What to log on standard error: error, warn, info, debug, trace, or a filter such as `warn,switchboard_kernel=debug`
    #[arg(long, global = true, value_name = "LEVEL", env = "SWITCHBOARD_LOG")]
    pub(crate) log: Option<String>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve all servers over HTTP on one address
    #[command(after_help = "\
Prints the address, at the first start a token (only once: only its hash is kept), and an entry to paste into a client.
Changes of the configuration are taken over while it runs.

Example:
  switchboard serve --listen 127.0.0.1:7420")]
    Serve(Serve),
    /// Serve all servers to the one client that started this process, on standard input and output
    #[command(after_help = "\
This is what a client's configuration runs. Ends when standard input closes. Clients with the same configuration share one
kernel and its servers: one that runs already (`serve`, or that of another client), or one that is started and ends a minute
after the last client has left. --own, or SWITCHBOARD_OWN_KERNEL=1 in the environment, starts servers of this client's own.

Example:
  {\"mcpServers\": {\"switchboard\": {\"command\": \"switchboard\", \"args\": [\"stdio\"]}}}")]
    Stdio(Stdio),
    /// Show the kernels that run; end or restart the one that clients share
    #[command(after_help = "\
Clients of `stdio` share a kernel that the first of them starts and that ends a minute after the last has left. Most of a changed
configuration holds at once; what does not is said here and by `doctor`, and holds after `restart`. Calls that run are finished
first. Clients stay connected and go on at the next kernel. A kernel of `serve` is ended where it was started.

Examples:
  switchboard kernel
  switchboard kernel restart
  switchboard kernel stop")]
    Kernel {
        /// What to do
        #[command(subcommand)]
        command: Option<KernelCommand>,
    },
    /// Serve the memory (ContextGraph) alone, or take it along
    #[command(after_help = "\
Speaks on standard input and output, or over HTTP with --listen. The same memory is part of `serve` and `stdio` where there is no
configuration file, and with `[memory] enabled = true`.

Examples:
  {\"mcpServers\": {\"memory\": {\"command\": \"switchboard\", \"args\": [\"memory\"]}}}
  switchboard memory --listen 127.0.0.1:7421
  switchboard memory search where is the spare key
  switchboard memory export > memories.jsonl
  switchboard memory import < memories.jsonl
  switchboard memory undo 0198c6f2-7d5e-7a61-9c3e-1f2a3b4c5d6e")]
    Memory(Memory),
    /// Write a commented configuration file to start from
    #[command(after_help = "Never overwrites a file.\n\nExamples:\n  switchboard init\n  switchboard init --project")]
    Init(Init),
    /// Take over the servers of your clients: Claude Desktop, Claude Code, Cursor, VS Code, Codex, Gemini CLI, Windsurf, Zed, opencode
    #[command(after_help = "\
Shows what would be added, asks, and keeps the old file as a backup. `connect CLIENT --replace` is the next step.
Files of the current folder's project are read only with --project, because their commands came with the project.

Examples:
  switchboard import
  switchboard import --from cursor --yes
  switchboard import --from ./servers.json --dry-run")]
    Import(Import),
    /// Put Switchboard into the configuration of a client
    #[command(after_help = "\
Writes one entry that runs `switchboard stdio` into the user's file of the client; what else is in the file stays, and the
file as it was is kept beside it. With --replace, servers that Switchboard's configuration has are taken out of the client's
file, so that they do not run twice; `disconnect` puts them back. Without it you are asked on a terminal.
Clients: claude-desktop, claude-code, cursor, vscode, codex, gemini, windsurf, zed, opencode.

Examples:
  switchboard connect cursor --replace
  switchboard connect claude-code --dry-run")]
    Connect(Connect),
    /// Take Switchboard out of all clients, and show what remains of it; with --data, remove that too
    #[command(after_help = "\
Each client's file is written as `disconnect` does: servers that `connect --replace` took out are put back. Then it is said which files
remain, with their size: the data folder (store, audit log, memories, logins, working folders of servers), the configuration, and
backups. With --data they are removed after a question, once no kernel runs. The program itself is removed as it was installed.

Examples:
  switchboard uninstall --dry-run
  switchboard uninstall
  switchboard uninstall --data")]
    Uninstall(Uninstall),
    /// Take Switchboard out of the configuration of a client
    #[command(after_help = "\
Servers that `connect --replace` took out of its file are put back. The file as it was is kept beside it.

Example:
  switchboard disconnect cursor")]
    Disconnect(ClientFile),
    /// Add a server
    #[command(after_help = "\
The server is added to the user's file, to the file of --config, or with --project to ./mgp.toml.

Examples:
  switchboard add time -- uvx mcp-server-time
  switchboard add tracker --url https://tracker.example/mcp \\
      --token '${TRACKER_TOKEN}'")]
    Add(Add),
    /// Find servers that others published, and add one: registries in the format of the official MCP Registry
    #[command(
        subcommand,
        after_help = "\
Registries are those that `registries` of `[discovery]` names, or the one of --registry.
Nothing is started, and nothing is written before the exact command was shown.

Examples:
  switchboard registry search 'draw charts from a table' \\
      --registry https://registry.example
  switchboard registry show com.example/charts \\
      --registry https://registry.example
  switchboard registry add ./server.json --as charts --set folder=/srv/data"
    )]
    Registry(RegistryCommand),
    /// Remove servers
    #[command(after_help = "Example:\n  switchboard remove time git")]
    Remove(Remove),
    /// Approve servers that a project's own mgp.toml declares
    #[command(after_help = "\
A project's file starts nothing until its exact commands were approved. A changed command asks again.

Examples:
  switchboard trust --list
  switchboard trust build-tools")]
    Trust(Trust),
    /// Show how each server is; start, stop, drain and restart those of a kernel that runs; switch one off for good
    #[command(after_help = "\
Without more words the configured servers are started for a moment and shown.
With --watch, or an order, nothing is started: kernels that run (`serve`, `stdio`) are asked. What is stopped is there again with the
next kernel; `disable` writes it into the file.

Examples:
  switchboard servers
  switchboard servers --watch
  switchboard servers drain search --timeout 10
  switchboard servers start search
  switchboard servers disable search")]
    Servers(Servers),
    /// List the tools of all servers, under the names that clients see, or search among them
    #[command(after_help = "\
Examples:
  switchboard tools
  switchboard tools --server git --names
  switchboard tools search 'convert a time to another zone'
  switchboard tools search --catalog tools.jsonl \\
      --queries queries.jsonl --top 10")]
    Tools(Tools),
    /// Show what can be used here: tools with cost, latency, quotas, scopes and media
    #[command(after_help = "\
A kernel that runs (`serve`, `stdio`) is asked: it has measured how long tools take.
Where none runs, or with --own, the configured servers are started for a moment.
With --json it is the manifest itself, after schemas/service-manifest.schema.json.

Examples:
  switchboard manifest
  switchboard manifest git --json
  switchboard manifest --tool git__git_status")]
    Manifest(Manifest),
    /// Call a tool
    #[command(after_help = "\
Arguments are one JSON object, or words of the form key=value (key:=JSON takes the value as JSON whatever the tool says).
Prints the text of the answer; with --json all of it.

Examples:
  switchboard call git__git_status repo_path=$PWD
  switchboard call time__get_current_time '{\"timezone\": \"Asia/Tokyo\"}'")]
    Call(Call),
    /// Log in to a remote server that asks for it (OAuth)
    #[command(after_help = "\
Prints the address of the login page, opens it where there is a desktop, and waits for the answer on a port of this
machine. What the server's authorization server gives is kept in the store, encrypted, and renewed by itself.
Without --principal the login is used for everybody who has none of their own.

Examples:
  switchboard login tracker
  switchboard login tracker --principal ann --no-browser
  switchboard login tracker --client-id 1a2b \\
      --client-secret-env TRACKER_SECRET --port 7421")]
    Login(Login),
    /// Forget the login to a remote server
    #[command(after_help = "Examples:\n  switchboard logout tracker\n  switchboard logout tracker --principal ann")]
    Logout(Logout),
    /// Make, list and revoke the tokens that let clients in over HTTP
    #[command(
        subcommand,
        after_help = "\
A token is shown once, when it is made: only its SHA-256 is kept. A running `serve` refuses a revoked one within a second.

Examples:
  switchboard token create laptop
  switchboard token create ci --principal build-bot --scope server:git --for 90d
  switchboard token list --json
  switchboard token revoke laptop"
    )]
    Token(TokenCommand),
    /// Let a principal use a server or tool, or let a server do what it asks for
    #[command(after_help = "\
What is allowed ends after 30 days unless --for says otherwise; what is denied stays denied. A grant for a tool
decides before one for the server, and a denial before a grant of the same kind. It counts at once, for clients that
are connected too.

Examples:
  switchboard grant --principal ann --server git --tool git_status
  switchboard grant --principal ann --server shell --deny \\
      --reason 'not on this machine'
  switchboard grant --server files --permission filesystem.write \\
      --path '/srv/project/**' --for never")]
    Grant(Grant),
    /// Take grants and denials back
    #[command(after_help = "\
Without --tool, what was granted for single tools of the server goes too. When the command ends, no later call passes.

Examples:
  switchboard revoke --principal ann --server git
  switchboard revoke --server files --permission filesystem.write")]
    Revoke(Revoke),
    /// Show who may use what, and what servers may do
    #[command(after_help = "\
Examples:
  switchboard access
  switchboard access --principal ann --server git --tool git_status
  switchboard access --unused")]
    Access(AccessOptions),
    /// Decide about held calls, permissions that servers ask for, and changed definitions
    #[command(after_help = "\
Without a word it watches and asks on a terminal, and lists elsewhere. Calls may come from any Switchboard of this user.
A yes holds for the exact arguments that are shown; `switchboard tools confirm TOOL never` asks less about a tool.

Examples:
  switchboard approvals
  switchboard approvals list --json
  switchboard approvals approve 3f2a91c4 --always --for 12h
  switchboard approvals deny --all --reason 'maintenance'")]
    Approvals {
        /// What to do
        #[command(subcommand)]
        command: Option<ApprovalsCommand>,
    },
    /// Answer questions that servers ask in the middle of calls
    #[command(after_help = "\
The one whose call it is can answer as well: the first answer counts.

Examples:
  switchboard callbacks
  switchboard callbacks answer 3f2a91c4 confirm")]
    Callbacks {
        /// What to do
        #[command(subcommand)]
        command: Option<CallbacksCommand>,
    },
    /// Read, check and keep the log of everything that was done
    #[command(
        subcommand,
        after_help = "\
Events have the form of MGP 6.3. The log is a chain of hashes with signed heads: `verify` finds any change.

Examples:
  switchboard audit tail -f
  switchboard audit query --server shell --since 24h --json
  switchboard audit verify"
    )]
    Audit(AuditCommand),
    /// Go on with an older copy of the database: accept the audit log as it is
    #[command(after_help = "\
After an older copy of the database was put in place (a backup, a standby that was behind), its audit log ends before the signed
heads in the data folder say it should, and nothing is written to it. Stop all kernels, then say here that this copy is to be
continued. The break stays visible: `audit verify` names it, who accepted it, and when. Records that were changed are not accepted.

Examples:
  switchboard restore
  switchboard restore --yes --reason 'standby took over on 3 May'")]
    Restore(Restore),
    /// Show and accept the definitions of tools that changed
    #[command(after_help = "\
A tool whose definition comes to mean something else is neither listed nor called until a person has accepted the new one.

Examples:
  switchboard pins
  switchboard pins review
  switchboard pins accept git
  switchboard pins show git git_status")]
    Pins {
        /// What to do
        #[command(subcommand)]
        command: Option<PinsCommand>,
    },
    /// Judge commands, addresses, paths, code, messages or tool definitions with the validators
    #[command(after_help = "\
Reads JSON lines {\"id\", \"input\", ..} on standard input and prints {\"id\", \"verdict\": \"allow\"|\"ask\"|\"block\" (tools: \"mark\" for ask), \"why\"} for each.
Nothing is run, opened or resolved. Instead of `input`, `input_b64` gives bytes and `input_gen` (prefix, unit, count,
suffix) a long text. More fields: code takes `level` (standard, strict, readonly) and `language` (python, javascript,
typescript, shell); message takes `layer` (json, rpc, schema); network takes `resolve` (name to addresses); path takes
`fs` (link to target) and judges for /project/** and /tmp/**, without **/.env and **/secrets/**.
Exit codes: 0 every line was judged, 1 a line could not be read (it is answered with `block` and `unreadable`), 2 the
command line or the configuration is wrong. With --exit-code the worst answer counts: 0 all are allowed, 3 one asks (or
marks), 4 one is blocked; 1 and 2 as before.

Examples:
  echo '{\"id\": 1, \"input\": \"rm -rf ~\"}' | switchboard check shell
  echo '{\"id\": 1, \"input\": \"git status\"}' | switchboard check shell --exit-code
  echo '{\"id\": 1, \"input\": \"import csv\"}' | switchboard check code")]
    Check(Check),
    /// Check the configuration, the files and every server, and say what to do next
    #[command(after_help = "Example:\n  switchboard doctor")]
    Doctor,
    /// Kills what the main process left behind when it was killed itself.
    #[command(hide = true)]
    Guardian,
    /// Confines itself as it is told over the socket of that name, and becomes a server.
    #[command(hide = true)]
    Confine {
        /// The name of the socket
        socket: String,
    },
}

/// `serve`
#[derive(Debug, Default, Args)]
pub(crate) struct Serve {
    /// The address to listen on, instead of the configured one
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<SocketAddr>,
    /// Ask for no token. Every program and every user of this machine can then call every tool
    #[arg(long)]
    pub(crate) no_auth: bool,
    /// Allow an address that other machines can reach
    #[arg(long)]
    pub(crate) allow_remote: bool,
    /// Make one more token and print it
    #[arg(long, conflicts_with = "no_auth")]
    pub(crate) new_token: bool,
}

/// `stdio`
#[derive(Debug, Args)]
pub(crate) struct Stdio {
    /// Start servers of this client's own instead of sharing those of a kernel that runs
    #[arg(long)]
    pub(crate) own: bool,
    /// Serve only what this profile has: `[profiles.NAME]` of the configuration
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,
}

/// `init`
#[derive(Debug, Args)]
pub(crate) struct Init {
    /// Write ./mgp.toml, for the project in this folder, instead of the user's file
    #[arg(long, conflicts_with = "config")]
    pub(crate) project: bool,
}

/// `connect`
#[derive(Debug, Args)]
pub(crate) struct Connect {
    /// The client and what becomes of its file
    #[command(flatten)]
    pub(crate) file: ClientFile,
    /// Give the client only what this profile has: `[profiles.NAME]` of the configuration
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// Take servers out of the client's file that Switchboard has; `disconnect` puts them back
    #[arg(long)]
    pub(crate) replace: bool,
}

/// What `connect` and `disconnect` have in common.
#[derive(Debug, Args)]
pub(crate) struct ClientFile {
    /// The client
    #[arg(value_name = "CLIENT")]
    pub(crate) client: String,
    /// Print the file as it would be, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// `uninstall`
#[derive(Debug, Args)]
pub(crate) struct Uninstall {
    /// Remove the data folder, the configuration and the backups as well
    #[arg(long)]
    pub(crate) data: bool,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Only show what would be done
    #[arg(long, conflicts_with = "yes")]
    pub(crate) dry_run: bool,
}

/// `import`
#[derive(Debug, Args)]
pub(crate) struct Import {
    /// Only this: claude-desktop, claude-code, cursor, vscode, codex, gemini, windsurf, zed, opencode, or the path of a file
    #[arg(long, value_name = "CLIENT|FILE")]
    pub(crate) from: Option<String>,
    /// Also read the files of the project in the current folder
    #[arg(long)]
    pub(crate) project: bool,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Only show what would be added
    #[arg(long, conflicts_with = "yes")]
    pub(crate) dry_run: bool,
}

/// `add`
#[derive(Debug, Args)]
pub(crate) struct Add {
    /// The server's name: letters, digits, `-`, `_` and `.`
    pub(crate) name: String,
    /// The program and its arguments, after `--`
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "url", required_unless_present = "url")]
    pub(crate) command: Vec<String>,
    /// The address of a remote server
    #[arg(long)]
    pub(crate) url: Option<String>,
    /// The remote server speaks the old HTTP+SSE transport of 2024-11-05
    #[arg(long, requires = "url")]
    pub(crate) sse: bool,
    /// A header for every request to a remote server
    #[arg(long, value_name = "NAME=VALUE", requires = "url", value_parser = pair)]
    pub(crate) header: Vec<(String, String)>,
    /// The bearer token of a remote server; '${NAME}' reads it from the environment
    #[arg(long, requires = "url")]
    pub(crate) token: Option<String>,
    /// A variable for a local server
    #[arg(long, value_name = "NAME=VALUE", conflicts_with = "url", value_parser = pair)]
    pub(crate) env: Vec<(String, String)>,
    /// A variable of this environment that a local server gets too (repeat)
    #[arg(long, value_name = "NAME", conflicts_with = "url")]
    pub(crate) pass_env: Vec<String>,
    /// The folder a local server runs in
    #[arg(long, value_name = "FOLDER", conflicts_with = "url")]
    pub(crate) cwd: Option<String>,
    /// Add it to ./mgp.toml, and trust it
    #[arg(long, conflicts_with = "config")]
    pub(crate) project: bool,
}

/// `remove`
#[derive(Debug, Args)]
pub(crate) struct Remove {
    /// The names of the servers
    #[arg(required = true, value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Remove them from ./mgp.toml
    #[arg(long, conflicts_with = "config")]
    pub(crate) project: bool,
}

/// `trust`
#[derive(Debug, Args)]
pub(crate) struct Trust {
    /// The servers to approve; without a name, all that wait
    pub(crate) names: Vec<String>,
    /// Only show what waits for an approval
    #[arg(long, conflicts_with_all = ["yes", "revoke"])]
    pub(crate) list: bool,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Take approvals back
    #[arg(long, requires = "names")]
    pub(crate) revoke: bool,
}

/// `check`
#[derive(Debug, Args)]
pub(crate) struct Check {
    /// What the inputs are
    pub(crate) kind: CheckKind,
    /// End with 3 where an answer is `ask` (or `mark`), with 4 where one is `block`
    #[arg(long)]
    pub(crate) exit_code: bool,
}

/// What `check` can judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum CheckKind {
    /// Commands for a POSIX shell
    Shell,
    /// Statements of SQL
    Sql,
    /// URLs
    Network,
    /// Paths
    Path,
    /// Programs
    Code,
    /// Messages and parts of them
    Message,
    /// Tool definitions
    Tool,
}

pub(crate) fn pair(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write it as NAME=VALUE")?;
    if name.is_empty() {
        return Err("the name is empty".to_owned());
    }
    Ok((name.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn every_visible_command_has_help_and_an_example() {
        for command in Arguments::command().get_subcommands().filter(|command| !command.is_hide_set()) {
            let name = command.get_name();
            assert!(command.get_about().is_some(), "{name}");
            assert!(command.get_after_help().is_some_and(|help| help.to_string().contains("Example")), "{name}");
        }
    }

    #[test]
    fn lines() {
        for (line, good) in [
            ("switchboard", true),
            ("switchboard --config x.toml", true),
            ("switchboard serve --listen 127.0.0.1:0 --no-auth --json", true),
            ("switchboard stdio --config x.toml --log debug", true),
            ("switchboard add a -- cmd --flag", true),
            ("switchboard add a --url http://x --header A=b", true),
            ("switchboard add a", false),
            ("switchboard add a --url http://x -- cmd", false),
            ("switchboard add a --header A -- cmd", false),
            ("switchboard add a --env A=b --url http://x", false),
            ("switchboard serve --new-token --no-auth", false),
            ("switchboard serve --listen nowhere", false),
            ("switchboard import --yes --dry-run", false),
            ("switchboard login a --client-id b --client-secret-env C --port 1", true),
            ("switchboard login a --client-secret-env C", false),
            ("switchboard logout a", true),
            ("switchboard token create a --scope admin --scope server:b --for never", true),
            ("switchboard token create a --for 2026-12-01", true),
            ("switchboard token create a --for soon", false),
            ("switchboard token create a --for 2026-12-01T00:00:00Z", true),
            ("switchboard token create", false),
            ("switchboard token list --json", true),
            ("switchboard token revoke a", true),
            ("switchboard token", false),
            ("switchboard grant --principal a --server s --tool t --deny --for never", true),
            ("switchboard grant --server s --permission shell.execute --command git --for 2026-12-01", true),
            ("switchboard grant --server s", false),
            ("switchboard grant --principal a", false),
            ("switchboard grant --principal a --server s --permission camera", false),
            ("switchboard grant --principal a --server s --path /x", true),
            ("switchboard grant --server s --permission camera --tool t", false),
            ("switchboard revoke --server s --permission camera --tool t", false),
            ("switchboard revoke --principal a --tool t", false),
            ("switchboard grant --server s --permission camera --scope {} --path /x", false),
            ("switchboard revoke --principal a", true),
            ("switchboard revoke --server s", false),
            ("switchboard revoke --permission camera", false),
            ("switchboard access --tool t", false),
            ("switchboard access --principal a --server s --tool t", true),
            ("switchboard approvals", true),
            ("switchboard approvals approve", false),
            ("switchboard approvals approve a b --session --for 1h", true),
            ("switchboard approvals approve a --session --always", false),
            ("switchboard approvals deny --all", true),
            ("switchboard approvals deny --all a", false),
            ("switchboard audit", false),
            ("switchboard audit tail -f -n 5", true),
            ("switchboard audit query --type A --type B --limit 0", false),
            ("switchboard audit stats --by agent", true),
            ("switchboard audit export --format xml", false),
            ("switchboard pins", true),
            ("switchboard pins accept s t u --yes", true),
            ("switchboard pins show s", false),
            ("switchboard pins review", true),
            ("switchboard pins review s", true),
            ("switchboard pins refuse", false),
            ("switchboard pins refuse s t --yes", true),
            ("switchboard check shell", true),
            ("switchboard check", false),
            ("switchboard check everything", false),
            ("switchboard servers disable a", true),
            ("switchboard servers disable", false),
            ("switchboard uninstall --data --yes", true),
            ("switchboard uninstall --dry-run --yes", false),
            ("switchboard kernel", true),
            ("switchboard kernel status --json", true),
            ("switchboard kernel run", true),
            ("switchboard kernel begin", false),
            ("switchboard unknown", false),
        ] {
            assert_eq!(Arguments::try_parse_from(line.split(' ')).is_ok(), good, "{line}");
        }
    }

    #[test]
    fn every_command_has_an_example() {
        fn look(command: &mut clap::Command, path: &str, missing: &mut Vec<String>) {
            let path = format!("{path} {}", command.get_name());
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            // A longer line is cut in two on a narrow terminal, and pasting it runs half of the command.
            let long = help.lines().filter(|line| line.starts_with("  ") && line.chars().count() > 80);
            missing.extend(long.map(|line| format!("{path}, too long: {line}")));
            if !command.is_hide_set() && !command.render_long_help().to_string().contains("Example") {
                missing.push(path.clone());
            }
            for below in
                command.get_subcommands_mut().filter(|below| !below.is_hide_set() && below.get_name() != "help")
            {
                look(below, &path, missing);
            }
        }
        let mut missing = Vec::new();
        look(&mut <Arguments as clap::CommandFactory>::command(), "", &mut missing);
        assert!(missing.is_empty(), "{missing:?}");
    }
}
