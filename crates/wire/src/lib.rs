//! JSON-RPC 2.0 messages, lossless: envelope, raw members, framing, limits.
