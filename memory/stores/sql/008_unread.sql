-- How far the nights have looked for old passages that nobody has read.
ALTER TABLE night_cursors ADD COLUMN unread INTEGER NOT NULL DEFAULT 0;
