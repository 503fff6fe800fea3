//! Test doubles and harnesses, for development only: no crate depends on this outside its tests.

pub mod effort;
pub mod faulty;
pub mod fuzzing;
#[cfg(target_os = "linux")]
pub mod hostile;
pub mod model;
pub mod streamer;
