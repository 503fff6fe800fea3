//! The limits of grants: does every string that a server could open or connect to lie inside of them?
//!
//! A walk of its own through the arguments, made only where a grant or permission limits paths or hosts. Each string
//! is judged with its key, with what the schema of the tool tells of it, and with whether another argument is the path.
//! A string that is JSON itself is walked into as well, since many servers read it so.

use switchboard_wire::{Kind, Limits as WireLimits, Object, Raw};

use super::place::{self, Field};
use super::role::{self, Role};
use super::walk::{Refused, at, refused, under};
use super::{ARGUMENTS, Checks, MAX_DEPTH, SCOPE, World, remote};
use crate::Finding;
use crate::schema::Evidence;

/// Bytes of a string that are read as JSON.
const MAX_NESTED_BYTES: usize = 256 << 10;

pub(super) struct Limits<'a> {
    checks: &'a Checks,
    world: &'a dyn World,
    /// Whether the schema names an argument as a path, and the call has it.
    anchored: bool,
    /// Whether hosts are limited.
    hosts: bool,
}

/// What is known of a value.
#[derive(Clone)]
struct Known<'a> {
    field: Field,
    role: Role,
    /// Whether the key names something that is no host.
    named: bool,
    evidence: Evidence<'a>,
}

impl<'a> Limits<'a> {
    /// The walk; `None` where no limit speaks of paths or hosts.
    pub(super) fn of(checks: &'a Checks, arguments: &Raw, world: &'a dyn World) -> Option<Self> {
        let hosts = checks.limits_hosts();
        if checks.places.is_empty() && !hosts {
            return None;
        }
        let evidence = checks.evidence();
        let anchored = evidence.is_declared()
            && Object::open(arguments).is_ok_and(|object| {
                object.iter().any(|(key, value)| {
                    let evidence = evidence.member(&key);
                    let given = match value.kind() {
                        Kind::String => value.as_bytes().len() > 2,
                        Kind::Array => value.elements().is_some_and(|elements| !elements.is_empty()),
                        _ => false,
                    };
                    let field = Field::of(&key, role::of(&key), &evidence);
                    given && evidence.is_declared() && matches!(field, Field::Place | Field::Perhaps)
                })
            });
        Some(Self { checks, world, anchored, hosts })
    }

    /// Judges everything.
    pub(super) fn check(&self, arguments: &Raw) -> Result<(), Refused> {
        let known = Known { field: Field::Unknown, role: Role::Other, named: false, evidence: self.checks.evidence() };
        self.value(arguments, &known, 0)
    }

    fn value(&self, value: &Raw, known: &Known<'_>, depth: usize) -> Result<(), Refused> {
        if depth > MAX_DEPTH {
            let message = format!("the arguments are nested deeper than {MAX_DEPTH}");
            return Err(refused(ARGUMENTS, Finding::new("arguments-depth", message)));
        }
        match value.kind() {
            Kind::Object => {
                let Ok(object) = Object::open(value) else {
                    let text = "a member stands twice, and readers may take different ones";
                    return Err(refused(ARGUMENTS, Finding::new("arguments-twice", text)));
                };
                object.iter().try_for_each(|(key, member)| {
                    let (role, evidence) = (role::of(&key), known.evidence.member(&key));
                    let field = Field::of(&key, role, &evidence);
                    let judged = if role::is_plain(&key) { Ok(()) } else { self.key(&key) };
                    let inner = Known { field, role, named: remote::is_name_key(&key), evidence };
                    judged.and_then(|()| self.value(&member, &inner, depth + 1)).map_err(|refused| under(&key, refused))
                })
            }
            Kind::Array => {
                // The words of a command are judged as one.
                if known.field == Field::Command {
                    return Ok(());
                }
                let inner = Known { evidence: known.evidence.element(), ..known.clone() };
                let elements = value.elements().unwrap_or_default();
                elements.iter().enumerate().try_for_each(|(index, element)| {
                    self.value(element, &inner, depth + 1).map_err(|refused| under(&index.to_string(), refused))
                })
            }
            Kind::String => value.as_text().map_or(Ok(()), |text| self.text(&text, known, depth)),
            Kind::Number | Kind::Bool | Kind::Null => Ok(()),
        }
    }

    fn key(&self, key: &str) -> Result<(), Refused> {
        self.text(
            key,
            &Known { field: Field::Unknown, role: Role::Other, named: false, evidence: Evidence::default() },
            0,
        )
    }

    fn text(&self, text: &str, known: &Known<'_>, depth: usize) -> Result<(), Refused> {
        let Known { field, role, named, evidence } = known;
        let is_body = *field == Field::Body && self.anchored && evidence.is_declared();
        if !is_body && let Some(nested) = nested(text) {
            return self.value(&nested, known, depth + 1).map_err(|mut refused| {
                // What stands inside of a string has no place of its own.
                refused.pointer.clear();
                refused
            });
        }
        if !self.checks.places.is_empty() {
            at(SCOPE, place::check(&self.checks.places, *field, evidence, self.anchored, text, self.world))?;
            if *role == Role::Path {
                at(SCOPE, place::check_url_as_name(&self.checks.places, text, self.world))?;
            }
            if matches!(role, Role::Code | Role::Script) {
                at(SCOPE, place::check_word(&self.checks.places, text, self.world))?;
            }
        }
        if self.hosts {
            at(SCOPE, remote::check(&self.checks.scopes, *role, *field, *named, evidence, text))
        } else {
            Ok(())
        }
    }
}

/// The object or list that a string holds.
fn nested(text: &str) -> Option<Raw> {
    let trimmed = text.trim();
    let looks =
        trimmed.starts_with('{') && trimmed.ends_with('}') || trimmed.starts_with('[') && trimmed.ends_with(']');
    if !looks || trimmed.len() > MAX_NESTED_BYTES {
        return None;
    }
    Raw::parse(trimmed.to_owned(), &WireLimits::default()).ok()
}
