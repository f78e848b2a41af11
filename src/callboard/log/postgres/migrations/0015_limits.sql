-- Limits: how many agents of a kind may run at once, and the agents that do, or wait for that. A row of
-- `slots` waits until it has `taken_at`, in the order of `no`. It belongs to the process that runs the
-- agent: once that process is dead, others remove it.

CREATE TABLE limits (
    name   text COLLATE "C" NOT NULL PRIMARY KEY,
    number bigint NOT NULL
);

CREATE TABLE slots (
    no       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id       text COLLATE "C" NOT NULL UNIQUE,
    name     text COLLATE "C" NOT NULL,
    owner    text COLLATE "C" NOT NULL,
    session  text COLLATE "C" NOT NULL,
    run      text COLLATE "C" NOT NULL,
    since    bigint NOT NULL,
    taken_at bigint
);

CREATE INDEX slots_waiting ON slots (name, no) WHERE taken_at IS NULL;
CREATE INDEX slots_taken ON slots (name) WHERE taken_at IS NOT NULL;
CREATE INDEX slots_by_owner ON slots (owner);

-- A transaction that changes the queue of a limit, or its number, waits for others that do. The number
-- of these advisory locks is the one after that of the owners' locks.

CREATE FUNCTION lock_limits(names text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    -- In the order of their keys, so that two callers can't wait for each other.
    PERFORM pg_advisory_xact_lock(1667395952, locked.key) FROM (
        SELECT DISTINCT hashtext(one) AS key FROM unnest(names) AS one ORDER BY 1
    ) AS locked;
END
$$;

CREATE FUNCTION grant_slots(names text[], moment bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    one text;
BEGIN
    FOREACH one IN ARRAY names LOOP
        UPDATE slots SET taken_at = moment WHERE no IN (
            SELECT no FROM slots WHERE name = one AND taken_at IS NULL ORDER BY no
            -- Without a number, this is NULL, and everyone is granted one.
            LIMIT (
                SELECT greatest(0, number - (
                    SELECT count(*) FROM slots WHERE name = one AND taken_at IS NOT NULL
                ))
                FROM limits WHERE name = one
            )
        );
    END LOOP;
END
$$;

CREATE FUNCTION change_slots(
    claimant text, leaving text[],
    ids text[], names text[], sessions text[], runs text[], times bigint[], taken bigint[],
    moment bigint
) RETURNS TABLE (granted text[], counted bigint) LANGUAGE plpgsql AS $$
DECLARE
    touched text[];
BEGIN
    SELECT coalesce(array_agg(DISTINCT queue.name), '{}') INTO touched FROM (
        SELECT slots.name FROM slots WHERE id = ANY (leaving) UNION ALL SELECT unnest(names)
    ) AS queue (name);
    PERFORM lock_limits(touched);
    DELETE FROM slots WHERE id = ANY (leaving);
    INSERT INTO slots (id, name, owner, session, run, since, taken_at)
    SELECT new.id, new.name, claimant, new.session, new.run, new.since, new.taken_at
    FROM unnest(ids, names, sessions, runs, times, taken)
        WITH ORDINALITY
        AS new (id, name, session, run, since, taken_at, place)
    ORDER BY new.place
    ON CONFLICT (id) DO NOTHING;
    PERFORM grant_slots(touched, moment);
    RETURN QUERY
    SELECT coalesce(array_agg(id) FILTER (WHERE taken_at IS NOT NULL), '{}'), count(*)
    FROM slots WHERE owner = claimant;
END
$$;

CREATE FUNCTION remove_slots_of(dead text[], moment bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    touched text[];
BEGIN
    SELECT coalesce(array_agg(DISTINCT name), '{}') INTO touched
    FROM slots WHERE owner = ANY (dead);
    PERFORM lock_limits(touched);
    DELETE FROM slots WHERE owner = ANY (dead) AND name = ANY (touched);
    PERFORM grant_slots(touched, moment);
END
$$;

CREATE FUNCTION set_limit(wanted text, most bigint, moment bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM lock_limits(ARRAY[wanted]);
    IF most IS NULL THEN
        DELETE FROM limits WHERE name = wanted;
    ELSE
        INSERT INTO limits (name, number) VALUES (wanted, most)
        ON CONFLICT (name) DO UPDATE SET number = excluded.number;
    END IF;
    PERFORM grant_slots(ARRAY[wanted], moment);
END
$$;
