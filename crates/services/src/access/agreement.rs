//! Changes of rights by a tool of the kernel: whoever calls a tool is a model, and a person has to agree first.
//!
//! The methods `mgp/access/*` are sent by a program that somebody wrote to decide; the tools of the same names are called
//! by whatever a model was told to do. As with servers that a model wants to register, the operator answers.

use serde_json::{Value, json};
use switchboard_protocol::fault::{Fault, FaultKind};

use crate::registry::approval::{Agreed, ApprovalRequest, Approvals, how_to_go_on};
use crate::row::{Form, OwnCall};

/// Makes sure that a person agreed to a change of rights that a tool asks for. A method needs nobody.
///
/// # Errors
/// A person has to agree first, or said no, or nobody can be asked.
pub(super) async fn of_call(approvals: &Approvals<'_>, call: &OwnCall<'_>, tool: &str) -> Result<(), Fault> {
    if call.form == Form::Method {
        return Ok(());
    }
    let arguments = call.params();
    let said: Value = arguments.view().unwrap_or_default();
    let wish = ApprovalRequest {
        tool,
        exact: &arguments,
        shown: json!({"tool": tool, "arguments": said}),
        message: format!("`{tool}` was called with {arguments}", arguments = arguments.as_str()),
    };
    match Box::pin(approvals.agreed(call.context, wish)).await? {
        Agreed::Yes(_) => Ok(()),
        Agreed::Pending(id) => {
            let text = format!("a person has to agree before `{tool}` changes what others may use");
            Err(Fault::new(FaultKind::ConfirmationRequired, text).suggest(how_to_go_on(&id)))
        }
    }
}
