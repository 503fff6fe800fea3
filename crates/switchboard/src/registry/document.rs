//! What a `server.json` says, as far as it is used here: in the current form of the format and in its older spellings.
//!
//! Unknown members are left alone, missing ones are empty. Nothing is judged here.

use serde::Deserialize;
use serde_json::Value;

/// The key under which the official registry tells of a server's standing.
const OFFICIAL: &str = "io.modelcontextprotocol.registry/official";

/// A server as its author describes it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Document {
    pub(crate) name: String,
    pub(crate) title: Option<String>,
    pub(crate) description: String,
    pub(crate) version: String,
    pub(crate) status: Option<String>,
    pub(crate) packages: Vec<Package>,
    pub(crate) remotes: Vec<Remote>,
    pub(crate) repository: Option<Repository>,
    #[serde(rename = "_meta")]
    pub(crate) meta: Value,
}

/// Where its source is.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Repository {
    pub(crate) url: String,
}

/// A package that can be started here.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Package {
    #[serde(alias = "registry_type", alias = "registry_name")]
    pub(crate) registry_type: String,
    #[serde(alias = "name")]
    pub(crate) identifier: String,
    pub(crate) version: Option<String>,
    #[serde(alias = "runtime_hint")]
    pub(crate) runtime_hint: Option<String>,
    #[serde(alias = "runtime_arguments")]
    pub(crate) runtime_arguments: Vec<Argument>,
    #[serde(alias = "package_arguments")]
    pub(crate) package_arguments: Vec<Argument>,
    #[serde(alias = "environment_variables")]
    pub(crate) environment_variables: Vec<Input>,
    pub(crate) transport: Option<Transport>,
}

/// How a package speaks.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Transport {
    #[serde(rename = "type")]
    pub(crate) kind: String,
}

/// A server that runs somewhere else.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Remote {
    #[serde(rename = "type", alias = "transport_type")]
    pub(crate) kind: String,
    pub(crate) url: String,
    pub(crate) headers: Vec<Input>,
    pub(crate) variables: std::collections::BTreeMap<String, Input>,
}

/// One word, or two, of a command.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Argument {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    #[serde(alias = "value_hint")]
    pub(crate) value_hint: Option<String>,
    #[serde(flatten)]
    pub(crate) input: Input,
}

/// A value, or what has to be known to ask for it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Input {
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    pub(crate) value: Option<String>,
    pub(crate) default: Option<String>,
    #[serde(alias = "is_required")]
    pub(crate) is_required: bool,
    #[serde(alias = "is_secret")]
    pub(crate) is_secret: bool,
    pub(crate) variables: std::collections::BTreeMap<String, Self>,
}

/// One page of a registry's list.
#[derive(Debug, Default)]
pub(crate) struct Page {
    pub(crate) servers: Vec<Document>,
    pub(crate) next: Option<String>,
}

impl Document {
    /// A server of a list or of an answer: as it stands, or inside `server` with the registry's word beside it.
    pub(crate) fn read(value: &Value) -> Result<Self, String> {
        let inner = value.get("server").filter(|inner| inner.is_object());
        let document: Self =
            serde_json::from_value(inner.unwrap_or(value).clone()).map_err(|error| error.to_string())?;
        if document.name.trim().is_empty() {
            return Err("it has no name".to_owned());
        }
        let beside = inner.and_then(|_| value.get("_meta")).cloned();
        let status = beside.as_ref().and_then(|meta| meta[OFFICIAL]["status"].as_str().map(str::to_owned));
        Ok(Self { status: status.or_else(|| document.status.clone()), ..document })
    }

    /// How one signs in, in the words of proposal 13, where it says something of it.
    pub(crate) fn auth_flow(&self) -> Option<String> {
        let secrets =
            self.packages.iter().any(|package| package.environment_variables.iter().any(|input| input.is_secret));
        let headers = self.remotes.iter().any(|remote| remote.headers.iter().any(|input| input.is_secret));
        match (secrets || headers, self.packages.is_empty()) {
            (true, _) => Some("api_key".to_owned()),
            (false, true) if !self.remotes.is_empty() => Some("oauth2_if_asked".to_owned()),
            _ => None,
        }
    }
}

impl Page {
    /// A page of a list. Servers that cannot be read are left out: one of them must not hide the others.
    pub(crate) fn read(value: &Value) -> Result<Self, String> {
        let servers = value["servers"].as_array().ok_or("it has no list `servers`")?;
        let metadata = &value["metadata"];
        let next = metadata["nextCursor"].as_str().or_else(|| metadata["next_cursor"].as_str());
        Ok(Self {
            servers: servers.iter().filter_map(|server| Document::read(server).ok()).collect(),
            next: next.filter(|cursor| !cursor.is_empty()).map(str::to_owned),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_spellings_and_both_places_are_read() {
        let now = json!({"server": {
            "name": "example/a", "description": "d", "version": "1",
            "packages": [{"registryType": "npm", "identifier": "a", "runtimeHint": "npx", "transport": {"type": "stdio"},
                "environmentVariables": [{"name": "K", "isSecret": true}]}],
        }, "_meta": {OFFICIAL: {"status": "deprecated"}}});
        let before = json!({
            "name": "example/a", "description": "d", "version": "1", "status": "deprecated",
            "packages": [{"registry_type": "npm", "identifier": "a", "runtime_hint": "npx",
                "environment_variables": [{"name": "K", "is_secret": true}]}],
        });
        for value in [now, before] {
            let read = Document::read(&value).unwrap();
            let package = &read.packages[0];
            assert_eq!((package.registry_type.as_str(), package.runtime_hint.as_deref()), ("npm", Some("npx")));
            assert!(package.environment_variables[0].is_secret);
            assert_eq!((read.status.as_deref(), read.auth_flow().as_deref()), (Some("deprecated"), Some("api_key")));
        }
    }

    #[test]
    fn a_page_leaves_out_what_it_cannot_read() {
        let page = json!({
            "servers": [{"server": {"name": "a/b"}}, {"server": 5}, {"name": ""}, 7, {"name": "c/d"}],
            "metadata": {"nextCursor": "x", "count": 5},
        });
        let page = Page::read(&page).unwrap();
        let names: Vec<&str> = page.servers.iter().map(|server| server.name.as_str()).collect();
        assert_eq!((names, page.next.as_deref()), (vec!["a/b", "c/d"], Some("x")));
        assert!(Page::read(&json!({"servers": 5})).is_err());
    }
}
