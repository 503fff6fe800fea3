//! Calls whose danger lies in what they are given: loaders of data, timers of statements, settings of logs.

use ruff_text_size::TextSize;

use super::calls::Arguments;
use super::value::Val;
use super::{Checker, rules};

impl Checker<'_> {
    /// Members whose danger lies in the arguments.
    pub(super) fn judge_call(&mut self, path: &str, arguments: &Arguments, at: TextSize) {
        self.readonly_call(path, arguments, at);
        self.judge_evaluator(path, arguments, at);
        let Some(route) = rules::call(path) else { return };
        let harmless = match path {
            "yaml.load" | "yaml.load_all" => arguments.get(1).or_else(|| arguments.keyword("Loader")).is_some_and(|loader| {
                loader.each().iter().all(|loader| {
                    matches!(loader, Val::Path(path) if matches!(path.rsplit('.').next(), Some("SafeLoader" | "CSafeLoader" | "BaseLoader" | "CBaseLoader")))
                })
            }),
            "numpy.load" => arguments.keyword("allow_pickle").is_none_or(|pickle| *pickle == Val::Int(0)) && !arguments.open && arguments.positional.len() < 3,
            "torch.load" => arguments.keyword("weights_only") == Some(&Val::Int(1)),
            "timeit.timeit" | "timeit.repeat" | "timeit.Timer" => {
                let is_called = |value: &Val| matches!(value, Val::Func(_)) || value.as_path().is_some_and(|path| path != "sys.argv" && !path.contains('('));
                let runs_text = |value: Option<&Val>| value.is_some_and(|v| !v.each().iter().all(is_called));
                let statement = arguments.get(0).or_else(|| arguments.keyword("stmt"));
                let setup = arguments.get(1).or_else(|| arguments.keyword("setup"));
                let called = !runs_text(statement) && !runs_text(setup) && statement.is_some();
                !arguments.open && called
            }
            "logging.config.dictConfig" => arguments.get(0).is_some_and(harmless_logging),
            "typing.get_type_hints" | "typing_extensions.get_type_hints" => {
                !self.busy_annotation && !self.sets_annotations() && arguments.get(0).is_some_and(|value| !value.is_literal())
            }
            "inspect.get_annotations" | "inspect.signature" | "inspect.Signature.from_callable" => arguments.keyword("eval_str").is_none_or(|eval| *eval == Val::Int(0)) || !self.busy_annotation && !self.sets_annotations(),
            _ => false,
        };
        // Files that honest programs load too, and settings that are only known at run time.
        let honest = match path {
            "torch.load" | "numpy.load" | "importlib.metadata.entry_points" => true,
            "logging.config.dictConfig" => !matches!(arguments.get(0), Some(Val::Dict(_))),
            "timeit.timeit" | "timeit.repeat" | "timeit.Timer" => self.is_short_program(arguments),
            "yaml.load" | "yaml.load_all" => {
                arguments.get(1).or_else(|| arguments.keyword("Loader")).is_some_and(|loader| {
                    let full = |loader: &Val| loader.as_path().is_some_and(|path| path.ends_with("FullLoader"));
                    loader.each().iter().all(full)
                })
            }
            _ => false,
        };
        match harmless {
            true => {}
            false if honest => self.ask_route(at, path, route),
            false => self.refuse_route(at, path, route),
        }
    }

    /// Whether a statement to be timed is written out and breaks no rule. It sees nothing of this program.
    fn is_short_program(&self, arguments: &Arguments) -> bool {
        let part = |at: usize, name: &str| arguments.get(at).or_else(|| arguments.keyword(name));
        let program = match (part(0, "stmt"), part(1, "setup")) {
            (Some(Val::Text(statement)), None) => statement.to_string(),
            (Some(Val::Text(statement)), Some(Val::Text(setup))) => format!("{setup}\n{statement}"),
            _ => return false,
        };
        self.judging
            && !arguments.open
            && part(4, "globals").is_none()
            && super::findings(self.level, &program).is_empty()
    }
}

/// Whether a logging configuration names nothing that is called: no factory, no class outside of logging.
fn harmless_logging(value: &Val) -> bool {
    match value {
        Val::Dict(items) => items.iter().all(|(key, value)| match (key.as_str(), value) {
            (Some("()"), _) | (None, _) => false,
            (Some("class"), Val::Text(class)) => class.starts_with("logging."),
            (Some("class"), _) => false,
            (_, value) => harmless_logging(value),
        }),
        Val::Seq(values) => values.iter().all(harmless_logging),
        Val::Text(text) => !text.starts_with("ext://") || text.starts_with("ext://sys.std"),
        Val::Plain | Val::Int(_) => true,
        _ => false,
    }
}
