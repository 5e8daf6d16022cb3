-- graph_due: memories that the graph has still to take in
SELECT memory FROM graph_due LIMIT ?;

-- graph_done: memories (JSON) have been taken in
DELETE FROM graph_due WHERE memory IN (SELECT value FROM json_each(?));

-- graph_there: which of these memories (JSON) are still there, and whose they are
SELECT id, owner FROM facts WHERE id IN (SELECT value FROM json_each(?1))
UNION ALL
SELECT id, owner FROM passages WHERE id IN (SELECT value FROM json_each(?1));

-- names_add: names of owners (JSON: memory, owner, name)
INSERT INTO names (owner, name) SELECT value ->> 1, value ->> 2 FROM json_each(?) WHERE true
ON CONFLICT (owner, name) DO NOTHING;

-- named_add: memories have names of their owners (JSON: memory, owner, name)
INSERT INTO named (name, memory) SELECT names.number, told.value ->> 0 FROM json_each(?) AS told
CROSS JOIN names ON names.owner = told.value ->> 1 AND names.name = told.value ->> 2 WHERE true
ON CONFLICT DO NOTHING;

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

-- names_most: the names that stand in most memories of some owners; the limit comes last
SELECT name, sum(degree) AS degree FROM names WHERE owner IN (?*) GROUP BY name ORDER BY sum(degree) DESC, name LIMIT ?;
