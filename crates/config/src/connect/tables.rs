//! One table of servers in a TOML text: taken out and put back, with everything else left as it is.

use toml_edit::{DocumentMut, Item, Table};

use super::{ConnectEditError, read_toml};

/// The text without an entry, and what stood there; `None` where there is none of this name.
pub(super) fn without(
    text: &str,
    section: &'static str,
    name: &str,
) -> Result<Option<(String, String)>, ConnectEditError> {
    let mut rest = read_toml(text)?;
    let servers = rest.get_mut(section).and_then(Item::as_table_like_mut);
    let Some(gone) = servers.and_then(|servers| servers.remove(name)) else { return Ok(None) };
    // The lines themselves, where that comes to the same: what stands around them stays.
    let (kept, cut) = split(text, section, name);
    if let Ok(kept_document) = kept.parse::<DocumentMut>()
        && is_same(kept_document.as_item(), rest.as_item())
        && let Ok(cut_document) = cut.parse::<DocumentMut>()
        && cut_document.get(section).and_then(|servers| servers.get(name)).is_some_and(|entry| is_same(entry, &gone))
    {
        return Ok(Some((kept, cut)));
    }
    let mut own = DocumentMut::new();
    let mut table = Table::new();
    table.set_implicit(true);
    table.insert(name, gone);
    own.insert(section, Item::Table(table));
    Ok(Some((rest.to_string(), own.to_string())))
}

/// The text with an entry as it was written; `None` where there is one of this name.
pub(super) fn with_text(
    text: &str,
    section: &'static str,
    name: &str,
    entry: &str,
) -> Result<Option<String>, ConnectEditError> {
    let mut document = read_toml(text)?;
    if document.get(section).and_then(|servers| servers.get(name)).is_some() {
        return Ok(None);
    }
    let gap = if text.trim().is_empty() { "" } else { "\n" };
    let appended = format!("{}{gap}{}", terminated(text), terminated(entry));
    if appended.parse::<DocumentMut>().is_ok_and(|document| document[section].get(name).is_some()) {
        return Ok(Some(appended));
    }
    // The servers are written in another way: as a member among them.
    let mut own = read_toml(entry)?;
    let missing = || ConnectEditError::Unreadable(format!("the entry {name:?} cannot be put back"));
    let gone = own.get_mut(section).and_then(Item::as_table_like_mut).and_then(|own| own.remove(name));
    let servers = document.get_mut(section).and_then(Item::as_table_like_mut).ok_or_else(missing)?;
    let gone = gone.ok_or_else(missing)?;
    let inline = gone.clone().into_value().map(Item::Value).unwrap_or(gone);
    servers.insert(name, inline);
    Ok(Some(document.to_string()))
}

fn terminated(text: &str) -> String {
    if text.is_empty() || text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") }
}

/// The lines that are not of this entry's tables, and those that are.
fn split(text: &str, section: &str, name: &str) -> (String, String) {
    let (mut kept, mut cut, mut waiting) = (String::new(), String::new(), String::new());
    let mut inside = false;
    for line in text.split_inclusive('\n') {
        let bare = line.trim();
        if bare.starts_with('[') {
            inside = bare.parse::<DocumentMut>().is_ok_and(|header| {
                header.get(section).and_then(Item::as_table).is_some_and(|servers| servers.contains_key(name))
            });
        }
        // Comments and blanks belong to what comes after them, unless the table goes on.
        if inside && !bare.is_empty() && !bare.starts_with('#') {
            if bare.starts_with('[') {
                kept.push_str(&std::mem::take(&mut waiting));
            }
            cut.push_str(&std::mem::take(&mut waiting));
            cut.push_str(line);
        } else if inside {
            waiting.push_str(line);
        } else {
            kept.push_str(&std::mem::take(&mut waiting));
            kept.push_str(line);
        }
    }
    (kept + &waiting, cut)
}

/// Whether two items say the same, however they are written.
fn is_same(one: &Item, other: &Item) -> bool {
    if let (Some(one), Some(other)) = (one.as_array_of_tables(), other.as_array_of_tables()) {
        let same = |(one, other): (&Table, &Table)| is_same_table(one, other);
        return one.len() == other.len() && one.iter().zip(other.iter()).all(same);
    }
    match (one.as_table_like(), other.as_table_like()) {
        (Some(one), Some(other)) => is_same_table(one, other),
        (None, None) => one.to_string().trim() == other.to_string().trim(),
        _ => false,
    }
}

fn is_same_table(one: &dyn toml_edit::TableLike, other: &dyn toml_edit::TableLike) -> bool {
    // A table that is left with nothing in it says nothing.
    let says = |(_, item): &(&str, &Item)| item.as_table_like().is_none_or(|table| !table.is_empty());
    let has = |(key, item): (&str, &Item)| other.get(key).is_some_and(|other| is_same(item, other));
    let count = |table: &dyn toml_edit::TableLike| table.iter().filter(says).count();
    count(one) == count(other) && one.iter().filter(says).all(has)
}
