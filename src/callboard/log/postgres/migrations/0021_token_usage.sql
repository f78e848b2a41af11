-- The tokens of each model on each day: of the sessions of coding agents, with running totals, and of
-- each run of a workflow's agent. `source` is `plate` or `run`; `day` is when it starts in UTC, in
-- milliseconds; `reported` is 1 if the client said what it cost, in billionths of a US dollar.

CREATE TABLE token_usage (
    id                 text COLLATE "C" NOT NULL PRIMARY KEY,
    stream             text COLLATE "C" NOT NULL,
    source             text COLLATE "C" NOT NULL,
    session            text COLLATE "C" NOT NULL,
    agent              text COLLATE "C" NOT NULL DEFAULT '',
    project            text COLLATE "C" NOT NULL DEFAULT '',
    day                bigint NOT NULL,
    model              text COLLATE "C" NOT NULL DEFAULT '',
    input_tokens       bigint NOT NULL DEFAULT 0,
    output_tokens      bigint NOT NULL DEFAULT 0,
    cache_read_tokens  bigint NOT NULL DEFAULT 0,
    cache_write_tokens bigint NOT NULL DEFAULT 0,
    calls              bigint NOT NULL DEFAULT 0,
    reported           bigint NOT NULL DEFAULT 0,
    cost               bigint NOT NULL DEFAULT 0
);

CREATE INDEX token_usage_by_day ON token_usage (day);
CREATE INDEX token_usage_by_stream ON token_usage (stream);
CREATE INDEX token_usage_by_session ON token_usage (session);
