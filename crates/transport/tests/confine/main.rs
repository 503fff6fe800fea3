//! Confined processes: what holds them, checked by attempts to get out, and what ordinary programs can still do.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::print_stdout, reason = "what was skipped is said")]

mod attempts;
mod escapes;
mod ordinary;
mod refusals;
mod scene;
