//! Loops without an end, and memory without bound.

use oxc_ast::ast::{
    Argument, AssignmentExpression, AssignmentTarget, BinaryExpression, BinaryOperator, CallExpression, Expression,
    ForOfStatement, ForStatement, Function, Statement,
};
use oxc_ast_visit::{Visit, walk};
use oxc_span::Span;
use oxc_syntax::operator::AssignmentOperator;
use oxc_syntax::scope::ScopeFlags;

use super::effects::Call;
use super::{Pass, Reader, fold};

/// The largest number that is given to something which may count to it, and elements beyond which no machine is expected to go.
const MAX_COUNT: f64 = 500_000_000.0;
/// Turns of a loop that may each write, send or start something.
const MOST_EFFECTS: f64 = 1_000_000.0;
/// Turns of a loop that may each ask another machine for something.
const MOST_REQUESTS: f64 = 1_000.0;
/// Turns that no program waits for.
pub(super) const MOST_TURNS: f64 = 5_000_000_000.0;
/// Digits of a number that nobody works out.
const MOST_DIGITS: f64 = 10_000_000.0;
/// Functions that only compute with a number, however large.
const COMPUTES: &str = "abs floor ceil round max min pow random log log2 log10 sqrt cbrt trunc sign isSafeInteger isInteger isFinite parseInt parseFloat \
     Number BigInt String Date Intl toFixed toLocaleString format push toBe toEqual equal strictEqual deepEqual fromUnixTime asUintN asIntN imul \
     setTimeout setInterval expect add set get has includes gcd isPrime modPow";
/// Methods that write, send or start something.
const ACTS: &str = "writeFile writeFileSync appendFile appendFileSync write mkdir mkdirSync fetch send post put createWriteStream open openSync connect \
     spawn exec Worker copyFile copyFileSync";

impl Reader<'_> {
    /// Whether a number that is written down is given to something that makes as much of it.
    pub(super) fn asks_for_much(&mut self, span: Span, name: &str, arguments: &[Argument<'_>], own: bool) {
        if self.pass != Pass::Judge {
            return;
        }
        let large = |number: f64| number.abs() > MAX_COUNT;
        let numbers = || arguments.iter().filter_map(Argument::as_expression).filter_map(number);
        let makes = matches!(
            name,
            "alloc"
                | "allocUnsafe"
                | "repeat"
                | "Array"
                | "ArrayBuffer"
                | "SharedArrayBuffer"
                | "fill"
                | "padStart"
                | "padEnd"
        ) || name.ends_with("Array");
        let nested = makes && self.turns * numbers().fold(1.0, f64::max) > MAX_COUNT;
        let counts = !super::calls::listed(COMPUTES, name) && !own && numbers().any(large);
        let by_length =
            name == "from" && arguments.first().and_then(Argument::as_expression).and_then(length).is_some_and(large);
        let acts = self.turns >= MOST_EFFECTS && super::calls::listed(ACTS, name)
            || self.turns >= MOST_REQUESTS
                && matches!(name, "fetch" | "post" | "put" | "send" | "sendMail" | "request");
        if nested || counts || by_length || acts {
            self.ask_endless(span, "more is made or done than a machine can hold");
        }
    }

    /// A function that is to tell who may do something says yes to everybody.
    pub(super) fn lets_everybody(&mut self, it: &Function<'_>) {
        const ASKS: &str = "authenticate authorize can check has is validate verify";
        const ABOUT: &str = "access admin allowed auth authenticated authorized credentials csrf hash login password permission signature token";
        let (Some(name), Some(body)) = (&it.id, &it.body) else { return };
        let snake = crate::code::verbs::snake(name.name.as_str()).into_owned();
        let asks = snake.split('_').next().is_some_and(|first| super::calls::listed(ASKS, first));
        let about = snake.split('_').any(|word| super::calls::listed(ABOUT, word));
        let yes = matches!(body.statements.as_slice(), [Statement::ReturnStatement(answer)]
            if matches!(&answer.argument, Some(Expression::BooleanLiteral(yes)) if yes.value));
        if self.pass == Pass::Judge && asks && about && yes {
            self.ask(it.span, "code-rights", format!("`{}` lets everybody in", name.name));
        }
    }

    /// A text that is put behind itself in a loop.
    pub(super) fn doubles(&mut self, it: &AssignmentExpression<'_>) {
        let AssignmentTarget::AssignmentTargetIdentifier(target) = &it.left else { return };
        let is_it = |value: &Expression<'_>| matches!(fold::bare(value), Expression::Identifier(name) if name.name == target.name);
        let doubled = match fold::bare(&it.right) {
            Expression::BinaryExpression(sum) => {
                sum.operator == BinaryOperator::Addition && is_it(&sum.left) && is_it(&sum.right)
            }
            other => it.operator == AssignmentOperator::Addition && is_it(other),
        };
        let is_text = || self.named(target.name.as_str()).known.iter().any(super::scope::Thing::is_text);
        if self.pass == Pass::Judge && self.turns > 1.0 && doubled && is_text() {
            self.ask_endless(it.span, "a text doubles with each turn");
        }
    }

    pub(super) fn power(&mut self, it: &BinaryExpression<'_>) {
        let digits = match it.operator {
            BinaryOperator::Exponential => big(&it.right),
            BinaryOperator::ShiftLeft => {
                big(&it.right).filter(|_| matches!(fold::bare(&it.left), Expression::BigIntLiteral(_)))
            }
            _ => None,
        };
        if digits.is_some_and(|digits| digits > MOST_DIGITS) && is_big(&it.left) {
            self.ask_endless(it.span, "a number is made that no memory holds");
        }
    }

    pub(super) fn ask_endless(&mut self, span: Span, what: &str) {
        self.ask(span, "code-endless", what.to_owned());
    }

    /// How often a loop goes round, where that is written down.
    pub(super) fn turns_of(&self, it: &ForStatement<'_>) -> f64 {
        match it.test.as_ref().map(fold::bare) {
            Some(Expression::BinaryExpression(test)) => {
                let bound = match fold::bare(&test.right) {
                    Expression::Identifier(name) => self.scopes.number(name.name.as_str()),
                    other => number(other),
                };
                bound.unwrap_or(1.0).max(1.0)
            }
            _ => 1.0,
        }
    }

    /// A list that grows while it is gone through.
    pub(super) fn grows_while_walked(&mut self, it: &ForOfStatement<'_>) {
        let Expression::Identifier(list) = fold::bare(&it.right) else { return };
        let mut growth = Growth { list: list.name.as_str(), found: false, leaves: false };
        growth.visit_statement(&it.body);
        if growth.found && !growth.leaves {
            self.ask_endless(it.span, "a list grows while it is gone through");
        }
    }

    /// A function that calls or starts itself whatever it is given.
    pub(super) fn calls_itself(&mut self, it: &Function<'_>) {
        let (Some(name), Some(body)) = (&it.id, &it.body) else { return };
        if self.pass != Pass::Judge {
            return;
        }
        let mut calls = OwnCalls { name: name.name.as_str(), direct: 0, later: 0, conditional: false, depth: 0 };
        for statement in &body.statements {
            calls.visit_statement(statement);
        }
        if !calls.conditional && (calls.direct > 0 || calls.later > 1) {
            self.ask_endless(it.span, "a function calls itself whatever it is given");
        }
    }
}

/// Whether nothing in the body of a loop leaves it, and nothing waits.
pub(super) fn never_ends(body: &Statement<'_>) -> bool {
    let mut exits = Exits { found: false, loops: 0 };
    exits.visit_statement(body);
    !exits.found
}

struct Exits {
    found: bool,
    loops: usize,
}

impl<'a> Visit<'a> for Exits {
    fn visit_statement(&mut self, it: &Statement<'a>) {
        match it {
            Statement::ReturnStatement(_) | Statement::ThrowStatement(_) => self.found = true,
            Statement::BreakStatement(leaves) if self.loops == 0 || leaves.label.is_some() => self.found = true,
            Statement::ContinueStatement(goes) if goes.label.is_some() => self.found = true,
            Statement::ForStatement(_)
            | Statement::ForOfStatement(_)
            | Statement::ForInStatement(_)
            | Statement::WhileStatement(_)
            | Statement::DoWhileStatement(_)
            | Statement::SwitchStatement(_) => {
                self.loops += 1;
                walk::walk_statement(self, it);
                self.loops -= 1;
            }
            _ => walk::walk_statement(self, it),
        }
    }

    fn visit_function(&mut self, _: &Function<'a>, _: ScopeFlags) {}
    fn visit_arrow_function_expression(&mut self, _: &oxc_ast::ast::ArrowFunctionExpression<'a>) {}

    fn visit_expression(&mut self, it: &Expression<'a>) {
        match it {
            Expression::AwaitExpression(_) | Expression::YieldExpression(_) => self.found = true,
            Expression::CallExpression(call) => {
                let name = super::value::member_name(&call.callee);
                self.found |= matches!(name, Some("exit" | "wait" | "sleepSync"));
                walk::walk_expression(self, it);
            }
            _ => walk::walk_expression(self, it),
        }
    }
}

struct Growth<'n> {
    list: &'n str,
    found: bool,
    leaves: bool,
}

impl<'a> Visit<'a> for Growth<'_> {
    fn visit_statement(&mut self, it: &Statement<'a>) {
        self.leaves |=
            matches!(it, Statement::BreakStatement(_) | Statement::ReturnStatement(_) | Statement::IfStatement(_));
        walk::walk_statement(self, it);
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        if let Expression::StaticMemberExpression(member) = fold::bare(&it.callee)
            && matches!(member.property.name.as_str(), "push" | "add" | "set")
            && matches!(fold::bare(&member.object), Expression::Identifier(name) if name.name == self.list)
        {
            self.found = true;
        }
        walk::walk_call_expression(self, it);
    }
}

struct OwnCalls<'n> {
    name: &'n str,
    direct: usize,
    /// How often it is told to be called later.
    later: usize,
    conditional: bool,
    /// Functions inside of it.
    depth: usize,
}

impl<'a> Visit<'a> for OwnCalls<'_> {
    fn visit_statement(&mut self, it: &Statement<'a>) {
        match it {
            Statement::IfStatement(_)
            | Statement::SwitchStatement(_)
            | Statement::TryStatement(_)
            | Statement::ThrowStatement(_) => {
                self.conditional = true;
            }
            Statement::ForOfStatement(_) | Statement::ForInStatement(_) | Statement::WhileStatement(_) => {
                self.conditional = true
            }
            _ => walk::walk_statement(self, it),
        }
    }

    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        self.depth += 1;
        walk::walk_function(self, it, flags);
        self.depth -= 1;
    }

    fn visit_arrow_function_expression(&mut self, it: &oxc_ast::ast::ArrowFunctionExpression<'a>) {
        self.depth += 1;
        walk::walk_arrow_function_expression(self, it);
        self.depth -= 1;
    }

    fn visit_expression(&mut self, it: &Expression<'a>) {
        match it {
            Expression::ConditionalExpression(_)
            | Expression::LogicalExpression(_)
            | Expression::AwaitExpression(_)
            | Expression::YieldExpression(_) => {
                self.conditional = true;
            }
            Expression::CallExpression(call) => {
                if self.depth == 0
                    && matches!(fold::bare(&call.callee), Expression::Identifier(name) if name.name == self.name)
                {
                    self.direct += 1;
                }
                let later = matches!(fold::bare(&call.callee), Expression::Identifier(name)
                    if matches!(name.name.as_str(), "setTimeout" | "setImmediate" | "queueMicrotask" | "setInterval"));
                let itself = |argument: &Argument<'_>| matches!(argument.as_expression().map(fold::bare), Some(Expression::Identifier(name)) if name.name == self.name);
                if later && call.arguments.iter().any(itself) {
                    self.later += 1;
                }
                walk::walk_expression(self, it);
            }
            _ => walk::walk_expression(self, it),
        }
    }
}

/// A number that is written down.
pub(super) fn number(expression: &Expression<'_>) -> Option<f64> {
    match fold::bare(expression) {
        Expression::NumericLiteral(number) => Some(number.value),
        Expression::BinaryExpression(both) => {
            let (left, right) = (number(&both.left)?, number(&both.right)?);
            Some(match both.operator {
                BinaryOperator::Multiplication => left * right,
                BinaryOperator::Exponential => left.powf(right),
                BinaryOperator::Addition => left + right,
                BinaryOperator::Subtraction => left - right,
                _ => return None,
            })
        }
        _ => None,
    }
}

/// The length that `Array.from({ length: 9 })` makes a list of.
pub(super) fn length(expression: &Expression<'_>) -> Option<f64> {
    let Expression::ObjectExpression(object) = fold::bare(expression) else { return None };
    match super::options::property(object, "length") {
        super::options::Found::Value(value) => number(value),
        _ => None,
    }
}

/// A number of any kind that is written down.
fn big(expression: &Expression<'_>) -> Option<f64> {
    match fold::bare(expression) {
        Expression::BigIntLiteral(number) => number.value.parse().ok(),
        Expression::BinaryExpression(both) if both.operator == BinaryOperator::Exponential => {
            Some(big(&both.left)?.powf(big(&both.right)?))
        }
        other => number(other),
    }
}

fn is_big(expression: &Expression<'_>) -> bool {
    matches!(fold::bare(expression), Expression::BigIntLiteral(_))
}

/// Used where only the place of a call is known.
pub(super) fn is_own(call: &Call<'_, '_>) -> bool {
    call.callee.functions().next().is_some()
}
