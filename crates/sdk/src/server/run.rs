//! Running a server on a transport.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use switchboard_peer::duplex;
use switchboard_peer::server::http::{HttpEndpoint, HttpOptions};
use switchboard_transport::http_server::{AccessRules, Listener};

use super::Server;

impl Server {
    /// Serves one client on standard input and output, until it closes its end or [`Server::shutdown`] is called.
    /// Nothing else may write to standard output: log to standard error.
    ///
    /// # Errors
    /// None so far: a client that goes away is the usual end.
    pub async fn run_stdio(self) -> io::Result<()> {
        let started = duplex::start(
            tokio::io::stdin(),
            tokio::io::stdout(),
            duplex::DuplexOptions::new(duplex::Role::Server),
            self.clone().into_handler(),
        );
        tokio::select! {
            () = started.finished.cancelled() => {}
            () = self.0.closing.cancelled() => started.connection.close(),
        }
        self.shutdown();
        Ok(())
    }

    /// Serves clients over HTTP, in all the server's eras at one address, until [`Server::shutdown`] is called.
    /// Anyone who can reach a loopback address is let in, with its names only: see [`Bound::with_access`].
    ///
    /// # Errors
    /// The address cannot be bound.
    pub async fn run_http(self, address: SocketAddr, options: HttpOptions) -> io::Result<()> {
        self.bind_http(address, options).await?.run().await;
        Ok(())
    }

    /// Binds an address for [`Server::run_http`], to learn the port before serving.
    ///
    /// # Errors
    /// The address cannot be bound.
    pub async fn bind_http(self, address: SocketAddr, options: HttpOptions) -> io::Result<Bound> {
        let listener = Listener::bind(address).await?;
        Ok(Bound { server: self, listener, options })
    }
}

/// A server with an address, about to serve.
#[derive(Debug)]
pub struct Bound {
    server: Server,
    listener: Listener,
    options: HttpOptions,
}

impl Bound {
    /// Where it listens. A port 0 is resolved.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// Where clients find it.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}{}", self.address(), self.options.path)
    }

    /// Who is let in: names of the host, origins, tokens.
    #[must_use]
    pub fn with_access(mut self, access: AccessRules) -> Self {
        self.listener = self.listener.with_access(access);
        self
    }

    /// Serves until [`Server::shutdown`] is called.
    pub async fn run(self) {
        let shutdown = self.options.shutdown.clone();
        let face = Arc::new(HttpEndpoint::new(self.options, self.server.clone().into_handler()));
        let mut serving = std::pin::pin!(face.serve(self.listener));
        tokio::select! {
            () = &mut serving => return,
            () = self.server.0.closing.cancelled() => shutdown.cancel(),
        }
        serving.await;
    }
}
