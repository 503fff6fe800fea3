//! Names, members and texts in their places.

use oxc_ast::ast::{Expression, IdentifierReference, ThisExpression};
use oxc_ast_visit::Visit as _;
use oxc_span::Span;

use super::scope::Things;
use super::{Pass, Place, Reader, This, Use, fold, rules};

impl Reader<'_> {
    pub(super) fn identifier(&mut self, it: &IdentifierReference<'_>, place: Place) {
        if self.pass != Pass::Judge || place == Place::Compared {
            return;
        }
        let name = it.name.as_str();
        // The arguments of a module are its loader and itself.
        if name == "arguments" && self.this_kind() == This::Top && self.scopes.find(name).is_none() {
            self.ask(it.span, "code-loader", "`arguments` of a module reaches modules by the back door".to_owned());
        }
        // Data that a program is given may have any name; a function that nobody knows may do anything.
        if place == Place::Callee
            && self.scopes.find(name).is_none()
            && rules::is_unlisted_global(name)
            && !self.loose.contains(name)
        {
            self.ask(it.span, "code-unknown", format!("what the global `{name}` is, is not known"));
        }
        let things = self.named(name);
        self.use_things(it.span, &things, place);
    }

    pub(super) fn this(&mut self, it: &ThisExpression, place: Place) {
        if matches!(self.this_kind(), This::Top | This::Loose) {
            self.use_path(it.span, "globalThis", place);
        }
    }

    pub(super) fn member<'a>(&mut self, span: Span, object: &Expression<'a>, name: Option<&str>, place: Place) {
        if self.pass == Pass::Judge {
            self.judge_member(span, object, name, place);
        }
        self.place = Place::Base(match name {
            Some("name") => Use::Name,
            None | Some("constructor" | "call" | "apply" | "bind" | "__proto__") => Use::Any,
            Some(_) => Use::Member,
        });
        self.visit_expression(object);
        self.place = Place::Value;
    }

    pub(super) fn judge_member(&mut self, span: Span, object: &Expression<'_>, name: Option<&str>, place: Place) {
        let base = self.things(object);
        if let Some(name) = name {
            let member = self.member_of(&base, Some(name));
            self.use_things(span, &member, place);
            if place != Place::Compared {
                let known = member.paths().any(|path| path.starts_with("Deno.") || path.starts_with("node:module."));
                if !known {
                    self.tell(span, name);
                }
            }
            self.constructor(span, name, object, place);
            self.indirect(span, name, &base);
            let is_this = matches!(fold::bare(object), Expression::ThisExpression(_));
            if is_this && self.this_kind() == This::Function && !self.own.contains(name) && place != Place::Compared {
                let led = rules::refused(name).is_some() || rules::is_guarded(name);
                if led {
                    self.ask(span, "code-dynamic", format!("`this.{name}` may be the global of that name"));
                }
            }
        } else {
            self.choose(span, &base);
        }
    }

    /// The constructor of a function makes functions out of text; of other things only the name is asked.
    pub(super) fn constructor(&mut self, span: Span, name: &str, object: &Expression<'_>, place: Place) {
        if name != "constructor" {
            return;
        }
        let is_this = matches!(fold::bare(object), Expression::ThisExpression(_)) && self.this_kind() == This::Method;
        match place {
            Place::Compared | Place::Base(Use::Name) => {}
            Place::Base(Use::Member) if is_this => {}
            Place::Callee => {
                self.refuse(span, "code-dynamic", "the constructor of functions runs text as code".to_owned());
            }
            _ => self.ask(span, "code-dynamic", "the constructor of functions runs text as code".to_owned()),
        }
    }

    /// `call`, `apply` and `bind` of what is judged by its arguments.
    pub(super) fn indirect(&mut self, span: Span, name: &str, base: &Things) {
        if matches!(name, "call" | "apply" | "bind") && base.paths().any(rules::is_judged_call) {
            self.ask(span, "code-handed-on", format!("by way of `{name}`, what is done is not seen"));
        }
    }

    /// A text that names a place where credentials lie, or runs code where it is shown.
    pub(super) fn literal(&mut self, span: Span, text: &str) {
        if self.pass != Pass::Judge {
            return;
        }
        if !self.tagged && crate::code::settings::orders(text) {
            self.ask(span, "code-remote", "an order that changes or destroys".to_owned());
        }
        if rules::is_telling_text(text) {
            self.ask(span, "code-reach", "a file or address that holds credentials or is run by others".to_owned());
        } else if text == "0.0.0.0" {
            self.ask(span, "code-socket", "an address on which a program listens for everybody".to_owned());
        } else if text.contains("type=password")
            || text.contains("type='password'")
            || text.contains("type=\"password\"") && !text.contains('<')
        {
            self.ask(span, "code-reach", "the field of a page into which a password is typed".to_owned());
        } else if text.contains("constructor.constructor") || text.contains("constructor(") {
            self.ask(span, "code-dynamic", "a text that reaches for the maker of functions".to_owned());
        } else if rules::is_active(text) {
            self.ask(span, "code-page", "a text that runs code where it is shown".to_owned());
        }
    }

    pub(super) fn compared<'a>(&mut self, expression: &Expression<'a>) {
        self.place = Place::Compared;
        self.visit_expression(expression);
        self.place = Place::Value;
    }

    pub(super) fn within(&mut self, this: This, walk: impl FnOnce(&mut Self)) {
        self.this.push(this);
        walk(self);
        self.this.pop();
    }
}
