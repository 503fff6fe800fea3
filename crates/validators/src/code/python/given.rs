//! What packages are given: options that name programs, modules or data that runs, addresses on which a program listens,
//! texts that are evaluated and were read somewhere else, and settings that decide what a package loads. A person is asked.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use ruff_text_size::TextSize;

use super::Checker;
use super::calls::Arguments;
use super::rules;
use super::value::Val;
use crate::code::harmless::{self, Packages};
use crate::code::{known, places, settings};

/// Options that name a program, a module, a library or a file that runs.
const NAMING: &str = "executable executable_path exec_path binary binary_path binary_location bin bin_path exe program prog cmd command \
     commands shell editor browser interpreter python_executable launcher gs_path gs_exec tesseract_cmd ffmpeg_path \
     ffmpeg_executable java_path java_home poppler_path wkhtmltopdf dot_path driver_path driver_executable_path \
     preexec_fn init_script init_command startup_script pre_command post_command plugin plugins plugin_dir plugin_dirs \
     extension_path import_path app_import_path module_path library_path lib_path dll dll_path so_path fixups includes \
     stylesheet xslt bytecode_cache custom_generate custom_pipeline safe_to_import entry_point entry_points ckpt_path \
     resume_from_checkpoint data_home credential_process credential_helper proxy_command use_ssh_client template_format \
     mongocryptd_spawn_path crypt_shared_lib_path geos_library_path gdal_library_path script_path hubconf config_source \
     env_file_loader tokenizer_code class_path target_class config_file rcfile conf_file settings_module libraries \
     template_libraries builtins_module options_module";
/// Options that let data run as code where they are on.
const TRUSTING: &str = "trust_remote_code allow_pickle allow_dangerous_deserialization allow_unsafe unsafe allow_code allow_unsigned_extensions \
     enable_load_extension allow_extension use_pickle pickle repair";
/// Packages in which text becomes code: what was read somewhere else is not theirs to see.
const EVALUATING: &str = "sympy patsy numba numexpr mpmath asteval simpleeval jinja2 mako attr attrs formulaic";
/// Packages that import what a text of the form `module:name` names.
const LOADING: &str =
    "celery flask gymnasium gym uvicorn gunicorn hypercorn litestar babel quart sanic pluggy hydra mcp prefect airflow";
/// Settings of drawings that only say how they look.
const LOOKS: &str = "figure axes axes3d font lines legend grid xtick ytick savefig image patch boxplot hist errorbar scatter date mathtext \
     contour hatch markers svg timezone interactive agg polaraxes xaxis yaxis pcolor pcolormesh";

/// Engines, backends and schedulers that come with packages in daily use. Others are plugins, which are imported by name.
const ENGINES: &str = "python c pyarrow python-fwf openpyxl xlrd odf calamine xlsxwriter fastparquet numexpr numba cython netcdf4 h5netcdf scipy \
     zarr pydap cfgrib auto streaming cpu gpu in-memory dot neato fdp circo twopi sfdp osage patchwork inductor eager aot_eager \
     cudagraphs nccl gloo mpi threading threads sync synchronous single-threaded agg tkagg qtagg qt5agg webagg pdf svg ps cairo \
     matplotlib plotly bokeh html default pillow ffmpeg lxml html5lib bs4 etree xml sqlalchemy adbc connectorx duckdb polars pandas \
     numpy jax torch tensorflow redis memory file json inline statsmodels sqlite asyncio trio svgwrite kaleido vl-convert colab \
     notebook jupyterlab vscode mimetype vegafusion altair gtk macosx osx lbfgs";
/// Flags of browsers that only say how they look and what they load.
const FLAGS: &str = "headless no-sandbox disable-gpu window-size disable-dev-shm-usage incognito lang start-maximized user-agent \
     disable-extensions mute-audio disable-blink-features ignore-certificate-errors disable-setuid-sandbox disable-infobars \
     disable-notifications disable-popup-blocking log-level silent private width height hide-scrollbars force-device-scale-factor \
     disable-software-rasterizer disable-web-security start-fullscreen kiosk disable-logging blink-settings";
/// Packages whose `load` reads data and nothing else.
const READING: &str = "PIL pillow toml tomli tomlkit orjson ujson simplejson msgspec librosa soundfile pygame datasets omegaconf marshmallow \
     shapely bson itsdangerous cattrs xmltodict environs yaml numpy joblib spacy seaborn skimage tinydb feedparser ics icalendar \
     jwt jose authlib pyarrow pycountry tokenizers tiktoken mcp discord dotenv rest_framework dacite bs4 gql";
/// Operators by which a database runs code or overwrites.
pub(super) const OPERATORS: [&str; 5] = ["$where", "$function", "$accumulator", "$out", "$merge"];

fn set(words: &'static str) -> HashSet<&'static str> {
    words.split_ascii_whitespace().collect()
}

static BY_NAMING: LazyLock<HashSet<&str>> = LazyLock::new(|| set(NAMING));
static BY_TRUSTING: LazyLock<HashSet<&str>> = LazyLock::new(|| set(TRUSTING));
static BY_EVALUATING: LazyLock<HashSet<&str>> = LazyLock::new(|| set(EVALUATING));
static BY_LOADING: LazyLock<HashSet<&str>> = LazyLock::new(|| set(LOADING));
static BY_ENGINE: LazyLock<HashSet<&str>> = LazyLock::new(|| set(ENGINES));
static BY_FLAG: LazyLock<HashSet<&str>> = LazyLock::new(|| set(FLAGS));
static BY_READING: LazyLock<HashSet<&str>> = LazyLock::new(|| set(READING));
static BY_LOOKS: LazyLock<HashSet<&str>> = LazyLock::new(|| set(LOOKS));

/// Names in packages that start programs, load code, unpickle or listen, found by reading the sources of the packages: a
/// package in each line.
static REACHING: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    let lines = include_str!("../known/reaching.txt").lines();
    lines.filter_map(|line| line.split_once(' ')).collect()
});

/// Whether a name in a package leads out of it.
pub(super) fn reaches(package: &str, name: &str) -> bool {
    REACHING.get(package).is_some_and(|names| names.split_ascii_whitespace().any(|known| known == name))
}

/// Whether a member of a package, or of an object that came out of one, is none that is known to be harmless.
pub(super) fn is_member_unknown(of: &str, name: &str) -> bool {
    let package = of.split(['.', '(']).next().unwrap_or_default();
    // What a call answered may be called: it was judged where it was made.
    let name = name.trim_end_matches("()");
    known::is_of_package(package)
        && !name.starts_with('_')
        && !known::is_listed(of, name)
        && !harmless::is_member(Packages::Python, package, name)
}

/// Whether a name says by its words that it loads code, starts something or listens, in whatever package.
fn says_so(package: &str, name: &str) -> bool {
    const LOADED: [&str; 15] = [
        "module",
        "modules",
        "extension",
        "extensions",
        "plugin",
        "plugins",
        "library",
        "libraries",
        "dll",
        "pickle",
        "unpickle",
        "entrypoint",
        "entrypoints",
        "opus",
        "jar",
    ];
    let words = || name.split('_');
    let has = |word: &str| words().any(|one| one == word);
    let first = words().next().unwrap_or_default();
    let builds_models = matches!(package, "torch" | "tensorflow" | "keras" | "lightning" | "markdown" | "jinja2");
    let loads =
        matches!(first, "load" | "reload" | "import" | "register" | "find" | "discover" | "autodiscover" | "install")
            && LOADED.iter().any(|word| has(word))
            && !(builds_models && first == "register");
    let runs = name.contains('_') && (has("exec") || has("eval") || has("unsafe")) && name != "exec_driver_sql";
    let shows = has("browser") && (has("open") || has("in")) || has("editor") && (has("open") || has("in"));
    let is_server = is_listener(package, name);
    let listens = is_server || has("listen") || name.contains("http_server") || name.contains("bind_socket");
    let unpickles = name.contains("pickle") && !name.starts_with("to_") && !name.starts_with("dump");
    let reads_code = matches!(name, "load" | "loads" | "deserialize" | "deserialise" | "unpickle" | "restore")
        && !BY_READING.contains(package);
    let macros = has("vba") || has("macro") || has("macros");
    loads || runs || shows || listens || unpickles || reads_code || macros || name == "serve"
}

/// Whether a name in a module is one of what listens.
pub(super) fn is_listener(package: &str, name: &str) -> bool {
    name.len() > 6
        && ["Server", "ServerBase"].iter().any(|end| name.ends_with(end))
        && !matches!(package, "mcp" | "fastmcp" | "xmlrpc")
}

impl Checker<'_> {
    /// A call of a package, or of an object that nobody knows.
    pub(super) fn doubt_given(&mut self, base: Option<&Val>, name: &str, arguments: &Arguments, at: TextSize) {
        let path = base.and_then(Val::as_path);
        let root = path.map(|path| path.split(['.', '(']).next().unwrap_or_default());
        let own = self.methods.contains(name)
            || matches!(base, Some(Val::Func(_) | Val::Class(_) | Val::File(_) | Val::Listed(_) | Val::Names(_)))
            || base.is_some_and(Val::is_literal);
        if own || root.is_some_and(|root| known::is_of_library(root) || root == "builtins") {
            return;
        }
        let package = root.unwrap_or_default();
        if root.is_none() && !self.uses_packages() {
            return;
        }
        let by_name = if root.is_some() {
            reaches(package, name) || says_so(package, name)
        } else {
            self.packages.iter().any(|package| reaches(package, name))
        };
        let names = arguments.keywords.iter().any(|(key, value)| {
            let key = key.to_ascii_lowercase();
            BY_NAMING.contains(&*key) && names_something(value) || BY_TRUSTING.contains(&*key) && is_on(value)
        });
        let trusts = arguments.all().any(|value| holds_trust(value, 0));
        let plugs = arguments.keywords.iter().any(|(key, value)| {
            matches!(key.as_str(), "engine" | "backend" | "scheduler" | "renderer" | "loader" | "kernel_name")
                && value.each().iter().any(|value| match value {
                    Val::Text(text) => !text.is_empty() && !BY_ENGINE.contains(&*text.to_ascii_lowercase()),
                    Val::Opaque | Val::Private(_) => true,
                    _ => false,
                })
        });
        let sets = arguments.keyword("env").or_else(|| arguments.keyword("environment"));
        let sets = sets.and_then(Val::elements).is_some_and(|keys| {
            keys.iter().filter_map(Val::as_str).any(|key| crate::shell::decides(&key.to_ascii_uppercase()))
        });
        let listens = arguments.all().flat_map(Val::each).filter_map(Val::as_str).any(is_every_address);
        let names_code = root.is_some() && known::is_of_package(package) && names_code(package, name, arguments);
        let loads = names_code || BY_LOADING.contains(package) && arguments.all().any(|value| holds_entry(value, 0));
        let evaluates = (BY_EVALUATING.contains(package) || takes_text(name))
            && arguments.all().any(|value| is_foreign(value, package));
        let serves = name == "run"
            && arguments.keyword("transport").is_some_and(|transport| transport.as_str() != Some("stdio"));
        let uploads = matches!(name, "create" | "upload") && path.is_some_and(|path| path.ends_with(".files"));
        let told = uploads || self.is_told_more(package, name, arguments);
        if let Some(path) = path.filter(|path| is_member_unknown(path, name)) {
            self.doubt(at, &format!("{path}.{name}"));
        }
        if by_name || names || trusts || listens || loads || evaluates || serves || told || plugs || sets {
            self.doubt(at, name);
        }
    }

    /// What single packages make of a text.
    fn is_told_more(&self, package: &str, name: &str, arguments: &Arguments) -> bool {
        let texts = || arguments.all().flat_map(Val::each).filter_map(Val::as_str);
        match package {
            // Text of a signature is evaluated.
            "numba" => texts().any(|text| text.contains(['.', '\'', '"', '_'])),
            "selenium" | "playwright" | "pyppeteer" => texts().chain(inner_texts(arguments)).any(is_unknown_flag),
            // A factory that is named by a text is imported.
            "factory" => {
                matches!(name, "SubFactory" | "RelatedFactory" | "RelatedFactoryList") && texts().next().is_some()
            }
            "faker" => {
                name == "add_provider" && texts().next().is_some()
                    || arguments.keyword("providers").is_some_and(names_something)
            }
            // Grammars that were kept are unpickled.
            "lark" => arguments.keyword("cache").is_some_and(is_on),
            "elasticsearch" | "opensearchpy" => matches!(name, "update_by_query" | "delete_by_query"),
            // Cameras and screens.
            "imageio" => texts().any(|text| text.starts_with('<')),
            // Colours in markup are evaluated.
            "reportlab" => arguments.all().flat_map(Val::each).any(
                |value| matches!(value, Val::Partial(start, _) if start.ends_with("=\"") || start.ends_with("='")),
            ),
            "cv2" => name == "VideoCapture" && matches!(arguments.get(0), Some(Val::Int(_))),
            "duckdb" => texts().any(loads_extension),
            "omegaconf" => texts().chain(inner_texts(arguments)).any(shows_variable),
            // The key of the environment goes wherever the client is told to.
            "openai" | "anthropic" | "cohere" | "mistralai" | "groq" => {
                let host = ["base_url", "api_base"].iter().find_map(|key| arguments.keyword(key)).and_then(Val::as_str);
                let is_near = |url: &str| {
                    url.contains(package)
                        || ["localhost", "127.0.0.1", ".azure.com"].iter().any(|near| url.contains(near))
                };
                arguments.keyword("api_key").is_none() && host.is_some_and(|url| !is_near(url))
            }
            "" => {
                self.packages.contains("duckdb") && texts().any(loads_extension)
                    || (self.packages.contains("selenium") || self.packages.contains("playwright"))
                        && texts().chain(inner_texts(arguments)).any(is_unknown_flag)
            }
            _ => false,
        }
    }

    /// Whether something beside the language's own library is imported.
    fn uses_packages(&self) -> bool {
        self.packages.iter().any(|package| !known::is_of_library(package))
    }

    /// A text that names what no program may reach, or a file of credentials: a package may be told to use it by more ways
    /// than a call.
    pub(super) fn doubt_text(&mut self, at: TextSize, text: &str) {
        if !self.judging || text.len() > 80 || text.contains([' ', '\n']) {
            return;
        }
        if places::is_credential(text) && text.contains('/') && self.uses_packages() {
            self.ask_effect(at, "code-reach", format!("a file that holds credentials is named: `{text}`"));
        }
        let is_name = text.contains(['.', ':'])
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.:".contains(&byte));
        if is_name {
            let path = text.replace(':', ".");
            let root = path.split('.').next().unwrap_or_default();
            let leads = rules::member(&path).is_some() || path.starts_with("subprocess.");
            if leads && known::is_of_library(root) && self.uses_packages() {
                self.doubt(at, text);
            }
        }
    }

    /// Something is stored in a package: its settings and its functions are what every later call uses.
    pub(super) fn doubt_replaced(&mut self, at: TextSize, whole: &str, value: &Val) {
        let root = whole.split(['.', '(']).next().unwrap_or_default();
        let of_module = !whole.contains('(') && (known::is_known(root) || known::is_of_library(root));
        if !self.judging || !of_module || !whole.contains('.') {
            return;
        }
        let last = whole.rsplit('.').next().unwrap_or_default();
        // Objects in which programs keep their own things.
        const OWN: [&str; 6] = ["session_state", "g", "session", "config", "query_params", "conf"];
        let identifies =
            ["api_key", "token", "api_version", "organization", "project", "region", "user_agent", "app_info"];
        let is_display =
            whole.contains(".options.display.") || whole.contains(".options.mode.") || whole.contains(".rcParams.");
        let is_plain = |value: &Val| matches!(value, Val::Plain | Val::Int(_));
        let is_fine = value.each().iter().all(is_plain)
            || whole.split('.').skip(1).any(|part| OWN.contains(&part))
            || is_display
            || identifies.contains(&last)
            || root == "matplotlib" && whole.ends_with("rcParams")
            || matches!(whole, "sys.stdout" | "sys.stderr" | "sys.stdin" | "sys.argv" | "csv.field_size_limit");
        if !is_fine {
            self.doubt(at, whole);
        }
    }
}

/// Whether a setting of drawings says more than how they look.
pub(super) fn is_setting_unknown(key: &str) -> bool {
    let group = key.split('.').next().unwrap_or(key);
    !BY_LOOKS.contains(group)
        && !matches!(key, "text.color" | "text.hinting" | "text.antialiased" | "pdf.fonttype" | "ps.fonttype")
}

/// A value that names something: a text or a list of texts. A function or an object of a class names nothing.
fn names_something(value: &Val) -> bool {
    const KNOWN_ENGINES: [&str; 12] = [
        "dot", "neato", "fdp", "sfdp", "circo", "twopi", "f-string", "chrome", "firefox", "chromium", "webkit", "osage",
    ];
    value.each().iter().any(|value| match value {
        Val::Text(text) => !text.is_empty() && !KNOWN_ENGINES.contains(&&**text),
        Val::Partial(..) | Val::Opaque | Val::Private(_) | Val::File(_) => true,
        Val::Int(on) => *on == 1,
        Val::Seq(values) => values.iter().any(|value| matches!(value, Val::Text(_) | Val::Partial(..) | Val::Opaque)),
        Val::Dict(items) => {
            items.iter().any(|(_, value)| matches!(value, Val::Text(_) | Val::Partial(..) | Val::Opaque))
        }
        Val::Path(path) => path.ends_with("BytecodeCache()") || &**path == "sys.argv",
        _ => false,
    })
}

fn is_on(value: &Val) -> bool {
    !matches!(value, Val::Int(0) | Val::Plain)
}

/// Whether an option inside of a dictionary lets data run as code.
fn holds_trust(value: &Val, depth: usize) -> bool {
    value.each().iter().any(|value| match value {
        Val::Dict(items) if depth < 3 => items.iter().any(|(key, value)| {
            key.as_str().is_some_and(|key| OPERATORS.contains(&key))
                || key.as_str().is_some_and(|key| BY_TRUSTING.contains(key) && key != "pickle" && key != "repair")
                    && is_on(value)
                || holds_trust(value, depth + 1)
        }),
        Val::Seq(values) if depth < 3 => values.iter().any(|value| holds_trust(value, depth + 1)),
        _ => false,
    })
}

/// Whether a method evaluates the text that it is given, in whatever package.
fn takes_text(name: &str) -> bool {
    matches!(
        name,
        "from_string"
            | "render_string"
            | "render_template_string"
            | "compile_expression"
            | "from_template"
            | "eval_expr"
    )
}

/// Whether a flag of a browser is none that is known.
fn is_unknown_flag(text: &str) -> bool {
    text.strip_prefix("--").is_some_and(|flag| !BY_FLAG.contains(flag.split(['=', ' ']).next().unwrap_or(flag)))
}

/// Whether a text is the address on which a program listens for everybody.
fn is_every_address(text: &str) -> bool {
    let bare = text.rsplit("://").next().unwrap_or(text);
    text == "::"
        || bare == "0.0.0.0"
        || bare.starts_with("0.0.0.0:")
        || bare.starts_with("[::]")
        || bare.starts_with("*:")
}

/// Whether a statement loads an extension.
fn loads_extension(text: &str) -> bool {
    text.split(';').any(|statement| {
        let first = statement.split_ascii_whitespace().next().unwrap_or_default();
        ["install", "load"].iter().any(|word| first.eq_ignore_ascii_case(word))
    })
}

/// Whether a text is filled with a variable of the environment that may be secret.
fn shows_variable(text: &str) -> bool {
    text.split("env:").skip(1).any(|rest| {
        let name = rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default();
        places::variable(name, None) != places::Variable::Plain
    })
}

/// The texts that stand in dictionaries and lists.
fn inner_texts(arguments: &Arguments) -> impl Iterator<Item = &str> {
    arguments.all().flat_map(Val::each).flat_map(|value| match value {
        Val::Dict(items) => items.iter().filter_map(|(_, value)| value.as_str()).collect::<Vec<_>>(),
        Val::Seq(values) => values.iter().filter_map(Val::as_str).collect(),
        _ => Vec::new(),
    })
}

/// Whether a value is, or holds, a text of the form `module:name`.
/// Packages that are given texts with dots and colons which name columns, fields, keys and settings.
const DOTTED: &str = "pandas polars pyarrow xarray sqlalchemy sqlmodel matplotlib seaborn plotly boto3 botocore kubernetes \
     googleapiclient google azure pymongo motor beanie bson elasticsearch jsonpath_ng opentelemetry structlog loguru sentry_sdk redis \
     aioredis lxml bs4 docx openpyxl torch transformers datasets huggingface_hub tokenizers requests httpx aiohttp redis dask duckdb \
     pytest pytest_mock sklearn spacy nltk prometheus_client influxdb_client qdrant_client chromadb neo4j streamlit rich click typer \
     playwright selenium slack_sdk stripe peewee tinydb deepdiff tensorflow keras yaml altair bokeh vega_datasets kafka confluent_kafka \
     aiokafka pika nats paho rapidfuzz validators idna tldextract yarl jwt jose dns certifi faker emoji colorama fastapi starlette flask \
     itsdangerous sympy networkx psycopg2 psycopg pymysql mysql asyncpg geopandas h5py respx responses requests_mock freezegun";
static BY_DOTS: LazyLock<HashSet<&str>> = LazyLock::new(|| set(DOTTED));

/// Whether a call of a package is given the name of a module, or a text for an option that names code.
fn names_code(package: &str, name: &str, arguments: &Arguments) -> bool {
    let by_option = arguments.keywords.iter().any(|(key, value)| {
        let key = key.to_ascii_lowercase();
        // Extensions of these are told apart by their names.
        let is_told_apart = key == "extensions" && matches!(package, "markdown" | "jinja2");
        settings::names_code(&key) && names_something(value) && !is_told_apart
    });
    // Models and modules of the project are named by texts here.
    let of_project = matches!(
        name,
        "ForeignKey"
            | "OneToOneField"
            | "ManyToManyField"
            | "include"
            | "get_model"
            | "relationship"
            | "override_settings"
    );
    let is_dotted = BY_DOTS.contains(package) || of_project;
    by_option || !is_dotted && arguments.all().any(|value| holds_entry(value, 0) || holds_module(value, 0))
}

/// Whether a value is, or holds, a text that looks like the path of a module: `package.module.Name`. Names of files and of
/// hosts look alike; they end in what files and hosts end in.
fn holds_module(value: &Val, depth: usize) -> bool {
    const ENDS: &str = "com org net io dev ai co uk de eu local internal example test lan html htm txt csv tsv json jsonl xml yaml yml md log \
         png jpg jpeg gif svg webp pdf doc docx xls xlsx ppt pptx zip gz tar bz db sqlite parquet feather ini cfg toml env wav mp3 \
         mp4 avi mov mkv ogg flac nc grib tif tiff bmp ics geojson shp gpx kml srt vtt epub tex bib dat bin arrow ndjson lock conf \
         properties rst po mo ttf otf woff eml mbox sql npy npz pt onnx safetensors gguf h5 hdf5 graphml gexf gml dot";
    let is_module = |text: &str| {
        let mut steps = text.split('.');
        let last = steps.next_back().unwrap_or_default();
        text.len() <= 120
            && text.contains('.')
            && text.split('.').all(|step| {
                step.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                    && step.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            })
            && !ENDS.split_ascii_whitespace().any(|end| end.eq_ignore_ascii_case(last))
    };
    value.each().iter().any(|value| match value {
        Val::Text(text) => is_module(text),
        Val::Seq(values) if depth < 2 => values.iter().any(|value| holds_module(value, depth + 1)),
        Val::Dict(items) if depth < 2 => items.iter().any(|(_, value)| holds_module(value, depth + 1)),
        _ => false,
    })
}

fn holds_entry(value: &Val, depth: usize) -> bool {
    let is_name = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.".contains(&byte))
    };
    value.each().iter().any(|value| match value {
        Val::Text(text) => text.split_once(':').is_some_and(|(module, name)| is_name(module) && is_name(name)),
        Val::Seq(values) if depth < 2 => values.iter().any(|value| holds_entry(value, depth + 1)),
        _ => false,
    })
}

/// Whether a value was read or fetched, or answered by another package.
fn is_foreign(value: &Val, package: &str) -> bool {
    !value.private().is_empty()
        || value.each().iter().any(|value| match value {
            Val::Opaque => true,
            Val::Path(path) if &**path == "sys.argv" => true,
            Val::Path(path) => {
                let root = path.split(['.', '(']).next().unwrap_or_default();
                let fetched = ["requests", "httpx", "urllib", "aiohttp", "urllib3"].contains(&root);
                root != package && fetched && path.contains('(')
            }
            _ => false,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_they_do() {
        for name in ["load_extension", "rl_exec", "open_in_browser", "TestServer", "start_http_server", "find_modules"]
        {
            assert!(says_so("x", name), "{name}");
        }
        for name in ["load_dataset", "execute", "evaluate", "server", "register_blueprint", "read_csv", "listener"] {
            assert!(!says_so("x", name), "{name}");
        }
    }

    #[test]
    fn addresses_of_everybody() {
        assert!(
            is_every_address("0.0.0.0") && is_every_address("tcp://0.0.0.0:5555") && is_every_address("tcp://*:5555")
        );
        assert!(!is_every_address("127.0.0.1") && !is_every_address("10.0.0.0/8"));
    }

    #[test]
    fn settings_that_only_change_the_look_are_known() {
        for key in ["figure.figsize", "axes.grid", "font.size", "savefig.dpi"] {
            assert!(!is_setting_unknown(key), "{key}");
        }
        for key in ["animation.ffmpeg_path", "text.usetex", "text.latex.preamble", "backend", "ps.usedistiller"] {
            assert!(is_setting_unknown(key), "{key}");
        }
    }
}
