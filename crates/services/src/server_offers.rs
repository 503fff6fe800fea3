//! Which servers may come while the kernel runs, as the operator set it, and the form in which they are kept.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use switchboard_peer::BoxFuture;
use switchboard_protocol::mgp::TrustLevel;
use switchboard_upstream::ServerSpec;
use switchboard_validators::code::{Language, Level};

/// Which servers may come while the kernel runs, and where others are known.
#[derive(Debug, Clone, Default)]
pub struct ServerOffers {
    /// Servers that others register; `None` where nobody may.
    pub register: Option<Registering>,
    /// Tools that agents write; `None` where nobody may.
    pub create: Option<Creating>,
    /// Turns a registration into a server. Without one, nothing can be registered or written.
    pub builder: Option<Arc<dyn Builder>>,
    /// Registries in which servers are looked for that are not connected.
    pub sources: Vec<Arc<dyn ServerSource>>,
}

/// Who may register servers, and what holds for these.
#[derive(Debug, Clone)]
pub struct Registering {
    /// Who may, beside those who may decide for others.
    pub principals: Vec<String>,
    /// How far such a server is trusted at most.
    pub trust: TrustLevel,
    /// Programs that may be started, once a person agreed to the whole command.
    pub programs: Vec<String>,
    /// Commands that nobody need be asked about any more, word by word.
    pub approved: Vec<Vec<String>>,
    /// Registered servers at a time.
    pub most: usize,
}

/// Who may write tools, and what holds for these.
#[derive(Debug, Clone)]
pub struct Creating {
    /// Who may, beside those who may decide for others.
    pub principals: Vec<String>,
    /// How far such a tool is trusted.
    pub trust: TrustLevel,
    /// What its code is held to.
    pub level: Level,
    /// Tools of this kind at a time.
    pub most: usize,
    /// After how long without a call one is retired whose client has no session.
    pub idle: Duration,
}

/// How long a registered server stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lifetime {
    /// Until the session of who registered it ends, or nobody used it for a while.
    Session,
    /// Until it is deregistered, whether the kernel starts anew or not.
    Persistent,
}

/// A server that somebody registered, or the one around a tool that somebody wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerRegistration {
    /// Its id.
    pub id: String,
    /// What is run.
    pub run: Run,
    /// Who registered it: who was authenticated, whatever the request said.
    pub principal: String,
    /// How far it is trusted, in MGP's word.
    pub trust: String,
    /// Permissions that it says it needs.
    pub permissions_required: Vec<String>,
    /// Why it was registered, in the words of who did.
    pub justification: Option<String>,
    /// How long it stays.
    pub lifetime: Lifetime,
}

/// What is run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Run {
    /// A command, word by word: the program and its arguments.
    Command(Vec<String>),
    /// A program around code that an agent wrote.
    Code {
        /// `python` or `javascript`.
        language: String,
        /// The program around the code. It reads the environment variable [`Run::TOOL`].
        harness: String,
        /// The definition of the tool and its code, as JSON.
        tool: String,
    },
}

impl Run {
    /// The environment variable in which the program around a tool finds it.
    pub const TOOL: &'static str = "SWITCHBOARD_TOOL";
}

impl ServerRegistration {
    /// How far it is trusted.
    #[must_use]
    pub fn trust_level(&self) -> TrustLevel {
        TrustLevel::claimed(&self.trust)
    }

    /// The language of its code, where it is code.
    #[must_use]
    pub fn language(&self) -> Option<Language> {
        match &self.run {
            Run::Command(_) => None,
            Run::Code { language, .. } => Language::from_name(language),
        }
    }
}

/// Turns registrations into servers, and keeps those that are to outlive the process.
pub trait Builder: std::fmt::Debug + Send + Sync {
    /// The server of a registration.
    ///
    /// # Errors
    /// Why it cannot be started here, in words for who registered it.
    fn build(&self, registration: &ServerRegistration) -> Result<ServerSpec, String>;

    /// Whether code in this language can be run here.
    ///
    /// # Errors
    /// What is missing.
    fn runs(&self, language: Language) -> Result<(), String>;

    /// Keeps a registration that is to outlive the process.
    fn keep(&self, registration: &ServerRegistration);

    /// One has ended for good: what was kept of it, and what it left behind, goes.
    fn retired(&self, registration: &ServerRegistration);
}

/// A registry of servers that are somewhere else.
pub trait ServerSource: std::fmt::Debug + Send + Sync {
    /// Its address, for people.
    fn address(&self) -> &str;

    /// All servers that it names, as far as they were read; from a moment ago, if that is new enough.
    fn servers(&self) -> BoxFuture<'_, Result<Arc<Vec<KnownServer>>, String>>;
}

/// A server that a registry names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownServer {
    /// Its name in the registry.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Where the registry tells more of it.
    pub address: String,
    /// How one signs in, where it says so, in the words of proposal 13.
    pub auth_flow: Option<String>,
}
