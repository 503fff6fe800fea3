//! JavaScript and TypeScript by their syntax tree.
//!
//! Names are followed through constants and simple declarations, member names through constant strings. A module or a
//! member of a global object that is chosen by a name worked out at run time is refused.

mod fold;
mod rules;

pub(super) use rules::STRICT_MODULES;

use std::collections::HashMap;

use oxc_allocator::Allocator;
use oxc_ast::ast::{
    Argument, AssignmentExpression, AssignmentTarget, BinaryExpression, BinaryOperator, BindingPattern, CallExpression,
    ComputedMemberExpression, ExportAllDeclaration, Expression, IdentifierReference, ImportDeclaration,
    ImportExpression, NewExpression, ObjectPropertyKind, PropertyKey, StaticMemberExpression, TSType,
    VariableDeclarator,
};
use oxc_ast_visit::{Visit, walk};
use oxc_parser::Parser;
use oxc_span::{GetSpan as _, SourceType, Span};

use crate::Finding;
use crate::code::{Level, position};

/// Brackets open at once: what nests deeper is not parsed.
const DEEPEST: usize = 300;
/// The parser goes down with the source; this is enough for the longest source that is read.
const STACK: usize = 256 << 20;
const MOST_FINDINGS: usize = 20;
/// Members of members that are followed.
const LONGEST_CHAIN: usize = 60;

/// Every reason to refuse the program.
pub(super) fn findings(level: Level, source: &str, typescript: bool) -> Vec<Finding> {
    if deeper_than(source, DEEPEST) {
        return vec![Finding::new("code-syntax", format!("nested deeper than {DEEPEST} brackets"))];
    }
    stacker::grow(STACK, || {
        let allocator = Allocator::default();
        let kinds = if typescript {
            [SourceType::ts(), SourceType::tsx(), SourceType::ts()]
        } else {
            [SourceType::mjs().with_jsx(true), SourceType::cjs(), SourceType::script()]
        };
        // A program is a module or a script; whichever it is, it must be valid as one of them.
        let mut first_error = None;
        for kind in kinds {
            let parsed = Parser::new(&allocator, source, kind).parse();
            if !parsed.panicked && parsed.diagnostics.is_empty() {
                let mut reader = Reader { level, source, names: HashMap::new(), findings: Vec::new(), judging: false };
                // The first walk learns what names hold, wherever they are given it.
                reader.visit_program(&parsed.program);
                reader.judging = true;
                reader.visit_program(&parsed.program);
                return reader.findings;
            }
            first_error
                .get_or_insert_with(|| parsed.diagnostics.iter().next().map(ToString::to_string).unwrap_or_default());
        }
        let error = first_error.unwrap_or_default();
        vec![Finding::new("code-syntax", format!("the source does not parse: {error}"))]
    })
}

fn deeper_than(source: &str, most: usize) -> bool {
    let mut depth = 0usize;
    source.bytes().any(|byte| {
        match byte {
            b'(' | b'[' | b'{' | b'<' => depth += 1,
            b')' | b']' | b'}' | b'>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > most
    })
}

/// What a name or an expression stands for.
#[derive(Debug, Clone, PartialEq)]
enum Thing {
    /// A text.
    Text(String),
    /// A qualified name: `process.binding`, or `node:fs` and its members for a module.
    Path(String),
}

struct Reader<'s> {
    level: Level,
    source: &'s str,
    /// What names hold; `None` for those that hold different things.
    names: HashMap<String, Option<Thing>>,
    findings: Vec<Finding>,
    judging: bool,
}

impl<'s> Reader<'s> {
    fn refuse(&mut self, span: Span, rule: &'static str, message: String) {
        if !self.judging || self.findings.len() >= MOST_FINDINGS {
            return;
        }
        let (line, column) = position::of(self.source, span.start as usize);
        if !self.findings.iter().any(|earlier| earlier.place == Some((line, column)) && earlier.rule == rule) {
            self.findings.push(Finding::new(rule, message).at(line, column));
        }
    }

    fn learn(&mut self, name: &str, thing: Option<Thing>) {
        if self.judging {
            return;
        }
        match self.names.get_mut(name) {
            None => {
                self.names.insert(name.to_owned(), thing);
            }
            Some(known) if *known == thing => {}
            // Something that leads somewhere is kept over something harmless.
            Some(known) => {
                if let Some(Thing::Path(_)) = thing {
                    *known = thing;
                } else if !matches!(known, Some(Thing::Path(_))) {
                    *known = None;
                }
            }
        }
    }

    /// What an expression stands for, where that is known.
    fn thing(&self, expression: &Expression<'_>) -> Option<Thing> {
        self.deep_thing(expression, 0)
    }

    // A chain longer than this is followed by nobody; what cannot be followed is refused where it matters.
    fn deep_thing(&self, expression: &Expression<'_>, depth: usize) -> Option<Thing> {
        if depth > LONGEST_CHAIN {
            return None;
        }
        if let Some(text) = fold::text(expression, &|name| match self.names.get(name) {
            Some(Some(Thing::Text(text))) => Some(text.clone()),
            _ => None,
        }) {
            return Some(Thing::Text(text));
        }
        match expression.without_parentheses() {
            Expression::Identifier(name) => match self.names.get(name.name.as_str()) {
                Some(known) => known.clone(),
                None => Some(Thing::Path(name.name.as_str().to_owned())),
            },
            Expression::StaticMemberExpression(member) => {
                self.deep_member(&member.object, member.property.name.as_str(), depth + 1)
            }
            Expression::ComputedMemberExpression(member) => match self.deep_thing(&member.expression, depth + 1) {
                Some(Thing::Text(name)) => self.deep_member(&member.object, &name, depth + 1),
                _ => None,
            },
            Expression::ChainExpression(chain) => chain.expression.as_member_expression().and_then(|member| {
                let name = member.static_property_name()?;
                self.deep_member(member.object(), name.as_ref(), depth + 1)
            }),
            Expression::CallExpression(call) => self.imported(call, depth + 1),
            Expression::AwaitExpression(inner) => match &inner.argument {
                Expression::ImportExpression(import) => self.module_of(&import.source, depth + 1),
                other => self.deep_thing(other, depth + 1),
            },
            Expression::ImportExpression(import) => self.module_of(&import.source, depth + 1),
            Expression::LogicalExpression(either) => {
                self.deep_thing(&either.left, depth + 1).or_else(|| self.deep_thing(&either.right, depth + 1))
            }
            Expression::SequenceExpression(sequence) => {
                sequence.expressions.last().and_then(|last| self.deep_thing(last, depth + 1))
            }
            Expression::TSAsExpression(inner) => self.deep_thing(&inner.expression, depth + 1),
            Expression::TSNonNullExpression(inner) => self.deep_thing(&inner.expression, depth + 1),
            _ => None,
        }
    }

    fn member(&self, object: &Expression<'_>, name: &str) -> Option<Thing> {
        self.deep_member(object, name, 0)
    }

    fn deep_member(&self, object: &Expression<'_>, name: &str, depth: usize) -> Option<Thing> {
        match self.deep_thing(object, depth) {
            // The global object under any of its names.
            Some(Thing::Path(path)) if rules::is_global(&path) => Some(Thing::Path(name.to_owned())),
            Some(Thing::Path(path)) if path.len() < 200 => Some(Thing::Path(format!("{path}.{name}"))),
            _ => None,
        }
    }

    fn module_of(&self, source: &Expression<'_>, depth: usize) -> Option<Thing> {
        match self.deep_thing(source, depth) {
            Some(Thing::Text(name)) => Some(Thing::Path(module_path(&name))),
            _ => None,
        }
    }

    /// The module that `require(..)` answers.
    fn imported(&self, call: &CallExpression<'_>, depth: usize) -> Option<Thing> {
        let Some(Thing::Path(path)) = self.deep_thing(&call.callee, depth) else { return None };
        if !rules::is_require(&path) {
            return None;
        }
        self.module_of(call.arguments.first()?.as_expression()?, depth)
    }

    fn judge(&mut self, span: Span, path: &str) {
        if let Some(why) = rules::refused(path) {
            self.refuse(span, why.0, format!("`{path}` {}", why.1));
        } else if self.level == Level::Readonly && rules::writes(path) {
            self.refuse(span, "code-write", format!("`{path}` changes something, which readonly code may not"));
        }
    }

    fn judge_module(&mut self, span: Span, name: &str) {
        let path = module_path(name);
        if rules::refused(&path).is_some() {
            self.judge(span, &path);
        } else if self.level >= Level::Strict && !rules::strict_module(&path) {
            self.refuse(span, "code-import", format!("import of `{name}`, which is not on the list"));
        }
    }

    fn judge_source(&mut self, span: Span, source: &Expression<'_>) {
        match self.thing(source) {
            Some(Thing::Text(name)) => self.judge_module(span, &name),
            _ => self.refuse(
                span,
                "code-computed-name",
                "a module is chosen by a name worked out at run time".to_owned(),
            ),
        }
    }

    fn arguments_text(&self, argument: Option<&Argument<'_>>) -> bool {
        argument.and_then(Argument::as_expression).is_some_and(|argument| {
            matches!(self.thing(argument), Some(Thing::Text(_)))
                || matches!(argument.without_parentheses(), Expression::TemplateLiteral(_))
                || matches!(argument.without_parentheses(), Expression::BinaryExpression(binary) if binary.operator == BinaryOperator::Addition)
        })
    }

    /// The name of the member that is called, and the object it belongs to.
    fn called_member<'c, 'a>(&self, callee: &'c Expression<'a>) -> Option<(String, &'c Expression<'a>)> {
        match callee.without_parentheses() {
            Expression::StaticMemberExpression(member) => {
                Some((member.property.name.as_str().to_owned(), &member.object))
            }
            Expression::ComputedMemberExpression(member) => match self.thing(&member.expression) {
                Some(Thing::Text(name)) => Some((name, &member.object)),
                _ => None,
            },
            _ => None,
        }
    }

    fn constructor(&mut self, span: Span, name: &str, object: &Expression<'_>) {
        if name != "constructor" {
            return;
        }
        let inner = self.called_member(object).map(|(name, _)| name);
        let function = matches!(
            object.without_parentheses(),
            Expression::FunctionExpression(_) | Expression::ArrowFunctionExpression(_) | Expression::CallExpression(_)
        );
        if function
            || inner.is_some_and(|inner| inner == "constructor" || inner == "__proto__" || rules::is_method(&inner))
        {
            self.refuse(span, "code-dynamic", "the constructor of functions runs text as code".to_owned());
        }
    }
}

/// Whether a module may be imported at no level.
pub(super) fn is_blocked(import: &str) -> bool {
    rules::refused(&module_path(import)).is_some()
}

/// Modules are known under their bare name, with and without `node:`.
fn module_path(name: &str) -> String {
    format!("node:{}", name.strip_prefix("node:").unwrap_or(name))
}

impl<'a> Visit<'a> for Reader<'_> {
    fn visit_expression(&mut self, it: &Expression<'a>) {
        stacker::maybe_grow(256 << 10, 8 << 20, || walk::walk_expression(self, it));
    }

    // Types name things without using them.
    fn visit_ts_type(&mut self, _: &TSType<'a>) {}

    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        let name = it.name.as_str();
        match self.names.get(name).cloned() {
            Some(Some(Thing::Path(path))) => self.judge(it.span, &path),
            Some(_) => {}
            None => self.judge(it.span, name),
        }
    }

    fn visit_static_member_expression(&mut self, it: &StaticMemberExpression<'a>) {
        let name = it.property.name.as_str();
        if let Some(Thing::Path(path)) = self.member(&it.object, name) {
            self.judge(it.span, &path);
        }
        if let Some(why) = rules::telling(name) {
            self.refuse(it.span, why.0, format!("`{name}` {}", why.1));
        }
        self.constructor(it.span, name, &it.object);
        walk::walk_static_member_expression(self, it);
    }

    fn visit_computed_member_expression(&mut self, it: &ComputedMemberExpression<'a>) {
        match self.thing(&it.expression) {
            Some(Thing::Text(name)) => {
                if let Some(Thing::Path(path)) = self.member(&it.object, &name) {
                    self.judge(it.span, &path);
                }
                self.constructor(it.span, &name, &it.object);
            }
            _ => {
                let guarded = matches!(self.thing(&it.object), Some(Thing::Path(path)) if rules::is_guarded(&path));
                if guarded {
                    self.refuse(
                        it.span,
                        "code-computed-name",
                        "a member is chosen by a name worked out at run time".to_owned(),
                    );
                }
            }
        }
        walk::walk_computed_member_expression(self, it);
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        if let Some(Thing::Path(path)) = self.thing(&it.callee) {
            if rules::is_require(&path) {
                match it.arguments.first().and_then(Argument::as_expression) {
                    Some(source) => self.judge_source(it.span, source),
                    None => self.refuse(it.span, "code-computed-name", "a module is chosen at run time".to_owned()),
                }
            }
            if rules::takes_code(&path) && self.arguments_text(it.arguments.first()) {
                self.refuse(it.span, "code-dynamic", format!("`{path}` runs text as code"));
            }
            if self.level == Level::Readonly && path == "fetch" && !only_reads(it.arguments.get(1)) {
                self.refuse(it.span, "code-write", "a request that may not only read".to_owned());
            }
            if path == "Reflect.get"
                && it
                    .arguments
                    .get(1)
                    .and_then(Argument::as_expression)
                    .is_some_and(|key| self.thing(key).is_none_or(|key| key == Thing::Text("constructor".to_owned())))
            {
                self.refuse(
                    it.span,
                    "code-computed-name",
                    "a member is chosen by a name worked out at run time".to_owned(),
                );
            }
        }
        if let Some((name, object)) = self.called_member(&it.callee)
            && name == "constructor"
            && !matches!(object, Expression::Super(_))
        {
            self.refuse(it.span, "code-dynamic", "the constructor of functions runs text as code".to_owned());
        }
        walk::walk_call_expression(self, it);
    }

    fn visit_new_expression(&mut self, it: &NewExpression<'a>) {
        if let Some((name, object)) = self.called_member(&it.callee)
            && name == "constructor"
            && !matches!(object, Expression::ThisExpression(_))
            && self.arguments_text(it.arguments.last())
        {
            self.refuse(it.span, "code-dynamic", "the constructor of functions runs text as code".to_owned());
        }
        walk::walk_new_expression(self, it);
    }

    fn visit_binary_expression(&mut self, it: &BinaryExpression<'a>) {
        // Asking whether something is a function uses none.
        if it.operator == BinaryOperator::Instanceof && matches!(&it.right, Expression::Identifier(_)) {
            self.visit_expression(&it.left);
            return;
        }
        walk::walk_binary_expression(self, it);
    }

    fn visit_import_expression(&mut self, it: &ImportExpression<'a>) {
        self.judge_source(it.span, &it.source);
        walk::walk_import_expression(self, it);
    }

    fn visit_import_declaration(&mut self, it: &ImportDeclaration<'a>) {
        let name = it.source.value.as_str();
        self.judge_module(it.span, name);
        for specifier in it.specifiers.iter().flatten() {
            use oxc_ast::ast::ImportDeclarationSpecifier as Specifier;
            let path = match specifier {
                Specifier::ImportSpecifier(member) => format!("{}.{}", module_path(name), member.imported.name()),
                Specifier::ImportDefaultSpecifier(_) | Specifier::ImportNamespaceSpecifier(_) => module_path(name),
            };
            self.judge(specifier.span(), &path);
            let local = specifier.local().name.as_str().to_owned();
            self.learn(&local, Some(Thing::Path(path)));
        }
    }

    fn visit_export_all_declaration(&mut self, it: &ExportAllDeclaration<'a>) {
        self.judge_module(it.span, it.source.value.as_str());
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        let value = it.init.as_ref().and_then(|init| self.thing(init));
        match &it.id {
            BindingPattern::BindingIdentifier(name) => self.learn(name.name.as_str(), value),
            BindingPattern::ObjectPattern(pattern) => {
                for property in &pattern.properties {
                    let key = property.key.static_name();
                    let thing = match (&value, key) {
                        (Some(Thing::Path(path)), Some(key)) => {
                            let path = if rules::is_global(path) { key.into_owned() } else { format!("{path}.{key}") };
                            self.judge(property.span, &path);
                            Some(Thing::Path(path))
                        }
                        (_, Some(key)) if key == "constructor" => {
                            self.refuse(
                                property.span,
                                "code-dynamic",
                                "the constructor of functions runs text as code".to_owned(),
                            );
                            None
                        }
                        _ => None,
                    };
                    if let BindingPattern::BindingIdentifier(name) = &property.value {
                        self.learn(name.name.as_str(), thing);
                    }
                }
            }
            _ => {}
        }
        walk::walk_variable_declarator(self, it);
    }

    fn visit_assignment_expression(&mut self, it: &AssignmentExpression<'a>) {
        if let AssignmentTarget::AssignmentTargetIdentifier(name) = &it.left {
            let value = if it.operator.is_assign() { self.thing(&it.right) } else { None };
            self.learn(name.name.as_str(), value);
        }
        if self.level == Level::Readonly
            && let Some(member) = it.left.as_member_expression()
            && let Some(Thing::Path(path)) = self.thing(member.object())
            && path == "process.env"
        {
            self.refuse(it.span, "code-write", "a change of the environment".to_owned());
        }
        walk::walk_assignment_expression(self, it);
    }
}

/// Whether the options of a request ask for a method that reads.
fn only_reads(options: Option<&Argument<'_>>) -> bool {
    let Some(options) = options else { return true };
    let Some(Expression::ObjectExpression(options)) = options.as_expression() else { return false };
    options.properties.iter().all(|property| match property {
        ObjectPropertyKind::SpreadProperty(_) => false,
        ObjectPropertyKind::ObjectProperty(property) => {
            let is_method = match &property.key {
                PropertyKey::StaticIdentifier(name) => name.name.as_str() == "method",
                key => key.static_name().is_none_or(|name| name == "method"),
            };
            !is_method
                || matches!(&property.value, Expression::StringLiteral(method) if matches!(method.value.as_str().to_ascii_uppercase().as_str(), "GET" | "HEAD" | "OPTIONS"))
        }
    })
}
