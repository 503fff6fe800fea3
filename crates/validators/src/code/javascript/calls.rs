//! Calls that are judged by what they are given: loaders, timers, files, statements, options.

use oxc_ast::ast::{
    Argument, ArrayExpressionElement, AssignmentExpression, CallExpression, Expression, NewExpression,
    ObjectPropertyKind,
};
use oxc_span::{GetSpan as _, Span};

use super::effects::Call;
use super::options::{Found, property};
use super::scope::{Source, Thing, Things};
use super::{Pass, Reader, fold, rules, services, value};
use crate::code::{Level, verbs};

/// Methods that compare their argument, or show it to people.
const COMPARING: &str = "includes has indexOf lastIndexOf startsWith endsWith add delete log warn error info debug hasOwn \
     hasOwnProperty equal strictEqual deepEqual toBe toEqual toHaveProperty describe it test";
/// Methods that take a statement.
const STATEMENTS: &str =
    "query execute raw exec unsafe prepare run all $queryRawUnsafe $executeRawUnsafe queryRaw batch";
/// Methods that give what they are called on something to keep.
const HOLDING: &str = "append push unshift add set write end attach send field concat";

pub(super) fn listed(list: &str, name: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == name)
}

impl Reader<'_> {
    pub(super) fn call<'a>(&mut self, it: &CallExpression<'a>) {
        if self.pass == Pass::Declare {
            return;
        }
        let (object, callee) = self.called_on(&it.callee, 0);
        let method = value::member_name(&it.callee).map(str::to_owned).or_else(|| self.computed_name(&it.callee));
        self.hand_to_callback(it, method.as_deref());
        let given: Vec<Things> = it.arguments.iter().map(|argument| self.argument(argument, 0)).collect();
        let last = || callee.paths().next().and_then(|path| path.rsplit('.').next()).unwrap_or_default().to_owned();
        let last = method.clone().unwrap_or_else(last);
        let call = Call {
            span: it.span,
            object: object.as_ref(),
            callee: &callee,
            name: &last,
            arguments: &it.arguments,
            given: &given,
        };
        if services::bounds(&verbs::snake(&last)) {
            self.bounded.extend(services::chain(&it.callee));
        }
        self.file_call(&call);
        if self.pass == Pass::Learn {
            let first = it.arguments.first().and_then(Argument::as_expression);
            if let Some(source) = first.filter(|_| callee.paths().any(rules::is_require)) {
                self.use_source(it.span, source);
            }
            self.hand_over(it, &callee, method.is_some());
            self.hand_private(&call);
            if let Some(member) = fold::bare(&it.callee).as_member_expression().filter(|_| listed(HOLDING, &last)) {
                given.iter().for_each(|given| self.learn_given(member.object(), given));
            }
            // An archive holds the files that it is told to take.
            if let Some(member) = fold::bare(&it.callee).as_member_expression()
                && matches!(last.as_str(), "addLocalFolder" | "addLocalFile" | "directory" | "addDirectory")
            {
                self.learn_given(member.object(), &Thing::Private(Source::File).into());
            }
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
            self.method(it, called);
        }
        self.changes_folder(&call);
        self.named_files(&call);
        self.service_call(&call);
        self.judge_settings(it, &call);
        self.named_by_request(&call);
        self.told_by_request(it, &call);
        self.asks_for_much(it.span, &last, &it.arguments, super::loops::is_own(&call));
        if last == "insertAdjacentHTML"
            && let Some(markup) = it.arguments.get(1).and_then(Argument::as_expression)
            && self.things(markup).paths().any(rules::is_of_address)
        {
            self.ask(it.span, "code-page", "markup is made of what others sent".to_owned());
        }
        self.own_call(it, &call);
        self.unknown_method(it, &call);
        self.unknown_member(&call);
        self.sending_call(&call);
        self.dials(&call);
        self.shows_secret(&call);
        let name = method.as_deref().unwrap_or_default();
        if !listed(COMPARING, name) {
            self.telling_arguments(&it.arguments);
        }
        if let Some(first) = first
            && listed(STATEMENTS, name)
        {
            self.statement(first);
            if name.contains("Unsafe") && self.text(first).is_none() {
                self.ask(it.span, "code-statement", format!("`{name}` is given a statement that is not known"));
            }
        }
    }

    fn computed_name(&self, callee: &Expression<'_>) -> Option<String> {
        match fold::bare(callee) {
            Expression::ComputedMemberExpression(member) => self.text(&member.expression),
            _ => None,
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
        self.starts_program(it, path);
        if rules::takes_template(path)
            && first.is_none_or(|first| self.text(first).is_none_or(|text| text.contains("constructor")))
        {
            self.ask(it.span, "code-dynamic", format!("`{path}` makes code out of a text that is not known"));
        }
        if rules::changes_first(path)
            && first.is_some_and(|first| self.things(first).paths().any(rules::is_replaceable))
        {
            self.ask(it.span, "code-dynamic", format!("`{path}` changes what every part of the program uses"));
        }
        let is_given = |things: &Things| {
            things.paths().any(|path| path.starts_with("process.argv")) || things.private().next().is_some()
        };
        if rules::takes_code(path) && first.is_some_and(|first| is_given(&self.things(first))) {
            self.ask(it.span, "code-dynamic", format!("`{path}` may run text as code"));
        }
        if rules::takes_code(path) && first.is_none() && !it.arguments.is_empty() {
            self.ask(it.span, "code-dynamic", format!("`{path}` may run text as code"));
        }
        if rules::takes_code(path) && first.is_some_and(|first| self.things(first).known.iter().any(Thing::is_text)) {
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
                let is_text = || self.things(&property.value).known.iter().any(Thing::is_text);
                if rules::is_of_package(path) && crate::code::settings::names_code(&key) && is_text() {
                    self.ask(
                        span,
                        "code-loader",
                        format!("the option `{key}` of `{path}` names what is loaded or run"),
                    );
                }
            }
        }
    }

    fn method<'a>(&mut self, it: &CallExpression<'a>, method: &str) {
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
            "insertAdjacentHTML" | "html" | "parseFromString" | "createContextualFragment" | "append" | "prepend"
                if it
                    .arguments
                    .iter()
                    .filter_map(Argument::as_expression)
                    .any(|given| self.things(given).paths().any(rules::is_of_address)) =>
            {
                self.ask(it.span, "code-page", "markup is made of the address of the page".to_owned());
            }
            "postMessage"
                if text(1).as_deref() == Some("*")
                    && it
                        .arguments
                        .first()
                        .and_then(Argument::as_expression)
                        .is_some_and(|given| self.things(given).private().next().is_some()) =>
            {
                self.ask(it.span, "code-send", "what a page keeps is sent to whoever listens".to_owned());
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

    pub(super) fn construct<'a>(&mut self, it: &NewExpression<'a>) {
        if self.pass != Pass::Judge {
            return;
        }
        let callee = self.things(&it.callee);
        if callee.has(&Thing::Made) {
            self.made(it.span);
        }
        let given: Vec<Things> = it.arguments.iter().map(|argument| self.argument(argument, 0)).collect();
        let name = callee.paths().next().and_then(|path| path.rsplit(['.', ':']).next()).unwrap_or_default().to_owned();
        let call =
            Call { span: it.span, object: None, callee: &callee, name: &name, arguments: &it.arguments, given: &given };
        self.file_call(&call);
        self.dials(&call);
        self.named_files(&call);
        self.command(&call);
        self.unknown_member(&call);
        self.asks_for_much(it.span, &name, &it.arguments, callee.functions().next().is_some());
        let slow = it.arguments.first().and_then(Argument::as_expression).and_then(|first| self.text(first));
        if name == "RegExp" && slow.is_some_and(|pattern| crate::code::patterns::takes_for_ever(&pattern)) {
            self.ask_endless(it.span, "a pattern that may take for ever");
        }
        if ["Command", "Request", "Socket", "Source", "Mail"].iter().any(|end| name.ends_with(end)) || name == "ws" {
            self.sending_call(&call);
        }
        if callee.paths().any(rules::is_of_package) && self.key_goes_elsewhere(&call) {
            self.ask(
                it.span,
                "code-send",
                format!("`{name}` sends its key to a host that the key's name does not name"),
            );
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
        let Some(member) = it.left.as_member_expression() else {
            if let oxc_ast::ast::AssignmentTarget::AssignmentTargetIdentifier(name) = &it.left
                && self.pass == Pass::Judge
                && name.name == "location"
            {
                self.leads_page(it, &Things::unknown(), Some("location"));
                self.assignment_dials(it, &Things::unknown(), Some("location"));
            }
            return;
        };
        if self.pass == Pass::Learn {
            let given = self.things(&it.right);
            // What any window sends.
            if member.static_property_name() == Some("onmessage")
                && self.things(member.object()).paths().any(rules::is_global)
            {
                for function in given.functions().collect::<Vec<_>>() {
                    self.called_with(function, 0, Things::path("location.message"));
                }
            }
            self.learn_given(member.object(), &given);
            self.learn_field(member, &given);
        }
        if self.pass != Pass::Judge {
            return;
        }
        let object = self.things(member.object());
        let name = member.static_property_name().map(str::to_owned).or_else(|| match member {
            oxc_ast::ast::MemberExpression::ComputedMemberExpression(member) => self.text(&member.expression),
            _ => None,
        });
        if object.paths().any(|path| path == "process.env") {
            self.set_environment(it.span, name.as_deref());
        }
        // An option may be given after the object was made.
        if let Some(name) = &name
            && let Some(why) = rules::option_asked("", name)
            && !matches!(&it.right, Expression::BooleanLiteral(on) if !on.value)
        {
            self.ask(it.span, why.0, format!("the option `{name}` {}", why.1));
        }
        let is_markup = name.as_deref().is_some_and(|name| matches!(name, "innerHTML" | "outerHTML" | "srcdoc"));
        let is_other_window = matches!(member.object(), Expression::Identifier(window) if matches!(window.name.as_str(), "top" | "opener" | "parent"));
        if is_other_window && name.as_deref() == Some("location") {
            self.ask(it.span, "code-page", "another window is led elsewhere".to_owned());
        }
        if is_markup && self.things(&it.right).paths().any(rules::is_of_address) {
            self.ask(it.span, "code-page", "markup is made of the address of the page".to_owned());
        }
        if is_markup && self.is_fetched_markup(&it.right) {
            self.ask(it.span, "code-page", "markup that another host sent is shown".to_owned());
        }
        let is_named_global = |path: &str| matches!(path, "globalThis" | "window" | "global" | "self");
        if object.paths().any(is_named_global) {
            self.replaces_global(it.span, name.as_deref());
        }
        if let (Some(name), Expression::BooleanLiteral(on)) = (&name, &it.right)
            && (on.value && crate::code::settings::exposes(name) || !on.value && crate::code::settings::protects(name))
        {
            self.ask(it.span, "code-rights", format!("`{name}` leaves a protection out"));
        }
        if object.paths().any(|path| rules::is_replaceable(path) && !is_named_global(path)) {
            self.ask(it.span, "code-dynamic", "a function that others call is put in place of another".to_owned());
        }
        self.leads_page(it, &object, name.as_deref());
        self.assignment_dials(it, &object, name.as_deref());
        self.sets_client(it, &object, name.as_deref());
        let of_all = |path: &str| {
            path.strip_suffix(".prototype")
                .is_some_and(|class| !class.contains(['.', '(', ':']) && !rules::is_unlisted_global(class))
        };
        if object.paths().any(of_all) && object.functions().next().is_none() {
            self.ask(it.span, "code-dynamic", "what every object of a kind has is changed".to_owned());
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

fn is_file_path(path: &str) -> bool {
    ["node:fs", "Deno.", "Bun.", "node:typescript", "node:graceful-fs", "node:write-file-atomic", "node:jsonfile"]
        .iter()
        .any(|start| path.starts_with(start))
}

/// Values of options that load nothing which is not known.
fn is_plain_option(key: &str, value: &Expression<'_>) -> bool {
    match (key, fold::bare(value)) {
        ("proxy", Expression::BooleanLiteral(on)) => !on.value,
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
