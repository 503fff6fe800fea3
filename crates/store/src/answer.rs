//! The shape of every asynchronous answer of the store: boxed, so that the traits can be used as objects.

use std::pin::Pin;

use crate::StoreError;

/// A future of the store. Dropping it does not undo a write that was already queued.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;
