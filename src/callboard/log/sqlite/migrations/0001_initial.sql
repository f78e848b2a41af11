-- The log itself. Every page that a commit touches costs it some microseconds, so an append in
-- the middle of a drive touches three: a leaf of each of these tables, and one of the index.

CREATE TABLE streams (
    key           INTEGER PRIMARY KEY,
    id            TEXT    NOT NULL UNIQUE,
    base          INTEGER REFERENCES streams (key),  -- a fork reads its prefix there
    base_position INTEGER NOT NULL DEFAULT 0,
    head          INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    owner         TEXT,
    epoch         INTEGER NOT NULL DEFAULT 0,
    settled       INTEGER NOT NULL DEFAULT 0,
    unsettled     INTEGER NOT NULL DEFAULT 0         -- head > settled, written when it changes
);

CREATE INDEX streams_unsettled ON streams (key) WHERE unsettled;

CREATE TABLE events (
    seq       INTEGER PRIMARY KEY,  -- the order of all streams; the newest row is never deleted,
                                    -- so that no place in it is given twice
    stream    INTEGER NOT NULL REFERENCES streams (key),
    position  INTEGER NOT NULL,
    id        BLOB    NOT NULL,
    name      TEXT    NOT NULL,
    version   INTEGER NOT NULL,
    at        INTEGER NOT NULL,
    caused_by BLOB,
    payload   BLOB    NOT NULL
);

CREATE UNIQUE INDEX events_by_position ON events (stream, position);

-- The views: written with the events they come from, and made again by `callboard rebuild`.

CREATE TABLE sessions (
    id            TEXT    NOT NULL PRIMARY KEY,
    workflow      TEXT    NOT NULL,
    version       TEXT,
    source        TEXT,
    created_at    INTEGER NOT NULL,
    parent        TEXT,
    fork_position INTEGER,
    phase         TEXT,
    ended         TEXT,
    ended_at      INTEGER,
    paused        INTEGER NOT NULL DEFAULT 0,
    pausing       INTEGER NOT NULL DEFAULT 0,
    pending       INTEGER NOT NULL DEFAULT 0,
    error         TEXT,
    held          TEXT,
    status        TEXT GENERATED ALWAYS AS (
        CASE
            WHEN ended IS NOT NULL THEN ended
            WHEN paused <> 0 THEN 'paused'
            WHEN pending > 0 THEN 'waiting'
            WHEN phase IS NOT NULL THEN 'running'
            ELSE 'pending'
        END
    ) VIRTUAL
) WITHOUT ROWID;

CREATE INDEX sessions_by_status ON sessions (status, created_at);
CREATE INDEX sessions_by_parent ON sessions (parent) WHERE parent IS NOT NULL;

CREATE TABLE human_interactions (
    id                 TEXT    NOT NULL PRIMARY KEY,
    execution_id       TEXT,
    type               TEXT    NOT NULL,
    prompt             TEXT    NOT NULL,
    options            TEXT,
    other              INTEGER NOT NULL DEFAULT 0,     -- any text is an answer too
    status             TEXT    NOT NULL DEFAULT 'pending',
    response           TEXT,
    created_at         INTEGER NOT NULL,
    resolved_at        INTEGER,
    session_config     TEXT,
    session_transcript TEXT,
    session_duration   INTEGER,
    error              TEXT,
    phase              TEXT,
    run                TEXT,
    deadline           INTEGER,
    assigned_to        TEXT,
    claimed_by         TEXT,
    claimed_until      INTEGER,
    answered_by        TEXT,
    via                TEXT
) WITHOUT ROWID;

CREATE INDEX human_interactions_open ON human_interactions (created_at) WHERE status = 'pending';
CREATE INDEX human_interactions_by_execution ON human_interactions (execution_id, status);

CREATE TABLE tasks (
    id           TEXT    NOT NULL PRIMARY KEY,
    execution_id TEXT    NOT NULL,
    kind         TEXT    NOT NULL,
    title        TEXT    NOT NULL,
    status       TEXT    NOT NULL,
    started_at   INTEGER NOT NULL,
    completed_at INTEGER
) WITHOUT ROWID;

CREATE INDEX tasks_by_execution ON tasks (execution_id, status);

CREATE TABLE checkpoints (
    session  TEXT    NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (session, position)
) WITHOUT ROWID;

CREATE TABLE wakeups (
    session TEXT    NOT NULL,
    key     TEXT    NOT NULL,
    at      INTEGER NOT NULL,
    PRIMARY KEY (session, key)
) WITHOUT ROWID;

CREATE INDEX wakeups_by_time ON wakeups (at);
