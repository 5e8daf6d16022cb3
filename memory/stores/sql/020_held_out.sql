-- Whether a session goes without memory so that the two can be compared; null where nothing was measured when it began.
ALTER TABLE sessions ADD COLUMN held_out INTEGER;

CREATE INDEX sessions_measured ON sessions (started_at) WHERE held_out IS NOT NULL;

CREATE INDEX facts_corrections ON facts (session) WHERE kind = 'correction';

CREATE INDEX uses_said ON uses (session) WHERE said > 0;
