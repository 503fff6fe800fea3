//! The table, indexed by program when it is first needed, and an operator's lines in front of it.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, OnceLock};

use super::line::{self, Line, OptionIndex, UnreadableLine};

const TABLE: [&str; 8] = [
    include_str!("a-b.txt"),
    include_str!("c-d.txt"),
    include_str!("e-g.txt"),
    include_str!("h-m.txt"),
    include_str!("n-r.txt"),
    include_str!("s-z.txt"),
    include_str!("wrappers.txt"),
    include_str!("options.txt"),
];

/// The lines of each program, and the sets of options.
#[derive(Default)]
struct Index {
    lines: HashMap<&'static str, Vec<Line<'static>>>,
    sets: HashMap<&'static str, &'static str>,
    /// The options of each line by their names, read when they are first needed.
    options: Vec<(Line<'static>, OnceLock<OptionIndex>)>,
}

static INDEX: LazyLock<Index> = LazyLock::new(|| {
    let mut index = Index::default();
    for line in TABLE.iter().flat_map(|part| part.lines()).filter(|line| !line.starts_with('#')) {
        if let Some((name, options)) = line.strip_prefix('$').and_then(|set| set.split_once(' ')) {
            index.sets.insert(name, options);
        } else if let Ok(line) = Line::read(line) {
            let line = line.numbered(index.options.len());
            index.options.push((line, OnceLock::new()));
            for name in line.names.split('|') {
                index.lines.entry(name).or_default().push(line);
            }
        }
    }
    index
});

/// What is understood: the table, and what the operator adds to it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Understood {
    added: Arc<[String]>,
}

impl Understood {
    /// The table with lines of an operator.
    ///
    /// ```
    /// use switchboard_validators::shell::{self, Understood};
    /// let own = Understood::with(&["read stock list --json".to_owned()])?;
    /// assert!(shell::check_with("stock list --json", &own).is_ok());
    /// assert!(shell::check("stock list --json").is_err());
    /// # Ok::<(), shell::UnreadableLine>(())
    /// ```
    ///
    /// # Errors
    /// A line cannot be read.
    pub fn with(lines: &[String]) -> Result<Self, UnreadableLine> {
        lines.iter().try_for_each(|line| Line::read(line.trim()).map(|_| ()))?;
        Ok(Self { added: lines.iter().map(|line| line.trim().to_owned()).collect() })
    }

    pub(super) fn has(&self, program: &str) -> bool {
        self.lines(program).next().is_some()
    }

    pub(super) fn lines<'a>(&'a self, program: &'a str) -> impl Iterator<Item = Line<'a>> + 'a {
        let own = self.added.iter().filter_map(|line| Line::read(line).ok());
        let own = own.filter(move |line| line.names.split('|').any(|name| name == program));
        own.chain(INDEX.lines.get(program).into_iter().flatten().copied())
    }
}

/// Whether the table has a program of this name.
pub(super) fn has(program: &str) -> bool {
    INDEX.lines.contains_key(program)
}

/// The options of a line of the table by their names.
pub(super) fn option_index(number: usize) -> Option<&'static OptionIndex> {
    let (line, index) = INDEX.options.get(number)?;
    Some(index.get_or_init(|| line::index_of(line, &INDEX.sets)))
}

/// A set of options that several commands have.
pub(super) fn options(set: &str) -> Option<&'static str> {
    INDEX.sets.get(set).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_can_be_read_and_every_set_of_options_is_there() {
        let is_line = |line: &&str| !line.is_empty() && !line.starts_with(['#', '$']);
        for line in TABLE.iter().flat_map(|part| part.lines()).filter(is_line) {
            if let Err(fault) = Line::read(line) {
                panic!("{fault}");
            }
            for word in line.split_ascii_whitespace().filter_map(|word| word.strip_prefix('$')) {
                assert!(INDEX.sets.contains_key(word), "{word} in {line}");
            }
        }
        let programs = INDEX.lines.len();
        assert!(programs >= 2_000, "{programs}");
    }

    #[test]
    fn lines_that_cannot_be_read_are_said() {
        for line in ["", "read", "run ls", "read -l", "read ls @all", "read ls -l file", "read /bin/ls"] {
            assert!(Understood::with(&[line.to_owned()]).is_err(), "{line}");
        }
    }
}
