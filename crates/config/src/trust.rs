//! Which servers of project files a person has approved.
//!
//! An approval is for one file and the exact text of everything that gives the server power: program, arguments, folder,
//! variables and their values, address, headers, policies: everything that `disclosed` says. Any change of these asks again. What the program itself does
//! when its own files change is beyond this list.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::error::{ConfigError, ErrorKind};
use crate::file::{WriteError, read_checked, write_replacing};
use crate::server::{Origin, Server};

/// The list of approvals, kept as `trust.json` in the data folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trust {
    path: PathBuf,
    before: Option<String>,
    approved: BTreeMap<String, Approval>,
}

/// One approval; the hash is what counts, the rest is for people.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Approval {
    id: String,
    file: String,
}

impl Trust {
    /// Reads the list of a data folder; a missing one is empty.
    ///
    /// # Errors
    /// When the list cannot be read or others may write to it.
    pub fn read(data_dir: &Path) -> Result<Self, ConfigError> {
        let path = data_dir.join("trust.json");
        let text = match read_checked(&path) {
            Ok(text) => text,
            Err(error) if *error.kind() == ErrorKind::NotFound => return Ok(Self::empty(data_dir)),
            Err(error) => return Err(error),
        };
        let approved = parse(&text).ok_or_else(|| {
            ConfigError::new(&path, ErrorKind::Unreadable("not a list of trusted servers; move it away".to_owned()))
        })?;
        Ok(Self { path, before: Some(text), approved })
    }

    /// A list without approvals.
    pub(crate) fn empty(data_dir: &Path) -> Self {
        Self { path: data_dir.join("trust.json"), before: None, approved: BTreeMap::new() }
    }

    /// Whether a server may be started: only those of project files need an approval.
    pub fn trusted(&self, server: &Server) -> bool {
        server.origin != Origin::Project || self.approved.contains_key(&fingerprint(server))
    }

    /// Approves a server exactly as it is declared now, and keeps that.
    ///
    /// # Errors
    /// When the list cannot be written.
    pub fn trust(&mut self, server: &Server) -> Result<(), WriteError> {
        let approval = Approval { id: server.id().to_owned(), file: server.file.display().to_string() };
        self.approved.insert(fingerprint(server), approval);
        self.save()
    }

    /// Takes back every approval of this id in this file; says how many there were.
    ///
    /// # Errors
    /// When the list cannot be written.
    pub fn revoke(&mut self, file: &Path, id: &str) -> Result<usize, WriteError> {
        let (file, count) = (file.display().to_string(), self.approved.len());
        self.approved.retain(|_, approval| approval.id != id || approval.file != file);
        let removed = count - self.approved.len();
        if removed > 0 {
            self.save()?;
        }
        Ok(removed)
    }

    fn save(&mut self) -> Result<(), WriteError> {
        let list: Vec<Value> = self
            .approved
            .iter()
            .map(|(sha256, approval)| json!({"id": approval.id, "file": approval.file, "sha256": sha256}))
            .collect();
        let text = format!("{:#}\n", json!({"version": 1, "servers": list}));
        write_replacing(&self.path, self.before.as_deref(), &text, None)?;
        self.before = Some(text);
        Ok(())
    }
}

fn parse(text: &str) -> Option<BTreeMap<String, Approval>> {
    let list: Value = serde_json::from_str(text).ok()?;
    if list.get("version")? != 1 {
        return None;
    }
    let approval = |item: &Value| {
        let text = |key: &str| item.get(key)?.as_str().map(str::to_owned);
        Some((text("sha256")?, Approval { id: text("id")?, file: text("file")? }))
    };
    list.get("servers")?.as_array()?.iter().map(approval).collect()
}

/// SHA-256, in hex, over an unambiguous text of all that an approval covers.
pub fn fingerprint(server: &Server) -> String {
    let entry = &server.entry;
    // Every member is covered below: a new one does not pass unseen.
    let crate::ServerEntry {
        id: _,
        alias: _,
        description: _,
        enabled: _,
        transport: _,
        command: _,
        args: _,
        cwd: _,
        env: _,
        pass_env: _,
        url: _,
        headers: _,
        token: _,
        oauth: _,
        sharing: _,
        era: _,
        start_timeout: _,
        call_timeout: _,
        default_policy: _,
        audit_sink: _,
        pins: _,
        only_tools: _,
        tools: _,
        prompts: _,
        isolation: _,
        flow: _,
        mgp: _,
    } = entry;
    let pairs = |map: &BTreeMap<String, crate::Secret>| -> Vec<Value> {
        map.iter().map(|(name, value)| json!([name, value.reveal()])).collect()
    };
    let mgp = entry.mgp.as_ref();
    let mut covered = vec![
        json!("switchboard trust 1"),
        json!(server.file.display().to_string()),
        json!(entry.id),
        json!(entry.effective_transport().as_str()),
        json!(entry.command),
        json!(entry.args),
        json!(entry.cwd),
        json!(pairs(&entry.env)),
        json!(entry.pass_env),
        json!(entry.url),
        json!(pairs(&entry.headers)),
        json!(entry.token.as_ref().map(crate::Secret::reveal)),
        json!(entry.default_policy.map(crate::DefaultPolicy::as_str)),
        json!(mgp.map(|mgp| &mgp.permissions_required)),
        json!(mgp.and_then(|mgp| mgp.trust_level).map(crate::TrustLevel::as_str)),
    ];
    let none = crate::policy::Permissions::new();
    let granted = mgp.map_or(&none, |mgp| &mgp.permissions_granted);
    covered.extend(crate::policy::covered(granted, &entry.tools, entry.isolation.as_ref()));
    if let Some(oauth) = &entry.oauth {
        covered.push(json!(["oauth", oauth.client_id, oauth.client_secret.reveal(), oauth.issuer, oauth.scopes]));
    }
    if entry.audit_sink == Some(true) {
        covered.push(json!("audit_sink"));
    }
    // Only where something is said, so that earlier approvals stay good.
    let rest = [
        ("enabled", entry.enabled.filter(|enabled| !enabled).map(|_| json!(false))),
        ("sharing", entry.sharing.map(|sharing| json!(sharing.as_str()))),
        ("alias", entry.alias.as_ref().map(|alias| json!(alias))),
        ("only_tools", entry.only_tools.as_ref().map(|only| json!(only))),
        ("pins", entry.pins.map(|pins| json!(pins.as_str()))),
        ("era", entry.era.map(|era| json!(era.as_str()))),
        ("flow", (!entry.flow.tables().is_empty()).then(|| json!(entry.flow.tables()))),
        ("extensions", mgp.filter(|mgp| !mgp.extensions.is_empty()).map(|mgp| json!(mgp.extensions))),
        ("restart", mgp.and_then(|mgp| mgp.restart.as_ref()).map(|restart| json!(format!("{restart:?}")))),
        ("description", entry.description.as_ref().map(|text| json!(text))),
        ("times", (!entry.times().is_empty()).then(|| json!(entry.times()))),
        ("prompts", (!entry.prompts.is_empty()).then(|| json!(crate::policy::covered_words(&entry.prompts)))),
    ];
    covered.extend(rest.into_iter().filter_map(|(key, value)| Some(json!([key, value?]))));
    Sha256::digest(Value::Array(covered).to_string()).iter().map(|byte| format!("{byte:02x}")).collect()
}
