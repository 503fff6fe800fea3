//! Servers, sessions, routing: the heart of Switchboard.
