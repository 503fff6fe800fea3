//! The faces that clients connect to: streamable HTTP in both eras, and HTTP+SSE.

pub mod http;
