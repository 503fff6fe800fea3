-- Operations that a client can go on with after a lost connection or a restart. Arguments are known by their hash only.
CREATE TABLE operations (
    id         TEXT PRIMARY KEY,
    principal  TEXT NOT NULL,
    server     TEXT NOT NULL,
    tool       TEXT NOT NULL,
    arguments  BLOB NOT NULL,
    key        BLOB NOT NULL,
    state      TEXT NOT NULL,
    result     TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX operations_by_end ON operations (expires_at);
-- Questions of servers that wait for somebody, and the answers.
CREATE TABLE callbacks (
    id          TEXT PRIMARY KEY,
    principal   TEXT NOT NULL,
    server      TEXT NOT NULL,
    kind        TEXT NOT NULL,
    shown       TEXT NOT NULL,
    state       TEXT NOT NULL,
    answer      TEXT,
    answered_by TEXT,
    created_at  INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL
) STRICT;
CREATE INDEX callbacks_by_end ON callbacks (expires_at);
