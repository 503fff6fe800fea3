//! The walk over the tree: which names are bound, what stands in which place.

use std::cell::Cell;

use oxc_ast::ast::{
    Argument, ArrayExpression, ArrayExpressionElement, ArrowFunctionBody, ArrowFunctionExpression,
    AssignmentExpression, BinaryExpression, BinaryOperator, CallExpression, CatchParameter, Class, ClassType,
    ComputedMemberExpression, ConditionalExpression, ExportAllDeclaration, ExportDeclaration, ExportFromDeclaration,
    Expression, ExpressionStatement, ForOfStatement, ForStatement, ForStatementLeft, FormalParameter,
    FormalParameterRest, Function, FunctionBody, FunctionType, IdentifierReference, IfStatement, ImportDeclaration,
    ImportDeclarationSpecifier, ImportExpression, ImportOrExportKind, LogicalExpression, LogicalOperator,
    MethodDefinition, NewExpression, ObjectExpression, ObjectProperty, ObjectPropertyKind, Program, PropertyDefinition,
    RegExpLiteral, ReturnStatement, Statement, StaticBlock, StaticMemberExpression, StringLiteral, TSClassImplements,
    TSEnumDeclaration, TSExternalModuleDeclaration, TSGlobalDeclaration, TSImportEqualsDeclaration,
    TSInterfaceDeclaration, TSModuleReference, TSNamespaceDeclaration, TSType, TSTypeAliasDeclaration,
    TSTypeAnnotation, TSTypeName, TSTypeParameterDeclaration, TSTypeParameterInstantiation, TaggedTemplateExpression,
    TemplateElement, TemplateLiteral, UnaryExpression, UnaryOperator, VariableDeclaration, VariableDeclarationKind,
    WhileStatement, WithStatement,
};
use oxc_ast_visit::{Visit, walk};
use oxc_span::GetSpan as _;
use oxc_syntax::scope::{ScopeFlags, ScopeId};

use super::scope::{Thing, Things};
use super::{Pass, Place, Reader, This, Use, fold, module_path, module_things, rules, value};

impl<'a> Visit<'a> for Reader<'_> {
    fn enter_scope(&mut self, flags: ScopeFlags, _: &Cell<Option<ScopeId>>) {
        self.scopes.enter(flags.intersects(ScopeFlags::Var));
    }

    fn leave_scope(&mut self) {
        self.scopes.leave();
    }

    fn visit_program(&mut self, it: &Program<'a>) {
        let is_module = |statement: &Statement<'_>| statement.as_module_declaration().is_some();
        self.strict = it.has_use_strict_directive() || it.body.iter().any(is_module);
        walk::walk_program(self, it);
    }

    fn visit_expression(&mut self, it: &Expression<'a>) {
        stacker::maybe_grow(256 << 10, 8 << 20, || {
            let place = std::mem::take(&mut self.place);
            match it {
                Expression::Identifier(name) => self.identifier(name, place),
                Expression::ThisExpression(this) => self.this(this, place),
                Expression::StringLiteral(_) if place == Place::Compared => {}
                Expression::ParenthesizedExpression(_)
                | Expression::TSAsExpression(_)
                | Expression::TSSatisfiesExpression(_)
                | Expression::TSNonNullExpression(_)
                | Expression::TSTypeAssertion(_)
                | Expression::TSInstantiationExpression(_) => {
                    self.place = place;
                    self.visit_expression(fold::bare(it));
                }
                Expression::StaticMemberExpression(_)
                | Expression::ComputedMemberExpression(_)
                | Expression::ChainExpression(_)
                | Expression::ConditionalExpression(_)
                | Expression::LogicalExpression(_)
                | Expression::AwaitExpression(_) => {
                    if self.pass == Pass::Judge && place == Place::Value && matches!(it, Expression::ChainExpression(_))
                    {
                        let things = self.things(it);
                        self.use_things(it.span(), &things, place);
                    }
                    self.place = place;
                    walk::walk_expression(self, it);
                    self.place = Place::Value;
                }
                Expression::BinaryExpression(_) | Expression::CallExpression(_) | Expression::ImportExpression(_) => {
                    let text = if self.pass == Pass::Judge { self.text(it) } else { None };
                    if let Some(text) = text {
                        self.literal(it.span(), &text);
                    } else if self.pass == Pass::Judge
                        && place == Place::Value
                        && !matches!(it, Expression::BinaryExpression(_))
                    {
                        let things = self.things(it);
                        self.use_things(it.span(), &things, place);
                    }
                    walk::walk_expression(self, it);
                }
                _ => walk::walk_expression(self, it),
            }
        });
    }

    // Types name things without using them.
    fn visit_ts_type(&mut self, _: &TSType<'a>) {}
    fn visit_ts_type_annotation(&mut self, _: &TSTypeAnnotation<'a>) {}
    fn visit_ts_type_parameter_declaration(&mut self, _: &TSTypeParameterDeclaration<'a>) {}
    fn visit_ts_type_parameter_instantiation(&mut self, _: &TSTypeParameterInstantiation<'a>) {}
    fn visit_ts_interface_declaration(&mut self, _: &TSInterfaceDeclaration<'a>) {}
    fn visit_ts_type_alias_declaration(&mut self, _: &TSTypeAliasDeclaration<'a>) {}
    fn visit_ts_class_implements(&mut self, _: &TSClassImplements<'a>) {}
    fn visit_ts_external_module_declaration(&mut self, _: &TSExternalModuleDeclaration<'a>) {}
    fn visit_ts_global_declaration(&mut self, _: &TSGlobalDeclaration<'a>) {}

    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        let place = std::mem::take(&mut self.place);
        self.identifier(it, place);
    }

    fn visit_static_member_expression(&mut self, it: &StaticMemberExpression<'a>) {
        let place = std::mem::take(&mut self.place);
        self.member(it.span, &it.object, Some(it.property.name.as_str()), place);
    }

    fn visit_computed_member_expression(&mut self, it: &ComputedMemberExpression<'a>) {
        let place = std::mem::take(&mut self.place);
        let key = self.key(&it.expression);
        self.member(it.span, &it.object, key.as_deref(), place);
        self.visit_expression(&it.expression);
    }

    fn visit_conditional_expression(&mut self, it: &ConditionalExpression<'a>) {
        let place = std::mem::take(&mut self.place);
        self.compared(&it.test);
        for branch in [&it.consequent, &it.alternate] {
            self.place = place;
            self.visit_expression(branch);
        }
    }

    fn visit_logical_expression(&mut self, it: &LogicalExpression<'a>) {
        let place = std::mem::take(&mut self.place);
        // What is false leads nowhere.
        self.place = if it.operator == LogicalOperator::And { Place::Compared } else { place };
        self.visit_expression(&it.left);
        self.place = place;
        self.visit_expression(&it.right);
    }

    fn visit_while_statement(&mut self, it: &WhileStatement<'a>) {
        let endless = matches!(&it.test, Expression::BooleanLiteral(on) if on.value)
            || matches!(&it.test, Expression::NumericLiteral(number) if number.value != 0.0);
        self.endless(it.span, endless, &it.body);
        walk::walk_while_statement(self, it);
    }

    fn visit_for_statement(&mut self, it: &ForStatement<'a>) {
        self.endless(it.span, it.test.is_none(), &it.body);
        let turns = self.turns;
        self.turns *= self.turns_of(it);
        if self.turns > super::loops::MOST_TURNS {
            self.ask_endless(it.span, "a loop that takes for ever");
        }
        walk::walk_for_statement(self, it);
        self.turns = turns;
    }

    fn visit_expression_statement(&mut self, it: &ExpressionStatement<'a>) {
        if let Expression::CallExpression(call) = fold::bare(&it.expression)
            && let Some(Argument::StringLiteral(name)) = call.arguments.first()
            && self.things(&call.callee).paths().any(rules::is_require)
        {
            self.loads_for_effect(it.span, name.value.as_str());
        }
        walk::walk_expression_statement(self, it);
    }

    fn visit_if_statement(&mut self, it: &IfStatement<'a>) {
        self.compared(&it.test);
        self.visit_statement(&it.consequent);
        if let Some(otherwise) = &it.alternate {
            self.visit_statement(otherwise);
        }
    }

    fn visit_unary_expression(&mut self, it: &UnaryExpression<'a>) {
        match it.operator {
            UnaryOperator::Typeof | UnaryOperator::LogicalNot => self.compared(&it.argument),
            UnaryOperator::Delete => {
                self.environment(it.span, &it.argument);
                self.place = Place::Base(Use::Member);
                self.visit_expression(&it.argument);
            }
            _ => walk::walk_unary_expression(self, it),
        }
    }

    fn visit_binary_expression(&mut self, it: &BinaryExpression<'a>) {
        self.power(it);
        if it.operator.is_equality() || matches!(it.operator, BinaryOperator::Instanceof | BinaryOperator::In) {
            self.compared(&it.left);
            self.compared(&it.right);
        } else {
            walk::walk_binary_expression(self, it);
        }
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        self.place = Place::Value;
        self.call(it);
        self.place = Place::Callee;
        self.visit_expression(&it.callee);
        self.place = Place::Value;
        let shown = self.shown_only(&it.callee);
        // Tests put something else in the place of a function.
        let stands_in = matches!(value::member_name(&it.callee), Some("spyOn" | "stub" | "mocked"));
        let turns = self.turns;
        if value::member_name(&it.callee) == Some("from") {
            let length = it.arguments.first().and_then(Argument::as_expression).and_then(super::loops::length);
            self.turns *= length.unwrap_or(1.0).max(1.0);
        }
        let followed = stands_in || self.things(&it.callee).paths().any(|path| path == "node:util.promisify");
        for argument in &it.arguments {
            let receives = matches!(argument, Argument::ThisExpression(_)) && takes_receiver(&it.callee);
            let usual = if followed { Place::Alias } else { Place::Value };
            self.place = if shown || receives { Place::Compared } else { usual };
            self.visit_argument(argument);
        }
        self.turns = turns;
        self.place = Place::Value;
    }

    fn visit_new_expression(&mut self, it: &NewExpression<'a>) {
        self.construct(it);
        self.place = Place::Callee;
        self.visit_expression(&it.callee);
        self.place = Place::Value;
        self.visit_arguments(&it.arguments);
    }

    fn visit_tagged_template_expression(&mut self, it: &TaggedTemplateExpression<'a>) {
        if self.things(&it.tag).has(&Thing::Made) {
            self.made(it.span);
        }
        // Scripts of shells have this one as a global.
        if self.things(&it.tag).paths().any(|path| path == "$") {
            self.ask(it.span, "code-process", "`$` of a template starts a program".to_owned());
        }
        if self.pass == Pass::Judge {
            let texts: Vec<&str> = it
                .quasi
                .quasis
                .iter()
                .map(|text| text.value.cooked.as_ref().map_or("", |text| text.as_str()))
                .collect();
            self.template_destroys(it.span, &texts.join("x"));
        }
        self.place = Place::Callee;
        self.visit_expression(&it.tag);
        let tagged = std::mem::replace(&mut self.tagged, true);
        self.visit_template_literal(&it.quasi);
        self.tagged = tagged;
    }

    fn visit_template_literal(&mut self, it: &TemplateLiteral<'a>) {
        self.address_of_private(it);
        walk::walk_template_literal(self, it);
    }

    fn visit_reg_exp_literal(&mut self, it: &RegExpLiteral<'a>) {
        if self.pass == Pass::Judge && crate::code::patterns::takes_for_ever(it.regex.pattern.text.as_str()) {
            self.ask_endless(it.span, "a pattern that may take for ever");
        }
    }

    fn visit_string_literal(&mut self, it: &StringLiteral<'a>) {
        self.literal(it.span, it.value.as_str());
    }

    fn visit_template_element(&mut self, it: &TemplateElement<'a>) {
        if let Some(text) = &it.value.cooked {
            self.literal(it.span, text.as_str());
        }
    }

    fn visit_object_property(&mut self, it: &ObjectProperty<'a>) {
        let name = it.key.static_name().map(std::borrow::Cow::into_owned);
        let name = name.or_else(|| it.key.as_expression().and_then(|key| self.text(key)));
        if let Some(name) = &name {
            if matches!(name.as_str(), "__html" | "template" | "innerHTML" | "srcdoc")
                && self.pass == Pass::Judge
                && self.things(&it.value).paths().any(rules::is_of_address)
            {
                self.ask(it.span, "code-page", "markup is made of the address of the page".to_owned());
            }
            if name == "props" && self.pass == Pass::Judge {
                self.props_tell(it.span, &it.value);
            }
            if name == "__html" {
                self.shows_markup(it.span, &it.value);
            }
            self.defines(name, &it.value);
            if let Some(why) = rules::option_asked("", name) {
                let off = matches!(&it.value, Expression::BooleanLiteral(value) if !value.value);
                if !off {
                    self.ask(it.span, why.0, format!("the option `{name}` {}", why.1));
                }
            }
        }
        if it.computed
            && let Some(key) = it.key.as_expression()
        {
            self.visit_expression(key);
        }
        if matches!(&it.value, Expression::FunctionExpression(_)) {
            self.next_this = Some(This::Function);
        }
        self.visit_expression(&it.value);
        self.next_this = None;
    }

    fn visit_import_expression(&mut self, it: &ImportExpression<'a>) {
        self.use_source(it.span, &it.source);
        walk::walk_import_expression(self, it);
    }

    fn visit_import_declaration(&mut self, it: &ImportDeclaration<'a>) {
        if it.import_kind == ImportOrExportKind::Type {
            return;
        }
        let name = it.source.value.as_str();
        self.use_module(it.span, name);
        let module = module_path(name);
        let is_own = rules::is_own(name);
        if it.specifiers.is_none() {
            self.loads_for_effect(it.span, name);
        }
        for specifier in it.specifiers.iter().flatten() {
            if is_own {
                if let ImportDeclarationSpecifier::ImportSpecifier(member) = specifier {
                    self.tell(member.span, member.imported.name().as_str());
                    self.note_own(specifier.local().name.as_str(), member.imported.name().as_str());
                } else {
                    self.note_own(specifier.local().name.as_str(), specifier.local().name.as_str());
                }
                self.bind_name(specifier.local().name.as_str(), Things::unknown(), false);
                continue;
            }
            let path = match specifier {
                ImportDeclarationSpecifier::ImportSpecifier(member)
                    if member.import_kind == ImportOrExportKind::Type =>
                {
                    continue;
                }
                ImportDeclarationSpecifier::ImportSpecifier(member) => {
                    let name = member.imported.name();
                    if module != "node:module" {
                        self.tell(member.span, name.as_str());
                    }
                    value::member_path(&module, name.as_str()).unwrap_or_else(|| module.clone())
                }
                ImportDeclarationSpecifier::ImportDefaultSpecifier(_)
                | ImportDeclarationSpecifier::ImportNamespaceSpecifier(_) => module.clone(),
            };
            self.use_path(specifier.span(), &path, Place::Alias);
            self.bind_name(specifier.local().name.as_str(), Things::path(path), false);
        }
    }

    fn visit_ts_import_equals_declaration(&mut self, it: &TSImportEqualsDeclaration<'a>) {
        if it.import_kind == ImportOrExportKind::Type {
            return;
        }
        let things = match &it.module_reference {
            TSModuleReference::ExternalModuleReference(module) => {
                let name = module.expression.value.as_str();
                self.use_module(it.span, name);
                module_things(name)
            }
            TSModuleReference::IdentifierReference(name) => self.named(name.name.as_str()),
            TSModuleReference::QualifiedName(qualified) => {
                let mut names = vec![qualified.right.name.as_str()];
                let mut left = &qualified.left;
                while let TSTypeName::QualifiedName(inner) = left {
                    names.push(inner.right.name.as_str());
                    left = &inner.left;
                }
                let root = match left {
                    TSTypeName::IdentifierReference(name) => self.named(name.name.as_str()),
                    _ => Things::unknown(),
                };
                names.iter().rev().fold(root, |things, name| self.member_of(&things, Some(name)))
            }
        };
        self.use_things(it.span, &things, Place::Alias);
        self.bind_name(it.id.name.as_str(), things, false);
    }

    fn visit_export_all_declaration(&mut self, it: &ExportAllDeclaration<'a>) {
        if it.export_kind != ImportOrExportKind::Type {
            let name = it.source.value.as_str();
            self.use_module(it.span, name);
            if !rules::is_own(name) {
                self.use_path(it.span, &module_path(name), Place::Value);
            }
        }
    }

    fn visit_export_from_declaration(&mut self, it: &ExportFromDeclaration<'a>) {
        if it.export_kind == ImportOrExportKind::Type {
            return;
        }
        let name = it.source.value.as_str();
        self.use_module(it.span, name);
        if rules::is_own(name) {
            return;
        }
        for specifier in &it.specifiers {
            let local = specifier.local.name();
            if let Some(path) = value::member_path(&module_path(name), local.as_str()) {
                self.use_path(specifier.span, &path, Place::Value);
            }
        }
    }

    fn visit_export_declaration(&mut self, it: &ExportDeclaration<'a>) {
        self.exported = true;
        walk::walk_export_declaration(self, it);
        self.exported = false;
    }

    fn visit_variable_declaration(&mut self, it: &VariableDeclaration<'a>) {
        // What is only declared is somewhere else.
        if it.declare {
            return;
        }
        let exported = self.exported;
        for declarator in &it.declarations {
            self.exported = exported;
            self.declarator(declarator, it.kind == VariableDeclarationKind::Var);
        }
    }

    fn visit_for_of_statement(&mut self, it: &ForOfStatement<'a>) {
        self.grows_while_walked(it);
        self.each = self.elements(&self.things(&it.right));
        walk::walk_for_of_statement(self, it);
    }

    fn visit_object_expression(&mut self, it: &ObjectExpression<'a>) {
        if self.pass == Pass::Learn {
            for property in &it.properties {
                let ObjectPropertyKind::ObjectProperty(property) = property else { continue };
                let name = property.key.static_name().map(std::borrow::Cow::into_owned);
                let name = name.or_else(|| property.key.as_expression().and_then(|key| self.text(key)));
                if let Some(name) = name {
                    let things = self.things(&property.value);
                    self.keep_field(it.span.start, &name, things);
                }
            }
        }
        walk::walk_object_expression(self, it);
    }

    fn visit_array_expression(&mut self, it: &ArrayExpression<'a>) {
        if self.pass == Pass::Learn {
            for element in &it.elements {
                let things = match element {
                    ArrayExpressionElement::SpreadElement(spread) => self.elements(&self.things(&spread.argument)),
                    element => element.as_expression().map_or_else(Things::unknown, |element| self.things(element)),
                };
                self.keep_field(it.span.start, "*", things);
            }
        }
        walk::walk_array_expression(self, it);
    }

    fn visit_for_statement_left(&mut self, it: &ForStatementLeft<'a>) {
        match it {
            ForStatementLeft::VariableDeclaration(declaration) => {
                let var = declaration.kind == VariableDeclarationKind::Var;
                let each = std::mem::replace(&mut self.each, Things::unknown());
                for declarator in &declaration.declarations {
                    self.bind(&declarator.id, each.clone(), var);
                }
            }
            other => {
                let each = std::mem::replace(&mut self.each, Things::unknown());
                if let Some(target) = other.as_assignment_target() {
                    self.assign(target, &each);
                }
            }
        }
    }

    fn visit_assignment_expression(&mut self, it: &AssignmentExpression<'a>) {
        let mut things = self.things(&it.right);
        if !it.operator.is_assign() && !it.operator.is_logical() {
            let mut private = Things::unknown();
            private.add_private(&things);
            things = private;
        }
        self.assignment(it);
        self.doubles(it);
        self.assign(&it.left, &things);
        let followed =
            it.left.is_assignment_target_pattern() && matches!(fold::bare(&it.right), Expression::Identifier(_));
        self.place = if followed { Place::Alias } else { Place::Value };
        if it.left.as_member_expression().is_some() && matches!(&it.right, Expression::FunctionExpression(_)) {
            self.next_this = Some(This::Function);
        }
        self.visit_expression(&it.right);
        self.next_this = None;
    }

    fn visit_formal_parameter(&mut self, it: &FormalParameter<'a>) {
        self.visit_decorators(&it.decorators);
        let mut things = self.given.next().unwrap_or_else(Things::unknown);
        if let Some(default) = &it.initializer {
            self.visit_expression(default);
            things.add(self.things(default));
        }
        self.bind(&it.pattern, things, false);
    }

    fn visit_formal_parameter_rest(&mut self, it: &FormalParameterRest<'a>) {
        self.bind(&it.rest.argument, Things::unknown(), false);
    }

    fn visit_catch_parameter(&mut self, it: &CatchParameter<'a>) {
        self.bind(&it.pattern, Things::unknown(), false);
    }

    // What a function declares is not seen by the defaults of its parameters.
    fn visit_function_body(&mut self, it: &FunctionBody<'a>) {
        self.given = Vec::new().into_iter();
        self.scopes.enter(true);
        walk::walk_function_body(self, it);
        self.scopes.leave();
    }

    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        if it.declare || it.r#type == FunctionType::TSDeclareFunction {
            return;
        }
        let is_constructor = it.id.as_ref().is_some_and(|name| name.name.starts_with(|c: char| c.is_ascii_uppercase()));
        let usual = if self.strict || is_constructor { This::Function } else { This::Loose };
        let this = self.next_this.take().unwrap_or(usual);
        if it.r#type == FunctionType::FunctionDeclaration
            && let Some(name) = &it.id
        {
            self.bind_name(name.name.as_str(), Thing::Function(it.span.start).into(), false);
        }
        let exported = std::mem::take(&mut self.exported);
        self.calls_itself(it);
        self.lets_everybody(it);
        let outer = self.begin(it.span.start);
        self.within(this, |reader| {
            reader.enter_scope(flags, &it.scope_id);
            if it.r#type == FunctionType::FunctionExpression
                && let Some(name) = &it.id
            {
                reader.bind_name(name.name.as_str(), Thing::Function(it.span.start).into(), false);
            }
            // The name of an expression lies outside of its parameters.
            reader.enter_scope(flags, &it.scope_id);
            reader.visit_formal_parameters(&it.params);
            if let Some(body) = &it.body {
                reader.visit_function_body(body);
            }
            reader.leave_scope();
            reader.leave_scope();
        });
        self.end(outer);
        self.exported = exported;
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        let exported = std::mem::take(&mut self.exported);
        let outer = self.begin(it.span.start);
        walk::walk_arrow_function_expression(self, it);
        self.end(outer);
        self.exported = exported;
    }

    fn visit_arrow_function_body(&mut self, it: &ArrowFunctionBody<'a>) {
        if let Some(answer) = it.as_expression() {
            self.returned(answer);
        }
        walk::walk_arrow_function_body(self, it);
    }

    fn visit_return_statement(&mut self, it: &ReturnStatement<'a>) {
        if let Some(answer) = &it.argument {
            self.returned(answer);
        }
        walk::walk_return_statement(self, it);
    }

    fn visit_class(&mut self, it: &Class<'a>) {
        if it.declare {
            return;
        }
        self.visit_decorators(&it.decorators);
        let exported = std::mem::take(&mut self.exported);
        let name = it.id.as_ref().map(|name| name.name.as_str());
        if it.r#type == ClassType::ClassDeclaration
            && let Some(name) = name
        {
            self.bind_name(name, Thing::Function(it.span.start).into(), false);
        }
        self.enter_scope(ScopeFlags::StrictMode, &it.scope_id);
        if let Some(name) = name {
            self.bind_name(name, Thing::Function(it.span.start).into(), false);
        }
        if let Some(heritage) = &it.heritage {
            self.visit_expression(&heritage.expression);
        }
        self.visit_class_body(&it.body);
        self.leave_scope();
        self.exported = exported;
    }

    fn visit_method_definition(&mut self, it: &MethodDefinition<'a>) {
        self.visit_decorators(&it.decorators);
        if let Some(name) = it.key.static_name()
            && name != "constructor"
            && self.pass == Pass::Learn
        {
            self.own.insert(name.into_owned());
        }
        self.visit_property_key(&it.key);
        self.next_this = Some(if it.r#static { This::Static } else { This::Method });
        self.visit_function(&it.value, ScopeFlags::Function);
        self.next_this = None;
    }

    fn visit_property_definition(&mut self, it: &PropertyDefinition<'a>) {
        self.visit_decorators(&it.decorators);
        self.visit_property_key(&it.key);
        if let (Some(name), Some(value)) = (it.key.name(), &it.value) {
            self.defines(&name, value);
        }
        if let Some(value) = &it.value {
            let this = if it.r#static { This::Static } else { This::Method };
            self.within(this, |reader| {
                if let (Pass::Learn, Some(name)) = (reader.pass, it.key.name()) {
                    let things = reader.things(value);
                    reader.keep_member(&name, things);
                }
                reader.visit_expression(value);
            });
        }
    }

    fn visit_static_block(&mut self, it: &StaticBlock<'a>) {
        self.within(This::Static, |reader| walk::walk_static_block(reader, it));
    }

    fn visit_with_statement(&mut self, it: &WithStatement<'a>) {
        self.ask(it.span, "code-computed-name", "`with` lets an object choose what names mean".to_owned());
        walk::walk_with_statement(self, it);
    }

    fn visit_ts_enum_declaration(&mut self, it: &TSEnumDeclaration<'a>) {
        if it.declare {
            return;
        }
        if !rules::is_judged(it.id.name.as_str()) {
            self.bind_name(it.id.name.as_str(), Thing::Object(it.span.start).into(), false);
        }
        for member in &it.body.members {
            if let (Pass::Learn, Some(value)) = (self.pass, &member.initializer) {
                let things = self.things(value);
                self.keep_field(it.span.start, member.id.static_name().as_str(), things);
            }
        }
        walk::walk_ts_enum_declaration(self, it);
    }

    fn visit_ts_namespace_declaration(&mut self, it: &TSNamespaceDeclaration<'a>) {
        if it.declare {
            return;
        }
        self.bind_kept(it.id.name.as_str());
        let exported = std::mem::take(&mut self.exported);
        walk::walk_ts_namespace_declaration(self, it);
        self.exported = exported;
    }
}

/// Whether a call only receives `this` to work on.
fn takes_receiver(callee: &Expression<'_>) -> bool {
    matches!(value::member_name(callee), Some("call" | "apply" | "bind" | "select"))
        || matches!(fold::bare(callee), Expression::Identifier(name) if matches!(name.name.as_str(), "$" | "jQuery"))
}
