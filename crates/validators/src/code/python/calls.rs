//! Calls: what Python's own functions make of their arguments, and which arguments make a call a forbidden one.

use ruff_python_ast::{Expr, ExprCall};
use ruff_text_size::{Ranged as _, TextSize};

use super::rules::Route;
use super::scope::join;
use super::value::{Source, Val};
use super::{ANNOTATIONS, Checker, fold, own, rules};
use crate::code::{known, patterns};

/// Functions that do nothing with a module but look at it.
const LOOKERS: [&str; 14] = [
    "bool",
    "callable",
    "delattr",
    "dir",
    "getattr",
    "hasattr",
    "hash",
    "id",
    "isinstance",
    "issubclass",
    "print",
    "repr",
    "type",
    "vars",
];

/// The arguments of one call.
pub(super) struct Arguments {
    pub(super) positional: Vec<Val>,
    pub(super) keywords: Vec<(String, Val)>,
    /// Whether some of them are only known at run time (`*x`, `**x`).
    pub(super) open: bool,
}

impl Arguments {
    pub(super) fn get(&self, at: usize) -> Option<&Val> {
        self.positional.get(at)
    }

    pub(super) fn keyword(&self, name: &str) -> Option<&Val> {
        self.keywords.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Val> {
        self.positional.iter().chain(self.keywords.iter().map(|(_, value)| value))
    }
}

impl Checker<'_> {
    pub(super) fn call(&mut self, call: &ExprCall) -> Val {
        let at = call.start();
        // A method of a constant is worked out; the constant is looked at once.
        if let Expr::Attribute(method) = &*call.func {
            let base = self.value(&method.value);
            let place = method.attr.start();
            let callee = self.attribute(&base, &method.attr, place);
            let arguments = self.arguments(call, &callee, at);
            self.note_receiver(&method.value, &base);
            // What else it may be, and whose it is, says nothing of what it is.
            let of_call = |base: &Val| matches!(base, Val::Path(path) if path.contains('('));
            let typed = base.each().iter().any(|base| of_call(base) || matches!(base, Val::Object(_) | Val::File(_)));
            self.readonly_method(place, &base, &method.attr, &arguments);
            self.judge_method(&base, &method.attr, &arguments, place);
            self.picks = self.judging && own::picked(call) == own::Picked::Some;
            for base in base.each() {
                if !(typed && matches!(base, Val::Unknown | Val::Private(_))) {
                    self.doubt_method(base, &method.attr, &arguments, place);
                }
                self.doubt_call(Some(base), &method.attr, &arguments, place);
                self.judge_call_effect(Some(base), &method.attr, &arguments, place);
            }
            self.own_receiver = false;
            self.picks = false;
            self.judge_settings(Some(&base), &method.attr, &arguments, place);
            self.judge_brought(call, Some(&base), &callee, &method.attr);
            self.judge_each(call, &base, &method.attr);
            self.judge_own_method(call, &base, &method.attr, place);
            self.judge_moved_rows(&method.attr, &arguments, place);
            self.run_given(&method.attr, &arguments, place);
            self.judge_environment(&callee, &arguments, place);
            self.taint(&method.value, &base, &method.attr, &arguments);
            self.judge_session(&base, &method.attr, &arguments, place);
            self.dials(Some(&base), &callee, &method.attr, &arguments);
            let result = self.method(&base, &method.attr, &callee, &arguments, at);
            let result = self.keep_private(Some(&base), &callee, &arguments, result);
            self.note_read(&result);
            return result;
        }
        let callee = self.value(&call.func);
        let arguments = self.arguments(call, &callee, at);
        self.doubt_callee(call, &callee);
        if let Some((base, name)) = self.gotten(&call.func) {
            for base in base.each() {
                self.doubt_method(base, &name, &arguments, at);
                self.doubt_call(Some(base), &name, &arguments, at);
                self.judge_call_effect(Some(base), &name, &arguments, at);
            }
        }
        let named = match &*call.func {
            Expr::Name(name) => name.id.as_str(),
            _ => "",
        };
        self.judge_settings(None, named, &arguments, at);
        self.judge_brought(call, None, &callee, named);
        for path in callee.each().iter().filter_map(Val::as_path) {
            let (module, name) = path.rsplit_once('.').unwrap_or(("", path));
            self.doubt_call(Some(&Val::path(module)), name, &arguments, at);
            self.judge_call_effect(Some(&Val::path(module)), name, &arguments, at);
        }
        self.judge_own_function(&call.func, &callee, at);
        if let Some(path) = callee.each().iter().find_map(Val::as_path).map(str::to_owned) {
            self.run_given(path.rsplit('.').next().unwrap_or_default(), &arguments, at);
        }
        self.judge_environment(&callee, &arguments, at);
        self.dials(None, &callee, named, &arguments);
        let result = self.apply(&callee, &arguments, at);
        let result = self.keep_private(None, &callee, &arguments, result);
        self.note_read(&result);
        result
    }

    /// The object and the name, where a method is asked for by a text: `getattr(x, "name")(..)`.
    fn gotten(&mut self, function: &Expr) -> Option<(Val, String)> {
        let Expr::Call(inner) = function else { return None };
        let Expr::Name(getter) = &*inner.func else { return None };
        let [object, name, ..] = &*inner.arguments.args else { return None };
        if getter.id.as_str() != "getattr"
            || !self.judging
            || matches!(object, Expr::Call(call) if call.func.is_call_expr())
        {
            return None;
        }
        let name = self.value(name).as_str().map(str::to_owned)?;
        Some((self.value(object), name))
    }

    fn arguments(&mut self, call: &ExprCall, callee: &Val, at: TextSize) -> Arguments {
        let looks = |value: &Val| matches!(value, Val::Path(path) if path.strip_prefix("builtins.").is_some_and(|name| LOOKERS.contains(&name)));
        let looker = callee.each().iter().all(looks);
        let mut arguments = Arguments { positional: Vec::new(), keywords: Vec::new(), open: false };
        for argument in &call.arguments.args {
            let value = self.value(argument);
            for text in value.each().iter().filter_map(Val::as_str) {
                self.doubt_file(text, argument.start());
            }
            if !looker {
                self.hand_over(argument.start(), &value);
            }
            self.judge_own_value(argument, &value);
            if matches!(argument, Expr::Starred(_)) {
                match value.elements() {
                    Some(elements) => arguments.positional.extend(elements),
                    None => arguments.open = true,
                }
            } else {
                arguments.positional.push(value);
            }
        }
        for keyword in &call.arguments.keywords {
            let value = self.value(&keyword.value);
            self.hand_over(at, &value);
            match (&keyword.arg, &value) {
                (Some(name), _) => arguments.keywords.push((name.to_string(), value)),
                (None, Val::Dict(items)) => {
                    for (key, value) in items.iter() {
                        match key.as_str() {
                            Some(key) => arguments.keywords.push((key.to_owned(), value.clone())),
                            None => arguments.open = true,
                        }
                    }
                }
                (None, _) => arguments.open = true,
            }
        }
        arguments
    }

    fn method(&mut self, base: &Val, name: &str, callee: &Val, arguments: &Arguments, at: TextSize) -> Val {
        let mut results = Vec::new();
        for base in base.each() {
            results.push(match base {
                Val::Text(text) if matches!(name, "format" | "format_map") => {
                    self.fields(text, at);
                    fold::method(base, name, &arguments.positional, &arguments.keywords)
                }
                Val::Names(path) if matches!(name, "get" | "pop" | "setdefault" | "__getitem__") => {
                    let key = arguments.get(0).cloned().unwrap_or(Val::Unknown);
                    let found = Val::any(key.each().iter().map(|key| self.named(path, key, at)));
                    match arguments.get(1) {
                        Some(default) => found.or(default.clone()),
                        None => found,
                    }
                }
                base if base.is_literal() || matches!(base, Val::Opaque) => {
                    if matches!(name, "append" | "extend" | "insert" | "add" | "update" | "setdefault") {
                        Val::Unknown
                    } else {
                        fold::method(base, name, &arguments.positional, &arguments.keywords)
                    }
                }
                Val::File(file) => self.file_method(file, name, arguments),
                Val::Listed(_) if name == "open" => Val::path("builtins.open()"),
                Val::Listed(_) => self.file_method(base, name, arguments),
                Val::Private(Source::Environment) if matches!(name, "get" | "pop") => {
                    arguments.get(0).map_or_else(|| base.clone(), super::paths::environment)
                }
                Val::Private(Source::File) if matches!(name, "get" | "pop") => Val::Private(Source::Part),
                Val::Private(_) => base.clone(),
                Val::Path(_) | Val::Class(_) => continue,
                // `path.replace(".csv", ".json")`
                Val::Unknown if name == "replace" && arguments.positional.len() == 2 => match arguments.get(1) {
                    Some(Val::Text(end)) if end.starts_with('.') => Val::Partial("".into(), end.clone()),
                    _ => continue,
                },
                // Text methods on an unknown value keep it unknown, unless they put it together from pieces.
                _ if arguments.all().any(Val::is_opaque)
                    && matches!(name, "join" | "format" | "replace" | "translate") =>
                {
                    Val::Opaque
                }
                _ => continue,
            });
        }
        let rest: Vec<Val> = callee
            .each()
            .iter()
            .filter(|callee| matches!(callee, Val::Path(_) | Val::Func(_) | Val::Class(_)))
            .cloned()
            .collect();
        if !rest.is_empty() {
            results.push(self.apply(&Val::any(rest), arguments, at));
        }
        Val::any(results)
    }

    /// Fields of a format text that walk into their values.
    fn fields(&mut self, text: &str, at: TextSize) {
        let walks = text.split('{').skip(1).any(|field| {
            let field = field.split(['}', ':', '!']).next().unwrap_or_default();
            field.contains(".__") || field.contains("[__")
        });
        if walks {
            self.refuse(at, Route::Loader.rule(), "a format field that reads inner attributes".to_owned(), None);
        }
    }

    /// A value is called.
    pub(super) fn apply(&mut self, callee: &Val, arguments: &Arguments, at: TextSize) -> Val {
        let mut results = Vec::new();
        for callee in callee.each() {
            results.push(match callee {
                Val::Path(path) => self.apply_path(path, arguments, at),
                Val::Func(place) => self.apply_function(*place, arguments),
                Val::Class(place) => {
                    if let Some(maker) = self.makers.get(place).copied() {
                        self.apply_function(maker, arguments);
                    }
                    let object = Val::Object(*place);
                    self.inherited
                        .get(place)
                        .map_or_else(|| object.clone(), |inherited| object.clone().or(inherited.clone()))
                }
                Val::Opaque => Val::Opaque,
                _ => Val::Unknown,
            });
        }
        Val::any(results)
    }

    fn apply_function(&mut self, place: u32, arguments: &Arguments) -> Val {
        let Some(function) = self.functions.get_mut(&place) else { return Val::Unknown };
        let skip = usize::from(function.method);
        let names: Vec<String> = function.parameters.clone();
        let positional = function.positional;
        let given = names.iter().skip(skip).take(positional.saturating_sub(skip)).zip(&arguments.positional);
        let by_name =
            arguments.keywords.iter().filter(|(name, _)| names.contains(name)).map(|(name, value)| (name, value));
        for (name, value) in given.chain(by_name) {
            join(&mut function.received, name, value.clone());
        }
        if arguments.open {
            for name in names.iter().skip(skip) {
                join(&mut function.received, name, Val::Unknown);
            }
        }
        function.answers.clone().unwrap_or(Val::Unknown)
    }

    fn apply_path(&mut self, path: &str, arguments: &Arguments, at: TextSize) -> Val {
        if self.judging && super::loops::fills_memory(path, arguments) {
            self.ask_memory(at);
        }
        let is_slow = |value: &Val| value.as_str().is_some_and(patterns::takes_for_ever);
        if self.judging
            && (path.starts_with("re.") || path.starts_with("regex."))
            && arguments.get(0).is_some_and(|pattern| pattern.each().iter().any(is_slow))
        {
            self.ask(at, "code-endless", "a pattern that may take for ever".to_owned(), None);
        }
        if let Some(name) = path.strip_prefix("builtins.") {
            return self.apply_builtin(name, arguments, at);
        }
        self.judge_call(path, arguments, at);
        self.judge_started(path, arguments, at);
        self.judge_function(path, arguments, at);
        if let Some(value) = self.path_function(path, arguments) {
            return value;
        }
        let first = arguments.get(0);
        let constant = |value: Option<&Val>| match value {
            Some(Val::Bytes(bytes)) => Some(bytes.to_vec()),
            Some(Val::Text(text)) => Some(text.as_bytes().to_vec()),
            _ => None,
        };
        match path {
            "base64.b64decode"
            | "base64.standard_b64decode"
            | "base64.urlsafe_b64decode"
            | "binascii.a2b_base64"
            | "base64.decodebytes" => constant(first).map_or(Val::Opaque, |bytes| fold::unbase64(&bytes)),
            "binascii.unhexlify" | "binascii.a2b_hex" | "base64.b16decode" => {
                constant(first).map_or(Val::Opaque, |bytes| fold::unhex(&bytes))
            }
            "codecs.decode" | "codecs.encode" => match (constant(first), arguments.get(1).and_then(Val::as_str)) {
                (Some(bytes), Some(codec)) => fold::decode(&bytes, codec),
                _ => Val::Opaque,
            },
            "zlib.decompress"
            | "gzip.decompress"
            | "bz2.decompress"
            | "lzma.decompress"
            | "base64.b32decode"
            | "base64.b85decode"
            | "base64.a85decode"
            | "quopri.decodestring"
            | "urllib.parse.unquote"
            | "html.unescape" => Val::Opaque,
            "operator.add" | "operator.concat" => match arguments.positional.as_slice() {
                [a, b] => fold::operator(a, ruff_python_ast::Operator::Add, b),
                _ => Val::Unknown,
            },
            "operator.getitem" => match arguments.positional.as_slice() {
                [base, key] => self.subscript(base, key, at),
                _ => Val::Unknown,
            },
            "operator.attrgetter" | "operator.methodcaller" => {
                let names = if path.ends_with("methodcaller") {
                    &arguments.positional[..arguments.positional.len().min(1)]
                } else {
                    &arguments.positional
                };
                for name in names.iter().flat_map(Val::each) {
                    match name {
                        Val::Text(name) => {
                            if let Some(part) =
                                name.split('.').find(|part| rules::is_telling_member(part) || rules::is_ancestry(part))
                            {
                                self.refuse_route(at, part, Route::Loader);
                            }
                        }
                        Val::Opaque => self.refuse_computed(at, "a member"),
                        _ => {}
                    }
                }
                Val::Unknown
            }
            "sys.modules.get" | "sys.modules.pop" | "sys.modules.setdefault" | "sys.modules.__getitem__" => {
                let key = first.cloned().unwrap_or(Val::Unknown);
                self.subscript(&Val::path("sys.modules"), &key, at)
            }
            "sys.modules.values" | "sys.modules.items" | "sys.modules.copy" | "sys.modules.update" => {
                self.refuse_computed(at, "a module in `sys.modules`");
                Val::Unknown
            }
            "sys.path.insert" | "sys.path.append" | "sys.path.extend" | "sys.path.remove" | "sys.path.pop"
            | "sys.path.clear" | "sys.path.reverse" => {
                self.store_into(at, &Val::path("sys.path"), None);
                Val::Unknown
            }
            "string.Formatter().format" | "string.Formatter().vformat" => {
                if let Some(Val::Text(text)) = first {
                    self.fields(text, at);
                }
                Val::Unknown
            }
            "string.Formatter().get_field" => {
                self.refuse_route(at, path, Route::Loader);
                Val::Unknown
            }
            "types.SimpleNamespace" | "unittest.mock.patch" => {
                if path.ends_with("patch")
                    && first
                        .or_else(|| arguments.keyword("target"))
                        .and_then(Val::as_str)
                        .is_some_and(|target| rules::module(target).or_else(|| rules::member(target)).is_some())
                {
                    self.refuse_route(at, path, Route::Loader);
                }
                Val::Unknown
            }
            "functools.partial" => Val::Unknown,
            "importlib.import_module" => first.map_or(Val::Opaque, |name| {
                name.map(|name| name.as_str().map_or(Val::Opaque, |name| Val::path(name.trim_start_matches('.'))))
            }),
            "types.ModuleType" => Val::Unknown,
            path => Val::path(format!("{path}()")),
        }
    }

    fn apply_builtin(&mut self, name: &str, arguments: &Arguments, at: TextSize) -> Val {
        self.readonly_call(name, arguments, at);
        let first = arguments.get(0);
        match name {
            "getattr" => self.get_attribute(arguments, at),
            "setattr" | "delattr" => {
                if let Some(name) = arguments.get(1) {
                    for name in name.each() {
                        match name {
                            Val::Text(name) if rules::is_inner(name) => self.refuse_route(at, name, Route::Loader),
                            Val::Text(name) if &**name == ANNOTATIONS => self.doubt(at, ANNOTATIONS),
                            Val::Opaque => self.refuse_computed(at, "a member"),
                            _ => {}
                        }
                    }
                }
                if let (Some(Val::Text(name)), Some(value)) = (arguments.get(1), arguments.get(2)) {
                    let (name, value) = (name.to_string(), value.clone());
                    self.hand_over(at, &value);
                    self.remember(&name, value);
                }
                Val::Plain
            }
            "vars" => match first {
                None => Val::Names("locals".into()),
                Some(value) => value.map(|value| match value {
                    Val::Path(path) if !path.contains('(') => Val::Names(path.clone()),
                    _ => Val::Unknown,
                }),
            },
            "globals" => Val::Names("globals".into()),
            "locals" => Val::Names("locals".into()),
            "chr" => first
                .map_or(Val::Unknown, |value| value.map(|value| value.as_int().map_or(Val::Opaque, fold::character))),
            "ord" => first.map_or(Val::Plain, |value| {
                value.map(|value| match value {
                    Val::Text(text) => text.chars().next().map_or(Val::Plain, |c| Val::Int(i64::from(u32::from(c)))),
                    Val::Bytes(bytes) => bytes.first().map_or(Val::Plain, |byte| Val::Int(i64::from(*byte))),
                    _ => Val::Plain,
                })
            }),
            "str" => match (first, arguments.get(1)) {
                (Some(bytes @ Val::Bytes(_)), Some(codec)) => {
                    fold::method(bytes, "decode", std::slice::from_ref(codec), &[])
                }
                (Some(value), _) => fold::string(value),
                (None, _) => Val::text(""),
            },
            "str.maketrans" => fold::maketrans(&arguments.positional),
            "str.join" | "str.lower" | "str.upper" | "str.replace" | "str.format" | "bytes.decode" | "str.__add__"
            | "str.translate" => {
                let Some((base, rest)) = arguments.positional.split_first() else { return Val::Unknown };
                let method = name.split('.').next_back().unwrap_or_default();
                if let (Val::Text(text), "format") = (base, method) {
                    self.fields(text, at);
                }
                base.map(|base| fold::method(base, method, rest, &arguments.keywords))
            }
            "bytes" | "bytearray" => first.map_or(Val::Opaque, |value| {
                value.map(|value| match value {
                    Val::Bytes(_) => value.clone(),
                    Val::Text(text) => Val::bytes(text.as_bytes()),
                    Val::Seq(values) => {
                        let bytes: Option<Vec<u8>> =
                            values.iter().map(|v| v.as_int().and_then(|v| u8::try_from(v).ok())).collect();
                        bytes.map_or(Val::Opaque, Val::bytes)
                    }
                    _ => Val::Opaque,
                })
            }),
            "bytes.fromhex" | "bytearray.fromhex" => match first {
                Some(Val::Text(text)) => fold::unhex(text.as_bytes()),
                _ => Val::Opaque,
            },
            "int" => match (first, arguments.get(1)) {
                (Some(Val::Text(text)), base) => {
                    let base = base
                        .and_then(Val::as_int)
                        .and_then(|base| u32::try_from(base).ok())
                        .filter(|base| (2..=36).contains(base))
                        .unwrap_or(10);
                    i64::from_str_radix(text.trim().trim_start_matches("0x"), base).map_or(Val::Plain, Val::Int)
                }
                (Some(Val::Int(value)), _) => Val::Int(*value),
                _ => Val::Plain,
            },
            "list" | "tuple" | "set" | "frozenset" | "iter" | "sorted" => first.map_or_else(
                || Val::seq(Vec::new()),
                |value| {
                    value.map(|value| match (name, value.elements()) {
                        ("sorted" | "set" | "frozenset", _) => Val::Many(value.element().into()),
                        (_, Some(elements)) => Val::seq(elements),
                        _ => value.clone(),
                    })
                },
            ),
            "reversed" => first.map_or(Val::Unknown, |value| {
                value.map(|value| {
                    value.elements().map_or_else(
                        || Val::Many(Val::Opaque.into()),
                        |mut elements| {
                            elements.reverse();
                            Val::seq(elements)
                        },
                    )
                })
            }),
            "map" => self.map_call(arguments, at),
            "filter" => {
                if let (Some(function), Some(over)) = (first, arguments.get(1)) {
                    let one = Arguments { positional: vec![over.element()], keywords: Vec::new(), open: false };
                    let function = function.clone();
                    self.apply(&function, &one, at);
                    return Val::Many(over.element().into());
                }
                Val::Unknown
            }
            "next" | "min" | "max" if arguments.positional.len() == 1 => {
                first.map_or(Val::Unknown, |value| match value.elements() {
                    Some(elements) if name == "next" => elements.first().cloned().unwrap_or(Val::Unknown),
                    _ => value.element(),
                })
            }
            "zip" => Val::Many(Val::seq(arguments.positional.iter().map(Val::element).collect()).into()),
            "enumerate" => match first.and_then(Val::elements) {
                Some(elements) => Val::seq(
                    elements.into_iter().zip(0..).map(|(value, at)| Val::seq(vec![Val::Int(at), value])).collect(),
                ),
                None => Val::Many(Val::seq(vec![Val::Plain, first.map_or(Val::Unknown, Val::element)]).into()),
            },
            "range" => range(&arguments.positional),
            "dir" => Val::Many(Val::Unknown.into()),
            "dict" => {
                if first.is_none() && !arguments.open {
                    return Val::Dict(
                        arguments.keywords.iter().map(|(key, value)| (Val::text(key), value.clone())).collect(),
                    );
                }
                match first {
                    Some(dict @ (Val::Dict(_) | Val::Names(_))) => dict.clone(),
                    _ => Val::Unknown,
                }
            }
            "type" => {
                if arguments.positional.len() == 3 {
                    for value in &arguments.positional {
                        self.hand_over(at, value);
                    }
                }
                match first {
                    Some(Val::Func(_)) => Val::path("types.FunctionType"),
                    Some(value) if value.is_literal() => Val::path("builtins.object"),
                    _ => Val::Unknown,
                }
            }
            "open" => {
                self.judge_function("builtins.open", arguments, at);
                let native =
                    |value: &Val| matches!(value, Val::Text(path) if path.contains("/proc/") && path.ends_with("/mem"));
                if first.is_some_and(|path| path.each().iter().any(native)) {
                    self.refuse_route(at, "open", Route::Native);
                }
                let mode = arguments.get(1).or_else(|| arguments.keyword("mode"));
                if mode.is_some_and(|mode| !matches!(mode, Val::Text(mode) if !mode.contains(['w', 'a', 'x', '+']))) {
                    self.note_written(None, arguments);
                }
                Val::path("builtins.open()")
            }
            "super" => Val::path("builtins.super()"),
            "print" | "len" | "abs" | "round" | "sum" | "float" | "bool" | "hash" | "id" | "isinstance"
            | "issubclass" | "hasattr" | "callable" | "pow" | "divmod" => Val::Plain,
            "input" => Val::Unknown,
            "repr" | "ascii" | "format" | "hex" | "oct" | "bin" => Val::Unknown,
            _ => Val::Unknown,
        }
    }

    fn get_attribute(&mut self, arguments: &Arguments, at: TextSize) -> Val {
        let (Some(base), Some(name)) = (arguments.get(0).cloned(), arguments.get(1).cloned()) else {
            // The names come from somewhere else: only harmless objects may be asked.
            let base = arguments.get(0).cloned().unwrap_or(Val::Unknown);
            for base in base.each() {
                self.computed(base, &Val::Unknown, at);
            }
            return Val::Opaque;
        };
        let mut found = Vec::new();
        for name in name.each() {
            if let Val::Text(name) = name {
                found.push(self.attribute(&base, name, at));
                continue;
            }
            for base in base.each() {
                self.computed(base, name, at);
                if let Val::Partial(start, _) = name {
                    self.doubt_kept_member(base, start, at);
                }
            }
            // What was chosen at run time may be asked for more, but not for names made at run time.
            // Of modules of the language what could lead out was refused; of other objects the beginning of the name tells.
            let of_module = base.each().iter().all(|base| base.as_path().is_some_and(known::is_of_library));
            let begins = matches!(name, Val::Partial(start, _) if start.len() > 2);
            found.push(match name {
                _ if of_module || begins => Val::path("builtins.getattr()"),
                Val::Plain | Val::Int(_) => Val::Unknown,
                _ => Val::Opaque,
            });
        }
        if let Some(default) = arguments.get(2) {
            found.push(default.clone());
        }
        Val::any(found)
    }

    fn map_call(&mut self, arguments: &Arguments, at: TextSize) -> Val {
        let Some((function, lists)) = arguments.positional.split_first() else { return Val::Unknown };
        let known: Option<Vec<Vec<Val>>> = lists.iter().map(Val::elements).collect();
        let call = |checker: &mut Self, positional: Vec<Val>| {
            checker.apply(function, &Arguments { positional, keywords: Vec::new(), open: false }, at)
        };
        match known {
            Some(lists) if lists.iter().all(|list| list.len() <= 256) => {
                let length = lists.iter().map(Vec::len).min().unwrap_or(0);
                Val::seq(
                    (0..length).map(|at| call(self, lists.iter().map(|list| list[at].clone()).collect())).collect(),
                )
            }
            _ => {
                let element = call(self, lists.iter().map(Val::element).collect());
                Val::Many(element.into())
            }
        }
    }
}

fn range(arguments: &[Val]) -> Val {
    let numbers: Option<Vec<i64>> = arguments.iter().map(Val::as_int).collect();
    let (from, to, step) = match numbers.as_deref() {
        Some([to]) => (0, *to, 1),
        Some([from, to]) => (*from, *to, 1),
        Some([from, to, step]) if *step != 0 => (*from, *to, *step),
        _ => return Val::Many(Val::Plain.into()),
    };
    let mut values = Vec::new();
    let mut at = from;
    while if step > 0 { at < to } else { at > to } {
        if values.len() >= 256 {
            return Val::Many(Val::Plain.into());
        }
        values.push(Val::Int(at));
        at = at.saturating_add(step);
    }
    Val::seq(values)
}
