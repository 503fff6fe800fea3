//! What runs over time: streams, events, questions of servers, and how refusals are told.

mod callbacks;
mod errors;
mod events;
mod streams;
mod wire;
mod world;
