//! What Switchboard itself is called, and which proposals it speaks. Pure.

use crate::proposals::Proposal;

/// The name that Switchboard goes by.
pub const NAME: &str = "switchboard";

/// The proposals that Switchboard speaks with clients.
pub const PROPOSALS: [Proposal; 8] = [
    Proposal::Streaming,
    Proposal::ProgressNotifications,
    Proposal::IntentHints,
    Proposal::HumanInTheLoop,
    Proposal::SubscribeNotify,
    Proposal::StructuredErrors,
    Proposal::MultimodalSignatures,
    Proposal::ServerRecommendations,
];
