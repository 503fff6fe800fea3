//! Strange text: the configuration, and the files of other programs that are imported.

use std::path::Path;

use switchboard_config::{Client, Config, Environment, read_client_file};
use switchboard_testkit::fuzzing::fuzz;

#[test]
fn fuzz_configuration() {
    let environment: Environment = [("HOME", "/home/user"), ("TOKEN", "t")].into_iter().collect();
    fuzz("configuration", |bytes| {
        // The TOML parser's recovery from faults in inline tables takes time that grows with the square of their length.
        let text = String::from_utf8_lossy(bytes.get(..8 << 10).unwrap_or(bytes));
        if let Ok(config) = Config::parse(Path::new("mgp.toml"), &text, &environment) {
            // What is wrong can be told.
            assert!(config.errors().all(|error| !error.to_string().is_empty()));
        }
    });
}

#[test]
fn fuzz_client_files() {
    fuzz("client_files", |bytes| {
        let text = String::from_utf8_lossy(bytes);
        for client in Client::ALL {
            let _ = read_client_file(client, Path::new("file"), &text);
        }
    });
}
