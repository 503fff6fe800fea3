//! Any bytes are either a message that is written as it was read, or refused; and JSON is what `serde_json` says it is.
#![no_main]

use libfuzzer_sys::fuzz_target;
use switchboard_wire::{Edit, Incoming, Limits, Message, Object, Raw, RefusalKind};

fuzz_target!(|bytes: &[u8]| {
    let limits = Limits::default();
    let _ = Incoming::parse(bytes.to_vec(), &limits);
    if let Ok(message) = Message::parse(bytes.to_vec(), &limits) {
        let encoded = message.encode();
        assert!(!encoded.contains(&b'\n'));
        let again = Message::parse(encoded.clone(), &limits).expect("what was written can be read");
        assert_eq!(again.encode(), encoded);
    }
    match Raw::parse(bytes.to_vec(), &limits) {
        Ok(raw) => {
            assert!(serde_json::from_slice::<&serde_json::value::RawValue>(bytes).is_ok());
            if let Ok(object) = Object::open(&raw) {
                let edited = Edit::of(&raw).expect("it opened before").set("new", Raw::number(1)).finish();
                let edited = Raw::parse(edited.bytes().clone(), &limits).expect("an edit is valid");
                assert_eq!(
                    Object::open(&edited).expect("an object").len(),
                    object.len() + usize::from(!object.has("new"))
                );
            }
        }
        Err(refusal) if matches!(refusal.kind, RefusalKind::Syntax | RefusalKind::Trailing | RefusalKind::Unicode) => {
            assert!(serde_json::from_slice::<serde_json::Value>(bytes).is_err());
        }
        Err(_) => {}
    }
});
