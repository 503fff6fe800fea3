//! Messages, tool definitions and results.
