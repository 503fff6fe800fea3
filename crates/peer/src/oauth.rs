//! Getting a token for a server that asks for one: OAuth 2.1 as MCP uses it.
