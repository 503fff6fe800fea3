//! Which events of a channel are wanted.

use switchboard_protocol::mgp::event::Severity;
use switchboard_wire::{Kind, Object, Raw};

/// Fields that one filter may name.
const MOST_FIELDS: usize = 32;

/// Which events are wanted.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    least: Option<Severity>,
    fields: Vec<(Vec<String>, Raw)>,
}

impl Filter {
    /// Reads one: `min_severity`, and fields that must have a value in the event's data. A dot leads inwards; of
    /// several values in an array, one must be there.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(raw: Option<&Raw>) -> Result<Self, String> {
        let Some(raw) = raw.filter(|raw| raw.kind() != Kind::Null) else { return Ok(Self::default()) };
        let object = Object::open(raw).map_err(|_| "`filter` is no object".to_owned())?;
        if object.len() > MOST_FIELDS {
            return Err(format!("`filter` names more than {MOST_FIELDS} fields"));
        }
        let mut filter = Self::default();
        for (key, value) in object.iter() {
            if key == "min_severity" {
                let word = value.as_text().unwrap_or_default();
                let least = Severity::from_word(&word);
                filter.least = Some(least.ok_or_else(|| "`min_severity` is none of info, warning, error".to_owned())?);
            } else {
                filter.fields.push((key.split('.').map(str::to_owned).collect(), value.detach()));
            }
        }
        Ok(filter)
    }

    /// Whether an event is wanted.
    #[must_use]
    pub fn passes(&self, severity: Severity, data: &Raw) -> bool {
        self.least.is_none_or(|least| severity >= least) && self.fields.iter().all(|field| stands(field, data))
    }
}

fn stands((path, wanted): &(Vec<String>, Raw), data: &Raw) -> bool {
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    let Some(found) = data.at(&path) else { return false };
    match wanted.elements() {
        Some(several) if found.kind() != Kind::Array => several.iter().any(|one| equal(one, &found)),
        _ => equal(wanted, &found),
    }
}

/// Whether two values are the same, however they are spelled.
fn equal(one: &Raw, other: &Raw) -> bool {
    let value = |raw: &Raw| raw.view::<serde_json::Value>().ok();
    one.as_bytes() == other.as_bytes() || value(one).is_some_and(|one| Some(one) == value(other))
}
