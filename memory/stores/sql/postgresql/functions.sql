-- What the queries call and PostgreSQL has not, or has otherwise. All are plain expressions, which the planner inlines.

CREATE OR REPLACE FUNCTION json_each(list text) RETURNS TABLE (key bigint, value text) LANGUAGE sql IMMUTABLE AS $$
    SELECT each.place - 1, each.value FROM json_array_elements_text(list::json) WITH ORDINALITY AS each (value, place)
$$;

CREATE OR REPLACE FUNCTION seconds(at text) RETURNS double precision LANGUAGE sql STABLE AS $$
    SELECT extract(epoch FROM at::timestamptz)::double precision
$$;

CREATE OR REPLACE FUNCTION julianday(at text) RETURNS double precision LANGUAGE sql STABLE AS $$
    SELECT seconds(at) / 86400 + 2440587.5
$$;

CREATE OR REPLACE FUNCTION instr(whole text, part text) RETURNS integer LANGUAGE sql IMMUTABLE AS $$
    SELECT position(part IN whole)
$$;

CREATE OR REPLACE FUNCTION instr(whole bytea, part bytea) RETURNS integer LANGUAGE sql IMMUTABLE AS $$
    SELECT position(part IN whole)
$$;

-- The number that a named value holds, 0 where there is none.
CREATE OR REPLACE FUNCTION named_number(called text) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT coalesce((SELECT convert_from(value, 'UTF8')::bigint FROM meta WHERE name = called), 0)
$$;

-- A process that has locked the writers takes its turn; whether it has the database, or the work of its replicas. What
-- it reports ends a transaction whose statements were sent already.
CREATE OR REPLACE FUNCTION take_turn(mine text, number bigint, replica boolean, checked boolean) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    ours boolean;
BEGIN
    UPDATE server SET heard = clock_timestamp() WHERE id = mine;
    ours := FOUND;
    IF NOT ours AND checked AND (NOT replica OR EXISTS (SELECT 1 FROM server WHERE NOT replicas)) THEN
        RAISE EXCEPTION 'the database is another server''s' USING ERRCODE = 'PL001';
    END IF;
    INSERT INTO turns AS known (writer, turn) VALUES (mine, number)
    ON CONFLICT (writer) DO UPDATE SET turn = excluded.turn, at = now() WHERE known.turn < excluded.turn;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the turn was given up' USING ERRCODE = 'PL002';
    END IF;
    RETURN ours;
END $$;

-- Ends a transaction that builds on a ledger that has gone on.
CREATE OR REPLACE FUNCTION ledger_must_stand(of bigint, last bigint, size bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF (SELECT (coalesce(max(ledger.number), 0), count(*)) IS DISTINCT FROM (last, size)
        FROM ledger WHERE ledger.session = of) THEN
        RAISE EXCEPTION 'the ledger has gone on' USING ERRCODE = 'PL003';
    END IF;
END $$;

-- Ends a transaction that begins a session which may have been begun already: the same one, one of its key, or one that
-- opened alike (asked_link, where it is not empty) and was seen since a time.
CREATE OR REPLACE FUNCTION session_must_be_new(
    asked_id text, asked_key text, asked_namespace text, asked_link bytea, since double precision
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM sessions WHERE sessions.id = asked_id)
        OR EXISTS (SELECT 1 FROM sessions WHERE sessions.key = asked_key AND sessions.key != '')
        OR (asked_link != '' AND EXISTS (
            SELECT 1 FROM trail JOIN sessions ON sessions.number = trail.session
            WHERE trail.namespace = asked_namespace AND trail.link = asked_link AND sessions.seen > since
        ))
    THEN
        RAISE EXCEPTION 'the session is begun' USING ERRCODE = 'PL003';
    END IF;
END $$;

-- Ends a transaction that writes something which a person had asked for before they were forgotten.
CREATE OR REPLACE FUNCTION person_must_be_known(asked bytea, asked_at text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM tombstones WHERE tombstones.hash = asked AND tombstones.at >= asked_at) THEN
        RAISE EXCEPTION 'its person was forgotten' USING ERRCODE = 'PL004';
    END IF;
END $$;
