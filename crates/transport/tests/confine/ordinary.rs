//! What ordinary programs can still do.
