-- On which machine a fact was learned.
ALTER TABLE facts ADD COLUMN device TEXT NOT NULL DEFAULT '';

-- How many characters of a memory recall shows: 0 for all of them. The text itself stays whole.
ALTER TABLE facts ADD COLUMN preview INTEGER NOT NULL DEFAULT 0;

ALTER TABLE passages ADD COLUMN preview INTEGER NOT NULL DEFAULT 0;
