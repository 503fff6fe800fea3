//! Everything that all servers offer, under the names and addresses that clients see. Pure.
//!
//! One server is shown as it is. Several are shown side by side: tools and prompts as `<server>__<name>`, resources
//! under their own URI as long as one server claims it, and as `<server>+<uri>` where two do.

mod fit;
mod judge;
mod lengths;
mod reading;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::{Value, json};
use switchboard_gate::lists::Dialect;
use switchboard_gate::pins::pin_name;
use switchboard_gate::{ToolPolicy, dialer_of};
use switchboard_policy::Finding;
use switchboard_protocol::Revision;
use switchboard_protocol::mcp::app::{self, ToolApp};
use switchboard_protocol::mcp::header::ParamHeaders;
use switchboard_protocol::mcp::strict;
use switchboard_protocol::mgp::security::security_object;
use switchboard_protocol::mgp::{EXTENSION_ID, TrustLevel};
use switchboard_protocol::proposals::manifest::declared::Operational;
use switchboard_upstream::names::{self, Naming};
use switchboard_upstream::{Curated, ListKind, Lists, Server, ServerPolicy, Timings};
use switchboard_validators::arguments::Dialer;
use switchboard_validators::uri_template as template;
use switchboard_wire::{Edit, Kind, Object, Raw};

use fit::{Forms, Legacy};
use judge::Plain;

/// One server's share of the directory.
#[derive(Debug, Clone)]
pub struct ListedServer {
    /// Its id in the configuration.
    pub id: Arc<str>,
    /// What it offers.
    pub lists: Arc<Lists>,
    /// Whether it makes tasks in the way of the modern extension, so that any of its tools may become one.
    pub modern_tasks: bool,
    /// How far it is trusted, its own claim included.
    pub trust: TrustLevel,
    /// Whether it speaks MGP.
    pub mgp: bool,
    /// What the operator says of it.
    pub policy: Arc<ServerPolicy>,
    /// What of it is held back, and why.
    pub quarantine: Arc<HashMap<String, String>>,
    /// What of it is shown with a mark, and what was found in it.
    pub marked: Arc<HashMap<String, Finding>>,
    /// How long its tools take.
    pub timings: Arc<Timings>,
    /// Who connects to addresses that it is given.
    pub dialer: Dialer,
    /// Whether it is part of the kernel.
    pub built_in: bool,
}

impl ListedServer {
    /// A server of which nothing is known but its lists.
    #[must_use]
    pub fn new(id: impl Into<Arc<str>>, lists: Arc<Lists>) -> Self {
        Self {
            id: id.into(),
            lists,
            modern_tasks: false,
            trust: TrustLevel::Standard,
            mgp: false,
            policy: Arc::default(),
            quarantine: Arc::default(),
            marked: Arc::default(),
            timings: Arc::default(),
            dialer: Dialer::ThisMachine,
            built_in: false,
        }
    }

    /// What a server gives to it now.
    #[must_use]
    pub fn of(server: &Server) -> Self {
        Self {
            id: server.id().clone(),
            lists: server.lists(),
            modern_tasks: server.has_modern_tasks(),
            trust: server.trust(),
            mgp: server.speaks_mgp(),
            policy: server.policy(),
            quarantine: server.quarantine(),
            marked: server.marked(),
            timings: server.timings.clone(),
            dialer: dialer_of(&server.spec.target),
            built_in: server.is_built_in(),
        }
    }
}

/// The server whose tools keep their own names: nobody wants longer ones because something is built in.
fn standing_alone(sources: &[ListedServer]) -> Option<usize> {
    if sources.len() == 1 {
        return Some(0);
    }
    let mut others = sources.iter().enumerate().filter(|(_, source)| !source.built_in).map(|(at, _)| at);
    others.next().filter(|_| others.next().is_none())
}

/// Something that is shown.
#[derive(Debug)]
struct Shown {
    server: usize,
    /// What the server calls it.
    original: Arc<str>,
    /// What clients call it.
    exposed: Arc<str>,
    forms: Forms,
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
    /// What the gate knows of a tool, a prompt, or a resource that says something of itself.
    pub policy: Option<Arc<ToolPolicy>>,
    /// How the operator wants a tool called.
    pub curated: Option<Arc<Curated>>,
    /// What a tool says of its interface, if it has one.
    pub app: Option<Arc<ToolApp>>,
}

impl Route {
    /// What it is called without its server: the operator's name for it, or the server's own.
    fn own_name(&self) -> &str {
        self.curated.as_ref().and_then(|curated| curated.name.as_deref()).unwrap_or(&self.original)
    }
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
    /// The tool it cannot be told from, where that is why.
    pub conflicts_with: Option<String>,
    /// Whether the operator wants it so.
    pub disabled: bool,
    /// Whether clients would refuse the whole list with it.
    pub unfit: bool,
}

/// Something that is shown in another form than its server gave it, because clients would have refused that one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mended {
    /// The server that offers it.
    pub server: Arc<str>,
    /// Its name or URI there.
    pub name: String,
    /// What was changed for everybody.
    pub what: Vec<String>,
    /// What was changed for legacy clients alone: it need not be wrong, only unknown to their era.
    pub legacy_only: Vec<String>,
}

/// What clients see.
#[derive(Debug, Default)]
pub struct Directory {
    tools: HashMap<String, Route>,
    prompts: HashMap<String, Route>,
    resources: HashMap<String, Route>,
    templates: Vec<(String, Route)>,
    /// What is shown, before anybody asks who wants to see it.
    shown: HashMap<ListKind, Vec<Shown>>,
    /// What stands around each list, for modern and for legacy clients.
    envelopes: HashMap<ListKind, [Raw; 2]>,
    /// Servers whose tools legacy clients see with a mark, because they may become tasks.
    modern_tasks: Vec<bool>,
    ids: Vec<Arc<str>>,
    /// How the tools and prompts of each server are called beside those of others.
    namings: Vec<Naming>,
    /// The server whose tools and prompts have the names that it gives them.
    standing_alone: Option<usize>,
    /// What holds for the resources of each server that say nothing of themselves.
    plain: Vec<Plain>,
    /// The servers that claim an address: of a resource, or of the page of a tool.
    claims: HashMap<String, HashSet<usize>>,
    /// Resources that are held back: the server, and the address there.
    held: HashSet<(usize, String)>,
    /// The same of templates.
    held_templates: Vec<(usize, String)>,
    /// What is not shown.
    pub hidden: Vec<Hidden>,
    /// What is shown in another form.
    pub mended: Vec<Mended>,
}

impl Directory {
    /// Puts the lists of all servers together.
    #[must_use]
    pub fn build(sources: &[ListedServer]) -> Self {
        let mut directory = Self {
            ids: sources.iter().map(|source| source.id.clone()).collect(),
            modern_tasks: sources.iter().map(|source| source.modern_tasks).collect(),
            namings: sources.iter().map(|source| source.policy.naming(&source.id)).collect(),
            standing_alone: standing_alone(sources),
            plain: sources.iter().map(ListedServer::plain).collect(),
            claims: claims(sources),
            ..Self::default()
        };
        let alone = sources.len() == 1;
        for kind in ListKind::ALL {
            let shown = match kind {
                ListKind::Tools | ListKind::Prompts => directory.named(sources, kind),
                ListKind::Resources => directory.resources(sources),
                ListKind::Templates => directory.templates(sources),
            };
            let envelope = if alone { sources[0].lists.of(kind).envelope.clone() } else { Raw::empty_object() };
            directory.shown.insert(kind, shown);
            directory.envelopes.insert(kind, envelopes(kind, &envelope));
        }
        directory
    }

    fn hide(&mut self, server: &Arc<str>, name: &str, why: impl Into<String>) {
        self.hidden.push(Hidden {
            server: server.clone(),
            name: name.to_owned(),
            why: why.into(),
            conflicts_with: None,
            disabled: false,
            unfit: false,
        });
    }

    /// The forms of a definition that a client can be shown. What cannot be shown, or only to some, is noted.
    fn fit(&mut self, source: &ListedServer, kind: ListKind, name: &str, definition: &Raw) -> Option<Forms> {
        let (forms, unfit) = match Forms::of(kind, definition) {
            Ok(forms) => {
                let unfit = match &forms.legacy {
                    Legacy::Unfit(why) => Some(format!("only modern clients are shown it: {why}")),
                    _ => None,
                };
                (Some(forms), unfit)
            }
            Err(why) => (None, Some(why)),
        };
        if let Some(why) = unfit {
            self.hide(&source.id, name, why);
            if let Some(hidden) = self.hidden.last_mut() {
                hidden.unfit = true;
            }
        }
        let forms = match (forms?, source.mark(kind, name)) {
            (forms, Some(mark)) => forms.with_mark(&mark),
            (forms, None) => forms,
        };
        if !forms.mended.is_empty() || !forms.legacy_only.is_empty() {
            let (what, legacy_only) = (forms.mended.clone(), forms.legacy_only.clone());
            self.mended.push(Mended { server: source.id.clone(), name: name.to_owned(), what, legacy_only });
        }
        Some(forms)
    }

    fn named(&mut self, sources: &[ListedServer], kind: ListKind) -> Vec<Shown> {
        let mut shown = Vec::new();
        let mut skeletons: HashMap<String, String> = HashMap::new();
        for (server, source) in sources.iter().enumerate() {
            let hints_count = kind != ListKind::Tools || !source.hints_tell_nothing();
            for item in &source.lists.of(kind).items {
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
                if let Some(why) = source.held(kind, &original) {
                    self.hide(&source.id, &original, why.clone());
                    continue;
                }
                if source.is_disabled(kind, &original) {
                    self.hide(&source.id, &original, "it is switched off in the configuration");
                    self.hidden.last_mut().into_iter().for_each(|hidden| hidden.disabled = kind == ListKind::Tools);
                    continue;
                }
                let curated = source.curated(kind, &original);
                let own = curated.as_ref().and_then(|curated| curated.name.as_deref()).unwrap_or(&original);
                if let Err(why) = names::check(own) {
                    self.hide(&source.id, &original, format!("its name in the configuration: {why}"));
                    continue;
                }
                let changed = curated.as_ref().map(|curated| curated.shown(item));
                let Some(forms) = self.fit(source, kind, &original, changed.as_ref().unwrap_or(item)) else { continue };
                let alone = self.standing_alone == Some(server);
                let exposed = if alone { own.to_owned() } else { self.namings[server].expose(own) };
                let param_headers = match forms.modern.member("inputSchema").map(|schema| ParamHeaders::of(&schema)) {
                    Some(Err(why)) => {
                        self.hide(&source.id, &original, why.to_string());
                        continue;
                    }
                    Some(Ok(headers)) if !headers.is_empty() => Some(Arc::new(headers)),
                    _ => None,
                };
                if let Some(other) = skeletons.insert(names::skeleton(&exposed), exposed.clone()) {
                    self.hide(&source.id, &original, format!("it cannot be told from `{other}`"));
                    if let (ListKind::Tools, Some(hidden)) = (kind, self.hidden.last_mut()) {
                        hidden.conflicts_with = Some(other);
                    }
                    continue;
                }
                let support = item.at(&["execution", "taskSupport"]).and_then(|raw| raw.as_text());
                let needs_task = support.as_deref() == Some("required");
                let policy = Some(Arc::new(match kind {
                    ListKind::Tools => source.judge(&original, item, hints_count),
                    _ => source.judge_prompt(&original, item),
                }));
                let forms = if exposed == original { forms } else { forms.with("name", &exposed) };
                let app = if kind == ListKind::Tools { ToolApp::of(item).map(Arc::new) } else { None };
                let page = app.as_ref().and_then(|app| app.resource.as_deref());
                let forms = match page.filter(|uri| self.is_contested(server, uri)) {
                    Some(uri) => forms.with_page(&apart(&source.id, uri)),
                    None => forms,
                };
                let original: Arc<str> = original.into();
                let name = exposed.as_str().into();
                shown.push(Shown { server, original: original.clone(), exposed: name, forms });
                let route = Route { server, original, param_headers, needs_task, policy, curated, app };
                match kind {
                    ListKind::Tools => self.tools.insert(exposed, route),
                    _ => self.prompts.insert(exposed, route),
                };
            }
        }
        shown
    }

    fn resources(&mut self, sources: &[ListedServer]) -> Vec<Shown> {
        let uris = |source: &ListedServer| -> Vec<(Raw, String)> {
            let uri = |item: &Raw| Some((item.clone(), item.member("uri")?.as_text()?));
            source.lists.resources.items.iter().filter_map(uri).collect()
        };
        let mut shown = Vec::new();
        for (server, source) in sources.iter().enumerate() {
            for _ in uris(source).len()..source.lists.resources.items.len() {
                self.hide(&source.id, "", "a resource without an address");
            }
            for (item, uri) in uris(source) {
                if let Some(why) = source.held(ListKind::Resources, &uri) {
                    self.hide(&source.id, &uri, why.clone());
                    self.held.insert((server, uri));
                    continue;
                }
                let Some(forms) = self.fit(source, ListKind::Resources, &uri, &item) else { continue };
                let contested = self.is_contested(server, &uri);
                let policy = source.judge_resource(&item);
                let exposed = if contested { apart(&source.id, &uri) } else { uri.clone() };
                let forms = if contested { forms.with("uri", &exposed) } else { forms };
                let item = Shown { server, original: uri.into(), exposed: exposed.as_str().into(), forms };
                let route = Route { policy, ..to(server, &item.original) };
                if self.resources.insert(exposed, route).is_none() {
                    shown.push(item);
                }
            }
        }
        self.pages(sources);
        shown
    }

    /// Pages of tools can be read whether their server lists them or not.
    fn pages(&mut self, sources: &[ListedServer]) {
        for (server, source) in sources.iter().enumerate() {
            for uri in pages_of(source) {
                let exposed = if self.is_contested(server, &uri) { apart(&source.id, &uri) } else { uri.clone() };
                self.resources.entry(exposed).or_insert_with(|| to(server, &uri.into()));
            }
        }
    }

    /// Whether an address needs the server's name in it: several servers claim it, or it reads as another server's and
    /// would take that server's place.
    fn is_contested(&self, server: usize, uri: &str) -> bool {
        self.split_apart(uri).is_some_and(|(named, _)| named != server)
            || self.claims.get(uri).is_some_and(|servers| servers.len() > 1)
    }

    fn templates(&mut self, sources: &[ListedServer]) -> Vec<Shown> {
        let mut shown = Vec::new();
        for (server, source) in sources.iter().enumerate() {
            for item in &source.lists.templates.items {
                let Some(template) = item.member("uriTemplate").and_then(|raw| raw.as_text()) else {
                    self.hide(&source.id, "", "a template without an address");
                    continue;
                };
                if let Some(why) = source.held(ListKind::Templates, &template) {
                    self.hide(&source.id, &template, why.clone());
                    self.held_templates.push((server, template));
                    continue;
                }
                let Some(forms) = self.fit(source, ListKind::Templates, &template, item) else { continue };
                let taken = self.templates.iter().any(|(other, route)| *other == template && route.server != server);
                let exposed = if taken { apart(&source.id, &template) } else { template.clone() };
                let forms = if taken { forms.with("uriTemplate", &exposed) } else { forms };
                let policy = Some(Arc::new(source.judge_template(&forms.modern)));
                let item = Shown { server, original: template.into(), exposed: exposed.as_str().into(), forms };
                self.templates.push((exposed, Route { policy, ..to(server, &item.original) }));
                shown.push(item);
            }
        }
        shown
    }

    /// The answer to a list request of a client that may see what `visible` lets through: it is given the server, what
    /// the server calls the thing, and what clients call it.
    #[must_use]
    pub fn answer_for(&self, kind: ListKind, dialect: Dialect, visible: impl Fn(usize, &str, &str) -> bool) -> Raw {
        let all = self.shown.get(&kind).map_or(&[][..], Vec::as_slice);
        let seen = all.iter().filter(|shown| visible(shown.server, &shown.original, &shown.exposed));
        let items: Vec<Raw> = seen.filter_map(|shown| self.written(kind, dialect, shown)).collect();
        let envelope = self.envelopes.get(&kind).map(|envelopes| &envelopes[usize::from(dialect.legacy)]);
        let edit = envelope.and_then(|envelope| Edit::of(envelope).ok()).unwrap_or_else(Edit::empty);
        edit.set(kind.key(), Raw::array(&items)).finish()
    }

    /// Something as it is written into a list: a tool says how dangerous it is. `None` where this client cannot be
    /// shown it.
    fn written(&self, kind: ListKind, dialect: Dialect, shown: &Shown) -> Option<Raw> {
        let raw = shown.forms.for_client(dialect.legacy)?;
        let policy = self.tools.get(&*shown.exposed).and_then(|route| route.policy.as_ref());
        let (ListKind::Tools, Some(policy)) = (kind, policy) else { return Some(raw.clone()) };
        let security = security_object(&policy.security, &policy.assessment.effective());
        let mark = |meta: Edit| meta.set(EXTENSION_ID, Edit::empty().set("security", security.clone()).finish());
        // Clients of the usual libraries lose what they do not know, but never `_meta`.
        let marked = Edit::of(raw).and_then(|edit| edit.within("_meta", mark));
        let Ok(mut edit) = marked.or_else(|_| Edit::of(raw)) else { return Some(raw.clone()) };
        if dialect.mgp {
            edit = edit.set("security", security);
        }
        let may_become_task = dialect.legacy && self.modern_tasks.get(shown.server) == Some(&true);
        if may_become_task && !edit.object().has("execution") {
            let support = Edit::empty().set("taskSupport", Raw::string("optional")).finish();
            edit = edit.set("execution", support);
        }
        Some(edit.finish())
    }

    /// Whether a list is the same in another directory.
    #[must_use]
    pub fn same(&self, other: &Self, kind: ListKind) -> bool {
        let equal = |(one, other): (&Shown, &Shown)| one.exposed == other.exposed && one.forms == other.forms;
        let (one, two) = (self.shown.get(&kind), other.shown.get(&kind));
        let (one, two) = (one.map_or(&[][..], Vec::as_slice), two.map_or(&[][..], Vec::as_slice));
        one.len() == two.len()
            && one.iter().zip(two).all(equal)
            && self.envelopes.get(&kind) == other.envelopes.get(&kind)
    }

    /// How many elements a list has.
    #[must_use]
    pub fn count(&self, kind: ListKind) -> usize {
        self.shown.get(&kind).map_or(0, Vec::len)
    }

    /// The tools, with what the gate knows of each: the server's id, what clients call it, and that.
    pub fn tools(&self) -> impl Iterator<Item = (&Arc<str>, &str, &Route)> {
        self.tools.iter().filter_map(|(name, route)| Some((self.ids.get(route.server)?, name.as_str(), route)))
    }

    /// What clients call the tool that a server itself calls `original`, and the way to it.
    #[must_use]
    pub fn tool_of(&self, server: &str, original: &str) -> Option<(&str, &Route)> {
        let mut tools = self.tools();
        tools.find_map(|(id, name, route)| (&**id == server && &*route.original == original).then_some((name, route)))
    }

    /// The tools that are shown: the server's id, what it calls the tool, what clients call it, and its definition.
    pub fn shown_tools(&self) -> impl Iterator<Item = (&str, &str, &str, &Raw)> {
        let shown = self.shown.get(&ListKind::Tools).map_or(&[][..], Vec::as_slice);
        shown.iter().filter_map(|shown| {
            Some((&**self.ids.get(shown.server)?, &*shown.original, &*shown.exposed, &shown.forms.modern))
        })
    }

    /// The only server, if there is just one.
    #[must_use]
    pub fn only(&self) -> Option<usize> {
        (self.ids.len() == 1).then_some(0)
    }

    /// The server whose tools and prompts have the names that it gives them: the only one, beside what is built in.
    #[must_use]
    pub fn standing_alone(&self) -> Option<usize> {
        self.standing_alone
    }

    /// The tool that clients know by `name`. A server that stands alone also answers to the long form, and one with an alias
    /// to its id.
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
        routes
            .values()
            .find(|route| {
                let (Some(naming), Some(id)) = (self.namings.get(route.server), self.ids.get(route.server)) else {
                    return false;
                };
                // Few routes begin as the name does, and names are made for those alone.
                let is_like =
                    |naming: &Naming| naming.own_part(name).is_some() && naming.expose(route.own_name()) == name;
                is_like(naming) || is_like(&Naming::of(id))
            })
            .cloned()
    }

    /// The resource at `uri`: one that is listed, one that names its server, one that a template describes, or any
    /// at all while just one server is there.
    #[must_use]
    pub fn resource(&self, uri: &str) -> Option<Route> {
        self.find_resource(uri).filter(|route| !self.is_held(route.server, &route.original))
    }

    fn find_resource(&self, uri: &str) -> Option<Route> {
        if let Some(route) = self.resources.get(uri) {
            return Some(route.clone());
        }
        if let Some((server, rest)) = self.split_apart(uri) {
            return Some(to(server, &rest.into()));
        }
        let by_template = self.templates.iter().find(|(template, _)| template::matches(template, uri));
        if let Some((_, route)) = by_template {
            return Some(to(route.server, &uri.into()));
        }
        self.only().map(|server| to(server, &uri.into()))
    }

    /// What holds for requests of a server that nothing is known of.
    #[must_use]
    pub fn plain_policy(&self, server: usize) -> Option<Arc<ToolPolicy>> {
        Some(self.plain.get(server)?.named.clone())
    }

    /// Whether a server lists a template that it calls so.
    #[must_use]
    pub fn lists_template(&self, server: usize, original: &str) -> bool {
        self.templates.iter().any(|(_, route)| route.server == server && *route.original == *original)
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

    /// The server that an address names, and the address there.
    fn split_apart(&self, uri: &str) -> Option<(usize, String)> {
        let (named, rest) = match uri.strip_prefix(app::SCHEME) {
            Some(page) => page.split_once('+').map(|(named, rest)| (named, format!("{}{rest}", app::SCHEME)))?,
            None => uri.split_once('+').map(|(named, rest)| (named, rest.to_owned()))?,
        };
        let server = self.ids.iter().position(|id| scheme_of(id) == named)?;
        rest.contains(':').then_some((server, rest))
    }
}

impl ListedServer {
    /// Why something of it is held back, if it is.
    fn held(&self, kind: ListKind, name: &str) -> Option<&String> {
        if self.quarantine.is_empty() { None } else { self.quarantine.get(&pin_name(kind, name)) }
    }

    /// What is told beside something of it, if it is shown with a mark.
    fn mark(&self, kind: ListKind, name: &str) -> Option<Raw> {
        let found = if self.marked.is_empty() { None } else { self.marked.get(&pin_name(kind, name)) };
        found.and_then(|finding| Raw::from_value(&[marks_of(finding)]).ok())
    }
}

/// A finding as it is told in `_meta`, in the form of the marks of results.
fn marks_of(finding: &Finding) -> Value {
    json!({"rule": finding.rule, "message": finding.message})
}

/// The most bytes that the arguments of a tool may have, as it says itself. Few tools do, and reading all that they say is
/// not for nothing.
fn longest_input(definition: &Raw) -> Option<u64> {
    memchr::memmem::find(definition.as_bytes(), b"max_input_size_bytes")?;
    Operational::of_tool(definition).max_input_size_bytes
}

/// What stands around a list, for modern and for legacy clients. What a server says of keeping its list holds for that
/// one and not for ours.
fn envelopes(kind: ListKind, envelope: &Raw) -> [Raw; 2] {
    let modern = Edit::of(envelope).map(|edit| edit.remove("ttlMs").remove("cacheScope").finish());
    let mut modern = modern.unwrap_or_else(|_| Raw::empty_object());
    if modern.member("_meta").is_some_and(|meta| meta.kind() != Kind::Object)
        && let Ok(edit) = Edit::of(&modern)
    {
        modern = edit.remove("_meta").finish();
    }
    let legacy = strict::result(kind.method(), &modern, Revision::LATEST_LEGACY).ok().flatten();
    let legacy = legacy.unwrap_or_else(|| modern.clone());
    [modern, legacy]
}

/// The way to something that is no tool.
fn to(server: usize, original: &Arc<str>) -> Route {
    Route {
        server,
        original: original.clone(),
        param_headers: None,
        needs_task: false,
        policy: None,
        curated: None,
        app: None,
    }
}

/// A URI that two servers claim, told apart by the server's id in front of the scheme; behind it for pages, which hosts
/// know by their scheme.
fn apart(server: &str, uri: &str) -> String {
    match uri.strip_prefix(app::SCHEME) {
        Some(page) => format!("{}{}+{page}", app::SCHEME, scheme_of(server)),
        None => format!("{}+{uri}", scheme_of(server)),
    }
}

/// The addresses of the pages of a server's tools.
fn pages_of(source: &ListedServer) -> impl Iterator<Item = String> {
    source.lists.tools.items.iter().filter_map(|tool| ToolApp::of(tool)?.resource)
}

/// The servers that claim each address.
fn claims(sources: &[ListedServer]) -> HashMap<String, HashSet<usize>> {
    let mut claims: HashMap<String, HashSet<usize>> = HashMap::new();
    for (server, source) in sources.iter().enumerate() {
        let listed = source.lists.resources.items.iter().filter_map(|item| item.member("uri")?.as_text());
        for uri in listed.chain(pages_of(source)) {
            claims.entry(uri).or_default().insert(server);
        }
    }
    claims
}

/// A server's id as the beginning of a URI scheme.
fn scheme_of(server: &str) -> String {
    let plain: String =
        server.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' || c == '.' { c } else { '-' }).collect();
    if plain.starts_with(|c: char| c.is_ascii_alphabetic()) { plain } else { format!("s{plain}") }
}

#[cfg(test)]
mod tests;
