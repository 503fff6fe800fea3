//! A connection that carries messages both ways over one pair of byte streams.
