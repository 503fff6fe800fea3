//! What the gate knows of everything that servers list, computed once per definition.
//!
//! A prompt may do anything, so it is weighed as a tool is. A resource is read: that alone is no danger, and asks nobody,
//! whatever the trust in its server; only what a client writes into an address may lead to what a person wants to know of.
//! What a template has for variables is what a client puts into it, so these count as the arguments of a tool would.

use std::sync::Arc;

use switchboard_gate::ToolPolicy;
use switchboard_policy::risk::{self, Assessment, Effect, OperatorWord, fallback};
use switchboard_protocol::mgp::security::{Argument, ToolSecurity};
use switchboard_protocol::mgp::{Risk, TrustLevel};
use switchboard_validators::acting::Outlook;
use switchboard_validators::arguments::Dialing;
use switchboard_wire::Raw;

use super::{Curated, ListKind, ListedServer, template};

/// Words without which a definition of a resource says nothing of its dangers.
const TELLING: [&str; 5] = ["security", "risk_level", "requires_confirmation", "cost", "required_scopes"];

/// What holds for the resources of one server that say nothing of themselves.
#[derive(Debug, Clone)]
pub(super) struct Plain {
    /// Those that it lists.
    pub(super) listed: Arc<ToolPolicy>,
    /// Those that a client names.
    pub(super) named: Arc<ToolPolicy>,
}

impl ListedServer {
    /// Whether all its tools have the same hints, so that these tell nothing of any of them. What is held back counts: that it is
    /// not shown does not change what its server says of the others. While something is held back that may have been changed, the
    /// hints count: what is not accepted changes nothing for the rest.
    pub(super) fn hints_tell_nothing(&self) -> bool {
        let tools = &self.lists.tools.items;
        let is_held = tools.iter().any(|tool| {
            tool.member("name")
                .and_then(|name| name.as_text())
                .is_some_and(|name| self.held(ListKind::Tools, &name).is_some())
        });
        // Most servers say something else of the first.
        let says = |tool: &Raw, key: &str| tool.at(&["annotations", key]).is_some_and(|said| said.as_str() == "true");
        if is_held || !tools.first().is_some_and(|tool| says(tool, "destructiveHint")) {
            return false;
        }
        let named = |tool: &Raw| Some((tool.member("name")?.as_text()?, ToolSecurity::of(tool)));
        let read: Vec<(String, ToolSecurity)> = tools.iter().filter_map(named).collect();
        read.len() == tools.len()
            && risk::hints_tell_nothing(read.iter().map(|(name, said)| (name.as_str(), said)), self.trust, self.mgp)
    }

    /// What holds for a tool, with its hints or without.
    pub(super) fn judge(&self, name: &str, definition: &Raw, hints_count: bool) -> ToolPolicy {
        let mut security = ToolSecurity::of(definition);
        if !hints_count {
            security = risk::without_hints(&security);
        }
        let word = self.policy.tools.get(name).copied().unwrap_or_default();
        let assessment = risk::assess(&security, name, &word, self.trust, self.mgp);
        // Below the usual trust nobody is bothered with questions about hosts.
        let dialing = Dialing::of(&security, self.dialer, self.trust >= TrustLevel::Standard);
        let outlook = Outlook::of(&security, name, &assessment, &word, self.trust);
        let outlook = outlook.map(|outlook| outlook.of_server(&security, &self.id));
        // What the schema says of the arguments has been weighed.
        security.arguments = Vec::new();
        ToolPolicy::new(security, assessment)
            .of_server(&self.id)
            .with_dialing(dialing)
            .with_outlook(outlook)
            .with_schema(definition.member("inputSchema"))
            .with_definition(ListKind::Tools, definition.clone())
            .with_longest_input(super::longest_input(definition))
            .with_code_level(self.policy.code_levels.get(name).copied())
            .with_text_arguments(self.policy.text_arguments.get(name))
            .timed_by(name, &self.timings)
    }

    /// What holds for a prompt. The operator's word about a tool of the same name is not about it.
    pub(super) fn judge_prompt(&self, name: &str, definition: &Raw) -> ToolPolicy {
        let arguments = definition.member("arguments").and_then(|list| list.elements()).unwrap_or_default();
        let named = |argument: &Raw| argument.member("name")?.as_text();
        let described = arguments.iter().filter_map(|argument| {
            let text = |key: &str| argument.member(key).and_then(|text| text.as_text()).unwrap_or_default();
            let says = format!("{} {}", text("title"), text("description"));
            Some(Argument { name: named(argument)?, says, words: Vec::new(), closed: false })
        });
        let security = ToolSecurity {
            properties: arguments.iter().filter_map(named).collect(),
            arguments: described.collect(),
            ..ToolSecurity::of(definition)
        };
        let description = definition.member("description").and_then(|text| text.as_text());
        let class = fallback::classify_described(name, description.as_deref(), &security.properties);
        let said = self.policy.prompts.get(name);
        let word = said.map(|said| said.word).unwrap_or_default();
        let assessment = risk::assess_content(&security, name, class, &word, self.trust, self.mgp);
        let outlook = Outlook::of(&security, name, &assessment, &word, self.trust);
        ToolPolicy::new(ToolSecurity { arguments: Vec::new(), ..security }, assessment)
            .with_outlook(outlook)
            .with_definition(ListKind::Prompts, definition.clone())
            .with_text_arguments(said.map(|said| &said.text_arguments))
    }

    /// Whether the operator switched a tool or a prompt off.
    pub(super) fn is_disabled(&self, kind: ListKind, name: &str) -> bool {
        self.policy.is_disabled(kind, name)
    }

    /// How the operator wants a tool shown and called.
    pub(super) fn curated(&self, kind: ListKind, name: &str) -> Option<Arc<Curated>> {
        self.policy.curated.get(name).filter(|_| kind == ListKind::Tools).cloned()
    }

    /// What holds for resources that say nothing of themselves.
    pub(super) fn plain(&self) -> Plain {
        let policy = || {
            let security = ToolSecurity::default();
            let assessment = risk::assess_read(&security, self.trust, self.mgp);
            ToolPolicy::new(security, assessment)
        };
        let named = policy();
        // What its server lists is what it says it has; what a client names may lead anywhere.
        let outlook = self.outlook_on_read(&ToolSecurity::default(), "", &named.assessment);
        Plain { listed: Arc::new(policy().listed()), named: Arc::new(named.with_outlook(outlook)) }
    }

    /// How addresses are looked at for values that act: what is read is only looked at, whatever the trust, unless somebody
    /// says that reading it changes something.
    fn outlook_on_read(&self, security: &ToolSecurity, name: &str, assessment: &Assessment) -> Option<Outlook> {
        let risk = if assessment.effect == Effect::Said { assessment.risk } else { Risk::Safe };
        let found = Assessment { risk, ..assessment.clone() };
        Outlook::of(security, name, &found, &OperatorWord::default(), self.trust)
    }

    /// What holds for a resource that is listed, where it says something of itself.
    pub(super) fn judge_resource(&self, definition: &Raw) -> Option<Arc<ToolPolicy>> {
        let security = ToolSecurity::of(definition);
        let text = |key: &str| definition.member(key).and_then(|text| text.as_text());
        let name = text("name").unwrap_or_default();
        let class = fallback::classify_described(&name, text("description").as_deref(), &[]);
        // What reading it does beside: nobody is asked about it, but it is on record as what it is, and nobody is told to do
        // it again where its end was not seen.
        let told = risk::assess_template(&security, &name, class, self.trust, self.mgp).effect;
        let does_more = told == Effect::Said;
        if !does_more && !TELLING.iter().any(|word| definition.as_str().contains(word)) {
            return None;
        }
        let mut assessment = risk::assess_read(&security, self.trust, self.mgp);
        if does_more {
            assessment.effect = Effect::Said;
        }
        let policy = ToolPolicy::new(security, assessment).listed();
        Some(Arc::new(policy.with_definition(ListKind::Resources, definition.clone())))
    }

    /// What holds for the resources of a template.
    pub(super) fn judge_template(&self, definition: &Raw) -> ToolPolicy {
        let text = |key: &str| definition.member(key).and_then(|text| text.as_text());
        let properties = text("uriTemplate").map(|written| template::variables(&written)).unwrap_or_default();
        let argument =
            |name: &String| Argument { name: name.clone(), says: String::new(), words: Vec::new(), closed: false };
        let arguments = properties.iter().map(argument).collect();
        let security = ToolSecurity { properties, arguments, ..ToolSecurity::of(definition) };
        let name = text("name").unwrap_or_default();
        let class = fallback::classify_described(&name, text("description").as_deref(), &security.properties);
        let assessment = risk::assess_template(&security, &name, class, self.trust, self.mgp);
        let outlook = self.outlook_on_read(&security, &name, &assessment);
        ToolPolicy::new(ToolSecurity { arguments: Vec::new(), ..security }, assessment)
            .with_outlook(outlook)
            .with_definition(ListKind::Templates, definition.clone())
    }
}
