//! What packages are known, and what of them evaluates, loads or starts something.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::code::harmless::{self, Packages};

use super::{CODE, DETOUR, LOADER, NATIVE, PROCESS, REMOTE, SECRET, SEND, SOCKET, Why, covers};

/// Modules of Node in the first line, packages in daily use in the second, what is known inside of them in the third.
static KNOWN: &str = include_str!("../../known/node.txt");

fn line(at: usize) -> HashSet<&'static str> {
    KNOWN.lines().nth(at).unwrap_or_default().split_ascii_whitespace().collect()
}

static OWN: LazyLock<HashSet<&str>> = LazyLock::new(|| line(0));
static PACKAGES: LazyLock<HashSet<&str>> = LazyLock::new(|| line(1));
static INSIDE: LazyLock<HashSet<&str>> = LazyLock::new(|| line(2));

/// Whether what a module does is known. A package is known in itself and in the modules that are listed.
pub(in crate::code::javascript) fn is_known(name: &str) -> bool {
    // What is reached by way of a package is not of it.
    if name.contains("/../") || name.ends_with("/..") || name.contains(['%', '\\', '?', '#']) {
        return false;
    }
    if let Some(own) = name.strip_prefix("node:") {
        return OWN.contains(own);
    }
    // Data that is read as such, out of the project.
    if name.starts_with("./") || name.starts_with("../") {
        return name.ends_with(".json");
    }
    let package = first(name, if name.starts_with('@') { 2 } else { 1 });
    if name == package {
        // These two are Node's only where they are named as such.
        return OWN.contains(name) && !matches!(name, "test" | "sqlite") || is_package(name);
    }
    let is_data = [".css", ".json", ".png", ".svg"].iter().any(|end| name.ends_with(end));
    OWN.contains(name) && !name.starts_with("test/")
        || PACKAGES.contains(name)
        || is_package(package) && (is_data || is_inside(name))
}

/// Whether a module is named as a file of the program's own project, or by one of the short names for its folders. The
/// project is what the program belongs to; whoever runs it runs those files too.
pub(in crate::code::javascript) fn is_own(name: &str) -> bool {
    const NOT_SOURCES: [&str; 9] = ["node", "wasm", "so", "dll", "dylib", "exe", "bin", "sh", "py"];
    const MOST_STEPS_UP: usize = 4;
    let Some(mut rest) = ["./", "../", "@/", "~/"].iter().find_map(|start| name.strip_prefix(start)) else {
        return matches!(name, "." | "..");
    };
    let mut steps = usize::from(name.starts_with("../"));
    while let Some(up) = rest.strip_prefix("../") {
        steps += 1;
        rest = up;
    }
    let file = rest.rsplit('/').next().unwrap_or(rest);
    file.rsplit_once('.').is_none_or(|(_, ending)| !NOT_SOURCES.contains(&ending))
        && steps <= MOST_STEPS_UP
        && !rest.contains("..")
        && !rest.contains("node_modules")
        && !rest.contains(['%', '\\', '?', '#', ':', '!'])
}

/// Whether a path leads to a member of a package, or of an object that came out of one, that is none which is known to be
/// harmless. A package that is called itself makes what it is for.
pub(in crate::code::javascript) fn is_member_unknown(path: &str) -> bool {
    let Some((module, rest)) = module_of(path) else { return false };
    let package = package_of(module);
    let last = rest.trim_end_matches("()").rsplit(['.', '(', ')']).find(|name| !name.is_empty());
    let inside = module.strip_prefix(package).and_then(|inside| inside.rsplit('/').find(|name| !name.is_empty()));
    let Some(name) = last.or(inside) else { return false };
    name != "default" && !harmless::is_member(Packages::Node, package, name)
}

/// Whether a path leads into a package that is listed.
pub(in crate::code::javascript) fn is_of_package(path: &str) -> bool {
    module_of(path).is_some()
}

/// The module of a package that a path begins with, and what comes after it. Names of packages may have a dot.
fn module_of(path: &str) -> Option<(&str, &str)> {
    let whole = path.strip_prefix("node:")?;
    let end = whole.find('(').unwrap_or(whole.len());
    let name_end = |dots: usize| whole[..end].match_indices('.').nth(dots).map_or(end, |(at, _)| at);
    let module =
        [0, 1].map(|dots| &whole[..name_end(dots)]).into_iter().find(|module| is_package(package_of(module)))?;
    let is_own = OWN.contains(package_of(module)) || OWN.contains(module);
    (!is_own).then(|| (module, &whole[module.len()..]))
}

fn package_of(module: &str) -> &str {
    first(module, if module.starts_with('@') { 2 } else { 1 })
}

/// Whether a package, or every one of its scope, is listed.
fn is_package(name: &str) -> bool {
    PACKAGES.contains(name)
        || name
            .split_once('/')
            .is_some_and(|(scope, _)| scope.starts_with('@') && PACKAGES.contains(&*format!("{scope}/*")))
}

/// Whether a module of a package, or everything in a folder above it, is listed.
fn is_inside(name: &str) -> bool {
    let bare = name.strip_suffix(".js").or_else(|| name.strip_suffix(".mjs")).unwrap_or(name);
    let folder = |(at, _): (usize, &str)| INSIDE.contains(&*format!("{}/*", &name[..at]));
    INSIDE.contains(name) || INSIDE.contains(bare) || name.match_indices('/').any(folder)
}

/// The first parts of a path: `@scope/name/file` is of the package `@scope/name`.
fn first(name: &str, parts: usize) -> &str {
    let end = name.match_indices('/').nth(parts - 1).map_or(name.len(), |(at, _)| at);
    &name[..end]
}

/// Members of packages that run templates, load files by their name, start programs or listen.
const ASKED: &[(&str, Why)] = &[
    ("node:@nestjs/core.NestFactory", SOCKET),
    ("node:express().engine", LOADER),
    ("node:express().listen", SOCKET),
    ("node:express().render", LOADER),
    ("node:express().set", LOADER),
    ("node:fastify().listen", SOCKET),
    ("node:handlebars.registerHelper", CODE),
    ("node:http.Agent.prototype", SOCKET),
    ("node:http.globalAgent", SOCKET),
    ("node:https.Agent.prototype", SOCKET),
    ("node:https.globalAgent", SOCKET),
    ("node:ajv._", CODE),
    ("node:ajv.Name", CODE),
    ("node:ajv().addKeyword", CODE),
    ("node:ajv.str", CODE),
    ("node:ajv/dist/standalone", CODE),
    ("node:bluebird.promisifyAll", LOADER),
    ("node:socket.io()", SOCKET),
    ("node:undici.connect", SOCKET),
    ("node:undici.upgrade", SOCKET),
    ("node:vite.createServer().ssrLoadModule", LOADER),
    ("node:ioredis().call", CODE),
    ("node:ioredis().eval", CODE),
    ("node:ioredis().evalsha", CODE),
    ("node:js-yaml.DEFAULT_FULL_SCHEMA", CODE),
    ("node:knex().migrate", LOADER),
    ("node:knex().seed", LOADER),
    ("node:koa().listen", SOCKET),
    ("node:langchain/experimental", CODE),
    ("node:langchain/load", LOADER),
    ("node:langchain/tools", CODE),
    ("node:lodash-es.template", CODE),
    ("node:lodash-es/template", CODE),
    ("node:lodash.template", CODE),
    ("node:lodash/template", CODE),
    ("node:lodash/fp.template", CODE),
    ("node:lodash/fp/template", CODE),
    ("node:@anthropic-ai/sdk/tools", PROCESS),
    ("node:@langchain/anthropic.tools", PROCESS),
    ("node:@langchain/openai.tools", PROCESS),
    ("node:google-auth-library.ExternalAccountClient", PROCESS),
    ("node:google-auth-library.PluggableAuthClient", PROCESS),
    ("node:morgan.compile", CODE),
    ("node:openai/helpers/audio", PROCESS),
    ("node:solid-js/html", CODE),
    ("node:mathjs.compile", CODE),
    ("node:mathjs.create().evaluate", CODE),
    ("node:mathjs.evaluate", CODE),
    ("node:mathjs.import", CODE),
    ("node:mathjs.parse", CODE),
    ("node:mathjs.parser", CODE),
    ("node:pino.transport", LOADER),
    ("node:redis.createClient().eval", CODE),
    ("node:redis.createClient().sendCommand", CODE),
    ("node:rollup", LOADER),
    ("node:socket.io.Server", SOCKET),
    ("node:tailwindcss/loadConfig", LOADER),
    ("node:typescript.sys", LOADER),
    ("node:vite.build", LOADER),
    ("node:vite.createServer", SOCKET),
    ("node:vite.loadConfigFromFile", LOADER),
    ("node:vite.preview", SOCKET),
    ("node:vitest/node", LOADER),
    ("node:vue.compile", CODE),
    ("node:ws.Server", SOCKET),
    ("node:ws.WebSocketServer", SOCKET),
    ("node:winston.transports.Http", SEND),
    ("node:yargs.commandDir", LOADER),
    ("node:@modelcontextprotocol/sdk/client/stdio", PROCESS),
    ("node:@modelcontextprotocol/sdk/client/stdio.js", PROCESS),
];

/// Why a person is asked about a member of a package.
pub(in crate::code::javascript) fn package_asked(path: &str) -> Option<Why> {
    // Whatever is made by this package evaluates text under these names.
    let evaluates = path.strip_prefix("node:mathjs").is_some_and(|rest| {
        let last = rest.trim_end_matches("()").rsplit('.').next().unwrap_or_default();
        matches!(last, "evaluate" | "parse" | "parser" | "compile" | "import")
    });
    evaluates.then_some(CODE).or_else(|| ASKED.iter().find(|(name, _)| covers(name, path)).map(|(_, why)| *why))
}

/// Packages of which one member is asked about by a name that means nothing elsewhere: they are not handed on.
pub(super) fn is_guarded(path: &str) -> bool {
    matches!(
        path,
        "node:lodash" | "node:lodash-es" | "node:lodash/fp" | "node:typescript" | "node:pino" | "node:mathjs"
    )
}

/// Options with which a package runs, loads or reaches something that nobody has read. An empty path is any call's.
const OPTIONS: &[(&str, &str, Why)] = &[
    ("", "$accumulator", CODE),
    ("", "$function", CODE),
    ("", "$where", CODE),
    ("", "WithDecryption", SECRET),
    ("", "addonPath", NATIVE),
    ("", "allowExtension", NATIVE),
    ("", "allowProtoMethodsByDefault", CODE),
    ("", "allowProtoPropertiesByDefault", CODE),
    ("", "binaryPath", PROCESS),
    ("", "browserExecutable", PROCESS),
    ("", "chromePath", PROCESS),
    ("", "dialectModulePath", LOADER),
    ("", "execPath", PROCESS),
    ("", "executableFile", PROCESS),
    ("", "executablePath", PROCESS),
    ("", "ffmpegPath", PROCESS),
    ("", "ffprobePath", PROCESS),
    ("", "globalSetup", LOADER),
    ("", "isEvalSupported", CODE),
    ("", "migrationsFolder", LOADER),
    ("", "enableScripting", CODE),
    ("", "gsPath", PROCESS),
    ("", "libraryPath", NATIVE),
    ("", "mongocryptdSpawnArgs", PROCESS),
    ("", "mongocryptdSpawnPath", PROCESS),
    ("", "cryptSharedLibPath", LOADER),
    ("", "proxy", DETOUR),
    ("", "pathToClaudeCodeExecutable", PROCESS),
    ("", "pythonPath", PROCESS),
    ("", "runScripts", CODE),
    ("", "shellPath", PROCESS),
    ("", "sendmail", PROCESS),
    ("", "socketPath", SOCKET),
    ("node:ajv", "code", CODE),
    ("node:better-sqlite3", "nativeBinding", LOADER),
    ("node:dotenv", "override", PROCESS),
    ("node:pino", "transport", LOADER),
    ("node:typeorm", "dropSchema", REMOTE),
    ("node:typeorm", "entities", LOADER),
    ("node:typeorm", "migrations", LOADER),
    ("node:typeorm", "subscribers", LOADER),
];

/// Why a person is asked about an option of a call.
pub(in crate::code::javascript) fn option_asked(call: &str, key: &str) -> Option<Why> {
    OPTIONS.iter().find(|(of, name, _)| *name == key && (of.is_empty() || covers(of, call))).map(|(_, _, why)| *why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_known_by_their_package() {
        for name in [
            "fs",
            "node:fs/promises",
            "node:test",
            "lodash",
            "lodash/groupBy",
            "@tanstack/react-query",
            "@aws-sdk/client-sqs",
            "./config.json",
            "next/link",
            "node:sqlite",
            "@modelcontextprotocol/sdk/server/mcp.js",
            "mysql2/promise",
            "leaflet/dist/leaflet.css",
        ] {
            assert!(is_known(name), "{name}");
        }
        for name in ["./local.js", "../src/math", "@/lib/api", "./user.service", "./App.vue", ".."] {
            assert!(is_own(name), "{name}");
        }
        for name in [
            "./x.node",
            "../node_modules/x",
            "../../../../../tmp/x.js",
            "./a/../../x",
            "/tmp/x.js",
            "./x?y",
            "./x.wasm",
        ] {
            assert!(!is_own(name), "{name}");
        }
        for name in [
            "left-pad",
            "ai/mcp-stdio",
            "vite/node",
            "openai/lib/x",
            "./local.js",
            "/etc/x.json",
            "test",
            "sqlite",
            "next",
            "ejs",
            "node:left-pad",
            "data:,x",
            "",
        ] {
            assert!(!is_known(name), "{name}");
        }
    }
}
