//! Migrations, and the translation of values and errors.

use std::error::Error;
use std::sync::Arc;

use tokio_postgres::error::SqlState;
use tokio_postgres::types::{IsNull, ToSql, Type, private::BytesMut, to_sql_checked};

use crate::StoreError;
use crate::sql::{Row, Statement, Value};

/// Any number, as long as every replica uses the same one: the advisory lock around migrations.
const MIGRATION_LOCK: i64 = 0x5357_4243;

/// Brings the schema up to date, or checks that it is.
pub(super) async fn migrate(
    client: &mut deadpool_postgres::Client,
    migrations: &[&str],
    may_write: bool,
) -> Result<(), StoreError> {
    let known = i64::try_from(migrations.len()).unwrap_or(i64::MAX);
    let transaction = client.transaction().await.map_err(translate)?;
    transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&MIGRATION_LOCK]).await.map_err(translate)?;
    let exists = transaction.query_one("SELECT to_regclass('switchboard_schema') IS NOT NULL", &[]).await;
    let found: i64 = if exists.map_err(translate)?.get(0) {
        let row = transaction.query_one("SELECT MAX(version) FROM switchboard_schema", &[]).await.map_err(translate)?;
        row.get::<_, Option<i64>>(0).unwrap_or_default()
    } else {
        0
    };
    if found > known {
        return Err(StoreError::NewerSchema { found, known });
    }
    if found == known {
        return Ok(());
    }
    if !may_write {
        return Err(StoreError::OlderSchema { found, known });
    }
    let table = "CREATE TABLE IF NOT EXISTS switchboard_schema (version BIGINT PRIMARY KEY)";
    transaction.batch_execute(table).await.map_err(translate)?;
    for migration in migrations.iter().skip(usize::try_from(found).unwrap_or_default()) {
        transaction.batch_execute(migration).await.map_err(translate)?;
    }
    transaction.execute("INSERT INTO switchboard_schema VALUES ($1)", &[&known]).await.map_err(translate)?;
    transaction.commit().await.map_err(translate)
}

pub(super) fn parameters(statement: &Statement) -> Vec<&(dyn ToSql + Sync)> {
    statement.values.iter().map(|value| -> &(dyn ToSql + Sync) { value }).collect()
}

pub(super) fn rows(found: &[tokio_postgres::Row]) -> Result<Vec<Row>, StoreError> {
    found.iter().map(row).collect()
}

fn row(row: &tokio_postgres::Row) -> Result<Row, StoreError> {
    let values = row.columns().iter().enumerate().map(|(index, column)| {
        let value = match *column.type_() {
            Type::INT8 => row.try_get::<_, Option<i64>>(index).map(|number| number.map(Value::Integer)),
            Type::INT4 => row.try_get::<_, Option<i32>>(index).map(|number| number.map(|it| Value::Integer(it.into()))),
            Type::BYTEA => row.try_get::<_, Option<Vec<u8>>>(index).map(|bytes| bytes.map(Value::Bytes)),
            _ => row.try_get::<_, Option<String>>(index).map(|text| text.map(Value::Text)),
        };
        value.map(|value| value.unwrap_or(Value::Null)).map_err(translate)
    });
    values.collect::<Result<_, _>>().map(Row::new)
}

impl ToSql for Value {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Integer(number) => number.to_sql(kind, out),
            Self::Text(text) => text.to_sql(kind, out),
            Self::Bytes(bytes) => bytes.to_sql(kind, out),
        }
    }

    fn accepts(kind: &Type) -> bool {
        [Type::INT8, Type::TEXT, Type::VARCHAR, Type::BYTEA].contains(kind)
    }

    to_sql_checked!();
}

/// Tells errors apart by what can be done about them.
pub(super) fn translate(error: tokio_postgres::Error) -> StoreError {
    let Some(state) = error.code().cloned() else {
        return if error.is_closed() || error.as_db_error().is_none() {
            StoreError::Unavailable(Arc::new(error))
        } else {
            StoreError::Engine(Arc::new(error))
        };
    };
    match (state.clone(), state.code().get(..2).unwrap_or_default()) {
        (SqlState::DISK_FULL, _) => StoreError::Full(Arc::new(error)),
        (SqlState::LOCK_NOT_AVAILABLE | SqlState::T_R_DEADLOCK_DETECTED, _) => StoreError::Busy(Arc::new(error)),
        (SqlState::QUERY_CANCELED, _) => StoreError::Timeout,
        (SqlState::READ_ONLY_SQL_TRANSACTION, _) => StoreError::ReadOnly,
        (SqlState::DATA_CORRUPTED | SqlState::INDEX_CORRUPTED, _) => StoreError::Corrupt(message(&error)),
        // Integrity constraints, and values that no column holds.
        (_, "22" | "23") => StoreError::Conflict(message(&error)),
        // No resources, operator intervention, connection lost.
        (_, "08" | "53" | "57") => StoreError::Unavailable(Arc::new(error)),
        _ => StoreError::Engine(Arc::new(error)),
    }
}

fn message(error: &tokio_postgres::Error) -> String {
    error.as_db_error().map_or_else(|| error.to_string(), |error| error.message().to_owned())
}
