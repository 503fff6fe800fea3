//! How the connection to PostgreSQL is encrypted: what `sslmode` of the URL means, and what holds without it.
//!
//! Over a socket or the loopback interface nobody listens in between, so a server without TLS is good enough there. A
//! server elsewhere has to prove who it is, unless the URL says otherwise in so many words.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres_rustls::MakeRustlsConnect;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::{self, CryptoProvider};
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{self, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

use crate::StoreError;

/// What `sslmode` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Plain.
    Disable,
    /// Encrypted if the server can.
    Prefer,
    /// Encrypted; the server may be anybody.
    Require,
    /// Encrypted, and the server is the one that the URL names.
    VerifyFull,
}

/// A URL as it was taken apart: what is left for the driver, and what it does not know.
struct Parts {
    url: String,
    mode: Option<Mode>,
    roots: Option<PathBuf>,
}

/// Reads the URL of a database: the settings of the driver, and how connections are encrypted.
pub(super) fn read(url: &str) -> Result<(Config, MakeRustlsConnect), StoreError> {
    let parts = take_apart(url)?;
    // The parser's message may quote the URL, and with it a password.
    let mut config: Config = parts.url.parse().map_err(|_| address("the URL cannot be read"))?;
    let mode = match parts.mode {
        // A file of certificates is for being sure: with one, encrypted means verified.
        Some(Mode::Require) if parts.roots.is_some() => Mode::VerifyFull,
        Some(mode) => mode,
        None if is_local(&config) => Mode::Prefer,
        None => Mode::VerifyFull,
    };
    let only_sockets = !config.get_hosts().is_empty() && config.get_hosts().iter().all(is_socket);
    config.ssl_mode(match mode {
        Mode::Disable => SslMode::Disable,
        // A socket has no name to be encrypted for.
        Mode::Prefer if only_sockets => SslMode::Disable,
        Mode::Prefer => SslMode::Prefer,
        Mode::Require | Mode::VerifyFull => SslMode::Require,
    });
    let tls = match mode {
        Mode::VerifyFull => verifying(parts.roots.as_deref())?,
        Mode::Disable | Mode::Prefer | Mode::Require => believing()?,
    };
    Ok((config, MakeRustlsConnect::new(tls)))
}

/// What went wrong with a connection, with what can be done where its certificate was not accepted.
pub(super) fn advice(error: &(dyn std::error::Error + 'static)) -> Option<String> {
    let mut source = Some(error);
    while let Some(error) = source {
        let text = error.to_string();
        if error.downcast_ref::<rustls::Error>().is_some() || text.contains("invalid peer certificate") {
            return Some(format!(
                "the server's certificate is not accepted ({text}): name its authority with `sslrootcert=FILE` in the \
                 URL, or say `sslmode=require` to take any certificate"
            ));
        }
        if text.contains("server does not support TLS") {
            return Some(
                "the server does not speak TLS: switch it on there, or say `sslmode=disable` in the URL to send \
                 everything in the clear"
                    .to_owned(),
            );
        }
        source = error.source();
    }
    None
}

fn take_apart(url: &str) -> Result<Parts, StoreError> {
    let Some((base, query)) = url.split_once('?') else {
        return Ok(Parts { url: url.to_owned(), mode: None, roots: None });
    };
    let (mut mode, mut roots, mut rest) = (None, None, Vec::new());
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let value = percent_encoding::percent_decode_str(value).decode_utf8_lossy();
        match key {
            "sslmode" => {
                mode = Some(match &*value {
                    "disable" => Mode::Disable,
                    "allow" | "prefer" => Mode::Prefer,
                    "require" => Mode::Require,
                    // A chain that is good for any name is good for the attacker's.
                    "verify-ca" | "verify-full" => Mode::VerifyFull,
                    _ => return Err(address("`sslmode` is disable, prefer, require or verify-full")),
                });
            }
            "sslrootcert" if value == "system" => {}
            "sslrootcert" => roots = Some(PathBuf::from(value.into_owned())),
            "sslnegotiation" => {
                return Err(address("`sslnegotiation` is not known: TLS is negotiated in the usual way"));
            }
            "sslcert" | "sslkey" => return Err(address("certificates of clients are not supported; use a password")),
            _ => rest.push(pair),
        }
    }
    let url = if rest.is_empty() { base.to_owned() } else { format!("{base}?{}", rest.join("&")) };
    Ok(Parts { url, mode, roots })
}

fn is_local(config: &Config) -> bool {
    let by_address = config.get_hostaddrs();
    if !by_address.is_empty() {
        return by_address.iter().all(IpAddr::is_loopback);
    }
    config.get_hosts().iter().all(|host| match host {
        Host::Tcp(name) => name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback()),
        #[cfg(unix)]
        Host::Unix(_) => true,
    })
}

fn is_socket(host: &Host) -> bool {
    match host {
        Host::Tcp(_) => false,
        #[cfg(unix)]
        Host::Unix(_) => true,
    }
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(crypto::aws_lc_rs::default_provider())
}

/// Takes only a server that somebody in `roots`, or whom this machine trusts, vouches for.
fn verifying(roots: Option<&Path>) -> Result<ClientConfig, StoreError> {
    let mut store = RootCertStore::empty();
    if let Some(path) = roots {
        let unreadable = |why: String| address(&format!("`sslrootcert` {}: {why}", path.display()));
        let certificates = CertificateDer::pem_file_iter(path).map_err(|error| unreadable(error.to_string()))?;
        for certificate in certificates {
            let certificate = certificate.map_err(|error| unreadable(error.to_string()))?;
            store.add(certificate).map_err(|error| unreadable(error.to_string()))?;
        }
        if store.is_empty() {
            return Err(unreadable("it holds no certificate".to_owned()));
        }
    } else {
        let (_, _) = store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    }
    let builder = ClientConfig::builder_with_provider(provider()).with_safe_default_protocol_versions();
    Ok(builder.map_err(engine)?.with_root_certificates(store).with_no_client_auth())
}

/// Takes any server.
fn believing() -> Result<ClientConfig, StoreError> {
    let builder = ClientConfig::builder_with_provider(provider()).with_safe_default_protocol_versions();
    let verifier = Arc::new(Anybody(provider()));
    Ok(builder.map_err(engine)?.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth())
}

fn engine(error: rustls::Error) -> StoreError {
    StoreError::Engine(Arc::new(error))
}

fn address(text: &str) -> StoreError {
    StoreError::Address(text.to_owned())
}

/// Believes every certificate, but not that somebody has it who cannot sign with it.
#[derive(Debug)]
struct Anybody(Arc<CryptoProvider>);

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _certificate: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        crypto::verify_tls12_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        crypto::verify_tls13_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_url_says_and_what_holds_without_it() {
        use SslMode::{Disable, Prefer, Require};
        for (url, expected) in [
            ("postgres://db.example/x", Require),
            ("postgres://10.0.0.7/x", Require),
            ("postgres://db.example/x?hostaddr=127.0.0.1", Prefer),
            ("postgres://localhost/x", Prefer),
            ("postgres://127.0.0.1/x", Prefer),
            ("postgres://[::1]/x", Prefer),
            ("postgres://127.0.0.1,db.example/x", Require),
            ("postgres://%2Frun%2Fpostgresql/x", Disable),
            ("postgres://db.example/x?sslmode=disable", Disable),
            ("postgres://db.example/x?sslmode=prefer", Prefer),
            ("postgres://db.example/x?sslmode=require&connect_timeout=3", Require),
            ("postgres://localhost/x?sslmode=verify-full", Require),
            ("postgres://localhost/x?sslmode=verify%2Dfull&sslrootcert=system", Require),
        ] {
            assert_eq!(read(url).unwrap().0.get_ssl_mode(), expected, "{url}");
        }
        for url in [
            "postgres://u:hidden@db/x?sslmode=maybe",
            "postgres://u:hidden@db/x?sslmode=",
            "postgres://u:hidden@db/x?sslrootcert=/nowhere/at/all.pem",
            "postgres://u:hidden@db/x?sslkey=k",
            "postgres://u:hidden@db/x?sslnegotiation=direct",
        ] {
            let error = read(url).err().expect("a refusal").to_string();
            assert!(!error.contains("hidden"), "{error}");
        }
    }
}
