//! Packages that do ordinary work and can start programs or load code: by which methods and which arguments they do.

/// Package, methods (a `*` at the end stands for any rest) and names of arguments.
const WATCHED: &[(&str, &str, &str)] = &[
    ("PIL", "", "command"),
    ("bokeh", "", "browser"),
    ("celery", "config_from_object autodiscover_tasks worker_main start", "include imports config_source"),
    ("coverage", "", "plugins"),
    ("dask", "SSHCluster", ""),
    ("django", "populate setup", ""),
    (
        "docker",
        "build* commit containers_run create* exec* import* kill* load* prune* push* put_archive remove* restart run \
         start stop update",
        "volumes privileged",
    ),
    ("duckdb", "install_extension", "config"),
    ("flask", "from_pyfile from_envvar", ""),
    ("gensim", "load", ""),
    ("graphviz", "set_default_engine view", "engine renderer"),
    ("huggingface_hub", "upload_* create_repo delete_*", ""),
    ("joblib", "register_parallel_backend", "backend"),
    ("keras", "deserialize_keras_object", ""),
    ("kubernetes", "connect_* create_* delete_* patch_* replace_* stream", ""),
    ("nltk", "config_java java", ""),
    ("pandas", "read_hdf", ""),
    ("playwright", "", "executable_path"),
    ("pydantic", "", "proto allow_pickle"),
    ("selenium", "execute_cdp_cmd", "executable_path service_args browser_executable_path"),
    ("skimage", "use_plugin", ""),
    ("spacy", "project_run run_commands run_command", ""),
    ("statsmodels", "load", ""),
    ("tkinter", "call createcommand eval evalfile send", ""),
    ("torch", "load_url load_state_dict_from_url", ""),
    ("transformers", "load_tool from_hub", ""),
    ("turtle", "call eval evalfile getcanvas send", ""),
    ("unittest", "loadTestsFromName loadTestsFromNames", ""),
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
    &["binary_location", "chromium_args", "executable", "executable_path", "ffmpeg_path", "tesseract_cmd"];

fn fits(list: &str, name: &str) -> bool {
    list.split_ascii_whitespace().any(|word| match word.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => word == name,
    })
}

/// The packages of which a method of this name is watched.
pub(in super::super) fn by_name(name: &str) -> impl Iterator<Item = &'static str> {
    WATCHED.iter().filter(move |(_, names, _)| fits(names, name)).map(|(package, ..)| *package)
}

/// The packages of which an argument of this name is watched.
pub(in super::super) fn by_keyword(name: &str) -> impl Iterator<Item = &'static str> {
    WATCHED.iter().filter(move |(.., keywords)| fits(keywords, name)).map(|(package, ..)| *package)
}
