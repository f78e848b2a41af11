-- What each open handle can drive, and its id in the tables of the engine that gives it work.

ALTER TABLE owners
ADD COLUMN started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
ADD COLUMN workflows text COLLATE "C" NOT NULL DEFAULT '[]',
ADD COLUMN engine_worker text COLLATE "C";
