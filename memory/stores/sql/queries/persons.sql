-- owners_everywhere: every owner of anything, on whatever shelf
SELECT owner FROM facts UNION SELECT owner FROM passages UNION SELECT owner FROM summaries
UNION SELECT owner FROM candidates UNION SELECT owner FROM research UNION SELECT owner FROM observations
UNION SELECT owner FROM steps UNION SELECT owner FROM names UNION SELECT owner FROM checkouts
UNION SELECT owner FROM error_keys UNION SELECT owner FROM legs UNION SELECT owner FROM nights
UNION SELECT owner FROM night_cursors UNION SELECT owner FROM crystallized UNION SELECT name FROM owners;

-- shared_of_person: facts of others' owners (JSON: the person's) that a person bears out, or that came from their sessions
SELECT * FROM facts WHERE owner NOT IN (SELECT value FROM json_each(:owners)) AND (
    session IN (
        SELECT sessions.id FROM sessions JOIN people ON people.number = sessions.person WHERE people.name = :person
    )
    OR (derived_from != '[]' AND EXISTS (
        SELECT 1 FROM json_each(facts.derived_from) AS source JOIN facts AS theirs ON theirs.id = source.value
        WHERE theirs.owner IN (SELECT value FROM json_each(:owners))
    ))
);

-- facts_of_person: all facts of some owners (JSON), whatever their state
SELECT * FROM facts WHERE owner IN (SELECT value FROM json_each(?));

-- passages_of_person: all passages of some owners (JSON)
SELECT * FROM passages WHERE owner IN (SELECT value FROM json_each(?));

-- research_of_person: what a person's sub-agents found out
SELECT id FROM research WHERE person = ?;
