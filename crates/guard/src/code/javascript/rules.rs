//! What is known about JavaScript's globals and Node's modules: which of them lead where a program may not go.

type Why = (&'static str, &'static str);

const PROCESS: Why = ("code-process", "leads to another process");
const CODE: Why = ("code-dynamic", "runs text as code");
const NATIVE: Why = ("code-native", "leads to native code");
const SOCKET: Why = ("code-socket", "leads to a raw or listening socket");
const LOADER: Why = ("code-loader", "reaches modules by the back door");

const REFUSED: &[(&str, Why)] = &[
    ("AsyncFunction", CODE),
    ("Bun.$", PROCESS),
    ("Bun.listen", SOCKET),
    ("Bun.serve", SOCKET),
    ("Bun.spawn", PROCESS),
    ("Bun.spawnSync", PROCESS),
    ("Deno.Command", PROCESS),
    ("Deno.dlopen", NATIVE),
    ("Deno.listen", SOCKET),
    ("Deno.run", PROCESS),
    ("Deno.serve", SOCKET),
    ("Function", CODE),
    ("GeneratorFunction", CODE),
    ("SharedWorker", CODE),
    ("WebAssembly", NATIVE),
    ("Worker", CODE),
    ("eval", CODE),
    ("execScript", CODE),
    ("importScripts", CODE),
    ("module.constructor", LOADER),
    ("module.parent", LOADER),
    ("node:bun", PROCESS),
    ("node:bun:ffi", NATIVE),
    ("node:child_process", PROCESS),
    ("node:cluster", PROCESS),
    ("node:cross-spawn", PROCESS),
    ("node:dgram", SOCKET),
    ("node:execa", PROCESS),
    ("node:ffi-napi", NATIVE),
    ("node:http.createServer", SOCKET),
    ("node:http2", SOCKET),
    ("node:https.createServer", SOCKET),
    ("node:inspector", CODE),
    ("node:isolated-vm", CODE),
    ("node:koffi", NATIVE),
    ("node:module", LOADER),
    ("node:net", SOCKET),
    ("node:node-pty", PROCESS),
    ("node:process.binding", NATIVE),
    ("node:process.dlopen", NATIVE),
    ("node:process.kill", PROCESS),
    ("node:ref-napi", NATIVE),
    ("node:repl", CODE),
    ("node:shelljs", PROCESS),
    ("node:sys", PROCESS),
    ("node:test", PROCESS),
    ("node:tls", SOCKET),
    ("node:v8", NATIVE),
    ("node:vm", CODE),
    ("node:vm2", CODE),
    ("node:wasi", NATIVE),
    ("node:worker_threads", CODE),
    ("node:ws.Server", SOCKET),
    ("node:ws.WebSocketServer", SOCKET),
    ("node:zx", PROCESS),
    ("process._linkedBinding", NATIVE),
    ("process.abort", PROCESS),
    ("process.binding", NATIVE),
    ("process.dlopen", NATIVE),
    ("process.execve", PROCESS),
    ("process.kill", PROCESS),
    ("process.mainModule", LOADER),
    ("process.setegid", PROCESS),
    ("process.seteuid", PROCESS),
    ("process.setgid", PROCESS),
    ("process.setuid", PROCESS),
    ("require.cache", LOADER),
    ("require.extensions", LOADER),
    ("require.main", LOADER),
];

/// Why a qualified name, or one above it, is refused.
pub(super) fn refused(path: &str) -> Option<Why> {
    let covers =
        |name: &str| path.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '/']));
    REFUSED.iter().find(|(name, _)| covers(name)).map(|(_, why)| *why)
}

/// Members so particular that they mean the same on any object.
pub(super) fn telling(name: &str) -> Option<Why> {
    Some(match name {
        "createServer" | "createSecureServer" => SOCKET,
        "execSync" | "spawnSync" | "execFileSync" | "spawn" | "fork" | "execFile" => PROCESS,
        "runInThisContext" | "runInNewContext" | "runInContext" | "compileFunction" => CODE,
        "_load" | "_compile" | "createRequire" => LOADER,
        "dlopen" => NATIVE,
        _ => return None,
    })
}

/// Whether a name stands for the object that holds all others.
pub(super) fn is_global(path: &str) -> bool {
    matches!(path, "globalThis" | "global" | "window" | "self" | "top" | "frames" | "parent")
}

/// Whether some members of an object are refused, so that a member chosen at run time must be.
pub(super) fn is_guarded(path: &str) -> bool {
    is_global(path)
        || matches!(
            path,
            "process" | "module" | "Deno" | "Bun" | "Reflect" | "require" | "node:process" | "node:http" | "node:https"
        )
}

/// Whether calling it gives a module.
pub(super) fn is_require(path: &str) -> bool {
    matches!(
        path,
        "require" | "module.require" | "require.resolve" | "process.getBuiltinModule" | "node:process.getBuiltinModule"
    )
}

/// Whether it runs its first argument, when that is text.
pub(super) fn takes_code(path: &str) -> bool {
    matches!(path, "setTimeout" | "setInterval" | "setImmediate" | "node:timers.setTimeout" | "node:timers.setInterval")
}

/// Methods that objects of every kind have: their constructor makes functions.
pub(super) fn is_method(name: &str) -> bool {
    matches!(
        name,
        "toString"
            | "valueOf"
            | "map"
            | "filter"
            | "forEach"
            | "at"
            | "find"
            | "some"
            | "every"
            | "reduce"
            | "concat"
            | "push"
            | "pop"
            | "slice"
            | "flat"
            | "join"
            | "sub"
            | "bold"
            | "call"
            | "apply"
            | "bind"
            | "hasOwnProperty"
            | "charAt"
            | "split"
            | "log"
            | "fill"
            | "sort"
    )
}

/// Modules that strict code may import.
pub(in crate::code) const STRICT_MODULES: &[&str] = &[
    "assert",
    "buffer",
    "crypto",
    "events",
    "fs",
    "fs/promises",
    "os",
    "path",
    "punycode",
    "querystring",
    "string_decoder",
    "timers",
    "timers/promises",
    "url",
    "util",
];

pub(super) fn strict_module(path: &str) -> bool {
    STRICT_MODULES.contains(&path.strip_prefix("node:").unwrap_or(path))
}

/// Members that change something, for `readonly`.
pub(super) fn writes(path: &str) -> bool {
    let Some(member) = path.strip_prefix("node:fs") else {
        return matches!(
            path,
            "process.chdir"
                | "process.umask"
                | "localStorage"
                | "sessionStorage"
                | "Deno.remove"
                | "Deno.writeTextFile"
                | "Deno.writeFile"
                | "Bun.write"
                | "XMLHttpRequest"
        );
    };
    let Some(name) = member.rsplit(['.', '/']).next() else { return false };
    let name = name.strip_suffix("Sync").unwrap_or(name);
    matches!(
        name,
        "appendFile"
            | "chmod"
            | "chown"
            | "copyFile"
            | "cp"
            | "createWriteStream"
            | "fchmod"
            | "fchown"
            | "ftruncate"
            | "futimes"
            | "lchmod"
            | "lchown"
            | "link"
            | "lutimes"
            | "mkdir"
            | "mkdtemp"
            | "open"
            | "rename"
            | "rm"
            | "rmdir"
            | "symlink"
            | "truncate"
            | "unlink"
            | "utimes"
            | "write"
            | "writeFile"
            | "writev"
    )
}
