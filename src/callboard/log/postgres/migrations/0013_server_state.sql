-- What servers share for a while: sign-in codes, cookies, notifications that were sent, hooks that
-- are held. Secrets are here only as their SHA-256. owner: the handle that holds it, or ''.

CREATE TABLE server_state (
    kind       text COLLATE "C" NOT NULL,
    key        text COLLATE "C" NOT NULL,
    owner      text COLLATE "C" NOT NULL DEFAULT '',
    value      text COLLATE "C" NOT NULL DEFAULT '',
    expires_at bigint NOT NULL,
    PRIMARY KEY (kind, key, owner)
);

CREATE INDEX server_state_by_expiry ON server_state (expires_at);
