//! A page on the loopback interface for the fetch server, so that no test needs the network.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};

/// Words on the page that the harness looks for.
pub(super) const WORDS: &str = "a page served by the harness";

/// The running page; its thread ends with the process.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) url: String,
}

impl Page {
    pub(super) fn serve() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").context("binding the page's port")?;
        let url = format!("http://{}/page", listener.local_addr()?);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // One client that breaks off must not take the page from the others.
                let _ = answer(stream);
            }
        });
        Ok(Self { url })
    }
}

fn answer(stream: TcpStream) -> Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    while reader.read_line(&mut line)? > 0 && line != "\r\n" {
        line.clear();
    }
    let body = format!("<html><head><title>page</title></head><body><main><p>{WORDS}</p></main></body></html>");
    let head =
        format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close", body.len());
    write!(reader.into_inner(), "{head}\r\n\r\n{body}")?;
    Ok(())
}
