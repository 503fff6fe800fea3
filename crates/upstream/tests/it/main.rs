//! One server and a scripted holder: no kernel, no socket, and time that passes when nobody has anything to do.

mod supervision;
mod world;
