-- graph_facts_due: facts that the graph has still to take in
SELECT facts.* FROM graph_due CROSS JOIN facts ON facts.id = graph_due.memory LIMIT ?;

-- graph_passages_due: passages that the graph has still to take in
SELECT passages.* FROM graph_due CROSS JOIN passages ON passages.id = graph_due.memory LIMIT ?;

-- graph_done: a memory has been taken in
DELETE FROM graph_due WHERE memory = ?;

-- graph_there: whether a memory of an owner is still there
SELECT 1 FROM facts WHERE id = :memory AND owner = :owner UNION ALL SELECT 1 FROM passages WHERE id = :memory AND owner = :owner;

-- name_add: a name of an owner's
INSERT INTO names (owner, name) VALUES (?, ?) ON CONFLICT (owner, name) DO NOTHING;

-- named_add: a memory has a name of its owner's
INSERT INTO named (name, memory) SELECT number, ? FROM names WHERE owner = ? AND name = ? ON CONFLICT DO NOTHING;

-- names_known: which of these names (JSON, it comes last) some owners have
SELECT number, name, degree FROM names WHERE owner IN (?*) AND name IN (SELECT value FROM json_each(?));

-- names_of: the names that stand in these memories
SELECT named.memory, names.number, names.name, names.degree FROM named JOIN names ON names.number = named.name WHERE named.memory IN (?*);

-- memories_of_name: memories that a name stands in; the limit comes last
SELECT memory FROM named WHERE name = ? LIMIT ?;

-- legs_of: how the legs of recall have done for an owner
SELECT leg, used, unused FROM legs WHERE owner = ?;

-- leg_set: how a leg has done
INSERT INTO legs (owner, leg, used, unused) VALUES (?, ?, ?, ?) ON CONFLICT (owner, leg) DO UPDATE SET used = excluded.used, unused = excluded.unused;

-- filed_under: memories that a name stands in, alone or with more behind it (JSON owners, the name, what it begins with, the end of that, the limit)
SELECT DISTINCT named.memory FROM names JOIN named ON named.name = names.number
WHERE names.owner IN (SELECT value FROM json_each(?)) AND (names.name = ? OR (names.name >= ? AND names.name < ?)) LIMIT ?;
