-- What a machine lets the servers do there, as a JSON array. The secret of its relay, as a hash, with the
-- token that it belongs to; and when someone last used that token without the secret.

ALTER TABLE hosts ADD COLUMN powers TEXT NOT NULL DEFAULT '[]';
ALTER TABLE hosts ADD COLUMN secret TEXT NOT NULL DEFAULT '';
ALTER TABLE hosts ADD COLUMN contested_at INTEGER;
