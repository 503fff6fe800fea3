//! The kernel between real connections: clients and servers of both eras over loopback HTTP.

mod bridging;
mod changes;
mod many;
mod superset;
mod tasks;
mod world;
