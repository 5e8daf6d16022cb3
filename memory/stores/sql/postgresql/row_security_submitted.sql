-- A candidate that was submitted to an organisation's maintainers is seen by whoever names that organisation as well.
ALTER POLICY by_owner ON candidates USING (
    (SELECT current_setting('palimpsest.owners', true) = '*')
    OR owner = ANY ((SELECT string_to_array(current_setting('palimpsest.owners', true), E'\n'))::text[])
    OR submitted_to = ANY ((SELECT string_to_array(current_setting('palimpsest.owners', true), E'\n'))::text[])
);
