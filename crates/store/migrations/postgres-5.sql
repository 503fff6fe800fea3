-- Definitions that a person accepted or refused, and those that wait for one: several of each tool.
CREATE TABLE pin_versions (
    server         TEXT NOT NULL,
    tool           TEXT NOT NULL,
    hash           BYTEA NOT NULL,
    definition     TEXT NOT NULL,
    server_version TEXT,
    state          TEXT NOT NULL,
    seen_at        BIGINT NOT NULL,
    decided_by     TEXT,
    decided_at     BIGINT,
    PRIMARY KEY (server, tool, hash)
);
ALTER TABLE pins ADD COLUMN server_version TEXT;
INSERT INTO pin_versions (server, tool, hash, definition, state, seen_at, decided_by, decided_at)
    SELECT server, tool, accepted_hash, accepted, 'accepted', changed_at, accepted_by, accepted_at
    FROM pins WHERE accepted_hash IS NOT NULL AND accepted IS NOT NULL;
INSERT INTO pin_versions (server, tool, hash, definition, state, seen_at)
    SELECT server, tool, shown_hash, shown, 'held', changed_at FROM pins
    WHERE state = 'quarantined' AND (accepted_hash IS NULL OR accepted_hash <> shown_hash);
