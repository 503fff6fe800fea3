//! What of an event can be searched, and in which form.

use std::borrow::Cow;

/// The form in which a part can be searched: short enough for an index, and without NUL, which PostgreSQL has no text
/// for. The event itself keeps every character.
pub(crate) fn searchable(text: &str) -> Cow<'_, str> {
    const MAX_SEARCHED_CHARS: usize = 512;
    if text.len() <= MAX_SEARCHED_CHARS && !text.as_bytes().contains(&0) {
        return text.into();
    }
    let mut short: String = text.chars().filter(|letter| *letter != '\0').collect();
    short.truncate(short.floor_char_boundary(MAX_SEARCHED_CHARS));
    short.into()
}

/// The parts of an event that can be searched. Verification compares them with the event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Columns<'a> {
    pub(crate) event_type: Cow<'a, str>,
    pub(crate) actor: Cow<'a, str>,
    pub(crate) server: Option<Cow<'a, str>>,
    pub(crate) tool: Option<Cow<'a, str>>,
    pub(crate) trace: Option<Cow<'a, str>>,
    pub(crate) result: Cow<'a, str>,
}
