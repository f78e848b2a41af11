-- Access tokens: who may come in, and as whom. Only the SHA-256 of a secret is here. A revoked token
-- keeps its row, so that nothing brings it back. `groups` is a JSON list.

CREATE TABLE tokens (
    id         TEXT    NOT NULL PRIMARY KEY,
    name       TEXT    NOT NULL,
    person     TEXT    NOT NULL,
    scope      TEXT    NOT NULL,
    groups     TEXT    NOT NULL DEFAULT '[]',
    host       TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    sha256     TEXT    NOT NULL UNIQUE,
    revoked_at INTEGER
) WITHOUT ROWID;
