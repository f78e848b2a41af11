-- The number of the last report that the relay of a plate's host sent about it, as "incarnation:number".

ALTER TABLE plates ADD COLUMN relayed text COLLATE "C" NOT NULL DEFAULT '';
CREATE INDEX plates_by_host ON plates (host);

-- The machines whose relays report here. seen_at: while it is not connected, when it last was.

CREATE TABLE hosts (
    id        text COLLATE "C" NOT NULL PRIMARY KEY,
    stream    text COLLATE "C" NOT NULL,
    name      text COLLATE "C" NOT NULL,
    version   text COLLATE "C" NOT NULL,
    connected bigint NOT NULL,
    seen_at   bigint NOT NULL
);
