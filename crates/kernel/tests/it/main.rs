//! The kernel between real connections: clients and servers of both eras over loopback HTTP.

mod bridging;
mod changes;
mod flow;
mod gate;
mod intent;
mod lifecycle;
mod manifest;
mod many;
mod ownership;
mod recovery;
mod shapes;
mod steps;
mod superset;
mod tasks;
mod wire;
mod world;
