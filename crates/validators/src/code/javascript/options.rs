//! Properties of objects that are written down, as options are.

use oxc_ast::ast::{Expression, ObjectExpression, ObjectPropertyKind};

use super::fold;

/// What an object says about a property.
pub(super) enum Found<'e, 'a> {
    Value(&'e Expression<'a>),
    /// Nobody can say.
    Unknown,
    None,
}

impl Found<'_, '_> {
    /// Whether it is there and not plainly off.
    pub(super) fn is_on(&self) -> bool {
        match self {
            Self::Value(Expression::BooleanLiteral(value)) => value.value,
            Self::Value(_) | Self::Unknown => true,
            Self::None => false,
        }
    }
}

/// The last that an object says about a property.
pub(super) fn property<'e, 'a>(object: &'e ObjectExpression<'a>, name: &str) -> Found<'e, 'a> {
    let mut found = Found::None;
    for property in &object.properties {
        match property {
            ObjectPropertyKind::SpreadProperty(_) => found = Found::Unknown,
            ObjectPropertyKind::ObjectProperty(property) => match property.key.static_name() {
                Some(key) if key == name => found = Found::Value(fold::bare(&property.value)),
                Some(_) => {}
                None => found = Found::Unknown,
            },
        }
    }
    found
}
