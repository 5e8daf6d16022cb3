-- Locked by who writes, so that one transaction is written after the other, whichever process they are of: what comes
-- later has a higher number, and no two of them wait for each other.
CREATE TABLE writers (number BIGINT);

-- Which server has the database, and when it was last heard of.
CREATE TABLE server (
    alone BOOLEAN PRIMARY KEY CHECK (alone),
    id TEXT NOT NULL,
    host TEXT NOT NULL,
    pid BIGINT NOT NULL,
    heard TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp()
);

-- What has changed, for those who keep some of it in memory. sort: a table; memory: the id of a row that is another one
-- now, or gone; empty where rows have come into the table.
CREATE TABLE changes (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at TIMESTAMPTZ NOT NULL DEFAULT now(),
    sort TEXT COLLATE "C" NOT NULL,
    memory TEXT COLLATE "C" NOT NULL
);

CREATE FUNCTION rows_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO changes (sort, memory) SELECT TG_TABLE_NAME, id FROM before;
    RETURN NULL;
END $$;

CREATE TRIGGER facts_change AFTER UPDATE ON facts REFERENCING OLD TABLE AS before
FOR EACH STATEMENT EXECUTE FUNCTION rows_change();
CREATE TRIGGER facts_go AFTER DELETE ON facts REFERENCING OLD TABLE AS before
FOR EACH STATEMENT EXECUTE FUNCTION rows_change();
CREATE TRIGGER passages_change AFTER UPDATE ON passages REFERENCING OLD TABLE AS before
FOR EACH STATEMENT EXECUTE FUNCTION rows_change();
CREATE TRIGGER passages_go AFTER DELETE ON passages REFERENCING OLD TABLE AS before
FOR EACH STATEMENT EXECUTE FUNCTION rows_change();

-- Once in a transaction for each table, however much comes.
CREATE FUNCTION rows_come() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    known CONSTANT text := 'palimpsest.' || TG_TABLE_NAME;
    own CONSTANT text := pg_current_xact_id()::text;
BEGIN
    IF current_setting(known, true) IS DISTINCT FROM own AND EXISTS (SELECT 1 FROM come) THEN
        INSERT INTO changes (sort, memory) VALUES (TG_TABLE_NAME, '');
        PERFORM set_config(known, own, true);
    END IF;
    RETURN NULL;
END $$;

DO $$
DECLARE
    counted text;
BEGIN
    FOREACH counted IN ARRAY ARRAY['outbox', 'graph_due', 'research', 'spawns', 'tombstones', 'checkouts'] LOOP
        EXECUTE format('CREATE TRIGGER %I AFTER INSERT ON %I REFERENCING NEW TABLE AS come '
            'FOR EACH STATEMENT EXECUTE FUNCTION rows_come()', counted || '_come', counted);
        EXECUTE format('CREATE TRIGGER %I AFTER UPDATE ON %I REFERENCING NEW TABLE AS come '
            'FOR EACH STATEMENT EXECUTE FUNCTION rows_come()', counted || '_change', counted);
    END LOOP;
END $$;
