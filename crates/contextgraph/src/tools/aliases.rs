//! Other names of tools, for programs that know them by an older one. All of them are in this one table.

use std::collections::BTreeSet;

/// An alias and the name it stands for.
pub const ALIASES: [(&str, &str); 3] = [
    ("discover_goals", "discover_sub_goals"),
    ("consolidate_memories", "trigger_consolidation"),
    ("gwt/compute_delta_sc", "compute_delta_sc"),
];

/// The name of the tool that `name` stands for: itself, unless it is an alias. Case counts.
#[must_use]
#[inline]
pub fn resolve(name: &str) -> &str {
    ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, canonical)| canonical)
}

/// The aliases of a tool.
#[must_use]
pub fn of(canonical: &str) -> Vec<&'static str> {
    ALIASES.iter().filter(|(_, name)| *name == canonical).map(|(alias, _)| *alias).collect()
}

/// Why a table of aliases cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Collision {
    /// It is the name of a tool.
    #[error("the alias {0:?} is the name of a tool")]
    Canonical(String),
    /// It stands for two tools.
    #[error("the alias {0:?} is there twice")]
    Twice(String),
    /// It stands for an alias.
    #[error("the alias {0:?} stands for another alias")]
    Circular(String),
    /// It stands for nothing.
    #[error("the alias {0:?} stands for {1:?}, which is no tool")]
    Unknown(String, String),
}

/// Checks a table of aliases against the names of tools.
///
/// # Errors
/// The first alias that cannot be used.
pub fn check(aliases: &[(&str, &str)], canonical: &BTreeSet<&str>) -> Result<(), Collision> {
    let mut seen = BTreeSet::new();
    for (alias, target) in aliases {
        if canonical.contains(alias) {
            return Err(Collision::Canonical((*alias).to_owned()));
        }
        if !seen.insert(*alias) {
            return Err(Collision::Twice((*alias).to_owned()));
        }
        if aliases.iter().any(|(other, _)| other == target) {
            return Err(Collision::Circular((*alias).to_owned()));
        }
        if !canonical.contains(target) {
            return Err(Collision::Unknown((*alias).to_owned(), (*target).to_owned()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_resolve_and_nothing_else_does() {
        for (alias, canonical) in ALIASES {
            assert_eq!(resolve(alias), canonical);
            assert_eq!(of(canonical), [alias]);
        }
        for name in ["discover_sub_goals", "Discover_Goals", "DISCOVER_GOALS", "nonexistent_tool", ""] {
            assert_eq!(resolve(name), name);
        }
        assert!(of("store_memory").is_empty());
    }

    #[test]
    fn the_table_has_no_collision_and_others_would_be_found() {
        let specs = crate::tools::all();
        let names: BTreeSet<&str> = specs.iter().map(|spec| spec.name).collect();
        assert_eq!(check(&ALIASES, &names), Ok(()));
        let names = BTreeSet::from(["a", "b"]);
        assert_eq!(check(&[("a", "b")], &names), Err(Collision::Canonical("a".to_owned())));
        assert_eq!(check(&[("x", "a"), ("x", "b")], &names), Err(Collision::Twice("x".to_owned())));
        assert_eq!(check(&[("x", "y"), ("y", "x")], &names), Err(Collision::Circular("x".to_owned())));
        assert_eq!(check(&[("x", "c")], &names), Err(Collision::Unknown("x".to_owned(), "c".to_owned())));
    }
}
