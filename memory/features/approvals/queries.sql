-- candidates_after: an owner's candidates behind an id, in the order of the ids; the limit comes last
SELECT * FROM candidates WHERE owner = ? AND id > ? ORDER BY id LIMIT ?;

-- candidate_marked: an owner's candidate of a mark
SELECT id FROM candidates WHERE owner = ? AND mark = ?;

-- candidates_became: the candidates that became one of these facts
SELECT * FROM candidates WHERE fact != '' AND fact IN (?*);

-- crystallized_of: the shared facts of an owner that were written into its file
SELECT fact FROM crystallized WHERE owner = ?;

-- crystallized_add: a shared fact was written
INSERT INTO crystallized (fact, owner) VALUES (?, ?) ON CONFLICT DO NOTHING;

-- crystallized_drop: an owner's file is written anew
DELETE FROM crystallized WHERE owner = ?;
