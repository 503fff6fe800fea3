//! Against a real issuer on this machine: its metadata, its keys, and tokens that it and others signed.

use std::sync::atomic::{AtomicUsize, Ordering};

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{KeyPair as RsaKeyPair, KeySize};
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256,
};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{Request, Response};
use hyper::body::Incoming;
use parking_lot::Mutex;
use serde_json::json;
use switchboard_transport::http_server::{Answering, Body, Listener, Service};
use tokio_util::sync::CancellationToken;

use super::*;

const RESOURCE: &str = "http://127.0.0.1:7420/mcp";

/// A provider with keys of three kinds.
struct Issuer {
    address: String,
    rsa: RsaKeyPair,
    p256: EcdsaKeyPair,
    ed25519: Ed25519KeyPair,
    published: Arc<Published>,
    _ends: tokio_util::sync::DropGuard,
}

#[derive(Default)]
struct Published {
    issuer: Mutex<String>,
    keys: Mutex<Vec<Value>>,
    fetches: AtomicUsize,
}

impl Service for Published {
    fn call(&self, request: Request<Incoming>, _: Principal) -> Answering<'_> {
        let issuer = self.issuer.lock().clone();
        let text = match request.uri().path() {
            "/.well-known/openid-configuration" => {
                json!({"issuer": issuer, "jwks_uri": format!("{issuer}/keys")}).to_string()
            }
            "/keys" => {
                self.fetches.fetch_add(1, Ordering::Relaxed);
                json!({"keys": *self.keys.lock()}).to_string()
            }
            _ => {
                let mut response = Response::new(Body::empty());
                *response.status_mut() = http::StatusCode::NOT_FOUND;
                return Box::pin(std::future::ready(response));
            }
        };
        let mut response = Response::new(Body::full(text));
        let json = http::HeaderValue::from_static("application/json");
        response.headers_mut().insert(http::header::CONTENT_TYPE, json);
        Box::pin(std::future::ready(response))
    }
}

fn encode(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The number in the DER of a public key of 2048 bits: two heads and a zero stand before it.
fn modulus(key: &RsaKeyPair) -> Vec<u8> {
    key.public_key().as_ref()[9..265].to_vec()
}

fn ec_key(key: &EcdsaKeyPair, id: &str) -> Value {
    let point = key.public_key().as_ref();
    json!({"kty": "EC", "crv": "P-256", "kid": id, "use": "sig", "x": encode(&point[1..33]), "y": encode(&point[33..])})
}

impl Issuer {
    async fn start() -> Self {
        let listener = Listener::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let address = format!("http://{}", listener.address());
        let rsa = RsaKeyPair::generate(KeySize::Rsa2048).unwrap();
        let p256 = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap();
        let ed25519 = Ed25519KeyPair::generate().unwrap();
        let keys = vec![
            json!({"kty": "RSA", "kid": "r", "alg": "RS256", "n": encode(modulus(&rsa)), "e": encode([1, 0, 1])}),
            ec_key(&p256, "p"),
            json!({"kty": "OKP", "crv": "Ed25519", "kid": "e", "x": encode(ed25519.public_key().as_ref())}),
            json!({"kty": "oct", "kid": "o", "k": encode("secret")}),
        ];
        let published = Arc::new(Published {
            issuer: Mutex::new(address.clone()),
            keys: Mutex::new(keys),
            fetches: AtomicUsize::new(0),
        });
        let stop = CancellationToken::new();
        tokio::spawn(listener.serve(published.clone(), stop.clone()));
        Self { address, rsa, p256, ed25519, published, _ends: stop.drop_guard() }
    }

    fn auth(&self) -> Auth {
        let text = format!("[auth]\nissuer = '{}'\nrequired_scopes = ['tools']\n", self.address);
        let file = std::path::Path::new("mgp.toml");
        let config = switchboard_config::Config::parse(file, &text, &switchboard_config::Environment::default());
        config.unwrap().settings.auth.unwrap()
    }

    fn provider(&self) -> Oidc {
        Oidc::new(self.auth(), RESOURCE.to_owned())
    }

    fn claims(&self) -> Value {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
        json!({"iss": self.address, "aud": RESOURCE, "sub": "ann", "scope": "tools", "iat": now, "exp": now + 600})
    }

    fn sign(&self, header: &Value, claims: &Value) -> String {
        let signed = format!("{}.{}", encode(header.to_string()), encode(claims.to_string()));
        let message = signed.as_bytes();
        let random = SystemRandom::new();
        let signature = match header["alg"].as_str() {
            Some("RS256") => {
                let mut signature = vec![0; self.rsa.public_modulus_len()];
                self.rsa.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature).unwrap();
                signature
            }
            Some("ES256") => self.p256.sign(&random, message).unwrap().as_ref().to_vec(),
            Some("EdDSA") => self.ed25519.sign(message).as_ref().to_vec(),
            _ => Vec::new(),
        };
        format!("{signed}.{}", encode(signature))
    }
}

/// Lets time pass. The clock stands still only for this, because the issuer answers over a real socket.
async fn later(by: Duration) {
    tokio::time::pause();
    tokio::time::advance(by).await;
    tokio::time::resume();
}

/// What becomes of a token in the end.
async fn check(provider: &Oidc, token: &str) -> Result<Principal, &'static str> {
    let mut checked = provider.check(Some(token));
    loop {
        match checked {
            Checked::Known(principal) => return Ok(principal),
            Checked::Unknown => return Err("unknown"),
            Checked::Expired => return Err("expired"),
            Checked::Insufficient => return Err("insufficient"),
            Checked::Unavailable => return Err("unavailable"),
            Checked::Later(asking) => checked = asking.await,
        }
    }
}

#[tokio::test]
async fn good_tokens_of_every_kind_are_let_in_and_keys_are_fetched_once() {
    let issuer = Issuer::start().await;
    let provider = issuer.provider();
    for (algorithm, key) in [("RS256", "r"), ("ES256", "p"), ("EdDSA", "e")] {
        let token = issuer.sign(&json!({"alg": algorithm, "kid": key, "typ": "at+jwt"}), &issuer.claims());
        for _ in 0..2 {
            let who = check(&provider, &token).await.unwrap_or_else(|why| panic!("{algorithm}: {why}"));
            assert_eq!((&*who.name, who.admin), ("ann", false));
        }
        // The second time it is known, and nobody has to be asked.
        assert!(matches!(provider.check(Some(&token)), Checked::Known(_)), "{algorithm}");
    }
    // A token need not name its key.
    let token = issuer.sign(&json!({"alg": "ES256"}), &issuer.claims());
    check(&provider, &token).await.unwrap();
    assert_eq!(issuer.published.fetches.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn what_is_not_good_is_refused() {
    let issuer = Issuer::start().await;
    let provider = issuer.provider();
    let header = json!({"alg": "ES256", "kid": "p"});
    let with = |key: &str, value: Value| {
        let mut claims = issuer.claims();
        claims[key] = value;
        issuer.sign(&header, &claims)
    };
    let good = issuer.sign(&header, &issuer.claims());
    check(&provider, &good).await.unwrap();
    let (head, rest) = good.split_once('.').unwrap();
    let (body, signature) = rest.split_once('.').unwrap();
    let mut admin = issuer.claims();
    admin["sub"] = json!("root");
    let none = format!("{}.{body}.", encode(r#"{"alg":"none"}"#));
    let hmac = {
        // The classic: the public key as the secret that both sides share.
        let signed = format!("{}.{body}", encode(r#"{"alg":"HS256","kid":"r"}"#));
        let secret = modulus(&issuer.rsa);
        let key = aws_lc_rs::hmac::Key::new(aws_lc_rs::hmac::HMAC_SHA256, &secret);
        format!("{signed}.{}", encode(aws_lc_rs::hmac::sign(&key, signed.as_bytes())))
    };
    for (name, token, expected) in [
        ("expired", with("exp", json!(1_000)), "expired"),
        ("other audience", with("aud", json!("https://elsewhere/mcp")), "unknown"),
        ("other issuer", with("iss", json!("https://evil.example")), "unknown"),
        ("no scope", with("scope", json!("openid")), "insufficient"),
        ("none", none, "unknown"),
        ("none in capitals", format!("{}.{body}.", encode(r#"{"alg":"NONE"}"#)), "unknown"),
        ("shared secret", hmac, "unknown"),
        ("no signature", format!("{head}.{body}."), "unknown"),
        ("other claims", format!("{head}.{}.{signature}", encode(admin.to_string())), "unknown"),
        ("other algorithm", issuer.sign(&json!({"alg": "EdDSA", "kid": "p"}), &issuer.claims()), "unknown"),
        ("unknown key", issuer.sign(&json!({"alg": "ES256", "kid": "q"}), &issuer.claims()), "unknown"),
        ("critical", issuer.sign(&json!({"alg": "ES256", "kid": "p", "crit": ["b64"]}), &issuer.claims()), "unknown"),
        (
            "other kind",
            issuer.sign(&json!({"alg": "ES256", "kid": "p", "typ": "logout+jwt"}), &issuer.claims()),
            "unknown",
        ),
        ("four parts", format!("{good}.x"), "unknown"),
        ("no token", "x".to_owned(), "unknown"),
        ("empty", String::new(), "unknown"),
        ("too long", format!("{good}{}", "x".repeat(20_000)), "unknown"),
    ] {
        assert_eq!(check(&provider, &token).await.err(), Some(expected), "{name}");
    }
    check(&provider, &good).await.unwrap();
}

#[tokio::test]
async fn keys_that_change_are_followed_and_made_up_ones_do_not_bother_the_issuer() {
    let mut issuer = Issuer::start().await;
    let provider = issuer.provider();
    let header = json!({"alg": "ES256", "kid": "p"});
    let old = issuer.sign(&header, &issuer.claims());
    check(&provider, &old).await.unwrap();
    let fetches = || issuer.published.fetches.load(Ordering::Relaxed);
    assert_eq!(fetches(), 1);
    for number in 0..20 {
        let made_up = issuer.sign(&json!({"alg": "ES256", "kid": number.to_string()}), &issuer.claims());
        assert!(check(&provider, &made_up).await.is_err());
    }
    assert_eq!(fetches(), 1, "nobody is asked again so soon");

    issuer.p256 = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap();
    *issuer.published.keys.lock() = vec![ec_key(&issuer.p256, "p2")];
    let new = issuer.sign(&json!({"alg": "ES256", "kid": "p2"}), &issuer.claims());
    later(MIN_FETCH_INTERVAL).await;
    check(&provider, &new).await.unwrap();
    assert_eq!(issuer.published.fetches.load(Ordering::Relaxed), 2);
    // What the old key signed is worth nothing any more, although it was known.
    assert!(check(&provider, &old).await.is_err());
}

#[tokio::test]
async fn an_issuer_that_is_away_is_believed_in_for_a_while() {
    let issuer = Issuer::start().await;
    let provider = issuer.provider();
    let mut claims = issuer.claims();
    claims["exp"] = json!(4_000_000_000_u64);
    let token = issuer.sign(&json!({"alg": "ES256", "kid": "p"}), &claims);
    check(&provider, &token).await.unwrap();
    issuer.published.keys.lock().clear();
    later(KEY_REFRESH_INTERVAL).await;
    check(&provider, &token).await.unwrap();
    later(MAX_KEY_AGE).await;
    assert!(check(&provider, &token).await.is_err());
}

#[tokio::test]
async fn metadata_of_another_issuer_is_not_believed() {
    let issuer = Issuer::start().await;
    let provider = issuer.provider();
    let token = issuer.sign(&json!({"alg": "ES256", "kid": "p"}), &issuer.claims());
    *issuer.published.issuer.lock() = "https://evil.example".to_owned();
    assert!(check(&provider, &token).await.is_err());
    assert_eq!(issuer.published.fetches.load(Ordering::Relaxed), 0);
    // Where the keys are named, no metadata is needed.
    let named = Auth { jwks_url: Some(format!("{}/keys", issuer.address)), ..issuer.auth() };
    check(&Oidc::new(named, RESOURCE.to_owned()), &token).await.unwrap();
}
