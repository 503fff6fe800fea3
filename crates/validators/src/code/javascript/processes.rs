//! Programs that are started: a person is asked, and a command that is hostile by itself, or of which nothing is known, is
//! refused.

use oxc_ast::ast::{Argument, ArrayExpressionElement, CallExpression, Expression};

use super::content::{self, Piece};
use super::{Reader, fold, rules};
use crate::shell;

impl Reader<'_> {
    /// A call of a function that starts a program.
    pub(super) fn starts_program(&mut self, it: &CallExpression<'_>, path: &str) {
        let Some(name) = path.strip_prefix("node:child_process.").filter(|name| rules::starts(name)) else { return };
        let first = it.arguments.first().and_then(Argument::as_expression);
        let Some(program) = first.and_then(|first| self.word(first)) else {
            let message = format!("`{name}` starts a command that is worked out at run time");
            return self.refuse(it.span, "code-process", message);
        };
        // These take a line for the shell; the others the words of a command.
        let command = if matches!(name, "exec" | "execSync") {
            program
        } else {
            let second = it.arguments.get(1).and_then(Argument::as_expression).map(fold::bare);
            let mut words = vec![quoted(&program)];
            match second {
                Some(Expression::ArrayExpression(list)) => words.extend(list.elements.iter().map(|element| {
                    match element {
                        ArrayExpressionElement::SpreadElement(_) => "x".to_owned(),
                        element => element
                            .as_expression()
                            .and_then(|word| self.word(word))
                            .map_or_else(|| "x".to_owned(), |w| quoted(&w)),
                    }
                })),
                Some(_) => words.push("x".to_owned()),
                None => {}
            }
            words.join(" ")
        };
        if let Err(finding) = shell::check(&command)
            && !finding.asks()
        {
            let message = format!("`{name}` starts a hostile command: {}", finding.message);
            self.refuse(it.span, "code-process", message);
        }
    }

    /// A text, with `x` for what is not known in it.
    fn word(&self, expression: &Expression<'_>) -> Option<String> {
        if let Some(text) = self.text(expression) {
            return Some(text);
        }
        content::pieces(&self.things(expression)).into_iter().find_map(|piece| match piece {
            Piece::Whole(text) => Some(text),
            Piece::Ends(start, end) if !start.trim().is_empty() => Some(format!("{start}x{end}")),
            _ => None,
        })
    }
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}
