-- Texts of people are bytes, because a text of PostgreSQL cannot hold the character 0 and a memory can.
CREATE TABLE memory_schema (version BIGINT PRIMARY KEY);
CREATE TABLE memory_spaces (name TEXT PRIMARY KEY, version BIGINT NOT NULL);
CREATE TABLE memory_nodes (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    space TEXT NOT NULL,
    id BYTEA NOT NULL,
    version BIGINT NOT NULL,
    known TEXT NOT NULL,
    meaning BYTEA NOT NULL,
    words BYTEA NOT NULL,
    UNIQUE (space, id)
);
CREATE INDEX memory_nodes_version ON memory_nodes (space, version);
CREATE TABLE memory_bodies (
    space TEXT NOT NULL,
    id BYTEA NOT NULL,
    content BYTEA NOT NULL,
    rationale BYTEA,
    fingerprint BYTEA NOT NULL,
    PRIMARY KEY (space, id)
);
CREATE TABLE memory_edges (
    space TEXT NOT NULL,
    source BYTEA NOT NULL,
    target BYTEA NOT NULL,
    kind TEXT NOT NULL,
    version BIGINT NOT NULL,
    gone BOOLEAN NOT NULL,
    weight REAL NOT NULL,
    confidence REAL NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    path TEXT NOT NULL,
    PRIMARY KEY (space, source, target, kind)
);
CREATE INDEX memory_edges_version ON memory_edges (space, version);
CREATE TABLE memory_state (
    space TEXT NOT NULL,
    key TEXT NOT NULL,
    version BIGINT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (space, key)
);
CREATE TABLE memory_records (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    space TEXT NOT NULL,
    id BYTEA NOT NULL,
    at BIGINT NOT NULL,
    kind TEXT NOT NULL,
    data TEXT NOT NULL
);
CREATE INDEX memory_records_kind ON memory_records (space, kind, seq);
CREATE INDEX memory_records_id ON memory_records (space, id);
CREATE TABLE memory_answers (
    space TEXT NOT NULL,
    key BYTEA NOT NULL,
    call TEXT NOT NULL,
    answer TEXT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (space, key)
);
