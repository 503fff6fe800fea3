//! The accept loop of the two bench servers. They end with their listener, or when the process that started them is
//! gone: its end closes their stdin, so that no run leaves a server behind, even one that was killed.

use std::convert::Infallible;
use std::io::Read;
use std::net::SocketAddr;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::error::{Error, Result};

/// The largest request or answer body either server takes.
pub const LARGEST_BODY: usize = 64 << 20;

/// A bound listener and its address (a port 0 is resolved).
#[derive(Debug)]
pub struct Listening {
    /// Where it listens.
    pub address: SocketAddr,
    listener: TcpListener,
}

impl Listening {
    /// Binds the address.
    pub async fn bind(address: &str) -> Result<Self> {
        let doing = || format!("listening on {address}");
        let listener = TcpListener::bind(address).await.map_err(Error::io(doing()))?;
        Ok(Self { address: listener.local_addr().map_err(Error::io(doing()))?, listener })
    }

    /// Answers every request with `handle` until stdin closes (with `until_stdin_closes`) or the process is ended.
    pub async fn serve<H, F>(self, until_stdin_closes: bool, handle: H)
    where
        H: Fn(Request<Incoming>) -> F + Clone + Send + 'static,
        F: Future<Output = Response<Full<Bytes>>> + Send + 'static,
    {
        let accept = async {
            loop {
                let Ok((stream, _)) = self.listener.accept().await else { continue };
                // Without it a small answer may wait for a delayed acknowledgement; nothing else depends on it.
                let _ = stream.set_nodelay(true);
                let handle = handle.clone();
                tokio::spawn(http1::Builder::new().serve_connection(
                    TokioIo::new(stream),
                    service_fn(move |request| {
                        let answer = handle(request);
                        async move { Ok::<_, Infallible>(answer.await) }
                    }),
                ));
            }
        };
        if until_stdin_closes {
            tokio::select! { () = accept => {}, () = stdin_closed() => {} }
        } else {
            accept.await;
        }
    }
}

/// Waits for the end of stdin on a thread of its own; that read cannot be cancelled, and a runtime would wait for it.
async fn stdin_closed() {
    let (sender, receiver) = oneshot::channel();
    std::thread::spawn(move || {
        let mut stdin = std::io::stdin().lock();
        let mut ignored = [0; 64];
        while matches!(stdin.read(&mut ignored), Ok(read) if read > 0) {}
        let _ = sender.send(());
    });
    let _ = receiver.await;
}
