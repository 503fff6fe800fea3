//! What the crate promises, through its public face.

mod edit;
mod errors;
mod import;
mod load;
mod read;
