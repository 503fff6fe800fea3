//! The way out for servers that were granted hosts: a small HTTP proxy that connects to nobody else.
//!
//! It listens inside the server's own network, where nothing else is, and connects from ours. A name is resolved once,
//! each address is judged, and the connection goes to an address that was judged. `CONNECT` is a tunnel to a granted
//! host; requests with a full URL are passed on over a connection of their own. What is said inside is not read.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::host::HostRule;

/// Connections at a time, through one proxy.
const CONNECTIONS: usize = 128;
/// The head of a request.
const HEAD: usize = 16 << 10;
/// For the head, for resolving, and for connecting.
const PROXY_TIMEOUT: Duration = Duration::from_secs(15);
/// A tunnel without a word from either side.
const SILENCE: Duration = Duration::from_secs(600);

/// A running proxy. Dropping it ends it and all of its connections.
#[derive(Debug)]
pub(crate) struct Proxy(tokio::task::JoinHandle<()>);

impl Drop for Proxy {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Proxy {
    pub(crate) fn start(
        listener: std::net::TcpListener,
        rules: Vec<HostRule>,
        may_reach: fn(IpAddr) -> bool,
    ) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let listener = TcpListener::from_std(listener)?;
        let gate = Arc::new(Gate { rules, may_reach });
        Ok(Self(tokio::spawn(accept(listener, gate))))
    }
}

async fn accept(listener: TcpListener, gate: Arc<Gate>) {
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    let mut connections = JoinSet::new();
    while let Ok(permit) = Arc::clone(&room).acquire_owned().await {
        while connections.try_join_next().is_some() {}
        let Ok((stream, _)) = listener.accept().await else {
            // Out of descriptors, most likely: those that are open have to end first.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let gate = Arc::clone(&gate);
        connections.spawn(async move {
            if let Err(error) = gate.serve(stream).await {
                tracing::debug!(%error, "a connection through the proxy ended");
            }
            drop(permit);
        });
    }
}

struct Gate {
    rules: Vec<HostRule>,
    may_reach: fn(IpAddr) -> bool,
}

/// Why a connection is not made, as the client is told.
#[derive(Debug, PartialEq, Eq)]
enum No {
    Malformed,
    NotGranted,
    Unreachable,
}

impl No {
    fn answer(&self) -> &'static [u8] {
        match self {
            Self::Malformed => b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            Self::NotGranted => {
                b"HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nContent-Length: 42\r\nConnection: close\r\n\r\n\
                  network.outbound is not granted for this.\n"
            }
            Self::Unreachable => b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        }
    }
}

impl Gate {
    async fn serve(&self, mut client: TcpStream) -> io::Result<()> {
        let head = tokio::time::timeout(PROXY_TIMEOUT, head(&mut client));
        let Ok(Ok(Some((head, rest)))) = head.await else { return client.write_all(No::Malformed.answer()).await };
        let Some(wish) = ProxyRequest::read(&head) else { return client.write_all(No::Malformed.answer()).await };
        let mut server = match self.connect(&wish.host, wish.port).await {
            Ok(server) => server,
            Err(no) => {
                if no == No::NotGranted {
                    tracing::info!(host = wish.host, port = wish.port, "a host that was not granted was asked for");
                }
                return client.write_all(no.answer()).await;
            }
        };
        match wish.head {
            None => client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await?,
            Some(head) => server.write_all(head.as_bytes()).await?,
        }
        server.write_all(&rest).await?;
        tunnel(client, server).await
    }

    async fn connect(&self, host: &str, port: u16) -> Result<TcpStream, No> {
        let covering: Vec<&HostRule> = self.rules.iter().filter(|rule| rule.covers(host, port)).collect();
        if covering.is_empty() {
            return Err(No::NotGranted);
        }
        let named = covering.iter().any(|rule| rule.names_address());
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let found = tokio::time::timeout(PROXY_TIMEOUT, tokio::net::lookup_host((bare, port))).await;
        let Ok(Ok(found)) = found else { return Err(No::Unreachable) };
        let found: Vec<SocketAddr> = found.collect();
        // One bad address among good ones is how a rebinding looks: then none of them is used.
        if !named && !found.iter().all(|address| (self.may_reach)(address.ip())) {
            return Err(No::NotGranted);
        }
        for address in found {
            if let Ok(Ok(stream)) = tokio::time::timeout(PROXY_TIMEOUT, TcpStream::connect(address)).await {
                return Ok(stream);
            }
        }
        Err(No::Unreachable)
    }
}

/// Reads up to the empty line. What came after it is part of what follows.
async fn head(client: &mut TcpStream) -> io::Result<Option<(String, Vec<u8>)>> {
    let mut bytes = Vec::with_capacity(1 << 10);
    loop {
        if client.read_buf(&mut bytes).await? == 0 || bytes.len() > HEAD {
            return Ok(None);
        }
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let rest = bytes.split_off(end + 4);
            return Ok(String::from_utf8(bytes).ok().map(|head| (head, rest)));
        }
    }
}

/// What a client asks for.
#[derive(Debug, PartialEq, Eq)]
struct ProxyRequest {
    host: String,
    port: u16,
    /// The head to send on, where it is not a tunnel.
    head: Option<String>,
}

impl ProxyRequest {
    fn read(head: &str) -> Option<Self> {
        let (line, fields) = head.split_once("\r\n")?;
        let mut words = line.split(' ');
        let (method, target, version) = (words.next()?, words.next()?, words.next()?);
        if words.next().is_some() || !version.starts_with("HTTP/1.") {
            return None;
        }
        if method.eq_ignore_ascii_case("CONNECT") {
            let (host, port) = target.rsplit_once(':')?;
            return Some(Self { host: host.to_owned(), port: port.parse().ok()?, head: None });
        }
        let url = url::Url::parse(target).ok().filter(|url| url.scheme() == "http" && url.username().is_empty())?;
        let host = url.host_str()?.to_owned();
        let port = url.port_or_known_default()?;
        let path = &url[url::Position::BeforePath..url::Position::AfterQuery];
        // One request for each connection, so that the next one is asked about again, and for the host of the URL:
        // behind one address there may be many.
        let dropped = ["connection:", "proxy-connection:", "proxy-authorization:", "keep-alive:", "host:"];
        let kept = fields.split("\r\n").filter(|field| {
            let field = field.to_ascii_lowercase();
            !field.is_empty() && !dropped.iter().any(|name| field.starts_with(name))
        });
        let authority = &url[url::Position::BeforeHost..url::Position::AfterPort];
        let mut head = format!("{method} {path} {version}\r\nHost: {authority}\r\n");
        for field in kept {
            head.push_str(field);
            head.push_str("\r\n");
        }
        head.push_str("Connection: close\r\n\r\n");
        Some(Self { host, port, head: Some(head) })
    }
}

/// Copies both ways until both are done, or nothing is said for long.
async fn tunnel(client: TcpStream, server: TcpStream) -> io::Result<()> {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let up = pump(&mut from_client, &mut to_server);
    let down = pump(&mut from_server, &mut to_client);
    let (up, down) = tokio::join!(up, down);
    up.and(down)
}

async fn pump(from: &mut tokio::net::tcp::OwnedReadHalf, to: &mut tokio::net::tcp::OwnedWriteHalf) -> io::Result<()> {
    let mut buffer = vec![0; 16 << 10];
    loop {
        let read =
            tokio::time::timeout(SILENCE, from.read(&mut buffer)).await.map_err(|_| io::ErrorKind::TimedOut)??;
        if read == 0 {
            return to.shutdown().await;
        }
        let part = buffer.get(..read).unwrap_or_default();
        tokio::time::timeout(SILENCE, to.write_all(part)).await.map_err(|_| io::ErrorKind::TimedOut)??;
    }
}

#[cfg(test)]
#[path = "proxy/tests.rs"]
mod tests;
