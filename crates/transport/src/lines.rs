//! Lines over byte streams.
