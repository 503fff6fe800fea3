//! What two peers agree on (MGP 2): offers, declarations, and where they stand.
//!
//! An offer is a client's, a declaration a server's. Both may stand at three places, because some libraries throw
//! away members of `capabilities` that they do not know. An answer stands where the question stood, uses the names
//! that the peer used, and never lists what was not offered. Whether a server's claims are believed is not decided
//! here.

#[cfg(test)]
mod tests;

use switchboard_wire::{Edit, Kind, Object, Raw, Refusal};

use super::extension::ExtensionSet;
use super::version::{Compatibility, VERSION};
use super::{Extension, TrustLevel};
use crate::Era;

/// The identifier of MGP among the extensions of MCP, and the key of what MGP puts into `_meta`.
pub const EXTENSION_ID: &str = "dev.cloto/mgp";

/// What of MGP a gateway speaks with clients.
pub const SPOKEN_WITH_CLIENTS: [Extension; 14] = [
    Extension::ToolSecurity,
    Extension::Permissions,
    Extension::AccessControl,
    Extension::Audit,
    Extension::CodeSafety,
    Extension::ErrorHandling,
    Extension::Lifecycle,
    Extension::Callbacks,
    Extension::Streaming,
    Extension::Progress,
    Extension::Events,
    Extension::ToolDiscovery,
    Extension::Discovery,
    Extension::Delegation,
];

/// Where in `capabilities` MGP is spoken of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NegotiationPlace {
    /// `capabilities.mgp`
    Own,
    /// `capabilities.experimental.mgp`
    Experimental,
    /// `capabilities.extensions["dev.cloto/mgp"]`
    Extensions,
}

impl NegotiationPlace {
    /// All of them; what stands at an earlier one is read first.
    pub const ALL: [Self; 3] = [Self::Own, Self::Experimental, Self::Extensions];

    /// The keys that lead from `capabilities` to the place.
    #[must_use]
    pub const fn path(self) -> &'static [&'static str] {
        match self {
            Self::Own => &["mgp"],
            Self::Experimental => &["experimental", "mgp"],
            Self::Extensions => &["extensions", EXTENSION_ID],
        }
    }

    fn set(self, capabilities: Edit, value: Raw) -> Result<Edit, Refusal> {
        match self.path() {
            [outer, inner] => capabilities.within(outer, |edit| edit.set(inner, value)),
            path => Ok(path.iter().fold(capabilities, |edit, key| edit.set(key, value.clone()))),
        }
    }
}

/// What a client says it speaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    version: String,
    names: Vec<String>,
    places: Vec<NegotiationPlace>,
}

impl Offer {
    /// The offer in the capabilities of a client: of `initialize`, or of one modern request. One that is not
    /// well-formed is none.
    #[must_use]
    pub fn of(capabilities: &Raw) -> Option<Self> {
        let mut found: Option<Self> = None;
        for place in NegotiationPlace::ALL {
            let Some((version, names, _)) = declared_at(capabilities, place) else { continue };
            match &mut found {
                None => found = Some(Self { version, names, places: vec![place] }),
                // A client that says the same at two places does not know which of them survives. Neither do we.
                Some(offer) if offer.version == version && offer.names == names => offer.places.push(place),
                Some(_) => {}
            }
        }
        found
    }

    /// The version that the client speaks.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The names as the client wrote them, with those that nobody knows.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// What the names stand for.
    #[must_use]
    pub fn extensions(&self) -> ExtensionSet {
        ExtensionSet::of_names(self.names.iter().map(String::as_str))
    }

    /// Where it stood: at least one place.
    #[must_use]
    pub fn places(&self) -> &[NegotiationPlace] {
        &self.places
    }
}

/// What a server says it speaks and needs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerDeclaration {
    /// The version it speaks.
    pub version: String,
    /// The names of its extensions as it wrote them.
    pub names: Vec<String>,
    /// Where the declaration stood.
    pub place: NegotiationPlace,
    /// The permissions it says it needs, as it wrote them.
    pub permissions_required: Vec<String>,
    /// What it calls itself.
    pub server_id: Option<String>,
    /// How far it says it should be trusted. What cannot be read claims nothing.
    pub trust_level: Option<TrustLevel>,
}

impl ServerDeclaration {
    /// The declaration in the capabilities of a server: of the result of `initialize` or `server/discover`. One that
    /// is not well-formed is none.
    #[must_use]
    pub fn of(capabilities: &Raw) -> Option<Self> {
        NegotiationPlace::ALL.into_iter().find_map(|place| {
            let (version, names, object) = declared_at(capabilities, place)?;
            let permissions_required = match object.get("permissions_required") {
                Some(permissions) if permissions.kind() != Kind::Null => texts(&permissions)?,
                _ => Vec::new(),
            };
            let trust_level = object.get("trust_level").filter(|level| level.kind() != Kind::Null);
            Some(Self {
                version,
                names,
                place,
                permissions_required,
                server_id: object.text("server_id"),
                trust_level: trust_level
                    .map(|level| level.as_text().map_or(TrustLevel::Untrusted, |word| TrustLevel::claimed(&word))),
            })
        })
    }

    /// What the names stand for.
    #[must_use]
    pub fn extensions(&self) -> ExtensionSet {
        ExtensionSet::of_names(self.names.iter().map(String::as_str))
    }
}

/// What was agreed with one peer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agreement {
    extensions: ExtensionSet,
    names: Vec<String>,
    places: Vec<NegotiationPlace>,
    our_version: String,
    peer_version: String,
    compatibility: Compatibility,
}

impl Agreement {
    /// With a client of the gateway that says this of itself; `None` for one that did not ask for MGP.
    #[must_use]
    pub fn with_client(capabilities: &Raw) -> Option<Self> {
        // Most clients do not even name it.
        memchr::memmem::find(capabilities.as_bytes(), b"mgp")?;
        Self::between(&Offer::of(capabilities)?, &SPOKEN_WITH_CLIENTS, VERSION)
    }

    /// With a client that made `offer`. `None` where the versions do not fit: the connection is plain MCP.
    #[must_use]
    pub fn between(offer: &Offer, ours: &[Extension], our_version: &str) -> Option<Self> {
        Self::make(&offer.version, &offer.names, offer.places.clone(), ours.into(), our_version)
    }

    /// With a server that answered our offer of `offered`. What it lists beyond that is not agreed.
    #[must_use]
    pub fn with_server(declaration: &ServerDeclaration, offered: &[Extension]) -> Option<Self> {
        Self::make(&declaration.version, &declaration.names, vec![declaration.place], offered.into(), VERSION)
    }

    fn make(
        peer_version: &str,
        peer_names: &[String],
        places: Vec<NegotiationPlace>,
        ours: ExtensionSet,
        our_version: &str,
    ) -> Option<Self> {
        let compatibility = Compatibility::between(our_version, peer_version);
        if compatibility == Compatibility::None {
            return None;
        }
        let mut names: Vec<String> = Vec::new();
        let mut extensions = ExtensionSet::default();
        for name in peer_names {
            let meant = ExtensionSet::named(name);
            let shared = meant.intersection(ours);
            extensions = extensions.union(shared);
            // A name of which we speak only a part would promise too much: the part is named instead.
            let told: Vec<&str> =
                if shared == meant { vec![name.as_str()] } else { shared.iter().map(Extension::as_str).collect() };
            for name in told.into_iter().filter(|_| !meant.is_empty()) {
                if !names.iter().any(|earlier| earlier == name) {
                    names.push(name.to_owned());
                }
            }
        }
        let (our_version, peer_version) = (our_version.to_owned(), peer_version.to_owned());
        Some(Self { extensions, names, places, our_version, peer_version, compatibility })
    }

    /// Whether `extension` was agreed.
    #[must_use]
    pub const fn has(&self, extension: Extension) -> bool {
        self.extensions.has(extension)
    }

    /// All that was agreed.
    #[must_use]
    pub const fn extensions(&self) -> ExtensionSet {
        self.extensions
    }

    /// The same in the peer's own names.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The version that the peer speaks.
    #[must_use]
    pub fn peer_version(&self) -> &str {
        &self.peer_version
    }

    /// How the versions fit.
    #[must_use]
    pub const fn compatibility(&self) -> Compatibility {
        self.compatibility
    }

    /// Writes our answer to a client into the capabilities that we declare, at the place where it asked. `more` are
    /// further members, such as `server_id`.
    ///
    /// # Errors
    /// `capabilities`, or what stands on the way to the place, is no object.
    pub fn declare_in<'a>(
        &self,
        capabilities: &Raw,
        more: impl IntoIterator<Item = (&'a str, Raw)>,
    ) -> Result<Raw, Refusal> {
        let declaration = declaration(&self.our_version, self.names.iter().map(String::as_str));
        let declaration = more.into_iter().fold(declaration, |edit, (key, value)| edit.set(key, value)).finish();
        write_at(&self.places, capabilities, &declaration)
    }
}

/// Writes our own offer into the capabilities that we declare as a client, in both vocabularies and at the places
/// where members of that kind are legal in the era.
///
/// # Errors
/// `capabilities`, or what stands on the way to a place, is no object.
pub fn offer_in(capabilities: &Raw, ours: &[Extension], era: Era) -> Result<Raw, Refusal> {
    let places = match era {
        Era::Legacy => [NegotiationPlace::Own, NegotiationPlace::Experimental],
        Era::Modern => [NegotiationPlace::Extensions, NegotiationPlace::Experimental],
    };
    let offer = declaration(VERSION, ExtensionSet::from(ours).names()).finish();
    write_at(&places, capabilities, &offer)
}

fn write_at(places: &[NegotiationPlace], capabilities: &Raw, value: &Raw) -> Result<Raw, Refusal> {
    let edit = places.iter().try_fold(Edit::of(capabilities)?, |edit, place| place.set(edit, value.clone()))?;
    Ok(edit.finish())
}

fn declaration<'a>(version: &str, names: impl Iterator<Item = &'a str>) -> Edit {
    let names: Vec<Raw> = names.map(Raw::string).collect();
    Edit::empty().set("version", Raw::string(version)).set("extensions", Raw::array(&names))
}

/// Version, names and all members of what stands at `place`, where it is well-formed.
fn declared_at(capabilities: &Raw, place: NegotiationPlace) -> Option<(String, Vec<String>, Object)> {
    let object = Object::open(&capabilities.at(place.path())?).ok()?;
    Some((object.text("version")?, texts(&object.get("extensions")?)?, object))
}

/// The elements of an array of strings.
fn texts(raw: &Raw) -> Option<Vec<String>> {
    raw.elements()?.iter().map(Raw::as_text).collect()
}
