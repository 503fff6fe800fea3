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
        for command in [&["servers"][..], &["stdio"], &["serve"], &["tools"], &["call", "x"]] {
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
