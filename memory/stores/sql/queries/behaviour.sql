-- step_write: a step; one that is known already stays
INSERT INTO steps (owner, session, at, deed, family, shape, outcome, traits, mark, source)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (owner, mark) DO NOTHING;

-- steps_newest: an owner's newest steps, the newest first
SELECT * FROM steps WHERE owner = ? ORDER BY number DESC LIMIT ?;

-- steps_known: which of these marks an owner's steps have
SELECT mark FROM steps WHERE owner = ? AND mark IN (?*);

-- steps_trim: let go of an owner's oldest steps, all but so many
DELETE FROM steps WHERE owner = ?1 AND number <= (
    SELECT number FROM steps WHERE owner = ?1 ORDER BY number DESC LIMIT 1 OFFSET ?2
);

-- observation_write: which fact holds an observation
INSERT INTO observations (owner, subject, sort, memory, detail) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (owner, subject) DO UPDATE SET memory = excluded.memory, detail = excluded.detail;

-- observations_of: what was observed of an owner
SELECT * FROM observations WHERE owner = ? ORDER BY subject;

-- observations_named: those of an owner with these subjects
SELECT * FROM observations WHERE owner = ? AND subject IN (?*);

-- error_key_write: a line of an error by which a fix is found
INSERT INTO error_keys (key, owner, memory, family, specific) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (key, owner, memory) DO NOTHING;

-- remedies: the facts that hold a fix for one of these lines; the owners stand before them (JSON)
SELECT facts.*, error_keys.key, error_keys.family AS failed, error_keys.specific
FROM error_keys JOIN facts ON facts.id = error_keys.memory
WHERE error_keys.owner IN (SELECT value FROM json_each(?)) AND facts.state = 'active' AND error_keys.key IN (?*);

-- forget_observation: what a fact held of how work is done
DELETE FROM observations WHERE memory = ?;

-- forget_error_keys: the lines by which a fact was found
DELETE FROM error_keys WHERE memory = ?;

-- forget_steps: the steps that stood in a message of a person's
DELETE FROM steps WHERE source = ? AND session IN (SELECT id FROM sessions WHERE person = ?);
