//! Arguments: may this call, with exactly these arguments, be passed on?
//!
//! Every string in the arguments is looked at, wherever it stands: a server may use any of them in any way. What a
//! string is, is told by its key (`command`, `path`, `url`, `code`) and by its form. A string that nothing is known
//! about may still not smuggle a command, lead to a private network or leave the allowed paths. Prose may say what it
//! likes as long as nothing in it would be run. The rules are built once per definition and grant; what must be looked
//! up in the world is asked of a [`World`].

mod about;
mod around;
mod body;
mod climb;
mod command;
mod connect;
mod denied;
mod dial;
mod document;
mod folders;
mod glued;
mod joined;
mod limits;
mod machine;
mod markup;
mod meaning;
mod own;
mod own_program;
mod pairs;
pub(crate) mod patch;
pub(crate) mod pattern;
mod place;
mod reach;
mod remote;
mod source;
mod sql;
mod typed;
mod uri;
mod value;
mod walk;
mod words;

use std::cell::Cell;
use std::net::IpAddr;
use std::sync::Arc;

use switchboard_policy::key_role::{self as role, MAX_DEPTH};
use switchboard_policy::permission::Scope;
use switchboard_policy::schema::{Evidence, Schema};
use switchboard_protocol::mgp::ValidatorName;
use switchboard_protocol::mgp::security::ToolSecurity;
use switchboard_wire::{Edit, Raw};

use crate::Finding;
use crate::code::Level;
use crate::percent;
use crate::shell::Understood;

pub(crate) use around::all_variables as variables;
pub(crate) use command::line as command_line;
pub use dial::check_metadata;
pub use dial::{Dialer, Dialing};
pub use folders::absolute_among;
pub use own::{Glance, OwnFiles, Place, Suspects, names_switchboard};
pub(crate) use own_program::OwnProgram;
pub use source::CodeRules;

/// Longer statements are refused where they are judged by themselves.
pub const MAX_STATEMENT_BYTES: usize = 1 << 20;
/// The most host names that one call is looked up for.
pub const MAX_HOSTS: usize = 64;

/// What must be looked up. The answers decide about this one call: the caller connects to what it was told here.
pub trait World {
    /// Where the symbolic link at this absolute path leads, if it is one.
    fn link(&self, path: &str) -> Option<String>;

    /// The addresses of a host name. `None` if nobody has asked: then the spelling decides. An empty answer is a name
    /// without an address.
    fn addresses(&self, host: &str) -> Option<Vec<IpAddr>>;

    /// Whether a person agreed before that this host, which is not public, is dialed.
    fn is_agreed(&self, _host: &str) -> bool {
        false
    }
}

/// Knows no link and no address.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoWorld;

impl World for NoWorld {
    fn link(&self, _: &str) -> Option<String> {
        None
    }

    fn addresses(&self, _: &str) -> Option<Vec<IpAddr>> {
        None
    }
}

/// Whether a statement that a tool is given only reads. `declared` is what its server says of it.
#[must_use]
pub fn only_reads(declared: &ToolSecurity, statement: &str) -> bool {
    let subject = ToolSecurity { subject: declared.subject.clone(), ..ToolSecurity::default() };
    let checks = Checks::new(&[ValidatorName::Readonly], &subject, &[], "/");
    let held = Edit::empty().set("sql", Raw::string(statement)).finish();
    check(&checks, &held, &NoWorld).is_ok()
}

/// Everything that the arguments of one tool are held to.
#[derive(Debug, Clone, Default)]
pub struct Checks {
    sandbox: bool,
    readonly: bool,
    network: bool,
    code: bool,
    /// The tool says of itself that it changes something.
    changes: bool,
    /// What its queries are written in.
    language: sql::Language,
    rules: CodeRules,
    /// What else its name and description tell.
    about: about::About,
    scopes: Vec<Scope>,
    places: Vec<switchboard_policy::path::Scope>,
    /// Where relative paths begin.
    base: String,
    /// What tells which strings are paths.
    schema: Option<Arc<Schema>>,
    /// Arguments that are neither paths nor hosts, as the operator says.
    text_arguments: Vec<String>,
    /// Whether the path in a URL of any host counts as one.
    paths_of_urls: bool,
    /// What keys mean that the definition of the tool speaks of.
    carried: Vec<(Box<str>, role::Role)>,
    /// The keys among them under which stands what is typed into something that runs.
    typed: Vec<Box<str>>,
    /// Who dials the addresses in them.
    dialing: Dialing,
    /// The one program whose words it takes.
    program: Option<OwnProgram>,
}

impl Checks {
    /// The checks for a tool: `validators` are those that hold for it, `declared` is what its server says, `scopes`
    /// are the limits of the grants it uses, and `base` is the absolute directory at which its relative paths start.
    #[must_use]
    pub fn new(validators: &[ValidatorName], declared: &ToolSecurity, scopes: &[Scope], base: &str) -> Self {
        let on = |validator| validators.contains(&validator);
        let hints = declared.hints;
        Self {
            sandbox: on(ValidatorName::Sandbox),
            readonly: on(ValidatorName::Readonly),
            network: on(ValidatorName::NetworkRestricted),
            code: on(ValidatorName::CodeSafety),
            changes: declared.side_effects.as_ref().is_some_and(|effects| !effects.is_empty())
                || hints.read_only == Some(false)
                || hints.destructive == Some(true),
            // Only what has rows is held to reading without a word of what it reads them from.
            language: match sql::Language::of(&declared.subject) {
                sql::Language::Unknown if on(ValidatorName::Readonly) && sql::has_rows(declared) => sql::Language::Sql,
                told => told,
            },
            rules: CodeRules::new(declared.code_safety.as_ref()),
            about: about::About::of(&declared.subject),
            scopes: scopes.to_vec(),
            places: scopes.iter().filter_map(|scope| place::compile(scope, base)).collect(),
            base: base.to_owned(),
            schema: None,
            text_arguments: Vec::new(),
            paths_of_urls: false,
            carried: Vec::new(),
            typed: Vec::new(),
            dialing: Dialing::default(),
            program: OwnProgram::of(declared),
        }
    }

    /// The same with who dials the addresses in the arguments.
    #[must_use]
    pub const fn with_dialing(mut self, dialing: Dialing) -> Self {
        self.dialing = dialing;
        self
    }

    /// The same for arguments that somebody is still typing.
    #[must_use]
    pub fn unfinished(&self) -> Self {
        Self { dialing: self.dialing.unfinished(), ..self.clone() }
    }

    /// The same for a tool of a server of this name, which may say what it runs.
    #[must_use]
    pub fn of_server(mut self, declared: &ToolSecurity, server: &str) -> Self {
        self.program = self.program.or_else(|| OwnProgram::of_server(declared, server));
        self
    }

    /// Who dials the addresses in the arguments.
    #[must_use]
    pub const fn dialing(&self) -> Dialing {
        self.dialing
    }

    /// The same for a server that may begin relative paths in other folders as well: they have to lie inside from each.
    #[must_use]
    pub fn also_based_at(mut self, bases: &[String]) -> Self {
        for base in bases {
            self.places.extend(self.scopes.iter().filter_map(|scope| place::compile(scope, base)));
        }
        self
    }

    /// The same for a call that names folders itself: its relative paths may begin there.
    fn based_in(&self, arguments: &Raw, world: &dyn World) -> Self {
        // What lies outside is refused by itself.
        let is_inside = |folder: &String| place::inside(&self.places, folder, world).is_ok();
        let named: Vec<String> = folders::named(arguments).into_iter().filter(is_inside).collect();
        // Nobody looks at that many, and no grant covers what begins at the root.
        let named = if named.len() > folders::MAX_FOLDERS { vec!["/".to_owned()] } else { named };
        self.clone().also_based_at(&named)
    }

    /// The same with arguments of which the operator says that they are text: limits of paths and hosts leave them alone.
    #[must_use]
    pub fn with_text_arguments(mut self, names: &[String]) -> Self {
        self.text_arguments = names.to_vec();
        self
    }

    /// The same for addresses of a server that may take nothing of a URL but its path. Where a limit speaks of hosts, URLs
    /// are opened as what they are.
    #[must_use]
    pub fn with_paths_of_urls(mut self) -> Self {
        self.paths_of_urls = !self.limits_hosts();
        self
    }

    /// The checks of arguments that are text: everything but the limits of paths and hosts.
    fn of_text(&self) -> Self {
        let scopes = self.scopes.iter().map(Scope::without_places).collect();
        Self { scopes, places: Vec::new(), text_arguments: Vec::new(), ..self.clone() }
    }

    /// The limits alone.
    fn of_limits(&self) -> Self {
        let (sandbox, readonly, network, code) = (false, false, false, false);
        Self { sandbox, readonly, network, code, text_arguments: Vec::new(), ..self.clone() }
    }

    /// The same with the schema of the arguments, which tells strings that are no paths from those that may be.
    #[must_use]
    pub fn with_schema(mut self, schema: Option<Arc<Schema>>) -> Self {
        self.schema = schema;
        self
    }

    fn evidence(&self) -> Evidence<'_> {
        Evidence::of(self.schema.as_deref())
    }

    /// Whether a grant limits what may be connected to.
    fn limits_hosts(&self) -> bool {
        let limited = |scope: &Scope| scope.hosts.is_some() || !scope.deny_hosts.is_empty() || scope.ports.is_some();
        self.scopes.iter().any(limited)
    }

    /// The same with the level of code safety that the operator says: also a lower one than the server's.
    #[must_use]
    pub const fn at_code_level(mut self, level: Level) -> Self {
        self.rules.level = level;
        self
    }

    /// The names of the checks that are made, for an audit record.
    #[must_use]
    pub fn applied(&self) -> Vec<&'static str> {
        [
            (self.sandbox, ValidatorName::Sandbox.as_str()),
            (self.readonly, ValidatorName::Readonly.as_str()),
            (self.network, ValidatorName::NetworkRestricted.as_str()),
            (self.code, ValidatorName::CodeSafety.as_str()),
            (!self.scopes.is_empty(), SCOPE),
        ]
        .into_iter()
        .filter_map(|(on, name)| on.then_some(name))
        .collect()
    }

    /// Whether nothing is checked at all.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        !(self.sandbox || self.readonly || self.network || self.code) && self.scopes.is_empty()
    }

    /// Whether links of paths are looked up.
    #[must_use]
    pub const fn looks_at_places(&self) -> bool {
        !self.places.is_empty()
    }

    /// Whether hosts are judged.
    fn looks_outside(&self) -> bool {
        self.network || self.limits_hosts()
    }

    /// The host names in these arguments, for a caller that looks them up before it asks [`check`]: at most one more than
    /// [`MAX_HOSTS`], and who finds that many must not go on. Addresses are not among them, and neither are names that are
    /// only data or that somebody elsewhere looks up.
    #[must_use]
    pub fn hosts(&self, arguments: &Raw) -> Vec<String> {
        if !self.network || !self.dialing.looks_up() {
            return Vec::new();
        }
        hosts_where(arguments, &|role, text| !self.dialing.is_data(role, text))
    }

    /// How sure it is that a string is a query; `None` where it is none.
    fn query_certainty(&self, role: role::Role) -> Option<sql::Certainty> {
        use role::Role;
        use sql::{Certainty, Language};
        let known = self.language != Language::Unknown;
        match role {
            Role::Sql => Some(Certainty::Sure),
            Role::Query if known => Some(Certainty::Likely),
            Role::Query => Some(Certainty::Perhaps),
            // A tool that speaks a query language may take a query under any name.
            Role::Path | Role::Url | Role::Host | Role::Reference | Role::Method => None,
            _ if known => Some(Certainty::Perhaps),
            _ => None,
        }
    }

    fn runs_code(&self) -> bool {
        self.code || self.readonly || self.scopes.iter().any(|scope| scope.languages.is_some())
    }
}

/// The step of a refusal by the limits of a grant.
const SCOPE: &str = "scope";
/// The step of a refusal of the arguments as such.
const ARGUMENTS: &str = "arguments";

/// Why a call is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The check that refused: the name of a validator, `scope`, or `arguments`.
    pub step: &'static str,
    /// Where in the arguments, as a JSON pointer; empty for all of them.
    pub pointer: String,
    /// What is wrong.
    pub finding: Finding,
    /// For code, the structure of MGP 7.4 from which an agent can correct it.
    pub rejection: Option<Raw>,
    /// The host that is not public, where that is the reason.
    pub host: Option<String>,
}

/// Whether a tool may be called with these arguments.
///
/// # Errors
/// The first thing that is wrong with them; where nothing is, the first that is not understood ([`Finding::asks`]).
pub fn check(checks: &Checks, arguments: &Raw, world: &dyn World) -> Result<(), Box<Violation>> {
    check_with(checks, arguments, world, &Understood::default())
}

/// The same with what an operator added to the table of what is understood.
///
/// # Errors
/// As [`check`].
pub fn check_with(
    checks: &Checks,
    arguments: &Raw,
    world: &dyn World,
    understood: &Understood,
) -> Result<(), Box<Violation>> {
    if checks.readonly && checks.changes {
        let message = "the tool changes something, and only reading is allowed";
        let finding = Finding::new("readonly-effects", message);
        return Err(Box::new(Violation {
            step: "readonly",
            pointer: String::new(),
            finding,
            rejection: None,
            host: None,
        }));
    }
    let based;
    let checks = if checks.places.is_empty() {
        checks
    } else {
        based = checks.based_in(arguments, world);
        &based
    };
    let seen = Cell::new(false);
    check_counting(checks, arguments, world, walk::Doubts { understood, count: false, seen: &seen })?;
    check_together(checks, arguments, world)?;
    if seen.get() {
        return check_counting(checks, arguments, world, walk::Doubts { understood, count: true, seen: &seen });
    }
    Ok(())
}

/// Whether the relative paths of a call lie inside of the limits also where a server joins them.
fn check_together(checks: &Checks, arguments: &Raw, world: &dyn World) -> Result<(), Box<Violation>> {
    if checks.places.is_empty() {
        return Ok(());
    }
    let joined = folders::joined(arguments, &checks.base).into_iter();
    for path in joined.chain(folders::highest(arguments, &checks.places)) {
        place::inside(&checks.places, &path, world).map_err(|finding| {
            Box::new(Violation { step: SCOPE, pointer: String::new(), finding, rejection: None, host: None })
        })?;
    }
    Ok(())
}

fn check_counting(
    checks: &Checks,
    arguments: &Raw,
    world: &dyn World,
    doubts: walk::Doubts<'_>,
) -> Result<(), Box<Violation>> {
    if checks.text_arguments.is_empty() || checks.places.is_empty() && !checks.limits_hosts() {
        return walk::Walk::new(checks, arguments, world, doubts).run(arguments);
    }
    // All arguments pass the validators, since they are judged together. The limits are for those that are no text.
    walk::Walk::new(&checks.of_text(), arguments, world, doubts).run(arguments)?;
    let Ok(edit) = Edit::of(arguments) else { return walk::Walk::new(checks, arguments, world, doubts).run(arguments) };
    let limited = checks.text_arguments.iter().fold(edit, |edit, name| edit.remove(name)).finish();
    walk::Walk::new(&checks.of_limits(), arguments, world, doubts).run(&limited)
}

/// Whether a statement that a program hands to a database may start a program, load code or use files beside it.
pub(crate) fn leaves_database(text: &str) -> bool {
    text.len() > MAX_STATEMENT_BYTES || sql::leaves(text)
}

/// Judges one statement of SQL as a tool is given it. Where only reading is allowed, every change is refused; else an ordinary
/// change of rows or tables is asked about.
///
/// # Errors
/// It is hostile, or not understood ([`Finding::asks`]).
pub fn check_statement(text: &str, only_reading: bool) -> crate::Verdict {
    if text.len() > MAX_STATEMENT_BYTES {
        return Err(Finding::new("sql-size", format!("the statement is longer than {MAX_STATEMENT_BYTES} bytes")));
    }
    sql::check_statement(text, only_reading)
}

/// Whether a URI leads neither to a file nor to another machine, as far as its form tells: an address of a scheme of the
/// server's own, with a name in front where others have a path.
#[must_use]
pub fn is_opaque(uri: &str) -> bool {
    let Some((scheme, rest)) = uri.split_once(':') else { return false };
    let own = scheme.len() > 1
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'+'))
        && !scheme.split('+').any(reach::is_reaching);
    let is_name = |name: &str| {
        !name.is_empty()
            && !name.starts_with(['/', '\\', '.', '~', '$'])
            && !name.contains(['\\', '@'])
            && !name.contains(":/")
            && !name.chars().any(char::is_control)
            && !name.split('/').any(|step| step == "..")
    };
    let name = rest.strip_prefix("//").unwrap_or(rest);
    own && percent::stages(name).iter().all(|name| is_name(name))
        && uri::values(name).is_some_and(|values| !values.iter().any(|value| place::may_be_path(value)))
}

/// The host names in all of these arguments, as [`Checks::hosts`].
#[must_use]
pub fn hosts(arguments: &Raw) -> Vec<String> {
    hosts_where(arguments, &|_, _| true)
}

fn hosts_where(arguments: &Raw, counts: &dyn Fn(role::Role, &str) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    let note = |found: &mut Vec<String>, hosts: Vec<String>| {
        for host in hosts {
            if found.len() <= MAX_HOSTS && !found.contains(&host) {
                found.push(host);
            }
        }
    };
    walk::each_leaf(arguments, &mut |role, text| {
        if !counts(role, text) {
            return;
        }
        note(&mut found, reach::host_names(role, text));
    });
    for joined in joined::addresses(arguments) {
        note(&mut found, reach::host_names(role::Role::Url, &joined.url));
        note(&mut found, joined.local.into_iter().collect());
    }
    found
}
