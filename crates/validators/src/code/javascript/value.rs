//! What expressions stand for: names, members, modules and texts that can be followed.

use oxc_ast::ast::{
    ArrayExpressionElement, BinaryOperator, ChainElement, ComputedMemberExpression, Expression, ObjectPropertyKind,
};

use oxc_span::GetSpan as _;

use super::scope::{Source, Thing, Things};
use super::{Pass, Reader, This, answers, content, fold, module_things, rules};

/// Members of members that are followed.
const LONGEST_CHAIN: usize = 20_000;
/// Bytes of a qualified name.
pub(super) const LONGEST_PATH: usize = 200;

impl Reader<'_> {
    /// The text that an expression is known to be.
    pub(super) fn text(&self, expression: &Expression<'_>) -> Option<String> {
        let of = |name: &str| self.scopes.find(name).and_then(Things::text).map(str::to_owned);
        fold::text(expression, &fold::Names { of: &of, known: &self.texts })
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
    pub(super) fn deep(&self, expression: &Expression<'_>, depth: usize) -> Things {
        if depth > LONGEST_CHAIN {
            return Things { open: true, ..Things::path("globalThis") };
        }
        let inner = fold::bare(expression);
        if matches!(inner, Expression::Identifier(_) | Expression::StringLiteral(_)) {
            return self.work_out(inner, depth);
        }
        let span = inner.span();
        if let Some(known) = self.worked.borrow().get(&(span.start, span.end)) {
            return known.clone();
        }
        let things = stacker::maybe_grow(64 << 10, 4 << 20, || self.work_out(inner, depth));
        self.worked.borrow_mut().insert((span.start, span.end), things.clone());
        things
    }

    fn work_out(&self, expression: &Expression<'_>, depth: usize) -> Things {
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
                let name = member.property.name.as_str();
                let mut things = self.member_of(&self.deep(&member.object, depth), Some(name));
                if super::settings::is_of_request(&member.object, name) {
                    things.push(Thing::Private(Source::Request));
                }
                self.own_member(&member.object, name, things)
            }
            Expression::PrivateFieldExpression(member) => {
                self.own_member(&member.object, member.field.name.as_str(), Things::unknown())
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
            Expression::RegExpLiteral(_) => Things::path("RegExp()"),
            Expression::TaggedTemplateExpression(tagged) => answers::called(&self.deep(&tagged.tag, depth)),
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
            Expression::YieldExpression(inner) => {
                inner.argument.as_ref().map_or_else(Things::unknown, |inner| self.deep(inner, depth))
            }
            Expression::FunctionExpression(function) => Thing::Function(function.span.start).into(),
            Expression::ArrowFunctionExpression(function) => Thing::Function(function.span.start).into(),
            Expression::ClassExpression(class) => Thing::Function(class.span.start).into(),
            Expression::ArrayExpression(list) => {
                let mut things = Things { open: true, ..Thing::Object(list.span.start).into() };
                for element in &list.elements {
                    let element = match element {
                        ArrayExpressionElement::SpreadElement(spread) => Some(&spread.argument),
                        element => element.as_expression(),
                    };
                    if let Some(element) = element {
                        let element = self.deep(element, depth);
                        things.add_private(&element);
                        for thing in [Thing::Chosen, Thing::Made] {
                            if element.has(&thing) {
                                things.push(thing);
                            }
                        }
                    }
                }
                things
            }
            Expression::ObjectExpression(object) => {
                let mut things = Things { open: true, ..Thing::Object(object.span.start).into() };
                for property in &object.properties {
                    let value = match property {
                        ObjectPropertyKind::SpreadProperty(spread) => &spread.argument,
                        ObjectPropertyKind::ObjectProperty(property) => &property.value,
                    };
                    things.add_private(&self.deep(value, depth));
                }
                things
            }
            Expression::TemplateLiteral(template) => {
                let parts: Vec<Things> = template.expressions.iter().map(|part| self.deep(part, depth)).collect();
                content::template(template, &parts)
            }
            Expression::BinaryExpression(binary) if binary.operator == BinaryOperator::Addition => {
                content::sum(&self.deep(&binary.left, depth), &self.deep(&binary.right, depth))
            }
            _ => Things::unknown(),
        }
    }

    /// What the program keeps in a member of its own objects.
    pub(super) fn own_member(&self, object: &Expression<'_>, name: &str, mut things: Things) -> Things {
        if matches!(fold::bare(object), Expression::ThisExpression(_))
            && let Some(known) = self.members.get(name)
        {
            things.add(known.clone());
        }
        things
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
        let Some(name) = name else { return self.chosen_of(object) };
        let mut things = Things { known: Vec::new(), open: object.open || object.known.is_empty() };
        for thing in &object.known {
            match thing {
                Thing::Path(path) => match member_path(path, name) {
                    Some(path) => {
                        if name == "value" && path.starts_with("Object.getOwnPropertyDescriptor") {
                            things.add(Thing::Chosen.into());
                        }
                        if let Some(source) = content::source_of(&path) {
                            things.push(Thing::Private(source));
                        }
                        things.add(Things::path(path));
                    }
                    None => things.open = true,
                },
                Thing::Object(start) => match self.field(*start, name) {
                    Some(field) => things.add(field),
                    None => things.open = true,
                },
                Thing::Private(_) | Thing::Listed(_) if content::tells_nothing(name) => things.open = true,
                Thing::Private(Source::File) => things.push(Thing::Private(Source::Part)),
                Thing::Private(_) | Thing::Listed(_) => things.push(thing.clone()),
                // What an address or a file is called.
                Thing::Text(_) | Thing::Partial(..) if matches!(name, "pathname" | "href" | "name" | "path") => {
                    things.push(thing.clone());
                }
                // What was made may be a list of what was made.
                Thing::Made | Thing::Chosen if name.starts_with(|c: char| c.is_ascii_digit()) => {
                    things.add(thing.clone().into());
                }
                Thing::Text(_)
                | Thing::Worked
                | Thing::Function(_)
                | Thing::Chosen
                | Thing::Made
                | Thing::Partial(..)
                | Thing::Opaque => things.open = true,
            }
        }
        things
    }

    /// A member that is chosen at run time: it may be any.
    fn chosen_of(&self, object: &Things) -> Things {
        let mut things = Things { known: vec![Thing::Chosen], open: true };
        for thing in &object.known {
            match thing {
                Thing::Path(path) if content::is_environment(path) => things.push(Thing::Private(Source::Environment)),
                Thing::Object(start) => {
                    for (_, value) in self.objects.get(start).into_iter().flatten() {
                        things.add_known(value);
                    }
                }
                Thing::Private(_) | Thing::Listed(_) => things.push(thing.clone()),
                _ => {}
            }
        }
        things
    }

    /// What an object or a list that is written down holds under a name.
    pub(super) fn field(&self, start: u32, name: &str) -> Option<Things> {
        let fields = self.objects.get(&start)?;
        let is_index = name.starts_with(|c: char| c.is_ascii_digit());
        let wanted = if is_index { "*" } else { name };
        fields.iter().find(|(key, _)| key == wanted).map(|(_, things)| things.clone())
    }

    /// The module of a name, where that is a text.
    pub(super) fn module(&self, source: &Expression<'_>) -> Things {
        self.text(source).map_or_else(Things::unknown, |name| module_things(&name))
    }
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
