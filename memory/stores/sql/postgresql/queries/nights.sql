-- night_add: a night of an owner
INSERT INTO nights (owner, at, looked, passed_over, thrown) VALUES (:owner, :at, :looked, :passed_over, :thrown)
RETURNING number;

-- night_cursor_set: how far they have come now
INSERT INTO night_cursors (owner, fact, passage, unread, plain, at) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (owner) DO UPDATE SET
    fact = greatest(night_cursors.fact, excluded.fact), passage = greatest(night_cursors.passage, excluded.passage),
    unread = greatest(night_cursors.unread, excluded.unread), plain = greatest(night_cursors.plain, excluded.plain),
    at = excluded.at;

-- night_absorbed: the archived facts that some facts stand for
SELECT absorbed.* FROM facts CROSS JOIN LATERAL json_each(facts.supersedes) AS named
JOIN facts AS absorbed ON absorbed.id = named.value
WHERE facts.id IN (?*) AND absorbed.state = 'archived';

-- snapshot_new: the active facts of an owner that were learnt after a row, the first ones of them (-1 is all)
SELECT id, number FROM facts WHERE number > ? AND owner = ? AND state = 'active' ORDER BY number LIMIT nullif(?, -1);

-- snapshot_fading: active facts that may have faded below a floor, the weakest first; not what a person has had back.
-- Nothing fades faster than confidence over the root of the days since it was learnt.
SELECT id FROM facts WHERE owner = :owner AND state = 'active' AND NOT pinned
AND recorded < :now::double precision - 86400
AND confidence * confidence * 86400
    < :floor::double precision * :floor::double precision * (:now::double precision - recorded)
AND NOT EXISTS (
    SELECT 1 FROM night_changes JOIN nights ON nights.number = night_changes.night
    WHERE night_changes.memory = facts.id AND night_changes.action = 'archive' AND nights.undone_at IS NOT NULL
)
ORDER BY confidence * confidence / (:now::double precision - recorded), id LIMIT :limit;

-- snapshot_said: what was said to an owner's sessions after a row, and since a moment
SELECT * FROM passages WHERE number > ? AND owner = ? AND floor(seconds(at)) >= ? ORDER BY number;

-- snapshot_said_by: in which sessions facts, or those that they absorbed, were said
WITH told AS (SELECT id, supersedes FROM facts WHERE id IN (?*)),
parts AS (
    SELECT id AS whole, id AS part FROM told
    UNION SELECT told.id, absorbed.id FROM told CROSS JOIN LATERAL json_each(told.supersedes) AS one
    JOIN facts AS absorbed ON absorbed.id = one.value AND absorbed.state = 'archived'
)
SELECT facts.id, facts.kind, uses.session, sum(uses.said) AS times FROM parts
JOIN facts ON facts.id = parts.whole JOIN uses ON uses.memory = parts.part
WHERE uses.said > 0 GROUP BY facts.id, facts.kind, uses.session ORDER BY facts.id, uses.session;

-- quarantine_count: how many memories are in quarantine
SELECT (SELECT count(*) FROM facts WHERE owner LIKE 'quarantine/%')
    + (SELECT count(*) FROM passages WHERE owner LIKE 'quarantine/%') AS number;

-- shelve_lines: the lines of days that tell of a memory are another owner's
UPDATE summaries SET owner = ?1 WHERE memory = ?2 AND NOT EXISTS (
    SELECT 1 FROM summaries AS there WHERE there.owner = ?1
    AND there.day = summaries.day AND there.tier = summaries.tier AND there.memory = summaries.memory
);

-- shelve_error_keys: the lines by which a fact is found are another owner's
UPDATE error_keys SET owner = ?1 WHERE memory = ?2 AND NOT EXISTS (
    SELECT 1 FROM error_keys AS there
    WHERE there.owner = ?1 AND there.key = error_keys.key AND there.memory = error_keys.memory
);

-- shelve_observation: what a fact holds of how work is done is another owner's
UPDATE observations SET owner = ?1 WHERE memory = ?2 AND NOT EXISTS (
    SELECT 1 FROM observations AS there WHERE there.owner = ?1 AND there.subject = observations.subject
);

-- step_write: a step; one that is known already stays
INSERT INTO steps (owner, session, at, deed, family, shape, outcome, traits, mark, source)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (owner, mark) DO NOTHING RETURNING number;
