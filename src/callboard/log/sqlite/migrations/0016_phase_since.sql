-- Since when a session has been in its phase. Sessions from before have it after their next phase, or
-- after `callboard rebuild`.

ALTER TABLE sessions ADD COLUMN phase_since INTEGER;
