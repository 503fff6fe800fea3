//! JavaScript and TypeScript by their syntax tree.
//!
//! Names are followed through scopes, constants and simple declarations, member names through constant strings. What
//! leads out is refused; a module that is not known, a member of a global object chosen at run time, and a loader or
//! global object that is handed on instead of being used in its place are asked about.

mod answers;
mod calls;
mod content;
mod dials;
mod effects;
mod flow;
mod fold;
mod functions;
mod loops;
mod methods;
mod options;
mod own;
mod patterns;
mod places;
mod processes;
mod rules;
mod scope;
mod sends;
mod services;
mod settings;
mod value;
mod visit;

pub(super) use rules::STRICT_MODULES;

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use oxc_allocator::Allocator;
use oxc_ast::ast::{Expression, Program};
use oxc_ast_visit::Visit as _;
use oxc_parser::Parser;
use oxc_span::{SourceType, Span};

use crate::Finding;
use crate::code::reached::{Reached, Reaches};
use crate::code::{Level, places as folders, position};
use scope::{Scopes, Things};

/// Brackets open at once: what nests deeper is not parsed.
const DEEPEST: usize = 300;
/// Findings of each kind.
const MOST_FINDINGS: usize = 20;

/// Every reason to refuse the program or to ask about it; the reasons to refuse come first.
pub(super) fn findings(level: Level, source: &str, typescript: bool) -> Vec<Finding> {
    match read(level, source, typescript) {
        Ok(reader) => {
            let mut findings = reader.findings;
            findings.sort_by_key(Finding::asks);
            findings
        }
        Err(finding) => vec![finding],
    }
}

/// The same of the level that most programs have, and what the program connects to.
pub(super) fn reached(source: &str, typescript: bool) -> (Vec<Finding>, Vec<Reached>) {
    match read(Level::Standard, source, typescript) {
        Ok(reader) => (reader.findings, reader.reaches.into_found()),
        Err(finding) => (vec![finding], Vec::new()),
    }
}

/// The modules that the program names, as it names them.
pub(super) fn imports(source: &str, typescript: bool) -> Vec<String> {
    read(Level::Standard, source, typescript).map(|reader| reader.modules).unwrap_or_default()
}

/// Whether a module may be imported at no level.
pub(super) fn is_blocked(import: &str) -> bool {
    let path = module_path(import);
    rules::refused(&path).is_some() || path == "node:child_process"
}

fn read(level: Level, source: &str, typescript: bool) -> Result<Reader<'_>, Finding> {
    if deeper_than(source, DEEPEST) {
        return Err(Finding::new("code-syntax", format!("nested deeper than {DEEPEST} brackets")));
    }
    let allocator = Allocator::default();
    // A program is a module or a script, and types are often written into what is called JavaScript; whichever it
    // is, it must be valid as one of them.
    let typed_script = SourceType::ts().with_commonjs(true);
    let javascript = [
        SourceType::mjs().with_jsx(true),
        SourceType::cjs(),
        SourceType::script(),
        SourceType::ts(),
        typed_script,
        SourceType::tsx(),
    ];
    let types = [SourceType::ts(), SourceType::tsx(), typed_script];
    let kinds = if typescript { &types[..] } else { &javascript[..] };
    // Scripts know comments that modules do not: what looks like one is read both ways.
    let both_ways = source.contains("<!--") || source.contains("-->");
    let mut first_error = None;
    let mut read: Option<Reader<'_>> = None;
    for kind in kinds {
        let parsed = Parser::new(&allocator, source, *kind).parse();
        if !parsed.panicked && parsed.diagnostics.is_empty() {
            let mut reader = Reader::new(level, source);
            reader.read(&parsed.program);
            match &mut read {
                Some(earlier) => {
                    earlier.findings.append(&mut reader.findings);
                    std::mem::take(&mut reader.reaches)
                        .into_found()
                        .into_iter()
                        .for_each(|one| earlier.reaches.add(one));
                }
                None => read = Some(reader),
            }
            if !both_ways {
                break;
            }
        }
        first_error
            .get_or_insert_with(|| parsed.diagnostics.iter().next().map(ToString::to_string).unwrap_or_default());
    }
    if let Some(reader) = read {
        return Ok(reader);
    }
    let error = first_error.unwrap_or_default();
    Err(Finding::new("code-syntax", format!("the source does not parse: {error}")))
}

fn deeper_than(source: &str, most: usize) -> bool {
    let mut depth = 0usize;
    source.bytes().any(|byte| {
        match byte {
            b'(' | b'[' | b'{' | b'<' => depth += 1,
            b')' | b']' | b'}' | b'>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > most
    })
}

/// What a walk is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pass {
    /// Finds what names are bound where.
    Declare,
    /// Learns what the names hold.
    Learn,
    Judge,
}

/// Where an expression stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Place {
    /// Anywhere it is handed on.
    #[default]
    Value,
    /// Asked for a member, or given one.
    Base(Use),
    Callee,
    /// Given to a name that is followed.
    Alias,
    /// Only compared or tested.
    Compared,
}

/// What a member is asked for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    /// Its name.
    Name,
    /// A member of its own.
    Member,
    /// Something with which it is called, or nobody can say.
    Any,
}

/// What `this` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum This {
    /// The global object or the module.
    Top,
    /// Whatever a function is called on.
    Function,
    /// The global object, of a function that is called on nothing.
    Loose,
    Method,
    Static,
}

struct Reader<'s> {
    level: Level,
    source: &'s str,
    pass: Pass,
    scopes: Scopes,
    place: Place,
    this: Vec<This>,
    /// What `this` is in the next function.
    next_this: Option<This>,
    /// What functions are called with and what they answer, by where they begin.
    parameters: HashMap<u32, Vec<Things>>,
    returns: HashMap<u32, Things>,
    /// The functions that are being read, and what the next parameters of the innermost are given.
    functions: Vec<u32>,
    given: std::vec::IntoIter<Things>,
    /// Whether a function that is called on nothing has no `this`.
    strict: bool,
    /// Whether what is declared is handed to others.
    exported: bool,
    /// Members that the program defines itself.
    own: HashSet<String>,
    /// What is imported out of the program's own modules, by its local name.
    own_names: HashMap<String, String>,
    /// What objects and lists that are written down hold, by where they begin.
    objects: HashMap<u32, Vec<(String, Things)>>,
    /// Whether something was learned in this walk.
    learned: bool,
    /// What expressions were found to be, by where they stand, until something is learned.
    worked: RefCell<HashMap<(u32, u32), Things>>,
    texts: RefCell<HashMap<(u32, u32), Option<String>>>,
    /// What members of the program's own objects hold.
    members: HashMap<String, Things>,
    /// Files that the program makes.
    made: HashSet<String>,
    /// Files that it reads, by the names that are written down.
    opened: HashSet<String>,
    /// How often the loops around the place go round, as far as that is written down.
    turns: f64,
    /// Whether the place is in a template that somebody takes apart.
    tagged: bool,
    /// Packages that it takes.
    packages: HashSet<String>,
    /// Names that the program gives a value without binding them.
    loose: HashSet<String>,
    /// Where calls end that a later one of their chain bounds.
    bounded: HashSet<u32>,
    /// What the loop that is begun goes through.
    each: Things,
    modules: Vec<String>,
    findings: Vec<Finding>,
    /// What the program connects to.
    reaches: Reaches,
}

impl<'s> Reader<'s> {
    fn new(level: Level, source: &'s str) -> Self {
        Self {
            level,
            source,
            pass: Pass::Declare,
            scopes: Scopes::default(),
            place: Place::Value,
            this: Vec::new(),
            next_this: None,
            parameters: HashMap::new(),
            returns: HashMap::new(),
            functions: Vec::new(),
            given: Vec::new().into_iter(),
            strict: false,
            exported: false,
            own: HashSet::new(),
            own_names: HashMap::new(),
            objects: HashMap::new(),
            learned: false,
            worked: RefCell::default(),
            texts: RefCell::default(),
            members: HashMap::new(),
            made: HashSet::new(),
            opened: HashSet::new(),
            turns: 1.0,
            tagged: false,
            packages: HashSet::new(),
            loose: HashSet::new(),
            bounded: HashSet::new(),
            each: Things::unknown(),
            modules: Vec::new(),
            findings: Vec::new(),
            reaches: Reaches::default(),
        }
    }

    fn read(&mut self, program: &Program<'_>) {
        // What a name holds may be known only after a name further down is: a few times are enough for what is judged.
        for pass in [Pass::Declare, Pass::Learn, Pass::Learn, Pass::Learn, Pass::Judge] {
            // Nothing new is learned by going through the same again.
            let learned = std::mem::take(&mut self.learned);
            if self.pass == Pass::Learn && pass == Pass::Learn && !learned {
                continue;
            }
            self.pass = pass;
            self.scopes.restart();
            self.place = Place::Value;
            self.forget();
            self.learned = false;
            self.visit_program(program);
        }
    }

    /// Something was learned: what was worked out no longer holds.
    fn forget(&mut self) {
        self.learned = true;
        self.worked.get_mut().clear();
        self.texts.get_mut().clear();
    }

    fn this_kind(&self) -> This {
        self.this.last().copied().unwrap_or(This::Top)
    }

    fn refuse(&mut self, span: Span, rule: &'static str, message: String) {
        let finding = Finding::new(rule, message);
        self.find(
            span,
            match rules::advice(rule) {
                Some(advice) => finding.suggest(advice),
                None => finding,
            },
        );
    }

    fn ask(&mut self, span: Span, rule: &'static str, message: String) {
        self.find(span, Finding::new(rule, message).suggest("a person has to agree, or write it plainly").ask());
    }

    fn find(&mut self, span: Span, finding: Finding) {
        let alike = |earlier: &&Finding| earlier.asks() == finding.asks();
        if self.pass != Pass::Judge || self.findings.iter().filter(alike).count() >= MOST_FINDINGS {
            return;
        }
        let (line, column) = position::of(self.source, span.start as usize);
        let here = |earlier: &Finding| earlier.place == Some((line, column)) && earlier.rule == finding.rule;
        if !self.findings.iter().any(|earlier| here(earlier) && earlier.asks() == finding.asks()) {
            self.findings.push(finding.at(line, column));
        }
    }

    /// Judges a qualified name in its place.
    fn use_path(&mut self, span: Span, path: &str, place: Place) {
        if self.pass != Pass::Judge || place == Place::Compared {
            return;
        }
        if let Some(why) = rules::refused(path) {
            self.refuse(span, why.0, format!("`{path}` {}", why.1));
        } else if place == Place::Value && path.starts_with("node:child_process") && !path.contains('(') {
            self.refuse(span, "code-process", format!("`{path}` is handed on, and starts whatever it is told to"));
        } else if let Some(why) = rules::asked(path).or_else(|| rules::package_asked(path)) {
            self.ask(span, why.0, format!("`{path}` {}", why.1));
        } else if rules::is_unlisted_member(path) {
            self.ask(span, "code-unknown", format!("what `{path}` does is not known"));
        } else if self.level == Level::Readonly && rules::writes(path) {
            self.refuse(span, "code-write", format!("`{path}` changes something, which readonly code may not"));
        } else if place == Place::Value && rules::is_guarded(path) || place == Place::Alias && path == "require" {
            self.ask(span, "code-handed-on", format!("`{path}` is handed on, and what is done with it is not seen"));
        } else if self.level == Level::Readonly && place != Place::Callee && path == "fetch"
            || self.level == Level::Readonly
                && place == Place::Value
                && matches!(path, "node:fs" | "node:fs/promises" | "node:fs.promises")
        {
            self.refuse(span, "code-write", format!("`{path}` is handed on, which readonly code may not"));
        } else if self.level <= Level::Strict {
            self.hands_on_files(span, path, place);
        }
    }

    fn use_things(&mut self, span: Span, things: &Things, place: Place) {
        for path in things.paths() {
            self.use_path(span, path, place);
        }
    }

    /// Judges a module that is named by a text.
    fn use_module(&mut self, span: Span, name: &str) {
        if self.pass != Pass::Judge {
            if let Some(package) = rules::effects::package(&module_path(name)) {
                self.packages.insert(package.to_owned());
            }
            return;
        }
        self.modules.push(name.strip_prefix("node:").unwrap_or(name).to_owned());
        let path = module_path(name);
        if rules::refused(&path).is_some() {
            self.use_path(span, &path, Place::Base(Use::Member));
        } else if self.level >= Level::Strict
            && !rules::strict_module(&format!("node:{}", name.strip_prefix("node:").unwrap_or(name)))
        {
            self.refuse(span, "code-import", format!("import of `{name}`, which is not on the list"));
        } else if rules::is_own(name) {
            if folders::is_secret(name) || folders::is_credential(name) {
                self.ask(span, "code-reach", format!("`{name}` may hold secrets"));
            }
        } else if !rules::is_known(name) {
            let message = format!("what the module `{name}` does is not known");
            let advice = "a person has to agree, or use a module of the language's own library";
            self.find(span, Finding::new("code-unknown", message).suggest(advice).ask());
        } else {
            self.use_path(span, &path, Place::Base(Use::Member));
        }
    }

    fn use_source(&mut self, span: Span, source: &Expression<'_>) {
        match self.text(source) {
            Some(name) => {
                // What is loaded while the program runs may be what it wrote before.
                if rules::is_own(&name) && self.may_write() {
                    self.ask(span, "code-unknown", format!("`{name}` may be what the program itself wrote"));
                }
                self.use_module(span, &name);
            }
            None => {
                self.ask(span, "code-computed-name", "a module is chosen by a name worked out at run time".to_owned())
            }
        }
    }
}

impl Reader<'_> {
    /// Whether the program names something that writes files.
    fn may_write(&self) -> bool {
        const WORDS: [&str; 9] =
            ["write", "Write", "append", "rename", "copy", "symlink", "extract", "download", ".cp("];
        WORDS.iter().any(|word| self.source.contains(word))
    }
}

/// What stands for a module: of the program's own nothing is known here.
fn module_things(name: &str) -> Things {
    if rules::is_own(name) { Things::unknown() } else { Things::path(module_path(name)) }
}

/// Modules are known under their bare name, with and without `node:`. The module `process` is the global.
fn module_path(name: &str) -> String {
    match name.strip_prefix("node:").unwrap_or(name) {
        "process" => "process".to_owned(),
        bare => format!("node:{bare}"),
    }
}
