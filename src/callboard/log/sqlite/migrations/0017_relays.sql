-- The number of the last report that the relay of a plate's host sent about it, as "incarnation:number".

ALTER TABLE plates ADD COLUMN relayed TEXT NOT NULL DEFAULT '';
CREATE INDEX plates_by_host ON plates (host);

-- The machines whose relays report here. seen_at: while it is not connected, when it last was.

CREATE TABLE hosts (
    id        TEXT NOT NULL PRIMARY KEY,
    stream    TEXT NOT NULL,
    name      TEXT NOT NULL,
    version   TEXT NOT NULL,
    connected INTEGER NOT NULL,
    seen_at   INTEGER NOT NULL
) WITHOUT ROWID;
