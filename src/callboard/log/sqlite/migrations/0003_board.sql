-- Which stream a question is told in: its session's, its own, or the plate's of the client that
-- asks, whose id `execution_id` then is.

ALTER TABLE human_interactions ADD COLUMN stream TEXT NOT NULL DEFAULT '';
UPDATE human_interactions SET stream = coalesce(execution_id, id);
CREATE INDEX human_interactions_by_stream ON human_interactions (stream);

-- The board. A plate's columns are what `callboard.board.plate.Plate` has; lists are JSON.

CREATE TABLE plates (
    id              TEXT    NOT NULL PRIMARY KEY,
    agent           TEXT    NOT NULL,
    session_id      TEXT    NOT NULL,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    status          TEXT    NOT NULL,
    status_at       INTEGER NOT NULL,
    pid             INTEGER,
    proc_start      TEXT,
    project_path    TEXT    NOT NULL,
    git_branch      TEXT,
    transcript_path TEXT,
    tmux_target     TEXT,
    model           TEXT,
    last_event      TEXT    NOT NULL,
    last_tool       TEXT,
    last_message    TEXT,
    prompt          TEXT,
    error           TEXT,
    ended           TEXT,
    name            TEXT,
    pinned          INTEGER NOT NULL DEFAULT 0,
    unseen          INTEGER NOT NULL DEFAULT 0,
    interrupted     INTEGER NOT NULL DEFAULT 0,
    dismissed       INTEGER NOT NULL DEFAULT 0,
    pending         TEXT    NOT NULL DEFAULT '[]',
    todos           TEXT    NOT NULL DEFAULT '[]',
    background      TEXT    NOT NULL DEFAULT '[]',
    subagents       TEXT    NOT NULL DEFAULT '[]'
) WITHOUT ROWID;

CREATE INDEX plates_shown ON plates (dismissed, created_at);
CREATE INDEX plates_by_status ON plates (status);
CREATE INDEX plates_by_process ON plates (pid) WHERE pid IS NOT NULL;
CREATE INDEX plates_by_project ON plates (project_path);

CREATE TABLE plate_sessions (
    session_id TEXT NOT NULL PRIMARY KEY,
    plate      TEXT NOT NULL
) WITHOUT ROWID;

CREATE INDEX plate_sessions_by_plate ON plate_sessions (plate);
