//! The shape that all views share.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use switchboard_wire::Raw;

/// Declares a view: required members, a semicolon, optional members. Every view has a constructor that takes the
/// required ones, a method to set each optional one, and the members it does not know in `extra`. MCP writes its
/// members in camel case; another case is named first.
macro_rules! view {
    ($(#[$doc:meta])* $name:ident $body:tt) => {
        view! { "camelCase"; $(#[$doc])* $name $body }
    };
    ($case:literal; $(#[$doc:meta])* $name:ident {
        $($(#[$required_meta:meta])* $required:ident: $required_type:ty,)*
        ;
        $($(#[$optional_meta:meta])* $optional:ident: $optional_type:ty,)*
    }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = $case)]
        #[non_exhaustive]
        pub struct $name {
            $($(#[$required_meta])* pub $required: $required_type,)*
            $(
                $(#[$optional_meta])*
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub $optional: Option<$optional_type>,
            )*
            /// Members that this view does not know.
            #[serde(flatten)]
            pub extra: $crate::mcp::JsonObject,
        }

        impl $name {
            /// With the required members only.
            #[must_use]
            pub fn new($($required: impl Into<$required_type>),*) -> Self {
                Self {
                    $($required: $required.into(),)*
                    $($optional: None,)*
                    extra: $crate::mcp::JsonObject::new(),
                }
            }

            $(
                #[doc = concat!("Sets `", stringify!($optional), "`.")]
                #[must_use]
                pub fn $optional(mut self, value: impl Into<$optional_type>) -> Self {
                    self.$optional = Some(value.into());
                    self
                }
            )*
        }

        impl $crate::mcp::view::View for $name {
            fn extra_mut(&mut self) -> &mut $crate::mcp::JsonObject {
                &mut self.extra
            }
        }
    };
}

/// A view with nothing required is empty by default.
macro_rules! empty_by_default {
    ($($name:ident),*) => {
        $(impl Default for $name {
            fn default() -> Self {
                Self::new()
            }
        })*
    };
}

/// Declares a choice between views by the text of their member `type`. What is not known is kept as it is.
macro_rules! tagged {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident($view:ty) = $tag:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$variant_doc])* $variant($view),)*
            /// Of a type that is not known, untouched.
            Unknown(switchboard_wire::Raw),
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                #[derive(serde::Serialize)]
                struct Tagged<'a, T> {
                    #[serde(rename = "type")]
                    tag: &'static str,
                    #[serde(flatten)]
                    body: &'a T,
                }
                match self {
                    $(Self::$variant(body) => Tagged { tag: $tag, body }.serialize(serializer),)*
                    Self::Unknown(raw) => raw.serialize(serializer),
                }
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                // A tagged enum of serde's own would buffer the value in a form that cannot hold raw parts.
                let raw = switchboard_wire::Raw::deserialize(deserializer)?;
                match $crate::mcp::view::tag(&raw)?.as_str() {
                    $($tag => $crate::mcp::view::untag(&raw).map(Self::$variant),)*
                    _ => Ok(Self::Unknown(raw)),
                }
            }
        }

        $(impl From<$view> for $name {
            fn from(body: $view) -> Self {
                Self::$variant(body)
            }
        })*
    };
}

/// What the macros need to know of a view.
pub(crate) trait View {
    fn extra_mut(&mut self) -> &mut super::JsonObject;
}

/// The text under `type`.
pub(crate) fn tag<E: serde::de::Error>(raw: &Raw) -> Result<String, E> {
    #[derive(Deserialize)]
    struct Tag {
        #[serde(rename = "type")]
        tag: String,
    }
    raw.view::<Tag>().map(|tag| tag.tag).map_err(E::custom)
}

/// Reads a view without the tag that chose it.
pub(crate) fn untag<T: View + for<'de> Deserialize<'de>, E: serde::de::Error>(raw: &Raw) -> Result<T, E> {
    let mut view: T = raw.view().map_err(E::custom)?;
    view.extra_mut().shift_remove("type");
    Ok(view)
}

/// Reads a raw member that may be `null`, which an `Option` alone would take for absent.
pub(crate) fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Raw>, D::Error> {
    Raw::deserialize(deserializer).map(Some).map_err(D::Error::custom)
}

/// A JSON number for `value`, as an integer where it is one.
pub(crate) fn number(value: f64) -> serde_json::Number {
    // Integers up to 2^53 are exact in a double, so the cast back and forth changes nothing.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() <= EXACT {
        serde_json::Number::from(value as i64)
    } else {
        // Neither infinity nor not-a-number can be written in JSON.
        serde_json::Number::from_f64(value).unwrap_or_else(|| 0.into())
    }
}
