//! Packages that do ordinary work and can start programs or load code: by which methods and which arguments they do.

const WATCHED: &[Watched] = &[
    Watched("PIL", "show", "command"),
    Watched("aiohttp", "UnixConnector NamedPipeConnector", ""),
    Watched("azure", "AzureCliCredential AzureDeveloperCliCredential AzurePowerShellCredential", ""),
    Watched("bokeh", "", "browser"),
    Watched("celery", "config_from_object autodiscover_tasks worker_main start", "include imports config_source"),
    Watched("coverage", "", "plugins"),
    Watched("dask", "SSHCluster", ""),
    Watched("django", "populate setup", ""),
    Watched(
        "docker",
        "build* commit containers_run create* exec* import* kill* load* prune* push* put_archive remove* restart run \
         start stop update",
        "volumes privileged",
    ),
    Watched("discord", "", "executable before_options"),
    Watched("duckdb", "install_extension", "config"),
    Watched("flask", "from_pyfile from_envvar", ""),
    Watched("gensim", "load", ""),
    Watched("graphviz", "set_default_engine view", "engine renderer view"),
    Watched("httpx", "", "uds"),
    Watched("huggingface_hub", "upload_* create_repo delete_*", ""),
    Watched("joblib", "Memory register_parallel_backend", "backend"),
    Watched("lightning", "load_from_checkpoint", ""),
    Watched("keras", "deserialize_keras_object", ""),
    Watched("kubernetes", "connect_* create_* delete_* patch_* replace_* stream", ""),
    Watched("langchain_core", "", "template_format"),
    Watched("langchain_text_splitters", "from_huggingface_tokenizer", ""),
    Watched("lark", "", "cache"),
    Watched("lxml", "", "resolve_entities load_dtd"),
    Watched("logging", "HTTPHandler SMTPHandler", ""),
    Watched("matplotlib", "", "usetex"),
    Watched("mss", "grab save shot", ""),
    Watched("nltk", "config_java java", ""),
    Watched("pandas", "read_hdf", ""),
    Watched("playwright", "", "executable_path"),
    Watched("pydantic", "", "proto allow_pickle"),
    Watched("selenium", "execute_cdp_cmd", "executable_path service_args browser_executable_path"),
    Watched("skimage", "use_plugin", ""),
    Watched("smtplib", "docmd putcmd send", ""),
    Watched("spacy", "project_run run_commands run_command", ""),
    Watched("statsmodels", "load", ""),
    Watched("tkinter", "call createcommand eval evalfile send", ""),
    Watched("torch", "load_url load_state_dict_from_url", ""),
    Watched("transformers", "load_tool from_hub", ""),
    Watched("turtle", "call eval evalfile getcanvas send", ""),
    Watched("unittest", "loadTestsFromName loadTestsFromNames", ""),
];

/// Methods and functions that hand a statement to a database.
pub(in super::super) const TAKES_SQL: &[&str] = &[
    "DDL",
    "SQL",
    "copy",
    "copy_expert",
    "exec_driver_sql",
    "execute",
    "execute_sql",
    "executemany",
    "executescript",
    "fetch",
    "fetchrow",
    "fetchval",
    "from_query",
    "query",
    "raw",
    "read_sql",
    "read_sql_query",
    "read_database",
    "sql",
    "text",
];

/// Attributes that say which program a package starts.
pub(in super::super) const STORED: &[&str] =
    &["bin_path", "binary_location", "chromium_args", "executable", "executable_path", "ffmpeg_path", "tesseract_cmd"];

fn fits(list: &str, name: &str) -> bool {
    list.split_ascii_whitespace().any(|word| match word.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => word == name,
    })
}

/// What is watched of a package that a program imports.
pub(in super::super) fn of(package: &str) -> impl Iterator<Item = &'static Watched> {
    WATCHED.iter().filter(move |line| line.0 == package)
}

/// Package, methods (a `*` at the end stands for any rest) and names of arguments.
#[derive(Debug)]
pub(in super::super) struct Watched(&'static str, &'static str, &'static str);

impl Watched {
    /// The package.
    pub(in super::super) const fn package(&self) -> &'static str {
        self.0
    }

    /// Whether a method of this name is watched.
    pub(in super::super) fn has_method(&self, name: &str) -> bool {
        fits(self.1, name)
    }

    /// Whether an argument of this name is.
    pub(in super::super) fn has_argument(&self, name: &str) -> bool {
        fits(self.2, name)
    }
}
