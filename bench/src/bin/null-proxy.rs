//! The floor: an HTTP/1.1 forwarder with a keep-alive pool and no policy at all.
//!
//! A real gateway cannot be faster than this on the same machine; the distance to it is what the gateway costs. With
//! `--parse` it also splits each body into id, method and name with borrowed raw JSON, the least a router must read.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command that prints where it listens")]

use std::borrow::Cow;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use clap::Parser;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use serde_json::value::RawValue;
use switchboard_bench::error::Error;
use switchboard_bench::serve::{LARGEST_BODY, Listening};
use tokio::net::TcpStream;

const EXCHANGE_LIMIT: Duration = Duration::from_secs(60);
const MOST_IDLE: usize = 1024;

/// A forwarder with no policy, to measure against.
#[derive(Parser)]
#[command(version)]
struct Options {
    /// Address to listen on
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: String,
    /// HOST:PORT to forward to
    #[arg(long)]
    upstream: String,
    /// Also read id, method and tool name of each message
    #[arg(long)]
    parse: bool,
    /// Worker threads
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// End when stdin closes
    #[arg(long)]
    until_stdin_closes: bool,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Named<'a> {
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
}

type Sender = http1::SendRequest<Full<Bytes>>;

struct Forwarder {
    upstream: String,
    parse: bool,
    idle: Mutex<Vec<Sender>>,
}

fn main() -> ExitCode {
    match run(Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("null-proxy: {}", error.chain());
            ExitCode::FAILURE
        }
    }
}

fn run(options: Options) -> Result<(), Error> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(options.threads.max(1)).enable_all().build();
    runtime.map_err(Error::io("starting the runtime"))?.block_on(async {
        let listening = Listening::bind(&options.listen).await?;
        println!("null-proxy on http://{}/mcp", listening.address);
        let idle = Mutex::new(Vec::new());
        let forwarder = Arc::new(Forwarder { upstream: options.upstream, parse: options.parse, idle });
        let handle = move |request| {
            let forwarder = Arc::clone(&forwarder);
            async move {
                let forwarded = tokio::time::timeout(EXCHANGE_LIMIT, forwarder.forward(request)).await;
                forwarded.ok().flatten().unwrap_or_else(bad_gateway)
            }
        };
        listening.serve(options.until_stdin_closes, handle).await;
        Ok(())
    })
}

fn bad_gateway() -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::new()));
    *response.status_mut() = StatusCode::BAD_GATEWAY;
    response
}

impl Forwarder {
    async fn forward(&self, request: Request<Incoming>) -> Option<Response<Full<Bytes>>> {
        let (head, body) = request.into_parts();
        let body = Limited::new(body, LARGEST_BODY).collect().await.ok()?.to_bytes();
        if self.parse && !body.is_empty() {
            read_route(&body)?;
        }
        let mut sender = self.sender().await?;
        let mut onward = Request::new(Full::new(body));
        *onward.method_mut() = head.method;
        *onward.uri_mut() = head.uri;
        *onward.headers_mut() = head.headers;
        let (head, body) = sender.send_request(onward).await.ok()?.into_parts();
        let body = Limited::new(body, LARGEST_BODY).collect().await.ok()?.to_bytes();
        if sender.ready().await.is_ok() {
            let mut idle = self.idle();
            if idle.len() < MOST_IDLE {
                idle.push(sender);
            }
        }
        Some(Response::from_parts(head, Full::new(body)))
    }

    async fn sender(&self) -> Option<Sender> {
        loop {
            let Some(sender) = self.idle().pop() else { break };
            if sender.is_ready() {
                return Some(sender);
            }
        }
        let stream = TcpStream::connect(&self.upstream).await.ok()?;
        stream.set_nodelay(true).ok()?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.ok()?;
        tokio::spawn(connection);
        Some(sender)
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Sender>> {
        // No code that can panic runs under the lock.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads what a router needs; none where a call lacks it.
fn read_route(body: &[u8]) -> Option<()> {
    let envelope: Envelope<'_> = serde_json::from_slice(body).ok()?;
    if envelope.method.as_deref() != Some("tools/call") {
        return Some(());
    }
    let named: Named<'_> = serde_json::from_str(envelope.params?.get()).ok()?;
    envelope.id?;
    named.name.map(drop)
}
