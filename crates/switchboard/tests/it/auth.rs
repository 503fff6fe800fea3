//! The door of a team: tokens of an identity provider, and what those are told who have none.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::SystemTime;

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use crate::serve::Served;
use crate::support::{Home, LIMIT, server};

const RESOURCE: &str = "https://switchboard.example/mcp";

struct Issuer {
    address: String,
    key: EcdsaKeyPair,
}

fn encode(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

impl Issuer {
    /// Answers every request with its metadata and its key, until the test ends.
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let key = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap();
        let point = key.public_key().as_ref();
        let (x, y) = (encode(&point[1..33]), encode(&point[33..]));
        let body = json!({
            "issuer": address,
            "jwks_uri": format!("{address}/keys"),
            "keys": [{"kty": "EC", "crv": "P-256", "kid": "k", "x": x, "y": y}],
        });
        let body = body.to_string();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut head = [0; 4096];
                let _ = stream.read(&mut head);
                let length = body.len();
                let _ = write!(
                    stream,
                    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\
                     Content-Length: {length}\r\n\r\n{body}"
                );
            }
        });
        Self { address, key }
    }

    fn token(&self, audience: &str, scope: &str) -> String {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
        let claims =
            json!({"iss": self.address, "aud": audience, "sub": "ann", "scope": scope, "iat": now, "exp": now + 300});
        let signed = format!("{}.{}", encode(r#"{"alg":"ES256","kid":"k"}"#), encode(claims.to_string()));
        let signature = self.key.sign(&SystemRandom::new(), signed.as_bytes()).unwrap();
        format!("{signed}.{}", encode(signature))
    }
}

/// The head and the body of the answer to a GET.
fn get(served: &Served, path: &str, token: Option<&str>) -> (String, String) {
    let mut stream = TcpStream::connect(&served.address).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    let token = token.map_or_else(String::new, |token| format!("Authorization: Bearer {token}\r\n"));
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{token}\r\n", served.address).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    (head.to_ascii_lowercase(), body.to_owned())
}

#[test]
fn a_team_comes_with_tokens_of_its_identity_provider() {
    let issuer = Issuer::start();
    let home = Home::new();
    let auth = format!("[auth]\nissuer = '{}'\nresource = '{RESOURCE}'\nrequired_scopes = ['tools']\n", issuer.address);
    // Who may do what is not the question here.
    home.configure(&format!("default_policy = 'opt-out'\n{}{auth}", server("one", &[])));
    let served = Served::start(&home, &[]);
    assert_eq!(served.token, None, "nobody needs a first token");

    let good = issuer.token(RESOURCE, "tools");
    assert!(served.tools(Some(&good)).unwrap().contains(&"echo".to_owned()));
    assert_eq!(served.tools(Some(&issuer.token("https://other.example/mcp", "tools"))).unwrap_err().0, 401);
    assert_eq!(served.tools(None).unwrap_err().0, 401);
    // A token in an address ends in logs; it is not looked for there.
    assert!(get(&served, &format!("/mcp?access_token={good}"), None).0.starts_with("http/1.1 401"));
    // Tokens of ours are good beside it.
    let own: Value = home.run(&["token", "create", "ci", "--json"]).json();
    crate::support::until(|| served.tools(own["token"].as_str()).ok()).expect("a token of ours");

    let place = "https://switchboard.example/.well-known/oauth-protected-resource/mcp";
    let (head, _) = get(&served, "/mcp", None);
    assert!(
        head.contains(&format!("www-authenticate: bearer scope=\"tools\", resource_metadata=\"{place}\"")),
        "{head}"
    );
    let (head, _) = get(&served, "/mcp", Some("wrong"));
    assert!(head.contains("error=\"invalid_token\""), "{head}");
    let (head, _) = get(&served, "/mcp", Some(&issuer.token(RESOURCE, "openid")));
    assert!(head.starts_with("http/1.1 403"), "{head}");
    assert!(head.contains("error=\"insufficient_scope\", scope=\"tools\", resource_metadata="), "{head}");
    for path in ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"] {
        let (head, body) = get(&served, path, None);
        assert!(head.starts_with("http/1.1 200"), "{head}");
        let document: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(document["resource"], RESOURCE);
        assert_eq!(document["authorization_servers"], json!([issuer.address]));
        assert_eq!(document["scopes_supported"], json!(["tools"]));
    }
    served.end();
}

#[test]
fn without_an_identity_provider_nobody_is_sent_to_one() {
    let home = Home::new();
    let served = Served::start(&home, &[]);
    let (head, _) = get(&served, "/mcp", None);
    assert!(head.contains("www-authenticate: bearer\r\n"), "{head}");
    let (head, _) = get(&served, "/.well-known/oauth-protected-resource", None);
    assert!(head.starts_with("http/1.1 401"), "{head}");
    served.end();
}
