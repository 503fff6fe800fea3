//! Servers that come and go while the kernel runs, and what is said of all of them (MGP 15, 16.6, proposal 13).
//!
//! It decides who may register a server or write a tool, what of that a person has to agree to first, how long it
//! stays, and which servers somebody is told of. How a server is confined is decided where all servers are; which
//! program that is, and with what around it, is said by a [`Builder`], because it depends on the machine.
//!
//! - `listing.rs` what is told of servers, to whom. - `register.rs` servers that others register. - `create.rs` tools
//!   that agents write. - `approval.rs` the agreement of a person. - `recommend.rs` which server could help.
//! - `tools.rs` the same as methods and as the kernel's tools.
//!
//! A registered server belongs to who registered it: nobody else sees it without a grant. Its trust is what the
//! operator says, and its own word can only lower it.

pub(super) mod approval;
mod create;
mod listing;
mod recommend;
mod register;
mod tools;

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use switchboard_peer::Context;
use switchboard_protocol::fault::Fault;
use switchboard_upstream::{ServerSpec, names};

use super::house::{AccessRights, RecordKeeping, RegistryHouse, ServerDirectory, Setup};
pub use super::server_offers::{
    Builder, Creating, KnownServer, Lifetime, Registering, Run, ServerOffers, ServerRegistration, ServerSource,
};
pub(super) use create::Written;
use listing::Listing;
pub use listing::{Asker, OfferedServer};
use recommend::Recommender;
pub use recommend::ServerOffer;
pub(super) use tools::ROWS;

/// What the kernel keeps of servers that come and go.
#[derive(Default)]
pub struct Registry {
    configured: Mutex<Vec<ServerSpec>>,
    entries: Mutex<Vec<Entry>>,
    shelf: Arc<recommend::Shelf>,
    asked: approval::AskedQuestions,
}

/// A registered server.
#[derive(Clone)]
struct Entry {
    registration: ServerRegistration,
    spec: ServerSpec,
    /// The session that it ends with.
    session: Option<Arc<str>>,
}

impl Registry {
    /// Takes over the servers of the configuration. One that was registered under the name of one of them is gone.
    pub fn configure(&self, specs: Vec<ServerSpec>) {
        self.entries.lock().retain(|entry| {
            let taken = specs.iter().any(|spec| *spec.id == *entry.registration.id);
            if taken {
                tracing::warn!(server = entry.registration.id, "the configuration has this name now");
            }
            !taken
        });
        *self.configured.lock() = specs;
    }

    /// All servers: those of the configuration first, so that they count where two have one id.
    pub fn specs(&self) -> Vec<ServerSpec> {
        let mut specs = self.configured.lock().clone();
        specs.extend(self.entries.lock().iter().map(|entry| entry.spec.clone()));
        specs
    }

    fn find(&self, id: &str) -> Option<ServerRegistration> {
        let entries = self.entries.lock();
        entries.iter().find(|entry| entry.registration.id == id).map(|entry| entry.registration.clone())
    }

    /// Whether there is a server whose tools would be taken for those of `id`.
    fn is_taken(&self, id: &str) -> bool {
        let like = |other: &str| {
            names::skeleton(other) == names::skeleton(id) || names::expose(other, "") == names::expose(id, "")
        };
        let aliased = |spec: &ServerSpec| spec.policy.alias.as_deref().is_some_and(like);
        self.configured.lock().iter().any(|spec| like(&spec.id) || aliased(spec))
            || self.entries.lock().iter().any(|entry| like(&entry.registration.id))
    }

    fn count(&self, counted: impl Fn(&ServerRegistration) -> bool) -> usize {
        self.entries.lock().iter().filter(|entry| counted(&entry.registration)).count()
    }

    /// One more, of at most so many of its kind.
    ///
    /// # Errors
    /// Its id is taken, or there are so many already: others may have come since it was looked.
    fn add(&self, entry: Entry, most: usize) -> Result<(), &'static str> {
        let written = |entry: &Entry| matches!(entry.registration.run, Run::Code { .. });
        if self.is_taken(&entry.registration.id) {
            return Err("a server of this name has come meanwhile");
        }
        let mut entries = self.entries.lock();
        if entries.iter().any(|other| other.registration.id == entry.registration.id) {
            return Err("a server of this name has come meanwhile");
        }
        if entries.iter().filter(|other| written(other) == written(&entry)).count() >= most {
            return Err("no more may be registered");
        }
        entries.push(entry);
        Ok(())
    }

    fn remove(&self, id: &str) -> Option<ServerRegistration> {
        let mut entries = self.entries.lock();
        let index = entries.iter().position(|entry| entry.registration.id == id)?;
        Some(entries.remove(index).registration)
    }

    /// The ids of those that end with a session.
    fn of_session(&self, session: &str) -> Vec<String> {
        let entries = self.entries.lock();
        let ends = |entry: &&Entry| entry.session.as_deref() == Some(session);
        entries.iter().filter(ends).map(|entry| entry.registration.id.clone()).collect()
    }
}

/// Registers servers and takes them away again.
pub struct Registrar<'a, H: ?Sized> {
    house: &'a H,
    registry: &'a Registry,
}

impl<'a, H: AccessRights + Setup + ?Sized> Registrar<'a, H> {
    /// That of a house.
    #[must_use]
    pub fn of(house: &'a H) -> Self {
        Self { house, registry: &house.services().registry }
    }

    /// Whether somebody is among those who may, or may decide for others anyway. A token that was limited to some servers
    /// or tools is not good for new ones, and a session token neither.
    fn may(&self, context: &Context, principals: &[String]) -> bool {
        let who = self.house.requester(context);
        let session = &who.session;
        let named = || principals.iter().any(|principal| **principal == *session.principal);
        let is_whole = !session.identity.is_limited() && who.tokens.is_empty();
        is_whole && (session.identity.admin || named())
    }
}

impl<H: RegistryHouse + ?Sized> Registrar<'_, H> {
    /// A session has ended: what was registered for it alone goes with it.
    pub fn session_ended(&self, session: &str) {
        for id in self.registry.of_session(session) {
            let house = self.house.shared();
            self.house.spawn(Box::pin(async move {
                Registrar::of(&*house).retire(&id, switchboard_audit::kernel(), "session_ended").await;
            }));
        }
    }
}

/// The servers that somebody who asks over HTTP may know of, with the tools that they may use.
///
/// # Errors
/// It cannot be known now what they may use.
pub async fn offered_to<H: ServerDirectory + AccessRights + Setup>(
    house: &H,
    asker: &Asker,
) -> Result<Vec<OfferedServer>, Fault> {
    Listing::of(house).offered(&asker.requester(house)).await
}

/// The servers that somebody who asks over HTTP may know of, each with how many of its tools they may use. Does not wait
/// for servers that are starting.
///
/// # Errors
/// It cannot be known now what they may use.
pub async fn known_to<H: ServerDirectory + AccessRights + Setup>(
    house: &H,
    asker: &Asker,
) -> Result<HashMap<Arc<str>, usize>, Fault> {
    Listing::of(house).known(&asker.requester(house)).await
}

/// The servers that somebody who asks over HTTP may know of and that can do what is needed, the best first.
///
/// # Errors
/// It cannot be known now what they may use.
pub async fn offered_for<H: ServerDirectory + AccessRights + RecordKeeping + Setup>(
    house: &H,
    asker: &Asker,
    needed: &str,
) -> Result<Vec<ServerOffer>, Fault> {
    Recommender::of(house).offers(asker, needed).await
}
