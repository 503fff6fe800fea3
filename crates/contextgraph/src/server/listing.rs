//! Tools as clients see them: schemas, aliases, and what they say of their dangers.

use serde_json::{Value, json};
use switchboard_sdk::mcp::{CallToolResult, JsonObject, ToolAnnotations};
use switchboard_sdk::{TaskSupport, Tool, schema};

use super::MemoryServer;
use super::spaces::NAME;
use crate::tools::args::{self, Param};
use crate::tools::{Class, Spec, aliases};

pub(super) fn tool(server: &MemoryServer, spec: &Spec) -> Tool {
    let name = spec.name;
    let security = security(spec);
    let aliases = aliases::of(name);
    let mut meta = JsonObject::new();
    meta.insert("security".to_owned(), security.clone());
    meta.insert("contextgraph/category".to_owned(), spec.category.into());
    let mut params = spec.params.clone();
    params.push(Param::short("space", "The space of memories; the caller's own if not given", NAME));
    let annotations = ToolAnnotations::new()
        .title(spec.title)
        .read_only_hint(spec.class == Class::Read)
        // What is merged or forgotten is kept and can be brought back; what is erased cannot.
        .destructive_hint(spec.class == Class::Erase)
        .idempotent_hint(spec.idempotent)
        .open_world_hint(false);
    let mut builder = Tool::new::<Value, CallToolResult>(name)
        .title(spec.title)
        .description(spec.description)
        .input_schema(schema::raw(args::schema(&params)))
        .output_schema(schema::raw(spec.output.clone()))
        .annotations(annotations)
        .member("security", security)
        .member("category", spec.category.into());
    if !aliases.is_empty() {
        meta.insert("contextgraph/aliases".to_owned(), json!(aliases));
        builder = builder.member("aliases", json!(aliases));
    }
    if matches!(name, "trigger_dream" | "trigger_consolidation") {
        builder = builder.task_support(TaskSupport::Optional);
    }
    let server = server.clone();
    builder.meta(meta).handler(move |ctx, arguments: Value| {
        let server = server.clone();
        async move { server.answer_call(&ctx, name, arguments).await }
    })
}

/// What MGP wants to know.
fn security(spec: &Spec) -> Value {
    let (risk, permission) = match spec.class {
        Class::Read => ("safe", "memory.read"),
        Class::Erase => ("dangerous", "memory.write"),
        Class::HiddenWrite | Class::Write | Class::LongRunning | Class::Destructive => ("moderate", "memory.write"),
    };
    json!({
        "risk_level": risk,
        "permissions_required": [permission],
        "side_effects": if spec.writes() { json!(["memory"]) } else { json!([]) },
        "reversible": spec.class != Class::Erase,
        "confirmation_required": false,
    })
}
