//! The gate: what it refuses, whom it asks, and what it puts on record.

mod audit;
mod confirm;
mod lists;
mod negotiation;
mod permissions;
mod pins;
mod revoke;
mod traps;
mod validators;
mod world;
