//! OAuth against a scripted resource, its authorization servers, and a person with a browser, all on real sockets.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod connection;
mod person;
mod trust;
mod world;
