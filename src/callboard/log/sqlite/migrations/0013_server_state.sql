-- What servers share for a while: sign-in codes, cookies, notifications that were sent, hooks that
-- are held. Secrets are here only as their SHA-256. owner: the handle that holds it, or ''.

CREATE TABLE server_state (
    kind       TEXT    NOT NULL,
    key        TEXT    NOT NULL,
    owner      TEXT    NOT NULL DEFAULT '',
    value      TEXT    NOT NULL DEFAULT '',
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (kind, key, owner)
) WITHOUT ROWID;

CREATE INDEX server_state_by_expiry ON server_state (expires_at);
