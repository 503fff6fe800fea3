//! Asking by a result with a token, with which the client repeats the call (proposal 6).

use switchboard_peer::Reply;
use switchboard_protocol::mgp::ConfirmationRequest;
use switchboard_protocol::proposals::Consequence;

use super::question::Question;
use super::{ANSWER_TTL, later};
use crate::Gate;
use switchboard_protocol::bridge;

impl Question<'_> {
    /// The question as a result with a token (proposal 6).
    pub(super) fn ask_by_token(&self, gate: &Gate<'_>) -> Reply {
        let assessment = &self.attempt.policy.assessment;
        let risk = Consequence::of_risk(assessment.risk, assessment.reversible);
        let until = later(gate.granted.time(), ANSWER_TTL).to_string();
        let result = ConfirmationRequest::new(&self.message, risk, self.token(), until).to_result();
        Ok(bridge::for_era(result, self.attempt.context.caller.era())).into()
    }
}
