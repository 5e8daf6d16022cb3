-- generation_add: begin an index
INSERT INTO generations (embedder, dimensions, current) VALUES (?, ?, 0);

-- generations_all: every index that is kept up to date
SELECT * FROM generations ORDER BY number;

-- generation_switch: from now on this one is searched
UPDATE generations SET current = (number = ?);

-- generation_drop: an index is given up
DELETE FROM generations WHERE number = ?;

-- outbox_drop: and so is what it was to take in
DELETE FROM outbox WHERE generation = ?;

-- outbox_all_facts: a new index has every fact to take in
INSERT INTO outbox (generation, memory, sort) SELECT ?, id, 'fact' FROM facts;

-- outbox_all_passages: and every passage
INSERT INTO outbox (generation, memory, sort) SELECT ?, id, 'turn' FROM passages;

-- outbox_add: every index has this to take in, or to let go
INSERT INTO outbox (generation, memory, sort) SELECT number, ?, ? FROM generations WHERE true
ON CONFLICT (generation, memory) DO UPDATE SET sort = excluded.sort;

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
