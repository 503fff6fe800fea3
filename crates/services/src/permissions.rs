//! Methods about permissions (MGP 3.6): decisions are made by the operator, here, and nobody sends them.

use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mgp::method;

use super::row::{Answer, OwnMethod, run};

const ABOUT: &str = "Refused: permissions are decided by the operator.";

pub(super) const ROWS: &[OwnMethod] = &[
    decided_here(method::PERMISSION_REQUEST),
    decided_here(method::PERMISSION_RESPONSE),
    decided_here(method::PERMISSION_AWAIT),
    decided_here(method::PERMISSION_GRANT),
];

const fn decided_here(name: &'static str) -> OwnMethod {
    OwnMethod::method(name, ABOUT, run!(_house, _call => refusal()))
}

fn refusal() -> Result<Answer, Fault> {
    Err(Fault::new(FaultKind::PermissionDenied, "permissions are decided by the operator of this kernel")
        .suggest("the operator runs `switchboard approvals` or `switchboard grant`"))
}
