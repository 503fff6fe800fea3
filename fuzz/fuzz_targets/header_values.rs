//! What is put into a header comes out again, and any value can be looked at.
#![no_main]

use libfuzzer_sys::fuzz_target;
use switchboard_protocol::mcp::header::{ParamHeaders, decode, encode};
use switchboard_wire::{Limits, Raw};

fuzz_target!(|bytes: &[u8]| {
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
