-- Whether the server that has the database is one of several.
ALTER TABLE server ADD COLUMN replicas BOOLEAN NOT NULL DEFAULT false;

-- Whose an index is that lies in the folder of one replica, and when that was last heard of.
CREATE TABLE replica_indexes (
    generation BIGINT PRIMARY KEY REFERENCES generations ON DELETE CASCADE,
    replica TEXT COLLATE "C" NOT NULL,
    heard TIMESTAMPTZ NOT NULL DEFAULT now()
);

-- Exchanges are told to those who learn from them.
CREATE TRIGGER exchanges_come AFTER INSERT ON exchanges REFERENCING NEW TABLE AS come
FOR EACH STATEMENT EXECUTE FUNCTION rows_come();

-- Of facts it is told whose have changed: pages are made of them.
CREATE FUNCTION owners_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO changes (sort, memory) SELECT DISTINCT 'owner', owner FROM told;
    RETURN NULL;
END $$;

CREATE TRIGGER facts_come AFTER INSERT ON facts REFERENCING NEW TABLE AS told
FOR EACH STATEMENT EXECUTE FUNCTION owners_change();
CREATE TRIGGER facts_are_others AFTER UPDATE ON facts REFERENCING NEW TABLE AS told
FOR EACH STATEMENT EXECUTE FUNCTION owners_change();
CREATE TRIGGER facts_are_gone AFTER DELETE ON facts REFERENCING OLD TABLE AS told
FOR EACH STATEMENT EXECUTE FUNCTION owners_change();

-- What is gone or emptied may stand in the memory of every replica.
CREATE FUNCTION rows_erased() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO changes (sort, memory) VALUES ('erased', '');
    RETURN NULL;
END $$;

CREATE TRIGGER messages_erased AFTER UPDATE OR DELETE ON messages
FOR EACH STATEMENT EXECUTE FUNCTION rows_erased();
CREATE TRIGGER facts_erased AFTER DELETE ON facts
FOR EACH STATEMENT EXECUTE FUNCTION rows_erased();
CREATE TRIGGER ledger_erased AFTER UPDATE OF text ON ledger
FOR EACH STATEMENT EXECUTE FUNCTION rows_erased();
CREATE TRIGGER exchanges_erased AFTER DELETE ON exchanges
FOR EACH STATEMENT EXECUTE FUNCTION rows_erased();
CREATE TRIGGER sessions_tied AFTER UPDATE OF kind ON sessions
FOR EACH ROW WHEN (OLD.kind IS DISTINCT FROM NEW.kind) EXECUTE FUNCTION rows_erased();
