//! What functions and methods do to files, to services and to data: read, write, move, delete, send. Only names.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// What a function does to the paths it is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum FileEffect {
    /// Deletes what the first names.
    Delete,
    /// Moves the first to the second.
    Move,
    /// Changes or makes what the first names.
    Write,
    /// Copies the first to the second.
    Copy,
    /// Makes the second lead to the first.
    Link,
    /// Reads what the first names.
    Read,
    /// As its mode says, which is the second.
    Open,
}

/// Functions on files, by their qualified names.
const FUNCTIONS: &[(FileEffect, &str)] = {
    use FileEffect::{Copy, Delete, Link, Move, Open, Read, Write};
    &[
        (
            Delete,
            "os.remove os.unlink os.rmdir os.removedirs os.truncate os.ftruncate posix.remove posix.unlink posix.rmdir \
             nt.remove nt.unlink aiofiles.os.remove aiofiles.os.unlink aiofiles.os.rmdir aiofiles.os.removedirs \
             shutil.rmtree aioshutil.rmtree send2trash.send2trash tensorflow.io.gfile.remove tensorflow.io.gfile.rmtree \
             tensorflow.compat.v1.gfile.DeleteRecursively distutils.dir_util.remove_tree",
        ),
        (
            Move,
            "os.rename os.renames os.replace shutil.move aiofiles.os.rename aiofiles.os.replace aiofiles.os.renames \
             tensorflow.io.gfile.rename posix.rename posix.replace",
        ),
        (
            Write,
            "os.chmod os.chown os.lchown os.mkdir os.makedirs os.mkfifo os.mknod os.utime os.setxattr os.creat \
             aiofiles.os.mkdir aiofiles.os.makedirs logging.basicConfig logging.FileHandler logging.handlers.RotatingFileHandler \
             logging.handlers.TimedRotatingFileHandler logging.handlers.WatchedFileHandler shelve.open dbm.open",
        ),
        (Copy, "shutil.copy shutil.copy2 shutil.copyfile shutil.copytree tensorflow.io.gfile.copy"),
        (Link, "os.symlink os.link aiofiles.os.symlink aiofiles.os.link"),
        (
            Read,
            "linecache.getlines linecache.getline mailbox.mbox mailbox.Maildir netrc.netrc sqlite3.connect os.listdir \
             os.scandir os.walk glob.glob glob.iglob mmap.mmap configparser.ConfigParser().read csv.reader aiosqlite.connect \
             duckdb.connect duckdb.read_csv http.cookiejar.MozillaCookieJar plistlib.readPlist",
        ),
        (
            Open,
            "builtins.open io.open codecs.open os.open aiofiles.open gzip.open bz2.open lzma.open tarfile.open tarfile.TarFile \
             zipfile.ZipFile fsspec.open smart_open.open tensorflow.io.gfile.GFile h5py.File io.FileIO bz2.BZ2File \
             gzip.GzipFile lzma.LZMAFile wave.open",
        ),
    ]
};

/// What a function does to files.
pub(in super::super) fn of_function(path: &str) -> Option<FileEffect> {
    static BY_NAME: LazyLock<HashMap<&str, FileEffect>> = LazyLock::new(|| {
        let each = |(effect, names): &(FileEffect, &'static str)| {
            let effect = *effect;
            names.split_ascii_whitespace().map(move |name| (name, effect))
        };
        FUNCTIONS.iter().flat_map(each).collect()
    });
    BY_NAME.get(path).copied()
}

/// What a method of a path does to it.
pub(in super::super) fn of_method(name: &str) -> Option<FileEffect> {
    use FileEffect::{Delete, Link, Move, Open, Read, Write};
    Some(match name {
        "unlink" | "rmdir" | "rmtree" | "remove" => Delete,
        "rename" | "replace" | "move" | "move_into" => Move,
        "write_text" | "write_bytes" | "touch" | "mkdir" | "chmod" | "lchmod" => Write,
        "symlink_to" | "hardlink_to" | "link_to" => Link,
        "read_text" | "read_bytes" | "iterdir" | "glob" | "rglob" | "walk" => Read,
        "open" => Open,
        _ => return None,
    })
}

/// Methods that delete files, by names that nothing else has.
pub(in super::super) const DELETES: &[&str] = &[
    "delete_dir",
    "delete_dir_contents",
    "delete_root_dir_contents",
    "deltree",
    "rm",
    "rm_file",
    "rmdir",
    "rmtree",
    "remove_tree",
    "removedir",
    "removedirs",
    "removetree",
    "unlink",
];
/// Beginnings of methods that write the file whose name they are given.
const WRITES: &[&str] = &[
    "basicConfig",
    "download",
    "dump",
    "export",
    "extract",
    "imsave",
    "imwrite",
    "output",
    "save",
    "screenshot",
    "sink_",
    "snapshot_download",
    "to_",
    "urlretrieve",
    "write_",
    "writeto",
];

/// Whether a method writes the file whose name it is given.
pub(in super::super) fn writes(name: &str) -> bool {
    WRITES.iter().any(|start| name.starts_with(start))
}

/// Beginnings of methods that read the file whose name they are given.
pub(in super::super) fn reads(name: &str) -> bool {
    [
        "read",
        "load",
        "open",
        "from_file",
        "from_path",
        "parse",
        "imread",
        "fromfile",
        "loadtxt",
        "genfromtxt",
        "get_file",
        "scan_",
        "File",
        "InputFile",
        "FSInputFile",
        "Document",
        "goto",
        "get",
        "connect",
        "storbinary",
        "attach",
        "add",
        "listdir",
        "walk",
    ]
    .iter()
    .any(|start| name.starts_with(start))
}

/// Whether a method only reads, by its name.
pub(in super::super) fn only_reads(name: &str) -> bool {
    ["read", "load", "open", "parse", "get", "from_", "scan_", "listdir", "walk"]
        .iter()
        .any(|start| name.starts_with(start))
}

/// Packages that are named sources of the project to run, test or show them.
pub(in super::super) fn takes_sources(package: &str) -> bool {
    matches!(package, "pytest" | "click" | "typer" | "rich" | "streamlit" | "pygments" | "responses" | "celery")
}

/// Whether a method looks at a source, beside those that read any file.
pub(in super::super) fn reads_sources(name: &str) -> bool {
    matches!(
        name,
        "Path"
            | "File"
            | "exists"
            | "info"
            | "find"
            | "glob"
            | "guess_lexer_for_filename"
            | "main"
            | "main_file"
            | "Field"
    ) || name.contains("read")
        || name.contains("get")
}

/// Beginnings of methods that send the file whose name they are given.
pub(in super::super) fn uploads(name: &str) -> bool {
    [
        "upload",
        "fput_object",
        "put_file",
        "send_document",
        "send_file",
        "send_photo",
        "log_artifact",
        "log_code",
        "log_file",
        "files_upload",
        "filesUpload",
        "storbinary",
        "storlines",
        "import_from_",
    ]
    .iter()
    .any(|start| name.starts_with(start))
        || matches!(name, "put" | "sync")
}

/// Functions that show or keep what they are given where others read it.
pub(in super::super) fn shows(path: &str) -> bool {
    let last = path.rsplit('.').next().unwrap_or(path);
    matches!(
        path,
        "builtins.print" | "sys.stdout.write" | "sys.stderr.write" | "click.echo" | "rich.print" | "typer.echo"
    ) || (path.starts_with("logging.") || path.starts_with("loguru.") || path.starts_with("structlog."))
        && matches!(last, "debug" | "info" | "warning" | "error" | "critical" | "log" | "exception")
}

/// Packages by which something leaves this machine.
const NETWORK: &str = "aiohttp aiokafka aiosmtplib asyncssh azure boto3 botocore celery confluent_kafka discord dns elasticsearch \
     fabric ftplib gitlab github google googleapiclient gql grpc http httpcore httplib2 httpx huggingface_hub imaplib kafka \
     ldap3 motor nats nntplib oauthlib opentelemetry paho paramiko pika poplib praw pymongo pysftp redis requests \
     requests_oauthlib requests_toolbelt s3fs gcsfs minio sendgrid sentry_sdk serial slack_sdk smtplib socketio tornado \
     telegram telnetlib tweepy twilio urllib urllib3 wandb websocket websockets xmlrpc zmq mlflow comet_ml neptune \
     dropbox treq asks influxdb_client prometheus_client snowflake pycurl";
/// Methods by which something is sent, of objects that are not known.
const SENDS: &str = "capture_message capture_exception captureMessage emit files_upload files_upload_v2 patch post publish put put_object request \
     send send_document send_file send_message send_json send_photo send_str sendall sendmail sendto send_bytes stream \
     storbinary storlines submit upload upload_blob upload_file upload_fileobj upload_from_file upload_from_filename \
     upload_from_string urlopen write";
/// Requests that fetch what an address names.
const FETCHES: &str = "get head options urlopen urlretrieve stream fetch resolve query";
/// Arguments that say who asks, and how.
const HEADS: &str = "headers header auth cookies timeout verify cert proxies proxy token api_key apikey password passwd user \
     username login key secret api_secret client_secret bearer_token access_token aws_access_key_id aws_secret_access_key \
     aws_session_token credential credentials dsn connection_string host hostname port base_url url region_name";

fn listed(list: &str, name: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == name)
}

pub(in super::super) fn is_network(package: &str) -> bool {
    static SET: LazyLock<HashSet<&str>> = LazyLock::new(|| NETWORK.split_ascii_whitespace().collect());
    SET.contains(package)
}

pub(in super::super) fn sends(method: &str) -> bool {
    listed(SENDS, method)
}

pub(in super::super) fn fetches(method: &str) -> bool {
    listed(FETCHES, method)
}

/// Whether the first thing that a request is given is the address.
pub(in super::super) fn asks(method: &str) -> bool {
    matches!(
        method,
        "post" | "put" | "patch" | "delete" | "request" | "Request" | "connect" | "ws_connect" | "create_connection"
    )
}

pub(in super::super) fn is_head(keyword: &str) -> bool {
    listed(HEADS, keyword)
}

/// Packages whose objects stand for machines, accounts and stores that others use too.
const CLIENTS: &str = "aioboto3 aiobotocore azure boto boto3 botocore clickhouse_connect cloudflare digitalocean discord docker \
     elasticsearch github gitlab google googleapiclient heroku3 hcloud imaplib influxdb_client jenkins kafka kubernetes \
     kubernetes_asyncio ldap3 linode_api4 minio mlflow neo4j openstack opensearchpy pinecone podman poplib pulumi pyVmomi \
     qdrant_client chromadb slack_sdk snowflake stripe supabase telegram tweepy twilio vercel weaviate atlassian jira \
     notion_client aiokafka confluent_kafka huggingface_hub celery rq";
/// Packages of databases.
const STORES: &str = "aioredis arango asyncpg beanie cassandra couchdb django motor mongoengine peewee pony pymongo redis rediscluster \
     sqlalchemy sqlmodel tinydb tortoise flask_sqlalchemy odmantic cachetools_redis";
/// Clients of clouds, clusters, messages, payments and devices: of these, what is not known to look is asked about.
const SERVICES: &str = "aioboto3 aiobotocore azure boto boto3 botocore cloudflare digitalocean docker dropbox fsspec github gitlab google \
     googleapiclient heroku3 hcloud jenkins kubernetes kubernetes_asyncio ldap3 linode_api4 minio openstack pulumi pyVmomi \
     slack_sdk stripe tweepy twilio vercel atlassian jira notion_client kafka confluent_kafka sendgrid praw pika \
     paho nats serial";
/// Parts of these that only make requests or read texts.
const HARMLESS_PARTS: &[&str] =
    &["google.generativeai", "google.genai", "google.protobuf", "google.auth", "google.oauth2"];
/// Packages whose objects are data, pages, tests or drawings: a method that is called like one of a service means something
/// else there. Stores have rules of their own.
const OTHERWISE: &str = "numpy pandas polars xarray dask pyarrow geopandas networkx sympy torch torchvision torchaudio tensorflow keras \
     sklearn scipy matplotlib seaborn plotly bokeh altair PIL cv2 skimage spacy nltk transformers datasets tokenizers openpyxl \
     docx xlsxwriter reportlab pypdf PyPDF2 fitz pymupdf pdfplumber lxml bs4 pygame textual prompt_toolkit rich click typer \
     flask fastapi starlette quart litestar tornado django rest_framework aiohttp httpx requests urllib3 pytest hypothesis \
     sqlparse streamlit shapely folium gymnasium statsmodels xgboost lightgbm catboost sortedcontainers cachetools frozendict \
     tomlkit wtforms flask_login flask_wtf flask_restful graphene strawberry responses respx requests_mock selenium playwright \
     websockets yaml jinja2 markdown attr attrs pydantic marshmallow toolz funcy more_itertools arrow pendulum dateutil";

/// Whether a qualified name is of a client of which only what looks is understood.
pub(in super::super) fn is_service(path: &str) -> bool {
    static SET: LazyLock<HashSet<&str>> = LazyLock::new(|| SERVICES.split_ascii_whitespace().collect());
    SET.contains(path.split(['.', '(']).next().unwrap_or(path))
        && !HARMLESS_PARTS.iter().any(|part| path.starts_with(part))
}

/// Whether methods of a package mean something else than those of services.
pub(in super::super) fn is_otherwise(package: &str) -> bool {
    static SET: LazyLock<HashSet<&str>> = LazyLock::new(|| OTHERWISE.split_ascii_whitespace().collect());
    SET.contains(package)
}

pub(in super::super) fn is_client(package: &str) -> bool {
    static SET: LazyLock<HashSet<&str>> = LazyLock::new(|| CLIENTS.split_ascii_whitespace().collect());
    SET.contains(package)
}

pub(in super::super) fn is_store(package: &str) -> bool {
    static SET: LazyLock<HashSet<&str>> = LazyLock::new(|| STORES.split_ascii_whitespace().collect());
    SET.contains(package)
}
