//! Modules of Python that are understood: what they do is known, and what of it is hostile is judged call by call. A
//! package is known only in the modules that the table lists, and some only in the members that it lists. About the rest a
//! person is asked.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// A package in each line, with what is known inside of it.
static PYTHON: &str = include_str!("known/python.txt");
/// A module of Python's own library in each line, with the members that it is documented to have. Modules that it happens to
/// import are not among them: `enum.bltns` is a way to everything.
static MEMBERS: &str = include_str!("known/library.txt");

/// What is known inside of a package.
#[derive(Default)]
struct Package {
    /// Whether only the members that are listed are known (`name!`), and not every class and function of it.
    only: bool,
    /// Modules, and objects that are asked for members of their own.
    listed: HashSet<&'static str>,
    /// Those in which any object may be asked for members (`stats.*`).
    open: HashSet<&'static str>,
}

/// The line of each module, without its name.
static LIBRARY: LazyLock<HashMap<&str, &str>> =
    LazyLock::new(|| MEMBERS.lines().map(|line| line.split_once(' ').unwrap_or((line, ""))).collect());

static PACKAGES: LazyLock<HashMap<&str, Package>> = LazyLock::new(|| {
    let of_line = |line: &'static str| {
        let mut words = line.split_ascii_whitespace();
        let name = words.next()?;
        let bare = name.strip_suffix('!').unwrap_or(name);
        let mut package = Package { only: bare != name, ..Package::default() };
        for word in words {
            match word.strip_suffix(".*") {
                Some(open) => package.open.insert(open),
                None => package.listed.insert(word),
            };
        }
        Some((bare, package))
    };
    PYTHON.lines().filter_map(of_line).collect()
});

/// Whether a module is of Python's own library.
pub(super) fn is_of_library(module: &str) -> bool {
    !module.contains('.') && LIBRARY.contains_key(module)
}

/// Whether a module of Python is in the table, by its first name.
pub(super) fn is_known(module: &str) -> bool {
    is_of_library(module) || PACKAGES.contains_key(module)
}

/// Whether what a module does that is imported is known.
pub(super) fn is_understood(module: &str) -> bool {
    let Some((root, inside)) = module.split_once('.') else { return is_known(module) };
    match PACKAGES.get(root) {
        Some(package) => package.has(inside),
        None => LIBRARY.contains_key(module),
    }
}

/// Whether what a member of a package does is known, as far as the table says. Classes are judged by their methods.
pub(super) fn is_member_understood(of: &str, name: &str) -> bool {
    let (root, inside) = of.split_once('.').unwrap_or((of, ""));
    let Some(package) = PACKAGES.get(root) else { return is_of_module(of, name) };
    let inner = name.starts_with('_') && !name.starts_with("__");
    let whole = || if inside.is_empty() { name.to_owned() } else { format!("{inside}.{name}") };
    if inside.is_empty() {
        return !package.only && !inner || name.starts_with("__") || package.has(name);
    }
    let last = inside.rsplit('.').next().unwrap_or_default();
    let is_class = last.starts_with(|c: char| c.is_ascii_uppercase());
    (is_class || package.has(inside)) && (!inner || package.has(&whole()))
}

/// Whether a module is of a package that the table lists.
pub(super) fn is_of_package(module: &str) -> bool {
    PACKAGES.contains_key(module)
}

/// Whether the table names a member of a package itself: a module, an object, or a member that alone is known of it.
pub(super) fn is_listed(of: &str, name: &str) -> bool {
    let (root, inside) = of.split_once('.').unwrap_or((of, ""));
    PACKAGES.get(root).is_some_and(|package| {
        if inside.is_empty() { package.has(name) } else { package.listed.contains(&*format!("{inside}.{name}")) }
    })
}

/// Whether a module of the library is documented to have a member. What belongs to its classes is judged elsewhere.
fn is_of_module(module: &str, name: &str) -> bool {
    let Some(members) = LIBRARY.get(module) else { return true };
    name.starts_with("__")
        || members.split_ascii_whitespace().any(|member| member == name)
        || LIBRARY.contains_key(&*format!("{module}.{name}"))
}

impl Package {
    fn has(&self, inside: &str) -> bool {
        self.listed.contains(inside) || inside.rsplit_once('.').is_some_and(|(parent, _)| self.open.contains(parent))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_known_in_the_modules_that_are_listed() {
        for module in [
            "json",
            "numpy",
            "os.path",
            "torch.nn.functional",
            "django.core.management.base",
            "sklearn.ensemble",
            "PIL.Image",
            "email.mime.text",
        ] {
            assert!(is_understood(module), "{module}");
        }
        for module in [
            "left_pad",
            "kubernetes.config.exec_provider",
            "accelerate.test_utils",
            "torch.distributed.run",
            "nltk.classify.megam",
            "PIL.ImageGrab",
            "numpy.distutils",
            "json.x",
        ] {
            assert!(!is_understood(module), "{module}");
        }
    }

    #[test]
    fn members_are_known_by_what_holds_them() {
        for (of, name) in [
            ("numpy", "array"),
            ("numpy.random", "rand"),
            ("scipy.stats.norm", "cdf"),
            ("pandas.DataFrame", "from_dict"),
            ("PIL", "Image"),
            ("os.path", "join"),
            ("enum", "Enum"),
            ("xml", "etree"),
            ("unheard.of", "x"),
        ] {
            assert!(is_member_understood(of, name), "{of}.{name}");
        }
        for (of, name) in [
            ("numba.core", "utils"),
            ("PIL", "ImageGrab"),
            ("torch.distributed.run", "main"),
            ("accelerate", "notebook_launcher"),
            ("numpy", "_core"),
            ("enum", "bltns"),
            ("statistics", "sys"),
            ("typing", "stdlib_re"),
        ] {
            assert!(!is_member_understood(of, name), "{of}.{name}");
        }
    }
}
