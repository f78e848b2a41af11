-- A row of `slots` with an empty owner belongs to a session that keeps its place while no process waits
-- for it. late: it was granted, but no one took the slot in time. It keeps its place, and gets no slot
-- until its session is driven.

ALTER TABLE slots ADD COLUMN late boolean NOT NULL DEFAULT false;

CREATE INDEX slots_kept ON slots (session) WHERE owner = '';
CREATE INDEX slots_due ON slots (late, taken_at) WHERE owner = '' AND (late OR taken_at IS NOT NULL);
DROP INDEX slots_waiting;
CREATE INDEX slots_waiting ON slots (name, no) WHERE taken_at IS NULL AND NOT late;

CREATE OR REPLACE FUNCTION grant_slots(names text[], moment bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    one text;
BEGIN
    FOREACH one IN ARRAY names LOOP
        UPDATE slots SET taken_at = moment WHERE no IN (
            SELECT no FROM slots WHERE name = one AND taken_at IS NULL AND NOT late ORDER BY no
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

CREATE OR REPLACE FUNCTION change_slots(
    claimant text, leaving text[],
    ids text[], names text[], sessions text[], runs text[], times bigint[], taken bigint[],
    moment bigint
) RETURNS TABLE (granted text[], counted bigint) LANGUAGE plpgsql AS $$
DECLARE
    touched text[];
BEGIN
    SELECT coalesce(array_agg(DISTINCT queue.name), '{}') INTO touched FROM (
        SELECT slots.name FROM slots WHERE id = ANY (leaving)
        UNION ALL SELECT unnest(names)
        UNION ALL SELECT slots.name FROM slots WHERE owner = '' AND session = ANY (sessions)
    ) AS queue (name);
    PERFORM lock_limits(touched);
    DELETE FROM slots WHERE id = ANY (leaving) AND owner = claimant;
    -- Who comes back for the place of a session has it again; its other places are given up.
    UPDATE slots SET id = back.id, owner = claimant, late = false
    FROM (
        SELECT DISTINCT ON (new.id) new.id, kept.no
        FROM unnest(ids, names, sessions, runs) AS new (id, name, session, run)
        JOIN slots AS kept
            ON kept.owner = '' AND kept.session = new.session
            AND kept.name = new.name AND kept.run = new.run
        WHERE NOT EXISTS (SELECT FROM slots AS there WHERE there.id = new.id)
        ORDER BY new.id, kept.no
    ) AS back
    WHERE slots.no = back.no;
    DELETE FROM slots WHERE owner = '' AND session = ANY (sessions) AND name = ANY (touched);
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

CREATE FUNCTION keep_slots(
    claimant text,
    ids text[], names text[], sessions text[], runs text[], times bigint[],
    moment bigint
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM lock_limits(names);
    INSERT INTO slots (id, name, owner, session, run, since)
    SELECT new.id, new.name, '', new.session, new.run, new.since
    FROM unnest(ids, names, sessions, runs, times)
        WITH ORDINALITY
        AS new (id, name, session, run, since, place)
    ORDER BY new.place
    ON CONFLICT (id) DO UPDATE SET owner = '' WHERE slots.owner = claimant;
    PERFORM grant_slots(names, moment);
END
$$;

CREATE FUNCTION pass_over_slots(granted_until bigint, moment bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    touched text[];
BEGIN
    SELECT coalesce(array_agg(DISTINCT name), '{}') INTO touched
    FROM slots WHERE owner = '' AND taken_at IS NOT NULL AND taken_at <= granted_until;
    PERFORM lock_limits(touched);
    UPDATE slots SET taken_at = NULL, late = true
    WHERE owner = '' AND taken_at IS NOT NULL AND taken_at <= granted_until
        AND name = ANY (touched);
    PERFORM grant_slots(touched, moment);
END
$$;

CREATE FUNCTION leave_slots(leaving text, moment bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    touched text[];
BEGIN
    SELECT coalesce(array_agg(DISTINCT name), '{}') INTO touched
    FROM slots WHERE owner = '' AND session = leaving;
    PERFORM lock_limits(touched);
    DELETE FROM slots WHERE owner = '' AND session = leaving AND name = ANY (touched);
    PERFORM grant_slots(touched, moment);
    RETURN cardinality(touched) > 0;
END
$$;
