//! Connections to PostgreSQL are encrypted as the URL says, and a server that is another one is noticed.

use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use switchboard_store::{Location, Options, Store, StoreError};
use tokio_postgres::NoTls;

use super::options;
use super::server::Server;

/// An authority, and a certificate of it for one name with its key.
struct Papers {
    authority: String,
    certificate: String,
    key: String,
}

fn papers(name: &str) -> Papers {
    let authority_key = KeyPair::generate().unwrap();
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let root = authority.self_signed(&authority_key).unwrap();
    let issuer = Issuer::new(authority, authority_key);
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(vec![name.to_owned()]).unwrap().signed_by(&key, &issuer).unwrap();
    Papers { authority: root.pem(), certificate: certificate.pem(), key: key.serialize_pem() }
}

/// A port that was free a moment ago: PostgreSQL cannot be told to choose one.
fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// How many of the store's connections are encrypted, and how many are not.
async fn connections(server: &Server) -> (i64, i64) {
    let (client, connection) = tokio_postgres::connect(&server.url("postgres"), NoTls).await.unwrap();
    let connection = tokio::spawn(connection);
    let counts = "SELECT count(*) FILTER (WHERE ssl), count(*) FILTER (WHERE NOT ssl) FROM pg_stat_ssl \
                  JOIN pg_stat_activity USING (pid) WHERE application_name = 'switchboard'";
    let row = client.query_one(counts, &[]).await.unwrap();
    drop(client);
    connection.await.unwrap().unwrap();
    (row.get(0), row.get(1))
}

async fn try_out(server: &Server, url: &str) -> Result<(i64, i64), StoreError> {
    let place = tempfile::tempdir().unwrap();
    let options = Options { busy: Duration::from_secs(5), ..options(&place) };
    let store = Store::open(&Location::Postgres(url.to_owned()), options).await?;
    store.audit().append(&[crate::sample::event(1)]).await?;
    let counts = connections(server).await;
    store.close().await?;
    // The next one counts its own connections only.
    while connections(server).await != (0, 0) {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    Ok(counts)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(postgres_installed), ignore = "no PostgreSQL here: install the Debian package postgresql")]
async fn connections_are_encrypted_as_the_url_says() {
    let ours = papers("localhost");
    let other = papers("localhost");
    let folder = tempfile::tempdir().unwrap();
    let (known, unknown) = (folder.path().join("root.pem"), folder.path().join("an other.pem"));
    std::fs::write(&known, &ours.authority).unwrap();
    std::fs::write(&unknown, &other.authority).unwrap();
    let (known, unknown) = (known.to_str().unwrap(), unknown.to_str().unwrap().replace(' ', "%20"));
    let port = free_port();
    let server = Server::start_on(Some(port), Some((&ours.certificate, &ours.key)));
    server.create_database("x").await;
    for (host, query, encrypted) in [
        ("localhost", String::new(), Some(true)),
        ("127.0.0.1", "?sslmode=prefer".to_owned(), Some(true)),
        ("127.0.0.1", "?sslmode=require".to_owned(), Some(true)),
        ("localhost", "?sslmode=disable".to_owned(), Some(false)),
        ("localhost", format!("?sslmode=verify-full&sslrootcert={known}"), Some(true)),
        ("localhost", format!("?sslmode=require&sslrootcert={known}"), Some(true)),
        // Not vouched for, by another authority, or for another name.
        ("localhost", "?sslmode=verify-full".to_owned(), None),
        ("localhost", format!("?sslmode=verify-full&sslrootcert={unknown}"), None),
        ("127.0.0.1", format!("?sslmode=verify-full&sslrootcert={known}"), None),
        ("localhost", format!("?sslmode=require&sslrootcert={unknown}"), None),
    ] {
        let url = format!("postgres://postgres@{host}:{port}/x{query}");
        match (try_out(&server, &url).await, encrypted) {
            (Ok((encrypted, plain)), Some(true)) => assert!(encrypted > 1 && plain == 0, "{url}: {plain} in the clear"),
            (Ok((encrypted, plain)), Some(false)) => assert!(encrypted == 0 && plain > 1, "{url}"),
            (Err(StoreError::Address(text)), None) => {
                assert!(text.contains("certificate") && text.contains("sslrootcert"), "{url}: {text}");
            }
            (outcome, _) => panic!("{url}: {outcome:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(postgres_installed), ignore = "no PostgreSQL here: install the Debian package postgresql")]
async fn a_server_without_tls_is_refused_where_tls_is_wanted() {
    let port = free_port();
    let server = Server::start_on(Some(port), None);
    server.create_database("x").await;
    for (query, works) in
        [("", true), ("?sslmode=prefer", true), ("?sslmode=require", false), ("?sslmode=verify-full", false)]
    {
        let outcome = try_out(&server, &format!("postgres://postgres@127.0.0.1:{port}/x{query}")).await;
        match outcome {
            Ok((encrypted, plain)) => assert!(works && encrypted == 0 && plain > 1, "{query}"),
            Err(StoreError::Address(text)) => assert!(!works && text.contains("sslmode=disable"), "{query}: {text}"),
            Err(error) => panic!("{query}: {error:?}"),
        }
    }
}
