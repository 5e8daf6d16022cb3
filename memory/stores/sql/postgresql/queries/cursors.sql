-- exchanges_behind: the oldest exchanges that the worker has not learned from
SELECT * FROM exchanges WHERE number > named_number('learned') ORDER BY number LIMIT ?;

-- exchanges_untiered: the oldest exchanges of which no overviews were made
SELECT * FROM exchanges WHERE number > named_number('tiered') ORDER BY number LIMIT ?;

-- exchanges_unobserved: the oldest exchanges that were not looked at for research
SELECT * FROM exchanges WHERE number > named_number('researched') ORDER BY number LIMIT ?;

-- cursor_set: move the worker's cursor, never back
INSERT INTO meta (name, value) VALUES ('learned', ?)
ON CONFLICT (name) DO UPDATE SET value = excluded.value
WHERE named_number('learned') < convert_from(excluded.value, 'UTF8')::bigint;

-- tiered_set: move the cursor of the overviews, never back
INSERT INTO meta (name, value) VALUES ('tiered', ?)
ON CONFLICT (name) DO UPDATE SET value = excluded.value
WHERE named_number('tiered') < convert_from(excluded.value, 'UTF8')::bigint;

-- researched_set: move the cursor of the research, never back
INSERT INTO meta (name, value) VALUES ('researched', ?)
ON CONFLICT (name) DO UPDATE SET value = excluded.value
WHERE named_number('researched') < convert_from(excluded.value, 'UTF8')::bigint;

-- counts: how much is stored, and how far the worker is behind
SELECT
    (SELECT count(*) FROM sessions) AS sessions,
    (SELECT count(*) FROM exchanges) AS exchanges,
    (SELECT count(*) FROM messages) AS messages,
    (SELECT count(*) FROM facts) AS facts,
    (SELECT count(*) FROM passages) AS passages,
    (SELECT count(*) FROM candidates WHERE state = 'waiting') AS candidates,
    (SELECT count(*) FROM exchanges WHERE number > named_number('learned')) AS behind;

-- retention_learned: how far all the works have come that read the journal
SELECT min(named_number(works.value)) AS number FROM json_each(?) AS works;
