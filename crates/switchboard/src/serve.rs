//! `switchboard serve`: the kernel behind one HTTP address, until a signal ends it.

mod counted;
mod metrics;
mod probes;
pub(crate) mod reload;
mod retention;
mod settings;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::json;
use switchboard_config::{Auth, Loaded, Settings};
use switchboard_identity::{Oidc, ResourceMetadata, TokenAuthenticator, TokenCache, UpstreamCredentials, challenges};
use switchboard_kernel::Kernel;
use switchboard_peer::server::http::{HttpEndpoint, HttpOptions};
use switchboard_store::Store;
use switchboard_transport::http_server::{AccessRules, AllowList, Limits, Listener, Service};
use tokio_util::sync::CancellationToken;

use crate::Outcome;
use crate::arguments::{Common, Serve};
use crate::attach::socket::{ClientSocket, Tenure};
use crate::attach::{self, Succession};
use crate::control::{Control, KernelKind, Post};
use crate::failure::{Failure, chain};
use crate::registry::publish::Publisher;
use crate::screen::{self, note, out};
use crate::signals::Signals;
use crate::stdio::stream_options;
use crate::storage::open_for_kernel;
use crate::{known, memory, server_builder, setup, specs, tokens};
use counted::Counted;
use probes::Probes;
use reload::Reload;

/// Files that are kept for servers, the store and connections of our own, whatever clients use up: a quarter of all,
/// within these bounds.
const RESERVED_FILES: std::ops::RangeInclusive<u64> = 64..=1024;

/// Lets this process have as many open files as it may: a connection is one, and the usual limit is far below ours. Says
/// how many connections that leaves room for.
fn allow_files() -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current != maximum
        && let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })
    {
        tracing::debug!(%error, ?current, "the limit of open files stays as it is");
    }
    room_for(getrlimit(Resource::Nofile).current)
}

/// How many connections there may be with so many open files; none is no limit.
fn room_for(files: Option<u64>) -> usize {
    let Some(files) = files else { return usize::MAX };
    let reserved = (files / 4).clamp(*RESERVED_FILES.start(), *RESERVED_FILES.end());
    usize::try_from(files.saturating_sub(reserved).max(1)).unwrap_or(usize::MAX)
}

/// How long connections get to close after requests have ended.
const CLOSING: Duration = Duration::from_secs(5);
/// How long servers get to end after requests have, beyond what the slowest of them may take.
const GOODBYE: Duration = Duration::from_secs(5);

pub(crate) async fn run(common: &Common, options: &Serve) -> Outcome {
    let mut signals = Signals::take()?;
    let sources = setup::sources(common)?;
    let loaded = switchboard_config::load(&sources)?;
    for problem in setup::problems(&loaded) {
        note(format_args!("warning: {problem}"));
    }
    let settings = loaded.config.settings.clone();
    let wanted = options.listen.unwrap_or(settings.listen);
    let remote = !wanted.ip().is_loopback();
    if remote && !options.allow_remote {
        return Err(Failure::usage(format!(
            "{wanted} can be reached from other machines, and whoever holds a token could run every tool here. Listen on \
             127.0.0.1, or say --allow-remote if that is what you want"
        )));
    }
    let room = allow_files();
    let listener = bind(wanted).await?;
    let address = listener.address();
    let succession = attach::succeed(&sources, &loaded).await;
    tell_of(&succession);
    let store = open_for_kernel(&loaded).await?;
    let ended = CancellationToken::new();
    let (door, fresh) =
        if options.no_auth { (None, None) } else { admit(&loaded, options, &store, address, &ended).await? };
    if remote {
        warn_of_exposure(&settings, address, options.no_auth);
    } else if options.no_auth {
        note("warning: --no-auth: every program and every user of this machine can call every tool");
    }

    let credentials = UpstreamCredentials::start(store.clone(), &loaded, ended.clone()).await?;
    let mut kernel_options = specs::kernel_options(&loaded, Some(store.clone()))?;
    kernel_options.credentials = Some(credentials.clone());
    kernel_options.servers = server_builder::offers(&settings, &loaded.data_dir);
    kernel_options.tools.judge = specs::judge(&settings)?;
    let kernel = Kernel::new(kernel_options);
    let handler = Arc::new(Counted::new(kernel.clone()));
    let shutdown = CancellationToken::new();
    let face_options = HttpOptions {
        limits: specs::message_limits(&settings),
        max_sessions: settings.limits.sessions,
        max_running: settings.limits.session_requests,
        session_idle: settings.limits.session_idle,
        max_request: settings.limits.call_timeout_max,
        max_memory: settings.limits.buffer_bytes,
        shutdown: shutdown.clone(),
        ..HttpOptions::default()
    };
    memory::tell_if_left_out(&loaded);
    let memory = memory::MemorySwitch::default();
    let built_in = memory.spec(&loaded)?;
    let registered = server_builder::kept(&loaded.data_dir);
    let (known, data_dir) = (loaded.clone(), loaded.data_dir.clone());
    let joined = sources.clone();
    let reload = Reload::start(kernel.clone(), credentials, sources, loaded, (memory.clone(), built_in));
    let joined = (joined, reload.reread());
    let post = Post::of(KernelKind::Serve, Some(address));
    let tenure = (Tenure::Own, post.clients.clone());
    let joining = ClientSocket::open(kernel.clone(), joined, stream_options(&settings), &data_dir, tenure);
    let joining = joining.inspect_err(|error| tracing::warn!(%error, "clients of `stdio` cannot join this kernel"));
    // Clients of the kernel that it takes the place of find it from here on, and wait for its servers.
    drop(succession);
    let _control = Control::open(kernel.clone(), reload.reread(), post, &data_dir);
    greet(common, address, fresh.as_deref(), &known, options.no_auth);
    kernel.restore(registered);
    known::tell_when_known(kernel.clone(), store.clone(), known.config);
    if let Some(days) = settings.gate.audit_keep_days {
        retention::start(store.clone(), days, ended.clone());
    }
    let probes = Probes::new(kernel.clone(), handler.counts(), reload.counts());
    let mut beside: Arc<dyn Service> = Arc::new(probes);
    if settings.discovery.serve {
        let endpoint = settings.auth.as_ref().and_then(|auth| auth.resource.clone());
        let endpoint = endpoint.unwrap_or_else(|| format!("http://{address}/mcp"));
        beside = Arc::new(Publisher::new(kernel.clone(), endpoint, !options.no_auth, beside));
    }
    if let (false, Some(auth)) = (options.no_auth, &settings.auth) {
        beside = Arc::new(ResourceMetadata::new(auth, &resource(auth, address), beside));
    }
    let face = Arc::new(HttpEndpoint::new(face_options, handler).with_fallback(beside));
    let grace = settings.limits.shutdown_grace;
    let connections = settings.limits.connections.min(room);
    if connections < settings.limits.connections {
        let wanted = settings.limits.connections;
        tracing::warn!(connections, wanted, "the system lets this process open few files: fewer connections are taken");
    }
    let limits = Limits { connections, grace, ..Limits::default() };
    let access = access(&settings, address, door)?;
    let listener = listener.with_limits(limits).with_access(access);

    let serving = face.serve(listener);
    tokio::pin!(serving);
    tokio::select! {
        () = &mut serving => return Err(Failure::failed("the listener has ended")),
        () = signals.next() => tracing::info!("ending; a second signal ends at once"),
    }
    // Clients of `stdio` go on at another kernel: whoever comes back here would be refused again.
    if let Ok(joining) = &joining {
        joining.refuse();
    }
    // Readiness goes first, and new calls are refused with a code that says why, while those that run go on.
    kernel.drain();
    reload.stop();
    let ending = async {
        // The door stays open meanwhile: whoever comes is told.
        let drained = async {
            let is_quiet = tokio::time::timeout(grace, kernel.quiet(Duration::MAX)).await.is_ok();
            if !is_quiet {
                // Calls that outlast their time get an error, over connections that still work.
                kernel.shut_down(goodbye(&settings)).await;
            }
            if let Ok(joining) = &joining {
                joining.close();
                joining.left().await;
            }
            shutdown.cancel();
            // Streams that clients keep open are ended by the shutdown; the limit is for those that do not react.
            tokio::time::sleep(grace + CLOSING).await;
        };
        tokio::select! {
            () = &mut serving => {}
            () = drained => tracing::warn!("some connections did not end in time"),
        }
        kernel.shut_down(goodbye(&settings)).await;
        memory.close().await;
        ended.cancel();
        if let Err(error) = store.close().await {
            tracing::warn!(error = chain(&error), "the store did not close");
        }
    };
    if signals.unless_again(ending).await { Ok(()) } else { Err(Failure::said()) }
}

/// Says what became of other kernels with these servers.
fn tell_of(succession: &Succession) {
    for process in &succession.ended {
        note(format_args!(
            "the kernel that clients of `stdio` shared (process {process}) has ended; its clients go on here, with the servers of \
             this one"
        ));
    }
    for process in &succession.staying {
        note(format_args!(
            "warning: another kernel (process {process}) serves the same configuration, so that each of its servers runs twice; \
             end one of the two"
        ));
    }
}

/// How long servers get to end.
pub(crate) fn goodbye(settings: &Settings) -> Duration {
    settings.limits.stop_timeout + GOODBYE
}

async fn bind(wanted: SocketAddr) -> Result<Listener, Failure> {
    Listener::bind(wanted).await.map_err(|error| {
        let next = match error.kind() {
            std::io::ErrorKind::AddrInUse => {
                "another program listens there, perhaps a Switchboard that runs already; stop it or choose another \
                 address with --listen"
            }
            std::io::ErrorKind::PermissionDenied => "choose a port above 1023 with --listen",
            _ => "choose another address with --listen",
        };
        Failure::failed(format!("cannot listen on {wanted}: {error}; {next}"))
    })
}

/// What lets clients in, and a new token if there was none or another is wanted. `ended` ends what follows the store.
pub(crate) async fn admit(
    loaded: &Loaded,
    options: &Serve,
    store: &Store,
    address: SocketAddr,
    ended: &CancellationToken,
) -> Result<(Option<Arc<TokenAuthenticator>>, Option<String>), Failure> {
    let now = Timestamp::now();
    let adopted = tokens::adopt(store, &loaded.data_dir, now).await?;
    if adopted > 0 {
        tracing::info!(adopted, "the tokens of the old list are in the store now; see `switchboard token list`");
    }
    let auth = loaded.config.settings.auth.as_ref();
    // Where people come with tokens of their identity provider, nobody needs a first one of ours.
    let fresh = if auth.is_none() || options.new_token {
        tokens::for_start(store, options.new_token, now).await?
    } else {
        None
    };
    let tokens = TokenCache::open(store.clone()).await?;
    tokens.follow(ended.clone());
    let provider = auth.map(|auth| Oidc::new(auth.clone(), resource(auth, address)));
    Ok((Some(Arc::new(TokenAuthenticator { tokens, provider })), fresh))
}

/// The address of the endpoint as clients know it, which tokens of an identity provider must be meant for.
fn resource(auth: &Auth, address: SocketAddr) -> String {
    auth.resource.clone().unwrap_or_else(|| format!("http://{address}/mcp"))
}

/// Who is let in.
pub(crate) fn access(
    settings: &Settings,
    address: SocketAddr,
    door: Option<Arc<TokenAuthenticator>>,
) -> Result<AccessRules, Failure> {
    let mut access = AccessRules::loopback(address);
    let more = |list: AllowList, entry: &str| list.with(entry).map_err(|error| Failure::usage(error.to_string()));
    for host in &settings.allowed_hosts {
        access.hosts = more(access.hosts, host)?;
    }
    for origin in &settings.allowed_origins {
        let name = origin.split_once("://").map_or(origin.as_str(), |(_, name)| name);
        access.origins = more(access.origins, name)?;
    }
    Ok(match door {
        None => access,
        Some(door) => {
            let access = access.authenticated_by(door);
            match &settings.auth {
                Some(auth) => access.challenging(challenges(auth, &resource(auth, address))),
                None => access,
            }
        }
    })
}

fn warn_of_exposure(settings: &Settings, address: SocketAddr, no_auth: bool) {
    note("**************************************************************************");
    note(format_args!("warning: {address} can be reached from other machines, without encryption."));
    if no_auth {
        note("warning: --no-auth: WHOEVER REACHES IT CAN RUN EVERY TOOL. There is no token.");
    } else {
        note("warning: whoever holds or overhears a token can run every tool.");
    }
    if settings.allowed_hosts.is_empty() {
        note("warning: other names than the address itself are refused; set `allowed_hosts` for those clients use.");
    }
    note("**************************************************************************");
}

/// Says where the kernel is, how to get in, and what to paste into a client.
fn greet(common: &Common, address: SocketAddr, fresh: Option<&str>, loaded: &Loaded, no_auth: bool) {
    let url = format!("http://{address}/mcp");
    let headers = (!no_auth).then(|| json!({"Authorization": format!("Bearer {}", fresh.unwrap_or("<your token>"))}));
    let mut entry = json!({"type": "http", "url": url});
    if let Some(headers) = headers {
        entry["headers"] = headers;
    }
    let entry = json!({"mcpServers": {"switchboard": entry}});
    let mut servers: Vec<&str> = setup::usable(loaded).map(switchboard_config::Server::id).collect();
    servers.extend(memory::wanted(loaded).then_some(memory::ID));
    if common.json {
        screen::json_line(&json!({"url": url, "token": fresh, "entry": entry, "servers": servers}));
        return;
    }
    out(format_args!("Switchboard {} on {url}", env!("CARGO_PKG_VERSION")));
    match servers.as_slice() {
        [] => out(setup::NO_SERVERS),
        names => out(format_args!("servers: {}", names.join(", "))),
    }
    if let Some(token) = fresh {
        out(format_args!("token (shown only now): {token}"));
    } else if !no_auth {
        out(
            "token: one that was shown when it was made; `switchboard serve --new-token` shows another, which may use what you may",
        );
    }
    out(format_args!("\nEntry for a client that speaks HTTP:\n{entry:#}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_files_are_kept_for_our_own_needs() {
        for (files, connections) in
            [(Some(256), 192), (Some(1024), 768), (Some(20_000), 18_976), (Some(70), 6), (Some(10), 1)]
        {
            assert_eq!(room_for(files), connections, "{files:?}");
        }
        assert_eq!(room_for(None), usize::MAX);
    }

    #[test]
    fn names_of_the_configuration_are_let_in() {
        let settings = Settings {
            allowed_hosts: vec!["box.example:8443".to_owned()],
            allowed_origins: vec!["https://app.example".to_owned()],
            ..Settings::default()
        };
        let address = SocketAddr::from(([127, 0, 0, 1], 7420));
        let access = access(&settings, address, None).unwrap();
        assert_ne!(access.hosts, AccessRules::loopback(address).hosts);
        assert_ne!(access.origins, AccessRules::loopback(address).origins);
    }
}
