//! What the operator says of single tools and prompts, and what the limits of grants make of it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;
use serde_json::{Value, json};
use switchboard_kernel::{PromptPolicy, ServerPolicy};
use switchboard_policy::risk::OperatorWord;
use switchboard_protocol::Era;
use switchboard_protocol::mgp::{Risk, ValidatorName};

use super::world::{ERAS, House, Script, entry, open_house, ran, tool};

async fn narrowed(house: &House, principal: &str, scope: Value) {
    let mut entry = entry(principal, "s", None, true);
    entry.scopes = Some(RawValue::from_string(scope.to_string()).unwrap());
    house.operator_actions().grant_access(entry).await.unwrap();
    tokio::time::sleep(Duration::from_millis(220)).await;
}

fn script() -> Arc<Script> {
    let script = Script::new(Era::Legacy, vec![tool("remember"), tool("other")]);
    *script.prompts.lock() = vec![
        json!({"name": "hello", "arguments": [{"name": "note"}, {"name": "path"}]}),
        json!({"name": "fetch", "arguments": [{"name": "url"}]}),
        json!({"name": "gone"}),
    ];
    script
}

fn with_prompts(prompts: Vec<(&str, PromptPolicy)>) -> ServerPolicy {
    let prompts = prompts.into_iter().map(|(name, said)| (name.to_owned(), said)).collect();
    let text_arguments = HashMap::from([("remember".to_owned(), vec!["note".to_owned()])]);
    ServerPolicy { prompts, text_arguments, ..ServerPolicy::default() }
}

fn texts() -> PromptPolicy {
    PromptPolicy { text_arguments: vec!["note".to_owned()], ..PromptPolicy::default() }
}

#[tokio::test]
async fn text_arguments_are_held_to_no_paths_and_hosts() {
    for scope in [json!({"paths": ["/srv/ok/**"]}), json!({"hosts": ["example.com"]})] {
        let script = script();
        let house = House::with(&[("s", script.clone())], || with_prompts(vec![("hello", texts())]), |_| {}).await;
        narrowed(&house, "ann", scope.clone()).await;
        let outside = if scope.get("paths").is_some() { "/etc/shadow" } else { "http://evil.example/x" };
        for era in ERAS {
            let ann = house.client(era, "ann").await;
            assert!(ran(&ann.call("remember", json!({"note": outside})).await), "{scope}");
            assert!(ran(&ann.call("remember", json!({"note": {"deep": [outside]}})).await), "{scope}");
            // The word is about one argument of one tool.
            assert!(!ran(&ann.call("remember", json!({"note": "x", "title": outside})).await), "{scope}");
            assert!(!ran(&ann.call("remember", json!({"deep": {"note": outside}})).await), "{scope}");
            assert!(!ran(&ann.call("other", json!({"note": outside})).await), "{scope}");
            let beside = json!({"name": "remember", "arguments": {}, "note": outside});
            assert!(!ran(&ann.request("tools/call", beside).await), "beside the arguments: {scope}");
            let get = |arguments: Value| json!({"name": "hello", "arguments": arguments});
            assert!(ann.request("prompts/get", get(json!({"note": outside}))).await.is_ok(), "{scope}");
            assert!(ann.request("prompts/get", get(json!({"other": outside}))).await.is_err(), "{scope}");
            let complete = |name: &str, value: &str| json!({"ref": {"type": "ref/prompt", "name": "hello"}, "argument": {"name": name, "value": value}});
            assert!(ann.request("completion/complete", complete("note", outside)).await.is_ok(), "{scope}");
            assert!(ann.request("completion/complete", complete("other", outside)).await.is_err(), "{scope}");
        }
    }
}

#[tokio::test]
async fn a_prompt_has_its_own_words_of_the_operator() {
    let word = OperatorWord { risk: Some(Risk::Moderate), validator: Some(ValidatorName::None), confirm: None };
    let page = json!({"name": "fetch", "arguments": {"url": "http://127.0.0.1:8000/page"}});
    for (said, passes) in [(None, false), (Some(word), true)] {
        let script = script();
        let policy = || {
            let fetch = said.map(|word| ("fetch", PromptPolicy { word, ..PromptPolicy::default() }));
            let gone = ("gone", PromptPolicy { disabled: true, ..PromptPolicy::default() });
            let asked = OperatorWord { confirm: Some(true), ..OperatorWord::default() };
            let hello = ("hello", PromptPolicy { word: asked, ..PromptPolicy::default() });
            with_prompts(fetch.into_iter().chain([gone, hello]).collect())
        };
        let house = House::with(&[("s", script.clone())], policy, |gate| {
            open_house(gate);
            gate.approval_wait = Duration::from_millis(100);
        })
        .await;
        for era in ERAS {
            let ann = house.client(era, "ann").await;
            let got = ann.request("prompts/get", page.clone()).await;
            assert_eq!(got.is_ok(), passes, "{said:?} {got:?}");
            let names = ann.list("prompts").await;
            assert!(!names.iter().any(|name| name.contains("gone")), "{names:?}");
            let gone = ann.request("prompts/get", json!({"name": "gone"})).await.unwrap_err();
            assert!(gone.message.contains("Unknown prompt"), "{gone:?}");
            let reference = json!({"type": "ref/prompt", "name": "gone"});
            let complete = json!({"ref": reference, "argument": {"name": "x", "value": "y"}});
            assert!(ann.request("completion/complete", complete).await.is_err());
            let held = ann.request("prompts/get", json!({"name": "hello"})).await;
            assert!(held.is_err(), "a person is to be asked, and nobody answers: {held:?}");
        }
        assert_eq!(script.heard("prompts/get").len(), if passes { 2 } else { 0 });
    }
}

#[tokio::test]
async fn all_of_a_completion_is_judged_and_an_empty_value_is_none() {
    let script = script();
    let house = House::new(&[("s", script.clone())]).await;
    narrowed(&house, "ann", json!({"paths": ["/srv/ok/**"]})).await;
    for era in ERAS {
        let ann = house.client(era, "ann").await;
        let complete = |reference: Value, argument: Value| json!({"ref": reference, "argument": argument});
        let hello = json!({"type": "ref/prompt", "name": "hello"});
        let with = |mut value: Value, key: &str, more: &str| {
            value[key] = more.into();
            value
        };
        let argument = json!({"name": "path", "value": "/srv/ok/a"});
        for (params, passes) in [
            (complete(hello.clone(), argument.clone()), true),
            (complete(hello.clone(), json!({"name": "path", "value": ""})), true),
            (complete(hello.clone(), json!({"name": "path", "value": "/etc/x"})), false),
            (complete(with(hello.clone(), "extra", "/etc/x"), argument.clone()), false),
            (complete(with(hello.clone(), "uri", "file:///etc/x"), argument.clone()), false),
            (complete(with(hello.clone(), "title", "Says hello"), argument.clone()), true),
            (complete(hello.clone(), with(argument.clone(), "more", "/etc/x")), false),
            (complete(hello.clone(), with(argument.clone(), "path", "/etc/x")), false),
            (complete(hello.clone(), with(json!({"name": "more", "value": ""}), "more", "/etc/x")), false),
        ] {
            let completed = ann.request("completion/complete", params.clone()).await;
            assert_eq!(completed.is_ok(), passes, "{params} {completed:?}");
        }
        let mut context = complete(hello, argument);
        context["context"] = json!({"arguments": {"other": "/etc/x"}});
        assert!(ann.request("completion/complete", context.clone()).await.is_err());
        context["context"] = json!({"arguments": {"other": ""}});
        assert!(ann.request("completion/complete", context).await.is_ok());
    }
}

/// What is written so far of an address is held to the limits as the address that it makes.
#[tokio::test]
async fn a_completion_of_a_template_counts_as_the_address_that_it_makes() {
    let script = script();
    *script.templates.lock() = vec![
        json!({"name": "files", "uriTemplate": "file:///{+path}"}),
        json!({"name": "disk", "uriTemplate": "disk:///{dir}/{name}"}),
    ];
    let house = House::new(&[("s", script.clone())]).await;
    narrowed(&house, "ann", json!({"paths": ["/srv/ok/**"]})).await;
    for era in ERAS {
        let ann = house.client(era, "ann").await;
        for (template, name, value, dir, passes) in [
            ("file:///{+path}", "path", "srv/ok/al", None, true),
            ("file:///{+path}", "path", "etc/pass", None, false),
            ("file:///{+path}", "path", "", None, true),
            ("disk:///{dir}/{name}", "name", "", Some("etc"), false),
            ("file:///{+path}", "path", "root/.", None, false),
            ("disk:///{dir}/{name}", "name", "pass", Some("etc"), false),
            ("file:///{+path}", "other", "/etc/", None, false),
        ] {
            let mut params = json!({
                "ref": {"type": "ref/resource", "uri": template},
                "argument": {"name": name, "value": value},
            });
            if let Some(dir) = dir {
                params["context"] = json!({"arguments": {"dir": dir}});
            }
            let completed = ann.request("completion/complete", params.clone()).await;
            assert_eq!(completed.is_ok(), passes, "{params} {completed:?}");
        }
        let params = json!({
            "ref": {"type": "ref/resource", "uri": "file:///{+path}"},
            "argument": {"name": "path", "value": "srv/ok/a"},
            "context": {"arguments": {"path": "etc/passwd"}},
        });
        assert!(ann.request("completion/complete", params).await.is_err());
    }
}

/// What stands in a template is dialed by its server, whatever escapes it is written in.
#[tokio::test]
async fn limits_of_hosts_hold_for_what_stands_in_a_template() {
    let script = script();
    *script.templates.lock() = vec![
        json!({"name": "page", "uriTemplate": "fetch://8.8.8.8{?url}"}),
        json!({"name": "through", "uriTemplate": "proxy://8.8.8.8/{target}"}),
        json!({"name": "docs", "uriTemplate": "docs://8.8.8.8/{page}"}),
    ];
    let house = House::new(&[("s", script.clone())]).await;
    narrowed(&house, "ann", json!({"hosts": ["8.8.8.8"]})).await;
    for era in ERAS {
        let ann = house.client(era, "ann").await;
        for (uri, passes) in [
            ("fetch://8.8.8.8?url=https%3A%2F%2F8.8.8.8%2Fx", true),
            ("fetch://8.8.8.8?url=https%3A%2F%2F9.9.9.9%2Fx", false),
            ("fetch://8.8.8.8?url=9.9.9.9", false),
            ("fetch://8.8.8.8?url=%2F%2F9.9.9.9", false),
            ("proxy://8.8.8.8/9.9.9.9", false),
            // A target may be a machine by its bare name, a page is none.
            ("proxy://8.8.8.8/guide", false),
            ("docs://8.8.8.8/9.9.9.9", false),
            ("docs://8.8.8.8/guide", true),
        ] {
            let read = ann.request("resources/read", json!({"uri": uri})).await;
            assert_eq!(read.is_ok(), passes, "{uri} {read:?}");
        }
    }
}

/// Some servers take nothing of a URL but its path.
#[tokio::test]
async fn the_path_of_a_url_counts_unless_its_server_is_for_the_network() {
    let network =
        || ServerPolicy { permissions_granted: vec![("network.outbound".to_owned(), None)], ..ServerPolicy::default() };
    let paths = json!({"paths": ["/srv/ok/**"]});
    let both = json!({"paths": ["/srv/ok/**"], "hosts": ["93.184.216.34"]});
    for (policy, scope, outside) in [
        (ServerPolicy::default as fn() -> ServerPolicy, paths.clone(), false),
        (network, paths, true),
        (ServerPolicy::default, both, true),
    ] {
        let script = script();
        let house = House::with(&[("s", script.clone())], policy, |_| {}).await;
        narrowed(&house, "ann", scope.clone()).await;
        for era in ERAS {
            let ann = house.client(era, "ann").await;
            let read = |uri: &str| json!({"uri": uri});
            for uri in [
                "http://93.184.216.34/etc/shadow",
                "https://93.184.216.34/etc/shadow?x=/srv/ok/a",
                "http://93.184.216.34",
            ] {
                let got = ann.request("resources/read", read(uri)).await;
                assert_eq!(got.is_ok(), outside, "{scope} {uri} {got:?}");
            }
            assert!(ann.request("resources/read", read("http://93.184.216.34/srv/ok/a")).await.is_ok(), "{scope}");
            assert!(ann.request("resources/read", read("http://93.184.216.34/srv/ok/../../etc/x")).await.is_err());
            assert!(ann.request("resources/read", read("script://one")).await.is_ok(), "listed, and no path");
        }
    }
}
