//! A browser on the same machine, which brings its answer to a port of ours (RFC 8252, section 7.3).

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use url::Url;

use super::Browser;
use crate::BoxFuture;
use crate::oauth::OAuthError;

/// How long a person may take.
const LOGIN_TIMEOUT: Duration = Duration::from_secs(5 * 60);
/// How long one connection may take to say what it wants. Browsers open some that they never use.
const REQUEST: Duration = Duration::from_secs(30);
/// How long a request for a page of ours may be.
const MAX_REQUEST_BYTES: usize = 16 << 10;
/// How many connections are listened to at once.
const MOST_CONNECTIONS: usize = 16;
const PATH: &str = "/callback";

/// Shows the authorization page somehow, and waits for the answer on a port of this machine.
pub struct Loopback {
    listener: tokio::sync::Mutex<TcpListener>,
    address: SocketAddr,
    patience: Duration,
    show: Show,
}

type Show = Arc<dyn Fn(&Url) -> Result<(), String> + Send + Sync>;

impl Loopback {
    /// Listens on a free port. `show` gets the address of the page, to open or to print it.
    ///
    /// # Errors
    /// No port can be had.
    pub async fn new(show: impl Fn(&Url) -> Result<(), String> + Send + Sync + 'static) -> std::io::Result<Self> {
        Self::on_port(0, show).await
    }

    /// As [`Loopback::new`], on a port that an authorization server already knows.
    ///
    /// # Errors
    /// The port is taken.
    pub async fn on_port(
        port: u16,
        show: impl Fn(&Url) -> Result<(), String> + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let address = listener.local_addr()?;
        Ok(Self { listener: tokio::sync::Mutex::new(listener), address, patience: LOGIN_TIMEOUT, show: Arc::new(show) })
    }

    /// Gives the person this long to answer, in place of five minutes.
    #[must_use]
    pub const fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    async fn answer(&self, page: &Url) -> Result<Url, OAuthError> {
        // Held to the end: one page at a time.
        let listener = self.listener.lock().await;
        (self.show)(page).map_err(OAuthError::Browser)?;
        let expected: Arc<str> = state(page).unwrap_or_default().into();
        let base: Arc<str> = format!("http://{}", self.address).into();
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                accepted = listener.accept(), if connections.len() < MOST_CONNECTIONS => match accepted {
                    Ok((stream, _)) => {
                        connections.spawn(tokio::time::timeout(REQUEST, serve(stream, base.clone(), expected.clone())));
                    }
                    Err(error) => return Err(OAuthError::Browser(error.to_string())),
                },
                Some(served) = connections.join_next() => {
                    if let Ok(Ok(Some(answer))) = served {
                        return Ok(answer);
                    }
                }
            }
        }
    }
}

impl Browser for Loopback {
    fn redirect_uri(&self) -> String {
        format!("http://{}{PATH}", self.address)
    }

    fn authorize(&self, page: Url) -> BoxFuture<'_, Result<Url, OAuthError>> {
        Box::pin(async move {
            let waited = tokio::time::timeout(self.patience, self.answer(&page)).await;
            waited.unwrap_or(Err(OAuthError::Timeout { step: "waiting for the person", after: self.patience }))
        })
    }
}

impl std::fmt::Debug for Loopback {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Loopback").field("address", &self.address).finish_non_exhaustive()
    }
}

fn state(url: &Url) -> Option<String> {
    url.query_pairs().find(|(name, _)| name == "state").map(|(_, value)| value.into_owned())
}

/// Reads one request and answers it; the address where it is the one that was waited for. Other pages of the browser
/// can reach this port too, so an answer without the right state changes nothing.
async fn serve(mut stream: TcpStream, base: Arc<str>, expected: Arc<str>) -> Option<Url> {
    let asked = request_path(&mut stream).await.and_then(|path| Url::parse(&format!("{base}{path}")).ok());
    let answer = asked.filter(|url| url.path() == PATH && state(url).as_deref() == Some(&*expected));
    let (status, text) = match &answer {
        Some(url) if url.query_pairs().any(|(name, _)| name == "error") => ("200 OK", "Authorization was not given."),
        Some(_) => ("200 OK", "Authorization is complete. You can close this page."),
        None => ("404 Not Found", "There is nothing here."),
    };
    let page = format!("<!doctype html><meta charset=utf-8><title>Switchboard</title><p>{text}</p>");
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {}\r\n\
         cache-control: no-store\r\nreferrer-policy: no-referrer\r\nconnection: close\r\n\r\n",
        page.len()
    );
    // The answer counts even if the browser does not wait for its page.
    let _ = stream.write_all(format!("{head}{page}").as_bytes()).await;
    let _ = stream.shutdown().await;
    answer
}

/// The path and query of a GET request.
async fn request_path(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    let mut chunk = [0; 2048];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let read = stream.read(&mut chunk).await.ok().filter(|read| *read > 0)?;
        head.extend_from_slice(chunk.get(..read)?);
        if head.len() > MAX_REQUEST_BYTES {
            return None;
        }
    }
    let line = head.split(|byte| *byte == b'\r').next()?;
    let mut words = std::str::from_utf8(line).ok()?.split(' ');
    let (method, path) = (words.next()?, words.next()?);
    (method == "GET" && path.starts_with('/')).then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A browser that asks for these paths one after the other and tells what it was answered.
    fn visits(
        paths: Vec<String>,
    ) -> (impl Fn(&Url) -> Result<(), String> + Send + Sync, tokio::sync::mpsc::Receiver<String>) {
        let (sender, receiver) = tokio::sync::mpsc::channel(16);
        let show = move |page: &Url| {
            let redirect = page.query_pairs().find(|(name, _)| name == "redirect_uri").unwrap().1.into_owned();
            let address = redirect.strip_prefix("http://").unwrap().split('/').next().unwrap().to_owned();
            let (paths, sender) = (paths.clone(), sender.clone());
            tokio::spawn(async move {
                // One that is opened and says nothing must not be in the way.
                let _idle = TcpStream::connect(&address).await.unwrap();
                for path in paths {
                    let mut stream = TcpStream::connect(&address).await.unwrap();
                    stream.write_all(format!("{path}\r\nhost: x\r\n\r\n").as_bytes()).await.unwrap();
                    let mut answer = String::new();
                    stream.read_to_string(&mut answer).await.unwrap();
                    let _ = sender.send(answer.lines().next().unwrap_or_default().to_owned()).await;
                }
            });
            Ok(())
        };
        (show, receiver)
    }

    fn page(browser: &Loopback) -> Url {
        let mut page = Url::parse("https://auth.example/authorize?state=right").unwrap();
        page.query_pairs_mut().append_pair("redirect_uri", &browser.redirect_uri());
        page
    }

    #[tokio::test]
    async fn only_the_answer_with_the_right_state_counts() {
        let paths = [
            "GET /favicon.ico HTTP/1.1",
            "GET /callback?code=evil&state=wrong HTTP/1.1",
            "GET /callback?code=evil HTTP/1.1",
            "POST /callback?code=evil&state=right HTTP/1.1",
            "nonsense",
            "GET /callback?code=good&state=right HTTP/1.1",
        ];
        let (show, mut answers) = visits(paths.map(str::to_owned).to_vec());
        let browser = Loopback::new(show).await.unwrap();
        let answer = browser.authorize(page(&browser)).await.unwrap();
        assert_eq!(answer.as_str(), format!("{}?code=good&state=right", browser.redirect_uri()));
        let mut seen = Vec::new();
        while seen.len() < paths.len() {
            seen.push(answers.recv().await.unwrap());
        }
        assert_eq!(seen.iter().filter(|line| line.contains("404")).count(), 5, "{seen:?}");
        assert_eq!(seen.last().unwrap(), "HTTP/1.1 200 OK");
    }

    #[tokio::test(start_paused = true)]
    async fn a_person_who_does_not_come_back_is_not_waited_for_for_ever() {
        let browser = Loopback::new(|_| Ok(())).await.unwrap();
        let outcome = browser.authorize(page(&browser)).await;
        assert!(matches!(outcome, Err(OAuthError::Timeout { after: LOGIN_TIMEOUT, .. })), "{outcome:?}");
    }

    #[tokio::test]
    async fn a_page_that_cannot_be_shown_is_an_error_at_once() {
        let browser = Loopback::new(|_| Err("no display".to_owned())).await.unwrap();
        let error = browser.authorize(page(&browser)).await.unwrap_err();
        assert!(error.to_string().contains("no display"), "{error}");
    }
}
