-- How often a person said a memory again in a session: what they say counts as evidence of a rule also where memory had
-- shown it before, for what is shown goes to the model. Of what was before it is known where memory had shown nothing.
ALTER TABLE uses ADD COLUMN said INTEGER NOT NULL DEFAULT 0;
UPDATE uses SET said = used WHERE shown = 0;
