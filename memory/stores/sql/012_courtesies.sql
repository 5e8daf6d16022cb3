-- What recall leaves out of a passage: [[start, end], …] in characters (JSON), empty for nothing.
ALTER TABLE passages ADD COLUMN gaps TEXT NOT NULL DEFAULT '';

-- How far the nights have looked for courtesies.
ALTER TABLE night_cursors ADD COLUMN plain INTEGER NOT NULL DEFAULT 0;
