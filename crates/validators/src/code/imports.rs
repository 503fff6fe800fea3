//! Which modules a program names in its imports, for lists that a tool adds to the rules.

use ruff_python_ast::visitor::{Visitor, walk_stmt};
use ruff_python_ast::{Expr, Stmt, StmtImport, StmtImportFrom};
use ruff_python_parser::parse_module;

use super::{DEEP_STACK, Language, MAX_BYTES, javascript};

/// The names as they are written; of JavaScript, also those that are put together out of constants. A source that is too
/// long to be judged is refused for that alone, and not parsed here either.
pub(crate) fn imports(language: Language, source: &str) -> Vec<String> {
    if source.len() > MAX_BYTES {
        return Vec::new();
    }
    stacker::grow(DEEP_STACK, || parsed(language, source))
}

fn parsed(language: Language, source: &str) -> Vec<String> {
    match language {
        Language::Python => {
            let mut found = ImportedModules::default();
            if let Ok(parsed) = parse_module(source) {
                found.visit_body(&parsed.syntax().body);
            }
            found.0
        }
        Language::JavaScript => javascript::imports(source, false),
        Language::TypeScript => javascript::imports(source, true),
        Language::Shell => Vec::new(),
    }
}

#[derive(Default)]
struct ImportedModules(Vec<String>);

impl<'a> Visitor<'a> for ImportedModules {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::Import(StmtImport { names, .. }) => self.0.extend(names.iter().map(|alias| alias.name.to_string())),
            // What stands beside the program is part of it.
            Stmt::ImportFrom(StmtImportFrom { module, level: 0, .. }) => {
                self.0.extend(module.iter().map(ToString::to_string));
            }
            Stmt::ImportFrom(_) => {}
            _ => walk_stmt(self, statement),
        }
    }

    // No import stands in an expression, and expressions may be deep.
    fn visit_expr(&mut self, _: &'a Expr) {}
}
