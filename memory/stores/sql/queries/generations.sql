-- generation_add: begin an index
INSERT INTO generations (embedder, dimensions, current) VALUES (?, ?, 0);

-- generations_all: every index that is kept up to date
SELECT * FROM generations WHERE ready ORDER BY number;

-- generations_unready: indexes whose beginning was interrupted
SELECT number FROM generations WHERE NOT ready;

-- generation_ready: an index may be filled now
UPDATE generations SET ready = true WHERE number = ?;

-- generation_switch: from now on this one is searched
UPDATE generations SET current = (number = ?);

-- generation_current: whether one of these is searched
UPDATE generations SET current = ? WHERE number = ?;

-- generation_drop: an index is given up
DELETE FROM generations WHERE number = ?;

-- outbox_drop: and so is what it was to take in
DELETE FROM outbox WHERE generation = ?;

-- outbox_facts_behind: a new index has these facts to take in, in the order they were written
INSERT INTO outbox (generation, memory, sort)
SELECT :generation, id, 'fact' FROM facts WHERE number > :after AND number <= :upto AND state != 'archived'
ON CONFLICT (generation, memory) DO NOTHING;

-- outbox_passages_behind: and these passages
INSERT INTO outbox (generation, memory, sort)
SELECT :generation, id, 'turn' FROM passages WHERE number > :after AND number <= :upto
ON CONFLICT (generation, memory) DO NOTHING;

-- memories_newest: the last rows of both tables
SELECT coalesce(max(number), 0) AS number
FROM (SELECT max(number) AS number FROM facts UNION ALL SELECT max(number) FROM passages) AS newest;

-- outbox_add: every index has this to take in, or to let go
INSERT INTO outbox (generation, memory, sort) SELECT number, ?, ? FROM generations WHERE true
ON CONFLICT (generation, memory) DO UPDATE SET sort = excluded.sort;

-- outbox_add_all: every index has these (JSON) to take in
INSERT INTO outbox (generation, memory, sort)
SELECT generations.number, asked.value, ? FROM json_each(?) AS asked CROSS JOIN generations WHERE true
ON CONFLICT (generation, memory) DO UPDATE SET sort = excluded.sort;

-- outbox_next: what an index has still to take in or to let go
SELECT memory, sort FROM outbox WHERE generation = ? LIMIT ?;

-- outbox_facts: facts that an index has still to take in
SELECT facts.* FROM outbox CROSS JOIN facts ON facts.id = outbox.memory
WHERE outbox.generation = ? AND outbox.sort = 'fact' LIMIT ?;

-- outbox_passages: passages that an index has still to take in
SELECT passages.* FROM outbox CROSS JOIN passages ON passages.id = outbox.memory
WHERE outbox.generation = ? AND outbox.sort = 'turn' LIMIT ?;

-- outbox_gone: memories that an index has still to let go
SELECT memory FROM outbox WHERE generation = ? AND sort = 'gone' LIMIT ?;

-- outbox_count: how much an index has still to do
SELECT count(*) AS waiting FROM outbox WHERE generation = ?;

-- outbox_done: an index has done this
DELETE FROM outbox WHERE generation = ? AND memory IN (?*);
