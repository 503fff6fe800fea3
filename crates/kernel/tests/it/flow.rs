//! What runs over time: streams, events, questions of servers, and how refusals are told.

mod answers;
mod callbacks;
mod errors;
mod events;
mod gateway;
mod in_flight;
mod joints;
mod open_questions;
mod resumed;
mod streams;
mod wire;
pub(crate) mod world;
