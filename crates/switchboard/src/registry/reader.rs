//! Reads a registry over HTTP, or one `server.json` from a file: within a time, a size and a number of pages.
//!
//! The address is the operator's. What is found behind it is not trusted: redirects are not followed, and a list that
//! does not end is cut, which is said.

use std::path::Path;
use std::time::Duration;

use http::header::{ACCEPT, HeaderValue};
use serde_json::Value;
use switchboard_config::{RegistrySettings, Secret};
use switchboard_transport::http_client::{Body, HttpClientOptions, Target};
use url::Url;

use super::document::{Document, Page};
use crate::failure::chain;

/// How long one page may take, and all of them.
const PAGE_TIME: Duration = Duration::from_secs(15);
const WHOLE_TIME: Duration = Duration::from_secs(90);
/// Bytes of one page or document.
const MAX_PAGE_BYTES: usize = 8 << 20;
/// Servers of one page, and pages.
const PAGE: usize = 100;
const MOST_PAGES: usize = 100;
/// The forms of the interface, the newest first.
const VERSIONS: [&str; 2] = ["v0.1", "v0"];

/// A registry.
#[derive(Clone)]
pub(crate) struct Reader {
    /// Where its interface may be, the likeliest first.
    places: Vec<Url>,
    address: String,
    headers: Vec<(String, String)>,
}

/// What was read of a registry.
#[derive(Debug, Default)]
pub(crate) struct Listed {
    pub(crate) servers: Vec<Document>,
    /// Whether there are more than were read.
    pub(crate) cut: bool,
}

/// Why nothing was read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    #[error("{0:?} is no address of a registry: {1}")]
    Address(String, String),
    #[error("{address} did not answer within {} s", .wait.as_secs())]
    Slow { address: String, wait: Duration },
    #[error("{0} cannot be read: {1}")]
    Unreadable(String, String),
    #[error("{0} has no server of that name")]
    Unknown(String),
}

impl Reader {
    /// A registry at an address, with or without the version of its interface.
    pub(crate) fn new(address: &str) -> Result<Self, ReadError> {
        let bad = |why: &str| ReadError::Address(address.to_owned(), why.to_owned());
        let mut url = Url::parse(address).map_err(|error| bad(&error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return Err(bad("write https://HOST"));
        }
        url.set_query(None);
        url.set_fragment(None);
        let path = url.path().trim_end_matches('/').to_owned();
        let path = path.strip_suffix("/servers").unwrap_or(&path).to_owned();
        let at = |path: &str| {
            let mut url = url.clone();
            url.set_path(path);
            url
        };
        let named = VERSIONS.iter().any(|version| path.ends_with(&format!("/{version}")));
        let places = if named {
            vec![at(&path)]
        } else {
            VERSIONS.iter().map(|version| at(&format!("{path}/{version}"))).collect()
        };
        Ok(Self { places, address: address.trim_end_matches('/').to_owned(), headers: Vec::new() })
    }

    /// A registry of the configuration.
    pub(crate) fn of(settings: &RegistrySettings) -> Result<Self, ReadError> {
        Ok(Self::new(&settings.url)?.with_token(settings.token.as_ref().map(Secret::reveal)))
    }

    /// The same with a token, for a registry that wants one.
    pub(crate) fn with_token(self, token: Option<&str>) -> Self {
        let header = |token: &str| ("Authorization".to_owned(), format!("Bearer {token}"));
        Self { headers: token.map(header).into_iter().collect(), ..self }
    }

    /// Its address, for people.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Where it tells of a server.
    pub(crate) fn page_of(&self, name: &str) -> String {
        self.places.first().map_or_else(String::new, |place| server_url(place, name, "latest").into())
    }

    /// All its servers, in their latest versions.
    pub(crate) async fn list(&self) -> Result<Listed, ReadError> {
        let reading = async {
            let mut last = None;
            for place in &self.places {
                match self.pages(place).await {
                    Ok(listed) => return Ok(listed),
                    Err(error) => last = Some(error),
                }
            }
            Err(last.unwrap_or_else(|| ReadError::Unreadable(self.address.clone(), "no address".to_owned())))
        };
        let slow = || ReadError::Slow { address: self.address.clone(), wait: WHOLE_TIME };
        tokio::time::timeout(WHOLE_TIME, reading).await.map_err(|_| slow())?
    }

    async fn pages(&self, place: &Url) -> Result<Listed, ReadError> {
        let mut listed = Listed::default();
        let mut cursor: Option<String> = None;
        for _ in 0..MOST_PAGES {
            let mut url = place.clone();
            url.set_path(&format!("{}/servers", place.path()));
            {
                let mut query = url.query_pairs_mut();
                query.append_pair("limit", &PAGE.to_string()).append_pair("version", "latest");
                if let Some(cursor) = &cursor {
                    query.append_pair("cursor", cursor);
                }
            }
            let value = self.get(&url).await?.ok_or_else(|| self.unreadable("there is no list"))?;
            let page = Page::read(&value).map_err(|why| self.unreadable(&why))?;
            for server in page.servers {
                // Registries that do not know `version` list every version, one after the other.
                match listed.servers.iter_mut().rev().take(PAGE).find(|known| known.name == server.name) {
                    Some(known) => *known = server,
                    None => listed.servers.push(server),
                }
            }
            if page.next.is_none() || page.next == cursor {
                return Ok(listed);
            }
            cursor = page.next;
        }
        listed.cut = true;
        Ok(listed)
    }

    /// One server.
    pub(crate) async fn server(&self, name: &str, version: Option<&str>) -> Result<Document, ReadError> {
        let mut last = None;
        for place in &self.places {
            match self.get(&server_url(place, name, version.unwrap_or("latest"))).await {
                Ok(Some(value)) => return Document::read(&value).map_err(|why| self.unreadable(&why)),
                Ok(None) => {}
                Err(error) => last = Some(error),
            }
        }
        // One that has a list and nothing else.
        match (last, version) {
            (Some(error), _) => Err(error),
            (None, Some(_)) => Err(ReadError::Unknown(self.address.clone())),
            (None, None) => {
                let found = self.list().await?.servers.into_iter().find(|server| server.name == name);
                found.ok_or_else(|| ReadError::Unknown(self.address.clone()))
            }
        }
    }

    /// A document; `None` where there is none.
    async fn get(&self, url: &Url) -> Result<Option<Value>, ReadError> {
        let failed = |why: String| self.unreadable(&why);
        let options = HttpClientOptions { body_limit: MAX_PAGE_BYTES, ..HttpClientOptions::default() };
        let target = Target::new(url.as_str(), &self.headers, options).map_err(|error| failed(chain(&error)))?;
        let mut headers = target.headers().clone();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        let slow = || ReadError::Slow { address: self.address.clone(), wait: PAGE_TIME };
        let answer = tokio::time::timeout(PAGE_TIME, target.get(headers)).await.map_err(|_| slow())?;
        let answer = answer.map_err(|error| failed(chain(&error)))?;
        if answer.status == http::StatusCode::NOT_FOUND {
            return Ok(None);
        }
        if !answer.status.is_success() {
            return Err(failed(format!("it answers {}", answer.status)));
        }
        let Body::Whole(body) = answer.body else { return Err(failed("it answers with a stream".to_owned())) };
        serde_json::from_slice(&body).map(Some).map_err(|error| failed(format!("its answer is no JSON: {error}")))
    }

    fn unreadable(&self, why: &str) -> ReadError {
        ReadError::Unreadable(self.address.clone(), why.to_owned())
    }
}

fn server_url(place: &Url, name: &str, version: &str) -> Url {
    let mut url = place.clone();
    if let Ok(mut path) = url.path_segments_mut() {
        path.extend(["servers", name, "versions", version]);
    }
    url
}

/// One `server.json` of this machine.
pub(crate) fn read_file(path: &Path) -> Result<Document, ReadError> {
    let unreadable = |why: String| ReadError::Unreadable(path.display().to_string(), why);
    let length = std::fs::metadata(path).map_err(|error| unreadable(error.to_string()))?.len();
    if length > MAX_PAGE_BYTES as u64 {
        return Err(unreadable(format!("it is larger than {MAX_PAGE_BYTES} bytes")));
    }
    let text = std::fs::read_to_string(path).map_err(|error| unreadable(error.to_string()))?;
    let value: Value = serde_json::from_str(&text).map_err(|error| unreadable(format!("it is no JSON: {error}")))?;
    Document::read(&value).map_err(unreadable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        for (address, first) in [
            ("https://r.example", "https://r.example/v0.1"),
            ("https://r.example/", "https://r.example/v0.1"),
            ("https://r.example/v0", "https://r.example/v0"),
            ("https://r.example/v0/servers", "https://r.example/v0"),
            ("https://r.example/team/", "https://r.example/team/v0.1"),
        ] {
            assert_eq!(Reader::new(address).unwrap().places[0].as_str(), first, "{address}");
        }
        for address in ["r.example", "file:///x", "", "ftp://r.example"] {
            assert!(Reader::new(address).is_err(), "{address}");
        }
        let reader = Reader::new("https://r.example").unwrap();
        assert_eq!(reader.page_of("com.example/a"), "https://r.example/v0.1/servers/com.example%2Fa/versions/latest");
    }
}
