//! Changes of rights by a tool of the kernel: whoever calls a tool is a model, and a person has to agree first.
//!
//! The methods `mgp/access/*` are sent by a program that somebody wrote to decide; the tools of the same names are called
//! by whatever a model was told to do. As with servers that a model wants to register, the operator answers.

use serde_json::{Value, json};
use switchboard_peer::Context;
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mgp::method;
use switchboard_wire::Raw;

use super::admin::not_admin;
use super::rights::decides_for_others;
use crate::kernel::Kernel;
use crate::registry::approval::{Agreed, ApprovalRequest, how_to_go_on};

impl Kernel {
    /// Makes sure that a person agreed to a change of rights; what only asks needs nobody.
    ///
    /// # Errors
    /// A person has to agree first, or said no, or nobody can be asked.
    pub(super) async fn agreed_to_change(
        &self,
        context: &Context,
        asked: &'static str,
        arguments: &Raw,
    ) -> Result<(), Fault> {
        if asked == method::ACCESS_QUERY {
            return Ok(());
        }
        if !decides_for_others(context) {
            return Err(not_admin("change what others may use"));
        }
        let tool = method::tool_of(asked).unwrap_or_default();
        let said: Value = arguments.view().unwrap_or_default();
        let wish = ApprovalRequest {
            tool: &tool,
            exact: arguments,
            shown: json!({"tool": tool, "arguments": said}),
            message: format!("`{tool}` was called with {arguments}", arguments = arguments.as_str()),
        };
        match Box::pin(self.agreed(context, wish)).await? {
            Agreed::Yes(_) => Ok(()),
            Agreed::Pending(id) => {
                let text = format!("a person has to agree before `{tool}` changes what others may use");
                Err(Fault::new(FaultKind::ConfirmationRequired, text).suggest(how_to_go_on(&id)))
            }
        }
    }
}
