//! Connections to servers: the era probe, the handshake, streamable HTTP and HTTP+SSE.
