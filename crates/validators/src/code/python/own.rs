//! Objects and functions of the project's own modules, and others of which only the name is known: judged by what they are called,
//! with the table that packages have. What queries pick is read off the chain of calls.

use ruff_python_ast::{Expr, ExprCall};
use ruff_text_size::{Ranged as _, TextSize};

use super::Checker;
use super::calls::Arguments;
use super::value::{Source, Val};
use crate::code::{known, methods, places, verbs};

/// Links of a chain of calls that are looked at.
const MAX_CHAIN_LINKS: usize = 24;
/// First names of modules that programs give to their own package.
const OWN_ROOTS: &[&str] = &[
    "api",
    "app",
    "apps",
    "backend",
    "bot",
    "config",
    "core",
    "domain",
    "infra",
    "infrastructure",
    "models",
    "myapp",
    "mypackage",
    "myproject",
    "project",
    "server",
    "services",
    "settings",
    "src",
    "tests",
    "utils",
];
/// Modules that a framework gives every part of a project.
const OWN_PARTS: &[&str] = &["admin", "forms", "models", "serializers", "signals", "urls", "views"];
/// Methods of a query that pick nothing.
const NEUTRAL: &[&str] = &[
    "all",
    "distinct",
    "exclude",
    "enable_eagerloads",
    "execution_options",
    "options",
    "order_by",
    "prefetch_related",
    "reverse",
    "select_for_update",
    "select_related",
    "using",
    "with_for_update",
    "yield_per",
];
/// Methods that run a function that they are given.
const RUNS_GIVEN: &[&str] = &[
    "apply_async",
    "apply",
    "call_later",
    "call_soon",
    "imap",
    "imap_unordered",
    "map",
    "map_async",
    "partial",
    "run_in_executor",
    "run_sync",
    "starmap",
    "start_soon",
    "submit",
    "to_thread",
];

/// What the chain of calls in front of `delete` or `update` picks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Picked {
    /// It is no query.
    NoQuery,
    Everything,
    Some,
}

/// Whether a module is of the program's own package, by the names that those have.
pub(super) fn is_own_module(module: &str) -> bool {
    let mut steps = module.split('.');
    let root = steps.next().unwrap_or_default();
    let second = steps.next();
    if known::is_known(root) || module.split('.').any(str::is_empty) {
        return false;
    }
    match second {
        Some(part) => OWN_ROOTS.contains(&root) || OWN_PARTS.contains(&part),
        None => matches!(root, "app" | "src" | "tests"),
    }
}

/// The name at the beginning of a chain of calls and members.
fn root_name(expression: &Expr) -> Option<&str> {
    let mut at = expression;
    for _ in 0..MAX_CHAIN_LINKS {
        at = match at {
            Expr::Attribute(member) if matches!(&*member.value, Expr::Name(name) if name.id.as_str() == "self") => {
                return Some(member.attr.as_str());
            }
            Expr::Attribute(member) => &member.value,
            Expr::Call(call) => &call.func,
            Expr::Subscript(part) => &part.value,
            Expr::Await(inner) => &inner.value,
            Expr::Name(name) => return Some(name.id.as_str()),
            _ => return None,
        };
    }
    None
}

/// What is picked by the calls in front of this one.
pub(super) fn picked(call: &ExprCall) -> Picked {
    let Expr::Attribute(method) = &*call.func else { return Picked::NoQuery };
    let called = method.attr.as_str();
    let (mut at, mut is_query, mut is_manager, mut bounded, mut built) = (&*method.value, false, false, false, false);
    for link in 0..MAX_CHAIN_LINKS {
        let (name, given, inner) = match at {
            Expr::Call(inner) => match &*inner.func {
                Expr::Attribute(member) => (member.attr.as_str(), Some(&inner.arguments), Some(&*member.value)),
                Expr::Name(name) => (name.id.as_str(), Some(&inner.arguments), None),
                _ => break,
            },
            Expr::Attribute(member) => (member.attr.as_str(), None, Some(&*member.value)),
            Expr::Subscript(part) => {
                bounded = true;
                at = &part.value;
                continue;
            }
            _ => break,
        };
        let has_some = given.is_some_and(|given| !given.args.is_empty() || !given.keywords.is_empty());
        match name {
            "objects" | "_default_manager" if given.is_none() => (is_query, is_manager) = (true, true),
            "query" if given.is_none() || has_some => is_query = true,
            // `User.delete().execute()`
            "delete" | "update" if called == "execute" && link == 0 && given.is_some() => {
                let of_class = inner.is_some_and(
                    |inner| matches!(inner, Expr::Name(class) if class.id.as_str().starts_with(|c: char| c.is_ascii_uppercase())),
                );
                built = of_class && (name == "update" || !has_some);
            }
            _ if given.is_none() || NEUTRAL.contains(&name) => {}
            // A method of the project may pick too.
            "filter" | "filter_by" | "where" => bounded |= given.is_some_and(picks_by_value),
            _ => bounded = true,
        }
        if is_query {
            break;
        }
        match inner {
            Some(inner) => at = inner,
            None => break,
        }
    }
    let changes = match called {
        "delete" => is_query,
        // A dictionary is changed by another.
        "update" => is_query && (!call.arguments.keywords.is_empty() || !is_manager),
        "execute" => built,
        _ => false,
    };
    match (changes || is_query && called == "_raw_delete", bounded) {
        (false, _) => Picked::NoQuery,
        (true, true) => Picked::Some,
        (true, false) => Picked::Everything,
    }
}

/// Whether one of the conditions names a value, and no range or its opposite.
fn picks_by_value(given: &ruff_python_ast::Arguments) -> bool {
    const LOOSE: [&str; 9] =
        ["__gt", "__gte", "__lt", "__lte", "__ne", "__isnull", "__contains", "__icontains", "__regex"];
    !given.args.is_empty()
        || given.keywords.iter().any(|keyword| {
            let name = keyword.arg.as_deref().unwrap_or_default();
            !matches!(name, "pk__gt" | "id__gt" | "pk__gte" | "id__gte")
                && !LOOSE.iter().skip(4).any(|end| name.ends_with(end))
        })
}

impl Checker<'_> {
    /// Something is imported out of the program's own package.
    pub(super) fn bind_own(&mut self, name: &str, local: &str) {
        if name != local && self.own_names.len() < 512 {
            self.own_names.insert(local.to_owned(), name.to_owned());
        } else if self.own_names.len() < 512 {
            self.own_names.insert(local.to_owned(), local.to_owned());
        }
        self.bind(local, Val::Unknown);
    }

    /// A method of an object of which nothing is known.
    pub(super) fn judge_own_method(&mut self, call: &ExprCall, base: &Val, name: &str, at: TextSize) {
        if !self.judging {
            return;
        }
        let everything = picked(call) == Picked::Everything;
        let unknown = matches!(base, Val::Unknown | Val::Any(_)) && base.each().contains(&Val::Unknown);
        let snake = verbs::snake(name);
        let root = root_name(&call.func);
        let original = root.map(|root| self.own_names.get(root).map_or(root, String::as_str));
        let grave = unknown
            && !self.methods.contains(name)
            && (verbs::is_grave(&snake)
                || root.is_some_and(|root| self.own_names.contains_key(root)) && verbs::is_grave_word(&snake)
                || original.is_some_and(|root| verbs::steers_named(&verbs::snake(root), &snake))
                || verbs::plainly_empties(&snake)
                    && !matches!(&*snake, "drop_column" | "drop_index" | "drop_view" | "remove_all" | "recreate"));
        if everything || grave {
            self.ask_effect(
                at,
                "code-remote",
                format!("`{name}` may destroy, stop or change something that others use"),
            );
        }
        self.judge_handle(call, base, name, at);
    }

    /// A function of the project's own modules is called by its bare name.
    pub(super) fn judge_own_function(&mut self, function: &Expr, callee: &Val, at: TextSize) {
        let Expr::Name(name) = function else { return };
        let Some(original) = self.own_names.get(name.id.as_str()).cloned() else { return };
        let acts = || {
            let is_class = original.starts_with(|c: char| c.is_ascii_uppercase());
            let says_so = methods::is_telling(&original) || verbs::plainly_acts(&original);
            verbs::is_grave_alone(&verbs::snake(&original)) || !is_class && says_so
        };
        if self.judging && callee.each().contains(&Val::Unknown) && acts() {
            self.ask_effect(
                at,
                "code-remote",
                format!("`{original}` may destroy, stop or change something that others use"),
            );
        }
    }

    /// A function or a method is handed on that is grave by its name.
    pub(super) fn judge_own_value(&mut self, argument: &Expr, value: &Val) {
        if !self.judging || !value.each().contains(&Val::Unknown) {
            return;
        }
        match argument {
            Expr::Name(_) => self.judge_own_function(argument, value, argument.start()),
            Expr::Attribute(member)
                if !self.methods.contains(member.attr.as_str()) && verbs::is_grave(&verbs::snake(&member.attr)) =>
            {
                let message = format!("`{}` is handed on, and may destroy what others use", member.attr);
                self.ask_effect(argument.start(), "code-remote", message);
            }
            _ => {}
        }
    }

    /// What is done with a file that was opened, where the name of the file is not needed.
    fn judge_handle(&mut self, call: &ExprCall, base: &Val, name: &str, at: TextSize) {
        let opened = base.as_path().is_some_and(|path| path.ends_with("open()"));
        let first = call.arguments.args.first();
        let zero = matches!(first, Some(Expr::NumberLiteral(number)) if matches!(&number.value, ruff_python_ast::Number::Int(value) if value.as_u8() == Some(0)));
        // What is opened only to be closed is left with nothing in it.
        let emptied = || {
            let Expr::Attribute(method) = &*call.func else { return false };
            let Expr::Call(open) = &*method.value else { return false };
            let text = |at: usize| match open.arguments.args.get(at) {
                Some(Expr::StringLiteral(text)) => Some(text.value.to_str().to_owned()),
                _ => None,
            };
            let (path, mode) = (text(0), text(1));
            path.is_some_and(|path| places::is_written(&path)) && mode.is_some_and(|mode| mode.starts_with('w'))
        };
        let cut = name == "truncate" && zero && opened && self.source.contains('+');
        if cut || name == "close" && opened && emptied() {
            self.ask_effect(at, "code-delete", format!("`{name}` leaves a file with nothing in it"));
        }
        // `sqlite3.connect(a).backup(connect("prod.db"))`
        let of_store =
            |argument: &Expr| match argument {
                Expr::Call(inner) => inner.arguments.args.first().is_some_and(
                    |file| matches!(file, Expr::StringLiteral(file) if places::is_kept(file.value.to_str())),
                ),
                _ => false,
            };
        if name == "backup" && first.is_some_and(of_store) {
            self.ask_effect(at, "code-delete", "`backup` writes over a database".to_owned());
        }
        if matches!(name, "write_text" | "write_bytes") && matches!(base, Val::File(_)) {
            let empty = match first {
                Some(Expr::StringLiteral(text)) => text.value.is_empty(),
                Some(Expr::BytesLiteral(bytes)) => bytes.value.is_empty(),
                _ => false,
            };
            let path = |base: &Val| match base {
                Val::File(inner) => inner.as_str().is_some_and(places::is_written),
                _ => false,
            };
            if empty && base.each().iter().any(path) {
                self.ask_effect(at, "code-delete", format!("`{name}` leaves a file with nothing in it"));
            }
        }
    }

    /// A function that is handed on with its arguments is called with them: `submit(requests.post, url, data=x)`.
    pub(super) fn run_given(&mut self, name: &str, arguments: &Arguments, at: TextSize) {
        // `Thread(target=f, args=(x,), kwargs={..})`
        if let (true, Some(target)) = (matches!(name, "Thread" | "Timer" | "Process"), arguments.keyword("target")) {
            let target = target.clone();
            let positional = arguments.keyword("args").and_then(Val::elements).unwrap_or_default();
            let keywords = match arguments.keyword("kwargs") {
                Some(Val::Dict(items)) => {
                    items.iter().filter_map(|(key, value)| Some((key.as_str()?.to_owned(), value.clone()))).collect()
                }
                _ => Vec::new(),
            };
            let given = Arguments { positional, keywords, open: false };
            target.each().iter().for_each(|function| self.run_one(function, &given, at));
            return;
        }
        if !RUNS_GIVEN.contains(&name) {
            return;
        }
        let is_function = |value: &Val| matches!(value, Val::Func(_) | Val::Path(_));
        let Some(place) = arguments.positional.iter().take(3).position(|value| value.each().iter().any(is_function))
        else {
            return;
        };
        let function = arguments.positional[place].clone();
        let rest = arguments.positional.get(place + 1..).unwrap_or_default();
        let each = name.contains("map");
        let positional = rest.iter().map(|value| if each { value.element() } else { value.clone() }).collect();
        let keywords = if each { Vec::new() } else { arguments.keywords.clone() };
        let given = Arguments { positional, keywords, open: arguments.open };
        function.each().iter().for_each(|function| self.run_one(function, &given, at));
    }

    fn run_one(&mut self, function: &Val, given: &Arguments, at: TextSize) {
        match function {
            Val::Func(_) => drop(self.apply(function, given, at)),
            Val::Path(path) if !path.ends_with(')') => {
                let (module, last) = path.rsplit_once('.').unwrap_or(("", path));
                self.judge_call_effect(Some(&Val::path(module)), last, given, at);
            }
            _ => {}
        }
    }

    /// Rows that are written into a database elsewhere, and statements that came out of a file or from who called the program.
    pub(super) fn judge_moved_rows(&mut self, name: &str, arguments: &Arguments, at: TextSize) {
        if !self.judging {
            return;
        }
        // A file that is mapped to be changed.
        let changes = arguments.keyword("mode").and_then(Val::as_str).is_some_and(|mode| mode.contains('+'));
        let kept = |file: &Val| file.each().iter().filter_map(Val::as_str).any(places::is_kept);
        if name == "memmap" && changes && arguments.get(0).is_some_and(kept) {
            self.ask_effect(at, "code-delete", "`memmap` changes a document or a store in place".to_owned());
        }
        if name.starts_with("to_") {
            let address = |value: &Val| {
                value.as_str().is_some_and(|text| {
                    text.starts_with("http://") || text.starts_with("https://") || places::is_foreign_store(text)
                })
            };
            let by_engine = name == "to_sql" && self.source.split(['"', '\'']).any(places::is_foreign_store);
            if by_engine || arguments.all().flat_map(Val::each).any(address) {
                self.ask_effect(at, "code-send", format!("`{name}` writes to another machine"));
            }
        }
        if matches!(name, "execute" | "executescript" | "executemany") {
            let told = |value: &Val| value.as_path().is_some_and(|path| path.starts_with("sys.argv"));
            let read = |value: &Val| value.private().iter().any(|source| matches!(source, Source::File));
            let of_project = || {
                ["schema", "migration", "init", "seed", "create", "tables", "setup"]
                    .iter()
                    .any(|word| self.source.contains(word))
            };
            let statement = arguments.get(0).into_iter().flat_map(Val::each);
            if statement.into_iter().any(|value| told(value) || read(value) && !of_project()) {
                self.ask_effect(at, "code-statement", format!("`{name}` is given a statement that was read"));
            }
        }
    }

    /// A file is renamed in a loop over what lies in a folder, or takes the place of a document or a store.
    pub(super) fn takes_place(&self, from: Option<&Val>, to: Option<&Val>) -> bool {
        let listed = |value: &Val| match value {
            Val::Listed(folder) => {
                places::of(&format!("{folder}/x")) != places::Place::Temporary && !places::is_generated(folder)
            }
            _ => false,
        };
        let inner = |value: &Val| -> bool {
            value.each().iter().any(|one| match one {
                Val::File(inner) => inner.each().iter().any(listed),
                other => listed(other),
            })
        };
        let text = |value: &Val| {
            super::fold::path_text(value).each().iter().filter_map(Val::as_str).map(str::to_owned).collect::<Vec<_>>()
        };
        let made = |path: &String| {
            let bare = path.trim_start_matches("./");
            self.made.contains(bare)
                || places::is_generated(path)
                || places::of(path) == places::Place::Temporary
                || ["new", "tmp", "temp", "part"].iter().any(|word| bare.contains(word))
        };
        let replaces = to.is_some_and(|to| {
            text(to).iter().any(|path| places::is_replaced(path) && !self.made.contains(path.trim_start_matches("./")))
        });
        let from_made = from.is_some_and(|from| {
            let names = text(from);
            !names.is_empty() && names.iter().all(made)
        });
        from.is_some_and(inner) || replaces && !from_made
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ruff_python_parser::parse_expression;

    #[test]
    fn queries_are_told_by_what_they_pick() {
        for (source, expected) in [
            ("User.objects.all().delete()", Picked::Everything),
            ("User.objects.update(role='x')", Picked::Everything),
            ("User.query.delete()", Picked::Everything),
            ("db.session.query(User).update({'a': 1})", Picked::Everything),
            ("User.delete().execute()", Picked::Everything),
            ("User.objects.filter(id=1).delete()", Picked::Some),
            ("s.query(User).filter(User.id == 1).delete()", Picked::Some),
            ("User.delete().where(User.id == 1).execute()", Picked::NoQuery),
            ("self.objects.update({'a': 1})", Picked::NoQuery),
            ("u.delete()", Picked::NoQuery),
            ("d.update(a=1)", Picked::NoQuery),
        ] {
            let parsed = parse_expression(source).expect(source);
            let Expr::Call(call) = parsed.expr() else { panic!("{source}") };
            assert_eq!(picked(call), expected, "{source}");
        }
    }

    #[test]
    fn own_modules_are_known_by_their_names() {
        for module in ["app.x", "src.core.db", "blog.models", "app", "tests"] {
            assert!(is_own_module(module), "{module}");
        }
        for module in ["requests.models", "evil", "evil.loader", "core", "utils", "django.db.models"] {
            assert!(!is_own_module(module), "{module}");
        }
    }
}
