//! From a `server.json` to an entry of the configuration. Pure: shows what would be run, runs nothing.
//!
//! A command is built word by word and never goes through a shell. What the document leaves open is asked for by name:
//! secrets become references to variables of the environment, so that none of them is written into the file. Text of the
//! document is never taken for such a reference: a registry must not read our environment.

use std::collections::BTreeMap;

use switchboard_config::{MgpEntry, Secret, ServerEntry, Transport, TrustLevel};

use super::document::{Argument, Document, Input, Package, Remote};

/// Words of one command at most.
const MOST_WORDS: usize = 256;

/// What the person who adds it says.
#[derive(Debug, Clone, Default)]
pub(crate) struct Choice {
    /// Its name here; by default the last part of its own.
    pub(crate) id: Option<String>,
    /// Which package, by its type (`npm`, `pypi`, `oci`, `nuget`), or `remote`.
    pub(crate) from: Option<String>,
    /// Values that the document leaves open, by name.
    pub(crate) values: BTreeMap<String, String>,
    /// How far it is trusted.
    pub(crate) trust: Option<TrustLevel>,
}

/// An entry, and what a person should know of it.
#[derive(Debug)]
pub(crate) struct Drafted {
    pub(crate) entry: ServerEntry,
    pub(crate) notes: Vec<String>,
}

/// Makes an entry of what a document says.
pub(crate) fn draft(document: &Document, choice: &Choice) -> Result<Drafted, String> {
    let id = choice.id.clone().unwrap_or_else(|| id_of(&document.name));
    let mut notes = Vec::new();
    match document.status.as_deref() {
        Some("deleted") => return Err(format!("the registry says that {} was deleted", document.name)),
        Some("deprecated") => notes.push("the registry says that it is deprecated".to_owned()),
        _ => {}
    }
    let mut draft = Draft { id: &id, choice, notes, missing: Vec::new() };
    let mut entry = match source(document, choice.from.as_deref())? {
        From::Package(package) => draft.of_package(package)?,
        From::Remote(remote) => draft.of_remote(remote)?,
    };
    if !draft.missing.is_empty() {
        let mut asked: Vec<String> = Vec::new();
        for one in draft.missing.iter().map(|name| format!("--set {name}=VALUE")) {
            if !asked.contains(&one) {
                asked.push(one);
            }
        }
        return Err(format!("it needs more to be started: {}", asked.join(" ")));
    }
    entry.description = Some(document.description.clone()).filter(|text| !text.is_empty());
    entry.mgp = choice.trust.map(|trust| MgpEntry { trust_level: Some(trust), ..MgpEntry::default() });
    Ok(Drafted { entry, notes: draft.notes })
}

enum From<'a> {
    Package(&'a Package),
    Remote(&'a Remote),
}

fn source<'a>(document: &'a Document, wanted: Option<&str>) -> Result<From<'a>, String> {
    let usable = |package: &&Package| runner(package).is_ok();
    let remote = || document.remotes.first().map(From::Remote);
    match wanted {
        Some("remote") => remote().ok_or_else(|| format!("{} runs nowhere else", document.name)),
        Some(kind) => {
            let found = document.packages.iter().find(|package| package.registry_type == kind);
            let found = found
                .ok_or_else(|| format!("{} has no package of type `{kind}`: {}", document.name, kinds(document)))?;
            runner(found).map(|_| From::Package(found))
        }
        None => {
            let found = document.packages.iter().find(usable).map(From::Package).or_else(remote);
            found.ok_or_else(|| match document.packages.first().map(runner) {
                Some(Err(why)) => why,
                _ => format!("{} names neither a package nor an address", document.name),
            })
        }
    }
}

/// What can be chosen, for people.
pub(crate) fn kinds(document: &Document) -> String {
    let packages = document.packages.iter().map(|package| package.registry_type.as_str());
    let remotes = document.remotes.first().map(|_| "remote");
    packages.chain(remotes).collect::<Vec<_>>().join(", ")
}

/// The program that starts a package, and its words before those of the package.
fn runner(package: &Package) -> Result<(String, Vec<String>), String> {
    if let Some(transport) = package.transport.as_ref().filter(|transport| transport.kind != "stdio") {
        return Err(format!("the package {} speaks {}, not stdio", package.identifier, transport.kind));
    }
    let hint = package.runtime_hint.as_deref();
    let (usual, words): (&str, &[&str]) = match package.registry_type.as_str() {
        "npm" => ("npx", &["-y"]),
        "pypi" => ("uvx", &[]),
        "oci" | "docker" => ("docker", &["run", "-i", "--rm"]),
        "nuget" => ("dnx", &["--yes"]),
        other => return Err(format!("packages of type `{other}` cannot be started here")),
    };
    // A hint is a hint: it chooses between runners that are known, and names no other program.
    let known = ["npx", "bunx", "uvx", "pipx", "docker", "podman", "dnx"];
    let program = hint.filter(|hint| known.contains(hint)).unwrap_or(usual);
    let words = match program {
        "npx" => vec!["-y"],
        "bunx" | "uvx" => Vec::new(),
        "pipx" => vec!["run"],
        _ => words.to_vec(),
    };
    Ok((program.to_owned(), words.into_iter().map(str::to_owned).collect()))
}

/// The word that names a package in one version.
fn package_word(package: &Package) -> Result<String, String> {
    let name = package.identifier.as_str();
    // A name that begins with a dash would be taken for an option of the runner.
    if name.is_empty() || name.starts_with('-') || name.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(format!("{name:?} is no name of a package"));
    }
    let version = package.version.as_deref().filter(|version| !version.is_empty());
    if version.is_some_and(|version| version.chars().any(|c| c.is_whitespace() || c.is_control())) {
        return Err("the version of the package is malformed".to_owned());
    }
    Ok(match (package.registry_type.as_str(), version) {
        (_, None) => name.to_owned(),
        ("oci" | "docker", Some(version)) => {
            let tagged = name.rsplit('/').next().is_some_and(|last| last.contains([':', '@']));
            if tagged { name.to_owned() } else { format!("{name}:{version}") }
        }
        (_, Some(version)) => format!("{name}@{version}"),
    })
}

struct Draft<'a> {
    id: &'a str,
    choice: &'a Choice,
    notes: Vec<String>,
    missing: Vec<String>,
}

impl Draft<'_> {
    fn of_package(&mut self, package: &Package) -> Result<ServerEntry, String> {
        let (program, mut words) = runner(package)?;
        for argument in &package.runtime_arguments {
            self.argument(argument, &mut words);
        }
        let mut env = BTreeMap::new();
        for input in &package.environment_variables {
            if let Some(value) = self.value(input, &input.name) {
                if program == "docker" || program == "podman" {
                    // What the program around the package knows, the package does not.
                    words.extend(["-e".to_owned(), input.name.clone()]);
                }
                env.insert(input.name.clone(), Secret::new(value));
            }
        }
        words.push(literal(&package_word(package)?));
        for argument in &package.package_arguments {
            self.argument(argument, &mut words);
        }
        if words.len() > MOST_WORDS {
            return Err(format!("its command has more than {MOST_WORDS} words"));
        }
        if package.version.is_none() && package.registry_type != "oci" {
            self.notes.push("no version is named: each start may run another one".to_owned());
        }
        Ok(ServerEntry { env, ..ServerEntry::stdio(self.id, program, words) })
    }

    fn of_remote(&mut self, remote: &Remote) -> Result<ServerEntry, String> {
        let mut url = remote.url.clone();
        for (name, input) in &remote.variables {
            let place = format!("{{{name}}}");
            if url.contains(&place) {
                let value = self.plain(input, name);
                url = url.replace(&place, &value.unwrap_or_default());
            }
        }
        if !url.starts_with("https://") && !url.starts_with("http://") {
            return Err(format!("{url:?} is no address of a server"));
        }
        let mut entry = ServerEntry::http(self.id, literal(&url));
        if remote.kind == "sse" {
            entry.transport = Some(Transport::Sse);
        }
        for input in &remote.headers {
            let variable = variable_of(self.id, &input.name);
            if let Some(value) = self.value(input, &variable) {
                entry.headers.insert(input.name.clone(), Secret::new(value));
            }
        }
        Ok(entry)
    }

    fn argument(&mut self, argument: &Argument, words: &mut Vec<String>) {
        let input = &argument.input;
        if argument.kind == "named" {
            let name = input.name.as_str();
            let flag = input.value.is_none() && input.default.is_none() && !self.choice.values.contains_key(name);
            if flag && !input.is_required {
                if input.description.is_none() {
                    words.push(literal(name));
                } else {
                    self.notes.push(format!("left out: {name} (say --set {name}=VALUE to use it)"));
                }
                return;
            }
            if let Some(value) = self.given(input, name, name) {
                words.extend([literal(name), value]);
            }
            return;
        }
        let hint = argument.value_hint.clone().filter(|hint| !hint.is_empty()).unwrap_or_else(|| "value".to_owned());
        match self.given(input, &hint, &hint) {
            Some(value) => words.push(value),
            None if input.is_required => {}
            None => self.notes.push(format!("left out: {hint} (say --set {hint}=VALUE to use it)")),
        }
    }

    /// A word of a command. Secrets are read from the environment when the server starts.
    fn given(&mut self, input: &Input, key: &str, name: &str) -> Option<String> {
        if input.is_secret && !self.choice.values.contains_key(key) && input.value.is_none() {
            return self.value(input, &variable_of(self.id, name));
        }
        if input.is_required
            && !self.choice.values.contains_key(key)
            && input.value.is_none()
            && input.default.is_none()
        {
            self.missing.push(key.to_owned());
            return None;
        }
        self.plain(input, key).map(|value| literal(&value))
    }

    /// A value as it stands: what was said, what the document fixes, or what it proposes.
    fn plain(&mut self, input: &Input, key: &str) -> Option<String> {
        let said = self.choice.values.get(key).cloned();
        let value = said.or_else(|| input.value.clone()).or_else(|| input.default.clone());
        let Some(mut value) = value else {
            if input.is_required {
                self.missing.push(key.to_owned());
            }
            return None;
        };
        for (name, inner) in &input.variables {
            let place = format!("{{{name}}}");
            if value.contains(&place) {
                let part = self.plain(inner, name).unwrap_or_else(|| {
                    self.missing.push(name.clone());
                    String::new()
                });
                value = value.replace(&place, &part);
            }
        }
        Some(value)
    }

    /// A value of the environment or of a header: a reference to `variable` where it is secret or has to be known.
    fn value(&mut self, input: &Input, variable: &str) -> Option<String> {
        if self.choice.values.contains_key(&input.name) || input.value.is_some() || input.default.is_some() {
            return self.plain(input, &input.name).map(|value| literal(&value));
        }
        if !input.is_required && !input.is_secret {
            let name = &input.name;
            self.notes.push(format!("left out: {name} (say --set {name}=VALUE to use it)"));
            return None;
        }
        let about = input.description.as_deref().map(|text| format!(": {text}")).unwrap_or_default();
        if !input.is_required {
            self.notes.push(format!("{variable} can be set in the environment{about}"));
            return Some(format!("${{{variable}:-}}"));
        }
        self.notes.push(format!("set {variable} in the environment before it starts{about}"));
        Some(format!("${{{variable}}}"))
    }
}

/// Text that the configuration takes as it stands.
fn literal(text: &str) -> String {
    text.replace("${", "$${")
}

/// The last part of a name, as far as an id can have its letters.
fn id_of(name: &str) -> String {
    let last = name.rsplit('/').next().unwrap_or(name);
    let id: String =
        last.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' }).collect();
    id.trim_matches(['-', '.', '_']).chars().take(64).collect()
}

/// The variable of the environment in which a value of a server is looked for.
fn variable_of(id: &str, name: &str) -> String {
    let word = |text: &str| -> String {
        let letters = text.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' });
        letters.collect::<String>().trim_matches('_').to_owned()
    };
    format!("{}_{}", word(id), word(name))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn drafted(document: &Value, choice: &Choice) -> Result<Drafted, String> {
        draft(&Document::read(document).unwrap(), choice)
    }

    fn package(kind: &str, more: &Value) -> Value {
        let mut package =
            json!({"registryType": kind, "identifier": "pkg", "version": "1.2.3", "transport": {"type": "stdio"}});
        for (key, value) in more.as_object().unwrap() {
            package[key] = value.clone();
        }
        json!({"name": "com.example/My Tool", "description": "does", "version": "1", "packages": [package]})
    }

    #[test]
    fn each_kind_of_package_has_its_command() {
        for (document, expected) in [
            (package("npm", &json!({})), "npx -y pkg@1.2.3"),
            (package("pypi", &json!({})), "uvx pkg@1.2.3"),
            (package("oci", &json!({"identifier": "ghcr.io/a/b"})), "docker run -i --rm ghcr.io/a/b:1.2.3"),
            (package("oci", &json!({"identifier": "ghcr.io/a/b:9"})), "docker run -i --rm ghcr.io/a/b:9"),
            (package("nuget", &json!({})), "dnx --yes pkg@1.2.3"),
            (package("npm", &json!({"runtimeHint": "bunx"})), "bunx pkg@1.2.3"),
            (package("npm", &json!({"runtimeHint": "/opt/evil"})), "npx -y pkg@1.2.3"),
            (
                package(
                    "npm",
                    &json!({"packageArguments": [
                        {"type": "positional", "valueHint": "dir", "value": "a b"},
                        {"type": "named", "name": "--port", "default": "80"},
                        {"type": "named", "name": "--url", "value": "http://{host}/", "variables": {"host": {"default": "h"}}},
                        {"type": "positional", "valueHint": "extra", "description": "more"},
                    ]}),
                ),
                "npx -y pkg@1.2.3 'a b' --port 80 --url http://h/",
            ),
        ] {
            let drafted = drafted(&document, &Choice::default()).unwrap();
            assert_eq!((drafted.entry.exact_line().as_str(), drafted.entry.id.as_str()), (expected, "My-Tool"));
        }
    }

    #[test]
    fn what_is_open_is_asked_for_and_secrets_stay_outside() {
        let open = package(
            "npm",
            &json!({
                "packageArguments": [{"type": "positional", "valueHint": "dir", "isRequired": true}],
                "environmentVariables": [
                    {"name": "API_KEY", "isRequired": true, "isSecret": true, "description": "the key"},
                    {"name": "MODE", "default": "fast"},
                    {"name": "EXTRA"},
                ],
            }),
        );
        let error = drafted(&open, &Choice::default()).unwrap_err();
        assert!(error.contains("--set dir=VALUE"), "{error}");
        let inner = json!({"isRequired": true});
        let twice = package(
            "npm",
            &json!({"packageArguments": [{"type": "named", "name": "--tz", "value": "{tz}", "variables": {"tz": inner}}]}),
        );
        assert_eq!(drafted(&twice, &Choice::default()).unwrap_err().matches("--set tz=VALUE").count(), 1);
        let choice = Choice { values: [("dir".to_owned(), "/srv".to_owned())].into(), ..Choice::default() };
        let Drafted { entry, notes } = drafted(&open, &choice).unwrap();
        assert_eq!(entry.exact_line(), "npx -y pkg@1.2.3 /srv");
        let value = |name: &str| entry.env.get(name).map(Secret::reveal);
        assert_eq!((value("API_KEY"), value("MODE"), value("EXTRA")), (Some("${API_KEY}"), Some("fast"), None));
        assert!(
            notes.iter().any(|note| note.contains("set API_KEY")) && notes.iter().any(|note| note.contains("EXTRA"))
        );
    }

    #[test]
    fn a_document_cannot_read_our_environment() {
        let sly = package(
            "npm",
            &json!({
                "packageArguments": [{"type": "positional", "value": "${HOME}"}],
                "environmentVariables": [{"name": "X", "value": "${AWS_SECRET_ACCESS_KEY}"}],
            }),
        );
        let Drafted { entry, .. } = drafted(&sly, &Choice::default()).unwrap();
        assert_eq!(entry.args.last().map(String::as_str), Some("$${HOME}"));
        assert_eq!(entry.env["X"].reveal(), "$${AWS_SECRET_ACCESS_KEY}");
    }

    #[test]
    fn remote_servers_and_refusals() {
        let remote = json!({"name": "a/b", "description": "", "version": "1", "remotes": [{
            "type": "sse", "url": "https://{region}.example/sse", "variables": {"region": {"default": "eu"}},
            "headers": [{"name": "X-Api-Key", "isSecret": true, "isRequired": true}],
        }]});
        let Drafted { entry, .. } = drafted(&remote, &Choice::default()).unwrap();
        assert_eq!((entry.url.as_deref(), entry.transport), (Some("https://eu.example/sse"), Some(Transport::Sse)));
        assert_eq!(entry.headers["X-Api-Key"].reveal(), "${B_X_API_KEY}");
        for (document, part) in [
            (package("mcpb", &json!({})), "mcpb"),
            (package("npm", &json!({"identifier": "--unsafe"})), "no name of a package"),
            (package("npm", &json!({"identifier": "a b"})), "no name of a package"),
            (package("npm", &json!({"transport": {"type": "sse"}})), "speaks sse"),
            (json!({"name": "a/b"}), "neither"),
            (json!({"name": "a/b", "status": "deleted"}), "deleted"),
            (json!({"name": "a/b", "remotes": [{"type": "sse", "url": "file:///etc/passwd"}]}), "no address"),
        ] {
            let error = drafted(&document, &Choice::default()).unwrap_err();
            assert!(error.contains(part), "{document}: {error}");
        }
        let both = Choice { from: Some("pypi".to_owned()), ..Choice::default() };
        assert!(drafted(&package("npm", &json!({})), &both).unwrap_err().contains("npm"));
    }
}
