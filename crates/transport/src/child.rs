//! Child processes that speak on their standard streams.
