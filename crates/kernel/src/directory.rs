//! Everything that all servers offer, under the names and addresses that clients see. Pure.
//!
//! One server is shown as it is. Several are shown side by side: tools and prompts as `<server>__<name>`, resources
//! under their own URI as long as one server claims it, and as `<server>+<uri>` where two do.

mod template;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use switchboard_protocol::mcp::header::ParamHeaders;
use switchboard_protocol::mcp::method;
use switchboard_wire::{Edit, Object, Raw};

use crate::names;
pub(crate) use template::matches as template_matches;

/// One list of a server: its elements, and what else stood in the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// The elements, untouched.
    pub items: Vec<Raw>,
    /// The answer without its elements and cursor.
    pub envelope: Raw,
}

impl Default for Listing {
    fn default() -> Self {
        Self { items: Vec::new(), envelope: Raw::empty_object() }
    }
}

/// The lists of one server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lists {
    /// `tools/list`
    pub tools: Listing,
    /// `prompts/list`
    pub prompts: Listing,
    /// `resources/list`
    pub resources: Listing,
    /// `resources/templates/list`
    pub templates: Listing,
}

impl Lists {
    /// Whether nothing is in any of them.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        ListKind::ALL.into_iter().all(|kind| listing(self, kind).items.is_empty())
    }
}

/// One server's share of the directory.
#[derive(Debug, Clone)]
pub struct Source {
    /// Its id in the configuration.
    pub id: Arc<str>,
    /// What it offers.
    pub lists: Arc<Lists>,
    /// Whether it makes tasks in the way of the modern extension, so that any of its tools may become one.
    pub modern_tasks: bool,
}

/// Where something that a client named is to be found.
#[derive(Debug, Clone)]
pub struct Route {
    /// The index of the server among the sources.
    pub server: usize,
    /// What the server itself calls it.
    pub original: Arc<str>,
    /// The arguments of a tool that travel as HTTP headers as well.
    pub param_headers: Option<Arc<ParamHeaders>>,
    /// Whether the tool works only as a task (2025-11-25).
    pub needs_task: bool,
}

/// Something that is not shown, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hidden {
    /// The server that offers it.
    pub server: Arc<str>,
    /// Its name or URI there.
    pub name: String,
    /// Why it is not shown.
    pub why: String,
}

/// Which list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ListKind {
    /// Tools.
    Tools,
    /// Prompts.
    Prompts,
    /// Resources.
    Resources,
    /// Resource templates.
    Templates,
}

impl ListKind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Tools, Self::Prompts, Self::Resources, Self::Templates];

    /// The method that asks for it.
    #[must_use]
    pub const fn method(self) -> &'static str {
        match self {
            Self::Tools => method::TOOLS_LIST,
            Self::Prompts => method::PROMPTS_LIST,
            Self::Resources => method::RESOURCES_LIST,
            Self::Templates => method::RESOURCES_TEMPLATES_LIST,
        }
    }

    /// The member of the answer that holds the elements.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Prompts => "prompts",
            Self::Resources => "resources",
            Self::Templates => "resourceTemplates",
        }
    }
}

/// What clients see.
#[derive(Debug, Default)]
pub struct Directory {
    tools: HashMap<String, Route>,
    prompts: HashMap<String, Route>,
    resources: HashMap<String, Route>,
    templates: Vec<(String, Route)>,
    answers: HashMap<ListKind, Raw>,
    /// The tools as legacy clients see them, where that differs.
    legacy_tools: Option<Raw>,
    counts: HashMap<ListKind, usize>,
    ids: Vec<Arc<str>>,
    /// What is not shown.
    pub hidden: Vec<Hidden>,
}

impl Directory {
    /// Puts the lists of all servers together.
    #[must_use]
    pub fn build(sources: &[Source]) -> Self {
        let mut directory = Self { ids: sources.iter().map(|source| source.id.clone()).collect(), ..Self::default() };
        let alone = sources.len() == 1;
        let mut answers = HashMap::new();
        for kind in ListKind::ALL {
            let items = match kind {
                ListKind::Tools | ListKind::Prompts => directory.named(sources, kind, alone),
                ListKind::Resources => directory.resources(sources),
                ListKind::Templates => directory.templates(sources),
            };
            directory.counts.insert(kind, items.len());
            let envelope = if alone { listing(&sources[0].lists, kind).envelope.clone() } else { Raw::empty_object() };
            let edit = Edit::of(&envelope).unwrap_or_else(|_| Edit::empty());
            answers.insert(kind, edit.set(kind.key(), Raw::array(&items)).finish());
            if kind == ListKind::Tools && sources.iter().any(|source| source.modern_tasks) {
                let marked: Vec<_> = items.iter().map(|item| directory.marked_for_tasks(sources, item)).collect();
                let edit = Edit::of(&envelope).unwrap_or_else(|_| Edit::empty());
                directory.legacy_tools = Some(edit.set(kind.key(), Raw::array(&marked)).finish());
            }
        }
        directory.answers = answers;
        directory
    }

    /// A tool of a server with modern tasks, with the mark that tells legacy clients that it may become a task.
    fn marked_for_tasks(&self, sources: &[Source], item: &Raw) -> Raw {
        let route = item.member("name").and_then(|name| self.tools.get(&name.as_text()?));
        let modern = route.is_some_and(|route| sources[route.server].modern_tasks);
        match Edit::of(item) {
            Ok(edit) if modern && !edit.object().has("execution") => {
                let support = Edit::empty().set("taskSupport", Raw::string("optional")).finish();
                edit.set("execution", support).finish()
            }
            _ => item.clone(),
        }
    }

    fn hide(&mut self, server: &Arc<str>, name: &str, why: impl Into<String>) {
        self.hidden.push(Hidden { server: server.clone(), name: name.to_owned(), why: why.into() });
    }

    fn named(&mut self, sources: &[Source], kind: ListKind, alone: bool) -> Vec<Raw> {
        let mut shown = Vec::new();
        let mut skeletons: HashMap<String, String> = HashMap::new();
        for (server, source) in sources.iter().enumerate() {
            for item in &listing(&source.lists, kind).items {
                let Some(object) = Object::open(item).ok() else {
                    self.hide(&source.id, "", "its definition is no object, or has a key twice");
                    continue;
                };
                let Some(original) = object.text("name") else {
                    self.hide(&source.id, "", "it has no name");
                    continue;
                };
                if let (ListKind::Tools, Err(why)) = (kind, names::check(&original)) {
                    self.hide(&source.id, &original, why.to_string());
                    continue;
                }
                let exposed = if alone { original.clone() } else { names::expose(&source.id, &original) };
                let param_headers = match object.get("inputSchema").map(|schema| ParamHeaders::of(&schema)) {
                    Some(Err(why)) => {
                        self.hide(&source.id, &original, why.to_string());
                        continue;
                    }
                    Some(Ok(headers)) if !headers.is_empty() => Some(Arc::new(headers)),
                    _ => None,
                };
                if let Some(other) = skeletons.insert(names::skeleton(&exposed), exposed.clone()) {
                    self.hide(&source.id, &original, format!("it cannot be told from `{other}`"));
                    continue;
                }
                let support = item.at(&["execution", "taskSupport"]).and_then(|raw| raw.as_text());
                let needs_task = support.as_deref() == Some("required");
                let route = Route { server, original: original.as_str().into(), param_headers, needs_task };
                let raw = if exposed == original {
                    item.clone()
                } else {
                    Edit::of(item)
                        .map_or_else(|_| item.clone(), |edit| edit.set("name", Raw::string(&exposed)).finish())
                };
                shown.push(raw);
                match kind {
                    ListKind::Tools => self.tools.insert(exposed, route),
                    _ => self.prompts.insert(exposed, route),
                };
            }
        }
        shown
    }

    fn resources(&mut self, sources: &[Source]) -> Vec<Raw> {
        let uris = |source: &Source| -> Vec<(Raw, String)> {
            let uri = |item: &Raw| Some((item.clone(), item.member("uri")?.as_text()?));
            source.lists.resources.items.iter().filter_map(uri).collect()
        };
        let mut claims: HashMap<String, HashSet<usize>> = HashMap::new();
        for (server, source) in sources.iter().enumerate() {
            for (_, uri) in uris(source) {
                claims.entry(uri).or_default().insert(server);
            }
        }
        let mut shown = Vec::new();
        for (server, source) in sources.iter().enumerate() {
            for (item, uri) in uris(source) {
                // An address that reads as another server's would take that server's place.
                let posing = self.split_apart(&uri).is_some_and(|(named, _)| named != server);
                let contested = posing || claims.get(&uri).is_some_and(|servers| servers.len() > 1);
                let exposed = if contested { apart(&source.id, &uri) } else { uri.clone() };
                let raw = if contested {
                    let edit = Edit::of(&item).map(|edit| edit.set("uri", Raw::string(&exposed)).finish());
                    edit.unwrap_or_else(|_| item.clone())
                } else {
                    item
                };
                let route = Route { server, original: uri.into(), param_headers: None, needs_task: false };
                if self.resources.insert(exposed, route).is_none() {
                    shown.push(raw);
                }
            }
        }
        shown
    }

    fn templates(&mut self, sources: &[Source]) -> Vec<Raw> {
        let mut shown = Vec::new();
        for (server, source) in sources.iter().enumerate() {
            for item in &source.lists.templates.items {
                let Some(template) = item.member("uriTemplate").and_then(|raw| raw.as_text()) else { continue };
                let taken = self.templates.iter().any(|(other, route)| *other == template && route.server != server);
                let exposed = if taken { apart(&source.id, &template) } else { template.clone() };
                let raw = if taken {
                    let edit = Edit::of(item).map(|edit| edit.set("uriTemplate", Raw::string(&exposed)).finish());
                    edit.unwrap_or_else(|_| item.clone())
                } else {
                    item.clone()
                };
                self.templates.push((
                    exposed,
                    Route { server, original: template.into(), param_headers: None, needs_task: false },
                ));
                shown.push(raw);
            }
        }
        shown
    }

    /// The whole answer to a list request, without anything that depends on the client's era.
    #[must_use]
    pub fn answer(&self, kind: ListKind) -> Raw {
        self.answers.get(&kind).cloned().unwrap_or_else(Raw::empty_object)
    }

    /// The same for a legacy client.
    #[must_use]
    pub fn legacy_answer(&self, kind: ListKind) -> Raw {
        self.legacy_tools.clone().filter(|_| kind == ListKind::Tools).unwrap_or_else(|| self.answer(kind))
    }

    /// How many elements a list has.
    #[must_use]
    pub fn count(&self, kind: ListKind) -> usize {
        self.counts.get(&kind).copied().unwrap_or_default()
    }

    /// The only server, if there is just one.
    #[must_use]
    pub fn only(&self) -> Option<usize> {
        (self.ids.len() == 1).then_some(0)
    }

    /// The tool that clients know by `name`. A server that stands alone also answers to the long form.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<Route> {
        self.tools.get(name).cloned().or_else(|| self.long_form(&self.tools, name))
    }

    /// The prompt that clients know by `name`.
    #[must_use]
    pub fn prompt(&self, name: &str) -> Option<Route> {
        self.prompts.get(name).cloned().or_else(|| self.long_form(&self.prompts, name))
    }

    fn long_form(&self, routes: &HashMap<String, Route>, name: &str) -> Option<Route> {
        let id = self.ids.first().filter(|_| self.ids.len() == 1)?;
        routes.values().find(|route| names::expose(id, &route.original) == name).cloned()
    }

    /// The resource at `uri`: one that is listed, one that names its server, one that a template describes, or any
    /// at all while just one server is there.
    #[must_use]
    pub fn resource(&self, uri: &str) -> Option<Route> {
        let to =
            |server: usize, uri: &str| Route { server, original: uri.into(), param_headers: None, needs_task: false };
        if let Some(route) = self.resources.get(uri) {
            return Some(route.clone());
        }
        if let Some((server, rest)) = self.split_apart(uri) {
            return Some(to(server, rest));
        }
        let by_template = self.templates.iter().find(|(template, _)| template_matches(template, uri));
        if let Some((_, route)) = by_template {
            return Some(to(route.server, uri));
        }
        self.only().map(|server| to(server, uri))
    }

    /// The server whose template this is.
    #[must_use]
    pub fn template(&self, template: &str) -> Option<Route> {
        let found = self.templates.iter().find(|(exposed, _)| exposed == template).map(|(_, route)| route.clone());
        found.or_else(|| self.resource(template))
    }

    /// What clients call the resource that `server` calls `uri`.
    #[must_use]
    pub fn exposed_uri(&self, server: usize, uri: &str) -> String {
        let plain = self.resources.get(uri).is_none_or(|route| route.server == server);
        match self.ids.get(server) {
            Some(id) if !plain || self.resources.contains_key(&apart(id, uri)) => apart(id, uri),
            _ => uri.to_owned(),
        }
    }

    fn split_apart<'a>(&self, uri: &'a str) -> Option<(usize, &'a str)> {
        let (scheme, rest) = uri.split_once('+')?;
        let server = self.ids.iter().position(|id| scheme_of(id) == scheme)?;
        rest.contains(':').then_some((server, rest))
    }
}

/// A URI that two servers claim, told apart by the server's id in front of the scheme.
fn apart(server: &str, uri: &str) -> String {
    format!("{}+{uri}", scheme_of(server))
}

/// A server's id as the beginning of a URI scheme.
fn scheme_of(server: &str) -> String {
    let plain: String =
        server.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' || c == '.' { c } else { '-' }).collect();
    if plain.starts_with(|c: char| c.is_ascii_alphabetic()) { plain } else { format!("s{plain}") }
}

fn listing(lists: &Lists, kind: ListKind) -> &Listing {
    match kind {
        ListKind::Tools => &lists.tools,
        ListKind::Prompts => &lists.prompts,
        ListKind::Resources => &lists.resources,
        ListKind::Templates => &lists.templates,
    }
}

#[cfg(test)]
mod tests;
