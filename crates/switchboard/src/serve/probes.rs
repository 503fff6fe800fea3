//! `/healthz`, `/readyz` and `/metrics`: what an operator's machinery asks. Everything else here is not found.
//!
//! Numbers of the whole process are for the owner and for who may decide for others. Everybody else is told of the servers
//! that they may use, and does not learn that there are more.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use http::header::{ALLOW, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use prometheus_client::metrics::MetricType;
use serde_json::json;
use switchboard_kernel::{Asker, Kernel, Phase};
use switchboard_transport::http_server::{Answering, Body, Principal, Service};

use super::counted::Counts;
use super::metrics::{self, ProcessNumber, ProcessNumbers};
use super::reload::Reloads;

/// Answers the probes.
pub(crate) struct Probes {
    kernel: Kernel,
    counts: Arc<Counts>,
    reloads: Arc<Reloads>,
    began: Instant,
}

impl Probes {
    pub(crate) fn new(kernel: Kernel, counts: Arc<Counts>, reloads: Arc<Reloads>) -> Self {
        Self { kernel, counts, reloads, began: Instant::now() }
    }

    async fn answer(&self, method: &Method, path: &str, asker: &Asker) -> Response<Body> {
        if !matches!(path, "/healthz" | "/readyz" | "/metrics") {
            return text(StatusCode::NOT_FOUND, "not found; the MCP endpoint is /mcp\n".to_owned());
        }
        if method != Method::GET && method != Method::HEAD {
            let mut response = text(StatusCode::METHOD_NOT_ALLOWED, String::new());
            response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
            return response;
        }
        match path {
            "/healthz" => text(StatusCode::OK, "ok\n".to_owned()),
            "/readyz" => self.readiness(asker).await,
            _ => match self.metrics(asker).await {
                Some(metrics) => {
                    let mut response = text(StatusCode::OK, metrics);
                    let format = HeaderValue::from_static(metrics::CONTENT_TYPE);
                    response.headers_mut().insert(CONTENT_TYPE, format);
                    response
                }
                None => text(StatusCode::SERVICE_UNAVAILABLE, "it cannot be known now what you may see\n".to_owned()),
            },
        }
    }

    /// Ready once every server has come up or failed: one that fails must not take the others out of service. Not while
    /// the store is away or full: then calls are refused. Who has a token is told which of the servers that it may use are
    /// missing; one that only sleeps is not.
    async fn readiness(&self, asker: &Asker) -> Response<Body> {
        let mut servers = self.kernel.status();
        let starting = servers.iter().any(|server| server.phase == Phase::Starting);
        let store = self.kernel.keeps_records();
        let is_ready = !starting && !self.kernel.is_draining() && store;
        let status = if is_ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
        let is_known = asker.is_known();
        if is_known && !asker.sees_everything() {
            let known = self.kernel.known_to(asker).await.unwrap_or_default();
            servers.retain(|server| known.contains_key(&server.id));
        }
        let mut body = json!({"ready": is_ready});
        if is_known {
            let ready = servers.iter().filter(|server| server.phase == Phase::Ready).count();
            body = json!({"ready": is_ready, "servers": servers.len(), "connected": ready, "store": store});
            let missing = servers.iter().filter(|server| !matches!(server.phase, Phase::Ready | Phase::Asleep));
            body["missing"] = missing.map(|server| &*server.id).collect();
        }
        let mut response = text(status, format!("{body}\n"));
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response
    }

    /// What a principal may see; `None` where that cannot be known now.
    async fn metrics(&self, asker: &Asker) -> Option<String> {
        let mut servers = self.kernel.status();
        let mut process = None;
        if asker.sees_everything() {
            process = Some(ProcessNumbers { plain: self.of_process(), events: self.kernel.event_counts() });
        } else {
            let known = self.kernel.known_to(asker).await.ok()?;
            servers.retain(|server| known.contains_key(&server.id));
            for server in &mut servers {
                // Of its tools only those that it may use are counted.
                server.counts[0] = known.get(&server.id).copied().unwrap_or_default();
            }
        }
        Some(metrics::exposition(process, servers))
    }

    fn of_process(&self) -> Vec<ProcessNumber> {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let opened = read(&self.counts.opened);
        let (streams, kept) = self.kernel.streaming();
        let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        let counter = |name, help, value| ProcessNumber { name, help, kind: MetricType::Counter, value };
        let gauge = |name, help, value| ProcessNumber { name, help, kind: MetricType::Gauge, value };
        vec![
            gauge("streams", "Calls whose results come in pieces", number(streams)),
            gauge("stream_bytes", "Bytes of pieces that are kept", number(kept)),
            gauge("waiting_calls", "Calls that wait for a person", number(self.kernel.waiting())),
            gauge("records_kept", "Whether calls can be put on record", u64::from(self.kernel.keeps_records())),
            gauge("uptime_seconds", "Seconds since the start", self.began.elapsed().as_secs()),
            counter("requests", "Requests of clients", read(&self.counts.requests)),
            counter("notifications", "Notifications of clients", read(&self.counts.notifications)),
            counter("sessions_opened", "Sessions that began", opened),
            gauge("sessions", "Sessions that are open", opened.saturating_sub(read(&self.counts.closed))),
            counter("reloads", "Configurations taken over while running", read(&self.reloads.taken)),
            counter("reloads_refused", "Configurations that were not", read(&self.reloads.refused)),
        ]
    }
}

impl Service for Probes {
    fn call(&self, request: Request<Incoming>, principal: Principal) -> Answering<'_> {
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        let asker = Asker::new(principal, request.headers().clone());
        Box::pin(async move { self.answer(&method, &path, &asker).await })
    }

    fn is_open(&self, path: &str) -> bool {
        matches!(path, "/healthz" | "/readyz")
    }

    fn has_any_host(&self, path: &str) -> bool {
        self.is_open(path)
    }
}

fn text(status: StatusCode, body: String) -> Response<Body> {
    let mut response = Response::new(Body::full(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}
