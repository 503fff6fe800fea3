//! Works out constant texts: the part of JavaScript with which names are assembled.

use std::cell::RefCell;
use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use oxc_ast::ast::{Argument, ArrayExpressionElement, BinaryOperator, Expression};
use oxc_span::GetSpan as _;

/// Texts longer than this are not followed.
const MAX_FOLDED_BYTES: usize = 4_096;
/// Expressions inside each other that are followed.
const DEEPEST: usize = 20_000;

/// The expression without brackets and without what only the type checker reads.
pub(super) fn bare<'e, 'a>(expression: &'e Expression<'a>) -> &'e Expression<'a> {
    let mut inner = expression;
    loop {
        inner = match inner {
            Expression::ParenthesizedExpression(it) => &it.expression,
            Expression::TSAsExpression(it) => &it.expression,
            Expression::TSSatisfiesExpression(it) => &it.expression,
            Expression::TSNonNullExpression(it) => &it.expression,
            Expression::TSTypeAssertion(it) => &it.expression,
            Expression::TSInstantiationExpression(it) => &it.expression,
            _ => return inner,
        };
    }
}

/// What is known of texts while a program is read.
pub(super) struct Names<'n> {
    /// The text of a variable.
    pub(super) of: &'n dyn Fn(&str) -> Option<String>,
    /// Texts that were worked out, by where they stand: expressions stand in each other.
    pub(super) known: &'n RefCell<HashMap<(u32, u32), Option<String>>>,
}

/// The text that an expression is known to be.
pub(super) fn text(expression: &Expression<'_>, names: &Names<'_>) -> Option<String> {
    deep_text(expression, names, DEEPEST)
}

fn deep_text(expression: &Expression<'_>, names: &Names<'_>, left: usize) -> Option<String> {
    let left = left.checked_sub(1)?;
    let inner = bare(expression);
    let is_made = matches!(
        inner,
        Expression::TemplateLiteral(_) | Expression::BinaryExpression(_) | Expression::CallExpression(_)
    );
    if !is_made {
        return read(inner, names, left).filter(|text| text.len() <= MAX_FOLDED_BYTES);
    }
    let span = inner.span();
    if let Some(known) = names.known.borrow().get(&(span.start, span.end)) {
        return known.clone();
    }
    let text = stacker::maybe_grow(64 << 10, 4 << 20, || read(inner, names, left))
        .filter(|text| text.len() <= MAX_FOLDED_BYTES);
    names.known.borrow_mut().insert((span.start, span.end), text.clone());
    text
}

fn read(expression: &Expression<'_>, names: &Names<'_>, left: usize) -> Option<String> {
    match bare(expression) {
        Expression::StringLiteral(literal) => Some(literal.value.as_str().to_owned()),
        Expression::TemplateLiteral(template) => {
            let mut out = String::new();
            for (at, part) in template.quasis.iter().enumerate() {
                out.push_str(part.value.cooked.as_ref()?.as_str());
                if let Some(inner) = template.expressions.get(at) {
                    out.push_str(&deep_text(inner, names, left)?);
                }
            }
            Some(out)
        }
        Expression::BinaryExpression(binary) if binary.operator == BinaryOperator::Addition => {
            Some(deep_text(&binary.left, names, left)? + &deep_text(&binary.right, names, left)?)
        }
        Expression::Identifier(identifier) => (names.of)(identifier.name.as_str()),
        Expression::CallExpression(call) => {
            let arguments: Option<Vec<String>> = call
                .arguments
                .iter()
                .map(|argument| argument.as_expression().and_then(|a| deep_text(a, names, left)))
                .collect();
            match bare(&call.callee) {
                Expression::Identifier(function) => match (function.name.as_str(), arguments?.as_slice()) {
                    ("atob", [encoded]) => String::from_utf8(STANDARD.decode(encoded).ok()?).ok(),
                    ("decodeURIComponent" | "unescape", [encoded]) => crate::percent::decoded(encoded),
                    ("String", [text]) => Some(text.clone()),
                    _ => None,
                },
                Expression::StaticMemberExpression(member) => {
                    let method = member.property.name.as_str();
                    if method == "fromCharCode" || method == "fromCodePoint" {
                        return call.arguments.iter().map(code).collect();
                    }
                    if method == "join" {
                        let parts = list(&member.object, names, left)?;
                        return Some(parts.join(arguments?.first().map_or(",", String::as_str)));
                    }
                    if method == "toString"
                        && let Some(text) = decoded(&member.object, names, left)
                    {
                        return Some(text);
                    }
                    let base = deep_text(&member.object, names, left)?;
                    match (method, arguments?.as_slice()) {
                        ("toLowerCase", []) => Some(base.to_lowercase()),
                        ("toUpperCase", []) => Some(base.to_uppercase()),
                        ("trim" | "toString" | "normalize", []) => Some(base.trim().to_owned()),
                        ("concat", more) => Some(base + &more.concat()),
                        ("replace" | "replaceAll", [from, to]) => Some(base.replace(from.as_str(), to)),
                        _ => None,
                    }
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// The text of `Buffer.from(text, encoding)`.
fn decoded(buffer: &Expression<'_>, names: &Names<'_>, left: usize) -> Option<String> {
    let Expression::CallExpression(call) = bare(buffer) else { return None };
    let Expression::StaticMemberExpression(member) = bare(&call.callee) else { return None };
    let is_buffer = matches!(bare(&member.object), Expression::Identifier(name) if name.name == "Buffer");
    if !is_buffer || member.property.name != "from" {
        return None;
    }
    let text = deep_text(call.arguments.first()?.as_expression()?, names, left)?;
    let encoding =
        call.arguments.get(1).map(|encoding| encoding.as_expression().and_then(|e| deep_text(e, names, left)));
    let bytes = match encoding {
        None => text.into_bytes(),
        Some(encoding) => match encoding?.as_str() {
            "base64" => STANDARD.decode(text).ok()?,
            "hex" => hex(&text)?,
            "utf8" | "utf-8" | "ascii" | "latin1" => text.into_bytes(),
            _ => return None,
        },
    };
    String::from_utf8(bytes).ok()
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let pairs = text.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

fn code(argument: &Argument<'_>) -> Option<char> {
    match bare(argument.as_expression()?) {
        Expression::NumericLiteral(number) if (0.0..1_114_112.0).contains(&number.value) => {
            char::from_u32(number.value as u32)
        }
        _ => None,
    }
}

/// The texts of a list: written down, split, or turned round.
fn list(expression: &Expression<'_>, names: &Names<'_>, left: usize) -> Option<Vec<String>> {
    let left = left.checked_sub(1)?;
    match bare(expression) {
        Expression::ArrayExpression(array) => array
            .elements
            .iter()
            .map(|element| match element {
                ArrayExpressionElement::SpreadElement(_) | ArrayExpressionElement::Elision(_) => None,
                element => deep_text(element.as_expression()?, names, left),
            })
            .collect(),
        Expression::CallExpression(call) => {
            let Expression::StaticMemberExpression(member) = bare(&call.callee) else { return None };
            match member.property.name.as_str() {
                "reverse" => {
                    let mut parts = list(&member.object, names, left)?;
                    parts.reverse();
                    Some(parts)
                }
                "split" => {
                    let base = deep_text(&member.object, names, left)?;
                    let by = deep_text(call.arguments.first()?.as_expression()?, names, left)?;
                    Some(if by.is_empty() {
                        base.chars().map(String::from).collect()
                    } else {
                        base.split(by.as_str()).map(str::to_owned).collect()
                    })
                }
                _ => None,
            }
        }
        _ => None,
    }
}
