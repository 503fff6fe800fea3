//! The typed views against messages of every revision.

mod fuzzed;
mod round_trip;
mod shapes;
