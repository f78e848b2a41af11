-- Where a plate's client runs. host: a random id; '' in rows from before, whose host is that of the
-- database. host_name: a label. boot_id: in which run of the system the process began.

ALTER TABLE plates ADD COLUMN host TEXT NOT NULL DEFAULT '';
ALTER TABLE plates ADD COLUMN host_name TEXT NOT NULL DEFAULT '';
ALTER TABLE plates ADD COLUMN boot_id TEXT NOT NULL DEFAULT '';

-- The terminal's process, where `pid` is a daemon that runs the sessions of many terminals.

ALTER TABLE plates ADD COLUMN client_pid INTEGER;
ALTER TABLE plates ADD COLUMN client_start TEXT;

-- A session can be on several plates: of hosts that share their files, or when it goes on in another
-- process.

CREATE TABLE sessions_on_plates (
    session_id TEXT NOT NULL,
    plate      TEXT NOT NULL,
    PRIMARY KEY (session_id, plate)
) WITHOUT ROWID;

INSERT INTO sessions_on_plates SELECT session_id, plate FROM plate_sessions;
DROP TABLE plate_sessions;
ALTER TABLE sessions_on_plates RENAME TO plate_sessions;
CREATE INDEX plate_sessions_by_plate ON plate_sessions (plate);
