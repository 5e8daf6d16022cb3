-- generation_add: begin an index
INSERT INTO generations (embedder, dimensions, current) VALUES (?, ?, false) RETURNING number;

-- names_add: names of owners (JSON: memory, owner, name)
INSERT INTO names (owner, name) SELECT DISTINCT told ->> 1, told ->> 2 FROM json_array_elements(?::json) AS each (told)
ON CONFLICT (owner, name) DO NOTHING;

-- named_add: memories have names of their owners (JSON: memory, owner, name)
INSERT INTO named (name, memory) SELECT names.number, told ->> 0 FROM json_array_elements(?::json) AS each (told)
JOIN names ON names.owner = told ->> 1 AND names.name = told ->> 2
ON CONFLICT DO NOTHING;
