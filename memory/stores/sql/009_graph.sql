-- The entity graph: names, and the memories that they stand in. Two names are joined by each memory that has both, and
-- that edge holds as long as the memory does: both its clocks are those of the memory's row.
-- degree: how many memories a name stands in.
CREATE TABLE names (
    number INTEGER PRIMARY KEY,
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    degree INTEGER NOT NULL DEFAULT 0,
    UNIQUE (owner, name)
);

CREATE TABLE named (
    name INTEGER NOT NULL REFERENCES names,
    memory TEXT NOT NULL,
    PRIMARY KEY (name, memory)
) WITHOUT ROWID;

CREATE INDEX named_by_memory ON named (memory);

-- Memories that the graph has still to take in. (No OR IGNORE in a trigger: the outer statement's policy would be taken.)
CREATE TABLE graph_due (
    memory TEXT PRIMARY KEY
) WITHOUT ROWID;

INSERT INTO graph_due SELECT id FROM facts UNION SELECT id FROM passages;

CREATE TRIGGER facts_due AFTER INSERT ON facts BEGIN INSERT INTO graph_due SELECT new.id WHERE NOT EXISTS (SELECT 1 FROM graph_due WHERE memory = new.id); END;

CREATE TRIGGER passages_due AFTER INSERT ON passages BEGIN INSERT INTO graph_due SELECT new.id WHERE NOT EXISTS (SELECT 1 FROM graph_due WHERE memory = new.id); END;

CREATE TRIGGER facts_moved AFTER UPDATE OF owner, text ON facts WHEN old.owner != new.owner OR old.text != new.text BEGIN DELETE FROM named WHERE memory = old.id; INSERT INTO graph_due SELECT new.id WHERE NOT EXISTS (SELECT 1 FROM graph_due WHERE memory = new.id); END;

CREATE TRIGGER passages_moved AFTER UPDATE OF owner, text ON passages WHEN old.owner != new.owner OR old.text != new.text BEGIN DELETE FROM named WHERE memory = old.id; INSERT INTO graph_due SELECT new.id WHERE NOT EXISTS (SELECT 1 FROM graph_due WHERE memory = new.id); END;

-- What is forgotten leaves the graph with its row, and a name that stands nowhere any more goes, too.
CREATE TRIGGER facts_unnamed AFTER DELETE ON facts BEGIN DELETE FROM named WHERE memory = old.id; DELETE FROM graph_due WHERE memory = old.id; END;

CREATE TRIGGER passages_unnamed AFTER DELETE ON passages BEGIN DELETE FROM named WHERE memory = old.id; DELETE FROM graph_due WHERE memory = old.id; END;

CREATE TRIGGER named_more AFTER INSERT ON named BEGIN UPDATE names SET degree = degree + 1 WHERE number = new.name; END;

CREATE TRIGGER named_less AFTER DELETE ON named BEGIN UPDATE names SET degree = degree - 1 WHERE number = old.name; DELETE FROM names WHERE number = old.name AND degree <= 0; END;

-- How each leg of recall has done for an owner: what it brought that was used, and what was not, both fading.
CREATE TABLE legs (
    owner TEXT NOT NULL,
    leg TEXT NOT NULL,
    used REAL NOT NULL,
    unused REAL NOT NULL,
    PRIMARY KEY (owner, leg)
) WITHOUT ROWID;
