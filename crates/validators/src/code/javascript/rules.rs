//! What is known about JavaScript's globals and Node's modules: which of them lead where a program may not go, and
//! which a person is asked about.

pub(super) mod effects;
mod packages;
mod texts;

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

pub(super) use packages::{is_known, is_member_unknown, is_of_package, is_own, option_asked, package_asked};
pub(super) use texts::{is_active, is_named_environment, is_telling_text};

pub(super) type Why = (&'static str, &'static str);

const PROCESS: Why = ("code-process", "leads to another process");
const CODE: Why = ("code-dynamic", "runs text as code");
const NATIVE: Why = ("code-native", "leads to native code");
const SOCKET: Why = ("code-socket", "leads to a raw or listening socket");
const LOADER: Why = ("code-loader", "reaches modules by the back door");
const REMOTE: Why = ("code-remote", "may destroy, stop or change something that others use");
const SECRET: Why = ("code-reach", "gives something secret");
const SEND: Why = ("code-send", "sends what is logged to another machine");
const DETOUR: Why = ("code-send", "leads what is sent by way of another machine");
const ENVIRONMENT: Why = ("code-handed-on", "hands on the whole environment");
const BROWSER: Why = ("code-page", "runs code in a page or reads what is secret there");

/// Refused wherever they are named.
const REFUSED: &[(&str, Why)] = &[
    ("AsyncFunction", CODE),
    ("AsyncGeneratorFunction", CODE),
    ("Bun.$", PROCESS),
    ("Bun.listen", SOCKET),
    ("Bun.spawn", PROCESS),
    ("Bun.spawnSync", PROCESS),
    ("Deno.Command", PROCESS),
    ("Deno.dlopen", NATIVE),
    ("Deno.kill", PROCESS),
    ("Deno.listen", SOCKET),
    ("Deno.run", PROCESS),
    ("Function", CODE),
    ("GeneratorFunction", CODE),
    ("eval", CODE),
    ("execScript", CODE),
    ("importScripts", CODE),
    ("module._load", LOADER),
    ("module.constructor", LOADER),
    ("node:bun", PROCESS),
    ("node:bun:ffi", NATIVE),
    ("node:child_process", PROCESS),
    ("node:cluster", PROCESS),
    ("node:cross-spawn", PROCESS),
    ("node:dgram", SOCKET),
    ("node:execa", PROCESS),
    ("node:ffi-napi", NATIVE),
    ("node:inspector", CODE),
    ("node:isolated-vm", CODE),
    ("node:koffi", NATIVE),
    ("node:module._load", LOADER),
    ("node:module.register", LOADER),
    ("node:net.Server", SOCKET),
    ("node:net.Socket", SOCKET),
    ("node:net.Stream", SOCKET),
    ("node:net.connect", SOCKET),
    ("node:net.createConnection", SOCKET),
    ("node:net.createServer", SOCKET),
    ("node:node-pty", PROCESS),
    ("node:ref-napi", NATIVE),
    ("node:repl", CODE),
    ("node:shelljs", PROCESS),
    ("node:tls.Server", SOCKET),
    ("node:tls.TLSSocket", SOCKET),
    ("node:tls.connect", SOCKET),
    ("node:tls.createServer", SOCKET),
    ("node:v8.setFlagsFromString", NATIVE),
    ("node:vm", CODE),
    ("node:vm2", CODE),
    ("node:wasi", NATIVE),
    ("node:zx", PROCESS),
    ("process._linkedBinding", NATIVE),
    ("process.abort", PROCESS),
    ("process.binding", NATIVE),
    ("process.dlopen", NATIVE),
    ("process.execve", PROCESS),
    ("process.getBuiltinModule", LOADER),
    ("process.kill", PROCESS),
    ("process.mainModule", LOADER),
    ("process.setegid", PROCESS),
    ("process.seteuid", PROCESS),
    ("process.setgid", PROCESS),
    ("process.setuid", PROCESS),
    ("require.cache", LOADER),
    ("require.extensions", LOADER),
];

/// Honest programs use them too: a person is asked wherever they are named.
const ASKED: &[(&str, Why)] = &[
    ("ActiveXObject", NATIVE),
    ("Bun.serve", SOCKET),
    ("Deno.env.toObject", ENVIRONMENT),
    ("Deno.serve", SOCKET),
    ("Error.prepareStackTrace", LOADER),
    ("Java", NATIVE),
    ("Packages", NATIVE),
    ("Application", REMOTE),
    ("DriveApp", REMOTE),
    ("GM", BROWSER),
    ("GmailApp", REMOTE),
    ("GM_xmlhttpRequest", BROWSER),
    ("ObjC", NATIVE),
    ("SharedWorker", CODE),
    ("Symbol.hasInstance", LOADER),
    ("UrlFetchApp", REMOTE),
    ("WebAssembly", NATIVE),
    ("Worker", CODE),
    ("WScript", PROCESS),
    ("chrome", BROWSER),
    ("document.cookie", BROWSER),
    ("document.execCommand", BROWSER),
    ("document.write", BROWSER),
    ("document.writeln", BROWSER),
    ("indexedDB.deleteDatabase", BROWSER),
    ("navigator.serviceWorker.register", BROWSER),
    ("node:child_process", PROCESS),
    ("node:crypto.setEngine", NATIVE),
    ("node:http.Server", SOCKET),
    ("node:http.createServer", SOCKET),
    ("node:http2.createServer", SOCKET),
    ("node:http2.createSecureServer", SOCKET),
    ("node:https.Server", SOCKET),
    ("node:https.createServer", SOCKET),
    ("node:module()", LOADER),
    ("node:os.setPriority", PROCESS),
    ("node:test.run", PROCESS),
    ("node:worker_threads.Worker", CODE),
    ("require.main.require", LOADER),
    ("trustedTypes", BROWSER),
];

/// What an author does instead of what is refused.
pub(super) fn advice(rule: &str) -> Option<&'static str> {
    Some(match rule {
        "code-process" => "do the work in JavaScript itself, or ask for a tool that does it",
        "code-dynamic" => "parse data with JSON.parse, and call functions by name from an object",
        "code-socket" => "use fetch",
        "code-loader" => "import the module with an import statement and name its members directly",
        "code-write" => "return the data instead of writing it",
        _ => return None,
    })
}

/// Whether a name of a table is the path or one above it.
fn covers(name: &str, path: &str) -> bool {
    path.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '/', '(']))
}

/// Why a qualified name, or one above it, is refused.
pub(super) fn refused(path: &str) -> Option<Why> {
    REFUSED.iter().find(|(name, _)| covers(name, path)).filter(|_| !is_asked_process(path)).map(|(_, why)| *why)
}

/// The module that starts programs, and the members of it that honest programs use: a person is asked, and what they are
/// given is judged.
fn is_asked_process(path: &str) -> bool {
    path == "node:child_process"
        || path
            .strip_prefix("node:child_process.")
            .is_some_and(|rest| starts(rest.split(['.', '(']).next().unwrap_or(rest)))
}

/// Whether a function of that name starts a program by its command.
pub(super) fn starts(name: &str) -> bool {
    matches!(name, "exec" | "execSync" | "execFile" | "execFileSync" | "spawn" | "spawnSync")
}

/// Why a person is asked about a qualified name, or one above it.
pub(super) fn asked(path: &str) -> Option<Why> {
    ASKED.iter().find(|(name, _)| covers(name, path)).map(|(_, why)| *why)
}

/// Members of these are known one by one: the harmless ones are listed, others are asked about, and so is the whole
/// where it is handed on.
const GUARDED: &[(&str, &str)] = &[
    (
        "process",
        "env argv argv0 exit exitCode cwd platform version versions arch pid ppid stdin stdout stderr on once off \
         addListener removeListener removeAllListeners prependListener listeners listenerCount emit nextTick hrtime \
         memoryUsage uptime cpuUsage resourceUsage title release features emitWarning execPath execArgv getuid geteuid \
         getgid getegid getgroups chdir umask constrainedMemory availableMemory config connected \
         allowedNodeEnvironmentFlags browser type debugPort throwDeprecation noDeprecation traceDeprecation \
         setUncaughtExceptionCaptureCallback hasUncaughtExceptionCaptureCallback setMaxListeners finalization \
         getActiveResourcesInfo sourceMapsEnabled then",
    ),
    (
        "navigator",
        "userAgent userAgentData language languages onLine platform hardwareConcurrency cookieEnabled deviceMemory \
         maxTouchPoints vendor vibrate share canShare clipboard connection doNotTrack webdriver sendBeacon locks storage \
         serviceWorker appVersion appName product gpu userActivation wakeLock mediaSession",
    ),
    ("navigator.clipboard", "writeText write"),
    ("caches", "open match keys has"),
    ("module", "exports id filename path loaded hot"),
    ("require", "resolve main"),
    (
        "Deno",
        "args env cwd readTextFile readTextFileSync readFile readFileSync writeTextFile writeTextFileSync writeFile \
         writeFileSync readDir readDirSync stat statSync lstat lstatSync mkdir mkdirSync exit exitCode build version \
         inspect errors realPath realPathSync readLink readLinkSync stdin stdout stderr makeTempDir makeTempDirSync \
         makeTempFile makeTempFileSync test bench hostname osRelease osUptime loadavg networkInterfaces memoryUsage \
         systemMemoryInfo copyFile copyFileSync rename renameSync open openSync create createSync remove removeSync \
         upgradeWebSocket resolveDns addSignalListener removeSignalListener consoleSize watchFs noColor mainModule pid \
         ppid execPath truncate truncateSync utime utimeSync FsFile SeekMode customInspect uid gid",
    ),
    (
        "Bun",
        "file write env version revision hash password sleep sleepSync inspect nanoseconds gzipSync gunzipSync \
         deflateSync inflateSync which fileURLToPath pathToFileURL deepEquals deepMatch escapeHTML stringWidth Glob \
         CryptoHasher SHA1 SHA256 SHA512 MD5 argv main TOML color randomUUIDv7 readableStreamToText \
         readableStreamToJSON readableStreamToArray readableStreamToBytes readableStreamToBlob \
         readableStreamToArrayBuffer resolveSync semver peek stdin stdout stderr concatArrayBuffers \
         indexOfLine isMainThread cwd",
    ),
    ("import.meta", "url dirname filename resolve main env hot glob dir file path"),
    ("node:module", "createRequire builtinModules isBuiltin findPackageJSON"),
    ("node:net", "isIP isIPv4 isIPv6 BlockList SocketAddress getDefaultAutoSelectFamily setDefaultAutoSelectFamily"),
    (
        "node:tls",
        "checkServerIdentity getCiphers rootCertificates DEFAULT_MIN_VERSION DEFAULT_MAX_VERSION createSecureContext",
    ),
    (
        "node:v8",
        "getHeapStatistics getHeapSpaceStatistics getHeapCodeStatistics serialize deserialize cachedDataVersionTag",
    ),
    (
        "node:worker_threads",
        "isMainThread parentPort workerData threadId MessageChannel MessagePort BroadcastChannel resourceLimits",
    ),
];

/// A module of Node in each line, with the members that it is documented to have.
static MEMBERS: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    let lines = include_str!("../known/node_members.txt").lines();
    lines.map(|line| line.split_once(' ').unwrap_or((line, ""))).collect()
});
/// Names that the language, browsers, Node and test runners provide.
static GLOBALS: LazyLock<HashSet<&str>> =
    LazyLock::new(|| include_str!("../known/globals.txt").split_ascii_whitespace().collect());

/// Whether a name that the program does not bind is none that is known to be provided.
pub(super) fn is_unlisted_global(path: &str) -> bool {
    // Hooks of components are often shown without their import.
    let is_hook = path.strip_prefix("use").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()));
    !path.contains(['.', '(', ':', '/']) && !path.is_empty() && !is_hook && !GLOBALS.contains(path)
}

/// Whether a module of Node is asked for a member that it is not documented to have.
fn is_unlisted_export(path: &str) -> bool {
    let Some(rest) = path.strip_prefix("node:") else { return false };
    let Some((module, rest)) = rest.split_once('.') else { return false };
    let member = rest.split(['.', '(']).next().unwrap_or(rest);
    // A module that is imported at run time comes as a promise of it.
    let of_promise = matches!(member, "then" | "catch" | "finally" | "default");
    !of_promise
        && MEMBERS.get(module).is_some_and(|members| !members.split_ascii_whitespace().any(|known| known == member))
}

/// Whether a member of a guarded object is none of those that are known to be harmless.
pub(super) fn is_unlisted_member(path: &str) -> bool {
    is_unlisted_export(path)
        || GUARDED.iter().any(|(root, harmless)| {
            path.strip_prefix(root).and_then(|rest| rest.strip_prefix('.')).is_some_and(|rest| {
                let member = rest.split(['.', '(']).next().unwrap_or(rest);
                !harmless.split_ascii_whitespace().any(|known| known == member)
            })
        })
}

/// Whether the thing may only be used in its place: called, or asked for a member. What it is handed to could ask it
/// for anything.
pub(super) fn is_guarded(path: &str) -> bool {
    is_global(path)
        || GUARDED.iter().any(|(root, _)| *root == path)
        || packages::is_guarded(path)
        || matches!(
            path,
            "process.env" | "Deno.env" | "Bun.env" | "require.main" | "localStorage" | "sessionStorage" | "Reflect"
        )
}

/// Whether a name stands for the object that holds all others.
pub(super) fn is_global(path: &str) -> bool {
    matches!(path, "globalThis" | "global" | "window" | "self" | "top" | "frames" | "parent")
}

/// Whether a global is judged, so that a `var` of the same name, which may leave it as it is, hides nothing.
pub(super) fn is_judged(name: &str) -> bool {
    refused(name).is_some() || asked(name).is_some() || is_guarded(name) || builtin(name).is_some()
}

/// Node's own modules stand as globals in what `node -e` runs.
pub(super) fn builtin(name: &str) -> Option<&'static str> {
    Some(match name {
        "child_process" => "node:child_process",
        "cluster" => "node:cluster",
        "createRequire" => "node:module.createRequire",
        "crypto" => "node:crypto",
        "dgram" => "node:dgram",
        "fs" => "node:fs",
        "http" => "node:http",
        "http2" => "node:http2",
        "https" => "node:https",
        "inspector" => "node:inspector",
        "net" => "node:net",
        "repl" => "node:repl",
        "tls" => "node:tls",
        "v8" => "node:v8",
        "vm" => "node:vm",
        "wasi" => "node:wasi",
        "worker_threads" => "node:worker_threads",
        _ => return None,
    })
}

/// Members so particular that they mean the same on any object.
pub(super) fn telling(name: &str) -> Option<Why> {
    Some(match name {
        "execSync" | "spawnSync" | "execFileSync" | "execve" => PROCESS,
        "runInThisContext" | "runInNewContext" | "runInContext" | "compileFunction" => CODE,
        "_load" | "_compile" | "createRequire" | "getBuiltinModule" | "mainModule" => LOADER,
        "dlopen" | "_linkedBinding" => NATIVE,
        _ => return None,
    })
}

/// Members that honest programs have too: a person is asked, unless the program itself has a member of that name.
pub(super) fn doubtful(name: &str) -> Option<Why> {
    Some(match name {
        "spawn" | "fork" | "execFile" | "sendmail" => PROCESS,
        "createServer" | "createSecureServer" | "listen" => SOCKET,
        "Function" | "AsyncFunction" | "GeneratorFunction" | "createContextualFragment" | "runInDebugContext" => CODE,
        "binding" | "loadExtension" | "setEngine" => NATIVE,
        "getScript" | "loadScript" => CODE,
        "caller" | "callee" | "prepareStackTrace" | "getFunction" | "getThis" | "__proto__" | "__lookupGetter__"
        | "__defineGetter__" | "commandDir" | "ssrLoadModule" | "promisifyAll" | "registerHooks" | "importModule"
        | "loadModule" | "loadPlugin" | "loadPlugins" | "requireFromString" => LOADER,
        _ => return None,
    })
}

/// Whether a doubtful member is one that many programs define themselves.
pub(super) fn is_common(name: &str) -> bool {
    matches!(name, "spawn" | "fork" | "execFile" | "sendmail" | "createServer" | "listen" | "binding" | "Function")
}

/// Whether calling it gives a module.
pub(super) fn is_require(path: &str) -> bool {
    matches!(path, "require" | "module.require" | "require.main.require" | "process.getBuiltinModule")
        || path.ends_with(".requireActual")
        || path.ends_with(".importActual")
}

/// Whether it runs its first argument, when that is text.
pub(super) fn takes_code(path: &str) -> bool {
    matches!(path, "setTimeout" | "setInterval" | "setImmediate" | "node:timers.setTimeout" | "node:timers.setInterval")
}

/// Functions whose arguments are judged, so that they may not be called by way of `call`, `apply` and `bind`.
pub(super) fn is_judged_call(path: &str) -> bool {
    path == "fetch"
        || takes_code(path)
        || is_require(path)
        || path.starts_with("node:fs")
        || path.starts_with("Reflect.")
}

/// Whether it makes code out of its first argument, a template.
pub(super) fn takes_template(path: &str) -> bool {
    let Some(rest) = path.strip_prefix("node:") else { return false };
    let Some((package, member)) = rest.split_once(['.', '(']) else { return false };
    matches!(package, "handlebars" | "vue" | "nunjucks" | "pug" | "ejs" | "eta" | "mustache" | "dot" | "underscore")
        && matches!(
            member.trim_start_matches("default."),
            "compile" | "precompile" | "template" | "compileString" | "renderString"
        )
}

/// Whether something belongs to a module or to every object of a kind, so that what is stored there is what others call.
pub(super) fn is_replaceable(path: &str) -> bool {
    let of_module =
        path.strip_prefix("node:").is_some_and(|rest| MEMBERS.contains_key(rest.split('.').next().unwrap_or(rest)));
    of_module && !path.contains('(')
        || matches!(path, "Object.prototype" | "Function.prototype" | "globalThis" | "window" | "global")
        || matches!(path, "JSON" | "Math" | "console" | "Reflect" | "Object" | "Promise" | "Symbol" | "Function")
        || path.ends_with(".prototype")
            && !path.contains('(')
            && (path.starts_with("node:") || is_function(path.trim_end_matches(".prototype")))
}

/// Whether it is, or is made of, the address of the page, which whoever sent the link chose.
pub(super) fn is_of_address(path: &str) -> bool {
    ["location", "document.location", "document.referrer", "document.URL", "name", "URLSearchParams()"]
        .iter()
        .any(|start| path.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '('])))
}

/// Whether it changes the object that it is given first.
pub(super) fn changes_first(path: &str) -> bool {
    matches!(
        path,
        "Object.defineProperty"
            | "Object.defineProperties"
            | "Object.assign"
            | "Object.setPrototypeOf"
            | "Reflect.set"
            | "Reflect.defineProperty"
            | "Reflect.setPrototypeOf"
    )
}

/// Globals that are functions: a member of them that is chosen at run time may be their constructor.
pub(super) fn is_function(path: &str) -> bool {
    const GLOBALS: &str = "parseInt parseFloat isNaN isFinite encodeURI encodeURIComponent decodeURI decodeURIComponent \
         escape unescape fetch setTimeout setInterval setImmediate clearTimeout clearInterval queueMicrotask \
         structuredClone atob btoa Array Object String Number Boolean Symbol BigInt Date RegExp Promise Map Set WeakMap \
         WeakSet WeakRef Proxy Error TypeError RangeError SyntaxError ReferenceError EvalError URIError ArrayBuffer \
         SharedArrayBuffer DataView Uint8Array Uint16Array Uint32Array Int8Array Int16Array Int32Array Float32Array \
         Float64Array BigInt64Array BigUint64Array Uint8ClampedArray URL URLSearchParams TextEncoder TextDecoder Buffer \
         AbortController Event EventTarget Headers Request Response FormData Blob File";
    GLOBALS.split_ascii_whitespace().any(|known| known == path)
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

/// Whether a member changes something, for `readonly`. Of files, only what reads is listed.
pub(super) fn writes(path: &str) -> bool {
    const READS: &str = "readFile readdir stat lstat fstat access exists realpath readlink createReadStream ReadStream \
         read readv close opendir Dirent Stats constants promises watch watchFile unwatchFile native default glob statfs \
         readTextFile readDir readLink realPath args env cwd exit exitCode build version inspect errors stdin stdout \
         stderr test bench hostname osRelease mainModule pid memoryUsage noColor consoleSize file hash password sleep \
         nanoseconds which semver Glob argv main CryptoHasher then F_OK R_OK W_OK X_OK";
    let file = ["node:fs/promises", "node:fs", "Deno", "Bun"].into_iter().find_map(|root| path.strip_prefix(root));
    let Some(rest) = file else {
        return matches!(
            path,
            "process.chdir"
                | "process.umask"
                | "localStorage"
                | "sessionStorage"
                | "indexedDB"
                | "navigator.sendBeacon"
                | "WebSocket"
                | "XMLHttpRequest"
        );
    };
    let Some(rest) = rest.strip_prefix('.') else { return false };
    let member = rest.strip_prefix("promises.").unwrap_or(rest).split(['.', '(']).next().unwrap_or(rest);
    let member = member.strip_suffix("Sync").unwrap_or(member);
    !READS.split_ascii_whitespace().any(|known| known == member)
}
