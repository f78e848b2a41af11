-- Messages that people wrote to coding agents. A row's columns are those of
-- `callboard.board.messages.PlateMessage`; of those that wait, the one with the lowest place is next.

CREATE TABLE plate_messages (
    id           TEXT    NOT NULL PRIMARY KEY,
    plate        TEXT    NOT NULL,
    text         TEXT    NOT NULL,
    timing       TEXT    NOT NULL,
    status       TEXT    NOT NULL DEFAULT 'queued',
    place        INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    written_by   TEXT,
    via          TEXT,
    way          TEXT,
    authority    INTEGER,
    session      TEXT,
    note         TEXT,
    attempt      INTEGER NOT NULL DEFAULT 0,
    handed_at    INTEGER,
    delivered_at INTEGER,
    seen_at      INTEGER,
    closed_at    INTEGER
) WITHOUT ROWID;

CREATE INDEX plate_messages_by_plate ON plate_messages (plate, place);
CREATE INDEX plate_messages_open ON plate_messages (plate) WHERE closed_at IS NULL;
