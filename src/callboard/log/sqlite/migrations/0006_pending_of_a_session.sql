-- A session's open questions, oldest first: the first few of them, however many there are.

CREATE INDEX human_interactions_open_by_execution
ON human_interactions (execution_id, created_at) WHERE status = 'pending';
