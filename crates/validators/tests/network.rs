//! URLs that lead inside, and URLs that do not.

use std::net::IpAddr;
use switchboard_validators::network;

fn addresses(list: &[&str]) -> Vec<IpAddr> {
    list.iter().map(|address| address.parse().expect("an address")).collect()
}

#[track_caller]
fn refused(urls: &[&str]) {
    let passed: Vec<_> = urls.iter().filter(|url| network::check(url, None).is_ok()).collect();
    assert!(passed.is_empty(), "passed: {passed:#?}");
}

#[track_caller]
fn accepted(urls: &[&str]) {
    let failed: Vec<_> =
        urls.iter().filter_map(|url| network::check(url, None).err().map(|finding| (url, finding.message))).collect();
    assert!(failed.is_empty(), "refused: {failed:#?}");
}

#[test]
fn only_web_schemes() {
    refused(&[
        "ftp://example.com/",
        "file:///etc/hosts",
        "gopher://example.com:25/_x",
        "dict://example.com:11211/",
        "ldap://example.com/",
        "data:text/html,x",
        "javascript:alert(1)",
        "about:blank",
        "ssh://example.com",
        "tftp://example.com/x",
        "sftp://example.com",
        "netdoc:///etc/hosts",
        "jar:http://example.com!/x",
        "view-source:http://example.com",
        "unix:/run/x.sock",
        "blob:https://example.com/x",
        "mailto:a@example.com",
        "httpx://example.com",
        "http+unix://%2Frun%2Fx.sock/",
        "feed:https://example.com",
        "",
        "example.com",
        "//example.com",
        "/path",
        "http",
        "http:",
        "http:/",
        "http://",
        "https://",
        "http:///",
        "http:example.com",
        "http:/example.com",
        "http:///example.com",
        "http:////example.com",
        "http:\\\\example.com",
        "http://\\example.com",
        "http//example.com",
        "://example.com",
    ]);
    accepted(&[
        "http://example.com",
        "https://example.com",
        "ws://example.com/socket",
        "wss://example.com/socket",
        "HTTP://EXAMPLE.COM/",
        "HtTpS://Example.Com",
    ]);
}

#[test]
fn loopback_and_private_addresses_in_every_spelling() {
    refused(&[
        "http://127.0.0.1",
        "http://127.0.0.1:8080/x",
        "http://127.1",
        "http://127.0.1",
        "http://127.255.255.254",
        "http://0",
        "http://0.0.0.0",
        "http://0.1.2.3",
        "http://2130706433",
        "http://0x7f000001",
        "http://0X7F000001",
        "http://0177.0.0.1",
        "http://0177.1",
        "http://0x7f.1",
        "http://127.0x0.0.1",
        "http://00000177.0.0.1",
        "http://017700000001",
        "http://127.0.0.1.",
        "http://127.0.0.1..",
        "http://10.0.0.1",
        "http://10.1",
        "http://167772161",
        "http://172.16.0.1",
        "http://172.31.255.255",
        "http://192.168.0.1",
        "http://192.168.257",
        "http://3232235777",
        "http://169.254.169.254",
        "http://2852039166",
        "http://0xa9fea9fe",
        "http://0251.0376.0251.0376",
        "http://169.254.43518",
        "http://100.64.0.1",
        "http://100.127.255.255",
        "http://198.18.0.1",
        "http://198.19.255.255",
        "http://192.0.2.1",
        "http://198.51.100.7",
        "http://203.0.113.1",
        "http://192.0.0.1",
        "http://192.0.0.192",
        "http://192.88.99.1",
        "http://224.0.0.1",
        "http://239.255.255.255",
        "http://240.0.0.1",
        "http://255.255.255.255",
        "http://168.63.129.16",
        "http://010.0.0.1",
        "http://0010.8.8.8",
        "http://08.8.8.8",
        "http://256.1.1.1",
        "http://1.2.3.4.5",
        "http://4294967296",
        "http://0x100000000",
        "http://425.510.425.510",
        "http://127.0.0.256",
        "http://1.2.3.999",
        "http://１２７.０.０.１",
        "http://①②⑦.⓪.⓪.①",
        "http://127。0。0。1",
        "http://127．0．0．1",
        "http://127｡0｡0｡1",
        "http://𝟏𝟐𝟕.𝟎.𝟎.𝟏",
        "http://127%2e0%2e0%2e1",
        "http://%31%32%37.0.0.1",
        "http://127.0.0.1%00.example.com",
        "ws://10.0.0.5/",
        "wss://192.168.0.10/",
    ]);
    accepted(&[
        "http://8.8.8.8",
        "http://1.1.1.1/dns-query",
        "http://9.255.255.255",
        "http://11.0.0.0",
        "http://100.63.255.255",
        "http://100.128.0.0",
        "http://126.255.255.255",
        "http://128.0.0.1",
        "http://169.253.255.255",
        "http://169.255.0.0",
        "http://172.15.255.255",
        "http://172.32.0.0",
        "http://192.0.1.0",
        "http://192.0.3.0",
        "http://192.167.255.255",
        "http://192.169.0.0",
        "http://198.17.255.255",
        "http://198.20.0.0",
        "http://198.51.99.255",
        "http://198.51.101.0",
        "http://203.0.112.255",
        "http://203.0.114.0",
        "http://223.255.255.255",
        "http://192.88.98.1",
        "http://134744072/",
        "http://0x08080808/",
        "https://8.8.8.8:443/",
    ]);
}

#[test]
fn version_six_addresses() {
    refused(&[
        "http://[::1]",
        "http://[::]",
        "http://[0:0:0:0:0:0:0:1]",
        "http://[::ffff:127.0.0.1]",
        "http://[::ffff:7f00:1]",
        "http://[::ffff:10.0.0.1]",
        "http://[0:0:0:0:0:ffff:a00:1]",
        "http://[::127.0.0.1]",
        "http://[::7f00:1]",
        "http://[::8.8.8.8]",
        "http://[fe80::1]",
        "http://[fe80::1%eth0]",
        "http://[fe80::1%25eth0]",
        "http://[febf::1]",
        "http://[fec0::1]",
        "http://[fc00::1]",
        "http://[fd00::1]",
        "http://[fd00:ec2::254]",
        "http://[fdff:ffff::1]",
        "http://[ff02::1]",
        "http://[ff0e::1]",
        "http://[100::1]",
        "http://[2001:db8::1]",
        "http://[3fff::1]",
        "http://[2001::1]",
        "http://[2001:0:7f00:1::]",
        "http://[2001:2::1]",
        "http://[2001:10::1]",
        "http://[2002:7f00:1::]",
        "http://[2002:a00:1::1]",
        "http://[2002:a9fe:a9fe::]",
        "http://[64:ff9b::7f00:1]",
        "http://[64:ff9b::10.0.0.1]",
        "http://[64:ff9b:1::1]",
        "http://[::ffff:0:127.0.0.1]",
        "http://[5f00::1]",
        "http://[4000::1]",
        "http://[1::1]",
        "http://[2606:4700::5efe:7f00:1]",
        "http://[::1",
        "http://::1",
        "http://[::g]",
        "http://[v1.x]",
        "http://[]",
        "http://[::1]:80:80",
        "http://[127.0.0.1]",
        "http://[[::1]]",
    ]);
    accepted(&[
        "http://[2606:4700:4700::1111]",
        "https://[2001:4860:4860::8888]/dns-query",
        "http://[2a00:1450:4001:81b::200e]:8080/",
        "http://[2001:200::1]",
        "http://[::ffff:8.8.8.8]",
        "http://[64:ff9b::808:808]",
        "http://[2002:808:808::1]",
        "http://[2400:CB00:2048:1::C629:D7A2]",
        "http://[2001:db9::1]",
    ]);
}

#[test]
fn internal_names() {
    refused(&[
        "http://localhost",
        "http://LOCALHOST",
        "http://localhost.",
        "http://localhost:3000",
        "http://api.localhost",
        "http://loc\u{200b}alhost",
        "http://ｌｏｃａｌｈｏｓｔ",
        "http://loⅽalhost",
        "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ",
        "http://local\u{ad}host",
        "http://localhost。",
        "http://localhost.localdomain",
        "http://intranet",
        "http://db",
        "http://metadata",
        "http://instance-data",
        "http://printer.local",
        "http://printer.local.",
        "http://nas.lan",
        "http://router.home.arpa",
        "http://x.internal",
        "http://metadata.google.internal",
        "http://host.docker.internal",
        "http://db.service.consul",
        "http://api.default.svc",
        "http://kubernetes.default.svc.cluster.local",
        "http://git.corp",
        "http://wiki.intranet",
        "http://x.private",
        "http://abcdefgh.onion",
        "http://10.0.0.1.nip.io",
        "http://app.127.0.0.1.nip.io",
        "http://127-0-0-1.sslip.io",
        "http://x-192-168-1-1.nip.io",
        "http://7f000001.nip.io",
        "http://localtest.me",
        "http://a.lvh.me",
        "http://x.xip.io",
        "http://7f000001.c0a80001.rbndr.us",
        "http://metadata.packet.net",
        "http://--1.sslip.io",
        "https://127.0.0.1.example.com",
        "https://192-168-1-1.example.com",
        "https://x.y",
    ]);
    accepted(&[
        "https://example.com",
        "https://example.com.",
        "https://sub.example.co.uk",
        "https://localhost.example.com",
        "https://internal.example.com",
        "https://local.dev",
        "https://mylocalhost.com",
        "https://notlocal.com",
        "https://lan.example.com",
        "https://svc.example.com",
        "https://corp.com",
        "https://intranet.example.org",
        "https://10.example.com",
        "https://1password.com",
        "https://3m.com",
        "https://0x0.st",
        "https://xn--bcher-kva.example",
        "https://bücher.example",
        "https://münchen.de",
        "https://例え.jp",
        "https://пример.рф",
        "https://a_b.example.com",
        "https://a--b.example.com",
        "https://8.8.8.8.nip.io",
        "https://release-10-0-1.example.com",
        "https://about.google",
        "https://faß.de",
    ]);
}

#[test]
fn readers_must_agree_on_the_host() {
    refused(&[
        "http://user@example.com",
        "http://user:pass@example.com",
        "http://@example.com",
        "http://:@example.com",
        "http://example.com@127.0.0.1",
        "http://127.0.0.1@example.com",
        "http://example.com:80@127.0.0.1:80",
        "http://example.com\\@127.0.0.1",
        "http://example.com\\.evil.com",
        "http://127.0.0.1\\example.com",
        "http://example.com/\\127.0.0.1",
        "http://example.com#@127.0.0.1/",
        "http://example.com?@127.0.0.1/",
        "http://example.com#\\@127.0.0.1",
        "http://exa mple.com",
        " http://example.com",
        "http://example.com ",
        "http://example.com\t",
        "http://exam\nple.com",
        "http://exam\tple.com",
        "ht\ntp://example.com",
        "\u{0}http://example.com",
        "http://example.com\u{0}",
        "http://example.com/a b",
        "http://example.com\r\nHost: x",
        "http://example.com\u{a0}",
        "http://example.com\u{3000}.evil.com",
        "http://ex%61mple.com",
        "http://example%2ecom",
        "http://example.com%2f@127.0.0.1",
        "http://example.com%00",
        "http://example.com:99999",
        "http://example.com:-1",
        "http://example.com:80:80",
        "http://example.com:0",
        "http://example.com:8０",
        "http://example..com",
        "http://.example.com",
        "http://example.com..",
        "http://exa<mple.com",
        "http://exa^mple.com",
        "http://exa|mple.com",
        "http://example.com&@127.0.0.1",
        "http://example.com;127.0.0.1",
        "http://example.com,127.0.0.1",
        "http://example.com／@127.0.0.1",
        "http://example.com＃@127.0.0.1",
        "http://a℀b.com",
        "http://1.1.1.1 &@2.2.2.2# @3.3.3.3/",
        "http://[::1]@example.com",
        "http://example.com:80\\@127.0.0.1",
        "http://$HOST/",
        "http://{host}/",
        "http://*.example.com",
        "http://exa'mple.com",
        "http://-/",
    ]);
    accepted(&[
        "https://example.com/",
        "https://example.com/a@b",
        "https://example.com/@user",
        "https://example.com/#@x",
        "https://example.com/?q=a@b.c",
        "https://example.com/?next=http://127.0.0.1/",
        "https://example.com/?u=//localhost",
        "https://example.com/http://10.0.0.1/",
        "https://example.com/127.0.0.1",
        "https://example.com#top",
        "https://example.com?x=1",
        "https://example.com:8443/a",
        "https://example.com:/",
        "https://example.com/a%20b",
        "https://example.com/%2e%2e/",
        "https://example.com/?re=\\d+",
        "https://example.com/ü",
        "https://example.com/?x=%00",
        "https://example.com/a;b,c",
        "https://example.com/a|b",
        "https://example.com/{id}",
        "https://example.com/a/../b",
        "https://example.com//double",
        "https://example.com:443/x?y#z",
    ]);
}

#[test]
fn every_answer_of_a_resolver_must_be_public() {
    let with = |url: &str, list: &[&str]| network::check(url, Some(&addresses(list)));
    assert!(with("https://example.com", &["93.184.216.34"]).is_ok());
    assert!(with("https://example.com", &["93.184.216.34", "2606:2800:220:1::1"]).is_ok());
    assert!(with("https://example.com", &[]).is_err());
    assert!(with("https://example.com", &["127.0.0.1"]).is_err());
    assert!(with("https://example.com", &["93.184.216.34", "10.0.0.1"]).is_err());
    assert!(with("https://example.com", &["93.184.216.34", "::1"]).is_err());
    assert!(with("https://example.com", &["::ffff:169.254.169.254"]).is_err());
    assert!(with("https://example.com", &["64:ff9b::a00:1"]).is_err());
    assert!(with("https://app.test", &["93.184.216.34"]).is_ok());
    assert!(with("https://10.0.0.1.nip.io", &["10.0.0.1"]).is_err());
    // What is never delegated stays internal, whatever a resolver says; an address needs no resolver.
    assert!(with("http://localhost", &["93.184.216.34"]).is_err());
    assert!(with("http://db.internal", &["93.184.216.34"]).is_err());
    assert!(with("http://127.0.0.1", &["93.184.216.34"]).is_err());
    assert!(with("http://8.8.8.8", &[]).is_ok());
    let finding = with("https://example.com", &["10.0.0.1"]).expect_err("a private answer");
    assert!(finding.message.contains("10.0.0.1"), "{finding}");
}

#[test]
fn the_host_is_told_in_its_normal_form() {
    let host = |url: &str| network::host(url).map(|host| host.to_string());
    assert_eq!(host("https://EXAMPLE.com./x"), Ok("example.com".to_owned()));
    assert_eq!(host("https://bücher.example"), Ok("xn--bcher-kva.example".to_owned()));
    assert_eq!(host("http://0x7f.1"), Ok("127.0.0.1".to_owned()));
    assert_eq!(host("http://[::1]"), Ok("[::1]".to_owned()));
}

#[test]
fn long_urls_are_refused() {
    assert!(network::check(&("https://example.com/".to_owned() + &"a".repeat(9000)), None).is_err());
    assert!(network::check(&("https://".to_owned() + &"a.".repeat(200) + "com"), None).is_err());
    assert!(network::check(&("https://".to_owned() + &"a".repeat(64) + ".com"), None).is_err());
}

proptest::proptest! {
    #[test]
    fn any_text_gets_an_answer(text in "\\PC{0,100}") {
        let _ = network::check(&text, None);
        let url = format!("http://{text}/");
        let _ = network::check(&url, None);
    }

    #[test]
    fn an_address_is_judged_alike_in_every_spelling(bits: u32) {
        let address = std::net::Ipv4Addr::from(bits);
        let expected = network::check_address(IpAddr::V4(address)).is_ok();
        let [a, b, c, d] = address.octets();
        for url in [
            format!("http://{address}/"), format!("http://{bits}/"), format!("http://{bits:#x}/"), format!("http://{a}.{b}.{}/", u16::from_be_bytes([c, d])),
            format!("http://{a:#x}.{b:#x}.{c:#x}.{d:#x}/"), format!("http://[::ffff:{address}]/"), format!("http://{address}./"),
        ] {
            proptest::prop_assert_eq!(network::check(&url, None).is_ok(), expected, "{}", url);
        }
        // An octal spelling may also be refused because a decimal reading of it is private.
        let octal = format!("http://0{a:o}.0{b:o}.0{c:o}.0{d:o}/");
        proptest::prop_assert!(expected || network::check(&octal, None).is_err());
    }
}
