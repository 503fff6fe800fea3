//! Modules and members that honest programs use too: a person is asked about them, where they are named directly.
//! Whatever else leads to them is refused, and what they are given may be hostile by itself.

use std::collections::HashSet;
use std::sync::LazyLock;

/// Module, members that do something, and members that are only data or kinds of errors. A `*` at the end stands for any
/// rest of a name.
const ASKED: &[(&str, &str, &str)] = &[
    ("IPython", "display", ""),
    ("aiohttp.web", "TCPSite run_app", ""),
    ("anyio", "create_tcp_listener create_unix_listener", ""),
    ("asyncio.subprocess", "create_subprocess_exec create_subprocess_shell", "DEVNULL PIPE Process STDOUT"),
    (
        "asyncio",
        "create_subprocess_exec create_subprocess_shell open_connection open_unix_connection start_server start_unix_server subprocess",
        "",
    ),
    ("bottle", "run", ""),
    ("concurrent.futures", "ProcessPoolExecutor", ""),
    ("concurrent.futures.process", "ProcessPoolExecutor", "BrokenProcessPool"),
    (
        "ctypes",
        "sizeof alignment create_string_buffer",
        "c_* Structure Union Array BigEndianStructure LittleEndianStructure",
    ),
    ("django.core.management", "call_command execute_from_command_line", ""),
    ("dill", "dump dumps load loads", ""),
    ("cloudpickle", "dump dumps load loads", ""),
    ("distutils", "core errors util version", ""),
    (
        "doctest",
        "DocTestSuite run_docstring_examples testfile testmod",
        "DONT_* ELLIPSIS IGNORE_* NORMALIZE_WHITESPACE OutputChecker REPORT_* SKIP",
    ),
    ("fastapi.FastAPI()", "run", ""),
    ("fcntl", "flock lockf", "LOCK_*"),
    ("flask.Flask()", "run", ""),
    ("grpc", "server", ""),
    ("grpc.aio", "server", ""),
    ("http.server", "", "HTTPServer ThreadingHTTPServer BaseHTTPRequestHandler SimpleHTTPRequestHandler"),
    ("importlib", "import_module reload invalidate_caches util", ""),
    ("inspect", "currentframe getframeinfo stack", ""),
    ("joblib", "load", ""),
    ("logging.config", "fileConfig", ""),
    ("logging.handlers", "DatagramHandler SocketHandler", ""),
    (
        "multiprocessing",
        "Pool Process active_children cpu_count current_process freeze_support get_context get_logger get_start_method \
         log_to_stderr parent_process pool set_start_method shared_memory",
        "Array Barrier BoundedSemaphore Condition Event JoinableQueue Lock Manager Pipe Queue RLock Semaphore \
         SimpleQueue TimeoutError Value",
    ),
    ("pandas", "read_pickle", ""),
    ("paramiko", "SSHClient Transport SFTPClient", "*Exception AutoAddPolicy RejectPolicy RSAKey Ed25519Key"),
    ("pickle", "load loads", ""),
    ("readline", "parse_and_bind set_completer read_history_file write_history_file set_history_length", ""),
    ("resource", "getrusage getrlimit setrlimit getpagesize", "RUSAGE_* RLIMIT_* RLIM_*"),
    ("setuptools", "setup find_packages find_namespace_packages", "Extension"),
    ("shelve", "open", "Shelf"),
    (
        "shutil",
        "copy copy2 copyfile copyfileobj copymode copystat copytree disk_usage get_archive_formats get_terminal_size \
         get_unpack_formats ignore_patterns make_archive move rmtree unpack_archive which",
        "Error SameFileError ReadError",
    ),
    (
        "socket",
        "create_connection getaddrinfo getdefaulttimeout getfqdn gethostbyaddr gethostbyname gethostbyname_ex \
         gethostname getservbyname htonl htons inet_aton inet_ntoa inet_ntop inet_pton ntohl ntohs setdefaulttimeout \
         socket",
        "AF_INET AF_INET6 SOCK_STREAM SOCK_DGRAM SOL_SOCKET SO_* IPPROTO_TCP IPPROTO_UDP SHUT_* TCP_NODELAY error \
         gaierror herror timeout has_ipv6 INADDR_ANY",
    ),
    (
        "socketserver",
        "",
        "BaseRequestHandler StreamRequestHandler TCPServer ThreadingTCPServer ThreadingMixIn UDPServer",
    ),
    (
        "subprocess",
        "Popen call check_call check_output getoutput getstatusoutput list2cmdline run",
        "CREATE_* CalledProcessError CompletedProcess DEVNULL PIPE STDOUT SubprocessError TimeoutExpired",
    ),
    ("test", "*", ""),
    ("tornado.httpserver", "", "HTTPServer"),
    ("tornado.web.Application()", "listen", ""),
    ("uvicorn", "run Config Server", ""),
    ("waitress", "serve", ""),
    ("webbrowser", "open open_new open_new_tab", "Error"),
    ("websockets", "serve", ""),
    ("websockets.server", "serve", ""),
    ("wsgiref.simple_server", "make_server", "WSGIServer WSGIRequestHandler"),
    ("yaml", "full_load full_load_all", "FullLoader CFullLoader"),
    ("yaml.loader", "", "FullLoader"),
];

/// What is refused of them all the same, deeper inside.
const NESTED: &[&str] = &["importlib.util.LazyLoader", "multiprocessing.pool.worker"];

static ROOTS: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| ASKED.iter().map(|(module, ..)| super::root(module)).collect());

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Asked {
    /// The module itself, or a member that does something.
    Does,
    /// Data, a class or a kind of error.
    Plain,
}

/// Whether a person is asked about a module or member that would be refused otherwise.
pub(in super::super) fn asked(path: &str) -> Option<Asked> {
    // Most names have nothing to do with any of these.
    if !ROOTS.contains(super::root(path)) {
        return None;
    }
    if NESTED
        .iter()
        .any(|nested| path.strip_prefix(nested).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric)))
    {
        return None;
    }
    ASKED.iter().find_map(|(module, does, plain)| {
        let rest = path.strip_prefix(module)?;
        if rest.is_empty() {
            return Some(Asked::Does);
        }
        let member = rest.strip_prefix('.')?.split(['.', '(']).next().unwrap_or_default();
        if fits(does, member) { Some(Asked::Does) } else { fits(plain, member).then_some(Asked::Plain) }
    })
}

fn fits(list: &str, name: &str) -> bool {
    list.split_ascii_whitespace().any(|word| match (word.strip_suffix('*'), word.strip_prefix('*')) {
        (Some(start), _) => name.starts_with(start),
        (_, Some(end)) => name.ends_with(end),
        _ => word == name,
    })
}
