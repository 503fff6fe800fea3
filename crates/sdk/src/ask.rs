//! What a handler can ask the client for, and what must be true before it is asked.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use switchboard_protocol::Era;
use switchboard_protocol::mcp::{
    CreateMessageParams, CreateMessageResult, ElicitAction, ElicitParams, ElicitResult, InputRequest, ListRootsResult,
    method,
};
use switchboard_wire::{Edit, Raw};

use crate::{Error, schema};

/// A question with a key of the author's choice.
///
/// In the modern era the client sees the key, and answers under it. Without one, the kind of question and a running
/// number serve.
#[derive(Debug, Clone)]
pub struct Question<P> {
    pub(crate) params: P,
    pub(crate) key: Option<String>,
}

impl<P> From<P> for Question<P> {
    fn from(params: P) -> Self {
        Self { params, key: None }
    }
}

/// Gives a question its key.
///
/// ```
/// use switchboard_sdk::{Keyed, mcp::ElicitParams, schema};
/// # use serde_json::json;
/// let form = schema::raw(json!({"type": "object", "properties": {"name": {"type": "string"}}}));
/// let question = ElicitParams::form("What is your name?", form).keyed("user_name");
/// ```
pub trait Keyed: Sized {
    /// The same question under this key.
    fn keyed(self, key: impl Into<String>) -> Question<Self> {
        Question { params: self, key: Some(key.into()) }
    }
}

impl Keyed for ElicitParams {}
impl Keyed for CreateMessageParams {}

/// What a person did with a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer<T> {
    /// Filled it in.
    Accepted(T),
    /// Said no.
    Declined,
    /// Went away.
    Cancelled,
}

impl<T> Answer<T> {
    /// What was filled in, or a failure that says that nothing was.
    ///
    /// # Errors
    /// The person said no, or went away.
    pub fn accepted(self) -> Result<T, Error> {
        match self {
            Self::Accepted(value) => Ok(value),
            Self::Declined => Err(Error::msg("the user declined")),
            Self::Cancelled => Err(Error::msg("the user cancelled")),
        }
    }
}

impl<T: DeserializeOwned> TryFrom<ElicitResult> for Answer<T> {
    type Error = Error;

    fn try_from(result: ElicitResult) -> Result<Self, Error> {
        match result.action {
            ElicitAction::Accept => {
                let content = serde_json::Value::Object(result.content.unwrap_or_default());
                let value = serde_json::from_value(content)
                    .map_err(|error| Error::msg(format!("the answer does not fit the form: {error}")))?;
                Ok(Self::Accepted(value))
            }
            ElicitAction::Decline => Ok(Self::Declined),
            _ => Ok(Self::Cancelled),
        }
    }
}

/// A form for a type whose members are texts, numbers, booleans and choices.
#[must_use]
pub fn form<T: JsonSchema>(message: impl Into<String>) -> ElicitParams {
    ElicitParams::form(message, schema::form::<T>())
}

/// One question as it goes to the client.
pub(crate) struct SentQuestion {
    pub(crate) request: InputRequest,
    pub(crate) key: Option<String>,
    /// The first part of a key that is made up.
    pub(crate) stem: &'static str,
    /// The client capability it takes, as a path.
    needs: &'static [&'static str],
}

impl SentQuestion {
    pub(crate) fn elicitation(question: Question<ElicitParams>, era: Era) -> Result<Self, Error> {
        let Question { mut params, key } = question;
        let needs: &[&str] = if params.is_page() { &["elicitation", "url"] } else { &["elicitation"] };
        if params.is_page() && era == Era::Legacy && params.elicitation_id.is_none() {
            params.elicitation_id = Some(switchboard_peer::random_token());
        }
        let request = InputRequest::new(method::ELICIT).params(Raw::from_value(&params)?);
        Ok(Self { request, key, stem: "elicitation", needs })
    }

    pub(crate) fn sampling(question: Question<CreateMessageParams>) -> Result<Self, Error> {
        let Question { params, key } = question;
        let needs: &[&str] = if params.tools.is_some() { &["sampling", "tools"] } else { &["sampling"] };
        let request = InputRequest::new(method::CREATE_MESSAGE).params(Raw::from_value(&params)?);
        Ok(Self { request, key, stem: "sampling", needs })
    }

    pub(crate) fn roots(key: Option<String>) -> Self {
        let request = InputRequest::new(method::ROOTS_LIST).params(Raw::empty_object());
        Self { request, key, stem: "roots", needs: &["roots"] }
    }

    /// Refuses to ask a client that did not say it can answer.
    pub(crate) fn check(&self, capabilities: &Raw) -> Result<(), Error> {
        let declared = |path: &[&str]| capabilities.at(path).is_some();
        // A client that names only `url` takes no forms; one that names no way at all does.
        let form_refused =
            self.needs == ["elicitation"] && declared(&["elicitation", "url"]) && !declared(&["elicitation", "form"]);
        if declared(self.needs) && !form_refused {
            return Ok(());
        }
        let path: &[&str] = if form_refused { &["elicitation", "form"] } else { self.needs };
        let required = path.iter().rev().fold(Raw::empty_object(), |inner, key| Edit::empty().set(key, inner).finish());
        let message = format!("the client does not support {}, which this request needs", path.join("."));
        Err(Error::missing_capability(message, required))
    }
}

/// Reads the client's answer. One that has the wrong shape is the client's mistake, not the handler's.
pub(crate) fn read<T: DeserializeOwned>(asked: &'static str, answer: &Raw) -> Result<T, Error> {
    answer
        .view()
        .map_err(|error| Error::invalid_params(format!("the response to the {asked} request cannot be read: {error}")))
}

/// The answers there can be.
pub(crate) trait Readable: DeserializeOwned {
    const ASKED: &'static str;
}

impl Readable for ElicitResult {
    const ASKED: &'static str = "elicitation";
}
impl Readable for CreateMessageResult {
    const ASKED: &'static str = "sampling";
}
impl Readable for ListRootsResult {
    const ASKED: &'static str = "roots";
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::raw;
    use serde_json::json;

    #[test]
    fn capabilities() {
        let form = || SentQuestion::elicitation(ElicitParams::new("?").into(), Era::Modern).expect("serializable");
        let page = || {
            SentQuestion::elicitation(ElicitParams::page("?", "https://x").into(), Era::Modern).expect("serializable")
        };
        let roots = || SentQuestion::roots(None);
        for (asked, capabilities, ok) in [
            (form(), json!({"elicitation": {}}), true),
            (form(), json!({"elicitation": {"form": {}}}), true),
            (form(), json!({"elicitation": {"url": {}}}), false),
            (form(), json!({"elicitation": {"url": {}, "form": {}}}), true),
            (form(), json!({"sampling": {}}), false),
            (page(), json!({"elicitation": {}}), false),
            (page(), json!({"elicitation": {"url": {}}}), true),
            (roots(), json!({"roots": {"listChanged": true}}), true),
            (roots(), json!({}), false),
        ] {
            assert_eq!(asked.check(&raw(capabilities.clone())).is_ok(), ok, "{:?} with {capabilities}", asked.request);
        }
    }
}
