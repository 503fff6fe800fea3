//! The world of the tests of the gate.

#[path = "../it/gate/world.rs"]
pub(crate) mod world;
