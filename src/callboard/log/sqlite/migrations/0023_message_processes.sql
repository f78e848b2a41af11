-- The client's process that a message was handed to. A session that is resumed has another one.

ALTER TABLE plate_messages ADD COLUMN pid INTEGER;
ALTER TABLE plate_messages ADD COLUMN proc_start TEXT;
