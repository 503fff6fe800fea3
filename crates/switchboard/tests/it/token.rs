//! `switchboard token` beside a running `switchboard serve`.

use std::io::Read as _;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::serve::Served;
use crate::support::{Home, server, until};

fn create(home: &Home, arguments: &[&str]) -> Value {
    let all: Vec<&str> = ["token", "create", "--json"].iter().chain(arguments).copied().collect();
    serde_json::from_str(&home.run(&all).ok()).unwrap()
}

#[test]
fn a_token_is_made_listed_and_revoked_while_the_kernel_runs() {
    let home = Home::new();
    home.configure(&server("one", &[]));
    let served = Served::start(&home, &[]);
    let made = create(&home, &["laptop", "--principal", "ann", "--expires", "never"]);
    let secret = made["token"].as_str().unwrap();
    assert_eq!((made["principal"].as_str(), made["expires_at"].as_str()), (Some("ann"), None));
    until(|| served.tools(Some(secret)).ok()).expect("the new token is let in");

    // A stream that is open ends with its token.
    let mut stream = served.listen(secret);
    let revoked: Value = serde_json::from_str(&home.run(&["token", "revoke", "laptop", "--json"]).ok()).unwrap();
    let began = Instant::now();
    assert_eq!(revoked["state"], "revoked");
    until(|| served.tools(Some(secret)).err().filter(|(status, _)| *status == 401)).expect("refused");
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).unwrap();

    let again = home.run(&["token", "revoke", "laptop"]);
    assert_eq!(again.code, Some(1));
    let listed: Value = serde_json::from_str(&home.run(&["token", "list", "--json"]).ok()).unwrap();
    let states: Vec<_> =
        listed["tokens"].as_array().unwrap().iter().map(|token| (&token["name"], &token["state"])).collect();
    assert_eq!(states, [(&"first".into(), &"good".into()), (&"laptop".into(), &"revoked".into())]);
    assert!(!listed.to_string().contains(secret));
    assert!(home.run(&["token", "list"]).ok().contains("revoked"));
    served.end();
}

#[test]
fn what_is_wrong_with_a_token_is_said() {
    let home = Home::new();
    create(&home, &["a"]);
    for (arguments, code, words) in [
        (&["token", "create", "a"][..], 1, "already"),
        (&["token", "create", "b", "--scope", "everything"], 2, "no scope"),
        (&["token", "create", "b", "--expires", "tomorrow"], 2, "30d"),
        (&["token", "revoke", "b"], 1, "token list"),
    ] {
        let run = home.run(arguments);
        assert_eq!(run.code, Some(code), "{arguments:?}");
        assert!(run.stderr.contains(words), "{arguments:?}: {}", run.stderr);
    }
}

#[test]
fn tokens_of_earlier_versions_stay_good() {
    let home = Home::new();
    home.configure(&server("one", &[]));
    // SHA-256 of `sb_old`.
    let hash = "42b26a2d3387cb436c4db367c62882301f559185c963408390c07e83edb4538b";
    home.write(".local/share/switchboard/tokens", &format!("{hash}\n"));
    let served = Served::start(&home, &[]);
    assert_eq!(served.token, None, "there was a token already");
    served.tools(Some("sb_old")).unwrap();
    served.end();
    let listed: Value = serde_json::from_str(&home.run(&["token", "list", "--json"]).ok()).unwrap();
    assert_eq!(listed["tokens"][0]["name"], format!("token-{}", &hash[..8]));
    assert_eq!(listed["tokens"][0]["principal"], "local", "such a token was good for everything");
    assert!(!home.path(".local/share/switchboard/tokens").exists());
}

/// The body of a 401 says by the codes of MGP whether a token is missing or is over.
#[test]
fn who_is_not_let_in_is_told_whether_a_token_is_missing_or_over() {
    let home = Home::new();
    home.configure(&server("one", &[]));
    let served = Served::start(&home, &[]);
    let end = (jiff::Timestamp::now() + jiff::SignedDuration::from_secs(2)).to_string();
    let made = create(&home, &["brief", "--principal", "ann", "--expires", &end]);
    let brief = made["token"].as_str().unwrap();
    let told = |token: Option<&str>| {
        let (status, body) = served.tools(token).err()?;
        let body: Value = serde_json::from_str(&body).unwrap_or_else(|error| panic!("{error}: {body}"));
        Some((status, body["error"]["code"].as_i64().unwrap(), body["error"]["data"]["_mgp"]["category"].clone()))
    };
    for missing in [None, Some("sb_wrong")] {
        assert_eq!(told(missing), Some((401, 1002, "security".into())));
    }
    let over = until(|| told(Some(brief)).filter(|(_, code, _)| *code != 1002)).expect("it ends");
    assert_eq!(over, (401, 1003, "security".into()));
    home.run(&["token", "revoke", "brief"]).ok();
    until(|| told(Some(brief)).filter(|(_, code, _)| *code == 1002)).expect("one that was revoked is no token");
}

/// A clock that went back revives nothing: what is listed is what `serve` lets in, and a new token counts from the same time.
#[tokio::test]
async fn what_had_expired_is_listed_so_after_the_clock_went_back() {
    use switchboard_store::{Location, Options, Store};

    let home = Home::new();
    create(&home, &["short", "--expires", "1h"]);
    create(&home, &["lasting", "--expires", "never"]);
    let store = Store::open(&Location::File(home.path(".local/share/switchboard/switchboard.db")), Options::default())
        .await
        .unwrap();
    let seen = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(2);
    store.latest_time(seen).await.unwrap();
    store.close().await.unwrap();
    let made = create(&home, &["later", "--expires", "1h"]);
    assert!(made["expires_at"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap() > seen, "{made}");
    let listed = home.run(&["token", "list", "--json"]).json();
    let states: Vec<_> =
        listed["tokens"].as_array().unwrap().iter().map(|token| (&token["name"], &token["state"])).collect();
    for expected in [("lasting", "good"), ("later", "good"), ("short", "expired")] {
        assert!(states.contains(&(&expected.0.into(), &expected.1.into())), "{expected:?}: {states:?}");
    }
}

#[test]
fn a_scope_takes_the_alias_of_a_server() {
    let home = Home::new();
    home.configure(&format!("{}alias = 'g'\n", server("git", &[])));
    let made = create(&home, &["ci", "--scope", "server:g"]);
    assert_eq!(made["scopes"], serde_json::json!(["server:git"]), "{made}");
}
