//! Bytes in and out: stdio, child processes, HTTP client and server.
