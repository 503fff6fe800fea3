-- What came with the second form: earlier forms of memories, and which memories were erased.
CREATE TABLE memory_revisions (
    space TEXT NOT NULL,
    id BYTEA NOT NULL,
    revision BIGINT NOT NULL,
    at BIGINT NOT NULL,
    known TEXT NOT NULL,
    content BYTEA NOT NULL,
    rationale BYTEA,
    PRIMARY KEY (space, id, revision)
);
CREATE TABLE memory_erased (space TEXT NOT NULL, id BYTEA NOT NULL, version BIGINT NOT NULL, PRIMARY KEY (space, id));
CREATE INDEX memory_erased_version ON memory_erased (space, version);
CREATE TABLE memory_remains (since BIGINT NOT NULL);
