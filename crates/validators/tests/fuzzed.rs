//! Strange text for every judge: it answers within its bounds and never by a panic.

use switchboard_testkit::fuzzing::fuzz;
use switchboard_validators::code::{self, Language, Level};
use switchboard_validators::screen::{self, Layer};
use switchboard_validators::{arguments, network, shell};
use switchboard_wire::{Limits, Raw};

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
