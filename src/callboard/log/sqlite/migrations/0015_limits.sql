-- Limits: how many agents of a kind may run at once, and the agents that do, or wait for that. A row of
-- `slots` waits until it has `taken_at`, in the order of `no`. It belongs to the process that runs the
-- agent: once that process is dead, others remove it.

CREATE TABLE limits (
    name   TEXT    NOT NULL PRIMARY KEY,
    number INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE slots (
    no       INTEGER NOT NULL PRIMARY KEY,
    id       TEXT    NOT NULL UNIQUE,
    name     TEXT    NOT NULL,
    owner    TEXT    NOT NULL,
    session  TEXT    NOT NULL,
    run      TEXT    NOT NULL,
    since    INTEGER NOT NULL,
    taken_at INTEGER
);

CREATE INDEX slots_waiting ON slots (name, no) WHERE taken_at IS NULL;
CREATE INDEX slots_taken ON slots (name) WHERE taken_at IS NOT NULL;
CREATE INDEX slots_by_owner ON slots (owner);
