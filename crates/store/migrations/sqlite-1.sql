-- Times are microseconds since 1970. Hashes are 32 bytes.

CREATE TABLE audit (
    seq        INTEGER PRIMARY KEY,
    time       INTEGER NOT NULL,
    event      TEXT NOT NULL,
    previous   BLOB NOT NULL,
    hash       BLOB NOT NULL,
    event_type TEXT NOT NULL,
    actor      TEXT NOT NULL,
    server     TEXT,
    tool       TEXT,
    trace      TEXT,
    result     TEXT NOT NULL
) STRICT;
CREATE INDEX audit_by_time ON audit (time);
CREATE INDEX audit_by_type ON audit (event_type);
CREATE INDEX audit_by_actor ON audit (actor);
CREATE INDEX audit_by_server ON audit (server, tool) WHERE server IS NOT NULL;
CREATE INDEX audit_by_trace ON audit (trace) WHERE trace IS NOT NULL;

CREATE TABLE audit_tip (
    id   INTEGER PRIMARY KEY CHECK (id = 1),
    seq  INTEGER NOT NULL,
    hash BLOB NOT NULL
) STRICT;
INSERT INTO audit_tip VALUES (1, 0, zeroblob(32));

CREATE TABLE audit_heads (
    seq  INTEGER NOT NULL,
    kind TEXT NOT NULL,
    line TEXT NOT NULL,
    PRIMARY KEY (seq, kind)
) STRICT;

CREATE TABLE counters (
    name   TEXT PRIMARY KEY,
    number INTEGER NOT NULL
) STRICT;

CREATE TABLE permissions (
    server        TEXT NOT NULL,
    permission    TEXT NOT NULL,
    decision      TEXT NOT NULL,
    granted_by    TEXT NOT NULL,
    granted_at    INTEGER NOT NULL,
    expires_at    INTEGER,
    justification TEXT,
    scopes        TEXT,
    PRIMARY KEY (server, permission)
) STRICT;

-- `slot` keeps server grants and tool grants apart, because NULL is equal to nothing.
CREATE TABLE access (
    principal     TEXT NOT NULL,
    server        TEXT NOT NULL,
    slot          TEXT NOT NULL,
    tool          TEXT,
    permission    TEXT NOT NULL,
    granted_by    TEXT NOT NULL,
    granted_at    INTEGER NOT NULL,
    expires_at    INTEGER,
    justification TEXT,
    scopes        TEXT,
    PRIMARY KEY (principal, server, slot, permission)
) STRICT;

CREATE TABLE pins (
    server        TEXT NOT NULL,
    tool          TEXT NOT NULL,
    state         TEXT NOT NULL,
    accepted_hash BLOB,
    accepted      TEXT,
    shown_hash    BLOB NOT NULL,
    shown         TEXT NOT NULL,
    first_seen    INTEGER NOT NULL,
    changed_at    INTEGER NOT NULL,
    accepted_by   TEXT,
    accepted_at   INTEGER,
    PRIMARY KEY (server, tool)
) STRICT;

CREATE TABLE approvals (
    id              TEXT PRIMARY KEY,
    principal       TEXT NOT NULL,
    session         TEXT,
    server          TEXT NOT NULL,
    tool            TEXT NOT NULL,
    arguments       BLOB NOT NULL,
    shown           TEXT,
    reason          TEXT NOT NULL,
    token           BLOB UNIQUE,
    created_at      INTEGER NOT NULL,
    expires_at      INTEGER NOT NULL,
    state           TEXT NOT NULL,
    reuse           TEXT NOT NULL,
    decided_by      TEXT,
    decided_at      INTEGER,
    decision_reason TEXT,
    uses            INTEGER NOT NULL,
    used_at         INTEGER
) STRICT;
CREATE INDEX approvals_open ON approvals (state, expires_at) WHERE state IN ('pending', 'approved');
CREATE INDEX approvals_by_call ON approvals (principal, server, tool, arguments);

CREATE TABLE tokens (
    hash         BLOB PRIMARY KEY,
    name         TEXT NOT NULL,
    principal    TEXT NOT NULL,
    scopes       TEXT,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER,
    last_used_at INTEGER,
    revoked_at   INTEGER
) STRICT;
CREATE UNIQUE INDEX tokens_by_name ON tokens (name) WHERE revoked_at IS NULL;
