-- Pages of questions are found without reading the questions, which may be large.

CREATE INDEX human_interactions_by_creation ON human_interactions (created_at, id);
CREATE INDEX human_interactions_by_status ON human_interactions (status, created_at, id);
DROP INDEX human_interactions_open;
