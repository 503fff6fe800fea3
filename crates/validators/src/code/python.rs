//! Python by its syntax tree: every name is followed to what it stands for, and that is judged.
//!
//! The program is walked three times. The first walks learn what names, attributes, parameters and results hold; the
//! last one judges. Nothing is run; loops and branches are taken as if any of them may happen.

mod arguments;
mod calls;
mod dials;
mod doubts;
mod effects;
mod evaluators;
mod expressions;
mod fold;
mod given;
mod loops;
mod methods;
mod own;
mod paths;
mod processes;
mod readonly;
mod requests;
mod rules;
mod scope;
mod sends;
mod services;
mod settings;
mod statements;
mod value;

use std::collections::HashMap;

use ruff_python_parser::parse_module;
use ruff_text_size::TextSize;

use crate::Finding;
use crate::code::reached::{Reached, Reaches};
use crate::code::{Level, STRICT_IMPORTS, known, position};
use rules::Route;
use scope::Scope;
use value::Val;

/// How often the program is walked: constants pass through as many calls, less one.
const WALKS: usize = 3;
/// Expressions looked at in one program, before it is refused as too tangled to judge. Ordinary programs of the
/// greatest size need a tenth.
const MOST_STEPS: usize = 400_000;
/// What functions and classes say of their arguments; some packages evaluate it.
const ANNOTATIONS: &str = "__annotations__";
/// The most findings that are told.
const MOST_FINDINGS: usize = 20;

/// Whether a module may be imported at no level.
pub(super) fn is_blocked(import: &str) -> bool {
    rules::module(import).is_some()
}

/// Every reason to refuse the program.
pub(super) fn findings(level: Level, source: &str) -> Vec<Finding> {
    walked(level, source).map_or_else(|finding| vec![finding], |checker| checker.findings)
}

/// The same of the level that most programs have, and what the program connects to.
pub(super) fn reached(source: &str) -> (Vec<Finding>, Vec<Reached>) {
    let mut checker = match walked(Level::Standard, source) {
        Ok(checker) => checker,
        Err(finding) => return (vec![finding], Vec::new()),
    };
    let lower = source.to_ascii_lowercase();
    if ["http_proxy", "https_proxy", "all_proxy"].iter().any(|name| lower.contains(name)) {
        checker.reaches.unseen("a proxy");
    }
    (checker.findings, checker.reaches.into_found())
}

/// Whether a text is Python.
pub(super) fn is_program(source: &str) -> bool {
    parse_module(source).is_ok()
}

fn walked(level: Level, source: &str) -> Result<Checker<'_>, Finding> {
    let parsed = match parse_module(source) {
        Ok(parsed) => parsed,
        Err(error) => {
            let (line, column) = position::of(source, error.location.start().to_usize());
            let message = format!("the source is no valid Python: {}", error.error);
            return Err(Finding::new("code-syntax", message).at(line, column));
        }
    };
    let mut checker = Checker::new(level, source);
    for walk in 1..=WALKS {
        checker.judging = walk == WALKS;
        checker.scopes = vec![checker.known.remove(&scope::MODULE).unwrap_or_default().restart()];
        checker.branches = 0;
        checker.wrote.clear();
        checker.body(&parsed.syntax().body);
        if let Some(module) = checker.scopes.pop() {
            checker.known.insert(scope::MODULE, module);
        }
    }
    if checker.steps > MOST_STEPS {
        checker.findings.push(Finding::new("code-tangled", "the program is too tangled to be judged"));
    }
    // What is hostile comes before what is only not understood.
    checker.findings.sort_by_key(Finding::asks);
    Ok(checker)
}

/// What a function of the program is called with, and what it answers.
#[derive(Debug, Default)]
struct Function {
    parameters: Vec<String>,
    /// How many parameters stand by position.
    positional: usize,
    /// Whether the first parameter is the object.
    method: bool,
    received: HashMap<String, Val>,
    answers: Option<Val>,
}

struct Checker<'s> {
    level: Level,
    source: &'s str,
    findings: Vec<Finding>,
    /// What the program connects to.
    reaches: Reaches,
    judging: bool,
    scopes: Vec<Scope>,
    /// What earlier walks learned about each scope, by where it stands.
    known: HashMap<u32, Scope>,
    functions: HashMap<u32, Function>,
    /// What was ever stored under an attribute's name, on whatever object.
    attributes: HashMap<String, Val>,
    /// The methods that classes of the program define.
    methods: std::collections::HashSet<String>,
    /// What objects of the program's classes are besides, by where the classes stand: what they inherit.
    inherited: HashMap<u32, Val>,
    /// What makes objects of the program's classes, by where the classes stand.
    makers: HashMap<u32, u32>,
    /// Whether the object of the method that is judged may be one of the program's own.
    own_receiver: bool,
    /// What is imported out of the program's own package, by its local name.
    own_names: HashMap<String, String>,
    /// Whether the query that is changed picks what it is about.
    picks: bool,
    /// Modules whose every member was imported.
    stars: Vec<String>,
    /// Whether an annotation is text that holds more than a name.
    busy_annotation: bool,
    /// The modules that the program imports, by their first names.
    packages: std::collections::HashSet<String>,
    /// What of those can start programs or load code.
    watched: Vec<&'static rules::watched::Watched>,
    /// Files that were read, by the names that are written down.
    opened: std::collections::HashSet<String>,
    /// Whether the program reads something that is nobody else's business.
    read: bool,
    /// Whether an exception is caught under a name: it may hold the object that lacked an attribute.
    catches: bool,
    /// Scopes in which a file was written whose name is not known, or the folder was changed, in this walk.
    wrote: std::collections::HashSet<u32>,
    /// Files that the program makes, by the names that are written down.
    made: std::collections::HashSet<String>,
    branches: usize,
    loops: usize,
    /// Parameters around the place that a request brings.
    brought: std::collections::HashSet<String>,
    /// The name that the innermost loop binds, and the object that it goes through.
    through: Option<(String, String)>,
    /// How often the loops around the place go round, as far as that is written down.
    turns: i64,
    steps: usize,
    /// The functions around the place that is walked: name and where they stand.
    within: Vec<(String, u32)>,
}

impl<'s> Checker<'s> {
    fn new(level: Level, source: &'s str) -> Self {
        Self {
            level,
            source,
            findings: Vec::new(),
            reaches: Reaches::default(),
            judging: false,
            scopes: Vec::new(),
            known: HashMap::new(),
            functions: HashMap::new(),
            attributes: HashMap::new(),
            methods: std::collections::HashSet::new(),
            inherited: HashMap::new(),
            makers: HashMap::new(),
            own_receiver: false,
            own_names: HashMap::new(),
            picks: false,
            stars: Vec::new(),
            busy_annotation: false,
            packages: std::collections::HashSet::new(),
            watched: Vec::new(),
            opened: std::collections::HashSet::new(),
            read: false,
            catches: false,
            wrote: std::collections::HashSet::new(),
            made: std::collections::HashSet::new(),
            branches: 0,
            loops: 0,
            brought: std::collections::HashSet::new(),
            through: None,
            turns: 1,
            steps: 0,
            within: Vec::new(),
        }
    }

    fn refuse(&mut self, at: TextSize, rule: &'static str, message: String, advice: Option<&str>) {
        // Doubts leave room for what is hostile.
        let most = if rule == "code-unknown" { MOST_FINDINGS / 2 } else { MOST_FINDINGS };
        if !self.judging || self.findings.len() >= most {
            return;
        }
        let place = position::of(self.source, at.to_usize());
        if self.findings.iter().any(|earlier| earlier.rule == rule && earlier.place == Some(place) && !earlier.asks()) {
            return;
        }
        // What is hostile says more than a doubt at the same place.
        self.findings.retain(|earlier| earlier.rule != rule || earlier.place != Some(place));
        let mut finding = Finding::new(rule, message).at(place.0, place.1);
        if rule == "code-unknown" {
            finding = finding.ask();
        }
        if let Some(advice) = advice {
            finding = finding.suggest(advice);
        }
        self.findings.push(finding);
    }

    fn refuse_route(&mut self, at: TextSize, name: &str, route: Route) {
        self.refuse(at, route.rule(), format!("`{name}` {}", route.says()), route.advice(self.level));
    }

    /// A route that honest programs take too, named directly.
    fn ask_route(&mut self, at: TextSize, name: &str, route: Route) {
        self.ask(at, route.rule(), format!("`{name}` {}", route.says()), route.advice(self.level));
    }

    /// Asks a person. Where little is let in, nobody is asked.
    fn ask(&mut self, at: TextSize, rule: &'static str, message: String, advice: Option<&str>) {
        if !self.judging {
            return;
        }
        let place = position::of(self.source, at.to_usize());
        if self.findings.iter().any(|earlier| earlier.rule == rule && earlier.place == Some(place)) {
            return;
        }
        let told = self.findings.len();
        self.refuse(at, rule, message, advice);
        if self.level < Level::Strict
            && let Some(finding) = self.findings.get_mut(told)
        {
            finding.answer = crate::Answer::Ask;
        }
    }

    fn refuse_computed(&mut self, at: TextSize, what: &str) {
        let advice = "name the member directly";
        self.refuse(
            at,
            "code-computed-name",
            format!("{what} is chosen by a name that is worked out at run time"),
            Some(advice),
        );
    }

    /// Judges a qualified name that the program names or reaches.
    fn judge(&mut self, at: TextSize, path: &str) {
        if !self.judging {
            return;
        }
        if let Some(route) = rules::module(path).or_else(|| rules::member(path)) {
            if rules::asked(path).is_some() {
                self.ask_route(at, path, route);
            } else {
                self.refuse_route(at, path, route);
            }
        } else if self.level == Level::Readonly && rules::writes(path) {
            self.refuse_route(at, path, Route::Write);
        }
    }

    /// Judges an attribute that means the same on any object. Servers are started by honest programs too.
    fn judge_telling(&mut self, at: TextSize, name: &str, route: Route) {
        match route {
            Route::Socket => self.ask_route(at, name, route),
            _ => self.refuse_route(at, name, route),
        }
    }

    /// Judges a module that is reached on a way other than an import of its own.
    fn judge_reached(&mut self, at: TextSize, module: &str) {
        match rules::module(module) {
            Some(route) => self.refuse_route(at, module, route),
            None => self.judge(at, module),
        }
    }

    fn judge_import(&mut self, at: TextSize, module: &str) {
        let root = module.split('.').next().unwrap_or_default();
        if self.packages.insert(root.to_owned()) {
            self.watched.extend(rules::watched::of(root));
        }
        if self.scopes.last().is_some_and(|scope| self.wrote.contains(&scope.place)) {
            self.doubt(at, module);
        }
        if let Some(route) = rules::module(module).filter(|_| rules::asked(module).is_some()) {
            self.ask_route(at, module, route);
        } else if let Some(route) = rules::module(module) {
            self.refuse(
                at,
                route.rule(),
                format!("import of `{module}`, which {}", route.says()),
                route.advice(self.level),
            );
        } else if self.level >= Level::Strict && root != "__future__" && !STRICT_IMPORTS.contains(&root) {
            let advice = format!("import only from {}", STRICT_IMPORTS.join(", "));
            self.refuse(at, "code-import", format!("import of `{module}`, which is not on the list"), Some(&advice));
        } else if !known::is_understood(module) && !module.is_empty() {
            let advice = "a person has to agree, or use a module of the language's own library";
            self.ask(at, "code-unknown", format!("what the module `{module}` does is not known"), Some(advice));
        }
    }

    /// A guarded module may be named, renamed and asked for a member; handed around, it cannot be followed.
    fn hand_over(&mut self, at: TextSize, value: &Val) {
        if !self.judging {
            return;
        }
        for value in value.each() {
            match value {
                Val::Path(path) if rules::asked(path) == Some(rules::Asked::Plain) => {}
                Val::Path(path)
                    if rules::asked(path).is_some()
                        && rules::module(path).is_some_and(|route| route != Route::Process)
                        && path.contains('.') => {}
                Val::Path(path) if rules::is_guarded(path) => {
                    let message = format!("the module `{path}` is handed on as a value");
                    self.refuse(at, "code-module-value", message, Some("call the function you need directly"));
                }
                Val::Path(path) => {
                    if let Some(route) = rules::call(path) {
                        self.refuse_route(at, path, route);
                    } else if matches!(
                        rules::effects::of_function(path),
                        Some(rules::effects::FileEffect::Delete | rules::effects::FileEffect::Move)
                    ) {
                        let message = format!("`{path}` is handed on, and what it deletes is not seen");
                        self.ask_effect(at, "code-delete", message);
                    } else if self.level == Level::Readonly
                        && matches!(&**path, "builtins.open" | "os.open" | "os.fdopen")
                    {
                        self.refuse_route(at, path, Route::Write);
                    }
                }
                Val::Names(path) if !matches!(&**path, "globals" | "locals" | ANNOTATIONS) => {
                    let message = format!("the names of `{path}` are handed on as a value");
                    self.refuse(at, "code-module-value", message, Some("call the function you need directly"));
                }
                _ => {}
            }
        }
    }
}
