//! What travels beside the parameters of a call: trace, delegation, keys and tokens.
//!
//! The dialects put such members at different places. This is the one reader of all of them, so that no two steps
//! look at different places for the same thing. Of two that name a member, the first wins: `params._meta`,
//! `params._mgp`, `params` itself, then the message around them. In `_meta` our own key comes before a bare one. What
//! nobody knows is left alone. A claim that is read here is a claim only: who calls is known from elsewhere.

#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use memchr::memmem::Finder;
use serde::Deserialize;
use switchboard_wire::{Edit, Extra, Kind, Object, Raw, Refusal};

use super::negotiation::EXTENSION_ID;
use crate::Fault;
use crate::fault::FaultKind;

/// The longest trace id that is taken over.
const LONGEST_TRACE_ID: usize = 128;
/// The longest idempotency key (proposal 5).
const LONGEST_IDEMPOTENCY_KEY: usize = 128;

/// The places of one message, opened once.
#[derive(Debug, Clone, Default)]
pub struct Metadata {
    places: Vec<Object>,
    /// Whether our own key may stand anywhere in them.
    names_us: bool,
}

/// A member is there and has a shape that cannot be acted upon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("`{key}` has a wrong shape")]
pub struct Malformed {
    /// The member.
    pub key: &'static str,
}

impl From<Malformed> for Fault {
    fn from(malformed: Malformed) -> Self {
        Self::new(FaultKind::InvalidParams, malformed.to_string())
    }
}

impl Metadata {
    /// Of a message with these parameters, and these members beside `params`.
    ///
    /// # Errors
    /// One of the places holds a key twice, so that two readers could see different calls.
    pub fn of(params: Option<&Raw>, beside: &Extra) -> Result<Self, Refusal> {
        let params = params.filter(|params| params.kind() == Kind::Object).map(Object::open).transpose()?;
        Self::of_open(params, beside)
    }

    /// The same for parameters that are open already.
    ///
    /// # Errors
    /// As [`Metadata::of`].
    pub fn of_open(params: Option<Object>, beside: &Extra) -> Result<Self, Refusal> {
        static OURS: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(EXTENSION_ID));
        let mut places = Vec::new();
        // A name can be written with escapes.
        let says = |raw: &Raw| OURS.find(raw.as_bytes()).is_some() || raw.as_bytes().contains(&b'\\');
        let names_us =
            [params.as_ref().map(Object::raw), beside.get("_meta"), beside.get("_mgp")].into_iter().flatten().any(says);
        if let Some(params) = params {
            open_meta(params.get("_meta").as_ref(), &mut places)?;
            open(params.get("_mgp").as_ref(), &mut places)?;
            places.push(params);
        }
        open_meta(beside.get("_meta"), &mut places)?;
        open(beside.get("_mgp"), &mut places)?;
        if let Some(trace_id) = beside.get("trace_id") {
            let trace_id = Edit::empty().set("trace_id", trace_id.clone()).finish();
            places.push(Object::open(&trace_id)?);
        }
        Ok(Self { places, names_us })
    }

    /// The same for parameters alone.
    ///
    /// # Errors
    /// As [`Metadata::of`].
    pub fn of_params(params: &Raw) -> Result<Self, Refusal> {
        Self::of(Some(params), &Extra::default())
    }

    /// The first member of that name. `null` counts as absent.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<Raw> {
        if !self.names_us {
            return self.places.iter().find_map(|place| place.get(key).filter(present));
        }
        let own = format!("{EXTENSION_ID}/{key}");
        self.places
            .iter()
            .find_map(|place| [own.as_str(), key].into_iter().find_map(|key| place.get(key).filter(present)))
    }

    /// The text of that name. What is no text is not skipped: a later place would say something else than was meant.
    fn text(&self, key: &'static str) -> Result<Option<String>, Malformed> {
        self.get(key).map(|value| value.as_text().ok_or(Malformed { key })).transpose()
    }

    fn read<T: for<'de> Deserialize<'de>>(&self, key: &'static str) -> Result<Option<T>, Malformed> {
        self.get(key).map(|value| value.view().map_err(|_| Malformed { key })).transpose()
    }

    /// What ties the records of one undertaking together: a `trace_id`, or the trace of a W3C `traceparent`. One that
    /// cannot be used is as good as none, since nothing is decided by it.
    #[must_use]
    pub fn trace_id(&self) -> Option<String> {
        let told = self.get("trace_id").and_then(|value| value.as_text()).filter(|id| usable_trace_id(id));
        told.or_else(|| {
            let parent = self.get("traceparent")?.as_text()?;
            trace_of(&parent).map(str::to_owned)
        })
    }

    /// On whose behalf the call is made.
    ///
    /// # Errors
    /// It is there and cannot be read. Such a call is refused: without its chain it would have more rights.
    pub fn delegation(&self) -> Result<Option<Delegation>, Malformed> {
        self.read("delegation")
    }

    /// Whether the result may come in pieces (MGP 12.3).
    #[must_use]
    pub fn wants_stream(&self) -> bool {
        self.get("stream").is_some_and(|value| value.as_str() == "true")
    }

    /// Under which key the call runs at most once (proposal 5).
    ///
    /// # Errors
    /// It is there and is no key. Such a call is refused: its caller relies on it.
    pub fn idempotency_key(&self) -> Result<Option<String>, Malformed> {
        const KEY: &str = "idempotency_key";
        let legal = |key: &String| {
            (1..=LONGEST_IDEMPOTENCY_KEY).contains(&key.len())
                && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-:.".contains(&byte))
        };
        match self.text(KEY)? {
            Some(key) if !legal(&key) => Err(Malformed { key: KEY }),
            key => Ok(key),
        }
    }

    /// How long the key holds, in seconds (proposal 5).
    ///
    /// # Errors
    /// It is there and is no whole number.
    pub fn idempotency_ttl_seconds(&self) -> Result<Option<u64>, Malformed> {
        self.read("idempotency_ttl_seconds")
    }

    /// What the caller wants to reach (proposal 2).
    #[must_use]
    pub fn intent(&self) -> Option<String> {
        self.get("intent")?.as_text()
    }

    /// The transaction that the call is a step of (proposal 5).
    ///
    /// # Errors
    /// It is there and is no text.
    pub fn transaction_id(&self) -> Result<Option<String>, Malformed> {
        self.text("transaction_id")
    }

    /// Which step of it (proposal 5).
    ///
    /// # Errors
    /// It is there and is no text.
    pub fn step_id(&self) -> Result<Option<String>, Malformed> {
        self.text("step_id")
    }

    /// The state that the caller carries for the server (proposal 14), untouched.
    #[must_use]
    pub fn session_state(&self) -> Option<Raw> {
        self.get("session_state")
    }

    /// What the caller says about an earlier `confirmation_required`.
    #[must_use]
    pub fn confirmation(&self) -> Confirmation {
        Confirmation {
            token: self.get("confirmation_token").and_then(|token| token.as_text()),
            user_confirmed: self.get("user_confirmed").is_some_and(|value| value.as_str() == "true"),
        }
    }
}

/// What a repeated call says about the confirmation it was asked for (proposal 6).
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Confirmation {
    /// The token of the question.
    pub token: Option<String>,
    /// Whether a person is said to have agreed. Means nothing without a token that is known.
    pub user_confirmed: bool,
}

impl std::fmt::Debug for Confirmation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let token = self.token.as_ref().map(|_| "..");
        f.debug_struct("Confirmation").field("token", &token).field("user_confirmed", &self.user_confirmed).finish()
    }
}

impl Confirmation {
    /// What the parameters of a call say.
    ///
    /// # Errors
    /// As [`Metadata::of`].
    pub fn of(params: &Raw) -> Result<Self, Refusal> {
        Ok(Metadata::of_params(params)?.confirmation())
    }

    /// Parameters without it, for the server: the token is ours and none of its business.
    ///
    /// # Errors
    /// As [`Metadata::of`].
    pub fn removed_from(params: &Raw) -> Result<Raw, Refusal> {
        let remove = |edit: Edit| {
            ["confirmation_token", "user_confirmed"]
                .into_iter()
                .fold(edit, |edit, key| edit.remove(key).remove(&format!("{EXTENSION_ID}/{key}")))
        };
        let mut edit = remove(Edit::of(params)?);
        for place in ["_meta", "_mgp"] {
            let Some(value) = edit.object().get(place).filter(is_object) else { continue };
            let mut inner = remove(Edit::of(&value)?);
            for key in [EXTENSION_ID, "_mgp"] {
                if let Some(own) = inner.object().get(key).filter(is_object) {
                    inner = inner.set(key, remove(Edit::of(&own)?).finish());
                }
            }
            edit = edit.set(place, inner.finish());
        }
        Ok(edit.finish())
    }
}

/// On whose behalf a call is made.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, Deserialize)]
#[non_exhaustive]
pub struct Delegation {
    /// Who asked first.
    pub original_actor: String,
    /// Who passed the task on. Must be who calls.
    pub delegated_via: String,
    /// What names the delegation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delegation_id: Option<String>,
    /// All who passed it on, in their order.
    #[serde(default)]
    pub chain: Vec<String>,
}

/// The places of a `_meta`: what stands under our own key before what stands bare.
fn open_meta(meta: Option<&Raw>, places: &mut Vec<Object>) -> Result<(), Refusal> {
    if let Some(meta) = meta.filter(|meta| meta.kind() == Kind::Object) {
        let meta = Object::open(meta)?;
        open(meta.get(EXTENSION_ID).as_ref(), places)?;
        open(meta.get("_mgp").as_ref(), places)?;
        places.push(meta);
    }
    Ok(())
}

fn open(place: Option<&Raw>, places: &mut Vec<Object>) -> Result<(), Refusal> {
    if let Some(place) = place.filter(|place| place.kind() == Kind::Object) {
        places.push(Object::open(place)?);
    }
    Ok(())
}

fn present(value: &Raw) -> bool {
    value.kind() != Kind::Null
}

fn is_object(value: &Raw) -> bool {
    value.kind() == Kind::Object
}

/// Whether a text can be the name of a trace: printable, and not long.
#[must_use]
pub fn usable_trace_id(id: &str) -> bool {
    (1..=LONGEST_TRACE_ID).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic())
}

/// The trace id in the text of a W3C `traceparent`.
#[must_use]
pub fn trace_of(traceparent: &str) -> Option<&str> {
    let hex = |text: &str, length: usize| {
        text.len() == length && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    let zero = |text: &str| text.bytes().all(|byte| byte == b'0');
    let mut parts = traceparent.splitn(5, '-');
    let (version, trace, parent, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    // Later versions may add parts; the first one has none more.
    let legal = hex(version, 2)
        && version != "ff"
        && (version != "00" || parts.next().is_none())
        && hex(trace, 32)
        && hex(parent, 16)
        && hex(flags, 2);
    (legal && !zero(trace) && !zero(parent)).then_some(trace)
}
