//! Servers behind TLS: an authority that the machine knows is enough, one that it does not know is refused.

use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::aws_lc_rs::default_provider;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

use crate::serve::Served;
use crate::support::{Home, server};

/// Takes TLS away from connections to a free port and passes them to `plain`; answers the port and the authority.
fn terminate(plain: String) -> (u16, String) {
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let certificate =
        CertificateParams::new(vec!["localhost".to_owned()]).unwrap().signed_by(&key, &authority).unwrap();
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let listener = TcpListener::from_std(listener).unwrap();
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, plain) = (acceptor.clone(), plain.clone());
                tokio::spawn(async move {
                    let Ok(mut secure) = acceptor.accept(stream).await else { return };
                    let Ok(mut plain) = TcpStream::connect(plain).await else { return };
                    let _ = tokio::io::copy_bidirectional(&mut secure, &mut plain).await;
                });
            }
        });
    });
    (port, authority.pem())
}

#[test]
fn a_server_behind_tls_is_reached_if_its_authority_is_known() {
    let behind = Home::new();
    behind.configure(&server("good", &[]));
    let served = Served::start(&behind, &["--no-auth"]);
    let (port, authority) = terminate(served.address.clone());
    let home = Home::new();
    home.configure(&format!("[[servers]]\nid = \"remote\"\nurl = \"https://localhost:{port}/mcp\"\n"));
    home.write("authority.pem", &authority);

    let refused = home.run(&["call", "echo", "text=hi"]);
    assert_ne!(refused.code, Some(0), "{refused:?}");
    assert!(refused.stderr.to_lowercase().contains("certificate"), "the reason is told: {refused:?}");

    let mut command = home.command(&["call", "echo", "text=hi"]);
    command.env("SSL_CERT_FILE", home.path("authority.pem"));
    let output = command.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "hi\n", "{output:?}");
    served.end();
}
