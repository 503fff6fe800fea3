//! A deliberately cheap MCP server, the upstream of every measured gateway.
//!
//! Speaks streamable HTTP, with sessions in the legacy era and without in the modern one, or stdio. It offers `echo`
//! and any number of filler tools. It keeps no state and checks little, so that its own cost stays small and constant.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command that prints where it listens")]

mod answer;

use std::io::{BufRead, Read, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use clap::{Parser, ValueEnum};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::header::HeaderValue;
use hyper::{Method, Request, Response, StatusCode};
use switchboard_bench::error::Error;
use switchboard_bench::message::{Era, MODERN};
use switchboard_bench::serve::{LARGEST_BODY, Listening};

use answer::{Offer, Reply};

/// A cheap MCP server to stand behind a measured gateway.
#[derive(Parser)]
#[command(version)]
struct Options {
    /// Address to listen on
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: String,
    /// Serve stdin and stdout instead
    #[arg(long)]
    stdio: bool,
    /// Answer with event streams instead of JSON bodies
    #[arg(long)]
    sse: bool,
    /// The protocol eras it knows
    #[arg(long, value_enum, default_value_t = Eras::Both)]
    era: Eras,
    /// Filler tools besides `echo`
    #[arg(long, default_value_t = 0)]
    tools: usize,
    /// Milliseconds to wait before each answer
    #[arg(long, default_value_t = 0)]
    delay_ms: u64,
    /// Worker threads
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// End when stdin closes
    #[arg(long)]
    until_stdin_closes: bool,
}

/// The eras the server answers in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Eras {
    Legacy,
    Modern,
    Both,
}

impl Eras {
    fn has(self, era: Era) -> bool {
        match self {
            Self::Both => true,
            Self::Legacy => era == Era::Legacy,
            Self::Modern => era == Era::Modern,
        }
    }
}

struct Server {
    offer: Offer,
    sse: bool,
    delay: Duration,
    sessions: AtomicU64,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("echo-upstream: {}", error.chain());
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), Error> {
    let server = Arc::new(Server {
        offer: Offer::new(options.tools, options.era),
        sse: options.sse,
        delay: Duration::from_millis(options.delay_ms),
        sessions: AtomicU64::new(0),
    });
    if options.stdio {
        return server.serve_stdio().map_err(Error::io("serving stdio"));
    }
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(options.threads.max(1)).enable_all().build();
    runtime.map_err(Error::io("starting the runtime"))?.block_on(async {
        let listening = Listening::bind(&options.listen).await?;
        println!("echo-upstream on http://{}/mcp", listening.address);
        let handle = move |request| {
            let server = Arc::clone(&server);
            async move { server.handle(request).await }
        };
        listening.serve(options.until_stdin_closes, handle).await;
        Ok(())
    })
}

impl Server {
    async fn handle(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        match *request.method() {
            Method::POST => {}
            Method::DELETE => return empty(StatusCode::OK),
            _ => return empty(StatusCode::METHOD_NOT_ALLOWED),
        }
        let version = request.headers().get("mcp-protocol-version");
        let era = match version {
            Some(version) if version.as_bytes() >= MODERN.as_bytes() => Era::Modern,
            _ => Era::Legacy,
        };
        let Ok(body) = Limited::new(request.into_body(), LARGEST_BODY).collect().await else {
            return empty(StatusCode::BAD_REQUEST);
        };
        if !self.delay.is_zero() {
            tokio::time::sleep(self.delay).await;
        }
        let (status, body, opens_session) = match self.offer.answer(&body.to_bytes(), era) {
            Reply::Nothing => return empty(StatusCode::ACCEPTED),
            Reply::Message(body) => (StatusCode::OK, body, false),
            Reply::Initialized(body) => (StatusCode::OK, body, true),
            Reply::WrongEra(body) => (StatusCode::BAD_REQUEST, body, false),
            Reply::UnknownMethod(body) if era == Era::Modern => (StatusCode::NOT_FOUND, body, false),
            Reply::UnknownMethod(body) => (StatusCode::OK, body, false),
        };
        let as_events = self.sse && status == StatusCode::OK;
        let (content_type, body) = if as_events {
            ("text/event-stream", format!("event: message\ndata: {body}\n\n"))
        } else {
            ("application/json", body)
        };
        let mut response = Response::new(Full::new(Bytes::from(body)));
        *response.status_mut() = status;
        response.headers_mut().insert("content-type", HeaderValue::from_static(content_type));
        if as_events {
            response.headers_mut().insert("cache-control", HeaderValue::from_static("no-cache"));
        }
        if opens_session {
            let number = self.sessions.fetch_add(1, Ordering::Relaxed);
            if let Ok(id) = HeaderValue::try_from(format!("upstream-{number}")) {
                response.headers_mut().insert("mcp-session-id", id);
            }
        }
        response
    }

    /// Plain blocking I/O: the async wrappers of stdio cost more than the work.
    fn serve_stdio(&self) -> std::io::Result<()> {
        let mut input = std::io::stdin().lock();
        let mut output = std::io::stdout().lock();
        let mut line = Vec::new();
        loop {
            line.clear();
            if input.by_ref().take(LARGEST_BODY as u64).read_until(b'\n', &mut line)? == 0 {
                return Ok(());
            }
            std::thread::sleep(self.delay);
            let era = answer::era_of_line(&line);
            match self.offer.answer(&line, era) {
                Reply::Nothing => {}
                Reply::Message(mut body)
                | Reply::Initialized(mut body)
                | Reply::WrongEra(mut body)
                | Reply::UnknownMethod(mut body) => {
                    body.push('\n');
                    output.write_all(body.as_bytes())?;
                    output.flush()?;
                }
            }
        }
    }
}

fn empty(status: StatusCode) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::new()));
    *response.status_mut() = status;
    response
}
