//! What a program connects to: for limits of hosts.

use super::Checker;
use super::calls::Arguments;
use super::value::Val;
use crate::code::reached::{self, Dials};

/// Requests: the first thing they are given is an address, or the second behind the method.
const REQUESTS: &str = "get post put patch delete head options request stream urlopen urlretrieve Request URL open open_new open_new_tab \
     ws_connect connect create_connection fetch parse set_url retrieve websocket_connect connection_from_url ProxyManager \
     HTTPRequest HTTPConnectionPool HTTPSConnectionPool proxy_from_url WebSocketApp prepare_url sse_client streamablehttp_client";
/// What takes a host, besides classes.
const CONNECTS: &str = "create_connection connect connect_ex open_connection sendto getaddrinfo gethostbyname gethostbyname_ex \
     gethostbyaddr getnameinfo get_server_certificate from_url create_engine create_async_engine create_pool resolve query \
     insecure_channel secure_channel set_tunnel get_client connection_from_url ServerProxy connect_robust udp tcp https tls xfr zone";
/// What makes an object that requests are made with.
const CLIENTS: &str = "Session session Client AsyncClient ClientSession PoolManager HTTPConnectionPool HTTPSConnectionPool ProxyManager \
     build_opener OpenerDirector connection_from_url AsyncHTTPClient HTTPClient OAuth2Session OAuth1Session Http Connection URLopener \
     FancyURLopener HTTPTransport AsyncHTTPTransport ConnectionPool __enter__ __aenter__ RobotFileParser WebSocket get_event_loop \
     get_running_loop new_event_loop socket Socket";
/// Clients whose hosts stand on this machine where they are not told another.
const AT_HOME: &str = "redis aioredis pymongo motor elasticsearch neo4j qdrant_client influxdb_client kafka nats";
/// Methods of objects that nobody knows and that connect.
const TELLING: &str = "urlopen urlretrieve ws_connect create_connection open_connection sendto connect_ex websocket_connect \
     gethostbyname getaddrinfo";
/// The same, where the program uses something that connects.
const LIKELY: &str = "post put patch request stream fetch connect";
/// Packages whose readers take addresses in the place of files.
const READERS: &str = "pandas polars dask numpy geopandas xarray pyarrow matplotlib skimage imageio cv2 lxml duckdb tensorflow keras librosa \
     soundfile networkx plotly bokeh seaborn sklearn statsmodels torch torchvision torchaudio transformers datasets nltk spacy gensim \
     tokenizers tiktoken scipy feedparser fsspec yaml nibabel astropy sqlite3 joblib";
/// Functions that fetch from an address of their package.
const DOWNLOADS: &str = "from_pretrained hf_hub_download snapshot_download download download_url download_file get_rdataset pipeline \
     encoding_for_model get_encoding fetch_model load_state_dict_from_url retrieve";

fn listed(list: &str, name: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == name)
}

impl Checker<'_> {
    /// What a call connects to.
    pub(super) fn dials(&mut self, base: Option<&Val>, callee: &Val, name: &str, arguments: &Arguments) {
        if !self.judging {
            return;
        }
        for path in callee.each().iter().filter_map(Val::as_path).map(str::to_owned).collect::<Vec<_>>() {
            self.path_dials(&path, arguments);
        }
        // A client that was handed around is known by nothing but what it is asked for.
        let shows = |value: &Val| match value {
            Val::Opaque => true,
            Val::Partial(start, _) => reached::is_absolute(start),
            Val::Text(text) => reached::is_absolute(text),
            _ => false,
        };
        let unknown = base.is_some_and(|base| base.each().iter().any(|one| matches!(one, Val::Unknown | Val::Opaque)));
        let connects = || self.packages.iter().any(|package| reached::dials(package).is_some() || package == "urllib");
        if unknown && (listed(TELLING, name) || listed(LIKELY, name) && connects()) {
            let at = usize::from(matches!(name, "request" | "stream"));
            if let Some(value) = arguments.get(at).filter(|value| !value.is_literal() || value.is_opaque()) {
                let (value, name) = (value.clone(), name.to_owned());
                self.urls(&value, &name, 0);
            }
        }
        if unknown && matches!(name, "get" | "put" | "delete" | "head" | "open" | "send") {
            for value in arguments
                .get(0)
                .into_iter()
                .flat_map(Val::each)
                .filter(|value| shows(value))
                .cloned()
                .collect::<Vec<_>>()
            {
                self.urls(&value, name, 0);
            }
        }
        let own = callee.each().iter().all(|callee| matches!(callee, Val::Func(_) | Val::Class(_)));
        let looks =
            ["builtins.isinstance", "builtins.issubclass", "builtins.print", "builtins.hasattr", "builtins.type"];
        let looks = callee.each().iter().filter_map(Val::as_path).any(|path| looks.contains(&path));
        if own || looks {
            return;
        }
        for path in arguments.all().flat_map(Val::each).filter_map(Val::as_path) {
            let last = path.rsplit('.').next().unwrap_or_default();
            let is_function =
                path.contains('.') && last.starts_with(|c: char| c.is_ascii_lowercase()) && !last.ends_with(')');
            let connects = reached::dials(path).is_some() && (listed(REQUESTS, last) || listed(CONNECTS, last));
            if is_function && connects {
                self.reaches.unseen(path);
            }
        }
    }

    /// What an object that connects is told by one of its members.
    pub(super) fn dials_from_now(&mut self, path: &str, member: &str, value: &Val) {
        if self.judging && reached::is_address(member) && reached::dials(path).is_some() {
            self.hosts(value, path, 0);
        }
    }

    fn path_dials(&mut self, path: &str, arguments: &Arguments) {
        let last = path.rsplit('.').next().unwrap_or(path);
        let root = path.split(['.', '(']).next().unwrap_or_default();
        if starts_program(path) {
            return self.started(arguments);
        }
        if path.starts_with("asyncio")
            && matches!(last, "open_connection" | "create_connection" | "create_datagram_endpoint")
            || path.starts_with("logging.handlers.") && last.ends_with("Handler") && !last.contains("File")
        {
            let skipped = usize::from(last.starts_with("create_"));
            for value in arguments.positional.iter().skip(skipped).take(2).cloned().collect::<Vec<_>>() {
                self.hosts(&value, path, 0);
            }
            return self.keyword_addresses(path, arguments, Dials::Hosts);
        }
        if root == "duckdb" && matches!(last, "sql" | "query" | "execute" | "from_query") {
            return arguments.get(0).cloned().iter().for_each(|statement| self.statements(statement, path));
        }
        if path.starts_with("xml.sax.") && matches!(last, "parse" | "prepare_input_source") {
            return arguments.get(0).cloned().iter().for_each(|value| self.places(value, path, 0));
        }
        if listed(READERS, root) && (listed(DOWNLOADS, last) || last.starts_with("fetch_") || path.contains(".hub.")) {
            return self.downloads(path, arguments);
        }
        if listed(READERS, root) && reads_place(last) && !path.contains("()") {
            if root == "seaborn" && last == "load_dataset" || root == "datasets" && last.starts_with("load_dataset") {
                return self.downloads(path, arguments);
            }
            if let Some(value) = arguments.get(0).or_else(|| arguments.keyword("filepath_or_buffer")).cloned() {
                self.places(&value, path, 0);
            }
            return;
        }
        let Some(how) = reached::dials(path) else { return };
        if of_answer(path) || ["Error", "Exception", "Timeout", "Warning"].iter().any(|end| last.ends_with(end)) {
            return;
        }
        if arguments.open && (listed(REQUESTS, last) || listed(CONNECTS, last) || how == Dials::Own) {
            return self.reaches.unseen(path);
        }
        self.keyword_addresses(path, arguments, how);
        match how {
            Dials::Urls => self.requests(path, last, arguments),
            Dials::Hosts => self.connects(path, root, last, arguments),
            Dials::Own => {
                let told = arguments.keywords.iter().any(|(key, _)| reached::is_address(key));
                if !told && !path.contains("()") {
                    self.reaches.unseen(path);
                }
            }
        }
    }

    fn requests(&mut self, path: &str, last: &str, arguments: &Arguments) {
        if last.contains("Proxy") {
            for value in arguments.all().cloned().collect::<Vec<_>>() {
                self.hosts(&value, path, 0);
            }
            return;
        }
        if !listed(REQUESTS, last) {
            return;
        }
        // A method may stand in front of the address.
        let is_method = |value: &Val| {
            value.as_str().is_some_and(|text| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_uppercase()))
        };
        let behind = matches!(last, "request" | "stream" | "urlopen" | "Request") && arguments.positional.len() > 1;
        let skipped =
            usize::from(behind && (arguments.get(0).is_some_and(is_method) || matches!(last, "request" | "stream")));
        let Some(value) = arguments.get(skipped).cloned() else { return };
        if path.starts_with("urllib3") || path.starts_with("websocket.") || last.contains("Pool") {
            return self.hosts(&value, path, 0);
        }
        self.urls(&value, path, 0);
    }

    fn connects(&mut self, path: &str, root: &str, last: &str, arguments: &Arguments) {
        let makes = last.starts_with(|c: char| c.is_ascii_uppercase()) && !path.contains("()");
        if !makes && !listed(CONNECTS, last) {
            return;
        }
        let value = match last {
            "sendto" => arguments.positional.last(),
            // What is asked for goes to the servers of this machine, which ask others.
            _ => arguments.get(0),
        };
        let told = arguments.keywords.iter().any(|(key, _)| reached::is_address(key));
        let is_constant = |value: &Val| value.as_path().is_some_and(|path| !path.contains('('));
        match value.cloned() {
            Some(value) if !(makes && is_constant(&value)) => self.hosts(&value, path, 0),
            None if makes && !told && listed(AT_HOME, root) => self.reaches.host("localhost", None),
            _ => {}
        }
    }

    fn keyword_addresses(&mut self, path: &str, arguments: &Arguments, how: Dials) {
        let named = arguments.keywords.iter().filter(|(key, _)| reached::is_address(key));
        for (key, value) in named.cloned().collect::<Vec<_>>() {
            match how {
                Dials::Urls if !key.starts_with("prox") && !key.starts_with("host") => self.urls(&value, path, 0),
                _ => self.hosts(&value, path, 0),
            }
        }
    }

    /// What is fetched by its name from where its package keeps such things.
    fn downloads(&mut self, path: &str, arguments: &Arguments) {
        let is_local = |value: &Val| {
            value.as_str().is_some_and(|text| text.starts_with(['/', '.', '~'])) || matches!(value, Val::File(_))
        };
        let offline = arguments.keyword("local_files_only") == Some(&Val::Plain);
        if !offline && !arguments.get(0).is_some_and(|first| first.each().iter().all(is_local)) {
            self.reaches.unseen(path);
        }
    }

    /// The program that is started.
    fn started(&mut self, arguments: &Arguments) {
        let first = arguments.get(0).or_else(|| arguments.keyword("args")).cloned().unwrap_or(Val::Unknown);
        for value in first.each() {
            let line = match value {
                Val::Text(text) if arguments.positional.len() < 2 => Some(text.to_string()),
                Val::Text(_) => words(&arguments.positional),
                Val::Seq(all) => words(all),
                _ => None,
            };
            match line {
                Some(line) => self.reaches.add(reached::Reached::Command(line)),
                None => self.reaches.unseen("a program that is started"),
            }
        }
    }

    fn urls(&mut self, value: &Val, what: &str, depth: usize) {
        for value in value.each() {
            match value {
                Val::Text(text) => self.reaches.url(text),
                Val::Bytes(bytes) => self.reaches.url(&String::from_utf8_lossy(bytes)),
                Val::Partial(start, _) => self.reaches.beginning(start, what),
                Val::Plain | Val::Int(_) => {}
                Val::Path(path) if names_address(path) => {}
                Val::Seq(all) if depth < 4 => all.iter().for_each(|value| self.urls(value, what, depth + 1)),
                Val::Many(inner) if depth < 4 => self.urls(inner, what, depth + 1),
                _ => self.reaches.unseen(what),
            }
        }
    }

    fn hosts(&mut self, value: &Val, what: &str, depth: usize) {
        for value in value.each() {
            match value {
                Val::Text(text) => self.reaches.host(text, None),
                Val::Bytes(bytes) => self.reaches.host(&String::from_utf8_lossy(bytes), None),
                Val::Partial(start, _) if reached::is_absolute(start) => self.reaches.beginning(start, what),
                Val::Plain | Val::Int(_) => {}
                Val::Path(path) if names_address(path) => {}
                Val::Seq(pair) => match &**pair {
                    [Val::Text(host), Val::Int(port), ..] => self.reaches.host(host, u16::try_from(*port).ok()),
                    all if depth < 4 => all.iter().for_each(|value| self.hosts(value, what, depth + 1)),
                    _ => self.reaches.unseen(what),
                },
                Val::Dict(items) if depth < 4 => items.iter().for_each(|(_, value)| self.hosts(value, what, depth + 1)),
                Val::Many(inner) if depth < 4 => self.hosts(inner, what, depth + 1),
                _ => self.reaches.unseen(what),
            }
        }
    }

    /// A statement whose strings may be addresses of files.
    fn statements(&mut self, value: &Val, what: &str) {
        for value in value.each() {
            match value {
                Val::Text(text) => text.split(['"', '\'']).for_each(|piece| self.reaches.url(piece)),
                Val::Plain | Val::Int(_) => {}
                _ => self.reaches.unseen(what),
            }
        }
    }

    fn places(&mut self, value: &Val, what: &str, depth: usize) {
        for value in value.each() {
            match value {
                Val::Text(text) => self.reaches.url(text),
                Val::Partial(start, _) => self.reaches.place(start, what),
                Val::Path(path) if path.starts_with("builtins.input") || path.starts_with("sys.argv") => {
                    self.reaches.unseen(what);
                }
                Val::File(inner) if depth < 4 => match &**inner {
                    Val::Partial(start, _) => self.reaches.place(&format!("./{start}"), what),
                    _ => {}
                },
                Val::Seq(all) if depth < 4 => all.iter().for_each(|value| self.places(value, what, depth + 1)),
                Val::Many(inner) if depth < 4 => self.places(inner, what, depth + 1),
                Val::Unknown | Val::Opaque | Val::Private(_) | Val::Seq(_) | Val::Many(_) => self.reaches.unseen(what),
                _ => {}
            }
        }
    }
}

fn words(values: &[Val]) -> Option<String> {
    let words: Option<Vec<String>> = values.iter().map(|word| word.as_str().map(str::to_owned)).collect();
    words.map(|words| crate::arguments::command_line(&words))
}

/// Whether a name makes programs start.
fn starts_program(path: &str) -> bool {
    path.starts_with("subprocess.") && !path.contains("()") && !path.ends_with("Error") && !path.ends_with("Expired")
        || matches!(path, "os.system" | "os.popen" | "pty.spawn")
        || path.starts_with("os.exec")
        || path.starts_with("os.spawn")
        || path.starts_with("asyncio.create_subprocess_")
}

/// Whether a function reads what its first argument names.
fn reads_place(last: &str) -> bool {
    [
        "read_",
        "scan_",
        "open_",
        "load",
        "imread",
        "genfromtxt",
        "parse",
        "DataSource",
        "VideoCapture",
        "get_file",
        "read",
    ]
    .iter()
    .any(|start| last.starts_with(start))
        || last == "open"
}

/// Whether a name is what a request answered, or a part of it.
fn of_answer(path: &str) -> bool {
    let steps: Vec<&str> = path.split('.').collect();
    let Some((_, before)) = steps.split_last() else { return false };
    before.iter().filter_map(|step| step.strip_suffix("()")).any(|step| !listed(CLIENTS, step))
        && !before.iter().any(|step| step.starts_with(|c: char| c.is_ascii_uppercase()) && step.ends_with("()"))
}

/// Whether a value is an address that was judged where it was made, or the object of a request.
fn names_address(path: &str) -> bool {
    ["Request()", "URL()", "prepare()"].iter().any(|end| path.ends_with(end)) && reached::dials(path).is_some()
}
