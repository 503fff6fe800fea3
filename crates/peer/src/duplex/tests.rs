//! Behaviour of a connection, seen from its far side.
