//! Help, exit codes, and the words of errors about the configuration.

use crate::support::{Home, server};

#[test]
fn help_names_every_command_and_an_unknown_one_is_a_usage_error() {
    let home = Home::new();
    let help = home.run(&["--help"]).ok();
    for command in ["serve", "stdio", "init", "import", "add", "remove", "trust", "servers", "tools", "call", "doctor"]
    {
        assert!(help.contains(&format!("\n  {command}")), "{command}: {help}");
        assert!(home.run(&[command, "--help"]).ok().contains("Example"), "{command}");
    }
    assert!(!help.contains("guardian"), "{help}");
    assert!(home.run(&["--version"]).ok().starts_with("switchboard "));
    assert!(home.run(&["frobnicate"]).err(2).contains("frobnicate"));
    assert!(home.run(&["servers", "--log", "a=b=c"]).err(2).contains("log level"));
}

#[test]
fn a_malformed_configuration_is_named_with_file_and_line() {
    let home = Home::new();
    for (text, words) in [
        ("[[servers]\n", &["servers.toml:1:", "not valid TOML", "help:"][..]),
        ("listne = \"127.0.0.1:1\"\n", &["servers.toml:1:", "unknown key `listne`", "listen"]),
        ("# fine\nlisten = \"nowhere\"\n", &["servers.toml:2:", "listen"]),
    ] {
        home.configure(text);
        for command in [&["servers"][..], &["stdio"], &["serve", "--listen", "127.0.0.1:0"], &["tools"], &["call", "x"]]
        {
            let said = home.run(command).err(2);
            assert!(words.iter().all(|word| said.contains(word)), "{command:?} {text:?}: {said}");
        }
        let doctor = home.run(&["doctor"]);
        assert_eq!(doctor.code, Some(1));
        assert!(words.iter().all(|word| doctor.stdout.contains(word)), "{doctor:?}");
    }
}

#[test]
fn a_line_of_understood_commands_that_cannot_be_read_is_an_error() {
    let home = Home::new();
    home.configure("[gate]\nunderstood_commands = ['read stock list', 'look stock']\n");
    for command in [&["servers"][..], &["stdio"], &["serve"], &["tools"], &["check", "shell"]] {
        let said = home.run(command).err(2);
        assert!(said.contains("understood_commands") && said.contains("`look stock`"), "{command:?}: {said}");
    }
    let doctor = home.run(&["doctor"]);
    assert_eq!(doctor.code, Some(1));
    assert!(doctor.stdout.contains("understood_commands") && doctor.stdout.contains("`look stock`"), "{doctor:?}");
}

#[test]
fn a_wrong_command_line_names_in_json_what_is_missing() {
    let home = Home::new();
    for (command, wanted) in [
        (&["grant", "--principal", "ann"][..], "were not provided: --server <ID>"),
        (&["call"], "were not provided: <TOOL>"),
        (&["grant", "--server", "a", "--nope"], "unexpected argument '--nope' found"),
    ] {
        let ran = home.run(&[command, &["--json"]].concat());
        let message = ran.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(ran.code == Some(2) && message.ends_with(wanted), "{command:?}: {message}");
    }
}

#[test]
fn a_named_file_that_is_missing_is_a_usage_error() {
    let home = Home::new();
    let said = home.run(&["servers", "--config", "nowhere.toml"]).err(2);
    assert!(said.contains("nowhere.toml: no such file") && said.contains("switchboard init"), "{said}");
}

#[test]
fn an_unknown_key_of_one_server_leaves_the_others_alone() {
    let home = Home::new();
    home.configure(&format!("{}\n[[servers]]\nid = \"odd\"\ncomand = \"x\"\n", server("good", &[])));
    let ran = home.run(&["servers", "--json"]);
    assert!(ran.stderr.contains("servers.toml:8:1: server \"odd\": unknown key `comand`"), "{ran:?}");
    assert!(ran.stderr.contains("`command`"), "{ran:?}");
    let servers = ran.json()["servers"].clone();
    assert_eq!((&servers[0]["state"], &servers[1]["state"]), (&"ready".into(), &"faulty".into()), "{servers}");
}

#[test]
fn without_a_configuration_the_next_step_is_named() {
    let home = Home::new();
    for command in [&["servers"][..], &["tools"], &["doctor"]] {
        let ran = home.run(command);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(said.contains("switchboard import") && said.contains("switchboard add"), "{said}");
    }
    assert!(home.run(&["call", "x"]).err(2).contains("switchboard import"));
}

#[test]
fn other_machines_are_not_let_in_by_accident() {
    let home = Home::new();
    let said = home.run(&["serve", "--listen", "0.0.0.0:0"]).err(2);
    assert!(said.contains("--allow-remote"), "{said}");
    home.configure("listen = \"0.0.0.0:0\"\n");
    assert!(home.run(&[]).err(2).contains("--allow-remote"));
}

/// One shape for what programs read: an object with a version, times in milliseconds, errors as objects.
#[test]
fn every_answer_for_programs_has_one_shape() {
    let home = Home::new();
    home.configure(&format!("[memory]\nenabled = false\n{}", server("one", &[])));
    home.run(&["tools", "--names"]).ok();
    home.run(&["grant", "--principal", "ann", "--server", "one"]).ok();
    home.run(&["token", "create", "laptop"]).ok();
    for command in [
        &["servers"][..],
        &["tools"],
        &["tools", "--names"],
        &["tools", "search", "echo"],
        &["call", "echo", "text=x"],
        &["manifest"],
        &["token", "list"],
        &["access"],
        &["access", "--principal", "ann", "--server", "one", "--tool", "echo"],
        &["approvals", "list"],
        &["callbacks", "list"],
        &["audit", "query"],
        &["audit", "verify"],
        &["audit", "stats"],
        &["pins", "list"],
        &["pins", "show", "one", "echo"],
        &["pins", "review"],
        &["registry", "registered"],
        &["import", "--dry-run"],
        &["connect", "cursor", "--dry-run"],
        &["connect", "cursor"],
        &["disconnect", "cursor", "--dry-run"],
        &["disconnect", "cursor"],
        &["doctor"],
        &["revoke", "--principal", "ann", "--server", "one"],
        &["token", "revoke", "laptop"],
        &["remove", "one"],
    ] {
        let ran = home.run(&[command, &["--json"]].concat());
        let answer = ran.json();
        assert!(answer.is_object() && answer["schema_version"].is_u64(), "{command:?}: {ran:?}");
        each_time(&answer, &mut |key, time| {
            let digits = time.split('.').nth(1).map(|rest| rest.trim_end_matches('Z').len());
            assert!(command[0] == "audit" || digits == Some(3), "{command:?} {key}: {time}");
        });
    }
    for (command, code) in
        [(&["call", "nope"][..], 1), (&["pins", "show", "one", "nope"], 1), (&["tools", "--server", "nope"], 2)]
    {
        let ran = home.run(&[command, &["--json"]].concat());
        let error = ran.json()["error"].clone();
        assert!(error["message"].as_str().is_some_and(|text| !text.is_empty()), "{command:?}: {ran:?}");
        assert_eq!(
            (error["exit_code"].as_i64(), ran.code.map(i64::from)),
            (ran.code.map(i64::from), ran.code.map(i64::from))
        );
        assert!(ran.code == Some(code) || ran.code == Some(2), "{command:?}: {ran:?}");
    }
}

/// Calls back for every member that is called as a time and is a text.
fn each_time(value: &serde_json::Value, found: &mut impl FnMut(&str, &str)) {
    match value {
        serde_json::Value::Object(members) => {
            for (key, value) in members {
                if let (true, Some(text)) = (key.ends_with("_at"), value.as_str()) {
                    found(key, text);
                }
                each_time(value, found);
            }
        }
        serde_json::Value::Array(items) => items.iter().for_each(|item| each_time(item, found)),
        _ => {}
    }
}
