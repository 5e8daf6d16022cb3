-- meta_get: one named value
SELECT value FROM meta WHERE name = ?;

-- meta_below: the named values whose names begin with these characters, so many
SELECT name, value FROM meta WHERE substr(name, 1, ?) = ?;

-- meta_set: write one named value
INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value;

-- cursor_set: move the cursor of a work, never back
INSERT INTO meta (name, value) VALUES (?, ?)
ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE CAST(meta.value AS INTEGER) < excluded.value;

-- counts: how much is stored, and how far the worker is behind
SELECT
    (SELECT count(*) FROM sessions) AS sessions,
    (SELECT count(*) FROM exchanges) AS exchanges,
    (SELECT count(*) FROM messages) AS messages,
    (SELECT count(*) FROM facts) AS facts,
    (SELECT count(*) FROM facts INDEXED BY facts_drafts WHERE state = 'draft') AS drafts,
    (SELECT count(*) FROM passages) AS passages,
    (SELECT count(*) FROM candidates WHERE state = 'waiting') AS candidates,
    (SELECT count(*) FROM exchanges
     WHERE number > coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE name = 'learned'), 0)) AS behind;

-- tombstone_add: remember the keyed hash of something that was forgotten
INSERT INTO tombstones (hash, at) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING;

-- person_forgotten_set: a person was forgotten, and until when what they asked is refused
INSERT INTO tombstones (hash, at) VALUES (?, ?) ON CONFLICT (hash) DO UPDATE SET at = excluded.at;

-- person_forgotten: whether a person was forgotten at a moment or later
SELECT hash FROM tombstones WHERE hash = ? AND at >= ?;

-- tombstones_latest: when something was forgotten last
SELECT max(at) AS at FROM tombstones;

-- tombstone_lift: what was dismissed by mistake may be learned again
DELETE FROM tombstones WHERE hash = ?;

-- tombstone_find: which of these hashes were forgotten
SELECT hash FROM tombstones WHERE hash IN (?*);
