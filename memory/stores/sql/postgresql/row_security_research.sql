-- Research is seen as well by whoever names the shelf of its owner's questions, who then sees nothing else of that owner's.
ALTER POLICY by_owner ON research USING (
    (SELECT current_setting('palimpsest.owners', true) = '*')
    OR owner = ANY ((SELECT string_to_array(current_setting('palimpsest.owners', true), E'\n'))::text[])
    OR 'research/' || owner = ANY ((SELECT string_to_array(current_setting('palimpsest.owners', true), E'\n'))::text[])
);
