//! Expressions: what they are worth, and what they reach.

use ruff_python_ast::{
    BoolOp, CmpOp, Comprehension, Expr, ExprSlice, FStringPart, InterpolatedStringElement, Number, UnaryOp,
};
use ruff_text_size::{Ranged as _, TextSize};
use unicode_normalization::UnicodeNormalization as _;

use super::rules::Route;
use super::value::{Source, Val};
use super::{ANNOTATIONS, Checker, MOST_STEPS, fold, rules, scope};
use crate::code::{Level, known};

/// The most elements of a constant that a comprehension is worked out over.
const MOST_ELEMENTS: usize = 256;

impl Checker<'_> {
    /// The value of an expression, as far as it is known; judges everything that it names on the way.
    pub(super) fn value(&mut self, expression: &Expr) -> Val {
        self.steps += 1;
        if self.steps > MOST_STEPS {
            return Val::Unknown;
        }
        stacker::maybe_grow(256 << 10, 4 << 20, || self.expression(expression))
    }

    fn expression(&mut self, expression: &Expr) -> Val {
        match expression {
            Expr::BoolOp(e) => {
                let values: Vec<Val> = e.values.iter().map(|value| self.value(value)).collect();
                match e.op {
                    BoolOp::And | BoolOp::Or => Val::any(values),
                }
            }
            Expr::Named(e) => {
                let value = self.value(&e.value);
                self.assign(&e.target, value.clone());
                value
            }
            Expr::BinOp(e) => {
                let left = self.value(&e.left);
                let right = self.value(&e.right);
                self.hand_over(e.start(), &left);
                self.hand_over(e.start(), &right);
                if super::loops::exhausts(&left, e.op, &right) {
                    self.ask_memory(e.start());
                }
                fold::operator(&left, e.op, &right)
            }
            Expr::UnaryOp(e) => {
                let value = self.value(&e.operand);
                match (e.op, value) {
                    (UnaryOp::USub, Val::Int(number)) => number.checked_neg().map_or(Val::Plain, Val::Int),
                    (UnaryOp::Invert, Val::Int(number)) => Val::Int(!number),
                    (UnaryOp::UAdd, Val::Int(number)) => Val::Int(number),
                    _ => Val::Plain,
                }
            }
            Expr::Lambda(e) => {
                let place = e.start().to_u32();
                let outer = (std::mem::take(&mut self.branches), std::mem::take(&mut self.loops));
                self.open_function(place, "<lambda>", e.parameters.as_deref(), false);
                let value = self.value(&e.body);
                self.hand_over(e.body.start(), &value);
                self.answer(value);
                self.close_function(outer);
                Val::Func(place)
            }
            Expr::If(e) => {
                self.value(&e.test);
                let value = self.value(&e.body);
                value.or(self.value(&e.orelse))
            }
            Expr::Dict(e) => {
                let mut items = Vec::with_capacity(e.items.len());
                let mut whole = true;
                for item in &e.items {
                    let key = item.key.as_ref().map(|key| self.value(key));
                    let value = self.value(&item.value);
                    self.hand_over(item.value.start(), &value);
                    match (key, value) {
                        (Some(key), value) => items.push((key, value)),
                        (None, Val::Dict(inner)) => items.extend(inner.iter().cloned()),
                        (None, _) => whole = false,
                    }
                }
                if whole {
                    Val::Dict(items.into())
                } else {
                    Val::Many(Val::any(items.into_iter().map(|(_, v)| v).chain([Val::Unknown])).into())
                }
            }
            Expr::Set(e) => self.sequence(&e.elts),
            Expr::List(e) => self.sequence(&e.elts),
            Expr::Tuple(e) => self.sequence(&e.elts),
            Expr::ListComp(e) => self.comprehension(&e.generators, &e.elt, None),
            Expr::SetComp(e) => self.comprehension(&e.generators, &e.elt, None),
            Expr::Generator(e) => self.comprehension(&e.generators, &e.elt, None),
            Expr::DictComp(e) => match &e.key {
                Some(key) => self.comprehension(&e.generators, &e.value, Some(key)),
                None => self.comprehension(&e.generators, &e.value, None),
            },
            Expr::Await(e) => self.value(&e.value),
            Expr::Yield(e) => {
                let value = e.value.as_deref().map_or(Val::Plain, |value| self.value(value));
                self.hand_over(e.start(), &value);
                self.answer(Val::Many(value.into()));
                Val::Unknown
            }
            Expr::YieldFrom(e) => {
                let value = self.value(&e.value);
                self.hand_over(e.start(), &value);
                self.answer(Val::Many(value.element().into()));
                Val::Unknown
            }
            Expr::Compare(e) => {
                let left = self.value(&e.left);
                let rights: Vec<Val> = e.comparators.iter().map(|value| self.value(value)).collect();
                match (&*e.ops, rights.as_slice()) {
                    ([CmpOp::Eq], [right]) if left.is_literal() && right.is_literal() => {
                        Val::Int(i64::from(left == *right))
                    }
                    ([CmpOp::NotEq], [right]) if left.is_literal() && right.is_literal() => {
                        Val::Int(i64::from(left != *right))
                    }
                    _ => Val::Plain,
                }
            }
            Expr::Call(e) => self.call(e),
            Expr::FString(e) => {
                let mut pieces = Vec::new();
                for part in &e.value {
                    match part {
                        FStringPart::Literal(text) => pieces.push(Val::text(text.as_str())),
                        FStringPart::FString(text) => {
                            for element in &text.elements {
                                pieces.push(self.interpolation(element));
                            }
                        }
                    }
                }
                fold::concat(&pieces)
            }
            Expr::TString(e) => {
                for text in &e.value {
                    for element in &text.elements {
                        self.interpolation(element);
                    }
                }
                Val::Unknown
            }
            Expr::StringLiteral(e) => {
                self.doubt_text(e.start(), e.value.to_str());
                Val::text(e.value.to_str())
            }
            Expr::BytesLiteral(e) => Val::bytes(e.value.bytes().collect::<Vec<u8>>()),
            Expr::NumberLiteral(e) => match &e.value {
                Number::Int(number) => number.as_i64().map_or(Val::Plain, Val::Int),
                Number::Float(_) | Number::Complex { .. } => Val::Plain,
            },
            Expr::BooleanLiteral(e) => Val::Int(i64::from(e.value)),
            Expr::NoneLiteral(_) | Expr::EllipsisLiteral(_) => Val::Plain,
            Expr::Attribute(e) => {
                let base = self.value(&e.value);
                let member = self.attribute(&base, &e.attr, e.attr.start());
                if self.judging && !matches!(member, Val::Func(_)) {
                    self.note_receiver(&e.value, &base);
                    self.doubt_kept_member(&base, &e.attr, e.attr.start());
                    self.own_receiver = false;
                }
                member
            }
            Expr::Subscript(e) => {
                let base = self.value(&e.value);
                if let Expr::Slice(bounds) = &*e.slice {
                    return self.slice(&base, bounds);
                }
                let key = self.value(&e.slice);
                self.subscript(&base, &key, e.start())
            }
            Expr::Starred(e) => self.value(&e.value),
            Expr::Name(e) => {
                // Python reads identifiers in their compatibility form: ｅｖａｌ is eval.
                if e.id.as_str().is_ascii() {
                    return self.name(e.id.as_str(), e.start());
                }
                let name: String = e.id.as_str().nfkc().collect();
                self.name(&name, e.start())
            }
            Expr::Slice(e) => {
                for bound in [&e.lower, &e.upper, &e.step].into_iter().flatten() {
                    self.value(bound);
                }
                Val::Unknown
            }
            Expr::IpyEscapeCommand(e) => {
                self.refuse_route(e.start(), "!", Route::Process);
                Val::Unknown
            }
        }
    }

    fn sequence(&mut self, elements: &[Expr]) -> Val {
        let mut values = Vec::with_capacity(elements.len());
        for element in elements {
            let value = self.value(element);
            self.hand_over(element.start(), &value);
            if matches!(element, Expr::Starred(_)) {
                match value.elements() {
                    Some(inner) => values.extend(inner),
                    None => return Val::Many(value.element().or(Val::any(values)).into()),
                }
            } else {
                values.push(value);
            }
        }
        Val::seq(values)
    }

    fn interpolation(&mut self, element: &InterpolatedStringElement) -> Val {
        match element {
            InterpolatedStringElement::Literal(text) => Val::text(&text.value),
            InterpolatedStringElement::Interpolation(inner) => {
                let value = self.value(&inner.expression);
                let formatted = inner.format_spec.as_ref().is_some_and(|spec| {
                    for element in &spec.elements {
                        self.interpolation(element);
                        if let InterpolatedStringElement::Interpolation(width) = element
                            && self
                                .value(&width.expression)
                                .as_int()
                                .is_some_and(|width| width > super::loops::MOST_DIGITS)
                        {
                            self.ask_memory(width.expression.start());
                        }
                    }
                    true
                });
                match fold::string(&value) {
                    Val::Opaque => Val::Opaque,
                    _ if formatted => Val::Unknown,
                    text => text,
                }
            }
        }
    }

    /// What a name stands for, judged.
    fn name(&mut self, name: &str, at: TextSize) -> Val {
        let value = self.look_up(name);
        for value in value.each() {
            if let Val::Path(path) = value {
                match &**path {
                    // Modules are judged where they are imported; these cannot be.
                    "builtins" if name == "__builtins__" => self.refuse_route(at, name, Route::Loader),
                    "importlib.machinery" if name.starts_with("__") => self.refuse_route(at, name, Route::Loader),
                    path if path.starts_with("builtins.") => self.judge(at, path),
                    // `import importlib.metadata` binds the parent too; what is asked of it is judged there.
                    "importlib" => {}
                    path => {
                        if rules::member(path).is_some() || rules::module(path).is_some() {
                            self.judge(at, path);
                        }
                    }
                }
            }
        }
        value
    }

    /// What an attribute of a value is, judged.
    pub(super) fn attribute(&mut self, base: &Val, name: &str, at: TextSize) -> Val {
        if name.is_ascii() {
            return base.map(|base| self.one_attribute(base, name, at));
        }
        let name: String = name.nfkc().collect();
        base.map(|base| self.one_attribute(base, &name, at))
    }

    fn one_attribute(&mut self, base: &Val, name: &str, at: TextSize) -> Val {
        if rules::is_inner(name) && !self.inner_is_own(base, name) {
            self.refuse_route(at, name, Route::Loader);
            return Val::Unknown;
        }
        if rules::is_ancestry(name) && self.is_foreign_class(base) {
            self.refuse_route(at, name, Route::Loader);
            return Val::Unknown;
        }
        if name == ANNOTATIONS && !matches!(base, Val::Names(_)) {
            return Val::Names(ANNOTATIONS.into());
        }
        match base {
            Val::Path(path) => {
                if name == "__dict__" {
                    return Val::Names(path.clone());
                }
                if name == "__class__" && path.ends_with(')') {
                    return Val::Unknown;
                }
                let whole = format!("{path}.{name}");
                self.judge(at, &whole);
                let root = path.split('.').next().unwrap_or_default();
                if self.judging
                    && !path.contains('(')
                    && (!known::is_member_understood(path, name)
                        || super::given::reaches(root, name)
                        || super::given::is_member_unknown(path, name)
                        || !known::is_of_library(root) && super::given::is_listener(root, name))
                {
                    self.doubt(at, &whole);
                }
                if path.contains('(')
                    && let Some(route) = rules::telling(name)
                {
                    self.judge_telling(at, name, route);
                }
                self.doubt_attribute(base, name, at);
                let is_setting = is_secret_member(name)
                    && name.len() > 4
                    && known::is_of_package(root)
                    && !name.bytes().any(|byte| byte.is_ascii_lowercase());
                if is_setting {
                    return Val::path(whole).or(Val::Private(Source::Variable(name.into())));
                }
                // Modules carry those around that they import.
                match rules::carried(name).filter(|module| !path.contains('(') && **module != **path) {
                    Some(module) if rules::module(module).is_some() && rules::module(&whole).is_none() => {
                        self.judge_reached(at, module);
                        Val::path(module)
                    }
                    Some(module) => Val::path(whole).or(Val::path(module)),
                    None => Val::path(whole),
                }
            }
            Val::File(file) if Self::file_attribute(file, name).is_some() => {
                Self::file_attribute(file, name).unwrap_or(Val::Unknown)
            }
            Val::Listed(_) if Self::file_attribute(base, name).is_some() => {
                Self::file_attribute(base, name).unwrap_or(Val::Unknown)
            }
            Val::Names(path) => {
                let walks = matches!(name, "values" | "items" | "copy" | "popitem" | "update");
                match &**path {
                    ANNOTATIONS => {
                        if matches!(name, "update" | "setdefault" | "pop" | "popitem" | "clear" | "__setitem__") {
                            self.doubt(at, ANNOTATIONS);
                        }
                    }
                    // What is local is no module, unless one was imported there.
                    "locals" if walks && self.scopes.last().is_some_and(scope::Scope::holds_modules) => {
                        self.doubt(at, "locals");
                    }
                    "locals" => {}
                    path if walks => self.refuse_computed(at, &format!("a name in `{path}`")),
                    _ => {}
                }
                Val::Unknown
            }
            // Functions and classes of the program have the attributes that it gave them.
            _ if base.is_literal() && name == "__class__" => Val::path("builtins.object"),
            _ if base.is_literal() => Val::Unknown,
            _ => {
                if let Some(route) = rules::telling(name)
                    && !self.methods.contains(name)
                {
                    self.judge_telling(at, name, route);
                }
                self.doubt_attribute(base, name, at);
                let stored = self.attributes.get(name).cloned();
                if let (Val::Unknown, None) = (base, &stored)
                    && is_secret_member(name)
                {
                    return Val::Unknown.or(Val::Private(Source::Variable(name.into())));
                }
                // What something private has is private too.
                if let (Val::Private(_), None) = (base, &stored) {
                    return base.clone();
                }
                match (stored, rules::telling_module(name)) {
                    (Some(stored), _) => stored.or(if base.is_opaque() { Val::Opaque } else { Val::Unknown }),
                    (None, Some(module)) => Val::path(module),
                    (None, None) if base.is_opaque() => Val::Opaque,
                    (None, None) => Val::Unknown,
                }
            }
        }
    }

    /// Whether an attribute that leads inward only leads into the program itself.
    fn inner_is_own(&self, base: &Val, name: &str) -> bool {
        match name {
            "__subclasses__" => matches!(base, Val::Class(_)),
            // A class that decides how its attributes are found must be able to ask for the usual way.
            "__getattribute__" | "__reduce__" | "__reduce_ex__" => {
                let inside =
                    self.within.last().is_some_and(|(function, _)| function == name || function.starts_with("__"));
                inside && (matches!(base, Val::Path(path) if matches!(&**path, "builtins.super()" | "builtins.object")))
            }
            "_module" => !matches!(base, Val::Path(path) if path.starts_with("warnings")) && !base.is_opaque(),
            "__self__" => !matches!(base, Val::Path(_)) && !base.is_opaque(),
            _ => false,
        }
    }

    /// Whether the value is, or belongs to, a class that the program did not write.
    fn is_foreign_class(&self, base: &Val) -> bool {
        base.is_literal() || base.is_opaque() || matches!(base, Val::Path(path) if path.starts_with("builtins."))
    }

    /// `base[key]`, judged.
    pub(super) fn subscript(&mut self, base: &Val, key: &Val, at: TextSize) -> Val {
        if base.each().len() * key.each().len() > 64 {
            return Val::Opaque;
        }
        let mut found = Vec::new();
        for base in base.each() {
            for key in key.each() {
                found.push(self.one_subscript(base, key, at));
            }
        }
        Val::any(found)
    }

    fn one_subscript(&mut self, base: &Val, key: &Val, at: TextSize) -> Val {
        match base {
            Val::Names(path) => self.named(path, key, at),
            Val::Path(path) if &**path == "sys.modules" => match key {
                Val::Text(name) if &**name == "__main__" => Val::Unknown,
                Val::Text(name) => {
                    self.judge_reached(at, name);
                    Val::path(name)
                }
                _ => {
                    self.refuse_computed(at, "a module in `sys.modules`");
                    Val::Unknown
                }
            },
            Val::Path(path) if matches!(&**path, "os.environ" | "os.environb" | "streamlit.secrets") => {
                super::paths::environment(key)
            }
            Val::Private(Source::Environment) => super::paths::environment(key),
            Val::Path(path) => {
                // `list[int]` is still a list, and a generic alias of a class makes that class.
                if key.each().iter().any(|key| key.as_str() == Some("__builtins__")) {
                    self.refuse_route(at, "__builtins__", Route::Loader);
                }
                match path.ends_with(')') {
                    // Folders of the interpreter.
                    true if path.starts_with("sysconfig.") => Val::Opaque,
                    // Part of what a package answered is of the package too.
                    true if known::is_of_package(path.split(['.', '(']).next().unwrap_or_default()) => {
                        Val::path(format!("{path}[]"))
                    }
                    true => Val::Unknown,
                    false => Val::Path(path.clone()),
                }
            }
            _ => {
                if let Val::Text(name) = key
                    && rules::is_inner(name)
                    && !base.is_literal()
                {
                    self.refuse_route(at, name, Route::Loader);
                }
                fold::index(base, key)
            }
        }
    }

    /// A name in the dictionary behind a module.
    pub(super) fn named(&mut self, path: &str, key: &Val, at: TextSize) -> Val {
        match (path, key) {
            (ANNOTATIONS, _) => Val::Unknown,
            ("globals" | "locals", Val::Text(name)) => self.name(name, at),
            ("globals" | "locals", key) => {
                let inner = ["__builtins__", "__loader__", "__spec__"];
                if path == "globals" && inner.iter().any(|name| key.may_be(name)) || key.is_opaque() {
                    self.refuse_computed(at, "a name in `globals()`");
                }
                Val::Unknown
            }
            (path, Val::Text(name)) => self.one_attribute(&Val::path(path), name, at),
            (path, key) => {
                self.computed(&Val::path(path), key, at);
                Val::Unknown
            }
        }
    }

    /// An attribute whose name is not known: refused where it may be one that is refused.
    pub(super) fn computed(&mut self, base: &Val, name: &Val, at: TextSize) {
        let refuse = match base {
            Val::Path(path) if rules::is_guarded(path) => {
                let mut names = rules::refused_members(path).chain(["__dict__", "__loader__", "__builtins__"]);
                let carried = ["os", "sys", "builtins", "subprocess", "_os", "_sys"];
                let harmless = matches!(name, Val::Partial(start, _) if start.len() > 1)
                    && !names.any(|refused| {
                        name.may_be(refused) || matches!(name, Val::Partial(start, _) if start.starts_with(refused))
                    })
                    && !carried.iter().any(|module| name.may_be(module));
                !harmless
            }
            Val::Path(path) if path.starts_with("builtins.") && !path.contains('(') => true,
            base if base.is_literal() => {
                !matches!(name, Val::Partial(start, _) if start.len() > 1 && !start.starts_with('_'))
            }
            Val::Opaque => true,
            _ => name.is_opaque(),
        };
        if refuse {
            self.refuse_computed(at, "a member");
        }
    }

    fn slice(&mut self, base: &Val, bounds: &ExprSlice) -> Val {
        let bounds = [&bounds.lower, &bounds.upper, &bounds.step].map(|bound| match bound {
            None => Some(None),
            Some(bound) => match self.value(bound) {
                Val::Int(number) => Some(Some(number)),
                Val::Plain => Some(None),
                _ => None,
            },
        });
        base.map(|base| fold::slice(base, bounds))
    }

    fn comprehension(&mut self, generators: &[Comprehension], element: &Expr, key: Option<&Expr>) -> Val {
        let place = element.start().to_u32() | 1 << 31;
        let Some((first, rest)) = generators.split_first() else { return Val::Unknown };
        let over = self.value(&first.iter);
        self.enter(place, true, false);
        let known =
            if rest.is_empty() { over.elements().filter(|elements| elements.len() <= MOST_ELEMENTS) } else { None };
        let result = match known {
            Some(elements) => {
                let mut values = Vec::with_capacity(elements.len());
                let mut whole = true;
                for value in elements {
                    self.assign(&first.target, value);
                    let tests: Vec<Val> = first.ifs.iter().map(|test| self.value(test)).collect();
                    if tests.iter().any(|test| test.as_int() == Some(0)) {
                        continue;
                    }
                    whole &= tests.iter().all(|test| test.as_int().is_some());
                    let key = key.map(|key| self.value(key));
                    let value = self.value(element);
                    self.hand_over(element.start(), &value);
                    values.push((key, value));
                }
                if !whole {
                    Val::Many(Val::any(values.into_iter().map(|(_, value)| value)).into())
                } else if key.is_some() {
                    Val::Dict(values.into_iter().map(|(key, value)| (key.unwrap_or(Val::Unknown), value)).collect())
                } else {
                    Val::seq(values.into_iter().map(|(_, value)| value).collect())
                }
            }
            None => {
                // Of the environment, only what belongs to the program.
                let over = if first.ifs.iter().any(picks_by_name) && over.private().contains(&&Source::Environment) {
                    Val::Many(Val::Private(Source::Part).into())
                } else {
                    over
                };
                self.assign(&first.target, over.element());
                for test in &first.ifs {
                    self.value(test);
                }
                for generator in rest {
                    let over = self.value(&generator.iter);
                    self.assign(&generator.target, over.element());
                    for test in &generator.ifs {
                        self.value(test);
                    }
                }
                if let Some(key) = key {
                    self.value(key);
                }
                let value = self.value(element);
                self.hand_over(element.start(), &value);
                Val::Many(value.into())
            }
        };
        self.leave();
        result
    }

    /// Whether the level forbids changes.
    pub(super) fn is_readonly(&self) -> bool {
        self.level == Level::Readonly
    }
}

/// Whether a condition is `name.startswith("..")`.
fn picks_by_name(test: &Expr) -> bool {
    let Expr::Call(call) = test else { return false };
    let Expr::Attribute(method) = &*call.func else { return false };
    let text = call.arguments.args.first().and_then(|argument| argument.as_string_literal_expr());
    method.attr.as_str() == "startswith" && text.is_some_and(|text| text.value.to_str().len() > 2)
}

/// Whether a member of whatever object holds a secret, by its name.
fn is_secret_member(name: &str) -> bool {
    const SECRET: [&str; 7] =
        ["access_token", "api_key", "passwd", "password", "private_key", "refresh_token", "secret"];
    let is_setting = name.len() > 4 && !name.bytes().any(|byte| byte.is_ascii_lowercase());
    SECRET.contains(&name)
        || is_setting && crate::code::places::variable(name, None) != crate::code::places::Variable::Plain
}
