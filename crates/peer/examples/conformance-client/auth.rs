//! The scenarios `auth/*`: the same client, with [`switchboard_peer::oauth`] answering every refusal.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use switchboard_peer::BoxFuture;
use switchboard_peer::client::Authorizer;
use switchboard_peer::oauth::{
    Browser, MemoryVault, OAuth, OAuthError, OAuthGrant, OAuthOptions, RegisteredClient, Secret,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use url::Url;

use super::Outcome;

/// What gets tokens for the server at `url`, as the scenario wants it.
pub(super) fn authorizer(url: &str, scenario: &str, context: &Value) -> Outcome<Arc<dyn Authorizer>> {
    let text = |key: &str| context[key].as_str().map(str::to_owned);
    let mut options = OAuthOptions::new("switchboard-conformance-client");
    // The suite knows this address and never fetches it.
    options.client_metadata_url = Some(Url::parse("https://conformance-test.local/client-metadata.json")?);
    options.registered = text("client_id").map(|client_id| RegisteredClient {
        issuer: None,
        client_id,
        client_secret: text("client_secret").map(Secret::from),
    });
    let grant = match scenario {
        "auth/client-credentials-basic" => OAuthGrant::Machine,
        _ => OAuthGrant::Person(Arc::new(Consenting)),
    };
    Ok(Arc::new(OAuth::new(url, grant, options, Arc::new(MemoryVault::default()))?))
}

/// A person who consents to everything: the suite's authorization page answers with a redirect at once.
struct Consenting;

impl Browser for Consenting {
    fn redirect_uri(&self) -> String {
        "http://localhost:3000/callback".to_owned()
    }

    fn authorize(&self, page: Url) -> BoxFuture<'_, Result<Url, OAuthError>> {
        Box::pin(async move {
            let redirect = tokio::time::timeout(Duration::from_secs(10), redirect_of(&page)).await;
            let outcome = redirect.map_err(|_| "no answer in time".to_owned()).flatten();
            outcome
                .and_then(|address| Url::parse(&address).map_err(|error| error.to_string()))
                .map_err(OAuthError::Browser)
        })
    }
}

/// Where the page sends the person.
async fn redirect_of(page: &Url) -> Result<String, String> {
    let host = page.host_str().unwrap_or_default();
    let port = page.port_or_known_default().unwrap_or_default();
    let request = format!(
        "GET {}?{} HTTP/1.1\r\nhost: {host}:{port}\r\nconnection: close\r\n\r\n",
        page.path(),
        page.query().unwrap_or_default()
    );
    let exchange = async {
        let mut stream = tokio::net::TcpStream::connect((host, port)).await?;
        stream.write_all(request.as_bytes()).await?;
        let mut answer = String::new();
        stream.take(1 << 16).read_to_string(&mut answer).await?;
        Ok::<_, std::io::Error>(answer)
    };
    let answer = exchange.await.map_err(|error| error.to_string())?;
    let location = answer.lines().take_while(|line| !line.is_empty()).find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("location").then(|| value.trim().to_owned())
    });
    location.ok_or_else(|| "the page did not send the person back".to_owned())
}
