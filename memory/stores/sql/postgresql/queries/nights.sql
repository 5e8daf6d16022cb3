-- night_add: a night of an owner
INSERT INTO nights (owner, at, looked, passed_over, thrown) VALUES (:owner, :at, :looked, :passed_over, :thrown)
RETURNING number;

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

-- step_write: a step; one that is known already stays
INSERT INTO steps (owner, session, at, deed, family, shape, outcome, traits, mark, source)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (owner, mark) DO NOTHING RETURNING number;
