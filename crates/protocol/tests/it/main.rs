//! The typed views against messages of every revision.

mod round_trip;
mod shapes;
