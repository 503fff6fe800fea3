//! For authors of MCP servers.
