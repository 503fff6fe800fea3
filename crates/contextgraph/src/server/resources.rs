//! Memories as resources: one memory, its neighbourhood, and the state of the space.

use serde_json::{Value, json};
use switchboard_sdk::{Ctx, Error, Resource, ResourceTemplate, ServerBuilder};

use super::{MemoryServer, answer};
use crate::Id;
use crate::engine::Space;
use crate::error::Outcome;

pub(super) fn offered(server: &MemoryServer, builder: ServerBuilder) -> ServerBuilder {
    let status = server.clone();
    let memory = server.clone();
    let near = server.clone();
    let vectors = server.clone();
    builder
        .resource(
            Resource::new("contextgraph://status", "status")
                .title("State of the memory")
                .description("How many memories there are and where they stand")
                .mime_type("application/json")
                .reader(move |ctx, _| {
                    let server = status.clone();
                    async move {
                        let (server, caller) = (server.clone(), answer::caller(&ctx));
                        let work = move || server.call(&caller, "get_memetic_status", &serde_json::Map::new()).outcome;
                        let value = tokio::task::spawn_blocking(work)
                            .await?
                            .map_err(|problem| answer::error(&problem, None))?;
                        Ok(pretty(&value).into())
                    }
                }),
        )
        .resource_template(
            ResourceTemplate::new("contextgraph://memory/{id}", "memory")
                .title("A memory")
                .description("The text of a memory and what is known of it")
                .mime_type("application/json")
                .reader(move |ctx, uri, variables| {
                    let server = memory.clone();
                    async move { read(&server, &ctx, &uri, variables.get("id"), shown).await.map(Into::into) }
                }),
        )
        .resource_template(
            ResourceTemplate::new("contextgraph://fingerprint/{id}", "fingerprint")
                .title("A fingerprint")
                .description("The thirteen vectors of a memory, as compute_delta_sc takes them")
                .mime_type("application/json")
                .reader(move |ctx, uri, variables| {
                    let server = vectors.clone();
                    async move { read(&server, &ctx, &uri, variables.get("id"), fingerprint).await.map(Into::into) }
                }),
        )
        .resource_template(
            ResourceTemplate::new("contextgraph://neighbourhood/{id}", "neighbourhood")
                .title("A neighbourhood")
                .description("The memories that a memory is linked with")
                .mime_type("application/json")
                .reader(move |ctx, uri, variables| {
                    let server = near.clone();
                    async move { read(&server, &ctx, &uri, variables.get("id"), neighbourhood).await.map(Into::into) }
                }),
        )
}

fn pretty(value: &Value) -> String {
    format!("{value:#}")
}

async fn read(
    server: &MemoryServer,
    ctx: &Ctx,
    uri: &str,
    id: Option<&String>,
    show: fn(&mut Space, Id, u64) -> Outcome<Value>,
) -> Result<String, Error> {
    let id: Id = id.and_then(|id| id.parse().ok()).ok_or_else(|| Error::resource_not_found(uri))?;
    let (server, caller, now) = (server.clone(), answer::caller(ctx), server.now());
    let work = move || {
        server.exists_to_read(&caller, true)?;
        let room = server.room_of(&caller)?;
        let mut space = room.space.lock();
        space.read(now, |space| show(space, id, now))
    };
    let found = tokio::task::spawn_blocking(work).await?;
    match found {
        Ok(value) => Ok(pretty(&value)),
        Err(problem) if problem.kind == "NODE_NOT_FOUND" => Err(Error::resource_not_found(uri)),
        Err(problem) => Err(answer::error(&problem, None)),
    }
}

fn shown(space: &mut Space, id: Id, now: u64) -> Outcome<Value> {
    let body = space.body(id)?;
    let memory = space.memory(id)?.clone();
    space.mark_found(id, now);
    Ok(json!({"memory": memory, "content": body.content, "rationale": body.rationale}))
}

fn fingerprint(space: &mut Space, id: Id, now: u64) -> Outcome<Value> {
    Ok(crate::fingerprint::wire::write(&space.fingerprint(id, now)?))
}

fn neighbourhood(space: &mut Space, id: Id, now: u64) -> Outcome<Value> {
    space.memory(id)?;
    let edges = space.neighbourhood(id);
    let ids: Vec<Id> = edges.iter().map(|edge| edge.0).collect();
    let texts = space.texts(&ids)?;
    space.mark_found(id, now);
    for other in &ids {
        space.walked(&[id, *other], now);
    }
    let shown: Vec<Value> = edges
        .into_iter()
        .map(|(other, kind, weight, confidence, away)| {
            json!({
                "memory_id": other,
                "kind": kind,
                "weight": weight,
                "confidence": confidence,
                "direction": if away { "out" } else { "in" },
                "content": texts.get(&other),
            })
        })
        .collect();
    Ok(json!({"memory_id": id, "edges": shown}))
}
