//! Names of tools for clients that leave more room for them than others, or less: what is shown, and what is meant by it. Pure.

use super::{Directory, Route};

impl Directory {
    /// What a client is shown in the place of a tool's name in the list, where it leaves another number of characters for it. `None`
    /// where the name stays, also because another tool has the other one.
    #[must_use]
    pub fn exposed_within(&self, exposed: &str, max: usize) -> Option<String> {
        let route = self.tools.get(exposed)?;
        let naming = self.namings.get(route.server).filter(|_| self.standing_alone != Some(route.server))?;
        let other = naming.within(max).expose(route.own_name());
        (other != exposed && !self.tools.contains_key(&other)).then_some(other)
    }

    /// The name in the list of a tool, for a client that was shown it with another number of characters. A name that was cut fills
    /// its budget, so that its length tells which one that was.
    #[must_use]
    pub fn listed_tool(&self, name: String) -> String {
        if self.tools.contains_key(&name) || self.standing_alone.is_some() {
            return name;
        }
        let is_it = |(_, route): &(&String, &Route)| {
            let naming = self.namings.get(route.server).map(|naming| naming.within(name.len()));
            naming.is_some_and(|naming| naming.own_part(&name).is_some() && naming.expose(route.own_name()) == name)
        };
        self.tools.iter().find(is_it).map(|(listed, _)| listed.clone()).unwrap_or(name)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use switchboard_upstream::{Listing, Lists};
    use switchboard_wire::Raw;

    use super::super::ListedServer;
    use super::*;

    fn source(id: &str, tools: &[&str]) -> ListedServer {
        let tool = |name: &&str| {
            Raw::from_value(&serde_json::json!({"name": name, "inputSchema": {"type": "object"}})).unwrap()
        };
        let tools = Listing { items: tools.iter().map(tool).collect(), ..Listing::default() };
        ListedServer::new(id, Arc::new(Lists { tools, ..Lists::default() }))
    }

    #[test]
    fn a_name_of_another_length_leads_to_the_same_tool() {
        let long = "add_pull_request_review_comment_to_pending_review";
        let directory =
            Directory::build(&[source("github-enterprise-cloud", &[long, "list"]), source("git", &["list"])]);
        let listed: Vec<String> = directory.tools().map(|(_, name, _)| name.to_owned()).collect();
        for name in &listed {
            for max in [24, 30, 48, 64, 80, 128] {
                let Some(other) = directory.exposed_within(name, max) else { continue };
                assert!(other.len() <= max && other != *name, "{other}");
                assert_eq!(directory.listed_tool(other), *name);
            }
            assert_eq!(directory.exposed_within(name, 46), None, "it has that length");
            assert_eq!(directory.listed_tool(name.clone()), *name);
        }
        let whole = format!("github-enterprise-cloud__{long}");
        assert!(listed.iter().any(|name| directory.exposed_within(name, 128).as_ref() == Some(&whole)), "{listed:?}");
        assert_eq!(directory.listed_tool("unknown__tool".to_owned()), "unknown__tool");
        // One that stands alone keeps its names.
        let alone = Directory::build(&[source("github-enterprise-cloud", &[long])]);
        assert_eq!(alone.exposed_within(long, 24), None);
    }
}
