-- facts_after: an owner's facts behind an id, in the order of the ids; the limit comes last
-- The plus makes it read along the ids and not sort all facts of an owner for every piece.
SELECT * FROM facts WHERE +owner = ? AND id > ? ORDER BY id LIMIT ?;

-- passages_after: an owner's passages behind an id, in the order of the ids; the limit comes last
SELECT * FROM passages WHERE +owner = ? AND id > ? ORDER BY id LIMIT ?;

-- uses_of: in which sessions these memories were shown, used and said
SELECT memory, session, shown, used, said FROM uses WHERE memory IN (?*) ORDER BY memory, session;

-- use_restore: how often a memory was shown, used and said in a session, as it is told; what is known already stays
INSERT INTO uses (memory, session, shown, used, said) VALUES (?, ?, ?, ?, ?) ON CONFLICT (memory, session) DO NOTHING;

-- pins_whole: what a person wants whole, and since when
SELECT subject, part, at FROM pins WHERE owner = ? ORDER BY subject, part;

-- tombstones_count: how many tombstones there are
SELECT count(*) AS number FROM tombstones;

-- exchanges_known: which of these exchanges are in the journal
SELECT id FROM exchanges WHERE id IN (?*);

-- sessions_called: a person's sessions that a runtime's own id names, in whatever namespace
SELECT sessions.* FROM sessions JOIN people ON people.number = sessions.person
WHERE people.name = ? AND sessions.runtime = ? AND substr(sessions.key, -length(?)) = ? ORDER BY sessions.number;
