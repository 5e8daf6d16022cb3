-- The same for what is a person's by name or by number, and for what belongs to a session of theirs. A person is named as
-- the owner of what is known of them in all projects. What a policy looks up is bound by the policies there.
DO $$
DECLARE
    everybody CONSTANT text := '(SELECT current_setting(''palimpsest.owners'', true) = ''*'')';
    named CONSTANT text := '(SELECT string_to_array(current_setting(''palimpsest.owners'', true), E''\n''))::text[]';
    held text;
    theirs text;
BEGIN
    FOR held, theirs IN
        SELECT * FROM (VALUES
            ('overviews', 'owner = ANY (' || named || ')'),
            ('pins', 'owner = ANY (' || named || ')'),
            ('spawns', 'person = ANY (' || named || ')'),
            ('spawners', 'person = ANY (' || named || ')'),
            ('sessions', 'person = ANY (ARRAY(SELECT number FROM people WHERE name = ANY (' || named || ')))'),
            ('messages', 'person = ANY (ARRAY(SELECT number FROM people WHERE name = ANY (' || named || ')))'),
            ('exchanges', 'EXISTS (SELECT 1 FROM sessions WHERE sessions.number = exchanges.session)'),
            ('ledger', 'EXISTS (SELECT 1 FROM sessions WHERE sessions.number = ledger.session)'),
            ('receipts', 'EXISTS (SELECT 1 FROM exchanges WHERE exchanges.number = receipts.exchange)')
        ) AS each (held, theirs)
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', held);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', held);
        EXECUTE format('CREATE POLICY by_owner ON %I USING (%s OR %s)', held, everybody, theirs);
    END LOOP;
END $$;
