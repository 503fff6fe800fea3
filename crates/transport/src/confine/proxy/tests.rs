//! What clients ask the proxy for, and whom it connects to.

use super::*;

#[test]
fn wishes() {
    let wish = |head: &str| ProxyRequest::read(&format!("{head}\r\n\r\n"));
    let tunnel = |host: &str, port| Some(ProxyRequest { host: host.to_owned(), port, head: None });
    assert_eq!(wish("CONNECT a.test:443 HTTP/1.1\r\nHost: b.test"), tunnel("a.test", 443));
    assert_eq!(wish("CONNECT [::1]:443 HTTP/1.1"), tunnel("[::1]", 443));
    for bad in [
        "CONNECT a.test HTTP/1.1",
        "CONNECT a.test:x HTTP/1.1",
        "GET / HTTP/1.1",
        "GET https://a.test/ HTTP/1.1",
        "GET http://user@a.test/ HTTP/1.1",
        "GET http://a.test/ SPDY/1",
        "GET http://a.test/ x HTTP/1.1",
        "GET",
    ] {
        assert_eq!(wish(bad), None, "{bad}");
    }
    let plain = wish("POST http://a.test:81/x?y HTTP/1.1\r\nHost: b.test\r\nX: 1\r\nConnection: keep-alive").unwrap();
    assert_eq!((plain.host.as_str(), plain.port), ("a.test", 81));
    let head = "POST /x?y HTTP/1.1\r\nHost: a.test:81\r\nX: 1\r\nConnection: close\r\n\r\n";
    assert_eq!(plain.head.as_deref(), Some(head));
}

async fn through(rules: &[&str], may_reach: fn(IpAddr) -> bool, host: &str) -> String {
    let target = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = target.local_addr().unwrap().port();
    tokio::spawn(async move {
        let (mut stream, _) = target.accept().await.unwrap();
        stream.write_all(b"hello").await.unwrap();
    });
    let rules = rules.iter().map(|rule| rule.replace("PORT", &port.to_string()).parse().unwrap()).collect();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let _proxy = Proxy::start(listener, rules, may_reach).unwrap();
    let mut client = TcpStream::connect(address).await.unwrap();
    client.write_all(format!("CONNECT {host}:{port} HTTP/1.1\r\n\r\n").as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    client.read_to_end(&mut answer).await.unwrap();
    String::from_utf8(answer).unwrap()
}

#[tokio::test]
async fn only_granted_hosts_and_judged_addresses_are_reached() {
    type Rule = fn(IpAddr) -> bool;
    let (public_only, all): (Rule, Rule) = (|address| !address.is_loopback(), |_| true);
    for (rules, may_reach, host, good) in [
        (&["127.0.0.1:PORT"][..], public_only, "127.0.0.1", true),
        (&["localhost:PORT"], public_only, "localhost", true),
        (&["127.0.0.1:1"], public_only, "127.0.0.1", false),
        (&[], all, "127.0.0.1", false),
        // Any host, but it turns out to be this machine.
        (&["*:*"], public_only, "localhost", false),
        (&["*:*"], public_only, "127.0.0.1", false),
        (&["*:*"], all, "localhost", true),
        (&["other.test:*"], all, "localhost", false),
    ] {
        let answer = through(rules, may_reach, host).await;
        if good {
            assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("\r\n\r\nhello"), "{rules:?} {answer}");
        } else {
            assert!(answer.starts_with("HTTP/1.1 403"), "{rules:?} {host} {answer}");
        }
    }
}
