-- What a machine lets the servers do there, as a JSON array, and when another process than its relay last
-- tried to use its token while the relay was connected.

ALTER TABLE hosts ADD COLUMN powers TEXT NOT NULL DEFAULT '[]';
ALTER TABLE hosts ADD COLUMN contested_at INTEGER;
