//! What the crate promises, through its public face.

#[cfg(test)]
mod edit;
#[cfg(test)]
mod errors;
#[cfg(test)]
mod fuzzed;
#[cfg(test)]
mod import;
#[cfg(test)]
mod load;
#[cfg(test)]
mod read;
