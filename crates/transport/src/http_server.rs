//! The HTTP listener: limits and checks before anything is parsed.
