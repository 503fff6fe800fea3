//! What servers declare of their tools beyond MCP: costs, times, media, sizes (proposals 1, 3 and 10).
//!
//! It stands in a tool's definition, in its `_meta`, or in the server's own manifest. All of it is the server's claim. What
//! cannot be read is passed over, alone: nothing here decides whether a call passes, that is read from definitions by
//! [`ToolSecurity`](crate::mgp::security::ToolSecurity), which takes the worst.

use std::collections::HashMap;

use switchboard_wire::{Kind, Limits, Object, Raw};

use super::{
    AuthCapabilities, AuthMethod, Cost, CostCategory, LatencyClass, Quota, RateLimits, ScopeOffer, manifest_name,
};
use crate::proposals::{Consequence, Proposal};

/// Media types of one tool, and letters of one.
const MOST_TYPES: usize = 64;
const LONGEST_TYPE: usize = 127;
/// Scopes of one tool or server, and letters of a name or a description.
const MOST_SCOPES: usize = 256;
const LONGEST_TEXT: usize = 1_024;
/// Tools of one manifest.
const MOST_TOOLS: usize = 10_000;
/// Where a tool's definition may say it, beside its top: the homes under `_meta`.
const META_HOMES: [&str; 3] = ["dev.switchboard", "dev.cloto/mgp", "mgp"];

/// What is declared of one tool.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Operational {
    /// What a call costs.
    pub cost: Option<Cost>,
    /// How long it takes.
    pub latency: Option<LatencyClass>,
    /// What is left.
    pub quota: Option<Quota>,
    /// Media types that it takes.
    pub input_types: Vec<String>,
    /// Media types that it gives.
    pub output_types: Vec<String>,
    /// Bytes of input at most.
    pub max_input_size_bytes: Option<u64>,
    /// How binary data comes to it.
    pub binary_transport: Option<String>,
    /// Whether a second equal call changes nothing more.
    pub idempotent: Option<bool>,
    /// Whether a person has to agree.
    pub requires_confirmation: bool,
    /// What the person is asked.
    pub confirmation_message: Option<String>,
    /// What can come of a call.
    pub risk_level: Option<Consequence>,
    /// The scopes that a caller must hold.
    pub required_scopes: Vec<String>,
    /// Whether results come in pieces.
    pub supports_streaming: Option<bool>,
    /// Whether results come in pages.
    pub supports_pagination: Option<bool>,
}

impl Operational {
    /// Of a tool's definition: its top, its `_meta`, and the homes under that. What stands higher counts.
    #[must_use]
    pub fn of_tool(definition: &Raw) -> Self {
        let Ok(tool) = Object::open(definition) else { return Self::default() };
        let mut said = Self::of(&tool);
        let meta = tool.get("_meta").and_then(|meta| Object::open(&meta).ok());
        if let Some(meta) = meta {
            said = said.else_by(Self::of(&meta));
            for home in META_HOMES.iter().filter_map(|home| Object::open(&meta.get(home)?).ok()) {
                said = said.else_by(Self::of(&home));
            }
        }
        // The schema of JSON has a word of its own for media in strings.
        if said.input_types.is_empty()
            && let Some(schema) = tool.get("inputSchema")
        {
            said.input_types = media_of(&schema);
        }
        said
    }

    /// Of one object.
    #[must_use]
    pub fn of(home: &Object) -> Self {
        let flag = |key: &str| home.get(key).and_then(|value| value.view::<bool>().ok());
        Self {
            cost: home.get("cost").and_then(|cost| read_cost(&cost)),
            latency: home.text("latency").and_then(|word| LatencyClass::from_word(&word)),
            quota: home.get("quota").and_then(|quota| read_quota(&quota)),
            input_types: media(home, "input_types"),
            output_types: media(home, "output_types"),
            max_input_size_bytes: home.get("max_input_size_bytes").and_then(|size| size.view().ok()),
            binary_transport: home.text("binary_transport").filter(|word| word.len() <= LONGEST_TYPE),
            idempotent: flag("idempotent"),
            requires_confirmation: flag("requires_confirmation").unwrap_or_default(),
            confirmation_message: home.text("confirmation_message").map(cut),
            risk_level: home.text("risk_level").and_then(|word| Consequence::from_word(&word)),
            required_scopes: texts(home, "required_scopes"),
            supports_streaming: flag("supports_streaming"),
            supports_pagination: flag("supports_pagination"),
        }
    }

    /// This, and what it does not say by another. Demands of both count.
    #[must_use]
    pub fn else_by(self, other: Self) -> Self {
        let longer = |one: Vec<String>, other: Vec<String>| if one.is_empty() { other } else { one };
        let mut required_scopes = self.required_scopes;
        for scope in other.required_scopes {
            if !required_scopes.contains(&scope) {
                required_scopes.push(scope);
            }
        }
        Self {
            cost: self.cost.or(other.cost),
            latency: self.latency.or(other.latency),
            quota: self.quota.or(other.quota),
            input_types: longer(self.input_types, other.input_types),
            output_types: longer(self.output_types, other.output_types),
            max_input_size_bytes: self.max_input_size_bytes.or(other.max_input_size_bytes),
            binary_transport: self.binary_transport.or(other.binary_transport),
            idempotent: self.idempotent.or(other.idempotent),
            requires_confirmation: self.requires_confirmation || other.requires_confirmation,
            confirmation_message: self.confirmation_message.or(other.confirmation_message),
            risk_level: self.risk_level.max(other.risk_level),
            required_scopes,
            supports_streaming: self.supports_streaming.or(other.supports_streaming),
            supports_pagination: self.supports_pagination.or(other.supports_pagination),
        }
    }
}

/// What a server's own manifest says, as far as anything can be done with it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DeclaredManifest {
    /// Its description of itself.
    pub description: Option<String>,
    /// Where to read about it.
    pub homepage: Option<String>,
    /// The proposals that it speaks.
    pub extensions: Vec<Proposal>,
    /// How callers prove who they are to it.
    pub auth: Option<AuthCapabilities>,
    /// How often it may be called.
    pub rate_limits: Option<RateLimits>,
    /// For how many seconds it holds.
    pub ttl_seconds: Option<u64>,
    tools: HashMap<String, Operational>,
}

impl DeclaredManifest {
    /// Reads a manifest; `None` for what is none.
    #[must_use]
    pub fn read(manifest: &Raw) -> Option<Self> {
        let object = Object::open(manifest).ok()?;
        let server = object.get("server").and_then(|server| Object::open(&server).ok())?;
        let tools = object.get("tools")?.elements()?;
        let mut read = HashMap::new();
        for tool in tools.iter().take(MOST_TOOLS).filter_map(|tool| Object::open(tool).ok()) {
            if let Some(name) = tool.text("name") {
                read.entry(name).or_insert_with(|| Operational::of(&tool));
            }
        }
        let ttl = ["manifest_ttl", "manifest_ttl_seconds"].iter().find_map(|key| object.get(key));
        let homepage =
            server.text("homepage").filter(|page| page.starts_with("https://") && page.len() <= LONGEST_TEXT);
        let rate_limits = object.get("rate_limits").map(|limits| read_rate_limits(&limits));
        Some(Self {
            description: server.text("description").map(cut),
            homepage,
            extensions: texts(&object, "supported_extensions")
                .iter()
                .filter_map(|name| Proposal::from_word(name))
                .collect(),
            auth: object.get("auth").and_then(|auth| read_auth(&auth)),
            rate_limits: rate_limits.filter(|limits| !limits.is_empty()),
            ttl_seconds: ttl.and_then(|ttl| ttl.view().ok()),
            tools: read,
        })
    }

    /// The manifest in the answer of a tool: in `structuredContent`, as the text of its first block, or bare; each of them
    /// possibly within a member `manifest`.
    #[must_use]
    pub fn in_result(result: &Raw, limits: &Limits) -> Option<Self> {
        let text = result.member("content").and_then(|content| content.elements()?.first()?.member("text")?.as_text());
        let said = text.and_then(|text| Raw::parse(text, limits).ok());
        let places = [result.member("structuredContent"), said, Some(result.clone())];
        places.into_iter().flatten().filter(|place| place.kind() == Kind::Object).find_map(|place| {
            place.member("manifest").and_then(|inner| Self::read(&inner)).or_else(|| Self::read(&place))
        })
    }

    /// What it says of a tool that the server's list names so.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<&Operational> {
        self.tools.get(name).or_else(|| self.tools.get(&manifest_name(name)))
    }
}

fn read_cost(cost: &Raw) -> Option<Cost> {
    let object = Object::open(cost).ok()?;
    let read = Cost {
        category: object.text("category").and_then(|word| CostCategory::from_word(&word)),
        estimated_units: object.get("estimated_units").and_then(|units| units.view().ok()),
        unit_label: object.text("unit_label").map(cut),
        ..Cost::default()
    };
    (read != Cost::default()).then_some(read)
}

fn read_quota(quota: &Raw) -> Option<Quota> {
    let object = Object::open(quota).ok()?;
    let read = Quota {
        remaining: object.get("remaining").and_then(|left| left.view().ok()),
        resets_at: object.text("resets_at").filter(|time| is_time(time)),
        ..Quota::default()
    };
    (read != Quota::default()).then_some(read)
}

fn read_rate_limits(limits: &Raw) -> RateLimits {
    let number = |key: &str| limits.member(key).and_then(|value| value.view().ok());
    RateLimits {
        requests_per_minute: number("requests_per_minute"),
        requests_per_day: number("requests_per_day"),
        remaining: number("remaining"),
        resets_at: limits.member("resets_at").and_then(|time| time.as_text()).filter(|time| is_time(time)),
        concurrent: number("concurrent"),
        ..RateLimits::default()
    }
}

fn read_auth(auth: &Raw) -> Option<AuthCapabilities> {
    let object = Object::open(auth).ok()?;
    let scopes = object.get("scopes").and_then(|scopes| scopes.elements()).unwrap_or_default();
    let scopes = scopes.iter().take(MOST_SCOPES).filter_map(|scope| Object::open(scope).ok()).filter_map(|scope| {
        let offer = ScopeOffer::new(cut(scope.text("name")?), cut(scope.text("description").unwrap_or_default()));
        let grants = texts(&scope, "grants");
        Some(if grants.is_empty() { offer } else { offer.grants(grants) })
    });
    let scopes: Vec<ScopeOffer> = scopes.collect();
    let methods: Vec<AuthMethod> =
        texts(&object, "methods").iter().filter_map(|word| AuthMethod::from_word(word)).collect();
    Some(AuthCapabilities {
        methods: (!methods.is_empty()).then_some(methods),
        scopes: (!scopes.is_empty()).then_some(scopes),
        session_ttl_seconds: object.get("session_ttl_seconds").and_then(|ttl| ttl.view().ok()),
        ..AuthCapabilities::default()
    })
}

fn texts(home: &Object, key: &str) -> Vec<String> {
    let list = home.get(key).and_then(|list| list.elements()).unwrap_or_default();
    list.iter().filter_map(Raw::as_text).filter(|text| text.len() <= LONGEST_TEXT).take(MOST_SCOPES).collect()
}

fn media(home: &Object, key: &str) -> Vec<String> {
    let mut found = texts(home, key);
    found.retain(|word| is_media_type(word));
    found.truncate(MOST_TYPES);
    found
}

/// The media types that a schema names for the strings directly in it.
fn media_of(schema: &Raw) -> Vec<String> {
    let properties = schema.member("properties").and_then(|properties| Object::open(&properties).ok());
    let mut found = Vec::new();
    for (_, property) in properties.iter().flat_map(Object::iter).take(MOST_TYPES) {
        let named = property.member("contentMediaType").and_then(|word| word.as_text());
        if let Some(word) = named.filter(|word| is_media_type(word) && !found.contains(word)) {
            found.push(word);
        }
    }
    found
}

/// Whether a word has the form of a media type, or of a range of them.
fn is_media_type(word: &str) -> bool {
    let name = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$&^_.+-*".contains(&byte))
    };
    let plain = word.split(';').next().unwrap_or_default().trim();
    word.len() <= LONGEST_TYPE
        && word.is_ascii()
        && plain.split_once('/').is_some_and(|(kind, subtype)| name(kind) && name(subtype))
}

/// Whether a text can be a time in RFC 3339, by its shape.
fn is_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    (20..=40).contains(&bytes.len())
        && text.is_ascii()
        && bytes[4] == b'-'
        && bytes[7] == b'-'
        && matches!(bytes[10], b'T' | b't' | b' ')
        && bytes[13] == b':'
        && bytes[..4].iter().all(u8::is_ascii_digit)
}

fn cut(text: String) -> String {
    if text.len() <= LONGEST_TEXT { text } else { text.chars().take(LONGEST_TEXT).collect() }
}
