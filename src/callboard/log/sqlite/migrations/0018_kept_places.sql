-- A row of `slots` with an empty owner belongs to a session that keeps its place while no process waits
-- for it. late: it was granted, but no one took the slot in time. It keeps its place, and gets no slot
-- until its session is driven.

ALTER TABLE slots ADD COLUMN late INTEGER NOT NULL DEFAULT 0;

CREATE INDEX slots_kept ON slots (session) WHERE owner = '';
CREATE INDEX slots_due ON slots (late, taken_at) WHERE owner = '' AND (late OR taken_at IS NOT NULL);
DROP INDEX slots_waiting;
CREATE INDEX slots_waiting ON slots (name, no) WHERE taken_at IS NULL AND NOT late;
