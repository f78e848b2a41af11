-- What people call a session: from the workflow, or given.

ALTER TABLE sessions ADD COLUMN title TEXT;
