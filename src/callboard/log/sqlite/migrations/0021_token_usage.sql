-- The tokens of each model on each day: of the sessions of coding agents, with running totals, and of
-- each run of a workflow's agent. `source` is `plate` or `run`; `day` is when it starts in UTC, in
-- milliseconds; `reported` is 1 if the client said what it cost, in billionths of a US dollar.

CREATE TABLE token_usage (
    id                 TEXT    NOT NULL PRIMARY KEY,
    stream             TEXT    NOT NULL,
    source             TEXT    NOT NULL,
    session            TEXT    NOT NULL,
    agent              TEXT    NOT NULL DEFAULT '',
    project            TEXT    NOT NULL DEFAULT '',
    day                INTEGER NOT NULL,
    model              TEXT    NOT NULL DEFAULT '',
    input_tokens       INTEGER NOT NULL DEFAULT 0,
    output_tokens      INTEGER NOT NULL DEFAULT 0,
    cache_read_tokens  INTEGER NOT NULL DEFAULT 0,
    cache_write_tokens INTEGER NOT NULL DEFAULT 0,
    calls              INTEGER NOT NULL DEFAULT 0,
    reported           INTEGER NOT NULL DEFAULT 0,
    cost               INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;

CREATE INDEX token_usage_by_day ON token_usage (day);
CREATE INDEX token_usage_by_stream ON token_usage (stream);
CREATE INDEX token_usage_by_session ON token_usage (session);
