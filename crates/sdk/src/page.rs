//! Pages of a list.
//!
//! A cursor names the last entry that was sent and where it stood, so that entries added or removed between two pages
//! shift nothing unless the named entry itself is gone.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use indexmap::IndexMap;

/// The entries of one page and the cursor of the next. `None`: the cursor is not one of ours.
pub(crate) fn page<'a, V>(
    entries: &'a IndexMap<String, V>,
    cursor: Option<&str>,
    size: usize,
) -> Option<(Vec<&'a V>, Option<String>)> {
    let start = match cursor {
        None => 0,
        Some(cursor) => {
            let bytes = URL_SAFE_NO_PAD.decode(cursor).ok()?;
            let text = String::from_utf8(bytes).ok()?;
            let (position, key) = text.split_once(' ')?;
            let position: usize = position.parse().ok()?;
            entries.get_index_of(key).map_or(position, |index| index + 1)
        }
    };
    let end = start.saturating_add(size.max(1)).min(entries.len());
    let values = entries.values().skip(start).take(size.max(1)).collect();
    let next = (end < entries.len())
        .then(|| entries.get_index(end - 1))
        .flatten()
        .map(|(key, _)| URL_SAFE_NO_PAD.encode(format!("{} {key}", end - 1)));
    Some((values, next))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(entries: &IndexMap<String, u32>, size: usize) -> Vec<u32> {
        let mut seen = Vec::new();
        let mut cursor = None;
        loop {
            let (values, next) = page(entries, cursor.as_deref(), size).expect("our own cursor");
            seen.extend(values.into_iter().copied());
            match next {
                Some(next) => cursor = Some(next),
                None => return seen,
            }
        }
    }

    #[test]
    fn every_entry_once() {
        for count in 0..12u32 {
            let entries: IndexMap<_, _> = (0..count).map(|n| (format!("entry {n}"), n)).collect();
            for size in 1..14 {
                assert_eq!(all(&entries, size), (0..count).collect::<Vec<_>>(), "{count} by {size}");
            }
        }
    }

    #[test]
    fn a_removed_entry_skips_none_of_the_others() {
        let mut entries: IndexMap<_, _> = (0..6u32).map(|n| (n.to_string(), n)).collect();
        let (_, next) = page(&entries, None, 2).expect("first page");
        entries.shift_remove("0");
        let (values, _) = page(&entries, next.as_deref(), 2).expect("second page");
        assert_eq!(values, [&2, &3]);
        entries.shift_remove("1");
        let (values, _) = page(&entries, next.as_deref(), 2).expect("second page again");
        assert!(values.contains(&&3), "{values:?}");
    }

    #[test]
    fn foreign_cursors() {
        let entries: IndexMap<_, _> = [("a".to_owned(), 1)].into();
        for cursor in ["", "!!", "YQ", "LTEgYQ"] {
            assert!(page(&entries, Some(cursor), 2).is_none(), "{cursor:?}");
        }
        let past = URL_SAFE_NO_PAD.encode(format!("{} gone", usize::MAX));
        assert_eq!(page(&entries, Some(&past), 2), Some((vec![], None)));
    }
}
