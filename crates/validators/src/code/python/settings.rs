//! What a call is given that turns a protection off, lets somebody in, forces what would be refused, or asks for more than there
//! is. Read off the names of arguments and the words of texts, whatever is called.

use ruff_text_size::TextSize;

use super::Checker;
use super::calls::Arguments;
use super::value::Val;
use crate::code::{settings, verbs};

/// Functions that only compute with a number, however large.
const COMPUTES: &[&str] = &[
    "abs",
    "bool",
    "choice",
    "divmod",
    "float",
    "format",
    "from_bytes",
    "fromtimestamp",
    "gcd",
    "hash",
    "hex",
    "int",
    "isqrt",
    "len",
    "max",
    "min",
    "pow",
    "print",
    "randint",
    "randrange",
    "repr",
    "round",
    "seed",
    "str",
    "sqrt",
    "sum",
    "timedelta",
    "to_bytes",
    "uniform",
    "utcfromtimestamp",
    "is_prime",
    "isclose",
    "log",
    "log10",
    "bin",
    "oct",
    "Decimal",
    "Fraction",
    "integers",
    "append",
    "assertEqual",
];
/// Turns of a loop that may each ask another machine for something.
const MOST_REQUESTS: i64 = 1_000;
/// Turns of a loop that may each write, send or start something.
const MOST_EFFECTS: i64 = 1_000_000;
/// The largest number that is given to something which may count to it.
const MAX_COUNT: i64 = 500_000_000;

impl Checker<'_> {
    /// What any call is given.
    pub(super) fn judge_settings(&mut self, base: Option<&Val>, name: &str, arguments: &Arguments, at: TextSize) {
        if !self.judging {
            return;
        }
        let off = arguments.keywords.iter().any(|(key, value)| is_off(key, value));
        let unsigned = matches!(name, "decode" | "jwt_decode")
            && arguments
                .keyword("algorithms")
                .is_some_and(|all| texts(all).iter().any(|text| text.eq_ignore_ascii_case("none")));
        let masks = name == "umask" && arguments.get(0).and_then(Val::as_int).is_some_and(|mask| mask & 0o022 == 0);
        if off || unsigned || masks {
            self.ask_effect(at, "code-rights", format!("`{name}` is told to leave a protection out"));
        }
        let forced = |(key, value): &(String, Val)| settings::forces(key) && matches!(value, Val::Int(1..));
        let first = verbs::snake(name).split('_').next().map(str::to_owned).unwrap_or_default();
        if arguments.keywords.iter().any(forced) && !verbs::is_reading(&first) {
            self.ask_effect(at, "code-remote", format!("`{name}` is told to do what would be refused otherwise"));
        }
        let lets_in = |key: &str, value: &Val| {
            let on = matches!(value, Val::Int(1..));
            value.each().iter().any(|value| settings::lets_in(key, value.as_str(), on))
        };
        let by_keyword = arguments.keywords.iter().any(|(key, value)| lets_in(key, value));
        if (by_keyword || arguments.all().any(|value| holds(value, &lets_in, 0)))
            && !self.methods.contains(name)
            && changes(name)
        {
            self.ask_effect(at, "code-rights", format!("`{name}` lets somebody in"));
        }
        let large = |value: &Val| {
            value
                .each()
                .iter()
                .any(|value| matches!(value, Val::Int(number) if number.unsigned_abs() > MAX_COUNT.unsigned_abs()))
        };
        let tuple = |value: &Val| match value {
            Val::Seq(sizes) if sizes.len() > 1 && sizes.len() < 5 => {
                sizes.iter().map(|size| size.as_int().unwrap_or(1)).fold(1, i64::saturating_mul) > MAX_COUNT
                    && sizes.iter().all(|size| size.as_int().is_some_and(|size| size > 0))
            }
            _ => false,
        };
        let keys = arguments
            .keywords
            .iter()
            .filter(|(key, _)| !matches!(key.as_str(), "maxmem" | "id" | "user_id" | "timestamp" | "chat_id"));
        let given = || arguments.positional.iter().chain(keys.clone().map(|(_, value)| value));
        if !COMPUTES.contains(&name)
            && !self.methods.contains(name)
            && given().any(|value| large(value) || tuple(value))
        {
            self.ask_memory(at);
        }
        let endless = |value: &Val| value.each().iter().any(super::loops::is_without_end);
        const PARTS: [&str; 14] = [
            "accumulate",
            "chain",
            "dropwhile",
            "enumerate",
            "iter",
            "islice",
            "map",
            "next",
            "starmap",
            "takewhile",
            "zip",
            "tee",
            "print",
            "filter",
        ];
        if !PARTS.contains(&name) && arguments.positional.iter().any(endless) {
            self.ask_endless(at);
        }
        let operators = |key: &str, _: &Val| super::given::OPERATORS.contains(&key);
        if arguments.all().any(|value| holds(value, &operators, 0)) {
            self.ask_effect(at, "code-remote", format!("`{name}` is given what a database runs, or writes over"));
        }
        if name == "memmap" && arguments.keyword("mode").and_then(Val::as_str).is_some_and(|mode| mode.contains('w')) {
            self.ask_effect(at, "code-delete", "`memmap` empties the file that it maps".to_owned());
        }
        if name.starts_with("bind")
            && arguments
                .get(0)
                .and_then(Val::as_str)
                .is_some_and(|event| event.starts_with("<Key") && !event.contains('-'))
        {
            self.read = true;
        }
        if name == "retry" && arguments.keyword("stop").is_none() && self.packages.contains("tenacity") {
            self.ask_endless(at);
        }
        const GROWS: [&str; 13] = [
            "Popen",
            "Process",
            "Thread",
            "connect",
            "create_task",
            "makedirs",
            "mkdir",
            "open",
            "post",
            "put",
            "touch",
            "write",
            "write_text",
        ];
        // A thousand times the same request is one that nobody makes by hand: guesses, or mail to everybody.
        let floods = self.turns >= MOST_REQUESTS
            && matches!(name, "post" | "put" | "request" | "sendmail" | "send_message" | "login" | "connect");
        let workers = |(key, value): &(String, Val)| {
            (key.contains("workers") || key.contains("threads") || key == "processes")
                && value.as_int().is_some_and(|number| number > 1_000)
        };
        if floods || arguments.keywords.iter().any(workers) {
            self.ask_memory(at);
        }
        if self.turns >= MOST_EFFECTS && GROWS.contains(&name) {
            self.ask_memory(at);
        }
        // Options of a command line are declared and looked for under these names.
        let declares =
            ["add_argument", "add_option", "option", "count", "index", "startswith", "print", "remove", "Option"]
                .contains(&name);
        let unknown =
            base.is_some_and(|base| base.each().iter().any(|base| matches!(base, Val::Unknown | Val::Path(_))));
        if !declares && unknown && arguments.all().any(|value| texts(value).iter().any(|text| settings::forced(text))) {
            self.ask_effect(at, "code-remote", format!("`{name}` is told to do what would be refused otherwise"));
        }
        let off = |key: &str, value: &Val| is_off(key, value);
        // A token that is only looked at need not be genuine.
        if name != "decode" && arguments.all().any(|value| holds(value, &off, 0)) {
            self.ask_effect(at, "code-rights", format!("`{name}` is told to leave a protection out"));
        }
        let told = |value: &Val| texts(value).iter().any(|text| settings::orders(text));
        if arguments.all().any(told) {
            self.ask_effect(at, "code-remote", format!("`{name}` is given an order that changes or destroys"));
        }
    }
}

/// Whether an argument leaves a protection out.
pub(super) fn is_off(key: &str, value: &Val) -> bool {
    let off = value.as_int() == Some(0);
    let on = matches!(value, Val::Int(1..));
    off && settings::protects(key)
        || on && settings::exposes(key)
        || value.as_path().is_some_and(|path| matches!(path.rsplit('.').next(), Some("CERT_NONE")))
        || key.contains("context") && value.as_path().is_some_and(|path| path.contains("_create_unverified_context"))
}

/// Whether a method changes what it is told of.
fn changes(name: &str) -> bool {
    let snake = verbs::snake(name);
    let first = snake.split('_').find(|word| !word.is_empty()).unwrap_or_default();
    verbs::is_acting(first) || matches!(name, "save" | "get_or_create" | "post" | "put" | "patch" | "execute")
}

/// The texts that a value is or holds.
pub(super) fn texts(value: &Val) -> Vec<&str> {
    let mut found = Vec::new();
    collect(value, &mut found, 0);
    found
}

fn collect<'v>(value: &'v Val, found: &mut Vec<&'v str>, depth: usize) {
    if depth > 3 || found.len() > 64 {
        return;
    }
    for value in value.each() {
        match value {
            Val::Text(text) => found.push(text),
            Val::Partial(start, _) => found.push(start),
            Val::Seq(all) => all.iter().for_each(|value| collect(value, found, depth + 1)),
            Val::Dict(items) => items.iter().for_each(|(_, value)| collect(value, found, depth + 1)),
            Val::Many(inner) => collect(inner, found, depth + 1),
            _ => {}
        }
    }
}

/// Whether a dictionary in a value has an entry of that kind.
fn holds(value: &Val, is: &dyn Fn(&str, &Val) -> bool, depth: usize) -> bool {
    depth <= 3
        && value.each().iter().any(|value| match value {
            Val::Dict(items) => items
                .iter()
                .any(|(key, value)| key.as_str().is_some_and(|key| is(key, value)) || holds(value, is, depth + 1)),
            Val::Seq(all) => all.iter().any(|value| holds(value, is, depth + 1)),
            _ => false,
        })
}
