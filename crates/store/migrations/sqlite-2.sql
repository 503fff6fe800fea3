-- What we were given by authorization servers of other people's servers, sealed by whoever keeps it.
CREATE TABLE credentials (
    server     TEXT NOT NULL,
    principal  TEXT NOT NULL,
    slot       TEXT NOT NULL,
    sealed     BLOB NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (server, principal, slot)
) STRICT;
