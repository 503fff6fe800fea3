//! Loops without an end, and memory without bound.

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{CmpOp, Expr, ExprCall, Number, Operator, Stmt, StmtFunctionDef};
use ruff_text_size::TextSize;

use super::Checker;
use super::calls::Arguments;
use super::value::Val;

/// Functions and methods that wait for something outside, or end the program.
const WAITS: &[&str] = &[
    "accept",
    "acquire",
    "brpop",
    "blpop",
    "communicate",
    "delay",
    "exit",
    "getch",
    "input",
    "join",
    "next",
    "poll",
    "prompt",
    "readline",
    "recv",
    "recv_into",
    "recv_json",
    "recvfrom",
    "select",
    "sleep",
    "tick",
    "update",
    "wait",
    "wait_for",
    "waitKey",
];
/// Digits of a number, and elements of a text or a list, beyond which no machine is expected to go.
pub(super) const MOST_DIGITS: i64 = 10_000_000;
const MOST_ELEMENTS: i64 = 200_000_000;
/// Ways to put things together, and turns of a loop, that no program waits for.
const MOST_WAYS: i64 = 1_000_000_000;
const MOST_TURNS: i64 = 5_000_000_000;

/// Whether nothing in the body of a loop leaves it, and nothing waits.
pub(super) fn never_ends(body: &[Stmt]) -> bool {
    let mut exits = Exits { found: false, loops: 0 };
    exits.visit_body(body);
    !exits.found
}

/// Whether a call sleeps for no time.
fn waits_for_nothing(call: &ExprCall) -> bool {
    let sleeps = match &*call.func {
        Expr::Name(name) => name.id.as_str() == "sleep",
        Expr::Attribute(member) => member.attr.as_str() == "sleep",
        _ => false,
    };
    sleeps
        && matches!(call.arguments.args.first(), Some(Expr::NumberLiteral(number)) if matches!(&number.value, Number::Int(value) if value.as_u8() == Some(0)))
}

/// Whether a function that is to tell who may do something says yes to everybody.
pub(super) fn lets_everybody(definition: &StmtFunctionDef) -> bool {
    const ASKS: [&str; 8] = ["authenticate", "authorize", "can", "check", "has", "is", "validate", "verify"];
    const ABOUT: [&str; 14] = [
        "access",
        "admin",
        "allowed",
        "auth",
        "authenticated",
        "authorized",
        "credentials",
        "csrf",
        "hash",
        "login",
        "password",
        "permission",
        "signature",
        "token",
    ];
    let name = definition.name.as_str().trim_start_matches('_');
    let mut words = name.split('_');
    let asks = words.next().is_some_and(|first| ASKS.contains(&first));
    let about = name.split('_').any(|word| ABOUT.contains(&word)) || matches!(name, "authenticate" | "authorize");
    let body: Vec<&Stmt> = definition
        .body
        .iter()
        .filter(|statement| !matches!(statement, Stmt::Expr(expression) if expression.value.is_string_literal_expr()))
        .collect();
    asks && about
        && matches!(body.as_slice(), [Stmt::Return(answer)] if matches!(answer.value.as_deref(), Some(Expr::BooleanLiteral(yes)) if yes.value))
}

struct Exits {
    found: bool,
    /// Loops inside of the one that is looked at.
    loops: usize,
}

impl<'a> Visitor<'a> for Exits {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::Return(_) | Stmt::Raise(_) => self.found = true,
            Stmt::Break(_) if self.loops == 0 => self.found = true,
            // What is defined in a loop leaves nothing by itself.
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => {}
            Stmt::For(_) | Stmt::While(_) => {
                self.loops += 1;
                walk_stmt(self, statement);
                self.loops -= 1;
            }
            _ => walk_stmt(self, statement),
        }
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        match expression {
            Expr::Yield(_) | Expr::YieldFrom(_) => self.found = true,
            // To wait for nothing lets others go on, and the loop too.
            Expr::Await(wait) => self.found |= !matches!(&*wait.value, Expr::Call(call) if waits_for_nothing(call)),
            Expr::Lambda(_) => {}
            Expr::Call(call) => {
                let name = match &*call.func {
                    Expr::Name(name) => name.id.as_str(),
                    Expr::Attribute(member) => member.attr.as_str(),
                    _ => "",
                };
                // A queue is asked for what comes next, without a name of it.
                let takes = name == "get" && call.arguments.args.is_empty();
                self.found |= WAITS.contains(&name) && !waits_for_nothing(call) || takes;
                walk_expr(self, expression);
            }
            _ => walk_expr(self, expression),
        }
    }
}

/// Whether the condition of a loop only becomes more true with each turn, or nothing in it changes what it asks.
pub(super) fn runs_away(test: &Expr, body: &[Stmt]) -> bool {
    let Expr::Compare(compare) = test else { return false };
    let (Expr::Name(name), [operator], [Expr::NumberLiteral(_)]) =
        (&*compare.left, &*compare.ops, &*compare.comparators)
    else {
        return false;
    };
    let away = match operator {
        CmpOp::Gt | CmpOp::GtE => Operator::Add,
        CmpOp::Lt | CmpOp::LtE => Operator::Sub,
        _ => return false,
    };
    let changes = |statement: &Stmt| match statement {
        Stmt::AugAssign(change) => matches!(&*change.target, Expr::Name(target) if target.id == name.id),
        _ => false,
    };
    let runs = |statement: &&Stmt| matches!(statement, Stmt::AugAssign(change) if change.op == away && matches!(&*change.value, Expr::NumberLiteral(_)));
    let simple = body.iter().all(|statement| matches!(statement, Stmt::AugAssign(_) | Stmt::Expr(_) | Stmt::Pass(_)));
    let mut changed = body.iter().filter(|statement| changes(statement)).peekable();
    simple && changed.peek().is_some() && changed.all(|statement| runs(&statement))
}

/// Whether a function calls itself, or starts itself elsewhere, whatever it is given.
pub(super) fn calls_itself_always(definition: &StmtFunctionDef) -> bool {
    let mut calls = OwnCalls { name: definition.name.as_str(), found: false, conditional: false };
    calls.visit_body(&definition.body);
    calls.found && !calls.conditional
}

struct OwnCalls<'n> {
    name: &'n str,
    found: bool,
    /// Whether anything in it is done under a condition.
    conditional: bool,
}

impl<'a> Visitor<'a> for OwnCalls<'_> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::If(_) | Stmt::Match(_) | Stmt::Try(_) | Stmt::Raise(_) | Stmt::Assert(_) => self.conditional = true,
            Stmt::For(_) | Stmt::While(_) if !self.found => {
                // Of a loop that goes through the same each time nothing is left out.
                let same = matches!(statement, Stmt::For(each) if is_count(&each.iter))
                    || matches!(statement, Stmt::While(each) if each.test.is_boolean_literal_expr());
                self.conditional |= !same;
                walk_stmt(self, statement);
            }
            _ => walk_stmt(self, statement),
        }
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        match expression {
            Expr::If(_) | Expr::BoolOp(_) | Expr::Yield(_) => self.conditional = true,
            Expr::ListComp(each) => self.conditional |= !each.generators.iter().all(|each| is_count(&each.iter)),
            Expr::Generator(_) | Expr::SetComp(_) | Expr::DictComp(_) | Expr::Await(_) => self.conditional = true,
            Expr::Call(call) => {
                let is_own = |value: &Expr| matches!(value, Expr::Name(name) if name.id.as_str() == self.name);
                let started = || {
                    let target =
                        call.arguments.keywords.iter().find(|keyword| keyword.arg.as_deref() == Some("target"));
                    target.is_some_and(|target| is_own(&target.value))
                };
                self.found |= is_own(&call.func) || started();
            }
            _ => {}
        }
        walk_expr(self, expression);
    }
}

/// Whether a loop goes through a number of turns that is written down.
fn is_count(over: &Expr) -> bool {
    matches!(over, Expr::Call(call) if matches!(&*call.func, Expr::Name(name) if name.id.as_str() == "range")
        && call.arguments.args.iter().all(|bound| matches!(bound, Expr::NumberLiteral(_))))
}

/// Whether what a loop goes through has no end.
pub(super) fn is_without_end(over: &Val) -> bool {
    over.as_path().is_some_and(|path| matches!(path, "itertools.count()" | "itertools.cycle()" | "itertools.repeat()"))
}

/// Whether an operator makes something that takes all memory or time there is.
pub(super) fn exhausts(left: &Val, operator: Operator, right: &Val) -> bool {
    match (left, operator, right) {
        (Val::Int(base), Operator::Pow, Val::Int(power)) => base.unsigned_abs() > 1 && *power > MOST_DIGITS,
        (Val::Int(_), Operator::LShift, Val::Int(bits)) => *bits > MOST_DIGITS,
        (Val::Text(_) | Val::Bytes(_) | Val::Seq(_) | Val::Many(_), Operator::Mult, Val::Int(times))
        | (Val::Int(times), Operator::Mult, Val::Text(_) | Val::Bytes(_) | Val::Seq(_) | Val::Many(_)) => {
            *times > MOST_ELEMENTS
        }
        _ => false,
    }
}

/// Whether a call makes something that no memory holds.
pub(super) fn fills_memory(path: &str, arguments: &Arguments) -> bool {
    let sizes = |value: &Val| -> i64 {
        match value {
            Val::Int(size) => *size,
            Val::Seq(sizes) => sizes.iter().filter_map(Val::as_int).fold(1, i64::saturating_mul),
            _ => 1,
        }
    };
    let makes = matches!(
        path,
        "builtins.bytearray"
            | "builtins.bytes"
            | "os.urandom"
            | "secrets.token_bytes"
            | "secrets.token_hex"
            | "random.randbytes"
            | "numpy.zeros"
            | "numpy.ones"
            | "numpy.empty"
            | "numpy.full"
            | "numpy.arange"
            | "numpy.random.rand"
            | "numpy.random.randn"
            | "torch.zeros"
            | "torch.ones"
            | "torch.rand"
            | "torch.randn"
    );
    // Every way to put many things together.
    if matches!(path, "itertools.product" | "itertools.permutations" | "itertools.combinations_with_replacement") {
        let length = |value: &Val| value.elements().map_or(16, |all| i64::try_from(all.len()).unwrap_or(i64::MAX));
        let times = arguments.keyword("repeat").and_then(Val::as_int).unwrap_or(1);
        let one = arguments.positional.iter().map(length).fold(1, i64::saturating_mul);
        return (0..times.clamp(0, 64)).fold(1, |all: i64, _| all.saturating_mul(one)) > MOST_WAYS;
    }
    if path == "builtins.range" {
        return arguments.positional.iter().flat_map(Val::each).filter_map(Val::as_int).any(|end| end > MOST_TURNS);
    }
    makes && arguments.positional.iter().flat_map(Val::each).map(sizes).fold(1, i64::saturating_mul) > MOST_ELEMENTS
}

impl Checker<'_> {
    /// How often a loop goes round, where that is written down.
    pub(super) fn turns_of(&mut self, over: &Expr) -> i64 {
        let Expr::Call(call) = over else { return 1 };
        if !matches!(&*call.func, Expr::Name(name) if name.id.as_str() == "range") {
            return 1;
        }
        let bounds: Vec<Val> = call.arguments.args.iter().map(|bound| self.value(bound)).collect();
        bounds.iter().filter_map(Val::as_int).max().unwrap_or(1).max(1)
    }

    /// A text or a list is put behind itself in a loop.
    pub(super) fn judge_doubled(&mut self, at: TextSize, value: &Val) {
        let grows = |value: &Val| {
            matches!(value, Val::Text(_) | Val::Bytes(_) | Val::Seq(_) | Val::Many(_) | Val::Partial(..) | Val::Opaque)
        };
        if value.each().iter().any(grows) {
            self.ask_memory(at);
        }
    }

    pub(super) fn ask_endless(&mut self, at: TextSize) {
        self.ask(at, "code-endless", "a loop that never ends and waits for nothing".to_owned(), None);
    }

    pub(super) fn ask_memory(&mut self, at: TextSize) {
        let message = "a number, a text or a list is made that no memory holds".to_owned();
        self.ask(at, "code-endless", message, Some("compute with smaller numbers"));
    }
}
