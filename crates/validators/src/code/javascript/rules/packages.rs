//! What packages are known, and what of them evaluates, loads or starts something.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::{CODE, LOADER, NATIVE, PROCESS, REMOTE, SECRET, SEND, SOCKET, Why, covers};

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
    ASKED.iter().find(|(name, _)| covers(name, path)).map(|(_, why)| *why)
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
    ("", "allowExtension", NATIVE),
    ("", "allowProtoMethodsByDefault", CODE),
    ("", "allowProtoPropertiesByDefault", CODE),
    ("", "dialectModulePath", LOADER),
    ("", "executableFile", PROCESS),
    ("", "executablePath", PROCESS),
    ("", "globalSetup", LOADER),
    ("", "mongocryptdSpawnArgs", PROCESS),
    ("", "mongocryptdSpawnPath", PROCESS),
    ("", "cryptSharedLibPath", LOADER),
    ("", "runScripts", CODE),
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
