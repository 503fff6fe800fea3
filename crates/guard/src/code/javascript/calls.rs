//! Calls that are judged by what they are given: loaders, timers, files, statements, options.

use oxc_ast::ast::{
    Argument, ArrayExpressionElement, AssignmentExpression, CallExpression, Expression, NewExpression,
    ObjectExpression, ObjectPropertyKind,
};
use oxc_span::{GetSpan as _, Span};

use super::rules::Target;
use super::scope::{Thing, Things};
use super::{Pass, Reader, fold, rules, value};
use crate::code::Level;

/// Methods that compare their argument, or show it to people.
const COMPARING: &str = "includes has indexOf lastIndexOf startsWith endsWith add delete log warn error info debug hasOwn \
     hasOwnProperty equal strictEqual deepEqual toBe toEqual toHaveProperty describe it test";
/// Methods that take a statement.
const STATEMENTS: &str =
    "query execute raw exec unsafe prepare run all $queryRawUnsafe $executeRawUnsafe queryRaw batch";
/// Methods that write a file.
const WRITES: &str = "writeFile appendFile createWriteStream rename copyFile symlink link chmod chown truncate unlink rm \
     rmdir outputFile outputJson writeJson move copy writeTextFile write remove mkdir cp ensureFile open";

/// Parameters of a function that are followed.
const MOST_PARAMETERS: usize = 8;

fn listed(list: &str, name: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == name)
}

impl Reader<'_> {
    pub(super) fn call<'a>(&mut self, it: &CallExpression<'a>) {
        if self.pass == Pass::Declare {
            return;
        }
        let callee = self.things(&it.callee);
        let method = value::member_name(&it.callee).map(str::to_owned).or_else(|| self.computed_name(&it.callee));
        self.hand_to_callback(it, method.as_deref());
        if self.pass == Pass::Learn {
            self.hand_over(it, &callee, method.is_some());
        }
        if self.pass != Pass::Judge {
            return;
        }
        if callee.has(&Thing::Made) || self.runs_made(it, method.as_deref()) {
            self.made(it.span);
        }
        for path in callee.paths() {
            self.call_of(it, path);
        }
        let first = it.arguments.first().and_then(Argument::as_expression);
        let imported = callee.paths().find(|path| is_file_path(path)).and_then(|path| path.rsplit('.').next());
        let called = method.as_deref().or(imported).map(str::to_owned);
        if let Some(called) = &called {
            self.method(it, called, &callee);
        }
        let name = method.as_deref().unwrap_or_default();
        self.delete(it.span, name, &callee, &it.arguments);
        if !listed(COMPARING, name) {
            self.telling_arguments(&it.arguments);
        }
        if let Some(first) = first
            && listed(STATEMENTS, name)
        {
            self.statement(first);
        }
    }

    fn computed_name(&self, callee: &Expression<'_>) -> Option<String> {
        match fold::bare(callee) {
            Expression::ComputedMemberExpression(member) => self.text(&member.expression),
            _ => None,
        }
    }

    /// A module that is awaited by way of `then` is what the callback is called with.
    fn hand_to_callback<'a>(&mut self, it: &CallExpression<'a>, method: Option<&str>) {
        if method != Some("then") {
            return;
        }
        let Some(member) = fold::bare(&it.callee).as_member_expression() else { return };
        let module = self.things(member.object());
        let led = module.paths().any(|path| rules::is_guarded(path) || path.starts_with("node:"));
        if !led {
            return;
        }
        match it.arguments.first().and_then(Argument::as_expression).map(fold::bare) {
            Some(Expression::ArrowFunctionExpression(function)) => {
                self.called_with(function.span.start, 0, module);
            }
            Some(Expression::FunctionExpression(function)) => {
                self.called_with(function.span.start, 0, module);
            }
            _ => self.use_things(it.span, &module, super::Place::Value),
        }
    }

    /// Whether something that was made by a member chosen at run time is called by way of something else.
    fn runs_made(&self, it: &CallExpression<'_>, method: Option<&str>) -> bool {
        const CALLERS: &str = "setTimeout setInterval setImmediate queueMicrotask nextTick map forEach flatMap filter then \
             catch finally on once addEventListener reduce some every find sort apply call bind construct";
        let callee = match fold::bare(&it.callee) {
            Expression::Identifier(name) => Some(name.name.as_str()),
            _ => method,
        };
        if !callee.is_some_and(|callee| listed(CALLERS, callee)) {
            return false;
        }
        let is_made = |expression: &Expression<'_>| self.things(expression).has(&Thing::Made);
        let by_call = matches!(callee, Some("call" | "apply" | "bind"))
            && fold::bare(&it.callee).as_member_expression().is_some_and(|member| is_made(member.object()));
        by_call || it.arguments.iter().filter_map(Argument::as_expression).any(is_made)
    }

    /// What the functions of the program are called with.
    fn hand_over<'a>(&mut self, it: &CallExpression<'a>, callee: &Things, is_method: bool) {
        for function in callee.functions() {
            for (at, argument) in it.arguments.iter().enumerate() {
                let Some(argument) = argument.as_expression() else { break };
                let things = self.things(argument);
                self.called_with(function, at, things);
            }
        }
        // A list of what was made hands its parts to a callback.
        let object = fold::bare(&it.callee)
            .as_member_expression()
            .filter(|_| is_method)
            .map(|member| self.things(member.object()));
        let Some(object) = object else { return };
        for thing in [Thing::Made, Thing::Chosen] {
            if !object.has(&thing) {
                continue;
            }
            let arguments = it.arguments.iter().filter_map(Argument::as_expression);
            let callbacks: Vec<Things> = arguments.map(|argument| self.things(argument)).collect();
            for callback in callbacks.iter().flat_map(Things::functions) {
                self.called_with(callback, 0, thing.clone().into());
            }
        }
    }

    fn called_with(&mut self, function: u32, at: usize, things: Things) {
        if at >= MOST_PARAMETERS {
            return;
        }
        let parameters = self.parameters.entry(function).or_default();
        if parameters.len() <= at {
            parameters.resize(at + 1, Things::unknown());
        }
        if let Some(parameter) = parameters.get_mut(at) {
            parameter.add(things);
        }
    }

    fn call_of<'a>(&mut self, it: &CallExpression<'a>, path: &str) {
        let first = it.arguments.first().and_then(Argument::as_expression);
        if rules::is_require(path) {
            match first {
                Some(source) => self.use_source(it.span, source),
                None => self.ask(it.span, "code-computed-name", "a module is chosen at run time".to_owned()),
            }
        }
        if rules::takes_code(path) && first.is_none() && !it.arguments.is_empty() {
            self.ask(it.span, "code-dynamic", format!("`{path}` may run text as code"));
        }
        if rules::takes_code(path)
            && first.is_some_and(|first| {
                self.things(first).known.iter().any(|thing| matches!(thing, Thing::Text(_) | Thing::Worked))
            })
        {
            self.refuse(it.span, "code-dynamic", format!("`{path}` runs text as code"));
        }
        if self.level == Level::Readonly && path == "fetch" && !self.only_reads(it) {
            self.refuse(it.span, "code-write", "a request that may not only read".to_owned());
        }
        if matches!(path, "window.open" | "open")
            && first.and_then(|first| self.text(first)).is_some_and(|url| rules::is_active(&url))
        {
            self.refuse(it.span, "code-dynamic", "an address that runs code".to_owned());
        }
        let describes =
            path.starts_with("Object.getOwnPropertyDescriptor") || path.starts_with("Reflect.get") || is_getter(path);
        if describes {
            let objects: Vec<Things> =
                it.arguments.iter().filter_map(Argument::as_expression).map(|a| self.things(a)).collect();
            let key_known =
                it.arguments.iter().skip(1).filter_map(Argument::as_expression).all(|key| self.text(key).is_some());
            let is_led = |things: &Things| {
                things.functions().next().is_some()
                    || things.paths().any(|path| rules::is_function(path) || path.ends_with("getPrototypeOf()"))
            };
            if objects.iter().any(is_led) && (!key_known || path.ends_with('s')) {
                self.choose_message(it.span);
            }
        }
        self.options(it.span, path, &it.arguments);
    }

    fn choose_message(&mut self, span: Span) {
        self.ask(span, "code-computed-name", "a member is chosen by a name worked out at run time".to_owned());
    }

    pub(super) fn made(&mut self, span: Span) {
        self.ask(span, "code-computed-name", "what is called was made by a member chosen at run time".to_owned());
    }

    /// Options that a package is given.
    fn options<'a>(&mut self, span: Span, path: &str, arguments: &[Argument<'a>]) {
        for argument in arguments {
            let Some(Expression::ObjectExpression(object)) = argument.as_expression().map(fold::bare) else { continue };
            for property in &object.properties {
                let ObjectPropertyKind::ObjectProperty(property) = property else { continue };
                let Some(key) = property.key.static_name() else { continue };
                if let Some(why) = rules::option_asked(path, &key)
                    && !is_plain_option(&key, &property.value)
                {
                    self.ask(span, why.0, format!("the option `{key}` of `{path}` {}", why.1));
                }
            }
        }
    }

    fn method<'a>(&mut self, it: &CallExpression<'a>, method: &str, callee: &Things) {
        let text =
            |at: usize| it.arguments.get(at).and_then(Argument::as_expression).and_then(|first| self.text(first));
        let first = text(0);
        match method {
            "require" if first.as_deref().is_some_and(super::is_blocked) => {
                self.refuse(it.span, "code-loader", "a loader is asked for what may not be loaded".to_owned());
            }
            "eval" | "Function" | "evalScript" if !it.arguments.is_empty() && !self.own.contains(method) => {
                self.ask(it.span, "code-dynamic", format!("`{method}` runs text as code"));
            }
            "createElement"
                if first
                    .as_deref()
                    .is_some_and(|tag| listed("script iframe object embed", &tag.to_ascii_lowercase())) =>
            {
                self.ask(it.span, "code-page", "an element that runs code".to_owned());
            }
            "setAttribute" if first.as_deref().is_some_and(|name| name.to_ascii_lowercase().starts_with("on")) => {
                self.ask(it.span, "code-page", "an attribute that runs code".to_owned());
            }
            _ => {}
        }
        let bare = method.strip_suffix("Sync").unwrap_or(method);
        let is_file = callee.paths().any(is_file_path) || method != bare || listed("writeFile appendFile", bare);
        if is_file && listed(WRITES, bare) {
            let mut paths = it.arguments.iter().take(2).filter_map(Argument::as_expression);
            let outside = paths.any(|path| self.begins_outside(path));
            if outside {
                self.ask(it.span, "code-reach", "a file outside of the project is changed".to_owned());
            }
        }
    }

    /// Names of members that lead to the maker of functions or to the loader, as arguments.
    fn telling_arguments<'a>(&mut self, arguments: &[Argument<'a>]) {
        let telling = |text: &str| {
            text.len() < 100
                && !text.contains(' ')
                && text
                    .split(['.', '[', ']', '"', '\''])
                    .any(|part| matches!(part, "constructor" | "__proto__" | "mainModule" | "getBuiltinModule"))
        };
        for argument in arguments.iter().filter_map(Argument::as_expression) {
            let found = match fold::bare(argument) {
                Expression::ArrayExpression(array) => array.elements.iter().any(|element| {
                    !matches!(element, ArrayExpressionElement::SpreadElement(_) | ArrayExpressionElement::Elision(_))
                        && element
                            .as_expression()
                            .and_then(|element| self.text(element))
                            .is_some_and(|text| telling(&text))
                }),
                other => self.text(other).is_some_and(|text| telling(&text)),
            };
            if found {
                self.ask(
                    argument.span(),
                    "code-dynamic",
                    "the name of a member that leads out is handed on".to_owned(),
                );
            }
        }
    }

    fn statement<'a>(&mut self, first: &Expression<'a>) {
        let Some(text) = self.text(first) else { return };
        let word =
            text.trim_start().split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default().to_ascii_lowercase();
        let sql = "select insert update delete drop alter create truncate copy grant revoke attach pragma load call exec do set";
        if listed(sql, &word)
            && let Err(finding) = crate::arguments::check_statement(&text, false)
            && !finding.asks()
        {
            self.ask(first.span(), "code-statement", format!("a statement: {finding}"));
        }
    }

    /// Deletes of whole folders.
    fn delete<'a>(&mut self, span: Span, method: &str, callee: &Things, arguments: &[Argument<'a>]) {
        let name = if method.is_empty() || callee.paths().any(|path| path.starts_with("node:")) {
            callee.paths().next().and_then(|path| path.rsplit('.').next()).unwrap_or(method).to_owned()
        } else {
            method.to_owned()
        };
        let bare = name.strip_suffix("Sync").unwrap_or(&name);
        let extra = callee.paths().any(|path| path.starts_with("node:fs-extra."));
        let whole = match bare {
            "rm" | "rmdir" if matches!(arguments.first(), Some(Argument::SpreadElement(_))) => true,
            "rm" | "rmdir" => self.is_recursive(arguments.get(1)),
            "remove" if extra => true,
            "emptyDir" => true,
            "remove" => {
                name.ends_with("Sync") && callee.paths().all(|path| !path.starts_with("Deno."))
                    || self.is_recursive(arguments.get(1))
            }
            _ => false,
        };
        if !whole {
            return;
        }
        let target = arguments.first().and_then(Argument::as_expression);
        match target.map_or(Target::Unknown, |target| self.target(target)) {
            Target::Inside => {}
            Target::Outside => {
                self.refuse(span, "code-delete", format!("`{name}` of everything in a folder outside of the project"))
            }
            Target::Unknown => {
                self.ask(span, "code-delete", format!("`{name}` of everything in a folder that is not known"))
            }
        }
    }

    fn is_recursive(&self, options: Option<&Argument<'_>>) -> bool {
        let Some(options) = options else { return false };
        let Some(options) = options.as_expression() else { return true };
        match fold::bare(options) {
            Expression::ObjectExpression(object) => property(object, "recursive").is_on(),
            Expression::ArrowFunctionExpression(_) | Expression::FunctionExpression(_) => false,
            _ => true,
        }
    }

    fn target(&self, expression: &Expression<'_>) -> Target {
        if let Some(text) = self.text(expression) {
            return rules::delete_target(&text);
        }
        let things = self.things(expression);
        if things.paths().any(|path| is_home(path) || path == "process.cwd()") || self.begins_outside(expression) {
            return Target::Outside;
        }
        let temporary = |thing: &Thing| matches!(thing, Thing::Path(path) if path.contains("mkdtemp") || path.contains("makeTempDir"));
        if !things.open && !things.known.is_empty() && things.known.iter().all(temporary) {
            return Target::Inside;
        }
        match fold::bare(expression) {
            Expression::CallExpression(call) => {
                let joins = self
                    .things(&call.callee)
                    .paths()
                    .any(|path| matches!(path, "node:path.join" | "node:path.resolve" | "path.join" | "path.resolve"));
                if joins { self.joined(call.arguments.iter().map(Argument::as_expression)) } else { Target::Unknown }
            }
            Expression::TemplateLiteral(template) => {
                let anchored = template.quasis.first().is_some_and(|text| text.value.raw.is_empty())
                    && template.expressions.first().is_some_and(|first| self.is_anchor(first))
                    && template.expressions.len() == 1;
                let rest = template.quasis.last().and_then(|text| text.value.cooked.as_ref()).map(|text| text.as_str());
                match rest.and_then(|rest| rest.strip_prefix('/')) {
                    Some(rest) if anchored => rules::delete_target(rest),
                    _ => Target::Unknown,
                }
            }
            Expression::NewExpression(call)
                if self.things(&call.callee).paths().any(|path| matches!(path, "URL" | "node:url.URL")) =>
            {
                let based = call
                    .arguments
                    .get(1)
                    .and_then(Argument::as_expression)
                    .is_some_and(|base| self.things(base).paths().any(|path| path == "import.meta.url"));
                let text = call.arguments.first().and_then(Argument::as_expression).and_then(|first| self.text(first));
                match text {
                    Some(text) if based => rules::delete_target(&text),
                    _ => Target::Unknown,
                }
            }
            _ => Target::Unknown,
        }
    }

    /// Whether a text that is put together begins outside of the project.
    fn begins_outside(&self, expression: &Expression<'_>) -> bool {
        let home = |first: &Expression<'_>| self.things(first).paths().any(is_home);
        match fold::bare(expression) {
            Expression::TemplateLiteral(template) => {
                let start = template.quasis.first().map_or("", |text| text.value.raw.as_str());
                rules::is_outside(start) || start.is_empty() && template.expressions.first().is_some_and(home)
            }
            Expression::BinaryExpression(_) => {
                let mut first = expression;
                // Sums lean to the left.
                while let Expression::BinaryExpression(binary) = fold::bare(first) {
                    first = &binary.left;
                }
                home(first) || self.text(first).is_some_and(|text| rules::is_outside(&text))
            }
            Expression::CallExpression(call) => {
                let first = call.arguments.first().and_then(Argument::as_expression);
                let joins = matches!(value::member_name(&call.callee), Some("join" | "resolve"));
                joins
                    && first.is_some_and(|first| {
                        home(first) || self.text(first).is_some_and(|text| rules::is_outside(&text))
                    })
            }
            _ => {
                self.text(expression).is_some_and(|text| text.len() < 300 && rules::is_outside(&text))
                    || home(expression)
            }
        }
    }

    fn is_anchor(&self, expression: &Expression<'_>) -> bool {
        self.things(expression).paths().any(|path| {
            matches!(
                path,
                "__dirname" | "process.cwd()" | "import.meta.dirname" | "import.meta.dir" | "node:os.tmpdir()"
            ) || path.contains("mkdtemp")
                || path.starts_with("node:path.dirname()")
        })
    }

    /// Parts of a path that are put together: inside, if they begin in the project and end in a folder of it.
    fn joined<'e, 'a: 'e>(&self, parts: impl Iterator<Item = Option<&'e Expression<'a>>>) -> Target {
        let mut path = String::new();
        for (at, part) in parts.enumerate() {
            let Some(part) = part else { return Target::Unknown };
            match self.text(part) {
                Some(text) if at == 0 || !text.starts_with('/') => {
                    path.push_str(&text);
                    path.push('/');
                }
                Some(_) => return Target::Outside,
                None if at == 0 && self.is_anchor(part) => {}
                None if at == 0 => {
                    return match self.target(part) {
                        Target::Outside => Target::Outside,
                        Target::Inside | Target::Unknown => Target::Unknown,
                    };
                }
                None => return Target::Unknown,
            }
        }
        rules::delete_target(&path)
    }

    pub(super) fn construct<'a>(&mut self, it: &NewExpression<'a>) {
        if self.pass != Pass::Judge {
            return;
        }
        let callee = self.things(&it.callee);
        if callee.has(&Thing::Made) {
            self.made(it.span);
        }
        for path in callee.paths() {
            self.options(it.span, path, &it.arguments);
            let request = matches!(path, "Request" | "node:undici.Request");
            if self.level == Level::Readonly && request && !reading_options(it.arguments.get(1)) {
                self.refuse(it.span, "code-write", "a request that may not only read".to_owned());
            }
        }
        if !callee.paths().any(|path| matches!(path, "Set" | "Map")) {
            self.telling_arguments(&it.arguments);
        }
    }

    /// What an assignment changes besides names.
    pub(super) fn assignment(&mut self, it: &AssignmentExpression<'_>) {
        if self.pass != Pass::Judge {
            return;
        }
        let Some(member) = it.left.as_member_expression() else { return };
        let object = self.things(member.object());
        let name = member.static_property_name().map(str::to_owned).or_else(|| match member {
            oxc_ast::ast::MemberExpression::ComputedMemberExpression(member) => self.text(&member.expression),
            _ => None,
        });
        if object.paths().any(|path| path == "process.env") {
            self.set_environment(it.span, name.as_deref());
        }
        if object.paths().any(|path| matches!(path, "Object.prototype" | "Function.prototype")) {
            self.ask(it.span, "code-dynamic", "what every object has is changed".to_owned());
        }
    }

    fn set_environment(&mut self, span: Span, name: Option<&str>) {
        if self.level == Level::Readonly {
            self.refuse(span, "code-write", "a change of the environment".to_owned());
        } else if name.is_none_or(rules::is_named_environment) {
            self.ask(span, "code-process", "an environment variable that chooses what is run later".to_owned());
        }
    }

    /// A variable that is taken out of the environment.
    pub(super) fn environment(&mut self, span: Span, argument: &Expression<'_>) {
        let changes = fold::bare(argument)
            .as_member_expression()
            .is_some_and(|member| self.things(member.object()).paths().any(|path| path == "process.env"));
        if changes && self.level == Level::Readonly {
            self.refuse(span, "code-write", "a change of the environment".to_owned());
        }
    }

    /// Whether a call only looks at its arguments: a schema for the environment, or a trace of an error.
    pub(super) fn shown_only(&self, callee: &Expression<'_>) -> bool {
        let is_trace = || self.things(callee).paths().any(|path| path == "Error.captureStackTrace");
        matches!(value::member_name(callee), Some("parse" | "safeParse" | "parseAsync" | "safeParseAsync"))
            && !self.things(callee).paths().any(|path| path == "JSON.parse")
            || is_trace()
    }

    fn only_reads(&self, call: &CallExpression<'_>) -> bool {
        let first = call.arguments.first().and_then(Argument::as_expression);
        // A request that was made elsewhere was judged there.
        let request = first.is_some_and(|first| matches!(fold::bare(first), Expression::ObjectExpression(_)));
        !request && reading_options(call.arguments.get(1))
    }
}

/// Functions of packages that give a member by its name.
fn is_getter(path: &str) -> bool {
    let of_package = ["node:lodash", "node:lodash-es", "node:ramda"]
        .into_iter()
        .find_map(|package| path.strip_prefix(package))
        .and_then(|rest| rest.strip_prefix(['.', '/']));
    of_package.is_some_and(|name| {
        listed("get at pick result invoke invokeMap property propertyOf method prop path pathOr propOr props invoker fp.get", name)
    })
}

fn is_home(path: &str) -> bool {
    matches!(path, "process.env.HOME" | "process.env.USERPROFILE" | "node:os.homedir()" | "os.homedir()")
}

fn is_file_path(path: &str) -> bool {
    ["node:fs", "Deno.", "Bun.", "node:typescript", "node:graceful-fs", "node:write-file-atomic", "node:jsonfile"]
        .iter()
        .any(|start| path.starts_with(start))
}

/// Values of options that load nothing which is not known.
fn is_plain_option(key: &str, value: &Expression<'_>) -> bool {
    match (key, fold::bare(value)) {
        ("transport", Expression::ObjectExpression(object)) => match property(object, "target") {
            Found::Value(Expression::StringLiteral(target)) => {
                matches!(target.value.as_str(), "pino-pretty" | "pino/file")
            }
            _ => false,
        },
        ("entities" | "migrations" | "subscribers", Expression::ArrayExpression(list)) => {
            list.elements.iter().all(|element| {
                element.as_expression().is_some_and(|element| matches!(fold::bare(element), Expression::Identifier(_)))
            })
        }
        _ => false,
    }
}

enum Found<'e, 'a> {
    Value(&'e Expression<'a>),
    /// Nobody can say.
    Unknown,
    None,
}

impl Found<'_, '_> {
    /// Whether it is there and not plainly off.
    fn is_on(&self) -> bool {
        match self {
            Self::Value(Expression::BooleanLiteral(value)) => value.value,
            Self::Value(_) | Self::Unknown => true,
            Self::None => false,
        }
    }
}

fn property<'e, 'a>(object: &'e ObjectExpression<'a>, name: &str) -> Found<'e, 'a> {
    let mut found = Found::None;
    for property in &object.properties {
        match property {
            ObjectPropertyKind::SpreadProperty(_) => found = Found::Unknown,
            ObjectPropertyKind::ObjectProperty(property) => match property.key.static_name() {
                Some(key) if key == name => found = Found::Value(fold::bare(&property.value)),
                Some(_) => {}
                None => found = Found::Unknown,
            },
        }
    }
    found
}

/// Whether the options of a request ask for a method that reads.
fn reading_options(options: Option<&Argument<'_>>) -> bool {
    let Some(options) = options else { return true };
    let Some(Expression::ObjectExpression(options)) = options.as_expression().map(fold::bare) else { return false };
    match property(options, "method") {
        Found::None => true,
        Found::Value(Expression::StringLiteral(method)) => {
            matches!(method.value.as_str().to_ascii_uppercase().as_str(), "GET" | "HEAD" | "OPTIONS")
        }
        Found::Value(_) | Found::Unknown => false,
    }
}
