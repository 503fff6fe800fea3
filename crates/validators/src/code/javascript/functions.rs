//! What the walk remembers of functions and declarations, and what it says of loops and of files that are loaded.

use oxc_ast::ast::{Expression, Statement, VariableDeclarator};
use oxc_ast_visit::Visit as _;
use oxc_span::Span;

use super::scope::Things;
use super::{Pass, Place, Reader, fold, rules};

impl Reader<'_> {
    /// A loop without an end that names nothing by which it could be left, or could wait.
    pub(super) fn endless(&mut self, span: Span, endless: bool, body: &Statement<'_>) {
        if endless && super::loops::never_ends(body) {
            self.ask(span, "code-endless", "a loop that never ends and waits for nothing".to_owned());
        }
    }

    /// A file of the project that is loaded for nothing but what it does.
    pub(super) fn loads_for_effect(&mut self, span: Span, name: &str) {
        let is_data = [".css", ".scss", ".less", ".json", ".svg"].iter().any(|end| name.ends_with(end));
        if rules::is_own(name) && !is_data {
            self.ask(span, "code-unknown", format!("what `{name}` does when it is loaded is not known"));
        }
    }

    /// What a program binds only where there is something in it hides no global that is judged.
    pub(super) fn bind_kept(&mut self, name: &str) {
        if !rules::is_judged(name) {
            self.bind_name(name, Things::unknown(), false);
        }
    }

    pub(super) fn declarator<'a>(&mut self, it: &VariableDeclarator<'a>, var: bool) {
        let things = match &it.init {
            Some(init) => self.things(init),
            None => Things::default(),
        };
        let place = self.given_to(&it.id);
        self.exported = false;
        if let Some(init) = &it.init {
            self.place = place;
            self.visit_expression(init);
            self.place = Place::Value;
        }
        self.bind(&it.id, things, var);
    }

    /// Begins a function: its parameters are what it is called with. Answers what to give back at its end.
    pub(super) fn begin(&mut self, start: u32) -> std::vec::IntoIter<Things> {
        self.functions.push(start);
        let given = self.parameters.get(&start).cloned().unwrap_or_default();
        std::mem::replace(&mut self.given, given.into_iter())
    }

    pub(super) fn end(&mut self, outer: std::vec::IntoIter<Things>) {
        self.given = outer;
        self.functions.pop();
    }

    pub(super) fn returned(&mut self, answer: &Expression<'_>) {
        if self.pass == Pass::Learn
            && let Some(function) = self.functions.last().copied()
        {
            let things = self.things(answer);
            if self.returns.entry(function).or_default().takes(things) {
                self.forget();
            }
        }
    }

    /// Remembers a member that the program defines with a function of its own.
    pub(super) fn defines(&mut self, name: &str, value: &Expression<'_>) {
        let function = matches!(
            fold::bare(value),
            Expression::FunctionExpression(_) | Expression::ArrowFunctionExpression(_) | Expression::NumericLiteral(_)
        );
        if self.pass == Pass::Learn && function && name != "constructor" && name != "__proto__" {
            self.own.insert(name.to_owned());
        }
    }
}
