//! Members of packages that are known to be harmless. A package that is listed is no licence for all of it: a function, a
//! class or a method is understood where its name is made only of words of reading, computing and showing, or where the
//! table names it. About every other member a person is asked.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// Words of which names are made that read, compute or show. Words of loading, running, connecting, registering and their
/// like are not among them.
static WORDS: LazyLock<HashSet<&str>> =
    LazyLock::new(|| include_str!("known/words.txt").split_ascii_whitespace().collect());

/// A package in each line, with the members that are harmless beside those made of the words; `*` where all of it is. A
/// minus before a member says that it is not, though its words are.
static MEMBERS: LazyLock<HashMap<String, HashSet<&str>>> = LazyLock::new(|| {
    let mut members: HashMap<String, HashSet<&str>> = HashMap::new();
    for line in include_str!("known/harmless.txt").lines() {
        let mut names = line.split_ascii_whitespace();
        let Some(packages) = names.next() else { continue };
        let names: Vec<&str> = names.collect();
        let (mark, packages) = packages.split_once(':').map_or(("", packages), |(mark, rest)| (mark, rest));
        for package in packages.split(',') {
            let name = if mark.is_empty() { package.to_owned() } else { format!("{mark}:{package}") };
            members.entry(name).or_default().extend(&names);
        }
    }
    members
});

/// Names in which two plain words say something else: what is made of a text or a file may be code.
const PHRASES: [&str; 14] = [
    "entry_point",
    "entrypoint",
    "from_code",
    "from_config",
    "from_env",
    "from_file",
    "from_import",
    "from_module",
    "from_name",
    "from_object",
    "from_path",
    "from_py",
    "from_string",
    "from_template",
];

/// The language whose packages are meant: both have packages of the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packages {
    Python,
    Node,
}

/// Whether a member of a package, or of an object that came out of it, is known to be harmless.
pub(super) fn is_member(packages: Packages, package: &str, name: &str) -> bool {
    let mark = if packages == Packages::Python { "py:" } else { "js:" };
    let listed = MEMBERS.get(&*format!("{mark}{package}")).or_else(|| {
        let (scope, _) = package.split_once('/').filter(|_| package.starts_with('@'))?;
        MEMBERS.get(&*format!("{mark}{scope}/*"))
    });
    if let Some(listed) = listed {
        if listed.contains(&*format!("-{name}")) {
            return false;
        }
        if listed.contains("*") || listed.contains(name) {
            return true;
        }
    }
    is_everyday(packages, name) || is_made_of_words(name)
}

/// Whether a name is one of those that objects of every kind have.
pub(super) fn is_everyday(packages: Packages, name: &str) -> bool {
    let of_all = if packages == Packages::Python { "python" } else { "node" };
    MEMBERS.get(of_all).is_some_and(|everyday| everyday.contains(name))
}

/// Whether a word is one of those of which harmless names are made.
pub(super) fn is_word(word: &str) -> bool {
    WORDS.contains(word)
}

/// Whether two plain words of a name in small letters say something else.
pub(super) fn has_phrase(lower: &str) -> bool {
    PHRASES.iter().any(|phrase| lower.contains(phrase))
}

/// Whether a name is made only of words that are known.
fn is_made_of_words(name: &str) -> bool {
    // A constant.
    if name.len() > 1 && !name.contains(|c: char| c.is_ascii_lowercase()) {
        return true;
    }
    let lower = words(name);
    if has_phrase(&lower) {
        return false;
    }
    lower.split(|c: char| !c.is_ascii_alphabetic()).all(|word| word.is_empty() || WORDS.contains(word))
}

/// A name in small letters, with a stroke between its words; `XMLParser` has two.
pub(super) fn words(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut out = String::with_capacity(name.len() + 4);
    for (at, letter) in letters.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| letters.get(at));
        let after = letters.get(at + 1);
        let begins = letter.is_ascii_uppercase()
            && before.is_some_and(|before| {
                !before.is_ascii_uppercase() || after.is_some_and(|after| after.is_ascii_lowercase())
            });
        if begins {
            out.push('_');
        }
        out.push(letter.to_ascii_lowercase());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_harmless_by_their_words_or_by_the_table() {
        for (packages, package, name) in [
            (Packages::Python, "pandas", "read_csv"),
            (Packages::Python, "sklearn", "RandomForestClassifier"),
            (Packages::Python, "yaml", "safe_load"),
            (Packages::Python, "cv2", "COLOR_BGR2GRAY"),
            (Packages::Node, "lodash", "groupBy"),
            (Packages::Node, "express", "use"),
        ] {
            assert!(is_member(packages, package, name), "{package} {name}");
        }
        for (packages, package, name) in [
            (Packages::Python, "yaml", "unsafe_load"),
            (Packages::Python, "werkzeug", "import_string"),
            (Packages::Python, "pandas", "read_pickle"),
            (Packages::Python, "flask", "from_object"),
            (Packages::Python, "jinja2", "ModuleLoader"),
            (Packages::Node, "lodash", "template"),
            (Packages::Node, "knex", "loadExtension"),
            (Packages::Node, "koa", "listen"),
        ] {
            assert!(!is_member(packages, package, name), "{package} {name}");
        }
    }
}
