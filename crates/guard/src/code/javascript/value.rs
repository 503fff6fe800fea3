//! What expressions stand for: names, members, modules and texts that can be followed.

use oxc_ast::ast::{
    Argument, ArrayExpressionElement, BinaryOperator, CallExpression, ChainElement, ComputedMemberExpression,
    Expression, NewExpression,
};

use super::scope::{Thing, Things};
use super::{Pass, Reader, This, fold, module_path, rules};

/// Members of members that are followed.
const LONGEST_CHAIN: usize = 60;
/// Bytes of a qualified name.
const LONGEST_PATH: usize = 200;

impl Reader<'_> {
    /// The text that an expression is known to be.
    pub(super) fn text(&self, expression: &Expression<'_>) -> Option<String> {
        fold::text(expression, &|name| self.scopes.find(name).and_then(Things::text).map(str::to_owned))
    }

    /// What an expression may stand for, as far as that is known.
    pub(super) fn things(&self, expression: &Expression<'_>) -> Things {
        // Nothing is known before it is known where names are bound.
        if self.pass == Pass::Declare { Things::unknown() } else { self.deep(expression, 0) }
    }

    /// What a name stands for: what the program bound it to, or else the global of that name.
    pub(super) fn named(&self, name: &str) -> Things {
        match self.scopes.find(name) {
            Some(things) => things.clone(),
            None => Things::path(rules::builtin(name).unwrap_or(name)),
        }
    }

    // A chain longer than this is followed by nobody, and may begin with the object that holds all others.
    fn deep(&self, expression: &Expression<'_>, depth: usize) -> Things {
        if depth > LONGEST_CHAIN {
            return Things { open: true, ..Things::path("globalThis") };
        }
        if let Some(text) = self.text(expression) {
            return Thing::Text(text).into();
        }
        let depth = depth + 1;
        match fold::bare(expression) {
            Expression::Identifier(name) => self.named(name.name.as_str()),
            Expression::ThisExpression(_) if matches!(self.this_kind(), This::Top | This::Loose) => {
                Things::path("globalThis")
            }
            Expression::ImportMeta(_) => Things::path("import.meta"),
            Expression::StaticMemberExpression(member) => {
                self.member_of(&self.deep(&member.object, depth), Some(member.property.name.as_str()))
            }
            Expression::ComputedMemberExpression(member) => self.computed(member, depth),
            Expression::ChainExpression(chain) => match &chain.expression {
                ChainElement::CallExpression(call) => self.answer(call, depth),
                ChainElement::TSNonNullExpression(inner) => self.deep(&inner.expression, depth),
                ChainElement::StaticMemberExpression(member) => {
                    self.member_of(&self.deep(&member.object, depth), Some(member.property.name.as_str()))
                }
                ChainElement::ComputedMemberExpression(member) => self.computed(member, depth),
                ChainElement::PrivateFieldExpression(_) => Things::unknown(),
            },
            Expression::CallExpression(call) => self.answer(call, depth),
            Expression::NewExpression(call) => self.instance(call, depth),
            Expression::TaggedTemplateExpression(tagged) => called(&self.deep(&tagged.tag, depth)),
            Expression::AwaitExpression(inner) => self.deep(&inner.argument, depth),
            Expression::ImportExpression(import) => self.module(&import.source),
            Expression::LogicalExpression(either) => {
                let mut things = self.deep(&either.left, depth);
                things.add(self.deep(&either.right, depth));
                things
            }
            Expression::ConditionalExpression(either) => {
                let mut things = self.deep(&either.consequent, depth);
                things.add(self.deep(&either.alternate, depth));
                things
            }
            Expression::SequenceExpression(sequence) => {
                sequence.expressions.last().map_or_else(Things::unknown, |last| self.deep(last, depth))
            }
            Expression::AssignmentExpression(assignment) => self.deep(&assignment.right, depth),
            Expression::FunctionExpression(function) => Thing::Function(function.span.start).into(),
            Expression::ArrowFunctionExpression(function) => Thing::Function(function.span.start).into(),
            Expression::ClassExpression(class) => Thing::Function(class.span.start).into(),
            Expression::ArrayExpression(list) => {
                let elements = list.elements.iter().filter_map(ArrayExpressionElement::as_expression);
                self.held(elements, depth)
            }
            Expression::TemplateLiteral(_) => Thing::Worked.into(),
            Expression::BinaryExpression(binary) if binary.operator == BinaryOperator::Addition => {
                let is_text = |things: Things| matches!(things.known.as_slice(), [Thing::Text(_) | Thing::Worked]);
                let text = is_text(self.deep(&binary.left, depth)) || is_text(self.deep(&binary.right, depth));
                if text { Thing::Worked.into() } else { Things::unknown() }
            }
            _ => Things::unknown(),
        }
    }

    fn computed(&self, member: &ComputedMemberExpression<'_>, depth: usize) -> Things {
        let key = self.key(&member.expression);
        self.member_of(&self.deep(&member.object, depth), key.as_deref())
    }

    /// The member that a key in brackets names.
    pub(super) fn key(&self, expression: &Expression<'_>) -> Option<String> {
        match fold::bare(expression) {
            Expression::NumericLiteral(number) => Some(number.value.to_string()),
            Expression::UnaryExpression(_) | Expression::UpdateExpression(_) => Some("0".to_owned()),
            // What is no sum of texts is a number.
            Expression::BinaryExpression(binary) if binary.operator != BinaryOperator::Addition => Some("0".to_owned()),
            _ => self.text(expression),
        }
    }

    /// The member of an object; without a name for one that is chosen at run time.
    pub(super) fn member_of(&self, object: &Things, name: Option<&str>) -> Things {
        let Some(name) = name else { return Things { known: vec![Thing::Chosen], open: true } };
        let mut things = Things { known: Vec::new(), open: object.open || object.known.is_empty() };
        for thing in &object.known {
            match thing {
                Thing::Path(path) => match member_path(path, name) {
                    Some(path) => {
                        if name == "value" && path.starts_with("Object.getOwnPropertyDescriptor") {
                            things.add(Thing::Chosen.into());
                        }
                        things.add(Things::path(path));
                    }
                    None => things.open = true,
                },
                // What was made may be a list of what was made.
                Thing::Made | Thing::Chosen if name.starts_with(|c: char| c.is_ascii_digit()) => {
                    things.add(thing.clone().into());
                }
                Thing::Text(_) | Thing::Worked | Thing::Function(_) | Thing::Chosen | Thing::Made => things.open = true,
            }
        }
        things
    }

    /// The module of a name, where that is a text.
    pub(super) fn module(&self, source: &Expression<'_>) -> Things {
        self.text(source).map_or_else(Things::unknown, |name| Things::path(module_path(&name)))
    }

    fn answer(&self, call: &CallExpression<'_>, depth: usize) -> Things {
        let callee = self.deep(&call.callee, depth);
        let mut things = Things { known: Vec::new(), open: callee.open };
        for thing in callee.known {
            things.add(match thing {
                Thing::Path(path) if rules::is_require(&path) => {
                    let source = call.arguments.first().and_then(Argument::as_expression);
                    source.map_or_else(Things::unknown, |source| self.module(source))
                }
                Thing::Path(path) if path == "node:module.createRequire" => Things::path("require"),
                Thing::Path(path) if path == "Reflect.get" => Thing::Chosen.into(),
                Thing::Path(path) if matches!(path.as_str(), "atob" | "String" | "decodeURIComponent" | "unescape") => {
                    Thing::Worked.into()
                }
                Thing::Function(start) => {
                    let mut things = self.returns.get(&start).cloned().unwrap_or_default();
                    things.open = true;
                    things
                }
                other => called(&other.into()),
            });
        }
        // A member chosen at run time that is handed to a method is called by it.
        let chosen = |argument: &Argument<'_>| {
            argument.as_expression().is_some_and(|argument| {
                matches!(
                    fold::bare(argument),
                    Expression::Identifier(_) | Expression::ComputedMemberExpression(_) | Expression::CallExpression(_)
                ) && self.deep(argument, depth).has(&Thing::Chosen)
            })
        };
        if takes_callback(&call.callee) && call.arguments.iter().any(chosen) {
            things.add(Thing::Made.into());
        }
        // What was made is handed through.
        let handed = self.held(call.arguments.iter().filter_map(Argument::as_expression), depth);
        if handed.has(&Thing::Made) {
            things.add(Thing::Made.into());
        }
        if let Some(name) = member_name(&call.callee)
            && gives_text(name)
        {
            things.add(Thing::Worked.into());
        }
        things
    }

    /// What a list holds that was chosen or made at run time.
    fn held<'e, 'a: 'e>(&self, elements: impl Iterator<Item = &'e Expression<'a>>, depth: usize) -> Things {
        let mut things = Things::unknown();
        for element in elements {
            let element = self.deep(element, depth);
            for thing in [Thing::Chosen, Thing::Made] {
                if element.has(&thing) {
                    things.add(thing.into());
                }
            }
        }
        things
    }

    fn instance(&self, call: &NewExpression<'_>, depth: usize) -> Things {
        called(&self.deep(&call.callee, depth))
    }
}

/// What a call answers.
fn called(callee: &Things) -> Things {
    let mut things = Things { known: Vec::new(), open: callee.open };
    for thing in &callee.known {
        match thing {
            Thing::Path(path) if path.len() < LONGEST_PATH => things.add(Things::path(format!("{path}()"))),
            Thing::Chosen => things.add(Thing::Made.into()),
            _ => things.open = true,
        }
    }
    things
}

/// The qualified name of a member.
pub(super) fn member_path(path: &str, name: &str) -> Option<String> {
    if rules::is_global(path) {
        return Some(rules::builtin(name).unwrap_or(name).to_owned());
    }
    // What a module exports by default is the module.
    if name == "default" && (path.starts_with("node:") || path == "process") {
        return Some(path.to_owned());
    }
    (path.len() < LONGEST_PATH).then(|| format!("{path}.{name}"))
}

/// The name of a member that is written down.
pub(super) fn member_name<'e>(expression: &'e Expression<'_>) -> Option<&'e str> {
    match fold::bare(expression) {
        Expression::StaticMemberExpression(member) => Some(member.property.name.as_str()),
        Expression::ChainExpression(chain) => match &chain.expression {
            ChainElement::StaticMemberExpression(member) => Some(member.property.name.as_str()),
            _ => None,
        },
        _ => None,
    }
}

/// Methods that call what they are given and answer what that answers.
fn takes_callback(callee: &Expression<'_>) -> bool {
    matches!(
        member_name(callee),
        Some("map" | "flatMap" | "from" | "reduce" | "then" | "apply" | "construct" | "call" | "bind" | "attempt")
    )
}

/// Methods that answer a text.
fn gives_text(method: &str) -> bool {
    matches!(
        method,
        "slice"
            | "substring"
            | "substr"
            | "join"
            | "toString"
            | "replace"
            | "replaceAll"
            | "trim"
            | "toLowerCase"
            | "toUpperCase"
            | "charAt"
            | "repeat"
            | "padStart"
            | "padEnd"
            | "fromCharCode"
            | "fromCodePoint"
            | "stringify"
    )
}
