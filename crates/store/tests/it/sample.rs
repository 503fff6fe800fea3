//! Things to store.

use jiff::Timestamp;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use switchboard_store::{Actor, AuditEvent, Digest, Location, Options, Store, Target};

/// A moment: seconds after some day in 2026.
pub(crate) fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_780_000_000 + second).unwrap()
}

pub(crate) fn event(number: i64) -> AuditEvent {
    let Value::Object(details) = json!({ "number": number, "text": "line\nbreak \u{1f600} \0" }) else {
        unreachable!()
    };
    AuditEvent {
        timestamp: at(number),
        trace_id: Some(format!("trace-{}", number % 7).into()),
        event_type: if number % 2 == 0 { "TOOL_EXECUTED" } else { "TOOL_BLOCKED" }.into(),
        actor: Actor { kind: "agent".into(), id: format!("agent-{}", number % 3).into() },
        target: Target {
            server_id: (number % 5 != 0).then(|| format!("server-{}", number % 5).into()),
            tool_name: (number % 5 > 1).then(|| "run".into()),
        },
        result: if number % 2 == 0 { "SUCCESS" } else { "BLOCKED" }.into(),
        details: details.into_iter().collect(),
    }
}

pub(crate) fn events(numbers: std::ops::Range<i64>) -> Vec<AuditEvent> {
    numbers.map(event).collect()
}

pub(crate) fn json_text(value: &Value) -> Box<RawValue> {
    RawValue::from_string(value.to_string()).unwrap()
}

pub(crate) fn digest(text: &str) -> Digest {
    Digest::of(text.as_bytes())
}

/// A store in a directory of its own.
pub(crate) struct Fixture {
    pub(crate) store: Store,
    pub(crate) location: Location,
    pub(crate) options: Options,
    pub(crate) directory: tempfile::TempDir,
}

impl Fixture {
    pub(crate) async fn sqlite(options: Options) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let location = Location::File(directory.path().join("store.db"));
        Self::open(location, options, directory).await
    }

    pub(crate) async fn open(location: Location, options: Options, directory: tempfile::TempDir) -> Self {
        let store = Store::open(&location, options.clone()).await.unwrap();
        Self { store, location, options, directory }
    }

    /// Puts the audit log back to where it ended with this record, as an older copy of the database would.
    pub(crate) async fn cut_after(&self, seq: u64) {
        let cut = format!(
            "DELETE FROM audit WHERE seq > {seq}; DELETE FROM audit_heads WHERE seq > {seq}; \
             UPDATE audit_tip SET seq = {seq}, hash = (SELECT hash FROM audit WHERE seq = {seq})"
        );
        self.execute(&cut).await;
    }

    /// Runs statements beside the store.
    pub(crate) async fn execute(&self, statements: &str) {
        match &self.location {
            Location::File(path) => rusqlite::Connection::open(path).unwrap().execute_batch(statements).unwrap(),
            Location::Postgres(url) => {
                let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
                let connection = tokio::spawn(connection);
                client.batch_execute(statements).await.unwrap();
                drop(client);
                connection.await.unwrap().unwrap();
            }
        }
    }

    pub(crate) async fn reopen(&mut self) {
        self.store.close().await.unwrap();
        self.store = Store::open(&self.location, self.options.clone()).await.unwrap();
    }
}
