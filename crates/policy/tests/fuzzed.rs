//! Strange text: schemas with values, and paths.

use switchboard_policy::path::{self, Scope};
use switchboard_policy::schema::Schema;
use switchboard_testkit::fuzzing::fuzz;
use switchboard_wire::{Limits, Raw};

#[test]
fn fuzz_schemas() {
    fuzz("schemas", |bytes| {
        // The schema in the first line, what is held to it in the rest.
        let at = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
        let (schema, value) = bytes.split_at(at);
        let Ok(schema) = Raw::parse(schema.to_vec(), &Limits::default()) else { return };
        let schema = Schema::read(&schema);
        if let Ok(value) = Raw::parse(value.to_vec(), &Limits::default()) {
            let _ = schema.check(&value);
        }
    });
}

#[test]
fn fuzz_paths() {
    let scope = Scope::new(&["/project/**", "/tmp/**"], &["**/.env"], "/project");
    fuzz("paths", |bytes| {
        if path::check_bytes(&scope, bytes, &|_| None).is_ok() {
            let text = std::str::from_utf8(bytes).expect("what passes is text");
            assert!(!text.contains('\0'));
        }
    });
}
