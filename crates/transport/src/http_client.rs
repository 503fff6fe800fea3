//! HTTP requests to servers, plain and streaming.
