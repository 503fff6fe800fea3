//! A way to the server that can lose the answer to a commit.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};

use super::server::{self, Server};

const SOCKET: &str = ".s.PGSQL.5432";

pub(crate) struct Proxy {
    directory: tempfile::TempDir,
    armed: Arc<AtomicBool>,
    lost: Arc<AtomicBool>,
    accepting: tokio::task::JoinHandle<()>,
}

impl Proxy {
    pub(crate) fn start(server: &Server) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(directory.path().join(SOCKET)).unwrap();
        let (armed, lost) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let target = server.place().join(SOCKET);
        let flags = (armed.clone(), lost.clone());
        let accepting = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(carry(client, target.clone(), flags.0.clone(), flags.1.clone()));
            }
        });
        Self { directory, armed, lost, accepting }
    }

    pub(crate) fn url(&self, database: &str) -> String {
        server::url(self.directory.path(), database)
    }

    pub(crate) fn lose_next_commit(&self) {
        self.armed.store(true, Ordering::SeqCst);
    }

    pub(crate) fn has_lost(&self) -> bool {
        self.lost.load(Ordering::SeqCst)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn carry(mut client: UnixStream, target: PathBuf, armed: Arc<AtomicBool>, lost: Arc<AtomicBool>) {
    let mut server = UnixStream::connect(target).await.unwrap();
    let (mut up, mut down) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    loop {
        tokio::select! {
            read = client.read(&mut up) => match read {
                Ok(count) if count > 0 => {
                    let message = &up[..count];
                    let commit = message.windows(7).any(|window| window == b"COMMIT\0");
                    server.write_all(message).await.unwrap();
                    if commit && armed.swap(false, Ordering::SeqCst) {
                        // The server has answered, so it has committed; the client will never know.
                        assert!(server.read(&mut down).await.unwrap() > 0);
                        lost.store(true, Ordering::SeqCst);
                        return;
                    }
                }
                _ => return,
            },
            read = server.read(&mut down) => match read {
                Ok(count) if count > 0 => {
                    if client.write_all(&down[..count]).await.is_err() {
                        return;
                    }
                }
                _ => return,
            },
        }
    }
}
