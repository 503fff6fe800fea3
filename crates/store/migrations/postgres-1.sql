-- Times are microseconds since 1970. Hashes are 32 bytes.

CREATE TABLE audit (
    seq        BIGINT PRIMARY KEY,
    time       BIGINT NOT NULL,
    event      TEXT NOT NULL,
    previous   BYTEA NOT NULL,
    hash       BYTEA NOT NULL,
    event_type TEXT NOT NULL,
    actor      TEXT NOT NULL,
    server     TEXT,
    tool       TEXT,
    trace      TEXT,
    result     TEXT NOT NULL
);
CREATE INDEX audit_by_time ON audit (time);
CREATE INDEX audit_by_type ON audit (event_type);
CREATE INDEX audit_by_actor ON audit (actor);
CREATE INDEX audit_by_server ON audit (server, tool) WHERE server IS NOT NULL;
CREATE INDEX audit_by_trace ON audit (trace) WHERE trace IS NOT NULL;

CREATE TABLE audit_tip (
    id   BIGINT PRIMARY KEY CHECK (id = 1),
    seq  BIGINT NOT NULL,
    hash BYTEA NOT NULL
);
INSERT INTO audit_tip VALUES (1, 0, decode(repeat('00', 32), 'hex'));

CREATE TABLE audit_heads (
    seq  BIGINT NOT NULL,
    kind TEXT NOT NULL,
    line TEXT NOT NULL,
    PRIMARY KEY (seq, kind)
);

CREATE TABLE counters (
    name   TEXT PRIMARY KEY,
    number BIGINT NOT NULL
);

CREATE TABLE permissions (
    server        TEXT NOT NULL,
    permission    TEXT NOT NULL,
    decision      TEXT NOT NULL,
    granted_by    TEXT NOT NULL,
    granted_at    BIGINT NOT NULL,
    expires_at    BIGINT,
    justification TEXT,
    scopes        TEXT,
    PRIMARY KEY (server, permission)
);

-- `slot` keeps server grants and tool grants apart, because NULL is equal to nothing.
CREATE TABLE access (
    principal     TEXT NOT NULL,
    server        TEXT NOT NULL,
    slot          TEXT NOT NULL,
    tool          TEXT,
    permission    TEXT NOT NULL,
    granted_by    TEXT NOT NULL,
    granted_at    BIGINT NOT NULL,
    expires_at    BIGINT,
    justification TEXT,
    scopes        TEXT,
    PRIMARY KEY (principal, server, slot, permission)
);

CREATE TABLE pins (
    server        TEXT NOT NULL,
    tool          TEXT NOT NULL,
    state         TEXT NOT NULL,
    accepted_hash BYTEA,
    accepted      TEXT,
    shown_hash    BYTEA NOT NULL,
    shown         TEXT NOT NULL,
    first_seen    BIGINT NOT NULL,
    changed_at    BIGINT NOT NULL,
    accepted_by   TEXT,
    accepted_at   BIGINT,
    PRIMARY KEY (server, tool)
);

CREATE TABLE approvals (
    id              TEXT PRIMARY KEY,
    principal       TEXT NOT NULL,
    session         TEXT,
    server          TEXT NOT NULL,
    tool            TEXT NOT NULL,
    arguments       BYTEA NOT NULL,
    shown           TEXT,
    reason          TEXT NOT NULL,
    token           BYTEA UNIQUE,
    created_at      BIGINT NOT NULL,
    expires_at      BIGINT NOT NULL,
    state           TEXT NOT NULL,
    reuse           TEXT NOT NULL,
    decided_by      TEXT,
    decided_at      BIGINT,
    decision_reason TEXT,
    uses            BIGINT NOT NULL,
    used_at         BIGINT
);
CREATE INDEX approvals_open ON approvals (state, expires_at) WHERE state IN ('pending', 'approved');
CREATE INDEX approvals_by_call ON approvals (principal, server, tool, arguments);

CREATE TABLE tokens (
    hash         BYTEA PRIMARY KEY,
    name         TEXT NOT NULL,
    principal    TEXT NOT NULL,
    scopes       TEXT,
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT,
    last_used_at BIGINT,
    revoked_at   BIGINT
);
CREATE UNIQUE INDEX tokens_by_name ON tokens (name) WHERE revoked_at IS NULL;
