//! What `readonly` adds: nothing may change a file, the environment or remote state.

use ruff_text_size::TextSize;

use super::calls::Arguments;
use super::rules::Route;
use super::value::Val;
use super::{Checker, rules};

impl Checker<'_> {
    /// A method is called on a value.
    pub(super) fn readonly_method(&mut self, at: TextSize, base: &Val, name: &str, arguments: &Arguments) {
        if !self.is_readonly() {
            return;
        }
        for base in base.each() {
            match base {
                Val::Path(path) if matches!(&**path, "os.environ" | "os.environb") => {
                    if matches!(
                        name,
                        "update" | "pop" | "popitem" | "setdefault" | "clear" | "__setitem__" | "__delitem__"
                    ) {
                        self.refuse_route(at, &format!("{path}.{name}"), Route::Write);
                    }
                }
                Val::Path(path)
                    if (path.starts_with("builtins.open()") || path.starts_with("os.fdopen()"))
                        && rules::writing_method(name) =>
                {
                    self.refuse_route(at, name, Route::Write);
                }
                Val::Path(path) if path.starts_with("httpx.") && path.ends_with("()") => {
                    if matches!(name, "request" | "stream" | "build_request") {
                        self.remote_method(at, arguments);
                    }
                }
                Val::Unknown | Val::Opaque if !self.methods.contains(name) => {
                    if rules::writing_method(name) {
                        self.refuse_route(at, name, Route::Write);
                    } else if matches!(name, "request" | "stream" | "build_request") && !arguments.positional.is_empty()
                    {
                        self.remote_method(at, arguments);
                    }
                }
                _ => {}
            }
        }
    }

    /// A function is called by its qualified name; Python's own functions by their bare one.
    pub(super) fn readonly_call(&mut self, path: &str, arguments: &Arguments, at: TextSize) {
        if !self.is_readonly() {
            return;
        }
        match path {
            "open" | "os.fdopen" => {
                let mode = arguments.get(1).or_else(|| arguments.keyword("mode"));
                let reads = match mode {
                    None => !arguments.open,
                    Some(mode) => mode.each().iter().all(|mode| match mode {
                        Val::Text(mode) => !mode.contains(['w', 'a', 'x', '+']),
                        _ => false,
                    }),
                };
                let opener = arguments.keyword("opener").is_some() || arguments.positional.len() > 7;
                if !reads || opener {
                    self.refuse_route(at, path, Route::Write);
                }
            }
            "os.open" => {
                let reads = arguments.get(1).is_some_and(|flags| {
                    matches!(flags, Val::Path(path) if matches!(&**path, "os.O_RDONLY")) || *flags == Val::Int(0)
                });
                if !reads {
                    self.refuse_route(at, path, Route::Write);
                }
            }
            "httpx.request" | "httpx.stream" | "httpx.Request" => self.remote_method(at, arguments),
            // With something to send it is no question any more.
            "urllib.request.urlopen"
                if arguments.open || arguments.positional.len() > 1 || arguments.keyword("data").is_some() =>
            {
                self.refuse_route(at, path, Route::Write);
            }
            "print" if arguments.keyword("file").is_some_and(|file| *file != Val::Plain) => {
                self.refuse_route(at, "print(file=..)", Route::Write);
            }
            _ => {}
        }
    }

    /// A request whose method is an argument: only those that read.
    fn remote_method(&mut self, at: TextSize, arguments: &Arguments) {
        let method = arguments.get(0).or_else(|| arguments.keyword("method"));
        let reads = method.is_some_and(|method| {
            method.each().iter().all(|method| {
                matches!(method, Val::Text(name) if matches!(name.to_ascii_uppercase().as_str(), "GET" | "HEAD" | "OPTIONS"))
            })
        });
        if !reads {
            self.refuse_route(at, "a request that may not only read", Route::Write);
        }
    }
}
