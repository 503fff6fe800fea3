//! What patterns take apart: declarations, parameters and assignments.

use oxc_ast::ast::{
    AssignmentTarget, AssignmentTargetMaybeDefault, AssignmentTargetProperty, BindingPattern, PropertyKey,
};
use oxc_ast_visit::{Visit, walk};
use oxc_span::Span;

use super::scope::Things;
use super::{Pass, Place, Reader, Use, rules};
use crate::code::Level;

impl Reader<'_> {
    /// Binds the names of a pattern to the parts of what it takes apart.
    pub(super) fn bind<'a>(&mut self, pattern: &BindingPattern<'a>, things: Things, var: bool) {
        match pattern {
            BindingPattern::BindingIdentifier(name) => self.bind_name(name.name.as_str(), things, var),
            BindingPattern::ObjectPattern(object) => {
                for property in &object.properties {
                    let part = self.part(property.span, &property.key, &things);
                    self.bind(&property.value, part, var);
                }
                if let Some(rest) = &object.rest {
                    self.use_things(rest.span, &things, Place::Value);
                    let mut others = Things::unknown();
                    others.add_private(&things);
                    self.bind(&rest.argument, others, var);
                }
            }
            BindingPattern::ArrayPattern(array) => {
                let held = self.elements(&things);
                for element in array.elements.iter().flatten() {
                    self.bind(element, held.clone(), var);
                }
                if let Some(rest) = &array.rest {
                    self.bind(&rest.argument, held, var);
                }
            }
            BindingPattern::AssignmentPattern(default) => {
                self.visit_expression(&default.right);
                let mut things = things;
                things.add(self.things(&default.right));
                self.bind(&default.left, things, var);
            }
        }
    }

    pub(super) fn bind_name(&mut self, name: &str, things: Things, var: bool) {
        match self.pass {
            // A `var` of the program leaves a global of its name as it is.
            Pass::Declare if var && self.scopes.var_is_global() && rules::is_judged(name) => {}
            Pass::Declare => self.scopes.declare(name, var),
            Pass::Learn => self.learn(name, things),
            Pass::Judge => {}
        }
    }

    /// A name holds this as well.
    pub(super) fn learn(&mut self, name: &str, things: Things) {
        if self.scopes.learn(name, things) {
            self.forget();
        }
    }

    /// What a property of a pattern takes out of the whole.
    fn part<'a>(&mut self, span: Span, key: &PropertyKey<'a>, whole: &Things) -> Things {
        let name = match key {
            PropertyKey::StaticIdentifier(name) => Some(name.name.as_str().to_owned()),
            PropertyKey::PrivateIdentifier(_) => None,
            key => key.as_expression().and_then(|key| self.key(key)),
        };
        if let Some(key) = key.as_expression() {
            self.visit_expression(key);
        }
        match &name {
            Some(name) => self.key_is_harmless(span, name),
            None => self.choose(span, whole),
        }
        let part = self.member_of(whole, name.as_deref());
        self.use_things(span, &part, Place::Alias);
        part
    }

    /// Judges the name of a member that is taken out of something.
    fn key_is_harmless(&mut self, span: Span, name: &str) {
        if name == "constructor" {
            self.ask(span, "code-dynamic", "the constructor of functions runs text as code".to_owned());
        }
        self.tell(span, name);
    }

    /// Judges a member that is chosen at run time.
    pub(super) fn choose(&mut self, span: Span, object: &Things) {
        let guarded = object.functions().next().is_some()
            || object.paths().any(|path| {
                rules::is_guarded(path) && path != "process.env"
                    || rules::effects::is_files(path)
                    || !path.contains('(') && rules::effects::package(path).is_some_and(rules::effects::is_client)
                    || rules::is_function(path)
                    || rules::refused(path).is_some()
            });
        let files = self.level == Level::Readonly && object.paths().any(|path| path.starts_with("node:fs"));
        if guarded || files {
            self.ask(span, "code-computed-name", "a member is chosen by a name worked out at run time".to_owned());
        }
    }

    /// Judges members that mean the same on any object.
    pub(super) fn tell(&mut self, span: Span, name: &str) {
        if rules::starts(name) && self.packages.contains("child_process") {
            self.ask(span, "code-process", format!("`{name}` leads to another process"));
        } else if let Some(why) = rules::telling(name) {
            self.refuse(span, why.0, format!("`{name}` {}", why.1));
        } else if !(self.own.contains(name) && rules::is_common(name))
            && let Some(why) = rules::doubtful(name)
        {
            self.ask(span, why.0, format!("`{name}` {}", why.1));
        }
    }

    /// Gives the targets of an assignment the parts of its value.
    pub(super) fn assign<'a>(&mut self, target: &AssignmentTarget<'a>, things: &Things) {
        match target {
            AssignmentTarget::AssignmentTargetIdentifier(name) => {
                if self.pass == Pass::Learn {
                    self.learn(name.name.as_str(), things.clone());
                    if self.scopes.find(name.name.as_str()).is_none() {
                        self.loose.insert(name.name.as_str().to_owned());
                    }
                }
            }
            AssignmentTarget::ObjectAssignmentTarget(object) => {
                for property in &object.properties {
                    match property {
                        AssignmentTargetProperty::AssignmentTargetPropertyIdentifier(it) => {
                            let name = it.binding.name.as_str();
                            self.key_is_harmless(it.span, name);
                            let mut part = self.member_of(things, Some(name));
                            self.use_things(it.span, &part, Place::Alias);
                            if let Some(default) = &it.init {
                                self.visit_expression(default);
                                part.add(self.things(default));
                            }
                            if self.pass == Pass::Learn {
                                self.learn(name, part);
                            }
                        }
                        AssignmentTargetProperty::AssignmentTargetPropertyProperty(it) => {
                            let part = self.part(it.span, &it.name, things);
                            self.assign_default(&it.binding, part);
                        }
                    }
                }
                if let Some(rest) = &object.rest {
                    self.use_things(rest.span, things, Place::Value);
                    self.assign(&rest.target, &Things::unknown());
                }
            }
            AssignmentTarget::ArrayAssignmentTarget(array) => {
                for element in array.elements.iter().flatten() {
                    self.assign_default(element, Things::unknown());
                }
                if let Some(rest) = &array.rest {
                    self.assign(&rest.target, &Things::unknown());
                }
            }
            other => {
                self.place = Place::Base(Use::Member);
                walk::walk_assignment_target(self, other);
                self.place = Place::Value;
            }
        }
    }

    fn assign_default<'a>(&mut self, target: &AssignmentTargetMaybeDefault<'a>, mut things: Things) {
        match target {
            AssignmentTargetMaybeDefault::AssignmentTargetWithDefault(it) => {
                self.visit_expression(&it.init);
                things.add(self.things(&it.init));
                self.assign(&it.binding, &things);
            }
            other => {
                if let Some(target) = other.as_assignment_target() {
                    self.assign(target, &things);
                }
            }
        }
    }

    /// The place of what a name is given: it is followed there unless the name is handed on.
    pub(super) fn given_to(&self, pattern: &BindingPattern<'_>) -> Place {
        let followed = matches!(pattern, BindingPattern::BindingIdentifier(_) | BindingPattern::ObjectPattern(_));
        if followed && !self.exported { Place::Alias } else { Place::Value }
    }
}
