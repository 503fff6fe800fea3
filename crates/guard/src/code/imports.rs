//! Which modules a program names in its imports, for lists that a tool adds to the rules.

use ruff_python_ast::visitor::{Visitor, walk_stmt};
use ruff_python_ast::{Expr, Stmt, StmtImport, StmtImportFrom};
use ruff_python_parser::parse_module;

use super::Language;

/// The names as they are written. In languages other than Python, everything in quotes may be one.
pub(crate) fn imports(language: Language, source: &str) -> Vec<String> {
    match language {
        Language::Python => {
            let mut found = Found::default();
            if let Ok(parsed) = parse_module(source) {
                found.visit_body(&parsed.syntax().body);
            }
            found.0
        }
        Language::JavaScript | Language::TypeScript => quoted(source),
        Language::Shell => Vec::new(),
    }
}

#[derive(Default)]
struct Found(Vec<String>);

impl<'a> Visitor<'a> for Found {
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

/// The words behind `from`, `import` and `require` that stand in quotes.
fn quoted(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    for keyword in ["from", "import", "require"] {
        for rest in source.split(keyword).skip(1) {
            let rest = rest.trim_start().trim_start_matches('(').trim_start();
            let Some(quote) = rest.chars().next().filter(|c| matches!(c, '"' | '\'' | '`')) else { continue };
            if let Some(name) = rest[1..].split(quote).next() {
                found.push(name.strip_prefix("node:").unwrap_or(name).to_owned());
            }
        }
    }
    found
}
