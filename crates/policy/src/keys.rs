//! What the keys of arguments say of what stands under them: one table of words (`keys.txt`) for all who judge arguments.
//!
//! A key is words (`outputDir`, `output_dir`). Most say what they mean with their last one, some with any of them or only as
//! a whole; each mark says which words it is asked of. Who asks decides what follows.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use crate::risk::fallback;

/// The table as it is kept.
const TABLE: &str = include_str!("keys.txt");

macro_rules! marks {
    ($($(#[$about:meta])* $name:ident = $text:literal,)*) => {
        /// What a word of the table says in a key.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Mark {
            $($(#[$about])* $name,)*
        }

        impl Mark {
            const ALL: &[(&str, Self)] = &[$(($text, Self::$name),)*];
        }
    };
}

marks! {
    // What a string is (`key_role`): the last word, or where the table says `=`, the whole key.
    /// A command line, or the words of one.
    Command = "command",
    /// Several command lines.
    Commands = "commands",
    /// The words behind a command that stands elsewhere.
    CommandWords = "command_words",
    /// A command or a program.
    Script = "script",
    /// Code.
    Code = "code",
    /// Text that may be code.
    Content = "content",
    /// A path.
    Path = "path",
    /// A branch, a commit or the like.
    Reference = "reference",
    /// A URL.
    Url = "url",
    /// A host.
    Host = "host",
    /// Something that may be fetched.
    Link = "link",
    /// Text for people.
    Prose = "prose",
    /// The method of an HTTP request.
    Method = "method",
    /// An SQL statement.
    Sql = "sql",
    /// A search, in words or in a language for queries.
    Query = "query",
    /// Names or counts something, so that a number is no address.
    Counted = "counted",
    /// The words of a command, also where they are written as one.
    Args = "args",

    // Which strings are paths: the last word, unless something else is said.
    /// A place in most tools.
    Place = "place",
    /// A place in some tools; in others a city, a currency, a format, a person.
    PerhapsPlace = "perhaps_place",
    /// A name of something that is no file, also with a dot in it.
    Label = "label",
    /// A reference that is also the end of a link or a copy.
    LinkEnd = "link_end",
    /// A pattern for names.
    Pattern = "pattern",
    /// An expression for what stands in files.
    Contents = "contents",
    /// Any word: what is not to be found.
    Excludes = "excludes",
    /// The text that a tool works on, besides prose.
    Body = "body",
    /// Says where something stands in a document.
    Expression = "expression",
    /// The whole key: a type of content, a zone of time.
    Pair = "pair",
    /// Any word: a patch.
    Patch = "patch",
    /// A list of files, which may be given by patterns.
    Files = "files",
    /// A document, also where nothing else is said of its text.
    Document = "document",
    /// Any word: to a tool for clusters, a resource if it says so itself.
    Resource = "resource",
    /// Any word: the same, part of a resource or of what one is made of.
    Spec = "spec",

    // Which strings are machines: the last word, unless something else is said.
    /// A machine in every tool.
    Machine = "machine",
    /// A machine in some tools.
    PerhapsMachine = "perhaps_machine",
    /// A machine, or somebody's mail or street.
    Address = "address",
    /// A machine where a port stands behind its name: `db1:5432`.
    WithPort = "with_port",
    /// The end of a word that is written together: `dbhost`.
    EndsMachine = "ends_machine",
    /// A word that ends so and is no machine.
    NoMachine = "no_machine",
    /// Stands behind the word that names a machine: `server_name`.
    Qualifies = "qualifies",
    /// In front of `address`: one that leads to no machine.
    NoNetwork = "no_network",
    /// The whole key, in a schema: its remotes and targets are those of git.
    OfGit = "of_git",
    /// Says something about a machine and does not name it.
    Setting = "setting",
    /// The whole name: stands beside a host in a connection string.
    BesideHost = "beside_host",
    /// Holds the value of the object it stands in.
    Value = "value",
    /// Chooses among things by their labels or columns.
    Selects = "selects",
    /// A number in hexadecimal that is no address.
    Digest = "digest",
    /// Any word, where the last one is `address`: the same.
    Ledger = "ledger",
    /// Names something that is no host.
    Names = "names",
    /// Any word: what is named is a host all the same.
    OfHost = "of_host",
    /// Any word of a name in a pair or an option: its value is a host.
    HostName = "host_name",

    // What belongs to a command.
    /// Any word: the words of a command.
    Words = "words",
    /// How, where and for whom a command runs.
    AboutRun = "about_run",
    /// Any word: a command, besides the keys that are one as a whole.
    Runs = "runs",
    /// The same where one word alone is a setting: `"shell": "bash"`.
    Shell = "shell",
    /// Tells something about a command.
    AboutCommand = "about_command",
    /// Says nothing where another word speaks of a command.
    WeakText = "weak_text",
    /// The program that runs a command.
    Runner = "runner",
    /// Behind it, and still says so.
    OfRunner = "of_runner",
    /// In an object about such a program: neither it nor its words.
    NoProgram = "no_program",
    /// Any word: what is run later.
    Later = "later",
    /// What is typed where it runs.
    Typed = "typed",
    /// Any word, or where the table says `=` the whole key beside a command: variables.
    Variables = "variables",
    /// The folder where a command runs.
    Folder = "folder",
    /// May stand in front of that.
    BeforeFolder = "before_folder",
    /// The whole key: what a command is sent.
    Input = "input",

    // What values that act may be: the last word, unless something else is said.
    /// A text, or what is searched for: a command in it is spoken of.
    Text = "text",
    /// What is run.
    Run = "run",
    /// Names something: it may begin like a command.
    Name = "name",
    /// Names of files, and patterns that find them.
    Finds = "finds",
    /// Behind `drop`: dropped as a whole.
    Dropped = "dropped",
    /// A text that names files as well.
    Title = "title",
    /// Any word: what a tool writes, also one that otherwise only looks.
    Written = "written",
    /// Chooses what is done.
    Chooses = "chooses",
    /// What sort something is.
    Sort = "sort",
    /// The whole key: throws something away where it is said yes to.
    Harms = "harms",
    /// The whole key: who gets copies from now on.
    Forwards = "forwards",
    /// The whole key: who gets to see something.
    Shows = "shows",
    /// The whole key: has people written to.
    WritesTo = "writes_to",
}

/// A set of marks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Marks(u128);

impl Marks {
    /// Whether a mark is among them.
    #[must_use]
    pub const fn has(self, mark: Mark) -> bool {
        self.0 >> mark as u32 & 1 == 1
    }

    fn add(&mut self, mark: Mark) {
        self.0 |= 1 << mark as u32;
    }
}

/// What is said by a word, and by a key that is nothing but this word or these words.
#[derive(Debug, Clone, Copy, Default)]
struct Row {
    word: Marks,
    whole: Marks,
}

static ROWS: LazyLock<HashMap<&'static str, Row>> = LazyLock::new(|| {
    let rows = TABLE.lines().filter(|line| !line.starts_with('#'));
    rows.filter_map(|line| line.split_once(' ')).map(|(word, marks)| (word, row(marks))).collect()
});

fn row(marks: &str) -> Row {
    let mut row = Row::default();
    for text in marks.split_whitespace() {
        let bare = text.trim_start_matches('=');
        let set = if bare.len() < text.len() { &mut row.whole } else { &mut row.word };
        Mark::ALL.iter().filter(|(name, _)| *name == bare).for_each(|(_, mark)| set.add(*mark));
    }
    row
}

/// What a word says wherever it stands in a key.
#[must_use]
pub fn of_word(word: &str) -> Marks {
    ROWS.get(word).copied().unwrap_or_default().word
}

/// The words that say this as whole keys.
pub fn marked(mark: Mark) -> impl Iterator<Item = &'static str> {
    ROWS.iter().filter(move |(_, row)| row.whole.has(mark)).map(|(word, _)| *word)
}

/// A key with its words apart, in small letters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key<'k> {
    whole: Cow<'k, str>,
}

impl<'k> Key<'k> {
    /// The words of a key.
    #[must_use]
    pub fn of(key: &'k str) -> Self {
        // Most keys are written in this way already.
        let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        let is_snake = key.bytes().all(is_plain) && !key.contains("__");
        let whole = match is_snake {
            true => Cow::Borrowed(key.trim_matches('_')),
            false => Cow::Owned(fallback::words(key).join("_")),
        };
        Self { whole }
    }

    /// The words, joined by `_`.
    #[must_use]
    pub fn whole(&self) -> &str {
        &self.whole
    }

    /// The words, first to last.
    pub fn words(&self) -> impl DoubleEndedIterator<Item = &str> + Clone {
        self.whole.split('_').filter(|word| !word.is_empty())
    }

    /// The last word.
    #[must_use]
    pub fn last(&self) -> &str {
        self.whole.rsplit('_').next().unwrap_or_default()
    }

    /// What the key says as a whole.
    #[must_use]
    pub fn said(&self) -> Marks {
        ROWS.get(&*self.whole).copied().unwrap_or_default().whole
    }

    /// What its last word says.
    #[must_use]
    pub fn said_last(&self) -> Marks {
        of_word(self.last())
    }

    /// Whether any of its words says this.
    #[must_use]
    pub fn has(&self, mark: Mark) -> bool {
        self.words().any(|word| of_word(word).has(mark))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_a_word_with_known_marks() {
        let rows: Vec<&str> = TABLE.lines().filter(|line| !line.starts_with('#')).collect();
        assert!(rows.windows(2).all(|pair| pair[0] < pair[1]), "the table is in its order, and has no word twice");
        for line in rows {
            let (word, marks) = line.split_once(' ').expect("a word and its marks");
            assert!(
                word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_'),
                "{line}"
            );
            assert!(marks.split_whitespace().next().is_some(), "{line}");
            for mark in marks.split_whitespace() {
                assert!(Mark::ALL.iter().any(|(name, _)| *name == mark.trim_start_matches('=')), "{line}: {mark}");
            }
        }
        assert!(Mark::ALL.len() < 128, "a set of marks has a bit for each");
        for (name, _) in Mark::ALL {
            assert!(TABLE.contains(&format!(" {name}")) || TABLE.contains(&format!("={name}")), "{name} marks nothing");
        }
    }

    #[test]
    fn a_key_speaks_with_its_words() {
        for (key, whole, last) in [
            ("outputDir", "output_dir", "dir"),
            ("_path_", "path", "path"),
            ("a__b", "a_b", "b"),
            ("Server 2", "server_2", "2"),
            ("", "", ""),
        ] {
            let read = Key::of(key);
            assert_eq!((read.whole(), read.last()), (whole, last), "{key}");
        }
        assert!(Key::of("workingDirectory").said_last().has(Mark::Path));
        assert!(Key::of("branch").said().has(Mark::Reference) && !Key::of("my_branch").said().has(Mark::Reference));
        assert!(Key::of("exclude_patterns").has(Mark::Excludes));
    }
}
