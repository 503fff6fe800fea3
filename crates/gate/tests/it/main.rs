//! The gate in surroundings that a test makes: no kernel, no socket, no store, and a server that nobody has started.

mod steps;
mod world;
