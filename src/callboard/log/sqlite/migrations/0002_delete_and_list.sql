-- Deleting: 1 = hidden, something may be left to trim; 2 = hidden, and nothing is.
-- The row stays: it keeps its id from being given again.

ALTER TABLE streams ADD COLUMN hidden INTEGER NOT NULL DEFAULT 0;

CREATE INDEX streams_to_trim ON streams (key) WHERE hidden = 1;
CREATE INDEX streams_by_base ON streams (base, base_position) WHERE base IS NOT NULL;

-- Listing: newest first, page by page, however many there are.

CREATE INDEX sessions_by_creation ON sessions (created_at);
CREATE INDEX sessions_by_workflow ON sessions (workflow, created_at);
DROP INDEX sessions_by_parent;
CREATE INDEX sessions_by_parent ON sessions (parent, created_at) WHERE parent IS NOT NULL;
