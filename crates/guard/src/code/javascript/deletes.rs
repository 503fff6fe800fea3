//! Deletes of whole folders, and paths that lie outside of the project.

use oxc_ast::ast::{Argument, Expression};
use oxc_span::Span;

use super::options::property;
use super::rules::Target;
use super::scope::{Thing, Things};
use super::{Reader, fold, rules, value};

impl Reader<'_> {
    /// Deletes of whole folders.
    pub(super) fn delete<'a>(&mut self, span: Span, method: &str, callee: &Things, arguments: &[Argument<'a>]) {
        let name = if method.is_empty() || callee.paths().any(|path| path.starts_with("node:")) {
            callee.paths().next().and_then(|path| path.rsplit('.').next()).unwrap_or(method).to_owned()
        } else {
            method.to_owned()
        };
        let bare = name.strip_suffix("Sync").unwrap_or(&name);
        let extra = callee.paths().any(|path| path.starts_with("node:fs-extra."));
        let whole = match bare {
            "rm" | "rmdir" if matches!(arguments.first(), Some(Argument::SpreadElement(_))) => true,
            "rm" | "rmdir" => self.is_recursive(arguments.get(1)),
            "remove" if extra => true,
            "emptyDir" => true,
            "remove" => {
                name.ends_with("Sync") && callee.paths().all(|path| !path.starts_with("Deno."))
                    || self.is_recursive(arguments.get(1))
            }
            _ => false,
        };
        if !whole {
            return;
        }
        let target = arguments.first().and_then(Argument::as_expression);
        match target.map_or(Target::Unknown, |target| self.target(target)) {
            Target::Inside => {}
            Target::Outside => {
                self.refuse(span, "code-delete", format!("`{name}` of everything in a folder outside of the project"))
            }
            Target::Unknown => {
                self.ask(span, "code-delete", format!("`{name}` of everything in a folder that is not known"))
            }
        }
    }

    fn is_recursive(&self, options: Option<&Argument<'_>>) -> bool {
        let Some(options) = options else { return false };
        let Some(options) = options.as_expression() else { return true };
        match fold::bare(options) {
            Expression::ObjectExpression(object) => property(object, "recursive").is_on(),
            Expression::ArrowFunctionExpression(_) | Expression::FunctionExpression(_) => false,
            _ => true,
        }
    }

    fn target(&self, expression: &Expression<'_>) -> Target {
        if let Some(text) = self.text(expression) {
            return rules::delete_target(&text);
        }
        let things = self.things(expression);
        if things.paths().any(|path| is_home(path) || path == "process.cwd()") || self.begins_outside(expression) {
            return Target::Outside;
        }
        let temporary = |thing: &Thing| matches!(thing, Thing::Path(path) if path.contains("mkdtemp") || path.contains("makeTempDir"));
        if !things.open && !things.known.is_empty() && things.known.iter().all(temporary) {
            return Target::Inside;
        }
        match fold::bare(expression) {
            Expression::CallExpression(call) => {
                let joins = self
                    .things(&call.callee)
                    .paths()
                    .any(|path| matches!(path, "node:path.join" | "node:path.resolve" | "path.join" | "path.resolve"));
                if joins { self.joined(call.arguments.iter().map(Argument::as_expression)) } else { Target::Unknown }
            }
            Expression::TemplateLiteral(template) => {
                let anchored = template.quasis.first().is_some_and(|text| text.value.raw.is_empty())
                    && template.expressions.first().is_some_and(|first| self.is_anchor(first))
                    && template.expressions.len() == 1;
                let rest = template.quasis.last().and_then(|text| text.value.cooked.as_ref()).map(|text| text.as_str());
                match rest.and_then(|rest| rest.strip_prefix('/')) {
                    Some(rest) if anchored => rules::delete_target(rest),
                    _ => Target::Unknown,
                }
            }
            Expression::NewExpression(call)
                if self.things(&call.callee).paths().any(|path| matches!(path, "URL" | "node:url.URL")) =>
            {
                let based = call
                    .arguments
                    .get(1)
                    .and_then(Argument::as_expression)
                    .is_some_and(|base| self.things(base).paths().any(|path| path == "import.meta.url"));
                let text = call.arguments.first().and_then(Argument::as_expression).and_then(|first| self.text(first));
                match text {
                    Some(text) if based => rules::delete_target(&text),
                    _ => Target::Unknown,
                }
            }
            _ => Target::Unknown,
        }
    }

    /// Whether a text that is put together begins outside of the project.
    pub(super) fn begins_outside(&self, expression: &Expression<'_>) -> bool {
        let home = |first: &Expression<'_>| self.things(first).paths().any(is_home);
        match fold::bare(expression) {
            Expression::TemplateLiteral(template) => {
                let start = template.quasis.first().map_or("", |text| text.value.raw.as_str());
                rules::is_outside(start) || start.is_empty() && template.expressions.first().is_some_and(home)
            }
            Expression::BinaryExpression(_) => {
                let mut first = expression;
                // Sums lean to the left.
                while let Expression::BinaryExpression(binary) = fold::bare(first) {
                    first = &binary.left;
                }
                home(first) || self.text(first).is_some_and(|text| rules::is_outside(&text))
            }
            Expression::CallExpression(call) => {
                let first = call.arguments.first().and_then(Argument::as_expression);
                let joins = matches!(value::member_name(&call.callee), Some("join" | "resolve"));
                joins
                    && first.is_some_and(|first| {
                        home(first) || self.text(first).is_some_and(|text| rules::is_outside(&text))
                    })
            }
            _ => {
                self.text(expression).is_some_and(|text| text.len() < 300 && rules::is_outside(&text))
                    || home(expression)
            }
        }
    }

    fn is_anchor(&self, expression: &Expression<'_>) -> bool {
        self.things(expression).paths().any(|path| {
            matches!(
                path,
                "__dirname" | "process.cwd()" | "import.meta.dirname" | "import.meta.dir" | "node:os.tmpdir()"
            ) || path.contains("mkdtemp")
                || path.starts_with("node:path.dirname()")
        })
    }

    /// Parts of a path that are put together: inside, if they begin in the project and end in a folder of it.
    fn joined<'e, 'a: 'e>(&self, parts: impl Iterator<Item = Option<&'e Expression<'a>>>) -> Target {
        let mut path = String::new();
        for (at, part) in parts.enumerate() {
            let Some(part) = part else { return Target::Unknown };
            match self.text(part) {
                Some(text) if at == 0 || !text.starts_with('/') => {
                    path.push_str(&text);
                    path.push('/');
                }
                Some(_) => return Target::Outside,
                None if at == 0 && self.is_anchor(part) => {}
                None if at == 0 => {
                    return match self.target(part) {
                        Target::Outside => Target::Outside,
                        Target::Inside | Target::Unknown => Target::Unknown,
                    };
                }
                None => return Target::Unknown,
            }
        }
        rules::delete_target(&path)
    }
}

fn is_home(path: &str) -> bool {
    matches!(path, "process.env.HOME" | "process.env.USERPROFILE" | "node:os.homedir()" | "os.homedir()")
}
