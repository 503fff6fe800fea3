//! What functions and packages do to files, to services and to data: read, write, move, delete, send. Only names.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// What a function does to the paths it is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum FileEffect {
    /// Deletes what the first names.
    Delete,
    /// Deletes everything in the folder that the first names, if it is told to.
    DeleteTree,
    /// Moves the first to the second.
    Move,
    /// Makes a folder.
    Folder,
    /// Changes what the first names.
    Write,
    /// Writes the whole of what the first names.
    Overwrite,
    /// Copies the first to the second.
    Copy,
    /// Makes the second lead to the first.
    Link,
    Read,
    /// Gives the names in a folder.
    List,
    /// Gives the names that match.
    Find,
    /// As its mode says, which is the second.
    Open,
}

/// Functions on files, without `Sync`, of modules that have them under the same names.
const FUNCTIONS: &[(FileEffect, &str)] = {
    use FileEffect::{Copy, Delete, DeleteTree, Find, Folder, Link, List, Move, Open, Overwrite, Read, Write};
    &[
        (Delete, "unlink truncate ftruncate"),
        (DeleteTree, "rm rmdir remove emptyDir emptydir rimraf deleteAsync deleteSync del trash"),
        (Move, "rename move"),
        (Folder, "mkdir mkdirs mkdirp ensureDir"),
        (
            Write,
            "appendFile chmod chown lchmod lchown utimes lutimes utime ensureFile createFile fchmod setxattr writev",
        ),
        (
            Overwrite,
            "writeFile createWriteStream outputFile outputJson outputJSON writeJson writeJSON writeTextFile write create \
             WriteStream",
        ),
        (Copy, "copyFile cp copy"),
        (Link, "symlink link ensureLink ensureSymlink createLink createSymlink"),
        (
            Read,
            "readFile createReadStream readJson readJSON readTextFile openAsBlob file readv ReadStream readlink readLink",
        ),
        (List, "readdir readDir opendir"),
        (Find, "glob"),
        (Open, "open openFile"),
    ]
};
/// Modules with such functions.
const FILES: &[&str] = &[
    "node:fs/promises.",
    "node:fs-extra.",
    "node:fs.promises.",
    "node:graceful-fs.promises.",
    "node:graceful-fs.",
    "node:fs.",
    "node:jsonfile.",
    "Deno.",
    "Bun.",
];
/// Functions of other packages, by their qualified names.
const QUALIFIED: &[(FileEffect, &str)] = {
    use FileEffect::{Delete, DeleteTree, Find, Folder, Overwrite, Read};
    &[
        (
            Delete,
            "Bun.file().delete Bun.file().unlink node:fs/promises.open().truncate node:fs.promises.open().truncate \
             Deno.open().truncate",
        ),
        (DeleteTree, "node:rimraf node:rimraf.rimraf node:rimraf.sync node:del node:del.sync node:trash"),
        (Folder, "node:mkdirp node:mkdirp.sync node:mkdirp.mkdirp"),
        (Overwrite, "node:write-file-atomic node:write-file-atomic.sync node:typescript.sys.writeFile"),
        (Read, "node:read-pkg.readPackage node:typescript.sys.readFile node:csvtojson().fromFile"),
        (
            Find,
            "node:glob node:glob.glob node:glob.globSync node:glob.sync node:globby node:globby.globby node:globby.globbySync \
             node:fast-glob node:fast-glob.sync node:fast-glob.glob node:glob.globIterate Bun.Glob().scan Bun.Glob().scanSync",
        ),
    ]
};

fn by_name(table: &'static [(FileEffect, &'static str)]) -> HashMap<&'static str, FileEffect> {
    table.iter().flat_map(|(effect, names)| names.split_ascii_whitespace().map(|name| (name, *effect))).collect()
}

static BY_NAME: LazyLock<HashMap<&str, FileEffect>> = LazyLock::new(|| by_name(FUNCTIONS));
static BY_PATH: LazyLock<HashMap<&str, FileEffect>> = LazyLock::new(|| by_name(QUALIFIED));

/// What a function does to files, and its name without `Sync`.
pub(in super::super) fn of_function(path: &str) -> Option<(FileEffect, &str)> {
    if let Some((path, effect)) = BY_PATH.get_key_value(path) {
        return Some((*effect, path));
    }
    let method = FILES.iter().find_map(|module| path.strip_prefix(module))?;
    let method = method.strip_prefix("promises.").unwrap_or(method);
    let bare = method.strip_suffix("Sync").unwrap_or(method);
    BY_NAME.get(bare).map(|effect| (*effect, bare))
}

/// What a method of an object that nobody knows does to files: only names that nothing else has.
pub(in super::super) fn of_method(method: &str) -> Option<FileEffect> {
    const PLAIN: &str = "unlink rmdir rimraf emptyDir writeFile appendFile copyFile readFile outputFile outputJson writeJson \
         symlink createWriteStream createReadStream writeTextFile readTextFile truncate";
    let bare = method.strip_suffix("Sync").unwrap_or(method);
    let particular = method != bare || PLAIN.split_ascii_whitespace().any(|name| name == bare);
    BY_NAME.get(bare).filter(|_| particular).copied()
}

/// Whether a module has functions on files under their usual names.
pub(in super::super) fn is_files(path: &str) -> bool {
    FILES.iter().any(|module| module.strip_suffix('.') == Some(path)) && !matches!(path, "Deno" | "Bun")
}

/// Whether something is a file or folder that was made for a while.
pub(in super::super) fn is_temporary(path: &str) -> bool {
    path.contains("mkdtemp")
        || path.starts_with("Deno.makeTemp")
        || path.starts_with("node:tmp.") && path.contains(')')
        || path.starts_with("node:tempy") && path.ends_with(')')
}

/// What pages show, browsers keep and people type.
pub(in super::super) fn is_of_page(path: &str) -> bool {
    let told = || {
        [".value", ".innerText", ".textContent", ".innerHTML", ".outerHTML", ".cookie"]
            .iter()
            .any(|end| path.ends_with(end))
    };
    let kept = ["localStorage.", "sessionStorage."].iter().find_map(|store| path.strip_prefix(store));
    let read = |rest: &str| !["setItem", "removeItem", "clear", "length"].iter().any(|name| rest.starts_with(name));
    kept.is_some_and(read)
        || path.starts_with("document.") && told()
        || path.starts_with("document.") && path.ends_with("querySelectorAll()")
        || matches!(
            path,
            "localStorage.getItem()"
                | "sessionStorage.getItem()"
                | "localStorage"
                | "sessionStorage"
                | "navigator.clipboard.readText()"
                | "navigator.clipboard.read()"
                | "navigator.credentials.get()"
                | "navigator.geolocation"
                | "window.getSelection()"
                | "getSelection()"
        )
}

/// Packages by which something leaves this machine. A name with `/*` is every package of that scope.
const NETWORK: &str = "axios node-fetch node-fetch-native cross-fetch isomorphic-fetch undici got ky superagent wretch ofetch http https \
     http2 net tls dgram dns ws isomorphic-ws socket.io socket.io-client nodemailer @sendgrid/mail resend postmark mailgun.js \
     @slack/web-api @slack/webhook telegraf discord.js twilio @aws-sdk/* aws-sdk @google-cloud/* @azure/* @octokit/* octokit \
     firebase firebase-admin googleapis @vercel/blob kafkajs amqplib nats mqtt pusher ably @sentry/node @sentry/browser \
     posthog-node mixpanel graphql-request twitter-api-v2 snoowrap eventsource @supabase/supabase-js @notionhq/client \
     @linear/sdk airtable trello asana jira.js @hubspot/api-client basic-ftp ssh2 ftp node-ssh";
/// Packages whose objects stand for machines, accounts and stores that others use too.
const CLIENTS: &str = "@aws-sdk/* aws-sdk @google-cloud/* @azure/* firebase firebase-admin @octokit/* octokit stripe @slack/web-api \
     discord.js telegraf twilio @notionhq/client @linear/sdk @hubspot/api-client googleapis @elastic/elasticsearch \
     @opensearch-project/opensearch algoliasearch meilisearch typesense @pinecone-database/pinecone chromadb \
     @qdrant/js-client-rest weaviate-client kafkajs amqplib nats @shopify/shopify-api airtable contentful @sanity/client jira.js \
     asana trello plaid @vercel/blob pocketbase appwrite node-appwrite @mailchimp/mailchimp_marketing twitter-api-v2 snoowrap \
     @kubernetes/client-node dockerode cloudflare spotify-web-api-node googlemaps";
/// Packages of databases.
const STORES: &str = "pg mysql mysql2 sqlite sqlite3 better-sqlite3 mongodb mongoose redis ioredis knex sequelize typeorm drizzle-orm \
     kysely @prisma/client @supabase/supabase-js @libsql/client @neondatabase/serverless @planetscale/database \
     @vercel/postgres @vercel/kv @upstash/redis cassandra-driver neo4j-driver";
/// Clients of clouds, messages, payments and chains: of these, what is not known to look is asked about.
const SERVICES: &str = "@aws-sdk/* aws-sdk @google-cloud/* @azure/* firebase-admin @octokit/* octokit stripe @slack/web-api @slack/webhook \
     twilio @notionhq/client @linear/sdk @hubspot/api-client googleapis @shopify/shopify-api airtable contentful jira.js asana \
     trello plaid @vercel/blob pocketbase appwrite node-appwrite @mailchimp/mailchimp_marketing twitter-api-v2 snoowrap \
     spotify-web-api-node nodemailer @sendgrid/mail resend postmark mailgun.js mqtt amqplib nats kafkajs pusher ably ethers viem \
     web3 bitcoinjs-lib @kubernetes/client-node dockerode cloudflare";
/// Packages whose objects are data, pages, routes, tests or caches: a method that is called like one of a service means
/// something else there. Stores and files have rules of their own.
const OTHERWISE: &str = "react react-dom vue svelte preact solid-js express koa fastify hono axios got ky superagent undici ofetch wretch \
     node-fetch lodash lodash-es ramda immer immutable mobx redux zustand jotai recoil valtio xstate rxjs d3 three jquery msw \
     nock supertest sinon chai vitest lru-cache keyv node-cache quick-lru memoizee tough-cookie cookie pinia vuex swr fs-extra \
     leaflet ol mapbox-gl graphology toposort exceljs xlsx jszip adm-zip cheerio jsdom fuse.js lunr minisearch gsap animejs \
     commander yargs inquirer ora debug winston pino events eventemitter3 mitt async p-queue p-limit bottleneck urql \
     @tanstack/* @testing-library/* @apollo/client @reduxjs/toolkit @nestjs/* @angular/* @jest/globals socket.io \
     socket.io-client ws telegraf discord.js fs path os url util crypto http https stream buffer zlib express-session";
/// Packages by the name under which they stand in the table of what acts for an account.
const TABLES: &[(&str, &str)] = &[
    ("@aws-sdk", "aws"),
    ("aws-sdk", "aws"),
    ("@octokit", "github"),
    ("octokit", "github"),
    ("@google-cloud", "google"),
    ("firebase", "google"),
    ("googleapis", "google"),
    ("@azure", "azure"),
    ("@kubernetes", "kubernetes"),
    ("stripe", "stripe"),
];

struct Packages(HashSet<&'static str>);

impl Packages {
    fn new(names: &'static str) -> Self {
        Self(names.split_ascii_whitespace().map(|name| name.strip_suffix("/*").unwrap_or(name)).collect())
    }

    fn has(&self, package: &str) -> bool {
        self.0.contains(package) || package.split_once('/').is_some_and(|(first, _)| self.0.contains(first))
    }
}

static BY_NETWORK: LazyLock<Packages> = LazyLock::new(|| Packages::new(NETWORK));
static BY_CLIENT: LazyLock<Packages> = LazyLock::new(|| Packages::new(CLIENTS));
static BY_SERVICE: LazyLock<Packages> = LazyLock::new(|| Packages::new(SERVICES));
static BY_OTHER: LazyLock<Packages> = LazyLock::new(|| Packages::new(OTHERWISE));
static BY_STORE: LazyLock<Packages> = LazyLock::new(|| Packages::new(STORES));

/// The package that a qualified name begins with. Packages may have dots in their names.
pub(in super::super) fn package(path: &str) -> Option<&str> {
    let rest = path.strip_prefix("node:")?;
    let end = rest.find('(').unwrap_or(rest.len());
    let mut dots = rest[..end].match_indices('.').map(|(at, _)| at);
    let first = dots.next().unwrap_or(end);
    let second = dots.next().unwrap_or(end);
    let known = |name: &str| {
        BY_NETWORK.has(name) || BY_CLIENT.has(name) || BY_STORE.has(name) || BY_SERVICE.has(name) || BY_OTHER.has(name)
    };
    Some(if known(&rest[..second]) && !known(&rest[..first]) { &rest[..second] } else { &rest[..first] })
}

pub(in super::super) fn is_network(package: &str) -> bool {
    BY_NETWORK.has(package)
}

pub(in super::super) fn is_client(package: &str) -> bool {
    BY_CLIENT.has(package)
}

pub(in super::super) fn is_store(package: &str) -> bool {
    BY_STORE.has(package)
}

/// Whether of a package only what looks is understood.
pub(in super::super) fn is_service(package: &str) -> bool {
    BY_SERVICE.has(package)
}

/// Whether methods of a package mean something else than those of services.
pub(in super::super) fn is_otherwise(package: &str) -> bool {
    BY_OTHER.has(package)
}

/// Packages that are named sources of the project to run, build, test or show them.
pub(in super::super) fn takes_sources(package: &str) -> bool {
    const TAKES: &str = "typescript vite vitest @vitejs/* glob fast-glob globby chokidar commander yargs chalk kleur picocolors colors boxen ora \
         express hono koa fastify msw nock @jest/globals tailwindcss postcss shiki highlight.js prismjs minimatch picomatch micromatch \
         ignore find-up jszip archiver react react-dom vue next mime mime-types";
    TAKES
        .split_ascii_whitespace()
        .any(|known| known == package || known.strip_suffix("/*").is_some_and(|scope| package.starts_with(scope)))
}

/// The name of a package in the table of what acts for an account.
pub(in super::super) fn table(package: &str) -> &str {
    TABLES.iter().find(|(start, _)| package.starts_with(start)).map_or(package, |(_, name)| name)
}

/// Global functions and classes by which something leaves this machine or a page.
pub(in super::super) fn is_sender(path: &str) -> bool {
    let root = path.split(['.', '(']).next().unwrap_or(path);
    matches!(root, "fetch" | "WebSocket" | "EventSource" | "XMLHttpRequest" | "Request" | "$" | "jQuery" | "axios")
        && path != "$()"
        || path.starts_with("navigator.sendBeacon")
        || matches!(
            path,
            "window.open" | "open" | "location.assign" | "location.replace" | "Deno.connect" | "Bun.connect"
        )
}

/// Methods by which something is sent, of objects that are not known.
pub(in super::super) fn sends(method: &str) -> bool {
    const SENDS: &str = "capture_message capture_exception emit end files_upload files_upload_v2 patch post post_message publish put \
         request send send_beacon send_document send_mail send_message send_photo upload upload_file write";
    SENDS.split_ascii_whitespace().any(|known| known == method)
}

/// Methods that send the file whose name they are given.
pub(in super::super) fn uploads(method: &str) -> bool {
    ["upload", "send_document", "send_file", "send_photo", "fput_object", "files_upload", "put_file", "attach"]
        .iter()
        .any(|start| method.starts_with(start))
}

/// Methods that make a client, or tell it who it is.
pub(in super::super) fn makes(method: &str) -> bool {
    method.starts_with("create_") && method != "create_read_stream"
        || [
            "extend",
            "config",
            "init",
            "connect",
            "login",
            "set",
            "auth",
            "use",
            "on",
            "once",
            "off",
            "defaults",
            "from",
            "interceptors",
            "agent",
            "default",
            "close",
            "quit",
            "disconnect",
            "destroy",
            "parse",
            "abort",
        ]
        .iter()
        .any(|start| method.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with('_')))
}

/// Options that say who asks, and how.
pub(in super::super) fn is_head(key: &str) -> bool {
    const HEADS: &str = "headers auth cookies timeout token apiKey api_key apikey password pass user username login key secret \
         accessToken credentials dsn connectionString host hostname port baseURL url region agent signal proxy path endpoint \
         Authorization authorization";
    HEADS.split_ascii_whitespace().any(|known| known == key)
}

/// Methods that write the file whose name they are given.
pub(in super::super) fn writes(method: &str) -> bool {
    [
        "write_",
        "save",
        "output",
        "export",
        "to_file",
        "download",
        "extract",
        "dump",
        "screenshot",
        "pdf",
        "unpack",
        "unzip",
        "add_local",
        "directory",
        "generate_file",
        "store",
    ]
    .iter()
    .any(|start| method.starts_with(start))
        || matches!(method, "extract" | "pdf" | "file_transport")
}

/// Functions that only look at what they are given, compare it or show it.
pub(in super::super) fn only_looks(method: &str) -> bool {
    const LOOKS: &str = "access accessSync exists existsSync stat statSync lstat lstatSync join resolve normalize basename dirname \
         extname relative isAbsolute parse format includes startsWith endsWith indexOf match test replace replaceAll split \
         log info warn error debug trace table push add has get set delete describe it expect toBe toEqual toContain \
         toMatch toStrictEqual toThrow equal strictEqual deepEqual deepStrictEqual notEqual ok config watch fromEntries \
         concat filter option command argument Error String slice trim pathToFileURL fileURLToPath URL RegExp \
         existsAsync querySelector querySelectorAll getElementById matches closest";
    static SET: LazyLock<HashSet<&str>> = LazyLock::new(|| LOOKS.split_ascii_whitespace().collect());
    SET.contains(method)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_known_under_all_their_names() {
        for path in ["node:fs.unlinkSync", "node:fs/promises.unlink", "node:fs.promises.unlink", "node:fs-extra.unlink"]
        {
            assert_eq!(of_function(path), Some((FileEffect::Delete, "unlink")), "{path}");
        }
        assert_eq!(of_function("Deno.removeSync"), Some((FileEffect::DeleteTree, "remove")));
        assert_eq!(of_function("node:fs.statSync"), None);
        assert_eq!(of_method("unlinkSync"), Some(FileEffect::Delete));
        assert_eq!(of_method("remove"), None);
    }

    #[test]
    fn packages_have_dots_and_scopes() {
        for (path, name) in [
            ("node:discord.js.Client()", "discord.js"),
            ("node:pg.Pool().query", "pg"),
            ("node:@aws-sdk/client-s3.S3Client()", "@aws-sdk/client-s3"),
            ("node:axios", "axios"),
        ] {
            assert_eq!(package(path), Some(name));
        }
        assert!(is_client("@aws-sdk/client-s3") && is_network("dns/promises") && !is_client("lodash"));
        assert_eq!(table("@octokit/rest"), "github");
    }
}
