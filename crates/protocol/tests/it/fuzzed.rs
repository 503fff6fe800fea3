//! Strange bytes: values of headers, and the schemas that ask for them.

use switchboard_protocol::mcp::header::{ParamHeaders, decode, encode};
use switchboard_testkit::fuzzing::fuzz;
use switchboard_wire::{Limits, Raw};

#[test]
fn fuzz_header_values() {
    fuzz("header_values", |bytes| {
        let _ = decode(bytes);
        if let Ok(text) = std::str::from_utf8(bytes) {
            let value = encode(text);
            assert!(value.bytes().all(|byte| (0x20..0x7f).contains(&byte)));
            assert_eq!(decode(value.as_bytes()).as_deref(), Some(text));
        }
        if let Ok(schema) = Raw::parse(bytes.to_vec(), &Limits::default()) {
            let _ = ParamHeaders::of(&schema);
        }
    });
}
