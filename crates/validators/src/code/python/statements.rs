//! Statements: what they bind, and the order in which things are looked at.

use ruff_python_ast::{
    Alias, ExceptHandler, Expr, Parameters, Pattern, Stmt, StmtClassDef, StmtFunctionDef, StmtImportFrom, TypeParam,
    TypeParams,
};
use ruff_text_size::{Ranged as _, TextSize};

use super::rules::Route;
use super::value::Val;
use super::{ANNOTATIONS, Checker, fold, rules};
use crate::code::Level;

impl Checker<'_> {
    pub(super) fn body(&mut self, statements: &[Stmt]) {
        for statement in statements {
            stacker::maybe_grow(256 << 10, 4 << 20, || self.statement(statement));
        }
    }

    fn branch(&mut self, statements: &[Stmt]) {
        self.branches += 1;
        self.body(statements);
        self.branches -= 1;
    }

    fn statement(&mut self, statement: &Stmt) {
        match statement {
            Stmt::FunctionDef(definition) => self.function(definition),
            Stmt::ClassDef(definition) => self.class(definition),
            Stmt::Return(statement) => {
                let value = statement.value.as_deref().map_or(Val::Plain, |value| self.value(value));
                self.hand_over(statement.start(), &value);
                let all = |value: &Val| {
                    matches!(value, Val::Path(path) if &**path == "os.environ")
                        || *value == Val::Private(super::value::Source::Environment)
                };
                if self.judging && value.each().iter().any(all) {
                    self.ask_effect(statement.start(), "code-reach", "the whole environment is handed on".to_owned());
                }
                self.answer(value);
            }
            Stmt::Delete(statement) => {
                for target in &statement.targets {
                    match target {
                        Expr::Name(name) => self.unbind(&name.id),
                        Expr::Subscript(target) => {
                            let base = self.value(&target.value);
                            self.value(&target.slice);
                            self.store_into(target.start(), &base, None);
                        }
                        other => {
                            self.value(other);
                        }
                    }
                }
            }
            Stmt::TypeAlias(statement) => {
                self.assign(&statement.name, Val::Unknown);
                self.type_parameters(statement.type_params.as_deref());
                self.value(&statement.value);
            }
            Stmt::Assign(statement) => {
                let value = self.value(&statement.value);
                if let (true, Expr::BinOp(sum), [target]) = (self.loops > 0, &*statement.value, &*statement.targets)
                    && is_doubled(target, &sum.left)
                    && is_doubled(target, &sum.right)
                {
                    self.judge_doubled(statement.start(), &value);
                }
                for target in &statement.targets {
                    self.assign(target, value.clone());
                }
            }
            Stmt::AugAssign(statement) => {
                let right = self.value(&statement.value);
                let before = self.value(&statement.target);
                let value = match fold::operator(&before, statement.op, &right) {
                    // How often a loop goes round is not known.
                    Val::Text(_) | Val::Partial(..) | Val::Unknown | Val::Any(_) if self.loops > 0 => Val::Opaque,
                    Val::Int(_) if self.loops > 0 => Val::Plain,
                    value => value,
                };
                if self.loops > 0 && is_doubled(&statement.target, &statement.value) {
                    self.judge_doubled(statement.start(), &before);
                }
                let value = match [&before, &right].into_iter().flat_map(Val::private).next() {
                    Some(source) if value.private().is_empty() => value.or(Val::Private(source.clone())),
                    _ => value,
                };
                self.hand_over(statement.start(), &right);
                if before.as_path().is_some_and(|path| path.starts_with("sys.path") || path.starts_with("os.environ")) {
                    self.store_into(statement.start(), &before, None);
                }
                self.assign(&statement.target, value);
            }
            Stmt::AnnAssign(statement) => {
                let kind = self.annotation(&statement.annotation);
                let value = statement.value.as_deref().map(|value| self.value(value));
                self.assign(&statement.target, value.or(kind).unwrap_or(Val::Unknown));
            }
            Stmt::For(statement) => {
                let over = self.value(&statement.iter);
                if over.each().iter().any(super::loops::is_without_end) && super::loops::never_ends(&statement.body) {
                    self.ask_endless(statement.start());
                }
                self.assign(&statement.target, over.element());
                self.loops += 1;
                let through =
                    std::mem::replace(&mut self.through, super::requests::through(&statement.target, &statement.iter));
                let turns = self.turns;
                self.turns = turns.saturating_mul(self.turns_of(&statement.iter));
                self.branch(&statement.body);
                self.turns = turns;
                self.through = through;
                self.loops -= 1;
                self.branch(&statement.orelse);
            }
            Stmt::While(statement) => {
                self.loops += 1;
                let test = self.value(&statement.test);
                if matches!(statement.body.as_slice(), [Stmt::Pass(_)]) {
                    self.ask_endless(statement.start());
                }
                let stays = matches!(test, Val::Int(1..)) || super::loops::runs_away(&statement.test, &statement.body);
                if stays && super::loops::never_ends(&statement.body) {
                    self.ask_endless(statement.start());
                }
                self.branch(&statement.body);
                self.loops -= 1;
                self.branch(&statement.orelse);
            }
            Stmt::If(statement) => {
                self.value(&statement.test);
                self.branch(&statement.body);
                for clause in &statement.elif_else_clauses {
                    if let Some(test) = &clause.test {
                        self.value(test);
                    }
                    self.branch(&clause.body);
                }
            }
            Stmt::With(statement) => {
                for item in &statement.items {
                    let value = self.value(&item.context_expr);
                    if let Some(target) = &item.optional_vars {
                        self.assign(target, value);
                    }
                }
                self.body(&statement.body);
            }
            Stmt::Match(statement) => {
                let subject = self.value(&statement.subject);
                for case in &statement.cases {
                    self.pattern(&case.pattern, &subject);
                    if let Some(guard) = &case.guard {
                        self.value(guard);
                    }
                    self.branch(&case.body);
                }
            }
            Stmt::Raise(statement) => {
                for value in [&statement.exc, &statement.cause].into_iter().flatten() {
                    self.value(value);
                }
            }
            Stmt::Try(statement) => {
                self.body(&statement.body);
                for ExceptHandler::ExceptHandler(handler) in &statement.handlers {
                    if let Some(kind) = &handler.type_ {
                        self.value(kind);
                    }
                    if let Some(name) = &handler.name {
                        self.catches = true;
                        self.bind(name, Val::Unknown);
                    }
                    self.branch(&handler.body);
                }
                self.branch(&statement.orelse);
                self.body(&statement.finalbody);
            }
            Stmt::Assert(statement) => {
                self.value(&statement.test);
                if let Some(message) = &statement.msg {
                    self.value(message);
                }
            }
            Stmt::Import(statement) => {
                for alias in &statement.names {
                    self.judge_import(alias.start(), &alias.name);
                    let root = alias.name.split('.').next().unwrap_or_default();
                    if self.scopes.last().is_some_and(|scope| scope.is_class) && rules::is_guarded(root) {
                        self.doubt(alias.start(), root);
                    }
                    match &alias.asname {
                        Some(name) => self.bind(name, Val::path(&*alias.name)),
                        None => {
                            let root = alias.name.split('.').next().unwrap_or_default();
                            self.bind(root, Val::path(root));
                        }
                    }
                }
            }
            Stmt::ImportFrom(statement) => self.import_from(statement),
            Stmt::Global(statement) => {
                if let Some(scope) = self.scopes.last_mut() {
                    scope.outer.extend(statement.names.iter().map(|name| name.to_string()));
                }
            }
            Stmt::Expr(statement) => {
                self.value(&statement.value);
            }
            Stmt::IpyEscapeCommand(statement) => {
                self.refuse_route(statement.start(), "!", Route::Process);
            }
            Stmt::Nonlocal(_) | Stmt::Pass(_) | Stmt::Break(_) | Stmt::Continue(_) => {}
        }
    }

    /// Bounds and defaults of type parameters are evaluated when somebody asks for them.
    fn type_parameters(&mut self, parameters: Option<&TypeParams>) {
        for parameter in parameters.into_iter().flat_map(|parameters| parameters.iter()) {
            let (bound, default) = match parameter {
                TypeParam::TypeVar(one) => (one.bound.as_deref(), one.default.as_deref()),
                TypeParam::TypeVarTuple(one) => (None, one.default.as_deref()),
                TypeParam::ParamSpec(one) => (None, one.default.as_deref()),
            };
            for value in [bound, default].into_iter().flatten() {
                self.value(value);
            }
        }
    }

    fn import_from(&mut self, statement: &StmtImportFrom) {
        let at = statement.start();
        let module = statement.module.as_deref().unwrap_or_default();
        if statement.level > 0 {
            if self.level >= Level::Strict {
                self.refuse(at, "code-import", "an import from the program's own package".to_owned(), None);
            }
            for alias in &statement.names {
                self.bind_own(&alias.name, alias.asname.as_ref().unwrap_or(&alias.name));
            }
            return;
        }
        // The same by an absolute name.
        if self.level < Level::Strict
            && super::own::is_own_module(module)
            && statement.names.iter().all(|alias| &*alias.name != "*")
        {
            if self.scopes.last().is_some_and(|scope| self.wrote.contains(&scope.place)) {
                self.doubt(at, module);
            }
            for alias in &statement.names {
                self.bind_own(&alias.name, alias.asname.as_ref().unwrap_or(&alias.name));
            }
            return;
        }
        // The parent of a module that only reads is not used itself.
        if module != "importlib" {
            self.judge_import(at, module);
        }
        for alias in &statement.names {
            self.import_member(module, alias);
        }
    }

    fn import_member(&mut self, module: &str, alias: &Alias) {
        if &*alias.name == "*" {
            self.judge_import(alias.start(), module);
            if !self.stars.iter().any(|star| star == module) {
                self.stars.push(module.to_owned());
            }
            return;
        }
        let value = self.attribute(&Val::path(module), &alias.name, alias.start());
        if module == "importlib" {
            self.judge_import(alias.start(), &format!("importlib.{}", alias.name));
        }
        self.bind(alias.asname.as_ref().unwrap_or(&alias.name), value);
    }

    fn function(&mut self, definition: &StmtFunctionDef) {
        for decorator in &definition.decorator_list {
            let value = self.value(&decorator.expression);
            if value.as_path() == Some("tenacity.retry") {
                self.ask_endless(decorator.start());
            }
        }
        let place = definition.start().to_u32();
        let method = self.scopes.last().is_some_and(|scope| scope.is_class)
            && !definition
                .decorator_list
                .iter()
                .any(|d| matches!(&d.expression, Expr::Name(n) if n.id.as_str() == "staticmethod"));
        if method {
            self.methods.insert(definition.name.to_string());
        }
        self.type_parameters(definition.type_params.as_deref());
        if let Some(returns) = &definition.returns {
            self.annotation(returns);
        }
        // A decorator may put anything in its place.
        let value = if definition.decorator_list.is_empty() || method {
            Val::Func(place)
        } else {
            Val::Func(place).or(Val::Unknown)
        };
        self.bind(&definition.name, value);
        if self.judging && super::loops::lets_everybody(definition) {
            let message = format!("`{}` lets everybody in", definition.name);
            self.ask_effect(definition.start(), "code-rights", message);
        }
        let outside = self.brings(definition);
        if self.judging && super::loops::calls_itself_always(definition) {
            self.ask_endless(definition.start());
        }
        let outer = self.outer_flow();
        self.open_function(place, &definition.name, Some(&definition.parameters), method);
        self.body(&definition.body);
        self.close_function(outer);
        if let Some(outside) = outside {
            self.brought = outside;
        }
    }

    /// Branches and loops around a definition say nothing about what happens inside.
    const fn outer_flow(&mut self) -> (usize, usize) {
        let outer = (self.branches, self.loops);
        self.branches = 0;
        self.loops = 0;
        outer
    }

    /// Begins a function: its defaults are looked at outside, its parameters bound inside.
    pub(super) fn open_function(&mut self, place: u32, name: &str, parameters: Option<&Parameters>, method: bool) {
        let mut defaults = Vec::new();
        let mut names = Vec::new();
        let mut positional = 0;
        if let Some(parameters) = parameters {
            positional = parameters.posonlyargs.len() + parameters.args.len();
            for parameter in parameters.iter_non_variadic_params() {
                let kind = parameter.parameter.annotation.as_deref().and_then(|kind| self.annotation(kind));
                let default = parameter.default.as_deref().map(|default| {
                    let value = self.value(default);
                    self.hand_over(default.start(), &value);
                    value
                });
                names.push(parameter.parameter.name.to_string());
                defaults.push((kind, default));
            }
        }
        let function = self.functions.entry(place).or_default();
        function.parameters.clone_from(&names);
        function.positional = positional;
        function.method = method;
        let received: Vec<Option<Val>> = names.iter().map(|name| function.received.get(name).cloned()).collect();
        self.enter(place, true, false);
        self.within.push((name.to_owned(), place));
        for ((name, (kind, default)), received) in names.iter().zip(defaults).zip(received) {
            let value = match (received, default) {
                (Some(received), Some(default)) => received.or(default),
                (Some(received), None) => received,
                // A default of `None` says nothing about what is given.
                (None, Some(default)) if !matches!(default, Val::Plain) => {
                    kind.unwrap_or_else(|| default.or(Val::Unknown))
                }
                _ => kind.unwrap_or(Val::Unknown),
            };
            self.bind(name, value);
        }
        for rest in parameters.into_iter().flat_map(|p| [&p.vararg, &p.kwarg]).flatten() {
            if let Some(kind) = &rest.annotation {
                self.annotation(kind);
            }
            self.bind(&rest.name, Val::Unknown);
        }
    }

    pub(super) fn close_function(&mut self, outer: (usize, usize)) {
        self.leave();
        self.within.pop();
        (self.branches, self.loops) = outer;
    }

    pub(super) fn answer(&mut self, value: Val) {
        let Some((_, place)) = self.within.last() else { return };
        if let Some(function) = self.functions.get_mut(place) {
            function.answers = Some(match function.answers.take() {
                Some(before) => before.or(value),
                None => value,
            });
        }
    }

    fn class(&mut self, definition: &StmtClassDef) {
        self.type_parameters(definition.type_params.as_deref());
        for decorator in &definition.decorator_list {
            self.value(&decorator.expression);
        }
        let place = definition.start().to_u32();
        if let Some(arguments) = &definition.arguments {
            for base in &arguments.args {
                let value = self.value(base);
                self.hand_over(base.start(), &value);
                self.inherit(place, &value);
            }
            for keyword in &arguments.keywords {
                let value = self.value(&keyword.value);
                self.hand_over(keyword.start(), &value);
            }
        }
        self.bind(&definition.name, Val::Class(place));
        let outer = self.outer_flow();
        self.enter(place, false, true);
        self.body(&definition.body);
        let made_by = self.look_up("__init__");
        if let (Val::Func(init), true) = (made_by, self.scopes.last().is_some_and(|scope| scope.binds("__init__"))) {
            self.makers.insert(place, init);
        }
        self.leave();
        (self.branches, self.loops) = outer;
    }

    /// Looks at an annotation; answers what a value of that kind is, where that is known.
    pub(super) fn annotation(&mut self, annotation: &Expr) -> Option<Val> {
        if let Expr::StringLiteral(text) = annotation {
            let calls = text.value.to_str().contains('(');
            self.busy_annotation |= calls;
            // Packages evaluate annotations of what they are given.
            if calls {
                self.doubt(annotation.start(), text.value.to_str());
            }
            return None;
        }
        let value = self.value(annotation);
        for value in value.each() {
            match value {
                Val::Text(text) if text.contains('(') => {
                    self.busy_annotation = true;
                    self.doubt(annotation.start(), "an annotation");
                }
                Val::Opaque | Val::Partial(..) => self.busy_annotation = true,
                // What a function is given may be a text.
                Val::Unknown => {
                    self.busy_annotation |= matches!(annotation, Expr::Name(name) if self.is_parameter(&name.id));
                }
                _ => {}
            }
        }
        value.as_path().filter(|path| !path.starts_with("builtins.")).map(|path| Val::path(format!("{path}()")))
    }

    /// Whether a name is one that a function around this place is given.
    fn is_parameter(&self, name: &str) -> bool {
        let given = |place: &u32| self.functions.get(place).is_some_and(|f| f.parameters.iter().any(|p| p == name));
        self.within.iter().any(|(_, place)| given(place))
    }

    pub(super) fn assign(&mut self, target: &Expr, value: Val) {
        match target {
            Expr::Name(name) => {
                // A class can be asked for everything it has.
                if self.scopes.last().is_some_and(|scope| scope.is_class) {
                    self.hand_over(target.start(), &value);
                }
                self.bind(&name.id, value);
            }
            Expr::Tuple(target) => self.unpack(&target.elts, &value),
            Expr::List(target) => self.unpack(&target.elts, &value),
            Expr::Starred(target) => self.assign(&target.value, value),
            Expr::Attribute(target) => {
                self.hand_over(target.start(), &value);
                let base = self.value(&target.value);
                if self.judging && super::settings::is_off(&target.attr, &value) && !base.is_literal() {
                    self.ask_effect(
                        target.start(),
                        "code-rights",
                        format!("`{}` leaves a protection out", target.attr),
                    );
                }
                let on = matches!(value, Val::Int(1..));
                let powers =
                    value.each().iter().any(|value| crate::code::settings::lets_in(&target.attr, value.as_str(), on));
                if self.judging && powers && !matches!(&*target.value, Expr::Name(name) if name.id.as_str() == "self") {
                    self.ask_effect(target.start(), "code-rights", format!("`{}` lets somebody in", target.attr));
                }
                if self.judging
                    && value.as_int().is_some_and(|number| number > super::loops::MOST_DIGITS)
                    && target.attr.as_str() == "prec"
                {
                    self.ask_memory(target.start());
                }
                self.store_attribute(target.start(), &base, &target.attr);
                for path in base.each().iter().filter_map(Val::as_path) {
                    self.doubt_replaced(target.start(), &format!("{path}.{}", target.attr), &value);
                    self.dials_from_now(path, &target.attr, &value);
                }
                self.remember(&target.attr, value);
            }
            Expr::Subscript(target) => {
                self.hand_over(target.start(), &value);
                let base = self.value(&target.value);
                let key = self.value(&target.slice);
                self.store_into(target.start(), &base, Some(&key));
                let is_setting =
                    |path: &&str| path.starts_with("matplotlib.") || matches!(*path, "os.environ" | "os.environb");
                for path in base.each().iter().filter_map(Val::as_path).filter(|path| !is_setting(path)) {
                    self.doubt_replaced(target.start(), path, &value);
                }
                self.store_private(&target.value, &value);
                // What a container holds from now on is no longer what was written down.
                if let Expr::Name(name) = &*target.value
                    && let Val::Seq(_) | Val::Dict(_) = base
                {
                    let element = base.element().or(value);
                    self.bind(&name.id, Val::Many(element.into()));
                }
            }
            other => {
                self.value(other);
            }
        }
    }

    /// Something private is put into an object: it holds it from then on.
    fn store_private(&mut self, holder: &Expr, value: &Val) {
        let Some(source) = value.private().first().copied().cloned() else { return };
        let name = match holder {
            Expr::Name(name) => name,
            Expr::Attribute(inner) => match &*inner.value {
                Expr::Name(name) if name.id.as_str() != "self" => name,
                _ => return,
            },
            _ => return,
        };
        let before = self.look_up(&name.id);
        if !before.is_literal()
            && !before.each().iter().any(|value| matches!(value, Val::Path(path) if !path.contains('(')))
        {
            self.bind(&name.id, before.or(Val::Private(source)));
        }
    }

    fn unpack(&mut self, targets: &[Expr], value: &Val) {
        let elements = value.elements().filter(|elements| elements.len() == targets.len());
        for (at, target) in targets.iter().enumerate() {
            let value = match (&elements, target) {
                (_, Expr::Starred(_)) => Val::Many(value.element().into()),
                (Some(elements), _) => elements[at].clone(),
                (None, _) => value.element(),
            };
            self.assign(target, value);
        }
    }

    /// An attribute of a known object is set.
    fn store_attribute(&mut self, at: TextSize, base: &Val, name: &str) {
        for base in base.each() {
            if let Val::Path(path) = base {
                let whole = format!("{path}.{name}");
                // What imports find, or what the interpreter calls, is put in place of something else.
                if matches!(&*whole, "sys.path" | "sys.modules" | "os.environ" | "os.environb") {
                    self.store_into(at, &Val::path(&whole), None);
                } else {
                    self.judge(at, &whole);
                }
                self.doubt_stored(at, &whole);
            }
        }
        if name == ANNOTATIONS {
            self.doubt(at, name);
        }
        if rules::is_inner(name) {
            self.refuse_route(at, name, Route::Loader);
        }
    }

    /// A key of a known object is set or deleted.
    pub(super) fn store_into(&mut self, at: TextSize, base: &Val, key: Option<&Val>) {
        for base in base.each() {
            match base {
                Val::Path(path) if matches!(&**path, "sys.path" | "sys.modules") => {
                    let message = format!("a change of `{path}` decides what later imports load");
                    match &**path {
                        "sys.path" => self.ask(at, Route::Loader.rule(), message, None),
                        _ => self.refuse(at, Route::Loader.rule(), message, None),
                    }
                }
                Val::Path(path) if matches!(&**path, "os.environ" | "os.environb") => {
                    if self.level == Level::Readonly {
                        self.refuse_route(at, path, Route::Write);
                    }
                    self.doubt_variable(key, at);
                }
                Val::Path(path) if path.starts_with("matplotlib.") => self.doubt_setting(key, at),
                Val::Names(path) if &**path == ANNOTATIONS => self.doubt(at, ANNOTATIONS),
                Val::Names(path)
                    if key.is_none_or(|key| key.may_be("__builtins__"))
                        || &**path != "globals" && &**path != "locals" =>
                {
                    self.refuse_computed(at, &format!("a name in `{path}`"));
                }
                _ => {}
            }
        }
    }

    fn pattern(&mut self, pattern: &Pattern, subject: &Val) {
        match pattern {
            Pattern::MatchValue(pattern) => {
                self.value(&pattern.value);
            }
            Pattern::MatchSequence(pattern) => {
                let elements = subject.elements().filter(|elements| elements.len() == pattern.patterns.len());
                for (at, inner) in pattern.patterns.iter().enumerate() {
                    let value = elements.as_ref().map_or_else(|| subject.element(), |elements| elements[at].clone());
                    self.pattern(inner, &value);
                }
            }
            Pattern::MatchMapping(pattern) => {
                for key in &pattern.keys {
                    self.value(key);
                }
                for inner in &pattern.patterns {
                    self.pattern(inner, &Val::Unknown);
                }
                if let Some(rest) = &pattern.rest {
                    self.bind(rest, Val::Unknown);
                }
            }
            Pattern::MatchClass(pattern) => {
                self.value(&pattern.cls);
                // `case object(name=x)` reads an attribute.
                for keyword in &pattern.arguments.keywords {
                    let value = self.attribute(subject, &keyword.attr, keyword.start());
                    self.pattern(&keyword.pattern, &value);
                }
                for inner in &pattern.arguments.patterns {
                    self.pattern(inner, subject);
                }
            }
            Pattern::MatchStar(pattern) => {
                if let Some(name) = &pattern.name {
                    self.bind(name, Val::Many(subject.element().into()));
                }
            }
            Pattern::MatchAs(pattern) => {
                if let Some(inner) = &pattern.pattern {
                    self.pattern(inner, subject);
                }
                if let Some(name) = &pattern.name {
                    self.bind(name, subject.clone());
                }
            }
            Pattern::MatchOr(pattern) => {
                for inner in &pattern.patterns {
                    self.pattern(inner, subject);
                }
            }
            Pattern::MatchSingleton(_) => {}
        }
    }
}

/// Whether an expression is the name that is assigned to.
fn is_doubled(target: &Expr, value: &Expr) -> bool {
    matches!((target, value), (Expr::Name(target), Expr::Name(value)) if target.id == value.id)
}
