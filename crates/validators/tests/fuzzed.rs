//! Strange text for every judge: it answers within its bounds and never by a panic.

use switchboard_policy::permission::Scope;
use switchboard_protocol::mgp::security::ToolSecurity;
use switchboard_testkit::fuzzing::fuzz;
use switchboard_validators::arguments::{Checks, NoWorld};
use switchboard_validators::code::{self, Language, Level};
use switchboard_validators::screen::{self, Layer};
use switchboard_validators::{arguments, network, shell};
use switchboard_wire::{Edit, Limits, Raw};

#[test]
fn fuzz_commands() {
    fuzz("shell", |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let _ = shell::check(&text);
        let _ = shell::readonly(&text);
    });
}

#[test]
fn fuzz_python() {
    fuzz("python", |bytes| {
        let _ = code::check(Language::Python, Level::Standard, &String::from_utf8_lossy(bytes));
    });
}

#[test]
fn fuzz_javascript() {
    fuzz("javascript", |bytes| {
        let _ = code::check(Language::JavaScript, Level::Standard, &String::from_utf8_lossy(bytes));
    });
}

#[test]
fn fuzz_statements() {
    fuzz("sql", |bytes| {
        let text = String::from_utf8_lossy(bytes);
        // What may be written may be read: with the wider right nothing is refused that the narrower one allows.
        if arguments::check_statement(&text, true).is_ok() {
            assert!(arguments::check_statement(&text, false).is_ok());
        }
    });
}

#[test]
fn fuzz_addresses() {
    fuzz("addresses", |bytes| {
        let _ = network::check(&String::from_utf8_lossy(bytes), None);
    });
}

#[test]
fn fuzz_definitions() {
    fuzz("definitions", |bytes| {
        let _ = screen::message(bytes.to_vec(), Layer::Schema);
        if let Ok(definition) = Raw::parse(bytes.to_vec(), &Limits::default()) {
            let _ = screen::tool(&definition);
        }
        let _ = screen::result(&String::from_utf8_lossy(bytes));
    });
}

/// Whether a text passes under a key, with a limit of paths.
fn passes(checks: &Checks, key: &str, text: &str) -> bool {
    let call = Edit::empty().set(key, Raw::string(text)).finish();
    arguments::check(checks, &call, &NoWorld).is_ok()
}

fn limited() -> Checks {
    let scope = Raw::parse(br#"{"paths": ["/srv/ok/**", "/srv/ok"]}"#.to_vec(), &Limits::default()).expect("JSON");
    Checks::new(&[], &ToolSecurity::default(), &[Scope::read(&scope).expect("a scope")], "/srv/ok")
}

#[test]
fn fuzz_patches() {
    let checks = limited();
    fuzz("patches", |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let _ = passes(&checks, "patch", &text);
        // Whatever stands in front of a header, it is found.
        let outside = format!("{text}\n--- /etc/passwd\n+++ /etc/passwd\n@@ -1 +1 @@\n-a\n+b\n");
        assert!(!passes(&checks, "patch", &outside));
        assert!(!passes(&checks, "changes", &outside));
    });
}

#[test]
fn fuzz_documents() {
    let checks = limited();
    fuzz("documents", |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let _ = passes(&checks, "config", &text);
        assert!(!passes(&checks, "config", &format!("{text}\npath: /etc/passwd\n")));
    });
}
