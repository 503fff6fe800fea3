//! Functions of packages in daily use that evaluate text, or run what they are given: templates, formulas, expressions of
//! data frames. Text that is written out is judged by what it says; text that is worked out is not understood.

use ruff_text_size::TextSize;

use super::Checker;
use super::calls::Arguments;
use super::rules::{self, Route};
use super::value::Val;
use crate::code::known;

/// What is done with what is given.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Evaluates {
    /// A template, whose expressions reach into its values.
    Template,
    /// A formula: an expression of Python.
    Formula,
    /// Something else that runs: nobody knows what.
    Runs,
    /// Names of modules, which are imported.
    Imports,
}

/// The functions, by their qualified names.
const FUNCTIONS: &[(&str, Evaluates)] = {
    use Evaluates::{Formula, Imports, Runs, Template};
    &[
        ("PIL.ImageMath.eval", Formula),
        ("PIL.ImageMath.unsafe_eval", Formula),
        ("click.edit", Runs),
        ("click.launch", Runs),
        ("django.template.Template", Template),
        ("flask.render_template_string", Template),
        ("jinja2.Environment().from_string", Template),
        ("jinja2.DictLoader", Runs),
        ("jinja2.Environment().compile_expression", Formula),
        ("jinja2.FunctionLoader", Runs),
        ("jinja2.Template", Template),
        ("jinja2.environment.Template", Template),
        ("tornado.template.DictLoader", Runs),
        ("mcp.StdioServerParameters", Runs),
        ("mcp.client.stdio.StdioServerParameters", Runs),
        ("mcp.client.stdio.stdio_client", Runs),
        ("mcp.stdio_client", Runs),
        ("nltk.data.load", Runs),
        ("nltk.download", Runs),
        ("pytest.console_main", Runs),
        ("pytest.main", Runs),
        ("spacy.cli.download", Runs),
        ("sympy.S", Formula),
        ("sympy.sympify", Formula),
        ("torch.hub.load", Runs),
        ("torch.hub.load_state_dict_from_url", Runs),
        ("tornado.template.Template", Template),
        ("typer.launch", Runs),
        ("unittest.TestLoader().discover", Runs),
        ("bokeh.command*", Runs),
        ("dask.distributed.Client", Runs),
        ("dask.distributed.LocalCluster", Runs),
        ("duckdb.install_extension", Runs),
        ("encodings.search_function", Runs),
        ("inspect.getmembers_static", Runs),
        ("gensim.downloader.load", Runs),
        ("gensim.models.wrappers*", Runs),
        ("gensim.utils.check_output", Runs),
        ("jinja2.ModuleLoader", Runs),
        ("jinja2.PackageLoader", Runs),
        ("jinja2.PrefixLoader", Runs),
        ("jinja2.Template.from_code", Runs),
        ("jinja2.Environment().compile", Runs),
        ("keras.saving.deserialize_keras_object", Runs),
        ("mypy.api.run", Runs),
        ("nltk.java", Runs),
        ("nltk.config_java", Runs),
        ("numba.pycc*", Runs),
        ("patsy.dmatrices", Formula),
        ("patsy.dmatrix", Formula),
        ("pygments.cmdline*", Runs),
        ("spacy.cli*", Runs),
        ("statsmodels.formula*", Formula),
        ("sympy.preview", Runs),
        ("sympy.autowrap", Runs),
        ("sympy.ufuncify", Runs),
        ("sympy.utilities.autowrap*", Runs),
        ("transformers.Tool", Runs),
        ("celery.utils.imports*", Runs),
        ("docxtpl.DocxTemplate().render", Runs),
        ("h5py.h5pl*", Runs),
        ("lark.Lark.load", Runs),
        ("lark.Lark.deserialize", Runs),
        ("lxml.etree.XSLT", Runs),
        ("oracledb.init_oracle_client", Runs),
        ("polars.Expr.deserialize", Runs),
        ("polars.LazyFrame.deserialize", Runs),
        ("polars.plugins*", Runs),
        ("xml.sax.make_parser", Imports),
    ]
};
/// Methods of processes that somebody else started.
const PROCESS_METHODS: [&str; 5] = ["kill", "terminate", "send_signal", "suspend", "resume"];
/// Words by which a formula leaves what it is about.
const WORDS: [&str; 13] = [
    "eval",
    "exec",
    "open",
    "compile",
    "getattr",
    "setattr",
    "delattr",
    "globals",
    "locals",
    "vars",
    "breakpoint",
    "input",
    "import",
];

impl Checker<'_> {
    /// A function that evaluates what it is given.
    pub(super) fn judge_evaluator(&mut self, path: &str, arguments: &Arguments, at: TextSize) {
        // The first walks only learn.
        if !self.judging {
            return;
        }
        let trusts = arguments.keyword("trust_remote_code").is_some_and(|trust| *trust != Val::Int(0))
            || arguments.open && self.source.contains("trust_remote_code");
        if trusts || arguments.keyword("safe_mode") == Some(&Val::Int(0)) {
            self.doubt(at, path);
        }
        self.judge_texts(path, arguments, at);
        self.judge_loader(path, arguments, at);
        // Among the members of a module are those that it imports; a class has none.
        let of_module = |value: &Val| {
            value.as_path().is_some_and(|path| !path.contains(|c: char| c == '(' || c.is_ascii_uppercase()))
        };
        if path == "inspect.getmembers" && arguments.get(0).is_some_and(|value| value.each().iter().any(of_module)) {
            self.doubt(at, path);
        }
        let is = |known: &str| match known.strip_suffix('*') {
            Some(start) => path.starts_with(start),
            None => known == path || rules::is_alias(known, path),
        };
        let Some((_, kind)) = FUNCTIONS.iter().find(|(known, _)| is(known)) else { return };
        match (kind, arguments.get(0)) {
            (Evaluates::Imports, None) if arguments.keywords.is_empty() && !arguments.open => {}
            (Evaluates::Runs | Evaluates::Imports, _) | (_, None) => self.doubt(at, path),
            (kind, Some(given)) => self.judge_text(path, *kind, given, at),
        }
    }

    /// Functions that load or start what their arguments name.
    fn judge_loader(&mut self, path: &str, arguments: &Arguments, at: TextSize) {
        let root = path.split('.').next().unwrap_or_default();
        let last = path.rsplit('.').next().unwrap_or_default();
        let first = arguments.get(0);
        let is_text = |fits: &dyn Fn(&str) -> bool| {
            first.is_some_and(|value| value.each().iter().filter_map(Val::as_str).any(fits))
        };
        let loads = match (root, last) {
            // Annotations that are texts are evaluated.
            ("pydantic", "create_model") | ("msgspec", "defstruct") | ("dataclasses", "make_dataclass") => {
                arguments.all().skip(1).any(|value| holds_text_kind(value, 0))
            }
            // `module:name` imports the module.
            ("gymnasium" | "gym", "make" | "make_vec" | "spec") => is_text(&|name| name.contains(':')),
            ("selenium", last) if last.ends_with("Service") => {
                first.is_some() || arguments.keyword("executable_path").is_some()
            }
            ("spacy", "load") => !is_text(&is_spacy_model),
            ("datasets", "load_dataset") => is_text(&|name| name.ends_with(".py") || name.starts_with(['.', '/', '~'])),
            ("keras" | "tensorflow", "load_model") => is_text(&|name| name.ends_with(".h5") || name.ends_with(".hdf5")),
            ("pyodbc", "connect") => is_text(&|text| {
                let tight: String = text.to_ascii_lowercase().chars().filter(|c| !c.is_whitespace()).collect();
                tight
                    .split("driver=")
                    .skip(1)
                    .any(|rest| rest.trim_start_matches('{').starts_with(['/', '.', '~', '\\']))
            }),
            ("fileinput", _) => arguments.keyword("inplace").is_some_and(|value| *value != Val::Int(0)),
            ("dotenv", "load_dotenv") => {
                let on = arguments.keyword("override").is_some_and(|value| *value != Val::Int(0));
                let named = first.is_some() || arguments.keyword("dotenv_path").is_some();
                arguments.keyword("stream").is_some() || on && named
            }
            ("netrc", "netrc") => true,
            // Memory that runs.
            ("mmap", "mmap") => arguments.keyword("prot").is_some() || arguments.positional.len() > 3,
            // A file of figures is read as marshalled data.
            ("pstats", "Stats" | "add" | "load_stats") => first.is_some_and(|value| {
                value
                    .each()
                    .iter()
                    .any(|one| one.is_literal() || matches!(one, Val::Private(_) | Val::File(_) | Val::Opaque))
            }),
            // Names of fields become source.
            ("attr" | "attrs", "make_class") => true,
            ("http", "request") => {
                let usual = |method: &Val| {
                    matches!(method.as_str(), Some("GET" | "HEAD" | "OPTIONS" | "POST" | "PUT" | "PATCH") | None)
                };
                first.is_some_and(|method| !method.each().iter().all(usual))
            }
            ("unittest", "dict") if path.ends_with("patch.dict") => {
                let environment =
                    |value: &Val| value.as_path() == Some("os.environ") || value.as_str() == Some("os.environ");
                if first.is_some_and(|value| value.each().iter().any(environment)) {
                    let given = Arguments {
                        positional: arguments.positional.iter().skip(1).cloned().collect(),
                        keywords: arguments.keywords.clone(),
                        open: arguments.open,
                    };
                    self.doubt_variables("update", &given, at);
                }
                false
            }
            _ => false,
        };
        if loads {
            self.doubt(at, path);
        }
    }

    /// What a function of a package is told in words: names of what no program may reach, and code.
    fn judge_texts(&mut self, path: &str, arguments: &Arguments, at: TextSize) {
        let of_package = !known::is_of_library(path.split('.').next().unwrap_or_default());
        let is_formula = path.starts_with("sympy.");
        for text in arguments.all().filter_map(Val::as_str) {
            let target = text.strip_prefix("ext://").unwrap_or(text);
            let is_name = target.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.".contains(&byte));
            let names_route = is_name && (rules::member(target).is_some() || rules::module(target).is_some());
            // `logging.getLogger("socket")` only names a log.
            let takes_names = of_package || path.starts_with("unittest.mock") || path.starts_with("logging.config");
            let calls = of_package && text.contains('(') && leaves(text, Evaluates::Formula);
            let patches = path.starts_with("unittest.mock")
                && ["os.", "sys.", "builtins."].iter().any(|front| text.starts_with(front));
            if patches || names_route && takes_names || calls || is_formula && leaves(text, Evaluates::Formula) {
                self.doubt(at, path);
            }
        }
        // What a package keeps to itself is not what it is known for.
        let of_tuple = ["_replace", "_asdict", "_make", "_fields", "_field_defaults"];
        let is_inner = |part: &str| {
            part.starts_with('_') && !part.starts_with("__") && !of_tuple.contains(&part.trim_end_matches("()"))
        };
        if path.split('.').skip(1).any(is_inner) {
            self.doubt(at, path);
        }
    }

    /// A method of an object that nobody knows: data frames evaluate text, processes can be ended.
    pub(super) fn judge_method(&mut self, base: &Val, name: &str, arguments: &Arguments, at: TextSize) {
        if !self.judging {
            return;
        }
        let of_package = |package: &str| matches!(base, Val::Path(path) if path.starts_with(package));
        if matches!(name, "query" | "eval") && !of_package("builtins.") {
            let given = arguments.get(0).or_else(|| arguments.keyword("expr"));
            let of_frame = self.packages.contains("pandas") && !self.methods.contains(name);
            for given in given.into_iter().flat_map(Val::each) {
                match given {
                    Val::Text(text) if leaves(text, Evaluates::Formula) => self.refuse_route(at, name, Route::Code),
                    Val::Text(_) | Val::Class(_) | Val::Int(_) | Val::Plain => {}
                    // A text that is worked out at run time may say anything.
                    _ if of_frame => self.doubt(at, name),
                    _ => {}
                }
            }
        }
        if PROCESS_METHODS.contains(&name) && (of_package("psutil.") || self.source.contains("psutil")) {
            self.refuse_route(at, name, Route::Process);
        }
    }

    fn judge_text(&mut self, path: &str, kind: Evaluates, given: &Val, at: TextSize) {
        for value in given.each() {
            match value {
                Val::Text(text) if leaves(text, kind) => self.refuse_route(at, path, Route::Code),
                Val::Text(_) | Val::Int(_) => {}
                _ => self.doubt(at, path),
            }
        }
    }

    /// Whether annotations may be other than those that stand in the source, where they are read with the rest.
    pub(super) fn sets_annotations(&self) -> bool {
        ["__annotations__", "make_dataclass", "TypedDict(", "NamedTuple(", "type(", "setattr"]
            .iter()
            .any(|word| self.source.contains(word))
    }

    pub(super) fn doubt(&mut self, at: TextSize, path: &str) {
        let message = format!("what `{path}` makes of what it is given is not known");
        self.refuse(at, "code-unknown", message, Some("a person has to agree, or write the text out"));
    }
}

/// Whether a field of a class that is made at run time has a text for its kind, or one that is not known.
fn holds_text_kind(value: &Val, depth: usize) -> bool {
    let calls = |kind: &Val| match kind {
        Val::Text(text) => depth > 0 && text.contains(['(', '[', '.']),
        Val::Opaque | Val::Partial(..) | Val::Private(_) => true,
        Val::Unknown => depth > 0,
        _ => false,
    };
    value.each().iter().any(|value| match value {
        Val::Seq(parts) if depth < 3 => {
            // Name and kind, or kind and default.
            parts.iter().take(2).any(|part| holds_text_kind(part, depth + 1))
                || parts.len() > 2
                    && parts.iter().any(|part| matches!(part, Val::Seq(_)) && holds_text_kind(part, depth + 1))
        }
        Val::Dict(items) if depth < 3 => items.iter().any(|(_, kind)| holds_text_kind(kind, depth + 1)),
        one => calls(one),
    })
}

/// Whether a name is that of a model as they are published: language, kind, genre, size.
fn is_spacy_model(name: &str) -> bool {
    let parts: Vec<&str> = name.split('_').collect();
    parts.len() == 4
        && parts[0].len() <= 3
        && matches!(parts[1], "core" | "ent" | "dep" | "sent")
        && matches!(parts[3], "sm" | "md" | "lg" | "trf")
}

/// Whether text that is evaluated reaches for more than the values that it is about.
fn leaves(text: &str, kind: Evaluates) -> bool {
    if text.contains("__") {
        return true;
    }
    let words = || text.split(|c: char| !c.is_alphanumeric() && c != '_');
    match kind {
        Evaluates::Template => {
            let inside = text.contains("{{") || text.contains("{%");
            let reaches = ["attr", "cycler", "joiner", "lipsum", "namespace", "self", "config", "import"];
            inside && (text.contains('~') || words().any(|word| reaches.contains(&word)))
                || text.contains("\\x")
                || text.contains("\\u")
        }
        Evaluates::Formula | Evaluates::Runs | Evaluates::Imports => {
            text.contains('@') && text.contains('(') || words().any(|word| WORDS.contains(&word))
        }
    }
}
