//! What the right to a call rests on besides its tool: those on whose behalf it is made, and the limits that its arguments
//! are within.
//!
//! A call that goes on keeps both, to be judged again when grants, permissions or settings change. Arguments are kept in
//! memory only, and only for as long as the call runs. Where they are not at hand any more, other limits than those that
//! the call was judged by mean that it does not go on.

use std::sync::Arc;

use serde_json::Value;
use switchboard_wire::Object;

/// What the right to one call rests on.
#[derive(Debug, Clone, Default)]
pub struct CallAuthority {
    /// Those on whose behalf it is made, in their order, the caller last; nobody where it is the caller's own.
    pub chain: Arc<[String]>,
    /// Names the limits that it was judged by; empty where there were none.
    pub limits: String,
    /// What it was called with, while that is at hand.
    pub params: Option<Object>,
}

impl CallAuthority {
    /// The same as a text that outlives the process; empty where nothing is to be remembered.
    #[must_use]
    pub fn to_text(&self) -> String {
        if self.chain.is_empty() {
            return self.limits.clone();
        }
        let names = std::iter::once(&self.limits).chain(self.chain.iter());
        Value::from_iter(names.map(String::as_str)).to_string()
    }

    /// What such a text says.
    #[must_use]
    pub fn from_text(text: &[u8]) -> Self {
        let text = String::from_utf8_lossy(text);
        match serde_json::from_str::<Vec<String>>(&text) {
            Ok(mut names) if !names.is_empty() => {
                let limits = names.remove(0);
                Self { chain: names.into(), limits, params: None }
            }
            _ => Self { limits: text.into_owned(), ..Self::default() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_outlives_the_process_is_read_as_it_was_written() {
        for (chain, limits) in [(&[][..], ""), (&[], "ab12"), (&["ann", "b\"o\nb"], ""), (&["ann", "bob"], "ab12")] {
            let chain: Arc<[String]> = chain.iter().map(|name| (*name).to_owned()).collect();
            let written = CallAuthority { chain: chain.clone(), limits: limits.to_owned(), params: None };
            let read = CallAuthority::from_text(written.to_text().as_bytes());
            assert_eq!((read.chain, read.limits.as_str()), (chain, limits));
        }
    }
}
