-- The schema of SQLite's migrations up to the same number. Text is compared by its bytes, as there.

-- One row. Appends take their sequences from it, last thing before they commit: so sequences have no
-- gaps, and everything up to `seq` can be read. incarnation: counts the times that history was lost.

CREATE TABLE log (
    single      boolean PRIMARY KEY DEFAULT true CHECK (single),
    seq         bigint  NOT NULL DEFAULT 0,
    incarnation bigint  NOT NULL DEFAULT 1
) WITH (fillfactor = 10);

INSERT INTO log DEFAULT VALUES;

-- Every open handle. Its connection holds an advisory lock on `no`, and raises `beat` twice a second.

CREATE TABLE owners (
    id      text COLLATE "C" NOT NULL PRIMARY KEY,
    no      integer NOT NULL GENERATED ALWAYS AS IDENTITY UNIQUE,
    host    text COLLATE "C" NOT NULL,
    pid     bigint  NOT NULL,
    beat    bigint  NOT NULL DEFAULT 0,
    beat_at timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 50);

-- Handles take keys in blocks, so a key doesn't say which stream is older.

CREATE SEQUENCE stream_keys INCREMENT 64;

CREATE TABLE streams (
    key           bigint  NOT NULL PRIMARY KEY,
    id            text COLLATE "C" NOT NULL UNIQUE,
    base          bigint  REFERENCES streams (key),
    base_position bigint  NOT NULL DEFAULT 0,
    head          bigint  NOT NULL,
    updated_at    bigint  NOT NULL,
    owner         text COLLATE "C",
    epoch         bigint  NOT NULL DEFAULT 0,
    settled       bigint  NOT NULL DEFAULT 0,
    unsettled     boolean NOT NULL DEFAULT false,
    hidden        integer NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

CREATE INDEX streams_unsettled ON streams (key) WHERE unsettled;
CREATE INDEX streams_to_trim ON streams (key) WHERE hidden = 1;
CREATE INDEX streams_by_base ON streams (base, base_position) WHERE base IS NOT NULL;

-- No reference to streams: checking it would lock the stream's row for every event.

CREATE TABLE events (
    seq       bigint  NOT NULL PRIMARY KEY,
    stream    bigint  NOT NULL,
    position  bigint  NOT NULL,
    id        bytea   NOT NULL,
    name      text COLLATE "C" NOT NULL,
    version   bigint  NOT NULL,
    at        bigint  NOT NULL,
    caused_by bytea,
    payload   bytea   NOT NULL
);

-- Large payloads are compressed before they get here.
ALTER TABLE events ALTER COLUMN payload SET STORAGE EXTERNAL;
CREATE UNIQUE INDEX events_by_position ON events (stream, position);

CREATE TABLE sessions (
    id            text COLLATE "C" NOT NULL PRIMARY KEY,
    workflow      text COLLATE "C" NOT NULL,
    version       text COLLATE "C",
    source        text COLLATE "C",
    created_at    bigint  NOT NULL,
    parent        text COLLATE "C",
    fork_position bigint,
    phase         text COLLATE "C",
    ended         text COLLATE "C",
    ended_at      bigint,
    paused        bigint  NOT NULL DEFAULT 0,
    pausing       bigint  NOT NULL DEFAULT 0,
    pending       bigint  NOT NULL DEFAULT 0,
    error         text COLLATE "C",
    held          text COLLATE "C",
    status        text COLLATE "C" GENERATED ALWAYS AS (
        CASE
            WHEN ended IS NOT NULL THEN ended
            WHEN paused <> 0 THEN 'paused'
            WHEN pending > 0 THEN 'waiting'
            WHEN phase IS NOT NULL THEN 'running'
            ELSE 'pending'
        END
    ) STORED,
    title         text COLLATE "C",
    input_tokens  bigint  NOT NULL DEFAULT 0,
    output_tokens bigint  NOT NULL DEFAULT 0
);

CREATE INDEX sessions_by_status ON sessions (status, created_at);
CREATE INDEX sessions_by_parent ON sessions (parent, created_at) WHERE parent IS NOT NULL;
CREATE INDEX sessions_by_creation
ON sessions (created_at, id, workflow, ended, ended_at, input_tokens, output_tokens);
CREATE INDEX sessions_by_workflow
ON sessions (workflow, created_at, id, ended, ended_at, input_tokens, output_tokens);

CREATE TABLE human_interactions (
    id                 text COLLATE "C" NOT NULL PRIMARY KEY,
    execution_id       text COLLATE "C",
    type               text COLLATE "C" NOT NULL,
    prompt             text COLLATE "C" NOT NULL,
    options            text COLLATE "C",
    other              bigint  NOT NULL DEFAULT 0,
    status             text COLLATE "C" NOT NULL DEFAULT 'pending',
    response           text COLLATE "C",
    created_at         bigint  NOT NULL,
    resolved_at        bigint,
    session_config     text COLLATE "C",
    session_transcript text COLLATE "C",
    session_duration   bigint,
    error              text COLLATE "C",
    phase              text COLLATE "C",
    run                text COLLATE "C",
    deadline           bigint,
    assigned_to        text COLLATE "C",
    claimed_by         text COLLATE "C",
    claimed_until      bigint,
    answered_by        text COLLATE "C",
    via                text COLLATE "C",
    stream             text COLLATE "C" NOT NULL DEFAULT '',
    accepted           text COLLATE "C",
    receipt            text COLLATE "C",
    answered_as        text COLLATE "C",
    assignees          text COLLATE "C"
);

CREATE INDEX human_interactions_by_stream ON human_interactions (stream);
CREATE INDEX human_interactions_by_creation ON human_interactions (created_at, id);
CREATE INDEX human_interactions_by_status ON human_interactions (status, created_at, id);
CREATE INDEX human_interactions_open_by_execution
ON human_interactions (execution_id, created_at) WHERE status = 'pending';
CREATE INDEX human_interactions_by_execution
ON human_interactions (execution_id, status, created_at, resolved_at);

CREATE TABLE tasks (
    id           text COLLATE "C" NOT NULL PRIMARY KEY,
    execution_id text COLLATE "C" NOT NULL,
    kind         text COLLATE "C" NOT NULL,
    title        text COLLATE "C" NOT NULL,
    status       text COLLATE "C" NOT NULL,
    started_at   bigint  NOT NULL,
    completed_at bigint
);

CREATE INDEX tasks_by_execution ON tasks (execution_id, status);

CREATE TABLE checkpoints (
    session  text COLLATE "C" NOT NULL,
    position bigint NOT NULL,
    PRIMARY KEY (session, position)
);

CREATE TABLE wakeups (
    session text COLLATE "C" NOT NULL,
    key     text COLLATE "C" NOT NULL,
    at      bigint NOT NULL,
    PRIMARY KEY (session, key)
);

CREATE INDEX wakeups_by_time ON wakeups (at);

CREATE TABLE plates (
    id              text COLLATE "C" NOT NULL PRIMARY KEY,
    agent           text COLLATE "C" NOT NULL,
    session_id      text COLLATE "C" NOT NULL,
    created_at      bigint  NOT NULL,
    updated_at      bigint  NOT NULL,
    status          text COLLATE "C" NOT NULL,
    status_at       bigint  NOT NULL,
    pid             bigint,
    proc_start      text COLLATE "C",
    project_path    text COLLATE "C" NOT NULL,
    git_branch      text COLLATE "C",
    transcript_path text COLLATE "C",
    tmux_target     text COLLATE "C",
    model           text COLLATE "C",
    last_event      text COLLATE "C" NOT NULL,
    last_tool       text COLLATE "C",
    last_message    text COLLATE "C",
    prompt          text COLLATE "C",
    error           text COLLATE "C",
    ended           text COLLATE "C",
    name            text COLLATE "C",
    pinned          bigint  NOT NULL DEFAULT 0,
    unseen          bigint  NOT NULL DEFAULT 0,
    interrupted     bigint  NOT NULL DEFAULT 0,
    dismissed       bigint  NOT NULL DEFAULT 0,
    pending         text COLLATE "C" NOT NULL DEFAULT '[]',
    todos           text COLLATE "C" NOT NULL DEFAULT '[]',
    background      text COLLATE "C" NOT NULL DEFAULT '[]',
    subagents       text COLLATE "C" NOT NULL DEFAULT '[]',
    unsettled       text COLLATE "C" NOT NULL DEFAULT '[]',
    awaits_outcome  bigint  NOT NULL DEFAULT 0,
    host            text COLLATE "C" NOT NULL DEFAULT '',
    host_name       text COLLATE "C" NOT NULL DEFAULT '',
    boot_id         text COLLATE "C" NOT NULL DEFAULT '',
    client_pid      bigint,
    client_start    text COLLATE "C"
);

CREATE INDEX plates_shown ON plates (dismissed, created_at);
CREATE INDEX plates_by_status ON plates (status);
CREATE INDEX plates_by_process ON plates (pid) WHERE pid IS NOT NULL;
CREATE INDEX plates_by_project ON plates (project_path);
CREATE INDEX plates_awaiting_outcome ON plates (awaits_outcome);

CREATE TABLE plate_sessions (
    session_id text COLLATE "C" NOT NULL,
    plate      text COLLATE "C" NOT NULL,
    PRIMARY KEY (session_id, plate)
);

CREATE INDEX plate_sessions_by_plate ON plate_sessions (plate);

CREATE TABLE tokens (
    id         text COLLATE "C" NOT NULL PRIMARY KEY,
    name       text COLLATE "C" NOT NULL,
    person     text COLLATE "C" NOT NULL,
    scope      text COLLATE "C" NOT NULL,
    groups     text COLLATE "C" NOT NULL DEFAULT '[]',
    host       text COLLATE "C",
    created_at bigint  NOT NULL,
    expires_at bigint,
    sha256     text COLLATE "C" NOT NULL UNIQUE,
    revoked_at bigint
);

-- Questions as the wire has them, for people who read them with SQL.

CREATE FUNCTION iso_time(ms bigint) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT to_char(to_timestamp(ms / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

CREATE VIEW interactions AS
SELECT
    id,
    execution_id,
    type,
    prompt,
    options,
    status,
    response,
    iso_time(created_at) AS created_at,
    iso_time(resolved_at) AS resolved_at,
    CASE
        WHEN type <> 'interactive_session' THEN session_config
        WHEN session_config::json ->> 'blockOrchestration' IS NOT NULL THEN session_config
        ELSE jsonb_set(
            coalesce(session_config, '{}')::jsonb, '{blockOrchestration}', 'true'
        )::text
    END AS session_config,
    session_transcript,
    session_duration,
    CASE json_typeof(error::json)
        WHEN 'object' THEN coalesce(error::json ->> 'message', error)
        ELSE error::json #>> '{}'
    END AS error,
    phase,
    iso_time(deadline) AS deadline,
    assignees,
    assigned_to,
    claimed_by,
    iso_time(claimed_until) AS claimed_until,
    answered_by,
    answered_as,
    via,
    accepted,
    receipt,
    stream
FROM human_interactions;

-- Writing. Python decides, and these functions only compare and set: CB001 says that a stream is not
-- as the caller read it, and that nothing was written.

CREATE FUNCTION create_streams(
    ids text[], keys bigint[], bases bigint[], base_positions bigint[], heads bigint[],
    leased_to text[], epochs bigint[], settled_at bigint[], times bigint[], parents bigint[]
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    counted bigint;
BEGIN
    IF cardinality(parents) > 0 THEN
        -- A stream that is forked here must not be deleted meanwhile.
        SELECT count(*) INTO counted FROM (
            SELECT FROM streams WHERE key = ANY (parents) AND hidden = 0 ORDER BY key FOR SHARE
        ) AS kept;
        IF counted <> cardinality(parents) THEN
            RAISE EXCEPTION 'a forked stream was deleted' USING ERRCODE = 'CB001';
        END IF;
    END IF;
    -- In the order of their ids, so that two groups can't wait for each other.
    INSERT INTO streams (
        id, key, base, base_position, head, owner, epoch, settled, updated_at, unsettled
    )
    SELECT made.*, made.head > made.settled
    FROM unnest(
        ids, keys, bases, base_positions, heads, leased_to, epochs, settled_at, times
    ) AS made (id, key, base, base_position, head, owner, epoch, settled, updated_at)
    ORDER BY made.id COLLATE "C"
    ON CONFLICT (id) DO NOTHING;
    GET DIAGNOSTICS counted = ROW_COUNT;
    IF counted <> cardinality(ids) THEN
        RAISE EXCEPTION 'a new stream exists already' USING ERRCODE = 'CB001';
    END IF;
END
$$;

CREATE FUNCTION move_streams(
    keys bigint[],
    heads bigint[], leased_to text[], epochs bigint[], settled_at bigint[],
    new_heads bigint[], new_leased_to text[], new_epochs bigint[], new_settled_at bigint[],
    times bigint[]
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    moved bigint;
BEGIN
    IF cardinality(keys) > 1 THEN
        -- In the order of their keys, so that two groups can't wait for each other.
        PERFORM FROM streams WHERE key = ANY (keys) ORDER BY key FOR NO KEY UPDATE;
    END IF;
    UPDATE streams SET
        head = step.new_head,
        owner = step.new_owner,
        epoch = step.new_epoch,
        settled = step.new_settled,
        unsettled = step.new_head > step.new_settled,
        updated_at = step.updated_at
    FROM unnest(
        keys, heads, leased_to, epochs, settled_at,
        new_heads, new_leased_to, new_epochs, new_settled_at, times
    ) AS step (
        key, head, owner, epoch, settled, new_head, new_owner, new_epoch, new_settled, updated_at
    )
    WHERE streams.key = step.key
        AND streams.head = step.head
        AND streams.owner IS NOT DISTINCT FROM step.owner
        AND streams.epoch = step.epoch
        AND streams.settled = step.settled
        AND streams.hidden = 0;
    GET DIAGNOSTICS moved = ROW_COUNT;
    IF moved <> cardinality(keys) THEN
        RAISE EXCEPTION 'a stream has changed' USING ERRCODE = 'CB001';
    END IF;
END
$$;

CREATE FUNCTION write_events(
    streams bigint[], positions bigint[], ids bytea[], names text[], versions bigint[],
    times bigint[], causes bytea[], payloads bytea[]
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    last bigint;
BEGIN
    UPDATE log SET seq = seq + cardinality(positions) RETURNING seq INTO last;
    INSERT INTO events (seq, stream, position, id, name, version, at, caused_by, payload)
    SELECT
        last - cardinality(positions) + new.place,
        new.stream, new.position, new.id, new.name, new.version, new.at, new.caused_by, new.payload
    FROM unnest(streams, positions, ids, names, versions, times, causes, payloads)
        WITH ORDINALITY
        AS new (stream, position, id, name, version, at, caused_by, payload, place);
    RETURN last;
END
$$;
