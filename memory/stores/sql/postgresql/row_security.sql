-- Of the tables that hold an owner's words a transaction sees the rows of the owners that it names in
-- palimpsest.owners, one a line; all rows with '*', and none where it names nobody. The setting is looked at once in a
-- statement, not once in a row. FORCE: the server's own user owns the tables.
DO $$
DECLARE
    held text;
BEGIN
    FOREACH held IN ARRAY ARRAY[
        'facts', 'passages', 'summaries', 'candidates', 'research', 'observations', 'steps', 'names'
    ] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', held);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', held);
        EXECUTE format(
            'CREATE POLICY by_owner ON %I USING ('
            '(SELECT current_setting(''palimpsest.owners'', true) = ''*'') OR '
            'owner = ANY ((SELECT string_to_array(current_setting(''palimpsest.owners'', true), E''\n''))::text[]))',
            held
        );
    END LOOP;
END $$;
