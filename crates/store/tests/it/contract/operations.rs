//! Operations that a client can go on with, and questions of servers.

use serde_json::json;
use switchboard_store::{CallbackState, Operation, OperationState, StoredCallback};

use crate::sample::{Fixture, at, digest, json_text};

fn operation(id: &str) -> Operation {
    Operation {
        id: id.to_owned(),
        principal: "alice".to_owned(),
        server: "files".to_owned(),
        tool: "export".to_owned(),
        arguments: digest("{}"),
        key: vec![1, 2, 3],
        state: OperationState::Running,
        result: None,
        created_at: at(0),
        expires_at: at(100),
    }
}

pub(crate) async fn begin_and_end(fixture: &mut Fixture) {
    let operations = fixture.store.operations();
    operations.begin(&operation("op-1")).await.unwrap();
    operations.begin(&operation("op-2")).await.unwrap();
    fixture.reopen().await;
    let operations = fixture.store.operations();
    let found = operations.get("op-1").await.unwrap().unwrap();
    assert_eq!((found.key.as_slice(), found.state), (&[1, 2, 3][..], OperationState::Running));
    assert_eq!(found.arguments, digest("{}"));
    let result = json_text(&json!({"content": []}));
    operations.finish("op-1", OperationState::Done, Some(&result), at(200)).await.unwrap();
    let found = operations.get("op-1").await.unwrap().unwrap();
    assert_eq!((found.state, found.expires_at), (OperationState::Done, at(200)));
    assert_eq!(found.result.unwrap().get(), result.get());
    // Begun again, it is running again.
    operations.begin(&operation("op-1")).await.unwrap();
    let found = operations.get("op-1").await.unwrap().unwrap();
    assert!(found.state == OperationState::Running && found.result.is_none());
    assert_eq!(operations.expire(at(99)).await.unwrap(), 0);
    assert_eq!(operations.expire(at(100)).await.unwrap(), 2);
    assert!(operations.get("op-1").await.unwrap().is_none());
}

fn callback(id: &str, created: i64) -> StoredCallback {
    StoredCallback {
        id: id.to_owned(),
        principal: "alice".to_owned(),
        server: "files".to_owned(),
        kind: "input".to_owned(),
        shown: json_text(&json!({"message": "Which?"})),
        state: CallbackState::Open,
        answer: None,
        answered_by: None,
        created_at: at(created),
        expires_at: at(100),
    }
}

pub(crate) async fn the_first_answer_stands(fixture: &mut Fixture) {
    let callbacks = fixture.store.callbacks();
    for (id, created) in [("b", 2), ("a", 1), ("c", 3)] {
        callbacks.open(&callback(id, created)).await.unwrap();
    }
    let ids = |list: Vec<StoredCallback>| list.into_iter().map(|one| one.id).collect::<Vec<_>>();
    assert_eq!(ids(callbacks.pending(at(5), 10).await.unwrap()), ["a", "b", "c"]);
    assert_eq!(ids(callbacks.pending(at(5), 1).await.unwrap()), ["a"]);
    assert!(callbacks.pending(at(100), 10).await.unwrap().is_empty());
    let (first, second) = (json_text(&json!("one")), json_text(&json!("two")));
    let answered = callbacks.answer("a", &first, "olga", at(6)).await.unwrap().unwrap();
    assert_eq!((answered.state, answered.answered_by.as_deref()), (CallbackState::Answered, Some("olga")));
    assert!(callbacks.answer("a", &second, "otto", at(7)).await.unwrap().is_none());
    assert!(callbacks.answer("b", &second, "otto", at(100)).await.unwrap().is_none(), "too late");
    callbacks.close("c").await.unwrap();
    assert!(callbacks.answer("c", &second, "otto", at(7)).await.unwrap().is_none());
    assert_eq!(callbacks.get("a").await.unwrap().unwrap().answer.unwrap().get(), "\"one\"");
    assert_eq!(callbacks.get("c").await.unwrap().unwrap().state, CallbackState::Closed);
    assert_eq!(callbacks.expire(at(100)).await.unwrap(), 3);
}
