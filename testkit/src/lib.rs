//! Test doubles and harnesses, for development only.
