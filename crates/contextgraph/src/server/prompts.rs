//! Prompts: recalling, looking back, and keeping what a conversation came to.

use switchboard_sdk::{Prompt, ServerBuilder, user};

use super::{MemoryServer, answer};

pub(super) fn offered(server: &MemoryServer, builder: ServerBuilder) -> ServerBuilder {
    let recall = server.clone();
    let reflect = server.clone();
    builder
        .prompt(
            Prompt::new("recall")
                .title("Recall")
                .description("What is remembered about something, to be used in an answer")
                .required("topic", "What to recall")
                .handler(move |ctx, arguments| {
                    let server = recall.clone();
                    async move {
                        let topic = arguments.get("topic").cloned().unwrap_or_default();
                        let (caller, query) = (answer::caller(&ctx), topic.clone());
                        let work = move || server.recall(&caller, &query, 8);
                        let found =
                            tokio::task::spawn_blocking(work).await?.map_err(|problem| answer::error(&problem, None))?;
                        let mut text = format!("What I remember about {topic:?}:\n");
                        for (id, similarity, content) in &found {
                            text.push_str(&format!("\n- ({similarity:.2}, {id}) {content}"));
                        }
                        if found.is_empty() {
                            text.push_str("\nNothing.");
                        }
                        text.push_str("\n\nUse what fits, and say which memory you rely on.");
                        Ok(vec![user(text)])
                    }
                }),
        )
        .prompt(
            Prompt::new("reflect")
                .title("Reflect")
                .description("The state of the memory, to be looked at and acted on")
                .handler(move |ctx, _| {
                    let server = reflect.clone();
                    async move {
                        let caller = answer::caller(&ctx);
                        let work = move || {
                            let none = serde_json::Map::new();
                            ["get_memetic_status", "get_autonomous_status", "get_dream_status"]
                                .map(|tool| server.call(&caller, tool, &none).outcome)
                        };
                        let mut text = "The state of my memory:\n".to_owned();
                        for part in tokio::task::spawn_blocking(work).await? {
                            let part = part.map_err(|problem| answer::error(&problem, None))?;
                            text.push_str(&format!("\n{part:#}\n"));
                        }
                        text.push_str("\nSay in a few sentences how it is, and do what is most worth doing with the tools at hand.");
                        Ok(vec![user(text)])
                    }
                }),
        )
        .prompt(
            Prompt::new("keep")
                .title("Keep what matters")
                .description("Asks for what of this conversation is worth remembering")
                .optional("about", "What to look for")
                .handler(move |_, arguments| async move {
                    let about = arguments.get("about").map_or_else(String::new, |about| format!(" about {about}"));
                    Ok(vec![user(format!(
                        "Go through our conversation{about} and store each fact, decision or preference that will matter later with \
                         inject_context: one memory each, in one or two full sentences that stand for themselves, with a rationale. Leave out what \
                         search_graph shows to be known already."
                    ))])
                }),
        )
}
