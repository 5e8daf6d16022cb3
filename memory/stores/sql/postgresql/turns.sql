-- The last transaction of each process that writes: whether it was committed is found out here where the answer was lost.
CREATE TABLE turns (
    writer TEXT PRIMARY KEY,
    turn BIGINT NOT NULL,
    at TIMESTAMPTZ NOT NULL DEFAULT now()
);

-- Who listens looks at once. Nothing is told but that something has changed.
CREATE FUNCTION changes_tell() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('palimpsest', '');
    RETURN NULL;
END $$;

CREATE TRIGGER changes_told AFTER INSERT ON changes FOR EACH STATEMENT EXECUTE FUNCTION changes_tell();
