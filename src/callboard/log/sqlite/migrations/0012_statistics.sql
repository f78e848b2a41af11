-- What the agents of a session used, as far as they say. Sessions from before have it after
-- `callboard rebuild`.

ALTER TABLE sessions ADD COLUMN input_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN output_tokens INTEGER NOT NULL DEFAULT 0;

-- Statistics read many rows: what they need is in the index, so that the rows themselves, with
-- their errors and prompts, stay unread. The order that lists need is the same as before.

DROP INDEX sessions_by_creation;
CREATE INDEX sessions_by_creation
ON sessions (created_at, id, workflow, ended, ended_at, input_tokens, output_tokens);
DROP INDEX sessions_by_workflow;
CREATE INDEX sessions_by_workflow
ON sessions (workflow, created_at, id, ended, ended_at, input_tokens, output_tokens);
DROP INDEX human_interactions_by_execution;
CREATE INDEX human_interactions_by_execution
ON human_interactions (execution_id, status, created_at, resolved_at);
