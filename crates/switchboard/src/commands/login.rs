//! `switchboard login` and `logout`: lets a person agree that Switchboard uses a server in their name.

use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use http::HeaderValue;
use parking_lot::Mutex;
use serde_json::json;
use switchboard_config::{Endpoint, Loaded, RemoteEndpoint};
use switchboard_identity::tokens::is_name;
use switchboard_identity::{CLIENT_NAME, EVERYBODY, UpstreamCredentials};
use switchboard_peer::client::{AuthorizeError, Authorizer, ConnectOptions, Refusal, Target, connect};
use switchboard_peer::oauth::{Loopback, OAuth, OAuthGrant, OAuthOptions, RegisteredClient};
use switchboard_peer::{BoxFuture, Context, Handler, Reply};
use switchboard_wire::{ErrorObject, Notification, Raw, Request, code};
use url::Url;

use crate::Outcome;
use crate::arguments::{Common, Login, Logout};
use crate::failure::{Failure, chain};
use crate::identity_audit;
use crate::local::object;
use crate::screen::{self, note, out};
use crate::setup;
use crate::storage::{self, open_store};

/// How long all of it may take; a person is in the middle of it.
const LOGIN_TIMEOUT: Duration = Duration::from_secs(10 * 60);

pub(crate) async fn login(common: &Common, options: &Login) -> Outcome {
    let loaded = setup::read(common)?;
    let endpoint = endpoint(&loaded, &options.server)?;
    let principal = principal(options.principal.as_deref())?;
    let store = open_store(&loaded).await?;
    let credentials = UpstreamCredentials::new(store.clone(), loaded.data_dir.clone());
    let vault = credentials.vault(&options.server, principal).await?;
    let show = {
        let quiet = options.no_browser;
        move |page: &Url| {
            note(format_args!("Open this page to log in:\n\n  {page}\n"));
            if !quiet {
                open_browser(page);
            }
            Ok(())
        }
    };
    if let Some(client) = registered(options)? {
        vault.keep_registered(&client);
    }
    // The address that an authorization server knows already, if it is free.
    let known = vault.redirect_uri().and_then(|uri| Url::parse(&uri).ok()?.port());
    let browser = match (options.port, known) {
        (Some(port), _) => Loopback::on_port(port, show).await?,
        (None, Some(port)) => match Loopback::on_port(port, show).await {
            Ok(browser) => browser,
            Err(_) => Loopback::new(show).await?,
        },
        (None, None) => Loopback::new(show).await?,
    };
    let grant = OAuthGrant::Person(Arc::new(browser));
    let unusable = |error: &dyn std::error::Error| Failure::failed(format!("{}: {}", options.server, chain(error)));
    let oauth_options = OAuthOptions { registered: vault.registered(), ..OAuthOptions::new(CLIENT_NAME) };
    let oauth = OAuth::new(&endpoint.url, grant, oauth_options, Arc::new(vault.clone()));
    let oauth = Arc::new(oauth.map_err(|error| unusable(&error))?);
    let mut connecting = ConnectOptions::new(
        object(&[("name", Raw::string("switchboard")), ("version", Raw::string(env!("CARGO_PKG_VERSION")))]),
        Raw::empty_object(),
    );
    connecting.start_timeout = LOGIN_TIMEOUT;
    let asking = Arc::new(Asking { oauth: oauth.clone(), refused: Mutex::default() });
    connecting.authorizer = Some(asking.clone());
    let headers = endpoint.headers.iter().map(|(name, value)| (name.clone(), value.reveal().to_owned())).collect();
    let connected = connect(Target::Http { url: endpoint.url.clone(), headers }, connecting, Arc::new(Silent)).await;
    let outcome = match connected {
        Ok(connected) => {
            connected.stop().await;
            if vault.has_tokens() {
                Ok(())
            } else {
                // It lets everybody connect, and may ask for more at a call.
                let asked = oauth.token(Refusal { status: 401, challenge: None, used: None }).await;
                asked.map(drop).map_err(|error| unusable(&error))
            }
        }
        // Why there is no token says more than that there is none.
        Err(error) => Err(match asking.refused.lock().take() {
            Some(why) => Failure::failed(format!("{}: {why}", options.server)),
            None => unusable(&error),
        }),
    };
    vault.bind_registered();
    vault.flush().await;
    let noted = match outcome {
        Ok(()) => {
            let details = [("agent_id", shown(principal).into())];
            identity_audit::write(&store, identity_audit::LOGIN, Some(&options.server), &details).await
        }
        Err(failure) => Err(failure),
    };
    let _ = store.close().await;
    noted?;
    let whose = if principal == EVERYBODY { "for everybody who has no login of their own" } else { principal };
    if common.json {
        screen::json(&json!({"server": options.server, "principal": shown(principal), "logged_in": true}));
    } else {
        out(format_args!("logged in to {} ({whose})", options.server));
    }
    Ok(())
}

pub(crate) async fn logout(common: &Common, options: &Logout) -> Outcome {
    let loaded = setup::read(common)?;
    let principal = options.principal.as_deref().map(|name| principal(Some(name))).transpose()?;
    let mut forgotten = 0;
    if storage::exists(&loaded) {
        let store = open_store(&loaded).await?;
        forgotten = store.credentials().forget(&options.server, principal).await?;
        let noted = if forgotten == 0 {
            Ok(())
        } else {
            let details = [("agent_id", principal.and_then(shown).into())];
            identity_audit::write(&store, identity_audit::LOGOUT, Some(&options.server), &details).await
        };
        let _ = store.close().await;
        noted?;
    }
    if forgotten == 0 {
        return Err(Failure::failed(format!("there was no login to {}", options.server)));
    }
    if common.json {
        screen::json(&json!({"server": options.server, "principal": principal, "logged_in": false}));
    } else {
        out(format_args!(
            "logged out of {}; a running `switchboard serve` uses the old tokens until it connects again",
            options.server
        ));
    }
    Ok(())
}

/// The client id of the command line. Its password comes from the environment: arguments can be seen by others.
fn registered(options: &Login) -> Result<Option<RegisteredClient>, Failure> {
    let Some(client_id) = options.client_id.clone() else { return Ok(None) };
    let client_secret = match &options.client_secret_env {
        None => None,
        Some(name) => match std::env::var(name) {
            Ok(secret) if !secret.is_empty() => Some(secret.into()),
            _ => return Err(Failure::usage(format!("the variable {name} is not set"))),
        },
    };
    Ok(Some(RegisteredClient { issuer: None, client_id, client_secret }))
}

fn principal(name: Option<&str>) -> Result<&str, Failure> {
    match name {
        None => Ok(EVERYBODY),
        Some(name) if is_name(name) => Ok(name),
        Some(name) => Err(Failure::usage(format!("`{name}` cannot be a principal"))),
    }
}

/// For programs, everybody is nobody in particular.
fn shown(principal: &str) -> Option<&str> {
    (principal != EVERYBODY).then_some(principal)
}

/// Where a person could log in.
fn endpoint<'a>(loaded: &'a Loaded, id: &str) -> Result<&'a RemoteEndpoint, Failure> {
    let server = loaded.config.servers.iter().find(|server| server.id() == id);
    let server = server.ok_or_else(|| Failure::usage(format!("no server is called {id}")))?;
    match server.endpoint() {
        Ok(Endpoint::Http(http)) if has_own_credentials(http) => Err(Failure::usage(format!(
            "{id} has a token in its configuration, or a way to get one, which is used; take it out to log in instead"
        ))),
        Ok(Endpoint::Http(http)) if http.legacy_sse => {
            Err(Failure::usage(format!("{id} speaks HTTP+SSE, which has no login here; configure a token")))
        }
        Ok(Endpoint::Http(http)) => Ok(http),
        Ok(Endpoint::Stdio(_)) => Err(Failure::usage(format!("{id} is a program on this machine and has no login"))),
        Ok(Endpoint::Address(_)) => Err(Failure::usage(format!("{id} is not reached over HTTP and has no login"))),
        Err(error) => Err(Failure::usage(error)),
    }
}

/// Whether the configuration says what is sent as `Authorization`.
pub(crate) fn has_own_credentials(http: &RemoteEndpoint) -> bool {
    http.token.is_some()
        || http.oauth.is_some()
        || http.headers.keys().any(|name| name.eq_ignore_ascii_case("authorization"))
}

/// Shows the page where there is a desktop. It was printed already, so a failure is none.
fn open_browser(page: &Url) {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let program = if cfg!(target_os = "macos") {
        "open"
    } else if set("DISPLAY") || set("WAYLAND_DISPLAY") {
        "xdg-open"
    } else {
        return;
    };
    let quiet = std::process::Stdio::null;
    let started =
        std::process::Command::new(program).arg(page.as_str()).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn();
    if let Err(error) = started {
        tracing::debug!(%error, "no browser could be opened");
    }
    let _ = std::io::stderr().flush();
}

/// Asks the person once: whoever said no is not asked again by the next attempt to connect.
struct Asking {
    oauth: Arc<OAuth>,
    refused: Mutex<Option<String>>,
}

impl Authorizer for Asking {
    fn header(&self) -> Option<HeaderValue> {
        self.oauth.header()
    }

    fn challenged(&self, refusal: Refusal) -> BoxFuture<'_, Result<(), AuthorizeError>> {
        Box::pin(async move {
            if let Some(why) = &*self.refused.lock() {
                return Err(AuthorizeError::new("asking for a token", why));
            }
            let outcome = self.oauth.challenged(refusal).await;
            if let Err(error) = &outcome {
                *self.refused.lock() = Some(error.why.clone());
            }
            outcome
        })
    }
}

/// Answers nothing that the server may ask while a person logs in.
struct Silent;

impl Handler for Silent {
    fn request(&self, _: Context, _: Request) -> BoxFuture<'_, Reply> {
        let error = ErrorObject::new(code::METHOD_NOT_FOUND, "nothing is answered during a login");
        Box::pin(std::future::ready(Err(error).into()))
    }

    fn notification(&self, _: Context, _: Notification) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}
