//! The form of a row of the table of own methods and tools: what can be said of one, and how one is called.

use serde_json::{Value, json};
use switchboard_peer::{BoxFuture, Context, Reply};
use switchboard_protocol::fault::{Fault, FaultKind, readable};
use switchboard_protocol::mgp::{Agreement, Extension};
use switchboard_protocol::proposals::{self, Declared, Proposal};
use switchboard_wire::{Id, Raw};

use super::house::DynHouse;

/// Something that the kernel answers itself.
#[derive(Clone, Copy)]
pub(crate) struct OwnMethod {
    pub(crate) method: Option<&'static str>,
    pub(crate) tool: Option<OwnTool>,
    /// What it does. Models read this where it is a tool.
    pub(crate) about: &'static str,
    /// Who may send the method; of a tool, see [`OwnTool::admin_only`].
    pub(crate) who: Who,
    /// Whether it counts against how often its principal may ask.
    pub(crate) counts: bool,
    /// Whether a server that has a tool of this name is asked instead where it is sent as a method.
    pub(crate) gives_way: bool,
    run: Run,
}

/// Answers a call. The future is boxed: what the kernel does itself is seldom, and must not widen the path of the others.
pub(crate) type Run = for<'a> fn(&'a DynHouse, &'a OwnCall<'a>) -> BoxFuture<'a, Result<Answer, Fault>>;

/// Who may.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    /// Each about what is its own.
    Everyone,
    /// Who may decide for others: what the rest is told that it may not, and what to do instead.
    Admin(&'static str, Option<&'static str>),
}

/// The same as a tool, which models call.
#[derive(Clone, Copy)]
pub(crate) struct OwnTool {
    /// As it is listed. The specification's spelling with dots is understood as well.
    pub(crate) name: &'static str,
    schema: fn() -> Value,
    /// What must have been agreed on: for everybody else there is no such tool.
    pub(crate) needs: Needs,
    /// Whether it is there only for who may decide for others.
    pub(crate) admin_only: bool,
    listed: Listed,
    /// Whether it is told on whose behalf a call is, which stands beside its arguments. A method's parameters have it among them.
    pub(crate) hears_delegation: bool,
    /// Whether it is said of it that it only reads.
    only_reads: bool,
    /// Whether its definition says that it is the kernel's.
    is_marked: bool,
    /// Other words for who reads the text of its result.
    pub(crate) words: Option<fn(&Value) -> Option<String>>,
}

/// What a client must have agreed on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needs {
    Nothing,
    /// An extension of MGP.
    Mgp(Extension),
    /// One of the proposals.
    Proposal(Proposal),
    /// Nothing, and it is listed to a client that is not given all tools: that must be able to find them.
    Finding,
}

/// In which lists a tool stands, for a client that may call it.
#[derive(Clone, Copy)]
enum Listed {
    /// In all.
    Always,
    /// For versions of MGP that have kernel tools: from 0.5 on. Who has methods shall not spend a model's attention on tools.
    FromKernelTools,
    /// Where this is so.
    When(fn(&DynHouse, &Context) -> bool),
    /// In manifests for all; in a list of tools where this is so.
    InManifests(fn(&DynHouse, &Context) -> bool),
    /// Before the tools of servers, where [`discovery`] puts it.
    ByDiscovery,
}

/// How it was called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// By a program: the result of a method.
    Method,
    /// By a model: what a tool says.
    Tool,
}

/// One call of a row.
pub(crate) struct OwnCall<'a> {
    pub(crate) context: &'a Context,
    pub(crate) id: &'a Id,
    /// The parameters of the method, or the arguments of the tool.
    pub(crate) given: Option<Raw>,
    pub(crate) form: Form,
}

impl OwnCall<'_> {
    /// The parameters, where nothing was given an empty object.
    pub(crate) fn params(&self) -> Raw {
        self.given.clone().unwrap_or_else(Raw::empty_object)
    }

    /// A view of them.
    ///
    /// # Errors
    /// They do not have its form.
    pub(crate) fn read<T: serde::de::DeserializeOwned>(&self) -> Result<T, Fault> {
        let params = self.params();
        params.view().map_err(|error| Fault::new(FaultKind::InvalidParams, readable(&params, &error)))
    }
}

/// What a row answers.
pub(crate) enum Answer {
    Raw(Raw),
    /// The same, put together here.
    Value(Value),
    /// The whole reply, whatever the form of the call.
    Reply(Reply),
    /// There is no such thing here.
    Unknown,
}

impl From<Raw> for Answer {
    fn from(raw: Raw) -> Self {
        Self::Raw(raw)
    }
}

impl From<Value> for Answer {
    fn from(value: Value) -> Self {
        Self::Value(value)
    }
}

impl From<Reply> for Answer {
    fn from(reply: Reply) -> Self {
        Self::Reply(reply)
    }
}

/// The function of a row: `run!(house, call => ...)`.
macro_rules! run {
    ($house:ident, $call:ident => $work:expr) => {
        |$house, $call| Box::pin(async move { Ok($crate::row::Answer::from($work?)) })
    };
}
pub(crate) use run;

impl OwnMethod {
    /// A method.
    pub(crate) const fn method(name: &'static str, about: &'static str, run: Run) -> Self {
        let method = Some(name);
        Self { method, tool: None, about, who: Who::Everyone, counts: true, gives_way: false, run }
    }

    /// A tool that is no method.
    pub(crate) const fn only_tool(tool: OwnTool, about: &'static str, run: Run) -> Self {
        Self { method: None, tool: Some(tool), about, who: Who::Everyone, counts: true, gives_way: false, run }
    }

    /// It is a tool as well.
    pub(crate) const fn tool(self, tool: OwnTool) -> Self {
        Self { tool: Some(tool), ..self }
    }

    /// Only who may decide for others may send it. The rest may not do `what`, and is told what to do `instead`.
    pub(crate) const fn for_admins(self, what: &'static str, instead: Option<&'static str>) -> Self {
        Self { who: Who::Admin(what, instead), ..self }
    }

    /// It counts against nothing: it ends, slows down or answers something that was counted when it began.
    pub(crate) const fn uncounted(self) -> Self {
        Self { counts: false, ..self }
    }

    /// A server that has a tool of this name is asked instead.
    pub(crate) const fn gives_way(self) -> Self {
        Self { gives_way: true, ..self }
    }

    /// Answers a call.
    pub(super) fn run<'a>(&self, house: &'a DynHouse, call: &'a OwnCall<'a>) -> BoxFuture<'a, Result<Answer, Fault>> {
        (self.run)(house, call)
    }

    /// The tool as clients are told of it.
    pub(crate) fn definition(&self) -> Option<Value> {
        let tool = self.tool?;
        let mut definition = json!({"name": tool.name, "description": self.about, "inputSchema": (tool.schema)()});
        if tool.only_reads {
            definition["annotations"] = json!({"readOnlyHint": true, "idempotentHint": true});
        }
        if tool.is_marked {
            definition["_mgp"] = json!({"source": "kernel", "admin_only": tool.admin_only});
        }
        Some(definition)
    }
}

impl OwnTool {
    /// A tool for everybody, in all lists.
    pub(crate) const fn new(name: &'static str, schema: fn() -> Value) -> Self {
        Self {
            name,
            schema,
            needs: Needs::Nothing,
            admin_only: false,
            listed: Listed::Always,
            hears_delegation: false,
            only_reads: false,
            is_marked: true,
            words: None,
        }
    }

    pub(crate) const fn needs(self, needs: Needs) -> Self {
        Self { needs, ..self }
    }

    pub(crate) const fn admin_only(self) -> Self {
        Self { admin_only: true, ..self }
    }

    pub(crate) const fn hears_delegation(self) -> Self {
        Self { hears_delegation: true, ..self }
    }

    pub(crate) const fn only_reads(self) -> Self {
        Self { only_reads: true, ..self }
    }

    /// Its definition does not say whose it is.
    pub(crate) const fn unmarked(self) -> Self {
        Self { is_marked: false, ..self }
    }

    pub(crate) const fn words(self, words: fn(&Value) -> Option<String>) -> Self {
        Self { words: Some(words), ..self }
    }

    pub(crate) const fn listed_from_kernel_tools(self) -> Self {
        Self { listed: Listed::FromKernelTools, ..self }
    }

    pub(crate) const fn listed_when(self, when: fn(&DynHouse, &Context) -> bool) -> Self {
        Self { listed: Listed::When(when), ..self }
    }

    pub(crate) const fn in_manifests_and_when(self, when: fn(&DynHouse, &Context) -> bool) -> Self {
        Self { listed: Listed::InManifests(when), ..self }
    }

    pub(crate) const fn listed_by_discovery(self) -> Self {
        Self { listed: Listed::ByDiscovery, ..self }
    }
}

/// What was agreed on with a client, as far as rows ask.
pub(crate) struct Negotiated {
    mgp: Option<Agreement>,
    proposals: Declared,
    is_admin: bool,
}

impl Negotiated {
    pub(crate) fn of(house: &DynHouse, context: &Context) -> Self {
        let capabilities = &context.caller.capabilities;
        Self {
            mgp: Agreement::with_client(capabilities),
            proposals: proposals::declared(capabilities),
            is_admin: house.decides_for_others(context),
        }
    }

    /// Whether a client has a tool; `None` where that depends on what is loaded for it.
    pub(crate) fn has(&self, tool: &OwnTool) -> Option<bool> {
        if tool.admin_only && !self.is_admin {
            return Some(false);
        }
        match tool.needs {
            Needs::Nothing => Some(true),
            Needs::Mgp(extension) => Some(self.mgp.as_ref().is_some_and(|agreed| agreed.has(extension))),
            Needs::Proposal(proposal) => Some(self.proposals.has(proposal)),
            Needs::Finding => None,
        }
    }

    /// Whether a tool stands in a list for a client.
    pub(crate) fn lists(&self, house: &DynHouse, context: &Context, tool: &OwnTool, is_manifest: bool) -> bool {
        self.has(tool) == Some(true)
            && match tool.listed {
                Listed::Always => true,
                Listed::FromKernelTools => {
                    self.mgp.as_ref().is_some_and(|agreed| has_kernel_tools(agreed.peer_version()))
                }
                Listed::When(when) => when(house, context),
                Listed::InManifests(when) => is_manifest || when(house, context),
                Listed::ByDiscovery => false,
            }
    }
}

/// Whether a version of MGP has kernel tools.
fn has_kernel_tools(version: &str) -> bool {
    let mut numbers = version.split('.').map(|part| part.parse::<u32>().ok());
    match (numbers.next().flatten(), numbers.next().flatten()) {
        (Some(0), Some(minor)) => minor >= 5,
        (Some(_), _) => true,
        (None, _) => false,
    }
}

/// The schema of arguments.
pub(super) fn object(properties: &Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required})
}

/// The schema of a text.
pub(super) fn text(about: &str) -> Value {
    json!({"type": "string", "description": about})
}

/// The schema of several texts.
pub(super) fn texts(about: &str) -> Value {
    json!({"type": "array", "items": {"type": "string"}, "description": about})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_with_kernel_tools() {
        for (version, tools) in
            [("0.3.0", false), ("0.4", false), ("0.5.0", true), ("0.6.1", true), ("1.0", true), ("x", false)]
        {
            assert_eq!(has_kernel_tools(version), tools, "{version}");
        }
    }
}
