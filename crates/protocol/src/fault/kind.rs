//! What can go wrong, with what follows from it: one table, one row for each kind.

use std::fmt;

/// On whose side something went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Side {
    /// The caller asked for something wrong.
    Client,
    /// The server that was called failed.
    Server,
    /// We failed, or refused.
    Kernel,
}

/// The groups of MGP 14.5.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Category {
    /// Who may do what.
    Security,
    /// A server, or we, are not in a state to answer.
    Lifecycle,
    /// Something is used up.
    Resource,
    /// The message or its arguments are wrong.
    Validation,
    /// Something behind the server failed.
    External,
}

impl Category {
    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Security => "security",
            Self::Lifecycle => "lifecycle",
            Self::Resource => "resource",
            Self::Validation => "validation",
            Self::External => "external",
        }
    }
}

/// How to space repeated tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RetryStrategy {
    /// At once.
    Immediate,
    /// The same wait every time.
    FixedDelay,
    /// Twice the wait every time.
    ExponentialBackoff,
}

impl RetryStrategy {
    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Immediate => "immediate",
            Self::FixedDelay => "fixed_delay",
            Self::ExponentialBackoff => "exponential_backoff",
        }
    }
}

/// Whether and when to try again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RetryAdvice {
    /// Whether trying again can help.
    pub retryable: bool,
    /// The least wait before the first try.
    pub after_ms: Option<u64>,
    /// How to space the tries.
    pub strategy: Option<RetryStrategy>,
    /// How often at most.
    pub max: Option<u32>,
}

impl RetryAdvice {
    /// Trying again does not help.
    pub const NEVER: Self = Self { retryable: false, after_ms: None, strategy: None, max: None };

    /// Growing waits from `after_ms` on.
    #[must_use]
    pub const fn backoff(after_ms: u64, max: u32) -> Self {
        Self {
            retryable: true,
            after_ms: Some(after_ms),
            strategy: Some(RetryStrategy::ExponentialBackoff),
            max: Some(max),
        }
    }
}

/// The codes that one kind has in the dialects. `None` where the dialect has no code of its own.
#[derive(Debug, Clone, Copy)]
pub(super) struct Codes {
    /// MCP up to 2025-11-25.
    pub(super) legacy: i64,
    /// MCP 2026-07-28.
    pub(super) modern: i64,
    /// MGP 14.3.
    pub(super) mgp: Option<i64>,
    /// Proposal 11: code and category.
    pub(super) structured: (&'static str, &'static str),
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $name:literal, $side:ident, $category:ident, $legacy:literal / $modern:literal / $mgp:expr,
        $code:literal $group:ident $(=> $retry:expr)? $(, $actionable:ident)?;)*) => {
        /// What went wrong.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum FaultKind {
            $($(#[$doc])* $kind,)*
        }

        impl FaultKind {
            /// All kinds.
            pub const ALL: &'static [Self] = &[$(Self::$kind),*];

            /// The name that stands in `error.data.kind`, in audit records and in metrics.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$kind => $name,)* }
            }

            /// On whose side such a fault usually is.
            #[must_use]
            pub const fn side(self) -> Side {
                match self { $(Self::$kind => Side::$side,)* }
            }

            /// The group of MGP 14.5 it belongs to.
            #[must_use]
            pub const fn category(self) -> Category {
                match self { $(Self::$kind => Category::$category,)* }
            }

            /// Whether a person can usually do something about it.
            #[must_use]
            pub const fn user_actionable(self) -> bool {
                match self { $(Self::$kind => kinds!(@actionable $($actionable)?),)* }
            }

            /// The usual retry advice.
            #[must_use]
            pub const fn retry(self) -> RetryAdvice {
                match self { $(Self::$kind => kinds!(@retry $($retry)?),)* }
            }

            pub(super) const fn codes(self) -> Codes {
                match self {
                    $(Self::$kind => Codes {
                        legacy: $legacy, modern: $modern, mgp: $mgp, structured: ($code, stringify!($group)),
                    },)*
                }
            }
        }
    };
    (@actionable) => { false };
    (@actionable actionable) => { true };
    (@retry) => { RetryAdvice::NEVER };
    (@retry $retry:expr) => { $retry };
}

// On a legacy wire -32000..-32019 is free for implementations: -32005 refuses for lack of permission, -32000 is
// everything else that has no code. On a modern wire that range is closed, and codes of our own are positive: the
// number that MGP gives the situation where it has one, and 60xx where it has none.
kinds! {
    // JSON-RPC and MCP.
    /// The text is no JSON.
    Parse = "parse_error", Client, Validation, -32700 / -32700 / None, "PARSE_ERROR" invalid_input;
    /// The JSON is no request, or not one that may come now.
    InvalidRequest = "invalid_request", Client, Validation, -32600 / -32600 / None, "INVALID_REQUEST" invalid_input;
    /// No such method.
    MethodNotFound = "method_not_found", Client, Validation, -32601 / -32601 / None, "METHOD_NOT_FOUND" invalid_input;
    /// The parameters do not fit the method.
    InvalidParams = "invalid_params", Client, Validation, -32602 / -32602 / None, "INVALID_INPUT" invalid_input;
    /// We failed.
    Internal = "internal", Kernel, Lifecycle, -32603 / -32603 / None, "INTERNAL_ERROR" permanent;
    /// No such tool, or none that this caller may see.
    UnknownTool = "unknown_tool", Client, Validation, -32602 / -32602 / Some(4001), "RESOURCE_NOT_FOUND" invalid_input;
    /// No such prompt.
    UnknownPrompt = "unknown_prompt", Client, Validation, -32602 / -32602 / None, "RESOURCE_NOT_FOUND" invalid_input;
    /// No such resource.
    UnknownResource = "unknown_resource", Client, Validation, -32002 / -32602 / None, "RESOURCE_NOT_FOUND" invalid_input;
    /// No such task.
    UnknownTask = "unknown_task", Client, Validation, -32602 / -32602 / None, "RESOURCE_NOT_FOUND" invalid_input;
    /// No such subscription to events.
    UnknownSubscription = "unknown_subscription", Client, Validation, -32602 / -32602 / Some(4001), "RESOURCE_NOT_FOUND" invalid_input;
    /// The arguments do not fit the tool's schema.
    InvalidArguments = "invalid_arguments", Client, Validation, -32602 / -32602 / Some(4000), "INVALID_INPUT" invalid_input;
    /// The tool is there, but switched off.
    ToolDisabled = "tool_disabled", Kernel, Validation, -32602 / -32602 / Some(4002), "TOOL_DISABLED" permanent, actionable;
    /// Two tools want one name.
    ToolNameConflict = "tool_name_conflict", Kernel, Validation, -32602 / -32602 / Some(4003), "TOOL_NAME_CONFLICT" permanent, actionable;
    /// HTTP headers and body say different things.
    HeaderMismatch = "header_mismatch", Client, Validation, -32600 / -32020 / None, "HEADER_MISMATCH" invalid_input;
    /// The call needs something that the client did not say it can do.
    MissingClientCapability = "missing_client_capability", Client, Validation, -32602 / -32021 / None, "MISSING_CAPABILITY" permanent;
    /// The revision is not spoken here.
    UnsupportedProtocolVersion = "unsupported_protocol_version", Client, Validation, -32602 / -32022 / None, "UNSUPPORTED_VERSION" permanent;
    /// A person must visit a page first (2025-11-25).
    UrlElicitationRequired = "url_elicitation_required", Server, Security, -32042 / -32603 / None, "USER_ACTION_REQUIRED" auth_required, actionable;
    /// No such session, or no longer.
    SessionNotFound = "session_not_found", Client, Lifecycle, -32001 / -32600 / None, "SESSION_NOT_FOUND" transient;
    /// The message is larger than allowed.
    TooLarge = "too_large", Client, Resource, -32600 / -32600 / None, "PAYLOAD_TOO_LARGE" invalid_input;
    /// The caller took the call back.
    Cancelled = "cancelled", Client, Lifecycle, -32800 / -32800 / None, "CANCELLED" transient;

    // Security.
    /// The server lacks a permission.
    PermissionDenied = "permission_denied", Kernel, Security, -32005 / 1000 / Some(1000), "SCOPE_INSUFFICIENT" auth_required, actionable;
    /// Whether the server gets a permission is not decided yet, or no longer.
    PermissionPending = "permission_pending", Kernel, Security, -32005 / 1000 / Some(1000), "PERMISSION_PENDING" auth_required => RetryAdvice::backoff(5_000, 5), actionable;
    /// The caller may not use this.
    AccessDenied = "access_denied", Kernel, Security, -32005 / 1001 / Some(1001), "ACCESS_DENIED" auth_required, actionable;
    /// The session lacks a scope.
    ScopeInsufficient = "scope_insufficient", Kernel, Security, -32005 / 1000 / Some(1000), "SCOPE_INSUFFICIENT" auth_required, actionable;
    /// Nobody said who is calling.
    AuthRequired = "auth_required", Client, Security, -32005 / 1002 / Some(1002), "AUTH_REQUIRED" auth_required, actionable;
    /// The credentials are too old.
    AuthExpired = "auth_expired", Client, Security, -32005 / 1003 / Some(1003), "AUTH_EXPIRED" auth_required, actionable;
    /// A validator refused the arguments.
    ValidationBlocked = "validation_blocked", Kernel, Security, -32005 / 1010 / Some(1010), "VALIDATION_BLOCKED" permanent;
    /// The code in the arguments is not safe.
    CodeSafetyViolation = "code_safety_violation", Kernel, Security, -32005 / 1011 / Some(1011), "CODE_UNSAFE" permanent;
    /// A person must agree first.
    ConfirmationRequired = "confirmation_required", Kernel, Security, -32005 / 1000 / Some(1000), "CONFIRMATION_REQUIRED" auth_required, actionable;
    /// The agreement that is shown is unknown, used, too old, or was given for another call.
    ConfirmationInvalid = "confirmation_invalid", Client, Security, -32005 / 1000 / Some(1000), "CONFIRMATION_INVALID" auth_required, actionable;
    /// A person did not agree.
    ConfirmationDenied = "confirmation_denied", Client, Security, -32005 / 1000 / Some(1000), "CONFIRMATION_DENIED" permanent;
    /// A person was asked and did not answer in time.
    ConfirmationTimeout = "confirmation_timeout", Client, Resource, -32000 / 3003 / Some(3003), "CONFIRMATION_TIMEOUT" transient => RetryAdvice::backoff(1_000, 3), actionable;
    /// The tool is not the one that was accepted.
    DefinitionChanged = "definition_changed", Kernel, Security, -32005 / 1010 / Some(1010), "DEFINITION_CHANGED" auth_required, actionable;
    /// The tool was never accepted: something in its definition must be seen by a person first.
    DefinitionHeld = "definition_held", Kernel, Security, -32005 / 1010 / Some(1010), "DEFINITION_HELD" auth_required, actionable;
    /// What was sent, or came back, is held until a person has seen it.
    ContentHeld = "content_held", Kernel, Security, -32005 / 1010 / Some(1010), "CONTENT_HELD" auth_required, actionable;
    /// The server tried what its isolation forbids.
    IsolationViolation = "isolation_violation", Server, Security, -32005 / 1010 / Some(1010), "ISOLATION_VIOLATION" permanent;
    /// The server is not the one that was signed, or nobody signed it.
    SealInvalid = "seal_invalid", Kernel, Security, -32005 / 1010 / Some(1010), "SEAL_INVALID" permanent, actionable;
    /// The task was passed on too often.
    DelegationDepth = "delegation_depth_exceeded", Client, Security, -32005 / 1000 / Some(1000), "DELEGATION_DEPTH" permanent;
    /// The task came back to one who had passed it on.
    DelegationCycle = "delegation_cycle", Client, Security, -32005 / 1000 / Some(1000), "DELEGATION_CYCLE" permanent;
    /// The task was passed on to oneself.
    SelfDelegation = "self_delegation", Client, Security, -32005 / 1000 / Some(1000), "SELF_DELEGATION" permanent;

    // Lifecycle.
    /// The server is not connected.
    ServerNotReady = "server_not_ready", Server, Lifecycle, -32000 / 2000 / Some(2000), "SERVER_NOT_READY" transient => RetryAdvice::backoff(1_000, 5);
    /// The server takes no new requests.
    ServerDraining = "server_draining", Server, Lifecycle, -32000 / 2001 / Some(2001), "SERVER_DRAINING" transient => RetryAdvice::backoff(2_000, 3);
    /// The server is starting again.
    ServerRestarting = "server_restarting", Server, Lifecycle, -32000 / 2002 / Some(2002), "SERVER_RESTARTING" transient => RetryAdvice::backoff(3_000, 3);
    /// Whether the call had its effect is not known.
    OutcomeUnknown = "outcome_unknown", Kernel, Lifecycle, -32000 / 6100 / None, "OUTCOME_UNKNOWN" permanent, actionable;
    /// The idempotency key was used for another call.
    IdempotencyConflict = "idempotency_conflict", Client, Validation, -32602 / -32602 / Some(4000), "IDEMPOTENCY_CONFLICT" invalid_input;

    // Resource.
    /// Too many calls.
    RateLimited = "rate_limited", Kernel, Resource, -32000 / 3000 / Some(3000), "RATE_LIMIT_EXCEEDED" rate_limited => RetryAdvice::backoff(1_000, 3);
    /// Memory, connections, queue places are used up.
    ResourceExhausted = "resource_exhausted", Kernel, Resource, -32000 / 3001 / Some(3001), "RESOURCE_EXHAUSTED" transient => RetryAdvice::backoff(1_000, 3);
    /// The budget is used up.
    QuotaExceeded = "quota_exceeded", Kernel, Resource, -32000 / 3002 / Some(3002), "QUOTA_EXCEEDED" rate_limited, actionable;
    /// No answer in time.
    Timeout = "timeout", Server, Resource, -32000 / 3003 / Some(3003), "TIMEOUT" transient => RetryAdvice::backoff(1_000, 3);

    // External.
    /// The server, or what stands behind it, answered with an error.
    UpstreamError = "upstream_error", Server, External, -32000 / 5000 / Some(5000), "UPSTREAM_ERROR" permanent;
    /// What stands behind the server did not answer in time.
    UpstreamTimeout = "upstream_timeout", Server, External, -32000 / 5001 / Some(5001), "UPSTREAM_TIMEOUT" transient => RetryAdvice::backoff(2_000, 3);
    /// What stands behind the server cannot be reached.
    UpstreamUnavailable = "upstream_unavailable", Server, External, -32000 / 5002 / Some(5002), "UPSTREAM_UNAVAILABLE" transient => RetryAdvice::backoff(5_000, 5);
    /// The server answered something that is no answer.
    UpstreamInvalid = "upstream_invalid", Server, External, -32000 / 5000 / Some(5000), "UPSTREAM_INVALID" permanent;

    // Tool discovery and the registry (MGP 16).
    /// The tool index cannot be asked now.
    DiscoveryUnavailable = "discovery_unavailable", Kernel, Lifecycle, -32000 / 4100 / Some(4100), "DISCOVERY_UNAVAILABLE" transient => RetryAdvice::backoff(1_000, 3);
    /// A server of that name is there.
    ServerAlreadyRegistered = "server_already_registered", Client, Validation, -32602 / 4101 / Some(4101), "SERVER_EXISTS" invalid_input;
    /// The server stands in the configuration and is taken away there.
    CannotDeregister = "cannot_deregister", Client, Validation, -32602 / 4102 / Some(4102), "SERVER_CONFIGURED" invalid_input, actionable;

    // MCPL.
    /// The feature set is switched off.
    FeatureSetDisabled = "feature_set_disabled", Client, Security, -32001 / 6001 / None, "FEATURE_SET_DISABLED" auth_required;
    /// The capability was not given.
    CapabilityDenied = "capability_denied", Client, Security, -32002 / 6002 / None, "CAPABILITY_DENIED" auth_required;
    /// The feature set was never declared.
    UnknownFeatureSet = "unknown_feature_set", Client, Validation, -32003 / 6003 / None, "UNKNOWN_FEATURE_SET" invalid_input;
    /// The checkpoint is unknown or was thrown away.
    CheckpointNotFound = "checkpoint_not_found", Client, Validation, -32005 / 6005 / None, "RESOURCE_NOT_FOUND" invalid_input;
    /// The channel may not be used.
    ChannelNotPermitted = "channel_not_permitted", Client, Security, -32017 / 6017 / None, "CHANNEL_NOT_PERMITTED" auth_required;
    /// No such channel.
    UnknownChannel = "unknown_channel", Client, Validation, -32023 / 6023 / None, "RESOURCE_NOT_FOUND" invalid_input;
    /// The channel could not be opened.
    ChannelOpenFailed = "channel_open_failed", Server, External, -32024 / 6024 / None, "CHANNEL_OPEN_FAILED" transient;
}

impl FaultKind {
    /// The kind that MGP gives a number, the plainest where several share one.
    #[must_use]
    pub fn of_mgp(code: i64) -> Option<Self> {
        // The first of those that share a number is its plainest, but for this one.
        let first = || Self::ALL.iter().copied().find(|kind| kind.codes().mgp == Some(code));
        if code == 3003 { Some(Self::Timeout) } else { first() }
    }

    /// What a server's own error is, as far as its number tells: MGP's where that was agreed on with it, else those that
    /// the protocol itself gives a meaning.
    #[must_use]
    pub fn of_server(code: i64, mgp: bool) -> Self {
        if let Some(kind) = Self::of_mgp(code).filter(|_| mgp) {
            return kind;
        }
        match code {
            -32602 => Self::InvalidParams,
            -32601 => Self::MethodNotFound,
            -32600 => Self::InvalidRequest,
            -32042 => Self::UrlElicitationRequired,
            -32800 => Self::Cancelled,
            _ => Self::UpstreamError,
        }
    }

    /// Whether it is about what was called, with what, and what came of it, and not about the form of the message or
    /// the connection.
    #[must_use]
    pub const fn is_about_the_call(self) -> bool {
        // On a modern wire what is not the protocol's own has a positive code; these take one of the protocol's.
        let borrowed = matches!(
            self,
            Self::UnknownTool
                | Self::InvalidArguments
                | Self::ToolDisabled
                | Self::ToolNameConflict
                | Self::IdempotencyConflict
        );
        borrowed || self.codes().modern > 0
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
