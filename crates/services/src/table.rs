//! The one table of the kernel's own methods and tools.
//!
//! A row says what it is called as a method and as a tool, what of MGP or the proposals must have been agreed on, who may,
//! whether it counts, in which lists it stands, and which function answers. Dispatch, lists, accounting, the table in
//! `docs/names.md` and the tests read it; nothing else knows these names. Each service contributes its rows.

use switchboard_peer::Context;
use switchboard_upstream::names;
use switchboard_wire::Raw;

use super::house::DynHouse;
use super::row::{Needs, Negotiated, OwnMethod, OwnTool, Who};
use super::{access, audit, discovery, lifecycle, manifest, permissions, registry, running, scopes};

/// All of them, in the order in which their tools are listed.
const TABLE: [&[OwnMethod]; 9] = [
    discovery::ROWS,
    access::ROWS,
    lifecycle::ROWS,
    running::ROWS,
    registry::ROWS,
    audit::ROWS,
    manifest::ROWS,
    scopes::ROWS,
    permissions::ROWS,
];

/// Every row.
pub(crate) fn rows() -> impl Iterator<Item = &'static OwnMethod> {
    TABLE.iter().copied().flatten()
}

/// The row of a method.
pub(crate) fn of_method(name: &str) -> Option<&'static OwnMethod> {
    rows().find(|row| row.method == Some(name))
}

/// The row of a tool, by the name under which it is listed.
pub(crate) fn of_tool(name: &str) -> Option<(&'static OwnMethod, &'static OwnTool)> {
    rows().find_map(|row| Some((row, row.tool.as_ref().filter(|tool| tool.name == name)?)))
}

/// Whether a request by this name, a method or a tool, is the kernel's to answer and counts. What sounds like MGP and is
/// nothing counts as well.
#[must_use]
pub fn counts(name: &str) -> bool {
    let row = rows().find(|row| row.method == Some(name) || row.tool.is_some_and(|tool| tool.name == name));
    row.map_or_else(|| name.starts_with(PREFIX) || names::is_reserved(name), |row| row.counts)
}

/// Whether the kernel has a tool of this name, for whichever clients.
#[must_use]
pub fn is_own_tool(name: &str) -> bool {
    of_tool(name).is_some()
}

/// How methods of MGP begin.
pub(crate) const PREFIX: &str = "mgp/";

/// The definitions of the tools that a client is listed after those of servers.
#[must_use]
pub fn listed(house: &DynHouse, context: &Context, is_manifest: bool) -> Vec<Raw> {
    let negotiated = Negotiated::of(house, context);
    let is_listed =
        |row: &&OwnMethod| row.tool.is_some_and(|tool| negotiated.lists(house, context, &tool, is_manifest));
    rows().filter(is_listed).filter_map(|row| Raw::from_value(&row.definition()?).ok()).collect()
}

/// What the kernel answers itself, as documentation and tests see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnName {
    /// The method.
    pub method: Option<&'static str>,
    /// The tool, as it is listed.
    pub tool: Option<&'static str>,
    /// What it does.
    pub about: &'static str,
    /// Whether only who may decide for others may send the method.
    pub method_for_admins: bool,
    /// Whether the tool is there only for who may decide for others.
    pub tool_for_admins: bool,
    /// Which clients have the tool, in words.
    pub tool_needs: String,
    /// Whether it counts against how often its principal may ask.
    pub counts: bool,
}

/// All that the kernel answers itself, in the order of the table.
#[must_use]
pub fn own_names() -> Vec<OwnName> {
    let needs = |tool: &OwnTool| match tool.needs {
        Needs::Nothing => "everybody".to_owned(),
        Needs::Mgp(extension) => format!("MGP `{}`", extension.as_str()),
        Needs::Proposal(proposal) => format!("proposal `{}`", proposal.as_str()),
        Needs::Finding => "everybody; listed where not all tools are".to_owned(),
    };
    let named = |row: &OwnMethod| OwnName {
        method: row.method,
        tool: row.tool.map(|tool| tool.name),
        about: row.about,
        method_for_admins: row.who != Who::Everyone,
        tool_for_admins: row.tool.is_some_and(|tool| tool.admin_only),
        tool_needs: row.tool.as_ref().map(needs).unwrap_or_default(),
        counts: row.counts,
    };
    rows().map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_has_a_definition_with_a_schema() {
        for row in rows().filter(|row| row.tool.is_some()) {
            let definition = row.definition().unwrap_or_default();
            assert_eq!(definition["inputSchema"]["type"], "object", "{definition}");
        }
    }

    #[test]
    fn what_sounds_like_mgp_counts_whether_it_is_there_or_not() {
        let counted = ["mgp/no/such", "mgp_no_such", "mgp/tools/discover", "mgp_tools_call", "operations/resume"];
        assert!(counted.into_iter().all(counts));
        assert!(!["mgp_stream_cancel", "mgp/stream/cancel", "files__read", "x/y"].into_iter().any(counts));
    }
}
