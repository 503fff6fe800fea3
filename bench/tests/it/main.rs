//! The binaries against each other, as a user runs them.

mod compare;
mod load;
mod servers;
