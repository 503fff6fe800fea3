//! Figures that take a machine of their own: apart from the other tests, which hold to the clock.
#![allow(clippy::unwrap_used, dead_code, reason = "the worlds of the other tests, of which this needs a part")]

mod gate;
mod streams;
#[path = "../it/flow/world.rs"]
mod world;
