//! The binary: commands, configuration, start-up, nothing else.
//!
//! What a command line means is in [`arguments`]; each command is a module below `commands`, and the two ways to run
//! the kernel are [`serve`] and [`stdio`]. Everything that happens to a call is in the crates below this one.

// A call makes some dozens of small allocations that end together; the system's allocator would spend a tenth of its
// time. This one takes the place of `malloc` itself, for the libraries in C as well. It is not named as the allocator of
// Rust: that way would ask it to align each block, which takes twice as long and is for nothing.
use mimalloc as _;

mod arguments;
mod attach;
mod commands;
mod control;
mod failure;
mod identity_audit;
mod known;
mod listing;
mod local;
mod logging;
mod memory;
mod model;
mod registry;
mod screen;
mod serve;
mod server_builder;
mod setup;
mod sight;
mod signals;
mod specs;
mod stdio;
mod storage;
mod tokens;
mod waiting;

use std::process::ExitCode;
use std::time::Duration;

use switchboard_transport::child::guardian;
use switchboard_transport::confine;
use tokio::runtime::Runtime;

use arguments::{Arguments, Command, Common, KernelCommand, Tools, ToolsCommand};
use failure::Failure;

/// What is still running when a command has ended gets this long.
const LAST_MOMENT: Duration = Duration::from_millis(200);

/// How every command ends.
type Outcome = Result<(), Failure>;

fn main() -> ExitCode {
    let arguments = match Arguments::of_process() {
        Ok(arguments) => arguments,
        Err(error) => return misread(&error),
    };
    let json = arguments.common.json;
    match run(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if let Some(message) = failure.message() {
                screen::note(format_args!("error: {message}"));
                if json {
                    screen::json_error(message, failure.code());
                }
            }
            ExitCode::from(failure.code())
        }
    }
}

/// A command line that cannot be read, or one that asks for help. Whoever wants JSON gets what is wrong as JSON as well.
fn misread(error: &clap::Error) -> ExitCode {
    let _ = error.print();
    let wants_json = std::env::args_os().take_while(|word| word != "--").any(|word| word == "--json");
    if error.use_stderr() && wants_json {
        screen::json_error(&first_part(&error.render().to_string()), 2);
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

/// What is wrong with a command line, without how it should be: the first part, with the names that stand below its first line.
fn first_part(text: &str) -> String {
    let lines = text.lines().take_while(|line| !line.trim().is_empty());
    let words: Vec<&str> = lines.map(str::trim).collect();
    let said = words.join(" ");
    said.strip_prefix("error: ").map_or_else(|| said.clone(), str::to_owned)
}

fn run(arguments: Arguments) -> Outcome {
    let Arguments { common, command } = arguments;
    let command = command.unwrap_or_else(|| Command::Serve(arguments::Serve::default()));
    if matches!(command, Command::Guardian) {
        return guardian::run().map_err(Failure::failed);
    }
    if let Command::Confine { socket } = &command {
        // Whoever gave the order is told over the socket; this is for those who run it by hand.
        let Err(refusal) = confine::run(socket);
        return Err(Failure::failed(refusal));
    }
    let level = match command {
        Command::Serve(_) | Command::Kernel { command: Some(KernelCommand::Run) } => "info",
        Command::Stdio(_) | Command::Memory(_) => "warn",
        // The others tell by themselves what went wrong.
        _ => "error",
    };
    logging::start(&common, level)?;
    match command {
        Command::Init(options) => commands::init::run(&common, &options),
        Command::Import(options) => without_servers(commands::import::run(&common, &options)),
        Command::Connect(options) => without_servers(commands::connect::run(&common, &options)),
        Command::Disconnect(options) => commands::connect::undo(&common, &options),
        Command::Uninstall(options) => without_servers(commands::uninstall::run(&common, &options)),
        Command::Add(options) => without_servers(commands::add::run(&common, options)),
        Command::Remove(options) => without_servers(commands::add::remove(&common, &options)),
        Command::Trust(options) => without_servers(commands::trust::run(&common, &options)),
        Command::Login(options) => without_servers(commands::login::login(&common, &options)),
        Command::Logout(options) => without_servers(commands::login::logout(&common, &options)),
        Command::Token(command) => without_servers(commands::token::run(&common, &command)),
        Command::Grant(options) => without_servers(commands::grant::run(&common, &options)),
        Command::Revoke(options) => without_servers(commands::revoke::run(&common, &options)),
        Command::Access(options) => without_servers(commands::access::run(&common, &options)),
        Command::Approvals { command } => without_servers(commands::approvals::run(&common, command.as_ref())),
        Command::Callbacks { command } => without_servers(commands::callbacks::run(&common, command.as_ref())),
        Command::Audit(command) => without_servers(commands::audit::run(&common, &command)),
        Command::Restore(options) => without_servers(commands::restore::run(&common, &options)),
        Command::Pins { command } => without_servers(commands::pins::run(&common, command.as_ref())),
        Command::Registry(command) => without_servers(commands::registry::run(&common, command)),
        Command::Check(options) => commands::check::run(&common, &options),
        Command::Serve(options) => with_servers(serve::run(&common, &options)),
        Command::Stdio(options) => with_servers(stdio::run(&common, &options)),
        Command::Kernel { command: Some(KernelCommand::Run) } => with_servers(stdio::share(&common)),
        Command::Kernel { command } => without_servers(commands::kernel::run(&common, command)),
        Command::Servers(options) if options.watch || options.order.is_some() => {
            without_servers(commands::servers::live(&common, &options))
        }
        Command::Servers(_) => with_servers(commands::servers::run(&common)),
        Command::Tools(Tools { command: Some(ToolsCommand::Search(search)), .. }) if search.catalog.is_some() => {
            commands::tools::search::over_file(&common, &search)
        }
        Command::Tools(options) if options.changes() => without_servers(commands::tools::changed(&common, &options)),
        Command::Memory(options) => without_servers(commands::memory::run(&common, &options)),
        Command::Tools(options) => with_servers(commands::tools::run(&common, &options)),
        Command::Manifest(options) => with_servers(commands::manifest::run(&common, &options)),
        Command::Call(options) => with_servers(commands::call::run(&common, &options)),
        Command::Doctor => with_servers(commands::doctor::run(&common)),
        Command::Guardian | Command::Confine { .. } => Ok(()),
    }
}

/// Runs a command that waits for things and starts no server.
fn without_servers(work: impl Future<Output = Outcome>) -> Outcome {
    let runtime = runtime()?;
    let outcome = runtime.block_on(work);
    runtime.shutdown_timeout(LAST_MOMENT);
    outcome
}

/// Runs a command that starts servers.
fn with_servers(work: impl Future<Output = Outcome>) -> Outcome {
    match std::env::current_exe() {
        Ok(program) => {
            guardian::install(&program, &["guardian"]);
            confine::install(program, &["confine"], reachable);
        }
        Err(error) => tracing::warn!(
            %error,
            "this program does not find itself: confined servers cannot be started, others may outlive its sudden end"
        ),
    }
    let runtime = runtime()?;
    let outcome = runtime.block_on(work);
    // A thread may sit in a read of standard input that nothing can interrupt.
    runtime.shutdown_timeout(LAST_MOMENT);
    outcome
}

/// What a confined server may reach under the name of a host that it was granted.
fn reachable(address: std::net::IpAddr) -> bool {
    switchboard_validators::network::check_address(address).is_ok()
}

fn runtime() -> std::io::Result<Runtime> {
    let workers = std::thread::available_parallelism().map_or(2, |cores| cores.get().clamp(2, 16));
    tokio::runtime::Builder::new_multi_thread().worker_threads(workers).enable_all().build()
}

impl Common {
    /// The command that leads to `command` with the same configuration, for hints.
    pub(crate) fn again(&self, command: &str) -> String {
        match &self.config {
            Some(file) => format!("switchboard {command} --config {}", file.display()),
            None => format!("switchboard {command}"),
        }
    }
}
