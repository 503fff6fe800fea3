//! The service manifest (proposals 1, 3 and 10): what a server offers, what it costs, how long it takes, which media it
//! takes and gives.
//!
//! This module says which members a manifest has and how names and versions are written in one. What is put into them is
//! decided elsewhere. [`declared`] reads what servers say of themselves: word by word, so that one that cannot be read
//! costs no other.
//!
//! Members that only the text of the proposals has (`quota`, `binary_transport`), and those that answer its open question
//! (`manifest_ttl`, `etag`), stand beside the members of its schema, which is open.

pub mod declared;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::fmt;

use switchboard_wire::Raw;

use super::Consequence;

/// The tool, or method, that gives the manifest.
pub const GET_MANIFEST: &str = "get_manifest";
/// Tells who asked for a manifest that it has changed.
pub const MANIFEST_CHANGED: &str = "notifications/manifest/list_changed";
/// The version of the manifest's own form.
pub const MANIFEST_VERSION: &str = "0.1.0";

words! {
    /// How long a call takes, about (proposal 3). Longer ones compare greater.
    LatencyClass {
        /// Below a second.
        Instant = "instant",
        /// Below a minute.
        Seconds = "seconds",
        /// Longer.
        Minutes = "minutes",
    }
}

words! {
    /// What a call costs (proposal 3). Dearer ones compare greater.
    CostCategory {
        /// Nothing.
        Free = "free",
        /// Something, which is counted.
        Metered = "metered",
        /// So much that a person has to agree.
        RequiresApproval = "requires_approval",
    }
}

words! {
    /// How a caller proves who it is.
    AuthMethod {
        /// OAuth 2, with a code that is typed on another device.
        Oauth2Device = "oauth2_device",
        /// OAuth 2, in a browser.
        Oauth2Code = "oauth2_code",
        /// A key.
        ApiKey = "api_key",
        /// A token in the header.
        BearerToken = "bearer_token",
        /// Not at all.
        None = "none",
    }
}
words_on_wire!(LatencyClass, CostCategory, AuthMethod);

view! { "snake_case";
    /// What a server, or the kernel, offers to one caller.
    ServiceManifest {
        /// [`MANIFEST_VERSION`]
        manifest_version: String,
        /// Whose manifest it is.
        server: ManifestServer,
        /// The tools that the caller may use.
        tools: Vec<ManifestTool>,
        ;
        /// How callers prove who they are, and which scopes there are.
        auth: AuthCapabilities,
        /// The same of the server itself, as it says: that is between it and the kernel.
        upstream_auth: AuthCapabilities,
        /// The proposals that are spoken, by their names.
        supported_extensions: Vec<String>,
        /// How often it may be called.
        rate_limits: RateLimits,
        /// How large messages may be.
        limits: SizeLimits,
        /// Other servers that could help (proposal 13).
        recommendations: Vec<Raw>,
        /// How many of the tools stand here, and why not all.
        truncated: Truncated,
        /// What names this state of the manifest: the same as long as nothing changes that a caller plans by.
        etag: String,
        /// For how many seconds it need not be asked for again.
        manifest_ttl: u64,
        /// When it was put together, in RFC 3339.
        generated_at: String,
    }
}

view! { "snake_case";
    /// Whose manifest it is.
    ManifestServer {
        /// Its name.
        name: String,
        /// Its version, beginning with three numbers.
        version: String,
        /// The revision of MCP that is spoken with it.
        mcp_spec_version: String,
        ;
        /// What it is.
        description: String,
        /// Where to read about it.
        homepage: String,
        /// Its id behind the kernel.
        server_id: String,
        /// Its version as it writes it, where that does not begin with three numbers.
        reported_version: String,
        /// Whether it can be called now.
        status: String,
    }
}

view! { "snake_case";
    /// One tool.
    ManifestTool {
        /// Its name: lower-case letters, digits and `_`.
        name: String,
        /// What it does.
        description: String,
        /// The schema of its arguments.
        input_schema: Raw,
        ;
        /// The name that `tools/call` takes, where it is another one.
        call_name: String,
        /// The server behind the kernel that has it.
        server_id: String,
        /// The schema of its results.
        output_schema: Raw,
        /// Media types that it takes. A hint, and no complete list.
        input_types: Vec<String>,
        /// Media types that it gives. A hint as well.
        output_types: Vec<String>,
        /// Bytes of input that it takes at most.
        max_input_size_bytes: u64,
        /// How binary data comes to it.
        binary_transport: String,
        /// What a call costs.
        cost: Cost,
        /// How long a call takes.
        latency: LatencyClass,
        /// Where that comes from.
        latency_basis: LatencyBasis,
        /// What is left of what the caller may use.
        quota: Quota,
        /// How often it may be called.
        rate_limits: RateLimits,
        /// Whether a second equal call changes nothing more.
        idempotent: bool,
        /// Whether a person is asked before each call.
        requires_confirmation: bool,
        /// What the person is asked.
        confirmation_message: String,
        /// What can come of a call.
        risk_level: Consequence,
        /// The scopes that a caller must hold.
        required_scopes: Vec<String>,
        /// Whether results come in pieces.
        supports_streaming: bool,
        /// Whether results come in pages.
        supports_pagination: bool,
    }
}

view! { "snake_case";
    /// What a call costs.
    Cost {
        ;
        /// How.
        category: CostCategory,
        /// How much, about.
        estimated_units: serde_json::Number,
        /// Of what.
        unit_label: String,
    }
}

view! { "snake_case";
    /// Where the latency class of a tool comes from.
    LatencyBasis {
        /// `declared` or `measured`
        source: String,
        ;
        /// What the server says.
        declared: LatencyClass,
        /// How many calls were measured, of late.
        calls: u64,
        /// The time that half of them did not exceed, in milliseconds.
        p50_ms: u64,
        /// The time that nineteen of twenty did not exceed, in milliseconds.
        p95_ms: u64,
    }
}

view! { "snake_case";
    /// What is left of what the caller may use.
    Quota {
        ;
        /// How many calls.
        remaining: u64,
        /// When there will be more, in RFC 3339.
        resets_at: String,
    }
}

view! { "snake_case";
    /// How often something may be called.
    RateLimits {
        ;
        /// Calls in a minute.
        requests_per_minute: u64,
        /// Calls in a day.
        requests_per_day: u64,
        /// What is left of them.
        remaining: u64,
        /// When there will be more, in RFC 3339.
        resets_at: String,
        /// Calls at a time.
        concurrent: u64,
    }
}

view! { "snake_case";
    /// How large messages may be.
    SizeLimits {
        ;
        /// Bytes of one message.
        max_message_bytes: u64,
        /// Bytes of the result of a call.
        max_result_bytes: u64,
    }
}

view! { "snake_case";
    /// Tools that are left out.
    Truncated {
        /// How many.
        omitted: u64,
        /// Why, and how to get them.
        why: String,
        ;
    }
}

view! { "snake_case";
    /// How callers prove who they are, and which scopes there are (proposal 4).
    AuthCapabilities {
        ;
        /// In which ways.
        methods: Vec<AuthMethod>,
        /// The scopes there are.
        scopes: Vec<ScopeOffer>,
        /// How long a session token lives at most.
        session_ttl_seconds: u64,
    }
}

view! { "snake_case";
    /// A scope that can be asked for.
    ScopeOffer {
        /// Its name.
        name: String,
        /// What it is for.
        description: String,
        ;
        /// The tools that it opens.
        grants: Vec<String>,
    }
}

empty_by_default!(Cost, Quota, RateLimits, SizeLimits, AuthCapabilities);

impl RateLimits {
    /// Whether it says nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The narrower of two, number by number. What is left goes with the one that has less.
    #[must_use]
    pub fn narrower(self, other: Self) -> Self {
        let least = |one: Option<u64>, other: Option<u64>| match (one, other) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        let others = other.remaining.is_some_and(|left| self.remaining.is_none_or(|own| left < own));
        Self {
            requests_per_minute: least(self.requests_per_minute, other.requests_per_minute),
            requests_per_day: least(self.requests_per_day, other.requests_per_day),
            concurrent: least(self.concurrent, other.concurrent),
            remaining: if others { other.remaining } else { self.remaining },
            resets_at: if others { other.resets_at } else { self.resets_at },
            extra: self.extra,
        }
    }
}

/// What is asked of `get_manifest`.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(default)]
pub struct ManifestParams {
    /// Of one server behind the kernel.
    #[serde(alias = "server")]
    pub server_id: Option<String>,
    /// Only these tools, by either of their names.
    pub tools: Option<Vec<String>>,
    /// The `etag` of a manifest that the caller has: where it still holds, only that is said.
    #[serde(alias = "etag")]
    pub if_none_match: Option<String>,
}

/// A tool's name as a manifest writes it: lower-case letters, digits and `_`, a letter first. Words of a name in camel
/// case are kept apart.
#[must_use]
pub fn manifest_name(name: &str) -> String {
    let mut written = String::with_capacity(name.len() + 4);
    let mut lower_before = false;
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && lower_before {
            written.push('_');
        }
        written.push(if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '_' });
        lower_before = letter.is_ascii_lowercase() || letter.is_ascii_digit();
    }
    if written.starts_with(|letter: char| letter.is_ascii_lowercase()) { written } else { format!("t_{written}") }
}

/// Gives out names for one manifest: no two tools get the same.
#[derive(Debug, Default)]
pub struct ManifestNames(HashSet<String>);

impl ManifestNames {
    /// The name of the next tool.
    pub fn give(&mut self, name: &str) -> String {
        let plain = manifest_name(name);
        let mut given = plain.clone();
        let mut number = 2_u32;
        while !self.0.insert(given.clone()) {
            given = format!("{plain}_{number}");
            number = number.saturating_add(1);
        }
        given
    }
}

/// A version that begins with three numbers: as written where it does, else made of the numbers that it begins with.
#[must_use]
pub fn manifest_version_of(written: &str) -> String {
    let written = written.trim();
    let plain = written.strip_prefix(['v', 'V']).unwrap_or(written);
    let mut numbers = plain.split('.').map_while(|part| {
        let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
        (!digits.is_empty()).then_some((digits.len() == part.len(), digits))
    });
    let first: Vec<(bool, String)> = numbers.by_ref().take(3).collect();
    let whole = first.len() == 3 && first.iter().take(2).all(|(whole, _)| *whole);
    if whole {
        return plain.to_owned();
    }
    let mut parts: Vec<&str> = first.iter().map(|(_, digits)| digits.as_str()).collect();
    parts.resize(3, "0");
    parts.join(".")
}

impl fmt::Display for ServiceManifest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} with {} tools", self.server.name, self.server.version, self.tools.len())
    }
}
