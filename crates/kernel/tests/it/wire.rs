//! Servers inside this process, and clients on pipes that say who they are.

use std::sync::Arc;
use std::time::Duration;

use switchboard_kernel::{Kernel, Restart, ServerSpec, Sharing};
use switchboard_peer::client::{EraChoice, Target};
use switchboard_peer::duplex::{self, Connection, DuplexOptions, Role};
use switchboard_peer::{BoxFuture, Call, Context, Handler, Remote as _, Reply};
use switchboard_protocol::Era;
use switchboard_wire::{Edit, ErrorObject, Notification, Raw, Request};
use tokio::sync::mpsc;

use crate::world::raw;

/// A server inside this process; `version` tells one configuration of it from the next.
pub(crate) fn local(id: &str, version: &str, server: Arc<dyn Handler>, sharing: Sharing) -> ServerSpec {
    ServerSpec {
        id: id.into(),
        target: Target::InProcess(server),
        era: EraChoice::Auto,
        sharing,
        start_timeout: Duration::from_secs(5),
        call_timeout: Duration::from_secs(5),
        restart: Restart::Always,
        upkeep: switchboard_kernel::Upkeep::default(),
        fingerprint: version.to_owned(),
        isolation: None,
        policy: Arc::default(),
    }
}

/// A client on a pair of pipes.
pub(crate) struct Wire {
    pub(crate) connection: Arc<Connection>,
    pub(crate) told: mpsc::UnboundedReceiver<Notification>,
    pub(crate) asked: mpsc::UnboundedReceiver<Request>,
    era: Era,
}

struct Ear {
    told: mpsc::UnboundedSender<Notification>,
    asked: mpsc::UnboundedSender<Request>,
    thinks: Duration,
}

impl Handler for Ear {
    fn request(&self, _context: Context, request: Request) -> BoxFuture<'_, Reply> {
        Box::pin(async move {
            let _ = self.asked.send(request);
            tokio::time::sleep(self.thinks).await;
            Ok(raw(r#"{"action":"accept","content":{"name":"Ada"}}"#)).into()
        })
    }

    fn notification(&self, _context: Context, notification: Notification) -> BoxFuture<'_, ()> {
        let _ = self.told.send(notification);
        Box::pin(std::future::ready(()))
    }
}

const ELICITS: &str = r#"{"elicitation":{"form":{}}}"#;

/// Connects to a kernel as `principal`.
pub(crate) async fn wire(kernel: &Kernel, principal: &str, era: Era) -> Wire {
    wire_that_thinks(kernel, principal, era, Duration::ZERO).await
}

/// The same, with a person who takes that long to answer.
pub(crate) async fn wire_that_thinks(kernel: &Kernel, principal: &str, era: Era, thinks: Duration) -> Wire {
    let (ours, theirs) = tokio::io::duplex(64 << 10);
    let (reader, writer) = tokio::io::split(theirs);
    let options = DuplexOptions { principal: principal.into(), ..DuplexOptions::new(Role::Server) };
    duplex::start(reader, writer, options, Arc::new(kernel.clone()));
    let (reader, writer) = tokio::io::split(ours);
    let (tell, told) = mpsc::unbounded_channel();
    let (ask, asked) = mpsc::unbounded_channel();
    let ear = Arc::new(Ear { told: tell, asked: ask, thinks });
    let connection = duplex::start(reader, writer, DuplexOptions::new(Role::Client), ear).connection;
    let wire = Wire { connection, told, asked, era };
    if era == Era::Legacy {
        let params = format!(
            r#"{{"protocolVersion":"2025-11-25","capabilities":{ELICITS},"clientInfo":{{"name":"w","version":"1"}}}}"#
        );
        wire.ask("initialize", &params).await.expect("a greeting");
        wire.connection.notify(Notification::new("notifications/initialized", None)).expect("open");
    }
    wire
}

impl Wire {
    pub(crate) async fn ask(&self, method: &str, params: &str) -> Result<Raw, ErrorObject> {
        ask(&self.connection, self.era, method, params).await
    }

    /// The same in a task of its own.
    pub(crate) fn begin(&self, method: &str, params: &str) -> tokio::task::JoinHandle<Result<Raw, ErrorObject>> {
        let (connection, era) = (self.connection.clone(), self.era);
        let (method, params) = (method.to_owned(), params.to_owned());
        tokio::spawn(async move { ask(&connection, era, &method, &params).await })
    }

    pub(crate) async fn hear(&mut self, method: &str) -> Notification {
        let heard = async {
            loop {
                let notification = self.told.recv().await.expect("connected");
                if &*notification.method == method {
                    return notification;
                }
            }
        };
        tokio::time::timeout(Duration::from_secs(5), heard).await.unwrap_or_else(|_| panic!("no {method} in time"))
    }
}

async fn ask(connection: &Connection, era: Era, method: &str, params: &str) -> Result<Raw, ErrorObject> {
    let mut params = Edit::of(&raw(params)).expect("object");
    if era == Era::Modern {
        params = params
            .within("_meta", |meta| {
                meta.set("io.modelcontextprotocol/protocolVersion", Raw::string("2026-07-28"))
                    .set("io.modelcontextprotocol/clientCapabilities", raw(ELICITS))
            })
            .expect("object");
    }
    let call = Call::new(method, Some(params.finish())).within(Duration::from_secs(1000));
    connection.request(call).await.expect("an answer").outcome
}

/// Waits until something that others bring about has come about.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let wait = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(5), wait).await.unwrap_or_else(|_| panic!("never: {what}"));
}
