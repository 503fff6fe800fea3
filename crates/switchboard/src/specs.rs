//! A configured server as the kernel wants to be told of it: what stands in a configuration, in the words of the kernel.

mod unusable;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use switchboard_config::{
    self as config, Endpoint, Era, IsolationMode, Loaded, Origin, PinMode, Rates, Server, Settings, ToolEntry,
    TrustLevel,
};
use switchboard_kernel::{
    self as kernel, AgentTools, Allowance, BreakerPolicy, Budget, ClientTools, Clients, Curated, GateOptions,
    Isolation, KernelOptions, PinPolicy, PressurePolicy, PrincipalRates, PromptPolicy, Quota, Rate, RetryPolicy,
    ServerPolicy, ServerSpec, Sharing, Shown, ToolContext, Upkeep,
};
use switchboard_peer::client::{EraChoice, Target};
use switchboard_policy::risk::OperatorWord;
use switchboard_store::Store;
use switchboard_transport::child::{self, CommandSpec};
use switchboard_transport::confine::{ConfinementMode, FilesystemScope, NetworkScope, Overrides};
use switchboard_validators::arguments::{OwnFiles, Place};
use switchboard_validators::code::Level;
use switchboard_validators::shell::Understood;
use switchboard_wire::Limits;

use crate::failure::Failure;
use crate::{memory, model, storage};

pub(crate) use unusable::unusable;

/// What the kernel is told of a server; `None` for one that is switched off or cannot be used.
pub(crate) fn spec(server: &Server, surroundings: &Surroundings<'_>) -> Option<ServerSpec> {
    let endpoint = server.endpoint().ok().filter(|_| server.enabled())?;
    Some(spec_at(server, surroundings, |print| target(server, endpoint, surroundings, print)))
}

fn spec_at(
    server: &Server,
    surroundings: &Surroundings<'_>,
    target: impl FnOnce(&mut Fingerprint) -> Target,
) -> ServerSpec {
    let limits = &surroundings.settings.limits;
    let era = match server.era() {
        Era::Auto => EraChoice::Auto,
        Era::Legacy => EraChoice::Legacy,
        Era::Modern => EraChoice::Modern,
    };
    let sharing = match server.sharing() {
        config::Sharing::Shared => Sharing::Shared,
        config::Sharing::Session => Sharing::PerSession,
    };
    let restart = server.restart().mode;
    let upkeep = upkeep(server, limits);
    let (start_timeout, call_timeout) = (start_timeout(server, limits), server.call_timeout(limits));
    let mut print = Fingerprint::new(server);
    print.word(&format!("{era:?} {sharing:?} {restart:?} {start_timeout:?} {call_timeout:?} {upkeep:?}"));
    let target = target(&mut print);
    ServerSpec {
        id: server.id().into(),
        target,
        era,
        sharing,
        start_timeout,
        call_timeout,
        restart,
        upkeep,
        fingerprint: print.finish(),
        isolation: isolation(server, surroundings),
        policy: Arc::new(policy(server, surroundings.settings)),
    }
}

/// How a server is kept up.
fn upkeep(server: &Server, limits: &config::Limits) -> Upkeep {
    let (restart, said) = (server.restart(), &server.entry.flow);
    Upkeep {
        max_restarts: Some(restart.max_restarts),
        restart_window: restart.window,
        backoff_base: restart.backoff_base,
        backoff_max: restart.backoff_max,
        list_timeout: Some(server.start_timeout(limits)),
        stop_timeout: said.stop_timeout.unwrap_or(limits.stop_timeout),
        drain: said.drain_timeout.unwrap_or(limits.drain_timeout),
        health_every: Some(said.health_every.unwrap_or(limits.health_every)).filter(|every| !every.is_zero()),
        health_timeout: limits.health_timeout,
        sleep_after: said.sleep_after,
        ..Upkeep::default()
    }
}

/// What a server is started in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Surroundings<'a> {
    pub(crate) settings: &'a Settings,
    /// Our own state, which no confined server sees; its own folder is in there.
    pub(crate) data_dir: &'a Path,
}

/// The folder of the sandboxes of confined servers, in the data folder.
const SANDBOXES: &str = "sandboxes";
/// The folder of the working folders of servers that name none, in the data folder.
const WORK: &str = "work";
/// How long a server may be silent about a call whose client hears that it goes on.
const HEARD_SILENCE: Duration = Duration::from_mins(10);

/// The working folder of a server of the user's file that names none.
pub(crate) fn work_folder(data_dir: &Path, id: &str) -> PathBuf {
    data_dir.join(WORK).join(id)
}

/// Whether the process of a server may be confined.
fn is_confined(server: &Server, settings: &Settings) -> bool {
    let mode = server.entry.isolation.as_ref().and_then(|entry| entry.mode).unwrap_or(settings.isolation);
    match mode {
        IsolationMode::Off => false,
        IsolationMode::Untrusted => server.trust_level() < TrustLevel::Standard,
        IsolationMode::Trust => true,
    }
}

/// How the process of a server is confined.
fn isolation(server: &Server, surroundings: &Surroundings<'_>) -> Option<Isolation> {
    if !matches!(server.endpoint(), Ok(Endpoint::Stdio(_))) {
        return None;
    }
    let mode = |mode: IsolationMode| match mode {
        IsolationMode::Off => ConfinementMode::Off,
        IsolationMode::Untrusted => ConfinementMode::Untrusted,
        IsolationMode::Trust => ConfinementMode::Trust,
    };
    let entry = server.entry.isolation.clone().unwrap_or_default();
    let overrides = Overrides {
        memory_limit_mb: entry.memory_limit_mb,
        cpu_time_limit_secs: entry.cpu_time_limit_secs,
        filesystem_scope: entry.filesystem_scope.as_deref().map(|word| match word {
            "unrestricted" => FilesystemScope::Unrestricted,
            "sandbox" => FilesystemScope::Sandbox,
            "readonly" => FilesystemScope::Readonly,
            _ => FilesystemScope::None,
        }),
        network_scope: entry.network_scope.as_deref().map(|word| match word {
            "unrestricted" => NetworkScope::Unrestricted,
            "proxy_only" => NetworkScope::ProxyOnly,
            _ => NetworkScope::None,
        }),
        max_child_processes: entry.max_child_processes,
    };
    let mut private = vec![surroundings.data_dir.to_owned()];
    private.extend(server.file.parent().filter(|_| server.origin == Origin::User).map(Path::to_owned));
    Some(Isolation {
        of_all: mode(surroundings.settings.isolation),
        of_this: entry.mode.map(mode),
        overrides,
        home: std::env::var_os("HOME").map(PathBuf::from),
        sandbox: surroundings.data_dir.join(SANDBOXES).join(server.id()),
        private,
    })
}

/// What the operator says about the use of a server.
fn policy(server: &Server, settings: &Settings) -> ServerPolicy {
    let mgp = server.entry.mgp.as_ref();
    let scope = |scope: &serde_json::Value| crate::local::raw(scope);
    let granted = mgp.into_iter().flat_map(|mgp| &mgp.permissions_granted);
    let tools = server.entry.tools.iter().map(|(name, tool)| (name.clone(), operator_word(tool)));
    let levels = server.entry.tools.iter().filter_map(|(name, tool)| {
        let level = tool.code_level.as_deref()?;
        Some((name.clone(), Level::from_name(level)))
    });
    let schemas = server.entry.tools.iter().filter_map(|(name, tool)| Some((name.clone(), tool.schema?)));
    let disabled = server.entry.tools.iter().filter(|(_, tool)| tool.enabled == Some(false));
    let tools_of = server.entry.tools.iter();
    let tool_pins = tools_of.map(|(name, tool)| (name.clone(), pin_policy(server, settings, tool.pins)));
    let texts = server.entry.tools.iter().filter(|(_, tool)| !tool.text_arguments.is_empty());
    let prompts = server.entry.prompts.iter().map(|(name, prompt)| {
        let prompt = PromptPolicy {
            word: operator_word(prompt),
            disabled: prompt.enabled == Some(false),
            text_arguments: prompt.text_arguments.clone(),
        };
        (name.clone(), prompt)
    });
    let curated = server.entry.tools.iter().map(|(name, tool)| (name.clone(), curated(tool)));
    ServerPolicy {
        curated: curated.filter(|(_, curated)| !curated.is_empty()).map(|(name, one)| (name, Arc::new(one))).collect(),
        disabled: disabled.map(|(name, _)| name.clone()).collect(),
        only_tools: server.entry.only_tools.as_ref().map(|only| only.iter().cloned().collect()),
        trust: server.trust_level(),
        default_policy: server.entry.default_policy,
        permissions_required: mgp.map(|mgp| mgp.permissions_required.clone()).unwrap_or_default(),
        permissions_granted: granted.map(|(name, limits)| (name.clone(), limits.as_ref().map(scope))).collect(),
        tools: tools.collect(),
        text_arguments: texts.map(|(name, tool)| (name.clone(), tool.text_arguments.clone())).collect(),
        prompts: prompts.collect(),
        schemas: schemas.collect(),
        code_levels: levels.collect(),
        audit_sink: server.entry.audit_sink == Some(true),
        pressure: pressure(server, settings),
        only_for: None,
        alias: server.entry.alias.clone(),
        max_name_length: settings.tools.max_name_length,
        patience: patience_for(server, &settings.limits),
        description: server.entry.description.clone(),
        extensions: mgp.map(|mgp| mgp.extensions.clone()).unwrap_or_default(),
        pins: pin_policy(server, settings, server.entry.pins).or_else(|| settings.gate.pins.map(pin_policy_of)),
        tool_pins: tool_pins.filter_map(|(name, pins)| Some((name, pins?))).collect(),
    }
}

/// How long a server may be silent about a call whose client hears that it goes on: what the operator said holds for every call.
fn patience_for(server: &Server, limits: &config::Limits) -> Option<Duration> {
    let is_said = server.entry.call_timeout.is_some() || limits.call_timeout != config::Limits::default().call_timeout;
    (!is_said).then(|| HEARD_SILENCE.min(limits.call_timeout_max))
}

/// What is said of a server or a tool. What a project's file says can only be stricter than what the user wants of such
/// a server.
fn pin_policy(server: &Server, settings: &Settings, said: Option<PinMode>) -> Option<PinPolicy> {
    let said = said.map(pin_policy_of)?;
    if server.origin != Origin::Project {
        return Some(said);
    }
    let is_program = matches!(server.endpoint(), Ok(Endpoint::Stdio(_)));
    let wanted = settings.gate.pins.map(pin_policy_of);
    Some(said.max(wanted.unwrap_or_else(|| PinPolicy::usual(is_program, server.trust_level()))))
}

const fn pin_policy_of(mode: PinMode) -> PinPolicy {
    match mode {
        PinMode::Off => PinPolicy::Off,
        PinMode::Follow => PinPolicy::Follow,
        PinMode::Ask => PinPolicy::Ask,
        PinMode::Strict => PinPolicy::Strict,
    }
}

fn curated(tool: &ToolEntry) -> Curated {
    Curated {
        name: tool.name.clone(),
        description: tool.description.clone(),
        defaults: tool.defaults.clone(),
        fixed: tool.fixed.clone(),
    }
}

pub(crate) fn operator_word(entry: &ToolEntry) -> OperatorWord {
    OperatorWord { risk: entry.risk, validator: entry.validator, confirm: entry.confirm }
}

/// How much a server may be used, and what happens when it fails.
fn pressure(server: &Server, settings: &Settings) -> PressurePolicy {
    let entry = &server.entry.flow;
    let tools = server.entry.tools.iter().filter(|(_, tool)| tool.rates != Rates::default());
    let (own, all, usual) = (&entry.breaker, &settings.breaker, BreakerPolicy::default());
    let open = own.open.or(all.open).unwrap_or(usual.open);
    let breaker = BreakerPolicy {
        failures: own.failures.or(all.failures).unwrap_or(usual.failures),
        open,
        longest: own.open_max.or(all.open_max).unwrap_or(usual.longest).max(open),
    };
    let (own, all, usual) = (&entry.retry, &settings.retry, RetryPolicy::default());
    let retry = RetryPolicy {
        most: own.most.or(all.most).unwrap_or(usual.most),
        first: own.first.or(all.first).unwrap_or(usual.first),
        longest: own.longest.or(all.longest).unwrap_or(usual.longest),
        fallback: own.fallback.or(all.fallback).unwrap_or(usual.fallback),
    };
    PressurePolicy {
        rates: allowance(&entry.rates),
        tools: tools.map(|(name, tool)| (name.clone(), allowance(&tool.rates))).collect(),
        breaker,
        retry,
    }
}

fn allowance(rates: &Rates) -> Allowance {
    Allowance {
        rate: rates.calls.map(|(count, window, burst)| Rate { count, window, burst }),
        quota: rates.quota.map(|(count, period)| Quota { count, period }),
        concurrent: rates.concurrent,
    }
}

/// All servers that can be started.
pub(crate) fn specs(config: &config::Config, data_dir: &Path) -> Vec<ServerSpec> {
    let surroundings = Surroundings { settings: &config.settings, data_dir };
    config.servers.iter().filter_map(|server| spec(server, &surroundings)).collect()
}

/// How the kernel should behave.
pub(crate) fn kernel_options(loaded: &Loaded, store: Option<Store>) -> Result<KernelOptions, Failure> {
    let settings = &loaded.config.settings;
    let (limits, gate) = (&settings.limits, &settings.gate);
    let usual = KernelOptions::default();
    Ok(KernelOptions {
        limits: message_limits(settings),
        list_wait: limits.list_wait,
        longest_call: limits.call_timeout_max,
        parked_calls_each: settings.rates.parked_calls.unwrap_or(usual.parked_calls_each),
        principal_rates: PrincipalRates {
            each: allowance(&settings.rates.each),
            named: settings.rates.principals.iter().map(|(name, rates)| (name.clone(), allowance(rates))).collect(),
        },
        notification_rate: settings.rates.notifications.map_or(usual.notification_rate, |count| {
            Some(Rate { count, window: Duration::from_secs(1), burst: count.saturating_mul(2) })
        }),
        server_requests: limits.server_requests,
        concurrent_starts: limits.concurrent_starts.unwrap_or(usual.concurrent_starts),
        gate: GateOptions {
            store,
            approval_policy: settings.approval_policy,
            auto_approve_exceptions: gate.auto_approve_exceptions.clone(),
            default_policy: settings.default_policy,
            approval_wait: gate.approval_wait,
            pin_definitions: gate.pin_definitions,
            screen_definitions: gate.screen_definitions,
            screen_results: gate.screen_results,
            check_schemas: gate.check_schemas,
            result_bytes: limits.result_bytes.unwrap_or(limits.message_bytes),
            demand_scopes: gate.demand_scopes,
            session_ttl: gate.session_ttl,
            audit_arguments: gate.audit_arguments,
            sync_all_effects: gate.sync_all_effects,
            reads_without_record: gate.reads_without_record,
            understood: understood(settings)?,
            own_files: Arc::new(own_files(loaded)),
            profiles: settings.profiles.iter().map(|(name, said)| (name.clone(), profile(said))).collect(),
        },
        tools: tool_context(&settings.tools),
        ..usual
    })
}

/// Where our own files lie: the data folder with keys and trust, the store, and every file that is or could be configuration; as
/// they are named, and behind links.
fn own_files(loaded: &Loaded) -> OwnFiles {
    let here = std::env::current_dir().unwrap_or_default();
    let store = storage::file(loaded).filter(|file| !file.starts_with(&loaded.data_dir));
    let files = loaded.files.iter().map(|file| &file.path).chain(&loaded.watch);
    let named = [(loaded.data_dir.clone(), Place::Folder)]
        .into_iter()
        .chain(store.map(|file| (file, Place::Family)))
        .chain(files.map(|file| (file.clone(), Place::File)));
    let mut places = Vec::new();
    for (path, place) in named {
        let absolute = here.join(path);
        let real = std::fs::canonicalize(&absolute).ok();
        for path in [Some(absolute), real].into_iter().flatten() {
            let one = (path.to_string_lossy().into_owned(), place);
            if !places.contains(&one) {
                places.push(one);
            }
        }
    }
    let home = std::env::home_dir().map(|home| home.to_string_lossy().into_owned());
    let data_dirs = places.iter().filter(|(_, place)| *place == Place::Folder);
    let lent: Vec<String> =
        data_dirs.flat_map(|(folder, _)| [SANDBOXES, WORK].map(|lent| format!("{folder}/{lent}"))).collect();
    OwnFiles::new(&places, home.as_deref()).without(&lent)
}

/// The table of commands with the operator's own lines. Whoever writes a line that cannot be read believes in a rule that
/// nobody keeps, so nothing is started with it.
pub(crate) fn understood(settings: &Settings) -> Result<Understood, Failure> {
    Understood::with(&settings.gate.understood_commands).map_err(|fault| {
        Failure::usage(format!(
            "`understood_commands` in [gate]: the line {fault}; docs/commands.md has the form of a line"
        ))
    })
}

/// The transformer that orders what is found, if the operator wants one. Reads its files.
pub(crate) fn judge(settings: &Settings) -> Result<Option<Arc<kernel::Judge>>, Failure> {
    let Some(folder) = &settings.tools.model else { return Ok(None) };
    model::open(folder).map(Arc::new).map(Some)
}

/// What of the built-in memory is listed where not everything is.
const MEMORY_AT_HAND: [&str; 7] =
    ["store_memory", "search_graph", "get_memory", "list_memories", "update_memory", "forget_memory", "inject_context"];

/// Which tools clients are given.
pub(crate) fn tool_context(settings: &config::ToolSettings) -> ToolContext {
    let agent = |agent: &config::AgentSettings| AgentTools {
        level: agent.level.and_then(tool_level),
        pinned: agent.pinned.clone(),
    };
    // Whoever says nothing has the tools of the built-in memory at hand, alone or beside other servers.
    let pinned = if settings.pinned.is_empty() {
        let beside = MEMORY_AT_HAND.iter().map(|tool| format!("{}__{tool}", memory::ID));
        MEMORY_AT_HAND.iter().map(|tool| (*tool).to_owned()).chain(beside).collect()
    } else {
        settings.pinned.clone()
    };
    ToolContext {
        level: tool_level(settings.level),
        pinned,
        budget: Budget {
            max_tokens: settings.max_tokens,
            pinned_reserve: settings.pinned_reserve,
            discovery_reserve: settings.discovery_reserve,
            cache_limit: settings.cache_limit,
        },
        agents: settings.agents.iter().map(|(name, settings)| (name.clone(), agent(settings))).collect(),
        clients: Clients::new(settings.clients.iter().map(|(name, settings)| (name.as_str(), client_tools(settings)))),
        is_name_length_said: settings.is_name_length_said,
        // Its files are read by whoever starts the kernel.
        judge: None,
    }
}

fn profile(said: &config::ProfileSettings) -> kernel::Profile {
    let names = |names: &[String]| names.iter().map(|name| kernel::ToolName::from(name.as_str())).collect();
    kernel::Profile {
        servers: said.servers.clone(),
        tools: names(&said.tools),
        without: names(&said.without),
        shown: said.level.map(|level| tool_level(level).map_or(Shown::Auto, Shown::At)),
        pinned: said.pinned.clone(),
        max_risk: said.max_risk,
        confirm: match said.confirm {
            config::ProfileConfirm::Usual => kernel::Confirm::Usual,
            config::ProfileConfirm::Changes => kernel::Confirm::Changes,
            config::ProfileConfirm::All => kernel::Confirm::All,
        },
    }
}

fn client_tools(settings: &config::ClientSettings) -> ClientTools {
    let shown = |level| tool_level(level).map_or(Shown::Auto, Shown::At);
    ClientTools {
        shown: settings.level.map(shown),
        max_tokens: settings.max_tokens,
        max_tools: settings.max_tools,
        max_name_length: settings.max_name_length,
    }
}

fn tool_level(level: config::ToolLevel) -> Option<kernel::Level> {
    match level {
        config::ToolLevel::Auto => None,
        config::ToolLevel::All => Some(kernel::Level::All),
        config::ToolLevel::Categories => Some(kernel::Level::Categories),
        config::ToolLevel::Discovery => Some(kernel::Level::Discovery),
        config::ToolLevel::Hybrid => Some(kernel::Level::Hybrid),
    }
}

/// How long a server may take to start. One whose package has to be fetched first is not broken off in the middle of that: half a
/// package would stay behind, and it would never start again.
fn start_timeout(server: &Server, limits: &config::Limits) -> Duration {
    let usual = server.entry.start_timeout.is_none() && limits.start_timeout == config::Limits::default().start_timeout;
    let fetches = matches!(server.endpoint(), Ok(Endpoint::Stdio(stdio)) if child::fetches(&stdio.program));
    if usual && fetches { FETCHING } else { server.start_timeout(limits) }
}

/// How long a server may take whose package is fetched first.
const FETCHING: Duration = Duration::from_secs(300);

/// The bounds on one message.
pub(crate) fn message_limits(settings: &Settings) -> Limits {
    let limits = &settings.limits;
    Limits {
        bytes: limits.message_bytes,
        depth: limits.depth,
        keys: limits.keys,
        number_length: limits.number_length,
        batch: limits.batch,
    }
}

/// The longest that any of these servers may take to start, with a moment for its lists.
pub(crate) fn patience(specs: &[ServerSpec]) -> Duration {
    let longest = specs.iter().map(|spec| spec.start_timeout).max().unwrap_or_default();
    longest * 2 + Duration::from_secs(1)
}

fn target(server: &Server, endpoint: &Endpoint, surroundings: &Surroundings<'_>, print: &mut Fingerprint) -> Target {
    match endpoint {
        Endpoint::Stdio(stdio) => {
            // Servers of the user's file are the same whichever folder their clients were started in.
            // A confined one does not see our data folder.
            let own = (server.origin == Origin::User && !is_confined(server, surroundings.settings))
                .then(|| work_folder(surroundings.data_dir, server.id()));
            let (cwd, makes_cwd) = match &stdio.cwd {
                Some(cwd) => (Some(cwd.clone()), false),
                None => (own.clone(), own.is_some()),
            };
            let spec = CommandSpec {
                program: stdio.program.clone(),
                args: stdio.args.clone(),
                env: stdio.env.iter().map(|(name, value)| (name.clone(), value.reveal().to_owned())).collect(),
                // Whoever trusts a project's servers was shown what these name, and not what the user passes to all of his.
                pass_env: (surroundings.settings.pass_env.iter().filter(|_| server.origin != Origin::Project))
                    .chain(&stdio.pass_env)
                    .cloned()
                    .collect(),
                cwd,
                makes_cwd,
                profile: None,
            };
            print.word(&spec.program);
            print.words(&spec.args);
            print.pairs(&spec.env);
            print.words(&spec.pass_env);
            // What a variable that is passed on says is part of what the server is started with; it cannot change
            // while we run.
            print.word(&format!("{:?}", spec.cwd));
            Target::Command(spec)
        }
        Endpoint::Http(http) => {
            let plain = http.headers.iter().map(|(name, value)| (name.clone(), value.reveal().to_owned()));
            let token =
                http.token.iter().map(|token| ("Authorization".to_owned(), format!("Bearer {}", token.reveal())));
            let headers: Vec<_> = plain.chain(token).collect();
            let url = http.url.clone();
            print.word(&url);
            print.pairs(&headers);
            if let Some(oauth) = &http.oauth {
                print.word(&format!("{} {:?} {:?}", oauth.client_id, oauth.issuer, oauth.scopes));
                print.word(oauth.client_secret.reveal());
            }
            if http.legacy_sse { Target::Sse { url, headers } } else { Target::Http { url, headers } }
        }
        Endpoint::Address(address) => {
            print.word(address);
            Target::Address(address.clone())
        }
    }
}

/// A hash over everything that a server is started with, so that a change of anything of it starts it anew.
struct Fingerprint(Sha256);

/// A server without what is said of its use, which counts at once and starts nothing anew ([`policy`]).
fn as_started(server: &Server) -> Server {
    let mut started = server.clone();
    let entry = &mut started.entry;
    entry.tools.clear();
    entry.prompts.clear();
    entry.only_tools = None;
    entry.alias = None;
    entry.description = None;
    entry.pins = None;
    entry.default_policy = None;
    started
}

impl Fingerprint {
    fn new(server: &Server) -> Self {
        let mut print = Self(Sha256::new());
        // Covers the declaration; what follows covers the values of the variables in it.
        print.word(&config::fingerprint(&as_started(server)));
        print
    }

    fn word(&mut self, word: &str) {
        self.0.update((word.len() as u64).to_le_bytes());
        self.0.update(word);
    }

    fn words(&mut self, words: &[String]) {
        self.0.update((words.len() as u64).to_le_bytes());
        words.iter().for_each(|word| self.word(word));
    }

    fn pairs(&mut self, pairs: &[(String, String)]) {
        self.0.update((pairs.len() as u64).to_le_bytes());
        for (name, value) in pairs {
            self.word(name);
            self.word(value);
        }
    }

    fn finish(self) -> String {
        self.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use switchboard_config::{Config, Environment};

    use super::*;

    fn one(text: &str, variables: &[(&str, &str)]) -> ServerSpec {
        let environment: Environment = variables.iter().copied().collect();
        let config = Config::parse(Path::new("mgp.toml"), text, &environment).unwrap();
        specs(&config, Path::new("/data")).remove(0)
    }

    #[test]
    fn a_project_file_only_makes_pins_stricter() {
        use PinPolicy::{Ask, Follow, Off, Strict};
        let program = "[[servers]]\nid = 's'\ncommand = 's'\n";
        let remote = "[[servers]]\nid = 's'\nurl = 'https://x.test/mcp'\n";
        for (server, gate, said, own, projects) in [
            (program, "", "", None, None),
            (program, "", "pins = 'off'", Some(Off), Some(Follow)),
            (program, "", "pins = 'strict'", Some(Strict), Some(Strict)),
            (remote, "", "pins = 'follow'", Some(Follow), Some(Ask)),
            (program, "[gate]\npins = 'ask'", "pins = 'follow'", Some(Follow), Some(Ask)),
            (program, "[gate]\npins = 'off'", "pins = 'follow'", Some(Follow), Some(Follow)),
            (program, "[gate]\npins = 'strict'", "", Some(Strict), Some(Strict)),
        ] {
            let text = format!("{gate}\n{server}{said}\n[servers.tools.t]\n{said}\n");
            let config = Config::parse(Path::new("mgp.toml"), &text, &Environment::default()).unwrap();
            let mut server = config.servers[0].clone();
            let at = |server: &Server| policy(server, &config.settings);
            assert_eq!(at(&server).pins, own, "{text}");
            server.origin = Origin::Project;
            assert_eq!(at(&server).pins, projects, "{text}");
            if !said.is_empty() {
                assert_eq!(at(&server).tool_pins.get("t").copied(), projects, "{text}");
            }
        }
    }

    #[test]
    fn our_own_files_are_the_data_folder_the_store_and_all_configuration() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("mgp.toml");
        let store = folder.path().join("elsewhere.db");
        std::fs::write(&file, format!("data_dir = 'data'\nstore = '{}'\n", store.display())).unwrap();
        let environment = Environment::default();
        let sources =
            switchboard_config::Sources { explicit: Some(file), folder: folder.path().to_owned(), environment };
        let own = own_files(&switchboard_config::load(&sources).unwrap());
        for (name, ours) in [
            ("data", true),
            ("data/trust.json", true),
            ("mgp.toml", true),
            ("elsewhere.db", true),
            ("elsewhere.audit-key", true),
            ("other.db", false),
            ("data2/x", false),
        ] {
            let path = folder.path().join(name).to_string_lossy().into_owned();
            let arguments = switchboard_wire::Raw::array(&[switchboard_wire::Raw::string(&path)]);
            assert_eq!(own.suspects(&arguments, &[], false).touched.is_some(), ours, "{name}");
        }
    }

    #[test]
    fn a_change_of_anything_changes_the_fingerprint() {
        let base = "[[servers]]\nid = 'a'\ncommand = 'x'\nargs = ['${V}']\n";
        let print = |text: &str, value: &str| one(text, &[("V", value)]).fingerprint;
        let first = print(base, "1");
        assert_eq!(first, print(&format!("# a comment\n\n{base}"), "1"));
        for other in [
            print(base, "2"),
            print(&base.replace("'${V}'", "'${V}', 'b'"), "1"),
            print(&format!("{base}era = 'legacy'\n"), "1"),
            print(&format!("{base}sharing = 'session'\n"), "1"),
            print(&format!("{base}call_timeout_ms = 5\n"), "1"),
            print(&format!("{base}start_timeout_ms = 5\n"), "1"),
            print(&format!("{base}cwd = '/'\n"), "1"),
            print(&format!("{base}env = {{ A = 'b' }}\n"), "1"),
            print(&format!("{base}pass_env = ['A']\n"), "1"),
            print(&format!("{base}mgp = {{ restart_policy = 'never' }}\n"), "1"),
        ] {
            assert_ne!(first, other);
        }
        // What is said of its use counts without a new start.
        for said in [
            "alias = 'b'",
            "only_tools = ['t']",
            "pins = 'ask'",
            "description = 'x'",
            "default_policy = 'opt-in'",
            "[servers.tools.t]\nenabled = false",
            "[servers.tools.t]\nname = 'u'\nrisk = 'dangerous'",
            "[servers.prompts.p]\nconfirm = true",
        ] {
            assert_eq!(first, print(&format!("{base}{said}\n"), "1"), "{said}");
        }
    }

    #[test]
    fn what_the_user_passes_to_all_servers_is_not_for_those_of_a_project() {
        let text = "pass_env = ['A']\n[[servers]]\nid = 'a'\ncommand = 'x'\npass_env = ['B']\n";
        for (origin, expected) in [(Origin::User, &["A", "B"][..]), (Origin::Project, &["B"])] {
            let mut config = Config::parse(Path::new("mgp.toml"), text, &Environment::default()).unwrap();
            config.servers[0].origin = origin;
            let Target::Command(command) = specs(&config, Path::new("/data")).remove(0).target else { panic!("a url") };
            assert_eq!(command.pass_env, expected, "{origin}");
        }
    }

    #[test]
    fn remote_servers_get_their_headers_and_their_token() {
        let spec = one("[[servers]]\nid = 'a'\nurl = 'https://x.test/mcp'\ntoken = 't'\nheaders = { A = 'b' }\n", &[]);
        let Target::Http { url, headers } = spec.target else { panic!("not http") };
        assert_eq!(url, "https://x.test/mcp");
        assert_eq!(headers, [("A".to_owned(), "b".to_owned()), ("Authorization".to_owned(), "Bearer t".to_owned())]);
        assert_eq!(spec.sharing, Sharing::PerSession);
    }

    #[test]
    fn what_cannot_be_started_is_left_out() {
        let text = "servers = [{ id = 'a', command = 'x', enabled = false }, { id = 'b', command = '${NO}' }]";
        let config = Config::parse(Path::new("mgp.toml"), text, &Environment::default()).unwrap();
        assert_eq!(specs(&config, Path::new("/data")), []);
    }
}
