//! The limits of grants: does every string that a server could open or connect to lie inside of them?
//!
//! A walk of its own through the arguments, made only where a grant or permission limits paths or hosts. Each string
//! is judged with its key, with what the schema of the tool tells of it, and with whether another argument is the path.
//! A string that is JSON itself is walked into as well, since many servers read it so.

use switchboard_policy::keys::{Key, Mark};
use switchboard_policy::schema::Evidence;
use switchboard_wire::{Kind, Limits as WireLimits, Object, Raw, RefusalKind};

use super::machine::{self, Machine};
use super::place::{self, Field};
use super::role::{self, Role};
use super::walk::{Refused, at, refused, under};
use super::{
    ARGUMENTS, Checks, MAX_DEPTH, SCOPE, World, body, connect, document, glued, patch, pattern, remote, sql, uri,
    value, words,
};
use crate::{Finding, Verdict};

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
    /// Whether it names a machine.
    machine: Machine,
    /// What else it says of strings that look like hosts.
    other: remote::Other,
    /// Whether the key names several things.
    several: bool,
    /// Whether it is a word of a command that was judged with it.
    operand: bool,
    /// Whether it belongs to a command that is written as an object, or its key is for the words of one.
    words: bool,
    /// Whether the key says that it is a patch.
    patch: bool,
    /// Whether the key is for a list of files, which may be given by patterns.
    files: bool,
    /// Whether it is for what is mounted into a container.
    mount: bool,
    /// Whether its text is a document, or may speak of places, by its key.
    document: bool,
    text: bool,
    /// Whether it is a template.
    template: bool,
    /// Whether it goes to a cluster, and whether a text would by its key alone.
    for_cluster: bool,
    spec: bool,
    /// Whether it is part of a resource, and of what runs its containers.
    resource: bool,
    of_node: bool,
    /// Whether it is a place in a container.
    in_container: bool,
    evidence: Evidence<'a>,
}

impl Known<'_> {
    const fn nothing() -> Self {
        Self {
            field: Field::Unknown,
            role: Role::Other,
            named: false,
            machine: Machine::No,
            other: remote::Other::No,
            several: false,
            operand: false,
            words: false,
            patch: false,
            files: false,
            mount: false,
            document: false,
            text: false,
            template: false,
            for_cluster: false,
            spec: false,
            resource: false,
            of_node: false,
            in_container: false,
            evidence: Evidence::none(),
        }
    }
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
                    let role = role::of(&key);
                    // A patch or a cell under a key for places is none.
                    let is_text = || role != Role::Path && value.as_text().is_some_and(|text| place::is_lines(&text));
                    let given = match value.kind() {
                        Kind::String => value.as_bytes().len() > 2 && !is_text(),
                        Kind::Array => value.elements().is_some_and(|elements| !elements.is_empty()),
                        _ => false,
                    };
                    let field = Field::of(&key, role, &evidence);
                    given && evidence.is_declared() && matches!(field, Field::Place | Field::Perhaps)
                })
            });
        Some(Self { checks, world, anchored, hosts })
    }

    /// Judges everything.
    pub(super) fn check(&self, arguments: &Raw) -> Result<(), Refused> {
        self.value(arguments, &Known { evidence: self.checks.evidence(), ..Known::nothing() }, 0)
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
                // Only where the schema itself has a command are words beside it none of a server's own.
                let runs = object.iter().any(|(key, _)| {
                    matches!(role::of(&key), Role::Command | Role::Commands)
                        && known.evidence.member(&key).is_declared()
                });
                let is_command = |key: &str| matches!(role::of(key), Role::Command | Role::Commands);
                let has_command =
                    runs || !known.evidence.is_declared() && object.iter().any(|(key, _)| is_command(&key));
                let of_host = matches!(known.role, Role::Url | Role::Host);
                let about = &self.checks.about;
                let resource = (known.resource || known.for_cluster) && !value::is_config(&object);
                object.iter().try_for_each(|(key, member)| {
                    let (mut role, evidence) = (role::of(&key), known.evidence.member(&key));
                    let mut field = Field::of(&key, role, &evidence);
                    // `{"host": {"value": ..}}` is a host still.
                    let of_same = role == Role::Other && !machine::is_setting(&key) && member.kind() != Kind::Bool;
                    if of_host && (remote::is_value_key(&key) || of_same && known.machine == Machine::Surely) {
                        (role, field) = (Role::Host, Field::Remote);
                    }
                    if known.role == Role::Path && remote::is_value_key(&key) {
                        (role, field) = (Role::Path, Field::Place);
                    }
                    let operand = runs && evidence.is_declared() && words::is_name(&key);
                    let judged = if role::is_plain(&key) { Ok(()) } else { self.key(&key) };
                    let in_command = known.words || known.field == Field::Command;
                    let in_words = in_command && role != Role::Prose || role::is_words(&key);
                    let named = remote::is_name_key(&key) && !(of_host && role == Role::Host);
                    // `{"server": {"name": ..}}` names a machine still.
                    let machine = match Machine::of(&key, &evidence, &known.evidence) {
                        Machine::No if remote::is_value_key(&key) => known.machine,
                        // Nor does `{"servers": {"main": ..}}` name anything else.
                        Machine::No if known.machine == Machine::Surely && !machine::is_setting(&key) => known.machine,
                        // Who leaves from somewhere is going somewhere.
                        Machine::Perhaps if machine::is_departure(&object, &key) => {
                            (role, field) = (Role::Other, Field::Unknown);
                            Machine::No
                        }
                        machine => machine,
                    };
                    let names_host = self.hosts && known.several && is_named_by_key(known, &key, &member);
                    let host = || Known { machine: Machine::Surely, ..Known::nothing() };
                    let judged =
                        judged.and_then(|()| if names_host { at(SCOPE, self.host(&key, &host())) } else { Ok(()) });
                    // `{"files": {"id_rsa": ..}}`
                    let names_file = known.files && !self.checks.places.is_empty();
                    let judged = judged.and_then(|()| match names_file {
                        true => at(SCOPE, place::not_denied(&self.checks.places, &key, self.world)),
                        false => Ok(()),
                    });
                    let machine = if has_command { machine.beside_command() } else { machine };
                    let other = remote::Other::of(&key);
                    let several = machine == Machine::Surely && key.ends_with(['s', 'S']);
                    let words = in_words;
                    let (patch, files) = (patch::is_key(&key), pattern::is_key_of_files(&key));
                    let mount = value::is_mount_key(&key);
                    let last = Key::of(&key).said_last();
                    let (document, text) = (last.has(Mark::Document), last.has(Mark::Text));
                    let for_cluster =
                        about.speaks_of_clusters && value::is_for_cluster(&key, &member, about.is_for_clusters);
                    let spec = about.is_for_clusters && Key::of(&key).has(Mark::Spec);
                    let of_node = resource && value::is_of_node(known.of_node, &key);
                    let in_container = about.is_for_containers
                        && (known.mount && value::is_target(&key, &object)
                            || depth == 0 && value::is_working_folder(&key));
                    let inner = Known {
                        field,
                        role,
                        named,
                        machine,
                        other,
                        several,
                        operand,
                        words,
                        patch,
                        files,
                        mount,
                        document,
                        text,
                        template: place::template::is_key(&key),
                        for_cluster,
                        spec,
                        resource,
                        of_node,
                        in_container,
                        evidence,
                    };
                    judged.and_then(|()| self.value(&member, &inner, depth + 1)).map_err(|refused| under(&key, refused))
                })
            }
            Kind::Array => {
                // Each string in a list of words is one of them, blanks or not.
                let words = known.words && known.role != Role::CommandWords;
                let inner = Known { evidence: known.evidence.element(), words, ..known.clone() };
                let elements = value.elements().unwrap_or_default();
                if let Some(steps) = self.steps(&elements, known) {
                    return self.patched(&steps, known, depth);
                }
                let is_open = known.field == Field::Unknown || known.field == Field::Body && known.role == Role::Other;
                if self.hosts && is_open && !known.named {
                    at(SCOPE, self.connecting(&elements))?;
                }
                elements.iter().enumerate().try_for_each(|(index, element)| {
                    // The words of a command are judged as one.
                    if known.field == Field::Command && element.kind() == Kind::String {
                        return Ok(());
                    }
                    self.value(element, &inner, depth + 1).map_err(|refused| under(&index.to_string(), refused))
                })
            }
            Kind::String => value.as_text().map_or(Ok(()), |text| self.text(&text, known, depth)),
            Kind::Number
                if self.hosts && (known.machine == Machine::Surely || matches!(known.role, Role::Url | Role::Host)) =>
            {
                let number = value.as_str();
                if remote::may_be_address(number) { at(SCOPE, self.host(number, known)) } else { Ok(()) }
            }
            Kind::Number | Kind::Bool | Kind::Null => Ok(()),
        }
    }

    /// The steps of a patch of JSON, where a list under this key is one: to a cluster, or by its key. Where a pointer names a place
    /// of a system, it may be any list of what is to be done.
    fn steps(&self, elements: &[Raw], known: &Known<'_>) -> Option<Vec<(Vec<String>, Option<Raw>)>> {
        let about = &self.checks.about;
        let of_cluster = about.is_for_clusters && known.patch || about.speaks_of_clusters && known.resource;
        if !(of_cluster || known.patch && (self.anchored || !about.speaks_of_files)) {
            return None;
        }
        let steps = value::steps(elements)?;
        let places = &self.checks.places;
        let is_place = |pointer: &String| body::names_path(places, pointer) || pointer.contains("..");
        (of_cluster || !steps.iter().flat_map(|(pointers, _)| pointers).any(is_place)).then_some(steps)
    }

    /// What the steps of a patch put into a document, each at the place to which it leads.
    fn patched(&self, steps: &[(Vec<String>, Option<Raw>)], known: &Known<'_>, depth: usize) -> Result<(), Refused> {
        // What one step puts down another moves to where the machine's paths are.
        let leads_to_node =
            |pointers: &[String]| pointers.iter().flat_map(|pointer| pointer.split('/')).fold(false, value::is_of_node);
        let resource = self.checks.about.is_for_clusters || known.resource;
        let of_node = resource && steps.iter().any(|(pointers, _)| leads_to_node(pointers));
        steps.iter().enumerate().try_for_each(|(index, (pointers, value))| {
            let Some(value) = value else { return Ok(()) };
            let key = pointers.first().and_then(|pointer| pointer.rsplit('/').next()).unwrap_or_default();
            let role = role::of(key);
            let field = Field::of(key, role, &Evidence::none());
            let inner = Known { field, role, resource, of_node, ..Known::nothing() };
            self.value(value, &inner, depth + 1).map_err(|refused| under(&index.to_string(), under("value", refused)))
        })
    }

    fn host(&self, text: &str, known: &Known<'_>) -> Verdict {
        let Known { field, role, named, machine, other, evidence, .. } = known;
        let key =
            remote::Meaning { role: *role, field: *field, named: *named, machine: *machine, other: *other, evidence };
        remote::check(&self.checks.scopes, &key, text)
    }

    /// A list of words that begins with a program that connects, and is no list of programs.
    fn connecting(&self, elements: &[Raw]) -> Verdict {
        let words: Option<Vec<String>> = elements.iter().map(Raw::as_text).collect();
        let Some(words) = words.filter(|words| words.len() > 1) else { return Ok(()) };
        let of_programs =
            words.iter().skip(1).all(|word| connect::is_program(word) || crate::shell::is_known_program(word));
        if of_programs || !words.first().is_some_and(|first| connect::is_program(first)) {
            return Ok(());
        }
        connect::check(&self.checks.scopes, &super::command_line(&words))
    }

    fn key(&self, key: &str) -> Result<(), Refused> {
        self.text(key, &Known::nothing(), 0)
    }

    fn text(&self, text: &str, known: &Known<'_>, depth: usize) -> Result<(), Refused> {
        let Known { field, role, words, evidence, .. } = known;
        if (known.resource && !known.of_node || known.in_container) && value::is_of_container(text) {
            return if self.hosts { at(SCOPE, self.host(text, known)) } else { Ok(()) };
        }
        // What stands behind is a place in the container.
        let given = text;
        let text = if known.mount { value::mounted(text).unwrap_or(text) } else { text };
        if text.contains('\0') {
            // Some readers end a text there, some part a list, and some leave it out.
            let whole = text.replace('\0', "");
            let mut pieces = text.split('\0').chain([whole.as_str()]).filter(|piece| !piece.is_empty());
            pieces.try_for_each(|piece| self.text(piece, known, depth + 1))?;
        }
        let is_body = *field == Field::Body && self.anchored && evidence.is_declared();
        if !is_body && let Some(nested) = nested(text)? {
            return self.value(&nested, known, depth + 1).map_err(|mut refused| {
                // What stands inside of a string has no place of its own.
                refused.pointer.clear();
                refused
            });
        }
        if self.checks.about.evaluates_in_page && place::is_program(*field, text) {
            at(SCOPE, place::check_routes(&self.checks.places, text, self.world))?;
            return if self.hosts { at(SCOPE, self.host(text, known)) } else { Ok(()) };
        }
        let for_people = matches!(field, Field::Body) && self.checks.about.is_for_people;
        let unread = self.checks.places.is_empty() || (is_body || for_people) && !known.patch;
        let applied = known.patch || self.checks.about.applies_patches && !self.checks.places.is_empty();
        if applied && patch::is_encoded(text) {
            let message =
                "the mail is encoded (base64 or quoted-printable), so it cannot be seen which files its patch names";
            return Err(refused(SCOPE, Finding::new("path-shape", message).suggest("send the patch as it is")));
        }
        let patch = if unread { None } else { patch::read(text, known.patch) };
        if let Some(patch) = &patch {
            at(SCOPE, patch::check(&self.checks.places, self.anchored, patch, known.patch, self.world))?;
        }
        let whole = text;
        // What a patch changes is text of the files that it names, unless it runs.
        let runs = matches!(role, Role::Command | Role::Commands | Role::CommandWords | Role::Script | Role::Code);
        let around = patch.filter(|_| !runs).map(|patch| patch.rest(known.patch));
        let text = around.as_deref().unwrap_or(text);
        if !self.checks.places.is_empty() && !known.patch && (known.template || *field == Field::Unknown) {
            at(SCOPE, place::template::check(&self.checks.places, text, self.world))?;
        }
        // No path has several lines.
        let is_place = matches!(field, Field::Place | Field::Perhaps) && *role != Role::Path;
        let is_text = around.is_some() || is_place && !place::is_of_format(evidence) && place::is_lines(text);
        let field = &if is_place && is_text { Field::Body } else { *field };
        let is_body = *field == Field::Body && self.anchored && evidence.is_declared();
        if is_place && is_text {
            let joined = text.replace(place::ends_line, "");
            if place::begins_as_path(&joined) && !joined.contains(char::is_whitespace) {
                at(SCOPE, place::inside(&self.checks.places, &joined, self.world))?;
            }
        }
        let mut manifest = false;
        if *field == Field::Unknown || (known.document || is_place && is_text) && !is_body {
            let pairs = document::read_as(text, known.document).map_err(|finding| refused(ARGUMENTS, finding))?;
            let of_cluster = self.checks.about.speaks_of_clusters;
            manifest = of_cluster && value::is_manifest(text, &pairs, known.spec);
            self.document(text, &pairs, manifest, depth + 1)?;
        }
        let routed = (*field == Field::Unknown && !self.checks.places.is_empty() && value::has_routes(text))
            .then(|| value::without_routes(text, &self.checks.places));
        let text = if manifest { "" } else { routed.as_deref().unwrap_or(text) };
        // Escapes of a JSON string inside of the string are read by who reads JSON twice.
        if let Some(inner) = role::unquoted(text).filter(|_| !is_body) {
            self.text(&inner, known, depth + 1)?;
        }
        if !self.checks.places.is_empty() && !text.is_empty() {
            // Several words of a command are no path together, and what a pattern finds is judged with them.
            let apart = text.trim().contains(' ') || glued::is_pattern(text.trim());
            let several = *words && !matches!(field, Field::Place | Field::Perhaps) && apart;
            // Files may be given by a pattern, which goes down from wherever a relative path may begin.
            let found = known.files && *field == Field::Place && glued::is_pattern(text.trim());
            let (field, anchored) = if found { (Field::Below, false) } else { (*field, self.anchored) };
            // `/gif cat` in a chat.
            let is_order = for_people && !is_body && place::is_order(&self.checks.places, text);
            let is_code = matches!(role, Role::Code | Role::Script) && place::is_line_of_code(text);
            if !several && !is_order && !is_code {
                at(SCOPE, place::check(&self.checks.places, field, evidence, anchored, text, self.world))?;
            }
            if (field == Field::Unknown || is_place && is_text && !is_body) && !known.text {
                at(SCOPE, place::check_quoted(&self.checks.places, text, self.world))?;
            }
            if *role == Role::Path {
                at(SCOPE, place::check_url_as_name(&self.checks.places, text, self.world))?;
            }
            if matches!(role, Role::Code | Role::Script) {
                at(SCOPE, place::check_code(&self.checks.places, text, self.world))?;
                let cell = crate::code::notebook(text);
                for program in cell.iter().flat_map(crate::code::Cell::texts) {
                    at(SCOPE, place::check_code(&self.checks.places, program, self.world))?;
                }
                for file in cell.iter().flat_map(|cell| &cell.places) {
                    at(SCOPE, place::inside(&self.checks.places, file, self.world))?;
                }
            }
            if self.is_query(*role) {
                at(SCOPE, self.query(text))?;
            }
            let names_revision = matches!(field, Field::Reference);
            at(SCOPE, self.revision(text.trim(), names_revision))?;
            if *words {
                at(SCOPE, self.words(text, *role))?;
            }
            if self.checks.paths_of_urls {
                at(SCOPE, place::check_path_of_url(&self.checks.places, text, self.world))?;
            }
        }
        if self.hosts && self.is_query(*role) {
            at(SCOPE, sees_names(text, sql::Named::Hosts))?;
            sql::literals(text).iter().try_for_each(|literal| at(SCOPE, self.connected(literal)))?;
            at(SCOPE, self.elsewhere(text))?;
        }
        // A file that lies inside of the paths leads to no host.
        let text = if known.mount { given } else { whole };
        let is_word = known.operand && !text.contains("://") && !text.contains('@');
        if self.hosts && !is_word && (self.checks.places.is_empty() || !uri::is_file(text)) {
            at(SCOPE, self.host(text, known))
        } else {
            Ok(())
        }
    }

    /// The values of a document in a string. What stands under a key for places or commands is one; other values count as a
    /// whole text does that names a path by itself.
    fn document(&self, text: &str, pairs: &[document::Pair<'_>], manifest: bool, depth: usize) -> Result<(), Refused> {
        if depth > MAX_DEPTH {
            let message = format!("the arguments are nested deeper than {MAX_DEPTH}");
            return Err(refused(ARGUMENTS, Finding::new("arguments-depth", message)));
        }
        let places = &self.checks.places;
        let routes = !pairs.is_empty() && !places.is_empty() && value::has_routes(text);
        let of_client = !pairs.is_empty() && !places.is_empty() && value::is_for_client(text);
        pairs.iter().try_for_each(|pair @ document::Pair { key, parent, value, .. }| {
            let in_container =
                manifest && value::is_of_container(value) && !value::is_of_node(value::is_of_node(false, parent), key);
            let evidence = Evidence::none();
            let role = role::of(key);
            let field = Field::of(key, role, &evidence);
            let machine = Machine::of(key, &evidence, &evidence);
            let named = remote::is_name_key(key);
            let other = remote::Other::of(key);
            let known = Known { field, role, named, machine, other, evidence, ..Known::nothing() };
            if !places.is_empty() && !in_container {
                let names = [key, parent].into_iter().filter(|name| !name.is_empty());
                at(SCOPE, names.into_iter().try_for_each(|name| value::check_name(places, name, self.world)))?;
            }
            if !places.is_empty() && !pair.is_line && !in_container {
                let judged = match field {
                    Field::Command => self.words(value, role),
                    Field::Place | Field::Perhaps if value::is_place(pair, role, routes, places) => {
                        let field = if glued::is_pattern(value) { Field::Below } else { field };
                        place::check(places, field, &Evidence::none(), false, value, self.world)
                    }
                    _ if of_client && place::begins_as_path(value) => place::inside(places, value, self.world),
                    _ => value::check(places, pair, self.world),
                };
                at(SCOPE, judged)?;
            }
            if self.hosts && !pair.is_line { at(SCOPE, self.host(value, &known)) } else { Ok(()) }
        })
    }

    /// A file in a revision of git, `HEAD:.env`: surely one under a key for revisions and behind `HEAD`, else perhaps, where the tool
    /// speaks of git.
    fn revision(&self, text: &str, is_named: bool) -> Verdict {
        let Some((revision, file)) = value::in_revision(text) else { return Ok(()) };
        let places = &self.checks.places;
        let is_file = file.contains('/') || file.starts_with('.') || place::has_ending(file);
        if is_named && is_file || value::is_surely_revision(revision) {
            if self.anchored && !place::begins_as_path(file) {
                return pattern::below(places, file, self.world);
            }
            return place::inside(places, file, self.world);
        }
        if self.checks.about.speaks_of_git { place::not_denied(places, file, self.world) } else { Ok(()) }
    }

    /// Whether a string may be a query: by its key, or of a tool that speaks SQL under any that says nothing else.
    fn is_query(&self, role: Role) -> bool {
        let speaks_sql = matches!(self.checks.language, sql::Language::Sql | sql::Language::Cypher);
        matches!(role, Role::Sql | Role::Query) || speaks_sql && matches!(role, Role::Other | Role::Code | Role::Script)
    }

    /// Whether the files that a query names lie inside, and are all written out.
    fn query(&self, text: &str) -> Verdict {
        let places = &self.checks.places;
        sql::files(text).iter().try_for_each(|file| place::check_file_of_query(places, file, self.world))?;
        let operands = sql::operands(text);
        let mut paths = operands.iter().filter(|word| body::names_path(places, word));
        paths.try_for_each(|word| place::inside(places, word, self.world))?;
        sees_names(text, sql::Named::Files)
    }

    /// Where a query reaches to another machine: by the address that stands there, or else not at all.
    fn elsewhere(&self, text: &str) -> Verdict {
        let mut outside = Ok(());
        sql::elsewhere(text, &mut |found| {
            outside = match found {
                sql::Elsewhere::Host(host) => remote::check_operand(&self.checks.scopes, host, None),
                sql::Elsewhere::Unseen(what) => {
                    let message = format!("{what} reaches another machine, and no address of it can be seen there");
                    Err(Finding::new("host-computed", message).suggest("write its address out as one string"))
                }
            };
            outside.is_err()
        });
        outside
    }

    /// What a string in a query connects to, where it is a connection string: `host=x dbname=y`, a URL.
    fn connected(&self, literal: &sql::Literal) -> Verdict {
        let is_pairs = !super::pairs::of(&literal.text).is_empty();
        if Machine::is_surely(&literal.before) {
            return remote::check_operand(&self.checks.scopes, &literal.text, None);
        }
        if !is_pairs {
            // `postgres:host=x`: the kind of a database in front.
            let mut hosts = sql::hosts_in(&literal.text).into_iter();
            return hosts.try_for_each(|host| remote::check_operand(&self.checks.scopes, host, None));
        }
        self.host(&literal.text, &Known { role: Role::Link, ..Known::nothing() })
    }

    /// A string with words of a command, whichever of them are paths. What no shell could read is parted by its blanks.
    fn words(&self, text: &str, role: Role) -> Verdict {
        let words = crate::shell::plain_words(text);
        let words = words.unwrap_or_else(|_| text.split_whitespace().map(str::to_owned).collect());
        let places = &self.checks.places;
        words.iter().enumerate().try_for_each(|(index, word)| {
            if index == 0 && role != Role::CommandWords {
                return place::check_program(places, word, self.world);
            }
            place::check_argument(places, word, self.world)
        })
    }
}

/// Whether a query names no file or machine by something that cannot be seen.
fn sees_names(text: &str, what: sql::Named) -> Verdict {
    let Some(why) = sql::computed(text, what) else { return Ok(()) };
    let (rule, thing) = match what {
        sql::Named::Files => ("path-computed", "file"),
        sql::Named::Hosts => ("host-computed", "machine"),
    };
    let message = format!("{why}, so it cannot be seen which {thing} it names");
    Err(Finding::new(rule, message).suggest("write the name out as one string"))
}

/// Whether a member of an object of machines is called by the name of one: `{"hosts": {"db1": {"port": 1}}}`. What has a machine, an
/// address or a command itself is called as somebody likes.
fn is_named_by_key(known: &Known<'_>, key: &str, member: &Raw) -> bool {
    let says_itself = |member: &Raw| {
        Object::open(member).is_ok_and(|object| {
            object.iter().any(|(key, _)| {
                let role = role::of(&key);
                Machine::is_surely(&key)
                    || matches!(role, Role::Url | Role::Host | Role::Path | Role::Command | Role::CommandWords)
                    || remote::is_value_key(&key)
            })
        })
    };
    known.machine == Machine::Surely
        && !matches!(member.kind(), Kind::String | Kind::Array)
        && !machine::is_setting(key)
        && !Machine::is_surely(key)
        && !says_itself(member)
}

/// The object or list that a string holds. What is JSON as far as it could be read, and cannot be read to its end, is
/// refused.
fn nested(text: &str) -> Result<Option<Raw>, Refused> {
    let unquoted = role::unquoted(text);
    let trimmed = unquoted.as_deref().unwrap_or(text).trim();
    let looks =
        trimmed.starts_with('{') && trimmed.ends_with('}') || trimmed.starts_with('[') && trimmed.ends_with(']');
    if !looks {
        return Ok(None);
    }
    match Raw::parse(trimmed.to_owned(), &WireLimits::default()) {
        Ok(raw) => Ok(Some(raw)),
        Err(refusal) if is_bound(refusal.kind) => {
            let message = format!("a string holds JSON that cannot be read: {}", refusal.kind);
            Err(refused(ARGUMENTS, Finding::new("arguments-nested", message)))
        }
        Err(_) => Ok(None),
    }
}

const fn is_bound(kind: RefusalKind) -> bool {
    matches!(
        kind,
        RefusalKind::TooLong(_) | RefusalKind::TooDeep(_) | RefusalKind::TooManyKeys(_) | RefusalKind::NumberTooLong(_)
    )
}
