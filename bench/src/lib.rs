//! Load generator, echo upstream, null proxy and the comparison run.
