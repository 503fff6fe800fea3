//! The steps of the gate that look at scopes, schemas, results and traces, between real connections.

mod results;
mod schema;
mod scopes;
mod traces;
mod world;
