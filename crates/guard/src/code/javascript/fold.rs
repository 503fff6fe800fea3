//! Works out constant texts: the part of JavaScript with which names are assembled.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use oxc_ast::ast::{Argument, ArrayExpressionElement, BinaryOperator, Expression};

/// Texts longer than this are not followed.
const LONGEST: usize = 4_096;
/// Expressions inside each other that are followed.
const DEEPEST: usize = 200;

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

/// The text that an expression is known to be. `name` gives the text of a variable.
pub(super) fn text(expression: &Expression<'_>, name: &impl Fn(&str) -> Option<String>) -> Option<String> {
    deep_text(expression, name, DEEPEST)
}

fn deep_text(expression: &Expression<'_>, name: &impl Fn(&str) -> Option<String>, left: usize) -> Option<String> {
    let left = left.checked_sub(1)?;
    read(expression, name, left).filter(|text| text.len() <= LONGEST)
}

fn read(expression: &Expression<'_>, name: &impl Fn(&str) -> Option<String>, left: usize) -> Option<String> {
    match bare(expression) {
        Expression::StringLiteral(literal) => Some(literal.value.as_str().to_owned()),
        Expression::TemplateLiteral(template) => {
            let mut out = String::new();
            for (at, part) in template.quasis.iter().enumerate() {
                out.push_str(part.value.cooked.as_ref()?.as_str());
                if let Some(inner) = template.expressions.get(at) {
                    out.push_str(&deep_text(inner, name, left)?);
                }
            }
            Some(out)
        }
        Expression::BinaryExpression(binary) if binary.operator == BinaryOperator::Addition => {
            Some(deep_text(&binary.left, name, left)? + &deep_text(&binary.right, name, left)?)
        }
        Expression::Identifier(identifier) => name(identifier.name.as_str()),
        Expression::CallExpression(call) => {
            let arguments: Option<Vec<String>> = call
                .arguments
                .iter()
                .map(|argument| argument.as_expression().and_then(|a| deep_text(a, name, left)))
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
                        let parts = list(&member.object, name, left)?;
                        return Some(parts.join(arguments?.first().map_or(",", String::as_str)));
                    }
                    let base = deep_text(&member.object, name, left)?;
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

fn code(argument: &Argument<'_>) -> Option<char> {
    match bare(argument.as_expression()?) {
        Expression::NumericLiteral(number) if (0.0..1_114_112.0).contains(&number.value) => {
            char::from_u32(number.value as u32)
        }
        _ => None,
    }
}

/// The texts of a list: written down, split, or turned round.
fn list(expression: &Expression<'_>, name: &impl Fn(&str) -> Option<String>, left: usize) -> Option<Vec<String>> {
    let left = left.checked_sub(1)?;
    match bare(expression) {
        Expression::ArrayExpression(array) => array
            .elements
            .iter()
            .map(|element| match element {
                ArrayExpressionElement::SpreadElement(_) | ArrayExpressionElement::Elision(_) => None,
                element => deep_text(element.as_expression()?, name, left),
            })
            .collect(),
        Expression::CallExpression(call) => {
            let Expression::StaticMemberExpression(member) = bare(&call.callee) else { return None };
            match member.property.name.as_str() {
                "reverse" => {
                    let mut parts = list(&member.object, name, left)?;
                    parts.reverse();
                    Some(parts)
                }
                "split" => {
                    let base = deep_text(&member.object, name, left)?;
                    let by = deep_text(call.arguments.first()?.as_expression()?, name, left)?;
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
