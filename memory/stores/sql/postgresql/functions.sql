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
